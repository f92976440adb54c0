// SPDX-License-Identifier: Apache-2.0
// What a spool does when the disk is full, and what it takes of memory.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Slots } from '../spool_slots.js';
import { SpoolStore } from '../spool_store.js';
import { eventually, fixedCrypto } from './support.mjs';

const isLong = process.env.SHOAL_LONG === '1';
const RECORD_SIZE = 32;
const HOUR = 500_000;
const newHash = () => new Uint8Array(randomBytes(16));
const newRecord = () => new Uint8Array(randomBytes(RECORD_SIZE));

/** A folder for a spool. */
async function folder(t) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-spool-'));
  t.after(() => rm(dir, { recursive: true }));
  return dir;
}

/** A store whose disk is full while `disk.full`. */
async function setUp(t, { capacity = 20 } = {}) {
  const dir = await folder(t);
  const disk = { full: null, after: Infinity }; // after: how many more writes succeed
  const options = {
    recordSize: RECORD_SIZE,
    capacity,
    crypto: fixedCrypto(),
    writeSync: (...given) => {
      if (disk.full === 'refuses' || disk.after-- <= 0)
        throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      if (disk.full !== 'cuts') return writeSync(...given);
      const [fd, bytes, from, size, at] = given;
      return writeSync(fd, bytes, from, size - 9, at);
    },
  };
  const world = { dir, disk };
  world.open = async () => (world.store = await SpoolStore.open(dir, options));
  world.add = (hash = newHash(), record = newRecord()) => world.store.add([hash], record, HOUR);
  world.seal = async () => {
    const records = [];
    await world.store.seal(
      1,
      (id, rows) => {
        for (let i = 0; i < rows.length; i++) records.push(Buffer.from(rows.at(i)).toString('hex'));
        return header(rows.length);
      },
      () => ({}),
    );
    return records.sort();
  };
  await world.open();
  t.after(() => world.store.close());
  return world;
}

/** As much of a batch as the store reads: the size of what it holds. */
function header(count) {
  const bytes = Buffer.alloc(72 + count * RECORD_SIZE + 8);
  bytes.writeUInt32LE(count, 12);
  bytes.writeUInt32LE(RECORD_SIZE, 16);
  return bytes;
}

const hexes = (records) => records.map((record) => Buffer.from(record).toString('hex')).sort();

for (const how of ['refuses', 'cuts']) {
  test(`a put that failed gives its slot back: a disk that ${how}`, async (t) => {
    const w = await setUp(t);
    const kept = [newRecord(), newRecord()];
    await w.add(newHash(), kept[0]);
    const { bytes } = w.store.state();
    w.disk.full = how;
    const hash = newHash();
    for (let i = 0; i < 500; i++) await assert.rejects(() => w.add(i % 2 ? hash : newHash()));
    assert.equal(w.store.state().bytes, bytes, 'nothing is charged for what was not kept');
    assert.equal(await w.store.has(hash), false);
    w.disk.full = null;
    await w.add(hash, kept[1]);
    // 20 slots: 18 more fit only if the failed puts hold none of them.
    for (let i = 0; i < 18; i++) kept.push(newRecord());
    for (const record of kept.slice(2)) await w.add(newHash(), record);
    const [name] = await readdir(w.dir).then((names) => names.filter((n) => n.endsWith('.open')));
    const file = await open(join(w.dir, name));
    assert.equal((await file.stat()).size, 20 * (16 + RECORD_SIZE + 8), 'the file did not grow');
    await file.close();
    await w.store.close();
    await w.open();
    assert.equal(w.store.state().openCount, 20, 'half a slot is no report');
    assert.deepEqual(await w.seal(), hexes(kept));
  });
}

test('a device that is full refuses slots for as long as it is, and no longer', async () => {
  const [full, spare] = await Promise.all([open('/dev/full', 'r+'), open('/dev/null', 'r+')]);
  const target = { fd: full.fd, datasync: async () => {}, close: async () => {} };
  const slots = new Slots(
    { id: '00', hour: HOUR, recordSize: RECORD_SIZE, capacity: 4, crypto: fixedCrypto() },
    async () => target,
  );
  for (let i = 0; i < 100; i++)
    await assert.rejects(() => slots.put([newHash()], [newRecord()]), { code: 'ENOSPC' });
  assert.equal(slots.taken, 0);
  target.fd = spare.fd;
  for (let i = 0; i < 4; i++) await slots.put([newHash()], [newRecord()]);
  assert.deepEqual([slots.taken, slots.rows.length], [4, 4]);
  await full.close();
  await spare.close();
});

/**
 * Takes over the flushes of open files, through the prototype of file handles: the next `fails` of
 * them fail, and while there is a `hold` they wait for it.
 */
async function takeFlushes(t, dir) {
  const probe = await open(join(dir, 'salt'));
  const prototype = Object.getPrototypeOf(probe);
  await probe.close();
  const { datasync } = prototype;
  const state = { fails: 0, hold: null, begun: 0 };
  prototype.datasync = async function (...given) {
    state.begun++;
    const isFailing = state.fails > 0;
    if (isFailing) state.fails--;
    await state.hold;
    if (isFailing) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    return datasync.apply(this, given);
  };
  t.after(() => (prototype.datasync = datasync));
  /** Holds the flushes from now on; returns what ends that. */
  state.holdThem = () => {
    let release;
    state.hold = new Promise((resolve) => (release = resolve));
    return () => ((state.hold = null), release());
  };
  return state;
}

