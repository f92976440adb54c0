// SPDX-License-Identifier: Apache-2.0
// Leader and helper at the door: who may ask what, and how; what is too large or too slow; keys and what pages may read; metrics and
// health; configurations that are refused.
import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { request } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { makeFolder, run } from '../serve/serve_helpers.mjs';
import {
  ask,
  colours,
  encodeReport,
  idText,
  sealedReports,
  simulateColours,
  startPair,
  thisHour,
  upload,
} from './dap_helpers.mjs';

const UPLOAD = 'application/ppm-dap;message=upload-req';
const COLLECT = 'application/ppm-dap;message=collection-job-req';
/** A collection request for one hour. @param {number} hour */
const queryOf = (hour) => {
  const query = Buffer.alloc(25);
  query[0] = 1;
  query.writeUInt16BE(16, 1);
  query.writeBigUInt64BE(BigInt(hour), 3);
  query.writeBigUInt64BE(1n, 11);
  return new Uint8Array(query);
};

/** @param {import('node:test').TestContext} t @param {object} [changes] of the leader's configuration */
async function setUp(t, changes = {}) {
  const folder = makeFolder(t);
  const pair = await startPair(t, folder, (urls) => ({ 'recipe.json': colours(urls) }), changes);
  const hash = run('recipe', 'hash', pair.at('recipe.json')).stdout.trim();
  return {
    pair,
    hash,
    tasks: (/** @type {'leader' | 'helper'} */ role) => `${pair.urls[role]}/tasks/${idText(hash)}`,
  };
}

test(
  'each resource takes its method, its media type and its token, and nothing else',
  { timeout: 300000 },
  async (t) => {
    const { pair, tasks } = await setUp(t);
    const [leader, helper] = [tasks('leader'), tasks('helper')];
    const bearer = (/** @type {string} */ token) => ({ authorization: `Bearer ${token}` });
    const { collector, helper: own } = pair.tokens;
    /** @type {[string, string, Record<string, string>, number][]} */
    const cases = [
      [`${pair.urls.leader}/nothing`, 'GET', {}, 404],
      [`${pair.urls.leader}/tasks/`, 'POST', {}, 404],
      [`${leader}/nothing`, 'POST', {}, 404],
      [`${leader}/reports/`, 'POST', {}, 404],
      [`${leader}/reports/AAAAAAAAAAAAAAAAAAAAAA`, 'GET', {}, 404],
      [`${leader}/aggregation_jobs`, 'POST', bearer(own), 404], // the helper's
      [`${helper}/reports`, 'POST', {}, 404], // the leader's
      [`${helper}/collection_jobs`, 'POST', bearer(own), 404],
      [`${leader}/reports`, 'GET', {}, 405],
      [`${leader}/reports`, 'PUT', { 'content-type': UPLOAD }, 405],
      [`${leader}/reports`, 'POST', { 'content-type': 'application/octet-stream' }, 415],
      [
        `${leader}/reports`,
        'POST',
        { 'content-type': 'Application/PPM-DAP; message=upload-req' },
        400,
      ], // empty
      [`${leader}/collection_jobs`, 'POST', { 'content-type': COLLECT }, 401],
      [`${leader}/collection_jobs`, 'POST', { 'content-type': COLLECT, ...bearer(own) }, 401],
      [
        `${leader}/collection_jobs`,
        'POST',
        { 'content-type': COLLECT, ...bearer(`${collector}x`) },
        401,
      ],
      [`${leader}/collection_jobs`, 'POST', { 'content-type': UPLOAD, ...bearer(collector) }, 415],
      [`${leader}/collection_jobs`, 'GET', bearer(collector), 405],
      [`${leader}/collection_jobs/AAAAAAAAAAAAAAAAAAAAAA`, 'GET', {}, 401],
      [`${leader}/collection_jobs/AAAAAAAAAAAAAAAAAAAAAA`, 'GET', bearer(collector), 404],
      [`${leader}/collection_jobs/AAAAAAAAAAAAAAAAAAAAAB`, 'GET', bearer(collector), 404], // no id: bits behind its end
      [`${leader}/collection_jobs/AAAAAAAAAAAAAAAAAAAAAA`, 'POST', bearer(collector), 405],
      [`${helper}/aggregation_jobs`, 'POST', bearer(collector), 401],
      [`${helper}/aggregate_shares`, 'POST', {}, 401],
      [`${helper}/aggregate_shares`, 'POST', bearer(own), 415],
      [`${helper}/aggregation_jobs/AAAAAAAAAAAAAAAAAAAAAA`, 'GET', bearer(own), 404],
      [`${helper}/aggregation_jobs/AAAAAAAAAAAAAAAAAAAAAA`, 'DELETE', bearer(own), 204],
      [`${pair.urls.leader}/hpke_config`, 'POST', {}, 405],
    ];
    for (const [url, method, headers, status] of cases) {
      const response = await ask(url, {
        method,
        headers,
        ...(method === 'POST' || method === 'PUT' ? { body: '' } : {}),
      });
      assert.equal(response.status, status, `${method} ${url}`);
      if (status === 405) assert.ok(response.headers.get('allow'), `${method} ${url}`);
      if (status >= 400) {
        assert.equal(response.headers.get('content-type'), 'application/problem+json');
        assert.equal((await response.json()).status, status);
      }
    }
    const stranger = await ask(`${pair.urls.leader}/tasks/${idText('11'.repeat(32))}/reports`, {
      method: 'POST',
      headers: { 'content-type': UPLOAD },
      body: 'x',
    });
    assert.equal(stranger.status, 404);
    assert.deepEqual(await stranger.json(), {
      type: 'urn:ietf:params:ppm:dap:error:unrecognizedTask',
      status: 404,
      taskid: idText('11'.repeat(32)),
    });
  },
);

