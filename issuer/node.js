// SPDX-License-Identifier: Apache-2.0
// The issuer on Node: a node:http server over the handler, and counts in a folder. It keeps no
// access log.

import { stat } from 'node:fs/promises';
import { IncomingMessage, ServerResponse, createServer } from 'node:http';
import { dirname, resolve } from 'node:path';
import { checkFixed, readFile } from 'shoal-relay/reload';
import { BundleCounts } from './bundle_counts.js';
import { parse } from './config.js';
import { lockCounts } from './counts_lock.js';
import { handle, newOutcomes } from './handler.js';
import { processText } from './process_metrics.js';
import { openKeyInNode } from './rsa_node.js';
import { openKeys } from './signing_keys.js';
import { BUNDLE_SIZE_MAX } from './token_bundle.js';

export { handle } from './handler.js';
export { accountOfHeader } from './account_header.js';

const HEADERS_TIMEOUT_MS = 10_000;

/** Connections whose answer has not gone yet. @type {WeakSet<import('node:net').Socket>} */
const answering = new WeakSet();

/**
 * A request, of which a connection may have one at a time. Node reads the thousands that one chunk
 * holds before any timer runs, unless a request seems to take over its connection.
 */
class OneRequest extends IncomingMessage {
  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    super(socket);
    if (!answering.has(socket)) return;
    socket.destroy();
    Object.defineProperty(this, 'upgrade', { get: () => true, set() {} });
  }
}

/**
 * Its answer, which Node makes also where it answers by itself.
 * @extends {ServerResponse<IncomingMessage>}
 */
class OneAnswer extends ServerResponse {
  /** @param {IncomingMessage} incoming */
  constructor(incoming) {
    super(incoming);
    const { socket } = incoming;
    answering.add(socket);
    this.once('finish', () => answering.delete(socket));
  }
}

/**
 * Starts an issuer.
 * @param {import('./config.js').Config} config
 * @param {{now?: () => number, headersTimeoutMs?: number, health?: () => {reload?: string}}} [deps]
 *   health: what /healthz says beside its status
 * @returns {Promise<{port: number, counts: BundleCounts, reload: (config:
 *   import('./config.js').Config) => Promise<void>, close: () => Promise<void>}>} reload takes a
 *   configuration and its keys whole, or rejects
 */
export async function startIssuer(
  config,
  { now = Date.now, headersTimeoutMs = HEADERS_TIMEOUT_MS, health } = {},
) {
  const signers = await readSigners(config.keys);
  const unlock = await lockCounts(config.counts);
  const counts = new BundleCounts(config.counts, { max: config.accounts, now });
  /** @type {import('./handler.js').HandlerDeps} */
  let deps = {
    base: config.base,
    origins: config.origins,
    signers,
    account: config.account,
    count: counts.count,
    now,
    bodyTimeoutMs: config.bodyTimeoutMs,
    outcomes: newOutcomes(),
    hostMetrics: processText,
    ...(health === undefined ? {} : { health }),
    ...(config.adminToken === undefined ? {} : { adminToken: config.adminToken }),
  };
  const reload = async (/** @type {import('./config.js').Config} */ next) => {
    checkUnchanged(config, next);
    deps = { ...deps, origins: next.origins, signers: await readSigners(next.keys) };
  };
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: headersTimeoutMs + config.bodyTimeoutMs,
      IncomingMessage: OneRequest,
      ServerResponse: OneAnswer,
    },
    (incoming, outgoing) => {
      serve(incoming, outgoing, deps).catch(() => outgoing.destroy());
    },
  );
  // The deadlines above begin with a request's first byte. This one ends connections that send nothing,
  // or do not read their answer.
  server.timeout = headersTimeoutMs + config.bodyTimeoutMs;
  server.maxConnections = config.connections;
  await new Promise((resolve, reject) => {
    server.once('error', (error) => unlock().then(() => reject(error)));
    server.listen(config.port, config.host, () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = async () => {
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeIdleConnections();
    });
    await counts.close();
    await unlock();
  };
  return { port, counts, reload, close };
}

/**
 * Refuses what the running issuer cannot change.
 * @param {import('./config.js').Config} now
 * @param {import('./config.js').Config} next
 */
function checkUnchanged(now, next) {
  checkFixed({
    listen: [
      [now.host, now.port],
      [next.host, next.port],
    ],
    url: [now.base, next.base],
    counts: [now.counts, next.counts],
    accounts_a_day: [now.accounts, next.accounts],
    'account_header or account_module': [now.accountOf, next.accountOf],
    connections: [now.connections, next.connections],
    body_timeout_s: [now.bodyTimeoutMs, next.bodyTimeoutMs],
  });
}

/**
 * Reads a key file, which only its owner may read. A file that systemd hands over (LoadCredential) is for the service alone, but may show
 * a mode of 0440: its access list stands where the group's rights are.
 * @param {string} path
 */
export async function readSigners(path) {
  const { CREDENTIALS_DIRECTORY: handed } = process.env;
  const { mode } = await stat(path);
  const isHanded = handed !== undefined && resolve(dirname(path)) === resolve(handed);
  if (mode & (isHanded ? 0o007 : 0o077))
    throw new Error(`${path}: others may read this file of private keys (mode 600)`);
  return openKeys(parse(await readFile(path, 'utf8'), path), openKeyInNode);
}

/**
 * @param {import('node:http').IncomingMessage} incoming
 * @param {import('node:http').ServerResponse} outgoing
 * @param {import('./handler.js').HandlerDeps} deps
 */
async function serve(incoming, outgoing, deps) {
  const { method = 'GET', url = '/' } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    if (typeof value === 'string') headers.set(name, value);
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? await bodyOf(incoming) : null;
  const request = new Request(new URL(url, deps.base), {
    method,
    headers,
    body: /** @type {BodyInit | null} */ (/** @type {unknown} */ (body)),
  });
  const response = await handle(request, deps);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(method === 'HEAD' ? undefined : Buffer.from(await response.arrayBuffer()));
}

/**
 * Reads a body, of which no more is kept than tells that it is too long.
 * @param {import('node:http').IncomingMessage} incoming
 * @returns {Promise<Buffer>}
 */
async function bodyOf(incoming) {
  /** @type {Buffer[]} */
  const pieces = [];
  let size = 0;
  for await (const piece of incoming) {
    if (size <= BUNDLE_SIZE_MAX) pieces.push(piece);
    size += piece.length;
  }
  return Buffer.concat(pieces);
}
