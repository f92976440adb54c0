// SPDX-License-Identifier: Apache-2.0
// Several machines share one collection: manifests, shards, merges by rows, and the import into a server's store. Whatever
// the split, the bytes are one process's; and whatever would count twice or leave something out is refused by name.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { seal } from '../serve/serve_helpers.mjs';
import { sketch } from './cli_helpers.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');
const N = 24; // batches of the first generation
const MINIMUM = 300; // of a block
/** @type {string} */
let folder;
/** @type {string} */
let hash;

/** @param {string} name */
const at = (name) => join(folder, name);
/** @param {string} name */
const bytes = (name) => readFileSync(at(name));

/** @param {string[]} args @param {string | Buffer} [input] */
function shoal(args, input) {
  const run = spawnSync(bin, args, { cwd: folder, input, maxBuffer: 1 << 28 });
  return { code: run.status, out: run.stdout, err: run.stderr.toString() };
}

/** @param {...string} args */
function good(...args) {
  const run = shoal(args);
  assert.equal(run.code, 0, run.err);
  return run;
}

/** A command that is refused, and writes nothing. @param {number} code @param {RegExp} says @param {...string} args */
function bad(code, says, ...args) {
  const before = readdirSync(folder);
  const run = shoal(args);
  assert.match(run.err, says);
  assert.equal(run.code, code, run.err);
  assert.deepEqual(readdirSync(folder), before);
}

/** The id of a batch. @param {string} name */
const idOf = (name) => bytes(name).subarray(56, 72).toString('hex');

/** @param {string} name @param {number} n of the shards */
const shardOf = (name, n) => Number((bytes(name).readBigUInt64BE(56) * BigInt(n)) >> 64n) + 1;

/** Batches of the first generation. */
const batches = Array.from({ length: N }, (_, i) => `b${i}.batch`);
/** Batches of the second. */
const late = ['late0.batch', 'late1.batch'];

/** @param {string} recipe @param {string} name @param {string} seed @param {...string} more */
const simulate = (recipe, name, seed, ...more) =>
  good(
    ...['simulate', '--recipe', recipe, '--counts', 'c.tsv', '--devices', '50', '--seed', seed],
    ...['-o', name, ...more],
  );

