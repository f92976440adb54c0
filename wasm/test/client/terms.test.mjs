// SPDX-License-Identifier: Apache-2.0
// Consent is bound to what a page asked for: less or the same goes on, more is asked anew.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { memoryLocks, memoryStorage } from '../../client/memory_storage.js';
import { LEADER, HELPER, coloursRecipe } from '../dap_fixtures.mjs';
import { load, loadDapModule } from '../../bindings/node.js';
import {
  codes,
  epochRecipe,
  fakeEdge,
  itemsRecipe,
  makeClient,
  settle,
  wordsRecipe,
} from '../fixtures.mjs';
import { loadQueryCore, makePolicy, phrases, policyHash, signed } from '../query_fixtures.mjs';

const storageWith = async (/** @type {any[][]} */ ...rows) => {
  const storage = memoryStorage();
  await storage.transaction(async (tx) => {
    for (const [store, key, value] of rows) await tx.put(store, key, value);
  });
  return storage;
};
/** @param {any} storage @param {string} key */
const stateOf = (storage, key) =>
  storage.transaction((/** @type {any} */ tx) => tx.get('state', key));

/** Pages of one origin, one after another. @param {any} [storage] */
function site(storage = memoryStorage()) {
  const locks = memoryLocks();
  /** @param {any[]} recipes @param {any} [more] */
  const page = async (recipes, more) => {
    /** @type {string[]} */
    const urls = [];
    const edge = fakeEdge();
    const fetch = (/** @type {any} */ url, /** @type {any} */ init) => (
      urls.push(String(url)),
      edge.fetch(url, init)
    );
    const options = { recipes, storage, locks, dapWasm: loadDapModule, fetch, ...more };
    const { client } = await makeClient(options);
    await client.consent.asks(); // the page's recipes are there
    await settle();
    return { client, edge, urls };
  };
  return { storage, page };
}

test('a grant stores the terms with their hash, and the end of consent erases them', async () => {
  const { storage, page } = site();
  const { client } = await page([wordsRecipe({ limit: { per_day: 3 } })]);
  assert.equal(await stateOf(storage, 'terms'), undefined);
  await client.consent.grant();
  const { hash, agreed } = await stateOf(storage, 'terms');
  const key = '["recipe","keyboard","typed-words","word",[]]';
  const extent = {
    epsilon: 4e6,
    day: 12e6,
    operators: ['https://edge.example'],
    ways: ['any-string', 'each-event', 'sum'],
  };
  assert.deepEqual(agreed, { [key]: extent });
  const text = JSON.stringify([[key, extent]]);
  assert.equal(hash, createHash('sha256').update(text).digest('hex'));
  assert.deepEqual(await client.consent.asks(), []);
  await client.consent.withdraw();
  assert.equal(await stateOf(storage, 'terms'), undefined);
  await client.consent.grant();
  assert.equal((await stateOf(storage, 'terms')).hash, hash);
  await client.erase();
  assert.equal(await stateOf(storage, 'terms'), undefined);
});

test('the same or less goes on, also after a page left something out', async () => {
  const { page } = site();
  const first = await page([wordsRecipe(), itemsRecipe()]);
  await first.client.consent.grant();
  const fewer = [
    [wordsRecipe(), itemsRecipe()],
    [wordsRecipe()],
    [],
    [itemsRecipe(), wordsRecipe()],
    [wordsRecipe({ parameters: { epsilon: 2, k: 2048, m: 256 }, limit: { per_day: 1 } })],
    // A renewed recipe: another name, seed and last day, the same purpose.
    [wordsRecipe({ recipe: 'words-2', seed: 'ab'.repeat(32), expires: '2031-01-01' })],
    [itemsRecipe({ parameters: { epsilon: 16, values: ['light', 'dark'] } })],
  ];
  for (const recipes of fewer) {
    const { client } = await page(recipes);
    assert.equal(client.consent.state, 'granted');
    assert.deepEqual(await client.consent.asks(), []);
    for (const { stream } of recipes)
      assert.match(codes(await client.record(stream, 'dark')).join(), /^(queued|budget)$/, stream);
  }
});

