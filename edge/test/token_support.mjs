// SPDX-License-Identifier: Apache-2.0
// What the tests of spending share: keys, an issuer's directory, and tokens that are signed at once, without blinding.

import assert from 'node:assert/strict';
import { constants, createHash, createPrivateKey, randomBytes, sign } from 'node:crypto';
import { makeKey } from '../../issuer/rsa_node.js';
import { directoryOf } from '../../issuer/signing_keys.js';
import { challengeDigest } from 'shoal-client/token-format';
import { DAY_MS, makeRecipe, newRecord, reportInit } from './support.mjs';

export const ISSUER = 'https://issuer.example';
export const today = () => Math.floor(Date.now() / DAY_MS);

/** A recipe whose reports spend tokens. */
export const makeTokenRecipe = ({ send = {}, ...change } = {}) =>
  makeRecipe({ send: { token: ISSUER, delay_s: 0, ...send }, ...change });

const made = [];

/** The keys of a recipe and days, with what signs tokens of each. Keys are made once for all. */
export async function keysFor(recipe, days) {
  const keys = [];
  for (const day of days) {
    const name = `${recipe.hash} ${day}`;
    let key = made.find((one) => one.name === name);
    if (key === undefined) {
      const stored = await makeKey({ recipe: recipe.hash, per_day: 1, day });
      const spki = Buffer.from(stored.public_key, 'base64');
      const der = Buffer.from(stored.private_key, 'base64');
      key = {
        name,
        recipe: recipe.hash,
        day,
        perDay: 1,
        spki: new Uint8Array(spki),
        id: createHash('sha256').update(spki).digest(),
        privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
      };
      made.push(key);
    }
    keys.push(key);
  }
  return keys;
}

/** The directory of keys, as the issuer publishes it. */
export const directoryFor = (keys) => directoryOf(keys, `${ISSUER}/token-request`, 0);

/** A token of a key, as RFC 9578 has it. */
export async function newToken(key, { type = 2, challenge } = {}) {
  const digest = challenge ?? (await challengeDigest(ISSUER, key.recipe, key.day));
  const input = Buffer.concat([Uint8Array.of(0, type), randomBytes(32), digest, key.id]);
  const { privateKey } = key;
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const signature = sign('sha384', input, { key: privateKey, padding, saltLength: 48 });
  assert.equal(signature.length, 256);
  return Buffer.concat([input, signature]);
}

export const keyOfToken = (token) =>
  createHash('sha256').update(token.subarray(2, 34)).digest('hex').slice(0, 32);

export const headerOf = (token) => `PrivateToken token="${token.toString('base64url')}"`;

/** A POST of a report that spends a token. */
export const tokenInit = (recipe, token, text = newRecord(recipe), headers = {}) =>
  reportInit(recipe.report(text), keyOfToken(token), {
    Authorization: headerOf(token),
    ...headers,
  });
