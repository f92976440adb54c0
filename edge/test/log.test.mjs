// SPDX-License-Identifier: Apache-2.0
// The log that the edge serves: which paths are looked up, with which headers, from a folder and
// from workerd's bindings; and a device that reads its key list through the edge.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { keyList, logged } from '../../wasm/client/log.js';
import { OracleLog, device, filler, keysEntry } from '../../wasm/test/log_fixtures.mjs';
import { readConfig } from '../config.js';
import { handle } from '../handler.js';
import { bindingLog } from '../log_files.js';
import { folderLog } from '../log_folder.js';

const log = new OracleLog(
  Array.from({ length: 300 }, (_, i) => (i === 299 ? keysEntry() : filler(i))),
);

/** @param {import('../log_files.js').ReadLog | undefined} read */
function edgeOf(read) {
  const deps = { collections: new Map(), recipes: [], origins: [], now: Date.now, log: read };
  return (/** @type {string} */ path, /** @type {RequestInit} */ init = {}) =>
    handle(new Request(`https://edge.example${path}`, init), deps);
}

/** Writes a log into a fresh folder. @param {import('node:test').TestContext} t */
async function folderOf(t) {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-log-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [path, bytes] of log.files()) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
  return folder;
}

test('every file of a log is served, to pages of every origin, for as long as it holds', async (t) => {
  const call = edgeOf(folderLog(await folderOf(t)));
  for (const [path, bytes] of log.files()) {
    const response = await call(`/log/${path}`, { headers: { Origin: 'https://any.example' } });
    assert.equal(response.status, 200, path);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from(bytes), path);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    const cache = response.headers.get('cache-control') ?? '';
    assert.equal(/immutable/.test(cache), path.startsWith('tile/'), path);
    assert.match(cache, /^public, max-age=\d+/);
  }
  const head = await call('/log/checkpoint', { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.headers.get('content-type'), 'text/plain; charset=utf-8');
});

test('answers that are on their way share the bytes of a file, and a file that changed is read anew', async (t) => {
  const folder = await folderOf(t);
  const read = folderLog(folder);
  const [first, ...more] = await Promise.all(
    Array.from({ length: 50 }, () => read('tile/entries/000')),
  );
  for (const bytes of [...more, await read('tile/entries/000')]) assert.equal(bytes, first);
  const before = await read('checkpoint');
  await writeFile(join(folder, 'checkpoint'), 'another head');
  assert.equal(Buffer.from((await read('checkpoint')) ?? []).toString(), 'another head');
  assert.notEqual(before?.length, 12);
});

test('other paths and methods are refused, and never looked up', async () => {
  /** @type {string[]} */
  const asked = [];
  const call = edgeOf(async (path) => (asked.push(path), new Uint8Array(1)));
  for (const path of [
    '',
    'pending',
    'checkpoint.lock',
    'checkpoint/',
    'tile/0/0',
    'tile/0/0000',
    'tile/0/001/002',
    'tile/0/x001/',
    'tile/00/000',
    'tile/64/000',
    'tile/-1/000',
    'tile/0/000.p/0',
    'tile/0/000.p/01',
    'tile/0/000.p/256',
    'tile/0/000.p/',
    'tile/entries',
    'tile/entries/%2e%2e',
    'tile/0/000%2Fx',
    'tile//000',
    `tile/0/${'x001/'.repeat(5)}000`,
    'Checkpoint',
    'index.html',
  ])
    assert.equal((await call(`/log/${path}`)).status, 404, path);
  for (const method of ['POST', 'PUT', 'DELETE'])
    assert.equal((await call('/log/checkpoint', { method })).status, 405, method);
  assert.deepEqual(asked, []);
  for (const path of [
    'tile/63/000',
    'tile/10/x001/x234/067',
    'tile/entries/000.p/255',
    'tile/9/999',
  ])
    assert.equal((await call(`/log/${path}`)).status, 200, path);
  assert.equal(asked.length, 4);
  assert.equal((await edgeOf(undefined)('/log/checkpoint')).status, 404, 'an edge without a log');
});

test('a folder gives regular files only, and none that is too long', async (t) => {
  const folder = await folderOf(t);
  await mkdir(join(folder, 'tile/1/001'), { recursive: true });
  await symlink('/dev/zero', join(folder, 'tile/1/002'));
  await writeFile(join(folder, 'tile/1/003'), Buffer.alloc(256 * 65_537 + 1));
  const call = edgeOf(folderLog(folder));
  for (const path of ['tile/1/001', 'tile/1/002', 'tile/1/003', 'tile/1/004'])
    assert.equal((await call(`/log/${path}`)).status, 404, path);
});

test("workerd's bindings: static assets and a KV namespace give the same", async () => {
  const files = log.files();
  /** @type {any[]} */
  const requests = [];
  const assets = {
    fetch: async (/** @type {any} */ ...args) => {
      requests.push(args);
      const bytes = files.get(new URL(args[0]).pathname.slice(1));
      return new Response(/** @type {any} */ (bytes), { status: bytes ? 200 : 404 });
    },
  };
  const kv = {
    get: async (/** @type {string} */ path, /** @type {string} */ type) => {
      assert.equal(type, 'arrayBuffer');
      const bytes = files.get(path);
      return bytes ? Uint8Array.from(bytes).buffer : null;
    },
  };
  for (const binding of [assets, kv]) {
    const call = edgeOf(bindingLog(binding));
    const headers = { Cookie: 'a=b', 'X-Forwarded-For': '192.0.2.1' };
    const response = await call('/log/tile/0/000', { headers });
    assert.deepEqual(
      Buffer.from(await response.arrayBuffer()),
      Buffer.from(/** @type {Uint8Array} */ (files.get('tile/0/000'))),
    );
    assert.equal((await call('/log/tile/0/001')).status, 404);
  }
  assert.deepEqual(requests[0], ['https://log/tile/0/000'], 'nothing of the device travels on');
  assert.equal(bindingLog(undefined), undefined);
});

test('a device reads its key list and finds queries through the edge', async (t) => {
  const call = edgeOf(folderLog(await folderOf(t)));
  const { context } = await device(log, {
    fetch: (/** @type {string} */ url) => call(new URL(url).pathname),
  });
  assert.equal((await keyList(context)).serial, 1);
  const isIn = await logged(context);
  assert.ok(await isIn('query', filler(7).hash));
  assert.ok(!(await isIn('query', filler(299).hash)));
});

test('the configuration names the folder', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-log-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'recipe.json'), '{}');
  await writeFile(join(folder, 'secret'), 'a-secret-for-tests-0123456789\n');
  const json = {
    listen: '127.0.0.1:0',
    spool: 'spool',
    recipes: [{ file: 'recipe.json', hash: '0'.repeat(64) }],
    aggregator: 'http://127.0.0.1:1',
    batch_secret_file: 'secret',
  };
  const read = async (/** @type {any} */ more) => {
    await writeFile(join(folder, 'edge.json'), JSON.stringify({ ...json, ...more }));
    return readConfig(join(folder, 'edge.json'));
  };
  assert.equal((await read({})).log, undefined);
  assert.equal((await read({ log: 'log' })).log, join(folder, 'log'));
  await assert.rejects(read({ log: 1 }), /log: a string is needed/);
});
