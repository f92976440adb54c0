// SPDX-License-Identifier: Apache-2.0
// What a person agreed to share exactly, and what was shared: read by exact.js and statement.js.
/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {{info: string, leader: string, helper: string, limit: number, terms: string}} Agreed
 *   an opt-in to a task; `terms` is the hash of its configuration
 * @typedef {object} ExactBalance what was shared to a task of exact sums; nothing randomized it
 * @property {string | null} exact the task's name; null where the person has not opted in
 * @property {string} task its id, 64 hex digits
 * @property {boolean} optedIn
 * @property {number} count measurements that this device shared to it, ever
 * @property {number} limit measurements that it may share in all; 0 without an opt-in
 * @property {string[]} operators the two servers, of which one must be honest
 * @property {string} text a sentence
 */

/**
 * The opt-ins that stand, by the task's id. The end of consent erases them.
 * @param {Transaction} tx
 * @returns {Promise<{[id: string]: Agreed}>}
 */
export const agreedOf = async (tx) => (await tx.get('state', 'exactIn')) ?? {};

/**
 * The measurements that were shared, by the task's id. Nothing erases these counts.
 * @param {Transaction} tx
 * @returns {Promise<{[id: string]: number}>}
 */
export const countsOf = async (tx) => (await tx.get('state', 'exact')) ?? {};

/** @param {Context} context @returns {Promise<ExactBalance[]>} */
export async function exactBalances(context) {
  const list = await context.exclusive(async (tx) => {
    const [agreed, counts] = [await agreedOf(tx), await countsOf(tx)];
    return [...new Set([...Object.keys(agreed), ...Object.keys(counts)])].map((task) =>
      balance(task, agreed[task], counts[task] ?? 0),
    );
  });
  return list ?? [];
}

/** @param {string} task @param {Agreed | undefined} agreed @param {number} count */
function balance(task, agreed, count) {
  const { info = null, leader = '', helper = '', limit = 0 } = agreed ?? {};
  const name = info === null ? `A task that you have not opted in to` : `"${info}"`;
  const of = agreed ? `${count} of ${limit}` : `${count}`;
  const text = `${name}: ${of} exact values were shared, without noise; two servers learn sums only.`;
  const operators = agreed ? [leader, helper] : [];
  return { exact: info, task, optedIn: !!agreed, count, limit, operators, text };
}

/**
 * Adds each task whose limit is reached to what explain() lists.
 * @param {Context} context
 * @param {(code: string, recipe: string | null, count: number) => void} add
 */
export async function explainExact(context, add) {
  for (const { exact, optedIn, count, limit } of await exactBalances(context))
    if (optedIn && count >= limit) add('exact-spent', exact, 0);
}
