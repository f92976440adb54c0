// SPDX-License-Identifier: Apache-2.0
// memory_of_reports.mjs N, with --expose-gc: N reports through the handler, half of them by the parser. Prints by how many bytes the heap,
// its buffers and the module's memory are larger than after N / 2.

import { randomBytes } from 'node:crypto';
import { loadModule } from 'shoal-client/node';
import { Core } from 'shoal-client/core';
import { answer } from '../handler.js';
import { newKey, recipeJson } from './support.mjs';

const N = Number(process.argv[2]);
const instance = await WebAssembly.instantiate(await loadModule(), {});
const core = await Core.create(instance);
const recipe = core.recipe(recipeJson());
const collections = new Map([[recipe.hash, { recipe, accept: async () => 'accepted' }]]);
const deps = { collections, recipes: [recipe], origins: [], now: Date.now };
const report = recipe.report(recipe.randomize('fish', randomBytes(32)));
const bodies = [Buffer.from(JSON.stringify(report)), Buffer.from(JSON.stringify(report, null, 1))];
const headers = new Map([
  ['content-type', 'application/json'],
  ['idempotency-key', newKey()],
]);

/** @param {number} i */
async function post(i) {
  const pieces = [bodies[i % 2]];
  const read = async () => (pieces.length ? { done: false, value: pieces.pop() } : { done: true });
  const body = { getReader: () => ({ read, cancel: async () => {} }) };
  const { status } = await answer(
    {
      method: 'POST',
      url: 'https://edge.example/v1/reports',
      headers: { get: (name) => headers.get(name) ?? null },
      body,
    },
    deps,
  );
  if (status !== 202) throw new Error(`status ${status}`);
}

function used() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return {
    heap: heapUsed,
    buffers: arrayBuffers,
    module: instance.exports.memory.buffer.byteLength,
  };
}

for (let i = 0; i < N / 2; i++) await post(i);
const before = used();
for (let i = 0; i < N / 2; i++) await post(i);
const after = used();
process.stdout.write(
  JSON.stringify(
    Object.fromEntries(Object.entries(after).map(([name, bytes]) => [name, bytes - before[name]])),
  ),
);
