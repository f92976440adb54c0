// SPDX-License-Identifier: Apache-2.0
// The command line of shoal-dev.
import { parseArgs } from 'node:util';

export const HELP = `usage: shoal-dev [DIR] [OPTION]...

Runs the collection of a folder on this machine: edge, relay, aggregator and a trial page with a live
chart that a simulated crowd fills. DIR is a folder that shoal init wrote, or any with recipes/*.json;
the default is the current folder. Everything listens on loopback and is forgotten at the end. Stops on
Ctrl-C.

      --native        run \`shoal serve\` as the aggregator, in place of \`shoal ingest\` and
                      \`shoal estimate\` in WebAssembly
      --port N        of the trial page; the next ports are tried for edge and relay. Default:
                      8480, or a free one where that is taken
      --share X       share of the simulated visitors who do what you do, 0 to 1; default 0.1
      --devices N     simulated visitors at the start, such as 4000 or 10k; default 4000, and
                      20000 where new words are discovered
      --relay         send through the relay; the default where the folder has relay.json
      --no-relay      send to the edge straight
      --no-crowd      simulate no visitors
      --version       the version
  -h, --help          this text
`;

/** A command line that cannot be followed. */
export class UsageError extends Error {}

/**
 * @typedef {object} Options
 * @property {string} folder
 * @property {boolean} isNative
 * @property {number | null} port  null: 8480, or a free one
 * @property {number} share
 * @property {number | null} devices  null: as the kind of each recipe needs
 * @property {boolean | null} relay  null: as the folder has it
 * @property {boolean} hasCrowd
 */

const DEVICES_MAX = 1_000_000;
const UNITS = /** @type {{[unit: string]: number}} */ ({ '': 1, k: 1e3, K: 1e3, M: 1e6 });

/** @param {string} text @returns {number} */
function devicesOf(text) {
  const [, digits, unit] = /^(\d+(?:\.\d+)?(?:e\d)?)([kKM]?)$/.exec(text) ?? [];
  const n = Number(digits) * UNITS[unit];
  if (!Number.isInteger(n) || n < 1 || n > DEVICES_MAX)
    throw new UsageError(
      `--devices ${text}: a whole number from 1 to 1000000 is needed, such as 4000, 10k or 1e5`,
    );
  return n;
}

/** @param {string} text @returns {number} */
function portOf(text) {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new UsageError(`--port ${text}: a port from 1 to 65535 is needed`);
  return port;
}

/** @param {string} text @returns {number} */
function shareOf(text) {
  const share = /^(0|1|0?\.\d+|1\.0*)$/.test(text) ? Number(text) : NaN;
  if (!(share >= 0 && share <= 1))
    throw new UsageError(`--share ${text}: a number from 0 to 1 is needed, such as 0.1`);
  return share;
}

/**
 * @param {string[]} args  what follows the command's name
 * @returns {Options | 'help' | 'version'}
 */
export function readOptions(args) {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  if (values.version) return 'version';
  if (positionals.length > 1) throw new UsageError('one folder is needed at most; see --help');
  if (values.relay && values['no-relay'])
    throw new UsageError('--relay and --no-relay contradict each other; see --help');
  return {
    folder: positionals[0] ?? '.',
    isNative: values.native === true,
    port: values.port === undefined ? null : portOf(values.port),
    share: values.share === undefined ? 0.1 : shareOf(values.share),
    devices: values.devices === undefined ? null : devicesOf(values.devices),
    relay: values.relay ? true : values['no-relay'] ? false : null,
    hasCrowd: values['no-crowd'] !== true,
  };
}

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        native: { type: 'boolean' },
        port: { type: 'string' },
        share: { type: 'string' },
        devices: { type: 'string' },
        relay: { type: 'boolean' },
        'no-relay': { type: 'boolean' },
        'no-crowd': { type: 'boolean' },
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
