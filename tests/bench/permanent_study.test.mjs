// SPDX-License-Identifier: Apache-2.0
// docs/change-study.md: its tables are those of the kept figures, the kept measurements agree with their theory, and a small run of the study gives the same theory and measures it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  compareTable,
  errorTable,
  followRuns,
  program,
  readLines,
  runTable,
} from './permanent_study.mjs';

const read = (/** @type {string} */ name) =>
  readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const skip = !existsSync(program) && `${program} is not built`;
const kept = read('tests/bench/permanent_study.tsv');
/** Cells of a Markdown table, without what aligns them. @param {string} text */
const cells = (text) => text.replace(/ *\| */g, '|').replace(/-{3,}/g, '---');

test('the page has the tables of the kept figures', () => {
  const page = cells(read('docs/change-study.md'));
  const lines = readLines(kept);
  for (const table of [errorTable(lines), compareTable(lines), runTable(kept)])
    assert.ok(page.includes(cells(table)), 'node tests/bench/permanent_study.mjs --table');
});

test('measured errors are those of the theory, and no interval of compare covers too little', () => {
  const lines = readLines(kept);
  assert.equal(lines.length, 2 * 2 * 3 * 7);
  for (const line of lines) {
    const name = `${line.mechanism} ${line.g}, ${line.size}, ${line.epsilon}, ${line.moved}`;
    // 200 collections of `size` values: a root mean square has a relative sd of at most 1/sqrt(2 200 2), 3.5 %, as counts of three values are not independent.
    for (const i of [0, 1, 2])
      assert.ok(Math.abs(line.measured[i] / line.theory[i] - 1) < 4.5 * 0.036, `${name}: ${i}`);
    assert.ok(line.stated / line.theory[1] > 0.985, `${name}: stated`);
    // of 600 intervals and more, three values of a collection hardly independent: sd 0.0125
    assert.ok(line.covered > 0.95 - 4 * 0.0125, `${name}: ${line.covered}`);
  }
});

test('what the page says of them', () => {
  const lines = readLines(kept);
  for (const line of lines.filter((one) => one.mechanism === 'loloha' && one.g === 2)) {
    const beside = lines.filter(
      (one) => one.size === line.size && one.epsilon === line.epsilon && one.moved === line.moved,
    );
    const best = Math.min(...beside.map((one) => one.theory[0]));
    assert.equal(line.theory[0], best);
    const fresh = /** @type {typeof line} */ (beside.find((one) => one.mechanism === 'subset'));
    const strict = /** @type {typeof line} */ (
      beside.find((one) => one.mechanism === 'loloha-strict')
    );
    assert.ok(line.theory[0] < 0.5 * fresh.theory[0] && line.theory[1] < 0.5 * fresh.theory[1]);
    assert.ok(strict.theory[0] > fresh.theory[0]);
    assert.ok(Math.abs(strict.any - line.epsilon) < 1e-3 && line.any > 4 * fresh.any - 20);
  }
});

test('a small run has the same theory, and measures it', { skip }, () => {
  const done = spawnSync(program, ['4', 'small', '200'], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  const small = readLines(done.stdout);
  let all = 0;
  for (const [i, line] of readLines(kept).entries()) {
    assert.deepEqual(
      [small[i].mechanism, small[i].g, small[i].size, small[i].any],
      [line.mechanism, line.g, line.size, line.any],
    );
    // 10 times fewer devices: errors are sqrt(10) times as large, but for how many held a value.
    const ratio = small[i].theory[0] / line.theory[0] / Math.sqrt(10);
    assert.ok(Math.abs(ratio - 1) < 0.03, `${line.mechanism} ${line.g}: ${ratio}`);
    all += (small[i].measured[1] / small[i].theory[1]) ** 2;
  }
  // 84 means of 4 collections' squares over 3 or 12 values, two of three independent: sd 0.045
  assert.ok(Math.abs(all / small.length - 1) < 4 * 0.045, `${all / small.length}`);
});

test('a small run of thresh is followed', { skip }, () => {
  const lines = followRuns('small', 100_000, 1).trim().split('\n');
  assert.equal(lines.length, 2);
  for (const line of lines) {
    const [, , users, runs, share, change, spent] = line.split('\t').map(Number);
    assert.deepEqual([users, runs], [100_000, 1]);
    // standard errors of an estimate 0.57 %, of a difference of two 0.81 %
    assert.ok(share > 0 && share < 4 * 0.6 && change < 4 * 0.85 && spent < 4);
  }
});
