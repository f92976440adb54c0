// SPDX-License-Identifier: Apache-2.0
// The issuer's routes as one function of (request, dependencies), for every runtime of fetch. It
// learns which account asks and when, and signs what it cannot read. Nothing is logged.

import { METRICS_TYPE, Outcomes, hasToken, metricsText } from './metrics.js';
import { BUNDLE_SIZE_MAX, readBundle } from './token_bundle.js';
import { DAY_MS, directoryOf, isBelow, sha256, signersOf } from './signing_keys.js';

/**
 * @typedef {import('./signing_keys.js').Signer} Signer
 * @typedef {import('./token_bundle.js').BundleRequest} BundleRequest
 *
 * @typedef {{id: string, isReal: boolean}} Account  `id` stays the same for a person; `isReal`: does
 *   the site vouch for it?
 * @typedef {'new' | 'known' | 'other' | 'full'} Counted  `other`: the account had another bundle of
 *   this day
 *
 * @typedef {object} HandlerDeps
 * @property {string} base  base URL, as recipes have it in send.token
 * @property {string[]} origins  origins of the site's pages
 * @property {Signer[]} signers
 * @property {(request: Request) => Account | null | Promise<Account | null>} account  who asks? null
 *   where nobody is logged in
 * @property {(account: string, day: number, request: Uint8Array) => Promise<Counted>} count  counts
 *   a request's digest durably before it resolves
 * @property {() => number} now  milliseconds since 1970
 * @property {number} [bodyTimeoutMs]
 * @property {string} [adminToken]  opens /metrics, which is absent without it
 * @property {Outcomes} [outcomes]  counts requests
 * @property {() => string} [hostMetrics]  of the process
 * @property {() => {reload?: string}} [health]  what /healthz says beside its status
 */

/** Kinds of refusal: [status, message]. @type {Record<string, [number, string]>} */
const KINDS = {
  route: [404, 'there is nothing here'],
  method: [405, 'this method is not served here'],
  origin: [403, 'pages of this origin may not ask here'],
  'body-size': [413, 'the body is longer than any request'],
  'body-slow': [408, 'the body took too long'],
  account: [401, 'nobody is logged in'],
  unauthorized: [401, 'a bearer token is needed'],
  real: [403, 'the site does not vouch for this account'],
  bundle: [400, 'the body is no request for a bundle'],
  day: [400, 'tokens are given for today and tomorrow, UTC'],
  recipe: [400, 'no key of this recipe and day is here'],
  quota: [400, 'the request has more tokens than an account gets'],
  key: [422, 'a token is asked for with another key than that of its recipe and day'],
  message: [400, 'a blinded message is not below the modulus of its key'],
  spent: [409, 'this account has another bundle of this day already'],
  full: [503, 'no more accounts can be counted today'],
  internal: [503, 'the request could not be counted; try again'],
};

/** What may become of a request for tokens. A repeat gets the same answer again. */
const OUTCOMES = [
  'issued',
  'repeated',
  ...Object.keys(KINDS).filter((code) => code !== 'route' && code !== 'unauthorized'),
];

/** Counts of no requests yet. */
export const newOutcomes = () => new Outcomes(OUTCOMES);

const RETRY_AFTER_S = 300;
const BODY_TIMEOUT_MS = 10_000;

class Refusal extends Error {
  /** @param {keyof typeof KINDS & string} code */
  constructor(code) {
    super(KINDS[code][1]);
    this.code = code;
  }
}

/**
 * Answers one request. Never throws.
 * @param {Request} request
 * @param {HandlerDeps} deps
 * @returns {Promise<Response>}
 */
export async function handle(request, deps) {
  const response = await route(request, deps).catch(refusalOf);
  for (const [name, value] of Object.entries(corsHeaders(request, deps.origins)))
    response.headers.set(name, value);
  response.headers.set('Vary', 'Origin');
  response.headers.set('X-Content-Type-Options', 'nosniff');
  return response;
}

