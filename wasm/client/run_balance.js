// SPDX-License-Identifier: Apache-2.0
// Tells the person what each run of the page has spent on this device.
import { readStored } from './basics.js';
import { RUN_REASONS, joinedOf, keptOf, load } from './run_state.js';

/**
 * @typedef {import('../bindings/run_core.js').Use} Use
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./run_state.js').Followed} Followed
 * @typedef {import('./run_state.js').Joined} Joined
 * @typedef {import('./run_state.js').Kept} Kept
 *
 * @typedef {object} RunBalance what this person gave to a run, of what it may cost
 * @property {string} run
 * @property {string} analysis
 * @property {boolean} optedIn
 * @property {boolean} paid was the whole run's epsilon debited?
 * @property {number} epoch last answered
 * @property {number} epochs
 * @property {Use} votes
 * @property {Use} estimates
 * @property {Use} epsilon
 * @property {string} text a sentence
 */

/** @param {Use} use */
const spelled = ({ used, allowed }) => `${used} of ${allowed}`;

/** @param {Context} context @returns {Promise<RunBalance[]>} */
export async function balances(context) {
  const { runs } = await load(context);
  const list = await context.exclusive(async (tx) => {
    const joined = await joinedOf(tx);
    const all = [];
    for (const followed of runs.values())
      all.push(balance(followed, await keptOf(tx, followed), joined[followed.run.hash]));
    return all;
  });
  return list ?? [];
}

/**
 * @param {Followed} followed
 * @param {Kept | undefined} kept
 * @param {Joined | undefined} joined
 * @returns {RunBalance}
 */
function balance({ recipe, run }, kept, joined) {
  const spent = readStored(() => run.spent(kept?.state ?? run.start()));
  const isPaid = joined !== undefined && !joined.isOut;
  const { epoch, epochs, votes, estimates, epsilon } = spent;
  const cost = `epsilon ${epsilon.allowed} for the whole run${isPaid ? ', paid once' : ''}`;
  const said = `${spelled(votes)} votes and ${spelled(estimates)} estimates are spent, epsilon ${spelled(epsilon)}`;
  const texts = {
    out: `The run's random sample left this device out: it answers no epoch.`,
    none: `Nothing was answered yet; it will cost ${cost}.`,
    left: `This device takes no part any more, and nothing is left of what it said; ${cost}.`,
    on: `Epoch ${epoch} of ${epochs} is answered; ${said}; ${cost}.`,
  };
  const text = texts[joined?.isOut ? 'out' : kept?.state ? 'on' : isPaid ? 'left' : 'none'];
  return {
    run: recipe.id,
    analysis: recipe.json.analysis,
    optedIn: kept !== undefined,
    paid: isPaid,
    ...spent,
    text: `"${recipe.id}": ${text}`,
  };
}

/**
 * Adds the state of each run of the page to what explain() lists.
 * @param {Context} context
 * @param {(code: string, recipe: string, count: number, text: string) => void} add
 */
export async function explain(context, add) {
  for (const { run, optedIn, paid, votes, estimates, epoch, text } of await balances(context)) {
    const isSpent = votes.used === votes.allowed || estimates.used === estimates.allowed;
    const code = !optedIn
      ? 'not-opted-in'
      : paid && epoch === 0
        ? 'run-left'
        : isSpent
          ? 'run-spent'
          : 'run-on';
    add(code, run, 0, optedIn && code !== 'run-left' ? text : RUN_REASONS[code]);
  }
}
