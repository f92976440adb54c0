// SPDX-License-Identifier: Apache-2.0
// The page that `shoal init` writes, in Chromium, under the Content-Security-Policy that its Caddyfile sends: nothing is
// fetched before consent, the recipe set is taken by its hash, an event of each kind reaches the client, and nothing is
// refused by the policy. It fits a phone's width in both colour schemes.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { WHATS, init, makeFolder, root } from './init_helpers.mjs';

const BROWSER = process.env.SHOAL_CHROMIUM ?? '/usr/bin/chromium';
const skip = !existsSync(BROWSER) && 'no Chromium';
const PATIENCE_MS = 60_000;

/** @type {{[ending: string]: string}} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** Serves what the Caddyfile names. @param {string} folder @param {string[]} seen receives paths */
async function serve(folder, seen) {
  const caddy = readFileSync(join(folder, 'Caddyfile'), 'utf8');
  const csp = String(/Content-Security-Policy "([^"]+)"/.exec(caddy)?.[1]);
  const fileOf = (/** @type {string} */ path) => {
    if (path.startsWith('/shoal/')) return join(root, 'wasm/dist', path.slice(7));
    if (path === '/site.json' || path.startsWith('/recipes/')) return join(folder, path);
    return join(folder, 'page', path === '/' ? 'index.html' : path);
  };
  const server = createServer(async (request, response) => {
    const path = new URL(String(request.url), 'http://x').pathname;
    seen.push(path);
    const bytes = await readFile(fileOf(path)).catch(() => null);
    response.writeHead(bytes ? 200 : 404, {
      'content-type': TYPES[extname(fileOf(path))] ?? 'application/octet-stream',
      'content-security-policy': csp,
    });
    response.end(bytes);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { server, url: `http://127.0.0.1:${port}/` };
}

/** Does what a person does. @param {import('playwright-core').Page} page @param {string} what */
async function act(page, what) {
  if (what === 'choices') await page.click('[data-choice="1"]');
  else if (what === 'numbers') {
    await page.fill('#shoal-number', '3.5');
    await page.click('#send');
  } else if (what === 'sites') {
    await page.evaluate(() => addEventListener('click', (event) => event.preventDefault()));
    await page.click('main a[href]');
  } else await page.locator('#shoal-field').pressSequentially('hello world ');
}

test('the written page works under the header that it documents', { skip }, async (t) => {
  const folder = makeFolder(t);
  const args = ['--disable-gpu', '--no-sandbox', '--disable-blink-features=AutomationControlled'];
  const browser = await chromium.launch({ executablePath: BROWSER, args });
  t.after(() => browser.close());
  for (const [i, what] of WHATS.entries()) {
    writeFileSync(join(folder, 'values.txt'), '<img src=x onerror=alert(1)>\n"b"\nc\n');
    const values = what === 'choices' ? ['--values', 'values.txt'] : [];
    const more = ['--visitors', '500000', '--strict', 'low'];
    const done = init(folder, what, '--what', what, ...more, ...values);
    assert.equal(done.code, 0, done.err);
    /** @type {string[]} */
    const seen = [];
    const { server, url } = await serve(join(folder, what), seen);
    t.after(() => server.close());
    const colorScheme = i % 2 ? 'dark' : 'light';
    const viewport = { width: i < 3 ? 390 : 1280, height: 800 };
    const context = await browser.newContext({ colorScheme, viewport });
    const page = await context.newPage();
    /** @type {string[]} */
    const problems = [];
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('dialog', (dialog) => problems.push(dialog.message()));
    await page.goto(url);
    await page.waitForFunction(() => document.querySelector('#state')?.textContent !== '');
    assert.deepEqual(
      seen.filter((path) => !/^\/(style\.css|icon\.svg|shoal\.js|shoal\/loader\.js)?$/.test(path)),
      [],
      'before consent nothing is fetched but the page and the loader',
    );
    await page.click('#yes');
    await page.getByText('You take part').waitFor({ timeout: PATIENCE_MS });
    await act(page, what);
    await page.getByText('Storage here is new').waitFor({ timeout: PATIENCE_MS });
    assert.ok(seen.includes('/site.json'));
    const reasons = await page.textContent('#reasons');
    assert.match(String(reasons), /Storage is fresh/, `${what}: ${reasons}`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `${what}: ${width} px`);
    if (what === 'choices')
      assert.equal(await page.textContent('[data-choice="0"]'), '<img src=x onerror=alert(1)>');
    assert.deepEqual(problems, [], what);
    await context.close();
  }
});
