// SPDX-License-Identifier: Apache-2.0
// Accumulators count each batch and each file of reports once, by any combination of commands: doubles are refused by name.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sketch } from './cli_helpers.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');
/** @type {string} */
let folder;

/** @param {string} name */
const at = (name) => join(folder, name);

/** @param {string} name */
const bytes = (name) => readFileSync(at(name));

/** @param {string[]} args @param {Buffer} [input] */
function shoal(args, input) {
  const run = spawnSync(bin, args, { cwd: folder, input, maxBuffer: 1 << 28 });
  return { code: run.status, out: run.stdout, err: run.stderr.toString() };
}

/** @param {string[]} args @param {Buffer} [input] */
function good(args, input) {
  const run = shoal(args, input);
  assert.equal(run.code, 0, run.err);
  return run;
}

/**
 * Runs a command that must refuse an overlap, and leave its output as it was.
 * @param {RegExp} says
 * @param {string} output
 * @param {string[]} args
 * @param {Buffer} [input]
 */
function refused(says, output, args, input) {
  const old = existsSync(at(output)) ? bytes(output) : null;
  const run = shoal(args, input);
  assert.equal(run.code, 1, run.err);
  assert.match(run.err, says);
  assert.match(run.err, /nothing was written/);
  assert.deepEqual(existsSync(at(output)) ? bytes(output) : null, old);
  assert.deepEqual(
    readdirSync(folder).filter((name) => /\.lock$|\.tmp-/.test(name)),
    [],
  );
}

/** The number of records of an accumulator. @param {string} name */
const count = (name) => Number(bytes(name).readBigUInt64LE(116));

/** The number of ids that an accumulator of one part lists. @param {string} name */
const claims = (name) => bytes(name).readUInt32LE(140);

/** @param {string} name @param {string} format @param {number} devices @param {...string} more */
const simulate = (name, format, devices, ...more) =>
  good(
    ['simulate', '--recipe', 'r.json', '--counts', 'c.tsv', '--seed', name]
      .concat(['--devices', `${devices}`, '--format', format, '-o', name])
      .concat(more),
  );

/** @param {string} output @param {...string} rest */
const ingest = (output, ...rest) => ['ingest', '--recipe', 'r.json', '-o', output, ...rest];

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-claims-'));
  writeFileSync(at('r.json'), JSON.stringify(sketch({})));
  writeFileSync(at('c.tsv'), 'cod\t300\nperch\t100\npike\t50\n');
  for (const name of ['one', 'two', 'three']) simulate(name, 'batch', 5000);
  for (const name of ['lines', 'more']) simulate(name, 'ndjson', 3000);
  for (const name of ['one', 'two', 'three', 'lines', 'more']) good(ingest(`${name}.acc`, name));
});

after(() => rmSync(folder, { recursive: true, force: true }));

test('a batch that reached two calls of ingest: merge refuses, and names both', () => {
  good(ingest('left.acc', 'one', 'two'));
  good(ingest('right.acc', 'two', 'three'));
  refused(
    /left\.acc and right\.acc both count the batch or file of reports [0-9a-f]{32}/,
    'm.acc',
    ['merge', '-o', 'm.acc', 'left.acc', 'right.acc'],
  );
  refused(/left\.acc and right\.acc both/, 'm.acc', [
    'merge',
    '-o',
    'm.acc',
    'lines.acc',
    'left.acc',
    'more.acc',
    'right.acc',
  ]);
  good(['merge', '-o', 'm.acc', 'left.acc', 'three.acc']);
  assert.equal(count('m.acc'), 15000);
  good(ingest('all.acc', 'three', 'one', 'two', 'one'));
  assert.deepEqual(bytes('m.acc'), bytes('all.acc'));
});

test('an accumulator and its copy: merge refuses, also through a pipe', () => {
  copyFileSync(at('one.acc'), at('copy.acc'));
  refused(/one\.acc and copy\.acc both/, 'x.acc', ['merge', '-o', 'x.acc', 'one.acc', 'copy.acc']);
  refused(
    /standard input and one\.acc both/,
    'x.acc',
    ['merge', '-o', 'x.acc', '-', 'one.acc'],
    bytes('one.acc'),
  );
  good(['merge', '-o', 'sum.acc', 'one.acc', 'two.acc']);
  refused(/sum\.acc and two\.acc both/, 'sum.acc', [
    'merge',
    '-o',
    'sum.acc',
    'sum.acc',
    'two.acc',
  ]);
  copyFileSync(at('lines.acc'), at('copy.acc'));
  refused(/lines\.acc and copy\.acc both/, 'x.acc', [
    'merge',
    '-o',
    'x.acc',
    'lines.acc',
    'copy.acc',
  ]);
});

