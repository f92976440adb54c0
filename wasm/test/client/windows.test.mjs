// SPDX-License-Identifier: Apache-2.0
// Windows of recipes that pick uniformly: when they open and end, what is paid, stored and sent, by one tab and by several.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFile } from 'node:fs/promises';
import { hashOf } from '../../bindings/ledger_sum.js';
import { load } from '../../bindings/node.js';
import { SetCore } from '../../bindings/set_core.js';
import { memoryStorage } from '../../client/memory_storage.js';
import {
  DAY,
  WASM,
  codes,
  fragmentsRecipe,
  newsRecipe,
  settle,
  wordsRecipe,
} from '../fixtures.mjs';
import { DAY_MS, browserOf, fakePage, listed, rowsOf, windowed } from '../window_fixtures.mjs';

const why = async (/** @type {any} */ client) => codes(await client.explain());
const spent = async (/** @type {any} */ client) => (await client.ledger())[0].today.count;
/** @param {any} edge */
const keys = (edge) =>
  edge.requests.map((/** @type {any} */ { init }) => init.headers['Idempotency-Key']);

test('a day: paid when it opens, whether anything happens or not; sent when it is over', async () => {
  for (const words of [[], ['one'], ['one', 'two', 'x'.repeat(40), 'three']]) {
    const { clock, tab } = browserOf({ recipes: [windowed('day', { limit: { per_day: 3 } })] });
    const { client, grant, edge } = await tab();
    await grant();
    assert.equal(await spent(client), 3);
    for (const word of words)
      assert.deepEqual(codes(await client.record('typed-words', word)), [
        word.length > 32 ? 'text-rule' : 'entered',
      ]);
    await client.flush();
    await clock.advance(11 * 3_600_000);
    assert.equal(edge.requests.length, 0, 'not before the day is over');
    const open = (await client.explain()).find(({ code }) => code === 'window-open');
    assert.equal(open?.count, 3);
    assert.ok(
      !(await why(client)).includes('budget'),
      'the day is paid, and that is as it should be',
    );
    assert.equal(await spent(client), 3, 'events cost nothing more');
    await clock.advance(3_600_000 + 1000);
    assert.equal(edge.requests.length, 3);
    assert.equal(new Set(keys(edge)).size, 3);
    assert.equal(new Set(edge.requests.map(({ body }) => body.records[0])).size, 3);
    assert.equal(await spent(client), 3, 'and the next day has opened, in the page that stayed');
  }
});

test('a day: all tabs bring events to one window, and one of them sends it', async () => {
  const { clock, storage, tab } = browserOf({ recipes: [windowed('day')] });
  const a = await tab();
  await a.grant();
  const hidden = fakePage('hidden');
  const [b, c] = [await tab(), await tab({ document: hidden })];
  const before = (await rowsOf(storage)).find(([key]) => key.startsWith('events/'))?.[1];
  for (const { client } of [b, c, a])
    assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['entered']);
  const after = (await rowsOf(storage)).find(([key]) => key.startsWith('events/'))?.[1];
  assert.equal(after.slots.length, 1);
  assert.equal(after.slots[0].id, before.slots[0].id, 'one idempotency key from the opening on');
  assert.notEqual(after.slots[0].record, before.slots[0].record);
  assert.equal(await spent(a.client), 1);
  a.client.close();
  await clock.advance(DAY_MS);
  assert.deepEqual(keys(a.edge), [after.slots[0].id]);
  assert.deepEqual(a.edge.requests[0].body.records, [after.slots[0].record]);
  assert.equal(hidden.visibilityState, 'hidden');
});

test('no event opens a window: background, prerendered and worker pages open none', async () => {
  const hidden = fakePage('hidden');
  const prerendered = Object.assign(fakePage(), { prerendering: true });
  for (const window of /** @type {const} */ (['day', 'visit']))
    for (const page of [hidden, prerendered, {}]) {
      const { tab } = browserOf({ recipes: [windowed(window)] });
      const { client, grant } = await tab({ document: page });
      await grant();
      assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['no-window']);
      assert.equal(await spent(client), 0);
      assert.ok((await why(client)).includes('no-window'));
    }
  const { tab } = browserOf({ recipes: [windowed('visit')] });
  const { client, grant, page } = await tab({ document: prerendered });
  await grant();
  page.prerendering = false;
  page.dispatchEvent(new Event('prerenderingchange'));
  assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['entered'], 'once activated');
});

