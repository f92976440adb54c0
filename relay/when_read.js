// SPDX-License-Identifier: Apache-2.0
// Begins with a request of node:http when all of it may have arrived, for relay and edge.

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 */

/**
 * Returns a listener for a server's requests. node:http calls it between the headers and the body;
 * `begin` follows when all sockets of this turn of the event loop have been read. All of a request
 * that came in one packet is there then, and needs neither listeners nor a deadline. A request whose
 * connection broke meanwhile is dropped: it would wait for a body until its deadline, uncounted.
 * @param {(incoming: IncomingMessage, outgoing: ServerResponse) => void} begin
 * @returns {(incoming: IncomingMessage, outgoing: ServerResponse) => void}
 */
export function whenRead(begin) {
  /** @type {[IncomingMessage, ServerResponse][]} */
  let waiting = [];
  const beginAll = () => {
    const all = waiting;
    waiting = [];
    for (const [incoming, outgoing] of all)
      if (!incoming.socket.destroyed) begin(incoming, outgoing);
  };
  return (incoming, outgoing) => {
    if (waiting.push([incoming, outgoing]) === 1) setImmediate(beginAll);
  };
}

/**
 * Returns the body if all of it has arrived, as that of a request that came in one packet has.
 * @param {IncomingMessage} incoming
 * @returns {Uint8Array | null}
 */
export function wholeBody(incoming) {
  if (!incoming.complete || incoming.destroyed || incoming.readableLength === 0) return null;
  const bytes = incoming.read();
  return bytes instanceof Uint8Array ? bytes : null;
}
