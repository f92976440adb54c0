// SPDX-License-Identifier: Apache-2.0
// The lines in the table of collections as tests read them, and as they should be drawn.
import { get } from './serve_helpers.mjs';

export const DASH = '\u2013';

const decode = (/** @type {string} */ html) =>
  html
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .replace(/\u202f/g, ' ');

/** What the table has of each collection, by its id: its title and its paths, or DASH. @param {string} html */
export function trendsOf(html) {
  const table = html.split('<tbody>')[1].split('</tbody>')[0];
  /** @type {Record<string, any>} */
  const trends = {};
  for (const row of table.match(/<tr.*?<\/tr>/gs) ?? []) {
    const id = String(/recipes\/([^"]+)"/.exec(row)?.[1]);
    const cell = String(/<td class="spark">(.*?)<\/td>/s.exec(row)?.[1]);
    const path = (/** @type {string} */ kind) =>
      new RegExp(`class="${kind}" d="([^"]*)"`).exec(cell)?.[1];
    trends[id] =
      cell === DASH
        ? DASH
        : {
            title: decode(String(/<title>(.*?)<\/title>/s.exec(cell)?.[1])),
            beside: decode(String(/<span>(.*?)<\/span>/s.exec(cell)?.[1])),
            band: path('band'),
            line: path('line'),
          };
  }
  return trends;
}

/**
 * Waits until the table is as wanted; trends are made while nobody asks.
 * @param {string} url @param {(trends: Record<string, any>) => unknown} wanted @param {Record<string, string>} [headers]
 */
export async function comes(url, wanted, headers) {
  let trends;
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    trends = trendsOf((await get(`${url}/`, headers)).text);
    if (wanted(trends)) return trends;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`it never came: ${JSON.stringify(trends)}`);
}

/** The paths of figures, drawn anew. @param {any[]} points */
export function drawn(points) {
  const known = points.filter(Boolean);
  const low = Math.min(...known.map((one) => one.low));
  const high = Math.max(...known.map((one) => one.high));
  const x = (/** @type {number} */ i) => Math.round(8 + (224 / (points.length - 1)) * i);
  const y = (/** @type {number} */ value) => Math.round(8 + (84 * (high - value)) / (high - low));
  const at = (/** @type {string} */ key) => points.map((one, i) => `${x(i)},${y(one[key])}`);
  return {
    line: `M${at('value').join(' ')}`,
    band: `M${at('high').join(' ')}L${at('low').reverse().join(' ')}z`,
  };
}
