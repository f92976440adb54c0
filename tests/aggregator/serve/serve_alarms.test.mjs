// SPDX-License-Identifier: Apache-2.0
// Alarms of a server: in /metrics without a question, in results and on pages, and not below the minimum cohort.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { join } from 'node:path';
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

const recipe = cmsRecipe('words', {
  parameters: { epsilon: 4, k: 256, m: 64 },
  cohort: { minimum: 300 },
});

/** Waits until a metric has a line that fits. @param {string} url @param {RegExp} line */
async function metricOf(url, line) {
  const end = Date.now() + 60_000;
  let text = '';
  while (Date.now() < end) {
    text = (await get(`${url}/metrics`)).text;
    if (line.test(text)) return text;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`no ${line} in ${text}`);
}

/** A batch of n copies of a batch's first record. @param {Buffer} batch @param {number} n */
function copies(batch, n) {
  const size = batch.readUInt32LE(12);
  const flood = Buffer.alloc(72 + n * size + 8);
  batch.copy(flood, 0, 0, 72);
  for (let i = 0; i < n; i++) batch.copy(flood, 72 + i * size, 72, 72 + size);
  flood.writeUInt32LE(n, 16);
  flood.writeUInt32LE(77, 56);
  return seal(flood);
}

test('a flood of one record is an alarm in metrics, results and pages', async (t) => {
  await wholeDay();
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'words.txt'), 'hello\nworld\n');
  const config = configure(folder, [recipe], { dictionaries: { words: 'words.txt' } });
  const server = await serve(t, config);
  const { text: before } = await get(`${server.url}/metrics`);
  assert.doesNotMatch(before, /^shoal_alarm\{/m, 'nothing is measured without a block');
  const file = join(folder, 'recipe-0.json');
  const honest = /** @type {Buffer} */ (simulate(file, 'hello\t2\nworld\t1\n', 1000, 1000)[0]);
  assert.equal((await post(server.url, honest)).status, 201);
  const clean = await metricOf(server.url, /^shoal_alarm\{.*uneven-rows/m);
  assert.match(clean, /^shoal_alarm\{recipe="words",blocks="all",code="uneven-rows"\} 0$/m);
  assert.doesNotMatch(clean, /^shoal_alarm\{.*\} 1$/m);

  assert.equal((await post(server.url, copies(honest, 1000))).status, 201);
  // The newest block is tested last: between the two, metrics say 1 of all and 0 of the newest.
  const flooded = await metricOf(server.url, /blocks="newest",code="uneven-rows"\} 1/);
  assert.match(flooded, /^shoal_alarm\{recipe="words",blocks="all",code="uneven-rows"\} 1$/m);
  const result = await resultOf(`${server.url}/v1/results/words`, 2000);
  const codes = result.alarms.map((/** @type {{code: string}} */ one) => one.code);
  assert.ok(codes.includes('uneven-rows'), codes.join());
  const page = (await get(`${server.url}/recipes/words`)).text;
  assert.match(page, /role="alert"><b>Alarm uneven-rows: one row has 1,[0-9]{3} of 2,000 reports/);
  assert.ok(page.indexOf('Alarm uneven-rows') < page.indexOf('<table'), 'before any bar');
  await server.end('SIGTERM');
  assert.match(server.log(), /words \(all blocks\): alarm uneven-rows/);
});
