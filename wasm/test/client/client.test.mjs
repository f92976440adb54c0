// SPDX-License-Identifier: Apache-2.0
// The client with everything injected: consent, budget, queue, delay, answers of the edge worker, failures.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { init } from '../../client/client.js';
import { Core } from '../../bindings/device.js';
import { memoryLocks, memoryStorage } from '../../client/memory_storage.js';
import { load } from '../../bindings/node.js';
import { readVectors } from '../vectors.mjs';
import {
  DAY,
  ENDPOINT,
  NOON,
  balances,
  codes,
  fakeClock,
  fragmentsRecipe,
  itemsRecipe,
  makeClient,
  ngramsRecipe,
  settle,
  wordsRecipe,
} from '../fixtures.mjs';

const DAY_MS = 86_400_000;
/** @param {any} client */
const why = async (client) => codes(await client.explain());

/** Everything a storage holds, as text. @param {any} storage */
const everything = (storage) =>
  storage.transaction(async (/** @type {any} */ tx) => {
    const rows = [];
    for (const store of ['state', 'queue', 'done']) rows.push(...(await tx.entries(store)));
    return JSON.stringify(rows, (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
  });

test('init refuses what it cannot work with', async () => {
  await assert.rejects(init(/** @type {any} */ ({})), {
    name: 'ShoalError',
    code: 'argument',
    number: 1,
  });
  await assert.rejects(init(/** @type {any} */ ({ endpoint: ENDPOINT })), { code: 'argument' });
  await assert.rejects(init({ endpoint: 'http://edge.example', recipes: [] }), {
    code: 'argument',
    message: /https/,
  });
  (await init({ endpoint: 'http://127.0.0.1:8787', recipes: [] })).close();
});

test('before consent nothing is loaded, stored or sent', async () => {
  let loads = 0;
  let creates = 0;
  const inner = memoryStorage();
  const storage = {
    ...inner,
    open: (/** @type {boolean} */ create) => ((creates += Number(create)), inner.open(create)),
  };
  const { client, edge } = await makeClient({ storage, wasm: () => (loads++, load()) });
  assert.equal(client.consent.state, 'none');
  assert.deepEqual(codes(await client.record('typed-words', 'hello')), ['no-consent']);
  assert.deepEqual(codes(await client.type('hello there')), ['no-consent']);
  assert.deepEqual(codes(await client.visit('https://example.org')), ['no-consent']);
  await client.flush();
  assert.deepEqual(await client.reports(), []);
  assert.deepEqual(await client.ledger(), []);
  assert.deepEqual(await why(client), ['no-consent']);
  assert.equal(loads + creates + edge.requests.length, 0);
});

test('a word becomes one report, as the contract writes it', async () => {
  const { client, edge } = await makeClient();
  assert.equal(await client.consent.grant(), 'granted');
  assert.deepEqual(await client.record('typed-words', 'Hello'), [
    { recipe: 'words', code: 'queued' },
  ]);
  await client.flush();
  assert.equal(edge.requests.length, 1);
  const { url, init: request, body } = edge.requests[0];
  assert.equal(url, 'https://edge.example/v1/reports');
  assert.deepEqual(Object.keys(body), ['key', 'recipe_hash', 'parameters', 'records']);
  const recipe = (await load()).recipe(wordsRecipe());
  assert.deepEqual(
    { ...body, records: [] },
    {
      key: 'words',
      recipe_hash: recipe.hash,
      parameters: { epsilon: 4, k: 2048, m: 256 },
      records: [],
    },
  );
  assert.equal(recipe.recordFromText(body.records[0]).length, recipe.recordSize);
  assert.deepEqual(
    {
      method: request.method,
      credentials: request.credentials,
      referrerPolicy: request.referrerPolicy,
      cache: request.cache,
      keepalive: request.keepalive,
    },
    {
      method: 'POST',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      keepalive: true,
    },
  );
  assert.match(request.headers['Idempotency-Key'], /^[0-9a-f]{32}$/);
  assert.equal(request.headers['Content-Type'], 'application/json');
  await client.flush();
  assert.equal(edge.requests.length, 1, 'a report that was accepted is not sent again');
  const [sent] = await client.reports();
  assert.equal(sent.state, 'sent');
  assert.deepEqual(sent.report, body);
  assert.match(sent.text, /Sent at .* "words", randomized with epsilon 4/);
});

test('the value travels: with almost no noise the crowd of one is read back', async () => {
  const { client, edge } = await makeClient({ recipes: [itemsRecipe()] });
  await client.consent.grant();
  for (let i = 0; i < 60; i++) await client.record('theme', 'dark');
  await client.flush();
  // Epsilon 16: the listed bit stays as it is but for a fair coin between 1 and 0; the other bits are one in 9 million.
  const bits = edge.requests.map(({ body }) => parseInt(body.records[0], 16));
  assert.ok(bits.filter((b) => b & 0b010).length > 10 && bits.every((b) => (b & 0b101) === 0));
  edge.requests.length = 0;
  for (const value of ['auto', 'nothing', null, 17]) await client.record('theme', value);
  await client.flush();
  assert.equal(edge.requests.length, 4, 'an unlisted value is not silent');
  assert.ok(edge.requests.every(({ body }) => body.records[0] === '00'));
});

test('no two reports share randomness or keys', async () => {
  const { client, edge } = await makeClient();
  await client.consent.grant();
  for (let i = 0; i < 20; i++) await client.record('typed-words', 'same');
  await client.flush();
  assert.equal(
    new Set(edge.requests.map(({ init: request }) => request.headers['Idempotency-Key'])).size,
    20,
  );
  assert.equal(new Set(edge.requests.map(({ body }) => body.records[0])).size, 20);
});

test('each record is drawn from 32 fresh bytes', async () => {
  /** @type {Uint8Array[]} */
  const drawn = [];
  const random = (/** @type {Uint8Array} */ bytes) =>
    void drawn.push(crypto.getRandomValues(bytes).slice());
  const { client, edge } = await makeClient({ random });
  await client.consent.grant();
  await client.record('typed-words', 'hello');
  await client.record('typed-words', 'hello');
  const seeds = drawn.filter((bytes) => bytes.length === 32);
  assert.equal(seeds.length, 2);
  await client.flush();
  const recipe = (await load()).recipe(wordsRecipe());
  assert.deepEqual(
    edge.requests.map(({ body }) => body.records[0]).sort(),
    seeds.map((seed) => recipe.randomize('hello', seed)).sort(),
  );
});

test('the daily limit holds, and the next day pays again', async () => {
  const { client, edge, clock } = await makeClient({
    recipes: [wordsRecipe({ limit: { per_day: 2 } })],
  });
  await client.consent.grant();
  assert.deepEqual(codes(await client.type('one two three four')), [
    'queued',
    'queued',
    'budget',
    'budget',
  ]);
  await clock.advance(1000);
  assert.equal(edge.requests.length, 2);
  const budget = (await client.explain()).find((/** @type {any} */ r) => r.code === 'budget');
  assert.deepEqual(budget, {
    code: 'budget',
    recipe: 'words',
    count: 2,
    text: "The day's reports are spent.",
  });
  assert.deepEqual(await balances(client), [
    { recipe: 'words', perDay: 2, today: { count: 2, epsilon: 8 }, year: { count: 2, epsilon: 8 } },
  ]);
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await client.type('five six seven')), ['queued', 'queued', 'budget']);
  assert.deepEqual((await client.ledger())[0].year, { count: 4, epsilon: 16 });
});

