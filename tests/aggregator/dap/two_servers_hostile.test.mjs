// SPDX-License-Identifier: Apache-2.0
// What two servers do with reports that no honest device sends, with a device that was told another minimum batch, and with requests
// that no honest leader makes: each ends as draft-ietf-ppm-dap-18 says, and the batch holds the honest reports exactly. Shares are opened
// and sealed here in JavaScript (dap_helpers.mjs), so that both sides of the codec are somebody else's.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { makeFolder } from '../serve/serve_helpers.mjs';
import {
  HELPER,
  HOUR,
  LEADER,
  ask,
  encodeJob,
  encodeReport,
  idText,
  moment,
  openShare,
  parseResponses,
  postJob,
  resealShare,
  reversedJob,
  sealedReports,
  startBetween,
  startPair,
  thisHour,
  upload,
} from './dap_helpers.mjs';

/** @typedef {import('./dap_helpers.mjs').Report} Report */
/** @typedef {import('./dap_helpers.mjs').TaskFile} TaskFile */

const MINIMUM = 5;
const BUCKETS = [0, 3, 3, 7, 1, 3];

/** A task of a histogram, exact; devices are told another minimum batch by `lies`. @param {{ leader: string, helper: string }} urls @param {string} id */
const histogramTask = (urls, id) => ({
  version: 'dap-18',
  task_id: id,
  info: 'hostile',
  ...urls,
  time_precision_s: HOUR,
  min_batch_size: MINIMUM,
  vdaf: { type: 'histogram', length: 8, chunk: 3 },
});

/** @param {Buffer} bytes @param {number} at */
function flipped(bytes, at) {
  const copy = Buffer.from(bytes);
  copy[at] ^= 1;
  return copy;
}

/** @param {import('node:test').TestContext} t @param {object} [changes] of the leader's configuration */
async function setUp(t, changes) {
  const folder = makeFolder(t);
  const hour = thisHour() - 5;
  const id = randomBytes(32).toString('hex');
  const pair = await startPair(
    t,
    folder,
    (urls) => ({ 'task.json': histogramTask(urls, id) }),
    changes,
  );
  const task = /** @type {TaskFile} */ (histogramTask(pair.urls, id));
  /** Reports as a device seals them under a task file. @param {TaskFile} under @param {number[]} buckets @param {number} [time] seconds */
  const devices = (under, buckets, time = hour * HOUR) => {
    writeFileSync(pair.at('device.json'), JSON.stringify(under));
    writeFileSync(pair.at('measurements'), buckets.map((bucket) => `${bucket}\n`).join(''));
    return sealedReports(
      pair.urls.leader,
      '--task',
      pair.at('device.json'),
      '--measurements',
      pair.at('measurements'),
      '--time',
      String(time),
    );
  };
  return { pair, task, id, hour, devices };
}

/** Both servers end as an operator ends them, and a sanitizer has nothing to say. @param {import('./dap_helpers.mjs').Pair} pair */
async function endWell(pair) {
  for (const name of /** @type {const} */ (['leader', 'helper']))
    assert.equal(await pair[name].end('SIGTERM'), 0, pair[name].log());
}

/** How many reports a server refused since its start, by reason. @param {string} url */
async function refusals(url) {
  const metrics = await (await ask(new URL('/metrics', url))).text();
  const lines = [
    ...metrics.matchAll(/^shoal_dap_reports_refused_total\{.*reason="(\w+)"\} (\d+)$/gm),
  ];
  assert.ok(lines.length > 0, metrics);
  return Object.fromEntries(
    lines
      .filter(([, , count]) => count !== '0')
      .map(([, reason, count]) => [reason, Number(count)]),
  );
}

