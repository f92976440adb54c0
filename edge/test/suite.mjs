// SPDX-License-Identifier: Apache-2.0
// The same tests over HTTP against both runtimes: the worker in real workerd (workerd.test.mjs), and the command under
// Node (node.test.mjs).

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { Run } from 'shoal-client/run';
import { filesUnder, startEdge } from './runtimes.mjs';
import {
  DAY_MS,
  FakeAggregator,
  HOUR_MS,
  TOKEN,
  eventually,
  makeRecipe,
  multiset,
  newKey,
  newRecord,
  newReport,
  reportInit,
} from './support.mjs';

const quick = await makeRecipe();
const slow = await makeRecipe({ recipe: 'slow', batch: { minimum: 5, max_age_s: 86_400 } });
const old = await makeRecipe({ recipe: 'old', expires: '2020-01-01' });
// Records of 8 KB.
const large = await makeRecipe({
  recipe: 'large',
  parameters: { epsilon: 1, k: 16, m: 65536 },
  batch: { minimum: 5, max_age_s: 86_400 },
});
const foreign = await makeRecipe({ recipe: 'foreign' });

async function startAggregator(t, recipe = quick) {
  const aggregator = await new FakeAggregator(recipe).start();
  t.after(() => aggregator.remove());
  return aggregator;
}

async function postTexts(edge, recipe, n) {
  const texts = Array.from({ length: n }, () => newRecord(recipe));
  const statuses = await Promise.all(
    texts.map(async (text) => (await edge.post(reportInit(recipe.report(text)))).status),
  );
  assert.deepEqual(multiset(statuses), new Map([[202, n]]));
  return texts;
}

/**
 * A batch goes when it is old enough and holds the minimum, so that on a slow machine the last few reports of many may be left below it: they go
 * with the report that fills it up. Waits until all of `texts` have arrived, and posts and adds such reports where some would wait for ever.
 */
async function arrived(edge, aggregator, recipe, texts) {
  const isAll = () => aggregator.recordsOf(recipe).length === texts.length;
  const isLeft = async () => {
    const [open, sealed] = await Promise.all([
      edge.metric('open_reports'),
      edge.metric('sealed_batches'),
    ]);
    return sealed === 0 && open > 0 && open < recipe.json.batch.minimum;
  };
  for (;;) {
    await eventually(async () => assert.ok(isAll() || (await isLeft())));
    if (isAll()) break;
    texts.push(...(await postTexts(edge, recipe, 1)));
  }
  assert.deepEqual(multiset(aggregator.recordsOf(recipe)), multiset(texts));
}

async function expectError(response, status, code) {
  const body = await response.json();
  assert.deepEqual([response.status, body.error?.code], [status, code], JSON.stringify(body));
}

