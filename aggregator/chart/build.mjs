// SPDX-License-Identifier: Apache-2.0
// Bundles the chart of the server's pages with uPlot, and writes it as a header that the server
// holds. CMake runs it where node and the npm packages are (aggregator/serve/serve.cmake).
//   node aggregator/chart/build.mjs FOLDER   writes chart.js and chart_bundle.h there
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { minify } from 'terser';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);

/** uPlot's licence asks to be in every copy, so it is in the script, too. */
function licence() {
  const folder = dirname(require.resolve('uplot/package.json'));
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `/*! Holds uPlot ${version}:\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n*/\n`;
}

/** The script, as it is served. */
export async function chartScript() {
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: ['chart.js'],
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    plugins: [
      {
        name: 'sheets',
        setup: (b) =>
          b.onLoad({ filter: /\.css$/ }, async ({ path }) => {
            const sheet = await build({ entryPoints: [path], minify: true, write: false });
            return { contents: sheet.outputFiles[0].text.trim(), loader: 'text' };
          }),
      },
    ],
    logLevel: 'warning',
  });
  // As in wasm/build.mjs: a tenth smaller.
  const { code } = await minify(outputFiles[0].text, {
    module: true,
    toplevel: true,
    ecma: 2020,
    compress: { ecma: 2020, passes: 3, unsafe_arrows: true },
  });
  return Buffer.from(licence() + code);
}

/** @param {Uint8Array} script */
function headerOf(script) {
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 16);
  const rows = [];
  for (let i = 0; i < script.length; i += 24) rows.push([...script.subarray(i, i + 24)].join(','));
  return `// Made by aggregator/chart/build.mjs.
#define CHART_PATH "/assets/chart-${hash}.js"
static const unsigned char chart_bundle[] = {
${rows.join(',\n')}};
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder] = process.argv;
  if (!folder) throw new Error('usage: node aggregator/chart/build.mjs FOLDER');
  const script = await chartScript();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'chart.js'), script);
  writeFileSync(join(folder, 'chart_bundle.h'), headerOf(script));
}
