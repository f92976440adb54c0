// SPDX-License-Identifier: Apache-2.0
// Sends requests to the endpoint through a relay (Oblivious HTTP, RFC 9458): the relay sees an
// address and ciphertext, the edge worker a report and the relay. This is a chunk of its own, loaded
// if a page names a relay; nothing then goes to the endpoint in any other way. The gateway's key is
// that of the logged key list (log.js), which is the same for everyone. All messages of a page have
// one length. Depends on hpke.js and log.js, chunks that are loaded with it.
import { encodeRequest, readResponse } from '../bindings/binary_http.js';
import { keyOf } from '../bindings/encapsulation.js';
import { DAY_MS, today, uniform } from './basics.js';
import { encapsulate } from './hpke.js';
import { limitedBytes } from './limited_body.js';
import { fail, keyList } from './log.js';

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./log.js').KeyList} KeyList
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 *
 * @typedef {object} State of a client
 * @property {KeyList | null} list
 * @property {any} [timer] of the next time that the list is asked for
 * @property {unknown} failed why there is none, until it is asked for again
 * @property {number} length of all messages
 *
 * @typedef {object} Ahead a request that was sealed ahead
 * @property {Uint8Array} body
 * @property {(signal: AbortSignal) => Promise<Response>} send begins before it returns
 */

const HOUR_MS = 3_600_000;
const KEEPALIVE_MAX = 60_000; // browsers refuse more than 64 KiB in flight
const LENGTH = 2048; // of a message, at least
const LENGTH_ASKED = 4096; // of a page that is sent questions, which are as long as their answers
const HEAD = 768; // of it, for control data and headers with a token
const ANSWER_MAX = 2e6;
const RETRY_MS = 60_000;
const TRIES = 4; // WebKitGTK makes no key three times in a thousand
const BUSY = 503; // refuses nothing: the outbox tries again

/** @type {WeakMap<object, State>} */
const states = new WeakMap();

/** @param {Context} context @returns {State} */
function stateOf({ deps, options }) {
  const length = options.policy || options.runs ? LENGTH_ASKED : LENGTH;
  const state = states.get(deps) ?? { list: null, failed: null, length };
  states.set(deps, state);
  return state;
}

/** @template T @param {() => Promise<T>} task @returns {Promise<T>} */
async function tried(task) {
  for (let left = TRIES; ; left--)
    try {
      return await task();
    } catch (error) {
      if (left <= 1) throw error;
    }
}

// ---- the key ----

/**
 * Asks for the key list at a time that the clock alone decides. No answer of the gateway makes a device
 * ask: the gateway may serve the log too, and would learn the address behind the report that it
 * answered.
 * @param {Context} context
 * @param {number} ms
 */
function askLater(context, ms) {
  const { deps, signal } = context;
  const state = stateOf(context);
  deps.clearTimer(state.timer);
  state.timer = deps.setTimer(() => {
    state.failed = state.list = null;
    if (context.isOn && !signal.aborted) void whyNot(context);
  }, ms);
}

/**
 * Returns the key list in force. A newer one is looked for on the next day. If there is none, it is
 * asked for again within minutes and not by the next event, because whoever serves the log need not
 * learn when that comes.
 * @param {Context} context
 */
async function listOf(context) {
  const state = stateOf(context);
  const { deps } = context;
  const { list, failed } = state;
  const day = today(deps);
  if (list && list.from <= day && day <= list.until) return list;
  if (failed) throw failed;
  try {
    state.list = await keyList(context);
    askLater(context, DAY_MS - (deps.now() % DAY_MS) + uniform(deps) * HOUR_MS);
    return state.list;
  } catch (error) {
    askLater(context, RETRY_MS);
    throw (state.failed = error);
  }
}

/** The first of a list that this client can seal to. @param {KeyList} list */
function keyIn({ gateway }) {
  return gateway.map(({ config }) => keyOf(config)).find(Boolean) ?? fail('no-keys');
}

/**
 * Returns why nothing can be sent, as a code of explain(), or undefined if it can. This is asked
 * before anything is spent.
 * @param {Context} context
 */
export async function whyNot(context) {
  try {
    await tried(() => crypto.subtle.generateKey('X25519', false, ['deriveBits']));
  } catch {
    return 'no-x25519'; // also on a page without https, which has no `subtle`
  }
  try {
    keyIn(await listOf(context));
  } catch (error) {
    return context.noteError(error).code;
  }
}

// ---- lengths ----

/** A power of two, so that little is told by what a page is padded to. @param {number} content bytes */
const rounded = (content) => 2 ** Math.ceil(Math.log2(content + HEAD));

