// SPDX-License-Identifier: Apache-2.0
// The whole way of reports with tokens, over the real things: a log that `shoal log` made of the keys that the gateway and the issuer print,
// a page in Chromium that may reach site, relay and issuer, the real issuer, the real relay, and the real edge worker with its gateway. Each
// report counts once, and each party saw its part and no more.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readConfig as readRelayConfig, startRelay } from 'shoal-relay';
import { keyOf } from 'shoal-client/encapsulation';
import { readConfig as readIssuerConfig } from '../../issuer/config.js';
import { startIssuer } from '../../issuer/node.js';
import { wholeDay } from '../../tests/aggregator/serve/serve_helpers.mjs';
import { CSP } from '../../wasm/client/reasons.js';
import { WASM, launchBrowser, serveFolders } from '../../wasm/test/fixtures.mjs';
import { keysOf } from '../ohttp.js';
import { sealed } from './ohttp_client.mjs';
import { program } from './real_aggregator.mjs';
import { filesUnder, startEdge } from './runtimes.mjs';
import {
  FakeAggregator,
  eventually,
  freePort,
  makeRecipe,
  multiset,
  reportInit,
} from './support.mjs';

const PER_DAY = 3; // reports, and the edge forwards a batch of them
const RELAY_TOKEN = 'a-token-of-the-relay';
const COOKIE = 'marker-session-of-alice';
const execute = promisify(execFile);

const command = (name) => fileURLToPath(new URL(name, import.meta.url));
/** Runs a command of Node and returns what it prints. */
const run = async (name, ...args) =>
  (await execute(process.execPath, [command(name), ...args])).stdout;

/** Notes the requests that reach a server of this process, by its port. */
function watch(t, port) {
  const seen = [];
  const note = ({ request, server }) => {
    if (server.address()?.port === port)
      seen.push({ method: request.method, url: request.url, headers: request.headers });
  };
  subscribe('http.server.request.start', note);
  t.after(() => unsubscribe('http.server.request.start', note));
  return seen;
}

