// SPDX-License-Identifier: Apache-2.0
// What the tests of `shoal serve` share: recipes, batches, and the program as a child on a free port.
// SHOAL_BIN names the program; build/release/shoal otherwise.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const program =
  process.env.SHOAL_BIN ?? fileURLToPath(new URL('../../../build/release/shoal', import.meta.url));
export const secret = 'a-secret-for-tests-0123456789';
export const isLong = process.env.SHOAL_LONG === '1';
/** The longest settings, which take an hour: `make campaign NAME=floods`. */
export const isCampaign = process.env.SHOAL_CAMPAIGN === '1';

// A sender needs an end to its patience: Node's fetch never settles when its very first connection dies while it is made.
export const PATIENCE_MS = 10000;
// What takes longer than these hangs: hundreds of times what it takes under a sanitizer, so that a test ends and says why.
const START_MS = 60_000;
const RUN_MS = 300_000;
const RESULT_MS = 120_000;
const DAY_MS = 86_400_000;
const HEADER = 72;
const TRAILER = 8;

/** Blocks that close at every second's tick. */
const QUICK = { tick_s: 1 };

/** @param {string} id @param {object} [changes] */
export function cmsRecipe(id, changes = {}) {
  return {
    recipe: id,
    analysis: 'tests',
    stream: 'typed-words',
    value: 'word',
    mechanism: 'cms',
    parameters: { epsilon: 4, k: 32, m: 64 },
    hash: 'poly1',
    seed: '5a'.repeat(32),
    limit: { per_day: 1 },
    batch: { minimum: 1 },
    cohort: { minimum: 1000 },
    block: QUICK,
    expires: '2099-01-31',
    ...changes,
  };
}

/** @param {string} id @param {object} [changes] */
export function listRecipe(id, changes = {}) {
  return {
    recipe: id,
    analysis: 'tests',
    stream: 'theme',
    value: 'item',
    mechanism: 'onehot-asymmetric',
    parameters: {
      epsilon: 2,
      values: ['light', 'dark', '<img src=x onerror=alert(1)>', 'a"b\'c&d'],
    },
    limit: { per_day: 1 },
    batch: { minimum: 1 },
    cohort: { minimum: 100 },
    block: QUICK,
    expires: '2099-01-31',
    ...changes,
  };
}

/** A folder that goes when the test does. @param {import('node:test').TestContext} t */
export function makeFolder(t) {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'shoal-serve-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the program to its end. @param {string[]} args */
export function run(...args) {
  const done = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, timeout: RUN_MS });
  if (done.error) throw new Error(`shoal ${args.join(' ')}: ${done.error.message}\n${done.stderr}`);
  return { status: done.status, stdout: done.stdout, stderr: done.stderr };
}

/**
 * Batches of simulated devices, about `perBatch` records each, with ids of their own: of version 1,
 * whose id is not bound to its bytes.
 * @param {string} recipeFile @param {string} counts text of a counts file @param {number} devices @param {number} perBatch
 */
export function simulate(recipeFile, counts, devices, perBatch, seed = 'tests') {
  const countsFile = `${recipeFile}.${seed}.tsv`;
  const out = `${recipeFile}.${seed}.batches`;
  writeFileSync(countsFile, counts);
  const done = run(
    'simulate',
    '--recipe',
    recipeFile,
    '--counts',
    countsFile,
    '--devices',
    String(devices),
    '--seed',
    seed,
    '--format',
    'batch-1',
    '-o',
    out,
  );
  assert.equal(done.status, 0, done.stderr);
  const whole = split(readFileSync(out));
  const batches = [];
  for (const batch of whole) {
    const size = batch.readUInt32LE(12);
    for (let at = 0; at < batch.readUInt32LE(16); at += perBatch) {
      const count = Math.min(perBatch, batch.readUInt32LE(16) - at);
      const small = Buffer.alloc(HEADER + count * size + TRAILER);
      batch.copy(small, 0, 0, HEADER);
      batch.copy(small, HEADER, HEADER + at * size, HEADER + (at + count) * size);
      small.writeUInt32LE(count, 16);
      small.writeUInt32LE(batches.length, 56);
      batches.push(seal(small));
    }
  }
  return batches;
}