test('what the first event needs is loaded before it, so no request tells of it', async () => {
  let asked = 0;
  const sites = async () => (asked++, { siteOf: (/** @type {string} */ host) => host });
  const own = { recipe: 'visited', stream: 'visits' };
  for (const [value, count] of /** @type {const} */ ([
    ['site', 1],
    ['host', 0],
  ])) {
    asked = 0;
    const { tab } = browserOf({ recipes: [windowed('day', { ...own, value })], sites });
    const { grant } = await tab();
    await grant();
    assert.equal(asked, count, value);
  }
});

test('nothing before consent counts; events that come while a window opens wait for it', async () => {
  for (const window of /** @type {const} */ (['day', 'visit'])) {
    const { tab } = browserOf({ recipes: [windowed(window)] });
    const { client, grant } = await tab();
    assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['no-consent']);
    const granted = client.consent.grant();
    assert.equal(await granted, 'granted');
    assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['entered']);
  }
});

test('a visit: sent in the task in which the page is first hidden, and over after that', async () => {
  const recipes = [windowed('visit', { limit: { per_day: 2 } })];
  const { storage, tab, clock } = browserOf({ recipes });
  const { client, grant, page, edge } = await tab();
  await grant();
  assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['entered']);
  await client.flush();
  await clock.advance(6 * 3_600_000);
  assert.equal(edge.requests.length, 0);
  const held = JSON.stringify(await rowsOf(storage));
  assert.ok(!held.includes('records'), 'the records are in memory only');
  page.hide();
  assert.equal(edge.requests.length, 2, 'in the same task');
  assert.ok(edge.requests.every(({ init }) => init.keepalive));
  assert.equal(new Set(edge.requests.map(({ body }) => body.records[0])).size, 2);
  await settle();
  assert.deepEqual(
    (await client.reports()).map(({ state }) => state),
    ['sent', 'sent'],
  );
  assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['window-over']);
  page.show();
  await settle();
  assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['window-over']);
  const again = await tab();
  assert.deepEqual(codes(await again.client.record('typed-words', 'cod')), ['window-over']);
  for (const each of [page, again.page]) each.hide();
  await settle();
  assert.equal(edge.requests.length, 2);
  page.show();
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['entered'], 'the next day');
  page.hide();
  await settle();
  assert.equal(edge.requests.length, 4);
  assert.equal(new Set(keys(edge)).size, 4);
});

test('a visit: the first visible page of the day claims it, whatever the others do', async () => {
  const { tab } = browserOf({ recipes: [windowed('visit')] });
  const first = await tab({ document: fakePage('hidden') });
  await first.grant();
  const second = await tab();
  first.page.show();
  await settle();
  assert.deepEqual(codes(await first.client.record('typed-words', 'a')), ['window-over']);
  assert.deepEqual(codes(await second.client.record('typed-words', 'a')), ['entered']);
  assert.equal(await spent(first.client), 1);
});

test('a visit: midnight belongs to the day of opening', async () => {
  const { clock, tab } = browserOf({ recipes: [windowed('visit')] });
  const { client, grant, page, edge } = await tab();
  await grant();
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['entered']);
  page.hide();
  await settle();
  assert.equal(edge.requests.length, 1);
  page.show();
  await settle();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['entered'], "the new day's");
  page.hide();
  await settle();
  assert.equal(edge.requests.length, 2);
});

test('a visit: a page that was put aside and restored opens none, not on the next day either', async () => {
  const { clock, tab } = browserOf({ recipes: [windowed('visit')] });
  const { client, grant, page, edge } = await tab();
  await grant();
  page.putAside();
  await settle();
  assert.equal(edge.requests.length, 1, 'once');
  page.show();
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['window-over']);
  page.hide();
  await settle();
  assert.equal(edge.requests.length, 1);
});

test('a visit that nothing answers goes to the queue under its own key; a refused one is dropped', async () => {
  const { clock, tab, storage } = browserOf({ recipes: [windowed('visit')] });
  const { client, grant, page, edge } = await tab();
  await grant();
  edge.answers.push(new Error('offline'), 503);
  page.hide();
  await settle();
  assert.equal((await client.reports())[0].state, 'queued');
  assert.ok((await why(client)).includes('offline'));
  await clock.advance(60_000);
  assert.equal(edge.requests.length, 3);
  assert.equal(new Set(keys(edge)).size, 1);
  assert.equal(new Set(edge.requests.map(({ body }) => JSON.stringify(body))).size, 1);
  assert.equal((await client.reports())[0].state, 'sent');
  assert.deepEqual(await why(client), []);
  await clock.advance(DAY_MS);
  page.show();
  await settle();
  edge.answers.push(400);
  page.hide();
  await clock.advance(DAY_MS);
  assert.equal(edge.requests.length, 4);
  assert.equal((await client.reports())[0].state, 'refused');
  assert.ok(!JSON.stringify(await rowsOf(storage)).includes('queue/'));
});

