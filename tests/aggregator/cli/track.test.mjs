// SPDX-License-Identifier: Apache-2.0
// Runs over epochs from outside: a recipe from options, its plan and what is refused; devices simulated through a run; the series in every
// format; each next recipe from the accumulator before it; broken chains; shares of strings.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { makeCli } from './cli_helpers.mjs';

const cli = makeCli('track');
const { bad, good, read, write } = cli;
after(() => cli.release());

const EPOCHS = 12;
const shape = [
  '--users',
  '5000',
  '--epochs',
  String(EPOCHS),
  '--samples',
  '20000',
  '--expires',
  '2099-12-31',
];
good(
  'recipe',
  'new',
  '--id',
  'dark-mode',
  '--mechanism',
  'thresh',
  '--epsilon',
  '16',
  ...shape,
  '-o',
  'run.json',
);
// a half until epoch 4, then 0.9, and from epoch 9 on 0.2
write('share.tsv', '1\t0\t1\n1\t1\t1\n5\t0\t1\n5\t1\t9\n9\t0\t8\n9\t1\t2\n');
good(
  'simulate',
  '--recipe',
  'run.json',
  '--counts',
  'share.tsv',
  '--seed',
  'one',
  '-o',
  'run',
  '--threads',
  '1',
);

/** @param {number} epoch */
const name = (epoch) => `run/${String(epoch).padStart(4, '0')}`;
/** @param {number} from @param {number} to */
const pairs = (from, to) =>
  Array.from({ length: to - from + 1 }, (_, i) => [
    '--recipe',
    `${name(from + i)}.recipe.json`,
    `${name(from + i)}.acc`,
  ]).flat();
const isSeries = new Ajv2020({ strictTypes: false }).compile(
  JSON.parse(
    readFileSync(new URL('../../../docs/schema/series.schema.json', import.meta.url), 'utf8'),
  ),
);
/** @param {...string} args @returns {any} as the schema says */
function track(...args) {
  const result = JSON.parse(good('track', ...args, '--format', 'json').text);
  assert.ok(isSeries(result), JSON.stringify(isSeries.errors));
  return result;
}

test('a recipe of a run begins with epoch 1, and its check says what it costs and sees', () => {
  const recipe = JSON.parse(read('run.json'));
  assert.deepEqual(recipe.round, { index: 1 });
  assert.deepEqual(recipe.parameters, {
    epsilon: 16,
    low: 0,
    high: 1,
    users: 5000,
    epochs: 12,
    samples: 20000,
    smallest_group: 5000,
    groups: 1,
    delta: '1e-6',
  });
  const text = good('recipe', 'check', 'run.json').text;
  assert.match(text, /^epoch +1 of 12$/m);
  assert.match(text, /^epsilon per person +16, of all epochs together; debited once$/m);
  assert.match(text, /delta=1e-6/);
  assert.match(text, /^up to 0\.0\d+ +never$/m);
  const plan = good(
    'plan',
    '--track',
    '--devices',
    '5000',
    '--epochs',
    '12',
    '--samples',
    '20000',
    '--epsilon',
    '16',
    '--change',
    '0.4',
  ).text;
  for (const line of text
    .split('\n')
    .filter((each) => /^(votes|estimates|update|more than)/.test(each)))
    assert.ok(plan.includes(`${line}\n`), line);
  assert.match(plan, /A change of 0\.4 is voted on at once/);
  const json = JSON.parse(
    good(
      'plan',
      '--track',
      '--devices',
      '5000',
      '--epochs',
      '12',
      '--samples',
      '20000',
      '--epsilon',
      '16',
      '--format',
      'json',
    ).text,
  );
  assert.equal(json.waits.length, 4);
  assert.deepEqual(
    json.waits.map((/** @type {{epochs: number}} */ each) => each.epochs),
    [7, 3, 1, 0],
  );
});

