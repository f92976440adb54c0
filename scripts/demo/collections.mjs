// SPDX-License-Identifier: Apache-2.0
// The collections of the demo: their recipes, the frequency of each value, and what was really
// sent.
import { randomBytes } from 'node:crypto';
import { load } from 'shoal-client/node';
import { drawer, siteCounts, wordCounts } from './data.mjs';

const SIMULATED = 500_000; // devices of each collection
const NEW_SIMULATED = 1_000_000; // devices of the second act
export const NEW_BYTES = 10; // the most bytes of a word in the second act
const DAY_MS = 86_400_000;

/**
 * Adapts a recipe to the demo: fresh storage may report, reports have no delay, and a person may
 * send thousands of reports a day.
 * @param {any} own
 */
const recipe = (own) => ({
  analysis: 'demo',
  parameters: { epsilon: 4, k: 2048, m: 1024 },
  hash: 'poly1',
  seed: randomBytes(32).toString('hex'),
  limit: { per_day: 10_000 },
  send: { sample: 1, delay_s: 0, fresh: 'allow' },
  batch: { minimum: 10, max_age_s: 2 },
  cohort: { minimum: 1000 },
  expires: new Date(Date.now() + 30 * DAY_MS).toISOString().slice(0, 10),
  ...own,
});

/**
 * Makes the collection of the second act. Two of three words are known, and the recipe takes any
 * string, so that the other words can be discovered.
 */
function secondAct() {
  const counts = wordCounts();
  return {
    title: 'Words that no list holds',
    how: 'Two of three words were known before. Each is two bytes of a word and the whole word, as two answers of a few bits (SFP over local hashing).',
    json: recipe({
      recipe: 'demo-new-words',
      stream: 'typed-words',
      value: 'word',
      mechanism: 'sfp',
      parameters: {
        epsilon: 2.5,
        epsilon_fragment: 5.5,
        k: 65_536,
        m: 16,
        k_fragment: 4096,
        m_fragment: 256,
        length: NEW_BYTES,
        oracle: 'olh',
      },
    }),
    counts,
    known: counts.filter((_, i) => i % 3 !== 1),
  };
}

export async function collections() {
  const core = await load();
  const list = [
    {
      title: 'Words that people type',
      how: 'Each is 1,024 bits, 12 % of them flipped by chance (CMS).',
      json: recipe({
        recipe: 'demo-words',
        stream: 'typed-words',
        value: 'word',
        mechanism: 'cms',
      }),
      counts: wordCounts(),
      known: null,
    },
    {
      title: 'Sites that people visit',
      how: 'Each is one bit of a scrambled picture: cheaper, so the intervals are wider (HCMS).',
      json: recipe({
        recipe: 'demo-sites',
        stream: 'visited-sites',
        value: 'site',
        mechanism: 'hcms',
      }),
      counts: await siteCounts(),
      known: null,
    },
    secondAct(),
  ];
  return list.map((entry) => ({
    ...entry,
    simulated: entry.known ? NEW_SIMULATED : SIMULATED,
    id: entry.json.recipe,
    hash: core.recipe(entry.json).hash,
    draw: drawer(entry.counts),
    file: `${entry.json.recipe}.json`,
    dictionary: `${entry.json.recipe}.tsv`,
    /** What really happened, by value. @type {Map<string, number>} */
    truth: new Map(),
    accepted: 0,
  }));
}

/** @typedef {Awaited<ReturnType<typeof collections>>[number]} Collection */

/**
 * Remembers events whose reports were accepted.
 * @param {Collection} collection
 * @param {string[]} values
 */
export function remember(collection, values) {
  for (const value of values) collection.truth.set(value, (collection.truth.get(value) ?? 0) + 1);
  collection.accepted += values.length;
}

/** @param {number} n @param {() => string} draw */
export const drawn = (n, draw) => Array.from({ length: n }, draw);
