// SPDX-License-Identifier: Apache-2.0
// shoal joint and what goes with it: recipes with variables from options, devices of several values, categories, results in every format, refusals,
// and records that go. What the estimates are worth is the matter of test_joint_*.c.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { makeCli } from './cli_helpers.mjs';

const cli = makeCli('joint');
after(cli.release);

const seed = (/** @type {string} */ pair) => pair.repeat(32);
/** What people of two ages read; sections are any strings. @param {object} [more] */
const news = (more) => ({
  recipe: 'news-by-age',
  analysis: 'habits',
  stream: 'visits',
  variables: [
    {
      name: 'section',
      value: 'item',
      mechanism: 'rappor',
      parameters: { bits: 32, hashes: 2, cohorts: 8, p: 0.25, q: 0.75, f: 0 },
      hash: 'poly1',
      seed: seed('b8'),
    },
    {
      name: 'age',
      value: 'item',
      mechanism: 'grr',
      parameters: { epsilon: 2, values: ['young', 'old'] },
    },
  ],
  limit: { per_day: 1 },
  expires: '2099-12-31',
  ...more,
});

// The share of each pair, in hundredths: hostile and rare sections with them.
const PAIRS = /** @type {[string, string, number][]} */ ([
  ['sport', 'young', 28],
  ['sport', 'old', 10],
  ['politics', 'young', 8],
  ['politics', 'old', 26],
  ['<b>&"', 'young', 7],
  ['<b>&"', 'old', 7],
  ['=1+2', 'young', 4],
  ['=1+2', 'old', 4],
  ['rare', 'young', 3],
  ['rare', 'old', 3],
]);
const DEVICES = 60_000;
const tsv = (/** @type {unknown[][]} */ rows) => rows.map((row) => `${row.join('\t')}\n`).join('');

cli.write('news.json', news());
cli.write('news.tsv', tsv(PAIRS));
cli.write('sections.txt', 'sport\npolitics\n<b>&"\n=1+2\n');
cli.good(
  'simulate',
  '--recipe',
  'news.json',
  '--counts',
  'news.tsv',
  '--devices',
  `${DEVICES}`,
  '--seed',
  'fish',
  '-o',
  'news.batch',
  '--truth',
  'truth.tsv',
);
cli.good('ingest', '--recipe', 'news.json', '-o', 'news.acc', 'news.batch');
const truth = new Map(
  cli
    .read('truth.tsv')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [x, y, count] = line.split('\t');
      return [`${x} ${y}`, Number(count) / DEVICES];
    }),
);

const NEWS = ['joint', '--recipe', 'news.json', 'news.acc'];
/** @param {...string} more */
const run = (...more) => cli.good(...NEWS, '--categories', 'section=sections.txt', ...more);
/** @param {...string} more */
const json = (...more) => JSON.parse(run('--format', 'json', ...more).text);

const schema = (/** @type {string} */ name) =>
  JSON.parse(
    readFileSync(new URL(`../../../docs/schema/${name}.schema.json`, import.meta.url), 'utf8'),
  );
const ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
ajv.addSchema(schema('result'), 'result.schema.json');
/** @type {any} */
const isJoint = ajv.compile(schema('joint'));

test('the share of each pair, of each value and within each value is what devices drew', () => {
  const result = json();
  assert.ok(isJoint(result), JSON.stringify(isJoint.errors));
  assert.equal(result.n, DEVICES);
  assert.deepEqual(result.variables, [
    { name: 'section', categories: ['sport', 'politics', '<b>&"', '=1+2', 'Other'], other: true },
    { name: 'age', categories: ['young', 'old'], other: false },
  ]);
  const shareOf = (/** @type {string} */ x, /** @type {string} */ y) =>
    truth.get(`${x === 'Other' ? 'rare' : x} ${y}`) ?? NaN;
  assert.equal(result.cells.length, 10);
  // The mechanisms' noise alone: each of ten errors is within 4.5 of its own, but once in 15,000 seeds.
  for (const { x, y, p, stderr, low, high } of result.cells) {
    assert.ok(
      Math.abs(p - shareOf(x, y)) < 4.5 * stderr,
      `${x} ${y}: ${p} +- ${stderr}, drawn ${shareOf(x, y)}`,
    );
    assert.ok(stderr > 0.001 && stderr < 0.006 && low <= p && p <= high);
  }
  for (const { x, y, p, stderr } of result.rates)
    assert.ok(
      Math.abs(p - shareOf(x, y) / (shareOf(x, 'young') + shareOf(x, 'old'))) < 4.5 * stderr,
      `${x} ${y}`,
    );
  const old = result.marginals.find(
    (/** @type {any} */ row) => row.variable === 'age' && row.value === 'old',
  );
  assert.ok(
    Math.abs(
      old.p - [...truth].filter(([key]) => key.endsWith('old')).reduce((sum, [, p]) => sum + p, 0),
    ) <
      4.5 * old.stderr,
  );
  assert.ok(
    Math.abs(
      result.cells.reduce((/** @type {number} */ sum, /** @type {any} */ { p }) => sum + p, 0) - 1,
    ) < 1e-9,
  );
  assert.equal(result.wald.df, 4);
  assert.ok(
    result.wald.p_value < 1e-10 &&
      result.wald.statistic > 100 &&
      result.converged &&
      result.rank === 9 &&
      result.parameters === 9,
  );
});

