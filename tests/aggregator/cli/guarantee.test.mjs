// SPDX-License-Identifier: Apache-2.0
// What results promise, from outside: the figures are those of `shoal account` for the smallest block, there are none where
// nobody stated block and honest share, a comparison's are those of its two results, every format says them somewhere, and rows
// stay rows. The command is $SHOAL_BIN or build/release/shoal.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { list, makeCli, sketch } from './cli_helpers.mjs';

const cli = makeCli('guarantee');
after(() => cli.release());

const VALUES = ['cod', 'eel', 'pike'];
/** @type {{[name: string]: any}} */
const recipes = {
  sketch: sketch(),
  symmetric: list(VALUES, 3.3, {
    mechanism: 'onehot-symmetric',
    cohort: { minimum: 1000, epsilon: 0.4, delta: '1e-7' },
  }),
  olh: list(VALUES, 1.3, {
    mechanism: 'olh',
    parameters: { epsilon: 1.3, values: VALUES, k: 64, g: 4 },
    hash: 'affine1',
    seed: 'ab'.repeat(32),
    cohort: { minimum: 1000, epsilon: 0.01, delta: '1e-12' },
  }),
  open: list(VALUES, 15, { mechanism: 'grr' }),
};
const REPORTS = /** @type {{[name: string]: number}} */ ({
  sketch: 7000,
  symmetric: 2345,
  olh: 30000,
  open: 1000,
});
const DELTAS = /** @type {{[name: string]: string}} */ ({
  sketch: '1e-9',
  symmetric: '1e-7',
  olh: '1e-12',
  open: '1e-9',
});

/** @param {...string} args */
const json = (...args) => JSON.parse(cli.good(...args, '--format', 'json').text);
/** @param {string} name @param {...string} more */
const estimate = (name, ...more) => [
  'estimate',
  '--recipe',
  `${name}.json`,
  '--dictionary',
  'c.tsv',
  ...more,
  `${name}.acc`,
];

/** What states that all reports are one block. @param {string} name @param {number} [honest] */
const whole = (name, honest = 1) => ['--block', String(REPORTS[name]), '--honest', String(honest)];

/** What `shoal account` says of it. @param {string} name @param {number} honest @param {number} [reports] @param {...string} more */
const account = (name, honest, reports = REPORTS[name], ...more) =>
  json(
    'account',
    '--recipe',
    `${name}.json`,
    '--reports',
    String(reports),
    '--delta',
    DELTAS[name],
    '--honest',
    String(honest),
    ...more,
  );

before(() => {
  cli.write('c.tsv', VALUES.map((value, i) => `${value}\t${3 - i}\n`).join(''));
  for (const [name, recipe] of Object.entries(recipes)) {
    cli.write(`${name}.json`, recipe);
    for (const [file, seed] of [
      [name, 'a'],
      [`${name}2`, 'b'],
    ]) {
      cli.good(
        'simulate',
        '--recipe',
        `${name}.json`,
        '--counts',
        'c.tsv',
        '--devices',
        String(REPORTS[name]),
        '--seed',
        seed,
        '-o',
        'batch',
      );
      cli.good('ingest', '--recipe', `${name}.json`, '-o', `${file}.acc`, 'batch');
    }
  }
});

/** The sentence that goes with every central figure. @param {number} honest */
const assumes = (honest) =>
  `The central epsilon assumes that ${100 * honest} % of the reports are honest. It holds against ` +
  'readers of released blocks, not against whoever sees single reports or batches.';

