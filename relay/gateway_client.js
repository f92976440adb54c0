// SPDX-License-Identifier: Apache-2.0
// Posts sealed requests to gateways under Node, over connections that are kept, with one request at a
// time on each. fetch takes several times the processor time. A request that fails is not sent again:
// whether the gateway has read it, nobody knows; the device keeps its report and tries later.

import { Agent as PlainAgent, request as requestPlain } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import { headersOf } from './handler.js';

/**
 * @typedef {import('./handler.js').Route} Route
 * @typedef {import('./handler.js').Said} Said
 * @typedef {import('node:http').IncomingMessage} Answer
 * @typedef {import('node:net').Socket} Socket
 *
 * @typedef {{take: (bytes: number) => void}} Taker
 *
 * @typedef {object} Target  where a route's requests go
 * @property {typeof requestPlain} request
 * @property {import('node:http').RequestOptions} options
 */

const IDLE_MS = 4000; // less than servers usually wait
const IDLE_MAX_MS = 60_000;
/** How much earlier than the gateway a connection is closed here. A request may be under way then. */
const EARLIER_MS = 1000;

/** Says of the program what fetch said of itself, and nothing of a device. */
const OWN_FIELDS = {
  Accept: '*/*',
  'Accept-Encoding': 'identity',
  'User-Agent': 'shoal-relay',
};

/** How long each connection may wait for its next request. @type {WeakMap<object, number>} */
const idle = new WeakMap();

/** What came when nobody had asked. @this {Socket} */
function onStray() {
  this.destroy();
}

/**
 * Makes an agent keep connections for as long as their gateway said, and close those on which bytes come
 * while no request is under way: else they would be read as the next one's answer.
 * @template {PlainAgent} A @param {A} agent
 * @returns {A}
 */
function keeping(agent) {
  const reuse = agent.reuseSocket.bind(agent);
  agent.keepSocketAlive = (/** @type {any} */ socket) => {
    const wait = idle.get(socket) ?? 0;
    // An answer that came before the whole request was sent leaves the rest of it behind.
    if (wait <= 0 || socket.writableLength > 0 || socket.readableLength > 0) return false;
    socket.setTimeout(wait);
    socket.unref();
    socket.on('data', onStray).resume();
    return true;
  };
  agent.reuseSocket = (/** @type {any} */ socket, request) => {
    socket.off('data', onStray).setTimeout(0);
    reuse(socket, request);
  };
  return agent;
}

export class GatewayClient {
  /** Requests that may be under way besides. */ #free;
  /** @type {Set<Exchange>} */ #line = new Set();
  /** Those of a configuration that is replaced go away with it. @type {WeakMap<Route, Target>} */
  #targets = new WeakMap();
  #plain = keeping(new PlainAgent({ keepAlive: true }));
  #tls = keeping(new TlsAgent({ keepAlive: true, ALPNProtocols: ['http/1.1'] }));

  /** @param {number} connections  the most requests at once; the others wait in line */
  constructor(connections) {
    this.#free = connections;
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
    this.#plain.destroy();
    this.#tls.destroy();
  }

  /** @param {Route} route */
  #targetOf(route) {
    let target = this.#targets.get(route);
    if (target === undefined) this.#targets.set(route, (target = this.#makeTarget(route)));
    return target;
  }

  /** @param {Route} route @returns {Target} */
  #makeTarget(route) {
    const { protocol, hostname, port, pathname, search } = new URL(route.gateway);
    const isTls = protocol === 'https:';
    const options = {
      method: 'POST',
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port || (isTls ? 443 : 80),
      path: `${pathname}${search}`,
      agent: isTls ? this.#tls : this.#plain,
      headers: { ...OWN_FIELDS, ...headersOf(route) },
    };
    return { request: isTls ? requestTls : requestPlain, options };
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
      exchange.send(() => {
        this.#free++;
        this.#next();
      });
    }
  }
}

/** One request and its answer. */
class Exchange {
  #target;
  #body;
  #maxBytes;
  #held;
  /** @type {import('node:http').ClientRequest | null} */ #request = null;
  /** @type {(said: Said) => void} */ #resolve = () => {};
  /** @type {(error: Error) => void} */ #reject = () => {};
  /** Gives the place back, once. */ #done = () => {};
  #isOver = false;
  /** @type {Promise<Said>} */
  answer = new Promise((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  /** @param {Target} target @param {Uint8Array} body @param {number} maxBytes @param {Taker} held */
  constructor(target, body, maxBytes, held) {
    this.#target = target;
    this.#body = body;
    this.#maxBytes = maxBytes;
    this.#held = held;
  }

  /** @param {() => void} done  is called once */
  send(done) {
    this.#done = done;
    const { request, options } = this.#target;
    const headers = { ...options.headers, 'Content-Length': this.#body.length };
    try {
      this.#request = request({ ...options, headers });
    } catch (error) {
      return this.fail(/** @type {Error} */ (error));
    }
    this.#request
      .on('response', (answer) => this.#read(answer))
      .on('error', (error) => this.fail(error))
      .on('upgrade', (_, socket) => socket.destroy())
      .on('close', () => this.fail(new Error('the connection broke')))
      .end(this.#body);
  }

  /** @param {Answer} answer */
  #read(answer) {
    idle.set(answer.socket, idleMs(String(answer.headers['keep-alive'] ?? '')));
    /** @type {Buffer[]} */
    const pieces = [];
    let size = 0;
    answer.on('data', (/** @type {Buffer} */ bytes) => {
      size += bytes.length;
      if (size > this.#maxBytes) return this.#end(answer, null, true);
      try {
        this.#held.take(bytes.length);
      } catch (error) {
        return this.fail(/** @type {Error} */ (error));
      }
      pieces.push(bytes);
    });
    answer.on('error', (error) => this.fail(error));
    answer.on('end', () => {
      const coding = String(answer.headers['content-encoding'] ?? 'identity'); // no other was asked for
      const isPlain = coding.toLowerCase() === 'identity';
      this.#end(answer, isPlain ? Buffer.concat(pieces) : null, false);
    });
  }

  /** The answer is whole, or too long. @param {Answer} answer @param {Buffer | null} body @param {boolean} breaks */
  #end(answer, body, breaks) {
    if (this.#isOver) return;
    const get = (/** @type {string} */ name) => {
      const value = answer.headers[name];
      return Array.isArray(value) ? value.join(', ') : (value ?? null);
    };
    this.#resolve({ status: answer.statusCode ?? 0, headers: { get }, body });
    if (breaks) this.#request?.destroy();
    this.#over();
  }

  /** @param {Error} error */
  fail(error) {
    if (this.#isOver) return;
    this.#reject(error);
    this.#request?.destroy();
    this.#over();
  }

  #over() {
    this.#isOver = true;
    setImmediate(this.#done); // when the connection can be used again
    this.#done = () => {};
  }
}

/** How long a connection may wait for its next request. @param {string} field  Keep-Alive */
function idleMs(field) {
  const [, seconds] = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i.exec(field) ?? [];
  return seconds === undefined
    ? IDLE_MS
    : Math.min(IDLE_MAX_MS, 1000 * Number(seconds) - EARLIER_MS);
}
