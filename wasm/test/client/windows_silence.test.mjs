// SPDX-License-Identifier: Apache-2.0
// What a window shows besides its records: nothing. The requests are the same whatever happened in it, storage holds no raw value and
// counts no event after any step, and a failure of storage at any step costs no more than the records.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import '../../client/dap.js'; // loaded before a page imports it, so that no test waits for the disk
import { memoryStorage } from '../../client/memory_storage.js';
import { ENDPOINT, WASM, codes, settle } from '../fixtures.mjs';
import { coloursRecipe, fakeNetwork, makeServer, readReport } from '../dap_fixtures.mjs';
import { DAY_MS, browserOf, listed, rowsOf, windowed } from '../window_fixtures.mjs';

const module = await WebAssembly.compile(await readFile(`${WASM}/dist/shoal-dap.wasm`));
const dapWasm = async () => module;
/** Seals to nothing, at once: a test that moves the clock cannot wait for WebCrypto. Lengths are those of HPKE. */
const hpke = async () => ({
  seal: async (
    /** @type {any} */ _key,
    /** @type {any} */ _info,
    /** @type {any} */ _aad,
    /** @type {Uint8Array} */ plaintext,
  ) => ({ enc: new Uint8Array(32), ciphertext: new Uint8Array(plaintext.length + 16) }),
});
const servers = { leader: await makeServer(3), helper: await makeServer(4) };
const WORDS = ['quicksilver', 'herringbone', 'mackerel'];

/** Very different contents of one window: [stream, value] of each event. @type {{[name: string]: [string, any][]}} */
const CONTENTS = {
  nothing: [],
  'one word': [['typed-words', WORDS[0]]],
  'a hundred words': Array.from({ length: 100 }, (_, i) => ['typed-words', WORDS[i % 3] + i]),
  'refused texts': Array.from({ length: 7 }, (_, i) => ['typed-words', i % 2 ? '' : '\ud800']),
  'long texts': Array.from({ length: 5 }, () => ['typed-words', WORDS[1].repeat(1000)]),
  'all at once': [
    ['typed-words', WORDS[2]],
    ['choices', 'red'],
    ['choices', 'mauve'],
    ['theme', 'dark'],
    ['theme', null],
    ['typed-words', 'x'.repeat(400)],
  ],
};

/** The page's recipes: two reports of words, one of a list, and one that is sealed. @param {'visit' | 'day'} window @param {boolean} isSealed */
const recipesOf = (window, isSealed) => {
  const delay_s = window === 'day' ? 3600 : 0;
  const send = { fresh: 'allow', delay_s, pick: 'uniform', window };
  return [
    windowed(window, { limit: { per_day: 2 }, send }),
    listed(window, { send }),
    ...(isSealed ? [coloursRecipe({ limit: { per_day: 2 }, send })] : []),
  ];
};

/** Coins of which those that the network could see are the same each time: delays, keys and sampling. */
const forced = () => {
  let ids = 0;
  return (/** @type {Uint8Array} */ bytes) => {
    crypto.getRandomValues(bytes);
    if (bytes.length === 6) bytes.fill(77);
    if (bytes.length === 16) bytes.fill(++ids);
  };
};

/** Runs one window of a page, and returns all requests but what is inside the records. @param {'visit' | 'day'} window @param {boolean} isSealed @param {[string, any][]} events */
async function trafficOf(window, isSealed, events) {
  const network = fakeNetwork(servers);
  /** @type {any[]} */
  const requests = [];
  /** @type {() => number} */
  let now = () => 0;
  const fetch = async (/** @type {any} */ url, /** @type {any} */ options) => {
    const { method, headers, body, signal: _, ...rest } = options;
    const length = body?.length;
    const shape = typeof body === 'string' ? { ...JSON.parse(body), records: [] } : null;
    requests.push({ url: String(url), at: now(), method, headers, length, shape, rest });
    if (String(url).startsWith(ENDPOINT) && !/tasks/.test(String(url)))
      return new Response('', { status: 202 });
    return network.fetch(url, options);
  };
  const { tab, clock } = browserOf({
    recipes: recipesOf(window, isSealed),
    fetch,
    dapWasm,
    hpke,
    random: forced(),
  });
  now = clock.now;
  const { client, page, grant } = await tab();
  await grant();
  await clock.advance(3_600_000);
  for (const [stream, value] of events) await client.record(stream, value);
  await clock.advance(3_600_000);
  page.hide();
  await settle();
  page.show();
  await clock.advance(DAY_MS);
  page.hide();
  await settle();
  await clock.advance(DAY_MS);
  client.close();
  return requests;
}

