// SPDX-License-Identifier: Apache-2.0
// The buffer of one collection: it takes reports and gives batches. Pure logic over an injected
// store, sender, clock and randomness. It must not depend on a runtime, and never sees a request:
// only a checked record and the report's idempotency key.
//
// When a batch is sealed. The open batch is sealed when it is max_age_s old and holds the recipe's
// minimum, or at once when it holds `cap` reports. Sealing early at the cap does not make anyone
// easier to find: cap >= minimum, so the crowd is at least as large as the recipe asks. The
// aggregator learns how many reports came since the last batch, but any batch's count and arrival
// reveal that. A batch below the minimum waits, and is destroyed when the recipe expires.
//
// Time. The store keeps the opening hour of a batch, and nothing finer. The exact time is in memory
// only. After a restart a batch's age counts from the start of its hour. It may then be sealed up
// to an hour early, but never smaller.
//
// Versions. The store draws 16 random bytes when it opens a batch. Version 1 of a batch has them as
// its id, version 2 as its salt. A batch is sealed once, with the day of that moment, and kept as
// bytes before it is first sent, so that every repeat has the same id.
//
// Counting once. An idempotency key is kept as HMAC-SHA-256 under a random salt of this store. It
// is kept until its batch is forwarded and `keyGraceS` longer, in whole hours, because a device
// that lost its 202 just before may still retry. Where reports spend tokens, the key is that of a
// token, and it is kept from the forwarding on until no token spent before can be spent again
// (tokens.js). So the keys of a batch that waited for long are not forgotten too early.

import { keptMs, spendsTokens } from './tokens.js';

/** @typedef {import('./collection.js').Outcome} Outcome */

/**
 * @typedef {object} Recipe  the part of core.js's recipe that batching needs
 * @property {string} [id]
 * @property {number} recordSize
 * @property {{minimum: number, maxAgeS: number}} batch
 * @property {number} expiresDay
 * @property {(records: Uint8Array, salt: Uint8Array, day?: number) => Uint8Array} sealBatch
 * @property {any} [json]  the recipe itself, of which send.token is read
 */

/**
 * @typedef {object} StoreState
 * @property {Uint8Array} salt  32 random bytes, the same for the store's life
 * @property {number} openCount  durable reports of the open batch
 * @property {string | null} openId  changes when another batch is opened
 * @property {number | null} openedHour  hours since 1970
 * @property {boolean} closing  a batch was closed and is not yet sealed
 * @property {number} bytes  approximate size of all kept data
 */

/**
 * @typedef {'sealed' | 'quarantined'} BatchState
 * @typedef {Record<string, number>} Counters
 *
 * @typedef {object} Store the storage that a runtime provides. Every change is atomic, and durable
 *   when its promise resolves.
 * @property {() => StoreState} state
 * @property {(hash: Uint8Array) => boolean | Promise<boolean>} has  is this key's report kept?
 *   Resolves when durable
 * @property {(hashes: Uint8Array[], records: Uint8Array, hour: number) => number | Promise<number>}
 *   add reports whose keys are not known, with concatenated records; returns how many
 * @property {(minimum: number, build: Build, counters: (count: number) => Counters) => number |
 *   Promise<number>} seal closes the open batch if it holds `minimum`, and keeps it sealed under a
 *   new id; returns its count, or 0 if no batch was closed
 * @property {(state: BatchState) => Uint8Array[] | Promise<Uint8Array[]>} batches  ids
 * @property {(id: Uint8Array) => Uint8Array | Promise<Uint8Array>} read
 * @property {(id: Uint8Array, counters: Counters, hour?: number) => void | Promise<void>} forwarded
 *   drops the batch, keeps its keys, and its hour unless another one is given
 * @property {(id: Uint8Array, counters: Counters) => void | Promise<void>} quarantine
 * @property {() => number | Promise<number>} restore  puts quarantined batches back in line;
 *   returns how many
 * @property {(counters: (count: number) => Counters) => void | Promise<void>} destroyOpen  drops
 *   the open batch and its keys
 * @property {(hour: number) => void | Promise<void>} forget  drops keys of forwarded batches opened
 *   in `hour` or before
 * @property {() => number | null} oldestKeys  opening hour of the oldest forwarded batch whose keys
 *   are kept
 * @property {(counters: Counters) => void | Promise<void>} count  adds to durable counters
 * @property {() => Counters} counters
 */

