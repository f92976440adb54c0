// SPDX-License-Identifier: Apache-2.0
// `shoal account` from outside: its JSON, its inverses, its models, what it refuses and how long it takes. What its numbers are
// worth is tested in test_amplification.c, test_renyi.c and test_composition.c; here every row of golden/amplification.csv is asked
// for through the command where SHOAL_SHARED names a folder that has it. The command is $SHOAL_BIN or build/release/shoal.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeCli } from './cli_helpers.mjs';

const cli = makeCli('account');
after(() => cli.release());

/** @param {...(string | number)} args */
const account = (...args) =>
  JSON.parse(cli.good('account', ...args.map(String), '--format', 'json').text);

/** @param {number} epsilon @param {number} reports @param {number | string} delta @param {...(string | number)} more */
const ask = (epsilon, reports, delta, ...more) =>
  account('--local-epsilon', epsilon, '--reports', reports, '--delta', delta, ...more);

/** Equal to 4 digits. @param {number} found @param {number} expected @param {string} [what] */
function near(found, expected, what) {
  assert.ok(
    Math.abs(found - expected) <= 5e-5 * Math.abs(expected),
    `${what ?? ''}: ${found}, not ${expected}`,
  );
}

test('every row of the shared table, to 4 digits', (t) => {
  const path = join(process.env.SHOAL_SHARED ?? '/nowhere', 'golden/amplification.csv');
  if (!existsSync(path)) {
    assert.notEqual(
      process.env.SHOAL_REQUIRE_SHARED,
      '1',
      'no golden/amplification.csv in SHOAL_SHARED',
    );
    t.skip('SKIPPED: golden/amplification.csv is not there; SHOAL_SHARED names its folder');
    return;
  }
  const rows = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  assert.equal(rows.length, 72);
  for (const [eps0, n, delta, closed, valid, clones, stronger] of rows) {
    const found = ask(Number(eps0), Number(n), Number(delta));
    near(found.clones, Number(clones), `${eps0} ${n} ${delta} clones`);
    near(found.stronger, Number(stronger), `${eps0} ${n} ${delta} stronger`);
    if (valid === 'True')
      near(found.closed_form, Number(closed), `${eps0} ${n} ${delta} closed form`);
    else assert.equal(found.closed_form, null);
  }
});

const SEED = 'ab'.repeat(32);

/** A recipe of one mechanism. @param {string} mechanism @param {object} parameters @param {object} [more] */
const recipeOf = (mechanism, parameters, more = {}) => ({
  ...{ recipe: 'r', analysis: 'a', stream: 's', value: 'item', mechanism, parameters },
  ...{ limit: { per_day: 1 }, expires: '2030-01-01' },
  ...more,
});

test('every row of the shared table of mechanisms: never above it by more than 0.5 %', (t) => {
  const path = join(process.env.SHOAL_SHARED ?? '/nowhere', 'golden/amplification-mechanisms.csv');
  if (!existsSync(path)) {
    const why = 'golden/amplification-mechanisms.csv is not in SHOAL_SHARED';
    assert.notEqual(process.env.SHOAL_REQUIRE_SHARED, '1', why);
    t.skip(`SKIPPED: ${why}`);
    return;
  }
  const rows = readFileSync(path, 'utf8').trim().split('\n').slice(1);
  assert.equal(rows.length, 36);
  for (const row of rows) {
    const [mechanism, parameter, epsilon, n, delta, , figure] = row.split(',');
    const [name, value] = parameter.split('=');
    const parameters = { epsilon: Number(epsilon), [name]: Number(value) };
    const hashed = { hash: 'poly1', seed: SEED };
    cli.write(
      'row.json',
      mechanism === 'olh'
        ? recipeOf('olh', { ...parameters, k: 64 }, hashed)
        : recipeOf(mechanism, parameters),
    );
    const found = account('--recipe', 'row.json', '--reports', n, '--delta', delta);
    assert.ok(found.blanket <= 1.005 * Number(figure), `${row}: ${found.blanket}`);
    assert.ok(found.variation_ratio <= 1.005 * Number(figure), `${row}: ${found.variation_ratio}`);
    assert.ok(found.lower <= found.blanket && found.lower > 0.4 * found.blanket, row);
    // Of the largest variation, where both are the same, the other bound has no grid.
    assert.ok(found.best.epsilon <= found.blanket && found.best.epsilon <= found.stronger, row);
    if (mechanism !== 'subset') assert.ok(found.lower > 0.996 * found.blanket, row);
  }
});

