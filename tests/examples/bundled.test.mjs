// SPDX-License-Identifier: Apache-2.0
// The examples for webpack and Next, installed by the versions that they name: built without a warning, and from consent
// to a batch in a browser. Only in the long tier, because it installs packages from the registry.
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../ports.mjs';
import { installExact, noWarning, run, start } from './bundlers.mjs';
import {
  answerThemes,
  copyExample,
  openBrowser,
  openPage,
  readRoutes,
  root,
  serveFolder,
  skip,
  startCollection,
} from './support.mjs';

const isLong = !!process.env.SHOAL_LONG;
const skipLong =
  skip || (!isLong && 'only with SHOAL_LONG=1: installs a bundler from the registry');

/** What an example's package.json names. @param {string} name */
async function packagesOf(name) {
  const path = join(root, 'examples', name, 'package.json');
  const { dependencies, devDependencies } = JSON.parse(await readFile(path, 'utf8'));
  return { ...dependencies, ...devDependencies };
}

test(
  'webpack builds it without a warning, and it works under its policy',
  { skip: skipLong },
  async (t) => {
    const { origin, aggregator } = await startCollection(t);
    const project = await installExact('webpack', await packagesOf('webpack'));
    const folder = await copyExample(t, 'webpack', origin, project);
    const output = await run(folder, ['node_modules/webpack-cli/bin/cli.js']);
    noWarning(output);
    assert.match(output, /compiled successfully/);
    const { page, requests, complaints } = await openPage(
      await openBrowser(t),
      await serveFolder(t, folder),
    );
    await answerThemes(page, requests, aggregator);
    assert.deepEqual(complaints, []);
  },
);

test('Next, in development and as a build', { skip: skipLong }, async (t) => {
  const { origin, aggregator } = await startCollection(t);
  const project = await installExact('next', await packagesOf('next'));
  const folder = await copyExample(t, 'next', origin, project);
  await rm(join(folder, '.next'), { recursive: true, force: true });
  const browser = await openBrowser(t);
  const next = 'node_modules/next/dist/bin/next';
  const serve = async (/** @type {string} */ command) => {
    const port = await freePort();
    const args = [next, command, '--hostname', '127.0.0.1', '--port', String(port)];
    const { output, stop } = await start(t, folder, args, /Ready in/);
    return { url: `http://127.0.0.1:${port}/`, output, stop };
  };

  noWarning(await run(folder, [next, 'build']));
  const built = await serve('start');
  const shipped = await openPage(browser, built.url);
  await readRoutes(shipped.page, shipped.requests, aggregator, 0);
  assert.deepEqual(shipped.complaints, []);
  noWarning(built.output());
  await built.stop();

  const development = await serve('dev');
  const seen = await openPage(browser, development.url);
  await readRoutes(seen.page, seen.requests, aggregator, 2);
  assert.deepEqual(seen.complaints, []);
  noWarning(development.output());
});
