// SPDX-License-Identifier: Apache-2.0
// Batches into a bucket: one object each whatever is lost on the way, other bytes set aside, and what may not go there
// refused. The bucket is one on loopback that misbehaves (s3_stand_in.mjs), R2 in workerd, and moto.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { load } from 'shoal-client/node';
import { Miniflare } from 'miniflare';
import { checkLake, createBucketSender, sendToAll } from '../bucket.js';
import { createS3Bucket, failureTeller } from '../bucket_s3.js';
import { bundleWorker } from '../bundle.js';
import { checkEdge } from '../check.js';
import { readConfig } from '../config.js';
import { startEdge } from '../node.js';
import { CREDENTIALS, REGION, S3StandIn } from './s3_stand_in.mjs';
import {
  FakeAggregator,
  SECRET,
  TOKEN,
  eventually,
  makeRecipe,
  multiset,
  newRecord,
  recipeJson,
  reportInit,
} from './support.mjs';

const recipe = await makeRecipe();
const DAY = 20_780; // 2026-11-23
const NAME = new RegExp(`^${recipe.hash}/2026-11-23/([0-9a-f]{2})/\\1[0-9a-f]{30}\\.batch$`);

function sealed(day = DAY) {
  const records = Array.from({ length: 5 }, () => recipe.recordFromText(newRecord(recipe)));
  return recipe.sealBatch(Buffer.concat(records), randomBytes(16), day);
}

async function setUp(t, { gzip = false, credentials = CREDENTIALS, timeoutMs = 5000 } = {}) {
  const bucket = await new S3StandIn().start();
  t.after(() => bucket.stop());
  const said = [];
  const say = (text) => said.push(text);
  const s3 = createS3Bucket(
    { url: bucket.url, region: REGION, credentials },
    { fetch: globalThis.fetch, timeoutMs },
  );
  const send = createBucketSender({ bucket: s3, gzip, say, failed: failureTeller(say) });
  return { bucket, s3, send, said };
}

test('a batch becomes one object, named by recipe, day and id, and a repeat is known', async (t) => {
  const { bucket, send } = await setUp(t);
  const batch = sealed();
  assert.deepEqual(await send(batch), { outcome: 'stored' });
  const [[name, bytes]] = bucket.objects;
  assert.match(name, NAME);
  assert.equal(name.slice(-38, -6), Buffer.from(recipe.openBatch(batch).id).toString('hex'));
  assert.deepEqual(new Uint8Array(bytes), batch);
  assert.deepEqual(await send(batch), { outcome: 'stored' });
  assert.deepEqual(bucket.requests, [`PUT ${name}`, `PUT ${name}`, `HEAD ${name}`]);
  assert.equal(bucket.objects.size, 1);
  assert.deepEqual(await send(sealed(0)), { outcome: 'refused' }, 'version 1 has no day');
});

test('with gzip the object is smaller by nothing that matters, and opens to the batch', async (t) => {
  const { bucket, send } = await setUp(t, { gzip: true });
  const batch = sealed();
  for (let i = 0; i < 2; i++) assert.deepEqual(await send(batch), { outcome: 'stored' });
  const [[name, bytes]] = bucket.objects;
  assert.match(name, /\.batch\.gz$/);
  assert.deepEqual(new Uint8Array(gunzipSync(bytes)), batch);
  assert.equal(bucket.objects.size, 1);
});

