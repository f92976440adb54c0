// SPDX-License-Identifier: Apache-2.0
// Statistics whose tolerance needs more draws than a run of all tests can wait for. The C tests draw
// them under SHOAL_CAMPAIGN, from SHOAL_SEED; this file adds up and judges what is counted over
// several steps.
import { build, root, runProgram } from './program.mjs';
import { whyOf } from './crash.mjs';
import { join } from 'node:path';

/** @typedef {import('./runner.mjs').Campaign} Campaign */
/** @typedef {import('./runner.mjs').At} At */
/** @typedef {import('./runner.mjs').Part} Part */

const MECHANISMS = [
  'cms',
  'hcms',
  'olh',
  'grr',
  'subset',
  'hadamard',
  'onehot-symmetric',
  'onehot-asymmetric',
  'rappor',
  'rappor-list',
  'one-bit-mean',
];
const LEVELS = [0.3, 0.1, 0.01, 0.001, 0.0001];

/**
 * One run of a C test. @param {At} at @param {string} program @param {string} filter
 * @param {Record<string, string>} more of the environment
 */
async function runTest({ log, seed, signal }, program, filter, more) {
  const changes = { SHOAL_LONG: '1', SHOAL_CAMPAIGN: '1', SHOAL_SEED: String(seed), ...more };
  const path = `build/release/tests/${program}`;
  const { code, output } = await runProgram(log, signal, changes, path, [filter]);
  const again = Object.entries(changes).map(([key, value]) => `${key}=${value}`);
  const isRun = /PASSED\s+\] [1-9]\d* test/.test(output) && !/SKIPPED\s+\] [1-9]/.test(output);
  /** @type {string[]} */
  const findings = [];
  if (code !== 0) findings.push(`${whyOf(output)}: ${again.join(' ')} ${path} ${filter}, ${log}`);
  else if (!isRun) findings.push(`${path} has no test "${filter}", or skips it`);
  return { output, findings };
}

/**
 * A part whose test judges each step by itself. Every `size` units are one step.
 * @param {string} name @param {string} unit @param {number} wanted @param {number} size
 * @param {string} program @param {string} filter @returns {Part}
 */
const judgedAlone = (name, unit, wanted, size, program, filter) => ({
  name,
  unit,
  wanted,
  async step(at) {
    const { findings } = await runTest(at, program, filter, { SHOAL_RUN: String(at.step) });
    return { done: size, findings };
  },
});

/** "cms, zipf: 31, 9, 1, 0, 0 of 2000 p-values are at most ...". @param {string} output */
export function countsOf(output) {
  /** @type {Record<string, number>} */
  const sums = {};
  let n = 0;
  for (const [, setting, counts, trials] of output.matchAll(
    /^(.+): ([\d, ]+) of (\d+) p-values are at most/gm,
  )) {
    n = Number(trials);
    counts.split(', ').forEach((count, l) => (sums[`${setting}, ${LEVELS[l]}`] = Number(count)));
  }
  return { n, sums };
}

/**
 * The settings in which more of n p-values are below a level than it allows, by 4.5 standard errors
 * and 3: one accident in 10^5 checks. The same rule as in test_alarms.c, over all steps.
 * @param {Record<string, number>} sums @param {number} n
 */
export const tooMany = (sums, n) =>
  Object.entries(sums).filter(([key, count]) => {
    const mean = Number(key.slice(key.lastIndexOf(',') + 1)) * n;
    return count > mean + 4.5 * Math.sqrt(mean) + 3;
  });

/** @param {string} mechanism @returns {Part} */
const pValues = (mechanism) => ({
  name: `p-values of ${mechanism}`,
  unit: 'collections of each of five laws',
  wanted: 200_000,
  async step(at) {
    const filter = 'p_values_hold_for_any_values';
    const { output, findings } = await runTest(at, 'test_agg_alarms', filter, {
      SHOAL_ONLY: mechanism,
    });
    const { n, sums } = countsOf(output);
    if (findings.length > 0) return { done: n, sums, findings };
    if (n === 0) return { done: 0, findings: [`no p-values were counted: ${at.log}`] };
    const done = 200_000 - at.left + n;
    const all = { ...at.sums };
    for (const [key, count] of Object.entries(sums)) all[key] = (all[key] ?? 0) + count;
    const found = tooMany(all, done).map(([key, count]) => `${key}: ${count} of ${done}`);
    const share = Math.max(
      ...Object.entries(all).map(([key, c]) => (key.endsWith(', 0.01') ? c / done : 0)),
    );
    return { done: n, sums, findings: found, note: `at most ${share.toFixed(4)} below 0.01` };
  },
});

/** A script of tests/aggregator/accuracy in full, from a text that the seed names. @param {string} name @returns {Part} */
const accuracy = (name) => ({
  name: `accuracy: ${name}`,
  unit: 'runs',
  wanted: 5,
  async step({ log, seed, signal }) {
    const args = [`tests/aggregator/accuracy/${name}.mjs`, '--long', '--base', `campaign ${seed}`];
    const { code, output } = await runProgram(log, signal, {}, process.execPath, args);
    const again = `node ${args.slice(0, -1).join(' ')} "${args.at(-1)}", ${log}`;
    return { done: 1, findings: code === 0 ? [] : [`${whyOf(output)}: ${again}`] };
  },
});

const programs = ['alarms', 'track_simulation', 'window_accuracy', 'joint_covariance']
  .concat(['joint_wald', 'audit', 'retention', 'funnel'])
  .map((name) => `test_agg_${name}`);

/** @type {Campaign} */
export const statistics = {
  name: 'statistics',
  says: 'p-values of alarms, intervals, type I errors and draws against claims, with other seeds in each step',
  async parts() {
    await build(join(root, 'build/campaigns/statistics/build.log'), [
      ['cmake', '--preset', 'release'],
      ['cmake', '--build', '--preset', 'release', '--target', 'shoal', ...programs],
    ]);
    return [
      ...MECHANISMS.map(pValues),
      ...['accuracy', 'plan_accuracy', 'refinement', 'ngrams'].map(accuracy),
      judgedAlone(
        'long runs of track',
        'runs',
        100,
        1,
        'test_agg_track_simulation',
        'test_long_runs',
      ),
      judgedAlone('windows', 'collections a setting', 2000, 400, 'test_agg_window_accuracy', '*'),
      judgedAlone('tables', 'tables', 1000, 200, 'test_agg_joint_covariance', 'intervals_cover'),
      judgedAlone('type I errors', 'tables a setting', 2000, 2000, 'test_agg_joint_wald', 'errs_*'),
      judgedAlone('audit', 'audits of all', 1, 1, 'test_agg_audit', 'every_mechanism_*'),
      judgedAlone(
        'retention',
        'collections',
        15_000,
        1500,
        'test_agg_retention',
        'intervals_cover',
      ),
      judgedAlone('funnel', 'collections', 30_000, 3000, 'test_agg_funnel', 'intervals_cover'),
    ];
  },
};
