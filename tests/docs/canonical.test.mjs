// SPDX-License-Identifier: Apache-2.0
// Hashes of queries and policies, worked out once more by what docs/formats.md says of their canonical bytes, and by nothing else: tags are
// those of its tables. The core must come to the same.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueryCore } from '../../wasm/bindings/query_core.js';
import { codes, read, root, tableBelow } from './markdown.mjs';

const core = await QueryCore.create(
  await WebAssembly.compile(readFileSync(join(root, 'wasm/dist/shoal-all.wasm'))),
);
const sha256 = (/** @type {Buffer} */ bytes) => createHash('sha256').update(bytes).digest();
const bytesOf = (/** @type {string} */ text) => Buffer.from(text);
const hex = (/** @type {string} */ text) => Buffer.from(text, 'hex');

/** A whole number, big-endian, two's complement. @param {number | bigint} number @param {number} size */
function big(number, size) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(number));
  return bytes.subarray(8 - size);
}
const micro = (/** @type {number} */ number) => Math.round(number * 1e6);
const field = (/** @type {number} */ tag, /** @type {Buffer[]} */ ...value) =>
  Buffer.concat([big(tag, 2), big(Buffer.concat(value).length, 4), ...value]);
const name = (/** @type {string} */ text) => Buffer.concat([big(text.length, 1), bytesOf(text)]);

/** @param {string[]} [entries] */
function list(entries = []) {
  const digest = entries.reduce(
    (before, entry) =>
      sha256(Buffer.concat([before, big(bytesOf(entry).length, 4), bytesOf(entry)])),
    Buffer.alloc(32),
  );
  return Buffer.concat([big(entries.length, 4), digest]);
}

// Tags of a recipe's fields are their places in the table, but for three and once more three that lists have; of a policy's members, its second column.
const recipeTags = tableBelow(read('docs/formats.md'), 'Recipe (JSON)').flatMap(([paths]) =>
  codes(paths),
);
const policyRows = tableBelow(read('docs/formats.md'), 'Policy (JSON)').map(([path, tag]) => ({
  path: codes(path)[0],
  tag: Number(tag),
}));
const LIST_TAGS = 3;
const firstBehindLists = ['aggregation.protocol', 'parameters.pass'].map(
  (path) => recipeTags.indexOf(path) + 1,
);
const tagOf = (/** @type {number} */ place) =>
  place + 1 + LIST_TAGS * firstBehindLists.filter((first) => place >= first).length;
const mechanisms = Object.fromEntries(
  [
    ...(read('core/mechanism/mechanisms.def') + read('core/compound/compounds.def')).matchAll(
      /^SHOAL_(?:MECHANISM|COMPOUND)\((\d+), \w+, "(.*)"\)/gm,
    ),
  ].map(([, id, called]) => [called, Number(id)]),
);

const CHOICES = /** @type {{[path: string]: {[name: string]: number}}} */ ({
  value: { word: 1, site: 3, item: 4, number: 5, fields: 6, variables: 7 },
  mechanism: mechanisms,
  hash: { poly1: 1, affine1: 2 },
  'parameters.oracle': { olh: 1 },
  'parameters.sampler': { greedy: 1 },
  'text.case': { keep: 0 },
  'aggregation.protocol': { sum: 1, dap: 2 },
});
const FRACTIONS = [
  'parameters.epsilon',
  'parameters.epsilon_fragment',
  'parameters.epsilon_estimate',
  'parameters.low',
  'parameters.high',
  'parameters.p',
  'parameters.q',
  'parameters.f',
  'cohort.epsilon',
  'send.sample',
];

/** @param {string} path @param {any} value */
function recipeValue(path, value) {
  if (CHOICES[path]) return big(CHOICES[path][value], 8);
  if (path === 'expires') return big(Date.parse(value) / 86_400_000, 8);
  if (path === 'cohort.delta' || path === 'parameters.delta') return big(Number(value.slice(3)), 8);
  if (Array.isArray(value))
    return Buffer.concat([
      big(value.length, 8),
      sha256(
        Buffer.concat(
          value.map((entry) => Buffer.concat([big(bytesOf(entry).length, 4), bytesOf(entry)])),
        ),
      ),
    ]);
  if (typeof value === 'string') return /^[0-9a-f]{64}$/.test(value) ? hex(value) : bytesOf(value);
  return big(FRACTIONS.includes(path) ? micro(value) : value, 8);
}

