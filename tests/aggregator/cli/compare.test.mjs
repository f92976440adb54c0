// SPDX-License-Identifier: Apache-2.0
// shoal compare from outside: figures near the truth, formats, refusals. The law of the differences is tests/aggregator/estimate/test_compare.c's.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { list, makeCli, sketch } from './cli_helpers.mjs';

const { bad, good, read, release, write } = makeCli('compare');
after(release);

/** value<TAB>count lines, fish0 the most frequent; `grown` has `factor` times as many. @param {number} grown @param {number} factor */
const counts = (grown, factor) =>
  Array.from(
    { length: 40 },
    (_, i) => `fish${i}\t${Math.round((i === grown ? factor : 1) * (1000 - 10 * i))}\n`,
  ).join('');

/** @param {string} name @param {string} recipe @param {string} file of counts @param {number} devices */
function collect(name, recipe, file, devices) {
  good(
    'simulate',
    '--recipe',
    recipe,
    '--counts',
    file,
    '--devices',
    String(devices),
    '--seed',
    name,
    '-o',
    `${name}.batch`,
    '--truth',
    `${name}.tsv`,
  );
  good('ingest', '--recipe', recipe, '-o', `${name}.acc`, `${name}.batch`);
}

/** Counts of a --truth file. @param {string} name @returns {Map<string, number>} */
const truth = (name) =>
  new Map(
    read(`${name}.tsv`)
      .trim()
      .split('\n')
      .map((line) => [line.split('\t')[0], Number(line.split('\t')[1])]),
  );

before(() => {
  write('r.json', sketch());
  write('c.tsv', counts(7, 1));
  write('grown.tsv', counts(7, 2));
  collect('may', 'r.json', 'c.tsv', 60000);
  collect('june', 'r.json', 'c.tsv', 90000);
  collect('july', 'r.json', 'grown.tsv', 80000);
  write('s.json', sketch({ seed: 'fedcba9876543210'.repeat(4) }));
  collect('july-s', 's.json', 'grown.tsv', 80000);
});

test('what changed is found, with its sign, its interval and nothing else', () => {
  const json = JSON.parse(
    good(
      'compare',
      '--recipe',
      'r.json',
      '--dictionary',
      'c.tsv',
      '--format',
      'json',
      'may.acc',
      'july.acc',
    ).text,
  );
  assert.deepEqual(Object.keys(json), [
    'schema',
    'a',
    'b',
    'of',
    'confidence',
    'multiple',
    'guarantees',
    'selection',
    'rows',
  ]);
  assert.deepEqual(
    [json.schema, json.of, json.confidence, json.multiple],
    [1, 'share', 0.95, 'bonferroni'],
  );
  const hash = good('recipe', 'hash', 'r.json').text.trim();
  assert.deepEqual(json.a, { recipe: 'fish', recipe_hash: hash, n: 60000, epsilon: 4 });
  assert.deepEqual(json.b, { ...json.a, n: 80000 });
  assert.equal(json.rows.length, 40);
  assert.deepEqual(Object.keys(json.rows[0]), [
    'value',
    'a',
    'b',
    'difference',
    'stderr',
    'low',
    'high',
    'z',
    'detected',
    'fcr_low',
    'fcr_high',
  ]);
  assert.deepEqual(
    json.rows
      .filter((/** @type {any} */ row) => row.detected)
      .map((/** @type {any} */ row) => row.value),
    ['fish7'],
  );
  const [first] = json.rows;
  const expected =
    (truth('july').get('fish7') ?? 0) / 80000 - (truth('may').get('fish7') ?? 0) / 60000;
  assert.ok(
    Math.abs(first.difference - expected) < 4 * first.stderr,
    `${first.difference} for ${expected}`,
  );
  assert.ok(first.low > 0 && first.low < first.difference && first.difference < first.high);
});

test('differences are those of the two estimates, their variances add where hash rows differ', () => {
  /** @param {string} name @param {string} recipe @returns {Map<string, any>} */
  const estimate = (name, recipe) =>
    new Map(
      JSON.parse(
        good(
          'estimate',
          '--recipe',
          recipe,
          '--dictionary',
          'c.tsv',
          '--format',
          'json',
          `${name}.acc`,
        ).text,
      ).rows.map((/** @type {any} */ row) => [row.value, row]),
    );
  const [a, b] = [estimate('may', 'r.json'), estimate('july-s', 's.json')];
  for (const [of, na, nb] of [
    ['share', 60000, 80000],
    ['count', 1, 1],
  ]) {
    const lines = good(
      'compare',
      '--recipe',
      'r.json',
      '--recipe-b',
      's.json',
      '--dictionary',
      'c.tsv',
      '--of',
      String(of),
      '--format',
      'ndjson',
      'may.acc',
      'july-s.acc',
    )
      .text.trim()
      .split('\n');
    assert.equal(lines.length, 40);
    for (const row of lines.map((line) => JSON.parse(line))) {
      const [x, y] = [a.get(row.value), b.get(row.value)];
      const close = (/** @type {number} */ got, /** @type {number} */ want) =>
        assert.ok(Math.abs(got - want) <= 1e-12 * (1 + Math.abs(want)), `${got}, not ${want}`);
      close(row.difference, y.count / Number(nb) - x.count / Number(na));
      close(row.stderr, Math.hypot(x.stderr / Number(na), y.stderr / Number(nb)));
    }
  }
});

