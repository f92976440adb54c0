// SPDX-License-Identifier: Apache-2.0
// The edge as a command under Node. The tests are those of suite.mjs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edgeSuite, timesIn } from './suite.mjs';

edgeSuite('node');

test('the search for times finds them', () => {
  const now = Date.UTC(2030, 0, 1, 0, 0, 1);
  const bytes = Buffer.alloc(40);
  for (const write of [
    () => bytes.writeUIntBE(now, 3, 6),
    () => bytes.writeUInt32LE(now / 1000, 17),
    () => bytes.writeBigInt64BE(BigInt(now) * 1_000_000n, 5),
    () => bytes.write(`${now}`, 2),
  ]) {
    bytes.fill(0);
    write();
    assert.ok(timesIn(bytes, now - 500, now + 500).length > 0);
  }
  assert.deepEqual(timesIn(Buffer.from('no time in here'.repeat(20)), now - 500, now + 500), []);
});
