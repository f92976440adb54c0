// SPDX-License-Identifier: Apache-2.0
// Loads the whole module, for a page whose recipes need it: for a mechanism that shoal.wasm lacks,
// or for several variables. It is a chunk of its own, loaded in place of shoal.wasm. Depends on
// device.js and joint_core.js.
import { Core as DeviceCore } from './device.js';
import { JointRecipe } from './joint_core.js';
import { setRecipe } from './keyed_recipe.js';
import { loadModule } from './web.js';

class Core extends DeviceCore {
  /** @param {import('./device.js').RecipeJson | string} json */
  recipe(json) {
    return new JointRecipe(...this.prepare(json, setRecipe));
  }
}

/**
 * @param {typeof fetch} fetcher
 * @param {string | URL} [url] of the module, where the page names it
 */
export const wholeCore = async (fetcher, url) =>
  Core.create(await loadModule(url ?? new URL('./shoal-all.wasm', import.meta.url), fetcher));