/** The fields of the table that are stated. @param {any} json */
const fieldsOf = (json) =>
  recipeTags.flatMap((path, i) => {
    const value = path.split('.').reduce((at, key) => at?.[key], json);
    return value === undefined ? [] : [field(tagOf(i), recipeValue(path, value))];
  });

/** @param {any} json */
function recipeHash(json) {
  const parts = fieldsOf(
    json.variables ? { ...json, value: 'variables', mechanism: 'joint' } : json,
  );
  const schemes = (/** @type {any} */ e) => (e.boundaries ? 1 : e.values ? 2 : e.starts ? 4 : 3);
  if (json.encoding)
    parts.push(
      field(
        42,
        ...json.encoding.flatMap((/** @type {any} */ e) => [
          name(e.field),
          big(schemes(e), 1),
          big(e.boundaries?.length ?? 0, 4),
          ...(e.boundaries ?? []).map((/** @type {number} */ b) => big(micro(b), 8)),
          list(e.values),
          list(e.prefixes ?? e.starts),
          list(e.tokens ?? e.characters),
          ...(e.starts ? [big(e.step ?? 1, 4)] : []),
        ]),
      ),
    );
  if (json.split_by)
    parts.push(
      field(
        43,
        ...json.split_by.flatMap((/** @type {any} */ split) => [
          name(split.field),
          list(split.values),
        ]),
      ),
    );
  if (json.part) parts.push(field(44, ...json.part.map(name)));
  if (json.parameters?.alphabet)
    parts.push(
      field(58, Buffer.from([...new Set(bytesOf(json.parameters.alphabet))].sort((a, b) => a - b))),
    );
  if (json.parameters?.known) parts.push(field(59, list(json.parameters.known)));
  if (json.variables)
    parts.push(
      field(
        60,
        ...json.variables.flatMap((/** @type {any} */ v) => [
          name(v.name),
          sha256(Buffer.concat(fieldsOf(v))),
        ]),
      ),
    );
  return sha256(Buffer.concat([bytesOf('shoal recipe 1\n'), ...parts])).toString('hex');
}

const query = {
  recipe: 'ngrams-2',
  analysis: 'keyboard',
  stream: 'typed-phrases',
  value: 'fields',
  encoding: [
    { field: 'age', boundaries: [-1.5, 0, 20, 40.000001] },
    { field: 'phrase', prefixes: ['h\u00e9llo world', 'i went'], tokens: ['a', 'and', 'got'] },
    { field: 'form', values: ['phone', 'a desk'] },
  ],
  mechanism: 'onehot-symmetric',
  parameters: { epsilon: 4 },
  limit: { per_day: 2 },
  cohort: { minimum: 20000, epsilon: 0.5, delta: '1e-9' },
  policy: 'ab'.repeat(32),
  version: 3,
  round: { index: 2, previous: 'cd'.repeat(32) },
  expires: '2027-01-31',
};
const splits = {
  split_by: [
    { field: 'locale', values: ['de', 'en'] },
    { field: 'size', values: ['s'] },
  ],
};

test("a query's hash is that of the bytes that are documented", () => {
  for (const json of [
    query,
    { ...query, ...splits },
    { ...query, ...splits, part: ['en', 'other'] },
    { ...query, aggregation: { protocol: 'sum' }, text: { case: 'keep' } },
    { ...query, block: { minimum: 30000, tick_s: 3600 } },
    {
      ...query,
      encoding: [{ field: 'phrase', prefixes: [''], tokens: ['x'] }],
      mechanism: 'cms',
      hash: 'affine1',
      parameters: { epsilon: 1.25, k: 16, m: 64 },
      seed: '5a'.repeat(32),
    },
  ]) {
    const made = core.query(json);
    assert.equal(made.hash, recipeHash(json));
    const { part, ...whole } = /** @type {any} */ (json);
    assert.equal(made.queryHash, recipeHash(whole), 'without part');
    core.release(made);
  }
  for (const block of [{ minimum: 20000 }, { tick_s: 86400 }, { minimum: 20000, tick_s: 86400 }]) {
    const made = core.query({ ...query, block });
    assert.equal(made.hash, recipeHash(query), 'a block at its default is not hashed');
    core.release(made);
  }
});

