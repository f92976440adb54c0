#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The `shoal` command under Node: its files, its pipes, its exit code. Programs of their own come
// first, then the native command where its package is installed, then the WebAssembly module.
import { runCommand } from './command.js';
import { externalOf, runExternal } from './external.js';
import { runInit } from './init.js';
import { findNative, runNative } from './native.js';

/** @param {string[]} args @returns {Promise<number>} the exit code */
async function run(args) {
  const external = externalOf(args);
  if (external) return runExternal(external);
  const native = findNative();
  if (native !== null) return runNative(native, args);
  return args[0] === 'init' ? runInit(args.slice(1)) : runCommand(args);
}

process.exit(await run(process.argv.slice(2)));
