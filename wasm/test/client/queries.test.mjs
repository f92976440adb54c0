// SPDX-License-Identifier: Apache-2.0
// Queries on the device, with the real core: what is answered and with what, every way to be refused, what no failure, tab, clock
// or copy can bring about, and where raw values are and are not.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { init } from '../../client/client.js';
import { memoryLocks, memoryStorage } from '../../client/memory_storage.js';
import { loadModule } from '../../bindings/node.js';
import { pick } from '../../client/basics.js';
import { QUERY_REASONS } from '../../client/queries.js';
import {
  DAY,
  ENDPOINT,
  NOON,
  codes,
  itemsRecipe,
  makeClient,
  settle,
  wordsRecipe,
  balances,
} from '../fixtures.mjs';
import {
  DAY_MS,
  analyst,
  askedClient,
  eventually,
  loadQueryCore,
  makePolicy,
  phrases,
  policyHash,
  signed,
  signer,
  stored,
  topics,
  withQuery,
} from '../query_fixtures.mjs';

const EVENT = { phrase: 'Hello  WORLD and more', age: 33, locale: 'de' };

/** What queries were charged, by analysis and field. @param {any} client */
const charges = async (client) =>
  Object.fromEntries(
    (await client.ledger())
      .filter((/** @type {any} */ e) => e.analysis)
      .map((/** @type {any} */ { analysis, field, reports, epsilon, userEpsilon }) => [
        `${analysis}/${field ?? ''}`,
        [reports.used, epsilon.used, userEpsilon.used],
      ]),
  );

/** What an array of 32 sevens and so on draws: all bytes the length of what is drawn. @param {Uint8Array} bytes */
const fixed = (bytes) => void bytes.fill(bytes.length);
const SEED = new Uint8Array(32).fill(32);

/** Asks one query, and says its outcome's code. @param {any} client @param {any} json @returns {Promise<string>} */
const ask1 = async (client, json) => (await client.ask([json]))[0].code;

test('a signed query is answered once: with an event, debited, queued, sent, written down', async () => {
  const { client, edge } = await askedClient({ random: fixed });
  assert.deepEqual(await client.donate('typed-phrases', EVENT), [{ recipe: null, code: 'stored' }]);
  const json = signed(phrases({ round: { index: 1 } }));
  assert.deepEqual(await client.ask([json]), [{ recipe: 'ngrams', code: 'queued' }]);
  assert.deepEqual(await client.ask([json]), [{ recipe: 'ngrams', code: 'replayed' }]);
  await client.flush();
  const [{ url, body }] = edge.requests;
  assert.equal(edge.requests.length, 1);
  assert.equal(url, 'https://edge.example/v1/reports');
  // Prefix 0, "hello world", and token 1, "and": behind "none", "end" and "not listed".
  const [hash, record] = withQuery(json, (query) => [query.hash, query.randomize(1 + 2 + 1, SEED)]);
  assert.deepEqual(body, {
    key: 'ngrams',
    recipe_hash: hash,
    parameters: { epsilon: 4 },
    records: [record],
  });

  assert.deepEqual(await charges(client), {
    'keyboard/': [1, 0.25, 4],
    'keyboard/phrase': [1, 0.25, 4],
    'keyboard/age': [0, 0, 0],
    'reading/': [0, 0, 0],
    'reading/topic': [0, 0, 0],
  });
  const ledger = await client.ledger();
  assert.deepEqual((await balances(client))[0], {
    recipe: 'words',
    perDay: 100,
    today: { count: 0, epsilon: 0 },
    year: { count: 0, epsilon: 0 },
  });
  assert.deepEqual(
    ledger.find((entry) => entry.analysis === 'keyboard' && entry.field === null),
    {
      analysis: 'keyboard',
      field: null,
      optedIn: true,
      reports: { used: 1, allowed: 4 },
      epsilon: { used: 0.25, allowed: 1 },
      delta: { used: 1e-9, allowed: 1e-7 },
      itemEpsilon: 5,
      userEpsilon: { used: 4, allowed: 20 },
    },
  );
  const [refused, accepted] = (await client.log()).sort((a, b) =>
    b.outcome.localeCompare(a.outcome),
  );
  assert.deepEqual([refused.code, refused.report, refused.state], ['replayed', null, 'none']);
  assert.deepEqual(
    [accepted.query, accepted.analysis, accepted.round, accepted.code, accepted.state],
    ['ngrams', 'keyboard', 1, 'accepted', 'sent'],
  );
  assert.deepEqual(accepted.report, body);
  assert.match(
    accepted.text,
    /^Answered at .*: "ngrams", round 1: it asks for phrase \(11 buckets\), one of 11 answers; epsilon 4 of one report, 0\.25 of the sum over at least 1000000 people\.$/,
  );
  const gives = accepted.asked?.amplified ?? 1;
  assert.ok(gives > 0 && gives <= 0.25, 'what Theorem 3.1 gives is within what is claimed');
  assert.match(
    (await client.reports())[0].text,
    /^Sent at .*: a record of "ngrams", randomized with epsilon 4\.$/,
  );
  client.close();
});

test('before consent, and without a policy, nothing is stored, fetched or answered', async () => {
  const storage = memoryStorage();
  const none = await makeClient({
    policy: makePolicy(),
    queryWasm: () => assert.fail('loaded'),
    storage,
  });
  for (const outcomes of [
    none.client.donate('typed-phrases', EVENT),
    none.client.ask(),
    none.client.ask([signed(phrases())]),
    none.client.optIn('keyboard'),
  ]) {
    assert.deepEqual(await outcomes, [{ recipe: null, code: 'no-consent' }]);
  }
  assert.deepEqual(
    [await none.client.log(), await none.client.ledger(), none.edge.requests],
    [[], [], []],
  );
  assert.equal(await storage.open(false), false);
  const bare = await makeClient({});
  await bare.client.consent.grant();
  assert.deepEqual(codes(await bare.client.ask([signed(phrases())])), ['no-policy']);
  assert.deepEqual(codes(await bare.client.donate('typed-phrases', EVENT)), ['no-policy']);
  assert.deepEqual(await bare.client.explain(), [
    { code: 'no-policy', recipe: null, count: 2, text: QUERY_REASONS['no-policy'] },
  ]);
  assert.ok(!(await stored(bare.storage)).state.includes('accountant'));
});

test('a policy that is pinned is refused unless its hash is the pinned one', async () => {
  const policy = makePolicy();
  const hash = policyHash(policy);
  for (const [pinned, text, expected] of /** @type {any[][]} */ ([
    [hash, JSON.stringify(policy), 'stored'],
    ['0'.repeat(64), JSON.stringify(policy), 'policy-refused'],
    [hash, JSON.stringify({ ...policy, fresh_days: 2 }), 'policy-refused'],
    [hash, '{', 'policy-refused'],
    [hash, '', 'policy-refused'],
  ])) {
    const fetcher = async () => new Response(text);
    const { client } = await askedClient({
      fetch: fetcher,
      policy: { url: 'https://edge.example/p.json', hash: pinned },
    });
    assert.deepEqual(codes(await client.donate('typed-phrases', EVENT)), [expected], text);
    client.close();
  }
  const broken = await askedClient({ policy: { policy: 'x' } });
  assert.deepEqual(codes(await broken.client.ask([])), ['policy-refused']);
  for (const [error, code] of [
    ['Error: shoal.wasm: HTTP 404', 'core-missing'],
    ['CompileError: call to WebAssembly.compile() blocked by CSP', 'wasm-blocked'],
  ]) {
    const { client } = await askedClient({ queryWasm: () => Promise.reject(new Error(error)) });
    assert.deepEqual(codes(await client.ask([])), [code]);
  }
});

// ---- what is refused ----

