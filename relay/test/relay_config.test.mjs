// SPDX-License-Identifier: Apache-2.0
// The relay's configuration: defaults, what is refused and in which words, and any other JSON.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readConfig } from '../config.js';
import { memoryOf } from '../node.js';

const GOOD = {
  listen: '127.0.0.1:0',
  routes: [{ path: '/', gateway: 'https://edge.example/ohttp' }],
};
let dir;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'shoal-relay-config-'));
  await writeFile(join(dir, 'token'), 'a-token-for-the-gateway\nan older line\n');
  await writeFile(join(dir, 'short'), 'short\n');
});
after(() => rm(dir, { recursive: true }));

/** @param {any} json */
async function read(json) {
  const path = join(dir, 'relay.json');
  await writeFile(path, typeof json === 'string' ? json : JSON.stringify(json));
  return readConfig(path);
}

test('defaults', async () => {
  const config = await read(GOOD);
  assert.deepEqual([config.host, config.port], ['127.0.0.1', 0]);
  assert.deepEqual(
    [...config.routes.values()],
    [{ path: '/', gateway: 'https://edge.example/ohttp', origins: ['*'], token: null }],
  );
  assert.deepEqual(config.limits, {
    maxBytes: 65_536,
    bodyMs: 10_000,
    gatewayMs: 20_000,
    heldBytes: 67_108_864,
  });
  assert.deepEqual(config.rate, { perMinute: 120, burst: 240, addresses: 65_536 });
  assert.deepEqual([config.healthz, config.adminToken, config.addressHeader], [true, null, null]);
  const { proxies, ...connections } = config.connections;
  assert.deepEqual(connections, {
    connections: 4096,
    perAddress: 256,
    reserved: 0,
    headersMs: 10_000,
    bodyMs: 10_000,
    idleMs: 5000,
  });
  assert.ok(proxies.includes('127.0.0.0/8'));
  assert.equal(Math.ceil(memoryOf(config) / 2 ** 20), 496, 'as docs/operate.md says');
});

test('every field', async () => {
  const config = await read({
    listen: '[::1]:8443',
    routes: [
      {
        path: '/one',
        gateway: 'http://127.0.0.1:8081/ohttp',
        token_file: 'token',
        origins: ['https://a.example', 'https://b.example:8443', 'chrome-extension://abcdefgh'],
      },
      { path: '/two/three', gateway: 'https://edge.example/ohttp?site=2' },
    ],
    max_bytes: 4096,
    body_timeout_s: 3,
    gateway_timeout_s: 4,
    held_bytes: 1 << 20,
    rate: null,
    healthz: false,
    admin_token_file: 'token',
    address_header: 'x-forwarded-for',
    proxies: ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'],
    connections: 10,
    connections_per_address: 2,
    headers_timeout_s: 1,
    idle_timeout_s: 2,
    gateway_connections: 5,
  });
  assert.deepEqual([config.host, config.port], ['::1', 8443]);
  assert.equal(config.routes.get('/one')?.token, 'a-token-for-the-gateway', 'the first line');
  assert.equal(config.adminToken, 'a-token-for-the-gateway');
  assert.equal(config.rate, null);
  assert.equal(config.connections.bodyMs, 3000);
});

const route = (more) => ({ ...GOOD, routes: [{ ...GOOD.routes[0], ...more }] });

