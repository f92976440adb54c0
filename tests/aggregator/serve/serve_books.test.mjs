// SPDX-License-Identifier: Apache-2.0
// The books: what was released, what a person spends, and who asked what. A reader sees its own questions and nothing that tells of
// others'; hostile texts of requests stay text.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  cmsRecipe,
  configure,
  get,
  listRecipe,
  makeFolder,
  post,
  serve,
  simulate,
} from './serve_helpers.mjs';

const TOKENS = {
  alice: 'token-of-alice-0123456789',
  bob: 'token-of-bob-0123456789012',
  admin: 'token-of-admin-0123456789',
};
const today = () => new Date().toISOString().slice(0, 10);

/** @param {import('node:test').TestContext} t @param {object} [changes] */
async function start(t, changes = {}) {
  const folder = makeFolder(t);
  for (const [name, token] of Object.entries(TOKENS))
    writeFileSync(join(folder, name), `${token}\n`);
  const config = configure(folder, [listRecipe('theme'), cmsRecipe('words')], {
    readers: [
      { name: 'alice', token_file: 'alice', collections: 'all' },
      { name: 'bob', token_file: 'bob', collections: ['words'] },
    ],
    admin_token_file: 'admin',
    honest: 0.9,
    ...changes,
  });
  const { url } = await serve(t, config);
  const ask = (/** @type {keyof typeof TOKENS} */ who, /** @type {string} */ path) =>
    get(url + path, { authorization: `Bearer ${TOKENS[who]}` });
  return { folder, url, ask };
}

/** The texts of the cells of a page, row by row. @param {string} html */
const rowsOf = (html) =>
  [...html.matchAll(/<tr role="row">(.*?)<\/tr>/gs)]
    .map(([, row]) =>
      [...row.matchAll(/<t[hd][^>]*>(?:<a[^>]*>)?([^<]*)/g)].map(([, cell]) => cell),
    )
    .slice(1);

