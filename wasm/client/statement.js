// SPDX-License-Identifier: Apache-2.0
// Tells a person what the client did: its reports, what they cost, and why something was not sent.
// This module is a chunk of its own, loaded at the first call of reports, ledger or explain.
import { accountsOf, capsOf, spentOf } from '../bindings/ledger_sum.js';
import { DAY_MS, chunk, readStored, today } from './basics.js';
import { diagnosed } from './diagnosis.js';
import { exactBalances, explainExact } from './exact_balance.js';
import { REASONS } from './reasons.js';
import { promisesOf } from './verdict.js';

/**
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./context.js').Note} Note
 * @typedef {import('./exact_balance.js').ExactBalance} ExactBalance
 * @typedef {import('./page_recipes.js').PageRecipes} PageRecipes
 * @typedef {import('./query_charges.js').Charge} Charge
 * @typedef {import('./run_balance.js').RunBalance} RunBalance
 *
 * @typedef {Note & {text: string}} Reason a code of explain() and its sentence
 * @typedef {object} Entry what became of one record
 * @property {'queued' | 'sent' | 'refused'} state
 * @property {string} at when it was sent or refused, or when it is due; ISO 8601
 * @property {string} text a sentence
 * @property {ReportJson} report what is sent, exactly. If it names `servers`, it is instead what
 *   was split into shares and sealed for those servers.
 * @typedef {{recipe: string, perDay: number, today: {count: number, epsilon: number}, year:
 *   {count: number, epsilon: number}, verdict: import('./verdict.js').Promises}} Balance what a
 *   recipe has spent, and what its report, window and life promise a person
 * @typedef {object} AccountEntry what was spent under one name, ever, also by recipes that left the
 *   page
 * @property {string | null} account the name of the analysis; null where the books have none
 * @property {string} kind `recipe`, `run`, `analysis` (queries), `unnamed` (before names were
 *   kept), or `erased` (the sum of everything before the books were erased)
 * @property {string | null} valueKind what its recipes take
 * @property {number} count
 * @property {number} epsilon by basic composition
 * @property {string} first day, YYYY-MM-DD
 * @property {string} last day
 * @typedef {object} TotalEntry all accounts together
 * @property {{count: number, epsilon: number}} total
 * @property {{epsilon: number, days: number, reserved: number, until: string}[]} caps in force: what
 *   each allows in any so many days, what is reserved of it in those that end today, and its last
 *   day if no page states it again
 * @typedef {Balance & Partial<Charge> & Partial<RunBalance> & Partial<ExactBalance> &
 *   Partial<AccountEntry> & Partial<TotalEntry>} LedgerEntry
 *   one of four kinds. An entry with `run` holds what that run has spent. An entry with `analysis`
 *   but no `run` holds what that analysis was charged for queries. An entry with `task` holds what
 *   was shared exactly. Every other entry is a recipe's balance, and only
 *   these have the members of Balance.
 * @typedef {{state: string, at: number, report: ReportJson, code?: string}} Told a row of the
 *   stores `queue` or `done`, as `entry` puts it into words; `code` says why a report was refused
 */

/**
 * Puts one stored row into words.
 * @param {Told} told @returns {Entry}
 */
function entry({ state, at, report, code }) {
  const time = new Date(at).toISOString();
  const { servers, records } = report;
  // Epsilon is undefined if the recipe states only the probabilities that epsilon follows from.
  const { epsilon: whole, epsilon_fragment: fragment = 0, epochs } = report.parameters;
  const epsilon = whole && Math.round((whole + fragment) * 1e6) / 1e6;
  const how = !epsilon
    ? 'on this device'
    : epochs
      ? `within epsilon ${epsilon} for all ${epochs} epochs`
      : `with epsilon ${epsilon}`;
  const split = servers
    ? `, split into two sealed shares, for ${servers.leader} and ${servers.helper}`
    : '';
  const what = records.length
    ? `a record of "${report.key}", randomized ${how}${split}`
    : `an exact value for "${report.key}", not randomized${split}`;
  /** @type {{[state: string]: string}} */
  const texts = {
    queued: `Waits until ${time}: ${what}.`,
    sent: `Sent at ${time}: ${what}.`,
    refused: `Not accepted at ${time}: ${what}. ${REASONS[code ?? ''] ?? ''}`,
  };
  return { state: /** @type {any} */ (state), at: time, text: texts[state], report };
}

