// SPDX-License-Identifier: Apache-2.0
// Floods against the two servers: slow headers, half-open uploads and jobs, and junk reports. Honest devices' reports and the leader's
// jobs are taken meanwhile, 99 of 100 within two seconds; junk is neither in the queue nor in the table of ids; and memory stays within
// what was announced. SHOAL_LONG makes the floods longer, and the campaign sends a million junk reports.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once as event } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { checkMemory, flood, honestMeanwhile, once, turned } from '../serve/flood_helpers.mjs';
import { isCampaign, isLong, makeFolder } from '../serve/serve_helpers.mjs';
import {
  HOUR,
  ask,
  encodeJob,
  encodeReport,
  idText,
  moment,
  sealedReports,
  startPair,
  thisHour,
  upload,
} from './dap_helpers.mjs';

const FLOOD_MS = isCampaign ? 40_000 : isLong ? 5000 : 1000;
const CONNECTIONS = 2000;
const JUNK = isCampaign ? 1_000_000 : isLong ? 50_000 : 8000;
const JUNK_EACH = 16; // of a request: the leader opens so many shares of junk before it drops a request's rest
const DEVICES = isCampaign ? 60_000 : isLong ? 8000 : 1500; // reports that are at hand

/** @param {import('node:test').TestContext} t @param {object} [changes] of the leader's configuration @param {number} [devices] */
async function setUp(t, changes = {}, devices = DEVICES) {
  const folder = makeFolder(t);
  const hour = thisHour() - 5;
  const id = randomBytes(32).toString('hex');
  const pair = await startPair(
    t,
    folder,
    (urls) => ({
      'task.json': {
        version: 'dap-18',
        task_id: id,
        info: 'floods',
        ...urls,
        time_precision_s: HOUR,
        min_batch_size: 10,
        vdaf: { type: 'histogram', length: 8, chunk: 3 },
      },
    }),
    changes,
  );
  writeFileSync(pair.at('measurements'), '3\n'.repeat(devices));
  const reports = await sealedReports(
    pair.urls.leader,
    '--task',
    pair.at('task.json'),
    '--measurements',
    pair.at('measurements'),
    '--time',
    String(hour * HOUR),
  );
  const url = `${pair.urls.leader}/tasks/${idText(id)}/reports`;
  let sent = 0;
  /** Uploads the next honest report. */
  const send = () =>
    once(url, {
      method: 'POST',
      headers: { 'content-type': 'application/ppm-dap;message=upload-req' },
      body: encodeReport(reports[sent++]),
    }).then((answer) => {
      assert.equal(answer.status === 200 ? answer.body : '', '', 'the report was refused');
      return answer;
    });
  return { pair, id, hour, url, reports, send, sent: () => sent };
}

/** @param {string} url */
const metricsOf = async (url) => (await ask(new URL('/metrics', url))).text();
/** @param {string} metrics @param {string} name @param {string} [label] */
const metric = (metrics, name, label = '') =>
  Number(new RegExp(`^shoal_dap_${name}\\{[^}]*${label}[^}]*\\} (\\d+)$`, 'm').exec(metrics)?.[1]);

/** The sums of the hour, once all that was sent is aggregated. @param {Awaited<ReturnType<typeof setUp>>} setup */
function sums({ pair, hour }) {
  const answer = pair.collect(
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
  );
  assert.equal(answer.status, 0, `${answer.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`);
  return JSON.parse(answer.stdout).sums;
}

test(
  'slow headers and half-open uploads do not take the leader offline',
  { timeout: isLong ? 3_600_000 : 300_000 },
  async (t) => {
    const setup = await setUp(t);
    const { pair, url, send } = setup;
    const head =
      `POST ${new URL(url).pathname} HTTP/1.1\r\nHost: localhost\r\n` +
      'Content-Type: application/ppm-dap;message=upload-req\r\n';
    const slow = await flood(t, url, CONNECTIONS, { start: `${head}X-Slow: `, drip: 'x' });
    await honestMeanwhile(t, 'uploads under slow headers', FLOOD_MS, send, [200]);
    await slow.end();
    // Each body says that it is long, and takes room: all together take more than there is.
    await flood(t, url, CONNECTIONS, {
      start: `${head}Content-Length: 200000\r\n\r\n${'x'.repeat(100_000)}`,
    });
    await honestMeanwhile(t, 'uploads under half-open bodies', FLOOD_MS, send, [200]);
    const why = turned(await metricsOf(url));
    t.diagnostic(JSON.stringify(why));
    assert.ok(why['no-room'] > 0);
    assert.equal(sums(setup)[3], setup.sent(), 'every honest report counts');
    checkMemory(t, 'leader', pair.leader.pid(), pair.leader.log());
  },
);

