// SPDX-License-Identifier: Apache-2.0
// The `shoal` command under Node behaves like a command: exit codes, pipes, paths, quiet streams.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  SIMULATE,
  call,
  native,
  packageFolder,
  succeed,
  temporaryFolder,
  wasi,
  writeInputs,
} from './support.mjs';

test('exit codes and messages are those of the native command', (t) => {
  const cwd = temporaryFolder(t);
  writeInputs(cwd, 'cms');
  writeFileSync(join(cwd, 'bad.json'), '{"recipe":"x","surprise":1}');
  writeFileSync(join(cwd, 'bad.ndjson'), 'no report\n'.repeat(3));
  succeed(
    native,
    [
      'simulate',
      '--recipe',
      'recipe.json',
      '--counts',
      'counts.tsv',
      '--devices',
      '10',
      '--seed',
      'a',
      '-o',
      'few',
    ],
    { cwd },
  );
  succeed(native, ['ingest', '--recipe', 'recipe.json', '-o', 'few.acc', 'few'], { cwd });
  const cases = /** @type {[number, string[]][]} */ ([
    [0, ['--version']],
    [0, ['estimate', '--help']],
    [2, ['recipe', 'check', 'bad.json']],
    [2, []],
    [2, ['estimate', '--surprise']],
    [3, ['estimate', '--recipe', 'recipe.json', '--dictionary', 'words.txt', 'few.acc']],
    [4, ['ingest', '--recipe', 'recipe.json', '-o', 'x', 'bad.ndjson']],
    [5, ['estimate', '--recipe', 'missing.json', 'few.acc']],
  ]);
  for (const [code, args] of cases) {
    const expected = call(native, args, { cwd });
    assert.equal(expected.code, code, `native ${args}`);
    const got = call(wasi, args, { cwd });
    assert.equal(got.code, code, `${args}: ${got.stderr}`);
    if (args.length > 0) assert.equal(got.stderr, expected.stderr, String(args)); // bare `shoal` lists commands; here there is no serve
    assert.equal(got.stdout.toString(), expected.stdout.toString(), String(args));
  }
});

test('reports go through a pipe', (t) => {
  const cwd = temporaryFolder(t);
  writeInputs(cwd, 'cms');
  const shoal = wasi.map((part) => `'${part}'`).join(' ');
  const simulate = SIMULATE.map((part) => `'${part}'`).join(' ');
  const pipe = spawnSync(
    'bash',
    [
      '-c',
      `set -o pipefail; ${shoal} ${simulate} -o - | ${shoal} ingest --recipe recipe.json -o acc -`,
    ],
    { cwd },
  );
  assert.equal(pipe.status, 0, pipe.stderr.toString());
  succeed(native, [...SIMULATE, '-o', 'reports'], { cwd });
  succeed(native, ['ingest', '--recipe', 'recipe.json', '-o', 'native.acc', 'reports'], { cwd });
  assert.deepEqual(readFileSync(join(cwd, 'acc')), readFileSync(join(cwd, 'native.acc')));
});

test('names are relative to the working folder, absolute, through "..", links and any script', (t) => {
  const folder = temporaryFolder(t);
  const cwd = join(folder, 'ö ü', 'sub');
  mkdirSync(cwd, { recursive: true });
  writeInputs(folder, 'cms');
  copyFileSync(join(folder, 'recipe.json'), join(cwd, 'rezept-ß.json'));
  symlinkSync(join(folder, 'recipe.json'), join(cwd, 'link.json'));
  const hash = succeed(native, ['recipe', 'hash', join(folder, 'recipe.json')]).stdout.toString();
  for (const name of [
    'rezept-ß.json',
    './rezept-ß.json',
    '../../recipe.json',
    join(folder, 'recipe.json'),
    'link.json',
  ]) {
    assert.equal(succeed(wasi, ['recipe', 'hash', name], { cwd }).stdout.toString(), hash, name);
  }
  succeed(wasi, ['recipe', 'new', '--id', 'x', '--expires', '2099-01-01', '-o', '../new.json'], {
    cwd,
  });
  assert.ok(existsSync(join(folder, 'ö ü', 'new.json')));
  assert.deepEqual(readdirSync(cwd).sort(), ['link.json', 'rezept-ß.json']); // no leftovers
});

test('works as the linked command of an installed package', (t) => {
  const cwd = temporaryFolder(t);
  writeInputs(cwd, 'cms');
  symlinkSync(join(packageFolder, 'js/shoal.js'), join(cwd, 'shoal'));
  const { stdout, stderr } = succeed([join(cwd, 'shoal')], ['recipe', 'check', 'recipe.json'], {
    cwd,
  });
  assert.match(stdout.toString(), /t-cms/);
  assert.equal(stderr, ''); // not even Node's remark about WASI
});

test('serve runs a native program in PATH, and says what is missing where there is none', (t) => {
  const folder = temporaryFolder(t);
  const script = fileURLToPath(new URL('../js/shoal.js', import.meta.url));
  const serve = (/** @type {string[]} */ ...path) =>
    spawnSync(process.execPath, [script, 'serve', '--config', 'x.json'], {
      encoding: 'utf8',
      env: { PATH: path.join(delimiter) },
    });
  // What npm puts in front is a command in WebAssembly, which has no server.
  const [bin, scripts, own] = ['node_modules/.bin', 'scripts', 'own'].map((name) => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  });
  copyFileSync('/bin/false', join(bin, 'shoal'));
  writeFileSync(join(scripts, 'shoal'), '#!/bin/false\n', { mode: 0o755 });
  const missing = serve(bin, scripts, '.');
  assert.equal(missing.status, 1);
  assert.match(
    missing.stderr,
    /^shoal: serve: needs the native program.*\n.*release file shoal-linux-x64/,
  );
  copyFileSync('/bin/echo', join(own, 'shoal'));
  assert.equal(serve(bin, scripts, own).stdout, 'serve --config x.json\n');
});
