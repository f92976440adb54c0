// SPDX-License-Identifier: Apache-2.0
// Finds the native command of this platform's package, shoal-linux-x64, and runs it in place of the
// module: it has the server, and is several times as fast.
import { spawn } from 'node:child_process';
import { accessSync, constants as modes, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
/** @param {string} path */
const versionOf = (path) => JSON.parse(readFileSync(path, 'utf8')).version;

/**
 * The native program of the same version, if its package is installed beside this one. SHOAL_WASI=1
 * asks for the module.
 * @param {{[name: string]: string | undefined}} [env]
 * @returns {string | null}
 */
export function findNative(env = process.env) {
  if (env.SHOAL_WASI === '1') return null;
  const require = createRequire(import.meta.url);
  const name = `shoal-${process.platform}-${process.arch}`;
  let about;
  try {
    about = require.resolve(`${name}/package.json`);
  } catch {
    return null; // not installed
  }
  const [own, its] = [versionOf(require.resolve('../package.json')), versionOf(about)];
  if (own === its) return join(dirname(about), 'bin', 'shoal');
  process.stderr.write(`shoal: ${name} is version ${its} and this is ${own}: it is not used\n`);
  return null;
}

/**
 * A native `shoal` of one's own in PATH, for commands that the module has not. The commands in
 * node_modules have that name too, and are passed over: `npm run` puts them first.
 * @param {{[name: string]: string | undefined}} [env]
 * @returns {string | null}
 */
export function findInPath(env = process.env) {
  const name = process.platform === 'win32' ? 'shoal.exe' : 'shoal';
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (!isAbsolute(folder) || folder.split(sep).includes('node_modules')) continue;
    const file = join(folder, name);
    try {
      accessSync(file, modes.X_OK);
    } catch {
      continue;
    }
    if (!readFileSync(file).subarray(0, 2).equals(Buffer.from('#!'))) return file; // a script is ours
  }
  return null;
}

/**
 * Runs the program on this process's streams, passes signals on, and ends as it does.
 * @param {string} program @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
export function runNative(program, args) {
  const child = spawn(program, args, { stdio: 'inherit' });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) =>
      resolve(code ?? 128 + (constants.signals[/** @type {NodeJS.Signals} */ (signal)] ?? 0)),
    );
  });
}
