// SPDX-License-Identifier: Apache-2.0
// The page's pure parts: what is drawn of a record against the core that made it, escaping, the histogram's scale.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'shoal-client/node';
import { histogram, readable, rowsOf } from '../page/histogram.js';
import { epsilonInWords, grid, readRecord, sayings } from '../page/record_view.js';
import { h, toMarkup } from '../page/tree.js';
import { contentSecurityPolicy } from '../serve.mjs';
import { readVectors } from '../../wasm/test/vectors.mjs';
import { RECIPES, RESULTS } from './demo_site.mjs';

/** Seeds that differ, the same on every run. @param {number} i */
const seed = (i) =>
  Uint8Array.from({ length: 32 }, (_, at) => (at < 4 ? (i >> (8 * at)) & 255 : 7 + at));

test('at epsilon 16 a cms record shows the one square of its word, and hcms grids agree with it', async () => {
  const core = await load();
  const parameters = { epsilon: 16, k: 8, m: 64 };
  const cellsOf = (/** @type {import('../page/record_view.js').View} */ { cells }) =>
    cells ?? assert.fail('no cells');
  const [cms, hcms] = ['cms', 'hcms'].map((mechanism) =>
    core.recipe({ ...RECIPES[0], mechanism, parameters, value: 'word', stream: 's' }),
  );
  /** The square of each row, as the only one that is always lit. @type {Map<number, Uint8Array>} */
  const squares = new Map();
  for (let i = 0; i < 200; i++) {
    const view = readRecord(cms.report(cms.randomize('fish', seed(i))));
    const [row, cells] = [view.row, cellsOf(view)];
    const both = squares.get(row);
    squares.set(row, both ? both.map((bit, at) => bit & cells[at]) : cells);
  }
  assert.equal(squares.size, 8);
  for (const cells of squares.values())
    assert.equal(
      cells.reduce((sum, bit) => sum + bit, 0),
      1,
    );
  let [agree, columns] = [0, new Set()];
  for (let i = 0; i < 400; i++) {
    const view = readRecord(hcms.report(hcms.randomize('fish', seed(i))));
    const square = squares.get(view.row)?.indexOf(1) ?? -1;
    agree += cellsOf(view)[square];
    columns.add(view.column);
    const lit = cellsOf(view).reduce((sum, bit) => sum + bit, 0);
    assert.equal(lit, view.column === 0 ? (view.sign === 1 ? 64 : 0) : 32);
  }
  assert.equal(agree, 400); // flipped with a chance of 1e-7
  assert.ok(columns.size > 50);
});

