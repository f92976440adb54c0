// SPDX-License-Identifier: Apache-2.0
// Builds dist/, the folder that the browser loads. A service worker may not import() later, so the
// worker is one file; the modules of WebAssembly lie beside it.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const modules = new URL('.', import.meta.resolve('shoal-client/shoal.wasm'));

rmSync('dist', { recursive: true, force: true });
mkdirSync('dist');
await build({
  entryPoints: ['background.js', 'consent.js'],
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  target: 'chrome120',
});
for (const file of ['manifest.json', 'consent.html', 'style.css']) cpSync(file, `dist/${file}`);
for (const file of ['shoal.wasm', 'shoal-plain.wasm'])
  cpSync(new URL(file, modules), `dist/${file}`);
