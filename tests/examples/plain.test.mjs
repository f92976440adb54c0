// SPDX-License-Identifier: Apache-2.0
// The example of a plain page, as its README says: the client's files beside it, and any server of files.
import assert from 'node:assert/strict';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  answerThemes,
  copyExample,
  fitsPhone,
  openBrowser,
  openPage,
  root,
  serveFolder,
  skip,
  startCollection,
} from './support.mjs';

test('a plain page: from consent to a batch, under its own policy', { skip }, async (t) => {
  const { origin, aggregator } = await startCollection(t);
  const folder = await copyExample(t, 'plain', origin);
  await cp(join(root, 'wasm/dist'), join(folder, 'shoal'), { recursive: true });
  const url = await serveFolder(t, folder);
  const browser = await openBrowser(t);
  const { page, requests, complaints } = await openPage(browser, url);
  await answerThemes(page, requests, aggregator);
  await fitsPhone(page);
  assert.deepEqual(complaints, [], 'nothing in the console');
});

test('the recipes that several examples have are the same', async () => {
  const read = (/** @type {string} */ path) => readFile(join(root, 'examples', path), 'utf8');
  const theme = await read('plain/recipe.json');
  assert.equal(await read('webpack/theme.json'), theme);
  assert.equal(await read('next/views.json'), await read('vite/views.json'));
});
