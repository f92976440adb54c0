// SPDX-License-Identifier: Apache-2.0
// Joint recipes in shoal report: the heat map has the figures of shoal joint, uncertain cells are marked by a pattern and a word, what is
// below the release threshold stays away, and the page is right in a browser without a finding of axe.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { HOSTILE, keep, tooWide, violations } from '../serve/dashboard_site.mjs';
import { list, makeCli } from './cli_helpers.mjs';

const { bad, good, has, path, read, release, write } = makeCli('report-joint');
after(release);

/** @param {string} id @param {string[]} sections @param {object} [more] */
const news = (id, sections, more) => {
  const { value, mechanism, parameters, ...rest } = list([], 2);
  const variable = (/** @type {string} */ name, /** @type {string[]} */ values) => ({
    ...{ name, value: 'item', mechanism: 'grr', parameters: { epsilon: 3, values } },
  });
  const variables = [variable('section', sections), variable('age', ['young', 'old'])];
  return { ...rest, recipe: id, variables, limit: { per_day: 1 }, ...more };
};

const SECTIONS = ['sport', 'politics', 'chess', 'opera'];
/** Of each hundred; nobody reads of opera when young. */
const PAIRS = [
  ['sport', 'young', 30],
  ['sport', 'old', 12],
  ['politics', 'young', 10],
  ['politics', 'old', 28],
  ['chess', 'young', 8],
  ['chess', 'old', 8],
  ['opera', 'old', 4],
];
const tsv = (/** @type {unknown[][]} */ rows) => rows.map((row) => `${row.join('\t')}\n`).join('');

/** @param {string} name @param {string} counts @param {number} day */
function collect(name, counts, day) {
  write('c.tsv', counts);
  const where = ['--devices', '10000', '--first', `${10000 * day}`, '--seed', 'joint'];
  good('simulate', '--recipe', `${name}.json`, '--counts', 'c.tsv', ...where, '-o', 'b');
  good('ingest', '--recipe', `${name}.json`, '-o', `${name}-${day}.acc`, 'b');
}

before(() => {
  write('news.json', news('news', SECTIONS));
  write('secret.json', news('secret', SECTIONS, { release: { threshold: 1000 } }));
  write(
    'hostile.json',
    news(
      'hostile',
      HOSTILE.map((one) => one.slice(0, 250)),
    ),
  );
  for (const name of ['news', 'secret']) for (const day of [0, 1]) collect(name, tsv(PAIRS), day);
  collect('hostile', tsv(HOSTILE.map((one) => [one.slice(0, 250), 'old', 1])), 0);
});

/** The cells of a map, row by row. @param {string} html @returns {{ shade: string, text: string }[][]} */
function map(html) {
  const body = html.split('class="joint"')[1].split('<tbody>')[1].split('</tbody>')[0];
  return (body.match(/<tr>.*?<\/tr>/gs) ?? []).map((row) =>
    [...row.matchAll(/<td(?: class="([^"]*)")?>(.*?)<\/td>/g)].map(([, shade, text]) => ({
      shade: shade ?? '',
      text: text.replace(/<small>/g, '|').replace(/<[^>]*>/g, ''),
    })),
  );
}

/** @param {string} text @param {{ p: number, low: number, high: number }} share */
function assertShare(text, share) {
  const [p, interval] = text.split('|');
  const [low, high] = interval.replace(', unsure', '').split(' to ').map(Number);
  const near = 0.0051 + 0.51 * 10 ** -(p.split('.')[1]?.replace(/\D/g, '').length ?? 0);
  for (const [shown, is] of [
    [parseFloat(p), share.p],
    [low, share.low],
    [high, share.high],
  ])
    assert.ok(Math.abs(shown - 100 * is) <= near, `${text} ${share.p}`);
}

