// SPDX-License-Identifier: Apache-2.0
// What `shoal serve` says that it takes of memory, against the kernel's peak of it: every connection that it allows, each with all the headers and
// as much of a body as it takes; the largest bodies, as many as are let in; folds, results and pages meanwhile.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { LONG_HEADERS, MIB, SLACK, announced, begin, peak } from './memory_helpers.mjs';
import {
  cmsRecipe,
  configure,
  get,
  makeFolder,
  post,
  resultOf,
  run,
  secret,
  serve,
  simulate,
} from './serve_helpers.mjs';

const WORDS = 8_000;

const BODY =
  `POST /v1/batches HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${secret}\r\n` +
  `Content-Type: application/octet-stream\r\nContent-Length: ${4 * MIB}\r\n\r\n`;

/** @param {string} folder @param {object} [changes] */
function settle(folder, changes) {
  const recipe = cmsRecipe('m', {
    parameters: { epsilon: 4, k: 4096, m: 1024 },
    cohort: { minimum: 10 },
  });
  writeFileSync(
    join(folder, 'words'),
    Array.from({ length: WORDS }, (_, i) => `word${i}\n`).join(''),
  );
  return configure(folder, [recipe], {
    dictionaries: { m: 'words' },
    max_body: 4 * MIB,
    fold_interval_s: 0.05,
    body_timeout_s: 60,
    ...changes,
  });
}

/**
 * Everything at once. Returns the statuses of the answers.
 * @param {import('node:test').TestContext} t @param {string} url @param {Buffer[]} batches @param {{ bodies: number, connections: number }} held
 */
async function press(t, url, batches, { bodies, connections }) {
  const part = Buffer.alloc(4 * MIB - 4096);
  await Promise.all(Array.from({ length: bodies }, () => begin(t, url, BODY, part)));
  for (let i = 0; i < connections; i += 100)
    await Promise.all(Array.from({ length: 100 }, () => begin(t, url, LONG_HEADERS)));
  const answers = [];
  for (const batch of batches) {
    /** @type {Promise<{ status: number }>[]} */
    const asked = [post(url, batch)];
    for (let day = 1; day < 4; day++) asked.push(get(`${url}/v1/results/m?from=2020-01-0${day}`));
    asked.push(get(`${url}/recipes/m?top=10000`));
    answers.push(...(await Promise.allSettled(asked)));
  }
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []));
}

test('a server takes no more memory than it said, whatever comes at once', async (t) => {
  const folder = makeFolder(t);
  const config = settle(folder);
  const batches = simulate(join(folder, 'recipe-0.json'), 'word1\t5\nword2\t3\n', 90_000, 30_000);
  const server = await serve(t, config);
  const statuses = await press(t, server.url, batches, { bodies: 7, connections: 900 }); // there is room for one body more
  assert.ok(statuses.includes(200) && statuses.includes(201), String(statuses));
  const [said, took] = [announced(server.log()), peak(server.pid)];
  t.diagnostic(`serve: ${took.toFixed(0)} MiB of ${said} MiB`);
  assert.ok(took <= SLACK * said, `${took} MiB of ${said}`);
  assert.ok(said <= 2.5 * took, `${said} MiB are said and ${took} taken`); // not all of it can be at its most at once
});

test('with --memory it holds less at once, or does not start', async (t) => {
  const folder = makeFolder(t);
  const config = settle(folder);
  const check = (/** @type {string[]} */ ...options) =>
    run('serve', '--config', config, '--check', ...options);
  const limit = Math.ceil(announced(check().stderr) * 0.7);
  const server = await serve(t, config, '--memory', `${limit}M`);
  assert.ok(announced(server.log()) <= limit, server.log());
  await press(
    t,
    server.url,
    simulate(join(folder, 'recipe-0.json'), 'word1\t5\nword2\t3\n', 90_000, 30_000),
    { bodies: 2, connections: 100 },
  );
  const took = peak(server.pid);
  t.diagnostic(`serve --memory: ${took.toFixed(0)} MiB of ${limit} MiB`);
  assert.ok(took <= SLACK * limit, `${took} MiB of ${limit}`);
  await server.end('SIGTERM');
  const refused = check('--memory', '20M');
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /takes up to \d+ MiB of memory; --memory allows 20/);
});

