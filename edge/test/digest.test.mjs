// SPDX-License-Identifier: Apache-2.0
// SHA-256 and HMAC in single calls against node:crypto's, for keys and texts of many lengths.
import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { hmacUnder, sha256Hex } from '../digest.js';

test('digests are those of node:crypto', () => {
  for (const length of [0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000]) {
    const bytes = randomBytes(length);
    assert.equal(sha256Hex(bytes), createHash('sha256').update(bytes).digest('hex'));
    const hmac = hmacUnder(bytes);
    for (const text of ['', 'a', '0123456789abcdef'.repeat(2), 'ä€😀', 'x'.repeat(200)])
      assert.deepEqual(hmac(text), createHmac('sha256', bytes).update(text).digest(), `${length}`);
  }
});
