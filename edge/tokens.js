// SPDX-License-Identifier: Apache-2.0
// Verifies the token that a report of a recipe with `send.token` spends (RFC 9578 type 2, in the
// header of RFC 9577). It knows public keys, and neither accounts nor what the issuer saw.
//
// Spending needs no store of its own. The report's idempotency key must follow from the token's
// nonce, and the collection's store takes each key once, in the transaction that keeps the report.
// So a retry and a second spend are one key, also where reports go to shards by their keys. The
// store keeps the keys of such a recipe until no token can be spent again (keptMs below).

import {
  INPUT_SIZE,
  MODULUS_SIZE,
  SPKI_SIZE,
  TOKEN_SIZE,
  TOKEN_TYPE,
  challengeDigest,
  digest,
  fromHex,
  modulusOf,
  reportKey,
  toHex,
} from 'shoal-client/token-format';
import { EdgeError } from './errors.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A device's clock may be fast by this much. */
const SKEW_MS = HOUR_MS;
/** How long a device may try to send a report, beside its random delay. */
const GRACE_S = 86_400;

// All bytes of a public key but its modulus.
const HEAD =
  '30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d' +
  '010108300b0609608648016503040202a2030201300382010f003082010a0282010100';
const TAIL = '0203010001';

/**
 * @typedef {object} Spending  what the edge needs of a recipe with tokens
 * @property {string} hash
 * @property {any} json
 *
 * @typedef {{recipe: string, day: number, key: CryptoKey, challenge: Uint8Array}} TokenKey
 *
 * @typedef {object} TokenCrypto
 * @property {(header: string) => Uint8Array | null} tokenOf
 * @property {(nonce: Uint8Array) => string | Promise<string>} reportKey
 * @property {(bytes: Uint8Array) => string} toHex
 * @property {(key: CryptoKey, token: Uint8Array) => boolean | Promise<boolean>} isSigned
 */

/** Does every report of the recipe spend a token? @param {{json?: any}} recipe */
export const spendsTokens = ({ json }) => json?.send?.token !== undefined;

/**
 * Returns how long after the end of its day a token may still be spent. A report waits for a random
 * delay, in a window of a day also for the day's end, and then for the device's next visit.
 * @param {{json?: any}} recipe
 * @param {number} [graceS]  the edge's key_grace_s
 */
function graceMs({ json }, graceS = GRACE_S) {
  const { delay_s: delayS = 86_400, window } = json.send;
  return 1000 * (delayS + graceS) + (window === 'day' ? DAY_MS : 0);
}

/**
 * Returns how long a spent token's key is kept after its batch was forwarded: no token that was
 * spent before then can be spent any more.
 * @param {{json?: any}} recipe
 * @param {number} [graceS]
 */
export const keptMs = (recipe, graceS) => SKEW_MS + DAY_MS + graceMs(recipe, graceS);

/** Verifies tokens under the issuers' public keys. */
export class Tokens {
  /** By key id, hex. @type {Map<string, TokenKey>} */ #keys;
  #graceS;
  /** A host may put faster functions here. @type {TokenCrypto} */
  crypto = { tokenOf, reportKey, toHex, isSigned };

  /** Use Tokens.create. @param {Map<string, TokenKey>} keys @param {number} [graceS] */
  constructor(keys, graceS) {
    this.#keys = keys;
    this.#graceS = graceS;
  }

  /**
   * @param {any} directory  as the issuer publishes it: {"token-keys": [{"token-key", "recipe",
   *   "day"}]}; of several issuers, a list of such
   * @param {Spending[]} recipes  that are collected; keys of others are left out
   * @param {number} [graceS]
   * @returns {Promise<Tokens>}  rejects with a sentence if the directory cannot be read
   */
  static async create(directory, recipes, graceS) {
    /** @type {Map<string, TokenKey>} */
    const keys = new Map();
    const seen = new Set();
    for (const entry of [directory].flat().flatMap((one) => listOf(one))) {
      const { recipe: hash, day, 'token-key': text } = entry ?? {};
      const spki = typeof text === 'string' ? fromBase64Url(text) : null;
      const isKey = spki !== null && isKeyOfTokens(spki);
      if (!isKey || !Number.isInteger(day) || !/^[0-9a-f]{64}$/.test(hash))
        throw new Error(
          'token_keys: a directory of keys is needed, with the recipe and day of each',
        );
      if (seen.size === seen.add(`${day} ${hash}`).size)
        throw new Error('token_keys: two keys of one recipe and day would tell accounts apart');
      const recipe = recipes.find((each) => each.hash === hash);
      if (recipe === undefined) continue;
      keys.set(toHex(await digest(spki)), {
        recipe: hash,
        day,
        key: await importKey(modulusOf(spki)),
        challenge: await challengeDigest(recipe.json.send.token, hash, day),
      });
    }
    return new Tokens(keys, graceS);
  }

