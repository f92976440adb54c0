// SPDX-License-Identifier: Apache-2.0
// A collection over several Durable Objects, in real workerd: repeats meet the same shard, also while the number of shards
// grows and workers of both numbers serve, and the reports spread evenly.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { Miniflare } from 'miniflare';
import { bundleWorker } from '../bundle.js';
import { Shards, checkedShards, shardOf } from '../shards.js';
import {
  FakeAggregator,
  SECRET,
  TOKEN,
  eventually,
  makeRecipe,
  multiset,
  newKey,
  newReport,
  reportInit,
} from './support.mjs';

const recipe = await makeRecipe({ batch: { minimum: 5, max_age_s: 86_400 } });
const AT_ONCE = 50;

/** @type {string} */ let dir;
/** @type {string} */ let script;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'shoal-shards-'));
  script = await bundleWorker(join(dir, 'bundle'));
});
after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

/** Two deployments of one worker, of `first` and of `second` shards, over the same objects. */
async function deploy(t, store, first, second, more = {}) {
  const worker = (name, shards) => ({
    name,
    modulesRoot: dirname(script),
    scriptPath: script,
    modules: true,
    modulesRules: [
      { type: 'ESModule', include: ['**/*.js'] },
      { type: 'CompiledWasm', include: ['**/*.wasm'] },
    ],
    compatibilityDate: '2026-04-01',
    durableObjects: {
      COLLECTIONS: {
        className: 'ShoalCollection',
        useSQLite: true,
        ...(name === 'first' ? {} : { scriptName: 'first' }),
      },
    },
    bindings: {
      RECIPES: [{ hash: recipe.hash, recipe: recipe.json }],
      AGGREGATOR: 'http://127.0.0.1:1',
      BATCH_SECRET: SECRET,
      ADMIN_TOKEN: TOKEN,
      SHARDS: shards,
      ...more,
    },
  });
  const miniflare = new Miniflare({
    workers: [worker('first', first), worker('second', second)],
    durableObjectsPersist: join(dir, store),
    host: '127.0.0.1',
    port: 0,
    cf: false,
  });
  let isOver = false;
  const end = async () => {
    if (!isOver) await miniflare.dispose();
    isOver = true;
  };
  t.after(end);
  await miniflare.ready;
  const workers = [await miniflare.getWorker('first'), await miniflare.getWorker('second')];
  const namespace = await miniflare.getDurableObjectNamespace('COLLECTIONS', 'first');
  const object = (i) =>
    namespace.get(namespace.idFromName(i ? `${recipe.hash}/${i}` : recipe.hash));
  return {
    end,
    post: async (i, init) => (await workers[i].fetch('http://edge/v1/reports', init)).status,
    leave: (i, n) => object(i).leave(recipe.hash, n),
    /** Of each shard that there may be: what it accepted. */
    accepted: () =>
      Promise.all(
        Array.from({ length: 16 }, async (_, i) => {
          return (await object(i).stats(recipe.hash)).accepted_reports_total;
        }),
      ),
    metric: async (i, name) => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      const text = await (await workers[i].fetch('http://edge/metrics', { headers })).text();
      const line = text.split('\n').find((one) => one.startsWith(`shoal_edge_${name}{`));
      return Number(line?.split(' ').at(-1));
    },
  };
}

const reports = (n) => Array.from({ length: n }, () => reportInit(newReport(recipe), newKey()));

/** Calls in an order of its own, some at once; all must be answered 202. */
async function postAll(posts) {
  const order = posts.map((post) => [Math.random(), post]).sort(([a], [b]) => a - b);
  const statuses = [];
  for (let i = 0; i < order.length; i += AT_ONCE)
    statuses.push(...(await Promise.all(order.slice(i, i + AT_ONCE).map(([, post]) => post()))));
  assert.deepEqual(multiset(statuses), new Map([[202, posts.length]]));
}

const sum = (numbers) => numbers.reduce((all, n) => all + n, 0);

test('a key has one shard, the shares are even, and growth moves no more than it must', () => {
  const keys = Array.from({ length: 8000 }, newKey);
  assert.ok(keys.every((key) => shardOf(key, 1) === 0));
  for (const n of [2, 8, 64]) {
    const counts = multiset(keys.map((key) => shardOf(key, n)));
    assert.equal(counts.size, n);
    for (const count of counts.values())
      // 6 sigma of a binomial count
      assert.ok(Math.abs(count - 8000 / n) < 6 * Math.sqrt(8000 / n), `${count} of 8000/${n}`);
  }
  for (const key of keys) {
    const [four, eight] = [shardOf(key, 4), shardOf(key, 8)];
    assert.ok(eight === four || eight >= 4, 'a key that moves goes to a new shard');
  }
  // Jump consistent hashing of the paper, for keys whose first 8 bytes are these numbers.
  const of = (number, n) => shardOf(number.toString(16).padStart(16, '0') + '0'.repeat(16), n);
  assert.deepEqual([of(0n, 10), of(1n, 1), of(0xdeadbeefn, 16)], [0, 0, jump(0xdeadbeefn, 16)]);
  for (let i = 0; i < 1000; i++) {
    const number = BigInt(`0x${newKey().slice(0, 16)}`);
    assert.equal(of(number, 1 + (i % 64)), jump(number, 1 + (i % 64)));
  }
  for (const bad of [0, 65, 1.5, NaN]) assert.throws(() => checkedShards(bad), /SHARDS: a whole/);
});

