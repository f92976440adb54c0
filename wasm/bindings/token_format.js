// SPDX-License-Identifier: Apache-2.0
// The bytes of Privacy Pass tokens of type 2 (RFC 9578, blind RSA), which device and edge share: a
// token's parts, the challenge that it answers, and the issuer's public key. Depends on
// SubtleCrypto alone.
//
// A key belongs to one recipe and one UTC day. The challenge (RFC 9577 section 2.1) names the
// issuer's host and binds the token to both once more: its redemption context is the SHA-256 of
// "shoal token 1", the recipe's hash in hex and the day, with a line feed between two. It names no origin, because the edge of a
// site may have several.

export const TOKEN_TYPE = 2;
export const TOKEN_SIZE = 354;
export const MODULUS_SIZE = 256; // bytes: keys have 2,048 bits
/** Bytes of a token that its authenticator signs: type, nonce, challenge digest, key id. */
export const INPUT_SIZE = 98;

// RFC 9578 section 8.2.2 has keys as a SubjectPublicKeyInfo of RSASSA-PSS with SHA-384, MGF1 of
// SHA-384, a salt of 48 bytes and the exponent 65,537. All bytes but the modulus are constant: 81
// before it and 5 after it.
export const SPKI_SIZE = 342;

/** The modulus of a public key. @param {Uint8Array} spki */
export const modulusOf = (spki) => spki.slice(-5 - MODULUS_SIZE, -5);

/** @param {string} hex */
export const fromHex = (hex) =>
  Uint8Array.from(/** @type {string[]} */ (hex.match(/../g)), (byte) => parseInt(byte, 16));

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

/** Concatenates bytes; of a number that is larger, the last byte. @param {(Uint8Array | number[])[]} parts */
export const concat = (...parts) => new Uint8Array(parts.flatMap((part) => [...part]));

/** @param {Uint8Array} bytes @param {string} [hash] */
export const digest = async (bytes, hash = 'SHA-256') =>
  new Uint8Array(await crypto.subtle.digest(hash, /** @type {any} */ (bytes)));

/**
 * Returns the SHA-256 of the challenge that tokens of a recipe and day answer.
 * @param {string} issuer  base URL, as the recipe has it
 * @param {string} recipe  hash, hex
 * @param {number} day  UTC days since 1970
 */
export async function challengeDigest(issuer, recipe, day) {
  const utf8 = (/** @type {string} */ text) => new TextEncoder().encode(text);
  const name = utf8(new URL(issuer).host); // the URL has 200 bytes at most
  const context = await digest(utf8(`shoal token 1\n${recipe}\n${day}`));
  return digest(concat([0, TOKEN_TYPE, 0, name.length], name, [32], context, [0, 0]));
}

/**
 * Returns the idempotency key of the report that spends the token with this nonce: 32 hex digits.
 * @param {Uint8Array} nonce
 */
export const reportKey = async (nonce) => toHex(await digest(nonce)).slice(0, 32);
