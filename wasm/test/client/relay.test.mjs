// SPDX-License-Identifier: Apache-2.0
// Reports through a relay: nothing goes to the endpoint directly, all requests have one length and all answers too, and retries, keys, budgets
// and windows work as without one. Behind the relay is the edge's own gateway; the log is the tests' own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportLength } from '../../bindings/dap_length.js';
import { load, loadDapModule } from '../../bindings/node.js';
import { served } from '../../client/served.js';
import { init } from '../../client/client.js';
import { coloursRecipe, fakeNetwork, makeServer } from '../dap_fixtures.mjs';
import {
  NOON,
  balances,
  codes,
  itemsRecipe,
  makeClient,
  settle,
  wordsRecipe,
} from '../fixtures.mjs';
import { LOG_URL, RELAY, relayed, relayedClient, secretKey } from '../relay_fixtures.mjs';
import { browserOf, fakePage, rowsOf, windowed } from '../window_fixtures.mjs';

const HOUR_MS = 3_600_000;
const words = wordsRecipe();

/** Sends what is due. A flush resolves when everything is answered. @param {any} client */
async function rest(client) {
  for (let i = 0; i < 3; i++) {
    await client.flush();
    await settle();
  }
}

/** Tries the queue until it is empty, each record when it is due. @param {any} made @param {number} [most] tries */
async function drain({ client, clock, storage }, most = 20) {
  for (let i = 0; i < most; i++) {
    const due = (await queueOf(storage)).map(([, row]) => row.due);
    if (!due.length) return;
    // No further than that: a timer that stops a slow request goes by the same clock.
    await clock.advance(Math.max(0, Math.min(...due) - clock.now()));
    await rest(client);
  }
  assert.deepEqual(await queueOf(storage), []);
}

/** @param {any} [more] of the client @param {any} [of] of the world */
async function setUp({ recipes = [words], ...more } = /** @type {any} */ ({}), of = {}) {
  const world = await relayed({ recipes, ...of });
  const made = await relayedClient(world, { recipes, ...more });
  return { ...made, world };
}

/** @param {any} client @param {any} clock @param {any} event */
async function record(client, clock, [stream, value] = ['typed-words', 'fish']) {
  const outcome = await client.record(stream, value);
  await client.flush();
  await rest(client);
  return codes(outcome);
}

test('a browser without X25519 is refused by name before anything is spent', async () => {
  const subtle = Object.getPrototypeOf(crypto.subtle);
  const { generateKey } = subtle;
  let asked = 0;
  subtle.generateKey = async () => {
    asked++;
    throw new DOMException('no such curve', 'NotSupportedError');
  };
  try {
    const daily = windowed('day', { recipe: 'daily', stream: 'other' });
    const { client, clock, world } = await setUp({
      recipes: [words, daily],
      document: fakePage(),
    });
    await client.consent.grant();
    assert.deepEqual(await record(client, clock), ['no-x25519']);
    assert.equal(asked % 4, 0, 'it is tried a few times');
    assert.ok(asked > 0);
    for (const { today } of await balances(client)) assert.equal(today.count, 0);
    assert.deepEqual(
      [world.direct, world.requests.length],
      [[], 0],
      'nothing is sent in another way',
    );
    const reasons = await client.explain();
    assert.match(String(reasons.find(({ code }) => code === 'no-x25519')?.text), /X25519/);
    assert.deepEqual(codes(await client.record('other', 'fish')), ['no-x25519']);
    client.close();
  } finally {
    subtle.generateKey = generateKey;
  }
});

test('a report goes to the relay, sealed, and nothing goes anywhere else', async () => {
  const { client, clock, world } = await setUp();
  await client.consent.grant();
  assert.deepEqual(world.requests, [], 'nothing is posted before there is a report');
  assert.deepEqual(await record(client, clock), ['queued']);
  assert.equal(world.taken.length, 1);
  assert.deepEqual(world.direct, []);
  const [{ init: sent, headers }] = /** @type {any[]} */ (world.requests);
  assert.deepEqual(headers, {});
  assert.equal(sent.type, '', 'a body without a type needs no preflight');
  assert.deepEqual(
    [
      sent.method,
      sent.mode ?? 'cors',
      sent.credentials,
      sent.referrerPolicy,
      sent.redirect,
      sent.keepalive,
    ],
    ['POST', 'cors', 'omit', 'no-referrer', 'error', true],
  );
  const [entry] = await client.reports();
  assert.equal(entry.state, 'sent');
  const [row] = await balances(client);
  assert.equal(row.today.count, 1);
  client.close();
});