for (const [json, words] of [
  ['{', /relay\.json is not JSON/],
  [[], /an object is needed/],
  [{ ...GOOD, port: 1 }, /unknown field "port"/],
  [{ ...GOOD, listen: undefined }, /listen: "host:port"/],
  [{ ...GOOD, listen: '127.0.0.1:65536' }, /listen/],
  [{ ...GOOD, routes: undefined }, /routes: a list/],
  [{ ...GOOD, routes: [] }, /routes: a list/],
  [{ ...GOOD, routes: [1] }, /routes: an object/],
  [{ ...GOOD, routes: [...GOOD.routes, ...GOOD.routes] }, /"\/" is there twice/],
  [route({ token: 'a-token-for-the-gateway' }), /unknown field "token"/],
  [route({ path: 'relay' }), /routes\.path/],
  [route({ path: '/a/../b' }), /routes\.path/],
  [route({ path: '/a?b' }), /routes\.path/],
  [route({ path: '/a b' }), /routes\.path/],
  [route({ path: '/healthz' }), /the relay's own/],
  [route({ path: '/metrics' }), /the relay's own/],
  [route({ gateway: 'edge.example' }), /routes\.gateway/],
  [route({ gateway: 'ftp://edge.example' }), /routes\.gateway/],
  [route({ gateway: 'https://user@edge.example' }), /routes\.gateway/],
  [route({ origins: [] }), /routes\.origins/],
  [route({ origins: ['https://a.example/'] }), /routes\.origins/],
  [route({ origins: 'https://a.example' }), /routes\.origins/],
  [route({ origins: ['chrome-extension://a/page'] }), /routes\.origins/],
  [route({ origins: ['data:x'] }), /routes\.origins/],
  [route({ token_file: 'short' }), /at least 16 printable/],
  [route({ token_file: 'nowhere' }), /ENOENT/],
  [route({ token_file: 7 }), /routes\.token_file/],
  [{ ...GOOD, max_bytes: 100 }, /max_bytes: a whole number from 1024/],
  [{ ...GOOD, max_bytes: 5000.5 }, /max_bytes/],
  [{ ...GOOD, body_timeout_s: '10' }, /body_timeout_s/],
  [{ ...GOOD, gateway_timeout_s: 0 }, /gateway_timeout_s/],
  [{ ...GOOD, held_bytes: 0 }, /held_bytes/],
  [{ ...GOOD, rate: 5 }, /rate: an object/],
  [{ ...GOOD, rate: { per_second: 1 } }, /unknown field "per_second"/],
  [{ ...GOOD, rate: { burst: 0 } }, /rate\.burst/],
  [{ ...GOOD, healthz: 1 }, /healthz/],
  [{ ...GOOD, admin_token_file: 7 }, /admin_token_file/],
  [{ ...GOOD, address_header: 'X-Forwarded-For' }, /address_header/],
  [{ ...GOOD, proxies: ['10.0.0.0/33'] }, /proxies: "10.0.0.0\/33"/],
  [{ ...GOOD, proxies: ['somewhere'] }, /proxies/],
  [{ ...GOOD, proxies: '10.0.0.0/8' }, /proxies/],
  [{ ...GOOD, connections: 0 }, /connections/],
  [{ ...GOOD, connections_per_address: -1 }, /connections_per_address/],
  [{ ...GOOD, gateway_connections: 0 }, /gateway_connections/],
])
  test(`refused: ${JSON.stringify(json).slice(0, 90)}`, () =>
    assert.rejects(() => read(json), words));

test('any JSON is read or refused by a sentence, with fixed and fresh seeds', async () => {
  for (const seed of [7, randomInt(2 ** 31)]) {
    let state = seed;
    const draw = (n) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state >>> 8) % n;
    };
    const values = [
      null, true, 0, -1, 1e99, 0.5, 10, 65_536, '', '/', 'token', 'https://a.example', '*', [], {}, ['*'],
      [{}], { path: '/' }, '__proto__', '/\u0000', 'x'.repeat(5000), [[[]]], { per_minute: 1 },
    ]; // prettier-ignore
    const names = [
      ...Object.keys(await read(GOOD)),
      'listen', 'routes', 'max_bytes', 'rate', 'healthz', 'proxies', 'connections', 'address_header', '__proto__',
    ]; // prettier-ignore
    for (let i = 0; i < 400; i++) {
      const json = draw(4) === 0 ? {} : structuredClone(GOOD);
      for (let n = draw(4); n >= 0; n--) {
        const first = json.routes?.[0];
        const target = typeof first === 'object' && first !== null && draw(2) ? first : json;
        const value = structuredClone(values[draw(values.length)]); // its own: an object put into itself has no JSON
        const name = draw(3)
          ? names[draw(names.length)]
          : ['path', 'gateway', 'origins', 'token_file'][draw(4)];
        Object.defineProperty(target, name, { value, enumerable: true, configurable: true });
      }
      try {
        const config = await read(json);
        assert.ok(config.routes.size > 0 && Number.isInteger(config.limits.maxBytes));
      } catch (error) {
        assert.ok(!(error instanceof assert.AssertionError), error.message);
        assert.ok(
          !['TypeError', 'RangeError', 'ReferenceError'].includes(error.name) || error.code,
          `seed ${seed}: ${error.stack} on ${JSON.stringify(json)}`,
        );
      }
    }
  }
});

const command = fileURLToPath(new URL('../bin/shoal-relay.js', import.meta.url));
const runCommand = (...args) =>
  promisify(execFile)(process.execPath, [command, ...args]).catch((error) => error);

test('the command says what is wrong', async () => {
  assert.match(
    (await runCommand('--help')).stdout,
    /usage: shoal-relay --config FILE .*\n(?: +.*\n)* +shoal-relay FILE\n/,
  );
  for (const [args, code, words] of [
    [[], 2, /one --config FILE is needed/],
    [['a', 'b'], 2, /one --config FILE is needed/],
    [['--port', '1'], 2, /: Unknown option '--port'; see --help\n$/],
    [['--config', 'a', 'b'], 2, /one --config FILE is needed/],
    [[join(dir, 'none.json')], 1, /none\.json: there is no such file/],
    [['--config', join(dir, 'none.json')], 1, /none\.json: there is no such file/],
  ]) {
    const { code: got, stderr } = await runCommand(...args);
    assert.equal(got, code);
    assert.match(stderr, words);
  }
});