/** @param {unknown} error */
function refusalOf(error) {
  const code = error instanceof Refusal ? error.code : 'internal';
  const [status, message] = KINDS[code];
  const headers = new Headers({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  if (status === 503) headers.set('Retry-After', String(RETRY_AFTER_S));
  return new Response(JSON.stringify({ error: { code, message } }), { status, headers });
}

/** @param {Request} request @param {HandlerDeps} deps @returns {Promise<Response>} */
async function route(request, deps) {
  const { method } = request;
  const base = new URL(deps.base).pathname.replace(/\/$/, '');
  const path = new URL(request.url).pathname;
  if (path === '/healthz') return healthz(request, deps);
  if (path === '/metrics' && deps.adminToken !== undefined) return metrics(request, deps);
  if (!path.startsWith(`${base}/`)) throw new Refusal('route');
  const below = path.slice(base.length);
  if (method === 'OPTIONS') return new Response(null, { status: 204 });
  if (below === '/.well-known/private-token-issuer-directory') {
    if (method !== 'GET' && method !== 'HEAD') throw new Refusal('method');
    return directory(deps);
  }
  if (below !== '/token-request') throw new Refusal('route');
  return counted(request, deps);
}

/** Answers a request for tokens, and counts what became of it. @param {Request} request @param {HandlerDeps} deps */
async function counted(request, deps) {
  try {
    if (request.method !== 'POST') throw new Refusal('method');
    const { isNew, response } = await issue(request, deps);
    deps.outcomes?.add(isNew ? 'issued' : 'repeated');
    return response;
  } catch (error) {
    deps.outcomes?.add(error instanceof Refusal ? error.code : 'internal');
    throw error;
  }
}

/** Says to everybody that requests are answered here. @param {Request} request @param {HandlerDeps} deps */
function healthz({ method }, { health }) {
  if (method !== 'GET' && method !== 'HEAD') throw new Refusal('method');
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return new Response(JSON.stringify({ status: 'ok', ...health?.() }), { headers });
}

/** @param {Request} request @param {HandlerDeps} deps */
async function metrics(request, { adminToken = '', outcomes, signers, now, hostMetrics }) {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw new Refusal('method');
  if (!(await hasToken(request, adminToken))) throw new Refusal('unauthorized');
  const own = metricsText({ outcomes: outcomes ?? newOutcomes(), signers, now: now() });
  const headers = { 'Content-Type': METRICS_TYPE, 'Cache-Control': 'no-store' };
  return new Response(own + (hostMetrics?.() ?? ''), { headers });
}

/** The public keys from yesterday on. @param {HandlerDeps} deps */
function directory({ signers, base, now }) {
  const keys = directoryOf(signers, `${base}/token-request`, Math.floor(now() / DAY_MS) - 1);
  return new Response(JSON.stringify(keys), {
    headers: {
      'Content-Type': 'application/private-token-issuer-directory',
      'Cache-Control': 'public, max-age=3600',
    },
  });
}

/** @param {Request} request @param {HandlerDeps} deps */
async function issue(request, deps) {
  // The body is untyped, so a browser asks nothing first. But it names the page's origin. A page of
  // another site could otherwise spend the bundle of who is logged in here.
  const origin = request.headers.get('origin');
  if (origin !== null && !deps.origins.includes(origin)) throw new Refusal('origin');
  const account = await deps.account(request);
  if (account === null || typeof account.id !== 'string' || account.id === '')
    throw new Refusal('account');
  if (account.isReal !== true) throw new Refusal('real');
  const body = await readBody(request, deps.bodyTimeoutMs ?? BODY_TIMEOUT_MS);
  const asked = readBundle(body);
  if (asked === null) throw new Refusal('bundle');
  const pairs = checked(asked, deps);
  const counted = await deps.count(account.id, asked.day, await sha256(body));
  if (counted === 'other') throw new Refusal('spent');
  if (counted === 'full') throw new Refusal('full');
  const signatures = [];
  for (const { signer, message } of pairs) signatures.push(await signer.sign(message));
  const headers = { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' };
  const response = new Response(new Blob(/** @type {any} */ (signatures)), { headers });
  return { isNew: counted === 'new', response };
}

/**
 * Holds a request against the keys of its day. Returns each message with its key.
 * @param {BundleRequest} asked
 * @param {HandlerDeps} deps
 */
function checked({ day, parts }, { signers, now }) {
  const today = Math.floor(now() / DAY_MS);
  if (day !== today && day !== today + 1) throw new Refusal('day');
  const keys = new Map(signersOf(signers, day).map((signer) => [signer.recipe, signer]));
  return parts.flatMap(({ recipe, keyIds, messages }) => {
    const signer = keys.get(recipe);
    if (signer === undefined) throw new Refusal('recipe');
    if (messages.length > signer.perDay) throw new Refusal('quota');
    if (!keyIds.every((last) => last === signer.id[31])) throw new Refusal('key');
    if (!messages.every((message) => isBelow(message, signer))) throw new Refusal('message');
    return messages.map((message) => ({ signer, message }));
  });
}

/**
 * Reads a body, capped and timed while it streams.
 * @param {Request} request
 * @param {number} timeoutMs
 * @returns {Promise<Uint8Array>}
 */
async function readBody(request, timeoutMs) {
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array(0);
  /** @type {Uint8Array[]} */
  const pieces = [];
  let size = 0;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.cancel().catch(() => {});
  }, timeoutMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > BUNDLE_SIZE_MAX) throw new Refusal('body-size');
      pieces.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error instanceof Refusal ? error : new Refusal('bundle'); // the connection broke
  } finally {
    clearTimeout(timer);
  }
  if (isLate) throw new Refusal('body-slow');
  const body = new Uint8Array(size);
  pieces.reduce((at, piece) => (body.set(piece, at), at + piece.length), 0);
  return body;
}

/**
 * @param {Request} request
 * @param {string[]} origins
 * @returns {Record<string, string>}
 */
function corsHeaders({ method, headers }, origins) {
  const origin = headers.get('origin');
  if (origin === null || !origins.includes(origin)) return {};
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    ...(method === 'OPTIONS' && {
      'Access-Control-Allow-Methods': 'GET, POST',
      'Access-Control-Max-Age': '86400',
    }),
  };
}
