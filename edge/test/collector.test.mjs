// SPDX-License-Identifier: Apache-2.0
// The collector over the spool folder, with the clock, the sender and the randomness in the test's hands.
// The Durable Object's store needs workerd: worker.test.mjs.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm, writeFile, copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Collector, batchCap, below, drawsOf, permutation } from '../collector.js';
import { SpoolStore } from '../spool_store.js';
import {
  DAY_MS,
  HOUR_MS,
  eventually,
  fixedCrypto,
  makeRecipe,
  multiset,
  newKey,
  newRecord,
} from './support.mjs';

const START = Date.UTC(2030, 0, 1, 10, 17, 31); // a time with minutes, to see that they are dropped

/** A collector on a fresh spool. `sent` collects batches; `answer` decides on each. */
async function setUp(t, { change = {}, limits = {}, seed = 1 } = {}) {
  const recipe = await makeRecipe({
    batch: { minimum: 5, max_age_s: 86_400 },
    expires: '2030-03-01',
    ...change,
  });
  const dir = await mkdtemp(join(tmpdir(), 'shoal-edge-'));
  const world = {
    recipe,
    dir,
    limits,
    now: START,
    sent: [],
    answer: () => ({ outcome: 'stored' }),
  };
  const crypto = fixedCrypto(seed);
  world.open = async () => {
    world.store = await SpoolStore.open(dir, {
      recordSize: recipe.recordSize,
      capacity: 2 * batchCap(recipe, limits.batchBytes),
      crypto,
    });
    const send = async (batch) => {
      world.sent.push(batch);
      return world.answer(world.sent.length);
    };
    world.collector = new Collector({
      recipe,
      store: world.store,
      send,
      now: () => world.now,
      crypto,
      limits,
    });
  };
  world.accept = async (record, key = newKey()) => (await world.collector.accept(record, [key]))[0];
  world.post = async (n = 1) => {
    const texts = Array.from({ length: n }, () => newRecord(recipe));
    for (const text of texts)
      assert.equal(await world.accept(recipe.recordFromText(text)), 'accepted');
    return texts;
  };
  world.receivedTexts = () => world.sent.flatMap((batch) => textsOf(recipe, batch));
  await world.open();
  t.after(async () => {
    await world.store.close();
    await rm(dir, { recursive: true });
  });
  return world;
}

function textsOf(recipe, batch) {
  const { records, count } = recipe.openBatch(batch);
  const size = recipe.recordSize;
  return Array.from({ length: count }, (_, i) =>
    recipe.recordToText(records.subarray(i * size, (i + 1) * size)),
  );
}

test('a batch goes when it is old enough and holds the minimum', async (t) => {
  const w = await setUp(t);
  const texts = await w.post(7);
  await w.collector.run();
  assert.equal(w.sent.length, 0, 'too young');
  w.now += 86_400_000 - 1;
  await w.collector.run();
  assert.equal(w.sent.length, 0, 'a millisecond too young');
  w.now += 1;
  await w.collector.run();
  assert.equal(w.sent.length, 1);
  assert.deepEqual(multiset(w.receivedTexts()), multiset(texts));
  await w.collector.run();
  assert.equal(w.sent.length, 1, 'and only once');
});

test('a batch below the minimum waits, and goes with the report that fills it', async (t) => {
  const w = await setUp(t);
  await w.post(4);
  w.now += 3 * DAY_MS;
  await w.collector.run();
  assert.equal(w.sent.length, 0);
  await w.post(1);
  assert.equal((await w.collector.stats()).sealed_batches, 1, 'sealed at once');
  assert.equal(w.sent.length, 0, 'but not sent while the request is served');
  assert.equal(await w.collector.wake(), w.now, 'the host is asked to run now');
  await w.collector.run();
  assert.equal(w.receivedTexts().length, 5);
});

