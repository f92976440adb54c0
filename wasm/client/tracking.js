// SPDX-License-Identifier: Apache-2.0
// A device's part in runs over epochs, which follow statistics that change. The device sums samples
// of the open epoch and answers the epoch's recipe once, with one report, `vote;estimate`. The
// steps of an answer: consent and opt-in; an epoch of a run that the page promised; the whole run's
// epsilon, debited once; the answer is drawn, and the device's new state is stored; the queue as
// for any record. This is a chunk of its own, loaded if a page has runs. Sources: joseph-2018;
// core/compound/epoch.h.
import { Run, isRun } from '../bindings/run_core.js';
import { Refusal, isSampled, randomBytes, today, toldAs } from './basics.js';
import { itemOf } from './items.js';
import {
  RUN_REASONS,
  forged,
  join,
  joinedOf,
  keptOf,
  keyOf,
  load,
  needPart,
  refused,
  sweep,
} from './run_state.js';
import { served } from './served.js';
import { agrees, bindTerms, termOf } from './terms.js';

export { balances, explain } from './run_balance.js';
export { RUN_REASONS };

/**
 * @typedef {import('../bindings/device.js').RecipeJson} RecipeJson
 * @typedef {import('../bindings/joint_core.js').JointRecipe} JointRecipe
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./context.js').Outcome} Outcome
 * @typedef {import('./outbox.js').Call} Call
 * @typedef {import('./query_log.js').LogRow} LogRow
 * @typedef {import('./run_state.js').Followed} Followed
 * @typedef {import('./run_state.js').Kept} Kept
 * @typedef {import('./run_state.js').Loaded} Loaded
 * @typedef {import('./run_state.js').Sums} Sums
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {object} Track
 * @property {(analysis: string, yes?: boolean) => Promise<Outcome[]>} optIn agrees to the runs of
 *   an analysis, or ends one's part in them and erases what was kept: `opted-in` or `opted-out`, or
 *   why not
 * @property {(stream: string, value: string | number) => Promise<Outcome[]>} sample adds to the
 *   sums of a stream's runs: `sampled`, or why not, one for each run
 * @property {(recipes?: (RecipeJson | string)[]) => Promise<Outcome[]>} answer answers epochs, each
 *   at most once: by default those that the endpoint serves; one outcome for each
 */

const DISTINCT_MAX = 4096; // different strings of an epoch
const SAMPLES_MAX = 2 ** 31 - 1;
const EPOCHS_MAX = 64; // recipes in one call
const LOGGED_MAX = 64; // answers of one run that log() lists

/**
 * Notes what happened to a run.
 * @param {Context} context
 * @param {string | null} id
 * @param {string} code
 * @param {string} [text]
 * @returns {Outcome}
 */
const noted = (context, id, code, text = RUN_REASONS[code]) => context.note(code, id, text);

/** Erases what is too old. @param {Call} call @returns {Promise<Outcome[]>} none */
export async function tidy({ context }) {
  const day = today(context.deps);
  await context.exclusive((tx) => sweep(tx, day));
  return [];
}

/** What runs ask of a person. @param {Context} context @param {Followed[]} list */
const termsOf = ({ url }, list) => list.map(({ recipe }) => termOf(url, recipe));

/** @type {(call: Call, ...args: Parameters<Track['optIn']>) => Promise<Outcome[]>} */
export async function optIn({ context }, analysis, yes = true) {
  const { runs } = await load(context);
  const own = [...runs.values()].filter(({ recipe }) => recipe.json.analysis === analysis);
  if (!own.length) throw refused('unknown-analysis');
  if (yes) await bindTerms(context, 'opted', termsOf(context, own), 'all');
  const isDone = await context.exclusive(async (tx) => {
    for (const followed of own) {
      if (!yes) await leave(tx, followed);
      else if (!(await keptOf(tx, followed))) {
        const { id, expiresDay: expires } = followed.recipe;
        /** @type {Kept} */
        const kept = { id, expires, state: null, sums: null };
        await tx.put('events', keyOf(followed), kept);
      }
    }
    return true;
  });
  const code = yes ? 'opted-in' : 'opted-out';
  return [isDone ? { recipe: null, code } : context.note('no-consent')];
}

/**
 * Ends a person's part in a run: erases what was kept of it, and what waits to be sent.
 * @param {Transaction} tx
 * @param {Followed} followed
 */
