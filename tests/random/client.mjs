// SPDX-License-Identifier: Apache-2.0
// The client under random orders of calls, answers and pauses: nothing leaves without consent, no
// day has more reports than its recipe allows, one key is one report, and no value is kept or sent.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { load } from 'shoal-client/node';
import { init } from '../../wasm/client/client.js';
import { memoryLocks, memoryStorage } from '../../wasm/client/memory_storage.js';
import {
  DAY,
  ENDPOINT,
  NOON,
  fakeClock,
  fakeEdge,
  itemsRecipe,
  settle,
  wordsRecipe,
} from '../../wasm/test/fixtures.mjs';
import { anyJson, changedValue } from './inputs.mjs';

const DAY_MS = 86_400_000;
const VALUE = 'qqvalueqq';
const LIMITS = new Map([
  ['words', 2],
  ['themes', 3],
]);
const RECIPES = [
  wordsRecipe({
    parameters: { epsilon: 4, k: 16, m: 32 },
    limit: { per_day: 2 },
    send: { fresh: 'allow', delay_s: 3600 },
  }),
  itemsRecipe({ limit: { per_day: 3 } }),
];

/** Everything a storage holds, as text. @param {any} storage @returns {Promise<string>} */
const everything = (storage) =>
  storage.transaction(async (/** @type {any} */ tx) => {
    const rows = [];
    for (const store of ['state', 'queue', 'done']) rows.push(...(await tx.entries(store)));
    return JSON.stringify(rows, (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
  });

/** Two tabs on one storage, one clock and one edge. */
async function makePage() {
  const edge = fakeEdge();
  const clock = fakeClock();
  const [storage, locks] = [memoryStorage(), memoryLocks()];
  const options = /** @type {any} */ ({
    endpoint: ENDPOINT,
    recipes: RECIPES,
    fetch: edge.fetch,
    wasm: load,
    storage,
    locks,
    gpc: () => false,
    now: clock.now,
    setTimer: clock.setTimer,
    clearTimer: clock.clearTimer,
  });
  const tabs = [await init(options), await init(options)];
  return { edge, clock, storage, options, tabs };
}

/** @typedef {Awaited<ReturnType<typeof makePage>>} Page */

/** What a person, a page or the network does. @type {{[name: string]: (page: Page, tab: number, n: number) => Promise<unknown>}} */
const STEPS = {
  grant: ({ tabs }, tab) => tabs[tab].consent.grant(),
  withdraw: ({ tabs }, tab) => tabs[tab].consent.withdraw(),
  erase: ({ tabs }, tab) => tabs[tab].erase(),
  word: ({ tabs }, tab, n) => tabs[tab].record('typed-words', `${VALUE}${n}`),
  typed: ({ tabs }, tab, n) => tabs[tab].type(`${VALUE} ${VALUE}${n} and more`),
  theme: ({ tabs }, tab, n) => tabs[tab].record('theme', n % 2 ? VALUE : 'dark'),
  unknown: ({ tabs }, tab) => tabs[tab].record('nobody', VALUE),
  flush: ({ tabs }, tab) => tabs[tab].flush(),
  minute: ({ clock }) => clock.advance(60_000),
  hour: ({ clock }) => clock.advance(3_600_000),
  day: ({ clock }) => clock.advance(DAY_MS),
  busy: async ({ edge }) =>
    void edge.answers.push({ status: 503, headers: { 'Retry-After': '60' } }),
  offline: async ({ edge }) => void edge.answers.push(new Error('offline')),
  refused: async ({ edge }) => void edge.answers.push(400),
  reload: async (page, tab) => {
    page.tabs[tab].close();
    page.tabs[tab] = await init(page.options);
  },
  look: ({ tabs }, tab) =>
    Promise.all([tabs[tab].reports(), tabs[tab].ledger(), tabs[tab].explain(), tabs[tab].log()]),
};

/** @param {Page} page @param {number} from the requests that are new */
async function checkRequests({ edge, clock }, from) {
  const core = await load();
  const known = new Map();
  const days = Math.floor(clock.now() / DAY_MS) - DAY + 1;
  for (const [i, { url, init, body }] of edge.requests.entries()) {
    const key = init.headers['Idempotency-Key'];
    const text = JSON.stringify(body);
    assert.equal(known.get(key) ?? text, text, 'one key is one report');
    known.set(key, text);
    if (i < from) continue;
    assert.equal(url, `${ENDPOINT}/v1/reports`);
    assert.ok(!text.includes(VALUE) && !JSON.stringify(init.headers).includes(VALUE));
    assert.deepEqual(Object.keys(body), ['key', 'recipe_hash', 'parameters', 'records']);
    const recipe = core.recipe(
      /** @type {any} */ (RECIPES.find((each) => each.recipe === body.key)),
    );
    assert.equal(recipe.hash, body.recipe_hash);
    assert.equal(recipe.recordToText(recipe.recordFromText(body.records[0])), body.records[0]);
    core.release(recipe);
  }
  for (const [name, most] of LIMITS) {
    const reports = [...known.values()].filter((text) => JSON.parse(text).key === name);
    assert.ok(reports.length <= most * days, `${reports.length} of ${name} in ${days} days`);
  }
}

/** @type {import('./run.mjs').Property} */
const calls = {
  name: 'client calls',
  wanted: 1e6,
  async make() {
    const step = fc.record({
      name: fc.constantFrom(
        ...Object.keys(STEPS),
        'word',
        'word',
        'theme',
        'flush',
        'hour',
        'hour',
      ),
      tab: fc.nat(1),
      n: fc.nat(3),
      isAlone: fc.boolean(),
    });
    const steps = fc.array(step, { minLength: 1, maxLength: 25 });
    const isWilling = fc.integer({ min: 0, max: 4 }); // most people begin with a yes
    return fc.asyncProperty(isWilling, steps, async (isWilling, steps) => {
      const page = await makePage();
      if (isWilling) await page.tabs[0].consent.grant();
      const { edge, storage } = page;
      for (const { name, tab, n, isAlone } of steps) {
        const before = edge.requests.length;
        const isOn = () => page.tabs.some(({ consent }) => consent.state === 'granted');
        const wasOn = isOn();
        await STEPS[name](page, tab, n);
        if (isAlone) await settle();
        if (!wasOn && !isOn())
          assert.equal(edge.requests.length, before, 'nothing without consent');
        await checkRequests(page, before);
      }
      assert.ok(!(await everything(storage)).includes(VALUE), 'no value is kept');
      for (const tab of page.tabs) tab.close();
      return true;
    });
  },
};

/** @type {import('./run.mjs').Property} */
const options = {
  name: 'client options',
  wanted: 1e6,
  async make() {
    const good = { endpoint: ENDPOINT, recipes: RECIPES, runs: [], keys: [], debug: false };
    // null and undefined are the platform's TypeError: options.test.mjs.
    const given = fc.oneof(changedValue(good), fc.dictionary(fc.string(), anyJson));
    const more = { fetch: fakeEdge().fetch, wasm: load, gpc: () => false };
    return fc.asyncProperty(given, async (given) => {
      const all = { ...given, ...more, storage: memoryStorage() };
      /** @type {any} */
      let client;
      try {
        client = await init(all);
        assert.equal(await client.consent.grant(), 'granted');
        await client.record('typed-words', VALUE);
        await client.explain();
      } catch (error) {
        const { name, code } = /** @type {any} */ (error);
        assert.deepEqual([name, typeof code], ['ShoalError', 'string'], String(error));
      }
      client?.close();
      return true;
    });
  },
};

export const clientProperties = [calls, options];
