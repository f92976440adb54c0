// SPDX-License-Identifier: Apache-2.0
// The tasks of docs/dashboard.md, as an analyst does them, in Chromium and in Firefox: each leads to its answer in the clicks that the
// page says. Pictures are kept in build/screenshots/. With SHOAL_DRAW=1 those of Chromium go to docs/, where the page shows them.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { dashboard, day, PICTURES, TOKENS } from './dashboard_site.mjs';
import { isLong } from './serve_helpers.mjs';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));
const FIREFOX = process.env.SHOAL_FIREFOX ?? '/usr/bin/firefox-esr';
const SIZE = { width: 760, height: 460 };

/**
 * What Playwright's pages and Puppeteer's have in common.
 * @typedef {{
 *   goto: (url: string) => Promise<unknown>,
 *   evaluate: <T>(run: (argument: any) => T, argument?: any) => Promise<T>,
 *   evaluateHandle: (run: (argument: any) => any, argument?: any) => Promise<any>,
 *   waitForNavigation: () => Promise<unknown>,
 *   keyboard: {type: (text: string) => Promise<void>},
 *   screenshot: (options: any) => Promise<unknown>,
 *   url: () => string,
 * }} Page
 */

/** Someone with a mouse and a keyboard, who counts clicks. */
class Analyst {
  clicks = 0;
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
  }
  /** Clicks a link or a button by its text. @param {string} name */
  async click(name) {
    const found = await this.page.evaluateHandle(
      (wanted) =>
        [...document.querySelectorAll('a, button')].find(
          (one) => one instanceof HTMLElement && one.innerText.trim() === wanted,
        ),
      name,
    );
    const element = found.asElement();
    assert.ok(element, `nothing is called ${name} on ${this.page.url()}`);
    await Promise.all([this.page.waitForNavigation(), element.click()]);
    this.clicks++;
  }
  /** Types into a field by its label. @param {string} label @param {string} text */
  async type(label, text) {
    const found = await this.page.evaluate((wanted) => {
      const field = [...document.querySelectorAll('label')].find(
        (one) => one.innerText.trim() === wanted,
      )?.control;
      field?.focus();
      return field !== undefined && field === document.activeElement;
    }, label);
    assert.ok(found, `no field is called ${label} on ${this.page.url()}`);
    await this.page.keyboard.type(text);
  }
  /** The cells of the rows of a table, the first one behind a heading. @param {string} [heading] */
  rows(heading = '') {
    return this.page.evaluate((wanted) => {
      const all = [...document.querySelectorAll('section')];
      const one = all.find((each) => each.querySelector('h2')?.textContent === wanted) ?? all[0];
      return [...(one?.querySelectorAll('tbody tr') ?? [])].map((row) =>
        [...row.children].map((cell) => cell.textContent?.trim() ?? ''),
      );
    }, heading);
  }
}

/** Each begins on the first page, signed in. @type {Record<string, (analyst: Analyst) => Promise<void>>} */
const TASKS = {
  async frequent(analyst) {
    await analyst.click('words');
    const rows = await analyst.rows();
    assert.deepEqual(
      rows.slice(0, 3).map(([value]) => value),
      ['cod', 'herring', 'pike'],
    );
    assert.match(rows[0][3], /^[\d,]+ to [\d,]+$/);
  },
  async rose(analyst) {
    await analyst.click('words');
    await analyst.click('Over time');
    await analyst.type('Rows with', 'eel');
    await analyst.type('from day', day(-13));
    await analyst.type('to day', day(-2));
    await analyst.click('Search');
    const [row, ...more] = await analyst.rows('What changed');
    assert.deepEqual([row[0], row[4], more], ['eel', 'changed', []]);
    const [low, high] = row[3].split(' to ').map(Number);
    // The share grows from 3 of 243 to 25 of 265: by 8.2 points, and both periods have an error near one.
    assert.ok(low > 0 && low < 8.2 + 4 && high > 8.2 - 4, row.join());
  },
  async unlisted(analyst) {
    await analyst.click('words');
    await analyst.type('One value', 'nobody-typed-this');
    await analyst.click('Ask');
    const text = await analyst.page.evaluate(() => document.body.innerText);
    assert.match(text, /Of values that nobody sent, about 1 in \d+ would look as large/);
  },
  async attention(analyst) {
    await analyst.click('state');
    assert.deepEqual(
      (await analyst.rows('Collections')).map(([id, , , , state]) => [id, state])[0],
      ['waiting', 'waits for 100 reports'],
    );
  },
  async asked(analyst) {
    await analyst.click('Audit log');
    await analyst.type('Value', 'nobody-typed-this');
    await analyst.click('Show');
    const rows = await analyst.rows();
    assert.ok(
      rows.length > 0 && rows.every(([, , , , , , value]) => value === 'nobody-typed-this'),
    );
  },
};

/** The clicks that the page of documentation says. @returns {Record<string, number>} */
function documented() {
  const page = readFileSync(join(DOCS, 'dashboard.md'), 'utf8');
  const lines = [...page.matchAll(/^### .*\n\n(\d) clicks?\b[\s\S]*?dashboard-(\w+)\.png/gm)];
  return Object.fromEntries(lines.map(([, clicks, name]) => [name, Number(clicks)]));
}

/**
 * Does every task in a browser.
 * @param {string} browser @param {Page} page @param {string} url
 */
async function work(browser, page, url) {
  mkdirSync(PICTURES, { recursive: true });
  await page.goto(`${url}/sign-in`);
  await page.keyboard.type(TOKENS.alice); // the field has the focus
  await new Analyst(page).click('Sign in');
  /** @type {Record<string, number>} */
  const clicks = {};
  for (const [name, task] of Object.entries(TASKS)) {
    await page.goto(`${url}/`);
    const analyst = new Analyst(page);
    await task(analyst);
    clicks[name] = analyst.clicks;
    const heading = { rose: 'What changed', frequent: 'words', unlisted: 'words' }[name] ?? '';
    await page.evaluate((wanted) => {
      const all = [...document.querySelectorAll('h2')];
      if (wanted) all.find((one) => one.textContent === wanted)?.scrollIntoView();
    }, heading);
    const isDrawn = browser === 'chromium' && process.env.SHOAL_DRAW === '1';
    await page.screenshot({
      path: isDrawn
        ? join(DOCS, `dashboard-${name}.png`)
        : join(PICTURES, `task-${name}-${browser}.png`),
    });
  }
  assert.deepEqual(clicks, documented());
}

test('in Chromium an analyst does the five tasks', async (t) => {
  const { url } = await dashboard(t, { hostile: false });
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: SIZE });
  await work('chromium', /** @type {any} */ (page), url);
});

const noFirefox = !existsSync(FIREFOX) && `${FIREFOX} is missing`;
test('in Firefox an analyst does the five tasks', { skip: !isLong && noFirefox }, async (t) => {
  assert.ok(!noFirefox, `${noFirefox}: apt-get install firefox-esr`);
  const { launch } = await import('puppeteer-core');
  const { url } = await dashboard(t, { hostile: false });
  const browser = await launch({
    browser: 'firefox',
    executablePath: FIREFOX,
    headless: true,
    defaultViewport: SIZE,
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  /** @type {string[]} */
  const troubles = [];
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) troubles.push(message.text());
  });
  await work('firefox', /** @type {any} */ (page), url);
  assert.deepEqual(troubles, []);
});
