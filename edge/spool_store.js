// SPDX-License-Identifier: Apache-2.0
// The collector's store in a folder, for Node. Each folder has one process (the caller locks it).
//
// A folder holds
//     salt, counters.json           of the collection
//     <id>.<hour>.open              the open batch: fixed slots, a report in a random one
//     <id>.<hour>.sealed            a batch as it is sent, then the sorted hashes of its reports' keys
//     <id>.<hour>.quarantined       the same, refused by the aggregator
//     <id>.<hour>.forwarded         the sorted hashes alone
// id is random, the id of a batch of version 1 and the salt of one of version 2; hour is its opening
// hour since 1970; of spent tokens the hour of forwarding. A slot is key hash, record, and 8 bytes
// of their SHA-256: a slot that a crash left half written is empty.
//
// Reports lie in slots of one file because a file system notes when each file was made and changed,
// and that cannot be switched off. A file for each report would keep every report's time of arrival
// and their order. Slots of one file keep neither. They also let many reports share one fdatasync.
//
// Files are written completely under another name, flushed and renamed; then the folder is flushed.
// When a folder is opened, a batch that has a later file loses its earlier ones. A crash between
// the two counts nothing twice.
//
// Memory holds the open batch, the key hash of every report (key_table.js), and a few words for
// each file. state() counts the larger of disk and memory for each, so `storeBytes` bounds both.

