// SPDX-License-Identifier: Apache-2.0
// Says in plain data what a page asks for beyond what a person agreed to, so that it can ask anew.
// This is a chunk of its own, loaded by consent.asks() where there is something to ask for.
import { agreedTo, holds } from './terms.js';

/**
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./terms.js').Extent} Extent
 * @typedef {import('./terms.js').Term} Term
 *
 * @typedef {object} Asked
 * @property {number} epsilon of one report
 * @property {number} epsilonPerDay of all reports of a day
 * @property {string[]} operators origins of who receives something
 * @property {string[]} protocol how the records are made and added up
 *
 * @typedef {Asked & {recipe: string, analysis: string, stream: string, value: string | null, variables: [string, string][], more: ('purpose' | 'epsilon' |
 *   'operators' | 'protocol')[], before: Asked | null}} Ask `more` says what is more; `before` is
 *   what was agreed to for the purpose, null for a new one
 */

/** @param {Extent} extent @returns {Asked} */
const asked = ({ epsilon, day, operators, ways }) => ({
  epsilon: epsilon / 1e6,
  epsilonPerDay: day / 1e6,
  operators,
  protocol: ways,
});

/**
 * @param {Context} context
 * @param {{ready: () => Promise<{recipes: Recipe[]} | null>}} pageRecipes
 * @param {(recipes: Recipe[]) => Promise<void>} bind holds them against what was agreed to
 * @returns {Promise<Ask[]>}
 */
export async function asks(context, pageRecipes, bind) {
  const ready = await pageRecipes.ready();
  if (!ready) return [];
  await bind(ready.recipes);
  const list = await context.exclusive((tx) =>
    Promise.all(context.more.map(async (term) => ask(term, await agreedTo(tx, term)))),
  );
  return list ?? [];
}

/** @param {Term} term @param {Extent | undefined} before @returns {Ask} */
function ask(term, before) {
  const [, analysis, stream, value = null, variables] = JSON.parse(term.key);
  /** Is the term covered once this part of it is taken from what was agreed to? */
  const isMore = (/** @type {(keyof Extent)[]} */ ...parts) => {
    const { others: _, ...rest } = /** @type {Extent} */ (before);
    return !holds(rest, {
      ...rest,
      ...Object.fromEntries(parts.map((part) => [part, term[part]])),
    });
  };
  /** @type {Ask['more']} */
  const more = before ? [] : ['purpose'];
  if (before && isMore('epsilon', 'day')) more.push('epsilon');
  if (before && isMore('operators')) more.push('operators');
  if (before && isMore('ways')) more.push('protocol');
  return {
    recipe: term.name,
    analysis,
    stream,
    value,
    variables,
    ...asked(term),
    more,
    before: before ? asked(before) : null,
  };
}
