// SPDX-License-Identifier: Apache-2.0
// The collector's store in a folder, for Node. Each folder has one process (the caller locks it).
//
// A folder holds
//     salt, counters.json           of the collection
//     <id>.<hour>.open              the open batch: fixed slots, a report in a random one
//     <id>.<hour>.sealed            a batch as it is sent, then the sorted hashes of its reports' keys
//     <id>.<hour>.quarantined       the same, refused by the aggregator
//     <id>.<hour>.forwarded         the sorted hashes alone
// id is the batch's id, hour its opening hour since 1970. A slot is key hash, record, and 8 bytes
// of their SHA-256: a slot that a crash left half written is empty.
//
// Reports lie in slots of one file because a file system notes when each file was made and changed,
// and that cannot be switched off. A file for each report would keep every report's time of arrival
// and their order. Slots of one file keep neither. They also let many reports share one fdatasync.
//
// Files are written completely under another name, flushed and renamed; then the folder is flushed.
// When a folder is opened, a batch that has a later file loses its earlier ones. A crash between
// the two counts nothing twice.

import { mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CHECK_SIZE, HASH_SIZE, Slots, hex } from './spool_slots.js';

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
const FILE_NAME = /^([0-9a-f]{32})\.([0-9]{1,8})\.(open|sealed|quarantined|forwarded)$/;

/** Later states win over earlier ones of the same batch. */
const STATES = ['open', 'sealed', 'quarantined', 'forwarded'];

/** @typedef {{id: string, hour: number, state: string, hashes: string[], size: number}} Batch */

