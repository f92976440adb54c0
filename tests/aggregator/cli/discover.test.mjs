// SPDX-License-Identifier: Apache-2.0
// shoal discover: what is refused, what is left out, how results are written. What the decoders find is the matter of their own tests.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { makeCli, sketch } from './cli_helpers.mjs';

const cli = makeCli('discover');
after(cli.release);

/** A recipe of short strings in small sketches, without any doubt about what is frequent. @param {object} [more] */
const words = (more) => ({
  recipe: 'words',
  analysis: 'keyboard',
  stream: 'typed-words',
  value: 'word',
  mechanism: 'sfp',
  parameters: {
    epsilon: 6,
    epsilon_fragment: 6,
    k: 1024,
    m: 256,
    k_fragment: 1024,
    m_fragment: 256,
    length: 4,
    oracle: 'olh',
  },
  hash: 'poly1',
  seed: '0123456789abcdef'.repeat(4),
  limit: { per_day: 2 },
  cohort: { minimum: 1000 },
  expires: '2099-12-31',
  ...more,
});

// Hostile to a terminal, a page and a spreadsheet; and letters of two and three bytes.
const BIDI = '\u202ex';
const COUNTS = /** @type {[string, number][]} */ ([
  ['cats', 5],
  ['dog', 4],
  ['=1+2', 3],
  ['<b>', 3],
  ['я', 3],
  ['鳥', 2],
  [BIDI, 2],
  ['a\x07b', 2],
  ['kept', 1],
]);
const DEVICES = 40_000;
const total = COUNTS.reduce((sum, [, count]) => sum + count, 0);

cli.write('words.json', words());
cli.write('counts.tsv', COUNTS.map(([value, count]) => `${value}\t${count}\n`).join(''));
cli.good(
  'simulate',
  '--recipe',
  'words.json',
  '--counts',
  'counts.tsv',
  '--devices',
  `${DEVICES}`,
  '--seed',
  'fish',
  '-o',
  'words.batch',
);
cli.good('ingest', '--recipe', 'words.json', '-o', 'words.acc', 'words.batch');

// Ten strings at 5 % would come with half a false one in a run; nine at one in a thousand with 0.01.
/** @param {...string} more */
const run = (...more) =>
  cli.good('discover', '--recipe', 'words.json', 'words.acc', '--fdr', '0.001', ...more);
/** @param {...string} more */
const rows = (...more) => JSON.parse(run('--format', 'json', ...more).text);
/** @param {{rows: {value: string}[]}} result */
const values = (result) => result.rows.map(({ value }) => value).sort();
const printable = COUNTS.map(([value]) => value)
  .filter((value) => value !== 'a\x07b')
  .sort();

/** A row without what depends on the other rows that are shown. @param {{fcr_low: number, fcr_high: number}} row */
const unpicked = ({ fcr_low, fcr_high, ...row }) => row;

test('finds every string that was sent, in any script, and none with control characters', () => {
  const result = rows();
  assert.deepEqual(values(result), printable);
  assert.equal(result.n, DEVICES);
  assert.equal(result.method, 'sfp');
  assert.equal(result.fdr, 0.001);
  assert.equal(result.epsilon, 12);
  assert.deepEqual(result.cuts, []);
  assert.ok(result.notes.length > 0 && result.candidates >= printable.length);
  assert.equal(result.known, 0);
  for (const [i, row] of result.rows.entries()) {
    const share = (COUNTS.find(([value]) => value === row.value)?.[1] ?? 0) / total;
    // Its own error, and that of the draw: sqrt(n share (1 - share)), at most 85. Five of both together.
    const drawn = Math.sqrt(DEVICES * share * (1 - share));
    assert.ok(Math.abs(row.count - DEVICES * share) < 5 * Math.hypot(row.stderr, drawn), row.value);
    assert.ok(
      row.low < row.count && row.count < row.high && row.detected === true && row.found.length > 0,
    );
    assert.ok(i === 0 || result.rows[i - 1].count >= row.count, 'by falling count');
    assert.ok(row.fcr_low <= row.low && row.high <= row.fcr_high);
    assert.ok(1 <= row.rank_low && row.rank_low <= i + 1 && i + 1 <= row.rank_high);
    assert.ok(row.rank_high <= result.rows.length && row.adjusted === null);
    // The first is 1,600 devices above the second, ten errors of a difference.
    if (i === 0) assert.deepEqual([row.rank_low, row.rank_high], [1, 1]);
  }
});

