// SPDX-License-Identifier: Apache-2.0
// The issuer's routes: one bundle an account and day, blind signatures, and every wrong request with its own answer.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BundleCounts } from '../bundle_counts.js';
import { readConfig } from '../config.js';
import { DigestTable } from '../digest_table.js';
import { readExposition } from '../../tests/exposition.mjs';
import { handle, newOutcomes } from '../handler.js';
import { keysUntil } from '../metrics.js';
import { startIssuer } from '../node.js';
import { openKeyInNode } from '../rsa_node.js';
import { openKeys } from '../signing_keys.js';
import { BUNDLE_SIZE_MAX, readBundle } from '../token_bundle.js';
import {
  DAY_MS,
  ORIGIN,
  RECIPES,
  bundleInit,
  keyFile,
  newBundle,
  number,
  sha,
  signersFor,
  startIssuerProcess,
} from './issuer_support.mjs';

const DAY = 20_800;
const BASE = 'https://site.example/tokens';
const isLong = process.env.SHOAL_LONG === '1';

async function folder(t) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-counts-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** The handler over counts in a folder, with a clock that a test moves. */
async function setUp(t, { account = (request) => known(request), max = 100 } = {}) {
  const clock = { now: DAY * DAY_MS + 1000 };
  const counts = new BundleCounts(await folder(t), { max, now: () => clock.now });
  t.after(() => counts.close());
  const signers = await signersFor(RECIPES.slice(0, 2), [DAY, DAY + 1]);
  const deps = {
    base: BASE,
    origins: [ORIGIN],
    signers,
    account,
    count: counts.count,
    now: () => clock.now,
    bodyTimeoutMs: 2000,
  };
  const call = (path, init) => handle(new Request(`https://site.example${path}`, init), deps);
  const ask = async (body, name = 'alice', headers = {}) => {
    const answer = await call(
      '/tokens/token-request',
      bundleInit(body, { 'X-Account': name, ...headers }),
    );
    const bytes = Buffer.from(await answer.arrayBuffer());
    return [answer.status, answer.ok ? bytes : JSON.parse(bytes).error.code];
  };
  const of = (day) => signers.filter((signer) => signer.day === day);
  return { clock, counts, deps, call, ask, today: of(DAY), tomorrow: of(DAY + 1) };
}

const known = ({ headers }) => {
  const id = headers.get('x-account');
  return id ? { id, isReal: id !== 'robot' } : null;
};

test('an account gets one bundle a day: the same request again, and no other one', async (t) => {
  const { ask, today, tomorrow } = await setUp(t);
  const bundle = await newBundle(today);
  const [status, answer] = await ask(bundle.body);
  assert.equal(status, 200);
  assert.equal(answer.length, 4 * 256);
  assert.equal(await bundle.open(answer), 4, 'tokens that verify');
  assert.deepEqual(await ask(bundle.body), [200, answer], 'a lost answer costs nothing');
  assert.deepEqual(await ask((await newBundle(today)).body), [409, 'spent']);
  assert.equal(
    (await ask((await newBundle(tomorrow)).body))[0],
    200,
    'another day is another bundle',
  );
  assert.equal((await ask((await newBundle(today)).body, 'bob'))[0], 200, 'so is another account');
  assert.equal((await ask((await newBundle([today[1]])).body, 'carol'))[0], 200, 'or a part of it');
  assert.deepEqual(await ask((await newBundle([today[0]])).body, 'carol'), [409, 'spent']);
});

test('metrics: what became of requests and how long keys last, for the admin token, and of no account', async (t) => {
  const { ask, call, deps, today, clock } = await setUp(t);
  const token = 'a-token-of-the-operator';
  const read = (given) =>
    call('/metrics', { headers: given ? { Authorization: `Bearer ${given}` } : {} });
  assert.equal((await read(token)).status, 404, 'absent without a token of its own');
  Object.assign(deps, { adminToken: token, outcomes: newOutcomes() });
  for (const given of [undefined, `${token}x`]) assert.equal((await read(given)).status, 401);
  const { body } = await newBundle(today);
  await ask(body);
  await ask(body);
  await ask((await newBundle(today)).body);
  await ask(body, 'robot');
  await call('/tokens/token-request');
  const answer = await read(token);
  const text = await answer.text();
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const metrics = readExposition(text);
  const counted = metrics.get('shoal_issuer_requests_total').samples;
  assert.deepEqual(
    Object.fromEntries(
      counted.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.outcome, value]),
    ),
    { issued: 1, repeated: 1, spent: 1, real: 1, method: 1 },
  );
  const until = () => [...keysUntil(deps.signers, clock.now).values()].map((s) => s / 86_400);
  assert.deepEqual(until(), [DAY + 2, DAY + 2], 'today and tomorrow have keys');
  clock.now += 2 * DAY_MS;
  assert.deepEqual(until(), [DAY + 2, DAY + 2], 'today has none');
  assert.ok(!/alice|robot/.test(text));
});

