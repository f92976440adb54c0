// SPDX-License-Identifier: Apache-2.0
// `shoal plan` from outside: what it answers, what it refuses, and recipes that the other commands take. What its numbers are
// worth is tested in test_plan.c and plan_accuracy.mjs. The command is $SHOAL_BIN or build/release/shoal.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeCli } from './cli_helpers.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = resolve(process.env.SHOAL_BIN ?? join(root, 'build/release/shoal'));
const mechanisms = [
  ...readFileSync(join(root, 'core/mechanism/mechanisms.def'), 'utf8').matchAll(
    /^SHOAL_MECHANISM\(.*"([a-z0-9-]+)"\)/gm,
  ),
].map((match) => match[1]);
/** @type {string} */
let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-plan-test-'));
  writeFileSync(join(folder, 'fish.tsv'), 'cod\t50\nherring\t30\n"red" <mullet>\t15\neel\t5\n');
  writeFileSync(join(folder, 'ages.tsv'), '12.5\t40\n60\t30\n-3\t10\n100\t20\n');
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {string[]} args */
function shoal(...args) {
  const run = spawnSync(bin, args, { cwd: folder, maxBuffer: 1 << 26 });
  return { code: run.status, text: run.stdout.toString(), err: run.stderr.toString() };
}

/** @param {string[]} args */
function plan(...args) {
  const run = shoal('plan', ...args, '--format', 'json');
  assert.equal(run.code, 0, run.err);
  return JSON.parse(run.text);
}

/** @param {string} path */
const recipeOf = (path) => JSON.parse(readFileSync(join(folder, path), 'utf8'));

test('a list, its answer and all candidates', () => {
  const args = ['--devices', '1000000', '--size', '1000', '--epsilon', '2'];
  const one = plan(...args);
  const all = plan(...args, '--all');
  assert.equal(one.candidates.length, 1);
  assert.ok(all.candidates.length >= 8, 'every mechanism that takes a list');
  assert.deepEqual(all.candidates[0], one.candidates[0]);
  assert.equal(one.answer, one.candidates[0].mechanism);
  assert.equal(one.reports, 1000000);
  const best = Math.min(...all.candidates.map((/** @type {any} */ c) => c.stderr));
  assert.ok(one.candidates[0].stderr <= 1.03 * best);
  // No report of one value does better than this (to the 1/size that Bassily and Smith's bound leaves).
  assert.ok(best >= (0.99 * Math.sqrt(4e6 * Math.exp(2))) / (Math.exp(2) - 1));
  const table = shoal('plan', ...args, '--all').text;
  for (const c of all.candidates) assert.match(table, new RegExp(`^${c.mechanism} `, 'm'));
  assert.match(table, /^answer {14}olh k=\d+ size=1000 g=8$/m);
});

test('the answer follows what is asked', () => {
  assert.equal(
    plan('--devices', '100000', '--size', '2', '--epsilon', '1').answer,
    'grr',
    'two values: say one of them',
  );
  // A mean, its standard error at 10,000 devices in per cent of the range: what Wang et al. (2019) state for one bit, and
  // for the hybrid within 1 %, which the grid leaves. The answer is the smaller, from about epsilon 1 on the hybrid.
  for (const [
    epsilon,
    answer,
    oneBit,
    hybrid,
  ] of /** @type {[string, string, number, number][]} */ ([
    ['0.5', 'one-bit-mean', 2.042, 2.055],
    ['0.8', 'one-bit-mean', 1.316, 1.298],
    ['1', 'piecewise', 1.082, 1.036],
    ['2', 'piecewise', 0.657, 0.51],
    ['4', 'piecewise', 0.519, 0.234],
    ['6', 'piecewise', 0.502, 0.133],
    ['8', 'piecewise', 0.5, 0.079],
  ])) {
    const mean = ['--devices', '10000', '--mean', '--low', '0', '--high', '100', '--all'];
    const found = plan(...mean, '--epsilon', epsilon);
    assert.equal(found.answer, answer, epsilon);
    const errorOf = (/** @type {string} */ name) =>
      found.candidates.find((/** @type {any} */ c) => c.mechanism === name)?.stderr;
    assert.ok(Math.abs(errorOf('one-bit-mean') / oneBit - 1) < 0.001, epsilon);
    assert.ok(Math.abs(errorOf('piecewise') / hybrid - 1) < 0.01, epsilon);
  }
  const open = plan('--devices', '100000', '--open', '--epsilon', '4', '--all');
  assert.deepEqual(open.candidates.map((/** @type {any} */ c) => c.mechanism).sort(), [
    'cms',
    'hcms',
    'olh',
    'rappor',
  ]);
  const small = plan(
    '--devices',
    '100000',
    '--size',
    '1000',
    '--epsilon',
    '2',
    '--memory',
    '20000',
  );
  assert.ok(small.candidates[0].sketch_bytes <= 20000);
  const brief = plan(
    '--devices',
    '100000',
    '--size',
    '1000',
    '--epsilon',
    '2',
    '--report-bytes',
    '165',
    '--all',
  );
  for (const c of brief.candidates) assert.ok(c.report_bytes <= 165);
});

