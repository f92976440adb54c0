// SPDX-License-Identifier: Apache-2.0
// Storage on the device, in IndexedDB: consent, ledgers and private records. Raw values are in
// `events` only, where they stay until retention or consent ends, and only for analyses that the
// person opted in to (query_events.js, run_state.js). Windows are there too, because every version
// of the client erases that store when consent ends; they hold private records (windows.js). A transaction is atomic over all tabs of the
// origin and on disk before it resolves. Depends on the idb-keyval library.
import { promisifyRequest } from 'idb-keyval';

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
 * @property {string} [token] that the report spends, in base64url
 * @property {string} [id] the row's key, where it follows from the token
 * @property {string} [sealedTo] the keys of the two servers
 */

/** @type {StoreName[]} */
const STORES = ['state', 'queue', 'done', 'events', 'log'];

/** @param {string} [name] of the database @returns {Storage} */
export function indexedDbStorage(name = 'shoal') {
  /** @type {IDBDatabase | null} */
  let db = null;
  const close = () => {
    db?.close();
    db = null;
  };
  /** @param {boolean} create */
  const open = async (create) => {
    if (db) return true;
    let isAbsent = false;
    const request = indexedDB.open(name, 2);
    request.onupgradeneeded = ({ oldVersion }) => {
      isAbsent = !create && !oldVersion;
      // Aborting the first upgrade leaves no database behind: before consent nothing is stored, not
      // even an empty one. Version 1 had the first three stores.
      if (isAbsent) request.transaction?.abort();
      else
        for (const store of STORES.slice(oldVersion * 3)) request.result.createObjectStore(store);
    };
    try {
      db = await promisifyRequest(request);
      // Another page has a newer version to bring, or the browser closed it.
      db.onversionchange = db.onclose = close;
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
      return transact(/** @type {IDBDatabase} */ (/** @type {unknown} */ (db)), task);
    },
  };
}

/**
 * Runs a task in one transaction over all stores. It is on disk when the promise resolves.
 * @template T
 * @param {IDBDatabase} db
 * @param {(tx: Transaction) => Promise<T>} task what it throws rolls everything back
 */
async function transact(db, task) {
  const tx = db.transaction(STORES, 'readwrite', { durability: 'strict' });
  const done = promisifyRequest(tx);
  done.catch(() => {}); // where the task fails, its error is the one to tell
  try {
    /**
     * Makes one request of the transaction.
     * @param {StoreName} store @param {'get' | 'getAll' | 'getAllKeys' | 'put' | 'delete' | 'clear'} name @param {any[]} args
     * @returns {Promise<any>}
     */
    const ask = (store, name, ...args) =>
      promisifyRequest(/** @type {any} */ (tx.objectStore(store))[name](...args));
    const result = await task({
      get: (store, key) => ask(store, 'get', key),
      keys: (store) => ask(store, 'getAllKeys'),
      async entries(store) {
        const [keys, values] = await Promise.all([ask(store, 'getAllKeys'), ask(store, 'getAll')]);
        return keys.map((/** @type {string} */ key, /** @type {number} */ i) => [key, values[i]]);
      },
      put: (store, key, value) => ask(store, 'put', value, key),
      delete: (store, key) => ask(store, 'delete', key),
      clear: (store) => ask(store, 'clear'),
    });
    await done;
    return result;
  } catch (error) {
    try {
      tx.abort();
    } catch {
      // the error has aborted the transaction already
    }
    throw error;
  }
}
