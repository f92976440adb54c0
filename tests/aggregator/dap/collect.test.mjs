// SPDX-License-Identifier: Apache-2.0
// shoal collect against a leader that is made here: messages laid out by hand from draft-ietf-ppm-dap-18 ("Collecting Results"),
// shares of Field128 added up and sealed in JavaScript.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';

import { makeFolder, program, run } from '../serve/serve_helpers.mjs';
import { encodeTask } from './dap_helpers.mjs';
import { number, opaque, suite } from './fake_servers.mjs';

const HOUR = 3600;
const FIELD128 = 2n ** 66n * 4611686018427387897n + 1n;
const LEADER = 2;
const HELPER = 3;
const LABEL = 'exact sums, no local noise; local epsilon: none';

/** Elements of Field128, 16 bytes each, little-endian. @param {bigint[]} elements */
const encodeElements = (elements) =>
  Buffer.concat(
    elements.map((x) => Buffer.from(x.toString(16).padStart(32, '0'), 'hex').reverse()),
  );

/** Two shares of sums. @param {number[]} sums */
function split(sums) {
  const random = sums.map(() => BigInt(`0x${randomBytes(15).toString('hex')}`));
  return [random, sums.map((sum, i) => (BigInt(sum) + FIELD128 - random[i]) % FIELD128)].map(
    encodeElements,
  );
}

/** CollectionJobReq. @param {number} start @param {number} duration in units */
const request = (start, duration) =>
  Buffer.concat([
    number(1, 1),
    opaque(Buffer.concat([number(start, 8), number(duration, 8)]), 2),
    number(0, 4),
    number(0, 2),
  ]);

/**
 * @typedef {object} Batch what a leader answers; the fields behind `sums` are lies where they differ
 * @property {number[]} sums @property {number} n @property {number} start @property {number} duration
 * @property {Buffer[]} [shares] @property {number} [keyId] @property {number[]} [roles]
 * @property {Buffer} [configuration] @property {Buffer} [body] that was asked
 */

/** @typedef {{ id: Buffer, configuration: Buffer }} Bound what ciphertexts are bound to */

/** CollectionJobResp. @param {Bound} task @param {{ id: number, public_key: string }} key @param {Batch} batch */
async function respond(task, key, batch) {
  const recipientPublicKey = await suite.kem.deserializePublicKey(
    new Uint8Array(Buffer.from(key.public_key, 'hex')),
  );
  const aad = Buffer.concat([
    task.id,
    batch.configuration ?? task.configuration,
    batch.body ?? request(batch.start, batch.duration),
  ]);
  const sealed = [];
  for (const [i, share] of (batch.shares ?? split(batch.sums)).entries()) {
    const role = (batch.roles ?? [LEADER, HELPER])[i];
    const info = Buffer.concat([
      Buffer.from('dap-18 aggregate share'),
      number(role, 1),
      number(0, 1),
    ]);
    const { ct, enc } = await suite.seal({ recipientPublicKey, info }, new Uint8Array(share), aad);
    sealed.push(
      number(batch.keyId ?? key.id, 1),
      opaque(new Uint8Array(enc), 2),
      opaque(new Uint8Array(ct), 4),
    );
  }
  return Buffer.concat([
    number(batch.n, 8),
    number(batch.start, 8),
    number(batch.duration, 8),
    ...sealed,
  ]);
}

/** @typedef {{ status?: number, headers?: Record<string, string>, body?: Buffer | string }} Answer */

const RESPONSE = { 'content-type': 'application/ppm-dap;message=collection-job-resp' };
const created = (/** @type {object} */ headers = {}) => ({
  status: 201,
  headers: { location: '/l/job/1', ...headers },
});
/** @param {string} type @param {number} [status] @returns {Answer} */
const problem = (type, status = 400) => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  body: JSON.stringify({ type: `urn:ietf:params:ppm:dap:error:${type}`, title: 'refused' }),
});

/**
 * A leader that answers what the test says, one answer a request.
 * @param {import('node:test').TestContext} t
 */