test('a visit whose page goes with the answer unknown sends nothing a second time', async () => {
  const { clock, tab, storage } = browserOf({ recipes: [windowed('visit')] });
  const { client, grant, page, edge } = await tab();
  await grant();
  edge.answers.push(() => new Promise(() => {}));
  page.hide();
  await settle();
  assert.ok(!(await rowsOf(storage)).some(([key]) => key.startsWith('queue/')));
  await tab();
  await clock.advance(10_000);
  assert.equal(edge.requests.length, 1);
});

test('a visit of more than a page may have in flight: the rest goes through the queue', async () => {
  const recipes = [
    windowed('visit', {
      limit: { per_day: 20 },
      parameters: { epsilon: 4, k: 2048, m: 32768 },
    }),
  ];
  const { clock, tab } = browserOf({ recipes });
  const { client, grant, page, edge } = await tab();
  await grant();
  await client.record('typed-words', 'cod');
  page.hide();
  const atOnce = edge.requests.length;
  const bytes = edge.requests.reduce((sum, { init }) => sum + init.body.length, 0);
  assert.ok(atOnce > 5 && atOnce < 20 && bytes <= 60_000, `${atOnce} of ${bytes} bytes`);
  await clock.advance(60_000);
  assert.equal(edge.requests.length, 20);
  assert.equal(new Set(keys(edge)).size, 20);
});

test('withdrawing in one tab drops the records of all before it resolves', async () => {
  for (const end of ['withdraw', 'erase']) {
    const { tab, storage } = browserOf({ recipes: [windowed('visit')] });
    const a = await tab();
    await a.grant();
    await a.client.record('typed-words', 'cod');
    const b = await tab();
    await (end === 'erase' ? b.client.erase() : b.client.consent.withdraw());
    a.page.hide();
    await settle();
    assert.equal(a.edge.requests.length, 0);
    assert.ok(!JSON.stringify(await rowsOf(storage)).includes('~window'));
    await b.grant();
    const [code] = codes(await b.client.record('typed-words', 'cod'));
    assert.equal(code, end === 'erase' ? 'erased' : 'budget', 'a new consent refills nothing');
  }
  const { tab, clock, storage } = browserOf({ recipes: [windowed('day')] });
  const a = await tab();
  await a.grant();
  await a.client.record('typed-words', 'cod');
  await a.client.consent.withdraw();
  assert.ok(!JSON.stringify(await rowsOf(storage)).includes('record'));
  await clock.advance(DAY_MS);
  assert.equal(a.edge.requests.length, 0);
});

test('withdrawing while a window opens leaves none, whichever step it meets', async () => {
  let met = 0;
  for (const window of /** @type {const} */ (['visit', 'day'])) {
    for (let step = 1; step < 12; step++) {
      const inner = memoryStorage();
      let count = 0;
      /** @type {() => void} */
      let meet = () => {};
      const storage = {
        ...inner,
        transaction: async (/** @type {any} */ task) => {
          if (++count === step) meet();
          return inner.transaction(task);
        },
      };
      const { tab, clock } = browserOf({ recipes: [windowed(window)], storage: inner });
      const a = await tab();
      await a.grant();
      a.client.close();
      await clock.advance(DAY_MS);
      const other = await tab({ document: fakePage('hidden') });
      const requests = a.edge.requests.length;
      /** @type {Promise<unknown> | undefined} */
      let withdrawn;
      meet = () => (withdrawn = other.client.consent.withdraw());
      const b = await tab({ storage });
      const isMet = withdrawn !== undefined;
      await withdrawn;
      meet = () => {};
      met += Number(isMet);
      const after = a.edge.requests.length;
      b.page.hide();
      await clock.advance(DAY_MS);
      assert.ok(after - requests <= 1, 'what an earlier day left');
      if (!isMet) continue;
      assert.equal(a.edge.requests.length, after, `${window} ${step}`);
      assert.ok(!JSON.stringify(await rowsOf(inner)).includes('~window'), `${window} ${step}`);
    }
  }
  assert.ok(met >= 8, `${met} steps were met`);
});

