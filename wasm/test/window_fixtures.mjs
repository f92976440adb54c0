// SPDX-License-Identifier: Apache-2.0
// What the tests of windows share: a page that can be hidden and shown, recipes, forced coins, and a look into storage.
import { fakeClock, itemsRecipe, makeClient, settle, wordsRecipe } from './fixtures.mjs';
import { memoryLocks, memoryStorage } from '../client/memory_storage.js';
import '../client/windows.js'; // loaded before a page imports it, so that no test waits for the disk

export const DAY_MS = 86_400_000;

/** A page, as its document and window tell of it. */
export function fakePage(visibilityState = 'visible') {
  const defaultView = new EventTarget();
  const page = Object.assign(new EventTarget(), {
    visibilityState,
    prerendering: false,
    defaultView,
    /** @param {string} state */
    become(state) {
      page.visibilityState = state;
      page.dispatchEvent(new Event('visibilitychange'));
    },
    hide: () => page.become('hidden'),
    show: () => page.become('visible'),
    /** Leaves the page; it may come back. */
    putAside() {
      page.hide();
      defaultView.dispatchEvent(Object.assign(new Event('pagehide'), { persisted: true }));
    },
  });
  return /** @type {any} */ (page);
}

/** Words in a window. @param {'visit' | 'day'} window @param {any} [more] */
export const windowed = (window, { send, ...more } = /** @type {any} */ ({})) =>
  wordsRecipe({
    limit: { per_day: 1 },
    send: { fresh: 'allow', delay_s: 0, pick: 'uniform', window, ...send },
    ...more,
  });

/** A short list in a window. @param {'visit' | 'day'} window @param {any} [more] */
export const listed = (window, { send, ...more } = /** @type {any} */ ({})) =>
  itemsRecipe({
    limit: { per_day: 1 },
    send: { fresh: 'allow', delay_s: 0, pick: 'uniform', window, ...send },
    ...more,
  });

/**
 * Tabs of one browser: they share storage, locks, clock and network, and each has a page.
 * @param {any} [shared] options of all tabs
 */
export function browserOf(shared = {}) {
  const storage = shared.storage ?? memoryStorage();
  const locks = memoryLocks();
  const clock = fakeClock();
  /** @type {Awaited<ReturnType<typeof makeClient>>['edge'] | null} */
  let edge = null;
  const { now, setTimer, clearTimer } = clock;
  return {
    storage,
    locks,
    clock,
    /** @param {any} [own] options of this tab */
    async tab(own = {}) {
      const page = own.document ?? fakePage();
      const made = await makeClient({
        locks,
        now,
        setTimer,
        clearTimer,
        ...(edge && { fetch: edge.fetch }),
        ...shared,
        ...own,
        storage: own.storage ?? storage,
        document: page,
      });
      edge ??= made.edge;
      await rested(made.client);
      const grant = async () => {
        await made.client.consent.grant();
        await rested(made.client);
      };
      return { ...made, edge, page, clock, grant };
    },
  };
}

/** Waits until the client has loaded its recipes and does nothing more. @param {any} client */
async function rested(client) {
  await client.explain();
  await settle();
}

/** Everything that storage holds, by store and key. @param {any} storage @returns {Promise<[string, any][]>} */
export const rowsOf = (storage) =>
  storage.transaction(async (/** @type {any} */ tx) => {
    /** @type {[string, any][]} */
    const rows = [];
    for (const store of ['state', 'queue', 'done', 'events', 'log'])
      for (const [key, value] of await tx.entries(store)) rows.push([`${store}/${key}`, value]);
    return rows;
  });
