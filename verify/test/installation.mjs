// SPDX-License-Identifier: Apache-2.0
// A whole installation on loopback, of the real parts: a page with the published client, the edge worker on Node, `shoal serve`, a relay with
// its gateway and log. In front of page, edge worker and aggregator stands a proxy that a test can tell to break something.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load, loadDapModule } from 'shoal-client/node';
import { startEdge } from 'shoal-edge';
import { readConfig as readEdgeConfig } from 'shoal-edge/config';
import { readConfig as readRelayConfig, startRelay } from 'shoal-relay';
import { gatewayKeys } from '../../edge/key_file.js';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const shoal = process.env.SHOAL_BINARY ?? join(root, 'build/release/shoal');
export const DIST = join(root, 'wasm/dist');
const SECRET = 'a-batch-secret-for-tests';
export const ADMIN = 'an-admin-token-for-tests';
export const READER = 'a-reader-token-for-tests';
const RELAY_TOKEN = 'a-relay-token-for-tests';
const TYPES = /** @type {Record<string, string>} */ ({
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
});
const START_MS = 60_000;

export const expires = '2099-01-31';
export const THEME = {
  recipe: 'theme',
  analysis: 'theme',
  stream: 'theme',
  value: 'item',
  mechanism: 'grr',
  parameters: { epsilon: 2, values: ['light', 'dark'] },
  limit: { per_day: 1 },
  batch: { minimum: 50 },
  cohort: { minimum: 100 },
  expires,
};
export const PROBE = {
  recipe: 'shoal-probe',
  analysis: 'shoal-probe',
  stream: 'shoal-probe',
  value: 'item',
  mechanism: 'grr',
  parameters: { epsilon: 1, values: ['probe-a', 'probe-b'] },
  limit: { per_day: 10 },
  send: { delay_s: 0, fresh: 'allow' },
  batch: { minimum: 1, max_age_s: 1 },
  cohort: { minimum: 1 },
  block: { tick_s: 1 },
  expires,
};

/** @param {any} json */
export const hashOf = async (json) => (await load()).recipe(json).hash;

/** @typedef {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => boolean | void} Hook  true: it answered */

/** A server that goes with the test process. @param {import('node:http').RequestListener} listener */
async function serve(listener) {
  const server = createServer(listener);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  server.unref();
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => (server.closeAllConnections(), server.close()),
  };
}

/** What a front does to requests and answers until the test takes it back. */
export class Front {
  /** @type {Hook | null} */ hook = null;
  /** Changes the headers of an answer. @type {((headers: any) => void) | null} */ headers = null;
  /** Changes the headers of a request. @type {((headers: any) => void) | null} */ asked = null;
  target = '';

  reset() {
    this.hook = this.headers = this.asked = null;
  }

  async start() {
    const { url, close } = await serve((request, response) => {
      if (this.hook?.(request, response)) return void request.resume();
      const headers = { ...request.headers };
      this.asked?.(headers);
      const to = forward(
        new URL(request.url ?? '/', this.target),
        { method: request.method, headers },
        (answer) => {
          const changed = { ...answer.headers };
          this.headers?.(changed);
          response.writeHead(answer.statusCode ?? 502, changed);
          answer.pipe(response);
        },
      );
      to.on('error', () => response.destroy());
      request.pipe(to);
    });
    this.url = url;
    this.close = close;
    return this;
  }
}

/** Answers at once. @param {number} status @param {string} body @param {Record<string, string>} [headers] @returns {Hook} */
export const says =
  (status, body, headers = {}) =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
    return true;
  };

/** The same for requests whose method and path fit. @param {RegExp} which @param {Hook} hook @returns {Hook} */
export const where = (which, hook) => (request, response) =>
  which.test(`${request.method} ${request.url}`) ? hook(request, response) : false;

/**
 * Starts a server as a process, and reads where it listens.
 * @param {string[]} command
 */
