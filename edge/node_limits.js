// SPDX-License-Identifier: Apache-2.0
// What the edge on Node takes of connections and of addresses. The limits themselves are those of
// the relay's package, which needs nothing else. Addresses are looked at here and go no further:
// the handler is given a function that says whether to wait.

import { createHmac } from 'node:crypto';
import { Buckets } from 'shoal-relay/buckets';
import { readConnections } from 'shoal-relay/connection-settings';
import { Connections, addressReader, serverOptions } from 'shoal-relay/connections';
import { readRate } from 'shoal-relay/settings';

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 *
 * @typedef {object} NodeLimits
 * @property {import('shoal-relay/connections').ConnectionLimits} connections
 * @property {string | null} addressHeader
 * @property {import('shoal-relay/settings').Rate | null} rate  of an address's reports
 */

const CONNECTIONS = 4096;
const RESERVED = 256; // more than a relay opens at once
const FORGET_EVERY_MS = 30_000;

/**
 * @param {any} json  the configuration
 * @param {number} bodyMs
 * @returns {NodeLimits}
 */
export function readLimits(json, bodyMs) {
  const defaults = { connections: CONNECTIONS, reserved: RESERVED, bodyMs };
  const { limits, addressHeader } = readConnections(json, defaults);
  return { connections: limits, addressHeader, rate: readRate(json.rate ?? null) };
}

/** The limits of one server while it runs. */
export class Guard {
  #connections;
  #addressOf;
  /** @type {Buckets | null} */ #buckets;
  /** @type {ReturnType<typeof setInterval> | undefined} */ #timer;

  /** @param {NodeLimits} limits @param {() => number} now */
  constructor({ connections, addressHeader, rate }, now) {
    this.options = serverOptions(connections);
    this.#connections = new Connections(connections);
    this.#addressOf = addressReader(connections.proxies, addressHeader);
    this.#buckets =
      rate &&
      new Buckets(rate, rate.addresses, {
        now,
        getRandomValues: (bytes) => crypto.getRandomValues(bytes),
        hmac: (key, text) => createHmac('sha256', key).update(text).digest(),
      });
  }

  /** Open connections, and those that were closed for want of a place. */
  metrics() {
    return this.#connections.metrics('shoal_edge');
  }

  /** @param {import('node:http').Server} server */
  watch(server) {
    this.#connections.watch(server);
    this.#timer = setInterval(() => this.#buckets?.forget(), FORGET_EVERY_MS);
    this.#timer.unref();
  }

  /** @param {import('node:http').Server} server */
  async end(server) {
    clearInterval(this.#timer);
    await this.#connections.end(server);
  }

  /**
   * Follows a request, and returns the members that the handler sees of its limits.
   * @param {IncomingMessage} incoming
   * @param {ServerResponse} outgoing
   * @returns {Pick<import('./incoming.js').Incoming, 'wait' | 'trusted'>}
   */
  follow(incoming, outgoing) {
    this.#connections.follow(incoming, outgoing);
    const buckets = this.#buckets;
    return {
      ...(buckets && {
        wait: async () => {
          const address = this.#addressOf(incoming);
          return address === null ? 0 : buckets.take(address);
        },
      }),
      trusted: () => this.#connections.trust(incoming.socket),
    };
  }
}
