// SPDX-License-Identifier: Apache-2.0
// Builds dist/: the WASI command by CMake's wasi preset, the types of the modules, the licences of the libraries inside. Needs cmake, the WASI toolchain
// that scripts/setup.sh installs, and typescript.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const require = createRequire(import.meta.url);
/** @param {string} program @param {string[]} args */
const call = (program, ...args) =>
  execFileSync(program, args, { cwd: root, stdio: ['ignore', 2, 'inherit'] });

call('cmake', '--preset', 'wasi');
call('cmake', '--build', '--preset', 'wasi', '--target', 'shoal');
mkdirSync(join(here, 'dist'), { recursive: true });
copyFileSync(join(root, 'build/wasi/shoal.wasm'), join(here, 'dist/shoal.wasm'));
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
call(process.execPath, tsc, '-p', join(here, 'tsconfig.build.json'));

// Libraries whose code is inside the module, and where their licences lie.
const libraries = {
  cJSON: join(root, 'build/deps/cjson/LICENSE'),
  utf8proc: join(root, 'build/deps/utf8proc/LICENSE.md'),
  'wasi-libc': '/usr/share/doc/wasi-libc/copyright',
};
/** @param {[string, string]} library */
const licence = ([name, file]) =>
  `${name}\n\n${existsSync(file) ? readFileSync(file, 'utf8').trim() : 'See https://github.com/WebAssembly/wasi-libc'}\n`;
const notice = 'dist/shoal.wasm holds code of these libraries:\n\n';
writeFileSync(
  join(here, 'dist/LICENSES.txt'),
  notice + Object.entries(libraries).map(licence).join('\n----\n\n'),
);
