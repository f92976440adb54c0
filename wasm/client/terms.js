// SPDX-License-Identifier: Apache-2.0
// The terms that a person agrees to: for each purpose its epsilon, its operators and its protocol.
// They are stored with consent. A page that asks for less or for the same goes on; for more, it
// asks anew (asks.js), and until then nothing is spent or sent for what is more. Analyses and runs
// have opt-ins of their own, whose terms are stored in the same way, apart.
// Terms only grow while consent stands, so pages with different recipes do not end each other's.
import { encoder, toHex } from '../bindings/device.js';

/**
 * @typedef {import('../bindings/device.js').RecipeJson} RecipeJson
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {object} Extent
 * @property {number} epsilon of one report, micro-units; of a run, of all its epochs
 * @property {number} day epsilon of a day's reports, micro-units; of an analysis, of all its answers
 * @property {string[]} operators origins of who receives something, sorted
 * @property {string[]} ways how the records are made and added up, sorted
 * @property {Extent[]} [others] in storage: what was agreed to before, and this does not hold
 *
 * @typedef {'terms' | 'opted'} Place key in `state`: of what consent covers, and of opt-ins
 * @typedef {Extent & {place: Place, key: string, name: string}} Term what a page asks for: `key` is
 *   the purpose (its kind, analysis, stream, kind of value, and variables), as JSON
 * @typedef {{[key: string]: Extent}} Agreed extents by purpose
 * @typedef {object} Held storage under the lock of all tabs, as context.js has it
 * @property {(name: string, options: {}, task: () => Promise<Term[]>) => Promise<Term[]>} underLock
 * @property {<T>(task: (tx: Transaction) => Promise<T>) => Promise<T>} transaction
 * @property {(tx: Transaction) => Promise<boolean>} stands does consent stand?
 * @typedef {{hash: string | null, agreed: Agreed}} Stored `hash` is the SHA-256 of `agreed`; null
 *   where the page is not served over https
 */

/** A purpose: analysis, stream, kind of value, and variables. @param {RecipeJson} json */
export const purposeOf = ({ analysis, stream, value, variables = [] }) => [
  analysis,
  stream,
  value,
  variables.map((/** @type {any} */ { name, value }) => [name, value]),
];

/** Is a recipe one of a run? Then its epsilon is of all epochs together. @param {RecipeJson} json */
const isRun = (json) => json.parameters?.epochs > 0;

/**
 * Who receives something of a recipe: its edge worker and the aggregators.
 * @param {string} url that reports are posted to
 * @param {RecipeJson} [json]
 */
export const operatorsOf = (url, { aggregation } = {}) =>
  sorted(
    [url, aggregation?.leader, aggregation?.helper].map((each) => each && new URL(each).origin),
  );

/**
 * What a recipe asks of a person.
 * @param {string} url that reports are posted to
 * @param {Pick<import('../bindings/device.js').Recipe, 'json' | 'epsilonMicro' | 'limit' | 'isOpen'>} recipe
 * @returns {Extent}
 */
export const extentOf = (url, { json, epsilonMicro, limit, isOpen }) => ({
  epsilon: epsilonMicro,
  day: isRun(json) ? epsilonMicro : epsilonMicro * limit.perDay,
  operators: operatorsOf(url, json),
  // A list may become shorter, and an event may become one of a window. The reverse is more.
  ways: sorted([
    json.aggregation?.protocol ?? 'sum',
    isOpen && 'any-string',
    !isRun(json) && json.send?.pick !== 'uniform' && 'each-event',
  ]),
});

/**
 * The term of a recipe. Reports of one analysis and kind of value are limited together, by the
 * ledger, so recipes that take turns for one purpose are one purpose.
 * @param {string} url that reports are posted to
 * @param {import('../bindings/device.js').Recipe} recipe
 * @returns {Term}
 */
export function termOf(url, recipe) {
  const kind = isRun(recipe.json) ? 'run' : 'recipe';
  const key = JSON.stringify([kind, ...purposeOf(recipe.json)]);
  return {
    place: isRun(recipe.json) ? 'opted' : 'terms',
    key,
    name: recipe.json.recipe,
    ...extentOf(url, recipe),
  };
}

