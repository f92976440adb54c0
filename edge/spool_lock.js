// SPDX-License-Identifier: Apache-2.0
// Keeps a second process out of a spool.

import { createHash } from 'node:crypto';
import { realpath, unlink } from 'node:fs/promises';
import { connect, createServer as createLock } from 'node:net';
import { join } from 'node:path';

/**
 * Keeps a second process out of a spool: a socket in the folder, which the kernel closes with its
 * owner.
 * @param {string} spool
 * @returns {Promise<() => Promise<void>>}
 */
export async function lockSpool(spool) {
  const path = await lockPath(spool);
  for (let attempt = 0; attempt < 2; attempt++) {
    const server = createLock((socket) => socket.destroy());
    const error = await new Promise((resolve) => {
      server.once('error', resolve);
      server.listen(path, () => resolve(null));
    });
    if (error === null) {
      server.unref();
      return () => new Promise((resolve) => server.close(() => resolve()));
    }
    if (error.code !== 'EADDRINUSE') throw error;
    if (await answers(path)) throw new Error(`another shoal-edge uses the spool ${spool}`);
    await unlink(path);
  }
  throw new Error(`cannot lock the spool ${spool}`);
}

/**
 * Returns the path of the lock's socket. A socket's path is limited to some 100 bytes, so a longer
 * one goes to the folder of temporary files.
 * @param {string} spool
 */
async function lockPath(spool) {
  const path = join(await realpath(spool), 'lock');
  if (Buffer.byteLength(path) < 100) return path;
  return join(
    '/tmp',
    `shoal-edge-${createHash('sha256').update(path).digest('hex').slice(0, 16)}.lock`,
  );
}

/** @param {string} path @returns {Promise<boolean>} */
function answers(path) {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve((socket.destroy(), true)));
    socket.once('error', () => resolve(false));
  });
}
