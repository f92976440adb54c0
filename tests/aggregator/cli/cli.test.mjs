// SPDX-License-Identifier: Apache-2.0
// The commands from outside: files, pipes, exit codes, texts. The command is $SHOAL_BIN or build/release/shoal.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sumsOf } from '../accumulator_sums.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');
/** @type {string} */
let folder;

/** @param {string} name */
const at = (name) => join(folder, name);

/** @param {string[]} args @param {Buffer | string} [input] */
function shoal(args, input) {
  const run = spawnSync(bin, args, { cwd: folder, input, maxBuffer: 1 << 28 });
  return {
    code: run.status,
    out: run.stdout,
    text: run.stdout.toString(),
    err: run.stderr.toString(),
  };
}

/** @param {string[]} args @param {Buffer | string} [input] */
function good(args, input) {
  const run = shoal(args, input);
  assert.equal(run.code, 0, run.err);
  return run;
}

/** @param {number} code @param {RegExp} says @param {string[]} args @param {Buffer | string} [input] */
function bad(code, says, args, input) {
  const run = shoal(args, input);
  assert.match(run.err, says);
  assert.equal(run.code, code, run.err);
  assert.equal(run.text, '', 'nothing on standard output');
  return run;
}

/** @param {object} [more] */
const recipe = (more) => ({
  recipe: 'fish',
  analysis: 'fish',
  stream: 'seen',
  value: 'item',
  mechanism: 'cms',
  parameters: { epsilon: 4, k: 64, m: 256 },
  hash: 'poly1',
  seed: '0123456789abcdef'.repeat(4),
  limit: { per_day: 2 },
  expires: '2099-12-31',
  ...more,
});

/** @param {string} name @param {object} json */
const write = (name, json) => writeFileSync(at(name), JSON.stringify(json));

/** @param {...string} more */
const simulate = (...more) => [
  'simulate',
  '--recipe',
  'r.json',
  '--counts',
  'c.tsv',
  '--devices',
  '70000',
  '--seed',
  's',
  ...more,
];

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-cli-'));
  write('r.json', recipe());
  write('other.json', recipe({ recipe: 'birds' }));
  writeFileSync(
    at('c.tsv'),
    Array.from({ length: 50 }, (_, i) => `fish${i}\t${1000 - 10 * i}\n`).join(''),
  );
  good(simulate('-o', 'batches', '--truth', 'truth.tsv'));
  good(['ingest', '--recipe', 'r.json', '-o', 'acc', 'batches']);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('simulate: the same bytes for every number of threads, other bytes for another seed', () => {
  const whole = readFileSync(at('batches'));
  for (const threads of ['1', '3']) {
    assert.deepEqual(good(simulate('-o', '-', '--threads', threads)).out, whole);
  }
  const other = good([
    'simulate',
    '--recipe',
    'r.json',
    '--counts',
    'c.tsv',
    '--devices',
    '70000',
    '--seed',
    't',
    '-o',
    '-',
  ]);
  assert.notDeepEqual(other.out, whole);
});

