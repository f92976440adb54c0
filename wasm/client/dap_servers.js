// SPDX-License-Identifier: Apache-2.0
// The two servers that add up, as a device sees them: the module that splits for them, and their
// keys. The servers give their keys themselves, and say how long to keep them. Depends on
// dap_core.js; HPKE is injected.
import { loadModule } from '../bindings/web.js';
import { DAY_MS, randomBytes, today, uniform } from './basics.js';
import { limitedBytes } from './limited_body.js';

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('../bindings/dap_core.js').DapTask} DapTask
 * @typedef {import('../bindings/dap_core.js').Key} Key
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 * @typedef {Key & {until: number, last: number}} Kept a key as storage has it: fresh until the one
 *   time, of use until the other
 *
 * @typedef {object} Parcel what a row of the queue has besides its report: what is sent, and where
 * @property {ReportJson} report with the servers' names
 * @property {string} path below the endpoint
 * @property {Uint8Array} body
 * @property {string} [sealedTo] both servers' public keys
 * @property {number} [expires] last day, where no recipe says so
 */

const TYPE = 'application/ppm-dap;message=hpke-config-list';
const LIST_MAX = 2 + 65_535; // bytes of a server's list of keys
const TIMEOUT_MS = 30_000;
const KEEP_DEFAULT_S = 3600; // how long to keep a server's keys if it does not say
const KEEP_MAX_S = 7 * 86_400;
const HOUR_MS = 3_600_000;
/**
 * Requests for keys that are under way, by server, so that a client asks each server once.
 * @type {WeakMap<object, Map<string, Promise<Kept | null>>>}
 */
const asked = new WeakMap();
/**
 * The pairs of servers whose keys of the next day are awaited, by client.
 * @type {WeakMap<object, Set<string>>}
 */
const awaited = new WeakMap();
/**
 * The module, fetched and compiled once for a client.
 * @type {WeakMap<object, Promise<WebAssembly.Module>>}
 */
const modules = new WeakMap();
/** @param {Context} context */
export function compiled({ deps, options: { dapWasm } }) {
  const made =
    modules.get(deps) ??
    (typeof dapWasm === 'function'
      ? dapWasm()
      : loadModule(dapWasm ?? new URL('./shoal-dap.wasm', import.meta.url), deps.fetch));
  modules.set(deps, made);
  made.catch(() => modules.delete(deps)); // the next event tries again
  return made;
}

/** @param {Context} context */
export const hpkeOf = async ({ options: { hpke } }) =>
  hpke ? hpke() : (await import('./hpke.js')).hpke;

// ---- the servers' keys ----

/** Seconds for which the answer may be kept. @param {Response} response */
function keepS(response) {
  const said = response.headers.get('Cache-Control') ?? '';
  if (/no-store|no-cache/i.test(said)) return 0;
  return Math.min(Number(/max-age=(\d+)/i.exec(said)?.[1] ?? KEEP_DEFAULT_S), KEEP_MAX_S);
}

/**
 * Fetches a server's key. It seals an empty text once, so that a key or a browser that cannot seal
 * is found out before anything is spent.
 * @param {Context} context
 * @param {DapTask} task
 * @param {string} url of the server
 * @returns {Promise<Kept>}
 */
async function fetchKey(context, task, url) {
  const { deps } = context;
  const stop = new AbortController();
  const timer = deps.setTimer(() => stop.abort(), TIMEOUT_MS);
  try {
    /** @type {Promise<Response> | undefined} */
    let asking;
    // The request begins under the lock that withdrawal takes: after that no tab begins another.
    await context.exclusive(async () => {
      asking = deps.fetch(`${url}/hpke_config`, {
        headers: { Accept: TYPE },
        mode: 'cors',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        cache: 'no-store', // only the store `state` keeps keys, because the end of consent erases it
        redirect: 'error',
        signal: stop.signal,
      });
      asking.catch(() => {}); // the await below reports it
    });
    const response = await asking;
    if (!response?.ok) throw new Error(String(response?.status));
    const key = task.key(await limitedBytes(response, LIST_MAX));
    const none = new Uint8Array(0);
    await (await hpkeOf(context)).seal(key.publicKey, none, none, none);
    const lifetime = 1000 * keepS(response);
    const now = deps.now();
    // Fresh on this UTC day at most. Nobody else makes a device look for a newer key: no answer to a
    // report does, since the server that gave it would learn the address behind the report.
    const until = Math.min(now + lifetime, (today(deps) + 1) * DAY_MS);
    return { ...key, until, last: now + 2 * lifetime }; // servers take a key for twice as long as they say
  } finally {
    stop.abort();
    deps.clearTimer(timer);
  }
}