test('all requests of a page have one length, and all answers: recipes, refusals, retries, uploads', async () => {
  const core = await load();
  const network = fakeNetwork({ leader: await makeServer(7), helper: await makeServer(9) });
  const wide = wordsRecipe({
    recipe: 'wide',
    stream: 'wide',
    parameters: { epsilon: 4, k: 2048, m: 16_384 },
  });
  const colours = coloursRecipe();
  const recipes = [words, itemsRecipe(), wide, colours];
  const task = core.recipe(colours);
  const length = await reportLength(await loadDapModule(), task);
  const id = Buffer.from(task.hash, 'hex').toString('base64url');
  const world = await relayed({
    recipes: [words, itemsRecipe(), wide],
    tasks: [{ recipe: task, id, length }],
  });
  const { client, clock, storage } = await relayedClient(world, {
    recipes,
    dapWasm: loadDapModule,
    fetch: (/** @type {any} */ url, /** @type {any} */ init) =>
      String(url).endsWith('/hpke_config') ? network.fetch(url, init) : world.fetch(url, init),
  });
  await client.consent.grant();
  world.answers.push('accepted', 'full', 'expired');
  for (const event of [
    ['typed-words', 'fish'],
    ['theme', 'dark'],
    ['wide', 'fish'],
    ['choices', 'red'],
    ['typed-words', 'x'],
  ])
    assert.deepEqual(await record(client, clock, event), ['queued']);
  world.uploadAnswers.push({ status: 429, type: null, retryAfter: '7', body: new Uint8Array(0) });
  await record(client, clock, ['choices', 'red']);
  await drain({ client, clock, storage });
  assert.deepEqual(await queueOf(storage), []);
  assert.equal(
    world.taken.length,
    3,
    'two words and the item, of which one came again; one was refused',
  );
  assert.equal(world.uploads.length, 3, 'two uploads, of which one came again');
  assert.deepEqual(new Set(world.uploads.map((body) => body.length)), new Set([length]));
  const lengths = world.requests.map((request) => request.length);
  assert.ok(lengths.length >= 8);
  assert.deepEqual(new Set(lengths), new Set([Math.max(...lengths)]));
  assert.ok(lengths[0] > length && lengths[0] > wide.parameters.m / 6);
  assert.deepEqual(new Set(world.lengths), new Set([544]));
  assert.deepEqual(world.direct, []);
  client.close();
});

test('an answer that asks to wait is obeyed, and the next try has the same key', async () => {
  const { client, clock, world, storage } = await setUp();
  await client.consent.grant();
  world.answers.push('full');
  await record(client, clock);
  const [[key, row]] = await queueOf(storage);
  assert.ok(row.due >= NOON + 300_000, 'the quantized Retry-After of the gateway');
  assert.equal(row.tries, 1);
  assert.ok((await client.explain()).some(({ code }) => code === 'edge-busy'));
  await drain({ client, clock, storage });
  assert.deepEqual(world.taken, [key.slice('queue/'.length)]);
  assert.equal((await balances(client))[0].today.count, 1, 'the retry costs nothing');
  client.close();
});

test('what a relay says by itself refuses nothing', async () => {
  const { client, clock, world, storage } = await setUp();
  await client.consent.grant();
  const garbage = new Response(new Uint8Array(544), {
    headers: { 'Content-Type': 'message/ohttp-res' },
  });
  world.refusals.push(
    ...[400, 404, 410, 413, 415, 422, 202, 500].map((status) => new Response('no', { status })),
    garbage,
    new Response('', { status: 200 }),
    new TypeError('offline'),
    new Response('', { status: 429, headers: { 'Retry-After': '7000' } }),
  );
  await record(client, clock);
  for (let tries = 1; tries <= 12; tries++) {
    const [[, row]] = await queueOf(storage);
    assert.equal(row.tries, tries);
    if (tries === 12) assert.ok(row.due >= clock.now() + 7_000_000 - HOUR_MS);
    await clock.advance(row.due - clock.now());
    await rest(client);
  }
  assert.deepEqual([await queueOf(storage), world.taken.length], [[], 1]);
  client.close();
});

test('only the gateway refuses a report for good', async () => {
  const { client, clock, world, storage } = await setUp();
  await client.consent.grant();
  world.answers.push('expired');
  await record(client, clock);
  assert.deepEqual(await queueOf(storage), []);
  assert.equal((await client.reports())[0].state, 'refused');
  client.close();
});

// ---- keys ----

test('keys rotate while a page holds the old one, and nothing is lost', async () => {
  const [old, next] = [secretKey(1, '11'), secretKey(2, '22')];
  const { client, clock, world } = await setUp({}, { keys: [old] });
  await client.consent.grant();
  await record(client, clock);
  const fetched = () => world.logged.filter((path) => path === 'keys').length;
  assert.equal(fetched(), 1);
  await world.open([next, old]);
  await world.list([next, old]);
  await record(client, clock);
  assert.deepEqual([world.taken.length, fetched()], [2, 1], 'the old key holds while it is there');
  await clock.advance(24 * HOUR_MS);
  // WebCrypto answers from a thread of its own, so a busy machine takes a while.
  for (let i = 0; i < 100 && fetched() < 2; i++) await settle();
  await rest(client);
  assert.equal(fetched(), 2, 'the next day has its list, without an event');
  await world.open([next]);
  await record(client, clock);
  assert.deepEqual([world.taken.length, world.requests.length, fetched()], [3, 3, 2]);
  client.close();
});