test('leaves out what is known, and says how many', () => {
  cli.write('known.tsv', 'cats\t17\r\n\ndog\r\ncats\nDOG\nя');
  const result = rows('--known', 'known.tsv');
  assert.deepEqual(
    values(result),
    printable.filter((value) => !['cats', 'dog', 'я'].includes(value)),
  );
  assert.equal(result.known, 3);
  const { err } = run('--known', 'known.tsv');
  assert.match(err, /text rule would change 1 of 4 lines/);
  assert.match(err, /3 more were found, but are known/);
});

test('keeps the largest, and nothing below a threshold', () => {
  const all = rows();
  const two = rows('--top', '2');
  assert.deepEqual(two.rows.map(unpicked), all.rows.slice(0, 2).map(unpicked));
  assert.deepEqual([two.selection.selected, two.selection.of], [2, all.candidates]);
  assert.ok(two.rows[0].fcr_low < all.rows[0].fcr_low, 'fewer of as many');
  // 3/25 and 2/25 of the devices are 4,800 and 3,200; fragments, of half the reports each, are within 4 x 100 of that.
  const above = rows('--threshold', '4000');
  assert.deepEqual(values(above), ['<b>', '=1+2', 'cats', 'dog', 'я']);
  assert.equal(above.threshold, 4000);
  assert.ok(rows('--confidence', '0.5').rows[0].low > all.rows[0].low);
});

test('withholds what the recipe does not release', () => {
  const all = rows().rows;
  cli.write(
    'release.json',
    words({ recipe: 'release', release: { threshold: Math.ceil(all[1].count) + 300 } }),
  );
  cli.good(
    'simulate',
    '--recipe',
    'release.json',
    '--counts',
    'counts.tsv',
    '--devices',
    `${DEVICES}`,
    '--seed',
    'fish',
    '-o',
    'release.batch',
  );
  cli.good('ingest', '--recipe', 'release.json', '-o', 'release.acc', 'release.batch');
  const { text, err } = cli.good(
    'discover',
    '--recipe',
    'release.json',
    'release.acc',
    '--format',
    'json',
    '--fdr',
    '0.001',
  );
  const result = JSON.parse(text);
  assert.deepEqual(values(result), ['cats']);
  assert.equal(result.withheld, printable.length - 1);
  assert.match(err, /below the release threshold/);
});