test('lost answers, refusals, a slow bucket and a proxy: tried again, named once, and never twice there', async (t) => {
  const { bucket, send, said } = await setUp(t, { timeoutMs: 300 });
  const batch = sealed();
  bucket.script = [500, 500, 409, 503, 404, 'proxy', 'slow', 'lost', 500];
  const seen = [];
  while (seen.length < 20) {
    const sent = await send(batch);
    seen.push(sent.outcome);
    if (sent.outcome === 'stored') break;
    if (seen.length === 4) assert.equal(sent.retryAfterS, 7);
  }
  assert.deepEqual(seen, [...Array(9).fill('failed'), 'stored']);
  assert.equal(bucket.objects.size, 1);
  assert.deepEqual(said, [
    'bucket: it answers 500 Scripted; it will be tried again',
    'bucket: it answers 409 Scripted; it will be tried again',
    'bucket: it answers 503 Scripted; it will be tried again',
    'bucket: it answers 404 Scripted; it will be tried again',
    'bucket: it answers 200; it will be tried again',
    'bucket: it does not answer in time; it will be tried again',
    ...said.slice(6, 7), // a broken connection: the code depends on the platform
    'bucket: it answers 500 Scripted; it will be tried again',
    'bucket: it takes batches again',
  ]);
  assert.match(said[6], /^bucket: it cannot be reached \(\w+\)/);
  await bucket.stop();
  assert.equal((await send(sealed())).outcome, 'failed');
  assert.match(said.at(-1), /ECONNREFUSED/);
  assert.ok(!said.join().includes('127.0.0.1'), 'no address');
});

test('other bytes under a known name are not overwritten; ours are set aside and named', async (t) => {
  const { bucket, send, said } = await setUp(t);
  const batch = sealed();
  await send(batch);
  const [name] = bucket.objects.keys();
  const other = Buffer.from('planted');
  bucket.objects.set(name, other);
  for (let i = 0; i < 2; i++)
    assert.deepEqual(await send(batch), { outcome: 'refused', isConflict: true });
  const sum = createHash('sha256').update(batch).digest('hex').slice(0, 16);
  const aside = `quarantine/${name.replace('.batch', `.${sum}.batch`)}`;
  assert.deepEqual([...bucket.objects.keys()], [name, aside]);
  assert.deepEqual(bucket.objects.get(name), other);
  assert.deepEqual(new Uint8Array(bucket.objects.get(aside)), batch);
  assert.ok(said[0].includes(name) && said[0].includes(aside), said[0]);
});

test('a credential that may only write, and a store without checksums', async (t) => {
  const { bucket, send } = await setUp(t);
  const batch = sealed();
  await send(batch);
  bucket.isWriteOnly = true; // nobody can say whether it is ours
  assert.deepEqual(await send(batch), { outcome: 'refused', isConflict: true });
  bucket.isWriteOnly = false;
  bucket.isSimple = true;
  assert.deepEqual(await send(batch), { outcome: 'stored' });
});

test('a wrong secret fails by name, and no secret is said', async (t) => {
  const credentials = { ...CREDENTIALS, secretAccessKey: 'not-the-secret-key' };
  const { send, said, bucket } = await setUp(t, { credentials });
  assert.equal((await send(sealed())).outcome, 'failed');
  assert.match(said[0], /403 SignatureDoesNotMatch/);
  assert.ok(!/not-the-secret|AKID/.test(said.join()));
  assert.equal(bucket.objects.size, 0);
});

test('a batch is done when every target has it', async () => {
  const calls = [];
  let isUp = false;
  const first = async () => (calls.push('first'), { outcome: 'stored' });
  const second = async () => (
    calls.push('second'),
    isUp ? { outcome: 'stored' } : { outcome: 'failed', retryAfterS: 3 }
  );
  const send = sendToAll([first, second]);
  const batch = sealed();
  assert.deepEqual(await send(batch), { outcome: 'failed', retryAfterS: 3 });
  isUp = true;
  assert.deepEqual(await send(batch), { outcome: 'stored' });
  assert.deepEqual(calls, ['first', 'second', 'first', 'second']);
  assert.deepEqual(await sendToAll([])(batch), { outcome: 'failed' });
});

const ONE_BATCH = `
  import { createBucketSender, r2Bucket } from '../bucket.js';
  export default {
    async fetch(request, { BUCKET }) {
      const said = [];
      const say = (text) => said.push(text);
      const failed = (error) => error && said.push(String(error));
      const send = createBucketSender({ bucket: r2Bucket(BUCKET), say, failed });
      const sent = await send(new Uint8Array(await request.arrayBuffer()));
      return Response.json([sent, said]);
    },
  };
`;

