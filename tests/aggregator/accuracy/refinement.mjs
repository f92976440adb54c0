// SPDX-License-Identifier: Apache-2.0
// Refinement of a number over rounds, through the commands: how long something takes, log-normal around a minute, of which one knows only that
// it takes less than a day.
//
//   node tests/aggregator/accuracy/refinement.mjs [--long] [--base TEXT]
//
// Static: everybody answers one histogram, 32 equal buckets of the day between its two ends. In rounds: a third of the people answer that, a third the
// buckets that `shoal round next --refine` makes of it, the rest those that it makes of the second round; the last round alone is the
// answer. Each person answers once, at the same epsilon, over at most as many buckets.
//
// Median, 90th and 99th percentile by straight lines through the estimated shares (post-processed by norm-sub). Printed are the mean relative
// errors over the seeds (20 with --long, 3 without) and the width of the bucket that the true percentile lies in, relative to it.
// Must hold for each percentile: the error in rounds is LEAST_RATIO times smaller than the static one, and below MOST_ERROR, about three times what theory
// gives: the share below a percentile is a sum of some ten to thirty buckets, each with sd sqrt(4 e^eps/(e^eps-1)^2 n) of n = 166,667, so 0.2 to 0.4 % of
// all; divided by the density of ln x, 0.27, 0.12 and 0.018, that is an error of 2, 3 and 15 %.
// The command is $SHOAL_BIN or build/release/shoal.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const DEVICES = 500_000;
const BUCKETS = 34;
const EPSILON = 4;
const [MEDIAN, SIGMA] = [60, 1.5];
const DAY = 86_400;
/** Percentiles and the normal law's quantiles. */
const ASKED = [
  { share: 0.5, z: 0 },
  { share: 0.9, z: 1.2815516 },
  { share: 0.99, z: 2.3263479 },
];
const MOST_ERROR = [0.06, 0.09, 0.45];
const LEAST_RATIO = [20, 20, 1];

/** The counts file: 4,000 steps of ln x between 4.8 standard deviations below and above. @returns {string} */
function eventsOf() {
  const steps = 4000;
  const lines = Array.from({ length: steps }, (_, i) => {
    const z = -4.8 + ((i + 0.5) * 9.6) / steps;
    return `{"seconds":${(MEDIAN * Math.exp(SIGMA * z)).toFixed(4)}}\t${Math.round(1e9 * Math.exp((-z * z) / 2))}`;
  });
  return `${lines.join('\n')}\n`;
}

/** @typedef {{bin: string, folder: string, seed: string}} Env */
/** @typedef {{error: number[], width: number[]}} Result */

