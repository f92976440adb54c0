// SPDX-License-Identifier: Apache-2.0
// The set of key digests against a Set, at every size that its tables pass through.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { KEY_BYTES, KeyTable } from '../key_table.js';
import { fixedCrypto } from './support.mjs';

const isLong = process.env.SHOAL_LONG === '1';
const hex = (bytes) => Buffer.from(bytes).toString('hex');

/** Digest number i, from a bijection of 32 bits, so that no two are equal. */
function digest(i, into = new Uint8Array(16)) {
  const words = new Uint32Array(into.buffer, into.byteOffset, 4);
  for (let word = 0; word < 4; word++) {
    let x = (i ^ (word * 0x9e3779b9)) >>> 0;
    x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
    x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
    words[word] = x ^ (x >>> 16);
  }
  return into;
}

/** @param {Iterator<string>} names @param {number} n */
function* first(names, n) {
  for (let next; n > 0 && !(next = names.next()).done; n--) yield next.value;
}

for (const seed of [1, randomInt(2 ** 31)]) {
  test(`adds, look-ups and deletions in any order are those of a Set (seed ${seed})`, () => {
    const random = fixedCrypto(seed);
    const draw = (n) => {
      const bytes = random.getRandomValues(new Uint8Array(4));
      return (((bytes[0] << 16) | (bytes[1] << 8) | bytes[2]) >>> 0) % n;
    };
    // Few different words, so that runs are long, meet and wrap round.
    const make = () =>
      Uint8Array.from({ length: 16 }, (_, i) => [0, 255, draw(4) * 64][i % 4 === 3 ? 2 : draw(2)]);
    const table = new KeyTable();
    const known = new Map();
    for (let round = 0; round < 60_000; round++) {
      const isGrowing = Math.floor(round / 6000) % 2 === 0;
      if (known.size > 0 && draw(10) < (isGrowing ? 2 : 8)) {
        const names = [...first(known.keys(), 1 + draw(3))];
        table.deleteAll(Buffer.concat(names.map((name) => known.get(name))));
        for (const name of names) known.delete(name);
      } else {
        const key = make();
        assert.equal(table.add(key), !known.has(hex(key)));
        known.set(hex(key), key);
      }
      const key = make();
      assert.equal(table.has(key), known.has(hex(key)));
      assert.equal(table.size, known.size);
    }
    for (const key of known.values()) assert.ok(table.has(key));
  });
}

test('a key costs what is announced, while the set grows and while it shrinks', () => {
  const table = new KeyTable();
  const most = (n) => 16_384 + n * KEY_BYTES;
  const n = 300_000;
  for (let i = 0; i < n; i++) {
    assert.ok(table.add(digest(i)));
    if (i % 997 === 0) assert.ok(table.byteLength <= most(i), `${i} keys: ${table.byteLength}`);
  }
  for (let i = 0; i < n; i += 1000) {
    assert.ok(table.has(digest(i)));
    table.deleteAll(Buffer.concat(Array.from({ length: 1000 }, (_, j) => digest(i + j))));
    assert.ok(!table.has(digest(i)));
    const left = n - i - 1000;
    assert.ok(table.byteLength <= most(left), `${left} left: ${table.byteLength}`);
  }
  assert.deepEqual([table.size, table.byteLength], [0, 0]);
});

test('the digest of zeros is a key as others are', () => {
  const table = new KeyTable();
  const zeros = new Uint8Array(16);
  assert.equal(table.has(zeros), false);
  assert.equal(table.add(zeros), true);
  assert.equal(table.add(zeros), false);
  table.deleteAll(zeros);
  assert.equal(table.has(zeros), false);
});

test('it holds more keys than a Map can', { skip: !isLong }, () => {
  const table = new KeyTable();
  const n = 2 ** 24 + 1000;
  const key = new Uint8Array(16);
  for (let i = 0; i < n; i++) assert.ok(table.add(digest(i, key)));
  assert.equal(table.size, n);
  assert.ok(table.byteLength <= n * KEY_BYTES);
  for (let i = 0; i < n; i += 101) assert.ok(table.has(digest(i, key)));
  assert.ok(!table.has(digest(n, key)));
});