const stranger = signer();
/** @param {any} json @param {number} bit */
const flipped = (json, bit) => {
  const bytes = Buffer.from(json.signature.ed25519, 'hex');
  bytes[bit >> 3] ^= 1 << (bit & 7);
  return { ...json, signature: { ...json.signature, ed25519: bytes.toString('hex') } };
};
const age = { field: 'age', boundaries: [20, 30, 40] };
const [phrase] = phrases().encoding;
const split = (/** @type {string} */ field) => ({ split_by: [{ field, values: ['de', 'en'] }] });

const { policy: _, version: __, ...withoutPolicy } = phrases();

/** [name, query, code, field that it is about] @type {[string, any, string, (string | null)?][]} */
const REFUSED = [
  ['one bit of the signature', flipped(signed(phrases()), 77), 'bad-signature'],
  ['signed by a stranger', signed(phrases(), stranger), 'unknown-key'],
  [
    'a stranger under the known name',
    {
      ...signed(phrases(), stranger),
      signature: { ...signed(phrases(), stranger).signature, key: analyst.key },
    },
    'bad-signature',
  ],
  [
    'edited after signing: epsilon',
    { ...signed(phrases()), parameters: { epsilon: 5 } },
    'bad-signature',
  ],
  [
    'edited after signing: a token',
    { ...signed(phrases()), encoding: [{ ...phrase, tokens: ['a', 'and', 'gut'] }] },
    'bad-signature',
  ],
  [
    'edited after signing: the round',
    { ...signed(phrases()), round: { index: 1 } },
    'bad-signature',
  ],
  [
    'edited after signing: the split',
    { ...signed(phrases()), ...split('locale') },
    'bad-signature',
  ],
  ['not signed', phrases(), 'no-signature'],
  ['no recipe', { recipe: 'x' }, 'malformed'],
  ['no object', 7, 'malformed'],
  ['nothing', undefined, 'malformed'],
  ['text that is no JSON', '{', 'malformed'],
  ['a field that there is not', { ...phrases(), extra: 1 }, 'malformed', 'extra'],
  [
    'two of one token',
    phrases({ encoding: [{ ...phrase, tokens: ['a', 'a'] }] }),
    'malformed',
    'encoding.0.tokens',
  ],
  ['a part', { ...signed(phrases(split('locale'))), part: ['de'] }, 'malformed', 'part'],
  ['a recipe of a list', signed(itemsRecipe()), 'malformed', 'value'],
  ['a mechanism that the module lacks', signed(wordsRecipe()), 'malformed', 'mechanism'],
  ['a recipe of fields under no policy', signed(withoutPolicy), 'not-query'],
  ['another policy', signed(phrases({ policy: 'ab'.repeat(32) })), 'policy'],
  ['another analysis', signed(phrases({ analysis: 'unheard-of' })), 'analysis'],
  ['an analysis that nobody opted in to', signed(topics()), 'not-opted-in'],
  ['past its last day', signed(phrases({ expires: '2026-12-13' })), 'expired'],
  ['an older version', signed(phrases({ version: 1 })), 'downgraded'],
  ['another stream', signed(phrases({ stream: 'visits' })), 'stream'],
  [
    'a field of the stream without a budget',
    signed(phrases({ encoding: [{ field: 'note', values: ['x'] }] })),
    'field',
    'note',
  ],
  [
    'a field of another stream',
    signed(phrases({ encoding: [phrase, { field: 'topic', values: ['sport'] }] })),
    'field',
    'topic',
  ],
  [
    'a number as a list',
    signed(phrases({ encoding: [{ field: 'age', values: ['33'] }] })),
    'scheme',
    'age',
  ],
  [
    'a phrase as a list',
    signed(phrases({ encoding: [age, { field: 'phrase', values: ['hello world and more'] }] })),
    'scheme',
    'phrase',
  ],
  [
    'more cells than allowed',
    signed(
      phrases({
        mechanism: 'grr',
        encoding: [
          age,
          { ...phrase, prefixes: ['a'], tokens: Array.from({ length: 16400 }, (_, i) => `t${i}`) },
        ],
      }),
    ),
    'size',
  ],
  ['another mechanism', signed(phrases({ mechanism: 'onehot-asymmetric' })), 'mechanism'],
  ['split by what is not approved', signed(phrases(split('note'))), 'split', 'note'],
  [
    'a report that costs too much',
    signed(phrases({ parameters: { epsilon: 5.5 } })),
    'local',
    'phrase',
  ],
  [
    'a report that costs too much for one field of two',
    signed(phrases({ encoding: [phrase, age], parameters: { epsilon: 4.5 } })),
    'local',
    'age',
  ],
  [
    'more epsilon than there is',
    signed(phrases({ cohort: { minimum: 1000000, epsilon: 1.01, delta: '1e-9' } })),
    'epsilon',
  ],
  [
    'more epsilon than one field has',
    signed(phrases({ encoding: [age], cohort: { minimum: 1000000, epsilon: 0.6, delta: '1e-9' } })),
    'field-epsilon',
    'age',
  ],
  [
    'more delta than there is',
    signed(phrases({ cohort: { minimum: 1000000, epsilon: 0.25, delta: '1e-6' } })),
    'delta',
  ],
  [
    'too small a cohort',
    signed(phrases({ cohort: { minimum: 4999, epsilon: 1, delta: '1e-9' } })),
    'cohort',
  ],
  [
    'an epsilon that its cohort does not give',
    signed(phrases({ cohort: { minimum: 50000, epsilon: 0.25, delta: '1e-9' } })),
    'amplification',
  ],
];

test('forged, expired, downgraded and over-broad queries: each refused with its own reason, nothing queued, nothing charged', async () => {
  const { client, edge, storage } = await askedClient();
  await client.donate('typed-phrases', EVENT);
  const before = await stored(storage);
  for (const [name, json, code, field = null] of REFUSED) {
    const [outcome] = await client.ask([json]);
    assert.equal(outcome.code, code, name);
    const [entry] = (await client.log()).filter(
      (e) => e.code === code && (field === null || e.field === field),
    );
    assert.ok(entry, `${name}: in the log`);
    assert.deepEqual([entry.outcome, entry.report, entry.state], ['refused', null, 'none'], name);
    assert.match(entry.text, /^Refused.*\.$/, name);
    const after = await stored(storage);
    for (const store of ['state', 'queue', 'done', 'events'])
      assert.equal(after[store], before[store], `${name}: ${store}`);
  }
  const reasons = await client.explain();
  for (const [name, , code] of REFUSED)
    assert.ok((reasons.find((reason) => reason.code === code)?.text ?? '').length > 10, name);
  await client.flush();
  assert.equal(edge.requests.length, 0);
  assert.deepEqual(
    codes(await client.ask([signed(phrases())])),
    ['queued'],
    'and none of them is in the way of a good one',
  );
});

test('what only another policy or an earlier answer brings about', async () => {
  const policy = makePolicy({}, { query: { fields: 1 } });
  const made = await askedClient({ policy });
  const under = { policy: policyHash(policy) };
  assert.equal(
    await ask1(made.client, signed(phrases({ ...under, encoding: [phrase, age] }))),
    'combination',
  );
  assert.equal(await ask1(made.client, signed(phrases({ ...under, encoding: [age] }))), 'queued');
  const { client } = await askedClient();
  const cheap = { cohort: { minimum: 100000000, epsilon: 0.03, delta: '1e-9' }, encoding: [age] };
  for (const [i, code] of ['queued', 'queued', 'field-reports'].entries())
    assert.equal(await ask1(client, signed(phrases({ ...cheap, recipe: `a${i}` }))), code);
  assert.equal((await client.log()).find(({ code }) => code === 'field-reports')?.field, 'age');
  assert.equal(await ask1(client, signed(phrases())), 'queued', 'the other field has reports left');
});

