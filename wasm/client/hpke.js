// SPDX-License-Identifier: Apache-2.0
// HPKE (RFC 9180) as the two servers use it: base mode, X25519, HKDF-SHA256 and AES-128-GCM, by
// @hpke/core over WebCrypto. No other file knows that library; the others take a Sealer. Its
// randomness is WebCrypto's own.
import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';

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