test(
  'reports that are tampered with are refused by the server that can tell, and the others count',
  { timeout: 300000 },
  async (t) => {
    const { pair, task, id, hour, devices } = await setUp(t);
    const honest = await devices(task, BUCKETS);
    const [a, b, c, d, e, f, g] = await devices(task, [2, 2, 2, 2, 2, 2, 2]);
    const { leader, helper } = pair.keys;

    // JavaScript opens what C sealed, so the associated data agree byte for byte; and what it seals again is taken.
    const share = await openShare(task, honest[0], LEADER, leader);
    assert.equal((await openShare(task, honest[0], HELPER, helper)).length, 64); // two seeds: the measurement's and the joint randomness's
    honest[0] = await resealShare(task, honest[0], LEADER, leader, share);

    const tampered = [
      { ...a, leader: { ...a.leader, payload: flipped(a.leader.payload, 0) } },
      { ...b, helper: { ...b.helper, payload: flipped(b.helper.payload, 40) } },
      { ...c, publicShare: flipped(c.publicShare, 0) },
      { ...d, time: d.time + 1 },
      await resealShare(
        task,
        e,
        LEADER,
        leader,
        flipped(await openShare(task, e, LEADER, leader), 0),
      ),
      await resealShare(
        task,
        f,
        HELPER,
        helper,
        flipped(await openShare(task, f, HELPER, helper), 5),
      ),
      await resealShare(
        task,
        g,
        LEADER,
        leader,
        Buffer.alloc((await openShare(task, g, LEADER, leader)).length),
      ),
    ];
    const misinformed = await devices({ ...task, min_batch_size: MINIMUM - 1 }, [4]);
    const { status, errors } = await upload(pair.urls.leader, id, [
      ...tampered,
      ...honest,
      ...misinformed,
    ]);
    assert.equal(status, 200);
    // The leader opens its own share before it keeps anything: of a, c and d and of the one that was told another task. The others
    // (b, e, f, g) only the helper can tell.
    assert.deepEqual(
      errors.map(({ id, says }) => [id.toString('hex'), says]),
      [a, c, d, ...misinformed].map(({ id }) => [id.toString('hex'), 'hpke_decrypt_error']),
    );

    // Refused at once: extensions that nobody knows, a time to come, a key that is not there, a share of no length that the task has.
    const [h, i, j, k] = await devices(task, [2, 2, 2, 2]);
    const refused = await upload(pair.urls.leader, id, [
      { ...h, extensions: Buffer.from([0, 23, 0, 0]) },
      { ...i, time: thisHour() + 2 },
      { ...j, leader: { ...j.leader, config: 99 } },
      { ...k, helper: { ...k.helper, payload: k.helper.payload.subarray(1) } },
    ]);
    assert.deepEqual(
      refused.errors.map(({ says }) => says),
      ['invalid_message', 'report_too_early', 'outdated_config', 'invalid_message'],
    );
    const cut = await ask(`${pair.urls.leader}/tasks/${idText(id)}/reports`, {
      method: 'POST',
      headers: { 'content-type': 'application/ppm-dap;message=upload-req' },
      body: new Uint8Array(encodeReport(k).subarray(0, 100)),
    });
    assert.equal(cut.status, 400);
    assert.match(await cut.text(), /urn:ietf:params:ppm:dap:error:invalidMessage/);
    const elsewhere = await upload(pair.urls.leader, '00'.repeat(32), [k]);
    assert.equal(elsewhere.status, 404);
    assert.match(elsewhere.text, /urn:ietf:params:ppm:dap:error:unrecognizedTask/);

    const answer = pair.collect(
      '--task',
      pair.at('task.json'),
      '--from',
      moment(hour),
      '--to',
      moment(hour + 2),
      '--wait',
      '60',
      '--format',
      'json',
    );
    assert.equal(answer.status, 0, `${answer.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`);
    const result = JSON.parse(answer.stdout);
    assert.deepEqual(
      result.sums,
      BUCKETS.reduce((sums, bucket) => (sums[bucket]++, sums), new Array(8).fill(0)),
    );
    assert.equal(result.n, BUCKETS.length);

    // Each was refused for its own reason, by the server that saw it first.
    assert.deepEqual(
      await refusals(pair.urls.helper),
      { hpke_decrypt_error: 1, vdaf_verify_error: 3 },
      'b; e, f and g',
    );
    assert.deepEqual(await refusals(pair.urls.leader), {
      // its own four: a, c, d and the misinformed one; and what the helper said
      hpke_decrypt_error: 4 + 1,
      vdaf_verify_error: 3,
      invalid_message: 2,
      report_too_early: 1,
      outdated_config: 1,
    });
    await endWell(pair);
  },
);

