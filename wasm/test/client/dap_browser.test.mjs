// SPDX-License-Identifier: Apache-2.0
// A recipe of two servers in a real Chromium, from the built files and under the policy that the documentation prints: what is loaded and
// when, what leaves the page, and that the two servers' shares add up to what the page counted.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { wholeDay } from '../../../tests/aggregator/serve/serve_helpers.mjs';
import { bytes } from '../dap_fixtures.mjs';
import { DAY_S, startDapSite } from '../dap_site.mjs';
import { launchBrowser, wordsRecipe } from '../fixtures.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof startDapSite>>} */
let all;
/** @type {typeof all.site} */ let site;
/** @type {typeof all.edge} */ let edge;
/** @type {typeof all.edge} */ let leader;
/** @type {typeof all.edge} */ let helper;
/** @type {typeof all.servers} */ let servers;
/** @type {typeof all.recipe} */ let recipe;
/** @type {string[]} */
const failures = [];

before(async () => {
  await wholeDay(120); // reports say their UTC day
  all = await startDapSite();
  ({ site, edge, leader, helper, servers, recipe } = all);
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  await all?.close();
  assert.deepEqual(failures, []);
});

/** A page of a fresh profile with the loader started. @param {object[]} recipes */
async function freshPage(recipes) {
  for (const { requests } of [site, edge, leader, helper]) requests.length = 0;
  const context = await browser.newContext();
  const page = await context.newPage();
  page.on('pageerror', (error) => void failures.push(String(error)));
  await page.goto(site.origin + '/');
  await page.evaluate(async ([endpoint, list]) => {
    const { start } = await import(/** @type {any} */ ('/loader.js'));
    Object.assign(globalThis, {
      shoal: start({ endpoint: String(endpoint), recipes: /** @type {any} */ (list) }),
    });
  }, /** @type {const} */ ([edge.url, recipes]));
  return { context, page };
}

/** @param {Page} page @param {string} method @param {any[]} args @returns {Promise<any>} */
const call = (page, method, ...args) =>
  page.evaluate(
    ([path, list]) =>
      String(path)
        .split('.')
        .reduce(
          (owner, name) => owner[name],
          /** @type {any} */ (globalThis).shoal,
        )(.../** @type {any[]} */ (list)),
    /** @type {const} */ ([method, args]),
  );

/** @param {Page} page */
const grant = (page) => page.evaluate(() => /** @type {any} */ (globalThis).shoal.consent.grant());

test('records leave a page as sealed shares, which its two servers open and add up', async () => {
  const { page, context } = await freshPage([recipe()]);
  await call(page, 'record', 'choices', 'blue');
  assert.deepEqual(
    [leader, helper, edge].map(({ requests }) => requests.length),
    [0, 0, 0],
    'before consent nobody is asked for a key',
  );
  assert.equal(await grant(page), 'granted');
  for (const colour of ['blue', 'blue', 'red'])
    assert.deepEqual(await call(page, 'record', 'choices', colour), [
      { recipe: 'colours', code: 'queued' },
    ]);
  await call(page, 'flush');
  for (const { requests } of [leader, helper]) {
    assert.deepEqual(
      requests.map(({ method, url }) => `${method} ${url}`),
      ['GET /dap/hpke_config'],
      'one question, and no more',
    );
    assert.equal(requests[0].headers.cookie, undefined);
    assert.equal(requests[0].headers.referer, undefined);
  }
  const reports = await call(page, 'reports');
  assert.deepEqual(
    reports.map((/** @type {any} */ entry) => entry.state),
    ['sent', 'sent', 'sent'],
  );
  const recipeHash = reports[0].report.recipe_hash;
  const { uploads, times, sum } = await all.addUp(recipeHash);
  assert.deepEqual(times, Array(3).fill(Math.floor(Date.now() / 1000 / DAY_S)));
  const path = `/tasks/${Buffer.from(recipeHash, 'hex').toString('base64url')}/reports`;
  for (const { url, headers } of uploads) {
    assert.equal(url, path);
    assert.equal(headers['content-type'], 'application/ppm-dap;message=upload-req');
    assert.equal(headers['idempotency-key'], undefined);
    assert.equal(headers.referer, undefined);
  }
  const counted = [0, 0, 0, 0, 0];
  for (const { report } of reports) counted[Number(report.records[0])]++;
  assert.deepEqual(sum, counted);
  const chunks = site.requests.map(({ url }) => url);
  for (const file of ['/dap.js', '/hpke.js', '/shoal-dap.wasm', '/shoal.wasm'])
    assert.equal(chunks.filter((url) => url === file).length, 1, file);
  assert.ok(!chunks.includes('/shoal-all.wasm'));
  await context.close();
});

