// SPDX-License-Identifier: Apache-2.0
// The parts of a trial: what is made of recipes and folders, what the crowd does, and who may post.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { load } from 'shoal-client/node';
import { copying, habitsOf, isInBucket, waveOf } from '../crowd.js';
import { readFolder } from '../folder.js';
import { findProgram } from '../native.js';
import { readOptions } from '../options.js';
import { withTrialClient } from '../page_server.js';
import { startReceiver } from '../receiver.js';
import { makeTemporary } from '../temporary.js';
import { makeTrial } from '../trial.js';
import { command, makeFolder, startDev, wordsRecipe } from './support.mjs';

test('a trial keeps the mechanism and the rule, and loses wait, cohort and signature', async () => {
  const core = await load();
  const made = makeTrial({
    ...wordsRecipe(),
    send: { sample: 0.1, delay_s: 3600, token: 'https://issuer.example' },
    cohort: { minimum: 5000, epsilon: 1, delta: '1e-6' },
    release: { threshold: 100 },
    signature: { key: 'ab'.repeat(32), ed25519: 'cd'.repeat(64) },
  });
  const { json, changes } = /** @type {any} */ (made);
  assert.deepEqual(json, {
    ...wordsRecipe(),
    recipe: 'words-1-trial',
    trial: 1,
    limit: { per_day: 1000 },
    send: { fresh: 'allow', delay_s: 0 },
    batch: { minimum: 20, max_age_s: 1 },
    cohort: { minimum: 50 },
    block: { minimum: 50, tick_s: 1 },
  });
  assert.equal(core.recipe(json).json.trial, 1);
  assert.deepEqual(changes, [
    'every event is reported, not 10 % of them',
    'reports spend no token',
    'you may send 1000 reports a day, not 1',
  ]);
  const long = makeTrial(wordsRecipe({ recipe: 'w'.repeat(64) }));
  assert.equal(core.recipe(/** @type {any} */ (long).json).id.length, 64);
});

test('what cannot be tried says why', () => {
  for (const [more, words] of /** @type {[any, RegExp][]} */ ([
    [{ recipe: 'shoal-probe' }, /probe/],
    [{ policy: 'ab' }, /query/],
    [{ split_by: [] }, /parts/],
    [{ aggregation: { protocol: 'dap' } }, /two servers/],
    [{ variables: [] }, /several variables/],
    [{ parameters: { epochs: 4 } }, /epochs/],
    [{ mechanism: 'trie' }, /rounds/],
  ]))
    assert.match(/** @type {any} */ (makeTrial(wordsRecipe(more))).why, words);
});

test('a folder names what is wrong in it', async (t) => {
  for (const [files, words] of /** @type {[any, RegExp][]} */ ([
    [{ 'recipes/words-1.json': '{' }, /words-1\.json: is not JSON/],
    [{ 'recipes/words-1.json': wordsRecipe({ mechanism: 'x' }) }, /words-1\.json: mechanism/],
    [{ 'recipes/words-1.json': wordsRecipe({ extra: 1 }) }, /words-1\.json: extra/],
    [
      { 'recipes/words-1.json': wordsRecipe({ expires: '2020-01-01' }) },
      /expires: 2020-01-01 has passed/,
    ],
    [
      { 'recipes/words-1.json': wordsRecipe({ recipe: 'shoal-probe' }) },
      /no recipe can be tried: words-1\.json: it is the probe/,
    ],
  ]))
    await assert.rejects(readFolder(await makeFolder(t, files), load), words);
  await assert.rejects(readFolder('/nowhere/at/all', load), /there is no such folder/);
  await assert.rejects(readFolder(import.meta.dirname ?? '.', load), /there is no recipe/);
  const folder = await readFolder(await makeFolder(t), load);
  assert.equal(folder.hasRelay && folder.hasPage, true);
  assert.deepEqual(folder.recipes[0].words.slice(0, 2), ['fish', 'shoal']);
});