test('a recipe: its epsilon, its mechanism, several parts, and what has no crowd', () => {
  const words = { epsilon: 3, size: 1000 };
  cli.write('subset.json', recipeOf('subset', words));
  const ask = (/** @type {string} */ file, /** @type {string[]} */ ...more) =>
    account('--recipe', file, '--delta', '1e-8', ...more);
  const found = ask('subset.json', '--reports', '100000');
  assert.equal(found.local_epsilon, 3);
  assert.deepEqual(found.best, { bound: 'blanket', epsilon: found.blanket });
  assert.ok(found.blanket < 0.75 * found.stronger);
  const reports = ask('subset.json', '--central-epsilon', '0.1', '--find', 'reports').blanket;
  assert.ok(ask('subset.json', '--reports', String(reports)).blanket <= 0.1 * 1.001);
  assert.ok(ask('subset.json', '--reports', String(Math.floor(reports * 0.99))).blanket > 0.1);
  // Twenty queries of it cost less than by the bound that holds for all mechanisms.
  const many = ask('subset.json', '--reports', '100000', '--queries', '20').composition;
  const general = account(
    ...['--local-epsilon', 3, '--reports', 100000, '--delta', '1e-8', '--queries', 20],
  ).composition;
  assert.ok(many.basic < 0.8 * general.basic && many.advanced < 0.8 * general.advanced);
  // The symmetric encoding brings its own bound, without being told.
  cli.write('bits.json', recipeOf('onehot-symmetric', { epsilon: 3, size: 20 }));
  assert.ok(ask('bits.json', '--reports', '2000').renyi > 0);
  // Of several parts the figure of the variation alone is far too large.
  const word = { epsilon: 2, epsilon_fragment: 2, k: 1024, m: 64, k_fragment: 1024 };
  cli.write(
    'sfp.json',
    recipeOf(
      'sfp',
      { ...word, m_fragment: 64, length: 10, oracle: 'olh' },
      { hash: 'poly1', seed: SEED },
    ),
  );
  const several = ask('sfp.json', '--reports', '1000000');
  assert.equal(several.local_epsilon, 4);
  assert.ok(several.blanket < 0.8 * several.variation_ratio);
  assert.match(
    cli.good('account', '--recipe', 'sfp.json', '--reports', '1e6', '--delta', '1e-8').text,
    /^blanket {9}0\.[\s\S]*^a test {10}0\.\d+ {2}no bound can be below it$/m,
  );

  const open = { hash: 'poly1', seed: SEED };
  const bits = { bits: 128, hashes: 2, cohorts: 64, p: 0.25, q: 0.75, f: 0.5 };
  cli.write('rappor.json', recipeOf('rappor', bits, open));
  for (const [why, ...args] of /** @type {[RegExp, ...string[]][]} */ ([
    [/rappor\.json: no crowd bounds this recipe/, '--recipe', 'rappor.json', '--reports', '1000'],
    [/says its own epsilon/, '--recipe', 'subset.json', '--local-epsilon', '2', '--reports', '9'],
    [/says its own/, '--recipe', 'subset.json', '--model', 'deletion', '--reports', '9'],
    [
      /is what is to be found/,
      ...['--recipe', 'subset.json', '--reports', '9'],
      ...['--central-epsilon', '1', '--find', 'local-epsilon'],
    ],
  ]))
    cli.bad(2, why, 'account', ...args, '--delta', '1e-8');
});

test('the Gboard figure, per report and per device', () => {
  const found = ask(10, 30000000, '1e-10', '--per-day', 1, '--period', 60);
  near(found.clones, 0.30747);
  near(found.closed_form, 0.56544);
  assert.deepEqual(found.best, { bound: 'stronger', epsilon: found.stronger });
  assert.equal(found.user.contributions, 60);
  assert.equal(found.user.local_epsilon_replacement, 600);
  // Sixty reports cost more than sixty times one: their delta is shared.
  for (const bound of ['closed_form', 'clones', 'stronger'])
    assert.ok(
      found.user[bound] > 60 * found[bound] && found.user[bound] < 150 * found[bound],
      bound,
    );
  const half = account(
    '--local-epsilon',
    10,
    '--delta',
    '1e-10',
    '--central-epsilon',
    found.clones,
    '--find',
    'reports',
  );
  assert.ok(
    half.stronger > 0.49 * 3e7 && half.stronger < 0.51 * 3e7,
    'the stronger bound needs half the reports',
  );
});

