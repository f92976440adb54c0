// SPDX-License-Identifier: Apache-2.0
// @divviup/dap, the DAP-09 client that is deployed today, as it comes from npm, uploads to our leader over loopback; our helper
// and our collector return its exact sums, of every kind of task that it has. And what it is told when something is wrong.
// SHOAL_BIN names the program; build/release/shoal otherwise.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Task } from '@divviup/dap';

import { makeFolder } from '../serve/serve_helpers.mjs';
import { HOUR, moment, startPair, thisHour } from './dap_helpers.mjs';

const REPORTS = 20; // of each task

/**
 * Every kind of task: as the package says it, as a task file does, and the i-th device's measurement.
 * @type {{ name: string, package: object, file: object, length: number, measure: (i: number) => any }[]}
 */
const kinds = [
  {
    name: 'count',
    package: { type: 'count' },
    file: { type: 'count' },
    length: 1,
    measure: (i) => i % 3 === 0,
  },
  {
    name: 'sum',
    package: { type: 'sum', bits: 12 },
    file: { type: 'sum', bits: 12 },
    length: 1,
    measure: (i) => (i * 997) % 4096,
  },
  {
    name: 'vectors',
    package: { type: 'sumVec', length: 6, bits: 4, chunkLength: 5 },
    file: { type: 'sum-vec', length: 6, bits: 4, chunk: 5 },
    length: 6,
    measure: (i) => [0, 1, 2, 3, 4, 5].map((j) => (i * 7 + j * j) % 16),
  },
  {
    name: 'buckets',
    package: { type: 'histogram', length: 30, chunkLength: 6 },
    file: { type: 'histogram', length: 30, chunk: 6 },
    length: 30,
    measure: (i) => (i * i) % 30,
  },
];

/** What a device adds. @param {(typeof kinds)[0]} kind @param {number} i */
function added(kind, i) {
  const value = kind.measure(i);
  if (kind.name === 'buckets')
    return Array.from({ length: kind.length }, (_, bucket) => Number(bucket === value));
  return [value].flat().map(Number);
}

/** @param {(typeof kinds)[0]} kind @param {number} n */
const sumsOf = (kind, n) =>
  Array.from({ length: n }, (_, i) => added(kind, i)).reduce(
    (sums, one) => sums.map((sum, j) => sum + one[j]),
    new Array(kind.length).fill(0),
  );

/**
 * A pair of servers with a DAP-09 task of each kind, and the package's view of each.
 * @param {import('node:test').TestContext} t
 */
async function startTasks(t) {
  const ids = new Map(kinds.map((kind) => [kind.name, randomBytes(32)]));
  const idOf = (/** @type {string} */ name) => /** @type {Buffer} */ (ids.get(name));
  const pair = await startPair(t, makeFolder(t), (urls) =>
    Object.fromEntries(
      kinds.map((kind) => [
        `${kind.name}.json`,
        {
          version: 'dap-09',
          task_id: idOf(kind.name).toString('base64url'),
          info: kind.name,
          ...urls,
          time_precision_s: HOUR,
          min_batch_size: REPORTS,
          vdaf: kind.file,
        },
      ]),
    ),
  );
  const taskOf = (/** @type {(typeof kinds)[0]} */ kind, id = idOf(kind.name)) =>
    new Task(
      /** @type {any} */ ({ ...kind.package, id, ...pair.urls, timePrecisionSeconds: HOUR }),
    );
  return { pair, taskOf };
}

/**
 * The sums of a batch. This process goes on meanwhile: the package keeps connections, and must hear when a server closes one.
 * @param {Awaited<ReturnType<typeof startPair>>} pair @param {string} name @param {number} hour
 */
async function collect(pair, name, hour) {
  const sums = pair.at(`${name}.sums`);
  const done = await pair.collectLater(
    '--task',
    pair.at(`${name}.json`),
    '--from',
    moment(hour),
    '--to',
    moment(hour + 1),
    '--wait',
    '60',
    '--format',
    'json',
    '-o',
    sums,
  );
  assert.equal(
    done.status,
    0,
    `${name}: ${done.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`,
  );
  return JSON.parse(readFileSync(sums, 'utf8'));
}

