// SPDX-License-Identifier: Apache-2.0
// Many spends in stated memory: 28 bytes each, whatever was spent before, and each is known to the last.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { KEY_BYTES, KeyTable } from '../key_table.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');
/** Collects; a buffer that one collection frees is off the count at the latest when the next one begins. */
const collect = () => {
  gc();
  gc();
};
const SPENDS = process.env.SHOAL_LONG === '1' ? 1_000_000 : 100_000;

/** The keyed digest of a token's key, as the collector makes it. */
const digestOf = (i) => createHash('sha256').update(`spend ${i}`).digest().subarray(0, 16);

test(`${SPENDS} spends take what store_bytes counts for them, and none counts twice`, (t) => {
  collect();
  const before = process.memoryUsage().arrayBuffers;
  const table = new KeyTable();
  for (let i = 0; i < SPENDS; i++) assert.ok(table.add(digestOf(i)));
  collect();
  const taken = process.memoryUsage().arrayBuffers - before;
  t.diagnostic(`${(taken / SPENDS).toFixed(1)} bytes a spend; ${KEY_BYTES} are counted`);
  for (let i = 0; i < SPENDS; i += 7) assert.ok(!table.add(digestOf(i)), 'a second spend');
  assert.ok(taken <= KEY_BYTES * SPENDS + (1 << 20), `${taken} bytes`);
});
