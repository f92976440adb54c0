// SPDX-License-Identifier: Apache-2.0
// ?view=joint: the heat maps of a recipe with several variables and their downloads are what `shoal joint` says of the same reports; every
// state says what is going on; and in a browser the page is narrow enough for a phone, without a finding of axe, and shows hostile
// values as text.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { day, good, HOSTILE, importDays, keep, tooWide, violations } from './dashboard_site.mjs';
import {
  configure,
  get,
  listRecipe,
  makeFolder,
  post,
  run,
  serve,
  simulate,
} from './serve_helpers.mjs';

const isSanitized = process.env.SHOAL_SANITIZED === '1'; // browsers are for the release build

const AGES = ['young', 'old'];
const SECTIONS = ['sport', 'politics', ...HOSTILE];

/** @param {string} name @param {string[]} values @param {number} [epsilon] */
const list = (name, values, epsilon = 4) => ({
  name,
  value: 'item',
  mechanism: 'grr',
  parameters: { epsilon, values },
});

/** @param {string} id @param {object[]} variables @param {object} [changes] */
function joint(id, variables, changes = {}) {
  const { value: _, mechanism: __, parameters: ___, ...rest } = listRecipe(id);
  return { ...rest, variables, records: { keep_days: 30 }, ...changes };
}

/** Counts in which section and age hang together, but for the third section. */
const COUNTS = SECTIONS.flatMap((section, i) =>
  AGES.map((age, j) => `${section}\t${age}\t${[30, 4, 10, 9, 6, 6, 2, 5, 1, 3][2 * i + j]}\n`),
).join('');

const RECIPES = [
  joint('news', [list('section', SECTIONS), list('age', AGES)]),
  joint('three', [
    list('section', ['sport', 'politics']),
    list('age', AGES),
    list('theme', ['light', 'dark', HOSTILE[2]]),
  ]),
  joint('secret', [list('section', SECTIONS), list('age', AGES)], { release: { threshold: 500 } }),
  joint('strings', [
    {
      name: 'word',
      value: 'word',
      mechanism: 'olh',
      parameters: { epsilon: 4, k: 4096, g: 16 },
      hash: 'poly1',
      seed: '5a'.repeat(32),
    },
    list('age', AGES),
  ]),
  joint('unnamed', [
    {
      name: 'word',
      value: 'word',
      mechanism: 'olh',
      parameters: { epsilon: 4, k: 4096, g: 16 },
      hash: 'poly1',
      seed: '5a'.repeat(32),
    },
    list('age', AGES),
  ]),
  joint('old', [list('section', SECTIONS), list('age', AGES)]),
  joint('partly', [list('section', SECTIONS), list('age', AGES)]),
  joint('waiting', [list('section', SECTIONS), list('age', AGES)]),
  listRecipe('theme'),
];
const WORDS = 'eel\tyoung\t9\neel\told\t3\ncod\tyoung\t2\ncod\told\t8\npike\told\t2\n';
const THREE = 'sport\tyoung\tdark\t6\nsport\told\tlight\t2\npolitics\told\tlight\t7\n';

/** @param {import('node:test').TestContext} t @param {string[]} [options] of the program */
async function site(t, options = []) {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'words.txt'), 'eel\ncod\n');
  const config = configure(folder, RECIPES, {
    dictionaries: { strings: { word: 'words.txt' } },
    honest: 0.9,
  });
  /** @param {string} id @param {string} counts @param {number[]} [days] */
  const fill = (id, counts, days = [-3, -2]) =>
    importDays(
      folder,
      RECIPES.findIndex(({ recipe }) => recipe === id),
      days.map((from) => ({ from, devices: 3000, counts })),
    );
  const files = {
    news: fill('news', COUNTS),
    three: fill('three', THREE),
    secret: fill('secret', COUNTS),
    strings: fill('strings', WORDS, [-2]),
    unnamed: fill('unnamed', WORDS, [-2]),
    old: fill('old', COUNTS, [-40]),
    partly: fill('partly', COUNTS, [-40, -2]),
  };
  const { url, log } = await serve(t, config, ...options);
  /** @param {string} id @param {string[]} more arguments of shoal joint @param {string[]} accumulators */
  const says = (id, accumulators, ...more) => {
    const recipe = [
      '--recipe',
      join(folder, `recipe-${RECIPES.findIndex((r) => r.recipe === id)}.json`),
    ];
    const all = join(folder, `${id}.acc`);
    good('merge', '-o', all, ...accumulators);
    return good('joint', ...recipe, ...more, all);
  };
  return { folder, url, files, says, log };
}

