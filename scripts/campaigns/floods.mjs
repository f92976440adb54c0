// SPDX-License-Identifier: Apache-2.0
// Floods against servers, and what honest devices have meanwhile: the tests that `make test` runs for
// seconds, with their longest settings.
import { build, root, runProgram } from './program.mjs';
import { whyOf } from './crash.mjs';
import { join } from 'node:path';

/** @typedef {import('./runner.mjs').Campaign} Campaign */

/** @param {string} name @param {string} file @returns {import('./runner.mjs').Part} */
const part = (name, file) => ({
  name,
  wanted: 1,
  unit: 'runs',
  async step({ log, signal }) {
    const changes = { SHOAL_LONG: '1', SHOAL_CAMPAIGN: '1' };
    const { code, output } = await runProgram(log, signal, changes, process.execPath, [
      '--test',
      file,
    ]);
    const passed = Number(/^(?:#|ℹ) pass (\d+)/m.exec(output)?.[1] ?? 0);
    const findings =
      code !== 0
        ? [`${whyOf(output)}: SHOAL_LONG=1 SHOAL_CAMPAIGN=1 node --test ${file}, ${log}`]
        : passed === 0
          ? [`${file} ran no test`]
          : [];
    return { done: findings.length > 0 ? 0 : 1, findings, note: `${passed} tests` };
  },
});

/** @type {Campaign} */
export const floods = {
  name: 'floods',
  says: 'slow headers, half-open bodies and a million junk reports against serve, two servers, edge and relay',
  async parts() {
    await build(join(root, 'build/campaigns/floods/build.log'), [
      ['cmake', '--preset', 'release'],
      ['cmake', '--build', '--preset', 'release', '--target', 'shoal'],
    ]);
    return [
      part('serve', 'tests/aggregator/serve/serve_floods.test.mjs'),
      part('leader and helper', 'tests/aggregator/dap/dap_floods.test.mjs'),
      part('edge', 'edge/test/edge_attack.test.mjs'),
      part('relay', 'relay/test/relay_attack.test.mjs'),
    ];
  },
};
