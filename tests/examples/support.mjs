// SPDX-License-Identifier: Apache-2.0
// What the tests of the examples share: a copy of an example with the client installed in it, a real edge on loopback
// under the example's own configuration, and an aggregator that opens every batch and checks it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { load, loadDapModule } from 'shoal-client/node';
import { readConfig } from '../../edge/config.js';
import { startEdge } from '../../edge/node.js';
import { freePort } from '../ports.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const BROWSER = process.env.SHOAL_CHROMIUM ?? '/usr/bin/chromium';
export const skip = !existsSync(BROWSER) && 'no Chromium';
export const PATIENCE_MS = 120_000;
const ENDPOINT = /http:\/\/127\.0\.0\.1:8787/g; // as the examples have it
const TEXT = /\.(js|jsx|mjs|json|html)$/;
const SECRET = 'a-secret-of-the-examples';

/** @typedef {import('node:test').TestContext} Test */

/** Where the copies lie: inside the checkout, so that they find its node_modules. */
export const scratch = join(root, 'build/examples');

/** Where the copy of an example lies. @param {string} name */
export const folderOf = (name) => join(scratch, `${name}-${process.pid}`);

/**
 * Copies an example, with the endpoint that it reports to changed, and installs the client as npm would.
 * @param {Test} t
 * @param {string} name
 * @param {string} endpoint origin of the edge
 * @param {string} [project] a folder that has the example's other packages already
 */
export async function copyExample(t, name, endpoint, project) {
  const folder = project ?? folderOf(name);
  if (!project) t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await cp(join(root, 'examples', name), folder, {
    recursive: true,
    filter: (path) => !/\/(node_modules|dist|\.next|shoal)$/.test(path),
  });
  await pointTo(folder, endpoint);
  await installClient(folder);
  return folder;
}

/** @param {string} folder @param {string} endpoint */
async function pointTo(folder, endpoint) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') await pointTo(path, endpoint);
    if (!entry.isFile() || !TEXT.test(entry.name)) continue;
    const text = await readFile(path, 'utf8');
    if (text.match(ENDPOINT)) await writeFile(path, text.replace(ENDPOINT, endpoint));
  }
}

/** Puts the files that the package has into node_modules: a link would be treated as a part of the project. @param {string} folder */
export async function installClient(folder) {
  const client = join(root, 'wasm');
  const target = join(folder, 'node_modules/shoal-client');
  const { files } = JSON.parse(await readFile(join(client, 'package.json'), 'utf8'));
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  for (const each of [...files, 'package.json'])
    await cp(join(client, each), join(target, each), { recursive: true });
}

/** An aggregator that keeps the records of each batch as text, by recipe. */
class Aggregator {
  /** @type {Map<string, string[]>} */ #records = new Map();
  /** @type {unknown[]} */ problems = [];

  /** @param {import('shoal-client/core').Recipe[]} recipes */
  constructor(recipes) {
    this.recipes = recipes;
    this.server = createServer((request, response) => {
      this.#take(request).then(
        () => response.writeHead(201).end('{"status":"stored"}'),
        (error) => {
          this.problems.push(error);
          response.writeHead(400).end('{}');
        },
      );
    });
  }

  /** @param {string} id of a recipe @returns {string[]} the records that came */
  recordsOf(id) {
    return this.#records.get(id) ?? [];
  }

  /** @param {import('node:http').IncomingMessage} request */
  async #take(request) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = new Uint8Array(Buffer.concat(chunks));
    assert.equal(request.headers.authorization, `Bearer ${SECRET}`);
    const hash = Buffer.from(body.subarray(24, 56)).toString('hex');
    const recipe = this.recipes.find((each) => each.hash === hash);
    assert.ok(recipe, `a batch of a recipe that the examples do not have: ${hash}`);
    const { records } = recipe.openBatch(body); // throws on any damage
    for (let at = 0; at < records.length; at += recipe.recordSize) {
      const text = recipe.recordToText(records.subarray(at, at + recipe.recordSize));
      recipe.recordFromText(text); // throws on what the recipe's mechanism cannot say
      this.#records.set(recipe.id, [...this.recordsOf(recipe.id), text]);
    }
  }
}

/**
 * Starts an aggregator and an edge, the latter under the configuration of `examples/edge`.
 * @param {Test} t
 * @param {any[]} [more] recipes besides those of the examples
 * @param {string[]} [origins] by default those of the configuration
 */
