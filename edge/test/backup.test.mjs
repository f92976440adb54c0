// SPDX-License-Identifier: Apache-2.0
// Backups of a spool while its edge runs, and what becomes of a restored one: what was sent since counts once in the real
// aggregator, what had joined an open batch since is not mistaken for it, and a small open batch is dropped.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tests/ports.mjs';
import { writeBackup } from '../backup_file.js';
import { RealAggregator } from './real_aggregator.mjs';
import { SECRET, eventually, makeRecipe, newKey, newReport, reportInit } from './support.mjs';

const command = fileURLToPath(new URL('../bin/shoal-edge.js', import.meta.url));
const KILLS = Number(process.env.SHOAL_KILLS ?? (process.env.SHOAL_LONG === '1' ? 40 : 2));

/** Batches are sealed when they are full, with 32 reports, and else never while a test runs. */
const recipe = await makeRecipe({
  batch: { minimum: 16, max_age_s: 86_400 },
  cohort: { minimum: 16 },
  block: { minimum: 16, tick_s: 1 },
});

async function run(...args) {
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = ['', ''];
  [child.stdout, child.stderr].forEach((stream, i) =>
    stream.on('data', (data) => (texts[i] += data)),
  );
  const [code] = await once(child, 'close');
  return { code, stdout: texts[0], stderr: texts[1] };
}

async function folder(t, aggregator) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-edge-'));
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const at = (name) => join(dir, name);
  await writeFile(at('recipe.json'), JSON.stringify(recipe.json));
  await writeFile(at('secret'), `${SECRET}\n`);
  const write = async (name, spool, change = {}) => {
    const port = await freePort();
    const config = {
      listen: `127.0.0.1:${port}`,
      spool,
      recipes: [{ file: 'recipe.json', hash: recipe.hash }],
      aggregator,
      batch_secret_file: 'secret',
      batch_bytes: 1024, // so that twice the minimum is full
      ...change,
    };
    await writeFile(at(name), JSON.stringify(config));
    return `http://127.0.0.1:${port}`;
  };
  return { at, write };
}

async function start(t, path) {
  const child = spawn(process.execPath, [command, '--config', path], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let log = '';
  child.stderr.on('data', (data) => (log += data));
  await eventually(async () => assert.match(log, /listening/));
  return {
    async end(signal) {
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    },
  };
}

/** Sends n reports under new keys, or under the keys. Returns the keys. */
async function send(url, n, keys = Array.from({ length: n }, newKey)) {
  for (const key of keys) {
    const { status } = await fetch(`${url}/v1/reports`, reportInit(newReport(recipe), key));
    assert.equal(status, 202);
  }
  return keys;
}

const waiting = async (dir, state) =>
  (await readdir(join(dir, recipe.hash))).filter((name) => name.endsWith(state)).length;

test('what a restored spool sends again counts once', async (t) => {
  const aggregator = await new RealAggregator(recipe).start();
  t.after(() => aggregator.remove());
  const { at, write } = await folder(t, aggregator.url);
  const url = await write('edge.json', 'spool');
  await aggregator.stop();
  const edge = await start(t, at('edge.json'));
  await send(url, 32); // a full batch, sealed: the aggregator is away
  const open = await send(url, 20); // an open one, above the minimum
  await eventually(async () => assert.equal(await waiting(at('spool'), '.sealed'), 1));
  const done = await run('backup', '--config', at('edge.json'), '--output', at('one.backup'));
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /^backed up \d files into /);
  assert.equal((await stat(at('one.backup'))).mode & 0o777, 0o600);

  // The edge goes on: twelve reports join the open batch, and all is sent. Then the edge is lost.
  await aggregator.start();
  await send(url, 12);
  await eventually(async () => assert.equal(await aggregator.count(), 64));
  await edge.end('SIGKILL');
  const moved = await write('restored.json', 'restored');
  const back = await run('restore', '--config', at('restored.json'), at('one.backup'));
  assert.equal(back.code, 0, back.stderr);
  assert.match(back.stdout, /: 20 reports of open batches sealed, 0 dropped\n$/);
  assert.equal(await waiting(at('restored'), '.open'), 0);
  assert.equal(await waiting(at('restored'), '.sealed'), 2);

  const next = await start(t, at('restored.json'));
  await eventually(async () => assert.equal(await waiting(at('restored'), '.forwarded'), 2));
  await send(moved, 20, open); // devices that never saw their 202
  await send(moved, 32); // new reports are not mistaken for the old batch
  await eventually(async () => assert.equal(await aggregator.count(), 96));
  await next.end('SIGTERM');
});

