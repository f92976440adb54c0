// SPDX-License-Identifier: Apache-2.0
// The table of docs/selection.md and docs/coverage.svg are those of the enumeration, and intervals of small counts keep their promise.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { enumerate, picture, program, table } from './count_coverage.mjs';

const read = (/** @type {string} */ name) =>
  readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const skip = !existsSync(program) && `${program} is not built`;
/** Cells of a Markdown table, without what aligns them. @param {string} text */
const cells = (text) => text.replace(/ *\| */g, '|').replace(/-{3,}/g, '---');

test('no interval covers less than 94.5 %, and small counts have 95 %', { skip }, () => {
  const lines = enumerate();
  assert.ok(lines.length > 1000);
  for (const { n, hits, p, f, ours } of lines) {
    const name = `n ${n}, n q ${hits}, p ${p}, f ${f}: ${ours}`;
    assert.ok(ours >= 0.945, name);
    // Where no support has a variance above the limit, all intervals are exact.
    if (hits <= 10 && f <= 20) assert.ok(ours >= 0.94999, name);
  }
  assert.ok(Math.min(...lines.map((line) => line.normal)) < 0.8);
  assert.ok(
    cells(read('docs/selection.md')).includes(cells(table(lines))),
    'node tests/bench/count_coverage.mjs',
  );
  assert.equal(read('docs/coverage.svg'), picture(lines), 'node tests/bench/count_coverage.mjs');
});
