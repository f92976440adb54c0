// SPDX-License-Identifier: Apache-2.0
// What few calls of a page need of the budget ledger: sums, accounts, caps, charges of queries,
// erasing, and the hash of a recipe set. So this file is apart from ledger.js.
import { encoder, toHex } from './device.js';

/**
 * @typedef {import('./device.js').Module} Module
 * @typedef {import('./ledger.js').Ledger} Ledger
 * @typedef {import('./ledger.js').RecipeSet} RecipeSet
 *
 * @typedef {{count: number, epsMicro: number}} Spent
 * @typedef {object} Account what was spent under one name, ever
 * @property {string} kind
 * @property {string | null} name null where the ledger has none
 * @property {string | null} field what the recipes take: word, host, site, item, number
 * @property {number} first day
 * @property {number} last day
 * @property {number} count
 * @property {number} epsMicro
 * @typedef {{epsMicro: number, days: number, until: number, usedMicro: number}} Cap in force: what
 *   it allows in so many days, and what counts against it in those that end today
 */

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

const NAME_MAX = 64; // bytes of an account's name

/** @param {Ledger} ledger @returns {Module} */
const moduleOf = (ledger) => /** @type {any} */ (ledger).module;

/** A set's hash, hex. @param {Ledger} ledger @param {RecipeSet} set */
export function hashOf(ledger, set) {
  const module = moduleOf(ledger);
  ledger.fill(set);
  module.reserve(32);
  module.check(module.x.set_hash(module.base));
  return toHex(module.take(0, 32));
}

/**
 * Folds the books into one sum on a day.
 * @param {Ledger} ledger
 * @param {Uint8Array} bytes
 * @param {number} day
 */
export const erased = (ledger, bytes, day) => ledger.change('ledger_erase', bytes, day);

/**
 * Charges queries under an analysis; throws cap, budget or ledger.
 * @param {Ledger} ledger
 * @param {Uint8Array} bytes
 * @param {string} analysis
 * @param {number} reports
 * @param {number} epsMicro of all of them together
 * @param {number} day
 */
export function charged(ledger, bytes, analysis, reports, epsMicro, day) {
  const module = moduleOf(ledger);
  const at = module.x.ledger_size_max();
  const name = encoder.encode(analysis).subarray(0, NAME_MAX);
  module.put(name, at);
  const eps = BigInt(Math.ceil(epsMicro));
  const place = module.base + at;
  return ledger.change('ledger_charge', bytes, ANALYSIS, place, name.length, reports, eps, day);
}

// ---- reading the bytes; core/budget/ledger.h has the layout ----

const ANALYSIS = 3;
const KINDS = ['', 'recipe', 'run', 'analysis', 'exact', 'unnamed', 'erased'];
const FIELDS = ['', 'word', 'host', 'site', 'item', 'number', 'fields', 'variables'];
const HEADER = 40;
const SIZES = [32, 104, 16, 56, 16]; // bytes of an entry, account, cost, reservation, cap

/**
 * The rows of a table of a ledger of version 2 that was read before; none of version 1.
 * @param {Uint8Array} bytes
 * @param {number} table
 */
function rowsOf(bytes, table) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(8, true) !== 2) return [];
  const counts = [12, 24, 28, 32, 36].map((at) => view.getUint32(at, true));
  const start = SIZES.slice(0, table).reduce((at, size, i) => at + size * counts[i], HEADER);
  return Array.from({ length: counts[table] }, (_, i) => {
    const at = bytes.byteOffset + start + i * SIZES[table];
    return new DataView(bytes.buffer, at, SIZES[table]);
  });
}

/** @param {Uint8Array} bytes of a ledger @returns {Account[]} */
export const accountsOf = (bytes) =>
  rowsOf(bytes, 1).map((row) => {
    const name = new Uint8Array(row.buffer, row.byteOffset + 40, row.getUint8(18));
    return {
      kind: KINDS[row.getUint8(16)],
      name: name.length ? new TextDecoder().decode(name) : null,
      field: FIELDS[row.getUint8(17)] || null,
      first: row.getUint32(20, true),
      last: row.getUint32(24, true),
      count: row.getUint32(28, true),
      epsMicro: Number(row.getBigUint64(32, true)),
    };
  });

/** @param {Uint8Array} bytes of a ledger @param {number} today @returns {Cap[]} */
export function capsOf(bytes, today) {
  const newest = new DataView(bytes.buffer, bytes.byteOffset).getUint32(20, true);
  const now = Math.max(today, newest);
  /** @param {DataView} row @param {number} at @param {number} days */
  const isCounted = (row, at, days) => row.getUint32(at, true) + days > now;
  return rowsOf(bytes, 4)
    .map((row) => ({
      epsMicro: Number(row.getBigUint64(0, true)),
      days: row.getUint32(8, true),
      until: row.getUint32(12, true),
    }))
    .filter(({ until }) => until >= now)
    .map((cap) => {
      const costs = rowsOf(bytes, 2).filter((row) => isCounted(row, 0, cap.days));
      // A reservation that states no reports a day is charged once, on its own day.
      const whole = rowsOf(bytes, 3).filter(
        (row) => row.getUint32(36, true) === 0 && isCounted(row, 32, cap.days),
      );
      /** @param {DataView[]} rows @param {number} at */
      const sum = (rows, at) =>
        rows.reduce((micro, row) => micro + Number(row.getBigUint64(at, true)), 0);
      return { ...cap, usedMicro: sum(costs, 8) + sum(whole, 48) };
    });
}
