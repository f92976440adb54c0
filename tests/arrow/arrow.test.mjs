// SPDX-License-Identifier: Apache-2.0
// Results as Arrow equal the same results as JSON, row for row; their schemas are those of docs/formats.md; CSV is what it was
// before the table layer (golden/, written by the version before it; SHOAL_WRITE_GOLDEN=1 writes it anew).
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, cpSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeCli } from '../aggregator/cli/cli_helpers.mjs';
import { makePython, root } from './arrow_helpers.mjs';

const cli = makeCli('arrow');
after(cli.release);
const golden = join(root, 'tests/arrow/golden');
const seed = 'b8'.repeat(32);

/** @param {string} id @param {object} more */
const recipe = (id, more) => ({
  recipe: id,
  analysis: 'tests',
  stream: 's',
  value: 'item',
  limit: { per_day: 1 },
  cohort: { minimum: 10 },
  expires: '2099-12-31',
  ...more,
});
const HOSTILE = [
  '=1+2',
  '"a",b',
  '<b>&',
  '\u202ex',
  'a\x07b',
  'я',
  '鳥',
  '\r',
  '\t@x',
  'd\\n',
  'plain',
];
const grr = { mechanism: 'grr', parameters: { epsilon: 3, values: HOSTILE } };
const sites = Array.from({ length: 12 }, (_, i) => `site-${i}`);

/** @param {string} name @param {string} counts @param {string} devices @param {string[]} more */
function collect(name, counts, devices, ...more) {
  const from = ['--recipe', `${name}.json`, '--counts', counts, '--devices', devices];
  cli.good('simulate', ...from, '--seed', 'fish', '-o', `${name}.batch`, ...more);
  cli.good('ingest', '--recipe', `${name}.json`, '-o', `${name}.acc`, `${name}.batch`);
}

/** @param {string} name @param {...string} more */
const estimate = (name, ...more) => [
  'estimate',
  '--recipe',
  `${name}.json`,
  ...more,
  `${name}.acc`,
];

