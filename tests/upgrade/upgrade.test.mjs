// SPDX-License-Identifier: Apache-2.0
// An upgrade and its roll-back, while reports come in: client, edge and aggregator of this release and of the one before, in
// the order of docs/upgrade.md and back again. Every report that was accepted is counted once. The relay is not taken part:
// the release before has none. SHOAL_LONG=1 builds the release before. Every run opens what it left, and what a newer release
// would leave.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { freePort } from '../ports.mjs';
import { MINIMUM, PREVIOUS, RECIPE, hasHistory, present, previous } from './previous.mjs';

/** @typedef {import('./previous.mjs').Release} Release */

const isLong = process.env.SHOAL_LONG === '1';
const WAIT_MS = 120_000;
const SECRET = 'a-secret-of-the-upgrade';

/** @param {() => unknown} condition @param {() => string} what */
async function until(condition, what) {
  for (const end = Date.now() + WAIT_MS; Date.now() < end;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`waited in vain for ${what()}`);
}

/** @param {import('node:test').TestContext} t */
function makeFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-upgrade-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/**
 * Starts a program and waits until it listens.
 * @param {import('node:test').TestContext} t @param {string} command @param {string[]} args
 */
async function start(t, command, ...args) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let log = '';
  child.stderr.on('data', (text) => (log += text));
  await until(
    () => {
      assert.equal(child.exitCode, null, `${command}: ${log}`);
      return /listening/.test(log);
    },
    () => `${command}: ${log}`,
  );
  return {
    /** @param {NodeJS.Signals} signal */
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      await exit;
    },
  };
}

/**
 * Hands a request on.
 * @param {number} port @param {import('node:http').IncomingMessage} incoming @param {Buffer} body
 * @returns {Promise<number | 'refused' | 'broken'>} the status; refused: nobody has the request
 */
function forward(port, { url, method, headers }, body) {
  return new Promise((resolve) => {
    const onward = request({ port, host: '127.0.0.1', path: url, method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 502);
    });
    onward.on('error', (/** @type {NodeJS.ErrnoException} */ { code }) =>
      resolve(code === 'ECONNREFUSED' ? 'refused' : 'broken'),
    );
    onward.end(body);
  });
}

/** A service: two edges behind a proxy, and an aggregator, each of a release that may change. */
class Service {
  accepted = 0;
  refused = 0;
  /** Ports that the proxy sends requests to. @type {number[]} */ #upstream = [];
  /** Requests that an edge may have taken before it ended. @type {WeakSet<object>} */ #held =
    new WeakSet();
  #folder;
  #t;
  /** @type {Awaited<ReturnType<typeof start>> | null} */ #aggregator = null;
  /** @type {Awaited<ReturnType<typeof start>>[]} */ #edges = [];
  #ports = { edges: [0, 0], aggregator: 0, proxy: 0 };

  /** @param {import('node:test').TestContext} t @param {string} hash */
  constructor(t, hash) {
    this.#t = t;
    this.#folder = makeFolder(t);
    this.hash = hash;
  }

