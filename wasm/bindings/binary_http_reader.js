// SPDX-License-Identifier: Apache-2.0
// Reads binary HTTP messages (RFC 9292) of any writer: with known or indeterminate lengths, padded or
// cut, and checked to the last byte. Depends on binary_http.js.
import { Cursor, MessageError, REQUEST, RESPONSE, concat, fieldsIn } from './binary_http.js';

/**
 * @typedef {import('./binary_http.js').BinaryRequest} BinaryRequest
 * @typedef {import('./binary_http.js').BinaryResponse} BinaryResponse
 * @typedef {import('./binary_http.js').Fields} Fields
 */

export { MessageError };

const INDETERMINATE = 2; // is added to the number that opens a message
const TEXT_MAX = 16_384; // characters of a name, a value or a part of the control data
const FIELDS_MAX = 65_536; // bytes
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;
const PART = /^[\x21-\x7e]*$/; // of a request's control data

/** @param {boolean} isGood */
function check(isGood) {
  if (!isGood) throw new MessageError('not a binary HTTP message');
}

class Reader extends Cursor {
  /** Are lengths known? */ #isKnown;

  /** @param {Uint8Array} bytes @param {number} kind */
  constructor(bytes, kind) {
    super(bytes);
    const framing = this.integer();
    check((framing & ~INDETERMINATE) === kind);
    this.#isKnown = framing === kind;
  }

  /** Is a message that was cut over? Its last sections are empty then. */
  get #isDone() {
    return this.at === this.bytes.length;
  }

  section() {
    return this.#isDone ? new Uint8Array(0) : super.section();
  }

  integer() {
    const n = super.integer();
    check(Number.isSafeInteger(n));
    return n;
  }

  text() {
    const bytes = this.take(this.integer());
    check(bytes.length <= TEXT_MAX);
    return String.fromCharCode(...bytes);
  }

  /** One part of a request's control data. */
  part() {
    const text = this.text();
    check(PART.test(text));
    return text;
  }

  /** @returns {Fields} */
  fields() {
    const fields = this.#isKnown ? this.#pairs() : this.#lines();
    for (const [name, value] of fields)
      check(NAME.test(name) && name === name.toLowerCase() && VALUE.test(value));
    return fields;
  }

  /** Fields of a section. @returns {Fields} */
  #pairs() {
    const section = this.section();
    check(section.length <= FIELDS_MAX);
    return fieldsIn(section);
  }

  /** Fields up to an empty name. @returns {Fields} */
  #lines() {
    /** @type {Fields} */
    const fields = [];
    if (this.#isDone) return fields;
    for (let name = this.text(); name; name = this.text()) fields.push([name, this.text()]);
    return fields;
  }

  content() {
    if (this.#isKnown || this.#isDone) return this.section();
    const pieces = [];
    for (let size = this.integer(); size; size = this.integer()) pieces.push(this.take(size));
    return concat(...pieces);
  }

  /** Fields, content and trailers, and padding of zeros to the end. */
  rest() {
    const [fields, content, trailers] = [this.fields(), this.content(), this.fields()];
    check(this.bytes.subarray(this.at).every((byte) => byte === 0));
    return { fields, content, trailers };
  }
}

/** @param {Uint8Array} bytes @returns {BinaryRequest} throws MessageError for what is none */
export function decodeRequest(bytes) {
  const reader = new Reader(bytes, REQUEST);
  const [method, scheme, authority, path] = Array.from({ length: 4 }, () => reader.part());
  return { method, scheme, authority, path, ...reader.rest() };
}

/** @param {Uint8Array} bytes @returns {BinaryResponse} throws MessageError for what is none */
export function decodeResponse(bytes) {
  const reader = new Reader(bytes, RESPONSE);
  const informational = [];
  let status = reader.integer();
  for (; status >= 100 && status < 200; status = reader.integer())
    informational.push({ status, fields: reader.fields() });
  check(status >= 200 && status < 600);
  return { informational, status, ...reader.rest() };
}
