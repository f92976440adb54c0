// SPDX-License-Identifier: Apache-2.0
// What `shoal serve` takes a second: batches of 500 records of 1,024 bits, the least that an edge worker forwards, over eight kept connections, each
// acknowledged when it is checked and on the disk; the fold goes on beside. Prints JSON lines like shoal_bench, of time on the clock: this client
// and the server share the machine. Naive: one after another over a connection of their own.
//
//   node serve.mjs PROGRAM
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from '../../wasm/bindings/node.js';

const RECORDS = 500;
const BATCHES = 200; // a round
const NAIVE_BATCHES = 50;
const ROUNDS = 7;
const CONNECTIONS = 8;
const secret = 'a-secret-of-the-benchmark-0123456789';

const recipe = {
  recipe: 'bench',
  analysis: 'bench',
  stream: 'words',
  value: 'word',
  mechanism: 'cms',
  parameters: { epsilon: 4, k: 2048, m: 1024 },
  hash: 'poly1',
  seed: '00112233445566778899aabbccddeeff'.repeat(2),
  limit: { per_day: 1 },
  expires: '2099-12-31',
};

/** Batches with ids of their own, of the same records. */
async function makeBatches() {
  const core = (await load()).recipe(recipe);
  const records = new Uint8Array(RECORDS * core.recordSize);
  for (let i = 0; i < RECORDS; i++) {
    records.set(
      core.randomizeBytes(`word${i % 97}`, crypto.getRandomValues(new Uint8Array(32))),
      i * core.recordSize,
    );
  }
  return Array.from({ length: (ROUNDS + 1) * (BATCHES + NAIVE_BATCHES) }, () =>
    core.sealBatch(records, crypto.getRandomValues(new Uint8Array(16))),
  );
}

/** @param {string} program @param {string} folder */
async function start(program, folder) {
  writeFileSync(join(folder, 'recipe.json'), JSON.stringify(recipe));
  writeFileSync(join(folder, 'secret'), `${secret}\n`);
  const config = {
    listen: '127.0.0.1:0',
    store: 'store',
    recipes: ['recipe.json'],
    batch_secret_file: 'secret',
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const child = spawn(program, ['serve', '--config', join(folder, 'config.json')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  /** @type {string} */
  const url = await new Promise((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log += text;
      const found = /listening on (http:\S+)\//.exec(log);
      if (found) resolve(found[1]);
    });
    child.once('exit', () => reject(new Error(`the server did not start: ${log}`)));
  });
  return { child, url };
}

/** @param {string} url @param {Agent} agent @param {Uint8Array} batch @returns {Promise<void>} */
const post = (url, agent, batch) =>
  new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/octet-stream',
      'content-length': batch.length,
    };
    const sent = request(`${url}/v1/batches`, { method: 'POST', agent, headers }, (answer) => {
      answer
        .resume()
        .on('end', () =>
          answer.statusCode === 201 ? resolve() : reject(new Error(`status ${answer.statusCode}`)),
        );
    });
    sent.on('error', reject).end(batch);
  });

/** Sends batches over connections. Returns: nanoseconds of one. @param {string} url @param {Uint8Array[]} batches @param {number} connections */
async function send(url, batches, connections) {
  const agent = new Agent({ keepAlive: connections > 1, maxSockets: connections });
  const from = process.hrtime.bigint();
  let next = 0;
  const work = async () => {
    while (next < batches.length) await post(url, agent, batches[next++]);
  };
  await Promise.all(Array.from({ length: connections }, work));
  agent.destroy();
  return Number(process.hrtime.bigint() - from) / batches.length;
}

/** Adds up the same bytes, as plainly as JavaScript does. Returns: nanoseconds of one. @param {Uint8Array[]} batches */
function read(batches) {
  const from = process.hrtime.bigint();
  let sum = 0;
  for (const batch of batches) for (let i = 0; i < batch.length; i++) sum = (sum + batch[i]) | 0;
  const spent = Number(process.hrtime.bigint() - from);
  if (sum === 1) process.stderr.write('\n');
  return spent / batches.length;
}

/** @param {number[]} times */
const sorted = (times) => times.sort((a, b) => a - b);

const folder = mkdtempSync(join(tmpdir(), 'shoal-bench-serve-'));
const batches = await makeBatches();
const { child, url } = await start(process.argv[2], folder);
try {
  /** @type {{real: number[], naive: number[], read: number[]}} */
  const times = { real: [], naive: [], read: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    const some = batches.splice(0, BATCHES);
    const spent = {
      read: read(some),
      real: await send(url, some, CONNECTIONS),
      naive: await send(url, batches.splice(0, NAIVE_BATCHES), 1),
    };
    if (round === 0) continue; // brings code and pages in
    for (const key of /** @type {const} */ (['real', 'naive', 'read'])) times[key].push(spent[key]);
  }
  const real = sorted(times.real);
  const middle = (ROUNDS - 1) / 2;
  const ns = real[middle];
  process.stdout.write(
    `${JSON.stringify({
      name: 'shoal serve, batches of 500 records',
      unit: 'request',
      ns,
      quickest: real[0],
      slowest: real[ROUNDS - 1],
      rounds: ROUNDS,
      naive_ns: sorted(times.naive)[middle],
      naive: 'a connection each, one after another',
      read_ns: sorted(times.read)[middle],
      aim_ns: 0,
      aim_read: 0,
      note: `${Math.round(1e9 / ns)} requests and ${Math.round((RECORDS * 1e9) / ns)} records a second of the clock, by ${CONNECTIONS} connections`,
    })}\n`,
  );
} finally {
  child.kill('SIGTERM');
  await once(child, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
