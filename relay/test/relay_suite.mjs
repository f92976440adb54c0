// SPDX-License-Identifier: Apache-2.0
// The relay over HTTP, against both runtimes: what goes on to the gateway, what comes back, what is refused, and what it holds.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  ADMIN_TOKEN,
  ANSWER,
  GATEWAY_TOKEN,
  REQUEST,
  SITE,
  StubGateway,
  startRelay,
} from './relay_runtimes.mjs';

/** What an HTTP client says of itself; nothing of the device that is answered. */
const OWN_HEADERS = [
  'host',
  'connection',
  'content-type',
  'content-length',
  'authorization',
  'accept',
  'accept-encoding',
  'accept-language',
  'sec-fetch-mode',
  'user-agent',
  'transfer-encoding',
  'cf-worker',
  'mf-vary',
];

/** Headers that tell of a person, each with a word to search for. */
const TELLING = {
  Cookie: 'marker-cookie=1',
  'X-Forwarded-For': '192.0.2.77',
  'CF-Connecting-IP': '192.0.2.77',
  'X-Real-IP': '192.0.2.77',
  Forwarded: 'for=192.0.2.77',
  'User-Agent': 'marker-agent/1',
  'Accept-Language': 'marker-language',
  'Idempotency-Key': 'marker-key',
  Authorization: 'Bearer marker-token',
  Referer: 'https://site.example/marker-page',
  'X-Marker': 'marker-header',
};
const MARKERS = /192\.0\.2\.77|marker|site\.example/i;

