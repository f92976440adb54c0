// SPDX-License-Identifier: Apache-2.0
// The server's pages in each engine: a person signs in, sorts, searches, asks, looks at periods and
// books, and signs out; what hostile values do; the forms under the pages' policy. The long tier
// opens every page in every state, on a phone and a screen, light and dark; its pictures go to
// build/browsers for people to look at.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HOSTILE, STATES, TOKENS, dashboard } from '../aggregator/serve/dashboard_site.mjs';
import { everywhere, openBrowser } from './browsers.mjs';

/** @typedef {import('./browsers.mjs').Tab} Tab */

const PICTURES = fileURLToPath(new URL('../../build/browsers/', import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Brings axe into a page: as a function's body it needs no eval, which the page's policy forbids. */
const bringAxe = /** @type {() => void} */ (new Function(AXE));

/** One server for all engines, with a store that took some seconds to make. @type {ReturnType<typeof dashboard> | undefined} */
let made;
/** @type {(() => unknown)[]} */
const ends = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});
const site = () =>
  (made ??= dashboard(
    /** @type {any} */ ({ after: (/** @type {() => unknown} */ end) => ends.push(end) }),
  ));

/**
 * Waits as `until` does, while pages come and go: a call that a page takes with it is made again.
 * @param {Tab} tab @param {string} what @param {(...args: any[]) => any} condition @param {...any} args
 */
