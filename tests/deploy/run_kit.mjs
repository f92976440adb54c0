// SPDX-License-Identifier: Apache-2.0
// Starts every service of deploy/compose.yaml from its image, as the file says: command, user, environment, mounts, secrets, a root that
// cannot be written. Then a crowd reports through proxy, relay and edge, until the aggregator has a result. images.test.mjs runs this in
// namespaces of its own: ports and names are those of the file, and nothing of it can be reached from outside.
//
// Usage: unshare --net --mount node tests/deploy/run_kit.mjs STORAGE    (of buildah; needs root)
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Buildah } from '../../deploy/images/build.mjs';
import { COMPOSE_FILE, readCompose } from './compose_file.mjs';

const DEVICE = '127.0.0.77'; // where the crowd is; nobody may write it down
const ORIGIN = 'https://www.example.org';
const USER = 10001;
const SEALED = 25;
const PLAIN = 15;
const HASHED = 'words-en-7';
const WAIT_MS = 120_000;

const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
/** Tests' own client of Oblivious HTTP. @type {any} */
const ohttp = await import(new URL('../../edge/test/ohttp_client.mjs', import.meta.url).href);
const call = (/** @type {string} */ program, /** @type {string[]} */ ...args) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/** @template T @param {string} what @param {() => T | Promise<T>} check  truthy once it is so @returns {Promise<T>} */
async function until(what, check) {
  for (const end = Date.now() + WAIT_MS; ; await sleep(100)) {
    const found = await Promise.resolve()
      .then(check)
      .catch(() => null);
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
  }
}

/** A service of the compose file, in a container of its image. */
class Service {
  /** @type {import('node:child_process').ChildProcess | null} */ #child = null;
  output = '';

  /** @param {Kit} kit @param {string} name @param {any} service */
  constructor(kit, name, service) {
    this.kit = kit;
    this.name = name;
    this.service = service;
    const { buildah } = kit;
    this.container = buildah.call('from', `localhost/${service.image}`);
    this.root = buildah.call('mount', this.container);
    const inspected = JSON.parse(buildah.call('inspect', '--type', 'container', this.container));
    this.config = inspected.OCIv1.config;
    this.mounts = this.#mounts();
  }

  /** What is mounted where. @returns {{from: string, to: string, isFixed: boolean}[]} */
  #mounts() {
    const { volumes = [], secrets = [] } = this.service;
    const { folder, compose } = this.kit;
    const binds = volumes.map((/** @type {string} */ text) => {
      const [from, to, mode] = text.split(':');
      if (from.startsWith('.')) return { from: join(folder, from), to, isFixed: mode === 'ro' };
      assert.ok(Object.hasOwn(compose.volumes, from), `${this.name}: no volume ${from}`);
      return { from: this.#volume(from, to), to, isFixed: false };
    });
    for (const { source, target } of secrets)
      binds.push({ from: join(folder, compose.secrets[source].file), to: target, isFixed: true });
    return binds;
  }

