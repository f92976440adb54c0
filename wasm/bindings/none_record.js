// SPDX-License-Identifier: Apache-2.0
// Randomizes "none" for any recipe: what a window without an event reports. Only windows need it, so
// it is apart from device.js. Depends on device.js.
import { ARGUMENT } from './device.js';

const SEED = 32; // bytes

/**
 * Randomizes "none". Costs the recipe's epsilon: debit the ledger first.
 * @param {any} recipe a Recipe without permanent coins; others are refused
 * @param {Uint8Array} seed 32 fresh secret random bytes, used for nothing else
 * @returns {string} the record's text form
 */
export function randomizeNone(recipe, seed) {
  const { module, handle, recordSize, textSize } = recipe;
  if (seed.length !== SEED) throw module.error(ARGUMENT);
  module.reserve(SEED + recordSize + textSize);
  module.put(seed);
  module.check(module.x.randomize_none(module.base + SEED, handle, module.base));
  return recipe.print(SEED);
}
