// SPDX-License-Identifier: Apache-2.0
// LDP-TrieHH at the settings of gboard-2024 section 4, on real word frequencies: coverage against epsilon (Figure 1) and the samplers and passes
// (Table 1), as the tables of docs/trie.md and its figure.
//
//   node tests/bench/trie_study.mjs [--svg FILE]        about six minutes of one core
//
// Each setting is run by shoal_trie_study ($SHOAL_TRIE_STUDY or build/release/shoal_trie_study). trie_study.test.mjs of tests/aggregator asserts a short version.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { allWordCounts } from '../../scripts/demo/data.mjs';

const bin =
  process.env.SHOAL_TRIE_STUDY ??
  fileURLToPath(new URL('../../build/release/shoal_trie_study', import.meta.url));

/** @typedef {{seed: number, epsilon: number, sampler: string, passes: number, coverage: number, words: number, false: number, rounds: number,
 *   capped: number, records: number, cells: number, record_bytes: number}} Run what a setting came to */

/** Runs settings, one a line, over the real words. @param {string[]} settings @returns {Run[]} */
export function study(settings) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-trie-'));
  try {
    const words = join(folder, 'words.tsv');
    writeFileSync(
      words,
      allWordCounts()
        .map(({ value, count }) => `${value}\t${count}\n`)
        .join(''),
    );
    const run = spawnSync(bin, [words], { input: `${settings.join('\n')}\n`, maxBuffer: 1 << 24 });
    if (run.status !== 0) throw new Error(`${bin}: ${run.error ?? run.stderr}`);
    return run.stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A device's favourites: three words drawn from all alike, typed five times each, half of what it types. */
const FAVOURITES = 'favourites=3 repeats=5';

/** The five runs of a seed for Table 1: 30 words a device, 3 reported, 300 prefixes, epsilon 10; as many devices in all.
 * @param {number} seed @returns {string[]} */
export const table1 = (seed) =>
  [
    'devices=20000',
    'devices=10000 passes=2',
    'devices=20000 sampler=greedy',
    `devices=20000 ${FAVOURITES}`,
    `devices=20000 ${FAVOURITES} sampler=greedy`,
  ].map((s) => `seed=${seed} ${s}`);

const EPSILONS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const FIGURE_1 = 'seed=1 devices=25000 words=60 contributions=20 prefixes=10000 fill=74 rounds=15';

/** @param {number} share */
const percent = (share) => (100 * share).toFixed(1);

function printTable1() {
  const seeds = Array.from({ length: 10 }, (_, i) => i + 1);
  const runs = study(seeds.flatMap(table1));
  console.log(
    '| seed | random, one pass | random, two passes | greedy, one pass | favourites: random | favourites: greedy |\n|---|---|---|---|---|---|',
  );
  for (const seed of seeds) {
    const row = runs.slice(5 * (seed - 1), 5 * seed).map((run) => percent(run.coverage));
    console.log(`| ${seed} | ${row.join(' | ')} |`);
  }
}

/** A line of the figure. @param {number[]} y @param {string} colour @param {string} name @param {(e: number) => number} px
 * @param {(c: number) => number} py @param {number} down where the name stands beside the last point */
function svgLine(y, colour, name, px, py, down) {
  const points = y.map((c, i) => `${px(EPSILONS[i]).toFixed(1)},${py(c).toFixed(1)}`);
  const last = points[points.length - 1].split(',');
  return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.join(' ')}"/>\n${points
    .map((p) => {
      const [cx, cy] = p.split(',');
      return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`;
    })
    .join(
      '\n',
    )}\n<text x="${Number(last[0]) + 10}" y="${Number(last[1]) + down}" font-size="13" fill="${colour}">${name}</text>`;
}

/** @param {number[]} random @param {number[]} greedy @param {number} exact @returns {string} */
function svg(random, greedy, exact) {
  const [left, top, width, height] = [72, 84, 560, 300];
  /** @param {number} e */
  const px = (e) => left + (width * (e - 3)) / 9;
  /** @param {number} c */
  const py = (c) => top + height * (1 - (c - 0.5) / 0.5);
  const ticks = [0.5, 0.6, 0.7, 0.8, 0.9, 1].map(
    (c) => `<line x1="${left}" x2="${left + width}" y1="${py(c)}" y2="${py(c)}" stroke="#d5dce3"/>
<text x="${left - 10}" y="${py(c) + 4}" font-size="12" text-anchor="end" fill="#5b6b7a">${100 * c} %</text>`,
  );
  const labels = EPSILONS.map(
    (e) =>
      `<text x="${px(e)}" y="${top + height + 20}" font-size="12" text-anchor="middle" fill="#5b6b7a">${e}</text>`,
  );
  const title = 'Coverage of the words found, against epsilon of one contribution';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="760" height="446" viewBox="0 0 760 446" font-family="system-ui, sans-serif" role="img">
<title>${title}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="24" y="36" font-size="18" fill="#1b2733">${title}</text>
<text x="24" y="58" font-size="13" fill="#5b6b7a">15 rounds of 25,000 devices with 60 words each, 20 reported; 100 characters, 10,000 prefixes at most</text>
${ticks.join('\n')}
${labels.join('\n')}
<text x="${left + width / 2}" y="${top + height + 44}" font-size="13" text-anchor="middle" fill="#1b2733">epsilon</text>
<line x1="${left}" x2="${left + width}" y1="${py(exact)}" y2="${py(exact)}" stroke="#c2571a" stroke-width="2" stroke-dasharray="3 5"/>
<text x="${left + width + 10}" y="${py(exact) + 4}" font-size="13" fill="#c2571a">without noise</text>
${svgLine(random, '#286ea8', 'random', px, py, -2)}
${svgLine(greedy, '#2e7d5b', 'greedy', px, py, 14)}
</svg>
`;
}

/** @param {string} file of the picture */
function printFigure1(file) {
  const [exact, ...runs] = study([
    `${FIGURE_1} sampler=greedy exact=1`,
    ...['random', 'greedy'].flatMap((sampler) =>
      EPSILONS.map((e) => `${FIGURE_1} epsilon=${e} sampler=${sampler}`),
    ),
  ]);
  const random = runs.slice(0, EPSILONS.length),
    greedy = runs.slice(EPSILONS.length);
  console.log(
    '| epsilon | random: coverage | words | false | greedy: coverage | words | false | most cells | record, bytes |\n|---|---|---|---|---|---|---|---|---|',
  );
  EPSILONS.forEach((e, i) => {
    const [a, b] = [random[i], greedy[i]];
    console.log(
      `| ${e} | ${percent(a.coverage)} % | ${a.words} | ${a.false} | ${percent(b.coverage)} % | ${b.words} | ${b.false} | ` +
        `${Math.max(a.cells, b.cells)} | ${Math.max(a.record_bytes, b.record_bytes)} |`,
    );
  });
  console.log(
    `| without noise | | | | ${percent(exact.coverage)} % | ${exact.words} | | ${exact.cells} | |`,
  );
  writeFileSync(
    file,
    svg(
      random.map((r) => r.coverage),
      greedy.map((r) => r.coverage),
      exact.coverage,
    ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { svg: { type: 'string', default: 'docs/trie.svg' } } });
  printTable1();
  console.log();
  printFigure1(values.svg ?? 'docs/trie.svg');
}
