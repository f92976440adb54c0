// SPDX-License-Identifier: Apache-2.0
// What the tests of queries share: a policy, queries that its key signed, a client that a person opted in with.
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { loadModule } from '../bindings/node.js';
import { QueryCore } from '../bindings/query_core.js';
import { signedBytes } from '../bindings/signature.js';
import { makeClient, wordsRecipe } from './fixtures.mjs';

export const DAY_MS = 86_400_000;

/** Someone who signs. */
export function signer() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
  return {
    key,
    sign: (/** @type {Uint8Array} */ bytes) => sign(null, bytes, privateKey).toString('hex'),
  };
}
export const analyst = signer();

const module = await WebAssembly.compile(
  await readFile(new URL('../dist/shoal-query.wasm', import.meta.url)),
);

/** The module that a page loads for queries. */
export const loadQueryCore = () => QueryCore.create(module);
const core = await QueryCore.create(await loadModule()); // the analyst's, with every mechanism

/** @param {any} [more] of the policy @param {any} [analysis] of its analysis "keyboard" */
export const makePolicy = (more = {}, analysis = {}) => ({
  policy: 'keyboard-2026',
  keys: [analyst.key],
  fresh_days: 1,
  streams: [
    {
      stream: 'typed-phrases',
      retention_days: 14,
      fields: [
        { field: 'phrase', type: 'tokens' },
        { field: 'age', type: 'number' },
        { field: 'locale', type: 'text' },
        { field: 'note', type: 'text' },
      ],
    },
    { stream: 'visits', retention_days: 3, fields: [{ field: 'topic', type: 'text' }] },
  ],
  analyses: [
    {
      analysis: 'keyboard',
      stream: 'typed-phrases',
      version: 2,
      mechanisms: ['onehot-symmetric', 'grr'],
      query: { fields: 2, size: 65536 },
      budget: { epsilon: 1, delta: '1e-7', reports: 4, composition: 'basic' },
      cohort: { minimum: 5000, honest: 0.9 },
      split_by: ['locale'],
      fields: [
        { field: 'phrase', local_epsilon: 5, epsilon: 1, reports: 4 },
        { field: 'age', local_epsilon: 4, epsilon: 0.5, reports: 2 },
      ],
      ...analysis,
    },
    {
      analysis: 'reading',
      stream: 'visits',
      mechanisms: ['onehot-symmetric'],
      budget: { epsilon: 1, delta: '1e-7', reports: 5, composition: 'basic' },
      cohort: { minimum: 5000 },
      fields: [{ field: 'topic', local_epsilon: 4, epsilon: 1, reports: 5 }],
    },
  ],
  ...more,
});

/** A policy's hash. @param {any} json */
export function policyHash(json) {
  const policy = core.policy(json);
  core.releasePolicy(policy);
  return policy.hash;
}

/** A query of phrases, unsigned. @param {any} [more] */
export const phrases = (more = {}) => ({
  recipe: 'ngrams',
  analysis: 'keyboard',
  stream: 'typed-phrases',
  value: 'fields',
  encoding: [{ field: 'phrase', prefixes: ['hello world', 'i went'], tokens: ['a', 'and', 'got'] }],
  mechanism: 'onehot-symmetric',
  parameters: { epsilon: 4 },
  limit: { per_day: 1 },
  send: { delay_s: 0 },
  cohort: { minimum: 1000000, epsilon: 0.25, delta: '1e-9' },
  policy: policyHash(makePolicy()),
  version: 2,
  expires: '2027-06-30',
  ...more,
});

/** A query of the other analysis, unsigned. @param {any} [more] */
export const topics = (more = {}) => {
  const { text: _, version: __, ...base } = /** @type {any} */ (phrases());
  return {
    ...base,
    recipe: 'topics',
    analysis: 'reading',
    stream: 'visits',
    version: 1,
    encoding: [{ field: 'topic', values: ['sport', 'news'] }],
    ...more,
  };
};