test('ingest --append of the same file twice is refused; --skip-held counts the rest', () => {
  good(ingest('a.acc', 'one', 'lines'));
  refused(
    /one: a\.acc counts batch [0-9a-f]{32} already/,
    'a.acc',
    ingest('a.acc', '--append', 'one'),
  );
  refused(
    /lines: a\.acc counts this file of reports/,
    'a.acc',
    ingest('a.acc', '--append', 'lines'),
  );
  refused(
    /standard input: a\.acc counts this file/,
    'a.acc',
    ingest('a.acc', '--append', '-'),
    bytes('lines'),
  );
  refused(/one: a\.acc counts batch/, 'a.acc', ingest('a.acc', '--append', 'two', 'one'));
  const old = bytes('a.acc');
  const held = good(ingest('a.acc', '--append', '--skip-held', 'one', 'lines'));
  assert.match(held.err, /1 batches were counted already and were left out/);
  assert.match(held.err, /lines is counted already and was left out/);
  assert.deepEqual(bytes('a.acc'), old);
  good(ingest('a.acc', '--append', '--skip-held', 'one', 'two', 'lines', 'more'));
  assert.equal(count('a.acc'), 16000);
  assert.equal(claims('a.acc'), 4);
  good(ingest('b.acc', 'more', 'two', 'lines', 'one'));
  assert.deepEqual(bytes('a.acc'), bytes('b.acc'));
  assert.equal(shoal(ingest('c.acc', '--skip-held', 'one')).code, 2);
});

test('two files of the same reports in one call are refused by name', () => {
  copyFileSync(at('lines'), at('again'));
  refused(
    /lines and again hold the same reports/,
    'x.acc',
    ingest('x.acc', 'more', 'lines', 'again'),
  );
  refused(
    /lines and standard input hold the same reports/,
    'x.acc',
    ingest('x.acc', 'lines', '-'),
    bytes('lines'),
  );
  // Inputs that share lines are other inputs: that is not found, and the manual says so.
  writeFileSync(at('longer'), Buffer.concat([bytes('lines'), bytes('more')]));
  good(ingest('x.acc', 'lines', 'longer'));
  assert.equal(count('x.acc'), 9000);
});

test('a file of reports has one claim, by threads, by a pipe, and in any place', () => {
  simulate('many', 'ndjson', 20000);
  good(ingest('t1.acc', '--threads', '1', 'many'));
  good(ingest('t4.acc', '--threads', '4', 'many'));
  good(ingest('pipe.acc', '-'), bytes('many'));
  assert.deepEqual(bytes('t4.acc'), bytes('t1.acc'));
  assert.deepEqual(bytes('pipe.acc'), bytes('t1.acc'));
  assert.equal(claims('t1.acc'), 1);
  assert.ok(bytes('many').length > 4 << 20, 'more than one MiB is read');
});

/** @param {string[]} args @returns {Promise<number | null>} */
const start = (args) =>
  new Promise((resolve) => {
    spawn(bin, args, { cwd: folder, stdio: 'ignore' }).on('close', (code) => resolve(code));
  });

test('two appends at once to one accumulator: both count', async () => {
  for (let i = 0; i < 20; i++) {
    rmSync(at('both.acc'), { force: true });
    if (i % 2 === 0) copyFileSync(at('three.acc'), at('both.acc'));
    const codes = await Promise.all(
      ['one', 'two'].map((name) => start(ingest('both.acc', '--append', name))),
    );
    assert.deepEqual(codes, [0, 0]);
    assert.equal(count('both.acc'), i % 2 === 0 ? 15000 : 10000, `trial ${i}`);
  }
  assert.ok(!existsSync(at('both.acc.lock')));
});

test('two calls at once that make one accumulator: one makes it, the other is refused', async () => {
  for (let i = 0; i < 10; i++) {
    rmSync(at('both.acc'), { force: true });
    const codes = await Promise.all(['one', 'two'].map((name) => start(ingest('both.acc', name))));
    assert.deepEqual(codes.sort(), [0, 2]);
    assert.equal(count('both.acc'), 5000);
  }
});