  /**
   * Checks a report's token. Each kind of wrong token has an error of its own.
   * @param {Spending} recipe
   * @param {string | null} header  Authorization
   * @param {string} key  the report's idempotency key
   * @param {number} now
   */
  async check(recipe, header, key, now) {
    if (header === null) throw new EdgeError('token-missing');
    const { crypto } = this;
    const token = crypto.tokenOf(header);
    if (token === null) throw new EdgeError('token');
    if (token[0] * 256 + token[1] !== TOKEN_TYPE) throw new EdgeError('token-type');
    if ((await crypto.reportKey(token.subarray(2, 34))) !== key)
      throw new EdgeError('token-report');
    const known = this.#keys.get(crypto.toHex(token.subarray(66, INPUT_SIZE)));
    if (known === undefined) throw new EdgeError('token-key');
    if (known.recipe !== recipe.hash) throw new EdgeError('token-recipe');
    const begins = known.day * DAY_MS;
    if (now < begins - SKEW_MS) throw new EdgeError('token-early');
    if (now >= begins + DAY_MS + graceMs(recipe, this.#graceS))
      throw new EdgeError('token-expired');
    if (known.challenge.some((byte, i) => byte !== token[34 + i]))
      throw new EdgeError('token-challenge');
    if (!(await crypto.isSigned(known.key, token))) throw new EdgeError('token-forged');
  }
}

/**
 * Returns what verifies the tokens of the recipes; undefined if none spends any.
 * @param {any} directory  undefined where none is configured
 * @param {Spending[]} recipes  published
 * @param {number} [graceS]
 */
export async function tokensOf(directory, recipes, graceS) {
  const spending = recipes.filter(spendsTokens);
  if (spending.length === 0) return undefined;
  if (directory === undefined)
    throw new Error(
      `token_keys: recipe ${spending[0].json.recipe} spends tokens, so they are needed`,
    );
  return Tokens.create(directory, spending, graceS);
}

/** @param {any} directory @returns {any[]} */
function listOf(directory) {
  const list = directory?.['token-keys'];
  if (!Array.isArray(list)) throw new Error('token_keys: the list "token-keys" is missing');
  return list;
}

/** @param {Uint8Array} spki */
function isKeyOfTokens(spki) {
  const modulus = modulusOf(spki);
  const isWhole = toHex(spki) === HEAD + toHex(modulus) + TAIL;
  return isWhole && spki.length === SPKI_SIZE && modulus[0] >= 128 && modulus[MODULUS_SIZE - 1] % 2;
}

/**
 * Imports a key by its numbers, because runtimes read no key that is marked as one of RSASSA-PSS.
 * @param {Uint8Array} modulus
 */
export function importKey(modulus) {
  const algorithm = { name: 'RSA-PSS', hash: 'SHA-384' };
  const jwk = { kty: 'RSA', n: toBase64Url(modulus), e: toBase64Url(fromHex('010001')) };
  return crypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify']);
}

/**
 * @param {CryptoKey} key
 * @param {Uint8Array} token
 * @returns {Promise<boolean>}
 */
export const isSigned = (key, token) =>
  crypto.subtle.verify(
    { name: 'RSA-PSS', saltLength: 48 },
    key,
    Uint8Array.from(token.subarray(INPUT_SIZE)),
    Uint8Array.from(token.subarray(0, INPUT_SIZE)),
  );

/**
 * Returns the token of a header `PrivateToken token="<base64url>"`, or null if it is none of this
 * length.
 * @param {string} header
 */
export function tokenOf(header) {
  const [, text] = /^PrivateToken +token="([\w-]{472})"$/i.exec(header) ?? [];
  const token = text === undefined ? null : fromBase64Url(text);
  return token?.length === TOKEN_SIZE ? token : null;
}

/** @param {string} text @returns {Uint8Array<ArrayBuffer> | null} */
function fromBase64Url(text) {
  try {
    const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(bytes, (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

/** @param {Uint8Array} bytes */
const toBase64Url = (bytes) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
