// SPDX-License-Identifier: Apache-2.0
// The core for what the page's module leaves out of the ledger: charging queries, and erasing.
import { wholeCore } from '../bindings/whole.js';

/**
 * @typedef {import('../bindings/device.js').Core} Core
 * @typedef {import('./context.js').Context} Context
 */

/** The core of each client. @type {WeakMap<Context, Promise<Core>>} */
const loading = new WeakMap();

/**
 * Returns the page's core if it is the whole one, else the whole one, loaded once.
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
async function open({ page, options: { wasm }, deps }) {
  if (page?.core.ledger.isWhole) return page.core;
  // The page may name the address of its own, small module, so the whole one lies beside this file.
  return typeof wasm === 'function' ? wasm() : wholeCore(deps.fetch);
}