for (const window of /** @type {const} */ (['visit', 'day']))
  for (const isSealed of [false, true])
    test(`a ${window}${isSealed ? ', sealed' : ''}: requests are the same whatever happened: number, length, order, times`, async () => {
      const expected = await trafficOf(window, isSealed, CONTENTS.nothing);
      const posts = expected.filter(({ method }) => method === 'POST');
      assert.equal(posts.length, 2 * (isSealed ? 5 : 3), 'two windows');
      for (const [name, events] of Object.entries(CONTENTS))
        assert.deepEqual(await trafficOf(window, isSealed, events), expected, name);
    });

// ---- storage ----

/** Rows without what the coins of a record decide: its number, its bits, its keys and its time. @param {[string, any][]} rows */
const masked = (rows) =>
  rows
    .map(([key, value]) => {
      const text = JSON.stringify(value, (name, each) => {
        if (each instanceof Uint8Array) return Buffer.from(each).toString('hex');
        if (name === 'u' || name === 'id' || name === 'due' || name === 'at') return typeof each;
        if (name === 'record') return each.length;
        return name === 'records' ? each.map((/** @type {string} */ r) => r.length) : each;
      });
      return `${key.replace(/^(queue|done)\/.*/, '$1')} ${text}`;
    })
    .sort();

/** @param {[string, any][]} rows */
function assertNothingRaw(rows) {
  const text = JSON.stringify(rows, (_, each) =>
    each instanceof Uint8Array ? Buffer.from(each).toString('latin1') : each,
  );
  for (const raw of [...WORDS, 'dark', 'mauve'])
    for (const form of [
      raw,
      Buffer.from(raw).toString('hex'),
      Buffer.from(raw).toString('base64').slice(0, 5),
    ])
      assert.ok(!text.includes(form), form);
}

for (const window of /** @type {const} */ (['visit', 'day']))
  test(`a ${window}: after every step storage holds no raw value, and nothing that counts events`, async () => {
    /** Storage after each step of a window in which `events` happen. @param {[string, any][]} events */
    const steps = async (events) => {
      const { tab, clock, storage } = browserOf({ recipes: recipesOf(window, false) });
      /** @type {{[step: string]: string[]}} */
      const seen = {};
      const look = async (/** @type {string} */ step) => {
        const rows = await rowsOf(storage);
        assertNothingRaw(rows);
        seen[step] = masked(rows);
      };
      const a = await tab();
      await a.grant();
      await look('opened');
      for (const [stream, value] of events) {
        await a.client.record(stream, value);
        await look('during');
        assert.deepEqual(seen.during, seen.opened, 'no event leaves more than the one before');
      }
      const b = await tab();
      for (const [stream, value] of events) await b.client.record(stream, value);
      await look('reloaded');
      a.page.putAside();
      await settle();
      a.page.show();
      for (const [stream, value] of events) await a.client.record(stream, value);
      await look('restored');
      assertNothingRaw([['', await a.client.explain()]]);
      await clock.advance(DAY_MS);
      await look('the next day');
      await clock.advance(3_600_000);
      await look('sent');
      await b.client.consent.withdraw();
      await look('withdrawn');
      await b.client.erase();
      await look('erased');
      return seen;
    };
    const { during: _, ...expected } = await steps([]);
    for (const [name, events] of Object.entries(CONTENTS)) {
      const { during, ...seen } = await steps(events.slice(0, 12));
      assert.deepEqual(seen, expected, name);
    }
  });

/** Storage of which one call fails, and the transaction around it with it. @param {any} inner @param {() => boolean} fails */
const failing = (inner, fails) => ({
  ...inner,
  transaction: (/** @type {any} */ task) =>
    inner.transaction(async (/** @type {any} */ tx) => {
      const calls = ['get', 'keys', 'entries', 'put', 'delete', 'clear'].map((name) => [
        name,
        async (/** @type {any[]} */ ...args) => {
          if (fails()) throw new Error('quota');
          return tx[name](...args);
        },
      ]);
      const result = await task(Object.fromEntries(calls));
      if (fails()) throw new Error('the disk is full');
      return result;
    }),
});

