// SPDX-License-Identifier: Apache-2.0
// What is read of a record, against the core that made it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'shoal-client/node';
import { readVectors } from '../../wasm/test/vectors.mjs';
import { fitsOf, litIn, pathsOf, readRecord } from '../src/record.js';
import { recipe } from './ui_site.mjs';

/** Seeds that differ, the same on every run. @param {number} i */
const seed = (i) =>
  Uint8Array.from({ length: 32 }, (_, at) => (at < 4 ? (i >> (8 * at)) & 255 : 7 + at));

test('at epsilon 16 a cms record shows the one square of its word, and hcms grids agree with it', async () => {
  const core = await load();
  const parameters = { epsilon: 16, k: 8, m: 64 };
  const cellsOf = (/** @type {import('../src/record.js').View} */ { cells }) =>
    cells ?? assert.fail('no cells');
  const [cms, hcms] = ['cms', 'hcms'].map((mechanism) =>
    core.recipe({ ...recipe(), mechanism, parameters, value: 'word', stream: 's' }),
  );
  const rowOf = (/** @type {any} */ { records }) => Number(records[0].split(',')[0]);
  /** The square of each row, as the only one that is always lit. @type {Map<number, Uint8Array>} */
  const squares = new Map();
  for (let i = 0; i < 200; i++) {
    const report = /** @type {any} */ (cms.report(cms.randomize('fish', seed(i))));
    const [row, cells] = [rowOf(report), cellsOf(readRecord(report))];
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
    const report = /** @type {any} */ (hcms.report(hcms.randomize('fish', seed(i))));
    const view = readRecord(report);
    const [row, column, positive] = report.records[0].split(',').map(Number);
    const square = squares.get(row)?.indexOf(1) ?? -1;
    agree += cellsOf(view)[square];
    columns.add(column);
    const lit = cellsOf(view).reduce((sum, bit) => sum + bit, 0);
    assert.equal(lit, column === 0 ? 64 * positive : 32);
  }
  assert.equal(agree, 400); // flipped with a chance of 1e-7
  assert.ok(columns.size > 50);
});

