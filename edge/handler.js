// SPDX-License-Identifier: Apache-2.0
// The edge's routes as one function of (request, dependencies), the same in workerd and Node. Only
// a record and an idempotency key reach the store; the address, the other headers and the time are
// never read. It must not depend on more of a runtime than URL, a reader of bytes, timers and
// SubtleCrypto, and Response where the host wants one.

import { requireToken } from './bearer.js';
import { BODY_TIMEOUT_MS, arrivedBody, readBody } from './body.js';
import { answerDelivery } from './delivery.js';
import { EdgeError } from './errors.js';
import { framesOf, readByFrame } from './frame.js';
import { getLogFile } from './log_files.js';
import { metricsText } from './metrics.js';
import { isQuery } from './recipes.js';
import { spendsTokens } from './tokens.js';
import { METRICS_TYPE } from 'shoal-relay/exposition';
import { UPLOAD_TYPE } from './dap_forward.js';

/**
 * @typedef {import('./collection.js').Recipe} Recipe
 * @typedef {import('./collection.js').Outcome} Outcome
 */
/** @typedef {import('./collection.js').Collection} Collection */
/** @typedef {Pick<Recipe, 'hash' | 'json' | 'expiresDay'>} Published */
/**
 * @typedef {import('./incoming.js').Answer} Answer
 * @typedef {import('./incoming.js').Incoming} Incoming
 */

/**
 * @typedef {object} TaskHost  one pinned recipe of two servers, whose reports are forwarded to
 *   its leader at once
 * @property {Pick<Recipe, 'key' | 'hash' | 'expiresDay'>} recipe
 * @property {number} length  bytes of one report
 * @property {(body: Uint8Array) => Promise<import('./dap_forward.js').Forwarded | null>} forward
 * @property {() => Promise<Record<string, number>>} stats
 */

/**
 * @typedef {object} HandlerDeps
 * @property {Map<string, Collection>} collections  by recipe hash; pass the same map with every
 *   request, because frames are computed once for each map
 * @property {Map<string, TaskHost>} [tasks]  by task id, base64url
 * @property {Published[]} recipes  the published recipes; for a recipe that is split into parts,
 *   the recipe itself
 * @property {import('./tokens.js').Tokens} [tokens]  needed where a recipe has send.token
 * @property {string[]} origins  origins whose pages may report; "*" is any
 * @property {() => number} now  milliseconds since 1970
 * @property {import('./log_files.js').ReadLog} [log]  files of the log; without it there is none
 * @property {number} [bodyTimeoutMs]  time limit for a whole body
 * @property {string} [adminToken]  opens /metrics, /delivery and the quarantine; without it they are
 *   absent
 * @property {string} [aggregator]  base URL, to which the page of delivery links
 * @property {import('./metrics.js').Refusals} [refusals]  counts what is refused
 * @property {() => Promise<import('shoal-relay/exposition').Metric[]>} [hostMetrics]  of the process
 * @property {import('./gateway.js').Gateway} [gateway]  takes reports that relays pass on
 * @property {() => {status: string}} [health]  what /healthz says; any status but "ok" is a 503
 */

