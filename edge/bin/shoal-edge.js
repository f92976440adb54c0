#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The command `shoal-edge`: reads its configuration, serves until SIGTERM or SIGINT.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { load, loadDapModule } from 'shoal-client/node';
import { wrongFormat } from 'shoal-relay/check-report';
import { checkEdge } from '../check.js';
import { Reloads, closeOnSignal, drainOf } from 'shoal-relay/reload';
import { backUp, restore } from '../backup.js';
import { readBackupConfig, readConfig } from '../config.js';
import { gatewayKeys } from '../key_file.js';
import { startEdge } from '../node.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const HELP = `usage: shoal-edge --config FILE [--watch] [--drain SECONDS]
       shoal-edge --config FILE --check [--format json]
       shoal-edge backup --config FILE --output BACKUP
       shoal-edge restore --config FILE BACKUP
       shoal-edge gateway-key FILE [--list]

Takes private reports over HTTP, forgets where they came from, and forwards them in shuffled batches.
FILE is described in the package's README.md. Stops on SIGTERM and SIGINT; a kill loses nothing accepted.
SIGHUP reloads the configuration: recipes, keys, tokens, secrets, origins. If anything in it is wrong,
the old configuration goes on.

backup writes the spool, and the gateway's keys, into one file; the edge may run. restore makes them of
it, where the spool does not exist or is empty. Batches that were open then are closed. What was sent
since counts once, and what came since is lost.

gateway-key adds a key to a gateway's file of keys, which it makes if there is none, and prints the key
as a key list has it, one line of JSON. The file holds private keys: only its owner may read it.

  -c, --config FILE   configuration, JSON
      --check         reads everything that the configuration names, says every problem and how to
                      mend it, and ends; opens no port and writes nothing. Exit code 0 or 1
      --format FORMAT text (default) or json, of --check
      --watch         reload when the configuration, or a file that it names, changes
      --drain SECONDS on SIGTERM, serve on for so long while /healthz answers 503, so that a proxy
                      sends its requests elsewhere; default 0
  -o, --output BACKUP with backup: must not exist; gets mode 0600
      --list          with gateway-key: prints the keys of the file, and adds none
      --version       the version
  -h, --help          this text

example:
  shoal-edge gateway-key gateway.keys
  shoal-edge --config edge.json
`;

/** A command line that cannot be followed. */
class UsageError extends Error {}

function readArguments() {
  try {
    return parseArgs({
      options: {
        config: { type: 'string', short: 'c' },
        check: { type: 'boolean' },
        format: { type: 'string' },
        watch: { type: 'boolean' },
        drain: { type: 'string' },
        output: { type: 'string', short: 'o' },
        list: { type: 'boolean' },
        version: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    const [what] = /** @type {Error} */ (error).message.split('. '); // advice on '--' follows
    throw new UsageError(`${what}; see --help`);
  }
}

/** @param {string} config @param {(string | undefined)[]} files */
async function backUpTo(config, files) {
  const [path] = files;
  if (path === undefined || files.length > 1)
    throw new UsageError('backup: --output BACKUP is needed; see --help');
  const { files: n } = await backUp(await readBackupConfig(config), path);
  process.stdout.write(`backed up ${n} files into ${path}\n`);
  return 0;
}

/** @param {string} config @param {string} file */
async function restoreFrom(config, file) {
  const made = await restore(await readBackupConfig(config), file, { createCore: load });
  const when = new Date(1000 * made.timeS).toISOString().replace('.000', '');
  process.stdout.write(
    `restored from ${when}: ${made.sealed} reports of open batches sealed, ${made.dropped} dropped` +
      `${made.hasKeys ? '; the gateway keys too' : ''}\n`,
  );
  return 0;
}

/** @returns {Promise<number | null>} an exit code, or null to go on serving */
async function main() {
  const {
    values,
    positionals: [command, file, ...rest],
  } = readArguments();
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (values.version) {
    process.stdout.write(`shoal-edge ${version}\n`);
    return 0;
  }
  if (command === 'gateway-key') {
    if (file === undefined || rest.length || values.config !== undefined)
      throw new UsageError('gateway-key: one FILE is needed, and no --config; see --help');
    for (const key of await gatewayKeys(file, values.list !== true))
      process.stdout.write(`${JSON.stringify(key)}\n`);
    return 0;
  }
  if (command === 'backup' || command === 'restore') {
    if (values.config === undefined) throw new UsageError(`${command}: --config FILE is needed`);
    if (command === 'backup') return backUpTo(values.config, [values.output, file].filter(Boolean));
    if (file === undefined || rest.length || values.output !== undefined)
      throw new UsageError('restore: one BACKUP is needed; see --help');
    return restoreFrom(values.config, file);
  }
  if (values.output !== undefined) throw new UsageError('--output belongs to backup; see --help');
  if (command !== undefined) throw new UsageError(`unknown command '${command}'; see --help`);
  if (values.list) throw new UsageError('--list belongs to gateway-key; see --help');
  if (values.config === undefined) throw new UsageError('--config FILE is needed; see --help');
  const wrong = wrongFormat(values);
  if (wrong) throw new UsageError(wrong);
  if (values.check) {
    const report = await checkEdge(values.config, { createCore: load, loadDapModule });
    return report.print('shoal-edge', values.config, values.format);
  }
  const drainS = drainOf(values.drain);
  if (drainS === null) throw new UsageError('--drain: whole seconds up to 3600 are needed');
  const path = values.config;
  const reloads = new Reloads('shoal-edge', () => readConfig(path));
  const config = await reloads.first();
  const edge = await startEdge(config, { createCore: load, loadDapModule, reloads });
  closeOnSignal(edge, drainS);
  reloads.start(edge.reload, { isWatched: values.watch });
  process.stderr.write(`shoal-edge: listening on ${config.host}:${edge.port}\n`);
  return null;
}

main().then(
  (code) => {
    if (code !== null) process.exitCode = code;
  },
  (error) => {
    const what = error.code === 'ENOENT' ? `${error.path}: there is no such file` : error.message;
    process.stderr.write(`shoal-edge: ${what}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  },
);
