// SPDX-License-Identifier: Apache-2.0
// HPKE (RFC 9180) as two servers and a gateway use it: base mode, X25519, HKDF-SHA256 and AES-128-GCM, by
// @hpke/core over WebCrypto. No other file knows that library; the others take a Sealer. Its
// randomness is WebCrypto's own.
import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { concat } from '../bindings/binary_http.js';
import {
  NONCE,
  RESPONSE_LABEL,
  headerOf,
  infoOf,
  responseCipher,
} from '../bindings/encapsulation.js';

/** @typedef {import('../bindings/dap_core.js').Sealer} Sealer */

const suite = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

/** @type {Sealer['seal']} */
async function seal(publicKey, info, aad, plaintext) {
  const recipientPublicKey = await suite.kem.deserializePublicKey(publicKey);
  const { enc, ct } = await suite.seal({ recipientPublicKey, info }, plaintext, aad);
  return { enc: new Uint8Array(enc), ciphertext: new Uint8Array(ct) };
}

/** @type {Sealer} */
export const hpke = { seal };

/**
 * Seals a request to a gateway (RFC 9458 section 4.3). Only the sealing can open the answer.
 * @param {import('../bindings/encapsulation.js').GatewayKey} key
 * @param {Uint8Array} message a binary HTTP request
 * @param {CryptoKeyPair} [ephemeral] of a test
 * @returns {Promise<{body: Uint8Array, open: (answer: Uint8Array) => Promise<Uint8Array>}>}
 */
export async function encapsulate({ id, publicKey }, message, ephemeral) {
  const recipientPublicKey = await suite.kem.deserializePublicKey(publicKey);
  const header = headerOf(id);
  const sender = await suite.createSenderContext({
    recipientPublicKey,
    info: infoOf(header),
    ekm: ephemeral,
  });
  const enc = new Uint8Array(sender.enc);
  const ciphertext = new Uint8Array(await sender.seal(message));
  const secret = await sender.export(RESPONSE_LABEL, NONCE);
  /** @param {Uint8Array} answer */
  const open = (answer) =>
    responseCipher('decrypt', secret, enc, answer.slice(0, NONCE), answer.slice(NONCE));
  return { body: concat(header, enc, ciphertext), open };
}
