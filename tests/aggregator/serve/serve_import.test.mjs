// SPDX-License-Identifier: Apache-2.0
// `shoal store import`: a server serves what other machines counted like its own blocks, to the same readers and in whole
// blocks; what it takes itself and what is imported never mix.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
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
const TOKEN = 'a-read-token-of-tests';
const READER = { authorization: `Bearer ${TOKEN}` };
const day = (/** @type {number} */ from) =>
  new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10);

/** @param {...string} args */
function good(...args) {
  const done = run(...args);
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

/**
 * Folds new batches of a recipe by a manifest, in two shards.
 * @param {string} folder @param {string} name @param {number} devices @param {string[]} earlier manifests
 */
function generation(folder, name, devices, earlier) {
  const at = (/** @type {string} */ file) => join(folder, file);
  const recipe = ['--recipe', at('recipe-0.json')];
  const files = [0, 1, 2, 3].map((i) => {
    const file = at(`${name}-${i}.batch`);
    const one = ['--devices', `${devices / 4}`, '--seed', `${name} ${i}`, '-o', file];
    good('simulate', ...recipe, '--counts', at('counts.tsv'), ...one);
    return file;
  });
  const excluded = earlier.flatMap((one) => ['--after', at(`${one}.man`)]);
  good('manifest', 'make', ...recipe, '-o', at(`${name}.man`), ...excluded, ...files);
  const shards = [1, 2].map((i) => {
    const own = files.filter((file) => readFileSync(file)[56] >> 7 === i - 1);
    const out = at(`${name}-${i}.acc`);
    const shard = ['--manifest', at(`${name}.man`), '--shard', `${i}/2`];
    good('ingest', ...recipe, ...shard, '-o', out, ...own);
    return out;
  });
  good('merge', '-o', at(`${name}.acc`), ...shards);
  return at(`${name}.acc`);
}

test('imported blocks are served as the server serves its own, and take no batches beside', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'counts.tsv'), COUNTS);
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`);
  const config = configure(folder, [listRecipe('theme'), listRecipe('other')], {
    read_token_file: 'token',
  });
  const store = ['store', 'import', '--store', join(folder, 'store')];
  const into = (/** @type {string} */ date, /** @type {string} */ acc) =>
    run(...store, '--recipe', join(folder, 'recipe-0.json'), '--period', date, acc);
  const first = generation(folder, 'first', 800, []);
  const late = generation(folder, 'late', 40, ['first']);
  const second = generation(folder, 'second', 400, ['first', 'late']);

  const server = await serve(t, config);
  const held = into(day(-5), first);
  assert.equal(held.status, 5);
  assert.match(held.stderr, /another process holds it/);
  const [own] = simulate(join(folder, 'recipe-1.json'), COUNTS, 500, 500);
  assert.equal((await post(server.url, own)).status, 201);
  await resultOf(`${server.url}/v1/results/other`, 500, READER);
  await server.end('SIGTERM');

  assert.equal(into(day(-5), first).status, 0);
  const small = into(day(-4), late); // below the minimum cohort: nothing of it is published
  assert.equal(small.status, 3);
  assert.match(small.stderr, /40 reports, and a block has 100 at least: merge it with the next/);
  // The server took batches of the other recipe, so nothing of it is imported.
  const mixed = ['--recipe', join(folder, 'recipe-1.json'), '--period', day(0)];
  const batch = join(folder, 'mixed.batch');
  const other = ['--recipe', join(folder, 'recipe-1.json')];
  good(
    'simulate',
    ...other,
    '--counts',
    join(folder, 'counts.tsv'),
    '--devices',
    '300',
    '--seed',
    'x',
    '-o',
    batch,
  );
  good('manifest', 'make', ...other, '-o', join(folder, 'mixed.man'), batch);
  good(
    'ingest',
    ...other,
    '--manifest',
    join(folder, 'mixed.man'),
    '-o',
    join(folder, 'mixed.acc'),
    batch,
  );
  const refused = run(...store, ...mixed, join(folder, 'mixed.acc'));
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /the server took batches of this recipe itself/);

  const next = await serve(t, config);
  const url = `${next.url}/v1/results/theme`;
  assert.equal((await get(url)).status, 401, 'readers only');
  const result = JSON.parse((await get(url, READER)).text);
  assert.equal(result.n, 800);
  assert.deepEqual(result.blocks, { n: 1, first: day(-5), last: day(-5) });
  const command = ['estimate', ...['--recipe', join(folder, 'recipe-0.json')], '--format', 'json'];
  assert.deepEqual(result.rows, JSON.parse(good(...command, first)).rows);
  const stray = await post(next.url, simulate(join(folder, 'recipe-0.json'), COUNTS, 50, 50)[0]);
  assert.equal(stray.status, 400);
  assert.match(stray.json.error.message, /the results of this collection are imported/);
  await next.end('SIGTERM');

  // The late generation waited. It comes with the next one, on a day of their own.
  const united = join(folder, 'united.acc');
  good('merge', '-o', united, late, second);
  const released = into(day(-5), united);
  assert.equal(released.status, 3);
  assert.match(released.stderr, /is released, and no released day changes/);
  assert.equal(into(day(-3), united).status, 0);
  assert.match(into(day(-2), first).stderr, /manifest [0-9a-f]{64} was imported before/);
  const log = readFileSync(join(folder, 'store/audit/000001.jsonl'), 'utf8');
  assert.match(log, /"what":"store-import"[^\n]*"collection":"theme"/);
  const last = await serve(t, config);
  const both = JSON.parse((await get(`${last.url}/v1/results/theme`, READER)).text);
  assert.equal(both.n, 1240);
  assert.deepEqual(both.blocks, { n: 2, first: day(-5), last: day(-3) });
  const old = await get(`${last.url}/v1/results/theme?period=${day(-5)}`, READER);
  assert.deepEqual(JSON.parse(old.text).rows, result.rows, 'a released day stays as it was');
  await last.end('SIGTERM');
  assert.ok(readdirSync(join(folder, 'store/accumulators')).length >= 3);
});