test('a gateway that denies its key makes no device ask for the log', async () => {
  const { client, clock, world, storage } = await setUp();
  await client.consent.grant();
  await record(client, clock);
  const asked = world.logged.length;
  await world.open([secretKey(1, '99')]);
  await record(client, clock);
  assert.equal(world.requests.length, 2);
  assert.equal(world.logged.length, asked, 'or its address would be known with its report');
  const [[, row]] = await queueOf(storage);
  assert.equal(row.tries, 1);
  await world.open([secretKey()]);
  await clock.advance(row.due - clock.now());
  await rest(client);
  assert.equal(world.taken.length, 2, 'the report is kept');
  assert.equal(world.logged.length, asked);
  client.close();
});

test('without a key list nothing is spent, and it is asked for again by a clock, not by an event', async () => {
  const { client, clock, world } = await setUp();
  world.isLogDown = true;
  await client.consent.grant();
  await rest(client);
  const asked = world.logged.length;
  assert.ok(asked > 0);
  for (let i = 0; i < 3; i++) assert.deepEqual(await record(client, clock), ['log-missing']);
  assert.equal(world.logged.length, asked, 'events ask nobody');
  assert.equal((await balances(client))[0].today.count, 0);
  assert.ok((await client.explain()).some(({ code }) => code === 'log-missing'));
  world.isLogDown = false;
  await clock.advance(60_000);
  await rest(client);
  assert.deepEqual(await record(client, clock), ['queued']);
  assert.equal(world.taken.length, 1);
  assert.deepEqual(world.direct, []);
  client.close();
});

test('a list without a key that this client can seal to', async () => {
  const { client, clock, world } = await setUp({}, { keys: [secretKey()] });
  const entry = JSON.parse(world.log.entries[0]);
  entry.gateway[0].config = entry.gateway[0].config.replace('00010001', '00010002');
  const { OracleLog } = await import('../log_fixtures.mjs');
  const { signer } = world.log;
  world.log = new OracleLog([entry]);
  world.log.signer = signer;
  await client.consent.grant();
  assert.deepEqual(await record(client, clock), ['no-keys']);
  assert.equal((await balances(client))[0].today.count, 0);
  client.close();
});

// ---- dates ----

test('a device whose clock is hours off goes by the date of the gateway, and keeps it to itself', async () => {
  const { client, clock, world, storage } = await setUp();
  const { now } = world;
  await client.consent.grant();
  world.now = () => now() + 5 * HOUR_MS;
  for (let i = 1; i <= 2; i++) {
    await record(client, clock);
    assert.deepEqual([world.taken.length, world.requests.length], [i, 2 * i]);
  }
  assert.ok(!JSON.stringify(await rowsOf(storage)).includes('skew'));
  client.close();
});

// ---- windows ----

test('the records of a visit are sealed ahead: at the end of a page only fetch() is called', async () => {
  const visit = windowed('visit', { limit: { per_day: 3 } });
  const world = await relayed({ recipes: [visit] });
  const browser = browserOf({
    recipes: [visit],
    fetch: world.fetch,
    relay: RELAY,
    log: { url: LOG_URL, key: world.log.signer.verifier },
  });
  world.now = browser.clock.now;
  const { client, page, grant, clock } = await browser.tab();
  await grant();
  await rest(client);
  assert.deepEqual(codes(await client.record('typed-words', 'fish')), ['entered']);
  for (let i = 0; i < 5; i++) {
    await clock.advance(HOUR_MS);
    await client.record('typed-words', 'fish'); // waits for what the hour began: all is sealed anew
  }
  assert.equal(world.requests.length, 0);
  page.hide();
  assert.equal(world.requests.length, 3, 'before hide() returns');
  await until(() => world.taken.length === 3);
  for (const { init: sent } of world.requests) assert.equal(sent.keepalive, true);
  await rest(client);
  assert.equal(world.taken.length, 3);
  assert.equal(new Set(world.requests.map(({ length }) => length)).size, 1);
  assert.deepEqual(world.direct, []);
  assert.deepEqual(await queueOf(browser.storage), []);
  client.close();
});

