// SPDX-License-Identifier: Apache-2.0
// The JSON Schemas of queries and policies, held against the core as schema.test.mjs does with recipes: thousands of files with one thing
// changed. What the core takes, the schema takes; what it refuses, the schema refuses, except for what no schema can tell. Some of
// them are read natively too, by its own JSON reader, which must take the same ones, with the same hash.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { QueryCore } from '../../wasm/bindings/query_core.js';
import { root } from './markdown.mjs';
import { chosenCases } from './chosen_cases.mjs';

const ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
/** @param {string} name */
const schema = (name) =>
  ajv.compile(JSON.parse(readFileSync(join(root, `docs/schema/${name}.schema.json`), 'utf8')));
const isRecipe = schema('recipe');
const isPolicy = schema('policy');
const isReport = schema('report');
const core = await QueryCore.create(
  await WebAssembly.compile(readFileSync(join(root, 'wasm/dist/shoal-all.wasm'))),
);

const NAMES = ['x', '', 'A', '.x', 'x'.repeat(64), 'x'.repeat(65), 'x/y', 'other'];
const SCALARS = [
  ...NAMES,
  0,
  1,
  2,
  3.5,
  -1,
  0.5,
  1e-6,
  16,
  17,
  64,
  65,
  365,
  366,
  400,
  401,
  65535,
  65536,
  1e6,
  1e6 + 1,
  1e7,
  2 ** 24,
  2 ** 24 + 1,
  1e9,
  2e12,
  '0'.repeat(64),
  'a'.repeat(64),
  'A'.repeat(64),
  'a'.repeat(63),
  '1e-9',
  '1e-16',
  '1e-2',
  '1e-07',
  '1e-3',
  true,
  null,
  {},
  { x: 1 },
  { 0: 'x' },
];
const LISTS = [
  [],
  [1],
  [1, 2],
  [2, 1],
  [1, 1],
  [1, 'a'],
  ['a'],
  ['a', 'b'],
  ['a', 'a'],
  ['de'],
  ['other'],
  ['de', 'other'],
  ['a', 'b', 'c', 'd', 'e'],
  [null],
  [[]],
  [{}],
  ['x', {}],
  [''],
  ['', 'a'],
  ['a b'],
  ['<none>'],
  ['a <none>'],
  ['a b', 'c'],
  ['a b', 'c d'],
  ['a  b'],
  [' a'],
  ['a '],
  ['a\u0000'],
  ['a\u0007b'],
  ['a\u007f'],
  ['a\u00a0b'],
  ['|'],
  ['<oov>'],
  ['<end>'],
  ['<end> a'],
  ['a <oov>'],
  ['a|b'],
  ['a | b'],
  ['x'.repeat(256)],
  ['x'.repeat(257)],
  ['\u00e9'.repeat(200)],
  ['A', '\u{1f41f}'],
  [0.5, 1e-6],
  [-9e12, 9e12],
  [1e13],
  [1e300],
  Array.from({ length: 64 }, (_, i) => i),
  Array.from({ length: 65 }, (_, i) => i),
  Array.from({ length: 31 }, (_, i) => `v${i}`),
  Array.from({ length: 32 }, (_, i) => `v${i}`),
];

