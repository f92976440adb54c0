// SPDX-License-Identifier: Apache-2.0
// The log of key lists, queries and recipes, as a device checks it: a Merkle tree (RFC 6962) in
// static tiles under a signed head. A device takes only what is in the log, and remembers the newest
// head and serial that it saw, so that it notices a log that takes something back.
// Every hash of a tile is checked against the head before it is used. What is fetched follows from
// the log, the day and the head that was seen last, and never from an event. This is a chunk of its
// own, loaded where the page has the option `log`. It needs consent, and no lock of its caller.
// Source: c2sp.org/tlog-tiles, tlog-checkpoint and signed-note; RFC 6962, section 2.1.
import { Refusal, isRefusal, isStorageFailure, today } from './basics.js';
import { limitedBytes } from './limited_body.js';

/**
 * @typedef {import('./context.js').Context} Context
 *
 * @typedef {object} KeyList the keys in force
 * @property {number} serial rises by one with each list
 * @property {number} from its first day
 * @property {number} until its last day
 * @property {{id: number, config: Uint8Array}[]} gateway key configurations of RFC 9458, the one to
 *   use first
 * @property {{recipe: string, day: number, key: string}[]} tokens SHA-256 of the issuer's public key
 *   for a recipe and a day
 *
 * @typedef {object} Head what a head says, and the signed note that says it
 * @property {number} size entries
 * @property {Uint8Array} root
 * @property {string} note with the signatures of witnesses, where it has any
 *
 * @typedef {Head & {serial?: number, index?: number, day?: number, entry?: any}} Seen what storage
 *   has of a log: the newest head, the serial and the place of the newest key list, and that list
 *   with the day on which it was fetched
 *
 * @typedef {object} View a log under one head
 * @property {Head} head
 * @property {(path: string, max: number) => Promise<Uint8Array>} get a file, which must be there
 * @property {(level: number, index: number) => Promise<Uint8Array[]>} tile its hashes, checked
 */

const TIMEOUT_MS = 30_000;
const NOTE_MAX = 1 << 14; // bytes of a head, and of all its signatures
const KEYS_MAX = (1 << 16) + 64; // an entry has 65,535 bytes at most
const INDEX_MAX = 1 << 20;
const WIDTH = 256; // hashes of a full tile

/** @param {string} code @param {unknown} [cause] @returns {never} */
export const fail = (code, cause) => {
  throw new Refusal(code, undefined, cause);
};

/** What an error that has no code of its own amounts to. @param {unknown} error @param {string} code */
const toldAs = (error, code) =>
  isRefusal(error) || isStorageFailure(error) ? error : new Refusal(code, undefined, error);

// ---- hashes ----

/** @param {(Uint8Array | number[])[]} parts */
const sha256 = async (...parts) =>
  new Uint8Array(
    await crypto.subtle.digest('SHA-256', new Uint8Array(parts.flatMap((part) => [...part]))),
  );
/** @param {string} text */
const utf8 = (text) => new TextEncoder().encode(text);
/** @param {Uint8Array} left @param {Uint8Array} right */
const nodeOf = (left, right) => sha256([1], left, right);
/** @param {Uint8Array} a @param {Uint8Array} b */
const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** The hash above a whole subtree. @param {Uint8Array[]} hashes a power of two of them */
async function fold(hashes) {
  while (hashes.length > 1)
    hashes = await Promise.all(
      hashes.flatMap((left, i) => (i % 2 ? [] : [nodeOf(left, hashes[i + 1])])),
    );
  return hashes[0];
}

/**
 * The root of the tree of the first `size` entries.
 * @param {View['tile']} tile @param {number} size
 */