test('the package uploads, and its exact sums come back', { timeout: 120000 }, async (t) => {
  const { pair, taskOf } = await startTasks(t);
  const hour = thisHour() - 3;
  const timestamp = new Date((hour * HOUR + 1234) * 1000);
  for (const kind of kinds) {
    const task = taskOf(kind);
    for (let i = 0; i < REPORTS; i++)
      await task.sendMeasurement(/** @type {never} */ (kind.measure(i)), { timestamp });
  }
  for (const kind of kinds) {
    const result = await collect(pair, kind.name, hour);
    assert.deepEqual(result.sums, sumsOf(kind, REPORTS), kind.name);
    assert.equal(result.n, REPORTS);
  }
});

test('what the package is told when something is wrong', { timeout: 120000 }, async (t) => {
  const { pair, taskOf } = await startTasks(t);
  const hour = thisHour() - 3;
  const timestamp = new Date((hour * HOUR + 1234) * 1000);
  const kind = kinds[3];
  const task = taskOf(kind);
  const measure = (/** @type {number} */ i) => /** @type {never} */ (kind.measure(i));
  const short =
    (/** @type {string} */ shortType) => (/** @type {{ shortType?: string }} */ error) =>
      error.shortType === shortType;

  // Another server's key: the package learns that its keys are old, asks for them anew and sends again.
  await task.fetchKeyConfiguration();
  const stale = /** @type {{ id: number }} */ (task.aggregators[0].hpkeConfigList?.configs[0]);
  stale.id ^= 1;
  await task.sendMeasurement(measure(0), { timestamp: new Date() });
  assert.notEqual(task.aggregators[0].hpkeConfigList?.configs[0], stale);

  // A report of tomorrow; a task that nobody knows; a body that is no report.
  await assert.rejects(
    task.sendMeasurement(measure(0), { timestamp: new Date(Date.now() + 86400000) }),
    short('reportTooEarly'),
  );
  await assert.rejects(
    taskOf(kind, randomBytes(32)).sendMeasurement(measure(0)),
    short('unrecognizedTask'),
  );
  const report = await task.generateReport(measure(0), { timestamp });
  const url = `${pair.urls.leader}/tasks/${task.id}/reports`;
  const put = (/** @type {Buffer} */ body, method = 'PUT') =>
    fetch(url, {
      method,
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/dap-report' },
    });
  for (const body of [
    Buffer.alloc(0),
    report.encode().subarray(0, -1),
    Buffer.concat([report.encode(), report.encode()]),
  ]) {
    const answer = await put(body);
    assert.equal(answer.status, 400);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
    assert.match((await answer.json()).type, /:invalidMessage$/);
  }
  assert.equal((await put(report.encode(), 'POST')).status, 405);

  // The same report once more is taken silently while it waits, refused once it is verified, and counts once either way (below); one with a
  // share of another measurement counts never.
  assert.equal((await put(report.encode())).status, 201);
  const again = await put(report.encode());
  const { type = '' } = again.status === 201 ? {} : await again.json();
  assert.ok(
    again.status === 201 || (again.status === 400 && /:reportRejected$/.test(type)),
    `${again.status} ${type}`,
  );
  const shard = task.vdaf.shardEncoded.bind(task.vdaf);
  task.vdaf.shardEncoded = async (...args) => {
    const shares = await shard(...args);
    shares.inputShares[0][0] ^= 1;
    return shares;
  };
  await task.sendMeasurement(measure(1), { timestamp });
  task.vdaf.shardEncoded = shard;
  for (let i = 1; i < REPORTS; i++) await task.sendMeasurement(measure(i), { timestamp });
  const result = await collect(pair, kind.name, hour);
  assert.equal(result.n, REPORTS);
  assert.deepEqual(result.sums, sumsOf(kind, REPORTS));

  // The batch is closed.
  await assert.rejects(task.sendMeasurement(measure(2), { timestamp }), short('reportRejected'));
});