test('the map has the shares, marginals and test of shoal joint over all accumulators', () => {
  good('report', '--recipe', 'news.json', '-o', 'news.html', 'news-0.acc', 'news-1.acc');
  good('merge', '-o', 'all.acc', 'news-0.acc', 'news-1.acc');
  const result = JSON.parse(
    good('joint', '--recipe', 'news.json', '--format', 'json', 'all.acc').text,
  );
  const html = read('news.html');
  const rows = map(html);
  const [sections, ages] = result.variables.map((/** @type {any} */ one) => one.categories);
  assert.equal(rows.length, sections.length + 1);
  let unsure = 0;
  for (const [i, x] of sections.entries()) {
    for (const [j, y] of ages.entries()) {
      const cell = result.cells.find((/** @type {any} */ one) => one.x === x && one.y === y);
      assertShare(rows[i][j].text, cell);
      const isUnsure = !(cell.low > 0);
      unsure += Number(isUnsure);
      assert.equal(/unsure/.test(rows[i][j].shade), isUnsure, `${x} ${y}`);
      assert.equal(/unsure/.test(rows[i][j].text), isUnsure, `${x} ${y}`);
    }
    const margin = result.marginals.find(
      (/** @type {any} */ one) => one.variable === 'section' && one.value === x,
    );
    assertShare(rows[i][ages.length].text, margin);
  }
  assert.ok(unsure >= 1, 'the young read no opera');
  assert.match(rows[0][0].text, /more than usual/);
  assert.match(rows[0][1].text, /less than usual/);
  assert.match(html, /<b>Not independent<\/b>: Wald statistic/);
  assert.match(html, /<b>20,000<\/b> reports.*2 periods together/);
  assert.match(html, /epsilon per report/);
});

test('one variable alone has its page, and others are refused by name', () => {
  const recipe = ['--recipe', 'news.json'];
  good('report', ...recipe, '--variable', 'age', '-o', 'age.html', 'news-0.acc', 'news-1.acc');
  assert.match(read('age.html'), /Over time/);
  const page = ['-o', 'never.html', 'news-0.acc'];
  write('ages.txt', 'young\nold\n');
  bad(2, /it is VARIABLE=FILE/, 'report', ...recipe, '--dictionary', 'ages.txt', ...page);
  bad(2, /it is VARIABLE=FILE/, 'report', ...recipe, '--dictionary', 'x=ages.txt', ...page);
  const twice = ['--dictionary', 'age=ages.txt', '--dictionary', 'age=ages.txt'];
  bad(2, /twice for a variable/, 'report', ...recipe, ...twice, ...page);
  good('joint', '--recipe', 'news.json', '--done', '-o', 'done.acc', 'news-0.acc');
  bad(3, /records are gone/, 'report', ...recipe, '-o', 'never.html', 'done.acc');
  write('strict.json', news('strict', SECTIONS, { cohort: { minimum: 50000 } }));
  collect('strict', tsv(PAIRS), 0);
  bad(3, /minimum/, 'report', '--recipe', 'strict.json', '-o', 'never.html', 'strict-0.acc');
  assert.ok(!has('never.html'));
});

test('cells and marginals below the release threshold stay away', () => {
  good('report', '--recipe', 'secret.json', '-o', 'secret.html', 'secret-0.acc', 'secret-1.acc');
  good('merge', '-o', 'all.acc', 'secret-0.acc', 'secret-1.acc');
  const result = JSON.parse(
    good('joint', '--recipe', 'secret.json', '--format', 'json', 'all.acc').text,
  );
  const rows = map(read('secret.html'));
  const cells = rows.slice(0, -1).flatMap((row) => row.slice(0, -1));
  const shown = cells.filter(({ text }) => text !== 'withheld');
  assert.equal(shown.length, result.cells.length);
  assert.ok(shown.length > 0 && shown.length < cells.length);
  for (const { text, shade } of cells) if (text === 'withheld') assert.equal(shade, '');
});

test('maps in a browser, alone and among other recipes, with hostile names', async (t) => {
  const two = ['--recipe', 'news.json', '--recipe', 'hostile.json', '--title', 'maps'];
  good('report', ...two, '-o', 'maps.html', 'news-0.acc', 'hostile-0.acc', 'news-1.acc');
  assert.ok(!read('maps.html').includes('<img'));
  const browser = await launchBrowser();
  t.after(() => browser.close());
  for (const width of [390, 1280])
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      /** @type {string[]} */
      const seen = [];
      page.on('console', (message) => seen.push(message.text()));
      await page.goto(pathToFileURL(path('maps.html')).href);
      assert.equal(await page.title(), 'maps');
      assert.deepEqual(await tooWide(page), [], `${width}`);
      const names =
        "[...document.querySelectorAll('.joint tbody th')].map((one) => one.offsetWidth)";
      for (const one of /** @type {number[]} */ (await page.evaluate(names)))
        assert.ok(one >= 100, `${width}: names have room, ${one}`);
      await keep(page, `report-joint-${width}-${colorScheme}`);
      assert.deepEqual(seen, []);
      assert.deepEqual(await violations(page), [], `${width} ${colorScheme}`);
      assert.match(
        `${await page.evaluate("getComputedStyle(document.querySelector('.joint .unsure')).backgroundImage")}`,
        /repeating-linear-gradient/,
      );
      await context.close();
    }
});