test('runs that cannot be are refused with what would do', () => {
  const small = [
    '--id',
    'x',
    '--mechanism',
    'thresh',
    '--epochs',
    '12',
    '--samples',
    '20000',
    '--expires',
    '2099-12-31',
  ];
  const says =
    /smallest_group: 1000 of 5000 users could not call an update .*the smallest that works is (\d+); or (\d+) users in 1 group/;
  const run = bad(
    2,
    says,
    'recipe',
    'new',
    ...small,
    '--users',
    '5000',
    '--epsilon',
    '16',
    '--smallest-group',
    '1000',
  );
  const [, group, users] = /** @type {RegExpExecArray} */ (says.exec(run.err));
  // and what it says is true: with epsilon enough these are the least
  good('recipe', 'new', ...small, '--users', '5000', '--epsilon', '16', '--smallest-group', group);
  bad(
    2,
    /smallest_group/,
    'recipe',
    'new',
    ...small,
    '--users',
    '5000',
    '--epsilon',
    '16',
    '--smallest-group',
    String(Number(group) - 1),
  );
  good(
    'plan',
    '--track',
    '--devices',
    users,
    '--epochs',
    '12',
    '--samples',
    '2000',
    '--epsilon',
    '16',
  );
  bad(
    2,
    /smallest_group/,
    'plan',
    '--track',
    '--devices',
    String(Number(users) - 1),
    '--epochs',
    '12',
    '--samples',
    '2000',
    '--epsilon',
    '16',
  );
  write('small.json', {
    ...JSON.parse(read('run.json')),
    parameters: { ...JSON.parse(read('run.json')).parameters, smallest_group: 1000 },
  });
  bad(
    2,
    /small\.json: parameters\.smallest_group: 1000 of 5000 users/,
    'recipe',
    'check',
    'small.json',
  );
  bad(
    2,
    /delta must be 1e-3 to 1e-15/,
    'recipe',
    'new',
    ...small,
    '--users',
    '5000',
    '--delta',
    '1e-20',
  );
  bad(
    2,
    /delta must be 1e-3 to 1e-15/,
    'plan',
    '--track',
    '--devices',
    '5000',
    '--epochs',
    '12',
    '--samples',
    '2000',
    '--epsilon',
    '16',
    '--delta',
    '0.5',
  );
  bad(
    2,
    /parameters\.samples: with 9000000 .* up to about \d+ leave a device one estimate/,
    'plan',
    '--track',
    '--devices',
    '5000',
    '--epochs',
    '12',
    '--samples',
    '9000000',
    '--epsilon',
    '16',
  );
  bad(2, /--users is needed/, 'recipe', 'new', ...small);
});

test('a simulated run: a recipe and an accumulator an epoch, the same whatever the threads', () => {
  good(
    'simulate',
    '--recipe',
    'run.json',
    '--counts',
    'share.tsv',
    '--seed',
    'one',
    '-o',
    'again',
    '--threads',
    '3',
  );
  for (let epoch = 1; epoch <= EPOCHS; epoch++) {
    const file = `${String(epoch).padStart(4, '0')}`;
    assert.equal(read(`again/${file}.acc`), read(`run/${file}.acc`), file);
    assert.equal(read(`again/${file}.recipe.json`), read(`run/${file}.recipe.json`), file);
  }
  assert.equal(read('again/simulation.json'), read('run/simulation.json'));
  bad(
    2,
    /0001\.recipe\.json exists/,
    'simulate',
    '--recipe',
    'run.json',
    '--counts',
    'share.tsv',
    '--seed',
    'two',
    '-o',
    'again',
  );
  bad(
    2,
    /a simulation begins with the recipe of epoch 1/,
    'simulate',
    '--recipe',
    `${name(2)}.recipe.json`,
    '--counts',
    'share.tsv',
    '--seed',
    'x',
    '-o',
    'x',
  );
  bad(
    2,
    /do not go with a run over epochs/,
    'simulate',
    '--recipe',
    'run.json',
    '--counts',
    'share.tsv',
    '--seed',
    'x',
    '-o',
    'x',
    '--format',
    'ndjson',
  );
  write('late.tsv', '1\t0\t1\n13\t1\t1\n');
  bad(
    2,
    /the counts file has epoch 13, but the run ends with epoch 12/,
    'simulate',
    '--recipe',
    'run.json',
    '--counts',
    'late.tsv',
    '--seed',
    'x',
    '-o',
    'x',
  );
  write('words.tsv', '1\tzero\t1\n');
  bad(
    2,
    /is not a number/,
    'simulate',
    '--recipe',
    'run.json',
    '--counts',
    'words.tsv',
    '--seed',
    'x',
    '-o',
    'x',
  );
});