test('two periods of a crowd that did not change: nothing is detected; shares forgive that one is larger', () => {
  const rows = JSON.parse(
    good(
      'compare',
      '--recipe',
      'r.json',
      '--dictionary',
      'c.tsv',
      '--format',
      'json',
      'may.acc',
      'june.acc',
    ).text,
  ).rows;
  assert.ok(rows.every((/** @type {any} */ row) => !row.detected));
  const table = good(
    'compare',
    '--recipe',
    'r.json',
    '--dictionary',
    'c.tsv',
    '--top',
    '3',
    'may.acc',
    'june.acc',
  ).text;
  assert.match(
    table,
    /^a: fish, 60,000 reports, epsilon 4\nb: fish, 90,000 reports, epsilon 4\nb less a, shares in %, 95 % intervals\n\nvalue/,
  );
  assert.equal(table.match(/cannot tell\n/g)?.length, 3);
  // As counts, 90,000 are more than 60,000.
  const of = JSON.parse(
    good(
      'compare',
      '--recipe',
      'r.json',
      '--dictionary',
      'c.tsv',
      '--of',
      'count',
      '--format',
      'json',
      'may.acc',
      'june.acc',
    ).text,
  );
  assert.ok(
    of.rows.filter((/** @type {any} */ row) => row.detected && row.difference > 0).length > 30,
  );
});

test('two recipes with the same values', () => {
  write('list.json', list(['fig', 'pear', 'apple'], 2));
  write('other.json', list(['fig', 'pear', 'apple'], 6, { recipe: 'fruit-2' }));
  write('turned.json', list(['apple', 'pear', 'fig'], 6, { recipe: 'fruit-3' }));
  write('fruit.tsv', 'fig\t6\npear\t3\napple\t1\n');
  collect('one', 'list.json', 'fruit.tsv', 20000);
  collect('two', 'other.json', 'fruit.tsv', 30000);
  collect('three', 'turned.json', 'fruit.tsv', 30000);
  const json = JSON.parse(
    good(
      'compare',
      '--recipe',
      'list.json',
      '--recipe-b',
      'other.json',
      '--format',
      'json',
      'one.acc',
      'two.acc',
    ).text,
  );
  assert.deepEqual(
    [json.a.recipe, json.b.recipe, json.a.epsilon, json.b.epsilon],
    ['fruit', 'fruit-2', 2, 6],
  );
  assert.ok(json.rows.every((/** @type {any} */ row) => !row.detected && Math.abs(row.z) < 4.5));
  bad(
    2,
    /the recipes' lists differ; --dictionary says which values to compare/,
    'compare',
    '--recipe',
    'list.json',
    '--recipe-b',
    'turned.json',
    'one.acc',
    'three.acc',
  );
  const named = JSON.parse(
    good(
      'compare',
      '--recipe',
      'list.json',
      '--recipe-b',
      'turned.json',
      '--dictionary',
      'fruit.tsv',
      '--format',
      'json',
      'one.acc',
      'three.acc',
    ).text,
  );
  assert.ok(
    named.rows.length === 3 && named.rows.every((/** @type {any} */ row) => Math.abs(row.z) < 4.5),
  );
  bad(1, /two\.acc: .*fruit-2/, 'compare', '--recipe', 'list.json', 'one.acc', 'two.acc');
});

test('means are compared in their unit', () => {
  /** @param {string} id @param {object} parameters */
  const number = (id, parameters) => ({
    recipe: id,
    analysis: 'steps',
    stream: 'walked',
    value: 'number',
    mechanism: 'one-bit-mean',
    parameters,
    limit: { per_day: 2 },
    expires: '2099-12-31',
  });
  write('steps.json', number('steps', { epsilon: 2, low: 0, high: 20000 }));
  write('wide.json', number('wide', { epsilon: 4, low: -10000, high: 50000 }));
  write('spring.tsv', '3000\t5\n8000\t3\n15000\t2\n'); // 6,900 on average
  write('summer.tsv', '3000\t3\n8000\t3\n15000\t4\n'); // 9,300
  collect('spring', 'steps.json', 'spring.tsv', 50000);
  collect('summer', 'wide.json', 'summer.tsv', 50000);
  const json = JSON.parse(
    good(
      'compare',
      '--recipe',
      'steps.json',
      '--recipe-b',
      'wide.json',
      '--format',
      'json',
      'spring.acc',
      'summer.acc',
    ).text,
  );
  const [row] = json.rows;
  assert.deepEqual([json.of, json.rows.length, row.value, row.detected], ['mean', 1, 'mean', true]);
  assert.ok(
    Math.abs(row.difference - 2400) < 4 * row.stderr && row.stderr < 200,
    `${row.difference} +- ${row.stderr}`,
  );
  assert.match(
    good('compare', '--recipe', 'steps.json', '--recipe-b', 'wide.json', 'spring.acc', 'summer.acc')
      .text,
    /b less a, means, .*\n\n.*\nmean +[\d,]+ +[\d,]+ .* up\n\na: epsilon per/,
  );
  bad(
    2,
    /recipe steps or fish estimates a mean and the other one counts/,
    'compare',
    '--recipe',
    'steps.json',
    '--recipe-b',
    'r.json',
    'spring.acc',
    'may.acc',
  );
});