/** Folds a shard. @param {number} i @param {number} n @param {string} output @param {...string} more */
const ingest = (i, n, output, ...more) =>
  good(
    ...['ingest', '--recipe', 'r.json', '--manifest', 'm1.man', '--shard', `${i}/${n}`],
    ...['-o', output, ...more, ...batches.filter((name) => shardOf(name, n) === i)],
  );

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-manifest-'));
  const small = { parameters: { epsilon: 4, k: 16, m: 64 } };
  const cohort = { minimum: MINIMUM };
  writeFileSync(at('r.json'), JSON.stringify(sketch({ ...small, cohort })));
  writeFileSync(at('other.json'), JSON.stringify(sketch({ ...small, recipe: 'other' })));
  const aggregation = { protocol: 'sum' };
  writeFileSync(at('sum.json'), JSON.stringify(sketch({ ...small, aggregation })));
  writeFileSync(at('c.tsv'), 'cod\t70\nplaice\t30\n');
  writeFileSync(at('d.txt'), 'cod\nplaice\n');
  batches.forEach((name, i) => simulate('r.json', name, `first ${i}`));
  late.forEach((name, i) => simulate('r.json', name, `late ${i}`));
  simulate('r.json', 'v1.batch', 'old', '--format', 'batch-1');
  simulate('r.json', 'lines.ndjson', 'lines', '--format', 'ndjson');
  simulate('other.json', 'other.batch', 'other');
  hash = good('recipe', 'hash', 'r.json').out.toString().trim().split(/\s/)[0];
  good('manifest', 'make', '--recipe', 'r.json', '-o', 'm1.man', ...batches);
  good('manifest', 'make', '--recipe', 'r.json', '-o', 'm2.man', '--after', 'm1.man', ...late);
  good('ingest', '--recipe', 'r.json', '--manifest', 'm1.man', '-o', 'one.acc', ...batches);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('a manifest is the same from files, a folder, ids and keys, in any order', () => {
  mkdirSync(at('lake/deep'), { recursive: true });
  batches.forEach((name, i) =>
    i % 2
      ? writeFileSync(at(`lake/deep/${name}.gz`), gzipSync(bytes(name)))
      : copyFileSync(at(name), at(`lake/${name}`)),
  );
  writeFileSync(at('lake/readme.txt'), 'no batch');
  const made = good('manifest', 'make', '--recipe', 'r.json', '-o', 'f.man', 'lake');
  assert.match(made.err, /1 files do not have the name of a batch/);
  assert.deepEqual(bytes('f.man'), bytes('m1.man'));
  rmSync(at('lake'), { recursive: true });
  const ids = batches.map(idOf).reverse();
  const keys = ids.map((id, i) =>
    i % 3 === 0
      ? id
      : `${i % 2 ? 'a/b/' : ''}${hash}/2026-11-23/${id.slice(0, 2)}/${id}.batch${['', '.gz', '.zst'][i % 3]}`,
  );
  const args = ['manifest', 'make', '--recipe', 'r.json', '--ids', '-', '-o'];
  const listed = shoal([...args, 'k.man', 'b0.batch'], `${keys.join('\n')}\r\n`);
  assert.equal(listed.code, 0, listed.err);
  assert.match(listed.err, /1 batches came more than once and are listed once/);
  assert.deepEqual(bytes('k.man'), bytes('m1.man'));
  assert.deepEqual(shoal([...args, '-'], ids.join('\n')).out, bytes('m1.man'));
  const [id] = ids;
  const wrong = [
    `${id}0`,
    id.toUpperCase(),
    `${hash}/2026-13-01/${id.slice(0, 2)}/${id}.batch`,
    `${hash}/2026-11-23/zz/${id}.batch`,
    `x${hash}/2026-11-23/${id.slice(0, 2)}/${id}.batch`,
    `${hash}/2026-11-23/${id.slice(0, 2)}/${id}.batch.bz2`,
    'x'.repeat(5000),
  ];
  for (const name of wrong) {
    const run = shoal([...args, 'w.man'], `${id}\n${name}\n`);
    assert.equal(run.code, 5, name);
    assert.match(run.err, /standard input: line 2: neither an id of 32 hex digits nor the key/);
  }
  const foreign = shoal(
    [...args, 'w.man'],
    `${'0'.repeat(64)}/2026-11-23/${id.slice(0, 2)}/${id}.batch\n`,
  );
  assert.match(foreign.err, /line 1: the key of a batch of another recipe than fish/);
  assert.equal(existsSync(at('w.man')), false);
});

test('manifests are printed and checked, alone and against one another', () => {
  const { manifest, earlier, ...rest } = JSON.parse(
    good('manifest', 'print', '--format', 'json', '--ids', 'm2.man').out.toString(),
  );
  const first = JSON.parse(good('manifest', 'print', '--format', 'json', 'm1.man').out.toString());
  assert.equal(manifest, bytes('m2.man').subarray(-32).toString('hex'));
  assert.deepEqual(earlier, [first.manifest]);
  assert.deepEqual(rest, {
    version: 1,
    recipe: hash,
    generation: 2,
    batches: 2,
    has_version_1: false,
    ids: late.map(idOf).sort(),
  });
  assert.match(good('manifest', 'print', 'm1.man').out.toString(), /^generation {2}1$/m);
  const checked = good('manifest', 'check', '--format', 'json', 'm1.man', 'm2.man');
  assert.deepEqual(JSON.parse(checked.out.toString()), { manifests: 2, batches: N + 2 });
  good('manifest', 'make', '--recipe', 'r.json', '-o', 'apart.man', ...late);
  good('manifest', 'make', '--recipe', 'r.json', '-o', 'both.man', 'b0.batch', 'late0.batch');
  bad(
    1,
    /m2\.man and both\.man both list batch [0-9a-f]{32}/,
    'manifest',
    'check',
    'm2.man',
    'both.man',
  );
  bad(1, /m1\.man and f2\.man are the same manifest/, ...copies('m1.man', 'f2.man'));
  bad(
    1,
    /neither of m1\.man and apart\.man was made --after/,
    'manifest',
    'check',
    'm1.man',
    'apart.man',
  );
  const damaged = Buffer.from(bytes('m1.man'));
  damaged[70] ^= 1;
  writeFileSync(at('damaged.man'), damaged);
  bad(5, /damaged\.man: manifest cannot be read/, 'manifest', 'check', 'damaged.man');
  bad(5, /b0\.batch: manifest cannot be read/, 'manifest', 'print', 'b0.batch');
});

