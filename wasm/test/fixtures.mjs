// SPDX-License-Identifier: Apache-2.0
// What the client's tests share: recipes, a worker that answers as told, a clock, a folder server, a browser.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { init } from '../client/client.js';
import { memoryLocks, memoryStorage } from '../client/memory_storage.js';
import { load } from '../bindings/node.js';

export const WASM = fileURLToPath(new URL('..', import.meta.url));
/** The files of dist that a page loads until the first event of one recipe has left it. */
export const FIRST_EVENT_FILES = ['loader.js', 'client.js', 'shoal.wasm'];
export const ENDPOINT = 'https://edge.example';
export const DAY = 20800;
export const NOON = DAY * 86_400_000 + 43_200_000;
const seed = '00112233445566778899aabbccddeeff'.repeat(2);

/** @param {object} [more] a recipe for words that sends at once */
export const wordsRecipe = (more = {}) => ({
  recipe: 'words',
  analysis: 'keyboard',
  stream: 'typed-words',
  value: 'word',
  mechanism: 'cms',
  parameters: { epsilon: 4, k: 2048, m: 256 },
  hash: 'poly1',
  seed,
  limit: { per_day: 100 },
  send: { fresh: 'allow', delay_s: 0 },
  expires: '2030-01-01',
  ...more,
});

/** @param {object} [more] */
export const itemsRecipe = (more = {}) => ({
  recipe: 'themes',
  analysis: 'settings',
  stream: 'theme',
  value: 'item',
  mechanism: 'onehot-asymmetric',
  parameters: { epsilon: 16, values: ['light', 'dark', 'Auto'] },
  limit: { per_day: 100 },
  send: { fresh: 'allow', delay_s: 0 },
  expires: '2030-01-01',
  ...more,
});

/** A recipe that finds words nobody listed by their fragments: two parts. @param {any} [parameters] @param {any} [more] */
export const fragmentsRecipe = (parameters = {}, more = {}) =>
  wordsRecipe({
    recipe: 'fragments',
    mechanism: 'sfp',
    parameters: {
      epsilon: 5.5,
      epsilon_fragment: 2.5,
      k: 2048,
      m: 16,
      k_fragment: 2048,
      m_fragment: 16,
      length: 10,
      oracle: 'olh',
      ...parameters,
    },
    ...more,
  });

/** The same by n-grams: three parts, answered permanently. @param {any} [more] */
export const ngramsRecipe = (more = {}) =>
  wordsRecipe({
    recipe: 'ngrams',
    mechanism: 'rappor-ngram',
    parameters: {
      bits: 32,
      hashes: 2,
      cohorts: 4,
      p: 0.25,
      q: 0.75,
      f: 0.5,
      length: 8,
      n: 2,
      grams: 2,
      alphabet: 'abcdefgh',
    },
    ...more,
  });

/** A joint recipe: what is read, and by whom. @param {any} [more] */
export const newsRecipe = (more = {}) => ({
  recipe: 'news-by-age',
  analysis: 'habits',
  stream: 'visits',
  variables: [
    {
      name: 'section',
      value: 'item',
      mechanism: 'rappor',
      parameters: { bits: 32, hashes: 2, cohorts: 8, p: 0.25, q: 0.75, f: 0 },
      hash: 'poly1',
      seed,
    },
    {
      name: 'age',
      value: 'item',
      mechanism: 'grr',
      parameters: { epsilon: 3, values: ['young', 'old'] },
    },
  ],
  limit: { per_day: 100 },
  records: { keep_days: 30 },
  send: { fresh: 'allow', delay_s: 0 },
  expires: '2030-01-01',
  ...more,
});

/** The recipe of a run's epoch. @param {number} index @param {any} [more] of `round`, and `parameters`, and else of the recipe */
export const epochRecipe = (
  index = 1,
  { round = {}, parameters = {}, ...more } = /** @type {any} */ ({}),
) => ({
  recipe: 'dark-mode',
  analysis: 'settings',
  stream: 'views',
  value: 'number',
  mechanism: 'thresh',
  parameters: {
    epsilon: 4,
    users: 100000,
    epochs: 16,
    samples: 100000,
    smallest_group: 100000,
    groups: 1,
    delta: '1e-6',
    low: 0,
    high: 1,
    ...parameters,
  },
  round: { index, ...round },
  limit: { per_day: 1 },
  send: { fresh: 'allow', delay_s: 0 },
  expires: '2030-01-01',
  ...more,
});

/** The same of strings. @param {number} index @param {any} [more] */
export const heavyRecipe = (index = 1, { parameters = {}, ...more } = /** @type {any} */ ({})) => {
  const { low: _, high: __, ...base } = epochRecipe().parameters;
  return {
    ...epochRecipe(index, more),
    recipe: 'emoji',
    stream: 'typed',
    value: 'item',
    mechanism: 'heavythresh',
    seed,
    parameters: { ...base, projection: 256, epsilon_estimate: 0.5, ...parameters },
    ...more,
    round: { index, ...more.round },
  };
};

