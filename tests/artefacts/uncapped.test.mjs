// SPDX-License-Identifier: Apache-2.0
// Devices and workers of before caps, windows and terms (commit 9275a61): what such a device stored
// is read and loses nothing, its client reports to today's worker, and today's client to its worker.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { Core } from '../../wasm/bindings/device.js';
import { load } from '../../wasm/bindings/node.js';
import { init } from '../../wasm/client/client.js';
import { memoryLocks, memoryStorage } from '../../wasm/client/memory_storage.js';
import { codes, epochRecipe, makeClient, settle } from '../../wasm/test/fixtures.mjs';
import { loadQueryCore } from '../../wasm/test/query_fixtures.mjs';
import { tokenNetwork, tokenOf, tokenRecipe } from '../../wasm/test/token_fixtures.mjs';
import { DEVICE_RECIPES, dump, restore } from './device_recipes.mjs';

// The edge's own tests are not checked against types, so their helpers are loaded by a computed name.
/** @param {string} name @returns {Promise<any>} */
const helpers = (name) => import(new URL(`../../edge/test/${name}`, import.meta.url).href);
const { startEdge } = await helpers('runtimes.mjs');
const { FakeAggregator, eventually, makeRecipe } = await helpers('support.mjs');

const here = fileURLToPath(new URL('uncapped', import.meta.url));
const device = JSON.parse(readFileSync(join(here, 'device.json'), 'utf8'), (_, value) =>
  typeof value?.hex === 'string' ? new Uint8Array(Buffer.from(value.hex, 'hex')) : value,
);
const DAY_MS = 86_400_000;

/** Writes the files of before, unpacked. @param {import('node:test').TestContext} t @param {string} part */
function unpacked(t, part) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-uncapped-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(folder, part));
  for (const file of readdirSync(join(here, part)))
    writeFileSync(
      join(folder, part, file.slice(0, -'.gz'.length)),
      gunzipSync(readFileSync(join(here, part, file))),
    );
  return join(folder, part);
}

/** Today's client on the storage of before. @param {any} [more] */
async function laterClient(more = {}) {
  const storage = memoryStorage();
  await restore(storage, device.rows);
  let now = device.now + 1000;
  const made = await makeClient({
    recipes: DEVICE_RECIPES,
    policy: device.policy,
    runs: device.runs,
    queryWasm: loadQueryCore,
    storage,
    now: () => now,
    setTimer: () => 0,
    clearTimer: () => {},
    ...more,
  });
  await settle();
  return { ...made, storage, advance: (/** @type {number} */ ms) => (now += ms) };
}

/** Does `now` say all that `then` said? It may say more. @param {any} now @param {any} then @param {string} what */
function saysAll(now, then, what) {
  if (then === null || typeof then !== 'object') return assert.deepEqual(now, then, what);
  assert.ok(now && typeof now === 'object', what);
  for (const [key, value] of Object.entries(then)) saysAll(now[key], value, `${what}.${key}`);
}

test('what the device was told, today says too', async () => {
  const { client } = await laterClient();
  assert.equal(client.consent.state, 'granted');
  const { ledger, reports, log } = device.told;
  const name = (/** @type {any} */ e) => [e.run, e.analysis, e.field, e.recipe].join();
  const entries = new Map((await client.ledger()).map((entry) => [name(entry), entry]));
  for (const { text: _, ...entry } of ledger) saysAll(entries.get(name(entry)), entry, name(entry));
  const untold = (/** @type {any[]} */ list) =>
    list.map(({ state, report }) => JSON.stringify([state, report])).sort();
  assert.deepEqual(untold(await client.reports()), untold(reports));
  saysAll(await client.log(), JSON.parse(JSON.stringify(log)), 'log');
  client.close();
});

test('what was spent is spent, what waits is sent as it was made, and the secret stays', async () => {
  const { client, edge, storage, advance } = await laterClient();
  assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['budget']);
  assert.deepEqual(codes(await client.record('theme', 'light')), ['budget']);
  assert.deepEqual(codes(await client.ask([device.query])), ['replayed']);
  assert.deepEqual(codes(await client.track.answer([epochRecipe()])), ['answered']);
  assert.deepEqual(codes(await client.record('home', 'example.org')), ['queued']);
  const { hex } = (await dump(storage))['state/secret'];
  assert.equal(hex, Buffer.from(device.rows['state/secret']).toString('hex'));
  advance(DAY_MS);
  for (let i = 0; i < 3; i++) await client.flush();
  const waiting = Object.entries(device.rows).filter(([path]) => path.startsWith('queue/'));
  assert.ok(waiting.length >= 2);
  for (const [path, { report }] of waiting) {
    const sent = edge.requests.filter(
      ({ init: request }) => `queue/${request.headers['Idempotency-Key']}` === path,
    );
    assert.deepEqual(sent.map(({ body }) => body).slice(0, 1), [report], path);
  }
  client.close();
});

