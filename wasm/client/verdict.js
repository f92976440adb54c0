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
 * @typedef {{code: Verdict['code'], right: number, isAll: boolean}} Guess `right`: of
 *   100 guesses at 50:50, those that come true at most; `isAll`: epsilon is too large for odds
 * @typedef {{report: Verdict, window: Verdict, life: Verdict}} Promises the verdicts on one report,
 *   on all reports of a UTC day, and on all reports until the recipe expires
 */

/** From the best down: [code, largest epsilon in millionths]. */
const BOUNDS = /** @type {const} */ ([
  ['strong', 1e6],
  ['moderate', 2e6],
  ['limited', 4e6],
  ['weak', 1e7],
  ['none', Infinity],
]);
/** What a code is in words, if it is not the word itself. @param {string} code */
const wordsOf = (code) => (code === 'none' ? 'no meaningful protection' : code);

/** From the best down: [code, largest epsilon in millionths, words]. */
export const verdicts = () => BOUNDS.map(([code, most]) => [code, most, wordsOf(code)]);
const ODDS_MAX_MICRO = 16e6; // above it, no odds are stated

/** Rounds up to tenths, and from 100 on to three digits. @param {number} odds */
function oddsUp(odds) {
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
  const [code] = BOUNDS.find(([, most]) => micro <= most) ?? BOUNDS[4];
  const right = Math.ceil(1e4 - 1e4 / (1 + Math.exp(micro / 1e6))) / 100;
  return { code, right, isAll: micro > ODDS_MAX_MICRO };
}

/**
 * Judges an epsilon.
 * @param {number} micro in millionths @returns {Verdict}
 */
export function verdictOf(micro) {
  const { code, right, isAll } = guessOf(micro);
  const text = isAll
    ? 'may come true in all cases (odds over x 8 million)'
    : `comes true in at most ${printed(right)} of 100 cases (odds x ${printed(oddsUp(Math.exp(micro / 1e6)))})`;
  return { code, text: `${wordsOf(code)}: a 50:50 guess ${text}`, epsilon: micro / 1e6 };
}

/**
 * The epsilons of a recipe with fresh coins from a day on, in millionths. A run over epochs is paid
 * for as a whole; of a query and of the rounds of a trie a device answers one, once.
 * @param {Pick<import('../bindings/device.js').Recipe, 'json' | 'epsilonMicro' | 'limit' | 'expiresDay'>} recipe
 * @param {number} today days since 1970-01-01 UTC
 */
export function epsilonsOf({ json, epsilonMicro, limit, expiresDay }, today) {
  const { epochs, contributions } = json.parameters ?? {};
  const isOnce = epochs || json.version;
  const days = Math.max(0, expiresDay - today + 1);
  const window = epsilonMicro * (isOnce ? 1 : (contributions ?? limit.perDay));
  const life = window * (isOnce || contributions ? Math.min(1, days) : days);
  return { report: epsilonMicro, window, life };
}

/**
 * Judges a recipe from a day on.
 * @param {import('../bindings/device.js').Recipe} recipe
 * @param {number} today days since 1970-01-01 UTC
 * @returns {Promises}
 */
export function promisesOf(recipe, today) {
  const { module, handle, isPermanent } = /** @type {any} */ (recipe);
  const { report, window, life } = isPermanent
    ? {
        // Permanent coins are a limit for one value; only the module that draws them knows it.
        report: recipe.epsilonMicro,
        window: Number(module.x.recipe_window(handle)),
        life: Number(module.x.recipe_life(handle, today)),
      }
    : epsilonsOf(recipe, today);
  return { report: verdictOf(report), window: verdictOf(window), life: verdictOf(life) };
}
