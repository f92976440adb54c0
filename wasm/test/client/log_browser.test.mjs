// SPDX-License-Identifier: Apache-2.0
// A log in a real Chromium, from the built files and under the policy that the documentation prints:
// a key list and a query through the log, with the browser's own Ed25519, and a log that forks.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { wholeDay } from '../../../tests/aggregator/serve/serve_helpers.mjs';
import { CSP } from '../../client/reasons.js';
import { WASM, launchBrowser, serveFolders } from '../fixtures.mjs';
import { OracleLog, filler, keysEntry, queryEntry } from '../log_fixtures.mjs';
import { DAY_MS, makePolicy, phrases, signed, withQuery } from '../query_fixtures.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serveFolders>>} */
let site;
/** @type {string} */
let folder;
/** @type {string[]} */
const failures = [];

const today = Math.floor(Date.now() / DAY_MS);
const expires = new Date(Date.now() + 30 * DAY_MS).toISOString().slice(0, 10);
const known = signed(phrases({ expires }));
const unknown = signed(phrases({ expires, recipe: 'secret' }));
const entries = [
  ...Array.from({ length: 260 }, (_, i) => filler(i)),
  queryEntry(withQuery(known, (query) => query.queryHash)),
  keysEntry({ from: today - 1, until: today + 30 }),
];
const log = new OracleLog(entries);

/** @param {Map<string, Uint8Array>} files */
async function publish(files) {
  await rm(join(folder, 'log'), { recursive: true, force: true });
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(folder, 'log', path)), { recursive: true });
    await writeFile(join(folder, 'log', path), bytes);
  }
}

before(async () => {
  await wholeDay(120);
  folder = await mkdtemp(join(tmpdir(), 'shoal-log-'));
  await publish(log.files());
  browser = await launchBrowser();
  site = await serveFolders({
    folders: [join(WASM, 'dist'), folder],
    csp: `default-src 'none'; ${CSP}; connect-src 'self'`,
    pages: { '/': '<!doctype html><title>t</title>' },
  });
});

after(async () => {
  await browser?.close();
  await site?.close();
  await rm(folder, { recursive: true });
  assert.deepEqual(failures, []);
});

/** A page of a profile with the client started. @param {import('playwright-core').BrowserContext} context @param {number} shift */
async function open(context, shift) {
  const page = await context.newPage();
  page.on('pageerror', (error) => void failures.push(String(error)));
  await page.goto(`${site.origin}/`);
  await page.evaluate(async ([endpoint, policy, ms, key]) => {
    const { start } = await import(/** @type {any} */ ('/loader.js'));
    const now = () => Date.now() + Number(ms);
    const options = { endpoint, recipes: [], policy, now, log: { url: '/log', key } };
    Object.assign(globalThis, { shoal: start(options) });
  }, /** @type {const} */ ([site.origin, makePolicy(), shift, log.signer.verifier]));
  return page;
}

/** @param {Page} page @param {string} method @param {any[]} args @returns {Promise<any>} */
const call = (page, method, ...args) =>
  page.evaluate(
    ([name, list]) => /** @type {any} */ (globalThis).shoal[String(name)](...list),
    /** @type {[string, any[]]} */ ([method, args]),
  );

test('a query in the log is answered, one that is not is refused, and so is a fork', async () => {
  const context = await browser.newContext();
  const first = await open(context, 0);
  await first.evaluate(() => /** @type {any} */ (globalThis).shoal.consent.grant());
  await call(first, 'optIn', 'keyboard');
  await call(first, 'donate', 'typed-phrases', { phrase: 'hello world and' });
  site.requests.length = 0;
  assert.deepEqual(await call(first, 'ask', []), []);
  assert.ok(!site.requests.some(({ url }) => url.startsWith('/log/')), 'no query, no log');
  const page = await open(context, DAY_MS);
  site.requests.length = 0;
  assert.deepEqual(
    (await call(page, 'ask', [unknown, known])).map((/** @type {any} */ { code }) => code),
    ['not-logged', 'queued'],
  );
  const asked = site.requests.filter(({ url }) => url.startsWith('/log/'));
  assert.deepEqual(
    asked.map(({ url }) => url.slice('/log/'.length)).sort(),
    ['checkpoint', 'index', 'tile/0/001.p/6', 'tile/1/000.p/1'],
    'each once',
  );
  for (const { headers } of asked)
    assert.ok(headers.cookie === undefined && headers.referer === undefined);
  const row = (await call(page, 'log')).find((/** @type {any} */ { query }) => query === 'secret');
  assert.match(row.text, /The query is not in the log, so it is not answered\.$/);
  // The log's key signs another list.
  const other = new OracleLog([...entries].reverse());
  other.signer = log.signer;
  await publish(other.files());
  const codes = (await call(page, 'ask', [unknown])).map((/** @type {any} */ { code }) => code);
  assert.deepEqual(codes, ['log-fork']);
  await publish(log.files());
  await context.close();
});

test('a key list is read with the browser own hashes and signatures', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site.origin}/`);
  /** The list, or the code with which it is refused. */
  const read = () =>
    page.evaluate(async (key) => {
      const { keyList } = await import(/** @type {any} */ ('/log.js'));
      const state = new Map();
      const tx = {
        get: async (/** @type {any} */ _, /** @type {string} */ name) => state.get(name),
        put: async (/** @type {any} */ _, /** @type {string} */ name, /** @type {any} */ value) =>
          void state.set(name, value),
      };
      const run = (/** @type {(tx: any) => any} */ task) => task(tx);
      const deps = {
        fetch: (/** @type {any[]} */ ...args) => /** @type {any} */ (fetch)(...args),
        now: () => Date.now(),
        setTimer: () => 0,
        clearTimer: () => {},
      };
      const options = { log: { url: '/log/', key } };
      try {
        const list = await keyList({ deps, options, transaction: run, exclusive: run });
        return { serial: list.serial, config: [...list.gateway[0].config] };
      } catch (error) {
        return /** @type {any} */ (error).code;
      }
    }, log.signer.verifier);
  assert.deepEqual(await read(), {
    serial: 1,
    config: [...Buffer.from(keysEntry().gateway[0].config, 'hex')],
  });
  const files = log.files();
  const tile = Uint8Array.from(/** @type {Uint8Array} */ (files.get('tile/0/001.p/6')));
  tile[0] ^= 1;
  await publish(files.set('tile/0/001.p/6', tile));
  assert.equal(await read(), 'log-tampered');
  await publish(log.files());
  await context.close();
});
