// SPDX-License-Identifier: Apache-2.0
// Recipes whose records two servers add up, so that neither server sees a record. This is a chunk
// of its own, loaded if a page has such a recipe. A record is randomized like any other and then
// split; each share is sealed to its server's key, so that the queue, the edge worker and the
// network hold ciphertext only. exact.js does the same for measurements that nothing randomizes.
// Source: draft-ietf-ppm-dap-18 section "Uploading Reports". Depends on dap_core.js.
import { DapTask } from '../bindings/dap_core.js';
import { toHex } from '../bindings/device.js';
import { randomBytes } from './basics.js';
import {
  compiled,
  hpkeOf,
  inputOf,
  keptKeys,
  keysOf,
  renewDaily,
  serversOf,
  whyNoKeys,
} from './dap_servers.js';

export { optIn, optOut, share } from './exact.js';

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./dap_servers.js').Parcel} Parcel
 * @typedef {import('./storage.js').Row} Row
 * @typedef {import('../bindings/dap_core.js').Key} Key
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 *
 * @typedef {{code?: string, seal?: (report: ReportJson, id: string) => Promise<Parcel |
 *   {code: string}>}} Sealing what seals the reports of a recipe, or the code that says why nothing
 *   does
 */

const ID = 16; // bytes of a report's id
const STATUS = ID + 1; // bytes of a leader's answer about one report

// Errors that a leader reports for one report.
const REPLAYED = 2;
const UNKNOWN_KEY = 4;
const NOT_YET = [9, 10];
const OUTDATED = 11;

/**
 * Tasks by recipe. They belong to a client's core and are released with it.
 * @type {WeakMap<Recipe, Promise<DapTask>>}
 */
const tasks = new WeakMap();

/** @param {Context} context @param {Recipe} recipe */
function taskOf(context, recipe) {
  const made =
    tasks.get(recipe) ?? compiled(context).then((module) => DapTask.ofRecipe(module, recipe));
  tasks.set(recipe, made);
  made.catch(() => tasks.delete(recipe));
  return made;
}

/** Bytes of an upload of one report. @param {Context} context @param {Recipe} recipe */
export const lengthOf = async (context, recipe) => (await taskOf(context, recipe)).reportLength;

// ---- reports ----

/**
 * Returns what seals a record for its recipe's servers, or why it cannot be sealed. It is called
 * before anything is paid for the record.
 * @param {Context} context
 * @param {Recipe} recipe
 * @returns {Promise<Sealing>}
 */
export async function sealingFor(context, recipe) {
  const by = tasks.has(recipe) ? 'last' : 'until'; // the first time is when the page was loaded
  const task = await taskOf(context, recipe).catch((error) =>
    error.name === 'ShoalError' ? 'recipe-refused' : 'core-missing',
  );
  if (typeof task === 'string') return { code: task };
  const servers = serversOf(recipe.json.aggregation);
  const urls = Object.values(servers);
  renewDaily(context, task, urls);
  const keys = await keysOf(context, task, urls, by);
  if (!keys) return { code: await whyNoKeys(context) };
  if (!(await hpkeOf(context).catch(() => null))) return { code: 'core-missing' };
  return { seal: (report, id) => parcel(context, task, keys, { ...report, servers }, id) };
}

/**
 * @param {Context} context
 * @param {DapTask} task
 * @param {[Key, Key]} keys
 * @param {ReportJson} report
 * @param {string} id
 * @returns {Promise<Parcel | {code: string}>}
 */
async function parcel(context, task, keys, report, id) {
  const body = await task.ofRecord(report.records[0], await inputOf(context, keys, id));
  return body ? { report, path: task.path, body, sealedTo: sealedTo(keys) } : { code: 'too-heavy' };
}

/** @param {Key[]} keys */
const sealedTo = (keys) => keys.map(({ publicKey }) => toHex(publicKey)).join();

/**
 * Translates a leader's answer that is not empty into the HTTP status that means the same to the
 * outbox: 202 if the row is done, 400 if it is refused for good, 503 if it stays in the queue.
 * @param {Context} context
 * @param {string} id of the report, hex
 * @param {Row} row
 * @param {ArrayBuffer | null} answer UploadErrors; null where it broke off
 * @param {Recipe[]} recipes
 * @returns {Promise<202 | 400 | 503>}
 */
export async function judged(context, id, row, answer, recipes) {
  const error = answer && errorOf(new Uint8Array(answer), id);
  // The leader accepted an earlier try, whose answer was lost.
  if (error === REPLAYED && row.tries > 0) return 202;
  if (error === null || NOT_YET.includes(error)) return 503;
  if (error !== OUTDATED && error !== UNKNOWN_KEY) return 400;
  const recipe = recipes.find(({ hash }) => hash === row.report.recipe_hash);
  return recipe && !row.isResealed ? resealed(context, id, row, recipe) : 400;
}

/**
 * Returns the leader's verdict on the one report that it was sent, or null if the bytes are not an
 * answer of a leader.
 * @param {Uint8Array} answer
 * @param {string} id
 */
function errorOf(answer, id) {
  return answer.length === STATUS && toHex(answer.subarray(0, ID)) === id ? answer[ID] : null;
}

/**
 * Replaces a row whose key the leader no longer knows by a new report of the same record, once.
 * Returns a status as judged() does.
 * @param {Context} context
 * @param {string} id
 * @param {Row} row
 * @param {Recipe} recipe
 */
async function resealed(context, id, row, recipe) {
  const task = await taskOf(context, recipe);
  // Nobody is asked for keys now: the leader would learn the address behind the report that it
  // answered.
  const keys = await keptKeys(context, Object.values(serversOf(recipe.json.aggregation)));
  // If the keys are still the same, the report waits: the clock may bring others, or the answer is
  // false, and another report would count the record twice. Perhaps the edge worker made it up.
  if (!keys || row.sealedTo === sealedTo(keys)) return 503;
  const fresh = toHex(randomBytes(context.deps, ID));
  const sealed = await parcel(context, task, keys, row.report, fresh);
  if (!('body' in sealed)) return 400;
  await context.exclusive(async (tx) => {
    if (!(await tx.get('queue', id))) return; // erased meanwhile
    await tx.delete('queue', id);
    await tx.put('queue', fresh, {
      ...row,
      ...sealed,
      due: context.deps.now(),
      tries: 0,
      isResealed: true,
    });
  });
  return 202; // the old row is done
}