test('writes hostile text so that it stays text', () => {
  const table = run().text;
  assert.ok(table.includes('\\xe2\\x80\\xaex') && !table.includes(BIDI));
  assert.match(table, /^words: 40,000 reports, epsilon 12 a report/);
  assert.match(table, /\nepsilon per report {2}12 /);
  const csv = run('--format', 'csv');
  const lines = csv.text.trimEnd().split('\n');
  assert.equal(
    lines[0],
    'value,count,stderr,low,high,detected,found,fcr_low,fcr_high,rank_low,rank_high,adjusted,adjusted_low,adjusted_high',
  );
  assert.ok(
    lines.some((line) => line.startsWith('"\'=1+2",')),
    'no formula',
  );
  assert.ok(!csv.text.includes(BIDI));
  assert.match(csv.err, /central epsilon +none: any part of the operator's files can be asked for/);
  const json = run('--format', 'json').text;
  assert.ok(!json.includes('<b>') && !json.includes(BIDI));
  const ndjson = run('--format', 'ndjson').text;
  assert.deepEqual(
    ndjson
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    rows().rows,
  );
});

test('JSON is as its schema says', () => {
  const schema = (/** @type {string} */ name) =>
    JSON.parse(
      readFileSync(new URL(`../../../docs/schema/${name}.schema.json`, import.meta.url), 'utf8'),
    );
  const ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
  ajv.addSchema(schema('result'), 'result.schema.json');
  const check = ajv.compile(schema('discovery'));
  for (const result of [
    rows(),
    rows('--threshold', '4000', '--top', '1'),
    rows('--honest', '0.5', '--block', '40000'),
  ])
    assert.ok(check(result), JSON.stringify(check.errors));
  assert.ok(!check({ ...rows(), more: 1 }));
});

test('threads change nothing', () => {
  assert.deepEqual(rows('--threads', '1'), rows('--threads', '3'));
});

test('refuses a small cohort, and shows nothing of it', () => {
  cli.good(
    'simulate',
    '--recipe',
    'words.json',
    '--counts',
    'counts.tsv',
    '--devices',
    '999',
    '--seed',
    'fish',
    '-o',
    'few.batch',
  );
  cli.good('ingest', '--recipe', 'words.json', '-o', 'few.acc', 'few.batch');
  cli.bad(
    3,
    /999 reports are fewer than its minimum cohort of 1000/,
    'discover',
    '--recipe',
    'words.json',
    'few.acc',
  );
});

test('refuses other mechanisms, other recipes, rounds where there are none, and wrong command lines', () => {
  cli.write('sketch.json', sketch());
  cli.write('fish.tsv', 'cod\t1\n');
  cli.good(
    'simulate',
    '--recipe',
    'sketch.json',
    '--counts',
    'fish.tsv',
    '--devices',
    '2000',
    '--seed',
    'fish',
    '-o',
    'sketch.batch',
  );
  cli.good('ingest', '--recipe', 'sketch.json', '-o', 'sketch.acc', 'sketch.batch');
  cli.bad(
    2,
    /cannot discover strings; sfp, rappor-ngram and trie can/,
    'discover',
    '--recipe',
    'sketch.json',
    'sketch.acc',
  );
  cli.bad(1, /sketch\.acc/, 'discover', '--recipe', 'words.json', 'sketch.acc');
  cli.bad(
    2,
    /has no rounds/,
    'discover',
    '--recipe',
    'words.json',
    'words.acc',
    '--recipe',
    'words.json',
    'words.acc',
  );
  cli.bad(2, /--recipe is needed/, 'discover', 'words.acc');
  cli.bad(
    2,
    /1 recipe and 2 accumulators/,
    'discover',
    '--recipe',
    'words.json',
    'words.acc',
    'words.acc',
  );
  cli.bad(2, /a value is missing after --recipe/, 'discover', 'words.acc', '--recipe');
  cli.bad(2, /--fdr must be/, 'discover', '--recipe=words.json', 'words.acc', '--fdr', '1');
  cli.bad(
    2,
    /did you mean --known/,
    'discover',
    '--recipe',
    'words.json',
    'words.acc',
    '--knwon',
    'x',
  );
  cli.bad(5, /nowhere/, 'discover', '--recipe', 'words.json', 'words.acc', '--known', 'nowhere');
});

test('rounds of a trie: words of all of them, in their order only, each promise with its owner', () => {
  const LETTERS = /** @type {[string, number][]} */ ([
    ['ab', 4],
    ['abba', 3],
    ['bab', 3],
    ['cc', 2],
    ['я', 2],
  ]);
  cli.write('letters.tsv', LETTERS.map(([value, count]) => `${value}\t${count}\n`).join(''));
  cli.good(
    'plan',
    '--discover',
    '--method',
    'trie',
    '--devices',
    '60000',
    '--epsilon',
    '12',
    '--contributions',
    '2',
    '--depth',
    '6',
    '--characters',
    'abcя',
    '--id',
    'letters-1',
    '--recipe-out',
    'round1.json',
  );
  // Two rounds at least: the first asks for two characters.
  const first = JSON.parse(cli.read('round1.json'));
  first.encoding[0].step = 2;
  cli.write('round1.json', { ...first, parameters: { ...first.parameters, known: ['cc'] } });
  /** @type {string[][]} */
  const rounds = [];
  for (let i = 1, more = true; more; i++) {
    cli.good(
      'simulate',
      '--recipe',
      `round${i}.json`,
      '--counts',
      'letters.tsv',
      '--devices',
      '20000',
      '--first',
      `${20_000 * i}`,
      '--seed',
      'fish',
      '-o',
      `round${i}.batch`,
    );
    cli.good('ingest', '--recipe', `round${i}.json`, '-o', `round${i}.acc`, `round${i}.batch`);
    rounds.push(['--recipe', `round${i}.json`, `round${i}.acc`]);
    more = !/complete:/.test(
      cli.good(
        'round',
        'next',
        '--recipe',
        `round${i}.json`,
        `round${i}.acc`,
        '-o',
        `round${i + 1}.json`,
      ).err,
    );
  }
  assert.ok(rounds.length > 1);
  const { text, err } = cli.good('discover', ...rounds.flat());
  assert.match(text, new RegExp(`reports of ${rounds.length} rounds`));
  assert.match(text, /\nepsilon per item {4}6 /);
  assert.match(text, /\nepsilon per device {2}12 \(2 contributions, in one round\)/);
  assert.match(
    err,
    /item \(one contribution\): local epsilon 6; device \(2 of them, in one round\): local epsilon 12/,
  );
  const result = JSON.parse(
    cli.good('discover', ...rounds.flat(), '--format', 'json', '--fdr', '0.001').text,
  );
  for (const value of ['ab', 'я'])
    assert.ok(values(result).includes(value), `${value} of the first round`);
  for (const value of values(result))
    assert.ok(['ab', 'abba', 'bab', 'я'].includes(value), `${value} was sent, and is not known`);
  cli.write('seen.txt', 'ab\nя\nnever\n');
  const rest = JSON.parse(
    cli.good(
      'discover',
      ...rounds.flat(),
      '--format',
      'json',
      '--fdr',
      '0.001',
      '--known',
      'seen.txt',
    ).text,
  );
  assert.equal(rest.known, 2, 'both were found');
  assert.deepEqual(
    values(rest),
    values(result).filter((value) => !['ab', 'я'].includes(value)),
    'the others stand out without them',
  );
  assert.equal(rest.candidates, result.candidates - rest.known, 'what is known is no test');
  assert.equal(result.rounds, rounds.length);
  assert.equal(result.n, 40_000 * rounds.length, 'two contributions of each device');
  // After the first round alone two starts are open, and longer strings could not be found.
  assert.equal(result.reach_unit, 'characters');
  const sure = ['--fdr', '0.0001'];
  const one = JSON.parse(cli.good('discover', ...rounds[0], ...sure, '--format', 'json').text);
  assert.equal(one.reach, 1);
  assert.ok(result.reach > one.reach);
  assert.deepEqual(one.open_starts.map((/** @type {any} */ { start }) => start).sort(), [
    'ab',
    'ba',
  ]);
  assert.equal(one.open, 2);
  for (const { count, stderr } of one.open_starts) assert.ok(count > 5 * stderr && stderr > 0);
  assert.match(
    cli.good('discover', ...rounds[0], ...sure).text,
    /\nstrings of up to 1 characters could be found; 2 starts of longer ones stand out and are left open:\n {2}ab\.\.\. {2}\d/,
  );
  cli.bad(2, /is not the first round|does not follow/, 'discover', ...[...rounds].reverse().flat());
  cli.bad(2, /2 recipes and 1 accumulator/, 'discover', ...rounds[0], '--recipe', 'round2.json');
  cli.good(
    'simulate',
    '--recipe',
    'round2.json',
    '--counts',
    'letters.tsv',
    '--devices',
    '400',
    '--seed',
    'fish',
    '-o',
    'few2.batch',
  );
  cli.good('ingest', '--recipe', 'round2.json', '-o', 'few2.acc', 'few2.batch');
  cli.bad(
    3,
    /800 reports are fewer than its minimum cohort of 1000/,
    'discover',
    ...rounds[0],
    '--recipe',
    'round2.json',
    'few2.acc',
  );
});

test('a trie says how much its alphabet leaves out', () => {
  const WORDS = [
    ['ab', 40],
    ['abba', 35],
    ['año', 12], // ñ is not listed: left out of the first two characters
    ['abç', 13], // not among the first two
  ];
  cli.write('spelled.tsv', WORDS.map((row) => `${row.join('\t')}\n`).join(''));
  cli.good(
    ...['plan', '--discover', '--method', 'trie', '--devices', '60000', '--epsilon', '6'],
    ...['--characters', 'abno', '--id', 'spelled-1', '--recipe-out', 'spelled.json'],
  );
  const first = JSON.parse(cli.read('spelled.json'));
  first.encoding[0].step = 2;
  first.send = { ...first.send, sample: 0.5 };
  cli.write('spelled.json', first);
  const recipe = ['--recipe', 'spelled.json'];
  assert.match(
    cli.good('recipe', 'check', 'spelled.json').text,
    /\nalphabet +4 characters; a word with another one is not named/,
  );
  cli.good(
    ...['simulate', ...recipe, '--counts', 'spelled.tsv', '--devices', '30000'],
    ...['--seed', 'spelled', '-o', 'spelled.batch'],
  );
  cli.good('ingest', ...recipe, '-o', 'spelled.acc', 'spelled.batch');
  const { left_out } = JSON.parse(
    cli.good('discover', ...recipe, 'spelled.acc', '--format', 'json').text,
  );
  assert.equal(left_out.characters, 2);
  assert.ok(Math.abs(left_out.share - 0.12) < 4 * left_out.stderr + 0.008, 'drawn from 12 %');
  assert.ok(left_out.stderr > 0.0005 && left_out.stderr < 0.005);
  assert.ok(left_out.low < left_out.share && left_out.share < left_out.high);
  const said =
    /left out: 1[\d.]+ % of the reports \(1[\d.]+ to 1[\d.]+ %, 95 % interval\) name no word: .* among its first 2 characters/;
  assert.match(cli.good('discover', ...recipe, 'spelled.acc').text, said);
  assert.match(
    cli.good('round', 'next', ...recipe, 'spelled.acc', '-o', 'spelled2.json').err,
    said,
  );
});
