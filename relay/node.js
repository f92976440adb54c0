// SPDX-License-Identifier: Apache-2.0
// The relay on Node: a node:http server over the handler. It keeps no log and no file. The handler
// is given the headers that it reads, and no others.

import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { readerOf } from './body_reader.js';
import { BUCKET_BYTES, Buckets } from './buckets.js';
import { CONNECTION_BYTES, Connections, addressReader, serverOptions } from './connections.js';
import { gauge } from './exposition.js';
import { GatewayClient } from './gateway_client.js';
import { Counts, answer } from './handler.js';
import { IS_NODE, OneAnswer } from './one_request.js';
import { processMetrics } from './process_metrics.js';
import { checkFixed } from './reload.js';
import { whenRead, wholeBody } from './when_read.js';

export { readConfig } from './config.js';

/**
 * @typedef {import('./config.js').Config} Config
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 * @typedef {import('./handler.js').RelayDeps} RelayDeps
 * @typedef {import('./handler.js').Incoming} Incoming
 */

const HEADERS = ['content-type', 'content-length', 'origin', 'authorization'];
const LINGER_MS = 1000;
const FORGET_EVERY_MS = 30_000;
const NODE_BYTES = 192 << 20;
const BODY_COPIES = 2; // of a body: what arrived, and what is sent

/**
 * Starts a relay.
 * @param {Config} config
 * @param {{fetch?: typeof globalThis.fetch, now?: () => number, reloads?:
 *   import('./reload.js').Reloads<Config>}} [deps]  without fetch Node's sockets send, which are faster
 * @returns {Promise<{port: number, reload: (config: Config) => Promise<void>, drain: () => void,
 *   close: () => Promise<void>}>} reload takes a configuration whole, or rejects; drain says that
 *   the relay is not ready any more, and serves on
 */
export async function startRelay(config, { fetch, now = Date.now, reloads } = {}) {
  const client =
    fetch === undefined && IS_NODE ? new GatewayClient(config.gatewayConnections) : null;
  const send = fetch ?? globalThis.fetch;
  const buckets = bucketsOf(config, now);
  const connections = new Connections(config.connections);
  let isDraining = false;
  const shared = {
    limits: config.limits,
    fetch: atMost(config.gatewayConnections, (input, init) => send(input, init)),
    ...(client && { post: client.post.bind(client) }),
    buckets,
    counts: new Counts(),
    health: () => ({ status: isDraining ? 'draining' : 'ok', ...reloads?.health() }),
    hostMetrics: () => [
      ...connections.metrics('shoal_relay'),
      memoryLimit(config),
      ...processMetrics(),
      ...(reloads?.metrics('shoal_relay') ?? []),
    ],
  };
  /** @type {(config: Config) => RelayDeps} */
  const depsOf = ({ routes, healthz, adminToken }) => ({ ...shared, routes, healthz, adminToken });
  let deps = depsOf(config);
  const reload = async (/** @type {Config} */ next) => {
    checkUnchanged(config, next);
    deps = depsOf(next);
  };
  const addressOf = addressReader(config.connections.proxies, config.addressHeader);
  /** @param {IncomingMessage} incoming @param {ServerResponse} outgoing */
  const begin = (incoming, outgoing) => {
    connections.follow(incoming, outgoing);
    if (isDraining) outgoing.shouldKeepAlive = false; // a proxy's next request goes elsewhere
    const address = buckets && addressOf(incoming);
    serve(incoming, outgoing, deps, address).catch(() => outgoing.destroy());
  };
  const server = createServer(serverOptions(config.connections), whenRead(begin));
  connections.watch(server);
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, () => resolve(undefined));
  });
  const timer = setInterval(() => buckets?.forget(), FORGET_EVERY_MS);
  timer.unref();
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = async () => {
    clearInterval(timer);
    await connections.end(server);
    client?.close();
  };
  return { port, reload, drain: () => (isDraining = true), close };
}

/** Refuses what the running relay cannot change. @param {Config} now @param {Config} next */
function checkUnchanged(now, next) {
  checkFixed({
    listen: [
      [now.host, now.port],
      [next.host, next.port],
    ],
    gateway_connections: [now.gatewayConnections, next.gatewayConnections],
    rate: [now.rate, next.rate],
    address_header: [now.addressHeader, next.addressHeader],
    'max_bytes, held_bytes or a timeout': [now.limits, next.limits],
    'a field of connections': [now.connections, next.connections],
  });
}