test('at 10^9 reports a call takes less than a second, and the bracket is narrow', () => {
  const clock = process.hrtime.bigint();
  const found = ask(1, 1e9, '1e-10');
  const seconds = Number(process.hrtime.bigint() - clock) / 1e9;
  if (process.env.SHOAL_LONG === undefined) assert.ok(seconds < 3, `${seconds} s`); // on a busy machine
  for (const bound of ['clones', 'stronger']) {
    const [low, high] = found.brackets[bound];
    assert.ok(low < high && high - low < 1e-4);
    assert.equal(high, found[bound]);
  }
});

test('models are told apart', () => {
  const deletion = ask(2, 100000, '1e-8', '--model', 'deletion');
  const replacement = ask(4, 100000, '1e-8');
  assert.equal(deletion.local_epsilon_replacement, 4);
  for (const bound of ['closed_form', 'clones', 'stronger'])
    assert.equal(deletion[bound], replacement[bound]);
  assert.equal(deletion.model, 'deletion');
  assert.match(
    cli.good(
      'account',
      '--local-epsilon',
      '2',
      '--reports',
      '1000',
      '--delta',
      '1e-6',
      '--model',
      'deletion',
    ).text,
    /deletion model: 4 in the replacement model/,
  );
  const one = account(
    '--reports',
    100000,
    '--delta',
    '1e-8',
    '--central-epsilon',
    0.5,
    '--find',
    'local-epsilon',
  );
  const two = account(
    '--reports',
    100000,
    '--delta',
    '1e-8',
    '--central-epsilon',
    0.5,
    '--find',
    'local-epsilon',
    '--model',
    'deletion',
  );
  near(two.stronger * 2, one.stronger);
});

test('only honest reports count', () => {
  const found = ask(3, 100000, '1e-7', '--honest', 0.25);
  assert.equal(found.reports, 100000);
  assert.equal(found.honest_reports, 25000);
  assert.equal(found.stronger, ask(3, 25000, '1e-7').stronger);
  const all = account(
    '--local-epsilon',
    3,
    '--delta',
    '1e-7',
    '--central-epsilon',
    0.3,
    '--find',
    'reports',
  );
  const quarter = account(
    '--local-epsilon',
    3,
    '--delta',
    '1e-7',
    '--central-epsilon',
    0.3,
    '--find',
    'reports',
    '--honest',
    0.25,
  );
  for (const bound of ['closed_form', 'clones', 'stronger'])
    assert.equal(quarter[bound], 4 * all[bound]);
});

test('the Renyi route is of the symmetric encoding only, and least for many queries', () => {
  assert.equal(ask(4, 100000, '1e-6').renyi, null);
  const found = ask(4, 100000, '1e-6', '--mechanism', 'onehot-symmetric', '--queries', 50);
  assert.ok(found.renyi < found.stronger);
  assert.equal(found.best.bound, 'renyi');
  const { composition } = found;
  assert.equal(composition.queries, 50);
  assert.equal(composition.local_epsilon_replacement, 200);
  assert.ok(composition.renyi < composition.advanced && composition.renyi < composition.basic);
  assert.ok(composition.numeric > composition.renyi && composition.numeric < composition.advanced);
  assert.ok(composition.basic > 50 * found.stronger, 'each query has a fiftieth of delta');
});

test('several reports of a person in each query', () => {
  const args = [3.5, 60000, '1e-6', '--mechanism', 'onehot-symmetric', '--queries', 20];
  const found = ask(
    .../** @type {[number, number, string]} */ (args),
    '--contributions',
    3,
  ).composition;
  const { user, ...item } = found;
  const alone = ask(.../** @type {[number, number, string]} */ (args)).composition;
  assert.deepEqual({ ...alone.user, queries: 20 }, { ...item, contributions: 1 });
  assert.deepEqual([user.contributions, user.local_epsilon_replacement], [3, 20 * 3 * 3.5]);
  // Basic: the user's figure of one query at its share of delta, twenty times; account takes the coarse sum here.
  const one = ask(3.5, 60000, '5e-8', '--contributions', 3);
  assert.ok(Math.abs(user.basic - 20 * one.user.stronger) < 1e-3 * user.basic);
  for (const rule of ['basic', 'advanced', 'renyi', 'numeric'])
    assert.ok(user[rule] > 3 * item[rule] && user[rule] < 5 * item[rule], rule);
  const month = ask(
    .../** @type {[number, number, string]} */ (args),
    '--per-day',
    1,
    '--period',
    3,
  ).composition;
  assert.deepEqual(month, found);
  cli.write('few', '3.5 60000 20\n1 4\n');
  const schedule = account(
    '--schedule',
    'few',
    '--delta',
    '1e-6',
    '--contributions',
    4,
  ).composition;
  assert.equal(schedule.user.local_epsilon_replacement, 4 * (20 * 3.5 + 1));
  cli.bad(
    2,
    /more than all honest/,
    'account',
    '--schedule',
    'few',
    '--delta',
    '1e-6',
    '--contributions',
    '5',
  );
  assert.match(
    cli.good(
      'account',
      '--local-epsilon',
      '3.5',
      '--reports',
      '60000',
      '--delta',
      '1e-6',
      '--queries',
      '20',
      '--contributions',
      '3',
    ).text,
    /\n\n20 queries\ncomposition {5}per report {3}per person \(3 in each\)\nbasic .*\nadvanced .*\nnumeric .*\nno crowd {8}70 {11}210\n/,
  );
});

