// SPDX-License-Identifier: Apache-2.0
// Keeps a second process out of a folder of counts, which would answer an account once more.

import { createHash } from 'node:crypto';
import { mkdir, realpath, unlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

const PATH_MAX = 100; // of a socket, about

/**
 * Locks a folder by a socket in it, which the kernel closes with its owner. The folder is made when
 * missing.
 * @param {string} dir
 * @returns {Promise<() => Promise<void>>} unlocks
 */
export async function lockCounts(dir) {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = await socketPath(dir);
  for (let attempt = 0; attempt < 2; attempt++) {
    const server = createServer((socket) => socket.destroy());
    const error = await new Promise((resolve) => {
      server.once('error', resolve);
      server.listen(path, () => resolve(null));
    });
    if (error === null) {
      server.unref();
      return () => new Promise((resolve) => server.close(() => resolve()));
    }
    if (error.code !== 'EADDRINUSE') throw error;
    if (await isAnswered(path)) throw new Error(`another shoal-issuer uses the counts ${dir}`);
    await unlink(path); // its owner was killed
  }
  throw new Error(`cannot lock the counts ${dir}`);
}

/** A path that is too long for a socket is one of temporary files. @param {string} dir */
async function socketPath(dir) {
  const path = join(await realpath(dir), 'lock');
  if (Buffer.byteLength(path) < PATH_MAX) return path;
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join('/tmp', `shoal-issuer-${name}.lock`);
}

/** @param {string} path @returns {Promise<boolean>} */
function isAnswered(path) {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve((socket.destroy(), true)));
    socket.once('error', () => resolve(false));
  });
}
