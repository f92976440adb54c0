// SPDX-License-Identifier: Apache-2.0
// The file of an edge's backup: named pieces one after another, with a checksum over all of it. The
// layout is that of `shoal store backup`, under another magic:
//
//     8 bytes   "shoaleb1"
//     8 bytes   seconds since 1970 at which the backup began
//     pieces    2 bytes length of the name, the name, 8 bytes length, the bytes
//     2 bytes   0: no piece follows
//     32 bytes  SHA-256 of everything before
//
// Numbers are little-endian.

import { createHash } from 'node:crypto';
import { link, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { flushDir } from './spool_files.js';

/** @typedef {{name: string, bytes: Uint8Array}} Piece */

const MAGIC = 'shoaleb1';
const HEAD = 16;
const DIGEST = 32;
const NAME_MAX = 256;

/**
 * Writes a backup with mode 0600. It appears under its name when it is complete and on the disk.
 * @param {string} path  must not exist
 * @param {number} timeS
 * @param {(add: (piece: Piece) => Promise<void>) => Promise<void>} fill
 */
export async function writeBackup(path, timeS, fill) {
  const work = `${path}.partial`;
  await unlink(work).catch(() => {}); // what a killed backup left
  const file = await open(work, 'wx', 0o600);
  const sha = createHash('sha256');
  const put = async (/** @type {Uint8Array} */ bytes) => {
    sha.update(bytes);
    await file.writeFile(bytes); // at the file's position
  };
  try {
    const head = Buffer.alloc(HEAD);
    head.write(MAGIC, 'latin1');
    head.writeBigUInt64LE(BigInt(timeS), 8);
    await put(head);
    await fill(async ({ name, bytes }) => {
      const about = Buffer.alloc(2 + Buffer.byteLength(name) + 8);
      about.writeUInt16LE(Buffer.byteLength(name), 0);
      about.write(name, 2);
      about.writeBigUInt64LE(BigInt(bytes.length), about.length - 8);
      await put(about);
      await put(bytes);
    });
    await put(Buffer.alloc(2));
    await file.writeFile(sha.digest());
    await file.sync();
    await link(work, path).catch((error) => {
      throw error.code === 'EEXIST' ? existing(path) : error;
    });
  } finally {
    await file.close();
    await unlink(work).catch(() => {});
  }
  await flushDir(dirname(path));
}

/** @param {string} path */
export const existing = (path) =>
  new Error(`${path}: exists; a backup replaces nothing, choose another name`);

/**
 * Reads a backup, after its checksum was compared, piece by piece.
 * @param {string} path
 * @param {(piece: Piece) => Promise<void>} take
 * @returns {Promise<number>} when it was made, seconds since 1970
 */
export async function readBackup(path, take) {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const head = await read(file, path, 0, Math.min(HEAD, size));
    if (head.length < HEAD || head.toString('latin1', 0, 7) !== MAGIC.slice(0, 7))
      throw new Error(`${path}: this is no backup of an edge`);
    if (head[7] !== MAGIC.charCodeAt(7))
      throw new Error(`${path}: a newer shoal-edge wrote this backup`);
    await checkDigest(file, path, size - DIGEST);
    for (let at = HEAD; ;) {
      const length = (await read(file, path, at, 2)).readUInt16LE(0);
      if (length === 0) break;
      if (length > NAME_MAX) throw new Error(`${path}: a name is too long`);
      const about = await read(file, path, at + 2, length + 8);
      const n = Number(about.readBigUInt64LE(length));
      if (n > size) throw new Error(`${path}: the backup is cut off`);
      at += 2 + length + 8;
      await take({ name: about.toString('utf8', 0, length), bytes: await read(file, path, at, n) });
      at += n;
    }
    return Number(head.readBigUInt64LE(8));
  } finally {
    await file.close();
  }
}

/**
 * @param {import('node:fs/promises').FileHandle} file
 * @param {string} path @param {number} at @param {number} n
 */
async function read(file, path, at, n) {
  const bytes = Buffer.alloc(n);
  const { bytesRead } = await file.read(bytes, 0, n, at);
  if (bytesRead !== n) throw new Error(`${path}: the backup is cut off`);
  return bytes;
}

/**
 * @param {import('node:fs/promises').FileHandle} file
 * @param {string} path @param {number} length  of what has the checksum
 */
async function checkDigest(file, path, length) {
  const sha = createHash('sha256');
  for (let at = 0; at < length; at += 1 << 20)
    sha.update(await read(file, path, at, Math.min(1 << 20, length - at)));
  if (length < HEAD + 2 || !sha.digest().equals(await read(file, path, length, DIGEST)))
    throw new Error(`${path}: the checksum is wrong: the backup was changed or cut off`);
}
