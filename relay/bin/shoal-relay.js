#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The command `shoal-relay`: reads its configuration, serves until SIGTERM or SIGINT.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checkRelay } from '../check.js';
import { wrongFormat } from '../check_report.js';
import { memoryOf, readConfig, startRelay } from '../node.js';
import { Reloads, closeOnSignal, drainOf } from '../reload.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const HELP = `usage: shoal-relay --config FILE [--watch] [--drain SECONDS]
       shoal-relay --config FILE --check [--format json]
       shoal-relay FILE

Passes sealed requests (Oblivious HTTP) on to a gateway, which never learns who sent them. It cannot read them, and keeps nothing.
FILE is a JSON configuration, described in the package's README.md. Stops on SIGTERM and SIGINT; a kill loses nothing, since devices try again.
SIGHUP reloads routes and tokens. If anything in the configuration is wrong, the old one goes on.

  -c, --config FILE   the configuration
      --watch         reload when the configuration, or a file that it names, changes
      --drain SECONDS on SIGTERM, serve on for so long while /healthz answers 503, so that a proxy
                      sends its requests elsewhere; default 0
      --check         reads everything that the configuration names, says every problem and how to
                      mend it, and ends; opens no port and writes nothing. Exit code 0 or 1
      --format FORMAT text (default) or json, of --check
      --version       the version
  -h, --help          this text

example:
  shoal-relay --config relay.json
`;

/** A command line that cannot be followed. */
class UsageError extends Error {}

function readArguments() {
  try {
    return parseArgs({
      options: {
        config: { type: 'string', short: 'c' },
        version: { type: 'boolean' },
        check: { type: 'boolean' },
        format: { type: 'string' },
        watch: { type: 'boolean' },
        drain: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    const [what] = /** @type {Error} */ (error).message.split('. '); // advice on '--' follows
    throw new UsageError(`${what}; see --help`);
  }
}

/** @returns {Promise<number | null>} an exit code, or null to go on serving */
async function main() {
  const { values, positionals } = readArguments();
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (values.version) {
    process.stdout.write(`shoal-relay ${version}\n`);
    return 0;
  }
  const files = [...(values.config === undefined ? [] : [values.config]), ...positionals];
  if (files.length !== 1) throw new UsageError('one --config FILE is needed; see --help');
  const wrong = wrongFormat(values);
  if (wrong) throw new UsageError(wrong);
  if (values.check)
    return (await checkRelay(files[0])).print('shoal-relay', files[0], values.format);
  const drainS = drainOf(values.drain);
  if (drainS === null) throw new UsageError('--drain: whole seconds up to 3600 are needed');
  const reloads = new Reloads('shoal-relay', () => readConfig(files[0]));
  const config = await reloads.first();
  const relay = await startRelay(config, { reloads });
  closeOnSignal(relay, drainS);
  reloads.start(relay.reload, { isWatched: values.watch });
  const memory = Math.ceil(memoryOf(config) / 2 ** 20);
  process.stderr.write(
    `shoal-relay: takes up to ${memory} MiB of memory\n` +
      `shoal-relay: listening on ${config.host}:${relay.port}\n`,
  );
  return null;
}

main().then(
  (code) => {
    if (code !== null) process.exitCode = code;
  },
  (error) => {
    const what = error.code === 'ENOENT' ? `${error.path}: there is no such file` : error.message;
    process.stderr.write(`shoal-relay: ${what}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  },
);
