// SPDX-License-Identifier: Apache-2.0
// Counts the bundles of accounts in a folder, for Node: one a day and account. Each folder has one
// process.
//
// A folder holds one file a day, `<day>.bundles`: a head with 32 random bytes, the day's key, then
// entries of 40 bytes that are only appended. An entry has the account's digest, the request's
// digest, 16 bytes each and keyed by the day's key, and 8 bytes of their SHA-256. An entry that a
// crash left half written counts as none: it was not answered. The file goes when its day is over,
// and with it the key, so nothing tells afterwards who asked.

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DigestTable } from './digest_table.js';

const MAGIC = Buffer.from('shoal bundles 1\n');
const KEY_SIZE = 32;
const HEAD_SIZE = MAGIC.length + KEY_SIZE;
const DIGEST = 16;
const ENTRY_SIZE = 40;
const DAY_MS = 86_400_000;

/**
 * @typedef {object} Day
 * @property {import('node:fs/promises').FileHandle} file
 * @property {Buffer} key
 * @property {DigestTable} accounts
 * @property {number} end  of the file
 * @property {Promise<void>} durable  the entries so far
 * @property {boolean} isSyncing  does a write wait for its turn?
 * @property {Buffer[]} waiting  entries to write
 */

/** @param {Uint8Array} bytes */
const check = (bytes) => createHash('sha256').update(bytes).digest().subarray(0, 8);

export class BundleCounts {
  #dir;
  #max;
  #now;
  /** @type {Map<number, Promise<Day>>} */ #days = new Map();
  /** The day on which files were last deleted. */
  #today = -1;

  /**
   * @param {string} dir
   * @param {{max: number, now: () => number}} options  `max`: accounts of a day that are counted
   */
  constructor(dir, { max, now }) {
    this.#dir = dir;
    this.#max = max;
    this.#now = now;
  }

  /**
   * Counts a request. It is durable when the promise resolves.
   * @param {string} account
   * @param {number} day
   * @param {Uint8Array} request  its digest
   * @returns {Promise<import('./handler.js').Counted>}
   */
  count = async (account, day, request) => {
    await this.#forget();
    if (day < this.#today) throw new Error('the day is over');
    const at = await this.#day(day);
    const name = this.#keyed(at, 'account', Buffer.from(account));
    const asked = this.#keyed(at, 'request', request);
    const known = at.accounts.get(name);
    if (known !== null) {
      const isSame = asked.equals(known);
      await at.durable; // an entry of a moment ago may not be on disk yet
      return isSame ? 'known' : 'other';
    }
    if (at.accounts.size >= this.#max) return 'full';
    at.accounts.add(name, asked);
    await this.#append(at, day, Buffer.concat([name, asked]));
    return 'new';
  };

  /** Bytes of memory that the counts take. */
  async bytes() {
    const days = await Promise.all(this.#days.values());
    return days.reduce((sum, { accounts }) => sum + accounts.bytes, 0);
  }

  /** Waits for what is under way, and closes the files. */
  async close() {
    for (const opening of this.#days.values()) {
      const day = await opening;
      await day.durable.catch(() => {});
      await day.file.close();
    }
    this.#days.clear();
  }

  /** @param {Day} day @param {string} use @param {Uint8Array} bytes */
  #keyed({ key }, use, bytes) {
    return createHmac('sha256', key).update(`${use}\n`).update(bytes).digest().subarray(0, DIGEST);
  }

  /** @param {Day} day @param {number} number  of the day @param {Buffer} body */
  #append(day, number, body) {
    day.waiting.push(Buffer.concat([body, check(body)]));
    if (day.isSyncing) return day.durable;
    day.isSyncing = true;
    day.durable = day.durable.then(() => this.#write(day));
    // Nobody knows what of a failed write is on disk, so the next request reads the file anew.
    day.durable.catch(() => {
      this.#days.delete(number);
      day.file.close().catch(() => {});
    });
    return day.durable;
  }

  /** Writes all entries that wait, with one flush. @param {Day} day */
  async #write(day) {
    await new Promise((resolve) => setImmediate(resolve)); // requests that came together share it
    day.isSyncing = false;
    const bytes = Buffer.concat(day.waiting.splice(0));
    const { bytesWritten } = await day.file.write(bytes, 0, bytes.length, day.end);
    if (bytesWritten !== bytes.length) throw new Error('no room for an entry');
    day.end += bytes.length;
    await day.file.datasync();
  }

  /** @param {number} day */
  #day(day) {
    const known = this.#days.get(day);
    if (known !== undefined) return known;
    const opening = this.#open(day);
    this.#days.set(day, opening);
    opening.catch(() => this.#days.delete(day)); // the next request tries again
    return opening;
  }

  /** @param {number} day @returns {Promise<Day>} */
  async #open(day) {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const path = join(this.#dir, `${day}.bundles`);
    const found = await readFile(path).catch((error) => {
      if (error.code !== 'ENOENT') throw error;
      return Buffer.alloc(0);
    });
    const isWhole = found.length >= HEAD_SIZE && found.subarray(0, MAGIC.length).equals(MAGIC);
    if (!isWhole && found.length > HEAD_SIZE) throw new Error(`${path} is no file of bundles`);
    const head = isWhole
      ? found.subarray(0, HEAD_SIZE)
      : Buffer.concat([MAGIC, randomBytes(KEY_SIZE)]);
    const accounts = new DigestTable();
    let end = HEAD_SIZE;
    for (; end + ENTRY_SIZE <= found.length; end += ENTRY_SIZE) {
      const entry = found.subarray(end, end + ENTRY_SIZE);
      const body = entry.subarray(0, 2 * DIGEST);
      if (check(body).equals(entry.subarray(2 * DIGEST)))
        accounts.add(body.subarray(0, DIGEST), body.subarray(DIGEST));
    }
    const file = await open(path, isWhole ? 'r+' : 'w+', 0o600);
    if (!isWhole) await file.write(head, 0, HEAD_SIZE, 0);
    await file.truncate(end); // before the part of an entry that a crash left at the end
    await file.sync();
    await flushDir(this.#dir);
    const key = Buffer.from(head.subarray(MAGIC.length));
    return { file, key, accounts, end, durable: Promise.resolve(), isSyncing: false, waiting: [] };
  }

  /** Deletes the files of days that are over. */
  async #forget() {
    const today = Math.floor(this.#now() / DAY_MS);
    if (today <= this.#today) return; // a clock that was set back brings no file back
    this.#today = today;
    for (const [day, opening] of this.#days)
      if (day < today) {
        this.#days.delete(day);
        await opening.then(({ file }) => file.close());
      }
    const names = await readdir(this.#dir).catch(() => []);
    for (const name of names) {
      const [, day] = /^(\d+)\.bundles$/.exec(name) ?? [];
      if (day !== undefined && Number(day) < today) await unlink(join(this.#dir, name));
    }
  }
}

/** @param {string} path */
async function flushDir(path) {
  const dir = await open(path, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}
