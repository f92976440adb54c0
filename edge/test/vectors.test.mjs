// SPDX-License-Identifier: Apache-2.0
// The core in workerd makes the same record bytes as the native build, of every mechanism: tests/core/vectors/.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { expectedRecords, makeRecords, readVectors } from '../../wasm/test/vectors.mjs';

const WORKER = `
  import { Core } from 'shoal-client/core';
  import wasm from './shoal.wasm';
  const makeRecords = ${makeRecords};
  export default {
    fetch: async (request) => Response.json(makeRecords(await Core.create(wasm), await request.json())),
  };`;

test('the same seed, recipe and value give the bytes of the native build', async (t) => {
  const vectors = await readVectors();
  const { outputFiles } = await build({
    stdin: { contents: WORKER, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    write: false,
    external: ['./shoal.wasm'],
  });
  const wasm = await readFile(new URL(import.meta.resolve('shoal-client/shoal-all.wasm')));
  const miniflare = new Miniflare({
    modules: [
      { type: 'ESModule', path: 'worker.js', contents: outputFiles[0].text },
      { type: 'CompiledWasm', path: 'shoal.wasm', contents: wasm },
    ],
    compatibilityDate: '2026-04-01',
    cf: false,
  });
  t.after(() => miniflare.dispose());
  const answer = await miniflare.dispatchFetch('http://edge/', {
    method: 'POST',
    body: JSON.stringify(vectors),
  });
  assert.deepEqual(await answer.json(), expectedRecords(vectors));
  assert.ok(vectors.length >= 20);
});