test('a planned recipe passes recipe check, with the sizes of the plan, for every mechanism and every kind of value', () => {
  const kinds = [
    ['--size', '300'],
    ['--open'],
    ['--counts', 'fish.tsv'],
    ['--size', '20', '--low', '-0.50', '--high', '99'],
    ['--size', '20', '--low', '0', '--high', '99', '--counts', 'ages.tsv'],
    ['--mean', '--low', '-3', '--high', '7.250'],
  ];
  const seen = new Set();
  for (const kind of kinds) {
    for (const mechanism of mechanisms) {
      rmSync(join(folder, 'out.json'), { force: true });
      const found = plan(
        '--devices',
        '1000000',
        ...kind,
        '--epsilon',
        '3.5',
        '--mechanism',
        mechanism,
        '--recipe-out',
        'out.json',
        '--id',
        'fish-7',
        '--per-day',
        '2',
      );
      if (found.answer === 'nothing') continue; // takes no such values
      seen.add(mechanism);
      const check = shoal('recipe', 'check', 'out.json');
      assert.equal(check.code, 0, `${kind} ${mechanism}: ${check.err}`);
      const [best] = found.candidates;
      assert.match(
        check.text,
        new RegExp(
          `^record +${best.record_bytes} bytes? in a batch, ${best.report_bytes} in a JSON report$`,
          'm',
        ),
        `${kind} ${mechanism}`,
      );
      assert.match(check.text, /^recipe +fish-7$/m);
      assert.equal(recipeOf('out.json').limit.per_day, 2);
    }
  }
  assert.deepEqual([...seen].sort(), [...mechanisms].sort());
});

test('a recipe from a counts file lists its values; seeds are fresh', () => {
  plan(
    '--devices',
    '100000',
    '--counts',
    'fish.tsv',
    '--epsilon',
    '2',
    '--mechanism',
    'grr',
    '--recipe-out',
    'a.json',
    '--expires',
    '2031-02-03',
  );
  assert.deepEqual(recipeOf('a.json').parameters.values, [
    'cod',
    'herring',
    '"red" <mullet>',
    'eel',
  ]);
  assert.equal(recipeOf('a.json').expires, '2031-02-03');
  for (const path of ['b.json', 'c.json'])
    plan('--devices', '100000', '--open', '--epsilon', '2', '--recipe-out', path);
  assert.match(recipeOf('b.json').seed, /^[0-9a-f]{64}$/);
  assert.notEqual(recipeOf('b.json').seed, recipeOf('c.json').seed);
});

