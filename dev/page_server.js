// SPDX-License-Identifier: Apache-2.0
// Serves the trial page, the published client, and the folder's own page with its recipes replaced by
// trials. It listens on loopback and answers only under a loopback name, so that no other page of the
// browser reaches it. What happens goes to open pages as server-sent events.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} PageState  what the server asks for with each request
 * @property {string} folder
 * @property {boolean} hasPage
 * @property {string[]} sendsTo  origins that pages post to
 * @property {Map<string, Uint8Array> | null} log  files
 * @property {any[]} recipes  trials, JSON
 * @property {any} config  for the page's scripts
 *
 * @typedef {object} PageServer
 * @property {string} origin
 * @property {number} port
 * @property {(event: string, data: any) => void} send  to all open pages
 * @property {() => number} open  how many pages listen
 * @property {() => Promise<void>} close
 */

const HOST = '127.0.0.1';
const BODY_MAX = 4096;
const OWN = fileURLToPath(new URL('page/', import.meta.url));
const CLIENT = `${dirname(createRequire(import.meta.url).resolve('shoal-client/loader'))}${sep}`;
const KEEP_OPEN_MS = 15_000;

/** @type {{[extension: string]: string}} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** The policy of the trial page, which sends nothing anywhere. */
const TRIAL_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The policy of the visitor's page: the documented one, and what it posts to. @param {string[]} origins */
const visitorPolicy = (origins) =>
  `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; font-src 'self'; ` +
  `connect-src 'self' ${origins.join(' ')}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`;

