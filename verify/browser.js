// SPDX-License-Identifier: Apache-2.0
// The page in a headless browser, if there is one: WebAssembly compiles under the page's policy, and
// the page's own client sends the probe. The profile is new and is thrown away.
import { accessSync, constants } from 'node:fs';
import { PROBE } from './recipe_checks.js';

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {{page: any, close: () => Promise<void>}} Opened
 */

/** Where browsers of the Chromium family lie. */
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/microsoft-edge',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];
const ARGS = [
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const PATIENCE_MS = 20_000;

/** @param {string} path */
function isThere(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The browser of this machine. @param {string} [named] @returns {string | undefined} */
export const browserPath = (named) =>
  [named, process.env.SHOAL_CHROMIUM].find((path) => path !== undefined) ?? PLACES.find(isThere);

/**
 * Opens the page. Returns a sentence where there is no browser, or none that starts.
 * @param {Context} context
 * @returns {Promise<Opened | string>}
 */
export async function openPage({ at, settings }) {
  const path = browserPath(settings.browser);
  if (path === undefined) return 'there is no Chrome, Chromium or Edge on this machine';
  const driver = await import('playwright-core').catch(() => null);
  if (driver === null) return 'the package playwright-core is not installed';
  const isRoot = process.getuid?.() === 0; // Chromium has no sandbox for root
  /** @type {any} */
  let browser;
  try {
    browser = await driver.chromium.launch({
      executablePath: path,
      args: [...ARGS, ...(isRoot ? ['--no-sandbox'] : [])],
    });
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(/** @type {URL} */ (at.page).href, { waitUntil: 'load' });
    return { page, close: () => browser.close() };
  } catch (error) {
    await browser?.close(); // one that is left open keeps this process from ending
    return `${path} does not open the page: ${String(/** @type {Error} */ (error).message).split('\n')[0]}`;
  }
}

/** A module of eight bytes, which is the smallest there is. */
const EMPTY = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/** Whether the page may compile WebAssembly, and imports the client. @param {Context} context @param {Opened} opened */
export async function checkInBrowser({ at, report, vars }, { page }) {
  const why = await page.evaluate(
    (/** @type {number[]} */ bytes) =>
      WebAssembly.compile(new Uint8Array(bytes)).then(
        () => null,
        (/** @type {Error} */ error) => error.message,
      ),
    EMPTY,
  );
  if (why) report.wrong('browser', 'wasm-blocked', { ...vars, detail: why.slice(0, 160) });
  else report.right('browser', 'the page compiles WebAssembly');
  if (at.client === null) return;
  const failed = await page.evaluate(
    (/** @type {string} */ url) =>
      import(url).then(
        () => null,
        (/** @type {Error} */ error) => error.message,
      ),
    new URL('client.js', at.client).href,
  );
  if (failed) report.wrong('browser', 'client-failed', { ...vars, detail: failed.slice(0, 160) });
  else report.right('browser', 'the page imports the client');
}

/**
 * Sends the probe by the page's own client.
 * @param {Context} context
 * @param {Opened} opened
 * @returns {import('./probe.js').Send}
 */
export const sendInPage =
  ({ at }, { page }) =>
  async ({ endpoint, recipe, relay, log, value }) => {
    /** @type {import('./probe.js').Seen[]} */
    const answers = [];
    const note = async (/** @type {any} */ response) => {
      if (response.request().method() !== 'POST') return;
      const text = await response.text().catch(() => '');
      let error;
      try {
        ({ error } = JSON.parse(text));
      } catch {
        error = undefined;
      }
      const type = response.headers()['content-type'] ?? '';
      answers.push({
        status: response.status(),
        code: error?.code,
        message: error?.message,
        type,
        via: response.url(),
      });
    };
    page.on('response', note);
    const said = await page.evaluate(sendFromPage, {
      client: new URL('client.js', /** @type {URL} */ (at.client)).href,
      options: { endpoint, recipes: [recipe], ...(relay && log && { relay, log }) },
      stream: PROBE,
      value,
    });
    page.off('response', note);
    return { answers, ...said };
  };

/**
 * Runs in the page.
 * @param {{client: string, options: any, stream: string, value: string}} given
 */
async function sendFromPage({ client, options, stream, value }) {
  const { init } = await import(client);
  const shoal = await init({ ...options, gpc: () => false, automated: () => false });
  await shoal.consent.grant();
  const outcomes = await shoal.record(stream, value);
  await shoal.flush();
  const reasons = await shoal.explain();
  await shoal.erase();
  shoal.close();
  return {
    outcomes: outcomes.map((/** @type {any} */ { code }) => ({ code })),
    reasons: reasons.map((/** @type {any} */ one) => ({ code: one.code, text: one.text })),
  };
}
