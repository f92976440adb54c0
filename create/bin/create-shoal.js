#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// `npm init shoal` runs this: `shoal init`, the same code as everywhere, as WebAssembly. It asks on
// a terminal; what follows `--` on npm's command line are its options.
import { readFileSync } from 'node:fs';
import { runInit } from 'shoal-aggregator/init';

const args = process.argv.slice(2);
if (args.length === 1 && args[0] === '--version') {
  const about = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  process.stdout.write(`create-shoal ${JSON.parse(about).version}\n`);
} else {
  process.exit(await runInit(args));
}