test('the series: updates where the mean changes, within its errors; what is spent; what is left', () => {
  const result = track('run', '--truth', 'share.tsv');
  assert.equal(result.rows.length, EPOCHS);
  const updates = result.rows
    .filter((/** @type {any} */ row) => row.update)
    .map((/** @type {any} */ row) => row.epoch);
  assert.deepEqual(updates, [5, 9]);
  assert.deepEqual(result.rows[0], {
    ...result.rows[0],
    value: 0.5,
    stderr: null,
    low: null,
    high: null,
    of: 0,
    truth: 0.5,
  });
  for (const row of result.rows.slice(4)) {
    assert.equal(row.of, row.epoch < 9 ? 5 : 9);
    assert.ok(Math.abs(row.value - row.truth) < 5 * row.stderr, `${row.epoch}: ${row.value}`);
  }
  assert.ok(result.max_error < result.bound && result.rms_error < 0.1);
  assert.equal(
    result.updates_left + 2,
    Number(/^estimates +(\d+)/m.exec(good('recipe', 'check', 'run.json').text)?.[1]),
  );
  assert.equal(result.frozen, false);
  assert.deepEqual(result.notes, []);
  assert.ok(result.simulation.privacy_max > 0 && result.simulation.privacy_max <= 16);
  assert.equal(result.simulation.votes_spent.length, EPOCHS);
  assert.deepEqual(
    track(...pairs(1, EPOCHS)).rows,
    track('run').rows,
    'a folder, or the files one by one',
  );
  const table = good('track', 'run', '--truth', 'share.tsv').text;
  assert.match(table, /^ +5 .*update$/m);
  assert.match(table, /devices answered 2 and have \d+ left/);
  assert.match(table, /of 5,000 devices have no vote left/);
  const csv = good('track', 'run', '--format', 'csv').text.trimEnd().split('\n');
  assert.equal(csv.length, EPOCHS + 1);
  assert.match(csv[1], /^1,0,0\.5,,,,5000,0\.\d+,0\.\d+,0,0,0$/);
  const svg = good('track', 'run', '--truth', 'share.tsv', '--format', 'svg').text;
  assert.match(svg, /^<svg .*<\/svg>\n$/s);
  assert.equal(svg.match(/<path /g)?.length, 3, 'two updates and the legend');
});

test('a run that goes on: the value of an update comes with the next epoch', () => {
  const result = track(...pairs(1, 5));
  assert.deepEqual(
    { ...result.rows[4], n: 0, votes: 0, needed: 0 },
    {
      epoch: 5,
      of: 0,
      value: null,
      stderr: null,
      low: null,
      high: null,
      n: 0,
      votes: 0,
      needed: 0,
      update: true,
      pending: true,
      frozen: false,
    },
  );
  assert.match(
    result.notes[0],
    /epoch 5 is an update: its value comes with the reports of epoch 6/,
  );
});

test('round next decides as the run did', () => {
  for (let epoch = 1; epoch < EPOCHS; epoch++) {
    const run = good(
      'round',
      'next',
      '--recipe',
      `${name(epoch)}.recipe.json`,
      `${name(epoch)}.acc`,
    );
    assert.equal(run.text, read(`${name(epoch + 1)}.recipe.json`));
    assert.match(
      run.err,
      epoch === 5 || epoch === 9
        ? /an update needs [\d.]+ %: this is an update/
        : /an update needs [\d.]+ %: no update/,
    );
  }
  const last = good(
    'round',
    'next',
    '--recipe',
    `${name(EPOCHS)}.recipe.json`,
    `${name(EPOCHS)}.acc`,
    '-o',
    'after.json',
  );
  assert.match(last.err, /there is no next recipe/);
  assert.throws(() => read('after.json'));
  bad(
    2,
    /only --recipe and -o apply/,
    'round',
    'next',
    '--recipe',
    `${name(1)}.recipe.json`,
    `${name(1)}.acc`,
    '--id',
    'other',
  );
  bad(
    1,
    /0002\.acc: belongs to recipe dark-mode/,
    'round',
    'next',
    '--recipe',
    `${name(1)}.recipe.json`,
    `${name(2)}.acc`,
  );
});