test('an open batch below the minimum is dropped, and its keys stay', async (t) => {
  const { at, write } = await folder(t, 'http://127.0.0.1:1');
  const url = await write('edge.json', 'spool');
  const edge = await start(t, at('edge.json'));
  const keys = await send(url, 3);
  await edge.end('SIGTERM');
  assert.equal((await run('backup', '-c', at('edge.json'), '-o', at('b'))).code, 0);
  const moved = await write('restored.json', 'restored');
  const back = await run('restore', '-c', at('restored.json'), at('b'));
  assert.match(back.stdout, /: 0 reports of open batches sealed, 3 dropped\n$/);
  const next = await start(t, at('restored.json'));
  await send(moved, 3, keys);
  assert.equal(await waiting(at('restored'), '.open'), 0, 'they are known');
  await next.end('SIGTERM');
});

test('under version 2 what was open is dropped, since it may have been sent; what was sealed counts once', async (t) => {
  const aggregator = await new RealAggregator(recipe).start();
  t.after(() => aggregator.remove());
  const { at, write } = await folder(t, aggregator.url);
  const url = await write('edge.json', 'spool', { batch_version: 2 });
  await aggregator.stop();
  const edge = await start(t, at('edge.json'));
  await send(url, 32);
  const open = await send(url, 20);
  await eventually(async () => assert.equal(await waiting(at('spool'), '.sealed'), 1));
  assert.equal((await run('backup', '-c', at('edge.json'), '-o', at('b'))).code, 0);
  await aggregator.start();
  await send(url, 12);
  await eventually(async () => assert.equal(await aggregator.count(), 64));
  await edge.end('SIGKILL');
  const moved = await write('restored.json', 'restored', { batch_version: 2 });
  const back = await run('restore', '-c', at('restored.json'), at('b'));
  assert.match(back.stdout, /: 0 reports of open batches sealed, 20 dropped\n$/);
  const next = await start(t, at('restored.json'));
  await eventually(async () => assert.equal(await waiting(at('restored'), '.forwarded'), 2));
  await send(moved, 20, open);
  await send(moved, 32);
  await eventually(async () => assert.equal(await waiting(at('restored'), '.forwarded'), 3));
  await eventually(async () => assert.equal(await aggregator.count(), 96));
  await next.end('SIGTERM');
});

