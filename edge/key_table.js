// SPDX-License-Identifier: Apache-2.0
// A set of 16-byte digests in typed arrays, so that a million keys cost what this file says and no
// more. A Map of strings takes 0.2 KB a key and ends at 2^24 of them. The digests must be keyed by
// a secret (the collector's are HMACs under a salt): who knew where a digest falls could make every
// look-up slow.
//
// The set has 64 shards. Each is a table with linear probing that is grown, shrunk and copied by
// itself, so no copy takes long and none needs twice the memory. An entry of zeros is a free one.

const SHARDS = 64;
const WORDS = 4; // 32-bit words of a digest
const SMALLEST = 16; // entries of the smallest table
const FULLEST = 0.85;
const EMPTIEST = 0.6;
const GROWN = 1.25;
const SHRUNK = 0.75; // load after a table was shrunk

/**
 * Bytes of memory that a key costs at most, besides 16 KiB of a set that is not empty: 16 / 0.6,
 * and one shard's copy.
 */
export const KEY_BYTES = 28;

/** One shard. */
class Shard {
  count = 0;
  #entries = SMALLEST;
  #words = new Uint32Array(SMALLEST * WORDS);

  get byteLength() {
    return this.#words.byteLength;
  }

  /**
   * Returns the place of a digest, or of the free entry where it belongs.
   * @param {Uint32Array} key
   */
  find(key) {
    const words = this.#words;
    for (let entry = this.#home(key[1]); ; entry = entry + 1 === this.#entries ? 0 : entry + 1) {
      const at = entry * WORDS;
      if (isFree(words, at)) return { entry, known: false };
      if (
        words[at] === key[0] &&
        words[at + 1] === key[1] &&
        words[at + 2] === key[2] &&
        words[at + 3] === key[3]
      )
        return { entry, known: true };
    }
  }

  /** @param {Uint32Array} key */
  add(key) {
    const { entry, known } = this.find(key);
    if (known) return false;
    this.#words.set(key, entry * WORDS);
    this.count++;
    if (this.count > this.#entries * FULLEST) this.#resize(Math.ceil(this.#entries * GROWN));
    return true;
  }

  /** @param {Uint32Array} key */
  delete(key) {
    const { entry, known } = this.find(key);
    if (!known) return false;
    this.#close(entry);
    this.count--;
    const small = this.count < this.#entries * EMPTIEST && this.#entries > SMALLEST;
    if (small) this.#resize(Math.max(SMALLEST, Math.ceil(this.count / SHRUNK)));
    return true;
  }

  /**
   * Frees an entry: every later one of the same run that would no longer be found moves up.
   * @param {number} hole
   */
  #close(hole) {
    const words = this.#words;
    for (let entry = hole; ;) {
      entry = entry + 1 === this.#entries ? 0 : entry + 1;
      const at = entry * WORDS;
      if (isFree(words, at)) break;
      const home = this.#home(words[at + 1]);
      const isBehind = hole <= entry ? home <= hole || home > entry : home <= hole && home > entry;
      if (!isBehind) continue;
      words.copyWithin(hole * WORDS, at, at + WORDS);
      hole = entry;
    }
    words.fill(0, hole * WORDS, (hole + 1) * WORDS);
  }

  /** @param {number} entries */
  #resize(entries) {
    const old = this.#words;
    this.#entries = entries;
    this.#words = new Uint32Array(entries * WORDS);
    for (let at = 0; at < old.length; at += WORDS) {
      if (isFree(old, at)) continue;
      const key = old.subarray(at, at + WORDS);
      this.#words.set(key, this.find(key).entry * WORDS);
    }
  }

  /** @param {number} word */
  #home(word) {
    return Math.floor((word / 2 ** 32) * this.#entries);
  }
}

/** @param {Uint32Array} words @param {number} at */
function isFree(words, at) {
  return (words[at] | words[at + 1] | words[at + 2] | words[at + 3]) === 0;
}

/** A set of 16-byte digests. */
export class KeyTable {
  /** @type {(Shard | undefined)[]} */ #shards = Array.from({ length: SHARDS });
  #key = new Uint32Array(WORDS);
  #size = 0;

  get size() {
    return this.#size;
  }

  /** Bytes of the tables, which is all that grows with the keys. */
  get byteLength() {
    return this.#shards.reduce((sum, shard) => sum + (shard?.byteLength ?? 0), 0);
  }

  /** @param {Uint8Array} digest  16 bytes */
  has(digest) {
    const key = this.#read(digest, 0);
    return this.#shards[key[0] % SHARDS]?.find(key).known ?? false;
  }

  /**
   * Returns whether the digest is new.
   * @param {Uint8Array} digest  16 bytes
   */
  add(digest) {
    const key = this.#read(digest, 0);
    const isNew = (this.#shards[key[0] % SHARDS] ??= new Shard()).add(key);
    if (isNew) this.#size++;
    return isNew;
  }

  /** @param {Uint8Array} digests  concatenated */
  addAll(digests) {
    for (let at = 0; at + 16 <= digests.length; at += 16) this.add(digests.subarray(at, at + 16));
  }

  /** @param {Uint8Array} digests  concatenated; those that are not in the set are passed over */
  deleteAll(digests) {
    for (let at = 0; at + 16 <= digests.length; at += 16) {
      const key = this.#read(digests, at);
      const shard = this.#shards[key[0] % SHARDS];
      if (!shard?.delete(key)) continue;
      this.#size--;
      if (shard.count === 0) this.#shards[key[0] % SHARDS] = undefined;
    }
  }

  /**
   * Reads a digest as words. The digest of zeros shares an entry with its neighbour: to meet either
   * has a chance of 2^-127.
   * @param {Uint8Array} bytes
   * @param {number} at
   */
  #read(bytes, at) {
    const key = this.#key;
    for (let i = 0; i < WORDS; i++, at += 4)
      key[i] = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    if (isFree(key, 0)) key[3] = 1;
    return key;
  }
}