test('a batch below the minimum dies with its recipe, and is counted', async (t) => {
  const w = await setUp(t);
  await w.post(4);
  const expiry = Date.UTC(2030, 2, 2);
  assert.equal(await w.collector.wake(), expiry);
  w.now = expiry - 1;
  await w.collector.run();
  assert.equal((await w.collector.stats()).open_reports, 4);
  w.now = expiry;
  await w.collector.run();
  assert.deepEqual(w.sent, []);
  const stats = await w.collector.stats();
  assert.deepEqual(
    [stats.open_reports, stats.destroyed_batches_total, stats.destroyed_reports_total],
    [0, 1, 4],
  );
  assert.deepEqual((await readdir(w.dir)).sort(), ['counters.json', 'salt']);
  assert.equal(await w.accept(new Uint8Array(w.recipe.recordSize)), 'expired');
  assert.equal(await w.collector.wake(), null);
});

test('at its expiry a batch with the minimum still goes', async (t) => {
  const w = await setUp(t, {
    change: { batch: { minimum: 5, max_age_s: 30 * 86_400 }, expires: '2030-01-02' },
  });
  await w.post(5);
  w.now = Date.UTC(2030, 0, 3);
  await w.collector.run();
  assert.equal(w.receivedTexts().length, 5);
});

test('version 2 carries the day of its sealing, and a repeat sends the same bytes over a restart', async (t) => {
  const w = await setUp(t, { limits: { batchVersion: 2, batchBytes: 1 } });
  w.answer = () => ({ outcome: 'failed' });
  const texts = await w.post(10); // sealed: they are full
  w.now += DAY_MS;
  await w.collector.run();
  await w.store.close();
  await w.open();
  w.now += DAY_MS;
  w.answer = () => ({ outcome: 'stored' });
  await w.collector.run();
  const [first, again] = w.sent;
  assert.deepEqual(again, first);
  const { version, day, id } = w.recipe.openBatch(first);
  assert.deepEqual([version, day], [2, Math.floor(START / DAY_MS)]);
  assert.deepEqual(multiset(textsOf(w.recipe, first)), multiset(texts));
  await w.post(10);
  await w.collector.run();
  const next = w.recipe.openBatch(w.sent[2]);
  assert.equal(next.day, day + 2);
  assert.notDeepEqual(next.id, id);
  const files = (await readdir(w.dir)).filter((name) => name.endsWith('.forwarded'));
  for (const name of files)
    assert.equal((await readFile(join(w.dir, name))).length, 160, 'the keys of ten reports');
});

test('a spool holds batches of both versions, whatever is configured; one of a third is refused', async (t) => {
  const w = await setUp(t, { limits: { batchBytes: 1 } });
  w.answer = () => ({ outcome: 'failed' });
  const key = newKey();
  const record = w.recipe.recordFromText(newRecord(w.recipe));
  const texts = [w.recipe.recordToText(record), ...(await w.post(9))];
  await w.accept(record, key);
  w.limits.batchVersion = 2;
  await w.store.close();
  await w.open();
  texts.push(...(await w.post(10)));
  w.limits.batchVersion = 1;
  await w.store.close();
  await w.open();
  assert.equal(await w.accept(record, key), 'accepted');
  assert.equal((await w.collector.stats()).open_reports, 0, 'its key was read past a batch');
  w.answer = () => ({ outcome: 'stored' });
  await w.collector.run();
  const versions = w.sent.map((batch) => w.recipe.openBatch(batch).version);
  assert.deepEqual(
    multiset(versions),
    new Map(
      versions[0] === 1
        ? [
            [1, 1],
            [2, 1],
          ]
        : [
            [2, 1],
            [1, 1],
          ],
    ),
  );
  assert.deepEqual(multiset(w.receivedTexts()), multiset(texts));
  await w.store.close();
  const strange = Buffer.from(w.sent[0]);
  strange.writeUInt32LE(3, 8);
  await writeFile(join(w.dir, `${'0'.repeat(32)}.1.sealed`), strange);
  await assert.rejects(w.open(), /a newer shoal-edge wrote this spool/);
});