test('broken chains are refused by name', () => {
  bad(2, /0004\.acc: is epoch 4: epoch 3 is missing/, 'track', ...pairs(1, 2), ...pairs(4, 5));
  bad(2, /0002\.acc: is epoch 2: epoch 1 is missing/, 'track', ...pairs(2, 3));
  bad(2, /0002\.acc: is epoch 2, which was given before/, 'track', ...pairs(1, 2), ...pairs(2, 3));
  bad(
    1,
    /belongs to recipe dark-mode \(hash [0-9a-f]+\.\.\.\), not to dark-mode/,
    'track',
    '--recipe',
    `${name(1)}.recipe.json`,
    `${name(2)}.acc`,
  );
  good(
    'recipe',
    'new',
    '--id',
    'other',
    '--mechanism',
    'thresh',
    '--epsilon',
    '16',
    ...shape,
    '-o',
    'other.json',
  );
  good(
    'simulate',
    '--recipe',
    'other.json',
    '--counts',
    'share.tsv',
    '--seed',
    'one',
    '--epochs',
    '2',
    '-o',
    'other',
  );
  bad(
    1,
    /other\/0002\.acc: belongs to another run/,
    'track',
    ...pairs(1, 1),
    '--recipe',
    'other/0002.recipe.json',
    'other/0002.acc',
  );
  bad(
    2,
    /2 recipes and 1 accumulator/,
    'track',
    '--recipe',
    `${name(1)}.recipe.json`,
    '--recipe',
    `${name(2)}.recipe.json`,
    `${name(1)}.acc`,
  );
  bad(5, /cannot be read/, 'track', 'nowhere');
  good(
    'simulate',
    '--recipe',
    'run.json',
    '--counts',
    'share.tsv',
    '--seed',
    'few',
    '--devices',
    '4000',
    '--epochs',
    '3',
    '-o',
    'few',
  );
  assert.match(
    track('few').notes[0],
    /epochs have 4,000 to 4,000 reports where the recipe states 5,000 users/,
  );
  bad(
    3,
    /999 reports are fewer than its minimum cohort of 1000/,
    'simulate',
    '--recipe',
    'run.json',
    '--counts',
    'share.tsv',
    '--seed',
    'x',
    '--devices',
    '999',
    '-o',
    'less',
  );
  bad(
    3,
    /0001\.acc: recipe dark-mode: 999 reports are fewer than its minimum cohort/,
    'track',
    'less',
  );
  bad(2, /shoal track/, 'estimate', '--recipe', `${name(6)}.recipe.json`, `${name(6)}.acc`);
  bad(
    2,
    /shoal track/,
    'compare',
    '--recipe',
    `${name(1)}.recipe.json`,
    `${name(1)}.acc`,
    'less/0001.acc',
  );
  bad(2, /--dictionary is for heavythresh/, 'track', 'run', '--dictionary', 'share.tsv');
});

