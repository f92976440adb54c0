// SPDX-License-Identifier: Apache-2.0
// The chart over time in Chromium: it takes the place of the pictures without moving anything, says by keyboard the figures of the
// table, zooms, hides values, follows the scheme and forced colours, leaves print and pages without scripts to the pictures, and shows
// hostile values as text. Pictures are in build/screenshots/.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import {
  dashboard,
  HOSTILE,
  importDays,
  keep,
  shifted,
  signIn,
  TOKENS,
  tooWide,
  violations,
} from './dashboard_site.mjs';
import { configure, listRecipe, makeFolder, serve } from './serve_helpers.mjs';

/** @typedef {import('playwright-core').Page} Page */
const PATH = '/recipes/words?view=periods';

/**
 * A reader's page over time.
 * @param {import('playwright-core').Browser} browser @param {string} url
 * @param {import('playwright-core').BrowserContextOptions} options
 */
async function open(browser, url, options = {}, path = PATH) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 844 },
    ...options,
  });
  const page = await context.newPage();
  /** @type {string[]} */
  const troubles = [];
  page.on('pageerror', (error) => troubles.push(String(error)));
  await signIn(page, url, 'alice');
  page.on('console', (message) => {
    // Chromium's word on how this test looks at the drawing.
    if (!message.text().includes('willReadFrequently')) troubles.push(message.text());
  });
  const go = () => page.goto(url + path);
  return { page, troubles, go };
}

/** @param {import('node:test').TestContext} t */
async function browse(t) {
  const browser = await launchBrowser();
  t.after(() => browser.close());
  return browser;
}

/** What the table says: the names, and of each period its name, reports and cells. @param {Page} page */
const tableOf = (page) =>
  page.evaluate(() => {
    const table = document.querySelector('table[data-unit]');
    const texts = (/** @type {Iterable<Element>} */ all) =>
      [...all].map((one) => one.textContent?.trim() ?? '');
    const rows = [...(table?.querySelectorAll('tbody tr') ?? [])].map((row) => texts(row.children));
    return { names: texts(table?.querySelectorAll('thead th') ?? []).slice(2), rows };
  });

/** What the chart says. @param {Page} page */
const chartOf = (page) =>
  page.evaluate(() => {
    const root = document.querySelector('.curves');
    const text = (/** @type {string} */ all) =>
      [...(root?.querySelectorAll(all) ?? [])].map((one) => one.textContent?.trim() ?? '');
    return {
      when: text('.curves-head p')[0],
      names: text('.curves-names bdi'),
      figures: text('.curves-names span'),
      said: text('[aria-live]')[0],
    };
  });

/** The period that the chart says, and whether everything is shown. @param {Page} page */
const stateOf = async (page) => ({
  when: (await chartOf(page)).when.split(' ')[0],
  isWhole: await page.locator('.curves-head button').isDisabled(),
});

/** How many pixels of the drawing have any ink. @param {Page} page */
const inkOf = (page) =>
  page.evaluate(() => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('.curves canvas'));
    const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).getImageData(
      0,
      0,
      canvas.width,
      canvas.height,
    );
    let n = 0;
    for (let i = 3; i < data.length; i += 4) n += Number(data[i] > 0);
    return n;
  });

/** The boxes of the pictures and of the chart, and of all that lies below. @param {Page} page */
const boxes = (page) =>
  page.evaluate(() => {
    const of = (/** @type {string} */ what) => {
      const { x, y, width, height } = /** @type {Element} */ (
        document.querySelector(what)
      ).getBoundingClientRect();
      return [x, y, width, height].map((each) => Math.round(each * 64) / 64);
    };
    return {
      pictures: of('.trends'),
      chart: document.querySelector('.curves') && of('.curves'),
      table: of('table[data-unit]'),
      footer: of('footer'),
    };
  });

const isDrawn = (/** @type {Page} */ page) => page.locator('.trends.drawn').count();

test('the chart takes the place of the pictures, and nothing moves', async (t) => {
  const { url } = await dashboard(t, { hostile: false });
  const browser = await browse(t);
  for (const width of [390, 1280])
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const viewport = { width, height: 844 };
      const { page, troubles, go } = await open(browser, url, { viewport, colorScheme });
      await go();
      assert.equal(await isDrawn(page), 1);
      assert.equal(await shifted(page), 0);
      const { pictures, chart, ...below } = await boxes(page);
      assert.deepEqual(chart, pictures);
      assert.equal(await page.locator('.trends figure').first().isVisible(), false);
      assert.ok((await inkOf(page)) > 5000);
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(await tooWide(page), []);
      const { running, moves } = await page.evaluate(() => ({
        running: document.getAnimations().length,
        moves: [...document.querySelectorAll('.curves, .curves *')].filter((one) => {
          const { transitionDuration, animationName } = getComputedStyle(one);
          return transitionDuration !== '0s' || animationName !== 'none';
        }).length,
      }));
      assert.deepEqual([running, moves], [0, 0], 'there is no motion to reduce');
      await keep(page, `chart-${width}-${colorScheme}`);
      assert.deepEqual(troubles, []);

      // The same window before the script came: what it finds is where it stays.
      await page.route('**/assets/chart-*', (route) => route.abort());
      await go();
      assert.equal(await isDrawn(page), 0);
      assert.deepEqual(await boxes(page), { pictures, chart: null, ...below });
      assert.equal(await page.locator('.trends figure').first().isVisible(), true);
      await page.context().close();
    }
});

