// SPDX-License-Identifier: Apache-2.0
// A result as a table whose rows have a bar with an error line each: readable by eye, and row by row
// by a screen reader.
import { element, readable, shape } from './element.js';

/**
 * @typedef {{value: string, count: number, low: number, high: number, detected: boolean, truth: number,
 *   own: boolean}} Row
 * @typedef {{recipe: string, n: number, rows: Row[], hidden: number}} Result
 * @typedef {{kind: string, low?: number, high?: number, epsilon: number}} About
 */

const HEIGHT = 22;
const THICK = 12;
const CAP = 5;

/** @param {number} x @param {boolean} isMean */
const said = (x, isMean) =>
  isMean ? Number(x.toPrecision(4)).toLocaleString('en-US') : Math.round(x).toLocaleString('en-US');

/** @param {Row} row @param {(x: number) => string} at */
function plot({ count, low, high, truth }, at) {
  const middle = HEIGHT / 2;
  const bar = { y: middle - THICK / 2, height: THICK, rx: 2, x: 0 };
  const line = (/** @type {any} */ ends) => shape('line', { class: 'whisker', ...ends });
  return shape(
    'svg',
    { class: 'plot', height: HEIGHT, 'aria-hidden': 'true', focusable: 'false' },
    shape('rect', { class: 'track', width: '100%', ...bar }),
    shape('rect', { class: 'fill', width: at(count), ...bar }),
    line({ x1: at(low), x2: at(high), y1: middle, y2: middle }),
    ...[low, high].map((x) => line({ x1: at(x), x2: at(x), y1: middle - CAP, y2: middle + CAP })),
    shape('circle', { class: 'truth', cx: at(truth), cy: middle, r: 3.5 }),
  );
}

/** @param {Row} row @param {boolean} isMean @param {(x: number) => string} at */
function rowOf(row, isMean, at) {
  const half = (row.high - row.low) / 2;
  const estimate = row.detected
    ? [said(row.count, isMean), element('span', { class: 'margin' }, ` ± ${said(half, isMean)}`)]
    : [
        element(
          'span',
          { class: 'margin' },
          `${said(row.count, isMean)} ± ${said(half, isMean)}, may be 0`,
        ),
      ];
  return element(
    'tr',
    {
      class: [row.own && 'own', !row.detected && 'unsure'].filter(Boolean).join(' '),
      'data-value': row.value,
      'data-low': row.low,
      'data-high': row.high,
      'data-truth': row.truth,
    },
    element(
      'th',
      { scope: 'row', dir: 'auto' },
      readable(row.value),
      ...(row.own ? [' ', element('span', { class: 'mark' }, 'you, too')] : []),
    ),
    element('td', { class: 'plot-cell' }, plot(row, at)),
    element('td', { class: 'num' }, ...estimate),
    element('td', { class: 'num truth-cell' }, said(row.truth, isMean)),
  );
}

/** @param {Result} result @param {About} about */
export function chart(result, about) {
  const isMean = about.kind === 'mean';
  const { low = 0, high = 1 } = about;
  const most = isMean
    ? high - low
    : Math.max(1, ...result.rows.map((row) => Math.max(row.high, row.truth)));
  const from = isMean ? low : 0;
  const at = (/** @type {number} */ x) =>
    `${(100 * Math.min(Math.max((x - from) / most, 0), 1)).toFixed(2)}%`;
  const hidden =
    result.hidden > 0
      ? `; ${result.hidden.toLocaleString('en-US')} smaller ones are not shown`
      : '';
  const head = [
    ['Value', 'name-head'],
    ['', ''],
    ['Estimate', 'estimate-head num'],
    ['Really done', 'truth-head num'],
  ];
  return element(
    'table',
    { 'data-recipe': result.recipe },
    element(
      'caption',
      {},
      element('b', {}, result.recipe),
      element(
        'span',
        { class: 'quiet' },
        ` ${result.n.toLocaleString('en-US')} reports, epsilon ${about.epsilon} each${hidden}`,
      ),
    ),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        ...head.map(([text, name]) =>
          text === '' ? element('td') : element('th', { scope: 'col', class: name }, text),
        ),
      ),
    ),
    element('tbody', {}, ...result.rows.map((row) => rowOf(row, isMean, at))),
  );
}
