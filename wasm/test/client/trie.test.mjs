// SPDX-License-Identifier: Apache-2.0
// Rounds of a trie on the device, with the real core: what of a person's words is answered, that it is paid for once and together, that no
// restart, tab, clock, copy or lie of the server makes a second answer, and the lists that come as one string.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { init } from '../../client/client.js';
import { frontDecoded, listOf } from '../../bindings/front_coded.js';
import { memoryLocks, memoryStorage } from '../../client/memory_storage.js';
import { QueryCore } from '../../bindings/query_core.js';
import { codes, makeClient, wordsRecipe } from '../fixtures.mjs';
import {
  DAY_MS,
  askedClient,
  loadQueryCore,
  loadWholeCore,
  makePolicy,
  phrases,
  policyHash,
  round,
  signed,
  signer,
  stored,
  withQuery,
  wordsPolicy,
} from '../query_fixtures.mjs';

const WORDS = ['Coral', 'coral', 'cat', 'hop', 'zebra', 'cöd', 'House'];
const SEED = new Uint8Array(32).fill(32);

/** A client whose person opted in to the words' analysis and typed some. @param {any} [more] options @param {string[]} [words] */
async function typedClient(more = {}, words = WORDS) {
  const made = await askedClient(
    { policy: wordsPolicy(), queryWasm: loadWholeCore, recipes: [], ...more },
    ['words'],
  );
  for (const word of words)
    assert.deepEqual(codes(await made.client.donate('typed-words', { word })), ['stored']);
  return made;
}

/** What the analysis was charged: reports, epsilon of the sum, epsilon of this device. @param {any} client */
async function charged(client) {
  const { reports, epsilon, userEpsilon } = (await client.ledger()).find(
    (/** @type {any} */ e) => e.analysis === 'words' && e.field === null,
  );
  return [reports.used, epsilon.used, userEpsilon.used];
}
const ONCE = [3, 0.75, 12];

/** @param {any} client @param {any} json @returns {Promise<string>} */
const ask1 = async (client, json) => (await client.ask([json]))[0].code;

/** @param {any} edge */
const keysOf = (edge) =>
  edge.requests.map((/** @type {any} */ { init: request }) => request.headers['Idempotency-Key']);

/** Draws its own length, but for the keys of reports, of which none is another. */
function drawing() {
  let n = 0;
  return (/** @type {Uint8Array} */ bytes) =>
    void bytes.fill(bytes.length === 16 ? n++ : bytes.length);
}

test('a round is answered with all words: three reports, each of its own key, paid for together, told as what it is', async () => {
  const { client, edge } = await typedClient({ random: drawing() });
  const json = signed(round());
  assert.deepEqual(await client.ask([json]), [{ recipe: 'words-1', code: 'queued' }]);
  assert.deepEqual(await charged(client), ONCE);
  assert.equal(await ask1(client, json), 'replayed');
  await client.flush();
  const expected = withQuery(json, (query) =>
    query
      .answers(
        WORDS.map((word) => ({ word })),
        SEED,
      )
      .map((record) => query.report(record)),
  );
  assert.equal(expected.length, 3);
  const bodies = edge.requests.map(({ body }) => body);
  const byRecord = (/** @type {any} */ a, /** @type {any} */ b) =>
    a.records[0] < b.records[0] ? -1 : 1;
  assert.deepEqual(bodies.sort(byRecord), expected.sort(byRecord));
  assert.equal(new Set(bodies.map(({ records: [record] }) => record)).size, 3);
  for (const body of bodies) {
    assert.deepEqual(
      Object.keys(body),
      ['key', 'recipe_hash', 'parameters', 'records'],
      'nothing that joins them',
    );
    assert.deepEqual(body.parameters, {
      epsilon: 4,
      contributions: 3,
      depth: 12,
      max_prefixes: 300,
    });
  }
  assert.equal(new Set(keysOf(edge)).size, 3);

  const entry = (await client.log()).find(({ outcome }) => outcome === 'accepted');
  assert.ok(entry);
  assert.deepEqual(
    [entry.state, entry.report, entry.reports.map(({ state }) => state)],
    ['sent', entry.reports[0].report, ['sent', 'sent', 'sent']],
  );
  assert.deepEqual(entry.reports.map(({ report }) => report).sort(byRecord), expected);
  assert.deepEqual(
    [entry.asked?.contributions, entry.asked?.personEpsilon, entry.asked?.centralEpsilon],
    [3, 12, 0.25],
  );
  assert.match(
    entry.text,
    /^Answered at .*: "words-1", round 1: it asks for word \(2275 buckets\), one of 2275 answers; epsilon 4 of one report, that is of one word, and 12 of all 3 reports of this device together, 0\.25 of each of them in the sum of at least 1000000 reports\.$/,
  );
  const ledger = (await client.ledger()).find(({ field }) => field === 'word');
  assert.deepEqual([ledger?.itemEpsilon, ledger?.userEpsilon], [16, { used: 12, allowed: 192 }]);
  client.close();
});

