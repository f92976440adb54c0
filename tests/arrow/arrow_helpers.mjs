// SPDX-License-Identifier: Apache-2.0
// A Python with pyarrow and DuckDB, by exact versions (requirements.txt); it lies in build/arrow and is made once.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const needs = join(root, 'tests/arrow/requirements.txt');
const mark = createHash('sha256').update(readFileSync(needs)).digest('hex').slice(0, 12);
const tools = join(root, 'build/arrow', `tools-${mark}`);
const isMade = () => existsSync(join(tools, 'is-complete'));

/** @returns {string} the path of the interpreter */
export function makePython() {
  if (!isMade()) {
    mkdirSync(join(root, 'build/arrow'), { recursive: true });
    // Several test files may ask at once; the first one makes it, the others wait.
    execFileSync('flock', [`${tools}.lock`, process.execPath, fileURLToPath(import.meta.url)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return join(tools, 'bin/python');
}

function make() {
  if (isMade()) return;
  execFileSync('python3', ['-m', 'venv', '--clear', tools]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', needs];
  execFileSync(join(tools, 'bin/python'), pip, { stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(join(tools, 'is-complete'), '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) make();
