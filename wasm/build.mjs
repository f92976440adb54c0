// SPDX-License-Identifier: Apache-2.0
// Builds dist/ from the sources: minified modules that a plain folder can serve, and their types.
// The WebAssembly modules come from CMake's emscripten preset. Needs esbuild, terser and
// typescript.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { minify } from 'terser';
import { MANIFEST, manifestOf } from './bin/file_hashes.js';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
for (const name of [
  'shoal.wasm',
  'shoal-plain.wasm',
  'shoal-query.wasm',
  'shoal-dap.wasm',
  'shoal-all.wasm',
]) {
  if (existsSync(join(here, 'dist', name))) continue;
  console.error(`wasm/dist/${name} is missing: build the emscripten preset first`);
  process.exit(1);
}

// The files of dist/, which is flat: chunks that are imported when they are needed, and modules
// that pages import themselves.
const chunks = {
  client: [
    'client',
    'loader',
    'option_check',
    'debug',
    'site',
    'address',
    'asks',
    'reasons',
    'statement',
    'memory_storage',
    'observe',
    'routes',
    'permanent',
    'queries',
    'tracking',
    'windows',
    'recipe_set',
    'erasing',
    'dap',
    'hpke',
    'tokens',
    'relay',
    'log',
  ],
  bindings: ['web', 'signature', 'whole', 'set_core'],
};
const names = Object.values(chunks).flat();
const { outputFiles, metafile } = await build({
  absWorkingDir: here,
  entryPoints: Object.entries(chunks).flatMap(([room, files]) =>
    files.map((name) => ({ in: `${room}/${name}.js`, out: name })),
  ),
  outdir: 'dist',
  write: false,
  metafile: true,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  plugins: [
    {
      // @hpke/core asks Node's module where a browser has no WebCrypto, which bundlers of pages warn
      // of. The page then gets the same error without asking.
      name: 'no-node-crypto',
      setup: (b) => {
        b.onResolve({ filter: /^crypto$/ }, () => ({ path: 'crypto', namespace: 'none' }));
        b.onLoad({ filter: /.*/, namespace: 'none' }, () => ({
          contents: 'export const webcrypto = undefined;',
        }));
      },
    },
    {
      name: 'lazy',
      setup: (b) =>
        b.onResolve(
          { filter: new RegExp(`^\\.{1,2}/(bindings/)?(${names.join('|')})\\.js$`) },
          ({ kind, path, importer }) =>
            kind === 'dynamic-import' || /relay\.js$/.test(importer)
              ? { path: `./${basename(path)}`, external: true }
              : undefined,
        ),
    },
  ],
  logLevel: 'warning',
});
// Terser makes the output of esbuild 3 % smaller. Functions with statements are not inlined: that
// makes text shorter, but not after gzip.
for (const { path, text } of outputFiles) {
  const { code } = await minify(text, {
    module: true,
    toplevel: true,
    ecma: 2020,
    compress: { ecma: 2020, passes: 3, inline: 1, unsafe_arrows: true },
  });
  writeFileSync(path, /** @type {string} */ (code));
}

// A module of an earlier build would be published, too.
const made = new Set(outputFiles.map(({ path }) => basename(path)));
for (const name of readdirSync(join(here, 'dist')))
  if (name.endsWith('.js') && !made.has(name)) unlinkSync(join(here, 'dist', name));

// SHOAL_BUNDLES_ONLY: a test that compares two builds needs no types.
if (!process.env.SHOAL_BUNDLES_ONLY) {
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', join(here, 'tsconfig.build.json')], {
    stdio: 'inherit',
  });
}

/** The licence of a library whose code is inside dist. @param {string} name */
function licence(name) {
  let folder = dirname(require.resolve(name));
  while (
    !existsSync(join(folder, 'package.json')) ||
    !JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name
  ) {
    folder = dirname(folder);
  }
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'LICENCE'].find((candidate) =>
    existsSync(join(folder, candidate)),
  );
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
const notice = 'dist/ holds code of these libraries:\n\n';
const inside = Object.keys(metafile.inputs).flatMap(
  (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
);
const libraries = [...new Set(inside)].sort();
writeFileSync(join(here, 'dist/LICENSES.txt'), notice + libraries.map(licence).join('\n----\n\n'));
copyFileSync(join(here, '../LICENSE'), join(here, 'dist/LICENSE'));

// Last: the hashes of all that is published in dist/.
const about = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const manifest = manifestOf(join(here, 'dist'), about);
writeFileSync(join(here, 'dist', MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
