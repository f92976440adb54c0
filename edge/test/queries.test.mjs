// SPDX-License-Identifier: Apache-2.0
// Questions and parts: what is published, which collections a split recipe opens, and that each part is for itself, on both runtimes.

import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { test } from 'node:test';
import { load } from 'shoal-client/node';
import { signedBytes } from 'shoal-client/signature';
import { handle } from '../handler.js';
import { pinRecipes } from '../recipes.js';
import { filesUnder, startEdge } from './runtimes.mjs';
import { FakeAggregator, TOKEN, eventually, multiset, recipeJson, reportInit } from './support.mjs';

const LOCALE = { field: 'locale', values: ['de', 'en'] };

/** A query of two fields, 4 times 11 cells, split by locale. */
const queryJson = (change = {}) =>
  recipeJson({
    recipe: 'ngrams-2',
    analysis: 'keyboard',
    stream: 'typed-phrases',
    value: 'fields',
    encoding: [
      { field: 'age', boundaries: [20, 30, 40] },
      { field: 'phrase', prefixes: ['hello world', 'i went'], tokens: ['a', 'and', 'got'] },
    ],
    mechanism: 'onehot-symmetric',
    parameters: { epsilon: 4 },
    hash: undefined,
    seed: undefined,
    split_by: [LOCALE],
    cohort: { minimum: 20_000, epsilon: 0.5, delta: '1e-9' },
    policy: 'ab'.repeat(32),
    version: 3,
    aggregation: { protocol: 'sum' },
    ...change,
  });

const makeQuery = async (change) => (await load()).recipe(queryJson(change));
const pin = (jsons, keys) =>
  Promise.all(
    jsons.map(async (json) => ({ recipe: json, hash: (await load()).recipe(json).hash })),
  ).then((pins) => pinRecipes(pins, () => load(), keys));
const newAnswer = (part) => part.report(part.randomize(7, randomBytes(32)));

const whole = await makeQuery();
const parts = await Promise.all(['de', 'en', 'other'].map((part) => makeQuery({ part: [part] })));
const [de, en, other] = parts;

test('a split recipe opens a collection for each part and none for itself', async () => {
  const { collections, recipes } = await pin([queryJson()]);
  assert.deepEqual(
    [...collections.keys()],
    parts.map(({ hash }) => hash),
  );
  assert.deepEqual(
    [...collections.values()].map(({ key }) => key),
    ['ngrams-2/de', 'ngrams-2/en', 'ngrams-2/other'],
  );
  assert.deepEqual(
    recipes.map(({ hash, json }) => [hash, json]),
    [[whole.hash, queryJson()]],
  );
  assert.equal(new Set([whole.hash, ...collections.keys()]).size, 4);
});

test('two split fields: every pair', async () => {
  const { collections } = await pin([
    queryJson({ split_by: [LOCALE, { field: 'form', values: ['phone'] }] }),
  ]);
  assert.deepEqual(
    [...collections.values()].map(({ json }) => json.part.join()),
    ['de,phone', 'de,other', 'en,phone', 'en,other', 'other,phone', 'other,other'],
  );
});

test('splitting opens 64 collections at most, of all recipes together', async () => {
  const values = Array.from({ length: 31 }, (_, i) => `v${i}`);
  const many = queryJson({
    split_by: [
      { field: 'a', values },
      { field: 'b', values: ['x'] },
    ],
  });
  assert.equal(
    (await pin([many, recipeJson()])).collections.size,
    65,
    'a recipe that is not split does not count',
  );
  await assert.rejects(
    pin([many, queryJson()]),
    /recipe ngrams-2: split_by makes 67 collections, 64 at most/,
  );
  await assert.rejects(
    pin([
      queryJson({
        split_by: [
          { field: 'a', values },
          { field: 'b', values: ['x', 'y'] },
        ],
      }),
    ]),
    /96 collections/,
  );
});

test('refused: a configured part', async () => {
  await assert.rejects(
    pin([queryJson({ part: ['de'] })]),
    /recipe ngrams-2: part is not configured/,
  );
});

