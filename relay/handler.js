// SPDX-License-Identifier: Apache-2.0
// The relay as one function of (request, dependencies, address), for any runtime of fetch. It hands
// the body of a request on to the gateway of its path, and the gateway's answer back. Nothing else
// of either passes: no header, address or time. Nothing is kept but counts and the buckets of
// buckets.js, both in memory. Source: RFC 9458, sections 4 to 6.
//
// A device that is answered with 429 or 5xx keeps its report and tries again. So everything that
// may pass is such an answer, a wrong token for the gateway too: it is the operator's mistake.

import { CODES, RelayError } from './errors.js';
import { METRICS_TYPE, clock, counterBy, exposition, gauge } from './exposition.js';

/**
 * @typedef {object} Route
 * @property {string} path  of this relay
 * @property {string} gateway  URL
 * @property {string | null} token  shown to the gateway
 * @property {string[]} origins  whose pages may send; "*" is any
 *
 * @typedef {object} Limits
 * @property {number} maxBytes  of a request, and of an answer
 * @property {number} bodyMs  time limit for a whole body
 * @property {number} gatewayMs  time limit for the gateway's whole answer
 * @property {number} heldBytes  of all bodies at once
 *
 * @typedef {object} RelayDeps
 * @property {Map<string, Route>} routes  by path
 * @property {Limits} limits
 * @property {(input: string, init: RequestInit) => Promise<Response>} fetch  must send no header of
 *   the request that is being answered
 * @property {(route: Route, body: Uint8Array, maxBytes: number, held: {take: (bytes: number) =>
 *   void}) => Asked} [post]  of a host that has a faster way than fetch
 * @property {import('./buckets.js').Buckets | null} buckets
 * @property {Counts} counts
 * @property {boolean} healthz
 * @property {string | null} adminToken  opens /metrics, which is absent without it
 * @property {() => import('./exposition.js').Metric[]} [hostMetrics]  of the process
 * @property {() => {status: string}} [health]  what /healthz says; any status but "ok" is a 503
 */

/** What may become of a request, besides the codes of refusals. */
const PASSED = ['forwarded', 'gateway-busy'];

/**
 * What the relay counts while it runs.
 */
export class Counts {
  /** Requests by outcome, each from zero. @type {Map<string, number>} */
  outcomes = new Map([...PASSED, ...CODES].map((outcome) => [outcome, 0]));
  /** Bytes of the bodies that are held. */ held = 0;
  /** Requests whose bodies are still arriving, the oldest first. @type {Set<Held>} */ arriving =
    new Set();

