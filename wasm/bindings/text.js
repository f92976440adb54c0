// SPDX-License-Identifier: Apache-2.0
// From what a page sees to values: the recipe's text rule, words of a text. Pure functions; nothing is kept. Depends on nothing but the language.

/** @typedef {{form: string, case: string, min: number, max: number}} TextRule */

/**
 * The text as the recipe counts it, or null where it does not count it: broken Unicode, too short, too long.
 * Lower case is Unicode's, whatever the locale; the length is in code points.
 * @param {string} text @param {TextRule} rule
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

// Digits make a password, a number of a card or a telephone; none of those is a word.
/** @param {{segment: string, isWordLike?: boolean}} part */
export const isWord = (part) =>
  !!part.isWordLike && /^[^\p{N}]*\p{L}[^\p{N}]*$/u.test(part.segment);

/** The words of a text, in order. @param {string} text */
export const words = (text) =>
  segments(text)
    .filter(isWord)
    .map((part) => part.segment);
