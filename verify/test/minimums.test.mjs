// SPDX-License-Identifier: Apache-2.0
// Whether minimums are reached, told from the traffic that the edge has seen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMinimumsSeen, parse } from '../edge_checks.js';
import { Report } from '../report.js';

const NOW = Date.parse('2026-05-10T12:00:00Z');
const recipe = (more = {}) => ({
  ...{ recipe: 'words', expires: '2026-05-20' },
  ...{ batch: { minimum: 500, max_age_s: 86400 }, cohort: { minimum: 1000 } },
  ...more,
});

/**
 * What is found where so many reports came in so many hours.
 * @param {object} json
 * @param {number} open  reports of the open batch
 * @param {number} hours
 * @param {number} [all]
 */
function found(json, open, hours, all = open) {
  const report = new Report();
  const lines = {
    open_reports: open,
    open_due_timestamp_seconds: open > 0 ? NOW / 1000 + (24 - hours) * 3600 : 0,
    accepted_reports_total: all,
  };
  const text = Object.entries(lines).map(
    ([name, n]) => `shoal_edge_${name}{recipe="words"} ${n}\n`,
  );
  checkMinimumsSeen(/** @type {any} */ ({ report }), [json], parse(text.join('')), NOW);
  return report.results.map(({ state, code, what }) => ({ code: code ?? state, what }));
}

test('the rate of the open batch decides', () => {
  const codes = (/** @type {Parameters<typeof found>} */ ...args) =>
    found(...args).map(({ code }) => code);
  assert.deepEqual(codes(recipe(), 100, 6), ['right']); // 400 a day, ten days and a half
  assert.deepEqual(codes(recipe(), 2, 6), ['minimum-batch']);
  assert.deepEqual(codes(recipe(), 18, 6), ['minimum-cohort']); // 774, enough for a batch
  assert.deepEqual(codes(recipe(), 18, 6, 5000), ['right'], 'what came before counts');
  const few = recipe({ batch: { minimum: 1, max_age_s: 86400 }, cohort: { minimum: 5 } });
  assert.deepEqual(codes(few, 2, 6), ['right']);
  assert.match(
    found(recipe(), 2, 6)[0].what,
    /words needs 500, and has 2: at the rate of the last 6 hours 84 more come until it ends/,
  );
});

test('nothing is said of an empty batch, of the first hour and of the probe', () => {
  assert.deepEqual(found(recipe(), 0, 6), []);
  assert.deepEqual(found(recipe(), 3, 0.5), []);
  assert.deepEqual(found(recipe({ recipe: 'shoal-probe' }), 3, 6), []);
});
