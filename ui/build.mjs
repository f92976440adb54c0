// SPDX-License-Identifier: Apache-2.0
// Builds dist/ from the sources: minified modules that a plain folder can serve. Each element, each
// language and what several of them share is a file of its own. Needs esbuild and terser.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { minify } from 'terser';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, 'dist');
const languages = readdirSync(join(here, 'src/lang')).sort();

const { outputFiles } = await build({
  absWorkingDir: here,
  entryPoints: [
    ...['shoal-ui', 'shared', 'consent', 'panel', 'try'].map((name) => ({
      in: `src/${name}.js`,
      out: name,
    })),
    ...languages.map((file) => ({ in: `src/lang/${file}`, out: `lang/${basename(file, '.js')}` })),
  ],
  outdir: 'dist',
  write: false,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  external: ['./lang/*'],
  plugins: [
    {
      // Files of dist/ that others load, and do not hold.
      name: 'apart',
      setup: (b) =>
        b.onResolve(
          { filter: /\/(shoal-ui|shared|consent|panel|try)\.js$/ },
          ({ path, importer }) =>
            importer
              ? { path: path.startsWith('../') ? path.slice(1) : path, external: true }
              : undefined,
        ),
    },
    {
      // Style sheets are adopted by shadow roots, which a page's policy allows without an exception.
      name: 'style-text',
      setup: (b) =>
        b.onLoad({ filter: /\.css$/ }, async ({ path }) => {
          const { code } = await transform(readFileSync(path, 'utf8'), {
            loader: 'css',
            minify: true,
          });
          return { contents: code.trim(), loader: 'text' };
        }),
    },
  ],
  logLevel: 'warning',
});

rmSync(dist, { recursive: true, force: true }); // a module of an earlier build would be published
mkdirSync(join(dist, 'lang'), { recursive: true });
for (const { path, text } of outputFiles) {
  const { code } = await minify(text, {
    module: true,
    toplevel: true,
    ecma: 2020,
    compress: { ecma: 2020, passes: 3, unsafe_arrows: true },
  });
  writeFileSync(path, /** @type {string} */ (code));
}
copyFileSync(join(here, '../LICENSE'), join(dist, 'LICENSE'));