test('each report waits a delay of its own', async () => {
  const { client, clock, storage } = await typedClient();
  await client.ask([signed(round({ send: { delay_s: 86_400 } }))]);
  const rows = await storage.transaction((tx) => tx.entries('queue'));
  assert.equal(rows.length, 3);
  // Of three drawn from 86,400,000 milliseconds two are equal once in 29 million runs.
  assert.equal(new Set(rows.map(([, { due }]) => due)).size, 3);
  for (const [, { due }] of rows) assert.ok(due >= clock.now() && due <= clock.now() + DAY_MS);
  const [entry] = await client.log();
  assert.deepEqual([entry.state, entry.reports.length], ['queued', 3]);
});

// With epsilon 16 a report of 10 cells says its own in all but one of a million. Seeds are counted up.
let nSeeds = 0;
const plain = (/** @type {any} */ more = {}, /** @type {any} */ parameters = {}) =>
  round(
    { encoding: [{ field: 'word', starts: ['co'], characters: ['a', 'r'], step: 2 }], ...more },
    { epsilon: 16, known: ['cat', 'cora'], ...parameters },
  );

/** What the reports of a person with these words say, in words. @param {string[]} words @param {any} [json] @returns {string[]} */
const said = (words, json = plain()) =>
  withQuery(json, (query) =>
    query
      .answers(
        words.map((word) => ({ word })),
        new Uint8Array(32).fill(++nSeeds),
      )
      .map((record) => (Number(record) === query.size ? '-' : query.label(Number(record))))
      .sort(),
  );

test('what is said: words that begin with a start and go on in listed characters, each cell once, the rest is "nothing"', () => {
  assert.deepEqual(said(['co', 'coa', 'corr']), ['co<end>', 'coa<end>', 'corr']);
  assert.deepEqual(
    said(['Coa', 'coa', 'COA']),
    ['-', '-', 'coa<end>'],
    'one cell once, however often it was typed',
  );
  assert.deepEqual(
    said(['corals', 'corall', 'coral']),
    ['-', '-', 'cora'],
    'what a step leaves over shows nowhere',
  );
  assert.deepEqual(
    said(['cora', 'CORA', 'cat']),
    ['-', '-', '-'],
    'known words are not reported, nor what begins otherwise',
  );
  assert.deepEqual(
    said(['cox', 'coxa', 'coax', 'c', '', 'o', 'co a']),
    ['-', '-', '-'],
    'nor what is not listed',
  );
  assert.deepEqual(said([]), ['-', '-', '-']);
  assert.deepEqual(
    said(['x'.repeat(33), 'co\ud800']),
    ['-', '-', '-'],
    'nor what the text rule does not count',
  );
  const greedy = plain({}, { sampler: 'greedy', contributions: 1 });
  assert.deepEqual(said(['coa', 'cor', 'coa', 'coar', 'coa'], greedy), ['coa<end>']);
  const seen = new Set(
    Array.from(
      { length: 64 },
      () => said(['coa', 'coa', 'coa', 'cor', 'coar'], plain({}, { contributions: 1 }))[0],
    ),
  );
  assert.deepEqual(
    [...seen].sort(),
    ['coa<end>', 'coar', 'cor<end>'],
    'at random: every cell alike',
  );
});

