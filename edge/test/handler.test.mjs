// SPDX-License-Identifier: Apache-2.0
// Routes, and every bad input with its status and code. The collections record what reaches them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EdgeError } from '../errors.js';
import { handle } from '../handler.js';
import { TOKEN, makeRecipe, newKey, newRecord, newReport, reportInit } from './support.mjs';

const recipe = await makeRecipe();
const listed = await makeRecipe({
  recipe: 'listed',
  mechanism: 'onehot-asymmetric',
  parameters: { epsilon: 2, values: ['a', 'b', 'c'] },
  hash: undefined,
  seed: undefined,
});
const old = await makeRecipe({ recipe: 'old', expires: '2020-02-29' });

/** A handler with three collections. `taken` is what they were given. */
function setUp({ outcome = 'accepted', ...more } = {}) {
  const taken = [];
  const collection = (of) => ({
    recipe: of,
    accept: async (record, key) => {
      taken.push({ id: of.id, record, key });
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    stats: async () => ({ open_reports: 3 }),
    retryQuarantined: async () => 1,
  });
  const collections = new Map([recipe, listed, old].map((of) => [of.hash, collection(of)]));
  const deps = {
    collections,
    recipes: [recipe, listed, old],
    origins: ['https://site.example'],
    now: () => Date.UTC(2030, 0, 1),
    bodyTimeoutMs: 60_000,
    ...more,
  };
  const call = (path, init) => handle(new Request(`https://edge.example${path}`, init), deps);
  return { taken, call };
}

async function expectError(response, status, code) {
  const body = await response.json();
  assert.deepEqual([response.status, body.error?.code], [status, code], JSON.stringify(body));
  assert.deepEqual(Object.keys(body), ['error']);
  assert.deepEqual(Object.keys(body.error).sort(), ['code', 'message', 'number']);
  assert.ok(Number.isInteger(body.error.number) && body.error.number > 0);
}

test('a report is accepted, and only its record and key go on', async () => {
  const { taken, call } = setUp();
  const key = newKey();
  const text = newRecord(recipe);
  const response = await call(
    '/v1/reports',
    reportInit(recipe.report(text), key, { Cookie: 'a=b', 'X-Forwarded-For': '192.0.2.1' }),
  );
  assert.equal(response.status, 202);
  assert.deepEqual(await response.json(), { status: 'accepted' });
  assert.deepEqual(taken, [{ id: 'edge-test', record: recipe.recordFromText(text), key }]);
});

test('a recipe with a value list states its size', async () => {
  const { taken, call } = setUp();
  const report = newReport(listed);
  assert.deepEqual(report.parameters, { epsilon: 2, size: 3 });
  assert.equal((await call('/v1/reports', reportInit(report))).status, 202);
  assert.equal(taken.length, 1);
});

// The parser, fed every prefix of a report and every byte of it changed five ways: an answer of its own kind each time, and what
// is accepted is a record that prints as the text that came.
test('a damaged report is refused or is another whole report', async () => {
  for (const of of [recipe, listed]) {
    const { taken, call } = setUp();
    const whole = new TextEncoder().encode(JSON.stringify(newReport(of)));
    const bodies = Array.from(whole, (_, n) => whole.slice(0, n));
    for (let at = 0; at < whole.length; at++) {
      for (const change of [0x01, 0x02, 0x10, 0x20, 0x80])
        bodies.push(whole.map((byte, i) => (i === at ? byte ^ change : byte)));
    }
    for (const body of bodies) {
      const before = taken.length;
      const { status } = await call('/v1/reports', { ...reportInit(newReport(of)), body });
      assert.ok(
        [202, 400, 404].includes(status),
        `${status} for ${new TextDecoder().decode(body)}`,
      );
      assert.equal(taken.length - before, status === 202 ? 1 : 0);
      if (status === 202)
        assert.equal(
          of.recordToText(taken.at(-1).record),
          JSON.parse(new TextDecoder().decode(body)).records[0],
        );
    }
    assert.ok(taken.length > 0, 'some changes of hex digits are other records');
  }
});

const good = newReport(recipe);
const bodies = {
  'not JSON': ['{"key"', 400, 'json'],
  nothing: ['', 400, 'json'],
  'not UTF-8': [new Uint8Array([0x22, 0xff, 0x22]), 400, 'json'],
  'a list': [[good], 400, 'type'],
  null: ['null', 400, 'type'],
  'an unknown field': [{ ...good, device: 'x' }, 400, 'unknown-field'],
  'a field called __proto__': [
    `{"__proto__":{},${JSON.stringify(good).slice(1)}`,
    400,
    'unknown-field',
  ],
  'a missing field': [{ ...good, parameters: undefined }, 400, 'missing-field'],
  'a hash that is no string': [{ ...good, recipe_hash: 1 }, 400, 'type'],
  'another hash': [{ ...good, recipe_hash: '0'.repeat(64) }, 404, 'recipe-hash'],
  'upper-case hash': [{ ...good, recipe_hash: good.recipe_hash.toUpperCase() }, 404, 'recipe-hash'],
  'another key': [{ ...good, key: 'listed' }, 400, 'recipe'],
  'other parameters': [{ ...good, parameters: { ...good.parameters, k: 2048 } }, 400, 'parameters'],
  'a parameter as a string': [
    { ...good, parameters: { ...good.parameters, k: '1024' } },
    400,
    'parameters',
  ],
  'one parameter more': [
    { ...good, parameters: { ...good.parameters, g: 1 } },
    400,
    'unknown-field',
  ],
  'one parameter less': [{ ...good, parameters: { epsilon: 1, k: 1024 } }, 400, 'missing-field'],
  'two records': [{ ...good, records: [good.records[0], good.records[0]] }, 400, 'type'],
  'no record': [{ ...good, records: [] }, 400, 'type'],
  'a record that is no string': [{ ...good, records: [1] }, 400, 'type'],
  'an empty record': [{ ...good, records: [''] }, 400, 'record'],
  'a record cut short': [{ ...good, records: [good.records[0].slice(0, -1)] }, 400, 'record'],
  'a record with a row out of range': [
    { ...good, records: [`1024${good.records[0].slice(4)}`] },
    400,
    'record',
  ],
  'a record in upper-case hex': [
    { ...good, records: [`${good.records[0].slice(0, 5)}${'AB'.repeat(32)}`] },
    400,
    'record',
  ],
  'a record of letters outside ASCII': [
    { ...good, records: ['é'.repeat(good.records[0].length)] },
    400,
    'record',
  ],
  'an expired recipe': [newReport(old), 400, 'expired'],
  'a huge body': [{ ...good, key: 'x'.repeat(5000) }, 413, 'body-size'],
};
for (const [what, [body, status, code]] of Object.entries(bodies)) {
  test(`refused: ${what}`, async () => {
    const { taken, call } = setUp();
    await expectError(await call('/v1/reports', reportInit(body)), status, code);
    assert.deepEqual(taken, []);
  });
}

for (const type of [
  'text/plain',
  'application/jsonx',
  'application/json; charset=latin1',
  'multipart/form-data',
]) {
  test(`refused: content type ${type}`, async () => {
    await expectError(
      await setUp().call('/v1/reports', reportInit(good, newKey(), { 'Content-Type': type })),
      415,
      'content-type',
    );
  });
}

test('content types of JSON are accepted', async () => {
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
  ]) {
    assert.equal(
      (await setUp().call('/v1/reports', reportInit(good, newKey(), { 'Content-Type': type })))
        .status,
      202,
      type,
    );
  }
});