test('a central figure is that of the block that the recipe states', () => {
  const args = ['--devices', '1000000', '--size', '1000', '--epsilon', '2'];
  /** What `shoal account` says of so many reports. @param {number} reports @param {...string} more */
  const account = (reports, ...more) =>
    JSON.parse(
      shoal(
        'account',
        ...['--recipe', 'block.json', '--delta', '1e-9', '--honest', '0.8', '--format', 'json'],
        ...['--reports', String(reports), ...more],
      ).text,
    );
  assert.ok(!('guarantees' in plan(...args)), 'nobody stated the honest share');

  // half of a day's reports by default, over however many days
  for (const days of ['1', '30']) {
    const long = ['--period', days, '--per-day', '2', '--epsilon', '2'];
    const found = plan(
      ...args.slice(0, 4),
      ...long,
      ...['--honest', '0.8', '--recipe-out', 'block.json'],
    );
    assert.equal(found.block_minimum, 1000000);
    assert.deepEqual(recipeOf('block.json').block, { minimum: 1000000 });
    const { central } = found.guarantees;
    assert.equal(central.epsilon, account(1000000).best.epsilon, 'not of all reports');
    assert.deepEqual([central.reports, central.honest], [1000000, 0.8]);
    assert.deepEqual(central.person, {
      epsilon: account(1000000, '--contributions', String(2 * Number(days))).user.blanket,
      reports: 2 * Number(days),
      days: Number(days),
    });
  }

  // the smallest block that gives the epsilon, and not one of a report fewer
  const asked = plan(...args, '--honest', '0.8', '--central', '0.05', '--recipe-out', 'asked.json');
  const { block_minimum: block } = asked;
  assert.deepEqual(recipeOf('asked.json').block, { minimum: block });
  assert.ok(asked.guarantees.central.epsilon <= 0.05);
  assert.ok(account(Math.floor(block * 0.999)).best.epsilon > 0.05);
  const text = shoal('plan', ...args, '--honest', '0.8', '--central', '0.05').text;
  assert.match(text, /^smallest block {6}[\d,]+ reports, block\.minimum of the recipe$/m);
  assert.match(text, /^The central epsilon assumes that 80 % of the reports are honest\./m);

  const stated = plan(...args, '--honest', '1', '--block', '1000', '--recipe-out', 'least.json');
  assert.equal(stated.guarantees.central.reports, 1000);
  assert.ok(!('block' in recipeOf('least.json')), 'the minimum cohort, which is the default');
  // no figure where none is true
  const words = ['--devices', '1000000', '--open', '--epsilon', '2', '--mechanism', 'rappor'];
  assert.equal(plan(...words, '--honest', '1').guarantees.no_central, 'permanent');

  for (const [why, ...options] of /** @type {[RegExp, ...string[]][]} */ ([
    [/--block and --central need --honest/, '--block', '5000'],
    [/--block and --central need --honest/, '--central', '0.5'],
    [/--block or --central/, '--honest', '1', '--block', '5000', '--central', '0.5'],
    [/--block must be/, '--honest', '1', '--block', '999'],
    [/--honest must be/, '--honest', '0'],
    [/no block of up to 1000000000 reports/, '--honest', '0.01', '--central', '0.001'],
  ])) {
    const run = shoal('plan', ...args, ...options);
    assert.equal(run.code, 2, run.err);
    assert.match(run.err, why);
  }
});