test('two clients on one storage spend one budget', async () => {
  const storage = memoryStorage();
  const locks = memoryLocks();
  const recipes = [wordsRecipe({ limit: { per_day: 5 } })];
  const a = await makeClient({ storage, locks, recipes });
  await a.client.consent.grant();
  const b = await makeClient({ storage, locks, recipes });
  assert.equal(b.client.consent.state, 'granted');
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).client.record('typed-words', `w`)),
  );
  assert.equal(codes(outcomes.flat()).filter((code) => code === 'queued').length, 5);
  await Promise.all([a.client.flush(), b.client.flush()]);
  await a.client.flush();
  assert.equal(a.edge.requests.length + b.edge.requests.length, 5);
});

test('fresh storage waits for the next UTC day, also when it was emptied', async () => {
  const recipes = [wordsRecipe({ send: { delay_s: 0 } })];
  const { client, clock, storage } = await makeClient({ recipes });
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['fresh']);
  assert.ok((await why(client)).includes('fresh'));
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued']);
  await storage.transaction((/** @type {any} */ tx) => tx.delete('state', 'ledger'));
  assert.deepEqual(
    codes(await client.record('typed-words', 'a')),
    ['fresh'],
    'a lost ledger refills nothing',
  );
});

test('expired recipes and unknown streams', async () => {
  const { client, clock, edge } = await makeClient({
    recipes: [wordsRecipe({ expires: '2026-12-14', send: { fresh: 'allow', delay_s: 3600 } })],
  });
  assert.equal(Date.UTC(2026, 11, 14) / DAY_MS, DAY + 1);
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('nobody', 'a')), ['unknown-stream']);
  await clock.advance(DAY_MS);
  assert.deepEqual(
    codes(await client.record('typed-words', 'a')),
    ['queued'],
    'the last day counts',
  );
  client.close();
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['expired']);
  await client.flush();
  assert.equal(edge.requests.length, 0, 'a record of an expired recipe is not sent');
  assert.equal((await client.reports())[0].state, 'refused');
  assert.ok((await why(client)).includes('expired'));
  assert.ok((await why(client)).includes('unknown-stream'));
});

test('the random sample leaves events out, before any budget is spent', async () => {
  const recipes = [
    wordsRecipe({ limit: { per_day: 1000 }, send: { fresh: 'allow', delay_s: 0, sample: 0.25 } }),
  ];
  const { client } = await makeClient({ recipes });
  await client.consent.grant();
  let queued = 0;
  for (let i = 0; i < 400; i++)
    queued += Number((await client.record('typed-words', 'a'))[0].code === 'queued');
  // Binomial(400, 1/4): mean 100, standard deviation 8.7; six of them are one in 10^9.
  assert.ok(Math.abs(queued - 100) < 52, `${queued} of 400`);
  assert.equal((await client.ledger())[0].today.count, queued);
  assert.ok((await why(client)).includes('sampled-out'));
});

test('a record waits a random time in [0, delay_s], then goes by itself', async () => {
  const { client, edge, clock } = await makeClient({
    recipes: [wordsRecipe({ send: { fresh: 'allow', delay_s: 86400 } })],
  });
  await client.consent.grant();
  for (let i = 0; i < 40; i++) await client.record('typed-words', 'a');
  const due = (await client.reports()).map((/** @type {any} */ r) => Date.parse(r.at) - NOON);
  assert.ok(due.every((/** @type {number} */ ms) => ms >= 0 && ms <= 86_400_000));
  // Uniform: the mean of 40 is within 4 hours of noon at 4.3 of 24/sqrt(12*40) hours.
  const mean =
    due.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b) / 40 / 3_600_000;
  assert.ok(Math.abs(mean - 12) < 4.7, `${mean} h`);
  await client.flush();
  const early = edge.requests.length;
  assert.ok(early <= 2);
  const waiting = (await client.explain()).find((/** @type {any} */ r) => r.code === 'not-yet-due');
  assert.equal(waiting?.count, 40 - early);
  await clock.advance(43_200_000);
  assert.ok(edge.requests.length > 5 && edge.requests.length < 35);
  await clock.advance(43_200_000);
  assert.equal(edge.requests.length, 40);
});

test('Global Privacy Control is a no, even after a yes', async () => {
  let gpc = true;
  const { client, edge, storage, options } = await makeClient({ gpc: () => gpc });
  assert.equal(client.consent.state, 'gpc');
  assert.equal(await client.consent.grant(), 'gpc');
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['gpc']);
  assert.deepEqual(await why(client), ['gpc']);
  assert.equal(await storage.open(false), false, 'nothing was stored');
  gpc = false;
  edge.answers.push(new Error('offline'));
  await client.consent.grant();
  await client.record('typed-words', 'a');
  await client.flush();
  assert.equal(edge.requests.length, 1);
  gpc = true;
  await client.flush();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['gpc']);
  assert.equal(edge.requests.length, 1);
  const again = await init(options);
  assert.deepEqual(await again.reports(), [], 'what waited is erased');
  gpc = false;
  assert.equal(again.consent.state, 'withdrawn', 'and the yes is gone');
});

test('after withdraw nothing is sent, and what waited is gone', async () => {
  const { client, edge, clock, options } = await makeClient();
  await client.consent.grant();
  edge.answers.push({ status: 503, headers: { 'Retry-After': '10' } });
  await client.record('typed-words', 'a');
  await client.flush();
  assert.equal(edge.requests.length, 1);
  assert.equal(await client.consent.withdraw(), 'withdrawn');
  await client.flush();
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['no-consent']);
  assert.equal(edge.requests.length, 1);
  const later = await init(options);
  assert.equal(later.consent.state, 'withdrawn');
  await later.flush();
  await clock.advance(DAY_MS);
  assert.equal(edge.requests.length, 1);
});