/**
 * Lists the reports that wait, were sent or were refused, newest first.
 * @param {Context} context
 */
export async function reports(context) {
  if (!(await context.hasStorage())) return [];
  const [done, queue] = await context.transaction((tx) =>
    Promise.all([tx.entries('done'), tx.entries('queue')]),
  );
  const rows = [
    ...queue.map(([, row]) => ({ ...row, state: 'queued', at: row.due })),
    ...done.map(([, row]) => row),
  ];
  return rows.sort((a, b) => b.at - a.at).map(entry);
}

/**
 * Lists what each recipe, each analysis and each run has spent. An error in one of these lists is
 * noted for explain(), and the other lists are still returned.
 * @param {Context} context
 * @param {PageRecipes} recipes
 * @returns {Promise<LedgerEntry[]>}
 */
export async function ledger(context, recipes) {
  await recipes.ready(); // a site's set brings runs and policy
  const { policy, runs } = context.options;
  /** @type {(() => Promise<any[]>)[]} */
  const parts = [() => balancesOf(context, recipes), () => exactBalances(context)];
  if (policy && context.isOn)
    parts.push(async () => (await chunk(import('./queries.js'))).charges(context));
  if (runs && context.isOn)
    parts.push(async () => (await chunk(import('./tracking.js'))).balances(context));
  parts.push(() => booksOf(context, recipes));
  const lists = await Promise.all(
    parts.map(async (part) => {
      try {
        return await part();
      } catch (error) {
        context.noteError(error);
        return [];
      }
    }),
  );
  return lists.flat();
}

/**
 * Reads each recipe's balance: today's, and that of the 365 days that end today.
 * @param {Context} context @param {PageRecipes} pageRecipes @returns {Promise<Balance[]>}
 */
async function balancesOf(context, pageRecipes) {
  const ready = await pageRecipes.ready();
  if (!ready) return [];
  const { core, recipes } = ready;
  const day = today(context.deps);
  const balances = await context.exclusive(async (tx) => {
    const bytes = await context.ledgerOf(tx, core);
    /** @param {Recipe} recipe @param {number} first the first day that counts; today is the last */
    const spent = (recipe, first) => {
      const { count, epsMicro } = readStored(() => spentOf(bytes, recipe, first, day));
      return { count, epsilon: epsMicro / 1e6 };
    };
    return recipes.map((recipe) => ({
      recipe: recipe.id,
      perDay: recipe.limit.perDay,
      today: spent(recipe, day),
      year: spent(recipe, day - 364),
      verdict: promisesOf(recipe, day),
    }));
  });
  return balances ?? [];
}

/**
 * Reads all that was ever spent, by name, and its total with the caps in force.
 * @param {Context} context
 * @param {PageRecipes} pageRecipes
 * @returns {Promise<(AccountEntry | TotalEntry)[]>}
 */
async function booksOf(context, pageRecipes) {
  const ready = await pageRecipes.ready();
  if (!ready) return [];
  const stored = await context.exclusive((tx) => context.ledgerOf(tx, ready.core));
  if (!stored) return [];
  // Reserving nothing checks the bytes and reads every version of them. The result is not stored.
  const day = today(context.deps);
  const bytes = readStored(() => ready.core.ledger.reserve(stored, { recipes: [] }, day));
  const epsilonOf = (/** @type {number} */ micro) => micro / 1e6;
  const dateOf = (/** @type {number} */ day) => new Date(day * DAY_MS).toISOString().slice(0, 10);
  const accounts = accountsOf(bytes).map(({ kind, name, field, first, last, count, epsMicro }) => ({
    account: name,
    kind,
    valueKind: field,
    count,
    epsilon: epsilonOf(epsMicro),
    first: dateOf(first),
    last: dateOf(last),
  }));
  const caps = capsOf(bytes, day).map(({ epsMicro, days, until, usedMicro }) => ({
    epsilon: epsilonOf(epsMicro),
    days,
    reserved: epsilonOf(usedMicro),
    until: dateOf(until),
  }));
  const sum = (/** @type {'count' | 'epsilon'} */ member) =>
    Math.round(accounts.reduce((total, each) => total + each[member], 0) * 1e6) / 1e6;
  return [...accounts, { total: { count: sum('count'), epsilon: sum('epsilon') }, caps }];
}

