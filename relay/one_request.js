// SPDX-License-Identifier: Apache-2.0
// One request at a time on a connection of a node:http server. A chunk of 64 KiB holds some 2,500
// small requests, and Node reads all of them before any timer runs, also when the connection was
// destroyed meanwhile. A few connections that send so keep everybody else waiting. Browsers and
// proxies wait for an answer before they ask again. So a connection with a request before its
// answer has gone is closed, and the rest of the chunk is not read.

import { IncomingMessage, ServerResponse } from 'node:http';

/** @typedef {import('node:net').Socket} Socket */

/** Connections whose answer has not gone yet. @type {WeakSet<Socket>} */
const answering = new WeakSet();

/**
 * Is this Node itself? Its answers keep their head as a string until it is written, and its sockets are
 * faster than its fetch.
 */
export const IS_NODE = process.versions.bun === undefined && process.versions.deno === undefined;

/**
 * Returns bytes as a string of one byte a character, as that of a head is; null if text has others.
 * @param {string | Uint8Array} body
 */
function oneByteText(body) {
  if (typeof body === 'string') return Buffer.byteLength(body) === body.length ? body : null;
  return Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
}

/** A request, which node:http makes when its headers are read. */
class OneRequest extends IncomingMessage {
  /** @param {Socket} socket */
  constructor(socket) {
    super(socket);
    if (!answering.has(socket)) return;
    socket.destroy();
    // Node stops to read where a request takes over its connection. It is asked to by nothing else.
    Object.defineProperty(this, 'upgrade', { get: () => true, set() {} });
  }
}

/**
 * An answer, which node:http makes with each request, also for those that it answers itself. It
 * overrides emit, because two listeners of each answer would cost microseconds.
 * @extends {ServerResponse<IncomingMessage>}
 */
export class OneAnswer extends ServerResponse {
  /** Called when the answer has gone, or its connection broke. @type {(() => void) | null} */ gone =
    null;

  /** @param {IncomingMessage} incoming */
  constructor(incoming) {
    super(incoming);
    this.asker = incoming.socket;
    answering.add(this.asker);
  }

  /**
   * Ends an answer whose head was written with writeHead and a Content-Length. node:http would write
   * head, body and an empty piece as three; joined they are one write, a tenth of the whole cost.
   * @param {string | Uint8Array} body
   */
  endWith(body) {
    const own = /** @type {{_header?: unknown}} */ (/** @type {unknown} */ (this));
    const text = IS_NODE && typeof own._header === 'string' ? oneByteText(body) : null;
    if (text === null) return this.end(body);
    own._header += text;
    return this.end();
  }

  /** @param {string | symbol} name @param {unknown[]} rest @returns {boolean} */
  emit(name, ...rest) {
    if (name === 'finish') answering.delete(this.asker); // after the chunk, also if all was written at once
    if (name === 'close') this.gone?.();
    return super.emit(name, ...rest);
  }
}

/**
 * Options of node:http's createServer. Bun makes requests of its own: with other classes it loses
 * their headers, and its server reads one request at a time.
 * @type {{IncomingMessage?: typeof OneRequest, ServerResponse?: typeof ServerResponse}}
 */
export const oneRequest = process.versions.bun
  ? {}
  : {
      IncomingMessage: OneRequest,
      ServerResponse: /** @type {typeof ServerResponse} */ (/** @type {unknown} */ (OneAnswer)),
    };