const REPORT_FIELDS = ['key', 'recipe_hash', 'parameters', 'records'];
const BODY_SLACK = 1024; // the most bytes of a report besides the record's text
const RETRY_AFTER_S = 300;
const DAY_MS = 86_400_000;
/** Matches a URL whose path certainly needs no parsing, and the path. */
const PLAIN_URL = /^https?:\/\/[^/?#\\]+(\/[\w/-]+)$/;
const PUBLIC = { 'Cache-Control': 'public, max-age=300' };

/**
 * Answers one request. Never throws.
 * @param {Request} request
 * @param {HandlerDeps} deps
 * @returns {Promise<Response>}
 */
export async function handle(request, deps) {
  const { status, headers, body } = await answer(request, deps);
  return new Response(/** @type {BodyInit | null} */ (/** @type {unknown} */ (body)), {
    status,
    headers,
  });
}

/**
 * Answers one request without the platform's objects. Rejects only if the URL is invalid. The
 * answer's headers are the caller's, who may add to them.
 * @param {Incoming} request
 * @param {HandlerDeps} deps
 * @returns {Promise<Answer>}
 */
export async function answer(request, deps) {
  const path = PLAIN_URL.exec(request.url)?.[1] ?? new URL(request.url).pathname;
  // A log is the same to everyone, and anyone may look.
  const allowed = path.startsWith('/log/') ? '*' : allowedOrigin(request, deps.origins);
  /** @type {Answer} */
  let answered;
  try {
    // A report does not go round over `route`: each async function on its way costs it a microsecond.
    answered =
      path === '/v1/reports' && request.method === 'POST'
        ? await postReport(request, deps, allowed !== null)
        : await route(request, path, deps, allowed !== null);
  } catch (error) {
    answered = errorAnswer(error, isOfReports(path) ? deps.refusals : undefined);
  }
  addHeaders(answered, request, allowed);
  return answered;
}

/** @param {string} path */
const isOfReports = (path) => path === '/v1/reports' || path.startsWith('/tasks/');

/**
 * @param {Incoming} request
 * @param {string} path
 * @param {HandlerDeps} deps
 * @param {boolean} originAllowed
 * @returns {Promise<Answer>}
 */
async function route(request, path, deps, originAllowed) {
  const { method } = request;
  if (method === 'OPTIONS') return { status: 204, headers: {}, body: null };
  if (path === '/v1/reports') throw new EdgeError('method'); // `answer` takes those of POST
  const [, task] = /^\/tasks\/([\w-]{43})\/reports$/.exec(path) ?? [];
  if (task !== undefined) {
    allow(method, 'POST');
    if (!originAllowed) throw new EdgeError('origin');
    if (await request.wait?.()) throw new EdgeError('rate');
    return forwardSealed(request, task, deps);
  }
  if (path === '/healthz') {
    allow(method, 'GET', 'HEAD');
    const health = deps.health?.() ?? { status: 'ok' };
    return json(health, health.status === 'ok' ? 200 : 503);
  }
  if (path === '/v1/recipes' || path.startsWith('/v1/recipes/')) {
    allow(method, 'GET', 'HEAD');
    return getRecipes(path.slice('/v1/recipes/'.length), deps);
  }
  if (path === '/v1/queries') {
    allow(method, 'GET', 'HEAD');
    return getQueries(deps);
  }
  if (deps.gateway) {
    if (path === '/ohttp') {
      allow(method, 'POST');
      return deps.gateway.take(request, deps, (inner) => answer(inner, deps));
    }
    if (path === '/ohttp-keys') {
      allow(method, 'GET', 'HEAD');
      return deps.gateway.publish();
    }
  }
  if (deps.log !== undefined && path.startsWith('/log/')) {
    allow(method, 'GET', 'HEAD');
    return getLogFile(path.slice('/log/'.length), deps.log);
  }
  if (deps.adminToken !== undefined) {
    if (path === '/metrics') {
      allow(method, 'GET', 'HEAD');
      await requireToken(request, deps.adminToken);
      return getMetrics(deps);
    }
    if (path === '/delivery') {
      allow(method, 'GET', 'HEAD', 'POST');
      return answerDelivery(request, deps, deps.adminToken);
    }
    if (path === '/v1/quarantine/retry') {
      allow(method, 'POST');
      await requireToken(request, deps.adminToken);
      return retryQuarantine(deps);
    }
  }
  throw new EdgeError('route');
}

/** @param {string} method @param {string[]} methods */
function allow(method, ...methods) {
  if (!methods.includes(method)) throw new EdgeError('method');
}

/** @param {Incoming} request @param {HandlerDeps} deps @param {boolean} originAllowed */
async function postReport(request, deps, originAllowed) {
  if (!originAllowed) throw new EdgeError('origin');
  if (request.wait !== undefined && (await request.wait())) throw new EdgeError('rate');
  if (
    !/^application\/json *(; *charset="?utf-8"?)? *$/i.test(
      request.headers.get('content-type') ?? '',
    )
  ) {
    throw new EdgeError('content-type');
  }
  const key = request.headers.get('idempotency-key') ?? '';
  if (!/^[0-9a-f]{32}$/.test(key)) throw new EdgeError('idempotency-key');
  const frames = framesOf(deps.collections);
  const limit = frames.longest + BODY_SLACK;
  const body =
    arrivedBody(request, limit) ??
    (await readBody(request, limit, deps.bodyTimeoutMs ?? BODY_TIMEOUT_MS));
  const { collection, record } = readByFrame(body, frames) ?? readReport(parse(body), deps);
  const { recipe } = collection;
  if (isExpired(recipe, deps.now())) throw new EdgeError('expired');
  if (spendsTokens(recipe)) {
    if (deps.tokens === undefined) throw new EdgeError('internal');
    await deps.tokens.check(recipe, request.headers.get('authorization'), key, deps.now());
  }
  const outcome = await collection.accept(record, key);
  if (outcome === 'expired') throw new EdgeError('expired');
  if (outcome === 'full') throw new EdgeError('store-full');
  return json({ status: 'accepted' }, 202, {});
}

/**
 * Forwards one sealed report. Only the length and the recipe are read.
 * @param {Incoming} request @param {string} id @param {HandlerDeps} deps
 */
async function forwardSealed(request, id, { tasks, now, bodyTimeoutMs = BODY_TIMEOUT_MS }) {
  const task = tasks?.get(id);
  if (task === undefined) throw new EdgeError('recipe-hash');
  if (isExpired(task.recipe, now())) throw new EdgeError('expired');
  const type = (request.headers.get('content-type') ?? '').replaceAll(' ', '').toLowerCase();
  if (type !== UPLOAD_TYPE) throw new EdgeError('upload-type');
  const body = await readBody(request, task.length, bodyTimeoutMs);
  if (body.length !== task.length) throw new EdgeError('upload-length');
  const forwarded = await task.forward(body);
  if (forwarded === null) throw new EdgeError('leader');
  const { status, type: answerType, retryAfter, body: said } = forwarded;
  /** @type {Record<string, string>} */
  const headers = { 'Cache-Control': 'no-store' };
  if (answerType !== null) headers['Content-Type'] = answerType;
  if (retryAfter !== null) headers['Retry-After'] = retryAfter;
  return { status, headers, body: said.length ? said : null };
}

/** @param {Uint8Array} bytes @returns {unknown} */
function parse(bytes) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new EdgeError('json');
  }
}

