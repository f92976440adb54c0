// SPDX-License-Identifier: Apache-2.0
// Starts, kills and restarts a relay as a process of its own, the same way for both runtimes, and a gateway for it that notes everything.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programOf } from '../../tests/other_runtimes.mjs';
import { freePort } from '../../tests/ports.mjs';

export const GATEWAY_TOKEN = 'a-token-for-the-gateway';
export const ADMIN_TOKEN = 'a-token-of-the-operator';
export const SITE = 'https://site.example';
export const REQUEST = 'message/ohttp-req';
export const ANSWER = 'message/ohttp-res';

const START_MS = 60_000;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * A gateway that keeps what came and answers as told: `answers` first, then `usual`. An answer is a function of the body, or {status,
 * headers, body, hangUp, isEndless, delayMs}.
 */
export class StubGateway {
  /** @type {{method: string, url: string, headers: string[], body: Buffer}[]} */ requests = [];
  /** @type {any[]} */ answers = [];
  /** @type {any} */ usual = (body) => ({
    headers: { 'Content-Type': ANSWER },
    body: Buffer.from(body).reverse(),
  });
  port = 0;

  async start() {
    if (this.port === 0) this.port = await freePort();
    this.server = createServer((request, response) => this.#serve(request, response));
    await new Promise((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.port}/ohttp`;
    return this;
  }

  async stop() {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  async #serve(request, response) {
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // the relay was killed
    }
    const body = Buffer.concat(chunks);
    const { method, url, rawHeaders } = request;
    this.requests.push({ method, url, headers: rawHeaders, body });
    const told = this.answers.shift() ?? this.usual;
    const answer = typeof told === 'function' ? told(body) : told;
    if (answer.hangUp) return void request.socket.destroy();
    if (answer.delayMs) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
    response.writeHead(answer.status ?? 200, answer.headers ?? {});
    if (!answer.isEndless) return void response.end(answer.body);
    const more = setInterval(() => response.write(Buffer.alloc(1024)), 5);
    response.on('close', () => clearInterval(more));
  }
}

/** A relay's process. */
class Relay {
  #program;
  #command;
  #child = null;

  constructor(dir, port, [program, ...command]) {
    this.#program = program;
    this.dir = dir;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#command = command;
  }

  get pid() {
    return this.#child.pid;
  }

  async start() {
    const child = spawn(this.#program, this.#command, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.said = '';
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`no relay within ${START_MS} ms: ${this.said}`));
      }, START_MS);
      const hear = (data) => {
        this.said += data;
        if (!/ready|listening/.test(this.said)) return;
        clearTimeout(timer);
        resolve();
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.once('exit', (code) => {
        clearTimeout(timer);
        reject(new Error(`the relay ended with ${code}: ${this.said}`));
      });
    });
    this.#child = child;
    return this;
  }

  async kill() {
    const child = this.#child;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
    for (const pid of [...children.split(' ').filter(Boolean).map(Number), child.pid])
      process.kill(pid, 'SIGKILL');
    await gone;
    this.#child = null;
  }

  async stop() {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  }

  /** Posts a body as a page does: untyped. @param {Uint8Array} body @param {object} [headers] */
  post(body, headers = {}, path = '/r') {
    return fetch(this.url + path, { method: 'POST', headers: { Origin: SITE, ...headers }, body });
  }

  /** @returns {Promise<string>} */
  async metrics() {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    return (await fetch(`${this.url}/metrics`, { headers })).text();
  }
}

/**
 * A relay that hands what comes at /r on to the gateway. Stopped and removed when the test ends.
 * @param {import('node:test').TestContext} t
 * @param {'workerd' | 'node' | 'deno' | 'bun'} runtime
 * @param {{gateway: string, more?: object, origins?: string[], token?: string}} config  more: fields of Node's configuration
 */
export async function startRelay(
  t,
  runtime,
  { gateway, more = {}, origins = [SITE], token = GATEWAY_TOKEN },
) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-relay-'));
  const port = await freePort();
  const command =
    runtime === 'workerd'
      ? [process.execPath, ...(await workerdCommand(dir, port, gateway, origins, more, token))]
      : [...programOf(runtime), ...(await nodeCommand(dir, port, gateway, origins, more, token))];
  const relay = new Relay(dir, port, command);
  t.after(async () => {
    await relay.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  return relay.start();
}

async function nodeCommand(dir, port, gateway, origins, more, token) {
  await writeFile(join(dir, 'gateway.token'), `${token}\n`);
  await writeFile(join(dir, 'admin.token'), `${ADMIN_TOKEN}\n`);
  const config = {
    listen: `127.0.0.1:${port}`,
    routes: [{ path: '/r', gateway, token_file: 'gateway.token', origins }],
    admin_token_file: 'admin.token',
    ...more,
  };
  await writeFile(join(dir, 'relay.json'), JSON.stringify(config));
  return [here('../bin/shoal-relay.js'), join(dir, 'relay.json')];
}

async function workerdCommand(dir, port, gateway, origins, more, token) {
  const { build } = await import('esbuild');
  const script = join(dir, 'worker.js');
  await build({
    entryPoints: [here('../worker.js')],
    outfile: script,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    external: ['cloudflare:workers'],
  });
  const bindings = {
    ROUTES: [{ path: '/r', gateway, token_secret: 'GATEWAY_TOKEN', origins }],
    GATEWAY_TOKEN: token,
    ADMIN_TOKEN,
    ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name.toUpperCase(), value])),
  };
  return [here('run_relay_worker.mjs'), JSON.stringify({ script, dir, port, bindings })];
}