test('by keyboard the chart says every figure of the table, in any order of its rows', async (t) => {
  const { url } = await dashboard(t, { hostile: false });
  const browser = await browse(t);
  for (const order of ['', '&sort=reports&order=desc']) {
    const { page, troubles, go } = await open(browser, url, {}, PATH + order);
    await go();
    const { names, rows } = await tableOf(page);
    const periods = rows.toSorted(([a], [b]) => (a < b ? -1 : 1));
    assert.deepEqual([names.length, periods.length], [6, 12]);
    await page.locator('.curves-names button').last().focus();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.className'), 'curves-plot');
    await page.keyboard.press('Home');
    for (const [name, reports, ...cells] of periods) {
      const chart = await chartOf(page);
      assert.equal(chart.when, `${name} \u00b7 ${reports} reports`);
      assert.deepEqual([chart.names, chart.figures], [names, cells]);
      assert.equal(chart.said, `${name}: ${names[0]} ${cells[0]}`);
      await page.keyboard.press('ArrowRight');
    }
    const [last] = periods.slice(-1);
    for (let i = 1; i <= names.length; i++) {
      await page.keyboard.press('ArrowDown');
      const value = i % names.length;
      assert.equal((await chartOf(page)).said, `${last[0]}: ${names[value]} ${last[2 + value]}`);
    }
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowLeft');
    const before = periods.at(-2);
    assert.equal((await chartOf(page)).said, `${before?.[0]}: ${names[5]} ${before?.[7]}`);
    assert.deepEqual(troubles, []);
    await page.context().close();
  }
});

test('keys, a drag and the button zoom, and the mouse moves the cursor', async (t) => {
  const { url } = await dashboard(t, { hostile: false });
  const { page, troubles, go } = await open(await browse(t), url);
  await go();
  const days = (await tableOf(page)).rows.map(([name]) => name);
  const plot = page.locator('.curves-plot');
  const whole = page.locator('.curves-head button');
  const at = (/** @type {number} */ i, isWhole = true) => ({ when: days[i], isWhole });
  assert.deepEqual(await stateOf(page), at(11), 'the newest period');
  await plot.focus();
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  assert.deepEqual(await stateOf(page), at(11, false));
  for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowLeft');
  assert.deepEqual(await stateOf(page), at(5, false), 'the window goes with the cursor');
  await page.keyboard.press('Escape');
  assert.deepEqual(await stateOf(page), at(5));
  await page.keyboard.press('+');
  await page.keyboard.press('-');
  assert.deepEqual(await stateOf(page), at(5));

  const over = page.locator('.curves .u-over');
  const box = (await over.boundingBox()) ?? assert.fail('no drawing');
  // All periods are between 3/106 and 103/106 of the width.
  const place = (/** @type {number} */ i, n = 11) =>
    box.x + (box.width * (3 + (100 * i) / n)) / 106;
  const y = box.y + box.height / 2;
  for (const i of [2, 9, 0]) {
    await page.mouse.move(place(i), y);
    await page.waitForFunction(
      (day) => document.querySelector('.curves-head p')?.textContent?.startsWith(day),
      days[i],
    );
  }
  await page.mouse.move(place(3), y);
  await page.mouse.down();
  await page.mouse.move(place(5), y);
  await page.mouse.move(place(7), y);
  await page.mouse.up();
  await page.waitForFunction(
    () => !document.querySelector('.curves-head button')?.matches('[disabled]'),
  );
  // Periods 3 to 7 now fill the width.
  for (const i of [3, 4, 7]) {
    await page.mouse.move(place(i - 3, 4), y);
    await page.waitForFunction(
      (day) => document.querySelector('.curves-head p')?.textContent?.startsWith(day),
      days[i],
    );
  }
  await keep(page, 'chart-zoomed');
  await whole.click();
  assert.equal(await whole.isDisabled(), true);
  assert.equal(await page.evaluate('document.activeElement.className'), 'curves-plot');
  assert.deepEqual(troubles, []);
});

