// SPDX-License-Identifier: Apache-2.0
// Lists of words as one string, for recipes with ten thousand words: front-coded words, or
// characters in a row. aggregator/recipe/front_coded.h defines the format; this file only reads it.
// Pure functions; depends on nothing but the language.

const ENTRY_MAX = 256; // bytes
const TOTAL_MAX = 1 << 23; // characters of all entries: a short string may stand for long ones

const encoder = new TextEncoder();

/**
 * What the first character says, 0-9a-zA-Z for 0 to 61; -1 where it is another.
 * @param {string} word
 */
const digitOf = (word) =>
  /^[\da-zA-Z]/.test(word) ? parseInt(word[0], 36) + (/^[A-Z]/.test(word) ? 26 : 0) : -1;

/**
 * Is it longer than an entry may be? Looked at closely only where it may be.
 * @param {string[]} characters
 */
const isLong = (characters) =>
  characters.length > ENTRY_MAX / 4 && encoder.encode(characters.join('')).length > ENTRY_MAX;

/**
 * The entries of "0cat 3s 1ow": cat, cats, cow. A character is a code point.
 * @param {string} text @returns {string[] | null} null where it is not written so
 */
export function frontDecoded(text) {
  const entries = [];
  /** @type {string[]} */
  let entry = [];
  let total = 0;
  for (const word of text.split(' ')) {
    const shared = digitOf(word);
    if (shared < 0 || shared > entry.length) return null;
    entry = [...entry.slice(0, shared), ...word.slice(1)];
    total += entry.length;
    if (total > TOTAL_MAX || isLong(entry)) return null;
    entries.push(entry.join(''));
  }
  return entries;
}

/**
 * The entries of a list that may come as one string: of `characters` a row of them, of others
 * front-coded.
 * @param {string} path of the recipe
 * @param {string} text
 * @returns {string[] | null | undefined} null where it is not written so, undefined where the path
 *   is of no such list
 */
export function listOf(path, text) {
  if (!/^(encoding\.\d\.(starts|characters)|parameters\.known)$/.test(path)) return undefined;
  if (/\p{Surrogate}/u.test(text)) return null; // half a character
  return path.endsWith('characters') ? [...text] : frontDecoded(text);
}