/** @param {string} from @param {string} to */
function copies(from, to) {
  copyFileSync(at(from), at(to));
  return ['manifest', 'check', from, to];
}

test('what a manifest must not list is refused', () => {
  const make = ['manifest', 'make', '--recipe', 'r.json', '-o', 'x.man'];
  bad(
    2,
    /v1\.batch: batch [0-9a-f]{32} is of version 1: its sender drew the id/,
    ...make,
    'v1.batch',
  );
  bad(2, /lines\.ndjson: holds lines/, ...make, 'lines.ndjson');
  bad(1, /other\.batch: batch 1: /, ...make, 'other.batch');
  bad(
    1,
    /there is no batch that no earlier manifest lists/,
    ...make,
    '--after',
    'm1.man',
    'b3.batch',
  );
  bad(
    1,
    /was made after [0-9a-f]{64}, which is not given/,
    ...make,
    '--after',
    'm2.man',
    'b3.batch',
  );
  bad(1, /is given twice/, ...make, '--after', 'm1.man', '--after', 'm1.man', 'late0.batch');
  bad(2, /no batches/, ...make);
  bad(2, /m1\.man exists and is another manifest/, ...make.with(5, 'm1.man'), 'late0.batch');
  bad(
    3,
    /"sum", which promises that no report is stored/,
    ...['manifest', 'make', '--recipe', 'sum.json', '-o', 'x.man', 'b0.batch'],
  );
  good(...make, '--allow-old', 'v1.batch');
  const again = good(...make, '--allow-old', 'v1.batch', 'v1.batch');
  assert.match(again.err, /listed once/);
  assert.match(good('manifest', 'print', 'x.man').out.toString(), /some of version 1/);
});

test('1, 4 and 16 shards give the bytes of one process, merged in any fan-in', () => {
  for (const n of [1, 4, 16]) {
    let parts = Array.from({ length: n }, (_, i) => {
      ingest(i + 1, n, `s${n}-${i + 1}.acc`);
      return `s${n}-${i + 1}.acc`;
    });
    for (let round = 0; parts.length > 1; round++) {
      const next = [];
      for (let i = 0; i < parts.length; i += 3) {
        const some = parts.slice(i, i + 3).reverse();
        good('merge', '-o', `t${n}-${round}-${i}.acc`, ...some);
        next.push(`t${n}-${round}-${i}.acc`);
      }
      parts = next.reverse();
    }
    assert.deepEqual(bytes(parts[0]), bytes('one.acc'), `${n} shards`);
  }
  // The sums are those of an accumulator without a manifest.
  good('ingest', '--recipe', 'r.json', '-o', 'plain.acc', ...batches);
  const cells = 4 * (16 + 16 * 64) + 8;
  assert.deepEqual(bytes('plain.acc').subarray(-cells, -8), bytes('one.acc').subarray(-cells, -8));
});

test('a shard is folded again with the same bytes', () => {
  ingest(2, 4, 'again.acc');
  const first = bytes('again.acc');
  assert.match(ingest(2, 4, 'again.acc').err, /counts shard 2\/4 of m1\.man already/);
  assert.deepEqual(bytes('again.acc'), first);
  rmSync(at('again.acc'));
  const own = batches.filter((name) => shardOf(name, 4) === 2).reverse();
  ingest(2, 4, 'again.acc', ...own, own[0]); // twice, in another order
  assert.deepEqual(bytes('again.acc'), first);
  bad(
    2,
    /again\.acc exists, and is not what shard 1\/4 of m1\.man gives/,
    ...['ingest', '--recipe', 'r.json', '--manifest', 'm1.man', '--shard', '1/4'],
    ...['-o', 'again.acc', ...batches.filter((name) => shardOf(name, 4) === 1)],
  );
  ingest(1, 4, 'again.acc', '--append');
  good('merge', '-o', 'same.acc', 's4-1.acc', 's4-2.acc');
  assert.deepEqual(bytes('again.acc'), bytes('same.acc'));
  assert.match(
    ingest(1, 4, 'again.acc', '--append', '--skip-held').err,
    /counts shard 1\/4 of m1\.man already/,
  );
});

