// SPDX-License-Identifier: Apache-2.0
// ?view=found: the words that nobody listed and their downloads are what `shoal discover` says of the same reports, with the block since
// which each stands out; every state says what is going on; words that are markup stay text; and in a browser the page is narrow enough
// for a phone and without a finding of axe.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { day, good, importDays, keep, tooWide, violations } from './dashboard_site.mjs';
import { configure, get, listRecipe, makeFolder, run, serve } from './serve_helpers.mjs';

const isSanitized = process.env.SHOAL_SANITIZED === '1'; // browsers are for the release build

/** @param {string} id @param {object} [changes] */
const sfp = (id, changes = {}) => ({
  ...listRecipe(id),
  value: 'word',
  mechanism: 'sfp',
  parameters: {
    epsilon: 4,
    epsilon_fragment: 6,
    k: 4096,
    m: 16,
    k_fragment: 2048,
    m_fragment: 256,
    length: 6,
    oracle: 'olh',
  },
  hash: 'poly1',
  seed: '5a'.repeat(32),
  ...changes,
});

const NGRAMS = {
  ...listRecipe('ngrams'),
  value: 'word',
  mechanism: 'rappor-ngram',
  parameters: {
    epsilon: 12,
    bits: 16,
    hashes: 2,
    cohorts: 2,
    p: 0.268943,
    q: 0.731057,
    f: 0,
    length: 4,
    n: 2,
    alphabet: 'acdehiknoprtu',
  },
  hash: 'poly1',
  seed: 'dd'.repeat(32),
  records: { keep_days: 3 },
};

const MARKUP = '<b>x</'; // as long as a word may be
const COMMON = `eel\t40\ncod\t20\n${MARKUP}\t12\nü"&'\t10\n`;
const RECIPES = [
  sfp('words'),
  sfp('empty'),
  sfp('waiting'),
  sfp('small', { release: { threshold: 2500 } }),
  NGRAMS,
  listRecipe('theme'),
];

/** @param {import('node:test').TestContext} t @param {string[]} options of the program */
async function site(t, ...options) {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'known.txt'), 'cod\nhaddock\n');
  const config = configure(folder, RECIPES, { dictionaries: { words: 'known.txt' }, honest: 0.9 });
  const files = {
    // "pike" is sent on the last day alone.
    words: importDays(folder, 0, [
      { from: -3, devices: 8000, counts: COMMON },
      { from: -2, devices: 8000, counts: COMMON },
      { from: -1, devices: 8000, counts: `${COMMON}pike\t30\n` },
    ]),
    empty: importDays(folder, 1, [
      {
        from: -2,
        devices: 500,
        counts: Array.from({ length: 300 }, (_, i) => `w${i}\t1\n`).join(''),
      },
    ]),
    ngrams: importDays(folder, 4, [
      { from: -8, devices: 8000, counts: 'hare\t6\ntoad\t1\n' },
      { from: -2, devices: 8000, counts: 'hare\t6\nkite\t3\n' },
    ]),
    small: importDays(folder, 3, [{ from: -2, devices: 9000, counts: COMMON }]),
  };
  const server = await serve(t, config, ...options);
  /** @param {number} r @param {string[]} accumulators @param {...string} more */
  const says = (r, accumulators, ...more) => {
    const all = join(folder, `all-${r}.acc`);
    good('merge', '-o', all, ...accumulators);
    return good('discover', '--recipe', join(folder, `recipe-${r}.json`), ...more, all);
  };
  return { folder, config, files, says, ...server };
}

/** Asks until the view is made. @param {string} url */
async function made(url) {
  for (;;) {
    const answer = await get(url);
    if (answer.status !== 202 && !answer.text.includes('"working"')) return answer;
    assert.match(answer.text, /worked out/);
    assert.equal(answer.headers.get('retry-after'), '5');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** @param {string} text */
const unescape = (text) =>
  text
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');

/** Rows of the table of words. @param {string} html */
function words(html) {
  const body = html.split('class="found"')[1].split('<tbody>')[1].split('</tbody>')[0];
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) => {
    const cell = (/** @type {string} */ name) =>
      new RegExp(`<td class="${name}"[^>]*>(.*?)</td>`, 's').exec(row)?.[1] ?? '';
    return {
      value: unescape(cell('value')),
      count: Number(unescape(cell('count')).replace(/[^\d.-]/g, '')),
      how: unescape(cell('how').split('<span>')[0]),
      since: unescape(cell('how').split('<span>')[1] ?? ''),
    };
  });
}