/**
 * Checks a report's whole shape and its record. Anything but exactly a report of a pinned recipe is
 * refused, so that nothing else can travel with it.
 * @param {unknown} report
 * @param {HandlerDeps} deps
 */
function readReport(report, deps) {
  const { key, recipe_hash: hash, parameters, records } = exactObject(report, REPORT_FIELDS);
  if (typeof key !== 'string' || typeof hash !== 'string') throw new EdgeError('type');
  if (!Array.isArray(records) || records.length !== 1 || typeof records[0] !== 'string')
    throw new EdgeError('type');
  const collection = deps.collections.get(hash);
  if (collection === undefined) throw new EdgeError('recipe-hash');
  const { recipe } = collection;
  if (key !== recipe.key) throw new EdgeError('recipe');
  if (!sameParameters(parameters, recipe.parameters)) throw new EdgeError('parameters');
  if (isExpired(recipe, deps.now())) throw new EdgeError('expired');
  return { collection, record: readRecord(recipe, records[0]) };
}

/**
 * @param {unknown} value
 * @param {string[]} fields
 * @returns {Record<string, unknown>}
 */
function exactObject(value, fields) {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new EdgeError('type');
  for (const name of Object.keys(value)) {
    if (!fields.includes(name)) throw new EdgeError('unknown-field');
  }
  for (const name of fields) {
    if (!Object.hasOwn(value, name)) throw new EdgeError('missing-field');
  }
  return /** @type {Record<string, unknown>} */ (value);
}

/** @param {unknown} given @param {Record<string, number>} wanted */
function sameParameters(given, wanted) {
  const names = Object.keys(wanted);
  const object = exactObject(given, names);
  return names.every((name) => object[name] === wanted[name]);
}

/** @param {Recipe} recipe @param {string} text */
function readRecord(recipe, text) {
  if (text.length !== recipe.textSize) throw new EdgeError('record');
  try {
    return recipe.recordFromText(text);
  } catch {
    throw new EdgeError('record');
  }
}

