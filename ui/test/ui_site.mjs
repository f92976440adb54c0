// SPDX-License-Identifier: Apache-2.0
// What the tests of the elements share: a page under the strictest policy that they need, a browser,
// and clients that say what a test wants them to say.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { FLAGS } from '../../web-demo/test/demo_site.mjs';

const FOLDERS = {
  ui: fileURLToPath(new URL('../dist/', import.meta.url)),
  shoal: fileURLToPath(new URL('../../wasm/dist/', import.meta.url)),
  recipes: fileURLToPath(new URL('../../docs/recipes/', import.meta.url)),
};
/** @type {{[extension: string]: string}} */
const TYPES = { js: 'text/javascript', wasm: 'application/wasm', json: 'application/json' };

/** @param {string} more */
const PAGE = (more) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>A page</title>
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
<main><h1>A page</h1>
<p>What a page says <a href="#here">before</a> the elements.</p>
${more}
<p id="after">What a page says <a href="#there">after</a> them.</p></main>
</html>`;
const SCRIPT = `import * as ui from '/ui/shoal-ui.js';
import { start } from '/shoal/loader.js';
Object.assign(window, { ui, start });
document.documentElement.dataset.ready = 'yes';`;
const STYLE = `:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 46rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif;
  background: light-dark(#f6f8f8, #0d1718); color: light-dark(#17282b, #e4efed); }
a { color: light-dark(#0b666b, #77d4cc); }
shoal-consent:not([mode=banner]), shoal-panel, shoal-try { display: block; min-block-size: 42rem; }
shoal-panel, shoal-try { min-block-size: 60rem; }`;

/**
 * A server of pages: the query's `html` is the page's middle.
 * @param {{ancestors?: string}} [options] `ancestors`: which pages may show these in a frame
 */
export async function startSite({ ancestors = "'none'" } = {}) {
  /** @type {{url: string, body: string}[]} what an edge worker was sent */
  const posted = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://page');
    let sent = '';
    for await (const part of request) sent += part;
    if (url.pathname.startsWith('/v1/')) {
      posted.push({ url: url.pathname, body: sent });
      response.writeHead(202, { 'Content-Type': 'application/json' });
      return response.end('{"status":"accepted"}');
    }
    const [, folder, name] = /^\/(\w+)\/((?:\w+\/)?[\w-]+\.\w+)$/.exec(url.pathname) ?? [];
    const made = { '/page.js': SCRIPT, '/page.css': STYLE, '/favicon.ico': '' }[url.pathname];
    const path = folder && /** @type {any} */ (FOLDERS)[folder];
    const body =
      url.pathname === '/'
        ? PAGE(url.searchParams.get('html') ?? '')
        : (made ?? (path ? await readFile(path + name).catch(() => null) : null));
    const extension = /\.(\w+)$/.exec(url.pathname)?.[1] ?? 'html';
    response.writeHead(body === null ? 404 : 200, {
      'Content-Type': TYPES[extension] ?? `text/${extension}; charset=utf-8`,
      'Content-Security-Policy':
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; " +
        `img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}; require-trusted-types-for 'script'`,
      'Cache-Control': 'no-store',
    });
    response.end(body ?? '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/`,
    posted,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve(undefined));
        server.closeAllConnections();
      }),
  };
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.SHOAL_CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
  });

/** A recipe of words. @param {any} [more] */
export const recipe = (more = {}) => ({
  recipe: 'words-1',
  analysis: 'words',
  stream: 'typed-words',
  value: 'word',
  mechanism: 'cms',
  parameters: { epsilon: 4, k: 2048, m: 1024 },
  hash: 'poly1',
  seed: '7b'.repeat(32),
  limit: { per_day: 2 },
  send: { delay_s: 0, fresh: 'allow' },
  expires: '2099-12-31',
  ...more,
});
export const sites = recipe({
  recipe: 'sites-1',
  analysis: 'sites',
  stream: 'visited-sites',
  value: 'site',
  mechanism: 'hcms',
  limit: { per_day: 1 },
});

