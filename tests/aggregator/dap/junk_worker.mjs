// SPDX-License-Identifier: Apache-2.0
// A sender of junk reports, as a thread (dap_floods.test.mjs): each has the lengths of an honest one, an id of its own, and a leader's
// share that nobody sealed. It counts what the leader answers.
import { randomFillSync } from 'node:crypto';
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { url, n, each, at, lanes } = workerData; // at: where the leader's share begins in a report
const template = Buffer.from(workerData.template);
const agent = new Agent({ keepAlive: true, maxSockets: lanes });
const counts = { sent: 0, refused: 0, failed: 0, isOver: false };
let left = n;

/** @param {Buffer} body */
function post(body) {
  return new Promise((resolve) => {
    const asked = request(url, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/ppm-dap;message=upload-req' },
    });
    asked.on('response', (response) => {
      let bytes = 0;
      response.on('data', (piece) => (bytes += piece.length));
      response.on('end', () => {
        if (response.statusCode === 200) counts.refused += bytes / 17;
        else counts.failed++;
        resolve(null);
      });
      response.on('error', () => resolve(null));
    });
    asked.on('error', () => {
      counts.failed++;
      resolve(null);
    });
    asked.end(body);
  });
}

async function lane() {
  while (left > 0) {
    const now = Math.min(each, left);
    left -= now;
    const body = Buffer.alloc(now * template.length);
    for (let i = 0; i < now; i++) {
      const one = body.subarray(i * template.length, (i + 1) * template.length);
      template.copy(one);
      randomFillSync(one, 0, 16);
      randomFillSync(one, at, 8);
    }
    await post(body);
    counts.sent += now;
  }
}

Promise.all(Array.from({ length: lanes }, lane)).then(() => {
  counts.isOver = true;
});
parentPort?.on('message', () => parentPort?.postMessage(counts));
