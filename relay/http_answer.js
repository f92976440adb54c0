// SPDX-License-Identifier: Apache-2.0
// Reads the answers of HTTP/1.1 on one connection, byte by byte as RFC 9112 has them and no other
// way: what two readers could read differently is an error, after which the connection is closed. So
// no byte of one answer can become part of another. It keeps the few headers that are asked for.

/** The most bytes of an answer's head, of the line before a chunk, and of what follows the last. */
const HEAD_MAX = 16_384;
const LINE_MAX = 1024;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_LINE = Buffer.from('\r\n');
const FIELD = /^([\w!#$%&'*+.^`|~-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*?)[\t ]*$/;
/** Of those that are read, what is there once only. */
const ONCE = ['content-length', 'transfer-encoding', 'content-type', 'retry-after'];

/**
 * @typedef {object} Head
 * @property {number} status
 * @property {Map<string, string>} fields  by lower-case name
 * @property {boolean} keeps  whether another request may follow on the connection
 * @property {number | 'chunked' | 'close'} length  of the body; `close` ends with the connection
 */

/** @param {string} why @returns {never} */
function fail(why) {
  throw new Error(`the gateway's answer: ${why}`);
}

/**
 * Reads a head without its last two line ends.
 * @param {string} text
 * @returns {Head} throws for what is none
 */
export function readHead(text) {
  const [first, ...lines] = text.split('\r\n');
  const [, minor, digits] = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/.exec(first) ?? fail('its status'); // prettier-ignore
  /** @type {Map<string, string>} */
  const fields = new Map();
  for (const line of lines) {
    const [, named, value] = FIELD.exec(line) ?? fail('a header');
    const name = named.toLowerCase();
    const had = fields.get(name);
    if (had !== undefined && ONCE.includes(name)) fail('a header twice');
    fields.set(name, had === undefined ? value : `${had}, ${value}`);
  }
  const status = Number(digits);
  const options = (fields.get('connection') ?? '').toLowerCase().split(/[\t ]*,[\t ]*/);
  return {
    status,
    fields,
    keeps: minor === '1' && !options.includes('close'),
    length: lengthOf(status, fields),
  };
}

/** @param {number} status @param {Map<string, string>} fields @returns {Head['length']} */
function lengthOf(status, fields) {
  const coding = fields.get('transfer-encoding');
  const stated = fields.get('content-length');
  if (coding !== undefined && (stated !== undefined || coding.toLowerCase() !== 'chunked'))
    fail('its length');
  if (stated !== undefined && !/^\d{1,15}$/.test(stated)) fail('its length');
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) return 'chunked';
  return stated === undefined ? 'close' : Number(stated);
}

/** Reads one answer. */
export class AnswerReader {
  #onBody;
  /** Bytes that are not read yet. @type {Buffer} */ #rest = Buffer.alloc(0);
  /** @type {Head | null} */ head = null;
  /** Bytes of the body, or of its chunk, that are to come. */ #left = 0;
  /** What a chunked body goes on with. @type {'size' | 'data' | 'line' | 'trailers'} */ #next =
    'size';
  isWhole = false;

  /** @param {(bytes: Buffer) => void} onBody */
  constructor(onBody) {
    this.#onBody = onBody;
  }

  /** Bytes that follow the answer. */
  get extra() {
    return this.isWhole ? this.#rest.length : 0;
  }

  /** May another request follow on the connection? */
  get keeps() {
    return this.isWhole && this.#rest.length === 0 && this.head !== null && this.head.keeps;
  }

  /** Takes what came. Throws for what is no answer. @param {Buffer} bytes */
  take(bytes) {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (this.head === null) if (!this.#takeHead()) return;
    if (this.isWhole) return;
    if (this.head.length === 'chunked') while (!this.isWhole && this.#takeChunk());
    else this.#takePlain(this.head.length);
  }

  /** The connection ended. Returns whether that ends the answer. */
  end() {
    this.isWhole ||= this.head?.length === 'close';
    return this.isWhole;
  }

  /** @param {number} n */
  #cut(n) {
    const bytes = this.#rest.subarray(0, n);
    this.#rest = this.#rest.subarray(n);
    return bytes;
  }

  /** Passes over interim answers. */
  #takeHead() {
    const end = this.#rest.indexOf(END_OF_HEAD);
    if (end > HEAD_MAX || (end < 0 && this.#rest.length > HEAD_MAX)) fail('a head without an end');
    if (end < 0) return false;
    const head = readHead(this.#cut(end + END_OF_HEAD.length).toString('latin1', 0, end));
    if (head.status === 101) fail('another protocol');
    if (head.status < 200) return this.#rest.length > 0;
    this.head = head;
    if (typeof head.length === 'number') {
      this.#left = head.length;
      this.isWhole = head.length === 0;
    }
    return true;
  }

  /** @param {number | 'close'} length */
  #takePlain(length) {
    const n = length === 'close' ? this.#rest.length : Math.min(this.#left, this.#rest.length);
    if (n > 0) this.#onBody(this.#cut(n));
    if (length === 'close') return;
    this.#left -= n;
    this.isWhole = this.#left === 0;
  }

  /** Returns a line, or null if its end has not come. */
  #line() {
    const end = this.#rest.indexOf(END_OF_LINE);
    if (end > LINE_MAX || (end < 0 && this.#rest.length > LINE_MAX)) fail('a line without an end');
    return end < 0 ? null : this.#cut(end + END_OF_LINE.length).toString('latin1', 0, end);
  }

  /** Returns whether it got on. */
  #takeChunk() {
    if (this.#next === 'data') {
      const n = Math.min(this.#left, this.#rest.length);
      if (n > 0) this.#onBody(this.#cut(n));
      this.#left -= n;
      if (this.#left > 0) return false;
      this.#next = 'line';
      return true;
    }
    const line = this.#line();
    if (line === null) return false;
    if (this.#next === 'size') {
      const [, size] = /^([\da-f]{1,8})(?:;[\t\x20-\x7e\x80-\xff]*)?$/i.exec(line) ?? fail('a chunk'); // prettier-ignore
      this.#left = parseInt(size, 16);
      this.#next = this.#left === 0 ? 'trailers' : 'data';
    } else if (this.#next === 'line') {
      if (line !== '') fail('a chunk');
      this.#next = 'size';
    } else if (line === '') this.isWhole = true;
    else if (!FIELD.test(line)) fail('a trailer');
    return true;
  }
}
