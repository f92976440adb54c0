// SPDX-License-Identifier: Apache-2.0
// Files of a spool, written durably and completely or not at all.

import { open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** @typedef {import('node:fs/promises').FileHandle} FileHandle */

/**
 * Makes a file under another name, flushes and renames it, and flushes the folder. If that fails,
 * the file is removed: a full disk gets its room back.
 * @param {string} path
 * @param {(file: FileHandle) => Promise<void>} fill
 * @returns {Promise<FileHandle>} open for reading and writing
 */
export async function makeFile(path, fill) {
  const file = await open(`${path}.tmp`, 'w+', 0o600);
  try {
    await fill(file);
    await file.sync();
    await rename(`${path}.tmp`, path);
    await flushDir(dirname(path));
  } catch (error) {
    await file.close();
    await unlink(`${path}.tmp`).catch(() => {});
    throw error;
  }
  return file;
}

/** Writes a whole file durably, or nothing. @param {string} path @param {Uint8Array} bytes */
export async function writeWhole(path, bytes) {
  const file = await makeFile(path, (made) => made.writeFile(bytes));
  await file.close();
}

/** @param {string} path @returns {Promise<Buffer | null>} null if there is no such file */
export async function readOptional(path) {
  try {
    return await readFile(path);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
    throw error;
  }
}

/** Windows has no folders to flush. @param {string} path */
export async function flushDir(path) {
  if (process.platform === 'win32') return;
  const dir = await open(path, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}