  /** @param {string} outcome */
  add(outcome) {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  /** @param {Limits} limits @returns {import('./exposition.js').Metric[]} */
  metrics({ heldBytes }) {
    return [
      counterBy(
        'shoal_relay_requests_total',
        'Requests since the start, by what became of them.',
        'outcome',
        [...this.outcomes].sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
      gauge('shoal_relay_held_bytes', 'Bytes of all bodies that are held now.', this.held),
      gauge('shoal_relay_held_limit_bytes', 'Bytes that may be held at once.', heldBytes),
    ];
  }
}

/**
 * @typedef {object} Said  by a gateway
 * @property {number} status
 * @property {{get: (name: string) => string | null}} headers
 * @property {Uint8Array | null} body  null if it was too long
 *
 * @typedef {object} Asked
 * @property {Promise<Said>} answer
 * @property {() => void} abort  gives it up
 *
 * @typedef {object} Incoming  the members of a request that are read; a Request has them
 * @property {string} method
 * @property {string} url
 * @property {{get: (name: string) => string | null}} headers
 * @property {{getReader: () => Reader} | null} body
 * @property {() => Uint8Array | null} [whole]  the body, if all of it has arrived
 *
 * @typedef {object} Reader
 * @property {() => Promise<{done: boolean, value?: Uint8Array}>} read
 * @property {() => Promise<unknown>} cancel
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {Record<string, string>} headers
 * @property {Uint8Array | string | null} body
 */

/** Matches a URL whose path certainly needs no parsing. */
const PLAIN_URL = /^https?:\/\/[^/?#\\]+(\/[\w/-]*)$/;
const SEALED_REQUEST = 'message/ohttp-req';
const SEALED_ANSWER = 'message/ohttp-res';
const PROBLEM = 'application/problem+json'; // RFC 9458, section 5.3: the client's key is not known
/** Seconds that Retry-After may say. More values would tell one answer from another. */
const WAITS = [10, 60, 300, 900, 3600];
const WAIT_BUSY_S = 10;
const WAIT_GATEWAY_S = 60;

/**
 * Answers one request. Never throws.
 * @param {Request} request
 * @param {RelayDeps} deps
 * @param {string | null} address  of the sender, for the buckets; null if none is known
 */
export async function handle(request, deps, address) {
  const { status, headers, body } = await answer(request, deps, address);
  return new Response(/** @type {BodyInit | null} */ (/** @type {unknown} */ (body)), {
    status,
    headers,
  });
}

/**
 * Answers one request without the platform's objects. Rejects only if the URL is invalid.
 * @param {Incoming} request
 * @param {RelayDeps} deps
 * @param {string | null} address
 * @returns {Promise<Answer>}
 */
export async function answer(request, deps, address) {
  const path = PLAIN_URL.exec(request.url)?.[1] ?? new URL(request.url).pathname;
  const route = deps.routes.get(path);
  const origin = request.headers.get('origin');
  const allowed = route === undefined ? null : allowedOrigin(origin, route.origins);
  const mayRead = origin === null || allowed !== null;
  /** @type {Answer} */
  let answered;
  try {
    answered = await answerOf(request, path, route, mayRead, deps, address);
  } catch (error) {
    answered = errorAnswer(error, deps.counts);
  }
  addHeaders(answered.headers, request.method, allowed);
  return answered;
}

/**
 * @param {Incoming} request
 * @param {string} path
 * @param {Route | undefined} route
 * @param {boolean} mayRead  whether the page may send here
 * @param {RelayDeps} deps
 * @param {string | null} address
 * @returns {Promise<Answer>}
 */
async function answerOf(request, path, route, mayRead, deps, address) {
  const { method } = request;
  if (route !== undefined) {
    if (method === 'OPTIONS') return { status: 204, headers: {}, body: null };
    if (method !== 'POST') throw new RelayError('method');
    if (!mayRead) throw new RelayError('origin');
    return pass(request, route, deps, address);
  }
  const isRead = method === 'GET' || method === 'HEAD';
  if (deps.healthz && path === '/healthz') {
    if (!isRead) throw new RelayError('method');
    const health = deps.health?.() ?? { status: 'ok' };
    const said = text(JSON.stringify(health), 'application/json');
    return health.status === 'ok' ? said : { ...said, status: 503 };
  }
  if (deps.adminToken !== null && path === '/metrics') {
    if (!isRead) throw new RelayError('method');
    await authorize(request, deps.adminToken);
    const host = deps.hostMetrics?.() ?? [];
    const metrics = [...deps.counts.metrics(deps.limits), clock(Date.now()), ...host];
    return text(exposition(metrics), METRICS_TYPE);
  }
  throw new RelayError('route');
}

/** @param {string} body @param {string} type @returns {Answer} */
const text = (body, type) => ({ status: 200, headers: { 'Content-Type': type }, body });

/**
 * Passes one sealed request on.
 * @param {Incoming} request
 * @param {Route} route
 * @param {RelayDeps} deps
 * @param {string | null} address
 * @returns {Promise<Answer>}
 */
async function pass(request, route, deps, address) {
  const type = request.headers.get('content-type') ?? '';
  if (type !== '' && type.trim().toLowerCase() !== SEALED_REQUEST)
    throw new RelayError('content-type');
  const wait = address === null ? 0 : await deps.buckets?.take(address);
  if (wait) throw new RelayError('rate', quantized(wait));
  const held = new Held(deps);
  try {
    const body = await readBody(request, deps, held);
    held.keep();
    const passed = await ask(route, body, deps, held);
    deps.counts.add('forwarded');
    return passed;
  } finally {
    held.release();
  }
}

/**
 * The bytes that one request holds, of those that all may hold together. When there is no room, the
 * body that has been arriving for longest is given up: who is slow must not keep out who is not.
 */
class Held {
  #deps;
  #bytes = 0;
  #isOver = false;
  /** Ends the request's wait for its body. */ giveUp = () => {};

  /** @param {RelayDeps} deps */
  constructor(deps) {
    this.#deps = deps;
  }

  /** @param {number} bytes */
  take(bytes) {
    const { counts, limits } = this.#deps;
    if (this.#isOver) throw new RelayError('internal'); // the request was answered meanwhile
    while (counts.held + bytes > limits.heldBytes) {
      const oldest = [...counts.arriving].find((other) => other !== this);
      if (oldest === undefined) throw new RelayError('busy', WAIT_BUSY_S);
      oldest.giveUp();
      oldest.release();
    }
    counts.held += bytes;
    this.#bytes += bytes;
  }

  /** The body has arrived. */
  keep() {
    this.#deps.counts.arriving.delete(this);
  }

  release() {
    this.keep();
    this.#deps.counts.held -= this.#bytes;
    this.#bytes = 0;
    this.#isOver = true;
  }
}

/**
 * Reads a body, capped and timed while it streams.
 * @param {Incoming} request
 * @param {RelayDeps} deps
 * @param {Held} held
 */
async function readBody(request, { limits: { maxBytes, bodyMs }, counts }, held) {
  if (Number(request.headers.get('content-length') ?? '0') > maxBytes)
    throw new RelayError('body-size');
  if (request.body === null) throw new RelayError('body-empty');
  const whole = request.whole?.() ?? null;
  if (whole !== null) {
    if (whole.length > maxBytes) throw new RelayError('body-size');
    held.take(whole.length);
    return whole;
  }
  const reader = request.body.getReader();
  counts.arriving.add(held);
  const reading = new Promise((resolve, reject) => {
    held.giveUp = () => reject(new RelayError('busy', WAIT_BUSY_S));
    readAll(reader, maxBytes, held).then(resolve, reject);
  });
  const body = await inTime(reading, bodyMs, 'body-slow').catch((error) => {
    reader.cancel().catch(() => {});
    throw error instanceof RelayError ? error : new RelayError('body-broken');
  });
  if (body === null) throw new RelayError('body-size');
  if (body.length === 0) throw new RelayError('body-empty');
  return body;
}

/**
 * All that a gateway is told besides the body.
 * @param {Route} route
 */
export function headersOf({ token }) {
  /** @type {Record<string, string>} */
  const headers = { 'Content-Type': SEALED_REQUEST };
  if (token !== null) headers.Authorization = `Bearer ${token}`;
  return headers;
}

/**
 * Asks the gateway.
 * @param {Route} route
 * @param {Uint8Array} body
 * @param {RelayDeps} deps
 * @param {Held} held
 * @returns {Promise<Answer>}
 */
async function ask(route, body, deps, held) {
  const { maxBytes, gatewayMs } = deps.limits;
  const { answer, abort } = deps.post
    ? deps.post(route, body, maxBytes, held)
    : postByFetch(deps.fetch, route, body, maxBytes, held);
  try {
    return passedOn(await inTime(answer, gatewayMs, 'gateway-slow'));
  } catch (error) {
    abort();
    if (error instanceof RelayError) throw error;
    throw new RelayError('gateway', WAIT_GATEWAY_S);
  }
}

/**
 * @param {RelayDeps['fetch']} fetch
 * @param {Route} route
 * @param {Uint8Array} body
 * @param {number} maxBytes
 * @param {Held} held
 * @returns {Asked}
 */
function postByFetch(fetch, route, body, maxBytes, held) {
  const abort = new AbortController();
  const asking = async () => {
    const {
      status,
      headers,
      body: answered,
    } = await fetch(route.gateway, {
      method: 'POST',
      headers: headersOf(route),
      body: /** @type {BodyInit} */ (/** @type {unknown} */ (body)),
      redirect: 'manual', // the token goes nowhere else
      signal: abort.signal,
    });
    const reader = answered?.getReader();
    const said = reader === undefined ? new Uint8Array(0) : await readAll(reader, maxBytes, held);
    if (said === null) reader?.cancel().catch(() => {});
    return { status, headers, body: said };
  };
  return { answer: asking(), abort: () => abort.abort() };
}

/**
 * Reads the gateway's answer. Whatever is not an answer of a gateway says nothing about the
 * request.
 * @param {Said} said
 * @returns {Answer}
 */
function passedOn({ status, headers, body }) {
  const wait = secondsOf(headers.get('retry-after'));
  if (status === 429 || status === 503) throw new GatewayBusy(status, wait ?? WAIT_GATEWAY_S);
  const type = (headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase();
  const isAnswer = status === 200 && type === SEALED_ANSWER;
  const isProblem = (status === 400 || status === 422) && type === PROBLEM;
  if (body === null || body.length === 0 || !(isAnswer || isProblem))
    throw new RelayError('gateway', WAIT_GATEWAY_S);
  /** @type {Record<string, string>} */
  const passed = { 'Content-Type': type };
  if (wait !== null) passed['Retry-After'] = String(quantized(wait));
  return { status, headers: passed, body };
}

/** The gateway has no room for this relay at the moment. */
class GatewayBusy extends RelayError {
  /** @param {number} status @param {number} wait */
  constructor(status, wait) {
    super('gateway', quantized(wait));
    this.status = status;
    this.code = 'gateway-busy';
  }
}

/**
 * Returns the seconds of a Retry-After header, or null. Its other form, a date, is passed over.
 * @param {string | null} header
 */
function secondsOf(header) {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null;
}

/** Returns the next of a few waits. @param {number} seconds */
function quantized(seconds) {
  return WAITS.find((wait) => wait >= seconds) ?? WAITS[WAITS.length - 1];
}

/**
 * @template T
 * @param {Promise<T>} reading
 * @param {number} timeoutMs
 * @param {string} code
 * @returns {Promise<T>}
 */
function inTime(reading, timeoutMs, code) {
  return new Promise((resolve, reject) => {
    const late = () => reject(new RelayError(code, WAIT_GATEWAY_S));
    const timer = setTimeout(late, timeoutMs);
    reading.then(
      (read) => (clearTimeout(timer), resolve(read)),
      (error) => (clearTimeout(timer), reject(error)),
    );
  });
}

/**
 * Reads to the end. Most bodies come in one piece, which is not copied.
 * @param {Reader} reader
 * @param {number} limit
 * @param {Held} held
 * @returns {Promise<Uint8Array | null>} null if there is more than the limit
 */
async function readAll(reader, limit, held) {
  const pieces = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) break;
    size += value.length;
    if (size > limit) return null;
    held.take(value.length);
    pieces.push(value);
  }
  if (pieces.length === 1) return pieces[0];
  const bytes = new Uint8Array(size);
  pieces.reduce((at, piece) => (bytes.set(piece, at), at + piece.length), 0);
  return bytes;
}

/**
 * Compares digests, so that timing reveals nothing about the token.
 * @param {Incoming} request
 * @param {string} token
 */
async function authorize(request, token) {
  const encode = new TextEncoder();
  const [a, b] = await Promise.all(
    [request.headers.get('authorization') ?? '', `Bearer ${token}`].map(
      async (said) => new Uint8Array(await crypto.subtle.digest('SHA-256', encode.encode(said))),
    ),
  );
  if (a.reduce((difference, byte, i) => difference | (byte ^ b[i]), 0) !== 0)
    throw new RelayError('unauthorized');
}

/**
 * Returns what Access-Control-Allow-Origin says, or null.
 * @param {string | null} origin
 * @param {string[]} origins
 */
function allowedOrigin(origin, origins) {
  if (origin === null) return null;
  if (origins.includes('*')) return '*';
  return origins.includes(origin) ? origin : null;
}

/**
 * Adds the headers that every answer has, and those that let a browser's page read it.
 * @param {Record<string, string>} headers  of one answer
 * @param {string} method
 * @param {string | null} allowed
 */
function addHeaders(headers, method, allowed) {
  headers['Cache-Control'] = 'no-store';
  headers.Vary = 'Origin';
  headers['X-Content-Type-Options'] = 'nosniff';
  if (allowed === null) return;
  headers['Access-Control-Allow-Origin'] = allowed;
  if (method !== 'OPTIONS') {
    headers['Access-Control-Expose-Headers'] = 'Retry-After';
    return;
  }
  headers['Access-Control-Allow-Methods'] = 'POST';
  headers['Access-Control-Allow-Headers'] = 'Content-Type';
  headers['Access-Control-Max-Age'] = '86400';
}

/** @param {unknown} error @param {Counts} counts @returns {Answer} */
function errorAnswer(error, counts) {
  const { code, message, status, retryAfterS } =
    error instanceof RelayError ? error : new RelayError('internal', WAIT_GATEWAY_S);
  counts.add(code);
  /** @type {Record<string, string>} */
  const headers = { 'Content-Type': 'application/json' };
  if (retryAfterS !== null) headers['Retry-After'] = String(retryAfterS);
  return { status, headers, body: JSON.stringify({ error: { code, message } }) };
}