test("rates given the other variable, the paper's test, other confidence", () => {
  const result = json('--given', 'age', '--wald', 'em', '--confidence', '0.5');
  assert.ok(isJoint(result), JSON.stringify(isJoint.errors));
  assert.equal(result.given, 'age');
  const young = result.rates.filter((/** @type {any} */ { y }) => y === 'young');
  assert.ok(
    Math.abs(
      young.reduce((/** @type {number} */ sum, /** @type {any} */ { p }) => sum + p, 0) - 1,
    ) < 1e-9,
    'rates of the young sum to 1',
  );
  assert.equal(result.wald.form, 'em');
  const [wide, narrow] = [json().cells[0], result.cells[0]];
  assert.ok(narrow.low > wide.low && narrow.high < wide.high && narrow.p === wide.p);
  assert.match(run('--wald', 'em').err, /conservative/);
});

test('devices that have none of a list, as a category of their own', () => {
  cli.write(
    'lacking.tsv',
    tsv([
      ['sport', 'young', 30],
      ['sport', 'old', 30],
      ['sport', '', 40],
    ]),
  );
  cli.good(
    'simulate',
    '--recipe',
    'news.json',
    '--counts',
    'lacking.tsv',
    '--devices',
    '30000',
    '--seed',
    'fish',
    '-o',
    'lacking.batch',
  );
  cli.good('ingest', '--recipe', 'news.json', '-o', 'lacking.acc', 'lacking.batch');
  const args = [
    'joint',
    '--recipe',
    'news.json',
    '--categories',
    'section=sections.txt',
    '--format',
    'json',
    'lacking.acc',
  ];
  const result = JSON.parse(cli.good(...args, '--none').text);
  assert.deepEqual(result.variables[1].categories, ['young', 'old', '<none>']);
  const none = result.marginals.find((/** @type {any} */ row) => row.value === '<none>');
  assert.ok(Math.abs(none.p - 0.4) < 4.5 * none.stderr, `${none.p} +- ${none.stderr}`); // the draw's own error is in it
  const without = JSON.parse(cli.good(...args).text).marginals.find(
    (/** @type {any} */ row) => row.value === 'young',
  );
  assert.ok(without.p > 0.45, 'counted among the others');
});

test('fewer categories, the largest of a dictionary; without Other the shares are biased', () => {
  const top = json('--top', '2');
  assert.deepEqual(top.variables[0].categories, ['sport', 'politics', 'Other']);
  assert.match(
    run('--top', '2').err,
    /4 of 4 values stand out from the noise; the 2 largest are categories/,
  );
  // Whoever reads something else, 28 in a hundred, is counted among the two.
  const biased = json('--no-other', '--top', '2');
  assert.equal(biased.variables[0].other, false);
  for (const { x, y, p, stderr } of [...top.cells.slice(0, 4), ...biased.cells]) {
    const z = (p - (truth.get(`${x} ${y}`) ?? 0)) / stderr;
    assert.equal(
      Math.abs(z) < 4.5,
      top.cells.some((/** @type {any} */ cell) => cell.p === p),
      `${x} ${y}: ${z}`,
    );
  }
  assert.match(run('--no-other').err, /biases/);
});

