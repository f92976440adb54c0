// SPDX-License-Identifier: Apache-2.0
// The relay's client of gateways, against a server of bare sockets: what it sends, connections that are kept and that break at any byte,
// which requests share one, how long it waits, and what it refuses. No request is sent twice.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { GatewayClient } from '../gateway_client.js';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const ANY = { take() {} };
const answerOf = (body, more = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: message/ohttp-res\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;

/**
 * A server that reads requests whole and does with each what `serve` says, given the request, its socket and its number.
 * @param {import('node:test').TestContext} t
 */
async function setUp(t, serve, { connections = 4 } = {}) {
  const seen = { sockets: [], requests: [] };
  const server = createServer((socket) => {
    seen.sockets.push(socket);
    socket.setNoDelay(true).on('error', () => {});
    let had = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      had = Buffer.concat([had, bytes]);
      const end = had.indexOf('\r\n\r\n') + 4;
      const length = Number(/content-length: (\d+)/i.exec(had.subarray(0, end).toString())?.[1]);
      if (end < 4 || had.length < end + length) return;
      const request = {
        head: had.subarray(0, end).toString(),
        body: had.subarray(end, end + length),
      };
      had = had.subarray(end + length);
      seen.requests.push(request);
      serve(request, socket, seen.requests.length - 1);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new GatewayClient(connections);
  t.after(async () => {
    client.close();
    for (const socket of seen.sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const route = {
    path: '/r',
    gateway: `http://127.0.0.1:${server.address().port}/ohttp?a=b`,
    token: 'a-token-of-the-relay',
    origins: ['*'],
  };
  const post = (body, { maxBytes = 100_000, held = ANY } = {}) => {
    const { answer, abort } = client.post(route, body, maxBytes, held);
    const said = answer.then(({ status, headers, body }) => ({ status, headers, body }));
    said.catch(() => {});
    return { said, abort };
  };
  return { seen, client, route, post, server };
}

const textOf = async ({ said }) => String((await said).body);

test('a request is this and nothing else, and the connection is kept for the next one', async (t) => {
  const { seen, post, route } = await setUp(t, ({ body }, socket) =>
    socket.write(answerOf(body.toString(), 'Retry-After: 7\r\n')),
  );
  for (const body of ['one', 'another']) {
    const { status, headers, body: said } = await post(Buffer.from(body)).said;
    assert.deepEqual([status, headers.get('retry-after'), headers.get('x')], [200, '7', null]);
    assert.equal(String(said), body);
  }
  assert.equal(seen.sockets.length, 1);
  const { host } = new URL(route.gateway);
  const [first, ...fields] = seen.requests[0].head.trimEnd().split('\r\n');
  assert.equal(first, 'POST /ohttp?a=b HTTP/1.1');
  assert.deepEqual(fields.sort(), [
    'Accept-Encoding: identity',
    'Accept: */*',
    'Authorization: Bearer a-token-of-the-relay',
    'Connection: keep-alive',
    'Content-Length: 3',
    'Content-Type: message/ohttp-req',
    `Host: ${host}`,
    'User-Agent: shoal-relay',
  ]);
});

test('an answer that breaks off at any byte is none, and the next request has a connection of its own', async (t) => {
  const whole = answerOf('hello');
  let cut = 0;
  let isReset = false;
  const { seen, post } = await setUp(t, ({ body }, socket) => {
    if (String(body) === 'good') return void socket.write(whole);
    socket.write(whole.slice(0, cut), () => (isReset ? socket.resetAndDestroy() : socket.end()));
  });
  for (cut = 0; cut < whole.length; cut++) {
    isReset = cut % 2 === 1;
    await assert.rejects(post(Buffer.from('bad')).said, `cut at ${cut}`);
    assert.equal(await textOf(post(Buffer.from('good'))), 'hello');
  }
  assert.equal(seen.requests.length, 2 * whole.length, 'none was sent again');
});

test('a gateway that closes a kept connection while it is idle is asked on another', async (t) => {
  const { seen, post } = await setUp(t, (_, socket, i) => {
    socket.write(answerOf(`${i}`));
    if (i === 0) setTimeout(() => socket.end(), 5);
  });
  assert.equal(await textOf(post(Buffer.from('x'))), '0');
  await pause(50);
  assert.equal(await textOf(post(Buffer.from('x'))), '1');
  assert.equal(seen.sockets.length, 2);
});

test('a gateway that closes a kept connection while a request comes has that request once', async (t) => {
  const { seen, post } = await setUp(t, (_, socket, i) =>
    i === 1 ? socket.resetAndDestroy() : socket.write(answerOf(`${i}`)),
  );
  assert.equal(await textOf(post(Buffer.from('x'))), '0');
  await assert.rejects(post(Buffer.from('y')).said);
  assert.equal(seen.sockets.length, 1);
  assert.deepEqual(seen.requests.map(({ body }) => String(body)), ['x', 'y']); // prettier-ignore
  assert.equal(await textOf(post(Buffer.from('z'))), '2');
});

test('bytes behind an answer, or before a request, never belong to the next answer', async (t) => {
  const { seen, post } = await setUp(t, (_, socket, i) => {
    if (i === 0) return void socket.write(answerOf('0') + answerOf('stray'));
    socket.write(answerOf(`${i}`));
    if (i === 1) setTimeout(() => socket.write(answerOf('stray')), 5);
  });
  assert.equal(await textOf(post(Buffer.from('x'))), '0');
  assert.equal(await textOf(post(Buffer.from('x'))), '1');
  await pause(50);
  assert.equal(await textOf(post(Buffer.from('x'))), '2');
  assert.equal(seen.sockets.length, 3);
});

test('answers that end their connection, and one that says how long it stays', async (t) => {
  const answers = [
    answerOf('0', 'Connection: close\r\n'),
    'HTTP/1.1 200 OK\r\n\r\n1',
    answerOf('2', 'Keep-Alive: timeout=1\r\n'),
    answerOf('3', 'Keep-Alive: max=5, timeout=2\r\n'),
    answerOf('4'),
    answerOf('5'),
  ];
  const { seen, post } = await setUp(t, (_, socket, i) => {
    socket.write(answers[i]);
    if (i === 1) socket.end();
  });
  for (let i = 0; i < 5; i++) assert.equal(await textOf(post(Buffer.from('x'))), `${i}`);
  assert.equal(seen.sockets.length, 4, 'the last two shared one');
  const [, , , last] = seen.sockets;
  const closed = once(last, 'close');
  await closed; // after four idle seconds
  assert.equal(await textOf(post(Buffer.from('x'))), '5');
});

test('no more requests at once than there may be; who is given up in line is never sent', async (t) => {
  const waiting = [];
  const { seen, post } = await setUp(t, (request, socket) => waiting.push([request, socket]), {
    connections: 2,
  });
  const asked = [0, 1, 2, 3].map((i) => post(Buffer.from(`${i}`)));
  const arrived = async (n) => {
    for (let i = 0; seen.requests.length < n && i < 500; i++) await pause(10);
    assert.equal(seen.requests.length, n);
  };
  await arrived(2);
  await pause(30);
  assert.equal(seen.requests.length, 2);
  asked[2].abort();
  await assert.rejects(asked[2].said, /given up/);
  asked[0].abort(); // under way: its connection is closed, and its place is free
  await assert.rejects(asked[0].said, /given up/);
  await arrived(3);
  for (const [{ body }, socket] of waiting)
    if (!socket.destroyed) socket.write(answerOf(`${body}`));
  assert.deepEqual([await textOf(asked[1]), await textOf(asked[3])], ['1', '3']);
  assert.ok(!seen.requests.some(({ body }) => String(body) === '2'));
});

test('an answer that is too long has a status and no body, and its connection is closed', async (t) => {
  const { seen, post } = await setUp(t, (_, socket, i) => {
    const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
    const long = 'HTTP/1.1 503 No\r\nRetry-After: 9\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(i === 0 ? long + chunk.repeat(3) : answerOf('y'.repeat(2048)));
  });
  const { status, headers, body } = await post(Buffer.from('x'), { maxBytes: 2048 }).said;
  assert.deepEqual([status, headers.get('retry-after'), body], [503, '9', null]);
  assert.equal((await post(Buffer.from('x'), { maxBytes: 2048 }).said).body.length, 2048);
  assert.equal(seen.sockets.length, 2);
});

test('an answer that is coded has no body; one for which there is no room is given up', async (t) => {
  const { post } = await setUp(t, (_, socket, i) =>
    socket.write(answerOf('zz', i === 0 ? 'Content-Encoding: gzip\r\n' : '')),
  );
  assert.equal((await post(Buffer.from('x')).said).body, null);
  let held = 0;
  const full = { take: (n) => ((held += n), assert.fail('no room')) };
  await assert.rejects(post(Buffer.from('x'), { held: full }).said, /no room/);
  assert.equal(held, 2);
});

test('large bodies go both ways, also to a gateway that reads and writes slowly', async (t) => {
  const { seen, post } = await setUp(t, async ({ body }, socket) => {
    const text = answerOf(body.toString('latin1'));
    for (let at = 0; at < text.length; at += 300_000) {
      await pause(5);
      socket.write(Buffer.from(text.slice(at, at + 300_000), 'latin1'));
    }
  });
  const body = randomBytes(3 << 20);
  for (let i = 0; i < 2; i++) {
    const asked = post(body, { maxBytes: 4 << 20 });
    if (i === 1) {
      seen.sockets[0].pause();
      setTimeout(() => seen.sockets[0].resume(), 50);
    }
    assert.ok(body.equals((await asked.said).body));
  }
  assert.equal(seen.sockets.length, 1);
});

test('an answer before the whole request was read ends the connection', async (t) => {
  const sockets = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.once('data', () => {
      socket.pause();
      socket.write(answerOf('early'));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new GatewayClient(1);
  t.after(() => {
    client.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const gateway = `http://127.0.0.1:${server.address().port}/`;
  const route = { path: '/r', gateway, token: null, origins: ['*'] };
  for (let i = 0; i < 2; i++) {
    const { answer } = client.post(route, Buffer.alloc(32 << 20), 1000, ANY);
    assert.equal(String((await answer).body), 'early');
  }
  assert.equal(sockets.length, 2);
});

test('nobody listens, or there is no such host', async (t) => {
  const { server, post, client } = await setUp(t, () => {});
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(post(Buffer.from('x')).said);
  const route = {
    path: '/r',
    gateway: 'http://no-such-host.invalid/',
    token: null,
    origins: ['*'],
  };
  for (let i = 0; i < 6; i++)
    // more than places: a failure gives its own back
    await assert.rejects(client.post(route, Buffer.from('x'), 1000, ANY).answer);
});

const run = promisify(execFile);
const CLIENT = `
  import { createServer } from 'node:https';
  import { readFileSync } from 'node:fs';
  import { once } from 'node:events';
  import { GatewayClient } from ${JSON.stringify(new URL('../gateway_client.js', import.meta.url).href)};
  const [key, cert] = process.argv.slice(1).map((path) => readFileSync(path));
  const resumed = [];
  const server = createServer({ key, cert }, (request, response) => {
    resumed.push([request.socket.isSessionReused(), request.socket.servername]);
    request.resume().once('end', () => response.writeHead(200, { Connection: 'close', 'Content-Length': 2 }).end('hi'));
  });
  await once(server.listen(0), 'listening');
  const client = new GatewayClient(2);
  const said = [];
  for (const host of ['localhost', 'localhost', '127.0.0.1']) {
    const route = (routes[host] ??= { gateway: \`https://\${host}:\${server.address().port}/\`, token: null });
    said.push(await client.post(route, Buffer.from('x'), 100, { take() {} }).answer.then(({ body }) => String(body), ({ code }) => code));
  }
  console.log(JSON.stringify({ said, resumed }));
  process.exit();
`;

test('https: certificates and their names are checked, and a session is resumed', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-tls-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(dir, name));
  const made = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert, ...names], { stdio: 'ignore' });
  const ask = async (env) => {
    const script = `const routes = {};${CLIENT}`;
    const options = {
      env: { ...process.env, ...env },
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    };
    const { stdout } = await run(
      process.execPath,
      ['--input-type=module', '-e', script, key, cert],
      options,
    );
    return JSON.parse(stdout);
  };
  const trusted = await ask({ NODE_EXTRA_CA_CERTS: cert });
  assert.deepEqual(trusted.said, ['hi', 'hi', 'ERR_TLS_CERT_ALTNAME_INVALID']);
  assert.deepEqual(trusted.resumed, [[false, 'localhost'], [true, 'localhost']]); // prettier-ignore
  const { said } = await ask({ NODE_EXTRA_CA_CERTS: '' });
  assert.deepEqual(said.slice(0, 2), Array(2).fill('DEPTH_ZERO_SELF_SIGNED_CERT'));
});
