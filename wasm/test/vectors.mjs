// SPDX-License-Identifier: Apache-2.0
// The vectors of every mechanism (tests/core/vectors/<stem>.json) as JavaScript takes them.
import { readFile, readdir } from 'node:fs/promises';
import { load } from '../bindings/node.js';

/**
 * @typedef {object} Vector
 * @property {string} name its file and place there
 * @property {any} recipe JSON
 * @property {any} value of several variables, an object by their names
 * @property {number[]} seed
 * @property {number[]} secret the device's own: the seed's bitwise complement
 * @property {string} hash
 * @property {string} record
 */

const FOLDER = new URL('../../tests/core/vectors/', import.meta.url);

/**
 * A vector's value as JavaScript has it.
 * @param {import('../bindings/core.js').Recipe | import('../bindings/joint_core.js').Variable} recipe @param {string} value @returns {any}
 */
function valueOf(recipe, value) {
  const { variables } = /** @type {any} */ (recipe);
  if (variables) {
    const values = value.split(';');
    return Object.fromEntries(
      variables.map((/** @type {any} */ variable, /** @type {number} */ i) => [
        variable.name,
        valueOf(variable, values[i]),
      ]),
    );
  }
  if (recipe.isNumber) return Number(value) / 1e6;
  if (recipe.isOpen) return value;
  return value === 'none' ? null : Number(value);
}

/** @returns {Promise<Vector[]>} */
export async function readVectors() {
  const files = (await readdir(FOLDER)).sort();
  if (files.length < 3) throw new Error('vectors are missing');
  const core = await load();
  const lists = files.map(async (file) => {
    /** @type {any[]} */
    const lines = JSON.parse(await readFile(new URL(file, FOLDER), 'utf8'));
    return lines.map(
      ({ recipe: json, value: text, first_seed_byte: first, recipe_hash: hash, record }, i) => {
        const recipe = core.recipe(json);
        const value = valueOf(recipe, text);
        core.release(recipe);
        const seed = Array.from({ length: 32 }, (_, at) => (first + at) & 255);
        return {
          name: `${file} ${i}`,
          recipe: json,
          value,
          seed,
          secret: seed.map((byte) => 255 - byte),
          hash,
          record,
        };
      },
    );
  });
  return (await Promise.all(lists)).flat();
}

/**
 * What a core makes of the vectors: [hash, record] of each. Runs anywhere, so it names nothing outside.
 * @param {import('../bindings/core.js').Core | import('../bindings/device.js').Core} core @param {Vector[]} vectors
 */
export const makeRecords = (core, vectors) =>
  vectors.map(({ recipe: json, value, seed, secret }) => {
    const recipe = core.recipe(json);
    const record = recipe.randomize(value, Uint8Array.from(seed), Uint8Array.from(secret));
    core.release(recipe);
    return [recipe.hash, record];
  });

/** @param {Vector[]} vectors */
export const expectedRecords = (vectors) => vectors.map(({ hash, record }) => [hash, record]);