test('a central promise chooses mechanism and epsilon, beside what a trusted server would have', () => {
  const args = ['--devices', '200000', '--size', '300', '--reports', '100000'];
  const promise = ['--central-epsilon', '0.2', '--delta', '1e-7'];
  const found = plan(...args, ...promise, '--recipe-out', 'promised.json');
  const [{ mechanism, stderr }] = found.candidates;
  assert.equal(recipeOf('promised.json').mechanism, mechanism);
  const { laplace_stderr: laplace, gaussian_stderr: gaussian, ...central } = found.central;
  assert.deepEqual(central, { epsilon: 0.2, delta: 1e-7, reports: 100000 });
  const rate = 0.1; // epsilon over the two counts that a changed value moves
  const exact = Math.sqrt(2 * Math.exp(-rate)) / (1 - Math.exp(-rate));
  assert.ok(Math.abs(laplace / exact - 1) < 1e-6);
  assert.ok(gaussian > laplace && gaussian < 3 * laplace);
  const account = JSON.parse(
    shoal(
      'account',
      ...['--recipe', 'promised.json', '--reports', '100000', '--delta', '1e-7'],
      ...['--format', 'json'],
    ).text,
  );
  assert.ok(account.best.epsilon <= 0.2 * 1.0005 && account.best.epsilon > 0.19);
  // What the general bounds allow has a larger error; a report that may cost less, too.
  const general = JSON.parse(
    shoal(
      'account',
      ...['--reports', '100000', '--delta', '1e-7', '--central-epsilon', '0.2'],
      ...['--find', 'local-epsilon', '--format', 'json'],
    ).text,
  ).stronger;
  assert.ok(
    plan(...args.slice(0, 4), '--epsilon', general.toFixed(6)).candidates[0].stderr > stderr,
  );
  const capped = plan(...args, ...promise, '--epsilon', '1.5');
  assert.ok(capped.epsilon === 1.5 && capped.candidates[0].stderr > stderr);
  assert.match(
    shoal('plan', ...args, ...promise, '--mechanism', 'olh').text,
    /^central promise {5}0\.2 at delta 1e-07, in sums of 100,000 honest reports or more: epsilon [\d.]+ of a report\na trusted server {4}standard error [\d.]+ by Laplace noise, [\d.]+ by Gaussian noise$/m,
  );
  for (const [why, ...options] of /** @type {[RegExp, ...string[]][]} */ ([
    [/go together/, '--central-epsilon', '0.2'],
    [/go together/, '--epsilon', '1', '--delta', '1e-7'],
    [/--budget and --surface do not go/, ...promise, '--reports', '9', '--budget', '3'],
    [/--delta must be/, '--central-epsilon', '0.2', '--delta', '0.1', '--reports', '1000'],
  ])) {
    const run = shoal('plan', ...args.slice(0, 4), ...options);
    assert.equal(run.code, 2, run.err);
    assert.match(run.err, why);
  }
});

test('nothing is said plainly, with what it would take, and no recipe is written', () => {
  const args = ['--devices', '20000', '--size', '5000', '--zipf', '0.3', '--epsilon', '1'];
  const found = plan(...args, '--recipe-out', 'none.json');
  assert.equal(found.answer, 'nothing');
  assert.ok(found.why.length > 0);
  assert.ok(found.needed_devices > 20000 && found.needed_epsilon > 1);
  assert.equal(existsSync(join(folder, 'none.json')), false);
  const table = shoal('plan', ...args, '--recipe-out', 'none.json');
  assert.equal(table.code, 0);
  assert.match(table.text, /NOTHING/);
  assert.match(table.err, /no recipe was written/);
  assert.match(table.text, new RegExp(`epsilon ${found.needed_epsilon} a report`));
  assert.notEqual(
    plan('--devices', String(found.needed_devices), ...args.slice(2)).answer,
    'nothing',
  );
});

test('a wanted share is met or refused', () => {
  const args = ['--devices', '1000000', '--size', '1000', '--epsilon', '2'];
  const { smallest_share: least } = plan(...args).candidates[0];
  assert.notEqual(plan(...args, '--detect', String(least * 1.01)).answer, 'nothing');
  const below = plan(...args, '--detect', String(least / 2));
  assert.equal(below.answer, 'nothing');
  assert.equal(below.target_share, least / 2);
  assert.match(
    shoal('plan', ...args, '--detect', String(least / 2)).text,
    /^needed +to see 0\.\d+ %: [\d,]+ devices at epsilon 2, or epsilon [\d.]+ a report with 1,000,000 devices$/m,
  );
});

