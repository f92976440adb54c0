// SPDX-License-Identifier: Apache-2.0
// The core in workerd makes the same record bytes as the native build: tests/core/vectors_records.json.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { vectorRecipe } from '../../wasm/test/vectors.mjs';

const WORKER = `
  import { Core } from 'shoal-client/core';
  import wasm from './shoal.wasm';
  export default {
    async fetch(request) {
      const core = await Core.create(wasm);
      const records = (await request.json()).map(({ json, value, firstSeedByte }) => {
        const recipe = core.recipe(json);
        const record = recipe.randomize(value, Uint8Array.from({ length: 32 }, (_, i) => firstSeedByte + i));
        core.release(recipe);
        return { hash: recipe.hash, record };
      });
      return Response.json(records);
    },
  };`;

test('the same seed, recipe and value give the bytes of the native build', async (t) => {
  const vectors = JSON.parse(await readFile(new URL('../../tests/core/vectors_records.json', import.meta.url), 'utf8'));
  const { outputFiles } = await build({
    stdin: { contents: WORKER, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    write: false,
    external: ['./shoal.wasm'],
  });
  const wasm = await readFile(new URL(import.meta.resolve('shoal-client/shoal.wasm')));
  const miniflare = new Miniflare({
    modules: [
      { type: 'ESModule', path: 'worker.js', contents: outputFiles[0].text },
      { type: 'CompiledWasm', path: 'shoal.wasm', contents: wasm },
    ],
    compatibilityDate: '2026-04-01',
    cf: false,
  });
  t.after(() => miniflare.dispose());
  const asked = vectors.map((v) => ({
    json: vectorRecipe(v),
    value: v.k ? v.value : v.value === 'none' ? null : Number(v.value),
    firstSeedByte: v.first_seed_byte,
  }));
  const answer = await miniflare.dispatchFetch('http://edge/', { method: 'POST', body: JSON.stringify(asked) });
  assert.deepEqual(await answer.json(), vectors.map((v) => ({ hash: v.recipe_hash, record: v.record })));
  assert.ok(vectors.length >= 15);
});
