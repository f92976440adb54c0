// SPDX-License-Identifier: Apache-2.0
// Visitors and funnels: what only the device knows, what it tells and when, what it remembers and for how long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, codes, itemsRecipe } from '../fixtures.mjs';
import { DAY_MS, browserOf, rowsOf } from '../window_fixtures.mjs';
import '../../client/observe.js'; // loaded before a page imports it, so that no test waits for the disk

const WEEKS = [...Array.from({ length: 12 }, (_, i) => `${i}`), '12 or more'];
const KINDS = /** @type {[string, string[]][]} */ ([
  ['day', ['new', 'returning']],
  ['week', WEEKS],
  ['month', ['new', 'returning']],
]);
// At epsilon 16 and more a record of a short list is its value, but for one in a million.
const recipeOf = (/** @type {string} */ kind, /** @type {string[]} */ values) =>
  itemsRecipe({
    recipe: `visitors-${kind}`,
    analysis: `visitors-${kind}`,
    stream: `visitors-${kind}`,
    mechanism: 'grr',
    parameters: { epsilon: 16, values },
    limit: { per_day: 1 },
    expires: '2030-01-01',
  });
const ALL = KINDS.map(([kind, values]) => recipeOf(kind, values));

/** What was sent, by kind, in order. @param {any} edge */
const told = (edge) =>
  edge.requests.map((/** @type {any} */ { body }) => {
    const kind = body.key.slice('visitors-'.length);
    const values = KINDS.find(([name]) => name === kind)?.[1] ?? [];
    return `${kind} ${values[Number(body.records[0])]}`;
  });

// DAY is a Monday plus some days: week numbers below are counted from it.
const monday = DAY - ((DAY + 3) % 7);

test('tells new and returning once a day, a week and a month', async () => {
  const { clock, tab } = browserOf({ recipes: ALL });
  const { client, grant, edge } = await tab();
  await clock.advance(((monday + 7 - DAY) * DAY_MS) | 0); // noon of a Monday
  await grant();
  assert.deepEqual(codes(await client.arrive()), ['queued', 'queued', 'queued']);
  assert.deepEqual(codes(await client.arrive()), [], 'once a day');
  await client.flush();
  assert.deepEqual(told(edge).sort(), ['day new', 'month new', 'week 0']);
  await clock.advance(3 * DAY_MS);
  assert.deepEqual(codes(await client.arrive()), ['queued'], 'Thursday of the same week');
  await clock.advance(4 * DAY_MS);
  assert.deepEqual(codes(await client.arrive()), ['queued', 'queued'], 'Monday: a day and a week');
  await clock.advance(13 * 7 * DAY_MS);
  assert.deepEqual(codes(await client.arrive()), ['queued', 'queued', 'queued']);
  await client.flush();
  assert.deepEqual(told(edge).slice(3).sort(), [
    'day returning',
    'day returning',
    'day returning',
    'month returning',
    'week 1',
    'week 12 or more',
  ]);
});

test('a device that stays away for more than 400 days is a new one', async () => {
  const { clock, storage, tab } = browserOf({ recipes: [ALL[1]] });
  const { client, grant, edge } = await tab();
  await grant();
  await client.arrive();
  await clock.advance(401 * DAY_MS);
  await client.arrive();
  await client.flush();
  assert.deepEqual(told(edge), ['week 0', 'week 0']);
  const [, row] = (await rowsOf(storage)).find(([key]) => key === 'events/~visits') ?? [];
  assert.deepEqual(row, { first: DAY + 401, last: DAY + 401, told: { week: DAY + 401 } });
});

test('a visit that could not be told is told by the next one of the period', async () => {
  const patient = { ...ALL[1], send: { delay_s: 0, fresh: 'wait' } };
  const { clock, tab } = browserOf({ recipes: [patient] });
  const { client, grant, edge } = await tab();
  await clock.advance(((monday + 7 - DAY) * DAY_MS) | 0);
  await grant();
  assert.deepEqual(codes(await client.arrive()), ['fresh']);
  await clock.advance(DAY_MS);
  assert.deepEqual(codes(await client.arrive()), ['queued']);
  await client.flush();
  assert.deepEqual(told(edge), ['week 0']);
});

test('remembers nothing without consent, without a recipe, and after a withdrawal', async () => {
  const { storage, tab } = browserOf({ recipes: ALL });
  const { client, grant } = await tab();
  assert.deepEqual(codes(await client.arrive()), ['no-consent']);
  const kept = async () => (await rowsOf(storage)).some(([key]) => key === 'events/~visits');
  assert.equal(await kept(), false);
  await grant();
  await client.arrive();
  assert.equal(await kept(), true);
  await client.consent.withdraw();
  assert.equal(await kept(), false);
  const other = browserOf({ recipes: [itemsRecipe()] });
  const page = await other.tab();
  await page.grant();
  assert.deepEqual(codes(await page.client.arrive()), ['unknown-stream']);
  assert.ok(!(await rowsOf(other.storage)).some(([key]) => key.startsWith('events/')));
});

