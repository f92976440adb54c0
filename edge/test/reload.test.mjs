// SPDX-License-Identifier: Apache-2.0
// The edge takes a new configuration while it runs: recipes come and go under traffic, and every accepted report reaches the
// aggregator once. A configuration that is wrong anywhere changes nothing, and the log says what and where.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tests/ports.mjs';
import {
  SECRET,
  TOKEN,
  FakeAggregator,
  makeRecipe,
  newKey,
  newReport,
  reportInit,
} from './support.mjs';

const command = fileURLToPath(new URL('../bin/shoal-edge.js', import.meta.url));
const RELOADS = process.env.SHOAL_LONG === '1' ? 60 : 10;
const A_RELOAD = 20; // reports, about

const one = await makeRecipe();
const two = await makeRecipe({ recipe: 'edge-two' });

/** Says whether the condition comes to hold within a time. */
async function holdsWithin(ms, condition) {
  for (const end = Date.now() + ms; Date.now() < end;) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

/** Waits until the condition holds. */
async function eventually(condition) {
  if (!(await holdsWithin(60_000, condition))) throw new Error(`waited in vain: ${condition}`);
}

/** An aggregator of both recipes. */
async function fakeAggregator(t) {
  const aggregator = await new FakeAggregator([one, two]).start();
  t.after(() => aggregator.remove());
  return aggregator;
}

/** A folder with a configuration. */
async function folder(t, change = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-edge-'));
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const write = (name, text) => writeFile(join(dir, name), text);
  await write('one.json', JSON.stringify(one.json));
  await write('two.json', JSON.stringify(two.json));
  await write('secret', `${SECRET}\n`);
  await write('token', `${TOKEN}\n`);
  const config = {
    listen: `127.0.0.1:${await freePort()}`,
    spool: 'spool',
    recipes: [{ file: 'one.json', hash: one.hash }],
    origins: ['https://site.example'],
    aggregator: 'http://127.0.0.1:1',
    batch_secret_file: 'secret',
    admin_token_file: 'token',
    ...change,
  };
  const configure = (changes = {}) => write('edge.json', JSON.stringify({ ...config, ...changes }));
  await configure();
  return { dir, config, configure, write, url: `http://${config.listen}` };
}

const BOTH = [
  { file: 'one.json', hash: one.hash },
  { file: 'two.json', hash: two.hash },
];

/** The command as a process, with what it logs. */
async function start(t, dir, ...args) {
  const child = spawn(process.execPath, [command, '--config', join(dir, 'edge.json'), ...args], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let log = '';
  child.stderr.on('data', (data) => (log += data));
  await eventually(() => log.includes('listening') || child.exitCode !== null);
  assert.equal(child.exitCode, null, log);
  const outcomes = () => log.split('\n').filter((line) => /reloaded|reload refused/.test(line));
  const reload = async () => {
    const before = outcomes().length;
    child.kill('SIGHUP');
    await eventually(() => outcomes().length > before);
    return outcomes()[before];
  };
  const end = async (signal) => {
    child.kill(signal);
    await exit;
  };
  return { child, log: () => log, outcomes, reload, end, exit };
}

const metricsOf = async (url) =>
  (await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } })).text();
const recipesOf = async (url) =>
  (await (await fetch(`${url}/v1/recipes`)).json()).recipes.map(({ hash }) => hash);

