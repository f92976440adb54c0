// SPDX-License-Identifier: Apache-2.0
// Floods against `shoal serve`: slow headers, half-open bodies, and one address that wants everything. Honest senders' batches are
// taken meanwhile, 99 of 100 within two seconds, and memory stays within what was announced. SHOAL_LONG makes the floods longer.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkMemory, flood, honestMeanwhile, once, turned } from './flood_helpers.mjs';
import {
  configure,
  get,
  isCampaign,
  isLong,
  listRecipe,
  makeFolder,
  program,
  resultOf,
  run,
  secret,
  serve,
  simulate,
} from './serve_helpers.mjs';

const FLOOD_MS = isCampaign ? 40_000 : isLong ? 5000 : 1000;
const CONNECTIONS = 2000;
const SLOW_HEADERS = 'POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nX-Slow: ';
const bearer = { authorization: `Bearer ${secret}`, 'content-type': 'application/octet-stream' };

/** @param {import('node:test').TestContext} t @param {object} [changes] of the configuration */
async function start(t, changes = {}) {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme')], changes);
  const server = await serve(t, config);
  const batches = simulate(join(folder, 'recipe-0.json'), 'light\t700\ndark\t300\n', 2000, 10);
  const send = (/** @type {number} */ i) =>
    once(`${server.url}/v1/batches`, {
      method: 'POST',
      headers: bearer,
      body: batches[i % batches.length],
    });
  return { folder, server, url: server.url, send };
}

/** What comes of a connection: how long it stayed open, and what it was told. @param {string} url @param {string} text @param {string} [drip] every tenth of a second */
function hold(url, text, drip) {
  const { hostname, port } = new URL(url);
  const began = performance.now();
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    const timer = drip ? setInterval(() => socket.write(drip), 100) : undefined;
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes));
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(timer);
      resolve({ ms: performance.now() - began, answer });
    });
  });
}

test(
  'slow headers do not take the server offline',
  { timeout: isLong ? 3_600_000 : 300_000 },
  async (t) => {
    const { server, url, send } = await start(t);
    const slow = await flood(t, url, CONNECTIONS, { start: SLOW_HEADERS, drip: 'x' });
    await honestMeanwhile(t, 'batches under slow headers', FLOOD_MS, send, [200, 201]);
    const why = turned((await get(`${url}/metrics`)).text);
    t.diagnostic(JSON.stringify({ ...(await slow.counts()), ...why }));
    assert.ok(why['no-room'] > 0, 'strangers were displaced');
    checkMemory(t, 'serve', server.pid, server.log());
  },
);

test(
  'half-open bodies do not take the server offline',
  { timeout: isLong ? 3_600_000 : 300_000 },
  async (t) => {
    const { server, url, send } = await start(t);
    // With a wrong token, which the server answers only once the body is there, and bytes in each.
    const head =
      'POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong-wrong-wrong-wrong\r\n' +
      'Content-Type: application/octet-stream\r\nContent-Length: 100000\r\n\r\n';
    await flood(t, url, CONNECTIONS, { start: head + 'x'.repeat(60_000) });
    await honestMeanwhile(t, 'batches under half-open bodies', FLOOD_MS, send, [200, 201]);
    checkMemory(t, 'serve', server.pid, server.log());
  },
);

test('a flood does not use up the files that the store needs', { timeout: 60_000 }, async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme')]);
  const batches = simulate(join(folder, 'recipe-0.json'), 'light\t1\n', 200, 100);
  const start = (/** @type {number} */ files, /** @type {string} */ config) => {
    const child = spawn(
      'sh',
      ['-c', `ulimit -n ${files} && exec "$0" serve --config "$1"`, program, config],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    t.after(() => child.kill('SIGKILL'));
    let log = '';
    return new Promise((resolve) => {
      child.stderr.setEncoding('utf8').on('data', (text) => {
        log += text;
        const found = /listening on (http:\S+)\//.exec(log);
        if (found) resolve({ url: found[1], log: () => log });
      });
      child.once('close', () => resolve({ url: '', log: () => log }));
    });
  };
  const { url, log } = await start(250, config);
  await flood(t, url, 400, { start: SLOW_HEADERS, drip: 'x' });
  for (const body of batches)
    assert.equal(
      (await once(`${url}/v1/batches`, { method: 'POST', headers: bearer, body })).status,
      201,
    );
  await resultOf(`${url}/v1/results/theme`, 200); // it was folded into files
  assert.doesNotMatch(log(), /open files/);
  const other = configure(folder, [listRecipe('theme')], { store: 'other' });
  assert.match((await start(150, other)).log(), /too few open files \(ulimit -n\): 192 are needed/);
});