async function rootOf(tile, size) {
  /** @type {Uint8Array | undefined} */
  let root;
  for (let level = 0, n = size; n; level++, n = Math.floor(n / WIDTH)) {
    let end = n % WIDTH;
    const hashes = end ? await tile(level, Math.floor(n / WIDTH)) : [];
    for (let bit = 1; end; bit *= 2)
      if (end & bit) {
        const peak = await fold(hashes.slice(end - bit, end));
        root = root ? await nodeOf(peak, root) : peak;
        end -= bit;
      }
  }
  return root ?? sha256();
}

// ---- the head ----

/** @param {string} hex */
const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
/** @param {string} text */
const fromBase64 = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

/**
 * Verifies a signed note of the log's own key. Lines of other keys, as of witnesses, are kept with
 * the note and not looked at.
 * @param {string} note @param {string} verifier `<name>+<8 hex>+<base64>` @returns {Promise<Head>}
 */
async function headOf(note, verifier) {
  const [, name, id, key] =
    /^([^\s+]+)\+([\da-f]{8})\+([\w+/]{44})$/.exec(verifier) ?? fail('log-key');
  if (!crypto.subtle) fail('log-no-ed25519'); // a page without https has none
  const raw = fromBase64(key);
  const isId = (/** @type {Uint8Array} */ bytes) => same(bytes.slice(0, 4), fromHex(id));
  // The first byte says that the key is one of Ed25519.
  if (raw[0] !== 1 || !isId(await sha256(utf8(`${name}\n`), raw))) fail('log-key');
  const publicKey = await crypto.subtle
    .importKey('raw', raw.slice(1), 'Ed25519', false, ['verify'])
    .catch((cause) => fail('log-no-ed25519', cause));
  const [, text, lines] =
    /^([^]*?\n)\n((?:\u2014 \S+ \S+\n)+)$/.exec(note) ?? fail('log-malformed');
  let isSigned = false;
  for (const [, signer, base64] of lines.matchAll(/ (\S+) (\S+)\n/g)) {
    const bytes = fromBase64(signer === name ? base64 : '');
    if (!isId(bytes)) continue;
    const data = utf8(text);
    if (!(await crypto.subtle.verify('Ed25519', publicKey, bytes.slice(4), data)))
      fail('log-signature');
    isSigned = true;
  }
  if (!isSigned) fail('log-signature');
  const [origin, size, root] = text.split('\n');
  if (origin !== name || !/^(0|[1-9]\d{0,14})$/.test(size)) fail('log-malformed');
  return { size: Number(size), root: fromBase64(root), note };
}

// ---- files ----

/** The name of a tile. @param {number} index */
const nameOf = (index) =>
  String(index)
    .padStart(Math.ceil(String(index).length / 3) * 3, '0')
    .replace(/\d{3}(?=\d)/g, 'x$&/');

/**
 * Fetches a file, or null where there is none.
 * @param {Context} context @param {string} path @param {number} max bytes
 */
