// SPDX-License-Identifier: Apache-2.0
// The sender against a real HTTP server: which answers let a batch go, which keep it.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { createSender } from '../forward.js';
import { SECRET } from './support.mjs';

/** Sends one batch to a server that answers so. */
async function sendTo(answer, { path = '', timeoutMs = 30_000 } = {}) {
  const seen = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    seen.push({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    });
    answer(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const aggregator = `http://127.0.0.1:${server.address().port}${path}`;
  const verdict = await createSender({ aggregator, secret: SECRET, fetch, timeoutMs })(
    new TextEncoder().encode('a batch'),
  );
  server.closeAllConnections();
  server.close();
  return { verdict, seen };
}

const reply =
  (status, body, headers = {}) =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

test('a batch is posted with the secret and nothing of a device', async () => {
  const { verdict, seen } = await sendTo(reply(201, { status: 'stored' }), { path: '/base/' });
  assert.equal(verdict.outcome, 'stored');
  assert.equal(seen.length, 1);
  const [{ method, url, headers, body }] = seen;
  assert.deepEqual([method, url, body], ['POST', '/base/v1/batches', 'a batch']);
  assert.deepEqual(
    [headers.authorization, headers['content-type']],
    [`Bearer ${SECRET}`, 'application/octet-stream'],
  );
});

const cases = [
  ['a repeated id', reply(200, { status: 'known' }), 'stored'],
  ["a 200 that is not the aggregator's", reply(200, '<html>Welcome to the hotel</html>'), 'failed'],
  ['a 201 without a word', reply(201, ''), 'failed'],
  ['damage', reply(400, {}), 'refused'],
  ['an unknown recipe', reply(404, {}), 'refused'],
  ['too large', reply(413, {}), 'refused'],
  ['a wrong secret', reply(401, {}), 'failed'],
  ['an error', reply(500, {}), 'failed'],
  ['a redirect', reply(302, {}, { Location: '/elsewhere' }), 'failed'],
  ['a broken connection', (response) => response.destroy(), 'failed'],
  ['no answer in time', () => {}, 'failed', 2000],
];
for (const [what, answer, outcome, timeoutMs] of cases) {
  test(`${what}: ${outcome}`, async () => {
    const { verdict, seen } = await sendTo(answer, { timeoutMs });
    assert.equal(verdict.outcome, outcome);
    assert.equal(seen.length, 1, 'no redirect is followed, no retry made here');
  });
}

test('Retry-After is handed on', async () => {
  assert.deepEqual((await sendTo(reply(503, {}, { 'Retry-After': '17' }))).verdict, {
    outcome: 'failed',
    retryAfterS: 17,
  });
  assert.deepEqual(
    (await sendTo(reply(503, {}, { 'Retry-After': 'Sat, 21 Nov 2026 07:28:00 GMT' }))).verdict,
    { outcome: 'failed', retryAfterS: 0 },
  );
});

test('nobody there: failed', async () => {
  const send = createSender({ aggregator: 'http://127.0.0.1:1', secret: SECRET, fetch });
  assert.equal((await send(new Uint8Array(1))).outcome, 'failed');
});
