// SPDX-License-Identifier: Apache-2.0
// Loads the core in a page or a worker: it fetches and compiles the module, and does nothing else.
import { Core } from './core.js';

/**
 * @param {string | URL} url of the module
 * @param {typeof fetch} [fetcher]
 * @returns {Promise<WebAssembly.Module>}
 */
export async function loadModule(url, fetcher = fetch) {
  const response = await fetcher(url, { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`shoal.wasm: HTTP ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

/**
 * Loads a fresh instance with every mechanism and without recipes.
 * @param {string | URL} [url] where shoal-all.wasm lies; beside this file by default
 * @param {typeof fetch} [fetcher]
 * @returns {Promise<Core>}
 */
export const load = async (url = new URL('./shoal-all.wasm', import.meta.url), fetcher = fetch) =>
  Core.create(await loadModule(url, fetcher));
