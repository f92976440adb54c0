// SPDX-License-Identifier: Apache-2.0
// The device's side of blind RSA signatures, RFC 9474's RSABSSA-SHA384-PSS-Deterministic with keys of
// 2,048 bits: encode and blind, unblind and verify. Pure functions: salt and blind are arguments. A
// part of the chunk of tokens.js.
//
// BigInt takes a time that depends on its numbers. They are a message that is random (its nonce) and
// a blind that is used once, on the device that drew them, and nothing of an event enters.
import { MODULUS_SIZE, concat, digest, fromHex, toHex } from '../bindings/token_format.js';

export const SALT_SIZE = 48;
const HASH_SIZE = 48;
const DB_SIZE = MODULUS_SIZE - HASH_SIZE - 1;
const E = 65537n;

/** @param {Uint8Array} bytes */
const toInt = (bytes) => BigInt(`0x${toHex(bytes)}`);

/** @param {bigint} int */
const toBytes = (int) => fromHex(int.toString(16).padStart(2 * MODULUS_SIZE, '0'));

/** @param {bigint} base @param {bigint} n */
function power(base, n) {
  let result = base;
  for (let i = 16; i--;) result = (result * result) % n;
  return (result * base) % n; // E is 2^16 + 1
}

/**
 * Returns the inverse of a modulo n; some other number where there is none, with which no signature
 * verifies.
 * @param {bigint} a
 * @param {bigint} n
 * @returns {bigint}
 */
const inverse = (a, n) => (a > 1n ? n - (inverse(n % a, a) * n) / a : a);

/**
 * Encodes a message by EMSA-PSS (RFC 8017 section 9.1.1).
 * @param {Uint8Array} message
 * @param {Uint8Array} salt  48 bytes
 */
async function encode(message, salt) {
  const sha = (/** @type {(Uint8Array | number[])[]} */ ...parts) =>
    digest(concat(...parts), 'SHA-384');
  const hash = await sha(new Uint8Array(8), await sha(message), salt);
  const db = concat(new Uint8Array(DB_SIZE - 1 - SALT_SIZE), [1], salt);
  for (let i = 0; i * HASH_SIZE < DB_SIZE; i++) {
    const mask = await sha(hash, [0, 0, 0, i]);
    mask.forEach((byte, at) => (db[i * HASH_SIZE + at] ^= byte)); // beyond the end nothing is set
  }
  db[0] &= 127;
  return toInt(concat(db, hash, [0xbc]));
}

/**
 * Blinds a message.
 * @param {Uint8Array} modulus  256 bytes
 * @param {Uint8Array} message
 * @param {Uint8Array} salt  48 random bytes
 * @param {Uint8Array} blind  256 random bytes
 * @returns {Promise<Uint8Array | null>}  null if the blind is not below the modulus: draw another one
 */
export async function blinded(modulus, message, salt, blind) {
  const n = toInt(modulus);
  const r = toInt(blind);
  return r < n ? toBytes(((await encode(message, salt)) * power(r, n)) % n) : null;
}

/**
 * Unblinds a signature, with the arguments of blinded().
 * @param {Uint8Array} modulus
 * @param {Uint8Array} message
 * @param {Uint8Array} salt
 * @param {Uint8Array} blind
 * @param {Uint8Array} signature  256 bytes, of the blinded message
 * @returns {Promise<Uint8Array | null>}  the message's signature; null if it is none
 */
export async function unblinded(modulus, message, salt, blind, signature) {
  const n = toInt(modulus);
  const signed = (toInt(signature) * inverse(toInt(blind), n)) % n;
  return power(signed, n) === (await encode(message, salt)) ? toBytes(signed) : null;
}
