// SPDX-License-Identifier: Apache-2.0
// The open batch of a folder: a file of fixed slots, with each report in a random one. A slot holds
// key hash, record, and 8 bytes of their SHA-256. A slot that a crash left half written therefore
// counts as empty. spool_store.js says why reports lie in slots.
import { writeSync as systemWriteSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { sha256Hex } from './digest.js';
import { SlotRows } from './spool_rows.js';

export const HASH_SIZE = 16;
export const CHECK_SIZE = 8;
const READ_SIZE = 1 << 20;
const DRAWS = 256;

/**
 * @typedef {object} SpoolOptions
 * @property {number} recordSize
 * @property {number} capacity slots of an open batch; exceeds the number of reports it ever holds
 * @property {{getRandomValues: (bytes: Uint8Array) => Uint8Array}} crypto
 * @property {typeof systemWriteSync} [writeSync]
 */

/** The open batch: its file of slots, and in memory the records that are durable there. */
export class Slots {
  /** Durable reports: key hash and record. */ rows;
  #options;
  #slotSize;
  #slot;
  /** The slot without its check. */ #body;
  #capacity;
  /** One bit a slot. */ #used;
  /** The number of slots that are used, or being written. */ taken = 0;
  #draws = new Uint32Array(DRAWS);
  #nextDraw = DRAWS;
  /** @type {Promise<import('node:fs/promises').FileHandle>} */ #file;
  /** @type {Set<Promise<void>>} */ #writing = new Set();
  /** The fdatasync that has not begun; writes that end before it begins share it. @type {Promise<void> | null} */ #nextSync =
    null;
  #lastSync = Promise.resolve();
  /** Set by a failed fdatasync, which may have lost pages for good: the file takes no more. */
  broken = false;
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
    this.#body = this.#slot.subarray(0, -CHECK_SIZE);
    this.#capacity = options.capacity;
    this.#used = new Uint8Array((options.capacity + 7) >> 3);
    this.rows = new SlotRows(HASH_SIZE + options.recordSize);
    this.#file = create(this.#slotSize * options.capacity);
    this.#file.catch(() => (this.unmade = true)); // each put reports it
  }

  /**
   * Reads a file that was left.
   * @param {string} path
   * @param {SpoolOptions & {id: string, hour: number}} options
   * @param {(hash: Uint8Array) => boolean} isNew  asked for each report; the slots of others are free
   */
  static async load(path, options, isNew) {
    const slots = new Slots(options, () => open(path, 'r+'));
    await slots.#read(isNew);
    return slots;
  }

  /** @param {(hash: Uint8Array) => boolean} isNew */
  async #read(isNew) {
    const file = await this.#file;
    const { size } = await file.stat();
    this.#widen(Math.floor(size / this.#slotSize)); // an earlier configuration may have made a larger file
    const perRead = Math.max(1, Math.floor(READ_SIZE / this.#slotSize));
    for (let first = 0; first < this.#capacity; first += perRead) {
      const buffer = Buffer.alloc(perRead * this.#slotSize);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, first * this.#slotSize);
      for (let i = 0; (i + 1) * this.#slotSize <= bytesRead; i++) {
        const slot = buffer.subarray(i * this.#slotSize, (i + 1) * this.#slotSize);
        const body = slot.subarray(0, -CHECK_SIZE);
        if (check(body) !== slot.toString('hex', slot.length - CHECK_SIZE)) continue;
        if (!isNew(body.subarray(0, HASH_SIZE))) continue;
        this.#take(first + i);
        this.rows.push(body);
      }
    }
  }

  /**
   * Writes reports into random free slots, all with one flush; durable when resolved. If one of them
   * could not be written, all give their slots back.
   * @param {Uint8Array[]} hashes
   * @param {Uint8Array[]} records
   * @returns {Promise<void>}
   */
  put(hashes, records) {
    const writing = this.#put(hashes, records);
    this.#writing.add(writing);
    const done = () => this.#writing.delete(writing);
    writing.then(done, done);
    return writing;
  }

  /** @param {Uint8Array[]} hashes @param {Uint8Array[]} records */
  async #put(hashes, records) {
    if (this.broken) throw new Error('the open batch takes no more');
    const slots = hashes.map(() => {
      if (this.taken >= this.#capacity) this.#widen(2 * this.#capacity); // more reports came at once than a batch should hold
      const slot = this.#freeSlot();
      this.#take(slot);
      return slot;
    });
    try {
      const file = await this.#file;
      for (let i = 0; i < slots.length; i++)
        this.#write(file, slots[i], this.#fill(hashes[i], records[i]));
      await this.#sync(file);
    } catch (error) {
      for (const slot of slots) this.#giveBack(slot);
      throw error;
    }
    for (let i = 0; i < slots.length; i++) this.rows.push(hashes[i], records[i]);
  }

  /**
   * The write runs on this thread: it ends in the system's memory, and another thread would cost
   * ten times as much. #sync waits for the disk.
   * @param {import('node:fs/promises').FileHandle} file
   * @param {number} slot
   * @param {Buffer} bytes
   */
  #write(file, slot, bytes) {
    const { writeSync = systemWriteSync } = this.#options;
    const written = writeSync(file.fd, bytes, 0, this.#slotSize, slot * this.#slotSize);
    if (written !== this.#slotSize) throw new Error('no room for a slot');
  }

  /**
   * Takes over all reports of a file that failed; durable when resolved.
   * @param {Slots} failed
   */
  async copy(failed) {
    const file = await this.#file;
    for (let i = 0; i < failed.rows.length; i++) {
      const row = failed.rows.at(i);
      const slot = this.#freeSlot();
      this.#take(slot);
      this.#write(file, slot, this.#fill(row.subarray(0, HASH_SIZE), row.subarray(HASH_SIZE)));
      this.rows.push(row);
    }
    await this.#sync(file);
  }

  /**
   * @param {Uint8Array} hash
   * @param {Uint8Array} record
   * @returns {Buffer} a slot's bytes, until the next call
   */
  #fill(hash, record) {
    this.#slot.set(hash, 0);
    this.#slot.set(record, HASH_SIZE);
    this.#slot.write(check(this.#body), this.#slotSize - CHECK_SIZE, 'hex');
    return this.#slot;
  }

  /** @param {number} capacity */
  #widen(capacity) {
    if (capacity <= this.#capacity) return;
    const used = new Uint8Array((capacity + 7) >> 3);
    used.set(this.#used);
    this.#used = used;
    this.#capacity = capacity;
  }

  /** @param {number} slot */
  #take(slot) {
    this.#used[slot >> 3] |= 1 << (slot & 7);
    this.taken++;
  }

  /** @param {number} slot */
  #giveBack(slot) {
    this.#used[slot >> 3] &= ~(1 << (slot & 7));
    this.taken--;
  }

  /** A random free slot. Capacity exceeds use, so a few draws are enough. */
  #freeSlot() {
    for (;;) {
      const slot = this.#draw() % this.#capacity;
      if (((this.#used[slot >> 3] >> (slot & 7)) & 1) === 0) return slot;
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
      // The system reports a lost page once. So what was written before a failure and not flushed
      // by it has failed, too.
      if (this.broken) throw new Error('the open batch takes no more');
      return file.datasync().catch((error) => {
        this.broken = true;
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
  return sha256Hex(body).slice(0, 2 * CHECK_SIZE);
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes)).toString('hex');
}
