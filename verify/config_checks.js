// SPDX-License-Identifier: Apache-2.0
// The configurations of a folder, by the --check of each service.
import { spawnSync } from 'node:child_process';
import { load, loadDapModule } from 'shoal-client/node';
import { checkEdge } from 'shoal-edge/check';
import { checkRelay } from 'shoal-relay/check';

/** @typedef {import('./context.js').Context} Context */

const CHECK_MS = 60_000;

/** @param {Context} context */
export async function checkConfigs(context) {
  const { edge, relay, aggregator } = context.at.folder;
  if (edge) tell(context, 'edge', await checkEdge(edge.path, { createCore: load, loadDapModule }));
  if (relay) tell(context, 'relay', await checkRelay(relay.path));
  if (aggregator) await checkServe(context, aggregator.path);
}

/**
 * @param {Context} context
 * @param {'edge' | 'relay' | 'aggregator'} party
 * @param {{problems: {what: string, mend: string}[]}} found
 */
function tell({ report }, party, { problems }) {
  for (const { what, mend } of problems)
    report.wrong('configs', `config-${party}`, { detail: what, mend });
  if (!problems.length) report.right('configs', `${party}.json is as it should be`);
}

/** The aggregator's is checked by its own program. @param {Context} context @param {string} path */
async function checkServe(context, path) {
  const program = process.env.SHOAL_BINARY ?? 'shoal';
  const done = spawnSync(program, ['serve', '--config', path, '--check', '--format', 'json'], {
    encoding: 'utf8',
    timeout: CHECK_MS,
  });
  try {
    tell(context, 'aggregator', JSON.parse(done.stdout));
  } catch {
    const mend = `on the aggregator's machine: shoal serve --config FILE --check`;
    context.report.unknown(
      'configs',
      'the native shoal is not here to check aggregator.json',
      mend,
    );
  }
}