/** Keys by the commands, and the log that lists them. */
async function makeKeys(dir, recipe, issuer) {
  const at = (name) => join(dir, name);
  await run('../bin/shoal-edge.js', 'gateway-key', at('gateway.keys'));
  const gateway = (await run('../bin/shoal-edge.js', 'gateway-key', at('gateway.keys'), '--list'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const keys = ['--keys', at('issuer.keys')];
  const shoalIssuer = (...args) => run('../../issuer/bin/shoal-issuer.js', ...args);
  await shoalIssuer('keys', ...keys, '--recipe', `${recipe.hash}:${PER_DAY}`, '--days', '2');
  const tokens = JSON.parse(await shoalIssuer('list', ...keys));
  const directory = JSON.parse(await shoalIssuer('directory', ...keys, '--url', issuer));

  const signing = ['--log', at('log'), '--key', at('log.pem')];
  const init = await execute(program, ['log', 'init', '--name', 'example.org/log', ...signing]);
  const from = Math.floor(Date.now() / 86_400_000);
  await writeFile(at('keys.json'), JSON.stringify({ from, until: from + 1, gateway, tokens }));
  await execute(program, ['log', 'keys', ...signing, at('keys.json')]);
  return {
    verifier: init.stdout.trim(),
    directory,
    gatewayKeys: JSON.parse(await readFile(at('gateway.keys'), 'utf8')).keys,
  };
}

async function startTokenIssuer(t, dir, url, origin) {
  const at = (name) => join(dir, name);
  // The site's own login: a cookie names the account.
  await writeFile(
    at('login.mjs'),
    `export const account = ({headers}) => /session=${COOKIE}/.test(headers.get('cookie') ?? '')
       ? {id: 'alice', isReal: true} : null;`,
  );
  const config = {
    listen: new URL(url).host,
    url,
    origins: [origin],
    key_file: 'issuer.keys',
    counts: 'counts',
    account_module: 'login.mjs',
  };
  await writeFile(at('issuer.json'), JSON.stringify(config));
  const issuer = await startIssuer(await readIssuerConfig(at('issuer.json')));
  t.after(() => issuer.close());
  return watch(t, issuer.port);
}

/** A real relay of this process, and what it handed on. */
async function startWatchedRelay(t, dir, edge, origin) {
  await writeFile(join(dir, 'relay.token'), `${RELAY_TOKEN}\n`);
  const route = { path: '/r', gateway: `${edge.url}/ohttp`, token_file: 'relay.token' };
  const config = { listen: '127.0.0.1:0', routes: [{ ...route, origins: [origin] }] };
  await writeFile(join(dir, 'relay.json'), JSON.stringify(config));
  const handed = [];
  const relay = await startRelay(await readRelayConfig(join(dir, 'relay.json')), {
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      handed.push({ url: String(url), init, answer: bytes.length });
      return new Response(bytes, { status: answer.status, headers: answer.headers });
    },
  });
  t.after(() => relay.close());
  const origins = `http://127.0.0.1:${relay.port}`;
  return { origin: origins, url: `${origins}/r`, handed, seen: watch(t, relay.port) };
}

/** What a page's IndexedDB has of tokens that are not spent yet. */
const storedTokens = (page) =>
  page.evaluate(async () => {
    const db = await new Promise((resolve, reject) => {
      const request = indexedDB.open('shoal');
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const bundles = await new Promise((resolve) => {
      const request = db.transaction('state').objectStore('state').get('tokens');
      request.onsuccess = () => resolve(request.result);
    });
    db.close();
    return Object.entries(bundles ?? {}).map(([key, { left }]) => [
      key,
      Object.values(left ?? {}).flat(),
    ]);
  });

test('log, issuer, relay, gateway and page: each report counts once, and each party sees its part', async (t) => {
  await wholeDay(120);
  const dir = await mkdtemp(join(tmpdir(), 'shoal-whole-'));
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const issuerUrl = `http://127.0.0.1:${await freePort()}/tokens`;
  const shared = {
    limit: { per_day: PER_DAY },
    batch: { minimum: PER_DAY, max_age_s: 1 },
    parameters: { epsilon: 1, k: 1024, m: 256 },
  };
  const send = { fresh: 'allow', delay_s: 0 };
  const paid = await makeRecipe({
    ...shared,
    recipe: 'paid',
    stream: 'paid-words',
    send: { ...send, token: issuerUrl },
  });
  const free = await makeRecipe({
    ...shared,
    recipe: 'free',
    analysis: 'others',
    stream: 'free-words',
    send,
  });
  const recipes = [paid, free];
  const { verifier, directory, gatewayKeys } = await makeKeys(dir, paid, issuerUrl);

  const aggregator = await new FakeAggregator(recipes).start();
  t.after(() => aggregator.stop());
  const edge = await startEdge(t, 'node', {
    recipes,
    aggregator: aggregator.url,
    tokenKeys: directory,
    gateway: {
      keys: gatewayKeys,
      relays: [{ name: 'relay', token: RELAY_TOKEN, perMinute: 10_000 }],
    },
  });
  /** @type {string} */
  let csp = '';
  const site = await serveFolders({
    folders: [join(WASM, 'dist'), dir],
    csp: () => csp,
    pages: { '/': '<!doctype html><title>t</title>' },
  });
  t.after(() => site.close());
  const issuerSaw = await startTokenIssuer(t, dir, issuerUrl, site.origin);
  const relay = await startWatchedRelay(t, dir, edge, site.origin);
  const issuerOrigin = new URL(issuerUrl).origin;
  csp = `default-src 'none'; ${CSP}; connect-src 'self' ${relay.origin} ${issuerOrigin}`;

  const browser = await launchBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext({ userAgent: 'marker-agent/1' });
  await context.addCookies([{ name: 'session', value: COOKIE, domain: '127.0.0.1', path: '/' }]);
  const page = await context.newPage();
  const failures = [];
  const asked = [];
  page.on('pageerror', (error) => failures.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
  page.on('request', (request) =>
    asked.push({ url: request.url(), method: request.method(), body: request.postDataBuffer() }),
  );
  await page.goto(`${site.origin}/`);
  await page.evaluate(
    async (options) => {
      const { init } = await import('/client.js');
      globalThis.shoal = await init(options);
      await globalThis.shoal.consent.grant();
    },
    {
      endpoint: edge.url,
      relay: relay.url,
      recipes: recipes.map(({ json }) => json),
      log: { url: `${site.origin}/log`, key: verifier },
    },
  );
  // Nothing happened in the page yet, and the tokens of today and tomorrow are there.
  await eventually(async () => {
    const bundles = await storedTokens(page);
    assert.deepEqual(
      bundles.map(([, tokens]) => tokens.length),
      [PER_DAY, PER_DAY],
    );
  }, 20_000);
  const [[, tokens]] = (await storedTokens(page)).sort();
  const toIssuer = () => asked.filter(({ url }) => url.startsWith(issuerOrigin));
  const posted = toIssuer().filter(({ method }) => method === 'POST');
  assert.equal(posted.length, 2);
  assert.equal(new Set(posted.map(({ body }) => body.length)).size, 1, 'bundles of one size');
  assert.equal(relay.seen.length, 0);
  const issuerRequests = issuerSaw.length;

  const record = (stream, value) =>
    page.evaluate(([a, b]) => globalThis.shoal.record(a, b), [stream, value]);
  for (let i = 0; i < PER_DAY; i++)
    for (const [{ id }, stream] of [
      [paid, 'paid-words'],
      [free, 'free-words'],
    ])
      assert.deepEqual(await record(stream, `marker${i}`), [{ recipe: id, code: 'queued' }]);
  await page.evaluate(() => globalThis.shoal.flush());

  // ---- accepted, counted once each ----
  const total = 2 * PER_DAY;
  await eventually(() => assert.equal(aggregator.records.length, total), 10_000);
  const reports = await page.evaluate(() => globalThis.shoal.reports());
  assert.deepEqual(
    reports.map(({ state }) => state),
    Array(total).fill('sent'),
  );
  const records = reports.flatMap((report) => (report.report ?? report).records);
  assert.deepEqual(multiset(aggregator.records), multiset(records));
  const left = (await storedTokens(page)).sort().map(([, each]) => each.length);
  assert.deepEqual(left, [0, PER_DAY], 'each report of the recipe spent one token of today');
  assert.equal(issuerSaw.length, issuerRequests, 'the issuer learnt of no event');

  // ---- through the relay alone, all of one length ----
  const sent = asked.filter(({ url }) => url.startsWith(relay.origin));
  assert.deepEqual(
    sent.map(({ method, url }) => [method, url]),
    Array(total).fill(['POST', relay.url]),
  );
  assert.equal(new Set(sent.map(({ body }) => body.length)).size, 1, 'with and without tokens');
  assert.equal(new Set(relay.handed.map(({ answer }) => answer)).size, 1);
  assert.deepEqual(
    asked.filter(({ url }) => url.startsWith(edge.url)),
    [],
    'nothing goes to the edge directly',
  );
  assert.equal(await edge.metric('gateway_requests_total'), total);
  assert.deepEqual(failures, []);

  // ---- replays and reports without a token count nothing ----
  const post = (body) =>
    fetch(relay.url, { method: 'POST', headers: { Origin: site.origin }, body });
  for (const { body } of sent) assert.equal((await post(body)).status, 200);
  const key = keyOf((await keysOf(gatewayKeys))[0].configuration);
  const inner = async (headers) => {
    const init = reportInit(paid.report(paid.randomize('x', new Uint8Array(32))), tokens[0].id);
    const request = await sealed(
      '/v1/reports',
      { body: init.body, headers: { ...init.headers, ...headers } },
      key,
    );
    const answer = await post(request.body);
    const { status, content } = await request.open(new Uint8Array(await answer.arrayBuffer()));
    return [status, /"code":"([\w-]*)"/.exec(Buffer.from(content).toString())?.[1]];
  };
  assert.deepEqual(await inner({}), [400, 'token-missing']);
  const spent = { Authorization: `PrivateToken token="${tokens[0].token}"` };
  assert.equal((await inner(spent))[0], 202, 'known, and so not counted again');
  assert.equal(await edge.metric('open_reports'), 0);
  assert.equal(aggregator.records.length, total);

  // ---- what each party saw ----
  const nonces = tokens.map(({ token }) => Buffer.from(token, 'base64url').subarray(2, 34));
  for (const { headers } of relay.seen.slice(0, total)) {
    for (const name of ['cookie', 'content-type', 'authorization', 'idempotency-key', 'referer'])
      assert.equal(headers[name], undefined, `the relay is sent no ${name}`);
    assert.equal(headers['user-agent'], 'marker-agent/1', 'it sees the browser');
  }
  for (const { init } of relay.handed)
    assert.ok(!/marker|127\.0\.0\.1/.test(JSON.stringify([...new Headers(init.headers)])));
  const relayHas = Buffer.concat(sent.map(({ body }) => body));
  const issuerHas = Buffer.concat(posted.map(({ body }) => body));
  for (const [i, nonce] of nonces.entries())
    for (const has of [relayHas, issuerHas]) {
      assert.ok(!has.includes(nonce), 'a nonce is blinded for the issuer and sealed for the relay');
      assert.ok(!has.includes(tokens[i].token) && !has.includes(tokens[i].id));
    }
  assert.ok(records.every((text) => !relayHas.includes(text)));
  assert.ok(issuerSaw.every(({ url }) => !/marker/.test(url)));
  const login = issuerSaw.filter(({ method }) => method === 'POST');
  assert.deepEqual(
    login.map(({ headers }) => headers.cookie),
    Array(2).fill(`session=${COOKIE}`),
    'the issuer knows the account',
  );
  const edgeHas = [edge.output()];
  for (const { bytes } of await filesUnder(edge.dir)) edgeHas.push(bytes.toString('latin1'));
  for (const text of edgeHas) {
    assert.ok(!/marker-/.test(text), 'the edge has neither browser nor account');
    assert.ok(!tokens.some(({ token }) => text.includes(token)), 'and keeps no token');
  }
  const counts = (await filesUnder(join(dir, 'counts'))).map(({ bytes }) =>
    bytes.toString('latin1'),
  );
  assert.ok(counts.length > 0 && counts.every((text) => !/alice|marker/.test(text)));
});
