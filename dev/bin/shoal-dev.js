#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The command `shoal-dev`: runs a folder's collection on this machine until Ctrl-C.
import { readFileSync } from 'node:fs';
import { FolderError } from '../folder.js';
import { findProgram, platformPackage } from '../native.js';
import { HELP, UsageError, readOptions } from '../options.js';
import { startTrial } from '../trial_run.js';

const WIDTH = 'aggregator'.length;

/** @param {{who: string, text: string}} told */
const print = ({ who, text }) => process.stdout.write(`  ${who.padEnd(WIDTH)}  ${text}\n`);

/** @param {import('../options.js').Options} options */
async function programOf({ isNative }) {
  if (!isNative) return null;
  const program = await findProgram();
  if (program !== null) return program;
  throw new UsageError(
    `--native: there is no program shoal in PATH, and no package ${platformPackage()}; leave --native out, or install it`,
  );
}

/** @param {Awaited<ReturnType<typeof startTrial>>} trial */
function introduce({ url, folder, way }) {
  const { recipes, left } = folder;
  const lines = [
    `shoal-dev: a trial of ${folder.path}, on this machine only`,
    '',
    `  open        ${url}`,
    `  the way     page -> ${way.relay ? `relay ${way.relay} -> ` : ''}edge ${way.endpoint} -> aggregator`,
    ...recipes.map(
      ({ id, json, changes }) =>
        `  recipe      ${id}, tried as ${json.recipe}: no delay, small batches${changes.map((each) => `; ${each}`).join('')}`,
    ),
    ...left.map(({ file, why }) => `  not tried   ${file}: ${why}`),
    '',
    'The crowd is simulated. Nothing is kept after Ctrl-C.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return;
  }
  if (options === 'version') {
    const about = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    process.stdout.write(`shoal-dev ${JSON.parse(about).version}\n`);
    return;
  }
  const program = await programOf(options);
  /** What happens before the introduction is printed after it. @type {any[] | null} */
  let early = [];
  const trial = await startTrial({ ...options, program }, (told) =>
    early === null ? print(told) : void early.push(told),
  );
  introduce(trial);
  const waiting = early;
  early = null;
  waiting.forEach(print);
  let isStopping = false;
  const stop = () => {
    if (isStopping) process.exit(1); // a second Ctrl-C does not wait
    isStopping = true;
    process.stdout.write('\nshoal-dev: stops, and removes what it kept\n');
    trial.close().then(
      () => process.exit(0),
      (error) => {
        process.stderr.write(`shoal-dev: ${error.message}\n`);
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'])
    if (signal !== 'SIGBREAK' || process.platform === 'win32')
      process.on(/** @type {NodeJS.Signals} */ (signal), stop);
}

main().catch((error) => {
  const isTaken = error.code === 'EADDRINUSE';
  const what = isTaken
    ? `port ${error.port} is taken; choose another by --port, or leave it out`
    : error.message;
  process.stderr.write(`shoal-dev: ${what}\n`);
  if (!(error instanceof UsageError || error instanceof FolderError || isTaken))
    process.stderr.write(`${error.stack}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
