// SPDX-License-Identifier: Apache-2.0
// Recipes of any JSON: each is refused by a named field, or read to one hash however it is written,
// and its records survive text and bytes.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { load } from 'shoal-client/node';
import { readVectors } from '../../wasm/test/vectors.mjs';
import { anyJson, changedValue } from './inputs.mjs';

/** A value with the fields of all objects in reverse order. @param {any} json @returns {any} */
function reversed(json) {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return json.map(reversed);
  return Object.fromEntries(
    Object.entries(json)
      .reverse()
      .map(([key, value]) => [key, reversed(value)]),
  );
}

/** @type {import('./run.mjs').Property} */
const recipes = {
  name: 'recipes',
  wanted: 1e6,
  async make() {
    const core = await load();
    const vectors = await readVectors();
    const bases = [...new Map(vectors.map(({ recipe }) => [recipe.mechanism, recipe])).values()];
    assert.ok(bases.length >= 8, `${bases.length} mechanisms`);
    const given = fc.oneof(
      { arbitrary: fc.constantFrom(...bases).chain((base) => changedValue(base)), weight: 9 },
      { arbitrary: anyJson.filter((json) => typeof json !== 'string'), weight: 1 },
    );
    const word = fc.string({ unit: 'grapheme', maxLength: 12 });
    const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
    return fc.asyncProperty(given, word, seed, async (given, word, seed) => {
      let recipe;
      try {
        recipe = core.recipe(given);
      } catch (error) {
        const { name, code, number } = /** @type {any} */ (error);
        assert.deepEqual([name, typeof code], ['ShoalError', 'string'], String(error));
        assert.ok(number > 0);
        return true;
      }
      try {
        const again = core.recipe(reversed(given));
        assert.equal(again.hash, recipe.hash, 'the order of fields is no part of a recipe');
        core.release(again);
        let record;
        try {
          record = recipe.randomize(word, seed);
        } catch (error) {
          assert.equal(/** @type {any} */ (error).name, 'ShoalError', String(error));
          return true;
        }
        assert.equal(recipe.recordToText(recipe.recordFromText(record)), record);
      } finally {
        core.release(recipe);
      }
      return true;
    });
  },
};

export const recipeProperties = [recipes];
