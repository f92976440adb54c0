// SPDX-License-Identifier: Apache-2.0
// Answers of the relay itself: an HTTP status and a fixed sentence. No part of a request ever
// enters one.

/** Kinds of refusal: [status, message]. @type {Record<string, [number, string]>} */
const KINDS = {
  route: [404, 'there is nothing here'],
  method: [405, 'this method is not served here'],
  origin: [403, 'pages of this origin may not send here'],
  'content-type': [415, 'the body must be untyped, or message/ohttp-req'],
  'body-size': [413, 'the body is longer than this relay passes on'],
  'body-empty': [400, 'the body is empty'],
  'body-broken': [400, 'the connection broke'],
  'body-slow': [408, 'the body took too long'],
  unauthorized: [401, 'a bearer token is needed'],
  rate: [429, 'too many requests from this address; try again later'],
  busy: [503, 'no room at the moment; try again later'],
  gateway: [502, 'the gateway gave no answer; try again later'],
  'gateway-slow': [503, 'the gateway took too long; try again later'],
  internal: [503, 'the relay failed; try again later'],
};

/** The codes of refusals. */
export const CODES = Object.keys(KINDS);

/** A refusal that a client may see. */
export class RelayError extends Error {
  /**
   * @param {keyof typeof KINDS & string} code
   * @param {number} [retryAfterS]  seconds that the client is asked to wait
   */
  constructor(code, retryAfterS) {
    const [status, message] = KINDS[code];
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterS = retryAfterS ?? null;
  }
}