/** A request whose body is written in pieces by hand. */
function streamed(edge, headers, write) {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${edge.url}/v1/reports`, {
      method: 'POST',
      headers: { 'Idempotency-Key': newKey(), ...headers },
    });
    outgoing.once('response', (incoming) => {
      incoming.setEncoding('utf8');
      incoming.once('data', (text) => {
        resolve({ status: incoming.statusCode, error: JSON.parse(text).error });
        outgoing.destroy();
      });
    });
    outgoing.on('error', reject); // a reset after the answer is no failure
    write(outgoing);
  });
}

/** A device that sends a whole report and goes away before it is answered. */
async function hangUp(edge, { headers, body }) {
  const socket = connect(Number(new URL(edge.url).port), '127.0.0.1');
  const lines = Object.entries({
    Host: 'x',
    ...headers,
    'Content-Length': Buffer.byteLength(body),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  await new Promise((resolve) =>
    socket.write(`POST /v1/reports HTTP/1.1\r\n${lines.join('')}\r\n${body}`, resolve),
  );
  await new Promise((resolve) => setTimeout(resolve, 5 * Math.random()));
  socket.destroy();
}

/** Declares the tests. @param {'workerd' | 'node' | 'deno' | 'bun'} runtime */
export function edgeSuite(runtime) {
  test('reports become shuffled batches, and nothing but their records arrives', async (t) => {
    const aggregator = await startAggregator(t);
    const edge = await startEdge(t, runtime, { recipes: [quick], aggregator: aggregator.url });
    const texts = await postTexts(edge, quick, 60);
    await arrived(edge, aggregator, quick, texts);
    for (const { texts: batch } of aggregator.batches.values()) assert.ok(batch.length >= 5);
    await eventually(async () =>
      assert.equal(await edge.metric('forwarded_reports_total'), texts.length),
    );
    assert.equal(await edge.metric('open_reports'), 0);
    assert.equal(await edge.metric('sealed_batches'), 0);
  });

  test('recipes of lists, numbers, permanent answers, several parts and several variables are collected, each for itself', async (t) => {
    const batch = { minimum: 5, max_age_s: 86_400 };
    const none = { hash: undefined, seed: undefined };
    const ofList = {
      value: 'item',
      mechanism: 'subset',
      parameters: { epsilon: 1, values: ['a', 'b', 'c', 'd', 'e'] },
      ...none,
    };
    const ofNumbers = {
      value: 'number',
      mechanism: 'one-bit-mean',
      parameters: { epsilon: 1, low: -40, high: 60.5 },
      ...none,
    };
    const permanent = {
      mechanism: 'rappor',
      parameters: { bits: 64, hashes: 2, cohorts: 16, p: 0.25, q: 0.75, f: 0.5 },
    };
    const fragments = {
      mechanism: 'sfp',
      parameters: {
        epsilon: 5,
        epsilon_fragment: 3,
        k: 256,
        m: 16,
        k_fragment: 256,
        m_fragment: 16,
        length: 10,
        oracle: 'olh',
      },
    };
    const grams = {
      mechanism: 'rappor-ngram',
      parameters: {
        bits: 32,
        hashes: 2,
        cohorts: 8,
        p: 0.25,
        q: 0.75,
        f: 0.5,
        length: 8,
        n: 2,
        grams: 2,
        alphabet: 'abcdefgh',
      },
    };
    const joint = {
      value: undefined,
      mechanism: undefined,
      parameters: undefined,
      ...none,
      variables: [
        {
          name: 'word',
          value: 'word',
          mechanism: 'rappor',
          parameters: { bits: 32, hashes: 2, cohorts: 8, p: 0.25, q: 0.75, f: 0 },
          hash: 'poly1',
          seed: '0b'.repeat(32),
        },
        {
          name: 'age',
          value: 'item',
          mechanism: 'grr',
          parameters: { epsilon: 1, values: ['young', 'old'] },
        },
        {
          name: 'heat',
          value: 'number',
          mechanism: 'subset',
          parameters: { epsilon: 1, size: 9, low: -10, high: 80 },
        },
      ],
    };
    const recipes = await Promise.all(
      Object.entries({ list: ofList, numbers: ofNumbers, permanent, fragments, grams, joint }).map(
        ([name, more]) => makeRecipe({ recipe: name, batch, ...more }),
      ),
    );
    const values = ['c', 21.5, 'fish', 'fish', 'fish', { word: 'fish', heat: 21.5 }];
    const edge = await startEdge(t, runtime, { recipes, aggregator: 'http://127.0.0.1:1' });
    for (const [i, recipe] of recipes.entries()) {
      const report = recipe.report(recipe.randomize(values[i], randomBytes(32), randomBytes(32)));
      for (const other of recipes.filter((each) => each !== recipe)) {
        const { key, recipe_hash, parameters } = other.report('');
        await expectError(
          await edge.post(reportInit({ key, recipe_hash, parameters, records: report.records })),
          400,
          'record',
        );
      }
      assert.equal((await edge.post(reportInit(report))).status, 202, recipe.id);
      assert.equal(await edge.metric('open_reports'), i + 1);
    }
    const { recipes: published } = await (await fetch(`${edge.url}/v1/recipes`)).json();
    assert.deepEqual(
      published.map(({ recipe }) => recipe),
      recipes.map(({ json }) => json),
    );
  });

  test('a record of two variables is checked whole, batched and forwarded with its parts together', async (t) => {
    const variables = [
      {
        name: 'word',
        value: 'word',
        mechanism: 'olh',
        parameters: { epsilon: 3, k: 64, g: 16 },
        hash: 'poly1',
        seed: '0c'.repeat(32),
      },
      { name: 'age', value: 'item', mechanism: 'grr', parameters: { epsilon: 2, size: 30 } },
    ];
    const batch = { minimum: 40, max_age_s: 1 }; // all of them, so that none is left below it
    const json = {
      recipe: 'pairs',
      batch,
      value: undefined,
      mechanism: undefined,
      parameters: undefined,
      hash: undefined,
      seed: undefined,
      variables,
    };
    const recipe = await makeRecipe(json);
    const aggregator = await startAggregator(t, recipe);
    const edge = await startEdge(t, runtime, { recipes: [recipe], aggregator: aggregator.url });
    const texts = Array.from({ length: batch.minimum }, (_, i) =>
      newRecord(recipe, { word: `w${i}`, age: i % 30 }),
    );
    const swapped = texts.map((text) => text.split(';').reverse().join(';'));
    const [row, age] = [texts[0].split(';')[0], texts[0].split(';')[1]];
    for (const text of [
      swapped[0],
      row,
      `${row};31`,
      `${row};${age};${age}`,
      `${row},${age}`,
      `${row};9`,
      `64,00;${age}`,
      `${row};${age} `,
    ]) {
      await expectError(await edge.post(reportInit(recipe.report(text))), 400, 'record');
    }
    assert.deepEqual(recipe.parameters, { epsilon: 5 });
    await expectError(
      await edge.post(reportInit({ ...recipe.report(texts[0]), parameters: {} })),
      400,
      'missing-field',
    );
    await expectError(
      await edge.post(reportInit({ ...recipe.report(texts[0]), parameters: { epsilon: 4 } })),
      400,
      'parameters',
    );
    const statuses = await Promise.all(
      texts.map(async (text) => (await edge.post(reportInit(recipe.report(text)))).status),
    );
    assert.deepEqual(multiset(statuses), new Map([[202, texts.length]]));
    await eventually(() => assert.deepEqual(multiset(aggregator.records), multiset(texts)));
  });

  test('epochs of a run are collections of their own: checked, batched and forwarded each for itself', async (t) => {
    const none = { hash: undefined, seed: undefined };
    const plan = {
      epsilon: 4,
      users: 20000,
      epochs: 16,
      samples: 1000,
      smallest_group: 20000,
      groups: 1,
      delta: '1e-6',
    };
    const batch = { minimum: 20, max_age_s: 1 }; // all of an epoch, so that none is left below it
    const mean = {
      value: 'number',
      mechanism: 'thresh',
      parameters: { ...plan, low: 0, high: 1 },
      batch,
      ...none,
    };
    const first = await makeRecipe({ recipe: 'followed', ...mean, round: { index: 1 } });
    const second = await makeRecipe({
      recipe: 'followed',
      ...mean,
      round: { index: 2, previous: first.hash, update: 1 },
    });
    const many = await makeRecipe({
      recipe: 'emoji',
      value: 'item',
      mechanism: 'heavythresh',
      parameters: { ...plan, projection: 64, epsilon_estimate: 0.5 },
      batch,
      round: { index: 1 },
      hash: undefined,
    });
    const recipes = [first, second, many];
    const aggregator = await startAggregator(t, recipes);
    const edge = await startEdge(t, runtime, { recipes, aggregator: aggregator.url });
    const texts = recipes.map((recipe) => {
      const run = new Run(recipe);
      const seeds = Array.from({ length: batch.minimum }, () => randomBytes(32));
      const counts = new Map([[recipe === many ? run.item('fish') : '', 3]]);
      // Of another device each; the second epoch of one that was away in the first.
      return seeds.map(
        (seed) =>
          (recipe === many
            ? run.answerCounts(run.start(), counts, seed)
            : run.answerNumber(run.start(), 900_000n, seed)
          ).record,
      );
    });
    for (const text of ['2;0', '0;2', '0', '0;0;0', '0,0', ';0'])
      await expectError(await edge.post(reportInit(first.report(text))), 400, 'record');
    for (const text of ['0;64,0', '0;00,2', '0;0,00', '2;00,0', '0;00'])
      await expectError(await edge.post(reportInit(many.report(text))), 400, 'record');
    await expectError(
      await edge.post(
        reportInit({ ...first.report('0;0'), recipe_hash: many.hash, key: many.key }),
      ),
      400,
      'unknown-field',
    );
    for (const [i, recipe] of recipes.entries()) {
      for (const text of texts[i])
        assert.equal((await edge.post(reportInit(recipe.report(text)))).status, 202);
    }
    await eventually(() =>
      recipes.forEach((recipe, i) =>
        assert.deepEqual(multiset(aggregator.recordsOf(recipe)), multiset(texts[i])),
      ),
    );
  });

  test('bad input, each with its status and code; the edge goes on serving', async (t) => {
    const edge = await startEdge(t, runtime, {
      recipes: [slow, old],
      aggregator: 'http://127.0.0.1:1',
    });
    const good = newReport(slow);
    const cases = [
      [reportInit({ ...good, device: 'x' }), 400, 'unknown-field'],
      [reportInit({ ...good, records: [] }), 400, 'type'],
      [reportInit({ ...good, records: [good.records[0].replace(/,../, ',zz')] }), 400, 'record'],
      [reportInit({ ...good, records: [good.records[0].slice(1)] }), 400, 'record'],
      [reportInit({ ...good, parameters: { ...good.parameters, epsilon: 17 } }), 400, 'parameters'],
      [reportInit('{'), 400, 'json'],
      [reportInit(newReport(foreign)), 404, 'recipe-hash'],
      [reportInit(newReport(old)), 400, 'expired'],
      [reportInit(good, 'no key'), 400, 'idempotency-key'],
      [reportInit(good, newKey(), { 'Content-Type': 'text/plain' }), 415, 'content-type'],
      [reportInit({ ...good, key: 'x'.repeat(100_000) }), 413, 'body-size'],
      [reportInit(good, newKey(), { Origin: 'https://evil.example' }), 403, 'origin'],
    ];
    for (const [init, status, code] of cases)
      await expectError(await edge.post(init), status, code);
    await expectError(await fetch(`${edge.url}/v1/reports`), 405, 'method');
    await expectError(await fetch(`${edge.url}/nothing`), 404, 'route');
    assert.equal(await edge.metric('open_reports'), 0);
    assert.equal((await edge.post(reportInit(good))).status, 202);
    assert.equal(await edge.metric('open_reports'), 1);
  });

  test('a huge body is cut while it streams, a slow one times out', async (t) => {
    const edge = await startEdge(t, runtime, {
      recipes: [slow],
      aggregator: 'http://127.0.0.1:1',
      limits: { body_timeout_s: 2 },
    });
    const headers = { 'Content-Type': 'application/json' };
    const huge = await streamed(edge, headers, (outgoing) => {
      outgoing.write(Buffer.alloc(20_000, ' ')); // and no end: it cannot have been read whole
    });
    assert.deepEqual([huge.status, huge.error.code], [413, 'body-size']);
    const trickle = await streamed(edge, headers, (outgoing) => {
      const timer = setInterval(() => outgoing.write(' '), 100);
      outgoing.once('response', () => clearInterval(timer));
    });
    assert.deepEqual([trickle.status, trickle.error.code], [408, 'body-slow']);
    const socket = connect(Number(new URL(edge.url).port), '127.0.0.1');
    socket.write(
      'POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n',
    );
    socket.destroy(); // a device that goes away in the middle of its headers
    assert.equal((await edge.post(reportInit(newReport(slow)))).status, 202);
  });

  test('CORS, recipes, health', async (t) => {
    const edge = await startEdge(t, runtime, {
      recipes: [slow, old],
      aggregator: 'http://127.0.0.1:1',
    });
    const preflight = await fetch(`${edge.url}/v1/reports`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://site.example', 'Access-Control-Request-Method': 'POST' },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get('access-control-allow-origin'), 'https://site.example');
    const { recipes } = await (await fetch(`${edge.url}/v1/recipes`)).json();
    assert.deepEqual(recipes, [
      { hash: slow.hash, url: `/v1/recipes/${slow.hash}`, recipe: slow.json },
    ]);
    assert.deepEqual(await (await fetch(`${edge.url}/healthz`)).json(), { status: 'ok' });
    const head = await fetch(`${edge.url}/healthz`, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  test('a full store is 503 with Retry-After, and keeps what it accepted', async (t) => {
    const edge = await startEdge(t, runtime, {
      recipes: [slow],
      aggregator: 'http://127.0.0.1:1',
      limits: { store_bytes: 4000 },
    });
    let response;
    let accepted = 0;
    while ((response = await edge.post(reportInit(newReport(slow)))).status === 202) accepted++;
    assert.ok(Number(response.headers.get('retry-after')) > 0);
    await expectError(response, 503, 'store-full');
    assert.ok(accepted >= 5, `${accepted}`);
    assert.equal(await edge.metric('open_reports'), accepted);
  });

  test('the aggregator takes a batch and dies before it answers: the same id comes again', async (t) => {
    const aggregator = await startAggregator(t);
    aggregator.script = [503, 'hang-up'];
    const edge = await startEdge(t, runtime, { recipes: [quick], aggregator: aggregator.url });
    const texts = await postTexts(edge, quick, 5);
    await eventually(async () => assert.equal(await edge.metric('forwarded_batches_total'), 1));
    assert.equal(aggregator.requests.length, 3);
    for (const { body } of aggregator.requests) assert.deepEqual(body, aggregator.requests[0].body);
    assert.deepEqual(multiset(aggregator.records), multiset(texts));
    // Deno's fetch sends again by itself, once, when a connection breaks.
    assert.equal(await edge.metric('send_failures_total'), runtime === 'deno' ? 1 : 2);
  });

  test('a batch that was refused is set aside, and goes when the operator says so', async (t) => {
    const aggregator = await startAggregator(t);
    aggregator.script = [404];
    const edge = await startEdge(t, runtime, { recipes: [quick], aggregator: aggregator.url });
    const texts = await postTexts(edge, quick, 5);
    await eventually(async () => assert.equal(await edge.metric('quarantined_batches'), 1));
    assert.equal(aggregator.records.length, 0);
    await edge.kill();
    await edge.start();
    assert.equal(await edge.metric('quarantined_batches'), 1, 'over a kill, too');
    const retry = await fetch(`${edge.url}/v1/quarantine/retry`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    assert.deepEqual(await retry.json(), { status: 'queued', batches: 1 });
    await eventually(() => assert.deepEqual(multiset(aggregator.records), multiset(texts)));
  });

  test('retries count once, over a kill and after the batch has gone', async (t) => {
    const aggregator = await startAggregator(t);
    const edge = await startEdge(t, runtime, { recipes: [quick], aggregator: aggregator.url });
    const inits = Array.from({ length: 4 }, () => reportInit(newReport(quick)));
    const postAll = async () => {
      for (const init of inits) assert.equal((await edge.post(init)).status, 202);
    };
    await postAll();
    await postAll();
    await edge.kill();
    await edge.start();
    await postAll();
    assert.equal(await edge.metric('open_reports'), 4);
    await postTexts(edge, quick, 1);
    await eventually(async () => assert.equal(await edge.metric('forwarded_batches_total'), 1));
    await edge.kill();
    await edge.start();
    await postAll();
    assert.equal(await edge.metric('open_reports'), 0);
    assert.equal(aggregator.records.length, 5);
  });

  test('of many at once each is answered for itself: bad ones, repeated ones, and beside devices that go away', async (t) => {
    const edge = await startEdge(t, runtime, {
      recipes: [slow, large],
      aggregator: 'http://127.0.0.1:1',
    });
    assert.equal((await edge.post(reportInit(newReport(slow)))).status, 202); // all is set up
    const inits = Array.from({ length: 120 }, (_, i) =>
      reportInit(newReport(i % 2 ? large : slow)),
    );
    const bad = reportInit({ ...newReport(slow), records: ['0'] });
    const posts = inits.flatMap((init, i) => {
      if (i % 9 === 0) return [hangUp(edge, init)]; // the first of all is among them, and would carry others
      const repeats = i % 10 === 1 ? [init, init] : [];
      return [init, ...repeats, ...(i % 5 ? [] : [bad])].map(async (each) => [
        each,
        (await edge.post(each)).status,
      ]);
    });
    for (const [init, status] of (await Promise.all(posts)).filter(Boolean))
      assert.equal(status, init === bad ? 400 : 202);
    // Who went away before the answer asks again, and so does everybody else; over a kill all of them are known.
    const allAgain = async () =>
      multiset(await Promise.all(inits.map(async (init) => (await edge.post(init)).status)));
    assert.deepEqual(await allAgain(), new Map([[202, inits.length]]));
    assert.equal(await edge.metric('open_reports'), inits.length + 1);
    await edge.kill();
    await edge.start();
    assert.deepEqual(await allAgain(), new Map([[202, inits.length]]));
    assert.equal(await edge.metric('open_reports'), inits.length + 1);
  });

  test('a store that fills up while many come at once takes what fits, and no more', async (t) => {
    const edge = await startEdge(t, runtime, {
      recipes: [slow],
      aggregator: 'http://127.0.0.1:1',
      limits: { store_bytes: 6000 },
    });
    const inits = Array.from({ length: 120 }, () => reportInit(newReport(slow)));
    const responses = await Promise.all(inits.map((init) => edge.post(init)));
    const taken = inits.filter((_, i) => responses[i].status === 202);
    for (const response of responses)
      if (response.status !== 202) await expectError(response, 503, 'store-full');
    assert.ok(taken.length >= 5 && taken.length < inits.length, `${taken.length}`);
    assert.equal(await edge.metric('open_reports'), taken.length);
    const again = await Promise.all(taken.map(async (init) => (await edge.post(init)).status));
    assert.deepEqual(
      multiset(again),
      new Map([[202, taken.length]]),
      'a full store knows those that it took',
    );
    assert.equal(await edge.metric('open_reports'), taken.length);
  });

  test('an open batch goes by itself after a kill', async (t) => {
    const aggregator = await startAggregator(t);
    await aggregator.stop();
    const edge = await startEdge(t, runtime, { recipes: [quick], aggregator: aggregator.url });
    const texts = await postTexts(edge, quick, 5); // the minimum: none is left below it
    await edge.kill();
    await aggregator.start();
    await edge.start();
    // Durable Objects wake by their alarm, spool folders at the start: no request is needed.
    await eventually(() => assert.deepEqual(multiset(aggregator.records), multiset(texts)));
  });

  test('nothing of a device is stored or sent: address, agent, cookies, keys, times', async (t) => {
    const aggregator = await startAggregator(t);
    const slowOnes = [
      slow,
      ...(await Promise.all(
        ['slow-2', 'slow-3'].map((recipe) => makeRecipe({ recipe, batch: slow.json.batch })),
      )),
    ];
    const edge = await startEdge(t, runtime, {
      recipes: [quick, ...slowOnes],
      aggregator: aggregator.url,
    });
    const before = Math.floor(Date.now() / 1000) * 1000; // a time may have been cut to seconds
    const planted = {
      'User-Agent': 'planted-agent-7f3a',
      Cookie: 'planted-cookie=9b1e',
      'X-Forwarded-For': '203.0.113.77',
      'CF-Connecting-IP': '203.0.113.77',
      'X-Real-IP': '203.0.113.77',
      Forwarded: 'for=203.0.113.77',
      Referer: 'https://site.example/planted-page-55d2',
      'Accept-Language': 'planted-language',
      'X-Planted': 'planted-header-c0de',
      Origin: 'https://site.example',
    };
    const keys = [];
    for (const recipe of [...slowOnes, quick]) {
      for (let i = 0; i < 6; i++) {
        keys.push(newKey());
        const response = await streamedPost(
          edge,
          reportInit(newReport(recipe), keys.at(-1), planted),
        );
        assert.equal(response, 202);
      }
      // What is refused leaves no trace either.
      keys.push(newKey());
      await streamedPost(
        edge,
        reportInit({ ...newReport(recipe), device: 'planted-device-e1f0' }, keys.at(-1), planted),
      );
    }
    await eventually(() => assert.ok(aggregator.records.length >= 5));
    const after = Date.now();
    const markers = [
      'planted',
      '203.0.113.77',
      'site.example',
      ...keys,
      ...keys.map((key) => key.slice(0, 16)),
    ];
    const needles = markers.flatMap((marker) => {
      const bytes = Buffer.from(marker);
      return [
        bytes,
        Buffer.from(bytes.toString('base64').replace(/=+$/, '')),
        Buffer.from(bytes.toString('hex')),
      ];
    });
    needles.push(...keys.map((key) => Buffer.from(key, 'hex')), Buffer.from([203, 0, 113, 77]));
    const sent = aggregator.requests.map(({ url, headers, body }) => ({
      path: 'request',
      bytes: Buffer.concat([Buffer.from(JSON.stringify([url, headers])), body]),
    }));
    const stored = await filesUnder(edge.store);
    assert.ok(sent.length > 0 && stored.length > 0);
    const kept = stored.filter(({ bytes }) => bytes.includes(Buffer.from('slow')));
    assert.ok(kept.length > 0, 'the search sees what is stored');
    for (const { path, bytes } of [...stored, ...sent]) {
      for (const needle of needles) assert.ok(!bytes.includes(needle), `${path} holds ${needle}`);
    }
    assert.ok(!/planted|203\.0\.113|\d{2}:\d{2}:\d{2}/.test(edge.output()), 'nor is it printed');
    await edge.stop();
    // The slow collections keep no time but their opening hour; their files are those that name them. Records and hashes are random, and four bytes
    // of 400 look like a second of the hour that is searched once in 1,500: a time that is kept is in each of the three, and that once in 3e9.
    const stores = await filesUnder(edge.store);
    const found = slowOnes.map(({ id, hash }) => {
      const own = stores.filter(
        ({ path, bytes }) => path.includes(hash) || bytes.includes(Buffer.from(`"${id}"`)),
      );
      assert.ok(own.length > 0, id);
      return own.flatMap(({ path, bytes }) => {
        const all = Buffer.concat([Buffer.from(path), bytes]);
        const nextDay = timesIn(all, before + DAY_MS, after + DAY_MS + HOUR_MS - 1).filter(
          (time) => time % HOUR_MS !== 0,
        );
        return [...timesIn(all, before, after), ...nextDay].map(
          (time) => `${path} holds ${new Date(time).toISOString()}`,
        );
      });
    });
    assert.ok(
      found.some((times) => times.length === 0),
      found.flat().join('\n'),
    );
  });
}

/** fetch adds headers of its own and drops some: this sends exactly what it is given. */
function streamedPost(edge, { headers, body }) {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${edge.url}/v1/reports`, { method: 'POST', headers }, (incoming) => {
      incoming.resume();
      incoming.once('end', () => resolve(incoming.statusCode));
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/**
 * Milliseconds that lie between two times, read at every place of some bytes as an integer of seconds (4 bytes), milliseconds (6), microseconds (7)
 * or nanoseconds (8), big-endian as SQLite has them and little-endian, and as decimal digits.
 */
export function timesIn(bytes, from, to) {
  const found = [];
  const units = [
    [4, 1e-3],
    [6, 1],
    [7, 1e3],
    [8, 1e6],
  ];
  for (const [size, perMs] of units) {
    for (const order of [bytes, Buffer.from(bytes).reverse()]) {
      // Almost every place fails by its first byte; reading whole numbers there took a minute.
      const first = Math.floor((from * perMs) / 256 ** (size - 1));
      const last = Math.floor((to * perMs) / 256 ** (size - 1));
      for (let at = 0; at + size <= order.length; at++) {
        if (order[at] < first || order[at] > last) continue;
        const high = size > 6 ? order.readUIntBE(at, size - 6) : 0;
        const ms =
          (high * 2 ** 48 + order.readUIntBE(at + Math.max(0, size - 6), Math.min(size, 6))) /
          perMs;
        if (ms >= from && ms <= to) found.push(ms);
      }
    }
  }
  for (const [digits] of bytes.toString('latin1').matchAll(/\d{10,19}/g)) {
    for (const perMs of [1e-3, 1, 1e3, 1e6])
      if (digits / perMs >= from && digits / perMs <= to) found.push(digits / perMs);
  }
  return found;
}
