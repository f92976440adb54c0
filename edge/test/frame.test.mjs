// SPDX-License-Identifier: Apache-2.0
// Reports read by their frame and by the parser: the same taken, the same refused, for every mechanism and for reports changed in
// every byte. And nothing of a report stays: neither the heap nor the module's memory grows over many.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { load } from 'shoal-client/node';
import { readVectors } from '../../wasm/test/vectors.mjs';
import { answer, handle } from '../handler.js';
import { makeRecipe, newKey, newRecord, reportInit } from './support.mjs';

const vectors = await readVectors();
for (const vector of vectors) vector.made = (await load()).recipe(vector.recipe);

const headers = new Headers({ 'Content-Type': 'application/json', 'Idempotency-Key': newKey() });

/** An edge of one collection: what it answers a body, and by how many reports were read by the frame. */
function edgeOf(recipe, isFramed) {
  let framed = 0;
  const counted = Object.create(recipe, {
    recordFromReport: {
      value: (...report) => {
        const record = isFramed ? recipe.recordFromReport(...report) : null;
        if (record !== null) framed++;
        return record;
      },
    },
  });
  let taken = null;
  const accept = async (record) => ((taken = record), 'accepted');
  const deps = {
    collections: new Map([[recipe.hash, { recipe: counted, accept }]]),
    recipes: [],
    origins: [],
    now: () => Date.UTC(2029, 0, 1),
  };
  const post = async (body) => {
    taken = null;
    const pieces = [body];
    const reader = {
      read: async () => ({ done: pieces.length === 0, value: pieces.pop() }),
      cancel: async () => {},
    };
    const request = {
      method: 'POST',
      url: 'https://edge.example/v1/reports',
      headers,
      body: { getReader: () => reader },
    };
    const { status, body: said } = await answer(request, deps);
    return { status, code: JSON.parse(said).error?.code, taken };
  };
  return { post, framed: () => framed };
}

/** @param {Uint8Array} bytes every byte changed, one dropped, one doubled; ways of writing the same JSON otherwise */
function* changed(bytes) {
  for (let at = 0; at < bytes.length; at++) {
    for (const bit of [0x01, 0x08, 0x20, 0x80])
      yield bytes.map((byte, i) => (i === at ? byte ^ bit : byte));
    yield bytes.filter((_, i) => i !== at);
    yield Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + 1), bytes.subarray(at)]);
  }
  const report = JSON.parse(new TextDecoder().decode(bytes));
  const [record] = report.records;
  const escaped = JSON.stringify(report).replace(
    record,
    record.replace(/[^,;]/, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  const texts = [
    escaped,
    JSON.stringify(report, null, 1),
    JSON.stringify(Object.fromEntries(Object.entries(report).reverse())),
    `\ufeff${JSON.stringify(report)}`,
  ];
  for (const text of texts) yield Buffer.from(text);
  yield bytes.subarray(0, 0);
}

test('whatever the report, both ways decide the same', async () => {
  const mechanisms = new Set();
  for (const { name, made: recipe, record } of vectors) {
    if (mechanisms.has(recipe.mechanism)) continue;
    mechanisms.add(recipe.mechanism);
    const [byFrame, byParser] = [edgeOf(recipe, true), edgeOf(recipe, false)];
    const whole = Buffer.from(JSON.stringify(recipe.report(record)));
    const { status, taken } = await byFrame.post(whole);
    assert.deepEqual(
      [status, recipe.recordToText(taken), byFrame.framed()],
      [202, record, 1],
      name,
    );
    const step = Math.max(1, Math.floor(whole.length / 100)); // every n-th of a long one's, and all of its end
    let i = 0;
    for (const body of changed(whole)) {
      if (i++ % step !== 0 && i < 6 * whole.length - 60) continue;
      assert.deepEqual(await byFrame.post(body), await byParser.post(body), `${name}: ${body}`);
    }
    assert.equal(byParser.framed(), 0);
  }
  assert.ok(mechanisms.size >= 3);
});

test('of collections whose reports have one length, each takes its own; an expired one takes none', async () => {
  const recipes = await Promise.all(
    ['one', 'two', 'old'].map((id) =>
      makeRecipe({ recipe: id, expires: id === 'old' ? '2020-01-01' : '2099-12-31' }),
    ),
  );
  const taken = [];
  const collections = new Map(
    recipes.map((recipe) => [
      recipe.hash,
      { recipe, accept: async () => (taken.push(recipe.id), 'accepted') },
    ]),
  );
  const deps = { collections, recipes, origins: [], now: () => Date.UTC(2029, 0, 1) };
  const statuses = [];
  for (const recipe of recipes) {
    const response = await handle(
      new Request('https://edge.example/v1/reports', reportInit(recipe.report(newRecord(recipe)))),
      deps,
    );
    statuses.push(response.status);
  }
  assert.deepEqual(
    [statuses, taken],
    [
      [202, 202, 400],
      ['one', 'two'],
    ],
  );
});

// A process of its own, because the heap is to hold nothing else. SHOAL_LONG=1: a million reports.
test('neither heap nor module memory grows with the number of reports', (t) => {
  const reports = process.env.SHOAL_LONG === '1' ? 1_000_000 : 40_000;
  const program = fileURLToPath(new URL('memory_of_reports.mjs', import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', program, String(reports)],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  const { heap, buffers, module } = JSON.parse(stdout);
  t.diagnostic(
    `${reports} reports: heap by ${heap} bytes, buffers by ${buffers}, the module's memory by ${module}`,
  );
  assert.equal(module, 0);
  // One byte kept of each report would be `reports` of them, one small object 16 times that; what compilers keep is there from the start.
  assert.ok(heap < Math.max(300_000, reports / 4), `${heap} bytes more on the heap`);
  assert.ok(buffers < reports / 4, `${buffers} bytes more in buffers`);
});