test('a full batch goes whatever its age, and never a smaller one', async (t) => {
  const w = await setUp(t, { limits: { batchBytes: 1 } });
  assert.equal(batchCap(w.recipe, 1), 10, 'twice the minimum at least');
  await w.post(23);
  await w.collector.run();
  assert.deepEqual(
    w.sent.map((batch) => w.recipe.openBatch(batch).count),
    [10, 10],
  );
  assert.equal((await w.collector.stats()).open_reports, 3);
});

test('a repeated key counts once: while open, while sealed, and for its grace after', async (t) => {
  const w = await setUp(t, { limits: { keyGraceS: 7200 } });
  const record = w.recipe.recordFromText(newRecord(w.recipe));
  const key = newKey();
  const again = () => w.accept(record, key);
  assert.deepEqual(await Promise.all([again(), again(), again()]), [
    'accepted',
    'accepted',
    'accepted',
  ]);
  assert.equal((await w.collector.stats()).open_reports, 1);
  await w.post(4);
  w.now += DAY_MS;
  w.answer = () => ({ outcome: 'failed' });
  await w.collector.run();
  assert.equal(await again(), 'accepted');
  w.answer = () => ({ outcome: 'stored' });
  w.now += HOUR_MS;
  await w.collector.run();
  assert.equal(await again(), 'accepted');
  assert.equal((await w.collector.stats()).open_reports, 0);
  w.now += 3 * HOUR_MS;
  await w.collector.run();
  assert.deepEqual((await readdir(w.dir)).sort(), ['counters.json', 'salt'], 'the keys are gone');
  assert.equal(await again(), 'accepted');
  assert.equal((await w.collector.stats()).open_reports, 1, 'and so is the memory of them');
});

test('a repeated key with another record keeps the first', async (t) => {
  const w = await setUp(t, { change: { batch: { minimum: 1, max_age_s: 1 } } });
  const [a, b] = [newRecord(w.recipe), newRecord(w.recipe)];
  const key = newKey();
  await w.accept(w.recipe.recordFromText(a), key);
  await w.accept(w.recipe.recordFromText(b), key);
  w.now += 5000;
  await w.collector.run();
  assert.deepEqual(w.receivedTexts(), [a]);
});

test('a failed send is tried again with growing, jittered pauses, and the same bytes', async (t) => {
  const w = await setUp(t);
  await w.post(5);
  w.now += DAY_MS;
  w.answer = (n) => ({ outcome: n <= 12 ? 'failed' : 'stored' });
  const pauses = [];
  while ((await w.collector.stats()).forwarded_batches_total === undefined) {
    await w.collector.run();
    const wake = await w.collector.wake();
    pauses.push(wake - w.now);
    w.now = wake;
  }
  assert.equal(w.sent.length, 13);
  for (const batch of w.sent) assert.deepEqual(batch, w.sent[0]);
  pauses.slice(0, 12).forEach((pause, i) => {
    const full = Math.min(300_000, 1000 * 2 ** i);
    assert.ok(pause >= full / 2 && pause <= full, `pause ${i} is ${pause}`);
  });
  assert.equal(new Set(pauses.slice(9, 12)).size, 3, 'jitter');
  assert.equal((await w.collector.stats()).failures_in_a_row, 0);
});

test('Retry-After is obeyed, up to an hour', async (t) => {
  const w = await setUp(t);
  await w.post(5);
  w.now += DAY_MS;
  w.answer = () => ({ outcome: 'failed', retryAfterS: 1000 });
  await w.collector.run();
  assert.equal((await w.collector.wake()) - w.now, 1_000_000);
  w.now += 999_999;
  await w.collector.run();
  assert.equal(w.sent.length, 1, 'not before');
  w.now += 1;
  w.answer = () => ({ outcome: 'failed', retryAfterS: 1e9 });
  await w.collector.run();
  assert.equal((await w.collector.wake()) - w.now, HOUR_MS);
});

