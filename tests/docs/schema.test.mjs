// SPDX-License-Identifier: Apache-2.0
// The JSON Schemas of docs/schema: they take every recipe, report and result that there is, and agree with the core about
// thousands of recipes with one thing changed. What the core takes, the schema takes; what it refuses, the schema refuses,
// except for what no schema can tell, which the recipe's schema lists.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { load } from 'shoal-client/node';
import { root } from './markdown.mjs';
import { chosenCases } from './chosen_cases.mjs';

const shoal = process.env.SHOAL_BINARY ?? join(root, 'build/release/shoal');
const skip = !existsSync(shoal) && `${shoal} is not built`;
/** @param {string} path @returns {any} */
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
/** @param {string} name */
const schema = (name) => ajv.compile(readJson(`docs/schema/${name}.schema.json`));
const isRecipe = schema('recipe');
const isReport = schema('report');
const isResult = schema('result');
const core = await load();
const folder = mkdtempSync(join(tmpdir(), 'shoal-schema-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {any} check @param {any} json @param {string} what */
const takes = (check, json, what) =>
  assert.ok(check(json), `${what}: ${JSON.stringify(check.errors)}`);

/** What the core says of a recipe: null, or its refusal. @param {any} json @returns {any} */
function refusal(json) {
  try {
    core.release(core.recipe(json));
    return null;
  } catch (error) {
    return error;
  }
}

const files = readdirSync(join(root, 'docs/recipes'))
  .filter((name) => name.endsWith('.json'))
  .map((name) => readJson(`docs/recipes/${name}`));
/** @type {any[]} */
const vectors = readdirSync(join(root, 'tests/core/vectors')).flatMap((name) =>
  readJson(`tests/core/vectors/${name}`),
);
const golden = ['cms', 'hcms', 'onehot', 'signed'].map((name) =>
  readJson(`tests/aggregator/golden/${name}.json`),
);

const epochs = readJson('tests/core/run_vectors.json');

test('every recipe, and every report that the core makes of one', () => {
  for (const json of [...files, ...golden, ...vectors.map((vector) => vector.recipe)]) {
    takes(isRecipe, json, JSON.stringify(json).slice(0, 300));
    const recipe = core.recipe(json);
    const value = json.variables ? {} : recipe.isOpen ? 'cod' : recipe.isNumber ? 1 : null;
    takes(
      isReport,
      recipe.report(
        recipe.randomize(value, new Uint8Array(32).fill(7), new Uint8Array(32).fill(9)),
      ),
      recipe.id,
    );
    core.release(recipe);
  }
  for (const { recipe: json, record } of epochs) {
    takes(isRecipe, json, JSON.stringify(json).slice(0, 300));
    const recipe = core.recipe(json);
    if (record !== '') takes(isReport, recipe.report(record), record);
    core.release(recipe);
  }
  for (const name of ['cms', 'hcms', 'onehot']) {
    for (const line of readFileSync(join(root, `tests/aggregator/golden/${name}.ndjson`), 'utf8')
      .trim()
      .split('\n'))
      takes(isReport, JSON.parse(line), name);
  }
});

// One recipe of each shape that the vectors hold: mechanism, domain, what is taken from an event.
const isCompound = (/** @type {any} */ recipe) =>
  ['sfp', 'rappor-ngram', 'trie'].includes(recipe.mechanism);
const shapes = new Map(
  vectors.map(({ recipe }) => [
    recipe.variables
      ? recipe.variables.map((/** @type {any} */ own) => own.mechanism).join()
      : isCompound(recipe)
        ? recipe.mechanism
        : `${recipe.mechanism} ${recipe.hash} ${recipe.value === 'number'} ${Object.keys(recipe.parameters).sort()}`,
    recipe,
  ]),
);

const VALUES = [
  0,
  1,
  2,
  3.5,
  -1,
  0.5,
  16,
  17,
  64,
  65,
  70000,
  1e6,
  1e7,
  2e12,
  '',
  'x',
  'cms',
  'hcms',
  'grr',
  'rappor',
  'one-bit-mean',
  'piecewise',
  'square-wave',
  'loloha',
  'number',
  'word',
  'poly1',
  'affine1',
  'none',
  'wait',
  'first',
  'uniform',
  'visit',
  'day',
  'fold',
  'lower',
  'tr',
  '1e-9',
  '1e-16',
  '1e-2',
  '1e-07',
  'A',
  '.x',
  'x'.repeat(64),
  'x'.repeat(65),
  '2030-01-31',
  '2030-13-01',
  '1969-12-31',
  '2030-1-1',
  '0'.repeat(64),
  'a'.repeat(64),
  'A'.repeat(64),
  'a'.repeat(63),
  true,
  null,
  [],
  {},
  ['a', 'b'],
  ['a', 'a'],
  ['a', ''],
  ['a', 1],
  ['a', 'x'.repeat(257)],
];
const PATHS = [
  ...[
    'recipe',
    'analysis',
    'stream',
    'value',
    'mechanism',
    'hash',
    'seed',
    'expires',
    'nope',
    'text',
    'parameters',
    'limit',
    'send',
    'batch',
    'cohort',
    'release',
    'block',
    'signature',
  ],
  ...['form', 'case', 'locale', 'min', 'max', 'nope'].map((name) => `text.${name}`),
  ...[
    'epsilon',
    'k',
    'm',
    'g',
    'size',
    'values',
    'bits',
    'hashes',
    'cohorts',
    'p',
    'q',
    'f',
    'low',
    'high',
    'nope',
  ].map((name) => `parameters.${name}`),
  'limit.per_day',
  'send.sample',
  'send.delay_s',
  'send.fresh',
  'send.pick',
  'send.window',
  'batch.minimum',
  'batch.max_age_s',
  'cohort.minimum',
  'cohort.epsilon',
  'cohort.delta',
  'release.threshold',
  'block.minimum',
  'block.tick_s',
  'block.nope',
  'signature.key',
  'signature.ed25519',
  'signature.nope',
];

// Of mechanisms that are made of others, and of one that is not.
const COMPOUND_PATHS = [
  'epsilon_fragment',
  'k_fragment',
  'm_fragment',
  'oracle',
  'length',
  'n',
  'grams',
  'alphabet',
  'contributions',
  'sampler',
  'depth',
  'max_prefixes',
  'passes',
  'pass',
  'known',
].map((name) => `parameters.${name}`);
const COMPOUND_VALUES = [
  'sfp',
  'rappor-ngram',
  'trie',
  'olh',
  'greedy',
  'random',
  'fields',
  2.5,
  4,
  5,
  10,
  11,
  32,
  33,
  131072,
  'abc',
  'ba',
  'aa',
  ' -z~',
  '"#\\]',
  '\u00e9',
  'a\u00e9\u6f22',
  '\u00e9a',
  '\u00e9'.repeat(65),
  'a\u007f',
  '0the 0of',
  'the',
  ['a b'],
  ['\u00e9'],
];

// Of joint recipes, and of others that have none of it.
const JOINT_PATHS = [
  'variables',
  'records',
  'records.keep_days',
  'records.nope',
  'variables.1.nope',
  ...['0', '1'].flatMap((i) =>
    [
      'name',
      'value',
      'mechanism',
      'hash',
      'seed',
      'parameters',
      ...[
        'epsilon',
        'k',
        'm',
        'g',
        'size',
        'values',
        'bits',
        'hashes',
        'cohorts',
        'p',
        'q',
        'f',
        'low',
        'high',
        'nope',
      ].map((name) => `parameters.${name}`),
    ].map((name) => `variables.${i}.${name}`),
  ),
];
const JOINT_VALUES = [30, 365, 366, 'one-bit-mean', 'sfp', 'item', 'fields', 'onehot-symmetric'];

// Of runs over epochs: thresh and heavythresh.
const runs = ['thresh', 'heavythresh'].map(
  (name) => epochs.filter((/** @type {any} */ { recipe }) => recipe.mechanism === name)[1].recipe,
);
const RUN_PATHS = [
  'round',
  'round.index',
  'round.previous',
  'round.update',
  'round.nope',
  ...[
    'users',
    'epochs',
    'samples',
    'smallest_group',
    'groups',
    'delta',
    'projection',
    'epsilon_estimate',
    'contributions',
  ].map((name) => `parameters.${name}`),
];
const RUN_VALUES = [
  65536,
  65537,
  65538,
  2048,
  'thresh',
  'heavythresh',
  'fields',
  '1e-6',
  { index: 2, previous: 'b'.repeat(64) },
  { index: 3 },
];

// Of two servers that add up shares.
const two = { ...readJson('docs/recipes/two-servers.json') };
const DAP_PATHS = [
  'aggregation',
  ...['protocol', 'leader', 'helper', 'time_precision_s', 'nope'].map(
    (name) => `aggregation.${name}`,
  ),
];
const DAP_VALUES = [
  'dap',
  'reports',
  'https://a.example',
  'https://a.example/',
  'https://a.example/b?c',
  'http://a.example',
  'https://',
  'https:///a',
  'https://:1',
  'http://localhost',
  'http://localhost:80',
  'http://localhosts',
  'http://127.0.0.1:1/x',
  'http://127.',
  'http://127.0.0.1.example',
  'http://[::1]',
  'http://[::1]x',
  'https://u@a',
  'https://a"b',
  'https://a b',
  "https://a'b",
  'https://a\\b',
  'https://\u00e9',
  `https://${'a'.repeat(192)}`,
  `https://${'a'.repeat(193)}`,
  59,
  60,
  604800,
  604801,
  60.5,
  {},
  { protocol: 'dap' },
  { protocol: 'reports' },
];
// Of reports that spend tokens.
const TOKEN_PATHS = [
  'send.token',
  'aggregation',
  'limit.per_day',
  'version',
  'split_by',
  'value',
  'mechanism',
];
const TOKEN_VALUES = [256, 257, [{ field: 'a', values: ['b'] }]];

/** A copy with one member set, or (undefined) taken away. @param {any} json @param {string} path @param {any} value */
function withMember(json, path, value) {
  const copy = structuredClone(json);
  const names = path.split('.');
  const last = /** @type {string} */ (names.pop());
  let at = copy;
  for (const name of names) at = at[name] ??= {};
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

/** Is the refusal one that no schema can make? @param {any} error */
const isBeyond = (error) =>
  /is outside what the mechanism takes|is above text\.max|is below cohort\.minimum|must be below high|: is not a date|written as one string|must have 1 to 128 bytes|is that of another variable|must be another server than the leader|does not go with queries/.test(
    error.message,
  );

test('a recipe with one thing changed: the core and the schema say the same', (t) => {
  const isChosen = chosenCases();
  let taken = 0;
  let refused = 0;
  let beyond = 0;
  assert.ok(shapes.size >= 12, String(shapes.size));
  const joint = [...shapes.values()].filter((recipe) => recipe.variables);
  assert.ok(joint.length > 0);
  const bases = [
    ...shapes.values(),
    { ...files[0], cohort: { epsilon: 1, delta: '1e-9' } },
    { ...files[0], send: { pick: 'uniform', window: 'visit', delay_s: 0 } },
    { ...files[0], send: { pick: 'uniform', window: 'day' }, text: { locale: 'tr' } },
    { ...files[0], send: { token: 'https://a.example' } },
    { ...two, send: { token: 'https://a.example' } },
    { ...runs[0], send: { token: 'https://a.example' } },
    golden[3],
    ...runs,
    two,
  ];
  for (const base of bases) {
    const has = isCompound(base) || base === bases[0];
    const isJoint = base === joint[0] || (base.mechanism === 'grr' && has);
    const isRun = runs.includes(base) || base === bases[0];
    const paths = [
      ...PATHS,
      ...(isRun ? RUN_PATHS : ['round.update']),
      ...(base === two || base === bases[0] ? DAP_PATHS : []),
      ...(base.send?.token || base === bases[0] ? TOKEN_PATHS : []),
      ...(has ? COMPOUND_PATHS : []),
      ...(isJoint ? JOINT_PATHS : ['records.keep_days']),
    ];
    for (const path of paths) {
      if (path.startsWith('variables.') && !base.variables) continue;
      for (const value of [
        undefined,
        ...VALUES,
        ...(has ? COMPOUND_VALUES : []),
        ...(isJoint ? JOINT_VALUES : [30]),
        ...(isRun ? RUN_VALUES : []),
        ...(path.startsWith('aggregation') || path === 'send.token' ? DAP_VALUES : []),
        ...(base.send?.token ? TOKEN_VALUES : []),
      ]) {
        if (!isChosen()) continue;
        const json = withMember(base, path, value);
        const error = refusal(json);
        const is = isRecipe(json);
        const what = `${base.mechanism}: ${path} = ${JSON.stringify(value)?.slice(0, 80)}: ${error}`;
        if (error === null) {
          taken++;
          assert.ok(is, `${what} ${JSON.stringify(isRecipe.errors)}`);
        } else if (isBeyond(error)) {
          beyond++;
        } else {
          refused++;
          assert.ok(!is, what);
        }
      }
    }
  }
  t.diagnostic(`${taken} taken, ${refused} refused by both, ${beyond} beyond a schema`);
  assert.ok(taken > 500 && refused > 10 * beyond);
});

test('reports with one thing changed are refused', () => {
  const report = JSON.parse(
    readFileSync(join(root, 'tests/aggregator/golden/cms.ndjson'), 'utf8').split('\n')[0],
  );
  takes(isReport, report, 'as it is');
  for (const change of [
    { key: 'A' },
    { key: undefined },
    { recipe_hash: 'x' },
    { parameters: undefined },
    { parameters: { nope: 1 } },
    { parameters: { k: '1' } },
    { records: [] },
    { records: ['1', '2'] },
    { records: '1' },
    { records: ['0;'] },
    { records: [';1'] },
    { records: [''] },
    { more: 1 },
  ]) {
    assert.ok(
      !isReport(JSON.parse(JSON.stringify({ ...report, ...change }))),
      JSON.stringify(change),
    );
  }
});

/** @param {...string} args @returns {string} */
const run = (...args) =>
  execFileSync(shoal, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

test('results of every kind', { skip }, () => {
  const base = {
    analysis: 'a',
    stream: 's',
    value: 'item',
    limit: { per_day: 1 },
    expires: '2099-12-31',
  };
  const list = {
    ...base,
    recipe: 'list',
    mechanism: 'grr',
    parameters: { epsilon: 4, values: ['cod', 'eel', 'pike'] },
  };
  const recipes = {
    list,
    strict: { ...list, release: { threshold: 4000 } },
    claim: { ...list, mechanism: 'onehot-symmetric', cohort: { epsilon: 1, delta: '1e-6' } },
    bare: {
      ...list,
      parameters: { ...list.parameters, epsilon: 16 },
      cohort: { epsilon: 1, delta: '1e-15' },
    },
    mean: {
      ...base,
      recipe: 'mean',
      value: 'number',
      mechanism: 'one-bit-mean',
      parameters: { epsilon: 2, low: 0, high: 10 },
    },
  };
  writeFileSync(join(folder, 'list.tsv'), 'cod\t50\neel\t30\npike\t20\n');
  writeFileSync(join(folder, 'mean.tsv'), '1\t50\n7.5\t30\n');
  for (const [name, json] of Object.entries(recipes)) {
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(json));
    run(
      'simulate',
      '--recipe',
      `${name}.json`,
      '--counts',
      name === 'mean' ? 'mean.tsv' : 'list.tsv',
      '--devices',
      '6000',
      '--seed',
      's',
      '-o',
      `${name}.b`,
    );
    run('ingest', '--recipe', `${name}.json`, '-o', `${name}.acc`, `${name}.b`);
  }
  /** @param {...string} args */
  const estimate = (...args) => JSON.parse(run('estimate', '--format', 'json', ...args));
  const plain = estimate('--recipe', 'list.json', 'list.acc');
  takes(isResult, plain, 'plain');
  for (const post of ['clip', 'norm-sub', 'base-cut'])
    takes(isResult, estimate('--recipe', 'list.json', '--post', post, 'list.acc'), post);
  takes(isResult, estimate('--recipe', 'list.json', '--total', '6000', 'list.acc'), 'total');
  for (const multiple of ['none', 'bonferroni', 'bh'])
    takes(
      isResult,
      estimate('--recipe', 'list.json', '--multiple', multiple, 'list.acc'),
      multiple,
    );
  const strict = estimate('--recipe', 'strict.json', 'strict.acc');
  takes(isResult, strict, 'strict');
  const mean = estimate('--recipe', 'mean.json', 'mean.acc');
  takes(isResult, mean, 'mean');
  assert.ok('withheld' in strict && mean.statistic === 'mean');
  const stated = ['--block', '6000', '--honest', '0.5'];
  const claim = estimate('--recipe', 'claim.json', ...stated, 'claim.acc');
  takes(isResult, claim, 'claim');
  assert.ok(
    claim.guarantees.claim.kept &&
      claim.guarantees.central.bound === 'renyi' &&
      claim.guarantees.central.honest === 0.5,
  );
  const bare = estimate('--recipe', 'bare.json', ...stated, 'bare.acc');
  takes(isResult, bare, 'bare');
  assert.ok(bare.guarantees.central === null && bare.guarantees.claim.kept === false);
  const files = estimate('--recipe', 'bare.json', 'bare.acc');
  takes(isResult, files, 'files');
  assert.ok(files.guarantees.no_central === 'files' && files.guarantees.claim.kept === null);
  const { local, central } = claim.guarantees;
  for (const [from, change] of /** @type {[any, any][]} */ ([
    [plain, { schema: 2 }],
    [plain, { n: -1 }],
    [plain, { rows: undefined }],
    [plain, { rows: mean.rows }],
    [mean, { rows: plain.rows }],
    [plain, { guarantees: undefined }],
    [plain, { guarantees: { local } }],
    [plain, { guarantees: { local, central: null } }],
    [plain, { guarantees: { local, central: null, no_central: 'guess' } }],
    [plain, { guarantees: { local, central, no_central: 'files' } }],
    [plain, { guarantees: { local, central: { ...central, assumes: undefined } } }],
    [plain, { guarantees: { local, central: { ...central, person: undefined } } }],
    [plain, { guarantees: { local: {}, central } }],
    [plain, { guarantees: { local, central: { ...central, bound: 'guess' } } }],
    [plain, { guarantees: { local, central: { ...central, delta: 0.1 } } }],
    [plain, { guarantees: { local, central, claim: { epsilon: 1, delta: 1e-6 } } }],
    [plain, { guarantees: { local: { ...local, model: 'deletion' }, central } }],
    [plain, { statistic: 'mean' }],
    [plain, { more: 1 }],
    [plain, { multiple: 'holm' }],
    [plain, { rows: [{ ...plain.rows[0], detected: 1 }] }],
  ])) {
    assert.ok(
      !isResult(JSON.parse(JSON.stringify({ ...from, ...change }))),
      JSON.stringify(change),
    );
  }
});
