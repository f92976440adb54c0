// SPDX-License-Identifier: Apache-2.0
// The issuer's keys: one a recipe and UTC day. The key file has the private ones. The directory
// (RFC 9578 section 4) has the public ones, and so has the key list of the log, by their SHA-256. No
// part of a runtime is needed but SubtleCrypto.

import { TOKENS_MAX } from './token_bundle.js';

export const DAY_MS = 86_400_000;
const MODULUS_SIZE = 256;
const TOKEN_TYPE = 2;

// A public key as RFC 9578 section 8.2.2 has it: RSASSA-PSS with SHA-384, MGF1 of SHA-384, a salt of
// 48 bytes, and the exponent 65,537. All bytes but the modulus are constant.
const HEAD =
  '30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d' +
  '010108300b0609608648016503040202a2030201300382010f003082010a0282010100';
const TAIL = '0203010001';
const SPKI_SIZE = (HEAD.length + TAIL.length) / 2 + MODULUS_SIZE;

/**
 * @typedef {object} StoredKey  an entry of the key file
 * @property {string} recipe  hash, hex
 * @property {number} per_day  tokens that an account gets
 * @property {number} day  UTC days since 1970, on which its tokens are spent
 * @property {string} public_key  base64
 * @property {string} private_key  PKCS #8, base64
 *
 * @typedef {object} Signer  makes the blind signatures of one key
 * @property {string} recipe
 * @property {number} day
 * @property {number} perDay
 * @property {Uint8Array} spki
 * @property {Uint8Array} id  SHA-256 of the public key
 * @property {(message: Uint8Array) => Uint8Array | Promise<Uint8Array>} sign  of a blinded message
 *   below the modulus
 *
 * @typedef {(privateKey: Uint8Array) => Promise<Signer['sign']>} OpenKey  the runtime's back end,
 *   given a key in PKCS #8
 */

/** @param {string} hex */
const fromHex = (hex) =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

/** @param {Uint8Array} bytes */
export const toHex = (bytes) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** @param {string} text */
const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** @param {Uint8Array} bytes */
export const toBase64 = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(''));

/** @param {Uint8Array} bytes */
export const sha256 = async (bytes) =>
  new Uint8Array(
    await crypto.subtle.digest(
      'SHA-256',
      /** @type {BufferSource} */ (/** @type {unknown} */ (bytes)),
    ),
  );

/** The public key with a modulus. @param {Uint8Array} modulus  256 bytes */
export const spkiOf = (modulus) => fromHex(HEAD + toHex(modulus) + TAIL);

/** The modulus of a public key. @param {Uint8Array} spki */
const modulusOf = (spki) => spki.subarray(HEAD.length / 2, SPKI_SIZE - TAIL.length / 2);

/** Is a blinded message below the key's modulus? @param {Uint8Array} message @param {Signer} signer */
export function isBelow(message, { spki }) {
  const modulus = modulusOf(spki);
  const at = message.findIndex((byte, i) => byte !== modulus[i]);
  return at >= 0 && message[at] < modulus[at];
}

/**
 * Reads a key file, and checks every entry.
 * @param {any} json
 * @param {OpenKey} openKey
 * @returns {Promise<Signer[]>}  rejects with a sentence that names the entry
 */
export async function openKeys(json, openKey) {
  if (!Array.isArray(json?.keys)) throw new Error('keys: a list of keys is needed');
  /** @type {Signer[]} */
  const signers = [];
  for (const [i, stored] of json.keys.entries()) {
    try {
      signers.push(await openOne(stored, openKey));
    } catch (error) {
      throw new Error(`keys.${i}: ${/** @type {Error} */ (error).message}`, { cause: error });
    }
  }
  const names = signers.map(({ recipe, day }) => `${day} ${recipe}`);
  if (new Set(names).size < names.length)
    throw new Error('keys: two keys of one recipe and day would tell accounts from each other');
  checkBundles(signers);
  return signers;
}

/** Refuses days with more tokens than a bundle holds. @param {{day: number, perDay: number}[]} keys */
export function checkBundles(keys) {
  for (const day of new Set(keys.map((key) => key.day))) {
    const tokens = keys.reduce((sum, key) => sum + (key.day === day ? key.perDay : 0), 0);
    if (tokens > TOKENS_MAX)
      throw new Error(
        `keys: day ${day} has ${tokens} tokens an account, ${TOKENS_MAX} at most in a bundle`,
      );
  }
}

/** @param {any} stored @param {OpenKey} openKey @returns {Promise<Signer>} */
async function openOne(stored, openKey) {
  const { recipe, per_day: perDay, day, public_key: publicKey, private_key: privateKey } = stored;
  if (!/^[0-9a-f]{64}$/.test(recipe)) throw new Error('recipe: a hash of 64 hex digits is needed');
  if (!Number.isInteger(day) || day < 0) throw new Error('day: days since 1970 are needed');
  if (!Number.isInteger(perDay) || perDay < 1) throw new Error('per_day: a number > 0 is needed');
  const spki = fromBase64(publicKey);
  const hex = toHex(spki);
  if (spki.length !== SPKI_SIZE || !hex.startsWith(HEAD) || !hex.endsWith(TAIL))
    throw new Error('public_key: a key of 2,048 bits for RSASSA-PSS is needed');
  const sign = await openKey(fromBase64(privateKey));
  return { recipe, day, perDay, spki, id: await sha256(spki), sign };
}

/** The keys of a day, in the order of the recipes. @param {Signer[]} signers @param {number} day */
export const signersOf = (signers, day) =>
  signers.filter((signer) => signer.day === day).sort((a, b) => (a.recipe < b.recipe ? -1 : 1));

/**
 * Returns the directory of keys from a day on. Beside the members of RFC 9578, each key has its
 * recipe, its day and how many tokens an account gets.
 * @param {Signer[]} signers
 * @param {string} url  that takes requests
 * @param {number} from  day
 */
export function directoryOf(signers, url, from) {
  const keys = signers
    .filter(({ day }) => day >= from)
    .sort((a, b) => a.day - b.day || (a.recipe < b.recipe ? -1 : 1))
    .map(({ recipe, day, perDay, spki }) => ({
      'token-type': TOKEN_TYPE,
      'token-key': toBase64(spki).replaceAll('+', '-').replaceAll('/', '_'),
      'not-before': (day * DAY_MS) / 1000,
      recipe,
      day,
      'per-day': perDay,
    }));
  return { 'issuer-request-uri': url, 'token-keys': keys };
}

/**
 * Returns the part `tokens` of the log's key list (docs/formats.md).
 * @param {Signer[]} signers
 * @param {number} from  day
 */
export const listOf = (signers, from) =>
  signers
    .filter(({ day }) => day >= from)
    .sort((a, b) => a.day - b.day || (a.recipe < b.recipe ? -1 : 1))
    .map(({ recipe, day, id }) => ({ recipe, day, key: toHex(id) }));