async function leave(tx, followed) {
  await tx.delete('events', keyOf(followed));
  for (const [key, row] of await tx.entries('queue'))
    if (row.run === followed.run.hash) await tx.delete('queue', key);
}

// ---- samples ----

/** @type {(call: Call, ...args: Parameters<Track['sample']>) => Promise<Outcome[]>} */
export async function sample({ context }, stream, value) {
  await needPart(context);
  const { runs } = await load(context);
  const own = [...runs.values()].filter(({ recipe }) => recipe.stream === stream);
  if (!own.length) throw refused('unknown-stream');
  const outcomes = [];
  for (const followed of own) outcomes.push(await add(context, followed, value));
  return outcomes;
}

/**
 * Adds a value to the sums of a run.
 * @param {Context} context
 * @param {Followed} followed
 * @param {string | number} value
 * @returns {Promise<Outcome>}
 */
async function add(context, followed, value) {
  const { recipe, run } = followed;
  const { deps } = context;
  const { valueKind, text, isNumber, bytesMax } = recipe;
  const counted = { valueKind, text, isNumber, isOpen: true, values: null, bytesMax };
  const item = await itemOf(counted, value, deps.sites);
  if (item.code) return noted(context, recipe.id, item.code);
  const day = today(deps);
  const code = await context.exclusive(async (tx) => {
    await sweep(tx, day);
    const kept = await keptOf(tx, followed);
    if (!kept) return day > recipe.expiresDay ? 'run-over' : 'not-opted-in';
    const sums = kept.sums ?? { from: day, count: 0, total: '0', counts: [] };
    const grown = isNumber
      ? withNumber(sums, recipe.json.parameters, item.value)
      : withItem(sums, run.item(item.value));
    if (!grown) return 'run-full';
    await tx.put('events', keyOf(followed), { ...kept, sums: grown });
    return 'sampled';
  });
  return code === 'sampled'
    ? { recipe: recipe.id, code }
    : noted(context, recipe.id, code ?? 'no-consent');
}

/**
 * Adds a number. A number outside the range counts as the nearer end of it.
 * @param {Sums} sums
 * @param {{low: number, high: number}} range
 * @param {number} value
 * @returns {Sums | null}
 */
function withNumber(sums, { low, high }, value) {
  if (sums.count === SAMPLES_MAX) return null;
  const micro = BigInt(Math.round(Math.max(low, Math.min(value, high)) * 1e6));
  return { ...sums, count: sums.count + 1, total: String(BigInt(sums.total) + micro) };
}

/** @param {Sums} sums @param {string} item @returns {Sums | null} */
function withItem(sums, item) {
  const counts = new Map(sums.counts);
  if (sums.count === SAMPLES_MAX || (counts.size === DISTINCT_MAX && !counts.has(item)))
    return null;
  counts.set(item, (counts.get(item) ?? 0) + 1);
  return { ...sums, count: sums.count + 1, counts: [...counts] };
}

/**
 * Returns the mean of the numbers, rounded down to a micro-unit, or null if there are none.
 * @param {Sums | null} sums
 */
function meanOf(sums) {
  if (!sums) return null;
  const total = BigInt(sums.total);
  const count = BigInt(sums.count);
  const cut = total / count;
  return total < 0n && cut * count !== total ? cut - 1n : cut;
}

// ---- epochs ----

/**
 * The last answer of each client. Answers run one after another.
 * @type {WeakMap<Context, Promise<unknown>>}
 */
const answering = new WeakMap();

/** @type {(call: Call, ...args: Parameters<Track['answer']>) => Promise<Outcome[]>} */
export function answer(call, recipes) {
  const before = answering.get(call.context) ?? Promise.resolve();
  const run = before.then(() => answerAll(call, recipes));
  answering.set(
    call.context,
    run.catch(() => {}), // only the caller of this answer learns of the error
  );
  return run;
}

/** @param {Call} call @param {(RecipeJson | string)[]} [recipes] */
async function answerAll(call, recipes) {
  const { context } = call;
  await needPart(context);
  const loaded = await load(context);
  // A run that was joined under an earlier version has no terms.
  await bindTerms(context, 'opted', termsOf(context, await joinedRuns(context, loaded)), 'missing');
  const code = await context.unsendable();
  if (code) throw new Refusal(code);
  const list = recipes ?? (await fetched(context, loaded));
  if (!Array.isArray(list)) throw refused('epochs-missing');
  const outcomes = [];
  for (const json of list.slice(0, EPOCHS_MAX)) outcomes.push(await answerOne(call, loaded, json));
  if (list.length > EPOCHS_MAX) outcomes.push(noted(context, null, 'too-many'));
  return outcomes;
}

