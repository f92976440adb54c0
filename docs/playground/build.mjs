// SPDX-License-Identifier: Apache-2.0
// Builds dist/: a folder that any static host can serve. `--serve` serves it on loopback, too.
//   node docs/playground/build.mjs [--serve [PORT]]
import { copyFileSync, cpSync, createReadStream, existsSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const dist = join(here, 'dist');
const TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.wasm', 'application/wasm'],
]);

export async function makeSite() {
  const wasm = join(here, '../../aggregator/dist/shoal.wasm');
  if (!existsSync(wasm)) throw new Error(`${wasm} is missing: run make first`);
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  await build({
    absWorkingDir: here,
    entryPoints: ['page/playground.js', 'page/worker.js', 'page/playground.css'],
    outdir: 'dist',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'favicon.svg'])
    copyFileSync(join(here, 'page', name), join(dist, name));
  copyFileSync(wasm, join(dist, 'shoal.wasm'));
  cpSync(join(here, '../../aggregator/dist/LICENSES.txt'), join(dist, 'LICENSES.txt'));
}

/**
 * Serves the built folder on loopback.
 * @param {number} port 0 takes a free one
 * @returns {Promise<{url: string, close: () => void}>}
 */
export function serveSite(port) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const name = pathname === '/' ? 'index.html' : pathname.slice(1);
    const type = TYPES.get(extname(name));
    if (!/^[A-Za-z0-9_-]+\.[a-z]+$/.test(name) || !type || !existsSync(join(dist, name))) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
    createReadStream(join(dist, name)).pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = /** @type {import('node:net').AddressInfo} */ (server.address());
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      resolve({ url: `http://127.0.0.1:${address.port}/`, close });
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await makeSite();
  const [option, port = '8470'] = process.argv.slice(2);
  if (option === '--serve') {
    const { url } = await serveSite(Number(port));
    process.stdout.write(`The playground is at ${url}\n`);
  } else process.stdout.write(`${dist}\n`);
}