test('every bit of the signature counts', async () => {
  const { client } = await askedClient();
  const json = signed(phrases());
  for (let bit = 0; bit < 512; bit += 7)
    assert.equal(await ask1(client, flipped(json, bit)), 'bad-signature', String(bit));
  assert.deepEqual(await client.reports(), []);
});

test('without Ed25519 no query is answered', async () => {
  const { client } = await askedClient();
  const subtle = crypto.subtle;
  const importKey = subtle.importKey;
  subtle.importKey = /** @type {any} */ (
    () => Promise.reject(new DOMException('unrecognized', 'NotSupportedError'))
  );
  try {
    assert.equal(await ask1(client, signed(phrases())), 'no-ed25519');
  } finally {
    subtle.importKey = importKey;
  }
  assert.equal(await ask1(client, signed(phrases())), 'queued');
});

test('rounds: the next one follows the last answered, no other, and versions do not go back', async () => {
  const { client } = await askedClient({ policy: makePolicy({}, {}) });
  const one = signed(phrases({ round: { index: 1 } }));
  const hash = withQuery(one, (query) => query.queryHash);
  const next = (/** @type {any} */ more) => signed(phrases({ recipe: 'ngrams-2', ...more }));
  assert.equal(await ask1(client, one), 'queued');
  assert.equal(
    await ask1(client, next({ round: { index: 2, previous: 'ab'.repeat(32) } })),
    'reordered',
    'follows another',
  );
  const two = next({ round: { index: 2, previous: hash }, version: 3 });
  assert.equal(await ask1(client, two), 'queued');
  assert.equal(
    await ask1(client, next({ recipe: 'again', round: { index: 2, previous: hash }, version: 3 })),
    'reordered',
    'a second of that round',
  );
  assert.equal(
    await ask1(client, next({ recipe: 'older', round: { index: 1 } })),
    'downgraded',
    'version 2 after 3',
  );
  assert.equal(await ask1(client, two), 'replayed');
  assert.deepEqual((await charges(client))['keyboard/'], [2, 0.5, 8]);
});

test('a thousand valid queries spend the budget of their own analysis and nothing else', async () => {
  const { client, edge, storage } = await askedClient({}, ['keyboard', 'reading']);
  await client.donate('typed-phrases', EVENT);
  const outcomes = [];
  for (let i = 0; i < 1000; i += 50) {
    const list = Array.from({ length: 50 }, (_, j) =>
      signed(
        phrases({
          recipe: `q${i + j}`,
          cohort: { minimum: 1000000, epsilon: 0.24, delta: '1e-9' },
        }),
      ),
    );
    outcomes.push(...codes(await client.ask(list)));
  }
  assert.equal(outcomes.length, 1000);
  assert.equal(outcomes.filter((code) => code === 'queued').length, 4, '4 reports, 4 * 0.24 of 1');
  assert.ok(outcomes.slice(4).every((code) => code === 'reports'));
  await client.flush();
  assert.equal(edge.requests.length, 4);
  const after = await charges(client);
  assert.deepEqual(after['keyboard/'], [4, 0.96, 16]);
  assert.deepEqual(
    [after['reading/'], after['reading/topic'], after['keyboard/age']],
    [
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ],
  );
  const log = await client.log();
  assert.ok(log.length < 20, `${log.length} entries`);
  assert.equal(
    log.filter(({ outcome }) => outcome === 'accepted').length,
    4,
    'what was answered is not pushed out',
  );
  assert.equal(
    log.filter(({ code }) => code === 'reports').reduce((sum, { count }) => sum + count, 0),
    996,
    'and all the others are counted',
  );
  const sizes = Object.values(await stored(storage)).map((text) => text.length);
  assert.ok(
    sizes.every((size) => size < 20_000),
    sizes.join(),
  );
  assert.equal(await ask1(client, signed(topics())), 'queued', 'the other analysis answers');
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued'], 'and so do recipes');
});

test('the log is bounded, whatever is sent', async () => {
  const { client, storage } = await askedClient({}, []);
  await storage.transaction(async (/** @type {any} */ tx) => {
    for (let i = 0; i < 600; i++)
      await tx.put('log', `accepted ${i}`, {
        at: NOON + i,
        outcome: 'accepted',
        code: 'accepted',
        query: `q${i}`,
        analysis: 'keyboard',
        count: 1,
        report: null,
      });
  });
  for (let i = 0; i < 30; i++)
    await client.ask([{ recipe: `bad-${i}` }, signed(phrases({ recipe: `new-${i}` }))]);
  const log = await client.log();
  assert.equal(log.length, 500);
  assert.ok(
    !log.some(({ query }) => query === 'q0') && log.some(({ query }) => query === 'q599'),
    'the oldest went',
  );
  assert.equal(
    log.filter(({ outcome }) => outcome === 'accepted').length,
    500,
    'refusals go before answers',
  );
});

test('what a server says is not repeated unless it is a name', async () => {
  const { client } = await askedClient();
  await client.ask([
    { recipe: '<img src=x onerror=alert(1)>', id: 'x'.repeat(9999), queryHash: 'h', round: 'r' },
    { ['<b>'.repeat(100)]: 1 },
  ]);
  const log = await client.log();
  assert.deepEqual(
    log.map(({ query, hash, round }) => [query, hash, round]),
    [[null, null, 0]],
  );
  assert.deepEqual([log[0].count, log[0].field], [2, null]);
  await client.ask([{ ['a'.repeat(65)]: 1 }]);
  assert.equal((await client.log())[0].field, null);
  await client.ask([{ no_such: 1 }]);
  const [named] = await client.log();
  assert.equal(named.field, 'no_such');
  assert.match(named.text, /This is not a query that the core can read: no_such\.$/);
});

test('explain() does not grow with the names that a server sends', async () => {
  const { client } = await askedClient();
  for (let i = 0; i < 5; i++) {
    const outcomes = await client.ask(
      Array.from({ length: 64 }, (_, j) => ({ recipe: `bad-${i}-${j}` })),
    );
    assert.deepEqual(outcomes.at(-1), { recipe: `bad-${i}-63`, code: 'malformed' });
  }
  const reasons = await client.explain();
  assert.ok(reasons.length <= 201, String(reasons.length));
  assert.equal(
    reasons.reduce((sum, { code, count }) => sum + (code === 'malformed' ? count : 0), 0),
    320,
  );
  assert.ok(reasons.some(({ code, recipe }) => code === 'malformed' && recipe === null));
});

// ---- tabs, crashes, clocks, copies ----

test('two tabs that ask at once send one report', async () => {
  const storage = memoryStorage();
  const locks = memoryLocks();
  const a = await askedClient({ storage, locks });
  const b = await askedClient({ storage, locks, now: a.clock.now });
  await a.client.donate('typed-phrases', EVENT);
  const json = signed(phrases());
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, i) => (i % 2 ? a : b).client.ask([json])),
  );
  assert.deepEqual(codes(outcomes.flat()).sort(), ['queued', ...Array(7).fill('replayed')]);
  await Promise.all([a.client.flush(), b.client.flush()]);
  await a.client.flush();
  assert.equal(a.edge.requests.length + b.edge.requests.length, 1);
  assert.deepEqual((await charges(a.client))['keyboard/'], [1, 0.25, 4]);
});

test('many tabs and many queries never spend more than the budget', async () => {
  const storage = memoryStorage();
  const locks = memoryLocks();
  const tabs = await Promise.all([1, 2, 3].map(() => askedClient({ storage, locks })));
  const list = Array.from({ length: 12 }, (_, i) => signed(phrases({ recipe: `q${i}` })));
  const outcomes = await Promise.all(
    tabs.map(({ client }, i) => client.ask([...list.slice(i * 4), ...list.slice(0, i * 4)])),
  );
  assert.equal(codes(outcomes.flat()).filter((code) => code === 'queued').length, 4);
  assert.deepEqual((await charges(tabs[0].client))['keyboard/'], [4, 1, 16]);
});