test('appends by a file and by a link to it: the file counts all, and the link stays', async () => {
  good(ingest('linked.acc', 'one'));
  symlinkSync('linked.acc', at('link.acc'));
  const codes = await Promise.all([
    start(ingest('link.acc', '--append', 'two')),
    start(ingest('linked.acc', '--append', 'three')),
  ]);
  assert.deepEqual(codes, [0, 0]);
  assert.ok(lstatSync(at('link.acc')).isSymbolicLink());
  assert.equal(count('linked.acc'), 15000);
});

test('an append that is killed can be run again', async () => {
  simulate('large', 'batch', 200000);
  good(ingest('killed.acc', 'one'));
  const old = bytes('killed.acc');
  good(ingest('whole.acc', 'one', 'large'));
  let n_killed = 0;
  for (let ms = 0; ms < 40; ms += 4) {
    writeFileSync(at('killed.acc'), old);
    const args = ingest('killed.acc', '--append', '--threads', '1', 'large');
    const child = spawn(bin, args, { cwd: folder, stdio: 'ignore' });
    setTimeout(() => child.kill('SIGKILL'), ms);
    const signal = await new Promise((resolve) => child.on('close', (_, name) => resolve(name)));
    if (signal === 'SIGKILL') n_killed++;
    const is_done = !bytes('killed.acc').equals(old);
    if (is_done) refused(/counts batch/, 'killed.acc', args);
    else good(args);
    assert.deepEqual(bytes('killed.acc'), bytes('whole.acc'));
    good(ingest('killed.acc', '--append', '--skip-held', 'large'));
    assert.deepEqual(bytes('killed.acc'), bytes('whole.acc'));
    for (const name of readdirSync(folder)) if (name.includes('.tmp-')) rmSync(at(name));
  }
  assert.ok(n_killed > 0, 'none was killed in time');
});

test('accumulators of older versions are read and merged with a warning by name', () => {
  const artefacts = join(root, 'tests/artefacts/before/cms');
  const sums = join(artefacts, 'sums.acc');
  const lines = join(artefacts, 'lines.acc');
  const recipe = join(artefacts, 'recipe.json');
  const merged = good(['merge', '-o', 'old.acc', sums, lines]);
  for (const name of ['sums', 'lines'])
    assert.match(merged.err, new RegExp(`${name}\\.acc does not list what it counts`));
  assert.deepEqual(bytes('old.acc'), readFileSync(join(artefacts, 'merged.acc')));
  assert.equal(good(['merge', '-o', '-', sums]).err, '', 'alone it shares nothing');
  // What is added to one is claimed, and what was there before is not.
  const batch = join(artefacts, 'later.batch');
  copyFileSync(sums, at('partly.acc'));
  const add = ['ingest', '--recipe', recipe, '-o', 'partly.acc', '--append', batch];
  assert.match(good(add).err, /partly\.acc does not list what it counts/);
  assert.equal(claims('partly.acc'), 1);
  refused(/partly\.acc counts batch/, 'partly.acc', add);
  good(['ingest', '--recipe', recipe, '-o', 'later.acc', batch]);
  refused(/partly\.acc and later\.acc both/, 'x2.acc', [
    'merge',
    '-o',
    'x2.acc',
    'partly.acc',
    'later.acc',
  ]);
  const both = good(['merge', '-o', 'x2.acc', 'partly.acc', lines]);
  assert.match(both.err, /partly\.acc does not list all that it counts/);
});

test('a comparison needs accumulators that share nothing', () => {
  good(['merge', '-o', 'sum.acc', 'one.acc', 'two.acc']);
  const run = shoal([
    'compare',
    '--recipe',
    'r.json',
    '--dictionary',
    'c.tsv',
    'sum.acc',
    'two.acc',
  ]);
  assert.equal(run.code, 2);
  assert.match(run.err, /hold the same reports, those of the batch or file [0-9a-f]{32}/);
});

test('any sharding and any order of merging give the same bytes', () => {
  const names = ['one', 'two', 'three', 'lines', 'more'];
  good(ingest('every.acc', ...names));
  const whole = createHash('sha256').update(bytes('every.acc')).digest('hex');
  for (let i = 0; i < names.length; i++) {
    const order = [...names.slice(i), ...names.slice(0, i)];
    good(ingest('p.acc', ...order.slice(0, 2)));
    good(['merge', '-o', 'q.acc', ...order.slice(2).map((name) => `${name}.acc`)]);
    good(['merge', '-o', 'p.acc', 'q.acc', 'p.acc']);
    assert.equal(createHash('sha256').update(bytes('p.acc')).digest('hex'), whole);
    rmSync(at('p.acc'));
  }
});