/** Declares the tests. @param {'workerd' | 'node' | 'deno' | 'bun'} runtime */
export function relaySuite(runtime) {
  const isCommand = runtime !== 'workerd';
  /** @param {import('node:test').TestContext} t @param {object} [more] */
  async function start(t, more, origins) {
    const gateway = await new StubGateway().start();
    t.after(() => gateway.stop());
    const relay = await startRelay(t, runtime, { gateway: gateway.url, more, origins });
    return { gateway, relay };
  }

  /** Status, code and Retry-After of a refusal. @param {Response} response */
  const refused = async (response) => [
    response.status,
    (await response.json()).error.code,
    response.headers.get('retry-after'),
  ];

  test('a sealed request goes to the gateway with nothing of its sender, and the answer comes back', async (t) => {
    const { gateway, relay } = await start(t);
    const bodies = Array.from({ length: 4 }, () => randomBytes(1500));
    const problem = '{"type":"https://iana.org/assignments/http-problem-types#ohttp-key"}';
    gateway.answers.push(
      gateway.usual,
      {
        headers: {
          'Content-Type': ANSWER,
          'Set-Cookie': 'a=b',
          Server: 'marker',
          'Retry-After': '77',
        },
        body: 'x',
      },
      { status: 400, headers: { 'Content-Type': 'application/problem+json' }, body: problem },
      { status: 429, headers: { 'Retry-After': '61' }, body: 'marker' },
    );
    const answers = [];
    for (const [i, body] of bodies.entries()) {
      const response = await relay.post(
        body,
        i % 2 ? { ...TELLING, 'Content-Type': REQUEST } : TELLING,
      );
      const headers = Object.fromEntries(response.headers);
      assert.equal(headers['access-control-allow-origin'], SITE);
      assert.equal(headers['access-control-expose-headers'], 'Retry-After');
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers['set-cookie'], undefined);
      assert.notEqual(headers.server, 'marker');
      const said = Buffer.from(await response.arrayBuffer());
      answers.push([response.status, headers['content-type'], headers['retry-after'], said]);
    }
    assert.deepEqual(answers.slice(0, 3), [
      [200, ANSWER, undefined, Buffer.from(bodies[0]).reverse()],
      [200, ANSWER, '300', Buffer.from('x')],
      [400, 'application/problem+json', undefined, Buffer.from(problem)],
    ]);
    assert.deepEqual(answers[3].slice(0, 3), [429, 'application/json', '300']);
    assert.ok(!answers[3][3].includes('marker'));
    for (const [i, { method, url, headers, body }] of gateway.requests.entries()) {
      assert.deepEqual([method, url], ['POST', '/ohttp']);
      assert.ok(body.equals(bodies[i]), 'the same bytes');
      const names = headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
      assert.deepEqual(
        names.filter((name) => !OWN_HEADERS.includes(name)),
        [],
        headers.join(' '),
      );
      const value = (name) => headers[2 * names.indexOf(name) + 1];
      assert.equal(value('content-type'), REQUEST);
      assert.equal(value('authorization'), `Bearer ${GATEWAY_TOKEN}`);
      assert.ok(!MARKERS.test(headers.join('\n')), headers.join(' '));
    }
  });

  test('a page may send without a preflight, and with one', async (t) => {
    const { relay, gateway } = await start(t);
    const preflight = await fetch(`${relay.url}/r`, {
      method: 'OPTIONS',
      headers: { Origin: SITE, 'Access-Control-Request-Method': 'POST' },
    });
    const { headers } = preflight;
    assert.deepEqual([preflight.status, headers.get('access-control-allow-origin')], [204, SITE]);
    assert.equal(headers.get('access-control-allow-methods'), 'POST');
    assert.equal(headers.get('access-control-allow-headers'), 'Content-Type');
    const other = { Origin: 'https://other.example' };
    const blocked = await fetch(`${relay.url}/r`, { method: 'OPTIONS', headers: other });
    assert.equal(blocked.headers.get('access-control-allow-origin'), null);
    assert.deepEqual((await refused(await relay.post('x', other))).slice(0, 2), [403, 'origin']);
    const bare = await fetch(`${relay.url}/r`, { method: 'POST', body: Buffer.from('no page') });
    assert.deepEqual([bare.status, bare.headers.get('access-control-allow-origin')], [200, null]);
    assert.equal(gateway.requests.length, 1);
  });

  test('any origin, where the operator says so', async (t) => {
    const { relay } = await start(t, {}, ['*']);
    const response = await relay.post(randomBytes(9), { Origin: 'https://any.example' });
    assert.deepEqual(
      [response.status, response.headers.get('access-control-allow-origin')],
      [200, '*'],
    );
  });

  test('what is no sealed request is refused before the gateway hears of it', async (t) => {
    const { gateway, relay } = await start(t, { max_bytes: 2000 });
    const get = (path, init) => fetch(relay.url + path, init);
    const codes = [
      await refused(await get('/r')),
      await refused(await get('/r', { method: 'PUT', body: 'x' })),
      await refused(await get('/other', { method: 'POST', body: 'x' })),
      await refused(await get('/r/', { method: 'POST', body: 'x' })),
      await refused(await get('/', { method: 'POST', body: 'x' })),
      await refused(await relay.post(randomBytes(100), { 'Content-Type': 'application/json' })),
      await refused(await relay.post(randomBytes(100), { 'Content-Type': `${REQUEST}x` })),
      await refused(await relay.post(new Uint8Array(0))),
      await refused(await relay.post(randomBytes(2001))),
      await refused(await relay.post(randomBytes(200_000))),
    ].map(([status, code]) => [status, code]);
    assert.deepEqual(codes, [
      [405, 'method'],
      [405, 'method'],
      [404, 'route'],
      [404, 'route'],
      [404, 'route'],
      [415, 'content-type'],
      [415, 'content-type'],
      [400, 'body-empty'],
      [413, 'body-size'],
      [413, 'body-size'],
    ]);
    const streamed = await fetch(`${relay.url}/r`, {
      method: 'POST',
      duplex: 'half',
      body: new ReadableStream({
        start(controller) {
          for (let i = 0; i < 5; i++) controller.enqueue(randomBytes(500));
          controller.close();
        },
      }),
    });
    assert.equal(streamed.status, 413, 'also without a stated length');
    assert.equal(gateway.requests.length, 0);
    assert.equal((await relay.post(randomBytes(2000))).status, 200);
  });

  test('a gateway that fails, or answers with another protocol, makes the device keep its report', async (t) => {
    const { gateway, relay } = await start(t, { max_bytes: 2000 });
    const html = { 'Content-Type': 'text/html' };
    const answers = [
      [{ status: 500 }, 502, '60'],
      [{ status: 503, headers: { 'Retry-After': '9' } }, 503, '10'],
      [{ status: 503, headers: { 'Retry-After': '3601' } }, 503, '3600'],
      [{ status: 503, headers: { 'Retry-After': 'Fri, 31 Dec 2100 23:59:59 GMT' } }, 503, '60'],
      [{ status: 429 }, 429, '60'],
      [{ status: 401 }, 502, '60'],
      [{ status: 404 }, 502, '60'],
      [{ status: 302, headers: { Location: 'http://127.0.0.1:1/' } }, 502, '60'],
      // Deno's fetch sends again by itself, once.
      ...(runtime === 'deno' ? [] : [[{ hangUp: true }, 502, '60']]),
      [{ headers: html, body: '<p>captive portal</p>' }, 502, '60'],
      [{ status: 400, headers: html, body: 'x' }, 502, '60'],
      [{ headers: { 'Content-Type': ANSWER }, body: '' }, 502, '60'],
      [{ headers: { 'Content-Type': ANSWER }, body: Buffer.alloc(2001) }, 502, '60'],
      [{ headers: { 'Content-Type': ANSWER }, isEndless: true }, 502, '60'],
    ];
    for (const [answer, status, wait] of answers) {
      gateway.answers.push(answer);
      const response = await relay.post(randomBytes(100));
      const [gotStatus, , gotWait] = await refused(response);
      assert.deepEqual([gotStatus, gotWait], [status, wait], JSON.stringify(answer));
      assert.equal(response.headers.get('access-control-allow-origin'), SITE);
    }
    assert.equal((await relay.post(randomBytes(100))).status, 200);
    await gateway.stop();
    assert.deepEqual(await refused(await relay.post(randomBytes(100))), [502, 'gateway', '60']);
    await gateway.start(); // for its end
  });

  test('a gateway that does not answer is given up', async (t) => {
    const { gateway, relay } = await start(t, { gateway_timeout_s: 1 });
    gateway.answers.push({ delayMs: 5000 });
    const began = Date.now();
    const [status] = await refused(await relay.post(randomBytes(100)));
    assert.ok(status === 502 || status === 503);
    assert.ok(Date.now() - began < 4000);
  });

  test('an address that sends too much is asked to wait, and others are not', async (t) => {
    const more = { rate: { per_minute: 6, burst: 5 } };
    if (isCommand) more.address_header = 'x-test-address';
    const { gateway, relay } = await start(t, more);
    const header = isCommand ? 'X-Test-Address' : 'CF-Connecting-IP';
    const send = (address) => relay.post(randomBytes(50), { [header]: address });
    const statuses = [];
    for (let i = 0; i < 8; i++) statuses.push((await send('192.0.2.1')).status);
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
    assert.deepEqual(await refused(await send('192.0.2.1')), [429, 'rate', '10']);
    assert.equal((await send('192.0.2.2')).status, 200);
    for (let i = 0; i < 5; i++) assert.equal((await send(`2001:db8:1:2::${i}`)).status, 200);
    assert.equal((await send('2001:db8:1:2:ffff::1')).status, 429, 'a /64 is one sender');
    assert.equal((await send('2001:db8:1:3::1')).status, 200);
    assert.equal(gateway.requests.length, 12);
  });

  test('health and counts, without an address', async (t) => {
    const { gateway, relay } = await start(t);
    assert.deepEqual(await (await fetch(`${relay.url}/healthz`)).json(), { status: 'ok' });
    await relay.post(randomBytes(10), TELLING);
    await relay.post(randomBytes(10), { 'Content-Type': 'text/html' });
    gateway.answers.push({ status: 500 });
    await relay.post(randomBytes(10));
    assert.deepEqual(await refused(await fetch(`${relay.url}/metrics`)), [
      401,
      'unauthorized',
      null,
    ]);
    const text = await relay.metrics();
    for (const line of [
      'shoal_relay_requests_total{outcome="forwarded"} 1',
      'shoal_relay_requests_total{outcome="content-type"} 1',
      'shoal_relay_requests_total{outcome="gateway"} 1',
      'shoal_relay_held_bytes 0',
    ])
      assert.ok(text.includes(`${line}\n`), text);
    assert.ok(!MARKERS.test(text));
  });

  test('nothing of a sender is in its files, its output or its counts', async (t) => {
    const { relay } = await start(t);
    const bodies = Array.from({ length: 20 }, () => randomBytes(800));
    for (const body of bodies) await relay.post(body, TELLING);
    await relay.post(randomBytes(10), { ...TELLING, 'Content-Type': 'marker/type' });
    assert.ok(!MARKERS.test(await relay.metrics()));
    await relay.stop();
    assert.ok(!MARKERS.test(relay.said), relay.said);
    const own = ['relay.json', 'gateway.token', 'admin.token', 'worker.js']; // the configuration and the program
    const files = await readdir(relay.dir, { recursive: true, withFileTypes: true });
    for (const file of files.filter((each) => each.isFile() && !own.includes(each.name))) {
      const bytes = await readFile(join(file.parentPath ?? file.path, file.name));
      assert.ok(!MARKERS.test(bytes.toString('latin1')), `${file.name} holds a marker`);
      for (const body of bodies)
        assert.equal(bytes.indexOf(body.subarray(100, 132)), -1, `${file.name} holds a request`);
      for (const secret of [GATEWAY_TOKEN, ADMIN_TOKEN])
        assert.equal(bytes.indexOf(secret), -1, `${file.name} holds a token`);
    }
    if (isCommand)
      assert.ok(
        files.every(({ name }) => own.includes(name)),
        'no file at all',
      );
  });

  // Miniflare's own server, in front of workerd, does not take a thousand connections at once.
  const many = isCommand ? 1000 : 100;
  test(`${many} at once`, async (t) => {
    const { gateway, relay } = await start(t, { rate: null });
    const bodies = Array.from({ length: many }, () => randomBytes(400));
    const answers = await Promise.all(
      bodies.map(async (body) => {
        const response = await relay.post(body);
        return [response.status, Buffer.from(await response.arrayBuffer())];
      }),
    );
    for (const [i, [status, said]] of answers.entries()) {
      assert.equal(status, 200);
      assert.ok(said.equals(Buffer.from(bodies[i]).reverse()), 'each its own answer');
    }
    assert.equal(gateway.requests.length, many);
  });
}
