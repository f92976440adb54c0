// SPDX-License-Identifier: Apache-2.0
// Servers that mean harm to the operator who verifies: the admin token stays with the operator, what
// they say cannot drive a terminal, an answer without an end ends, and so does a browser.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { metricsOf } from '../edge_checks.js';
import { Context } from '../context.js';
import { sendHere } from '../probe.js';
import { Report } from '../report.js';
import { PROBE, hashOf } from './installation.mjs';

const TOKEN = 'an-admin-token-of-the-edge';
const MINUTE = 60_000;

/** @param {import('node:test').TestContext} t @param {import('node:http').RequestListener} listener */
async function serve(t, listener) {
  const server = createServer(listener);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  t.after(() => (server.closeAllConnections(), server.close()));
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
}

/** @param {object} at @param {object} [settings] */
const contextOf = (at, settings = {}) =>
  new Context(
    new Report(),
    /** @type {any} */ ({
      page: new URL('https://www.example.org/'),
      edge: null,
      aggregator: null,
      folder: {},
      secrets: { edge: TOKEN, aggregator: null },
      ...at,
    }),
    settings,
  );

test('the admin token goes where the operator says, not where a page says', async (t) => {
  /** @type {(string | undefined)[]} */
  const seen = [];
  const port = await serve(t, (request, response) => {
    seen.push(request.headers.authorization);
    response.end('shoal_edge_open_reports 3\n');
  });
  const edge = new URL(`http://127.0.0.1:${port}/`);
  const named = contextOf({ edge });
  assert.equal(await metricsOf(named, 'edge'), null);
  assert.equal(await metricsOf(named, 'edge'), null);
  assert.deepEqual(seen, []);
  assert.deepEqual(
    named.report.results.map(({ mend }) => mend),
    ['give the address that the token is for: --edge URL'],
  );
  const given = contextOf({ edge }, { edge: edge.href });
  assert.equal((await metricsOf(given, 'edge'))?.get('shoal_edge_open_reports'), 3);
  assert.deepEqual(seen, [`Bearer ${TOKEN}`]);
});

test('with a folder the counts are read where edge.json listens, past a proxy that hides them', async (t) => {
  const asked = { front: 0, own: 0 };
  const front = await serve(t, (_, response) => {
    asked.front++;
    response.writeHead(404).end();
  });
  const own = await serve(t, (_, response) => {
    asked.own++;
    response.end('shoal_edge_open_reports 4\n');
  });
  const at = {
    edge: new URL(`http://127.0.0.1:${front}/`),
    folder: { edge: { path: 'edge.json', json: { listen: `127.0.0.1:${own}` } } },
  };
  assert.equal((await metricsOf(contextOf(at), 'edge'))?.get('shoal_edge_open_reports'), 4);
  assert.deepEqual(asked, { front: 0, own: 1 });
  const hidden = contextOf(at, { edge: at.edge.href });
  assert.equal(await metricsOf(hidden, 'edge'), null);
  assert.match(hidden.report.results[0].what, /answers 404, so its counts cannot be read/);
});

test('what a server says cannot drive a terminal', () => {
  const report = new Report();
  report.unknown('edge', 'a\u001b]0;title\u0007\u009b31m\nWRONG', 'b\u202ec\r');
  const text = report.toText('https://x/', 'http');
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u0080-\u009f\u202e]/);
  assert.match(text, /a\\u001b\]0;title\\u0007\\u009b31m\\u000aWRONG/);
});

test('an edge worker whose answer never ends is given up', { timeout: 2 * MINUTE }, async (t) => {
  let sent = 0;
  const port = await serve(t, (request, response) => {
    request.resume();
    if (request.method === 'GET') return void response.end(JSON.stringify(PROBE));
    const piece = Buffer.alloc(1 << 16, 'a');
    const more = () => {
      while (!response.destroyed && response.write(piece)) sent += piece.length;
      sent += piece.length;
    };
    response.writeHead(400).on('drain', more);
    more();
  });
  const hash = await hashOf(PROBE);
  const base = `http://127.0.0.1:${port}/`;
  const { answers } = await sendHere({
    endpoint: base,
    recipe: { url: `${base}v1/recipes/${hash}`, hash },
    value: 'probe-a',
  });
  assert.equal(answers[0].status, 400);
  assert.ok(sent < 64 << 20, `${sent} bytes`);
});

test(
  'a page that does not open in the browser lets the program end',
  { timeout: 3 * MINUTE },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'shoal-hostile-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    // The page answers plain HTTP, and cuts the browser off: as a certificate that only a browser refuses.
    const port = await serve(t, (request, response) => {
      if (/Chrom/.test(request.headers['user-agent'] ?? '')) return void response.destroy();
      response
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end('<!doctype html><title>x</title>');
    });
    const program = fileURLToPath(new URL('../bin/shoal-verify.js', import.meta.url));
    const child = spawn(process.execPath, [program, `http://127.0.0.1:${port}/`, '--no-client'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
    t.after(() => child.kill('SIGKILL'));
    const code = await new Promise((resolve) => {
      const timer = setTimeout(() => resolve('never'), MINUTE);
      child.once('close', (status) => (clearTimeout(timer), resolve(status)));
    });
    assert.equal(code, 1, said);
    assert.match(said, /does not open the page: .*/);
  },
);