/** An edge on Node over a folder of its own. `change`: of its configuration */
async function nodeEdge(t, change, { json = recipe.json, hash = recipe.hash } = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-bucket-'));
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const path = join(dir, 'edge.json');
  await writeFile(join(dir, 'recipe.json'), JSON.stringify(json));
  await writeFile(join(dir, 'secret'), `${SECRET}\n`, { mode: 0o600 });
  await writeFile(join(dir, 'token'), `${TOKEN}\n`, { mode: 0o600 });
  const { accessKeyId, secretAccessKey } = CREDENTIALS;
  await writeFile(
    join(dir, 'bucket.json'),
    JSON.stringify({ access_key_id: accessKeyId, secret_access_key: secretAccessKey }),
    { mode: 0o600 },
  );
  const config = {
    listen: '127.0.0.1:0',
    spool: 'spool',
    recipes: [{ file: 'recipe.json', hash }],
    admin_token_file: 'token',
    ...change,
  };
  await writeFile(path, JSON.stringify(config));
  const said = [];
  /** @type {any} */ let edge = null;
  const start = async () => {
    edge = await startEdge(await readConfig(path), {
      createCore: load,
      say: (text) => said.push(text),
    });
    return edge;
  };
  t.after(() => edge?.close());
  const ask = async (path, init) => fetch(`http://127.0.0.1:${edge.port}${path}`, init);
  return {
    path,
    dir,
    said,
    start,
    stop: () => edge.close(),
    post: async (n) => {
      const texts = Array.from({ length: n }, () => newRecord(recipe));
      for (const text of texts)
        assert.equal((await ask('/v1/reports', reportInit(recipe.report(text)))).status, 202);
      return texts;
    },
    retry: () =>
      ask('/v1/quarantine/retry', {
        method: 'POST',
        headers: { Authorization: `Bearer ${TOKEN}` },
      }),
    metric: async (name) => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      const text = await (await ask('/metrics', { headers })).text();
      return Number(new RegExp(`^shoal_edge_${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1]);
    },
  };
}

const hashOf = async (json) => (await load()).recipe(json).hash;

const textsOf = (objects) =>
  [...objects].flatMap(([name, bytes]) => {
    if (name.startsWith('quarantine/')) return [];
    const { records, count } = recipe.openBatch(
      new Uint8Array(name.endsWith('.gz') ? gunzipSync(bytes) : bytes),
    );
    const size = recipe.recordSize;
    return Array.from({ length: count }, (_, i) =>
      recipe.recordToText(records.subarray(i * size, (i + 1) * size)),
    );
  });

const bucketOf = (bucket) => ({
  url: bucket.url,
  region: REGION,
  credentials_file: 'bucket.json',
});

test('an edge on Node: an outage loses nothing, over a restart, with the aggregator besides', async (t) => {
  const bucket = await new S3StandIn().start();
  t.after(() => bucket.stop());
  const aggregator = await new FakeAggregator(recipe).start();
  t.after(() => aggregator.remove());
  const edge = await nodeEdge(t, {
    aggregator: aggregator.url,
    batch_secret_file: 'secret',
    bucket: { ...bucketOf(bucket), gzip: true },
  });
  await edge.start();
  await bucket.stop();
  const texts = await edge.post(5);
  await eventually(async () => assert.ok((await edge.metric('send_failures_total')) > 0));
  assert.equal(await edge.metric('sealed_batches'), 1, 'it is not done');
  await edge.stop();
  await bucket.start();
  bucket.script = ['lost'];
  await edge.start();
  await eventually(async () => assert.equal(await edge.metric('forwarded_batches_total'), 1));
  assert.deepEqual(multiset(textsOf(bucket.objects)), multiset(texts));
  assert.deepEqual(multiset(aggregator.records), multiset(texts));
  assert.ok(edge.said.some((text) => /ECONNREFUSED/.test(text)));
  assert.ok(!edge.said.join().includes(CREDENTIALS.secretAccessKey));
});

test('an edge on Node with a bucket alone: a conflict is kept, counted, and sent when it is mended', async (t) => {
  const bucket = await new S3StandIn().start();
  t.after(() => bucket.stop());
  const edge = await nodeEdge(t, { bucket: bucketOf(bucket) });
  await edge.start();
  bucket.script = ['lost'];
  const texts = await edge.post(5);
  await eventually(() => assert.equal(bucket.objects.size, 1));
  const [name] = bucket.objects.keys();
  assert.match(name, new RegExp(`^${recipe.hash}/`));
  bucket.objects.set(name, Buffer.from('planted before the repeat'));
  await eventually(async () => assert.equal(await edge.metric('conflicting_batches_total'), 1));
  assert.equal(await edge.metric('quarantined_batches'), 1);
  bucket.objects.delete(name);
  assert.equal((await edge.retry()).status, 200);
  await eventually(async () => assert.equal(await edge.metric('forwarded_batches_total'), 1));
  assert.deepEqual(multiset(textsOf(bucket.objects)), multiset(texts));
});

test('what a bucket may not have, and configurations that cannot be followed', async (t) => {
  for (const protocol of ['sum', 'dap'])
    assert.throws(
      () => checkLake([{ json: { recipe: 'x', aggregation: { protocol } } }]),
      /recipe x: a bucket keeps single records, which its aggregation forbids/,
    );
  checkLake([{ json: { recipe: 'x', aggregation: { protocol: 'reports' } } }, recipe]);
  const url = 'https://s3.example/lake';
  const good = { url, region: REGION, credentials_file: 'bucket.json' };
  for (const [change, why] of [
    [{}, /aggregator, or bucket, is needed/],
    [{ aggregator: 'https://a.example' }, /aggregator and batch_secret_file belong together/],
    [{ bucket: { url } }, /bucket: missing field region/],
    [{ bucket: { ...good, secret: 'x' } }, /bucket: unknown field "secret"/],
    [{ bucket: { ...good, url: 'lake' } }, /bucket.url: an http\(s\) URL is needed/],
    [
      { bucket: { ...good, url: 'https://me@s3.example/lake' } },
      /without query, fragment and user/,
    ],
    [{ bucket: { ...good, gzip: 1 } }, /bucket.gzip: true or false is needed/],
    [{ bucket: { url, region: REGION } }, /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the/],
    [{ bucket: good, batch_version: 1 }, /batch_version: a bucket takes version 2 alone/],
    [{ bucket: { ...good, credentials_file: 'secret' } }, /secret is not JSON/],
  ]) {
    const { path } = await nodeEdge(t, change);
    await assert.rejects(readConfig(path), why);
  }
  // A recipe of sums is refused when the edge starts, before it takes a report.
  const sum = recipeJson({
    value: 'fields',
    encoding: [{ field: 'age', boundaries: [20, 30, 40] }],
    mechanism: 'onehot-symmetric',
    parameters: { epsilon: 4 },
    hash: undefined,
    seed: undefined,
    cohort: { minimum: 20_000, epsilon: 0.5, delta: '1e-9' },
    policy: 'ab'.repeat(32),
    version: 3,
    aggregation: { protocol: 'sum' },
  });
  const summed = await nodeEdge(t, { bucket: good }, { json: sum, hash: await hashOf(sum) });
  await assert.rejects(summed.start(), /recipe edge-test: a bucket keeps single records/);
  const checked = await checkEdge(summed.path, {
    createCore: load,
    loadDapModule: async () => null,
  });
  assert.match(JSON.stringify(checked.problems), /a bucket keeps single records/);

  const { path, dir } = await nodeEdge(t, { bucket: good });
  const { bucket, limits } = await readConfig(path);
  assert.deepEqual(bucket?.credentials, CREDENTIALS);
  assert.equal(limits.batchVersion, 2);
  await chmod(join(dir, 'bucket.json'), 0o640);
  await assert.rejects(readConfig(path), /only its owner may read and write the bucket's cred/);
  const report = await checkEdge(path, { createCore: load, loadDapModule: async () => null });
  assert.ok(report.problems.length > 0);
  const fromEnvironment = await nodeEdge(t, { bucket: { url, region: REGION } });
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' });
  try {
    const read = await readConfig(fromEnvironment.path);
    assert.deepEqual(read.bucket?.credentials, { accessKeyId: 'id', secretAccessKey: 'key' });
  } finally {
    delete process.env.AWS_ACCESS_KEY_ID;
    delete process.env.AWS_SECRET_ACCESS_KEY;
  }
  const trial = recipeJson({ trial: 1 });
  const edge = await nodeEdge(t, { bucket: good }, { json: trial, hash: await hashOf(trial) });
  await assert.rejects(edge.start(), /"trial": 1, so listen .* must be loopback/);
});

test('an edge on workerd puts its batches into R2, beside what others put there', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-r2-'));
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const script = await bundleWorker(join(dir, 'bundle'));
  // A second worker sends one batch, so that the bucket's rare answers can be had inside workerd.
  const { outputFiles } = await build({
    stdin: { contents: ONE_BATCH, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    format: 'esm',
    write: false,
  });
  const compatibilityDate = '2026-04-01';
  const miniflare = new Miniflare({
    workers: [
      {
        name: 'edge',
        modulesRoot: dirname(script),
        scriptPath: script,
        modules: true,
        modulesRules: [
          { type: 'ESModule', include: ['**/*.js'] },
          { type: 'CompiledWasm', include: ['**/*.wasm'] },
        ],
        compatibilityDate,
        durableObjects: { COLLECTIONS: { className: 'ShoalCollection', useSQLite: true } },
        r2Buckets: { BUCKET: 'lake' },
        bindings: {
          RECIPES: [{ hash: recipe.hash, recipe: recipe.json }],
          ADMIN_TOKEN: TOKEN,
          BUCKET_GZIP: 'true',
        },
      },
      {
        name: 'one',
        modules: true,
        script: outputFiles[0].text,
        compatibilityDate,
        r2Buckets: { BUCKET: 'lake' },
      },
    ],
    host: '127.0.0.1',
    port: 0,
    cf: false,
  });
  t.after(() => miniflare.dispose());
  const base = await miniflare.ready;
  const binding = await miniflare.getR2Bucket('BUCKET');
  const texts = Array.from({ length: 5 }, () => newRecord(recipe));
  for (const text of texts) {
    const { status } = await fetch(new URL('/v1/reports', base), reportInit(recipe.report(text)));
    assert.equal(status, 202);
  }
  const { objects } = await eventually(async () => {
    const list = await binding.list();
    assert.equal(list.objects.length, 1);
    return list;
  });
  const [{ key }] = objects;
  const day = new Date().toISOString().slice(0, 4);
  assert.match(
    key,
    new RegExp(`^${recipe.hash}/${day}-\\d\\d-\\d\\d/[0-9a-f]{2}/[0-9a-f]{32}\\.batch\\.gz$`),
  );
  const bytes = Buffer.from(await (await binding.get(key)).arrayBuffer());
  assert.deepEqual(multiset(textsOf([[key, bytes]])), multiset(texts));

  const one = await miniflare.getWorker('one');
  const send = async (body) => (await one.fetch('http://one/', { method: 'POST', body })).json();
  const batch = sealed();
  for (let i = 0; i < 2; i++) assert.deepEqual(await send(batch), [{ outcome: 'stored' }, []]);
  const name = (await binding.list()).objects.map((each) => each.key).find((k) => NAME.test(k));
  await binding.put(name, 'planted');
  const [sent, said] = await send(batch);
  assert.deepEqual(sent, { outcome: 'refused', isConflict: true });
  assert.equal(await (await binding.get(name)).text(), 'planted');
  const kept = (await binding.list({ prefix: 'quarantine/' })).objects.map((each) => each.key);
  assert.equal(kept.length, 1);
  assert.ok(said[0].includes(kept[0]));
});