export async function startProcess(command) {
  // The limit that full() sets sends a signal, which ends a process that does not ignore it.
  const child = spawn('bash', ['-c', `trap '' XFSZ; exec "$@"`, 'bash', ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (log += text));
  const end = Date.now() + START_MS;
  while (!/listening on \S+:(\d+)/.test(log)) {
    assert.ok(child.exitCode === null && Date.now() < end, log);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const [, port] = /listening on \S+:(\d+)/.exec(log) ?? [];
  return {
    url: `http://127.0.0.1:${port}/`,
    stop: () => void child.kill('SIGKILL'),
    /** From now on no file of the process grows, as on a full disk; it needs no mount and no root. */
    full() {
      const done = spawnSync('prlimit', ['--pid', String(child.pid), '--fsize=0']);
      assert.equal(done.status, 0, String(done.stderr));
    },
  };
}

/** @param {string} config */
export const startServe = (config) => startProcess([shoal, 'serve', '--config', config]);

/** @param {string} config */
export const startEdgeProcess = (config) =>
  startProcess([process.execPath, join(root, 'edge/bin/shoal-edge.js'), '--config', config]);

/** A page server. @param {Installation} it */
function pageListener(it) {
  /** @type {import('node:http').RequestListener} */
  return (request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    const headers = {
      'Content-Type': TYPES[extname(path) || '.html'] ?? 'text/plain',
      'Content-Security-Policy': it.csp(),
    };
    const own = it.files[path];
    if (own !== undefined) return void response.writeHead(200, headers).end(own);
    if (!path.startsWith('/shoal/')) return void response.writeHead(404).end();
    try {
      response.writeHead(200, headers).end(readFileSync(join(DIST, path.slice('/shoal/'.length))));
    } catch {
      response.writeHead(404).end();
    }
  };
}

export class Installation {
  folder = mkdtempSync(join(tmpdir(), 'shoal-forty-'));
  page = new Front();
  edge = new Front();
  aggregator = new Front();
  /** @type {Record<string, string>} */ files = {};
  /** @type {(() => unknown)[]} */ #ends = [
    () => rmSync(this.folder, { recursive: true, force: true }),
  ];
  #logs = 0;
  /** @type {{theme: string, probe: string}} */ hashes = { theme: '', probe: '' };

  csp = () =>
    `script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ${new URL(this.edge.url ?? '').origin}`;
  at = (/** @type {string} */ name) => join(this.folder, name);

  /** @param {string} name @param {any} content @param {number} [mode] */
  write(name, content, mode = 0o600) {
    const path = this.at(name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode });
    return path;
  }

  async start() {
    this.hashes = { theme: await hashOf(THEME), probe: await hashOf(PROBE) };
    for (const [name, text] of Object.entries({
      'batch.secret': SECRET,
      'admin.token': ADMIN,
      'reader.token': READER,
      'relay.token': RELAY_TOKEN,
    }))
      this.write(name, `${text}\n`);
    this.write('theme.json', THEME);
    this.write('probe.json', PROBE);
    for (const front of [this.page, this.edge, this.aggregator]) {
      await front.start();
      this.#ends.push(() => front.close?.());
    }
    const page = await serve(pageListener(this));
    this.#ends.push(page.close);
    this.page.target = page.url;
    await gatewayKeys(this.at('gateway.keys'), true);
    this.files = this.pageFiles();
    const served = await startServe(this.write('aggregator.json', this.aggregatorJson()));
    this.#ends.push(served.stop);
    this.aggregator.target = served.url;
    this.edge.target = await this.startEdge('edge.json', this.edgeJson());
    return this;
  }

  /** @param {object} [more] */
  aggregatorJson(more = {}) {
    return {
      listen: '127.0.0.1:0',
      store: 'store',
      recipes: ['theme.json', 'probe.json'],
      batch_secret_file: 'batch.secret',
      readers: [{ name: 'analyst', token_file: 'reader.token', collections: 'all' }],
      admin_token_file: 'admin.token',
      fold_interval_s: 0.05,
      ...more,
    };
  }

  /** @param {object} [more] */
  edgeJson(more = {}) {
    return {
      listen: '127.0.0.1:0',
      spool: 'spool',
      recipes: [
        { file: 'theme.json', hash: this.hashes.theme },
        { file: 'probe.json', hash: this.hashes.probe },
      ],
      origins: [new URL(this.page.url ?? '').origin],
      aggregator: this.aggregator.url,
      batch_secret_file: 'batch.secret',
      admin_token_file: 'admin.token',
      gateway: {
        keys_file: 'gateway.keys',
        relays: [{ name: 'relay', token_file: 'relay.token', per_minute: 1000 }],
      },
      ...more,
    };
  }

  /** Starts an edge worker, and returns its address. @param {string} name @param {any} json */
  async startEdge(name, json) {
    const config = await readEdgeConfig(this.write(name, json));
    const edge = await startEdge(config, { createCore: load, loadDapModule });
    this.#ends.push(edge.close);
    return `http://127.0.0.1:${edge.port}/`;
  }

  /** Starts a relay, and returns the address of its route. @param {string} gateway @param {string[]} [origins] */
  async startRelay(gateway, origins) {
    const route = {
      path: '/r',
      gateway,
      token_file: '../relay.token',
      ...(origins && { origins }),
    };
    const path = this.write('relay-own/relay.json', {
      listen: '127.0.0.1:0',
      routes: [route],
    });
    const relay = await startRelay(await readRelayConfig(path));
    this.#ends.push(relay.close);
    return `http://127.0.0.1:${relay.port}/r`;
  }

  /** Makes a log with a key list. @param {{id: number, config: string}[]} gateway @param {number} [days]  that it is in force */
  makeLog(gateway, days = 9) {
    const name = `log-${++this.#logs}`;
    const signing = ['--log', this.at(name), '--key', this.at(`${name}.pem`)];
    const run = (/** @type {string[]} */ ...words) => {
      const done = spawnSync(shoal, ['log', ...words], { encoding: 'utf8' });
      assert.equal(done.status, 0, done.stderr);
      return done.stdout.trim();
    };
    const key = run('init', '--name', 'example.org/log', ...signing);
    const from = Math.floor(Date.now() / 86_400_000);
    run(
      'keys',
      ...signing,
      this.write(`${name}.keys.json`, { from, until: from + days, gateway, tokens: [] }),
    );
    return { name, key };
  }

  /** What the page serves besides the client. @param {string} [options]  of start() @param {any} [recipes] */
  pageFiles(options, recipes = { '/theme.json': JSON.stringify(THEME) }) {
    const told =
      options ??
      `endpoint: '${this.edge.url}', recipes: [{ url: '/theme.json', hash: '${this.hashes.theme}' }]`;
    return {
      '/': '<!doctype html><title>A page</title><script type="module" src="/app.js"></script>',
      '/app.js': `import { start } from '/shoal/loader.js';\nconst shoal = start({ ${told} });\nwindow.shoal = shoal;\n`,
      ...recipes,
    };
  }

  reset() {
    for (const front of [this.page, this.edge, this.aggregator]) front.reset();
    this.files = this.pageFiles();
  }

  async close() {
    for (const end of this.#ends.reverse()) await end();
  }
}
