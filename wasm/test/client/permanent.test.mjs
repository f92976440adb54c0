// SPDX-License-Identifier: Apache-2.0
// Permanent answers: one of each, whatever becomes of consent; and none where storage may go.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryLocks, memoryStorage } from '../../client/memory_storage.js';
import { DAY, codes, makeClient, newsRecipe, wordsRecipe } from '../fixtures.mjs';

const rappor = (/** @type {any} */ more = {}) =>
  wordsRecipe({
    recipe: 'permanent',
    stream: 'permanent-words',
    mechanism: 'rappor',
    parameters: { bits: 32, hashes: 2, cohorts: 8, p: 0.25, q: 0.75, f: 0.5 },
    ...more,
  });
const EXPIRES = Date.parse('2030-01-01') / 86_400_000;
/** @param {any} storage @param {string} key */
const stateOf = (storage, key) =>
  storage.transaction((/** @type {any} */ tx) => tx.get('state', key));
/** @param {any} client */
const tell = async (client) => codes(await client.record('permanent-words', 'cod'))[0];

test('sixty withdrawals and grants give one answer', async () => {
  const { client, edge, storage } = await makeClient({ recipes: [rappor(), wordsRecipe()] });
  const seen = [];
  for (let i = 0; i < 60; i++) {
    await client.consent.grant();
    seen.push(await tell(client));
    assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued'], 'others go on');
    await client.flush();
    await client.consent.withdraw();
  }
  assert.deepEqual(seen, ['queued', ...Array(59).fill('tombstone')]);
  assert.equal(edge.requests.filter(({ body }) => body.key === 'permanent').length, 1);
  await client.consent.grant();
  const why = (await client.explain()).find(({ code }) => code === 'tombstone');
  assert.equal(why?.recipe, 'permanent');
  assert.match(String(why?.text), /one permanent answer/);
  const tombstones = await stateOf(storage, 'tombstones');
  assert.deepEqual(Object.values(tombstones), [EXPIRES]);
});

test('under one consent it answers as often as it may, with one secret', async () => {
  const { client, storage } = await makeClient({ recipes: [rappor()] });
  await client.consent.grant();
  for (let i = 0; i < 3; i++) assert.equal(await tell(client), 'queued');
  assert.equal(
    await stateOf(storage, 'tombstones').then((/** @type {any} */ all) => Object.keys(all).length),
    0,
  );
});

test('loloha keeps its row and its table of answers, however the value changes', async () => {
  const values = ['cod', 'herring', 'perch', 'pike', 'trout'];
  const plain = wordsRecipe({
    recipe: 'loloha',
    stream: 'changing',
    value: 'item',
    mechanism: 'loloha',
    // Fresh coins of epsilon 16 lie once in a million, so that records are the permanent answers.
    parameters: { epsilon: 16, epsilon_permanent: 1, g: 4, values },
    limit: { per_day: 20 },
  });
  delete (/** @type {{hash?: string}} */ (plain).hash);
  const { client, edge } = await makeClient({ recipes: [plain] });
  await client.consent.grant();
  const told = [...values, ...values, ...values];
  for (const value of told)
    assert.deepEqual(codes(await client.record('changing', value)), ['queued']);
  await client.flush();
  const records = edge.requests.flatMap(({ body }) => body.records);
  assert.equal(records.length, told.length);
  assert.equal(new Set(records.map((text) => text.split(',')[0])).size, 1, 'one row');
  // Records leave in an order of their own: each value's record is there three times, or six, ...
  for (const text of new Set(records))
    assert.equal(records.filter((other) => other === text).length % 3, 0);
  await client.consent.withdraw();
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('changing', 'cod')), ['tombstone']);
});

test('a tombstone outlasts erasing, another secret, and a recipe written anew with its seed', async () => {
  const { client, storage, clock, options } = await makeClient({ recipes: [rappor()] });
  await client.consent.grant();
  assert.equal(await tell(client), 'queued');
  await client.erase();
  await clock.advance(86_400_000);
  const other = rappor({ recipe: 'other', stream: 'other', seed: 'ab'.repeat(32) });
  const renewed = rappor({ recipe: 'renewed', expires: '2031-01-01' });
  const next = await makeClient({ ...options, recipes: [other, renewed], storage, now: clock.now });
  await next.client.consent.grant();
  // Another recipe draws a new secret; that is no way around.
  assert.deepEqual(codes(await next.client.record('other', 'cod')), ['queued']);
  assert.ok(await stateOf(storage, 'secret'));
  assert.equal(await tell(next.client), 'tombstone');
  const tombstones = await stateOf(storage, 'tombstones');
  assert.deepEqual(Object.values(tombstones), [EXPIRES + 365], 'as long as the renewed one');
  // A withdrawal now makes one of the other, too.
  await next.client.consent.withdraw();
  await next.client.consent.grant();
  assert.deepEqual(codes(await next.client.record('other', 'cod')), ['tombstone']);
});