test(`${RELOADS} reloads under traffic: accepted reports arrive once`, async (t) => {
  const aggregator = await fakeAggregator(t);
  const { dir, configure, url } = await folder(t, { aggregator: aggregator.url });
  const edge = await start(t, dir);
  const accepted = new Set();
  let goesOn = true;
  const client = async (recipe) => {
    for (; goesOn;) {
      const report = newReport(recipe);
      const init = reportInit(report, newKey());
      let status = 0;
      while (status !== 202 && goesOn) {
        status = (await fetch(`${url}/v1/reports`, init)).status;
        assert.ok(status === 202 || (status === 404 && recipe === two), `status ${status}`);
      }
      if (status === 202) accepted.add(report.records[0]);
    }
  };
  const clients = Promise.all([one, one, one, two, two].map(client));
  clients.catch(() => {}); // looked at below
  for (let i = 0; i < RELOADS; i++) {
    const isWrong = i % 3 === 2;
    const recipes = isWrong
      ? [{ file: 'one.json', hash: two.hash }]
      : i % 2 === 0
        ? BOTH
        : BOTH.slice(0, 1);
    await configure({ recipes });
    assert.match(await edge.reload(), isWrong ? /refused.*is pinned/ : /: reloaded$/);
    const before = accepted.size;
    await Promise.race([eventually(() => accepted.size >= before + A_RELOAD), clients]);
  }
  goesOn = false;
  await clients;
  await configure({ recipes: BOTH });
  await edge.reload();
  // What waits below the minimum is filled up.
  const fill = async (recipe) => {
    const report = newReport(recipe);
    const { status } = await fetch(`${url}/v1/reports`, reportInit(report));
    assert.equal(status, 202);
    accepted.add(report.records[0]);
  };
  // A batch that is old enough is sealed with the first report that makes it large enough. The rest
  // of the filling may be too few then, so that the next one is larger.
  const arrives = () => aggregator.records.length >= accepted.size;
  let size = 5;
  do for (const recipe of [one, two]) for (let i = 0; i < size; i++) await fill(recipe);
  while (!(await holdsWithin(5000, arrives)) && ++size < 15);
  const arrived = aggregator.records;
  assert.equal(arrived.length, accepted.size);
  assert.deepEqual(new Set(arrived), accepted);
  const metrics = await metricsOf(url);
  const refused = Math.floor(RELOADS / 3);
  assert.match(
    metrics,
    new RegExp(`^shoal_edge_reloads_total{outcome="refused"} ${refused}$`, 'm'),
  );
  assert.match(metrics, /^shoal_edge_reload_refused 0$/m);
  assert.match(metrics, /^# TYPE shoal_edge_reloads_total counter$/m);
  t.diagnostic(`${accepted.size} reports during ${RELOADS} reloads`);
  await edge.end('SIGTERM');
});

/** What is wrong, and what the log must name. */
const WRONG = [
  ['JSON cut off', ({ write }) => write('edge.json', '{"listen"'), /edge\.json is not JSON/],
  ['no file', ({ dir }) => rm(join(dir, 'edge.json')), /edge\.json: there is no such file/],
  ['an unknown field', ({ configure }) => configure({ origin: [] }), /unknown field "origin"/],
  ['another hash', ({ write }) => write('one.json', JSON.stringify(two.json)), /is pinned/],
  ['a recipe cut off', ({ write }) => write('one.json', '{'), /one\.json is not JSON/],
  ['no recipe', ({ dir }) => rm(join(dir, 'one.json')), /one\.json: there is no such file/],
  [
    'a link to itself',
    async ({ dir }) => {
      await rm(join(dir, 'one.json'));
      await symlink('one.json', join(dir, 'one.json'));
    },
    /ELOOP.*one\.json/,
  ],
  [
    'a folder for a secret',
    ({ configure }) => configure({ batch_secret_file: '.' }),
    /is a folder, a pipe or a device/,
  ],
  ['a short secret', ({ write }) => write('secret', 'short\n'), /secret: a secret of at least 16/],
  [
    'another port',
    ({ configure }) => configure({ listen: '127.0.0.1:1' }),
    /listen: changed; only/,
  ],
  ['another spool', ({ configure }) => configure({ spool: 'other' }), /spool: changed; only/],
  ['other limits', ({ configure }) => configure({ batch_bytes: 4096 }), /batch_bytes: changed/],
  [
    'a rate',
    ({ configure }) => configure({ rate: {} }),
    /rate, or a field of connections: changed/,
  ],
  [
    'gateway keys that others read',
    async ({ write, configure }) => {
      await write('keys', '{"keys": []}');
      await configure({ gateway: { keys_file: 'keys', unknown_per_minute: 1 } });
    },
    /keys: only its owner may read/,
  ],
];

test('a reload with anything wrong changes nothing, and says what and where', async (t) => {
  const made = await folder(t);
  const edge = await start(t, made.dir);
  for (const [what, breakIt, named] of WRONG) {
    await breakIt(made);
    const line = await edge.reload();
    assert.match(line, /reload refused, the old configuration goes on: /, what);
    assert.match(line, named, what);
    assert.ok(!line.includes(SECRET) && !line.includes(TOKEN), 'the log names no secret');
    assert.deepEqual(await recipesOf(made.url), [one.hash], what);
    const health = await (await fetch(`${made.url}/healthz`)).json();
    assert.deepEqual(health, { status: 'ok', reload: 'refused' }, what);
    const { status } = await fetch(`${made.url}/v1/reports`, reportInit(newReport(one)));
    assert.equal(status, 202, what);
    await rm(join(made.dir, 'one.json'), { force: true });
    await made.write('one.json', JSON.stringify(one.json));
    await made.write('secret', `${SECRET}\n`);
    await made.configure();
  }
  assert.match(await edge.reload(), /: reloaded$/);
  assert.deepEqual(await (await fetch(`${made.url}/healthz`)).json(), { status: 'ok' });
});

test('secrets, origins and tokens change; keys of reports are remembered', async (t) => {
  const made = await folder(t);
  const edge = await start(t, made.dir);
  const key = newKey();
  const init = (recipe) => reportInit(newReport(recipe), key, { Origin: 'https://new.example' });
  assert.equal((await fetch(`${made.url}/v1/reports`, init(one))).status, 403);
  await made.write('token', 'another-token-of-the-tests\n');
  await made.configure({ origins: ['https://new.example'], recipes: BOTH });
  assert.match(await edge.reload(), /: reloaded$/);
  assert.equal((await fetch(`${made.url}/v1/reports`, init(one))).status, 202);
  assert.match(await metricsOf(made.url), /unauthorized/);
  await made.configure({ origins: ['*'] });
  await edge.reload();
  await made.configure({ origins: ['*'], recipes: BOTH });
  await edge.reload();
  assert.equal((await fetch(`${made.url}/v1/reports`, init(one))).status, 202, 'the same report');
  const headers = { Authorization: 'Bearer another-token-of-the-tests' };
  const metrics = await (await fetch(`${made.url}/metrics`, { headers })).text();
  const open = new RegExp(`^shoal_edge_open_reports{recipe="edge-test",[^}]*} 1$`, 'm');
  assert.match(metrics, open);
});

test('--watch takes changed files, whole ones only, and says a refusal once', async (t) => {
  const made = await folder(t);
  const edge = await start(t, made.dir, '--watch');
  const next = JSON.stringify({ ...made.config, recipes: BOTH });
  await made.write('next.json', next);
  await rename(join(made.dir, 'next.json'), join(made.dir, 'edge.json'));
  await eventually(() => edge.outcomes().length === 1);
  assert.deepEqual(await recipesOf(made.url), [one.hash, two.hash]);
  for (let end = 20; end < next.length; end += 60) {
    await made.write('edge.json', next.slice(0, end));
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  await made.write('edge.json', JSON.stringify(made.config));
  await eventually(async () => (await recipesOf(made.url)).length === 1);
  assert.ok(!edge.log().includes('refused'), edge.log());
  await made.write('one.json', '{');
  await eventually(() => edge.log().includes('refused'));
  await new Promise((resolve) => setTimeout(resolve, 1300));
  assert.equal(edge.log().split('refused').length - 1, 1);
  const before = edge.outcomes().length;
  await made.write('one.json', JSON.stringify(one.json));
  await eventually(() => edge.outcomes().length > before);
  assert.match(edge.outcomes()[before], /: reloaded$/);
});

test('killed during reloads, it starts from the files as they are, and nothing is lost', async (t) => {
  const aggregator = await fakeAggregator(t);
  const made = await folder(t, { aggregator: aggregator.url });
  let accepted = 0;
  for (let i = 0; i < 4; i++) {
    const edge = await start(t, made.dir);
    for (let k = 0; k < 10; k++) {
      await made.configure({ recipes: k % 2 === 0 ? BOTH : BOTH.slice(0, 1) });
      edge.child.kill('SIGHUP');
      const { status } = await fetch(`${made.url}/v1/reports`, reportInit(newReport(one)));
      assert.equal(status, 202);
      accepted++;
    }
    await edge.end('SIGKILL');
  }
  await start(t, made.dir);
  // On a slow machine batches are sealed meanwhile, and fewer reports than a batch needs are left.
  for (
    let more = 0;
    !(await holdsWithin(5000, () => aggregator.records.length === accepted));
    more++
  ) {
    assert.ok(more < 12, `${aggregator.records.length} of ${accepted} reports arrived`);
    const { status } = await fetch(`${made.url}/v1/reports`, reportInit(newReport(one)));
    assert.equal(status, 202);
    accepted++;
  }
});

test('--drain: not ready at once, serves on, and ends', async (t) => {
  const made = await folder(t);
  const edge = await start(t, made.dir, '--drain', '2');
  edge.child.kill('SIGTERM');
  await eventually(async () => (await fetch(`${made.url}/healthz`)).status === 503);
  const answer = await fetch(`${made.url}/v1/reports`, reportInit(newReport(one)));
  assert.equal(answer.status, 202, 'it still takes reports');
  assert.equal(answer.headers.get('connection'), 'close');
  const [code] = await edge.exit;
  assert.equal(code, 0);
  assert.ok((await readFile(join(made.dir, 'spool', one.hash, 'salt'))).length > 0);
});
