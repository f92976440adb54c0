// SPDX-License-Identifier: Apache-2.0
// In Chromium: fields that ever hid what is typed are not read, and a frame in another site's page
// has a budget of its own for each site, and says so.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import {
  BROWSER,
  BROWSER_ARGS,
  WASM,
  launchBrowser,
  serveFolders,
  wordsRecipe,
} from '../fixtures.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serveFolders>>} */
let sources;
/** @type {Awaited<ReturnType<typeof serveFolders>>} */
let site;

const html = (/** @type {string} */ body) => `<!doctype html><title>page</title>${body}`;

before(async () => {
  browser = await launchBrowser();
  sources = await serveFolders({ folders: [WASM], pages: { '/': html('') } });
  const recipe = wordsRecipe({ limit: { per_day: 2 }, send: { fresh: 'allow', delay_s: 3600 } });
  site = await serveFolders({
    folders: [join(WASM, 'dist')],
    pages: {
      '/widget': html('<script type="module" src="/widget.js"></script>'),
      '/widget.js': `
        import { start } from '/loader.js';
        globalThis.shoal = start({ endpoint: location.origin, recipes: [${JSON.stringify(recipe)}] });`,
      '/top': html(''),
    },
  });
});
after(async () => {
  await browser?.close();
  await sources?.close();
  await site?.close();
});

/**
 * A page with fields under observe().
 * @param {string} body
 */
async function observed(body) {
  const page = await browser.newPage();
  await page.goto(sources.origin);
  await page.setContent(html(`<form id="all">${body}</form>`));
  await page.evaluate(async () => {
    const { observe } = await import(/** @type {any} */ ('/client/observe.js'));
    const state = { words: /** @type {string[]} */ ([]), notes: /** @type {string[]} */ ([]) };
    const call = /** @type {any} */ ({
      context: { note: (/** @type {string} */ code) => void state.notes.push(code) },
    });
    const all = document.getElementById('all');
    observe(call, all, new AbortController().signal, (/** @type {string} */ word) =>
      state.words.push(word),
    );
    Object.assign(globalThis, { state });
  });
  return {
    page,
    /** Types into a field. Returns the words that were read of it. @param {string} field @param {string} text */
    async types(field, text) {
      await page.focus(field);
      await page.keyboard.type(text);
      return page.evaluate(() => /** @type {any} */ (globalThis).state.words.splice(0));
    },
    notes: () => page.evaluate(() => /** @type {any} */ (globalThis).state.notes),
  };
}

test('a field that ever was a password field is not read', async () => {
  const { page, types, notes } = await observed(`
    <input id="plain" data-shoal>
    <input id="shown" data-shoal type="password">
    <input id="late" data-shoal>
    <input id="twice" data-shoal>
    <input id="card" data-shoal autocomplete="cc-name">
    <div id="host"></div>`);
  assert.deepEqual(await types('#plain', 'two words '), ['two', 'words']);
  // "Show password" before anything was typed: nothing but the change tells what the field was.
  await page.evaluate(() => {
    const of = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
    of('shown').type = 'text';
    of('twice').type = 'password';
    of('twice').type = 'text';
    of('card').autocomplete = 'off';
  });
  for (const id of ['#shown', '#twice', '#card'])
    assert.deepEqual(await types(id, 'my secret word '), [], id);
  // Later, in one task with the next key.
  assert.deepEqual(await types('#late', 'before '), ['before']);
  await page.evaluate(() => {
    const late = /** @type {any} */ (document.getElementById('late'));
    late.type = 'password';
    late.type = 'text';
  });
  assert.deepEqual(await types('#late', 'and after '), []);
  assert.deepEqual([...new Set(await notes())], ['refused-field']);

  // In a shadow tree, from the time on when the field is entered.
  await page.evaluate(() => {
    const root = document.getElementById('host')?.attachShadow({ mode: 'open' });
    if (root)
      root.innerHTML = '<input id="in" data-shoal><input id="pw" data-shoal type="password">';
  });
  assert.deepEqual(await types('#in', 'open '), ['open']);
  await page.evaluate(() => {
    const root = document.getElementById('host')?.shadowRoot;
    /** @type {any} */ (root?.getElementById('pw')).type = 'text';
  });
  assert.deepEqual(await types('#pw', 'shadow secret '), []);
  assert.deepEqual(await types('#plain', 'still '), ['still']);
  await page.close();
});

