// SPDX-License-Identifier: Apache-2.0
// Lists of words as one string, for recipes with ten thousand words: front-coded words, or
// characters in a row. aggregator/recipe/front_coded.h defines the format; this file only reads it.
// Pure functions; depends on nothing but the language.

const ENTRY_MAX = 256; // bytes
const TOTAL_MAX = 1 << 23; // characters of all entries; a short string can encode very long ones

const encoder = new TextEncoder();

/**
 * Returns the number that a digit 0-9a-zA-Z stands for, 0 to 61, or -1 for any other character.
 * @param {string} word
 */
const digitOf = (word) =>
  /^[\da-zA-Z]/.test(word) ? parseInt(word[0], 36) + (/^[A-Z]/.test(word) ? 26 : 0) : -1;

/**
 * Is the text longer than an entry may be? Its bytes are counted only if its length leaves that
 * open.
 * @param {string[]} characters
 */
const isLong = (characters) =>
  characters.length > ENTRY_MAX / 4 && encoder.encode(characters.join('')).length > ENTRY_MAX;

/**
 * Decodes a front-coded list: "0cat 3s 1ow" is cat, cats, cow. A character is a code point.
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
 * Returns the entries of a list that is written as one string: `characters` as a row of characters,
 * every other list front-coded.
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
