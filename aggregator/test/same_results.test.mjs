// SPDX-License-Identifier: Apache-2.0
// The native command, the WASI command under Node, and `run` in memory: the same seed gives the same bytes, and the same
// accumulator the same estimate, numbers to 1e-9.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../js/node.js';
import {
  SIMULATE,
  native,
  recipes,
  succeed,
  temporaryFolder,
  wasi,
  writeInputs,
} from './support.mjs';

/** Equal structures, numbers to 1e-9 relative. @param {any} a @param {any} b @param {string} at */
function assertClose(a, b, at) {
  if (typeof a === 'number' && typeof b === 'number') {
    assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)), `${at}: ${a} and ${b}`);
  } else if (a !== null && typeof a === 'object') {
    assert.deepEqual(Object.keys(a), Object.keys(b), at);
    for (const key of Object.keys(a)) assertClose(a[key], b[key], `${at}.${key}`);
  } else {
    assert.equal(a, b, at);
  }
}

/** Every file that a collection goes through, and the estimate. @param {string[]} command @param {string} folder */
function collect(command, folder) {
  const read = (/** @type {string} */ name) => readFileSync(join(folder, name));
  const go = (/** @type {string[]} */ ...args) => succeed(command, args, { cwd: folder }).stdout;
  go(...SIMULATE, '-o', 'reports', '--truth', 'truth.tsv');
  go(...SIMULATE, '-o', 'reports.ndjson', '--format', 'ndjson');
  go('ingest', '--recipe', 'recipe.json', '-o', 'acc', 'reports');
  go('ingest', '--recipe', 'recipe.json', '-o', 'acc2', 'reports.ndjson');
  go('merge', '-o', 'sum', 'acc', 'acc2');
  const json = go(
    'estimate',
    '--recipe',
    'recipe.json',
    '--dictionary',
    'words.txt',
    '--format',
    'json',
    'sum',
  ).toString();
  const files = ['reports', 'truth.tsv', 'reports.ndjson', 'acc', 'acc2', 'sum'].map((name) => [
    name,
    read(name),
  ]);
  return { files: Object.fromEntries(files), estimate: JSON.parse(json) };
}

/** The same through `run`. @param {string} folder */
async function collectInMemory(folder) {
  const given = ['recipe.json', 'counts.tsv', 'words.txt'].map((name) => [
    name,
    new Uint8Array(readFileSync(join(folder, name))),
  ]);
  /** @type {{[name: string]: Uint8Array}} */
  const files = Object.fromEntries(given);
  const go = async (/** @type {string[]} */ ...args) => {
    const result = await run(args, { files });
    assert.equal(result.code, 0, new TextDecoder().decode(result.stderr));
    Object.assign(files, result.files);
    return new TextDecoder().decode(result.stdout);
  };
  await go(...SIMULATE, '-o', 'reports', '--truth', 'truth.tsv');
  await go(...SIMULATE, '-o', 'reports.ndjson', '--format', 'ndjson');
  await go('ingest', '--recipe', 'recipe.json', '-o', 'acc', 'reports');
  await go('ingest', '--recipe', 'recipe.json', '-o', 'acc2', 'reports.ndjson');
  await go('merge', '-o', 'sum', 'acc', 'acc2');
  const json = await go(
    'estimate',
    '--recipe',
    'recipe.json',
    '--dictionary',
    'words.txt',
    '--format',
    'json',
    'sum',
  );
  return { files, estimate: JSON.parse(json) };
}

for (const mechanism of Object.keys(recipes)) {
  test(`${mechanism}: native, WASI and memory agree`, async (t) => {
    const [here, there] = [temporaryFolder(t), temporaryFolder(t)];
    for (const folder of [here, there]) writeInputs(folder, mechanism);
    const expected = collect(native, here);
    assert.equal(expected.estimate.n, 10000);
    assert.equal(expected.estimate.rows.length, 40);
    for (const got of [collect(wasi, there), await collectInMemory(there)]) {
      for (const [name, data] of Object.entries(expected.files)) {
        assert.ok(
          Buffer.compare(Buffer.from(got.files[name]), /** @type {Buffer} */ (data)) === 0,
          `${name} differs`,
        );
      }
      assertClose(got.estimate, expected.estimate, 'estimate');
    }
  });
}

