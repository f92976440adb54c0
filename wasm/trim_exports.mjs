// SPDX-License-Identifier: Apache-2.0
// Takes from a WebAssembly module what Emscripten exports for its own JavaScript, which is not used
// here, and what only that reaches. A page pays for these bytes. Needs wasm-metadce and wasm-opt of
// Binaryen, which Emscripten brings.
//
//     node trim_exports.mjs IN.wasm OUT.wasm [PASS...]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const EMSCRIPTENS_OWN = [
  '__errno_location',
  '__indirect_function_table',
  'stackAlloc',
  'stackRestore',
  'stackSave',
];
const FEATURES = ['--enable-simd', '--enable-bulk-memory', '--enable-sign-ext'];

const [source, target, ...passes] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'trim-'));
try {
  const module = new WebAssembly.Module(readFileSync(source));
  const roots = WebAssembly.Module.exports(module)
    .filter(({ name }) => !EMSCRIPTENS_OWN.includes(name))
    .map(({ name }) => ({ name, export: name, root: true }));
  const graph = join(folder, 'graph.json');
  const trimmed = join(folder, 'trimmed.wasm');
  writeFileSync(graph, JSON.stringify(roots));
  // It lists what it takes away on standard output.
  execFileSync('wasm-metadce', [...FEATURES, source, '--graph-file', graph, '-o', trimmed]);
  execFileSync('wasm-opt', [...FEATURES, ...passes, trimmed, '-o', target]);
} finally {
  rmSync(folder, { recursive: true });
}
