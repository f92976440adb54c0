// SPDX-License-Identifier: Apache-2.0
// What the client tells a person: reports, budgets, and why something was not sent. A chunk of its
// own, loaded when somebody asks.
import { spentOf } from '../bindings/ledger_sum.js';
import { chunk, readStored, today } from './basics.js';
import { REASONS } from './reasons.js';

/**
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./context.js').Note} Note
 * @typedef {import('./page_recipes.js').PageRecipes} PageRecipes
 * @typedef {import('./query_charges.js').Charge} Charge
 * @typedef {import('./run_balance.js').RunBalance} RunBalance
 *
 * @typedef {Note & {text: string}} Reason a machine code and its sentence
 * @typedef {object} Entry what became of one record
 * @property {'queued' | 'sent' | 'refused'} state
 * @property {string} at when it was sent or refused, or when it is due; ISO 8601
 * @property {string} text a sentence
 * @property {ReportJson} report exactly what is sent; where it names `servers`, what was split and
 *   sealed for them
 * @typedef {{recipe: string, perDay: number, today: {count: number, epsilon: number}, year:
 *   {count: number, epsilon: number}}} Balance
 * @typedef {Balance & Partial<Charge> & Partial<RunBalance>} LedgerEntry a recipe's balance; or,
 *   where `run` is there, what that run has spent; or, where only `analysis` is, what that analysis
 *   was charged for queries: and then nothing of a balance
 * @typedef {{state: string, at: number, report: ReportJson, code?: string}} Told a row of `queue`
 *   or `done`
 */

/** @param {Told} told @returns {Entry} */
function entry({ state, at, report, code }) {
  const time = new Date(at).toISOString();
  const { servers, records } = report;
  // Some recipes state the probabilities that epsilon follows from, and not epsilon.
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
 * What was sent, waits or was refused, newest first.
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
 * What each recipe, each analysis and each run has spent.
 * @param {Context} context
 * @param {PageRecipes} recipes
 * @returns {Promise<LedgerEntry[]>}
 */
export async function ledger(context, recipes) {
  const { policy, runs } = context.options;
  /** @type {(() => Promise<any[]>)[]} */
  const parts = [() => balancesOf(context, recipes)];
  if (policy && context.isOn)
    parts.push(async () => (await chunk(import('./queries.js'))).charges(context));
  if (runs && context.isOn)
    parts.push(async () => (await chunk(import('./tracking.js'))).balances(context));
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

/** @param {Context} context @param {PageRecipes} pageRecipes @returns {Promise<Balance[]>} */
async function balancesOf(context, pageRecipes) {
  const ready = await pageRecipes.ready();
  if (!ready) return [];
  const { core, recipes } = ready;
  const day = today(context.deps);
  const balances = await context.exclusive(async (tx) => {
    const bytes = await context.ledgerOf(tx, core);
    /** @param {Recipe} recipe @param {number} first */
    const spent = (recipe, first) => {
      const { count, epsMicro } = readStored(() => spentOf(bytes, recipe, first, day));
      return { count, epsilon: epsMicro / 1e6 };
    };
    return recipes.map((recipe) => ({
      recipe: recipe.id,
      perDay: recipe.limit.perDay,
      today: spent(recipe, day),
      year: spent(recipe, day - 364),
    }));
  });
  return balances ?? [];
}

/**
 * Why nothing was sent, or not everything: what holds now, and what happened since the page was
 * loaded.
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
  if (!context.isOn) add(context.state === 'gpc' ? 'gpc' : 'no-consent', null, 0);
  try {
    await explainRecipes(context, recipes, add);
    await explainQueue(context, add);
    if (context.options.runs && context.isOn)
      await (await chunk(import('./tracking.js'))).explain(context, add);
  } catch (error) {
    context.noteError(error);
  }
  for (const [key, note] of context.notes) if (!reasons.get(key)?.count) reasons.set(key, note);
  return [...reasons.values()].map((note) => ({ ...note, text: note.text ?? REASONS[note.code] }));
}

/**
 * Which recipes may not spend today.
 * @param {Context} context
 * @param {PageRecipes} recipes
 * @param {(code: string, recipe: string | null, count: number) => void} add
 */
async function explainRecipes(context, recipes, add) {
  const ready = await recipes.ready();
  if (!ready) return;
  await context.exclusive(async (tx) => {
    for (const recipe of ready.recipes) {
      const code = await context.refusal(tx, ready.core, recipe);
      if (code) add(code, recipe.id, context.notes.get(`${code} ${recipe.id}`)?.count ?? 0);
    }
  });
}

/**
 * How many records wait for their delay.
 * @param {Context} context
 * @param {(code: string, recipe: string | null, count: number) => void} add
 */
async function explainQueue(context, add) {
  if (!(await context.hasStorage())) return;
  const now = context.deps.now();
  const rows = await context.transaction((tx) => tx.entries('queue'));
  const waiting = rows.filter(([, row]) => row.endpoint === context.url && row.due > now);
  if (waiting.length) add('not-yet-due', null, waiting.length);
}
