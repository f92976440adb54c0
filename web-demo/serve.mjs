// SPDX-License-Identifier: Apache-2.0
// The demo page's own server. It serves this folder's page, the dist files of the published
// client and elements, and the crowd's results, which it fetches from the aggregator so that no read token ever reaches a
// page. It sends the policy that the documentation prints.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} PageOptions
 * @property {string} endpoint base URL of the edge worker
 * @property {any[]} recipes the collections' recipes
 * @property {string[]} links hosts that the page offers to visit
 * @property {{title: string, stream: string, values: string[]}[]} [choices] rows of buttons, each
 *   of which records its value
 * @property {{title: string, stream: string, events: {label: string, values:
 *   {[variable: string]: string}}[]}[]} [pairs] rows of buttons, each of which records a value of
 *   each variable
 * @property {{title: string, recipe: string, isPicture?: boolean}[]} crowds histograms, in order;
 *   and pictures (SVG) of joint recipes
 * @property {(recipe: string) => Promise<{status: number, body: string}>} results asks the
 *   aggregator; of a picture, SVG where status is 200
 * @property {string} [relay] URL of a relay, which the page then posts to
 * @property {{folder: string, key: string}} [log] its files, which this server mirrors, and its
 *   verifier key
 * @property {number} [port] 0, the default, takes a free one
 */

const FOLDERS = {
  page: fileURLToPath(new URL('page/', import.meta.url)),
  shoal: `${dirname(createRequire(import.meta.url).resolve('shoal-client/loader'))}/`,
  ui: `${dirname(createRequire(import.meta.url).resolve('shoal-ui'))}/`,
};
/** @type {{[extension: string]: string}} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/**
 * What a page that embeds shoal must allow, and nothing more.
 * @param {string} endpoint where it sends: the edge worker, or a relay in its place
 */
export const contentSecurityPolicy = (endpoint) =>
  `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self' ` +
  `${new URL(endpoint).origin}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/**
 * @param {PageOptions} options
 * @returns {Promise<{url: string, close: () => Promise<void>}>}
 */
export async function startPage(options) {
  const server = createServer((request, response) => {
    answer(request.url ?? '/', options)
      .catch(() => ({ status: 502, type: '.json', body: '{"error":{"code":"unreachable"}}' }))
      .then(({ status, type, body }) => {
        response.writeHead(status, {
          'Content-Type': TYPES[type] ?? 'text/plain',
          'Content-Security-Policy': contentSecurityPolicy(options.relay ?? options.endpoint),
          'Referrer-Policy': 'no-referrer',
          'X-Content-Type-Options': 'nosniff',
          'Cache-Control': 'no-store',
        });
        response.end(request.method === 'HEAD' ? undefined : body);
      });
  });
  await new Promise((resolve) =>
    server.listen(options.port ?? 0, '127.0.0.1', () => resolve(undefined)),
  );
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * @param {string} target
 * @param {PageOptions} options
 * @returns {Promise<{status: number, type: string, body: string | Buffer}>}
 */
async function answer(target, options) {
  const { pathname } = new URL(target, 'http://page');
  if (pathname === '/config.json')
    return { status: 200, type: '.json', body: JSON.stringify(pageConfig(options)) };
  const crowd = options.crowds.find((each) => pathname === `/${urlOf(each)}`);
  if (crowd) {
    const result = await options.results(crowd.recipe);
    return { type: crowd.isPicture && result.status === 200 ? '.svg' : '.json', ...result };
  }
  const file = /^\/log\/((?:\w[\w.]*\/)*\w[\w.]*)$/.exec(pathname)?.[1];
  if (options.log && file !== undefined) {
    const bytes = await readFile(join(options.log.folder, file)).catch(() => null);
    if (bytes) return { status: 200, type: '.bin', body: bytes };
  }
  // Only plain names in three folders are served, so a request can name no other file.
  const [, folder, name] =
    /^\/(?:(shoal|ui)\/)?((?:lang\/)?[a-z_-]+\.[a-z]+)$/.exec(
      pathname === '/' ? '/index.html' : pathname,
    ) ?? [];
  const path = FOLDERS[/** @type {'shoal' | 'ui' | undefined} */ (folder) ?? 'page'] + name;
  const body = name === undefined ? null : await readFile(path).catch(() => null);
  return body
    ? { status: 200, type: extname(path), body }
    : { status: 404, type: '.txt', body: 'not found' };
}

/** @param {PageOptions['crowds'][number]} crowd */
const urlOf = ({ recipe, isPicture }) => `crowd/${recipe}.${isPicture ? 'svg' : 'json'}`;

/** @param {PageOptions} options */
function pageConfig({ endpoint, relay, log, recipes, links, choices = [], pairs = [], crowds }) {
  return {
    endpoint,
    ...(relay && { relay }),
    ...(log && { logKey: log.key }),
    recipes,
    links,
    choices,
    pairs,
    crowds: crowds.map((crowd) => ({ ...crowd, url: urlOf(crowd) })),
  };
}
