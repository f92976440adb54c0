// SPDX-License-Identifier: Apache-2.0
// The server's pages for everybody: axe finds nothing on any of them in any state, at 390 and 1280 pixels, light and dark (a half of
// these without SHOAL_LONG); nothing scrolls sideways, also at 200 %; nothing moves by itself; and the keyboard alone leads through. Pictures are in build/screenshots/.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import {
  dashboard,
  good,
  keep,
  PICTURES,
  shifted,
  signIn,
  STATES,
  tooWide,
  violations,
} from './dashboard_site.mjs';
import { isLong } from './serve_helpers.mjs';

/** How much may move while a busy machine paints a page that is half there: half of what is called good. */
const STILL = 0.05;

/** Two of the four in an ordinary run, which differ in both. */
const SIZES = /** @type {const} */ ([
  [390, 'dark'],
  [1280, 'light'],
  [390, 'light'],
  [1280, 'dark'],
])
  .slice(0, isLong ? 4 : 2)
  .map(([width, colorScheme]) => ({ viewport: { width, height: 844 }, colorScheme }));

/** @param {import('node:test').TestContext} t @param {{url: string}} site */
async function browse(t, { url }) {
  const browser = await launchBrowser();
  t.after(() => browser.close());
  /** @param {import('playwright-core').BrowserContextOptions} options */
  return async (options) => {
    /** @type {string[]} */
    const troubles = [];
    const people = /** @type {Record<string, import('playwright-core').Page>} */ ({});
    for (const who of /** @type {const} */ (['alice', 'admin'])) {
      const context = await browser.newContext(options);
      const page = (people[who] = await context.newPage());
      await signIn(page, url, who);
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) troubles.push(message.text());
      });
      page.on('pageerror', (error) => troubles.push(String(error)));
    }
    return { people, troubles };
  };
}

test('axe finds nothing on any page in any state, and nothing is wider than the window', async (t) => {
  const site = await dashboard(t);
  const report = join(site.folder, 'report.html');
  const dictionary = ['--dictionary', join(site.folder, 'words.txt')];
  const recipe = ['--recipe', join(site.folder, 'recipe-0.json')];
  good('report', ...recipe, ...dictionary, '-o', report, ...site.accumulators);
  const open = await browse(t, site);
  const found = [];
  for (const options of SIZES) {
    const { people, troubles } = await open(options);
    const size = `${options.viewport.width}-${options.colorScheme}`;
    for (const [name, [who, path]] of Object.entries({
      ...STATES,
      report: /** @type {const} */ (['alice', '']),
    })) {
      const page = people[who];
      await page.goto(name === 'report' ? pathToFileURL(report).href : site.url + path);
      const moved = await shifted(page); // before the picture, for which the window grows
      await keep(page, `${name}-${size}`);
      const wrong = [...(await violations(page)), ...(await tooWide(page))];
      if (moved > STILL) wrong.push(`it moves by itself: ${moved}`);
      found.push(...wrong.map((what) => `${name} at ${size}: ${what}`));
    }
    assert.deepEqual(troubles, []);
  }
  assert.deepEqual(found, []);
});

test('at 200 % nothing scrolls sideways, and a phone shows rows and cells to a screen reader', async (t) => {
  const site = await dashboard(t);
  const open = await browse(t, site);
  // A window of 1280 pixels at 200 % has 640 of CSS.
  const zoomed = await open({ viewport: { width: 640, height: 422 }, deviceScaleFactor: 2 });
  for (const [name, [who, path]] of Object.entries(STATES)) {
    const page = zoomed.people[who];
    await page.goto(site.url + path);
    assert.deepEqual(await tooWide(page), [], name);
    // Text alone at 200 %, which browsers offer too.
    await page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
    assert.deepEqual(await tooWide(page), [], `${name}, text alone`);
  }
  const phone = (await open({ viewport: { width: 390, height: 844 } })).people.alice;
  await phone.goto(`${site.url}/recipes/words`);
  const session = await phone.context().newCDPSession(phone);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const count = (/** @type {string} */ role) =>
    nodes.filter((one) => one.role?.value === role).length;
  assert.deepEqual([count('row'), count('columnheader'), count('cell') >= 44], [12, 4, true]);
});

test('what comes in later moves nothing and takes the focus from nobody', async (t) => {
  const site = await dashboard(t);
  const { people, troubles } = await (await browse(t, site))({});
  const page = people.alice;
  await page.goto(`${site.url}/`);
  await page.getByRole('link', { name: 'theme' }).first().focus();
  const painted = await shifted(page); // a busy machine may paint a page in two goes
  const before = await page.locator('main').innerHTML();
  await page.waitForTimeout(5000); // two turns of the page's script; the next tick is in its table
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'theme');
  await page.evaluate('document.activeElement.blur()');
  await page.waitForFunction((old) => document.querySelector('main')?.innerHTML !== old, before);
  assert.equal(await shifted(page), painted);
  assert.deepEqual(troubles, []);
});

/** What has the focus, as a person would say it. @param {import('playwright-core').Page} page */
const focused = (page) =>
  page.evaluate(() => {
    const one = /** @type {HTMLElement} */ (document.activeElement);
    const role = { A: 'link', BUTTON: 'button', INPUT: 'field', SUMMARY: 'summary' }[one.tagName];
    const name = one.getAttribute('aria-label') ?? (one.closest('label') ?? one).innerText;
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    const isSeen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
    return `${role ?? one.className} ${name.trim()}${isSeen ? '' : ' WITHOUT AN OUTLINE'}`;
  });

test('by keyboard alone: each step is written down, and what has the focus shows it', async (t) => {
  const site = await dashboard(t, { hostile: false });
  const { people, troubles } = await (await browse(t, site))({});
  const page = people.alice;
  /** @type {string[]} */
  const steps = [];
  const press = async (/** @type {string} */ key) => {
    await page.keyboard.press(key);
    steps.push(`${key}: ${await focused(page)}`);
  };
  /** Tabs to something, and takes it. @param {string} what */
  const reach = async (what) => {
    for (let i = 0; i < 40 && !steps.at(-1)?.endsWith(`: ${what}`); i++) await press('Tab');
    assert.ok(steps.at(-1)?.endsWith(`: ${what}`), `${what} is not reached: ${steps}`);
  };
  const take = async (/** @type {string} */ what, /** @type {string} */ to) => {
    await reach(what);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => (url.pathname + url.search).endsWith(to));
    steps.push(`Enter: the page ${new URL(page.url()).pathname}${new URL(page.url()).search}`);
  };
  await page.goto(`${site.url}/`);
  await take('link words', '/recipes/words');
  await reach('field One value');
  await page.keyboard.type('eel');
  steps.push('types eel');
  await take('button Ask', '?value=eel');
  await take('link All values', '/recipes/words');
  await take('link Over time', '?view=periods');
  await reach('wide Figures over time');
  await page.goBack();
  await take('link Books', '/books');
  await take('link words', '/books/recipes/words');
  await take('link Audit log', '/books/log');
  await reach('field What');
  await page.keyboard.type('page');
  await page.keyboard.press('Enter');
  await page.waitForURL(/what=page/);
  steps.push('types page, Enter: the lines of pages');
  await take('button Sign out', '/sign-in');
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(join(PICTURES, 'keyboard.txt'), `${steps.join('\n')}\n`);
  assert.deepEqual(
    steps.filter((step) => step.includes('WITHOUT')),
    [],
  );
  assert.deepEqual(troubles, []);
});