async function comes(tab, what, condition, ...args) {
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    const isSo = await tab.run(condition, ...args).catch(() => false);
    if (isSo) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never: ${what}`);
}

/** Waits for a page of a path and query, with all that it loads. @param {Tab} tab @param {string} path */
const arrives = (tab, path) =>
  comes(
    tab,
    path,
    (wanted) =>
      document.readyState === 'complete' && location.pathname + location.search === wanted,
    path,
  );

/** @param {Tab} tab @param {string} origin @param {string} path */
async function visit(tab, origin, path) {
  await tab.goto(origin + path);
  await comes(tab, path, () => document.readyState === 'complete');
}

/** The link, button or head of a table with these words, within a part of the page. For `click`. @param {string} words @param {string} [where] */
const named = (words, where = 'body') =>
  [...document.querySelectorAll(`${where} a, ${where} button, ${where} summary`)].find(
    (one) => one.textContent?.trim() === words,
  );

/** Writes into a field by its label, as a form would send it. @param {Tab} tab @param {string} label @param {string} text */
const write = (tab, label, text) =>
  tab.run(
    (name, value) => {
      const field = [...document.querySelectorAll('label')].find((one) =>
        one.textContent?.trim().startsWith(name),
      );
      const input = field?.control ?? field?.querySelector('input');
      if (!(input instanceof HTMLInputElement)) throw new Error(`there is no field "${name}"`);
      input.value = value;
    },
    label,
    text,
  );

/** Texts of elements. @param {Tab} tab @param {string} selector */
const texts = (tab, selector) =>
  tab.run(
    (all) => [...document.querySelectorAll(all)].map((one) => one.textContent.trim()),
    selector,
  );

/** @param {Tab} tab @param {string} origin @param {keyof typeof TOKENS} who */
async function signIn(tab, origin, who) {
  await visit(tab, origin, '/sign-in');
  await write(tab, 'Token', TOKENS[who]);
  await tab.click(named, 'Sign in');
  await comes(
    tab,
    `pages of ${who}`,
    () => document.readyState === 'complete' && location.pathname !== '/sign-in',
  );
}

/** @param {import('./browsers.mjs').Engine} name @param {import('node:test').TestContext} t @param {import('./browsers.mjs').Look} [look] */
async function browse(name, t, look) {
  const browser = await openBrowser(name, look);
  t.after(() => browser.close());
  return browser;
}

everywhere('a reader signs in, sorts, searches, asks and signs out', async (name, t) => {
  const { url } = await site();
  const tab = await (await (await browse(name, t)).profile()).tab();
  await visit(tab, url, '/');
  await arrives(tab, '/sign-in');
  assert.equal(await tab.run(() => /** @type {any} */ (document.activeElement).name), 'token');
  await write(tab, 'Token', 'no-token-of-anybody-here');
  await tab.click(named, 'Sign in');
  await comes(tab, 'a refusal', () => Boolean(document.querySelector('[role=alert]')));
  assert.deepEqual(await texts(tab, '[role=alert]'), ['No reader has this token.']);
  await signIn(tab, url, 'alice');
  assert.equal(await tab.run(() => document.cookie), '', 'no script sees the session');
  assert.notEqual(
    await tab.run(() => getComputedStyle(document.body).fontFamily),
    await tab.run(() => {
      document.body.style.fontFamily = 'initial';
      return getComputedStyle(document.body).fontFamily;
    }),
    'the style sheets are here',
  );

  const collections = () => texts(tab, 'table.sorted tbody tr > :first-child');
  assert.deepEqual(await collections(), ['words', 'theme', 'waiting']);
  await tab.click(named, 'collection', 'thead');
  await arrives(tab, '/?sort=collection&order=asc');
  assert.deepEqual(await collections(), ['theme', 'waiting', 'words']);
  await tab.click(named, 'words', 'tbody');
  await arrives(tab, '/recipes/words');
  await tab.click(named, 'value', 'thead');
  await comes(tab, 'rows by value', () => location.search.includes('sort=value'));
  const values = await texts(tab, 'td.value');
  assert.ok(values.length > 5);
  assert.deepEqual(values, [...values].sort());

  await write(tab, 'One value', 'eel');
  await tab.click(named, 'Ask');
  await comes(tab, 'the answer', () => location.search.includes('value=eel'));
  await comes(tab, 'its row', () => document.querySelectorAll('td.value').length === 1);
  assert.deepEqual(await texts(tab, 'td.value'), ['eel']);
  await tab.click(named, 'All values');
  await arrives(tab, '/recipes/words');
  await tab.click(named, 'Over time');
  await arrives(tab, '/recipes/words?view=periods');
  const drawn = await tab.run(() =>
    [...document.querySelectorAll('figure svg')].map((svg) => {
      const { width, height } = svg.getBoundingClientRect();
      return width > 200 && height > 60;
    }),
  );
  assert.ok(drawn.length > 1 && drawn.every(Boolean), `${drawn}`);
  await tab.click(named, 'Books');
  await arrives(tab, '/books');
  await tab.click(named, 'Sign out');
  await arrives(tab, '/sign-in');
  await tab.run(() => history.back());
  await comes(tab, 'the form again', () => document.title === 'Sign in · shoal');
});

everywhere('hostile values are shown as what they are', async (name, t) => {
  const { url } = await site();
  const tab = await (await (await browse(name, t)).profile()).tab();
  await signIn(tab, url, 'alice');
  for (const value of HOSTILE) {
    await visit(tab, url, `/recipes/words?value=${encodeURIComponent(value)}`);
    const shown = value.replace(/[\u200F\u202E\u2066]/g, '\uFFFD'); // no mark of direction is let in
    assert.deepEqual(await texts(tab, 'td.value'), [shown]);
    assert.equal(await tab.run(() => document.querySelectorAll('main img').length), 0);
    assert.match(await tab.run(() => document.title), /shoal$/);
  }
});

everywhere('by keyboard the chart over time says the figures of the table', async (name, t) => {
  const { url } = await site();
  const tab = await (await (await browse(name, t)).profile()).tab();
  await signIn(tab, url, 'alice');
  await visit(tab, url, '/recipes/words?view=periods');
  await comes(tab, 'the chart', () => document.querySelector('.trends.drawn canvas') !== null);
  const heads = await texts(tab, 'table[data-unit] thead th');
  const cells = await texts(tab, 'table[data-unit] tbody tr > *');
  const wide = heads.length;
  assert.ok(wide > 2 && cells.length > 2 * wide);
  await tab.click(() => document.querySelector('.curves-names button:last-of-type'));
  await tab.click(() => document.querySelector('.curves-names button:last-of-type'));
  await tab.run(() => /** @type {any} */ (document.querySelector('.curves-plot')).focus());
  await tab.press('Home');
  for (let at = 0; at < cells.length; at += wide) {
    assert.deepEqual(await texts(tab, '.curves-names span'), cells.slice(at + 2, at + wide));
    assert.deepEqual(await texts(tab, '.curves-head b'), [cells[at]]);
    assert.deepEqual(await texts(tab, '.curves [aria-live]'), [
      `${cells[at]}: ${heads[2]} ${cells[at + 2]}`,
    ]);
    if (at + wide < cells.length) await tab.press('ArrowRight');
  }
  await tab.press('ArrowDown');
  const [said] = await texts(tab, '.curves [aria-live]');
  assert.ok(said.startsWith(`${cells.at(-wide)}: ${heads[3]} `), said);
  await tab.picture(`${PICTURES}chart-${name}.png`);
});

everywhere('an end of the session in one tab ends it in the others', async (name, t) => {
  const { url } = await site();
  const profile = await (await browse(name, t)).profile();
  const tab = await profile.tab();
  await signIn(tab, url, 'alice');
  await visit(tab, url, '/recipes/words');
  const other = await profile.tab();
  await visit(other, url, '/books');
  await other.click(named, 'Sign out');
  await arrives(other, '/sign-in');
  await tab.run(() => location.reload()).catch(() => undefined); // some engines lose the call with the page
  await arrives(tab, '/sign-in');
});

/**
 * The server behind a proxy that lets a page of its own site frame it, which the server itself
 * forbids: a WebKit of a phone's width is a frame.
 * @param {string} url
 */
async function framed(url) {
  const proxy = createServer((asked, answer) => {
    const { host: _, ...headers } = asked.headers;
    const { hostname, port } = new URL(url);
    const own = { ...headers, host: `${hostname}:${port}`, ...(headers.origin && { origin: url }) };
    const { method, url: path } = asked;
    asked.pipe(
      forward({ hostname, port, path, method, headers: own }, (got) => {
        const { 'x-frame-options': _frame, ...rest } = got.headers;
        const policy = `${rest['content-security-policy'] ?? ''}`.replace(
          /frame-ancestors [^;]*/,
          '',
        );
        answer.writeHead(got.statusCode ?? 500, { ...rest, 'content-security-policy': policy });
        got.pipe(answer);
      }),
    );
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (proxy.address());
  const close = () => (proxy.closeAllConnections(), new Promise((resolve) => proxy.close(resolve)));
  return { url: `http://127.0.0.1:${port}`, close };
}

