// SPDX-License-Identifier: Apache-2.0
// The relay on workerd. Nothing is sent while a request is served, because a platform may add
// headers of that request to others that are made meanwhile: the sender's address to the gateway,
// which is what must not happen. So a request's body goes to a Durable Object, whose alarm sends
// it, and the request waits for that. The object stores nothing but the time of its next alarm.
//
// Variables, see wrangler.jsonc: ROUTES, and optionally MAX_BYTES, BODY_TIMEOUT_S,
// GATEWAY_TIMEOUT_S, HELD_BYTES, RATE, HEALTHZ, OBJECTS; the secret ADMIN_TOKEN, and those that
// ROUTES names. Binding: SENDERS (Durable Object).

import { DurableObject } from 'cloudflare:workers';
import { Buckets } from './buckets.js';
import { Counts, handle } from './handler.js';
import { integer, readSettings, readToken } from './settings.js';

/**
 * @typedef {Record<string, any> & {SENDERS:
 *   import('cloudflare:workers').DurableObjectNamespace<ShoalSender>}} Env
 */

const OBJECTS = 8;

/** Rates and counts are of one isolate; a platform may run several. */
const counts = new Counts();

/**
 * What a configuration says, kept until it changes. This is a value and not a promise, because a
 * promise belongs to the request that made it.
 * @type {{env: Env, settings: import('./settings.js').Settings, buckets: Buckets | null} | null}
 */
let configured = null;

/** @param {Env} env */
async function settingsOf(env) {
  if (configured?.env === env) return configured;
  const json = (/** @type {any} */ value) =>
    typeof value === 'string' && value !== '' ? JSON.parse(value) : value;
  const settings = await readSettings(
    {
      routes: json(env.ROUTES),
      max_bytes: json(env.MAX_BYTES),
      body_timeout_s: json(env.BODY_TIMEOUT_S),
      gateway_timeout_s: json(env.GATEWAY_TIMEOUT_S),
      held_bytes: json(env.HELD_BYTES),
      rate: json(env.RATE),
      healthz: json(env.HEALTHZ),
    },
    'token_secret',
    (name) => env[name],
  );
  const { rate } = settings;
  const buckets =
    rate === null
      ? null
      : new Buckets(rate, rate.addresses, {
          now: Date.now,
          getRandomValues: (bytes) => crypto.getRandomValues(bytes),
          hmac,
        });
  configured = { env, settings, buckets };
  return configured;
}

/** @param {Uint8Array} key @param {string} text */
async function hmac(key, text) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const salt = /** @type {BufferSource} */ (key);
  const imported = await crypto.subtle.importKey('raw', salt, algorithm, false, ['sign']);
  const mac = await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(text));
  return new Uint8Array(mac);
}

export default {
  /** @param {Request} request @param {Env} env */
  async fetch(request, env) {
    const { settings, buckets } = await settingsOf(env);
    const adminToken = env.ADMIN_TOKEN ? readToken(env.ADMIN_TOKEN, 'ADMIN_TOKEN') : null;
    const deps = { ...settings, fetch: sender(env), buckets, counts, adminToken };
    return handle(request, deps, request.headers.get('cf-connecting-ip'));
  },
};

/**
 * Returns a fetch that runs in the alarm of one of a few objects.
 * @param {Env} env
 * @returns {import('./handler.js').RelayDeps['fetch']}
 */
function sender(env) {
  const objects = integer(Number(env.OBJECTS ?? OBJECTS), 'OBJECTS', 1, 1024);
  return async (gateway, { headers, body }) => {
    const [random] = crypto.getRandomValues(new Uint32Array(1));
    const object = env.SENDERS.get(env.SENDERS.idFromName(`sender/${random % objects}`));
    const answer = await object.send(
      gateway,
      /** @type {Record<string, string>} */ (headers),
      /** @type {Uint8Array} */ (/** @type {unknown} */ (body)),
    );
    if (answer === null) throw new Error('no answer');
    return new Response(/** @type {BodyInit | null} */ (/** @type {unknown} */ (answer.body)), {
      status: answer.status,
      headers: answer.headers,
    });
  };
}

/**
 * @typedef {object} Sent
 * @property {number} status
 * @property {Record<string, string>} headers
 * @property {Uint8Array | null} body
 */

const PASSED = ['content-type', 'retry-after'];

/** Sends what requests hand to it. */
export class ShoalSender extends DurableObject {
  /** @type {import('./settings.js').Settings['limits'] | null} */ #limits = null;
  #env;
  /** Requests for the next alarm. @type {(() => Promise<void>)[]} */ #waiting = [];

  /** @param {import('cloudflare:workers').DurableObjectState} ctx @param {Env} env */
  constructor(ctx, env) {
    super(ctx, env);
    this.#env = env;
  }

  /**
   * @param {string} gateway
   * @param {Record<string, string>} headers
   * @param {Uint8Array} body
   * @returns {Promise<Sent | null>} null if there was no answer that could be passed on
   */
  async send(gateway, headers, body) {
    this.#limits ??= (await settingsOf(this.#env)).settings.limits;
    const limits = this.#limits;
    return new Promise((resolve) => {
      this.#waiting.push(() => post(gateway, headers, body, limits).then(resolve));
      void this.ctx.storage.setAlarm(Date.now() + 1);
    });
  }

  /** The alarm. It never throws. */
  async alarm() {
    for (const send of this.#waiting.splice(0)) void send();
  }
}

/**
 * Never rejects.
 * @param {string} gateway
 * @param {Record<string, string>} headers
 * @param {Uint8Array} body
 * @param {import('./handler.js').Limits} limits
 * @returns {Promise<Sent | null>}
 */
async function post(gateway, headers, body, { maxBytes, gatewayMs }) {
  try {
    const response = await fetch(gateway, {
      method: 'POST',
      headers,
      body: /** @type {BodyInit} */ (/** @type {unknown} */ (body)),
      redirect: 'manual',
      signal: AbortSignal.timeout(gatewayMs),
    });
    const said = await limitedBytes(response, maxBytes);
    if (said === null) return null;
    const passed = PASSED.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    // A status outside the range of Response's constructor could not be passed on.
    const status = response.status < 200 ? 502 : response.status;
    const isBare = [204, 205, 304].includes(status);
    return { status, headers: Object.fromEntries(passed), body: isBare ? null : said };
  } catch {
    return null;
  }
}

/** @param {Response} response @param {number} limit @returns {Promise<Uint8Array | null>} */
async function limitedBytes(response, limit) {
  const reader = response.body?.getReader();
  const parts = [];
  for (let size = 0; reader;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      reader.cancel().catch(() => {});
      return null;
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
