// SPDX-License-Identifier: Apache-2.0
// shoal estimate --post and --total from outside: the whole dictionary before any cut, raw counts kept, never silent. The rules
// themselves are tests/aggregator/estimate/test_post.c's.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { list, makeCli, sketch } from './cli_helpers.mjs';

const { bad, good, release, write } = makeCli('post');
after(release);

/** @typedef {{value: string, count: number, raw: number, stderr: number, low: number, high: number, detected: boolean}} Row */

/** @param {string[]} more @returns {{rows: Row[], post?: {name: string, note: string}, withheld?: number}} */
const estimate = (...more) =>
  JSON.parse(
    good(
      'estimate',
      '--recipe',
      'r.json',
      '--dictionary',
      'c.tsv',
      '--format',
      'json',
      ...more,
      'acc',
    ).text,
  );

/** @param {Row[]} rows */
const sum = (rows) => rows.reduce((all, row) => all + row.count, 0);

/** @type {Row[]} */
let raw;

before(() => {
  write('r.json', sketch());
  write('c.tsv', Array.from({ length: 300 }, (_, i) => `fish${i}\t${i < 10 ? 100 : 0}\n`).join(''));
  good(
    'simulate',
    '--recipe',
    'r.json',
    '--counts',
    'c.tsv',
    '--devices',
    '20000',
    '--seed',
    's',
    '-o',
    'batch',
  );
  good('ingest', '--recipe', 'r.json', '-o', 'acc', 'batch');
  ({ rows: raw } = estimate());
});

/** The rows of a rule, checked to be the raw ones but for `count`. @param {...string} more */
function post(...more) {
  const { rows, post: said } = estimate(...more);
  const before = new Map(raw.map((row) => [row.value, row]));
  assert.equal(rows.length, 300);
  rows.forEach((row, i) => {
    assert.deepEqual(Object.keys(row), [
      'value',
      'count',
      'raw',
      'stderr',
      'low',
      'high',
      'detected',
      'fcr_low',
      'fcr_high',
      'rank_low',
      'rank_high',
      'adjusted',
      'adjusted_low',
      'adjusted_high',
    ]);
    const { count, raw: kept, ...rest } = row;
    const { count: once, ...others } = /** @type {Row} */ (before.get(row.value));
    assert.deepEqual(rest, others);
    assert.equal(kept, once);
    assert.ok(
      i === 0 ||
        rows[i - 1].count > count ||
        (rows[i - 1].count === count && rows[i - 1].raw >= kept),
      'by falling count',
    );
  });
  assert.match(said?.note ?? '', /stderr and interval are those of the raw count$/);
  return { rows, name: said?.name };
}

test('none: the raw counts, and no word of it', () => {
  assert.deepEqual(estimate('--post', 'none'), estimate());
  assert.ok(raw.some((row) => row.count < 0));
  assert.ok(!('post' in estimate()) && !('raw' in raw[0]));
});

test('clip', () => {
  const { rows, name } = post('--post', 'clip');
  assert.equal(name, 'clip');
  for (const row of rows) assert.equal(row.count, Math.max(0, row.raw));
});

test('base-cut', () => {
  const { rows, name } = post('--post', 'base-cut');
  assert.equal(name, 'base-cut');
  for (const row of rows) assert.equal(row.count, row.detected ? row.raw : 0);
  assert.equal(rows.filter((row) => row.count > 0).length, 10);
});

test('norm-sub: adds up to all reports, or to --total', () => {
  for (const [more, total] of /** @type {[string[], number][]} */ ([
    [[], 20000],
    [['--total', '12345'], 12345],
  ])) {
    const { rows, name } = post('--post', 'norm-sub', ...more);
    assert.equal(name, 'norm-sub');
    assert.ok(Math.abs(sum(rows) - total) < 1e-6);
    assert.ok(rows.every((row) => row.count >= 0));
    const shifts = rows.filter((row) => row.count > 0).map((row) => row.raw - row.count);
    assert.ok(Math.max(...shifts) - Math.min(...shifts) < 1e-6);
    for (const row of rows) if (row.count === 0) assert.ok(row.raw <= shifts[0] + 1e-6);
  }
});

test('--total alone shifts by the variances', () => {
  const { rows, name } = post('--total', '20000');
  assert.equal(name, 'total');
  assert.ok(Math.abs(sum(rows) - 20000) < 1e-6);
  const ratios = rows.map((row) => (row.count - row.raw) / row.stderr ** 2);
  assert.ok(Math.max(...ratios) - Math.min(...ratios) < 1e-9 * Math.abs(ratios[0]));
});

test('the whole dictionary is processed before --top and before the release threshold', () => {
  const all = estimate('--post', 'norm-sub').rows;
  // Only what picking costs goes by the rows that are shown.
  const unpicked = (/** @type {any[]} */ rows) =>
    rows.map(({ fcr_low: _low, fcr_high: _high, ...rest }) => rest);
  const three = estimate('--post', 'norm-sub', '--top', '3').rows;
  assert.deepEqual(unpicked(three), unpicked(all.slice(0, 3)));
  // Five of the ten values, 2,000 reports each: about half of them lie above a threshold of 2,000.
  write('t.json', sketch({ release: { threshold: 2000 } }));
  write('five.txt', Array.from({ length: 5 }, (_, i) => `fish${i}\n`).join(''));
  good(
    'simulate',
    '--recipe',
    't.json',
    '--counts',
    'c.tsv',
    '--devices',
    '20000',
    '--seed',
    's',
    '-o',
    't.batch',
  );
  good('ingest', '--recipe', 't.json', '-o', 't.acc', 't.batch');
  /** @param {string[]} more @returns {{rows: Row[], withheld: number}} */
  const released = (...more) =>
    JSON.parse(
      good(
        'estimate',
        '--recipe',
        't.json',
        '--dictionary',
        'five.txt',
        '--format',
        'json',
        ...more,
        't.acc',
      ).text,
    );
  const plain = released();
  assert.ok(
    plain.rows.length > 0 && plain.withheld > 0 && plain.rows.length + plain.withheld === 5,
  );
  // A total of 20,000 lifts each count by 2,000: what was below the threshold raw stays withheld.
  const lifted = released('--total', '20000');
  assert.deepEqual(
    lifted.rows.map((row) => row.raw),
    plain.rows.map((row) => row.count),
  );
  assert.ok(lifted.rows.every((row) => row.count > 3000));
  assert.equal(lifted.withheld, plain.withheld);
  // One of 5,000 lowers each by 1,000: what falls below is withheld too.
  assert.deepEqual(
    [released('--total', '5000').rows, released('--total', '5000').withheld],
    [[], 5],
  );
});