/** Asks until the view is made. @param {string} url */
async function made(url) {
  for (;;) {
    const answer = await get(url);
    if (answer.status !== 202 && !answer.text.includes('"working"')) return answer;
    assert.match(answer.text, /worked out/);
    assert.equal(answer.headers.get('retry-after'), '5');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A result without what rests on blocks. @param {string} text */
const figures = (text) => {
  const { guarantees: _, ...rest } = JSON.parse(text);
  return rest;
};

/** @param {string} text */
const unescape = (text) =>
  text
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');

/** Cells of the map of a label: texts by row. @param {string} html @param {string} label */
function map(html, label) {
  const body = html.split(`aria-label="${label}"`)[1].split('<tbody>')[1].split('</tbody>')[0];
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => unescape(cell)),
  );
}

test('the downloads are what the command prints, byte for byte but for the guarantees of blocks', async (t) => {
  const { url, files, says } = await site(t);
  const of = `${url}/v1/results/`;
  const news = await made(`${of}news?view=joint`);
  assert.equal(news.status, 200, news.text);
  assert.deepEqual(figures(news.text), figures(says('news', files.news, '--format', 'json')));
  assert.equal(JSON.parse(news.text).n, 6000);
  const csv = await made(`${of}news?view=joint&format=csv`);
  assert.equal(csv.text, says('news', files.news, '--format', 'csv'));
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
  assert.equal(
    (await made(`${of}news?view=joint&format=ndjson`)).text,
    says('news', files.news, '--format', 'ndjson'),
  );
  // Of three variables the pair is named; one day is that day's blocks alone.
  const pair = await made(
    `${of}three?view=joint&variables=theme,section&from=${day(-2)}&to=${day(-2)}`,
  );
  assert.deepEqual(
    figures(pair.text),
    figures(says('three', [files.three[1]], '--variables', 'section,theme', '--format', 'json')),
  );
  const strings = await made(`${of}strings?view=joint`);
  assert.deepEqual(
    figures(strings.text),
    figures(
      says(
        'strings',
        files.strings,
        '--categories',
        `word=${files.strings[0].replace(/[^/]*$/, 'words.txt')}`,
        '--format',
        'json',
      ),
    ),
  );
  /** @type {[string, RegExp][]} */
  const refused = [
    ['three?view=joint', /variables names two/],
    ['three?view=joint&variables=age', /variables names two/],
    ['three?view=joint&variables=age,age', /variables names two/],
    ['three?view=joint&variables=age,nothing', /variables names two/],
    ['news?view=joint&value=sport', /value is asked without a view/],
    ['news?view=joint&format=xml', /format is json/],
    ['news?view=nothing', /view is periods, rounds, joint or found/],
    ['theme?view=joint', /several variables/],
  ];
  for (const [path, why] of refused) {
    const { status, text } = await get(of + path);
    assert.equal(status, path.startsWith('theme') ? 404 : 400, path);
    assert.match(text, why);
  }
});