test(
  'a helper answers each report of a job as the draft says, whoever asks',
  { timeout: 300000 },
  async (t) => {
    const { pair, task, id, hour, devices } = await setUp(t);
    const verifier = Buffer.alloc(1000);
    const [sound] = await devices(task, [1]);
    const [misinformed] = await devices({ ...task, min_batch_size: MINIMUM + 1 }, [1]);
    const [tampered] = await devices(task, [1]);
    const [early] = await devices(task, [1], (thisHour() + 2) * HOUR);
    const reports = [
      sound,
      misinformed,
      { ...tampered, publicShare: flipped(tampered.publicShare, 3) },
      early,
      { ...sound, id: randomBytes(16), helper: { ...sound.helper, config: 99 } },
      { ...sound, id: randomBytes(16), extensions: Buffer.from([0, 23, 0, 0]) },
    ];
    const job = encodeJob(reports.map((report) => ({ report, verifier })));
    const answer = await postJob(pair, id, job);
    assert.equal(
      answer.type,
      'application/ppm-dap;message=aggregation-job-resp',
      answer.body.toString(),
    );
    assert.ok(answer.status === 200 || answer.status === 201);
    const says = parseResponses(answer.body);
    assert.deepEqual(
      says.map((one) => one.id.toString('hex')),
      reports.map((one) => one.id.toString('hex')),
    );
    assert.deepEqual(
      says.map((one) => one.says),
      [
        'vdaf_verify_error', // opened; the leader's half of the verification is no half of anything
        'hpke_decrypt_error',
        'hpke_decrypt_error',
        'report_too_early',
        'hpke_decrypt_error',
        'invalid_message',
      ],
    );

    // Again: the same resource, the same bytes.
    const again = await postJob(pair, id, job);
    assert.equal(again.location, answer.location);
    assert.ok(again.location !== null && again.body.equals(answer.body));

    // Requests that are no job.
    /** @param {Promise<Awaited<ReturnType<typeof postJob>>>} request @param {string} problem @param {number} [status] */
    const isRefused = async (request, problem, status = 400) => {
      const refused = await request;
      assert.equal(refused.status, status);
      assert.match(refused.type, /^application\/problem\+json/);
      const document = JSON.parse(refused.body.toString());
      assert.equal(document.type, `urn:ietf:params:ppm:dap:error:${problem}`);
      assert.equal(document.taskid, idText(id));
    };
    await isRefused(postJob(pair, id, job.subarray(0, job.length - 1)), 'invalidMessage');
    await isRefused(
      postJob(
        pair,
        id,
        encodeJob([
          { report: sound, verifier },
          { report: sound, verifier },
        ]),
      ),
      'invalidMessage',
    );
    await isRefused(
      postJob(pair, id, Buffer.concat([Buffer.from([0, 0, 0, 0, 1, 7, 0, 0]), job.subarray(7)])),
      'invalidAggregationParameter',
    );
    await isRefused(
      postJob(
        pair,
        id,
        Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 4, 0, 9, 0, 0]), job.subarray(7)]),
      ),
      'unsupportedExtension',
    );
    for (const authorization of ['', 'Bearer nobody', `Bearer ${pair.tokens.collector}`]) {
      assert.equal((await postJob(pair, id, job, { authorization })).status, 401);
    }
    const unknown = await postJob(pair, '00'.repeat(32), job);
    assert.equal(unknown.status, 404);
    assert.match(unknown.body.toString(), /urn:ietf:params:ppm:dap:error:unrecognizedTask/);
    const type = await postJob(pair, id, job, { 'content-type': 'application/octet-stream' });
    assert.equal(type.status, 415);

    // Nothing of all that is in a sum.
    const collected = pair.collect(
      '--task',
      pair.at('task.json'),
      '--from',
      moment(hour),
      '--to',
      moment(hour + 1),
      '--wait',
      '30',
    );
    assert.equal(collected.status, 3);
    assert.match(collected.stderr, /invalidBatchSize/);
    await endWell(pair);
  },
);

test(
  'a leader that sends reports once more, in another job, gets nothing added',
  { timeout: 300000 },
  async (t) => {
    const between = await startBetween(t);
    const { pair, task, id, hour, devices } = await setUp(t, { helper_url: between.url });
    between.of(pair);
    assert.deepEqual((await upload(pair.urls.leader, id, await devices(task, BUCKETS))).errors, []);
    const asked = [
      '--task',
      pair.at('task.json'),
      '--from',
      moment(hour),
      '--to',
      moment(hour + 1),
      '--wait',
      '60',
      '--format',
      'json',
    ];
    const isAggregated = async () =>
      / 6$/m.test(
        /^shoal_dap_reports_aggregated_total.*$/m.exec(
          await (await ask(new URL('/metrics', pair.urls.leader))).text(),
        )?.[0] ?? '',
      );
    for (const end = Date.now() + 60000; !(await isAggregated());) {
      assert.ok(Date.now() < end, 'the reports were never aggregated');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const jobs = between.seen
      .map(({ body }) => reversedJob(body))
      .filter((job, i) => !job.equals(between.seen[i].body));
    assert.ok(jobs.length > 0, 'one upload is one job');
    for (const job of jobs) {
      const says = parseResponses((await postJob(pair, id, job)).body);
      assert.ok(
        says.length > 1 && says.every((one) => one.says === 'report_replayed'),
        JSON.stringify(says),
      );
    }
    const answer = await pair.collectLater(...asked, '-o', pair.at('sums.json'));
    assert.equal(answer.status, 0, answer.stderr);
    const result = JSON.parse(readFileSync(pair.at('sums.json'), 'utf8'));
    assert.deepEqual(
      [result.n, result.sums],
      [
        BUCKETS.length,
        BUCKETS.reduce((sums, bucket) => (sums[bucket]++, sums), new Array(8).fill(0)),
      ],
    );
    await endWell(pair);
  },
);