test('the page and its downloads have the words of the command, and since when they stand out', async (t) => {
  const { folder, url, files, says } = await site(t);
  const known = ['--known', join(folder, 'known.txt')];
  const result = JSON.parse(says(0, files.words, ...known, '--format', 'json'));
  assert.ok(result.rows.length >= 4);
  const page = await made(`${url}/recipes/words?view=found`);
  assert.equal(page.status, 200);
  const shown = words(page.text);
  assert.deepEqual(
    shown.map(({ value, how }) => [value, how]),
    result.rows.map((/** @type {any} */ row) => [row.value, row.found]),
  );
  for (const [i, { count }] of shown.entries())
    assert.ok(Math.abs(count - result.rows[i].count) <= 0.5, `${count} ${result.rows[i].count}`);
  const since = Object.fromEntries(shown.map((row) => [row.value, row.since]));
  assert.equal(since.eel, `since ${day(-3)}`);
  assert.equal(since.pike, `since ${day(-1)}`);
  assert.ok(MARKUP in since && !page.text.includes(MARKUP));
  assert.match(page.text, /1 more was found, but is in the list of known words/);
  assert.match(page.text, /href="\/v1\/results\/words\?view=found&amp;format=csv"/);

  const json = JSON.parse((await made(`${url}/v1/results/words?view=found`)).text);
  assert.deepEqual({ ...json, guarantees: 0 }, { ...result, guarantees: 0 });
  const csv = await made(`${url}/v1/results/words?view=found&format=csv`);
  assert.equal(csv.text, says(0, files.words, ...known, '--format', 'csv'));
  // One day alone: what that day's blocks tell.
  const one = JSON.parse((await made(`${url}/v1/results/words?view=found&period=${day(-1)}`)).text);
  assert.equal(one.n, 8000);
  assert.deepEqual(
    one.rows,
    JSON.parse(says(0, [files.words[2]], ...known, '--format', 'json')).rows,
  );

  const sorted = words((await made(`${url}/recipes/words?view=found&sort=value`)).text);
  assert.deepEqual(
    sorted.map(({ value }) => value),
    shown.map(({ value }) => value).sort((a, b) => (Buffer.from(a) < Buffer.from(b) ? -1 : 1)),
  );
  const find = words((await made(`${url}/recipes/words?view=found&find=ik`)).text);
  assert.deepEqual(
    find.map(({ value }) => value),
    ['pike'],
  );
});

test('words of n-grams are found in the blocks that have their records', async (t) => {
  const { url, files, says } = await site(t);
  const json = JSON.parse((await made(`${url}/v1/results/ngrams?view=found`)).text);
  const result = JSON.parse(says(4, [files.ngrams[1]], '--format', 'json'));
  assert.ok(result.rows.some((/** @type {any} */ row) => row.value === 'hare'));
  assert.deepEqual({ ...json, guarantees: 0 }, { ...result, guarantees: 0 });
  const page = await made(`${url}/recipes/ngrams?view=found`);
  assert.match(page.text, /Older blocks are left out\./);
  const gone = await made(`${url}/recipes/ngrams?view=found&period=${day(-8)}`);
  assert.match(gone.text, /The records that it needs are gone\..*kept 3 days/);
});

