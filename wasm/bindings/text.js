// SPDX-License-Identifier: Apache-2.0
// Turns the text that a page sees into values: applies the recipe's text rule, and finds the words
// of a text. Pure functions that keep nothing; depends on nothing but the language.

/** @typedef {{form: string, case: string, min: number, max: number}} TextRule */

/**
 * Applies the recipe's text rule. Returns null for a text that the rule does not count: broken
 * Unicode, too short, too long. Lower case is Unicode's, whatever the locale; the length is in code
 * points.
 * @param {string} text
 * @param {TextRule} rule
 */
export function applyTextRule(text, rule) {
  if (/\p{Surrogate}/u.test(text)) return null;
  let out = rule.form === 'NFC' ? text.normalize('NFC') : text;
  if (rule.case === 'lower') out = out.toLowerCase();
  const length = [...out].length;
  return length >= rule.min && length <= rule.max ? out : null;
}

/** @param {string} text @returns {{segment: string, isWordLike?: boolean}[]} */
export const segments = (text) => [
  ...new Intl.Segmenter('en', { granularity: 'word' }).segment(text),
];

// A token with digits is not a word, because it may be a password or the number of a card or phone.
/** @param {{segment: string, isWordLike?: boolean}} part */
export const isWord = (part) =>
  !!part.isWordLike && /^[^\p{N}]*\p{L}[^\p{N}]*$/u.test(part.segment);

/** The words of a text, in order. @param {string} text */
export const words = (text) =>
  segments(text)
    .filter(isWord)
    .map((part) => part.segment);