test('opt-out during a flush: the running request is aborted, no other starts, in any tab', async () => {
  const storage = memoryStorage();
  const locks = memoryLocks();
  const a = await makeClient({ storage, locks });
  const b = await makeClient({ storage, locks });
  await a.client.consent.grant();
  a.edge.answers.push(new Error('x'), new Error('x'), new Error('x'), new Error('x'));
  for (let i = 0; i < 4; i++) await a.client.record('typed-words', 'a');
  await a.client.flush();
  const before = a.edge.requests.length;
  a.edge.answers.length = 0;
  a.edge.answers.push(() => new Promise(() => {}));
  await a.clock.advance(30_000);
  assert.ok(a.edge.requests.length === before + 1, 'one request is running');
  const running = a.edge.requests.at(-1);
  await b.client.consent.withdraw();
  assert.equal(running?.init.signal.aborted, false, 'the other tab does not know yet');
  await a.client.consent.withdraw();
  assert.equal(running?.init.signal.aborted, true);
  await settle();
  await a.clock.advance(DAY_MS);
  assert.equal(a.edge.requests.length, before + 1);
  assert.deepEqual(await a.client.reports(), []);
});

test('opt-out in another tab stops this one before its next request', async () => {
  const storage = memoryStorage();
  const locks = memoryLocks();
  const a = await makeClient({ storage, locks });
  await a.client.consent.grant();
  const b = await makeClient({ storage, locks });
  a.edge.answers.push(new Error('offline'), async () => {
    await b.client.consent.withdraw();
    return 202;
  });
  for (let i = 0; i < 3; i++) await a.client.record('typed-words', 'a');
  await a.clock.advance(30_000);
  const sent = a.edge.requests.length;
  assert.equal(sent, 2, 'the third does not start');
  await a.client.flush();
  await a.clock.advance(DAY_MS);
  assert.equal(a.edge.requests.length, sent);
  assert.equal(a.client.consent.state, 'withdrawn');
  assert.deepEqual(codes(await a.client.record('typed-words', 'a')), ['no-consent']);
});

test('opt-out between debit and queue: nothing is queued', async () => {
  /** @type {any} */
  let client;
  const random = (/** @type {Uint8Array} */ bytes) => {
    crypto.getRandomValues(bytes);
    if (bytes.length === 32) void client.consent.withdraw();
  };
  const made = await makeClient({ random });
  client = made.client;
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['no-consent']);
  await settle();
  assert.deepEqual(await client.reports(), []);
});

test('an answer that comes after opt-out writes nothing down again, even after a new opt-in', async () => {
  for (const status of [202, 400, 500]) {
    /** @type {any} */
    let client;
    let posts = 0;
    // A platform that does not abort what runs.
    const fetcher = async () => {
      posts++;
      await client.consent.withdraw();
      await client.consent.grant();
      return new Response('{}', { status });
    };
    const made = await makeClient({ fetch: fetcher });
    client = made.client;
    await client.consent.grant();
    await client.record('typed-words', 'a');
    await client.flush();
    await made.clock.advance(DAY_MS);
    assert.deepEqual(await client.reports(), [], `${status}`);
    assert.equal(posts, 1);
  }
});

test('an event of an older consent is not queued under a newer one', async () => {
  /** @type {any} */
  let client;
  let isDrawn = false;
  const random = (/** @type {Uint8Array} */ bytes) => {
    crypto.getRandomValues(bytes);
    isDrawn ||= bytes.length === 32;
  };
  const inner = memoryLocks();
  // After the record is made and before it is queued, the person changes their mind twice.
  const locks = {
    request: async (
      /** @type {any} */ name,
      /** @type {any} */ options,
      /** @type {any} */ task,
    ) => {
      if (isDrawn) {
        isDrawn = false;
        await client.consent.withdraw();
        await client.consent.grant();
      }
      return inner.request(name, options, task);
    },
  };
  client = (await makeClient({ locks, random })).client;
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['no-consent']);
  assert.equal(client.consent.state, 'granted');
  assert.deepEqual(await client.reports(), []);
});

test('a record that comes while another is being sent is sent too', async () => {
  const { client, edge, clock } = await makeClient();
  await client.consent.grant();
  // The second record comes in at every possible moment of the first one's way.
  for (let steps = 0; steps < 40; steps++) {
    edge.requests.length = 0;
    await client.record('typed-words', 'a');
    void client.flush();
    for (let i = 0; i < steps; i++) await Promise.resolve();
    await client.record('typed-words', 'b');
    await clock.advance(1);
    assert.equal(edge.requests.length, 2, `after ${steps} steps`);
  }
});

test('a page killed between debit and queue has spent, and sends nothing, now or later', async () => {
  const random = (/** @type {Uint8Array} */ bytes) => {
    if (bytes.length === 32) throw new Error('killed');
    crypto.getRandomValues(bytes);
  };
  const recipes = [wordsRecipe({ limit: { per_day: 1 } })];
  const { client, edge, options } = await makeClient({ random, recipes });
  await client.consent.grant();
  await client.record('typed-words', 'a');
  const later = await init({ ...options, random: undefined });
  await later.flush();
  assert.equal(edge.requests.length, 0);
  assert.equal((await later.ledger())[0].today.count, 1);
  assert.deepEqual(
    codes(await later.record('typed-words', 'a')),
    ['budget'],
    'the debit is not given back',
  );
});

test('a page killed after the answer sends the same report under the same key', async () => {
  const { client, edge, storage, options } = await makeClient();
  await client.consent.grant();
  edge.answers.push(() => new Promise(() => {}));
  await client.record('typed-words', 'a');
  void client.flush();
  await settle();
  const later = await init({ ...options, storage, locks: memoryLocks() });
  await later.flush();
  const [first, second] = edge.requests;
  assert.equal(first.init.headers['Idempotency-Key'], second.init.headers['Idempotency-Key']);
  assert.deepEqual(first.body, second.body);
});

test('503 keeps a record for Retry-After, 5xx and the network for a backoff with jitter', async () => {
  const { client, edge, clock } = await makeClient();
  await client.consent.grant();
  edge.answers.push({ status: 503, headers: { 'Retry-After': '100' } }, 500, new Error('offline'));
  await client.record('typed-words', 'a');
  await client.flush();
  assert.equal(edge.requests.length, 1);
  assert.ok((await why(client)).includes('edge-busy'));
  /** The time until the next try, from the queue. */
  const wait = async () => Date.parse((await client.reports())[0].at) - clock.now();
  let due = await wait();
  assert.ok(due >= 100_000 && due <= 200_000, 'Retry-After, and up to as much again');
  await clock.advance(due - 1);
  assert.equal(edge.requests.length, 1);
  await clock.advance(1);
  assert.equal(edge.requests.length, 2);
  due = await wait();
  assert.ok(due >= 10_000 && due <= 20_000);
  await clock.advance(due);
  assert.equal(edge.requests.length, 3);
  assert.ok((await why(client)).includes('offline'));
  due = await wait();
  assert.ok(due >= 20_000 && due <= 40_000, 'each try doubles the wait');
  await clock.advance(due);
  assert.equal(edge.requests.length, 4);
  assert.equal(
    new Set(edge.requests.map(({ init: request }) => request.headers['Idempotency-Key'])).size,
    1,
  );
  assert.equal((await client.reports())[0].state, 'sent');
  assert.deepEqual(await why(client), [], 'a success ends the complaint');
});

