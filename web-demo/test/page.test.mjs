// SPDX-License-Identifier: Apache-2.0
// The page in a real Chromium under its own policy: what it requests and when, what it shows, what it never keeps.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { wholeDay } from '../../tests/aggregator/serve/serve_helpers.mjs';
import { RESULTS, launch, result, startSite, until } from './demo_site.mjs';

const SHOTS = fileURLToPath(new URL('../../build/web-demo/', import.meta.url));

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof startSite>>} */
let site;
/** @type {import('playwright-core').BrowserContext} */
let context;
/** @type {string[]} what went wrong in any page of this test */
let errors;

before(async () => {
  await wholeDay(120); // budgets are of a UTC day
  browser = await launch();
});
after(() => browser.close());
beforeEach(async () => {
  site = await startSite();
});
afterEach(async () => {
  await context.close();
  await site.close();
  assert.deepEqual(errors, []);
});

/** Opens the page and waits until it works. @param {import('playwright-core').BrowserContextOptions} [options] */
async function open(options = {}, url = site.url) {
  errors = [];
  context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  /** @type {string[]} */
  const requested = [];
  page.on(
    'console',
    (message) => ['error', 'warning'].includes(message.type()) && errors.push(message.text()),
  );
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(url);
  await page.locator('html[data-ready]').waitFor();
  return { page, requested };
}

/** Consents, and waits until it holds: what happens before belongs to no consent. @param {import('playwright-core').Page} page */
async function takePart(page) {
  await page.getByRole('button', { name: 'Yes, take part' }).click();
  await page.locator('shoal-consent #stop').waitFor();
}

test('before consent: no client, no wasm, no edge, nothing stored', async () => {
  const { page, requested } = await open();
  await page.locator('#words').pressSequentially('nobody hears this ');
  await page.getByRole('link', { name: 'youtube.com' }).click();
  await page.waitForTimeout(1000);
  assert.equal(page.url(), site.url, 'the link was not navigated to');
  const names = new Set(requested.map((url) => url.replace(site.url, '')));
  for (const url of requested) assert.ok(url.startsWith(site.url), `${url} is another origin`);
  const own =
    /^(|favicon\.svg|style\.css|(main|crowd|histogram|tree)\.js|config\.json|crowd\/demo-(words|sites)\.json|shoal\/(loader|option_check)\.js|ui\/(shoal-ui|elements|lang\/en)\.js)$/;
  for (const name of names) assert.match(name, own);
  assert.deepEqual(site.edge.requests, []);
  const stored = await page.evaluate(async () => [
    localStorage.length,
    (await indexedDB.databases()).length,
    document.cookie,
  ]);
  assert.deepEqual(stored, [0, 0, '']);
  await page.getByText('Consent has not been given.').waitFor();
});

test('consent, type, visit: the record appears and goes to the edge; withdraw: nothing more', async () => {
  const { page } = await open();
  await takePart(page);
  await page.locator('#words').pressSequentially('Hello wonderful ');
  await until('two reports of words', () => site.edge.reports().length === 2);
  await page.locator('shoal-panel #record svg').waitFor();
  await page.getByRole('link', { name: 'bbc.co.uk' }).click();
  await until('the report of the visit', () => site.edge.reports().length === 3);
  await page.locator('shoal-panel #json', { hasText: 'demo-sites' }).waitFor({ state: 'attached' });

  const reports = site.edge.reports();
  assert.deepEqual(reports.map((report) => report.key).sort(), [
    'demo-sites',
    'demo-words',
    'demo-words',
  ]);
  for (const report of reports) {
    assert.deepEqual(Object.keys(report), ['key', 'recipe_hash', 'parameters', 'records']);
    assert.match(
      report.records[0],
      report.key === 'demo-words' ? /^\d{4},[0-9a-f]{256}$/ : /^\d{4},\d{4},[01]$/,
    );
  }
  // What is drawn and printed is the very report that was posted.
  const printed = JSON.parse(
    await page.locator('shoal-panel #json').evaluate((pre) => String(pre.textContent)),
  );
  assert.deepEqual(printed, reports[2]);
  await page.getByText('Sent: 3. Waiting: 0.').waitFor();
  assert.match(
    await page.locator('shoal-panel #spent').innerText(),
    /Today: epsilon 12 of 80,000 is spent/,
  );
  for (const { headers, body } of site.edge.requests) {
    assert.equal(headers.cookie, undefined);
    assert.equal(headers.referer, undefined);
    assert.doesNotMatch(body, /hello|wonderful|bbc/i);
  }

  await page.locator('shoal-consent #stop').click();
  await page.locator('shoal-consent #start').waitFor();
  const before = site.edge.requests.length;
  await page.locator('#words').pressSequentially('silence now ');
  await page.getByRole('link', { name: 'youtube.com' }).click();
  await page.getByText('Nothing was recorded.').waitFor();
  await page.waitForTimeout(800);
  assert.equal(site.edge.requests.length, before);

  await page.getByRole('button', { name: 'Erase everything here' }).click();
  await page.getByRole('button', { name: 'Yes, erase' }).click();
  await page.getByText('Nothing so far.').waitFor();
  await page.locator('shoal-consent #start').click();
  await page.locator('shoal-consent #stop').waitFor();
  await page.locator('#words').pressSequentially('again ');
  await page.getByText('reports begin on the next UTC day').first().waitFor();
  await page.waitForTimeout(500);
  assert.equal(site.edge.requests.length, before, 'erasing is no way to spend twice');
});

