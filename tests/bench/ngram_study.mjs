// SPDX-License-Identifier: Apache-2.0
// Fanti, Pihur and Erlingsson's studies of strings that nobody listed (fanti-2016 section 5 and appendix C), simulated anew: prints the tables of
// docs/ngram-study.md.
//
//     node tests/bench/ngram_study.mjs [urls|laws|lengths|thresholds]     all by default; $SHOAL_NGRAM_STUDY or build/release/shoal_ngram_study
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = process.env.SHOAL_NGRAM_STUDY ?? join(root, 'build/release/shoal_ngram_study');
const P = 0.25;

/**
 * @typedef {{strings: number, length: number, reports: number, epsilon_part: number, found: number, false: number, candidates: number,
 *   hellinger: number, off: number, simulate_s: number, decode_s: number, edges: number, least: string}} Study
 */

/**
 * One collection.
 * @param {string} population @param {number} reports @param {number} q @param {number} n @param {'known' | 'unknown'} mode
 * @param {number} seed @param {number} [length] @param {number} [threshold]
 * @returns {Study}
 */
function study(population, reports, q, n, mode, seed, length = 6, threshold = 0) {
  const args = [population, reports, q, n, mode, seed, length, threshold].map(String);
  const run = spawnSync(bin, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (run.status !== 0) throw new Error(`${args.join(' ')}: ${run.stderr}`);
  const edges = /cliques of (\d+) edges, of strings that ([\d.e-]+%)/.exec(run.stderr);
  return { ...JSON.parse(run.stdout), edges: Number(edges?.[1] ?? 0), least: edges?.[2] ?? '' };
}

/** q of a part with epsilon h ln(q (1 - p) / (p (1 - q))), h = 2. @param {number} epsilon */
function qOf(epsilon) {
  const odds = (P / (1 - P)) * Math.exp(epsilon / 2);
  return Number((odds / (1 + odds)).toFixed(6));
}

/** @param {number[]} numbers @param {number} digits */
function mean(numbers, digits) {
  return (numbers.reduce((sum, x) => sum + x, 0) / numbers.length).toFixed(digits);
}

/** @param {string[]} head @param {(string | number)[][]} rows */
function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  process.stdout.write(lines.join('\n') + '\n\n');
}

function urls() {
  const N = 1000000;
  const third = qOf((2 * Math.log(9)) / 3);
  /** @type {[string, number, number, 'known' | 'unknown', number[]][]} */
  const rows = [
    ['list', 0.75, 2, 'known', [1]],
    ['list', third, 2, 'known', [1]],
    ['list', 0.32, 2, 'known', [1]],
    ['no list, bigrams', third, 2, 'unknown', [1, 2]],
    ['no list, trigrams', third, 3, 'unknown', [1, 2]],
    ['no list, bigrams', 0.32, 2, 'unknown', [1, 2]],
    ['no list, trigrams', 0.32, 3, 'unknown', [1, 2]],
  ];
  const out = rows.map(([what, q, n, mode, seeds]) => {
    const runs = seeds.map((seed) => study('urls', N, q, n, mode, seed));
    return [
      what,
      q.toFixed(3),
      runs[0].epsilon_part.toFixed(2),
      runs.map((r) => r.found).join(', '),
      runs.map((r) => r.false).join(', '),
      runs.map((r) => r.candidates).join(', '),
      runs.map((r) => r.least).join(', '),
      mean(
        runs.map((r) => r.off),
        2,
      ),
      mean(
        runs.map((r) => r.decode_s),
        1,
      ),
    ];
  });
  table(
    [
      '',
      'q',
      'epsilon of a part',
      'found',
      'false',
      'candidates',
      'least share',
      'rms error / stderr',
      'decoding, s',
    ],
    out,
  );
}

const SEEDS = [1, 2];

/** Figures 7, 17 and 18: ten strings of six letters. @param {string} law */
function curve(law) {
  /** @type {(string | number)[][]} */
  const rows = [];
  for (const reports of [10000, 100000])
    for (const epsilon of [3, 4.5, 6, 9]) {
      const runs = SEEDS.map((seed) =>
        study(`${law}10`, reports, qOf(epsilon / 3), 2, 'unknown', seed),
      );
      rows.push([
        reports,
        epsilon,
        mean(
          runs.map((r) => r.hellinger),
          2,
        ),
        mean(
          runs.map((r) => r.found / r.strings),
          2,
        ),
        runs.map((r) => r.false).join(', '),
      ]);
    }
  table(
    ['reports', 'epsilon, all parts', 'Hellinger distance', 'share of the strings found', 'false'],
    rows,
  );
}

/** Figures 9 and 10: a hundred strings of other lengths. */
function lengths() {
  /** @type {(string | number)[][]} */
  const rows = [];
  for (const [n, all] of /** @type {[number, number[]][]} */ ([
    [2, [4, 6, 8, 10, 12]],
    [3, [6, 9, 12]],
  ]))
    for (const length of all) {
      const runs = SEEDS.map((seed) => study('power100', 100000, 0.75, n, 'unknown', seed, length));
      rows.push([
        n,
        length,
        mean(
          runs.map((r) => r.hellinger),
          2,
        ),
        mean(
          runs.map((r) => 1 - r.found / r.strings),
          2,
        ),
        runs.map((r) => r.false).join(', '),
        mean(
          runs.map((r) => r.decode_s),
          1,
        ),
      ]);
    }
  table(['n', 'length', 'Hellinger distance', 'share not found', 'false', 'decoding, s'], rows);
}

/** Figure 11: what a higher threshold saves and costs. */
function thresholds() {
  const rows = [0, 1000, 2000, 4000, 8000, 16000].map((threshold) => {
    const runs = SEEDS.map((seed) =>
      study('power100', 100000, 0.75, 2, 'unknown', seed, 6, threshold),
    );
    return [
      threshold,
      runs[0].least,
      mean(
        runs.map((r) => r.edges),
        0,
      ),
      mean(
        runs.map((r) => r.candidates),
        0,
      ),
      mean(
        runs.map((r) => r.found),
        1,
      ),
      mean(
        runs.map((r) => r.hellinger),
        2,
      ),
    ];
  });
  table(['T', 'least share', 'edges', 'cliques', 'found', 'Hellinger distance'], rows);
}

/** Figures 7, 17, 18 and 8. */
function laws() {
  for (const [figure, law] of [
    ['7', 'power'],
    ['17', 'geometric'],
    ['18', 'uniform'],
  ]) {
    process.stdout.write(`Figure ${figure} (${law})\n\n`);
    curve(law);
  }
  process.stdout.write('Figure 8\n\n');
  const modes = /** @type {('known' | 'unknown')[]} */ (['known', 'unknown']);
  table(
    ['', 'found', 'false'],
    modes.map((mode) => {
      const runs = SEEDS.map((seed) => study('power100', 100000, 0.75, 2, mode, seed));
      return [mode, runs.map((r) => r.found).join(', '), runs.map((r) => r.false).join(', ')];
    }),
  );
}

const parts = /** @type {Record<string, () => void>} */ ({ urls, laws, lengths, thresholds });
for (const [name, run] of Object.entries(parts)) if ((process.argv[2] ?? name) === name) run();
