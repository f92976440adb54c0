// SPDX-License-Identifier: Apache-2.0
// Pinned recipes are those whose JSON has the hash that the operator wrote beside it. No other
// recipe is collected or published. If keys are given, a recipe must also be signed by one of them.
// A recipe with `split_by` is one collection for each of its parts. A recipe of two servers is not
// a collection: its reports are forwarded, and none is kept.
import { reportLength } from 'shoal-client/dap-length';
import { verifySignature } from 'shoal-client/signature';

/**
 * @typedef {import('shoal-client/core').Core} Core
 * @typedef {import('shoal-client/core').Recipe} Recipe
 */

/**
 * @typedef {object} Pinned
 * @property {Map<string, Recipe>} collections  by hash; a split recipe has its parts here, and not
 *   the recipe itself; a recipe of two servers is not here
 * @property {Map<string, Task>} tasks  recipes of two servers, by task id in base64url
 * @property {Recipe[]} recipes  the published recipes: as configured, each once
 */

/**
 * @typedef {{recipe: Recipe, id: string, leader: string, length: number}} Task  length: of one
 *   report
 */

const PARTS_MAX = 64; // collections that splitting makes, of one edge
const QUERIES_MAX = 64; // the most queries that a device takes from one answer
const QUERIES_BYTES_MAX = 1 << 20;

/**
 * @param {{recipe: any, hash: string}[]} pins
 * @param {() => Promise<Core>} createCore  one core a pin: a core holds 64 recipes at most
 * @param {unknown} [keys]  Ed25519 public keys, 64 lower-case hex digits each
 * @param {() => Promise<WebAssembly.Module>} [loadDapModule]  shoal-dap.wasm; needed where a recipe
 *   names two servers
 * @returns {Promise<Pinned>}
 */
export async function pinRecipes(pins, createCore, keys, loadDapModule) {
  if (keys !== undefined) checkKeys(keys);
  const collections = new Map();
  const recipes = new Map();
  const tasks = new Map();
  let parts = 0;
  for (const { recipe: json, hash } of pins) {
    if (json?.part !== undefined)
      throw new Error(
        `recipe ${json.recipe}: part is not configured, the edge opens every part of split_by`,
      );
    const core = await createCore();
    const recipe = core.recipe(json);
    if (recipe.hash !== hash)
      throw new Error(`recipe ${recipe.id} has the hash ${recipe.hash}, but ${hash} is pinned`);
    const code = keys === undefined ? null : await verifySignature(recipe, keys);
    if (code) throw new Error(`recipe ${recipe.id} is refused: ${code}`);
    recipes.set(hash, recipe);
    const { aggregation } = recipe.json;
    if (aggregation?.protocol === 'dap') {
      if (!loadDapModule)
        throw new Error(`recipe ${recipe.id}: the module for recipes of two servers is missing`);
      const id = base64Url(hash);
      tasks.set(id, {
        recipe,
        id,
        leader: aggregation.leader,
        length: await reportLength(await loadDapModule(), recipe),
      });
      continue;
    }
    if (recipe.json.split_by === undefined) {
      collections.set(hash, recipe);
      continue;
    }
    const choices = partsOf(recipe.json.split_by);
    parts += choices.length;
    if (parts > PARTS_MAX)
      throw new Error(
        `recipe ${recipe.id}: split_by makes ${parts} collections, ${PARTS_MAX} at most on one edge`,
      );
    core.release(recipe); // makes room for its last part
    for (const part of choices) {
      const one = core.recipe({ ...recipe.json, part });
      collections.set(one.hash, one);
    }
  }
  checkQueries([...recipes.values()]);
  return { collections, tasks, recipes: [...recipes.values()] };
}

/**
 * Refuses recipes of trials unless the edge listens on loopback and sends to loopback.
 * @param {Iterable<Pick<Recipe, 'json'>>} recipes
 * @param {string} host  that the edge listens on, or is asked under
 * @param {(string | undefined)[]} targets  URLs of aggregator and bucket
 */
export function checkTrials(recipes, host, ...targets) {
  const names = targets.filter(Boolean).map((url) => new URL(String(url)).hostname);
  for (const { json } of recipes)
    if (json.trial && ![host, ...names].every((name) => LOOPBACK.test(name)))
      throw new Error(
        `recipe ${json.recipe} has "trial": 1, so listen (${host}) and aggregator (${names}) must be loopback`,
      );
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1]?)$/;

/** A recipe's hash as the id of its task. @param {string} hash  hex */
function base64Url(hash) {
  const bytes = hash.replace(/../g, (byte) => String.fromCharCode(parseInt(byte, 16)));
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace('=', '');
}

/**
 * Lists every choice of a listed value, or "other", for each field.
 * @param {{values: string[]}[]} splits
 * @returns {string[][]}
 */
function partsOf(splits) {
  /** @type {string[][]} */
  const none = [[]];
  return splits.reduce(
    (parts, { values }) =>
      parts.flatMap((part) => [...values, 'other'].map((value) => [...part, value])),
    none,
  );
}

/**
 * Refuses a list longer than devices take, because it would reach none of them.
 * @param {Recipe[]} recipes
 */
function checkQueries(recipes) {
  const queries = recipes.filter(isQuery);
  const bytes = new TextEncoder().encode(
    JSON.stringify({ queries: queries.map(({ json }) => json) }),
  ).length;
  if (queries.length > QUERIES_MAX || bytes > QUERIES_BYTES_MAX) {
    throw new Error(
      `recipes: devices take ${QUERIES_MAX} queries of ${QUERIES_BYTES_MAX} bytes, but these are ${queries.length} of ${bytes}`,
    );
  }
}

/**
 * Returns whether the recipe is a query to devices with the policy that it names.
 * @param {Pick<Recipe, 'json'>} recipe
 */
export function isQuery({ json }) {
  return json.policy !== undefined;
}

/** @param {unknown} keys */
function checkKeys(keys) {
  const isKey = (/** @type {unknown} */ key) =>
    typeof key === 'string' && /^[0-9a-f]{64}$/.test(key);
  if (!Array.isArray(keys) || !keys.length || !keys.every(isKey))
    throw new Error('recipe_keys: a list of keys of 64 hex digits is needed');
}
