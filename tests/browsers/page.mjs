// SPDX-License-Identifier: Apache-2.0
// What the tests of the page's side share: profiles of each engine, a page as a person's browser
// opens it, its client, and what its origin stores.
import { after } from 'node:test';
import { openBrowser } from './browsers.mjs';

/** @typedef {import('./browsers.mjs').Tab} Tab */

/**
 * Opens each engine once for all tests of a file, and gives fresh profiles of it.
 * @returns {(name: import('./browsers.mjs').Engine, t: import('node:test').TestContext) => Promise<import('./browsers.mjs').Profile>}
 */
export function profiles() {
  /** @type {Map<string, Promise<import('./browsers.mjs').Browser>>} */
  const opened = new Map();
  after(async () => {
    for (const browser of opened.values()) await (await browser).close();
  });
  return async (name, t) => {
    if (!opened.has(name)) opened.set(name, openBrowser(name));
    const browser = await /** @type {Promise<import('./browsers.mjs').Browser>} */ (
      opened.get(name)
    );
    t.diagnostic(browser.version);
    const made = await browser.profile();
    t.after(() => made.close());
    return made;
  };
}

/** Opens a page as a person's browser would, and keeps what goes wrong in it. @param {Tab} tab @param {string} url */
export async function visit(tab, url) {
  await tab.goto(url);
  await tab.run(() => {
    Object.defineProperty(navigator, 'webdriver', { value: false });
    /** @type {string[]} */
    const troubles = [];
    Object.assign(globalThis, { troubles });
    addEventListener('error', (event) => troubles.push(event.message));
    addEventListener('unhandledrejection', (event) => troubles.push(String(event.reason)));
    addEventListener('securitypolicyviolation', (event) =>
      troubles.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
  });
}
export const troubles = (/** @type {Tab} */ tab) =>
  tab.run(() => /** @type {any} */ (globalThis).troubles);

/** Starts the client of an otherwise empty page, under consent. @param {Tab} tab @param {any} options */
export const startClient = (tab, options) =>
  tab.run(async (given) => {
    const { init } = await import(/** @type {any} */ ('/client.js'));
    const shoal = await init(given);
    await shoal.consent.grant();
    Object.assign(globalThis, { shoal });
  }, options);

/** Calls the client. @param {Tab} tab @param {string} path of a method, as `consent.grant` @param {...any} args */
export const call = (tab, path, ...args) =>
  tab.run(
    (name, list) => {
      const { shoal } = /** @type {any} */ (globalThis);
      const [method, owner] = name.split('.').reverse();
      return (owner ? shoal[owner] : shoal)[method](...list);
    },
    path,
    /** @type {any} */ (args),
  );

/** Everything that the page's origin stores, as text. @param {Tab} tab */
export const stored = (tab) =>
  tab.run(async () => {
    let all = JSON.stringify(localStorage) + document.cookie;
    for (const { name } of await indexedDB.databases()) {
      const db = await new Promise((resolve, reject) => {
        const request = indexedDB.open(/** @type {string} */ (name));
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
      for (const store of db.objectStoreNames) {
        const rows = await new Promise((resolve) => {
          const request = db.transaction(store).objectStore(store).getAll();
          request.onsuccess = () => resolve(request.result);
        });
        all += JSON.stringify(rows);
      }
      db.close();
    }
    return all;
  });
