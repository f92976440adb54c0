// SPDX-License-Identifier: Apache-2.0
// The same sources give the same bytes, wherever the folder lies: bundles and a module are built again elsewhere and compared
// with those of this folder. SHOAL_LONG: all modules, and nothing from a compiler's cache.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const MODULES = [
  'shoal.wasm',
  'shoal-plain.wasm',
  'shoal-query.wasm',
  'shoal-dap.wasm',
  'shoal-all.wasm',
];
const isLong = process.env.SHOAL_LONG === '1';
/** @type {string} */
let temporary;
before(() => (temporary = mkdtempSync(join(tmpdir(), 'shoal-again-'))));
after(() => rmSync(temporary, { recursive: true, force: true }));

/** A copy of the sources, in a folder of that name. @param {string} name @param {string[]} rooms */
function copyTo(name, ...rooms) {
  const folder = join(temporary, name);
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...rooms];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  for (const file of files.split('\0').filter((each) => each && existsSync(join(root, each)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** @param {string} cwd @param {string} program @param {string[]} args */
const call = (cwd, program, ...args) =>
  execFileSync(program, args, {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SHOAL_BUNDLES_ONLY: '1', CCACHE_DISABLE: isLong ? '1' : '' },
  });

/** The files of a folder by name. @param {string} folder @returns {Map<string, Buffer>} */
const filesOf = (folder) =>
  new Map(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name))]),
  );

/** @param {Map<string, Buffer>} a @param {Map<string, Buffer>} b @param {string} what */
function assertSame(a, b, what) {
  assert.deepEqual([...a.keys()].sort(), [...b.keys()].sort());
  for (const [name, bytes] of a)
    assert.ok(bytes.equals(/** @type {Buffer} */ (b.get(name))), `${what}: ${name} differs`);
}

test('the bundles are the same bytes in every folder', () => {
  const here = { client: filesOf(join(root, 'wasm/dist')), edge: filesOf(join(root, 'edge/dist')) };
  assert.ok(here.client.has('loader.js') && here.edge.has('worker.js'), 'make js comes first');
  here.client.delete('hashes.json'); // lists the types too, which the builds below do not make
  for (const name of isLong ? ['one', 'another/deeper'] : ['another/deeper']) {
    const folder = copyTo(name, 'wasm', 'edge', 'LICENSE', 'package.json');
    mkdirSync(join(folder, 'wasm/dist'));
    for (const module of MODULES)
      cpSync(join(root, 'wasm/dist', module), join(folder, 'wasm/dist', module));
    call(join(folder, 'wasm'), process.execPath, 'build.mjs');
    call(join(folder, 'edge'), process.execPath, 'build.mjs');
    const client = filesOf(join(folder, 'wasm/dist'));
    const edge = filesOf(join(folder, 'edge/dist'));
    assert.ok(client.delete('hashes.json'));
    assertSame(here.client, client, 'client');
    assertSame(here.edge, edge, 'edge');
    for (const [file, bytes] of [...client, ...edge])
      for (const path of [root, temporary])
        assert.ok(!bytes.includes(path), `${file} holds ${path}`);
  }
});

test('the modules are the same bytes in every folder', { timeout: 1_800_000 }, (t) => {
  const targets = isLong
    ? ['shoal_wasm', 'shoal_wasm_plain', 'shoal_wasm_query', 'shoal_wasm_dap', 'shoal_wasm_all']
    : ['shoal_wasm_dap'];
  const modules = isLong ? MODULES : ['shoal-dap.wasm'];
  const folder = copyTo('modules/elsewhere', '.');
  call(folder, 'cmake', '--preset', 'emscripten');
  call(
    folder,
    'cmake',
    '--build',
    '--preset',
    'emscripten',
    ...targets.flatMap((target) => ['--target', target]),
  );
  for (const module of modules) {
    const [here, there] = [root, folder].map((each) =>
      readFileSync(join(each, 'wasm/dist', module)),
    );
    assert.ok(here.equals(there), `${module} differs`);
    for (const path of [root, temporary])
      assert.ok(!here.includes(path) && !there.includes(path), `${module} holds ${path}`);
    t.diagnostic(`${module}: ${here.length} bytes, the same`);
  }
});