test('a budget is shared out over all reports', () => {
  const found = plan(
    '--devices',
    '100000',
    '--size',
    '50',
    '--budget',
    '8',
    '--period',
    '7',
    '--per-day',
    '2',
  );
  assert.equal(found.reports, 1400000);
  assert.equal(found.epsilon, 0.571428);
  assert.ok(found.epsilon_device <= 8);
  assert.equal(found.once_epsilon, 8);
  assert.ok(
    found.once_smallest_share < found.candidates[0].smallest_share,
    'one report of all the budget sees more',
  );
  assert.match(
    shoal('plan', '--devices', '100000', '--size', '50', '--budget', '8', '--period', '7').text,
    /a budget of 8 over 7 reports of a device, by basic composition/,
  );
});

test('Figure 4b as table, CSV, JSON and picture', () => {
  const args = ['plan', '--surface', '--devices', '100000000', '--epsilon', '2', '--zipf', '1.2'];
  const lines = shoal(...args, '--format', 'csv')
    .text.trim()
    .split('\n');
  assert.equal(lines[0], 'k,m,record_bits,sketch_bytes,stderr');
  const rows = lines.slice(1).map((line) => line.split(',').map(Number));
  assert.deepEqual(
    JSON.parse(shoal(...args, '--format', 'json').text).rows.map((/** @type {any} */ r) => [
      r.k,
      r.m,
      r.record_bits,
      r.sketch_bytes,
      r.stderr,
    ]),
    rows,
  );
  const at = (/** @type {number} */ k, /** @type {number} */ m) =>
    rows.find((row) => row[0] === k && row[1] === m)?.[4] ?? NaN;
  // Theorem 4.2 at the paper's emoji setting, k = 65,536 and m = 1,024: coins, the report's own collision, pairs.
  const ranks = Array.from({ length: 100000 }, (_, i) => (i + 1) ** -1.2);
  const sum = ranks.reduce((a, x) => a + x, 0);
  const squares = ranks.reduce((a, x) => a + (x / sum) ** 2, 0);
  const theorem =
    (1024 / 1023) *
    Math.sqrt(1e8 * (Math.E / (Math.E - 1) ** 2 + 1 / 1024) + (1e16 * squares) / (65536 * 1024));
  assert.ok(Math.abs(at(65536, 1024) / theorem - 1) < 0.001);
  assert.ok(at(16, 16) > 100 * at(65536, 1024));
  const svg = shoal(...args, '--format', 'svg').text;
  assert.match(svg, /^<svg [^]*<\/svg>\n$/);
  assert.equal(svg.match(/<rect /g)?.length, 1 + 13 * 13);
  assert.equal(svg.match(/<polyline /g)?.length, 7);
  assert.doesNotMatch(svg, /nan|inf/i);
  assert.equal(
    readFileSync(join(root, 'docs/surface.svg'), 'utf8'),
    svg,
    'the picture of docs/plan.md',
  );
  assert.match(shoal(...args).text, /^ +65536 +25578 /m);
  assert.equal(shoal(...args, '--mechanism', 'grr').code, 2);
});

test('what does not go together is refused', () => {
  const base = ['plan', '--devices', '1000', '--epsilon', '1'];
  /** @type {[string[], RegExp][]} */
  const refused = [
    [base, /says what values are/],
    [[...base, '--size', '5', '--open'], /says what values are/],
    [[...base, '--mean'], /--low and --high/],
    [[...base, '--size', '5', '--low', '3'], /go together/],
    [[...base, '--size', '5', '--low', '3', '--high', '3'], /below/],
    [[...base, '--size', '1'], /--size/],
    [[...base, '--size', '5', '--budget', '1'], /not both/],
    [['plan', '--devices', '1000', '--size', '5', '--budget', '1'], /--period/],
    [
      ['plan', '--devices', '1000', '--size', '5', '--budget', '1', '--period', '1000'],
      /less than 0\.01/,
    ],
    [['plan', '--size', '5', '--epsilon', '1'], /--devices/],
    [[...base, '--size', '5', '--epsilon', '2'], /twice/],
    [['plan', '--devices', '1000', '--size', '5', '--epsilon', '0.001'], /0\.01 to 16/],
    [[...base, '--size', '5', '--format', 'svg'], /--surface/],
    [[...base, '--size', '5', '--mechanism', 'guess'], /no mechanism/],
    [[...base, '--counts', 'fish.tsv', '--size', '3'], /holds 4 values/],
    [[...base, '--counts', 'fish.tsv', '--zipf', '1'], /--zipf/],
    [[...base, '--size', '4', '--low', '0', '--high', '9', '--counts', 'fish.tsv'], /not a number/],
    [[...base, '--surface', '--all'], /--surface/],
    [[...base, '--surface', '--mean', '--low', '0', '--high', '1'], /--surface/],
    [[...base, '--size', '5', 'file'], /options only/],
  ];
  for (const [args, says] of refused) {
    const run = shoal(...args);
    assert.equal(run.code, 2, args.join(' '));
    assert.match(run.err, says, args.join(' '));
    assert.equal(run.text, '');
  }
  assert.equal(shoal(...base, '--counts', 'absent.tsv').code, 5);
  assert.match(shoal('plan', '--help').text, /^Usage: shoal plan/);
});

