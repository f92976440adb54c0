// SPDX-License-Identifier: Apache-2.0
// `shoal store forget` removes everything of one recipe from the store of a server that is stopped, and nothing of another.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

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
} from './serve_helpers.mjs';

const COUNTS = 'light\t700\ndark\t300\n';

test('a recipe is forgotten, and the others stay', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme'), listRecipe('other')]);
  const forget = (/** @type {string} */ id) =>
    run('store', 'forget', '--store', join(folder, 'store'), id);
  const [batch] = simulate(join(folder, 'recipe-0.json'), COUNTS, 500, 500);
  const [other] = simulate(join(folder, 'recipe-1.json'), COUNTS, 500, 500);
  const first = await serve(t, config);
  for (const each of [batch, other]) assert.equal((await post(first.url, each)).status, 201);
  await resultOf(`${first.url}/v1/results/theme`, 500);
  await resultOf(`${first.url}/v1/results/other`, 500);
  const held = forget('theme');
  assert.equal(held.status, 5);
  assert.match(held.stderr, /another process holds it/);
  await first.end('SIGTERM');

  const unknown = forget('themes');
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /the store has no recipe themes/);
  assert.equal(readdirSync(join(folder, 'store/accumulators')).length, 2);
  const done = forget('theme');
  assert.equal(done.status, 0, done.stderr);
  assert.equal(done.stdout, 'forgot theme: 1 batches, 500 records\n');
  assert.equal(readdirSync(join(folder, 'store/accumulators')).length, 1);

  const log = readFileSync(join(folder, 'store/audit/000001.jsonl'), 'utf8');
  assert.match(log, /"what":"store-forget"[^\n]*"collection":"theme"/);

  const next = await serve(t, config);
  assert.equal((await get(`${next.url}/v1/results/theme`)).status, 403);
  assert.equal(JSON.parse((await get(`${next.url}/v1/results/other`)).text).n, 500);
  assert.deepEqual((await post(next.url, batch)).json, { status: 'known' }); // its id stays
  assert.equal((await post(next.url, other)).status, 200);
});