test('heavythresh: shares of strings, and which moved', () => {
  good(
    'recipe',
    'new',
    '--id',
    'home',
    '--mechanism',
    'heavythresh',
    '--value',
    'item',
    '--users',
    '4000',
    '--epochs',
    '6',
    '--samples',
    '20000',
    '--epsilon',
    '10',
    '--epsilon-estimate',
    '2',
    '--projection',
    '256',
    '--expires',
    '2099-12-31',
    '-o',
    'home.json',
  );
  // a fresh seed hashes the strings anew: the figures below are of this one
  write('home.json', { ...JSON.parse(read('home.json')), seed: '0123456789abcdef'.repeat(4) });
  const rest = Array.from({ length: 20 }, (_, i) => `v${i}`);
  const lines = (
    /** @type {number} */ epoch,
    /** @type {number} */ news,
    /** @type {number} */ mail,
  ) =>
    [
      `${epoch}\tnews\t${news}`,
      `${epoch}\t=mail<b>\t${mail}`,
      ...rest.map((value) => `${epoch}\t${value}\t10`),
    ].join('\n');
  write('home.tsv', `${lines(1, 600, 200)}\n${lines(4, 100, 700)}\n`);
  write('home.txt', `${['news', '=mail<b>', 'nobody', ...rest].join('\n')}\n`);
  good('simulate', '--recipe', 'home.json', '--counts', 'home.tsv', '--seed', 'h', '-o', 'home');
  const result = track('home', '--dictionary', 'home.txt');
  assert.deepEqual(
    result.items.map((/** @type {any} */ each) => each.epoch),
    [1, 4],
  );
  for (const [u, truth] of [
    [0, { news: 0.6, '=mail<b>': 0.2, nobody: 0 }],
    [1, { news: 0.1, '=mail<b>': 0.7, nobody: 0 }],
  ]) {
    for (const [value, share] of Object.entries(/** @type {object} */ (truth))) {
      const row = result.items[Number(u)].rows.find(
        (/** @type {any} */ each) => each.value === value,
      );
      assert.ok(
        Math.abs(row.share - share) < 5 * row.stderr && row.stderr < 0.06,
        `${value}: ${row.share}`,
      );
      assert.equal(row.moved, u === 1 && value !== 'nobody', value);
    }
  }
  assert.equal(result.rows[0].value, null, 'there is no one value');
  const table = good('track', 'home', '--dictionary', 'home.txt', '--top', '2').text;
  assert.equal(table.match(/^(news|=mail<b>) .*moved$/gm)?.length, 2);
  assert.doesNotMatch(table, /^nobody/m);
  assert.match(
    good('track', 'home', '--dictionary', 'home.txt', '--format', 'csv').text,
    /^4,"'=mail<b>",0\./m,
  );
  const svg = good('track', 'home', '--dictionary', 'home.txt', '--format', 'svg').text;
  assert.ok(svg.includes('=mail&#60;b&#62;') && !svg.includes('<b>'));
  assert.match(good('track', 'home').err, /needs --dictionary, the values/);
  // 600 of 4,000 reports are 0.15: what has less is withheld
  write('held.json', { ...JSON.parse(read('home.json')), release: { threshold: 600 } });
  good(
    'simulate',
    '--recipe',
    'held.json',
    '--counts',
    'home.tsv',
    '--seed',
    'h',
    '--epochs',
    '2',
    '-o',
    'held',
  );
  const held = track('held', '--dictionary', 'home.txt');
  assert.ok(held.items[0].rows.some((/** @type {any} */ each) => each.value === 'news'));
  assert.ok(held.items[0].rows.every((/** @type {any} */ each) => each.share * 4000 >= 600));
  assert.equal(held.items[0].rows.length + held.withheld, rest.length + 3);
  // Mail is withheld at the first update and shown at the second: from its change the first would follow.
  write('over.json', { ...JSON.parse(read('home.json')), release: { threshold: 1600 } });
  good('simulate', '--recipe', 'over.json', '--counts', 'home.tsv', '--seed', 'h', '-o', 'over');
  const [first, second] = track('over', '--dictionary', 'home.txt').items;
  const shown = (/** @type {any} */ { rows }) => rows.map((/** @type {any} */ { value }) => value);
  assert.deepEqual([shown(first), shown(second)], [['news'], ['=mail<b>']]);
  const [mail] = second.rows;
  assert.deepEqual([mail.change, mail.change_stderr, mail.moved], [null, null, false]);
  assert.doesNotMatch(good('track', 'over', '--dictionary', 'home.txt').text, /\bnan\b/i);
});
