// SPDX-License-Identifier: Apache-2.0
// What the properties draw: bytes, bytes that were changed a little, JSON that was changed a little
// or written otherwise, and bodies that come in pieces.
import fc from 'fast-check';

/** @param {number} maxLength @param {number} [minLength] */
export const bytes = (maxLength, minLength = 0) =>
  fc.uint8Array({ maxLength, minLength }).map((array) => Buffer.from(array));

/**
 * Bytes with one to three changes: a bit turned, a byte put in, a run left out, a run doubled, or
 * the end cut off. What comes out may equal what went in.
 * @param {Uint8Array} whole
 */
export function changedBytes(whole) {
  const at = fc.nat(Math.max(0, whole.length - 1));
  const change = fc.record({
    at,
    kind: fc.constantFrom('flip', 'insert', 'drop', 'double', 'cut'),
    value: fc.nat(255),
    run: fc.integer({ min: 1, max: 12 }),
  });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    let now = Buffer.from(whole);
    for (const { at, kind, value, run } of changes) {
      const [head, tail] = [now.subarray(0, at), now.subarray(at)];
      if (kind === 'flip') {
        now = Buffer.from(now);
        if (at < now.length) now[at] ^= 1 << (value & 7);
      }
      if (kind === 'insert') now = Buffer.concat([head, Buffer.of(value), tail]);
      if (kind === 'drop') now = Buffer.concat([head, tail.subarray(run)]);
      if (kind === 'double') now = Buffer.concat([head, tail.subarray(0, run), tail]);
      if (kind === 'cut') now = head;
    }
    return now;
  });
}

/** Every place in a JSON value, as a list of keys. @param {any} json @param {(string | number)[]} [at] @returns {(string | number)[][]} */
export function placesOf(json, at = []) {
  if (typeof json !== 'object' || json === null) return [at];
  const keys = Array.isArray(json) ? [...json.keys()] : Object.keys(json);
  return [at, ...keys.flatMap((key) => placesOf(json[key], [...at, key]))];
}

/** Sets a field, `__proto__` too, as JSON.parse does. @param {any} object @param {string | number} name @param {any} value */
const setField = (object, name, value) =>
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });

/** A value with another one at a place, or with that place left out. @param {any} json @param {(string | number)[]} place @param {any} value @param {boolean} isOut @returns {any} */
export function withChange(json, [key, ...rest], value, isOut) {
  if (key === undefined) return value;
  if (Array.isArray(json)) {
    if (rest.length === 0 && isOut) return json.filter((_, i) => i !== key);
    return json.map((each, i) => (i === key ? withChange(each, rest, value, isOut) : each));
  }
  /** @type {any} */
  const copy = {};
  for (const [name, each] of Object.entries(json)) setField(copy, name, each);
  if (rest.length === 0 && isOut) delete copy[key];
  else setField(copy, key, withChange(json[key], rest, value, isOut));
  return copy;
}

/** JSON values, most of them small. */
export const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 53, 1e308, '', '__proto__', [], {}, [[]]),
  fc.integer(),
  fc.double(),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

/** A JSON value that differs at one to three places from another; a fifth are the same. @param {any} json */
export function changedValue(json) {
  const place = fc.constantFrom(...placesOf(json).slice(1));
  const kind = fc.constantFrom('set', 'out', 'add');
  const name = fc.constantFrom('extra', 'records', '__proto__', 'constructor', 'epsilon');
  const change = fc.record({ place, kind, name, value: anyJson });
  return fc.oneof(
    { arbitrary: fc.constant(json), weight: 1 },
    {
      arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
        let now = json;
        for (const { place, kind, name, value } of changes) {
          const to = kind === 'add' ? [...place.slice(0, -1), name] : place;
          try {
            now = withChange(now, to, value, kind === 'out');
          } catch {
            // an earlier change took the place away
          }
        }
        return now;
      }),
      weight: 4,
    },
  );
}

/** How JSON may be written: spaces, the order of fields, escapes, a mark at its begin, a field twice. @param {any} json @param {string} way */
function written(json, way) {
  const text = JSON.stringify(json) ?? 'null';
  if (way === 'spaces') return JSON.stringify(json, null, 1);
  if (way === 'mark') return `\ufeff${text}`;
  if (way === 'escapes')
    return text.replace(/[a-z0-9]/, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (way === 'order' && json && typeof json === 'object' && !Array.isArray(json))
    return JSON.stringify(Object.fromEntries(Object.entries(json).reverse()));
  if (way === 'twice') return text.replace(/^\{("[^"]*":)/, '{$1null,$1');
  if (way === 'tail') return `${text} `;
  return text;
}

/** The bytes of a JSON value that was changed, or written otherwise. @param {any} json */
export const changedJson = (json) =>
  fc
    .tuple(
      changedValue(json),
      fc.constantFrom('plain', 'spaces', 'mark', 'escapes', 'order', 'twice', 'tail'),
    )
    .map(([value, way]) => Buffer.from(written(value, way) ?? 'null'));

/** A reader of a body that comes in pieces. @param {Uint8Array} body @param {number[]} cuts where it is cut */
export function pieces(body, cuts) {
  const at = [0, ...cuts.filter((cut) => cut <= body.length), body.length].sort((a, b) => a - b);
  const parts = at.slice(1).map((end, i) => body.subarray(at[i], end));
  return {
    async read() {
      const value = parts.shift();
      return value === undefined ? { done: true } : { done: false, value };
    },
    async cancel() {},
  };
}
