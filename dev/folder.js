// SPDX-License-Identifier: Apache-2.0
// Reads a folder of shoal init, or any with recipes/*.json: recipes, lists of words, whether it asks
// for a relay, and whether it has a page. What is wrong is named with its file.
import { readFile, readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { makeTrial } from './trial.js';

/**
 * @typedef {import('./trial.js').Trial & {file: string, hash: string, words: string[],
 *   epsilon: number}} TrialRecipe  words: of its dictionary, the most frequent first
 *
 * @typedef {object} Folder
 * @property {string} path
 * @property {TrialRecipe[]} recipes
 * @property {{file: string, why: string}[]} left  recipes that are not tried
 * @property {boolean} hasRelay
 * @property {boolean} hasPage
 */

const RECIPES_MAX = 16;
const FILE_MAX = 1 << 20;
const DICTIONARY_MAX = 64 << 20;
const WORDS_MAX = 500;

/** Something in the folder that must be mended. */
export class FolderError extends Error {}

/** @param {string} path @param {number} max */
async function textOf(path, max) {
  const { size } = await stat(path);
  if (size > max) throw new FolderError(`${path}: has ${size} bytes, more than ${max}`);
  return readFile(path, 'utf8');
}

/** @param {string} path @returns {Promise<boolean>} */
const isThere = (path) =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * The words of a dictionary, one a line, up to a tab.
 * @param {string} path
 * @returns {Promise<string[]>} empty where there is no such file
 */
async function wordsOf(path) {
  if (!(await isThere(path))) return [];
  const lines = (await textOf(path, DICTIONARY_MAX)).split(/\r?\n/);
  const words = lines.map((line) => line.split('\t')[0]).filter((word) => word !== '');
  return [...new Set(words)].slice(0, WORDS_MAX);
}

/** The dictionary of a recipe: .tsv as shoal init writes it, or .txt. @param {string} path @param {string} id */
async function dictionaryOf(path, id) {
  for (const ending of ['tsv', 'txt']) {
    const words = await wordsOf(join(path, 'dictionaries', `${id}.${ending}`));
    if (words.length > 0) return words;
  }
  return [];
}

/** @param {string} path of the folder @returns {Promise<string[]>} file names, in order */
async function recipeFiles(path) {
  const entries = await readdir(join(path, 'recipes')).catch(() => null);
  const names = (entries ?? []).filter((name) => name.endsWith('.json')).sort();
  if (names.length === 0)
    throw new FolderError(
      `${join(path, 'recipes')}: there is no recipe. Make a folder by \`shoal init\`, or put recipes there (\`shoal recipe new\`)`,
    );
  return names;
}

/** @param {string} text @param {string} file @returns {any} */
function parsed(text, file) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FolderError(`${file}: is not JSON: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * @param {string} folder
 * @param {() => Promise<import('shoal-client/core').Core>} createCore
 * @returns {Promise<Folder>}
 */
export async function readFolder(folder, createCore) {
  const path = resolve(folder);
  if (!(await isThere(path))) throw new FolderError(`${path}: there is no such folder`);
  const core = await createCore();
  const recipes = [];
  const left = [];
  for (const name of await recipeFiles(path)) {
    const file = join(path, 'recipes', name);
    const json = parsed(await textOf(file, FILE_MAX), file);
    const original = prepared(core, json, file);
    core.release(original);
    const made = makeTrial(json);
    if ('why' in made) {
      left.push({ file: basename(file), why: made.why });
      continue;
    }
    const recipe = prepared(core, made.json, file);
    recipes.push({
      ...made,
      file,
      hash: recipe.hash,
      epsilon: recipe.epsilonMicro / 1e6,
      words: await dictionaryOf(path, made.id),
    });
    core.release(recipe);
  }
  if (recipes.length === 0)
    throw new FolderError(
      `${join(path, 'recipes')}: no recipe can be tried: ${left.map(({ file, why }) => `${file}: ${why}`).join('; ')}`,
    );
  if (recipes.length > RECIPES_MAX)
    throw new FolderError(
      `${join(path, 'recipes')}: has ${recipes.length} recipes, and a page takes ${RECIPES_MAX}`,
    );
  return {
    path,
    recipes,
    left,
    hasRelay: await isThere(join(path, 'relay.json')),
    hasPage: await isThere(join(path, 'page', 'index.html')),
  };
}

/**
 * A recipe in the core, which checks it.
 * @param {import('shoal-client/core').Core} core @param {any} json @param {string} file
 */
function prepared(core, json, file) {
  try {
    const recipe = core.recipe(json);
    if (Date.now() / 86_400_000 < recipe.expiresDay + 1) return recipe;
    core.release(recipe);
  } catch (error) {
    const { field, message } = /** @type {any} */ (error);
    const about = field && !String(message).includes(field) ? `${field}: ${message}` : message;
    throw new FolderError(`${file}: ${about}`);
  }
  throw new FolderError(`${file}: expires: ${json.expires} has passed, so devices send nothing`);
}
