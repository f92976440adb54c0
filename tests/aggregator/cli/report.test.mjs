// SPDX-License-Identifier: Apache-2.0
// shoal report from outside: its figures are those of estimate and compare, hostile values stay text, the page works in a browser without
// a script or a request, and what may not be shown is refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { list, makeCli, sketch } from './cli_helpers.mjs';

const { bad, good, has, path, read, release, write } = makeCli('report');
after(release);

const HOSTILE = ['<script>alert(1)</script>', '"quoted\'', '\u202eevil', 'x'.repeat(250)];
const DAYS = ['2026-11-21', '2026-11-22', '2026-11-23'];
const files = () => DAYS.map((day) => `${day}.acc`);

/** value<TAB>count lines, of which fish3 has `factor` times as many. @param {number} factor */
const counts = (factor) =>
  [...HOSTILE, ...Array.from({ length: 30 }, (_, i) => `fish${i}`)]
    .map((name, i) => `${name}\t${Math.round((1000 - 25 * i) * (name === 'fish3' ? factor : 1))}\n`)
    .join('');

before(() => {
  write('r.json', sketch());
  write('d.txt', counts(1).replace(/\t.*/g, ''));
  DAYS.forEach((day, i) => {
    write('c.tsv', counts(1 + i));
    const where = ['--devices', '40000', '--first', String(40000 * i), '--seed', 'report'];
    good('simulate', '--recipe', 'r.json', '--counts', 'c.tsv', ...where, '-o', 'b');
    good('ingest', '--recipe', 'r.json', '-o', `${day}.acc`, 'b');
  });
  good('report', '--recipe', 'r.json', '--dictionary', 'd.txt', '-o', 'page.html', ...files());
});

/** @param {string} text */
const plain = (text) =>
  text
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');