test('killed between debit and queue: spent, nothing sent, and asked again it is a replay', async () => {
  let isKilled = false;
  const random = (/** @type {Uint8Array} */ bytes) => {
    if (isKilled && bytes.length === 32) throw new Error('killed');
    crypto.getRandomValues(bytes);
  };
  const { client, edge, clock, options } = await askedClient({ random });
  await client.donate('typed-phrases', EVENT);
  isKilled = true;
  const json = signed(phrases());
  assert.equal(await ask1(client, json), 'failed');
  client.close();
  isKilled = false;
  const later = await init(options);
  await later.flush();
  await clock.advance(DAY_MS);
  assert.equal(edge.requests.length, 0);
  assert.equal(await ask1(later, json), 'replayed', 'nothing is given back');
  assert.deepEqual((await charges(later))['keyboard/'], [1, 0.25, 4]);
  const [entry] = (await later.log()).filter(({ outcome }) => outcome === 'accepted');
  assert.deepEqual(
    [entry.query, entry.state, entry.report],
    ['ngrams', 'none', null],
    'the log tells that it was paid for',
  );
});

test('storage that fails at the n-th transaction: no report that is not paid for, none twice', async () => {
  for (let failing = 1; failing <= 8; failing++) {
    const inner = memoryStorage();
    let count = -1000;
    const storage = {
      ...inner,
      transaction: (/** @type {any} */ task) =>
        ++count === failing ? Promise.reject(new Error('quota')) : inner.transaction(task),
    };
    const { client, edge, clock } = await askedClient({ storage });
    await client.donate('typed-phrases', EVENT);
    count = 0;
    const json = signed(phrases());
    await client.ask([json]);
    await client.flush();
    await clock.advance(60_000);
    count = 100;
    await client.ask([json]);
    await client.flush();
    const [reports, epsilon] = (await charges(client))['keyboard/'];
    assert.deepEqual([reports, epsilon], [1, 0.25], `failing ${failing}`);
    // A report whose end could not be stored is sent again, under the same key.
    assert.ok(
      new Set(edge.requests.map(({ init: request }) => request.headers['Idempotency-Key'])).size <=
        1,
      `failing ${failing}`,
    );
  }
});

test('a storage that loses the end of a transaction loses all of it', async () => {
  // The books are written, then the transaction fails: neither the charge nor the answer is there.
  const inner = memoryStorage();
  let isFailing = false;
  const storage = {
    ...inner,
    transaction: (/** @type {any} */ task) =>
      inner.transaction(async (tx) => {
        const result = await task({
          ...tx,
          put: async (
            /** @type {any} */ store,
            /** @type {any} */ key,
            /** @type {any} */ value,
          ) => {
            await tx.put(store, key, value);
            if (isFailing && key === 'accountant') throw new Error('quota');
          },
        });
        return result;
      }),
  };
  const { client } = await askedClient({ storage });
  isFailing = true;
  assert.equal(await ask1(client, signed(phrases())), 'storage');
  isFailing = false;
  assert.deepEqual([await client.reports(), (await charges(client))['keyboard/']], [[], [0, 0, 0]]);
  assert.equal(await ask1(client, signed(phrases())), 'queued');
});

test('cleared storage waits as long as the policy says', async () => {
  const policy = makePolicy({ fresh_days: 3 });
  const json = signed(phrases({ policy: policyHash(policy) }));
  const storage = memoryStorage();
  const made = await makeClient({ policy, queryWasm: loadQueryCore, storage });
  await made.client.consent.grant();
  await made.client.optIn('keyboard');
  for (let day = 0; day < 3; day++) {
    assert.equal(await ask1(made.client, json), 'fresh', `day ${day}`);
    await made.clock.advance(DAY_MS);
  }
  assert.equal(await ask1(made.client, json), 'queued');
  // Cleared: another day is the first again.
  await storage.transaction(async (/** @type {any} */ tx) => {
    for (const store of ['state', 'queue', 'done', 'events', 'log']) await tx.clear(store);
  });
  const again = await makeClient({ ...made.options, storage });
  await again.client.consent.grant();
  await again.client.optIn('keyboard');
  assert.equal(await ask1(again.client, json), 'fresh');
});

test('the first day of the books is the day of consent, before anybody asks', async () => {
  const { client, clock, storage } = await makeClient({
    policy: makePolicy(),
    queryWasm: loadQueryCore,
  });
  await client.consent.grant();
  const hasBooks = async () => (await stored(storage)).state.includes('accountant');
  await eventually(hasBooks);
  assert.ok(await hasBooks());
  await clock.advance(DAY_MS);
  await client.optIn('keyboard');
  assert.equal(await ask1(client, signed(phrases())), 'queued');
});

test('erase() refills no budget, and forgets events, choices and the log', async () => {
  const { client, clock, storage } = await askedClient();
  await client.donate('typed-phrases', EVENT);
  const json = signed(phrases());
  await client.ask([json]);
  await client.erase();
  const left = await stored(storage);
  assert.match(
    left.state,
    /^\[\["accountant","shoalacq[^]*"\],\["answered",\{\}\],\["erased",\d+\],\["ledger","shoalled[^]*"\]\]$/,
  );
  assert.deepEqual([left.queue, left.done, left.events, left.log], ['[]', '[]', '[]', '[]']);
  assert.ok(
    !left.state.includes('keyboard') && !left.state.includes('ngrams'),
    'names are hashed in the books',
  );
  await client.consent.grant();
  assert.equal(await ask1(client, json), 'not-opted-in');
  await client.optIn('keyboard');
  assert.equal(await ask1(client, json), 'replayed');
  await clock.advance(3 * DAY_MS);
  for (let i = 0; i < 5; i++) await client.ask([signed(phrases({ recipe: `q${i}` }))]);
  assert.deepEqual((await charges(client))['keyboard/'], [4, 1, 16], 'one before, three after');
});

test('withdrawn consent takes events, choices and waiting reports with it, in one transaction; the books stay', async () => {
  const inner = memoryStorage();
  let isCounting = false;
  let count = 0;
  const storage = {
    ...inner,
    transaction: (/** @type {any} */ task) => (isCounting && count++, inner.transaction(task)),
  };
  const { client } = await askedClient({ storage });
  await client.donate('typed-phrases', EVENT);
  await client.ask([signed(phrases({ send: { delay_s: 3600 } }))]);
  assert.notEqual((await stored(inner)).events, '[]');
  isCounting = true;
  await client.consent.withdraw();
  isCounting = false;
  assert.equal(count, 1);
  const left = await stored(inner);
  assert.deepEqual([left.events, left.queue], ['[]', '[]']);
  assert.ok(left.state.includes('accountant') && !left.state.includes('analyses'));
  await client.consent.grant();
  assert.deepEqual(
    codes(await client.donate('typed-phrases', EVENT)),
    ['not-opted-in'],
    'a choice of before does not come back',
  );
});

test('consent withdrawn at any moment of an answer: nothing is queued', async () => {
  for (let step = 0; step < 40; step++) {
    const { client, edge, clock } = await askedClient();
    await client.donate('typed-phrases', EVENT);
    const asking = client.ask([signed(phrases())]);
    for (let i = 0; i < step * 4; i++) await Promise.resolve();
    if (step > 20)
      for (let i = 20; i < step; i++) await new Promise((resolve) => setImmediate(resolve));
    await client.consent.withdraw();
    const [{ code }] = await asking;
    assert.ok(['no-consent', 'queued'].includes(code), `${step}: ${code}`);
    assert.deepEqual(
      (await client.reports()).filter(({ state }) => state === 'queued'),
      [],
      `${step}`,
    );
    await client.consent.grant();
    await client.flush();
    await clock.advance(DAY_MS);
    assert.equal(edge.requests.length, 0, `${step}`);
    client.close();
  }
});

