// SPDX-License-Identifier: Apache-2.0
// The recipe set of a site: one file for all pages of an origin, with everything that they may ask
// of a person and the budget that bounds it. The page pins its hash. This is a chunk of its own,
// loaded if a page names a set.
import { micro } from '../bindings/device.js';
import { hashOf } from '../bindings/ledger_sum.js';
import { DAY_MS, chunk } from './basics.js';

/**
 * @typedef {import('../bindings/device.js').RecipeJson} RecipeJson
 * @typedef {import('../bindings/ledger.js').RecipeSet} RecipeSet
 * @typedef {import('./client_options.js').PinnedRecipe} PinnedRecipe
 * @typedef {import('./context.js').Context} Context
 *
 * @typedef {object} Ready what page_recipes.js makes of recipes
 * @property {any} core
 * @property {any[]} recipes
 * @property {{name: string | null, code: string, cause?: unknown}[]} refused
 * @property {boolean} isLacking
 * @property {RecipeSet} set
 *
 * @typedef {object} Loading how page_recipes.js loads and accepts recipes
 * @property {(core: any, sources: any[]) => Ready} accept
 * @property {(options: any, deps: any) => Promise<any>} pageCore
 * @property {(deps: any, source: any) => Promise<{json: any, hash?: string, cause?: unknown}>} sourceOf
 *
 * @typedef {object} SetJson
 * @property {{epsilon: number, days: number}} [budget] caps the epsilon of everything in any so many
 *   days
 * @property {RecipeJson[]} recipes
 * @property {RecipeJson[]} [runs]
 * @property {import('../bindings/query_core.js').PolicyJson} [policy]
 */

const SLOTS = 16; // recipes that the page's module holds
const HOUR_MS = 3_600_000;
const MEMBERS = ['budget', 'recipes', 'runs', 'policy'];

/**
 * Loads the set that a page pins. One that is not the pinned one, or has a recipe that cannot be
 * used, is refused as a whole.
 * @param {Context} context
 * @param {PinnedRecipe} site
 * @param {Loading} loading
 * @returns {Promise<Ready>}
 */
export async function acceptSet(context, site, loading) {
  const { deps, options } = context;
  const { json, hash, cause } = await loading.sourceOf(deps, site);
  const set = parsed(json);
  const { recipes = [], runs = [], policy } = set ?? {};
  const isLarge = runs.length > 0 || policy !== undefined || recipes.length > SLOTS;
  let ready = await prepared(
    loading,
    await coreOf(loading, context, isLarge),
    set ?? { recipes: [] },
  );
  if (ready.isLacking && !isLarge)
    ready = await prepared(loading, await coreOf(loading, context, true), set ?? { recipes: [] });
  if (!set || ready.refused.length || ready.hash !== hash) {
    const code = cause
      ? 'set-missing'
      : set && ready.hash && !ready.refused.length
        ? 'set-hash'
        : 'set-refused';
    const refused = [{ name: site.url, code, cause: cause ?? ready.refused[0]?.cause }];
    return { ...ready, recipes: [], refused, set: { recipes: [] } };
  }
  if (runs.length) options.runs = runs;
  if (policy) options.policy = policy;
  wake(context, deps);
  return ready;
}

/** @param {any} text @returns {SetJson | null} */
function parsed(text) {
  try {
    const set = JSON.parse(text);
    const isWhole =
      Array.isArray(set.recipes) &&
      Array.isArray(set.runs ?? []) &&
      Object.keys(set).every((name) => MEMBERS.includes(name));
    return isWhole ? set : null;
  } catch {
    return null;
  }
}

/**
 * @param {Loading} loading
 * @param {Context} context
 * @param {boolean} isLarge does the set need the whole module?
 * @returns {Promise<any>}
 */
async function coreOf({ pageCore }, { options, deps }, isLarge) {
  const { wasm } = options;
  if (!isLarge || typeof wasm === 'function') return pageCore(options, deps);
  const { setCore } = await chunk(import('../bindings/set_core.js'));
  return setCore(deps.fetch, wasm);
}

/**
 * Prepares the set's recipes, runs and policy in a core.
 * @param {Loading} loading
 * @param {any} core
 * @param {SetJson} json
 * @returns {Promise<Ready & {hash: string | null}>}
 */
async function prepared({ accept }, core, { budget, recipes, runs = [], policy }) {
  const named = (/** @type {RecipeJson} */ each) => ({ name: each?.recipe ?? null, json: each });
  const own = accept(core, recipes.map(named));
  const followed = accept(core, runs.map(named));
  const ready = {
    ...own,
    refused: [...own.refused, ...followed.refused],
    isLacking: own.isLacking || followed.isLacking,
  };
  try {
    /** @type {RecipeSet} */
    const set = { recipes: [...own.recipes, ...followed.recipes] };
    if (budget !== undefined) set.budget = budgetOf(budget);
    if (policy !== undefined) set.policy = core.policy(policy);
    return { ...ready, set, hash: hashOf(core.ledger, set) };
  } catch {
    return { ...ready, hash: null };
  }
}

/** @param {any} budget */
function budgetOf({ epsilon, days, ...others }) {
  const epsMicro = micro(epsilon);
  if (epsMicro === null || !Number.isInteger(days) || days < 1 || Object.keys(others).length)
    throw new RangeError('not a budget');
  return { epsMicro, days };
}

/**
 * Reserves the next day when it begins, in a page that stays open and visible.
 * @param {Context} context
 * @param {import('./client_options.js').Dependencies} deps
 */
function wake(context, deps) {
  const left = DAY_MS - (deps.now() % DAY_MS); // the clock may be set meanwhile, hence the hour
  const { signal } = context;
  const timer = deps.setTimer(
    () => {
      void context.open();
      wake(context, deps);
    },
    Math.min(left, HOUR_MS),
  );
  if (signal.aborted) deps.clearTimer(timer);
  else signal.addEventListener('abort', () => deps.clearTimer(timer), { once: true });
}
