// SPDX-License-Identifier: Apache-2.0
// One request of node:http, as the handler sees it, and its answer. The handler is given only the
// headers that it needs, so that an address or a cookie cannot leak from it.

import { readerOf } from 'shoal-relay/body-reader';
import { OneAnswer } from 'shoal-relay/one-request';
import { wholeBody } from 'shoal-relay/when-read';
import { answer } from './handler.js';

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 * @typedef {import('./incoming.js').Incoming} Incoming
 */

const HEADERS = ['content-type', 'content-length', 'origin', 'idempotency-key', 'authorization'];
const LINGER_MS = 1000;

/**
 * @param {IncomingMessage} incoming
 * @param {ServerResponse} outgoing
 * @param {import('./handler.js').HandlerDeps} deps
 * @param {Pick<Incoming, 'wait' | 'trusted'>} limits
 */
export async function serve(incoming, outgoing, deps, limits) {
  const { status, headers, body } = await answer(new NodeRequest(incoming, limits), deps);
  if (body === null) {
    outgoing.writeHead(status, headers).end();
    return;
  }
  headers['Content-Length'] = String(Buffer.byteLength(body)); // with a length head and body are one write
  if (incoming.complete) {
    outgoing.writeHead(status, headers);
    if (incoming.method === 'HEAD') outgoing.end();
    else if (outgoing instanceof OneAnswer) outgoing.endWith(body);
    else outgoing.end(body);
    return;
  }
  // The body was refused half-way. Closing at once would reset the connection before the answer is
  // read, so the rest is read and dropped for a moment first.
  headers.Connection = 'close';
  outgoing.writeHead(status, headers);
  outgoing.write(body);
  incoming.resume();
  const timer = setTimeout(() => outgoing.end(), LINGER_MS);
  incoming.once('close', () => clearTimeout(timer));
  incoming.once('end', () => outgoing.end());
}

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
 * A request without Node's Request, which would cost more than all other work on it. It is a class,
 * because objects put together from others cost microseconds each.
 * @implements {Incoming}
 */
class NodeRequest {
  #incoming;

  /**
   * @param {IncomingMessage} incoming
   * @param {Pick<Incoming, 'wait' | 'trusted'>} limits
   */
  constructor(incoming, { wait, trusted }) {
    this.#incoming = incoming;
    const { method = 'GET' } = incoming;
    this.method = method;
    this.url = urlOf(incoming);
    this.headers = new NodeHeaders(incoming);
    const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
    this.body = hasBody ? { getReader: () => readerOf(incoming) } : null;
    this.wait = wait;
    this.trusted = trusted;
  }

  arrayBuffer() {
    return bytesOf(this.#incoming);
  }

  whole() {
    return wholeBody(this.#incoming);
  }
}

/** @param {IncomingMessage} incoming */
function urlOf({ url = '/', headers: { host = 'localhost' } }) {
  if (/^(\/[\w-]+)+$/.test(url) && /^[\w.-]+(:\d+)?$/.test(host)) return `http://${host}${url}`; // the usual URLs need no parsing
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
