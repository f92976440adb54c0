// SPDX-License-Identifier: Apache-2.0
// Starts, kills and restarts an edge as a process of its own, the same way for all runtimes: workerd, Node, Deno and Bun.

import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorker } from '../bundle.js';
import { programOf } from '../../tests/other_runtimes.mjs';
import { SECRET, TOKEN, freePort } from './support.mjs';

const START_MS = 60_000; // a workerd takes half a second
// Of a body in a test that is about another thing: a busy machine stops for more than a second.
const BODY_TIMEOUT_S = 30;

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** An edge process with a store of its own, that survives kill() and start(). */
class Edge {
  #program;
  #command;
  #child = null;

  constructor(dir, port, [program, ...command]) {
    this.#program = program;
    this.dir = dir;
    this.store = join(dir, 'store');
    this.url = `http://127.0.0.1:${port}`;
    this.#command = command;
  }

  get pid() {
    return this.#child.pid;
  }

  async start() {
    const child = spawn(this.#program, this.#command, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`no edge within ${START_MS} ms: ${said}`));
      }, START_MS);
      const hear = (data) => {
        said += data;
        if (!/ready|listening/.test(said)) return;
        clearTimeout(timer);
        resolve();
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.once('exit', (code) => {
        clearTimeout(timer);
        reject(new Error(`the edge ended with ${code}: ${said}`));
      });
    });
    this.#child = child;
    this.output = () => said;
    return this;
  }

  /** kill -9 of the process that holds the store, and of the one that started it. */
  async kill() {
    const child = this.#child;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    for (const pid of [...(await childrenOf(child.pid)), child.pid]) process.kill(pid, 'SIGKILL');
    await gone;
    this.#child = null;
  }

  async stop() {
    const child = this.#child;
    if (child === null) return 0;
    this.#child = null;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    return gone;
  }

  post(init) {
    return fetch(`${this.url}/v1/reports`, init);
  }

  /** One number of /metrics, summed over collections; 0 when absent. */
  async metric(name) {
    const text = await (
      await fetch(`${this.url}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } })
    ).text();
    const lines = text.split('\n').filter((line) => line.startsWith(`shoal_edge_${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }
}

async function childrenOf(pid) {
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'))
    .split(' ')
    .filter(Boolean)
    .map(Number);
}

/**
 * An edge that serves the recipes and forwards to the aggregator. Stopped and removed when the test ends.
 * @param {import('node:test').TestContext} t
 * @param {'workerd' | 'node' | 'deno' | 'bun'} runtime
 * `gateway`: {keys, relays: [{name, token, perMinute}], unknownPerMinute, dateWindowS}, of Oblivious HTTP
 * `script`: a worker that was bundled before, for workerd; by default that of the sources
 */
export async function startEdge(
  t,
  runtime,
  {
    recipes,
    aggregator,
    origins = ['https://site.example'],
    limits = {},
    script,
    gateway,
    tokenKeys,
  },
) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-edge-'));
  const port = await freePort();
  const config = { dir, port, recipes, aggregator, origins, limits, script, gateway, tokenKeys };
  const edge = new Edge(
    dir,
    port,
    runtime === 'workerd'
      ? [process.execPath, ...(await workerdCommand(config))]
      : [...programOf(runtime), ...(await nodeCommand(config))],
  );
  t.after(async () => {
    await edge.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  return edge.start();
}

async function workerdCommand({
  dir,
  port,
  recipes,
  aggregator,
  origins,
  limits,
  script: built,
  gateway,
  tokenKeys,
}) {
  const script = built ?? (await bundleWorker(join(dir, 'bundle')));
  const bindings = {
    RECIPES: recipes.map(({ hash, json }) => ({ hash, recipe: json })),
    ORIGINS: origins,
    AGGREGATOR: aggregator,
    BATCH_SECRET: SECRET,
    ADMIN_TOKEN: TOKEN,
    BODY_TIMEOUT_S,
    ...(tokenKeys && { TOKEN_KEYS: tokenKeys }),
    ...Object.fromEntries(
      Object.entries(limits).map(([name, value]) => [name.toUpperCase(), value]),
    ),
    ...(gateway && {
      GATEWAY_KEYS: gateway.keys,
      GATEWAY_RELAYS: relaysOf(gateway).map(({ token, ...relay }) => ({ ...relay, token })),
      GATEWAY_UNKNOWN_PER_MINUTE: gateway.unknownPerMinute,
      GATEWAY_DATE_WINDOW_S: gateway.dateWindowS,
    }),
  };
  return [
    here('run_worker.mjs'),
    JSON.stringify({ script, store: join(dir, 'store'), port, bindings }),
  ];
}

/** The relays as configurations name their members. */
const relaysOf = ({ relays = [] }) =>
  relays.map(({ name, token, perMinute }) => ({ name, token, per_minute: perMinute }));

/** Writes the gateway's files, and returns the member `gateway`. */
async function gatewayConfig(dir, gateway) {
  await writeFile(join(dir, 'gateway.keys'), JSON.stringify({ keys: gateway.keys }));
  await chmod(join(dir, 'gateway.keys'), 0o600);
  const relays = [];
  for (const { token, ...relay } of relaysOf(gateway)) {
    await writeFile(join(dir, `${relay.name}.token`), `${token}\n`);
    relays.push({ ...relay, token_file: `${relay.name}.token` });
  }
  return {
    keys_file: 'gateway.keys',
    relays,
    unknown_per_minute: gateway.unknownPerMinute,
    date_window_s: gateway.dateWindowS,
  };
}

async function nodeCommand({
  dir,
  port,
  recipes,
  aggregator,
  origins,
  limits,
  gateway,
  tokenKeys,
}) {
  await mkdir(dir, { recursive: true });
  for (const { hash, json } of recipes)
    await writeFile(join(dir, `${hash}.json`), JSON.stringify(json));
  await writeFile(join(dir, 'secret'), `${SECRET}\n`);
  await writeFile(join(dir, 'token'), `${TOKEN}\n`);
  if (tokenKeys) await writeFile(join(dir, 'tokens.json'), JSON.stringify(tokenKeys));
  const config = {
    ...(tokenKeys && { token_keys: 'tokens.json' }),
    listen: `127.0.0.1:${port}`,
    spool: 'store',
    recipes: recipes.map(({ hash }) => ({ file: `${hash}.json`, hash })),
    origins,
    aggregator,
    batch_secret_file: 'secret',
    admin_token_file: 'token',
    body_timeout_s: BODY_TIMEOUT_S,
    ...(gateway && { gateway: await gatewayConfig(dir, gateway) }),
    ...limits,
  };
  await writeFile(join(dir, 'edge.json'), JSON.stringify(config));
  return [here('../bin/shoal-edge.js'), '--config', join(dir, 'edge.json')];
}

/** Every file under a folder: name and bytes. */
export async function filesUnder(dir) {
  const files = [];
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (!entry.isFile()) continue;
    const bytes = await readFile(path).catch((error) => {
      if (error.code !== 'ENOENT') throw error; // renamed or removed meanwhile
      return null;
    });
    if (bytes !== null) files.push({ path, bytes });
  }
  return files;
}
