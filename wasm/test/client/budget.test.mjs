// SPDX-License-Identifier: Apache-2.0
// The budget of a site through the real client: the pinned recipe set, reservations, caps that hold in every window
// of days, books of everything ever spent, erasing, and ledgers that version 1 wrote.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { SetCore } from '../../bindings/set_core.js';
import { accountsOf, capsOf, charged, hashOf } from '../../bindings/ledger_sum.js';
import { memoryLocks, memoryStorage } from '../../client/memory_storage.js';
import {
  DAY,
  NOON,
  WASM,
  balances,
  codes,
  epochRecipe,
  fakeClock,
  itemsRecipe,
  makeClient,
  wordsRecipe,
} from '../fixtures.mjs';
import { makePolicy } from '../query_fixtures.mjs';

const DAY_MS = 86_400_000;
const SET_URL = 'https://site.example/recipes.json';
const bytes = await readFile(`${WASM}/dist/shoal-all.wasm`);
const loadSet = async () => SetCore.create(await WebAssembly.compile(bytes));

/** The hash of a set, by the core. @param {any} json */
async function hash({ budget, recipes, runs = [], policy }) {
  const core = await loadSet();
  return hashOf(core.ledger, {
    recipes: [...recipes, ...runs].map((each) => core.recipe(each)),
    budget: budget && { epsMicro: BigInt(budget.epsilon * 1e6), days: budget.days },
    policy: policy && core.policy(policy),
  });
}

/** A client whose page pins a set. @param {any} json @param {any} [more] */
async function siteClient(json, more = {}) {
  const made = await makeClient({
    recipes: undefined,
    site: { url: SET_URL, hash: await hash(json) },
    wasm: loadSet,
    ...more,
    ...served(json, more.fetch),
  });
  return made;
}

/** A fetch that serves the set and takes reports. @param {any} json @param {any} [other] */
const served = (json, other) => ({
  fetch: async (/** @type {any} */ url, /** @type {any} */ init) =>
    String(url) === SET_URL
      ? new Response(JSON.stringify(json))
      : (other ?? (async () => new Response(null, { status: 202 })))(url, init),
});

/** @param {any} [more] */
const words = (more) => wordsRecipe({ limit: { per_day: 1 }, ...more }); // epsilon 4
/** @param {any} [more] */
const themes = (more) => itemsRecipe({ limit: { per_day: 1 }, ...more }); // epsilon 16
const book = async (/** @type {any} */ client) =>
  (await client.ledger()).find((/** @type {any} */ { total }) => total);

test('the set of a site brings its recipes, and is refused as a whole unless it is the pinned one', async () => {
  const json = { budget: { epsilon: 40, days: 2 }, recipes: [words(), themes()] };
  const { client } = await siteClient(json);
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('theme', 'dark')), ['queued']);
  assert.deepEqual((await balances(client)).map(({ recipe }) => recipe).sort(), [
    'themes',
    'words',
  ]);
  assert.deepEqual((await book(client)).caps, [
    { epsilon: 40, days: 2, reserved: 20, until: '2026-12-14' },
  ]);
  const turned = { recipes: [themes(), words()], budget: { days: 2, epsilon: 40 } };
  assert.equal(await hash(turned), await hash(json), 'neither order nor spelling');
  for (const other of [
    { ...json, budget: { epsilon: 41, days: 2 } },
    { ...json, budget: { epsilon: 40, days: 3 } },
    { recipes: json.recipes },
    { ...json, recipes: [words()] },
    { ...json, recipes: [...json.recipes, words({ analysis: 'more' })] },
    { ...json, runs: [epochRecipe()] },
    { ...json, more: 1 },
    { ...json, recipes: [...json.recipes, { recipe: 'none' }] },
    [],
    'nothing',
  ]) {
    const refused = await siteClient(json, served(other));
    const changed = await makeClient({
      ...refused.options,
      storage: memoryStorage(),
      ...served(other),
    });
    await changed.client.consent.grant();
    const [{ code }] = await changed.client.record('theme', 'dark');
    assert.match(code, /^set-(hash|refused)$/);
    assert.deepEqual(codes(await changed.client.explain()), [code], 'one diagnosis');
  }
});