test(
  'slow headers and half-open jobs do not take the helper offline',
  { timeout: isLong ? 3_600_000 : 300_000 },
  async (t) => {
    const setup = await setUp(t);
    const { pair, id, reports } = setup;
    const url = `${pair.urls.helper}/tasks/${idText(id)}/aggregation_jobs`;
    const head =
      `POST ${new URL(url).pathname} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n` +
      'Content-Type: application/ppm-dap;message=aggregation-job-init-req\r\n';
    const job = (/** @type {number} */ i) =>
      once(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/ppm-dap;message=aggregation-job-init-req',
          authorization: `Bearer ${pair.tokens.helper}`,
        },
        body: encodeJob([
          { report: { ...reports[i], id: randomBytes(16) }, verifier: Buffer.alloc(64) },
        ]),
      });
    const slow = await flood(t, url, CONNECTIONS, { start: `${head}X-Slow: `, drip: 'x' });
    await honestMeanwhile(t, 'jobs under slow headers', FLOOD_MS, job, [201]);
    await slow.end();
    // The token is wrong, so the bodies are read only to be thrown away.
    await flood(t, url, CONNECTIONS, {
      start: `${head}Content-Length: 200000\r\n\r\n${'x'.repeat(1000)}`,
    });
    await honestMeanwhile(t, 'jobs under half-open bodies', FLOOD_MS, job, [201]);
    checkMemory(t, 'helper', pair.helper.pid(), pair.helper.log());
  },
);

test(
  'junk uploads fill neither queue nor table of ids',
  { timeout: isLong ? 7_200_000 : 900_000 },
  async (t) => {
    // The leader may keep few reports: junk that it kept would shut honest ones out.
    const setup = await setUp(t, { max_pending: 2000 });
    const { pair, url, send, reports } = setup;
    const template = encodeReport(reports[0]);
    const worker = new Worker(new URL('./junk_worker.mjs', import.meta.url), {
      workerData: {
        url,
        n: JUNK,
        each: JUNK_EACH,
        template,
        at: template.indexOf(reports[0].leader.payload),
        lanes: 16,
      },
    });
    t.after(() => worker.terminate());
    const counts = async () => {
      worker.postMessage('counts');
      return (await event(worker, 'message'))[0];
    };
    const began = performance.now();
    await honestMeanwhile(t, 'uploads under junk', isLong ? FLOOD_MS / 2 : FLOOD_MS, send, [200]);
    let junk = await counts();
    for (; !junk.isOver; junk = await counts()) await sleep(50);
    const seconds = (performance.now() - began) / 1000;
    t.diagnostic(`${junk.sent} junk reports in ${seconds.toFixed(1)} s`);
    assert.deepEqual(junk, { sent: JUNK, refused: JUNK, failed: 0, isOver: true });
    const metrics = await metricsOf(url);
    assert.equal(metric(metrics, 'reports_refused_total', 'reason="hpke_decrypt_error"'), JUNK);
    assert.equal(metric(metrics, 'reports_uploaded_total'), setup.sent());
    assert.equal(sums(setup)[3], setup.sent(), 'every honest report counts');
    const bytes = readdirSync(pair.at('leader', 'store')).reduce(
      (sum, name) => sum + statSync(pair.at('leader', 'store', name)).size,
      0,
    );
    const perReport = bytes / setup.sent();
    t.diagnostic(`the leader's store takes ${bytes} bytes`);
    // The log of the database is at most 32 MiB; a table with a row of each junk report would have 64 bytes of each.
    assert.ok(bytes < 36e6 + 3000 * setup.sent(), `${perReport} bytes for each honest report`);
    checkMemory(t, 'leader', pair.leader.pid(), pair.leader.log());
  },
);

test('an address uploads so many reports, and then waits', { timeout: 60_000 }, async (t) => {
  const limits = { requests_per_s: 20, requests_burst: 40, unlimited: [] };
  const { pair, id, url, reports } = await setUp(t, { limits }, 61);
  assert.equal((await upload(pair.urls.leader, id, reports.slice(0, 60))).status, 200);
  const refused = await ask(url, {
    method: 'POST',
    headers: { 'content-type': 'application/ppm-dap;message=upload-req' },
    body: new Uint8Array(encodeReport(reports[60])),
  });
  assert.equal(refused.status, 429);
  assert.match(refused.headers.get('content-type') ?? '', /^application\/problem\+json/);
  assert.equal(
    refused.headers.get('access-control-allow-origin'),
    '*',
    'a page may read when to try again',
  );
  const wait = Number(refused.headers.get('retry-after'));
  assert.ok(wait >= 1 && wait <= 10, `${wait} s`);
  await sleep(1000 * wait);
  assert.equal((await upload(pair.urls.leader, id, [reports[60]])).status, 200);
});