test('a refused batch is set aside, counted, and can be put back', async (t) => {
  const w = await setUp(t);
  const texts = await w.post(5);
  w.now += DAY_MS;
  w.answer = () => ({ outcome: 'refused' });
  await w.collector.run();
  const stats = await w.collector.stats();
  assert.deepEqual(
    [stats.sealed_batches, stats.quarantined_batches, stats.refused_batches_total],
    [0, 1, 1],
  );
  await w.store.close();
  await w.open();
  w.answer = () => ({ outcome: 'stored' });
  await w.collector.run();
  assert.equal(w.sent.length, 1, 'not by itself');
  assert.equal(await w.collector.retryQuarantined(), 1);
  await w.collector.run();
  assert.deepEqual(w.sent[1], w.sent[0]);
  assert.deepEqual(multiset(textsOf(w.recipe, w.sent[1])), multiset(texts));
});

test('a full store refuses new reports and still knows old ones', async (t) => {
  const w = await setUp(t, { limits: { storeBytes: 2000 } });
  const key = newKey();
  const record = w.recipe.recordFromText(newRecord(w.recipe));
  assert.equal(await w.accept(record, key), 'accepted');
  let n = 1;
  while ((await w.accept(record)) === 'accepted') n++;
  assert.ok(n > 5 && n < 100, `${n}`);
  assert.equal(await w.accept(record, key), 'accepted');
  w.now += DAY_MS;
  await w.collector.run();
  assert.equal(await w.accept(record), 'accepted', 'there is room again');
});

test('times that a host must keep say no more than the opening hour', async (t) => {
  const w = await setUp(t);
  await w.post(5);
  assert.equal(await w.collector.wake(), Date.UTC(2030, 0, 2, 11), 'a whole hour');
  const names = (await readdir(w.dir)).filter((name) => name.endsWith('.open'));
  assert.deepEqual(
    names.map((name) => name.split('.')[1]),
    [String(Date.UTC(2030, 0, 1, 10) / HOUR_MS)],
  );
  await w.store.close();
  await w.open();
  w.now = Date.UTC(2030, 0, 2, 10);
  await w.collector.run();
  assert.equal(w.receivedTexts().length, 5, 'after a restart the batch counts from its hour');
});

test('no arrival order is kept: not in the spool, not in the batch', async (t) => {
  const w = await setUp(t);
  const texts = await w.post(200);
  const [name] = (await readdir(w.dir)).filter((file) => file.endsWith('.open'));
  const file = await readFile(join(w.dir, name));
  const places = texts.map((text) => file.indexOf(Buffer.from(w.recipe.recordFromText(text))));
  assert.ok(places.every((place) => place >= 0));
  w.now += DAY_MS;
  await w.collector.run();
  const received = w.receivedTexts();
  const orders = { spool: places, batch: texts.map((text) => received.indexOf(text)) };
  for (const [what, order] of Object.entries(orders)) {
    // Kendall's tau of n independent places has sigma sqrt(2(2n+5)/(9n(n-1))) = 0.0476 at n = 200; 5 sigma.
    const n = order.length;
    let concordant = 0;
    for (let i = 0; i < n; i++)
      for (let j = i + 1; j < n; j++) concordant += order[i] < order[j] ? 1 : -1;
    const tau = concordant / ((n * (n - 1)) / 2);
    assert.ok(
      Math.abs(tau) < 5 * Math.sqrt((2 * (2 * n + 5)) / (9 * n * (n - 1))),
      `${what}: tau ${tau}`,
    );
  }
});

test('permutation is uniform', () => {
  // 24,000 draws of the 24 orders of 4: chi-square with 23 degrees of freedom exceeds 58.6 with probability 6e-5; the seed is fixed.
  const crypto = fixedCrypto(7);
  const counts = multiset(Array.from({ length: 24_000 }, () => permutation(4, crypto).join('')));
  assert.equal(counts.size, 24);
  let chi = 0;
  for (const count of counts.values()) chi += (count - 1000) ** 2 / 1000;
  assert.ok(chi < 58.6, `chi-square ${chi}`);
});

