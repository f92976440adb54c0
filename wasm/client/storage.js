// SPDX-License-Identifier: Apache-2.0
// Storage on the device, in IndexedDB: consent, ledgers and private records. Raw values are in
// `events` only, where they stay until retention or consent ends, and only for analyses that the
// person opted in to (query_events.js, run_state.js). Windows are there too, because every version
// of the client erases that store when consent ends; they hold private records (windows.js). A transaction is atomic over all tabs of the
// origin and on disk before it resolves. Depends on the idb library.
import { openDB } from 'idb';

/**
 * @typedef {'state' | 'queue' | 'done' | 'events' | 'log'} StoreName state: consent and ledgers;
 *   queue: records to send; done: finished reports; events: what queries may read, the state of
 *   runs, and windows; log: the queries that came
 * @typedef {object} Transaction
 * @property {(store: StoreName, key: string) => Promise<any>} get
 * @property {(store: StoreName) => Promise<string[]>} keys in order
 * @property {(store: StoreName) => Promise<[string, any][]>} entries
 * @property {(store: StoreName, key: string, value: any) => Promise<any>} put
 * @property {(store: StoreName, key: string) => Promise<void>} delete
 * @property {(store: StoreName) => Promise<void>} clear
 *
 * @typedef {object} Storage
 * @property {(create: boolean) => Promise<boolean>} open is there a database now? Without `create`
 *   none is made
 * @property {<T>(task: (tx: Transaction) => Promise<T>) => Promise<T>} transaction the task awaits
 *   nothing but tx; what it throws rolls everything back
 * @property {() => void} close
 *
 * @typedef {{ifAvailable?: boolean, mode?: 'shared', steal?: boolean}} LockOptions
 * @typedef {object} Locks the part of navigator.locks that the client uses
 * @property {<T>(name: string, options: LockOptions, task: (lock: any) => T | Promise<T>) =>
 *   Promise<T>} request
 *
 * @typedef {object} Row a record in `queue`; its key is the Idempotency-Key, or the id of a sealed
 *   report
 * @property {import('../bindings/device.js').ReportJson} report
 * @property {string} endpoint
 * @property {number} due when it may be sent, milliseconds since 1970
 * @property {number} tries
 * @property {number} [expires] the last day on which it may be sent, where no recipe of the page
 *   says so
 * @property {string} [query] the analysis whose query asked for it
 * @property {string} [run] the hash of the run that it belongs to
 * @property {Uint8Array} [body] the report as it is sent, where it is sealed for two servers
 * @property {string} [path] where the body goes, below the endpoint
 * @property {boolean} [isResealed] is it the second report of its record?
 * @property {string} [sealedTo] the keys of the two servers
 */

/** @type {StoreName[]} */
const STORES = ['state', 'queue', 'done', 'events', 'log'];

/** @param {string} [name] of the database @returns {Storage} */
export function indexedDbStorage(name = 'shoal') {
  /** @type {import('idb').IDBPDatabase | null} */
  let db = null;
  const close = () => {
    db?.close();
    db = null;
  };
  /** @param {boolean} create */
  const open = async (create) => {
    if (db) return true;
    let isAbsent = false;
    try {
      db = await openDB(name, 2, {
        upgrade(fresh, old, _new, tx) {
          isAbsent = !create && !old;
          // Aborting the first upgrade leaves no database behind: before consent nothing is stored,
          // not even an empty one. Version 1 had the first three stores.
          if (!isAbsent) for (const store of STORES.slice(old * 3)) fresh.createObjectStore(store);
          else (tx.done.catch(() => {}), tx.abort());
        },
        blocking: close,
        terminated: close,
      });
    } catch (error) {
      if (!isAbsent) throw error;
    }
    return db !== null;
  };
  return {
    open,
    close,
    async transaction(task) {
      await open(true);
      return transact(/** @type {import('idb').IDBPDatabase} */ (db), task);
    },
  };
}

/**
 * Runs a task in one transaction over all stores. It is on disk when the promise resolves.
 * @template T
 * @param {import('idb').IDBPDatabase} db
 * @param {(tx: Transaction) => Promise<T>} task what it throws rolls everything back
 */
async function transact(db, task) {
  const tx = db.transaction(STORES, 'readwrite', { durability: 'strict' });
  try {
    /** @param {StoreName} store @returns {any} */
    const at = (store) => tx.objectStore(store);
    const result = await task({
      get: (store, key) => at(store).get(key),
      keys: (store) => at(store).getAllKeys(),
      async entries(store) {
        const [keys, values] = await Promise.all([at(store).getAllKeys(), at(store).getAll()]);
        return keys.map((/** @type {string} */ key, /** @type {number} */ i) => [key, values[i]]);
      },
      put: (store, key, value) => at(store).put(value, key),
      delete: (store, key) => at(store).delete(key),
      clear: (store) => at(store).clear(),
    });
    await tx.done;
    return result;
  } catch (error) {
    tx.done.catch(() => {}); // it rejects with this same error
    try {
      tx.abort();
    } catch {
      // the error has aborted the transaction already
    }
    throw error;
  }
}