test('a visit whose relay is busy goes to the queue of a page that lives on', async () => {
  const visit = windowed('visit', { limit: { per_day: 2 } });
  const world = await relayed({ recipes: [visit] });
  const browser = browserOf({
    recipes: [visit],
    fetch: world.fetch,
    relay: RELAY,
    log: { url: LOG_URL, key: world.log.signer.verifier },
  });
  world.now = browser.clock.now;
  world.refusals.push(new Response('', { status: 503 }), new Response('', { status: 503 }));
  const { client, page, grant, clock } = await browser.tab();
  await grant();
  await client.record('typed-words', 'fish'); // waits until the window is open
  page.hide();
  await until(async () => (await queueOf(browser.storage)).length === 2);
  assert.equal(world.taken.length, 0);
  page.show();
  await drain({ client, clock, storage: browser.storage });
  assert.equal(world.taken.length, 2);
  client.close();
});

// ---- the rest of the client ----

test('a withdrawal while a request is being sealed stops it', async () => {
  const { client, clock, world } = await setUp();
  await client.consent.grant();
  await rest(client);
  await client.record('typed-words', 'fish');
  const flushing = client.flush();
  await client.consent.withdraw();
  await flushing;
  await rest(client);
  assert.equal(world.requests.length, 0);
  client.close();
});

test('a withdrawal in another tab stops a request that is being sealed', async () => {
  const world = await relayed({ recipes: [words] });
  const browser = browserOf({
    recipes: [words],
    fetch: world.fetch,
    relay: RELAY,
    log: { url: LOG_URL, key: world.log.signer.verifier },
  });
  world.now = browser.clock.now;
  const one = await browser.tab();
  await one.grant();
  const other = await browser.tab();
  await record(one.client, browser.clock);
  assert.equal(world.requests.length, 1, 'all chunks and keys are there');
  await one.client.record('typed-words', 'fish');
  // A sealing that takes until the other tab has withdrawn.
  const subtle = Object.getPrototypeOf(crypto.subtle);
  const { generateKey } = subtle;
  let [began, release] = [() => {}, () => {}];
  const sealing = new Promise((resolve) => (began = () => resolve(undefined)));
  const held = new Promise((resolve) => (release = () => resolve(undefined)));
  subtle.generateKey = async function (/** @type {any[]} */ ...args) {
    began();
    await held;
    return generateKey.apply(this, args);
  };
  const flushing = one.client.flush();
  await sealing;
  await other.client.consent.withdraw();
  const begun = world.requests.length;
  release();
  subtle.generateKey = generateKey;
  await flushing;
  await rest(one.client);
  assert.equal(world.requests.length, begun, 'none begins after the withdrawal resolved');
  one.client.close();
  other.client.close();
});

test('a longer message raises the length of all that follow', async () => {
  const { client, clock, world, options } = await setUp();
  await client.consent.grant();
  await record(client, clock);
  const { Context } = await import('../../client/context.js');
  const { dependenciesOf } = await import('../../client/client_options.js');
  const relay = () => import('../../client/relay.js');
  const deps = await dependenciesOf(options);
  const context = new Context(options, deps, new AbortController().signal, relay);
  await context.restoreConsent();
  for (const size of [10, 3000, 10])
    await context.deps.fetch(context.url, { method: 'POST', body: 'x'.repeat(size) });
  assert.deepEqual(
    world.requests.slice(-3).map(({ length }) => length - 55),
    [2048, 4096, 4096],
  );
  client.close();
});

test('a list of the endpoint comes through the relay too', async () => {
  const { client, clock, world, options } = await setUp();
  await client.consent.grant();
  await record(client, clock);
  const { Context } = await import('../../client/context.js');
  const { dependenciesOf } = await import('../../client/client_options.js');
  const context = new Context(
    options,
    await dependenciesOf(options),
    new AbortController().signal,
    () => import('../../client/relay.js'),
  );
  await context.restoreConsent();
  const { recipes } = await served(context, 'recipes');
  assert.deepEqual(
    recipes.map((/** @type {any} */ { recipe }) => recipe.recipe),
    ['words'],
  );
  assert.deepEqual(world.direct, []);
  assert.equal(new Set(world.requests.map(({ length }) => length)).size, 1);
  client.close();
});

test('options that could not keep the promise are refused', async () => {
  const log = { url: LOG_URL, key: 'x' };
  const options = { endpoint: 'https://edge.example', recipes: [] };
  const alone = /** @type {any} */ ({ ...options, relay: RELAY });
  await assert.rejects(init(alone), /option log is needed/);
  await assert.rejects(
    init({ ...options, log, relay: 'http://relay.example/' }),
    /option relay must be https/,
  );
  const { client } = await makeClient({ log, relay: 'http://127.0.0.1:1/' });
  client.close();
});

/** @param {() => unknown} check */
async function until(check) {
  for (let i = 0; i < 1000 && !(await check()); i++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(await check());
}

/** @param {any} storage @returns {Promise<[string, any][]>} */
const queueOf = async (storage) =>
  (await rowsOf(storage)).filter(([key]) => key.startsWith('queue/'));
