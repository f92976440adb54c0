// SPDX-License-Identifier: Apache-2.0
// Requests whose failures have names. Nothing here throws: a party that cannot be reached is what
// this program looks for.
import { connect } from 'node:tls';

/**
 * @typedef {object} Answer
 * @property {true} ok  something answered
 * @property {number} status
 * @property {Headers} headers
 * @property {Uint8Array} bytes
 * @property {string} text
 * @property {number} skewMs  the party's clock less ours; NaN without a Date header
 *
 * @typedef {{ok: false, kind: 'dns' | 'refused' | 'timeout' | 'tls', why: string}} Failure
 * @typedef {(url: string, init?: RequestInit) => Promise<Answer | Failure>} Request
 */

const PATIENCE_MS = 10_000;
const BODY_MAX = 16 << 20;
const CERTIFICATE_DAYS = 14;
const DAY_MS = 86_400_000;

/** Codes of Node's errors by what they mean. @type {[RegExp, Failure['kind']][]} */
const KINDS = [
  [/^(ENOTFOUND|EAI_)/, 'dns'],
  [/(CERT|SELF_SIGNED|ALTNAME|UNABLE_TO|SSL|TLS|EPROTO)/, 'tls'],
  [/(TIMEOUT|TIMEDOUT|Timeout)/, 'timeout'],
];

/** @param {any} error @returns {Failure} */
function failureOf(error) {
  const cause = error.cause?.errors?.[0] ?? error.cause ?? error;
  const code = typeof cause.code === 'string' ? cause.code : String(cause.name);
  const kind = KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? 'refused';
  return { ok: false, kind, why: String(cause.message || code) };
}

/** @param {Response} response */
async function bodyOf(response) {
  const pieces = [];
  let size = 0;
  for await (const piece of /** @type {any} */ (response.body) ?? []) {
    size += piece.length;
    if (size > BODY_MAX) break;
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}

/** @type {Request} */
export async function request(url, init = {}) {
  try {
    const begun = Date.now();
    const response = await fetch(url, {
      redirect: 'manual',
      cache: 'no-store',
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...init,
    });
    const bytes = await bodyOf(response);
    const now = (begun + Date.now()) / 2;
    const { status, headers } = response;
    const skewMs = Date.parse(headers.get('date') ?? '') - now;
    return { ok: true, status, headers, bytes, text: new TextDecoder().decode(bytes), skewMs };
  } catch (error) {
    return failureOf(error);
  }
}

/** @param {Answer} answer @returns {any} JSON of the body, or undefined */
export function jsonOf({ text }) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {Answer} answer */
export const isHtml = ({ headers, text }) =>
  /html/.test(headers.get('content-type') ?? '') || /^\s*<(!doctype|html)/i.test(text);

/**
 * Returns how many days a certificate is still good, if they are few; null otherwise.
 * @param {URL} url
 * @returns {Promise<number | null>}
 */
export function daysLeft(url) {
  if (url.protocol !== 'https:') return Promise.resolve(null);
  return new Promise((resolve) => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(url.port || 443), servername: host }, () => {
      const left = Date.parse(socket.getPeerCertificate().valid_to) - Date.now();
      socket.destroy();
      resolve(left < CERTIFICATE_DAYS * DAY_MS ? Math.floor(left / DAY_MS) : null);
    });
    socket.setTimeout(PATIENCE_MS, () => (socket.destroy(), resolve(null)));
    socket.once('error', () => resolve(null)); // the request named it
  });
}

/** @param {URL} url */
export const isLoopback = ({ hostname }) =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