test('keys and uploads are open to pages, and keys may be kept', { timeout: 300000 }, async (t) => {
  const { pair, tasks } = await setUp(t);
  for (const role of /** @type {const} */ (['leader', 'helper'])) {
    for (const base of [pair.urls[role], new URL(pair.urls[role]).origin]) {
      // also where a proxy takes the path off
      const keys = await ask(`${base}/hpke_config`);
      assert.equal(keys.status, 200);
      assert.equal(
        keys.headers.get('content-type'),
        'application/ppm-dap;message=hpke-config-list',
      );
      assert.equal(keys.headers.get('cache-control'), 'max-age=86400');
      assert.equal(keys.headers.get('access-control-allow-origin'), '*');
      const bytes = Buffer.from(await keys.arrayBuffer());
      const own = pair.keys[role];
      assert.equal(
        bytes.toString('hex'),
        `0029${own.id.toString(16).padStart(2, '0')}0020000100010020${own.public_key}`,
      );
    }
  }
  const preflight = await ask(`${tasks('leader')}/reports`, { method: 'OPTIONS' });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /POST/);
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /Content-Type/);
  const refused = await ask(`${tasks('leader')}/reports`, {
    method: 'POST',
    headers: { 'content-type': UPLOAD },
    body: 'x',
  });
  assert.equal(refused.status, 400);
  assert.equal(refused.headers.get('access-control-allow-origin'), '*');
  const closed = await ask(`${tasks('leader')}/collection_jobs`, { method: 'OPTIONS' });
  assert.equal(closed.status, 401);
  assert.equal(closed.headers.get('access-control-allow-origin'), null);
});

