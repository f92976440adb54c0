// SPDX-License-Identifier: Apache-2.0
// The gateway of Oblivious HTTP through the handler: RFC 9458's example, every refusal with its answer, dates, quotas, rotation, lengths, and
// random and damaged requests. The collection records what reaches it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gateway, RETRY_AFTER_S, checkedGateway } from '../gateway.js';
import { handle } from '../handler.js';
import { hexOf, keysOf, openRequest } from '../ohttp.js';
import {
  ANSWER_LENGTH,
  GATEWAY,
  KEYS,
  RELAY,
  exchange,
  hour,
  ohttpInit,
  publicKey,
  sealBytes,
  sealed,
} from './ohttp_client.mjs';
import { TOKEN, makeRecipe, newKey, newReport, reportInit } from './support.mjs';

const hex = (text) => new Uint8Array(Buffer.from(text, 'hex'));
const recipe = await makeRecipe();
const old = await makeRecipe({ recipe: 'old', expires: '2020-02-29' });
const NOW = Date.UTC(2030, 0, 1, 12, 34);

async function setUp({ gateway = GATEWAY, tasks, outcome = 'accepted' } = {}) {
  const taken = [];
  let now = NOW;
  const collection = (of) => ({
    recipe: of,
    accept: async (record, key) => (taken.push({ record, key }), outcome),
    stats: async () => ({}),
  });
  const deps = {
    collections: new Map([recipe, old].map((of) => [of.hash, collection(of)])),
    tasks,
    recipes: [recipe, old],
    origins: ['https://site.example'],
    now: () => now,
    adminToken: TOKEN,
    ...(gateway && { gateway: await Gateway.open(gateway) }),
  };
  const call = (path, init) => handle(new Request(`https://edge.example${path}`, init), deps);
  const report = (key = newKey(), more = {}) => {
    const { headers, body } = reportInit(newReport(recipe), key);
    return sealed('/v1/reports', { headers, body, date: hour(now), ...more });
  };
  return { taken, call, report, pass: (ms) => (now += ms) };
}

test("the gateway's half of RFC 9458's example", async () => {
  const keys = await keysOf([
    { id: 1, secret: '3c168975674b2fa8e465970b79c8dcf09f1c741626480bd4c6162fc5b6a98e1a' },
  ]);
  const request =
    '010020000100014b28f881333e7c164ffc499ad9796f877f4e1051ee6d31bad19dec96c208b4726374e469135906992e1268c594d2a10c695d858c40a026e7965e7d86' +
    'b83dd440b2c0185204b4d63525';
  const opened = await openRequest(keys, hex(request), () =>
    hex('c789e7151fcba46158ca84b04464910d'),
  );
  assert.equal(hexOf(opened.message), '00034745540568747470730b6578616d706c652e636f6d012f');
  assert.equal(
    hexOf(await opened.seal(hex('0140c8'))),
    'c789e7151fcba46158ca84b04464910d86f9013e404feea014e7be4a441f234f857fbd',
  );
});

test('a sealed report is accepted, and only its record and key go on', async () => {
  const { taken, call, report } = await setUp();
  const key = newKey();
  const { status, inner, bytes, response } = await exchange(call, await report(key), {
    Cookie: 'a=b',
    'X-Forwarded-For': '192.0.2.1',
  });
  assert.deepEqual([status, inner.status, inner.said], [200, 202, '{"status":"accepted"}']);
  assert.equal(response.headers.get('content-type'), 'message/ohttp-res');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal(bytes.length, ANSWER_LENGTH);
  assert.deepEqual(inner.fields, {
    date: 'Tue, 01 Jan 2030 12:00:00 GMT',
    'content-type': 'application/json',
  });
  assert.deepEqual(
    taken.map((each) => each.key),
    [key],
  );
});

test('an endpoint with a path of its own', async () => {
  const { taken, call } = await setUp();
  const { headers, body } = reportInit(newReport(recipe));
  for (const path of ['/some/where/v1/reports', '/v1/reports']) {
    const { inner } = await exchange(call, await sealed(path, { headers, body, date: hour(NOW) }));
    assert.equal(inner.status, 202);
  }
  assert.equal(taken.length, 2);
});

