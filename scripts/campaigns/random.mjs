// SPDX-License-Identifier: Apache-2.0
// The properties of tests/random, by fast-check: client, edge, gateway, relay and issuer under
// random input. A run is one input, or one order of calls.
import { CannotRun, runProgram } from './program.mjs';
import { whyOf } from './crash.mjs';

/** @typedef {import('./runner.mjs').Campaign} Campaign */

const PROGRAM = 'tests/random/run.mjs';

/** @param {import('../../tests/random/run.mjs').Property} property @returns {import('./runner.mjs').Part} */
const part = ({ name, wanted }) => ({
  name,
  wanted,
  unit: 'runs',
  async step({ log, seed, left, seconds, signal }) {
    const args = [PROGRAM, name, String(seed), String(seconds)];
    const { code, output } = await runProgram(log, signal, {}, process.execPath, args);
    const runs = Number(/^(\d+) runs$/m.exec(output)?.[1] ?? 0);
    const shown = `node ${PROGRAM} "${name}" ${seed} ${seconds}, ${log}`;
    const findings = code === 0 && runs > 0 ? [] : [`${whyOf(output)}: ${shown}`];
    const rate = Math.round(runs / seconds).toLocaleString('en-US');
    return { done: Math.min(runs, left), findings, note: `${rate}/s` };
  },
});

/** @type {Campaign} */
export const random = {
  name: 'random',
  says: 'client, edge, gateway, relay and issuer under random input, by fast-check: 10^6 runs, 10^7 where they are cheap',
  async parts() {
    // The packages are built by setup; a campaign without them has nothing to run.
    const run = await import('../../tests/random/run.mjs').catch((error) => {
      throw new CannotRun(`${PROGRAM}: ${error.message}`);
    });
    return run.properties.map(part);
  },
};
