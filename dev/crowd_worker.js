// SPDX-License-Identifier: Apache-2.0
// The simulated crowd, in a thread of its own: `shoal simulate` in WebAssembly makes each visitor's
// report as a device would, and each is posted to the edge by itself, as a browser would. The truth
// stays on this side.
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { run } from 'shoal-aggregator';

/**
 * @typedef {object} Wave
 * @property {number} id
 * @property {any} recipe
 * @property {string} counts  TSV
 * @property {number} devices
 * @property {string} edge  base URL
 *
 * @typedef {{id: number, accepted: number, failed: number, bytes: number, truth: [string, number][],
 *   error?: string}} Done
 */

const AT_ONCE = 24;
const TRIES = 5;
const PAUSE_MS = 300;
const PROGRESS_MS = 250;
const ACCEPTED = 202;

const { origin } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const encode = (/** @type {string} */ text) => new TextEncoder().encode(text);
const decode = (/** @type {Uint8Array} */ bytes) => new TextDecoder().decode(bytes);

/** Posts a report once. @param {string} url @param {string} body @param {string} key @returns {Promise<number>} status; 0 where nothing answered */
function post(url, body, key) {
  return new Promise((resolve) => {
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'Idempotency-Key': key,
      Origin: origin,
    };
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('close', () => resolve(response.statusCode ?? 0));
    });
    outgoing.once('error', () => resolve(0));
    outgoing.end(body);
  });
}

/** Posts a report until it is accepted, under one key. @param {string} url @param {string} body */
async function send(url, body) {
  const key = randomBytes(16).toString('hex');
  for (let tries = 0; tries < TRIES; tries++) {
    const status = await post(url, body, key);
    if (status === ACCEPTED) return true;
    if (status >= 400 && status < 500 && status !== 429) return false;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return false;
}

/** @param {Wave} wave @returns {Promise<Done>} */
async function visit({ id, recipe, counts, devices, edge }) {
  const files = { recipe: encode(JSON.stringify(recipe)), counts: encode(counts) };
  const made = await run(
    [
      ...['simulate', '--recipe', 'recipe', '--counts', 'counts', '--devices', String(devices)],
      ...['--seed', randomBytes(16).toString('hex'), '--format', 'ndjson'],
      ...['--truth', 'truth', '-o', 'reports'],
    ],
    { files },
  );
  if (made.code !== 0) throw new Error(decode(made.stderr).trim());
  const reports = decode(made.files.reports).trimEnd().split('\n');
  const truth = decode(made.files.truth)
    .trimEnd()
    .split('\n')
    .map(
      (line) =>
        /** @type {[string, number]} */ ([line.split('\t')[0], Number(line.split('\t')[1])]),
    );
  parentPort?.postMessage({ id, progress: { accepted: 0, truth } });
  const url = `${edge}/v1/reports`;
  let next = 0;
  let accepted = 0;
  const walk = async () => {
    while (next < reports.length) if (await send(url, reports[next++])) accepted++;
  };
  const timer = setInterval(
    () => parentPort?.postMessage({ id, progress: { accepted, truth } }),
    PROGRESS_MS,
  );
  await Promise.all(Array.from({ length: AT_ONCE }, walk));
  clearInterval(timer);
  const failed = reports.length - accepted;
  return { id, accepted, failed, bytes: Buffer.byteLength(reports[0] ?? ''), truth };
}

parentPort?.on('message', (/** @type {Wave} */ wave) => {
  visit(wave)
    .catch((error) => ({
      ...{ id: wave.id, accepted: 0, failed: 0, bytes: 0, truth: [] },
      error: error.message,
    }))
    .then((done) => parentPort?.postMessage(done));
});