/** The runs that the person takes part in. @param {Context} context @param {Loaded} loaded */
async function joinedRuns(context, { runs }) {
  const kept = await context.exclusive(async (tx) => {
    const list = [];
    for (const followed of runs.values()) if (await keptOf(tx, followed)) list.push(followed);
    return list;
  });
  return kept ?? [];
}

/**
 * Fetches the epochs of the page's runs that the endpoint serves, the earliest first.
 * @param {Context} context
 * @param {Loaded} loaded
 */
async function fetched(context, { runs }) {
  const { recipes } = await served(context, 'recipes').catch((error) => {
    throw refused('epochs-missing', error);
  });
  if (!Array.isArray(recipes)) return null;
  const names = new Set([...runs.values()].map(({ recipe }) => recipe.id));
  return recipes
    .map((entry) => entry?.recipe)
    .filter((json) => json && isRun(json) && names.has(json.recipe))
    .sort((a, b) => (a.round?.index ?? 0) - (b.round?.index ?? 0));
}

/**
 * Takes one epoch through all steps.
 * @param {Call} call
 * @param {Loaded} loaded
 * @param {RecipeJson | string} json
 * @returns {Promise<Outcome>}
 */
async function answerOne(call, loaded, json) {
  const { context } = call;
  const recipe = epochOf(loaded.core, json);
  if (!recipe) return refuse(context, null, 'malformed');
  try {
    const run = new Run(recipe);
    if (!loaded.runs.has(run.hash)) return await refuse(context, recipe, 'other-run');
    const code = await forged(recipe, context.options.keys);
    if (code) return await refuse(context, recipe, code, '');
    return await report(call, loaded.core, { run, recipe });
  } catch (error) {
    const { code, text, cause } = toldAs(error);
    return context.note(code, recipe.id, text, cause);
  } finally {
    loaded.core.release(recipe);
  }
}

/**
 * Returns the recipe of an epoch, or null if it is not one.
 * @param {any} core
 * @param {RecipeJson | string} json
 * @returns {JointRecipe | null}
 */
function epochOf(core, json) {
  /** @type {JointRecipe} */
  let recipe;
  try {
    recipe = core.recipe(json);
  } catch {
    return null;
  }
  if (isRun(recipe.json)) return recipe;
  core.release(recipe);
  return null;
}

/**
 * Debits, draws and stores the new state in one transaction, and only then queues the report. A
 * page that dies between the two has lost the report, and does not answer the epoch again.
 * @param {Call} call
 * @param {any} core
 * @param {Followed} followed
 * @returns {Promise<Outcome>}
 */
async function report({ context, outbox, era }, core, followed) {
  const { recipe, run } = followed;
  const made = await context.exclusive((tx) => drawn(tx, context, core, followed));
  if (!made) return noted(context, recipe.id, 'no-consent');
  if (made.code) return refuse(context, recipe, made.code, made.text);
  /** @param {Transaction} tx @param {string} id */
  const more = async (tx, id) => {
    if (!(await keptOf(tx, followed))) return null; // the person left the run meanwhile
    /** @type {LogRow} */
    const row = { ...rowOf(recipe), outcome: 'accepted', code: 'accepted', report: id };
    await write(tx, context.deps.now(), row);
    return { run: run.hash, expires: recipe.expiresDay };
  };
  const json = recipe.report(/** @type {string} */ (made.record));
  const code = await outbox.enqueue(recipe, json, era, { more });
  return code === 'queued' ? { recipe: recipe.id, code } : noted(context, recipe.id, code);
}

/**
 * Makes the record of an epoch and stores everything that follows from it in the same transaction.
 * Otherwise it returns the code that says why there is no record, and stores nothing.
 * @param {Transaction} tx
 * @param {Context} context
 * @param {any} core
 * @param {Followed} followed
 * @returns {Promise<{record?: string, code?: string, text?: string}>}
 */