const dap = { aggregation: { protocol: 'dap', leader: LEADER, helper: HELPER } };
const base = coloursRecipe({ aggregation: { protocol: 'sum' } });
/** @type {[string, any, any, string[], any?][]} a case, what was agreed to, what a page asks for, what is more */
const CASES = [
  ['a new stream', wordsRecipe(), wordsRecipe({ stream: 'searches' }), ['purpose']],
  ['a new analysis', wordsRecipe(), wordsRecipe({ analysis: 'other' }), ['purpose']],
  ['another kind of value', itemsRecipe(), itemsRecipe({ value: 'word' }), ['purpose']],
  [
    'a larger epsilon',
    wordsRecipe(),
    wordsRecipe({ parameters: { epsilon: 4.000001, k: 2048, m: 256 } }),
    ['epsilon'],
  ],
  ['more reports a day', wordsRecipe(), wordsRecipe({ limit: { per_day: 101 } }), ['epsilon']],
  ['another edge', wordsRecipe(), wordsRecipe(), ['operators'], { endpoint: 'https://b.example' }],
  ['two servers', base, coloursRecipe(), ['operators', 'protocol']],
  [
    'another server',
    coloursRecipe(),
    coloursRecipe({ aggregation: { ...dap.aggregation, helper: 'https://third.example/dap' } }),
    ['operators'],
  ],
  ['one server that sees each record', coloursRecipe(), base, ['protocol']],
];
for (const [name, before, after, more, options] of CASES) {
  test(`more is asked anew, and nothing is spent or sent for it until then: ${name}`, async () => {
    const { storage, page } = site();
    const other = wordsRecipe({ recipe: 'other', analysis: 'others', stream: 'other' });
    const first = await page([before, other]);
    await first.client.consent.grant();
    await first.client.record('other', 'waits');
    first.client.close();

    const { client, edge, urls } = await page([after, other], options);
    const ledger = await stateOf(storage, 'ledger');
    await settle();
    assert.equal(client.consent.state, 'outdated');
    assert.deepEqual(codes(await client.record(after.stream, 'red')), ['outdated']);
    assert.deepEqual(await stateOf(storage, 'ledger'), ledger, 'nothing is debited');
    const asked = (await client.consent.asks()).find(({ recipe }) => recipe === after.recipe);
    assert.deepEqual(asked?.more, more);
    assert.equal(asked?.before === null, more[0] === 'purpose');
    assert.deepEqual(
      [asked?.stream, asked?.analysis, asked?.variables],
      [after.stream, after.analysis, []],
    );
    const why = (await client.explain()).filter(({ code }) => code === 'outdated');
    assert.ok(why.some(({ recipe }) => recipe === after.recipe));
    assert.deepEqual(
      urls.filter((url) => url !== 'https://edge.example/v1/reports'),
      [],
      'no operator hears of it',
    );
    if (!options) {
      // What was agreed to goes on, and what waited under the old terms is sent.
      assert.deepEqual(codes(await client.record('other', 'x')), ['queued']);
      await client.flush();
      assert.equal(edge.requests.length, 2);
    }
    assert.equal(await client.consent.grant(), 'granted');
    assert.deepEqual(await client.consent.asks(), []);
    const [code] = codes(await client.record(after.stream, 'red'));
    assert.ok(['queued', 'no-keys', 'core-missing'].includes(code), code);
    client.close();
  });
}

