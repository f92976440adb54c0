// SPDX-License-Identifier: Apache-2.0
// Commands that are programs of their own, as cli/external.c has them for the native command:
// `shoal verify` runs shoal-verify. A WebAssembly module cannot start a program, so this happens
// before the module is loaded.
import { spawn } from 'node:child_process';
import { accessSync, constants, lstatSync, readFileSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const NAMES = ['verify', 'dev'];

/**
 * The arguments of an external command, the first of which is its name, or null.
 * @param {string[]} words  what follows `shoal` on the command line
 */
export function externalOf(words) {
  if (NAMES.includes(words[0])) return words;
  const isHelp = words[0] === 'help' && words.length === 2 && NAMES.includes(words[1]);
  return isHelp ? [words[1], '--help'] : null;
}

/** node_modules/.bin from a folder upwards. @param {string} folder */
function above(folder) {
  const found = [];
  for (let at = folder; ; at = dirname(at)) {
    found.push(join(at, 'node_modules', '.bin'));
    if (dirname(at) === at) return found;
  }
}

/** @param {string} path */
function canRun(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a program and its link belong to this user or to root. In a folder such as /tmp/x anybody
 * may have put /tmp/node_modules there.
 * @param {string} path
 */
function isTrusted(path) {
  const own = process.geteuid?.();
  if (own === undefined) return true; // Windows, where folders of all users are not writable for all
  return [lstatSync(path), statSync(path)].every(({ uid }) => uid === own || uid === 0);
}

/** @param {string} program @returns {string | undefined} */
function find(program) {
  const names = process.platform === 'win32' ? [`${program}.cmd`, program] : [program];
  const among = (/** @type {string[]} */ folders) =>
    folders.flatMap((folder) => names.map((name) => join(folder, name))).filter(canRun);
  const path = (process.env.PATH ?? '').split(delimiter).filter((each) => each !== '');
  return among(above(process.cwd())).find(isTrusted) ?? among(path)[0];
}

/**
 * Runs an external command.
 * @param {string[]} words
 * @returns {Promise<number>} its exit code
 */
export async function runExternal([name, ...words]) {
  const program = `shoal-${name}`;
  const path = find(program);
  if (path === undefined) {
    const { version } = JSON.parse(
      readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
    );
    process.stderr.write(
      `shoal: ${name}: the program ${program} is not installed\n` +
        `Install it from the files of a release: npm install ./${program}-${version}.tgz\n` +
        'It is looked for in node_modules/.bin, from this folder upwards, and in PATH.\n',
    );
    return 1;
  }
  const child = spawn(path, words, { stdio: 'inherit', shell: path.endsWith('.cmd') });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.on(signal, () => void child.kill(signal));
  return new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`shoal: ${name}: cannot run ${path}: ${error.message}\n`);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
