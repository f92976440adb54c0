// SPDX-License-Identifier: Apache-2.0
// Pinned recipes: those whose JSON has the hash that the operator wrote beside it. No other is collected or published, nor,
// where keys are given, one that none of them signed.
import { verifySignature } from 'shoal-client/signature';

/** @typedef {import('shoal-client/core').Core} Core @typedef {import('shoal-client/core').Recipe} Recipe */

/**
 * @param {{recipe: any, hash: string}[]} pins
 * @param {() => Promise<Core>} createCore  one core a recipe: a core holds 16 at most
 * @param {unknown} [keys]  Ed25519 public keys, 64 lower-case hex digits each
 * @returns {Promise<Map<string, Recipe>>} by hash
 */
export async function pinRecipes(pins, createCore, keys) {
  if (keys !== undefined) checkKeys(keys);
  const recipes = new Map();
  for (const { recipe: json, hash } of pins) {
    const recipe = (await createCore()).recipe(json);
    if (recipe.hash !== hash) throw new Error(`recipe ${recipe.id} has the hash ${recipe.hash}, but ${hash} is pinned`);
    const code = keys === undefined ? null : await verifySignature(recipe, keys);
    if (code) throw new Error(`recipe ${recipe.id} is refused: ${code}`);
    recipes.set(hash, recipe);
  }
  return recipes;
}

/** @param {unknown} keys */
function checkKeys(keys) {
  const isKey = (/** @type {unknown} */ key) => typeof key === 'string' && /^[0-9a-f]{64}$/.test(key);
  if (!Array.isArray(keys) || !keys.length || !keys.every(isKey)) throw new Error('recipe_keys: a list of keys of 64 hex digits is needed');
}