/** What a page's people may be asked about their words. @param {any} [more] of the policy @param {any} [analysis] of its analysis "words" */
export const wordsPolicy = (more = {}, analysis = {}) => ({
  policy: 'words-2026',
  keys: [analyst.key],
  fresh_days: 1,
  streams: [
    {
      stream: 'typed-words',
      retention_days: 14,
      fields: [
        { field: 'word', type: 'characters' },
        { field: 'locale', type: 'text' },
      ],
    },
  ],
  analyses: [
    {
      analysis: 'words',
      stream: 'typed-words',
      mechanisms: ['trie'],
      split_by: ['locale'],
      budget: { epsilon: 4, delta: '1e-6', reports: 12 },
      cohort: { minimum: 5000 },
      fields: [{ field: 'word', local_epsilon: 16, epsilon: 4, reports: 12 }],
      ...analysis,
    },
  ],
  ...more,
});

/** A round of a trie, unsigned: three reports of each device. @param {any} [more] @param {any} [parameters] @param {any} [policy] */
export const round = (more = {}, parameters = {}, policy = wordsPolicy()) => ({
  recipe: 'words-1',
  analysis: 'words',
  stream: 'typed-words',
  value: 'fields',
  encoding: [
    { field: 'word', starts: '0co 1a 0ho', characters: 'abcdefghijklmnopqrstuvwxyzé', step: 2 },
  ],
  mechanism: 'trie',
  parameters: {
    epsilon: 4,
    contributions: 3,
    sampler: 'random',
    depth: 12,
    max_prefixes: 300,
    known: '0cat 0house',
    ...parameters,
  },
  limit: { per_day: 1 },
  send: { delay_s: 0 },
  cohort: { minimum: 1000000, epsilon: 0.25, delta: '1e-9' },
  policy: policyHash(policy),
  version: 1,
  round: { index: 1 },
  expires: '2027-06-30',
  ...more,
});

/** The module with every mechanism, which answers such rounds. */
export const loadWholeCore = async () => QueryCore.create(await loadModule());

/** The same, signed. @param {any} json @param {{key: string, sign: (bytes: Uint8Array) => string}} [by] */
export function signed(json, by = analyst) {
  const query = core.query(json);
  const signature = { key: by.key, ed25519: by.sign(signedBytes(query)) };
  core.release(query);
  return { ...json, signature };
}

/** What the core makes of a query's part. @param {any} json @param {(query: import('../bindings/query_core.js').Query) => any} task */
export function withQuery(json, task) {
  const query = core.query(json);
  try {
    return task(query);
  } finally {
    core.release(query);
  }
}

/**
 * A client under consent, opted in to the analyses, past the days in which fresh storage waits.
 * @param {any} [more] options @param {string[]} [analyses]
 */
export async function askedClient(more = {}, analyses = ['keyboard']) {
  const made = await makeClient({
    policy: makePolicy(),
    queryWasm: loadQueryCore,
    recipes: [wordsRecipe()],
    ...more,
  });
  await made.client.consent.grant();
  for (const analysis of analyses) await made.client.optIn(analysis);
  await made.clock.advance(DAY_MS);
  return { ...made, storage: /** @type {import('../client/storage.js').Storage} */ (made.storage) };
}

/** Waits for what needs a module to be compiled, which no timer of a test moves. @param {() => Promise<boolean>} isSo @param {number} [ms] */
export async function eventually(isSo, ms = 30_000) {
  for (const end = Date.now() + ms; Date.now() < end && !(await isSo());)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Everything that a storage holds, store by store, bytes as text. @param {any} storage @returns {Promise<{[store: string]: string}>} */
export const stored = (storage) =>
  storage.transaction(async (/** @type {any} */ tx) => {
    /** @type {{[store: string]: string}} */
    const out = {};
    for (const store of ['state', 'queue', 'done', 'events', 'log']) {
      out[store] = JSON.stringify(await tx.entries(store), (_, v) =>
        v instanceof Uint8Array ? Buffer.from(v).toString('latin1') : v,
      );
    }
    return out;
  });
