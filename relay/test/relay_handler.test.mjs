// SPDX-License-Identifier: Apache-2.0
// The relay's handler alone, and its server under bytes that are no HTTP: any request has an answer, and the gateway hears of none that is
// not a sealed request.

import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { Counts, answer } from '../handler.js';
import { startRelay } from '../node.js';

const LIMITS = { maxBytes: 1000, bodyMs: 200, gatewayMs: 200, heldBytes: 5000 };
const OK = { headers: { 'Content-Type': 'message/ohttp-res' } };

/** @param {any} [change] */
function setUp(change = {}) {
  const asked = [];
  const deps = {
    routes: new Map([
      ['/r', { path: '/r', gateway: 'https://g.example/', token: null, origins: ['*'] }],
    ]),
    limits: LIMITS,
    fetch: async (url, init) => (asked.push([url, init]), new Response('sealed', OK)),
    buckets: null,
    counts: new Counts(),
    healthz: true,
    adminToken: 'a-token-of-the-operator',
    ...change,
  };
  return { asked, deps };
}

/** A request whose body comes in pieces; a piece that is a number is a pause, `null` never ends. */
function incoming(pieces, { method = 'POST', path = '/r', headers = {} } = {}) {
  const left = [...pieces];
  const read = async () => {
    for (;;) {
      if (left.length === 0) return { done: true };
      const piece = left.shift();
      if (piece === null) return new Promise(() => {});
      if (piece instanceof Error) throw piece;
      if (typeof piece !== 'number') return { done: false, value: piece };
      await new Promise((resolve) => setTimeout(resolve, piece));
    }
  };
  const state = { isCancelled: false };
  return {
    state,
    request: {
      method,
      url: `http://relay${path}`,
      headers: { get: (name) => headers[name] ?? null },
      body: pieces.length
        ? { getReader: () => ({ read, cancel: async () => (state.isCancelled = true) }) }
        : null,
    },
  };
}

const codeOf = ({ body }) => JSON.parse(String(body)).error.code;
const bytes = (n) => new Uint8Array(randomBytes(n));

test('a body that is slow, broken, too long or empty is given up', async () => {
  for (const [pieces, status, code] of [
    [[bytes(10), null], 408, 'body-slow'],
    [[bytes(10), 300, bytes(10)], 408, 'body-slow'],
    [[bytes(10), new Error('reset')], 400, 'body-broken'],
    [[bytes(600), bytes(600)], 413, 'body-size'],
    [[new Uint8Array(0)], 400, 'body-empty'],
    [[], 400, 'body-empty'],
  ]) {
    const { asked, deps } = setUp();
    const { request } = incoming(pieces);
    const said = await answer(request, deps, null);
    assert.deepEqual([said.status, codeOf(said)], [status, code]);
    assert.equal(asked.length, 0);
    assert.equal(deps.counts.held, 0, 'nothing is held any more');
    assert.equal(deps.counts.arriving.size, 0);
  }
});

test('when all bytes are taken, the body that has been arriving for longest gives way', async () => {
  const { deps } = setUp({ limits: { ...LIMITS, bodyMs: 5000 } });
  const slow = Array.from({ length: 5 }, () => incoming([bytes(990), null]));
  const waiting = slow.map(({ request }) => answer(request, deps, null));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const said = await answer(incoming([bytes(900)]).request, deps, null);
  assert.equal(said.status, 200);
  const first = await waiting[0];
  assert.deepEqual(
    [first.status, codeOf(first), first.headers['Retry-After']],
    [503, 'busy', '10'],
  );
  assert.ok(slow[0].state.isCancelled);
  assert.ok(slow.slice(1).every(({ state }) => !state.isCancelled));
});