async function drawn(tx, context, core, followed) {
  const { recipe, run } = followed;
  const { deps } = context;
  const day = today(deps);
  await sweep(tx, day);
  if (day > recipe.expiresDay) return { code: 'run-over' };
  const kept = await keptOf(tx, followed);
  if (!kept) return { code: 'not-opted-in' };
  if (!(await agrees(tx, termOf(context.url, recipe)))) return { code: 'outdated' };
  if (context.lacksCap(day)) return { code: 'cap' };
  const isFirst = kept.state === null;
  const code = isFirst ? await whyNotJoin(tx, context, core, followed) : null;
  if (code) return { code };
  const ledger = await context.ledgerOf(tx, core);
  /** @type {Uint8Array} */
  let paid;
  try {
    paid = isFirst
      ? core.ledger.debit(ledger, recipe, day)
      : core.ledger.change('ledger_go_on', ledger, recipe.handle, day);
  } catch (error) {
    return { code: /** @type {any} */ (error).code };
  }
  const seed = randomBytes(deps, 32);
  const { refusal, text, state, record } = run.isNumber
    ? run.answerNumber(kept.state ?? run.start(), meanOf(kept.sums), seed)
    : run.answerCounts(kept.state ?? run.start(), new Map(kept.sums?.counts), seed);
  seed.fill(0);
  if (record === null) return { code: refusal ?? '', text };
  await tx.put('state', 'ledger', paid);
  if (isFirst) await join(tx, run, { day });
  await tx.put('events', keyOf(followed), { ...kept, state, sums: null });
  return { record };
}

/**
 * Returns why the device may not begin a run, or null if it may. The run's coin is tossed once.
 * @param {Transaction} tx
 * @param {Context} context
 * @param {any} core
 * @param {Followed} followed
 */
async function whyNotJoin(tx, context, core, { recipe, run }) {
  const joined = (await joinedOf(tx))[run.hash];
  if (joined) return joined.isOut ? 'sampled-out' : 'run-left';
  const code = await context.refusal(tx, core, recipe);
  if (code) return code;
  if (isSampled(context.deps, recipe.send.sample)) return null;
  await join(tx, run, { day: today(context.deps), isOut: true });
  return 'sampled-out';
}

// ---- the log ----

/** @param {JointRecipe | null} recipe null where it could not be read @returns {LogRow} */
const rowOf = (recipe) => ({
  at: 0,
  query: recipe && recipe.id,
  hash: recipe && recipe.hash,
  analysis: recipe && recipe.json.analysis,
  round: recipe?.json.round?.index ?? 0,
  outcome: 'refused',
  code: '',
  text: '',
  field: null,
  count: 1,
  asked: null,
  report: null,
});

/**
 * Notes and logs that a recipe is not answered. It does not log that an epoch was answered before,
 * because an epoch's recipe is served for as long as the epoch lasts.
 * @param {Context} context
 * @param {JointRecipe | null} recipe
 * @param {string} code
 * @param {string} [text]
 * @returns {Promise<Outcome>}
 */
async function refuse(context, recipe, code, text) {
  const id = recipe && recipe.id;
  if (code === 'answered') return { recipe: id, code };
  const sentence = text || RUN_REASONS[code] || (await commonReason(code));
  const row = { ...rowOf(recipe), code, text: sentence ?? '' };
  await context.exclusive((tx) => write(tx, context.deps.now(), row));
  return context.note(code, id, sentence);
}

/** The sentence of a code that events have, too. @param {string} code */
async function commonReason(code) {
  try {
    return (await import('./reasons.js')).REASONS[code];
  } catch {
    return undefined; // the row is written without it
  }
}

/**
 * Writes a row of the log. There is one for each answer of a run's last epochs, and one for each
 * run and reason of refusal, with a count. No row says how the device voted.
 * @param {Transaction} tx
 * @param {number} now
 * @param {LogRow} row
 */
async function write(tx, now, row) {
  const isAnswer = row.outcome === 'accepted';
  const of = `run ${row.outcome} ${isAnswer || row.code !== 'other-run' ? row.query : ''} `;
  const key = of + (isAnswer ? String(row.round).padStart(6, '0') : row.code);
  const count = isAnswer ? 1 : ((await tx.get('log', key))?.count ?? 0) + 1;
  await tx.put('log', key, { ...row, at: now, count });
  if (!isAnswer) return;
  const own = (await tx.entries('log'))
    .filter(([each]) => each.startsWith(of))
    .sort(([, a], [, b]) => b.at - a.at || b.round - a.round);
  for (const [old] of own.slice(LOGGED_MAX)) await tx.delete('log', old);
}
