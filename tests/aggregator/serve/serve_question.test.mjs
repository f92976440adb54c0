// SPDX-License-Identifier: Apache-2.0
// What an analyst asks a server beside the dictionary's rows: rows in other forms, one value of one's own, and a collection over time.
// The figures are those of the plain questions, and none is about fewer reports than a block.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { cmsRecipe, configure, get, listRecipe, makeFolder, run, serve } from './serve_helpers.mjs';

const isSanitized = process.env.SHOAL_SANITIZED === '1'; // browsers are for the release build

const TOKEN = 'a-read-token-of-tests';
const READER = { authorization: `Bearer ${TOKEN}` };
const HOSTILE = '"><script>alert(1)</script>\u202e';
const DAYS = [-5, -4, -2];
const day = (/** @type {number} */ from) =>
  new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10);

/** @param {...string} args */
function good(...args) {
  const done = run(...args);
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

/**
 * A server with three days of two recipes: words of an open domain, and a list without a dictionary of its own.
 * @param {import('node:test').TestContext} t @param {object} [changes] of the configuration
 */
async function filled(t, changes = {}) {
  const folder = makeFolder(t);
  const at = (/** @type {string} */ file) => join(folder, file);
  writeFileSync(at('token'), `${TOKEN}\n`);
  writeFileSync(at('words.txt'), 'cod\neel\nherring\npike\n');
  const config = configure(folder, [cmsRecipe('words'), listRecipe('theme')], {
    read_token_file: 'token',
    dictionaries: { words: 'words.txt' },
    audit_log: 'log',
    ...changes,
  });
  for (const [r, counts] of ['cod\t6\neel\t3\nsecret\t4\n', 'light\t7\ndark\t3\n'].entries()) {
    const recipe = ['--recipe', at(`recipe-${r}.json`)];
    writeFileSync(at('counts.tsv'), counts);
    /** @type {string[]} */
    const earlier = [];
    for (const [i, from] of DAYS.entries()) {
      const name = `${r}-${i}`;
      const devices = ['--devices', `${3000 + 500 * i}`, '--seed', name];
      good('simulate', ...recipe, '--counts', at('counts.tsv'), ...devices, '-o', at(`${name}.b`));
      const man = ['--manifest', at(`${name}.man`)];
      good('manifest', 'make', ...recipe, '-o', man[1], ...earlier, at(`${name}.b`));
      good('ingest', ...recipe, ...man, '-o', at(`${name}.acc`), at(`${name}.b`));
      const into = ['--store', at('store'), '--period', day(from)];
      good('store', 'import', ...into, ...recipe, at(`${name}.acc`));
      earlier.push('--after', man[1]);
    }
  }
  const server = await serve(t, config);
  const ask = (/** @type {string} */ path) => get(`${server.url}${path}`, READER);
  const asked = () =>
    readdirSync(at('log'))
      .flatMap((file) =>
        readFileSync(join(at('log'), file), 'utf8')
          .trim()
          .split('\n'),
      )
      .map((line) => JSON.parse(line));
  return { server, ask, asked };
}

test('rows come as JSON, NDJSON, CSV and Arrow, with the same figures', async (t) => {
  const { server, ask } = await filled(t);
  const json = await ask('/v1/results/words');
  assert.equal(json.headers.get('content-type'), 'application/json');
  const { rows } = JSON.parse(json.text);
  assert.equal(rows.length, 4);
  const lines = await ask('/v1/results/words?format=ndjson');
  assert.equal(lines.headers.get('content-type'), 'application/x-ndjson');
  assert.deepEqual(
    lines.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).count),
    rows.map((/** @type {any} */ row) => row.count),
  );
  const csv = await ask('/v1/results/words?format=csv&top=2');
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  const [head, ...cells] = csv.text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  assert.equal(head[0], 'value');
  assert.deepEqual(
    cells.map(([value, count]) => [
      value,
      Math.abs(
        Number(count) - rows.find((/** @type {any} */ row) => value === `"${row.value}"`).count,
      ) < 1,
    ]),
    [
      ['"cod"', true],
      ['"eel"', true],
    ],
  );
  const arrow = await ask('/v1/results/words?format=arrow');
  assert.equal(arrow.headers.get('content-type'), 'application/vnd.apache.arrow.stream');
  assert.ok(arrow.text.length > 500);
  for (const path of [
    '/v1/results/words?format=xml',
    '/v1/results/words?format=',
    '/recipes/words?format=csv',
    '/?format=csv',
    '/v1/results/words?view=periods',
    '/recipes/words?view=months',
    '/?view=periods',
  ])
    assert.equal((await ask(path)).status, 400, path);
  await server.end('SIGTERM');
});

