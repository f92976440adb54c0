// SPDX-License-Identifier: Apache-2.0
// A measurement of a distinctive value goes the whole way, and in no server's memory, store or log is it to be found: not while its report
// waits, not once it is verified and added up, not once the collector has it. The batch is of one report, so that the sum is the value too.
// Linux: reads /proc/PID/mem.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { makeFolder } from '../serve/serve_helpers.mjs';
import { HOUR, moment, sealedReports, startPair, thisHour, upload } from './dap_helpers.mjs';

const MARKER = 0x1a5cb3e9d74f86n; // below 2^53, which JSON can say
const LENGTH = 4; // entries, all of this value

/** The value as 8 bytes either way round, as it lies in a field element, and as text. */
const forms = (() => {
  const little = Buffer.alloc(8);
  little.writeBigUInt64LE(MARKER);
  return [
    little.subarray(0, 7),
    Buffer.from(little.subarray(0, 7)).reverse(),
    Buffer.from(String(MARKER)),
    Buffer.from(MARKER.toString(16)),
  ];
})();

/** Everything that a process may read of its own memory, in pieces that overlap. @param {number} pid @param {Buffer[]} needles */
function searchMemory(pid, needles) {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const piece = Buffer.alloc(1 << 22);
  const overlap = 64;
  let total = 0;
  let found = 0;
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) r/.exec(line) ?? [];
    if (!from || line.endsWith('[vvar]') || line.endsWith('[vsyscall]')) continue;
    for (
      let at = BigInt(`0x${from}`);
      at < BigInt(`0x${to}`);
      at += BigInt(piece.length - overlap)
    ) {
      let n = 0;
      try {
        n = readSync(
          memory,
          piece,
          0,
          Number(BigInt(Math.min(piece.length, Number(BigInt(`0x${to}`) - at)))),
          at,
        );
      } catch {
        break; // a region that has gone, or that is not readable
      }
      total += n;
      found += needles.filter((needle) => piece.subarray(0, n).includes(needle)).length;
    }
  }
  closeSync(memory);
  piece.fill(0);
  return { total, found };
}

/** What lies in a folder; a file that its server removes just then is none. @param {string} folder @returns {{ path: string, bytes: Buffer }[]} */
const filesOf = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    try {
      return statSync(path).isDirectory() ? filesOf(path) : [{ path, bytes: readFileSync(path) }];
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return [];
      throw error;
    }
  });

test(
  "a value that a device sent is in no server's memory, store or log",
  { timeout: 120000, skip: !existsSync('/proc/self/mem') },
  async (t) => {
    const folder = makeFolder(t);
    const hour = thisHour() - 5;
    const id = randomBytes(32).toString('hex');
    const pair = await startPair(t, folder, (urls) => ({
      'task.json': {
        version: 'dap-18',
        task_id: id,
        info: 'a-name-to-be-found',
        ...urls,
        time_precision_s: HOUR,
        min_batch_size: 1,
        vdaf: { type: 'sum-vec', length: LENGTH, max: Number.MAX_SAFE_INTEGER, chunk: 15 },
      },
    }));
    const servers = /** @type {const} */ (['leader', 'helper']);

    // The search finds what is there: the task's name in both, and the value in this process, which knows it.
    assert.ok(forms.every((form) => searchMemory(process.pid, [form]).found > 0));
    for (const name of servers)
      assert.ok(searchMemory(pair[name].pid(), [Buffer.from('a-name-to-be-found')]).found > 0);

    /** @param {string} when */
    const nowhere = (when) => {
      for (const name of servers) {
        const { total, found } = searchMemory(pair[name].pid(), forms);
        assert.ok(total > 1e6, `only ${total} bytes were readable`);
        assert.equal(found, 0, `the ${name}'s memory, ${when}`);
        const files = filesOf(pair.at(name, 'store'));
        assert.ok(files.length > 0);
        for (const { path, bytes } of files)
          assert.ok(
            forms.every((form) => !bytes.includes(form)),
            `${path}, ${when}`,
          );
        assert.ok(
          forms.every((form) => !pair[name].log().includes(form.toString('latin1'))),
          `the ${name}'s log, ${when}`,
        );
      }
    };

    writeFileSync(pair.at('measurements'), `${Array(LENGTH).fill(MARKER).join(',')}\n`);
    const reports = await sealedReports(
      pair.urls.leader,
      '--task',
      pair.at('task.json'),
      '--measurements',
      pair.at('measurements'),
      '--time',
      String(hour * HOUR),
    );
    // The helper is away: the report waits at the leader, who goes on trying. Then it comes back.
    await pair.helper.end('SIGKILL');
    assert.deepEqual((await upload(pair.urls.leader, id, reports)).errors, []);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await pair.helper.start();
    nowhere('while it waits or is verified');
    const asked = [
      '--task',
      pair.at('task.json'),
      '--from',
      moment(hour),
      '--to',
      moment(hour + 1),
      '--wait',
      '60',
      '--format',
      'json',
    ];
    const answer = pair.collect(...asked);
    assert.equal(answer.status, 0, `${answer.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`);
    assert.deepEqual(JSON.parse(answer.stdout).sums, Array(LENGTH).fill(Number(MARKER)));
    nowhere('once it is collected');
    for (const name of servers) assert.equal(await pair[name].end('SIGTERM'), 0);
    for (const { path, bytes } of servers.flatMap((name) => filesOf(pair.at(name)))) {
      assert.ok(
        forms.every((form) => !bytes.includes(form)),
        `${path}, at the end`,
      );
    }
  },
);
