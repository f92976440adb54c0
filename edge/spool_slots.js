// SPDX-License-Identifier: Apache-2.0
// The open batch of a folder: a file of fixed slots, with each report in a random one. A slot holds
// key hash, record, and 8 bytes of their SHA-256. A slot that a crash left half written therefore
// counts as empty. spool_store.js says why reports lie in slots.
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { open } from 'node:fs/promises';

export const HASH_SIZE = 16;
export const CHECK_SIZE = 8;
const READ_SIZE = 1 << 20;
const DRAWS = 256;

/**
 * @typedef {object} SpoolOptions
 * @property {number} recordSize
 * @property {number} capacity slots of an open batch; exceeds the number of reports it ever holds
 * @property {{getRandomValues: (bytes: Uint8Array) => Uint8Array}} crypto
 */

/** The open batch: its file of slots, and in memory the records that are durable there. */
export class Slots {
  /** Durable records by key hash. @type {Map<string, Uint8Array>} */ records = new Map();
  #options;
  #slotSize;
  #slot;
  #capacity;
  /** @type {Set<number>} */ #used = new Set();
  #draws = new Uint32Array(DRAWS);
  #nextDraw = DRAWS;
  /** @type {Promise<import('node:fs/promises').FileHandle>} */ #file;
  /** @type {Set<Promise<void>>} */ #writing = new Set();
  /** The fdatasync that has not begun; writes that end before it begins share it. @type {Promise<void> | null} */ #nextSync =
    null;
  #lastSync = Promise.resolve();
  /** Set by a failed fdatasync, which may have lost pages for good: the batch takes no more. */
  #broken = false;
  /** The file could not be made. */
  unmade = false;

  /**
   * @param {SpoolOptions & {id: string, hour: number}} options
   * @param {(size: number) => Promise<import('node:fs/promises').FileHandle>} create
   */
  constructor(options, create) {
    this.#options = options;
    this.id = options.id;
    this.hour = options.hour;
    this.#slotSize = HASH_SIZE + options.recordSize + CHECK_SIZE;
    this.#slot = Buffer.alloc(this.#slotSize);
    this.#capacity = options.capacity;
    this.#file = create(this.#slotSize * options.capacity);
    this.#file.catch(() => (this.unmade = true)); // each put reports it
  }

  /** The number of slots that are used, or being written. */
  get taken() {
    return this.#used.size;
  }

  /** @param {string} path @param {SpoolOptions & {id: string, hour: number}} options */
  static async load(path, options) {
    const slots = new Slots(options, () => open(path, 'r+'));
    await slots.#read();
    return slots;
  }

  async #read() {
    const file = await this.#file;
    const { size } = await file.stat();
    this.#capacity = Math.max(this.#capacity, Math.floor(size / this.#slotSize)); // an earlier configuration may have made a larger file
    const perRead = Math.max(1, Math.floor(READ_SIZE / this.#slotSize));
    for (let first = 0; first < this.#capacity; first += perRead) {
      const buffer = Buffer.alloc(perRead * this.#slotSize);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, first * this.#slotSize);
      for (let i = 0; (i + 1) * this.#slotSize <= bytesRead; i++) {
        const slot = buffer.subarray(i * this.#slotSize, (i + 1) * this.#slotSize);
        const body = slot.subarray(0, -CHECK_SIZE);
        if (!check(body).equals(slot.subarray(-CHECK_SIZE))) continue;
        this.#used.add(first + i);
        this.records.set(
          hex(body.subarray(0, HASH_SIZE)),
          new Uint8Array(body.subarray(HASH_SIZE)),
        );
      }
    }
  }

  /**
   * Writes a report into a random free slot; durable when resolved.
   * @param {string} hash
   * @param {Uint8Array} record
   * @returns {Promise<void>}
   */
  put(hash, record) {
    const writing = this.#put(hash, record);
    this.#writing.add(writing);
    const done = () => this.#writing.delete(writing);
    writing.then(done, done);
    return writing;
  }

  /** @param {string} hash @param {Uint8Array} record */
  async #put(hash, record) {
    if (this.#broken) throw new Error('the open batch takes no more');
    if (this.#used.size >= this.#capacity) this.#capacity *= 2; // more reports came at once than a batch should hold
    const slot = this.#freeSlot();
    this.#used.add(slot);
    const file = await this.#file;
    // The write runs on this thread: it ends in the system's memory, and another thread would cost
    // ten times as much. #sync below waits for the disk.
    const written = writeSync(
      file.fd,
      this.#fill(hash, record),
      0,
      this.#slotSize,
      slot * this.#slotSize,
    );
    if (written !== this.#slotSize) throw new Error('no room for a slot');
    await this.#sync(file);
    this.records.set(hash, new Uint8Array(record));
  }

  /**
   * @param {string} hash
   * @param {Uint8Array} record
   * @returns {Buffer} a slot's bytes, until the next call
   */
  #fill(hash, record) {
    this.#slot.write(hash, 0, 'hex');
    this.#slot.set(record, HASH_SIZE);
    this.#slot.set(check(this.#slot.subarray(0, -CHECK_SIZE)), this.#slotSize - CHECK_SIZE);
    return this.#slot;
  }

  /** A random free slot. Capacity exceeds use, so a few draws are enough. */
  #freeSlot() {
    for (;;) {
      const slot = this.#draw() % this.#capacity;
      if (!this.#used.has(slot)) return slot;
    }
  }

  /**
   * Returns a random number of 32 bits. Many are fetched at once, because a call costs more than
   * the numbers.
   */
  #draw() {
    if (this.#nextDraw === DRAWS) {
      this.#options.crypto.getRandomValues(new Uint8Array(this.#draws.buffer));
      this.#nextDraw = 0;
    }
    return this.#draws[this.#nextDraw++];
  }

  /** @param {import('node:fs/promises').FileHandle} file */
  #sync(file) {
    this.#nextSync ??= this.#lastSync.then(() => {
      this.#nextSync = null;
      return file.datasync().catch((error) => {
        this.#broken = true;
        throw error;
      });
    });
    this.#lastSync = this.#nextSync.catch(() => {});
    return this.#nextSync;
  }

  /** Waits until no write is under way. */
  async settle() {
    while (this.#writing.size > 0) await Promise.allSettled(this.#writing);
  }

  async close() {
    await this.settle();
    await this.#file.then((file) => file.close()).catch(() => {});
  }
}

/** @param {Uint8Array} body */
function check(body) {
  return createHash('sha256').update(body).digest().subarray(0, CHECK_SIZE);
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Buffer.from(bytes).toString('hex');
}
