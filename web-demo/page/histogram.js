// SPDX-License-Identifier: Apache-2.0
// Draws the crowd's counts as a list of bars with error whiskers, from the aggregator's result.
// Values come from reports or a dictionary and are hostile text: they are shown as text, never as
// markup. A pure function that returns a tree (tree.js).
import { h } from './tree.js';

/**
 * @typedef {{value: string, count: number, stderr: number, low: number, high: number, detected:
 *   boolean}} Row
 */

const BAR = { height: 22, thickness: 12, cap: 5 };

/** @param {number} x */
const whole = (x) => Math.round(x).toLocaleString('en-US');

// Format characters are unsafe except the two kinds that emoji contain: joiners between pictures,
// and the tags of a flag.
const JOINER =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})/u;
const TAG = /(?<=\u{1F3F4}[\u{E0030}-\u{E007A}]{0,6})[\u{E0030}-\u{E007A}\u{E007F}]/u;
const UNSAFE = new RegExp(
  `(?!${JOINER.source}|${TAG.source})[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Surrogate}]`,
  'gu',
);

/**
 * Makes a text safe to show: control and bidirectional characters, which could reorder or break its
 * line, become U+FFFD, and long values are cut.
 * @param {string} value
 */
export function readable(value) {
  const plain = value.replace(UNSAFE, '\uFFFD');
  const points = [...plain];
  return points.length > 40 ? `${points.slice(0, 39).join('')}…` : plain;
}

/**
 * Returns the rows of a result. Throws if the answer is not a result.
 * @param {any} result
 * @returns {Row[]}
 */
export function rowsOf(result) {
  const isNumber = (/** @type {any} */ x) => typeof x === 'number' && Number.isFinite(x);
  const isRow = (/** @type {any} */ row) =>
    typeof row?.value === 'string' &&
    typeof row.detected === 'boolean' &&
    [row.count, row.stderr, row.low, row.high].every(isNumber);
  if (result?.schema !== 1 || !Array.isArray(result.rows) || !result.rows.every(isRow))
    throw new Error('not a result');
  return result.rows;
}

/**
 * @param {Row[]} rows
 * @param {{truth?: Map<string, number>}} [options] truth: true counts, where somebody knows them
 */
export function histogram(rows, { truth } = {}) {
  const highest = Math.max(1, ...rows.map((row) => Math.max(row.high, truth?.get(row.value) ?? 0)));
  const scale = (/** @type {number} */ x) =>
    `${((100 * Math.min(Math.max(x, 0), highest)) / highest).toFixed(2)}%`;
  return h('ol', { class: 'bars' }, ...rows.map((row) => bar(row, scale, truth?.get(row.value))));
}

/** @param {Row} row @param {(x: number) => string} scale @param {number | undefined} truth */
function bar(row, scale, truth) {
  const count = row.detected
    ? [whole(row.count), h('span', { class: 'margin' }, ` ± ${whole((row.high - row.low) / 2)}`)]
    : ['cannot tell from zero'];
  return h(
    'li',
    { class: row.detected ? 'bar' : 'bar unsure' },
    h('span', { class: 'value', dir: 'auto' }, readable(row.value)),
    h('span', { class: 'count' }, ...count),
    drawing(row, scale, truth),
    ...(truth === undefined ? [] : [h('span', { class: 'true-count' }, `true ${whole(truth)}`)]),
  );
}

/** @param {Row} row @param {(x: number) => string} scale @param {number | undefined} truth */
function drawing(row, scale, truth) {
  const middle = BAR.height / 2;
  const [low, high] = [scale(row.low), scale(row.high)];
  const whisker = [
    h('line', { class: 'whisker', x1: low, x2: high, y1: middle, y2: middle }),
    ...[low, high].map((x) =>
      h('line', { class: 'whisker', x1: x, x2: x, y1: middle - BAR.cap, y2: middle + BAR.cap }),
    ),
  ];
  const mark =
    truth === undefined
      ? []
      : [h('circle', { class: 'truth', cx: scale(truth), cy: middle, r: 3.5 })];
  return h(
    'svg',
    { class: 'plot', width: '100%', height: BAR.height, 'aria-hidden': 'true', focusable: 'false' },
    h('rect', {
      class: 'track',
      x: 0,
      y: middle - BAR.thickness / 2,
      width: '100%',
      height: BAR.thickness,
      rx: 2,
    }),
    h('rect', {
      class: 'fill',
      x: 0,
      y: middle - BAR.thickness / 2,
      width: scale(row.count),
      height: BAR.thickness,
      rx: 2,
    }),
    ...whisker,
    ...mark,
  );
}
