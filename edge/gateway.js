// SPDX-License-Identifier: Apache-2.0
// The gateway of Oblivious HTTP (RFC 9458): takes sealed requests from relays, opens them, has the
// handler answer, and seals the answers. A relay sees addresses and ciphertext; the gateway sees
// reports and the relay. All answers to reports have one length, and a few values of Retry-After, so
// that a relay learns nothing from them. Nothing is kept but counts.

import { encodeResponse } from 'shoal-client/binary-http';
import { MessageError, decodeRequest } from 'shoal-client/binary-http-reader';
import { holderOf, tokenDigest } from './bearer.js';
import { BODY_TIMEOUT_MS, readBody } from './body.js';
import { EdgeError } from './errors.js';
import { framesOf } from './frame.js';
import { keyListOf, keysOf, openRequest } from './ohttp.js';

/**
 * @typedef {import('./incoming.js').Answer} Answer
 * @typedef {import('./incoming.js').Incoming} Incoming
 *
 * @typedef {object} GatewayDeps  of the handler's
 * @property {Map<string, import('./collection.js').Collection>} collections
 * @property {Map<string, {length: number}>} [tasks]
 * @property {() => number} now  milliseconds since 1970
 * @property {number} [bodyTimeoutMs]
 *
 * @typedef {object} GatewaySettings
 * @property {unknown} keys  as keysOf in ohttp.js reads them; several while they rotate
 * @property {{name: string, token: string, perMinute: number}[]} relays  that are known
 * @property {number} [unknownPerMinute]  requests that all relays without a token may pass on
 *   together; without it such a relay is refused
 * @property {number} [dateWindowS]  how far the date of a request may be from now
 *
 * @typedef {object} GatewayCrypto
 * @property {(keys: import('./ohttp.js').KeyPair[], bytes: Uint8Array) =>
 *   Promise<import('./ohttp.js').Opened | null> | import('./ohttp.js').Opened | null} openRequest
 * @property {(text: string) => Uint8Array} [digest]  SHA-256; WebCrypto's without it
 *
 * @typedef {object} Quota  requests of one relay, or of all unknown ones
 * @property {string} name
 * @property {Uint8Array} digest  of the token; empty for unknown relays
 * @property {number} perMinute
 * @property {number} left
 * @property {number} at  when `left` was reckoned, milliseconds since 1970
 * @property {Record<string, number>} counts
 */

export const REQUEST_TYPE = 'message/ohttp-req';
const RESPONSE_TYPE = 'message/ohttp-res';
const KEYS_TYPE = 'application/ohttp-keys';
const PROBLEM = 'https://iana.org/assignments/http-problem-types#';
const HOUR_S = 3600;
/** Bytes of a binary HTTP response, with its padding. */
export const RESPONSE_LENGTH = 512;
/** Bytes of a request that is always read, so that a recipe's size is no limit for another's. */
const REQUEST_MIN = 65_536;
const REQUEST_SLACK = 2048; // what is sealed besides a report: headers, a token
/** The values that Retry-After has in a sealed answer, seconds. */
export const RETRY_AFTER_S = [300, 3600, 86_400];
export const DATE_WINDOW_S = 7200;
/** What a sealed request may ask for; the paths may follow the path of the endpoint. */
const ROUTES = [
  { method: 'POST', path: /(\/v1\/reports|\/tasks\/[\w-]{43}\/reports)$/ },
  { method: 'GET', path: /(\/v1\/queries|\/v1\/recipes(?:\/[0-9a-f]{64})?)$/ },
];
/** Headers of a sealed request that are read; the others are not looked at. */
const HEADERS = ['content-type', 'idempotency-key', 'authorization'];

/** Matches the name of a relay, which is printed in counts. */
const NAME = /^[\w.-]{1,64}$/;
const KEY_GRACE_S = 86_400; // default of the store's

/**
 * Refuses settings that cannot hold what they promise.
 * @param {GatewaySettings} settings
 * @param {number} [keyGraceS]  how long the store remembers a report's key
 */
export function checkedGateway(settings, keyGraceS = KEY_GRACE_S) {
  const { relays, dateWindowS = DATE_WINDOW_S } = settings;
  const names = relays.map(({ name }) => name);
  if (!names.every((name) => NAME.test(name)) || new Set(names).size < names.length)
    throw new Error('gateway.relays: each needs a name of its own, of letters, digits and ._-');
  // A request is accepted for this long after it was first, and is the same report all that while.
  if (2 * dateWindowS + HOUR_S > keyGraceS)
    throw new Error('gateway.date_window_s: twice this and an hour may not exceed key_grace_s');
  return settings;
}

