// SPDX-License-Identifier: Apache-2.0
// The edge on Node: a node:http server over the same handler, a spool folder for each collection,
// and timers for sealing and forwarding. It keeps no access log. The handler is given only the
// headers that it needs, so that an address or a cookie cannot leak from it.

import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { freeBytes, processMetrics } from 'shoal-relay/process-metrics';
import { Collector, batchCap } from './collector.js';
import { Gateway } from './gateway.js';
import { folderLog } from './log_folder.js';
import { checkFixed } from 'shoal-relay/reload';
import { whenRead } from 'shoal-relay/when-read';
import { Guard, readLimits } from './node_limits.js';
import { Refusals } from './metrics.js';
import { hmacUnder, sha256 } from './digest.js';
import { serve } from './node_request.js';
import { openRequest } from './ohttp_node.js';
import { checkTrials, pinRecipes } from './recipes.js';
import { countsOf, createDapForward } from './dap_forward.js';
import { flushDir, writeWhole } from './spool_files.js';
import { lockSpool } from './spool_lock.js';
import { SpoolStore } from './spool_store.js';
import { senderOf } from './targets.js';
import { tokensOf } from './tokens.js';
import { tokenCrypto } from './tokens_node.js';
import { TurnGroup } from './turn_group.js';

/**
 * @typedef {import('./config.js').Config} Config
 * @typedef {import('shoal-client/core').Recipe} Recipe
 */
/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 */

const TIMER_MAX_MS = 2 ** 31 - 1;
const RETRY_RUN_MS = 30_000;

/**
 * Starts an edge.
 * @param {Config} config
 * @param {EdgeDeps} deps
 * @returns {Promise<{port: number, reload: (config: Config) => Promise<void>, drain: () => void,
 *   close: () => Promise<void>}>} reload takes a configuration whole, or rejects and changes
 *   nothing; drain says that the edge is not ready any more, and serves on
 */
export async function startEdge(config, deps) {
  const spool = config.spool;
  await mkdir(spool, { recursive: true, mode: 0o700 });
  const unlock = await lockSpool(spool);
  const edge = new Edge(deps);
  const closeStores = async () => {
    await edge.close();
    await unlock();
  };
  try {
    await edge.take(config, (pinned) => keptRecipes(pinned, spool, deps.createCore));
    await flushDir(spool);
    const guard = new Guard(
      config.nodeLimits ?? readLimits({}, config.bodyTimeoutMs),
      deps.now ?? Date.now,
    );
    edge.hostMetrics = async () => [
      ...guard.metrics(),
      ...processMetrics(),
      ...(await freeBytes('shoal_edge_spool_free_bytes', spool)),
    ];
    const { server, port } = await listen(config, edge, guard);
    const close = async () => {
      await guard.end(server);
      await closeStores();
    };
    const reload = async (/** @type {Config} */ next) => {
      checkUnchanged(config, next);
      await edge.take(next);
    };
    return { port, reload, drain: () => (edge.isDraining = true), close };
  } catch (error) {
    await closeStores();
    throw error;
  }
}

/** Refuses what the running edge cannot change. @param {Config} now @param {Config} next */
function checkUnchanged(now, next) {
  const { batchVersion, batchBytes, storeBytes, keyGraceS } = now.limits;
  checkFixed({
    listen: [
      [now.host, now.port],
      [next.host, next.port],
    ],
    spool: [now.spool, next.spool],
    body_timeout_s: [now.bodyTimeoutMs, next.bodyTimeoutMs],
    'batch_version, which is 2 with a bucket,': [batchVersion, next.limits.batchVersion],
    batch_bytes: [batchBytes, next.limits.batchBytes],
    store_bytes: [storeBytes, next.limits.storeBytes],
    key_grace_s: [keyGraceS, next.limits.keyGraceS],
    'rate, or a field of connections': [now.nodeLimits, next.nodeLimits],
  });
}

/**
 * @typedef {object} EdgeDeps
 * @property {() => Promise<import('shoal-client/core').Core>} createCore
 * @property {() => Promise<WebAssembly.Module>} [loadDapModule]
 * @property {() => number} [now]  milliseconds since 1970
 * @property {typeof globalThis.fetch} [fetch]
 * @property {(text: string) => void} [say]  prints a line for the operator
 * @property {import('shoal-relay/reload').Reloads<Config>} [reloads]  shown by /metrics and /healthz
 */

/**
 * What the edge does under the configuration in force. A collection's host lives until the end: the
 * reports of a recipe that goes away are sealed and forwarded, and are there if it comes back.
 */
class Edge {
  #deps;
  /** @type {Map<string, CollectionHost>} */ #hosts = new Map();
  /** @type {Map<string, import('./handler.js').TaskHost>} */ #tasks = new Map();
  /** @type {import('./collector.js').Send} */ #send = async () => ({ outcome: 'failed' });
  /** What requests are answered with that begin now. @type {import('./handler.js').HandlerDeps} */
  handler = { collections: new Map(), recipes: [], origins: [], now: Date.now };
  isDraining = false;
  /** Of the process, for /metrics. @type {() => Promise<import('shoal-relay/exposition').Metric[]>} */
  hostMetrics = async () => [];
  #refusals = new Refusals();

  /** @param {EdgeDeps} deps */
  constructor(deps) {
    this.#deps = deps;
  }

