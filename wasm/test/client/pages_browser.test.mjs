// SPDX-License-Identifier: Apache-2.0
// Chromium's own ways with pages: the back/forward cache, pages loaded ahead, and its word that a
// program drives it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  BROWSER,
  BROWSER_ARGS,
  WASM,
  launchBrowser,
  serveFolders,
  wordsRecipe,
} from '../fixtures.mjs';
import { wholeDay } from '../../../tests/aggregator/serve/serve_helpers.mjs';

/** @type {Awaited<ReturnType<typeof serveFolders>>} */
let edge;
/** @type {Awaited<ReturnType<typeof serveFolders>>} */
let site;
/** @type {() => void} */
let click;

/** @param {string} more @param {string} [options] of the client */
const script = (more, options = '') => `
  import { start } from '/loader.js';
  const recipes = [${JSON.stringify(wordsRecipe())}];
  const shoal = start({ endpoint: '${edge.origin}', recipes, ${options} });
  const codes = async () => (await shoal.record('typed-words', 'word')).map((o) => o.code).join();
  const say = (what) => fetch('/say/' + encodeURIComponent(what), { cache: 'no-store' });
  Object.assign(globalThis, { shoal, codes });
  ${more}`;
const html = (/** @type {string} */ body) => `<!doctype html><title>page</title>${body}`;

before(async () => {
  await wholeDay(120);
  edge = await serveFolders({ folders: [] });
  /** @type {Record<string, string>} */
  const pages = {};
  site = await serveFolders({ folders: [join(WASM, 'dist')], pages });
  // The page /links clicks once this test lets /click exist.
  click = () => void (pages['/click'] = 'now');
  Object.assign(pages, {
    '/': html('<script type="module" src="/page.js"></script>'),
    '/page.js': script(''),
    '/first': html('<script type="module" src="/first.js"></script>'),
    // Chromium keeps no page that used its locks: it loads such a page anew. One tab needs none.
    '/first.js': script(
      "addEventListener('pageshow', (event) => (globalThis.isCached = event.persisted));",
      'locks: { request: async (name, options, task) => task({}) }',
    ),
    '/other': html(''),
    '/agree': html('<script type="module" src="/agree.js"></script>'),
    '/agree.js': script(
      `await say('agreed ' + (await shoal.consent.grant())); location.href = '/links';`,
    ),
    '/links': html(`<a id="link" href="/ahead">ahead</a>
      <script>setInterval(async () => {
        if ((await fetch('/click', { cache: 'no-store' })).ok) document.getElementById('link').click();
      }, 200);</script>
      <script type="speculationrules">{"prerender":[{"urls":["/ahead"],"eagerness":"immediate"}]}</script>`),
    '/ahead': html('<script type="module" src="/ahead.js"></script>'),
    '/ahead.js': script(`
      await shoal.explain(); // the client is there
      await say([document.prerendering, await codes(), (await shoal.explain()).map((r) => r.code)].join(' '));
      const shown = async () => { await say('shown ' + (await codes())); await shoal.flush(); };
      if (document.prerendering) document.addEventListener('prerenderingchange', shown);`),
  });
});

after(async () => {
  await edge?.close();
  await site?.close();
});

/** @param {() => boolean | Promise<boolean>} condition @param {string} what */
async function until(condition, what) {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`never: ${what}`);
}

/** A page of a person who agreed. @param {import('playwright-core').BrowserContext} context @param {string} [path] */
async function agreed(context, path = '/') {
  const page = await context.newPage();
  await page.goto(site.origin + path);
  await page.waitForFunction(() => 'shoal' in globalThis);
  await page.evaluate(() => /** @type {any} */ (globalThis).shoal.consent.grant());
  return page;
}

/** What pages said. */
const said = () =>
  site.requests
    .filter(({ url }) => url.startsWith('/say/'))
    .map(({ url }) => decodeURIComponent(url.slice(5)));

/**
 * Lets a fresh Chromium open a page, without developer tools: with them, it loads no page ahead.
 * The pages say what they see, and go on by themselves.
 * @param {string} path
 * @param {() => Promise<void>} task
 */
async function visited(path, task) {
  site.requests.length = 0;
  const profile = await mkdtemp(join(tmpdir(), 'shoal-pages-'));
  const args = [...BROWSER_ARGS, '--headless', `--user-data-dir=${profile}`, site.origin + path];
  const driven = spawn(BROWSER, args, { stdio: 'ignore' });
  try {
    await task();
  } finally {
    driven.kill('SIGKILL');
    await once(driven, 'exit');
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

test('a page that a person goes back to after a withdrawal elsewhere sends nothing', async (t) => {
  const driven = await launchBrowser({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  try {
    const sent = edge.reports().length;
    const context = await driven.newContext();
    const page = await agreed(context, '/first');
    const other = await agreed(context);
    assert.equal(await page.evaluate('codes()'), 'queued');
    await page.evaluate('shoal.flush()');
    await until(() => edge.reports().length === sent + 1, 'a report before');
    await page.goto(`${site.origin}/other`);
    await other.evaluate('shoal.consent.withdraw()');
    await page.evaluate('history.back()').catch(() => undefined); // its answer may go with the page
    // While it navigates there is nothing to ask.
    const ask = (/** @type {string} */ what) => page.evaluate(what).catch(() => undefined);
    await until(async () => (await ask('globalThis.isCached')) !== undefined, 'the page of before');
    // Chromium may also load it anew, as it does where another tab used the page's storage.
    // pages.test.mjs has the page that comes from the cache in any case.
    t.diagnostic(`it came from the cache: ${await page.evaluate('isCached')}`);
    await until(async () => (await ask('shoal.consent.state')) === 'withdrawn', 'its new state');
    // A page that was loaded anew does not even load the client.
    assert.match(await page.evaluate('codes()'), /^(no-consent)?$/);
    await page.evaluate('shoal.flush()');
    assert.equal(edge.reports().length, sent + 1);
  } finally {
    await driven.close();
  }
});

test('a page that is loaded ahead sends and spends nothing before it is shown', () =>
  visited('/agree', async () => {
    const sent = edge.reports().length;
    await until(() => said().length >= 2, 'the page that is loaded ahead');
    assert.deepEqual(said(), ['agreed granted', 'true prerendered prerendered']);
    assert.equal(edge.reports().length, sent);
    click();
    await until(() => said().length >= 3, 'the page that is shown');
    assert.deepEqual(said().slice(2), ['shown queued']);
    await until(() => edge.reports().length === sent + 1, 'its report');
  }));

test('a browser that says that a program drives it sends nothing', async () => {
  const driven = await launchBrowser({ isAutomated: true });
  try {
    const sent = edge.reports().length;
    const page = await agreed(await driven.newContext());
    assert.equal(await page.evaluate('codes()'), 'automated');
    await page.evaluate('shoal.flush()');
    const why = await page.evaluate('shoal.explain()');
    assert.deepEqual(
      /** @type {any[]} */ (why).map(({ code }) => code),
      ['automated'],
    );
    assert.equal(edge.reports().length, sent);
  } finally {
    await driven.close();
  }
});
