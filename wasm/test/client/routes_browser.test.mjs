// SPDX-License-Identifier: Apache-2.0
// Page views of a single-page app in Chromium, by the Navigation API and by what older browsers have: one view for each
// path that a person sees, with the listed route and nothing else of the address.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { WASM, itemsRecipe, launchBrowser, serveFolders } from '../fixtures.mjs';

const ROUTES = ['/', '/products/:id', '/help/*', '/über uns'];
const PAGE = `<!doctype html><meta charset="utf-8"><title>t</title><script type="module">
  import { observeRoutes } from '/routes.js';
  import { start } from '/loader.js';
  window.observeRoutes = observeRoutes;
  window.start = start;
  window.views = [];
  const routes = ${JSON.stringify(ROUTES)};
  window.stop = observeRoutes(routes, (route) => window.views.push(route), { hash: location.search === '?hash' });
  window.ready = true;
</script>`;

/** @type {any} */ let browser;
/** @type {any} */ let site;
/** @type {any} */ let edge;

before(async () => {
  const pages = Object.fromEntries(
    ['/', '/products/7', '/help', '/elsewhere'].map((path) => [path, PAGE]),
  );
  site = await serveFolders({ folders: [join(WASM, 'dist')], pages });
  edge = await serveFolders({ folders: [] });
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await site?.close();
  await edge?.close();
});

/** Opens a page. @param {boolean} isOld has the browser no Navigation API? @param {string} path */
async function open(isOld, path) {
  const context = await browser.newContext();
  const page = await context.newPage();
  if (isOld)
    await page.addInitScript(() =>
      Object.defineProperty(globalThis, 'navigation', { value: null }),
    );
  await page.goto(site.origin + path);
  await page.waitForFunction(() => /** @type {any} */ (globalThis).ready);
  assert.equal(await page.evaluate(() => !!(/** @type {any} */ (window).navigation)), !isOld);
  return { context, page };
}

/** Forgets the views so far. @param {any} page */
const clear = (page) =>
  page.evaluate(() => {
    /** @type {any} */ (globalThis).views.length = 0;
  });

/** The views after the page has come to rest. @param {any} page @returns {Promise<any[]>} */
const views = (page) =>
  page.evaluate(async () => {
    for (let i = 0; i < 5; i++) await new Promise((done) => setTimeout(done, 0));
    return /** @type {any} */ (globalThis).views;
  });

for (const isOld of [false, true]) {
  const by = isOld ? 'the history calls' : 'the Navigation API';

  test(`each path is one view, by ${by}`, async () => {
    const { context, page } = await open(isOld, '/products/7?from=mail#top');
    assert.deepEqual(await views(page), ['/products/:id'], 'the page that was loaded');
    /** @param {() => void} act @param {(string | null)[]} expected */
    const then = async (act, expected) => {
      await clear(page);
      await page.evaluate(act);
      assert.deepEqual(await views(page), expected, String(act));
    };
    await then(() => history.pushState(null, '', '/products/8'), ['/products/:id']);
    await then(() => history.pushState(null, '', '/products/8?page=2'), []);
    await then(() => void (location.hash = 'reviews'), []);
    await then(() => history.replaceState({ scroll: 3 }, ''), []);
    await then(() => history.replaceState(null, '', '/help/a/b'), ['/help/*']);
    await then(() => history.pushState(null, '', '/help/'), ['/help/*']);
    await then(() => history.pushState(null, '', '/products/'), [null]);
    await then(() => history.pushState(null, '', '/über uns'), ['/über uns']);
    await then(() => history.pushState(null, '', '/account/jane@example.org'), [null]);
    await then(() => {
      history.pushState(null, '', '/login');
      history.replaceState(null, '', '/');
    }, ['/']);
    await clear(page);
    await page.evaluate(
      () =>
        new Promise((done) => {
          addEventListener('popstate', done, { once: true });
          history.back();
        }),
    );
    assert.deepEqual(await views(page), [null], 'back');
    await then(() => {
      /** @type {any} */ (globalThis).stop();
      history.pushState(null, '', '/products/9');
    }, []);
    await context.close();
  });

  test(`routes after the fragment, by ${by}`, async () => {
    const { context, page } = await open(isOld, '/?hash#/products/7');
    assert.deepEqual(await views(page), ['/products/:id']);
    await page.evaluate(() => void (location.hash = '#/help/x?y'));
    await page.waitForFunction(() => /** @type {any} */ (globalThis).views.length > 1);
    await page.evaluate(() => history.pushState(null, '', '/?hash'));
    assert.deepEqual(await views(page), ['/products/:id', '/help/*', '/']);
    await context.close();
  });
}

