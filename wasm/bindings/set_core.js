// SPDX-License-Identifier: Apache-2.0
// Loads the whole module for a recipe set that has runs, a policy or many recipes: one core that
// takes them all, so that one ledger reserves them together. A chunk of its own.
import { JointRecipe } from './joint_core.js';
import { setRecipe } from './keyed_recipe.js';
import { QueryCore } from './query_core.js';
import { loadModule } from './web.js';

export class SetCore extends QueryCore {
  /** @param {import('./device.js').RecipeJson | string} json */
  recipe(json) {
    return new JointRecipe(...this.prepare(json, setRecipe));
  }
}

/**
 * @param {typeof fetch} fetcher
 * @param {string | URL} [url] of the module, where the page names it
 */
export const setCore = async (fetcher, url) =>
  SetCore.create(await loadModule(url ?? new URL('./shoal-all.wasm', import.meta.url), fetcher));
