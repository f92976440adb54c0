// SPDX-License-Identifier: Apache-2.0
// What a page asks for, read from the options of its client without loading the client: the recipes,
// what they promise, who receives what, and the terms of consent. Also remembers which terms a
// person said no to.
import { extentOf, holds, purposeOf } from '../../wasm/client/terms.js';
import { epsilonsOf } from '../../wasm/client/verdict.js';
import { memory } from './base.js';
import { recipesOf } from './recipes.js';

/**
 * @typedef {import('../../wasm/client/terms.js').Extent} Extent
 * @typedef {{key: string, extent: Extent}} Wanted a purpose, and what is asked for it
 * @typedef {object} Collected one recipe as people are told of it
 * @property {any} json
 * @property {string[]} kinds what is taken from an event
 * @property {number} perDay reports at most
 * @property {{report: number, window: number, life: number}} epsilons in millionths
 * @property {string[]} operators
 * @property {Wanted} wanted
 * @typedef {{list: Collected[], relay: string | null, budget: {epsilon: number, days: number} | null,
 *   day: number}} Asked all of a page; `day`: epsilon of a day in millionths, all
 *   together
 */

const DAY_MS = 86_400_000;
const KEY = 'shoal-declined';
const KEPT = 200; // purposes

/** Epsilon of one report in millionths. @param {any} json @returns {number} */
function epsilonOf({ parameters = {}, variables }) {
  if (variables)
    return variables.reduce(
      (/** @type {number} */ sum, /** @type {any} */ each) => sum + epsilonOf(each),
      0,
    );
  return Math.round((parameters.epsilon + (parameters.epsilon_fragment ?? 0)) * 1e6);
}

/** Does a recipe, or a variable of it, take any string? @param {any} json @returns {boolean} */
const isOpen = ({ value, parameters = {}, variables }) =>
  variables
    ? variables.some(isOpen)
    : value !== 'number' && parameters.values === undefined && parameters.size === undefined;

/** @param {any} json @param {string} endpoint @param {any} [stated] @returns {Collected} */
function collected(json, endpoint, stated) {
  const epsilonMicro = stated ? Math.round(stated.report * 1e6) : epsilonOf(json);
  const limit = { perDay: json.limit.per_day };
  const expiresDay = Math.floor(Date.parse(json.expires) / DAY_MS);
  const recipe = { json, epsilonMicro, limit, expiresDay, isOpen: isOpen(json) };
  if (!(epsilonMicro > 0) || !(expiresDay > 0) || !(limit.perDay > 0))
    throw new Error(`${json.recipe}: no epsilon; state it in the option promises`);
  const epsilons = epsilonsOf(recipe, Math.floor(Date.now() / DAY_MS));
  const extent = extentOf(endpoint, recipe);
  return {
    json,
    kinds: (json.variables ?? [json]).map((/** @type {any} */ each) => each.value),
    perDay: json.parameters?.contributions ?? limit.perDay,
    epsilons,
    operators: extent.operators,
    wanted: { key: JSON.stringify(purposeOf(json)), extent },
  };
}

/**
 * Reads what a page asks for. Rejects if a recipe cannot be read or judged.
 * @param {any} options of start(), with `promises`: `{[recipe]: {report}}` for recipes whose epsilon
 *   does not stand in them
 * @returns {Promise<Asked>}
 */
export async function askedBy(options) {
  const { endpoint, relay, promises = {} } = options;
  const url = String(new URL(endpoint, document.baseURI));
  const { recipes, budget } = await recipesOf(options);
  const list = recipes.map((json) => collected(json, url, promises[json.recipe]));
  const day = list.reduce((sum, each) => sum + each.epsilons.window, 0);
  return { list, relay: relay ? new URL(relay).origin : null, budget, day };
}

/** What a client asks for beyond what was agreed to. @param {any} ask of consent.asks() */
export const wantedOf = (ask) => ({
  key: JSON.stringify([ask.analysis, ask.stream, ask.value, ask.variables]),
  extent: {
    epsilon: Math.round(ask.epsilon * 1e6),
    day: Math.round(ask.epsilonPerDay * 1e6),
    operators: ask.operators,
    ways: ask.protocol,
  },
});

/** What was said no to. @returns {Wanted[]} */
function declined() {
  try {
    return [...JSON.parse(memory(KEY) || '[]')];
  } catch {
    return []; // damaged
  }
}

/** Did the person say no to all of this, or to more? @param {Wanted[]} wanted */
export const isDeclined = (wanted) =>
  wanted.every(({ key, extent }) =>
    declined().some((each) => each?.key === key && holds(each.extent, extent)),
  );

/** Was there a no on this device? */
export const hasDeclined = () => !!declined()[0];

/**
 * Remembers a no with its terms, so that only more is asked for again. The terms are the page's; they
 * tell nothing of the person but the no.
 * @param {Wanted[]} wanted
 */
export const decline = (wanted) =>
  memory(
    KEY,
    JSON.stringify([...declined(), ...wanted.filter((each) => !isDeclined([each]))].slice(-KEPT)),
  );