before(() => {
  cli.write('grr.json', recipe('grr', { ...grr, release: { threshold: 30 } }));
  cli.write('grr.tsv', 'plain\t50\nя\t30\n"a",b\t20\n=1+2\t10\n');
  collect('grr', 'grr.tsv', '3000');
  cli.write('nothing.json', recipe('nothing', { ...grr, release: { threshold: 2_000_000 } }));
  collect('nothing', 'grr.tsv', '2000');
  cli.write('later.json', recipe('later', { ...grr, release: { threshold: 400 } }));
  cli.write('later.tsv', 'plain\t20\nя\t60\n"a",b\t20\n');
  collect('later', 'later.tsv', '2000');
  const ages = { mechanism: 'grr', parameters: { epsilon: 3, values: ['0', '1', '2', 'more'] } };
  cli.write('visits.json', recipe('visits', ages));
  cli.write('visits.tsv', '0\t50\n1\t20\n2\t20\nmore\t10\n');
  collect('visits', 'visits.tsv', '3000');
  cli.good(
    'simulate',
    '--recipe',
    'visits.json',
    '--counts',
    'visits.tsv',
    '--devices',
    '2000',
    '--seed',
    'b',
    '-o',
    'again.batch',
  );
  cli.good('ingest', '--recipe', 'visits.json', '-o', 'again.acc', 'again.batch');
  const step = {
    value: 'item',
    mechanism: 'grr',
    parameters: { epsilon: 3, values: ['yes', 'no'] },
  };
  const { value: _, ...steps } = recipe('steps', {
    variables: ['step1', 'step2'].map((name) => ({ name, ...step })),
    release: { threshold: 300 },
  });
  cli.write('steps.json', steps);
  cli.write('steps.tsv', 'no\tno\t60\nyes\tno\t35\nyes\tyes\t5\n');
  collect('steps', 'steps.tsv', '3000');
  const parameters = { epsilon: 4, values: sites };
  const send = { pick: 'uniform', window: 'day' };
  cli.write(
    'windows.json',
    recipe('windows', { mechanism: 'onehot-asymmetric', parameters, send }),
  );
  cli.write('sites.tsv', sites.map((site, i) => `${site}\t${i + 1}\n`).join(''));
  collect('windows', 'sites.tsv', '3000', '--active', '0.3', '--events', '1:2,4');
  cli.good(
    'recipe',
    'new',
    '--id',
    'mean',
    '--epsilon',
    '4',
    '--low',
    '0',
    '--high',
    '10',
    '--expires',
    '2099-12-31',
    '-o',
    'mean.json',
  );
  cli.write('mean.tsv', '1\t1\n5\t3\n');
  collect('mean', 'mean.tsv', '3000');
  const sketch = { mechanism: 'cms', parameters: { epsilon: 4, k: 4, m: 64 }, hash: 'poly1', seed };
  cli.write('cms.json', recipe('cms', { ...sketch, value: 'word' }));
  cli.write('cms.tsv', 'cat\t5\ndog\t3\nfish\t1\n');
  collect('cms', 'cms.tsv', '2000');
  cli.write(
    'many.txt',
    Array.from({ length: 100_000 }, (_, i) => `word-${i}\n`).join('') + 'cat\n',
  );
  const encoding = [
    { field: 'age', boundaries: [20, 30] },
    { field: 'phrase', prefixes: ['hello', 'went'], tokens: ['a', 'home'] },
  ];
  const cohort = { minimum: 200_000, epsilon: 0.5, delta: '1e-9' };
  const policed = { policy: 'ab'.repeat(32), version: 1, cohort };
  const query = { value: 'fields', encoding, mechanism: 'onehot-symmetric', ...policed };
  cli.write('cells.json', recipe('cells', { ...query, parameters: { epsilon: 4 } }));
  const event = (
    /** @type {number} */ age,
    /** @type {string} */ phrase,
    /** @type {number} */ n,
  ) => `${JSON.stringify({ age, phrase })}\t${n}\n`;
  cli.write('people.tsv', event(25, 'hello home', 40) + event(34, 'i went', 30));
  collect('cells', 'people.tsv', '200000');
  const variables = [
    { name: 'section', value: 'item', ...grr },
    {
      name: 'age',
      value: 'item',
      mechanism: 'grr',
      parameters: { epsilon: 2, values: ['young', 'old'] },
    },
  ];
  cli.write('pairs.json', recipe('pairs', { value: undefined, variables }));
  cli.write('pairs.tsv', 'plain\tyoung\t5\nя\told\t4\n=1+2\told\t2\n');
  collect('pairs', 'pairs.tsv', '8000');
  const fragments = {
    epsilon: 6,
    epsilon_fragment: 6,
    k: 256,
    m: 256,
    k_fragment: 256,
    m_fragment: 256,
    length: 4,
    oracle: 'olh',
  };
  cli.write(
    'words.json',
    recipe('words', {
      value: 'word',
      mechanism: 'sfp',
      parameters: fragments,
      hash: 'poly1',
      seed,
    }),
  );
  cli.write('words.tsv', 'cats\t5\n=1+2\t4\nя\t4\n鳥\t3\na\x07b\t3\n');
  collect('words', 'words.tsv', '20000');
  const shape = [
    '--users',
    '5000',
    '--epochs',
    '6',
    '--samples',
    '20000',
    '--expires',
    '2099-12-31',
    '--epsilon',
    '16',
  ];
  cli.good('recipe', 'new', '--id', 'run', '--mechanism', 'thresh', ...shape, '-o', 'run.json');
  cli.write('share.tsv', '1\t0\t1\n1\t1\t1\n4\t0\t1\n4\t1\t9\n');
  const simulate = [
    'simulate',
    '--recipe',
    'run.json',
    '--counts',
    'share.tsv',
    '--seed',
    'one',
    '--threads',
    '1',
  ];
  cli.good(...simulate, '-o', 'run');
  const heavy = ['--users', '4000', '--epochs', '6', '--samples', '20000', '--epsilon', '10'];
  const more = ['--epsilon-estimate', '2', '--projection', '256', '--value', 'item'];
  const home = ['--id', 'home', '--mechanism', 'heavythresh', ...heavy, ...more];
  cli.good('recipe', 'new', ...home, '--expires', '2099-12-31', '-o', 'home.json');
  cli.write('home.json', { ...JSON.parse(cli.read('home.json')), seed });
  const rest = Array.from({ length: 5 }, (_, i) => `v${i}`);
  const epoch = (/** @type {number} */ at, /** @type {number} */ news) =>
    [`${at}\tnews\t${news}\n`, ...rest.map((v) => `${at}\t${v}\t40\n`)].join('');
  cli.write('home.tsv', epoch(1, 600) + epoch(4, 50));
  cli.write('home.txt', ['news', '=mail<b>', ...rest, ''].join('\n'));
  const counts = ['--counts', 'home.tsv', '--seed', 'h', '-o', 'home'];
  cli.good('simulate', '--recipe', 'home.json', ...counts);
});