test('what was written while a flush failed is not acknowledged', async (t) => {
  const w = await setUp(t);
  const flush = await takeFlushes(t, w.dir);
  await w.add();
  flush.fails = 1;
  const release = flush.holdThem();
  const begun = flush.begun;
  const adding = [w.add()];
  await eventually(() => assert.equal(flush.begun, begun + 1));
  adding.push(w.add()); // its pages may be among those that the system gives up
  release();
  const ended = await Promise.allSettled(adding);
  assert.deepEqual(
    ended.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(w.store.state().openCount, 1);
});

test('after a flush failed, the batch goes on in a new file with all that was acknowledged', async (t) => {
  const w = await setUp(t);
  const flush = await takeFlushes(t, w.dir);
  const kept = [newRecord(), newRecord(), newRecord()];
  await w.add(newHash(), kept[0]);
  const { bytes } = w.store.state();
  flush.fails = 3;
  const lost = await Promise.allSettled(Array.from({ length: 5 }, () => w.add()));
  assert.deepEqual(new Set(lost.map(({ status }) => status)), new Set(['rejected']));
  await assert.rejects(() => w.add(), 'the new file cannot be written either');
  await assert.rejects(() => w.add());
  assert.equal(w.store.state().bytes, bytes);
  assert.equal(flush.fails, 0);
  await w.add(newHash(), kept[1]);
  const names = (await readdir(w.dir)).filter((name) => !/salt|counters/.test(name));
  assert.equal(names.length, 1, `one open file: ${names}`);
  await w.store.close();
  await w.open();
  await w.add(newHash(), kept[2]);
  assert.deepEqual(await w.seal(), hexes(kept));
});

test('reports that come together share one flush, and a key among them counts once', async (t) => {
  const w = await setUp(t, { capacity: 1000 });
  await w.add();
  const flush = await takeFlushes(t, w.dir);
  const hashes = Array.from({ length: 100 }, newHash);
  hashes.push(hashes[3], hashes[99]);
  const records = Buffer.concat(hashes.map(newRecord));
  assert.equal(await w.store.add(hashes, records, HOUR), 100);
  assert.equal(flush.begun, 1);
  const kept = hexes(
    Array.from({ length: 100 }, (_, i) => records.subarray(i * RECORD_SIZE, (i + 1) * RECORD_SIZE)),
  );
  const sealed = await w.seal();
  assert.equal(sealed.length, 101);
  assert.ok(kept.every((record) => sealed.includes(record)));
});

test('if one of a group cannot be written, none counts, and each may come again', async (t) => {
  const w = await setUp(t);
  await w.add();
  const { bytes } = w.store.state();
  const hashes = Array.from({ length: 5 }, newHash);
  const records = Buffer.concat(hashes.map(newRecord));
  w.disk.after = 3;
  const other = w.store.add([hashes[4]], records.subarray(4 * RECORD_SIZE), HOUR);
  const again = w.store.add(hashes, records, HOUR); // waits for the key that is under way
  await Promise.all([other, assert.rejects(again, { code: 'ENOSPC' })]);
  assert.equal(w.store.state().openCount, 2);
  assert.equal(w.store.state().bytes, 2 * bytes, 'what failed is charged for nothing');
  assert.deepEqual(await Promise.all(hashes.map((hash) => w.store.has(hash))), [
    false,
    false,
    false,
    false,
    true,
  ]);
  w.disk.after = Infinity;
  assert.equal(await w.store.add(hashes, records, HOUR), 4);
  assert.equal(w.store.state().openCount, 6);
  await w.store.close();
  await w.open();
  assert.equal(w.store.state().openCount, 6);
});

test('a batch that is closed while it moves to a new file is sealed once', async (t) => {
  const w = await setUp(t);
  const flush = await takeFlushes(t, w.dir);
  const kept = [newRecord(), newRecord()];
  await w.add(newHash(), kept[0]);
  flush.fails = 1;
  await assert.rejects(() => w.add());
  const release = flush.holdThem();
  const begun = flush.begun;
  const adding = w.add(newHash(), kept[1]); // moves the batch first
  await eventually(() => assert.equal(flush.begun, begun + 1));
  const sealing = w.seal();
  release();
  const first = await sealing;
  await adding;
  assert.deepEqual(first, hexes(kept.slice(0, 1)));
  assert.deepEqual(await w.seal(), hexes(kept.slice(1)));
});

test('memory stays within what the store says', { timeout: 300_000 }, async (t) => {
  const [forwarded, opened] = isLong ? [5_000_000, 200_000] : [600_000, 20_000];
  const script = fileURLToPath(new URL('memory_of_spool.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    script,
    await folder(t),
    String(forwarded),
    String(opened),
  ]);
  const { loaded, added } = JSON.parse(stdout);
  t.diagnostic(`${forwarded} keys, then ${opened} open reports: ${stdout}`);
  const slack = 512 << 10; // of the process itself
  assert.ok(loaded.said >= forwarded * 16 && loaded.said < forwarded * 32, 'and it is not padded');
  assert.ok(loaded.memory <= loaded.said + slack);
  assert.ok(added.memory <= added.said + slack);
});
