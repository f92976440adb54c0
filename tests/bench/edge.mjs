// SPDX-License-Identifier: Apache-2.0
// The edge: a report of a CMS record of 1024 bits from its bytes to a record, through the handler, and as requests to a server of one process
// (Node; workerd) that keeps it durably and forwards batches. Prints JSON lines like shoal_bench. Naive: JSON.parse, a check a field and digits
// by parseInt in JavaScript, with the platform's Request and Response; of a server, the ceiling: one that reads the body and answers 202. On workerd
// there is a second ceiling: a worker that checks nothing, and whose Durable Object stores what came meanwhile in one transaction and flushes it.
// Servers and the generator of load share the machine, in turns of a second and a half, so that requests/s are those of all cores together.
//
//   node edge.mjs                          the benchmark
//   node edge.mjs servers [RUNTIME]        only the servers, by 1, 8, 32 and 64 connections, with how long a request takes; a table
//   node edge.mjs load PORT SECONDS N      requests answered 202 by N connections; bodies come as JSON on stdin
//   node edge.mjs ceiling PORT             the Node server that answers 202
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { answer } from '../../edge/handler.js';
import { framesOf, readByFrame } from '../../edge/frame.js';
import {
  ORIGIN,
  REPORTS,
  makeReports,
  startCeilingWorker,
  started,
  tests,
} from './edge_ceilings.mjs';

const UNITS = 5000;
const ROUNDS = 9;
const TURNS = 5;
const TURN_S = 1.5;
const CONNECTIONS = 64;
const here = fileURLToPath(import.meta.url);
/** @typedef {'node' | 'workerd'} Runtime */
/** @type {readonly Runtime[]} */
const RUNTIMES = ['node', 'workerd'];

/** @typedef {'answers' | 'stores'} Ceiling */
/** @type {{[runtime in Runtime]: readonly Ceiling[]}} */
const CEILINGS = { node: ['answers'], workerd: ['answers', 'stores'] };
const CEILING_TEXT = {
  answers: 'the ceiling: a server that answers 202',
  stores: 'the ceiling: a Durable Object that stores, unchecked',
};
const [mode, ...args] = process.argv.slice(2);
if (mode === 'load') await generate(Number(args[0]), Number(args[1]), Number(args[2]));
else if (mode === 'ceiling') serveNothing(Number(args[0]));
else if (mode === 'servers')
  await servers(RUNTIMES.filter((runtime) => !args[0] || runtime === args[0]));
else await main();

/** @param {readonly Runtime[]} runtimes */
async function servers(runtimes) {
  const { recipe, bodies } = await makeReports();
  for (const runtime of runtimes) {
    const names = CEILINGS[runtime];
    const cells = (/** @type {string[]} */ list) => list.map((text) => text.padStart(13)).join('');
    const titles = [
      'connections',
      'requests/s',
      'median ms',
      ...names.flatMap((name) => [`only ${name}`, 'to that', 'median ms']),
    ];
    process.stdout.write(runtime.padEnd(8) + cells(titles) + '\n');
    for (const connections of [1, 8, 32, CONNECTIONS]) {
      const { real, ceilings } = await loadAll(runtime, recipe, bodies, connections);
      const mine = middleOf(real);
      const theirs = names.flatMap((name) => {
        const { rate, ms } = middleOf(ceilings[name]);
        return [rate.toFixed(0), (mine.rate / rate).toFixed(2), ms.toFixed(2)];
      });
      process.stdout.write(
        ' '.repeat(8) +
          cells([String(connections), mine.rate.toFixed(0), mine.ms.toFixed(2), ...theirs]) +
          '\n',
      );
    }
  }
}

