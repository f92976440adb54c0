// SPDX-License-Identifier: Apache-2.0
// Writes and reads tar archives (ustar) whose bytes depend on the names, modes and contents of their
// files and on one time alone. npm's own differ with its version.
import { gunzipSync, gzipSync } from 'node:zlib';

const BLOCK = 512;
/** @typedef {{data: Buffer, mode?: number}} Entry `mode` is 0o644 by default */

/** @param {number} value @param {number} size */
const octal = (value, size) => value.toString(8).padStart(size - 1, '0') + '\0';

/** @param {string} path @returns {[name: string, prefix: string]} */
function split(path) {
  if (Buffer.byteLength(path) <= 100) return [path, ''];
  const at = path.lastIndexOf('/', 155);
  const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
  if (at < 0 || Buffer.byteLength(name) > 100) throw new Error(`${path}: too long for an archive`);
  return [name, prefix];
}

/** @param {string} path @param {Entry} entry @param {number} time seconds since 1970 */
function header(path, { data, mode = 0o644 }, time) {
  const [name, prefix] = split(path);
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  block.write(octal(mode, 8) + octal(0, 8) + octal(0, 8), 100);
  block.write(octal(data.length, 12) + octal(time, 12), 124);
  block.write(`${' '.repeat(8)}0`, 148); // the sum counts its own field as spaces
  block.write('ustar\x0000', 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/**
 * A gzipped archive.
 * @param {Map<string, Entry>} files by path
 * @param {number} time seconds since 1970, that of all files
 */
export function makeTarball(files, time) {
  const blocks = [...files.keys()].sort().flatMap((path) => {
    const entry = /** @type {Entry} */ (files.get(path));
    const rest = Buffer.alloc((BLOCK - (entry.data.length % BLOCK)) % BLOCK);
    return [header(path, entry, time), entry.data, rest];
  });
  const packed = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 });
  packed[9] = 0xff; // the system that packed it: unknown
  return packed;
}

/** The plain files of a gzipped archive, by path. @param {Buffer} tarball @returns {Map<string, Entry>} */
export function readTarball(tarball) {
  const bytes = gunzipSync(tarball);
  const text = (/** @type {number} */ at, /** @type {number} */ size) =>
    bytes.toString('utf8', at, at + size).replace(/\0.*$/s, '');
  /** @type {Map<string, Entry>} */
  const files = new Map();
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0;) {
    const size = parseInt(text(at + 124, 12), 8);
    const prefix = text(at + 257, 5) === 'ustar' ? text(at + 345, 155) : '';
    const path = prefix ? `${prefix}/${text(at, 100)}` : text(at, 100);
    const start = at + BLOCK;
    if (!(size >= 0) || start + size > bytes.length) throw new Error(`${path}: the archive is cut`);
    if ('\x000'.includes(String.fromCharCode(bytes[at + 156])))
      files.set(path, {
        data: bytes.subarray(start, start + size),
        mode: parseInt(text(at + 100, 8), 8),
      });
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
