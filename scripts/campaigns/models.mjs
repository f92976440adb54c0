// SPDX-License-Identifier: Apache-2.0
// The models of tests/model at sizes that take minutes and gigabytes each; `make test` has smaller
// ones, and every planted bug.
import { models as all } from '../../tests/model/check.mjs';
import { runProgram } from './program.mjs';
import { whyOf } from './crash.mjs';

/** @typedef {import('./runner.mjs').Campaign} Campaign */

/** @param {string} name @returns {import('./runner.mjs').Part} */
const part = (name) => ({
  name,
  wanted: 1,
  unit: 'searches',
  async step({ log, signal }) {
    const args = ['tests/model/check.mjs', '--long', name];
    const { code, output } = await runProgram(log, signal, {}, process.execPath, args);
    const states = Number(/(\S+) states\b/.exec(output)?.[1] ?? 0);
    if (code !== 0 || states === 0)
      return { done: 0, findings: [`${whyOf(output)}: node ${args.join(' ')}, ${log}`] };
    return { done: 1, findings: [], note: `${states.toLocaleString('en-US')} states` };
  },
});

/** @type {Campaign} */
export const models = {
  name: 'models',
  says: 'every order of events in the larger models, by Spin',
  parts: async () =>
    Object.entries(all).flatMap(([model, { settings }]) =>
      settings.filter(({ isLong }) => isLong).map(({ name }) => part(`${model} ${name}`)),
    ),
};