test('what is sealed and refused has the same answers as in the clear, of one length', async () => {
  const { taken, call, report } = await setUp();
  const { headers, body } = reportInit(newReport(recipe));
  const date = hour(NOW);
  const post = (more, path = '/v1/reports') => sealed(path, { headers, body, date, ...more });
  const lengths = new Set();
  for (const [request, status, code] of [
    [report(), 202],
    [post({ headers: {} }), 415, 'content-type'],
    [post({ headers: { 'Content-Type': 'application/json' } }), 400, 'idempotency-key'],
    [post({ body: '{' }), 400, 'json'],
    [post({ body: JSON.stringify(newReport(old)) }), 400, 'expired'],
    [post({ body: body.replace(recipe.hash, '0'.repeat(64)) }), 404, 'recipe-hash'],
    [post({ body: ' '.repeat(4000), length: 8192 }), 413, 'body-size'],
    [post({}, '/v1/report'), 404, 'route'],
    [post({}, '/metrics'), 404, 'route'],
    [post({}, '/ohttp'), 404, 'route'],
    [post({}, '/v1/quarantine/retry'), 404, 'route'],
    [post({ method: 'PUT' }), 404, 'route'],
    [post({ method: 'GET' }), 404, 'route'],
    [sealBytes(new Uint8Array(2048).fill(1)), 400, 'message'],
    [post({ headers: { ...headers, 'a b': 'x' } }), 400, 'message'],
  ]) {
    const { inner, bytes } = await exchange(call, await request);
    assert.equal(inner?.status, status, `${code} ${inner?.said}`);
    if (code) assert.equal(JSON.parse(inner.said).error.code, code);
    lengths.add(bytes.length);
  }
  assert.deepEqual([...lengths], [ANSWER_LENGTH]);
  assert.equal(taken.length, 1);
});

test('an answer that asks to wait says so in a few values', async () => {
  const { call, report } = await setUp({ outcome: 'full' });
  const { inner, bytes } = await exchange(call, await report());
  assert.deepEqual([inner.status, inner.fields['retry-after']], [503, '300']);
  assert.equal(bytes.length, ANSWER_LENGTH);
  const id = 'A'.repeat(43);
  const waits = {
    '': undefined,
    1: '300',
    300: '300',
    301: '3600',
    3601: '86400',
    99_999_999: '86400',
  };
  waits[new Date(NOW + 3_000_000).toUTCString()] = '3600';
  waits['soon'] = '300';
  for (const [asked, wanted] of Object.entries(waits)) {
    const forward = async () => ({
      status: 429,
      type: null,
      retryAfter: asked || null,
      body: hex(''),
    });
    const tasks = new Map([[id, { recipe, length: 3000, forward }]]);
    const { call: callTask } = await setUp({ tasks });
    const answer = await exchange(callTask, await upload(id, 3000));
    assert.equal(answer.inner.fields['retry-after'], wanted, asked);
    assert.equal(answer.bytes.length, ANSWER_LENGTH);
  }
  assert.deepEqual(RETRY_AFTER_S, [300, 3600, 86_400]);
});

const upload = (id, length) =>
  sealed(`/tasks/${id}/reports`, {
    headers: { 'Content-Type': 'application/ppm-dap;message=upload-req' },
    body: new Uint8Array(length),
    date: hour(NOW),
    length: 8192,
  });

test("a sealed upload goes to its leader, and the leader's answers have one length too", async () => {
  const id = 'A'.repeat(43);
  const errors = 'application/ppm-dap;message=upload-errors';
  for (const [relayed, wanted] of [
    [{ status: 200, type: null, body: hex('') }, [200, 0]],
    [{ status: 200, type: errors, body: new Uint8Array(17) }, [200, 17]],
    [{ status: 200, type: errors, body: new Uint8Array(4000) }, [503, 0]], // no answer about one report is so long
    [{ status: 404, type: 'application/problem+json', body: new Uint8Array(4000) }, [404, 0]],
    [null, [503, undefined]],
  ]) {
    const tasks = new Map([
      [
        id,
        { recipe, length: 3000, forward: async () => relayed && { retryAfter: null, ...relayed } },
      ],
    ]);
    const { call } = await setUp({ tasks });
    const { inner, bytes } = await exchange(call, await upload(id, 3000));
    assert.deepEqual(
      [inner.status, wanted[1] === undefined ? undefined : inner.said.length],
      wanted,
    );
    assert.equal(bytes.length, ANSWER_LENGTH);
  }
});

test('lists that are the same for everyone have a length of their own, a power of two', async () => {
  const { call } = await setUp();
  for (const path of [
    '/v1/recipes',
    '/v1/queries',
    `/v1/recipes/${recipe.hash}`,
    `/v1/recipes/${'0'.repeat(64)}`,
  ]) {
    const direct = await call(path);
    const request = await sealed(path, { method: 'GET', date: hour(NOW) });
    const { inner, bytes } = await exchange(call, request);
    assert.deepEqual([inner.status, inner.said], [direct.status, await direct.text()]);
    const length = bytes.length - 32;
    assert.ok(
      length >= 512 && (length & (length - 1)) === 0 && length < 2 * inner.said.length + 1024,
    );
  }
});

