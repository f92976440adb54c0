// SPDX-License-Identifier: Apache-2.0
// Makes a recipe of trials out of a recipe: the same mechanism, parameters and text rule, but sent at
// once, in small batches, and shown for small cohorts. The field `trial` keeps it on loopback.
// A pure function.

/**
 * @typedef {import('shoal-client/core').RecipeJson} RecipeJson
 * @typedef {'strings' | 'list' | 'mean' | 'buckets' | 'discovery'} Kind  what its result lists
 * @typedef {{id: string, json: RecipeJson, kind: Kind, changes: string[]}} Trial  id: of the recipe
 *   that it was made of; changes: in words, besides what every trial changes
 * @typedef {{id: string, why: string}} Refused
 */

const NAME_MAX = 64;
const SUFFIX = '-trial';
const PER_DAY = 1000;
const BATCH = 20;
const COHORT = 50;
const PROBE = 'shoal-probe';
const DISCOVERY = ['sfp', 'rappor-ngram'];
const PERMANENT = ['rappor', 'rappor-ngram'];

/** Why shoal-dev does not try a recipe, or null. @param {RecipeJson} json */
function whyNot(json) {
  if (json.recipe === PROBE) return 'it is the probe of shoal verify, and counts nothing';
  if (json.policy !== undefined) return 'it is a query, which reaches devices in rounds';
  if (json.split_by !== undefined) return 'it is split into parts';
  if (json.aggregation?.protocol === 'dap') return 'two servers add it up';
  if (Array.isArray(json.variables)) return 'it has several variables';
  if (json.parameters?.epochs !== undefined) return 'it is a run over epochs';
  if (json.mechanism === 'trie') return 'its words are found in rounds';
  return null;
}

/** @param {RecipeJson} json @returns {Kind} */
function kindOf({ mechanism, value, parameters }) {
  if (DISCOVERY.includes(mechanism)) return 'discovery';
  if (value === 'number') return parameters?.size === undefined ? 'mean' : 'buckets';
  return parameters?.values === undefined && parameters?.size === undefined ? 'strings' : 'list';
}

/**
 * @param {RecipeJson} json  a valid recipe
 * @returns {Trial | Refused}
 */
export function makeTrial(json) {
  const id = String(json.recipe);
  const why = whyNot(json);
  if (why !== null) return { id, why };
  const { signature: _signature, cohort: _cohort, release: _release, ...kept } = json;
  const { sample, pick, token, delay_s: _delay, window: _window, ...send } = json.send ?? {};
  const changes = [];
  if (sample !== undefined && sample < 1)
    changes.push(`every event is reported, not ${Number((100 * sample).toPrecision(3))} % of them`);
  if (pick === 'uniform') changes.push('each event is reported at once, not one of a window');
  if (token !== undefined) changes.push('reports spend no token');
  const limit = { ...json.limit };
  if (!PERMANENT.includes(json.mechanism) && limit.per_day < PER_DAY) {
    changes.push(`you may send ${PER_DAY} reports a day, not ${limit.per_day}`);
    limit.per_day = PER_DAY;
  }
  return {
    id,
    kind: kindOf(json),
    changes,
    json: {
      ...kept,
      recipe: `${id.slice(0, NAME_MAX - SUFFIX.length)}${SUFFIX}`,
      trial: 1,
      limit,
      send: { ...send, fresh: 'allow', delay_s: 0 },
      batch: { minimum: BATCH, max_age_s: 1 },
      cohort: { minimum: COHORT },
      block: { minimum: COHORT, tick_s: 1 },
    },
  };
}