test('below rejects the draws that would bias it', () => {
  const draws = [0xffffffff, 0xfffffffe, 7];
  const draw = () => /** @type {number} */ (draws.shift());
  assert.equal(below(5, draw), 4, '2^32 = 1 mod 5: the last value is rejected');
  assert.equal(below(5, draw), 2);
});

test('random numbers that are fetched together are each given out once, in order', () => {
  const given = Array.from({ length: 1000 }, (_, i) => 0xfff00000 + i);
  let next = 0;
  const draw = drawsOf({
    getRandomValues: (bytes) => {
      const view = new DataView(bytes.buffer);
      for (let at = 0; at < bytes.length; at += 4) view.setUint32(at, given[next++] ?? 0);
      return bytes;
    },
  });
  assert.deepEqual(
    given.map(() => draw()),
    given,
  );
});

test('a restart after every step loses nothing and sends nothing twice under another id', async (t) => {
  const w = await setUp(t);
  const texts = [];
  for (let i = 0; i < 7; i++) {
    texts.push(...(await w.post(1)));
    await w.store.close();
    await w.open();
  }
  w.now += DAY_MS;
  w.answer = () => ({ outcome: 'failed' });
  await w.collector.run();
  await w.store.close();
  await w.open();
  w.answer = () => ({ outcome: 'stored' });
  w.now += HOUR_MS;
  await w.collector.run();
  assert.deepEqual(w.sent[0], w.sent[1], 'the same bytes, so the same id');
  assert.deepEqual(multiset(textsOf(w.recipe, w.sent[1])), multiset(texts));
});

test('crash between sealing and removing the open batch', async (t) => {
  const w = await setUp(t);
  const texts = await w.post(6);
  const [open] = (await readdir(w.dir)).filter((name) => name.endsWith('.open'));
  await copyFile(join(w.dir, open), join(w.dir, 'aside'));
  w.now += DAY_MS;
  w.answer = () => ({ outcome: 'failed' });
  await w.collector.run();
  await w.store.close();
  await copyFile(join(w.dir, 'aside'), join(w.dir, open)); // as if the unlink had not happened
  await w.open();
  assert.deepEqual(
    (await readdir(w.dir)).filter((name) => name.endsWith('.open')),
    [],
  );
  assert.equal((await w.collector.stats()).open_reports, 0);
  w.answer = () => ({ outcome: 'stored' });
  w.now += 2 * DAY_MS;
  await w.collector.run();
  assert.deepEqual(multiset(textsOf(w.recipe, w.sent.at(-1))), multiset(texts));
  assert.equal(w.sent.length, 2);
});

test('crash between two open batches: they become one', async (t) => {
  const w = await setUp(t);
  const first = await w.post(3);
  await w.store.close();
  const [open] = (await readdir(w.dir)).filter((name) => name.endsWith('.open'));
  const bytes = await readFile(join(w.dir, open));
  await rm(join(w.dir, open));
  await w.open();
  const second = await w.post(3);
  await w.store.close();
  await writeFile(join(w.dir, open), bytes);
  await writeFile(join(w.dir, `${'0'.repeat(32)}.1.open.tmp`), 'rubbish');
  await w.open();
  assert.equal((await w.collector.stats()).open_reports, 6);
  w.now += DAY_MS;
  await w.collector.run();
  assert.deepEqual(multiset(w.receivedTexts()), multiset([...first, ...second]));
});

test('a slot that was half written is no report', async (t) => {
  const w = await setUp(t);
  await w.post(3);
  await w.store.close();
  const [open] = (await readdir(w.dir)).filter((name) => name.endsWith('.open'));
  const bytes = await readFile(join(w.dir, open));
  const size = 16 + w.recipe.recordSize + 8;
  const slot = [...Array(bytes.length / size).keys()].find((i) =>
    bytes.subarray(i * size, (i + 1) * size).some((byte) => byte !== 0),
  );
  bytes[slot * size + 20] ^= 1;
  await writeFile(join(w.dir, open), bytes);
  await w.open();
  assert.equal((await w.collector.stats()).open_reports, 2);
});