/** What is counted of each relay. */
const COUNTS = {
  requests_total: 'Sealed requests that were opened, since the start.',
  refusals_total: 'Sealed answers of 400 and above, since the start.',
  key_errors_total: 'Requests sealed to a key that is not here, since the start.',
  over_quota_total: 'Requests above the quota of a relay, since the start.',
};

export class Gateway {
  #keys;
  #quotas;
  /** @type {Quota | null} */ #unknown;
  #windowMs;
  /** A host may put faster functions here. @type {GatewayCrypto} */ crypto = { openRequest };

  /**
   * Use Gateway.open.
   * @param {import('./ohttp.js').KeyPair[]} keys
   * @param {Quota[]} quotas
   * @param {Quota | null} unknown
   * @param {number} windowMs
   */
  constructor(keys, quotas, unknown, windowMs) {
    this.#keys = keys;
    this.#quotas = quotas;
    this.#unknown = unknown;
    this.#windowMs = windowMs;
  }

  /** @param {GatewaySettings} settings */
  static async open({ keys, relays, unknownPerMinute, dateWindowS = DATE_WINDOW_S }) {
    /** @param {string} name @param {number} perMinute @param {Uint8Array} digest */
    const quota = (name, perMinute, digest) => ({
      name,
      digest,
      perMinute,
      left: perMinute,
      at: -Infinity,
      counts: {},
    });
    const known = relays.map(async ({ name, token, perMinute }) =>
      quota(name, perMinute, await tokenDigest(token)),
    );
    const unknown =
      unknownPerMinute === undefined ? null : quota('', unknownPerMinute, new Uint8Array(0));
    return new Gateway(await keysOf(keys), await Promise.all(known), unknown, dateWindowS * 1000);
  }

