// SPDX-License-Identifier: Apache-2.0
// Sums up what the budget ledger says was spent. A page's client needs the sums only when somebody
// asks for them, so this file is apart from the ledger.

/** @typedef {{count: number, epsMicro: number}} Spent */

/**
 * Returns what the recipe's (analysis, field) has spent on the days first .. last.
 * @param {Uint8Array} ledger
 * @param {import('./device.js').Recipe} recipe
 * @param {number} first
 * @param {number} last
 * @returns {Spent}
 */
export function spentOf(ledger, recipe, first, last) {
  /** @type {import('./device.js').Module} */
  const module = /** @type {any} */ (recipe).module;
  module.put(ledger, 16);
  module.check(
    module.x.ledger_spent(module.base, module.base + 16, ledger.length, recipe.handle, first, last),
  );
  const view = module.view();
  return { count: view.getUint32(0, true), epsMicro: Number(view.getBigUint64(8, true)) };
}
