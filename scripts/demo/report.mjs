// SPDX-License-Identifier: Apache-2.0
// Prints the demo's findings as a table for a terminal, and as one HTML file that needs nothing
// else. Pure functions.
import { histogram, readable } from '../../web-demo/page/histogram.js';
import { h, toMarkup } from '../../web-demo/page/tree.js';

/**
 * @typedef {import('../../web-demo/page/histogram.js').Row} Row
 * @typedef {object} Finding one collection
 * @property {string} title
 * @property {string} how what one record is, in words
 * @property {number} n records in the aggregator's sums
 * @property {{row: Row, truth: number, isCovered: boolean}[]} top by true count
 * @property {number} covered
 * @property {string} [news] of strings that no list held: how many there are, and how many of them
 *   somebody really sent
 */

const TOP = 20;

/**
 * @param {{title: string, how: string, n: number, rows: Row[], truth: Map<string, number>}}
 *   collection
 * @returns {Finding}
 */
export function finding({ title, how, n, rows, truth }) {
  const byValue = new Map(rows.map((row) => [row.value, row]));
  const top = [...truth]
    .sort((a, b) => b[1] - a[1])
    .slice(0, TOP)
    .map(([value, count]) => {
      const row = byValue.get(value);
      if (!row) throw new Error(`the aggregator has no row for ${value}`);
      return { row, truth: count, isCovered: row.low <= count && count <= row.high };
    });
  return { title, how, n, top, covered: top.filter(({ isCovered }) => isCovered).length };
}

/**
 * Returns the most frequent of the discovered strings.
 * @param {{title: string, how: string, n: number, rows: Row[], truth: Map<string, number>, nKnown:
 *   number}} collection
 * @returns {Finding}
 */
export function discovered({ title, how, n, rows, truth, nKnown }) {
  const top = rows.slice(0, TOP).map((row) => {
    const count = truth.get(row.value) ?? 0;
    return { row, truth: count, isCovered: row.low <= count && count <= row.high };
  });
  const real = rows.filter(({ value }) => truth.has(value) && truth.get(value) !== 0).length;
  const news = `${rows.length} words came to light that no list held; ${real} of them were really typed. ${nKnown} more were found that are known, and left out.`;
  return { title, how, n, top, covered: top.filter(({ isCovered }) => isCovered).length, news };
}

/** @param {number} x */
const whole = (x) => Math.round(x).toLocaleString('en-US');
/** @param {Finding} f */
const verdict = (f) =>
  `${f.covered} of ${f.top.length} intervals cover the truth (95 % intervals: 19 expected)`;

const TOGETHER =
  'so many values are asked at once that chance alone would lift some above one interval; the bar here is higher.';

/** @param {Finding} f */
export function table(f) {
  const width = Math.max(8, ...f.top.map(({ row }) => readable(row.value).length));
  /** @param {string[]} cells @param {string} mark */
  const line = ([value, truth, estimate, low, high], mark) =>
    `  ${value.padEnd(width)}${truth.padStart(10)}${estimate.padStart(11)}   ${low.padStart(8)} .. ${high.padStart(8)}  ${mark}`;
  return [
    `${f.title}: ${whole(f.n)} private records. ${f.how}`,
    line(['value', 'true', 'estimate', '95 %', 'interval'], 'covers'),
    ...f.top.map(({ row, truth, isCovered }) =>
      line(
        [readable(row.value), whole(truth), whole(row.count), whole(row.low), whole(row.high)],
        `${isCovered ? 'yes' : 'NO '}${row.detected ? '' : '   cannot tell from zero'}`,
      ),
    ),
    ...(f.top.every(({ row }) => row.detected) ? [] : [`  "cannot tell from zero": ${TOGETHER}`]),
    ...(f.news ? [`  ${f.news}`] : []),
    `  ${verdict(f)}`,
  ].join('\n');
}

const EXTRA = `
.report { max-width: 920px; }
.report main { grid-template-columns: minmax(0, 1fr); }
.report .true-count { grid-column: 1 / -1; color: var(--soft); font-size: 13px; }
.report .bars { margin-bottom: 12px; }
.legend { display: inline-block; width: 10px; height: 10px; border: 2px solid #c2541c; border-radius: 50%; }
@media (min-width: 560px) {
  .report .bar { grid-template-columns: 12em minmax(0, 1fr) 10.5em 6.5em; }
  .report .true-count { grid-column: 4; grid-row: 1; text-align: right; }
}`;

/**
 * @param {Finding[]} findings
 * @param {string} proof two sentences
 * @param {string} style the page's style sheet
 */
export function reportHtml(findings, proof, style) {
  const body = toMarkup(
    h(
      'body',
      { class: 'report' },
      h(
        'header',
        { class: 'top' },
        h(
          'div',
          {},
          h('h1', {}, 'shoal: what the demo found'),
          h('p', { class: 'motto' }, 'A fish hides in the shoal, and the shoal is easy to see.'),
        ),
      ),
      h(
        'main',
        {},
        h(
          'section',
          { class: 'card' },
          h('h2', {}, 'What it shows'),
          h('p', {}, proof),
          h(
            'p',
            { class: 'quiet' },
            h('span', { class: 'legend' }),
            ' is the true count, which only this demo knows. The bar is the estimate, the line across its end the 95 % interval.',
          ),
        ),
        ...findings.map((f) =>
          h(
            'section',
            { class: 'card histogram' },
            h('h2', {}, f.title),
            h('p', { class: 'n' }, `${whole(f.n)} private records. ${f.how}`),
            histogram(
              f.top.map(({ row }) => row),
              { truth: new Map(f.top.map(({ row, truth }) => [row.value, truth])) },
            ),
            ...(f.news ? [h('p', {}, f.news)] : []),
            h('p', {}, h('b', {}, `${verdict(f)}.`)),
          ),
        ),
      ),
    ),
  );
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"><title>shoal: what the demo found</title>` +
    `<style>${style}${EXTRA}</style></head>\n${body}\n</html>\n`
  );
}
