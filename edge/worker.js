// SPDX-License-Identifier: Apache-2.0
// The edge on workerd: routes in the worker, Durable Objects for each collection (shards.js), and
// forwarding in their alarms. Nothing is sent while a request is served, because subrequests may carry headers of
// the request that caused them. The alarm of a collection's object sends its batches; the alarm of
// a task's object forwards its sealed reports, and the caller waits for it.
//
// Bindings, see wrangler.jsonc: COLLECTIONS (Durable Object), RECIPES, ORIGINS, AGGREGATOR and
// BATCH_SECRET, or BUCKET (R2), or all three, and optionally BUCKET_GZIP, TOKEN_KEYS, ADMIN_TOKEN, SHARDS, BATCH_VERSION, BATCH_BYTES, STORE_BYTES,
// KEY_GRACE_S, BODY_TIMEOUT_S, RECIPE_KEYS, GATEWAY_KEYS, GATEWAY_RELAYS, GATEWAY_UNKNOWN_PER_MINUTE,
// GATEWAY_DATE_WINDOW_S, LOG (static assets or a KV namespace).

import { DurableObject } from 'cloudflare:workers';
import { Core } from 'shoal-client/core';
import wasm from 'shoal-client/shoal-all.wasm';
import dapWasm from 'shoal-client/shoal-dap.wasm';
import { checkLake, createBucketSender, isSum, r2Bucket, sendToAll } from './bucket.js';
import { Collector } from './collector.js';
import { createSender } from './forward.js';
import { Gateway, checkedGateway } from './gateway.js';
import { Group } from './group.js';
import { handle } from './handler.js';
import { bindingLog } from './log_files.js';
import { Refusals } from './metrics.js';
import { checkTrials, pinRecipes } from './recipes.js';
import { countsOf, createDapForward } from './dap_forward.js';
import { Shards, checkedShards, shardOf } from './shards.js';
import { SqliteStore } from './sqlite_store.js';
import { tokensOf } from './tokens.js';

/**
 * @typedef {object} Env
 * @property {import('cloudflare:workers').DurableObjectNamespace<ShoalCollection>} COLLECTIONS
 * @property {string | {hash: string, recipe: any}[]} RECIPES
 * @property {string | string[]} [RECIPE_KEYS]
 * @property {string | string[]} [ORIGINS]
 * @property {string | any} [TOKEN_KEYS]
 * @property {string} [AGGREGATOR]
 * @property {string} [BATCH_SECRET]
 * @property {any} [BUCKET]  of R2
 * @property {string | boolean} [BUCKET_GZIP]
 * @property {string} [ADMIN_TOKEN]
 * @property {any} [LOG]  static assets or a KV namespace with the files of a log
 * @property {string | number} [SHARDS]
 * @property {string | number} [BATCH_VERSION]
 * @property {string | number} [BATCH_BYTES]
 * @property {string | number} [STORE_BYTES]
 * @property {string | number} [KEY_GRACE_S]
 * @property {string | number} [BODY_TIMEOUT_S]
 * @property {string | any[]} [GATEWAY_KEYS]
 * @property {string | {name: string, token: string, per_minute: number}[]} [GATEWAY_RELAYS]
 * @property {string | number} [GATEWAY_UNKNOWN_PER_MINUTE]
 * @property {string | number} [GATEWAY_DATE_WINDOW_S]
 */

/** Default of a store's size: a Durable Object holds 10 GB at most, and less in memory. */
const STORE_BYTES = 1 << 30;
const RETRY_RUN_MS = 30_000;

const createCore = () => Core.create(wasm);

/** Of this isolate; a platform may run several. */
const refusals = new Refusals();

/**
 * The pinned recipes, kept for the isolate's life. This is a value and not a promise, because a
 * promise belongs to the request that made it.
 */
/** @type {import('./recipes.js').Pinned | null} */
let pinned = null;

/** @param {Env} env */
async function pinnedRecipes(env) {
  return (pinned ??= await pinRecipes(
    list(env.RECIPES),
    createCore,
    env.RECIPE_KEYS === undefined ? undefined : list(env.RECIPE_KEYS),
    async () => dapWasm,
  ));
}