test('the command line is read exactly', () => {
  assert.deepEqual(readOptions([]), {
    folder: '.',
    isNative: false,
    port: null,
    share: 0.1,
    devices: null,
    relay: null,
    hasCrowd: true,
  });
  for (const [text, n] of /** @type {[string, number][]} */ ([
    ['4000', 4000],
    ['1e5', 100_000],
    ['10k', 10_000],
    ['1M', 1_000_000],
    ['0.5M', 500_000],
  ]))
    assert.equal(/** @type {any} */ (readOptions(['--devices', text])).devices, n);
  for (const args of [
    ['--devices', '0'],
    ['--devices', '2M'],
    ['--devices', '1.5'],
    ['--port', '0'],
    ['--port', '70000'],
    ['--share', '1.1'],
    ['--share', '-1'],
    ['--share', 'x'],
    ['--relay', '--no-relay'],
    ['a', 'b'],
    ['--shar', '1'],
  ])
    assert.throws(() => readOptions(args), { name: 'Error' }, args.join(' '));
  const wrong = spawnSync(process.execPath, [command, '--devices', '0'], { encoding: 'utf8' });
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /^shoal-dev: --devices 0: a whole number .*\n$/);
});

test('the crowd copies at the stated share, and in a wave that shows', () => {
  const habits = /** @type {[string, number][]} */ ([
    ['a', 3],
    ['b', 1],
  ]);
  const share = (/** @type {[string, number][]} */ counts, /** @type {string} */ value) =>
    (counts.find(([each]) => each === value)?.[1] ?? 0) / counts.reduce((sum, [, n]) => sum + n, 0);
  assert.ok(Math.abs(share(copying(habits, 'new', 0.1), 'new') - 0.1) < 1e-4);
  assert.ok(Math.abs(share(copying(habits, 'a', 0.1), 'a') - 0.775) < 1e-4);
  assert.ok(Math.abs(share(copying(habits, 'new', 1), 'new') - 1) < 1e-4);
  const wave = waveOf(30, 0.1, 5000);
  const stderrThen = 30 * Math.sqrt((5000 + wave) / 5000);
  assert.ok(Math.abs((0.1 * wave) / stderrThen - 5) < 0.01, 'five standard errors of all reports');
  assert.equal(waveOf(30, 0.5, 5000), 500);
  assert.equal(waveOf(0, 0.5, 0), 500);
  assert.equal(waveOf(1e6, 0.1, 5000), 12_000);
  const numbers = habitsOf(
    /** @type {any} */ ({ kind: 'mean', words: [], json: { parameters: { low: -5, high: 5 } } }),
  );
  assert.ok(numbers.every(([value]) => Number(value) >= -5 && Number(value) <= 5));
  assert.ok(isInBucket('[0, 10)', 0) && !isInBucket('[0, 10)', 10) && isInBucket('[90, 100]', 100));
});

