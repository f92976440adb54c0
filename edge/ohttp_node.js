// SPDX-License-Identifier: Apache-2.0
// Opens sealed requests under Node as ohttp.js does everywhere, by node:crypto in single calls: HPKE
// in its base mode (RFC 9180 sections 4 and 5.1), and the answer's key (RFC 9458 section 4.4).
// WebCrypto makes an object and a turn of the event loop of each of these steps, which together cost
// more than the cryptography.

import {
  KeyObject,
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  randomFillSync,
} from 'node:crypto';
import {
  ENC,
  HEADER,
  NONCE,
  RESPONSE_LABEL,
  TAG,
  headerOf,
  infoOf,
} from 'shoal-client/encapsulation';
import { hmac } from './digest.js';

/** @typedef {import('./ohttp.js').KeyPair} KeyPair */

const CIPHER = 'aes-128-gcm';
const KEY = 16; // bytes of the AEAD's key
const IV = 12;
const NOTHING = Buffer.alloc(0);
const LAST = Buffer.of(1); // ends what HKDF expands to one block

const VERSION = Buffer.from('HPKE-v1');
const KEM_SUITE = Buffer.from('4b454d0020', 'hex'); // "KEM", DHKEM(X25519, HKDF-SHA256)
const SUITE = Buffer.from('48504b45002000010001', 'hex'); // "HPKE", the KEM, HKDF-SHA256, AES-128-GCM

/** LabeledExtract's text before the keying material. @param {Buffer} suite @param {string} label */
const extracts = (suite, label) => Buffer.concat([VERSION, suite, Buffer.from(label)]);

/** LabeledExpand's text before its info. @param {number} n @param {Buffer} suite @param {string} label */
const expands = (n, suite, label) => Buffer.concat([Buffer.of(0, n), extracts(suite, label)]);

const LABELS = {
  prk: extracts(KEM_SUITE, 'eae_prk'),
  shared: expands(32, KEM_SUITE, 'shared_secret'),
  psk: extracts(SUITE, 'psk_id_hash'),
  info: extracts(SUITE, 'info_hash'),
  secret: extracts(SUITE, 'secret'),
  key: expands(KEY, SUITE, 'key'),
  iv: expands(IV, SUITE, 'base_nonce'),
  exporter: expands(32, SUITE, 'exp'),
  response: Buffer.concat([expands(NONCE, SUITE, 'sec'), RESPONSE_LABEL]),
  responseKey: Buffer.from('key'),
  responseIv: Buffer.from('nonce'),
};

/**
 * @typedef {object} NodeKey  what does not change from request to request
 * @property {KeyObject} secret
 * @property {Uint8Array} publicKey
 * @property {Buffer} header
 * @property {Buffer} context  of HPKE's key schedule
 */

/** @type {WeakMap<KeyPair, NodeKey>} */
const made = new WeakMap();

/** @param {KeyPair} key @returns {NodeKey} */
function nodeKeyOf(key) {
  const header = Buffer.from(headerOf(key.id));
  const info = hmac(NOTHING, LABELS.info, infoOf(header));
  return {
    secret: KeyObject.from(/** @type {any} */ (key.pair.privateKey)),
    publicKey: key.configuration.subarray(3, 3 + ENC), // after its id and the KEM's number
    header,
    context: Buffer.concat([Buffer.of(0), hmac(NOTHING, LABELS.psk), info]),
  };
}

/**
 * Opens an encapsulated request, as openRequest of ohttp.js does.
 * @param {KeyPair[]} keys
 * @param {Uint8Array} bytes
 * @param {(n: number) => Uint8Array} [random]  of the answer's nonce
 * @returns {import('./ohttp.js').Opened | null}
 */
export function openRequest(keys, bytes, random = randomBytes) {
  const pair = keys.find(({ id }) => id === bytes[0]);
  if (!pair || bytes.length < HEADER + ENC + TAG) return null;
  let key = made.get(pair);
  if (key === undefined) made.set(pair, (key = nodeKeyOf(pair)));
  const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (sealed.compare(key.header, 0, HEADER, 0, HEADER) !== 0) return null;
  const enc = sealed.subarray(HEADER, HEADER + ENC);
  try {
    const shared = decapsulated(key, enc);
    const secret = hmac(shared, LABELS.secret);
    const message = opened(secret, key.context, sealed.subarray(HEADER + ENC));
    const exporter = hmac(secret, LABELS.exporter, key.context, LAST);
    const exported = hmac(exporter, LABELS.response, LAST).subarray(0, NONCE);
    return { message, seal: (response) => sealedAnswer(exported, enc, random(NONCE), response) };
  } catch {
    return null;
  }
}

/** The secret that the sender encapsulated. Throws for a point of small order. @param {NodeKey} key @param {Buffer} enc */
function decapsulated({ secret, publicKey }, enc) {
  const jwk = { kty: 'OKP', crv: 'X25519', x: enc.toString('base64url') };
  const sender = createPublicKey({ key: jwk, format: 'jwk' });
  const prk = hmac(NOTHING, LABELS.prk, diffieHellman({ privateKey: secret, publicKey: sender }));
  return hmac(prk, LABELS.shared, enc, publicKey, LAST);
}

/** Throws if the text was not sealed by this secret. @param {Buffer} secret @param {Buffer} context @param {Buffer} sealed */
function opened(secret, context, sealed) {
  const key = hmac(secret, LABELS.key, context, LAST).subarray(0, KEY);
  const iv = hmac(secret, LABELS.iv, context, LAST).subarray(0, IV);
  const decipher = createDecipheriv(CIPHER, key, iv);
  const end = sealed.length - TAG;
  decipher.setAuthTag(sealed.subarray(end));
  const message = decipher.update(sealed.subarray(0, end));
  decipher.final(); // compares the tag
  return message;
}

/** @param {Buffer} secret @param {Buffer} enc @param {Uint8Array} nonce @param {Uint8Array} response */
function sealedAnswer(secret, enc, nonce, response) {
  const prk = hmac(Buffer.concat([enc, nonce]), secret);
  const key = hmac(prk, LABELS.responseKey, LAST).subarray(0, KEY);
  const iv = hmac(prk, LABELS.responseIv, LAST).subarray(0, IV);
  const cipher = createCipheriv(CIPHER, key, iv);
  const text = cipher.update(response);
  cipher.final();
  return Buffer.concat([nonce, text, cipher.getAuthTag()]);
}

const pool = Buffer.alloc(4096);
let used = pool.length;

/** Random bytes, of which a call of the system brings many. @param {number} n */
function randomBytes(n) {
  if (used + n > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return Buffer.from(pool.subarray(used, (used += n)));
}