test('only words of the stream within retention are looked at, and of them the last 4,096', async () => {
  const { client, clock, storage } = await typedClient(
    { policy: wordsPolicy({}, { cohort: { minimum: 1 } }) },
    ['coa'],
  );
  await clock.advance(14 * DAY_MS);
  await client.donate('typed-words', { word: 'cor' });
  await storage.transaction((tx) =>
    tx.put('events', 'other/020800/099999/000000000001', { word: 'corr' }),
  );
  const shown = /** @type {any[]} */ ([]);
  const load = async () => {
    const core = await loadWholeCore();
    const query = core.query.bind(core);
    core.query = (json) => {
      const made = query(json);
      const answers = made.answers.bind(made);
      made.answers = (events, seed) => (shown.push(...events), answers(events, seed));
      return made;
    };
    return core;
  };
  const other = await makeClient({
    storage,
    policy: wordsPolicy(),
    queryWasm: load,
    recipes: [],
    now: clock.now,
  });
  assert.equal(await ask1(other.client, signed(round())), 'queued');
  assert.deepEqual(shown, [{ word: 'cor' }]);
  const many = [...Array(10).fill('co'), ...Array(4096).fill('coa')];
  assert.deepEqual(said(many), ['-', '-', 'coa<end>']);
  assert.deepEqual(said(many.slice(1).reverse()), ['-', 'co<end>', 'coa<end>']);
});

test('refused, and nothing is charged: what is no round that this device takes', async () => {
  const { client, storage } = await typedClient();
  const before = await stored(storage);
  /** @type {[string, any, string][]} */
  const table = [
    ['more reports than the budget has', round({}, { contributions: 13 }), 'reports'],
    [
      'more epsilon than the budget has, of all reports together',
      round({ cohort: { minimum: 1000000, epsilon: 1.5, delta: '1e-9' } }),
      'epsilon',
    ],
    [
      'more delta, likewise',
      round({ cohort: { minimum: 1000000, epsilon: 0.25, delta: '1e-6' } }),
      'delta',
    ],
    [
      'another field',
      round({ encoding: [{ field: 'locale', starts: ['de'], characters: 'a' }] }),
      'field',
    ],
    [
      'another mechanism',
      { ...round({ mechanism: 'grr' }), parameters: { epsilon: 4 } },
      'mechanism',
    ],
    ['a step beyond the depth', round({}, { depth: 3 }), 'malformed'],
    ['no contributions', round({}, { contributions: 0 }), 'malformed'],
  ];
  for (const [name, json, code] of table) {
    // What the core cannot read nobody can sign.
    assert.equal(await ask1(client, code === 'malformed' ? json : signed(json)), code, name);
    const after = await stored(storage);
    for (const store of ['state', 'queue', 'events'])
      assert.equal(after[store], before[store], name);
  }
  assert.equal(await ask1(client, signed(round(), signer())), 'unknown-key');
  assert.equal(
    await ask1(client, {
      ...signed(round()),
      parameters: { ...round().parameters, contributions: 4 },
    }),
    'bad-signature',
  );
  assert.equal(
    await ask1(client, {
      ...signed(round()),
      parameters: { ...round().parameters, known: '0cat' },
    }),
    'bad-signature',
  );
});

// ---- never two answers ----