/**
 * A client whose person does something between the debit and the queue of the next answer.
 * @param {(client: any) => Promise<unknown>} action
 */
async function interrupted(action) {
  /** @type {any} */
  let client;
  let isArmed = false;
  let isDrawn = false;
  const random = (/** @type {Uint8Array} */ bytes) => {
    crypto.getRandomValues(bytes);
    isDrawn ||= isArmed && bytes.length === 32;
  };
  const inner = memoryLocks();
  const locks = {
    request: async (
      /** @type {any} */ name,
      /** @type {any} */ options,
      /** @type {any} */ task,
    ) => {
      if (isDrawn) {
        isArmed = isDrawn = false;
        await action(client);
      }
      return inner.request(name, options, task);
    },
  };
  client = (await askedClient({ random, locks })).client;
  isArmed = true;
  return client;
}

test('consent taken back and given again between debit and queue: nothing is queued', async () => {
  const client = await interrupted(async (c) => {
    await c.consent.withdraw();
    await c.consent.grant();
    await c.optIn('keyboard');
  });
  assert.equal(await ask1(client, signed(phrases())), 'no-consent');
  assert.equal(client.consent.state, 'granted');
  assert.deepEqual(await client.reports(), []);
  assert.deepEqual((await charges(client))['keyboard/'], [1, 0.25, 4]);
});

test('opted out between debit and queue, and nothing that waits is left to erase: nothing is queued', async () => {
  const client = await interrupted((c) => c.optIn('keyboard', false));
  await client.ask([signed(phrases())]);
  assert.deepEqual(await client.reports(), []);
  assert.deepEqual((await charges(client))['keyboard/'], [1, 0.25, 4]);
});

test('opting out during an answer stops it, and takes what waits', async () => {
  /** @type {any} */
  let client;
  let isArmed = false;
  const random = (/** @type {Uint8Array} */ bytes) => {
    crypto.getRandomValues(bytes);
    if (isArmed && bytes.length === 32) void client.optIn('keyboard', false);
  };
  const made = await askedClient({ random }, ['keyboard', 'reading']);
  client = made.client;
  await client.ask([
    signed(phrases({ send: { delay_s: 3600 } })),
    signed(topics({ send: { delay_s: 3600 } })),
  ]);
  assert.equal((await client.reports()).length, 2);
  assert.deepEqual(codes(await client.optIn('keyboard', false)), ['opted-out']);
  assert.deepEqual(
    (await client.reports()).map((/** @type {any} */ { report }) => report.key),
    ['topics'],
  );
  await client.optIn('keyboard');
  isArmed = true;
  await client.ask([signed(phrases({ recipe: 'other' }))]);
  await settle();
  assert.deepEqual(
    (await client.reports()).map((/** @type {any} */ { report }) => report.key),
    ['topics'],
  );
});

test('a clock set back brings nothing back, and no event is older than its retention', async () => {
  let now = NOON;
  const made = await makeClient({ policy: makePolicy(), queryWasm: loadQueryCore, now: () => now });
  const { client, storage } = made;
  await client.consent.grant();
  await client.optIn('keyboard');
  now += 30 * DAY_MS;
  const short = phrases({ expires: '2027-01-20' });
  assert.equal(await ask1(client, signed(short)), 'queued');
  now -= 20 * DAY_MS;
  assert.equal(await ask1(client, signed(short)), 'replayed');
  for (let i = 0; i < 6; i++) await client.ask([signed(phrases({ recipe: `q${i}` }))]);
  assert.deepEqual((await charges(client))['keyboard/'], [4, 1, 16]);
  assert.equal(
    await ask1(client, signed(phrases({ recipe: 'late', expires: '2027-01-01' }))),
    'expired',
    'the newest day counts',
  );
  now -= 180 * DAY_MS;
  assert.equal(
    await ask1(client, signed(phrases({ recipe: 'early' }))),
    'fresh',
    'before the first day of the books',
  );
  now += 180 * DAY_MS;
  // An event of days to come has no known age.
  await client.donate('typed-phrases', EVENT);
  now -= DAY_MS;
  await client.donate('typed-phrases', { age: 5 });
  assert.ok(!(await stored(storage)).events.includes('WORLD'));
});

test('a copied profile: each copy is within the policy; what both say is the residual that the documentation names', async () => {
  const storage = memoryStorage();
  const a = await askedClient({ storage });
  await a.client.ask([signed(phrases({ recipe: 'before' }))]);
  const copy = memoryStorage();
  const rows = await Promise.all(
    /** @type {const} */ (['state', 'queue', 'done', 'events', 'log']).map(
      async (store) =>
        /** @type {const} */ ([store, await storage.transaction((tx) => tx.entries(store))]),
    ),
  );
  await copy.transaction(async (tx) => {
    for (const [store, entries] of rows)
      for (const [key, value] of entries) await tx.put(store, key, value);
  });
  const b = await makeClient({ ...a.options, storage: copy, locks: memoryLocks() });
  for (const { client } of [a, b]) {
    for (let i = 0; i < 8; i++) await client.ask([signed(phrases({ recipe: `q${i}` }))]);
    assert.deepEqual((await charges(client))['keyboard/'], [4, 1, 16]);
    assert.equal(await ask1(client, signed(phrases({ recipe: 'before' }))), 'replayed');
  }
});

test('damaged books answer nothing, ever', async () => {
  const { client, storage } = await askedClient();
  const good = await storage.transaction((tx) => tx.get('state', 'accountant'));
  for (let at = 0; at < good.length; at++) {
    const bad = good.slice();
    bad[at] ^= 1;
    await storage.transaction((tx) => tx.put('state', 'accountant', bad));
    assert.equal(await ask1(client, signed(phrases())), 'storage', `byte ${at}`);
    assert.deepEqual(
      await storage.transaction((tx) => tx.get('state', 'accountant')),
      bad,
      'and are not replaced',
    );
  }
  for (const value of [new Uint8Array(0), 'x', null, 7]) {
    await storage.transaction((tx) => tx.put('state', 'accountant', value));
    assert.equal(await ask1(client, signed(phrases())), 'storage');
  }
  assert.ok(Array.isArray(await client.ledger()));
  assert.deepEqual(await client.reports(), []);
});

// ---- events ----

test('events obey the schema; no error holds their value', async () => {
  const { client, storage } = await askedClient();
  /** @type {[any, any, string][]} */
  const table = [
    ['typed-phrases', { phrase: 'x', age: 1, locale: 'de', note: '' }, 'stored'],
    ['typed-phrases', {}, 'stored'],
    ['typed-phrases', { phrase: 'secretfish', surname: 'secretfish' }, 'event-field'],
    ['typed-phrases', { phrase: 7 }, 'event-type'],
    ['typed-phrases', { phrase: null }, 'event-type'],
    ['typed-phrases', { phrase: ['secretfish'] }, 'event-type'],
    ['typed-phrases', { age: '33' }, 'event-type'],
    ['typed-phrases', { age: NaN }, 'event-type'],
    ['typed-phrases', { age: Infinity }, 'event-type'],
    ['typed-phrases', { age: 33n }, 'event-type'],
    ['typed-phrases', { phrase: 'secretfish'.repeat(103) }, 'event-size'],
    ['typed-phrases', null, 'event-type'],
    ['typed-phrases', 'secretfish', 'event-type'],
    ['typed-phrases', [], 'event-type'],
    ['typed-phrases', undefined, 'event-type'],
    ['visits', { topic: 'secretfish' }, 'not-opted-in'],
    ['typed-words', { phrase: 'secretfish' }, 'unknown-stream'],
    ['__proto__', {}, 'unknown-stream'],
    [undefined, {}, 'unknown-stream'],
  ];
  for (const [stream, event, code] of table)
    assert.deepEqual(
      codes(await client.donate(stream, event)),
      [code],
      `${stream} ${String(code)}`,
    );
  assert.equal(await storage.transaction(async (tx) => (await tx.keys('events')).length), 2);
  const told = JSON.stringify([
    await client.explain(),
    await client.log(),
    await client.reports(),
    await stored(storage),
  ]);
  assert.ok(!told.includes('secretfish'));
});