test('a permanent refusal drops the record and says so; other answers keep it', async () => {
  for (const status of [400, 404, 413, 415]) {
    const { client, edge, clock } = await makeClient();
    await client.consent.grant();
    edge.answers.push(status);
    await client.record('typed-words', 'a');
    await client.flush();
    await clock.advance(DAY_MS);
    assert.equal(edge.requests.length, 1, `${status}`);
    assert.equal((await client.reports())[0].state, 'refused');
    assert.ok((await why(client)).includes(status === 404 ? 'edge-missing' : 'edge-refused'));
  }
  for (const status of [200, 204, 302, 401, 408, 429, 500, 502]) {
    const { client, edge } = await makeClient();
    await client.consent.grant();
    edge.answers.push(status === 204 ? 200 : status);
    await client.record('typed-words', 'a');
    await client.flush();
    assert.equal((await client.reports())[0].state, 'queued', `${status}`);
  }
});

test('a request that never answers is given up and kept', async () => {
  const { client, edge, clock } = await makeClient();
  await client.consent.grant();
  edge.answers.push(() => new Promise(() => {}));
  await client.record('typed-words', 'a');
  void client.flush();
  await settle();
  await clock.advance(30_000);
  await clock.advance(30_000);
  assert.equal(edge.requests.length, 2);
  assert.equal((await client.reports())[0].state, 'sent');
});

test('storage that throws, at any point, sends nothing', async () => {
  const broken = {
    open: async () => {
      throw new Error('denied');
    },
    transaction: async () => {
      throw new Error('denied');
    },
    close() {},
  };
  const never = await makeClient({ storage: broken });
  await never.client.consent.grant();
  assert.equal(never.client.consent.state, 'none');
  await never.client.record('typed-words', 'a');
  await never.client.flush();
  assert.equal(never.edge.requests.length, 0);
  assert.ok((await why(never.client)).includes('storage'));
  await assert.rejects(
    never.client.consent.withdraw(),
    { code: 'storage' },
    'a lost decision is not silent',
  );

  // The n-th transaction fails: whatever it was, no report is sent that is not paid for, and none twice.
  for (let failing = 1; failing <= 12; failing++) {
    const inner = memoryStorage();
    let count = 0;
    const storage = {
      ...inner,
      transaction: (/** @type {any} */ task) => {
        if (++count === failing) return Promise.reject(new Error('quota'));
        return inner.transaction(task);
      },
    };
    const { client, edge, clock } = await makeClient({ storage });
    await client.consent.grant();
    await client.record('typed-words', 'a');
    await client.flush().catch(() => {});
    await clock.advance(60_000);
    const keys = edge.requests.map(({ init: request }) => request.headers['Idempotency-Key']);
    assert.ok(new Set(keys).size <= 1, `failing ${failing}`);
    count = 100; // from here on nothing fails
    const ledger = await client.ledger();
    if (keys.length) assert.equal(ledger[0].today.count, 1, `failing ${failing}`);
  }
});

test('a damaged ledger sends nothing', async () => {
  const { client, edge, storage } = await makeClient();
  await client.consent.grant();
  await storage.transaction(async (/** @type {any} */ tx) => {
    const ledger = await tx.get('state', 'ledger');
    ledger[9] ^= 1;
    await tx.put('state', 'ledger', ledger);
  });
  assert.notDeepEqual(codes(await client.record('typed-words', 'a')), ['queued']);
  await client.flush();
  assert.equal(edge.requests.length, 0);
  assert.ok((await why(client)).some((code) => code === 'ledger' || code === 'version'));
});

test('nothing that is stored holds a raw value', async () => {
  const recipes = [
    wordsRecipe({ send: { fresh: 'allow', delay_s: 3600 } }),
    itemsRecipe(),
    wordsRecipe({ recipe: 'hosts', stream: 'visits', value: 'host' }),
    wordsRecipe({ recipe: 'sites', stream: 'visits', value: 'site' }),
  ];
  const { client, edge, storage } = await makeClient({ recipes });
  await client.consent.grant();
  await client.record('typed-words', 'quicksilver');
  await client.type('herringbone');
  await client.visit('https://sub.mackerel-shop.example.co.uk/basket?card=zanderfilet');
  await client.record('theme', 'dark');
  await client.record('theme', 'anchovy');
  edge.answers.push(new Error('quicksilver'));
  await client.flush();
  const kept =
    (await everything(storage)) +
    JSON.stringify(edge.requests) +
    JSON.stringify(await client.explain()) +
    JSON.stringify(await client.reports());
  assert.ok(kept.length > 1000);
  for (const raw of [
    'quicksilver',
    'herringbone',
    'mackerel',
    'basket',
    'zander',
    'anchovy',
    'dark',
  ]) {
    for (const form of [
      raw,
      Buffer.from(raw).toString('hex'),
      Buffer.from(raw).toString('base64').slice(0, 5),
    ]) {
      assert.ok(!kept.includes(form), form);
    }
  }
});

test('erase forgets everything but that today is spent', async () => {
  const recipes = [wordsRecipe({ limit: { per_day: 1 } })];
  const { client, edge, clock, storage } = await makeClient({ recipes });
  await client.consent.grant();
  await client.record('typed-words', 'a');
  await client.flush();
  assert.equal((await client.reports()).length, 1);
  await client.erase();
  assert.equal(client.consent.state, 'none');
  assert.deepEqual(await client.reports(), []);
  const left = await everything(storage);
  assert.match(
    left,
    new RegExp(
      `^\\[\\["answered",\\{\\}\\],\\["erased",${DAY}\\],\\["ledger","shoalled[^,]*"\\]\\]$`,
    ),
  );
  assert.ok(!left.includes('keyboard'), 'the ledger holds no name');
  await client.consent.grant();
  assert.deepEqual(
    codes(await client.record('typed-words', 'a')),
    ['erased'],
    'erasing refills no budget',
  );
  assert.ok((await why(client)).includes('erased'));
  assert.equal(edge.requests.length, 1);
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued']);
});

