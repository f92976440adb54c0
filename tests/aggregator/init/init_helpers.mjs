// SPDX-License-Identifier: Apache-2.0
// What the tests of `shoal init` share: the command natively and as WASI, and the files of a folder.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const native = [process.env.SHOAL_BIN ?? join(root, 'build/release/shoal')];
export const create = [process.execPath, join(root, 'create/bin/create-shoal.js')];

export const WHATS = ['words', 'sites', 'choices', 'numbers', 'new-words'];
export const LEVELS = ['high', 'medium', 'low'];
export const SIZES = [100, 20_000, 3_000_000];

/** @param {import('node:test').TestContext} t */
export function makeFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-init-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a command in a folder. @param {string[]} command @param {string} cwd @param {string[]} args @param {string} [input] */
export function call(command, cwd, args, input = '') {
  const done = spawnSync(command[0], [...command.slice(1), ...args], {
    cwd,
    input,
    encoding: 'utf8',
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

/** `shoal init` natively. @param {string} cwd @param {...string} args */
export const init = (cwd, ...args) => call(native, cwd, ['init', ...args]);

/** All files below a folder, by their names. @param {string} folder @returns {Map<string, string>} */
export function filesOf(folder) {
  const names = /** @type {string[]} */ (readdirSync(folder, { recursive: true })).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** Modes of everything in a folder and of itself. @param {string} folder */
export function modesOf(folder) {
  const names = ['.', .../** @type {string[]} */ (readdirSync(folder, { recursive: true }))].sort();
  return names.map(
    (name) =>
      `${(statSync(join(folder, name)).mode & 0o777).toString(8)} ${relative('.', name) || '.'}`,
  );
}