test('the wrapped calls are given back, and another wrapper stays', async () => {
  const { context, page } = await open(true, '/');
  const own = await page.evaluate(() => {
    const g = /** @type {any} */ (globalThis);
    const isWrapped = !/native/.test(String(history.pushState));
    const end = g.observeRoutes(['/'], () => {});
    const theirs = history.pushState;
    history.pushState = function (...args) {
      return theirs.apply(this, args);
    };
    const wrapper = history.pushState;
    end();
    g.stop();
    return [isWrapped, history.pushState === wrapper, /native/.test(String(history.replaceState))];
  });
  assert.deepEqual(own, [true, true, true]);
  await page.evaluate(() => history.pushState(null, '', '/help'));
  assert.equal(await page.evaluate(() => location.pathname), '/help');
  assert.deepEqual(await views(page), ['/']);
  await context.close();
});

test('wrong arguments are named', async () => {
  const { context, page } = await open(false, '/');
  const told = await page.evaluate(() => {
    const { observeRoutes } = /** @type {any} */ (globalThis);
    return [
      [[['/'], 1]],
      [['/', () => {}]],
      [[['help'], () => {}]],
      [[['/a?b'], () => {}]],
      [[['/*/b'], () => {}]],
      [[['/a*'], () => {}]],
      [[[7], () => {}]],
    ].map(([args]) => {
      try {
        return observeRoutes(...args) && 'taken';
      } catch (error) {
        return String(error);
      }
    });
  });
  assert.match(told[0], /^TypeError: observeRoutes: take must be a function/);
  assert.match(told[1], /^TypeError: observeRoutes: routes must be a list/);
  for (const [i, name] of ['"help"', '"/a\\?b"', '"/\\*/b"', '"/a\\*"', '7'].entries())
    assert.match(told[2 + i], new RegExp(`^TypeError: observeRoutes: ${name} is no route`));
  await context.close();
});

test('a prerendered page is a view when it is shown, a restored one is another', async () => {
  const { context, page } = await open(false, '/');
  // A page that is loaded ahead, as the platform says it: Chromium under a debugger prerenders none.
  const ahead = await page.evaluate(async () => {
    const g = /** @type {any} */ (globalThis);
    g.stop();
    Object.defineProperty(document, 'prerendering', { value: true, configurable: true });
    /** @type {any[]} */ const seen = [];
    g.observeRoutes(['/'], (/** @type {any} */ route) => seen.push(route));
    const rest = () => new Promise((done) => setTimeout(done, 20));
    await rest();
    const before = seen.length;
    Object.defineProperty(document, 'prerendering', { value: false });
    document.dispatchEvent(new Event('prerenderingchange'));
    await rest();
    const shown = seen.length;
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    await rest();
    return [before, shown, seen.length];
  });
  assert.deepEqual(ahead, [0, 1, 2]);
  await context.close();
});

test('views become reports of a closed list, and nothing before consent', async () => {
  const { context, page } = await open(false, '/');
  const recipe = itemsRecipe({
    recipe: 'views',
    stream: 'views',
    parameters: { epsilon: 4, values: ROUTES },
  });
  const outcomes = await page.evaluate(async (/** @type {any[]} */ [endpoint, json, routes]) => {
    const g = /** @type {any} */ (globalThis);
    const shoal = g.start({ endpoint, recipes: [json] });
    /** @type {any[]} */ const all = [];
    g.observeRoutes(routes, async (/** @type {any} */ route) =>
      all.push(await shoal.record('views', route)),
    );
    const until = async (/** @type {number} */ n) => {
      while (all.length < n) await new Promise((done) => setTimeout(done, 5));
    };
    await until(1);
    await shoal.consent.grant();
    history.pushState(null, '', '/products/8');
    await until(2);
    history.pushState(null, '', '/account/jane');
    await until(3);
    await shoal.flush();
    return all;
  }, /** @type {const} */ ([edge.origin, recipe, ROUTES]));
  const queued = [{ recipe: 'views', code: 'queued' }];
  assert.deepEqual(
    outcomes,
    [[], queued, queued],
    'a path that is not listed is "none", not silence',
  );
  assert.equal(edge.reports().length, 2);
  assert.ok(!JSON.stringify(edge.requests).includes('jane'));
  await context.close();
});
