// SPDX-License-Identifier: Apache-2.0
// Edge, relay and aggregator of a trial, on loopback, in this process: the same code as in production.
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { load } from 'shoal-client/node';
import { startEdge } from 'shoal-edge';
import { gatewayKeys } from 'shoal-edge/key-file';
import { readConfig as readRelay, startRelay } from 'shoal-relay';
import { watchHops } from './hops.js';
import { makeKeyLog } from './key_log.js';
import { startNative } from './native.js';
import { startReceiver } from './receiver.js';

/**
 * @typedef {import('./folder.js').Folder} Folder
 * @typedef {import('./hops.js').Say} Say
 *
 * @typedef {object} Services
 * @property {string} edge  base URL
 * @property {string | null} relay  URL
 * @property {{files: Map<string, Uint8Array>, key: string} | null} log
 * @property {import('./receiver.js').Aggregator} aggregator
 * @property {() => Promise<void>} close
 */

const HOST = '127.0.0.1';
const PER_MINUTE = 1_000_000; // of a trial, whose visitors are all one machine

/** Is a port of loopback free now? @param {number} port @returns {Promise<boolean>} */
export function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
  });
}

/** The port, or 0 for one of the system's, where it is taken. @param {number} port */
const portOr = async (port) => (port < 65_536 && (await isFree(port)) ? port : 0);

/** @param {string} folder  temporary */
async function makeGateway(folder) {
  const file = join(folder, 'gateway.keys');
  const listed = await gatewayKeys(file, true);
  const token = randomBytes(24).toString('hex');
  const { keys } = JSON.parse(await readFile(file, 'utf8'));
  return {
    token,
    log: makeKeyLog(listed, `trial-${randomBytes(4).toString('hex')}.localhost/log`),
    settings: { keys, relays: [{ name: 'trial', token, perMinute: PER_MINUTE }] },
  };
}

/**
 * @param {object} options
 * @param {string} options.folder  temporary
 * @param {string} options.edge  base URL
 * @param {string} options.token
 * @param {string} options.origin  of the page
 * @param {number} options.port
 * @param {typeof fetch} options.fetch
 */
async function startTrialRelay({ folder, edge, token, origin, port, fetch }) {
  const route = {
    path: '/',
    gateway: `${edge}/ohttp`,
    token_file: 'relay.token',
    origins: [origin],
  };
  const config = { listen: `${HOST}:${port}`, routes: [route] };
  await writeFile(join(folder, 'relay.token'), `${token}\n`, { mode: 0o600 });
  await writeFile(join(folder, 'relay.json'), JSON.stringify(config));
  return startRelay(await readRelay(join(folder, 'relay.json')), { fetch });
}

/**
 * @param {object} options
 * @param {Folder} options.folder
 * @param {string} options.temporary
 * @param {string} options.origin  of the page
 * @param {number} options.firstPort  of edge and relay, if they are free
 * @param {boolean} options.hasRelay
 * @param {string | null} options.program  `shoal`, to serve natively
 * @param {Say} options.say
 * @param {(updated: import('./receiver.js').Updated) => void} options.onUpdate
 * @param {(error: Error) => void} options.onError
 * @returns {Promise<Services>}
 */
export async function startServices({ folder, temporary, ...options }) {
  const { origin, firstPort, hasRelay, program, say, onUpdate, onError } = options;
  const { recipes } = folder;
  const own = await mkdtemp(join(temporary, 'run-'));
  const secret = randomBytes(24).toString('hex');
  /** What was started, to be ended in the other order. @type {(() => unknown)[]} */
  const ends = [];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
    await rm(own, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const store = join(own, 'aggregator');
    await mkdir(store, { mode: 0o700 });
    const common = { recipes, folder: store, secret, onUpdate, onError };
    const aggregator = await (program === null
      ? startReceiver(common)
      : startNative({ ...common, program }));
    ends.push(aggregator.close);
    const hops = watchHops(say, recipes[0].json.batch.minimum);
    ends.push(hops.close);
    const gateway = hasRelay ? await makeGateway(own) : null;
    const edge = await startEdge(
      {
        host: HOST,
        port: await portOr(firstPort),
        spool: join(own, 'spool'),
        recipes: recipes.map(({ json, hash }) => ({ recipe: json, hash })),
        origins: [origin],
        aggregator: aggregator.url,
        secret,
        bodyTimeoutMs: 10_000,
        limits: {},
        ...(gateway && { gateway: gateway.settings }),
      },
      { createCore: load, fetch: hops.edgeFetch },
    );
    ends.push(edge.close);
    hops.ports.edge = edge.port;
    const edgeUrl = `http://${HOST}:${edge.port}`;
    if (gateway === null) return { edge: edgeUrl, relay: null, log: null, aggregator, close };
    const relay = await startTrialRelay({
      folder: own,
      edge: edgeUrl,
      token: gateway.token,
      origin,
      port: await portOr(firstPort + 1),
      fetch: hops.relayFetch,
    });
    ends.push(relay.close);
    return {
      edge: edgeUrl,
      relay: `http://${HOST}:${relay.port}/`,
      log: gateway.log,
      aggregator,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
