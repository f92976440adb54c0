// SPDX-License-Identifier: Apache-2.0
// The power of alarms against five attacks, as the table and the picture of docs/alarms.md.
//
//   node tests/bench/alarm_power.mjs           simulates (a few minutes of one core), then draws
//   node tests/bench/alarm_power.mjs --draw    draws tests/bench/alarm_power.tsv again
//
// The figures come from shoal_alarm_power: $SHOAL_ALARM_POWER or that of build/release.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url));
const [RUNS, REPORTS] = [40, 10000];
const POWER = 0.9; // that the table asks for
const BEGIN = '<!-- power: tests/bench/alarm_power.mjs -->';
const END = '<!-- end of power -->';

/** @typedef {{mechanism: string, attack: string, share: number, power: number}} Line */

/** @param {string} text tab-separated @returns {Line[]} */
export const readLines = (text) =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const [mechanism, attack, share, power] = line.split('\t');
      return { mechanism, attack, share: Number(share), power: Number(power) };
    });

/** @template T @param {T[]} list */
const distinct = (list) => [...new Set(list)];
const percent = (/** @type {number} */ share) => `${Number((100 * share).toPrecision(3))} %`;

/** The smallest share of fabricated reports that is found nearly always, and at all larger shares. @param {Line[]} lines of one mechanism and attack */
export function foundFrom(lines) {
  const rising = [...lines].sort((a, b) => b.share - a.share);
  let least;
  for (const { share, power } of rising) {
    if (power < POWER || share === 0) break;
    least = share;
  }
  return least;
}

/** @param {Line[]} lines @returns {string} a table of Markdown */
export function table(lines) {
  const attacks = distinct(lines.map((line) => line.attack));
  const rows = distinct(lines.map((line) => line.mechanism)).map((mechanism) => {
    const cells = attacks.map((attack) => {
      const least = foundFrom(
        lines.filter((line) => line.mechanism === mechanism && line.attack === attack),
      );
      return least === undefined ? '-' : percent(least);
    });
    return [`\`${mechanism}\``, ...cells];
  });
  const all = [['mechanism', ...attacks], ['---', ...attacks.map(() => '---')], ...rows];
  return all.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const COLOURS = [
  '#1f5fa8',
  '#c2571a',
  '#2f7d4f',
  '#7a4a9e',
  '#a3223b',
  '#5c686d',
  '#b08a00',
  '#00857f',
];
const [WIDTH, HEIGHT, LEFT, TOP] = [300, 190, 44, 28];

/** @param {Line[]} lines @param {string} attack @param {string[]} mechanisms @param {number} x0 @param {number} y0 */
function panel(lines, attack, mechanisms, x0, y0) {
  const [left, top, width, height] = [x0 + LEFT, y0 + TOP, WIDTH - LEFT - 14, HEIGHT - TOP - 40];
  const shares = distinct(lines.map((line) => line.share)).filter((share) => share > 0);
  const [low, high] = [Math.log(Math.min(...shares)), Math.log(Math.max(...shares))];
  const at = (/** @type {number} */ share, /** @type {number} */ power) =>
    [left + (width * (Math.log(share) - low)) / (high - low), top + height * (1 - power)]
      .map((n) => n.toFixed(1))
      .join(',');
  const out = [`<text x="${left}" y="${y0 + 18}" class="title">${attack}</text>`];
  for (const power of [0, 0.5, 1]) {
    const y = top + height * (1 - power);
    out.push(
      `<path class="grid" d="M${left} ${y}h${width}"/><text x="${left - 6}" y="${y + 4}" text-anchor="end">${percent(power)}</text>`,
    );
  }
  for (const share of [0.001, 0.01, 0.1, 0.5])
    out.push(
      `<text x="${at(share, 0).split(',')[0]}" y="${top + height + 16}" text-anchor="middle">${percent(share)}</text>`,
    );
  mechanisms.forEach((mechanism, i) => {
    const points = lines
      .filter((line) => line.attack === attack && line.mechanism === mechanism && line.share > 0)
      .map((line) => at(line.share, line.power));
    out.push(`<polyline stroke="${COLOURS[i]}" points="${points.join(' ')}"/>`);
  });
  out.push(
    `<text x="${left + width / 2}" y="${top + height + 32}" text-anchor="middle">fabricated reports</text>`,
  );
  return out.join('\n');
}

/** @param {Line[]} lines @returns {string} */
export function picture(lines) {
  const attacks = distinct(lines.map((line) => line.attack));
  const mechanisms = distinct(lines.map((line) => line.mechanism));
  const panels = attacks.map((attack, i) =>
    panel(lines, attack, mechanisms, (i % 3) * WIDTH, Math.floor(i / 3) * HEIGHT),
  );
  const [x, y] = [2 * WIDTH + LEFT, HEIGHT + 24];
  const legend = mechanisms.map(
    (mechanism, i) =>
      `<path stroke="${COLOURS[i]}" stroke-width="3" d="M${x} ${y + 17 * i}h24"/><text x="${x + 32}" y="${y + 17 * i + 4}">${mechanism}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${3 * WIDTH}" height="${2 * HEIGHT}" viewBox="0 0 ${3 * WIDTH} ${2 * HEIGHT}" role="img" aria-label="Share of results with an alarm, against the share of fabricated reports, for five attacks">`,
    '<style>text{font:12px system-ui,sans-serif;fill:#1c2326}.title{font-weight:600;font-size:13px}.grid{stroke:#d9dedc}polyline{fill:none;stroke-width:2}</style>',
    `<rect width="${3 * WIDTH}" height="${2 * HEIGHT}" fill="#fcfcfb"/>`,
    ...panels,
    ...legend,
    '</svg>\n',
  ].join('\n');
}

function main() {
  const data = path('tests/bench/alarm_power.tsv');
  if (!process.argv.includes('--draw')) {
    const bin = process.env.SHOAL_ALARM_POWER ?? path('build/release/shoal_alarm_power');
    const done = spawnSync(bin, [String(RUNS), String(REPORTS)], { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`${bin}: ${done.error ?? done.stderr}`);
    writeFileSync(data, done.stdout);
  }
  const lines = readLines(readFileSync(data, 'utf8'));
  const page = path('docs/alarms.md');
  const [before, rest] = readFileSync(page, 'utf8').split(BEGIN);
  const after = rest.split(END)[1];
  writeFileSync(page, `${before}${BEGIN}\n\n${table(lines)}\n\n${END}${after}`);
  writeFileSync(path('docs/alarms.svg'), picture(lines));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
