// SPDX-License-Identifier: Apache-2.0
// Pages of shoal report that have more than counts: how numbers are spread, and several recipes. Their figures are those of the commands, what is below the
// release threshold stays away, and each page is right in a browser on a phone and a screen, light and dark, without a finding of axe.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { HOSTILE, keep, tooWide, violations } from '../serve/dashboard_site.mjs';
import { list, makeCli, sketch } from './cli_helpers.mjs';

const { bad, good, has, path, read, release, write } = makeCli('report-pages');
after(release);

const LIGHTS = /** @type {const} */ (['light', 'dark']);

/** Collects a crowd. @param {string} name of recipe and accumulator @param {string} counts @param {number} devices @param {number} [day] */
function collect(name, counts, devices, day = 0) {
  write('c.tsv', counts);
  const where = ['--devices', `${devices}`, '--first', `${devices * day}`, '--seed', 'pages'];
  good('simulate', '--recipe', `${name}.json`, '--counts', 'c.tsv', ...where, '-o', 'b');
  good('ingest', '--recipe', `${name}.json`, '-o', `${name}-${day}.acc`, 'b');
}

/** @param {string} id @param {string} mechanism @param {object} [parameters] @param {object} [more] */
const numbers = (id, mechanism, parameters = {}, more = {}) => ({
  ...list([], 3),
  recipe: id,
  value: 'number',
  mechanism,
  parameters: { epsilon: 3, low: 0, high: 100, ...parameters },
  ...more,
});

/** Numbers around 40, and hardly any above 90. */
const AGES = Array.from(
  { length: 100 },
  (_, i) => `${i}\t${Math.max(0, 100 - Math.round((i - 40) ** 2 / 25))}\n`,
).join('');

before(() => {
  write('places.json', numbers('places', 'square-wave'));
  write('pieces.json', numbers('pieces', 'piecewise'));
  write('buckets.json', numbers('buckets', 'grr', { size: 8 }));
  write('secret.json', numbers('secret', 'grr', { size: 8 }, { release: { threshold: 400 } }));
  for (const name of ['places', 'pieces', 'buckets', 'secret'])
    for (const day of [0, 1]) collect(name, AGES, 4000, day);
  write('fish.json', sketch());
  write('fish.txt', [...HOSTILE, 'cod', 'hake', 'sole'].map((name) => `${name}\n`).join(''));
  for (const day of [0, 1])
    collect(
      'fish',
      read('fish.txt')
        .replace(/$/gm, '\t1')
        .replace(/\n\t1$/, '\n'),
      8000,
      day,
    );
});

/** Rows of the table in a region. @param {string} html @param {string} name @returns {string[][]} */
function table(html, name) {
  const region = html.split(`aria-label="${name}"`)[1]?.split('</table>')[0].split('<tbody>')[1];
  return (region?.match(/<tr.*?<\/tr>/gs) ?? []).map((row) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell]) =>
      cell
        .replace(/\u202f%/g, '')
        .replaceAll('\u2212', '-')
        .replaceAll(',', ''),
    ),
  );
}

/** Opens a file in a browser in each of four ways. @param {import('node:test').TestContext} t @param {string} file @param {string} picture */
async function look(t, file, picture) {
  const browser = await launchBrowser();
  t.after(() => browser.close());
  for (const width of [390, 1280])
    for (const colorScheme of LIGHTS) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      /** @type {string[]} */
      const seen = [];
      page.on('console', (message) => seen.push(message.text()));
      page.on('request', (request) => seen.push(request.url()));
      const url = pathToFileURL(path(file)).href;
      await page.goto(url);
      assert.deepEqual(seen, [url], 'no word of the console, no request');
      assert.equal(await page.evaluate('document.title'), file.replace('.html', ''));
      assert.deepEqual(await tooWide(page), [], `${width}`);
      await keep(page, `${picture}-${width}-${colorScheme}`);
      await page.evaluate(
        "for (const one of document.querySelectorAll('details')) one.open = true",
      );
      assert.deepEqual(await tooWide(page), [], `${width}, all open`);
      assert.deepEqual(await violations(page), [], `${width} ${colorScheme}`);
      await page.setViewportSize({ width: 794, height: 1123 }); // A4
      await page.emulateMedia({ media: 'print', colorScheme });
      assert.deepEqual(await tooWide(page), [], 'in print');
      await context.close();
    }
}