test('a field whose text CSS hides is not read, also once it is shown', async () => {
  const { page, types } = await observed(`
    <style>.hidden { -webkit-text-security: disc } #under { -webkit-text-security: square }</style>
    <input id="masked" class="hidden" data-shoal>
    <textarea id="area" data-shoal></textarea>
    <div id="under"><p id="editable" contenteditable data-shoal></p></div>`);
  assert.deepEqual(await types('#masked', 'my secret '), []);
  assert.deepEqual(await types('#area', 'seen '), ['seen']);
  assert.deepEqual(await types('#editable', 'also hidden '), []); // inherited
  await page.evaluate(() => {
    document.getElementById('masked')?.classList.remove('hidden');
    document.getElementById('area')?.classList.add('hidden');
  });
  assert.deepEqual(await types('#masked', 'shown secret '), []);
  assert.deepEqual(await types('#area', 'unseen '), []);
  await page.close();
});

test('a frame of another site has a budget for each site that embeds it, and explain() says so', async (t) => {
  // Debian's Chromium refuses frames of other sites all storage; others give them storage apart.
  const profile = await mkdtemp(join(tmpdir(), 'shoal-frames-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: BROWSER,
    args: [
      ...BROWSER_ARGS,
      '--disable-blink-features=AutomationControlled',
      '--disable-features=TrackingProtection3pcd,ThirdPartyCookieBlocking',
    ],
  });
  t.after(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }));
  const { port } = new URL(site.origin);
  const widget = `http://127.0.0.1:${port}/widget`;
  /** @param {string} top @param {string} [wraps] a frame in between */
  const framed = async (top, wraps) => {
    const page = await context.newPage();
    await page.goto(`${top}:${port}/top`);
    await page.evaluate(
      async ([url, between]) => {
        const frame = document.createElement('iframe');
        if (between) frame.srcdoc = '<p>';
        else frame.src = url;
        document.body.append(frame);
        if (!between) return;
        await new Promise((resolve) => (frame.onload = resolve));
        const inner = document.createElement('iframe');
        inner.src = url;
        frame.contentDocument?.body.append(inner);
      },
      [widget, wraps ?? ''],
    );
    let frame;
    for (const end = Date.now() + 30_000; !frame && Date.now() < end;) {
      frame = page.frames().find((each) => each.url() === widget);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (!frame) throw new Error('no frame');
    await frame.waitForFunction(() => 'shoal' in globalThis);
    return frame;
  };
  /** @param {import('playwright-core').Frame | import('playwright-core').Page} frame */
  const spend = (frame) =>
    frame.evaluate(async () => {
      const { shoal } = /** @type {any} */ (globalThis);
      await shoal.consent.grant();
      const codes = [];
      for (let i = 0; i < 3; i++)
        codes.push(
          ...(await shoal.record('typed-words', 'word')).map((/** @type {any} */ o) => o.code),
        );
      const why = (await shoal.explain()).map((/** @type {any} */ reason) => reason.code);
      return { codes, isForeign: why.includes('third-party-frame') };
    });
  const day = ['queued', 'queued', 'budget'];
  // A page of the widget's own origin: one budget, and no such reason.
  assert.deepEqual(await spend(await framed('http://127.0.0.1')), { codes: day, isForeign: false });
  assert.deepEqual(await spend(await framed('http://127.0.0.1', 'wrapped')), {
    codes: ['budget', 'budget', 'budget'],
    isForeign: false,
  });
  // Another site embeds it: storage is apart, so consent and budget begin anew.
  assert.deepEqual(await spend(await framed('http://localhost')), { codes: day, isForeign: true });
  assert.deepEqual((await spend(await framed('http://localhost'))).codes, [
    'budget',
    'budget',
    'budget',
  ]);
  await context.close();
});
