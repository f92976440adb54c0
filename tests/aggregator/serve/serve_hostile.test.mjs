// SPDX-License-Identifier: Apache-2.0
// Hostile strings in every place where a page shows a text that is not its own: values of lists and dictionaries, values that are asked
// for, texts that are searched for, filters and lines of the audit log, and titles and names of a report. Markup stays text, marks of
// direction are gone, and 256 bytes without a place to break make no page wider than a phone.
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { dashboard, good, HOSTILE, signIn, tooWide } from './dashboard_site.mjs';

const [MARKUP, BIDI, LONG] = HOSTILE;
const enc = encodeURIComponent;
// What a form may carry of each: a search takes 64 bytes.
const SHORT = [MARKUP, BIDI, LONG.slice(0, 64)];

/** Every page that shows such a text, and how often it shows the markup at least. @type {[string, number][]} */
const PAGES = [
  ['/', 2],
  ['/recipes/words', 1],
  ['/recipes/theme', 1],
  ['/recipes/words?top=0&sort=value', 1],
  ['/recipes/words?view=periods', 2],
  ['/recipes/theme?view=periods', 1],
  ['/recipes/words?view=periods&sort=value&order=desc', 2],
  ...HOSTILE.map(
    (text) => /** @type {[string, number]} */ ([`/recipes/words?value=${enc(text)}`, 0]),
  ),
  ...HOSTILE.map(
    (text) => /** @type {[string, number]} */ ([`/recipes/theme?value=${enc(text)}`, 0]),
  ),
  ...SHORT.flatMap((text) =>
    [
      '/?find=',
      '/recipes/words?sort=value&find=',
      '/recipes/words?view=periods&find=',
      '/books?find=',
    ].map((path) => /** @type {[string, number]} */ ([path + enc(text), 0])),
  ),
  ...HOSTILE.map(
    (text) =>
      /** @type {[string, number]} */ ([`/books/log?what=${enc(text)}&value=${enc(text)}`, 0]),
  ),
  ['/books/log', 3],
  ['/books/log?sort=value&order=desc', 3],
];

/** What of a page is not as it should be. @param {import('playwright-core').Page} page */
const wrongIn = (page) =>
  page.evaluate(() => {
    const html = document.documentElement;
    const made = document.querySelectorAll(
      'img, iframe, script:not([src="/refresh.js"], [src^="/assets/chart-"]), [onerror]',
    );
    const shown =
      html.innerText +
      [...html.querySelectorAll('*')]
        .flatMap((one) => [...one.attributes].map(({ value }) => value))
        .join('\n');
    return [
      ...[...made].map((one) => one.outerHTML),
      ...(document.title === 'pwned' ? ['a script ran'] : []),
      ...(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/.test(shown) ? ['marks of direction'] : []),
    ];
  });

test('hostile strings stay text on every page, and make none of them wide', async (t) => {
  const site = await dashboard(t);
  // Lines of the audit log in every text that a request has.
  for (const text of HOSTILE)
    for (const path of [
      `/v1/results/${enc(text)}`,
      `/v1/results/words?dictionary=${enc(text)}`,
      `/v1/results/words?period=${enc(text)}`,
      `/v1/results/words?value=${enc(text)}`,
    ])
      await site.ask(path);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  /** @type {string[]} */
  const troubles = [];
  await signIn(page, site.url, 'alice');
  page.on('console', (message) => troubles.push(message.text()));
  page.on('dialog', (dialog) => troubles.push(dialog.message()));
  page.on('request', (request) => {
    if (!/^(file|data):/.test(request.url()) && !request.url().startsWith(site.url))
      troubles.push(`asked ${request.url()}`);
  });
  /** @param {string} url @param {number} times */
  const check = async (url, times) => {
    const answer = await page.goto(url);
    assert.ok(answer === null || answer.status() <= 200, `${url}: ${answer?.status()}`);
    assert.deepEqual([await wrongIn(page), await tooWide(page)], [[], []], url);
    const found = (await page.locator('body').innerText()).split('<img src=x').length - 1;
    assert.ok(found >= times, `${url}: the markup is shown ${found} times`);
  };
  for (const [path, times] of PAGES) await check(site.url + path, times);
  await page.goto(`${site.url}/recipes/words?value=${enc(MARKUP)}`);
  assert.equal(await page.getByLabel('One value').inputValue(), MARKUP, 'it can be asked again');

  const named = site.accumulators.slice(0, 2).map((file, i) => {
    const copy = join(site.folder, `${i}-<img src=x onerror=alert(1)>\u202e${'y'.repeat(150)}.acc`);
    copyFileSync(file, copy);
    return copy;
  });
  const report = join(site.folder, 'report.html');
  const dictionary = ['--dictionary', join(site.folder, 'words.txt')];
  const recipe = ['--recipe', join(site.folder, 'recipe-0.json')];
  good('report', ...recipe, ...dictionary, '--title', HOSTILE.join(' '), '-o', report, ...named);
  await check(pathToFileURL(report).href, 5);
  assert.deepEqual(troubles, []);
});