test(
  'bodies that are too large or too slow end, and the server goes on',
  { timeout: 300000 },
  async (t) => {
    const { pair, hash, tasks } = await setUp(t, { max_body: 65536, body_timeout_s: 1 });
    const headers = { 'content-type': UPLOAD };
    const large = await ask(`${tasks('leader')}/reports`, {
      method: 'POST',
      headers,
      body: new Uint8Array(65537),
    });
    assert.equal(large.status, 413);
    await large.arrayBuffer();
    const { hostname, port, pathname } = new URL(`${tasks('leader')}/reports`);
    // Chunked, so that nothing announces the length.
    const chunked = request({ hostname, port, path: pathname, method: 'POST', headers });
    chunked.on('error', () => {});
    for (let i = 0; i < 9; i++) chunked.write(Buffer.alloc(8192));
    chunked.end();
    const [response] = await once(chunked, 'response');
    assert.equal(response.statusCode, 413);
    response.resume();
    // Bodies that are announced and do not come: they take no room from others.
    const held = Array.from({ length: 9 }, () => connect(Number(port), hostname));
    for (const one of held) {
      one.on('error', () => {});
      one.write(
        `POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Type: ${UPLOAD}\r\nContent-Length: 65536\r\n\r\nabc`,
      );
    }
    await sleep(300);
    const other = await ask(`${tasks('leader')}/reports`, {
      method: 'POST',
      headers,
      body: new Uint8Array(10),
    });
    assert.equal(other.status, 400); // read, and no report
    await other.arrayBuffer();
    for (const one of held) one.destroy();
    // A body that never ends.
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Type: ${UPLOAD}\r\nContent-Length: 1000\r\n\r\nabc`,
    );
    const drip = setInterval(() => socket.write('x'), 200);
    const closed = once(socket, 'close');
    socket.resume();
    await closed;
    clearInterval(drip);
    const file = simulateColours(pair, 10, 'after');
    const reports = await sealedReports(pair.urls.leader, '--recipe', pair.at('recipe.json'), file);
    assert.deepEqual(await upload(pair.urls.leader, hash, reports), {
      status: 200,
      text: '',
      errors: [],
    });
    assert.ok(reports.length === 10 && encodeReport(reports[0]).length < 65536);
  },
);

test(
  'metrics count, for this machine only; health says when the helper is away',
  { timeout: 300000 },
  async (t) => {
    const { pair, hash, tasks } = await setUp(t);
    const origin = new URL(pair.urls.leader).origin;
    const metric = async (/** @type {string} */ name) => {
      const text = await (await ask(`${origin}/metrics`)).text();
      const line = text
        .split('\n')
        .find((one) => one.startsWith(`shoal_dap_${name}{task="colours",id="${idText(hash)}"`));
      return Number(line?.split(' ').at(-1));
    };
    const until = async (/** @type {() => Promise<boolean>} */ isSo) => {
      for (const end = Date.now() + 60_000; Date.now() < end;) {
        if (await isSo()) return;
        await sleep(50);
      }
      assert.fail(`it never was so: ${isSo}\n${pair.leader.log()}\n${pair.helper.log()}`);
    };
    // Not to a request that was meant for another name.
    const { hostname, port } = new URL(origin);
    const stranger = request({
      hostname,
      port,
      path: '/metrics',
      headers: { host: 'leader.example' },
    }).end();
    const [response] = await once(stranger, 'response');
    assert.equal(response.statusCode, 401);
    response.resume();

    assert.equal((await ask(`${origin}/healthz`)).status, 200);
    await pair.helper.end('SIGTERM');
    const file = simulateColours(pair, 300, 'counted');
    const reports = await sealedReports(
      pair.urls.leader,
      '--recipe',
      pair.at('recipe.json'),
      file,
    ).catch(() => []);
    assert.equal(reports.length, 0); // no helper, no keys, no report
    await pair.helper.start();
    const sealed = await sealedReports(pair.urls.leader, '--recipe', pair.at('recipe.json'), file);
    await pair.helper.end('SIGTERM');
    assert.equal((await upload(pair.urls.leader, hash, sealed)).status, 200);
    assert.equal(await metric('reports_uploaded_total'), 300);
    assert.equal(await metric('reports_pending'), 300);
    await until(async () => (await ask(`${origin}/healthz`)).status === 503);
    assert.equal(await metric('helper_failing'), 1);
    // A leader that is stopped with a job on its way goes on with it.
    assert.equal(await pair.leader.end('SIGTERM'), 0);
    await Promise.all([pair.leader.start(), pair.helper.start()]);
    await until(async () => (await metric('reports_aggregated_total')) === 300);
    assert.equal(await metric('reports_pending'), 0);
    assert.equal((await ask(`${origin}/healthz`)).status, 200);
    // Below the minimum nothing is given out.
    const askForBatch = () =>
      ask(`${tasks('leader')}/collection_jobs`, {
        method: 'POST',
        body: queryOf(thisHour() - 24),
        headers: { 'content-type': COLLECT, authorization: `Bearer ${pair.tokens.collector}` },
      });
    const asked = await askForBatch();
    assert.equal(asked.status, 201);
    assert.ok(Number(asked.headers.get('retry-after')) > 0);
    const where = `${origin}${asked.headers.get('location')}`;
    // Behind a proxy that takes the path off, a collector is sent to the path that it knows all the same.
    const stripped = await ask(`${origin}/tasks/${idText(hash)}/collection_jobs`, {
      method: 'POST',
      body: queryOf(thisHour() - 24),
      headers: { 'content-type': COLLECT, authorization: `Bearer ${pair.tokens.collector}` },
    });
    assert.deepEqual(
      [stripped.status, stripped.headers.get('location')],
      [201, asked.headers.get('location')],
    );
    assert.match(where, /\/dap\/tasks\//);
    const poll = () =>
      ask(where, { headers: { authorization: `Bearer ${pair.tokens.collector}` } });
    await until(async () => (await poll()).status === 400);
    assert.equal(
      (await (await poll()).json()).type,
      'urn:ietf:params:ppm:dap:error:invalidBatchSize',
    );
  },
);

test('a crash writes no keys into a file', { timeout: 300000 }, async (t) => {
  const { pair } = await setUp(t);
  for (const { pid } of [pair.leader, pair.helper]) {
    assert.match(readFileSync(`/proc/${pid()}/limits`, 'utf8'), /^Max core file size +0 +0 /m);
  }
});

test(
  'a damaged database shows in /healthz, and is refused at the start; files are private',
  { timeout: 300000 },
  async (t) => {
    const umask = process.umask(0);
    t.after(() => process.umask(umask));
    const { pair } = await setUp(t, { check_interval_s: 0.1 });
    const origin = new URL(pair.urls.leader).origin;
    for (const role of ['leader', 'helper']) {
      const store = pair.at(role, 'store');
      const files = readdirSync(store);
      assert.ok(files.some((name) => name.endsWith('.db-wal')));
      for (const name of files)
        assert.equal(statSync(join(store, name)).mode & 0o777, 0o600, `${role}: ${name}`);
    }
    const store = pair.at('leader', 'store');
    const name = String(readdirSync(store).find((each) => each.endsWith('.db')));
    // The log goes into the database at the end; damage what lies there then.
    await pair.leader.end('SIGTERM');
    await pair.leader.start();
    assert.equal((await ask(`${origin}/healthz`)).status, 200);
    const whole = readFileSync(join(store, name));
    const ruined = Buffer.from(whole);
    for (let at = 4096; at < ruined.length; at += 4096) ruined.fill(0xfe, at, at + 12);
    const file = openSync(join(store, name), 'r+');
    writeSync(file, ruined, 0, ruined.length, 0);
    let health;
    for (const end = Date.now() + 30_000; Date.now() < end;) {
      health = await ask(`${origin}/healthz`);
      if (health.status === 503) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(await health?.text(), '{"status":"damaged"}\n');
    await pair.leader.end('SIGKILL');
    for (const args of [[], ['--check']]) {
      const done = run('serve', '--config', pair.at('leader', 'config.json'), ...args);
      assert.equal(done.status, 5);
      assert.match(done.stderr, /the database is damaged/);
    }
    writeSync(file, whole, 0, whole.length, 0);
    closeSync(file);
    assert.equal(run('serve', '--config', pair.at('leader', 'config.json'), '--check').status, 0);
  },
);

test('configurations that do not fit are refused, by name', { timeout: 300000 }, async (t) => {
  const { pair } = await setUp(t);
  await pair.leader.end('SIGTERM');
  await pair.helper.end('SIGTERM');
  const check = (
    /** @type {string} */ role,
    /** @type {object} */ changes,
    /** @type {string[]} */ ...args
  ) => {
    const config = JSON.parse(readFileSync(pair.at(role, 'config.json'), 'utf8'));
    const changed = pair.at(role, 'changed.json');
    writeFileSync(changed, JSON.stringify({ ...config, ...changes }));
    return run('serve', '--config', changed, '--check', ...args);
  };
  assert.equal(check('leader', {}).status, 0);
  assert.equal(check('helper', {}, '--role', 'helper').status, 0);
  chmodSync(pair.at('seed'), 0o644);
  const open = check('leader', {});
  assert.equal(open.status, 1);
  assert.match(open.stderr, /seed: others may read it/);
  chmodSync(pair.at('seed'), 0o600);
  writeFileSync(pair.at('other.seed'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  copyFileSync(pair.at('collector', 'key.json'), pair.at('secret.json'));
  chmodSync(pair.at('secret.json'), 0o600);
  /** @type {[string, object, string[], number, RegExp][]} */
  const cases = [
    ['leader', {}, ['--role', 'helper'], 2, /--role helper: .* is the configuration of a leader/],
    ['leader', { role: 'both' }, [], 1, /role must be leader or helper/],
    ['leader', { collector_token_file: undefined }, [], 1, /collector_token_file is missing/],
    [
      'helper',
      { collector_token_file: '../collector.token' },
      [],
      1,
      /collector_token_file is not known/,
    ],
    ['helper', { job_size: 5 }, [], 1, /job_size is not known/],
    ['leader', { tasks: [] }, [], 1, /tasks must be/],
    ['leader', { tasks: ['../recipe.json', '../recipe.json'] }, [], 1, /same id/],
    ['leader', { hpke_keys: ['public.json'] }, [], 1, /needs its secret key/],
    ['leader', { hpke_keys: ['key.json', 'key.json'] }, [], 1, /another key has the id/],
    ['leader', { collector_key: '../secret.json' }, [], 1, /collector's secret key/],
    ['leader', { verify_key_seed_file: '../helper.token' }, [], 1, /64 lower-case hex digits/],
    [
      'leader',
      { verify_key_seed_file: '../other.seed' },
      [],
      1,
      /another configuration, collector key or verification seed/,
    ],
    ['leader', { helper_url: 'http://helper.example' }, [], 1, /helper_url/],
    ['leader', { listen: 'localhost' }, [], 1, /listen must be/],
    ['leader', { keep_days: 0 }, [], 1, /keep_days/],
  ];
  for (const [role, changes, args, status, message] of cases) {
    const done = check(role, changes, ...args);
    assert.equal(done.status, status, `${JSON.stringify(changes)}: ${done.stderr}`);
    assert.match(done.stderr, message);
  }
  const plain = run('serve', '--config', pair.at('recipe.json'), '--role', 'leader');
  assert.equal(plain.status, 2);
  assert.match(plain.stderr, /has no "role"/);
});
