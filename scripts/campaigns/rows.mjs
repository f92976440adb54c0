// SPDX-License-Identifier: Apache-2.0
// The table of docs/campaigns.md: one row for each part of a campaign, with its last result. All
// else on the page is written by people and stays.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

/** @typedef {{campaign: string, part: string, done: string, wanted: string, time: string, date: string, commit: string, findings: string, note: string}} Row */

const BEGIN = '<!-- results: written by scripts/campaign.mjs -->';
const END = '<!-- end of results -->';
const COLUMNS = /** @type {const} */ ([
  'campaign',
  'part',
  'done',
  'wanted',
  'time',
  'date',
  'commit',
  'findings',
  'note',
]);
const NUMBERS = new Set(['done', 'wanted', 'time', 'findings']);

/** Three digits of large numbers: "12,345", "1.23 million". @param {number} count */
export function countText(count) {
  for (const [size, name] of /** @type {[number, string][]} */ ([
    [1e9, 'billion'],
    [1e6, 'million'],
  ]))
    if (count >= size) return `${Number((count / size).toPrecision(3))} ${name}`;
  return Math.round(count).toLocaleString('en-US');
}

/** @param {number} seconds */
export function timeText(seconds) {
  if (seconds < 99.5) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** @param {string} page its text @returns {[string, string, string]} before, within and after */
function cut(page) {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`the page has no "${BEGIN}" and "${END}"`);
  return [page.slice(0, from + BEGIN.length), page.slice(from + BEGIN.length, to), page.slice(to)];
}

/** @param {string} file @returns {Row[]} */
export function readRows(file) {
  const [, table] = cut(readFileSync(file, 'utf8'));
  const lines = table.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => {
    const cells = line.split('|').slice(1, -1);
    return /** @type {Row} */ (
      Object.fromEntries(COLUMNS.map((column, i) => [column, cells[i].trim()]))
    );
  });
}

/** Replaces the rows of one campaign, and leaves the others. @param {string} file @param {string} name @param {Row[]} rows */
export async function writeRows(file, name, rows) {
  const [before, , after] = cut(readFileSync(file, 'utf8'));
  const all = [...readRows(file).filter(({ campaign }) => campaign !== name), ...rows];
  all.sort((a, b) => (a.campaign < b.campaign ? -1 : a.campaign > b.campaign ? 1 : 0));
  const lines = [
    COLUMNS.join(' | '),
    COLUMNS.map((column) => (NUMBERS.has(column) ? '--:' : '---')).join(' | '),
    ...all.map((row) => COLUMNS.map((column) => row[column].replaceAll('|', '/')).join(' | ')),
  ];
  const table = lines.map((line) => `| ${line} |`).join('\n');
  const config = (await resolveConfig(file)) ?? {};
  const text = `${before}\n\n${table}\n\n${after}`;
  writeFileSync(file, await format(text, { ...config, filepath: file }));
}