test('the text rule is applied on the device', async () => {
  const { client, edge } = await makeClient({
    recipes: [wordsRecipe({ text: { min: 2, max: 4 } })],
  });
  await client.consent.grant();
  const outcomes = [];
  for (const word of ['É'.normalize('NFD') + 'té', 'x', 'fives', '𝒳𝒳𝒳𝒳', '\ud800x', ''])
    outcomes.push(...(await client.record('typed-words', word)));
  assert.deepEqual(codes(outcomes), [
    'queued',
    'text-rule',
    'text-rule',
    'queued',
    'text-rule',
    'text-rule',
  ]);
  assert.deepEqual(
    (await client.explain()).map((/** @type {any} */ r) => [r.code, r.count]),
    [['text-rule', 4]],
  );
  assert.equal((await client.ledger())[0].today.count, 2, 'what is not counted costs nothing');
  void edge;
});

test('the rule forms what is randomized: same seed, same record', async () => {
  const fixed = (/** @type {Uint8Array} */ bytes) => void bytes.fill(bytes.length);
  const recipe = (await load()).recipe(wordsRecipe());
  for (const word of ['ÉTÉ', 'été'.normalize('NFD'), 'été']) {
    const { client, edge } = await makeClient({ random: fixed });
    await client.consent.grant();
    await client.record('typed-words', word);
    await client.flush();
    assert.equal(
      edge.requests[0].body.records[0],
      recipe.randomize('été', new Uint8Array(32).fill(32)),
      word,
    );
  }
});

test('lists take values, indices and null, numbers take numbers: same seed, same record as the core', async () => {
  const fixed = (/** @type {Uint8Array} */ bytes) => void bytes.fill(bytes.length);
  const values = ['light', 'dark', 'Auto'];
  const sized = { epsilon: 2, size: 40 };
  const range = { low: 0, high: 100 };
  const cases = /** @type {[any, any, any][]} */ ([
    [itemsRecipe(), 'dark', 1],
    [itemsRecipe(), 2, 2],
    [itemsRecipe(), 'DARK', null],
    [itemsRecipe(), null, null],
    [itemsRecipe({ parameters: sized }), 39, 39],
    [itemsRecipe({ parameters: sized }), 40, null],
    [itemsRecipe({ parameters: sized }), '39', null],
    [itemsRecipe({ parameters: sized }), undefined, null],
    [itemsRecipe({ parameters: sized }), {}, null],
    [itemsRecipe({ parameters: sized }), 7n, null],
    [
      itemsRecipe({ value: 'word', parameters: { epsilon: 2, values: ['light', 'dark'] } }),
      undefined,
      null,
    ],
    [
      itemsRecipe({ value: 'word', parameters: { epsilon: 2, values: ['light', 'dark'] } }),
      'DARK',
      1,
    ],
    [
      wordsRecipe({
        value: 'item',
        stream: 'theme',
        hash: 'affine1',
        parameters: { epsilon: 2, k: 64, m: 64, values },
      }),
      'Auto',
      2,
    ],
    [
      wordsRecipe({
        value: 'item',
        stream: 'theme',
        hash: 'affine1',
        parameters: { ...sized, k: 64, m: 64 },
      }),
      7,
      7,
    ],
    [itemsRecipe({ value: 'number', parameters: { ...sized, ...range } }), 12.4, 12.4],
    [itemsRecipe({ value: 'number', parameters: { ...sized, ...range } }), -1e9, 0],
    [
      itemsRecipe({
        value: 'number',
        mechanism: 'one-bit-mean',
        parameters: { epsilon: 2, ...range },
      }),
      99,
      99,
    ],
  ]);
  const core = await load();
  for (const [json, value, same] of cases) {
    const { client, edge } = await makeClient({ random: fixed, recipes: [json] });
    await client.consent.grant();
    assert.deepEqual(
      codes(await client.record('theme', value)),
      ['queued'],
      `${JSON.stringify(json.parameters)} ${String(value)}`,
    );
    await client.flush();
    const recipe = core.recipe(json);
    const record = recipe.randomize(same, new Uint8Array(32).fill(32));
    assert.deepEqual(
      edge.requests[0].body,
      recipe.report(record),
      `${JSON.stringify(json.parameters)} ${String(value)}`,
    );
    core.release(recipe);
  }
});

/** A RAPPOR whose fresh coins never flip a bit: what is sent is the permanent answer itself. @param {any} [more] */
const permanentRecipe = (more = {}) =>
  wordsRecipe({
    recipe: 'permanent',
    mechanism: 'rappor',
    parameters: { bits: 64, hashes: 2, cohorts: 64, p: 0, q: 1, f: 0.5 },
    ...more,
  });

/** @param {any} storage @returns {Promise<Uint8Array | undefined>} */
const secretOf = (storage) =>
  storage.transaction((/** @type {any} */ tx) => tx.get('state', 'secret'));

test("the device's own secret is drawn with the first record that needs it, and kept", async () => {
  const storage = memoryStorage();
  const { client, edge } = await makeClient({
    storage,
    recipes: [wordsRecipe(), permanentRecipe({ stream: 'other' })],
  });
  await client.consent.grant();
  await client.record('typed-words', 'fish');
  assert.equal(await secretOf(storage), undefined, 'a recipe without permanent answers needs none');
  await client.record('other', 'fish');
  const secret = await secretOf(storage);
  assert.equal(secret?.length, 32);
  assert.ok(new Set(secret).size > 8, 'random');
  for (const value of ['fish', 'shoal', 'fish']) await client.record('other', value);
  const later = await makeClient({
    storage,
    fetch: edge.fetch,
    recipes: [permanentRecipe({ stream: 'other' })],
  });
  await later.client.record('other', 'fish');
  assert.deepEqual(await secretOf(storage), secret);
  await later.client.flush();
  await client.flush();
  const bodies = edge.requests.map(({ body }) => body).filter(({ key }) => key === 'permanent');
  const records = bodies.map(({ records: [record] }) => record);
  const times = [...new Set(records)].map((record) => records.filter((r) => r === record).length);
  assert.deepEqual(
    times.sort(),
    [1, 4],
    'the same answer every time, on every page; another for another value',
  );
  assert.equal(new Set(records.map((record) => record.split(',')[0])).size, 1, 'one cohort');
  assert.deepEqual(bodies[0].parameters, permanentRecipe().parameters);
  const told = (await client.reports()).find(({ report }) => report.key === 'permanent');
  assert.match(told?.text ?? '', /a record of "permanent", randomized on this device\.$/);
});