async function main() {
  const { recipe, bodies } = await makeReports();
  const bytes = bodies.map((body) => Buffer.from(body));
  const keys = bodies.map(() => randomBytes(16).toString('hex'));
  let kept = 0;

  const collections = new Map([
    [
      recipe.hash,
      {
        recipe,
        accept: async (/** @type {Uint8Array} */ record) => ((kept += record[0]), 'accepted'),
      },
    ],
  ]);
  const deps = /** @type {any} */ ({
    collections,
    recipes: [recipe],
    origins: [ORIGIN],
    now: Date.now,
  });
  const frames = framesOf(deps.collections);

  const framed = () => {
    for (let i = 0; i < UNITS; i++)
      kept += readByFrame(bytes[i % REPORTS], frames)?.record[4] ?? NaN;
  };
  const naive = () => {
    for (let i = 0; i < UNITS; i++)
      kept += naiveRecord(JSON.parse(new TextDecoder().decode(bytes[i % REPORTS])), recipe)[4];
  };
  const handled = async () => {
    for (let i = 0; i < UNITS; i++) {
      const pieces = [bytes[i % REPORTS]];
      const reader = {
        read: async () => ({ done: pieces.length === 0, value: pieces.pop() }),
        cancel: async () => {},
      };
      const headers = new Map([
        ['content-type', 'application/json'],
        ['idempotency-key', keys[i % REPORTS]],
        ['origin', ORIGIN],
      ]);
      const request = {
        method: 'POST',
        url: 'http://edge.example/v1/reports',
        headers: { get: (/** @type {string} */ name) => headers.get(name) ?? null },
        body: { getReader: () => reader },
      };
      kept += (await answer(request, deps)).status;
    }
  };
  const naiveHandled = async () => {
    for (let i = 0; i < UNITS / 5; i++) {
      const headers = {
        'Content-Type': 'application/json',
        'Idempotency-Key': keys[i % REPORTS],
        Origin: ORIGIN,
      };
      const request = new Request('http://edge.example/v1/reports', {
        method: 'POST',
        headers,
        body: bytes[i % REPORTS],
      });
      kept += naiveRecord(await request.json(), recipe)[4];
      kept += new Response('{"status":"accepted"}', {
        status: 202,
        headers: { 'Content-Type': 'application/json' },
      }).status;
    }
  };
  const read = () => {
    for (let i = 0; i < UNITS; i++) {
      const report = bytes[i % REPORTS];
      let sum = 0;
      for (let at = 0; at < report.length; at++) sum += report[at];
      kept += sum;
    }
  };

  const text = 'JSON.parse, parseInt a digit, JavaScript';
  const readNs = await compare('report at the edge, bytes to record', {
    real: [framed, UNITS],
    naive: [naive, UNITS],
    read: [read, UNITS],
    what: text,
  });
  await compare('report through the edge, request to answer', {
    real: [handled, UNITS],
    naive: [naiveHandled, UNITS / 5],
    read: [read, UNITS],
    what: 'Request, request.json(), Response, as above',
  });
  await compareGateway(deps, bytes, keys, handled);
  await compareTokens(deps, handled);
  for (const runtime of RUNTIMES) await compareServers(runtime, recipe, bodies, readNs);
  if (Number.isNaN(kept)) process.exit(1);
}

/**
 * A sealed report from its bytes to a sealed answer. Naive: the same report in the clear, so the ratio is what sealing costs.
 * @param {any} deps @param {Buffer[]} bytes @param {string[]} keys
 * @param {() => Promise<void>} direct UNITS reports in the clear
 */