/** Everything that a server may say to be answered again. @type {[string, (first: string) => any][]} */
const LIES = [
  ['the same again', () => round()],
  ['another id', () => round({ recipe: 'words-x' })],
  ['no round', () => ({ ...round({ recipe: 'words-x' }), round: undefined })],
  ['the first round of another chain', () => round({ recipe: 'words-x', expires: '2027-05-30' })],
  ['the next round', (first) => round({ recipe: 'words-2', round: { index: 2, previous: first } })],
  [
    'the next round of another',
    () => round({ recipe: 'words-2', round: { index: 2, previous: 'ab'.repeat(32) } }),
  ],
  [
    'a round much later',
    () => round({ recipe: 'words-9', round: { index: 900, previous: 'ab'.repeat(32) } }),
  ],
  ['a newer version', () => round({ recipe: 'words-x', version: 9 })],
  [
    'another prefix list',
    () => round({ encoding: [{ field: 'word', starts: '0ab', characters: 'xyz', step: 1 }] }),
  ],
  ['one contribution', () => round({}, { contributions: 1 })],
  ['another pass', () => round({}, { passes: 2, pass: 2 })],
  ['another sampler', () => round({}, { sampler: 'greedy' })],
  ['a larger cohort', () => round({ cohort: { minimum: 100000000, epsilon: 0.1, delta: '1e-9' } })],
  ['another way of aggregation', () => round({ aggregation: { protocol: 'sum' } })],
  ['split by a field', () => round({ split_by: [{ field: 'locale', values: ['de'] }] })],
];

/** @param {any} json */
const asked = (json) => signed(JSON.parse(JSON.stringify(json)));

test('a server that lies about ids, rounds, versions, lists: no second answer', async () => {
  const { client, edge, storage } = await typedClient();
  const first = asked(round());
  assert.equal(await ask1(client, first), 'queued');
  const hash = withQuery(first, (query) => query.queryHash);
  const books = (await stored(storage)).state;
  for (const [name, lie] of LIES) {
    assert.equal(
      await ask1(client, asked(lie(hash))),
      name === 'the same again' ? 'replayed' : 'answered',
      name,
    );
    assert.equal((await stored(storage)).state, books, name);
  }
  const refused = (await client.log()).find(({ code }) => code === 'answered');
  assert.match(
    refused?.text ?? '',
    /This device has answered in its analysis, and answers one round only\.$/,
  );
  await client.flush();
  assert.equal(edge.requests.length, 3);
  assert.deepEqual(await charged(client), ONCE);
});

test('every lie is answered by a device that has not answered, so that the test above is about the answer and nothing else', async () => {
  for (const [name, lie] of LIES) {
    const { client } = await typedClient();
    assert.equal(await ask1(client, asked(lie('cd'.repeat(32)))), 'queued', name);
    client.close();
  }
});

test('a server that changes the policy changes nothing: the page names one, and a newer one keeps the books', async () => {
  const storage = memoryStorage();
  const { client, clock } = await typedClient({ storage });
  assert.equal(await ask1(client, signed(round())), 'queued');
  const another = wordsPolicy({
    policy: 'words-2027',
    analyses: [...makePolicy().analyses, ...wordsPolicy().analyses],
    streams: [...makePolicy().streams, ...wordsPolicy().streams],
  });
  assert.equal(await ask1(client, signed(round({ recipe: 'x' }, {}, another))), 'policy');
  // The page itself ships it: the analysis is at another place of another policy, and has its name.
  const later = await makeClient({
    storage,
    policy: another,
    queryWasm: loadWholeCore,
    recipes: [],
    now: clock.now,
  });
  assert.equal(await ask1(later.client, signed(round({ recipe: 'x' }, {}, another))), 'answered');
  assert.equal((await later.client.reports()).length, 3);
});

test('a restart: no second answer, and what waits is still sent once', async () => {
  const { client, edge, options, storage } = await typedClient();
  await client.ask([signed(round())]);
  client.close();
  const later = await init({ ...options, storage });
  for (const [, lie] of LIES)
    assert.match(await ask1(later, asked(lie('ab'.repeat(32)))), /replayed|answered/);
  await later.flush();
  await later.flush();
  assert.equal(edge.requests.length, 3);
  assert.equal(new Set(keysOf(edge)).size, 3);
  assert.deepEqual(await charged(later), ONCE);
});