test('the sentences state the recipe and the record', async () => {
  const core = await load();
  const recipe = core.recipe(RECIPES[0]);
  const report = recipe.report(recipe.randomize('fish', seed(1)));
  const view = readRecord(report);
  const lit = view.cells?.reduce((sum, bit) => sum + bit, 0) ?? 0;
  assert.ok(lit > 85 && lit < 165); // 122 expected, standard deviation 10
  const { sees, little } = sayings(view, report);
  assert.match(sees, new RegExp(`Row ${view.row} of 2,048.* ${lit} are lit.*chance of 12\u00A0%`));
  assert.doesNotMatch(sees + little, /fish/);
  assert.match(toMarkup(grid(view)), /aria-label="The record&#39;s 1,024 bits/);
  assert.match(epsilonInWords(4), /98\.2\u00A0%/);
  assert.match(epsilonInWords(1), /73\.1\u00A0%/);
});

test('every shape of a record is told apart, drawn and put into words', async () => {
  const core = await load();
  const list = { value: 'item', seed: undefined, hash: undefined };
  const affine = { value: 'item', hash: 'affine1' };
  const size = { size: 40 };
  const cases = /** @type {[string, any, any, any, string, RegExp][]} */ ([
    [
      'cms',
      affine,
      { k: 64, m: 64, ...size },
      7,
      'bits',
      /Row \d+ of 64.*your choice.*flipped with a chance of 0.034/,
    ],
    ['hcms', affine, { k: 64, m: 64, ...size }, 7, 'sign', /Row \d+ of 64 and column \d+ of 64/],
    ['onehot-asymmetric', list, size, 7, 'list', /One bit for each of the 40 entries/],
    ['onehot-symmetric', list, size, 7, 'list', /One bit for each of the 40 entries/],
    [
      'grr',
      list,
      size,
      7,
      'set',
      /^One entry of the list of 40, or "none of them". It is your choice with a chance of 100/,
    ],
    [
      'subset',
      list,
      { epsilon: 1, size: 40 },
      7,
      'set',
      /^A set of 12 of the 40 entries.* among them with a chance of 5\d/,
    ],
    ['hadamard', list, size, 7, 'sign', /one sign: (plus|minus)/],
    [
      'olh',
      affine,
      { k: 64, g: 32, ...size },
      7,
      'cell',
      /Row \d+ of 64, drawn at random, and one of its 32 cells/,
    ],
    [
      'rappor',
      { ...list, seed: '7b'.repeat(32) },
      { size: 40, p: 0.25, q: 0.75, f: 0.5, epsilon: undefined },
      7,
      'bloom',
      /^These 40 bits.*chance of 63\u00A0%, every other with 38\u00A0%/,
    ],
    [
      'rappor',
      {},
      { bits: 64, hashes: 2, cohorts: 8, p: 0.25, q: 0.75, f: 0.5, epsilon: undefined },
      'fish',
      'bloom',
      /^Group \d of 8.*these 64 bits/,
    ],
    [
      'one-bit-mean',
      { ...list, value: 'number' },
      { low: 0, high: 10 },
      10,
      'bit',
      /One bit: lit\. The nearer your number is to 10/,
    ],
    [
      'grr',
      { ...list, value: 'number' },
      { low: 0, high: 10, size: 5 },
      10,
      'set',
      /It is your number/,
    ],
  ]);
  for (const [mechanism, more, parameters, value, form, words] of cases) {
    const json = {
      ...RECIPES[0],
      value: 'word',
      mechanism,
      ...more,
      parameters: { epsilon: 16, ...parameters },
    };
    const recipe = core.recipe(JSON.parse(JSON.stringify(json)));
    for (let i = 0; i < 20; i++) {
      const report = recipe.report(recipe.randomize(value, seed(i), seed(1000)));
      const view = readRecord(report, recipe.json);
      const { sees, little } = sayings(view, report, recipe.json);
      assert.equal(view.form, form, mechanism);
      assert.match(sees, words);
      assert.doesNotMatch(sees + little, /NaN|undefined|Infinity|null/);
      assert.match(
        toMarkup(grid(view)),
        view.cells ? /<svg class="grid \w+".* lit|dark/ : /^<div class="nothing">/,
      );
      if (mechanism === 'grr') assert.deepEqual(view.members, [value === 10 ? 4 : 7]);
      if (form === 'set' && view.members)
        assert.deepEqual(
          [...(view.cells ?? [])].flatMap((bit, at) => (bit ? [at] : [])),
          view.members,
        );
    }
    core.release(recipe);
  }
  // A mechanism that came later is put into words that hold for all.
  for (const [parameters, text] of /** @type {[any, string][]} */ ([
    [{ epsilon: 2, length: 5 }, '3;07,1;55'],
    [{ epsilon: 2, size: 9 }, 'x'],
    [{ epsilon: 2, k: 4, m: 8 }, '1,ff;0,00'],
    [{ length: 1 }, '0'],
  ])) {
    const report = { key: 'x', recipe_hash: '', parameters, records: [text] };
    const view = readRecord(report);
    assert.equal(view.form, 'text');
    const { sees, little } = sayings(view, report);
    assert.doesNotMatch(sees + little, /NaN|undefined|Infinity|null/);
    assert.match(
      little,
      parameters.epsilon ? /7.4 times less likely\.$/ : /could have come out\.$/,
    );
    assert.equal(toMarkup(grid(view)), '<div class="nothing"></div>');
  }
  // A row with its sign and a set of two look alike in a list of less than ten.
  const pair = {
    key: 'x',
    recipe_hash: '',
    parameters: { epsilon: 0.5, size: 3 },
    records: ['0,1'],
  };
  assert.deepEqual(readRecord(pair, { mechanism: 'subset' }).members, [0, 1]);
  assert.equal(readRecord(pair, { mechanism: 'hadamard' }).sign, 1);
});

test('no record of the vectors is put into words that say nothing', async () => {
  for (const { name, recipe, record } of await readVectors()) {
    const { values, ...numbers } = recipe.parameters ?? { epsilon: 4 }; // of several variables, that of all
    const parameters = { ...numbers, ...(values && { size: values.length }) };
    const report = { key: 'x', recipe_hash: '', parameters, records: [record] };
    const view = readRecord(report, recipe);
    const { sees, little } = sayings(view, report, recipe);
    assert.doesNotMatch(sees + little, /NaN|undefined|Infinity|null/, name);
    assert.ok(view.cells === null || view.cells.length > 0, name);
    if (recipe.variables) {
      assert.deepEqual(
        view.parts?.map((part) => part.view.form === 'text'),
        recipe.variables.map(() => false),
        name,
      );
      assert.match(sees, new RegExp(`^${recipe.variables.length} answers in one record\\. `));
      assert.match(toMarkup(grid(view)), /^<div class="parts"><svg/);
    }
  }
});

test('markup escapes text and attributes', () => {
  assert.equal(
    toMarkup(h('b', { title: '"><i>' }, '<script>&\'"')),
    '<b title="&#34;&#62;&#60;i&#62;">&#60;script&#62;&#38;&#39;&#34;</b>',
  );
});

test('values are shown as text that stays in its place', () => {
  assert.equal(readable('a\u202Eb\u0007c\u2028d\uD800'), 'a\uFFFDb\uFFFDc\uFFFDd\uFFFD');
  assert.equal([...readable('\u{1F41F}'.repeat(60))].length, 40);
  assert.equal(readable('été 魚'), 'été 魚');
  for (const emoji of [
    '🏳️‍🌈',
    '👩🏽‍🚀',
    '👨‍👩‍👧‍👦',
    '🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}',
    '🇫🇷',
    '5️⃣',
  ])
    assert.equal(readable(emoji), emoji);
  assert.equal(
    readable('a\u200Db\u{E0067}🏴a\u{E0067}🌈\u200D'),
    'a\uFFFDb\uFFFD🏴a\uFFFD🌈\uFFFD',
  );
});

test('what is not a result is refused', () => {
  const good = RESULTS['demo-words'];
  assert.equal(rowsOf(good).length, 20);
  for (const bad of [
    null,
    [],
    {},
    { ...good, schema: 2 },
    { ...good, rows: [{}] },
    { ...good, rows: [{ ...good.rows[0], count: 'x' }] },
    { ...good, rows: [{ ...good.rows[0], low: null }] },
  ]) {
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
  assert.match(
    toMarkup(histogram([{ ...row, detected: false }])),
    /bar unsure.*cannot tell from zero/,
  );
});

test('the policy allows the edge and WebAssembly, and nothing else', () => {
  assert.equal(
    contentSecurityPolicy('https://edge.example/base/'),
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self' " +
      "https://edge.example; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
});
