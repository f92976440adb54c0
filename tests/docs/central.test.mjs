// SPDX-License-Identifier: Apache-2.0
// The table and the picture of docs/central.md are what scripts/draw-central.mjs makes: the picture of all rows of the table, and
// a row of the table as the planner computes it today. The command is $SHOAL_BIN or build/release/shoal.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { draw, rowOf, rowsOf } from '../../scripts/draw-central.mjs';
import { read, root } from './markdown.mjs';

const rows = rowsOf(read('docs/central.md'));

test('the picture is that of the table', () => {
  assert.equal(rows.length, 13);
  assert.equal(read('docs/central.svg'), draw(rows));
});

test('a row is what the planner says', (t) => {
  if (!existsSync(process.env.SHOAL_BIN ?? join(root, 'build/release/shoal')))
    return t.skip('SKIPPED: build/release/shoal is not there');
  const all = process.env.SHOAL_LONG !== undefined;
  for (const row of rows.filter(({ n }) => all || n === 31623)) assert.deepEqual(rowOf(row.n), row);
});