test('inverse questions by the Renyi route', () => {
  const renyi = ['--mechanism', 'onehot-symmetric'];
  const asked = ['--delta', '1e-7', '--central-epsilon', 0.25];
  const { renyi: reports, stronger } = account(
    '--local-epsilon',
    3,
    ...asked,
    '--find',
    'reports',
    ...renyi,
  );
  assert.ok(reports < stronger / 3);
  assert.ok(ask(3, reports, '1e-7', ...renyi).renyi <= 0.25);
  assert.ok(ask(3, Math.floor(reports * 0.998), '1e-7', ...renyi).renyi > 0.25);
  const largest = account('--reports', reports, ...asked, '--find', 'local-epsilon', ...renyi);
  assert.ok(largest.renyi >= 3 * (1 - 1e-6) && largest.renyi < 3.02 && largest.stronger < 3);
  assert.equal(
    account('--local-epsilon', 3, ...asked, '--find', 'reports', '--honest', 0.5, ...renyi).renyi,
    2 * reports,
  );
  near(
    account(
      '--reports',
      reports,
      ...asked,
      '--find',
      'local-epsilon',
      '--model',
      'deletion',
      ...renyi,
    ).renyi,
    largest.renyi / 2,
  );
  const group = account(
    '--local-epsilon',
    3,
    ...asked,
    '--find',
    'reports',
    '--contributions',
    4,
    ...renyi,
  ).renyi;
  assert.ok(
    ask(3, group, '1e-7', '--contributions', 4, ...renyi).user.renyi <= 0.25 &&
      group > 12 * reports,
  );
  assert.equal(account('--local-epsilon', 3, ...asked, '--find', 'reports').renyi, null);
  assert.match(
    cli.good('account', '--local-epsilon', '3', ...asked.map(String), '--find', 'reports', ...renyi)
      .text,
    new RegExp(`^renyi {11}${reports}$`, 'm'),
  );
});

test('a schedule of several kinds', () => {
  cli.write('schedule', '# epsilon reports queries\n4 100000 30\n 4\t100000 20 # the same\n\n');
  const found = account(
    '--schedule',
    'schedule',
    '--delta',
    '1e-6',
    '--mechanism',
    'onehot-symmetric',
  );
  const flat = ask(4, 100000, '1e-6', '--mechanism', 'onehot-symmetric', '--queries', 50);
  for (const rule of ['basic', 'advanced', 'renyi', 'numeric'])
    near(found.composition[rule], flat.composition[rule], rule);
  cli.write('bad', '4 100000\n4 many\n');
  cli.bad(2, /bad: line 2: --reports must be/, 'account', '--schedule', 'bad', '--delta', '1e-6');
  cli.write('empty', '# nothing\n');
  cli.bad(2, /no queries/, 'account', '--schedule', 'empty', '--delta', '1e-6');
  cli.write('binary', '4 100000\n\0\n4 100000\n');
  cli.bad(2, /not a text/, 'account', '--schedule', 'binary', '--delta', '1e-6');
  cli.bad(5, /absent/, 'account', '--schedule', 'absent', '--delta', '1e-6');
  cli.write('long', '4 100000 1 7\n');
  cli.bad(2, /line 1: a line is local epsilon/, 'account', '--schedule', 'long', '--delta', '1e-6');
});

test('a bound that says nothing is null', () => {
  const few = ask(0.01, 2, '1e-15');
  assert.equal(few.closed_form, null);
  assert.ok(few.stronger === null || few.stronger < 0.01);
  assert.match(
    cli.good('account', '--local-epsilon', '4', '--reports', '100', '--delta', '1e-6').text,
    /^closed form {5}- +-$/m,
  );
  const out = account(
    '--local-epsilon',
    16,
    '--delta',
    '1e-15',
    '--central-epsilon',
    0.00001,
    '--find',
    'reports',
  );
  assert.equal(out.stronger, null, 'more than 10^12');
});