test('headers that drip end at their deadline, and so does a connection that rests', async (t) => {
  const { url, send } = await start(t, { limits: { header_timeout_s: 1 }, body_timeout_s: 1 });
  const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n';
  const [slow, reused, whole] = await Promise.all([
    hold(url, `${request}X-Slow: `, 'x'),
    hold(url, `${request}\r\n${request}X-Slow: `, 'x'), // its second request is slow
    hold(url, `${request}Connection: close\r\n\r\n`),
  ]);
  assert.ok(slow.ms > 900 && slow.ms < 5000 && slow.answer === '', JSON.stringify(slow));
  // Its deadline begins anew after an answer, with the time for which a connection may rest.
  assert.ok(reused.ms > slow.ms && reused.ms < 20_000, `${reused.ms} ms`);
  assert.match(reused.answer, /^HTTP\/1\.1 200 /);
  assert.match(whole.answer, /^HTTP\/1\.1 200 /);
  assert.equal(turned((await get(`${url}/metrics`)).text)['late-headers'], 2);
  assert.equal((await send(0)).status, 201);
});

test('a body that says nothing more, and one that drips, end at their deadline', async (t) => {
  const { url } = await start(t, { body_timeout_s: 2 });
  const head =
    `POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secret}\r\n` +
    'Content-Type: application/octet-stream\r\nContent-Length: 100000\r\n\r\n';
  for (const { ms } of await Promise.all([hold(url, head), hold(url, `${head}x`, 'x')]))
    assert.ok(ms > 1000 && ms < 8000, `${ms} ms`);
});

test('an address has so many connections, and so many requests without a token', async (t) => {
  const { url, send } = await start(t, {
    limits: { connections_per_address: 3, requests_per_s: 1, requests_burst: 5, unlimited: [] },
  });
  const slow = await Promise.all(
    Array.from({ length: 3 }, () => flood(t, url, 1, { start: SLOW_HEADERS })),
  );
  await sleep(300);
  assert.equal((await once(`${url}/healthz`)).status, 0, 'a fourth connection is refused');
  await Promise.all(slow.map((one) => one.end()));
  await sleep(300);
  const statuses = [];
  for (let i = 0; i < 7; i++) statuses.push((await once(`${url}/healthz`)).status);
  assert.deepEqual(statuses.slice(0, 5), [200, 200, 200, 200, 200]);
  assert.deepEqual(statuses.slice(5), [429, 429]);
  const refused = await fetch(`${url}/healthz`);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await refused.json()).error.code, 'busy');
  assert.equal((await send(0)).status, 201, 'who has the token is not counted');
  await sleep(1100);
  assert.equal((await once(`${url}/healthz`)).status, 200, 'the bucket fills');
});

test('a path with an escaped NUL is refused, and so is a query', async (t) => {
  const { url } = await start(t);
  for (const path of ['/healthz%00', '/healthz%00x', '/%00', '/recipes/theme%00', '/?top=1%00'])
    assert.equal((await get(url + path)).status, 400, path);
  // On the same connection the next request is answered as ever.
  const two =
    'GET /healthz%00 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  const { answer } = await hold(url, two);
  assert.deepEqual(
    [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status),
    ['400', '200'],
  );
});

test('wrong limits are refused by name', (t) => {
  const folder = makeFolder(t);
  /** @type {[object, RegExp][]} */
  const bad = [
    [{ limits: 1 }, /limits: must be an object/],
    [{ limits: { extra: 1 } }, /limits: extra: unknown field/],
    [
      { limits: { header_timeout_s: 0 } },
      /limits: header_timeout_s: must be a whole number of 1 to 3600/,
    ],
    [{ limits: { header_timeout_s: 1.5 } }, /limits: header_timeout_s/],
    [{ limits: { connections_per_address: -1 } }, /limits: connections_per_address/],
    [{ limits: { requests_per_s: '5' } }, /limits: requests_per_s/],
    [{ limits: { requests_burst: 0 } }, /limits: requests_burst/],
    [{ limits: { unlimited: '10.0.0.0/8' } }, /limits: unlimited: must be a list/],
    [{ limits: { unlimited: ['0.0.0.0/0'] } }, /limits: unlimited: must be a numeric address/],
  ];
  for (const [changes, message] of bad) {
    const done = run(
      'serve',
      '--check',
      '--config',
      configure(folder, [listRecipe('theme')], changes),
    );
    assert.notEqual(done.status, 0, JSON.stringify(changes));
    assert.match(done.stderr, message);
  }
  const text = '{"listen":"127.0.0.1:0","limits":{"requests_per_s":1,"requests_per_s":2}}';
  writeFileSync(join(folder, 'config.json'), text);
  assert.match(
    run('serve', '--check', '--config', join(folder, 'config.json')).stderr,
    /limits: requests_per_s: given twice/,
  );
});