test('the central guarantee is the best figure of shoal account for the smallest block', () => {
  for (const name of ['sketch', 'symmetric', 'olh'])
    for (const honest of [1, 0.37])
      for (const block of [REPORTS[name], Math.floor(REPORTS[name] / 2)]) {
        // Half of the four pairs, each share and each block once; all of them in make test-long.
        const isFirst = honest === 1 && block === REPORTS[name];
        const isLast = honest !== 1 && block !== REPORTS[name];
        if (process.env.SHOAL_LONG === undefined && !isFirst && !isLast) continue;
        const { local, central, claim, ...rest } = json(
          ...estimate(name, '--honest', String(honest), '--block', String(block)),
        ).guarantees;
        assert.deepEqual(rest, {});
        const { best } = account(name, honest, block);
        const { person, ...figure } = central;
        assert.deepEqual(figure, {
          epsilon: best.epsilon,
          delta: Number(DELTAS[name]),
          bound: best.bound,
          reports: block,
          honest,
          assumes: assumes(honest),
        });
        // limit.per_day is 2: two reports of a person, by group privacy
        const { user } = account(name, honest, block, '--contributions', '2');
        assert.deepEqual(person, { epsilon: user.blanket, reports: 2, days: 1 });
        const { epsilon } = recipes[name].parameters;
        assert.deepEqual(local, {
          epsilon,
          drawn: local.drawn,
          model: 'replacement',
          reports_per_day: 2,
          epsilon_per_day: 2 * epsilon,
        });
        assert.ok(local.drawn <= epsilon && local.drawn > epsilon - 1e-4);
        const { cohort } = recipes[name];
        assert.deepEqual(
          claim,
          cohort && {
            epsilon: cohort.epsilon,
            delta: Number(cohort.delta),
            kept: central.epsilon <= cohort.epsilon,
          },
        );
      }
  const of = (/** @type {string[]} */ ...args) =>
    json(...estimate('symmetric', ...args)).guarantees;
  assert.equal(of(...whole('symmetric')).central.bound, 'renyi');
  assert.equal(of(...whole('symmetric')).claim.kept, true);
  assert.equal(of(...whole('symmetric', 0.37)).claim.kept, false);
});

test('files have no central figure unless block and honest share are stated', () => {
  for (const [none, ...options] of [
    ['files'],
    ['files', '--honest', '0.9'],
    ['honest', '--block', '1000'],
  ]) {
    const {
      central,
      no_central: why,
      claim,
    } = json(...estimate('symmetric', ...options)).guarantees;
    assert.deepEqual([central, why, claim.kept], [null, none, null]);
    const { text } = cli.good(...estimate('symmetric', ...options));
    assert.match(text, /^central epsilon {5}none: /m);
    assert.match(text, /^claim {15}central epsilon 0\.4: not known of this result$/m);
    assert.doesNotMatch(text, /assumes/);
  }
  // a block cannot be larger than the result
  const { central } = json(...estimate('olh', '--block', '4000000000', '--honest', '1')).guarantees;
  assert.equal(central.reports, REPORTS.olh);
  cli.bad(2, /--block must be/, ...estimate('olh', '--block', '0'));
});

test('a crowd too small for its epsilon adds nothing, and the result says so', () => {
  const { guarantees } = json(...estimate('open', ...whole('open')));
  assert.deepEqual(Object.keys(guarantees), ['local', 'central', 'no_central']);
  assert.deepEqual([guarantees.central, guarantees.no_central], [null, 'no_gain']);
  assert.match(
    cli.good(...estimate('open', ...whole('open'))).text,
    /^central epsilon {5}no better than that of a report \(smallest block of 1,000 reports, 100 % honest, delta 1e-9, the recipe states none\)$/m,
  );
});

test('tables say the same as JSON, and their assumptions', () => {
  const lines =
    cli
      .good(...estimate('olh', ...whole('olh', 0.5)))
      .text.split('\n\n')
      .at(-1)
      ?.split('\n') ?? [];
  const { central } = json(...estimate('olh', ...whole('olh', 0.5))).guarantees;
  assert.deepEqual(lines.slice(0, 2), [
    'epsilon per report  1.3 (as drawn: 1.3)',
    'epsilon per day     2.6 (2 reports)',
  ]);
  const [, figure, bound, of] =
    lines[2].match(/^central epsilon {5}([\d.]+) \((\w+) bound, (.*)\)$/) ?? [];
  assert.ok(
    Number(figure) >= central.epsilon && Number(figure) < central.epsilon * 1.00001,
    'rounded up',
  );
  assert.deepEqual(
    [bound, of],
    ['blanket', 'smallest block of 30,000 reports, 50 % honest, delta 1e-12'],
  );
  assert.match(lines[3], /^central, person {5}0\.\d+ \(2 reports of 1 day, in any blocks\)$/);
  assert.match(lines[4], /^claim {15}central epsilon 0\.01: not kept/);
  assert.equal(lines[5], assumes(0.5));
});

