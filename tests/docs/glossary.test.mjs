// SPDX-License-Identifier: Apache-2.0
// The glossary is in alphabetical order, has each word once, and names places that exist.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codes, pages, read, root, tableBelow } from './markdown.mjs';

const rows = tableBelow(read('docs/glossary.md'), 'Glossary');

test('one row a term, in alphabetical order', () => {
  const terms = rows.map(([term]) => term);
  assert.ok(terms.length > 80);
  const sorted = [...new Set(terms)].sort((a, b) =>
    a.localeCompare(b, 'en', { sensitivity: 'base' }),
  );
  assert.deepEqual(terms, sorted);
  for (const [term, meaning, where] of rows) assert.ok(meaning && where, term);
});

test('the places in the code exist', () => {
  const places = rows.flatMap(([, , where]) => codes(where));
  assert.ok(places.length > 10);
  assert.deepEqual(
    places.filter((place) => !existsSync(join(root, place))),
    [],
  );
});

test('the index names every page below docs/', () => {
  const index = read('docs/README.md');
  const named = (/** @type {string} */ page) =>
    index.includes(`(${page.slice('docs/'.length)})`) ||
    /^docs\/(mechanisms|recipes|design)\//.test(page);
  const missing = pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  assert.deepEqual(
    missing.filter((page) => !named(page)),
    [],
  );
});
