// SPDX-License-Identifier: Apache-2.0
// What the tests of rounds share: a server whose collections are rounds of three analyses, words that nobody listed, phrases and a number,
// each with the round that is asked next, and one analysis whose texts are hostile.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { trieRound } from '../cli/found_helpers.mjs';
import { day, good, importDays } from './dashboard_site.mjs';
import { configure, get, listRecipe, makeFolder, serve } from './serve_helpers.mjs';

export const TOKENS = {
  alice: 'token-of-alice-0123456789',
  bob: 'token-of-bob-0123456789xx',
  carol: 'token-of-carol-0123456789',
};

/** Words and how many of 22 devices type each. */
const WORDS = 'abba\t9\nabc\t6\ncab\t4\nba\t3\n';
const EVENTS = [
  ['{"phrase":"i went home","age":24}', 50],
  ['{"phrase":"i went to bed","age":16}', 20],
  ['{"phrase":"you got a letter","age":33}', 30],
]
  .map((row) => `${row.join('\t')}\n`)
  .join('');
export const NASTY = '<img/src=x/onerror="document.title=\'pwned\'">';

const query = (/** @type {string} */ id, /** @type {object} */ more) => ({
  recipe: id,
  analysis: id,
  stream: 'typed-phrases',
  value: 'fields',
  mechanism: 'subset',
  parameters: { epsilon: 4 },
  limit: { per_day: 1 },
  batch: { minimum: 1 },
  cohort: { minimum: 1000 },
  round: { index: 1 },
  block: { tick_s: 1 },
  expires: '2099-01-31',
  ...more,
});

/** First rounds, what devices have, and the options of `shoal round next`. @type {Record<string, {recipe: any, counts: string, devices: number, rounds: number, next: string[]}>} */
export const ANALYSES = {
  words: {
    recipe: trieRound({ cohort: { minimum: 1000 }, block: { tick_s: 1 } }),
    counts: WORDS,
    devices: 6000,
    rounds: 3,
    next: ['--step', '1', '--sample', '0.3'],
  },
  phrases: {
    recipe: query('phrases-1', {
      encoding: [
        { field: 'age', boundaries: [20, 30, 40] },
        {
          field: 'phrase',
          prefixes: [''],
          tokens: ['a', 'got', 'home', 'i', 'to', 'went', 'you'],
        },
      ],
    }),
    counts: EVENTS,
    devices: 20_000,
    rounds: 2,
    next: [],
  },
  ages: {
    recipe: query('ages-1', { encoding: [{ field: 'age', boundaries: [0, 20, 40, 60, 80, 100] }] }),
    counts: EVENTS,
    devices: 20_000,
    rounds: 2,
    next: ['--refine', '10'],
  },
  secret: {
    recipe: query('secret-1', {
      encoding: [
        { field: 'phrase', prefixes: [''], tokens: ['got', 'home', 'i', 'went', 'you', NASTY] },
      ],
      release: { threshold: 4000 },
    }),
    counts: `{"phrase":"i went"}\t50\n{"phrase":"you got"}\t15\n{"phrase":"${NASTY.replaceAll('"', '\\"')} home"}\t35\n`,
    devices: 20_000,
    rounds: 2,
    next: [],
  },
};

/**
 * Imports the rounds of the analyses and starts a server over them.
 * @param {import('node:test').TestContext} t @param {string[]} names of ANALYSES
 * @param {{changes?: object, extra?: object[]}} [more] of the configuration; recipes without blocks
 */
export async function roundsSite(t, names, { changes = {}, extra = [] } = {}) {
  const folder = makeFolder(t);
  const at = (/** @type {string} */ file) => join(folder, file);
  for (const [name, token] of Object.entries(TOKENS)) writeFileSync(at(name), `${token}\n`);
  /** @type {any[]} */
  const recipes = [];
  /** @type {Record<string, {file: string, acc: string}[]>} */
  const rounds = {};
  for (const name of names) {
    const one = ANALYSES[name];
    rounds[name] = [];
    recipes.push(one.recipe);
    for (let i = 0; i < one.rounds; i++) {
      const r = recipes.length - 1;
      const file = at(`recipe-${r}.json`);
      writeFileSync(file, JSON.stringify(recipes[r]));
      const days = [{ from: i - 9, devices: one.devices, counts: one.counts }];
      const [acc] = importDays(folder, r, days);
      rounds[name].push({ file, acc });
      const next = at(`recipe-${r + 1}.json`);
      good('round', 'next', '--recipe', file, ...one.next, '-o', next, acc);
      recipes.push(JSON.parse(readFileSync(next, 'utf8')));
    }
  }
  const only = (/** @type {string} */ id) => (names.includes('words') ? [id, 'theme'] : ['theme']);
  const [second, third] = [only('words-2'), only('words-3')];
  const config = configure(folder, [...recipes, listRecipe('theme'), ...extra], {
    readers: [
      { name: 'alice', token_file: 'alice', collections: 'all' },
      { name: 'bob', token_file: 'bob', collections: second },
      { name: 'carol', token_file: 'carol', collections: third },
    ],
    audit_log: 'log',
    ...changes,
  });
  const server = await serve(t, config);
  const ask = (/** @type {string} */ path, /** @type {keyof typeof TOKENS} */ who = 'alice') =>
    get(server.url + path, { authorization: `Bearer ${TOKENS[who]}` });
  return { folder, server, url: server.url, ask, rounds, recipes, config };
}

export { day };