test('health: everybody is told that it answers, and nothing else', async (t) => {
  const { call, deps } = await setUp(t);
  for (const method of ['GET', 'HEAD']) {
    const answer = await call('/healthz', { method });
    assert.deepEqual([answer.status, await answer.json()], [200, { status: 'ok' }]);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  }
  assert.equal((await call('/healthz', { method: 'POST', body: 'x' })).status, 405);
  assert.equal(
    (await call('/tokens/healthz')).status,
    404,
    'at the root, as of the other services',
  );
  deps.health = () => ({ reload: 'refused' });
  assert.deepEqual(await (await call('/healthz')).json(), { status: 'ok', reload: 'refused' });
});

test('two requests of an account at once: one is answered', async (t) => {
  const { ask, today } = await setUp(t);
  const bodies = await Promise.all(
    Array.from({ length: 8 }, async () => (await newBundle(today)).body),
  );
  const answers = await Promise.all([...bodies, ...bodies].map((body) => ask(body)));
  assert.equal(answers.filter(([status]) => status === 200).length, 2, 'and its repeat');
  assert.equal(answers.filter(([, code]) => code === 'spent').length, 14);
});

test('every wrong request is refused with a code of its own, and counts nothing', async (t) => {
  const { ask, call, today, tomorrow, clock } = await setUp(t);
  const { body } = await newBundle(today);
  const bent = (at, value) => {
    const copy = Buffer.from(body);
    copy[at] = value ?? copy[at] ^ 1;
    return copy;
  };
  const FIRST = 7 + 34; // the first TokenRequest
  const above = Buffer.from(body);
  above.fill(255, FIRST + 3, FIRST + 3 + 256);
  const [later] = await signersFor([RECIPES[0]], [DAY + 2]);
  const [foreign] = await signersFor([RECIPES[2]], [DAY]);
  const cases = [
    [403, 'origin', () => ask(body, 'alice', { Origin: 'https://evil.example' })],
    [401, 'account', () => ask(body, '')],
    [403, 'real', () => ask(body, 'robot')],
    [413, 'body-size', () => ask(Buffer.alloc(BUNDLE_SIZE_MAX + 1))],
    [400, 'bundle', () => ask(Buffer.alloc(0))],
    [400, 'bundle', () => ask(body.subarray(0, -1))],
    [400, 'bundle', () => ask(Buffer.concat([body, Buffer.of(0)]))],
    [400, 'bundle', () => ask(bent(0))],
    [400, 'bundle', () => ask(bent(FIRST + 1, 1))],
    [400, 'day', async () => ask((await newBundle([later])).body)],
    [400, 'day', async () => ask((await newBundle(today, { day: DAY - 1 })).body)],
    [400, 'recipe', async () => ask((await newBundle([foreign])).body)],
    [400, 'quota', async () => ask((await newBundle(today, { count: 3 })).body)],
    [422, 'key', () => ask(bent(FIRST + 2))],
    [400, 'message', () => ask(above)],
  ];
  for (const [status, code, make] of cases) assert.deepEqual(await make(), [status, code]);
  const [first, second] = await Promise.all([newBundle([today[0]]), newBundle([today[1]])]);
  const reordered = Buffer.concat([
    Buffer.of(1),
    number(DAY, 4),
    number(2, 2),
    second.body.subarray(7),
    first.body.subarray(7),
  ]);
  assert.deepEqual(await ask(reordered), [400, 'bundle'], 'recipes out of their order');
  assert.equal((await ask(body))[0], 200, 'nothing of them was counted');
  for (const [path, method, status] of [
    ['/', 'GET', 404],
    ['/tokens', 'GET', 404],
    ['/tokens/x', 'POST', 404],
    ['/tokens/token-request', 'GET', 405],
    ['/tokens/.well-known/private-token-issuer-directory', 'POST', 405],
  ])
    assert.equal((await call(path, { method })).status, status, path);
  clock.now += DAY_MS;
  assert.deepEqual(await ask((await newBundle(today)).body), [400, 'day'], 'yesterday is over');
  assert.equal((await ask((await newBundle(tomorrow)).body))[0], 200);
});

