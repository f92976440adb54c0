// SPDX-License-Identifier: Apache-2.0
// One way to drive three engines: Chromium and Firefox by puppeteer-core (DevTools and WebDriver
// BiDi), and WebKitGTK by its own WebDriver. A test here knows no browser: it opens a tab, runs
// functions in it, clicks elements, presses keys and takes pictures.
//
// Every engine says `navigator.webdriver`. A page that wants the client to work regardless defines
// that property itself, before the client is there (HUMAN).
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { launch } from 'puppeteer-core';
import { MINI_BROWSER, WEBKIT_DRIVER, openWebKit } from './webkit.mjs';

/**
 * @typedef {object} Tab
 * @property {(url: string) => Promise<void>} goto
 * @property {(task: (...args: any[]) => any, ...args: any[]) => Promise<any>} run runs a function
 *   in the page, which sees nothing of the test but its arguments; resolves to what it resolves to
 * @property {(find: (...args: any[]) => any, ...args: any[]) => Promise<void>} click scrolls to the
 *   element that the function returns in the page, and clicks its middle as a mouse does
 * @property {(key: 'Tab' | 'Enter' | 'Space' | 'Home' | 'ArrowRight' | 'ArrowDown') => Promise<void>} press
 * @property {(text: string) => Promise<void>} type types into what has the focus
 * @property {(path: string, isWhole?: boolean) => Promise<void>} picture writes a PNG of what is in
 *   view, or of the whole page
 * @property {() => Promise<void>} close
 *
 * @typedef {object} Profile what tabs share: storage and cookies
 * @property {() => Promise<Tab>} tab
 * @property {() => Promise<void>} close
 *
 * @typedef {object} Browser
 * @property {string} name
 * @property {string} version
 * @property {() => Promise<Profile>} profile a fresh one
 * @property {() => Promise<void>} close
 *
 * @typedef {{width?: number, height?: number, scheme?: 'light' | 'dark'}} Look CSS pixels of the
 *   page, 1280 x 900 by default
 */

/** A script for the top of a page whose client shall take the browser for a person's. */
export const HUMAN =
  "Object.defineProperty(navigator, 'webdriver', { value: false, configurable: true });\n";

const CHROMIUM = process.env.SHOAL_CHROMIUM ?? '/usr/bin/chromium';
const FIREFOX = process.env.SHOAL_FIREFOX ?? '/usr/bin/firefox-esr';
const QUIET = [
  '--no-sandbox', // tests may run as root, where Chromium's own sandbox does not start
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const KEYS = {
  Tab: 'Tab',
  Enter: 'Enter',
  Space: ' ',
  Home: 'Home',
  ArrowRight: 'ArrowRight',
  ArrowDown: 'ArrowDown',
};

/** @param {string} path @param {Uint8Array} bytes */
export function keepPicture(path, bytes) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

/** @param {import('puppeteer-core').Page} page @returns {Tab} */
const puppeteerTab = (page) => ({
  goto: async (url) => void (await page.goto(url)),
  run: (task, ...args) => page.evaluate(task, ...args),
  async click(find, ...args) {
    const handle = (await page.evaluateHandle(find, ...args)).asElement();
    if (!handle) throw new Error('there is nothing to click');
    await /** @type {import('puppeteer-core').ElementHandle<Element>} */ (handle).click();
  },
  press: (key) => page.keyboard.press(/** @type {any} */ (KEYS[key])),
  type: (text) => page.keyboard.type(text),
  picture: async (path, isWhole = false) =>
    keepPicture(path, await page.screenshot({ fullPage: isWhole })),
  close: () => page.close(),
});

/** @param {'chromium' | 'firefox'} name @param {Look} look @returns {Promise<Browser>} */
async function openByPuppeteer(name, { width = 1280, height = 900, scheme = 'light' }) {
  const isFirefox = name === 'firefox';
  const browser = await launch({
    browser: isFirefox ? 'firefox' : 'chrome',
    executablePath: isFirefox ? FIREFOX : CHROMIUM,
    args: isFirefox ? [] : QUIET,
    // Firefox takes no media feature over BiDi: 0 is dark, 1 is light.
    extraPrefsFirefox: {
      'layout.css.prefers-color-scheme.content-override': scheme === 'dark' ? 0 : 1,
    },
    headless: true,
    defaultViewport: { width, height },
  });
  return {
    name,
    version: await browser.version(),
    async profile() {
      const context = await browser.createBrowserContext();
      const tab = async () => {
        const page = await context.newPage();
        await page.bringToFront();
        if (!isFirefox)
          await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        return puppeteerTab(page);
      };
      return { tab, close: () => context.close() };
    },
    close: () => browser.close(),
  };
}

/** The engines: the files that each needs with their Debian packages, and how it is opened. */
const ENGINES = {
  chromium: {
    needs: [[CHROMIUM, 'chromium']],
    open: (/** @type {Look} */ look) => openByPuppeteer('chromium', look),
  },
  firefox: {
    needs: [[FIREFOX, 'firefox-esr']],
    open: (/** @type {Look} */ look) => openByPuppeteer('firefox', look),
  },
  webkit: {
    needs: [
      [WEBKIT_DRIVER, 'webkit2gtk-driver'],
      [MINI_BROWSER, 'webkit2gtk-driver'],
      ['/usr/bin/Xvfb', 'xvfb'],
    ],
    open: openWebKit,
  },
};
/** @typedef {keyof typeof ENGINES} Engine */
export const NAMES = /** @type {Engine[]} */ (Object.keys(ENGINES));

/** Opens a browser. @param {Engine} name @param {Look} [look] @returns {Promise<Browser>} */
export const openBrowser = (name, look = {}) => ENGINES[name].open(look);

/** What an engine lacks on this machine, or false. @param {Engine} name */
export function missing(name) {
  const gone = ENGINES[name].needs.filter(([file]) => !existsSync(file));
  if (gone.length === 0) return false;
  const packages = [...new Set(gone.map((one) => one[1]))].join(' ');
  return `${name} is not here: apt-get install ${packages}`;
}

/**
 * Registers a test for every engine. One that is missing is skipped with the command that brings
 * it; under SHOAL_LONG or SHOAL_REQUIRE_BROWSERS=1 it fails.
 * @param {string} title
 * @param {(name: Engine, t: import('node:test').TestContext) => Promise<void>} task
 * @param {{isLong?: boolean}} [options] `isLong`: only under SHOAL_LONG
 */
export function everywhere(title, task, { isLong = false } = {}) {
  const { SHOAL_LONG: long, SHOAL_REQUIRE_BROWSERS: required } = process.env;
  for (const name of NAMES) {
    const gone = missing(name);
    const isRequired = Boolean(long) || required === '1';
    const skip = (isLong && !long && 'SHOAL_LONG') || (!isRequired && gone);
    test(`${name}: ${title}`, { skip }, (t) => {
      if (gone) throw new Error(gone);
      return task(name, t);
    });
  }
}

/**
 * Waits until a function is true in the page.
 * @param {Tab} tab @param {string} what @param {(...args: any[]) => any} condition @param {...any} args
 */
export async function until(tab, what, condition, ...args) {
  for (const end = Date.now() + 30_000; ;) {
    if (await tab.run(condition, ...args)) return;
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
