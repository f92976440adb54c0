// SPDX-License-Identifier: Apache-2.0
// Loads the core, with every mechanism, in Node from the files of this package.
import { readFile } from 'node:fs/promises';
import { Core } from './core.js';

/** @returns {Promise<WebAssembly.Module>} */
export const loadModule = async () =>
  WebAssembly.compile(await readFile(new URL('../dist/shoal-all.wasm', import.meta.url)));

/** What recipes of two servers need besides. @returns {Promise<WebAssembly.Module>} */
export const loadDapModule = async () =>
  WebAssembly.compile(await readFile(new URL('../dist/shoal-dap.wasm', import.meta.url)));

/** @returns {Promise<Core>} a fresh instance with no recipes */
export const load = async () => Core.create(await loadModule());
