// SPDX-License-Identifier: Apache-2.0
// Erases the budget ledger, and what was seen of logs. This is a chunk of its own, loaded by erase().
import { erased } from '../bindings/ledger_sum.js';
import { storageFailure } from './basics.js';
import { booksOf } from './books.js';

/** @typedef {import('./context.js').Context} Context */

/**
 * Folds the ledger into one sum on a day.
 * @param {Context} context
 * @param {number} day
 */
export async function fold(context, day) {
  if (await context.hasStorage()) await context.locked(forgetLogs);
  const hasLedger = async () =>
    (await context.hasStorage()) && (await context.transaction((tx) => tx.get('state', 'ledger')));
  if (!(await hasLedger())) return;
  const core = await booksOf(context).catch((cause) => {
    throw storageFailure(cause, 'the ledger is not erased, because its module was not loaded');
  });
  await context.locked(async (tx) => {
    const bytes = await tx.get('state', 'ledger');
    const folded = bytes && foldedOf(core, bytes, day);
    if (folded) await tx.put('state', 'ledger', folded);
    else if (bytes) await tx.delete('state', 'ledger');
  });
}

/**
 * Forgets which heads of logs this device saw. Whoever writes a log could show each device a head of
 * its own, and know the device by it.
 * @param {import('./storage.js').Transaction} tx
 */
async function forgetLogs(tx) {
  for (const key of await tx.keys('state'))
    if (key.startsWith('log/')) await tx.delete('state', key);
}

/**
 * Returns the folded ledger, or null for one that is damaged: the next ledger then begins anew. One
 * that is only full is kept as it is.
 * @param {import('../bindings/device.js').Core} core
 * @param {Uint8Array} bytes
 * @param {number} day
 */
function foldedOf(core, bytes, day) {
  try {
    return erased(core.ledger, bytes, day);
  } catch (error) {
    const { name, code } = /** @type {any} */ (error);
    if (name !== 'ShoalError' || code !== 'ledger') throw error;
    return null;
  }
}
