// SPDX-License-Identifier: Apache-2.0
// Recipes whose records two servers add up, so that neither server sees a record. This is a chunk
// of its own, loaded if a page has such a recipe. A record is randomized like any other and then
// split; each share is sealed to its server's key, so that the queue, the edge worker and the
// network hold ciphertext only. The servers give their keys themselves, and say how long to keep
// them. Source: draft-ietf-ppm-dap-18 section "Uploading Reports". Depends on dap_core.js; HPKE is
// injected.
import { DapTask } from '../bindings/dap_core.js';
import { toHex } from '../bindings/device.js';
import { loadModule } from '../bindings/web.js';
import { DAY_MS, randomBytes } from './basics.js';
import { limitedBytes } from './limited_body.js';

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./storage.js').Row} Row
 * @typedef {import('../bindings/dap_core.js').Key} Key
 * @typedef {import('../bindings/dap_core.js').ExactTask} ExactTask
 * @typedef {import('../bindings/dap_core.js').Measurement} Measurement
 * @typedef {import('../bindings/device.js').Recipe} Recipe
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
 * @typedef {{code?: string, seal?: (report: ReportJson, id: string) => Promise<Parcel |
 *   {code: string}>}} Sealing what seals the reports of a recipe, or the code that says why nothing
 *   does
 */

const TYPE = 'application/ppm-dap;message=hpke-config-list';
const LIST_MAX = 2 + 65_535; // bytes of a server's list of keys
const TIMEOUT_MS = 30_000;
const KEEP_DEFAULT_S = 3600; // how long to keep a server's keys if it does not say
const KEEP_MAX_S = 7 * 86_400;
const ID = 16; // bytes of a report's id
const STATUS = ID + 1; // bytes of a leader's answer about one report

// Errors that a leader reports for one report.
const REPLAYED = 2;
const UNKNOWN_KEY = 4;
const NOT_YET = [9, 10];
const OUTDATED = 11;

/** @param {string} hex */
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));

/**
 * Requests for keys that are under way, by server, so that a client asks each server once.
 * @type {WeakMap<object, Map<string, Promise<Kept | null>>>}
 */
const asked = new WeakMap();
/**
 * The module, fetched and compiled once for a client.
 * @type {WeakMap<object, Promise<WebAssembly.Module>>}
 */
const modules = new WeakMap();
/**
 * Tasks by recipe. They belong to a client's core and are released with it.
 * @type {WeakMap<Recipe, Promise<DapTask>>}
 */
const tasks = new WeakMap();

/** @param {Context} context */
function compiled({ deps, options: { dapWasm } }) {
  const made =
    modules.get(deps) ??
    (typeof dapWasm === 'function'
      ? dapWasm()
      : loadModule(dapWasm ?? new URL('./shoal-dap.wasm', import.meta.url), deps.fetch));
  modules.set(deps, made);
  made.catch(() => modules.delete(deps)); // the next event tries again
  return made;
}

/** @param {Context} context @param {Recipe} recipe */
function taskOf(context, recipe) {
  const made =
    tasks.get(recipe) ?? compiled(context).then((module) => DapTask.ofRecipe(module, recipe));
  tasks.set(recipe, made);
  made.catch(() => tasks.delete(recipe));
  return made;
}

/** @param {Context} context */
const hpkeOf = async ({ options: { hpke } }) => (hpke ? hpke() : (await import('./hpke.js')).hpke);

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
    const until = deps.now() + lifetime;
    return { ...key, until, last: until + lifetime }; // servers take a key for twice as long as they say
  } finally {
    stop.abort();
    deps.clearTimer(timer);
  }
}

/**
 * Fetches a key as fetchKey does, once for all callers that ask meanwhile; null if it fails.
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
        .finally(() => running.delete(url)),
    );
  }
  return /** @type {Promise<Kept | null>} */ (running.get(url));
}