/** Cuts a stream of batches. @param {Buffer} stream */
function split(stream) {
  const batches = [];
  for (let at = 0; at < stream.length;) {
    const size = HEADER + stream.readUInt32LE(at + 12) * stream.readUInt32LE(at + 16) + TRAILER;
    batches.push(stream.subarray(at, at + size));
    at += size;
  }
  return batches;
}

/** Writes the checksum of a batch anew. @param {Buffer} batch */
export function seal(batch) {
  batch.writeBigUInt64LE(xxh64(batch.subarray(0, batch.length - TRAILER)), batch.length - TRAILER);
  return batch;
}

const MASK = (1n << 64n) - 1n;
const P1 = 0x9e3779b185ebca87n;
const P2 = 0xc2b2ae3d27d4eb4fn;
const P3 = 0x165667b19e3779f9n;
const P4 = 0x85ebca77c2b2ae63n;
const P5 = 0x27d4eb2f165667c5n;
const rotate = (/** @type {bigint} */ x, /** @type {bigint} */ n) =>
  ((x << n) | (x >> (64n - n))) & MASK;
const round = (/** @type {bigint} */ lane, /** @type {bigint} */ input) =>
  (rotate((lane + input * P2) & MASK, 31n) * P1) & MASK;

/** XXH64 with seed 0, from Yann Collet's specification. @param {Buffer} bytes */
export function xxh64(bytes) {
  let at = 0;
  let hash = P5;
  if (bytes.length >= 32) {
    const lanes = [(P1 + P2) & MASK, P2, 0n, (MASK + 1n - P1) & MASK];
    for (; at + 32 <= bytes.length; at += 32) {
      for (let i = 0; i < 4; i++) lanes[i] = round(lanes[i], bytes.readBigUInt64LE(at + 8 * i));
    }
    hash =
      (rotate(lanes[0], 1n) +
        rotate(lanes[1], 7n) +
        rotate(lanes[2], 12n) +
        rotate(lanes[3], 18n)) &
      MASK;
    for (const lane of lanes) hash = ((hash ^ round(0n, lane)) * P1 + P4) & MASK;
  }
  hash = (hash + BigInt(bytes.length)) & MASK;
  for (; at + 8 <= bytes.length; at += 8) {
    hash = (rotate(hash ^ round(0n, bytes.readBigUInt64LE(at)), 27n) * P1 + P4) & MASK;
  }
  if (at + 4 <= bytes.length) {
    hash = (rotate(hash ^ ((BigInt(bytes.readUInt32LE(at)) * P1) & MASK), 23n) * P2 + P3) & MASK;
    at += 4;
  }
  for (; at < bytes.length; at++)
    hash = (rotate(hash ^ ((BigInt(bytes[at]) * P5) & MASK), 11n) * P1) & MASK;
  hash = ((hash ^ (hash >> 33n)) * P2) & MASK;
  hash = ((hash ^ (hash >> 29n)) * P3) & MASK;
  return hash ^ (hash >> 32n);
}

/**
 * Writes recipes, dictionaries, secret and configuration into a folder.
 * @param {string} folder @param {object[]} recipes @param {object} [changes] of the configuration; undefined removes
 */