  /**
   * Answers GET /ohttp-keys. Clients of shoal do not ask: they take the keys that a log lists.
   * @returns {Answer}
   */
  publish() {
    return {
      status: 200,
      headers: { 'Content-Type': KEYS_TYPE, 'Cache-Control': 'public, max-age=300' },
      body: keyListOf(this.#keys),
    };
  }

  /**
   * The counts are of this process, or of this isolate.
   * @returns {import('shoal-relay/exposition').Metric[]}
   */
  metrics() {
    const quotas = [...this.#quotas, ...(this.#unknown ? [this.#unknown] : [])];
    return Object.entries(COUNTS).map(([what, help]) => ({
      name: `shoal_edge_gateway_${what}`,
      type: 'counter',
      help,
      samples: quotas.map(({ name, counts }) => [{ relay: name }, counts[what] ?? 0]),
    }));
  }

  /**
   * Answers POST /ohttp. Throws EdgeError where a request is refused before it is opened; those
   * answers a relay can read.
   * @param {Incoming} request
   * @param {GatewayDeps} deps
   * @param {(inner: Incoming) => Promise<Answer>} serve  the handler
   * @returns {Promise<Answer>}
   */
  async take(request, deps, serve) {
    const type = (request.headers.get('content-type') ?? '').trim().toLowerCase();
    if (type !== REQUEST_TYPE) throw new EdgeError('ohttp-type');
    const quota = await this.#admitted(request, deps.now());
    const bytes = await readBody(request, longestOf(deps), deps.bodyTimeoutMs ?? BODY_TIMEOUT_MS);
    const opened = await this.crypto.openRequest(this.#keys, bytes);
    if (!opened) {
      count(quota, 'key_errors_total');
      return problem('ohttp-key', 'the key is not one of this gateway');
    }
    count(quota, 'requests_total');
    const { answer, isList } = await this.#inner(opened.message, deps.now(), serve);
    if (answer.status >= 400) count(quota, 'refusals_total');
    return {
      status: 200,
      headers: { 'Content-Type': RESPONSE_TYPE, 'Cache-Control': 'no-store' },
      body: await opened.seal(messageOf(answer, isList, deps.now())),
    };
  }

  /**
   * Takes one request off its relay's quota.
   * @param {Incoming} request
   * @param {number} now
   */
  async #admitted(request, now) {
    const known = await holderOf(request, this.#quotas, this.crypto.digest);
    const quota = known ?? this.#unknown;
    if (!quota) throw new EdgeError('relay-token');
    if (known) request.trusted?.();
    const { perMinute } = quota;
    const grown = (Math.max(0, now - quota.at) / 60_000) * perMinute;
    quota.left = Math.min(perMinute, quota.left + grown);
    quota.at = now;
    if (quota.left < 1) {
      count(quota, 'over_quota_total');
      throw new EdgeError('relay-quota');
    }
    quota.left--;
    return quota;
  }

  /**
   * Answers what was sealed.
   * @param {Uint8Array} message
   * @param {number} now
   * @param {(inner: Incoming) => Promise<Answer>} serve
   * @returns {Promise<{answer: Answer, isList: boolean}>}
   */
  async #inner(message, now, serve) {
    let isList = false;
    try {
      const inner = decodeRequest(message);
      isList = inner.method === 'GET';
      const [, path] =
        ROUTES.filter(({ method }) => method === inner.method)
          .map((route) => route.path.exec(inner.path))
          .find((found) => found) ?? [];
      if (path === undefined) throw new EdgeError('route');
      const date = Date.parse(new Map(inner.fields).get('date') ?? '');
      const isNow = Math.abs(date - hourOf(now)) <= this.#windowMs;
      const answer = isNow
        ? await serve(incomingOf(inner, path))
        : problem('date', 'the date is too far from now');
      return { answer, isList };
    } catch (error) {
      const kind = error instanceof MessageError ? new EdgeError('message') : error;
      if (!(kind instanceof EdgeError)) throw error;
      const { code, number, status } = kind;
      const body = JSON.stringify({ error: { code, number, message: kind.message } });
      const headers = { 'Content-Type': 'application/json' };
      return { answer: { status, headers, body }, isList: false };
    }
  }
}

/** @param {Quota} quota @param {string} name */
function count({ counts }, name) {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** The most bytes of a sealed request: clients pad to less than twice the longest. @param {GatewayDeps} deps */
function longestOf({ collections, tasks }) {
  const lengths = [...(tasks?.values() ?? [])].map(({ length }) => length);
  const longest = Math.max(framesOf(collections).longest, ...lengths);
  return Math.max(REQUEST_MIN, 2 * (longest + REQUEST_SLACK));
}

/** The start of the hour. @param {number} now */
const hourOf = (now) => now - (now % (1000 * HOUR_S));

/** A problem document (RFC 9457). @param {'ohttp-key' | 'date'} type @param {string} title @returns {Answer} */
function problem(type, title) {
  return {
    status: 400,
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' },
    body: JSON.stringify({ type: PROBLEM + type, title }),
  };
}

/**
 * What the handler reads of an opened request.
 * @param {import('shoal-client/binary-http').BinaryRequest} inner
 * @param {string} path
 * @returns {Incoming}
 */
function incomingOf({ method, fields, content }, path) {
  const headers = new Map(fields.filter(([name]) => HEADERS.includes(name)));
  headers.set('content-length', String(content.length));
  return {
    method,
    url: `http://gateway.invalid${path}`,
    headers: { get: (name) => headers.get(name) ?? null },
    body: method === 'GET' ? null : /** @type {any} */ ({}), // nobody streams what is whole
    arrayBuffer: async () => content,
    whole: () => content,
  };
}

/**
 * Writes an answer with its padding. That to a report always has one length; its text is left out if
 * it is longer, which only a leader's can be. A list has the length of the list, which is the same
 * for everyone, up to the next power of two.
 * @param {Answer} answer
 * @param {boolean} isList
 * @param {number} now
 */
function messageOf({ status, headers, body }, isList, now) {
  /** @type {import('shoal-client/binary-http').Fields} */
  const fields = [['date', new Date(hourOf(now)).toUTCString()]];
  const type = headers['Content-Type'];
  if (type && body?.length) fields.push(['content-type', type]);
  if (headers['Retry-After']) fields.push(['retry-after', retryAfter(headers['Retry-After'], now)]);
  const content = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const response = { status, fields, content: content ?? new Uint8Array(0) };
  for (let length = RESPONSE_LENGTH; ; length *= 2) {
    try {
      return encodeResponse(response, length);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      if (isList) continue;
      // Whoever accepts a report says little, so this leader speaks another protocol.
      const told = status < 300 ? 503 : status;
      return encodeResponse({ ...response, status: told, content: new Uint8Array(0) }, length);
    }
  }
}

/** Rounds up to one of the few values. @param {string} header  seconds, or a date @param {number} now */
function retryAfter(header, now) {
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000 || 0;
  const [longest] = RETRY_AFTER_S.slice(-1);
  return String(RETRY_AFTER_S.find((each) => each >= seconds) ?? longest);
}
