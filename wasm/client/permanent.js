// SPDX-License-Identifier: Apache-2.0
// Permanent answers: recipes whose coins follow from a secret of the device. An answer protects only
// as long as there is one of it. So what answered once is refused after its secret is gone (a
// tombstone), until the recipe expires; and a browser that deletes what scripts stored has to
// promise not to, first. This is a chunk of its own, loaded if a page has such a recipe.
import { spentOf } from '../bindings/ledger_sum.js';
import { randomBytes, readStored, storageFailure, today } from './basics.js';

/**
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {object} Held what this file needs of context.js
 * @property {import('./client_options.js').AllOptions} options
 * @property {import('./client_options.js').Dependencies} deps
 * @property {(tx: Transaction, core: any) => Promise<Uint8Array>} ledgerOf
 *
 * @typedef {{[key: string]: number}} Until last days, by what an answer is permanent for
 */

const SECRET_BYTES = 32;
const KEY_DIGITS = 32; // of a seed
const ANY = '*'; // stands for whatever an earlier version answered without a note of it
const ANY_DAYS = 366;

/**
 * What an answer is permanent for. The coins follow from the seed, so a recipe that is written anew
 * with its seed is the same question.
 * @param {Recipe} recipe
 */
function keysOf({ json, hash }) {
  const seeds = [json, ...(json.variables ?? [])].map(({ seed }) => seed).filter(Boolean);
  return (seeds.length ? seeds : [hash]).map((seed) => seed.slice(0, KEY_DIGITS).toLowerCase());
}

/**
 * Does this browser delete what scripts stored when nobody interacted with the site for some days?
 * WebKit does, after seven. Whatever is not known to be Chromium or Gecko counts as WebKit, which is
 * also what every browser on iOS is.
 */
const isDeleting = () => {
  const g = /** @type {any} */ (globalThis);
  return !!g.indexedDB && !/(Chrome|Chromium|Firefox)\//.test(g.navigator?.userAgent ?? '');
};

/**
 * Returns why this browser cannot give permanent answers, or null if it can. Asks for persistent
 * storage where it was not granted yet.
 * @param {Held} context
 */
export async function whyNotHere({ options, deps }) {
  const deletes = options.deletesStorage ?? isDeleting;
  return deletes() && !(await deps.persist().catch(() => false)) ? 'not-persisted' : null;
}

/** @param {Transaction} tx @param {'answered' | 'tombstones'} name @returns {Promise<Until>} */
const read = async (tx, name) => (await tx.get('state', name)) ?? {};

/** @param {Until} a @param {Until} b */
function latest(a, b) {
  const all = { ...a };
  for (const [key, day] of Object.entries(b)) all[key] = Math.max(all[key] ?? 0, day);
  return all;
}

/**
 * Takes over what an earlier version stored, which noted no answers: its secret has answered
 * something, and so may have what was erased. Without either, what the ledger has for a recipe was
 * answered under a secret that is gone (mayHaveAnswered).
 * @param {Transaction} tx
 * @param {Held} context
 */
async function takeOver(tx, context) {
  if ((await tx.get('state', 'answered')) !== undefined) return;
  const day = today(context.deps);
  const any = { [ANY]: day + ANY_DAYS };
  const hasSecret = (await tx.get('state', 'secret')) !== undefined;
  const isErased = (await tx.get('state', 'erased')) !== undefined;
  await tx.put('state', 'answered', hasSecret ? any : {});
  if (hasSecret) return;
  await tx.put('state', 'before', day);
  if (isErased) await tx.put('state', 'tombstones', any);
}

/**
 * May the recipe have answered under an earlier version, whose secret was gone when this version
 * took over? Each recipe is judged when it first asks, because the page that took over may not have
 * had it.
 * @param {Transaction} tx
 * @param {Held} context
 * @param {any} core
 * @param {Recipe} recipe
 */
async function mayHaveAnswered(tx, context, core, recipe) {
  const before = await tx.get('state', 'before');
  if (before === undefined) return false;
  const known = { ...(await read(tx, 'answered')), ...(await read(tx, 'tombstones')) };
  if (keysOf(recipe).some((key) => key in known)) return false;
  const ledger = await context.ledgerOf(tx, core);
  return readStored(() => spentOf(ledger, recipe, 0, before)).count > 0;
}

/** @param {Recipe[]} recipes @returns {Until} */
const untilOf = (recipes) =>
  Object.fromEntries(recipes.flatMap((each) => keysOf(each).map((key) => [key, each.expiresDay])));

/**
 * Returns `tombstone` if the recipe answered under a secret that is gone, else null.
 * @param {Transaction} tx
 * @param {Held} context
 * @param {{core: any}} ready
 * @param {Recipe} recipe
 */
export async function refusal(tx, context, { core }, recipe) {
  await takeOver(tx, context);
  const day = today(context.deps);
  const hasSecret = (await tx.get('state', 'secret')) !== undefined;
  const tombstones = await read(tx, 'tombstones');
  const gone = hasSecret ? tombstones : latest(tombstones, await read(tx, 'answered'));
  const isGone = [...keysOf(recipe), ANY].some((key) => gone[key] >= day);
  if (!isGone && !(await mayHaveAnswered(tx, context, core, recipe))) return null;
  // A renewed recipe asks the same question, so its tombstone lasts until the last of them expires.
  await tx.put('state', 'tombstones', latest(tombstones, untilOf([recipe])));
  return 'tombstone';
}

/**
 * Returns the secret from which permanent answers are derived, and notes that the recipe answers
 * under it. The secret is drawn once, and kept until consent ends.
 * @param {Transaction} tx
 * @param {Held} context
 * @param {Recipe} recipe
 * @returns {Promise<Uint8Array>}
 */
export async function secretFor(tx, { deps }, recipe) {
  const answered = await read(tx, 'answered');
  const stored = await tx.get('state', 'secret');
  if (stored && stored.length !== SECRET_BYTES)
    throw storageFailure(new RangeError('the stored secret is damaged'));
  const secret = stored ?? randomBytes(deps, SECRET_BYTES);
  if (!stored) {
    await tx.put('state', 'secret', secret);
    await tx.put('state', 'tombstones', latest(await read(tx, 'tombstones'), answered));
  }
  await tx.put('state', 'answered', latest(stored ? answered : {}, untilOf([recipe])));
  return secret;
}
