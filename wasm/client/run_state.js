// SPDX-License-Identifier: Apache-2.0
// The runs of a page, and what a device remembers of each: sums of the samples of the open epoch,
// and the state that its answers follow from. Both are in the `events` store and nowhere else. The
// end of consent erases them, and retention erases samples that nobody asked for.
import { Run, isRun } from '../bindings/run_core.js';
import { Refusal, loadFailureCode } from './basics.js';
import { sourceOf } from './page_recipes.js';
import { RUN } from './served.js';

/**
 * @typedef {import('../bindings/joint_core.js').JointRecipe} JointRecipe
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./page_recipes.js').Source} Source
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {object} Sums of the epoch that is open
 * @property {number} from day of the first sample
 * @property {number} count
 * @property {string} total of numbers, in micro-units; decimal, since it may be longer than a
 *   number is exact
 * @property {[string, number][]} counts of strings, by their items
 * @typedef {{id: string, expires: number, state: Uint8Array | null, sums: Sums | null}} Kept what a
 *   device remembers of a run; its row is there while the person takes part
 * @typedef {{day: number, isOut?: boolean}} Joined that a run's epsilon was debited, or that its
 *   sample left this device out
 *
 * @typedef {{run: Run, recipe: JointRecipe}} Followed
 * @typedef {{core: any, runs: Map<string, Followed>}} Loaded by run hash
 */

const RETENTION_DAYS = 31; // days for which samples are kept that nobody asks for
const JOINED = 'runs'; // the key in `state` of the runs that were debited

/**
 * The codes of runs; the core has sentences of its own for what a state refuses.
 * @type {{[code: string]: string}}
 */
export const RUN_REASONS = {
  'no-runs': 'This page follows nothing over epochs.',
  'runs-missing':
    'The recipes of the runs, or the WebAssembly module for them, could not be loaded.',
  'wasm-blocked': "The page's policy refuses WebAssembly.",
  'unknown-stream': 'No run reads this stream.',
  'unknown-analysis': 'The page has no run of this analysis.',
  'not-opted-in': 'The person has not agreed to take part in the run.',
  'epochs-missing': 'The recipes could not be fetched.',
  malformed: 'This is not an epoch of a run that the core can read.',
  'other-run':
    'The recipe belongs to no run that the page promised: its parameters differ, and so would its cost.',
  'run-left':
    'What this device remembered of the run is gone. Its epsilon was spent, and is not spent again: the run goes on without it.',
  'run-over': "The run's last day has passed.",
  'run-full':
    'The epoch has more samples, or more different ones, than a device keeps: this one was left out.',
  'too-many': 'More than 64 recipes came at once; the others were not looked at.',
};

/** @param {string} code @param {unknown} [cause] */
export const refused = (code, cause) => new Refusal(code, RUN_REASONS[code], cause);

/** The core and the runs of each client. @type {WeakMap<Context, Promise<Loaded>>} */
const loading = new WeakMap();

/**
 * Loads the runs once for each client. A failed load is tried again at the next call.
 * @param {Context} context
 * @returns {Promise<Loaded>}
 */
export function load(context) {
  const known = loading.get(context);
  if (known) return known;
  const made = open(context);
  loading.set(context, made);
  made.catch(() => loading.delete(context));
  return made;
}

/** @param {Context} context @returns {Promise<Loaded>} */
async function open(context) {
  const { deps, options } = context;
  const { runs: list, wasm, keys } = options;
  if (!list?.length) throw refused('no-runs');
  /** @type {[any, Source[]]} */
  const [core, sources] = await Promise.all([
    typeof wasm === 'function'
      ? wasm()
      : import('../bindings/whole.js').then(({ wholeCore }) => wholeCore(deps.fetch, wasm)),
    Promise.all(list.map((each) => sourceOf(deps, each))),
  ]).catch((error) => {
    throw refused(loadFailureCode(error, 'runs-missing'), error);
  });
  /** @type {Loaded} */
  const loaded = { core, runs: new Map() };
  for (const { name, json, hash } of sources) {
    const followed = await promised(core, json, keys, hash);
    if (followed) loaded.runs.set(followed.run.hash, followed);
    else context.note('recipe-refused', name);
  }
  return loaded;
}

/**
 * Returns a run that the page may promise, or null.
 * @param {any} core
 * @param {any} json
 * @param {string[] | undefined} keys
 * @param {string} [hash]
 * @returns {Promise<Followed | null>}
 */
async function promised(core, json, keys, hash) {
  /** @type {JointRecipe} */
  let recipe;
  try {
    recipe = core.recipe(json);
  } catch {
    return null;
  }
  const isPinned = (hash ?? recipe.hash) === recipe.hash;
  if (isRun(recipe.json) && isPinned && !(await forged(recipe, keys)))
    return { run: new Run(recipe), recipe };
  core.release(recipe);
  return null;
}

/**
 * Returns why the signature is not valid, or null if it is.
 * @param {JointRecipe} recipe
 * @param {string[] | undefined} keys
 */
export const forged = async (recipe, keys) =>
  keys ? (await import('../bindings/signature.js')).verifySignature(recipe, keys) : null;

// ---- what is stored ----

/** @param {Followed} followed */
export const keyOf = ({ run }) => RUN + run.hash;

/**
 * Reads what is kept of a run; undefined if the person takes no part.
 * @param {Transaction} tx
 * @param {Followed} followed
 * @returns {Promise<Kept | undefined>}
 */
export const keptOf = (tx, followed) => tx.get('events', keyOf(followed));

/** Keys of what is kept of all runs. @param {Transaction} tx */
const rowsOf = async (tx) => (await tx.keys('events')).filter((key) => key.startsWith(RUN));

/**
 * Throws if the person takes part in no run, because then nothing needs to be loaded or fetched.
 * @param {Context} context
 */
export async function needPart(context) {
  const hasPart = await context.exclusive(async (tx) => (await rowsOf(tx)).length > 0);
  if (!hasPart) throw refused(hasPart === undefined ? 'no-consent' : 'not-opted-in');
}

/** @param {Transaction} tx @returns {Promise<{[hash: string]: Joined}>} */
export const joinedOf = async (tx) => (await tx.get('state', JOINED)) ?? {};

/**
 * Remembers that a run was paid for, or that its sample left this device out.
 * @param {Transaction} tx
 * @param {Run} run
 * @param {Joined} joined
 */
export const join = async (tx, run, joined) =>
  tx.put('state', JOINED, { ...(await joinedOf(tx)), [run.hash]: joined });

/**
 * Erases the rows of runs whose last day has passed, and samples that are too old, also those of
 * runs that the page no longer has. Samples dated after today are erased, too: a clock was set
 * back, and their age is unknown.
 * @param {Transaction} tx
 * @param {number} day
 */
export async function sweep(tx, day) {
  for (const key of await rowsOf(tx)) {
    /** @type {Kept} */
    const kept = await tx.get('events', key);
    const age = kept.sums ? day - kept.sums.from : 0;
    if (day > kept.expires) await tx.delete('events', key);
    else if (age < 0 || age >= RETENTION_DAYS) await tx.put('events', key, { ...kept, sums: null });
  }
}