test('reports that arrive while a batch is sealed are in one batch or the next', async (t) => {
  const w = await setUp(t, { limits: { batchBytes: 1 } });
  const texts = (await Promise.all(Array.from({ length: 137 }, () => w.post(1)))).flat();
  await eventually(async () => {
    await w.collector.run();
    const stats = await w.collector.stats();
    assert.equal(stats.sealed_batches, 0);
    assert.equal(w.receivedTexts().length + stats.open_reports, 137);
  });
  w.now += 2 * DAY_MS;
  await w.post(5);
  await w.collector.run();
  const received = multiset(w.receivedTexts());
  for (const text of texts) assert.equal(received.get(text), 1);
});

test("a host's own HMAC makes the keys that SubtleCrypto makes: what a spool holds stays known", async () => {
  const { createHmac } = await import('node:crypto');
  const hashes = [];
  const salt = new Uint8Array(32).fill(7);
  const store = {
    state: () => ({ salt, openCount: 0, openId: null, openedHour: null, bytes: 0 }),
    add: ([hash]) => (hashes.push(Buffer.from(hash).toString('hex')), 0),
  };
  const hmac = (key, text) => createHmac('sha256', key).update(text).digest();
  for (const random of [fixedCrypto(), { ...fixedCrypto(), hmac }]) {
    const collector = new Collector({
      recipe: await makeRecipe(),
      store,
      send: async () => ({ outcome: 'stored' }),
      now: Date.now,
      crypto: random,
    });
    await collector.accept(new Uint8Array(4), ['0123456789abcdef'.repeat(2)]);
  }
  assert.equal(hashes[0].length, 32);
  assert.equal(hashes[0], hashes[1]);
});

test('many reports at once are added in pieces: none larger than a value of SQLite, none past the size at which a batch goes', async () => {
  for (const [change, batchBytes, wanted] of [
    [{ parameters: { epsilon: 1, k: 16, m: 65536 } }, undefined, [127, 127, 46]], // 8,196 bytes each, of 2^20
    [{ batch: { minimum: 40, max_age_s: 86_400 } }, 1, [80, 80, 80, 60]],
  ]) {
    const recipe = await makeRecipe(change);
    const pieces = [];
    let openCount = 0;
    const store = {
      state: () => ({
        salt: new Uint8Array(32),
        openCount,
        openId: 'one',
        openedHour: 0,
        bytes: 0,
      }),
      add: (hashes, records) => {
        assert.equal(records.length, hashes.length * recipe.recordSize);
        pieces.push(hashes.length);
        openCount += hashes.length;
        return hashes.length;
      },
      seal: () => (openCount = 0),
    };
    const limits = { storeBytes: 1e9, ...(batchBytes && { batchBytes }) };
    const collector = new Collector({
      recipe,
      store,
      send: async () => ({ outcome: 'stored' }),
      now: () => START,
      crypto: fixedCrypto(),
      limits,
    });
    const outcomes = await collector.accept(
      new Uint8Array(300 * recipe.recordSize),
      Array.from({ length: 300 }, newKey),
    );
    assert.deepEqual(multiset(outcomes), new Map([['accepted', 300]]));
    assert.deepEqual(pieces, wanted);
  }
});

test('probes that anybody may send are so many an hour, and no more', async (t) => {
  const w = await setUp(t, { change: { recipe: 'shoal-probe' } });
  const record = w.recipe.recordFromText(newRecord(w.recipe));
  const send = () => w.accept(record);
  for (let i = 0; i < 240; i++) assert.equal(await send(), 'accepted');
  assert.equal(await send(), 'full');
  w.now += 3_600_000;
  assert.equal(await send(), 'accepted');
  const other = await setUp(t, {});
  for (let i = 0; i < 241; i++) assert.equal(await other.accept(record), 'accepted');
});
