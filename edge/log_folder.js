// SPDX-License-Identifier: Apache-2.0
// Reads a log from a folder, on Node.

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { LOG_FILE_MAX } from './log_files.js';

/**
 * Reads files of a folder. Answers that are on their way share the bytes of a file, so that many slow
 * readers of a long one take its memory once.
 * @param {string} folder
 * @returns {import('./log_files.js').ReadLog}
 */
export function folderLog(folder) {
  /** @type {Map<string, WeakRef<Promise<Uint8Array>>>} */
  const known = new Map();
  /** @type {WeakMap<Uint8Array, Promise<Uint8Array>>} */
  const readings = new WeakMap();
  const gone = new FinalizationRegistry((/** @type {string} */ key) => {
    if (!known.get(key)?.deref()) known.delete(key);
  });
  /** @param {string} key @param {() => Promise<Uint8Array>} read */
  const shared = (key, read) => {
    const found = known.get(key)?.deref();
    if (found) return found;
    const reading = read();
    known.set(key, new WeakRef(reading));
    gone.register(reading, key);
    reading.then(
      (bytes) => readings.set(bytes, reading), // it lives for as long as its bytes
      () => known.delete(key),
    );
    return reading;
  };
  return async (path) => {
    const file = await open(join(folder, path), 'r').catch(() => null);
    if (file === null) return null;
    try {
      const about = await file.stat({ bigint: true });
      if (!about.isFile() || about.size > LOG_FILE_MAX) return null;
      return await shared(`${path} ${about.ino} ${about.mtimeNs} ${about.size}`, () =>
        file.readFile(),
      );
    } finally {
      await file.close();
    }
  };
}
