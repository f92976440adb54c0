// SPDX-License-Identifier: Apache-2.0
// Sealed reports of recipes of two servers through the edge, over HTTP and against both runtimes: what goes on to the leader, what comes
// back, what is refused, and that nothing is kept.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { reportLength } from 'shoal-client/dap-length';
import { loadDapModule } from 'shoal-client/node';
import { filesUnder, startEdge } from './runtimes.mjs';
import { eventually, makeRecipe, newKey, newReport, reportInit } from './support.mjs';

const UPLOAD = 'application/ppm-dap;message=upload-req';
const ERRORS = 'application/ppm-dap;message=upload-errors';
const SITE = 'https://site.example';

/** A leader: keeps what came, and answers as told, else with an empty 200. */
class FakeLeader {
  /** @type {{method: string, url: string, headers: string[], body: Buffer}[]} */ requests = [];
  /** @type {any[]} */ answers = [];

  async start() {
    this.server = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      this.requests.push({
        method: request.method,
        url: request.url,
        headers: request.rawHeaders,
        body: Buffer.concat(chunks),
      });
      const {
        status = 200,
        headers = {},
        body = '',
        hangUp,
        isEndless,
      } = this.answers.shift() ?? {};
      if (hangUp) return void request.socket.destroy();
      response.writeHead(status, headers);
      if (!isEndless) return void response.end(body);
      const more = setInterval(() => response.write(Buffer.alloc(1024)), 5);
      response.on('close', () => clearInterval(more));
    });
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}/dap`;
    return this;
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** @param {string} leader @param {object} [more] */
const dapRecipe = (leader, more = {}) =>
  makeRecipe({
    recipe: 'two',
    value: 'item',
    mechanism: 'onehot-symmetric',
    parameters: { epsilon: 4, size: 12 },
    hash: undefined,
    seed: undefined,
    batch: undefined,
    cohort: { minimum: 50 },
    aggregation: { protocol: 'dap', leader, helper: 'https://helper.example/dap' },
    ...more,
  });

/** Declares the tests. @param {'workerd' | 'node'} runtime */
export function dapForwardSuite(runtime) {
  /** @param {import('node:test').TestContext} t */
  async function start(t) {
    const leader = await new FakeLeader().start();
    t.after(() => leader.stop());
    const recipe = await dapRecipe(leader.url);
    const old = await dapRecipe(leader.url, { recipe: 'old', expires: '2020-01-01' });
    const plain = await makeRecipe({ batch: { minimum: 5, max_age_s: 86_400 } });
    const edge = await startEdge(t, runtime, {
      recipes: [recipe, old, plain],
      aggregator: 'http://127.0.0.1:1',
    });
    const length = await reportLength(await loadDapModule(), recipe);
    const pathOf = (each) =>
      `/tasks/${Buffer.from(each.hash, 'hex').toString('base64url')}/reports`;
    /** @param {Uint8Array | Buffer} body @param {object} [headers] @param {any} [of] */
    const post = (body, headers = {}, of = recipe) =>
      fetch(edge.url + pathOf(of), {
        method: 'POST',
        headers: { 'Content-Type': UPLOAD, Origin: SITE, ...headers },
        body,
      });
    return { leader, recipe, old, plain, edge, length, pathOf, post };
  }

  test('a sealed report goes to the leader with nothing of the request, and its answer comes back', async (t) => {
    const { leader, recipe, edge, length, pathOf, post } = await start(t);
    const bodies = Array.from({ length: 6 }, () => randomBytes(length));
    const errors = Buffer.concat([bodies[1].subarray(0, 16), Buffer.from([2])]);
    const problem = '{"type":"urn:ietf:params:ppm:dap:error:unrecognizedTask"}';
    leader.answers.push(
      {},
      { headers: { 'Content-Type': ERRORS }, body: errors },
      { status: 201 },
      { status: 404, headers: { 'Content-Type': 'application/problem+json' }, body: problem },
      { status: 429, headers: { 'Retry-After': '77', 'Set-Cookie': 'a=b', 'X-Other': '1' } },
    );
    const answers = [];
    const telling = {
      Cookie: 'person=1',
      'X-Forwarded-For': '192.0.2.77',
      'CF-Connecting-IP': '192.0.2.77',
      Forwarded: 'for=192.0.2.77',
      'User-Agent': 'telling/1',
      'Idempotency-Key': newKey(),
      Authorization: 'Bearer x',
      Referer: 'https://site.example/page',
      'X-Secret-Thing': 'x',
    };
    for (const body of bodies.slice(0, 5)) {
      const response = await post(body, telling);
      answers.push([
        response.status,
        response.headers.get('content-type'),
        Buffer.from(await response.arrayBuffer()).toString('hex'),
      ]);
      assert.equal(response.headers.get('access-control-allow-origin'), SITE);
      assert.equal(response.headers.get('set-cookie'), null);
      assert.equal(response.headers.get('x-other'), null);
      assert.equal(response.headers.get('retry-after'), response.status === 429 ? '77' : null);
    }
    assert.deepEqual(answers, [
      [200, null, ''],
      [200, ERRORS, errors.toString('hex')],
      [200, null, ''],
      [404, 'application/problem+json', Buffer.from(problem).toString('hex')],
      [429, null, ''],
    ]);
    const path = `/dap${pathOf(recipe)}`;
    for (const [i, { method, url, headers, body }] of leader.requests.entries()) {
      assert.deepEqual([method, url], ['POST', path]);
      assert.ok(body.equals(bodies[i]), 'the same bytes');
      const names = headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
      // What an HTTP client says of itself; nothing of the device that was answered.
      const own = [
        'host',
        'connection',
        'content-type',
        'content-length',
        'accept',
        'accept-encoding',
        'accept-language',
        'sec-fetch-mode',
        'user-agent',
        'transfer-encoding',
        'cf-worker',
        'mf-vary',
      ];
      assert.deepEqual(
        names.filter((name) => !own.includes(name)),
        [],
        headers.join(' '),
      );
      assert.ok(
        !/192\.0\.2|telling|person|secret|site\.example/i.test(headers.join('\n')),
        headers.join(' '),
      );
    }
    await eventually(async () => assert.equal(await edge.metric('relayed_reports_total'), 3));
    assert.equal(await edge.metric('relay_refusals_total'), 2);
    assert.equal(await edge.metric('relay_failures_total'), 0);
    for (const { path: file, bytes } of await filesUnder(edge.store)) {
      for (const body of bodies)
        assert.equal(bytes.indexOf(body.subarray(40, 72)), -1, `${file} holds a report`);
    }
  });

  test('what is no sealed report of a recipe is refused before the leader hears of it', async (t) => {
    const { leader, recipe, old, plain, edge, length, pathOf, post } = await start(t);
    const body = randomBytes(length);
    /** @param {Response} response */
    const refused = async (response) => [response.status, (await response.json()).error.code];
    assert.deepEqual(await refused(await post(body.subarray(1))), [400, 'upload-length']);
    assert.deepEqual(await refused(await post(new Uint8Array(0))), [400, 'upload-length']);
    assert.deepEqual(await refused(await post(Buffer.concat([body, Buffer.alloc(1)]))), [
      413,
      'body-size',
    ]);
    assert.deepEqual(
      await refused(await post(Buffer.concat([body, body]))),
      [413, 'body-size'],
      'one report at a time',
    );
    assert.deepEqual(
      await refused(await post(body, { 'Content-Type': 'application/octet-stream' })),
      [415, 'upload-type'],
    );
    assert.deepEqual(await refused(await post(body, { 'Content-Type': `${UPLOAD}x` })), [
      415,
      'upload-type',
    ]);
    assert.deepEqual(await refused(await post(body, { Origin: 'https://other.example' })), [
      403,
      'origin',
    ]);
    assert.deepEqual(await refused(await post(body, {}, old)), [400, 'expired']);
    assert.deepEqual(await refused(await post(body, {}, plain)), [404, 'recipe-hash']);
    assert.deepEqual(await refused(await post(body, {}, { hash: '00'.repeat(32) })), [
      404,
      'recipe-hash',
    ]);
    assert.deepEqual(await refused(await fetch(edge.url + pathOf(recipe))), [405, 'method']);
    assert.deepEqual(
      await refused(await fetch(`${edge.url}/tasks/x/reports`, { method: 'POST' })),
      [404, 'route'],
    );
    // A record of such a recipe is never taken in the clear.
    assert.deepEqual(
      await refused(
        await edge.post(reportInit(recipe.report(recipe.randomize(3, randomBytes(32))))),
      ),
      [404, 'recipe-hash'],
    );
    assert.equal(
      (await edge.post(reportInit(newReport(plain)))).status,
      202,
      'other recipes are as ever',
    );
    const { recipes } = await (await fetch(`${edge.url}/v1/recipes`)).json();
    assert.ok(
      recipes.some(({ hash }) => hash === recipe.hash),
      'it is published',
    );
    assert.equal(leader.requests.length, 0);
  });

  test('a leader that fails, or answers with another protocol, makes the device keep its report', async (t) => {
    const { leader, edge, length, post } = await start(t);
    leader.answers.push(
      { status: 500 },
      { status: 302, headers: { Location: 'http://127.0.0.1:1/' } },
      { hangUp: true },
      { headers: { 'Content-Type': 'text/html' }, body: '<p>captive portal</p>' },
      { status: 403, headers: { 'Content-Type': 'text/html' }, body: 'x' },
      { headers: { 'Content-Type': ERRORS }, body: Buffer.alloc(5000) },
      { headers: { 'Content-Type': ERRORS }, isEndless: true },
    );
    const began = Date.now();
    for (let i = leader.answers.length; i > 0; i--) {
      const response = await post(randomBytes(length));
      assert.deepEqual(
        [response.status, (await response.json()).error.code, response.headers.get('retry-after')],
        [503, 'leader', '300'],
      );
    }
    assert.ok(Date.now() - began < 60_000, 'an answer without an end is not waited for');
    assert.equal((await post(randomBytes(length))).status, 200);
    await eventually(async () => assert.equal(await edge.metric('relay_failures_total'), 7));
    await leader.stop();
    assert.equal((await post(randomBytes(length))).status, 503);
    await leader.start(); // for its end
  });

  test('many at once', async (t) => {
    const { leader, length, post } = await start(t);
    const bodies = Array.from({ length: 50 }, () => randomBytes(length));
    const statuses = await Promise.all(bodies.map(async (body) => (await post(body)).status));
    assert.deepEqual(new Set(statuses), new Set([200]));
    const sent = (/** @type {{toString: (encoding: 'hex') => string}[]} */ list) =>
      list.map((body) => body.toString('hex')).sort();
    assert.deepEqual(sent(leader.requests.map(({ body }) => body)), sent(bodies));
  });
}