test('bodies that are under way to the gateway are not given up for others', async () => {
  let release = () => {};
  const hold = new Promise((resolve) => (release = () => resolve(new Response('x', OK))));
  const { deps } = setUp({
    limits: { ...LIMITS, gatewayMs: 5000 },
    fetch: () => hold.then((response) => response.clone()),
  });
  const sent = Array.from({ length: 5 }, () => answer(incoming([bytes(990)]).request, deps, null));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const late = await answer(incoming([bytes(900)]).request, deps, null);
  assert.deepEqual([late.status, codeOf(late)], [503, 'busy']);
  release();
  assert.deepEqual(
    (await Promise.all(sent)).map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  assert.equal(deps.counts.held, 0);
});

test('any request has an answer, and only sealed ones reach the gateway, with fixed and fresh seeds', async () => {
  for (const seed of [3, randomInt(2 ** 31)]) {
    let state = seed;
    const draw = (n) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state >>> 8) % n;
    };
    const pick = (list) => list[draw(list.length)];
    const answers = [
      () => new Response('sealed', OK),
      () => new Response(bytes(2000), OK),
      () => new Response('x', { status: pick([200, 201, 299, 400, 401, 404, 422, 429, 500, 503]) }),
      () => new Response(null, { status: 204 }),
      () => Promise.reject(new TypeError('fetch failed')),
      () =>
        new Response('{}', {
          status: pick([200, 400, 422, 500]),
          headers: {
            'Content-Type': pick([
              'application/problem+json',
              'text/html',
              'message/ohttp-res; x=1',
            ]),
            'Retry-After': pick(['0', '5', '61', '99999999999', '-1', 'soon', '1.5']),
          },
        }),
    ];
    const { asked, deps } = setUp({
      limits: { ...LIMITS, bodyMs: 2000, gatewayMs: 2000 },
      fetch: async (url, init) => (asked.push([url, init]), pick(answers)()),
    });
    let sealed = 0;
    for (let i = 0; i < 4000; i++) {
      const method = pick(['POST', 'POST', 'POST', 'GET', 'PUT', 'OPTIONS', 'HEAD', 'post', '']);
      const path = pick([
        '/r',
        '/r',
        '/r',
        '/',
        '/r/',
        '//r',
        '/metrics',
        '/healthz',
        '/%00',
        '/R',
        '/..//r',
      ]);
      const type = pick([
        null,
        null,
        'message/ohttp-req',
        ' Message/OHTTP-Req ',
        'text/plain',
        'x',
      ]);
      const length = pick([null, '5', '1000', '1001', 'x', '-1', '1e9']);
      const pieces = Array.from({ length: draw(4) }, () => bytes(pick([0, 1, 300, 700])));
      const headers = {
        'content-type': type,
        'content-length': length,
        origin: pick([null, 'https://a.example']),
      };
      const before = asked.length;
      const said = await answer(incoming(pieces, { method, path, headers }).request, deps, null);
      const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
      const isSealed =
        method === 'POST' && path === '/r' &&
        (type === null || type.trim().toLowerCase() === 'message/ohttp-req') &&
        !(Number(length) > LIMITS.maxBytes) && size > 0 && size <= LIMITS.maxBytes; // prettier-ignore
      assert.equal(
        asked.length - before,
        isSealed ? 1 : 0,
        `seed ${seed}: ${method} ${path} ${type} ${length} ${size}`,
      );
      if (isSealed) {
        sealed++;
        const [url, init] = asked.at(-1);
        assert.deepEqual(
          [url, init.headers],
          ['https://g.example/', { 'Content-Type': 'message/ohttp-req' }],
        );
        assert.deepEqual(Buffer.from(init.body), Buffer.concat(pieces));
      }
      assert.ok(said.status >= 200 && said.status < 600);
      const wait = said.headers['Retry-After'];
      assert.ok(wait === undefined || ['10', '60', '300', '900', '3600'].includes(wait), wait);
      assert.ok(said.status !== 429 || wait !== undefined);
      assert.equal(deps.counts.held, 0);
    }
    assert.ok(sealed > 20, `${sealed}`);
    const counted = [...deps.counts.outcomes.values()].reduce((sum, n) => sum + n, 0);
    assert.ok(counted > 1000 && deps.counts.outcomes.size < 20);
  }
});

test('bytes that are no HTTP end in an answer or a closed connection, and the server goes on', async (t) => {
  const { asked, deps } = setUp();
  const relay = await startRelay(
    {
      ...deps,
      host: '127.0.0.1',
      port: 0,
      rate: null,
      addressHeader: null,
      gatewayConnections: 4,
      connections: {
        connections: 50, perAddress: 50, reserved: 0, headersMs: 500, bodyMs: 500, idleMs: 500, proxies: [],
      }, // prettier-ignore
    },
    { fetch: deps.fetch },
  );
  t.after(() => relay.close());
  const good = `POST /r HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`;
  const seeds = [
    good,
    good.replace('Content-Length: 3', 'Transfer-Encoding: chunked'),
    `GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n`,
  ];
  for (let i = 0; i < 150; i++) {
    const text = Buffer.from(seeds[i % seeds.length]);
    for (let n = randomInt(6); n > 0; n--) text[randomInt(text.length)] = randomInt(256);
    const socket = connect({ port: relay.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.resume();
    socket.end(i % 5 ? text : randomBytes(randomInt(3000)));
    await once(socket, 'close');
  }
  for (const [, init] of asked) {
    assert.deepEqual(Object.keys(init.headers), ['Content-Type']);
    assert.ok(init.body.length > 0 && init.body.length <= LIMITS.maxBytes);
  }
  const before = asked.length;
  const response = await fetch(`http://127.0.0.1:${relay.port}/r`, {
    method: 'POST',
    body: bytes(9),
  });
  assert.equal(response.status, 200);
  assert.equal(asked.length, before + 1);
});