test('refused: more queries than a device takes', async () => {
  const named = (n, change) =>
    Array.from({ length: n }, (_, i) =>
      queryJson({ recipe: `q-${i}`, split_by: undefined, ...change }),
    );
  assert.equal(
    (await pin([...named(64), recipeJson()])).recipes.length,
    65,
    'other recipes do not count',
  );
  await assert.rejects(pin(named(65)), /devices take 64 queries/);
  const tokens = Array.from({ length: 60_000 }, (_, i) => `token-${i}`);
  const encoding = [{ field: 'phrase', prefixes: [''], tokens }];
  const long = { encoding, mechanism: 'subset' };
  assert.equal((await pin(named(1, long))).recipes.length, 1);
  await assert.rejects(pin(named(2, long)), /1048576 bytes, but these are 2 of 1\d{6}/);
});

test('one signature, of the whole, is good for every part', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
  const signature = { key, ed25519: sign(null, signedBytes(whole), privateKey).toString('hex') };
  const { collections, recipes } = await pin([queryJson({ signature })], [key]);
  assert.deepEqual(
    [...collections.keys()],
    parts.map(({ hash }) => hash),
  );
  assert.deepEqual(recipes[0].json.signature, signature);
  await assert.rejects(pin([queryJson({ signature, version: 4 })], [key]), /bad-signature/);
  await assert.rejects(pin([queryJson()], [key]), /no-signature/);
});

// ---- rounds of a trie ----

/** A round: words by starts and characters, three reports of a device; the lists as one string each. */
const roundJson = (change = {}) =>
  queryJson({
    recipe: 'words-2',
    stream: 'typed-words',
    encoding: [{ field: 'word', starts: '0ca 1o 0é🐟', characters: 'abcé', step: 2 }],
    mechanism: 'trie',
    parameters: {
      epsilon: 4,
      contributions: 3,
      sampler: 'greedy',
      depth: 12,
      max_prefixes: 300,
      known: '0cat 3s',
    },
    split_by: undefined,
    round: { index: 2, previous: 'cd'.repeat(32) },
    aggregation: undefined,
    ...change,
  });

test('a round of a trie is a query as any other: pinned, published as it is written, its contributions reports of their own', async () => {
  const trie = (await load()).recipe(roundJson());
  const { taken, call } = await setUp([roundJson(), queryJson()]);
  assert.deepEqual((await (await call('/v1/queries')).json()).queries, [roundJson(), queryJson()]);
  for (const item of [0, 1, null])
    assert.equal(
      (await call('/v1/reports', reportInit(trie.report(trie.randomize(item, randomBytes(32))))))
        .status,
      202,
    );
  assert.deepEqual(taken, ['words-2', 'words-2', 'words-2']);
  const good = trie.report(trie.randomize(5, randomBytes(32)));
  assert.deepEqual(good.parameters, { epsilon: 4, contributions: 3, depth: 12, max_prefixes: 300 });
  const [record] = good.records;
  const backwards = record.split(',').reverse().join();
  const outside = record.replace(/\d+$/, (digits) => '9'.repeat(digits.length));
  for (const [report, code] of [
    [{ ...good, records: [record, record] }, 'type'],
    [{ ...good, records: [] }, 'type'],
    [{ ...good, records: [`${record};${record}`] }, 'record'],
    [{ ...good, records: [backwards] }, 'record'],
    [{ ...good, records: [outside] }, 'record'],
    [{ ...good, parameters: { ...good.parameters, contributions: 4 } }, 'parameters'],
    [{ ...good, parameters: { ...good.parameters, known: 2 } }, 'unknown-field'],
    [{ ...good, round: 2 }, 'unknown-field'],
    [{ ...good, key: 'words-1' }, 'recipe'],
  ]) {
    const response = await call('/v1/reports', reportInit(report));
    assert.deepEqual(
      [response.status, (await response.json()).error.code],
      [400, code],
      JSON.stringify(report),
    );
  }
  assert.equal(taken.length, 3);
});

