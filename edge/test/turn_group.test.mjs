// SPDX-License-Identifier: Apache-2.0
// Reports that one turn of the event loop reads, over a store that the test holds in its hands.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnGroup } from '../turn_group.js';

/** A group over a store that answers when it is told to. `calls` is what the store was asked. */
function setUp() {
  const calls = [];
  const group = new TurnGroup(
    (records, keys) =>
      new Promise((resolve, reject) =>
        calls.push({ records: [...records], keys, resolve, reject }),
      ),
  );
  return { calls, accept: (n) => group.accept(new Uint8Array([n, n]), `key${n}`) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('reports of one turn go together, each with an outcome of its own', async () => {
  const { calls, accept } = setUp();
  const outcomes = [1, 2, 3].map(accept);
  await turn();
  assert.deepEqual(
    calls.map(({ records, keys }) => [records, keys]),
    [
      [
        [1, 1, 2, 2, 3, 3],
        ['key1', 'key2', 'key3'],
      ],
    ],
  );
  calls[0].resolve(['accepted', 'full', 'expired']);
  assert.deepEqual(await Promise.all(outcomes), ['accepted', 'full', 'expired']);
});

test('a later turn does not wait for an earlier one, and fails alone', async () => {
  const { calls, accept } = setUp();
  const first = accept(1);
  await turn();
  const second = [2, 3].map(accept);
  await turn();
  assert.deepEqual(
    calls.map(({ keys }) => keys),
    [['key1'], ['key2', 'key3']],
  );
  calls[1].reject(new Error('disk'));
  for (const outcome of second) await assert.rejects(outcome, /disk/);
  calls[0].resolve(['accepted']);
  assert.equal(await first, 'accepted');
});
