// SPDX-License-Identifier: Apache-2.0
// What tokens.js asks of cryptography, under Node in single calls, which take half of the time.

import { KeyObject, constants, verify } from 'node:crypto';
import { INPUT_SIZE, TOKEN_SIZE } from 'shoal-client/token-format';
import { sha256Hex } from './digest.js';

const SALT = 48;
/** @type {WeakMap<CryptoKey, import('node:crypto').VerifyKeyObjectInput>} */
const made = new WeakMap();

/** @param {CryptoKey} key */
function verifierOf(key) {
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return { key: KeyObject.from(/** @type {any} */ (key)), padding, saltLength: SALT };
}

/** @param {Uint8Array} bytes */
const bufferOf = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** @type {import('./tokens.js').TokenCrypto} */
export const tokenCrypto = {
  tokenOf(header) {
    const [, text] = /^PrivateToken +token="([\w-]{472})"$/i.exec(header) ?? [];
    const token = text === undefined ? null : Buffer.from(text, 'base64url');
    return token?.length === TOKEN_SIZE ? token : null;
  },
  reportKey: (nonce) => sha256Hex(nonce).slice(0, 32),
  toHex: (bytes) => bufferOf(bytes).toString('hex'),
  isSigned(key, token) {
    let verifier = made.get(key);
    if (verifier === undefined) made.set(key, (verifier = verifierOf(key)));
    return verify('sha384', token.subarray(0, INPUT_SIZE), verifier, token.subarray(INPUT_SIZE));
  },
};
