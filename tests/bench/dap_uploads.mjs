// SPDX-License-Identifier: Apache-2.0
// What a leader takes a second: uploads of 10 reports of a histogram of 64 buckets over eight kept connections, each answered once its
// reports are opened, checked and on the disk; and uploads of junk that nobody sealed, which are refused unkept. Nothing is aggregated
// meanwhile. Prints JSON lines as serve.mjs does. Naive: one after another over a connection of their own.
//
//   SHOAL_BIN=PROGRAM node dap_uploads.mjs
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  HOUR,
  encodeReport,
  idText,
  sealedReports,
  startPair,
  thisHour,
} from '../aggregator/dap/dap_helpers.mjs';

const EACH = 10; // reports of a request
const REQUESTS = 200; // a round
const NAIVE_REQUESTS = 30;
const ROUNDS = 7;
const CONNECTIONS = 8;

/** @param {string} url @param {Agent} agent @param {Uint8Array} body @returns {Promise<void>} */
const post = (url, agent, body) =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/ppm-dap;message=upload-req',
      'content-length': body.length,
    };
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer
        .resume()
        .on('end', () =>
          answer.statusCode === 200 ? resolve() : reject(new Error(`status ${answer.statusCode}`)),
        );
    });
    sent.on('error', reject).end(body);
  });

/** Returns: nanoseconds of a report. @param {string} url @param {Uint8Array[]} bodies @param {number} connections */
async function send(url, bodies, connections) {
  const agent = new Agent({ keepAlive: connections > 1, maxSockets: connections });
  const from = process.hrtime.bigint();
  let next = 0;
  const work = async () => {
    while (next < bodies.length) await post(url, agent, bodies[next++]);
  };
  await Promise.all(Array.from({ length: connections }, work));
  agent.destroy();
  return Number(process.hrtime.bigint() - from) / bodies.length / EACH;
}

/** Adds up the same bytes. Returns: nanoseconds of a report. @param {Uint8Array[]} bodies */
function read(bodies) {
  const from = process.hrtime.bigint();
  let sum = 0;
  for (const body of bodies) for (let i = 0; i < body.length; i++) sum = (sum + body[i]) | 0;
  const spent = Number(process.hrtime.bigint() - from);
  if (sum === 1) process.stderr.write('\n');
  return spent / bodies.length / EACH;
}

/** @param {string} name @param {string} url @param {Uint8Array[]} bodies */
async function row(name, url, bodies) {
  /** @type {{ real: number[], naive: number[], read: number[] }} */
  const times = { real: [], naive: [], read: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    const some = bodies.splice(0, REQUESTS);
    const spent = {
      read: read(some),
      real: await send(url, some, CONNECTIONS),
      naive: await send(url, bodies.splice(0, NAIVE_REQUESTS), 1),
    };
    if (round === 0) continue; // brings code and pages in
    for (const key of /** @type {const} */ (['real', 'naive', 'read'])) times[key].push(spent[key]);
  }
  for (const list of Object.values(times)) list.sort((a, b) => a - b);
  const middle = (ROUNDS - 1) / 2;
  process.stdout.write(
    `${JSON.stringify({
      name,
      unit: 'report',
      ns: times.real[middle],
      quickest: times.real[0],
      slowest: times.real[ROUNDS - 1],
      rounds: ROUNDS,
      naive_ns: times.naive[middle],
      naive: 'a connection each, one after another',
      read_ns: times.read[middle],
      aim_ns: 0,
      aim_read: 0,
      note: `${Math.round(1e9 / times.real[middle])} reports a second of the clock, by ${CONNECTIONS} connections`,
    })}\n`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'shoal-bench-dap-'));
/** @type {(() => void)[]} */
const after = [];
const t = /** @type {any} */ ({ after: (/** @type {() => void} */ f) => after.push(f) });
try {
  const id = randomBytes(32).toString('hex');
  const pair = await startPair(
    t,
    folder,
    (urls) => ({
      'task.json': {
        version: 'dap-18',
        task_id: id,
        info: 'bench',
        ...urls,
        time_precision_s: HOUR,
        min_batch_size: 10,
        vdaf: { type: 'histogram', length: 64 },
      },
    }),
    { job_interval_s: 86400, job_size: 100000 },
  );
  const n = (ROUNDS + 1) * (REQUESTS + NAIVE_REQUESTS) * EACH;
  writeFileSync(pair.at('measurements'), '7\n'.repeat(n));
  const reports = await sealedReports(
    pair.urls.leader,
    ...['--task', pair.at('task.json'), '--measurements', pair.at('measurements')],
    ...['--time', String((thisHour() - 3) * HOUR)],
  );
  const url = `${pair.urls.leader}/tasks/${idText(id)}/reports`;
  const bodies = (/** @type {typeof reports} */ list) =>
    Array.from({ length: list.length / EACH }, (_, i) =>
      Buffer.concat(list.slice(i * EACH, (i + 1) * EACH).map(encodeReport)),
    );
  const junk = reports.map((report) => ({
    ...report,
    id: randomBytes(16),
    leader: { ...report.leader, payload: randomBytes(report.leader.payload.length) },
  }));
  await row('two servers: leader takes uploads of 10 reports', url, bodies(reports));
  await row('two servers: leader refuses uploads of junk', url, bodies(junk));
} finally {
  for (const f of after) f();
  rmSync(folder, { recursive: true, force: true });
}
