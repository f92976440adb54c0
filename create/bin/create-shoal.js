#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// `npm init shoal` runs this: `shoal init`, the same code as everywhere, as WebAssembly. It asks on
// a terminal; what follows `--` on npm's command line are its options.
import { runInit } from 'shoal-aggregator/init';

process.exit(await runInit(process.argv.slice(2)));
