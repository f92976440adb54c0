// SPDX-License-Identifier: Apache-2.0
// Reads the table of figures over time, which aggregator/report/static_trends.c prints. The cells
// have the exact numbers beside the text that they show, so the chart needs no data of its own and
// says the same figures. Texts of values are hostile: they are read and written as text alone.

/**
 * @typedef {object} Figures
 * @property {string[]} names of the values
 * @property {{name: string, reports: string, cells: string[]}[]} periods in the order of time, as
 *   the table shows them
 * @property {(number | null)[][]} columns for uPlot: the number of each period, and for each value
 *   its estimates and the upper and lower ends of its intervals; null where they are withheld
 * @property {string} unit of the axis: "%" or ""
 */

/** @param {Element | null | undefined} cell */
const text = (cell) => cell?.textContent?.trim() ?? '';

/** @param {string | undefined} point "value low high" */
const numbers = (point) => point?.split(' ').map(Number) ?? [null, null, null];

/** @param {HTMLTableElement} table @returns {Figures} */
export function readTable(table) {
  const names = [...table.querySelectorAll('thead th')].slice(2).map(text);
  const rows = [
    .../** @type {NodeListOf<HTMLTableRowElement>} */ (table.querySelectorAll('tbody tr')),
  ].sort((a, b) => Number(a.dataset.at) - Number(b.dataset.at));
  const cells = rows.map((row) => /** @type {HTMLElement[]} */ ([...row.children].slice(2)));
  const periods = rows.map((row, i) => ({
    name: text(row.children[0]),
    reports: text(row.children[1]),
    cells: cells[i].map(text),
  }));
  const columns = [/** @type {(number | null)[]} */ (rows.map((_, i) => i))];
  names.forEach((_, v) => {
    const points = cells.map((row) => numbers(row[v]?.dataset.point));
    for (const part of [0, 2, 1]) columns.push(points.map((point) => point[part]));
  });
  return { names, periods, columns, unit: table.dataset.unit ?? '' };
}

/** How many columns each value has. */
export const PARTS = 3;
/** The column of a value's estimates. @param {number} value */
export const lineOf = (value) => 1 + PARTS * value;
