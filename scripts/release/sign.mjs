// SPDX-License-Identifier: Apache-2.0
// SHA256SUMS of a release and its Ed25519 signature, as openssl checks them:
//   openssl pkeyutl -verify -pubin -inkey shoal-release.pem -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {import('node:crypto').KeyObject} KeyObject */

/** The key of a file that only its owner can read. @param {string} path @returns {KeyObject} */
export function readKey(path) {
  const { mode } = statSync(path);
  if (mode & 0o077)
    throw new Error(`${path}: others can read the key that signs releases; chmod 600 it`);
  let key;
  try {
    key = createPrivateKey({
      key: readFileSync(path),
      passphrase: process.env.SHOAL_RELEASE_PASSPHRASE,
    });
  } catch {
    throw new Error(`${path}: no private key in PEM, or SHOAL_RELEASE_PASSPHRASE does not open it`);
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(`${path}: an Ed25519 key is needed, and this is ${key.asymmetricKeyType}`);
  return key;
}

/** What names a key: the SHA-256 of its public part as DER. @param {KeyObject} key */
const fingerprintOf = (key) =>
  createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('hex');

/**
 * Writes the checksums, and who says so; without a key the file's own name says that nobody does.
 * @param {string} out @param {string} sums @param {KeyObject | null} key
 * @returns {string | null} the key's fingerprint
 */
export function signSums(out, sums, key) {
  writeFileSync(join(out, key ? 'SHA256SUMS' : 'SHA256SUMS.unsigned'), sums);
  if (!key) return null;
  writeFileSync(join(out, 'SHA256SUMS.sig'), sign(null, Buffer.from(sums), key));
  const pem = createPublicKey(key).export({ type: 'spki', format: 'pem' });
  writeFileSync(join(out, 'shoal-release.pem'), pem);
  return fingerprintOf(key);
}
