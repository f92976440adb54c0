// SPDX-License-Identifier: Apache-2.0
// The hashes of the files that a package publishes, as browsers write them (Subresource Integrity).
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} Manifest dist/hashes.json
 * @property {1} schema another number means that members have changed
 * @property {string} package
 * @property {string} version
 * @property {{[file: string]: string}} files by path, `sha384-` and the base64 of the hash. A name
 *   without a folder is a file that a page loads
 */

/** The name of a manifest in its folder. */
export const MANIFEST = 'hashes.json';

/** @param {Uint8Array} bytes */
export const hashOf = (bytes) => `sha384-${createHash('sha384').update(bytes).digest('base64')}`;

/** Files below a folder, their paths sorted. @param {string} folder @returns {string[]} */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/**
 * Makes the manifest of a folder. The manifest itself is not in it.
 * @param {string} folder
 * @param {{name: string, version: string}} about of package.json
 * @returns {Manifest}
 */
export function manifestOf(folder, { name, version }) {
  const files = filesOf(folder).filter((path) => path !== MANIFEST);
  return {
    schema: 1,
    package: name,
    version,
    files: Object.fromEntries(
      files.map((path) => [path, hashOf(readFileSync(join(folder, path)))]),
    ),
  };
}

/** @param {unknown} json @returns {Manifest} */
export function readManifest(json) {
  const given = /** @type {any} */ (json);
  const files = given?.files;
  if (given?.schema !== 1 || typeof files !== 'object' || files === null)
    throw new Error('not a manifest of schema 1');
  for (const [path, hash] of Object.entries(files))
    if (
      !/^[\w./-]+$/.test(path) ||
      path.split('/').includes('..') ||
      !/^sha384-[\w+/]{64}$/.test(String(hash))
    )
      throw new Error(`not a manifest: ${JSON.stringify(path)}`);
  if (Object.keys(files).length === 0) throw new Error('a manifest without files');
  return given;
}

/** The files that a page loads: modules and WebAssembly in the folder itself. @param {Manifest} manifest */
export const pageFiles = (manifest) =>
  Object.keys(manifest.files).filter((path) => /^[^/]+\.(js|wasm)$/.test(path));
