// SPDX-License-Identifier: Apache-2.0
// Compares the files that a live site serves with those that were published.
import { hashOf, pageFiles } from './file_hashes.js';

const FILE_MAX = 16 << 20; // bytes of one file; the largest published one has a hundredth
const PATIENCE_MS = 30_000;

/**
 * @typedef {'same' | 'differs' | 'missing' | 'unreachable'} State
 * @typedef {{file: string, state: State, why?: string}} Compared
 * @typedef {import('./file_hashes.js').Manifest} Manifest
 */

/** Reads a body up to a limit. @param {Response} response */
async function bytesOf(response) {
  const parts = [];
  let size = 0;
  for await (const part of /** @type {AsyncIterable<Uint8Array>} */ (
    /** @type {unknown} */ (response.body)
  ) ?? []) {
    size += part.length;
    if (size > FILE_MAX) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/**
 * @param {typeof fetch} fetch
 * @param {URL} url
 * @param {string} hash
 * @returns {Promise<{state: State, why?: string}>}
 */
async function compareOne(fetch, url, hash) {
  try {
    // As a browser that was never here would: a cache of ours must not answer.
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(url, { cache: 'no-store', signal });
    if (response.status === 404 || response.status === 410) return { state: 'missing' };
    if (!response.ok) return { state: 'unreachable', why: `status ${response.status}` };
    const bytes = await bytesOf(response);
    if (!bytes) return { state: 'differs', why: `more than ${FILE_MAX} bytes` };
    const found = hashOf(bytes);
    return found === hash ? { state: 'same' } : { state: 'differs', why: found };
  } catch (error) {
    const { message, cause } = /** @type {any} */ (error);
    return { state: 'unreachable', why: cause?.code ?? message };
  }
}

/**
 * Fetches each file that a page loads from a folder of a site, and compares.
 * @param {Manifest} manifest
 * @param {URL} base with a slash at its end
 * @param {typeof fetch} fetch
 * @returns {Promise<Compared[]>}
 */
export async function compareSite(manifest, base, fetch) {
  const results = [];
  for (const file of pageFiles(manifest))
    results.push({ file, ...(await compareOne(fetch, new URL(file, base), manifest.files[file])) });
  return results;
}

/**
 * The exit code: 0, all are as published; 1, one differs or is missing; 5, one could not be fetched,
 * so nothing is known of it.
 * @param {Compared[]} results
 */
export function exitCodeOf(results) {
  const has = (/** @type {State} */ state) => results.some((each) => each.state === state);
  if (has('differs') || has('missing')) return 1;
  return has('unreachable') || results.length === 0 ? 5 : 0;
}
