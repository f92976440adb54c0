// SPDX-License-Identifier: Apache-2.0
// Binary HTTP messages (RFC 9292), which is what Oblivious HTTP seals: writes them with known lengths,
// and reads a gateway's answer. The client and the gateway share this file. Depends on nothing.

/**
 * @typedef {[name: string, value: string][]} Fields names are lower-case
 * @typedef {object} BinaryRequest
 * @property {string} method
 * @property {string} scheme
 * @property {string} authority
 * @property {string} path with its query
 * @property {Fields} fields
 * @property {Uint8Array} content
 * @property {Fields} [trailers]
 *
 * @typedef {object} BinaryResponse
 * @property {{status: number, fields: Fields}[]} [informational] interim responses, in order
 * @property {number} status 200 to 599
 * @property {Fields} fields
 * @property {Uint8Array} content
 * @property {Fields} [trailers]
 */

/** The numbers that open messages of known lengths. */
export const REQUEST = 0;
export const RESPONSE = 1;

/** Says that bytes are no message of RFC 9292. */
export class MessageError extends Error {}

// ---- writing ----

/** A variable-length integer (RFC 9000 section 16). @param {number} n below 2^30 */
const integer = (n) =>
  n < 64 ? [n] : n < 16_384 ? [64 + (n >> 8), n] : [128 + (n >> 24), n >> 16, n >> 8, n];

/** Bytes after their length. @param {ArrayLike<number>} bytes */
const counted = (bytes) => concat(integer(bytes.length), bytes);

/** @param {string} text of one byte a character */
const textOf = (text) => counted([...text].map((c) => c.charCodeAt(0)));

/** @param {Fields} fields */
const fieldsOf = (fields) => concat(...fields.flat().map(textOf));

/** @param {ArrayLike<number>[]} parts */
export function concat(...parts) {
  const bytes = new Uint8Array(parts.reduce((at, part) => at + part.length, 0));
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
  return bytes;
}

/**
 * Writes a message, padded with zeros.
 * @param {ArrayLike<number>[]} control
 * @param {{fields: Fields, content: Uint8Array, trailers?: Fields}} message
 * @param {number} [length] bytes; throws RangeError if the message has more
 */
function written(control, { fields, content, trailers = [] }, length) {
  const sections = [fieldsOf(fields), content, fieldsOf(trailers)].map(counted);
  const message = concat(...control, ...sections);
  const bytes = new Uint8Array(length ?? message.length);
  bytes.set(message);
  return bytes;
}

/**
 * Writes a request.
 * @param {BinaryRequest} request
 * @param {number} [length] bytes of the message with its padding; throws RangeError if it is longer
 * @returns {Uint8Array}
 */
export const encodeRequest = (request, length) =>
  written(
    [[REQUEST], ...[request.method, request.scheme, request.authority, request.path].map(textOf)],
    request,
    length,
  );

/**
 * Writes a response.
 * @param {BinaryResponse} response
 * @param {number} [length] as that of encodeRequest
 * @returns {Uint8Array}
 */
export const encodeResponse = (response, length) =>
  written(
    [
      [RESPONSE],
      ...(response.informational ?? []).flatMap(({ status, fields }) => [
        integer(status),
        counted(fieldsOf(fields)),
      ]),
      integer(response.status),
    ],
    response,
    length,
  );

// ---- reading ----

/** Reads bytes from their start to their end. What is not there throws MessageError. */
export class Cursor {
  /** Bytes that were read. */ at = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }

  /** @param {number} n */
  take(n) {
    if (!(n <= this.bytes.length - this.at)) throw new MessageError();
    return this.bytes.subarray(this.at, (this.at += n));
  }

  /** A variable-length integer; one above 2^53 is not exact. */
  integer() {
    const [first] = this.take(1);
    return this.take((1 << (first >> 6)) - 1).reduce((n, byte) => n * 256 + byte, first & 63);
  }

  /** One byte a character, after their number. */
  text() {
    return String.fromCharCode(...this.section());
  }

  /** A section after its length. */
  section() {
    return this.take(this.integer());
  }
}

/** The fields of a section. @param {Uint8Array} section @returns {Fields} */
export function fieldsIn(section) {
  const cursor = new Cursor(section);
  /** @type {Fields} */
  const fields = [];
  while (cursor.at < section.length) fields.push([cursor.text(), cursor.text()]);
  return fields;
}

/**
 * Reads a response of our own gateway, which writes known lengths and no interim responses. What any
 * writer may write is read by binary_http_reader.js.
 * @param {Uint8Array} bytes
 * @returns {BinaryResponse}
 */
export function readResponse(bytes) {
  const cursor = new Cursor(bytes);
  cursor.integer(); // says that it is a response, as everything is that a gateway seals to a client
  return {
    status: cursor.integer(),
    fields: fieldsIn(cursor.section()),
    content: cursor.section(),
  };
}
