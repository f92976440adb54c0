// SPDX-License-Identifier: Apache-2.0
// `run` in memory: what it takes, what it gives back, what it leaves alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryFile, MemoryWasi, normalize } from '../js/memory_wasi.js';
import { loadModule, run } from '../js/node.js';
import { SIMULATE, bytes, counts, dictionary, recipes, text } from './support.mjs';

const recipe = bytes(JSON.stringify(recipes.cms));
const inputs = {
  'recipe.json': recipe,
  'counts.tsv': bytes(counts),
  'words.txt': bytes(dictionary),
};

test('every import of the module is there', async () => {
  const wanted = WebAssembly.Module.imports(await loadModule());
  const { imports } = new MemoryWasi({
    args: [],
    files: new Map(),
    stdin: new Uint8Array(),
    now: () => 0,
    random() {},
  });
  for (const { module, name } of wanted) {
    assert.equal(module, 'wasi_snapshot_preview1');
    assert.ok(name in imports, `${name} is missing`);
  }
});

test('gives back what was written and nothing else, and changes no input', async () => {
  const files = Object.fromEntries(
    Object.entries(inputs).map(([name, data]) => [name, data.slice()]),
  );
  const made = await run([...SIMULATE, '-o', 'out/reports'], { files });
  assert.equal(made.code, 0, text(made.stderr));
  assert.deepEqual(Object.keys(made.files), ['out/reports']);
  assert.equal(made.stdout.length, 0);
  for (const [name, data] of Object.entries(inputs)) assert.deepEqual(files[name], data);
  const first = await run(['ingest', '--recipe', 'recipe.json', '-o', 'acc', 'out/reports'], {
    files: { ...files, ...made.files },
  });
  const before = first.files.acc.slice();
  const more = await run(['ingest', '--recipe', 'recipe.json', '--append', '-o', 'acc', '-'], {
    files: { ...files, acc: first.files.acc },
    stdin: (
      await run(
        [...SIMULATE, '--seed', 'b', '-o', '-'].filter((_, i) => i !== 7 && i !== 8),
        { files },
      )
    ).stdout,
  });
  assert.equal(more.code, 0, text(more.stderr));
  assert.deepEqual(Object.keys(more.files), ['acc']);
  assert.deepEqual(first.files.acc, before);
  assert.notDeepEqual(more.files.acc, before);
});

test('streams, exit codes, and names in any script', async () => {
  const check = await run(['recipe', 'check', '/rezept ß.json'], {
    files: { './rezept ß.json': recipe },
  });
  assert.equal(check.code, 0, text(check.stderr));
  assert.match(text(check.stdout), /t-cms/);
  const missing = await run(['recipe', 'check', 'größe.json']);
  assert.equal(missing.code, 5);
  assert.match(text(missing.stderr), /größe\.json/);
  assert.equal((await run(['estimate', '--surprise'])).code, 2);
  const outside = await run(['recipe', 'check', '../../etc/passwd'], {
    files: { 'etc/passwd': recipe },
  });
  assert.equal(outside.code, 5);
  const piped = await run([...SIMULATE, '-o', '-'], { files: inputs });
  const written = await run([...SIMULATE, '-o', 'reports'], { files: inputs });
  assert.deepEqual(piped.stdout, written.files.reports);
  await assert.rejects(run(['recipe', 'check', 'a\0b']), TypeError);
  await assert.rejects(run([], { files: { '..': recipe } }), TypeError);
});

test('randomness and clock are given', async () => {
  const fresh = (/** @type {number} */ byte) =>
    run(['recipe', 'new', '--id', 'x', '--expires', '2099-01-01'], {
      random: (data) => void data.fill(byte),
      now: () => 0,
    });
  const seedOf = async (/** @type {number} */ byte) =>
    JSON.parse(text((await fresh(byte)).stdout)).seed;
  assert.equal(await seedOf(0xab), 'ab'.repeat(32));
  assert.equal(await seedOf(1), '01'.repeat(32));
});

test('runs side by side do not see each other', async () => {
  const results = await Promise.all(
    ['a', 'b'].map((seed) => run([...SIMULATE.slice(0, -1), seed, '-o', '-'], { files: inputs })),
  );
  const alone = await run([...SIMULATE.slice(0, -1), 'b', '-o', '-'], { files: inputs });
  assert.deepEqual(results[1].stdout, alone.stdout);
  assert.notDeepEqual(results[0].stdout, alone.stdout);
});

test('a large accumulator is written in linear time', async () => {
  // 64 MiB in 4 KiB writes: copying the file for each would take minutes.
  const large = { ...recipes.cms, parameters: { epsilon: 4, k: 16384, m: 1024 } };
  const files = { ...inputs, 'recipe.json': bytes(JSON.stringify(large)) };
  const reports = await run([...SIMULATE, '-o', 'reports'], { files });
  const start = performance.now();
  const { code, files: out } = await run(
    ['ingest', '--recipe', 'recipe.json', '-o', 'acc', 'reports'],
    { files: { ...files, ...reports.files } },
  );
  assert.equal(code, 0);
  assert.ok(out.acc.length > 1 << 26);
  assert.ok(performance.now() - start < 20000);
});

test("a file grows, and its first bytes stay the caller's", () => {
  const given = bytes('abc');
  const file = new MemoryFile(given);
  assert.equal(file.content(), given);
  file.write(0, bytes('A'));
  assert.equal(text(given), 'abc');
  file.write(2, bytes('XYZ'));
  assert.equal(text(file.content()), 'AbXYZ');
  assert.equal(text(given), 'abc');
  file.write(8, bytes('!'));
  assert.equal(text(file.content()), 'AbXYZ\0\0\0!');
  assert.equal(text(file.read(7, 100)), '\0!');
  assert.equal(file.read(100, 1).length, 0);
});

test('paths are normalized', () => {
  assert.equal(normalize('/a//./b/../c'), 'a/c');
  assert.equal(normalize('./'), '');
  assert.equal(normalize('a/../..'), null);
});