test('a page without such a recipe loads none of it, and one with several loads it once', async () => {
  const { page, context } = await freshPage([
    wordsRecipe({ send: { fresh: 'allow', delay_s: 3600 } }),
  ]);
  await grant(page);
  await call(page, 'record', 'typed-words', 'hello');
  assert.ok(!site.requests.some(({ url }) => /dap|hpke/.test(url)), 'a chunk that nobody needs');
  await context.close();
  const more = await freshPage([
    recipe(),
    recipe({ recipe: 'colours-2' }),
    recipe({ recipe: 'colours-3', mechanism: 'subset' }),
  ]);
  await grant(more.page);
  const outcomes = await call(more.page, 'record', 'choices', 'red');
  assert.deepEqual(
    outcomes.map((/** @type {any} */ { code }) => code),
    ['queued', 'queued', 'queued'],
    'subset is in the whole module',
  );
  assert.equal(site.requests.filter(({ url }) => url === '/shoal-dap.wasm').length, 1);
  assert.deepEqual([leader.requests.length, helper.requests.length], [1, 1]);
  await more.context.close();
});

test('a server without a key: nothing is spent, and the page is told why', async () => {
  const [own] = servers;
  servers[0] = { ...own, list: bytes([0, 0]) };
  const { page, context } = await freshPage([recipe()]);
  await grant(page);
  assert.deepEqual(await call(page, 'record', 'choices', 'blue'), [
    { recipe: 'colours', code: 'no-keys' },
  ]);
  assert.equal((await call(page, 'ledger'))[0].today.count, 0);
  assert.ok(
    (await call(page, 'explain')).some(
      (/** @type {any} */ { code, text }) => code === 'no-keys' && text,
    ),
  );
  servers[0] = own;
  assert.deepEqual(
    await call(page, 'record', 'choices', 'blue'),
    [{ recipe: 'colours', code: 'queued' }],
    'a bad answer is not kept',
  );
  await context.close();
});

test('what waits is ciphertext and the record, and goes with consent', async () => {
  const { page, context } = await freshPage([
    recipe({ send: { fresh: 'allow', delay_s: 86_400 } }),
  ]);
  await grant(page);
  await call(page, 'record', 'choices', 'blue');
  const exact = {
    version: 'dap-18',
    info: 'ages',
    leader: `${leader.url}/dap`,
    helper: `${helper.url}/dap`,
    time_precision_s: 3600,
    min_batch_size: 100,
    vdaf: { type: 'sum', max: 9e9 },
  };
  const rows = () =>
    page.evaluate(async () => {
      const db = await new Promise((resolve) => {
        const request = indexedDB.open('shoal');
        request.onsuccess = () => resolve(request.result);
      });
      const all = await Promise.all(
        ['queue', 'state'].map(
          (store) =>
            new Promise((resolve) => {
              const request = db.transaction(store).objectStore(store).getAll();
              request.onsuccess = () => resolve(request.result);
            }),
        ),
      );
      db.close();
      return all
        .map((list) => list.length)
        .concat(
          all[0].map((/** @type {any} */ row) => [row.body.length, row.report.records.length]),
        );
    });
  const [queued, , [length, records]] = await rows();
  assert.deepEqual([queued, records], [1, 1]);
  assert.equal(
    length,
    await import('../../bindings/dap_length.js').then(async ({ reportLength }) => {
      const { load, loadDapModule } = await import('../../bindings/node.js');
      return reportLength(await loadDapModule(), (await load()).recipe(recipe()));
    }),
  );
  assert.deepEqual(await call(page, 'shareExactly', exact, 1), [
    { recipe: 'ages', code: 'not-opted-in' },
  ]);
  assert.deepEqual(await call(page, 'exact.optIn', exact, { limit: 2 }), [
    { recipe: 'ages', code: 'opted-in' },
  ]);
  assert.deepEqual(await call(page, 'shareExactly', exact, 8_123_456_789), [
    { recipe: 'ages', code: 'queued' },
  ]);
  await page.evaluate(() => /** @type {any} */ (globalThis).shoal.consent.withdraw());
  const [left, state] = await rows();
  assert.equal(left, 0);
  assert.ok(state >= 1, 'consent and ledger stay');
  assert.deepEqual(await call(page, 'shareExactly', exact, 1), [
    { recipe: null, code: 'no-consent' },
  ]);
  await context.close();
});