test('many tabs and many rounds at once: one is answered', async () => {
  const storage = memoryStorage();
  const locks = memoryLocks();
  const tabs = [await typedClient({ storage, locks })];
  for (let i = 0; i < 2; i++)
    tabs.push({
      ...(await makeClient({ ...tabs[0].options, fetch: undefined, storage, locks })),
      storage,
    });
  const list = LIES.map(([, lie]) => asked(lie('ab'.repeat(32))));
  const outcomes = await Promise.all(
    tabs.map(({ client }, i) => client.ask([...list.slice(5 * i), ...list.slice(0, 5 * i)])),
  );
  const all = codes(outcomes.flat());
  assert.equal(all.filter((code) => code === 'queued').length, 1, all.join());
  assert.ok(
    all.every((code) => ['queued', 'answered', 'replayed'].includes(code)),
    all.join(),
  );
  const [{ client }] = tabs;
  assert.equal((await client.log()).filter(({ outcome }) => outcome === 'accepted').length, 1);
  const contributions = new Set((await client.reports()).map(({ report }) => report.recipe_hash));
  assert.equal(contributions.size, 1, 'all reports are of one round');
});

test('killed between debit and queue: paid for, nothing sent, never asked again', async () => {
  let isKilled = false;
  const random = (/** @type {Uint8Array} */ bytes) => {
    if (isKilled && bytes.length === 32) throw new Error('killed');
    crypto.getRandomValues(bytes);
  };
  const { client, edge, options } = await typedClient({ random });
  isKilled = true;
  assert.equal(await ask1(client, signed(round())), 'failed');
  client.close();
  isKilled = false;
  const later = await init(options);
  for (const [, lie] of LIES)
    assert.match(await ask1(later, asked(lie('ab'.repeat(32)))), /replayed|answered/);
  await later.flush();
  assert.equal(edge.requests.length, 0);
  assert.deepEqual(await charged(later), ONCE);
});

test('storage that fails at the n-th transaction: three reports at most, none that is not paid for, none again', async () => {
  const sent = new Set();
  for (let failing = 1; failing <= 9; failing++) {
    const inner = memoryStorage();
    let count = -1000;
    const storage = {
      ...inner,
      transaction: (/** @type {any} */ task) =>
        ++count === failing ? Promise.reject(new Error('quota')) : inner.transaction(task),
    };
    const { client, edge, clock } = await typedClient({ storage });
    count = 0;
    await client.ask([signed(round())]);
    await client.flush();
    await clock.advance(60_000);
    count = 100;
    for (const [, lie] of LIES) await client.ask([asked(lie('ab'.repeat(32)))]);
    await client.flush();
    const keys = new Set(keysOf(edge)).size;
    assert.ok(keys <= 3, `failing ${failing}: ${keys}`);
    assert.deepEqual(await charged(client), ONCE, `failing ${failing}`);
    sent.add(keys);
  }
  assert.ok(sent.has(3) && sent.has(1) && sent.has(2), [...sent].join());
});