// ---- keys ----

/** @param {any} answer */
const isKeyError = ({ status, text, response }) =>
  status === 400 &&
  response.headers.get('content-type') === 'application/problem+json' &&
  JSON.parse(text).type === 'https://iana.org/assignments/http-problem-types#ohttp-key';

test('a key that the gateway does not have', async () => {
  const { taken, call, report } = await setUp();
  const other = await publicKey([{ id: 1, secret: '22'.repeat(32) }]);
  const good = (await report()).body;
  for (const body of [
    (await sealed('/v1/reports', { date: hour(NOW) }, other)).body,
    Buffer.concat([hex('02'), good.subarray(1)]),
    Buffer.concat([hex('01001000010001'), good.subarray(7)]), // another KEM
    good.subarray(0, 54), // too short for a tag
    good.map((byte, i) => (i === 60 ? byte ^ 1 : byte)),
    hex(''),
  ]) {
    const response = await call('/ohttp', ohttpInit(body));
    const text = await response.text();
    assert.ok(isKeyError({ status: response.status, text, response }), text);
  }
  assert.equal(taken.length, 0);
});

test('keys rotate: both are taken while both are there, and clients are told when one is gone', async () => {
  const next = { id: 2, secret: '33'.repeat(32) };
  const both = await setUp({ gateway: { ...GATEWAY, keys: [next, ...KEYS] } });
  const only = await setUp({ gateway: { ...GATEWAY, keys: [next] } });
  const old = await publicKey();
  const fresh = await publicKey([next]);
  const request = (key) => {
    const { headers, body } = reportInit(newReport(recipe));
    return sealed('/v1/reports', { headers, body, date: hour(NOW) }, key);
  };
  for (const key of [old, fresh])
    assert.equal((await exchange(both.call, await request(key))).inner.status, 202);
  assert.ok(isKeyError(await exchange(only.call, await request(old))));
  assert.equal((await exchange(only.call, await request(fresh))).inner.status, 202);
});

test('the published keys', async () => {
  const { call } = await setUp({
    gateway: { ...GATEWAY, keys: [...KEYS, { id: 9, secret: '33'.repeat(32) }] },
  });
  const response = await call('/ohttp-keys');
  assert.equal(response.headers.get('content-type'), 'application/ohttp-keys');
  const bytes = new Uint8Array(await response.arrayBuffer());
  assert.equal(bytes.length, 2 * (2 + 41));
  assert.deepEqual([...bytes.slice(0, 3)], [0, 41, 1]);
  assert.deepEqual([...bytes.slice(43, 46)], [0, 41, 9]);
  const { call: none } = await setUp({ gateway: null });
  for (const path of ['/ohttp-keys', '/ohttp'])
    assert.equal((await none(path)).status, 404, 'an edge that is no gateway');
});

test('keys that are none are refused without being told', async () => {
  const secret = 'ab'.repeat(32);
  for (const bad of [
    undefined,
    [],
    [{ id: 1 }],
    [{ id: 256, secret }],
    [{ id: 1.5, secret }],
    [{ id: 1, secret: secret.slice(1) }],
    [{ id: 1, secret, more: 1 }],
    [
      { id: 1, secret },
      { id: 1, secret },
    ],
  ])
    await assert.rejects(
      keysOf(bad),
      (error) => /^gateway keys/.test(error.message) && !error.message.includes('ab'.repeat(8)),
    );
});

// ---- dates ----

test('an old request is refused, and a replay within the window is the same report', async () => {
  const { taken, call, report, pass } = await setUp();
  const key = newKey();
  const request = await report(key);
  const send = async () => (await exchange(call, request)).inner;
  assert.equal((await send()).status, 202);
  assert.equal((await send()).status, 202);
  assert.deepEqual(
    [...new Set(taken.map((each) => each.key))],
    [key],
    'the store knows it by its key',
  );
  pass(2 * 3_600_000); // 14:34; the request says 12:00
  assert.equal((await send()).status, 202);
  pass(30 * 60_000);
  const answer = await send();
  assert.equal(answer.status, 400);
  assert.equal(
    JSON.parse(answer.said).type,
    'https://iana.org/assignments/http-problem-types#date',
  );
  assert.equal(
    answer.fields.date,
    'Tue, 01 Jan 2030 15:00:00 GMT',
    'so that a client can go by it',
  );
  assert.equal(taken.length, 3);
  for (const date of [hour(NOW + 9 * 3_600_000), 'yesterday', ''])
    assert.equal((await exchange(call, await report(newKey(), { date }))).inner.status, 400, date);
});

