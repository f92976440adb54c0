// SPDX-License-Identifier: Apache-2.0
// Reads a request's body piece by piece under Node, for relay and edge.

/**
 * Returns a reader of a request's body. Cancelling it leaves the connection open for the answer.
 * @param {import('node:http').IncomingMessage} incoming
 * @returns {import('./handler.js').Reader}
 */
export function readerOf(incoming) {
  let wake = () => {};
  const changed = () => wake();
  for (const event of ['readable', 'end', 'close', 'error']) incoming.on(event, changed);
  const read = async () => {
    for (;;) {
      const value = incoming.read();
      if (value !== null) return { done: false, value };
      if (incoming.readableEnded) return { done: true };
      if (incoming.destroyed) throw new Error('the connection broke');
      await new Promise((resolve) => (wake = () => resolve(undefined)));
    }
  };
  // A listener for "readable" would prevent the rest of the body from being dropped.
  return { read, cancel: async () => incoming.off('readable', changed) };
}
