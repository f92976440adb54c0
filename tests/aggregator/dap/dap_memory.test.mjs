// SPDX-License-Identifier: Apache-2.0
// What leader, helper, `shoal upload` and `shoal collect` say that they take of memory, against the kernel's peak of it: a task of large
// measurements, whose jobs are as large as they may be, while connections and bodies take all the room that there is for them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { LONG_HEADERS, MIB, SLACK, announced, begin, peak } from '../serve/memory_helpers.mjs';
import { makeFolder, program, run } from '../serve/serve_helpers.mjs';
import {
  HOUR,
  encodeJob,
  idText,
  moment,
  postJob,
  startPair,
  thisHour,
  upload,
} from './dap_helpers.mjs';

const LENGTH = 1 << 16; // buckets: a report has a mebibyte, and so have its state and what comes of it
const REPORTS = 70; // a job of the leader has 64 of them at most
const TASK_ID = '5e'.repeat(32);

/** Not more than was said, nor so little that it says nothing. @param {import('node:test').TestContext} t @param {string} who @param {number} took @param {string} log @param {number} [least] share of what was said */
function check(t, who, took, log, least = 0.5) {
  const said = announced(log);
  t.diagnostic(`${who}: ${took.toFixed(0)} MiB of ${said} MiB`);
  assert.ok(took <= SLACK * said, `${who} takes ${took} MiB of ${said}`);
  assert.ok(took >= least * said, `${who} says ${said} MiB and takes ${took}`);
}

/** Runs a command, and looks at its peak as long as it runs. @param {string[]} args */
async function watch(...args) {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let [log, most] = ['', 0];
  child.stderr.setEncoding('utf8').on('data', (text) => (log += text));
  const timer = setInterval(() => {
    try {
      most = Math.max(most, peak(/** @type {number} */ (child.pid)) || 0);
    } catch {
      /* it has ended */
    }
  }, 2);
  const [status] = await once(child, 'close');
  clearInterval(timer);
  assert.equal(status, 0, log);
  return { log, peak: most };
}

/**
 * Takes connections, and room for all bodies but one.
 * @param {import('node:test').TestContext} t @param {string} base @param {string} resource @param {string} type @param {string} token @param {number} size
 */
async function press(t, base, resource, type, token, size) {
  const head =
    `POST ${new URL(base).pathname}/tasks/${idText(TASK_ID)}/${resource} HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
    `Content-Type: application/ppm-dap;message=${type}\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${size}\r\n\r\n`;
  await Promise.all(
    Array.from({ length: 7 }, () => begin(t, base, head, Buffer.alloc(size - 4096))),
  );
  for (let i = 0; i < 900; i += 100)
    await Promise.all(Array.from({ length: 100 }, () => begin(t, base, LONG_HEADERS)));
}

test(
  'two servers, uploads and collections take no more memory than they said',
  { timeout: 300_000 },
  async (t) => {
    const folder = makeFolder(t);
    const hour = thisHour() - 3;
    const pair = await startPair(
      t,
      folder,
      (urls) => ({
        'task.json': {
          version: 'dap-18',
          task_id: TASK_ID,
          info: 'large',
          ...urls,
          time_precision_s: HOUR,
          min_batch_size: 10,
          vdaf: { type: 'histogram', length: LENGTH },
        },
      }),
      { max_body: 5 * MIB, job_interval_s: 600, body_timeout_s: 300 },
    );
    await Promise.all([
      press(t, pair.urls.leader, 'reports', 'upload-req', 'none', 5 * MIB),
      press(
        t,
        pair.urls.helper,
        'aggregation_jobs',
        'aggregation-job-init-req',
        pair.tokens.helper,
        16 * MIB,
      ),
    ]);
    writeFileSync(
      pair.at('measurements'),
      Array.from({ length: REPORTS }, (_, i) => `${i}\n`).join(''),
    );
    const args = ['--task', pair.at('task.json'), '--memory', '1G'];
    const sent = await watch(
      'upload',
      ...args,
      '--measurements',
      pair.at('measurements'),
      '--time',
      String(hour * HOUR),
    );
    check(t, 'upload', sent.peak, sent.log);
    const collect = await watch(
      'collect',
      ...args,
      '--key',
      pair.at('collector', 'key.json'),
      '--token-file',
      pair.at('collector.token'),
      '--from',
      moment(hour),
      '--to',
      moment(hour + 1),
      '--wait',
      '120',
      '--format',
      'json',
      '-o',
      pair.at('sums'),
    );
    check(t, 'collect', collect.peak, collect.log);
    // The helper has room for 31 reports of a job: the leader halves its jobs, and nothing is lost.
    const sums = JSON.parse(readFileSync(pair.at('sums'), 'utf8'));
    assert.equal(sums.n, REPORTS);
    assert.deepEqual(sums.sums.slice(0, REPORTS + 1), [...Array(REPORTS).fill(1), 0]);
    for (const [name, server] of /** @type {const} */ ([
      ['leader', pair.leader],
      ['helper', pair.helper],
    ])) {
      check(t, `serve as ${name}`, peak(server.pid()), server.log(), 0.4); // reports of one time: each could have a sum of its own
    }
    // Lists of more reports than have room are not read to their end.
    const byte = { config: 10, enc: Buffer.alloc(1), payload: Buffer.alloc(1) };
    const tiny = {
      id: Buffer.alloc(16),
      time: hour,
      extensions: Buffer.alloc(0),
      publicShare: Buffer.alloc(0),
      leader: byte,
      helper: byte,
    };
    const tinies = (/** @type {number} */ n) => Array(n).fill(tiny);
    assert.equal((await upload(pair.urls.leader, TASK_ID, tinies(16384))).status, 200);
    assert.equal((await upload(pair.urls.leader, TASK_ID, tinies(16385))).status, 413);
    const job = (/** @type {number} */ n) =>
      encodeJob(tinies(n).map((report) => ({ report, verifier: Buffer.alloc(1) })));
    assert.equal((await postJob(pair, TASK_ID, job(1))).status, 201);
    assert.equal((await postJob(pair, TASK_ID, job(32))).status, 413);
    for (const role of ['leader', 'helper']) {
      const start = (/** @type {string} */ memory) =>
        run('serve', '--config', pair.at(role, 'config.json'), '--check', '--memory', memory);
      assert.ok(
        announced(start('250M').stderr) <= 250,
        `${role} holds less where it may take less`,
      );
      const refused = start('30M');
      assert.equal(refused.status, 1);
      assert.match(refused.stderr, /takes up to \d+ MiB of memory; --memory allows 30/);
    }
    const small = run(
      'upload',
      '--task',
      pair.at('task.json'),
      '--memory',
      '12M',
      '--measurements',
      pair.at('measurements'),
    );
    assert.match(small.stderr, /takes up to \d+ MiB of memory; --memory allows 12/);
  },
);
