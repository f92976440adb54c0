// SPDX-License-Identifier: Apache-2.0
// CPU time that a report costs the edge as it is, with a token, and sealed, and a relay before it,
// all under Node, in turns in one run. Beside them is the bare cryptography of a token and of a
// sealed report, by the quickest calls of Node, and what the edge takes above both. The generator of
// load is this process, whose time does not count.
//
//   node relay_cpu.mjs [--turns N] [--requests N]
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { openRequest } from '../../edge/ohttp_node.js';
import { keysOf } from '../../edge/ohttp.js';
import { importKey } from '../../edge/tokens.js';
import { tokenCrypto } from '../../edge/tokens_node.js';
import { modulusOf } from '../../wasm/bindings/token_format.js';
import { ORIGIN, cpuOf, makeReports, tests } from './edge_ceilings.mjs';

const CONNECTIONS = 64;
const WARM = 3; // turns that the compiler sees first
const CALLS = 500; // of the bare cryptography in a turn

const { values: options } = parseArgs({
  options: {
    turns: { type: 'string', default: '7' },
    requests: { type: 'string', default: '2000' }, // of a turn: each is sealed here, which takes longest
  },
});
const requests = Number(options.requests);
const { startRelay } = await import(
  new URL('../../relay/test/relay_runtimes.mjs', import.meta.url).href
);
const { KEYS, RELAY, sealed } = await tests('ohttp_client.mjs');
const { startEdge } = await tests('runtimes.mjs');
const { directoryFor, headerOf, keyOfToken, keysFor, makeTokenRecipe, newToken, today } =
  await tests('token_support.mjs');
const { recipe, bodies } = await makeReports();
const tokenRecipe = await makeTokenRecipe();
const [tokenKey] = await keysFor(tokenRecipe, [today()]);

