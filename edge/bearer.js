// SPDX-License-Identifier: Apache-2.0
// Bearer tokens. Only their digests are compared, so that timing reveals nothing about a token.

import { EdgeError } from './errors.js';

/** @typedef {import('./incoming.js').Incoming} Incoming */

/** @param {string} text @returns {Promise<Uint8Array>} */
const digest = async (text) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));

/** @param {Incoming} request */
const authorizationOf = (request) => request.headers.get('authorization') ?? '';

/** The digest by which holderOf finds a token. @param {string} token */
export const tokenDigest = (token) => digest(`Bearer ${token}`);

/**
 * Refuses a request without the token.
 * @param {Incoming} request
 * @param {string} token
 */
export async function requireToken(request, token) {
  if (!isSame(await digest(authorizationOf(request)), await tokenDigest(token)))
    throw new EdgeError('unauthorized');
}

/**
 * Returns whose token the request has; undefined if it is nobody's.
 * @template {{digest: Uint8Array}} T
 * @param {Incoming} request
 * @param {T[]} holders
 * @param {(text: string) => Uint8Array | Promise<Uint8Array>} [digestOf]
 */
export async function holderOf(request, holders, digestOf = digest) {
  const given = await digestOf(authorizationOf(request));
  return holders.filter((holder) => isSame(given, holder.digest))[0];
}

/** @param {Uint8Array} a @param {Uint8Array} b */
function isSame(a, b) {
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i] ^ b[i];
  return difference === 0;
}
