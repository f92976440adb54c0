// SPDX-License-Identifier: Apache-2.0
// The same requests through the platform's Request and through node:http, in one packet, in pieces and
// chunked: the same answers, and the same records.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { handle } from '../handler.js';
import { whenRead } from 'shoal-relay/when-read';
import { serve } from '../node_request.js';
import { oneRequest } from 'shoal-relay/one-request';
import { makeRecipe, newKey, newRecord } from './support.mjs';

const ROUNDS = process.env.SHOAL_LONG === '1' ? 5000 : 300;
const ORIGIN = 'https://site.example';
const COMPARED = [
  'content-type',
  'cache-control',
  'vary',
  'x-content-type-options',
  'retry-after',
  'access-control-allow-origin',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-expose-headers',
];

/** A generator of numbers below n, from a seed (mulberry32). */
function numbers(seed) {
  return (n) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

/** A request that is right in most parts, and wrong in some. */
function makeRequest(recipe, below) {
  const report = recipe.report(newRecord(recipe));
  const text = JSON.stringify(report);
  const bodies = [
    () => text,
    () => text,
    () => text,
    () => text.slice(0, below(text.length)),
    () => JSON.stringify({ ...report, more: 1 }),
    () => JSON.stringify(report, null, 1),
    () => JSON.stringify({ ...report, records: [below(9)] }),
    () => text + ' '.repeat(below(6000)),
    () => randomBytes(below(400)).toString('latin1'),
    () => '',
  ];
  const pick = (list) => list[below(list.length)];
  const method = pick(['POST', 'POST', 'POST', 'POST', 'PUT', 'OPTIONS', 'GET']);
  const hasBody = method === 'POST' || method === 'PUT';
  return {
    method,
    path: pick(['/v1/reports', '/v1/reports', '/v1/reports', '/v1/reports?a', '/healthz', '/none']),
    headers: {
      'Content-Type': pick([
        'application/json',
        'application/json',
        'application/json',
        'text/plain',
      ]),
      'Idempotency-Key': pick([newKey(), newKey(), newKey(), 'short']),
      ...pick([{}, { Origin: ORIGIN }, { Origin: 'https://other.example' }]),
      Cookie: 'a=b',
    },
    body: hasBody ? Buffer.from(pick(bodies)(), 'latin1') : null,
  };
}

/** Sends a request in pieces over a connection of its own; returns the answer's status, headers, body. */
async function ask(port, { method, path, headers, body }, way) {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  const lines = Object.entries({ Host: 'edge.example', Connection: 'close', ...headers });
  const framing =
    body === null
      ? ''
      : way === 'chunked'
        ? 'Transfer-Encoding: chunked\r\n'
        : `Content-Length: ${body.length}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\n${lines.map(([k, v]) => `${k}: ${v}\r\n`).join('')}${framing}\r\n`;
  let rest = body ?? Buffer.alloc(0);
  if (way === 'chunked' && body !== null)
    rest = Buffer.concat([
      Buffer.from(rest.length ? `${rest.length.toString(16)}\r\n` : ''),
      rest,
      Buffer.from(rest.length ? '\r\n0\r\n\r\n' : '0\r\n\r\n'),
    ]);
  let said = '';
  socket.setEncoding('utf8').on('data', (data) => (said += data));
  socket.on('error', () => {}); // the server may close before it has read all
  const closed = once(socket, 'close');
  if (way === 'pieces') {
    const half = rest.length >> 1;
    for (const piece of [Buffer.from(head), rest.subarray(0, half), rest.subarray(half)]) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  } else socket.write(Buffer.concat([Buffer.from(head), rest]));
  await closed;
  const [top, ...more] = said.split('\r\n\r\n');
  const fields = new Map(
    top
      .split('\r\n')
      .slice(1)
      .map((line) => [line.split(':')[0].toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  return {
    status: Number(top.split(' ')[1]),
    headers: COMPARED.map((name) => fields.get(name) ?? null),
    body: more.join('\r\n\r\n'),
  };
}

test('Request and node:http, in one packet or not, are answered alike', async (t) => {
  const recipe = await makeRecipe();
  let kept = [];
  const accept = async (record, key) => (kept.push(`${key} ${record.join()}`), 'accepted');
  const deps = {
    collections: new Map([[recipe.hash, { recipe, accept }]]),
    recipes: [recipe],
    origins: [ORIGIN],
    now: Date.now,
    bodyTimeoutMs: 60_000,
  };
  let isWhole = false;
  const server = createServer(
    oneRequest,
    whenRead((incoming, outgoing) => {
      isWhole = incoming.complete;
      serve(incoming, outgoing, deps, { trusted() {} });
    }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address();
  const below = numbers(7);
  const statuses = new Set();
  for (let round = 0; round < ROUNDS; round++) {
    const request = makeRequest(recipe, below);
    kept = [];
    const response = await handle(
      new Request(`http://edge.example${request.path}`, {
        method: request.method,
        headers: request.headers,
        body: request.body,
      }),
      deps,
    );
    const wanted = {
      status: response.status,
      headers: COMPARED.map((name) => response.headers.get(name)),
      body: await response.text(),
    };
    const records = kept;
    statuses.add(wanted.status);
    for (const way of ['packet', 'pieces', 'chunked']) {
      kept = [];
      assert.deepEqual(await ask(port, request, way), wanted, `round ${round}, ${way}`);
      assert.deepEqual(kept, records, `round ${round}, ${way}`);
      if (way === 'packet') assert.ok(isWhole, `round ${round}: the body had not arrived`);
    }
  }
  for (const status of [202, 204, 400, 403, 404, 405, 413, 415, 200])
    assert.ok(statuses.has(status), `no ${status}`);
});

test('a request whose connection broke before it was begun is dropped', async (t) => {
  const begun = [];
  const listener = whenRead(({ url }, outgoing) => (begun.push(url), outgoing.end()));
  const server = createServer(oneRequest, (incoming, outgoing) => {
    listener(incoming, outgoing);
    if (incoming.url === '/broken') incoming.socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const base = `http://127.0.0.1:${server.address().port}`;
  await assert.rejects(fetch(`${base}/broken`, { method: 'POST', body: 'x'.repeat(500) }));
  await (await fetch(`${base}/whole`)).text();
  assert.deepEqual(begun, ['/whole']);
});

test('head and body in one write are what they are in two, in any alphabet', async (t) => {
  const server = createServer(oneRequest, (incoming, outgoing) => {
    const body = decodeURIComponent(incoming.url.slice(1));
    outgoing.writeHead(200, { 'Content-Length': Buffer.byteLength(body) });
    outgoing.endWith(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  for (const body of ['', 'plain', 'größer', '鯨😀', 'plain again']) {
    const url = `http://127.0.0.1:${server.address().port}/${encodeURIComponent(body)}`;
    assert.equal(await (await fetch(url)).text(), body);
  }
});
