// SPDX-License-Identifier: Apache-2.0
// What is damaged on the disk is found: by --check, and by /healthz of a server that runs. What the server writes is for its
// own user alone, whatever the folder and the umask.
import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import {
  configure,
  get,
  listRecipe,
  makeFolder,
  post,
  resultOf,
  run,
  serve,
  simulate,
} from './serve_helpers.mjs';

const COUNTS = 'light\t700\ndark\t300\n';
const OK = '{"status":"ok"}\n';
const DAMAGED = '{"status":"damaged"}\n';

/** Changes one byte of a file where it lies. @param {string} path @param {number} at */
function flip(path, at) {
  const fd = openSync(path, 'r+');
  const one = Buffer.alloc(1);
  readSync(fd, one, 0, 1, at);
  one[0] ^= 0x10;
  writeSync(fd, one, 0, 1, at);
  closeSync(fd);
}

/** Overwrites the beginning of each page of a database but the first. @param {string} path */
function ruin(path) {
  const fd = openSync(path, 'r+');
  for (let at = 4096; at < statSync(path).size; at += 4096)
    writeSync(fd, Buffer.alloc(12, 0xfe), 0, 12, at);
  closeSync(fd);
}

/** All files of a folder. @param {string} folder @returns {string[]} */
const filesOf = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesOf(join(folder, entry.name)) : [join(folder, entry.name)],
  );

/** Those that others than their owner may open. @param {string} folder */
const openFiles = (folder) =>
  filesOf(folder)
    .filter((path) => (statSync(path).mode & 0o777) !== 0o600)
    .map((path) => `${(statSync(path).mode & 0o777).toString(8)} ${path.slice(folder.length)}`);

/** @param {string} config */
const check = (config) => run('serve', '--config', config, '--check');

/** Asks until /healthz answers so. @param {string} url @param {string} text */
async function untilHealth(url, text) {
  let last;
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    last = await get(`${url}/healthz`);
    if (last.text === text) return last;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`/healthz never said ${text}: ${last?.text}`);
}

/** A store with folded records of one recipe, and no server. */
async function filled(/** @type {import('node:test').TestContext} */ t, changes = {}) {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme', changes)]);
  const server = await serve(t, config);
  const [batch] = simulate(join(folder, 'recipe-0.json'), COUNTS, 500, 500);
  assert.equal((await post(server.url, batch)).status, 201);
  await resultOf(`${server.url}/v1/results/theme`, 500);
  await server.end('SIGTERM');
  return { folder, config, database: join(folder, 'store/shoal.db') };
}

test('--check finds a changed byte anywhere in an accumulator, and names its file', async (t) => {
  const { folder, config } = await filled(t);
  const accumulators = join(folder, 'store/accumulators');
  const [name] = readdirSync(accumulators);
  const path = join(accumulators, name);
  const { size } = statSync(path);
  assert.equal(check(config).status, 0);
  // Magic, version, parts, hash, length of the name, name, n, shapes, claims, cells, checksum.
  const places = [0, 8, 12, 20, 48, 53, 116, 126, 140, size - 20, size - 1];
  for (const at of places) {
    flip(path, at);
    const done = check(config);
    assert.equal(done.status, 5, `a byte at ${at} of ${size}: ${done.stderr}`);
    assert.match(done.stderr, new RegExp(`accumulators/${name} is damaged: `));
    assert.match(done.stderr, /1 of 1 accumulators, sums and waiting batches are damaged/);
    assert.doesNotMatch(done.stderr, /as it should be/);
    flip(path, at);
  }
  writeFileSync(path, readFileSync(path).subarray(0, size - 1)); // cut
  assert.equal(check(config).status, 5);
});

test('--check finds an accumulator of another time, whose own checksum is right', async (t) => {
  const folder = makeFolder(t);
  const slow = { tick_s: 3600 }; // one open block, which every fold replaces
  const config = configure(folder, [listRecipe('theme', { block: slow })]);
  const batches = simulate(join(folder, 'recipe-0.json'), COUNTS, 500, 250);
  const accumulators = join(folder, 'store/accumulators');
  /** @type {Buffer[]} */
  const versions = [];
  for (const batch of batches) {
    const server = await serve(t, config);
    assert.equal((await post(server.url, batch)).status, 201);
    await server.end('SIGTERM');
    versions.push(readFileSync(join(accumulators, readdirSync(accumulators)[0])));
  }
  assert.equal(check(config).status, 0);
  writeFileSync(join(accumulators, readdirSync(accumulators)[0]), versions[0]);
  assert.equal(check(config).status, 5);
});

