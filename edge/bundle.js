// SPDX-License-Identifier: Apache-2.0
// Bundles the worker into one module and puts the core's two modules beside it, for runners that
// resolve no packages (miniflare, plain workerd). Needs esbuild. `wrangler deploy` has its own
// bundler and does not use this script.

import { copyFile, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @type {Record<string, string>} modules, and their files beside the worker */
const FILES = {
  'shoal-client/shoal-all.wasm': 'shoal.wasm',
  'shoal-client/shoal-dap.wasm': 'shoal-dap.wasm',
};

/**
 * Writes DIR/worker.js, DIR/shoal.wasm and DIR/shoal-dap.wasm.
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
    minifyWhitespace: true, // names stay, so that the deployed code can be read
    minifySyntax: true,
    external: ['cloudflare:workers'],
    plugins: [
      {
        name: 'wasm',
        setup: ({ onResolve }) =>
          onResolve({ filter: /\.wasm$/ }, ({ path }) => ({
            path: `./${FILES[path]}`,
            external: true,
          })),
      },
      {
        // These packages declare that no module of theirs has side effects. The package.json beside
        // their modules says nothing of it and hides the declaration, so unused hashes would stay.
        name: 'hpke',
        setup: ({ onResolve, onLoad, resolve }) => {
          onResolve({ filter: /./ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
            const isIts = path.startsWith('@hpke/') || /[/\\]@hpke[/\\]/.test(importer);
            if (!isIts || path === 'crypto' || pluginData === 'found') return undefined;
            const found = await resolve(path, { importer, resolveDir, kind, pluginData: 'found' });
            return found.errors.length ? undefined : { ...found, sideEffects: false };
          });
          // Their copy of globalThis lets a build add to it, and theirs adds nothing.
          onLoad({ filter: /[/\\]@hpke[/\\].*_dnt\.shims\.js$/ }, () => ({
            contents: 'export const dntGlobalThis = globalThis;',
          }));
        },
      },
      {
        // @hpke/core imports Node's module where there is no WebCrypto, which every runner has.
        name: 'no-node',
        setup: ({ onResolve, onLoad }) => {
          onResolve({ filter: /^crypto$/ }, ({ path }) => ({ path, namespace: 'no-node' }));
          onLoad({ filter: /./, namespace: 'no-node' }, () => ({ contents: 'export {}' }));
        },
      },
    ],
  });
  for (const [name, file] of Object.entries(FILES))
    await copyFile(createRequire(import.meta.url).resolve(name), join(dir, file));
  return join(dir, 'worker.js');
}