test('numbers have the quantiles, histogram and function that estimate prints of all together', () => {
  for (const name of ['places', 'buckets']) {
    const files = [0, 1].map((day) => `${name}-${day}.acc`);
    good('report', '--recipe', `${name}.json`, '-o', 'spread.html', ...files);
    const html = read('spread.html');
    good('merge', '-o', 'all.acc', ...files);
    const { distribution } = JSON.parse(
      good(
        ...['estimate', '--recipe', `${name}.json`, '--quantiles', '0.25,0.5,0.75,0.9,0.99'],
        ...['--format', 'json', 'all.acc'],
      ).text,
    );
    const quantiles = table(html, 'Quantiles');
    assert.equal(quantiles.length, 5);
    for (const [i, { p, value, low, high }] of distribution.quantiles.entries()) {
      assert.equal(parseFloat(quantiles[i][0]), 100 * p);
      assert.ok(Math.abs(Number(quantiles[i][1]) - value) <= 0.06);
      const [from, to] = quantiles[i][2].split(' to ').map(Number);
      assert.ok(Math.abs(from - low) <= 0.06 && Math.abs(to - high) <= 0.06);
    }
    const bins = table(html, 'Histogram');
    assert.equal(bins.length, distribution.histogram.length);
    for (const [i, { share }] of distribution.histogram.entries())
      assert.ok(Math.abs(Number(bins[i][1]) - 100 * share) <= 0.06, `${bins[i]}`);
    const steps = table(html, 'Distribution function');
    assert.ok(steps.length >= 8 && steps.length <= 17, `${steps.length}`);
    for (const [to, share, interval] of steps) {
      const step = distribution.ecdf.find(
        (/** @type {any} */ one) => Math.abs(one.value - Number(to)) < 0.06,
      );
      assert.ok(Math.abs(Number(share) - 100 * step.share) <= 0.06, to);
      const [low, high] = interval.split(' to ').map(Number);
      assert.ok(Math.abs(low - 100 * step.low) <= 0.06 && Math.abs(high - 100 * step.high) <= 0.06);
    }
    assert.equal(Number(steps.at(-1)?.[0]), 100);
    assert.equal((html.match(/class="rise"/g) ?? []).length, 1);
  }
});

test('a mean has no distribution, and what is below the threshold stays away', () => {
  good('report', '--recipe', 'pieces.json', '-o', 'mean.html', 'pieces-0.acc');
  assert.doesNotMatch(read('mean.html'), /How the numbers are spread/);
  good('report', '--recipe', 'secret.json', '-o', 'secret.html', 'secret-0.acc', 'secret-1.acc');
  const secret = read('secret.html');
  const withheld = table(secret, 'Histogram').filter(([, share]) => share === 'withheld');
  assert.ok(withheld.length > 0 && withheld.length < 16, `${withheld.length}`);
  assert.equal((secret.match(/class="bin"/g) ?? []).length, 16 - withheld.length);
  assert.deepEqual(table(secret, 'Quantiles'), []);
  assert.deepEqual(table(secret, 'Distribution function'), []);
  assert.doesNotMatch(secret, /class="rise"/);
});

test('numbers in a browser', async (t) => {
  const options = ['--title', 'ages', '-o', 'ages.html'];
  good('report', '--recipe', 'places.json', ...options, 'places-0.acc', 'places-1.acc');
  await look(t, 'ages.html', 'report-numbers');
});

/** The sections of a page of one recipe, without the last. @param {string} name @param {string[]} more */
function alone(name, more) {
  good('report', '--recipe', `${name}.json`, ...more, '-o', 'alone.html', ...filesOf(name));
  const sections = read('alone.html').match(/<section>.*?<\/section>/gs) ?? [];
  assert.equal(sections.length, 4);
  return sections.slice(0, 3);
}