  /** A named volume begins as the image's folder: with its owner and mode. @param {string} name @param {string} to */
  #volume(name, to) {
    const folder = join(this.kit.folder, 'volumes', name);
    if (existsSync(folder)) return folder;
    mkdirSync(folder, { recursive: true });
    const { uid, gid, mode } = statSync(join(this.root, to));
    chownSync(folder, uid, gid);
    chmodSync(folder, mode & 0o7777);
    return folder;
  }

  /** The places to mount at, which a root that cannot be written must have. */
  #prepareRoot() {
    for (const folder of ['dev', 'proc', 'sys', 'run', 'tmp'])
      mkdirSync(join(this.root, folder), { recursive: true });
    const own = ['/run/.containerenv', '/etc/hosts', '/etc/hostname', '/etc/resolv.conf'];
    for (const { from, to } of [...this.mounts, ...own.map((to) => ({ from: '/etc/hosts', to }))]) {
      const path = join(this.root, to);
      if (existsSync(path)) continue;
      mkdirSync(statSync(from).isDirectory() ? path : dirname(path), { recursive: true });
      if (!statSync(from).isDirectory()) writeFileSync(path, '');
    }
  }

  /** @param {string[]} command  after the image's entry point */
  #runArguments(command) {
    const { user, environment = {}, tmpfs = [], cap_drop: drop = [] } = this.service;
    return [
      ...['run', '--isolation', 'chroot', '--user', user],
      ...drop.flatMap((/** @type {string} */ name) => ['--cap-drop', name]),
      ...Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...tmpfs.flatMap((/** @type {string} */ text) => [
        '--mount',
        `type=tmpfs,dst=${text.split(':')[0]}`,
      ]),
      ...this.mounts.flatMap(({ from, to, isFixed }) => [
        '-v',
        `${from}:${to}${isFixed ? ':ro' : ''}`,
      ]),
      ...[this.container, '--', ...this.config.Entrypoint, ...command],
    ];
  }

  async start() {
    this.#prepareRoot(); // buildah took away what it mounted before
    call('mount', '--bind', this.root, this.root);
    if (this.service.read_only) call('mount', '-o', 'remount,bind,ro', this.root);
    const args = [...this.kit.buildah.options, ...this.#runArguments(this.service.command)];
    const child = spawn('buildah', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => (this.output += data));
    this.#child = child;
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`${this.name} ended with ${code}`);
    });
    failed.catch(() => {}); // later it may end
    await Promise.race([failed, until(`${this.name} starts`, () => this.pid)]);
    if (this.service.healthcheck)
      await Promise.race([failed, until(`${this.name} is healthy`, () => this.isHealthy())]);
  }

  /** The process of the program itself, once it runs. */
  get pid() {
    const program = basename(this.config.Entrypoint[0]);
    /** @param {number} pid @returns {number | undefined} */
    const find = (pid) => {
      try {
        if (basename(readlinkSync(`/proc/${pid}/exe`)) === program) return pid;
        const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
        const tasks = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
          readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '),
        );
        for (const each of new Set([...children, ...tasks].filter(Boolean))) {
          const found = find(Number(each));
          if (found !== undefined) return found;
        }
      } catch {
        // it ended meanwhile
      }
    };
    return find(/** @type {number} */ (this.#child?.pid));
  }

  /** Runs a command in the container, as `docker compose exec` does. @param {string[]} command */
  exec(...command) {
    const into = ['--mount', '--root', '--wd', '--setuid', `${USER}`, '--setgid', `${USER}`];
    return execFileSync('nsenter', ['--target', `${this.pid}`, ...into, '--', ...command], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: '/usr/local/bin:/usr/bin' },
    });
  }

  isHealthy() {
    const [kind, ...command] = this.service.healthcheck.test;
    assert.equal(kind, 'CMD');
    this.exec(...command);
    return true;
  }

  /** Where the process may write, and who it is. */
  checkConfinement() {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const field = (/** @type {string} */ name) =>
      new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1];
    assert.equal(field('Uid'), Array(4).fill(USER).join('\t'), `${this.name}: its user`);
    for (const set of ['CapPrm', 'CapEff', 'CapAmb'])
      assert.match(String(field(set)), /^0+$/, `${this.name}: ${set}`);
    const mounts = readFileSync(`/proc/${this.pid}/mounts`, 'utf8');
    assert.match(mounts, /^\S+ \/ \S+ ro,/m, `${this.name}: the root can be written`);
    for (const { to, isFixed } of this.mounts)
      assert.match(mounts, new RegExp(`^\\S+ ${to} \\S+ ${isFixed ? 'ro' : 'rw'},`, 'm'), to);
  }

  /** Ends it by the image's signal, and expects that it ends well. */
  async stop() {
    const child = this.#child;
    if (child === null) return;
    call('mount', '-o', 'remount,bind,rw', this.root); // buildah takes its files away again
    const ended = once(child, 'exit');
    const began = Date.now();
    process.kill(/** @type {number} */ (this.pid), this.config.StopSignal ?? 'SIGTERM');
    const [code] = await ended;
    this.#child = null;
    assert.equal(code, 0, `${this.name} ended with ${code}:\n${this.output}`);
    say(`${this.name}: ended in ${Date.now() - began} ms`);
    call('umount', this.root);
  }

  async remove() {
    const pid = this.#child && this.pid;
    if (pid) process.kill(pid, 'SIGKILL');
    if (this.#child && this.#child.exitCode === null) await once(this.#child, 'exit');
    this.kit.buildah.call('rm', this.container);
  }
}

