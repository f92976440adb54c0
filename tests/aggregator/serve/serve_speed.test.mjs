// SPDX-License-Identifier: Apache-2.0
// With a thousand collections, each of which released a block, and a collection of 100,000 values, no page takes 50 ms of the server,
// sorted and searched or not. It is the server's processor time, which other programs on the machine do not lengthen much; times by
// the clock are in `make bench`. With SHOAL_LONG: making the collections takes a minute or two.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COLLECTIONS, crowdedSite, serverTimeOf } from './crowded_site.mjs';
import { get, isLong, makeFolder } from './serve_helpers.mjs';

const LIMIT_MS = 50;
const ROUNDS = 21;

test(
  'pages of a thousand collections and of 100,000 values take under 50 ms of the server',
  { skip: !isLong && 'long' },
  async (t) => {
    const { url, pid } = await crowdedSite(t, makeFolder(t));
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
      const ms = await serverTimeOf(url + path, pid, ROUNDS);
      t.diagnostic(`${path}: ${ms.toFixed(1)} ms`);
      assert.ok(ms < LIMIT_MS, `${path}: ${ms} ms`);
    }
  },
);