test('a fresh device, a spent budget and a last day: no window, and the reason', async () => {
  const { tab, clock } = browserOf({
    recipes: [
      windowed('day', { send: { fresh: 'wait' } }),
      windowed('visit', { recipe: 'late', stream: 'late', expires: '2026-12-14' }),
      wordsRecipe({ recipe: 'other', stream: 'other', analysis: 'shared' }),
      windowed('day', {
        recipe: 'both',
        stream: 'both',
        analysis: 'shared',
        limit: { per_day: 2 },
      }),
    ],
  });
  assert.equal(Date.UTC(2026, 11, 14) / DAY_MS, DAY + 1);
  const { client, grant, page, edge } = await tab();
  await grant();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['fresh']);
  assert.ok((await why(client)).includes('fresh'));
  assert.deepEqual(codes(await client.record('late', 'a')), ['entered']);
  assert.deepEqual(codes(await client.record('both', 'a')), ['entered']);
  await client.record('other', 'a');
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['entered']);
  await clock.advance(DAY_MS);
  page.hide();
  await settle();
  assert.ok(
    edge.requests.every(({ body }) => body.key !== 'late'),
    'the last day has passed',
  );
  page.show();
  await settle();
  assert.deepEqual(codes(await client.record('late', 'a')), ['expired']);
});

test('a window is paid for as a whole or not at all', async () => {
  const { tab } = browserOf({
    recipes: [
      wordsRecipe({ recipe: 'first', stream: 'first' }),
      windowed('day', { limit: { per_day: 2 } }),
    ],
  });
  const { client, grant, page } = await tab({ document: fakePage('hidden') });
  await grant();
  await client.record('first', 'a');
  page.show();
  await settle();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['budget']);
  assert.equal((await client.ledger()).find(({ recipe }) => recipe === 'words')?.today.count, 1);
});

test('a clock that is set back refills nothing and loses nothing', async () => {
  const { tab, clock, storage } = browserOf({ recipes: [windowed('day')] });
  let shift = 0;
  const now = () => clock.now() + shift;
  const a = await tab({ now });
  await a.grant();
  shift = DAY_MS;
  const b = await tab({ now });
  await settle();
  assert.equal(a.edge.requests.length, 1, 'the first day looks over');
  shift = 0;
  b.page.hide();
  b.page.show();
  await settle();
  assert.deepEqual(codes(await b.client.record('typed-words', 'a')), ['budget']);
  assert.equal(a.edge.requests.length, 1);
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await b.client.record('typed-words', 'a')), ['entered']);
  assert.equal((await rowsOf(storage)).filter(([key]) => key.startsWith('events/')).length, 1);
  await clock.advance(DAY_MS);
  assert.equal(a.edge.requests.length, 2);
  assert.equal(new Set(keys(a.edge)).size, 2);
});

test('a window whose recipe has expired is erased, and so is an old mark of a visit', async () => {
  const { tab, clock, storage } = browserOf({
    recipes: [windowed('day', { expires: '2026-12-13' }), windowed('visit', { analysis: 'b' })],
  });
  const { client, grant, edge, page } = await tab();
  await grant();
  page.hide();
  await settle();
  assert.equal((await rowsOf(storage)).filter(([key]) => key.includes('~window')).length, 2);
  await clock.advance(DAY_MS);
  await client.flush();
  assert.ok(!JSON.stringify(await rowsOf(storage)).includes('~window'));
  assert.equal(edge.requests.filter(({ body }) => body.records[0].length > 0).length, 1);
});

test('each report has a sampling coin of its own, tossed when the window opens', async () => {
  const recipes = [
    windowed('day', { limit: { per_day: 200 }, send: { sample: 0.25 } }),
    windowed('visit', {
      analysis: 'b',
      recipe: 'v',
      limit: { per_day: 200 },
      send: { sample: 0.25 },
    }),
  ];
  const { tab, clock } = browserOf({ recipes });
  const { client, grant, edge, page } = await tab();
  await grant();
  assert.equal(await spent(client), 200, 'all of them are paid');
  page.hide();
  await clock.advance(DAY_MS);
  const of = (/** @type {string} */ name) => edge.requests.filter(({ body }) => body.key === name);
  // Binomial(200, 1/4): mean 50, standard deviation 6.1; six of them are one in 10^9.
  for (const name of ['words', 'v'])
    assert.ok(Math.abs(of(name).length - 50) < 37, `${name}: ${of(name).length} of 200`);
});