/** @param {Env} env @param {string} id @param {number} first @param {number} devices */
function collect(env, id, first, devices) {
  const script =
    '"$0" simulate --recipe "$1.json" --counts events.tsv --devices "$2" --first "$3" --seed "$4" -o - | ' +
    '"$0" ingest --recipe "$1.json" -o "$1.acc" -';
  rmSync(join(env.folder, `${id}.acc`), { force: true });
  execFileSync(
    'bash',
    ['-euo', 'pipefail', '-c', script, env.bin, id, String(devices), String(first), env.seed],
    { cwd: env.folder, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' },
  );
}

/** @param {Env} env @param {string} id @returns {Result} */
function percentilesOf(env, id) {
  const text = execFileSync(
    env.bin,
    ['estimate', '--recipe', `${id}.json`, '--post', 'norm-sub', '--format', 'json', `${id}.acc`],
    { cwd: env.folder, stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString();
  /** @type {{cell: {seconds: string}, count: number}[]} */
  const rows = JSON.parse(text).rows;
  const counts = new Map(rows.map(({ cell, count }) => [cell.seconds, count]));
  /** @type {number[]} */
  const bounds = JSON.parse(readFileSync(join(env.folder, `${id}.json`), 'utf8')).encoding[0]
    .boundaries;
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const below = [(counts.get('<oov>') ?? 0) / all];
  for (let i = 1; i < bounds.length; i++)
    below.push(below[i - 1] + (counts.get(`[${bounds[i - 1]},${bounds[i]})`) ?? 0) / all);
  const result = /** @type {Result} */ ({ error: [], width: [] });
  for (const { share, z } of ASKED) {
    const truth = MEDIAN * Math.exp(SIGMA * z);
    const i = Math.max(
      1,
      below.findIndex((part, at) => part >= share || at === below.length - 1),
    );
    const estimate =
      bounds[i - 1] +
      ((bounds[i] - bounds[i - 1]) * (share - below[i - 1])) / (below[i] - below[i - 1]);
    const at = bounds.findIndex((bound) => bound > truth);
    result.error.push(Math.abs(estimate / truth - 1));
    result.width.push((bounds[at] - bounds[at - 1]) / truth);
  }
  return result;
}

const START = {
  recipe: 'seconds-1',
  analysis: 'durations',
  stream: 'tasks',
  value: 'fields',
  encoding: [
    {
      field: 'seconds',
      boundaries: Array.from({ length: BUCKETS - 1 }, (_, i) => (i * DAY) / (BUCKETS - 2)),
    },
  ],
  mechanism: 'subset',
  parameters: { epsilon: EPSILON },
  limit: { per_day: 1 },
  cohort: { minimum: 20_000 },
  round: { index: 1 },
  expires: '2099-12-31',
};

/** @param {Env} env @returns {Result} */
function inRounds(env) {
  const third = Math.floor(DEVICES / 3);
  for (let round = 1; round <= 3; round++) {
    collect(env, `seconds-${round}`, (round - 1) * third, third);
    if (round === 3) break;
    execFileSync(
      env.bin,
      [
        'round',
        'next',
        '--refine',
        String(BUCKETS),
        '--recipe',
        `seconds-${round}.json`,
        '-o',
        `seconds-${round + 1}.json`,
        `seconds-${round}.acc`,
      ],
      { cwd: env.folder, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' },
    );
  }
  return percentilesOf(env, 'seconds-3');
}

/** @param {Env} env @returns {Result} */
function atOnce(env) {
  writeFileSync(join(env.folder, 'static.json'), JSON.stringify({ ...START, recipe: 'static' }));
  collect(env, 'static', 0, DEVICES);
  return percentilesOf(env, 'static');
}

const { values: options } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    base: { type: 'string', default: 'refinement' },
  },
});
const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = resolve(process.env.SHOAL_BIN ?? join(root, 'build/release/shoal'));
const folder = mkdtempSync(join(tmpdir(), 'shoal-refinement-'));
const seeds = options.long ? 20 : 3;

/** @param {string} name @param {(env: Env) => Result} way */
function runWay(name, way) {
  const results = Array.from({ length: seeds }, (_, s) =>
    way({ bin, folder, seed: `${options.base} ${s}` }),
  );
  const mean = (/** @type {'error' | 'width'} */ what) =>
    ASKED.map((_, i) => results.reduce((sum, result) => sum + result[what][i], 0) / seeds);
  const show = (/** @type {number[]} */ list) =>
    list.map((x) => `${(100 * x).toFixed(1)} %`.padStart(9)).join('');
  console.log(
    `${name.padEnd(14)} error of median, 90th, 99th${show(mean('error'))}   bucket there${show(mean('width'))}`,
  );
  return mean('error');
}

try {
  writeFileSync(join(folder, 'events.tsv'), eventsOf());
  writeFileSync(join(folder, 'seconds-1.json'), JSON.stringify(START));
  console.log(`${DEVICES} devices, epsilon ${EPSILON}, ${BUCKETS} buckets at most, ${seeds} seeds`);
  const once = runWay('static', atOnce);
  const rounds = runWay('three rounds', inRounds);
  console.log(
    `the errors are ${once.map((error, i) => (error / rounds[i]).toFixed(1)).join(', ')} times smaller`,
  );
  const isGood = rounds.every(
    (error, i) => error <= MOST_ERROR[i] && error * LEAST_RATIO[i] <= once[i],
  );
  if (!isGood) console.error('the errors of three rounds are too large');
  process.exitCode = isGood ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
