// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/recipes: every one is good, is in the page's table with the cost that `shoal recipe check` prints, and has a
// seed of its own; the presets hold the paper's parameters; the list of emoji is one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codes, read, root, tableBelow } from './markdown.mjs';

const shoal = process.env.SHOAL_BINARY ?? join(root, 'build/release/shoal');
const skip = !existsSync(shoal) && `${shoal} is not built`;
const names = readdirSync(join(root, 'docs/recipes'))
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -5))
  .sort();

/** @param {string} name @returns {any} */
const recipe = (name) => JSON.parse(read(`docs/recipes/${name}.json`));

/** Bytes of an accumulator's cells, in words. @param {any} r */
function memory(r) {
  if (r.variables) return 'its records';
  const { epsilon, k = 1, m, values } = r.parameters;
  const E = Math.exp(epsilon);
  /** @type {{[name: string]: number}} docs/mechanisms/piecewise.md and square-wave.md */
  const answers = {
    piecewise: 258 + Math.round(256 * E ** -0.5),
    'square-wave': 256 + Math.round((256 * (epsilon - 1 + 1 / E)) / (E - 1 - epsilon)),
  };
  const bytes = 4 * k * (m ?? answers[r.mechanism] ?? values.length);
  if (bytes < 1024) return 'under 1 KiB';
  return bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KiB` : `${bytes / 2 ** 20} MiB`;
}

test('every recipe checks, and costs what the table says', { skip }, () => {
  const rows = tableBelow(read('docs/recipes/README.md'), 'Recipes to start from');
  assert.deepEqual(rows.map(([name]) => codes(name)[0]).sort(), names);
  for (const [cell, , mechanism, each, day, batch, json, accumulator] of rows) {
    const name = codes(cell)[0];
    const text = execFileSync(shoal, ['recipe', 'check', join(root, `docs/recipes/${name}.json`)], {
      encoding: 'utf8',
    });
    assert.match(text, new RegExp(`^mechanism {11}${mechanism.replaceAll('`', '')}$`, 'm'), name);
    assert.match(text, new RegExp(`^epsilon per report {2}${each} `, 'm'), name);
    assert.match(text, new RegExp(`^epsilon per day {5}${day} `, 'm'), name);
    assert.match(
      text,
      new RegExp(`^record {14}${batch} bytes? in a batch, ${json} in a JSON report$`, 'm'),
      name,
    );
    assert.equal(accumulator, memory(recipe(name)), name);
  }
});

test('the recipe set holds recipes of this folder, and keeps its budget', { skip }, () => {
  const file = 'docs/recipes/site/site.json';
  assert.deepEqual(JSON.parse(read(file)).recipes, [recipe('search-words'), recipe('choices')]);
  const text = execFileSync(shoal, ['recipe', 'check', join(root, file)], { encoding: 'utf8' });
  assert.match(text, /^budget {14}epsilon 28 in any 7 days$/m);
  assert.match(text, /^within /m);
});

test('no two recipes share an id or a seed', () => {
  for (const field of ['recipe', 'seed']) {
    const all = names.map((name) => recipe(name)[field]).filter((value) => value !== undefined);
    assert.ok(all.length > 5);
    assert.equal(new Set(all).size, all.length, field);
  }
});

test("the presets have the paper's parameters", () => {
  /** apple-2017, section 6 (new words: the sketch of the whole word). @type {{[name: string]: [string, number, number, number]}} */
  const paper = {
    'new-words': ['cms', 1024, 2048, 2],
    emoji: ['cms', 1024, 65536, 4],
    autoplay: ['cms', 1024, 65536, 8],
    energy: ['hcms', 32768, 1024, 4],
    health: ['cms', 256, 65536, 2],
  };
  for (const [name, expected] of Object.entries(paper)) {
    const { mechanism, parameters } = recipe(name);
    assert.deepEqual([mechanism, parameters.m, parameters.k, parameters.epsilon], expected, name);
  }
  assert.equal(recipe('emoji').parameters.values.length, 2600);
});

test('emoji are emoji, each once, and the text rule keeps them', () => {
  const { values } = recipe('emoji').parameters;
  const pattern = new RegExp('^\\p{RGI_Emoji}$', 'v');
  assert.deepEqual(
    values.filter((/** @type {string} */ value) => !pattern.test(value)),
    [],
  );
  assert.equal(new Set(values).size, 2600);
  assert.deepEqual(
    values.filter((/** @type {string} */ value) => value.normalize('NFC').toLowerCase() !== value),
    [],
  );
});
