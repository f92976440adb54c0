// SPDX-License-Identifier: Apache-2.0
// `run` for Node, with the module from the package's own file.
import { readFile } from 'node:fs/promises';
import { run as runModule } from './run.js';

/** @type {Promise<WebAssembly.Module> | undefined} */
let compiled;

/** The compiled command. @returns {Promise<WebAssembly.Module>} */
export const loadModule = async () =>
  WebAssembly.compile(await readFile(new URL('../dist/shoal.wasm', import.meta.url)));

/**
 * Runs a command as run.js does. The module may be left out and is then compiled once.
 * @param {string[]} args
 * @param {Omit<import('./run.js').RunOptions, 'module'> & {module?: WebAssembly.Module}} [options]
 * @returns {Promise<import('./run.js').RunResult>}
 */
export async function run(args, options = {}) {
  compiled ??= options.module ? undefined : loadModule();
  const module = options.module ?? (await /** @type {Promise<WebAssembly.Module>} */ (compiled));
  return runModule(args, { ...options, module });
}