/**
 * @typedef {{length: number, at: (i: number) => Uint8Array | undefined}} Records
 * @typedef {(id: Uint8Array, records: Records) => Uint8Array} Build
 * @typedef {{outcome: 'stored' | 'refused' | 'failed', retryAfterS?: number, isConflict?: boolean}} Sent
 *   isConflict: the bucket has other bytes under the batch's name
 * @typedef {(batch: Uint8Array) => Promise<Sent>} Send
 * @typedef {object} Random
 * @property {(bytes: Uint8Array) => Uint8Array} getRandomValues
 * @property {SubtleCrypto} subtle
 * @property {(key: Uint8Array, text: string) => Uint8Array} [hmac]  HMAC-SHA-256, if the host has
 *   one that runs on the same thread
 *
 * @typedef {object} CollectorDeps
 * @property {Recipe} recipe
 * @property {Store} store
 * @property {Send} send
 * @property {() => number} now  milliseconds since 1970
 * @property {Random} crypto
 * @property {Limits} [limits]
 * @property {number} [retryAt]  time of the next run after failures, kept from before a restart
 *
 * @typedef {object} Limits
 * @property {number} [batchBytes]  approximate size of the largest batch; exceeded only if the
 *   recipe's minimum requires it
 * @property {number} [storeBytes]  above it new reports are refused
 * @property {number} [keyGraceS]  how long keys outlive their batch's age
 * @property {number} [batchVersion]  of the batches that are sealed: 1 or 2
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HASH_SIZE = 16;
const COUNT_MAX = 1_000_000; // SHOAL_BATCH_COUNT_MAX
const REPORT_OVERHEAD = 64; // bytes a kept report takes beside its record, about
const KEY_BYTES = 64; // and its key, at most
const ADD_BYTES = 1 << 20; // of records at once: SQLite in a Durable Object takes values of 2 MB
const DRAWS = 256; // random numbers fetched at once
const BATCHES_A_RUN = 20;
const BACKOFF_MS = 1000;
const BACKOFF_MAX_MS = 300_000;
const RETRY_AFTER_MAX_S = 3600;

// The recipe of `shoal verify` closes a batch and a block a second, and anybody may report to it. This
// keeps somebody who does so all day from filling the aggregator's disk with blocks.
const PROBE = 'shoal-probe';
const PROBES_AN_HOUR = 240;

const DEFAULTS = { batchBytes: 4 << 20, storeBytes: 256 << 20, keyGraceS: 86_400, batchVersion: 1 };

/**
 * Returns: the number of reports at which a batch is sealed whatever its age. It is at least twice
 * the minimum even where the bytes allow fewer, so that a busy collection still mixes more than the
 * minimum.
 * @param {Recipe} recipe
 * @param {number} [batchBytes]
 */
export function batchCap({ recordSize, batch }, batchBytes = DEFAULTS.batchBytes) {
  return Math.min(COUNT_MAX, Math.max(2 * batch.minimum, Math.floor(batchBytes / recordSize)));
}

export class Collector {
  /** @type {CollectorDeps} */ #deps;
  /** @type {Required<Limits>} */ #limits;
  /** @type {string | null} */ #openId;
  #openedAt = 0;
  #retryAt;
  #cap;
  /** @type {Promise<CryptoKey> | null} */ #hashKey = null;
  /** @type {Promise<void> | null} */ #running = null;
  /** Probes that were taken. */
  #probes = { hour: -1, taken: 0 };

