// SPDX-License-Identifier: Apache-2.0
// How often intervals of counts hold the true count, as the table of docs/selection.md and the picture docs/coverage.svg.
//
//   node tests/bench/count_coverage.mjs    enumerates (seconds) and writes both
//
// The figures come from shoal_count_coverage: $SHOAL_COUNT_COVERAGE or that of build/release. They are enumerated, so that every run
// gives the same ones.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url));
export const program =
  process.env.SHOAL_COUNT_COVERAGE ?? path('build/release/shoal_count_coverage');
const BEGIN = '<!-- coverage: tests/bench/count_coverage.mjs -->';
const END = '<!-- end of coverage -->';

/** @typedef {{n: number, hits: number, p: number, f: number, normal: number, ours: number}} Line */

/** @returns {Line[]} */
export function enumerate() {
  const done = spawnSync(program, { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${program}: ${done.error ?? done.stderr}`);
  return done.stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [n, hits, p, f, normal, ours] = line.split('\t').map(Number);
      return { n, hits, p, f, normal, ours };
    });
}

/** @template T @param {T[]} list */
const distinct = (list) => [...new Set(list)];
const percent = (/** @type {number} */ share) => (100 * share).toFixed(1);

/** @param {number[]} shares */
const range = (shares) => `${percent(Math.min(...shares))} to ${percent(Math.max(...shares))}`;

/** @param {Line[]} lines @returns {string} a table of Markdown */
export function table(lines) {
  const rows = distinct(lines.map((line) => Math.round(line.hits * 10) / 10)).map((hits) => {
    const own = lines.filter((line) => Math.round(line.hits * 10) / 10 === hits);
    return [`${hits}`, range(own.map((l) => l.normal)), range(own.map((l) => l.ours))];
  });
  const all = [['n q', 'normal, %', '`low` to `high`, %'], ['---', '---', '---'], ...rows];
  return all.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

// From too seldom by way of 95 % to too often.
const STEPS = /** @type {[number, string, string][]} */ ([
  [0.9, '#a3223b', 'below 90 %'],
  [0.93, '#dd7c66', '90 to 93 %'],
  [0.945, '#f2c6ae', '93 to 94.5 %'],
  [0.9605, '#e9ece4', '94.5 to 96 %'],
  [0.98, '#a9cbd8', '96 to 98 %'],
  [2, '#4c8fb0', 'above 98 %'],
]);
const colour = (/** @type {number} */ share) =>
  /** @type {[number, string, string]} */ (STEPS.find(([below]) => share < below))[1];
const [CELL, LEFT, TOP, GAP] = [13, 58, 46, 34];

/** @param {Line[]} lines of one n @param {(line: Line) => number} of @param {number} x0 @param {number} y0 @param {string} title */
function panel(lines, of, x0, y0, title) {
  const hits = distinct(lines.map((line) => line.hits)).sort((a, b) => a - b);
  const counts = distinct(lines.map((line) => line.f)).sort((a, b) => a - b);
  const out = [`<text x="${x0}" y="${y0 - 8}" class="title">${title}</text>`];
  hits.forEach((hit, i) => {
    counts.forEach((f, j) => {
      const own = lines.filter((line) => line.hits === hit && line.f === f);
      if (own.length === 0) return;
      // The farthest from 95 % of those that share the cell.
      const worst = own.map(of).reduce((a, b) => (Math.abs(b - 0.95) > Math.abs(a - 0.95) ? b : a));
      const y = y0 + (counts.length - 1 - j) * CELL;
      out.push(
        `<rect x="${x0 + i * CELL}" y="${y}" width="${CELL}" height="${CELL}" fill="${colour(worst)}"/>`,
      );
    });
  });
  const bottom = y0 + counts.length * CELL;
  for (const i of [0, 3, 8, 12])
    if (i < hits.length)
      out.push(
        `<text x="${x0 + (i + 0.5) * CELL}" y="${bottom + 14}" text-anchor="middle">${Number(hits[i].toPrecision(3))}</text>`,
      );
  for (const f of [0, 5, 20, 100, 500]) {
    const j = counts.indexOf(f);
    if (j >= 0 && x0 < LEFT + 1)
      out.push(
        `<text x="${x0 - 6}" y="${y0 + (counts.length - j) * CELL - 2}" text-anchor="end">${f}</text>`,
      );
  }
  return out.join('\n');
}

/** @param {Line[]} lines @returns {string} */
export function picture(lines) {
  const ns = distinct(lines.map((line) => line.n)).sort((a, b) => a - b);
  const [wide, high] = [15 * CELL, 15 * CELL];
  const [width, height] = [LEFT + ns.length * (wide + 16), TOP + 2 * (high + GAP) + 44];
  const panels = ns.flatMap((n, i) => {
    const own = lines.filter((line) => line.n === n);
    const x = LEFT + i * (wide + 16);
    const reports = `${n.toLocaleString('en-GB')} reports`;
    const shift = (15 - distinct(own.map((line) => line.f)).length) * CELL; // few counts are at the bottom
    return [
      panel(own, (l) => l.normal, x, TOP + shift, `normal, ${reports}`),
      panel(own, (l) => l.ours, x, TOP + high + GAP + shift, `shoal, ${reports}`),
    ];
  });
  const y = height - 14;
  const legend = STEPS.map(
    ([, fill, name], i) =>
      `<rect x="${LEFT + i * 132}" y="${y - 11}" width="14" height="14" fill="${fill}"/><text x="${LEFT + 20 + i * 132}" y="${y}">${name}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="How often 95 % intervals hold the true count, by reports, expected accidental supports and true count">`,
    '<style>text{font:12px system-ui,sans-serif;fill:#1c2326}.title{font-weight:600}</style>',
    `<rect width="${width}" height="${height}" fill="#fcfcfb"/>`,
    `<text x="8" y="18">true count (up) and supports by accident, n q (to the right)</text>`,
    ...panels,
    ...legend,
    '</svg>\n',
  ].join('\n');
}

function main() {
  const lines = enumerate();
  const page = path('docs/selection.md');
  const [before, rest] = readFileSync(page, 'utf8').split(BEGIN);
  const after = rest.split(END)[1];
  writeFileSync(page, `${before}${BEGIN}\n\n${table(lines)}\n\n${END}${after}`);
  writeFileSync(path('docs/coverage.svg'), picture(lines));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