test('the page has the figures of the command for each pair, and withholds small cells', async (t) => {
  const { url, files, says } = await site(t);
  const { status, text } = await made(`${url}/recipes/news?view=joint`);
  assert.equal(status, 200);
  const result = JSON.parse(says('news', files.news, '--format', 'json'));
  const rows = map(text, 'section by age');
  assert.equal(rows.length, SECTIONS.length + 1);
  for (const [i, section] of SECTIONS.entries()) {
    if (section === HOSTILE[0]) assert.equal(rows[i][0], section);
    for (const [j, age] of AGES.entries()) {
      const cell = result.cells.find((/** @type {any} */ c) => c.x === section && c.y === age);
      const [share, low, high] = (rows[i][j + 1].match(/[\d.]+/g) ?? []).map(Number);
      assert.ok(Math.abs(share - 100 * cell.p) <= 0.06, `${rows[i][j + 1]} ${cell.p}`);
      assert.ok(Math.abs(low - 100 * cell.low) <= 0.06, `${rows[i][j + 1]} ${cell.low}`);
      assert.ok(Math.abs(high - 100 * cell.high) <= 0.06, `${rows[i][j + 1]} ${cell.high}`);
    }
  }
  assert.match(text, /<b>Not independent<\/b>/);
  assert.match(text, /2 blocks, \d{4}-\d\d-\d\d to /);
  assert.match(text, /central|epsilon/);
  const three = await made(`${url}/recipes/three?view=joint`);
  for (const pair of ['section by age', 'section by theme', 'age by theme'])
    assert.equal(map(three.text, pair).length, 3, pair);
  assert.match(
    three.text,
    /href="\/v1\/results\/three\?view=joint&amp;variables=age,theme&amp;format=csv"/,
  );

  const secret = await made(`${url}/recipes/secret?view=joint`);
  const shown = JSON.parse(says('secret', files.secret, '--format', 'json'));
  assert.ok(shown.withheld > 0);
  const withheld = map(secret.text, 'section by age')
    .slice(0, -1)
    .flatMap((row) => row.slice(1, -1))
    .filter((cell) => cell === 'withheld');
  assert.equal(withheld.length, shown.withheld);

  // One block alone is another view, and an empty map is none.
  const one = await made(`${url}/recipes/news?view=joint&period=${day(-3)}`);
  assert.match(one.text, /1 block, /);
  assert.match(
    one.text,
    new RegExp(`view=joint&amp;from=${day(-3)}&amp;to=${day(-3)}&amp;variables`),
  );
});

test('every state says what is going on', async (t) => {
  const { url } = await site(t);
  /** @type {[string, number, RegExp][]} */
  const pages = [
    ['waiting', 200, /There are too few reports yet\..*minimum cohort of 100; the next tick is at/],
    ['old', 200, /The records that it needs are gone\..*kept 30 days/],
    ['partly', 200, /Older blocks are left out\..*1 block, /s],
    ['unnamed', 200, /Its values are not named\..*Variable word takes any string.*dictionaries/],
    ['strings', 200, /word by age/],
  ];
  for (const [id, status, what] of pages) {
    const answer = await made(`${url}/recipes/${id}?view=joint`);
    assert.equal(answer.status, status, id);
    assert.match(answer.text, what);
  }
  for (const id of ['waiting', 'old', 'unnamed'])
    assert.equal((await made(`${url}/v1/results/${id}?view=joint`)).status, 403, id);
  assert.equal((await get(`${url}/recipes/nothing?view=joint`)).status, 404);
  assert.equal((await get(`${url}/recipes/theme?view=joint`)).status, 404);
  assert.equal((await get(`${url}/recipes/news?view=joint&sort=value`)).status, 400);
  const page = (await get(`${url}/recipes/news`)).text;
  assert.match(page, /<a href="\?view=joint">What hangs together<\/a>/);
  assert.doesNotMatch((await get(`${url}/recipes/theme`)).text, /view=joint/);
});