test('the window fits the time for which a store remembers', () => {
  const settings = { ...GATEWAY, dateWindowS: 3600 };
  assert.equal(checkedGateway(settings, 10_800), settings);
  assert.throws(() => checkedGateway(settings, 10_799), /date_window_s/);
  assert.throws(() => checkedGateway({ ...GATEWAY, dateWindowS: 86_400 }), /date_window_s/);
  for (const relays of [[{ ...RELAY, name: 'a b' }], [RELAY, RELAY], [{ ...RELAY, name: '"' }]])
    assert.throws(() => checkedGateway({ ...GATEWAY, relays }), /gateway\.relays/);
});

// ---- relays ----

test('each relay has its quota, and unknown ones share one or are refused', async () => {
  const second = { name: 'relay-b', token: 'another-token-of-b', perMinute: 2 };
  const gateway = { keys: KEYS, relays: [RELAY, second], unknownPerMinute: 3 };
  const { call, report, pass } = await setUp({ gateway });
  const statuses = async (n, headers) => {
    const all = [];
    for (let i = 0; i < n; i++) all.push((await exchange(call, await report(), headers)).status);
    return all;
  };
  const b = { Authorization: `Bearer ${second.token}` };
  assert.deepEqual(await statuses(3, b), [200, 200, 429]);
  assert.deepEqual(await statuses(2), [200, 200], 'another relay does not feel it');
  const unknown = [{ Authorization: 'Bearer nobody-knows-this' }, { Authorization: '' }];
  assert.deepEqual(await statuses(2, unknown[0]), [200, 200]);
  assert.deepEqual(await statuses(2, unknown[1]), [200, 429], 'they share');
  pass(30_000);
  assert.deepEqual(await statuses(2, b), [200, 429], 'half a minute is half of it');
  pass(3_600_000);
  assert.deepEqual(await statuses(3, b), [200, 200, 429], 'it does not grow beyond a minute');
  const refused = await exchange(call, await report(), b);
  assert.equal(refused.response.headers.get('retry-after'), '300');
  assert.equal(JSON.parse(refused.text).error.code, 'relay-quota');

  const metrics = await (
    await call('/metrics', { headers: { Authorization: `Bearer ${TOKEN}` } })
  ).text();
  assert.match(metrics, /^shoal_edge_gateway_requests_total\{relay="relay-b"\} 5$/m);
  assert.match(metrics, /^shoal_edge_gateway_over_quota_total\{relay="relay-b"\} 4$/m);
  assert.match(metrics, /^shoal_edge_gateway_requests_total\{relay=""\} 3$/m);

  const closed = await setUp();
  const stranger = await exchange(closed.call, await closed.report(), unknown[0]);
  assert.deepEqual([stranger.status, JSON.parse(stranger.text).error.code], [401, 'relay-token']);
  assert.equal(closed.taken.length, 0);
});

test('what is refused before it is opened', async () => {
  const { call, report } = await setUp();
  const { body } = await report();
  const code = async (init) => (await (await call('/ohttp', init)).json()).error.code;
  assert.equal(await code({ method: 'GET' }), 'method');
  assert.equal(await code(ohttpInit(body, { 'Content-Type': 'application/json' })), 'ohttp-type');
  assert.equal(await code(ohttpInit(new Uint8Array(70_000))), 'body-size');
});

// ---- random and damaged requests ----

for (const seed of [1, Date.now() % 2 ** 31]) {
  test(`random and damaged requests, seed ${seed}`, async () => {
    let state = BigInt(seed);
    const draw = (below) => {
      state = (state * 6364136223846793005n + 1442695040888963407n) & (2n ** 64n - 1n);
      return Number((state >> 33n) % BigInt(below));
    };
    const { call, report, taken } = await setUp();
    const whole = (await report()).body;
    for (let i = 0; i < 150; i++) {
      const bytes = Buffer.from(whole.subarray(0, draw(2) ? whole.length : draw(whole.length)));
      const at = draw(bytes.length || 1);
      if (bytes.length) bytes[at] ^= 1 + draw(255);
      const { status } = await call('/ohttp', ohttpInit(bytes));
      assert.equal(status, 400, 'nothing that was changed is opened');
      // The plaintext of a client that lies.
      const message = Uint8Array.from({ length: draw(600) }, () => draw(256));
      if (message.length) message[0] = [0, 2][draw(2)];
      const { inner: told, bytes: answer } = await exchange(call, await sealBytes(message));
      assert.ok(told.status >= 400 && told.status < 500, String(told.status));
      assert.equal(answer.length, ANSWER_LENGTH);
    }
    assert.equal(taken.length, 0);
  });
}
