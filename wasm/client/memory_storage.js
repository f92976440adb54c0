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
  /**
   * @typedef {{isShared: boolean, task: (lock: any) => any, resolve: (value: any) => void,
   *   reject: (error: unknown) => void}} Request
   * @type {Map<string, {held: Set<Request>, waiting: Request[]}>}
   */
  const lines = new Map();

  /** @param {Iterable<Request>} held @param {Request} request */
  const canJoin = (held, { isShared }) => [...held].every((other) => isShared && other.isShared);

  /** @param {string} name */
  const lineOf = (name) => {
    const line = lines.get(name) ?? { held: new Set(), waiting: [] };
    lines.set(name, line);
    return line;
  };

  /** @param {string} name @param {Request} request */
  const grant = (name, request) => {
    const { held } = lineOf(name);
    held.add(request);
    Promise.resolve()
      .then(() => request.task({ name }))
      .then(request.resolve, request.reject)
      .then(() => {
        if (held.delete(request)) advance(name);
      });
  };

  /** Grants what has become free. @param {string} name */
  const advance = (name) => {
    const { held, waiting } = lineOf(name);
    while (waiting.length && canJoin(held, waiting[0]))
      grant(name, /** @type {Request} */ (waiting.shift()));
    if (!held.size) lines.delete(name);
  };

  return {
    request: (name, { ifAvailable, mode, steal }, task) =>
      new Promise((resolve, reject) => {
        const request = { isShared: mode === 'shared', task, resolve, reject };
        const { held, waiting } = lineOf(name);
        if (steal) {
          for (const other of held) other.reject(new DOMException('stolen', 'AbortError'));
          held.clear();
        }
        if (steal || (!waiting.length && canJoin(held, request))) grant(name, request);
        else if (ifAvailable) resolve(task(null));
        else waiting.push(request);
      }),
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
