// SPDX-License-Identifier: Apache-2.0
// The edge on Node: a node:http server over the same handler, a spool folder for each collection,
// and timers for sealing and forwarding. It keeps no access log. The handler is given only the
// headers that it needs, so that an address or a cookie cannot leak from it.

import { createHash, createHmac } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, unlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, createServer as createLock } from 'node:net';
import { join } from 'node:path';
import { freeBytes, processMetrics } from 'shoal-relay/process-metrics';
import { Collector, batchCap } from './collector.js';
import { createSender } from './forward.js';
import { Gateway } from './gateway.js';
import { answer } from './handler.js';
import { folderLog } from './log_folder.js';
import { Guard, readLimits } from './node_limits.js';
import { Refusals } from './metrics.js';
import { checkTrials, pinRecipes } from './recipes.js';
import { countsOf, createDapForward } from './dap_forward.js';
import { flushDir, writeWhole } from './spool_files.js';
import { SpoolStore } from './spool_store.js';
import { tokensOf } from './tokens.js';

/**
 * @typedef {import('./config.js').Config} Config
 * @typedef {import('shoal-client/core').Recipe} Recipe
 */
/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 */

const HEADERS = ['content-type', 'content-length', 'origin', 'idempotency-key', 'authorization'];
const LINGER_MS = 1000;
const TIMER_MAX_MS = 2 ** 31 - 1;
const RETRY_RUN_MS = 30_000;

/**
 * Starts an edge.
 * @param {Config} config
 * @param {{createCore: () => Promise<import('shoal-client/core').Core>, loadDapModule?: () =>
 *   Promise<WebAssembly.Module>, now?: () => number, fetch?: typeof globalThis.fetch}} deps
 * @returns {Promise<{port: number, close: () => Promise<void>}>}
 */
export async function startEdge(
  config,
  { createCore, loadDapModule, now = Date.now, fetch = globalThis.fetch },
) {
  const spool = config.spool;
  await mkdir(spool, { recursive: true, mode: 0o700 });
  const unlock = await lock(spool);
  /** @type {CollectionHost[]} */
  const hosts = [];
  const closeStores = async () => {
    for (const host of hosts) await host.close();
    await unlock();
  };
  try {
    const { collections, tasks, recipes } = await pinRecipes(
      config.recipes,
      createCore,
      config.recipeKeys,
      loadDapModule,
    );
    const all = await withKept(collections, spool, createCore);
    checkTrials(all.values(), config.host, config.aggregator);
    const send = createSender({ aggregator: config.aggregator, secret: config.secret, fetch });
    const pinned = new Map();
    for (const [hash, recipe] of all) {
      const host = await CollectionHost.open(join(spool, hash), recipe, { config, send, now });
      hosts.push(host);
      if (collections.has(hash)) pinned.set(hash, host);
    }
    await flushDir(spool);
    const guard = new Guard(config.nodeLimits ?? readLimits({}, config.bodyTimeoutMs), now);
    const deps = {
      collections: pinned,
      tasks: new Map([...tasks].map(([id, task]) => [id, taskHost(task, fetch)])),
      recipes,
      tokens: await tokensOf(config.tokenKeys, recipes, config.limits.keyGraceS),
      origins: config.origins,
      now,
      bodyTimeoutMs: config.bodyTimeoutMs,
      ...(config.gateway === undefined ? {} : { gateway: await Gateway.open(config.gateway) }),
      ...(config.log === undefined ? {} : { log: folderLog(config.log) }),
      ...(config.adminToken === undefined ? {} : { adminToken: config.adminToken }),
      aggregator: config.aggregator,
      refusals: new Refusals(),
      hostMetrics: async () => [
        ...guard.metrics(),
        ...processMetrics(),
        ...(await freeBytes('shoal_edge_spool_free_bytes', spool)),
      ],
    };
    const { server, port } = await listen(config, deps, guard);
    const close = async () => {
      await guard.end(server);
      await closeStores();
    };
    return { port, close };
  } catch (error) {
    await closeStores();
    throw error;
  }
}

/**
 * Serves the routes.
 * @param {Config} config
 * @param {import('./handler.js').HandlerDeps} deps
 * @param {Guard} guard
 */
async function listen(config, deps, guard) {
  const server = createServer(guard.options, (request, response) => {
    const limits = guard.follow(request, response);
    serve(request, response, deps, limits).catch(() => response.destroy());
  });
  guard.watch(server);
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { server, port };
}

/**
 * Returns the pinned recipes, and the recipes that the configuration dropped while the spool still
 * holds their reports.
 * @param {Map<string, Recipe>} recipes
 * @param {string} spool
 * @param {() => Promise<import('shoal-client/core').Core>} createCore
 */