// A script's import of the client, however the folder spells it: 'shoal-client/loader',
// './shoal/loader.js', or a URL that ends so.
const IMPORT =
  /((?:\bfrom|\bimport)\s*\(?\s*)(["'])(?:[^"'\n]*\/loader\.js|shoal-client(?:\/loader)?)\2/g;

/** A script or page of the folder, with the trial's client in place of its own. @param {string} text */
export const withTrialClient = (text) => text.replace(IMPORT, '$1$2/trial/client.js$2');

/**
 * A path below a folder, or null where it leads out of it.
 * @param {string} folder @param {string} path  of a URL, without its first slash
 */
function below(folder, path) {
  let decoded;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return null;
  }
  if (decoded.includes('\0')) return null;
  const full = normalize(join(folder, decoded));
  const base = folder.endsWith(sep) ? folder : folder + sep;
  return full.startsWith(base) ? full : null;
}

/**
 * @typedef {{status: number, type?: string, body: Uint8Array | string, policy?: string}} Answer
 */
/** @type {Answer} */
const MISSING = { status: 404, body: 'there is nothing here\n' };

/** @param {string | null} file @param {string} [policy] @returns {Promise<Answer>} */
async function fileOf(file, policy) {
  const body = file === null ? null : await readFile(file).catch(() => null);
  if (file === null || body === null) return MISSING;
  return { status: 200, type: TYPES[extname(file).toLowerCase()], body, policy };
}

/** A file of the folder's page. @param {string} path @param {PageState} state @returns {Promise<Answer>} */
async function pageFile(path, state) {
  const [, name] = /(?:^|\/)recipes\/([\w.-]+)\.json$/.exec(path) ?? [];
  const trial = state.config.about.find(
    (/** @type {any} */ { id, file }) => id === name || file === name,
  );
  if (trial !== undefined)
    return {
      status: 200,
      type: TYPES['.json'],
      body: JSON.stringify(state.recipes.find(({ recipe }) => recipe === trial.recipe)),
    };
  const answer = await fileOf(
    below(join(state.folder, 'page'), path === '' ? 'index.html' : path),
    visitorPolicy(state.sendsTo),
  );
  if (answer.status !== 200 || !/^text\/(html|javascript)/.test(answer.type ?? '')) return answer;
  return { ...answer, body: withTrialClient(Buffer.from(answer.body).toString('utf8')) };
}

/** @param {string} path @param {PageState} state @returns {Promise<Answer>} */
async function answerGet(path, state) {
  if (path === '/') return fileOf(join(OWN, 'index.html'), TRIAL_POLICY);
  if (path === '/favicon.ico') return fileOf(join(OWN, 'favicon.svg'));
  if (path === '/trial/config.json')
    return { status: 200, type: TYPES['.json'], body: JSON.stringify(state.config) };
  if (path === '/trial/visitor.html')
    return fileOf(join(OWN, 'visitor.html'), visitorPolicy(state.sendsTo));
  if (path.startsWith('/trial/')) return fileOf(below(OWN, path.slice('/trial/'.length)));
  if (path.startsWith('/shoal/')) return fileOf(below(CLIENT, path.slice('/shoal/'.length)));
  if (path.startsWith('/log/')) {
    const body = state.log?.get(path.slice('/log/'.length));
    return body === undefined ? MISSING : { status: 200, type: 'application/octet-stream', body };
  }
  if (path.startsWith('/page/')) return pageFile(path.slice('/page/'.length), state);
  return path.startsWith('/recipes/') ? pageFile(path.slice(1), state) : MISSING;
}

/** @param {import('node:http').IncomingMessage} incoming @returns {Promise<any>} undefined: not JSON, or too long */
async function jsonOf(incoming) {
  let text = '';
  for await (const piece of incoming.setEncoding('utf8')) {
    text += piece;
    if (text.length > BODY_MAX) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * @param {object} options
 * @param {number} options.port  0: a free one
 * @param {() => PageState} options.state
 * @param {(what: string, data: any) => boolean} options.take  a message of the page; false: it is wrong
 * @param {() => [event: string, data: any][]} options.greeting  what a page that opens is told
 * @returns {Promise<PageServer>}
 */
export async function startPageServer({ port, state, take, greeting }) {
  /** @type {Set<import('node:http').ServerResponse>} */
  const pages = new Set();
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });

  /** @param {import('node:http').ServerResponse} page @param {string} event @param {any} data */
  const tell = (page, event, data) =>
    page.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

  /** @param {import('node:http').IncomingMessage} incoming @param {import('node:http').ServerResponse} outgoing */
  async function serve(incoming, outgoing) {
    const { method = 'GET', url = '/', headers } = incoming;
    const own = /** @type {import('node:net').AddressInfo} */ (server.address()).port;
    const names = [`${HOST}:${own}`, `localhost:${own}`];
    const [path] = url.split('?');
    /** @param {Answer} answer */
    const send = ({ status, type = 'text/plain; charset=utf-8', body, policy }) =>
      outgoing
        .writeHead(status, {
          'Content-Type': type,
          'Cache-Control': 'no-store',
          'X-Content-Type-Options': 'nosniff',
          'Referrer-Policy': 'no-referrer',
          'Content-Security-Policy': policy ?? "default-src 'none'; frame-ancestors 'none'",
        })
        .end(method === 'HEAD' ? undefined : body);
    if (!names.includes(headers.host ?? ''))
      return send({ status: 421, body: `ask for http://${names[0]}/\n` });
    if (method === 'GET' && path === '/trial/events') {
      outgoing.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      for (const [event, data] of greeting()) tell(outgoing, event, data);
      pages.add(outgoing);
      outgoing.once('close', () => pages.delete(outgoing));
      return;
    }
    if (method === 'GET' || method === 'HEAD') return send(await answerGet(path, state()));
    const isOwn = names.some((name) => headers.origin === `http://${name}`);
    if (method !== 'POST' || !isOwn || !path.startsWith('/trial/'))
      return send({ status: 403, body: 'only the trial page may post here\n' });
    const data = await jsonOf(incoming);
    const isTaken = data !== undefined && take(path.slice('/trial/'.length), data);
    return send({ status: isTaken ? 200 : 400, type: TYPES['.json'], body: '{}' });
  }

  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => resolve(undefined));
  });
  const timer = setInterval(() => {
    for (const page of pages) page.write(': still here\n\n');
  }, KEEP_OPEN_MS);
  timer.unref();
  const taken = /** @type {import('node:net').AddressInfo} */ (server.address()).port;
  return {
    origin: `http://${HOST}:${taken}`,
    port: taken,
    send: (event, data) => {
      for (const page of pages) tell(page, event, data);
    },
    open: () => pages.size,
    async close() {
      clearInterval(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(() => resolve(undefined)));
    },
  };
}