test('a stream keeps its last 1,000 events, and no longer than its retention', async () => {
  const { client, clock, storage } = await askedClient({ policy: makePolicy() }, [
    'keyboard',
    'reading',
  ]);
  const kept = () => storage.transaction((tx) => tx.entries('events'));
  for (let i = 0; i < 1010; i++) await client.donate('typed-phrases', { age: i });
  const ages = (await kept()).map(([, event]) => event.age);
  assert.deepEqual([ages.length, ages[0], ages.at(-1)], [1000, 10, 1009]);
  await client.donate('visits', { topic: 'sport' });
  await clock.advance(2 * DAY_MS);
  await client.donate('visits', { topic: 'news' });
  assert.equal((await kept()).filter(([key]) => key.startsWith('visits/')).length, 2);
  await clock.advance(DAY_MS);
  await client.donate('visits', { topic: 'news' });
  assert.deepEqual(
    (await kept()).filter(([key]) => key.startsWith('visits/')).map(([, { topic }]) => topic),
    ['news', 'news'],
    'three days are over',
  );
});

test('a page that only loads erases what is too old, also where the policy of today keeps shorter', async () => {
  for (const [days, policy, left] of /** @type {[number, any, number][]} */ ([
    [13, makePolicy(), 1],
    [14, makePolicy(), 0],
    [
      5,
      makePolicy({
        streams: makePolicy().streams.map((/** @type {any} */ stream) => ({
          ...stream,
          retention_days: 6,
        })),
      }),
      1,
    ],
    [
      6,
      makePolicy({
        streams: makePolicy().streams.map((/** @type {any} */ stream) => ({
          ...stream,
          retention_days: 6,
        })),
      }),
      0,
    ],
    [
      14,
      makePolicy({
        streams: makePolicy().streams.map((/** @type {any} */ stream) => ({
          ...stream,
          retention_days: 100,
        })),
      }),
      0,
    ],
    [14, { url: 'https://edge.example/gone', hash: '0'.repeat(64) }, 0],
  ])) {
    const { client, storage, options, clock } = await askedClient();
    await client.donate('typed-phrases', EVENT);
    client.close();
    const now = clock.now() + days * DAY_MS;
    const later = await init({ ...options, policy, now: () => now });
    const kept = () => storage.transaction(async (tx) => (await tx.keys('events')).length);
    await eventually(async () => (await kept()) === 0, left === 0 ? 30_000 : 100); // what is not erased at all stays for longer than it takes
    assert.equal(await kept(), left, `${days} days`);
    later.close();
  }
});

test('events past their retention are not read, whoever forgot to erase them', async () => {
  const spy = spying();
  const { client, storage } = await askedClient({ queryWasm: spy.load });
  const put = (/** @type {string} */ key, /** @type {string} */ phraseText) =>
    storage.transaction((tx) => tx.put('events', key, { phrase: phraseText }));
  const today = DAY + 1;
  await put(`typed-phrases/0${today - 14}/0${today}/000000000001`, 'hello world old');
  await put(
    `typed-phrases/0${today - 20}/0${today + 80}/000000000002`,
    'hello world older than the policy of today lets it become',
  );
  await put(`typed-phrases/0${today + 1}/0${today + 15}/000000000003`, 'hello world of tomorrow');
  await put(`typed-phrases/0${today - 13}/0${today + 1}/000000000004`, 'hello world kept');
  assert.equal(await ask1(client, signed(phrases())), 'queued');
  assert.deepEqual(new Set(spy.events.map((event) => event.phrase)), new Set(['hello world kept']));
  assert.deepEqual(await storage.transaction((tx) => tx.keys('events')), [
    `typed-phrases/0${today - 13}/0${today + 1}/000000000004`,
  ]);
});

/** A core that writes down every event that a query is shown. */
function spying() {
  /** @type {any[]} */
  const events = [];
  const load = async () => {
    const made = await loadQueryCore();
    const query = made.query.bind(made);
    made.query = (json) => {
      const real = query(json);
      for (const method of /** @type {const} */ (['item', 'part'])) {
        const inner = /** @type {any} */ (real[method].bind(real));
        /** @type {any} */ (real)[method] = (/** @type {any} */ event) => (
          events.push(event),
          inner(event)
        );
      }
      return real;
    };
    return made;
  };
  return { events, load };
}

test('a query is shown the events of its stream, and of them the fields that it was granted', async () => {
  const spy = spying();
  const { client } = await askedClient({ queryWasm: spy.load }, ['keyboard', 'reading']);
  await client.donate('typed-phrases', { ...EVENT, note: 'unread' });
  await client.donate('visits', { topic: 'sport' });
  assert.equal(await ask1(client, signed(phrases())), 'queued');
  assert.ok(spy.events.length > 0);
  for (const event of spy.events) assert.deepEqual(event, { phrase: EVENT.phrase });
  spy.events.length = 0;
  assert.equal(
    await ask1(client, signed(phrases({ recipe: 'two', encoding: [age], ...split('locale') }))),
    'queued',
  );
  for (const event of spy.events) assert.deepEqual(event, { age: 33, locale: 'de' });
  spy.events.length = 0;
  assert.equal(await ask1(client, signed(topics())), 'queued');
  for (const event of spy.events) assert.deepEqual(event, { topic: 'sport' });
  spy.events.length = 0;
  for (const [, json] of REFUSED) await client.ask([json]);
  assert.deepEqual(spy.events, [], 'a refused query is shown nothing');
});

test('opting out erases what no other analysis reads', async () => {
  const analyses = makePolicy().analyses;
  const policy = makePolicy({ analyses: [...analyses, { ...analyses[0], analysis: 'spelling' }] });
  const { client, storage } = await askedClient({ policy }, ['keyboard', 'spelling', 'reading']);
  await client.donate('typed-phrases', EVENT);
  await client.donate('visits', { topic: 'sport' });
  const streams = async () =>
    (await storage.transaction((tx) => tx.keys('events'))).map((key) => key.split('/')[0]);
  await client.optIn('keyboard', false);
  assert.deepEqual(await streams(), ['typed-phrases', 'visits']);
  await client.optIn('spelling', false);
  assert.deepEqual(await streams(), ['visits']);
  assert.deepEqual(codes(await client.donate('typed-phrases', EVENT)), ['not-opted-in']);
  assert.equal(await ask1(client, signed(phrases({ policy: policyHash(policy) }))), 'not-opted-in');
  assert.deepEqual(codes(await client.optIn('nobody')), ['unknown-analysis']);
  // Where the policy cannot be had, all events go.
  const lost = await makeClient({
    storage,
    policy: { url: 'https://edge.example/gone', hash: '0'.repeat(64) },
    queryWasm: loadQueryCore,
  });
  assert.deepEqual(codes(await lost.client.optIn('unheard-of', false)), ['opted-out']);
  assert.deepEqual(await streams(), []);
});