test('the legend hides and shows a value, and the scale follows', async (t) => {
  const { url } = await dashboard(t, { hostile: false });
  const { page, troubles, go } = await open(await browse(t), url);
  await go();
  const { names } = await tableOf(page);
  const first = page.locator('.curves-names button').first();
  const ink = await inkOf(page);
  await first.focus();
  await page.keyboard.press('Space');
  assert.equal(await first.getAttribute('aria-pressed'), 'false');
  await page.waitForFunction(() => document.querySelector('.curves-names .chosen') !== null);
  assert.notEqual(await inkOf(page), ink);
  await page.locator('.curves-plot').focus();
  for (let i = 1; i < 2 * names.length; i++) {
    await page.keyboard.press('ArrowDown');
    const { said } = await chartOf(page);
    assert.ok(!said.includes(` ${names[0]} `), `a hidden value is passed over: ${said}`);
  }
  assert.deepEqual(await violations(page), []);
  // With all hidden there is a cursor, and no figure to read.
  for (const button of (await page.locator('.curves-names button').all()).slice(1))
    await button.click();
  await page.locator('.curves-plot').focus();
  await page.keyboard.press('Home');
  assert.match((await chartOf(page)).said, /^\S+: no value is shown$/);
  for (const button of await page.locator('.curves-names button').all()) await button.click();
  await page.mouse.move(0, 0);
  await page.keyboard.press('Escape');
  assert.deepEqual(troubles, []);
});

test('the chart follows the scheme and forced colours, and print shows the pictures', async (t) => {
  const { url } = await dashboard(t, { hostile: false });
  const { page, troubles, go } = await open(await browse(t), url);
  await go();
  /** The colour of the drawing's lines: that of the most opaque pixels. */
  const colours = () =>
    page.evaluate(() => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('.curves canvas'));
      const { width, height } = canvas;
      const pixels = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).getImageData(
        0,
        0,
        width,
        height,
      ).data;
      /** @type {Record<string, number>} */
      const found = {};
      for (let i = 0; i < pixels.length; i += 4)
        if (pixels[i + 3] === 255) {
          const name = `${pixels[i]},${pixels[i + 1]},${pixels[i + 2]}`;
          found[name] = (found[name] ?? 0) + 1;
        }
      return Object.keys(found).sort((a, b) => found[b] - found[a]);
    });
  const settle = () => page.waitForTimeout(100);
  const light = await colours();
  assert.ok(light.includes('31,118,125'), light.slice(0, 8).join(' '));
  await page.emulateMedia({ colorScheme: 'dark' });
  await settle();
  const dark = await colours();
  assert.ok(dark.includes('79,179,187') && !dark.includes('31,118,125'));
  await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'active' });
  await settle();
  const [forced] = await colours();
  const text = await page.evaluate(() => getComputedStyle(document.body).color);
  assert.equal(`rgb(${forced.replaceAll(',', ', ')})`, text);
  await keep(page, 'chart-forced');
  await page.emulateMedia({ media: 'print', forcedColors: 'none' });
  assert.equal(await page.locator('.curves').isVisible(), false);
  assert.equal(await page.locator('.trends figure').first().isVisible(), true);
  assert.deepEqual(troubles, []);
});

test('without scripts the pictures stay', async (t) => {
  const { url } = await dashboard(t, { hostile: false });
  const { page, troubles, go } = await open(await browse(t), url, { javaScriptEnabled: false });
  await go();
  assert.equal(await page.locator('.curves').count(), 0);
  assert.equal(await page.locator('.trends figure').count(), 6);
  for (const figure of await page.locator('.trends figure').all())
    assert.equal(await figure.isVisible(), true);
  // Room that only the chart needs is not there.
  const [box, last] = await Promise.all(
    [page.locator('.trends'), page.locator('.trends figure').last()].map((one) =>
      one.boundingBox(),
    ),
  );
  assert.ok(box && last && box.y + box.height - (last.y + last.height) < 1);
  await keep(page, 'chart-without-scripts');
  assert.deepEqual(troubles, []);
});