test('a twin that runs at the same time, and workers that are killed, change no byte', async () => {
  const own = batches.filter((name) => shardOf(name, 4) === 1);
  const args = ['ingest', '--recipe', 'r.json', '--manifest', 'm1.man', '--shard', '1/4'];
  const start = () => spawn(bin, [...args, '-o', 'twin.acc', ...own], { cwd: folder });
  /** @param {import('node:child_process').ChildProcess} child */
  const code = async (child) => (await once(child, 'exit'))[0];
  for (let i = 0; i < 5; i++) {
    assert.deepEqual(await Promise.all([start(), start(), start()].map(code)), [0, 0, 0]);
    assert.deepEqual(bytes('twin.acc'), bytes('s4-1.acc'));
    rmSync(at('twin.acc'));
  }
  for (let i = 0; i < 20; i++) {
    const child = start();
    setTimeout(() => child.kill('SIGKILL'), i / 2);
    await code(child);
    if (existsSync(at('twin.acc'))) assert.deepEqual(bytes('twin.acc'), bytes('s4-1.acc'));
    assert.equal(await code(start()), 0, 'the rerun succeeds');
    assert.deepEqual(bytes('twin.acc'), bytes('s4-1.acc'));
    rmSync(at('twin.acc'));
  }
});

test('a foreign batch, a missing one and other bytes under a known id are refused by name', () => {
  const args = ['ingest', '--recipe', 'r.json', '--manifest', 'm1.man', '-o', 'x.acc'];
  bad(
    1,
    new RegExp(`late0.batch: m1.man does not list batch ${idOf('late0.batch')}`),
    ...args,
    ...batches,
    late[0],
  );
  const [missing, ...others] = batches;
  bad(
    1,
    new RegExp(
      `of the 24 batches of shard 1/1 of m1.man, 1 came in no file, such as ${idOf(missing)}`,
    ),
    ...args,
    ...others,
  );
  bad(1, /24 came in no file/, ...args);
  const own = batches.find((name) => shardOf(name, 4) === 3) ?? '';
  bad(
    1,
    new RegExp(`${own}: batch ${idOf(own)} is of shard 3/4, not of 2/4`),
    ...args,
    '--shard',
    '2/4',
    own,
  );
  const forged = Buffer.from(bytes('late0.batch'));
  bytes(missing).copy(forged, 56, 56, 72);
  writeFileSync(at('forged.batch'), seal(forged));
  bad(
    5,
    new RegExp(`forged.batch: batch 1: .*id ${idOf(missing)}`),
    ...args,
    ...others,
    'forged.batch',
  );
  bad(1, /v1\.batch: m1\.man does not list/, ...args, 'v1.batch');
  bad(2, /lines\.ndjson: holds lines/, ...args, 'lines.ndjson');
  bad(1, /the manifest is of recipe hash/, ...args.with(2, 'other.json'), ...batches);
  bad(3, /"sum"/, ...args.with(2, 'sum.json'), ...batches);
  for (const shard of ['0/4', '5/4', '1', '1/99999'])
    bad(2, /--shard: not i\/N/, ...args, '--shard', shard, ...batches);
  bad(
    2,
    /--shard goes with --manifest/,
    'ingest',
    '--recipe',
    'r.json',
    '--shard',
    '1/4',
    '-o',
    'x.acc',
    'b0.batch',
  );
  bad(2, /no file to read/, 'ingest', '--recipe', 'r.json', '-o', 'x.acc');
});

test('merge refuses every overlap by name, and unites a chain of generations', () => {
  const merge = ['merge', '-o', 'x.acc'];
  copyFileSync(at('s4-3.acc'), at('copy.acc'));
  bad(
    1,
    /s4-3\.acc and copy\.acc: both count shard 3\/4 of manifest [0-9a-f]{64}; nothing was written/,
    ...merge,
    's4-1.acc',
    's4-3.acc',
    'copy.acc',
  );
  bad(
    1,
    /is split into 4 shards in one and into 16 in the other/,
    ...merge,
    's4-1.acc',
    's16-16.acc',
  );
  bad(
    1,
    /one counts all of manifest [0-9a-f]{64}, and the other shards of it/,
    ...merge,
    'one.acc',
    's4-1.acc',
  );
  bad(1, /one counts shards of manifests and the other does not/, ...merge, 'one.acc', 'plain.acc');
  const second = ['ingest', '--recipe', 'r.json', '--manifest', 'm2.man', '-o'];
  good(...second, 'two.acc', ...late);
  good('merge', '-o', 'united.acc', 'two.acc', 'one.acc');
  good('merge', '-o', 'united2.acc', 'one.acc', 'two.acc');
  assert.deepEqual(bytes('united.acc'), bytes('united2.acc'));
  copyFileSync(at('one.acc'), at('grown.acc'));
  good(...second, 'grown.acc', '--append', ...late);
  assert.deepEqual(bytes('grown.acc'), bytes('united.acc'));
  bad(
    1,
    /united\.acc and two\.acc: one counts all|both count shard 1\/1/,
    ...merge,
    'united.acc',
    'two.acc',
  );
  good('ingest', '--recipe', 'r.json', '--manifest', 'apart.man', '-o', 'apart.acc', ...late);
  bad(
    1,
    /one\.acc and apart\.acc: manifest .* may list the same batches: neither was made --after/,
    ...merge,
    'one.acc',
    'apart.acc',
  );
  bad(
    2,
    /hold the same reports, those of manifest/,
    ...['compare', '--recipe', 'r.json', '--dictionary', 'd.txt', 'one.acc', 'united.acc'],
  );
});