async function withKept(recipes, spool, createCore) {
  const all = new Map(recipes);
  for (const hash of (await readdir(spool)).filter(
    (name) => /^[0-9a-f]{64}$/.test(name) && !recipes.has(name),
  )) {
    const json = JSON.parse(await readFile(join(spool, hash, 'recipe.json'), 'utf8'));
    all.set(hash, (await createCore()).recipe(json));
  }
  return all;
}

/**
 * Serves a recipe of two servers. A request of Node's fetch carries nothing of the one being
 * served. The counts are of this process.
 * @param {import('./recipes.js').Task} task
 * @param {typeof globalThis.fetch} fetch
 */
function taskHost({ recipe, id, leader, length }, fetch) {
  const forward = createDapForward({ leader, id, fetch });
  /** @type {Record<string, number>} */
  const counts = {};
  return {
    recipe,
    length,
    /** @param {Uint8Array} body */
    forward: async (body) => {
      const forwarded = await forward(body);
      for (const [name, n] of Object.entries(countsOf(forwarded)))
        counts[name] = (counts[name] ?? 0) + n;
      return forwarded;
    },
    stats: async () => counts,
  };
}

/** A collector with its folder and its timer. */
class CollectionHost {
  #collector;
  #store;
  #now;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #timer;
  #wakeAt = Infinity;
  #closed = false;
  #arming = false;
  #running = Promise.resolve();

  /**
   * Use CollectionHost.open.
   * @param {Recipe} recipe
   * @param {SpoolStore} store
   * @param {Collector} collector
   * @param {() => number} now
   */
  constructor(recipe, store, collector, now) {
    this.recipe = recipe;
    this.#store = store;
    this.#collector = collector;
    this.#now = now;
  }

  /**
   * @param {string} dir
   * @param {Recipe} recipe
   * @param {{config: Config, send: import('./collector.js').Send, now: () => number}} deps
   */
  static async open(dir, recipe, { config, send, now }) {
    const crypto = {
      subtle: globalThis.crypto.subtle,
      getRandomValues: (/** @type {Uint8Array} */ bytes) =>
        globalThis.crypto.getRandomValues(bytes),
      hmac: (/** @type {Uint8Array} */ key, /** @type {string} */ text) =>
        createHmac('sha256', key).update(text).digest(),
    };
    const { limits } = config;
    await keepRecipe(dir, recipe);
    const capacity = 2 * batchCap(recipe, limits.batchBytes);
    const store = await SpoolStore.open(dir, { recordSize: recipe.recordSize, capacity, crypto });
    const host = new CollectionHost(
      recipe,
      store,
      new Collector({ recipe, store, send, now, crypto, limits }),
      now,
    );
    await host.#arm();
    return host;
  }

  /** @param {Uint8Array} record @param {string} key */
  accept = async (record, key) => {
    const [outcome] = await this.#collector.accept(record, [key]);
    if (!this.#arming) this.#armSoon();
    return outcome;
  };

  /** Once for the reports of one flush. */
  #armSoon() {
    this.#arming = true;
    setImmediate(() => {
      this.#arming = false;
      this.#arm().catch(() => {});
    });
  }

  stats = () => this.#collector.stats();

  retryQuarantined = async () => {
    const batches = await this.#collector.retryQuarantined();
    await this.#arm();
    return batches;
  };

  async #arm() {
    const wake = await this.#collector.wake();
    if (wake !== null) this.#wakeBy(wake);
  }

  /** @param {number} time */
  #wakeBy(time) {
    if (this.#closed || time >= this.#wakeAt) return;
    clearTimeout(this.#timer);
    this.#wakeAt = time;
    const delay = Math.min(TIMER_MAX_MS, Math.max(0, time - this.#now()));
    this.#timer = setTimeout(() => (this.#running = this.#run()), delay);
  }

  async #run() {
    this.#wakeAt = Infinity;
    try {
      await this.#collector.run();
      await this.#arm();
    } catch {
      this.#wakeBy(this.#now() + RETRY_RUN_MS);
    }
  }

  async close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
    await this.#store.close();
  }
}

/** Keeps a collection's recipe beside its reports. @param {string} dir @param {Recipe} recipe */
async function keepRecipe(dir, recipe) {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeWhole(join(dir, 'recipe.json'), Buffer.from(JSON.stringify(recipe.json)));
}

/**
 * @param {IncomingMessage} incoming
 * @param {ServerResponse} outgoing
 * @param {import('./handler.js').HandlerDeps} deps
 * @param {ReturnType<Guard['follow']>} limits
 */
