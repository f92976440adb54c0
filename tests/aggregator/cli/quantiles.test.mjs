// SPDX-License-Identifier: Apache-2.0
// shoal estimate of distributions: --quantiles, --bins and --rows, in every format, of square waves and of buckets; what is refused.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const shoal = process.env.SHOAL_BINARY ?? join(root, 'build/release/shoal');
const skip = !existsSync(shoal) && `${shoal} is not built`;
const folder = mkdtempSync(join(tmpdir(), 'shoal-quantiles-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {string[]} args */
const run = (...args) =>
  execFileSync(shoal, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** @param {string[]} args */
function refused(...args) {
  const { status, stderr } = spawnSync(shoal, args, { cwd: folder, encoding: 'utf8' });
  return { status, stderr };
}

const RANGE = ['--low', '0', '--high', '100'];

/** Writes a recipe and an accumulator of 20,000 numbers 0, 1, ... 99. @param {string} name @param {string[]} options @param {object} [more] of the recipe */
function collect(name, options, more = {}) {
  const [recipe, batch, acc] = ['json', 'batch', 'acc'].map((ending) => `${name}.${ending}`);
  const made = run('recipe', 'new', '--id', name, '--expires', '2099-01-01', ...RANGE, ...options);
  writeFileSync(join(folder, recipe), JSON.stringify({ ...JSON.parse(made), ...more }));
  const counts = Array.from({ length: 100 }, (_, i) => `${i + 0.5}\t${i < 50 ? 3 : 1}\n`);
  writeFileSync(join(folder, 'counts.tsv'), counts.join(''));
  const devices = ['--counts', 'counts.tsv', '--devices', '20000', '--seed', name];
  run('simulate', '--recipe', recipe, ...devices, '-o', batch);
  run('ingest', '--recipe', recipe, '-o', acc, batch);
  return { recipe, acc };
}

/** @param {any} quantile @param {number} truth */
const near = ({ value, low, high }, truth) =>
  assert.ok(low <= value && value <= high && Math.abs(value - truth) < 3, `${value} for ${truth}`);

test('a square wave tells quantiles, a histogram and a distribution function', { skip }, () => {
  const { recipe, acc } = collect('wave', ['--mechanism', 'square-wave', '--epsilon', '4']);
  const json = JSON.parse(run('estimate', '--recipe', recipe, '--format', 'json', acc));
  const { quantiles, histogram, ecdf } = json.distribution;
  assert.equal(json.statistic, 'mean');
  assert.deepEqual(
    quantiles.map((/** @type {any} */ q) => q.p),
    [0.25, 0.5, 0.75, 0.9, 0.99],
  );
  // Three of four numbers lie evenly below 50.
  near(quantiles[0], 100 / 6);
  near(quantiles[1], 100 / 3);
  near(quantiles[3], 80);
  assert.equal(histogram.length, 16);
  assert.ok(
    Math.abs(
      histogram.reduce((/** @type {number} */ sum, /** @type {any} */ bin) => sum + bin.share, 0) -
        1,
    ) < 1e-6,
  );
  assert.ok(Math.abs(histogram[3].share - 0.75 / 8) < 0.02 && histogram[3].from === 18.75);
  assert.equal(ecdf.length, 257);
  assert.ok(Math.abs(ecdf[128].share - 0.75) < 0.02);

  const table = run('estimate', '--recipe', recipe, '--quantiles', '0.05,0.5', '--bins', '4', acc);
  assert.match(table, /^0\.05 +\d/m);
  assert.match(table, /^ +75\.\d* +100\.\d* +\d+\.\d\d %/m);
  assert.doesNotMatch(table, / $/m);

  /** @param {string} rows @param {string[]} more */
  const csv = (rows, ...more) =>
    run('estimate', '--recipe', recipe, '--format', 'csv', '--rows', rows, ...more, acc)
      .trim()
      .split(/\r?\n/);
  assert.equal(csv('quantiles', '--quantiles', '0.5').length, 2);
  assert.equal(csv('quantiles')[0], 'p,value,low,high');
  assert.equal(csv('histogram', '--bins', '20').length, 21);
  assert.equal(csv('ecdf')[0], 'value,share,stderr,low,high');
  assert.match(csv('counts')[0], /^value,mean,/);
  const lines = run('estimate', '--recipe', recipe, '--format', 'ndjson', '--rows', 'ecdf', acc);
  assert.deepEqual(Object.keys(JSON.parse(lines.split('\n')[3])), [
    'value',
    'share',
    'stderr',
    'low',
    'high',
  ]);
});

test('buckets tell quantiles when they are asked', { skip }, () => {
  const { recipe, acc } = collect('buckets', [
    '--mechanism',
    'grr',
    '--epsilon',
    '4',
    '--size',
    '20',
  ]);
  const plain = JSON.parse(run('estimate', '--recipe', recipe, '--format', 'json', acc));
  assert.equal(plain.distribution, undefined);
  const json = JSON.parse(
    run('estimate', '--recipe', recipe, '--format', 'json', '--quantiles', '0.5,0.9', acc),
  );
  assert.equal(json.rows.length, 20);
  near(json.distribution.quantiles[0], 100 / 3);
  near(json.distribution.quantiles[1], 80);
});

test('bins below the release threshold are withheld, and the function with them', { skip }, () => {
  const options = ['--mechanism', 'square-wave', '--epsilon', '4'];
  const { recipe, acc } = collect('kept', options, { release: { threshold: 1000 } });
  const result = JSON.parse(run('estimate', '--recipe', recipe, '--format', 'json', acc));
  const { histogram, ecdf } = result.distribution;
  assert.equal(ecdf, undefined);
  // 16 bins: 1,875 reports in each of the lower eight, 625 in each of the others.
  assert.deepEqual(
    histogram.map((/** @type {any} */ bin) => bin.share === null),
    Array.from({ length: 16 }, (_, i) => i >= 8),
  );
  const table = run('estimate', '--recipe', recipe, acc);
  assert.match(table, /8 of 16 bins are below the release threshold/);
});

test('what has no distribution is refused', { skip }, () => {
  const mean = collect('mean', ['--mechanism', 'one-bit-mean', '--epsilon', '2']);
  /** @type {[string[], RegExp][]} */
  const cases = [
    [['--quantiles', '0.5'], /asks for a mean, which tells no quantiles/],
    [['--quantiles', '0.5,'], /--quantiles is a list of numbers/],
    [['--quantiles', '1'], /--quantiles must be a number from 0\.0001 to 0\.9999/],
    [['--quantiles', Array(33).fill('0.5').join()], /at most 32/],
    [['--bins', '0'], /--bins/],
    [['--rows', 'ecdf'], /--rows goes with --format csv/],
    [['--rows', 'all', '--format', 'csv'], /--rows is counts, quantiles, histogram or ecdf/],
  ];
  for (const [options, words] of cases) {
    const { status, stderr } = refused('estimate', '--recipe', mean.recipe, ...options, mean.acc);
    assert.equal(status, 2, options.join(' '));
    assert.match(stderr, words);
  }
});