/** @param {string[]} args */
function good(...args) {
  const run = shoal(...args);
  assert.equal(run.code, 0, run.err);
  return run.text;
}

/** @param {RegExp} says @param {string[]} args */
function bad(says, ...args) {
  const run = shoal(...args);
  assert.match(run.err, says);
  assert.equal(run.code, 2);
  assert.equal(run.text, '');
}

test('--discover puts both ways side by side, and writes the recipe of either', () => {
  const asked = ['plan', '--discover', '--devices', '1000000', '--epsilon', '8'];
  const plan = JSON.parse(good(...asked, '--format', 'json'));
  assert.equal(plan.answer, 'trie');
  assert.ok(plan.trie.share < plan.sfp.share && plan.trie.words > 200, 'a trie finds rarer words');
  assert.equal(plan.sfp.oracle, 'olh');
  assert.equal(plan.sfp.epsilon + plan.sfp.epsilon_fragment, 8);
  const devices = plan.trie.rounds.reduce(
    (/** @type {number} */ sum, /** @type {any} */ round) => sum + round.devices,
    0,
  );
  assert.ok(Math.abs(devices - 1e6) < 10, 'every device answers one round');
  const cms = JSON.parse(
    good(...asked, '--method', 'sfp', '--oracle', 'cms', '--length', '20', '--format', 'json'),
  );
  assert.equal(cms.answer, 'sfp');
  assert.ok(cms.sfp.share > plan.sfp.share);

  good(...asked, '--method', 'sfp', '--id', 'new-words', '--recipe-out', 'sfp.json');
  assert.match(good('recipe', 'check', 'sfp.json'), /\nepsilon per report {2}8 /);
  good(
    ...asked,
    '--method',
    'trie',
    '--contributions',
    '4',
    '--characters',
    'абвя',
    '--depth',
    '9',
    '--recipe-out',
    'trie.json',
  );
  const trie = JSON.parse(readFileSync(join(folder, 'trie.json'), 'utf8'));
  assert.equal(trie.parameters.epsilon, 2);
  assert.equal(trie.encoding[0].characters, 'абвя');
  assert.match(good('recipe', 'check', 'trie.json'), /\nepsilon per person {2}8, user-level/);
  assert.match(good(...asked), /\nanswer {14}trie\n/);
  // N-grams at the same epsilon: their least share is above what sfp finds, or none is enough.
  assert.ok(plan.rappor_ngram.share > plan.sfp.share && plan.rappor_ngram.share < 0.01);
  assert.match(
    good(...asked),
    /\nrappor-ngram {8}finds only what 0\.[\d]+ % or more send, and often nothing; strings of 10 bytes\n/,
  );
  const few = ['plan', '--discover', '--devices', '50', '--epsilon', '2'];
  assert.match(good(...few), /\nrappor-ngram {8}finds nothing; strings of 10 bytes\n/);

  bad(/--epsilon is needed/, 'plan', '--discover', '--devices', '1000');
  bad(
    /--epsilon must be from 0.1 to 16/,
    'plan',
    '--discover',
    '--devices',
    '1000',
    '--epsilon',
    '17',
  );
  bad(/--method is sfp or trie/, ...asked, '--method', 'cms');
  bad(/length/, ...asked, '--length', '33');
  bad(/without blanks, quotes/, ...asked, '--characters', 'a"b');
  bad(/unknown option --size/, ...asked, '--size', '9');
});

