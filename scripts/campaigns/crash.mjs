// SPDX-License-Identifier: Apache-2.0
// Programs are killed with SIGKILL while they work, by the tests that also run in `make test` with
// few kills. A step is some kills with delays of its own; the test then counts every report.
import { build, root, runProgram } from './program.mjs';
import { join } from 'node:path';

/** @typedef {import('./runner.mjs').Campaign} Campaign */
/** @typedef {import('./runner.mjs').At} At */

const WANTED = 1000;

/** The last lines of a failure that say what was wrong. @param {string} output */
export function whyOf(output) {
  const lines = output
    .split('\n')
    .filter((line) => /AssertionError|Error:|not ok|✖|failed/.test(line));
  return (lines[0] ?? 'it ended with an error').trim();
}

/**
 * @param {string} name
 * @param {string} file of tests
 * @param {string} pattern the tests' names
 * @param {number} kills of a step
 * @returns {import('./runner.mjs').Part}
 */
const part = (name, file, pattern, kills) => ({
  name,
  wanted: WANTED,
  unit: 'kills',
  async step({ log, seed, left, signal }) {
    const now = Math.min(kills, left);
    const changes = { SHOAL_LONG: '1', SHOAL_KILLS: String(now), SHOAL_SEED: String(seed) };
    const args = ['--test', `--test-name-pattern=${pattern}`, file];
    const { code, output } = await runProgram(log, signal, changes, process.execPath, args);
    const isRun = /^# pass [1-9]|^ℹ pass [1-9]/m.test(output);
    if (code === 0 && !isRun)
      return {
        done: 0,
        findings: [`no test of ${file} is named "${pattern}", or all were skipped`],
      };
    if (code === 0) return { done: now, findings: [] };
    const again = Object.entries(changes).map(([key, value]) => `${key}=${value}`);
    return {
      done: 0,
      findings: [`${whyOf(output)}: ${again.join(' ')} node ${args.join(' ')}, ${log}`],
    };
  },
});

/** Sequences of calls over accumulators, in which the process dies before or after any call that touches the disk. */
const SEQUENCES = 10_000;

/** @type {import('./runner.mjs').Part} */
const ingest = {
  name: 'ingest and merge',
  wanted: 100 * SEQUENCES,
  unit: 'sequences, one in ten with a crash',
  async step({ log, seed, signal }) {
    const changes = { SHOAL_LONG: '1', SHOAL_SEED: String(seed) };
    const program = 'build/release/tests/test_agg_counted_once';
    const { code, output } = await runProgram(log, signal, changes, program, []);
    return code === 0
      ? { done: SEQUENCES, findings: [] }
      : { done: 0, findings: [`${whyOf(output)}: SHOAL_LONG=1 SHOAL_SEED=${seed} ${program}`] };
  },
};

const serve = 'tests/aggregator/serve/serve_kill.test.mjs';

/** @type {Campaign} */
export const crash = {
  name: 'crash',
  says: 'ingest, serve, the edge, leader and helper are killed while they work; then every report counts once',
  async parts() {
    await build(join(root, 'build/campaigns/crash/build.log'), [
      ['cmake', '--preset', 'release'],
      ['cmake', '--build', '--preset', 'release', '--target', 'shoal', 'test_agg_counted_once'],
    ]);
    return [
      ingest,
      part('serve', serve, '^killed', 50),
      part('serve, sums', serve, '^the same of sums', 50),
      part('edge on Node', 'edge/test/chaos.test.mjs', '^node and shoal serve, round 1$', 8),
      part('edge on workerd', 'edge/test/chaos.test.mjs', '^workerd and shoal serve, round 1$', 8),
      part('edge backups', 'edge/test/backup.test.mjs', 'kill', 20),
      part(
        'leader and helper',
        'tests/aggregator/dap/two_servers_kill.test.mjs',
        '^both servers killed',
        20,
      ),
    ];
  },
};