/** Cells of the rows of a table's body. @param {string} table */
const rowsOf = (table) =>
  [...table.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map((row) =>
    [...row[1].matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map((cell) => plain(cell[1])),
  );

/** @param {string} page */
const tablesOf = (page) =>
  [...page.matchAll(/<table[^>]*>.*?<tbody>(.*?)<\/tbody>/gs)].map((table) => rowsOf(table[1]));

/** A value as pages show it. @param {string} value */
const shown = (value) => value.replace('\u202e', '\ufffd');

/** @param {string} text such as −1,234.5 */
const number = (text) => Number(text.replace('\u2212', '-').replaceAll(',', ''));

const asks = ['--recipe', 'r.json', '--dictionary', 'd.txt', '--format', 'json'];

test('the first table is what estimate counts of all together', () => {
  good('merge', '-o', 'all.acc', ...files());
  const { rows } = JSON.parse(good('estimate', ...asks, '--top', '20', 'all.acc').text);
  const [table] = tablesOf(read('page.html'));
  assert.equal(table.length, 20);
  for (const [i, [value, , count, interval]] of table.entries()) {
    assert.equal(value, shown(rows[i].value));
    assert.equal(number(count), Math.round(rows[i].count));
    const [low, high] = interval.split(' to ').map(number);
    assert.deepEqual([low, high], [Math.round(rows[i].low), Math.round(rows[i].high)]);
  }
});

test('each period has its shares, with half the width of their intervals', () => {
  const [, periods] = tablesOf(read('page.html'));
  const heads = /Every figure.*?<thead>(.*?)<\/thead>/s.exec(read('page.html'))?.[1] ?? '';
  const [, , ...values] = rowsOf(heads)[0];
  assert.equal(values.length, 6);
  assert.equal(values[0], 'fish3'); // it grew threefold
  for (const [i, [day, n, ...cells]] of periods.entries()) {
    const result = JSON.parse(good('estimate', ...asks, `${day}.acc`).text);
    assert.deepEqual([day, number(n)], [DAYS[i], result.n]);
    for (const [j, cell] of cells.entries()) {
      const row = result.rows.find((/** @type {any} */ one) => shown(one.value) === values[j]);
      const [share, half] = cell
        .split('\u00b1')
        .map((text) => number(text.replace(/[\s%\u202f]/g, '')));
      assert.ok(Math.abs(share - (100 * row.count) / result.n) <= 0.0051, `${day} ${values[j]}`);
      assert.ok(Math.abs(half - (50 * (row.high - row.low)) / result.n) <= 0.0051);
    }
  }
});

test('the first period against the last is what compare says', () => {
  const [, , changes] = tablesOf(read('page.html'));
  const { rows } = JSON.parse(good('compare', ...asks, files()[0], files()[2]).text);
  assert.equal(changes.length, 12);
  for (const [i, [value, , difference, interval, verdict]] of changes.entries()) {
    assert.equal(value, shown(rows[i].value));
    const decimals = difference.split('.')[1]?.length ?? 0;
    const near = 0.51 * 10 ** -decimals;
    assert.ok(Math.abs(number(difference) - 100 * rows[i].difference) <= near);
    const [low, high] = interval.split(' to ').map(number);
    assert.ok(Math.abs(low - 100 * rows[i].low) <= near);
    assert.ok(Math.abs(high - 100 * rows[i].high) <= near);
    assert.equal(verdict, rows[i].detected ? 'changed' : 'cannot tell');
  }
  assert.deepEqual([changes[0][0], changes[0][4]], ['fish3', 'changed']);
});

test('a withheld period is withheld for a screen reader, too', () => {
  write('secret.json', sketch({ recipe: 'secret', release: { threshold: 3000 } }));
  for (const i of [0, 1]) {
    write('c.tsv', counts(1 + 2 * i)); // of fish3 about 1,500 devices, then 4,500
    const where = ['--devices', '40000', '--first', String(40000 * i), '--seed', 'secret'];
    good('simulate', '--recipe', 'secret.json', '--counts', 'c.tsv', ...where, '-o', 'b');
    good('ingest', '--recipe', 'secret.json', '-o', `secret${i}.acc`, 'b');
  }
  const one = ['--recipe', 'secret.json', '--dictionary', 'd.txt', '-o', 'secret.html'];
  good('report', ...one, 'secret0.acc', 'secret1.acc');
  const labels = [...read('secret.html').matchAll(/aria-label="(fish3: [^"]*)"/g)];
  assert.equal(labels.length, 1);
  assert.match(
    labels[0][1],
    /^fish3: withheld in secret0, 1[01]\.\d+ percent in secret1; the table below has every figure$/,
  );
});

test('one accumulator, a mean and a variable have their pages', () => {
  good('report', '--recipe', 'r.json', '--dictionary', 'd.txt', '-o', 'one.html', files()[0]);
  assert.equal(tablesOf(read('one.html')).length, 1);
  write('mean.json', {
    ...list([], 2),
    recipe: 'age',
    value: 'number',
    mechanism: 'one-bit-mean',
    parameters: { epsilon: 2, low: 0, high: 100 },
  });
  write('ages.tsv', '30\t10\n50\t10\n');
  for (const i of [0, 1]) {
    const where = ['--devices', '20000', '--first', String(20000 * i), '--seed', 'ages'];
    good('simulate', '--recipe', 'mean.json', '--counts', 'ages.tsv', ...where, '-o', 'b');
    good('ingest', '--recipe', 'mean.json', '-o', `age${i}.acc`, 'b');
  }
  good('report', '--recipe', 'mean.json', '-o', 'mean.html', 'age0.acc', 'age1.acc');
  assert.match(read('mean.html'), /The mean in each period/);
  const [, periods] = tablesOf(read('mean.html'));
  for (const [, n, cell] of periods) {
    assert.equal(n, '20,000');
    // The standard error of the mean is about 1: 0.66 of the range over the root of 20,000, and more.
    assert.ok(Math.abs(number(cell.split(' ')[0]) - 40) < 5, cell);
  }
});

test('what may not be shown is refused, and no page is left', () => {
  write('strict.json', { ...sketch(), cohort: { minimum: 50000 } });
  const page = ['-o', 'never.html'];
  const small = ['--devices', '40000', '--seed', 'small'];
  good('simulate', '--recipe', 'strict.json', '--counts', 'c.tsv', ...small, '-o', 'b');
  good('ingest', '--recipe', 'strict.json', '-o', 'small.acc', 'b');
  const strict = ['--recipe', 'strict.json', '--dictionary', 'd.txt', ...page];
  bad(3, /minimum/, 'report', ...strict, 'small.acc');
  // Together they are enough, and a period is not.
  const more = ['--devices', '40000', '--first', '40000', '--seed', 'small'];
  good('simulate', '--recipe', 'strict.json', '--counts', 'c.tsv', ...more, '-o', 'b');
  good('ingest', '--recipe', 'strict.json', '-o', 'more.acc', 'b');
  bad(3, /small: .*minimum/, 'report', ...strict, 'small.acc', 'more.acc');
  const plainly = ['--recipe', 'r.json', '--dictionary', 'd.txt', ...page];
  bad(1, /2026-11-21: .*both/, 'report', ...plainly, files()[0], files()[1], files()[0]);
  bad(1, /recipe/, 'report', ...plainly, 'small.acc');
  bad(2, /takes one to 400/, 'report', ...plainly);
  bad(2, /no variables/, 'report', ...plainly, '--variable', 'x', files()[0]);
  bad(1, /memory/, 'report', ...plainly, '--memory', '1M', files()[0]);
  assert.ok(!has('never.html'));
});

test('in a browser: no script, no request, no word of the console, no sideways scroll', async () => {
  const browser = await launchBrowser();
  try {
    for (const width of [390, 1280]) {
      const context = await browser.newContext({ viewport: { width, height: 844 } });
      const page = await context.newPage();
      /** @type {string[]} */
      const seen = [];
      page.on('console', (message) => seen.push(message.text()));
      page.on('pageerror', (error) => seen.push(String(error)));
      page.on('request', (request) => seen.push(request.url()));
      const url = pathToFileURL(path('page.html')).href;
      await page.goto(url);
      assert.deepEqual(seen, [url]);
      const sideways = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.ok(Number(sideways) <= 0);
      assert.equal(await page.evaluate('document.scripts.length'), 0);
      // The styles are let in by their hashes: both sheets take effect.
      assert.equal(
        await page.evaluate("getComputedStyle(document.querySelector('.trend')).position"),
        'relative',
      );
      assert.equal(
        await page.evaluate("getComputedStyle(document.querySelector('section')).borderStyle"),
        'solid',
      );
      const names = await page.evaluate(
        "[...document.querySelectorAll('td.value')].map((cell) => cell.textContent)",
      );
      assert.ok(/** @type {string[]} */ (names).includes(HOSTILE[0]));
      await context.close();
    }
  } finally {
    await browser.close();
  }
});
