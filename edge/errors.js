// SPDX-License-Identifier: Apache-2.0
// Errors of the edge: an HTTP status, and the {code, number, message} that goes into the body.
// Numbers below 100 are the core's (core/base/shoal_err.h); the edge's own start at 100 and never
// change. Messages are fixed sentences: no part of a request ever enters one.

/** Kinds of refusal: [status, number, message]. @type {Record<string, [number, number, string]>} */
const KINDS = {
  'unknown-field': [400, 3, 'the report has a field that reports do not have'],
  'missing-field': [400, 4, 'the report lacks a field'],
  type: [400, 5, 'a field of the report has the wrong type'],
  record: [400, 8, "the record is not one that the recipe's randomizer makes"],
  'recipe-hash': [404, 13, 'no recipe with this hash is collected here'],
  expired: [400, 17, "the recipe's last day has passed"],
  recipe: [400, 100, "the report's key is not that of the recipe with its hash"],
  'content-type': [415, 101, 'the body must be application/json'],
  'body-size': [413, 102, 'the body is longer than any report'],
  'body-slow': [408, 103, 'the body took too long'],
  json: [400, 104, 'the body is not JSON in UTF-8'],
  'idempotency-key': [400, 105, 'the header Idempotency-Key must be 32 lower-case hex digits'],
  'store-full': [503, 106, 'no room at the moment; keep the report and try again'],
  route: [404, 107, 'there is nothing here'],
  method: [405, 108, 'this method is not served here'],
  origin: [403, 109, 'pages of this origin may not report here'],
  unauthorized: [401, 110, 'a bearer token is needed'],
  parameters: [400, 111, "the report's parameters are not the recipe's"],
  'upload-type': [415, 113, 'the body must be application/ppm-dap;message=upload-req'],
  'upload-length': [400, 114, 'the body has not the length of one report of the recipe'],
  leader: [503, 115, "the recipe's leader did not answer; keep the report and try again"],
  'ohttp-type': [415, 120, 'the body must be message/ohttp-req'],
  'relay-token': [401, 121, 'a bearer token of a known relay is needed'],
  'relay-quota': [429, 122, 'the relay sent more than its quota; wait'],
  message: [400, 123, 'what was sealed is not a binary HTTP request'],
  'token-missing': [400, 130, 'the report must spend a token, in the header Authorization'],
  token: [400, 131, 'the header Authorization holds no token of 354 bytes'],
  'token-type': [400, 132, 'the token is not one of type 2'],
  'token-report': [400, 133, "the idempotency key does not follow from the token's nonce"],
  'token-key': [400, 134, "the token's key is none of the issuer's keys"],
  'token-recipe': [400, 135, 'the token is one of another recipe'],
  'token-early': [503, 136, 'the day of the token has not come; keep the report and try again'],
  'token-expired': [400, 137, 'the day of the token is over'],
  'token-challenge': [400, 138, 'the token answers another challenge'],
  'token-forged': [400, 139, "the token's signature is bad"],
  rate: [429, 140, 'too many reports from this address; keep the report and try again'],
  internal: [503, 112, 'the report could not be stored; keep it and try again'],
};

/** Refusals that no report can meet. */
const NOT_OF_REPORTS = [
  'route',
  'unauthorized',
  'ohttp-type',
  'relay-token',
  'relay-quota',
  'message',
];

/** Codes with which a report may be refused, and what each says. */
export const REPORT_REFUSALS = new Map(
  Object.entries(KINDS)
    .filter(([code]) => !NOT_OF_REPORTS.includes(code))
    .map(([code, [, , message]]) => [code, message]),
);

/** A refusal that a client may see. */
export class EdgeError extends Error {
  /** @param {keyof typeof KINDS & string} code */
  constructor(code) {
    const [status, number, message] = KINDS[code];
    super(message);
    this.code = code;
    this.status = status;
    this.number = number;
  }
}
