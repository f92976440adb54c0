// SPDX-License-Identifier: Apache-2.0
// Puts what a recipe promises a person into words: what a report, a window and the recipe's life
// may tell about it, with the odds. It is the core's function (core/budget/verdict.h), written again
// so that no page loads it before its first event: with the words and bounds of
// core/budget/verdicts.def and the sentence of `shoal recipe check`.
// wasm/test/client/verdict.test.mjs holds it to them, for every epsilon up to 16.

/**
 * @typedef {object} Verdict
 * @property {'strong' | 'moderate' | 'limited' | 'weak' | 'none'} code
 * @property {string} text the sentence
 * @property {number} epsilon what the verdict is about
 * @typedef {{code: Verdict['code'], words: string, right: number, odds: number, isAll: boolean}} Guess `right`: of
 *   100 guesses at 50:50, those that come true at most; `isAll`: epsilon is too large for odds
 * @typedef {{report: Verdict, window: Verdict, life: Verdict}} Promises the verdicts on one report,
 *   on all reports of a UTC day, and on all reports until the recipe expires
 */

/** From the best down: [code, largest epsilon in millionths, words]. */
export const VERDICTS = /** @type {const} */ ([
  ['strong', 1e6, 'strong'],
  ['moderate', 2e6, 'moderate'],
  ['limited', 4e6, 'limited'],
  ['weak', 1e7, 'weak'],
  ['none', Infinity, 'no meaningful protection'],
]);
const ODDS_MAX_MICRO = 16e6; // above it, no odds are stated

/** Rounds up to tenths, and from 100 on to three digits. @param {number} odds */
function oddsUp(odds) {
  if (!Number.isFinite(odds)) return odds;
  const tenths = Math.ceil(odds * 10);
  let unit = 1;
  while (tenths > 1000 * unit) unit *= 10;
  return (Math.ceil(tenths / unit) * unit) / 10;
}

/** @param {number} number */
const printed = (number) => number.toLocaleString('en-US');

/**
 * Judges an epsilon in figures, which a page puts into words of its language.
 * @param {number} micro in millionths
 * @returns {Guess}
 */
export function guessOf(micro) {
  const [code, , words] = VERDICTS.find(([, most]) => micro <= most) ?? VERDICTS[4];
  const odds = Math.exp(micro / 1e6);
  const right = Math.ceil(1e4 - 1e4 / (1 + odds)) / 100;
  return { code, words, right, odds: oddsUp(odds), isAll: micro > ODDS_MAX_MICRO };
}

/**
 * Judges an epsilon.
 * @param {number} micro in millionths @returns {Verdict}
 */
export function verdictOf(micro) {
  const { code, words, right, odds, isAll } = guessOf(micro);
  const text = isAll
    ? 'may come true in all cases (odds over x 8 million)'
    : `comes true in at most ${printed(right)} of 100 cases (odds x ${printed(odds)})`;
  return { code, text: `${words}: a 50:50 guess ${text}`, epsilon: micro / 1e6 };
}

/**
 * The epsilons of a recipe from a day on, in millionths. A run over epochs is paid for as a whole; of
 * a query and of the rounds of a trie a device answers one, once. Permanent coins are a limit for one
 * value; only the module that draws them knows it.
 * @param {import('../bindings/device.js').Recipe} recipe
 * @param {number} today days since 1970-01-01 UTC
 */
export function epsilonsOf(recipe, today) {
  const { module, handle, json, epsilonMicro, isPermanent, limit, expiresDay } =
    /** @type {any} */ (recipe);
  const { epochs, contributions } = json.parameters ?? {};
  const isOnce = epochs || json.version || contributions;
  const days = Math.max(0, expiresDay - today + 1);
  const aDay = epochs || json.version ? 1 : (contributions ?? limit.perDay);
  const window = isPermanent ? Number(module.x.recipe_window(handle)) : epsilonMicro * aDay;
  const life = isPermanent
    ? Number(module.x.recipe_life(handle, today))
    : window * (isOnce ? Math.min(1, days) : days);
  return { report: /** @type {number} */ (epsilonMicro), window, life };
}

/**
 * Judges a recipe from a day on.
 * @param {import('../bindings/device.js').Recipe} recipe
 * @param {number} today days since 1970-01-01 UTC
 * @returns {Promises}
 */
export function promisesOf(recipe, today) {
  const { report, window, life } = epsilonsOf(recipe, today);
  return { report: verdictOf(report), window: verdictOf(window), life: verdictOf(life) };
}