async function fetched(context, path, max) {
  const { deps, options } = context;
  const stop = new AbortController();
  const timer = deps.setTimer(() => stop.abort(), TIMEOUT_MS);
  try {
    /** @type {Promise<Response> | undefined} */
    let asking;
    // The request begins under the lock that withdrawal takes: after that no tab begins another.
    await context.exclusive(async () => {
      const { url } = /** @type {{url: string}} */ (options.log);
      asking = deps.fetch(url.replace(/\/*$/, '/') + path, {
        mode: 'cors',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        redirect: 'error',
        cache: path.startsWith('tile') ? 'default' : 'no-cache', // a tile never changes
        signal: stop.signal,
      });
      asking.catch(() => {}); // the await below reports it
    });
    const response = (await asking) ?? fail('no-consent');
    if (response.status === 404) return null;
    if (!response.ok) fail('log-missing', response.status);
    return await limitedBytes(response, max);
  } catch (error) {
    throw toldAs(error, 'log-missing');
  } finally {
    stop.abort();
    deps.clearTimer(timer);
  }
}

/** @param {Uint8Array} bytes */
const decode = (bytes) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

/**
 * Reads JSON, or a head. What it throws is no form of the log's.
 * @template T @param {Uint8Array} bytes @param {(text: string) => T | Promise<T>} read
 */
async function parsed(bytes, read) {
  try {
    return await read(decode(bytes));
  } catch (error) {
    throw toldAs(error, 'log-malformed');
  }
}

// ---- the log under a head ----

/** Where storage has what was seen of the page's log. @param {Context} context */
const placeOf = ({ options }) => `log/${/** @type {any} */ (options.log).key}`;

/** @param {Context} context @returns {Promise<Seen | undefined>} */
const seenOf = (context) => context.transaction((tx) => tx.get('state', placeOf(context)));

/**
 * The tiles of a tree. A whole tile is checked against the tile above it. Those that are not full
 * are what the root is made of, so that open() has checked them all.
 * @param {(path: string, max: number) => Promise<Uint8Array | null>} get @param {number} size
 * @returns {View['tile']}
 */
function tilesOf(get, size) {
  /** @type {Map<string, Promise<Uint8Array[]>>} */
  const known = new Map();
  /** @type {View['tile']} */
  const read = async (level, index) => {
    const width = Math.min(WIDTH, Math.floor(size / WIDTH ** level) - WIDTH * index);
    const path = `tile/${level}/${nameOf(index)}`;
    // A log may drop the part of a tile that has become full.
    const part = width < WIDTH ? await get(`${path}.p/${width}`, 32 * WIDTH) : null;
    const bytes = part ?? (await get(path, 32 * WIDTH)) ?? fail('log-missing', path);
    if (bytes.length < 32 * width) fail('log-truncated');
    if (part && part.length > 32 * width) fail('log-tampered');
    const hashes = Array.from({ length: width }, (_, i) => bytes.slice(32 * i, 32 * i + 32));
    if (width === WIDTH) {
      const above = await tile(level + 1, Math.floor(index / WIDTH));
      if (!same(await fold(hashes), above[index % WIDTH])) fail('log-tampered');
    }
    return hashes;
  };
  /** @type {View['tile']} */
  const tile = (level, index) => {
    const key = `${level}/${index}`;
    const found = known.get(key) ?? read(level, index);
    known.set(key, found);
    return found;
  };
  return tile;
}

/**
 * Opens the log: its head is signed, its tiles make that head, and it has all that the head before
 * had.
 * @param {Context} context @param {Seen | undefined} seen @returns {Promise<View>}
 */
async function open(context, seen) {
  const { key } = /** @type {{key: string}} */ (context.options.log);
  const find = (/** @type {string} */ path, /** @type {number} */ max) =>
    fetched(context, path, max);
  /** @type {View['get']} */
  const get = async (path, max) => (await find(path, max)) ?? fail('log-missing', path);
  const head = await parsed(await get('checkpoint', NOTE_MAX), (note) => headOf(note, key));
  // Both notes are signed, so that together they show what the log did.
  const both = () => ({ heads: [seen?.note, head.note] });
  if (seen && head.size < seen.size) fail('log-rolled-back', both());
  if (seen?.size === head.size && !same(seen.root, head.root)) fail('log-fork', both());
  const tile = tilesOf(find, head.size);
  if (!same(await rootOf(tile, head.size), head.root)) fail('log-tampered');
  if (seen && !same(await rootOf(tile, seen.size), seen.root)) fail('log-fork', both());
  return { head, get, tile };
}

/**
 * Has the log this entry at this place?
 * @param {View} view @param {unknown} index @param {object} entry its members in their order
 */
async function has({ head, tile }, index, entry) {
  const at = Number.isInteger(index) ? /** @type {number} */ (index) : -1;
  if (at < 0 || at >= head.size) return false;
  const hashes = await tile(0, Math.floor(at / WIDTH));
  return same(hashes[at % WIDTH], await sha256([0], utf8(JSON.stringify(entry))));
}

/**
 * Remembers the head, unless another tab did meanwhile: the next opening compares with that one.
 * @param {Context} context @param {Seen | undefined} seen @param {View} view @param {Partial<Seen>}
 *   [more]
 */
const keep = (context, seen, { head }, more) =>
  context.exclusive(async (tx) => {
    const now = await tx.get('state', placeOf(context));
    if (now?.note === seen?.note && now?.index === seen?.index)
      await tx.put('state', placeOf(context), { ...now, ...head, ...more });
  });

// ---- key lists ----

/** A key list as the log has it: its members in their order, and no others. @param {any} list */
const entryOf = ({ serial, from, until, gateway, tokens }) => ({
  type: 'keys',
  serial,
  from,
  until,
  gateway: gateway.map((/** @type {any} */ { id, config }) => ({ id, config })),
  tokens: tokens.map((/** @type {any} */ { recipe, day, key }) => ({ recipe, day, key })),
});

/** @param {any} entry @param {number} day @returns {KeyList} */
function listOf({ serial, from, until, gateway, tokens }, day) {
  if (!(from <= day && day <= until)) fail('log-no-keys');
  const opened = gateway.map((/** @type {any} */ { id, config }) => ({
    id,
    config: fromHex(config),
  }));
  return { serial, from, until, gateway: opened, tokens };
}

/**
 * Fetches the newest key list, and checks that it is in the log and not older than one that was
 * seen.
 * @param {Context} context @param {Seen | undefined} seen @param {number} day
 */
async function fetchList(context, seen, day) {
  const view = await open(context, seen);
  const { index, entry } = await parsed(await view.get('keys', KEYS_MAX), (text) => {
    const pointer = JSON.parse(text);
    return { index: pointer.index, entry: entryOf(pointer.entry) };
  });
  if (index >= view.head.size) fail('log-missing'); // the head is of a moment before
  if (!(await has(view, index, entry))) fail('log-tampered');
  const { serial } = entry;
  if (seen?.serial && (serial < seen.serial || (serial === seen.serial && index !== seen.index)))
    fail('log-serial');
  await keep(context, seen, view, { serial, index, day, entry });
  return listOf(entry, day);
}

/** Key lists that are being fetched, so that a page asks once. @type {WeakMap<Context, any>} */
const asked = new WeakMap();

/**
 * Returns the key list in force. It is fetched once a UTC day; where the log cannot be reached, the
 * list of an earlier day holds until its own last day.
 * @param {Context} context with the option `log`
 * @param {boolean} [isFresh] fetch it anew, as after a gateway that does not know its key
 * @returns {Promise<KeyList>} rejects with a Refusal whose code explain() has
 */
export async function keyList(context, isFresh = false) {
  const day = today(context.deps);
  const seen = await seenOf(context);
  if (seen?.day === day && !isFresh) return listOf(seen.entry, day);
  const asking = asked.get(context) ?? fetchList(context, seen, day);
  asked.set(context, asking);
  try {
    return await asking;
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'log-missing' || !seen?.entry) throw error;
    return listOf(seen.entry, day);
  } finally {
    asked.delete(context);
  }
}

// ---- queries and recipes ----

/**
 * Opens the log and returns a function that says whether an entry is in it. The index beside the
 * log only says where to look.
 * @param {Context} context with the option `log`
 * @returns {Promise<(type: 'query' | 'recipe', hash: string) => Promise<boolean>>}
 */
export async function logged(context) {
  const seen = await seenOf(context);
  const view = await open(context, seen);
  await keep(context, seen, view);
  /** @type {{hash: string, index: number}[]} */
  const entries = await parsed(await view.get('index', INDEX_MAX), (text) =>
    JSON.parse(text).entries.map((/** @type {any} */ { hash, index }) => ({ hash, index })),
  );
  return async (type, hash) => {
    for (const row of entries)
      if (row.hash === hash && (await has(view, row.index, { type, hash }))) return true;
    return false;
  };
}
