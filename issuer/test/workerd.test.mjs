// SPDX-License-Identifier: Apache-2.0
// The issuer in workerd: its own private-key operation, and counts in Durable Objects that outlive the runtime.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { openKeyInNode } from '../rsa_node.js';
import { openKeys } from '../signing_keys.js';
import { DAY_MS, ORIGIN, RECIPES, bundleInit, keyFile, newBundle } from './issuer_support.mjs';

const BASE = 'https://issuer.example/tokens';

test('in workerd: blind signatures verify, and an account is counted once over restarts', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-issuer-worker-'));
  const today = Math.floor(Date.now() / DAY_MS);
  const keys = await keyFile(RECIPES.slice(0, 2), [today]);
  const script = join(dir, 'worker.js');
  await build({
    entryPoints: [fileURLToPath(new URL('../worker.js', import.meta.url))],
    outfile: script,
    bundle: true,
    format: 'esm',
    external: ['cloudflare:workers'],
  });
  const start = () =>
    new Miniflare({
      modules: true,
      modulesRules: [{ type: 'ESModule', include: ['**/*.js'] }],
      modulesRoot: dir,
      scriptPath: script,
      compatibilityDate: '2026-04-01',
      durableObjects: { BUNDLES: { className: 'ShoalBundles', useSQLite: true } },
      durableObjectsPersist: join(dir, 'store'),
      bindings: {
        URL: BASE,
        ORIGINS: [ORIGIN],
        KEYS: keys,
        COUNT_SECRET: 'a-secret-of-the-tests',
        ACCOUNT_HEADER: 'X-Account',
      },
    });
  let worker = start();
  t.after(async () => {
    await worker.dispose();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  const ask = async ({ body }, account) => {
    const answer = await worker.dispatchFetch(
      `${BASE}/token-request`,
      bundleInit(new Uint8Array(body), account ? { 'X-Account': account } : {}),
    );
    const bytes = Buffer.from(await answer.arrayBuffer());
    return [answer.status, answer.ok ? bytes : JSON.parse(bytes).error.code];
  };
  const signers = await openKeys(keys, openKeyInNode);
  const [first, second] = [await newBundle(signers), await newBundle(signers)];
  const [status, answer] = await ask(first, 'alice');
  assert.equal(status, 200, String(answer));
  assert.equal(await first.open(answer), 4);
  assert.deepEqual(await ask(second, 'alice'), [409, 'spent']);
  assert.deepEqual(await ask(second), [401, 'account']);
  await worker.dispose();
  worker = start();
  assert.deepEqual(await ask(second, 'alice'), [409, 'spent'], 'after a restart');
  assert.deepEqual(await ask(first, 'alice'), [200, answer]);
  assert.equal((await ask(second, 'bob'))[0], 200);
  const bundles = await worker.getDurableObjectNamespace('BUNDLES');
  const count = (day) => bundles.get(bundles.idFromName(`the object of ${day}`)).count(day, 'ab');
  assert.equal(await count(today + 1), 'new');
  await assert.rejects(count(today - 1), 'a day that is over'); // the proxy hides the words
  for (const name of await readdir(dir, { recursive: true }))
    if (name.endsWith('.sqlite'))
      assert.ok(!(await readFile(join(dir, name))).includes('alice'), 'no name is stored');
});
