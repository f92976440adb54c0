// SPDX-License-Identifier: Apache-2.0
// Reports that are stored together, over a store whose answers the test holds in its hands.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Group } from '../group.js';

/** A group over a store that answers when it is told to. `calls` is what the store was asked. */
function setUp(giveUpMs) {
  const calls = [];
  const store = (records, keys) =>
    new Promise((resolve, reject) =>
      calls.push({ records: [...records], keys: [...keys], resolve, reject }),
    );
  const group = new Group({ store, giveUpMs });
  const accept = (n) => group.accept(new Uint8Array([n, n]), `key${n}`);
  return { calls, accept };
}

const accepted = (keys) => keys.map(() => 'accepted');

async function callsAre(calls, n) {
  for (let i = 0; i < 200 && calls.length < n; i++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(calls.length, n);
}

test('a report that comes alone goes at once', async () => {
  const { calls, accept } = setUp();
  const outcome = accept(1);
  await null;
  await null;
  assert.deepEqual(
    calls.map(({ records, keys }) => [records, keys]),
    [[[1, 1], ['key1']]],
  );
  calls[0].resolve(['accepted']);
  assert.equal(await outcome, 'accepted');
});

test('those that come while a call is under way go together in the next, each with an outcome of its own', async () => {
  const { calls, accept } = setUp();
  const first = accept(1);
  await callsAre(calls, 1);
  const others = [2, 3, 4].map(accept);
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(calls.length, 1, 'one call at a time');
  calls[0].resolve(['accepted']);
  assert.equal(await first, 'accepted');
  await callsAre(calls, 2);
  assert.deepEqual(
    [calls[1].records, calls[1].keys],
    [
      [2, 2, 3, 3, 4, 4],
      ['key2', 'key3', 'key4'],
    ],
  );
  calls[1].resolve(['accepted', 'full', 'expired']);
  assert.deepEqual(await Promise.all(others), ['accepted', 'full', 'expired']);
  const later = accept(5);
  await callsAre(calls, 3);
  calls[2].resolve(['accepted']);
  assert.equal(await later, 'accepted');
});

test('more than a call takes go in several, in turn', async () => {
  const { calls, accept } = setUp();
  const all = Array.from({ length: 600 }, (_, n) => accept(n % 256));
  for (let n = 1; ; n++) {
    await callsAre(calls, n);
    const { keys, records, resolve } = calls[n - 1];
    assert.ok(keys.length <= 256 && records.length === 2 * keys.length);
    resolve(accepted(keys));
    if (calls.reduce((sum, call) => sum + call.keys.length, 0) === 600) break;
  }
  assert.deepEqual(new Set(await Promise.all(all)), new Set(['accepted']));
  assert.equal(calls.length, 3);
});

test('a call that fails fails its own reports, and the next goes', async () => {
  const { calls, accept } = setUp();
  const first = [1, 2].map(accept);
  await callsAre(calls, 1);
  const next = [3, 4].map(accept);
  calls[0].reject(new Error('disk'));
  const outcomes = await Promise.allSettled(first);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await callsAre(calls, 2);
  calls[1].resolve(accepted(calls[1].keys));
  assert.deepEqual(await Promise.all(next), ['accepted', 'accepted']);
});

test('a call that never ends holds up nobody for ever', async () => {
  const { calls, accept } = setUp(500);
  const lost = accept(1);
  await callsAre(calls, 1); // and it is never answered
  const waited = accept(2).catch(() => 'again');
  await assert.rejects(lost, /late/);
  assert.equal(await Promise.race([waited, callsAre(calls, 2).then(() => 'gone on')]), 'gone on');
  calls[1].resolve(['accepted']);
  await waited;
  const later = accept(3);
  await null;
  await null;
  assert.equal(calls.length, 3, 'nobody waits for it any longer');
  calls[2].resolve(['accepted']);
  assert.equal(await later, 'accepted');
  calls[0].resolve(['accepted']); // a late answer disturbs nothing
  const last = accept(4);
  await callsAre(calls, 4);
  calls[3].resolve(['full']);
  assert.equal(await last, 'full');
});