test('two tabs draw one secret; withdrawing, erasing and Global Privacy Control end it', async () => {
  const storage = memoryStorage();
  const locks = memoryLocks();
  const other = permanentRecipe({ recipe: 'other', stream: 'other', seed: 'ab'.repeat(32) });
  const recipes = [permanentRecipe(), other];
  const [a, b] = await Promise.all([
    makeClient({ storage, locks, recipes }),
    makeClient({ storage, locks, recipes }),
  ]);
  await a.client.consent.grant();
  await b.client.consent.grant();
  await Promise.all(
    [a, b].flatMap(({ client }) => [1, 2, 3].map(() => client.record('typed-words', 'fish'))),
  );
  const records = (await a.client.reports()).map(({ report }) => report.records[0]);
  assert.equal(records.length, 6);
  assert.equal(new Set(records).size, 1);
  const first = await secretOf(storage);

  assert.equal(await a.client.consent.withdraw(), 'withdrawn');
  assert.equal(await secretOf(storage), undefined);
  assert.deepEqual(codes(await b.client.record('typed-words', 'fish')), ['no-consent']);
  assert.equal(await secretOf(storage), undefined, 'no consent, no secret');
  await a.client.consent.grant();
  assert.deepEqual(codes(await a.client.record('typed-words', 'fish')), ['tombstone']);
  assert.equal(await secretOf(storage), undefined);
  await a.client.record('other', 'fish');
  const second = await secretOf(storage);
  assert.equal(second?.length, 32);
  assert.notDeepEqual(second, first);

  await a.client.erase();
  assert.equal(await secretOf(storage), undefined);
  assert.ok(!(await everything(storage)).includes(Buffer.from(second ?? []).toString('latin1')));

  const c = await makeClient({ recipes });
  await c.client.consent.grant();
  await c.client.record('typed-words', 'fish');
  assert.ok(await secretOf(c.storage));
  await makeClient({ ...c.options, gpc: () => true });
  assert.equal(await secretOf(c.storage), undefined);
});

test('a word goes to recipes of several parts: one report, what the core makes of the word, all parts joined', async () => {
  const recipes = [fragmentsRecipe(), ngramsRecipe({ analysis: 'other' })];
  // Keys of reports differ, all else that is drawn is its own length.
  let n = 0;
  const random = (/** @type {Uint8Array} */ bytes) =>
    void bytes.fill(bytes.length === 16 ? n++ : bytes.length);
  const { client, edge, storage } = await makeClient({ recipes, random });
  await client.consent.grant();
  assert.deepEqual(codes(await client.type('Fresh')), ['queued', 'queued']);
  await client.flush();
  const core = await load();
  const bytes = () => new Uint8Array(32).fill(32);
  const [sfp, ngram] = recipes.map((json) => core.recipe(json));
  assert.deepEqual(await secretOf(storage), bytes(), 'n-grams are answered permanently');
  const expected = [
    sfp.report(sfp.randomize('fresh', bytes())),
    ngram.report(ngram.randomize('fresh', bytes(), bytes())),
  ];
  assert.deepEqual(
    edge.requests.map(({ body }) => body).sort((a, b) => a.key.localeCompare(b.key)),
    expected,
  );
  assert.notDeepEqual(expected[0].records, [sfp.randomize('shoal', bytes())], 'and of no other');
  assert.deepEqual(
    expected.map(({ records: [record] }) => record.split(';').length),
    [2, 3],
  );
  // What a report says of its recipe are numbers: neither the oracle nor the alphabet.
  assert.deepEqual(expected[0].parameters, {
    epsilon: 5.5,
    epsilon_fragment: 2.5,
    k: 2048,
    m: 16,
    k_fragment: 2048,
    m_fragment: 16,
    length: 10,
  });
  assert.deepEqual(Object.keys(expected[1].parameters), [
    'bits',
    'hashes',
    'cohorts',
    'p',
    'q',
    'f',
    'length',
    'n',
    'grams',
  ]);
  const told = (await client.reports()).map(({ text }) => text.replace(/.*: /, '')).sort();
  assert.deepEqual(told, [
    'a record of "fragments", randomized with epsilon 8.',
    'a record of "ngrams", randomized on this device.',
  ]);
  assert.equal((await client.ledger())[0].today.epsilon, 8, 'of both parts together');
});

test('a word of more bytes than the fragments hold is reported as none, n-grams cut it: no silence', async () => {
  const core = await load();
  /** The same seeds each time; the keys of records stay random. @param {Uint8Array} bytes */
  const fixed = (bytes) =>
    void (bytes.length === 32 ? bytes.fill(32) : crypto.getRandomValues(bytes));
  const recipes = [
    fragmentsRecipe({}, { text: { max: 64 } }),
    ngramsRecipe({ analysis: 'other', text: { max: 64 } }),
  ];
  const [fragments] = recipes.map((json) => core.recipe(json));
  const none = fragments.randomize('', new Uint8Array(32).fill(32));
  for (const [word, isNone] of /** @type {[string, boolean][]} */ ([
    ['abcdefghij', false],
    ['abcdefghijk', true],
    ['äöüäö', false],
    ['äöüäöa', true],
    ['漢字漢', false],
    ['漢字漢字', true],
    ['𒐫'.repeat(64), true], // 256 bytes, as many as the core takes
  ])) {
    const { client, edge } = await makeClient({ recipes, random: fixed });
    await client.consent.grant();
    assert.deepEqual(codes(await client.record('typed-words', word)), ['queued', 'queued'], word);
    await client.flush();
    const [record] = edge.requests.find(({ body }) => body.key === 'fragments')?.body.records ?? [];
    assert.equal(record === none, isNone, word);
    assert.deepEqual(
      (await balances(client)).map(({ today }) => today.count),
      [1, 1],
      'none costs what a string costs',
    );
  }
  assert.equal(
    fragments.randomize('𒐫'.repeat(65), new Uint8Array(32).fill(32)),
    none,
    'the core itself takes any length',
  );
});

test('no budget, no secret; a damaged one sends nothing', async () => {
  const { client, storage } = await makeClient({
    recipes: [permanentRecipe({ expires: '2020-01-01' })],
  });
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'fish')), ['expired']);
  assert.equal(await secretOf(storage), undefined);
  const other = await makeClient({ recipes: [permanentRecipe()] });
  await other.client.consent.grant();
  await other.storage.transaction((/** @type {any} */ tx) =>
    tx.put('state', 'secret', new Uint8Array(5)),
  );
  assert.deepEqual(codes(await other.client.record('typed-words', 'fish')), ['storage']);
  assert.deepEqual(await other.client.reports(), []);
});

test('what is no text is none that a rule of open strings counts', async () => {
  const { client } = await makeClient();
  await client.consent.grant();
  for (const value of [5, null, undefined, {}, true, 1n]) {
    assert.deepEqual(
      codes(await client.record('typed-words', /** @type {any} */ (value))),
      ['text-rule'],
      String(value),
    );
  }
  assert.deepEqual(await client.reports(), []);
});