  async open() {
    const write = (/** @type {string} */ name, /** @type {object} */ json) =>
      writeFileSync(join(this.#folder, name), JSON.stringify(json));
    this.#ports = {
      edges: [await freePort(), await freePort()],
      aggregator: await freePort(),
      proxy: 0,
    };
    write('recipe.json', RECIPE);
    writeFileSync(join(this.#folder, 'words.txt'), 'fish\nshoal\n');
    writeFileSync(join(this.#folder, 'secret'), `${SECRET}\n`);
    write('serve.json', {
      listen: `127.0.0.1:${this.#ports.aggregator}`,
      store: 'store',
      recipes: ['recipe.json'],
      dictionaries: { words: 'words.txt' },
      batch_secret_file: 'secret',
      period: 'all',
      fold_interval_s: 0.05,
    });
    for (const i of [0, 1])
      write(`edge-${i}.json`, {
        listen: `127.0.0.1:${this.#ports.edges[i]}`,
        spool: `spool-${i}`, // each edge has its own
        recipes: [{ file: 'recipe.json', hash: this.hash }],
        aggregator: `http://127.0.0.1:${this.#ports.aggregator}`,
        batch_secret_file: 'secret',
      });
    await this.#proxy();
  }

  /**
   * A proxy as it should stand before edges: it tries the next one where a connection is refused. A request that may have
   * reached an edge is repeated at that edge only, which knows its idempotency key.
   */
  async #proxy() {
    const server = createServer(async (incoming, outgoing) => {
      /** @type {Buffer[]} */
      const pieces = [];
      for await (const piece of incoming) pieces.push(piece);
      const body = Buffer.concat(pieces);
      for (const end = Date.now() + WAIT_MS; Date.now() < end;) {
        for (const port of [...this.#upstream].sort(() => Math.random() - 0.5)) {
          let outcome = await forward(port, incoming, body);
          while (outcome === 'broken' || (outcome === 'refused' && this.#held.has(incoming))) {
            this.#held.add(incoming);
            await new Promise((resolve) => setTimeout(resolve, 20));
            outcome = await forward(port, incoming, body);
          }
          if (typeof outcome === 'number') return outgoing.writeHead(outcome).end();
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      outgoing.writeHead(502).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#t.after(() => server.close());
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    this.url = `http://127.0.0.1:${address.port}`;
  }

  /** @param {Release} release */
  async startAggregator(release) {
    const config = join(this.#folder, 'serve.json');
    this.#aggregator = await start(this.#t, release.shoal, 'serve', '--config', config);
  }

  /** @param {Release} release @param {NodeJS.Signals} [signal] */
  async replaceAggregator(release, signal) {
    await this.#aggregator?.end(signal);
    await this.startAggregator(release);
  }

  /** @param {number} i @param {Release} release */
  async startEdge(i, release) {
    const config = join(this.#folder, `edge-${i}.json`);
    this.#edges[i] = await start(this.#t, process.execPath, release.edge, '--config', config);
    this.#upstream.push(this.#ports.edges[i]);
  }

  /** Takes an edge out of the proxy, ends it, and starts another release on its spool. */
  async replaceEdge(
    /** @type {number} */ i,
    /** @type {Release} */ release,
    /** @type {NodeJS.Signals} */ signal = 'SIGTERM',
  ) {
    this.#upstream = this.#upstream.filter((port) => port !== this.#ports.edges[i]);
    await this.#edges[i].end(signal);
    await this.startEdge(i, release);
  }

  async counted() {
    const url = `http://127.0.0.1:${this.#ports.aggregator}/v1/results/words`;
    const { n = 0 } = /** @type {any} */ (await (await fetch(url)).json());
    return n;
  }

  /**
   * Sends more reports until none waits below the minimum in an edge: a burst fills a batch up, and the next one is sealed
   * with the rest of the burst.
   * @param {{report: () => string}} client
   */
  async flush(client) {
    for (const end = Date.now() + WAIT_MS; Date.now() < end;) {
      for (const port of this.#ports.edges) {
        const burst = Array.from({ length: 4 * MINIMUM }, () => initOf(client));
        const url = `http://127.0.0.1:${port}/v1/reports`;
        for (const { status } of await Promise.all(burst.map((init) => fetch(url, init))))
          assert.equal(status, 202);
        this.accepted += burst.length;
      }
      for (let i = 0; i < 50; i++) {
        const counted = await this.counted();
        assert.ok(counted <= this.accepted, `${counted} of ${this.accepted} are counted`);
        if (counted === this.accepted) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    assert.equal(await this.counted(), this.accepted);
  }

  path(/** @type {string} */ name) {
    return join(this.#folder, name);
  }

  async end() {
    for (const edge of this.#edges) await edge.end();
    await this.#aggregator?.end();
  }
}

/** Reports as the clients of a release make them. @param {Release} release */
async function reporter({ core }) {
  const { load } = await import(core);
  const recipe = (await load()).recipe(RECIPE);
  return {
    hash: recipe.hash,
    report: () => JSON.stringify(recipe.report(recipe.randomize('fish', randomBytes(32)))),
  };
}

/** A request with a new report. @param {{report: () => string}} client */
function initOf(client) {
  const key = Buffer.from(randomBytes(16)).toString('hex');
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key };
  return { method: 'POST', headers, body: client.report() };
}

const randomBytes = (/** @type {number} */ n) => crypto.getRandomValues(new Uint8Array(n));

/**
 * Goes through an upgrade and a roll-back under traffic. Devices of both releases report all the while, and keep a report
 * until it is accepted.
 * @param {import('node:test').TestContext} t @param {Release} before @param {Release} after
 */
async function rehearse(t, before, after) {
  const clients = [await reporter(before), await reporter(after)];
  assert.equal(clients[0].hash, clients[1].hash, 'the recipe is the same in both releases');
  const service = new Service(t, clients[0].hash);
  await service.open();
  await service.startAggregator(before);
  for (const i of [0, 1]) await service.startEdge(i, before);

  let goesOn = true;
  const device = async (/** @type {{report: () => string}} */ client) => {
    while (goesOn) {
      const init = initOf(client);
      for (let status = 0; status !== 202;) {
        status = (await fetch(`${service.url}/v1/reports`, init)).status;
        assert.ok(status === 202 || status >= 500, `status ${status}`);
        if (status === 202) service.accepted++;
        else service.refused++;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const traffic = Promise.all([clients[0], clients[1], clients[0]].map(device));
  traffic.catch(() => {}); // looked at below
  const more = async () => {
    const least = service.accepted + 4 * MINIMUM;
    await Promise.race([
      until(
        () => service.accepted >= least,
        () => 'reports',
      ),
      traffic,
    ]);
  };

  await more();
  // The order of docs/upgrade.md: the aggregator first, then one edge after the other.
  await service.replaceAggregator(after);
  await more();
  for (const i of [0, 1]) {
    await service.replaceEdge(i, after);
    await more();
  }
  const whileUpgraded = service.accepted;
  // Back again, in the reverse order; each party is killed once instead of being ended.
  await service.replaceEdge(1, before, 'SIGKILL');
  await more();
  await service.replaceAggregator(before, 'SIGKILL');
  await more();
  await service.replaceEdge(0, before);
  await more();
  assert.equal(service.refused, 0, 'no device was turned away');
  goesOn = false;
  await traffic;
  await service.flush(clients[1]);
  t.diagnostic(
    `${service.accepted} reports, ${whileUpgraded} before the roll-back, all counted once`,
  );
  await service.end();
}

test('a store of a newer release is not touched, and named', async (t) => {
  const folder = makeFolder(t);
  const from = new URL('../artefacts/release/', import.meta.url);
  cpSync(from, folder, { recursive: true });
  const database = readFileSync(join(folder, 'store/shoal.db'));
  database.writeUInt32BE(99, 60); // the version, in the header of the database
  writeFileSync(join(folder, 'store/shoal.db'), database);
  const { mtimeMs } = statSync(join(folder, 'store/shoal.db'));
  const args = ['serve', '--config', join(folder, 'serve.json')];
  const done = spawnSync(present.shoal, args, { encoding: 'utf8', timeout: WAIT_MS });
  assert.notEqual(done.status, 0);
  assert.match(done.stderr, /version 99 was written by a newer shoal; this one reads version \d/);
  assert.deepEqual(readFileSync(join(folder, 'store/shoal.db')), database);
  assert.equal(statSync(join(folder, 'store/shoal.db')).mtimeMs, mtimeMs);
});

test('what the release before left is read: a store and a spool', async (t) => {
  const { hash } = await reporter(present);
  const service = new Service(t, hash);
  await service.open();
  for (const [name, as] of [
    ['store', 'store'],
    ['spool', 'spool-0'],
  ])
    cpSync(new URL(`../artefacts/release/${name}`, import.meta.url), service.path(as), {
      recursive: true,
    });
  const { counted, spooled } = JSON.parse(
    readFileSync(new URL('../artefacts/release/counts.json', import.meta.url), 'utf8'),
  );
  await service.startAggregator(present);
  await until(
    async () => (await service.counted()) === counted,
    () => `${counted} reports`,
  );
  await service.startEdge(0, present);
  await until(
    async () => (await service.counted()) === counted + spooled,
    () => 'the spool',
  );
  await service.end();
});

test(
  `an upgrade from ${PREVIOUS} and its roll-back under traffic`,
  {
    timeout: 3_600_000,
    skip: !isLong
      ? 'SKIPPED: SHOAL_LONG=1 builds the release before'
      : !hasHistory() && 'SKIPPED: the history of the release before is not here',
  },
  (t) => rehearse(t, previous(), present),
);