import { mkdir, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { batchHeader } from 'shoal-client/core';
import { KEY_BYTES, KeyTable } from './key_table.js';
import { flushDir, makeFile, readOptional, writeWhole } from './spool_files.js';
import { HASH_SIZE, Slots, hex } from './spool_slots.js';

/**
 * @typedef {import('./collector.js').Store} Store
 * @typedef {import('./collector.js').Counters} Counters
 */
/**
 * @typedef {import('./collector.js').Build} Build
 * @typedef {import('./collector.js').BatchState} BatchState
 */
/** @typedef {import('./spool_slots.js').SpoolOptions} SpoolOptions */

const SALT_SIZE = 32;
/**
 * What an open report costs beside its record: on the disk key hash and checksum; in memory key
 * hash, its entry in the table, and its bit of the used slots.
 */
const REPORT_OVERHEAD = 64;
const BATCH_OVERHEAD = 512; // of a closed batch: its file's name in memory, and its entry in the folder
const FILE_NAME = /^([0-9a-f]{32})\.([0-9]{1,8})\.(open|sealed|quarantined|forwarded)$/;

/** Later states win over earlier ones of the same batch. */
const STATES = ['open', 'sealed', 'quarantined', 'forwarded'];

/**
 * @typedef {{id: string, hour: number, state: string, count: number, size: number}} Batch
 *   count: reports; size: bytes of the file
 */

/** @implements {Store} */
export class SpoolStore {
  #dir;
  #options;
  /** @type {Uint8Array} */ #salt = new Uint8Array(0);
  /** @type {Counters} */ #counters = {};
  /** @type {Slots | null} */ #open = null;
  /** Closed, not yet sealed. @type {Slots | null} */ #closing = null;
  /** Hashes of the durable idempotency keys. */ #keys = new KeyTable();
  /** Keys on their way to the disk. @type {Map<string, Promise<void>>} */ #pending = new Map();
  /** Closed batches by state, by id. @type {Record<string, Map<string, Batch>>} */
  #batches = { sealed: new Map(), quarantined: new Map(), forwarded: new Map() };
  #batchBytes = 0;
  /** @type {number | null} */ #oldestKeys = null;
  /** @type {Promise<void> | null} */ #mending = null;
  #tail = Promise.resolve(); // changes of batches, one after another

  /** Use SpoolStore.open. @param {string} dir @param {SpoolOptions} options */
  constructor(dir, options) {
    this.#dir = dir;
    this.#options = options;
  }

  /**
   * Opens a folder, or makes it, and repairs what a crash left.
   * @param {string} dir
   * @param {SpoolOptions} options
   */
  static async open(dir, options) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const store = new SpoolStore(dir, options);
    await store.#load();
    return store;
  }

  async #load() {
    this.#salt = await this.#loadSalt();
    this.#counters = JSON.parse(
      (await readOptional(join(this.#dir, 'counters.json')))?.toString() ?? '{}',
    );
    const files = await this.#sweep();
    for (const { id, hour, state } of files.filter((file) => file.state !== 'open')) {
      const bytes = await readFile(this.#path(id, hour, state));
      const hashes = this.#hashesOf(bytes, state);
      this.#keep({ id, hour, state, count: hashes.length / HASH_SIZE, size: bytes.length });
      this.#keys.addAll(hashes);
    }
    for (const { id, hour } of files.filter((file) => file.state === 'open'))
      await this.#loadOpen(id, hour);
  }

  /**
   * Drops unfinished files and those that a later state replaced. Returns the rest, oldest hour
   * first.
   */
  async #sweep() {
    /** @type {Map<string, {id: string, hour: number, state: string}>} */
    const newest = new Map();
    const names = await readdir(this.#dir);
    for (const name of names.filter((other) => other.endsWith('.tmp')))
      await unlink(join(this.#dir, name));
    for (const name of names) {
      const [, id, hour, state] = FILE_NAME.exec(name) ?? [];
      if (id === undefined) continue;
      const file = { id, hour: Number(hour), state };
      const other = newest.get(id);
      const [older, newer] =
        other === undefined || STATES.indexOf(other.state) < STATES.indexOf(state)
          ? [other, file]
          : [file, other];
      if (older !== undefined) await unlink(this.#path(older.id, older.hour, older.state));
      newest.set(id, newer);
    }
    await flushDir(this.#dir);
    return [...newest.values()].sort((a, b) => a.hour - b.hour);
  }

  async #loadSalt() {
    const found = await readOptional(join(this.#dir, 'salt'));
    if (found !== null) return new Uint8Array(found);
    const salt = this.#options.crypto.getRandomValues(new Uint8Array(SALT_SIZE));
    await writeWhole(join(this.#dir, 'salt'), salt);
    return salt;
  }

  /**
   * Merges two open batches, which a crash during sealing can leave: the second joins the first.
   * @param {string} id
   * @param {number} hour
   */
  async #loadOpen(id, hour) {
    const path = this.#path(id, hour, 'open');
    const isFirst = this.#open === null;
    const isNew = isFirst ? (/** @type {Uint8Array} */ hash) => this.#keys.add(hash) : () => true;
    const slots = await Slots.load(path, { id, hour, ...this.#options }, isNew);
    if (isFirst) {
      this.#open = slots;
      return;
    }
    for (let i = 0; i < slots.rows.length; i++) {
      const row = slots.rows.at(i);
      await this.add([row.subarray(0, HASH_SIZE)], row.subarray(HASH_SIZE), hour);
    }
    await slots.close();
    await unlink(path);
    await flushDir(this.#dir);
  }

  state() {
    const slots = this.#open;
    const each = this.#options.recordSize + REPORT_OVERHEAD;
    const taken = (slots?.taken ?? 0) + (this.#closing?.taken ?? 0);
    return {
      salt: this.#salt,
      openCount: slots?.rows.length ?? 0,
      openId: slots?.id ?? null,
      openedHour: slots?.hour ?? null,
      closing: this.#closing !== null,
      bytes: this.#batchBytes + taken * each,
    };
  }

  /** @param {Uint8Array} hash */
  async has(hash) {
    const name = hex(hash);
    await this.#pending.get(name);
    return this.#keys.has(hash);
  }

  /**
   * Adds reports with one flush. A key that is on its way to the disk already waits for that.
   * @param {Uint8Array[]} hashes @param {Uint8Array} records @param {number} hour
   */
  async add(hashes, records, hour) {
    const size = this.#options.recordSize;
    const names = hashes.map(hex);
    let added = 0;
    for (let left = [...names.keys()]; left.length > 0;) {
      const fresh = new Map();
      const busy = [];
      for (const i of left)
        if (this.#pending.has(names[i]) || fresh.has(names[i])) busy.push(i);
        else if (!this.#keys.has(hashes[i])) fresh.set(names[i], i);
      if (fresh.size > 0) {
        const numbers = [...fresh.values()];
        const written = this.#put(
          numbers.map((i) => hashes[i]),
          numbers.map((i) => records.subarray(i * size, (i + 1) * size)),
          hour,
        );
        for (const name of fresh.keys()) this.#pending.set(name, written);
        await written.finally(() => fresh.forEach((_, name) => this.#pending.delete(name)));
        added += fresh.size;
      } else await Promise.allSettled(busy.map((i) => this.#pending.get(names[i])));
      left = busy;
    }
    return added;
  }

  /** @param {Uint8Array[]} hashes @param {Uint8Array[]} records @param {number} hour */
  async #put(hashes, records, hour) {
    if (this.#open?.broken) {
      this.#mending ??= this.#inTurn(() => this.#mend()).finally(() => (this.#mending = null));
      await this.#mending;
    }
    const slots = (this.#open ??= this.#openSlots(hour));
    try {
      await slots.put(hashes, records);
    } catch (error) {
      if (slots.unmade && this.#open === slots) this.#open = null; // the next report tries to make the file again
      throw error;
    }
    for (const hash of hashes) this.#keys.add(hash);
  }

  /**
   * Moves the open batch to a new file after a flush of the old one failed, for instance because
   * the disk was full. A crash can leave both files; #loadOpen takes each key once.
   */
  async #mend() {
    const failed = this.#open;
    if (failed === null || !failed.broken) return;
    await failed.settle();
    const slots = this.#openSlots(failed.hour);
    const copied = await slots.copy(failed).catch((error) => error);
    // Meanwhile the batch may have been closed, as it was before the copy.
    const isWanted = copied === undefined && this.#open === failed;
    const old = isWanted ? failed : slots;
    if (isWanted) this.#open = slots;
    await old.close();
    await unlink(this.#path(old.id, old.hour, 'open')).catch(() => {});
    await flushDir(this.#dir);
    if (copied !== undefined) throw copied;
  }

  /** @param {number} hour */
  #openSlots(hour) {
    const id = hex(this.#options.crypto.getRandomValues(new Uint8Array(16)));
    const path = this.#path(id, hour, 'open');
    return new Slots({ id, hour, ...this.#options }, (size) =>
      makeFile(path, (file) => file.truncate(size)),
    );
  }

  /** @param {number} minimum @param {Build} build @param {(count: number) => Counters} counters */
  seal(minimum, build, counters) {
    if (this.#closing === null) {
      if (this.#open === null || this.#open.rows.length < minimum) return Promise.resolve(0);
      this.#closing = this.#open;
      this.#open = null;
    }
    return this.#inTurn(() => this.#sealClosing(build, counters));
  }

  /** @param {Build} build @param {(count: number) => Counters} counters */
  async #sealClosing(build, counters) {
    const slots = this.#closing;
    if (slots === null) return 0;
    await slots.settle();
    const { id, hour, rows } = slots;
    const count = rows.length;
    const batch = build(Buffer.from(id, 'hex'), rows.without(HASH_SIZE));
    const bytes = Buffer.concat([batch, rows.sortedHeads(HASH_SIZE)]);
    await writeWhole(this.#path(id, hour, 'sealed'), bytes);
    await slots.close();
    await unlink(this.#path(id, hour, 'open'));
    await flushDir(this.#dir);
    this.#closing = null;
    this.#keep({ id, hour, state: 'sealed', count, size: bytes.length });
    await this.#count(counters(count));
    return count;
  }

  /** @param {BatchState} state */
  batches(state) {
    return [...this.#batches[state].keys()]
      .sort()
      .map((id) => new Uint8Array(Buffer.from(id, 'hex')));
  }

  /** @param {Uint8Array} id @returns {Promise<Uint8Array>} */
  async read(id) {
    const { hour, state } = this.#batch(id);
    const bytes = await readFile(this.#path(hex(id), hour, state));
    return new Uint8Array(bytes.subarray(0, this.#batchSize(bytes)));
  }

  /** @param {Uint8Array} id @param {Counters} counters @param {number} [hour] */
  forwarded(id, counters, hour) {
    return this.#inTurn(async () => {
      const batch = this.#batch(id);
      const sealed = await readFile(this.#path(batch.id, batch.hour, batch.state));
      const keys = this.#hashesOf(sealed, batch.state);
      const kept = { ...batch, hour: hour ?? batch.hour, state: 'forwarded', size: keys.length };
      await writeWhole(this.#path(kept.id, kept.hour, kept.state), keys);
      await unlink(this.#path(batch.id, batch.hour, batch.state));
      await flushDir(this.#dir);
      this.#drop(batch);
      this.#keep(kept);
      await this.#count({ ...counters, forwarded_reports_total: batch.count });
    });
  }

  /** @param {Uint8Array} id @param {Counters} counters */
  quarantine(id, counters) {
    return this.#inTurn(async () => {
      await this.#rename(this.#batch(id), 'quarantined');
      await this.#count(counters);
    });
  }

  restore() {
    return this.#inTurn(async () => {
      const batches = this.batches('quarantined');
      for (const id of batches) await this.#rename(this.#batch(id), 'sealed');
      return batches.length;
    });
  }

  /** @param {(count: number) => Counters} counters */
  destroyOpen(counters) {
    const slots = this.#open;
    this.#open = null;
    return this.#inTurn(async () => {
      if (slots === null) return;
      await slots.settle();
      const count = slots.rows.length;
      this.#keys.deleteAll(slots.rows.sortedHeads(HASH_SIZE));
      await slots.close();
      await unlink(this.#path(slots.id, slots.hour, 'open'));
      await flushDir(this.#dir);
      await this.#count(counters(count));
    });
  }

  /** @param {Counters} counters */
  retireOpen(counters) {
    const slots = this.#open;
    this.#open = null;
    return this.#inTurn(async () => {
      if (slots === null) return;
      await slots.settle();
      const { id, hour, rows } = slots;
      const keys = rows.sortedHeads(HASH_SIZE);
      await writeWhole(this.#path(id, hour, 'forwarded'), keys);
      await slots.close();
      await unlink(this.#path(id, hour, 'open'));
      await flushDir(this.#dir);
      this.#keep({ id, hour, state: 'forwarded', count: rows.length, size: keys.length });
      await this.#count(counters);
    });
  }

  /** @param {number} hour */
  forget(hour) {
    return this.#inTurn(async () => {
      if (this.#oldestKeys === null || this.#oldestKeys > hour) return;
      const gone = [...this.#batches.forwarded.values()].filter((batch) => batch.hour <= hour);
      for (const batch of gone) {
        const path = this.#path(batch.id, batch.hour, batch.state);
        const hashes = await readFile(path);
        await unlink(path);
        this.#drop(batch);
        this.#keys.deleteAll(hashes);
      }
      await flushDir(this.#dir);
    });
  }

  /** @returns {number | null} */
  oldestKeys() {
    return this.#oldestKeys;
  }

  /** @param {Counters} counters */
  count(counters) {
    return this.#inTurn(() => this.#count(counters));
  }

  counters() {
    return { ...this.#counters };
  }

  /** Waits for pending changes and closes files. Nothing is lost by not calling it. */
  async close() {
    await this.#tail;
    await this.#closing?.close();
    await this.#open?.close();
  }

  /** @template T @param {() => Promise<T>} change @returns {Promise<T>} */
  #inTurn(change) {
    const result = this.#tail.then(change);
    this.#tail = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  /** @param {Uint8Array} id */
  #batch(id) {
    const name = hex(id);
    const batch = this.#batches.sealed.get(name) ?? this.#batches.quarantined.get(name);
    if (batch === undefined) throw new Error('no such batch');
    return batch;
  }

  /** @param {Batch} batch @param {string} state */
  async #rename(batch, state) {
    await rename(
      this.#path(batch.id, batch.hour, batch.state),
      this.#path(batch.id, batch.hour, state),
    );
    await flushDir(this.#dir);
    this.#drop(batch);
    this.#keep({ ...batch, state });
  }

  /** Mirrors a batch's file in memory. @param {Batch} batch */
  #keep(batch) {
    this.#batches[batch.state].set(batch.id, batch);
    this.#batchBytes += chargeOf(batch);
    if (batch.state === 'forwarded')
      this.#oldestKeys = Math.min(this.#oldestKeys ?? Infinity, batch.hour);
  }

  /** @param {Batch} batch */
  #drop(batch) {
    this.#batches[batch.state].delete(batch.id);
    this.#batchBytes -= chargeOf(batch);
    if (batch.state !== 'forwarded' || batch.hour !== this.#oldestKeys) return;
    let oldest = Infinity;
    for (const { hour } of this.#batches.forwarded.values()) oldest = Math.min(oldest, hour);
    this.#oldestKeys = oldest === Infinity ? null : oldest;
  }

  /** @param {Counters} counters */
  async #count(counters) {
    for (const [name, value] of Object.entries(counters))
      this.#counters[name] = (this.#counters[name] ?? 0) + value;
    await writeWhole(join(this.#dir, 'counters.json'), Buffer.from(JSON.stringify(this.#counters)));
  }

  /**
   * Returns the key hashes at the end of a closed batch's file.
   * @param {Buffer} bytes
   * @param {string} state
   */
  #hashesOf(bytes, state) {
    const from = state === 'forwarded' ? 0 : this.#batchSize(bytes);
    return bytes.subarray(from, bytes.length - ((bytes.length - from) % HASH_SIZE));
  }

  /**
   * Returns the size of the batch at the start of a file: header, records, checksum
   * (core/wire/batch.h).
   * @param {Buffer} bytes
   */
  #batchSize(bytes) {
    const version = bytes.readUInt32LE(8);
    if (version > 2) throw new Error(`${this.#dir}: a newer shoal-edge wrote this spool`);
    return batchHeader(version) + bytes.readUInt32LE(12) * bytes.readUInt32LE(16) + 8;
  }

  /** @param {string} id @param {number} hour @param {string} state */
  #path(id, hour, state) {
    return join(this.#dir, `${id}.${hour}.${state}`);
  }
}

/**
 * Returns the bytes that a closed batch counts for: its file, or what memory keeps of a file that
 * is smaller.
 * @param {Batch} batch
 */
function chargeOf({ count, size }) {
  return Math.max(size, count * KEY_BYTES) + BATCH_OVERHEAD;
}