test('however a page imports the client, it gets that of the trial', () => {
  for (const text of [
    "import { start } from './shoal/loader.js';",
    "import { start } from '../loader.js'",
    "import {start} from 'shoal-client/loader';",
    'import { start } from "https://www.example.org/shoal/loader.js";',
    "const { start } = await import('shoal-client/loader');",
  ])
    assert.match(withTrialClient(text), /["']\/trial\/client\.js["']/, text);
  for (const text of [
    "import { a } from './other.js';",
    "import './downloader.js';",
    "const a = './loader.js';",
  ])
    assert.equal(withTrialClient(text), text);
});

test('only the edge of the trial posts batches, and each counts once', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'dev-receiver-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { recipes } = await readFolder(await makeFolder(t), load);
  /** @type {any[]} */
  const updates = [];
  const errors = /** @type {Error[]} */ ([]);
  const receiver = await startReceiver({
    recipes,
    folder,
    secret: 'a secret of the trial alone',
    onUpdate: (updated) => updates.push(updated),
    onError: (error) => errors.push(error),
  });
  t.after(() => receiver.close());
  const recipe = (await load()).recipe(recipes[0].json);
  const batch = (/** @type {number} */ n, /** @type {number} */ id) => {
    const records = new Uint8Array(n * recipe.recordSize);
    for (let i = 0; i < n; i++)
      recipe.randomizeInto(
        records,
        i * recipe.recordSize,
        'fish',
        crypto.getRandomValues(new Uint8Array(32)),
      );
    return recipe.sealBatch(records, new Uint8Array(16).fill(id));
  };
  const post = async (
    /** @type {any} */ body,
    secret = 'a secret of the trial alone',
    path = 'v1/batches',
  ) => {
    const response = await fetch(`${receiver.url}/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${secret}` },
      body,
    });
    return [response.status, (await response.json()).status];
  };
  assert.deepEqual(await post(batch(30, 1), 'a secret of somebody else'), [401, undefined]);
  assert.deepEqual(await post(batch(30, 1), undefined, 'v1/other'), [404, undefined]);
  assert.deepEqual(await post(new Uint8Array(100)), [404, undefined]);
  assert.deepEqual(await post(batch(30, 1)), [201, 'stored']);
  assert.deepEqual(await post(batch(30, 1)), [200, 'known']);
  // 30 reports are fewer than the smallest cohort, 50: nothing is folded or shown.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.deepEqual(updates, []);
  assert.deepEqual(await post(batch(25, 2)), [201, 'stored']);
  while (updates.length === 0 && errors.length === 0)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(errors, []);
  assert.equal(updates[0].result.n, 55);
  assert.equal(updates[0].folded, 55);
});

test('a later trial removes what a killed one left, and nothing of one that runs', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'dev-parent-'));
  t.after(() => rm(parent, { recursive: true, force: true }));
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  for (const name of [`shoal-dev-${gone}-abc`, `shoal-dev-${process.ppid}-abc`, 'shoal-dev-notes'])
    await mkdir(join(parent, name));
  const temporary = await makeTemporary(parent);
  assert.deepEqual((await readdir(parent)).length, 3);
  assert.ok(!(await readdir(parent)).includes(`shoal-dev-${gone}-abc`));
  await temporary.remove();
  assert.equal((await readdir(parent)).length, 2);
});

test('--native finds a program, and passes over the commands in WebAssembly', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'dev-path-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const name = process.platform === 'win32' ? 'shoal.exe' : 'shoal';
  for (const bin of ['node_modules/.bin', 'bin']) {
    await mkdir(join(folder, bin), { recursive: true });
    await writeFile(join(folder, bin, name), '', { mode: 0o755 });
  }
  const [wasi, native] = ['node_modules/.bin', 'bin'].map((bin) => join(folder, bin));
  assert.equal(await findProgram({ PATH: wasi }), null);
  assert.equal(await findProgram({ PATH: [wasi, native].join(':') }), join(native, name));
  assert.equal(await findProgram({ PATH: native, SHOAL_BIN: '/else/shoal' }), '/else/shoal');
});

const program =
  process.env.SHOAL_BIN ?? fileURLToPath(new URL('../../build/release/shoal', import.meta.url));
const skip = !existsSync(program) && `${program} is not built`;

test(
  'with --native, shoal serve takes the batches and ends with the trial',
  { skip },
  async (t) => {
    const folder = await makeFolder(t);
    const dev = await startDev(t, [folder, '--native', '--no-relay', '--devices', '300'], {
      SHOAL_BIN: program,
    });
    assert.match(dev.said, /page -> edge http:\S+ -> aggregator/);
    const [, edge] = /edge (http:\S+) -> aggregator/.exec(dev.said) ?? [];
    for (const end = Date.now() + 60_000; !/chart +words-1: \d+ reports, 10 rows/.test(dev.said);) {
      assert.ok(Date.now() < end, dev.said);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(await dev.stop('SIGTERM'), 0);
    await assert.rejects(fetch(`${edge}/healthz`));
    const left = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout;
    assert.ok(!left.includes(`shoal-dev-${dev.pid}-`), 'the server ended, too');
  },
);
