// SPDX-License-Identifier: Apache-2.0
// `shoal upload` against a leader and a helper that open what they are sent: every byte of a request is the draft's; and what
// happens when they refuse, change keys, are slow or are not there.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  hpkeConfig,
  makeKey,
  number,
  opaque,
  openShare,
  readReports,
  startServers,
  uploadErrors,
} from './fake_servers.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const shoal = join(process.env.SHOAL_BUILD ?? join(root, 'build/release'), 'shoal');
const skip = !existsSync(shoal) && `${shoal} is not built`;

const COLOURS = ['red', 'orange', 'yellow', 'green', 'blue', 'violet'];
const PRECISION = 86400;
const TIME = 1_800_000_000;
const LABEL = 'exact sums, no local noise; local epsilon: none';
const UPLOAD_ERRORS = 'application/ppm-dap;message=upload-errors';

/** @param {string[]} args @returns {Promise<{ status: number, stdout: string, stderr: string }>} */
const run = (...args) =>
  new Promise((resolve) => {
    execFile(shoal, args, { encoding: 'utf8' }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });

/** @param {import('node:test').TestContext} t */
function makeFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-upload-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return (/** @type {string} */ name, /** @type {string | object} */ content = '') => {
    const path = join(folder, name);
    if (content !== '')
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
}

/** @param {{ leader: string, helper: string }} servers */
const recipeOf = (servers, changes = {}) => ({
  recipe: 'colours',
  analysis: 'tests',
  stream: 'choices',
  value: 'item',
  mechanism: 'onehot-symmetric',
  parameters: { epsilon: 4, values: COLOURS },
  limit: { per_day: 1 },
  cohort: { minimum: 50 },
  expires: '2099-01-31',
  aggregation: { protocol: 'dap', leader: servers.leader, helper: servers.helper },
  ...changes,
});

/** @param {{ leader: string, helper: string }} servers @param {object} vdaf */
const taskOf = (servers, vdaf, changes = {}) => ({
  version: 'dap-18',
  info: 'exact',
  leader: servers.leader,
  helper: servers.helper,
  time_precision_s: 3600,
  min_batch_size: 10,
  vdaf,
  ...changes,
});

/** Reports of `n` simulated devices. @param {ReturnType<typeof makeFolder>} file @param {string} recipe @param {number} n */
async function simulate(file, recipe, n) {
  const counts = file('counts.tsv', COLOURS.map((colour, i) => `${colour}\t${i + 1}\n`).join(''));
  const reports = file('reports.ndjson');
  const done = await run(
    'simulate',
    '--recipe',
    recipe,
    '--counts',
    counts,
    '--devices',
    String(n),
    '--seed',
    'upload',
    '--format',
    'ndjson',
    '-o',
    reports,
  );
  assert.equal(done.status, 0, done.stderr);
  return reports;
}

/** A recipe, its reports, and both servers. @param {import('node:test').TestContext} t @param {number} n */
async function setUp(t, n) {
  const servers = await startServers(t);
  const file = makeFolder(t);
  const recipe = file('recipe.json', recipeOf(servers));
  return { servers, file, recipe, reports: await simulate(file, recipe, n) };
}

/**
 * TaskConfiguration of a task by hand: its info, both URLs, the time precision, the smallest batch, time-interval batches, the
 * VDAF's number and configuration, and one extension, the task's interval.
 * @param {string} info @param {{ leader: string, helper: string }} servers
 * @param {{ precision: number, minimum: number, algorithm: number, vdaf: Buffer, duration?: number }} numbers
 */
function configurationOf(info, servers, { precision, minimum, algorithm, vdaf, duration }) {
  const interval =
    duration === undefined
      ? Buffer.alloc(0)
      : Buffer.concat([
          number(1, 2),
          opaque(Buffer.concat([number(0, 8), number(duration, 8)]), 2),
        ]);
  return Buffer.concat([
    opaque(Buffer.from(info), 1),
    opaque(Buffer.from(servers.leader), 2),
    opaque(Buffer.from(servers.helper), 2),
    number(precision, 8),
    number(minimum, 8),
    number(1, 1),
    opaque(Buffer.alloc(0), 2),
    number(algorithm, 4),
    opaque(vdaf, 2),
    opaque(interval, 2),
  ]);
}

const P128 = 2n ** 66n * 4611686018427387897n + 1n;
/** Are all elements of a vector below the field's modulus? @param {Buffer} share */
function isCanonical(share) {
  for (let at = 0; at < share.length; at += 16) {
    const element = share.readBigUInt64LE(at) + (share.readBigUInt64LE(at + 8) << 64n);
    if (element >= P128) return false;
  }
  return true;
}

test(
  'both servers open what is uploaded, and it is laid out as the draft says',
  { skip },
  async (t) => {
    const { servers, recipe, reports } = await setUp(t, 250);
    const shown = await run('recipe', 'hash', recipe);
    const hash = shown.stdout.trim().split(/\s/)[0];
    const done = await run(
      'upload',
      '--recipe',
      recipe,
      '--time',
      String(TIME),
      '--verbose',
      reports,
    );
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stdout, /^accepted {12}250$/m);

    const uploads = servers.uploads();
    assert.deepEqual(
      uploads.map((one) => readReports(one.body).length),
      [100, 100, 50],
    );
    const taskId = Buffer.from(hash, 'hex');
    // What the two agree on, found in what the command prints: the weight's bound and the chunk.
    const [, weight] = /at most (\d+) of them set/.exec(done.stderr) ?? [];
    const [, chunk] = /chunks of (\d+)/.exec(done.stderr) ?? [];
    const checked = await run('recipe', 'check', recipe);
    assert.match(
      checked.stdout,
      new RegExp(
        `^shares {14}of a vector of ${COLOURS.length} entries, at most ${weight} of them set$`,
        'm',
      ),
    );
    const vdaf = Buffer.concat([
      number(COLOURS.length, 4),
      number(Number(chunk), 4),
      number(Number(weight), 8),
    ]);
    const lastDay = Date.UTC(2099, 0, 31) / 86400e3;
    const configuration = configurationOf('colours', servers, {
      precision: PRECISION,
      minimum: 50,
      algorithm: 5,
      vdaf,
      duration: lastDay + 1,
    });
    const ids = new Set();
    for (const upload of uploads) {
      assert.equal(upload.url, `/l/dap/tasks/${taskId.toString('base64url')}/reports`);
      assert.equal(upload.headers['content-type'], 'application/ppm-dap;message=upload-req');
      assert.deepEqual(Object.keys(upload.headers).sort(), [
        'accept',
        'content-length',
        'content-type',
        'host',
      ]);
      for (const report of readReports(upload.body)) {
        ids.add(report.id.toString('hex'));
        assert.equal(report.time, Math.floor(TIME / PRECISION));
        assert.equal(report.extensions.length, 0);
        assert.equal(report.publicShare.length, 64); // a seed of each server's joint randomness
        const task = { id: taskId, configuration };
        const leader = await openShare(servers.keys.leader, report, 'leader', task);
        const helper = await openShare(servers.keys.helper, report, 'helper', task);
        // A vector, the bits of its weight, the proof, a blind; and two seeds.
        assert.equal(helper.length, 64);
        assert.ok(leader.length > 16 * COLOURS.length + 32 && leader.length % 16 === 0);
        assert.ok(isCanonical(leader.subarray(0, -32)));
      }
    }
    assert.equal(ids.size, 250);

    const [report] = readReports(uploads[0].body);
    const other = configurationOf('colours', servers, {
      precision: PRECISION,
      minimum: 51,
      algorithm: 5,
      vdaf,
      duration: lastDay + 1,
    });
    await assert.rejects(
      openShare(servers.keys.leader, report, 'leader', { id: taskId, configuration: other }),
    );
    await assert.rejects(
      openShare(servers.keys.leader, { ...report, time: report.time + 1 }, 'leader', {
        id: taskId,
        configuration,
      }),
    );
  },
);

