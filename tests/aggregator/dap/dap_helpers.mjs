// SPDX-License-Identifier: Apache-2.0
// What the tests of two servers share: leader and helper as processes on loopback, a leader in between that listens in, and DAP's
// messages in JavaScript, written from draft-ietf-ppm-dap-18 without a look at core/wire/dap.c.
// SHOAL_BIN names the program; build/release/shoal otherwise.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { join } from 'node:path';
import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';

import { freePort } from '../../ports.mjs';
import { program, run } from '../serve/serve_helpers.mjs';

const suite = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});
const START_MS = 60_000;
const ANSWER_MS = 30_000; // Node's fetch never settles when its very first connection dies while it is made

export const LEADER = 2;
export const HELPER = 3;

// ---- the two servers ----

/**
 * One server as a process that can be killed and started again at the same address.
 * @param {import('node:test').TestContext} t @param {string} config
 */
function server(t, config) {
  /** @type {import('node:child_process').ChildProcess | null} */
  let child = null;
  let exit = Promise.resolve();
  let up = Promise.resolve();
  let log = '';
  t.after(() => child?.kill('SIGKILL'));
  return {
    log: () => log,
    pid: () => /** @type {number} */ (child?.pid),
    start: () => (up = start()),
    /** @param {NodeJS.Signals} signal */
    async end(signal) {
      await up; // it may ask the other server before this process has read that it listens
      const code = /** @type {import('node:child_process').ChildProcess} */ (child).exitCode;
      assert.equal(code, null, `the server had ended with ${code}: ${log}`);
      child?.kill(signal);
      await exit;
      return child?.exitCode ?? null;
    },
  };

  async function start() {
    const process = spawn(program, ['serve', '--config', config], {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    child = process;
    const began = log.length;
    exit = once(process, 'exit').then(() => {});
    await new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no server within ${START_MS} ms: ${log}`)),
        START_MS,
      );
      process.stderr?.setEncoding('utf8').on('data', (text) => {
        log += text;
        if (!/listening on http:\S+\//.test(log.slice(began))) return;
        clearTimeout(timer);
        resolve(null);
      });
      process.once('exit', (code) => {
        clearTimeout(timer);
        reject(new Error(`the server ended with ${code}: ${log}`));
      });
    });
  }
}

/** @param {string[]} args of a command that must succeed */
export function shoal(...args) {
  const done = run(...args);
  assert.equal(done.status, 0, `shoal ${args.join(' ')}: ${done.stderr}`);
  return done;
}

/** Runs the program to its end, while this process goes on. @param {string[]} args */
async function runLater(...args) {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const [status] = await once(child, 'close');
  return { status, stderr };
}

/**
 * Leader and helper with keys, tokens and stores of their own, started.
 * @param {import('node:test').TestContext} t @param {string} folder
 * @param {(urls: { leader: string, helper: string }) => Record<string, object>} tasks file name to content, for the two addresses
 * @param {object} [changes] of the leader's configuration
 */
export async function startPair(t, folder, tasks, changes = {}) {
  const [leaderPort, helperPort] = [await freePort(), await freePort()];
  const urls = {
    leader: `http://127.0.0.1:${leaderPort}/dap`,
    helper: `http://127.0.0.1:${helperPort}/dap`,
  };
  const files = tasks(urls);
  const at = (/** @type {string[]} */ ...names) => join(folder, ...names);
  for (const name of ['leader', 'helper', 'collector']) mkdirSync(at(name));
  for (const [name, content] of Object.entries(files))
    writeFileSync(at(name), JSON.stringify(content));
  for (const [i, name] of ['leader', 'helper', 'collector'].entries()) {
    shoal(
      'dap-key',
      '--id',
      String(10 * (i + 1)),
      '-o',
      at(name, 'key.json'),
      '--public',
      at(name, 'public.json'),
    );
  }
  const tokens = {
    helper: randomBytes(16).toString('hex'),
    collector: randomBytes(16).toString('hex'),
  };
  const secret = (/** @type {string} */ name, /** @type {string} */ text) =>
    writeFileSync(at(name), `${text}\n`, { mode: 0o600 });
  const seed = randomBytes(32).toString('hex');
  secret('seed', seed);
  secret('helper.token', tokens.helper);
  secret('collector.token', tokens.collector);
  for (const [role, port] of /** @type {[string, number][]} */ ([
    ['leader', leaderPort],
    ['helper', helperPort],
  ])) {
    writeFileSync(
      at(role, 'config.json'),
      JSON.stringify({
        role,
        listen: `127.0.0.1:${port}`,
        store: 'store',
        tasks: Object.keys(files).map((name) => `../${name}`),
        hpke_keys: ['key.json'],
        collector_key: '../collector/public.json',
        verify_key_seed_file: '../seed',
        helper_token_file: '../helper.token',
        ...(role === 'leader'
          ? { collector_token_file: '../collector.token', job_interval_s: 0.05, ...changes }
          : {}),
      }),
    );
  }
  const key = (/** @type {string} */ name) =>
    JSON.parse(readFileSync(at(name, 'key.json'), 'utf8'));
  const asCollector = ['--key', at('collector', 'key.json'), '--token-file', at('collector.token')];
  const pair = {
    urls,
    tokens,
    at,
    keys: { leader: key('leader'), helper: key('helper') },
    leader: server(t, at('leader', 'config.json')),
    helper: server(t, at('helper', 'config.json')),
    /** Asks for a batch, whatever comes of it. @param {string[]} args */
    collect: (...args) => run('collect', ...asCollector, ...args),
    /** The same, while this process goes on. @param {string[]} args */
    collectLater: (...args) => runLater('collect', ...asCollector, ...args),
  };
  await Promise.all([pair.leader.start(), pair.helper.start()]);
  return pair;
}

/** @typedef {Awaited<ReturnType<typeof startPair>>} Pair */

/**
 * The reports that `shoal upload` would send the leader: a server in between keeps them and passes on nothing but the keys.
 * @param {string} leader its URL @param {string[]} args of upload
 * @returns {Promise<Report[]>}
 */
export async function sealedReports(leader, ...args) {
  /** @type {Buffer[]} */
  const bodies = [];
  const http = createHttp(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === 'POST') {
      bodies.push(Buffer.concat(chunks));
      response.writeHead(200).end();
      return;
    }
    const answer = await ask(new URL(String(request.url), leader));
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (http.address());
  const url = `http://127.0.0.1:${port}${new URL(leader).pathname}`;
  const done = await runLater('upload', '--leader-url', url, ...args);
  http.close();
  http.closeAllConnections();
  assert.equal(done.status, 0, done.stderr);
  return bodies.flatMap(parseReports);
}

/** @typedef {{ victim: 'leader' | 'helper', isAnswered: boolean }} Blow a server that is killed, and whether the helper had done its part by then */

/**
 * Between leader and helper: passes on what they say, but for the blows, of which each strikes one request.
 * @param {import('node:test').TestContext} t
 */
export async function startBetween(t) {
  /** @type {Pair | null} */
  let pair = null;
  /** @type {{ resource: string, body: Buffer, blow: Blow | undefined }[]} */
  const seen = [];
  /** @type {Record<string, Blow[]>} */
  const blows = { aggregation_jobs: [], aggregate_shares: [] };
  const http = createHttp(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const resource = String(request.url?.split('/').at(-1));
    const blow = blows[resource].shift();
    seen.push({ resource, body, blow });
    const { urls, ...servers } = /** @type {Pair} */ (pair);
    const headers = {
      'content-type': String(request.headers['content-type']),
      authorization: String(request.headers.authorization),
    };
    const forward = () =>
      ask(new URL(String(request.url), urls.helper), { method: 'POST', body, headers });
    if (blow) {
      if (blow.isAnswered)
        assert.equal(await forward().then(({ status }) => Math.floor(status / 100)), 2);
      await servers[blow.victim].end('SIGKILL');
      await servers[blow.victim].start(); // before the leader can know: it may try again at once
      response.destroy();
      return;
    }
    const answer = await forward();
    response.writeHead(answer.status, {
      'content-type': String(answer.headers.get('content-type')),
      location: String(answer.headers.get('location')),
    });
    response.end(Buffer.from(await answer.arrayBuffer()));
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.after(() => {
    http.close();
    http.closeAllConnections();
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (http.address());
  return {
    url: `http://127.0.0.1:${port}/dap`,
    seen,
    blows,
    of: (/** @type {Pair} */ both) => (pair = both),
  };
}

// ---- messages ----

/** @param {number | bigint} value @param {number} bytes */
const number = (value, bytes) => {
  const out = Buffer.alloc(8);
  out.writeBigUInt64BE(BigInt(value));
  return out.subarray(8 - bytes);
};
/** @param {Uint8Array} bytes @param {number} prefix */
const opaque = (bytes, prefix) => Buffer.concat([number(bytes.length, prefix), bytes]);

/** @param {Buffer} bytes */
function reader(bytes) {
  let at = 0;
  const take = (/** @type {number} */ n) => {
    assert.ok(at + n <= bytes.length, 'a message ends early');
    return bytes.subarray(at, (at += n));
  };
  const read = {
    take,
    number: (/** @type {number} */ n) => Number(BigInt(`0x${take(n).toString('hex')}`)),
    opaque: (/** @type {number} */ n) => take(read.number(n)),
    ciphertext: () => ({ config: read.number(1), enc: read.opaque(2), payload: read.opaque(4) }),
    position: () => at,
    isAtEnd: () => at === bytes.length,
  };
  return read;
}

/** @typedef {{ config: number, enc: Buffer, payload: Buffer }} Ciphertext */
/** @typedef {{ id: Buffer, time: number, extensions: Buffer, publicShare: Buffer, leader: Ciphertext, helper: Ciphertext }} Report */

/** @param {Buffer} body of an upload @returns {Report[]} */
export function parseReports(body) {
  const reports = [];
  for (const read = reader(body); !read.isAtEnd();) {
    reports.push({
      id: read.take(16),
      time: read.number(8),
      extensions: read.opaque(2),
      publicShare: read.opaque(4),
      leader: read.ciphertext(),
      helper: read.ciphertext(),
    });
  }
  return reports;
}

/** @param {Ciphertext} c */
const ciphertext = (c) =>
  Buffer.concat([number(c.config, 1), opaque(c.enc, 2), opaque(c.payload, 4)]);
/** @param {Report} r */
const metadata = (r) => Buffer.concat([r.id, number(r.time, 8), opaque(r.extensions, 2)]);
/** @param {Report} r */
export const encodeReport = (r) =>
  Buffer.concat([
    metadata(r),
    opaque(r.publicShare, 4),
    ciphertext(r.leader),
    ciphertext(r.helper),
  ]);

/** A job of the helper: what it is to know of each report, and the leader's verifier share. @param {{ report: Report, verifier: Buffer }[]} list @param {number} [key] */
export const encodeJob = (list, key = 0) =>
  Buffer.concat([
    number(key, 1),
    number(0, 4),
    number(0, 2),
    ...list.map(({ report, verifier }) =>
      Buffer.concat([
        metadata(report),
        opaque(report.publicShare, 4),
        ciphertext(report.helper),
        opaque(Buffer.concat([number(0, 1), opaque(verifier, 4)]), 4),
      ]),
    ),
  ]);

/** A job of the same reports in another order: another job. @param {Buffer} job */
export function reversedJob(job) {
  const read = reader(job);
  const head = read.take(7);
  const inits = [];
  while (!read.isAtEnd()) {
    const began = read.position();
    read.take(24);
    read.opaque(2);
    read.opaque(4);
    read.ciphertext();
    read.opaque(4);
    inits.unshift(job.subarray(began, read.position()));
  }
  return Buffer.concat([head, ...inits]);
}

const ERRORS = [
  'reserved',
  'batch_collected',
  'report_replayed',
  'report_dropped',
  'hpke_unknown_config_id',
  'hpke_decrypt_error',
  'vdaf_verify_error',
  'task_expired',
  'invalid_message',
  'report_too_early',
  'task_not_started',
  'outdated_config',
];

/** What a helper answers of each report: 'continue', 'finish' or why not. @param {Buffer} body */
export function parseResponses(body) {
  const list = [];
  for (const read = reader(body); !read.isAtEnd();) {
    const id = read.take(16);
    const kind = read.number(1);
    if (kind === 0) read.opaque(4);
    list.push({
      id,
      says: kind === 0 ? 'continue' : kind === 1 ? 'finish' : ERRORS[read.number(1)],
    });
  }
  return list;
}

/** UploadErrors. @param {Buffer} body */
export function parseUploadErrors(body) {
  const list = [];
  for (const read = reader(body); !read.isAtEnd();)
    list.push({ id: read.take(16), says: ERRORS[read.number(1)] });
  return list;
}

/**
 * @typedef {object} TaskFile as agg_dap_task_load reads it
 * @property {string} task_id 64 hex digits
 * @property {string} info @property {string} leader @property {string} helper
 * @property {number} time_precision_s @property {number} min_batch_size
 * @property {{ type: string, length?: number, max?: number | bigint, chunk?: number, max_weight?: number }} vdaf
 */

/** TaskConfiguration of a task file without an end. @param {TaskFile} task */
export function encodeTask(task) {
  const { type, length = 0, max = 0, chunk = 0, max_weight: weight = 0 } = task.vdaf;
  /** @type {Record<string, [number, Buffer[]]>} */
  const configurations = {
    count: [1, []],
    sum: [2, [number(max, 8)]],
    'sum-vec': [3, [number(length, 4), number(max, 8), number(chunk, 4)]],
    histogram: [4, [number(length, 4), number(chunk, 4)]],
    'multihot-count-vec': [5, [number(length, 4), number(chunk, 4), number(weight, 8)]],
  };
  const [vdaf, configuration] = configurations[type];
  return Buffer.concat([
    opaque(Buffer.from(task.info), 1),
    opaque(Buffer.from(task.leader), 2),
    opaque(Buffer.from(task.helper), 2),
    number(task.time_precision_s, 8),
    number(task.min_batch_size, 8),
    number(1, 1),
    number(0, 2),
    number(vdaf, 4),
    opaque(Buffer.concat(configuration), 2),
    number(0, 2),
  ]);
}

/** @param {TaskFile} task @param {Report} report */
const inputShareAad = (task, report) =>
  Buffer.concat([
    Buffer.from(task.task_id, 'hex'),
    encodeTask(task),
    metadata(report),
    opaque(report.publicShare, 4),
  ]);
/** @param {number} role */
const inputShareInfo = (role) =>
  Buffer.concat([Buffer.from('dap-18 input share'), number(1, 1), number(role, 1)]);

/** @typedef {{ id: number, public_key: string, secret_key: string }} Key */

/** The input share in a report of one server, with that server's secret key. @param {TaskFile} task @param {Report} report @param {number} role @param {Key} key */
export async function openShare(task, report, role, key) {
  const sealed = role === LEADER ? report.leader : report.helper;
  const recipientKey = await suite.kem.importKey(
    'raw',
    new Uint8Array(Buffer.from(key.secret_key, 'hex')).buffer,
    false,
  );
  const opened = await suite.open(
    { recipientKey, enc: new Uint8Array(sealed.enc), info: inputShareInfo(role) },
    new Uint8Array(sealed.payload),
    inputShareAad(task, report),
  );
  const read = reader(Buffer.from(opened));
  assert.equal(read.opaque(2).length, 0, 'no extensions');
  const share = read.opaque(4);
  assert.ok(read.isAtEnd());
  return Buffer.from(share);
}

/** The report with another share for one server, sealed as its device would. @param {TaskFile} task @param {Report} report @param {number} role @param {Key} key @param {Buffer} share @returns {Promise<Report>} */
export async function resealShare(task, report, role, key, share) {
  const recipientPublicKey = await suite.kem.deserializePublicKey(
    new Uint8Array(Buffer.from(key.public_key, 'hex')),
  );
  const plaintext = Buffer.concat([number(0, 2), opaque(share, 4)]);
  const { ct, enc } = await suite.seal(
    { recipientPublicKey, info: inputShareInfo(role) },
    new Uint8Array(plaintext),
    inputShareAad(task, report),
  );
  const sealed = { config: key.id, enc: Buffer.from(enc), payload: Buffer.from(ct) };
  return { ...report, [role === LEADER ? 'leader' : 'helper']: sealed };
}

// ---- requests ----

/** @param {string} taskId hex */
export const idText = (taskId) => Buffer.from(taskId, 'hex').toString('base64url');

/**
 * A request with a connection and an end of its own. Commands that a test waits for (spawnSync) hold up this whole process: a server that
 * has meanwhile closed an idle connection is found out only when the next request is on it.
 * @param {string | URL} url @param {RequestInit} [init]
 */
export const ask = (url, init = {}) =>
  fetch(url, {
    signal: AbortSignal.timeout(ANSWER_MS),
    ...init,
    headers: { connection: 'close', .../** @type {any} */ (init.headers) },
  });

/** @param {string} leader @param {string} taskId @param {Report[]} reports */
export async function upload(leader, taskId, reports) {
  const response = await ask(`${leader}/tasks/${idText(taskId)}/reports`, {
    method: 'POST',
    body: new Uint8Array(Buffer.concat(reports.map(encodeReport))),
    headers: { 'content-type': 'application/ppm-dap;message=upload-req' },
  });
  const body = Buffer.from(await response.arrayBuffer());
  const isErrors = response.headers
    .get('content-type')
    ?.startsWith('application/ppm-dap;message=upload-errors');
  return {
    status: response.status,
    text: isErrors ? '' : body.toString(),
    errors: isErrors ? parseUploadErrors(body) : [],
  };
}

/** Posts a job to the helper as the leader would. @param {Pair} pair @param {string} taskId @param {Buffer} job @param {Record<string, string>} [headers] */
export async function postJob(pair, taskId, job, headers = {}) {
  const response = await ask(`${pair.urls.helper}/tasks/${idText(taskId)}/aggregation_jobs`, {
    method: 'POST',
    body: new Uint8Array(job),
    headers: {
      'content-type': 'application/ppm-dap;message=aggregation-job-init-req',
      authorization: `Bearer ${pair.tokens.helper}`,
      ...headers,
    },
  });
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    location: response.headers.get('location'),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

// ---- a collection ----

export const HOUR = 3600;
/** The hour that it is, in hours since 1970. */
export const thisHour = () => Math.floor(Date.now() / 1000 / HOUR);
/** The beginning of an hour as `shoal collect` takes it. @param {number} hour */
export const moment = (hour) => `${new Date(hour * HOUR * 1000).toISOString().slice(0, 16)}Z`;

const NAMES = [
  'red',
  'orange',
  'yellow',
  'green',
  'blue',
  'violet',
  'brown',
  'black',
  'grey',
  'white',
];

/** A recipe of two servers, in batches of hours. @param {{ leader: string, helper: string }} urls @param {object} [changes] */
export const colours = (urls, changes = {}) => ({
  recipe: 'colours',
  analysis: 'tests',
  stream: 'choices',
  value: 'item',
  mechanism: 'onehot-symmetric',
  parameters: { epsilon: 4, values: NAMES },
  limit: { per_day: 1 },
  cohort: { minimum: 1000 },
  aggregation: { protocol: 'dap', ...urls, time_precision_s: HOUR },
  expires: '2099-01-31',
  ...changes,
});

/** Reports of devices that like the first colours best. @param {Pair} pair @param {number} devices @param {string} seed */
export function simulateColours(pair, devices, seed) {
  const counts = pair.at('counts.tsv');
  const out = pair.at(`${seed}.ndjson`);
  writeFileSync(counts, NAMES.map((name, i) => `${name}\t${NAMES.length - i}\n`).join(''));
  shoal(
    'simulate',
    '--recipe',
    pair.at('recipe.json'),
    '--counts',
    counts,
    '--devices',
    String(devices),
    '--seed',
    seed,
    '--format',
    'ndjson',
    '-o',
    out,
  );
  return out;
}
