// SPDX-License-Identifier: Apache-2.0
// Posts sealed requests to gateways under Node, over connections that are kept, with one request at a
// time on each. fetch takes ten times the processor time. A request that fails is not sent again:
// whether the gateway has read it, nobody knows; the device keeps its report and tries later.

import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { headersOf } from './handler.js';
import { AnswerReader } from './http_answer.js';

/**
 * @typedef {import('./handler.js').Route} Route
 * @typedef {import('./handler.js').Said} Said
 * @typedef {import('node:net').Socket} Socket
 *
 * @typedef {{take: (bytes: number) => void}} Taker
 *
 * @typedef {object} Target  where a route's requests go
 * @property {() => Socket} connect
 * @property {string} head  of each request, up to its length
 * @property {Connection[]} idle  the one that was used last is the last
 */

const JOINED_MAX = 16_384; // bytes of a body that is copied behind its head, for one write
const IDLE_MS = 4000; // less than servers usually wait
const IDLE_MAX_MS = 60_000;
/** How much earlier than the gateway a connection is closed here. A request may be under way then. */
const EARLIER_MS = 1000;
const SWEEP_MS = 500;

/** Says of the program what fetch said of itself, and nothing of a device. */
const OWN_FIELDS = 'Accept: */*\r\nAccept-Encoding: identity\r\nUser-Agent: shoal-relay\r\n';

export class GatewayClient {
  /** Requests that may be under way besides. */ #free;
  /** @type {Set<Exchange>} */ #line = new Set();
  /** Those of a configuration that is replaced go away with it. @type {WeakMap<Route, Target>} */
  #targets = new WeakMap();
  /** @type {Set<Connection>} */ #connections = new Set();
  #timer = setInterval(() => this.#sweep(), SWEEP_MS);

  /** @param {number} connections  the most requests at once; the others wait in line */
  constructor(connections) {
    this.#free = connections;
    this.#timer.unref();
  }

