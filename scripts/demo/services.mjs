// SPDX-License-Identifier: Apache-2.0
// The three services of the demo on loopback: the aggregator (our binary), the edge worker (in
// workerd, through miniflare) and the page's server. Each function resolves once its service
// answers, with its address and a function that ends it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { Miniflare } from 'miniflare';
import { bundleWorker } from 'shoal-edge/bundle';

const START_MS = 15_000;

/** A port of this machine that is free now. @returns {Promise<number>} */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Starts `shoal serve` as a process, and resolves once it listens.
 * @param {string} binary @param {string} config its file @param {string} name for what goes wrong
 */
export async function startServe(binary, config, name) {
  // A process group of its own, so that Ctrl-C reaches it only through close().
  const options = {
    detached: true,
    stdio: /** @type {['ignore', 'ignore', 'pipe']} */ (['ignore', 'ignore', 'pipe']),
  };
  const child = spawn(binary, ['serve', '--config', config], options);
  const ended = new Promise((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  );
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (log = (log + text).slice(-4000)));
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${name} did not start:\n${log}`)), START_MS);
    child.once('error', reject);
    void ended.then((code) => reject(new Error(`${name} ended with ${code}:\n${log}`)));
    child.stderr.on('data', () => {
      const found = /listening on (http:\S+)/.exec(log)?.[1];
      if (!found) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  return {
    url: String(url),
    pid: Number(child.pid),
    /** Ends it as an operator would, and insists that it ends well. */
    async close() {
      child.kill('SIGTERM');
      const code = await ended;
      if (code !== 0) throw new Error(`${name} ended with ${code}:\n${log}`);
    },
  };
}

/**
 * @param {object} options
 * @param {string} options.binary
 * @param {string} options.folder of this run
 * @param {string} options.secret of the edge's batches
 * @param {{file: string, id: string, dictionary?: string}[]} options.collections
 */
export async function startAggregator({ binary, folder, secret, collections }) {
  await writeFile(join(folder, 'batch.secret'), `${secret}\n`, { mode: 0o600 });
  const config = {
    listen: '127.0.0.1:0',
    store: 'store',
    recipes: collections.map(({ file }) => file),
    dictionaries: Object.fromEntries(
      collections
        .filter(({ dictionary }) => dictionary)
        .map(({ id, dictionary }) => [id, dictionary]),
    ),
    batch_secret_file: 'batch.secret',
    period: 'all',
    fold_interval_s: 1,
  };
  await writeFile(join(folder, 'serve.json'), JSON.stringify(config, null, 2));
  return startServe(binary, join(folder, 'serve.json'), 'the aggregator');
}

/**
 * @param {object} options
 * @param {string} options.folder
 * @param {string} options.aggregator base URL
 * @param {string} options.secret
 * @param {string} options.token opens the metrics
 * @param {string} [options.origin] of a page that reports to it straight
 * @param {{hash: string, json: any}[]} options.recipes
 * @param {import('./oblivious.mjs').Gateway} [options.gateway] takes reports from a relay
 */
export async function startEdge({ folder, aggregator, secret, token, origin, recipes, gateway }) {
  const script = await bundleWorker(join(folder, 'edge'));
  const miniflare = new Miniflare({
    modulesRoot: dirname(script),
    scriptPath: script,
    modules: true,
    modulesRules: [
      { type: 'ESModule', include: ['**/*.js'] },
      { type: 'CompiledWasm', include: ['**/*.wasm'] },
    ],
    compatibilityDate: '2026-04-01',
    durableObjects: { COLLECTIONS: { className: 'ShoalCollection', useSQLite: true } },
    durableObjectsPersist: join(folder, 'edge-store'),
    bindings: {
      AGGREGATOR: aggregator,
      BATCH_SECRET: secret,
      ADMIN_TOKEN: token,
      ORIGINS: JSON.stringify(origin === undefined ? [] : [origin]),
      RECIPES: JSON.stringify(recipes.map(({ hash, json }) => ({ hash, recipe: json }))),
      ...(gateway && { GATEWAY_KEYS: gateway.keys, GATEWAY_RELAYS: gateway.relays }),
    },
    host: '127.0.0.1',
    port: 0,
    cf: false,
  });
  const { origin: url } = await miniflare.ready;
  /** Lines of /metrics: name with labels, and number. @returns {Promise<[string, number][]>} */
  const metrics = async () => {
    const headers = { Authorization: `Bearer ${token}` };
    const text = await (await fetch(`${url}/metrics`, { headers })).text();
    return text
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]);
  };
  return {
    url,
    /** The sum of a count over collections. @param {string} name */
    async sum(name) {
      const found = (await metrics()).filter(([line]) => line.startsWith(`shoal_edge_${name}{`));
      return found.reduce((sum, [, n]) => sum + n, 0);
    },
    /** How many reports of a recipe wait for their batch. @param {string} recipe */
    async open(recipe) {
      const start = `shoal_edge_open_reports{recipe="${recipe}"`;
      const found = (await metrics()).find(([line]) => line.startsWith(start));
      if (!found) throw new Error('the edge worker does not say how many reports wait');
      return found[1];
    },
    close: () => miniflare.dispose(),
  };
}
