#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The command `shoal-verify`, which `shoal verify` runs.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { EXIT_USAGE } from '../report.js';
import { UsageError } from '../setup.js';
import { verify } from '../verify.js';

const HELP = `usage: shoal verify URL [OPTION]...
       shoal verify --config FOLDER [URL] [OPTION]...

Checks an installation while it runs: the page at URL, its policy and the files of the client, the
edge worker, a relay, the log, and the aggregator. Says of each check whether it is right, wrong, or
could not be made, and how to mend what is wrong. A probe then goes the whole way: a report of the
recipe shoal-probe, which is about nobody, made and sent by the real client and followed by counts.

  -c, --config FOLDER            the folder that shoal init wrote, or a file in it: configurations
                                 are checked too, and their tokens and secrets are used, not shown
      --edge URL                 the edge worker, where the page does not say it
      --aggregator URL           the aggregator; without it the check ends at the edge
      --relay URL                the relay, where the page does not say it
      --client URL               the folder of the client's files, where the page does not say it
      --edge-token-file FILE     admin token of the edge worker: its counts are read
      --aggregator-token-file FILE   admin token of the aggregator
      --visitors N               visitors a day: whether the recipes' minimums are reached
      --no-client                does not compare the client's files, which a bundler may have merged
      --browser PATH             the browser, of the Chromium family; found by itself as a rule
      --no-browser               plain HTTP, and the client in this process
      --no-probe                 sends no report
      --patience SECONDS         how long the probe is followed, default 30
      --format FORMAT            text (default) or json (docs/schema/verify.schema.json)
      --version                  the version
  -h, --help                     this text

Exit codes: 0 all right, 1 something wrong, 2 usage, 3 nothing wrong but something could not be
checked. Certificates of an authority of your own: NODE_EXTRA_CA_CERTS=FILE.

example: shoal verify https://www.example.org/ --config .
`;

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        config: { type: 'string', short: 'c' },
        edge: { type: 'string' },
        aggregator: { type: 'string' },
        relay: { type: 'string' },
        client: { type: 'string' },
        'edge-token-file': { type: 'string' },
        'aggregator-token-file': { type: 'string' },
        visitors: { type: 'string' },
        browser: { type: 'string' },
        'no-browser': { type: 'boolean' },
        'no-client': { type: 'boolean' },
        'no-probe': { type: 'boolean' },
        patience: { type: 'string' },
        format: { type: 'string' },
        version: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    const [what] = /** @type {Error} */ (error).message.split('. '); // advice on '--' follows
    throw new UsageError(`${what}; see --help`);
  }
}

/** @param {string | undefined} text @param {string} option @param {number} most */
function whole(text, option, most) {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!/^\d+(\.\d+)?(e\d)?$/.test(text) || number < 1 || number > most)
    throw new UsageError(`${option}: a number from 1 to ${most} is needed`);
  return number;
}

async function main() {
  const { values, positionals } = readArguments();
  if (values.help) return void process.stdout.write(HELP);
  if (values.version) {
    const about = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    return void process.stdout.write(`shoal-verify ${JSON.parse(about).version}\n`);
  }
  if (positionals.length > 1) throw new UsageError('one URL is needed; see --help');
  const [url] = positionals;
  if (url === undefined && values.config === undefined)
    throw new UsageError('a URL or --config FOLDER is needed; see --help');
  if (!['text', 'json'].includes(values.format ?? 'text'))
    throw new UsageError('--format: text or json is needed; see --help');
  const { report, target, how } = await verify({
    url,
    config: values.config,
    edge: values.edge,
    aggregator: values.aggregator,
    relay: values.relay,
    client: values.client,
    edgeTokenFile: values['edge-token-file'],
    aggregatorTokenFile: values['aggregator-token-file'],
    visitors: whole(values.visitors, '--visitors', 1e9),
    browser: values.browser,
    noBrowser: values['no-browser'],
    noClient: values['no-client'],
    noProbe: values['no-probe'],
    patienceS: whole(values.patience, '--patience', 3600),
  });
  process.stdout.write(
    values.format === 'json'
      ? `${JSON.stringify(report.toJson(target, how))}\n`
      : report.toText(target, how),
  );
  process.exitCode = report.exitCode;
}

main().catch((error) => {
  process.stderr.write(`shoal-verify: ${error.message}\n`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : 1;
});
