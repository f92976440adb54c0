// SPDX-License-Identifier: Apache-2.0
// The core that keeps the budget ledger, also where the page has no recipes: for charging queries,
// and erasing.
import { pageCore } from './page_recipes.js';

/**
 * @typedef {import('../bindings/device.js').Core} Core
 * @typedef {import('./context.js').Context} Context
 */

/** The core of each client. @type {WeakMap<Context, Promise<Core>>} */
const loading = new WeakMap();

/**
 * Returns the page's core, loaded once.
 * @param {Context} context
 * @returns {Promise<Core>}
 */
export function booksOf(context) {
  const known = loading.get(context);
  if (known) return known;
  const made = open(context);
  loading.set(context, made);
  made.catch(() => loading.delete(context));
  return made;
}

/** @param {Context} context @returns {Promise<Core>} */
const open = async ({ page, options, deps }) => page?.core ?? pageCore(options, deps);
