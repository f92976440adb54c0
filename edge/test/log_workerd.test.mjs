// SPDX-License-Identifier: Apache-2.0
// The log in workerd itself: from a KV namespace, and from a fetcher as static assets are.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Miniflare } from 'miniflare';
import { OracleLog, filler, keysEntry } from '../../wasm/test/log_fixtures.mjs';
import { bundleWorker } from '../bundle.js';
import { makeRecipe } from './support.mjs';

const log = new OracleLog([filler(0), keysEntry(), filler(2)]);
const files = log.files();

/** @param {import('node:test').TestContext} t @param {object} more */
async function workerd(t, more) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-log-'));
  const recipe = await makeRecipe();
  const miniflare = new Miniflare({
    modulesRoot: dir,
    scriptPath: await bundleWorker(dir),
    modules: true,
    modulesRules: [
      { type: 'ESModule', include: ['**/*.js'] },
      { type: 'CompiledWasm', include: ['**/*.wasm'] },
    ],
    compatibilityDate: '2026-04-01',
    durableObjects: { COLLECTIONS: { className: 'ShoalCollection', useSQLite: true } },
    bindings: {
      RECIPES: [{ hash: recipe.hash, recipe: recipe.json }],
      AGGREGATOR: 'http://127.0.0.1:1',
      BATCH_SECRET: 'a-secret-for-tests-0123456789',
    },
    cf: false,
    ...more,
  });
  t.after(async () => {
    await miniflare.dispose();
    await rm(dir, { recursive: true });
  });
  return miniflare;
}

/** @param {Miniflare} miniflare */
async function expectLog(miniflare) {
  for (const [path, bytes] of files) {
    const response = await miniflare.dispatchFetch(`https://edge.example/log/${path}`, {
      headers: { Origin: 'https://any.example', Cookie: 'a=b' },
    });
    assert.equal(response.status, 200, path);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from(bytes), path);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
  }
  for (const path of ['tile/0/001', 'pending', 'tile/0/../../x'])
    assert.equal(
      (await miniflare.dispatchFetch(`https://edge.example/log/${path}`)).status,
      404,
      path,
    );
}

test('from a KV namespace', async (t) => {
  const miniflare = await workerd(t, { kvNamespaces: ['LOG'] });
  const namespace = await miniflare.getKVNamespace('LOG');
  for (const [path, bytes] of files) await namespace.put(path, Uint8Array.from(bytes).buffer);
  await expectLog(miniflare);
});

test('from a fetcher, which is told the path and nothing of the device', async (t) => {
  /** @type {string[]} */
  const told = [];
  /** @param {any} request */
  const assets = async (request) => {
    told.push(...[...request.headers.keys()].filter((name) => /cookie|origin|cf-|x-/.test(name)));
    const bytes = files.get(new URL(request.url).pathname.slice(1));
    const { Response } = await import('miniflare');
    return new Response(/** @type {any} */ (bytes ?? null), { status: bytes ? 200 : 404 });
  };
  await expectLog(await workerd(t, { serviceBindings: { LOG: assets } }));
  assert.deepEqual(told, []);
});
