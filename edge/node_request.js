// SPDX-License-Identifier: Apache-2.0
// One request of node:http, as the handler sees it, and its answer. The handler is given only the
// headers that it needs, so that an address or a cookie cannot leak from it.

import { readerOf } from 'shoal-relay/body-reader';
import { answer } from './handler.js';

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 */

const HEADERS = ['content-type', 'content-length', 'origin', 'idempotency-key', 'authorization'];
const LINGER_MS = 1000;

/**
 * @param {IncomingMessage} incoming
 * @param {ServerResponse} outgoing
 * @param {import('./handler.js').HandlerDeps} deps
 * @param {Pick<import('./incoming.js').Incoming, 'wait' | 'trusted'>} limits
 */
export async function serve(incoming, outgoing, deps, limits) {
  const { status, headers, body } = await answer({ ...requestOf(incoming), ...limits }, deps);
  if (body === null) {
    outgoing.writeHead(status, headers).end();
    return;
  }
  if (incoming.complete) {
    outgoing.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }); // with a length head and body are one write
    outgoing.end(incoming.method === 'HEAD' ? undefined : body);
    return;
  }
  // The body was refused half-way. Closing at once would reset the connection before the answer is
  // read, so the rest is read and dropped for a moment first.
  outgoing.writeHead(status, {
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  });
  outgoing.write(body);
  incoming.resume();
  const timer = setTimeout(() => outgoing.end(), LINGER_MS);
  incoming.once('close', () => clearTimeout(timer));
  incoming.once('end', () => outgoing.end());
}

/**
 * Reads a request without Node's Request, which would cost more than all other work on it.
 * @param {IncomingMessage} incoming
 * @returns {import('./incoming.js').Incoming}
 */
function requestOf(incoming) {
  const method = incoming.method ?? 'GET';
  const headers = {
    /** @param {string} name */
    get(name) {
      const value = HEADERS.includes(name) ? incoming.headers[name] : undefined;
      return typeof value === 'string' ? value : null;
    },
  };
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
  const body = hasBody ? { getReader: () => readerOf(incoming) } : null;
  const arrayBuffer = () => bytesOf(incoming);
  return {
    method,
    url: urlOf(incoming),
    headers,
    body,
    arrayBuffer,
    whole: () => wholeOf(incoming),
  };
}

/**
 * Returns the body if all of it has arrived, as that of a report that came in one packet has.
 * @param {IncomingMessage} incoming
 */
function wholeOf(incoming) {
  if (!incoming.complete || incoming.destroyed || incoming.readableLength === 0) return null;
  const bytes = incoming.read();
  return bytes instanceof Uint8Array ? bytes : null;
}

/** @param {IncomingMessage} incoming */
function urlOf({ url = '/', headers: { host = 'localhost' } }) {
  if (url === '/v1/reports' && /^[\w.-]+(:\d+)?$/.test(host)) return `http://${host}${url}`; // the usual URL needs no parsing
  return new URL(url, URL.canParse(`http://${host}`) ? `http://${host}` : 'http://localhost').href;
}

/**
 * Returns the whole body at once, for a request with a stated length, which bounds it.
 * @param {IncomingMessage} incoming
 * @returns {Promise<Uint8Array>}
 */
function bytesOf(incoming) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const pieces = [];
    incoming.on('data', (piece) => pieces.push(piece));
    incoming.once('end', () => resolve(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)));
    incoming.once('close', () => incoming.complete || reject(new Error('the connection broke')));
    incoming.once('error', reject);
  });
}