for (const key of ['', 'abc', 'A'.repeat(32), '0'.repeat(33), 'g'.repeat(32)]) {
  test(`refused: idempotency key "${key}"`, async () => {
    await expectError(
      await setUp().call('/v1/reports', reportInit(good, key)),
      400,
      'idempotency-key',
    );
  });
}

test('a body without an end is cut while it streams', async () => {
  let pulled = 0;
  const body = new ReadableStream({
    pull: (controller) => (pulled++, controller.enqueue(new Uint8Array(500))),
  });
  await expectError(
    await setUp().call('/v1/reports', { ...reportInit(good), body, duplex: 'half' }),
    413,
    'body-size',
  );
  assert.ok(pulled < 10, `${pulled} pieces were read`);
});

test('a slow body times out', async () => {
  const body = new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 40));
      controller.enqueue(new TextEncoder().encode(' '));
    },
  });
  await expectError(
    await setUp({ bodyTimeoutMs: 100 }).call('/v1/reports', {
      ...reportInit(good),
      body,
      duplex: 'half',
    }),
    408,
    'body-slow',
  );
});

test('a full or failing store is 503 with Retry-After, and says nothing of why', async () => {
  const full = await setUp({ outcome: 'full' }).call(
    '/v1/reports',
    reportInit(good, newKey(), { Origin: 'https://site.example' }),
  );
  assert.ok(Number(full.headers.get('retry-after')) > 0);
  assert.equal(full.headers.get('access-control-expose-headers'), 'Retry-After');
  await expectError(full, 503, 'store-full');
  const broken = await setUp({ outcome: new Error('/secret/path') }).call(
    '/v1/reports',
    reportInit(good),
  );
  assert.ok(Number(broken.headers.get('retry-after')) > 0);
  assert.ok(!JSON.stringify(await broken.clone().json()).includes('secret'));
  await expectError(broken, 503, 'internal');
});