/**
 * Keeps a key, only under consent: it is forgotten when consent ends.
 * @param {Context} context
 * @param {string} url
 * @param {Kept} key
 */
async function keep(context, url, key) {
  await context.exclusive(async (tx) => {
    await tx.put('state', 'keys', { ...(await tx.get('state', 'keys')), [url]: key });
  });
  return key;
}

/**
 * Fetches a key as fetchKey does, and keeps it, once for all callers that ask until it is kept: a
 * server that is asked again would learn when an event came. Null if it cannot be fetched.
 * @param {Context} context
 * @param {DapTask} task
 * @param {string} url
 */
function askKey(context, task, url) {
  const running = asked.get(context.deps) ?? new Map();
  asked.set(context.deps, running);
  if (!running.has(url)) {
    running.set(
      url,
      fetchKey(context, task, url)
        .catch(() => null)
        .then((key) => key && keep(context, url, key))
        .finally(() => running.delete(url)),
    );
  }
  return /** @type {Promise<Kept | null>} */ (running.get(url));
}

/**
 * Returns which kept keys have not had their time, by server.
 * @param {Context} context
 * @param {string[]} urls
 * @param {'until' | 'last'} by
 * @returns {Promise<{[url: string]: Kept}>}
 */
async function keptOf(context, urls, by) {
  /** @type {{[url: string]: Kept}} */
  const kept = (await context.transaction((tx) => tx.get('state', 'keys'))) ?? {};
  const now = context.deps.now();
  // A clock that was set back must not make a key eternal. An earlier version took keys for fresh
  // beyond the day on which they came.
  const most = now + (by === 'until' ? DAY_MS : 1000 * KEEP_MAX_S);
  const good = urls.filter((url) => kept[url]?.[by] > now && kept[url].until <= most);
  return Object.fromEntries(good.map((url) => [url, kept[url]]));
}

/** @param {(Kept | null | undefined)[]} keys @returns {[Kept, Kept] | null} */
const both = (keys) => (keys.every(Boolean) ? /** @type {[Kept, Kept]} */ (keys) : null);

/**
 * Returns the keys of both servers that are kept and of use; null if one is missing. Asks nobody.
 * @param {Context} context
 * @param {string[]} urls
 */
export async function keptKeys(context, urls) {
  const kept = await keptOf(context, urls, 'last');
  return both(urls.map((url) => kept[url]));
}

/**
 * Returns the keys of both servers: kept ones, else new ones; null if a server gives none.
 * @param {Context} context
 * @param {DapTask} task
 * @param {string[]} urls
 * @param {'until' | 'last'} by when kept ones have had their time. An event takes any of use: a server
 *   need not learn when it came
 */
export async function keysOf(context, task, urls, by) {
  const kept = await keptOf(context, urls, by);
  return both(await Promise.all(urls.map((url) => kept[url] ?? askKey(context, task, url))));
}

/**
 * Renews the keys of a page that stays open once on each later UTC day, by the clock: in its first
 * hour, unless another page did so. Reports are not sent when keys come: a server need not see both
 * at once.
 * @param {Context} context
 * @param {DapTask} task
 * @param {string[]} urls
 */
export function renewDaily(context, task, urls) {
  const { deps, signal } = context;
  const pairs = awaited.get(deps) ?? new Set();
  awaited.set(deps, pairs);
  const pair = urls.join(' ');
  if (pairs.has(pair) || signal.aborted) return;
  pairs.add(pair);
  const stop = () => deps.clearTimer(timer);
  const timer = deps.setTimer(
    () => {
      signal.removeEventListener('abort', stop);
      pairs.delete(pair);
      renewDaily(context, task, urls);
      if (context.isOn)
        keysOf(context, task, urls, 'until').catch((error) => context.noteError(error));
    },
    DAY_MS - (deps.now() % DAY_MS) + uniform(deps) * HOUR_MS,
  );
  signal.addEventListener('abort', stop);
}

/** @param {Context} context */
export async function whyNoKeys({ options: { hpke } }) {
  if (hpke) return 'no-keys';
  try {
    await crypto.subtle.generateKey('X25519', false, ['deriveBits']);
    return 'no-keys';
  } catch {
    return 'no-x25519'; // also on a page without https, which has no `subtle`
  }
}

// ---- what a report is sealed with ----

/** @param {{leader: string, helper: string}} of */
export const serversOf = ({ leader, helper }) => ({ leader, helper });

/** @param {string} hex */
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));

/** @param {Context} context @param {[Key, Key]} keys @param {string} id */
export const inputOf = async (context, keys, id) => ({
  id: bytesOf(id),
  now: context.deps.now(),
  random: (/** @type {number} */ n) => randomBytes(context.deps, n),
  keys,
  sealer: await hpkeOf(context),
});