/**
 * Returns the keys of both servers: kept ones, else new ones; null if a server gives none.
 * @param {Context} context
 * @param {DapTask} task
 * @param {string[]} urls
 * @param {'until' | 'last' | 'never'} by when kept ones have had their time. An event takes any of
 *   use: a server need not learn when it came
 * @returns {Promise<[Kept, Kept] | null>}
 */
async function keysOf(context, task, urls, by) {
  /** @type {{[url: string]: Kept}} */
  const kept = (await context.transaction((tx) => tx.get('state', 'keys'))) ?? {};
  const now = context.deps.now();
  // A clock that was set back must not make a key eternal.
  const has = (/** @type {string} */ url) =>
    by !== 'never' && kept[url]?.[by] > now && kept[url].until <= now + 1000 * KEEP_MAX_S;
  const keys = await Promise.all(
    urls.map((url) => (has(url) ? kept[url] : askKey(context, task, url))),
  );
  const news = urls
    .filter((url) => !has(url))
    .map((url) => /** @type {const} */ ([url, keys[urls.indexOf(url)]]));
  if (news.length) {
    // Keys are kept only under consent, and forgotten when it ends.
    await context.exclusive(async (tx) => {
      const all = { ...(await tx.get('state', 'keys')) };
      for (const [url, key] of news) if (key) all[url] = key;
      await tx.put('state', 'keys', all);
    });
  }
  return keys.every((key) => key) ? /** @type {[Kept, Kept]} */ (keys) : null;
}

/** @param {Context} context */
async function whyNoKeys({ options: { hpke } }) {
  if (hpke) return 'no-keys';
  try {
    await crypto.subtle.generateKey('X25519', false, ['deriveBits']);
    return 'no-keys';
  } catch {
    return 'no-x25519'; // also on a page without https, which has no `subtle`
  }
}

// ---- reports ----

/** @param {{leader: string, helper: string}} of */
const serversOf = ({ leader, helper }) => ({ leader, helper });

/**
 * Returns what seals a record for its recipe's servers, or why it cannot be sealed. It is called
 * before anything is paid for the record.
 * @param {Context} context
 * @param {Recipe} recipe
 * @returns {Promise<Sealing>}
 */
export async function sealingFor(context, recipe) {
  const by = tasks.has(recipe) ? 'last' : 'until'; // the first time is when the page was loaded
  const task = await taskOf(context, recipe).catch((error) =>
    error.name === 'ShoalError' ? 'recipe-refused' : 'core-missing',
  );
  if (typeof task === 'string') return { code: task };
  const servers = serversOf(recipe.json.aggregation);
  const keys = await keysOf(context, task, Object.values(servers), by);
  if (!keys) return { code: await whyNoKeys(context) };
  if (!(await hpkeOf(context).catch(() => null))) return { code: 'core-missing' };
  return { seal: (report, id) => parcel(context, task, keys, { ...report, servers }, id) };
}

/**
 * @param {Context} context
 * @param {DapTask} task
 * @param {[Key, Key]} keys
 * @param {ReportJson} report
 * @param {string} id
 * @returns {Promise<Parcel | {code: string}>}
 */
async function parcel(context, task, keys, report, id) {
  const body = await task.ofRecord(report.records[0], await inputOf(context, keys, id));
  return body ? { report, path: task.path, body, sealedTo: sealedTo(keys) } : { code: 'too-heavy' };
}

/** @param {Key[]} keys */
const sealedTo = (keys) => keys.map(({ publicKey }) => toHex(publicKey)).join();

/** @param {Context} context @param {[Key, Key]} keys @param {string} id */
const inputOf = async (context, keys, id) => ({
  id: bytesOf(id),
  now: context.deps.now(),
  random: (/** @type {number} */ n) => randomBytes(context.deps, n),
  keys,
  sealer: await hpkeOf(context),
});

