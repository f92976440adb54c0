// SPDX-License-Identifier: Apache-2.0
// Runs a WASI command: node wasi-run.mjs PROGRAM.wasm [ARGUMENT...]
//
// The program sees the environment, the working folder as ".", and the folders named by SHOAL_SHARED and SHOAL_WASI_DIRS
// (several, joined as in PATH) under their own paths. Its exit code is this process's: without that every test is green.
import { existsSync, readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { WASI } from 'node:wasi';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
  process.stderr.write('usage: wasi-run.mjs PROGRAM.wasm [ARGUMENT...]\n');
  process.exit(2);
}

/** @type {Record<string, string>} */
const preopens = { '.': process.cwd() };
for (const list of [process.env.SHOAL_SHARED, process.env.SHOAL_WASI_DIRS]) {
  for (const folder of (list ?? '').split(delimiter)) {
    if (folder !== '' && existsSync(folder)) preopens[folder] = folder;
  }
}

const wasi = new WASI({
  version: 'preview1',
  args: [program, ...args],
  env: process.env,
  preopens,
  returnOnExit: true,
});
const module = await WebAssembly.compile(readFileSync(program));
// Each import goes through a JavaScript function: called directly, Node takes V8's fast path, on which a garbage collection
// inside node:wasi crashes the process (nodejs/node issues 46777 and 53087).
/** @type {{[name: string]: (...args: any[]) => number}} */
const wasi_snapshot_preview1 = {};
for (const [name, call] of Object.entries(wasi.wasiImport))
  wasi_snapshot_preview1[name] = (...args) => call(...args);
// Emscripten's programs tell the host when their memory grew; nobody here holds a view of it.
const env = { emscripten_notify_memory_growth() {} };
const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1, env });
process.exit(wasi.start(instance));
