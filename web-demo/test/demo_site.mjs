// SPDX-License-Identifier: Apache-2.0
// What the page's tests share: a demo's recipes, a fake edge that keeps what it is sent, canned results, a browser.
import { createServer } from 'node:http';
import { chromium } from 'playwright-core';
import { startPage } from '../serve.mjs';

export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The client sends nothing from a browser that says that a program drives it.
  '--disable-blink-features=AutomationControlled',
];

/** @param {string} mechanism @param {any} change */
const recipe = (mechanism, change) => ({
  analysis: 'demo',
  mechanism,
  parameters: { epsilon: 4, k: 2048, m: 1024 },
  hash: 'poly1',
  seed: '7b'.repeat(32),
  limit: { per_day: 10_000 },
  send: { sample: 1, delay_s: 0, fresh: 'allow' },
  batch: { minimum: 10, max_age_s: 2 },
  cohort: { minimum: 1000 },
  expires: '2099-12-31',
  ...change,
});
export const RECIPES = [
  recipe('cms', { recipe: 'demo-words', stream: 'typed-words', value: 'word' }),
  recipe('hcms', { recipe: 'demo-sites', stream: 'visited-sites', value: 'site' }),
];
const CROWDS = [
  { title: 'Words that people type', recipe: 'demo-words' },
  { title: 'Sites that people visit', recipe: 'demo-sites' },
];

/** A result of the aggregator. @param {string} recipe @param {[string, number][]} counts @param {number} stderr */
export const result = (recipe, counts, stderr) => ({
  schema: 1,
  recipe,
  recipe_hash: '00'.repeat(32),
  n: 502_260,
  epsilon: 4,
  confidence: 0.95,
  multiple: 'bonferroni',
  withheld: 0,
  rows: counts.map(([value, count]) => ({
    value,
    count,
    stderr,
    low: count - 1.96 * stderr,
    high: count + 1.96 * stderr,
    detected: count > 4 * stderr,
  })),
});

/** @type {{[recipe: string]: any}} */
export const RESULTS = {
  'demo-words': result(
    'demo-words',
    [
      ['you', 21_508.4],
      ['i', 20_511.2],
      ['the', 15_133],
      ['to', 11_640.9],
      ['a', 10_480],
      ['it', 9702],
      ['that', 7251],
      ['and', 6873],
      ['of', 5941],
      ['what', 5055],
      ['in', 5001],
      ['me', 4752],
      ['is', 4631],
      ['we', 4420],
      ['this', 4002],
      ['he', 1650],
      ['on', 1204.7],
      ['my', 880.2],
      ['for', 220.1],
      ['your', -140.6],
    ],
    306,
  ),
  'demo-sites': result(
    'demo-sites',
    [
      ['googletagmanager.com', 104_800],
      ['googleapis.com', 77_420],
      ['facebook.com', 39_511],
      ['google-analytics.com', 35_100],
      ['cloudflare.com', 31_002],
      ['google.com', 27_704],
      ['youtube.com', 9080],
      ['jquery.com', 8711],
      ['clarity.ms', 8502],
      ['jsdelivr.net', 7190],
      ['yandex.ru', 7022],
      ['shopify.com', 6311],
      ['parastorage.com', 5830],
      ['consensu.org', 4655],
      ['hotjar.com', 3520],
      ['squarespace.com', 3416],
      ['vine.co', 2580.5],
      ['fontawesome.com', 2001.3],
    ],
    741,
  ),
};

/** An edge that answers 202 and keeps every request: method, url, headers, body. */
export async function startEdge() {
  /** @type {{method: string, url: string, headers: any, body: string}[]} */
  const requests = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      requests.push({
        method: String(request.method),
        url: String(request.url),
        headers: request.headers,
        body,
      });
      response.writeHead(request.method === 'OPTIONS' ? 204 : 202, {
        'Content-Type': 'application/json',
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': 'GET, POST',
        'Access-Control-Allow-Headers': 'Content-Type, Idempotency-Key',
      });
      response.end(request.method === 'OPTIONS' ? '' : '{"status":"accepted"}');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** The reports posted so far, parsed. */
    reports: () =>
      requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve(undefined));
        server.closeAllConnections();
      }),
  };
}

/** The page over a fake edge and canned results. @param {{[recipe: string]: any}} [results] */
export async function startSite(results = RESULTS) {
  const edge = await startEdge();
  const page = await startPage({
    endpoint: edge.url,
    recipes: RECIPES,
    links: ['youtube.com', 'wikipedia.org', 'shopify.com', 'wordpress.com', 'bbc.co.uk'],
    crowds: CROWDS,
    results: async (id) => ({
      status: results[id].error ? 403 : 200,
      body: JSON.stringify(results[id]),
    }),
  });
  return {
    edge,
    url: page.url,
    close: async () => void (await Promise.all([edge.close(), page.close()])),
  };
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.SHOAL_CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
  });

/** Waits until check() is true; throws what it was waiting for. @param {string} what @param {() => any} check */
export async function until(what, check, timeoutMs = 60_000) {
  for (const end = Date.now() + timeoutMs; !(await check());) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