test('simulate: the truth is what was drawn', () => {
  const truth = readFileSync(at('truth.tsv'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  assert.equal(truth.length, 50);
  assert.equal(
    truth.reduce((sum, [, count]) => sum + Number(count), 0),
    70000,
  );
  // fish0 has 1000 of 37750: 1854 expected, sd 42.5.
  assert.ok(Math.abs(Number(truth[0][1]) - 1854) < 4 * 42.5, truth[0][1]);
});

test('batches and NDJSON of the same devices make the same accumulator', () => {
  const lines = good(simulate('--format', 'ndjson', '-o', '-'));
  assert.equal(lines.text.split('\n').length, 70001);
  good(['ingest', '--recipe', 'r.json', '-o', 'lines.acc', '-'], lines.out);
  assert.deepEqual(sumsOf(readFileSync(at('lines.acc'))), sumsOf(readFileSync(at('acc'))));
});

test('sharded ingest in any order and merge give the same bytes', () => {
  const lines = good(simulate('--format', 'ndjson', '-o', '-'))
    .text.trim()
    .split('\n');
  const shards = [lines.slice(0, 1), lines.slice(1, 30000), lines.slice(30000)];
  shards.forEach((shard, i) => {
    good(
      ['ingest', '--recipe', 'r.json', '-o', `s${i}.acc`, '-'],
      `${shard.reverse().join('\n')}\n`,
    );
  });
  /** @type {Buffer | undefined} */
  let merged;
  for (const order of [
    [0, 1, 2],
    [2, 0, 1],
    [1, 2, 0],
  ]) {
    good(['merge', '-o', 'merged.acc', ...order.map((i) => `s${i}.acc`)]);
    assert.deepEqual(sumsOf(readFileSync(at('merged.acc'))), sumsOf(readFileSync(at('acc'))));
    assert.deepEqual(readFileSync(at('merged.acc')), (merged ??= readFileSync(at('merged.acc'))));
  }
  good(['ingest', '--recipe', 'r.json', '-o', 's0.acc', '--append', '-'], shards[1].join('\n'));
  good(
    ['ingest', '--recipe', 'r.json', '-o', 's0.acc', '--append', '--threads', '1', '-'],
    shards[2].join('\n'),
  );
  // The pipes above lacked the last newline, so their inputs are others.
  assert.deepEqual(sumsOf(readFileSync(at('s0.acc'))), sumsOf(readFileSync(at('acc'))));
});

test('a batch that comes twice in one call counts once, and it is said', () => {
  const run = good(['ingest', '--recipe', 'r.json', '-o', 'twice.acc', 'batches', 'batches']);
  assert.match(run.err, /2 batches came more than once and were counted once/);
  assert.deepEqual(readFileSync(at('twice.acc')), readFileSync(at('acc')));
});

test('an accumulator that exists is not overwritten', () => {
  bad(2, /acc exists; --append/, ['ingest', '--recipe', 'r.json', '-o', 'acc', 'batches']);
});

test('a pipe is written to, and stays a pipe: no file takes its place, nor that of a device', () => {
  const args = [
    'recipe',
    'new',
    '--id',
    'piped',
    '--expires',
    '2027-01-01',
    '--size',
    '4',
    '-o',
    'pipe',
  ];
  const script = 'mkfifo pipe && (cat pipe >read &) && "$0" "$@" && test -p pipe';
  const run = spawnSync('/bin/sh', ['-c', script, bin, ...args], { cwd: folder, timeout: 20_000 });
  assert.equal(run.status, 0, String(run.stderr));
  for (let i = 0; i < 100 && !String(readFileSync(at('read'))).endsWith('}\n'); i++)
    spawnSync('sleep', ['0.05']); // the reader is another process
  assert.equal(JSON.parse(String(readFileSync(at('read')))).recipe, 'piped');
  rmSync(at('pipe'));
});

test('a damaged batch stops the ingest and leaves no accumulator', () => {
  const whole = readFileSync(at('batches'));
  bad(
    5,
    /standard input: batch 2: .*end too early/,
    ['ingest', '--recipe', 'r.json', '-o', 'x.acc', '-'],
    whole.subarray(0, whole.length - 1),
  );
  const flipped = Buffer.from(whole);
  flipped[1000] ^= 4;
  bad(5, /batch 1: .*damaged/, ['ingest', '--recipe', 'r.json', '-o', 'x.acc', '-'], flipped);
  bad(1, /batch 1: .*another recipe/, [
    'ingest',
    '--recipe',
    'other.json',
    '-o',
    'x.acc',
    'batches',
  ]);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('x.acc')),
    [],
  );
});

test('an --append that fails leaves the accumulator as it was', () => {
  const old = readFileSync(at('acc'));
  const whole = good(
    ['simulate', '--recipe', 'r.json', '--counts', 'c.tsv', '--devices', '70000'].concat([
      ...['--seed', 'append', '-o', '-'],
    ]),
  ).out;
  bad(
    5,
    /batch 2/,
    ['ingest', '--recipe', 'r.json', '-o', 'acc', '--append', '-'],
    whole.subarray(0, whole.length - 9),
  );
  assert.deepEqual(readFileSync(at('acc')), old);
});