test('what a browser needs to ask, for pages of the site alone', async (t) => {
  const { call } = await setUp(t);
  const ask = (origin) =>
    call('/tokens/token-request', { method: 'OPTIONS', headers: { Origin: origin } });
  const { headers } = await ask(ORIGIN);
  assert.equal(headers.get('Access-Control-Allow-Origin'), ORIGIN);
  assert.equal(headers.get('Access-Control-Allow-Credentials'), 'true');
  assert.equal(
    (await ask('https://evil.example')).headers.get('Access-Control-Allow-Origin'),
    null,
  );
});

test('the directory has the form of RFC 9578, from yesterday on', async (t) => {
  const { call, clock, today } = await setUp(t);
  const path = '/tokens/.well-known/private-token-issuer-directory';
  const answer = await call(path);
  assert.equal(answer.headers.get('Content-Type'), 'application/private-token-issuer-directory');
  const directory = await answer.json();
  assert.equal(directory['issuer-request-uri'], `${BASE}/token-request`);
  assert.equal(directory['token-keys'].length, 4);
  const [key] = directory['token-keys'];
  assert.equal(key['token-type'], 2);
  assert.equal(key['not-before'], DAY * 86_400);
  assert.equal(key['per-day'], 2);
  assert.equal(key.recipe, today[0].recipe);
  assert.deepEqual(Buffer.from(key['token-key'], 'base64url'), Buffer.from(today[0].spki));
  clock.now += 2 * DAY_MS;
  assert.equal((await (await call(path)).json())['token-keys'].length, 2);
});

test('key files: each kind of damage is named', async () => {
  const good = await keyFile([RECIPES[0]], [DAY, DAY + 1]);
  assert.equal((await openKeys(good, openKeyInNode)).length, 2);
  const [first, second] = good.keys;
  for (const [keys, message] of [
    [undefined, /keys: a list of keys is needed/],
    [[{ ...first, recipe: 'x' }], /keys\.0: recipe/],
    [[first, { ...second, day: -1 }], /keys\.1: day/],
    [[{ ...first, per_day: 0 }], /keys\.0: per_day/],
    [[{ ...first, public_key: first.public_key.slice(8) }], /keys\.0: public_key/],
    [[{ ...first, private_key: 'AAAA' }], /keys\.0: /],
    [[first, { ...second, day: DAY }], /two keys of one recipe and day/],
    [[{ ...first, per_day: 257 }], /257 tokens an account, 256 at most/],
  ])
    await assert.rejects(openKeys({ keys }, openKeyInNode), message);
});

test('a reader of requests takes exactly what it should, and never throws', async () => {
  const signers = await signersFor(RECIPES.slice(0, 2), [DAY]);
  const { body } = await newBundle(signers);
  let seed = Number(process.env.SEED ?? randomBytes(4).readUInt32LE()) || 1;
  const random = (n) => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % n;
  const read = readBundle(body);
  assert.deepEqual(
    read?.parts.map(({ recipe, messages }) => [recipe, messages.length]),
    RECIPES.slice(0, 2).map((recipe) => [recipe, 2]),
  );
  let taken = 0;
  for (let run = 0; run < 20_000; run++) {
    let bytes = Buffer.from(body);
    for (let change = random(3); change >= 0; change--) {
      const at = random(run % 2 ? 60 : bytes.length || 1);
      if (random(3) === 0) bytes = bytes.subarray(0, random(bytes.length + 1));
      else if (at < bytes.length) bytes[at] = random(256);
    }
    const result = readBundle(new Uint8Array(bytes));
    if (result === null) continue;
    taken++;
    const tokens = result.parts.reduce((sum, { messages }) => sum + messages.length, 0);
    assert.equal(7 + result.parts.length * 34 + tokens * 259, bytes.length, `seed ${seed}`);
  }
  assert.ok(taken > 100, 'some changes leave a request');
});

