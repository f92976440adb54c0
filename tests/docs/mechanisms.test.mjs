// SPDX-License-Identifier: Apache-2.0
// Every mechanism of core/mechanism/mechanisms.def has its page, its row in the page of all, and its place in the formats; and the errors that the
// page prints follow from the formulas beside them.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codes, read, root, tableBelow } from './markdown.mjs';

const rows = [
  ...read('core/mechanism/mechanisms.def').matchAll(
    /^SHOAL_MECHANISM\((\d+), (\w+), "([a-z0-9-]+)"\)$/gm,
  ),
].map(([, id, stem, name]) => ({ id: Number(id), stem, name }));
const compounds = [
  ...read('core/compound/compounds.def').matchAll(
    /^SHOAL_COMPOUND\((\d+), (\w+), "([a-z0-9-]+)"\)$/gm,
  ),
].map(([, id, stem, name]) => ({ id: Number(id), stem, name }));
const overview = read('docs/mechanisms/README.md');

test('the registry has one id, stem and name for each, in order', () => {
  const both = [...rows, ...compounds];
  assert.ok(rows.length >= 4 && compounds.length >= 3);
  for (const field of /** @type {const} */ (['id', 'stem', 'name']))
    assert.equal(new Set(both.map((row) => row[field])).size, both.length, field);
  assert.deepEqual(
    rows.map(({ id }) => id),
    rows.map(({ id }) => id).sort((a, b) => a - b),
  );
  for (const { stem, name } of both) assert.equal(stem, name.replaceAll('-', '_'));
});

test('every mechanism has its page', () => {
  for (const { stem, name } of [...rows, ...compounds]) {
    const path = `docs/mechanisms/${name}.md`;
    assert.ok(existsSync(join(root, path)), path);
    const page = read(path);
    assert.match(page, new RegExp(`^# \`${name}\``), `${path} begins with its name`);
    assert.ok(
      page.includes(name === 'joint' ? '"variables": [' : `"mechanism": "${name}"`),
      `${path} shows a recipe`,
    );
    const room = compounds.some((compound) => compound.stem === stem) ? 'compound' : 'mechanism';
    assert.ok(page.includes(`../../core/${room}/${stem}.h`), `${path} leads to the code`);
  }
});

test('every mechanism is in the tables of all', () => {
  const names = rows.map(({ name }) => name).sort();
  const listed = tableBelow(overview, 'Mechanisms');
  assert.deepEqual(listed.map(([cell]) => codes(cell)[0]).sort(), names);
  for (const [cell] of listed)
    assert.match(cell, new RegExp(`^\\[\`([a-z0-9-]+)\`\\]\\(${codes(cell)[0]}\\.md\\)$`));
  assert.deepEqual(
    tableBelow(overview, 'Errors of a rare value')
      .map(([cell]) => codes(cell)[0])
      .sort(),
    names,
  );
  const made = compounds.map(({ name }) => name).sort();
  const parts = tableBelow(overview, 'Mechanisms made of others');
  assert.deepEqual(parts.map(([cell]) => codes(cell)[0]).sort(), made);
  for (const [cell] of parts)
    assert.match(cell, new RegExp(`^\\[\`([a-z0-9-]+)\`\\]\\(${codes(cell)[0]}\\.md\\)$`));
  assert.deepEqual(
    tableBelow(read('docs/formats.md'), 'Record')
      .map(([cell]) => codes(cell))
      .flat()
      .sort(),
    [...names, ...made].sort(),
  );
});