test('too many rejected lines: exit 4, nothing written; few: counted and named', () => {
  const lines = good(simulate('--format', 'ndjson', '-o', '-'))
    .text.trim()
    .split('\n')
    .slice(0, 200);
  const broken = [...lines];
  for (let i = 0; i < 40; i++) broken[5 * i] = broken[5 * i].replace('"m":256', '"m":128');
  const run = bad(
    4,
    /standard input: 40 of 200 lines were rejected, more than a share of 0.01/,
    ['ingest', '--recipe', 'r.json', '-o', 'x.acc', '-'],
    broken.join('\n'),
  );
  assert.match(run.err, /line 1: m is not the recipe's/);
  assert.equal(run.err.match(/line \d+:/g)?.length, 10);
  assert.ok(!existsSync(at('x.acc')));
  const few = good(
    ['ingest', '--recipe', 'r.json', '-o', 'few.acc', '--max-rejected', '0.2', '-'],
    broken.join('\n'),
  );
  assert.match(few.err, /40 of 200 lines were rejected/);
});

test('merge refuses another recipe by name, a damaged accumulator, and one named twice', () => {
  good([
    'simulate',
    '--recipe',
    'other.json',
    '--counts',
    'c.tsv',
    '--devices',
    '10',
    '--seed',
    's',
    '-o',
    'o.batches',
  ]);
  good(['ingest', '--recipe', 'other.json', '-o', 'o.acc', 'o.batches']);
  bad(1, /o\.acc: belongs to recipe birds .* not to fish/, [
    'merge',
    '-o',
    'm.acc',
    'acc',
    'o.acc',
  ]);
  const bytes = readFileSync(at('acc'));
  writeFileSync(at('cut.acc'), bytes.subarray(0, bytes.length - 3));
  bad(5, /cut\.acc: .*too early/, ['merge', '-o', 'm.acc', 'acc', 'cut.acc']);
  bytes[500] ^= 1;
  writeFileSync(at('flip.acc'), bytes);
  bad(5, /flip\.acc: .*damaged/, ['merge', '-o', 'm.acc', 'flip.acc']);
  bad(2, /acc is given twice/, ['merge', '-o', 'double.acc', 'acc', 'o.acc', 'acc']);
  assert.equal(existsSync(at('double.acc')), false);
  assert.ok(!existsSync(at('m.acc')));
});

test('estimate: JSON of the agreed form, near the truth, in every format', () => {
  const args = ['estimate', '--recipe', 'r.json', '--dictionary', 'c.tsv'];
  const json = JSON.parse(good([...args, '--format', 'json', 'acc']).text);
  assert.deepEqual(Object.keys(json), [
    'schema',
    'recipe',
    'recipe_hash',
    'n',
    'epsilon',
    'confidence',
    'multiple',
    'guarantees',
    'alarms',
    'alarms_passed',
    'alarms_not_measured',
    'selection',
    'adjusting',
    'rows',
  ]);
  assert.deepEqual(
    [json.schema, json.recipe, json.n, json.epsilon, json.confidence, json.multiple],
    [1, 'fish', 70000, 4, 0.95, 'bonferroni'],
  );
  assert.equal(json.recipe_hash, good(['recipe', 'hash', 'r.json']).text.trim());
  assert.equal(json.rows.length, 50);
  assert.deepEqual(Object.keys(json.rows[0]), [
    'value',
    'count',
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
  const truth = new Map(
    readFileSync(at('truth.tsv'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => /** @type {[string, string]} */ (line.split('\t'))),
  );
  for (const row of json.rows) {
    const off = (row.count - Number(truth.get(row.value))) / row.stderr;
    assert.ok(Math.abs(off) < 4.5, `${row.value} is ${off} standard errors off`);
  }
  assert.equal(
    good([...args, '--format', 'ndjson', '--top', '3', 'acc'])
      .text.trim()
      .split('\n').length,
    3,
  );
  assert.match(
    good([...args, '--format', 'csv', 'acc']).text,
    /^value,count,stderr,low,high,detected,fcr_low,fcr_high,rank_low,rank_high,adjusted,adjusted_low,adjusted_high\n"fish/,
  );
  assert.match(good([...args, 'acc']).text, /fish: 70,000 reports, epsilon 4, 95 % intervals/);
  good([...args, '--format', 'json', '-o', 'result.json', 'acc']);
  assert.deepEqual(JSON.parse(readFileSync(at('result.json'), 'utf8')), json);
});

test('a cohort below its minimum: exit 3 and not a number', () => {
  const lines = good(simulate('--format', 'ndjson', '-o', '-'))
    .text.trim()
    .split('\n')
    .slice(0, 999);
  good(['ingest', '--recipe', 'r.json', '-o', 'small.acc', '-'], lines.join('\n'));
  bad(3, /999 reports are fewer than its minimum cohort of 1000; nothing is shown/, [
    'estimate',
    '--recipe',
    'r.json',
    '--dictionary',
    'c.tsv',
    'small.acc',
  ]);
});

test('the release threshold withholds rows and says how many', () => {
  write('t.json', recipe({ release: { threshold: 1500 } }));
  good([
    'simulate',
    '--recipe',
    't.json',
    '--counts',
    'c.tsv',
    '--devices',
    '70000',
    '--seed',
    's',
    '-o',
    't.batches',
  ]);
  good(['ingest', '--recipe', 't.json', '-o', 't.acc', 't.batches']);
  const run = good([
    'estimate',
    '--recipe',
    't.json',
    '--dictionary',
    'c.tsv',
    '--format',
    'json',
    't.acc',
  ]);
  const json = JSON.parse(run.text);
  assert.ok(json.rows.length > 5 && json.rows.length < 45);
  assert.ok(json.rows.every((/** @type {any} */ row) => row.count >= 1500));
  assert.equal(json.withheld, 50 - json.rows.length);
  assert.match(
    run.err,
    new RegExp(`${json.withheld} of 50 values are below the release threshold`),
  );
});

test('a closed list needs no dictionary', () => {
  write('list.json', {
    ...recipe({ mechanism: 'onehot-asymmetric' }),
    hash: undefined,
    seed: undefined,
    parameters: { epsilon: 2, values: ['pear', 'fig', 'apple'] },
  });
  writeFileSync(at('fruit.tsv'), 'fig\t3\npear\t1\n');
  good([
    'simulate',
    '--recipe',
    'list.json',
    '--counts',
    'fruit.tsv',
    '--devices',
    '20000',
    '--seed',
    's',
    '-o',
    'f.batches',
  ]);
  good(['ingest', '--recipe', 'list.json', '-o', 'f.acc', 'f.batches']);
  const json = JSON.parse(
    good(['estimate', '--recipe', 'list.json', '--format', 'json', 'f.acc']).text,
  );
  assert.deepEqual(
    json.rows.map((/** @type {any} */ row) => [row.value, row.detected]),
    [
      ['fig', true],
      ['pear', true],
      ['apple', false],
    ],
  );
  bad(2, /the recipe takes any string, so a dictionary is needed/, [
    'estimate',
    '--recipe',
    'r.json',
    'acc',
  ]);
  writeFileSync(at('wrong.tsv'), 'fig\t3\nplum\t1\n');
  bad(2, /wrong\.tsv: line 2: the value is not one of the recipe's/, [
    'simulate',
    '--recipe',
    'list.json',
    '--counts',
    'wrong.tsv',
    '--devices',
    '5',
    '--seed',
    's',
    '-o',
    '-',
  ]);
});

test('joiners that spell a value are printed, those that hide something are escaped', () => {
  const values = [
    '\u{1f469}\u{1f3fd}\u200d\u{1f3a8}',
    '\u0645\u06cc\u200c\u062e',
    'a\u200db',
    '\u00e9\u200d',
    '\u00e9\u202e\u00e9',
  ];
  const shown = [
    values[0],
    values[1],
    'a\\xe2\\x80\\x8db',
    '\u00e9\\xe2\\x80\\x8d',
    '\u00e9\\xe2\\x80\\xae\u00e9',
  ];
  write('join.json', {
    ...recipe({ mechanism: 'onehot-asymmetric' }),
    hash: undefined,
    seed: undefined,
    parameters: { epsilon: 8, values },
  });
  writeFileSync(at('join.tsv'), values.map((value, i) => `${value}\t${16 >> i}\n`).join(''));
  good([
    'simulate',
    '--recipe',
    'join.json',
    '--counts',
    'join.tsv',
    '--devices',
    '20000',
    '--seed',
    's',
    '-o',
    'j.batches',
  ]);
  good(['ingest', '--recipe', 'join.json', '-o', 'j.acc', 'j.batches']);
  const csv = good(['estimate', '--recipe', 'join.json', '--format', 'csv', 'j.acc'])
    .text.trim()
    .split('\n')
    .slice(1);
  assert.deepEqual(
    csv.map((line) => line.split(',')[0]),
    shown.map((value) => `"${value}"`),
  );
  const table = good(['estimate', '--recipe', 'join.json', 'j.acc']).text;
  for (const value of shown) assert.ok(table.includes(`\n${value} `), value);
  const json = JSON.parse(
    good(['estimate', '--recipe', 'join.json', '--format', 'json', 'j.acc']).text,
  );
  assert.deepEqual(
    json.rows.map((/** @type {any} */ row) => row.value),
    values,
  );
});

test('bad counts files are refused with their line', () => {
  for (const [text, says] of [
    ['a\t1\nb\n', /bad\.tsv: line 2: a tab and a count/],
    ['a\t1\nb\t-1\n', /line 2: .*negative/],
    ['a\t1\nb\tx\n', /line 2: .*whole number/],
    ['a\t1\na\t2\n', /line 2: .*came before/],
  ]) {
    writeFileSync(at('bad.tsv'), /** @type {string} */ (text));
    bad(2, /** @type {RegExp} */ (says), [
      'simulate',
      '--recipe',
      'r.json',
      '--counts',
      'bad.tsv',
      '--devices',
      '5',
      '--seed',
      's',
      '-o',
      'x',
    ]);
  }
  assert.ok(!existsSync(at('x')));
});

test('lines that the text rule would change are told, by number only', () => {
  writeFileSync(at('upper.txt'), 'fish1\nFish2\n');
  const run = good([
    'estimate',
    '--recipe',
    'r.json',
    '--dictionary',
    'upper.txt',
    '--format',
    'json',
    'acc',
  ]);
  assert.match(run.err, /upper\.txt: line 2: the recipe's text rule would change this value/);
  assert.doesNotMatch(run.err, /Fish2/);
});

test('listed values that the text rule changes are told, but items, which are matched as they are written', () => {
  writeFileSync(at('list.txt'), 'light\nAuto\n');
  for (const [kind, says] of /** @type {[string, RegExp][]} */ ([
    ['word', /entry 2 of parameters\.values/],
    ['item', /^$/],
  ])) {
    good([
      'recipe',
      'new',
      '--id',
      'l',
      '--value',
      kind,
      '--values',
      'list.txt',
      '--expires',
      '2099-12-31',
      '-o',
      'list.json',
    ]);
    assert.match(good(['recipe', 'check', 'list.json']).err, says, kind);
  }
});

test('bad recipes name file and field', () => {
  for (const [epsilon, says] of [
    [0, /epsilon must be from 0\.01 to 16/],
    [-1, /epsilon must be from/],
    [17, /epsilon must be from/],
    ['NaN', /bad\.json: is not JSON/],
  ]) {
    writeFileSync(
      at('bad.json'),
      JSON.stringify(recipe({ parameters: { epsilon: 0, k: 64, m: 256 } })).replace(
        '"epsilon":0',
        `"epsilon":${epsilon}`,
      ),
    );
    bad(2, /** @type {RegExp} */ (says), ['recipe', 'check', 'bad.json']);
  }
  write('bad.json', recipe({ release: { threshold: -1 } }));
  bad(2, /bad\.json: release\.threshold must be from 0 to 1000000000000\n/, [
    'recipe',
    'check',
    'bad.json',
  ]);
  write('bad.json', recipe({ nope: 1 }));
  bad(2, /bad\.json: nope is not a field of a recipe/, ['recipe', 'hash', 'bad.json']);
  write('bad.json', recipe({ nothing: {} }));
  bad(2, /bad\.json: nothing is not a field of a recipe/, ['recipe', 'hash', 'bad.json']);
  write('bad.json', recipe({ parameters: { epsilon: 4, k: 2 ** 21, m: 256 } }));
  bad(2, /bad\.json: parameters\.k is outside/, ['recipe', 'hash', 'bad.json']);
  bad(5, /none\.json: cannot open/, ['recipe', 'check', 'none.json']);
});

test('recipe new names the option that is no number, and the line of a list that is no value', () => {
  const last = ['--id', 'x', '--expires', '2099-01-01'];
  for (const number of ['', 'abc', '.5', '5.', '0x10', '01', '1e', '-', '1,"k":3'])
    bad(2, /--epsilon must be a number/, [
      'recipe',
      'new',
      '--size',
      '3',
      `--epsilon=${number}`,
      ...last,
    ]);
  bad(2, /--per-day must be a number/, [
    'recipe',
    'new',
    '--per-day',
    '1},"send":{"sample":0.5',
    ...last,
  ]);
  good(['recipe', 'new', '--size', '3', '--epsilon', '1e-1', ...last]);
  for (const [bytes, says] of /** @type {[string, RegExp][]} */ ([
    ['', /holds no value/],
    ['a\n', /holds one value/],
    ['a\n\r\nb\n', /line 2: the value is empty/],
    ['a\xff\nb\n', /line 1: the value is not UTF-8/],
    [`a\n${'x'.repeat(257)}\n`, /line 2: the value is over 256 bytes/],
    ['a\nb\0\n', /line 2: .*NUL/],
  ])) {
    writeFileSync(at('odd.txt'), bytes, 'latin1');
    bad(2, new RegExp(`odd\\.txt: ${says.source}`), [
      'recipe',
      'new',
      '--values',
      'odd.txt',
      ...last,
    ]);
  }
  writeFileSync(at('odd.txt'), `a\r\n${'x'.repeat(256)}`);
  assert.match(
    good(['recipe', 'new', '--values', 'odd.txt', ...last]).text,
    /"values": \["a", "x{256}"\]/,
  );
  bad(2, /epsilon is below what one report of these/, [
    'recipe',
    'new',
    '--mechanism',
    'rappor',
    '--epsilon',
    '1',
    ...last,
  ]);
});

test('recipe new and check say which option goes with which', () => {
  writeFileSync(at('list.txt'), 'a\nb\n');
  const last = ['--expires', '2099-01-01'];
  assert.match(
    good(['recipe', 'new', '--id', 'x', '--values', 'list.txt', ...last]).text,
    /"onehot-asymmetric"/,
  );
  bad(2, /--mechanism onehot-asymmetric goes with --values, --size or --encoding/, [
    'recipe',
    'new',
    '--id',
    'x',
    '--mechanism',
    'onehot-asymmetric',
    ...last,
  ]);
  assert.match(
    good(['recipe', 'new', '--id', 'x', '--mechanism', 'cms', '--values', 'list.txt', ...last])
      .text,
    /"affine1"/,
  );
  bad(2, /new takes options only/, ['recipe', 'new', 'x.json', '--id', 'x', ...last]);
  bad(2, /recipe check: unknown option --id/, ['recipe', 'check', 'r.json', '--id', 'x']);
});

test('an accumulator goes through a pipe', () => {
  const piped = good(['ingest', '--recipe', 'r.json', '-o', '-', 'batches']);
  assert.deepEqual(piped.out, readFileSync(at('acc')));
  assert.deepEqual(good(['merge', '-o', '-', '-'], piped.out).out, piped.out);
});

test('recipe check prints the cost per report, day and person', () => {
  const { text } = good(['recipe', 'check', 'r.json']);
  assert.match(text, /epsilon per report {2}4 /);
  assert.match(text, /epsilon per day {5}8 \(2 reports\)/);
  assert.match(text, /epsilon per person/);
});

test('recipe check says whether the central claim follows from the minimum cohort, and from which cohort on', () => {
  /** @param {object} cohort @returns {string} the lines that speak of the cohort */
  const check = (cohort) => {
    write('claim.json', recipe({ cohort }));
    const { text } = good(['recipe', 'check', 'claim.json']);
    const uncapped = 'budget              uncapped: nothing bounds what recipes cost together\n';
    assert.ok(text.endsWith(uncapped));
    return text.slice(0, -uncapped.length).replace(/^[^]*\nminimum cohort +/, '');
  };
  /** @param {number} minimum @param {number} [epsilon] */
  const claim = (minimum, epsilon = 1) =>
    check({ minimum, epsilon, delta: '1e-6' })
      .split('\n')[1]
      ?.replace(/^closed form +/, '');
  assert.equal(
    check({ minimum: 8762 }),
    '8,762 reports\n',
    'without a claim there is nothing to follow',
  );
  assert.equal(
    check({ minimum: 8762, epsilon: 1, delta: '1e-6' }),
    '8,762 reports, claims central epsilon 1 at delta 1e-6\n' +
      'closed form         central epsilon 0.999965: the claim follows (it does from 8,762 reports on)\n' +
      'assumes             all these reports honest, in one block, and a reader of blocks only\n',
  );
  assert.equal(
    claim(8761),
    'central epsilon 1.000001: the claim does not follow (it does from 8,762 reports on)',
  );
  // Below 8 ln(2/delta) (e^4 + 1) = 6453.2 reports the theorem says nothing, and a report's own epsilon is what is left.
  assert.equal(
    claim(6453),
    'central epsilon 4: the claim does not follow (it does from 8,762 reports on)',
  );
  assert.equal(claim(1, 4), 'central epsilon 4: the claim follows (it does from 1 report on)');
  assert.equal(
    claim(1000000000, 0.000001),
    'central epsilon 0.005002: the claim does not follow (nor does it with 10^12 reports)',
  );
});

test('recipe new writes a recipe that checks, with a fresh seed each time', () => {
  const seeds = [1, 2].map(() => {
    good([
      'recipe',
      'new',
      '--id',
      'new',
      '--epsilon',
      '2',
      '--expires',
      '2031-01-31',
      '-o',
      'new.json',
    ]);
    good(['recipe', 'check', 'new.json']);
    return JSON.parse(readFileSync(at('new.json'), 'utf8')).seed;
  });
  assert.notEqual(seeds[0], seeds[1]);
  writeFileSync(at('list.txt'), 'a "quoted" one\nfig\n');
  good([
    'recipe',
    'new',
    '--id',
    'new',
    '--mechanism',
    'onehot-asymmetric',
    '--values',
    'list.txt',
    '--expires',
    '2031-01-31',
    '-o',
    'new.json',
  ]);
  assert.deepEqual(JSON.parse(readFileSync(at('new.json'), 'utf8')).parameters.values, [
    'a "quoted" one',
    'fig',
  ]);
  bad(2, /parameters\.epsilon/, [
    'recipe',
    'new',
    '--id',
    'new',
    '--epsilon',
    '99',
    '--expires',
    '2031-01-31',
  ]);
});

test('every command has --help on standard output; the wrong is refused with a hint', () => {
  assert.match(good(['--help']).text, /Usage: shoal COMMAND/);
  for (const command of ['demo', 'recipe', 'simulate', 'ingest', 'merge', 'estimate']) {
    assert.match(good([command, '--help']).text, new RegExp(`Usage: shoal ${command}`));
    bad(2, new RegExp(`shoal: ${command}: unknown option --nope.*\nTry: shoal ${command} --help`), [
      command,
      '--nope',
    ]);
  }
  bad(2, /did you mean --recipe\?/, ['estimate', '--recpie', 'x']);
  bad(2, /--devices must be a whole number from 1/, [
    'simulate',
    '--recipe',
    'r.json',
    '--counts',
    'c.tsv',
    '--devices',
    '0',
    '--seed',
    's',
    '-o',
    'x',
  ]);
  bad(2, /--confidence must be/, [
    'estimate',
    '--recipe',
    'r.json',
    '--dictionary',
    'c.tsv',
    '--confidence',
    '1',
    'acc',
  ]);
  bad(2, /given twice/, ['merge', '-o', 'a', '-o', 'b', 'acc']);
  bad(2, /unknown command 'estimat'; did you mean 'estimate'\?\nTry: shoal --help/, ['estimat']);
});

test('demo prints estimates beside the truth', () => {
  const { text } = good(['demo', '--devices', '20000', '--top', '5']);
  assert.match(text, /herring +[\d,]+ +[\d,]+ +\d+/);
  assert.match(text, /of 1000 intervals cover the truth/);
});