/** A worker. Answers each POST by the next of `answers`, then by 202. */
export function fakeEdge() {
  /** @typedef {number | {status: number, headers?: Record<string, string>} | Error} Reply */
  const edge = {
    /** @type {{url: string, init: any, body: any}[]} */ requests: [],
    /** @type {(Reply | (() => Promise<Reply>))[]} */ answers: [],
    /** @param {any} url @param {any} [options] @returns {Promise<Response>} */
    async fetch(url, options) {
      const request = { url: String(url), init: options, body: JSON.parse(String(options?.body)) };
      edge.requests.push(request);
      let answer = edge.answers.shift() ?? 202;
      if (typeof answer === 'function')
        answer = await Promise.race([answer(), aborted(options?.signal)]);
      if (answer instanceof Error) throw answer;
      const { status, headers } =
        typeof answer === 'number' ? { status: answer, headers: {} } : answer;
      return new Response('{}', { status, headers });
    },
  };
  return edge;
}

/** @param {any} signal @returns {Promise<never>} */
const aborted = (signal) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));

/** A clock whose timers fire when it is moved. */
export function fakeClock(start = NOON) {
  let now = start;
  /** @type {Map<number, {at: number, task: () => void}>} */
  const timers = new Map();
  let next = 1;
  return {
    now: () => now,
    setTimer: (/** @type {() => void} */ task, /** @type {number} */ ms) => (
      timers.set(next, { at: now + ms, task }),
      next++
    ),
    clearTimer: (/** @type {any} */ timer) => void timers.delete(timer),
    /** @param {number} ms */
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = [...timers].filter(([, t]) => t.at <= end).sort((a, b) => a[1].at - b[1].at)[0];
        if (!due) break;
        now = Math.max(now, due[1].at);
        timers.delete(due[0]);
        due[1].task();
        await settle();
      }
      now = end;
      await settle();
    },
  };
}

/** Lets everything that needs no timer come to rest. */
export async function settle() {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** A client in Node with everything injected. @param {any} [more] options */
export async function makeClient(more = {}) {
  const edge = fakeEdge();
  const clock = fakeClock();
  const storage = more.storage ?? memoryStorage();
  const options = {
    endpoint: ENDPOINT,
    recipes: [wordsRecipe()],
    fetch: edge.fetch,
    wasm: load,
    locks: memoryLocks(),
    gpc: () => false,
    now: clock.now,
    setTimer: clock.setTimer,
    clearTimer: clock.clearTimer,
    ...more,
    storage,
  };
  return { client: await init(options), edge, clock, storage, options };
}

/**
 * What ledger() lists of the page's recipes, runs, analyses and tasks, without the books of
 * everything ever spent.
 * @param {{ledger: () => Promise<any[]>}} client
 * @returns {Promise<any[]>}
 */
export const balances = async (client) =>
  (await client.ledger())
    .filter((entry) => !('account' in entry || 'total' in entry))
    .map(({ verdict: _, ...entry }) => entry);

/** @param {any[]} outcomes */
export const codes = (outcomes) => outcomes.map((outcome) => outcome.code);

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};

/**
 * Serves folders over HTTP on loopback, as a page's own server would, takes reports and has queries.
 * @param {{folders: string[], csp?: string | (() => string), pages?: Record<string, string>}} options
 */
export async function serveFolders({ folders, csp, pages = {} }) {
  /** @type {{method?: string, url: string, body?: any, headers: any}[]} */
  const requests = [];
  /** @type {any[]} */
  const queries = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push({
      method: request.method,
      url: url.pathname,
      body: body ? JSON.parse(body) : undefined,
      headers: request.headers,
    });
    if (url.pathname === '/v1/reports') {
      const cors = {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key',
      };
      return void response.writeHead(request.method === 'OPTIONS' ? 204 : 202, cors).end();
    }
    if (url.pathname === '/v1/queries') {
      return void response
        .writeHead(200, { 'Access-Control-Allow-Origin': '*' })
        .end(JSON.stringify({ queries }));
    }
    /** @type {Record<string, string>} */
    const headers = {
      'Content-Type':
        TYPES[/** @type {keyof TYPES} */ (extname(url.pathname) || '.html')] ?? 'text/plain',
    };
    if (csp) headers['Content-Security-Policy'] = typeof csp === 'string' ? csp : csp();
    if (url.pathname in pages)
      return void response.writeHead(200, headers).end(pages[url.pathname]);
    for (const folder of folders) {
      const file = join(folder, normalize(url.pathname));
      const bytes = file.startsWith(folder) ? await readFile(file).catch(() => null) : null;
      if (bytes) return void response.writeHead(200, headers).end(bytes);
    }
    response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    queries,
    /** The reports that came in. */
    reports: () => requests.filter(({ method, url }) => method === 'POST' && url === '/v1/reports'),
    close: () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))),
  };
}

export const BROWSER = process.env.SHOAL_CHROMIUM ?? '/usr/bin/chromium';
export const BROWSER_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * @param {{isAutomated?: boolean, ignoreDefaultArgs?: string[]}} [options] `isAutomated`: shall it say that a program drives it? The client sends nothing from such a browser.
 */
export const launchBrowser = ({ isAutomated = false, ignoreDefaultArgs } = {}) =>
  chromium.launch({
    executablePath: BROWSER,
    ignoreDefaultArgs,
    args: [
      ...BROWSER_ARGS,
      ...(isAutomated ? [] : ['--disable-blink-features=AutomationControlled']),
    ],
  });
