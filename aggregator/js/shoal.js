#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The `shoal` command under Node: real files, real pipes, its exit code. It may read and write what
// this process may.
import { readFile } from 'node:fs/promises';
import { externalOf, runExternal } from './external.js';
import { findNative, runNative } from './native.js';

const native = findNative();
if (native !== null) process.exit(await runNative(native, process.argv.slice(2)));

const external = externalOf(process.argv.slice(2));
if (external) process.exit(await runExternal(external));
// The `shoal` command under Node: its files, its pipes, its exit code.
import { runCommand } from './command.js';
import { runInit } from './init.js';

const [name, ...args] = process.argv.slice(2);
process.exit(name === 'init' ? await runInit(args) : await runCommand(process.argv.slice(2)));