test('refused reports are counted by their reason', { skip }, async (t) => {
  const { servers, recipe, reports } = await setUp(t, 250);
  servers.answer = (body, n) => {
    if (n !== 2) return {};
    const sent = readReports(body);
    return {
      type: UPLOAD_ERRORS,
      body: uploadErrors([
        [sent[4].id, 9],
        [sent[5].id, 2],
        [sent[99].id, 9],
      ]),
    };
  };
  const done = await run('upload', '--recipe', recipe, '--max-rejected', '0.02', reports);
  assert.equal(done.status, 0, done.stderr);
  assert.equal(
    done.stdout,
    [
      'accepted            247',
      'refused             1, report_replayed',
      'refused             2, report_too_early',
      '',
    ].join('\n'),
  );
  const strict = await run('upload', '--recipe', recipe, '--max-rejected', '0.01', reports);
  assert.equal(
    strict.status,
    0,
    'the answer to the second request of all is the only one with errors',
  );
  servers.requests.length = 0;
  const refused = await run('upload', '--recipe', recipe, '--max-rejected', '0.01', reports);
  assert.equal(refused.status, 4);
  assert.match(refused.stderr, /3 of 250 reports were not taken/);
});

test('a leader that names reports which it was not sent is not believed', { skip }, async (t) => {
  const { servers, recipe, reports } = await setUp(t, 5);
  /** @type {((sent: ReturnType<typeof readReports>) => { type: string, body: Buffer })[]} */
  const answers = [
    () => ({ type: UPLOAD_ERRORS, body: uploadErrors([[Buffer.alloc(16), 9]]) }),
    (sent) => ({
      type: UPLOAD_ERRORS,
      body: uploadErrors([
        [sent[1].id, 9],
        [sent[0].id, 9],
      ]),
    }), // out of order
    (sent) => ({ type: UPLOAD_ERRORS, body: uploadErrors([[sent[1].id, 9]]).subarray(0, 10) }),
    () => ({ type: 'text/html', body: Buffer.from('<html>') }),
  ];
  for (const answer of answers) {
    servers.answer = (body) => answer(readReports(body));
    const done = await run('upload', '--recipe', recipe, reports);
    assert.equal(done.status, 1, done.stdout);
    assert.match(
      done.stderr,
      /the leader( names reports that were not sent to it|'s answer is not a list of upload errors)/,
    );
    assert.match(done.stdout, /^accepted {12}0$/m);
  }
});

test('after a change of keys reports are sealed again, once, with new ids', { skip }, async (t) => {
  const { servers, recipe, reports } = await setUp(t, 30);
  const old = servers.keys.leader;
  const fresh = await makeKey(4);
  servers.answer = (body, n) => {
    if (n > 1) return {};
    servers.keys.leader = fresh;
    return {
      type: UPLOAD_ERRORS,
      body: uploadErrors(
        readReports(body)
          .slice(10)
          .map((report) => [report.id, 11]),
      ),
    };
  };
  const done = await run('upload', '--recipe', recipe, reports);
  assert.equal(done.status, 0, done.stderr);
  assert.equal(done.stdout, 'accepted            30\n');
  const [first, second] = servers.uploads().map((upload) => readReports(upload.body));
  assert.ok(first.every((report) => report.leader.configId === old.id));
  assert.equal(second.length, 20);
  assert.ok(second.every((report) => report.leader.configId === fresh.id));
  const ids = new Set([...first, ...second].map((report) => report.id.toString('hex')));
  assert.equal(ids.size, 50);

  servers.answer = (body) => ({
    type: UPLOAD_ERRORS,
    body: uploadErrors(readReports(body).map((report) => [report.id, 11])),
  });
  servers.requests.length = 0;
  const never = await run('upload', '--recipe', recipe, reports);
  assert.equal(never.status, 4);
  assert.equal(never.stdout, 'accepted            0\nrefused             30, outdated_config\n');
  assert.equal(servers.uploads().length, 2);
});

test('what got no answer is sent again, byte for byte, and counts once', { skip }, async (t) => {
  const { servers, recipe, reports } = await setUp(t, 20);
  servers.answer = (body, n) => {
    if (n === 1) return { status: 503, body: 'busy' };
    return {
      type: UPLOAD_ERRORS,
      body: uploadErrors(
        readReports(body)
          .slice(0, 3)
          .map((report) => [report.id, 2]),
      ),
    };
  };
  const done = await run('upload', '--recipe', recipe, reports);
  assert.equal(done.status, 0, done.stderr);
  assert.equal(done.stdout, 'accepted            20\n');
  const [first, second] = servers.uploads();
  assert.deepEqual(first.body, second.body);
});

test('a refused request says why, in words that cannot do harm', { skip }, async (t) => {
  const { servers, recipe, reports } = await setUp(t, 5);
  servers.answer = () => ({
    status: 404,
    type: 'application/problem+json',
    body: JSON.stringify({
      type: 'urn:ietf:params:ppm:dap:error:unrecognizedTask',
      detail: 'no\u001b[2J such',
    }),
  });
  const done = await run('upload', '--recipe', recipe, reports);
  assert.equal(done.status, 5);
  assert.match(done.stderr, /status 404, unrecognizedTask: no/);
  assert.ok(!done.stderr.includes('\u001b'));
  assert.equal(servers.uploads().length, 1);
});

test('without keys that fit nothing is sent', { skip }, async (t) => {
  const { servers, recipe, reports } = await setUp(t, 5);
  const { leader, helper } = servers.keys;
  const type = 'application/ppm-dap;message=hpke-config-list';
  const zero = { id: 1, publicKey: Buffer.alloc(32) };
  /** @type {[Partial<Record<'leader' | 'helper', import('./fake_servers.mjs').Answer>>, RegExp][]} */
  const cases = [
    [{ helper: { status: 404 } }, /the helper gives no keys: status 404/],
    [
      { leader: { type: 'text/plain', body: opaque(hpkeConfig(leader), 2) } },
      /the leader did not answer with a list of keys/,
    ],
    [
      { helper: { type, body: opaque(hpkeConfig(helper, 3), 2) } },
      /the helper has no key of X25519/,
    ],
    [
      { helper: { type, body: opaque(hpkeConfig(helper), 2).subarray(0, 30) } },
      /the helper has no key of X25519/,
    ],
    [{ leader: { type, body: opaque(Buffer.alloc(0), 2) } }, /the leader has no key of X25519/],
    [
      { helper: { type, body: opaque(hpkeConfig(zero), 2) } },
      /nothing can be sealed to the key of the helper/,
    ],
  ];
  for (const [answers, says] of cases) {
    servers.keyAnswers = answers;
    const done = await run('upload', '--recipe', recipe, reports);
    assert.notEqual(done.status, 0);
    assert.match(done.stderr, says);
    assert.equal(servers.uploads().length, 0);
  }
  // The second of two is taken where the first is of another suite.
  servers.keyAnswers = {
    helper: { type, body: opaque(Buffer.concat([hpkeConfig(leader, 3), hpkeConfig(helper)]), 2) },
  };
  assert.equal((await run('upload', '--recipe', recipe, reports)).status, 0);
  assert.equal(readReports(servers.uploads()[0].body)[0].helper.configId, helper.id);
});

test(
  'nothing is sent of a recipe that has ended, of another one, or under both',
  { skip },
  async (t) => {
    const { servers, file, recipe, reports } = await setUp(t, 5);
    const ended = await run(
      'upload',
      '--recipe',
      recipe,
      '--time',
      String(Date.UTC(2099, 1, 1) / 1000),
      reports,
    );
    assert.equal(ended.status, 3);
    assert.match(ended.stderr, /the last day of task colours has passed/);
    assert.equal(servers.requests.length, 0);
    const lastMoment = await run(
      'upload',
      '--recipe',
      recipe,
      '--time',
      String(Date.UTC(2099, 1, 1) / 1000 - 1),
      reports,
    );
    assert.equal(lastMoment.status, 0, lastMoment.stderr);

    servers.requests.length = 0;
    const other = file('other.json', recipeOf(servers, { recipe: 'colours-2' }));
    const mixed = await run('upload', '--recipe', other, reports);
    assert.equal(mixed.status, 4);
    assert.equal(servers.uploads().length, 0);
    const plain = file('plain.json', recipeOf(servers, { aggregation: undefined }));
    assert.match(
      (await run('upload', '--recipe', plain, reports)).stderr,
      /aggregation\.protocol is not dap/,
    );
    assert.equal((await run('upload', '--recipe', recipe, '--task', recipe, reports)).status, 2);
    assert.equal((await run('upload', '--recipe', recipe)).status, 2);
  },
);

test('measurements of a task file are sent as they are, and labelled', { skip }, async (t) => {
  const servers = await startServers(t);
  const file = makeFolder(t);
  const task = file(
    'task.json',
    taskOf(servers, { type: 'sum-vec', length: 3, max: 255, chunk: 5 }),
  );
  const measurements = file('measurements.txt', '1,2,3\n0,255,0\n 7, 7 ,7\r\n1,1,1');
  const done = await run(
    'upload',
    '--task',
    task,
    '--measurements',
    measurements,
    '--time',
    String(TIME),
  );
  assert.equal(done.status, 0, done.stderr);
  assert.equal(done.stdout, 'accepted            4\n');
  assert.ok(done.stderr.includes(LABEL));
  const [upload] = servers.uploads();
  const sent = readReports(upload.body);
  assert.equal(sent.length, 4);
  assert.equal(sent[0].time, Math.floor(TIME / 3600));
  const vdaf = Buffer.concat([number(3, 4), number(255, 8), number(5, 4)]);
  const configuration = configurationOf('exact', servers, {
    precision: 3600,
    minimum: 10,
    algorithm: 3,
    vdaf,
  });
  const { createHash } = await import('node:crypto');
  const id = createHash('sha256').update('shoal dap task\n').update(configuration).digest();
  assert.equal(upload.url, `/l/dap/tasks/${id.toString('base64url')}/reports`);
  for (const report of sent) {
    const leader = await openShare(servers.keys.leader, report, 'leader', { id, configuration });
    assert.ok(isCanonical(leader.subarray(0, -32)));
    await openShare(servers.keys.helper, report, 'helper', { id, configuration });
  }
});

test(
  'of measurements with a bad line nothing is sent, and nothing of the line is shown',
  { skip },
  async (t) => {
    const servers = await startServers(t);
    const file = makeFolder(t);
    /** @type {[object, string, RegExp][]} */
    const cases = [
      [{ type: 'count' }, '1\n0\n2\n', /line 3: has a number above 1/],
      [{ type: 'sum', max: 4711 }, '4711\n4712\n', /line 2: has a number above 4711/],
      [{ type: 'sum', max: 4711 }, '-1\n', /line 1: is not 1 whole numbers/],
      [{ type: 'sum', max: 4711 }, '1 2\n', /line 1: has more than 1 numbers/],
      [{ type: 'sum', max: 4711 }, '18446744073709551616\n', /line 1: is not 1 whole numbers/],
      [{ type: 'sum', max: 4711 }, '1\n\n', /line 2: is not/],
      [{ type: 'histogram', length: 8, chunk: 3 }, '7\n8\n', /line 2: has a number above 7/],
      [
        { type: 'sum-vec', length: 2, max: 15 },
        '15,15\n15\n',
        /line 2: is not 2 numbers between commas/,
      ],
      [{ type: 'sum-vec', length: 2, max: 15 }, '1,2,3\n', /line 1: has more than 2 numbers/],
      [
        { type: 'multihot-count-vec', length: 4, max_weight: 2 },
        '1,1,0,0\n1,1,1,0\n',
        /line 2: has more than 2 ones/,
      ],
    ];
    for (const [vdaf, text, says] of cases) {
      const task = file('task.json', taskOf(servers, vdaf));
      const done = await run(
        'upload',
        '--task',
        task,
        '--measurements',
        file('measurements.txt', text),
      );
      assert.equal(done.status, 2, done.stderr);
      assert.match(done.stderr, says);
      assert.equal(servers.requests.length, 0);
    }
    const nine = file(
      'nine.json',
      taskOf(servers, { type: 'count' }, { version: 'dap-09', task_id: 'ab'.repeat(32) }),
    );
    const legacy = await run('upload', '--task', nine, '--measurements', file('m.txt', '1\n'));
    assert.equal(legacy.status, 2);
    assert.match(legacy.stderr, /for clients of DAP-09/);
  },
);

test(
  'servers may be reached under other URLs than the ones that all agree on',
  { skip },
  async (t) => {
    const servers = await startServers(t);
    const file = makeFolder(t);
    const named = { leader: 'https://leader.example/dap', helper: 'https://helper.example/dap' };
    const task = file('task.json', taskOf(named, { type: 'count' }));
    const done = await run(
      'upload',
      '--task',
      task,
      '--measurements',
      file('m.txt', '1\n0\n'),
      '--leader-url',
      servers.leader,
      '--helper-url',
      servers.helper,
    );
    assert.equal(done.status, 0, done.stderr);
    const configuration = configurationOf('exact', named, {
      precision: 3600,
      minimum: 10,
      algorithm: 1,
      vdaf: Buffer.alloc(0),
    });
    const { createHash } = await import('node:crypto');
    const id = createHash('sha256').update('shoal dap task\n').update(configuration).digest();
    for (const report of readReports(servers.uploads()[0].body))
      await openShare(servers.keys.leader, report, 'leader', { id, configuration });
  },
);

test('a server whose certificate nobody vouches for is not talked to', { skip }, async (t) => {
  const file = makeFolder(t);
  const [key, certificate] = [file('key.pem'), file('certificate.pem')];
  const made = spawnSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      key,
      '-out',
      certificate,
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost,IP:127.0.0.1',
    ],
    { encoding: 'utf8' },
  );
  assert.equal(made.status, 0, made.stderr);
  let requests = 0;
  const server = createServer(
    { key: readFileSync(key), cert: readFileSync(certificate) },
    (_, response) => {
      requests++;
      response.end();
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const servers = { leader: `https://localhost:${port}/l`, helper: `https://localhost:${port}/h` };
  const task = file('task.json', taskOf(servers, { type: 'count' }));
  const done = await run('upload', '--task', task, '--measurements', file('m.txt', '1\n'));
  assert.equal(done.status, 5);
  assert.match(done.stderr, /certificate/);
  assert.equal(requests, 0);
});