test('opted out, or consent taken back, between two of the reports: none of them is left', async () => {
  for (const action of [
    (/** @type {any} */ c) => c.optIn('words', false),
    (/** @type {any} */ c) => c.consent.withdraw(),
  ]) {
    /** @type {any} */
    let client;
    let drawn = -100;
    const random = (/** @type {Uint8Array} */ bytes) => {
      crypto.getRandomValues(bytes);
      if (bytes.length === 16 && ++drawn === 2) void action(client);
    };
    const made = await typedClient({ random });
    client = made.client;
    drawn = 0;
    await client.ask([signed(round())]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(await client.reports(), []);
    assert.equal(made.edge.requests.length, 0);
  }
});

test('cleared storage is fresh and waits; erase() refills nothing', async () => {
  const { client, options, storage, clock } = await typedClient();
  assert.equal(await ask1(client, signed(round())), 'queued');
  await client.erase();
  await client.consent.grant();
  await client.optIn('words');
  for (const [, lie] of LIES)
    assert.match(await ask1(client, asked(lie('ab'.repeat(32)))), /replayed|answered/);
  assert.deepEqual(await charged(client), ONCE);
  client.close();
  await storage.transaction(async (tx) => {
    for (const store of /** @type {const} */ (['state', 'queue', 'done', 'events', 'log']))
      await tx.clear(store);
  });
  const later = await init(options);
  await later.consent.grant();
  await later.optIn('words');
  assert.equal(await ask1(later, signed(round({ recipe: 'x' }))), 'fresh');
  await clock.advance(DAY_MS);
  assert.equal(
    await ask1(later, signed(round({ recipe: 'x' }))),
    'queued',
    'a device that nobody knows: what the documentation names',
  );
});

test('the sample is drawn once for each round: left out stays left out, and the next round tosses again', async () => {
  let answered = 0;
  for (let i = 0; i < 40; i++) {
    const storage = memoryStorage();
    const { client, options } = await typedClient({ storage }, ['coral']);
    const json = signed(round({ send: { delay_s: 0, sample: 0.5 } }));
    const first = await ask1(client, json);
    assert.match(first, /^(queued|sampled-out)$/);
    client.close();
    const later = await init({ ...options, storage });
    for (let j = 0; j < 4; j++)
      assert.equal(await ask1(later, json), first === 'queued' ? 'replayed' : 'sampled-out');
    assert.deepEqual(await charged(later), first === 'queued' ? ONCE : [0, 0, 0]);
    if (first === 'sampled-out') {
      const entry = (await later.log()).find(({ code }) => code === 'sampled-out');
      assert.match(
        entry?.text ?? '',
        /^Refused \(5 times, last\) at .*"words-1", round 1: .*Not sampled: the query's random sample left this device out\.$/,
      );
      const hash = withQuery(json, (query) => query.queryHash);
      assert.equal(
        await ask1(
          later,
          signed(round({ recipe: 'words-2', round: { index: 2, previous: hash } })),
        ),
        'queued',
      );
    }
    answered += Number(first === 'queued');
  }
  // Binomial(40, 1/2): mean 20, standard deviation 3.2; six of them.
  assert.ok(Math.abs(answered - 20) < 19.5, String(answered));
});

test('words are in the event store and nowhere else', async () => {
  const { client, edge, storage } = await typedClient({}, ['coquicksilver', 'quicksilver']);
  assert.equal(await ask1(client, signed(round())), 'queued');
  await client.flush();
  const held = await stored(storage);
  assert.ok(held.events.includes('quicksilver'));
  const rest = JSON.stringify([
    { ...held, events: '' },
    edge.requests,
    await client.explain(),
    await client.log(),
    await client.reports(),
    await client.ledger(),
  ]);
  assert.ok(!rest.includes('quick'));
});

test('the module for queries lacks rounds, and is told so: the whole one comes where the policy names the mechanism, and only there', async () => {
  /** @type {string[]} */
  const loaded = [];
  let posts = 0;
  const fetcher = async (/** @type {any} */ url) => {
    const [name] = /shoal[a-z-]*\.wasm$/.exec(String(url)) ?? [];
    if (!name) return (posts++, new Response('{}', { status: 202 }));
    loaded.push(name);
    return new Response(await readFile(new URL(`../../dist/${name}`, import.meta.url)));
  };
  const { client } = await typedClient({ queryWasm: undefined, fetch: fetcher });
  assert.deepEqual(loaded, ['shoal-query.wasm']);
  // What it asks for stands before the mechanism.
  assert.equal(
    await ask1(client, Object.fromEntries(Object.entries(signed(round())).reverse())),
    'queued',
  );
  assert.deepEqual(loaded, ['shoal-query.wasm', 'shoal-all.wasm']);
  await client.flush();
  assert.equal(posts, 3);
  const policy = makePolicy();
  const none = await askedClient({ policy, queryWasm: undefined, fetch: fetcher });
  assert.equal(await ask1(none.client, signed(round({}, {}, policy))), 'malformed');
  assert.deepEqual(loaded.slice(2), ['shoal-query.wasm']);
  // A module that was named is used as it is.
  const named = await typedClient({ queryWasm: loadQueryCore });
  assert.equal(await ask1(named.client, signed(round())), 'malformed');
  assert.equal(
    await ask1((await askedClient()).client, signed(phrases())),
    'queued',
    'other queries need no more than before',
  );
});

// ---- lists as one string ----

test('a list as one string is the same recipe, whichever digits it was written with', () => {
  const hash = (
    /** @type {any} */ starts,
    /** @type {any} */ characters,
    /** @type {any} */ known,
  ) =>
    withQuery(round({ encoding: [{ field: 'word', starts, characters }] }, { known }), (query) => [
      query.hash,
      query.queryHash,
    ]);
  const wanted = hash(
    ['cats', 'coté', 'côte', '漢字漢字'],
    ['a', 'é', '漢', '🐟'],
    ['cat', 'cats', '🐟', '🐟🐟'],
  );
  assert.deepEqual(hash('0cats 1oté 1ôte 0漢字漢字', 'aé漢🐟', '0cat 3s 0🐟 1🐟'), wanted);
  assert.deepEqual(
    hash('0cats 0coté 1ôte 0漢字漢字', ['a', 'é', '漢', '🐟'], '0cat 1ats 0🐟 0🐟🐟'),
    wanted,
  );
  assert.notDeepEqual(hash('0cats 1ote 1ôte 0漢字漢字', 'aé漢🐟', '0cat 3s 0🐟 1🐟'), wanted);
  assert.deepEqual(hash('0', 'ab', '0cat'), hash([''], ['a', 'b'], ['cat']), 'the empty start');
  const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
  for (const [i, digit] of [...digits].entries())
    assert.deepEqual(frontDecoded(`0${'x'.repeat(70)} ${digit}y`)?.[1], `${'x'.repeat(i)}y`);
  for (const digit of '-_+./:@[`{é٣²') assert.equal(frontDecoded(`0xxxx ${digit}y`), null, digit);
  const long = 'é'.repeat(61);
  assert.deepEqual(frontDecoded(`0${long}a Zb Za`), [`${long}a`, `${long}b`, `${long}a`]);
});

test('lists that are not written so are refused by the name of their field', async () => {
  const { client } = await typedClient();
  /** @type {[string, any][]} */
  const table = [
    ...[
      '',
      ' ',
      '0co ',
      ' 0co',
      '0co  1a',
      '1co',
      '0co 3a',
      'co',
      '-1co',
      '0co 1a 4',
      '0co\t1a',
      'éco',
      '0co 1\ud800',
      '0co 0co',
    ].map((starts) => /** @type {[string, any]} */ (['starts', starts])),
    ...['', 'aa', 'a\ud800', 'a b', 'a\u0000'].map(
      (characters) => /** @type {[string, any]} */ (['characters', characters]),
    ),
    ['starts', 7],
    ['starts', []],
    ['starts', ['co', 7]],
    ['starts', { 0: 'co' }],
    ['starts', ['co', 'c']],
    ['characters', ['ab']],
    ['characters', 7],
  ];
  for (const [name, list] of table) {
    const json = {
      ...round(),
      encoding: [{ field: 'word', starts: '0co', characters: 'ab', [name]: list }],
    };
    await client.ask([json]);
    const [entry] = (await client.log())
      .filter(({ code }) => code === 'malformed')
      .sort((a, b) => (a.at < b.at ? 1 : -1));
    assert.match(
      String(entry?.field),
      new RegExp(`^encoding(\\.0(\\.${name}(\\.0)?)?)?$`),
      `${name}: ${JSON.stringify(list)}`,
    );
    await client.erase().then(() => client.consent.grant());
  }
  for (const known of ['', '0cat ', '1cat', 'cat', '0cat 0cat', `0${'a'.repeat(257)}`, 7, ['']]) {
    await client.ask([round({}, { known })]);
    assert.equal(
      (await client.log())[0].field,
      'parameters.known',
      JSON.stringify(known).slice(0, 40),
    );
    await client.erase().then(() => client.consent.grant());
  }
  assert.equal(listOf('parameters.seed', '0a'), undefined, 'no other text is read as a list');
  assert.equal(listOf('encoding.0.field', '0a'), undefined);
});

test('a short string that stands for a long list is given up', () => {
  const start = process.memoryUsage().heapUsed;
  assert.equal(frontDecoded(`0${'a'.repeat(61)}${' Za Zb'.repeat(160_000)}`), null);
  assert.ok(process.memoryUsage().heapUsed - start < 400e6);
  assert.equal(frontDecoded(`0${'é'.repeat(129)}`), null, '258 bytes');
  assert.deepEqual(frontDecoded(`0${'é'.repeat(128)}`), ['é'.repeat(128)]);
});

test('ten thousand starts in one recipe are 50 KB of JSON, and are looked up, not searched', () => {
  // 10,000 of four letters, sorted, as a round in the middle has them.
  const letters = 'abcdefghijklmnopqrst';
  const starts = Array.from({ length: 10_000 }, (_, i) =>
    [i / 1000, (i / 50) % 20, (i / 5) % 10, i % 5].map((at) => letters[Math.floor(at)]).join(''),
  );
  assert.equal(new Set(starts).size, 10_000);
  let coded = '';
  starts.forEach((word, i) => {
    let n = 0;
    while (i && word[n] === starts[i - 1][n]) n++;
    coded += `${i ? ' ' : ''}${n}${word.slice(n)}`;
  });
  const json = round(
    { encoding: [{ field: 'word', starts: coded, characters: letters }] },
    { epsilon: 10 },
  );
  assert.ok(JSON.stringify(json).length < 51_200, String(JSON.stringify(json).length));
  withQuery(json, (query) => {
    assert.equal(query.size, 1 + 10_000 * 22);
    assert.equal(
      query.label(/** @type {number} */ (query.item({ word: `${starts[7777]}at` }))),
      `${starts[7777]}a`,
    );
  });
  assert.equal(
    withQuery(
      { ...json, encoding: [{ field: 'word', starts, characters: [...letters] }] },
      ({ hash }) => hash,
    ),
    withQuery(json, ({ hash }) => hash),
  );
});

test('a cell in words is what the round calls it, for every cell', () => {
  for (const step of [1, 2, 3]) {
    withQuery(
      round({ encoding: [{ field: 'word', starts: ['é', '漢'], characters: ['a', '🐟'], step }] }),
      (query) => {
        const labels = Array.from({ length: query.size }, (_, i) => query.label(i));
        assert.equal(new Set(labels).size, query.size);
        assert.equal(labels[0], '<oov>');
        for (const [i, label] of labels.entries()) {
          if (/<oov>/.test(label)) continue;
          // The word that a label spells is in that cell.
          assert.equal(query.item({ word: label.replace('<end>', '') }), i, label);
        }
        assert.equal(query.item({ word: 'éx' }), labels.indexOf('é<oov>'));
      },
    );
  }
  withQuery(round({ encoding: [{ field: 'word', starts: [''], characters: 'ab' }] }), (query) => {
    assert.deepEqual(
      Array.from({ length: query.size }, (_, i) => query.label(i)),
      ['<none>', '<end>', '<oov>', 'a', 'b'],
    );
  });
});

test('answers() takes what it may and nothing else', async () => {
  const core = await QueryCore.create(await (await import('../../bindings/node.js')).loadModule());
  const query = core.query(round());
  assert.throws(() => query.answers([], new Uint8Array(31)), { code: 'argument' });
  const other = core.query(phrases());
  assert.throws(() => other.answers([], new Uint8Array(32)), { code: 'argument' });
  assert.equal(other.contributions, 0);
  assert.deepEqual(
    query.answers([{}, { word: 7 }, { other: 'coral' }], SEED),
    query.answers([], SEED),
  );
  assert.throws(() => core.recipe({ ...wordsRecipe(), mechanism: 'trie' }), { name: 'ShoalError' });
  // Where the word's characters lay, and then its cell and the seed, a record lies now, and zeros where it ends.
  const tail = () => {
    const { module } = /** @type {any} */ (query);
    module.bytes.fill(7, module.base, module.base + 4096);
    query.answers(
      Array.from({ length: 100 }, () => ({ word: 'coral' })),
      SEED,
    );
    return [
      ...module.bytes.subarray(
        module.base + query.recordSize + query.textSize,
        module.base + 32 + 400,
      ),
    ];
  };
  assert.ok(
    tail().every((byte) => byte === 0),
    'cells are wiped',
  );
});

test('the policy of these tests is the one that the queries name', () => {
  assert.equal(round().policy, policyHash(wordsPolicy()));
});
