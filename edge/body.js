// SPDX-License-Identifier: Apache-2.0
// Reads a request's body, capped and timed while it streams. Depends on errors.js.

import { EdgeError } from './errors.js';

/** @typedef {import('./incoming.js').Incoming} Incoming */
/** @typedef {import('./incoming.js').Reader} Reader */

export const BODY_TIMEOUT_MS = 10_000;

/**
 * Returns a body at once if all of it has arrived, and null otherwise. It needs no deadline then.
 * @param {Incoming} request
 * @param {number} limit
 * @returns {Uint8Array | null}
 */
export function arrivedBody(request, limit) {
  const whole = request.whole?.() ?? null;
  if (whole !== null && whole.length > limit) throw new EdgeError('body-size');
  return whole;
}

/**
 * Reads a body, capped and timed while it streams.
 * @param {Incoming} request
 * @param {number} limit
 * @param {number} timeoutMs  for the whole body, so that a trickle does not hold a connection
 * @returns {Promise<Uint8Array>}
 */
export async function readBody(request, limit, timeoutMs) {
  if (request.body === null) return new Uint8Array(0);
  const stated = request.headers.get('content-length') ?? '';
  if (Number(stated) > limit) throw new EdgeError('body-size');
  if (/^\d+$/.test(stated) && request.arrayBuffer) {
    const whole = arrivedBody(request, limit);
    if (whole !== null) return whole;
    const read = await inTime(request.arrayBuffer(), timeoutMs);
    if (read.byteLength > limit) throw new EdgeError('body-size');
    return read instanceof Uint8Array ? read : new Uint8Array(read);
  }
  const reader = request.body.getReader();
  try {
    return await inTime(readAll(reader, limit), timeoutMs);
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
}

/** @template T @param {Promise<T>} reading @param {number} timeoutMs @returns {Promise<T>} */
function inTime(reading, timeoutMs) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new EdgeError('body-slow')), timeoutMs);
    reading.then(
      (read) => (clearTimeout(timer), resolve(read)),
      (error) => (
        clearTimeout(timer),
        reject(error instanceof EdgeError ? error : new EdgeError('json'))
      ), // the connection broke
    );
  });
}

/**
 * Reads a body to its end. Most bodies come in one piece, which is not copied.
 * @param {Reader} reader
 * @param {number} limit
 */
async function readAll(reader, limit) {
  const pieces = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) break;
    size += value.length;
    if (size > limit) throw new EdgeError('body-size');
    pieces.push(value);
  }
  if (pieces.length === 1) return pieces[0];
  const bytes = new Uint8Array(size);
  pieces.reduce((at, piece) => (bytes.set(piece, at), at + piece.length), 0);
  return bytes;
}