async function serve(incoming, outgoing, deps, limits) {
  const { status, headers, body } = await answer({ ...requestOf(incoming), ...limits }, deps);
  if (body === null) {
    outgoing.writeHead(status, headers).end();
    return;
  }
  if (incoming.complete) {
    outgoing.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }); // with a length head and body are one write
    outgoing.end(incoming.method === 'HEAD' ? undefined : body);
    return;
  }
  // The body was refused half-way. Closing at once would reset the connection before the answer is
  // read, so the rest is read and dropped for a moment first.
  outgoing.writeHead(status, {
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  });
  outgoing.write(body);
  incoming.resume();
  const timer = setTimeout(() => outgoing.end(), LINGER_MS);
  incoming.once('close', () => clearTimeout(timer));
  incoming.once('end', () => outgoing.end());
}

/**
 * Reads a request without Node's Request, which would cost more than all other work on it.
 * @param {IncomingMessage} incoming
 * @returns {import('./incoming.js').Incoming}
 */
function requestOf(incoming) {
  const method = incoming.method ?? 'GET';
  const headers = {
    /** @param {string} name */
    get(name) {
      const value = HEADERS.includes(name) ? incoming.headers[name] : undefined;
      return typeof value === 'string' ? value : null;
    },
  };
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
  const body = hasBody ? { getReader: () => readerOf(incoming) } : null;
  return { method, url: urlOf(incoming), headers, body, arrayBuffer: () => bytesOf(incoming) };
}

/** @param {IncomingMessage} incoming */
function urlOf({ url = '/', headers: { host = 'localhost' } }) {
  if (url === '/v1/reports' && /^[\w.-]+(:\d+)?$/.test(host)) return `http://${host}${url}`; // the usual URL needs no parsing
  return new URL(url, URL.canParse(`http://${host}`) ? `http://${host}` : 'http://localhost').href;
}

/**
 * Returns the whole body at once, for a request with a stated length, which bounds it.
 * @param {IncomingMessage} incoming
 * @returns {Promise<Uint8Array>}
 */
function bytesOf(incoming) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const pieces = [];
    incoming.on('data', (piece) => pieces.push(piece));
    incoming.once('end', () => resolve(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)));
    incoming.once('close', () => incoming.complete || reject(new Error('the connection broke')));
    incoming.once('error', reject);
  });
}

/**
 * Returns a reader of a request's body. Cancelling it leaves the connection open for the answer.
 * @param {IncomingMessage} incoming
 * @returns {import('./incoming.js').Reader}
 */
function readerOf(incoming) {
  let wake = () => {};
  const changed = () => wake();
  for (const event of ['readable', 'end', 'close', 'error']) incoming.on(event, changed);
  const read = async () => {
    for (;;) {
      const value = incoming.read();
      if (value !== null) return { done: false, value };
      if (incoming.readableEnded) return { done: true };
      if (incoming.destroyed) throw new Error('the connection broke');
      await new Promise((resolve) => (wake = () => resolve(undefined)));
    }
  };
  // A listener for "readable" would prevent the rest of the body from being dropped.
  return { read, cancel: async () => incoming.off('readable', changed) };
}

/**
 * Keeps a second process out of a spool: a socket in the folder, which the kernel closes with its
 * owner.
 * @param {string} spool
 * @returns {Promise<() => Promise<void>>}
 */
async function lock(spool) {
  const path = await lockPath(spool);
  for (let attempt = 0; attempt < 2; attempt++) {
    const server = createLock((socket) => socket.destroy());
    const error = await new Promise((resolve) => {
      server.once('error', resolve);
      server.listen(path, () => resolve(null));
    });
    if (error === null) {
      server.unref();
      return () => new Promise((resolve) => server.close(() => resolve()));
    }
    if (error.code !== 'EADDRINUSE') throw error;
    if (await answers(path)) throw new Error(`another shoal-edge uses the spool ${spool}`);
    await unlink(path);
  }
  throw new Error(`cannot lock the spool ${spool}`);
}

/**
 * Returns the path of the lock's socket. A socket's path is limited to some 100 bytes, so a longer
 * one goes to the folder of temporary files. On Windows it is a pipe, which has no folder.
 * @param {string} spool
 */
async function lockPath(spool) {
  const path = join(await realpath(spool), 'lock');
  const isPipe = process.platform === 'win32';
  if (!isPipe && Buffer.byteLength(path) < 100) return path;
  const name = `shoal-edge-${createHash('sha256').update(path).digest('hex').slice(0, 16)}.lock`;
  return isPipe ? `\\\\.\\pipe\\${name}` : join('/tmp', name);
}

/** @param {string} path @returns {Promise<boolean>} */
function answers(path) {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve((socket.destroy(), true)));
    socket.once('error', () => resolve(false));
  });
}