test('a value that is called Other is not the rest', () => {
  cli.write('named.tsv', tsv(PAIRS.map(([x, ...row]) => [x === 'politics' ? 'Other' : x, ...row])));
  cli.write('named.txt', 'sport\nOther\n');
  cli.good(
    'simulate',
    '--recipe',
    'news.json',
    '--counts',
    'named.tsv',
    '--devices',
    '20000',
    '--seed',
    'fish',
    '-o',
    'named.batch',
  );
  cli.good('ingest', '--recipe', 'news.json', '-o', 'named.acc', 'named.batch');
  const result = JSON.parse(
    cli.good(
      'joint',
      '--recipe',
      'news.json',
      '--categories',
      'section=named.txt',
      '--format',
      'json',
      'named.acc',
    ).text,
  );
  assert.deepEqual(result.variables[0].categories, ['sport', 'Other', '<other>']);
});

test('a table, rows and a picture; hostile text stays text', () => {
  const table = run();
  assert.match(
    table.text,
    /^news-by-age: 60,000 reports, epsilon 6.39445 a report, 95 % intervals/,
  );
  assert.match(table.text, /\nsection +young +old +all\nsport +2\d\.\d+ \+- 0\.\d+ /);
  assert.match(
    table.text,
    /section and age: not independent, Wald statistic \d+.* on 4 degrees of freedom, p/,
  );
  assert.match(table.text, /\nepsilon per report {2}6.39445 /);
  const csv = run('--format', 'csv').text.trimEnd().split('\n');
  assert.equal(csv[0], '"section","age",p,stderr,low,high');
  assert.equal(csv.length, 11);
  assert.ok(
    csv.some((line) => line.startsWith('"\'=1+2","young",')),
    'no formula',
  );
  const lines = run('--format', 'ndjson')
    .text.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(lines, json().cells);
  const svg = run('--format', 'svg').text;
  assert.match(svg, /^<svg [\s\S]*<\/svg>\n$/);
  assert.ok(
    !svg.includes('<b>') && svg.includes('&#60;b&#62;&#38;&#34;') && !svg.includes('<script'),
  );
  assert.equal([...svg.matchAll(/<g><title>/g)].length, 10, 'a cell each');
  assert.match(svg, /Not independent: Wald statistic/);
});

test('threads and the order of reports change nothing', () => {
  assert.deepEqual(json('--threads', '1'), json('--threads', '3'));
  cli.good(
    'simulate',
    '--recipe',
    'news.json',
    '--counts',
    'news.tsv',
    '--devices',
    '1000',
    '--seed',
    'fish',
    '-o',
    'lines.ndjson',
    '--format',
    'ndjson',
    '--threads',
    '1',
  );
  cli.write(
    'reverse.ndjson',
    `${cli.read('lines.ndjson').trimEnd().split('\n').reverse().join('\n')}\n`,
  );
  for (const name of ['lines', 'reverse'])
    cli.good('ingest', '--recipe', 'news.json', '-o', `${name}.acc`, `${name}.ndjson`);
  cli.good('merge', '-o', 'both.acc', 'lines.acc', 'reverse.acc');
  // Without Other, whose likelihood knows how many reports there are.
  const cells = ['lines', 'reverse', 'both'].map(
    (name) =>
      JSON.parse(
        cli.good(
          'joint',
          '--recipe',
          'news.json',
          '--categories',
          'section=sections.txt',
          '--no-other',
          '--format',
          'json',
          `${name}.acc`,
        ).text,
      ).cells,
  );
  assert.deepEqual(cells[0], cells[1]);
  for (const [i, { p, stderr }] of cells[2].entries()) {
    assert.ok(
      Math.abs(p - cells[0][i].p) < 1e-4 &&
        Math.abs((stderr * Math.SQRT2) / cells[0][i].stderr - 1) < 0.01,
      'each report twice: the same shares, errors less by the root of two',
    );
  }
});

test('each variable alone', () => {
  const age = JSON.parse(
    cli.good(
      'estimate',
      '--recipe',
      'news.json',
      '--variable',
      'age',
      '--format',
      'json',
      'news.acc',
    ).text,
  );
  assert.equal(age.variable, 'age');
  assert.deepEqual(age.rows.map((/** @type {any} */ row) => row.value).sort(), ['old', 'young']);
  const joint = json().marginals.filter((/** @type {any} */ row) => row.variable === 'age');
  for (const { value, count, stderr } of age.rows) {
    const same = joint.find((/** @type {any} */ row) => row.value === value);
    // Of the same answers, one the devices' own count and one the share that they were drawn from.
    assert.ok(
      Math.abs(count / DEVICES - same.p) < stderr / DEVICES,
      `${value}: ${count / DEVICES}, ${same.p}`,
    );
  }
  const sections = JSON.parse(
    cli.good(
      'estimate',
      '--recipe',
      'news.json',
      '--variable',
      'section',
      '--dictionary',
      'sections.txt',
      '--format',
      'json',
      'news.acc',
    ).text,
  );
  assert.equal(sections.rows[0].value, 'sport');
  cli.bad(
    2,
    /has 2 variables: --variable NAME says which/,
    'estimate',
    '--recipe',
    'news.json',
    'news.acc',
  );
  cli.bad(
    2,
    /no such variable/,
    'estimate',
    '--recipe',
    'news.json',
    '--variable',
    'x',
    'news.acc',
  );
});