/** @param {Pick<Recipe, 'expiresDay'>} recipe @param {number} now */
function isExpired(recipe, now) {
  return Math.floor(now / DAY_MS) > recipe.expiresDay;
}

/**
 * @param {string} hash  empty for the list
 * @param {HandlerDeps} deps
 */
function getRecipes(hash, deps) {
  const now = deps.now();
  if (hash !== '') {
    const recipe =
      deps.collections.get(hash)?.recipe ?? deps.recipes.find((each) => each.hash === hash);
    if (recipe === undefined || isExpired(recipe, now)) throw new EdgeError('recipe-hash');
    return json(recipe.json, 200, PUBLIC);
  }
  const recipes = deps.recipes
    .filter((recipe) => !isExpired(recipe, now))
    .map((recipe) => ({
      hash: recipe.hash,
      url: `/v1/recipes/${recipe.hash}`,
      recipe: recipe.json,
    }));
  return json({ recipes }, 200, PUBLIC);
}

/**
 * Returns the queries for devices. Everyone gets the same answer, because nothing of the request is
 * read.
 * @param {HandlerDeps} deps
 */
function getQueries(deps) {
  const now = deps.now();
  const queries = deps.recipes.filter((recipe) => isQuery(recipe) && !isExpired(recipe, now));
  return json({ queries: queries.map((query) => query.json) }, 200, PUBLIC);
}

/** Counts as Prometheus text. @param {HandlerDeps} deps */
async function getMetrics(deps) {
  const headers = { 'Content-Type': METRICS_TYPE, 'Cache-Control': 'no-store' };
  return { status: 200, headers, body: await metricsText(deps) };
}

/** Puts batches that the aggregator refused back in line. @param {HandlerDeps} deps */
async function retryQuarantine(deps) {
  let batches = 0;
  for (const { retryQuarantined } of deps.collections.values()) batches += await retryQuarantined();
  return json({ status: 'queued', batches });
}

/**
 * Returns the origin whose pages may read the answer, "" if no page asks, or null if the page's
 * origin may not report.
 * @param {Incoming} request
 * @param {string[]} origins
 */
function allowedOrigin(request, origins) {
  const origin = request.headers.get('origin');
  if (origin === null) return '';
  if (origins.includes('*')) return '*';
  return origins.includes(origin) || origin === new URL(request.url).origin ? origin : null;
}

/**
 * Adds the headers that every answer has, those that let a browser's page read it, and those that
 * answer the page's preflight request. Objects put together from others would cost microseconds.
 * @param {Answer} answered  whose headers are its own
 * @param {Incoming} request
 * @param {string | null} allowed
 */
function addHeaders({ status, headers }, { method }, allowed) {
  if (allowed) {
    headers['Access-Control-Allow-Origin'] = allowed;
    if (method === 'OPTIONS') {
      headers['Access-Control-Allow-Methods'] = 'GET, POST';
      headers['Access-Control-Allow-Headers'] = 'Authorization, Content-Type, Idempotency-Key';
      headers['Access-Control-Max-Age'] = '86400';
    } else if (status !== 202) headers['Access-Control-Expose-Headers'] = 'Retry-After';
  }
  headers.Vary = 'Origin';
  headers['X-Content-Type-Options'] = 'nosniff';
}

/**
 * @param {unknown} value
 * @param {number} [status]
 * @param {Record<string, string>} [headers]
 * @returns {Answer}
 */
function json(value, status = 200, headers = { 'Cache-Control': 'no-store' }) {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}

/**
 * @param {unknown} error
 * @param {import('./metrics.js').Refusals} [refusals]  of reports
 * @returns {Answer}
 */
function errorAnswer(error, refusals) {
  const { code, number, message, status } =
    error instanceof EdgeError ? error : new EdgeError('internal');
  refusals?.add(code);
  /** @type {Record<string, string>} */
  const headers = { 'Cache-Control': 'no-store' };
  if (status === 503 || status === 429) headers['Retry-After'] = String(RETRY_AFTER_S);
  return json({ error: { code, number, message } }, status, headers);
}