test('it is kept until a block closes, asked under the same rights, and in the audit log', async (t) => {
  const folder = makeFolder(t);
  const tokens = { alice: 'token-of-alice-0123456789', bob: 'token-of-bob-0123456789' };
  for (const [name, token] of Object.entries(tokens)) writeFileSync(join(folder, name), token);
  const config = configure(folder, [RECIPES[0], listRecipe('theme')], {
    readers: [
      { name: 'alice', token_file: 'alice', collections: ['news'] },
      { name: 'bob', token_file: 'bob', collections: ['theme'] },
    ],
    audit_log: 'log',
  });
  const { url } = await serve(t, config);
  const ask = (/** @type {string} */ path, /** @type {keyof typeof tokens} */ who = 'alice') =>
    get(url + path, { authorization: `Bearer ${tokens[who]}` });
  const rows = async () => (await ask('/v1/results/news?view=joint')).text;
  const send = async (/** @type {string} */ seed, /** @type {number} */ n) => {
    for (const batch of simulate(join(folder, 'recipe-0.json'), COUNTS, n, n, seed))
      assert.equal((await post(url, batch)).status, 201);
  };
  /** Asks until the view has n reports: before a block closes, it has those of the earlier ones. */
  const until = async (/** @type {number} */ n, /** @type {number} */ before) => {
    for (;;) {
      const text = await rows();
      const found = JSON.parse(text).n ?? 0;
      if (found === n) return text;
      assert.equal(found, before, text);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await send('one', 3000);
  const first = await until(3000, 0);
  assert.equal(await rows(), first);
  for (const path of ['/recipes/ID?view=joint', '/v1/results/ID?view=joint']) {
    const hidden = await ask(path.replace('ID', 'news'), 'bob');
    const missing = await ask(path.replace('ID', 'nothing'), 'bob');
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
  }
  await send('two', 500);
  await until(3500, 3000);
  assert.match((await ask('/recipes/news?view=joint')).text, /<b>3,500<\/b> reports.*2 blocks, /s);
  const lines = readFileSync(join(folder, 'log/000001.jsonl'), 'utf8').trim().split('\n');
  const last = JSON.parse(lines[lines.length - 1]);
  assert.deepEqual([last.who, last.what, last.collection], ['alice', 'joint', 'news']);
  assert.match(last.blocks, /^news \d+-\d+$/);
});

test('a dictionary that is none of a variable ends the start', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'words.txt'), 'eel\n');
  for (const dictionaries of [{ news: 'words.txt' }, { news: { word: 'words.txt' } }]) {
    const config = configure(folder, [RECIPES[0]], { dictionaries });
    const { status, stderr } = run('serve', '--config', config, '--check');
    assert.notEqual(status, 0, stderr);
    assert.match(stderr, /dictionaries\.news: the recipe has 2 variables and none is called/);
  }
});

test('without the memory for it the view is refused, and the rest is served', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [RECIPES[0], listRecipe('theme')]);
  importDays(folder, 0, [{ from: -2, devices: 3000, counts: COUNTS }]);
  const least = /takes up to (\d+) MiB/.exec(
    run('serve', '--config', config, '--memory', '1M').stderr,
  )?.[1];
  const { url, end } = await serve(t, config, '--memory', `${Number(least) + 1}M`);
  const { status, text } = await made(`${url}/recipes/news?view=joint`);
  assert.equal(status, 503);
  assert.match(text, /There is not enough memory for this view\..*and this server may take 0 MB/);
  assert.match(
    (await made(`${url}/v1/results/news?view=joint`)).text,
    /"code":"memory".*not enough memory/,
  );
  assert.equal((await get(`${url}/recipes/theme`)).status, 200);
  await end('SIGTERM');
  const more = await serve(t, config, '--memory', `${Number(least) + 100}M`);
  assert.equal((await made(`${more.url}/recipes/news?view=joint`)).status, 200);
});

test(
  'a browser shows it on a phone and a screen, light and dark, without a finding of axe',
  { skip: isSanitized },
  async (t) => {
    const { url } = await site(t);
    const browser = await launchBrowser();
    t.after(() => browser.close());
    for (const colorScheme of /** @type {const} */ (['light', 'dark']))
      for (const width of [390, 1280]) {
        const page = await browser.newPage({ viewport: { width, height: 844 }, colorScheme });
        /** @type {string[]} */
        const troubles = [];
        page.on('console', (message) => troubles.push(message.text()));
        for (const id of ['news', 'three', 'secret', 'waiting', 'partly']) {
          await made(`${url}/recipes/${id}?view=joint`);
          await page.goto(`${url}/recipes/${id}?view=joint`);
          assert.deepEqual([await violations(page), await tooWide(page)], [[], []], id);
          await keep(page, `joint-${id}-${width}-${colorScheme}`);
        }
        await page.goto(`${url}/recipes/news`);
        await page.getByRole('link', { name: 'What hangs together' }).click();
        await page.getByRole('region', { name: 'section by age' }).focus(); // a keyboard can scroll it
        assert.equal(await page.title(), 'news');
        assert.deepEqual(troubles, []);
        await page.close();
      }
  },
);

test('with --memory for less than views may take, a reload is taken', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [RECIPES[0]]);
  const server = await serve(t, config, '--memory', '400M');
  process.kill(server.pid, 'SIGHUP');
  for (let i = 0; i < 100 && !/: (reloaded|reload refused)/.test(server.log()); i++)
    await new Promise((resolve) => setTimeout(resolve, 100));
  assert.match(server.log(), /: reloaded/);
});