test('an ask says in plain data what is more than before', async () => {
  const { page } = site();
  const first = await page([wordsRecipe({ limit: { per_day: 1 } })]);
  await first.client.consent.grant();
  const { client } = await page([wordsRecipe({ limit: { per_day: 2 } })]);
  const protocol = ['any-string', 'each-event', 'sum'];
  const operators = ['https://edge.example'];
  assert.deepEqual(await client.consent.asks(), [
    {
      recipe: 'words',
      analysis: 'keyboard',
      stream: 'typed-words',
      value: 'word',
      variables: [],
      epsilon: 4,
      epsilonPerDay: 8,
      operators,
      protocol,
      more: ['epsilon'],
      before: { epsilon: 4, epsilonPerDay: 4, operators, protocol },
    },
  ]);
});

test('pages with different recipes do not end the consent of each other', async () => {
  const { page } = site();
  const one = [wordsRecipe()];
  const two = [itemsRecipe()];
  await (await page(one)).client.consent.grant();
  const second = await page(two);
  assert.equal(second.client.consent.state, 'outdated');
  await second.client.consent.grant();
  for (const recipes of [one, two, one, two, [...one, ...two]]) {
    const { client } = await page(recipes);
    assert.equal(client.consent.state, 'granted');
  }
  // The two grants together are no grant for a sum that neither page asked for.
  const { client } = await page([wordsRecipe({ limit: { per_day: 200 } }), itemsRecipe()]);
  assert.deepEqual(
    (await client.consent.asks()).map(({ recipe }) => recipe),
    ['words'],
  );
});

test('what was agreed to for one operator is not agreed to for another', async () => {
  const { storage, page } = site();
  const small = { parameters: { epsilon: 1, k: 64, m: 64 } };
  const other = { endpoint: 'https://b.example' };
  await (await page([wordsRecipe()])).client.consent.grant();
  await (await page([wordsRecipe(small)], other)).client.consent.grant();
  for (const [recipe, more] of [
    [wordsRecipe()],
    [wordsRecipe(small)],
    [wordsRecipe(small), other],
  ]) {
    const { client } = await page([recipe], more);
    assert.equal(client.consent.state, 'granted', 'each of the two goes on');
  }
  const { client } = await page([wordsRecipe()], other);
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['outdated']);
  const [{ more, before }] = await client.consent.asks();
  assert.deepEqual(more, ['epsilon']);
  assert.equal(before?.epsilon, 1);
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued']);
  const stored = Object.values((await stateOf(storage, 'terms')).agreed);
  assert.deepEqual(
    stored.map(({ operators, others }) => [operators, others.length]),
    [[['https://b.example'], 1]],
    'what is held by another is not kept',
  );
});

test('a grant on a page that cannot load its recipes agrees to nothing', async () => {
  const { page } = site();
  const wasm = () => Promise.reject(new Error('offline'));
  const first = await page([itemsRecipe()], { wasm });
  await first.client.consent.grant();
  const { client } = await page([wordsRecipe()]);
  assert.equal(client.consent.state, 'outdated');
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['outdated']);
});

test('consent of an earlier version takes over the terms of the first page that loads', async () => {
  const storage = await storageWith(['state', 'consent', 'granted']);
  const { page } = site(storage);
  const first = await page([wordsRecipe()]);
  assert.equal(first.client.consent.state, 'granted');
  assert.deepEqual(codes(await first.client.record('typed-words', 'a')), ['queued']);
  const second = await page([wordsRecipe(), itemsRecipe()]);
  assert.equal(second.client.consent.state, 'outdated');
  assert.deepEqual(codes(await second.client.record('typed-words', 'a')), ['queued']);
  assert.deepEqual(codes(await second.client.record('theme', 'dark')), ['outdated']);
});

test('a first page without recipes takes over nothing for later pages', async () => {
  const { page } = site(await storageWith(['state', 'consent', 'granted']));
  await page([]);
  const { client } = await page([wordsRecipe()]);
  assert.equal(client.consent.state, 'outdated');
});

test('terms that were changed in storage are no terms', async () => {
  const { storage, page } = site();
  await (await page([wordsRecipe()])).client.consent.grant();
  await storage.transaction(async (/** @type {any} */ tx) => {
    const terms = await tx.get('state', 'terms');
    for (const extent of Object.values(/** @type {any} */ (terms.agreed))) extent.epsilon = 1e9;
    await tx.put('state', 'terms', terms);
  });
  const { client } = await page([wordsRecipe()]);
  assert.equal(client.consent.state, 'outdated');
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['outdated']);
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued']);
});

