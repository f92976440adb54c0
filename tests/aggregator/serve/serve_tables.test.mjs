// SPDX-License-Identifier: Apache-2.0
// Tables that are sorted and searched by the server: the same rows in another order, without a script, with links that keep the rest of
// a question.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dashboard, day } from './dashboard_site.mjs';

const text = (/** @type {string} */ html) =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&amp;', '&')
    .trim();

/**
 * Heads and rows of the table behind a heading.
 * @param {string} html @param {string} [after]
 */
function tableOf(html, after = '') {
  const [, head, body] =
    /<thead[^>]*>(.*?)<\/thead>\s*<tbody[^>]*>(.*?)<\/tbody>/s.exec(
      html.slice(html.indexOf(after)),
    ) ?? [];
  const heads = [...(head ?? '').matchAll(/<th([^>]*)>(.*?)<\/th>/gs)].map(
    ([, attributes, cell]) => ({
      title: text(cell),
      sort: /aria-sort="(\w+)"/.exec(attributes)?.[1],
      link: /href="([^"]*)"/.exec(cell)?.[1].replaceAll('&amp;', '&'),
    }),
  );
  const rows = [...(body ?? '').matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => text(cell)),
  );
  return { heads, rows, column: (/** @type {number} */ i) => rows.map((row) => row[i]) };
}

const number = (/** @type {string} */ cell) =>
  Number(cell.replace('\u2212', '-').replace(/[,+]/g, ''));
/** @param {number[]} list @param {number} sign */
const isSorted = (list, sign) => list.every((one, i) => i === 0 || sign * (one - list[i - 1]) >= 0);

test('the table of collections is sorted by each column, and searched by name', async (t) => {
  const { ask } = await dashboard(t);
  const table = async (/** @type {string} */ query) =>
    tableOf((await ask(`/${query}`)).text, '<h2>Collections');
  assert.deepEqual((await table('')).column(0), ['words', 'theme', 'waiting']);
  for (const [query, names] of /** @type {const} */ ([
    ['?sort=collection', ['theme', 'waiting', 'words']],
    ['?sort=collection&order=desc', ['words', 'waiting', 'theme']],
    ['?sort=reports&order=desc', ['words', 'theme', 'waiting']],
    ['?sort=reports&order=asc', ['waiting', 'theme', 'words']],
    ['?sort=released&order=desc', ['words', 'theme', 'waiting']],
    ['?sort=state&order=desc', ['waiting', 'words', 'theme']],
    ['?find=WOR', ['words']],
    ['?find=o', ['words']],
    ['?find=nothing', []],
  ]))
    assert.deepEqual((await table(query)).column(0), names, query);
  const { heads } = await table('?sort=reports&order=desc&find=%3C%22&top=5');
  assert.deepEqual(
    heads.map(({ title, sort }) => [title, sort]),
    [
      ['collection', undefined],
      ['reports', 'descending'],
      ['last release', undefined],
      ['next may come', undefined],
      ['state', undefined],
      ['largest value over time', undefined],
    ],
  );
  // A second click turns the order round, and every link keeps the rest of the question.
  assert.equal(heads[1].link, '?sort=reports&order=asc&find=%3C%22&top=5');
  assert.equal(heads[0].link, '?sort=collection&order=asc&find=%3C%22&top=5');
  for (const query of [
    '?sort=x',
    '?sort=value',
    '?sort=reports&order=up',
    `?find=${'x'.repeat(65)}`,
  ])
    assert.equal((await ask(`/${query}`)).status, 400, query);
  assert.equal((await ask(`/?find=${'x'.repeat(64)}`)).status, 200);
});