test('an incomplete set of shards has no result without --incomplete, which the result says', () => {
  good('merge', '-o', 'half.acc', 's4-1.acc', 's4-2.acc', 's4-4.acc');
  const estimate = ['estimate', '--recipe', 'r.json', '--dictionary', 'd.txt'];
  bad(
    1,
    /half\.acc: incomplete: of the 4 shards of manifest [0-9a-f]{64}, 1 is missing \(3\)/,
    ...estimate,
    'half.acc',
  );
  const table = good(...estimate, '--incomplete', 'half.acc').out.toString();
  assert.match(table, /^incomplete: 1 of 4 shards are missing$/m);
  const json = JSON.parse(
    good(...estimate, '--incomplete', '--format', 'json', 'half.acc').out.toString(),
  );
  assert.deepEqual(json.incomplete, { shards: 4, missing: 1 });
  const csv = good(...estimate, '--incomplete', '--format', 'csv', 'half.acc');
  assert.match(csv.err, /incomplete: 1 of 4 shards are missing/);
  const whole = good(...estimate, '--format', 'json', 'one.acc').out.toString();
  assert.equal(JSON.parse(whole).incomplete, undefined);
  assert.equal(good(...estimate, '--format', 'json', 'plain.acc').out.toString(), whole);
  bad(
    1,
    /incomplete: of the 4 shards/,
    'compare',
    '--recipe',
    'r.json',
    '--dictionary',
    'd.txt',
    'half.acc',
    'plain.acc',
  );
});

test('rows are merged apart and put together, with the bytes of a whole merge', () => {
  const parts = [1, 2, 3, 4].map((i) => `s4-${i}.acc`);
  const rows = (
    /** @type {string} */ range,
    /** @type {string} */ output,
    /** @type {string[]} */ ...files
  ) => good('merge', '--rows', range, '-o', output, ...files);
  rows('1-5', 'r1.acc', ...parts);
  rows('6-6', 'r2.acc', ...parts.slice(0, 2));
  rows('6-6', 'r2b.acc', ...parts.slice(2));
  good('merge', '-o', 'r2.acc', 'r2.acc', 'r2b.acc'); // the same rows are added
  rows('7-16', 'r3.acc', ...[...parts].reverse());
  assert.ok(bytes('r2.acc').length < 600);
  good('merge', '-o', 'joined.acc', 'r3.acc', 'r1.acc', 'r2.acc');
  assert.deepEqual(bytes('joined.acc'), bytes('one.acc'));
  rows('1-16', 'all.acc', ...parts);
  assert.deepEqual(bytes('all.acc'), bytes('one.acc'));
  const merge = ['merge', '-o', 'x.acc'];
  bad(1, /incomplete: no file holds rows 6-6 of 16/, ...merge, 'r1.acc', 'r3.acc');
  bad(1, /incomplete: no file holds rows 7-16 of 16/, ...merge, 'r1.acc', 'r2.acc');
  rows('5-16', 'r4.acc', ...parts);
  bad(1, /r1\.acc and r4\.acc both hold row 5/, ...merge, 'r1.acc', 'r4.acc');
  bad(1, /r2b\.acc does not count the same reports/, ...merge, 'r1.acc', 'r2b.acc', 'r3.acc');
  bad(1, /s4-1\.acc holds all rows/, ...merge, 'r1.acc', 's4-1.acc');
  bad(1, /both count shard/, ...merge, '--rows', '1-5', 's4-1.acc', 'again.acc');
  bad(2, /has 16 rows/, ...merge, '--rows', '9-17', ...parts);
  bad(2, /it holds rows 1-5/, ...merge, '--rows', '1-4', 'r1.acc');
  for (const range of ['0-3', '3-2', '3', 'a-b', '1-2-3', '-1-2'])
    bad(2, /--rows: not A-B/, ...merge, `--rows=${range}`, ...parts);
  for (const command of ['estimate', 'discover'])
    assert.notEqual(
      shoal([command, '--recipe', 'r.json', '--dictionary', 'd.txt', 'r1.acc']).code,
      0,
    );
  bad(
    1,
    /r1\.acc: incomplete: it holds only rows 1-5/,
    'estimate',
    '--recipe',
    'r.json',
    '--dictionary',
    'd.txt',
    '--incomplete',
    'r1.acc',
  );
  const plain = ['--rows', '2-3', '-o', 'p.acc', 'plain.acc']; // ids are united too
  good('merge', ...plain);
  good('merge', '--rows', '1-1', '-o', 'p1.acc', 'plain.acc');
  good('merge', '--rows', '4-16', '-o', 'p4.acc', 'plain.acc');
  good('merge', '-o', 'p0.acc', 'p.acc', 'p1.acc', 'p4.acc');
  assert.deepEqual(bytes('p0.acc'), bytes('plain.acc'));
});

