// SPDX-License-Identifier: Apache-2.0
// What the tests of the server's pages share: a store in which every state of a collection occurs, a server over it with a reader
// and an administrator, and axe.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cmsRecipe, configure, get, listRecipe, makeFolder, run, serve } from './serve_helpers.mjs';

export const PICTURES = fileURLToPath(new URL('../../../build/screenshots/', import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const TOKENS = { alice: 'token-of-alice-0123456789', admin: 'token-of-admin-0123456789' };
/** @typedef {keyof typeof TOKENS} Person */

/** Text that would break a page which trusts it: markup, marks of direction, no place to break. */
export const HOSTILE = [
  '<img src=x onerror="document.title=\'pwned\'">',
  '\u202Eexe.gnp\u2066\u200F',
  'x'.repeat(256),
];

const value = (/** @type {string} */ text) => `/recipes/words?value=${encodeURIComponent(text)}`;

/** Every page in every state, by the name of its picture. @type {Record<string, [Person, string]>} */
export const STATES = {
  collections: ['alice', '/'],
  collection: ['alice', '/recipes/words'],
  list: ['alice', '/recipes/theme'],
  sorted: ['alice', '/recipes/words?sort=value&order=desc&find=e'],
  'collections-none': ['alice', '/?find=nothing'],
  waiting: ['alice', '/recipes/waiting'],
  periods: ['alice', '/recipes/words?view=periods'],
  'periods-one': ['alice', '/recipes/theme?view=periods'],
  value: ['alice', value('eel')],
  'value-none': ['alice', value('nobody-typed-this')],
  'value-hostile': ['alice', value(HOSTILE[0])],
  'value-long': ['alice', value(HOSTILE[2])],
  'value-refused': ['alice', '/recipes/theme?value=blue'],
  books: ['alice', '/books'],
  'books-words': ['alice', '/books/recipes/words'],
  'books-waiting': ['alice', '/books/recipes/waiting'],
  log: ['admin', '/books/log'],
  'books-sorted': ['alice', '/books/recipes/words?sort=reports&order=desc'],
  'log-empty': ['alice', '/books/log?day=2020-01-01'],
  operations: ['admin', '/operations'],
};

/** A UTC day. @param {number} from days from today */
export const day = (from) => new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10);

/** @param {...string} args */
export function good(...args) {
  const done = run(...args);
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

/**
 * Imports days into a store as closed blocks.
 * @param {string} folder @param {number} r number of the recipe
 * @param {{from: number, devices: number, counts: string}[]} days the oldest one first
 * @param {number} [done] how many of the days an earlier call imported
 */
export function importDays(folder, r, days, done = 0) {
  const at = (/** @type {string} */ file) => join(folder, file);
  const recipe = ['--recipe', at(`recipe-${r}.json`)];
  /** @type {string[]} */
  const earlier = [];
  const accumulators = [];
  for (const [i, { from, devices, counts }] of days.entries()) {
    const name = `${r}-${i}`;
    const man = ['--manifest', at(`${name}.man`)];
    accumulators.push(at(`${name}.acc`));
    if (i < done) {
      earlier.push('--after', man[1]);
      continue;
    }
    writeFileSync(at('counts.tsv'), counts);
    const crowd = ['--counts', at('counts.tsv'), '--devices', `${devices}`, '--seed', name];
    good('simulate', ...recipe, ...crowd, '-o', at(`${name}.b`));
    good('manifest', 'make', ...recipe, '-o', man[1], ...earlier, at(`${name}.b`));
    good('ingest', ...recipe, ...man, '-o', at(`${name}.acc`), at(`${name}.b`));
    const into = ['--store', at('store'), '--period', day(from)];
    good('store', 'import', ...into, ...recipe, at(`${name}.acc`));
    earlier.push('--after', man[1]);
  }
  return accumulators;
}

const FISH = ['cod', 'eel', 'herring', 'pike', 'salmon', 'trout', 'tench', 'perch'];

/** Thirty days of words, of which "eel" rises and the others stay. */
const words = Array.from({ length: 12 }, (_, i) => ({
  from: i - 13,
  devices: 4000 + 100 * ((i * 7) % 5),
  counts: FISH.map((fish, j) => `${fish}\t${fish === 'eel' ? 3 + 2 * i : 40 - 5 * j}\n`).join(''),
}));

/**
 * A server with words of many days, a list of hostile values, a collection that waits and one that never began.
 * @param {import('node:test').TestContext} t
 * @param {{changes?: object, hostile?: boolean}} [more] of the configuration
 */
export async function dashboard(t, { changes = {}, hostile = true } = {}) {
  const folder = makeFolder(t);
  const at = (/** @type {string} */ file) => join(folder, file);
  for (const [name, token] of Object.entries(TOKENS)) writeFileSync(at(name), `${token}\n`);
  writeFileSync(at('words.txt'), [...FISH, ...(hostile ? HOSTILE : [])].join('\n'));
  const list = listRecipe('theme');
  const values = ['light', 'dark', ...(hostile ? HOSTILE : ['auto', 'sepia', 'high contrast'])];
  const config = configure(
    folder,
    [cmsRecipe('words'), { ...list, parameters: { epsilon: 2, values } }, listRecipe('waiting')],
    {
      readers: [{ name: 'alice', token_file: 'alice', collections: 'all' }],
      admin_token_file: 'admin',
      dictionaries: { words: 'words.txt' },
      audit_log: 'log',
      edges: ['https://edge.example.org'],
      honest: 0.9,
      ...changes,
    },
  );
  const accumulators = importDays(folder, 0, words);
  const shown = values.map((value, i) => `${value}\t${7 - i}\n`).join('');
  importDays(folder, 1, [{ from: -3, devices: 3000, counts: shown }]);
  const { url } = await serve(t, config);
  const ask = (/** @type {string} */ path, /** @type {Person} */ who = 'alice') =>
    get(url + path, { authorization: `Bearer ${TOKENS[who]}` });
  return { folder, url, ask, accumulators, config };
}

/** Signs a browser's page in. @param {import('playwright-core').Page} page @param {string} url @param {Person} who */
export async function signIn(page, url, who) {
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('Token').fill(TOKENS[who]);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((now) => now.pathname !== '/sign-in');
}

/** What axe finds in a page. @param {import('playwright-core').Page} page */
export const violations = (page) =>
  page.evaluate(async (source) => {
    (0, eval)(source); // the test's own world: the page's policy allows none
    const { axe } = /** @type {any} */ (window);
    const found = await axe.run(document);
    return found.violations.flatMap((/** @type {any} */ each) =>
      each.nodes.map((/** @type {any} */ node) => `${each.id}: ${node.target} ${node.html}`),
    );
  }, AXE);

/** Elements that are wider than the window, or none. @param {import('playwright-core').Page} page */
export const tooWide = (page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return [...document.querySelectorAll('body *')]
      .filter((one) => one.getBoundingClientRect().right > clientWidth + 0.5)
      .map((one) => one.outerHTML.slice(0, 120));
  });

/** How much of a page moved by itself since it was loaded. @param {import('playwright-core').Page} page */
export const shifted = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += /** @type {any} */ (entry).value;
        }).observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => resolve(sum), 100);
      }),
  );

/** @param {import('playwright-core').Page} page @param {string} name */
export async function keep(page, name) {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}