/** @param {Context} context @param {Recipe} recipe @returns {Promise<number>} */
const reportLength = async (context, recipe) =>
  recipe.json.aggregation?.protocol === 'dap'
    ? (await import('./dap.js')).lengthOf(context, recipe)
    : (await bytesOf(JSON.stringify(recipe.report(' '.repeat(recipe.textSize))))).length;

/**
 * Returns the length of all messages of the page. Only a longer message, of a question or a task that
 * the page did not bring, changes it, and then for good.
 * @param {Context} context
 * @param {number} length bytes of the content
 */
async function lengthFor(context, length) {
  const state = stateOf(context);
  for (const recipe of /** @type {Recipe[]} */ (context.page?.set.recipes ?? []))
    length = Math.max(length, await reportLength(context, recipe));
  return (state.length = Math.max(state.length, rounded(length)));
}

/** @param {any} body of a request */
const bytesOf = async (body) => new Uint8Array(await new Response(body).arrayBuffer());

// ---- requests ----

/**
 * Seals a request.
 * @param {Context} context
 * @param {string} url
 * @param {RequestInit} init
 * @param {string} [date]
 */
async function sealed(
  context,
  url,
  { method = 'GET', headers, body },
  date = dateOf(context.deps.now()),
) {
  const { protocol, host, pathname, search } = new URL(url);
  const key = keyIn(await listOf(context));
  const content = await bytesOf(body);
  /** @type {import('../bindings/binary_http.js').Fields} */
  const fields = [['date', date], ...new Headers(headers)];
  const message = encodeRequest(
    {
      method,
      scheme: protocol.slice(0, -1),
      authority: host,
      path: pathname + search,
      fields,
      content,
    },
    await lengthFor(context, content.length),
  );
  return tried(() => encapsulate(key, message));
}

/** The hour, so that a clock that is a little off is no mark of its device. @param {number} now */
const dateOf = (now) => new Date(now - (now % HOUR_MS)).toUTCString();

/**
 * Posts to the relay. A body without a type needs no leave from the relay first, and the relay adds
 * the type.
 * @param {Context} context
 * @param {RequestInit} init of the request that is sealed
 * @param {Uint8Array} body
 */
const post = ({ fetch, options }, init, body) =>
  fetch(/** @type {string} */ (options.relay), {
    ...init,
    method: 'POST',
    headers: {},
    body: /** @type {any} */ (body),
    keepalive: body.length <= KEEPALIVE_MAX,
  });

/**
 * Opens what the relay answered. The relay's own word about a request is never the last one; only
 * what the gateway sealed can refuse a report for good.
 * @param {Awaited<ReturnType<typeof sealed>>} request
 * @param {Response} response
 * @returns {Promise<{answer: Response, date?: string}>} date: what another sealing should say, where
 *   this device's clock is hours off
 */
async function opened({ open }, response) {
  const bytes = await limitedBytes(response, ANSWER_MAX);
  // Its Retry-After stands.
  const answer = new Response(null, { status: BUSY, headers: response.headers });
  if (response.status !== 200) return { answer }; // also where the gateway does not know the key
  const said = await open(bytes).then(readResponse, () => null);
  if (!said) return { answer };
  const { status, content } = said;
  const headers = new Headers(said.fields);
  // Nothing remembers the date: a gateway could mark a device by one that it made up.
  if (status === 400 && new TextDecoder().decode(content).includes('types#date'))
    return { answer, date: dateOf(Date.parse(headers.get('date') ?? '')) };
  return { answer: new Response(/** @type {any} */ (content), { status, headers }) };
}

/**
 * Sends a request to the endpoint as fetch() does. Each request to the relay starts under the lock
 * that withdrawal takes.
 * @param {Context} context
 * @param {string} url
 * @param {RequestInit} [init]
 * @param {string} [date] of the second try, which is the last
 * @returns {Promise<Response>}
 */
export async function send(context, url, init = {}, date) {
  const request = await sealed(context, url, init, date).catch((error) => {
    context.noteError(error);
    throw error;
  });
  /** @type {Promise<Response> | undefined} */
  let asking;
  await context.exclusive(async () => {
    asking = post(context, init, request.body);
    asking.catch(() => {}); // the await below reports it
  });
  // Without consent there is no response to open, which throws.
  const response = /** @type {Response} */ (await asking);
  const { answer, date: next } = await opened(request, response);
  return next && !date ? send(context, url, init, next) : answer;
}

/**
 * Seals a request that is sent when the page goes, and only fetch() is called then.
 * @param {Context} context
 * @param {string} url
 * @param {RequestInit} init
 * @returns {Promise<Ahead>}
 */
export async function ahead(context, url, init) {
  const request = await sealed(context, url, init);
  const send = (/** @type {AbortSignal} */ signal) =>
    post(context, { ...init, signal }, request.body).then(
      async (response) => (await opened(request, response)).answer,
    );
  return { body: request.body, send };
}