/** @param {string} name */
const filesOf = (name) => [0, 1].map((day) => `${name}-${day}.acc`);
const THREE = ['fish', 'places', 'buckets'];
const RECIPES = THREE.flatMap((name) => ['--recipe', `${name}.json`]);
const WORDS = ['--dictionary', 'fish=fish.txt'];

test('several recipes are parts of one page, each with the sections that it has alone', () => {
  // The order of accumulators of different recipes does not matter.
  const mixed = [0, 1].flatMap((day) => THREE.map((name) => `${name}-${day}.acc`));
  good('report', ...RECIPES, ...WORDS, '-o', 'three.html', ...mixed);
  const html = read('three.html');
  const contents = /<nav aria-label="Contents">(.*?)<\/nav>/.exec(html)?.[1];
  assert.equal(contents, THREE.map((name, i) => `<a href="#part-${i + 1}">${name}</a>`).join(''));
  const parts = html.split(/<div id="part-\d">/).slice(1);
  assert.equal(parts.length, 3);
  for (const [i, name] of THREE.entries()) {
    const sections = alone(name, i === 0 ? ['--dictionary', 'fish.txt'] : []);
    const mine = (parts[i].match(/<section>.*?<\/section>/gs) ?? []).slice(0, 3);
    assert.deepEqual(
      mine.map((one) => one.replaceAll(`: ${name}"`, '"').replaceAll(`: ${name}</h2>`, '</h2>')),
      sections,
    );
  }
  assert.equal((html.match(/What this does not say/g) ?? []).length, 1);
  assert.match(html, /<title>Results of 3 collections<\/title>/);
});

test('what cannot be one page is refused by name', () => {
  const page = ['-o', 'never.html'];
  const all = THREE.flatMap(filesOf);
  bad(
    2,
    /same recipe as fish.json/,
    'report',
    ...RECIPES,
    '--recipe',
    'fish.json',
    ...page,
    ...all,
  );
  bad(2, /secret-0.acc is of none of the 3/, 'report', ...RECIPES, ...page, ...all, 'secret-0.acc');
  bad(
    2,
    /none of the accumulators is of recipe buckets.json/,
    'report',
    ...RECIPES,
    ...page,
    ...all.slice(0, 4),
  );
  bad(
    2,
    /fish.txt: with several recipes it is ID=FILE/,
    'report',
    ...RECIPES,
    '--dictionary',
    'fish.txt',
    ...page,
    ...all,
  );
  bad(
    2,
    /--variable x: .* ID=NAME/,
    'report',
    ...RECIPES,
    ...WORDS,
    '--variable',
    'x',
    ...page,
    ...all,
  );
  bad(2, /twice for recipe fish/, 'report', ...RECIPES, ...WORDS, ...WORDS, ...page, ...all);
  bad(2, /recipe fish: .*dictionary/, 'report', ...RECIPES, ...page, ...all);
  bad(5, /none.acc/, 'report', ...RECIPES, ...WORDS, ...page, ...all, 'none.acc');
  bad(1, /fish.txt is no accumulator/, 'report', ...RECIPES, ...WORDS, ...page, ...all, 'fish.txt');
  bad(
    1,
    /recipe places: places-0: .*both/,
    'report',
    ...RECIPES,
    ...WORDS,
    ...page,
    ...all,
    'places-0.acc',
  );
  // One part below its minimum leaves no page at all.
  write('strict.json', { ...sketch(), recipe: 'strict', cohort: { minimum: 50000 } });
  collect('strict', 'cod\t1\n', 4000);
  const strict = ['--recipe', 'strict.json', '--dictionary', 'strict=fish.txt'];
  bad(
    3,
    /recipe strict: .*minimum/,
    'report',
    ...RECIPES,
    ...WORDS,
    ...strict,
    ...page,
    ...all,
    'strict-0.acc',
  );
  assert.ok(!has('never.html'));
});

test('several recipes in a browser, with hostile values', async (t) => {
  const options = [...RECIPES, ...WORDS, '--title', 'several', '-o', 'several.html'];
  good('report', ...options, ...THREE.flatMap(filesOf));
  assert.ok(!read('several.html').includes('<img'));
  await look(t, 'several.html', 'report-several');
});