test('three variables, a number among them: all, or two with the third summed over', () => {
  const [section, age] = news().variables;
  const spent = {
    name: 'spent',
    value: 'number',
    mechanism: 'onehot-symmetric',
    parameters: { epsilon: 3, size: 3, low: 0, high: 30 },
  };
  cli.write('three.json', news({ recipe: 'three', variables: [section, age, spent] }));
  cli.write(
    'three.tsv',
    tsv([
      ['sport', 'young', 5, 40],
      ['sport', 'old', 15, 20],
      ['politics', 'old', 25, 30],
      ['', 'young', 29.5, 10],
    ]),
  );
  cli.good(
    'simulate',
    '--recipe',
    'three.json',
    '--counts',
    'three.tsv',
    '--devices',
    '20000',
    '--seed',
    'fish',
    '-o',
    'three.batch',
  );
  cli.good('ingest', '--recipe', 'three.json', '-o', 'three.acc', 'three.batch');
  const three = (/** @type {string[]} */ ...more) =>
    JSON.parse(
      cli.good(
        'joint',
        '--recipe',
        'three.json',
        '--categories',
        'section=two.txt',
        '--format',
        'json',
        ...more,
        'three.acc',
      ).text,
    );
  cli.write('two.txt', 'sport\npolitics\n');
  const all = three();
  assert.ok(isJoint(all), JSON.stringify(isJoint.errors));
  assert.deepEqual(all.variables[2].categories, ['[0, 10)', '[10, 20)', '[20, 30]']);
  assert.equal(all.cells.length, 18);
  assert.deepEqual(
    all.wald.map((/** @type {any} */ { x, y }) => `${x} ${y}`),
    ['section age', 'section spent', 'age spent'],
  );
  assert.ok(!('rates' in all));
  const share = all.cells.find(
    (/** @type {any} */ { values }) => values.join() === 'sport,young,[0, 10)',
  );
  assert.ok(
    Math.abs(share.p - 0.4) < 5 * Math.hypot(share.stderr, Math.sqrt(0.24 / 20_000)),
    `${share.p} +- ${share.stderr}`,
  );
  const pair = three('--variables', 'spent,age');
  assert.deepEqual(
    pair.variables.map((/** @type {any} */ { name }) => name),
    ['spent', 'age'],
  );
  const low = pair.cells.find((/** @type {any} */ { x, y }) => x === '[0, 10)' && y === 'young');
  assert.ok(Math.abs(low.p - 0.4) < 5 * Math.hypot(low.stderr, Math.sqrt(0.24 / 20_000)));
  const table = cli.good(
    'joint',
    '--recipe',
    'three.json',
    '--categories',
    'section=two.txt',
    'three.acc',
  ).text;
  assert.match(table, /section +age +spent +%/);
  cli.bad(
    2,
    /a heat map is of two variables/,
    'joint',
    '--recipe',
    'three.json',
    '--categories',
    'section=two.txt',
    '--format',
    'svg',
    'three.acc',
  );
  cli.bad(
    2,
    /--given needs exactly two variables/,
    'joint',
    '--recipe',
    'three.json',
    '--categories',
    'section=two.txt',
    '--given',
    'age',
    'three.acc',
  );
  cli.bad(
    2,
    /needs two names at least/,
    'joint',
    '--recipe',
    'three.json',
    '--variables',
    'age',
    'three.acc',
  );
  cli.bad(
    2,
    /no such variable/,
    'joint',
    '--recipe',
    'three.json',
    '--variables',
    'age,x',
    'three.acc',
  );
  cli.bad(
    2,
    /names a variable twice/,
    'joint',
    '--recipe',
    'three.json',
    '--variables',
    'age,age',
    'three.acc',
  );
});

