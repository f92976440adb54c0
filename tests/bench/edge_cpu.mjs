// SPDX-License-Identifier: Apache-2.0
// CPU time that a server's process spends on a report, in turns in one run: the edge with all its
// checks, and servers that do less. All threads of the process count, its kernel's time too; the
// generator of load is this process, whose time does not count. Wall time says little on a shared
// machine, so none is printed.
//
//   node edge_cpu.mjs [RUNTIME] [--peers DIR]    a table; RUNTIME: node (default) or workerd
//   node edge_cpu.mjs serve KIND PORT DIR        one of the smaller servers
//
// The smaller servers under Node: `bare` reads the body and answers 202; `durable` also parses it
// as JSON and appends it to a file, one fdatasync for all that came meanwhile; `fastify` does the
// same over Fastify, where DIR/node_modules holds it. Under workerd: `answers` and `stores` of
// edge_ceilings.mjs.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  ORIGIN,
  cpuOf,
  makeReports,
  startCeilingWorker,
  started,
  tests,
} from './edge_ceilings.mjs';

const CONNECTIONS = 64;
const WARM = 20_000; // requests that the compiler sees first
const REQUESTS = 30_000; // of a turn
const TURNS = 7;
const here = fileURLToPath(import.meta.url);

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    peers: { type: 'string' },
    connections: { type: 'string', default: String(CONNECTIONS) },
    turns: { type: 'string', default: String(TURNS) },
  },
});
if (positionals[0] === 'serve')
  await serve(positionals[1], Number(positionals[2]), positionals[3], options.peers);
else await compare(positionals[0] === 'workerd' ? 'workerd' : 'node');

/** @typedef {{name: string, port: number, pid: number, us: number[]}} Server */

/** @param {'node' | 'workerd'} runtime */
async function compare(runtime) {
  const { recipe, bodies } = await makeReports();
  /** @type {(() => unknown)[]} */
  const ends = [];
  try {
    const servers = await startAll(runtime, recipe, ends);
    const connections = Number(options.connections);
    for (const { port } of servers) await send(port, bodies, connections, WARM);
    for (let turn = 0; turn < Number(options.turns); turn++)
      for (const { port, pid, us } of servers) {
        const before = cpuOf(pid);
        await send(port, bodies, connections, REQUESTS);
        us.push((cpuOf(pid) - before) / REQUESTS);
      }
    print(runtime, servers);
  } finally {
    for (const end of ends) await end();
  }
}

/** @param {string} runtime @param {Server[]} servers */
function print(runtime, servers) {
  const middle = (/** @type {number[]} */ list) => list.toSorted((a, b) => a - b)[list.length >> 1];
  const [edge] = servers;
  for (const { name, us } of servers) {
    const ratio = middle(edge.us.map((each, i) => each / us[i]));
    process.stdout.write(
      `${runtime} ${name.padEnd(8)} ${middle(us).toFixed(1).padStart(7)} us/request (${Math.min(...us).toFixed(1)} to ${Math.max(...us).toFixed(1)}), edge to it ${ratio.toFixed(2)}\n`,
    );
  }
}

/**
 * @param {'node' | 'workerd'} runtime
 * @param {import('../../wasm/bindings/core.js').Recipe} recipe
 * @param {(() => unknown)[]} ends
 * @returns {Promise<Server[]>}  the edge first
 */
async function startAll(runtime, recipe, ends) {
  const aggregator = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(201).end('{"status":"stored"}'));
  });
  await once(aggregator.listen(0, '127.0.0.1'), 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (aggregator.address());
  ends.push(() => (aggregator.closeAllConnections(), aggregator.close()));
  const t = /** @type {any} */ ({ after: (/** @type {() => unknown} */ end) => ends.push(end) });
  const { startEdge } = await tests('runtimes.mjs');
  const edge = await startEdge(t, runtime, {
    recipes: [recipe],
    aggregator: `http://127.0.0.1:${address.port}`,
    origins: [ORIGIN],
  });
  const servers = [{ name: 'edge', port: Number(new URL(edge.url).port), pid: edge.pid, us: [] }];
  const kinds =
    runtime === 'workerd'
      ? ['answers', 'stores']
      : ['bare', 'durable', ...(options.peers === undefined ? [] : ['fastify'])];
  for (const name of kinds) {
    const { port, pid } = await (runtime === 'workerd'
      ? startCeilingWorker(name, ends)
      : startSmaller(name, ends));
    servers.push({ name, port, pid, us: [] });
  }
  return servers;
}