/**
 * Returns the bytes of memory that the process takes at most: connections, bodies, buckets, and
 * Node itself with its garbage.
 * @param {Config} config
 */
export function memoryOf({ connections, limits, rate }) {
  return (
    NODE_BYTES +
    connections.connections * CONNECTION_BYTES +
    BODY_COPIES * limits.heldBytes +
    (rate?.addresses ?? 0) * BUCKET_BYTES
  );
}

/** @param {Config} config */
const memoryLimit = (config) =>
  gauge(
    'shoal_relay_memory_limit_bytes',
    'Memory that the process takes at most, by its configuration.',
    memoryOf(config),
  );

/** @param {Config} config @param {() => number} now */
function bucketsOf({ rate }, now) {
  if (rate === null) return null;
  return new Buckets(rate, rate.addresses, {
    now,
    getRandomValues: (bytes) => crypto.getRandomValues(bytes),
    hmac: (key, text) => createHmac('sha256', key).update(text).digest(),
  });
}

/**
 * Returns the same fetch, with at most `n` requests at once that wait for an answer's head. The
 * others wait in line.
 * @param {number} n
 * @param {RelayDeps['fetch']} fetch
 * @returns {RelayDeps['fetch']}
 */
export function atMost(n, fetch) {
  let free = n;
  /** @type {(() => void)[]} */
  const line = [];
  return async (input, init) => {
    if (free === 0) await new Promise((resolve) => line.push(() => resolve(undefined)));
    else free--;
    try {
      return await fetch(input, init);
    } finally {
      const next = line.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/**
 * @param {IncomingMessage} incoming
 * @param {ServerResponse} outgoing
 * @param {RelayDeps} deps
 * @param {string | null} address
 */
async function serve(incoming, outgoing, deps, address) {
  const { status, headers, body } = await answer(new NodeRequest(incoming), deps, address);
  if (incoming.complete || !hasBody(incoming)) {
    if (body !== null) headers['Content-Length'] = String(Buffer.byteLength(body));
    outgoing.writeHead(status, headers);
    if (body === null || incoming.method === 'HEAD') outgoing.end();
    else if (outgoing instanceof OneAnswer) outgoing.endWith(body);
    else outgoing.end(body);
    return;
  }
  // The body was refused half-way. Closing at once would reset the connection before the answer is
  // read, so the rest is read and dropped for a moment first.
  headers['Content-Length'] = String(body === null ? 0 : Buffer.byteLength(body));
  headers.Connection = 'close';
  outgoing.writeHead(status, headers);
  if (body !== null) outgoing.write(body);
  incoming.resume();
  const timer = setTimeout(() => outgoing.end(), LINGER_MS);
  incoming.once('close', () => clearTimeout(timer));
  incoming.once('end', () => outgoing.end());
}

/** @param {IncomingMessage} incoming */
const hasBody = ({ method }) => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';

/** The headers that the handler may see. */
class NodeHeaders {
  #incoming;

  /** @param {IncomingMessage} incoming */
  constructor(incoming) {
    this.#incoming = incoming;
  }

  /** @param {string} name */
  get(name) {
    const value = HEADERS.includes(name) ? this.#incoming.headers[name] : undefined;
    return typeof value === 'string' ? value : null;
  }
}

/**
 * A request as the handler sees it.
 * @implements {Incoming}
 */
class NodeRequest {
  #incoming;

  /** @param {IncomingMessage} incoming */
  constructor(incoming) {
    this.#incoming = incoming;
    const { method = 'GET', url = '/' } = incoming;
    const path = url.split('?')[0];
    const isPath = /^\/[\x21-\x7e]*$/.test(path) && !path.startsWith('//');
    this.method = method;
    this.url = `http://relay${isPath ? path : '/%00'}`;
    this.headers = new NodeHeaders(incoming);
    this.body = hasBody(incoming) ? { getReader: () => readerOf(incoming) } : null;
  }

  whole() {
    return wholeBody(this.#incoming);
  }
}