test('refused when it starts: a round whose lists are not written as they must be', async () => {
  const [field] = roundJson().encoding;
  for (const [change, message] of [
    [{ encoding: [{ ...field, starts: '1ca' }] }, /encoding\.0\.starts/],
    [{ encoding: [{ ...field, starts: '0ca  1o' }] }, /encoding\.0\.starts/],
    [{ encoding: [{ ...field, starts: '0ca 0ca' }] }, /encoding\.0\.starts/],
    [{ encoding: [{ ...field, characters: 'aba' }] }, /encoding\.0\.characters/],
    [{ parameters: { ...roundJson().parameters, known: 'cat' } }, /parameters\.known/],
  ])
    await assert.rejects(pin([roundJson(change)]), message, JSON.stringify(change));
});

// ---- routes ----

/** A handler over pinned recipes. `taken` is what its collections were given. */
async function setUp(jsons, now = Date.UTC(2030, 0, 1)) {
  const taken = [];
  const pinned = await pin(jsons);
  const collections = new Map(
    [...pinned.collections].map(([hash, recipe]) => [
      hash,
      {
        recipe,
        accept: async () => (taken.push(recipe.key), 'accepted'),
        stats: async () => ({ open_reports: 3 }),
        retryQuarantined: async () => 0,
      },
    ]),
  );
  const deps = {
    collections,
    recipes: pinned.recipes,
    origins: ['https://site.example'],
    now: () => now,
    adminToken: TOKEN,
  };
  return {
    taken,
    call: (path, init) => handle(new Request(`https://edge.example${path}`, init), deps),
  };
}

test('the queries: those under a policy, as configured, until they expire, the same to everyone', async () => {
  const old = queryJson({ recipe: 'old', expires: '2020-02-29' });
  const unsplit = queryJson({ recipe: 'unsplit', split_by: undefined });
  const { call } = await setUp([recipeJson(), queryJson(), old, unsplit]);
  const response = await call('/v1/queries', {
    headers: { Origin: 'https://site.example', Cookie: 'a=b' },
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('access-control-allow-origin'), 'https://site.example');
  assert.equal(response.headers.get('cache-control'), 'public, max-age=300');
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('set-cookie'), null);
  const text = await response.text();
  assert.deepEqual(JSON.parse(text), { queries: [queryJson(), unsplit] });
  assert.equal(
    await (await call('/v1/queries', { headers: { 'User-Agent': 'other' } })).text(),
    text,
  );
  assert.equal(
    (await call('/v1/queries', { headers: { Origin: 'https://evil.example' } })).headers.get(
      'access-control-allow-origin',
    ),
    null,
  );
  assert.equal((await call('/v1/queries', { method: 'POST' })).status, 405);
  assert.deepEqual(await (await (await setUp([recipeJson()])).call('/v1/queries')).json(), {
    queries: [],
  });
});

test('a split recipe is published once; each part is found by its hash', async () => {
  const { call } = await setUp([queryJson()]);
  const { recipes } = await (await call('/v1/recipes')).json();
  assert.deepEqual(recipes, [
    { hash: whole.hash, url: `/v1/recipes/${whole.hash}`, recipe: queryJson() },
  ]);
  assert.deepEqual(await (await call(`/v1/recipes/${whole.hash}`)).json(), queryJson());
  assert.deepEqual(
    await (await call(`/v1/recipes/${de.hash}`)).json(),
    queryJson({ part: ['de'] }),
  );
});