const JOINT = { x: 'section', y: 'age' };
/** @type {{ name: string, schema: string, args: string[], rows?: string, columns?: object, extra?: string[], digits?: number, facts?: object }[]} */
const CASES = [
  {
    name: 'estimate',
    schema: 'estimate',
    args: estimate('grr'),
    facts: { recipe: 'grr', n: '3000', epsilon: '3' },
  },
  { name: 'estimate-post', schema: 'estimate', args: estimate('grr', '--post', 'clip') },
  { name: 'estimate-windows', schema: 'estimate', args: estimate('windows'), extra: ['unit'] },
  { name: 'estimate-cells', schema: 'estimate', args: estimate('cells') },
  { name: 'estimate-by', schema: 'estimate', args: estimate('cells', '--by', 'age') },
  { name: 'estimate-mean', schema: 'estimate', args: estimate('mean') },
  { name: 'estimate-many', schema: 'estimate', args: estimate('cms', '--dictionary', 'many.txt') },
  {
    name: 'discover',
    schema: 'discover',
    args: ['discover', '--recipe', 'words.json', 'words.acc'],
  },
  {
    name: 'estimate-nothing',
    schema: 'estimate',
    args: estimate('nothing'),
  },
  {
    name: 'joint',
    schema: 'joint',
    args: ['joint', '--recipe', 'pairs.json', 'pairs.acc'],
    rows: 'cells',
    columns: JOINT,
  },
  {
    name: 'compare',
    schema: 'compare',
    args: ['compare', '--recipe', 'grr.json', '--recipe-b', 'later.json', 'grr.acc', 'later.acc'],
  },
  {
    name: 'changes',
    schema: 'changes',
    args: ['changes', '--recipe', 'grr.json', '--recipe', 'later.json', 'grr.acc', 'later.acc'],
  },
  {
    name: 'track-items',
    schema: 'track --dictionary',
    args: ['track', 'home', '--dictionary', 'home.txt'],
  },
  { name: 'track', schema: 'track', args: ['track', 'run'] },
  { name: 'funnel', schema: 'funnel', args: ['funnel', '--recipe', 'steps.json', 'steps.acc'] },
  {
    name: 'retention',
    schema: 'retention',
    args: ['retention', '--recipe', 'visits.json', 'visits.acc', '-', 'again.acc'],
  },
  { name: 'account', schema: 'account --figure', args: ['account', '--figure', '1'], digits: 1e-8 },
  {
    name: 'plan',
    schema: 'plan --surface',
    args: ['plan', '--surface', '--devices', '100k', '--open', '--epsilon', '4'],
    digits: 1e-5,
  },
];

