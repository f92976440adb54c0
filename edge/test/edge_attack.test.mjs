// SPDX-License-Identifier: Apache-2.0
// The Node edge under slow headers, half-open bodies and pipelined requests: honest reports meanwhile, its memory, rates of addresses, and room for relays.
// SHOAL_LONG=1: 1,000 of each, and 2,000 in the campaign.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { attackWith, quantile, residentBytes, timesOf } from '../../tests/under_attack.mjs';
import { GATEWAY, exchange, sealed } from './ohttp_client.mjs';
import { startEdge } from './runtimes.mjs';
import {
  TOKEN,
  eventually,
  makeRecipe,
  newKey,
  newRecord,
  newReport,
  reportInit,
} from './support.mjs';

const isCampaign = process.env.SHOAL_CAMPAIGN === '1';
const isLong = isCampaign || process.env.SHOAL_LONG === '1';
const CROWD = isCampaign ? 2000 : isLong ? 1000 : 300;
const LOAD = { seconds: isCampaign ? 30 : isLong ? 10 : 3, lines: isLong ? 8 : 4 };
const NODE_BYTES = 128 << 20; // as docs/operate.md says
const CONNECTION_BYTES = 40 << 10;
const JSON_HEADERS = `Content-Type: application/json\r\nIdempotency-Key: ${'0'.repeat(32)}\r\n`;

/** An edge with a gateway. */
async function start(t, limits = {}) {
  const recipe = await makeRecipe({ batch: { minimum: 5, max_age_s: 86_400 } });
  const edge = await startEdge(t, 'node', {
    recipes: [recipe],
    aggregator: 'http://127.0.0.1:1',
    gateway: GATEWAY,
    limits: { body_timeout_s: 10, ...limits },
  });
  const port = Number(new URL(edge.url).port);
  const send = async (headers = {}) => {
    const response = await edge.post(reportInit(newReport(recipe), newKey(), headers));
    return [response.status, response.headers.get('retry-after'), await response.json()];
  };
  return { recipe, edge, port, send };
}

async function underAttack(t, limits, attack) {
  const { edge, port, send } = await start(t, limits);
  const { connections = 4096 } = limits;
  for (let i = 0; i < 20; i++) await send();
  await attackWith(t, { port, path: '/v1/reports', headers: JSON_HEADERS, ...attack });
  const times = await timesOf(async () => {
    const [status, , said] = await send();
    assert.equal(status, 202, JSON.stringify(said));
  }, LOAD);
  const memory = await residentBytes(edge.pid);
  const announced =
    NODE_BYTES + (connections + 2 * 256) * CONNECTION_BYTES + (await edge.metric('store_bytes'));
  t.diagnostic(
    `${times.length} reports: median ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms, ` +
      `at most ${times.at(-1).toFixed(0)}; ${(memory / 2 ** 20).toFixed(0)} MiB of memory, ${(announced / 2 ** 20).toFixed(0)} announced`,
  );
  assert.ok(quantile(times, 0.99) < 2000);
  assert.ok(memory < announced);
  assert.equal(await edge.metric('open_reports'), 20 + times.length, 'each once');
}

test(
  `${CROWD} connections that send headers a byte in four seconds`,
  { timeout: isLong ? 3_600_000 : 200_000 },
  (t) => underAttack(t, {}, { slow: CROWD }),
);

test(`${CROWD} half-open bodies`, { timeout: isLong ? 3_600_000 : 200_000 }, (t) =>
  underAttack(t, {}, { halfOpen: CROWD, bodyBytes: 500 }),
);

test('more of both than there are places', { timeout: isLong ? 3_600_000 : 200_000 }, (t) =>
  underAttack(
    t,
    { connections: CROWD / 2 },
    { slow: CROWD / 2, halfOpen: CROWD / 2, bodyBytes: 500 },
  ),
);

test(
  '60 connections that send requests without an end and read no answer',
  { timeout: isLong ? 3_600_000 : 200_000 },
  (t) => underAttack(t, {}, { pipelined: 60 }),
);

/** Opens a connection that sends nothing, and tells when it is closed. */
function silent(port) {
  const socket = connect({ port, host: '127.0.0.1' });
  const state = { socket, isClosed: false, opened: null };
  socket.on('error', () => {});
  socket.once('close', () => (state.isClosed = true));
  state.opened = new Promise((resolve) => socket.once('connect', resolve));
  return state;
}