async function startLeader(t) {
  const folder = makeFolder(t);
  const at = (/** @type {string} */ name) => join(folder, name);
  const leader = {
    at,
    url: '',
    /** @type {Answer[]} */
    answers: [],
    /** @type {{ method?: string, url?: string, headers: import('node:http').IncomingHttpHeaders, body: Buffer }[]} */
    requests: [],
    key: { id: 0, public_key: '' },
    /** @param {string[]} args */
    async collect(...args) {
      leader.requests = [];
      const child = spawn(program, [
        'collect',
        '--key',
        at('key.json'),
        '--token-file',
        at('token'),
        ...args,
      ]);
      const done = { code: 0, out: '', err: '' };
      child.stdout.on('data', (text) => (done.out += text));
      child.stderr.on('data', (text) => (done.err += text));
      [done.code] = await once(child, 'close');
      return done;
    },
  };
  assert.equal(
    run('dap-key', '--id', '77', '-o', at('key.json'), '--public', at('public.json')).status,
    0,
  );
  leader.key = JSON.parse(readFileSync(at('public.json'), 'utf8'));
  writeFileSync(at('token'), 'a-token-of-a-collector\nanother-of-tomorrow\n');
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    leader.requests.push({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: Buffer.concat(chunks),
    });
    const answer = leader.answers.shift() ?? { status: 500 };
    response.writeHead(answer.status ?? 200, answer.headers);
    response.end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  leader.url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/l`;
  return leader;
}

/** A task of exact sums, in hours. @param {Awaited<ReturnType<typeof startLeader>>} leader @param {object} [changes] */
function writeTask(leader, changes) {
  const task = {
    version: 'dap-18',
    task_id: '5a'.repeat(32),
    info: 'visits',
    leader: leader.url,
    helper: 'https://helper.example',
    time_precision_s: HOUR,
    min_batch_size: 100,
    vdaf: { type: 'histogram', length: 4, chunk: 2 },
    ...changes,
  };
  writeFileSync(leader.at('task.json'), JSON.stringify(task));
  return { task, bound: { id: Buffer.from(task.task_id, 'hex'), configuration: encodeTask(task) } };
}

const START = 480000; // hours: 2024-10-04T00:00Z
const BATCH = { sums: [100, 0, 7, 23], n: 130, start: START, duration: 24 };
const asked = (/** @type {Awaited<ReturnType<typeof startLeader>>} */ leader) => [
  '--task',
  leader.at('task.json'),
  '--from',
  '2024-10-04',
  '--to',
  '2024-10-04',
];

test('exact sums: asked for once, waited for, opened and labelled', async (t) => {
  const leader = await startLeader(t);
  const { bound } = writeTask(leader);
  const body = await respond(bound, leader.key, BATCH);
  leader.answers = [
    created({ 'retry-after': '1' }),
    { headers: { 'retry-after': '1' } },
    { status: 503 },
    { headers: RESPONSE, body },
  ];
  const json = await leader.collect(...asked(leader), '--wait', '20', '--format', 'json');
  assert.equal(json.code, 0, json.err);
  assert.deepEqual(JSON.parse(json.out), {
    schema: 1,
    task: 'visits',
    task_id: bound.id.toString('base64url'),
    label: LABEL,
    vdaf: 'histogram',
    n: 130,
    from: '2024-10-04T00:00Z',
    to: '2024-10-05T00:00Z',
    sums: BATCH.sums,
  });
  const [post, ...gets] = leader.requests;
  assert.deepEqual(
    [post.method, post.url],
    ['POST', `/l/tasks/${bound.id.toString('base64url')}/collection_jobs`],
  );
  assert.equal(post.headers['content-type'], 'application/ppm-dap;message=collection-job-req');
  assert.ok(post.body.equals(request(START, 24)));
  assert.deepEqual(
    gets.map((get) => [get.method, get.url]),
    Array(3).fill(['GET', '/l/job/1']),
  );
  for (const { headers } of leader.requests)
    assert.equal(headers.authorization, 'Bearer a-token-of-a-collector');

  leader.answers = [{ ...created(RESPONSE), body }];
  const table = await leader.collect(...asked(leader));
  assert.equal(table.code, 0, table.err);
  assert.match(
    table.out,
    new RegExp(`reports 130, from 2024-10-04T00:00Z to 2024-10-05T00:00Z\n +${LABEL}`),
  );
  assert.match(table.out, /^ +2 +7$/m);
  leader.answers = [{ ...created(RESPONSE), body }];
  const csv = await leader.collect(
    ...asked(leader),
    '--format',
    'csv',
    '-o',
    leader.at('sums.csv'),
  );
  assert.equal(csv.out, '');
  assert.equal(readFileSync(leader.at('sums.csv'), 'utf8'), 'index,sum\n0,100\n1,0\n2,7\n3,23\n');
  assert.ok(csv.err.includes(LABEL));
});

test('an interval by days, minutes and seconds, in whole units only', async (t) => {
  const leader = await startLeader(t);
  const { bound } = writeTask(leader);
  for (const [from, to, start, duration] of /** @type {[string, string, number, number][]} */ ([
    ['2024-10-04T05:00Z', '2024-10-04T06:00Z', START + 5, 1],
    [String(START * HOUR), '2024-10-05', START, 48],
  ])) {
    const body = await respond(bound, leader.key, { ...BATCH, start, duration });
    leader.answers = [{ ...created(RESPONSE), body }];
    const done = await leader.collect('--task', leader.at('task.json'), '--from', from, '--to', to);
    assert.equal(done.code, 0, done.err);
    assert.ok(leader.requests[0].body.equals(request(start, duration)));
  }
  for (const [from, to, says] of /** @type {[string, string, RegExp][]} */ ([
    ['2024-10-04T05:30Z', '2024-10-04', /whole units/],
    ['2024-10-04', '2024-10-03', /empty/],
    ['2024-10-04T05:00Z', '2024-10-04T05:00Z', /empty/],
    ['2024-10-32', '2024-11-03', /--from is/],
    ['2024-10-04', '2024-10-04T24:00Z', /--to is/],
    ['2024-10-04', '2024-10-04T2:00Z', /--to is/],
    ['2024-10-04', '2024-10-04T12:00', /--to is/],
    ['2024-10-04', '99999999999999', /--to/],
  ])) {
    const done = await leader.collect('--task', leader.at('task.json'), '--from', from, '--to', to);
    assert.equal(done.code, 2, `${from} ${to}`);
    assert.match(done.err, says);
    assert.deepEqual([done.out, leader.requests.length], ['', 0]);
  }
});

test('a batch that is not what was asked for is refused', async (t) => {
  const leader = await startLeader(t);
  const { task, bound } = writeTask(leader);
  const [one, two] = split(BATCH.sums);
  const other = { ...bound, configuration: encodeTask({ ...task, min_batch_size: 1 }) };
  const beyond = encodeElements([FIELD128, 0n, 0n, 0n]);
  /** @type {[string, number, RegExp, Partial<Batch>, Bound?][]} */
  const lies = [
    [
      'fewer reports than the minimum',
      3,
      /99 reports, below the task's minimum of 100/,
      { n: 99, sums: [99, 0, 0, 0] },
    ],
    ['sums of more reports', 1, /not add up/, { n: 129 }],
    ['shares of different batches', 1, /not add up/, { shares: [one, split(BATCH.sums)[1]] }],
    ['an element that is none', 1, /not add up/, { shares: [one, beyond] }],
    [
      'a short share',
      1,
      /leader's share does not have the task's length/,
      { shares: [one.subarray(16), two] },
    ],
    [
      'a long share',
      1,
      /helper's share does not have the task's length/,
      { shares: [one, Buffer.concat([two, two])] },
    ],
    ['shares in the wrong order', 1, /leader's share does not open/, { roles: [HELPER, LEADER] }],
    ['another minimum', 1, /leader's share does not open/, {}, other],
    ['another interval', 1, /leader's share does not open/, { body: request(START, 23) }],
    ['another key', 1, /sealed to key 78, and --key is key 77/, { keyId: 78 }],
    [
      'reports of another day',
      1,
      /another interval/,
      { start: START + 1, body: request(START, 24) },
    ],
    ['no time at all', 1, /another interval/, { duration: 0, body: request(START, 24) }],
  ];
  for (const [what, code, says, lie, sealedFor] of lies) {
    const body = await respond(sealedFor ?? bound, leader.key, { ...BATCH, ...lie });
    leader.answers = [{ ...created(RESPONSE), body }];
    const done = await leader.collect(...asked(leader));
    assert.match(done.err, says, what);
    assert.deepEqual([done.code, done.out], [code, ''], what);
  }
  const body = await respond(bound, leader.key, BATCH);
  for (let cut = 1; cut < body.length; cut += 7) {
    leader.answers = [{ ...created(RESPONSE), body: body.subarray(0, cut) }];
    assert.match((await leader.collect(...asked(leader))).err, /not a CollectionJobResp/);
  }
  leader.answers = [{ ...created(RESPONSE), body: Buffer.concat([body, Buffer.alloc(1)]) }];
  assert.match((await leader.collect(...asked(leader))).err, /not a CollectionJobResp/);
  for (let bit = 0; bit < 8; bit++) {
    // of the ciphertext of the last share
    const changed = Buffer.from(body);
    changed[body.length - 1 - 5 * bit] ^= 1 << bit;
    leader.answers = [{ ...created(RESPONSE), body: changed }];
    assert.match((await leader.collect(...asked(leader))).err, /helper's share does not open/);
  }
});

test('what the leader says goes on to who asked', async (t) => {
  const leader = await startLeader(t);
  const { bound } = writeTask(leader);
  const body = await respond(bound, leader.key, BATCH);
  /** @type {[Answer[], number, RegExp, number?][]} */
  const cases = [
    [[problem('invalidBatchSize')], 3, /fewer reports than the task's minimum.*invalidBatchSize/],
    [[problem('batchOverlap')], 3, /collected before.*batchOverlap/],
    [[created({ 'retry-after': '1' }), problem('batchMismatch', 500)], 1, /batchMismatch/, 20],
    // The wait is of whole seconds: of one, nothing may be left when the first answer has come.
    [
      [created({ 'retry-after': '1' }), ...Array(9).fill({ status: 502 })],
      5,
      /reports a problem: status 502/,
      3,
    ],
    [[created({ 'retry-after': '1' }), problem('invalidBatchSize')], 3, /invalidBatchSize/, 20],
    [[problem('unrecognizedTask', 404)], 1, /unrecognizedTask/, 20],
    [[{ status: 403 }], 1, /403/, 20],
    [[created({ 'retry-after': '1' }), {}, {}], 5, /not ready/, 2],
    [[created()], 5, /not ready/, 0],
    [[{ status: 200 }], 1, /did not say where/],
    [[{ status: 200, headers: { location: 'http://127.0.0.1:1/elsewhere' } }], 1, /./],
    [[{ status: 302, headers: { location: '/l/job/2' } }], 1, /302/],
    [[{ ...created({ 'content-type': 'text/html' }), body }], 1, /answer is not a batch/],
    [[{ ...created(RESPONSE), body: Buffer.alloc(100000) }], 1, /./],
  ];
  for (const [answers, code, says, wait] of cases) {
    leader.answers = answers;
    const done = await leader.collect(...asked(leader), '--wait', String(wait ?? 0));
    assert.match(done.err, says);
    assert.deepEqual([done.code, done.out], [code, ''], done.err);
  }
  leader.answers = [];
  const nobody = await leader.collect(...asked(leader), '--leader-url', 'http://127.0.0.1:9');
  assert.equal(nobody.code, 5, nobody.err);
});

test('the sums of a recipe are its accumulator, with what it guarantees', async (t) => {
  const leader = await startLeader(t);
  const values = ['red', 'green', 'blue', 'black', 'white'];
  const recipe = {
    recipe: 'colours',
    analysis: 'c',
    stream: 's',
    value: 'item',
    mechanism: 'onehot-symmetric',
    parameters: { epsilon: 4, values },
    limit: { per_day: 1 },
    cohort: { minimum: 100 },
    expires: '2027-12-31',
    aggregation: {
      protocol: 'dap',
      leader: 'https://leader.example/dap',
      helper: 'https://helper.example/dap',
    },
  };
  writeFileSync(leader.at('recipe.json'), JSON.stringify(recipe));
  writeFileSync(leader.at('counts.tsv'), values.map((value, i) => `${value}\t${i + 1}\n`).join(''));
  const ok = (/** @type {string[]} */ ...args) => {
    const done = run(...args);
    assert.equal(done.status, 0, done.stderr);
    return done.stdout;
  };
  ok(
    'simulate',
    '--recipe',
    leader.at('recipe.json'),
    '--counts',
    leader.at('counts.tsv'),
    '--devices',
    '300',
    '--seed',
    'x',
    '--format',
    'ndjson',
    '-o',
    leader.at('reports'),
  );
  ok(
    'ingest',
    '--recipe',
    leader.at('recipe.json'),
    '-o',
    leader.at('folded.acc'),
    leader.at('reports'),
  );
  const sums = [0, 0, 0, 0, 0];
  for (const line of readFileSync(leader.at('reports'), 'utf8').trim().split('\n')) {
    const bits = parseInt(JSON.parse(line).records[0], 16);
    sums.forEach((_, i) => (sums[i] += (bits >> i) & 1));
  }
  const q = 1 / (Math.exp(2) + 1);
  assert.ok(
    q ** 4 * (1 - q) > 1e-6,
    'a record with all five bits is not rare enough to do without',
  );
  const day = 86400;
  const id = Buffer.from(ok('recipe', 'hash', leader.at('recipe.json')).trim(), 'hex');
  const end = Date.UTC(2028, 0, 1) / 1000 / day;
  const configuration = Buffer.concat([
    opaque(Buffer.from('colours'), 1),
    opaque(Buffer.from(recipe.aggregation.leader), 2),
    opaque(Buffer.from(recipe.aggregation.helper), 2),
    number(day, 8),
    number(100, 8),
    number(1, 1),
    number(0, 2),
    number(5, 4),
    opaque(Buffer.concat([number(5, 4), number(3, 4), number(5, 8)]), 2), // length, chunk (of 5 + 3 elements), max_weight
    opaque(
      Buffer.concat([number(1, 2), opaque(Buffer.concat([number(0, 8), number(end, 8)]), 2)]),
      2,
    ), // task_interval
  ]);
  const asked = [
    '--recipe',
    leader.at('recipe.json'),
    '--leader-url',
    leader.url,
    '--from',
    '2024-10-04',
    '--to',
    '2024-10-06',
    '-o',
    leader.at('acc'),
  ];
  const batch = { sums, n: 300, start: 20001, duration: 1, body: request(20000, 3) };
  leader.answers = [
    { ...created(RESPONSE), body: await respond({ id, configuration }, leader.key, batch) },
  ];
  const done = await leader.collect(...asked);
  assert.equal(done.code, 0, done.err);
  assert.equal(done.out, '');
  assert.match(done.err, /300 reports, from 2024-10-05T00:00Z to 2024-10-06T00:00Z/);
  assert.match(done.err, /epsilon per report +4 /);
  assert.match(done.err, /central epsilon/);
  assert.ok(
    readFileSync(leader.at('acc')).equals(readFileSync(leader.at('folded.acc'))),
    'as one aggregator makes it',
  );
  assert.equal(
    JSON.parse(
      ok('estimate', '--recipe', leader.at('recipe.json'), '--format', 'json', leader.at('acc')),
    ).n,
    300,
  );

  sums[0] = 301;
  leader.answers = [
    { ...created(RESPONSE), body: await respond({ id, configuration }, leader.key, batch) },
  ];
  writeFileSync(leader.at('acc'), 'kept');
  assert.match((await leader.collect(...asked)).err, /not add up/);
  assert.equal(readFileSync(leader.at('acc'), 'utf8'), 'kept');
});

test('files and options that do not fit are named', async (t) => {
  const leader = await startLeader(t);
  writeTask(leader);
  const task = leader.at('task.json');
  const day = ['--from', '2024-10-04', '--to', '2024-10-04'];
  /** @param {RegExp} says @param {number} code @param {string[]} args */
  const bad = (says, code, ...args) => {
    const done = run('collect', ...args);
    assert.match(done.stderr, says);
    assert.deepEqual([done.status, done.stdout], [code, '']);
  };
  const secrets = ['--key', leader.at('key.json'), '--token-file', leader.at('token')];
  bad(/one of --recipe and --task/, 2, ...secrets, ...day);
  bad(/one of --recipe and --task/, 2, '--recipe', task, '--task', task, ...secrets, ...day);
  bad(/the file is a task/, 2, '--recipe', task, ...secrets, ...day, '-o', leader.at('acc'));
  bad(/--output/, 2, '--recipe', task, ...secrets, ...day);
  bad(
    /--format is for exact sums/,
    2,
    '--recipe',
    task,
    ...secrets,
    ...day,
    '-o',
    leader.at('acc'),
    '--format',
    'json',
  );
  bad(/--format is table/, 2, '--task', task, ...secrets, ...day, '--format', 'ndjson');
  bad(
    /--leader-url/,
    2,
    '--task',
    task,
    ...secrets,
    ...day,
    '--leader-url',
    'http://leader.example',
  );
  bad(
    /public half/,
    2,
    '--task',
    task,
    '--key',
    leader.at('public.json'),
    '--token-file',
    leader.at('token'),
    ...day,
  );
  for (const [token, says] of /** @type {[string, RegExp][]} */ ([
    ['short\n', /16 to 512/],
    [`${'x'.repeat(513)}\n`, /16 to 512/],
    ['a token with spaces in it\n', /printable/],
    ['', /16 to 512/],
    ['sixteen-and-more-\u00e9\n', /printable/],
  ])) {
    writeFileSync(leader.at('other'), token);
    bad(
      says,
      2,
      '--task',
      task,
      '--key',
      leader.at('key.json'),
      '--token-file',
      leader.at('other'),
      ...day,
    );
  }
});