/** @param {string} path @param {Record<string, string>} fields @param {string | Uint8Array} body @returns {Buffer} */
function requestOf(path, fields, body) {
  const lines = Object.entries({
    Host: 'localhost',
    Origin: ORIGIN,
    'Content-Length': String(Buffer.byteLength(body)),
    ...fields,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`),
    Buffer.from(body),
  ]);
}

const newFields = () => ({
  'Content-Type': 'application/json',
  'Idempotency-Key': randomBytes(16).toString('hex'),
});
const all = (/** @type {(i: number) => any} */ make) =>
  Promise.all(Array.from({ length: requests }, (_, i) => make(i)));

/** A turn's requests. @type {Record<string, () => Promise<Buffer[]>>} */
const kinds = {
  plain: () => all((i) => requestOf('/v1/reports', newFields(), bodies[i % bodies.length])),
  token: () =>
    all(async () => {
      const token = await newToken(tokenKey);
      const fields = { Authorization: headerOf(token), 'Idempotency-Key': keyOfToken(token) };
      const text = tokenRecipe.randomize('fish', randomBytes(32));
      const report = JSON.stringify(tokenRecipe.report(text));
      return requestOf('/v1/reports', { ...newFields(), ...fields }, report);
    }),
  sealed: () => all(async (i) => requestOf('/ohttp', RELAYED, await seal(i))),
  relayed: () => all(async (i) => requestOf('/r', {}, await seal(i))),
};
const RELAYED = {
  'Content-Type': 'message/ohttp-req',
  Authorization: `Bearer ${RELAY.token}`,
};

/** @param {number} i @returns {Promise<Uint8Array>} */
async function seal(i) {
  const headers = { ...newFields(), origin: ORIGIN };
  return (await sealed('/v1/reports', { headers, body: bodies[i % bodies.length] })).body;
}

/**
 * Sends requests that were made before; a connection sends its next when the last is answered.
 * @param {string} url @param {Buffer[]} list @param {number} status
 */
async function send(url, list, status) {
  const { port } = new URL(url);
  let next = 0;
  const one = () =>
    /** @type {Promise<void>} */ (
      new Promise((done, reject) => {
        const socket = connect(Number(port), '127.0.0.1').setNoDelay(true).setEncoding('latin1');
        let had = '';
        const more = () => (next < list.length ? socket.write(list[next++]) : socket.end(done));
        socket.on('data', (data) => {
          had += data;
          const end = had.indexOf('\r\n\r\n') + 4;
          const length = Number(/content-length: *(\d+)/i.exec(had)?.[1]);
          if (end < 4 || had.length < end + length) return;
          if (!had.startsWith(`HTTP/1.1 ${status}`)) return reject(new Error(had));
          had = '';
          more();
        });
        socket.once('error', reject);
        socket.once('connect', more);
      })
    );
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
}

/** Microseconds of this process for a call. @param {(i: number) => void} call */
function own(call) {
  const before = process.cpuUsage();
  for (let i = 0; i < CALLS; i++) call(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

/** @type {(() => unknown)[]} */
const ends = [];
const t = { after: (/** @type {() => unknown} */ end) => ends.push(end) };
try {
  const aggregator = createServer((incoming, answer) => {
    incoming.resume().once('end', () => answer.writeHead(201).end('{"status":"stored"}'));
  });
  await once(aggregator.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => (aggregator.closeAllConnections(), aggregator.close()));
  const { port } = /** @type {import('node:net').AddressInfo} */ (aggregator.address());
  const edge = await startEdge(t, 'node', {
    recipes: [recipe, tokenRecipe],
    aggregator: `http://127.0.0.1:${port}`,
    origins: [ORIGIN],
    gateway: { keys: KEYS, relays: [{ ...RELAY, perMinute: 1_000_000 }] },
    tokenKeys: directoryFor([tokenKey]),
  });
  const relay = await startRelay(t, 'node', {
    gateway: `${edge.url}/ohttp`,
    origins: [ORIGIN],
    token: RELAY.token,
  });
  /** @type {Record<string, number[]>} */
  const us = {};
  const note = (/** @type {string} */ name, /** @type {number} */ value) =>
    (us[name] ??= []).push(value);
  const keys = await keysOf(KEYS);
  const answer = new Uint8Array(512);
  const token = await newToken(tokenKey);
  const verifier = await importKey(modulusOf(tokenKey.spki));
  for (let turn = -WARM; turn < Number(options.turns); turn++) {
    const lists = {
      plain: await kinds.plain(),
      token: await kinds.token(),
      sealed: await kinds.sealed(),
      relayed: await kinds.relayed(),
    };
    let at = [cpuOf(edge.pid), cpuOf(relay.pid)];
    const spent = () => {
      const was = at;
      at = [cpuOf(edge.pid), cpuOf(relay.pid)];
      return at.map((now, i) => (now - was[i]) / requests);
    };
    await send(edge.url, lists.plain, 202);
    const [plain] = spent();
    await send(edge.url, lists.token, 202);
    const [spending] = spent();
    await send(edge.url, lists.sealed, 200);
    const [opening] = spent();
    await send(relay.url, lists.relayed, 200);
    const [behind, passing] = spent();
    const texts = lists.sealed.map((each) => each.subarray(each.indexOf('\r\n\r\n') + 4));
    const ofSealed = own((i) => openRequest(keys, texts[i])?.seal(answer));
    const ofToken = own(() => tokenCrypto.isSigned(verifier, token));
    if (turn < 0) continue;
    note('edge', plain);
    note('edge, tokens', spending);
    note('  cryptography of a token', ofToken);
    note('  tokens, beyond both', spending - plain - ofToken);
    note('edge, sealed', opening);
    note('  cryptography of sealing', ofSealed);
    note('  sealed, beyond both', opening - plain - ofSealed);
    note('edge, behind the relay', behind);
    note('relay', passing);
  }
  for (const [name, list] of Object.entries(us)) {
    list.sort((a, b) => a - b);
    const [middle, least, most] = [list[list.length >> 1], list[0], list[list.length - 1]];
    process.stdout.write(
      `${name.padEnd(27)} ${middle.toFixed(1).padStart(7)} us/report (${least.toFixed(1)} to ${most.toFixed(1)})\n`,
    );
  }
} finally {
  for (const end of ends.reverse()) await end();
}