/**
 * The handler's dependencies for a configuration, kept until it changes.
 * @type {{env: Env, deps: import('./handler.js').HandlerDeps} | null}
 */
let configured = null;

/** @param {Env} env */
async function depsOf(env) {
  if (configured?.env === env) return configured.deps;
  const { collections, tasks, recipes } = await pinnedRecipes(env);
  if (env.BUCKET) checkLake(recipes);
  else if (!env.AGGREGATOR) throw new Error('AGGREGATOR, or a BUCKET, is needed');
  const deps = {
    collections: new Map([...collections].map(([hash, recipe]) => [hash, collection(recipe, env)])),
    tasks: new Map([...tasks].map(([id, task]) => [id, taskHost(task, env)])),
    recipes,
    tokens: await tokensOf(
      env.TOKEN_KEYS === undefined ? undefined : list(env.TOKEN_KEYS),
      recipes,
      limits(env).keyGraceS,
    ),
    origins: list(env.ORIGINS ?? []),
    now: Date.now,
    adminToken: env.ADMIN_TOKEN || undefined,
    aggregator: env.AGGREGATOR,
    refusals,
    ...(env.GATEWAY_KEYS === undefined ? {} : { gateway: await gatewayOf(env) }),
    log: bindingLog(env.LOG),
    ...(env.BODY_TIMEOUT_S === undefined
      ? {}
      : { bodyTimeoutMs: Number(env.BODY_TIMEOUT_S) * 1000 }),
  };
  configured = { env, deps };
  return deps;
}

/**
 * Opens the gateway. Quotas are those of one isolate: the platform runs several.
 * @param {Env} env
 */
function gatewayOf({
  GATEWAY_KEYS = [],
  GATEWAY_RELAYS = [],
  GATEWAY_UNKNOWN_PER_MINUTE: unknown,
  GATEWAY_DATE_WINDOW_S: windowS,
  KEY_GRACE_S,
}) {
  const relays = list(GATEWAY_RELAYS).map(({ name, token, per_minute: perMinute }) => ({
    name,
    token,
    perMinute,
  }));
  const settings = {
    keys: list(GATEWAY_KEYS),
    relays,
    ...(unknown === undefined ? {} : { unknownPerMinute: Number(unknown) }),
    ...(windowS === undefined ? {} : { dateWindowS: Number(windowS) }),
  };
  return Gateway.open(
    checkedGateway(settings, KEY_GRACE_S === undefined ? undefined : Number(KEY_GRACE_S)),
  );
}

export default {
  /** @param {Request} request @param {Env} env */
  async fetch(request, env) {
    const deps = await depsOf(env);
    // A worker does not know where it listens, only under which name it is asked.
    checkTrials(deps.recipes, new URL(request.url).hostname, env.AGGREGATOR, env.BUCKET && 'r2:');
    return handle(request, deps);
  },
};

/** @param {import('shoal-client/core').Recipe} recipe @param {Env} env */
function collection(recipe, env) {
  const { hash } = recipe;
  const shards = new Shards(hash, checkedShards(Number(env.SHARDS ?? 1)), (i) =>
    objectOf(env, hash, i),
  );
  return {
    recipe,
    /** @param {Uint8Array} record @param {string} key */
    accept: (record, key) => shards.accept(record, key),
    stats: () => shards.stats(),
    retryQuarantined: () => shards.retryQuarantined(),
  };
}

/**
 * Returns a stub, which belongs to the request in which it is made. Shard 0 has the name of the only
 * object of a collection that has no shards.
 * @param {Env} env @param {string} hash @param {number} shard
 */
const objectOf = ({ COLLECTIONS }, hash, shard) =>
  COLLECTIONS.get(COLLECTIONS.idFromName(shard ? `${hash}/${shard}` : hash));

/** @param {import('./recipes.js').Task} task @param {Env} env */
function taskHost({ recipe, id, length }, env) {
  const stub = () => env.COLLECTIONS.get(env.COLLECTIONS.idFromName(`task/${id}`));
  return {
    recipe,
    length,
    /** @param {Uint8Array} body */
    forward: (body) => stub().forwardSealed(id, body),
    stats: () => stub().sealedStats(),
  };
}