  /**
   * Puts a configuration in force, or rejects and changes nothing.
   * @param {Config} config
   * @param {(pinned: Map<string, Recipe>) => Promise<Map<string, Recipe>>} [kept]  of the start: other
   *   recipes whose reports the spool holds
   */
  async take(config, kept = async () => new Map()) {
    const { createCore, loadDapModule, fetch = globalThis.fetch, now = Date.now } = this.#deps;
    const pins = await pinRecipes(config.recipes, createCore, config.recipeKeys, loadDapModule);
    const { collections, tasks, recipes } = pins;
    const tokens = await tokensOf(config.tokenKeys, recipes, config.limits.keyGraceS);
    if (tokens) tokens.crypto = tokenCrypto;
    const gateway = config.gateway && (await Gateway.open(config.gateway));
    if (gateway) gateway.crypto = { openRequest, digest: sha256 };
    const all = [...collections, ...(await kept(collections))];
    checkTrials(new Map(all).values(), config.host, config.aggregator, config.bucket?.url);
    const send = await senderOf(config, [...recipes, ...new Map(all).values()], this.#deps);
    const made = await this.#open(all, config);
    // Nothing can fail from here on.
    for (const [hash, host] of made) this.#hosts.set(hash, host);
    for (const [id, task] of tasks)
      if (!this.#tasks.has(id)) this.#tasks.set(id, taskHost(task, fetch));
    this.#send = send;
    this.handler = {
      collections: only(this.#hosts, collections),
      tasks: only(this.#tasks, tasks),
      recipes,
      tokens,
      origins: config.origins,
      now,
      bodyTimeoutMs: config.bodyTimeoutMs,
      health: () => ({
        status: this.isDraining ? 'draining' : 'ok',
        ...this.#deps.reloads?.health(),
      }),
      ...(config.aggregator === undefined ? {} : { aggregator: config.aggregator }),
      refusals: this.#refusals,
      hostMetrics: async () => [
        ...(await this.hostMetrics()),
        ...(this.#deps.reloads?.metrics('shoal_edge') ?? []),
      ],
      ...(gateway === undefined ? {} : { gateway }),
      ...(config.log === undefined ? {} : { log: folderLog(config.log) }),
      ...(config.adminToken === undefined ? {} : { adminToken: config.adminToken }),
    };
  }

  /**
   * Opens the collections that have no host yet: all of them, or none.
   * @param {[string, Recipe][]} recipes
   * @param {Config} config
   */
  async #open(recipes, config) {
    const { now = Date.now } = this.#deps;
    const send = (/** @type {Uint8Array} */ batch) => this.#send(batch);
    /** @type {Map<string, CollectionHost>} */
    const made = new Map();
    try {
      for (const [hash, recipe] of recipes) {
        if (this.#hosts.has(hash)) continue;
        const dir = join(config.spool, hash);
        made.set(hash, await CollectionHost.open(dir, recipe, { config, send, now }));
      }
      return made;
    } catch (error) {
      for (const host of made.values()) await host.close();
      throw error;
    }
  }

  async close() {
    for (const host of this.#hosts.values()) await host.close();
  }
}

/**
 * Returns the entries of a map whose keys another one has, in the order of the other one.
 * @template T
 * @param {Map<string, T>} all
 * @param {Map<string, unknown>} wanted
 */
function only(all, wanted) {
  return new Map([...wanted.keys()].map((key) => [key, /** @type {T} */ (all.get(key))]));
}

/**
 * Serves the routes.
 * @param {Config} config
 * @param {Edge} edge
 * @param {Guard} guard
 */
async function listen(config, edge, guard) {
  /** @param {IncomingMessage} request @param {ServerResponse} response */
  const begin = (request, response) => {
    const limits = guard.follow(request, response);
    if (edge.isDraining) response.shouldKeepAlive = false; // a proxy's next request goes elsewhere
    serve(request, response, edge.handler, limits).catch(() => response.destroy());
  };
  const server = createServer(guard.options, whenRead(begin));
  guard.watch(server);
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { server, port };
}

/**
 * Returns the recipes that the configuration dropped while the spool still holds their reports.
 * @param {Map<string, Recipe>} pinned
 * @param {string} spool
 * @param {() => Promise<import('shoal-client/core').Core>} createCore
 */
async function keptRecipes(pinned, spool, createCore) {
  /** @type {Map<string, Recipe>} */
  const all = new Map();
  for (const hash of (await readdir(spool)).filter(
    (name) => /^[0-9a-f]{64}$/.test(name) && !pinned.has(name),
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
  #running = Promise.resolve();
  #turn = new TurnGroup(async (records, keys) => {
    const outcomes = await this.#collector.accept(records, keys);
    this.#arm().catch(() => {});
    return outcomes;
  });

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
      hmac: hmacOfOneKey(),
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

  /**
   * Takes a report. Those that one turn of the event loop reads go to the collector together.
   * @param {Uint8Array} record @param {string} key
   */
  accept = (record, key) => this.#turn.accept(record, key);

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

/**
 * Returns HMAC-SHA-256 for a caller whose key seldom changes.
 * @returns {(key: Uint8Array, text: string) => Uint8Array}
 */
function hmacOfOneKey() {
  /** @type {{key: Uint8Array, hmac: (text: string) => Uint8Array} | undefined} */
  let made;
  return (key, text) => {
    if (made?.key !== key) made = { key, hmac: hmacUnder(key) };
    return made.hmac(text);
  };
}

/** Keeps a collection's recipe beside its reports. @param {string} dir @param {Recipe} recipe */
async function keepRecipe(dir, recipe) {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeWhole(join(dir, 'recipe.json'), Buffer.from(JSON.stringify(recipe.json)));
}
