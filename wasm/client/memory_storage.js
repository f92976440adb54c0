// SPDX-License-Identifier: Apache-2.0
// Storage and locks that live as long as the process, for Node and for tests. They keep the
// contract of storage.js.

/**
 * @typedef {import('./storage.js').Storage} Storage
 * @typedef {import('./storage.js').Transaction} Transaction
 */

/**
 * A lock manager with the part of navigator.locks that the client uses.
 * @returns {import('./storage.js').Locks}
 */
export function memoryLocks() {
  /** @type {Map<string, Promise<unknown>>} */
  const tails = new Map();
  return {
    request(name, options, task) {
      if (options.ifAvailable && tails.has(name)) return Promise.resolve(task(null));
      const run = (tails.get(name) ?? Promise.resolve()).then(() => task({ name }));
      const tail = run
        .then(
          () => {},
          () => {},
        )
        .then(() => {
          if (tails.get(name) === tail) tails.delete(name);
        });
      tails.set(name, tail);
      return run;
    },
  };
}

/** @returns {Storage} */
export function memoryStorage() {
  /** @type {Map<string, any>} */
  let rows = new Map();
  let exists = false;
  const locks = memoryLocks();
  return {
    open: async (create) => (exists ||= create),
    transaction: (task) =>
      locks.request('storage', {}, async () => {
        exists = true;
        const draft = new Map(rows);
        /** @param {string} store @param {string} key */
        const at = (store, key) => `${store}/${key}`;
        /** @type {Transaction} */
        const tx = {
          get: async (store, key) => structuredClone(draft.get(at(store, key))),
          keys: async (store) => (await tx.entries(store)).map(([key]) => key),
          entries: async (store) =>
            [...draft]
              .filter(([k]) => k.startsWith(store + '/'))
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([k, value]) => [k.slice(store.length + 1), structuredClone(value)]),
          put: async (store, key, value) => void draft.set(at(store, key), structuredClone(value)),
          delete: async (store, key) => void draft.delete(at(store, key)),
          clear: async (store) => {
            for (const key of draft.keys()) if (key.startsWith(store + '/')) draft.delete(key);
          },
        };
        const result = await task(tx);
        rows = draft;
        return result;
      }),
    close() {},
  };
}