test('--check finds changed bytes in sums and in batches that wait', async (t) => {
  const sum = await filled(t, { aggregation: { protocol: 'sum' } });
  const at = readFileSync(sum.database).indexOf('shoalacc');
  assert.ok(at > 0);
  assert.equal(check(sum.config).status, 0);
  flip(sum.database, at + 150);
  const found = check(sum.config);
  assert.equal(found.status, 5);
  assert.match(found.stderr, /row \d+ of blocks is damaged/);

  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme')], { fold_interval_s: 3600 });
  const [first, batch] = simulate(join(folder, 'recipe-0.json'), COUNTS, 500, 250);
  const server = await serve(t, config);
  assert.equal((await post(server.url, first)).status, 201);
  assert.equal((await post(server.url, batch)).status, 201);
  await server.end('SIGKILL');
  assert.equal(check(config).status, 0); // which also empties the write-ahead log
  const database = join(folder, 'store/shoal.db');
  const waits = readFileSync(database).lastIndexOf('shoalbat');
  assert.ok(waits > 0);
  flip(database, waits + 100);
  const waiting = check(config);
  assert.equal(waiting.status, 5);
  assert.match(waiting.stderr, /row \d+ of waiting is damaged/);
});

test('a database whose structure is damaged is not served', async (t) => {
  const { config, database } = await filled(t);
  ruin(database);
  const done = check(config);
  assert.equal(done.status, 5);
  assert.match(done.stderr, /the database is damaged/);
  const started = run('serve', '--config', config);
  assert.equal(started.status, 5);
  assert.match(started.stderr, /the database is damaged/);
});

test('/healthz says that something is damaged, and not what', async (t) => {
  const { folder } = await filled(t);
  const config = configure(folder, [listRecipe('theme')], { check_interval_s: 0.1 });
  const accumulators = join(folder, 'store/accumulators');
  const path = join(accumulators, readdirSync(accumulators)[0]);
  flip(path, 140);
  const server = await serve(t, config);
  const said = await untilHealth(server.url, DAMAGED);
  assert.equal(said.status, 503);
  assert.match(server.log(), /accumulators\/\S+ is damaged: /); // the operator's log names it
  flip(path, 140); // somebody puts the right one back
  assert.equal((await untilHealth(server.url, OK)).status, 200);
  flip(path, 100); // and later another byte goes
  await untilHealth(server.url, DAMAGED);
  flip(path, 100);
  await untilHealth(server.url, OK);
  assert.deepEqual(await server.end('SIGTERM'), 0);
});

test('a store that changes while it is looked through is not called damaged', async (t) => {
  const folder = makeFolder(t);
  const sums = { aggregation: { protocol: 'sum' } };
  const config = configure(folder, [listRecipe('theme'), listRecipe('sums', sums)], {
    check_interval_s: 0.05,
  });
  const server = await serve(t, config);
  const batches = [0, 1].flatMap((i) =>
    simulate(join(folder, `recipe-${i}.json`), COUNTS, 3000, 100),
  );
  for (const batch of batches) {
    assert.equal((await post(server.url, batch)).status, 201);
    assert.equal((await get(`${server.url}/healthz`)).text, OK);
  }
  assert.doesNotMatch(server.log(), /damaged/);
  await server.end('SIGTERM');
  assert.equal(check(config).status, 0);
});

test('files of the store are for their owner alone, whatever folder and umask', async (t) => {
  const folder = makeFolder(t);
  const store = join(folder, 'store');
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  mkdirSync(join(store, 'accumulators'), { recursive: true });
  chmodSync(store, 0o777);
  chmodSync(join(store, 'accumulators'), 0o777);
  const config = configure(folder, [listRecipe('theme')]);
  const server = await serve(t, config);
  const [batch] = simulate(join(folder, 'recipe-0.json'), COUNTS, 500, 500);
  assert.equal((await post(server.url, batch)).status, 201);
  await resultOf(`${server.url}/v1/results/theme`, 500);
  const names = filesOf(store).map((path) => path.slice(store.length + 1).replace(/\/.*/, ''));
  for (const name of ['shoal.db', 'shoal.db-wal', 'shoal.db-shm', 'lock', 'accumulators', 'audit'])
    assert.ok(names.includes(name), `${name} is not among ${names}`);
  assert.deepEqual(openFiles(store), []);
  await server.end('SIGTERM');

  // Version 0.1.0 left the modes to the umask.
  for (const path of filesOf(store)) chmodSync(path, 0o644);
  const next = await serve(t, config);
  assert.deepEqual(
    openFiles(store).filter((line) => !line.includes('/audit/')),
    [],
  );
  await next.end('SIGTERM');
  assert.equal(dirname(store), folder);
});