test('who sends no headers is gone after their deadline', async (t) => {
  const { edge, port } = await start(t, { headers_timeout_s: 1 });
  const one = silent(port);
  t.after(() => one.socket.destroy());
  const began = Date.now();
  await eventually(() => assert.ok(one.isClosed), 20_000).catch(async () => {
    const { readyState, bytesRead } = one.socket;
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const metrics = await fetch(`${edge.url}/metrics`, { headers }).then((said) => said.text());
    const [open] = /^shoal_edge_connections\b.*/m.exec(metrics) ?? ['no metric'];
    assert.fail(`${readyState}, ${bytesRead} bytes read; ${open}`);
  });
  assert.ok(Date.now() - began > 500);
});

test('an address has so many connections, and a proxy any number', async (t) => {
  const limited = await start(t, { connections_per_address: 3, proxies: [] });
  const sockets = Array.from({ length: 6 }, () => silent(limited.port));
  t.after(() => sockets.forEach(({ socket }) => socket.destroy()));
  await eventually(() => assert.equal(sockets.filter(({ isClosed }) => isClosed).length, 3));
  const free = await start(t, { connections_per_address: 3 });
  const others = Array.from({ length: 6 }, () => silent(free.port));
  t.after(() => others.forEach(({ socket }) => socket.destroy()));
  await Promise.all(others.map(({ opened }) => opened));
  assert.equal((await free.send())[0], 202);
  assert.ok(others.every(({ isClosed }) => !isClosed));
});

test("a relay's connection stays when all places are taken, and is not counted for its address", async (t) => {
  const { recipe, port } = await start(t, {
    connections: 4,
    connections_per_address: 4,
    proxies: [],
  });
  // One connection, kept alive, whose requests are written by hand: a client would open another.
  const relay = silent(port);
  t.after(() => relay.socket.destroy());
  await relay.opened;
  let said = '';
  relay.socket.on('data', (data) => (said += data.toString('latin1')));
  const report = async () => {
    const { headers, body } = reportInit(recipe.report(newRecord(recipe)), newKey());
    const request = await sealed('/v1/reports', { headers, body });
    const answers = said.split('HTTP/1.1 200').length;
    relay.socket.write(
      `POST /ohttp HTTP/1.1\r\nHost: edge.example\r\nContent-Type: message/ohttp-req\r\n` +
        `Authorization: Bearer ${GATEWAY.relays[0].token}\r\nContent-Length: ${request.body.length}\r\n\r\n`,
    );
    relay.socket.write(request.body);
    await eventually(() => assert.equal(said.split('HTTP/1.1 200').length, answers + 1), 10_000);
  };
  await report();
  const crowd = Array.from({ length: 12 }, () => silent(port));
  t.after(() => crowd.forEach(({ socket }) => socket.destroy()));
  await eventually(() => assert.equal(crowd.filter(({ isClosed }) => isClosed).length, 8));
  await report();
  assert.ok(!relay.isClosed);
});

test('an address has a rate, where the operator sets one; a relay has its quota', async (t) => {
  const limits = { rate: { per_minute: 6, burst: 3 }, address_header: 'x-real-ip' };
  const { edge, recipe, send } = await start(t, limits);
  const from = (address) => send({ 'X-Real-IP': address });
  const answers = [];
  for (let i = 0; i < 5; i++) answers.push(await from('192.0.2.1'));
  assert.deepEqual(
    answers.map(([status]) => status),
    [202, 202, 202, 429, 429],
  );
  const [, wait, { error }] = answers[4];
  assert.deepEqual([wait, error.code, error.number], ['300', 'rate', 140]);
  assert.equal((await from('192.0.2.2'))[0], 202);
  assert.equal((await send())[0], 202, 'a proxy that names no address');
  for (let i = 0; i < 6; i++) {
    const { headers, body } = reportInit(recipe.report(newRecord(recipe)), newKey());
    const post = (path, init) => fetch(edge.url + path, init);
    const { inner } = await exchange(post, await sealed('/v1/reports', { headers, body }), {
      'X-Real-IP': '192.0.2.1',
    });
    assert.equal(inner.status, 202);
  }
});