  /** @param {CollectorDeps} deps */
  constructor(deps) {
    this.#deps = deps;
    this.#limits = { ...DEFAULTS, ...deps.limits };
    this.#cap = batchCap(deps.recipe, this.#limits.batchBytes);
    this.#retryAt = deps.retryAt ?? 0;
    const { openId, openedHour } = deps.store.state();
    this.#openId = openId;
    this.#openedAt = (openedHour ?? 0) * HOUR_MS;
  }

  /**
   * Takes checked records that came together and judges each one by itself. An accepted record is
   * durable, and counts once however often its key comes.
   * @param {Uint8Array} records  concatenated
   * @param {string[]} keys  the reports' idempotency keys
   * @returns {Promise<Outcome[]>}
   */
  async accept(records, keys) {
    const { recipe, store, now } = this.#deps;
    const size = recipe.recordSize;
    if (now() >= this.#expiresAt()) return keys.map(() => 'expired');
    if (this.#isOverProbed(keys.length)) return keys.map(() => 'full');
    const { hmac } = this.#deps.crypto;
    const { salt } = store.state();
    const hashes = hmac
      ? keys.map((key) => hmac(salt, key).subarray(0, HASH_SIZE))
      : await Promise.all(keys.map((key) => this.#hash(key)));
    /** @type {Outcome[]} */
    const outcomes = [];
    while (outcomes.length < keys.length) {
      const from = outcomes.length;
      const some = hashes.slice(from, from + this.#room());
      if (some.length === 0) {
        outcomes.push((await store.has(hashes[from])) ? 'accepted' : 'full');
        continue;
      }
      const to = from + some.length;
      const added = await store.add(
        some,
        records.subarray(from * size, to * size),
        Math.floor(now() / HOUR_MS),
      );
      while (outcomes.length < to) outcomes.push('accepted');
      if (added > 0) await this.#afterAdd();
    }
    return outcomes;
  }

  /** Counts probes, and says whether they are too many. @param {number} more */
  #isOverProbed(more) {
    if (this.#deps.recipe.id !== PROBE) return false;
    const hour = Math.floor(this.#deps.now() / HOUR_MS);
    if (hour !== this.#probes.hour) this.#probes = { hour, taken: 0 };
    if (this.#probes.taken + more > PROBES_AN_HOUR) return true;
    this.#probes.taken += more;
    return false;
  }

  /** Is a report with this key kept? @param {string} key */
  async knows(key) {
    return this.#deps.store.has(await this.#hash(key));
  }

  /**
   * Returns how many reports may be added at once, so that none passes a limit that it would not
   * pass alone.
   */
  #room() {
    const { recipe, store } = this.#deps;
    const { openCount, bytes } = store.state();
    const each = recipe.recordSize + REPORT_OVERHEAD;
    const left = this.#limits.storeBytes - bytes;
    if (left < each) return 0;
    return Math.max(
      1,
      Math.floor(
        Math.min(this.#cap - openCount, left / (each + KEY_BYTES), ADD_BYTES / recipe.recordSize),
      ),
    );
  }

  /** The report is durable: whatever fails from here on must not take the answer back. */
  async #afterAdd() {
    const { openId, openCount } = this.#deps.store.state();
    if (openId !== this.#openId) {
      this.#openId = openId;
      this.#openedAt = this.#deps.now();
    }
    const due =
      openCount >= this.#cap || (openCount >= this.#minimum() && this.#deps.now() >= this.#dueAt());
    if (due) await this.#seal().catch(() => {}); // the next run seals
  }

  /**
   * Does the due work: seals, destroys, forwards, forgets. One run at a time.
   * @returns {Promise<void>}  rejects when the store fails, never for a failure of the sender
   */
  run() {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run() {
    const { store, now } = this.#deps;
    const { openCount, closing } = store.state();
    const expired = now() >= this.#expiresAt();
    /** @type {unknown} */
    let failure = null; // a store too full to seal must still forward, which makes room
    if (closing || (openCount >= this.#minimum() && (expired || now() >= this.#dueAt()))) {
      await this.#seal().catch((error) => (failure = error));
    }
    if (expired && store.state().openCount > 0 && store.state().openCount < this.#minimum()) {
      await store.destroyOpen((count) => ({
        destroyed_batches_total: 1,
        destroyed_reports_total: count,
      }));
    }
    if (now() >= this.#retryAt) await this.#forward();
    await store.forget(expired ? Infinity : Math.floor((now() - this.#keysKeptMs()) / HOUR_MS) - 1);
    if (failure !== null) throw failure;
  }

  /**
   * Returns when the host must call run() again: milliseconds since 1970, or null for never. Times
   * that come from a batch's opening are rounded up to whole hours (to max_age_s if that is less),
   * because a host may have to keep them.
   * @returns {Promise<number | null>}
   */
  async wake() {
    const { store, now } = this.#deps;
    const times = [];
    const { openCount, closing } = store.state();
    if (closing || (await store.batches('sealed')).length > 0)
      times.push(Math.max(now(), this.#retryAt));
    if (openCount > 0) {
      const due = this.#roundedDueAt();
      times.push(
        openCount >= this.#minimum() ? Math.min(due, this.#expiresAt()) : this.#expiresAt(),
      );
    }
    const oldest = store.oldestKeys();
    if (oldest !== null) times.push((oldest + 1) * HOUR_MS + this.#keysKeptMs());
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Puts batches that the aggregator refused back in line. @returns {Promise<number>} */
  async retryQuarantined() {
    const batches = await this.#deps.store.restore();
    if (batches > 0) this.#retryAt = 0;
    return batches;
  }

  /** Figures for the operator: counts only. @returns {Promise<Record<string, number>>} */
  async stats() {
    const { store, recipe } = this.#deps;
    const { openCount, bytes } = store.state();
    const counters = store.counters();
    return {
      ...counters,
      accepted_reports_total:
        openCount + (counters.sealed_reports_total ?? 0) + (counters.destroyed_reports_total ?? 0),
      open_reports: openCount,
      open_due_timestamp_seconds: openCount > 0 ? this.#roundedDueAt() / 1000 : 0,
      sealed_batches: (await store.batches('sealed')).length,
      quarantined_batches: (await store.batches('quarantined')).length,
      store_bytes: bytes,
      store_limit_bytes: this.#limits.storeBytes,
      batch_minimum_reports: this.#minimum(),
      recipe_expires_timestamp_seconds: ((recipe.expiresDay + 1) * DAY_MS) / 1000,
    };
  }

  async #seal() {
    const { recipe, store, crypto, now } = this.#deps;
    const day = this.#limits.batchVersion === 2 ? Math.floor(now() / DAY_MS) : 0;
    /** @type {Build} */
    const build = (id, records) => {
      const order = permutation(records.length, crypto);
      const bytes = new Uint8Array(records.length * recipe.recordSize);
      order.forEach((from, to) =>
        bytes.set(/** @type {Uint8Array} */ (records.at(from)), to * recipe.recordSize),
      );
      return recipe.sealBatch(bytes, id, day);
    };
    await store.seal(this.#minimum(), build, (count) => ({
      sealed_batches_total: 1,
      sealed_reports_total: count,
    }));
  }

  /** Sends sealed batches until one fails. */
  async #forward() {
    const { store, send } = this.#deps;
    for (const id of (await store.batches('sealed')).slice(0, BATCHES_A_RUN)) {
      const { outcome, retryAfterS, isConflict } = await send(await store.read(id));
      if (outcome === 'failed') return this.#backOff(retryAfterS ?? 0);
      const attempts = { failures_in_a_row: -(store.counters().failures_in_a_row ?? 0) };
      if (outcome === 'stored')
        await store.forwarded(
          id,
          { ...attempts, forwarded_batches_total: 1 },
          spendsTokens(this.#deps.recipe) ? Math.floor(this.#deps.now() / HOUR_MS) : undefined,
        );
      else
        await store.quarantine(id, {
          ...attempts,
          refused_batches_total: 1,
          conflicting_batches_total: isConflict ? 1 : 0,
        });
    }
  }

  /**
   * Sets the next retry: an exponential delay with a jitter of one half.
   * @param {number} retryAfterS  delay that the aggregator asks for
   */
  async #backOff(retryAfterS) {
    const { store, now, crypto } = this.#deps;
    const failures = store.counters().failures_in_a_row ?? 0;
    const jitter = 0.5 + below(1 << 16, drawsOf(crypto)) / (1 << 17);
    const delay = Math.ceil(
      jitter * Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** Math.min(failures, 20)),
    );
    this.#retryAt = now() + Math.max(delay, 1000 * Math.min(retryAfterS, RETRY_AFTER_MAX_S));
    await store.count({ failures_in_a_row: 1, send_failures_total: 1 });
  }

  #minimum() {
    return this.#deps.recipe.batch.minimum;
  }

  #dueAt() {
    return this.#openedAt + this.#deps.recipe.batch.maxAgeS * 1000;
  }

  /** The same, rounded up to whole hours (to max_age_s if that is less). */
  #roundedDueAt() {
    const quantum = Math.min(HOUR_MS, this.#deps.recipe.batch.maxAgeS * 1000);
    return Math.ceil(this.#dueAt() / quantum) * quantum;
  }

  #expiresAt() {
    return (this.#deps.recipe.expiresDay + 1) * DAY_MS;
  }

  /**
   * Time from a forwarded batch's opening until its keys are forgotten; of spent tokens, from its
   * forwarding.
   */
  #keysKeptMs() {
    const { recipe } = this.#deps;
    if (spendsTokens(recipe)) return keptMs(recipe, this.#limits.keyGraceS);
    return (this.#deps.recipe.batch.maxAgeS + this.#limits.keyGraceS) * 1000;
  }

  /** @param {string} key @returns {Promise<Uint8Array>} */
  async #hash(key) {
    const { subtle, hmac } = this.#deps.crypto;
    if (hmac !== undefined) return hmac(this.#deps.store.state().salt, key).slice(0, HASH_SIZE);
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const salt = /** @type {BufferSource} */ (this.#deps.store.state().salt);
    this.#hashKey ??= subtle.importKey('raw', salt, algorithm, false, ['sign']);
    const mac = await subtle.sign('HMAC', await this.#hashKey, new TextEncoder().encode(key));
    return new Uint8Array(mac).slice(0, HASH_SIZE);
  }
}

/**
 * Returns a uniformly random order of 0 .. n-1 (Fisher and Yates).
 * @param {number} n
 * @param {Pick<Random, 'getRandomValues'>} random
 * @returns {Uint32Array}
 */
export function permutation(n, random) {
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  const draw = drawsOf(random);
  for (let i = n - 1; i > 0; i--) {
    const j = below(i + 1, draw);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/**
 * Returns a source of 32-bit numbers that fetches many at once, because a call costs more than they.
 * @param {Pick<Random, 'getRandomValues'>} random
 */
export function drawsOf(random) {
  const bytes = new Uint8Array(4 * DRAWS);
  const view = new DataView(bytes.buffer);
  let next = DRAWS;
  return () => {
    if (next === DRAWS) {
      random.getRandomValues(bytes);
      next = 0;
    }
    return view.getUint32(4 * next++);
  };
}

/**
 * Returns a uniform integer in [0, n), by rejection.
 * @param {number} n  1 .. 2^32
 * @param {() => number} draw  of 32 bits
 */
export function below(n, draw) {
  const limit = 2 ** 32 - (2 ** 32 % n);
  for (;;) {
    const value = draw();
    if (value < limit) return value % n;
  }
}
