// SPDX-License-Identifier: Apache-2.0
// What @divviup/dap, the DAP-09 client that is deployed today, seals, our two servers open and verify: tests/aggregator/dap/divviup_pipe.c
// in place of the servers. Every kind of task, and reports that somebody changed on the way.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createDivviupTask } from './divviup.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const program = join(process.env.SHOAL_BUILD ?? join(root, 'build/release'), 'tests/divviup_pipe');
const skip = !existsSync(program) && `${program} is not built`;

const circuits = { count: 1, sum: 2, sumVec: 3, histogram: 4 };
const at = new Date('2026-11-21T12:34:56Z');

/** @typedef {Awaited<ReturnType<typeof createDivviupTask>>} Made */

/**
 * A pipe to the program, for one task; it ends with the test.
 * @param {import('node:test').TestContext} t @param {import('./divviup.mjs').Vdaf} vdaf @param {Made} made
 */
function open(t, vdaf, made) {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.stdin.end());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const parameters = [vdaf.length ?? 1, 2 ** (vdaf.bits ?? 1) - 1, vdaf.chunkLength ?? 1];
  return {
    /** @param {Buffer} report @param {Buffer} [id] of the task that the servers believe it is for */
    async ask(report, id = made.id) {
      const words = [
        circuits[/** @type {keyof typeof circuits} */ (vdaf.type)],
        ...parameters,
        id.toString('hex'),
        ...made.keys.map((key) => key.secretKey.toString('hex')),
        ...made.keys.map((key) => key.id),
        report.toString('hex'),
      ];
      child.stdin.write(`${words.join(' ')}\n`);
      return /** @type {string} */ ((await lines.next()).value);
    },
  };
}

/** What a measurement adds. @param {import('./divviup.mjs').Vdaf} vdaf @param {any} measurement */
function sumsOf(vdaf, measurement) {
  if (vdaf.type === 'histogram')
    return Array.from({ length: vdaf.length ?? 0 }, (_, i) => Number(i === measurement));
  return [measurement].flat().map(Number);
}

const cases = [
  { vdaf: { type: 'count' }, measurements: [true, false] },
  { vdaf: { type: 'sum', bits: 1 }, measurements: [1, 0] },
  { vdaf: { type: 'sum', bits: 16 }, measurements: [65535, 0, 12345] },
  {
    vdaf: { type: 'sumVec', length: 5, bits: 3, chunkLength: 4 },
    measurements: [
      [7, 0, 1, 2, 3],
      [0, 0, 0, 0, 0],
    ],
  },
  { vdaf: { type: 'sumVec', length: 1, bits: 1, chunkLength: 1 }, measurements: [[1]] },
  { vdaf: { type: 'histogram', length: 100, chunkLength: 10 }, measurements: [0, 99, 42] },
  { vdaf: { type: 'histogram', length: 7, chunkLength: 7 }, measurements: [6] },
];

for (const { vdaf, measurements } of cases) {
  test(`reports of the package are verified: ${JSON.stringify(vdaf)}`, { skip }, async (t) => {
    const made = await createDivviupTask({ vdaf, time_precision_s: 300 });
    const pipe = open(t, vdaf, made);
    for (const measurement of measurements) {
      const report = await made.task.generateReport(measurement, { timestamp: at });
      assert.equal(report.metadata.time % 300, 0);
      assert.equal(await pipe.ask(report.encode()), `sums ${sumsOf(vdaf, measurement).join(' ')}`);
    }
  });
}

// Where a report's parts lie: 24 bytes of metadata, then the public share, then the two ciphertexts.
test('a report that was changed on the way is refused by a server', { skip }, async (t) => {
  const vdaf = { type: 'histogram', length: 4, chunkLength: 2 };
  const made = await createDivviupTask({ vdaf, time_precision_s: 300 });
  const pipe = open(t, vdaf, made);
  const report = (await made.task.generateReport(2, { timestamp: at })).encode();
  const publicShare = 24;
  const leader = publicShare + 4 + report.readUInt32BE(publicShare);
  const leaderPayload = leader + 1 + 2 + 32;
  const helper = leaderPayload + 4 + report.readUInt32BE(leaderPayload);
  const decrypt = 'refused by the leader: hpke_decrypt_error';
  /** @type {[string, number, string][]} */
  const changes = [
    ['report id', 0, decrypt],
    ['time', 23, decrypt],
    ['public share', publicShare + 4, decrypt],
    ['leader: key id', leader, decrypt],
    ['leader: encapsulated key', leader + 5, decrypt],
    ['leader: ciphertext', leaderPayload + 4, decrypt],
    ['helper: key id', helper, 'refused by the helper: hpke_decrypt_error'],
    ['helper: encapsulated key', helper + 5, 'refused by the helper: hpke_decrypt_error'],
    ['helper: tag', report.length - 1, 'refused by the helper: hpke_decrypt_error'],
    ['length of the public share', publicShare + 3, 'unreadable'],
  ];
  for (const [what, where, expected] of changes) {
    const changed = Buffer.from(report);
    changed[where] ^= 1;
    assert.equal(await pipe.ask(changed), expected, what);
  }
  assert.equal(await pipe.ask(report.subarray(0, -1)), 'unreadable');
  assert.equal(await pipe.ask(Buffer.concat([report, Buffer.alloc(1)])), 'unreadable');
  assert.equal(await pipe.ask(report, Buffer.alloc(32, 7)), decrypt, 'another task');
  assert.equal(await pipe.ask(report), 'sums 0 0 1 0');
});

// A client that seals what it should not: shares that the package made for another measurement than the proof's.
test('a share that is no encoding is refused by the proof', { skip }, async (t) => {
  const vdaf = { type: 'sumVec', length: 2, bits: 2, chunkLength: 2 };
  const made = await createDivviupTask({ vdaf, time_precision_s: 300 });
  const shard = made.task.vdaf.shardEncoded.bind(made.task.vdaf);
  made.task.vdaf.shardEncoded = async (...args) => {
    const shares = await shard(...args);
    shares.inputShares[0][0] ^= 1; // of the first element of the leader's measurement share
    return shares;
  };
  const pipe = open(t, vdaf, made);
  const report = await made.task.generateReport([3, 1], { timestamp: at });
  assert.equal(await pipe.ask(report.encode()), 'refused by the helper: vdaf_verify_error');
});