test('an empty category has no rates, and a list of empty ones no category', () => {
  cli.write('with-none.txt', 'sport\npolitics\nnobody reads this\nnor that\n');
  const named = cli.good(...NEWS, '--categories', 'section=with-none.txt', '--format', 'json');
  const result = JSON.parse(named.text);
  assert.ok(isJoint(result), JSON.stringify(isJoint.errors));
  for (const { x, p, low, high } of result.rates) {
    if (x !== 'nor that' && x !== 'nobody reads this') continue;
    assert.ok(
      p === null ? low === 0 && high === 1 : high - low > 0.9,
      'nothing is known of what is not there',
    );
  }
  cli.write('none.txt', Array.from({ length: 20 }, (_, i) => `nothing ${i}\n`).join(''));
  cli.bad(
    2,
    /variable section: none of its values stands out from the noise, so it has no category/,
    ...NEWS,
    '--categories',
    'section=none.txt',
  );
});

test('a singular information matrix is said with its rank, and errors are infinite', () => {
  // Of one cohort and two bits most strings have the same filter: two categories that no report tells apart.
  const [section, age] = news().variables;
  cli.write(
    'twins.json',
    news({
      recipe: 'twins',
      variables: [
        { ...section, parameters: { bits: 2, hashes: 1, cohorts: 1, p: 0.25, q: 0.75, f: 0 } },
        age,
      ],
    }),
  );
  cli.good(
    'simulate',
    '--recipe',
    'twins.json',
    '--counts',
    'news.tsv',
    '--devices',
    '5000',
    '--seed',
    'fish',
    '-o',
    'twins.batch',
  );
  cli.good('ingest', '--recipe', 'twins.json', '-o', 'twins.acc', 'twins.batch');
  const { text, err } = cli.good(
    'joint',
    '--recipe',
    'twins.json',
    '--categories',
    'section=sections.txt',
    '--no-other',
    '--format',
    'json',
    'twins.acc',
  );
  const result = JSON.parse(text);
  assert.ok(isJoint(result), JSON.stringify(isJoint.errors));
  assert.ok(result.rank < result.parameters);
  assert.match(
    err,
    new RegExp(`the information matrix is singular: rank ${result.rank} of ${result.parameters}`),
  );
  const unknown = result.cells.filter((/** @type {any} */ { stderr }) => stderr === null);
  assert.ok(
    unknown.length >= 4 &&
      unknown.every((/** @type {any} */ { low, high }) => low === 0 && high === 1),
  );
  const young = result.marginals.find((/** @type {any} */ row) => row.value === 'young');
  assert.ok(young.stderr > 0, 'ages are told apart all the same');
  assert.match(
    cli.good(
      'joint',
      '--recipe',
      'twins.json',
      '--categories',
      'section=sections.txt',
      '--no-other',
      'twins.acc',
    ).text,
    /the information matrix has rank \d+ of 7/,
  );
});

test('refusals', () => {
  cli.bad(
    2,
    /variable section: takes any string: name its categories with --categories NAME=FILE/,
    ...NEWS,
  );
  cli.bad(2, /--categories must be NAME=FILE/, ...NEWS, '--categories', 'section');
  cli.bad(2, /no such variable/, ...NEWS, '--categories', 'x=sections.txt');
  cli.bad(
    2,
    /names a variable twice/,
    ...NEWS,
    '--categories',
    'section=sections.txt',
    '--categories',
    'section=sections.txt',
  );
  cli.bad(
    2,
    /value is missing after --categories/,
    'joint',
    '--recipe',
    'news.json',
    'news.acc',
    '--categories',
  );
  cli.bad(2, /--wald is linear or em/, ...NEWS, '--wald', 'x');
  cli.bad(2, /--format is/, ...NEWS, '--format', 'html');
  cli.bad(2, /takes one accumulator/, 'joint', '--recipe', 'news.json');
  cli.bad(5, /cannot open/, ...NEWS, '--categories', 'section=nope.txt');
  cli.write('empty-line.txt', 'sport\n\npolitics\n');
  cli.bad(2, /line 2: the value is empty/, ...NEWS, '--categories', 'section=empty-line.txt');
  cli.write('cohort.json', news({ cohort: { minimum: 100_000 } }));
  cli.good(
    'simulate',
    '--recipe',
    'cohort.json',
    '--counts',
    'news.tsv',
    '--devices',
    '2000',
    '--seed',
    's',
    '-o',
    'cohort.batch',
  );
  cli.good('ingest', '--recipe', 'cohort.json', '-o', 'cohort.acc', 'cohort.batch');
  cli.bad(
    3,
    /fewer than its minimum cohort/,
    'joint',
    '--recipe',
    'cohort.json',
    '--categories',
    'section=sections.txt',
    'cohort.acc',
  );
  cli.bad(1, /belongs to recipe/, 'joint', '--recipe', 'three.json', 'news.acc');
  cli.write('one.json', {
    ...news(),
    variables: undefined,
    recipe: 'one',
    value: 'item',
    mechanism: 'grr',
    parameters: { epsilon: 2, values: ['a', 'b'] },
  });
  cli.write('one.tsv', 'a\t1\nb\t1\n');
  cli.good(
    'simulate',
    '--recipe',
    'one.json',
    '--counts',
    'one.tsv',
    '--devices',
    '2000',
    '--seed',
    's',
    '-o',
    'one.batch',
  );
  cli.good('ingest', '--recipe', 'one.json', '-o', 'one.acc', 'one.batch');
  cli.bad(2, /recipe one has one value/, 'joint', '--recipe', 'one.json', 'one.acc');
  cli.bad(
    2,
    /recipe one has no variables/,
    'estimate',
    '--recipe',
    'one.json',
    '--variable',
    'age',
    'one.acc',
  );
});

