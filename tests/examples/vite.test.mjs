// SPDX-License-Identifier: Apache-2.0
// The example of a single-page app under Vite: in its development server and as its build. Both count the listed routes,
// and neither prints a warning.
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../ports.mjs';
import { installExact, noWarning, run, start } from './bundlers.mjs';
import {
  copyExample,
  fitsPhone,
  openBrowser,
  openPage,
  readRoutes,
  skip,
  startCollection,
} from './support.mjs';

const require = createRequire(import.meta.url);
const here = join(dirname(require.resolve('vite/package.json')), 'bin/vite.js');

/** Starts Vite's server. @param {import('node:test').TestContext} t @param {string} folder @param {string} vite @param {string[]} args */
async function serve(t, folder, vite, ...args) {
  const port = await freePort();
  const options = ['--host', '127.0.0.1', '--port', String(port), '--strictPort'];
  const server = await start(t, folder, [vite, ...args, ...options], /Local:/);
  return { url: `http://127.0.0.1:${port}/`, output: server.output };
}

test('Vite, in development and as a build', { skip }, async (t) => {
  const { origin, aggregator } = await startCollection(t);
  const folder = await copyExample(t, 'vite', origin);
  const browser = await openBrowser(t);

  const development = await serve(t, folder, here);
  const seen = await openPage(browser, development.url);
  await readRoutes(seen.page, seen.requests, aggregator, 0);
  await fitsPhone(seen.page);
  assert.deepEqual(seen.complaints, []);
  noWarning(development.output());

  const built = await run(folder, [here, 'build']);
  noWarning(built);
  assert.match(built, /shoal-[\w-]+\.wasm/, 'the module is part of the build');
  const preview = await serve(t, folder, here, 'preview');
  const shipped = await openPage(browser, preview.url);
  await readRoutes(shipped.page, shipped.requests, aggregator, 2);
  assert.deepEqual(shipped.complaints, []);
  noWarning(preview.output());
});

const isLong = !!process.env.SHOAL_LONG;
const skipLong = skip || (!isLong && 'only with SHOAL_LONG=1: installs Vite 8 from the registry');

test('Vite 8 needs no configuration', { skip: skipLong }, async (t) => {
  const { origin, aggregator } = await startCollection(t);
  const project = await installExact('vite-8', { vite: '8.3.8' });
  const folder = await copyExample(t, 'vite', origin, project);
  await rm(join(folder, 'node_modules/.vite'), { recursive: true, force: true });
  await writeFile(join(folder, 'vite.config.js'), 'export default {};\n');
  const vite = join(folder, 'node_modules/vite/bin/vite.js');
  const development = await serve(t, folder, vite);
  const { page, requests, complaints } = await openPage(await openBrowser(t), development.url);
  await readRoutes(page, requests, aggregator, 0);
  assert.ok(
    requests.some((url) => url.includes('.vite/deps')),
    'the package went through the optimizer',
  );
  assert.deepEqual(complaints, []);
  noWarning(development.output());
  noWarning(await run(folder, [vite, 'build']));
});