test('streams may have other names, and what is no kind is refused', async () => {
  const { tab } = browserOf({ recipes: [{ ...ALL[0], stream: 'guests' }] });
  const { client, grant } = await tab();
  await grant();
  assert.deepEqual(codes(await client.arrive({ day: 'guests' })), ['queued']);
  assert.deepEqual(codes(await client.arrive(/** @type {any} */ ({ dya: 'guests' }))), [
    'unknown-stream',
  ]);
});

/** A funnel of three steps. @param {'visit' | 'day'} window @param {any} [more] */
const funnel = (window, more) => ({
  ...itemsRecipe(),
  recipe: 'checkout',
  stream: 'checkout',
  value: undefined,
  mechanism: undefined,
  parameters: undefined,
  variables: ['seen', 'cart', 'paid'].map((name) => ({
    name,
    value: 'item',
    mechanism: 'grr',
    parameters: { epsilon: 5.25, values: ['yes', 'no'] },
  })),
  limit: { per_day: 1 },
  records: { keep_days: 30 },
  send: { fresh: 'allow', delay_s: 0, pick: 'uniform', window },
  ...more,
});
const TIMES = 9; // a record of one step is wrong once in a hundred: the most frequent of nine is right
/** The steps of reports, the most frequent of each: y, n, or - for none. @param {any[]} edges of one report each */
function reached(edges) {
  const records = edges.map(({ requests }) => {
    assert.equal(requests.length, 1);
    return requests[0].body.records[0]
      .split(';')
      .map((/** @type {string} */ v) => 'yn-'[Number(v)]);
  });
  const most = (/** @type {number} */ i) =>
    [...'yn-'].find(
      (letter) => records.filter((record) => record[i] === letter).length > TIMES / 2,
    );
  return [0, 1, 2].map(most).join('');
}
/** Does the same in as many browsers. @template T @param {() => Promise<T>} task @returns {Promise<T[]>} */
const often = (task) => Promise.all(Array.from({ length: TIMES }, task));
const json = (/** @type {any} */ recipe) => JSON.parse(JSON.stringify(recipe));

test('a visit reports the steps that it had in the end, once', async () => {
  for (const [steps, expected] of /** @type {[number[], string][]} */ ([
    [[], '---'],
    [[1], 'ynn'],
    [[1, 2], 'yyn'],
    [[1, 2, 3], 'yyy'],
    [[3, 1, 1, 1, 1], 'yny'],
    [[2], 'nyn'],
  ])) {
    const edges = await often(async () => {
      const { tab } = browserOf({ recipes: [json(funnel('visit'))] });
      const { client, grant, edge, page } = await tab();
      await grant();
      for (const step of steps)
        assert.deepEqual(codes(await client.reach('checkout', step)), ['entered']);
      page.hide();
      await client.flush();
      assert.deepEqual(codes(await client.reach('checkout', 1)), ['window-over']);
      return edge;
    });
    assert.equal(reached(edges), expected);
  }
});

test('steps that come at once are all there', async () => {
  const edges = await often(async () => {
    const { tab } = browserOf({ recipes: [json(funnel('visit'))] });
    const { client, grant, edge, page } = await tab();
    await grant();
    await Promise.all([1, 2, 3].map((step) => client.reach('checkout', step)));
    page.hide();
    await client.flush();
    return edge;
  });
  assert.equal(reached(edges), 'yyy');
});

test('a day keeps its steps over pages and tabs, and forgets them when it is over', async () => {
  const edges = await often(async () => {
    const { clock, storage, tab } = browserOf({ recipes: [json(funnel('day'))] });
    const a = await tab();
    await a.grant();
    await a.client.reach('checkout', 1);
    const b = await tab();
    assert.deepEqual(codes(await b.client.reach('checkout', 2)), ['entered']);
    const steps = async () =>
      (await rowsOf(storage))
        .filter(([key]) => key.startsWith('events/'))
        .map(([, row]) => row.steps);
    assert.deepEqual(await steps(), [3]);
    await clock.advance(DAY_MS);
    await a.client.flush();
    assert.deepEqual(await steps(), [undefined], 'the next day has reached nothing');
    return a.edge;
  });
  assert.equal(reached(edges), 'yyn');
});

test('what is no funnel, and no step of it, is told', async () => {
  const { tab } = browserOf({ recipes: [itemsRecipe(), json(funnel('visit'))] });
  const { client, grant } = await tab();
  await grant();
  assert.deepEqual(codes(await client.reach('theme', 1)), ['not-a-funnel']);
  for (const step of [0, 4, 1.5, NaN, /** @type {any} */ ('1')])
    assert.deepEqual(codes(await client.reach('checkout', step)), ['no-step']);
  assert.deepEqual(codes(await client.reach('nothing', 1)), ['unknown-stream']);
});