test('records that are kept grow: what is taken is said anew, or they wait', async (t) => {
  const folder = makeFolder(t);
  const variable = (/** @type {string} */ name, /** @type {string} */ seed) => ({
    name,
    value: 'item',
    mechanism: 'rappor',
    parameters: { bits: 512, hashes: 2, cohorts: 8, p: 0.25, q: 0.75, f: 0.5 },
    hash: 'poly1',
    seed: seed.repeat(32),
  });
  const recipe = {
    recipe: 'both',
    analysis: 'tests',
    stream: 's',
    variables: [variable('x', '0a'), variable('y', '0b')],
    limit: { per_day: 1 },
    cohort: { minimum: 10 },
    expires: '2099-01-31',
  };
  const config = configure(folder, [recipe], { period: 'all' });
  const batches = simulate(join(folder, 'recipe-0.json'), 'a\tb\t5\nc\td\t3\n', 150_000, 50_000); // 20 MB, and no two records alike
  const limit = announced(run('serve', '--config', config, '--check').stderr);
  const short = await serve(t, config, '--memory', `${limit}M`);
  for (const batch of batches) assert.equal((await post(short.url, batch)).status, 201);
  const hasFailed = async () =>
    /fold_failures_total\{recipe="both"\} [1-9]/.test((await get(`${short.url}/metrics`)).text);
  for (let i = 0; i < 300 && !(await hasFailed()); i++)
    await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(await hasFailed());
  assert.equal((await get(`${short.url}/healthz`)).status, 200); // everybody asks, and how much waits is nobody's business
  await assert.rejects(
    short.end('SIGTERM'), // with a last fold
    /ended with 1: [^]*fold of both: its records need more memory than --memory allows; the batches wait on the disk/,
  );
  const server = await serve(t, configure(folder, [recipe], { period: 'all', store: 'another' }));
  const said = announced(server.log());
  for (const batch of batches) assert.equal((await post(server.url, batch)).status, 201);
  await server.end('SIGTERM');
  assert.ok(announced(server.log()) > said, server.log());
});

test('answers that nobody reads take no more than their room', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(
    join(folder, 'words'),
    Array.from({ length: 60_000 }, (_, i) => `word${i}\n`).join(''),
  ); // 8 MB of JSON
  const config = configure(folder, [cmsRecipe('m', { cohort: { minimum: 10 } })], {
    dictionaries: { m: 'words' },
    body_timeout_s: 60,
  });
  const server = await serve(t, config);
  const [batch] = simulate(join(folder, 'recipe-0.json'), 'word1\t5\nword2\t3\n', 2000, 2000);
  assert.equal((await post(server.url, batch)).status, 201);
  await resultOf(`${server.url}/v1/results/m?top=1`, 2000);
  const { port, hostname } = new URL(server.url);
  const sockets = Array.from({ length: 3 }, () => connect(Number(port), hostname).pause());
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  for (const socket of sockets)
    socket.write('GET /v1/results/m HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  const statuses = new Set();
  for (let tries = 0; tries < 200 && !statuses.has(503); tries++)
    statuses.add((await get(`${server.url}/v1/results/m`)).status);
  assert.ok(statuses.has(503), 'three answers are more than 16 MiB');
  assert.equal(
    (await get(`${server.url}/v1/results/m?top=10`)).status,
    200,
    'a small one has room',
  );
  for (const socket of sockets) socket.destroy();
  let status = 503;
  for (const end = Date.now() + 60_000; Date.now() < end && status === 503;) {
    // once their threads have seen that they are gone
    ({ status } = await get(`${server.url}/v1/results/m`));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(status, 200, 'room comes back');
});