test('a table and other formats say what was done', () => {
  const args = [
    'estimate',
    '--recipe',
    'r.json',
    '--dictionary',
    'c.tsv',
    '--post',
    'clip',
    '--top',
    '2',
  ];
  const table = good(...args, 'acc').text;
  assert.match(table, /^value +count +raw +stderr +low +high$/m);
  assert.match(
    table,
    /\n\nclip: counts below 0 are set to 0: .*those of the raw count\n\nrows were selected \(2 of 300\): .*\nno adjusted figures: fewer than 20 rows are detected\n\nalarms +none; .*\nnot measured .*\n\nepsilon per report /,
  );
  const csv = good(...args, '--format', 'csv', 'acc');
  assert.match(
    csv.text,
    /^value,count,raw,stderr,low,high,detected,fcr_low,fcr_high,rank_low,rank_high,adjusted,adjusted_low,adjusted_high\n/,
  );
  assert.match(csv.err, /shoal: estimate: clip: counts below 0/);
  assert.match(
    good(...args, '--format', 'ndjson', 'acc').err,
    /shoal: estimate: clip: counts below 0/,
  );
  assert.equal(good(...args, '--format', 'json', 'acc').err, '');
});

test('what makes no sense is refused', () => {
  const args = ['estimate', '--recipe', 'r.json', '--dictionary', 'c.tsv'];
  bad(2, /--post is none, clip, norm-sub or base-cut/, ...args, '--post', 'clamp', 'acc');
  bad(
    2,
    /--total goes alone or with --post norm-sub: after clip/,
    ...args,
    '--post',
    'clip',
    '--total',
    '9',
    'acc',
  );
  bad(2, /a total of 20001 is more than the 20000 reports/, ...args, '--total', '20001', 'acc');
  bad(2, /--total must be a whole number from 1/, ...args, '--total', '0', 'acc');
});

test('a list has post-processing too', () => {
  write('list.json', list(['fig', 'pear'], 2));
  write('fruit.tsv', 'fig\t1\npear\t1\n');
  good(
    'simulate',
    '--recipe',
    'list.json',
    '--counts',
    'fruit.tsv',
    '--devices',
    '2000',
    '--seed',
    's',
    '-o',
    'f.batch',
  );
  good('ingest', '--recipe', 'list.json', '-o', 'f.acc', 'f.batch');
  const { rows } = JSON.parse(
    good('estimate', '--recipe', 'list.json', '--post', 'norm-sub', '--format', 'json', 'f.acc')
      .text,
  );
  assert.ok(Math.abs(sum(rows) - 2000) < 1e-9);
});

test('a mean prints as a mean, in its unit, without a test against zero; it has no post-processing', () => {
  write('m.json', {
    recipe: 'steps',
    analysis: 'steps',
    stream: 'walked',
    value: 'number',
    mechanism: 'one-bit-mean',
    parameters: { epsilon: 2, low: 0, high: 20 },
    limit: { per_day: 2 },
    expires: '2099-12-31',
  });
  write('steps.tsv', '3\t5\n8\t3\n15\t2\n');
  good(
    'simulate',
    '--recipe',
    'm.json',
    '--counts',
    'steps.tsv',
    '--devices',
    '40000',
    '--seed',
    's',
    '-o',
    'm.batch',
  );
  good('ingest', '--recipe', 'm.json', '-o', 'm.acc', 'm.batch');
  const json = JSON.parse(good('estimate', '--recipe', 'm.json', '--format', 'json', 'm.acc').text);
  assert.deepEqual([json.statistic, json.rows.length], ['mean', 1]);
  assert.deepEqual(Object.keys(json.rows[0]), ['value', 'mean', 'stderr', 'low', 'high']);
  assert.ok(Math.abs(json.rows[0].mean - 6.9) < 4 * json.rows[0].stderr);
  assert.match(
    good('estimate', '--recipe', 'm.json', '--format', 'csv', 'm.acc').text,
    /^value,mean,stderr,low,high\n"mean",[\d.,]+\n$/,
  );
  // The table has two digits of the error: about 0.065.
  assert.match(
    good('estimate', '--recipe', 'm.json', 'm.acc').text,
    /^steps: 40,000 reports, epsilon 2, 95 % intervals\nmean of numbers from 0 to 20\n\nvalue +mean +stderr +low +high\nmean +\d\.\d{3} +0\.0\d\d +\d\.\d{3} +\d\.\d{3}\n\nalarms +none; .*\nnot measured .*\n\nepsilon per report /,
  );
  bad(
    2,
    /post-processing is for counts, and this recipe estimates a mean/,
    'estimate',
    '--recipe',
    'm.json',
    '--post',
    'clip',
    'm.acc',
  );
});