test('a table of too many cells is refused with the way out', () => {
  const of = (/** @type {string} */ name) => ({
    name,
    value: 'item',
    mechanism: 'grr',
    parameters: { epsilon: 4, size: 40 },
  });
  cli.write('wide.json', news({ recipe: 'wide', variables: [of('a'), of('b')] }));
  cli.write(
    'wide.tsv',
    tsv([
      [0, 0, 3],
      [1, 1, 2],
      [2, 2, 1],
    ]),
  );
  cli.good(
    'simulate',
    '--recipe',
    'wide.json',
    '--counts',
    'wide.tsv',
    '--devices',
    '5000',
    '--seed',
    's',
    '-o',
    'wide.batch',
  );
  cli.good('ingest', '--recipe', 'wide.json', '-o', 'wide.acc', 'wide.batch');
  cli.bad(2, /at most 1024 cells: --top N/, 'joint', '--recipe', 'wide.json', 'wide.acc');
  const result = JSON.parse(
    cli.good('joint', '--recipe', 'wide.json', '--top', '5', '--format', 'json', 'wide.acc').text,
  );
  assert.deepEqual(result.variables[0].categories, ['0', '1', '2', 'Other']);
});

test('shares of fewer reports than may be released are left out', () => {
  cli.write('release.json', news({ recipe: 'release', release: { threshold: 4000 } }));
  cli.good(
    'simulate',
    '--recipe',
    'release.json',
    '--counts',
    'news.tsv',
    '--devices',
    `${DEVICES}`,
    '--seed',
    'fish',
    '-o',
    'release.batch',
  );
  cli.good('ingest', '--recipe', 'release.json', '-o', 'release.acc', 'release.batch');
  const args = [
    'joint',
    '--recipe',
    'release.json',
    '--categories',
    'section=sections.txt',
    'release.acc',
  ];
  const result = JSON.parse(cli.good(...args, '--format', 'json').text);
  assert.ok(isJoint(result), JSON.stringify(isJoint.errors));
  assert.equal(result.withheld + result.cells.length, 10);
  assert.ok(
    result.withheld >= 4 && result.cells.every((/** @type {any} */ { p }) => p * DEVICES >= 4000),
  );
  keepsWithheld(result);
  assert.match(
    cli.good(...args).text,
    / withheld [\s\S]*cells are withheld, for the release threshold of 4,000 reports/,
  );
  assert.match(cli.good(...args, '--format', 'svg').text, /: withheld<\/title>/);
});

/** No marginal and no rate tells a cell that is withheld, and no cell is withheld alone. @param {any} result */
function keepsWithheld({ variables, cells, marginals, rates, withheld, given }) {
  const [x, y] = variables;
  assert.ok(withheld !== 1, 'the others would tell it');
  const isShown = (/** @type {string[]} */ at) =>
    cells.some((/** @type {any} */ cell) => String([cell.x, cell.y]) === String(at));
  for (const { variable, value } of marginals) {
    const [own, other] = variable === x.name ? [x, y] : [y, x];
    const line = other.categories.map((/** @type {string} */ each) =>
      own === x ? [value, each] : [each, value],
    );
    assert.ok(line.every(isShown), `${variable} ${value}`);
  }
  for (const rate of rates)
    assert.ok(
      marginals.some(
        (/** @type {any} */ { variable, value }) =>
          variable === given && value === (given === x.name ? rate.x : rate.y),
      ),
      `${rate.x} ${rate.y}`,
    );
}

