// SPDX-License-Identifier: Apache-2.0
// Puts the worker into one module and the core's wasm beside it, for runners that resolve no packages (miniflare, plain workerd).
// `wrangler deploy` bundles by itself and does not need it. Needs esbuild.

import { copyFile, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes DIR/worker.js and DIR/shoal.wasm.
 * @param {string} dir
 * @returns {Promise<string>} the path of worker.js
 */
export async function bundleWorker(dir) {
  const { build } = await import('esbuild');
  await mkdir(dir, { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL('worker.js', import.meta.url))],
    outfile: join(dir, 'worker.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minifyWhitespace: true, // names stay, so that what is deployed can be read
    external: ['cloudflare:workers'],
    plugins: [
      {
        name: 'wasm',
        setup: ({ onResolve }) => onResolve({ filter: /\.wasm$/ }, () => ({ path: './shoal.wasm', external: true })),
      },
    ],
  });
  await copyFile(createRequire(import.meta.url).resolve('shoal-client/shoal-all.wasm'), join(dir, 'shoal.wasm'));
  return join(dir, 'worker.js');
}