/** One shard of a collection: its store, and the alarm that seals, forwards and forgets. */
export class ShoalCollection extends DurableObject {
  /** @type {Env} */ #env;
  #store;
  /** @type {Collector | null} */ #collector = null;
  /** Sealed reports to be forwarded by the next alarm. @type {(() => Promise<void>)[]} */ #waiting =
    [];
  /**
   * The group lives here because all requests to the object share one context. A request may not be
   * answered from another's.
   */
  #group = new Group({ store: (records, keys) => this.#acceptGroup(records, keys) });
  /** The number of shards by which keys left this one. */ #left = 1;
  /** Of shard 0: one growth after the other. @type {Promise<any>} */ #growing = Promise.resolve();

  /** @param {import('cloudflare:workers').DurableObjectState} ctx @param {Env} env */
  constructor(ctx, env) {
    super(ctx, env);
    this.#env = env;
    this.#store = new SqliteStore(ctx.storage, crypto);
    [this.#left] = JSON.parse(this.#store.meta('left') ?? '[1]');
    ctx.blockConcurrencyWhile(async () => {
      const kept = this.#store.meta('recipe'); // outlives the configuration, so that accepted reports are still sent
      if (kept !== null) await this.#start(JSON.parse(kept));
    });
  }

  /** @param {any} json */
  async #start(json) {
    const { storage } = this.ctx;
    const env = this.#env;
    const failing = (this.#store.counters().failures_in_a_row ?? 0) > 0;
    this.#collector = new Collector({
      recipe: (await createCore()).recipe(json),
      store: this.#store,
      send: senderOf(json, env),
      now: Date.now,
      crypto,
      limits: limits(env),
      retryAt: failing ? ((await storage.getAlarm()) ?? 0) : 0,
    });
    await this.#arm();
  }

  /** @param {string} hash */
  async #adopt(hash) {
    const recipe = (await pinnedRecipes(this.#env)).collections.get(hash);
    if (recipe === undefined) throw new Error('not a pinned recipe');
    this.#store.setMeta('recipe', JSON.stringify(recipe.json));
    await this.ctx.blockConcurrencyWhile(async () => {
      if (this.#collector === null) await this.#start(recipe.json);
    });
  }

  /** @param {string} hash @returns {Promise<Collector>} */
  async #started(hash) {
    if (this.#collector === null) await this.#adopt(hash);
    return /** @type {Collector} */ (this.#collector);
  }

  /**
   * Adds a report. It is durable when the promise resolves.
   * @param {string} hash
   * @param {Uint8Array} record
   * @param {string} key
   * @param {number} [n]  the number of shards that chose this one; a worker of 0.1.0 says none
   * @returns {Promise<import('./collection.js').Outcome | 'moved'>}
   */
  async accept(hash, record, key, n) {
    const collector = await this.#started(hash);
    if (this.#left > (n ?? 1) && shardOf(key, this.#left) !== shardOf(key, n ?? 1)) {
      if (!(await collector.knows(key))) {
        if (n === undefined) throw new Error('moved');
        return 'moved';
      }
    }
    return this.#group.accept(record, key); // in the same turn as the look at #left
  }

  /** @param {string} hash @param {string} key */
  async knows(hash, key) {
    const isKnown = await (await this.#started(hash)).knows(key);
    return isKnown || (this.#store.isLeaving() ? false : null);
  }

  /** @param {string} hash @param {number} n */
  async leave(hash, n) {
    await this.#started(hash);
    this.#left = Math.max(this.#left, n);
    await this.#group.settle();
    this.#store.leave(this.#left);
    await this.ctx.storage.sync();
  }

  /** @param {string} hash @param {number} wanted @returns {Promise<number[]>} */
  grow(hash, wanted) {
    this.#growing = this.#growing.catch(() => {}).then(() => this.#grow(hash, wanted));
    return this.#growing;
  }

  /** @param {string} hash @param {number} wanted */
  async #grow(hash, wanted) {
    await this.#started(hash);
    /** @type {number[]} */
    const counts = JSON.parse(this.#store.meta('counts') ?? '[1]');
    const n = counts[counts.length - 1];
    const next = Math.max(wanted, this.#left); // a growth that broke off is brought to its end
    if (next > n) {
      for (let i = 0; i < n; i++) await (i ? objectOf(this.#env, hash, i) : this).leave(hash, next);
      counts.push(next);
      this.#store.setMeta('counts', JSON.stringify(counts));
      await this.ctx.storage.sync();
    }
    return counts;
  }

  /**
   * Adds reports that came together, in one transaction with one flush.
   * @param {Uint8Array} records
   * @param {string[]} keys
   */
  async #acceptGroup(records, keys) {
    const outcomes = await /** @type {Collector} */ (this.#collector).accept(records, keys);
    await this.#arm();
    await this.ctx.storage.sync();
    return outcomes;
  }

  /** @param {string} hash */
  async stats(hash) {
    return (await this.#started(hash)).stats();
  }

  /** @param {string} hash */
  async retryQuarantined(hash) {
    const batches = await (await this.#started(hash)).retryQuarantined();
    await this.#arm();
    return batches;
  }

  /**
   * Returns the leader's answer to a sealed report. The report is held in memory only: a device
   * whose answer is lost sends it again.
   * @param {string} id
   * @param {Uint8Array} body
   */
  async forwardSealed(id, body) {
    const task = (await pinnedRecipes(this.#env)).tasks.get(id);
    if (task === undefined) throw new Error('not a pinned recipe');
    const send = createDapForward({
      leader: task.leader,
      id,
      fetch: (input, init) => fetch(input, init),
    });
    const forwarded = await new Promise((resolve) => {
      this.#waiting.push(() => send(body).then(resolve));
      void this.ctx.storage.setAlarm(Date.now() + 1);
    });
    this.#store.count(countsOf(forwarded));
    return forwarded;
  }

  async sealedStats() {
    return this.#store.counters();
  }

  /** The alarm. It never throws, because the runtime gives up an alarm that fails a few times. */
  async alarm() {
    for (const send of this.#waiting.splice(0)) void send();
    if (this.#collector === null) return;
    try {
      await this.#collector.run();
      await this.#arm();
    } catch {
      await this.ctx.storage.setAlarm(Date.now() + RETRY_RUN_MS);
    }
  }

  async #arm() {
    const wake = await /** @type {Collector} */ (this.#collector).wake();
    const armed = await this.ctx.storage.getAlarm();
    if (wake === null || (armed !== null && armed <= wake)) return;
    // The new time must differ from that of an alarm that may be running now. The runtime would
    // otherwise drop it as the same alarm.
    await this.ctx.storage.setAlarm(Math.max(wake, Date.now() + 1));
  }
}

/** @param {any} json  the recipe @param {Env} env */
function senderOf(json, { AGGREGATOR, BATCH_SECRET: secret = '', BUCKET, BUCKET_GZIP }) {
  const targets = [];
  if (AGGREGATOR)
    targets.push(
      createSender({
        aggregator: AGGREGATOR,
        secret,
        fetch: (input, init) => fetch(input, init),
      }),
    );
  if (BUCKET && !isSum(json))
    targets.push(
      createBucketSender({
        bucket: r2Bucket(BUCKET),
        gzip: `${BUCKET_GZIP}` === 'true',
        say: console.warn,
      }),
    );
  return sendToAll(targets);
}

/** @param {Env} env */
function limits({ BUCKET, BATCH_VERSION, BATCH_BYTES, STORE_BYTES: storeBytes, KEY_GRACE_S }) {
  return {
    batchVersion: BUCKET ? 2 : Number(BATCH_VERSION ?? 1),
    ...(BATCH_BYTES === undefined ? {} : { batchBytes: Number(BATCH_BYTES) }),
    ...(KEY_GRACE_S === undefined ? {} : { keyGraceS: Number(KEY_GRACE_S) }),
    storeBytes: Number(storeBytes ?? STORE_BYTES),
  };
}

/**
 * Reads a list binding, which is JSON that the platform may have parsed.
 * @param {string | any[]} value
 * @returns {any[]}
 */
function list(value) {
  return typeof value === 'string' ? JSON.parse(value) : value;
}