test('any value can be asked for, and says how easily it would be a false alarm', async (t) => {
  const { server, ask, asked } = await filled(t);
  const all = JSON.parse((await ask('/v1/results/words')).text);
  const cod = JSON.parse((await ask('/v1/results/words?value=cod')).text);
  assert.equal(cod.rows.length, 1);
  // What depends on the other rows, such as ranks, differs.
  const own = (/** @type {any} */ { value, count, stderr, low, high, raw }) => {
    return { value, count, stderr, low, high, raw };
  };
  const figures = own(cod.rows[0]);
  const listed = own(all.rows.find((/** @type {any} */ row) => row.value === 'cod'));
  assert.deepEqual(figures, listed);
  const secret = JSON.parse((await ask('/v1/results/words?value=secret')).text).rows[0];
  // 4 of 13 of 10,500 reports, and a standard error near 130.
  assert.ok(Math.abs(secret.count - (10500 * 4) / 13) < 5 * secret.stderr);
  assert.ok(secret.detected);
  const page = (await ask('/recipes/words?value=secret')).text;
  assert.match(page, /value="secret"/);
  assert.match(page, /fewer than 1 in 1,000,000,000 would look as large/); // a z of 25
  assert.ok(!page.includes('refresh.js'), 'it is not asked for again every two seconds');
  const never = (await ask('/recipes/words?value=nobody-typed-this')).text;
  assert.match(never, /about 1 in \d{1,3} would look as large/); // a z of 2.4 would be 1 in 122
  // The list of a closed domain is all there is.
  const odd = await ask('/v1/results/theme?value=blue');
  assert.deepEqual([odd.status, /value 0: /.test(odd.text)], [400, true]);
  assert.match((await ask('/recipes/theme?value=blue')).text, /class="note warn"/);
  const hostile = (await ask(`/recipes/words?value=${encodeURIComponent(HOSTILE)}`)).text;
  assert.ok(!hostile.includes('<script>alert') && !hostile.includes('\u202e'));
  assert.match(hostile, /value="&quot;&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;\ufffd"/);
  assert.equal((await ask(`/v1/results/words?value=${'x'.repeat(256)}`)).status, 200);
  assert.equal((await ask(`/v1/results/words?value=${'x'.repeat(257)}`)).status, 400);
  assert.equal((await ask('/?value=cod')).status, 400);
  assert.equal((await get(`${server.url}/v1/results/words?value=cod`)).status, 401);
  assert.equal((await ask('/v1/results/nothing?value=cod')).status, 404);
  const values = asked()
    .map(({ value }) => value)
    .filter(Boolean);
  assert.deepEqual(values.slice(0, 3), ['cod', 'secret', 'secret']);
  await server.end('SIGTERM');
});

test('a collection over time has the days of its blocks, as they are asked for one by one', async (t) => {
  const { server, ask, asked } = await filled(t);
  const answer = await ask('/recipes/words?view=periods');
  assert.equal(answer.status, 200);
  const page = answer.text;
  assert.match(
    answer.headers.get('content-security-policy') ?? '',
    /^default-src 'none';.*sha256-.*sha256-/,
  );
  const scripts = page.match(/<script[^>]*>/g) ?? [];
  assert.ok(
    scripts.every((tag) => /^<script type="module" src="\/[\w./-]+">$/.test(tag)),
    `none is inline: ${scripts}`,
  );
  const table = /Every figure.*?<tbody>(.*?)<\/tbody>/s.exec(page)?.[1] ?? '';
  const rows = [...table.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) => cell),
  );
  assert.deepEqual(
    rows.map(([period, n]) => [period, n]),
    [
      [day(-5), '3,000'],
      [day(-4), '3,500'],
      [day(-2), '4,000'],
    ],
  );
  for (const [period, , cod] of rows) {
    const one = JSON.parse((await ask(`/v1/results/words?period=${period}`)).text);
    const share =
      (100 * one.rows.find((/** @type {any} */ row) => row.value === 'cod').count) / one.n;
    assert.ok(Math.abs(Number.parseFloat(cod) - share) < 0.06, `${period}: ${cod}, ${share}`);
  }
  const part = (await ask(`/recipes/words?view=periods&from=${day(-4)}`)).text;
  assert.ok(part.includes(day(-4)) && !part.includes(day(-5)));
  assert.equal(
    (await ask('/recipes/words?view=periods&from=2001-01-01&to=2001-01-02')).status,
    403,
  );
  assert.equal(
    (await ask('/recipes/theme?view=periods')).status,
    200,
    'the list is its dictionary',
  );
  assert.equal((await get(`${server.url}/recipes/words?view=periods`)).status, 401);
  assert.equal((await ask('/recipes/nothing?view=periods')).status, 404);
  const line = asked().find((one) => one.collection === 'words' && one.status === 200);
  assert.match(line.blocks, /words 1-1.*words 2-2.*words 3-3/);
  await server.end('SIGTERM');
});

