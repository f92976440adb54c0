// SPDX-License-Identifier: Apache-2.0
// SHA-256 and HMAC on Node in single calls, where the runtime has them: an object for each digest
// costs more than the digest. Digests are strings of one byte a character on their way, because
// those cost half of what buffers cost.

import * as crypto from 'node:crypto';

const BLOCK = 64;
const DIGEST = 32;
const oneCall =
  /** @type {{hash?: (name: string, data: Uint8Array | string, as: 'hex' | 'binary') => string}} */ (
    /** @type {unknown} */ (crypto)
  ).hash;

/** @type {(data: Uint8Array | string, as: 'hex' | 'binary') => string} */
const sha256As =
  oneCall === undefined
    ? (data, as) => crypto.createHash('sha256').update(data).digest(as)
    : (data, as) => oneCall('sha256', data, as);

/** SHA-256 in hexadecimal digits. @param {Uint8Array} bytes */
export const sha256Hex = (bytes) => sha256As(bytes, 'hex');

/** SHA-256 of bytes, or of text in UTF-8. @param {Uint8Array | string} data */
export const sha256 = (data) => Buffer.from(sha256As(data, 'binary'), 'latin1');

/**
 * HMAC-SHA-256 of parts one after the other.
 * @param {Uint8Array} key  at most 64 bytes
 * @param {Uint8Array[]} parts
 */
export function hmac(key, ...parts) {
  let size = BLOCK;
  for (const part of parts) size += part.length;
  const inner = Buffer.allocUnsafe(size).fill(0x36, 0, BLOCK);
  const outer = Buffer.allocUnsafe(BLOCK + DIGEST).fill(0x5c, 0, BLOCK);
  for (let i = 0; i < key.length; i++) {
    inner[i] ^= key[i];
    outer[i] ^= key[i];
  }
  let at = BLOCK;
  for (const part of parts) {
    inner.set(part, at);
    at += part.length;
  }
  outer.write(sha256As(inner, 'binary'), BLOCK, 'latin1');
  return sha256(outer);
}

/**
 * Returns HMAC-SHA-256 under a key that is used again.
 * @param {Uint8Array} key
 * @returns {(text: string) => Buffer}
 */
export function hmacUnder(key) {
  const inner = padded(key, 0x36);
  const outer = Buffer.concat([padded(key, 0x5c), Buffer.alloc(DIGEST)]);
  return (text) => {
    outer.write(
      sha256As(Buffer.concat([inner, Buffer.from(text)]), 'binary'),
      BLOCK,
      DIGEST,
      'latin1',
    );
    return sha256(outer);
  };
}

/** The key as a block, with each byte changed. @param {Uint8Array} key @param {number} byte */
function padded(key, byte) {
  const block = Buffer.alloc(BLOCK);
  block.set(key.length > BLOCK ? sha256(key) : key);
  return block.map((each) => each ^ byte);
}
