// SPDX-License-Identifier: Apache-2.0
// What needs no browser: the languages, the law of the sandbox, sizes, and what a record is read as.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { load } from 'shoal-client/node';
import { REASONS } from '../../wasm/client/reasons.js';
import { CELLS, cellOf, flipOf, otherThan, recordOf } from '../src/chance.js';
import en from '../src/lang/en.js';
import { fitsOf, litIn, pathsOf, readRecord } from '../src/record.js';
import { recipe } from './ui_site.mjs';

const folder = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const CODES = readdirSync(folder('../src/lang')).map((file) => file.replace('.js', ''));
/** Bytes after gzip of all that is no language: the entry, and the three elements with their styles. */
const ALL_MAX = 10_240;
/** Bytes after gzip of the one language that a page loads; English is the smallest. */
const LANGUAGE_MAX = 3_072;
const ENGLISH_MAX = 2_048;

/** @param {string} text */
const names = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

test('every language has every string, and each fills in what English does', async () => {
  assert.deepEqual(CODES.toSorted(), ['ar', 'de', 'en', 'es', 'fr', 'tr']);
  for (const code of CODES) {
    const { default: strings } = await import(`../src/lang/${code}.js`);
    assert.deepEqual(Object.keys(strings).sort(), Object.keys(en).sort(), code);
    for (const [key, text] of Object.entries(en)) {
      assert.deepEqual(names(strings[key]), names(text), `${code}: ${key}`);
      assert.match(strings[key], /\S/, `${code}: ${key}`);
      assert.doesNotMatch(strings[key], /[<>\u202a-\u202e\u2066-\u2069]/, `${code}: ${key}`);
    }
    assert.equal(strings.dir, code === 'ar' ? 'rtl' : 'ltr');
  }
});

test('reasons in other languages are codes of explain(), the same in each', async () => {
  const { reasons: first } = await import('../src/lang/de.js');
  for (const code of Object.keys(first)) assert.ok(REASONS[code], `${code} is no code`);
  assert.ok(Object.keys(first).length >= 19);
  for (const code of CODES.filter((each) => each !== 'en')) {
    const { reasons } = await import(`../src/lang/${code}.js`);
    assert.deepEqual(Object.keys(reasons).sort(), Object.keys(first).sort(), code);
  }
});

test('all elements together, and each language, are as small as promised', () => {
  const size = (/** @type {string} */ file) => gzipSync(readFileSync(file), { level: 9 }).length;
  const dist = folder('../dist/');
  const files = readdirSync(dist).filter((name) => name.endsWith('.js'));
  assert.deepEqual(files.sort(), ['elements.js', 'shoal-ui.js']);
  const all = files.reduce((sum, name) => sum + size(dist + name), 0);
  assert.ok(all <= ALL_MAX, `${all} of ${ALL_MAX} bytes`);
  for (const code of CODES)
    assert.ok(
      size(`${dist}lang/${code}.js`) <= (code === 'en' ? ENGLISH_MAX : LANGUAGE_MAX),
      `${code} is too large`,
    );
});

test('the law of the sandbox: any record of any two words differs by e^epsilon at most', () => {
  for (const epsilon of [0.5, 1, 2, 4, 8]) {
    const flip = flipOf(epsilon);
    const own = (/** @type {number} */ bit) => (bit ? 1 - flip : flip);
    const other = (/** @type {number} */ bit) => (bit ? flip : 1 - flip);
    let most = 0;
    // All other cells have the same law for both words.
    for (const [a, b] of [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ])
      most = Math.max(most, (own(a) * other(b)) / (other(a) * own(b)));
    assert.ok(Math.abs(most - Math.exp(epsilon)) < 1e-9 * most, `${most} at ${epsilon}`);
  }
});

test('records of the sandbox follow that law', () => {
  let state = 12345;
  const uniform = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const n = 4000;
  const lit = new Array(CELLS).fill(0);
  for (let i = 0; i < n; i++) recordOf(9, 2, uniform).forEach((bit, cell) => (lit[cell] += bit));
  // 5 standard deviations of a count of n coins
  lit.forEach((count, cell) => {
    const p = cell === 9 ? 1 - flipOf(2) : flipOf(2);
    assert.ok(Math.abs(count - n * p) < 5 * Math.sqrt(n * p * (1 - p)), `cell ${cell}: ${count}`);
  });
  const others = new Set(Array.from({ length: 3000 }, () => otherThan(9, uniform)));
  assert.equal(others.size, CELLS - 1);
  assert.ok(!others.has(9));
  assert.equal(cellOf('Sea'), cellOf('sea'));
  assert.ok(new Set(['sea', 'fish', 'net', 'boat', 'wave', 'sand'].map(cellOf)).size >= 4);
});

test('a record of the core: what fits it is counted, not known', async () => {
  const core = await load();
  const seed = (/** @type {number} */ i) => new Uint8Array(32).fill(i);
  const made = core.recipe(recipe({}));
  const report = /** @type {any} */ (made.report(made.randomize('fish', seed(1))));
  const view = readRecord(report);
  const cells = /** @type {Uint8Array} */ (view.cells);
  const lit = litIn(cells);
  assert.ok(lit > 85 && lit < 165, `${lit}`); // 122 expected, standard deviation 10
  assert.deepEqual(fitsOf(view, report, 75_000), { all: 75_000, fit: (75_000 * lit) / 1024 });
  const { lit: path, dark, box } = pathsOf(cells);
  assert.equal(path.match(/M/g)?.length, lit);
  assert.equal(dark.match(/M/g)?.length, 1024 - lit);
  assert.deepEqual(box, [-1, -1, 129, 129]);

  const {
    hash: _,
    seed: __,
    ...list
  } = recipe({
    mechanism: 'onehot-symmetric',
    value: 'item',
    parameters: { epsilon: 2, values: ['a', 'b', 'c', 'd', 'e'] },
  });
  const chosen = core.recipe(list);
  const one = /** @type {any} */ (chosen.report(chosen.randomize('c', seed(2))));
  const fits = fitsOf(readRecord(one, list), one, 75_000);
  assert.equal(fits?.all, 5);
  assert.equal(fits?.fit, litIn(/** @type {Uint8Array} */ (readRecord(one, list).cells)));
});

test('a record that nobody can read is text, and fits nothing', () => {
  for (const text of ['', '<b>', 'zz,', '1,2,3,4', '9'.repeat(256)]) {
    const report = { key: 'x', parameters: {}, records: [text] };
    assert.equal(fitsOf(readRecord(report), report, 100), null, text);
  }
  const report = { key: 'x', parameters: { size: 2 ** 24 }, records: ['0,1'] };
  assert.equal(readRecord(report, { mechanism: 'subset' }).cells, null, 'too many to draw');
  const long = { key: 'x', parameters: { size: 2 ** 17 }, records: ['00'.repeat(2 ** 14)] };
  assert.equal(readRecord(long).form, 'list');
  assert.equal(fitsOf(readRecord(long), long, 100), null, 'what is not drawn is not counted');
  const wide = { key: 'x', parameters: { g: 2 ** 17 }, records: ['7,5'] };
  assert.deepEqual(fitsOf(readRecord(wide), wide, 2 ** 18), { all: 2 ** 18, fit: 2 });
});
