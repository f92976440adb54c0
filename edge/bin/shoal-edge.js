#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The command `shoal-edge`: reads its configuration, serves until SIGTERM or SIGINT.

import { parseArgs } from 'node:util';
import { load, loadDapModule } from 'shoal-client/node';
import { readConfig } from '../config.js';
import { startEdge } from '../node.js';

const HELP = `usage: shoal-edge --config FILE

Takes private reports over HTTP, forgets where they came from, and forwards them in shuffled batches.
FILE is described in the package's README.md. Stops on SIGTERM and SIGINT; a kill loses nothing accepted.

  -c, --config FILE   configuration, JSON
  -h, --help          this text
`;

/** A command line that cannot be followed. */
class UsageError extends Error {}

function readArguments() {
  try {
    return parseArgs({
      options: { config: { type: 'string', short: 'c' }, help: { type: 'boolean', short: 'h' } },
    }).values;
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}

/** @returns {Promise<number | null>} an exit code, or null to go on serving */
async function main() {
  const values = readArguments();
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (values.config === undefined) throw new UsageError('--config FILE is needed; see --help');
  const config = await readConfig(values.config);
  const edge = await startEdge(config, { createCore: load, loadDapModule });
  const stop = () => edge.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.stderr.write(`shoal-edge: listening on ${config.host}:${edge.port}\n`);
  return null;
}

main().then(
  (code) => {
    if (code !== null) process.exitCode = code;
  },
  (error) => {
    process.stderr.write(`shoal-edge: ${error.message}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  },
);
