// SPDX-License-Identifier: Apache-2.0
// A shoal command as a function: bytes in, bytes out. It runs wherever WebAssembly does, and
// touches no file, no network and no global except the defaults of `now` and `random`.
import { MemoryFile, MemoryWasi, normalize } from './memory_wasi.js';

/**
 * @typedef {{ files?: {[name: string]: Uint8Array}, stdin?: Uint8Array, module: WebAssembly.Module,
 *   now?: () => number, random?: (bytes: Uint8Array) => void, }} RunOptions `files` by the name
 *   that the arguments give them; they are not changed. `module` is dist/shoal.wasm.
 * @typedef {{code: number, stdout: Uint8Array, stderr: Uint8Array, files:
 *   {[name: string]: Uint8Array}}} RunResult `code` is the command's exit code; `files` are those
 *   that it wrote
 */

/**
 * Runs one command, for instance run(['merge', '-o', 'sum', 'a', 'b'], {files: {a, b}, module}).
 * All commands work but `serve` and those that read or write a folder (runs over epochs). Rejects
 * only when the module itself fails.
 * @param {string[]} args what would follow `shoal` on a command line
 * @param {RunOptions} options
 * @returns {Promise<RunResult>}
 */
export async function run(args, options) {
  const { module, files: given = {}, stdin = new Uint8Array(0), now = Date.now } = options;
  const random = options.random ?? ((bytes) => void crypto.getRandomValues(bytes));
  const bad = args.find((arg) => arg.includes('\0'));
  if (bad !== undefined) throw new TypeError('an argument holds a NUL character');
  /** @type {Map<string, MemoryFile>} */
  const files = new Map();
  for (const [name, bytes] of Object.entries(given)) {
    const path = normalize(name);
    if (!path) throw new TypeError(`${JSON.stringify(name)} is not the name of a file`);
    files.set(path, new MemoryFile(bytes));
  }
  const wasi = new MemoryWasi({ args: ['shoal', ...args], files, stdin, now, random });
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.imports });
  const code = wasi.start(instance);
  const written = [...files]
    .filter(([, file]) => file.isWritten)
    .map(([name, file]) => [name, file.content()]);
  return {
    code,
    stdout: wasi.stdout.content(),
    stderr: wasi.stderr.content(),
    files: Object.fromEntries(written),
  };
}
