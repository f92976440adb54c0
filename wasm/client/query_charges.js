// SPDX-License-Identifier: Apache-2.0
// Tells the person what each analysis of the policy, and each of its fields, was charged for
// queries.
import { charged } from '../bindings/ledger_sum.js';
import { readStored, today } from './basics.js';
import { load, optedIn, queryLedgerOf } from './query_policy.js';

/**
 * @typedef {import('../bindings/query_core.js').Policy} Policy
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./query_policy.js').Loaded} Loaded
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {{used: number, allowed: number}} Use
 * @typedef {object} Charge what an analysis, or a field of it, was charged for queries
 * @property {string} analysis
 * @property {string | null} field null: of the analysis itself
 * @property {boolean} optedIn
 * @property {Use} reports
 * @property {Use} epsilon of the cohort's sum, composed as the policy says
 * @property {Use | null} delta of the analysis
 * @property {number} itemEpsilon local epsilon of one report, at most
 * @property {Use} userEpsilon local epsilon of all reports of this person together
 */

/**
 * Charges a query to the budget ledger, which a cap bounds. Returns null, or the code that says why
 * the query is refused.
 * @param {Transaction} tx
 * @param {Context} context
 * @param {import('../bindings/device.js').Core} core keeps the budget ledger
 * @param {import('../bindings/query_core.js').Query} query
 * @param {number} localEpsilon of one report
 */
export async function chargeBooks(tx, context, core, query, localEpsilon) {
  const reports = query.contributions || 1;
  const cost = Math.round(localEpsilon * 1e6) * reports;
  const day = today(context.deps);
  if (context.lacksCap(day)) return 'cap';
  const bytes = await context.ledgerOf(tx, core);
  try {
    await tx.put(
      'state',
      'ledger',
      charged(core.ledger, bytes, query.analysis, reports, cost, day),
    );
    return null;
  } catch (error) {
    const { name, code } = /** @type {any} */ (error);
    if (name !== 'ShoalError' || code === 'storage') throw error;
    return code;
  }
}

/** @param {Context} context @returns {Promise<Charge[]>} */
export async function charges(context) {
  const loaded = await load(context);
  const day = today(context.deps);
  return (await context.exclusive((tx) => chargesOf(tx, loaded, day))) ?? [];
}

/** @param {Transaction} tx @param {Loaded} loaded @param {number} day */
async function chargesOf(tx, loaded, day) {
  const { core, policy } = loaded;
  const ledger = await queryLedgerOf(tx, loaded, day);
  const agreed = await optedIn(tx);
  /** @type {Charge[]} */
  const list = [];
  policy.json.analyses.forEach((/** @type {any} */ analysis, /** @type {number} */ i) => {
    const { analysis: name, budget, fields } = analysis;
    /**
     * @param {any} allowed
     * @param {number} itemEpsilon
     * @param {string | null} field
     * @param {number} [index]
     */
    const add = (allowed, itemEpsilon, field, index) => {
      const used = readStored(() => core.accountant.charge(ledger, policy, i, index));
      list.push({
        analysis: name,
        field,
        optedIn: agreed.includes(name),
        reports: { used: used.reports, allowed: allowed.reports },
        epsilon: { used: used.epsilon, allowed: allowed.epsilon },
        delta: field === null ? { used: used.delta, allowed: Number(allowed.delta) } : null,
        itemEpsilon,
        userEpsilon: { used: used.localEpsilon, allowed: itemEpsilon * allowed.reports },
      });
    };
    // A query obeys each field that it reads, so one report may cost what the most generous field
    // allows.
    add(budget, Math.max(...fields.map((/** @type {any} */ field) => field.local_epsilon)), null);
    fields.forEach((/** @type {any} */ field, /** @type {number} */ j) =>
      add(field, field.local_epsilon, field.field, j),
    );
  });
  return list;
}
