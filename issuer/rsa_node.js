// SPDX-License-Identifier: Apache-2.0
// The private-key operation on Node, and new keys.

import { constants, createPrivateKey, generateKeyPair, privateDecrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { spkiOf, toBase64 } from './signing_keys.js';

const MODULUS_BITS = 2048;

/** @type {import('./signing_keys.js').OpenKey} */
export async function openKeyInNode(privateKey) {
  const key = createPrivateKey({
    key: Buffer.from(privateKey),
    format: 'der',
    type: 'pkcs8',
  });
  // A decryption without padding is the bare operation, which a blind signature is.
  return async (message) => {
    await new Promise((resolve) => setImmediate(resolve)); // others get a turn between signatures
    return new Uint8Array(
      privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, Buffer.from(message)),
    );
  };
}

/**
 * Makes a key.
 * @param {{recipe: string, per_day: number, day: number}} of
 * @returns {Promise<import('./signing_keys.js').StoredKey>}
 */
export async function makeKey({ recipe, per_day, day }) {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: MODULUS_BITS,
    publicExponent: 65537,
  });
  const { n = '' } = privateKey.export({ format: 'jwk' });
  return {
    recipe,
    per_day,
    day,
    public_key: toBase64(spkiOf(new Uint8Array(Buffer.from(n, 'base64url')))),
    private_key: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  };
}
