// SPDX-License-Identifier: Apache-2.0
// Builds dist/ from the sources: minified modules that a plain folder can serve. The entry, the
// elements and each language are files of their own. Needs esbuild and terser.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { minify } from 'terser';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, 'dist');
// Names of members that only elements.js knows: neither the client, nor a language, nor storage.
const OWN =
  /^(readFrom|isStopped|isOpened|isOpen|drawn|shown|seen|turn|timer|epsilons|wanted|isAll|cells|members|kinds|grids|buttons|words|epsilonLabel|question|score|odds|said|box|epsilonMicro|expiresDay|promise|say|view|form|parts)$/;
const languages = readdirSync(join(here, 'src/lang')).sort();

const { outputFiles } = await build({
  absWorkingDir: here,
  entryPoints: [
    ...['shoal-ui', 'elements'].map((name) => ({
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
  external: ['./elements.js', './lang/*'],
  plugins: [
    {
      // A language is one file: the list of them is made here.
      name: 'languages',
      setup: (b) => {
        b.onResolve({ filter: /^#languages$/ }, () => ({ path: 'languages', namespace: 'made' }));
        b.onLoad({ filter: /.*/, namespace: 'made' }, () => ({
          contents: `export default { __proto__: null, ${languages.map((file) => `${basename(file, '.js')}: () => import('./lang/${file}')`)} }`,
        }));
      },
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
          // esbuild leaves blanks in custom properties and lists, and quotes in attributes.
          const text = code.replace(/(?<=--[\w-]+:|,) /g, '').replace(/="(\w+)"/g, '=$1');
          return { contents: text.trim(), loader: 'text' };
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
    compress: {
      ecma: 2020,
      passes: 4,
      inline: 1,
      unsafe_arrows: true,
      pure_getters: true,
      keep_fargs: false,
    },
    // Many of these are names of the DOM too, which elements.js does not use there.
    mangle: basename(path) === 'elements.js' ? { properties: { regex: OWN, builtins: true } } : {},
  });
  writeFileSync(path, /** @type {string} */ (code));
}
copyFileSync(join(here, '../LICENSE'), join(dist, 'LICENSE'));
