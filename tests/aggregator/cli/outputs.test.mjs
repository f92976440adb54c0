// SPDX-License-Identifier: Apache-2.0
// What is no regular file is written into and never replaced: a program that runs as root and renames over /dev/null breaks
// the machine. The device is a node in a scratch folder, with the numbers of /dev/null; the real one is not touched.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sketch } from './cli_helpers.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');
const folder = mkdtempSync(join(tmpdir(), 'shoal-outputs-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (/** @type {string} */ name) => join(folder, name);

/** @param {string[]} args */
const shoal = (...args) => spawnSync(bin, args, { cwd: folder, timeout: 60_000 });
/** @param {string[]} args */
function good(...args) {
  const run = shoal(...args);
  assert.equal(run.status, 0, `${args.join(' ')}: ${run.stderr}`);
  return run.stdout.toString();
}

const pair = (/** @type {string} */ name) => ({
  ...{ name, value: 'item', mechanism: 'grr' },
  parameters: { epsilon: 2, values: ['a', 'b'] },
});
const seal = ['--manifest', 'm.man', '--shard', '1/1'];
writeFileSync(at('r.json'), JSON.stringify(sketch({ parameters: { epsilon: 4, k: 16, m: 64 } })));
writeFileSync(
  at('pairs.json'),
  JSON.stringify({
    ...{ recipe: 'pairs', analysis: 'p', stream: 's', variables: [pair('x'), pair('y')] },
    ...{ limit: { per_day: 1 }, expires: '2099-12-31' },
  }),
);
writeFileSync(at('c.tsv'), 'cod\t7\nplaice\t3\n');
writeFileSync(at('pairs.tsv'), 'a\ta\t1\nb\tb\t1\n');
writeFileSync(at('d.txt'), 'cod\nplaice\n');
for (const seed of ['1', '2'])
  good(
    ...['simulate', '--recipe', 'r.json', '--counts', 'c.tsv', '--devices', '1500'],
    ...['--seed', seed, '-o', `${seed}.batch`],
  );
good('ingest', '--recipe', 'r.json', '-o', '1.acc', '1.batch');
good('ingest', '--recipe', 'r.json', '-o', '2.acc', '2.batch');
good('manifest', 'make', '--recipe', 'r.json', '-o', 'm.man', '1.batch');
good(
  ...['simulate', '--recipe', 'pairs.json', '--counts', 'pairs.tsv', '--devices', '1500'],
  ...['--seed', '1', '-o', 'pairs.batch'],
);
good('ingest', '--recipe', 'pairs.json', '-o', 'pairs.acc', 'pairs.batch');

const own = ['--recipe', 'r.json'];
/** Commands that write a file; OUT stands for it. */
const WRITERS = [
  ['ingest', ...own, '-o', 'OUT', '1.batch'],
  ['ingest', ...own, ...seal, '-o', 'OUT', '1.batch'],
  ['merge', '-o', 'OUT', '1.acc', '2.acc'],
  ['merge', '--rows', '1-2', '-o', 'OUT', '1.acc'],
  ['estimate', ...own, '--dictionary', 'd.txt', '-o', 'OUT', '1.acc'],
  ['compare', ...own, '--dictionary', 'd.txt', '-o', 'OUT', '1.acc', '2.acc'],
  ['joint', '--recipe', 'pairs.json', '-o', 'OUT', 'pairs.acc'],
  ['joint', '--recipe', 'pairs.json', '--format', 'svg', '-o', 'OUT', 'pairs.acc'],
  ['joint', '--recipe', 'pairs.json', '--done', '-o', 'OUT', 'pairs.acc'],
  ['manifest', 'make', ...own, '-o', 'OUT', '2.batch'],
  ['simulate', ...own, '--counts', 'c.tsv', '--devices', '1500', '--seed', '1', '-o', 'OUT'],
  [
    ...['simulate', ...own, '--counts', 'c.tsv', '--devices', '1500', '--seed', '1'],
    ...['-o', '-', '--truth', 'OUT'],
  ],
  ['plan', '--devices', '1000', '--size', '5', '--epsilon', '2', '-o', 'OUT'],
  ['account', '--local-epsilon', '1', '--reports', '1000', '--delta', '1e-6', '-o', 'OUT'],
  ['recipe', 'new', '--id', 'x', '--expires', '2099-01-01', '--size', '4', '-o', 'OUT'],
];

if (spawnSync(bin, ['dap-key', '--help']).status === 0)
  WRITERS.push(['dap-key', '-o', 'OUT', '--public', '/dev/stdout']);

/** Everything of a node that must stay. @param {string} name */
const nodeOf = (name) => {
  const { ino, mode, rdev, uid, gid, nlink } = lstatSync(at(name));
  return { ino, mode, rdev, uid, gid, nlink };
};

const hasNodes = (() => {
  const made = spawnSync('mknod', ['-m', '666', at('null'), 'c', '1', '3']);
  return made.status === 0 && spawnSync('sh', ['-c', `: > ${at('null')}`]).status === 0;
})();

for (const through of ['null', 'link'])
  test(
    `a device is written into, by the name ${through}`,
    { skip: hasNodes ? false : 'this user or file system makes no device nodes' },
    () => {
      if (through === 'link') symlinkSync('null', at('link'));
      const before = [nodeOf('null'), nodeOf(through)];
      const files = readdirSync(folder).sort();
      for (const words of WRITERS) {
        good(...words.map((word) => (word === 'OUT' ? through : word)));
        assert.deepEqual([nodeOf('null'), nodeOf(through)], before, words.join(' '));
        assert.deepEqual(readdirSync(folder).sort(), files, words.join(' '));
      }
      assert.equal(statSync(at('null')).mode & 0o777, 0o666);
    },
  );

test('a pipe is written into, and gets the bytes of a file', () => {
  execFileSync('mkfifo', [at('pipe')]);
  const before = nodeOf('pipe');
  const script = 'cat pipe >read & "$0" "$@"; code=$?; [ $code = 0 ] || kill $!; wait; exit $code';
  for (const words of WRITERS) {
    const as = (/** @type {string} */ out) => words.map((word) => (word === 'OUT' ? out : word));
    const piped = spawnSync('/bin/sh', ['-c', script, bin, ...as('pipe')], {
      cwd: folder,
      timeout: 60_000,
    });
    assert.equal(piped.status, 0, `${words.join(' ')}: ${piped.stderr}`);
    assert.deepEqual(nodeOf('pipe'), before, words.join(' '));
    rmSync(at('file'), { force: true });
    good(...as('file'));
    if (['recipe', 'dap-key'].includes(words[0])) continue; // random
    assert.deepEqual(readFileSync(at('read')), readFileSync(at('file')), words.join(' '));
  }
  rmSync(at('pipe'));
});

test('standard output by its names keeps what the shell wrote into the same file', () => {
  for (const name of ['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])
    for (const words of WRITERS.filter((one) => !one.includes('--truth') && one[0] !== 'dap-key')) {
      const as = words.map((word) => (word === 'OUT' ? name : word));
      writeFileSync(at('log'), 'before\n');
      const { ino } = statSync(at('log'));
      const script = '{ "$0" "$@" && echo after; } >>log';
      const run = spawnSync('/bin/sh', ['-c', script, bin, ...as], { cwd: folder });
      assert.equal(run.status, 0, `${as.join(' ')}: ${run.stderr}`);
      const text = readFileSync(at('log'), 'latin1');
      assert.ok(text.startsWith('before\n') && text.endsWith('after\n'), as.join(' '));
      assert.ok(text.length > 20, as.join(' '));
      assert.equal(statSync(at('log')).ino, ino);
    }
});
