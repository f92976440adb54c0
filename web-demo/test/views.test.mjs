// SPDX-License-Identifier: Apache-2.0
// The page's pure parts: what is drawn of a record against the core that made it, escaping, the histogram's scale.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'shoal-client/node';
import { histogram, readable, rowsOf } from '../page/histogram.js';
import { epsilonInWords, grid, readRecord, sayings } from '../page/record_view.js';
import { h, toMarkup } from '../page/tree.js';
import { contentSecurityPolicy } from '../serve.mjs';
import { RECIPES, RESULTS } from './demo_site.mjs';

/** Seeds that differ, the same on every run. @param {number} i */
const seed = (i) => Uint8Array.from({ length: 32 }, (_, at) => (at < 4 ? (i >> (8 * at)) & 255 : 7 + at));

test('at epsilon 16 a cms record shows the one square of its word, and hcms grids agree with it', async () => {
  const core = await load();
  const parameters = { epsilon: 16, k: 8, m: 64 };
  const [cms, hcms] = ['cms', 'hcms'].map((mechanism) =>
    core.recipe({ ...RECIPES[0], mechanism, parameters, value: 'word', stream: 's' }));
  /** The square of each row, as the only one that is always lit. @type {Map<number, Uint8Array>} */
  const squares = new Map();
  for (let i = 0; i < 200; i++) {
    const { row, cells } = readRecord(cms.report(cms.randomize('fish', seed(i))));
    const both = squares.get(row);
    squares.set(row, both ? both.map((bit, at) => bit & cells[at]) : cells);
  }
  assert.equal(squares.size, 8);
  for (const cells of squares.values()) assert.equal(cells.reduce((sum, bit) => sum + bit, 0), 1);
  let [agree, columns] = [0, new Set()];
  for (let i = 0; i < 400; i++) {
    const view = readRecord(hcms.report(hcms.randomize('fish', seed(i))));
    const square = squares.get(view.row)?.indexOf(1) ?? -1;
    agree += view.cells[square];
    columns.add(view.column);
    const lit = view.cells.reduce((sum, bit) => sum + bit, 0);
    assert.equal(lit, view.column === 0 ? (view.sign > 0 ? 64 : 0) : 32);
  }
  assert.equal(agree, 400); // flipped with a chance of 1e-7
  assert.ok(columns.size > 50);
});

test('the sentences state the recipe and the record', async () => {
  const core = await load();
  const recipe = core.recipe(RECIPES[0]);
  const report = recipe.report(recipe.randomize('fish', seed(1)));
  const view = readRecord(report);
  const lit = view.cells.reduce((sum, bit) => sum + bit, 0);
  assert.ok(lit > 85 && lit < 165); // 122 expected, standard deviation 10
  const { sees, little } = sayings(view, report);
  assert.match(sees, new RegExp(`Row ${view.row} of 2,048.* ${lit} are lit.*chance of 12\u00A0%`));
  assert.doesNotMatch(sees + little, /fish/);
  assert.match(toMarkup(grid(view)), /aria-label="The record&#39;s 1,024 bits/);
  assert.match(epsilonInWords(4), /98\.2\u00A0%/);
  assert.match(epsilonInWords(1), /73\.1\u00A0%/);
});

test('markup escapes text and attributes', () => {
  assert.equal(toMarkup(h('b', { title: '"><i>' }, '<script>&\'"')),
    '<b title="&#34;&#62;&#60;i&#62;">&#60;script&#62;&#38;&#39;&#34;</b>');
});

test('values are shown as text that stays in its place', () => {
  assert.equal(readable('a\u202Eb\u0007c\u2028d\uD800'), 'a\uFFFDb\uFFFDc\uFFFDd\uFFFD');
  assert.equal([...readable('\u{1F41F}'.repeat(60))].length, 40);
  assert.equal(readable('été 魚'), 'été 魚');
});

test('what is not a result is refused', () => {
  const good = RESULTS['demo-words'];
  assert.equal(rowsOf(good).length, 20);
  for (const bad of [null, [], {}, { ...good, schema: 2 }, { ...good, rows: [{}] },
    { ...good, rows: [{ ...good.rows[0], count: 'x' }] }, { ...good, rows: [{ ...good.rows[0], low: null }] }]) {
    assert.throws(() => rowsOf(bad), /not a result/);
  }
});

test('a bar, its whisker and the truth share one scale; below zero is zero', () => {
  const row = { value: 'fish', count: 500, stderr: 100, low: -100, high: 1000, detected: true };
  const markup = toMarkup(histogram([row], { truth: new Map([['fish', 750]]) }));
  assert.match(markup, /class="fill"[^>]* width="50.00%"/);
  assert.match(markup, /class="whisker" x1="0.00%" x2="100.00%"/);
  assert.match(markup, /class="truth" cx="75.00%"/);
  assert.match(markup, /true 750/);
  assert.match(toMarkup(histogram([{ ...row, detected: false }])), /bar unsure.*cannot tell from zero/);
});

test('the policy allows the edge and WebAssembly, and nothing else', () => {
  assert.equal(contentSecurityPolicy('https://edge.example/base/'),
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self' " +
    "https://edge.example; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
});
