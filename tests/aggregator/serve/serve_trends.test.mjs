// SPDX-License-Identifier: Apache-2.0
// The lines in the table of collections: each point is what `shoal estimate` says of the same block, drawn to the pixel; there is none
// where there is nothing to tell, and nobody sees one of a collection that is not theirs.
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TOKENS, day, good, importDays } from './dashboard_site.mjs';
import { DASH, comes, drawn, trendsOf } from './trend_helpers.mjs';
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

const FISH = ['cod', 'eel', 'herring'];
/** Days of words, of which "cod" falls. @param {number} n */
const words = (n) =>
  Array.from({ length: n }, (_, i) => ({
    from: i - n - 1,
    devices: 3000 + 200 * i,
    counts: `cod\t${60 - 3 * i}\neel\t20\nherring\t${20 + 2 * i}\n`,
  }));

const NUMBERS = Array.from({ length: 100 }, (_, i) => `${i}\t${101 - i}\n`).join('');

/** The figures of one value in each accumulator, as the command says them. @param {string[]} args @param {string[]} accumulators @param {string} [value] */
const figures = (args, accumulators, value) =>
  accumulators.map((file) => {
    const { n, statistic, rows } = JSON.parse(good('estimate', ...args, '--format', 'json', file));
    const row = rows.find((/** @type {any} */ one) => !value || one.value === value);
    if (!row) return undefined;
    const unit = statistic === 'mean' ? 1 : n / 100;
    const { count, mean, low, high } = row;
    return { value: (count ?? mean) / unit, low: low / unit, high: high / unit };
  });

const READERS = [
  { name: 'alice', token_file: 'alice', collections: 'all' },
  { name: 'bob', token_file: 'bob', collections: ['theme'] },
];
const as = (/** @type {string} */ token) => ({ authorization: `Bearer ${token}` });

test('each point is what the command says of its block, and one more day is one more point', async (t) => {
  const folder = makeFolder(t);
  const at = (/** @type {string} */ file) => join(folder, file);
  writeFileSync(at('words.txt'), FISH.join('\n'));
  const numbers = {
    ...listRecipe('mean'),
    value: 'number',
    mechanism: 'one-bit-mean',
    parameters: { epsilon: 3, low: 0, high: 100 },
  };
  const config = configure(folder, [cmsRecipe('words'), listRecipe('theme'), numbers], {
    dictionaries: { words: 'words.txt' },
  });
  const light = (/** @type {number} */ i) => `light\t${5 + i}\ndark\t4\n`;
  const of = {
    words: importDays(folder, 0, words(6)),
    theme: importDays(
      folder,
      1,
      [0, 1, 2].map((i) => ({ from: i - 4, devices: 900, counts: light(i) })),
    ),
    mean: importDays(
      folder,
      2,
      [0, 1].map((i) => ({ from: i - 3, devices: 2000, counts: NUMBERS })),
    ),
  };
  const server = await serve(t, config);
  const trends = await comes(server.url, (all) => Object.values(all).every((one) => one !== DASH));
  const words0 = ['--recipe', at('recipe-0.json'), '--dictionary', at('words.txt')];
  const known = /** @type {Record<string, any[]>} */ ({
    words: figures(words0, of.words, 'cod'),
    theme: figures(['--recipe', at('recipe-1.json')], of.theme, 'light'),
    mean: figures(['--recipe', at('recipe-2.json')], of.mean),
  });
  for (const id of ['words', 'theme', 'mean']) {
    const { band, line } = trends[id];
    assert.deepEqual({ band, line }, drawn(known[id]), id);
    const [first, last] = [known[id][0], known[id].at(-1)];
    const said = /: from (\S+)(?: %)? to (\S+)(?: %)?, error ±(\S+?)(?: %)?; (\d+) periods, /.exec(
      trends[id].title,
    );
    assert.ok(said, trends[id].title);
    const decimals = said[1].split('.')[1]?.length ?? 0;
    assert.deepEqual(
      said.slice(1, 4),
      [first.value, last.value, (last.high - last.low) / 2].map((one) => one.toFixed(decimals)),
    );
    assert.equal(said[4], `${known[id].length}`);
  }
  assert.match(trends.words.title, /^share of cod: .* %, error/);
  assert.ok(trends.words.title.endsWith(`6 periods, ${day(-7)} to ${day(-2)}`), trends.words.title);
  assert.match(trends.words.beside, /^<b>cod<\/b> \d+(\.\d+)? %$/);
  assert.match(trends.mean.title, /^mean: from [\d.]+ to [\d.]+, error/);
  assert.match(trends.theme.title, /^share of light: /);

  await server.end('SIGTERM');
  const seven = importDays(folder, 0, [...words(6), { ...words(6)[5], from: -1 }], 6);
  const again = await serve(t, config);
  const more = await comes(again.url, (all) => Object.values(all).every((one) => one !== DASH));
  const known7 = figures(words0, seven, 'cod');
  assert.deepEqual({ band: more.words.band, line: more.words.line }, drawn(known7));
  assert.deepEqual(more.theme, trends.theme);

  // No question reads a block for the table.
  renameSync(at('store/accumulators'), at('store/away'));
  assert.deepEqual(trendsOf((await get(`${again.url}/`)).text), more);
  renameSync(at('store/away'), at('store/accumulators'));
});

