// SPDX-License-Identifier: Apache-2.0
// A recipe of two servers in shoal-dap.wasm, and the length of its reports. An edge worker needs no
// more, because it forwards the reports unread. Depends on device.js.
import { ARGUMENT, Module, toHex } from './device.js';

/** @typedef {import('./device.js').Recipe} Recipe */

/**
 * Makes a fresh instance, because an instance holds only one task.
 * @param {WebAssembly.Module} compiled shoal-dap.wasm
 */
export async function instanceOf(compiled) {
  const instance = await WebAssembly.instantiate(compiled, {});
  /** @type {any} */ (instance.exports)._initialize?.();
  return new Module(instance);
}

/**
 * Sets the task of a recipe. The recipe's own module has prepared it; its bytes are copied.
 * @param {Module} module
 * @param {Recipe} recipe
 */
export function takeRecipe(module, recipe) {
  /** @type {Module} */
  const from = /** @type {any} */ (recipe).module;
  const at = from.x.recipe_at(recipe.handle);
  const bytes = from.reserve(0).slice(at, at + from.x.recipe_size());
  module.put(bytes);
  const err = module.x.task_of_recipe(module.base, bytes.length);
  if (err) throw module.error(err, undefined, module.text(module.x.task_error()));
  // The task's id is the recipe's hash, which lies after everything else that is read. If the id is
  // another, the two modules are of different builds.
  module.check(module.x.task_id(module.base));
  if (toHex(module.take(0, 32)) !== recipe.hash)
    throw module.error(ARGUMENT, recipe.id, 'shoal-dap.wasm is of another version');
}

/**
 * Returns the bytes of an upload of one report, which are the same for all reports of a recipe.
 * @param {WebAssembly.Module} compiled shoal-dap.wasm
 * @param {Recipe} recipe
 */
export async function reportLength(compiled, recipe) {
  const module = await instanceOf(compiled);
  takeRecipe(module, recipe);
  return module.length(module.x.report_length());
}