test('rows equal those of JSON, schemas those of the document', () => {
  const cases = CASES.map((c) => {
    const arrow = `${c.name}.arrows`;
    cli.good(...c.args, '--format', 'arrow', '-o', arrow);
    const json = JSON.parse(cli.good(...c.args, '--format', 'json').text);
    const rows = json.items?.flatMap((/** @type {any} */ update) =>
      update.rows.map((/** @type {object} */ row) => ({ epoch: update.epoch, ...row })),
    );
    return { ...c, arrow: cli.path(arrow), rows: rows ?? json[c.rows ?? 'rows'] };
  });
  cli.write('cases.json', cases);
  const said = execFileSync(
    makePython(),
    [
      join(root, 'tests/arrow/check_arrow.py'),
      cli.path('cases.json'),
      join(root, 'docs/formats.md'),
    ],
    { encoding: 'utf8' },
  );
  for (const c of CASES) assert.match(said, new RegExp(`^${c.name} \\d+$`, 'm'));
  assert.match(said, /^estimate-nothing 0$/m);
  assert.match(said, /^estimate-many 100001$/m);
});

test('CSV is what it was', () => {
  for (const c of CASES) {
    if (c.name === 'estimate-many') continue;
    const { text } = cli.good(...c.args, '--format', 'csv');
    const file = join(golden, `${c.name}.csv`);
    if (process.env.SHOAL_WRITE_GOLDEN) writeFileSync(file, text);
    assert.ok(existsSync(file), file);
    assert.equal(text, readFileSync(file, 'utf8'), c.name);
  }
});

test('a pipe gets the same bytes as a file, and a terminal gets none', () => {
  const bin = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');
  cli.good(...estimate('grr'), '--format', 'arrow', '-o', 'file.arrows');
  const piped = spawnSync(bin, [...estimate('grr'), '--format', 'arrow'], { cwd: cli.path('.') });
  assert.deepEqual(piped.stdout, readFileSync(cli.path('file.arrows')));
  const typed = spawnSync(
    makePython(),
    [
      '-c',
      'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)',
      bin,
      ...estimate('grr'),
      '--format',
      'arrow',
    ],
    { cwd: cli.path('.'), encoding: 'utf8' },
  );
  assert.match(
    typed.stdout,
    /Arrow is binary and is not written to a terminal: name a file with --output/,
  );
  assert.equal(typed.status, 2);
  assert.doesNotMatch(typed.stdout, /ARROW|\xff\xff/);
});

test('a full disk is an error', { skip: !existsSync('/dev/full') }, () => {
  const bin = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');
  const full = openSync('/dev/full', 'w');
  const run = spawnSync(
    bin,
    [...estimate('cms', '--dictionary', 'many.txt'), '--format', 'arrow'],
    { cwd: cli.path('.'), stdio: ['ignore', full, 'pipe'], encoding: 'utf8' },
  );
  closeSync(full);
  assert.match(run.stderr, /cannot write the result: No space left on device/);
  assert.equal(run.status, 5);
});

test('what has no rows has no Arrow', () => {
  cli.bad(
    2,
    /--format is table or json without --figure/,
    'account',
    '--local-epsilon',
    '4',
    '--reports',
    '1000',
    '--delta',
    '1e-8',
    '--format',
    'arrow',
  );
  cli.bad(
    2,
    /--format is table or json without --surface/,
    'plan',
    '--devices',
    '1000',
    '--open',
    '--epsilon',
    '4',
    '--format',
    'arrow',
  );
});

test('the library and Python give the same stream', () => {
  const site = cli.path('site');
  const build = process.env.SHOAL_BUILD ?? join(root, 'build/release');
  cpSync(join(root, 'python/src'), site, { recursive: true });
  const library = join(build, 'aggregator/libshoal_aggregate.so.0');
  cpSync(library, join(site, 'shoal/libshoal_aggregate.so.0'), { dereference: true });
  cli.good(...estimate('grr'), '--format', 'arrow', '-o', 'file.arrows');
  const script = join(root, 'tests/arrow/check_python.py');
  execFileSync(makePython(), [script], {
    cwd: cli.path('.'),
    env: { ...process.env, PYTHONPATH: site, PYTHONDONTWRITEBYTECODE: '1' },
  });
});