test("a compound's hash is that of the bytes that are documented, however its lists are written", () => {
  const { policy: _, version, round, encoding, cohort, ...plain } = query;
  const strings = { ...plain, value: 'word', hash: 'poly1', seed: '5a'.repeat(32) };
  const trie = {
    ...query,
    mechanism: 'trie',
    encoding: [{ field: 'word', starts: ['cat', 'cot'], characters: ['e', 's', '\u00e9'] }],
    parameters: { epsilon: 4, contributions: 3, depth: 15, max_prefixes: 300 },
  };
  const stepped = {
    ...trie,
    encoding: [{ ...trie.encoding[0], step: 2 }],
    parameters: {
      ...trie.parameters,
      sampler: 'greedy',
      passes: 3,
      pass: 2,
      known: ['the', 'then', '\u00e9t\u00e9'],
    },
  };
  for (const json of [
    {
      ...strings,
      mechanism: 'sfp',
      parameters: {
        epsilon: 5.5,
        epsilon_fragment: 2.5,
        k: 512,
        m: 64,
        k_fragment: 256,
        m_fragment: 16,
        length: 10,
        oracle: 'olh',
      },
    },
    {
      ...strings,
      mechanism: 'rappor-ngram',
      parameters: {
        bits: 64,
        hashes: 2,
        cohorts: 8,
        p: 0.4,
        q: 0.6,
        f: 0,
        length: 20,
        n: 3,
        grams: 3,
        alphabet: ' -az\u00e9\u00e8',
      },
    },
    trie,
    stepped,
  ]) {
    const made = core.query(json);
    // f is 0, its default: left out as every number is that is at its default
    const stated =
      json.mechanism === 'rappor-ngram'
        ? { ...json, parameters: { ...json.parameters, f: undefined } }
        : json;
    assert.equal(made.hash, recipeHash(stated), json.mechanism);
    core.release(made);
  }
  const coded = core.query({
    ...stepped,
    encoding: [{ field: 'word', starts: '0cat 1ot', characters: 'es\u00e9', step: 2 }],
    parameters: { ...stepped.parameters, known: '0the 3n 0\u00e9t\u00e9' },
  });
  assert.equal(coded.hash, recipeHash(stepped));
  core.release(coded);
});

test("a joint recipe's hash is that of the bytes that are documented", () => {
  const { value, encoding, mechanism, parameters, policy, version, round, cohort, ...plain } =
    query;
  const [site, age, heat] = [
    {
      name: 'site',
      value: 'site',
      mechanism: 'rappor',
      parameters: { bits: 32, hashes: 2, cohorts: 8, p: 0.25, q: 0.75, f: 0.5 },
      hash: 'poly1',
      seed: '5a'.repeat(32),
    },
    {
      name: 'age',
      value: 'item',
      mechanism: 'grr',
      parameters: { epsilon: 1.5, values: ['young', 'old'] },
    },
    {
      name: 'heat',
      value: 'number',
      mechanism: 'subset',
      parameters: { epsilon: 2, size: 7, low: -1.5, high: 40 },
    },
  ];
  for (const json of [
    { ...plain, variables: [site, age] },
    { ...plain, variables: [heat, age, site], records: { keep_days: 3 } },
    { ...plain, ...splits, variables: [age, heat] },
  ]) {
    const made = core.query(json);
    assert.equal(made.hash, recipeHash(json));
    core.release(made);
  }
});

