// SPDX-License-Identifier: Apache-2.0
// What the client keeps on the device, in IndexedDB: consent, ledger, private records. Never a raw value.
// A transaction is atomic over all tabs of the origin and on disk before it resolves. Depends on the idb library.
import { openDB } from 'idb';

/**
 * @typedef {'state' | 'queue' | 'done'} StoreName state: consent and ledger; queue: records to send; done: what became of them
 * @typedef {object} Transaction
 * @property {(store: StoreName, key: string) => Promise<any>} get
 * @property {(store: StoreName) => Promise<[string, any][]>} entries
 * @property {(store: StoreName, key: string, value: any) => Promise<void>} put
 * @property {(store: StoreName, key: string) => Promise<void>} delete
 * @property {(store: StoreName) => Promise<void>} clear
 *
 * @typedef {object} Storage
 * @property {(create: boolean) => Promise<boolean>} open is there a database now? Without `create` none is made
 * @property {<T>(task: (tx: Transaction) => Promise<T>) => Promise<T>} transaction the task awaits nothing but tx; what
 *   it throws rolls everything back
 * @property {() => void} close
 */

/** @type {StoreName[]} */
const STORES = ['state', 'queue', 'done'];

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
      db = await openDB(name, 1, {
        upgrade(fresh, _old, _new, tx) {
          isAbsent = !create;
          // Aborting the first upgrade leaves no database behind: before consent nothing is stored, not even an empty one.
          if (!isAbsent) for (const store of STORES) fresh.createObjectStore(store);
          else tx.done.catch(() => {}), tx.abort();
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
      const tx = /** @type {import('idb').IDBPDatabase} */ (db).transaction(STORES, 'readwrite', { durability: 'strict' });
      try {
        const result = await task({
          get: (store, key) => tx.objectStore(store).get(key),
          async entries(store) {
            const all = tx.objectStore(store);
            const [keys, values] = await Promise.all([all.getAllKeys(), all.getAll()]);
            return keys.map((key, i) => [String(key), values[i]]);
          },
          put: async (store, key, value) => void (await tx.objectStore(store).put(value, key)),
          delete: (store, key) => tx.objectStore(store).delete(key),
          clear: (store) => tx.objectStore(store).clear(),
        });
        await tx.done;
        return result;
      } catch (error) {
        tx.done.catch(() => {}); // its rejection is this same error
        try {
          tx.abort();
        } catch {
          // already aborted, by the error itself
        }
        throw error;
      }
    },
  };
}
