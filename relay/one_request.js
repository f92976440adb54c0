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
 * An answer, which node:http makes with each request, also for those that it answers itself.
 * @extends {ServerResponse<IncomingMessage>}
 */
class OneAnswer extends ServerResponse {
  /** @param {IncomingMessage} incoming */
  constructor(incoming) {
    super(incoming);
    const { socket } = incoming;
    answering.add(socket);
    this.once('finish', () => answering.delete(socket)); // after the chunk, also if all was written at once
  }
}

/**
 * Options of node:http's createServer. Bun makes requests of its own: with other classes it loses their headers, and its server
 * reads one request at a time.
 */
export const oneRequest = process.versions.bun
  ? {}
  : { IncomingMessage: OneRequest, ServerResponse: OneAnswer };
