// SPDX-License-Identifier: Apache-2.0
// Numbers through the commands: histograms and means from counts files of numbers to results, and recipes for every mechanism.
// The command is $SHOAL_BIN or build/release/shoal.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');
const mechanisms = [
  ...readFileSync(join(root, 'core/mechanism/mechanisms.def'), 'utf8').matchAll(
    /^SHOAL_MECHANISM\(\d+, \w+, "([a-z0-9-]+)"\)/gm,
  ),
].map((match) => match[1]);
const DEVICES = 60000;
/** @type {string} */
let folder;

/** @param {string[]} args */
function shoal(...args) {
  const run = spawnSync(bin, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

/** @param {string[]} args */
function good(...args) {
  const run = shoal(...args);
  assert.equal(run.code, 0, run.err);
  return run.out;
}

/** @param {number} code @param {RegExp} says @param {string[]} args */
function bad(code, says, ...args) {
  const run = shoal(...args);
  assert.match(run.err, says);
  assert.equal(run.code, code, run.err);
}

/** A new recipe. @param {string} name @param {string[]} options @returns {any} */
function fresh(name, ...options) {
  good('recipe', 'new', '--id', name, '--expires', '2099-01-01', '-o', `${name}.json`, ...options);
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
}

/**
 * Simulates, ingests, estimates. Returns the result and how many devices drew each number.
 * @param {string} name of a recipe @param {string} seed
 * @returns {{result: any, truth: [number, number][]}}
 */
function run(name, seed) {
  const recipe = ['--recipe', `${name}.json`];
  rmSync(join(folder, `${name}.acc`), { force: true });
  good(
    'simulate',
    ...recipe,
    '--counts',
    'c.tsv',
    '--devices',
    String(DEVICES),
    '--seed',
    seed,
    '-o',
    'batches',
    '--truth',
    'truth.tsv',
  );
  good('ingest', ...recipe, '-o', `${name}.acc`, 'batches');
  const lines = readFileSync(join(folder, 'truth.tsv'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  return {
    result: JSON.parse(good('estimate', ...recipe, '--format', 'json', `${name}.acc`)),
    truth: lines.map(([number, count]) => [Number(number), Number(count)]),
  };
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-numbers-'));
  writeFileSync(
    join(folder, 'c.tsv'),
    '-40\t5\n-0.000001\t3\n0\t10\n12.5\t40\n19.999999\t8\n20\t30\n79.5\t100\n80\t50\n100\t9\n250.25\t5\n',
  );
  writeFileSync(join(folder, 'list.txt'), 'red\ngreen\nblue\n');
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('a histogram counts every number in its bucket, and covers the truth', () => {
  fresh(
    'bars',
    '--low',
    '0',
    '--high',
    '100',
    '--size',
    '5',
    '--epsilon',
    '2',
    '--mechanism',
    'onehot-asymmetric',
  );
  const { result, truth } = run('bars', 'a');
  const labels = ['[0, 20)', '[20, 40)', '[40, 60)', '[60, 80)', '[80, 100]'];
  const counts = labels.map(() => 0);
  for (const [number, count] of truth)
    counts[Math.min(4, Math.max(0, Math.floor(number / 20)))] += count;
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    DEVICES,
  );
  assert.deepEqual(
    result.rows.map((/** @type {any} */ row) => row.value).sort(),
    [...labels].sort(),
  );
  for (const row of result.rows) {
    const off = (row.count - counts[labels.indexOf(row.value)]) / row.stderr;
    assert.ok(Math.abs(off) < 4, `${row.value} is ${off} standard errors off`);
    assert.equal(row.detected, row.value !== '[40, 60)', row.value);
  }
  // 60,000 reports at epsilon 2: 2 e^1 / (e^2 - 1) sqrt(n) = 208 where nobody is; sharp enough to tell bucket 20 from 0.
  assert.ok(Math.abs(result.rows[4].stderr - 208) < 4, result.rows[4].stderr);
});

test('labels are exact decimals: every number lies where its label says', () => {
  /** @param {string[]} options */
  const labels = (...options) => {
    fresh('ends', '--epsilon', '8', ...options);
    rmSync(join(folder, 'ends.acc'), { force: true });
    good(
      'simulate',
      '--recipe',
      'ends.json',
      '--counts',
      'ends.tsv',
      '--devices',
      '2000',
      '--seed',
      's',
      '-o',
      'batches',
    );
    good('ingest', '--recipe', 'ends.json', '-o', 'ends.acc', 'batches');
    return JSON.parse(good('estimate', '--recipe', 'ends.json', '--format', 'json', 'ends.acc'))
      .rows;
  };
  // 0.1 is not a double, and -0.3 + 0.4 * 3/4 not 0.
  writeFileSync(join(folder, 'ends.tsv'), '-0.3\t1\n');
  assert.deepEqual(
    labels('--low', '-0.3', '--high', '0.1', '--size', '4')
      .map((/** @type {any} */ row) => row.value)
      .sort(),
    ['[-0.1, 0)', '[-0.2, -0.1)', '[-0.3, -0.2)', '[0, 0.1]'],
  );
  // Thirds are no decimals: 3.333333 is in the first bucket, 3.333334 in the second.
  for (const [number, label] of [
    ['3.333333', '[0, 3.333334)'],
    ['3.333334', '[3.333334, 6.666667)'],
    ['6.666666', '[3.333334, 6.666667)'],
    ['6.666667', '[6.666667, 10]'],
    ['10', '[6.666667, 10]'],
  ]) {
    writeFileSync(join(folder, 'ends.tsv'), `${number}\t1\n`);
    const [first, second] = labels('--low', '0', '--high', '10', '--size', '3');
    assert.equal(first.value, label, number);
    assert.ok(first.count > 1800 && second.count < 100, number);
  }
  writeFileSync(join(folder, 'ends.tsv'), '123456789012.75\t1\n');
  assert.equal(
    labels('--low', '123456789012.5', '--high', '123456789013.5', '--size', '4')[0].value,
    '[123456789012.75, 123456789013)',
  );
});

test('a histogram through a sketch says the same', () => {
  const recipe = fresh(
    'wide',
    '--low',
    '0',
    '--high',
    '100',
    '--size',
    '5',
    '--mechanism',
    'hcms',
    '--k',
    '64',
    '--m',
    '256',
  );
  assert.deepEqual([recipe.hash, recipe.value, recipe.parameters.size], ['affine1', 'number', 5]);
  const { result, truth } = run('wide', 'a');
  const tall = truth
    .filter(([number]) => number >= 60 && number < 80)
    .reduce((sum, [, count]) => sum + count, 0);
  const row = result.rows.find((/** @type {any} */ one) => one.value === '[60, 80)');
  assert.ok(
    Math.abs(row.count - tall) < 4 * row.stderr,
    `${row.count} for ${tall}, standard error ${row.stderr}`,
  );
});

test("a mean is within its error of the devices' mean, numbers outside at the ends", () => {
  fresh('mean', '--low', '0', '--high', '100', '--epsilon', '1');
  const { result, truth } = run('mean', 'a');
  const mean =
    truth.reduce((sum, [number, count]) => sum + count * Math.min(100, Math.max(0, number)), 0) /
    DEVICES;
  assert.equal(result.rows.length, 1);
  const row = result.rows[0];
  const found = row.mean ?? row.count;
  assert.equal(row.value, 'mean');
  assert.ok(
    Math.abs(found - mean) < 4 * row.stderr,
    `${found} for ${mean}, standard error ${row.stderr}`,
  );
  assert.ok(row.low < found && found < row.high);
  // (100 / (1 - 2q)) sqrt(v (1 - v) / n), v = q + (mean/100)(1 - 2q), q = 1/(e + 1): a right one, not merely a wide one.
  const q = 1 / (Math.E + 1);
  const v = q + (mean / 100) * (1 - 2 * q);
  assert.ok(
    Math.abs(row.stderr / ((100 / (1 - 2 * q)) * Math.sqrt((v * (1 - v)) / DEVICES)) - 1) < 0.01,
    row.stderr,
  );
  bad(
    2,
    /recipe mean estimates a mean, which has no dictionary/,
    'estimate',
    '--recipe',
    'mean.json',
    '--dictionary',
    'c.tsv',
    'mean.acc',
  );
});

test('what is no number is refused with its line', () => {
  fresh('mean', '--low', '0', '--high', '100');
  for (const text of [
    '1e3',
    '.5',
    '5.',
    '+5',
    '0x10',
    'NaN',
    '1,5',
    '1.0000001',
    '1234567890123',
    ' 5',
    '--5',
    '-',
  ]) {
    writeFileSync(join(folder, 'bad.tsv'), `1\t1\n${text}\t1\n`);
    bad(
      2,
      /bad\.tsv: line 2: the value is not a number of at most 12 digits and six decimals/,
      'simulate',
      '--recipe',
      'mean.json',
      '--counts',
      'bad.tsv',
      '--devices',
      '5',
      '--seed',
      's',
      '-o',
      'x',
    );
  }
});

test('recipe check tells the buckets, the mean and what one-hot costs in the deletion model', () => {
  fresh('bars', '--low', '-5', '--high', '10', '--size', '6', '--epsilon', '2');
  const bars = good('recipe', 'check', 'bars.json');
  assert.match(bars, /^buckets {13}6 of 2\.5 each, from \[-5, -2\.5\) to \[7\.5, 10\];/m);
  // ln((e^2 + 1)/2) = 1.4338: the fair coin against the rare one
  assert.match(bars, /^deletion model {6}1\.434 /m);
  fresh('mean', '--low', '0', '--high', '24');
  const mean = good('recipe', 'check', 'mean.json');
  assert.match(mean, /^mean {16}of numbers from 0 to 24;/m);
  assert.match(mean, /^record {14}1 byte in a batch/m);
  assert.doesNotMatch(mean, /deletion|buckets/);
  if (!mechanisms.includes('onehot-symmetric')) return;
  fresh('symmetric', '--mechanism', 'onehot-symmetric', '--values', 'list.txt', '--epsilon', '3');
  const symmetric = good('recipe', 'check', 'symmetric.json');
  assert.match(symmetric, /^epsilon per report {2}3 \(as drawn: 3\)/m);
  assert.match(symmetric, /^deletion model {6}1\.5 /m);
});

test('recipe check tells what unlimited reports of one value cost', () => {
  fresh(
    'cohorts',
    '--mechanism',
    'rappor',
    '--bits',
    '32',
    '--hashes',
    '1',
    '--p',
    '0.25',
    '--q',
    '0.75',
    '--f',
    '0.5',
  );
  const text = good('recipe', 'check', 'cohorts.json');
  // q* = 0.625, p* = 0.375: ln((0.625/0.375)^2) = 1.021651; 2 ln(0.75/0.25) = 2.197225; both rounded up
  assert.match(text, /^epsilon per report {2}1\.02165[23]? /m);
  assert.match(
    text,
    /^epsilon per value {3}2\.1972[23]\d* \(however many reports of it a person sends\)/m,
  );
  fresh('open');
  assert.doesNotMatch(good('recipe', 'check', 'open.json'), /per value/);
  fresh('open', '--mechanism', 'rappor', '--f', '0');
  assert.match(good('recipe', 'check', 'open.json'), /^epsilon per value {3}no bound/m);
});

test('recipe new writes a recipe for every mechanism, by its defaults, and simulate takes it', () => {
  assert.ok(mechanisms.length >= 4);
  writeFileSync(join(folder, 'some.tsv'), 'red\t3\nblue\t1\n');
  for (const name of mechanisms) {
    const isMean = ['one-bit-mean', 'piecewise', 'square-wave'].includes(name);
    const recipe = fresh(
      'any',
      '--mechanism',
      name,
      ...(isMean ? ['--low', '-1', '--high', '1.5'] : ['--values', 'list.txt']),
    );
    assert.equal(recipe.mechanism, name);
    assert.deepEqual(recipe.parameters.values, isMean ? undefined : ['red', 'green', 'blue'], name);
    assert.equal('seed' in recipe, 'hash' in recipe || ['rappor', 'loloha'].includes(name), name);
    good('recipe', 'check', 'any.json');
    good(
      'simulate',
      '--recipe',
      'any.json',
      '--counts',
      isMean ? 'c.tsv' : 'some.tsv',
      '--devices',
      '10',
      '--seed',
      's',
      '-o',
      'x',
    );
  }
});

test('recipe new for open strings, numbers and indices', () => {
  for (const name of ['cms', 'hcms', 'olh', 'rappor'].filter((one) => mechanisms.includes(one))) {
    assert.equal(fresh('open', '--mechanism', name).hash, 'poly1', name);
  }
  assert.equal(fresh('index', '--mechanism', 'cms', '--size', '2600').hash, 'affine1');
  assert.equal(fresh('auto', '--low', '0', '--high', '1').mechanism, 'one-bit-mean');
  assert.equal(fresh('auto', '--low', '0', '--high', '1', '--size', '9').value, 'number');
  assert.equal(fresh('auto', '--size', '9').mechanism, 'onehot-asymmetric');
  bad(
    2,
    /parameters\.high is missing/,
    'recipe',
    'new',
    '--id',
    'x',
    '--expires',
    '2099-01-01',
    '--low',
    '3',
  );
  bad(
    2,
    /parameters\.low must be below high/,
    'recipe',
    'new',
    '--id',
    'x',
    '--expires',
    '2099-01-01',
    '--low',
    '3',
    '--high',
    '3',
  );
  bad(
    2,
    /parameters\.k is not a field of this mechanism/,
    'recipe',
    'new',
    '--id',
    'x',
    '--expires',
    '2099-01-01',
    '--size',
    '9',
    '--k',
    '3',
  );
  bad(
    2,
    /no mechanism of that name/,
    'recipe',
    'new',
    '--id',
    'x',
    '--expires',
    '2099-01-01',
    '--mechanism',
    'mcs',
  );
});
