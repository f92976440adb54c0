// SPDX-License-Identifier: Apache-2.0
// A page with a relay in a real Chromium, from the built files and under a policy that lets it reach the relay and not the edge worker: the
// report, a visit that ends with its page, lengths, what each party saw, and how long sealing takes. Behind the relay of this test is a real
// edge worker on Node, and the page's own server has the log.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { wholeDay } from '../../../tests/aggregator/serve/serve_helpers.mjs';
import { load } from '../../bindings/node.js';
import { CSP } from '../../client/reasons.js';
import { WASM, launchBrowser, serveFolders, wordsRecipe } from '../fixtures.mjs';
import { OracleLog } from '../log_fixtures.mjs';
import { listOf, secretKey } from '../relay_fixtures.mjs';

const edgeTests = (/** @type {string} */ name) =>
  import(new URL(`../../../edge/test/${name}`, import.meta.url).href);
const [{ startEdge }, { FakeAggregator, eventually }] = await Promise.all(
  ['runtimes.mjs', 'support.mjs'].map(edgeTests),
);

const TOKEN = 'a-token-of-the-relay';
const N = 3;
const today = () => Math.floor(Date.now() / 86_400_000);
const words = wordsRecipe({ batch: { minimum: N, max_age_s: 1 } });
const visit = wordsRecipe({
  recipe: 'visits',
  stream: 'visited',
  limit: { per_day: 2 },
  batch: { minimum: N, max_age_s: 1 },
  send: { fresh: 'allow', delay_s: 0, pick: 'uniform', window: 'visit' },
});

/** @type {import('playwright-core').Browser} */ let browser;
/** @type {Awaited<ReturnType<typeof serveFolders>>} */ let site;
/** @type {any} */ let edge;
/** @type {any} */ let relay;
/** @type {any} */ let aggregator;
/** @type {string} */ let folder;
/** @type {OracleLog} */ let log;
/** @type {(() => Promise<unknown>)[]} */ const ends = [];
/** @type {string[]} */ const failures = [];

/** A relay: what it is given goes to the gateway with a type and a token, and without anything of the sender. */
async function startRelay() {
  /** @type {{address: string | undefined, headers: any, length: number, answer: number, method?: string}[]} */
  const seen = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method, headers, socket } = request;
    const row = { address: socket.remoteAddress, headers, length: body.length, answer: 0, method };
    seen.push(row);
    const answer = await fetch(`${edge.url}/ohttp`, {
      method: 'POST',
      headers: { 'Content-Type': 'message/ohttp-req', Authorization: `Bearer ${TOKEN}` },
      body,
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    row.answer = bytes.length;
    response.writeHead(answer.status, {
      'Access-Control-Allow-Origin': '*',
      'Content-Type': String(answer.headers.get('content-type')),
    });
    response.end(bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  ends.push(() => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/relay`, origin: `http://127.0.0.1:${port}`, seen };
}

before(async () => {
  await wholeDay(120);
  const core = await load();
  const recipes = [words, visit].map((json) => core.recipe(json));
  aggregator = await new FakeAggregator(recipes).start();
  ends.push(() => aggregator.stop());
  const keys = [secretKey()];
  const life = /** @type {any} */ ({ after: (/** @type {any} */ end) => ends.push(end) });
  const relays = [{ name: 'relay', token: TOKEN, perMinute: 10_000 }];
  edge = await startEdge(life, 'node', {
    recipes,
    aggregator: aggregator.url,
    gateway: { keys, relays },
  });
  relay = await startRelay();
  log = new OracleLog([await listOf(keys, { from: today() - 1, until: today() + 2 })]);
  folder = await mkdtemp(join(tmpdir(), 'shoal-relay-'));
  ends.push(() => rm(folder, { recursive: true }));
  for (const [name, bytes] of log.files()) {
    await mkdir(dirname(join(folder, 'log', name)), { recursive: true });
    await writeFile(join(folder, 'log', name), bytes);
  }
  browser = await launchBrowser();
  site = await serveFolders({
    folders: [join(WASM, 'dist'), folder],
    csp: `default-src 'none'; ${CSP}; connect-src 'self' ${relay.origin}`,
    pages: { '/': '<!doctype html><title>t</title>' },
  });
});

after(async () => {
  await browser?.close();
  await site?.close();
  for (const end of ends.reverse()) await end();
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
    /** @type {any} */ ([
      {
        endpoint: edge.url,
        relay: relay.url,
        recipes,
        log: { url: `${site.origin}/log`, key: log.signer.verifier },
      },
    ]),
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