/** The folder with the compose file, its services, and what an operator puts beside them. */
class Kit {
  /** @type {Record<string, Service>} */ services = {};

  /** @param {string} storage @param {Record<string, string>} variables */
  constructor(storage, variables) {
    this.buildah = new Buildah(storage);
    this.compose = readCompose(variables);
    this.folder = mkdtempSync(join(tmpdir(), 'shoal-kit-'));
    chmodSync(this.folder, 0o755);
    cpSync(join(dirname(COMPOSE_FILE), 'etc'), join(this.folder, 'etc'), { recursive: true });
    for (const name of ['secrets', 'keys', 'etc/recipes', 'etc/dictionaries'])
      mkdirSync(join(this.folder, name));
    chownSync(join(this.folder, 'keys'), USER, USER);
  }

  /** Runs a command of an image once, with the folder keys to write to. @param {string} image @param {string[]} command */
  runOnce(image, ...command) {
    const container = this.buildah.call('from', `localhost/${image}`);
    try {
      const { Entrypoint: entry } = JSON.parse(
        this.buildah.call('inspect', '--type', 'container', container),
      ).OCIv1.config;
      const mounts = ['-v', `${this.folder}/keys:/keys`, '-v', `${this.folder}/etc:/etc/shoal:ro`];
      const args = ['run', '--isolation', 'chroot', ...mounts, container, '--', ...entry];
      return this.buildah.call(...args, ...command);
    } finally {
      this.buildah.call('rm', container);
    }
  }

  /** Writes what docs/deploy.md tells the operator to write. */
  fillIn() {
    const { services, secrets } = this.compose;
    const expires = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    writeFileSync(
      join(this.folder, `etc/recipes/${HASHED}.json`),
      JSON.stringify({
        ...{ recipe: HASHED, analysis: 'kit', stream: 'typed-words', value: 'word' },
        ...{ mechanism: 'cms', parameters: { epsilon: 4, k: 16, m: 256 }, hash: 'poly1' },
        ...{ seed: '24a1c6609be7d3585f0c92e4a1b7d8803c55f7129e46ab0dd1837c2f60b94e7a' },
        ...{ limit: { per_day: 1 }, batch: { minimum: SEALED + PLAIN, max_age_s: 1 } },
        ...{ cohort: { minimum: SEALED + PLAIN }, block: { tick_s: 1 }, expires },
      }),
    );
    writeFileSync(join(this.folder, 'etc/dictionaries/words-en.txt'), 'hello\nworld\nfish\n');
    this.hash = this.runOnce(
      services.aggregator.image,
      ...['recipe', 'hash', `/etc/shoal/recipes/${HASHED}.json`],
    );
    const edge = join(this.folder, 'etc/edge.json');
    const config = JSON.parse(readFileSync(edge, 'utf8'));
    config.recipes[0].hash = this.hash;
    writeFileSync(edge, JSON.stringify(config));
    this.gatewayKey = JSON.parse(
      this.runOnce(services.edge.image, 'gateway-key', '/keys/gateway.keys'),
    );
    const keys = ['keys', '--keys', '/keys/issuer.keys', '--recipe', `${this.hash}:1`];
    this.runOnce(services.issuer.image, ...keys, '--days', '1');
    for (const [name, { file }] of Object.entries(secrets)) {
      const path = join(this.folder, file);
      if (name.endsWith('.keys')) cpSync(join(this.folder, 'keys', name), path);
      else writeFileSync(path, `${randomBytes(32).toString('base64')}\n`);
      chownSync(path, USER, USER);
      chmodSync(path, 0o400);
    }
  }

  /** @param {string} name */
  secret(name) {
    return readFileSync(join(this.folder, this.compose.secrets[name].file), 'utf8').trim();
  }