test('what is not a finite number is no event for a recipe of numbers, and costs nothing', async () => {
  const parameters = { epsilon: 2, size: 10, low: 0, high: 1 };
  const { client, edge } = await makeClient({
    recipes: [itemsRecipe({ value: 'number', parameters })],
  });
  await client.consent.grant();
  for (const value of [NaN, Infinity, -Infinity, '0.5', '', null, undefined, {}, [0.5], true, 1n]) {
    assert.deepEqual(
      codes(await client.record('theme', /** @type {any} */ (value))),
      ['not-a-number'],
      String(value),
    );
  }
  const [reason] = await client.explain();
  assert.deepEqual(
    [reason.code, reason.count, reason.text],
    ['not-a-number', 11, 'The value is not a finite number.'],
  );
  await client.flush();
  assert.equal(edge.requests.length, 0);
  assert.equal((await client.ledger())[0].today.count, 0);
});

test("the page's module is enough for most recipes; one that it lacks brings the whole one, or is refused alone", async () => {
  const page = await Core.create(
    await WebAssembly.compile(await readFile(new URL('../../dist/shoal.wasm', import.meta.url))),
  );
  const isCarried = (/** @type {any} */ json) => {
    try {
      page.release(page.recipe(json));
      return true;
    } catch {
      return false;
    }
  };
  const rare = (await readVectors()).find(
    ({ recipe }) => recipe.mechanism && !isCarried(recipe),
  )?.recipe;
  assert.ok(rare, 'no mechanism is left to the whole module');
  const soon = { ...rare, send: { fresh: 'allow', delay_s: 0 } };
  const setUp = async (/** @type {any[]} */ recipes, /** @type {string[]} */ missing = []) => {
    /** @type {string[]} */
    const loaded = [];
    const fetcher = async (/** @type {any} */ url) => {
      const name = String(url).split('/').at(-1) ?? '';
      if (!name.endsWith('.wasm')) return new Response('{}', { status: 202 });
      loaded.push(name);
      if (missing.includes(name)) return new Response('', { status: 404 });
      return new Response(await readFile(new URL(`../../dist/${name}`, import.meta.url)));
    };
    const { client } = await makeClient({ wasm: undefined, fetch: fetcher, recipes });
    await client.consent.grant();
    const words = codes(await client.record('typed-words', 'fish'));
    const event = recipes.at(-1).value === 'number' ? 1 : 'fish';
    const others = codes(await client.record('s', event));
    return {
      loaded,
      words,
      others,
      refused: (await client.explain()).filter(({ code }) => code === 'recipe-refused'),
    };
  };
  const few = await setUp([wordsRecipe()]);
  assert.deepEqual([few.loaded, few.words], [['shoal.wasm'], ['queued']]);
  const both = await setUp([wordsRecipe(), soon]);
  assert.deepEqual(both, {
    loaded: ['shoal.wasm', 'shoal-all.wasm'],
    words: ['queued'],
    others: ['queued'],
    refused: [],
  });
  // Its own fields stand before the mechanism, and the page's module knows none of them.
  const backwards = Object.fromEntries(
    Object.entries(fragmentsRecipe({}, { stream: 's' })).reverse(),
  );
  assert.deepEqual(await setUp([wordsRecipe(), backwards]), both);
  const without = await setUp([wordsRecipe(), soon], ['shoal-all.wasm']);
  assert.deepEqual(
    [without.loaded, without.words, without.others],
    [['shoal.wasm', 'shoal-all.wasm'], ['queued'], ['unknown-stream']],
  );
  assert.deepEqual(
    without.refused.map(({ recipe, count }) => [recipe, count]),
    [[rare.recipe, 1]],
  );
  const nonsense = await setUp([wordsRecipe(), { ...soon, mechanism: 'nonsense' }]);
  assert.deepEqual([nonsense.words, nonsense.refused.length], [['queued'], 1]);
});

test('type takes words only: no numbers, no punctuation', async () => {
  const { client } = await makeClient();
  await client.consent.grant();
  assert.equal((await client.type('Well, hello 4111111111111111 world! hunter2 …')).length, 3);
  assert.deepEqual(await client.type('12 34 !!'), []);
});

