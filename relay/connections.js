// SPDX-License-Identifier: Apache-2.0
// Limits of a node:http server's connections. Shared by the relay and the Node edge.
//
// A connection is "busy" from the moment its whole request has arrived until the answer has gone;
// else it is "waiting": for a request's headers, for its body, or idle. Whoever is slow waits. When
// all places are taken, a connection that has waited longest is closed for the new one. So a crowd
// of slow connections pushes out itself, and an honest sender, who waits for milliseconds, finds a
// place. Connections that were answered once and those that never were have half of the places
// each, so that neither pushes out the other. Deadlines for headers and bodies are the server's own
// (node:http), but it has none for a connection that sends nothing at all.
//
// Connections that have shown a valid token are apart: they are never closed for others, up to a
// number kept for them, and an address's limit does not count them.

import { BlockList, isIP } from 'node:net';
import { networkOf } from './buckets.js';
import { gauge } from './exposition.js';
import { OneAnswer, oneRequest } from './one_request.js';

/**
 * @typedef {object} ConnectionLimits
 * @property {number} connections  without a token, at once
 * @property {number} perAddress  of those, from one address, of IPv6 from one /64
 * @property {number} reserved  places for connections that have shown a token
 * @property {number} headersMs  time limit for a request's headers
 * @property {number} bodyMs  time limit for a request's body
 * @property {number} idleMs  how long a connection may wait between requests
 * @property {string[]} proxies  addresses and networks (`10.0.0.0/8`) without a limit of their own
 *
 * @typedef {import('node:net').Socket} Socket
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 */

/** Loopback and private networks: where a proxy of one's own is. */
export const PRIVATE_NETWORKS = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

/** Bytes of memory of one connection with its parser and a request's headers, at most. */
export const CONNECTION_BYTES = 40 << 10;

const SWEEP_MS = 500; // how often deadlines are looked at
const END_MS = 3000;
const HEADER_BYTES = 8 << 10;
const HEADERS_MAX = 64;

/**
 * Returns the options of node:http's createServer that hold the deadlines, and connections to one
 * request at a time.
 * @param {ConnectionLimits} limits
 */
export const serverOptions = ({ headersMs, bodyMs, idleMs }) => ({
  headersTimeout: headersMs,
  requestTimeout: headersMs + bodyMs,
  keepAliveTimeout: idleMs,
  connectionsCheckingInterval: SWEEP_MS,
  maxHeaderSize: HEADER_BYTES,
  ...oneRequest,
});

/**
 * Returns a test of whether an address is in one of the networks.
 * @param {string[]} networks
 * @returns {(address: string) => boolean} throws for what is no network
 */
export function networks(networks) {
  const list = new BlockList();
  for (const network of networks) {
    const [address, bits, ...more] = network.split('/');
    const version = isIP(address);
    const most = version === 6 ? 128 : 32;
    const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
    if (version === 0 || more.length > 0 || prefix < 0 || prefix > most)
      throw new Error(`${JSON.stringify(network)} is no address or network`);
    list.addSubnet(address, prefix, version === 6 ? 'ipv6' : 'ipv4');
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
    return isIP(plain) !== 0 && list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  };
}

/**
 * Returns a reader of a request's address: the connection's, or what a trusted proxy says in its
 * header. Null if a proxy says nothing, because a proxy's own address is everybody's.
 * @param {string[]} proxies
 * @param {string | null} header  whose last element is the address
 * @returns {(incoming: IncomingMessage) => string | null}
 */
export function addressReader(proxies, header) {
  const isProxy = networks(proxies);
  return ({ socket, headers }) => {
    const { remoteAddress = '' } = socket;
    if (!isProxy(remoteAddress)) return remoteAddress;
    const said = header === null ? undefined : headers[header];
    const last = (Array.isArray(said) ? said.join() : (said ?? '')).split(',').at(-1)?.trim();
    return last || null;
  };
}

/** The connections of one server. */
export class Connections {
  #limits;
  #isProxy;
  /**
   * Waiting connections that were never answered, in the order in which they began to wait.
   * @type {Set<Socket>}
   */
  #fresh = new Set();
  /** Waiting connections that were answered before, in the same order. @type {Set<Socket>} */
  #known = new Set();
  /** @type {Set<Socket>} */ #busy = new Set();
  /** Those that have shown a token. @type {Set<Socket>} */ #trusted = new Set();
  /** Connections without a token by network. @type {Map<string, number>} */ #byAddress = new Map();
  /** The network that each one of #byAddress counts for. @type {Map<Socket, string>} */ #addresses =
    new Map();
  /** When a connection must have sent headers, or a body. @type {Map<Socket, number>} */ #deadlines =
    new Map();
  /** @type {ReturnType<typeof setInterval> | undefined} */ #timer;
  /** Connections that were closed for want of a place. */ closed = 0;