test('a server that answers for all days together shows no periods', async (t) => {
  const { server, ask } = await filled(t, { period: 'all' });
  const answer = await ask('/recipes/words?view=periods');
  assert.equal(answer.status, 400);
  assert.match(answer.text, /answers for all days together/);
  await server.end('SIGTERM');
});

test(
  'in a browser the form asks, and the pages lead to one another',
  { skip: isSanitized },
  async (t) => {
    const { server } = await filled(t, { read_token_file: undefined });
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    /** @type {string[]} */
    const said = [];
    page.on('console', (message) => said.push(message.text()));
    await page.goto(`${server.url}/recipes/words`);
    await page.getByLabel('One value').fill('secret');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.waitForURL(/value=secret/);
    assert.equal(await page.locator('td.value').textContent(), 'secret');
    assert.equal(await page.getByLabel('One value').inputValue(), 'secret');
    await page.getByRole('link', { name: 'All values' }).click();
    await page.waitForURL(/words$/);
    await page.getByRole('link', { name: 'Over time' }).click();
    await page.waitForURL(/view=periods/);
    assert.equal(await page.locator('figure').count(), 2); // what can be told from zero: cod and eel
    const download = page.waitForEvent('download');
    await page.getByRole('heading', { level: 1 }).getByRole('link').click();
    await page.waitForURL(/words$/);
    await page.getByRole('link', { name: 'csv' }).click();
    const text = readFileSync(await (await download).path(), 'utf8');
    assert.match(text, /^value,count/);
    assert.deepEqual(said, []);
    await server.end('SIGTERM');
  },
);

/** Cells of the table of collections. @param {string} page */
const overview = (page) =>
  [
    ...(/<h2>Collections<.*?<tbody>(.*?)<\/tbody>/s.exec(page)?.[1] ?? '').matchAll(
      /<tr>(.*?)<\/tr>/gs,
    ),
  ].map(([, row]) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => cell.replace(/<[^>]*>/g, '')),
  );

test('the first page lists the collections with what was released of them', async (t) => {
  const { server, ask } = await filled(t);
  const page = (await ask('/')).text;
  const rows = overview(page);
  assert.deepEqual(
    rows.map(([id, n, last, next, state]) => [id, n, last, /^\d{4}-\d\d-\d\d/.test(next), state]),
    [
      ['words', '10,500', day(-2), true, 'no alarm'],
      ['theme', '10,500', day(-2), true, 'no alarm'],
    ],
  );
  assert.equal(page.match(/<h2><a href="\/recipes\//g)?.length, 2, 'their rows are below');
  await server.end('SIGTERM');
});

test('with many collections the first page is their table alone', async (t) => {
  const folder = makeFolder(t);
  const recipes = Array.from({ length: 40 }, (_, i) => listRecipe(`list-${i}`));
  const server = await serve(t, configure(folder, recipes));
  const page = (await get(`${server.url}/`)).text;
  const rows = overview(page);
  assert.equal(rows.length, 40);
  assert.deepEqual(rows[39].toSpliced(3, 1), [
    'list-39',
    '0',
    '\u2013',
    'waits for 100 reports',
    '\u2013', // no line yet
  ]);
  assert.ok(!page.includes('<h2><a'));
  await server.end('SIGTERM');
});
