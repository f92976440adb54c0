// SPDX-License-Identifier: Apache-2.0
// The arithmetic of docs/cost.md: reports a second and the price of a billion follow from the processor time of each part, and what a
// whole way costs is the sum of its parts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const text = readFileSync(new URL('../../docs/cost.md', import.meta.url), 'utf8');

/** Rows of the table below a heading, cells by column. @param {string} heading */
function tableOf(heading) {
  const lines = text.split(`\n## ${heading}\n`)[1].split('\n');
  const first = lines.findIndex((line) => line.startsWith('|'));
  const rows = [];
  for (let i = first; lines[i]?.startsWith('|'); i++)
    rows.push(
      lines[i]
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const [names, , ...body] = rows;
  return body.map((row) => Object.fromEntries(row.map((cell, i) => [names[i], cell])));
}

const number = (/** @type {string} */ cell) => Number(cell.replaceAll(',', ''));
const price = number(/costs\s(\d+\.\d+)\seuros an hour/.exec(text)?.[1] ?? '');
/** Is a printed number what it should be, to its own digits? @param {string} cell @param {number} ought */
function printed(cell, ought) {
  const decimals = cell.split('.')[1]?.length ?? 0;
  const zeros = decimals > 0 ? 0 : (/[1-9](0*)$/.exec(cell.replaceAll(',', ''))?.[1].length ?? 0);
  const unit = 10 ** (zeros - decimals);
  assert.ok(Math.abs(number(cell) - ought) <= unit / 2 + 1e-9, `${cell} for ${ought}`);
}
const parts = tableOf('Each part');

test('reports a second and euros follow from the time of each part', () => {
  assert.equal(price, 0.04);
  assert.ok(parts.length >= 5);
  for (const { part, us, 'reports a second': rate, 'euros a billion': euros } of parts) {
    assert.ok(number(us) > 0, part);
    printed(rate, 1e6 / number(us));
    printed(euros, (((number(us) * 1e9) / 1e6) * price) / 3600);
  }
});

test('a whole way is the sum of its parts', () => {
  const ways = tableOf('Whole ways');
  assert.ok(ways.length >= 3);
  for (const { way, parts: names, us, 'euros a billion': euros } of ways) {
    const own = names.split(', ').map((name) => {
      const found = parts.find(({ part }) => part === name);
      assert.ok(found, `${way}: no part ${name}`);
      return number(found.us);
    });
    const sum = own.reduce((a, b) => a + b, 0);
    printed(us, sum);
    printed(euros, (((sum * 1e9) / 1e6) * price) / 3600);
  }
});