export async function startCollection(t, more = [], origins) {
  const core = await load();
  const source = join(root, 'examples/edge');
  const folder = join(scratch, `edge-${process.pid}-${await freePort()}`);
  await mkdir(folder, { recursive: true });
  const json = JSON.parse(await readFile(join(source, 'edge.json'), 'utf8'));
  const named = json.recipes.map(
    async (/** @type {any} */ { file, hash }, /** @type {number} */ i) => {
      await cp(join(source, file), join(folder, `${i}.json`));
      return { file: `${i}.json`, hash };
    },
  );
  const added = more.map(async (recipe, i) => {
    await writeFile(join(folder, `more-${i}.json`), JSON.stringify(recipe));
    return { file: `more-${i}.json`, hash: core.recipe(recipe).hash };
  });
  const recipes = await Promise.all([...named, ...added]);
  const texts = recipes.map(({ file }) => readFile(join(folder, file), 'utf8'));
  const aggregator = new Aggregator(
    (await Promise.all(texts)).map((text) => core.recipe(JSON.parse(text))),
  );
  await once(aggregator.server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (aggregator.server.address());
  await writeFile(join(folder, 'batch.secret'), `${SECRET}\n`, { mode: 0o600 });
  const config = {
    ...json,
    ...(origins && { origins }),
    recipes,
    listen: `127.0.0.1:${await freePort()}`,
    aggregator: `http://127.0.0.1:${port}/`,
  };
  await writeFile(join(folder, 'edge.json'), JSON.stringify(config));
  const edge = await startEdge(await readConfig(join(folder, 'edge.json')), {
    createCore: load,
    loadDapModule,
  });
  t.after(async () => {
    await edge.close();
    aggregator.server.closeAllConnections();
    await new Promise((done) => aggregator.server.close(done));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    assert.deepEqual(aggregator.problems, [], 'every batch was well-formed');
  });
  return { origin: `http://127.0.0.1:${edge.port}`, aggregator };
}

/** Waits until a condition holds. @template T @param {() => T | Promise<T>} holds @param {string} what @returns {Promise<NonNullable<T>>} */
export async function until(holds, what) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (Date.now() > end) throw new Error(`never came: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** @type {{[ending: string]: string}} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/**
 * Serves a folder on loopback, as any server of files would.
 * @param {Test} t @param {string} folder
 */
export async function serveFolder(t, folder) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(String(request.url), 'http://x');
    const file = join(folder, normalize(pathname), pathname.endsWith('/') ? 'index.html' : '');
    const bytes = await readFile(file).catch(() => null);
    response.writeHead(bytes ? 200 : 404, { 'content-type': TYPES[extname(file)] ?? 'text/plain' });
    response.end(bytes);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}/`;
}

/** @param {Test} t */
export async function openBrowser(t) {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-blink-features=AutomationControlled',
  ];
  const browser = await chromium.launch({ executablePath: BROWSER, args });
  t.after(() => browser.close());
  return browser;
}

/**
 * Opens a page, and keeps what it requests and complains of.
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 */
export async function openPage(browser, url) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS); // a development server compiles what it is asked for first
  /** @type {string[]} */ const requests = [];
  /** @type {string[]} */ const complaints = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return { page, requests, complaints };
}

/**
 * Does what a person does on the page with themes: answers before consent, says yes, answers again.
 * @param {import('playwright-core').Page} page
 * @param {string[]} requests that the page has made
 * @param {Aggregator} aggregator
 */
export async function answerThemes(page, requests, aggregator) {
  await page.getByText(/not answered yet/).waitFor();
  await page.click('[data-theme="dark"]');
  assert.ok(
    !requests.some((url) => /wasm|v1\/reports/.test(url)),
    'before consent nothing is sent',
  );
  assert.deepEqual(await page.evaluate(() => indexedDB.databases()), [], 'nor stored');
  await page.click('#yes');
  await page.getByText('You said yes.').waitFor({ timeout: PATIENCE_MS });
  for (const [i, theme] of ['dark', 'light'].entries()) {
    await page.click(`[data-theme="${theme}"]`);
    await page.locator(`#sent li:nth-child(${i + 1})`).waitFor({ timeout: PATIENCE_MS });
  }
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll('#sent li')].every((line) =>
        /, sent$/.test(String(line.textContent)),
      ),
    { timeout: PATIENCE_MS },
  );
  await until(() => aggregator.recordsOf('example-theme').length === 2, 'two records');
  const shown = await page.locator('#sent li').allTextContents();
  const sent = shown.map((line) => /record (\S+),/.exec(line)?.[1]);
  assert.deepEqual(
    sent.sort(),
    [...aggregator.recordsOf('example-theme')].sort(),
    'the page shows exactly what the aggregator got',
  );
  await page.click('#no');
  await page.getByText('You said no').waitFor();
  await page.click('[data-theme="dark"]');
  assert.equal(await page.locator('#sent li').count(), 2, 'nothing after the withdrawal');
}

/**
 * Does what a person does in a single-page app: looks around before consent, says yes, reads two pages.
 * @param {import('playwright-core').Page} page
 * @param {string[]} requests that the page has made
 * @param {Aggregator} aggregator
 * @param {number} before records that it had
 */
export async function readRoutes(page, requests, aggregator, before) {
  await page.getByText('Consent: none').waitFor({ timeout: PATIENCE_MS });
  await page.click('text=A product');
  await page.getByRole('heading', { name: 'Product 7' }).waitFor();
  assert.ok(
    !requests.some((url) => /wasm|v1\/reports/.test(url)),
    'before consent nothing is sent',
  );
  assert.deepEqual(await page.evaluate(() => indexedDB.databases()), [], 'nor stored');
  await page.click('#yes');
  await page.getByText('Consent: granted').waitFor({ timeout: PATIENCE_MS });
  await page.click('text=About');
  await page.locator('#sent li:nth-child(1)').waitFor({ timeout: PATIENCE_MS });
  await page.goBack();
  await page.getByRole('heading', { name: 'Product 7' }).waitFor();
  await page.locator('#sent li:nth-child(2)').waitFor({ timeout: PATIENCE_MS });
  const came = () => aggregator.recordsOf('example-views').slice(before);
  await until(() => came().length === 2, 'two records');
  const shown = await page.locator('#sent li').allTextContents();
  assert.deepEqual(shown.map((line) => /record (\S+),/.exec(line)?.[1]).sort(), [...came()].sort());
  assert.ok(!requests.some((url) => url.includes('products/7') && url.includes('v1/')));
}

/** @param {import('playwright-core').Page} page */
export const fitsPhone = async (page) => {
  await page.setViewportSize({ width: 390, height: 800 });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `the page is ${width} px wide`);
};
