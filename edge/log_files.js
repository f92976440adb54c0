// SPDX-License-Identifier: Apache-2.0
// Serves the folder of a log (c2sp.org/tlog-tiles): the signed head, tiles, bundles of entries, and
// the two files that say where entries lie. Only these names are looked up, so that no path of a
// request reaches a file system, and nothing of the request is read but its path.

import { EdgeError } from './errors.js';

/** @typedef {(path: string) => Promise<Uint8Array | null>} ReadLog a file of the log, or null */

/** A full tile or a part of one: of up to 10^15 entries, as devices read them. */
const TILE =
  /^tile\/(?:entries|[0-5]?\d|6[0-3])\/(?:x\d{3}\/){0,4}\d{3}(?:\.p\/(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-5]))?$/;
const TYPES = new Map([
  ['checkpoint', 'text/plain; charset=utf-8'],
  ['keys', 'application/json'],
  ['index', 'application/json'],
]);
const FOREVER = 'public, max-age=31536000, immutable';
const SHORTLY = 'public, max-age=10';

/** Bytes of the longest file, a bundle of 256 entries. */
export const LOG_FILE_MAX = 256 * (2 + 65_535);

/**
 * Answers a GET of a file of the log.
 * @param {string} path  below /log/
 * @param {ReadLog} read
 * @returns {Promise<{status: number, headers: Record<string, string>, body: Uint8Array}>}
 */
export async function getLogFile(path, read) {
  const isTile = TILE.test(path) && !/^tile\/0\d/.test(path);
  const type = isTile ? 'application/octet-stream' : TYPES.get(path);
  const body = type === undefined ? null : await read(path);
  if (type === undefined || body === null || body.length > LOG_FILE_MAX)
    throw new EdgeError('route');
  const headers = { 'Content-Type': type, 'Cache-Control': isTile ? FOREVER : SHORTLY };
  return { status: 200, headers, body };
}

/**
 * Reads a log from a binding of workerd: static assets, or a KV namespace.
 * @param {any} binding  a Fetcher, or a KVNamespace; undefined: there is no log
 * @returns {ReadLog | undefined}
 */
export function bindingLog(binding) {
  if (binding === undefined) return undefined;
  if (typeof binding.fetch !== 'function')
    return async (path) => {
      const bytes = await binding.get(path, 'arrayBuffer');
      return bytes === null ? null : new Uint8Array(bytes);
    };
  return async (path) => {
    // The request is made here, so that nothing of the device's travels with it.
    const response = await binding.fetch(`https://log/${path}`);
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
  };
}