test("expiry is the end of the recipe's last day", async () => {
  const report = reportInit(newReport(old));
  const at = (now) => setUp({ now: () => now }).call('/v1/reports', report);
  assert.equal((await at(Date.UTC(2020, 2, 1) - 1)).status, 202);
  await expectError(await at(Date.UTC(2020, 2, 1)), 400, 'expired');
});

test('recipes: the pinned ones that have not expired', async () => {
  const { call } = setUp();
  const { recipes } = await (await call('/v1/recipes')).json();
  assert.deepEqual(
    recipes.map(({ hash, recipe: json }) => [hash, json.recipe]),
    [
      [recipe.hash, 'edge-test'],
      [listed.hash, 'listed'],
    ],
  );
  assert.deepEqual(await (await call(recipes[0].url)).json(), recipe.json);
  await expectError(await call(`/v1/recipes/${'0'.repeat(64)}`), 404, 'recipe-hash');
  await expectError(await call(`/v1/recipes/${old.hash}`), 404, 'recipe-hash');
});

test("CORS: configured origins, and the page's own", async () => {
  const { call } = setUp();
  const preflight = (origin) =>
    call('/v1/reports', { method: 'OPTIONS', headers: { Origin: origin } });
  const allowed = await preflight('https://site.example');
  assert.equal(allowed.status, 204);
  assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://site.example');
  assert.match(allowed.headers.get('access-control-allow-headers'), /Idempotency-Key/);
  assert.equal(allowed.headers.get('vary'), 'Origin');
  assert.equal(
    (await preflight('https://edge.example')).headers.get('access-control-allow-origin'),
    'https://edge.example',
  );
  const other = await preflight('https://evil.example');
  assert.equal(other.headers.get('access-control-allow-origin'), null);
  await expectError(
    await call('/v1/reports', reportInit(good, newKey(), { Origin: 'https://evil.example' })),
    403,
    'origin',
  );
  assert.equal(
    (
      await setUp({ origins: ['*'] }).call('/healthz', { headers: { Origin: 'https://x.example' } })
    ).headers.get('access-control-allow-origin'),
    '*',
  );
});

test('methods, paths, health', async () => {
  const { call } = setUp();
  assert.deepEqual(await (await call('/healthz')).json(), { status: 'ok' });
  await expectError(await call('/v1/reports'), 405, 'method');
  await expectError(await call('/healthz', { method: 'POST' }), 405, 'method');
  await expectError(await call('/'), 404, 'route');
});

test('metrics and quarantine: absent without a token, closed with a wrong one', async () => {
  const closed = setUp().call;
  await expectError(await closed('/metrics'), 404, 'route');
  await expectError(await closed('/v1/quarantine/retry', { method: 'POST' }), 404, 'route');
  const { call } = setUp({ adminToken: TOKEN });
  await expectError(await call('/metrics'), 401, 'unauthorized');
  await expectError(
    await call('/metrics', { headers: { Authorization: `Bearer ${TOKEN}x` } }),
    401,
    'unauthorized',
  );
  await expectError(await call('/v1/quarantine/retry', { method: 'POST' }), 401, 'unauthorized');
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const text = await (await call('/metrics', { headers })).text();
  assert.ok(
    text.includes(`shoal_edge_open_reports{recipe="edge-test",recipe_hash="${recipe.hash}"} 3\n`),
    text,
  );
  assert.deepEqual(await (await call('/v1/quarantine/retry', { method: 'POST', headers })).json(), {
    status: 'queued',
    batches: 3,
  });
});

test('error numbers do not change', () => {
  const numbers = {
    type: 5,
    record: 8,
    'recipe-hash': 13,
    expired: 17,
    'content-type': 101,
    'body-size': 102,
    'body-slow': 103,
    'store-full': 106,
  };
  for (const [code, number] of Object.entries(numbers))
    assert.equal(new EdgeError(code).number, number);
});