/** A copy with one member set, or (undefined) taken away. @param {any} json @param {string} path @param {any} value */
function withMember(json, path, value) {
  const copy = structuredClone(json);
  const names = path.split('.');
  const last = /** @type {string} */ (names.pop());
  let at = copy;
  for (const name of names) at = at[name] ??= {};
  if (Array.isArray(at) && value === undefined) at.splice(Number(last), 1);
  else if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

const shoal = process.env.SHOAL_BINARY ?? join(root, 'build/release/shoal');
const skip = !existsSync(shoal) && `${shoal} is not built`;
const folder = mkdtempSync(join(tmpdir(), 'shoal-schema-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @typedef {{what: string, json: any, hash: string | null}} Sample hash: the core's, null where it refuses */
const EVERY = 4; // is read natively too
/** @type {Sample[]} */ const recipes = [];
/** @type {Sample[]} */ const policies = [];

/**
 * What the command says of files: it names those that it refuses on standard error, and prints the hashes of the others in order.
 * @param {'recipe' | 'policy'} kind @param {Sample[]} samples
 */
function compareNatively(kind, samples) {
  assert.ok(samples.length > 500, String(samples.length));
  for (let first = 0; first < samples.length; first += 500) {
    const some = samples.slice(first, first + 500);
    const names = some.map(({ json }, i) => {
      writeFileSync(join(folder, `${i}.json`), JSON.stringify(json));
      return `${i}.json`;
    });
    const { stdout, stderr } = spawnSync(shoal, [kind, 'hash', ...names], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    const refused = new Set([...stderr.matchAll(/\b(\d+\.json):/g)].map(([, name]) => name));
    const hashes = stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => line.slice(0, 64));
    assert.equal(hashes.length + refused.size, some.length, stderr.slice(0, 1000));
    for (const [i, { what, hash }] of some.entries())
      assert.equal(refused.has(names[i]) ? null : hashes.shift(), hash, what);
  }
}

/**
 * Asks core and schema about every base with every path at every value, or those of them that are chosen.
 * @param {{bases: any[], paths: string[], values: any[], isValid: any, ask: (json: any) => {error?: any, hash: string | null}, beyond: RegExp, isChosen?: () => boolean}} cases
 */
function compare({ bases, paths, values, isValid, ask, beyond, isChosen = () => true }) {
  const said = { taken: 0, refused: 0, beyond: 0 };
  /** @type {Sample[]} */
  const samples = [];
  let n = 0;
  for (const base of bases) {
    assert.equal(ask(base).error, undefined);
    assert.ok(isValid(base), JSON.stringify(isValid.errors));
    for (const path of paths) {
      for (const value of [undefined, ...values]) {
        if (!isChosen()) continue;
        const json = withMember(base, path, value);
        const { error, hash } = ask(json);
        const is = isValid(json);
        const what = `${base.mechanism}: ${path} = ${JSON.stringify(value)?.slice(0, 80)}: ${error}`;
        // In a list written as one string no schema sees what comes twice.
        const isBeyond =
          error !== undefined &&
          (beyond.test(error.message) ||
            (typeof value === 'string' && /given twice/.test(error.message)));
        if (n++ % EVERY === 0) samples.push({ what, json, hash });
        if (error === undefined) assert.ok(is, `${what} ${JSON.stringify(isValid.errors)}`);
        else if (!isBeyond) assert.ok(!is, what);
        said[error === undefined ? 'taken' : isBeyond ? 'beyond' : 'refused']++;
      }
    }
  }
  return { said, samples };
}

/** @param {any} change */
const query = (change = {}) =>
  JSON.parse(
    JSON.stringify({
      recipe: 'ngrams-2',
      analysis: 'keyboard',
      stream: 'typed-phrases',
      value: 'fields',
      encoding: [
        { field: 'age', boundaries: [20, 30, 40] },
        { field: 'phrase', prefixes: ['hello world', 'i went'], tokens: ['a', 'and', 'got'] },
        { field: 'form', values: ['phone', 'desk'] },
      ],
      mechanism: 'onehot-symmetric',
      parameters: { epsilon: 4 },
      split_by: [{ field: 'locale', values: ['de', 'en'] }],
      limit: { per_day: 1 },
      cohort: { minimum: 20000, epsilon: 0.5, delta: '1e-9' },
      policy: 'ab'.repeat(32),
      version: 3,
      round: { index: 2, previous: 'cd'.repeat(32) },
      aggregation: { protocol: 'sum' },
      expires: '2027-01-31',
      ...change,
    }),
  );
const sketch = { hash: 'affine1', seed: '5a'.repeat(32) };

/** @param {any} json */
function askOfRecipe(json) {
  try {
    const made = core.query(json);
    core.release(made);
    return { hash: made.hash };
  } catch (error) {
    return { error, hash: null };
  }
}

test('a query with one thing changed: the core and the schema say the same', (t) => {
  const plain = {
    policy: undefined,
    version: undefined,
    round: undefined,
    split_by: undefined,
    aggregation: undefined,
  };
  const bases = [
    query(),
    query({ part: ['de'] }),
    query({
      split_by: [
        { field: 'locale', values: ['de'] },
        { field: 'form', values: ['phone'] },
      ],
      part: ['de', 'other'],
      round: { index: 1 },
    }),
    query({ ...plain, mechanism: 'subset' }),
    query({ mechanism: 'cms', parameters: { epsilon: 2, k: 16, m: 64 }, ...sketch }),
    query({
      ...plain,
      mechanism: 'olh',
      parameters: { epsilon: 2, k: 16, g: 4 },
      ...sketch,
      cohort: undefined,
    }),
    query({
      encoding: [{ field: 'phrase', starts: ['ab', 'cé'], characters: ['a', 'b', '漢'], step: 2 }],
      mechanism: 'subset',
    }),
    query({
      encoding: [
        { field: 'phrase', starts: '0ab 1c', characters: 'abc' },
        { field: 'form', values: ['phone'] },
      ],
      mechanism: 'grr',
    }),
    query({
      encoding: [{ field: 'phrase', starts: '0', characters: 'abc', step: 3 }],
      mechanism: 'trie',
      parameters: {
        epsilon: 4,
        contributions: 3,
        depth: 12,
        max_prefixes: 300,
        known: ['the', 'of'],
      },
    }),
    query({ mechanism: 'rappor', parameters: { p: 0.25, q: 0.75, f: 0.5 }, seed: sketch.seed }),
  ];
  const paths = [
    'value',
    'encoding',
    'encoding.0',
    'encoding.1',
    'encoding.2',
    'encoding.3',
    'encoding.4',
    ...[
      'field',
      'boundaries',
      'values',
      'prefixes',
      'tokens',
      'starts',
      'characters',
      'step',
      'nope',
    ].flatMap((name) => [0, 1, 2].map((i) => `encoding.${i}.${name}`)),
    'mechanism',
    'hash',
    'seed',
    'parameters.size',
    'parameters.values',
    'parameters.low',
    'parameters.known',
    'parameters.sampler',
    'parameters.pass',
    'cohort',
    'cohort.epsilon',
    'cohort.delta',
    'policy',
    'version',
    'round',
    'round.index',
    'round.previous',
    'round.nope',
    'split_by',
    'split_by.0',
    'split_by.1',
    'split_by.2',
    'split_by.0.field',
    'split_by.0.values',
    'split_by.0.nope',
    'part',
    'aggregation',
    'aggregation.protocol',
    'aggregation.nope',
  ];
  const values = [
    ...SCALARS,
    ...LISTS,
    3,
    4,
    5,
    'ab',
    'aa',
    'a b',
    'é漢🐟',
    '0',
    '0a',
    '0a 0b',
    '0ab 1c 0xy',
    '0ab 3c',
    '1a',
    '0a  0b',
    '0a ',
    '0é 1',
    'a\u0085',
    ['a\u0085'],
    ['é', '漢'],
    ['🐟'.repeat(64)],
    ['🐟'.repeat(65)],
    'greedy',
    { field: 'y', starts: [''], characters: ['a'] },
    { field: 'y', starts: '0a', characters: 'ab', step: 4 },
    { field: 'y', characters: 'ab', step: 4 },
    { field: 'y', values: ['a'], step: 1 },
    'word',
    'number',
    'fields',
    'reports',
    'sum',
    'one-bit-mean',
    'piecewise',
    'square-wave',
    'loloha',
    'grr',
    'poly1',
    'affine1',
    'none',
    { index: 1 },
    { index: 3, previous: 'ef'.repeat(32) },
    { previous: 'ef'.repeat(32) },
    { protocol: 'reports' },
    { epsilon: 1, delta: '1e-6' },
    { field: 'age', boundaries: [1] },
    { field: 'y', values: ['a'] },
    { field: 'y', prefixes: [''], tokens: ['a'] },
    { field: 'y' },
    { values: ['a'] },
    [{ field: 'y', values: ['a'] }],
    [{ field: 'y', boundaries: [0, 1] }],
    [{ field: 'y', values: ['a'] }, 'x'],
    [
      { field: 'y', values: ['a'] },
      { field: 'z', values: ['a'] },
    ],
  ];
  const beyond =
    /must rise|different numbers of tokens|starts of different lengths|written as one string|holds one field twice|names neither a value of split_by|makes a key of more|over 256 bytes|is outside what the mechanism takes|more than 2\^24/;
  const { said, samples } = compare({
    bases,
    paths,
    values,
    isValid: isRecipe,
    ask: askOfRecipe,
    beyond,
    isChosen: chosenCases(),
  });
  t.diagnostic(JSON.stringify(said));
  assert.ok(said.taken > 500 && said.refused > 10 * said.beyond, JSON.stringify(said));
  recipes.push(...samples);
});

test('the command takes the same queries', { skip }, () => compareNatively('recipe', recipes));

test('reports of parts', () => {
  const split_by = [
    { field: 'locale', values: ['de'] },
    { field: 'form', values: ['phone'] },
  ];
  const made = [
    query(),
    query({ part: ['de'] }),
    query({ split_by, part: ['other', 'phone'] }),
  ].map((json) => core.query(json));
  const reports = made.map((each) => each.report(each.randomize(5, new Uint8Array(32).fill(7))));
  made.forEach((each) => core.release(each));
  assert.deepEqual(
    reports.map(({ key }) => key),
    ['ngrams-2', 'ngrams-2/de', 'ngrams-2/other/phone'],
  );
  for (const report of reports) assert.ok(isReport(report), JSON.stringify(isReport.errors));
  for (const key of [
    'ngrams-2/',
    '/de',
    'ngrams-2//de',
    'ngrams-2/De',
    'a/b/c/d',
    `${'a'.repeat(62)}/de`,
  ])
    assert.ok(!isReport({ ...reports[0], key }), key);
});

/** @param {any} change */
const policy = (change = {}) =>
  JSON.parse(
    JSON.stringify({
      policy: 'keyboard-2026',
      keys: ['ab'.repeat(32)],
      fresh_days: 1,
      streams: [
        {
          stream: 'typed-phrases',
          retention_days: 14,
          fields: [
            { field: 'phrase', type: 'tokens' },
            { field: 'age', type: 'number' },
            { field: 'locale', type: 'text' },
          ],
        },
        { stream: 'clicks', retention_days: 1, fields: [{ field: 'x', type: 'number' }] },
      ],
      analyses: [
        {
          analysis: 'keyboard',
          stream: 'typed-phrases',
          version: 1,
          mechanisms: ['onehot-symmetric', 'subset'],
          query: { fields: 2, size: 65536 },
          budget: { epsilon: 1, delta: '1e-7', reports: 3, composition: 'basic' },
          cohort: { minimum: 5000, honest: 0.9 },
          split_by: ['locale'],
          fields: [
            { field: 'phrase', local_epsilon: 5, epsilon: 1, reports: 3 },
            { field: 'age', local_epsilon: 4, epsilon: 0.5, reports: 1 },
          ],
        },
        {
          analysis: 'clicks',
          stream: 'clicks',
          mechanisms: ['grr'],
          budget: { epsilon: 2, delta: '1e-6', reports: 100, composition: 'renyi', slack: '1e-7' },
          fields: [{ field: 'x', local_epsilon: 1, epsilon: 2, reports: 100 }],
        },
      ],
      ...change,
    }),
  );

/** @param {any} json */
function askOfPolicy(json) {
  try {
    const made = core.policy(json);
    core.releasePolicy(made);
    return { hash: made.hash };
  } catch (error) {
    return { error, hash: null };
  }
}

const POLICY_PATHS = [
  'policy',
  'keys',
  'fresh_days',
  'nope',
  'streams',
  'streams.0',
  'streams.1',
  'streams.2',
  'analyses',
  'analyses.0',
  'analyses.1',
  'analyses.2',
  ...[
    'stream',
    'retention_days',
    'nope',
    'fields',
    'fields.0',
    'fields.2',
    'fields.0.field',
    'fields.2.field',
    'fields.2.type',
    'fields.0.nope',
  ].map((name) => `streams.0.${name}`),
  ...[
    'analysis',
    'stream',
    'version',
    'nope',
    'mechanisms',
    'query',
    'query.fields',
    'query.size',
    'query.nope',
    'budget',
    'budget.epsilon',
    'budget.delta',
    'budget.reports',
    'budget.composition',
    'budget.slack',
    'budget.nope',
    'cohort',
    'cohort.minimum',
    'cohort.honest',
    'cohort.nope',
    'split_by',
    'fields',
    'fields.0',
    'fields.1',
    'fields.0.field',
    'fields.0.local_epsilon',
    'fields.0.epsilon',
    'fields.0.reports',
    'fields.0.nope',
  ].flatMap((name) => [0, 1].map((i) => `analyses.${i}.${name}`)),
];

test('a policy with one thing changed: the core and the schema say the same', (t) => {
  const { streams, analyses } = policy();
  const values = [
    ...SCALARS,
    ...LISTS,
    'number',
    'text',
    'tokens',
    'characters',
    ['trie'],
    ['sfp', 'rappor-ngram', 'trie'],
    'basic',
    'advanced',
    'renyi',
    'phrase',
    'age',
    'clicks',
    ['age'],
    ['locale'],
    ['locale', 'age'],
    ['cms', 'one-bit-mean'],
    ['grr', 'grr'],
    ['nope'],
    ['ab'.repeat(32), 'cd'.repeat(32)],
    ['AB'.repeat(32)],
    ['0'.repeat(64)],
    ['1', '2', '3', '4', '5'].map((digit) => digit.repeat(64)),
    streams[1],
    analyses[1],
    analyses[0].fields[0],
    { field: 'y', type: 'text' },
    [streams[0]],
    [analyses[0]],
    [...streams, streams[0]],
    analyses[0].budget,
    analyses[1].budget,
    { fields: 4 },
    { minimum: 1 },
    [{ field: 'x', type: 'number' }],
  ];
  const beyond =
    /is given twice|is not a stream|is not a field of the stream|must be of type text|exclude each other|must be below delta/;
  const { said, samples } = compare({
    bases: [policy()],
    paths: POLICY_PATHS,
    values,
    isValid: isPolicy,
    ask: askOfPolicy,
    beyond,
  });
  t.diagnostic(JSON.stringify(said));
  assert.ok(said.taken > 200 && said.refused > 10 * said.beyond, JSON.stringify(said));
  policies.push(...samples);
});

test('the command takes the same policies', { skip }, () => compareNatively('policy', policies));
