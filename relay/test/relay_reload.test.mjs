// SPDX-License-Identifier: Apache-2.0
// The relay takes new routes while it runs, whole or not at all; and it says that it drains before it ends.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tests/ports.mjs';
import { Reloads, readFile } from '../reload.js';

const command = fileURLToPath(new URL('../bin/shoal-relay.js', import.meta.url));

async function until(condition) {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited in vain: ${condition}`);
}

test('routes come and go; what is wrong changes nothing', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-relay-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const listen = `127.0.0.1:${await freePort()}`;
  const url = `http://${listen}`;
  const route = (path) => ({ path, gateway: 'http://127.0.0.1:9/ohttp' });
  await writeFile(join(dir, 'token'), 'a-token-of-the-tests\n');
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  const configure = (change) =>
    writeFile(
      join(dir, 'relay.json'),
      JSON.stringify({ listen, routes: [route('/one')], admin_token_file: 'token', ...change }),
    );
  await configure({});
  const child = spawn(
    process.execPath,
    [command, '--config', join(dir, 'relay.json'), '--watch', '--drain', '1'],
    { stdio: ['ignore', 'inherit', 'pipe'] },
  );
  t.after(() => child.kill('SIGKILL'));
  let log = '';
  child.stderr.on('data', (data) => (log += data));
  await until(() => log.includes('listening'));
  const outcomes = () => log.split('\n').filter((line) => /reloaded|reload refused/.test(line));
  const reload = async () => {
    const before = outcomes().length;
    child.kill('SIGHUP');
    await until(() => outcomes().length > before);
    return outcomes()[before];
  };
  const statusOf = async (path) => (await fetch(url + path, { method: 'POST' })).status;

  assert.equal(await statusOf('/two'), 404);
  await configure({ routes: [route('/one'), route('/two')] });
  assert.match(await reload(), /^shoal-relay: reloaded$/);
  assert.notEqual(await statusOf('/two'), 404);
  for (const [change, why] of [
    [{ listen: '127.0.0.1:1' }, /listen: changed; only a restart changes this field/],
    [{ routes: [] }, /routes: a list/],
    [{ max_bytes: 2048 }, /max_bytes, held_bytes or a timeout: changed/],
    [{ admin_token_file: 'none' }, /none: there is no such file/],
    [{ admin_token_file: 'pipe' }, /pipe is a folder, a pipe or a device, and no file/],
    [{ admin_token_file: '/dev/zero' }, /zero is a folder, a pipe or a device, and no file/],
  ]) {
    await configure(change);
    const line = await reload();
    assert.match(line, /reload refused, the old configuration goes on: /);
    assert.match(line, why);
    assert.notEqual(await statusOf('/two'), 404);
    assert.equal((await (await fetch(`${url}/healthz`)).json()).reload, 'refused');
  }
  await configure({ routes: [route('/two')] });
  assert.match(await reload(), /reloaded$/);
  assert.equal(await statusOf('/one'), 404);
  const headers = { Authorization: 'Bearer a-token-of-the-tests' };
  const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
  assert.match(metrics, /^shoal_relay_reload_refused 0$/m);

  const before = outcomes().length;
  await configure({ routes: [route('/three')] }); // --watch
  await until(() => outcomes().length > before);
  assert.notEqual(await statusOf('/three'), 404);

  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await until(async () => (await fetch(`${url}/healthz`)).status === 503);
  assert.deepEqual(await (await fetch(`${url}/healthz`)).json(), { status: 'draining' });
  assert.deepEqual(await exit, [0, null]);
});

test('after a reading, promises cost what they cost before', () => {
  // While hooks are on, every promise has an id of its own; this test runner switches them on, too.
  const script = `
    import { executionAsyncId } from 'node:async_hooks';
    import { Reloads, readFile } from ${JSON.stringify(new URL('../reload.js', import.meta.url))};
    const ids = async () => new Set(await Promise.all([1, 2].map(async () => (await null, executionAsyncId()))));
    const read = async () => [await readFile(${JSON.stringify(command)}, 'utf8'), await ids()];
    const before = await ids();
    await new Reloads('test', read).first();
    console.log(JSON.stringify([before.size, (await ids()).size]));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script]);
  assert.equal(String(said).trim(), '[1,1]');
});

test('of readings that overlap, each notes its files', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-relay-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const path = join(dir, 'file');
  await writeFile(path, 'one');
  let goOn;
  const firstEnded = new Promise((resolve) => (goOn = resolve));
  const late = new Reloads('late', async () => (await firstEnded, readFile(path, 'utf8')), {
    write() {},
  });
  const reading = late.first();
  await new Reloads('first', async () => 'nothing').first();
  goOn();
  assert.equal(await reading, 'one');
  let taken;
  const stop = late.start(async (text) => (taken = text), { isWatched: true, everyMs: 10 });
  t.after(stop);
  await writeFile(path, 'two');
  await until(() => taken === 'two');
});