async function compareGateway(deps, bytes, keys, direct) {
  const { GATEWAY, RELAY, hour, sealed } = await tests('ohttp_client.mjs');
  const { Gateway } = await import(new URL('../../edge/gateway.js', import.meta.url).href);
  const gateway = await Gateway.open({ ...GATEWAY, relays: [{ ...RELAY, perMinute: 1e12 }] });
  /** @type {Buffer[]} */
  const requests = [];
  for (const [i, body] of bytes.slice(0, 64).entries()) {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': keys[i] };
    requests.push((await sealed('/v1/reports', { headers, body, date: hour() })).body);
  }
  const headers = new Map([
    ['content-type', 'message/ohttp-req'],
    ['authorization', `Bearer ${RELAY.token}`],
  ]);
  const opened = async () => {
    for (const body of requests) {
      const pieces = [body];
      const reader = {
        read: async () => ({ done: pieces.length === 0, value: pieces.pop() }),
        cancel: async () => {},
      };
      const request = {
        method: 'POST',
        url: 'http://edge.example/ohttp',
        headers: { get: (/** @type {string} */ name) => headers.get(name) ?? null },
        body: { getReader: () => reader },
      };
      const { status } = await answer(request, { ...deps, gateway });
      if (status !== 200) throw new Error(`status ${status}`);
    }
  };
  const read = () => {
    let sum = 0;
    for (const body of requests) for (const byte of body) sum += byte;
    if (!sum) throw new Error('nothing was read');
  };
  await compare('report through the gateway, sealed to sealed', {
    real: [opened, requests.length],
    naive: [direct, UNITS],
    read: [read, requests.length],
    what: 'the same report in the clear',
  });
}

/**
 * A report that spends a token, through the handler. Naive: a report without one, so the ratio is what verifying costs. Signatures are
 * verified on threads of the runtime, whose time counts too.
 * @param {any} deps
 * @param {() => Promise<void>} direct UNITS reports without a token
 */
async function compareTokens(deps, direct) {
  const [support, { makeTokenRecipe, keysFor, directoryFor, newToken, tokenInit, today }] =
    await Promise.all([tests('support.mjs'), tests('token_support.mjs')]);
  const { tokensOf } = await import(new URL('../../edge/tokens.js', import.meta.url).href);
  const recipe = await makeTokenRecipe({ recipe: 'bench-tokens' });
  const keys = await keysFor(recipe, [today(), today() + 1]);
  const tokens = await tokensOf(directoryFor(keys), [recipe]);
  const accept = async () => 'accepted';
  const spending = {
    ...deps,
    collections: new Map([[recipe.hash, { recipe, accept }]]),
    recipes: [recipe],
    tokens,
  };
  /** @type {{headers: Map<string, string>, body: Buffer}[]} */
  const reports = [];
  for (let i = 0; i < REPORTS; i++) {
    const text = support.newRecord(recipe, `word${i}`);
    const { headers, body } = tokenInit(recipe, await newToken(keys[0]), text);
    const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    reports.push({ headers: new Map(/** @type {any} */ (named)), body: Buffer.from(body) });
  }
  const spent = async () => {
    for (const { headers, body } of reports) {
      const pieces = [body];
      const reader = {
        read: async () => ({ done: pieces.length === 0, value: pieces.pop() }),
        cancel: async () => {},
      };
      const request = {
        method: 'POST',
        url: 'http://edge.example/v1/reports',
        headers: { get: (/** @type {string} */ name) => headers.get(name) ?? null },
        body: { getReader: () => reader },
      };
      const { status } = await answer(/** @type {any} */ (request), spending);
      if (status !== 202) throw new Error(`status ${status}`);
    }
  };
  const read = () => {
    let sum = 0;
    for (const { body } of reports) for (const byte of body) sum += byte;
    if (!sum) throw new Error('nothing was read');
  };
  await compare('report that spends a token, request to answer', {
    real: [spent, REPORTS],
    naive: [direct, UNITS],
    read: [read, REPORTS],
    what: 'a report without a token',
  });
}

/** @param {any} report @param {import('../../wasm/bindings/core.js').Recipe} recipe */
function naiveRecord(report, recipe) {
  const names = Object.keys(recipe.parameters);
  const isSame =
    names.length === Object.keys(report.parameters).length &&
    names.every((name) => report.parameters[name] === recipe.parameters[name]);
  if (
    report.key !== recipe.id ||
    report.recipe_hash !== recipe.hash ||
    !isSame ||
    report.records.length !== 1
  )
    throw new Error('not a report');
  const [row, hex] = report.records[0].split(',');
  const record = new Uint8Array(4 + hex.length / 2);
  new DataView(record.buffer).setUint32(0, parseInt(row, 10), true);
  for (let i = 0; i < hex.length; i += 2) record[4 + i / 2] = parseInt(hex.slice(i, i + 2), 16);
  return record;
}