test('every kind of value goes through the selection: lists, numbers, hosts, sites, variables, fragments', async () => {
  const sites = async () => ({
    siteOf: (/** @type {string} */ host) => (host === 'a.example' ? host : null),
  });
  const number = {
    value: 'number',
    mechanism: 'one-bit-mean',
    parameters: { epsilon: 2, low: 0, high: 1 },
  };
  const variables = [
    {
      name: 'section',
      value: 'item',
      mechanism: 'grr',
      parameters: { epsilon: 8, values: ['sport', 'arts'] },
    },
    {
      name: 'age',
      value: 'number',
      mechanism: 'grr',
      parameters: { epsilon: 8, size: 4, low: 0, high: 100 },
    },
  ];
  const send = (/** @type {any} */ window) => ({
    fresh: 'allow',
    delay_s: 0,
    pick: 'uniform',
    window,
  });
  for (const window of /** @type {const} */ (['day', 'visit'])) {
    /** @type {[any, any, [any, string][]][]} */
    const cases = [
      [
        listed(window),
        'theme',
        [
          ['dark', 'entered'],
          [2, 'entered'],
          ['no such', 'entered'],
          [null, 'entered'],
        ],
      ],
      [
        listed(window, number),
        'theme',
        [
          [0.5, 'entered'],
          ['0.5', 'not-a-number'],
          [NaN, 'not-a-number'],
        ],
      ],
      [
        windowed(window, { value: 'host' }),
        '',
        [
          ['https://a.example/x', 'entered'],
          ['mailto:a', 'not-a-site'],
        ],
      ],
      [
        windowed(window, { value: 'site' }),
        '',
        [
          ['https://a.example/x', 'entered'],
          ['http://localhost', 'not-a-site'],
        ],
      ],
      [
        newsRecipe({ variables, limit: { per_day: 1 }, send: send(window) }),
        'visits',
        [
          [{ section: 'arts', age: 30 }, 'entered'],
          [{}, 'entered'],
          [{ age: 'x' }, 'not-a-number'],
          [{ shoe: 1 }, 'unknown-variable'],
          ['arts', 'no-variables'],
        ],
      ],
      [
        fragmentsRecipe(
          {},
          { limit: { per_day: 1 }, send: send(window), text: { max: 64, min: 2 } },
        ),
        'typed-words',
        [
          ['cod', 'entered'],
          ['x'.repeat(64), 'entered'],
          ['x', 'text-rule'],
          [7, 'text-rule'],
        ],
      ],
    ];
    for (const [json, stream, events] of cases) {
      for (const [value, code] of events) {
        const { tab, clock, storage } = browserOf({ recipes: [json], sites });
        const { client, grant, edge, page } = await tab();
        await grant();
        const before = JSON.stringify(await rowsOf(storage));
        const outcomes = await (stream ? client.record(stream, value) : client.visit(value));
        assert.deepEqual(codes(outcomes), [code], `${json.mechanism} ${JSON.stringify(value)}`);
        const isSame = JSON.stringify(await rowsOf(storage)) === before;
        assert.equal(isSame, window === 'visit' || code !== 'entered', 'only what counts is kept');
        page.hide();
        await clock.advance(DAY_MS);
        assert.equal(
          edge.requests.length,
          1,
          `${json.mechanism} ${JSON.stringify(value)}: sent either way`,
        );
        const recipe = (await load()).recipe(json);
        const [record] = edge.requests[0].body.records;
        assert.equal(recipe.recordToText(recipe.recordFromText(record)), record);
      }
    }
  }
});

test("under a site's cap a window opens if its reports were reserved, and else not at all", async () => {
  const bytes = await readFile(`${WASM}/dist/shoal-all.wasm`);
  const loadSet = async () => SetCore.create(await WebAssembly.compile(bytes));
  const recipes = [windowed('day', { limit: { per_day: 2 } })]; // epsilon 8 a day
  for (const [epsilon, code] of /** @type {[number, string][]} */ ([
    [8, 'entered'],
    [7.9, 'cap'],
  ])) {
    const core = await loadSet();
    const hash = hashOf(core.ledger, {
      recipes: recipes.map((each) => core.recipe(each)),
      budget: { epsMicro: BigInt(epsilon * 1e6), days: 2 },
    });
    const set = JSON.stringify({ budget: { epsilon, days: 2 }, recipes });
    const { tab, clock } = browserOf({
      recipes: undefined,
      site: { url: 'https://site.example/set.json', hash },
      wasm: loadSet,
    });
    /** @type {any[]} */
    const posts = [];
    const fetch = async (/** @type {any} */ url, /** @type {any} */ init) =>
      init.method === 'POST'
        ? (posts.push(url), new Response('', { status: 202 }))
        : new Response(set);
    const { client, grant } = await tab({ fetch });
    await grant();
    assert.deepEqual(codes(await client.record('typed-words', 'cod')), [code]);
    await clock.advance(DAY_MS);
    assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['cap'], 'two days');
    await clock.advance(DAY_MS);
    assert.deepEqual(codes(await client.record('typed-words', 'cod')), [code]);
    assert.equal(posts.length, code === 'cap' ? 0 : 2);
  }
});