test("the members of a policy are the core's, in its order", () => {
  const source = read('core/budget/policy.c')
    .split(/static const \w+ fields\[\]/)[1]
    .split('\n};')[0];
  const members = [...source.matchAll(/^ {4}\{\{"([a-zNM._]+)",/gm)].map(([, path], i) => ({
    path,
    tag: i + 1,
  }));
  assert.ok(members.length > 20);
  assert.deepEqual(policyRows, members);
});

/** @param {any} policy */
function policyHash(policy) {
  /** @param {any} at @param {string} head @param {RegExp} own */
  const members = (at, head, own) =>
    policyRows
      .filter(({ path }) => path.startsWith(head) && own.test(path.slice(head.length)))
      .map(({ path, tag }) =>
        field(
          tag,
          policyValue(
            path,
            path
              .slice(head.length)
              .split('.')
              .reduce((value, key) => value?.[key], at),
          ),
        ),
      );
  const flat = /^[a-z_]+$|^(query|budget|cohort)\./;
  return sha256(
    Buffer.concat([
      bytesOf('shoal policy 1\n'),
      field(64, ...members(policy, '', /^[a-z_]+$/)),
      ...policy.streams.map((/** @type {any} */ stream) =>
        field(
          65,
          ...members(stream, 'streams.N.', flat),
          ...stream.fields.map((/** @type {any} */ one) =>
            field(66, ...members(one, 'streams.N.fields.M.', flat)),
          ),
        ),
      ),
      ...policy.analyses.map((/** @type {any} */ analysis) =>
        field(
          67,
          ...members(analysis, 'analyses.N.', flat),
          ...analysis.fields.map((/** @type {any} */ one) =>
            field(68, ...members(one, 'analyses.N.fields.M.', flat)),
          ),
        ),
      ),
    ]),
  ).toString('hex');
}

const DEFAULTS = /** @type {{[end: string]: any}} */ ({
  fresh_days: 1,
  version: 1,
  fields: 1,
  size: 65536,
  composition: 'basic',
  minimum: 1000,
  honest: 1,
  split_by: [],
  slack: '1e-0',
});

/** @param {string} path @param {any} given */
function policyValue(path, given) {
  const end = /** @type {string} */ (path.split('.').pop());
  const value = given ?? DEFAULTS[end];
  if (end === 'keys') return Buffer.concat(value.map(hex));
  if (end === 'mechanisms')
    return big(
      value.reduce(
        (/** @type {number} */ mask, /** @type {string} */ called) =>
          mask | (1 << mechanisms[called]),
        0,
      ),
      4,
    );
  if (end === 'split_by') return Buffer.concat(value.map(name));
  if (end === 'type') return big(1 + ['number', 'text', 'tokens', 'characters'].indexOf(value), 4);
  if (end === 'composition') return big(['basic', 'advanced', 'renyi'].indexOf(value), 4);
  if (end === 'delta' || end === 'slack') return big(Number(value.slice(3)), 4);
  if (typeof value === 'string') return bytesOf(value);
  return big(['epsilon', 'local_epsilon', 'honest'].includes(end) ? micro(value) : value, 4);
}

test("a policy's hash is that of the bytes that are documented", () => {
  const small = {
    policy: 'small',
    keys: ['ab'.repeat(32), '0f'.repeat(32)],
    streams: [{ stream: 's', retention_days: 2, fields: [{ field: 'x', type: 'number' }] }],
    analyses: [
      {
        analysis: 'a',
        stream: 's',
        mechanisms: ['grr', 'cms', 'trie'],
        budget: { epsilon: 0.25, delta: '1e-7', reports: 3 },
        fields: [{ field: 'x', local_epsilon: 5.5, epsilon: 1, reports: 3 }],
      },
    ],
  };
  const [stream, analysis] = [small.streams[0], small.analyses[0]];
  const large = {
    ...small,
    fresh_days: 9,
    streams: [
      stream,
      {
        stream: 't',
        retention_days: 400,
        fields: [
          { field: 'y', type: 'tokens' },
          { field: 'z', type: 'text' },
          { field: 'w', type: 'characters' },
        ],
      },
    ],
    analyses: [
      analysis,
      {
        ...analysis,
        analysis: 'b',
        stream: 't',
        version: 4,
        query: { fields: 2, size: 300 },
        budget: { ...analysis.budget, composition: 'renyi', slack: '1e-9' },
        cohort: { minimum: 7, honest: 0.9 },
        split_by: ['z'],
        fields: [{ field: 'y', local_epsilon: 2, epsilon: 1, reports: 1 }],
      },
    ],
  };
  for (const json of [small, large]) {
    const made = core.policy(json);
    assert.equal(made.hash, policyHash(json), json.analyses.length > 1 ? 'large' : 'small');
    core.releasePolicy(made);
  }
});