// Its tables of binomial numbers are made with + - * / alone, and its other draws call log and sqrt: the same bits on these builds.
test('a run over epochs: native and WASI agree', (t) => {
  const results = [native, wasi].map((command) => {
    const folder = temporaryFolder(t);
    const go = (/** @type {string[]} */ ...args) => succeed(command, args, { cwd: folder }).stdout;
    const shape = [
      '--users',
      '4000',
      '--epochs',
      '6',
      '--samples',
      '20000',
      '--epsilon',
      '12',
      '--expires',
      '2099-12-31',
    ];
    writeFileSync(
      join(folder, 'share.tsv'),
      '1\t0\t1\n1\t1\t1\n3\t0\t1\n3\t1\t9\n5\t0\t5\n5\t0.5\t2\n5\t1\t3\n',
    );
    go('recipe', 'new', '--id', 'share', '--mechanism', 'thresh', ...shape, '-o', 'share.json');
    go('simulate', '--recipe', 'share.json', '--counts', 'share.tsv', '--seed', 's', '-o', 'run');
    const records = ['0001.acc', '0003.recipe.json', '0004.acc', '0006.acc', 'simulation.json'].map(
      (name) => readFileSync(join(folder, 'run', name)),
    );
    return {
      records: Buffer.concat(records),
      series: JSON.parse(go('track', 'run', '--truth', 'share.tsv', '--format', 'json').toString()),
    };
  });
  assert.ok(Buffer.compare(results[0].records, results[1].records) === 0, 'the files differ');
  assert.deepEqual(
    results[0].series.rows.map((/** @type {{update: boolean}} */ row) => row.update),
    [false, false, true, false, true, false],
  );
  assertClose(results[1].series, results[0].series, 'series');
});

test('what hangs together: native, WASI and memory agree', async (t) => {
  const recipe = [
    'recipe',
    'new',
    '--id',
    'pair',
    '--expires',
    '2099-12-31',
    '--variable',
    'a=rappor:3:6',
    '--variable',
    'b=grr:2:3',
    '-o',
    'pair.json',
  ];
  const counts = Array.from({ length: 18 }, (_, i) => `${i % 6}\t${i % 3}\t${1 + ((7 * i) % 11)}\n`)
    .slice(0, 6)
    .join('');
  const [first, ...steps] = [
    [
      'simulate',
      '--recipe',
      'pair.json',
      '--counts',
      'pair.tsv',
      '--devices',
      '5000',
      '--seed',
      's',
      '-o',
      'pair.batch',
    ],
    ['ingest', '--recipe', 'pair.json', '-o', 'pair.acc', 'pair.batch'],
    ['joint', '--recipe', 'pair.json', '--top', '4', '--format', 'json', 'pair.acc'],
  ];
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'pair.tsv'), counts);
  succeed(native, recipe, { cwd: folder });
  const given = Object.fromEntries(
    ['pair.json', 'pair.tsv'].map((name) => [
      name,
      new Uint8Array(readFileSync(join(folder, name))),
    ]),
  );
  const results = [native, wasi].map((command) => {
    const own = temporaryFolder(t);
    for (const [name, bytes] of Object.entries(given)) writeFileSync(join(own, name), bytes);
    return (
      [first, ...steps]
        .map((args) => succeed(command, args, { cwd: own }).stdout.toString())
        .at(-1) ?? ''
    );
  });
  /** @type {{[name: string]: Uint8Array}} */
  const files = { ...given };
  for (const args of [first, ...steps]) {
    const done = await run(args, { files });
    assert.equal(done.code, 0, new TextDecoder().decode(done.stderr));
    Object.assign(files, done.files);
    if (args[0] === 'joint') results.push(new TextDecoder().decode(done.stdout));
  }
  const [expected, ...others] = results.map((text) => JSON.parse(text));
  assert.equal(expected.n, 5000);
  for (const other of others) assertClose(other, expected, 'joint');
});
