// SPDX-License-Identifier: Apache-2.0
// The Python package, as its users get it: the wheel goes into an empty environment where no
// compiler is found, and the package's own tests run there. Beside it a second environment has the
// tools and the optional packages, by exact versions (python/requirements-test.txt); it lies in
// build/python and is made once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const build = process.env.SHOAL_BUILD ?? join(root, 'build/release');
const SHOAL = join(build, 'shoal');
const needs = join(root, 'python/requirements-test.txt');
const mark = createHash('sha256').update(readFileSync(needs)).digest('hex').slice(0, 12);
const tools = join(root, 'build/python', `tools-${mark}`);
const python = join(tools, 'bin/python');
const scratch = mkdtempSync(join(tmpdir(), 'shoal-python-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** @param {string} command @param {string[]} args @param {object} [options] @returns {string} */
const run = (command, args, options) =>
  /** @type {string} */ (
    execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options })
  );

/** The wheel of this build. */
let wheel = '';

before(() => {
  if (!existsSync(join(tools, 'is-complete'))) {
    mkdirSync(join(root, 'build/python'), { recursive: true });
    run('python3', ['-m', 'venv', '--clear', tools]);
    run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', needs]);
    writeFileSync(join(tools, 'is-complete'), '');
  }
  const library = join(build, 'aggregator/libshoal_aggregate.so');
  run(python, [join(root, 'python/build_wheel.py'), library, scratch]);
  const [name, ...others] = readdirSync(scratch).filter((file) => file.endsWith('.whl'));
  assert.deepEqual(others, []);
  wheel = join(scratch, name);
});

test('the wheel is for every Python 3 and says which machines it is for', () => {
  assert.match(wheel, /shoal-[\d.]+-py3-none-manylinux_2_34_x86_64\.whl$/);
  const again = join(scratch, 'again');
  run(python, [
    join(root, 'python/build_wheel.py'),
    join(build, 'aggregator/libshoal_aggregate.so'),
    again,
  ]);
  const list = run('python3', ['-m', 'zipfile', '-l', wheel]);
  for (const file of ['shoal/py.typed', 'shoal/libshoal_aggregate.so.0', 'licenses/LICENSE'])
    assert.ok(list.includes(file), `${file} is not in the wheel`);
});

test('the wheel works in an empty environment without a compiler', () => {
  const empty = join(scratch, 'empty');
  run('python3', ['-m', 'venv', '--without-pip', empty]);
  const env = { PATH: join(empty, 'bin'), HOME: scratch, SHOAL };
  const at = ['--python', join(empty, 'bin/python')];
  run(
    python,
    ['-m', 'pip', ...at, 'install', '--quiet', '--no-index', '--disable-pip-version-check', wheel],
    { env },
  );
  assert.throws(() => run('/bin/sh', ['-c', 'command -v cc'], { env }));
  run(join(empty, 'bin/python'), [join(root, 'python/tests/test_shoal.py')], { env, cwd: scratch });
});

/** Puts the wheel into a folder that the tools' Python reads. */
function unpack() {
  const site = join(scratch, 'site');
  if (!existsSync(site)) run('python3', ['-m', 'zipfile', '-e', wheel, site]);
  return { ...process.env, PYTHONPATH: site, SHOAL, HOME: scratch };
}

test('the annotations are complete', () => {
  const said = run(
    python,
    [
      '-m',
      'mypy',
      '--config-file',
      join(root, 'python/pyproject.toml'),
      '--cache-dir',
      join(tools, 'mypy'),
      '-p',
      'shoal',
    ],
    { cwd: join(root, 'python/src'), env: { ...process.env } },
  );
  assert.match(said, /^Success: no issues found in \d+ source files/);
});

test('numpy, pandas and plots', () => {
  run(python, [join(root, 'python/tests/test_extras.py')], {
    env: { ...unpack(), MPLBACKEND: 'Agg' },
    cwd: scratch,
  });
});

test('the notebook runs, and its figures are those of the command', () => {
  const printed = run(
    python,
    [join(root, 'python/tests/run_notebook.py'), join(root, 'docs/notebook.ipynb')],
    {
      env: unpack(),
      cwd: scratch,
    },
  );
  const shown = JSON.parse(printed);
  const rows = run(SHOAL, ['estimate', '--recipe', 'fish.json', '--format', 'csv', 'fish.acc'], {
    cwd: scratch,
  })
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  assert.ok(rows.length > 3);
  assert.deepEqual(
    shown.map((/** @type {{value: string}} */ row) => row.value),
    rows.map(([value]) => JSON.parse(value)),
  );
  for (const [i, row] of rows.entries())
    for (const [at, name] of [
      [1, 'count'],
      [2, 'standard_error'],
      [3, 'low'],
      [4, 'high'],
    ]) {
      const decimals = (row[Number(at)].split('.')[1] ?? '').length;
      assert.equal(shown[i][name].toFixed(decimals), row[Number(at)]);
    }
});