test('its consent takes over the terms of the first page, and covers no more', async () => {
  const { client, storage } = await laterClient();
  assert.deepEqual(await client.consent.asks(), []);
  client.close();
  const [words] = DEVICE_RECIPES;
  const wider = { ...words, parameters: { ...words.parameters, epsilon: 5 } };
  const other = await laterClient({ recipes: [wider], storage, now: () => device.now + 2000 });
  assert.equal((await other.client.consent.asks())[0].before?.epsilon, 4);
  other.client.close();
});

/** The client of before, as it was built. @param {import('node:test').TestContext} t @param {any} options */
async function earlierClient(t, options) {
  const folder = unpacked(t, 'client');
  const at = (/** @type {string} */ file) => pathToFileURL(join(folder, file));
  // Node's fetch reads no files.
  const fetchAny = async (/** @type {any} */ url, /** @type {any} */ request) =>
    String(url).startsWith('file:')
      ? new Response(readFileSync(fileURLToPath(url)), {
          headers: { 'Content-Type': 'application/wasm' },
        })
      : options.fetch(url, request);
  const { init: earlier } = await import(at('client.js').href);
  return earlier({ wasm: at('shoal.wasm'), ...options, fetch: fetchAny });
}

/** Bytes and members of a report, without what is random. @param {any} report */
const shapeOf = ({ records, ...report }) => ({
  ...report,
  records: records.map((/** @type {string} */ record) => [
    record.length,
    /^[0-9a-z;,]+$/i.test(record),
  ]),
});

for (const [what, isOldEdge] of /** @type {const} */ ([
  ["the client of before and today's worker", false],
  ["today's client and the worker of before", true],
])) {
  test(
    `${what}: reports are accepted, and records have one shape`,
    { timeout: 240_000 },
    async (t) => {
      const n = 6;
      const recipe = await makeRecipe({
        limit: { per_day: 100 },
        send: { fresh: 'allow', delay_s: 0 },
      });
      const aggregator = await new FakeAggregator(recipe).start();
      t.after(() => aggregator.remove());
      const script = isOldEdge ? join(unpacked(t, 'edge'), 'worker.js') : undefined;
      const edge = await startEdge(t, 'workerd', {
        recipes: [recipe],
        aggregator: aggregator.url,
        script,
      });
      /** @type {number[]} */
      const statuses = [];
      /** @type {any[]} */
      const bodies = [];
      const options = {
        endpoint: edge.url,
        recipes: [recipe.json],
        storage: memoryStorage(),
        locks: memoryLocks(),
        gpc: () => false,
        fetch: async (/** @type {any} */ url, /** @type {any} */ request) => {
          const headers = { ...request.headers, Origin: 'https://site.example' };
          const response = await fetch(url, { ...request, headers });
          statuses.push(response.status);
          bodies.push(JSON.parse(request.body));
          return response;
        },
      };
      const client = isOldEdge
        ? await init({ ...options, wasm: load })
        : await earlierClient(t, options);
      await client.consent.grant();
      for (let i = 0; i < n; i++)
        assert.deepEqual(codes(await client.record('typed-words', `w${i}`)), ['queued']);
      await client.flush();
      assert.deepEqual(statuses, Array(n).fill(202));
      const made = shapeOf(recipe.report(recipe.randomize('x', new Uint8Array(32))));
      for (const body of bodies) assert.deepEqual(shapeOf(body), made);
      await eventually(() => assert.equal(aggregator.records.length, n));
      assert.deepEqual([...aggregator.records].sort(), bodies.flatMap((b) => b.records).sort());
      client.close();
    },
  );
}

/** A client whose worker is a function, and what that function got. @param {any} more */
function toldOptions(more) {
  /** @type {any[]} */
  const bodies = [];
  const [words] = DEVICE_RECIPES;
  const options = {
    endpoint: 'https://edge.example',
    recipes: [words],
    storage: memoryStorage(),
    locks: memoryLocks(),
    gpc: () => false,
    now: () => device.now,
    setTimer: () => 0,
    clearTimer: () => {},
    fetch: async (/** @type {any} */ _, /** @type {any} */ request) => (
      bodies.push(JSON.parse(request.body)),
      new Response('{}', { status: 202 })
    ),
    ...more,
  };
  return { bodies, options };
}

test("today's client with a module of before, from a cache: nothing is spent or sent, and it says why", async (t) => {
  const old = await WebAssembly.compile(readFileSync(join(unpacked(t, 'client'), 'shoal.wasm')));
  const { bodies, options } = toldOptions({ wasm: () => Core.create(old) });
  const client = await init(options);
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['core-missing']);
  await client.flush();
  assert.deepEqual(bodies, []);
  const ledger = await options.storage.transaction((/** @type {any} */ tx) =>
    tx.get('state', 'ledger'),
  );
  assert.equal(ledger, undefined, 'nothing is spent');
  const why = await client.explain();
  assert.ok(why.some(({ code }) => code === 'core-missing'));
  client.close();
});

