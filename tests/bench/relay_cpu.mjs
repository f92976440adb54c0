// SPDX-License-Identifier: Apache-2.0
// CPU time that a relay and the edge behind it spend on a sealed report, beside the edge's time for
// the same report unsealed, all under Node, in turns in one run. The generator of load is this
// process, whose time does not count.
//
//   node relay_cpu.mjs [--turns N]
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { parseArgs } from 'node:util';
import { ORIGIN, cpuOf, makeReports, tests } from './edge_ceilings.mjs';

const CONNECTIONS = 64;
const REQUESTS = 1000; // of a turn: each is sealed here first, which takes longest

const { values: options } = parseArgs({ options: { turns: { type: 'string', default: '5' } } });
const { startRelay } = await import(
  new URL('../../relay/test/relay_runtimes.mjs', import.meta.url).href
);
const { GATEWAY, RELAY, sealed } = await tests('ohttp_client.mjs');
const { startEdge } = await tests('runtimes.mjs');
const { recipe, bodies } = await makeReports();

/** @type {(() => unknown)[]} */
const ends = [];
const t = { after: (/** @type {() => unknown} */ end) => ends.push(end) };
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

/** @param {string} url @param {Record<string, any>} headers @param {string | Uint8Array} body @returns {Promise<number>} */
const post = (url, headers, body) =>
  new Promise((resolve, reject) => {
    const length = { 'Content-Length': Buffer.byteLength(body), Origin: ORIGIN };
    const sent = request(url, { method: 'POST', agent, headers: { ...headers, ...length } });
    sent.once('response', (answer) =>
      answer.resume().once('end', () => resolve(Number(answer.statusCode))),
    );
    sent.once('error', reject).end(body);
  });

const reportHeaders = () => ({
  'Content-Type': 'application/json',
  'Idempotency-Key': randomBytes(16).toString('hex'),
});

/** Sends requests that were made before. @param {string} url @param {any[]} list @param {number} status */
async function send(url, list, status) {
  let next = 0;
  const one = async () => {
    for (let each; (each = list[next++]) !== undefined;) {
      const got = await post(url, each.headers, each.body);
      if (got !== status) throw new Error(`${url}: status ${got}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
}

const plain = () =>
  Array.from({ length: REQUESTS }, (_, i) => ({
    headers: reportHeaders(),
    body: bodies[i % bodies.length],
  }));
const hidden = () =>
  Promise.all(
    plain().map(async ({ headers, body }) => ({
      headers: {},
      body: (await sealed('/v1/reports', { headers: { ...headers, origin: ORIGIN }, body })).body,
    })),
  );

try {
  const aggregator = createServer((incoming, answer) => {
    incoming.resume().once('end', () => answer.writeHead(201).end('{"status":"stored"}'));
  });
  await once(aggregator.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => (aggregator.closeAllConnections(), aggregator.close()));
  const { port } = /** @type {import('node:net').AddressInfo} */ (aggregator.address());
  const edge = await startEdge(t, 'node', {
    recipes: [recipe],
    aggregator: `http://127.0.0.1:${port}`,
    origins: [ORIGIN],
    gateway: GATEWAY,
  });
  const relay = await startRelay(t, 'node', {
    gateway: `${edge.url}/ohttp`,
    origins: [ORIGIN],
    token: RELAY.token,
  });
  /** @type {Record<string, number[]>} */
  const us = { 'edge, unsealed': [], 'edge, sealed': [], relay: [] };
  for (let turn = -1; turn < Number(options.turns); turn++) {
    const lists = [plain(), await hidden()];
    let [atEdge, atRelay] = [cpuOf(edge.pid), cpuOf(relay.pid)];
    await send(`${edge.url}/v1/reports`, lists[0], 202);
    const unsealed = cpuOf(edge.pid) - atEdge;
    [atEdge, atRelay] = [cpuOf(edge.pid), cpuOf(relay.pid)];
    await send(`${relay.url}/r`, lists[1], 200);
    if (turn < 0) continue; // the compiler sees it first
    us['edge, unsealed'].push(unsealed / REQUESTS);
    us['edge, sealed'].push((cpuOf(edge.pid) - atEdge) / REQUESTS);
    us.relay.push((cpuOf(relay.pid) - atRelay) / REQUESTS);
  }
  for (const [name, list] of Object.entries(us)) {
    list.sort((a, b) => a - b);
    process.stdout.write(
      `${name.padEnd(15)} ${list[list.length >> 1].toFixed(1).padStart(7)} us/report (${list[0].toFixed(1)} to ${list[list.length - 1].toFixed(1)})\n`,
    );
  }
} finally {
  agent.destroy();
  for (const end of ends.reverse()) await end();
}