test('a withdrawal by an earlier version leaves no terms to the next consent', async () => {
  const { storage, page } = site();
  const first = await page([wordsRecipe(), itemsRecipe()]);
  await first.client.consent.grant();
  await storage.transaction((/** @type {any} */ tx) => tx.put('state', 'consent', 'withdrawn'));
  await (await page([wordsRecipe()])).client.consent.grant();
  const { client } = await page([itemsRecipe()]);
  assert.equal(client.consent.state, 'outdated');
});

test('a page that is open does not outlast what another page agreed to anew', async () => {
  const { page } = site();
  const open = await page([wordsRecipe(), itemsRecipe()]);
  await open.client.consent.grant();
  const other = await page([wordsRecipe()]);
  await other.client.consent.withdraw();
  await other.client.consent.grant();
  assert.deepEqual(codes(await open.client.record('theme', 'dark')), ['outdated']);
  assert.deepEqual(codes(await open.client.record('typed-words', 'a')), ['queued']);
  await open.client.consent.grant();
  assert.deepEqual(codes(await open.client.record('theme', 'dark')), ['queued']);
});

test('an opt-in to an analysis is bound to what the policy said', async () => {
  const { storage, page } = site();
  const options = (/** @type {any} */ policy) => ({ policy, queryWasm: loadQueryCore });
  const policy = makePolicy();
  const { client } = await page([], options(policy));
  await client.consent.grant();
  assert.deepEqual(codes(await client.optIn('keyboard')), ['opted-in']);
  await client.donate('typed-phrases', { phrase: 'i went home', age: 24 });
  client.close();
  const [analysis] = policy.analyses;
  const wider = {
    ...policy,
    analyses: [
      {
        ...analysis,
        fields: analysis.fields.map((/** @type {any} */ f) => ({
          ...f,
          local_epsilon: f.local_epsilon + 1,
        })),
      },
    ],
  };
  const query = (/** @type {any} */ p) => signed(phrases({ policy: policyHash(p) }));
  const accountant = await stateOf(storage, 'accountant');
  const later = (await page([], options(wider))).client;
  assert.deepEqual(codes(await later.ask([query(wider)])), ['outdated']);
  assert.deepEqual((await stateOf(storage, 'accountant')).length, accountant.length);
  assert.equal((await later.log())[0].code, 'outdated');
  await later.optIn('keyboard');
  const [code] = codes(await later.ask([query(wider)]));
  assert.notEqual(code, 'outdated');
});

test('a run that was joined goes on with the same operator only', async () => {
  const { storage, page } = site();
  const first = await page([], { runs: [epochRecipe()] });
  await first.client.consent.grant();
  await first.client.track.optIn('settings');
  await first.client.track.sample('views', 1);
  const moved = (await page([], { runs: [epochRecipe()], endpoint: 'https://b.example' })).client;
  const ledger = await stateOf(storage, 'ledger');
  assert.deepEqual(codes(await moved.track.answer([epochRecipe()])), ['outdated']);
  assert.deepEqual(await stateOf(storage, 'ledger'), ledger);
  await moved.track.optIn('settings');
  assert.deepEqual(codes(await moved.track.answer([epochRecipe()])), ['queued']);
  const previous = (await load()).recipe(epochRecipe()).hash;
  const second = [epochRecipe(2, { round: { previous } })];
  const third = await page([], { runs: [epochRecipe()], endpoint: 'https://c.example' });
  await third.client.track.sample('views', 1);
  assert.deepEqual(codes(await third.client.track.answer(second)), ['outdated']);
  await moved.track.sample('views', 1);
  assert.deepEqual(codes(await moved.track.answer(second)), ['queued']);
});
