// SPDX-License-Identifier: Apache-2.0
// The central guarantee of what the server answers: that of the smallest block, whatever span is asked for, and none where nobody
// stated the share of honest reports.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { join } from 'node:path';
import {
  configure,
  get,
  listRecipe,
  makeFolder,
  post,
  resultOf,
  run,
  serve,
  simulate,
  wholeDay,
} from './serve_helpers.mjs';

const REPORTS = 2000;
const recipe = listRecipe('theme', {
  cohort: { minimum: 100, delta: '1e-8', epsilon: 1 },
  batch: { minimum: 1 },
  block: { minimum: 300, tick_s: 1 },
  limit: { per_day: 3 },
});

/** @param {import('node:test').TestContext} t @param {object} changes of the configuration */
async function resultUnder(t, changes) {
  await wholeDay();
  const folder = makeFolder(t);
  const config = configure(folder, [recipe], changes);
  const server = await serve(t, config);
  for (const batch of simulate(join(folder, 'recipe-0.json'), 'light\t2\ndark\t1\n', REPORTS, 500))
    assert.equal((await post(server.url, batch)).status, 201);
  const result = await resultOf(`${server.url}/v1/results/theme`, REPORTS);
  const page = (await get(`${server.url}/recipes/theme`)).text;
  const day = new Date().toISOString().slice(0, 10);
  const ofDay = JSON.parse((await get(`${server.url}/v1/results/theme?period=${day}`)).text);
  await server.end('SIGTERM');
  return { result, page, ofDay };
}

test('the central figure is that of the smallest block, not of the span', async (t) => {
  const { result, page, ofDay } = await resultUnder(t, { honest: 0.8 });
  assert.equal(result.n, REPORTS);
  const file = join(makeFolder(t), 'recipe.json');
  writeFileSync(file, JSON.stringify(recipe));
  const account = JSON.parse(
    run(
      'account',
      ...['--recipe', file, '--reports', '300', '--delta', '1e-8', '--honest', '0.8'],
      ...['--contributions', '3', '--format', 'json'],
    ).stdout,
  );
  for (const { guarantees } of [result, ofDay]) {
    const { assumes, ...central } = guarantees.central;
    assert.deepEqual(central, {
      epsilon: account.best.epsilon,
      delta: 1e-8,
      bound: account.best.bound,
      reports: 300,
      honest: 0.8,
      person: { epsilon: account.user[account.best.bound], reports: 3, days: 1 },
    });
    assert.match(assumes, /80 % of the reports are honest.*whoever sees single reports or batches/);
    assert.equal(guarantees.claim.kept, central.epsilon <= 1);
  }
  assert.match(page, /central epsilon .*smallest block of 300 reports, 80 % honest/);
  assert.ok(page.includes(result.guarantees.central.assumes));
});

test('without a stated share of honest reports there is no central figure', async (t) => {
  const { result, page } = await resultUnder(t, {});
  assert.deepEqual(
    [result.guarantees.central, result.guarantees.no_central, result.guarantees.claim.kept],
    [null, 'honest', null],
  );
  assert.match(page, /central epsilon +none: nobody stated the share of honest reports/);
});