test('visit takes hosts and sites of web addresses', async () => {
  const fixed = (/** @type {Uint8Array} */ bytes) => void bytes.fill(bytes.length);
  const hosts = wordsRecipe({
    recipe: 'hosts',
    stream: 'visits',
    value: 'host',
    text: { max: 64 },
  });
  const sites = wordsRecipe({
    recipe: 'sites',
    stream: 'visits',
    value: 'site',
    text: { max: 64 },
  });
  const core = await load();
  const cases = [
    ['https://Sub.Shop.Example.co.uk/path?q=1', 'sub.shop.example.co.uk', 'example.co.uk'],
    ['http://alice.github.io:8080/', 'alice.github.io', 'alice.github.io'],
    ['https://bücher.example./', 'xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['news.example.com', 'news.example.com', 'example.com'],
  ];
  for (const [url, host, site] of cases) {
    const { client, edge } = await makeClient({ random: fixed, recipes: [hosts] });
    await client.consent.grant();
    await client.visit(url);
    await client.flush();
    assert.equal(
      edge.requests[0].body.records[0],
      core.recipe(hosts).randomize(host, new Uint8Array(32).fill(32)),
      url,
    );
    const other = await makeClient({ random: fixed, recipes: [sites] });
    await other.client.consent.grant();
    await other.client.visit(url);
    await other.client.flush();
    const recipe = core.recipe(sites);
    assert.equal(
      other.edge.requests[0].body.records[0],
      recipe.randomize(site, new Uint8Array(32).fill(32)),
      url,
    );
    core.release(recipe);
  }
  const { client } = await makeClient({ recipes: [sites] });
  await client.consent.grant();
  for (const url of [
    'mailto:a@example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://127.0.0.1/',
    'http://localhost/',
    'a@example.com',
    'https://co.uk/',
    '',
  ]) {
    assert.deepEqual(codes(await client.visit(url)), ['not-a-site'], url);
  }
});

test('without the list of registrable domains no site is recorded', async () => {
  const sites = wordsRecipe({ recipe: 'sites', stream: 'visits', value: 'site' });
  const { client, edge } = await makeClient({
    recipes: [sites],
    sites: () => Promise.reject(new Error('404')),
  });
  await client.consent.grant();
  assert.deepEqual(codes(await client.visit('https://example.org')), ['private-list-missing']);
  await client.flush();
  assert.equal(edge.requests.length, 0);
  assert.equal((await client.ledger())[0].today.count, 0);
});

test('a pinned recipe is fetched after consent and refused unless its hash is the pinned one', async () => {
  const { hash } = (await load()).recipe(wordsRecipe());
  for (const [pinned, expected] of /** @type {any[][]} */ ([
    [hash, 'queued'],
    ['0'.repeat(64), 'recipe-hash'],
  ])) {
    /** @type {string[]} */
    const fetched = [];
    const fetcher = async (/** @type {any} */ url) => (
      fetched.push(String(url)),
      new Response(JSON.stringify(wordsRecipe()))
    );
    const { client } = await makeClient({
      fetch: fetcher,
      recipes: [{ url: 'https://edge.example/r.json', hash: pinned }],
    });
    assert.deepEqual(fetched, []);
    await client.consent.grant();
    assert.deepEqual(codes(await client.record('typed-words', 'a')), [expected]);
    assert.equal(fetched[0], 'https://edge.example/r.json');
    if (expected !== 'queued')
      assert.deepEqual(await why(client), ['recipe-hash'], 'one diagnosis');
  }
});

test('a pinned recipe that cannot be read is named, the others work', async () => {
  const { hash } = (await load()).recipe(wordsRecipe());
  const broken = { ok: true, text: () => Promise.reject(new Error('cut')) };
  const answers = [
    new Response('', { status: 404 }),
    new Response('{'),
    new Response(' '.repeat((1 << 20) + 1)),
    broken,
    new Error('offline'),
  ];
  for (const answer of answers) {
    const fetcher = async () => {
      if (answer instanceof Error) throw answer;
      return /** @type {any} */ (answer);
    };
    const { client } = await makeClient({
      fetch: fetcher,
      recipes: [
        { url: 'https://edge.example/r.json', hash },
        wordsRecipe({ send: { fresh: 'allow', delay_s: 9 } }),
      ],
    });
    await client.consent.grant();
    assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued']);
    assert.deepEqual(
      (await client.explain())
        .filter((/** @type {any} */ r) => /^recipe-(missing|refused)$/.test(r.code))
        .map((/** @type {any} */ r) => r.recipe),
      ['https://edge.example/r.json'],
    );
  }
});

test('a bad recipe is named, the others work', async () => {
  const { client } = await makeClient({
    recipes: [wordsRecipe({ recipe: 'bad', extra: 1 }), wordsRecipe(), wordsRecipe()],
  });
  await client.consent.grant();
  assert.deepEqual(
    codes(await client.record('typed-words', 'a')),
    ['queued'],
    'the same recipe twice is one',
  );
  assert.deepEqual(
    (await client.explain())
      .filter((/** @type {any} */ r) => r.code === 'recipe-refused')
      .map((/** @type {any} */ r) => r.recipe),
    ['bad'],
  );
});

test('refused WebAssembly is told apart from a missing file', async () => {
  const errors = [
    [
      "CompileError: WebAssembly.compile(): Refused to compile or instantiate WebAssembly module because 'unsafe-eval' is not an allowed source",
      'wasm-blocked',
    ],
    ['CompileError: call to WebAssembly.compile() blocked by CSP', 'wasm-blocked'],
    ['Error: shoal.wasm: HTTP 404', 'core-missing'],
  ];
  for (const [message, code] of errors) {
    const { client, edge } = await makeClient({ wasm: () => Promise.reject(new Error(message)) });
    await client.consent.grant();
    assert.deepEqual(codes(await client.record('typed-words', 'a')), [code]);
    const reason = (await client.explain()).find((/** @type {any} */ r) => r.code === code);
    if (code === 'wasm-blocked')
      assert.match(reason?.text ?? '', /script-src 'self' 'wasm-unsafe-eval'/);
    assert.equal(edge.requests.length, 0);
  }
});

test('a record of another endpoint stays where it is', async () => {
  const storage = memoryStorage();
  const a = await makeClient({ storage });
  await a.client.consent.grant();
  a.edge.answers.push(new Error('offline'));
  await a.client.record('typed-words', 'a');
  await a.client.flush();
  const clock = fakeClock(NOON + 3_600_000);
  const { advance: _, ...stopped } = clock;
  const b = await makeClient({ storage, endpoint: 'https://other.example', ...stopped });
  await b.client.flush();
  assert.equal(b.edge.requests.length, 0);
});

test('importing touches no global', async () => {
  const globals = Object.keys(globalThis).length;
  await import('../../client/loader.js');
  await import('../../client/storage.js');
  assert.equal(Object.keys(globalThis).length, globals);
});

test('a record whose recipe a page does not have waits, and wakes that page for nothing', async () => {
  const storage = memoryStorage();
  const first = await makeClient({ storage, recipes: [wordsRecipe({ send: { fresh: 'allow' } })] });
  await first.client.consent.grant();
  assert.deepEqual(codes(await first.client.type('hello')), ['queued']);
  first.client.close();
  let idle = 0; // timers of 0 ms, which would never end if each set the next
  const clock = fakeClock();
  await clock.advance(2 * DAY_MS);
  const other = await makeClient({
    storage,
    recipes: [wordsRecipe({ recipe: 'other', analysis: 'other' })],
    now: clock.now,
    setTimer: (/** @type {() => void} */ task, /** @type {number} */ ms) => {
      if (ms > 0) return clock.setTimer(task, ms);
      if (++idle < 20) setImmediate(task);
      return 0;
    },
  });
  await other.client.flush();
  for (let i = 0; i < 20; i++) await settle();
  assert.equal(idle, 0);
  assert.equal((await other.client.reports()).length, 1, 'it still waits');
});

test('a recipe of trials is used only where page, endpoint and relay are on loopback', async (t) => {
  const recipes = [wordsRecipe({ trial: 1 })];
  const at = (/** @type {string | undefined} */ href) =>
    Object.defineProperty(globalThis, 'location', { value: href && { href }, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, 'location'));
  /** @type {[string, string | undefined, boolean][]} */
  const cases = [
    ['http://127.0.0.1:8472', undefined, true],
    ['http://localhost:8472', 'http://localhost:5173/page/', true],
    ['http://[::1]:8472', 'https://127.9.9.9/', true],
    ['https://edge.example', undefined, false],
    ['https://edge.example', 'http://localhost/', false],
    ['http://127.0.0.1:8472', 'https://www.example/', false],
    ['http://127.0.0.1:8472', 'https://localhost.example/', false],
    ['http://127.0.0.1:8472', 'file:///home/page.html', false],
  ];
  for (const [endpoint, href, isTaken] of cases) {
    at(href);
    const { client, edge } = await makeClient({ endpoint, recipes });
    await client.consent.grant();
    const [{ code }] = await client.record('typed-words', 'fish');
    await client.flush();
    const told = (await client.explain()).map((each) => [each.code, each.recipe]);
    assert.equal(code, isTaken ? 'queued' : 'trial', `${endpoint} ${href}`);
    assert.equal(edge.requests.length, isTaken ? 1 : 0);
    assert.equal(
      told.some(([what, which]) => what === 'trial' && which === 'words'),
      !isTaken,
    );
    const spent = (await client.ledger()).some((entry) => 'recipe' in entry);
    assert.equal(spent, isTaken, 'and nothing is reserved');
    client.close();
  }
});