/** @param {string} kind @param {(() => unknown)[]} ends */
async function startSmaller(kind, ends) {
  const port = await (await tests('support.mjs')).freePort();
  const dir = await mkdtemp(join(tmpdir(), 'shoal-bench-'));
  const peers = options.peers === undefined ? [] : ['--peers', resolve(options.peers)];
  const child = await started([here, 'serve', kind, String(port), dir, ...peers], port, ends);
  ends.push(() => rm(dir, { recursive: true, force: true }));
  return child;
}

/**
 * Sends reports, each with a new key; a connection sends its next when the last is answered.
 * @param {number} port @param {string[]} bodies @param {number} connections @param {number} total
 */
async function send(port, bodies, connections, total) {
  const heads = bodies.map((body) => [
    `POST /v1/reports HTTP/1.1\r\nHost: edge\r\nOrigin: ${ORIGIN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nIdempotency-Key: `,
    `\r\n\r\n${body}`,
  ]);
  let begun = 0;
  const one = (/** @type {number} */ i) =>
    new Promise((done, reject) => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
      let had = '';
      const next = () => {
        if (begun++ >= total) return socket.end(() => done(undefined));
        const [head, rest] = heads[(begun + i) % heads.length];
        socket.write(head + randomBytes(16).toString('hex') + rest);
      };
      socket.on('data', (data) => {
        had += data;
        const end = had.indexOf('\r\n\r\n') + 4;
        const length = Number(/content-length: *(\d+)/i.exec(had)?.[1]);
        if (end < 4 || had.length < end + length) return;
        if (!had.startsWith('HTTP/1.1 202')) return reject(new Error(had));
        had = '';
        next();
      });
      socket.once('error', reject);
      socket.once('connect', next);
    });
  await Promise.all(Array.from({ length: connections }, (_, i) => one(i)));
}

/** @param {string} kind @param {number} port @param {string} dir @param {string} [peers] */
async function serve(kind, port, dir, peers) {
  const keep = await keeper(join(dir, 'reports'));
  const ready = () => process.stdout.write('ready\n');
  if (kind === 'fastify') {
    const { fastify } = createRequire(`${peers}/`)('fastify');
    const app = fastify();
    app.post('/v1/reports', async (/** @type {any} */ request, /** @type {any} */ reply) => {
      await keep(JSON.stringify(request.body));
      return reply.code(202).send({ status: 'accepted' });
    });
    await app.listen({ port, host: '127.0.0.1' });
    ready();
    return;
  }
  createServer((request, response) => {
    const answer = () =>
      response
        .writeHead(202, { 'Content-Type': 'application/json', 'Content-Length': 21 })
        .end('{"status":"accepted"}');
    if (kind === 'bare') return void request.resume().once('end', answer);
    /** @type {Buffer[]} */
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.once('end', () =>
      keep(JSON.stringify(JSON.parse(Buffer.concat(pieces).toString()))).then(answer),
    );
  }).listen(port, '127.0.0.1', ready);
}

/** Returns a function that appends a line durably, many lines with one fdatasync. @param {string} path */
async function keeper(path) {
  const file = await open(path, 'a');
  /** @type {{text: string, done: () => void}[]} */
  let waiting = [];
  let isBusy = false;
  const run = async () => {
    isBusy = true;
    for (let all; (all = waiting).length > 0;) {
      waiting = [];
      await file.appendFile(all.map(({ text }) => `${text}\n`).join(''));
      await file.datasync();
      for (const { done } of all) done();
    }
    isBusy = false;
  };
  return (/** @type {string} */ text) =>
    new Promise((resolve) => {
      waiting.push({ text, done: () => resolve(undefined) });
      if (!isBusy) void run();
    });
}
