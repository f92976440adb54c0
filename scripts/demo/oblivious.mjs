// SPDX-License-Identifier: Apache-2.0
// The path of the demo's reports: a relay that sees addresses and ciphertext, a gateway that sees
// reports and the relay, and a log that names the gateway's key. The relay is observed from outside
// while it runs, so that the demo says what it really saw.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readConfig, startRelay } from 'shoal-relay';
import { gatewayKeys } from '../../edge/key_file.js';
import { whole } from './talk.mjs';

const DAY_MS = 86_400_000;
const KEYS_DAYS = 7;
const PER_MINUTE = 1_000_000; // of a demo, whose devices are all one machine
const REQUESTS = 'http.server.request.start';
const execute = promisify(execFile);

/**
 * @typedef {object} Way how devices send
 * @property {string} endpoint base URL of the edge worker
 * @property {string} [relay]
 * @property {{url: string, key: string}} [log]
 *
 * @typedef {object} Gateway of the edge worker
 * @property {any[]} keys
 * @property {{name: string, token: string, per_minute: number}[]} relays
 */

/**
 * Makes a gateway's key, and a log whose key list names it.
 * @param {string} binary
 * @param {string} folder of this run
 * @returns {Promise<{folder: string, key: string, gateway: Gateway}>} folder: that of the log's
 *   files; key: its verifier key
 */
export async function makeLog(binary, folder) {
  const [path, log, pem, list] = ['gateway.keys', 'log', 'log.pem', 'keys.json'].map((name) =>
    join(folder, name),
  );
  const gateway = await gatewayKeys(path, true);
  const signing = ['--log', log, '--key', pem];
  const { stdout } = await execute(binary, [
    'log',
    'init',
    '--name',
    'demo.example/log',
    ...signing,
  ]);
  const from = Math.floor(Date.now() / DAY_MS);
  const keys = { from, until: from + KEYS_DAYS, gateway, tokens: [] };
  await writeFile(list, JSON.stringify(keys));
  await execute(binary, ['log', 'keys', ...signing, list]);
  const relay = { name: 'demo', token: randomBytes(24).toString('hex'), per_minute: PER_MINUTE };
  return {
    folder: log,
    key: stdout.trim(),
    gateway: { keys: JSON.parse(await readFile(path, 'utf8')).keys, relays: [relay] },
  };
}

/**
 * Starts a relay and watches it.
 * @param {string} folder of this run
 * @param {string} edge base URL
 * @param {Gateway} gateway
 * @param {string} origin of the page
 */
export async function startDemoRelay(folder, edge, { relays: [{ token }] }, origin) {
  const file = join(folder, 'relay.json');
  const route = {
    path: '/',
    gateway: `${edge}/ohttp`,
    token_file: 'relay.token',
    origins: [origin],
  };
  await writeFile(join(folder, 'relay.token'), `${token}\n`, { mode: 0o600 });
  await writeFile(file, JSON.stringify({ listen: '127.0.0.1:0', routes: [route] }, null, 2));
  const saw = { requests: 0, addresses: new Set(), lengths: new Set() };
  const relay = await startRelay(await readConfig(file), {
    fetch: (input, init) => {
      saw.lengths.add(/** @type {any} */ (init?.body).length);
      return fetch(input, init);
    },
  });
  /** @param {any} message */
  const watch = ({ request, server }) => {
    if (server.address()?.port !== relay.port || request.method !== 'POST') return;
    saw.requests++;
    saw.addresses.add(request.socket.remoteAddress);
  };
  subscribe(REQUESTS, watch);
  return {
    url: `http://127.0.0.1:${relay.port}/`,
    saw,
    close: async () => {
      unsubscribe(REQUESTS, watch);
      await relay.close();
    },
  };
}

/**
 * Says what each of the three parties saw. Throws if a report went another way than through the
 * relay, or if requests had several lengths.
 * @param {Awaited<ReturnType<typeof startDemoRelay>>['saw']} saw
 * @param {{requests: number, records: number, what: string}} edge requests: sealed ones of the
 *   relay
 * @param {string} last what the last party saw
 */
export function parties(saw, edge, last) {
  const lengths = [...saw.lengths];
  if (lengths.length !== 1)
    throw new Error(`the relay saw requests of ${lengths.length} lengths: ${lengths.join(', ')}`);
  if (edge.requests > saw.requests || edge.records > edge.requests)
    throw new Error('a report did not go through the relay');
  return [
    `the relay: ${whole(saw.requests)} requests from ${[...saw.addresses].join(', ')} (all devices are this machine), each ` +
      `${whole(lengths[0])} bytes of ciphertext`,
    `the edge: ${whole(edge.records)} ${edge.what}, one at a time, from one sender: the relay`,
    last,
  ].join('\n      ');
}

/**
 * What relay, edge and aggregator saw, in words.
 * @param {Parameters<typeof parties>[0]} saw of the relay
 * @param {{sum: (name: string) => Promise<number>}} edge
 */
export async function seen(saw, edge) {
  const [requests, sealed, open, batches, records] = await Promise.all(
    [
      'gateway_requests_total',
      'sealed_reports_total',
      'open_reports',
      'forwarded_batches_total',
      'forwarded_reports_total',
    ].map((name) => edge.sum(name)),
  );
  const last =
    `the aggregator: ${whole(batches)} shuffled batches of the edge, ${whole(records)} records, besides those of the ` +
    'simulated devices, which were posted in batches at once';
  return parties(saw, { requests, records: sealed + open, what: 'reports' }, last);
}