/** A zstd frame of raw blocks, or of one byte that repeats. @param {Buffer} content @param {number} [repeat] */
function zstd(content, repeat = 0) {
  const size = repeat || content.length;
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
  head.writeUInt32LE(size, 5);
  /** @type {Buffer[]} */
  const blocks = [head];
  for (let at = 0; at < size; at += 1 << 17) {
    const some = Math.min(1 << 17, size - at);
    const block = Buffer.alloc(3);
    const last = at + some === size ? 1 : 0;
    block.writeUIntLE((some << 3) | (repeat ? 2 : 0) | last, 0, 3);
    blocks.push(block, repeat ? content.subarray(0, 1) : content.subarray(at, at + some));
  }
  return Buffer.concat(blocks);
}

test('batches in gzip and zstd are read as they are, and bombs take no memory', () => {
  const files = batches.map((name, i) => {
    if (i % 3 === 0) return name;
    const packed = i % 3 === 1 ? gzipSync(bytes(name)) : zstd(bytes(name));
    writeFileSync(at(`${name}.packed`), packed);
    return `${name}.packed`;
  });
  good('ingest', '--recipe', 'r.json', '--manifest', 'm1.man', '-o', 'packed.acc', ...files);
  assert.deepEqual(bytes('packed.acc'), bytes('one.acc'));
  const ingest = ['ingest', '--recipe', 'r.json', '-o'];
  const piped = shoal([...ingest, '-', '-'], gzipSync(Buffer.concat(batches.map(bytes))));
  assert.deepEqual(piped.out, bytes('plain.acc'));
  /** @param {string} name @param {Buffer} content @param {RegExp} says */
  const refuse = (name, content, says) => {
    writeFileSync(at(name), content);
    bad(5, says, ...ingest, 'x.acc', name);
    rmSync(at(name));
  };
  const gz = gzipSync(bytes('b0.batch'));
  const zst = zstd(bytes('b0.batch'));
  for (let n = 4; n < gz.length; n += 41)
    refuse('cut', gz.subarray(0, n), /cut: (the compressed bytes end too early|batch 1: )/);
  for (let n = 4; n < zst.length; n += 41)
    refuse('cut', zst.subarray(0, n), /cut: (the compressed bytes end too early|batch 1: )/);
  const flipped = Buffer.from(gz);
  flipped[gz.length >> 1] ^= 16;
  refuse('flipped', flipped, /flipped: /);
  refuse(
    'tail',
    Buffer.concat([zst, Buffer.from('tail of this')]),
    /the compressed bytes are damaged/,
  );
  refuse(
    'lines',
    gzipSync(bytes('lines.ndjson')),
    /holds no batches; only batches may be compressed/,
  );
  const wide = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 15 << 3, 1, 0, 0]); // a window of 2^25
  refuse('wide', wide, /wide: the window of zstd is larger than 16 MiB/);
  // 1 GiB of zeros behind a header that is good, and nothing but zeros.
  refuse('bomb', zstd(Buffer.from([0]), 16 << 20), /holds no batches/);
  const long = Buffer.from(bytes('b0.batch').subarray(0, 88));
  refuse('bomb', Buffer.concat([zstd(long), zstd(Buffer.from([0]), 16 << 20)]), /batch 1: /);
});

