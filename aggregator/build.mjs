// SPDX-License-Identifier: Apache-2.0
// Builds dist/: the WASI command by CMake's wasi preset, and the types of the modules. Needs cmake, the WASI toolchain
// that scripts/setup.sh installs, and typescript.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const require = createRequire(import.meta.url);
/** @param {string} program @param {string[]} args */
const call = (program, ...args) => execFileSync(program, args, { cwd: root, stdio: ['ignore', 2, 'inherit'] });

call('cmake', '--preset', 'wasi');
call('cmake', '--build', '--preset', 'wasi', '--target', 'shoal');
mkdirSync(join(here, 'dist'), { recursive: true });
copyFileSync(join(root, 'build/wasi/shoal.wasm'), join(here, 'dist/shoal.wasm'));
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
call(process.execPath, tsc, '-p', join(here, 'tsconfig.build.json'));
