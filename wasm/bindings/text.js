// SPDX-License-Identifier: Apache-2.0
// Turns the text that a page sees into values: applies the recipe's text rule, and finds the words
// of a text. Pure functions that keep nothing; depends on nothing but the language.

/** @typedef {{form: string, case: string, min: number, max: number, locale?: string}} TextRule */

/**
 * Makes a text lower case by the rules of a language. No keyboard types a combining dot over an i,
 * so none is left: not where a capital I with a dot meets a language without it. Lithuanian keeps
 * the dots that its own rules add.
 * @param {string} text @param {string} locale
 */
function lowerOf(text, locale) {
  if (/^li?t$/.test(locale)) return text.replace(/\u0130/g, 'i').toLocaleLowerCase('lt');
  const isTurkic = /^(tu?r|aze?)$/.test(locale); // their rules are the same
  return (isTurkic ? text.toLocaleLowerCase('tr') : text.toLowerCase()).replace(/i\u0307+/g, 'i');
}

/**
 * Folds a text by Unicode's full case folding. JavaScript has no function for it: it is the lower
 * case of the upper case, but for the dotless i, which stays, and Cherokee, which folds to capitals.
 * @param {string} text
 */
const foldOf = (text) =>
  text.replace(/[^\u0131]/gu, (c) =>
    /[\u13a0-\u13ff\uab70-\uabbf]/.test(c)
      ? c.toUpperCase()
      : c.toLowerCase().toUpperCase().toLowerCase(),
  );

/**
 * Applies the recipe's text rule. Returns null for a text that the rule does not count: broken
 * Unicode, too short, too long. Without a locale, lower case is Unicode's; the length is in code
 * points. aggregator/recipe/text_case.c does the same for the commands.
 * @param {string} text
 * @param {TextRule} rule
 */
export function applyTextRule(text, rule) {
  if (/\p{Surrogate}/u.test(text)) return null;
  /** @param {string} each @param {string} form */
  const to = (each, form) => (rule.form === 'NFC' ? each.normalize(form) : each);
  let out = to(text, 'NFC');
  // Changing case can undo a normalization. Recipes without a locale do not repeat it, so that
  // their values stay what they were.
  if (rule.case === 'fold') out = to(foldOf(to(out, 'NFD')), 'NFC');
  else if (rule.case === 'lower')
    out = rule.locale ? to(lowerOf(out, rule.locale), 'NFC') : out.toLowerCase();
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
