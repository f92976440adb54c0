// SPDX-License-Identifier: Apache-2.0
// The policy of a page, which says what queries may ask of its people. It is loaded with the core
// that checks it. This file also reads what storage holds under the policy: the opt-ins and the
// ledger of queries.
import { QueryCore } from '../bindings/query_core.js';
import { loadModule } from '../bindings/web.js';
import { Refusal, loadFailureCode, storageFailure } from './basics.js';
import { LOG_REASONS } from './log_reasons.js';
import { sourceOf } from './page_recipes.js';
import { operatorsOf, purposeOf, sorted } from './terms.js';

/**
 * @typedef {import('../bindings/query_core.js').Policy} Policy
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {{core: QueryCore, policy: Policy}} Loaded
 */

/**
 * The codes of queries; the accountant has sentences of its own.
 * @type {{[code: string]: string}}
 */
export const QUERY_REASONS = {
  'no-policy': 'This page has no policy, so no query is answered.',
  'policy-refused': 'The policy could not be loaded, or is not the one that was pinned.',
  'wasm-blocked': "The page's policy refuses WebAssembly.",
  'core-missing': 'The WebAssembly module for queries could not be loaded.',
  'unknown-stream': 'The policy has no such stream.',
  'unknown-analysis': 'The policy has no such analysis.',
  'not-opted-in': 'The person has not opted in to the analysis.',
  outdated: 'The page asks for more than the person agreed to.',
  'event-field': "The event has a field that the stream's schema does not have.",
  'event-type': "A field of the event is not of its type in the stream's schema.",
  'event-size': 'The event is larger than 1 KiB.',
  'queries-missing': 'The queries could not be fetched.',
  'too-many': 'More than 64 queries came at once; the others were not looked at.',
  malformed: 'This is not a query that the core can read.',
  'no-signature': 'The query is not signed.',
  'unknown-key': 'The query is signed by a key that the policy does not name.',
  'bad-signature': "The query's signature is bad: its key did not sign this query.",
  'no-ed25519': "This browser cannot check the query's signature (Ed25519), so it is not answered.",
  'not-logged': LOG_REASONS['not-logged'],
  'sampled-out': "Not sampled: the query's random sample left this device out.",
  cap: "The site's budget leaves nothing for the analysis now.",
  budget: 'Everything was erased today; queries are answered from the next UTC day on.',
};

/** @param {string} code @param {unknown} [cause] */
export const refused = (code, cause) => new Refusal(code, QUERY_REASONS[code], cause);

/**
 * The core and the policy of each client, with the module for queries (false) or the whole one
 * (true).
 * @type {WeakMap<Context, Map<boolean, Promise<Loaded>>>}
 */
const loading = new WeakMap();

/**
 * Loads the policy once for each client. A failed load is tried again at the next call.
 * @param {Context} context
 * @param {boolean} [isWhole]
 * @returns {Promise<Loaded>}
 */
export function load(context, isWhole = false) {
  const cores = loading.get(context) ?? new Map();
  loading.set(context, cores);
  const known = cores.get(isWhole);
  if (known) return known;
  const made = open(context, isWhole);
  cores.set(isWhole, made);
  made.catch(() => cores.delete(isWhole));
  return made;
}

/** @param {Context} context @param {boolean} isWhole @returns {Promise<Loaded>} */
async function open({ deps, options: { policy, queryWasm } }, isWhole) {
  if (!policy) throw refused('no-policy');
  /** @type {[QueryCore, import('./page_recipes.js').Source]} */
  const [core, { json, hash }] = await Promise.all([
    coreOf(deps, queryWasm, isWhole),
    sourceOf(deps, policy),
  ]).catch((error) => {
    throw refused(loadFailureCode(error), error);
  });
  /** @type {Policy} */
  let made;
  try {
    made = core.policy(json);
  } catch (error) {
    throw refused('policy-refused', error);
  }
  if ((hash ?? made.hash) !== made.hash) throw refused('policy-refused');
  return { core, policy: made };
}

/**
 * @param {import('./client_options.js').Dependencies} deps
 * @param {import('./client_options.js').Options['queryWasm']} given
 * @param {boolean} isWhole
 */
async function coreOf(deps, given, isWhole) {
  if (typeof given === 'function') return given();
  // Both addresses are literal because bundlers look for them. They are made only if the page names
  // none, because a bundle in one file has no address of its own.
  const beside = () =>
    isWhole
      ? new URL('./shoal-all.wasm', import.meta.url)
      : new URL('./shoal-query.wasm', import.meta.url);
  return QueryCore.create(await loadModule(given ?? beside(), deps.fetch));
}

/**
 * @param {Policy} policy
 * @param {string} name
 * @returns {{stream: string, retention_days: number, fields: {field: string, type: string}[]} |
 *   undefined}
 */
export const streamOf = (policy, name) =>
  policy.json.streams.find((/** @type {any} */ { stream }) => stream === name);

/** @param {Policy} policy @param {string} name @returns {any} */
export const analysisOf = (policy, name) =>
  policy.json.analyses.find((/** @type {any} */ { analysis }) => analysis === name);

/**
 * Returns the analyses that the person opted in to.
 * @param {Transaction} tx
 * @returns {Promise<string[]>}
 */
export const optedIn = async (tx) => (await tx.get('state', 'analyses')) ?? [];

/**
 * Reads the ledger of queries. If there is none, makes and stores one that begins today.
 * @param {Transaction} tx
 * @param {Loaded} loaded
 * @param {number} day
 * @returns {Promise<Uint8Array>}
 */
export async function queryLedgerOf(tx, { core }, day) {
  const stored = await tx.get('state', 'accountant');
  if (stored instanceof Uint8Array) return stored;
  if (stored !== undefined) throw storageFailure(new TypeError('the stored ledger is damaged'));
  const ledger = core.accountant.init(day);
  await tx.put('state', 'accountant', ledger);
  return ledger;
}

/**
 * What an analysis asks of a person: each of its fields, and the epsilon of all its answers.
 * @param {Context} context
 * @param {any} analysis of the policy
 */
export function termOfAnalysis({ url }, analysis) {
  const { analysis: name, stream, fields, budget, split_by: splits = [] } = analysis;
  const epsilon = Math.round(
    1e6 * Math.max(...fields.map((/** @type {any} */ f) => f.local_epsilon)),
  );
  /** @param {string[]} names @param {string} kind */
  const named = (names, kind) => names.map((name) => `${kind} ${name}`);
  const ways = [
    'query',
    `stream ${stream}`,
    ...named(
      fields.map((/** @type {any} */ { field }) => field),
      'field',
    ),
    ...named(splits, 'part'),
  ];
  return {
    place: /** @type {const} */ ('opted'),
    key: JSON.stringify(['analysis', ...purposeOf({ analysis: name })]),
    name,
    epsilon,
    day: epsilon * budget.reports,
    operators: operatorsOf(url),
    ways: sorted(ways),
  };
}