test('hostile values are text in the chart', async (t) => {
  const folder = makeFolder(t);
  const values = [
    ...HOSTILE,
    "</script><script>document.title='pwned'</script>",
    '" onmouseover="document.title=\'pwned\'" x="',
    '</bdi></td>-->]]>{{1+1}}${1}',
  ];
  for (const name of /** @type {const} */ (['alice', 'admin']))
    writeFileSync(join(folder, name), `${TOKENS[name]}\n`);
  const recipe = { ...listRecipe('words'), parameters: { epsilon: 4, values } };
  const config = configure(folder, [recipe], {
    readers: [{ name: 'alice', token_file: 'alice', collections: 'all' }],
    edges: ['https://edge.example.org'],
  });
  const counts = values.map((value, i) => `${value}\t${9 - i}\n`).join('');
  importDays(
    folder,
    0,
    [-6, -4, -2].map((from) => ({ from, devices: 3000, counts })),
  );
  const { url } = await serve(t, config);
  const browser = await browse(t);
  for (const width of [390, 1280]) {
    const { page, troubles, go } = await open(browser, url, { viewport: { width, height: 844 } });
    await go();
    assert.equal(await isDrawn(page), 1);
    const { names } = await tableOf(page);
    assert.deepEqual(
      names.toSorted(),
      values.map((value) => value.replace(/[\u200F\u202E\u2066]/g, '\uFFFD')).toSorted(),
    );
    assert.deepEqual((await chartOf(page)).names, names);
    await page.locator('.curves-plot').focus();
    for (const [i, name] of names.entries()) {
      assert.ok(i === 0 || (await chartOf(page)).said.includes(name));
      await page.keyboard.press('ArrowDown');
    }
    for (const button of await page.locator('.curves-names button').all()) await button.hover();
    const made = await page.evaluate(() => ({
      title: document.title,
      scripts: document.scripts.length,
      made: document.querySelectorAll('.trends :is(img, script, iframe, [onmouseover], [onerror])')
        .length,
    }));
    assert.deepEqual(made, { title: 'words', scripts: 1, made: 0 });
    assert.equal(await shifted(page), 0);
    assert.deepEqual([await violations(page), await tooWide(page)], [[], []]);
    await keep(page, `chart-hostile-${width}`);
    assert.deepEqual(troubles, []);
    await page.context().close();
  }
});

test('a mean has its own unit, and what is withheld is a gap that says so', async (t) => {
  const folder = makeFolder(t);
  const number = { ...listRecipe('mean'), value: 'number' };
  const recipes = [
    { ...number, mechanism: 'one-bit-mean', parameters: { epsilon: 3, low: -50, high: 50 } },
    {
      ...listRecipe('theme'),
      parameters: { epsilon: 4, values: ['light', 'dark'] },
      release: { threshold: 700 },
    },
  ];
  writeFileSync(join(folder, 'alice'), `${TOKENS.alice}\n`);
  const config = configure(folder, recipes, {
    readers: [{ name: 'alice', token_file: 'alice', collections: 'all' }],
    edges: ['https://edge.example.org'],
  });
  const devices = 3000;
  const dark = [3, 1, 4];
  for (const [r, counts] of [
    () => '-20\t1\n5\t1\n',
    (/** @type {number} */ i) => `light\t6\ndark\t${dark[i]}\n`,
  ].entries())
    importDays(
      folder,
      r,
      [-6, -4, -2].map((from, i) => ({ from, devices, counts: counts(i) })),
    );
  const { url } = await serve(t, config);
  const browser = await browse(t);
  for (const width of [390, 1280]) {
    const viewport = { width, height: 844 };
    const mean = await open(browser, url, { viewport }, '/recipes/mean?view=periods');
    await mean.go();
    const { rows } = await tableOf(mean.page);
    assert.match(rows[2][2], /^\u2212?\d+\.\d+ ±\u202f\d/);
    assert.deepEqual((await chartOf(mean.page)).figures, rows[2].slice(2));
    assert.equal(await shifted(mean.page), 0);
    await keep(mean.page, `chart-mean-${width}`);

    const few = await open(browser, url, { viewport }, '/recipes/theme?view=periods');
    await few.go();
    const table = await tableOf(few.page);
    assert.deepEqual(table.names, ['light', 'dark']);
    assert.deepEqual(
      table.rows.map(([, , , cell]) => cell === 'withheld'),
      [false, true, false],
    );
    await few.page.locator('.curves-plot').focus();
    for (const key of ['ArrowDown', 'ArrowLeft']) await few.page.keyboard.press(key);
    assert.equal((await chartOf(few.page)).said, `${table.rows[1][0]}: dark withheld`);
    assert.equal(await shifted(few.page), 0);
    await keep(few.page, `chart-withheld-${width}`);
    assert.deepEqual([...mean.troubles, ...few.troubles], []);
  }
});

test('a finger moves the cursor', async (t) => {
  const { url } = await dashboard(t, { hostile: false });
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const { page, troubles, go } = await open(await browse(t), url, phone);
  await go();
  const days = (await tableOf(page)).rows.map(([name]) => name);
  const over = page.locator('.curves .u-over');
  await over.scrollIntoViewIfNeeded();
  const box = (await over.boundingBox()) ?? assert.fail('no drawing');
  for (const i of [2, 8]) {
    await page.touchscreen.tap(box.x + (box.width * (3 + (100 * i) / 11)) / 106, box.y + 40);
    await page.waitForFunction(
      (day) => document.querySelector('.curves-head p')?.textContent?.startsWith(day),
      days[i],
    );
  }
  assert.equal(await page.locator('.curves-head button').isDisabled(), true, 'a tap zooms nothing');
  assert.deepEqual(troubles, []);
});
