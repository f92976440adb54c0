// SPDX-License-Identifier: Apache-2.0
// What the tests of tokens share: an issuer in memory, recipes with send.token, and a network of edge and issuer.
import { createHash } from 'node:crypto';
import { handle } from '../../issuer/handler.js';
import { makeKey, openKeyInNode } from '../../issuer/rsa_node.js';
import { listOf, openKeys } from '../../issuer/signing_keys.js';
import { load } from '../bindings/node.js';
import '../client/tokens.js'; // loaded before a page imports it, so that no test waits for the disk
import { DAY, fakeEdge, wordsRecipe } from './fixtures.mjs';

export const ISSUER = 'https://issuer.example/tokens';
export const ORIGIN = 'https://site.example';

/** A recipe whose reports spend tokens. @param {any} [more] */
export const tokenRecipe = ({ send = {}, ...more } = /** @type {any} */ ({})) =>
  wordsRecipe({
    limit: { per_day: 2 },
    send: { fresh: 'allow', delay_s: 0, token: ISSUER, ...send },
    ...more,
  });

/** @param {any} json @returns {Promise<string>} */
export const hashOf = async (json) => (await load()).recipe(json).hash;

/** Keys that were made before, so that few are made. @type {any[]} */
const made = [];

/** Keys of recipes for days. @param {any[]} recipes @param {number[]} days @param {number} [skip] keys of the store that are not used */
export async function signersFor(recipes, days, skip = 0) {
  const keys = [];
  let i = skip;
  for (const json of recipes)
    for (const day of days) {
      made[i] ??= await makeKey({ recipe: '', per_day: 0, day: 0 });
      keys.push({ ...made[i++], recipe: await hashOf(json), per_day: json.limit.per_day, day });
    }
  return openKeys({ keys }, openKeyInNode);
}

/**
 * An issuer that counts in memory.
 * @param {{signers: any[], now: () => number, account?: (request: Request) => any}} options
 */
export function fakeIssuer({ signers, now, account = () => ({ id: 'alice', isReal: true }) }) {
  /** @type {Map<string, string>} */
  const counted = new Map();
  const issuer = {
    signers,
    /** @type {{url: string, method: string, size: number, at: number, body: string, headers: any}[]} */ requests:
      [],
    /** @type {((answer: Response) => Response | Error)[]} */ answers: [],
    list: () => ({ tokens: listOf(issuer.signers, 0) }),
    /** @param {any} url @param {any} [init] @returns {Promise<Response>} */
    async fetch(url, init = {}) {
      const body = init.body ?? new Uint8Array(0);
      issuer.requests.push({
        url: String(url),
        method: init.method ?? 'GET',
        size: body.length,
        at: now(),
        body: Buffer.from(body).toString('base64'),
        headers: init.headers ?? {},
      });
      const request = new Request(url, {
        method: init.method,
        headers: { ...init.headers, Origin: ORIGIN },
        body: init.body,
      });
      const answer = await handle(request, {
        base: ISSUER,
        origins: [ORIGIN],
        signers: issuer.signers,
        account,
        count: async (id, day, asked) => {
          const [key, digest] = [`${day} ${id}`, Buffer.from(asked).toString('hex')];
          const known = counted.get(key);
          if (known === undefined) counted.set(key, digest);
          return known === undefined ? 'new' : known === digest ? 'known' : 'other';
        },
        now,
      });
      const told = issuer.answers.shift()?.(answer) ?? answer;
      if (told instanceof Error) throw told;
      return told;
    },
    posts: () => issuer.requests.filter(({ method }) => method === 'POST'),
  };
  return issuer;
}

/**
 * Edge and issuer behind one fetch.
 * @param {any[]} recipes with tokens
 * @param {() => number} now
 * @param {any} [more] options of the issuer
 */
export async function tokenNetwork(recipes, now, more = {}) {
  const signers = await signersFor(recipes, [DAY, DAY + 1, DAY + 2]);
  const issuer = fakeIssuer({ signers, now, ...more });
  const edge = fakeEdge();
  /** @param {any} url @param {any} init */
  const fetch = (url, init) =>
    String(url).startsWith(ISSUER) ? issuer.fetch(url, init) : edge.fetch(url, init);
  return { issuer, edge, fetch, keyList: async () => issuer.list() };
}

/** The token of a request to the edge. @param {{init: any}} request @returns {Buffer} */
export const tokenOf = ({ init }) =>
  Buffer.from(
    /^PrivateToken token="([\w-]{472})"$/.exec(init.headers.Authorization)?.[1] ?? '',
    'base64url',
  );

/** The idempotency key of a token. @param {Uint8Array} token */
export const keyOfToken = (token) =>
  createHash('sha256').update(token.subarray(2, 34)).digest('hex').slice(0, 32);
