// SPDX-License-Identifier: Apache-2.0
// Draws labelled records from the module that pages run, for `shoal audit --draws`: lines of item,
// tab, record text. A fresh device makes each record.
//
//     node scripts/draw-records.mjs --recipe FILE --item A --item B [--trials N] [--seed TEXT]
//         [--module FILE]
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Core } from '../wasm/bindings/core.js';
import { loadModule } from '../wasm/bindings/node.js';

/** @typedef {import('../wasm/bindings/core.js').Recipe} Recipe */

const HELP = `Usage: node scripts/draw-records.mjs --recipe FILE --item A --item B [OPTION]...

Prints records of the shipped WebAssembly module, one a line: item, tab, text.

  --recipe FILE   the recipe (JSON)
  --item A        as the recipe spells a value; empty: none of the list. Twice or more
  --trials N      records of each item, default 100000
  --seed TEXT     the same text gives the same records; default: fresh randomness
  --module FILE   the module, default wasm/dist/shoal-all.wasm
`;

const CHUNK = 1 << 16; // characters written at once

/** @param {string} message @returns {never} */
function refuse(message) {
  process.stderr.write(`draw-records: ${message}\nTry: --help\n`);
  process.exit(2);
}

/**
 * Converts an item of the command line to the value that a page would hand to the client.
 * @param {Recipe} recipe @param {string} item @returns {string | number | null}
 */
function valueOf(recipe, item) {
  if (recipe.isOpen) return item;
  if (recipe.valueKind === 'number') {
    if (item === '' || !Number.isFinite(Number(item))) refuse('an item must be a number');
    return Number(item);
  }
  if (item === '') return null;
  const value = recipe.values ? item : Number(item);
  if (recipe.index(value) < 0) refuse("an item is not one of the recipe's");
  return value;
}

/**
 * Makes 64 bytes for record i of an item: the seed of its coins, and its device's secret.
 * @param {string | undefined} seed @param {string} item @param {number} i @returns {Uint8Array}
 */
function coins(seed, item, i) {
  if (seed === undefined) return randomBytes(64);
  return createHash('sha512')
    .update(JSON.stringify([seed, item, i]))
    .digest();
}

/**
 * @param {Recipe} recipe
 * @param {string[]} items
 * @param {number} trials
 * @param {string | undefined} seed
 */
function* lines(recipe, items, trials, seed) {
  const values = items.map((item) => valueOf(recipe, item));
  for (let i = 0; i < trials; i++) {
    for (const [at, item] of items.entries()) {
      const bytes = coins(seed, item, i);
      yield `${item}\t${recipe.randomize(values[at], bytes.subarray(0, 32), bytes.subarray(32))}\n`;
    }
  }
}

/** Writes, and waits where the reader is slower. @param {Iterable<string>} texts */
async function write(texts) {
  let chunk = '';
  const flush = () =>
    new Promise((resolve) => {
      process.stdout.write(chunk, resolve);
    });
  for (const text of texts) {
    chunk += text;
    if (chunk.length < CHUNK) continue;
    await flush();
    chunk = '';
  }
  await flush();
}

const { values: given } = parseArgs({
  options: {
    recipe: { type: 'string' },
    item: { type: 'string', multiple: true },
    trials: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    module: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (given.help) {
  process.stdout.write(HELP);
} else {
  const trials = Number(given.trials);
  if (given.recipe === undefined || !given.item) refuse('--recipe and --item are needed');
  if (!Number.isSafeInteger(trials) || trials < 1) refuse('--trials must be a whole number from 1');
  const module =
    given.module === undefined
      ? await loadModule()
      : await WebAssembly.compile(readFileSync(given.module));
  const core = await Core.create(module);
  await write(
    lines(core.recipe(readFileSync(given.recipe, 'utf8')), given.item, trials, given.seed),
  );
}
