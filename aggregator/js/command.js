// SPDX-License-Identifier: Apache-2.0
// A `shoal` command under Node: real files, real pipes. It may read and write what this process
// may.
import { readFile } from 'node:fs/promises';

// Node prints on every start that its WASI is experimental. The warning is hidden from people who
// pipe the output.
const emitWarning = process.emitWarning;
process.emitWarning = /** @param {any[]} args */ (...args) => {
  if (!String(args[0]).startsWith('WASI is an experimental feature'))
    Reflect.apply(emitWarning, process, args);
};
const { WASI } = await import('node:wasi');

/**
 * Runs a command with the streams of this process.
 * @param {string[]} args  what follows `shoal` on a command line
 * @returns {Promise<number>} its exit code
 */
export async function runCommand(args) {
  const wasi = new WASI({
    version: 'preview1',
    args: ['shoal', ...args],
    env: { SHOAL_FOLDER: process.cwd() }, // see wasi_folder.c
    preopens: { '/': '/' },
    returnOnExit: true,
  });
  // Each import goes through a JavaScript function: called directly, Node takes V8's fast path, on
  // which a garbage collection inside node:wasi crashes the process (nodejs/node issues 46777 and
  // 53087).
  /** @type {{[name: string]: (...args: any[]) => number}} */
  const imports = {};
  for (const [name, call] of Object.entries(wasi.wasiImport))
    imports[name] = (...values) => call(...values);
  const module = await WebAssembly.compile(
    await readFile(new URL('../dist/shoal.wasm', import.meta.url)),
  );
  return Number(
    wasi.start(await WebAssembly.instantiate(module, { wasi_snapshot_preview1: imports })),
  );
}
