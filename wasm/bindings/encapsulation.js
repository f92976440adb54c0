// SPDX-License-Identifier: Apache-2.0
// What client and gateway of Oblivious HTTP (RFC 9458) have in common: key configurations, the
// header of an encapsulated request, and the keys of a response. One suite: DHKEM(X25519,
// HKDF-SHA256), HKDF-SHA256, AES-128-GCM. HPKE itself is the caller's. Depends on binary_http.js and
// WebCrypto.
import { concat } from './binary_http.js';

/** @typedef {{id: number, publicKey: Uint8Array}} GatewayKey */

const KEM = 32;
const SUITE = [0, KEM, 0, 1, 0, 1]; // the numbers of KEM, KDF and AEAD
const KEY = 32; // bytes of a public key
export const HEADER = 7; // bytes: the key's id and the suite
export const ENC = 32; // bytes of an encapsulated secret
export const NONCE = 16; // bytes: the larger of the AEAD's key and nonce
export const TAG = 16; // bytes that sealing adds

const ascii = (/** @type {string} */ text) => new TextEncoder().encode(text);

/** What a response's secret is exported for. */
export const RESPONSE_LABEL = /* @__PURE__ */ ascii('message/bhttp response');

/**
 * Writes a key configuration with the one suite.
 * @param {GatewayKey} key
 */
export const configurationOf = ({ id, publicKey }) =>
  concat([id], SUITE.slice(0, 2), publicKey, [0, 4], SUITE.slice(2));

/**
 * Reads a key configuration; null if it does not offer the suite.
 * @param {Uint8Array} bytes exactly one configuration
 * @returns {GatewayKey | null}
 */
export function keyOf(bytes) {
  const pairs = 5 + KEY; // of a KDF and an AEAD
  const isWhole = bytes[1] * 256 + bytes[2] === KEM && bytes[pairs - 1] === bytes.length - pairs;
  for (let i = pairs; isWhole && i + 4 <= bytes.length; i += 4)
    if (String(bytes.subarray(i, i + 4)) === '0,1,0,1')
      return { id: bytes[0], publicKey: bytes.slice(3, 3 + KEY) };
  return null;
}

/** Opens a request that is sealed to the key. @param {number} id */
export const headerOf = (id) => concat([id], SUITE);

/** The `info` of HPKE. @param {Uint8Array} header */
export const infoOf = (header) => concat(ascii('message/bhttp request'), [0], header);

/**
 * Seals a response, or opens one.
 * @param {'encrypt' | 'decrypt'} use
 * @param {BufferSource} secret 16 bytes, exported from the request's HPKE context
 * @param {Uint8Array} enc of the request
 * @param {Uint8Array} nonce the first 16 bytes of the sealed response
 * @param {Uint8Array} bytes
 * @returns {Promise<Uint8Array>}
 */
export async function responseCipher(use, secret, enc, nonce, bytes) {
  const { subtle } = crypto;
  const prk = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits']);
  const salt = concat(enc, nonce);
  const bits = (/** @type {string} */ info, /** @type {number} */ length) =>
    subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info: ascii(info) }, prk, length);
  const name = 'AES-GCM';
  const key = await subtle.importKey('raw', await bits('key', 128), name, false, [use]);
  const iv = await bits('nonce', 96);
  return new Uint8Array(await subtle[use]({ name, iv }, key, /** @type {BufferSource} */ (bytes)));
}
