// SPDX-License-Identifier: Apache-2.0
// The relay under random requests and random gateways: only the body and the media type go on,
// nothing but a sealed answer comes back, and no byte stays held.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CODES } from '../../relay/errors.js';
import { Counts, answer } from '../../relay/handler.js';
import { bytes, pieces } from './inputs.mjs';

const LIMITS = { maxBytes: 300, bodyMs: 1000, gatewayMs: 1000, heldBytes: 2000 };
const SEALED = 'message/ohttp-req';
const ANSWERED = 'message/ohttp-res';
const MARKER = 'qqmarkerqq';
const WAITS = ['10', '60', '300', '900', '3600'];
/** Headers of a relay's answer. */
const SAID = new Set([
  ...['cache-control', 'vary', 'x-content-type-options', 'content-type', 'retry-after'],
  ...['access-control-allow-origin', 'access-control-allow-methods', 'access-control-max-age'],
  ...['access-control-allow-headers', 'access-control-expose-headers'],
]);

const text = fc.oneof(
  fc.constantFrom(MARKER, SEALED, ANSWERED, 'application/problem+json', '120', '-1', '1e9', ''),
  fc.string({ unit: fc.constantFrom(...'abc 01;,="/-'), maxLength: 20 }),
);

const gatewayOf = fc.record({
  status: fc.constantFrom(200, 201, 204, 301, 302, 400, 401, 404, 422, 429, 500, 502, 503),
  type: fc.oneof({ arbitrary: fc.constant(ANSWERED), weight: 2 }, { arbitrary: text, weight: 1 }),
  headers: fc.dictionary(
    fc.constantFrom('retry-after', 'set-cookie', 'x-secret', 'location'),
    text,
  ),
  body: bytes(400),
  fails: fc.constantFrom('', '', '', 'at once', 'within'),
});

/** @param {any} given */
function responseOf({ status, type, headers, body, fails }) {
  if (fails === 'at once') throw new TypeError(`fetch failed: ${MARKER}`);
  const all = new Map([...Object.entries(headers), ['content-type', type]]);
  const reader = pieces(body, [10]);
  const read = async () => {
    if (fails === 'within') throw new Error(MARKER);
    return reader.read();
  };
  return /** @type {any} */ ({
    status,
    headers: { get: (/** @type {string} */ name) => all.get(name) ?? null },
    body: { getReader: () => ({ ...reader, read }) },
  });
}

/** What the answer to a passed request must be, by docs/formats.md. @param {any} gateway @param {any} said */
function holdsGateway(gateway, said) {
  const { status, type, body, fails } = gateway;
  const media = type.split(';')[0].trim().toLowerCase();
  const isBusy = status === 429 || status === 503;
  const isSealed =
    (status === 200 && media === ANSWERED) ||
    ([400, 422].includes(status) && media === 'application/problem+json');
  const isPassed = !fails && !isBusy && isSealed && body.length > 0 && body.length <= 300;
  if (isPassed) {
    assert.deepEqual([said.status, Buffer.from(said.body)], [status, body]);
    assert.equal(said.headers['Content-Type'], media);
  } else {
    assert.ok(said.status === 429 || said.status >= 500, `${said.status} would end a report`);
    assert.ok(WAITS.includes(said.headers['Retry-After']));
  }
}

/** @type {import('./run.mjs').Property} */
const relay = {
  name: 'relay',
  wanted: 1e7,
  async make() {
    const request = fc.record({
      method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'OPTIONS', 'PUT'),
      path: fc.constantFrom('/r', '/r', '/r', '/r?a=1', '/metrics', '/healthz', '/', '/r/'),
      headers: fc.dictionary(
        fc.constantFrom('content-type', 'origin', 'authorization', 'cookie', 'forwarded'),
        text,
      ),
      isTyped: fc.boolean(),
      body: fc.option(bytes(400)),
      length: fc.option(fc.nat(500)),
    });
    return fc.asyncProperty(request, gatewayOf, async (request, gateway) => {
      /** @type {any[]} */
      const asked = [];
      const deps = {
        routes: new Map([
          ['/r', { path: '/r', gateway: 'https://g.example/', token: 'known', origins: ['*'] }],
        ]),
        limits: LIMITS,
        fetch: async (/** @type {any} */ url, /** @type {any} */ init) => {
          asked.push([url, init]);
          return responseOf(gateway);
        },
        buckets: null,
        counts: new Counts(),
        healthz: true,
        adminToken: 'a-token-of-the-operator',
      };
      const { method, path, body, length, isTyped } = request;
      const headers = new Map(Object.entries(request.headers));
      if (isTyped) headers.set('content-type', SEALED);
      if (length !== null) headers.set('content-length', String(length));
      const said = await answer(
        {
          method,
          url: `https://relay.example${path}`,
          headers: { get: (name) => headers.get(name) ?? null },
          body: body === null ? null : { getReader: () => pieces(body, [7]) },
        },
        deps,
        null,
      );
      assert.deepEqual([deps.counts.held, deps.counts.arriving.size], [0, 0]);
      const names = Object.keys(said.headers).map((name) => name.toLowerCase());
      assert.deepEqual(
        names.filter((name) => !SAID.has(name)),
        [],
      );
      assert.ok(!JSON.stringify(said.headers).includes(MARKER));
      if (asked.length === 1) {
        const [[url, init]] = asked;
        assert.deepEqual([url, method], ['https://g.example/', 'POST']);
        assert.deepEqual(init.headers, { 'Content-Type': SEALED, Authorization: 'Bearer known' });
        assert.deepEqual(Buffer.from(init.body), body);
        assert.deepEqual([init.redirect, init.method], ['manual', 'POST']);
        holdsGateway(gateway, said);
      } else {
        const shown = String(said.body ?? '');
        assert.ok(asked.length === 0 && !shown.includes(MARKER));
        if (said.status >= 400) {
          const { code } = JSON.parse(shown).error;
          assert.ok(CODES.includes(code) && code !== 'internal', code);
        }
      }
      return true;
    });
  },
};

export const relayProperties = [relay];