/** The same hash by the definition it is derived from: the last j below n at which the key jumps. */
function jump(key, n) {
  let last = 0;
  let at = 0;
  let state = key;
  for (;;) {
    state = (state * 2862933555777941757n + 1n) % (1n << 64n);
    // floor((at + 1) * 2^31 / r), exactly
    at = Number((BigInt(at + 1) * (1n << 31n)) / ((state >> 33n) + 1n));
    if (at >= n) return last;
    last = at;
  }
}

test('1,000 repeats while one shard becomes eight and both deployments serve count nothing', async (t) => {
  const old = await deploy(t, 'growth', 1, 1);
  const before = reports(250);
  await postAll(before.map((init) => () => old.post(0, init)));
  await old.end();
  const both = await deploy(t, 'growth', 1, 8);
  const late = reports(250);
  // Each report comes to both deployments, and again, in any order; the growth begins among them.
  await postAll(
    [...before, ...late, ...late].flatMap((init) => [
      () => both.post(0, init),
      () => both.post(1, init),
    ]),
  );
  const counts = await both.accepted();
  assert.equal(sum(counts), 500, `${counts}`);
  assert.ok(counts[0] >= 250, 'what one object had stays there');
  assert.ok(counts.slice(1, 8).every((n) => n > 0) && sum(counts.slice(8)) === 0, `${counts}`);
  for (const i of [0, 1]) assert.equal(await both.metric(i, 'accepted_reports_total'), 500);
  await both.end();

  const next = await deploy(t, 'growth', 8, 16);
  const last = reports(50);
  const some = [...before, ...late].filter((_, i) => i % 5 === 0);
  await postAll(
    [...some, ...last, ...last].flatMap((init) => [
      () => next.post(0, init),
      () => next.post(1, init),
    ]),
  );
  assert.equal(sum(await next.accepted()), 550);
  await next.end();

  const smaller = await deploy(t, 'growth', 1, 2); // has no effect
  await postAll(
    [...some, ...last, ...reports(50)].flatMap((init) => [
      () => smaller.post(0, init),
      () => smaller.post(1, init),
    ]),
  );
  assert.equal(sum(await smaller.accepted()), 600);
  assert.equal(await smaller.metric(0, 'accepted_reports_total'), 600);
});

test('reports spread over eight shards, and each sends batches of the minimum or more', async (t) => {
  const aggregator = await new FakeAggregator(recipe).start();
  t.after(() => aggregator.remove());
  const edge = await deploy(t, 'spread', 8, 8, { AGGREGATOR: aggregator.url, BATCH_BYTES: 1 });
  await postAll(reports(400).map((init) => () => edge.post(1, init)));
  const counts = await edge.accepted();
  t.diagnostic(`reports of each shard: ${counts.slice(0, 8).join(' ')}`);
  assert.equal(sum(counts), 400);
  assert.equal(sum(counts.slice(8)), 0);
  for (const n of counts.slice(0, 8)) assert.ok(Math.abs(n - 50) < 42, `${counts}`); // 6 sigma
  const sealed = await edge.metric(1, 'sealed_reports_total');
  await eventually(async () => assert.equal(aggregator.records.length, sealed));
  assert.ok(sealed >= 300, `${sealed}`);
  for (const { texts } of aggregator.batches.values()) assert.ok(texts.length >= 5);
});

test('an earlier shard is asked no more when it has forgotten what it had', async () => {
  const calls = [];
  let isSettled = false;
  const shard = (i) => ({
    grow: async () => [1, 4],
    knows: async () => (calls.push(`knows ${i}`), isSettled ? null : false),
    accept: async () => (calls.push(`accept ${i}`), 'accepted'),
  });
  const shards = new Shards(recipe.hash, 4, shard);
  const key = Array.from({ length: 99 }, newKey).find((each) => shardOf(each, 4) === 3) ?? '';
  for (let i = 0; i < 4; i++) {
    isSettled = i > 0;
    await shards.accept(new Uint8Array(4), key);
  }
  assert.deepEqual(calls, [
    ...['knows 0', 'accept 3', 'knows 0', 'accept 3'],
    ...['accept 3', 'accept 3'],
  ]);
});

test('a growth that breaks off is ended by whoever comes next', async (t) => {
  const edge = await deploy(t, 'broken', 1, 1);
  const inits = reports(60);
  await postAll(inits.map((init) => () => edge.post(0, init)));
  await edge.leave(0, 8); // the worker that let it grow was ended here
  await edge.end();
  const again = await deploy(t, 'broken', 1, 1);
  const more = reports(60);
  await postAll(
    [...inits, ...more].flatMap((init) => [() => again.post(1, init), () => again.post(0, init)]),
  );
  const counts = await again.accepted();
  assert.equal(sum(counts), 120);
  assert.ok(counts[0] < 110 && counts[7] > 0, `${counts}`);
});
