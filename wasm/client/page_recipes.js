// SPDX-License-Identifier: Apache-2.0
// Loads the core and the recipes of a page, once and only under consent.
import { Core } from '../bindings/device.js';
import { loadModule } from '../bindings/web.js';
import { chunk, loadFailureCode } from './basics.js';
import { isLoopback } from './client_options.js';

/**
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('../bindings/device.js').RecipeJson} RecipeJson
 * @typedef {import('../bindings/ledger.js').RecipeSet} RecipeSet
 * @typedef {import('./client_options.js').Dependencies} Dependencies
 * @typedef {import('./client_options.js').PinnedRecipe} PinnedRecipe
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./tokens.js').Sealing} Sealing
 *
 * @typedef {{name: string | null, json: RecipeJson | string, hash?: string, cause?: unknown}} Source
 *   a recipe, and its hash where the page pins that; `cause` says why it could not be fetched
 * @typedef {{name: string | null, code: string, cause?: unknown}} Refused
 * @typedef {{core: Core, recipes: Recipe[], refused: Refused[], isLacking: boolean, set:
 *   RecipeSet}} Ready `isLacking`: does a refused recipe need more than the module has? `set`: what
 *   the page reserves
 */

const RECIPE_MAX = 1 << 20; // characters

/**
 * Chooses the page's module, or the one without vector instructions if the browser has none. The
 * bytes are a module whose only function returns a vector.
 */
const pageModule = () =>
  WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123]))
    ? new URL('./shoal.wasm', import.meta.url)
    : new URL('./shoal-plain.wasm', import.meta.url);

export class PageRecipes {
  #context;
  #bind;
  /** @type {Promise<Ready | null> | null} */
  #loading = null;
  /** Why nothing could be loaded: a code. @type {string | undefined} */
  failure;

  /**
   * @param {Context} context
   * @param {(recipes: Recipe[]) => Promise<unknown>} bind holds what the page asks for against what
   *   was agreed to, before anything is spent
   */
  constructor(context, bind) {
    this.#context = context;
    this.#bind = bind;
  }

  /** The core and the accepted recipes; null without consent, or where they cannot be loaded. */
  async ready() {
    return this.#context.isOn ? (this.#loading ??= this.#load()) : null;
  }

  /** @returns {Promise<Ready | null>} */
  async #load() {
    const context = this.#context;
    const { site, keys, relay } = context.options;
    try {
      const ready = site
        ? await (
            await chunk(import('./recipe_set.js'))
          ).acceptSet(context, site, {
            accept,
            pageCore,
            sourceOf,
          })
        : await acceptAll(context);
      context.page = ready;
      const gone = new Set(ready.recipes);
      // Trials stay on this machine. What runs outside a browser has no page.
      const { url } = context;
      if (![globalThis.location?.href ?? url, url, relay ?? url].every(isLoopback))
        ready.recipes = ready.recipes.filter(
          ({ json, id: name }) => !json.trial || void ready.refused.push({ name, code: 'trial' }),
        );
      if (keys) {
        const { keepSigned } = await import('../bindings/signature.js');
        await keepSigned(ready, keys, (code, name) => void ready.refused.push({ name, code }));
      }
      for (const recipe of ready.recipes) gone.delete(recipe);
      ready.set.recipes = ready.set.recipes.filter((recipe) => !gone.has(recipe));
      for (const { name, code, cause } of ready.refused) context.note(code, name, undefined, cause);
      await this.#bind(ready.recipes);
      await context.open();
      // The keys of the two servers are fetched now and not at the first event, because the servers
      // need not learn when that happens.
      for (const recipe of ready.recipes)
        if (!context.isMore(recipe))
          sealingOf(context, recipe).catch((error) => context.noteError(error, recipe.id));
      return ready;
    } catch (error) {
      context.note((this.failure = loadFailureCode(error)), null, undefined, error);
      return null;
    }
  }
}

/**
 * The core that the page gives, or the page's module.
 * @param {import('./client_options.js').AllOptions} options
 * @param {Dependencies} deps
 */
export async function pageCore({ wasm }, deps) {
  if (!globalThis.WebAssembly) throw new Error('CSP: there is no WebAssembly');
  return typeof wasm === 'function'
    ? wasm()
    : Core.create(await loadModule(wasm ?? pageModule(), deps.fetch));
}

/** @param {Context} context @returns {Promise<Ready>} */
async function acceptAll({ options, deps }) {
  const { wasm, recipes = [] } = options;
  const sources = await Promise.all(recipes.map((each) => sourceOf(deps, each)));
  const ready = accept(await pageCore(options, deps), sources);
  if (!ready.isLacking || typeof wasm === 'function') return ready;
  // The page's module has what most recipes need. If one of them needs more, the whole module takes
  // its place, if it can be loaded.
  try {
    const { wholeCore } = await import('../bindings/whole.js');
    return accept(await wholeCore(deps.fetch, wasm), sources);
  } catch {
    return ready;
  }
}

/**
 * Prepares the recipes in a core.
 * @param {Core} core
 * @param {Source[]} sources
 * @returns {Ready}
 */
export function accept(core, sources) {
  /** @type {Map<string, Recipe>} */
  const recipes = new Map();
  const refused = [];
  let isLacking = false;
  for (const { name, json, hash, cause } of sources) {
    try {
      if (cause) throw cause;
      const recipe = core.recipe(json);
      const isPinned = (hash ?? recipe.hash) === recipe.hash;
      if (!isPinned || recipes.has(recipe.hash)) core.release(recipe);
      else recipes.set(recipe.hash, recipe);
      if (!isPinned) refused.push({ name, code: 'recipe-hash' });
    } catch (error) {
      const { field } = /** @type {any} */ (error);
      isLacking ||= field === 'mechanism' || field === 'variables';
      const code = cause ? 'recipe-missing' : 'recipe-refused';
      refused.push({ name, code, cause: error });
    }
  }
  const list = [...recipes.values()];
  return { core, recipes: list, refused, isLacking, set: { recipes: list } };
}

/**
 * Returns a recipe as it was given, or fetches it.
 * @param {Dependencies} deps
 * @param {any} source a RecipeJson or a PinnedRecipe; anything else is refused as a recipe
 * @returns {Promise<Source>}
 */
export async function sourceOf(deps, source) {
  const { url, hash, recipe = null } = source ?? {};
  if (typeof url !== 'string') return { name: recipe, json: source };
  const pinned = { name: url, json: '', hash: String(hash) };
  try {
    const response = await deps.fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer' });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const json = await response.text();
    return json.length > RECIPE_MAX ? pinned : { ...pinned, json };
  } catch (cause) {
    return { ...pinned, cause };
  }
}

/**
 * Returns what the recipe's reports need: what seals them for two servers, or what takes their
 * tokens, or the code that says why there is none.
 * @param {Context} context
 * @param {Recipe} recipe
 * @returns {Promise<Sealing>}
 */
export async function sealingOf(context, recipe) {
  const code = await context.unsendable();
  if (code) return { code };
  if (recipe.json.send?.token)
    return (await chunk(import('./tokens.js'))).sealingFor(context, recipe);
  if (recipe.json.aggregation?.protocol !== 'dap') return {};
  const dap = await chunk(import('./dap.js'));
  return dap.sealingFor(context, recipe);
}