test('a tombstone ends when the recipe has expired', async () => {
  const short = rappor({ expires: '2026-12-31' });
  const last = Date.parse('2026-12-31') / 86_400_000;
  assert.ok(last > DAY);
  const { client, storage, clock, options } = await makeClient({ recipes: [short] });
  await client.consent.grant();
  assert.equal(await tell(client), 'queued');
  await client.consent.withdraw();
  client.close();
  await clock.advance((last + 1 - DAY) * 86_400_000);
  const renewed = await makeClient({ ...options, recipes: [rappor()], storage, now: clock.now });
  await renewed.client.consent.grant();
  assert.equal(await tell(renewed.client), 'queued');
});

test('each variable of a joint recipe has its own', async () => {
  const [section, age] = newsRecipe().variables;
  const permanent = { ...section, parameters: { ...section.parameters, f: 0.5 } };
  const joint = newsRecipe({ variables: [permanent, age] });
  const { client } = await makeClient({ recipes: [joint] });
  const value = { section: 'sport', age: 'old' };
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('visits', value)), ['queued']);
  await client.consent.withdraw();
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('visits', value)), ['tombstone']);
});

test('storage of earlier versions: what may have answered under a secret that is gone is refused', async () => {
  for (const [what, drop, expected] of /** @type {const} */ ([
    ['its secret is there', ['answered', 'tombstones'], 'queued'],
    ['it was withdrawn before', ['answered', 'tombstones', 'secret'], 'tombstone'],
  ])) {
    const storage = memoryStorage();
    const first = await makeClient({ recipes: [rappor()], storage });
    await first.client.consent.grant();
    assert.equal(await tell(first.client), 'queued');
    first.client.close();
    await storage.transaction(async (tx) => {
      for (const key of drop) await tx.delete('state', key);
    });
    const { client } = await makeClient({ recipes: [rappor()], storage, locks: memoryLocks() });
    assert.equal(await tell(client), expected, what);
    await client.consent.withdraw();
    await client.consent.grant();
    assert.equal(await tell(client), 'tombstone', `${what}, and then withdrawn`);
  }
});

test('storage of earlier versions: which page comes first after a withdrawal refills nothing, nor does erasing', async () => {
  const other = rappor({
    recipe: 'other',
    analysis: 'other',
    stream: 'others',
    seed: 'ab'.repeat(32),
  });
  for (const isErased of [false, true]) {
    const { client, storage, options, clock } = await makeClient({ recipes: [rappor()] });
    await client.consent.grant();
    assert.equal(await tell(client), 'queued');
    await client.consent.withdraw();
    await storage.transaction(async (/** @type {any} */ tx) => {
      for (const key of ['answered', 'tombstones']) await tx.delete('state', key);
    });
    if (isErased) await client.erase();
    client.close();
    await clock.advance(86_400_000);
    const first = await makeClient({ ...options, recipes: [other], storage });
    await first.client.consent.grant();
    const outcome = codes(await first.client.record('others', 'cod'))[0];
    assert.equal(outcome, isErased ? 'tombstone' : 'queued');
    const second = await makeClient({ ...options, recipes: [rappor()], storage });
    await second.client.consent.grant();
    for (let i = 0; i < 2; i++) assert.equal(await tell(second.client), 'tombstone');
  }
});

test('what another recipe of the analysis spent is no permanent answer', async () => {
  const { client } = await makeClient({ recipes: [wordsRecipe(), rappor()] });
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued']);
  assert.equal(await tell(client), 'queued');
});

test('where a browser deletes storage, permanent answers need storage that lasts', async () => {
  for (const [deletes, persists, expected] of [
    [true, false, 'not-persisted'],
    [true, true, 'queued'],
    [false, false, 'queued'],
  ]) {
    let asked = 0;
    const { client, storage } = await makeClient({
      recipes: [rappor(), wordsRecipe()],
      persist: async () => (asked++, persists),
      deletesStorage: () => deletes,
    });
    assert.equal(asked, 0, 'not before consent');
    await client.consent.grant();
    assert.equal(asked, 1, 'at consent');
    const ledger = await stateOf(storage, 'ledger');
    assert.equal(await tell(client), expected);
    if (expected === 'not-persisted') {
      assert.deepEqual(await stateOf(storage, 'ledger'), ledger, 'nothing is debited');
      assert.equal(await stateOf(storage, 'secret'), undefined);
      assert.ok((await client.explain()).some(({ code }) => code === 'not-persisted'));
    }
    assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued'], 'others go on');
  }
});

test('a browser that is not known to keep storage counts as one that deletes it', async () => {
  const globals = /** @type {any} */ (globalThis);
  const before = Object.getOwnPropertyDescriptor(globals, 'navigator');
  /** @type {[string, string][]} */
  const agents = [
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
      'queued',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'queued'],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
      'not-persisted',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.0.0 Mobile/15E148 Safari/604.1',
      'not-persisted',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/140.0 Mobile/15E148 Safari/605.1.15',
      'not-persisted',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/140.0.0.0 Safari/537.36', 'queued'],
    ['something new', 'not-persisted'],
  ];
  try {
    globals.indexedDB = {};
    for (const [userAgent, expected] of agents) {
      Object.defineProperty(globals, 'navigator', { value: { userAgent }, configurable: true });
      const { client } = await makeClient({ recipes: [rappor()] });
      await client.consent.grant();
      assert.equal(await tell(client), expected, userAgent);
    }
  } finally {
    delete globals.indexedDB;
    if (before) Object.defineProperty(globals, 'navigator', before);
    else delete globals.navigator;
  }
});