test('what may not be compared is refused', () => {
  const args = ['compare', '--recipe', 'r.json', '--dictionary', 'c.tsv'];
  collect('few', 'r.json', 'c.tsv', 999);
  bad(
    3,
    /999 reports are fewer than its minimum cohort of 1000; nothing is shown/,
    ...args,
    'may.acc',
    'few.acc',
  );
  bad(3, /999 reports are fewer/, ...args, 'few.acc', 'may.acc');
  bad(2, /may\.acc is given twice/, ...args, 'may.acc', 'may.acc');
  good('merge', '-o', 'copy.acc', 'may.acc');
  bad(2, /hold the same reports/, ...args, 'may.acc', 'copy.acc');
  bad(2, /takes two accumulators/, ...args, 'may.acc');
  bad(2, /--of is share or count/, ...args, '--of', 'mean', 'may.acc', 'june.acc');
  bad(2, /a dictionary is needed/, 'compare', '--recipe', 'r.json', 'may.acc', 'june.acc');
});

test('release thresholds: withheld on both sides is not shown, on one only that side is not', () => {
  write('t.json', sketch({ release: { threshold: 1500 } }));
  write(
    'late.tsv',
    Array.from({ length: 40 }, (_, i) => `fish${i}\t${i < 20 ? 100 : i < 30 ? 1000 : 10}\n`).join(
      '',
    ),
  );
  collect('early', 't.json', 'c.tsv', 60000);
  collect('late', 't.json', 'late.tsv', 60000);
  const args = ['compare', '--recipe', 't.json', '--dictionary', 'c.tsv'];
  const run = good(...args, '--format', 'json', 'early.acc', 'late.acc');
  const json = JSON.parse(run.text);
  assert.equal(json.withheld, 40 - json.rows.length);
  assert.match(
    run.err,
    new RegExp(
      `${json.withheld} of 40 values are below the release threshold on both sides and were withheld`,
    ),
  );
  assert.ok(json.withheld >= 5 && json.rows.length >= 15);
  assert.ok(
    json.rows.some((/** @type {any} */ row) => row.b === null) &&
      json.rows.some((/** @type {any} */ row) => row.a === null),
  );
  for (const row of json.rows) {
    assert.ok(row.a !== null || row.b !== null);
    assert.equal(
      row.difference === null && row.z === null && row.low === null,
      row.a === null || row.b === null,
    );
    for (const share of [row.a, row.b]) assert.ok(share === null || share >= 1500 / 60000);
  }
  assert.match(
    good(...args, '--format', 'csv', 'early.acc', 'late.acc').text,
    /^value,a,b,difference,stderr,low,high,z,detected,fcr_low,fcr_high\n"fish\d+",(0[.\d]*,,|,0)/,
  );
  assert.match(good(...args, 'early.acc', 'late.acc').text, / withheld .* down\n/);
});

test('--help and unknown options', () => {
  assert.match(good('compare', '--help').text, /^Usage: shoal compare --recipe R/);
  bad(2, /unknown option --recipeb; did you mean --recipe\?/, 'compare', '--recipeb', 'x');
});

test('whole strings of a recipe with fragments are compared', () => {
  const made = ['--mechanism', 'sfp', '--epsilon', '8', '--expires', '2099-01-01'];
  good('recipe', 'new', '--id', 'words', ...made, '-o', 'sfp.json');
  write('words.tsv', 'hello\t60\nthanks\t40\n');
  for (const name of ['sfp-1', 'sfp-2']) collect(name, 'sfp.json', 'words.tsv', 3000);
  const asks = ['--recipe', 'sfp.json', '--dictionary', 'words.tsv', '--format', 'json'];
  const counts = JSON.parse(good('estimate', ...asks, 'sfp-1.acc').text).rows;
  const { rows } = JSON.parse(good('compare', ...asks, 'sfp-1.acc', 'sfp-2.acc').text);
  assert.equal(counts.length, 2);
  for (const { value, count } of counts) {
    const row = rows.find((/** @type {any} */ r) => r.value === value);
    assert.ok(Math.abs(row.a - count / 3000) < 1e-12);
    assert.ok(row.a > 0.2 && Math.abs(row.difference) < 5 * row.stderr);
  }
});