/** @param {number[]} list sorted here */
function middle(list) {
  list.sort((a, b) => a - b);
  return {
    ns: list[list.length >> 1],
    quickest: list[0],
    slowest: list[list.length - 1],
    rounds: list.length,
  };
}

/** @param {object} line */
function print(line) {
  process.stdout.write(JSON.stringify(line) + '\n');
}

/** @typedef {[() => void | Promise<void>, number]} Timed a call, and of how many reports it is */

/**
 * Time on one core, in turns. Returns: of reading a report.
 * @param {string} name @param {{real: Timed, naive: Timed, read: Timed, what: string}} measured
 */
async function compare(name, { real, naive, read, what }) {
  /** @type {{real: number[], naive: number[], read: number[]}} */
  const ns = { real: [], naive: [], read: [] };
  const time = async (/** @type {Timed} */ [call, units]) => {
    const start = process.cpuUsage();
    await call();
    const { user, system } = process.cpuUsage(start);
    return (1e3 * (user + system)) / units;
  };
  for (let round = -2; round < ROUNDS; round++) {
    const got = { read: await time(read), real: await time(real), naive: await time(naive) };
    if (round < 0) continue; // the compiler is still at work
    for (const which of /** @type {const} */ (['read', 'real', 'naive']))
      ns[which].push(got[which]);
  }
  const read_ns = middle(ns.read).ns;
  print({
    name,
    unit: 'report',
    ...middle(ns.real),
    naive_ns: middle(ns.naive).ns,
    naive: what,
    read_ns,
    aim_ns: 0,
    aim_read: 0,
  });
  return read_ns;
}

/** @typedef {{rate: number, ms: number}} Load  requests a second, and the median time of one */

/** @param {Load[]} loads the one with the middle rate */
function middleOf(loads) {
  return loads.sort((a, b) => a.rate - b.rate)[loads.length >> 1];
}

/**
 * A line for each ceiling.
 * @param {Runtime} runtime @param {import('../../wasm/bindings/core.js').Recipe} recipe @param {string[]} bodies @param {number} read_ns
 */
async function compareServers(runtime, recipe, bodies, read_ns) {
  const { real: loads, ceilings } = await loadAll(runtime, recipe, bodies, CONNECTIONS);
  const real = middle(loads.map(({ rate }) => 1e9 / rate));
  const rate = (/** @type {number} */ each) => Math.round(1e9 / each).toLocaleString('en');
  for (const name of CEILINGS[runtime]) {
    const naive_ns = middle(ceilings[name].map((load) => 1e9 / load.rate)).ns;
    const note = `${rate(real.ns)} requests/s, durable; ${rate(naive_ns)} where the server only ${name}; ${CONNECTIONS} connections, the generator on the same cores`;
    const step =
      name === 'answers'
        ? `request to the edge, ${runtime}`
        : `request to the edge, ${runtime}, to one that only ${name}`;
    print({
      name: step,
      unit: 'request',
      ...real,
      naive_ns,
      naive: CEILING_TEXT[name],
      read_ns,
      aim_ns: 0,
      aim_read: 0,
      note,
    });
  }
}

/**
 * Requests to the edge and to its ceilings, in turns.
 * @param {Runtime} runtime @param {import('../../wasm/bindings/core.js').Recipe} recipe @param {string[]} bodies @param {number} connections
 */
