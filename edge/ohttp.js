// SPDX-License-Identifier: Apache-2.0
// The gateway's side of Oblivious HTTP (RFC 9458): its keys, and what opens a request and seals its
// answer. HPKE is @hpke/core's. The routes and limits are gateway.js's.

import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { concat } from 'shoal-client/binary-http';
import {
  ENC,
  HEADER,
  NONCE,
  RESPONSE_LABEL,
  TAG,
  configurationOf,
  headerOf,
  infoOf,
  responseCipher,
} from 'shoal-client/encapsulation';
import { fromHex, toHex as hexOf } from 'shoal-client/token-format';

/**
 * @typedef {object} KeyPair  a key of the gateway
 * @property {number} id  0 to 255
 * @property {CryptoKeyPair} pair
 * @property {Uint8Array} configuration  as RFC 9458 section 3.1 writes it
 *
 * @typedef {object} Opened
 * @property {Uint8Array} message  a binary HTTP request
 * @property {(response: Uint8Array) => Uint8Array | Promise<Uint8Array>} seal  of its one answer
 */

export { hexOf };

const SECRET = 32; // bytes of a private key

const suite = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

/**
 * Reads a list of keys, as `shoal-edge gateway-key` keeps it.
 * @param {unknown} list  [{"id", "secret"}], secret: 64 hex digits
 * @returns {Promise<KeyPair[]>}  rejects with a sentence that holds no secret
 */
export async function keysOf(list) {
  if (!Array.isArray(list) || list.length === 0)
    throw new Error('gateway keys: a list of {"id", "secret"} is needed');
  /** @type {KeyPair[]} */
  const keys = [];
  for (const { id, secret, ...more } of list) {
    const isGood =
      Number.isInteger(id) && id >= 0 && id < 256 && /^[0-9a-f]{64}$/.test(secret ?? '');
    if (!isGood || Object.keys(more).length)
      throw new Error('gateway keys: each is {"id": 0 to 255, "secret": 64 hex digits}');
    if (keys.some((key) => key.id === id)) throw new Error(`gateway keys: ${id} is there twice`);
    keys.push(await keyOfSecret(id, fromHex(secret)));
  }
  return keys;
}

/** @param {number} id @param {Uint8Array} secret @returns {Promise<KeyPair>} */
async function keyOfSecret(id, secret) {
  const { kem } = suite;
  const privateKey = await kem.deserializePrivateKey(secret);
  // The library derives the public key of a pair that has none; this does so once and not a request.
  const jwk = /** @type {JsonWebKey} */ (await crypto.subtle.exportKey('jwk', privateKey));
  const raw = atob(String(jwk.x).replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(raw, (c) => c.charCodeAt(0));
  const publicKey = await kem.deserializePublicKey(bytes);
  return {
    id,
    pair: { privateKey, publicKey },
    configuration: configurationOf({ id, publicKey: bytes }),
  };
}

/** Draws the secret of a new key, hex. */
export const newSecret = () => hexOf(crypto.getRandomValues(new Uint8Array(SECRET)));

/**
 * The list of key configurations that clients fetch, application/ohttp-keys.
 * @param {KeyPair[]} keys
 */
export const keyListOf = (keys) =>
  concat(
    ...keys.flatMap(({ configuration }) => [
      [configuration.length >> 8, configuration.length & 255],
      configuration,
    ]),
  );

/**
 * Opens an encapsulated request.
 * @param {KeyPair[]} keys
 * @param {Uint8Array} bytes
 * @param {(n: number) => Uint8Array} [random]  of the answer's nonce
 * @returns {Promise<Opened | null>}  null if it is not sealed to one of the keys
 */
export async function openRequest(keys, bytes, random = randomBytes) {
  const header = bytes.subarray(0, HEADER);
  const key = keys.find(({ id }) => id === bytes[0]);
  if (!key || bytes.length < HEADER + ENC + TAG || hexOf(header) !== hexOf(headerOf(key.id)))
    return null;
  const enc = bytes.slice(HEADER, HEADER + ENC);
  let context;
  let message;
  try {
    context = await suite.createRecipientContext({
      recipientKey: key.pair,
      enc,
      info: infoOf(header),
    });
    message = new Uint8Array(await context.open(bytes.slice(HEADER + ENC)));
  } catch {
    return null;
  }
  const secret = await context.export(RESPONSE_LABEL, NONCE);
  /** @param {Uint8Array} response */
  const seal = async (response) => {
    const nonce = random(NONCE);
    return concat(nonce, await responseCipher('encrypt', secret, enc, nonce, response));
  };
  return { message, seal };
}

/** @param {number} n */
const randomBytes = (n) => crypto.getRandomValues(new Uint8Array(n));
