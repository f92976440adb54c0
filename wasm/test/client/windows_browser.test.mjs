// SPDX-License-Identifier: Apache-2.0
// Windows in a real Chromium, from the built files: a visit is sent when its page is left, reloaded or closed, a day when it is over;
// pages that come back open none; real IndexedDB holds no raw value. windows.test.mjs has prerendered and restored pages, which
// Chromium makes for nobody who drives it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { wholeDay } from '../../../tests/aggregator/serve/serve_helpers.mjs';
import { CSP } from '../../client/reasons.js';
import { WASM, launchBrowser, serveFolders } from '../fixtures.mjs';
import { DAY_MS, windowed } from '../window_fixtures.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').BrowserContext} BrowserContext */
/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serveFolders>>} */
let edge;
/** @type {Awaited<ReturnType<typeof serveFolders>>} */
let site;
/** @type {string[]} */
const failures = [];

/** The page: a site's own script starts the loader as soon as the page is loaded. What it takes is in its address. */
const SCRIPT = `
  import { start } from '/loader.js';
  const { recipes, endpoint, shift } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  const now = () => Date.now() + shift;
  globalThis.shoal = start({ endpoint, recipes, now, automated: () => false });
`;

before(async () => {
  await wholeDay(120);
  browser = await launchBrowser();
  const csp = () => `default-src 'none'; ${CSP}; connect-src 'self' ${edge.origin}`;
  const page = '<!doctype html><title>page</title><script type="module" src="/page.js"></script>';
  site = await serveFolders({
    folders: [join(WASM, 'dist')],
    csp,
    pages: { '/': page, '/page.js': SCRIPT, '/other': '<!doctype html><title>other</title>' },
  });
});

beforeEach(async () => {
  await edge?.close();
  edge = await serveFolders({ folders: [] });
});

after(async () => {
  await browser?.close();
  await edge?.close();
  await site?.close();
  assert.deepEqual(failures, []);
});

/** @param {any[]} recipes @param {number} [shift] of the page's clock */
const address = (recipes, shift = 0) =>
  `${site.origin}/#${encodeURIComponent(JSON.stringify({ recipes, endpoint: edge.origin, shift }))}`;

/** @param {BrowserContext} context @param {string} url */
async function open(context, url) {
  const page = await context.newPage();
  page.on('pageerror', (error) => void failures.push(String(error)));
  await page.goto(url);
  await page.waitForFunction(() => 'shoal' in globalThis);
  return page;
}

/** @param {Page} page @param {string} method @param {any[]} args @returns {Promise<any>} */
const call = (page, method, ...args) =>
  page.evaluate(
    ([name, list]) =>
      /** @type {any} */ (globalThis).shoal[String(name)](.../** @type {any[]} */ (list)),
    /** @type {const} */ ([method, args]),
  );
/** @param {Page} page */
const grant = (page) => page.evaluate(() => /** @type {any} */ (globalThis).shoal.consent.grant());
/** @param {Page} page @param {string} word */
const code = async (page, word) => (await call(page, 'record', 'typed-words', word))[0].code;

/** @param {() => boolean | Promise<boolean>} condition @param {string} what */
async function until(condition, what) {
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.fail(`never: ${what}`);
}

/** Waits a moment in which a wrong request would come. */
const moment = () => new Promise((resolve) => setTimeout(resolve, 500));

/** Everything in the page's IndexedDB, as text. @param {Page} page */
const stored = (page) =>
  page.evaluate(async () => {
    const out = [];
    for (const { name, version } of await indexedDB.databases()) {
      const db = await new Promise((resolve, reject) => {
        const request = indexedDB.open(/** @type {string} */ (name), version);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
      for (const store of db.objectStoreNames)
        for (const of of ['getAllKeys', 'getAll'])
          out.push(
            await new Promise((resolve) => {
              const all = db.transaction(store).objectStore(store)[of]();
              all.onsuccess = () => resolve(JSON.stringify(all.result));
            }),
          );
      db.close();
    }
    return out.join('\n');
  });

test('a visit is sent when its page is left for another one, and once', async () => {
  const context = await browser.newContext();
  const url = address([windowed('visit', { limit: { per_day: 2 } })]);
  const page = await open(context, url);
  await grant(page);
  assert.equal(await code(page, 'quicksilver'), 'entered');
  assert.equal(await code(page, 'x'.repeat(99)), 'text-rule');
  const during = await stored(page);
  assert.match(during, /~window/);
  assert.ok(!/quicksilver|record"/.test(during));
  await moment();
  assert.equal(edge.reports().length, 0);
  await page.goto(`${site.origin}/other`);
  await until(() => edge.reports().length === 2, 'two reports');
  const [a, b] = edge.reports();
  assert.notEqual(a.body.records[0], b.body.records[0]);
  assert.notEqual(a.headers['idempotency-key'], b.headers['idempotency-key']);
  await page.goBack(); // from memory, or loaded again: either way the day's visit is over
  await page.waitForFunction(() => 'shoal' in globalThis);
  assert.equal(await code(page, 'again'), 'window-over');
  await page.close();
  await moment();
  assert.equal(edge.reports().length, 2);
  await context.close();
});

test('a visit is sent when its tab is closed, and a reload opens no other', async () => {
  const context = await browser.newContext();
  const url = address([windowed('visit')]);
  const page = await open(context, url);
  await grant(page);
  assert.equal(await code(page, 'quicksilver'), 'entered');
  await page.reload();
  await until(() => edge.reports().length === 1, 'the report');
  assert.equal(await code(page, 'again'), 'window-over');
  await page.close();
  const next = await open(context, address([windowed('visit')], DAY_MS));
  assert.equal(await code(next, 'quicksilver'), 'entered', 'the next day');
  assert.ok(!/quicksilver/.test(await stored(next)));
  await next.close({ runBeforeUnload: true });
  await until(() => edge.reports().length === 2, 'the report of the tab that was closed');
  await context.close();
});

test('withdrawing in one tab leaves nothing to send in the other', async () => {
  const context = await browser.newContext();
  const url = address([windowed('visit')]);
  const page = await open(context, url);
  await grant(page);
  assert.equal(await code(page, 'quicksilver'), 'entered');
  const other = await open(context, url);
  await other.evaluate(() => /** @type {any} */ (globalThis).shoal.consent.withdraw());
  await page.goto(`${site.origin}/other`);
  await moment();
  assert.equal(edge.reports().length, 0);
  assert.ok(!/~window/.test(await stored(other)));
  await context.close();
});

test('a day is sent by a page of the next day, and a reload changes nothing', async () => {
  const context = await browser.newContext();
  const recipes = [windowed('day', { limit: { per_day: 2 } })];
  const page = await open(context, address(recipes));
  await grant(page);
  assert.equal(await code(page, 'quicksilver'), 'entered');
  await page.reload();
  await page.waitForFunction(() => 'shoal' in globalThis);
  assert.equal(await code(page, 'herringbone'), 'entered');
  const kept = await stored(page);
  assert.match(kept, /"record"/);
  assert.ok(!/quicksilver|herringbone/.test(kept));
  await page.close();
  await moment();
  assert.equal(edge.reports().length, 0);
  const next = await open(context, address(recipes, DAY_MS));
  await until(() => edge.reports().length === 2, 'the reports of the day before');
  const records = edge.reports().map(({ body }) => body.records[0]);
  for (const record of records) assert.ok(kept.includes(record));
  assert.equal(new Set(records).size, 2);
  await next.close();
  await moment();
  assert.equal(edge.reports().length, 2);
  await context.close();
});
