// SPDX-License-Identifier: Apache-2.0
// What pages are made of is kept. A kept page is to the byte the page that was made, whatever was asked between, and a block that
// closes brings a new one, which is made before anybody asks for it where the last one was asked for.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TOKENS, dashboard, day } from './dashboard_site.mjs';
import {
  cmsRecipe,
  configure,
  get,
  makeFolder,
  post,
  resultOf,
  serve,
  simulate,
} from './serve_helpers.mjs';

const READER = { authorization: `Bearer ${TOKENS.alice}` };

test('a kept page over time is the page that was made, in every order of questions', async (t) => {
  const site = await dashboard(t);
  // More spans and lengths than are kept at once.
  const queries = [
    '',
    '&top=3',
    '&top=4',
    '&sort=difference&order=desc',
    '&find=ee',
    `&from=${day(-4)}`,
    `&from=${day(-5)}&to=${day(-3)}`,
    `&from=${day(-6)}&to=${day(-3)}`,
    '&sort=reports&order=asc&top=3',
  ];
  const pageOf = async (/** @type {string} */ url, /** @type {string} */ query) => {
    const answer = await get(`${url}/recipes/words?view=periods${query}`, READER);
    assert.equal(answer.status, 200, query);
    return answer.text;
  };
  /** @type {Map<string, string>} */
  const first = new Map();
  for (const query of queries) first.set(query, await pageOf(site.url, query));
  assert.equal(new Set(first.values()).size, queries.length, 'each question has another answer');
  for (const query of queries) assert.equal(await pageOf(site.url, query), first.get(query), query);
  for (const query of [...queries].reverse()) {
    const page = await pageOf(site.url, query);
    assert.equal(page, first.get(query), query);
    assert.equal(await pageOf(site.url, query), page, query);
  }
});

test('a block that closes brings a new page over time', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'words.txt'), 'the\nof\n');
  writeFileSync(join(folder, 'alice'), `${TOKENS.alice}\n`);
  const config = configure(folder, [cmsRecipe('words')], {
    dictionaries: { words: 'words.txt' },
    readers: [{ name: 'alice', token_file: 'alice', collections: 'all' }],
    audit_log: 'log',
  });
  const { url } = await serve(t, config);
  const recipe = join(folder, 'recipe-0.json');
  const send = async (/** @type {number} */ devices, /** @type {string} */ seed) => {
    for (const batch of simulate(recipe, 'the\t5\nof\t3\n', devices, devices, seed))
      assert.equal((await post(url, batch)).status, 201);
  };
  const page = async () => (await get(`${url}/recipes/words?view=periods`, READER)).text;
  await send(3000, 'one');
  await resultOf(`${url}/v1/results/words`, 3000, READER);
  const before = await page();
  assert.match(before, /<b>3.000<.b> reports/);
  assert.equal(await page(), before);
  await send(4000, 'two');
  await resultOf(`${url}/v1/results/words`, 7000, READER);
  const after = await page();
  assert.match(after, /<b>7.000<.b> reports/, 'the block of the second batch is in it');
});

/** Bytes that a process has read so far, from files and sockets. @param {number} pid */
const readBy = (pid) =>
  Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? Number.NaN);

/** Waits until a process reads no more blocks: it looks for work each second. @param {number} pid */
async function settle(pid) {
  for (let before = -1, now = readBy(pid), quiet = 0; quiet < 2; before = now, now = readBy(pid)) {
    quiet = now - before < ACCUMULATOR / 4 ? quiet + 1 : 0;
    await sleep(1200);
  }
}

const [K, M] = [1024, 1024];
const ACCUMULATOR = K * M; // bytes at least

test('what was asked for is made anew when a block closes, before anybody asks again', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'words.txt'), 'the\nof\n');
  writeFileSync(join(folder, 'alice'), `${TOKENS.alice}\n`);
  const config = configure(
    folder,
    [cmsRecipe('words', { parameters: { epsilon: 4, k: K, m: M } })],
    {
      dictionaries: { words: 'words.txt' },
      readers: [{ name: 'alice', token_file: 'alice', collections: 'all' }],
      audit_log: 'log',
    },
  );
  const { url, pid, end } = await serve(t, config);
  const pages = ['/recipes/words', '/recipes/words?view=periods'];
  const ask = async (/** @type {string} */ path, from = url) => {
    const answer = await get(from + path, READER);
    assert.equal(answer.status, 200, path);
    return answer.text;
  };
  const close = async (/** @type {string} */ seed) => {
    for (const batch of simulate(
      join(folder, 'recipe-0.json'),
      'the\t5\nof\t3\n',
      3000,
      3000,
      seed,
    ))
      assert.equal((await post(url, batch)).status, 201);
  };
  await close('one');
  await resultOf(`${url}/v1/results/words`, 3000, READER);
  for (const page of pages) await ask(page);
  await close('two');
  await settle(pid);
  let before = readBy(pid);
  const made = [];
  for (const page of pages) made.push(await ask(page));
  assert.ok(readBy(pid) - before < ACCUMULATOR / 2, 'no block was read for them');
  for (const page of made) assert.match(page, /6.000/);
  // Nobody asks between the next two blocks: then the second one is not worth the work.
  await close('three');
  await settle(pid);
  await close('four');
  await settle(pid);
  for (const page of pages) {
    before = readBy(pid);
    assert.match(await ask(page), /12.000/);
    assert.ok(readBy(pid) - before > ACCUMULATOR, `blocks were read for ${page}`);
  }
  await close('five');
  await settle(pid);
  made.length = 0;
  for (const page of pages) made.push(await ask(page));
  await end('SIGTERM');
  const again = await serve(t, config);
  for (const [i, page] of pages.entries()) assert.equal(await ask(page, again.url), made[i], page);
});
