// SPDX-License-Identifier: Apache-2.0
// Exact sums: measurements that nothing randomizes, of which two servers learn sums only. Each task
// has an opt-in of its own, with a limit: the number of measurements that this device may ever
// share to it. The count is durable before a report is made. The end of consent ends each opt-in
// and keeps the counts, so neither withdrawing nor erasing refills a limit while storage lives.
// A part of the chunk dap.js.
import { DapTask } from '../bindings/dap_core.js';
import { toHex } from '../bindings/device.js';
import { DAY_MS, Refusal } from './basics.js';
import { compiled, inputOf, keysOf, serversOf, whyNoKeys } from './dap_servers.js';
import { agreedOf, countsOf } from './exact_balance.js';

/**
 * @typedef {import('../bindings/dap_core.js').ExactTask} ExactTask
 * @typedef {import('../bindings/dap_core.js').Measurement} Measurement
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./context.js').Outcome} Outcome
 * @typedef {import('./dap_servers.js').Parcel} Parcel
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {object} Call a call of the page, as outbox.js defines it
 * @property {Context} context
 * @property {number} era
 * @property {{enqueue: (recipe: {send: {delayS: number}}, report: ReportJson, era: number, extras:
 *   {more: (tx: Transaction) => Promise<object | null>, seal: (report: ReportJson, id: string) =>
 *   Promise<any>}) => Promise<string>}} outbox
 */

/** @param {Context} context @param {ExactTask} json */
async function taskOf(context, json) {
  const module = await compiled(context).catch((cause) => {
    throw new Refusal('core-missing', undefined, cause);
  });
  return DapTask.exact(module, json).catch((cause) => {
    throw new Refusal('task-refused', undefined, cause);
  });
}

/**
 * The hash of what a person agrees to: servers, measurement, smallest batch, last day. A task's own
 * id does not bind these if its file states one.
 * @param {DapTask} task
 */
async function termsOf(task) {
  const configuration = /** @type {any} */ (task.configuration());
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', configuration)));
}

/**
 * Runs a step for a task. An outcome that is not a success is noted under the task's name.
 * @param {Context} context
 * @param {ExactTask} json
 * @param {(task: DapTask, terms: string) => Promise<string>} step returns a code
 * @returns {Promise<Outcome[]>}
 */
async function told(context, json, step) {
  const recipe = typeof json?.info === 'string' ? json.info : null;
  try {
    const task = await taskOf(context, json);
    const code = await step(task, await termsOf(task));
    return [/^(queued|opted-)/.test(code) ? { recipe, code } : context.note(code, recipe)];
  } catch (error) {
    return [context.noteError(error, recipe)];
  }
}

/**
 * Opts in to a task: from now on this device may share measurements to it, until it shared `limit`
 * of them in all.
 * @param {Call} call
 * @param {ExactTask} json
 * @param {number} limit
 */
export const optIn = ({ context }, json, limit) =>
  told(context, json, async ({ id }, terms) => {
    const isDone = await context.exclusive(async (tx) => {
      const { info, leader, helper } = json;
      const agreed = { info, leader, helper, limit, terms };
      await tx.put('state', 'exactIn', { ...(await agreedOf(tx)), [id]: agreed });
      return true;
    });
    return isDone ? 'opted-in' : 'no-consent';
  });

/**
 * Opts out of a task, and erases what waits to be sent to it.
 * @param {Call} call
 * @param {ExactTask} json
 */
export const optOut = ({ context }, json) =>
  told(context, json, async ({ id }) => {
    const isDone = await context.exclusive(async (tx) => {
      const { [id]: _, ...others } = await agreedOf(tx);
      await tx.put('state', 'exactIn', others);
      for (const [key, row] of await tx.entries('queue'))
        if (row.report.recipe_hash === id) await tx.delete('queue', key);
      return true;
    });
    return isDone ? 'opted-out' : 'no-consent';
  });

/**
 * Shares a measurement, of which the two servers learn exact sums. It is protected if one of the
 * two servers is honest and the batch is large. The measurement itself is not stored.
 * @param {Call} call
 * @param {ExactTask} json
 * @param {Measurement} measurement
 */
export const share = ({ context, outbox, era }, json, measurement) =>
  told(context, json, async (task, terms) => {
    // Without an opt-in nothing is fetched, so the servers do not learn of the page.
    const early = await context.exclusive((tx) => refusal(tx, task.id, terms));
    if (early !== null) return early ?? 'no-consent';
    const never = await context.unsendable();
    if (never) return never;
    const servers = serversOf(json);
    const keys = await keysOf(context, task, Object.values(servers), 'last');
    if (!keys) return whyNoKeys(context);
    const code = await context.exclusive((tx) => count(tx, task.id, terms));
    if (code !== null) return code ?? 'no-consent';
    const report = { key: json.info, recipe_hash: task.id, parameters: {}, records: [], servers };
    const expires = json.expires ? Date.parse(json.expires) / DAY_MS : Number.MAX_SAFE_INTEGER;
    /** @param {any} _ @param {string} id @returns {Promise<Parcel | {code: string}>} */
    const seal = async (_, id) => {
      const input = await inputOf(context, keys, id);
      return task.ofMeasurement(measurement, input).then(
        (body) => ({ report, path: task.path, body, expires }),
        () => ({ code: 'not-a-measurement' }),
      );
    };
    /** @param {Transaction} tx */
    const more = async (tx) => ((await agreedOf(tx))[task.id]?.terms === terms ? {} : null);
    return outbox.enqueue({ send: { delayS: 0 } }, report, era, { seal, more });
  });

/**
 * Returns why this device may share nothing to a task, or null if it may.
 * @param {Transaction} tx
 * @param {string} id
 * @param {string} terms
 */
async function refusal(tx, id, terms) {
  const agreed = (await agreedOf(tx))[id];
  if (agreed?.terms !== terms) return 'not-opted-in';
  return ((await countsOf(tx))[id] ?? 0) < agreed.limit ? null : 'exact-spent';
}

/**
 * Counts one measurement, durably once the transaction is done. Nothing takes a count back: a page
 * that dies before the report is in the queue has lost the measurement.
 * @param {Transaction} tx
 * @param {string} id
 * @param {string} terms
 */
async function count(tx, id, terms) {
  const code = await refusal(tx, id, terms);
  if (code) return code;
  const counts = await countsOf(tx);
  await tx.put('state', 'exact', { ...counts, [id]: (counts[id] ?? 0) + 1 });
  return null;
}
