// SPDX-License-Identifier: Apache-2.0
// What figures of picked rows are worth, as the table of docs/selection.md.
//
//   node tests/bench/adjusted_study.mjs [BASE]    simulates (an hour of one core), then writes both
//   node tests/bench/adjusted_study.mjs --table   makes the table of tests/bench/adjusted_study.tsv again
//
// BASE is a text that the seeds are made of. The figures come from shoal_adjusted_study: $SHOAL_ADJUSTED_STUDY or that of build/release.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url));
const BEGIN = '<!-- adjusted: tests/bench/adjusted_study.mjs -->';
const END = '<!-- end of adjusted -->';
// Collections of each setting, and the largest number of devices: sums of lists are drawn by their law, devices of the others are real.
const RUNS = /** @type {[string, number, number][]} */ ([
  ['grr', 20, 1e6],
  ['subset', 20, 1e6],
  ['rappor', 20, 1e6],
  ['onehot-symmetric', 20, 1e6],
  ['olh', 6, 1e6],
  ['hcms', 6, 1e6],
  ['hadamard', 6, 1e5],
  ['cms', 6, 1e5],
]);

/** @typedef {{mechanism: string, popularity: string, epsilon: number, devices: number, pick: string, collections: number, fitted: number, rows: number, error: number, covered: number, fcr: number, ownError: number, ownCovered: number, adjustedError: number, adjustedCovered: number}} Line */

/** @param {string} text tab-separated @returns {Line[]} */
export const readLines = (text) =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const cells = line.split('\t');
      const n = cells.map(Number);
      return {
        mechanism: cells[0],
        popularity: cells[1],
        epsilon: n[2],
        devices: n[3],
        pick: cells[4],
        collections: n[5],
        fitted: n[6],
        rows: n[7],
        error: n[8],
        covered: n[9],
        fcr: n[10],
        ownError: n[11],
        ownCovered: n[12],
        adjustedError: n[13],
        adjustedCovered: n[14],
      };
    });

/** Settings of which nearly every collection has 20 detected rows. @param {Line[]} lines */
const enough = (lines) => lines.filter((line) => line.fitted > 0.8 * line.collections);

/** The mean of a figure over all picked rows. @param {Line[]} lines @param {(line: Line) => number} of */
function mean(lines, of) {
  const weight = (/** @type {Line} */ line) => line.rows * line.fitted;
  const total = lines.reduce((sum, line) => sum + weight(line), 0);
  return lines.reduce((sum, line) => sum + weight(line) * of(line), 0) / total;
}

/** @param {Line[]} lines @returns {string} a table of Markdown: a row for each mechanism and pick, over all settings with enough detected rows */
export function table(lines) {
  const signed = (/** @type {number} */ x) => `${x < 0 ? '-' : '+'}${Math.abs(x).toFixed(2)}`;
  const percent = (/** @type {number} */ x) => (100 * x).toFixed(1);
  const rows = [];
  for (const mechanism of new Set(lines.map((line) => line.mechanism)))
    for (const pick of ['detected', 'top 20', 'top 50']) {
      const own = enough(lines).filter((l) => l.mechanism === mechanism && l.pick === pick);
      if (own.length === 0) continue;
      const errors = own.map((line) => line.adjustedError);
      const covered = own.map((line) => line.adjustedCovered);
      rows.push([
        `\`${mechanism}\``,
        pick,
        `${own.length}`,
        signed(mean(own, (l) => l.ownError)),
        percent(mean(own, (l) => l.ownCovered)),
        percent(mean(own, (l) => l.fcr)),
        signed(mean(own, (l) => l.adjustedError)),
        `${signed(Math.min(...errors))} to ${signed(Math.max(...errors))}`,
        percent(mean(own, (l) => l.adjustedCovered)),
        `${percent(Math.min(...covered))} to ${percent(Math.max(...covered))}`,
      ]);
    }
  const head = [
    'mechanism',
    'picked',
    'settings',
    'raw error',
    'covered, %',
    'by FCR, %',
    'adjusted error',
    'of settings',
    'covered, %',
    'of settings, %',
  ];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function main() {
  const data = path('tests/bench/adjusted_study.tsv');
  if (!process.argv.includes('--table')) {
    const bin = process.env.SHOAL_ADJUSTED_STUDY ?? path('build/release/shoal_adjusted_study');
    const base = process.argv[2] ?? 'adjusted';
    const texts = RUNS.map(([mechanism, seeds, devices]) => {
      const done = spawnSync(bin, [`${seeds}`, base, mechanism, '', `${devices}`], {
        encoding: 'utf8',
      });
      if (done.status !== 0) throw new Error(`${bin}: ${done.error ?? done.stderr}`);
      return done.stdout;
    });
    writeFileSync(data, texts.join(''));
  }
  const page = path('docs/selection.md');
  const [before, rest] = readFileSync(page, 'utf8').split(BEGIN);
  const after = rest.split(END)[1];
  writeFileSync(
    page,
    `${before}${BEGIN}\n\n${table(readLines(readFileSync(data, 'utf8')))}\n\n${END}${after}`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