test('the rows of a collection are sorted over all values before the page cuts them', async (t) => {
  const { ask } = await dashboard(t);
  const rows = async (/** @type {string} */ query) => {
    const { text: html, status } = await ask(`/recipes/words${query}`);
    assert.equal(status, 200, query);
    return { html, ...tableOf(html) };
  };
  const all = (await rows('')).rows.map(([value]) => value);
  assert.equal(all.length, 11);
  assert.ok(isSorted((await rows('')).column(2).map(number), -1), 'the largest first');
  for (const [order, sign] of /** @type {const} */ ([
    ['asc', 1],
    ['desc', -1],
  ])) {
    assert.ok(isSorted((await rows(`?sort=estimate&order=${order}`)).column(2).map(number), sign));
    const lows = (await rows(`?sort=interval&order=${order}`)).column(3);
    assert.ok(
      isSorted(
        lows.map((cell) => number(cell.split(' to ')[0])),
        sign,
      ),
    );
  }
  const names = (await rows('?sort=value')).column(0).filter((name) => /^[a-w]+$/.test(name));
  assert.deepEqual(names, ['cod', 'eel', 'herring', 'perch', 'pike', 'salmon', 'tench', 'trout']);
  const last = await rows('?sort=value&order=desc&top=3&period=all');
  assert.deepEqual(last.column(0)[2], 'trout', 'not the largest three in another order');
  assert.equal(last.heads[0].sort, 'descending');
  assert.equal(last.heads[0].link, '?sort=value&order=asc&top=3');
  assert.match(last.html, /<input type="hidden" name="top" value="3">/);
  const some = await rows(`?period=${day(-3)}&find=o&top=4`);
  assert.equal(
    some.heads[0].link,
    `?sort=value&order=asc&find=o&from=${day(-3)}&to=${day(-3)}&top=4`,
  );
  assert.match(some.html, new RegExp(`name="from"[^>]* value="${day(-3)}"`));
  const same = (await rows(some.heads[0].link ?? '')).html;
  assert.ok(same.includes('>4,000</b> reports') || same.includes(`${day(-3)} to ${day(-3)}`));
  assert.deepEqual((await rows('?from=&to=')).rows, (await rows('')).rows, 'empty fields are none');
  const found = await rows('?find=E&sort=value');
  assert.ok(found.column(0).includes('eel') && !found.column(0).includes('cod'));
  assert.match(found.html, /\d of \d values that hold the text shown, of 11/);
  assert.equal((await rows('?find=no-such-value')).rows.length, 0);
  for (const query of ['?sort=reports', '?sort=estimate&order=x'])
    assert.equal((await ask(`/recipes/words${query}`)).status, 400, query);
  assert.equal((await ask('/v1/results/words?sort=x')).status, 200, 'rows have no page');
});

test('both tables over time are sorted, and the changes are searched', async (t) => {
  const { ask } = await dashboard(t);
  const page = async (/** @type {string} */ query) =>
    (await ask(`/recipes/words?view=periods${query}`)).text;
  const figures = (/** @type {string} */ html) => tableOf(html, 'Every figure');
  const changes = (/** @type {string} */ html) => tableOf(html, '<h2>What changed');
  const days = Array.from({ length: 12 }, (_, i) => day(i - 13));
  assert.deepEqual(figures(await page('')).column(0), days);
  assert.deepEqual(figures(await page('&sort=period&order=desc')).column(0), [...days].reverse());
  const byReports = figures(await page('&sort=reports&order=asc'));
  assert.ok(isSorted(byReports.column(1).map(number), 1));
  assert.deepEqual([...byReports.column(0)].sort(), days, 'each period once');
  const rising = changes(await page('&sort=difference&order=desc'));
  assert.ok(isSorted(rising.column(2).map(number), -1));
  assert.deepEqual([rising.rows[0][0], rising.rows[0][4]], ['eel', 'changed']);
  assert.equal(rising.heads[2].link, '?sort=difference&order=asc&view=periods');
  assert.deepEqual(changes(await page('&find=trout')).column(0), ['trout']);
  assert.equal(changes(await page('&sort=verdict&order=desc')).rows[0][4], 'changed');
  assert.equal((await ask('/recipes/words?view=periods&sort=estimate')).status, 400);
});
