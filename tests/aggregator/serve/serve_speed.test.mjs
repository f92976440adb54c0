// SPDX-License-Identifier: Apache-2.0
// With a thousand collections, each of which released a block, and a collection of 100,000 values, no page takes 50 ms of the server,
// sorted and searched or not. With SHOAL_LONG: making the collections takes a minute or two.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COLLECTIONS, crowdedSite, timesOf } from './crowded_site.mjs';
import { get, isLong, makeFolder } from './serve_helpers.mjs';

const LIMIT_MS = 50;
const ROUNDS = 21;
// Other programs share the machine: what a page takes is what it takes when they let it, so the quicker half counts.
const QUICKER_HALF = Math.floor(ROUNDS / 4);

test(
  'pages of a thousand collections and of 100,000 values take under 50 ms',
  { skip: !isLong && 'long' },
  async (t) => {
    const url = await crowdedSite(t, makeFolder(t));
    const page = (await get(`${url}/`)).text;
    assert.equal(page.match(/<a href="\/recipes\//g)?.length, COLLECTIONS);
    assert.ok(!page.includes('waits for'), 'each has released a block');
    for (const path of [
      '/',
      '/?sort=reports&order=desc&find=list',
      '/recipes/words',
      '/recipes/words?sort=value&order=desc',
      '/recipes/words?sort=interval&order=desc&find=7',
      '/recipes/words?top=1000',
      '/recipes/words?view=periods',
      '/recipes/words?view=periods&sort=difference&order=desc&find=7',
      '/operations',
      '/books',
      '/books/recipes/words',
    ]) {
      const times = await timesOf(url + path, ROUNDS);
      t.diagnostic(
        `${path}: ${times[QUICKER_HALF].toFixed(1)} ms, median ${times[(ROUNDS - 1) / 2].toFixed(1)}`,
      );
      assert.ok(times[QUICKER_HALF] < LIMIT_MS, `${path}: ${times}`);
    }
  },
);