for (const window of /** @type {const} */ (['visit', 'day']))
  test(`a ${window}: a failure of storage at any call sends no report twice, or unpaid, and leaves nothing raw`, async () => {
    let reached = true;
    let sentAfterFailure = 0;
    for (let nth = 1; reached; nth++) {
      let count = 0;
      const inner = memoryStorage();
      const { tab, clock } = browserOf({
        recipes: [windowed(window, { limit: { per_day: 2 } })],
        storage: inner,
      });
      const a = await tab({ storage: failing(inner, () => ++count === nth) });
      await a.grant();
      await a.client.record('typed-words', WORDS[0]);
      await a.client.record('typed-words', WORDS[1]);
      assertNothingRaw(await rowsOf(inner));
      a.page.hide();
      await settle();
      a.client.close(); // this page dies, and another one comes
      reached = count >= nth;
      const b = await tab();
      await b.grant();
      await b.client.record('typed-words', WORDS[2]);
      assertNothingRaw(await rowsOf(inner));
      b.page.hide();
      await clock.advance(DAY_MS);
      await b.client.flush();
      await clock.advance(3_600_000);
      /** @type {Map<string, Set<string>>} */
      const bodies = new Map();
      for (const { init, body } of b.edge.requests) {
        const key = init.headers['Idempotency-Key'];
        bodies.set(key, (bodies.get(key) ?? new Set()).add(JSON.stringify(body)));
      }
      assert.ok(bodies.size <= 2, `${nth}: ${bodies.size} reports`);
      assert.ok(
        [...bodies.values()].every(({ size }) => size === 1),
        'one record for a key',
      );
      const [{ year }] = await b.client.ledger();
      assert.ok(year.count <= 2 && year.count >= bodies.size, `${nth}: ${year.count} are paid`);
      assertNothingRaw(await rowsOf(inner));
      sentAfterFailure += Number(reached && bodies.size > 0);
      b.client.close();
    }
    assert.ok(sentAfterFailure > 5, 'most failures do not end a window');
  });

test('an event that is refused takes as many coins and writes as one that counts', async () => {
  for (const window of /** @type {const} */ (['visit', 'day'])) {
    /** @type {string[]} */
    const costs = [];
    for (const value of [WORDS[0], 'x'.repeat(400), '\ud800', 7]) {
      let [writes, coins] = [0, 0];
      const inner = memoryStorage();
      const storage = {
        ...inner,
        transaction: (/** @type {any} */ task) => (writes++, inner.transaction(task)),
      };
      const random = (/** @type {Uint8Array} */ bytes) => {
        coins += bytes.length;
        crypto.getRandomValues(bytes);
      };
      const recipes = [windowed(window, { limit: { per_day: 3 } })];
      const { tab } = browserOf({ recipes, storage, random });
      const { client, grant } = await tab();
      await grant();
      [writes, coins] = [0, 0];
      await client.record('typed-words', value);
      costs.push(`${writes} ${coins}`);
    }
    assert.deepEqual(new Set(costs), new Set([`${window === 'day' ? 1 : 0} ${3 * 40}`]));
  }
});

test('a page that dies between payment and records: another one makes them, and pays nothing more', async () => {
  const inner = memoryStorage();
  const { tab, clock } = browserOf({ recipes: [windowed('day')], storage: inner });
  let puts = 0;
  const storage = {
    ...inner,
    transaction: (/** @type {any} */ task) =>
      inner.transaction((/** @type {any} */ tx) =>
        task({
          ...tx,
          put: async (
            /** @type {any} */ store,
            /** @type {any} */ key,
            /** @type {any} */ value,
          ) => {
            if (store === 'events' && value.slots) throw new Error(`died ${puts++}`);
            return tx.put(store, key, value);
          },
        }),
      ),
  };
  const a = await tab({ storage });
  await a.grant();
  assert.equal(puts, 1);
  assert.deepEqual(codes(await a.client.record('typed-words', WORDS[0])), ['no-window']);
  const b = await tab();
  assert.deepEqual(codes(await b.client.record('typed-words', WORDS[0])), ['entered']);
  await clock.advance(DAY_MS);
  assert.equal(b.edge.requests.length, 1);
  assert.equal((await b.client.ledger())[0].year.count, 2, 'of two days');
});

test('a day is sealed under the keys of the time at which it is sent', async () => {
  const network = fakeNetwork({ ...servers });
  const send = { fresh: 'allow', delay_s: 0, pick: 'uniform', window: 'day' };
  const { tab, clock, storage } = browserOf({
    recipes: [coloursRecipe({ limit: { per_day: 1 }, send })],
    fetch: network.fetch,
    dapWasm,
  });
  network.cacheControl = 'max-age=60';
  const { client, grant } = await tab();
  await grant();
  await client.record('choices', 'red');
  assert.equal(network.uploads.length, 0);
  // The keys that the page asked for when it was loaded are there before others take their place.
  const kept = () => storage.transaction((/** @type {any} */ tx) => tx.get('state', 'keys'));
  while (!(await kept())) await settle();
  network.servers = { leader: await makeServer(5), helper: await makeServer(6) };
  await clock.advance(DAY_MS);
  await client.flush();
  await settle();
  assert.equal(network.uploads.length, 1);
  const [{ body }] = network.uploads;
  const { leader, helper } = readReport(body);
  assert.deepEqual([leader.config, helper.config], [5, 6]);
  assert.equal((await client.reports())[0].state, 'sent');
});
