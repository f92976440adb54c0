// SPDX-License-Identifier: Apache-2.0
// A page with a relay in a real Chromium, from the built files and under a policy that lets it reach the relay and not the edge worker: the
// report, a visit that ends with its page, lengths, what each party saw, and how long sealing takes. Behind the relay of this test is a real
// edge worker on Node, and the page's own server has the log (relay_site.mjs).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { wholeDay } from '../../../tests/aggregator/serve/serve_helpers.mjs';
import { launchBrowser } from '../fixtures.mjs';
import { N, RECIPES, startRelaySite } from '../relay_site.mjs';

const { eventually } = await import(
  new URL('../../../edge/test/support.mjs', import.meta.url).href
);
const { words, visit } = RECIPES;

/** @type {import('playwright-core').Browser} */ let browser;
/** @type {any} */ let site;
/** @type {any} */ let edge;
/** @type {any} */ let relay;
/** @type {any} */ let aggregator;
/** @type {Awaited<ReturnType<typeof startRelaySite>>} */ let all;
/** @type {string[]} */ const failures = [];

before(async () => {
  await wholeDay(120);
  all = await startRelaySite();
  ({ site, edge, relay, aggregator } = all);
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  await all?.close();
  assert.deepEqual(failures, []);
});

/** A page of a fresh profile that has consent. @param {object[]} recipes */
async function freshPage(recipes) {
  relay.seen.length = site.requests.length = 0;
  const context = await browser.newContext();
  const page = await context.newPage();
  page.on('pageerror', (error) => void failures.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
  await page.goto(site.origin + '/');
  await page.evaluate(
    async ([options]) => {
      const { init } = await import(/** @type {any} */ ('/client.js'));
      const shoal = await init(options);
      await shoal.consent.grant();
      Object.assign(globalThis, { shoal });
    },
    /** @type {any} */ ([all.options(recipes)]),
  );
  return { context, page };
}

/** @param {import('playwright-core').Page} page @param {string} method @param {...any} args @returns {Promise<any>} */
const call = (page, method, ...args) =>
  page.evaluate(
    ([name, list]) => /** @type {any} */ (globalThis).shoal[name](...list),
    /** @type {const} */ ([method, args]),
  );

test('reports of a page reach the aggregator through the relay, and each party sees its part', async (t) => {
  const { page, context } = await freshPage([words]);
  for (let i = 0; i < N; i++)
    assert.deepEqual(await call(page, 'record', 'typed-words', `word${i}`), [
      { recipe: 'words', code: 'queued' },
    ]);
  await call(page, 'flush');
  await eventually(() => assert.equal(aggregator.records.length, N));
  const posts = relay.seen;
  assert.equal(posts.length, N);
  assert.ok(
    posts.every((/** @type {any} */ { method }) => method === 'POST'),
    'no preflight',
  );
  assert.deepEqual(
    new Set(posts.map((/** @type {any} */ { length }) => length)),
    new Set([2048 + 55]),
  );
  assert.deepEqual(
    new Set(posts.map((/** @type {any} */ { answer }) => answer)),
    new Set([512 + 32]),
  );
  for (const { headers } of posts) {
    assert.equal(headers['content-type'], undefined);
    assert.equal(headers['cookie'], undefined);
    assert.equal(headers['referer'], undefined);
    assert.equal(headers['idempotency-key'], undefined);
  }
  const took = await page.evaluate(async () => {
    const { encapsulate } = await import(/** @type {any} */ ('/hpke.js'));
    const pair = /** @type {any} */ (
      await crypto.subtle.generateKey('X25519', true, ['deriveBits'])
    );
    const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
    const times = [];
    for (let i = 0; i < 60; i++) {
      const start = performance.now();
      await encapsulate({ id: 1, publicKey }, new Uint8Array(2048));
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[30];
  });
  t.diagnostic(`sealing a request takes ${took.toFixed(2)} ms`);
  await context.close();
});

test('a visit is sent as its page goes', async () => {
  const before = aggregator.records.length;
  const { page, context } = await freshPage([visit]);
  assert.deepEqual(await call(page, 'record', 'visited', 'fish'), [
    { recipe: 'visits', code: 'entered' },
  ]);
  const other = await freshPageKeeping(context);
  await page.close({ runBeforeUnload: true });
  await eventually(() => assert.equal(relay.seen.length, 2));
  assert.deepEqual(
    new Set(relay.seen.map((/** @type {any} */ { length }) => length)),
    new Set([2048 + 55]),
  );
  await eventually(async () => assert.equal(await edge.metric('open_reports'), 2));
  assert.equal(aggregator.records.length, before, 'fewer than the minimum wait at the edge');
  await other.close();
  await context.close();
});

/** Keeps a profile alive while its page goes. @param {import('playwright-core').BrowserContext} context */
const freshPageKeeping = (context) => context.newPage();