/** Each of a list once, in order, without what is empty. @param {any[]} list */
export const sorted = (list) => [...new Set(list.filter(Boolean))].sort();

/** Does one extent hold the other? @param {Extent} agreed @param {Extent} asked */
const covers = (agreed, asked) =>
  asked.epsilon <= agreed.epsilon &&
  asked.day <= agreed.day &&
  asked.operators.every((each) => agreed.operators.includes(each)) &&
  asked.ways.every((each) => agreed.ways.includes(each));

/**
 * Does one of the extents that were agreed to hold what is asked? Several together do not: who
 * agreed to much for one operator and to little for another did not agree to much for both.
 * @param {Extent | undefined} agreed @param {Extent} asked
 */
export const holds = (agreed, asked) =>
  !!agreed && [agreed, ...(agreed.others ?? [])].some((each) => covers(each, asked));

/**
 * Reads what was agreed to for a term's purpose.
 * @param {Transaction} tx
 * @param {Term} term
 * @returns {Promise<Extent | undefined>}
 */
export const agreedTo = async (tx, { place, key }) => (await tx.get('state', place))?.agreed[key];

/** Did the person agree to a term? @param {Transaction} tx @param {Term} term */
export const agrees = async (tx, term) => holds(await agreedTo(tx, term), term);

/**
 * Returns what was agreed to, with more terms.
 * @param {Agreed} agreed
 * @param {Term[]} terms
 */
function withTerms(agreed, terms) {
  const all = { ...agreed };
  for (const { key, epsilon, day, operators, ways } of terms) {
    const { others = [], ...last } = all[key] ?? {};
    const made = { epsilon, day, operators, ways };
    if (holds(all[key], made)) continue;
    const rest = [/** @type {Extent} */ (last), ...others].filter(
      (each) => each.ways && !covers(made, each),
    );
    all[key] = rest.length ? { ...made, others: rest } : made;
  }
  return all;
}

/**
 * The SHA-256 of terms, hex; null where the browser has none, on a page without https.
 * @param {Agreed} agreed
 */
async function hashOf(agreed) {
  const bytes = encoder.encode(JSON.stringify(Object.entries(agreed).sort()));
  const digest = await globalThis.crypto?.subtle?.digest('SHA-256', bytes);
  return digest ? toHex(new Uint8Array(digest)) : null;
}

/**
 * Holds terms against those that were agreed to, after adding those that the rule adds.
 * @param {Held} context
 * @param {Place} place
 * @param {Term[]} terms
 * @param {'all' | 'first' | 'missing'} rule `all`: the person says yes to these terms now. What an
 *   earlier version stored has no terms: then consent takes over those of the `first` page that
 *   loads, and an opt-in those that are `missing`.
 * @returns {Promise<Term[]>} the terms that are more than what was agreed to
 */
export function bindTerms(context, place, terms, rule) {
  return context.underLock('shoal', {}, async () => {
    /** @type {Stored | undefined} */
    const stored = await context.transaction((tx) => tx.get('state', place));
    const { hash, agreed: known = {} } = stored ?? {};
    // Damaged terms are no terms: everything is asked for anew.
    const isIntact = !hash || [hash, null].includes(await hashOf(known));
    const base = isIntact ? known : {};
    const isFirst = rule === 'first' && !stored;
    const isAdded = (/** @type {Term} */ { key }) =>
      rule === 'all' || isFirst || (rule === 'missing' && isIntact && !base[key]);
    const added = terms.filter(isAdded);
    const agreed = withTerms(base, added);
    if (added.length || isFirst || !isIntact) {
      const made = { hash: await hashOf(agreed), agreed };
      await context.transaction(async (tx) => {
        if (await context.stands(tx)) await tx.put('state', place, made);
      });
    }
    return terms.filter((term) => !holds(agreed[term.key], term));
  });
}