async function loadAll(runtime, recipe, bodies, connections) {
  /** What ends with the comparison. @type {(() => unknown)[]} */
  const ends = [];
  const aggregator = createServer((request, response) => {
    request
      .resume()
      .once('end', () =>
        response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"status":"stored"}'),
      );
  });
  await once(aggregator.listen(0, '127.0.0.1'), 'listening');
  const { port: aggregatorPort } = /** @type {import('node:net').AddressInfo} */ (
    aggregator.address()
  );
  try {
    const t = /** @type {any} */ ({ after: (/** @type {() => unknown} */ end) => ends.push(end) });
    const { startEdge } = await tests('runtimes.mjs');
    const edge = await startEdge(t, runtime, {
      recipes: [recipe],
      aggregator: `http://127.0.0.1:${aggregatorPort}`,
      origins: [ORIGIN],
    });
    /** @type {{real: Load[], ceilings: {[name in Ceiling]: Load[]}}} */
    const loads = { real: [], ceilings: { answers: [], stores: [] } };
    /** @type {[number, Load[]][]} */
    const servers = [[Number(new URL(edge.url).port), loads.real]];
    for (const name of CEILINGS[runtime])
      servers.push([await startCeiling(runtime, name, ends), loads.ceilings[name]]);
    for (let turn = -1; turn < TURNS; turn++) {
      for (const [port, list] of servers) {
        const load = await underLoad(port, bodies, connections);
        if (turn >= 0) list.push(load);
      }
    }
    return loads;
  } finally {
    for (const end of ends) await end();
    aggregator.closeAllConnections();
    aggregator.close();
  }
}

/** Returns: its port. @param {Runtime} runtime @param {Ceiling} name @param {(() => unknown)[]} ends */
async function startCeiling(runtime, name, ends) {
  if (runtime === 'workerd') return (await startCeilingWorker(name, ends)).port;
  const free = await (await tests('support.mjs')).freePort();
  const { port } = await started([here, 'ceiling', String(free)], free, ends);
  return port;
}

/** Of a generator in a process of its own. @param {number} to port @param {string[]} bodies @param {number} connections @returns {Promise<Load>} */
async function underLoad(to, bodies, connections) {
  const child = spawn(
    process.execPath,
    [here, 'load', String(to), String(TURN_S), String(connections)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  child.stdin.end(JSON.stringify(bodies));
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('the generator of load failed');
  return JSON.parse(said);
}

/**
 * Every connection sends its next report when the last is answered. Prints a Load.
 * @param {number} to port @param {number} duration @param {number} connections
 */
async function generate(to, duration, connections) {
  const heads = JSON.parse(readFileSync(0, 'utf8')).map((/** @type {string} */ body) => [
    `POST /v1/reports HTTP/1.1\r\nHost: edge\r\nOrigin: ${ORIGIN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nIdempotency-Key: `,
    `\r\n\r\n${body}`,
  ]);
  /** @type {number[]} */
  let times = [];
  for (let i = 0; i < connections; i++) {
    const socket = connect(to, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
    let next = i;
    let had = '';
    let sent = 0;
    const send = () => {
      const [head, rest] = heads[next++ % heads.length];
      sent = performance.now();
      socket.write(head + randomBytes(16).toString('hex') + rest);
    };
    socket.on('data', (data) => {
      had += data;
      const end = had.indexOf('\r\n\r\n') + 4;
      const length = Number(/content-length: *(\d+)/i.exec(had)?.[1]);
      if (end < 4 || had.length < end + length) return;
      if (!had.startsWith('HTTP/1.1 202')) throw new Error(had);
      times.push(performance.now() - sent);
      had = '';
      send();
    });
    socket.once('connect', send);
  }
  await new Promise((resolve) => setTimeout(resolve, 500)); // until all are under way
  times = [];
  const start = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 1000 * duration));
  const rate = (1000 * times.length) / (performance.now() - start);
  times.sort((a, b) => a - b);
  process.stdout.write(JSON.stringify({ rate, ms: times[times.length >> 1] }));
  process.exit(0);
}

/** @param {number} at port */
function serveNothing(at) {
  createServer((request, response) => {
    request
      .resume()
      .once('end', () =>
        response
          .writeHead(202, { 'Content-Type': 'application/json' })
          .end('{"status":"accepted"}'),
      );
  }).listen(at, '127.0.0.1', () => process.stdout.write('ready\n'));
}