test('consent is remembered on the next visit, and a password is not read', async () => {
  const { page } = await open();
  await takePart(page);
  await page.reload();
  await page.locator('html[data-ready]').waitFor();
  await page.locator('shoal-consent #stop').waitFor();
  await page
    .locator('#words')
    .evaluate((field) => field.setAttribute('autocomplete', 'one-time-code'));
  await page.locator('#words').pressSequentially('secret ');
  await page.getByText('Words are not read from this kind of field.').waitFor();
  assert.deepEqual(site.edge.requests, []);
});

test('Global Privacy Control counts as no', async () => {
  errors = [];
  context = await browser.newContext();
  await context.addInitScript(() =>
    Object.defineProperty(navigator, 'globalPrivacyControl', { value: true }),
  );
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(site.url);
  await page
    .locator('shoal-consent')
    .getByText('Your browser sends Global Privacy Control.')
    .waitFor();
  assert.equal(await page.getByRole('button', { name: 'Yes, take part' }).count(), 0);
});

test('the crowd is drawn from results; hostile values stay text; too small a cohort shows nothing', async () => {
  await site.close();
  const hostile = '<img src=x onerror="document.title=\'pwned\'">';
  site = await startSite({
    'demo-words': result(
      'demo-words',
      [
        [hostile, 9000],
        ['\u202Egnp.exe', 8000],
        ['fish', 7000],
        ['rare', 100],
      ],
      300,
    ),
    'demo-sites': { error: { code: 'cohort', number: 1, message: 'too few' } },
  });
  const { page } = await open();
  const bars = page.locator('.histogram').first().locator('li');
  await bars.nth(3).waitFor();
  assert.equal(await bars.count(), 4);
  assert.equal(await bars.nth(0).locator('.value').innerText(), `${hostile.slice(0, 39)}…`);
  assert.equal(await bars.nth(1).locator('.value').innerText(), '\uFFFDgnp.exe');
  assert.equal(await page.locator('.bars img').count(), 0);
  assert.equal(await page.title(), 'shoal: try it');
  assert.match(String(await bars.nth(3).getAttribute('class')), /unsure/);
  assert.equal(await bars.nth(3).locator('.count').innerText(), 'cannot tell from zero');
  const [fill, whisker] = await Promise.all(
    ['rect.fill', 'line.whisker'].map((part) => bars.nth(2).locator(part).first().boundingBox()),
  );
  assert.ok(
    fill &&
      whisker &&
      whisker.x < fill.x + fill.width &&
      fill.x + fill.width < whisker.x + whisker.width,
    'the bar ends inside its whisker',
  );
  await page.getByText('minimum cohort').waitFor();
  errors = errors.filter((text) => !text.includes('403')); // Chromium logs every refused request
});

for (const [scheme, width, height] of /** @type {const} */ ([
  ['light', 390, 844],
  ['dark', 390, 844],
  ['light', 1280, 900],
  ['dark', 1280, 900],
])) {
  test(`looks: ${scheme}, ${width} px`, async () => {
    const { page } = await open({ colorScheme: scheme, viewport: { width, height } });
    await page.locator('.histogram li').nth(30).waitFor();
    await mkdir(SHOTS, { recursive: true });
    await page.screenshot({ path: join(SHOTS, `before-${width}-${scheme}.png`), fullPage: true });
    await takePart(page);
    await page.getByRole('link', { name: 'wikipedia.org' }).click();
    await page.locator('shoal-panel #record svg').waitFor();
    if (scheme === 'dark') await page.getByText('The newest report, exactly').click();
    else await page.locator('#words').pressSequentially('so long and thanks for ');
    await until('everything sent', async () =>
      (await page.locator('shoal-panel #counts').innerText()).startsWith(
        `Sent: ${scheme === 'dark' ? 1 : 6}. Waiting: 0.`,
      ),
    );
    await page.screenshot({ path: join(SHOTS, `after-${width}-${scheme}.png`), fullPage: true });
    assert.ok(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      'nothing is cut off at the side',
    );
    assert.equal(
      RESULTS['demo-words'].rows.length,
      await page.locator('.histogram').first().locator('li').count(),
    );
    assert.ok((await contrast(page)) >= 4.5, 'text stands out from its ground');
  });
}

/** The worst contrast ratio (WCAG 2) of a text to the ground behind it. @param {import('playwright-core').Page} page */
const contrast = (page) =>
  page.evaluate(() => {
    const parse = (/** @type {string} */ color) => (color.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = (/** @type {number[]} */ rgb) => {
      const [r, g, b] = rgb
        .slice(0, 3)
        .map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (/** @type {Element | null} */ element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = parse(getComputedStyle(at).backgroundColor);
        if (color.length === 3 || color[3] > 0) return color;
      }
      return [255, 255, 255];
    };
    const texts = [...document.body.querySelectorAll('*')].filter(
      (element) =>
        /** @type {HTMLElement} */ (element).checkVisibility?.() &&
        !element.closest('svg') &&
        [...element.childNodes].some(
          (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
        ),
    );
    return Math.min(
      ...texts.map((element) => {
        const [a, b] = [
          luminance(parse(getComputedStyle(element).color)),
          luminance(ground(element)),
        ].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
      }),
    );
  });