test('counts are on the disk, keyed, and gone when the day is over', async (t) => {
  const dir = await folder(t);
  let now = DAY * DAY_MS;
  const open = () => new BundleCounts(dir, { max: 10, now: () => now });
  let counts = open();
  const [a, b] = [sha('a'), sha('b')];
  assert.equal(await counts.count('alice', DAY, a), 'new');
  assert.equal(await counts.count('alice', DAY, a), 'known');
  assert.equal(await counts.count('alice', DAY, b), 'other');
  await counts.close();
  const path = join(dir, `${DAY}.bundles`);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal((await stat(path)).size, 48 + 40);
  const bytes = await readFile(path);
  for (const plain of ['alice', sha('alice').subarray(0, 8), a.subarray(0, 8)])
    assert.ok(!bytes.includes(plain), 'no name and no unkeyed digest is on the disk');
  // A crash left a part of an entry, and one that was never flushed.
  await appendFile(path, Buffer.alloc(40 + 17, 1));
  counts = open();
  assert.equal(await counts.count('alice', DAY, b), 'other');
  assert.equal(await counts.count('bob', DAY, b), 'new');
  await counts.close();
  assert.equal((await stat(path)).size, 48 + 3 * 40, 'behind whole entries');
  counts = open();
  assert.equal(await counts.count('bob', DAY, a), 'other');
  for (let i = 0; i < 8; i++) assert.equal(await counts.count(`c${i}`, DAY, a), 'new');
  assert.equal(await counts.count('one more', DAY, a), 'full');
  now += DAY_MS;
  assert.equal(await counts.count('alice', DAY + 1, a), 'new');
  assert.deepEqual(await readdir(dir), [`${DAY + 1}.bundles`]);
  now -= DAY_MS;
  await assert.rejects(
    counts.count('alice', DAY, b),
    /the day is over/,
    'a clock set back gives nothing',
  );
  await counts.close();
  await writeFile(path, 'something else that is no such file, and is longer than a head');
  counts = open();
  await assert.rejects(counts.count('alice', DAY, a), /is no file of bundles/);
});

test('the table of digests holds what a Map holds, in stated memory', () => {
  const table = new DigestTable();
  const map = new Map();
  const n = isLong ? 1_000_000 : 50_000;
  for (let i = 0; i < n; i++) {
    const key = sha(`${i}`).subarray(0, 16);
    if (i % 10 === 0) assert.equal(table.get(key), null);
    table.add(key, key);
    if (i % 100 === 0) map.set(key.toString('hex'), key);
  }
  for (const [name, value] of map)
    assert.ok(value.equals(table.get(Buffer.from(name, 'hex')) ?? []));
  assert.equal(table.size, n);
  assert.ok(table.bytes <= 99 * n, `${table.bytes / n} bytes an account`);
});

test('killed at any moment, an issuer answers each account for one request alone', async (t) => {
  const today = Math.floor(Date.now() / DAY_MS);
  const keys = await keyFile([RECIPES[0]], [today, today + 1], 1);
  const issuer = await startIssuerProcess(t, keys);
  const [signer] = (await openKeys(keys, openKeyInNode)).filter(({ day }) => day === today + 1);
  const accounts = isLong ? 200 : 24;
  /** Asks until it is answered for good. */
  const asked = async (body, account) => {
    for (;;) {
      const status = await issuer.ask(body, account).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200 || status === 409) return status;
      assert.ok(status === 0 || status === 503, String(status));
      await new Promise((resolve) => setTimeout(resolve, 20 + 60 * Math.random()));
    }
  };
  const work = Promise.all(
    Array.from({ length: accounts }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, 1500 * Math.random()));
      const [one, two] = [await newBundle([signer]), await newBundle([signer])];
      const answers = await Promise.all([asked(one.body, `a${i}`), asked(two.body, `a${i}`)]);
      return [answers, [one, two]];
    }),
  );
  for (let kill = 0; kill < 4; kill++) {
    await new Promise((resolve) => setTimeout(resolve, 350));
    await issuer.stop();
    await issuer.start();
  }
  for (const [i, [answers, bundles]] of (await work).entries()) {
    assert.deepEqual([...answers].sort(), [200, 409], 'one of two requests');
    const right = bundles[answers.indexOf(200)];
    const again = await issuer.ask(right.body, `a${i}`);
    assert.equal(again.status, 200);
    assert.equal(await right.open(Buffer.from(await again.arrayBuffer())), 1);
  }
  assert.equal((await stat(join(issuer.dir, 'counts', `${today + 1}.bundles`))).size % 40, 8);
  assert.ok(!/a\d|127\.0\.0\.1:.*a/.test(issuer.said), 'and logs nothing of them');
});

