// SPDX-License-Identifier: Apache-2.0
// The collector's store in a Durable Object's SQLite. Every method is synchronous, so no other
// request sees it half done. Tables are WITHOUT ROWID, because a hidden row number would keep the
// order of arrival. A report lies under a random key, apart from the hashed idempotency keys, and
// nothing links the two. The caller makes changes durable by `storage.sync()` before it answers
// (Durable Objects also hold answers back until writes are out).

import { toHex } from 'shoal-client/core';
import { joined } from './group.js';

/**
 * @typedef {import('./collector.js').Store} Store
 * @typedef {import('./collector.js').Counters} Counters
 */
/**
 * @typedef {import('./collector.js').Build} Build
 * @typedef {import('./collector.js').BatchState} BatchState
 */

const PART_SIZE = 1 << 20; // a value may take 2 MB
const REPORT_OVERHEAD = 64; // bytes beside a record, about
const KEY_BYTES = 64; // bytes of a kept key, about
const ID_SIZE = 16;
const HASH_SIZE = 16;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value ANY NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS reports (row BLOB PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS keys (hash BLOB PRIMARY KEY, batch BLOB NOT NULL) WITHOUT ROWID;
  DROP INDEX IF EXISTS keys_of_batch;
  CREATE TABLE IF NOT EXISTS batches (id BLOB PRIMARY KEY, state TEXT NOT NULL, hour INTEGER NOT NULL, count INTEGER NOT NULL,
    size INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS batches_by_state ON batches (state, hour);
  CREATE TABLE IF NOT EXISTS leaving (id BLOB PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS parts (batch BLOB, part INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (batch, part)) WITHOUT ROWID;
`;

// One statement stores many reports, whose bytes are concatenated. `keys` has no index by batch: it
// would cost every report a page, and keys are deleted once an hour, thousands at a time.
const PIECES =
  'WITH RECURSIVE piece (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM piece WHERE i + 1 < ?1)';
const HASH = `substr(?2, ${HASH_SIZE} * i + 1, ${HASH_SIZE})`;
const KNOWN = `${PIECES} SELECT i FROM piece WHERE EXISTS (SELECT 1 FROM keys WHERE hash = ${HASH})`;
const ADD_KEYS = `${PIECES} INSERT INTO keys SELECT ${HASH}, ?3 FROM piece`;
const ADD_REPORTS = `${PIECES} INSERT INTO reports SELECT substr(?2, ${ID_SIZE} * i + 1, ${ID_SIZE}), substr(?3, ?4 * i + 1, ?4) FROM piece`;

/**
 * @typedef {object} SqlStorage
 * @property {{exec: (query: string, ...bindings: any[]) => {toArray: () => Record<string, any>[]}}}
 *   sql
 * @property {<T>(callback: () => T) => T} transactionSync
 */

/** @implements {Store} */
export class SqliteStore {
  /** @type {SqlStorage} */ #storage;
  /** @type {{getRandomValues: (bytes: Uint8Array) => Uint8Array}} */ #random;
  /** @type {Uint8Array} */ #salt;
  /**
   * The open batch, mirroring its row in `batches`.
   * @type {{id: Uint8Array, hour: number, count: number} | null}
   */
  #open = null;
  #bytes = 0;

  /**
   * @param {SqlStorage} storage
   * @param {{getRandomValues: (bytes: Uint8Array) => Uint8Array}} random
   */
  constructor(storage, random) {
    this.#storage = storage;
    this.#random = random;
    this.#exec(SCHEMA);
    const salt = this.#readMeta('salt');
    this.#salt = salt instanceof Uint8Array ? salt : random.getRandomValues(new Uint8Array(32));
    if (salt === null) this.setMeta('salt', this.#salt);
    this.#load();
  }

  /** Reads the mirrored state into memory; also after a transaction that failed. */
  #load() {
    const open = this.#rows(
      "SELECT id, hour, (SELECT count(*) FROM reports) AS count FROM batches WHERE state = 'open'",
    )[0];
    this.#open =
      open === undefined ? null : { id: bytesOf(open.id), hour: open.hour, count: open.count };
    const [{ bytes }] = this.#rows(`SELECT
      (SELECT coalesce(sum(length(record) + ${REPORT_OVERHEAD}), 0) FROM reports)
      + (SELECT coalesce(sum(size), 0) FROM batches)
      + (SELECT count(*) FROM keys) * ${KEY_BYTES} AS bytes`);
    this.#bytes = bytes;
  }

  state() {
    return {
      salt: this.#salt,
      openCount: this.#open?.count ?? 0,
      openId: this.#open === null ? null : toHex(this.#open.id),
      openedHour: this.#open?.hour ?? null,
      closing: false,
      bytes: this.#bytes,
    };
  }

  /** @param {Uint8Array} hash */
  has(hash) {
    return this.#rows('SELECT 1 FROM keys WHERE hash = ?', hash).length > 0;
  }

  /**
   * @param {Uint8Array[]} hashes
   * @param {Uint8Array} records  concatenated
   * @param {number} hour
   */
  add(hashes, records, hour) {
    const size = records.length / hashes.length;
    const known = this.#rows(KNOWN, hashes.length, joined(hashes)).map(({ i }) => i);
    const names = hashes.map((hash) => hash.join());
    const added = [...hashes.keys()].filter(
      (i) => !known.includes(i) && names.indexOf(names[i]) === i,
    );
    const n = added.length;
    if (n > 0) {
      this.#transaction(() => {
        const open = (this.#open ??= this.#openBatch(hour));
        this.#exec(ADD_KEYS, n, joined(added.map((i) => hashes[i])), open.id);
        const kept = joined(added.map((i) => records.subarray(i * size, (i + 1) * size)));
        this.#exec(
          ADD_REPORTS,
          n,
          this.#random.getRandomValues(new Uint8Array(n * ID_SIZE)),
          kept,
          size,
        );
        open.count += n;
        this.#bytes += n * (size + REPORT_OVERHEAD + KEY_BYTES);
      });
    }
    return n;
  }

  /** @param {number} hour */
  #openBatch(hour) {
    const id = this.#randomId();
    this.#exec("INSERT INTO batches VALUES (?, 'open', ?, 0, 0)", id, hour);
    return { id, hour, count: 0 };
  }

  /** @param {number} minimum @param {Build} build @param {(count: number) => Counters} counters */
  seal(minimum, build, counters) {
    const open = this.#open;
    if (open === null || open.count < minimum) return 0;
    return this.#transaction(() => {
      const records = this.#rows('SELECT record FROM reports ORDER BY row').map(({ record }) =>
        bytesOf(record),
      );
      const batch = build(open.id, records);
      for (let part = 0; part * PART_SIZE < batch.length; part++) {
        const bytes = batch.slice(part * PART_SIZE, (part + 1) * PART_SIZE);
        this.#exec('INSERT INTO parts VALUES (?, ?, ?)', open.id, part, bytes);
      }
      this.#exec(
        "UPDATE batches SET state = 'sealed', count = ?, size = ? WHERE id = ?",
        records.length,
        batch.length,
        open.id,
      );
      this.#exec('DELETE FROM reports');
      this.#add(counters(records.length));
      this.#load();
      return records.length;
    });
  }

  /** @param {BatchState} state @returns {Uint8Array[]} */
  batches(state) {
    return this.#rows('SELECT id FROM batches WHERE state = ? ORDER BY id', state).map(({ id }) =>
      bytesOf(id),
    );
  }

  /** @param {Uint8Array} id */
  read(id) {
    const parts = this.#rows('SELECT bytes FROM parts WHERE batch = ? ORDER BY part', id).map(
      ({ bytes }) => bytesOf(bytes),
    );
    const batch = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
    parts.reduce((at, part) => (batch.set(part, at), at + part.length), 0);
    return batch;
  }

  /** @param {Uint8Array} id @param {Counters} counters @param {number} [hour] */
  forwarded(id, counters, hour) {
    this.#transaction(() => {
      const [{ count }] = this.#rows('SELECT count FROM batches WHERE id = ?', id);
      this.#exec('DELETE FROM parts WHERE batch = ?', id);
      this.#exec(
        "UPDATE batches SET state = 'forwarded', size = 0, hour = coalesce(?, hour) WHERE id = ?",
        hour ?? null,
        id,
      );
      this.#add({ ...counters, forwarded_reports_total: count });
      this.#load();
    });
  }

  /** @param {Uint8Array} id @param {Counters} counters */
  quarantine(id, counters) {
    this.#transaction(() => {
      this.#exec("UPDATE batches SET state = 'quarantined' WHERE id = ?", id);
      this.#add(counters);
    });
  }

  restore() {
    return this.#transaction(() => {
      const batches = this.batches('quarantined').length;
      this.#exec("UPDATE batches SET state = 'sealed' WHERE state = 'quarantined'");
      return batches;
    });
  }

  /** @param {(count: number) => Counters} counters */
  destroyOpen(counters) {
    const open = this.#open;
    if (open === null) return;
    this.#transaction(() => {
      this.#exec('DELETE FROM reports');
      this.#exec('DELETE FROM batches WHERE id = ?', open.id);
      this.#dropKeys();
      this.#add(counters(open.count));
      this.#load();
    });
  }

  /** @param {number} hour */
  forget(hour) {
    if ((this.oldestKeys() ?? Infinity) > hour) return;
    this.#transaction(() => {
      const gone = this.#rows("SELECT id, hour FROM batches WHERE state = 'forwarded'").filter(
        (batch) => batch.hour <= hour,
      );
      for (const { id } of gone) this.#exec('DELETE FROM batches WHERE id = ?', bytesOf(id));
      if (gone.length > 0) this.#dropKeys();
      this.#load();
    });
  }

  /** Deletes the keys of batches that no longer exist. */
  #dropKeys() {
    this.#exec('DELETE FROM keys WHERE batch NOT IN (SELECT id FROM batches)');
    this.#exec('DELETE FROM leaving WHERE id NOT IN (SELECT id FROM batches)');
  }

  /**
   * Notes the number of shards by which keys leave this one, and the batches that have their keys.
   * @param {number} n
   */
  leave(n) {
    this.#transaction(() => {
      this.setMeta('left', `[${n}]`); // the column would make a number of digits
      this.#exec('INSERT OR IGNORE INTO leaving SELECT id FROM batches');
    });
  }

  /** Is a batch kept that has keys of other shards? */
  isLeaving() {
    return this.#rows('SELECT 1 FROM leaving LIMIT 1').length > 0;
  }

  /** @returns {number | null} */
  oldestKeys() {
    return this.#rows("SELECT min(hour) AS hour FROM batches WHERE state = 'forwarded'")[0].hour;
  }

  /** @param {Counters} counters */
  count(counters) {
    this.#transaction(() => this.#add(counters));
  }

  counters() {
    return Object.fromEntries(
      this.#rows('SELECT name, value FROM counters').map(({ name, value }) => [name, value]),
    );
  }

  /** @param {string} name @returns {string | null} */
  meta(name) {
    const value = this.#readMeta(name);
    return typeof value === 'string' ? value : null;
  }

  /** @param {string} name @param {string | Uint8Array} value */
  setMeta(name, value) {
    this.#exec(
      'INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      name,
      value,
    );
  }

  /** @param {string} name */
  #readMeta(name) {
    const row = this.#rows('SELECT value FROM meta WHERE name = ?', name)[0];
    if (row === undefined) return null;
    return typeof row.value === 'string' ? row.value : bytesOf(row.value);
  }

  /** @param {Counters} counters */
  #add(counters) {
    for (const [name, value] of Object.entries(counters)) {
      const upsert =
        'INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value';
      this.#exec(upsert, name, value);
    }
  }

  #randomId() {
    return this.#random.getRandomValues(new Uint8Array(ID_SIZE));
  }

  /**
   * Makes a change completely or not at all, in the tables and in memory.
   * @template T
   * @param {() => T} change
   * @returns {T}
   */
  #transaction(change) {
    try {
      return this.#storage.transactionSync(change);
    } catch (error) {
      this.#load();
      throw error;
    }
  }

  /** @param {string} query @param {any[]} bindings */
  #exec(query, ...bindings) {
    return this.#storage.sql.exec(query, ...bindings);
  }

  /** @param {string} query @param {any[]} bindings @returns {Record<string, any>[]} */
  #rows(query, ...bindings) {
    return this.#exec(query, ...bindings).toArray();
  }
}

/** @param {ArrayBuffer | Uint8Array} blob */
function bytesOf(blob) {
  return blob instanceof Uint8Array ? blob : new Uint8Array(blob);
}
