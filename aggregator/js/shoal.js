#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The `shoal` command under Node: its files, its pipes, its exit code. Programs of their own come
// first, then the native command where its package is installed, then the WebAssembly module.
import { runCommand } from './command.js';
import { externalOf, runExternal } from './external.js';
import { runInit } from './init.js';
import { findInPath, findNative, runNative } from './native.js';

/** @param {string[]} args @returns {Promise<number>} the exit code */
async function run(args) {
  const external = externalOf(args);
  if (external) return runExternal(external);
  const native = findNative() ?? (args[0] === 'serve' ? findInPath() : null);
  if (native !== null) return runNative(native, args);
  if (args[0] === 'serve') {
    process.stderr.write(
      'shoal: serve: needs the native program, and none is installed\n' +
        'On Linux (x64) install the release file shoal-linux-x64 of the same version. Elsewhere put a\n' +
        '`shoal` of your own into PATH, or use the container. A trial needs neither: npm run dev\n',
    );
    return 1;
  }
  return args[0] === 'init' ? runInit(args.slice(1)) : runCommand(args);
}

process.exit(await run(process.argv.slice(2)));