test('raw values are in the event store and nowhere else', async () => {
  const { client, edge, storage } = await askedClient({}, ['keyboard', 'reading']);
  const markers = ['quicksilver', 'zanderfilet', '271828'];
  await client.donate('typed-phrases', {
    phrase: 'hello world quicksilver',
    age: 271828,
    locale: 'zanderfilet',
  });
  await client.donate('typed-phrases', { phrase: 'quicksilver', age: 271828 });
  assert.equal(await ask1(client, signed(phrases({ ...split('locale') }))), 'queued');
  assert.equal(
    await ask1(
      client,
      signed(phrases({ recipe: 'two', encoding: [age], parameters: { epsilon: 4 } })),
    ),
    'queued',
  );
  for (const [, json] of REFUSED) await client.ask([json]);
  edge.answers.push(new Error('quicksilver'));
  await client.flush();
  const held = await stored(storage);
  for (const marker of markers) assert.ok(held.events.includes(marker), marker);
  const rest = JSON.stringify([
    { ...held, events: '' },
    edge.requests,
    await client.explain(),
    await client.log(),
    await client.reports(),
    await client.ledger(),
  ]);
  assert.ok(rest.length > 5000);
  for (const marker of markers) {
    for (const form of [
      marker,
      Buffer.from(marker).toString('hex'),
      Buffer.from(marker).toString('base64').slice(0, 5),
    ])
      assert.ok(!rest.includes(form), form);
  }
});

// ---- the answer ----

test('a collection that is split gets the report under its part', async () => {
  for (const [locale, part] of [
    ['de', 'de'],
    ['DE', 'de'],
    ['fr', 'other'],
    [undefined, 'other'],
  ]) {
    const { client, edge } = await askedClient({ random: fixed });
    await client.donate('typed-phrases', { ...EVENT, ...(locale ? { locale } : {}) });
    if (!locale) await client.optIn('keyboard', false).then(() => client.optIn('keyboard')); // no event at all
    const json = signed(phrases(split('locale')));
    assert.equal(await ask1(client, json), 'queued');
    await client.flush();
    const [{ body }] = edge.requests;
    assert.equal(body.key, `ngrams/${part}`);
    withQuery({ ...json, part: [part] }, (query) => {
      assert.equal(body.recipe_hash, query.hash);
      const item = locale ? 4 : query.randomItem(SEED);
      assert.deepEqual(body.records, [query.randomize(item, SEED)]);
    });
    client.close();
  }
});

test('the part does not tell whether an event matches: it is that of any event', async () => {
  const parts = new Set();
  // Two events, of which the one in English matches: each part half of the time, so that 24 times the same is one in 2^23.
  for (let i = 0; i < 24; i++) {
    const { client, edge } = await askedClient();
    await client.donate('typed-phrases', { ...EVENT, locale: 'en' });
    await client.donate('typed-phrases', { ...EVENT, phrase: 'nothing like it', locale: 'de' });
    assert.equal(await ask1(client, signed(phrases(split('locale')))), 'queued');
    await client.flush();
    parts.add(edge.requests[0].body.key);
    client.close();
  }
  assert.equal(parts.size, 2);
});

test('among the events that match each is as likely; one that does not match is never taken', async () => {
  const list = ['a', 'b', 'c'];
  // 3,000 draws of three: each 1,000 on average, standard deviation 25.8; six of them.
  const deps = {
    random: (/** @type {Uint8Array} */ bytes) => void crypto.getRandomValues(bytes),
  };
  const seen = new Map(list.map((entry) => [entry, 0]));
  for (let i = 0; i < 3000; i++) {
    const entry = /** @type {string} */ (pick(deps, list));
    seen.set(entry, (seen.get(entry) ?? 0) + 1);
  }
  for (const [entry, n] of seen) assert.ok(Math.abs(n - 1000) < 155, `${entry}: ${n}`);
  assert.equal(pick(deps, []), undefined);
  // The last numbers of 32 bits would favour the first entries: they are drawn again.
  const drawn = [0xffffffff, 5];
  const scripted = {
    random: (/** @type {Uint8Array} */ bytes) =>
      new DataView(bytes.buffer).setUint32(0, /** @type {number} */ (drawn.shift())),
  };
  assert.equal(pick(scripted, list), 'c');
  assert.equal(drawn.length, 0);

  const spy = spying();
  const { client, edge } = await askedClient({ random: fixed, queryWasm: spy.load });
  for (const phraseText of ['unlisted words', 'hello world', 'hello', '', 'goodbye world a'])
    await client.donate('typed-phrases', { phrase: phraseText });
  const json = signed(phrases());
  assert.equal(await ask1(client, json), 'queued');
  await client.flush();
  // "hello world" and nothing behind it: the bucket after "none".
  assert.deepEqual(edge.requests[0].body.records, [
    withQuery(json, (query) => query.randomize(1, SEED)),
  ]);
});

test('without an event that matches, the answer is a uniformly random item', async () => {
  const { client, edge } = await askedClient({ random: fixed });
  await client.donate('typed-phrases', { phrase: 'nothing of interest', age: 33 });
  const json = signed(phrases());
  assert.equal(await ask1(client, json), 'queued');
  await client.flush();
  assert.deepEqual(edge.requests[0].body.records, [
    withQuery(json, (query) => query.randomize(query.randomItem(SEED), SEED)),
  ]);
  // The core draws it: 11 cells, 2,200 seeds, 200 each with a standard deviation of 13.5; six of them.
  const counts = new Array(11).fill(0);
  withQuery(json, (query) => {
    for (let i = 0; i < 2200; i++)
      counts[query.randomItem(crypto.getRandomValues(new Uint8Array(32)))]++;
  });
  assert.ok(
    counts.every((n) => Math.abs(n - 200) < 81),
    counts.join(),
  );
});

test('seeds are fresh, and none serves twice', async () => {
  /** @type {string[]} */
  const drawn = [];
  const random = (/** @type {Uint8Array} */ bytes) => {
    crypto.getRandomValues(bytes);
    if (bytes.length === 32) drawn.push(Buffer.from(bytes).toString('hex'));
  };
  const { client } = await askedClient({ random });
  for (let i = 0; i < 3; i++) await client.ask([signed(phrases({ recipe: `q${i}` }))]);
  assert.equal(drawn.length, 6);
  assert.equal(new Set(drawn).size, 6);
});

test('the sample leaves a device out once and for all, and before it is charged', async () => {
  let answered = 0;
  for (let i = 0; i < 60; i++) {
    const { client } = await askedClient();
    const json = signed(phrases({ send: { delay_s: 0, sample: 0.5 } }));
    const first = await ask1(client, json);
    for (let j = 0; j < 4; j++)
      assert.equal(await ask1(client, json), first === 'queued' ? 'replayed' : 'sampled-out');
    answered += Number(first === 'queued');
    assert.deepEqual(
      (await charges(client))['keyboard/'],
      first === 'queued' ? [1, 0.25, 4] : [0, 0, 0],
    );
    client.close();
  }
  // Binomial(60, 1/2): mean 30, standard deviation 3.9; six of them.
  assert.ok(Math.abs(answered - 30) < 24, String(answered));
});

test('an answer waits its random delay, and is not sent past the last day of its query', async () => {
  const { client, edge, clock, storage } = await askedClient();
  assert.equal(
    await ask1(client, signed(phrases({ send: { delay_s: 3600 }, expires: '2026-12-14' }))),
    'queued',
  );
  const [[, row]] = await storage.transaction((tx) => tx.entries('queue'));
  assert.ok(row.due >= clock.now() && row.due <= clock.now() + 3_600_000);
  await client.flush();
  assert.equal(edge.requests.length, 0);
  client.close();
  const later = await makeClient({
    policy: makePolicy(),
    queryWasm: loadQueryCore,
    storage,
    now: () => clock.now() + DAY_MS,
  });
  await later.client.flush();
  assert.equal(later.edge.requests.length, 0);
  assert.equal((await later.client.reports())[0].state, 'refused');
  assert.equal(
    (await later.client.log()).find(({ outcome }) => outcome === 'accepted')?.state,
    'refused',
  );
});

