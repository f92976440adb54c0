// SPDX-License-Identifier: Apache-2.0
// Writes `uncapped/` anew: node make_uncapped.mjs CLONE FOLDER, where CLONE is a built clone of commit
// 9275a61, before devices had caps, windows and terms. A page in Chromium uses that commit's client
// as it was built: it reports, answers a query and an epoch of a run, and is then dumped. Its coins
// are random, so the dump cannot be written again to the same bytes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { DEVICE_RECIPES, NOON } from './device_recipes.mjs';

const [clone, folder] = process.argv.slice(2).map((path) => resolve(path));
const load = (/** @type {string} */ file) => import(pathToFileURL(join(clone, file)).href);
const { epochRecipe, launchBrowser, serveFolders } = await load('wasm/test/fixtures.mjs');
const { makePolicy, phrases, signed } = await load('wasm/test/query_fixtures.mjs');

// The built files that a page and a worker of that commit need.
const FILES = {
  client: ['loader.js', 'client.js', 'statement.js', 'shoal.wasm'],
  edge: ['worker.js', 'shoal.wasm', 'shoal-dap.wasm'],
};
for (const [part, files] of Object.entries(FILES)) {
  mkdirSync(join(folder, part), { recursive: true });
  const dist = join(clone, part === 'client' ? 'wasm' : part, 'dist');
  for (const file of files)
    writeFileSync(
      join(folder, part, `${file}.gz`),
      gzipSync(readFileSync(join(dist, file)), { level: 9 }),
    );
}

const options = { recipes: DEVICE_RECIPES, policy: makePolicy(), runs: [epochRecipe()] };
const query = signed(phrases());
const site = await serveFolders({ folders: [join(clone, 'wasm/dist')] });
const browser = await launchBrowser();
const page = await (await browser.newContext()).newPage();
await page.route(`${site.origin}/`, (/** @type {any} */ route) =>
  route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }),
);
await page.goto(`${site.origin}/`);
const made = await page.evaluate(
  async (/** @type {any} */ { options, query, epoch, now }) => {
    const { init } = await import(/** @type {any} */ ('/client.js'));
    let day = 0;
    const replies = [202, 400]; // the worker takes one report, refuses one, and is then out of reach
    const client = await init({
      endpoint: 'https://edge.example',
      ...options,
      fetch: async (/** @type {any} */ url, /** @type {any} */ init) =>
        init?.method === 'POST'
          ? new Response('{}', { status: replies.shift() ?? 503 })
          : fetch(url, init),
      now: () => now + day * 86_400_000,
      setTimer: () => 0,
      clearTimer: () => {},
    });
    const codes = [await client.consent.grant()];
    const add = (/** @type {any[]} */ outcomes) => codes.push(...outcomes.map((o) => o.code));
    add(await client.optIn('keyboard'));
    add(await client.donate('typed-phrases', { phrase: 'i went home', age: 24 }));
    add(await client.track.optIn('settings'));
    add(await client.track.sample('views', 1));
    await client.flush();
    day = 1; // fresh ledgers wait for a day
    add(await client.record('typed-words', 'herring'));
    await client.flush();
    add(await client.record('theme', 'dark'));
    await client.flush();
    add(await client.record('home', 'example.org'));
    add(await client.ask([query]));
    add(await client.track.answer([epoch]));
    await client.flush();
    const told = {
      ledger: await client.ledger(),
      reports: await client.reports(),
      log: await client.log(),
    };
    client.close();
    const db = await new Promise((resolve, reject) => {
      const request = indexedDB.open('shoal');
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    /** @type {Record<string, any>} */
    const rows = {};
    const all = (/** @type {any} */ request) =>
      new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
    for (const store of db.objectStoreNames) {
      const at = db.transaction(store).objectStore(store);
      const [keys, values] = /** @type {any} */ (
        await Promise.all([all(at.getAllKeys()), all(at.getAll())])
      );
      keys.forEach((/** @type {string} */ key, /** @type {number} */ i) => {
        rows[`${store}/${key}`] = values[i];
      });
    }
    const text = JSON.stringify({ version: db.version, codes, told, rows }, (_, value) =>
      value instanceof Uint8Array
        ? { hex: Array.from(value, (b) => b.toString(16).padStart(2, '0')).join('') }
        : value,
    );
    db.close();
    return text;
  },
  { options, query, epoch: epochRecipe(), now: NOON },
);
const { policy, runs } = options;
const device = { now: NOON + 86_400_000, policy, runs, query, ...JSON.parse(made) };
writeFileSync(join(folder, 'device.json'), `${JSON.stringify(device, null, 1)}\n`);
await browser.close();
await site.close();
