// SPDX-License-Identifier: Apache-2.0
// How numbers are spread, on the page of a collection: the histogram and its tables are what `shoal estimate` prints of the same
// reports, in a real browser, on a phone and a screen, light and dark, under the page's policy and without a finding of axe.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { good, importDays, keep, tooWide, violations } from './dashboard_site.mjs';
import { configure, get, listRecipe, makeFolder, serve } from './serve_helpers.mjs';

const isSanitized = process.env.SHOAL_SANITIZED === '1'; // browsers are for the release build

/** @param {string} id @param {string} mechanism @param {object} [parameters] @param {object} [changes] */
const numbers = (id, mechanism, parameters = {}, changes = {}) => ({
  ...listRecipe(id),
  value: 'number',
  mechanism,
  parameters: { epsilon: 3, low: 0, high: 100, ...parameters },
  ...changes,
});

/** Numbers around 40, and hardly any above 90. */
const COUNTS = Array.from(
  { length: 100 },
  (_, i) => `${i}\t${Math.max(0, 100 - Math.round((i - 40) ** 2 / 25))}\n`,
).join('');

/** @param {import('node:test').TestContext} t */
async function site(t) {
  const folder = makeFolder(t);
  const recipes = [
    numbers('places', 'square-wave'),
    numbers('pieces', 'piecewise'),
    numbers('buckets', 'grr', { size: 8 }),
    numbers('secret', 'grr', { size: 8 }, { release: { threshold: 400 } }),
    numbers('mean', 'one-bit-mean'),
    listRecipe('theme'),
  ];
  const config = configure(folder, recipes, {});
  const accumulators = recipes.map(
    (_, r) =>
      importDays(folder, r, [
        { from: -2, devices: 6000, counts: r === 5 ? 'light\t7\ndark\t3\n' : COUNTS },
      ])[0],
  );
  const { url } = await serve(t, config);
  return { folder, url, accumulators };
}

/** @param {string} html @param {string} name of a region with a table @returns {string[][]} */
function table(html, name) {
  const region = html.split(`aria-label="${name}"`)[1]?.split('</table>')[0].split('<tbody>')[1];
  return (region?.match(/<tr.*?<\/tr>/gs) ?? []).map((row) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell]) =>
      cell.replace(/\u202f%/g, ''),
    ),
  );
}

test('the page has the quantiles and the histogram that the command prints', async (t) => {
  const { folder, url, accumulators } = await site(t);
  for (const [r, id] of [
    [0, 'places'],
    [2, 'buckets'],
  ]) {
    const html = (await get(`${url}/recipes/${id}`)).text;
    const options = ['--quantiles', '0.25,0.5,0.75,0.9,0.99', '--format', 'json'];
    const recipe = ['--recipe', join(folder, `recipe-${r}.json`)];
    const { distribution } = JSON.parse(
      good('estimate', ...recipe, ...options, accumulators[Number(r)]),
    );
    const quantiles = table(html, 'Quantiles');
    assert.equal(quantiles.length, 5);
    for (const [i, { p, value, low, high }] of distribution.quantiles.entries()) {
      const [name, shown, interval] = quantiles[i];
      assert.equal(parseFloat(name), 100 * p);
      assert.ok(Math.abs(Number(shown) - value) <= 0.06, `${id} ${shown} ${value}`);
      const [from, to] = interval.split(' to ').map(Number);
      assert.ok(Math.abs(from - low) <= 0.06 && Math.abs(to - high) <= 0.06, interval);
    }
    const bins = table(html, 'Histogram');
    assert.equal(bins.length, distribution.histogram.length);
    for (const [i, { share }] of distribution.histogram.entries())
      assert.ok(Math.abs(Number(bins[i][1]) - 100 * share) <= 0.06, `${bins[i]}`);
    const whole = JSON.parse((await get(`${url}/v1/results/${id}`)).text);
    assert.deepEqual(whole.distribution, distribution, 'the download has them too');
  }
});

test('what tells no distribution has none, and what is below the threshold stays away', async (t) => {
  const { folder, url, accumulators } = await site(t);
  for (const path of [
    '/recipes/theme',
    '/recipes/mean',
    '/recipes/pieces',
    '/',
    '/recipes/theme?value=light',
  ]) {
    const html = (await get(url + path)).text;
    assert.doesNotMatch(html, /How the numbers are spread/, path);
  }
  const secret = (await get(`${url}/recipes/secret`)).text;
  const withheld = table(secret, 'Histogram').filter(([, share]) => share === 'withheld');
  assert.ok(withheld.length > 0 && withheld.length < 16, `${withheld.length}`);
  assert.deepEqual(table(secret, 'Quantiles'), [], 'they are points of the distribution function');
  assert.match(secret, /withheld, and so are quantiles/);
  const printed = good(
    'estimate',
    '--recipe',
    join(folder, 'recipe-3.json'),
    '--quantiles',
    '0.5',
    '--format',
    'json',
    accumulators[3],
  );
  const { histogram } = JSON.parse(printed).distribution;
  assert.equal(
    histogram.filter((/** @type {any} */ bin) => bin.share === null).length,
    withheld.length,
  );
  assert.equal((secret.match(/class="bin"/g) ?? []).length, 16 - withheld.length);
});

test(
  'the page is shown as it should be, on a phone and a screen',
  { skip: isSanitized },
  async (t) => {
    const { url } = await site(t);
    const browser = await launchBrowser();
    t.after(() => browser.close());
    for (const width of [390, 1280])
      for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
        const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
        const page = await context.newPage();
        /** @type {string[]} */
        const refused = [];
        page.on('console', (message) => {
          if (/Content Security Policy|violates/.test(message.text())) refused.push(message.text());
        });
        for (const id of ['places', 'buckets', 'secret']) {
          await page.goto(`${url}/recipes/${id}`);
          await page.getByText('Every figure of the histogram').click({ timeout: 5000 });
          assert.deepEqual(await tooWide(page), []);
          assert.deepEqual(await violations(page), []);
          const shape = await page.locator('.shape svg').first().boundingBox();
          assert.ok(shape && shape.height > 100 && shape.width > 250, 'the picture has its style');
          await keep(page, `numbers-${id}-${width}-${colorScheme}`);
        }
        assert.deepEqual(refused, []);
        await context.close();
      }
  },
);