test('only the newest 24 periods are drawn', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme')]);
  const days = Array.from({ length: 27 }, (_, i) => ({
    from: i - 28,
    devices: 300,
    counts: 'light\t5\ndark\t2\n',
  }));
  const accumulators = importDays(folder, 0, days);
  const { url } = await serve(t, config);
  const { theme } = await comes(url, (all) => all.theme !== DASH);
  assert.ok(theme.title.endsWith(`24 periods, ${day(-25)} to ${day(-2)}`), theme.title);
  const recipe = ['--recipe', join(folder, 'recipe-0.json')];
  const { band, line } = theme;
  assert.deepEqual({ band, line }, drawn(figures(recipe, accumulators.slice(3), 'light')));
});

test('without two points there is a dash, and what is withheld is a gap', async (t) => {
  const folder = makeFolder(t);
  const at = (/** @type {string} */ file) => join(folder, file);
  const recipes = [
    cmsRecipe('no-dictionary'),
    listRecipe('one-block'),
    listRecipe('waiting', { cohort: { minimum: 5000 } }),
    listRecipe('secret', { release: { threshold: 500 } }),
    listRecipe('gap', { release: { threshold: 500 } }),
    cmsRecipe('noise'),
    listRecipe('last'),
  ];
  writeFileSync(at('nobody.txt'), 'whale\nshark\n');
  const config = configure(folder, recipes, { dictionaries: { noise: 'nobody.txt' } });
  const light = { counts: 'light\t7\ndark\t3\n' };
  importDays(folder, 0, words(2));
  importDays(folder, 1, [{ from: -2, devices: 3000, ...light }]);
  const two = (/** @type {number[]} */ ...devices) =>
    devices.map((n, i) => ({ from: i - devices.length - 1, devices: n, ...light }));
  importDays(folder, 3, two(300, 400)); // together above the threshold, each below
  const accumulators = importDays(folder, 4, two(2000, 300, 2100, 2200));
  importDays(folder, 5, words(2));
  importDays(folder, 6, two(1000, 1000));
  const { url } = await serve(t, config);
  for (const batch of simulate(at('recipe-2.json'), light.counts, 4000, 2000))
    assert.equal((await post(url, batch)).status, 201); // fewer than the cohort
  const trends = await comes(url, (all) => all.last !== DASH && all.gap !== DASH);
  const none = ['no-dictionary', 'one-block', 'waiting', 'secret', 'noise'];
  assert.deepEqual(
    none.map((id) => [id, trends[id]]),
    none.map((id) => [id, DASH]),
  );
  const known = figures(['--recipe', at('recipe-4.json')], accumulators, 'light');
  assert.equal(known[1], undefined, 'the command withholds it too');
  assert.match(trends.gap.title, /; 3 periods, /);
  assert.deepEqual(
    trends.gap.line.match(/[Mh]/g),
    ['M', 'h', 'M'],
    'a point, nothing, and a line of two',
  );
});

test('a server that answers for all days together has no lines', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme')], { period: 'all' });
  const days = [-3, -2].map((from) => ({ from, devices: 2000, counts: 'light\t7\ndark\t3\n' }));
  importDays(folder, 0, days);
  const { url } = await serve(t, config);
  await new Promise((resolve) => setTimeout(resolve, 2500)); // two turns in which others are made
  assert.deepEqual(trendsOf((await get(`${url}/`)).text), { theme: DASH });
});

test('a reader sees lines of its own collections, and a reload looks at dictionaries again', async (t) => {
  const folder = makeFolder(t);
  const at = (/** @type {string} */ file) => join(folder, file);
  writeFileSync(at('words.txt'), FISH.join('\n'));
  writeFileSync(at('alice'), TOKENS.alice);
  writeFileSync(at('bob'), 'token-of-bob-0123456789');
  const config = configure(folder, [cmsRecipe('words'), listRecipe('theme')], {
    dictionaries: { words: 'words.txt' },
    readers: READERS,
    audit_log: 'log',
  });
  importDays(folder, 0, words(4));
  const shown = [-3, -2].map((from) => ({ from, devices: 2000, counts: 'light\t7\ndark\t3\n' }));
  importDays(folder, 1, shown);
  const server = await serve(t, config, '--watch');
  const alice = as(TOKENS.alice);
  const all = await comes(
    server.url,
    (trends) => trends.words !== DASH && trends.theme !== DASH,
    alice,
  );
  assert.match(all.words.title, /^share of cod/);
  const page = (await get(`${server.url}/`, as('token-of-bob-0123456789'))).text;
  assert.deepEqual(trendsOf(page), { theme: all.theme });
  assert.ok(!page.includes('cod') && !page.includes('words'), page);

  writeFileSync(at('words.txt'), 'eel\nherring\n'); // "cod" may not be asked any more
  const next = await comes(
    server.url,
    (trends) => trends.words !== DASH && !trends.words.title.includes('cod'),
    alice,
  );
  assert.match(next.words.title, /^share of (eel|herring): .*; 4 periods/);
  assert.deepEqual((await comes(server.url, (trends) => trends.theme !== DASH, alice)).theme, {
    ...all.theme,
  });
});