  /** @param {ConnectionLimits} limits */
  constructor(limits) {
    this.#limits = limits;
    this.#isProxy = networks(limits.proxies);
  }

  /** Connections that are open, and those of them that have shown a token. */
  get counts() {
    return {
      open: this.#fresh.size + this.#known.size + this.#busy.size + this.#trusted.size,
      trusted: this.#trusted.size,
    };
  }

  /** @param {string} prefix  of the names @returns {import('./exposition.js').Metric[]} */
  metrics(prefix) {
    return [
      gauge(`${prefix}_connections`, 'Open connections.', this.counts.open),
      {
        name: `${prefix}_connections_closed_total`,
        type: 'counter',
        help: 'Connections closed since the start for want of a place.',
        samples: [[{}, this.closed]],
      },
    ];
  }

  /** Watches a server. @param {import('node:http').Server} server */
  watch(server) {
    server.maxHeadersCount = HEADERS_MAX;
    server.on('connection', (socket) => this.#opened(socket));
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  /**
   * Stops a server: what is under way has a few seconds. node:http looks at no deadline any more
   * once it is closing, so a slow connection would keep the process for ever.
   * @param {import('node:http').Server} server
   */
  async end(server) {
    const timer = setTimeout(() => server.closeAllConnections(), END_MS);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeIdleConnections();
    });
    clearTimeout(timer);
    clearInterval(this.#timer);
  }

  /** Closes connections that have sent nothing in time. */
  #sweep() {
    const now = performance.now();
    for (const [socket, deadline] of this.#deadlines) if (now > deadline) socket.destroy();
  }

  /** @param {Socket} socket */
  #opened(socket) {
    socket.once('close', () => this.#gone(socket));
    const address = socket.remoteAddress ?? '';
    const open = this.#fresh.size + this.#known.size + this.#busy.size;
    if (open >= this.#limits.connections && !this.#makeRoom()) return this.#close(socket);
    if (!this.#isProxy(address) && !this.#countAddress(socket, networkOf(address)))
      return this.#close(socket);
    this.#fresh.add(socket);
    this.#deadlines.set(socket, performance.now() + this.#limits.headersMs);
  }

  /** Closes a connection that has waited longest. Returns false if all are busy. */
  #makeRoom() {
    const { connections, reserved } = this.#limits;
    const [first, other] =
      this.#fresh.size > connections / 2 ? [this.#fresh, this.#known] : [this.#known, this.#fresh];
    const [oldest] = first.size > 0 ? first : other;
    // Requests that are being answered keep their places. A few more connections may come meanwhile,
    // so that one with a token can show it.
    if (oldest === undefined) return this.#busy.size < connections + reserved;
    this.#close(oldest);
    return true;
  }

  /** @param {Socket} socket @param {string} network */
  #countAddress(socket, network) {
    const n = this.#byAddress.get(network) ?? 0;
    if (n >= this.#limits.perAddress) return false;
    this.#byAddress.set(network, n + 1);
    this.#addresses.set(socket, network);
    return true;
  }

  /** @param {Socket} socket */
  #uncountAddress(socket) {
    const network = this.#addresses.get(socket);
    if (network === undefined) return;
    this.#addresses.delete(socket);
    const n = (this.#byAddress.get(network) ?? 1) - 1;
    if (n === 0) this.#byAddress.delete(network);
    else this.#byAddress.set(network, n);
  }

  /** @param {Socket} socket */
  #close(socket) {
    this.closed++;
    this.#gone(socket);
    socket.destroy();
  }

  /** @param {Socket} socket */
  #gone(socket) {
    this.#fresh.delete(socket);
    this.#known.delete(socket);
    this.#busy.delete(socket);
    this.#trusted.delete(socket);
    this.#deadlines.delete(socket);
    this.#uncountAddress(socket);
  }

  /**
   * Follows one request, from its headers to the end of its answer.
   * @param {IncomingMessage} incoming
   * @param {ServerResponse} outgoing
   */
  follow(incoming, outgoing) {
    const { socket } = incoming;
    this.#deadlines.delete(socket); // from here on the server's own
    const arrived = () => {
      if (this.#fresh.delete(socket) || this.#known.delete(socket)) this.#busy.add(socket);
    };
    if (incoming.complete) arrived();
    else {
      incoming.once('end', arrived);
      for (const waiting of [this.#fresh, this.#known])
        if (waiting.delete(socket)) waiting.add(socket); // it waits anew, for its body
    }
    const gone = () => {
      if (this.#busy.delete(socket) && !socket.destroyed) this.#known.add(socket);
    };
    if (outgoing instanceof OneAnswer) outgoing.gone = gone;
    else outgoing.once('close', gone);
  }

  /**
   * Counts a connection among those that have shown a token, if there is a place among them.
   * @param {Socket} socket
   */
  trust(socket) {
    if (this.#trusted.size >= this.#limits.reserved || socket.destroyed) return;
    this.#gone(socket);
    this.#trusted.add(socket);
  }
}
