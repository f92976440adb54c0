// SPDX-License-Identifier: Apache-2.0
// What libshoal_aggregate promises to programs that were built before: the symbols that it exports,
// their declarations, and the libraries that it needs. And that a program finds it where it is
// installed, by pkg-config and by CMake. `node library.test.mjs --write` writes abi.txt anew, which
// goes with a new SONAME unless functions were only added, or members at the end of a struct with a
// size, whose first size is still taken.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const build = process.env.SHOAL_BUILD ?? join(root, 'build/release');
const library = join(build, 'aggregator/libshoal_aggregate.so');
const folder = join(root, 'aggregator/lib');
const stored = fileURLToPath(new URL('abi.txt', import.meta.url));

/** @param {string} command @param {string[]} args @param {object} [options] @returns {string} */
const run = (command, args, options) =>
  /** @type {string} */ (execFileSync(command, args, { encoding: 'utf8', ...options }));

/** The header without comments and attributes, one declaration a line. @param {string} header */
function declarationsOf(header) {
  return header
    .replace(/\/\/.*/g, '')
    .replace(/#ifdef __cplusplus[^]*?#endif/g, '')
    .replace(/#(?:ifn?def|if|else|endif|include)\b.*/g, '')
    .replace(/#define SHOAL_AGG_(?:API|MUST_CHECK)\b.*|#define SHOAL_AGGREGATE_H/g, '')
    .replace(/\bSHOAL_AGG_(?:API|MUST_CHECK)\b/g, '')
    .replace(/#define (\w+) (\S+).*/g, '#define $1 $2;')
    .split(/;(?![^{]*\})/)
    .map((text) => text.replace(/\s+/g, ' ').replace(/\( /g, '(').trim())
    .filter((text) => text !== '')
    .map((text) => `${text};`);
}

const declared = declarationsOf(readFileSync(join(folder, 'shoal_aggregate.h'), 'utf8'));
const functions = declared
  .flatMap((text) => text.match(/\bshoal_agg_\w+(?=\()/)?.[0] ?? [])
  .filter((name) => name !== 'shoal_agg_log')
  .sort();

if (process.argv.includes('--write')) writeFileSync(stored, `${declared.join('\n')}\n`);

test('the header declares what programs were built with', () => {
  assert.deepEqual(declared, readFileSync(stored, 'utf8').trimEnd().split('\n'));
  assert.ok(functions.length >= 36, String(functions.length));
});

test('a changed declaration is seen', () => {
  const header = readFileSync(join(folder, 'shoal_aggregate.h'), 'utf8');
  for (const [from, to] of [
    ['uint32_t exit_code', 'uint64_t exit_code'],
    ['const uint8_t *claim', 'uint8_t *claim'],
    ['SHOAL_AGG_COHORT 103u', 'SHOAL_AGG_COHORT 104u'],
  ]) {
    assert.ok(header.includes(from));
    assert.notDeepEqual(declarationsOf(header.replace(from, to)), declared);
  }
});

test('the library exports the functions of the header and nothing else', () => {
  const exported = run('nm', ['-D', '--defined-only', library])
    .split('\n')
    .flatMap((line) => line.match(/ [A-Z] (\w+)@@SHOAL_AGGREGATE_0$/)?.[1] ?? []);
  const all = run('nm', ['-D', '--defined-only', library]).trim().split('\n');
  assert.deepEqual(exported.filter((name) => name.startsWith('shoal_agg_')).sort(), functions);
  assert.equal(all.length, functions.length + 1); // and the name of the version itself
});

test('the library needs no server and no network, and has no state that calls write', () => {
  const head = run('readelf', ['-d', library]);
  assert.match(head, /SONAME.*\[libshoal_aggregate\.so\.0\]/);
  const needed = [...head.matchAll(/NEEDED.*\[(lib\w+)/g)].map(([, name]) => name);
  assert.deepEqual(
    needed.filter(
      (name) =>
        !['libcjson', 'libutf8proc', 'libm', 'libcrypto', 'libzstd', 'libz', 'libc'].includes(name),
    ),
    [],
  );
  const written = run('nm', [library])
    .split('\n')
    .flatMap((line) => line.match(/ [bB] (\w+)$/)?.[1] ?? [])
    .filter((name) => !/^(__cpu_|completed\.|_edata|_end|__bss_start)/.test(name));
  assert.deepEqual(written.sort(), ['all_rows', 'current']); // of `shoal` itself; one a thread
});

const scratch = mkdtempSync(join(tmpdir(), 'shoal-library-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

test('a program finds the installed library by pkg-config and by CMake', () => {
  const prefix = join(scratch, 'prefix');
  run('cmake', ['--install', build, '--component', 'aggregate', '--prefix', prefix]);
  const libdir = run('find', [prefix, '-name', 'pkgconfig']).trim();
  const lib = join(libdir, '..');
  const doc = readFileSync(join(root, 'docs/library.md'), 'utf8');
  const program =
    doc.match(/```c\n([\s\S]*?)```/)?.[1] ?? assert.fail('docs/library.md: no example');
  writeFileSync(join(scratch, 'example.c'), program);
  const flags = run('pkg-config', ['--cflags', '--libs', 'shoal-aggregate'], {
    env: { ...process.env, PKG_CONFIG_PATH: libdir },
  });
  run('cc', [
    '-Wall',
    '-Werror',
    '-o',
    join(scratch, 'example'),
    join(scratch, 'example.c'),
    ...flags.trim().split(/\s+/),
  ]);

  const recipe = join(scratch, 'pets.json');
  const batches = join(scratch, 'pets.batches');
  writeFileSync(
    recipe,
    JSON.stringify({
      recipe: 'pets',
      analysis: 'a',
      stream: 's',
      value: 'item',
      mechanism: 'onehot-asymmetric',
      parameters: { epsilon: 2, values: ['ant', 'bee'] },
      limit: { per_day: 1 },
      expires: '2030-01-01',
    }),
  );
  writeFileSync(join(scratch, 'c.tsv'), 'ant\t3\nbee\t1\n');
  const shoal = join(build, 'shoal');
  run(shoal, [
    'simulate',
    '--recipe',
    recipe,
    '--counts',
    join(scratch, 'c.tsv'),
    '--devices',
    '5000',
    '--seed',
    '1',
    '-o',
    batches,
  ]);
  const env = { ...process.env, LD_LIBRARY_PATH: lib };
  const printed = run(join(scratch, 'example'), [recipe, batches], { env });
  assert.match(printed, /^ant\s+3\d{3} \+- \d+\nbee\s+1\d{3} \+- \d+\n$/);

  const consumer = join(scratch, 'consumer');
  mkdirSync(consumer);
  writeFileSync(
    join(consumer, 'CMakeLists.txt'),
    `cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(shoal-aggregate REQUIRED)
add_executable(example ${join(scratch, 'example.c')})
target_link_libraries(example PRIVATE shoal::aggregate)
`,
  );
  run('cmake', ['-S', consumer, '-B', join(consumer, 'build'), `-DCMAKE_PREFIX_PATH=${prefix}`]);
  run('cmake', ['--build', join(consumer, 'build')]);
  assert.equal(run(join(consumer, 'build/example'), [recipe, batches]), printed);
  // The static library needs what it is made of, and no file of the shared one.
  run('cc', [
    '-o',
    join(scratch, 'static'),
    join(scratch, 'example.c'),
    `-I${join(prefix, 'include')}`,
    join(lib, 'libshoal_aggregate.a'),
    '-lcjson',
    '-lzstd',
    '-lz',
    '-lutf8proc',
    '-lcrypto',
    '-lm',
    '-pthread',
  ]);
  assert.equal(run(join(scratch, 'static'), [recipe, batches]), printed);
});
