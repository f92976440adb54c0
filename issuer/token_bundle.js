// SPDX-License-Identifier: Apache-2.0
// Reads the request for a bundle of tokens: what a device sends in one POST for one UTC day. All
// integers are big-endian:
//
//     version 1 (1 byte), day (4), number of recipes (2), and for each recipe
//         its hash (32), number of tokens (2), and for each token a TokenRequest of RFC 9578
//             type 2 (2), the last byte of the key's id (1), blinded message (256)
//
// Recipes are in ascending order of their hashes, each once. The answer is the blind signatures in
// the same order, 256 bytes each. Depends on nothing.

export const MESSAGE_SIZE = 256;
/** The most tokens of a bundle. */
export const TOKENS_MAX = 256;

const VERSION = 1;
const TOKEN_TYPE = 2;
const HEAD_SIZE = 7;
const PART_SIZE = 34;
const REQUEST_SIZE = 3 + MESSAGE_SIZE;

/** The most bytes of a request: every recipe takes at least one token. */
export const BUNDLE_SIZE_MAX = HEAD_SIZE + TOKENS_MAX * (PART_SIZE + REQUEST_SIZE);

/**
 * @typedef {object} Part  what is asked for one recipe
 * @property {string} recipe  hash, hex
 * @property {number[]} keyIds  of each token, the last byte of the id of the key
 * @property {Uint8Array[]} messages  blinded
 *
 * @typedef {{day: number, parts: Part[]}} BundleRequest
 */

/**
 * @param {Uint8Array} bytes
 * @returns {BundleRequest | null}  null for anything but exactly one request
 */
export function readBundle(bytes) {
  if (bytes.length < HEAD_SIZE || bytes.length > BUNDLE_SIZE_MAX || bytes[0] !== VERSION)
    return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  /** @type {Part[]} */
  const parts = [];
  let at = HEAD_SIZE;
  let tokens = 0;
  for (let left = view.getUint16(5); left > 0; left--) {
    if (bytes.length - at < PART_SIZE) return null;
    const recipe = toHex(bytes.subarray(at, at + 32));
    const count = view.getUint16(at + 32);
    at += PART_SIZE;
    tokens += count;
    const last = parts.at(-1);
    if (count === 0 || tokens > TOKENS_MAX || (last && last.recipe >= recipe)) return null;
    if (bytes.length - at < count * REQUEST_SIZE) return null;
    /** @type {Part} */
    const part = { recipe, keyIds: [], messages: [] };
    for (let i = 0; i < count; i++, at += REQUEST_SIZE) {
      if (view.getUint16(at) !== TOKEN_TYPE) return null;
      part.keyIds.push(bytes[at + 2]);
      part.messages.push(bytes.slice(at + 3, at + REQUEST_SIZE));
    }
    parts.push(part);
  }
  return at === bytes.length && tokens > 0 ? { day: view.getUint32(1), parts } : null;
}

/** @param {Uint8Array} bytes */
function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