test('rows stay rows: other formats say it on standard error', () => {
  for (const format of ['ndjson', 'csv']) {
    const { text, err } = cli.good(...estimate('sketch', ...whole('sketch'), '--format', format));
    assert.equal(text.trim().split('\n').length, format === 'csv' ? 4 : 3);
    assert.doesNotMatch(text, /central|guarantee/);
    assert.match(
      err,
      /^shoal: estimate: central epsilon {5}0\.\d+ \(blanket bound, smallest block of 7,000 reports/m,
    );
    assert.match(
      err,
      /^shoal: estimate: The central epsilon assumes that 100 % of the reports are honest/m,
    );
    const compared = cli.good(
      'compare',
      '--recipe',
      'sketch.json',
      '--dictionary',
      'c.tsv',
      ...whole('sketch'),
      '--format',
      format,
      'sketch.acc',
      'sketch2.acc',
    );
    assert.doesNotMatch(compared.text, /central|guarantee/);
    assert.match(compared.err, /^shoal: compare: A person with a report on both sides: epsilon/m);
  }
  assert.equal(cli.good(...estimate('sketch', '--format', 'json')).err, '');
});

test('a comparison promises what its two results do, and both to whoever is in both', () => {
  const args = [
    'compare',
    '--recipe',
    'olh.json',
    '--recipe-b',
    'symmetric.json',
    '--dictionary',
    'c.tsv',
    ...whole('symmetric'),
  ];
  const { a, b, both } = json(...args, 'olh.acc', 'symmetric.acc').guarantees;
  assert.deepEqual(a, json(...estimate('olh', ...whole('symmetric'))).guarantees);
  assert.deepEqual(b, json(...estimate('symmetric', ...whole('symmetric'))).guarantees);
  assert.ok(Math.abs(both.epsilon - a.central.epsilon - b.central.epsilon) < 1e-11);
  assert.ok(Math.abs(both.delta - 1e-7 - 1e-12) < 1e-16);
  const table = cli.good(...args, 'olh.acc', 'symmetric.acc').text;
  assert.match(table, /^a: epsilon per report {2}1\.3 .*$/m);
  assert.match(table, /^b: epsilon per report {2}3\.3 .*$/m);
  const same = cli.good(
    'compare',
    '--recipe',
    'olh.json',
    '--dictionary',
    'c.tsv',
    ...whole('olh'),
    'olh.acc',
    'olh2.acc',
  ).text;
  assert.match(
    same,
    /\n\nepsilon per report {2}1\.3 [^]*\nA person with a report on both sides: epsilon [\d.]+ at delta 2e-12\.\n$/,
    'what is the same is said once',
  );
  assert.equal(same.match(/central epsilon {5}/g)?.length, 1);
  const files = ['compare', '--recipe', 'olh.json', '--dictionary', 'c.tsv', 'olh.acc', 'olh2.acc'];
  assert.deepEqual(json(...files).guarantees.both, { epsilon: 2.6, delta: 0 });
  assert.match(
    cli.good(...files).text,
    /\nA person with a report on both sides: epsilon 2\.6\.\n$/,
    'the local epsilon of both needs no delta',
  );
});

test('no output has a central figure without the sentence on what it assumes', () => {
  const compare = ['compare', '--recipe', 'olh.json', '--dictionary', 'c.tsv'];
  let figures = 0;
  for (const options of [[], whole('olh', 0.5), ['--honest', '0.5'], ['--block', '2000']])
    for (const format of ['table', 'json', 'ndjson', 'csv'])
      for (const command of [
        estimate('olh', ...options, '--format', format),
        [...compare, ...options, '--format', format, 'olh.acc', 'olh2.acc'],
      ]) {
        const { text, err } = cli.good(...command);
        const said = text + err;
        const has = /central epsilon +[\d.]+ \(|"central":\{|central, person/.test(said);
        assert.equal(has, options.length === 4, `${command.join(' ')}: ${said}`);
        assert.equal(said.includes(assumes(0.5)), has, command.join(' '));
        figures += has ? 1 : 0;
      }
  assert.equal(figures, 8);
});

test('shares of honest reports', () => {
  for (const share of ['0', '0.009', '1.1', '-1', 'x', 'nan'])
    cli.bad(2, /--honest must be/, ...estimate('sketch', '--honest', share));
  cli.bad(
    2,
    /--honest must be/,
    'compare',
    '--recipe',
    'sketch.json',
    '--dictionary',
    'c.tsv',
    '--honest',
    '2',
    'sketch.acc',
    'sketch2.acc',
  );
});
