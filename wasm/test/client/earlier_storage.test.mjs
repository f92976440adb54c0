// SPDX-License-Identifier: Apache-2.0
// What devices hold already stays of use: storage as the client of November 2026 wrote it (commit
// 0a6c34a, before the client was taken apart), read and carried on by the client of today.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { memoryStorage } from '../../client/memory_storage.js';
import { codes, fakeClock, makeClient, balances } from '../fixtures.mjs';
import { DAY_MS, loadQueryCore } from '../query_fixtures.mjs';
import { fakePage, windowed } from '../window_fixtures.mjs';

const earlier = JSON.parse(
  await readFile(new URL('earlier_storage.json', import.meta.url), 'utf8'),
  (_, value) => (value?.bytes ? new Uint8Array(Buffer.from(value.bytes, 'hex')) : value),
);

/** A client of today, a minute later, whose storage is the earlier one's. */
async function laterClient() {
  const storage = memoryStorage();
  await storage.transaction(async (tx) => {
    for (const [store, rows] of Object.entries(earlier.stores))
      for (const [key, value] of Object.entries(rows))
        await tx.put(/** @type {any} */ (store), key, value);
  });
  const { now, setTimer, clearTimer, advance } = fakeClock(earlier.now + 60_000);
  const made = await makeClient({
    ...earlier.options,
    queryWasm: loadQueryCore,
    storage,
    now,
    setTimer,
    clearTimer,
  });
  return { ...made, advance, storage };
}

test('consent, reports, ledger and log are told as before', async () => {
  const { client } = await laterClient();
  assert.equal(client.consent.state, 'granted');
  const reports = (await client.reports()).map(({ state, at, report }) => ({ state, at, report }));
  assert.deepEqual(reports, earlier.told.reports);
  assert.deepEqual(reports.map(({ state }) => state).sort(), [
    'queued',
    'sent',
    'sent',
    'sent',
    'sent',
    'sent',
  ]);
  assert.deepEqual(await balances(client), earlier.told.ledger);
  const log = (await client.log()).map(
    ({ query, outcome, code, round, count, state, reports: list }) => ({
      query,
      outcome,
      code,
      round,
      count,
      state,
      reports: list.length,
    }),
  );
  assert.deepEqual(log, earlier.told.log);
});

test('a record that waited is sent as it was made', async () => {
  const { client, edge, advance } = await laterClient();
  await client.flush();
  assert.equal(edge.requests.length, 0, 'not before its time');
  await advance(DAY_MS);
  const [[key, row]] = /** @type {[string, any][]} */ (Object.entries(earlier.stores.queue));
  assert.deepEqual(
    edge.requests.map(({ body, init }) => [init.headers['Idempotency-Key'], body]),
    [[key, row.report]],
  );
});

test('what was spent is spent, and a permanent answer keeps its secret', async () => {
  const { client, storage } = await laterClient();
  assert.deepEqual(codes(await client.record('permanent-words', 'cod')), ['queued']);
  const secret = await storage.transaction((tx) => tx.get('state', 'secret'));
  assert.deepEqual(secret, earlier.stores.state.secret);
  const balance = (/** @type {any[]} */ list) => list.find(({ recipe }) => recipe === 'permanent');
  assert.equal(
    balance(await client.ledger()).today.count,
    balance(earlier.told.ledger).today.count + 1,
  );
});

test('a query that was answered is not answered again', async () => {
  const { client } = await laterClient();
  assert.deepEqual(codes(await client.ask([earlier.query])), ['replayed']);
});

test('a run goes on: the answered epoch is known, and the next one is answered', async () => {
  const { client } = await laterClient();
  const [first, second] = earlier.epochs;
  assert.deepEqual(codes(await client.track.answer([first])), ['answered']);
  assert.deepEqual(codes(await client.track.answer([second])), ['queued']);
});

test('windows open in storage that an earlier client wrote, and an earlier client erases them', async () => {
  const storage = memoryStorage();
  await storage.transaction(async (tx) => {
    for (const [store, rows] of Object.entries(earlier.stores))
      for (const [key, value] of Object.entries(rows))
        await tx.put(/** @type {any} */ (store), key, value);
  });
  const { now, setTimer, clearTimer } = fakeClock(earlier.now + 60_000);
  const { client } = await makeClient({
    ...earlier.options,
    recipes: [
      ...earlier.options.recipes,
      windowed('day', { recipe: 'w', stream: 'w', analysis: 'w' }),
    ],
    queryWasm: loadQueryCore,
    storage,
    now,
    setTimer,
    clearTimer,
    document: fakePage(),
  });
  assert.deepEqual(codes(await client.record('w', 'cod')), ['entered']);
  /** @type {(key: string) => Promise<boolean>} */
  const has = async (key) =>
    storage.transaction(async (tx) =>
      (await tx.keys('events')).some((each) => each.startsWith(key)),
    );
  assert.ok(await has('~window/'));
  await client.flush(); // the sweeps of queries and of runs leave windows alone
  assert.deepEqual(codes(await client.optIn('keyboard', false)), ['opted-out']);
  assert.ok(await has('~window/'));
  // How the client of November 2026 ends consent.
  await storage.transaction((tx) =>
    Promise.all([
      tx.put('state', 'consent', 'withdrawn'),
      ...['secret', 'analyses', 'keys'].map((key) => tx.delete('state', key)),
      tx.clear('queue'),
      tx.clear('events'),
    ]),
  );
  assert.ok(!(await has('~window/')), 'nothing of a window outlives consent');
  assert.deepEqual(codes(await client.record('w', 'cod')), ['no-consent']);
});