test('extremes are finite and ordered', () => {
  for (const epsilon of [0.01, 16])
    for (const reports of [2, 1e12])
      for (const delta of ['1e-3', '1e-15']) {
        const found = ask(epsilon, reports, delta, '--mechanism', 'onehot-symmetric');
        for (const bound of ['closed_form', 'clones', 'stronger', 'renyi']) {
          assert.ok(
            found[bound] === null || (found[bound] >= 0 && found[bound] <= epsilon),
            `${epsilon} ${reports} ${delta} ${bound}`,
          );
        }
        if (found.clones !== null && found.stronger !== null)
          assert.ok(found.stronger <= found.clones * (1 + 1e-6));
      }
});

test('Figure 1', () => {
  const figure = account('--figure', 1);
  assert.equal(figure.rows.length, 34);
  const row = figure.rows.find(
    (/** @type {any} */ r) => r.local_epsilon === 3 && r.reports === 10000,
  );
  const alone = ask(3, 10000, '1e-6');
  for (const bound of ['closed_form', 'clones', 'stronger']) near(row[bound], alone[bound], bound);
  // The paper: at most (1, 1e-6) for epsilon0 = 3 once n > 1,000, by a numerical bound.
  assert.ok(
    figure.rows.find((/** @type {any} */ r) => r.local_epsilon === 3 && r.reports === 1000)
      .stronger < 1,
  );
  const svg = cli.good('account', '--figure', '1', '--format', 'svg', '-o', 'figure.svg');
  assert.equal(svg.text, '');
  const text = cli.read('figure.svg');
  assert.match(text, /^<svg [^]*<\/svg>\n$/);
  assert.equal([...text.matchAll(/<polyline/g)].length, 6);
  assert.doesNotMatch(text, /nan|inf/i);
  assert.equal(
    cli.good('account', '--figure', '1', '--format', 'csv').text.trim().split('\n').length,
    35,
  );
});

test('refusals', () => {
  const full = ['--local-epsilon', '1', '--reports', '1000', '--delta', '1e-6'];
  /** @type {[RegExp, ...string[]][]} */
  const refused = [
    [/--delta is needed/, '--local-epsilon', '1', '--reports', '1000'],
    [/--reports is needed/, '--local-epsilon', '1', '--delta', '1e-6'],
    [/--local-epsilon is needed/, '--reports', '1000', '--delta', '1e-6'],
    [/--local-epsilon must be/, '--local-epsilon', 'nan', '--reports', '1000', '--delta', '1e-6'],
    [/--local-epsilon must be/, '--local-epsilon', '16.1', '--reports', '1000', '--delta', '1e-6'],
    [/--reports must be/, '--local-epsilon', '1', '--reports', '1', '--delta', '1e-6'],
    [/--reports must be/, '--local-epsilon', '1', '--reports', '1000000000001', '--delta', '1e-6'],
    [/--delta must be/, '--local-epsilon', '1', '--reports', '1000', '--delta', '0'],
    [/--delta must be/, '--local-epsilon', '1', '--reports', '1000', '--delta', '0.01'],
    [/--model is/, ...full, '--model', 'removal'],
    [/--mechanism is/, ...full, '--mechanism', 'grr'],
    [/--honest must be/, ...full, '--honest', '0'],
    [/go together/, ...full, '--per-day', '2'],
    [/go together/, ...full, '--find', 'reports'],
    [/what is to be found/, ...full, '--find', 'reports', '--central-epsilon', '1'],
    [/what is to be found/, ...full, '--find', 'local-epsilon', '--central-epsilon', '1'],
    [/more than all honest/, ...full, '--contributions', '900', '--honest', '0.5'],
    [/--format is table or json/, ...full, '--format', 'svg'],
    [/--figure is 1/, '--figure', '2'],
    [/--figure takes/, '--figure', '1', '--local-epsilon', '3'],
    [/takes options only/, ...full, 'file'],
    [/did you mean --reports/, '--report', '3'],
  ];
  for (const [says, ...args] of refused) cli.bad(2, says, 'account', ...args);
  assert.match(cli.good('account', '--help').text, /^Usage: shoal account/);
  const loose = cli.good('account', '--local-epsilon', '1', '--reports', '2000', '--delta', '1e-3');
  assert.match(loose.err, /delta is above 1 \/ reports/);
});
