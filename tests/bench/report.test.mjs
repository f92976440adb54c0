// SPDX-License-Identifier: Apache-2.0
// The benchmark's report: ratios, the comparison with the last run, and the gate.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('report.mjs', import.meta.url));
const comparison = fileURLToPath(new URL('compare.mjs', import.meta.url));
const notes = { date: '2000-01-01', cpu: 'a cpu', cores: 2, compiler: 'cc', node: 'v20' };
const step = {
  name: 'fold',
  unit: 'record',
  ns: 30,
  quickest: 27,
  slowest: 50,
  rounds: 5,
  naive_ns: 300,
  naive: 'plain',
  read_ns: 10,
  aim_ns: 0,
  aim_read: 1.5,
};

/** @param {object[]} steps @param {string} out @param {string} last */
function report(steps, out, last) {
  const lines = steps.map((s) => JSON.stringify(s) + '\n').join('');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, out, last, JSON.stringify(notes)],
    { input: lines },
  );
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

test('ratios, against an aim of either kind and the last run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-bench-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [last, out] = [join(folder, 'last.json'), join(folder, 'out.json')];
  assert.equal(report([step], last, out).status, 0);
  const { status, stdout } = report(
    [
      { ...step, ns: 60 },
      { ...step, name: 'hex', aim_ns: 20, aim_read: 0, note: '9 bytes' },
    ],
    out,
    last,
  );
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^fold +record +60\.0 ns +1\/5\.00 +6\.00 +<= 1\.5 reads +4\.00 +2\.00 +plain$/m,
  );
  assert.match(stdout, /^hex +record +30\.0 ns +1\/10\.0 +3\.00 +<= 20\.0 ns +1\.50 +- +plain$/m);
  assert.match(stdout, /plain\nhex: 9 bytes\n/);
  const markdown = readFileSync(join(folder, 'out.md'), 'utf8').split('\n');
  assert.deepEqual(markdown.slice(1), [
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |',
    '| fold | record | 60.0 ns | 1/5.00 | 6.00 | <= 1.5 reads | 4.00 | plain |',
    '| hex | record | 30.0 ns | 1/10.0 | 3.00 | <= 20.0 ns | 1.50 | plain |',
    '',
  ]);
  const { steps, date } = JSON.parse(readFileSync(out, 'utf8'));
  assert.deepEqual(
    [steps[0].to_naive, steps[0].to_read, steps[0].to_aim, steps[0].to_last],
    [0.2, 6, 4, 2],
  );
  assert.deepEqual([steps[1].to_aim, steps[1].to_last, date], [1.5, null, notes.date]);
});

test('a step far off its aim fails the run, unless its quickest round was not', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-bench-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const out = join(folder, 'out.json');
  const slow = { ...step, aim_ns: 1, aim_read: 0 };
  const failed = report([step, { ...slow, name: 'slow' }], out, 'none');
  assert.equal(failed.status, 1);
  assert.match(failed.stderr, /^bench: slow is 27\.0 times off its aim; 20 is the most$/m);
  assert.equal(report([{ ...slow, quickest: 19 }], out, 'none').status, 0);
  assert.notEqual(report([], out, 'none').status, 0);
});

test('two runs side by side: what is slower by time and by read passes', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-bench-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = ['base.json', 'now.json'].map((name) => join(folder, name));
  /** @param {any[]} was @param {any[]} is */
  const compare = (was, is) => {
    [was, is].forEach((steps, i) =>
      writeFileSync(files[i], JSON.stringify({ ...notes, cpu: `cpu ${i}`, steps })),
    );
    const { status, stdout, stderr } = spawnSync(process.execPath, [comparison, ...files]);
    return { status, stdout: stdout.toString(), stderr: stderr.toString() };
  };
  // A busy machine: twice the time, the same in read passes.
  const busy = compare(
    [step, { ...step, name: 'old' }],
    [
      { ...step, ns: 60, read_ns: 20 },
      { ...step, name: 'new' },
    ],
  );
  assert.equal(busy.status, 0);
  assert.match(busy.stdout, /^fold +record +30\.0 ns +60\.0 ns +2\.00 +1\.00$/m);
  assert.match(busy.stdout, /^new +record +new +30\.0 ns +- +-$/m);
  assert.match(busy.stdout, /^old +record +30\.0 ns +gone +- +-$/m);
  assert.match(busy.stdout, /^base: cpu 0, 2 cores, cc, Node v20, 2000-01-01\nnow: {2}cpu 1/m);
  assert.match(compare([step], [{ ...step, ns: 36 }]).stdout, /1\.20 +1\.20 +slower$/m);
  assert.match(compare([step], [{ ...step, ns: 24 }]).stdout, /0\.80 +0\.80 +faster$/m);
  const worse = compare([step], [{ ...step, ns: 48 }]);
  assert.equal(worse.status, 1);
  assert.match(worse.stderr, /^bench: fold takes more than 1\.5 times as long as in the base$/m);
});
