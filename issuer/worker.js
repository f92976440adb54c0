// SPDX-License-Identifier: Apache-2.0
// The issuer on workerd: the handler in the worker, and a Durable Object for each account and day,
// which keeps what the account asked for until the day is over.
//
// Bindings, see wrangler.jsonc: BUNDLES (Durable Object), URL, ORIGINS, KEYS (the key file, a
// secret), COUNT_SECRET, optionally ADMIN_TOKEN, and ACCOUNT_HEADER, or a worker of the site's own that calls `issuer`.

import { DurableObject } from 'cloudflare:workers';
import { accountOfHeader } from './account_header.js';
import { handle, newOutcomes } from './handler.js';
import { DAY_MS, openKeys, toHex } from './signing_keys.js';

/**
 * @typedef {object} Env
 * @property {import('cloudflare:workers').DurableObjectNamespace<ShoalBundles>} BUNDLES
 * @property {string} URL  base URL, as recipes have it in send.token
 * @property {string | string[]} ORIGINS
 * @property {string | any} KEYS
 * @property {string} COUNT_SECRET
 * @property {string} [ACCOUNT_HEADER]
 * @property {string} [ADMIN_TOKEN]  opens /metrics
 */

/** Of this isolate; a platform may run several. */
const outcomes = newOutcomes();

/** The bare operation of RSA, which this runtime has under a name of its own. @type {import('./signing_keys.js').OpenKey} */
async function openKeyInWorkerd(privateKey) {
  const algorithm = { name: 'RSA-RAW', hash: 'SHA-384' };
  const key = await crypto.subtle.importKey(
    'pkcs8',
    /** @type {BufferSource} */ (/** @type {unknown} */ (privateKey)),
    algorithm,
    false,
    ['sign'],
  );
  return async (message) =>
    new Uint8Array(
      await crypto.subtle.sign(
        algorithm,
        key,
        /** @type {BufferSource} */ (/** @type {unknown} */ (message)),
      ),
    );
}

/**
 * The keys, kept for the isolate's life.
 * @type {{env: Env, signers: import('./signing_keys.js').Signer[]} | null}
 */
let opened = null;

/** @param {Env} env */
async function signersOf(env) {
  if (opened?.env !== env)
    opened = { env, signers: await openKeys(json(env.KEYS), openKeyInWorkerd) };
  return opened.signers;
}

/**
 * Makes a worker with the site's own account hook.
 * @param {(env: Env) => import('./handler.js').HandlerDeps['account']} accountOf
 */
export const issuer = (accountOf) => ({
  /** @param {Request} request @param {Env} env */
  async fetch(request, env) {
    return handle(request, {
      base: env.URL,
      origins: json(env.ORIGINS),
      signers: await signersOf(env),
      account: accountOf(env),
      count: (account, day, asked) => countIn(env, account, day, asked),
      now: Date.now,
      outcomes,
      ...(env.ADMIN_TOKEN ? { adminToken: env.ADMIN_TOKEN } : {}),
    });
  },
});

export default issuer((env) => {
  if (!env.ACCOUNT_HEADER) throw new Error('ACCOUNT_HEADER is needed');
  return accountOfHeader(env.ACCOUNT_HEADER);
});

/**
 * @param {Env} env
 * @param {string} account
 * @param {number} day
 * @param {Uint8Array} asked
 */
async function countIn(env, account, day, asked) {
  const text = new TextEncoder();
  const key = await crypto.subtle.importKey(
    'raw',
    text.encode(env.COUNT_SECRET),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const name = await crypto.subtle.sign('HMAC', key, text.encode(`${day}\n${account}`));
  const object = env.BUNDLES.idFromName(toHex(new Uint8Array(name)));
  return env.BUNDLES.get(object).count(day, toHex(asked.subarray(0, 16)));
}

/** What one account asked for, for one day. */
export class ShoalBundles extends DurableObject {
  /**
   * @param {number} day
   * @param {string} asked
   * @returns {Promise<import('./handler.js').Counted>}
   */
  async count(day, asked) {
    const { storage } = this.ctx;
    const known = await storage.get('asked');
    if (known !== undefined) return known === asked ? 'known' : 'other';
    // Its entry may have been deleted already.
    if (Date.now() >= (day + 1) * DAY_MS) throw new Error('the day is over');
    await storage.put('asked', asked);
    await storage.setAlarm((day + 1) * DAY_MS);
    await storage.sync();
    return 'new';
  }

  /** The day is over. */
  async alarm() {
    await this.ctx.storage.deleteAll();
  }
}

/** Reads a binding that is JSON, which the platform may have parsed. @param {any} value */
const json = (value) => (typeof value === 'string' ? JSON.parse(value) : value);