test('a cell is never withheld alone', () => {
  const free = JSON.parse(
    cli.good(
      'joint',
      '--recipe',
      'news.json',
      '--categories',
      'section=sections.txt',
      'news.acc',
      '--format',
      'json',
    ).text,
  );
  const counts = free.cells
    .map((/** @type {any} */ { p }) => p * free.n)
    .sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
  const threshold = Math.ceil((counts[0] + counts[1]) / 2);
  assert.ok(threshold > counts[0] && threshold < counts[1], `${counts}`);
  cli.write('alone.json', news({ recipe: 'alone', release: { threshold } }));
  const from = ['--recipe', 'alone.json', '--counts', 'news.tsv', '--devices', `${DEVICES}`];
  cli.good('simulate', ...from, '--seed', 'fish', '-o', 'alone.batch');
  cli.good('ingest', '--recipe', 'alone.json', '-o', 'alone.acc', 'alone.batch');
  const args = [
    'joint',
    '--recipe',
    'alone.json',
    '--categories',
    'section=sections.txt',
    'alone.acc',
  ];
  const result = JSON.parse(cli.good(...args, '--format', 'json').text);
  assert.ok(result.withheld >= 2, `${result.withheld}`);
  keepsWithheld(result);
});

test('records go when the analysis is done, and the sums stay', () => {
  cli.good('merge', '-o', 'done.acc', 'lines.acc', 'reverse.acc');
  cli.bad(
    2,
    /--done takes --recipe and --output only/,
    'joint',
    '--recipe',
    'news.json',
    '--done',
    '--format',
    'json',
    'done.acc',
  );
  const size = cli.read('done.acc').length;
  const before = cli.good(
    'estimate',
    '--recipe',
    'news.json',
    '--variable',
    'age',
    'done.acc',
  ).text;
  assert.match(
    cli.good('joint', '--recipe', 'news.json', '--done', '-o', 'sums.acc', 'done.acc').err,
    /the records of 2000 reports were removed; their sums stay/,
  );
  assert.equal(cli.read('done.acc').length, size, 'with --output the file itself is as it was');
  assert.match(
    cli.good('joint', '--recipe', 'news.json', '--done', 'done.acc').err,
    /the records of 2000 reports were removed/,
  );
  assert.equal(cli.read('done.acc'), cli.read('sums.acc'));
  assert.ok(cli.read('done.acc').length < size / 3);
  cli.bad(
    3,
    /the records are gone, which are kept 30 days/,
    'joint',
    '--recipe',
    'news.json',
    '--categories',
    'section=sections.txt',
    'done.acc',
  );
  assert.equal(
    cli.good('estimate', '--recipe', 'news.json', '--variable', 'age', 'done.acc').text,
    before,
  );
  assert.match(
    cli.good('joint', '--recipe', 'news.json', '--done', 'done.acc').err,
    /has no records, so there is nothing to remove/,
  );
  assert.match(
    cli.good('merge', '-o', 'mixed.acc', 'news.acc', 'done.acc').err,
    /1 of 2 accumulators have no records any more: the sum has none/,
  );
  cli.bad(
    3,
    /the records are gone/,
    'joint',
    '--recipe',
    'news.json',
    '--categories',
    'section=sections.txt',
    'mixed.acc',
  );
  cli.bad(1, /belongs to recipe/, 'joint', '--recipe', 'three.json', '--done', 'news.acc');
});

test('an audit is of each variable, whichever comes first', () => {
  const [section, age] = news().variables;
  cli.write('reversed.json', news({ variables: [age, section] }));
  const { text } = cli.good('audit', '--recipe', 'reversed.json', '--trials', '20000');
  assert.match(
    text,
    /\npart 1\n[\s\S]*\npart 2\n[\s\S]*claimed {8}6.394450 {4}the recipe's epsilon of one report[\s\S]*\nok {13}yes/,
  );
});