test('a cap refuses by days and openings, in every tab; a page without a budget does not lift it', async () => {
  const budget = { epsilon: 40, days: 3 };
  const shared = { storage: memoryStorage(), locks: memoryLocks() };
  const clock = fakeClock();
  const times = { now: clock.now, setTimer: clock.setTimer, clearTimer: clock.clearTimer };
  const json = { budget, recipes: [words(), themes()] }; // 20 a day
  const first = (await siteClient(json, { ...shared, ...times })).client;
  await first.consent.grant();
  assert.deepEqual(codes(await first.record('theme', 'dark')), ['queued']);
  const stranger = words({ recipe: 'stranger', analysis: 'other' });
  const free = (await makeClient({ ...shared, ...times, recipes: [stranger], wasm: loadSet }))
    .client;
  await free.consent.grant(); // it asks for more than the set did
  assert.deepEqual(codes(await free.record('typed-words', 'a')), ['queued'], '24 of 40');
  // A page does not send what another page's recipe made, so each sends its own.
  for (const page of [first, free]) await page.flush();
  await clock.advance(DAY_MS);
  const second = (await siteClient(json, { ...shared, ...times })).client;
  // Of the day's 20 there is room for 16: that of one member, in canonical order, or of neither.
  const answers = [
    ...codes(await second.record('theme', 'dark')),
    ...codes(await second.record('typed-words', 'a')),
  ];
  await second.flush();
  assert.equal(answers.filter((code) => code === 'cap').length, 1);
  assert.equal((await book(second)).caps[0].reserved <= 40, true);
  assert.ok(codes(await second.explain()).includes('cap'));
  assert.deepEqual(
    codes(await free.record('typed-words', 'b')),
    ['cap'],
    'it was not reserved today',
  );
  for (const page of [first, second]) page.close(); // pages that stay open state their cap every day
  await clock.advance(5 * DAY_MS);
  const later = (await makeClient({ ...shared, ...times, recipes: [stranger], wasm: loadSet }))
    .client;
  assert.deepEqual(codes(await later.record('typed-words', 'c')), ['queued'], 'the cap has ended');
  const { total } = await book(later);
  const accounts = (await later.ledger()).filter((/** @type {any} */ { account }) => account);
  assert.equal(total.count, 4);
  assert.deepEqual(
    accounts.map((/** @type {any} */ { account, kind, count }) => [account, kind, count]).sort(),
    [
      ['keyboard', 'recipe', answers[1] === 'queued' ? 1 : 0],
      ['other', 'recipe', 2],
      ['settings', 'recipe', answers[0] === 'queued' ? 2 : 1],
    ].filter(([, , count]) => count),
    'also of recipes that left the page',
  );
});

test('a page that stays open reserves the next day when it begins', async () => {
  const { client, clock } = await siteClient({
    budget: { epsilon: 8, days: 2 },
    recipes: [words()],
  });
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued']);
  for (let hour = 0; hour < 24; hour++) await clock.advance(DAY_MS / 24);
  assert.deepEqual(codes(await client.record('typed-words', 'b')), ['queued']);
  for (let hour = 0; hour < 24; hour++) await clock.advance(DAY_MS / 24);
  assert.equal((await book(client)).caps[0].reserved, 8);
  client.close();
});

test('a cap holds where a page is hidden, after midnight, and from the day of erasure on', async () => {
  const json = { budget: { epsilon: 4, days: 1 }, recipes: [words(), themes()] };
  /** @param {any} client */
  const told = async (client) => [
    ...codes(await client.record('typed-words', 'a')),
    ...codes(await client.record('theme', 'dark')),
  ];
  const page = Object.assign(new EventTarget(), { visibilityState: 'hidden' });
  const hidden = await siteClient(json, { document: page });
  await hidden.client.consent.grant();
  assert.deepEqual(await told(hidden.client), ['cap', 'cap'], 'nothing was reserved');
  page.visibilityState = 'visible';
  await hidden.client.consent.grant();
  assert.deepEqual(await told(hidden.client), ['queued', 'cap']);

  // Timers may come late, as after a device slept.
  let now = NOON;
  const timers = { now: () => now, setTimer: () => 0, clearTimer: () => {} };
  const late = await siteClient(json, timers);
  await late.client.consent.grant();
  now += DAY_MS;
  assert.deepEqual(await told(late.client), ['cap', 'cap'], 'the cap of yesterday has ended');
  await late.client.consent.grant();
  assert.deepEqual(await told(late.client), ['queued', 'cap']);

  const shared = { storage: memoryStorage(), locks: memoryLocks(), now: () => now };
  const first = await makeClient({ ...shared, recipes: [words(), themes()], wasm: loadSet });
  await first.client.consent.grant();
  await first.client.erase();
  const tight = { budget: { epsilon: 4, days: 3 }, recipes: [words(), themes()] };
  const second = await siteClient(tight, shared);
  await second.client.consent.grant();
  assert.deepEqual(await told(second.client), ['erased', 'erased']);
  now += DAY_MS;
  const third = await makeClient({ ...shared, recipes: [words(), themes()], wasm: loadSet });
  assert.deepEqual(await told(third.client), ['cap', 'cap'], 'what was spent before counts');
});