/**
 * Lists the reasons for which nothing, or not everything, was sent. They are the reasons that hold
 * now and the notes of what happened since the page was loaded.
 * @param {Context} context
 * @param {PageRecipes} recipes
 * @returns {Promise<Reason[]>}
 */
export async function explain(context, recipes) {
  /** @type {Map<string, Note>} */
  const reasons = new Map();
  /**
   * @param {string} code
   * @param {string | null} recipe
   * @param {number} count
   * @param {string} [text]
   */
  const add = (code, recipe, count, text) =>
    void reasons.set(`${code} ${recipe}`, { code, recipe, count, text });
  if (context.off) add(context.off, null, 0);
  if (isForeignFrame(context)) add('third-party-frame', null, 0);
  try {
    await recipes.ready(); // a site's set brings runs and policy
    await explainRecipes(context, recipes, add);
    await explainQueue(context, add);
    await explainExact(context, add);
    if (context.options.runs && context.isOn)
      await (await chunk(import('./tracking.js'))).explain(context, add);
  } catch (error) {
    context.noteError(error);
  }
  // Notes are reasons too. A note replaces a reason of the same key that has no count, because the
  // note has one.
  for (const [key, note] of context.notes) if (!reasons.get(key)?.count) reasons.set(key, note);
  return [...reasons.values()].map((note) => diagnosed(context, note));
}

/**
 * Finds whether a page above this one is of another origin. A worker has no page above it.
 * @param {Context} context
 */
function isForeignFrame({ options }) {
  const view = (options.document ?? globalThis.document)?.defaultView;
  try {
    for (let at = /** @type {any} */ (view); at?.parent && at !== at.parent; at = at.parent)
      if (!at.parent.document) return true;
    return false;
  } catch {
    return true; // a page of another origin does not give its document away
  }
}

/**
 * Adds a reason for each recipe that may not spend today.
 * @param {Context} context
 * @param {PageRecipes} recipes
 * @param {(code: string, recipe: string | null, count: number) => void} add
 */
async function explainRecipes(context, recipes, add) {
  const ready = await recipes.ready();
  if (!ready) return;
  const hasPermanent = ready.recipes.some(({ isPermanent }) => isPermanent);
  const permanent = hasPermanent ? await chunk(import('./permanent.js')) : null;
  const never = await permanent?.whyNotHere(context);
  await context.exclusive(async (tx) => {
    for (const recipe of ready.recipes) {
      const code =
        (await context.refusal(tx, ready.core, recipe)) ??
        (recipe.isPermanent
          ? (never ?? (await permanent?.refusal(tx, context, ready, recipe)))
          : null);
      // An open window has spent the day's reports. Where another recipe has, a note says so.
      const isOpen = code === 'budget' && recipe.send.pick === 'uniform';
      if (code && !isOpen)
        add(code, recipe.id, context.notes.get(`${code} ${recipe.id}`)?.count ?? 0);
    }
  });
}

/**
 * Adds the numbers of records that wait for their window or their random delay to end.
 * @param {Context} context
 * @param {(code: string, recipe: string | null, count: number) => void} add
 */
async function explainQueue(context, add) {
  if (!(await context.hasStorage())) return;
  const now = context.deps.now();
  const [rows, events] = await context.transaction((tx) =>
    Promise.all([tx.entries('queue'), tx.entries('events')]),
  );
  // Windows of a day, which windows.js keeps.
  const open = events.filter(([key]) => key.startsWith('~window/'));
  const slots = open.reduce((sum, [, { slots: own }]) => sum + (own?.length ?? 0), 0);
  if (slots) add('window-open', null, slots);
  const waiting = rows.filter(([, row]) => row.endpoint === context.url && row.due > now);
  if (waiting.length) add('not-yet-due', null, waiting.length);
}
