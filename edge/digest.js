// SPDX-License-Identifier: Apache-2.0
// SHA-256 and HMAC on Node in single calls, where the runtime has them: an object for each digest
// costs more than the digest.

import * as crypto from 'node:crypto';

const BLOCK = 64;
const oneCall = /** @type {{hash?: (name: string, data: Uint8Array, as: 'hex') => string}} */ (
  /** @type {unknown} */ (crypto)
).hash;

/** SHA-256 in hexadecimal digits. @type {(bytes: Uint8Array) => string} */
export const sha256Hex =
  oneCall === undefined
    ? (bytes) => crypto.createHash('sha256').update(bytes).digest('hex')
    : (bytes) => oneCall('sha256', bytes, 'hex');

/**
 * Returns HMAC-SHA-256 under a key.
 * @param {Uint8Array} key
 * @returns {(text: string) => Buffer}
 */
export function hmacUnder(key) {
  const inner = padded(key, 0x36);
  const outer = Buffer.concat([padded(key, 0x5c), Buffer.alloc(32)]);
  return (text) => {
    outer.write(sha256Hex(Buffer.concat([inner, Buffer.from(text)])), BLOCK, 'hex');
    return Buffer.from(sha256Hex(outer), 'hex');
  };
}

/** The key as a block, with each byte changed. @param {Uint8Array} key @param {number} byte */
function padded(key, byte) {
  const block = Buffer.alloc(BLOCK);
  block.set(key.length > BLOCK ? Buffer.from(sha256Hex(key), 'hex') : key);
  return block.map((each) => each ^ byte);
}