test('erasing folds the books into one sum without a name, and refills no cap', async () => {
  const json = { budget: { epsilon: 40, days: 30 }, recipes: [words(), themes()] };
  const { client, clock, storage } = await siteClient(json);
  await client.consent.grant();
  await client.record('theme', 'dark');
  await clock.advance(DAY_MS);
  await client.erase();
  const stored = await storage.transaction((/** @type {any} */ tx) => tx.get('state', 'ledger'));
  const last = DAY + 1;
  assert.deepEqual(accountsOf(stored), [
    { kind: 'erased', name: null, field: null, first: last, last, count: 1, epsMicro: 16_000_000 },
  ]);
  assert.deepEqual(capsOf(stored, last), [
    { epsMicro: 40_000_000, days: 30, until: last + 29, usedMicro: 40_000_000 },
  ]);
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('theme', 'dark')), ['erased']);
  await clock.advance(DAY_MS);
  const again = (await siteClient(json, { storage, now: clock.now })).client;
  assert.deepEqual(codes(await again.record('theme', 'dark')), ['cap']);
});

test('runs and queries are charged where they may answer, and refused where the cap is spent', async () => {
  const run = epochRecipe(); // epsilon 0.57 for the whole run, as drawn
  const policy = makePolicy();
  const costs = await siteClient({
    budget: { epsilon: 1e5, days: 30 },
    recipes: [],
    runs: [run],
    policy,
  });
  await costs.client.consent.grant();
  const [{ reserved }] = (await book(costs.client)).caps;
  assert.ok(reserved > 0.58, `${reserved} of the run and all analyses`);
  await costs.client.track.optIn('settings');
  await costs.client.track.sample('views', 1);
  assert.deepEqual(codes(await costs.client.track.answer([run])), ['queued']);
  assert.equal((await book(costs.client)).caps[0].reserved, reserved, 'the reservation covers it');

  const tight = await siteClient({ budget: { epsilon: 0.5, days: 30 }, recipes: [], runs: [run] });
  await tight.client.consent.grant();
  await tight.client.track.optIn('settings');
  await tight.client.track.sample('views', 1);
  assert.deepEqual(codes(await tight.client.track.answer([run])), ['cap']);

  const previous = (await loadSet()).recipe(run).hash;
  const second = epochRecipe(2, { round: { previous } });
  // An epoch after the first is refused, too, once a smaller cap has the window.
  const { storage, clock } = costs;
  await clock.advance(DAY_MS);
  const smaller = await siteClient(
    { budget: { epsilon: 0.5, days: 30 }, recipes: [], runs: [run] },
    { storage, now: clock.now },
  );
  await smaller.client.track.sample('views', 1);
  assert.deepEqual(codes(await smaller.client.track.answer([second])), ['cap']);
});

test('charges beyond what was reserved for an analysis need room under the cap', async () => {
  const core = await loadSet();
  const json = makePolicy();
  const analyses = json.analyses.slice(0, 1);
  const policy = core.policy({ ...json, analyses });
  const [{ analysis }] = analyses;
  const { ledger } = core;
  const wide = { recipes: [], policy, budget: { epsMicro: 1_000_000_000_000n, days: 9 } };
  const whole = capsOf(ledger.reserve(ledger.init(DAY), wide, DAY), DAY)[0].usedMicro;
  const epsMicro = BigInt(whole) + 5n;
  let stored = ledger.reserve(ledger.init(DAY), { ...wide, budget: { epsMicro, days: 9 } }, DAY);
  const charge = (/** @type {number} */ micro) =>
    (stored = charged(ledger, stored, analysis, 1, micro, DAY));
  charge(whole - 1);
  charge(1);
  assert.equal(capsOf(stored, DAY)[0].usedMicro, whole, 'it was reserved');
  charge(5); // as for fields that a later policy names
  assert.equal(capsOf(stored, DAY)[0].usedMicro, whole + 5);
  assert.throws(() => charge(1), { code: 'cap' });
});