test('counts files of several variables', () => {
  const simulate = (/** @type {RegExp} */ says, /** @type {string} */ text) => {
    cli.write('bad.tsv', text);
    cli.bad(
      2,
      says,
      'simulate',
      '--recipe',
      'news.json',
      '--counts',
      'bad.tsv',
      '--devices',
      '10',
      '--seed',
      's',
      '-o',
      'x.batch',
    );
  };
  simulate(/line 1: must hold the 2 variables and the count/, 'sport\t3\n');
  simulate(
    /line 2: must hold the 2 variables and the count/,
    'sport\tyoung\t3\nsport\tyoung\told\t3\n',
  );
  simulate(/line 1: age: the value is not one of the recipe's/, 'sport\tmiddle\t3\n');
  simulate(/line 2: the value came before/, 'sport\told\t3\nsport\told\t1\n');
  simulate(/line 1: the count is not a whole number/, 'sport\told\tx\n');
  cli.bad(
    2,
    /recipe news-by-age has 2 variables, and a dictionary lists values of one/,
    'compare',
    '--recipe',
    'news.json',
    'news.acc',
    'both.acc',
  );
});

test('recipes with variables from options', () => {
  cli.write('ages.txt', 'young\nold\n');
  cli.good(
    'recipe',
    'new',
    '--id',
    'made',
    '--expires',
    '2099-12-31',
    '--variable',
    'section=rappor:4:bits=64',
    '--variable',
    'age=:1.5:ages.txt',
    '--variable',
    'spent=:1:10:low=0:high=100',
    '--variable',
    'word=:2:value=word',
    '--keep-days',
    '7',
    '-o',
    'made.json',
  );
  const made = JSON.parse(cli.read('made.json'));
  assert.deepEqual(
    made.variables.map(
      (/** @type {any} */ { name, value, mechanism }) => `${name} ${value} ${mechanism}`,
    ),
    ['section item rappor', 'age item grr', 'spent number onehot-symmetric', 'word word olh'],
  );
  assert.deepEqual(made.variables[1].parameters, { epsilon: 1.5, values: ['young', 'old'] });
  assert.equal(made.variables[0].parameters.bits, 64);
  assert.deepEqual(made.records, { keep_days: 7 });
  assert.notEqual(made.variables[0].seed, made.variables[3].seed);
  const check = cli.good('recipe', 'check', 'made.json').text;
  assert.match(
    check,
    /\nvariable section {4}item by rappor, any string, epsilon 4 \(as drawn: 3\.9999\d\)/,
  );
  assert.match(check, /\nvariable age {8}item by grr, a list of 2, epsilon 1.5 /);
  assert.match(
    check,
    /\nvariable spent {6}number by onehot-symmetric, 10 buckets from 0 to 100, epsilon 1 /,
  );
  assert.match(check, /\nrecords {13}kept 7 days /);
  assert.match(check, /\nepsilon per report {2}8.5 .*all variables together/);
  cli.write('other.json', {
    ...made,
    variables: made.variables.map((/** @type {any} */ own) =>
      own.name === 'age' ? { ...own, parameters: { ...own.parameters, epsilon: 2 } } : own,
    ),
  });
  const diff = cli.run('recipe', 'diff', 'made.json', 'other.json');
  assert.match(diff.text, /^variables\[age\]\.parameters\.epsilon 1\.5 -> 2\nhash /);
  assert.match(diff.text, /epsilon of one report rises: 8.5 -> 9\n/);
  const bad = (/** @type {RegExp} */ says, /** @type {string[]} */ ...more) =>
    cli.bad(
      2,
      says,
      'recipe',
      'new',
      '--id',
      'made',
      '--expires',
      '2099-12-31',
      '--variable',
      'age=:1.5:ages.txt',
      ...more,
    );
  bad(/--variable : its form is NAME=/, '--variable', 'x');
  bad(/--variable x: its form is NAME=/, '--variable', 'x=grr');
  bad(/has two lists/, '--variable', 'x=grr:1:3:4');
  bad(/members are value, k/, '--variable', 'x=grr:1:3:foo=2');
  bad(/no mechanism of that name/, '--variable', 'x=nope:1:3');
  bad(/has parts of its own/, '--variable', 'x=sfp:2');
  bad(
    /variables\[1\]\.mechanism is not one that a variable can have/,
    '--variable',
    'x=one-bit-mean:1:low=0:high=1',
  );
  bad(/variables\[1\]\.name is that of another variable/, '--variable', 'age=grr:2:2');
  bad(/variables cost more than an epsilon of 16 together/, '--variable', 'x=:15:3');
  bad(/must be two or more/);
  bad(
    /--epsilon beside --variable: each variable says its own/,
    '--variable',
    'x=:1:3',
    '--epsilon',
    '2',
  );
});
