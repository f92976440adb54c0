// SPDX-License-Identifier: Apache-2.0
// Runs a small example of associations on real data: every accepted report is in the sums, and the
// association is found.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { associations, isCovered } from './associations.mjs';
import { POPULARITY, serviceLoads } from './data.mjs';

test('real loads are of every popularity, and the most popular ones are few kinds', () => {
  const loads = serviceLoads();
  assert.deepEqual(new Set(loads.map(({ popularity }) => popularity)), new Set(POPULARITY));
  const kinds = (/** @type {string} */ of) =>
    loads.filter(({ popularity }) => popularity === of).length;
  assert.ok(kinds('top 10') >= 5 && kinds('top 10') < kinds('others'));
  assert.ok(loads.every(({ count }, i) => count > 0 && (i === 0 || loads[i - 1].count >= count)));
});

test('from two variables on a page to what hangs together', async () => {
  const { accepted, result, svg, table, truth, gone } = await associations(20_000);
  assert.ok(accepted >= 20_100);
  assert.equal(result.n, accepted, 'no report lost, none twice');
  const covered = result.cells.filter((/** @type {any} */ cell) => isCovered(cell, truth)).length;
  // The intervals of 95 % of some 39 cells hold the truth. The chance of 30 or fewer is below 1e-5.
  assert.ok(covered > result.cells.length - 9, `${covered} of ${result.cells.length}`);
  assert.ok(result.wald.p_value < 1e-12 && result.wald.df > 10);
  assert.match(table, /category and popularity: not independent/);
  assert.match(svg, /services: category by popularity/);
  assert.match(gone, /the records of \d+ reports were removed/);
});
