// SPDX-License-Identifier: Apache-2.0
// A Python with pyarrow and DuckDB, by exact versions (requirements.txt); it lies in build/arrow and is made once.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** @returns {string} the path of the interpreter */
export function makePython() {
  const needs = join(root, 'tests/arrow/requirements.txt');
  const mark = createHash('sha256').update(readFileSync(needs)).digest('hex').slice(0, 12);
  const tools = join(root, 'build/arrow', `tools-${mark}`);
  const python = join(tools, 'bin/python');
  if (existsSync(join(tools, 'is-complete'))) return python;
  mkdirSync(join(root, 'build/arrow'), { recursive: true });
  execFileSync('python3', ['-m', 'venv', '--clear', tools]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', needs];
  execFileSync(python, pip, { stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(join(tools, 'is-complete'), '');
  return python;
}