test('a page without the policy still sends what was answered', async () => {
  const storage = memoryStorage();
  const { client } = await askedClient({ storage });
  await client.ask([signed(phrases())]);
  client.close();
  const other = await makeClient({ storage, now: () => NOON + DAY_MS });
  await other.client.flush();
  assert.deepEqual(
    other.edge.requests.map(({ body }) => body.key),
    ['ngrams'],
  );
});

// ---- where queries come from ----

test('by default the endpoint is asked, without credentials', async () => {
  /** @type {[string, any][]} */
  const asked = [];
  /** @type {any} */
  let answer = new Response(
    JSON.stringify({ queries: [signed(phrases()), signed(phrases({ recipe: 'two' }))] }),
  );
  const fetcher = async (/** @type {any} */ url, /** @type {any} */ options) => {
    if (options?.method) return new Response('{}', { status: 202 });
    asked.push([String(url), options]);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const { client } = await askedClient({ fetch: fetcher, endpoint: `${ENDPOINT}/base/` });
  assert.deepEqual(codes(await client.ask()), ['queued', 'queued']);
  const [[url, options]] = asked;
  assert.equal(url, 'https://edge.example/base/v1/queries');
  assert.deepEqual(
    [options.credentials, options.referrerPolicy, options.redirect, options.method],
    ['omit', 'no-referrer', 'error', undefined],
  );
  for (const bad of [
    new Response('{', {}),
    new Response('{"queries":7}'),
    new Response('{}'),
    new Response('null'),
    new Response('', { status: 404 }),
    new Error('offline'),
    new Response(`{"queries":[${' '.repeat(1 << 20)}]}`),
  ]) {
    answer = bad;
    assert.deepEqual(codes(await client.ask()), ['queries-missing']);
  }
  // A body without end is not read to the end.
  let chunks = 0;
  answer = new Response(
    new ReadableStream({
      pull: (controller) => void (chunks++, controller.enqueue(new Uint8Array(1 << 16))),
    }),
  );
  assert.deepEqual(codes(await client.ask()), ['queries-missing']);
  assert.ok(chunks < 40, `${chunks} chunks`);
  answer = new Response(JSON.stringify({ queries: [] }));
  assert.deepEqual(await client.ask(), []);
});

test('a mechanism that the policy names and the module lacks is answered by the whole module, loaded once', async () => {
  /** @type {string[]} */
  const loaded = [];
  const sent = /** @type {any[]} */ ([]);
  const fetcher = async (/** @type {any} */ url, /** @type {any} */ { body } = {}) => {
    const [name] = /shoal[a-z-]*\.wasm$/.exec(String(url)) ?? [];
    if (!name) return (sent.push(JSON.parse(body)), new Response('{}', { status: 202 }));
    loaded.push(name);
    return new Response(await readFile(new URL(`../../dist/${name}`, import.meta.url)));
  };
  const policy = makePolicy({}, { mechanisms: ['olh', 'grr'] });
  const olh = (/** @type {any} */ more = {}) =>
    phrases({
      mechanism: 'olh',
      hash: 'affine1',
      parameters: { epsilon: 4, k: 256, g: 64 },
      seed: '0123456789abcdef'.repeat(4),
      policy: policyHash(policy),
      ...more,
    });
  // Its own fields stand before the mechanism, and the smaller module knows none of them.
  const backwards = Object.fromEntries(Object.entries(olh({ recipe: 'more' })).reverse());
  const { client } = await askedClient({ policy, queryWasm: undefined, fetch: fetcher });
  await client.donate('typed-phrases', EVENT);
  assert.equal(
    await ask1(client, signed(phrases({ mechanism: 'grr', policy: policyHash(policy) }))),
    'queued',
  );
  assert.equal(await ask1(client, { ...olh(), mechanism: 'rappor' }), 'malformed');
  assert.deepEqual(
    loaded,
    ['shoal-query.wasm'],
    'nobody makes a device load what its policy has no use for',
  );
  assert.deepEqual(codes(await client.ask([signed(olh()), signed(backwards), signed(olh())])), [
    'queued',
    'queued',
    'replayed',
  ]);
  assert.deepEqual(loaded, ['shoal-query.wasm', 'shoal-all.wasm']);
  await client.flush();
  assert.equal(sent.length, 3);
  assert.deepEqual((await charges(client))['keyboard/'], [3, 0.75, 12]);

  const named = await askedClient({ policy });
  assert.equal(
    await ask1(named.client, signed(olh())),
    'malformed',
    'a module that was named is used as it is',
  );
});

test('a request for queries that never answers is given up', async () => {
  /** @type {(value: unknown) => void} */
  let begin = () => {};
  const begun = new Promise((resolve) => (begin = resolve));
  const fetcher = async (/** @type {any} */ _, /** @type {any} */ options) =>
    new Promise((_, reject) => {
      options.signal.addEventListener('abort', () => reject(new Error('aborted')));
      begin(undefined);
    });
  const { client, clock } = await askedClient({ fetch: fetcher });
  const asking = client.ask();
  await begun;
  await clock.advance(30_000);
  assert.deepEqual(codes(await asking), ['queries-missing']);
});

test('64 queries are looked at, and the log says that there were more', async () => {
  const { client } = await askedClient();
  const outcomes = codes(
    await client.ask(Array.from({ length: 200 }, (_, i) => ({ recipe: `bad-${i}` }))),
  );
  assert.deepEqual([outcomes.length, outcomes.at(-1)], [65, 'too-many']);
  assert.ok((await client.log()).some(({ code }) => code === 'too-many'));
});

test('asks go one after another, and leave no query in the module', async () => {
  const { client } = await askedClient();
  const list = Array.from({ length: 40 }, (_, i) =>
    client.ask([signed(phrases({ recipe: `q${i}` })), REFUSED[i % REFUSED.length][1]]),
  );
  const outcomes = (await Promise.all(list)).map(codes);
  assert.deepEqual(
    outcomes.map(([good]) => good),
    [...Array(4).fill('queued'), ...Array(36).fill('reports')],
  );
  assert.ok(outcomes.every(([, bad]) => bad !== 'storage' && bad !== 'queued'));
});

// ---- sentences ----

test('every code has a sentence of its own that is not a value', () => {
  for (const [code, text] of Object.entries(QUERY_REASONS)) {
    assert.match(code, /^[a-z0-9-]+$/);
    assert.match(text, /^[A-Z].*\.$/);
  }
  assert.equal(new Set(Object.values(QUERY_REASONS)).size, Object.keys(QUERY_REASONS).length);
});

test('the documentation has every code with its sentence, in its order', async () => {
  const page = await readFile(new URL('../../../docs/embed.md', import.meta.url), 'utf8');
  const section = page.slice(
    page.indexOf('### Why a query or an event was refused'),
    page.indexOf('### What `erase()` leaves'),
  );
  const rows = [...section.matchAll(/^\| `(.+?)` +\| (.+?) +\|$/gm)].map(([, code, text]) => [
    code,
    text,
  ]);
  const { exports } = await WebAssembly.instantiate(await loadModule(), {});
  const x = /** @type {any} */ (exports);
  x._initialize?.();
  const text = (/** @type {number} */ at) => {
    const bytes = new Uint8Array(x.memory.buffer);
    return Buffer.from(bytes.subarray(at, bytes.indexOf(0, at))).toString();
  };
  // A number that stands for none is told as the first.
  const checks = new Map(
    Array.from({ length: 50 }, (_, i) => [
      text(x.refusal_name(i + 1)),
      text(x.refusal_text(i + 1)),
    ]),
  );
  assert.deepEqual(rows, [...Object.entries(QUERY_REASONS), ...checks]);
});
