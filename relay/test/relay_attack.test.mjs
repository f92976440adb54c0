// SPDX-License-Identifier: Apache-2.0
// The relay under slow headers, half-open bodies and pipelined requests: honest requests meanwhile, and its memory. SHOAL_LONG=1: 1,000 of each, and 2,000 in the campaign.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { attackWith, quantile, residentBytes, timesOf } from '../../tests/under_attack.mjs';
import { readConfig } from '../config.js';
import { serverOptions } from '../connections.js';
import { memoryOf } from '../node.js';
import { join } from 'node:path';
import { StubGateway, startRelay } from './relay_runtimes.mjs';

const isCampaign = process.env.SHOAL_CAMPAIGN === '1';
const isLong = isCampaign || process.env.SHOAL_LONG === '1';
const CROWD = isCampaign ? 2000 : isLong ? 1000 : 300;
const LOAD = { seconds: isCampaign ? 30 : isLong ? 10 : 3, lines: isLong ? 8 : 4 };

/** @param {import('node:test').TestContext} t @param {object} more @param {object} attack */
async function underAttack(t, more, attack) {
  const gateway = await new StubGateway().start();
  t.after(() => gateway.stop());
  const relay = await startRelay(t, 'node', { gateway: gateway.url, more });
  for (let i = 0; i < 20; i++) await relay.post(randomBytes(1500));
  await attackWith(t, { port: relay.port, path: '/r', ...attack });
  const times = await timesOf(async () => {
    const response = await relay.post(randomBytes(1500));
    assert.equal(response.status, 200, await response.text());
  }, LOAD);
  const memory = await residentBytes(relay.pid);
  const announced = memoryOf(await readConfig(join(relay.dir, 'relay.json')));
  t.diagnostic(
    `${times.length} requests: median ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms, ` +
      `at most ${times.at(-1).toFixed(0)}; ${(memory / 2 ** 20).toFixed(0)} MiB of memory, ${(announced / 2 ** 20).toFixed(0)} announced`,
  );
  assert.ok(quantile(times, 0.99) < 2000);
  assert.ok(memory < announced);
  assert.equal(gateway.requests.length, 20 + times.length, 'each once');
}

test(
  `${CROWD} connections that send headers a byte in four seconds`,
  { timeout: isLong ? 3_600_000 : 200_000 },
  (t) => underAttack(t, {}, { slow: CROWD }),
);

test(`${CROWD} half-open bodies`, { timeout: isLong ? 3_600_000 : 200_000 }, (t) =>
  underAttack(t, {}, { halfOpen: CROWD }),
);

test('more of both than there are places', { timeout: isLong ? 3_600_000 : 200_000 }, (t) =>
  underAttack(
    t,
    { connections: CROWD / 2, held_bytes: 1 << 20 },
    { slow: CROWD / 2, halfOpen: CROWD / 2 },
  ),
);

test(
  '60 connections that send requests without an end and read no answer',
  { timeout: isLong ? 3_600_000 : 200_000 },
  (t) => underAttack(t, {}, { pipelined: 60 }),
);

/** A server that answers each path with itself, and a connection to it. */
async function oneConnection(t) {
  const paths = [];
  const limits = { headersMs: 10_000, bodyMs: 10_000, idleMs: 5000 };
  const server = createServer(serverOptions(limits), (incoming, outgoing) => {
    paths.push(incoming.url);
    setImmediate(() => outgoing.end(`[${incoming.url}]`));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => (server.closeAllConnections(), server.close()));
  const socket = connect(server.address().port, '127.0.0.1');
  let said = '';
  socket.on('error', () => {});
  socket.on('data', (data) => (said += data.toString('latin1')));
  return { paths, socket, closed: once(socket, 'close'), said: () => said };
}

const get = (path, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

test('a request before the answer of another closes the connection, and is not served', async (t) => {
  const { paths, socket, closed } = await oneConnection(t);
  socket.write(get('/a').repeat(2000));
  await closed;
  assert.deepEqual(paths, ['/a']);
});

test('so do requests that Node answers by itself', async (t) => {
  const { paths, socket, closed, said } = await oneConnection(t);
  socket.write(get('/a', 'Expect: much\r\n').repeat(1500));
  await closed;
  assert.ok(said().split('417').length <= 2, said().slice(0, 500));
  assert.deepEqual(paths, []);
});

test('a connection serves any number of requests, one after another', async (t) => {
  const { paths, socket, said } = await oneConnection(t);
  for (let i = 0; i < 50; i++) {
    const body = i % 2 ? '' : 'x'.repeat(3000);
    const head = `POST /${i} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(i % 3 ? head + body : get(`/${i}`));
    while (!said().includes(`[/${i}]`)) await once(socket, 'data');
  }
  assert.equal(paths.length, 50);
});