test('it replaces nothing, refuses damage, and carries the gateway keys', async (t) => {
  const { at, write } = await folder(t, 'http://127.0.0.1:1');
  const gateway = { keys_file: 'gateway.keys', unknown_per_minute: 10 };
  assert.equal((await run('gateway-key', at('gateway.keys'))).code, 0);
  const url = await write('edge.json', 'spool', { gateway });
  const edge = await start(t, at('edge.json'));
  await send(url, 6);
  await edge.end('SIGTERM');
  assert.equal((await run('backup', '-c', at('edge.json'), '-o', at('b'))).code, 0);
  const again = await run('backup', '-c', at('edge.json'), '-o', at('b'));
  assert.equal(again.code, 1);
  assert.match(again.stderr, /b: exists; a backup replaces nothing/);
  const used = await run('restore', '-c', at('edge.json'), at('b'));
  assert.match(used.stderr, /spool: is not empty; a restore replaces nothing/);

  await mkdir(at('restored'));
  await write('restored.json', 'restored', { gateway: { ...gateway, keys_file: 'new.keys' } });
  const whole = await readFile(at('b'));
  for (let i = 0; i < 4; i++) {
    const bytes = Buffer.from(whole);
    const place = (i * 7919 + 16) % bytes.length;
    bytes[place] ^= 1;
    await writeFile(at('bad'), i % 2 ? bytes : whole.subarray(0, place));
    const { code, stderr } = await run('restore', '-c', at('restored.json'), at('bad'));
    assert.equal(code, 1);
    assert.match(stderr, /checksum is wrong|cut off|no backup of an edge/);
    assert.deepEqual(await readdir(at('restored')), []);
  }
  const back = await run('restore', '-c', at('restored.json'), at('b'));
  assert.equal(back.code, 0, back.stderr);
  assert.match(back.stdout, /; the gateway keys too\n$/);
  assert.deepEqual(await readFile(at('new.keys')), await readFile(at('gateway.keys')));
  assert.equal((await stat(at('new.keys'))).mode & 0o777, 0o600);
  assert.equal((await stat(at('restored'))).mode & 0o777, 0o700);
  for (const [args, why] of [
    [['backup', '-c', at('edge.json')], /--output BACKUP is needed/],
    [['restore', '-c', at('edge.json')], /one BACKUP is needed/],
    [['backup', '-o', at('c')], /--config FILE is needed/],
    [['-c', at('edge.json'), '-o', at('c')], /--output belongs to backup/],
  ]) {
    const { code, stderr } = await run(...args);
    assert.equal(code, 2);
    assert.match(stderr, why);
  }
  if (process.getuid() !== 0) {
    await chmod(at('spool'), 0);
    assert.equal((await run('backup', '-c', at('edge.json'), '-o', at('c'))).code, 1);
    await chmod(at('spool'), 0o700);
  }
});

test('a new machine needs no folder made by hand', async (t) => {
  const { at, write } = await folder(t, 'http://127.0.0.1:1');
  await write('edge.json', 'data/edge/spool');
  await writeBackup(at('edge.backup'), 0, async () => {});
  const done = await run('restore', '--config', at('edge.json'), at('edge.backup'));
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(await readdir(at('data/edge')), ['spool']);
  assert.equal((await stat(at('data'))).mode & 0o777, 0o700);
});

test(`killed ${KILLS} times, a backup or a restore is there whole or not at all`, async (t) => {
  const { at, write } = await folder(t, 'http://127.0.0.1:1');
  const url = await write('edge.json', 'spool');
  await write('restored.json', 'restored');
  const edge = await start(t, at('edge.json'));
  await send(url, 52);
  const killed = async (ms, ...args) => {
    const child = spawn(process.execPath, [command, ...args], { stdio: 'ignore' });
    const timer = setTimeout(() => child.kill('SIGKILL'), ms);
    await once(child, 'exit');
    clearTimeout(timer);
  };
  const exists = (path) => stat(path).then(Boolean, () => false);
  for (let i = 0; i < KILLS; i++) {
    await killed(120 + 23 * i, 'backup', '-c', at('edge.json'), '-o', at(`b${i}`));
    if (!(await exists(at(`b${i}`)))) await run('backup', '-c', at('edge.json'), '-o', at(`b${i}`));
    await killed(150 + 31 * i, 'restore', '-c', at('restored.json'), at(`b${i}`));
    if (!(await exists(at('restored')))) {
      const { code, stderr } = await run('restore', '-c', at('restored.json'), at(`b${i}`));
      assert.equal(code, 0, stderr);
    }
    assert.equal(await waiting(at('restored'), '.sealed'), 2);
    await rm(at('restored'), { recursive: true });
  }
  await edge.end('SIGTERM');
});