/** @implements {Store} */
export class SpoolStore {
  #dir;
  #options;
  /** @type {Uint8Array} */ #salt = new Uint8Array(0);
  /** @type {Counters} */ #counters = {};
  /** @type {Slots | null} */ #open = null;
  /** Closed, not yet sealed. @type {Slots | null} */ #closing = null;
  /** The batch of each durable idempotency key. @type {Map<string, string>} */ #keys = new Map();
  /** Keys on their way to the disk. @type {Map<string, Promise<void>>} */ #pending = new Map();
  /** Closed batches by state, by id. @type {Record<string, Map<string, Batch>>} */
  #batches = { sealed: new Map(), quarantined: new Map(), forwarded: new Map() };
  #batchBytes = 0;
  /** @type {number | null} */ #oldestKeys = null;
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
    this.#counters = JSON.parse((await this.#readOptional('counters.json'))?.toString() ?? '{}');
    const files = await this.#sweep();
    for (const { id, hour, state } of files.filter((file) => file.state !== 'open')) {
      const bytes = await readFile(this.#path(id, hour, state));
      const hashes = hashesOf(bytes, state === 'forwarded' ? 0 : this.#batchSize(bytes));
      this.#keep({ id, hour, state, hashes, size: bytes.length });
      for (const hash of hashes) this.#keys.set(hash, id);
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
    await this.#flushDir();
    return [...newest.values()].sort((a, b) => a.hour - b.hour);
  }

  async #loadSalt() {
    const found = await this.#readOptional('salt');
    if (found !== null) return new Uint8Array(found);
    const salt = this.#options.crypto.getRandomValues(new Uint8Array(SALT_SIZE));
    await this.#write('salt', salt);
    return salt;
  }

  /**
   * Merges two open batches, which a crash during sealing can leave: the second joins the first.
   * @param {string} id
   * @param {number} hour
   */
  async #loadOpen(id, hour) {
    const slots = await Slots.load(this.#path(id, hour, 'open'), { id, hour, ...this.#options });
    if (this.#open === null) {
      this.#open = slots;
      for (const hash of slots.records.keys()) this.#keys.set(hash, id);
      return;
    }
    for (const [hash, record] of slots.records)
      await this.#add(Buffer.from(hash, 'hex'), record, hour);
    await slots.close();
    await unlink(this.#path(id, hour, 'open'));
    await this.#flushDir();
  }

  state() {
    const slots = this.#open;
    const slotSize = HASH_SIZE + this.#options.recordSize + CHECK_SIZE;
    const taken = (slots?.taken ?? 0) + (this.#closing?.taken ?? 0);
    return {
      salt: this.#salt,
      openCount: slots?.records.size ?? 0,
      openId: slots?.id ?? null,
      openedHour: slots?.hour ?? null,
      closing: this.#closing !== null,
      bytes: this.#batchBytes + taken * slotSize,
    };
  }

  /** @param {Uint8Array} hash */
  async has(hash) {
    const name = hex(hash);
    await this.#pending.get(name);
    return this.#keys.has(name);
  }

  /** @param {Uint8Array[]} hashes @param {Uint8Array} records @param {number} hour */
  async add(hashes, records, hour) {
    const size = this.#options.recordSize;
    const added = await Promise.all(
      hashes.map((hash, i) => this.#add(hash, records.subarray(i * size, (i + 1) * size), hour)),
    );
    return added.filter(Boolean).length;
  }

  /** @param {Uint8Array} hash @param {Uint8Array} record @param {number} hour */
  async #add(hash, record, hour) {
    const name = hex(hash);
    for (let pending; (pending = this.#pending.get(name)) !== undefined;)
      await pending.catch(() => {});
    if (this.#keys.has(name)) return false;
    const slots = (this.#open ??= this.#openSlots(hour));
    const written = slots.put(name, record);
    this.#pending.set(name, written);
    try {
      await written;
      this.#keys.set(name, slots.id);
    } catch (error) {
      if (slots.unmade && this.#open === slots) this.#open = null; // the next report tries to make the file again
      throw error;
    } finally {
      this.#pending.delete(name);
    }
    return true;
  }

  /** @param {number} hour */
  #openSlots(hour) {
    const id = hex(this.#options.crypto.getRandomValues(new Uint8Array(16)));
    const path = this.#path(id, hour, 'open');
    return new Slots({ id, hour, ...this.#options }, async (size) => {
      const file = await open(`${path}.tmp`, 'w+', 0o600);
      await file.truncate(size);
      await file.sync();
      await rename(`${path}.tmp`, path);
      await this.#flushDir();
      return file;
    });
  }

  /** @param {number} minimum @param {Build} build @param {(count: number) => Counters} counters */
  seal(minimum, build, counters) {
    if (this.#closing === null) {
      if (this.#open === null || this.#open.records.size < minimum) return Promise.resolve(0);
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
    const { id, hour, records } = slots;
    const hashes = [...records.keys()].sort();
    const batch = build(Buffer.from(id, 'hex'), [...records.values()]);
    const bytes = Buffer.concat([batch, ...hashes.map((hash) => Buffer.from(hash, 'hex'))]);
    await this.#write(nameOf(id, hour, 'sealed'), bytes);
    await slots.close();
    await unlink(this.#path(id, hour, 'open'));
    await this.#flushDir();
    this.#closing = null;
    this.#keep({ id, hour, state: 'sealed', hashes, size: bytes.length });
    await this.#count(counters(hashes.length));
    return hashes.length;
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

  /** @param {Uint8Array} id @param {Counters} counters */
  forwarded(id, counters) {
    return this.#inTurn(async () => {
      const batch = this.#batch(id);
      const keys = Buffer.from(batch.hashes.join(''), 'hex');
      await this.#write(nameOf(batch.id, batch.hour, 'forwarded'), keys);
      await unlink(this.#path(batch.id, batch.hour, batch.state));
      await this.#flushDir();
      this.#drop(batch);
      this.#keep({ ...batch, state: 'forwarded', size: keys.length });
      await this.#count({ ...counters, forwarded_reports_total: batch.hashes.length });
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
      for (const hash of slots.records.keys()) this.#keys.delete(hash);
      await slots.close();
      await unlink(this.#path(slots.id, slots.hour, 'open'));
      await this.#flushDir();
      await this.#count(counters(slots.records.size));
    });
  }

  /** @param {number} hour */
  forget(hour) {
    return this.#inTurn(async () => {
      if (this.#oldestKeys === null || this.#oldestKeys > hour) return;
      const gone = [...this.#batches.forwarded.values()].filter((batch) => batch.hour <= hour);
      for (const batch of gone) {
        await unlink(this.#path(batch.id, batch.hour, batch.state));
        this.#drop(batch);
        for (const hash of batch.hashes) this.#keys.delete(hash);
      }
      await this.#flushDir();
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
    await this.#flushDir();
    this.#drop(batch);
    this.#keep({ ...batch, state });
  }

  /** Mirrors a batch's file in memory. @param {Batch} batch */
  #keep(batch) {
    this.#batches[batch.state].set(batch.id, batch);
    this.#batchBytes += batch.size;
    if (batch.state === 'forwarded')
      this.#oldestKeys = Math.min(this.#oldestKeys ?? Infinity, batch.hour);
  }

  /** @param {Batch} batch */
  #drop(batch) {
    this.#batches[batch.state].delete(batch.id);
    this.#batchBytes -= batch.size;
    if (batch.state !== 'forwarded' || batch.hour !== this.#oldestKeys) return;
    let oldest = Infinity;
    for (const { hour } of this.#batches.forwarded.values()) oldest = Math.min(oldest, hour);
    this.#oldestKeys = oldest === Infinity ? null : oldest;
  }

  /** @param {Counters} counters */
  async #count(counters) {
    for (const [name, value] of Object.entries(counters))
      this.#counters[name] = (this.#counters[name] ?? 0) + value;
    await this.#write('counters.json', Buffer.from(JSON.stringify(this.#counters)));
  }

  /**
   * Returns the size of the batch at the start of a file: header, records, checksum
   * (core/wire/batch.h).
   * @param {Buffer} bytes
   */
  #batchSize(bytes) {
    return 72 + bytes.readUInt32LE(12) * bytes.readUInt32LE(16) + 8;
  }

  /** @param {string} id @param {number} hour @param {string} state */
  #path(id, hour, state) {
    return join(this.#dir, nameOf(id, hour, state));
  }

  /** @param {string} name */
  async #readOptional(name) {
    try {
      return await readFile(join(this.#dir, name));
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Writes the whole file durably, or nothing. @param {string} name @param {Uint8Array} bytes */
  async #write(name, bytes) {
    const path = join(this.#dir, name);
    const file = await open(`${path}.tmp`, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.tmp`, path);
    await this.#flushDir();
  }

  async #flushDir() {
    const dir = await open(this.#dir, 'r');
    try {
      await dir.sync();
    } finally {
      await dir.close();
    }
  }
}

/** @param {string} id @param {number} hour @param {string} state */
function nameOf(id, hour, state) {
  return `${id}.${hour}.${state}`;
}

/** @param {Buffer} bytes @param {number} from */
function hashesOf(bytes, from) {
  const hashes = [];
  for (let at = from; at + HASH_SIZE <= bytes.length; at += HASH_SIZE)
    hashes.push(hex(bytes.subarray(at, at + HASH_SIZE)));
  return hashes;
}