  /**
   * Posts a body to a route's gateway.
   * @param {Route} route
   * @param {Uint8Array} body
   * @param {number} maxBytes  of the answer
   * @param {Taker} held  is told of the answer's bytes, and may throw
   * @returns {import('./handler.js').Asked}
   */
  post(route, body, maxBytes, held) {
    const exchange = new Exchange(this.#targetOf(route), body, maxBytes, held);
    this.#line.add(exchange);
    this.#next();
    return { answer: exchange.answer, abort: () => this.#abort(exchange) };
  }

  /** Closes all connections. */
  close() {
    clearInterval(this.#timer);
    for (const connection of this.#connections) connection.destroy();
  }

  /** @param {Route} route */
  #targetOf(route) {
    let target = this.#targets.get(route);
    if (target === undefined) this.#targets.set(route, (target = targetOf(route)));
    return target;
  }

  /** @param {Exchange} exchange */
  #abort(exchange) {
    this.#line.delete(exchange);
    exchange.fail(new Error('given up'));
  }

  #next() {
    for (const exchange of this.#line) {
      if (this.#free === 0) return;
      this.#free--;
      this.#line.delete(exchange);
      this.#send(exchange);
    }
  }

  /** @param {Exchange} exchange */
  #send(exchange) {
    const { target } = exchange;
    let connection = target.idle.pop();
    while (connection !== undefined && !connection.isFresh(performance.now())) {
      connection.destroy();
      connection = target.idle.pop();
    }
    if (connection === undefined) {
      try {
        connection = new Connection(target);
      } catch (error) {
        exchange.fail(/** @type {Error} */ (error));
        return this.#ended();
      }
      const opened = connection;
      this.#connections.add(opened);
      opened.onClose = () => this.#connections.delete(opened);
    }
    connection.send(exchange, () => this.#ended());
  }

  #ended() {
    this.#free++;
    this.#next();
  }

  #sweep() {
    const now = performance.now();
    for (const connection of this.#connections)
      if (connection.isIdle && !connection.isFresh(now)) connection.destroy();
  }
}

/** @param {Route} route @returns {Target} */
function targetOf(route) {
  const { protocol, hostname, port, host, pathname, search } = new URL(route.gateway);
  const name = hostname.replace(/^\[(.*)\]$/, '$1');
  const isTls = protocol === 'https:';
  const place = { host: name, port: Number(port || (isTls ? 443 : 80)) };
  const fields = Object.entries(headersOf(route)).map(([field, value]) => `${field}: ${value}\r\n`);
  /** @type {Buffer | undefined} */
  let session; // of TLS, which the next connection resumes
  const connect = () => {
    if (!isTls) return connectPlain(place);
    const servername = isIP(name) ? {} : { servername: name };
    const socket = connectTls({ ...place, ...servername, session, ALPNProtocols: ['http/1.1'] });
    return socket.on('session', (fresh) => (session = fresh));
  };
  const head = `POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${OWN_FIELDS}${fields.join('')}Content-Length: `;
  return { connect, head, idle: [] };
}

/** One request and its answer. */
class Exchange {
  #maxBytes;
  #held;
  /** @type {Buffer[]} */ #pieces = [];
  #size = 0;
  #isOver = false;
  /** @type {(said: Said) => void} */ #resolve = () => {};
  /** @type {(error: Error) => void} */ #reject = () => {};
  /** Breaks the connection. */ stop = () => {};
  /** @type {Promise<Said>} */
  answer = new Promise((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  /** @param {Target} target @param {Uint8Array} body @param {number} maxBytes @param {Taker} held */
  constructor(target, body, maxBytes, held) {
    this.target = target;
    this.body = body;
    this.#maxBytes = maxBytes;
    this.#held = held;
  }

  /** Takes bytes of the answer's body. Throws if there is no room for them. @param {Buffer} bytes */
  take(bytes) {
    this.#size += bytes.length;
    if (this.#size > this.#maxBytes) throw TOO_LONG;
    this.#held.take(bytes.length);
    this.#pieces.push(bytes);
  }

  /** The answer is whole, or too long. @param {import('./http_answer.js').Head} head */
  end({ status, fields }) {
    this.#isOver = true;
    const coding = fields.get('content-encoding') ?? 'identity'; // no other was asked for
    const isBody = this.#size <= this.#maxBytes && coding.toLowerCase() === 'identity';
    const [first] = this.#pieces;
    const body = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    const get = (/** @type {string} */ name) => fields.get(name) ?? null;
    this.#resolve({ status, headers: { get }, body: isBody ? body : null });
  }

  /** @param {Error} error */
  fail(error) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reject(error);
    this.stop();
  }
}

const TOO_LONG = new Error('the answer is too long');

/** One connection to a gateway. */
class Connection {
  #target;
  #socket;
  /** @type {Exchange | null} */ #exchange = null;
  /** @type {AnswerReader | null} */ #reader = null;
  #done = () => {};
  #until = Infinity;
  onClose = () => {};

  /** @param {Target} target */
  constructor(target) {
    this.#target = target;
    this.#socket = target.connect();
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (bytes) => this.#read(/** @type {any} */ (bytes)));
    this.#socket.on('end', () => this.#end());
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the connection broke')));
  }

  get isIdle() {
    return this.#exchange === null;
  }

  /** May a request be sent? @param {number} now */
  isFresh(now) {
    return now < this.#until && this.#socket.writable && !this.#socket.readableEnded;
  }

  destroy() {
    this.#socket.destroy();
  }

  /** @param {Exchange} exchange @param {() => void} done  is called once */
  send(exchange, done) {
    this.#exchange = exchange;
    this.#done = done;
    this.#reader = new AnswerReader((bytes) => exchange.take(bytes));
    exchange.stop = () => this.#fail(new Error('given up'));
    const { body } = exchange;
    const head = `${this.#target.head}${body.length}\r\n\r\n`;
    if (body.length <= JOINED_MAX) {
      const message = Buffer.allocUnsafe(head.length + body.length);
      message.write(head, 'latin1');
      message.set(body, head.length);
      this.#socket.write(message);
      return;
    }
    this.#socket.cork();
    this.#socket.write(head, 'latin1');
    this.#socket.write(body);
    this.#socket.uncork();
  }

  /** @param {Buffer} bytes */
  #read(bytes) {
    if (this.#reader === null) return this.destroy(); // nobody asked
    try {
      this.#reader.take(bytes);
    } catch (error) {
      const { head } = this.#reader;
      if (error === TOO_LONG && head !== null) this.#exchange?.end(head);
      return this.#fail(/** @type {Error} */ (error));
    }
    if (this.#reader.isWhole) this.#finish(this.#reader);
  }

  /** The gateway sends nothing more. */
  #end() {
    if (this.#reader?.end()) this.#finish(this.#reader);
    else this.#fail(new Error('the connection ended'));
  }

  /** @param {AnswerReader} reader */
  #finish({ head, keeps }) {
    const exchange = this.#exchange;
    if (exchange === null || head === null) return;
    this.#exchange = this.#reader = null;
    this.#until = performance.now() + idleMs(head.fields.get('keep-alive') ?? '');
    // An answer that came before the whole request was sent leaves the rest of it behind.
    const isKept = keeps && this.#socket.writableLength === 0 && this.isFresh(performance.now());
    if (isKept) this.#target.idle.push(this);
    else this.destroy();
    exchange.end(head);
    this.#done();
  }

  /** @param {Error} error */
  #fail(error) {
    const exchange = this.#exchange;
    this.#exchange = this.#reader = null;
    this.destroy();
    this.onClose();
    const at = this.#target.idle.indexOf(this);
    if (at >= 0) this.#target.idle.splice(at, 1);
    if (exchange === null) return;
    exchange.fail(error);
    this.#done();
  }
}

/** How long a connection may wait for its next request. @param {string} field  Keep-Alive */
function idleMs(field) {
  const [, seconds] = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i.exec(field) ?? [];
  return seconds === undefined
    ? IDLE_MS
    : Math.min(IDLE_MAX_MS, 1000 * Number(seconds) - EARLIER_MS);
}
