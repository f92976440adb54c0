// SPDX-License-Identifier: Apache-2.0
// What readers of `shoal serve` learn by asking again and again: whole closed blocks and nothing else. One report more
// changes no byte of any answer, however it is asked for.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  cmsRecipe,
  configure,
  get,
  makeFolder,
  post,
  resultOf,
  seal,
  serve,
  simulate,
  wholeDay,
} from './serve_helpers.mjs';

const WORDS = 'the\t500\nof\t300\nand\t150\ntea\t50\n';
const DEVICES = 5000;
const MINIMUM = 1000;
const TICK_MS = 1000;
const TOKEN = 'a-read-token-of-tests';
const READER = { authorization: `Bearer ${TOKEN}` };
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
const day = (/** @type {number} */ from) =>
  new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10);

/** @param {string} protocol @param {object} [changes] */
const recipeOf = (protocol, changes = {}) =>
  cmsRecipe('words', { aggregation: { protocol }, cohort: { minimum: MINIMUM }, ...changes });

/** @param {import('node:test').TestContext} t @param {string} folder @param {object} recipe @param {object} [changes] */
async function start(t, folder, recipe, changes = {}) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'words.txt'), 'the\nof\nand\ntea\nnobody\n');
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`);
  const config = configure(folder, [recipe], {
    dictionaries: { words: 'words.txt' },
    read_token_file: 'token',
    ...changes,
  });
  return serve(t, config);
}

/** Batches with ids that no other call gives. @param {string} folder @param {number} devices @param {number} perBatch */
function batchesOf(folder, devices, perBatch, seed = 'tests') {
  const batches = simulate(join(folder, 'recipe-0.json'), WORDS, devices, perBatch, seed);
  for (const batch of batches) {
    batch.write(seed, 60, 8, 'latin1');
    seal(batch);
  }
  return batches;
}

/** Every way to ask. */
const questions = () => [
  '/v1/results/words',
  '/v1/results/words?period=all',
  `/v1/results/words?period=${day(0)}`,
  `/v1/results/words?from=${day(-1)}`,
  `/v1/results/words?from=${day(-400)}&to=${day(400)}`,
  `/v1/results/words?to=${day(-1)}&top=1`,
  '/v1/sums/words',
  `/v1/sums/words?period=${day(0)}`,
  '/recipes/words',
  '/recipes/words?view=periods',
  '/',
  '/metrics',
];

/** All answers, with the moment of the next tick taken out: it is the clock's, and nobody's. @param {string} url */
async function askAll(url) {
  const answers = [];
  for (const path of questions()) {
    const { status, headers, text } = await get(url + path, READER);
    answers.push({
      path,
      status,
      retry: headers.get('retry-after'),
      text: text
        .replace(/\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ| \d\d:\d\d UTC)/g, 'TICK')
        .replace(/^(shoal_store_next_tick_timestamp_seconds\{.*\}) \d+$/m, '$1 TICK'),
    });
  }
  return answers;
}

for (const protocol of ['reports', 'sum']) {
  test(`polling reads no single report of "${protocol}", until a whole block has come`, async (t) => {
    await wholeDay(60);
    const folder = makeFolder(t);
    let server = await start(t, folder, recipeOf(protocol));
    let { url } = server;
    for (const batch of batchesOf(folder, DEVICES, DEVICES))
      assert.equal((await post(url, batch)).status, 201);
    const result = await resultOf(`${url}/v1/results/words`, DEVICES, READER);
    assert.deepEqual(result.blocks, { n: 1, first: day(0), last: day(0) });
    const before = await askAll(url);
    assert.equal(before[0].status, 200);
    assert.equal(before[5].status, 403);

    // One report more, and then the most that a block does not take, over ticks and days' questions.
    let sent = 0;
    for (const [i, count] of [1, 1, MINIMUM - 3].entries()) {
      for (const batch of batchesOf(folder, count, count, `more-${i}`))
        assert.equal((await post(url, batch)).status, 201);
      sent += count;
      await pause(2.2 * TICK_MS);
      if (i === 1) {
        // A server that starts has no estimate in its memory.
        await server.end('SIGTERM');
        server = await start(t, folder, recipeOf(protocol));
        ({ url } = server);
      }
      assert.deepEqual(await askAll(url), before, `${sent} reports more`);
    }
    for (const batch of batchesOf(folder, 1, 1, 'last'))
      assert.equal((await post(url, batch)).status, 201);
    const after = await resultOf(`${url}/v1/results/words`, DEVICES + MINIMUM, READER);
    assert.equal(after.blocks.n, 2);
    // The audit log says which blocks each answer was made of.
    const log = readFileSync(join(folder, 'store/audit/000001.jsonl'), 'utf8');
    assert.match(log, /"what":"result"[^\n]*"blocks":"words 1-1"/);
    assert.match(log, /"what":"result"[^\n]*"blocks":"words 1-2"/);
    assert.match(log, /"what":"page"[^\n]*"blocks":"words 1-1"/);
    if (protocol === 'sum') assert.match(log, /"what":"sum"[^\n]*"blocks":"words 1-1"/);
  });

  test(`a collection of "${protocol}" without a closed block answers the same, whatever waits`, async (t) => {
    await wholeDay(60);
    const folder = makeFolder(t);
    const answers = [];
    for (const waiting of [0, 1, MINIMUM - 1, 3 * MINIMUM]) {
      const own = join(folder, `of-${waiting}`);
      const { url, end } = await start(t, own, recipeOf(protocol, { block: { tick_s: 86_400 } }));
      await pause(200); // the first look notes the tick
      if (waiting > 0)
        for (const batch of batchesOf(own, waiting, waiting))
          assert.equal((await post(url, batch)).status, 201);
      await pause(400); // folds are every 50 ms
      answers.push(await askAll(url));
      const { text } = await get(`${url}/v1/results/words`, READER);
      const tick = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000).toISOString();
      assert.match(JSON.parse(text).error.message, /minimum cohort of 1000; the next tick is at /);
      assert.ok(text.includes(tick.replace('.000', '')), text);
      await end('SIGTERM');
    }
    for (const answer of answers.slice(1)) assert.deepEqual(answer, answers[0]);
    assert.deepEqual(
      new Set(answers[0].map(({ status }) => status)),
      protocol === 'sum' ? new Set([403, 200]) : new Set([403, 404, 200]),
    );
  });

  test(`a batch of "${protocol}" below batch.minimum is refused by name`, async (t) => {
    const folder = makeFolder(t);
    const { url } = await start(t, folder, recipeOf(protocol, { batch: { minimum: 40 } }));
    for (const [count, status] of [
      [1, 400],
      [39, 400],
      [40, 201],
    ]) {
      const [batch] = batchesOf(folder, count, count, `of-${count}`);
      const answer = await post(url, batch);
      assert.equal(answer.status, status, String(count));
      if (status === 201) continue;
      assert.equal(answer.json.error.code, 'range');
      assert.match(answer.json.error.message, /batch\.minimum, 40/);
    }
  });
}

test('where the period is all, only all can be asked', async (t) => {
  const folder = makeFolder(t);
  const { url } = await start(t, folder, recipeOf('reports'), { period: 'all' });
  for (const batch of batchesOf(folder, MINIMUM, MINIMUM)) await post(url, batch);
  await resultOf(`${url}/v1/results/words?period=all`, MINIMUM, READER);
  for (const query of [`period=${day(0)}`, `from=${day(-1)}`, `to=${day(1)}`]) {
    const { status, text } = await get(`${url}/v1/results/words?${query}`, READER);
    assert.equal(status, 400, query);
    assert.equal(JSON.parse(text).error.code, 'range');
  }
});