/** What can be measured of a page. Runs in it. */
async function measure() {
  const { axe } = /** @type {any} */ (globalThis);
  const found = await axe.run(document);
  const { scrollWidth, clientWidth } = document.documentElement;
  return {
    broken: found.violations.map((/** @type {any} */ one) => `${one.id}: ${one.nodes[0].html}`),
    kept: found.passes.length,
    wide: scrollWidth - clientWidth,
    background: getComputedStyle(document.body).backgroundColor,
  };
}

for (const scheme of /** @type {const} */ (['light', 'dark']))
  for (const width of [390, 1280])
    everywhere(
      `every page of the server in every state, ${scheme}, ${width} px`,
      async (name, t) => {
        const { url } = await site();
        let origin = url;
        if (name === 'webkit' && width === 390) {
          const proxy = await framed(url);
          t.after(proxy.close);
          origin = proxy.url;
        }
        const height = width === 390 ? 844 : 900;
        const browser = await browse(name, t, { width, height, scheme });
        const wrong = [];
        for (const who of /** @type {const} */ (['alice', 'admin'])) {
          const profile = await browser.profile();
          const tab = await profile.tab();
          await signIn(tab, origin, who);
          for (const [state, [person, path]] of Object.entries(STATES)) {
            if (person !== who) continue;
            await visit(tab, origin, path);
            await tab.picture(`${PICTURES}server-${state}-${name}-${width}-${scheme}.png`, true);
            await tab.run(bringAxe);
            const { broken, kept, wide, background } = await tab.run(measure);
            wrong.push(...broken.map((/** @type {string} */ what) => `${state}: ${what}`));
            if (wide > 0) wrong.push(`${state}: wider than the page by ${wide} px`);
            if (!(kept > 10)) wrong.push(`${state}: ${kept} rules were looked at`);
            const [r, g, b] = background.match(/[\d.]+/g).map(Number);
            if (r + g + b > 380 !== (scheme === 'light')) wrong.push(`${state}: ${background}`);
          }
          await profile.close();
        }
        assert.deepEqual(wrong, []);
      },
      { isLong: true },
    );