/** Text that would break a page which trusts it: markup, marks of direction, no place to break. */
export const HOSTILE = [
  '<img src=x onerror="document.title=\'pwned\'">',
  '\u202Eexe.gnp\u2066\u200F',
  'x'.repeat(256),
];

/**
 * What a client says, for states that a real one reaches in months.
 * @param {string} [name] of everything that has a name
 */
export const told = (name = 'words-1') => {
  const verdict = (/** @type {number} */ epsilon) => ({ code: 'limited', text: '', epsilon });
  const balance = (/** @type {string} */ id, /** @type {number} */ used) => ({
    recipe: id,
    perDay: 2,
    today: { count: 1, epsilon: used },
    year: { count: 1, epsilon: used },
    verdict: { report: verdict(4), window: verdict(8), life: verdict(800) },
  });
  const at = '2026-11-23T10:00:00.000Z';
  const report = {
    key: name,
    recipe_hash: '00'.repeat(32),
    parameters: { epsilon: 4, k: 2048, m: 64 },
    records: ['7,0102030405060708'],
  };
  return {
    reports: ['sent', 'queued', 'refused'].map((state) => ({ state, at, text: name, report })),
    ledger: [
      balance(name, 4),
      balance('sites-1', 2),
      {
        analysis: name,
        field: null,
        optedIn: true,
        reports: { used: 1, allowed: 3 },
        epsilon: { used: 0.1, allowed: 1 },
        userEpsilon: { used: 4, allowed: 12 },
      },
      {
        run: name,
        analysis: 'a',
        optedIn: true,
        paid: true,
        epoch: 2,
        epochs: 9,
        epsilon: { used: 1, allowed: 4 },
      },
      {
        exact: name,
        task: 'ab'.repeat(32),
        optedIn: true,
        count: 1,
        limit: 5,
        operators: [],
        text: '',
      },
      {
        account: name,
        kind: 'recipe',
        valueKind: 'word',
        count: 3,
        epsilon: 12,
        first: '2026-01-01',
        last: '2026-01-02',
      },
      { total: { count: 3, epsilon: 12 }, caps: [] },
    ],
    log: ['accepted', 'refused'].map((outcome) => ({
      at,
      query: name,
      hash: '00'.repeat(32),
      analysis: name,
      round: 1,
      outcome,
      code: outcome === 'accepted' ? outcome : 'epsilon',
      text: `The query asks for too much: ${name}`,
      field: outcome === 'accepted' ? null : name,
      count: outcome === 'accepted' ? 1 : 3,
      asked: {
        fields: [{ field: name, buckets: 4 }],
        cells: 4,
        splitBy: [],
        localEpsilon: 4,
        personEpsilon: 4,
      },
      state: 'sent',
      report: null,
      reports: [],
    })),
    explain: [
      { code: 'budget', recipe: name, count: 2, text: "The day's reports are spent." },
      { code: 'failed', recipe: null, count: 0, text: `Something of a server: ${name}` },
    ],
  };
};

/**
 * Puts a client that says what it is told in a page, and connects the elements with it.
 * @param {import('playwright-core').Page} page
 * @param {{state: string, asks?: any[], says?: any, options?: any}} how
 */
export const pretend = (page, how) =>
  page.evaluate(({ state, asks = [], says = {}, options }) => {
    const client = {
      consent: {
        state,
        asks: async () => asks,
        async grant() {
          asks = [];
          return (client.consent.state = 'granted');
        },
        withdraw: async () => (client.consent.state = 'withdrawn'),
      },
      erase: async () => void (client.consent.state = 'none'),
      ...Object.fromEntries(
        ['reports', 'ledger', 'log', 'explain'].map((name) => [name, async () => says[name] ?? []]),
      ),
    };
    Object.assign(window, { client, says });
    /** @type {any} */ (window).ui.connect(client, options);
  }, how);