test('standard errors of a rare value, by the formulas', () => {
  const m = 1024;
  const s = 1001;
  /** @type {{[mechanism: string]: (epsilon: number) => number}} */
  const variances = {
    cms(epsilon) {
      const h = Math.exp(epsilon / 2);
      return (m / (m - 1)) ** 2 * (h / (h - 1) ** 2 + (1 / m) * (1 - 1 / m));
    },
    hcms: (epsilon) => (m / (m - 1)) ** 2 * (Math.tanh(epsilon / 2) ** -2 - 1 / m ** 2),
    'onehot-asymmetric': (epsilon) => Math.sinh(epsilon / 2) ** -2,
    'onehot-symmetric': (epsilon) => Math.sinh(epsilon / 4) ** -2 / 4,
    grr: (epsilon) => (Math.exp(epsilon) + s - 2) / Math.expm1(epsilon) ** 2,
    subset(epsilon) {
      const E = Math.exp(epsilon);
      const d = Math.ceil(s / (E + 1));
      const p = (d * E) / (d * E + s - d);
      const q = (d - p) / (s - 1);
      return (q * (1 - q)) / (p - q) ** 2;
    },
    hadamard(epsilon) {
      const E = Math.exp(epsilon);
      const cost = (/** @type {number} */ blocks) => (E - 1) ** 2 / blocks + 4 * blocks;
      const B = Array.from({ length: 11 }, (_, i) => 2 ** i).reduce((best, blocks) =>
        cost(blocks) < cost(best) ? blocks : best,
      );
      return ((E + 2 * B - 1) / (E - 1) ** 2) * (2 + (E - 1) / B);
    },
    olh(epsilon) {
      const E = Math.exp(epsilon);
      const g = 2 ** Math.max(1, Math.round(Math.log2(E + 1)));
      return ((1 / g) * (1 - 1 / g)) / (E / (E + g - 1) - 1 / g) ** 2;
    },
    'one-bit-mean': (epsilon) => Math.tanh(epsilon / 2) ** -2 / 4,
    // The middle of the grid by sums over all places, as docs/mechanisms/piecewise.md states the law.
    piecewise(epsilon) {
      const [E, G] = [Math.exp(epsilon), 256];
      const W = Math.max(1, Math.round(G * Math.exp(-epsilon / 2)));
      const P = 1 - Math.exp(-epsilon / 2);
      const b = 1 / ((W / G) * E + 1);
      const slope = 1 - b - (b * W) / G;
      const places = Array.from({ length: G + W }, (_, y) => y);
      const chance = (/** @type {number} */ y) =>
        y >= G / 2 && y < G / 2 + W ? (1 - b) / W : b / G;
      const centre = places.reduce((sum, y) => sum + y * chance(y), 0);
      const square = places.reduce((sum, y) => sum + chance(y) * (y - centre) ** 2, 0);
      return (P * square) / (slope * G) ** 2 + ((1 - P) * Math.tanh(epsilon / 2) ** -2) / 4;
    },
    // An end of the grid, as docs/mechanisms/square-wave.md states the law.
    'square-wave'(epsilon) {
      const [E, G] = [Math.exp(epsilon), 256];
      const width = (epsilon * E - E + 1) / (E * (E - 1 - epsilon));
      const W = Math.max(1, Math.round(G * width));
      const b = 1 / ((W / G) * E + 1);
      const slope = 1 - b - (b * W) / G;
      const places = Array.from({ length: G + W }, (_, y) => y);
      const chance = (/** @type {number} */ y) => (y < W ? (1 - b) / W : b / G);
      const centre = places.reduce((sum, y) => sum + y * chance(y), 0);
      const square = places.reduce((sum, y) => sum + chance(y) * (y - centre) ** 2, 0);
      return square / (slope * G) ** 2;
    },
  };
  const table = tableBelow(overview, 'In numbers');
  assert.deepEqual(table.map(([cell]) => codes(cell)[0]).sort(), Object.keys(variances).sort());
  for (const [cell, ...errors] of table) {
    const expected = [0.5, 1, 2, 4, 8].map((epsilon) =>
      Number(Math.sqrt(variances[codes(cell)[0]](epsilon)).toPrecision(3)),
    );
    assert.deepEqual(errors.map(Number), expected, cell);
  }
});
