// SPDX-License-Identifier: Apache-2.0
// The playground in Chromium: a first chart, a list of one's own with hostile values, links, axe,
// and no request of another origin. Pictures are kept in build/pictures/.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { makeSite, serveSite } from '../build.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = fileURLToPath(new URL('../../../build/pictures/', import.meta.url));
const WAIT_MS = 60_000;
/** @type {Awaited<ReturnType<typeof serveSite>>} */
let site;
/** @type {import('playwright-core').Browser} */
let browser;

before(async () => {
  mkdirSync(pictures, { recursive: true });
  await makeSite();
  site = await serveSite(0);
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync'],
  });
});
after(async () => {
  await browser?.close();
  site?.close();
});

/** @param {import('playwright-core').BrowserContextOptions} options @param {string} [fragment] */
async function open(options, fragment = '') {
  const page = await browser.newPage(options);
  /** @type {string[]} */
  const troubles = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(message.text());
  });
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(site.url)) troubles.push(`asked ${request.url()}`);
  });
  await page.goto(site.url + fragment);
  await page.waitForSelector('#seen table', { timeout: WAIT_MS });
  return { page, troubles };
}

for (const [width, colorScheme] of /** @type {const} */ ([
  [1280, 'light'],
  [390, 'dark'],
]))
  test(`a first chart at ${width}, ${colorScheme}: in view, axe finds nothing`, async () => {
    const { page, troubles } = await open({ viewport: { width, height: 844 }, colorScheme });
    assert.match((await page.textContent('#answer')) ?? '', /^\d+ of 1,000 values can be told/);
    assert.equal(await page.locator('#seen tbody tr').count(), 20);
    const { scrolls, violations } = await page.evaluate(async (source) => {
      (0, eval)(source); // the test's own world: the page's policy allows none
      const { axe } = /** @type {any} */ (window);
      const found = await axe.run(document);
      return {
        scrolls: document.documentElement.scrollWidth > innerWidth,
        violations: found.violations.map((/** @type {any} */ each) => [
          each.id,
          each.nodes.map((/** @type {any} */ node) => node.target),
        ]),
      };
    }, AXE);
    assert.deepEqual(violations, []);
    assert.equal(scrolls, false);
    await page.screenshot({ path: `${pictures}playground-${width}.png`, fullPage: true });
    assert.deepEqual(troubles, []);
    await page.close();
  });

test('by keyboard: another epsilon, another crowd, another mechanism, a list of one’s own', async () => {
  const { page, troubles } = await open({ viewport: { width: 1280, height: 844 } });
  const answer = () => page.textContent('#answer');
  const changed = async (/** @type {() => Promise<unknown>} */ act) => {
    const was = await page.innerHTML('#seen');
    await act();
    await page.waitForFunction((old) => document.querySelector('#seen')?.innerHTML !== old, was, {
      timeout: WAIT_MS,
    });
  };
  await page.focus('[name=epsilon]');
  await changed(() => page.keyboard.press('Home'));
  assert.equal(await page.textContent('#epsilon-said'), '0.5');
  assert.match((await page.textContent('#verdict')) ?? '', /^One report: strong/);
  await changed(() => page.press('[name=epsilon]', 'End'));
  await changed(async () => {
    await page.focus('[name=mechanism]');
    await page.keyboard.type('had');
  });
  assert.match((await answer()) ?? '', /with hadamard\.$/);
  await changed(() => page.press('#crowd button', 'Enter'));
  await page.focus('[name=kind][value=words]');
  await changed(async () => {
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
  });
  await changed(() =>
    page.fill('[name=own]', '<img src=x onerror="document.title=1"> 900\n‮drow 500'),
  );
  assert.equal(await page.locator('#seen img').count(), 0);
  assert.equal(
    await page.locator('#seen tbody th').first().textContent(),
    '<img src=x onerror="document.title=1">',
  );
  assert.equal(await page.locator('#seen tbody th').nth(1).textContent(), '\uFFFDdrow');
  await page.fill('[name=own]', 'tea 5\nnothing');
  await page.waitForFunction(() => document.querySelector('#own-problem')?.textContent !== '');
  assert.match((await page.textContent('#own-problem')) ?? '', /^Line 2: /);
  const link = await page.getAttribute('#link', 'href');
  assert.ok(link && !link.includes('tea'));
  assert.deepEqual(troubles, []);
  await page.close();
});

test('a link brings its settings back; a wrong one does no harm', async () => {
  const { page, troubles } = await open(
    {},
    '#kind=choices&devices=8&epsilon=2&mechanism=hadamard&seed=7&skew=zz',
  );
  assert.equal(await page.textContent('#devices-said'), '2,000');
  assert.match((await page.textContent('#answer')) ?? '', /with hadamard\.$/);
  assert.equal(await page.locator('#seen tbody tr').count(), 5);
  assert.deepEqual(troubles, []);
  await page.close();
});

test('without the module the page says what is missing', async () => {
  const page = await browser.newPage();
  await page.route('**/shoal.wasm', (route) => route.fulfill({ status: 404 }));
  await page.goto(site.url);
  await page.waitForFunction(() => document.querySelector('#problem')?.textContent !== '');
  assert.match((await page.textContent('#problem')) ?? '', /could not be drawn/);
  await page.close();
});