/**
 * Translates a leader's answer that is not empty into the HTTP status that means the same to the
 * outbox: 202 if the row is done, 400 if it is refused for good, 503 if it stays in the queue.
 * @param {Context} context
 * @param {string} id of the report, hex
 * @param {Row} row
 * @param {ArrayBuffer | null} answer UploadErrors; null where it broke off
 * @param {Recipe[]} recipes
 * @returns {Promise<202 | 400 | 503>}
 */
export async function judged(context, id, row, answer, recipes) {
  const error = answer && errorOf(new Uint8Array(answer), id);
  // The leader accepted an earlier try, whose answer was lost.
  if (error === REPLAYED && row.tries > 0) return 202;
  if (error === null || NOT_YET.includes(error)) return 503;
  if (error !== OUTDATED && error !== UNKNOWN_KEY) return 400;
  const recipe = recipes.find(({ hash }) => hash === row.report.recipe_hash);
  return recipe && !row.isResealed ? resealed(context, id, row, recipe) : 400;
}

/**
 * Returns the leader's verdict on the one report that it was sent, or null if the bytes are not an
 * answer of a leader.
 * @param {Uint8Array} answer
 * @param {string} id
 */
function errorOf(answer, id) {
  return answer.length === STATUS && toHex(answer.subarray(0, ID)) === id ? answer[ID] : null;
}

/**
 * Replaces a row whose key the leader no longer knows by a new report of the same record, once.
 * Returns a status as judged() does.
 * @param {Context} context
 * @param {string} id
 * @param {Row} row
 * @param {Recipe} recipe
 */
async function resealed(context, id, row, recipe) {
  const task = await taskOf(context, recipe);
  const keys = await keysOf(
    context,
    task,
    Object.values(serversOf(recipe.json.aggregation)),
    'never',
  );
  // If both servers still have the same keys, the answer is false; perhaps the edge worker made it
  // up. Another report would then count the record twice.
  if (!keys || row.sealedTo === sealedTo(keys)) return 503;
  const fresh = toHex(randomBytes(context.deps, ID));
  const sealed = await parcel(context, task, keys, row.report, fresh);
  if (!('body' in sealed)) return 400;
  await context.exclusive(async (tx) => {
    if (!(await tx.get('queue', id))) return; // erased meanwhile
    await tx.delete('queue', id);
    await tx.put('queue', fresh, {
      ...row,
      ...sealed,
      due: context.deps.now(),
      tries: 0,
      isResealed: true,
    });
  });
  return 202; // the old row is done
}

/**
 * Makes the report of a measurement of which the two servers learn exact sums, or says why it
 * cannot be sent. Nothing randomizes a measurement: it is protected if one of the two servers is
 * honest and the batch is large. No budget is debited, because there is no epsilon to count. The
 * measurement itself is not stored.
 * @param {Context} context
 * @param {ExactTask} json
 * @param {Measurement} measurement
 * @returns {Promise<{code: string, report?: undefined} | {code?: undefined, report: ReportJson,
 *   seal: (report: ReportJson, id: string) => Promise<Parcel | {code: string}>}>}
 */
export async function exactReport(context, json, measurement) {
  const module = await compiled(context).catch(() => null);
  if (!module) return { code: 'core-missing' };
  const task = await DapTask.exact(module, json).catch(() => null);
  if (!task) return { code: 'task-refused' };
  const servers = serversOf(json);
  const keys = await keysOf(context, task, Object.values(servers), 'last');
  if (!keys) return { code: await whyNoKeys(context) };
  const report = { key: json.info, recipe_hash: task.id, parameters: {}, records: [], servers };
  const expires = json.expires ? Date.parse(json.expires) / DAY_MS : Number.MAX_SAFE_INTEGER;
  /** @param {ReportJson} _ @param {string} id */
  const seal = async (_, id) => {
    const input = await inputOf(context, keys, id);
    return task.ofMeasurement(measurement, input).then(
      (body) => ({ report, path: task.path, body, expires }),
      () => ({ code: 'not-a-measurement' }),
    );
  };
  return { report, seal };
}