test('accumulators that older versions wrote keep their bytes', () => {
  const golden = join(root, 'tests/aggregator/golden');
  for (const [name, version] of /** @type {const} */ ([
    ['cms.acc', 1],
    ['cms_claims.acc', 3],
    ['joint_claims.acc', 3],
    ['cms_shard.acc', 4],
  ])) {
    const old = readFileSync(join(golden, name));
    assert.equal(old.readUInt32LE(8), version);
    good('merge', '-o', 'old.acc', join(golden, name));
    assert.deepEqual(bytes('old.acc'), old, name);
  }
  const manifest = ['manifest', 'print', '--format', 'json', join(golden, 'cms.man')];
  assert.deepEqual(JSON.parse(good(...manifest).out.toString()), {
    manifest: '7634ea498975b514baee1bf8c1b9985f402bd9c3c5b11690ae277fedad51e7a9',
    version: 1,
    recipe: 'c3ca71941942bc3aa5528aa477a9ac9482973d1f507aef9b49bb834b4cbe5eb6',
    generation: 1,
    batches: 2,
    has_version_1: false,
    earlier: [],
  });
  bad(
    2,
    /it keeps records, which have no rows/,
    'merge',
    '--rows',
    '1-1',
    '-o',
    'x.acc',
    join(golden, 'joint_claims.acc'),
  );
});

test('a result is imported once, as a block of a day that is not released', () => {
  const day = (/** @type {number} */ from) =>
    new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10);
  const into = (/** @type {string} */ date) => [
    ...['store', 'import', '--store', 'store', '--recipe', 'r.json', '--period', date],
  ];
  mkdirSync(at('store'));
  bad(1, /half\.acc: incomplete: of the 4 shards/, ...into(day(-9)), 'half.acc');
  bad(1, /plain\.acc: it does not count by manifests/, ...into(day(-9)), 'plain.acc');
  bad(3, /two\.acc: it has 100 reports, and a block has 300 at least/, ...into(day(-9)), 'two.acc');
  bad(2, /the day has not come/, ...into(day(1)), 'one.acc');
  bad(2, /--period: not a day/, ...into('2026-W02'), 'one.acc');
  assert.match(
    good(...into(day(-9)), 'one.acc').out.toString(),
    /^imported fish: 1200 records of 1 manifests as block 1/,
  );
  bad(1, /one\.acc: manifest [0-9a-f]{64} was imported before/, ...into(day(-8)), 'one.acc');
  bad(1, /united\.acc: manifest [0-9a-f]{64} was imported before/, ...into(day(-8)), 'united.acc');
  const more = Array.from({ length: 8 }, (_, i) => `more${i}.batch`);
  more.forEach((name) => simulate('r.json', name, name));
  const make = ['manifest', 'make', '--recipe', 'r.json', '-o'];
  good(...make, 'm3.man', '--after', 'm1.man', '--after', 'm2.man', ...more);
  good(...make, 'stray.man', ...more);
  const ingest = ['ingest', '--recipe', 'r.json', '-o'];
  good(...ingest, 'three.acc', '--manifest', 'm3.man', ...more);
  good(...ingest, 'stray.acc', '--manifest', 'stray.man', ...more);
  bad(
    1,
    /may list batches of manifest [0-9a-f]{64}, which was imported/,
    ...into(day(-7)),
    'stray.acc',
  );
  bad(3, /is released, and no released day changes/, ...into(day(-9)), 'three.acc');
  // The late generation was too small to be a block of its own: it waits for the next one.
  good('merge', '-o', 'next.acc', 'three.acc', 'two.acc');
  good(...into(day(-7)), 'next.acc');
  assert.deepEqual(readdirSync(at('store/accumulators')).sort(), ['c1-b1-g1.acc', 'c1-b2-g1.acc']);
  good('store', 'backup', '--store', 'store', '-o', 'store.backup');
  good('store', 'restore', '--store', 'restored', 'store.backup');
  const again = ['store', 'import', '--store', 'restored', '--recipe', 'r.json'];
  bad(1, /was imported before/, ...again, '--period', day(0), 'next.acc');
  good('store', 'forget', '--store', 'restored', 'fish');
  bad(1, /was imported before/, ...again, '--period', day(0), 'next.acc');
});