test("the client of before with today's module, from a cache: it counts what it sends, or sends nothing", async (t) => {
  const { bodies, options } = toldOptions({
    wasm: new URL('../../wasm/dist/shoal.wasm', import.meta.url),
  });
  const client = await earlierClient(t, options);
  await client.consent.grant();
  const [code] = codes(await client.record('typed-words', 'cod'));
  await client.flush();
  const [{ today }] = [...(await client.ledger()), { today: { count: 0 } }];
  assert.equal(bodies.length, code === 'queued' ? 1 : 0);
  assert.ok(today.count >= bodies.length, `${code}: ${bodies.length} sent, ${today.count} counted`);
  assert.deepEqual(
    codes(await client.record('typed-words', 'cod')).filter((each) => each === 'queued'),
    [],
    'no second report of the day',
  );
  client.close();
});

test('storage that today wrote is closed to the client of before, or counted by it', async (t) => {
  const { bodies, options } = toldOptions({});
  const today = await init({ ...options, wasm: load });
  await today.consent.grant();
  assert.deepEqual(codes(await today.record('typed-words', 'cod')), ['queued']);
  today.close();
  bodies.length = 0;
  const old = unpacked(t, 'client');
  const client = await earlierClient(t, {
    ...options,
    wasm: pathToFileURL(join(old, 'shoal.wasm')),
  });
  const [code] = codes(await client.record('typed-words', 'pike'));
  assert.ok(['ledger', 'budget', 'storage'].includes(code), code);
  client.close();
});

const paid = tokenRecipe({ recipe: 'paid', analysis: 'paid', stream: 'paid-words' });
/** What the store `state` has of tokens. @param {any} storage @returns {Promise<any>} */
const tokensIn = (storage) =>
  storage.transaction((/** @type {any} */ tx) => tx.get('state', 'tokens'));

test('a device of before gets tokens, spends them, and keeps what it had', async () => {
  const network = await tokenNetwork([paid], () => device.now + 1000);
  const { client, storage } = await laterClient({
    recipes: [...DEVICE_RECIPES, paid],
    fetch: network.fetch,
    keyList: network.keyList,
  });
  const before = await storage.transaction((/** @type {any} */ tx) => tx.get('state', 'ledger'));
  await client.consent.grant(); // to what the page has more than before
  assert.deepEqual(codes(await client.record('paid-words', 'cod')), ['queued']);
  await client.flush();
  const tokens = network.edge.requests.map((request) => tokenOf(request)).filter((t) => t.length);
  assert.equal(tokens.length, 1, 'one report is of this recipe');
  const [today, tomorrow] = Object.values(await tokensIn(storage)).map(
    ({ left }) => Object.values(left).flat().length,
  );
  assert.deepEqual([today, tomorrow], [paid.limit.per_day - 1, paid.limit.per_day]);
  assert.ok(before, 'the ledger of before');
  const now = await client.ledger();
  for (const then of device.told.ledger.filter((/** @type {any} */ e) => e.recipe))
    assert.ok(
      now.some(({ recipe }) => recipe === then.recipe),
      `the ledger still has ${then.recipe}`,
    );
  client.close();
});

test('the client of before leaves tokens behind at a withdrawal, and the next grant ends them', async (t) => {
  const network = await tokenNetwork([paid], () => device.now);
  const { options } = toldOptions({ recipes: [paid], fetch: network.fetch });
  const today = await init({ ...options, keyList: network.keyList, wasm: load });
  await today.consent.grant();
  assert.deepEqual(codes(await today.record('paid-words', 'cod')), ['queued']);
  today.close();
  const old = await earlierClient(t, {
    ...options,
    recipes: [DEVICE_RECIPES[0]],
    wasm: pathToFileURL(join(unpacked(t, 'client'), 'shoal.wasm')),
  });
  await old.consent.withdraw();
  await old.erase();
  old.close();
  // docs/privacy.md says so: that client knows nothing of them.
  const left = JSON.stringify(await tokensIn(options.storage));
  assert.match(left, /"token":/);

  const page = { ...options, fetch: async () => new Response(null, { status: 503 }) };
  const later = await init({ ...page, keyList: network.keyList, wasm: load });
  assert.equal(later.consent.state, 'none');
  await later.consent.grant();
  assert.doesNotMatch(JSON.stringify(await tokensIn(options.storage)) ?? '', /"token":/);
  await later.consent.withdraw();
  assert.equal(await tokensIn(options.storage), undefined);
  later.close();
});