test('the configuration: unknown and missing fields are named', async (t) => {
  const dir = await folder(t);
  const path = join(dir, 'issuer.json');
  const good = {
    listen: '127.0.0.1:0',
    url: BASE,
    origins: [ORIGIN],
    key_file: 'keys.json',
    counts: 'counts',
    account_header: 'X-Account',
  };
  const read = async (change) => {
    await writeFile(path, JSON.stringify({ ...good, ...change }));
    return readConfig(path);
  };
  assert.equal((await read({})).accounts, 1_000_000);
  await writeFile(
    join(dir, 'accounts.mjs'),
    'export const account = () => ({ id: "x", isReal: true });',
  );
  const config = await read({ account_header: undefined, account_module: 'accounts.mjs' });
  assert.deepEqual(await config.account(new Request(BASE)), { id: 'x', isReal: true });
  for (const [change, message] of [
    [{ nope: 1 }, /unknown field "nope"/],
    [{ url: undefined }, /missing field url/],
    [{ url: 'ftp://x' }, /url: /],
    [{ url: `${BASE}/` }, /url: /],
    [{ origins: ['*'] }, /origins: /],
    [{ listen: 'x' }, /listen: /],
    [{ account_module: 'accounts.mjs' }, /either account_header or account_module/],
    [{ account_header: undefined }, /either account_header or account_module/],
    [{ accounts_a_day: 0 }, /accounts_a_day: /],
    [{ connections: 0 }, /connections: /],
  ])
    await assert.rejects(read(change), message);
});

/** An issuer in this process, and connections to it. */
async function issuerHere(t, { connections = 10, timeoutMs = 20_000 } = {}) {
  const dir = await folder(t);
  const keys = join(dir, 'keys.json');
  await writeFile(keys, JSON.stringify(await keyFile([RECIPES[0]], [DAY], 1)), { mode: 0o600 });

  const config = {
    host: '127.0.0.1',
    port: 0,
    base: BASE,
    origins: [ORIGIN],
    keys,
    counts: join(dir, 'counts'),
    accounts: 10,
    connections,
    account: () => null,
    bodyTimeoutMs: timeoutMs,
  };
  const issuer = await startIssuer(config, {
    headersTimeoutMs: timeoutMs,
    now: () => DAY * DAY_MS,
  });
  let isOpen = true;
  const close = () => (isOpen ? ((isOpen = false), issuer.close()) : undefined);
  t.after(close);
  const open = () => {
    const socket = connect(issuer.port, '127.0.0.1');
    t.after(() => socket.destroy());
    let said = '';
    socket.on('error', () => {});
    socket.on('data', (data) => (said += data.toString('latin1')));
    const closed = new Promise((resolve, reject) => {
      socket.once('close', resolve);
      setTimeout(() => reject(new Error('still open')), 10_000).unref();
    });
    closed.catch(() => {});
    return { socket, closed, said: () => said };
  };
  return { config, open, close };
}

test('a connection that sends nothing is closed', async (t) => {
  const { open } = await issuerHere(t, { timeoutMs: 200 });
  await open().closed;
});

const GET = 'GET /tokens/nowhere HTTP/1.1\r\nHost: a\r\n';

test('a connection serves one request at a time, and any number of them', async (t) => {
  const { open } = await issuerHere(t);
  for (const more of ['', 'Expect: much\r\n']) {
    const { socket, closed, said } = open();
    socket.write(`${GET}${more}\r\n`.repeat(1000));
    await closed;
    assert.ok(said().split('HTTP/1.1').length <= 2, said().slice(0, 500));
  }
  const { socket, said } = open();
  for (let i = 1; i <= 20; i++) {
    socket.write(`${GET}\r\n`);
    while (said().split('HTTP/1.1 404').length <= i) await once(socket, 'data');
  }
});

test('more connections than there may be are closed', async (t) => {
  const { open } = await issuerHere(t, { connections: 2 });
  const [first, second] = [open(), open()];
  await Promise.all([once(first.socket, 'connect'), once(second.socket, 'connect')]);
  await open().closed;
  assert.ok(!first.socket.destroyed && !second.socket.destroyed);
});

test('a folder of counts has one issuer', async (t) => {
  const { config, close } = await issuerHere(t);
  const deps = { now: () => DAY * DAY_MS };
  await assert.rejects(startIssuer(config, deps), /another shoal-issuer uses the counts/);
  await close();
  const next = await startIssuer(config, deps);
  await assert.rejects(startIssuer({ ...config, port: next.port }, deps), /another shoal-issuer/);
  const elsewhere = { ...config, counts: `${config.counts}2`, port: next.port };
  await assert.rejects(startIssuer(elsewhere, deps), { code: 'EADDRINUSE' });
  const freed = await startIssuer({ ...elsewhere, port: 0 }, deps);
  await Promise.all([next.close(), freed.close()]);
});