  async start() {
    for (const [name, service] of Object.entries(this.compose.services)) {
      this.services[name] = new Service(this, name, service);
      const began = Date.now();
      await this.services[name].start();
      say(`${name}: ${service.image}, up after ${Date.now() - began} ms`);
      this.services[name].checkConfinement();
    }
  }

  async remove() {
    for (const service of Object.values(this.services)) await service.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Sends a request over TLS to the proxy, from the crowd's address.
 * @param {{ca: string, site: string, path: string, method?: string, headers?: Record<string, string>, body?: Uint8Array | string}} what
 * @returns {Promise<{status: number, headers: any, body: Buffer}>}
 */
async function ask({ ca, site, path, method = 'POST', headers = {}, body }) {
  const request = httpsRequest({
    ...{ host: '127.0.0.1', port: 8443, localAddress: DEVICE, servername: site, ca },
    ...{ agent: false, method, path: posix.join('/', path), headers: { Host: site, ...headers } },
  });
  request.end(body);
  const [response] = await once(request, 'response');
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

/** Sends the crowd's reports: some sealed through the relay, some to the edge itself. @param {Kit} kit @param {string} ca */
async function report(kit, ca) {
  writeFileSync(join(kit.folder, 'etc/counts.tsv'), 'hello\t24\nworld\t10\nfish\t6\n');
  kit.runOnce(
    kit.compose.services.aggregator.image,
    ...['simulate', '--recipe', `/etc/shoal/recipes/${HASHED}.json`],
    ...['--counts', '/etc/shoal/counts.tsv', '--devices', `${SEALED + PLAIN}`],
    ...['--seed', '1', '--format', 'ndjson', '-o', '/keys/reports.ndjson'],
  );
  const reports = readFileSync(join(kit.folder, 'keys/reports.ndjson'), 'utf8').trim();
  const { keys } = JSON.parse(readFileSync(join(kit.folder, 'keys/gateway.keys'), 'utf8'));
  const key = await ohttp.publicKey(keys);
  for (const [i, body] of reports.split('\n').entries()) {
    const headers = {
      'Content-Type': 'application/json',
      'Idempotency-Key': randomBytes(16).toString('hex'),
    };
    if (i < SEALED) {
      const sealed = await ohttp.sealed('/v1/reports', { headers, body }, key);
      const relayed = { ca, site: 'relay.localhost', path: '/', headers: { Origin: ORIGIN } };
      const answer = await ask({ ...relayed, body: sealed.body });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal((await sealed.open(new Uint8Array(answer.body))).status, 202);
    } else {
      const plain = { ca, site: 'edge.localhost', path: '/v1/reports', body };
      const answer = await ask({ ...plain, headers: { ...headers, Origin: ORIGIN } });
      assert.equal(answer.status, 202, answer.body.toString());
    }
  }
  say(`${SEALED} sealed reports through proxy and relay, ${PLAIN} through the proxy: accepted`);
}

/** Asks as docs/deploy.md says. @param {Kit} kit */
function result(kit) {
  const token = `Authorization: Bearer ${kit.secret('read.token')}`;
  const url = `http://127.0.0.1:8471/v1/results/${HASHED}`;
  return JSON.parse(kit.services.aggregator.exec('/usr/bin/curl', '-fsS', '-H', token, url));
}

/** @param {Kit} kit @param {string} ca @param {import('node:http').Server} login */
async function checkIssuer(kit, ca, login) {
  const asked = { ca, site: 'issuer.localhost' };
  const path = '/.well-known/private-token-issuer-directory';
  const keys = await ask({ ...asked, path, method: 'GET' });
  assert.equal(keys.status, 200);
  assert.equal(JSON.parse(keys.body.toString())['token-keys'].length > 0, true);
  // Whoever is not logged in is nobody, whatever the request says.
  const claims = { 'X-Site-Account': 'somebody-else', Origin: ORIGIN };
  const post = { ...asked, path: '/token-request', body: 'no bundle', headers: claims };
  assert.equal((await ask(post)).status, 401);
  const seen = once(login, 'request').then(([{ headers }]) => headers);
  const known = await ask({ ...post, headers: { ...claims, Cookie: 'session=alice' } });
  assert.equal((await seen)['x-site-account'], undefined, 'a claim reaches the login');
  assert.equal(JSON.parse(known.body.toString()).error.code, 'bundle', 'the login was believed');
  say('issuer: its keys are public, and the site’s login alone says who asks');
}

/** What strangers do to a server on the internet. @param {Kit} kit @param {string} ca */
async function provoke(kit, ca) {
  const noise = connect({ host: '127.0.0.1', port: 8443, localAddress: DEVICE });
  noise.end('this is no TLS\r\n\r\n');
  await once(noise.resume(), 'close');
  const private_ = { ca, method: 'GET' };
  const { services } = kit;
  assert.equal((await ask({ ...private_, site: 'edge.localhost', path: '/metrics' })).status, 404);
  assert.equal((await ask({ ...private_, site: 'relay.localhost', path: '/metrics' })).status, 404);
  await services.relay.stop();
  const lost = { ca, site: 'relay.localhost', path: '/', body: 'x' };
  assert.equal((await ask(lost)).status, 502, 'the relay is gone');
}

/** What the services, which have ended, said and kept. @param {Kit} kit */
async function checkTraces(kit) {
  const services = Object.values(kit.services);
  const address = DEVICE.replaceAll('.', '\\.');
  for (const { name, output } of services)
    assert.doesNotMatch(output, new RegExp(address), `${name} logs an address`);
  const args = ['-rlF', '-e', DEVICE, join(kit.folder, 'volumes')];
  const found = spawn('grep', args, { stdio: ['ignore', 'inherit', 'inherit'] });
  assert.deepEqual(await once(found, 'exit'), [1, null], 'a volume holds an address');
  for (const secret of Object.keys(kit.compose.secrets))
    for (const { name, output } of services)
      assert.ok(!output.includes(kit.secret(secret)), `${name} logs ${secret}`);
  say('no output and no volume holds the address of a device; no output holds a secret');
}

async function main() {
  const [storage] = process.argv.slice(2);
  call('mount', '--make-rprivate', '/');
  call('ip', 'link', 'set', 'lo', 'up');
  const login = createServer(({ headers }, response) => {
    const isKnown = headers.cookie === 'session=alice';
    response.writeHead(isKnown ? 200 : 401, isKnown ? { 'X-Site-Account': 'alice' } : {}).end();
  });
  await once(login.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (login.address());
  const kit = new Kit(storage, {
    SHOAL_ISSUER_SITE: 'issuer.localhost',
    SHOAL_LOGIN: `http://127.0.0.1:${port}`,
  });
  try {
    // The names that compose gives the services. All are here, where compose would part them by networks.
    const hosts = join(kit.folder, 'hosts');
    writeFileSync(hosts, `127.0.0.1 localhost ${Object.keys(kit.compose.services).join(' ')}\n`);
    call('mount', '--bind', hosts, '/etc/hosts');
    kit.fillIn();
    await kit.start();
    const authority = join(kit.folder, 'volumes/proxy-data/caddy/pki/authorities/local/root.crt');
    const ca = await until('the proxy has a certificate', () => readFileSync(authority, 'utf8'));
    const health = { ca, site: 'edge.localhost', path: '/healthz', method: 'GET' };
    await until('the proxy answers', async () => (await ask(health)).status === 200);
    await report(kit, ca);
    const first = await until('a result', () => result(kit));
    assert.equal(first.n, SEALED + PLAIN);
    assert.equal(first.rows[0].value, 'hello');
    say(`result: n = ${first.n}, ${first.rows.length} rows, "hello" first`);
    await checkIssuer(kit, ca, login);
    const { aggregator } = kit.services;
    await aggregator.stop();
    await aggregator.start();
    assert.deepEqual(await until('the same result', () => result(kit)), first);
    say('aggregator: started again, it has the same result');
    await provoke(kit, ca);
    for (const service of Object.values(kit.services)) await service.stop();
    await checkTraces(kit);
  } catch (error) {
    for (const { name, output } of Object.values(kit.services)) say(`== ${name}\n${output}`);
    throw error;
  } finally {
    await kit.remove();
    login.close();
  }
}

await main();
