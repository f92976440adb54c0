// SPDX-License-Identifier: Apache-2.0
// One collection over several shards, each a Durable Object with a store and batches of its own. A
// report's shard follows from its idempotency key, so repeats meet the same shard.
//
// The number of shards can grow without counting a report twice. Shard 0 keeps the list of all
// numbers so far. To add a number it first tells every shard of the latest one (`leave`). Such a
// shard then takes no report whose key the new number gives to another shard: it answers 'moved',
// unless it has the report. Then it waits until what it was storing is stored. Only after all of
// them have answered does anybody learn the new number, and take reports by it. Before that, the
// taker asks the earlier owners of the key whether they know it (`knows`). So a key is stored by an
// earlier owner before that owner left it, and then the question finds it, or never. The question
// ends when the earlier owner has forgotten every batch that it had when it left.
//
// The number never shrinks, because the open batch of a shard that goes away might stay below the
// minimum for ever. A smaller number in the configuration has no effect.

/** @typedef {import('./collection.js').Outcome} Outcome */
/**
 * @typedef {object} Shard  what a Durable Object offers
 * @property {(hash: string, n: number) => Promise<number[]>} grow  of shard 0: returns all numbers
 *   of shards so far, the last of which is in force
 * @property {(hash: string, n: number) => Promise<void>} leave
 * @property {(hash: string, key: string) => Promise<boolean | null>} knows  null if it will not know
 *   any key that another shard has now
 * @property {(hash: string, record: Uint8Array, key: string, n: number) =>
 *   Promise<Outcome | 'moved'>} accept  n: the number of shards that chose this one
 * @property {(hash: string) => Promise<Record<string, number>>} stats
 * @property {(hash: string) => Promise<number>} retryQuarantined
 */

/** Of a collection: /metrics asks each shard, and a worker may ask 1,000 times a request. */
const SHARDS_MAX = 64;

/** @param {unknown} n */
export function checkedShards(n) {
  if (!Number.isInteger(n) || Number(n) < 1 || Number(n) > SHARDS_MAX)
    throw new Error(`SHARDS: a whole number of 1 to ${SHARDS_MAX} is needed`);
  return Number(n);
}

/**
 * Returns the shard of a key, by jump consistent hashing (Lamping and Veach 2014): when the number
 * grows from n to m, a share of 1 - n/m of the keys moves, and all of it to new shards.
 * @param {string} key  32 hex digits
 * @param {number} n  shards
 */
export function shardOf(key, n) {
  let state = BigInt(`0x${key.slice(0, 16)}`);
  let shard = 0;
  for (let next = 0; next < n;) {
    shard = next;
    state = BigInt.asUintN(64, state * 2862933555777941757n + 1n);
    next = Math.floor((shard + 1) * (2 ** 31 / (Number(state >> 33n) + 1)));
  }
  return shard;
}

/** A collection's shards, as a worker sees them. It keeps values only, and no promise of a request. */
export class Shards {
  #hash;
  #wanted;
  #shard;
  /** @type {number[] | null} */ #counts;
  /** Shards that know no key of another shard. @type {Set<number>} */ #settled = new Set();

  /**
   * @param {string} hash
   * @param {number} wanted
   * @param {(i: number) => Shard} shard  belongs to the request in which it is called
   */
  constructor(hash, wanted, shard) {
    this.#hash = hash;
    this.#wanted = wanted;
    this.#shard = shard;
    this.#counts = wanted === 1 ? [1] : null;
  }

  /** @param {Uint8Array} record @param {string} key @returns {Promise<Outcome>} */
  async accept(record, key) {
    const counts = (this.#counts ??= await this.#ask());
    const n = counts[counts.length - 1];
    const owner = shardOf(key, n);
    for (const old of new Set(counts.map((each) => shardOf(key, each)))) {
      if (old === owner || this.#settled.has(old)) continue;
      const knows = await this.#shard(old).knows(this.#hash, key);
      if (knows) return 'accepted';
      if (knows === null) this.#settled.add(old);
    }
    const outcome = await this.#shard(owner).accept(this.#hash, record, key, n);
    if (outcome !== 'moved') return outcome;
    this.#counts = null; // another worker let the number grow
    this.#settled.clear();
    return this.accept(record, key);
  }

  #ask() {
    return this.#shard(0).grow(this.#hash, this.#wanted);
  }

  /** @template T @param {(shard: Shard) => Promise<T>} call @returns {Promise<T[]>} */
  async #each(call) {
    const n = (await this.#ask()).pop();
    return Promise.all(Array.from({ length: Number(n) }, (_, i) => call(this.#shard(i))));
  }

  async stats() {
    return total(await this.#each((shard) => shard.stats(this.#hash)));
  }

  async retryQuarantined() {
    const batches = await this.#each((shard) => shard.retryQuarantined(this.#hash));
    return batches.reduce((sum, n) => sum + n, 0);
  }
}

/** Adds up counts, but takes the largest of times, minimum and failures in a row. */
function total(/** @type {Record<string, number>[]} */ all) {
  /** @type {Record<string, number>} */
  const sums = {};
  for (const [name, n] of all.flatMap(Object.entries))
    sums[name] = /seconds|minimum|in_a_row/.test(name)
      ? Math.max(sums[name] ?? 0, n)
      : (sums[name] ?? 0) + n;
  return sums;
}
