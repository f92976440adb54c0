// SPDX-License-Identifier: Apache-2.0
// Pinned recipes: those whose JSON has the hash that the operator wrote beside it. No other is collected or published.

/** @typedef {import('shoal-client/core').Core} Core @typedef {import('shoal-client/core').Recipe} Recipe */

/**
 * @param {{recipe: any, hash: string}[]} pins
 * @param {() => Promise<Core>} createCore  one core a recipe: a core holds 16 at most
 * @returns {Promise<Map<string, Recipe>>} by hash
 */
export async function pinRecipes(pins, createCore) {
  const recipes = new Map();
  for (const { recipe: json, hash } of pins) {
    const recipe = (await createCore()).recipe(json);
    if (recipe.hash !== hash) throw new Error(`recipe ${recipe.id} has the hash ${recipe.hash}, but ${hash} is pinned`);
    recipes.set(hash, recipe);
  }
  return recipes;
}