test('a report goes to its part, under hash and key of that part', async () => {
  const { taken, call } = await setUp([queryJson()]);
  for (const part of parts)
    assert.equal((await call('/v1/reports', reportInit(newAnswer(part)))).status, 202, part.key);
  assert.deepEqual(taken, ['ngrams-2/de', 'ngrams-2/en', 'ngrams-2/other']);
  const good = newAnswer(de);
  const unlisted = {
    ...good,
    key: 'ngrams-2/fr',
    recipe_hash: (await makeQuery({ split_by: [{ ...LOCALE, values: ['fr'] }], part: ['fr'] }))
      .hash,
  };
  for (const [report, status, code] of [
    [newAnswer(whole), 404, 'recipe-hash'],
    [unlisted, 404, 'recipe-hash'],
    [{ ...good, key: 'ngrams-2' }, 400, 'recipe'],
    [{ ...good, key: en.key }, 400, 'recipe'],
    [{ ...good, part: ['de'] }, 400, 'unknown-field'],
    [{ ...good, parameters: { ...good.parameters, size: 44 } }, 400, 'unknown-field'],
  ]) {
    const response = await call('/v1/reports', reportInit(report));
    assert.deepEqual(
      [response.status, (await response.json()).error.code],
      [status, code],
      report.key,
    );
  }
  assert.equal(taken.length, 3);
});

test('metrics name the key', async () => {
  const { call } = await setUp([queryJson()]);
  const text = await (
    await call('/metrics', { headers: { Authorization: `Bearer ${TOKEN}` } })
  ).text();
  assert.deepEqual(
    text.split('\n').filter((line) => line.startsWith('shoal_edge_open_reports')),
    parts.map(
      ({ key, hash }) => `shoal_edge_open_reports{recipe="${key}",recipe_hash="${hash}"} 3`,
    ),
  );
});

// ---- runtimes ----

for (const runtime of /** @type {const} */ (['node', 'workerd'])) {
  test(`${runtime}: reports of a round of a trie become batches of records`, async (t) => {
    const json = roundJson({ batch: { minimum: 18, max_age_s: 1 } }); // all of them, so that none is left below it
    const trie = (await load()).recipe(json);
    const aggregator = await new FakeAggregator([trie]).start();
    t.after(() => aggregator.remove());
    const edge = await startEdge(t, runtime, { recipes: [trie], aggregator: aggregator.url });
    assert.deepEqual(await (await fetch(`${edge.url}/v1/queries`)).json(), { queries: [json] });
    const texts = Array.from({ length: 6 }, () =>
      [1, 9, null].map((item) => trie.randomize(item, randomBytes(32))),
    ).flat();
    for (const text of texts)
      assert.equal((await edge.post(reportInit(trie.report(text)))).status, 202);
    await eventually(() => assert.deepEqual(multiset(aggregator.recordsOf(trie)), multiset(texts)));
    assert.equal(texts.length, 18);
  });
}

for (const runtime of /** @type {const} */ (['node', 'workerd'])) {
  test(`${runtime}: parts have batches and a minimum of their own, over a kill`, async (t) => {
    const aggregator = await new FakeAggregator(parts).start();
    t.after(() => aggregator.remove());
    const edge = await startEdge(t, runtime, { recipes: [whole], aggregator: aggregator.url });
    assert.deepEqual(await (await fetch(`${edge.url}/v1/queries`)).json(), {
      queries: [queryJson()],
    });
    const send = async (part, n) => {
      const reports = Array.from({ length: n }, () => newAnswer(part));
      for (const report of reports)
        assert.equal((await edge.post(reportInit(report))).status, 202, part.key);
      return reports.map(({ records }) => records[0]);
    };
    const ofDe = await send(de, 5); // the minimum: a sixth might be left for itself
    const ofEn = await send(en, 4);
    const ofOther = await send(other, 4);
    await eventually(() => assert.equal(aggregator.recordsOf(de).length, 5));
    assert.deepEqual(multiset(aggregator.recordsOf(de)), multiset(ofDe));
    assert.equal(await edge.metric('open_reports'), 8);
    await edge.kill();
    await edge.start();
    assert.equal(await edge.metric('open_reports'), 8, 'kept over a kill');
    ofEn.push(...(await send(en, 1)));
    await eventually(() => assert.deepEqual(multiset(aggregator.recordsOf(en)), multiset(ofEn)));
    assert.equal(await edge.metric('open_reports'), ofOther.length, 'too few of the third');
    assert.equal(aggregator.recordsOf(other).length, 0);
    for (const { path } of await filesUnder(edge.store))
      assert.ok(!/ngrams/.test(path), 'stores are named by hashes');
  });
}