test('--discover --length plans rounds for long strings, and says how far they reach', () => {
  const wish = ['plan', '--discover', '--devices', '1000000', '--epsilon', '4'];
  const asked = [...wish, '--method', 'trie'];
  const of = (/** @type {string[]} */ ...more) =>
    JSON.parse(good(...asked, ...more, '--format', 'json')).trie;
  const [long, any] = [of('--length', '9'), of()];
  assert.ok(any.reach < 6 && long.reach >= 7 && long.wanted === 9, 'long strings get rounds');
  for (const trie of [long, any]) {
    const last = trie.rounds.at(-1);
    assert.equal(trie.reach, last.depth + last.step - 1);
    assert.ok(trie.open > 0);
  }
  assert.ok(long.words > 0.9 * any.words, 'short ones are not given up for them');
  const said = good(...asked, '--length', '9');
  assert.match(said, /\n +reaches strings of up to 8 characters; about \d+ starts are left open\n/);
  assert.match(said, /of up to the 9 .* are given up/);
  good(...asked, '--length', '7', '--recipe-out', 'seven.json', '-o', 'seven.txt');
  const recipe = JSON.parse(readFileSync(join(folder, 'seven.json'), 'utf8'));
  assert.equal(recipe.parameters.depth, 8);
  const odd = JSON.parse(good(...wish, '--method', 'sfp', '--length', '7', '--format', 'json'));
  assert.equal(odd.sfp.length, 8);
});

test('plan and recipe new choose the same rows for the same devices', () => {
  const cli = makeCli('plan-agrees');
  try {
    for (const epsilon of ['1', '2.5', '4', '6'])
      for (const devices of ['20000', '1000000', '30000000']) {
        const wish = ['--devices', devices, '--epsilon', epsilon];
        cli.good('plan', ...wish, '--open', '--mechanism', 'olh', '--recipe-out', 'planned.json');
        const made = ['--id', 'new', '--mechanism', 'olh', '--expires', '2099-12-31'];
        cli.good('recipe', 'new', ...made, ...wish, '-o', 'new.json');
        const [planned, fresh] = ['planned.json', 'new.json'].map((file) =>
          JSON.parse(cli.read(file)),
        );
        assert.deepEqual(fresh.parameters, planned.parameters, `${epsilon}, ${devices}`);
      }
    const stated = ['--epsilon', '4', '--k', '64', '--g', '8'];
    const made = ['--id', 'new', '--mechanism', 'olh', '--expires', '2099-12-31'];
    cli.good('recipe', 'new', ...made, ...stated, '-o', 'new.json');
    assert.deepEqual(JSON.parse(cli.read('new.json')).parameters, { epsilon: 4, k: 64, g: 8 });
    const cms = ['--id', 'new', '--mechanism', 'cms', '--expires', '2099-12-31'];
    cli.bad(2, /--devices also goes with/, 'recipe', 'new', ...cms, '--devices', '5');
    const past = ['--expires', '2020-01-01', '--recipe-out', 'past.json'];
    cli.bad(
      2,
      /this day has passed/,
      'plan',
      '--devices',
      '100000',
      '--open',
      '--epsilon',
      '4',
      ...past,
    );
    cli.bad(
      2,
      /this day has passed/,
      'plan',
      '--discover',
      '--devices',
      '100000',
      '--epsilon',
      '8',
      ...past,
    );
    cli.bad(2, /--expires .* has passed/, 'recipe', 'new', '--id', 'x', '--expires', '2020-01-01');
  } finally {
    cli.release();
  }
});
