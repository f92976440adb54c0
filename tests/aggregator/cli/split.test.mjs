// SPDX-License-Identifier: Apache-2.0
// shoal estimate --split: rows that other reports picked have figures that hold as they are.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeCli } from './cli_helpers.mjs';

const cli = makeCli('split');
after(cli.release);

const VALUES = 400;
const HALF = 20_000; // devices
const TOP = 40;
const counts = Array.from({ length: VALUES }, (_, i) => Math.round(1e6 / (i + 5)));
const total = counts.reduce((sum, count) => sum + count, 0);
/** How many of a half have a value. @param {string} value */
const truth = (value) => (HALF * counts[Number(value.slice(1))]) / total;

cli.write('counts.tsv', counts.map((count, i) => `w${i}\t${count}\n`).join(''));
cli.write('values.txt', counts.map((_, i) => `w${i}\n`).join(''));
/** @param {string} id @param {...string} more */
const recipe = (id, ...more) =>
  cli.good(
    ...['recipe', 'new', '--id', id, '--expires', '2099-12-31', '--mechanism', 'subset'],
    ...['--values', 'values.txt', '--epsilon', '1', ...more, '-o', `${id}.json`],
  );
recipe('words');

/** @param {string} name @param {string} seed @param {string} [id] */
function half(name, seed, id = 'words') {
  cli.remove(name);
  cli.good(
    ...['simulate', '--recipe', `${id}.json`, '--counts', 'counts.tsv', '--devices', `${HALF}`],
    ...['--seed', seed, '-o', 'batch'],
  );
  cli.good('ingest', '--recipe', `${id}.json`, '-o', name, 'batch');
}
/** @param {...string} more */
const estimate = (...more) =>
  JSON.parse(
    cli.good('estimate', '--recipe', 'words.json', ...more, '--top', `${TOP}`, '--format', 'json')
      .text,
  );
/** @param {any[]} rows */
const valuesOf = (rows) => rows.map(({ value }) => value);
/** @param {any} row */
const isCovered = (row) => row.low <= truth(row.value) && truth(row.value) <= row.high;

test('rows of the top are covered when other reports picked them, and not when their own did', () => {
  let [plain, split, rows, error] = [0, 0, 0, 0];
  for (let seed = 0; seed < 20; seed++) {
    half('a', `a${seed}`);
    half('b', `b${seed}`);
    const [own, other] = [estimate('b').rows, estimate('--split', 'a', 'b').rows];
    assert.equal(own.length, TOP);
    assert.equal(other.length, TOP);
    rows += TOP;
    plain += own.filter(isCovered).length;
    split += other.filter(isCovered).length;
    for (const row of other) error += (row.count - truth(row.value)) / row.stderr;
  }
  // 800 rows: the share that an interval of 95 % covers has a standard error of 0.8 %.
  assert.ok(plain / rows < 0.88, `${plain / rows} of rows that picked themselves`);
  assert.ok(split / rows > 0.925 && split / rows < 0.975, `${split / rows}`);
  assert.ok(Math.abs(error / rows) < 0.15, `mean error ${error / rows}`);
});

test('rows come in the order of the others, with figures of their own', () => {
  half('a', 'a');
  half('b', 'b');
  const [own, picks, both] = [
    estimate('b', '--confidence', '0.9'),
    estimate('a'),
    estimate('--split', 'a', 'b'),
  ];
  assert.deepEqual(valuesOf(both.rows), valuesOf(picks.rows));
  assert.equal(both.n, HALF);
  assert.equal(both.picked_by, HALF);
  assert.equal(own.picked_by, undefined);
  assert.equal(both.adjusting, 'split');
  assert.equal(both.selection.selected, both.selection.of);
  const all = new Map(
    JSON.parse(
      cli.good('estimate', '--recipe', 'words.json', 'b', '--format', 'json').text,
    ).rows.map((/** @type {any} */ row) => [row.value, row]),
  );
  for (const row of both.rows) {
    const { fcr_low, fcr_high, adjusted, adjusted_low, adjusted_high, ...known } = all.get(
      row.value,
    );
    assert.deepEqual(
      { ...row, ...known },
      { ...row },
      'count, interval and rank are those of all rows',
    );
    assert.deepEqual([row.fcr_low, row.fcr_high, row.adjusted], [row.low, row.high, null]);
  }
  const { text } = cli.good(
    'estimate',
    '--recipe',
    'words.json',
    '--split',
    'a',
    'b',
    '--top',
    '2',
  );
  assert.match(text, /\n20,000 other reports picked the rows and their order/);
});

test('a row that either side withholds is not shown', () => {
  recipe('release');
  cli.write('release.json', {
    ...JSON.parse(cli.read('release.json')),
    release: { threshold: 300 },
  });
  half('c', 'c', 'release');
  half('d', 'd', 'release');
  const values = (/** @type {string[]} */ ...more) =>
    JSON.parse(
      cli.good('estimate', '--recipe', 'release.json', ...more, '--format', 'json').text,
    ).rows.map((/** @type {any} */ row) => row.value);
  const [c, d, both] = [values('c'), values('d'), values('--split', 'c', 'd')];
  assert.deepEqual(
    both,
    c.filter((/** @type {string} */ value) => d.includes(value)),
  );
  assert.ok(both.length > 0 && both.length < Math.max(c.length, d.length));
});

test('refuses the same reports, those of other recipes, and none', () => {
  half('a', 'a');
  recipe('other');
  half('e', 'e', 'other');
  const refuses = (
    /** @type {number} */ code,
    /** @type {RegExp} */ says,
    /** @type {string} */ other,
  ) => cli.bad(code, says, 'estimate', '--recipe', 'words.json', '--split', other, 'a');
  refuses(2, /--split takes other reports than those that are counted/, 'a');
  refuses(1, /belongs to recipe other/, 'e');
  refuses(5, /none/, 'none');
});