/** Waits until a block has closed. @param {() => Promise<string>} page @param {RegExp} what */
async function until(page, what) {
  let html = '';
  for (const end = Date.now() + 60_000; Date.now() < end && !what.test(html);) {
    html = await page();
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.match(html, what);
  return html;
}

test('books say what was released, what a person spends, and what the sums promise', async (t) => {
  const { folder, url, ask } = await start(t);
  const books = async () => (await ask('alice', '/books/recipes/theme')).text;
  assert.match(await books(), /Nothing is released yet/);
  for (const batch of simulate(join(folder, 'recipe-0.json'), 'light\t700\ndark\t300\n', 1000, 500))
    assert.equal((await post(url, batch)).status, 201);
  const html = await until(books, /data-label="Closed on"/);
  const blocks = rowsOf(html).filter(([, day]) => /^\d{4}-/.test(day));
  assert.ok(
    blocks.length >= 1 && blocks.every(([, day, , merged]) => day <= today() && merged === 'no'),
  );
  // The list and the collection's own page state the same reports.
  const sum = blocks.reduce((all, [, , n]) => all + Number(n.replace(',', '')), 0);
  const listed = rowsOf((await ask('alice', '/books')).text).find(([id]) => id === 'theme') ?? [];
  assert.ok(Number(listed[2].replace(',', '')) >= sum && sum >= 100);
  // The recipe's epsilon is 2, one report a day, for more than a year.
  const spent = Object.fromEntries(rowsOf(html).map(([what, n]) => [what, n]));
  assert.deepEqual([spent['A report'], spent['A window'], spent['A year']], ['2', '2', '730']);
  assert.match(html, /epsilon per report {2}2 \(as drawn: 2\)/);
  assert.match(html, /smallest block of 100 reports, 90 % honest/);
  assert.deepEqual(
    rowsOf((await ask('bob', '/books')).text).map(([id]) => id),
    ['words'],
  );
  assert.deepEqual(
    rowsOf((await ask('admin', '/books')).text).map(([id]) => id),
    ['theme', 'words'],
  );
});

test('a server that answers for all days together lists no single block', async (t) => {
  const { folder, url, ask } = await start(t, { period: 'all' });
  for (const batch of simulate(join(folder, 'recipe-0.json'), 'light\t700\ndark\t300\n', 1000, 500))
    assert.equal((await post(url, batch)).status, 201);
  const html = await until(
    async () => (await ask('alice', '/books/recipes/theme')).text,
    /Closed blocks: \d+/,
  );
  assert.doesNotMatch(html, /Closed on/);
});

test('a reader sees its own questions, an administrator all; reading leaves a line', async (t) => {
  const { ask } = await start(t);
  const hostile = '<script>"\u202e,=1+1';
  await ask('bob', `/v1/results/${encodeURIComponent(hostile)}`);
  await ask('alice', '/v1/results/theme?top=7');
  for (let i = 0; i < 3; i++) await ask('bob', '/v1/results/words');
  const log = async (/** @type {keyof typeof TOKENS} */ who, query = '') =>
    JSON.parse((await ask(who, `/books/log?format=json${query}`)).text);
  const whos = (/** @type {any} */ answer) => [
    ...new Set(answer.lines.map((/** @type {any} */ line) => line.who)),
  ];
  const own = await log('alice', '&who=bob');
  assert.deepEqual(whos(own), ['alice'], 'the filter of a reader is its own name');
  assert.deepEqual(
    Object.keys(own.lines[0]).filter((key) => /^(seq|hash)$/.test(key)),
    [],
  );
  assert.equal(own.lines[0].top, 7);
  const all = await log('admin');
  assert.deepEqual(whos(all), ['alice', 'bob', undefined], 'newest first, and the log began');
  assert.equal(all.lines[0].what, 'audit-log', "the reader's look at the log is a question");
  assert.ok(all.lines.every((/** @type {any} */ line) => line.hash.length === 64));
  assert.deepEqual(whos(await log('admin', '&who=bob')), ['bob']);
  const results = (await log('admin', '&what=result')).lines;
  assert.equal(results.length, 5);
  assert.deepEqual((await log('admin', '&day=2020-01-01')).lines, []);
  assert.deepEqual((await log('admin', '&page=2')).lines, []);
  const page = await ask('admin', '/books/log');
  assert.ok(!page.text.includes('<script>'), 'no markup of a request');
  assert.ok(page.text.includes('&#60;script&#62;&#34;\\xe2\\x80\\xae'));
  const csv = (await ask('bob', '/books/log?format=csv&what=result')).text.split('\r\n');
  assert.equal(csv.length, 1 + 4 + 1);
  assert.match(csv[0], /^time,who,via,what,/);
  for (const query of ['day=x', 'page=0', 'page=x', 'page=10000000', 'format=xml'])
    assert.equal((await ask('alice', `/books/log?${query}`)).status, 400, query);
});

test('the log pages through a day, across files, without a line lost', async (t) => {
  const { ask } = await start(t, { audit_log_bytes: 4096 });
  for (let i = 1; i <= 250; i++) await ask('alice', `/v1/results/theme?top=${i}`);
  const tops = [];
  for (let page = 1; page <= 3; page++) {
    const answer = JSON.parse(
      (await ask('alice', `/books/log?what=result&format=json&page=${page}`)).text,
    );
    assert.equal(answer.more, page < 3);
    tops.push(...answer.lines.map((/** @type {any} */ line) => line.top));
  }
  assert.deepEqual(
    tops,
    Array.from({ length: 250 }, (_, i) => 250 - i),
  );
});

test('the log shows the value that was asked for, finds it, and sorts the lines of its page', async (t) => {
  const { ask } = await start(t);
  for (const value of ['hello', 'c\u00f6d', '<b>"x"'])
    await ask('bob', `/v1/results/words?value=${encodeURIComponent(value)}`);
  await ask('alice', '/recipes/words?value=hello');
  const cells = async (/** @type {'bob' | 'admin'} */ who, query = '') => {
    const { status, text } = await ask(who, `/books/log?what=result${query}`);
    assert.equal(status, 200, query);
    assert.ok(!text.includes('<b>'), 'no markup of a request');
    return [...text.matchAll(/<td role="cell"[^>]*data-label="Value">([^<]*)</g)].map(
      ([, cell]) => cell,
    );
  };
  const newest = ['&#60;b&#62;&#34;x&#34;', 'c\u00f6d', 'hello'];
  assert.deepEqual(await cells('bob'), newest);
  assert.deepEqual(await cells('bob', '&value=hello'), ['hello']);
  assert.deepEqual(await cells('bob', '&value=hell'), [], 'the whole value, no part of it');
  assert.deepEqual(await cells('bob', '&sort=value&order=asc'), newest);
  assert.deepEqual(await cells('bob', '&sort=value&order=desc'), newest.toReversed());
  assert.deepEqual(await cells('bob', '&sort=time&order=asc'), newest.toReversed());
  const page = (await ask('admin', '/books/log?value=hello&sort=who&order=desc')).text;
  const whos = [...page.matchAll(/data-label="Who">([^<]*)</g)].map(([, who]) => who);
  assert.deepEqual(whos, ['bob', 'bob', 'alice'], 'both questions, and the look for them');
  assert.match(page, /<th scope="col" role="columnheader" aria-sort="descending"/);
  assert.ok(page.includes('?sort=who&amp;order=asc&amp;value=hello'));
  const csv = (await ask('bob', '/books/log?format=csv&what=result&value=hello')).text;
  assert.match(csv, /^time,who,via,what,span,collection,value,dictionary,/);
  assert.match(csv, /"hello"/);
  assert.equal((await ask('bob', '/books/log?sort=hash')).status, 400);
});
