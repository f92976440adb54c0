// SPDX-License-Identifier: Apache-2.0
// Signing in and out in a real browser: the form's keyboard and label, its policy, what a wrong token says, that no page is wider
// than a phone; that a page whose session is over leads back to the form, and that a form of another origin signs nobody in.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chromium } from 'playwright-core';

import { configure, listRecipe, makeFolder, post, serve, simulate } from './serve_helpers.mjs';

const TOKEN = 'token-of-alice-0123456789';
const COUNTS = 'light\t700\ndark\t300\n';

/** @param {import('node:test').TestContext} t */
async function start(t) {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'alice'), `${TOKEN}\n`);
  const readers = [{ name: 'alice@example.org', token_file: 'alice', collections: 'all' }];
  const server = await serve(t, configure(folder, [listRecipe('theme')], { readers }));
  for (const batch of simulate(join(folder, 'recipe-0.json'), COUNTS, 500, 100))
    assert.equal((await post(server.url, batch)).status, 201);
  const browser = await chromium.launch({
    executablePath: process.env.SHOAL_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  t.after(() => browser.close());
  return { url: server.url, browser };
}

/** @param {import('playwright-core').Page} page @param {string} url */
async function enter(page, url) {
  await page.goto(`${url}/recipes/theme`);
  assert.equal(page.url(), `${url}/sign-in`);
  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${url}/`);
}

test('a person signs in by keyboard, reads and signs out, on a phone and a screen', async (t) => {
  const { url, browser } = await start(t);
  for (const viewport of [
    { width: 390, height: 844 },
    { width: 1280, height: 800 },
  ])
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const context = await browser.newContext({ viewport, colorScheme });
      const page = await context.newPage();
      /** @type {string[]} */
      const refused = [];
      page.on('console', (message) => {
        if (/Content Security Policy|violates/.test(message.text())) refused.push(message.text());
      });
      const wide = () => page.evaluate('document.documentElement.scrollWidth > innerWidth');
      await page.goto(url);
      assert.equal(await page.title(), 'Sign in · shoal');
      assert.equal(await page.evaluate('document.activeElement.name'), 'token');
      await page.keyboard.type('no-token-of-anybody-here');
      await page.keyboard.press('Enter');
      assert.equal(await page.getByRole('alert').textContent(), 'No reader has this token.');
      assert.equal(await page.getByLabel('Token').inputValue(), '');
      assert.equal(await wide(), false);
      await page.keyboard.type(TOKEN);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${url}/`);
      assert.equal(await page.getByRole('heading', { name: 'theme' }).count(), 1);
      assert.equal(await wide(), false);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`${url}/sign-in`);
      assert.deepEqual(await context.cookies(), []);
      await page.goBack();
      assert.equal(await page.title(), 'Sign in · shoal', 'nothing is shown after signing out');
      assert.deepEqual(refused, []);
      await context.close();
    }
});

test('a page whose session is over leads to the form by itself', async (t) => {
  const { url, browser } = await start(t);
  const context = await browser.newContext();
  const page = await context.newPage();
  await enter(page, url);
  const [cookie] = await context.cookies();
  assert.deepEqual(
    [cookie.name, cookie.httpOnly, cookie.sameSite, cookie.path],
    ['shoal-session', true, 'Strict', '/'],
  );
  assert.equal(await page.evaluate('document.cookie'), '', 'no script sees it');
  const left = await fetch(`${url}/sign-out`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url, cookie: `${cookie.name}=${cookie.value}` },
  });
  assert.equal(left.status, 303);
  await page.waitForURL(`${url}/sign-in`, { timeout: 30_000 });
});

test('a form on another site signs nobody in or out', async (t) => {
  const { url, browser } = await start(t);
  const other = createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(
      `<form method="post" action="${url}${request.url}"><input name="token" value="${TOKEN}"><button>go</button></form>`,
    );
  });
  await once(other.listen(0, '127.0.0.1'), 'listening');
  t.after(() => other.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (other.address());
  const context = await browser.newContext();
  const page = await context.newPage();
  for (const site of [`http://localhost:${port}`, `http://127.0.0.1:${port}`]) {
    for (const path of ['/sign-in', '/sign-out']) {
      if (path === '/sign-out') await enter(await context.newPage(), url);
      await page.goto(site + path);
      const [answer] = await Promise.all([
        page.waitForResponse(url + path),
        page.getByRole('button').click(),
      ]);
      assert.equal(answer.status(), 403, site + path);
    }
    assert.equal((await context.cookies(url)).length, 1, 'still signed in');
    await context.clearCookies();
  }
});