export function configure(folder, recipes, changes = {}) {
  const files = recipes.map((recipe, i) => {
    writeFileSync(join(folder, `recipe-${i}.json`), JSON.stringify(recipe));
    return `recipe-${i}.json`;
  });
  writeFileSync(join(folder, 'secret'), `${secret}\n`);
  const config = {
    listen: '127.0.0.1:0',
    store: 'store',
    recipes: files,
    batch_secret_file: 'secret',
    fold_interval_s: 0.05,
    ...changes,
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return join(folder, 'config.json');
}

/**
 * Starts the program and waits until it listens.
 * @param {import('node:test').TestContext} t @param {string} config @param {string[]} options
 */
export async function serve(t, config, ...options) {
  const child = spawn(program, ['serve', '--config', config, ...options], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const exit = once(child, 'close'); // when all that it wrote has been read, too
  let log = '';
  t.after(() => child.kill('SIGKILL'));
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no server within ${START_MS} ms: ${log}`)),
      START_MS,
    );
    exit.finally(() => clearTimeout(timer));
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log += text;
      const found = /listening on (http:\S+)\//.exec(log);
      if (!found) return;
      clearTimeout(timer);
      resolve(found[1]);
    });
    exit.then(([code]) => {
      if (code !== null && code !== 0) process.stderr.write(log); // a sanitizer's words, or why it did not start
      reject(new Error(`the server did not start: ${log}`));
    });
  });
  const server = {
    url: String(url),
    pid: /** @type {number} */ (child.pid),
    log: () => log,
    /** @param {NodeJS.Signals} signal */
    async end(signal) {
      child.kill(signal);
      const [code] = await exit;
      if (code !== null && code !== 0) throw new Error(`the server ended with ${code}: ${log}`);
      return code;
    },
  };
  return server;
}

/** @param {string} url @param {Uint8Array | ReadableStream} body @param {Record<string, string>} [headers] */
export async function post(url, body, headers = {}) {
  const init = {
    method: 'POST',
    body: /** @type {BodyInit} */ (/** @type {unknown} */ (body)),
    signal: AbortSignal.timeout(PATIENCE_MS),
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/octet-stream',
      ...headers,
    },
    duplex: 'half', // for streams; the browser's types do not know it
  };
  const response = await fetch(`${url}/v1/batches`, init);
  return { status: response.status, headers: response.headers, json: await response.json() };
}

/**
 * Asks, and once more on a connection that the server closed while this process ran a command: it waits for ten idle seconds.
 * @param {string} url @param {Record<string, string>} [headers]
 */
export async function get(url, headers = {}) {
  const ask = () => fetch(url, { headers, signal: AbortSignal.timeout(RESULT_MS) });
  const response = await ask().catch((error) => {
    if (!['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(error.cause?.code)) throw error;
    return ask();
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/**
 * A result without what depends on blocks, as the command line gives it of files. Only a server counts copies as they pass; an alarm
 * of copies stays.
 * @param {any} result
 */
export function withoutBlocks({ blocks: _, guarantees: __, ...result }) {
  const ofBlocks = ['sudden-growth', 'identical-records'];
  return {
    ...result,
    alarms_passed: result.alarms_passed?.filter(
      (/** @type {string} */ code) => !ofBlocks.includes(code),
    ),
    alarms_not_measured: result.alarms_not_measured?.filter(
      (/** @type {{code: string}} */ { code }) => !ofBlocks.includes(code),
    ),
  };
}

/** Asks for a result until it holds n reports, because blocks close later than acknowledgements. */
export async function resultOf(
  /** @type {string} */ url,
  /** @type {number} */ n,
  /** @type {Record<string, string>} */ headers = {},
) {
  let last = '';
  for (const end = Date.now() + RESULT_MS; Date.now() < end;) {
    const { status, text } = await get(url, headers);
    if (status === 200 && JSON.parse(text).n === n) return JSON.parse(text);
    last = text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} never came to ${n} reports: ${last.slice(0, 300)}`);
}

/** What a test says of a UTC day holds while that day lasts: where less of it is left than a test takes, the next one is waited for. */
export async function wholeDay(seconds = 30) {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < 1000 * seconds) await new Promise((resolve) => setTimeout(resolve, left + 100));
}