test('every shape of a record is told apart, and what fits it is counted', async () => {
  const core = await load();
  const list = { value: 'item', seed: undefined, hash: undefined };
  const affine = { value: 'item', hash: 'affine1' };
  const size = { size: 40 };
  const bloom = { p: 0.25, q: 0.75, f: 0.5, epsilon: undefined };
  /** Mechanism, more of the recipe, parameters, value, form, and how many of how many fit at most. @type {[string, any, any, any, string, number | null, number?][]} */
  const cases = [
    ['cms', affine, { k: 64, m: 64, ...size }, 7, 'bits', 40],
    ['hcms', affine, { k: 64, m: 64, ...size }, 7, 'sign', 40],
    ['onehot-asymmetric', list, size, 7, 'list', 40],
    ['onehot-symmetric', list, size, 7, 'list', 40],
    ['grr', list, size, 7, 'set', 40, 1],
    ['subset', list, { epsilon: 1, size: 40 }, 7, 'set', 40, 12],
    ['hadamard', list, size, 7, 'sign', null],
    ['olh', affine, { k: 64, g: 32, ...size }, 7, 'cell', 40, 1.25],
    [
      'loloha',
      { ...list, seed: '7b'.repeat(32) },
      { epsilon_permanent: 2, g: 8, ...size },
      7,
      'cell',
      40,
      5,
    ],
    ['rappor', { ...list, seed: '7b'.repeat(32) }, { size: 40, ...bloom }, 7, 'bloom', 40],
    ['rappor', {}, { bits: 64, hashes: 2, cohorts: 8, ...bloom }, 'fish', 'bloom', 75_000],
    ['one-bit-mean', { ...list, value: 'number' }, { low: 0, high: 10 }, 10, 'bit', null],
    ['piecewise', { ...list, value: 'number' }, { low: 0, high: 10 }, 10, 'place', 257, 1],
    ['square-wave', { ...list, value: 'number' }, { low: 0, high: 10 }, 10, 'place', 257, 1],
    ['grr', { ...list, value: 'number' }, { low: 0, high: 10, size: 5 }, 10, 'set', 5, 1],
  ];
  for (const [mechanism, more, parameters, value, form, all, most = all] of cases) {
    const json = { ...recipe(), mechanism, ...more, parameters: { epsilon: 16, ...parameters } };
    const made = core.recipe(JSON.parse(JSON.stringify(json)));
    for (let i = 0; i < 20; i++) {
      const report = /** @type {any} */ (made.report(made.randomize(value, seed(i), seed(1000))));
      const view = readRecord(report, made.json);
      assert.equal(view.form, form, mechanism);
      const fits = fitsOf(view, report, 75_000);
      assert.equal(fits?.all ?? null, all, mechanism);
      assert.ok(!fits || (fits.fit >= 0 && fits.fit <= Number(most)), `${mechanism}: ${fits?.fit}`);
      if (mechanism === 'piecewise' && form === 'place') assert.equal(view.cells?.[256], 1); // the upper end
      if (mechanism === 'grr') assert.deepEqual(view.members, [value === 10 ? 4 : 7]);
      if (view.cells)
        assert.equal(pathsOf(view.cells).lit.match(/M/g)?.length ?? 0, litIn(view.cells));
      if (form === 'set' && view.members)
        assert.deepEqual(
          [...(view.cells ?? [])].flatMap((bit, at) => (bit ? [at] : [])),
          view.members,
        );
    }
    core.release(made);
  }
  // A mean by three digits: 256 places and a window of 199, then the bits.
  const mean = (/** @type {string} */ text) =>
    readRecord({ key: 'x', parameters: { epsilon: 0.5, low: 0, high: 10 }, records: [text] });
  assert.equal(mean('454').cells?.[454], 1);
  // Positions whose window of 199 holds the place: only the last, only the first, and 199 of them.
  for (const [text, fit] of /** @type {[string, number][]} */ ([
    ['454', 1],
    ['000', 1],
    ['001', 2],
    ['220', 199],
  ]))
    assert.deepEqual(
      fitsOf(mean(text), { key: 'x', parameters: { epsilon: 0.5 }, records: [text] }, 75_000),
      { all: 257, fit },
    );
  assert.deepEqual(mean('455'), { form: 'bit', cells: Uint8Array.of(0) });
  assert.deepEqual(mean('456'), { form: 'bit', cells: Uint8Array.of(1) });
  // A square wave at epsilon 1 has a window of 131 steps: 387 places.
  const wave = (/** @type {string} */ text) =>
    readRecord(
      { key: 'x', parameters: { epsilon: 1, low: 0, high: 10 }, records: [text] },
      { mechanism: 'square-wave' },
    );
  assert.equal(wave('386').cells?.length, 387);
  assert.deepEqual(
    fitsOf(wave('200'), { key: 'x', parameters: { epsilon: 1 }, records: ['200'] }, 75_000),
    { all: 257, fit: 131 },
  );
  // A mechanism that came later is a text.
  for (const [parameters, text] of /** @type {[any, string][]} */ ([
    [{ epsilon: 2, length: 5 }, '3;07,1;55'],
    [{ epsilon: 2, size: 9 }, 'x'],
    [{ epsilon: 2, k: 4, m: 8 }, '1,ff;0,00'],
    [{ length: 1 }, '0'],
  ]))
    assert.equal(readRecord({ key: 'x', parameters, records: [text] }).form, 'text');
  // A row with its sign and a set of two look alike in a list of less than ten.
  const pair = { key: 'x', parameters: { epsilon: 0.5, size: 3 }, records: ['0,1'] };
  assert.deepEqual(readRecord(pair, { mechanism: 'subset' }).members, [0, 1]);
  assert.equal(readRecord(pair, { mechanism: 'hadamard' }).form, 'sign');
});

test('every record of the vectors is read, and none to a figure that is none', async () => {
  for (const { name, recipe, record } of await readVectors()) {
    const { values, ...numbers } = recipe.parameters ?? { epsilon: 4 }; // of several variables, that of all
    const parameters = { ...numbers, ...(values && { size: values.length }) };
    const report = { key: 'x', parameters, records: [record] };
    const view = readRecord(report, recipe);
    assert.ok(view.cells === null || view.cells.length > 0, name);
    for (const part of view.parts ?? [{ view, report }]) {
      const fits = fitsOf(part.view, part.report, 75_000);
      assert.ok(
        !fits || (Number.isFinite(fits.fit) && fits.all > 0),
        `${name} ${JSON.stringify(fits)}`,
      );
    }
    if (recipe.variables)
      assert.deepEqual(
        view.parts?.map((part) => part.view.form === 'text'),
        recipe.variables.map(() => false),
        name,
      );
  }
});