test('books that are full can be erased, which refills nothing', async () => {
  const { client, storage } = await makeClient({ recipes: [words()], wasm: loadSet });
  await client.consent.grant();
  const core = await loadSet();
  let full = core.ledger.init(DAY);
  for (let i = 0; i < 512; i++) full = charged(core.ledger, full, `a${i}`, 1, 1000, DAY);
  await storage.transaction((/** @type {any} */ tx) => tx.put('state', 'ledger', full));
  await client.erase();
  const stored = await storage.transaction((/** @type {any} */ tx) => tx.get('state', 'ledger'));
  assert.deepEqual(
    accountsOf(stored).map(({ kind, count, epsMicro }) => [kind, count, epsMicro]),
    [['erased', 512, 512_000]],
  );
});

// ---- random histories ----

/** A generator of small numbers. @param {number} seed */
function lcg(seed) {
  let state = seed >>> 0;
  return (/** @type {number} */ n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** One history of two devices with the same visits and other events. @param {number} seed */
async function history(seed) {
  const below = lcg(seed);
  const parts = [0, 1, 2, 3].map((i) =>
    words({
      recipe: `r${i}`,
      stream: `s${i}`,
      analysis: `a${i % 3}`,
      limit: { per_day: 1 + (i % 2) },
      parameters: { epsilon: 1 + i, k: 64, m: 64 },
    }),
  );
  const pages = await Promise.all(
    [0, 1, 2].map(async (i) => {
      const recipes = parts.filter(() => below(3) > 0);
      if (i === 2 || !recipes.length) return { recipes };
      const json = { budget: { epsilon: 4 + below(30), days: 1 + below(4) }, recipes };
      return { json, site: { url: SET_URL, hash: await hash(json) } };
    }),
  );
  const devices = [0, 1].map(() => ({
    storage: memoryStorage(),
    locks: memoryLocks(),
    /** @type {{day: number, epsilon: number}[]} */ answers: [],
    told: /** @type {string[]} */ ([]),
  }));
  /** @type {{epsilon: number, days: number, last: number}[]} */
  const seen = [];
  let day = DAY;
  let newest = 0; // the latest day on which a page opened
  for (let visit = 0; visit < 12; visit++) {
    day += below(2);
    const clock = below(8) === 0 ? day - 3 : day;
    newest = Math.max(newest, clock);
    const now = () => clock * DAY_MS + (NOON % DAY_MS);
    const page = pages[below(pages.length)];
    const isErased = below(20) === 0;
    if (page.json) seen.push({ ...page.json.budget, last: newest });
    const list = (page.json ?? page).recipes;
    const open = devices.map(async (device, i) => {
      const more = page.json
        ? { recipes: undefined, site: page.site, ...served(page.json) }
        : { recipes: page.recipes };
      const { client } = await makeClient({
        ...more,
        wasm: loadSet,
        storage: device.storage,
        locks: device.locks,
        now,
      });
      if (client.consent.state !== 'granted') await client.consent.grant();
      for (const recipe of list) {
        const known =
          codes(await client.explain()).length >= 0 &&
          (await client.explain()).find(
            (/** @type {any} */ note) =>
              note.recipe === recipe.recipe && note.code === 'cap' && note.count === 0,
          );
        device.told.push(`${visit} ${recipe.recipe} ${known ? 'cap' : ''}`);
      }
      for (const recipe of list) {
        for (let n = 0; n < (visit + i) % 3; n++) {
          const [{ code }] = await client.record(recipe.stream, 'a');
          if (code !== 'queued') continue;
          device.answers.push({ day: newest, epsilon: recipe.parameters.epsilon });
          for (const { epsilon, days, last } of seen) {
            if (last + days <= newest) continue;
            const spent = device.answers
              .filter((each) => each.day + days > newest)
              .reduce((sum, each) => sum + each.epsilon, 0);
            assert.ok(spent <= epsilon, `seed ${seed}: ${spent} of ${epsilon} in ${days} days`);
          }
        }
      }
      if (isErased) await client.erase();
      client.close();
    });
    await Promise.all(open);
    if (isErased) for (const cap of seen) if (cap.last + cap.days > newest) cap.last = newest;
  }
  assert.deepEqual(devices[0].told, devices[1].told, `seed ${seed}: a refusal depends on events`);
  return devices;
}

test('on random histories no window passes a cap, and what a cap refuses depends on visits alone', async (t) => {
  const fresh = Math.floor(Date.now() / 1000);
  t.diagnostic(`fresh seed ${fresh}`);
  let answers = 0;
  let refusals = 0;
  for (const seed of [...Array(12).keys(), 1795393471, fresh, fresh + 1])
    for (const device of await history(seed)) {
      answers += device.answers.length;
      refusals += device.told.filter((line) => line.endsWith('cap')).length;
    }
  assert.ok(answers > 50 && refusals > 50, `${answers} answers, ${refusals} refusals`);
});