test('every state says what is going on', async (t) => {
  const { url, files, says } = await site(t);
  const empty = await made(`${url}/recipes/empty?view=found`);
  assert.match(empty.text, /Nothing stands out from the noise\./);
  const waiting = await made(`${url}/recipes/waiting?view=found`);
  assert.equal(waiting.status, 200);
  assert.match(
    waiting.text,
    /There are too few reports yet\..*minimum cohort of 100; the next tick/,
  );
  assert.equal((await made(`${url}/v1/results/waiting?view=found`)).status, 403);
  const small = await made(`${url}/recipes/small?view=found`);
  const { withheld } = JSON.parse(says(3, files.small, '--format', 'json'));
  assert.ok(withheld > 0);
  assert.match(small.text, new RegExp(`${withheld} more (is|are) below the release threshold`));
  for (const path of ['/recipes/theme?view=found', '/v1/results/theme?view=found']) {
    const { status, text } = await get(url + path);
    assert.equal(status, 404, path);
    assert.match(text, /does not find words that nobody listed/);
  }
  assert.equal((await get(`${url}/recipes/words?view=found&dictionary=none`)).status, 404);
  assert.match(
    (await get(`${url}/recipes/words`)).text,
    /<a href="\?view=found">Words that nobody/,
  );
  assert.match(
    (await get(`${url}/recipes/empty`)).text,
    /<a href="\?view=found">Words that nobody/,
  );
});

test('other questions are answered while views are made, and the server ends meanwhile', async (t) => {
  const { url, end } = await site(t);
  for (let i = 0; i < 3; i++) {
    await get(`${url}/v1/results/theme`); // after the first one alarms of all collections are tested
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  const views = ['words', 'empty', 'small'].map((id) => get(`${url}/recipes/${id}?view=found`));
  assert.equal((await get(`${url}/v1/results/theme`)).status, 403);
  for (const { status } of await Promise.all(views)) assert.ok([200, 202].includes(status));
  await get(`${url}/recipes/words?view=found&period=${day(-3)}`);
  await end('SIGTERM');
});

test('without the memory for it the view is refused, and the rest is served', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [RECIPES[0], listRecipe('theme')]);
  importDays(folder, 0, [{ from: -2, devices: 8000, counts: COMMON }]);
  const tried = run('serve', '--config', config, '--memory', '1M');
  const least = Number(/takes up to (\d+) MiB/.exec(tried.stderr)?.[1]);
  const { url, end } = await serve(t, config, '--memory', `${least + 40}M`);
  const { status, text } = await made(`${url}/recipes/words?view=found`);
  assert.equal(status, 503);
  assert.match(
    text,
    /not enough memory for this view\.<\/b> It needs \d\d+ MB of memory, and this/,
  );
  assert.equal((await get(`${url}/recipes/theme`)).status, 200);
  await end('SIGTERM');
  const more = await serve(t, config);
  assert.equal((await made(`${more.url}/recipes/words?view=found`)).status, 200);
});

test(
  'a browser shows it on a phone and a screen, light and dark, without a finding of axe',
  { skip: isSanitized },
  async (t) => {
    const { url } = await site(t);
    const browser = await launchBrowser();
    t.after(() => browser.close());
    /** @type {string[]} */
    const troubles = [];
    {
      // The first one who asks sees that it is being made, and then the view, without a click.
      const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
      page.on('console', (message) => troubles.push(message.text()));
      await page.goto(`${url}/recipes/words?view=found`);
      if (await page.getByRole('status').isVisible()) {
        assert.deepEqual([await violations(page), await tooWide(page)], [[], []]);
        await keep(page, 'found-working-390');
        assert.equal(await page.getByRole('link', { name: 'Look again' }).count(), 1);
      }
      await page.getByText('stand out from the noise').waitFor({ timeout: 60_000 });
      await page.close();
    }
    for (const colorScheme of /** @type {const} */ (['light', 'dark']))
      for (const width of [390, 1280]) {
        const page = await browser.newPage({ viewport: { width, height: 844 }, colorScheme });
        page.on('console', (message) => troubles.push(message.text()));
        for (const id of ['words', 'empty', 'waiting', 'small']) {
          await made(`${url}/recipes/${id}?view=found`);
          await page.goto(`${url}/recipes/${id}?view=found`);
          assert.deepEqual([await violations(page), await tooWide(page)], [[], []], id);
          await keep(page, `found-${id}-${width}-${colorScheme}`);
        }
        await page.close();
      }
    assert.deepEqual(troubles, []);
  },
);
