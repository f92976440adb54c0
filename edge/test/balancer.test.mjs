// SPDX-License-Identifier: Apache-2.0
// Two edges on Node behind a balancer: what counts once and what does not, as docs/operate.md says. The balancer is a
// small one here, and Caddy with the lines of that page.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { blocks } from '../../tests/docs/markdown.mjs';
import { startEdge } from './runtimes.mjs';
import { eventually, freePort, makeRecipe, multiset, newReport, reportInit } from './support.mjs';

const recipe = await makeRecipe({ batch: { minimum: 5, max_age_s: 86_400 } });
const REPORTS = 60;

const twoEdges = (t) =>
  Promise.all(
    [1, 2].map(() => startEdge(t, 'node', { recipes: [recipe], aggregator: 'http://127.0.0.1:1' })),
  );

const byKey = (headers) =>
  createHash('sha256').update(String(headers['idempotency-key'])).digest()[0] % 2;

/** Passes requests on to the edge that `choose` names; an edge that is away is a 502. */
async function startBalancer(t, edges, choose) {
  /** Requests of which the answer gets lost on the way back. */ const state = { lose: 0 };
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const passed = request(edges[choose(headers)].url + url, { method, headers }, (answer) => {
      if (state.lose > 0) {
        state.lose--;
        answer.resume();
        return void incoming.socket.destroy();
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, state };
}

const counted = async (edges) => {
  const each = await Promise.all(edges.map((edge) => edge.metric('accepted_reports_total')));
  return { each, sum: each[0] + each[1] };
};

const reports = () => Array.from({ length: REPORTS }, () => reportInit(newReport(recipe)));
const postAll = (url, inits) =>
  Promise.all(
    inits.map((init) =>
      fetch(`${url}/v1/reports`, init).then(
        ({ status }) => status,
        () => 'lost',
      ),
    ),
  );

test('chosen by the key, repeats count once, also over an edge that was away; by turns they do not', async (t) => {
  const edges = await twoEdges(t);
  const inits = reports();
  const { url, state } = await startBalancer(t, edges, byKey);
  state.lose = 20; // the edge took them, and the device never heard of it
  const first = multiset(await postAll(url, inits));
  assert.deepEqual([first.get('lost'), first.get(202)], [20, REPORTS - 20]);
  for (let i = 0; i < 3; i++)
    assert.deepEqual(multiset(await postAll(url, inits)), new Map([[202, REPORTS]]));
  let now = await counted(edges);
  assert.equal(now.sum, REPORTS, `${now.each}`);
  assert.ok(Math.min(...now.each) > 0, 'both have a share');

  await edges[0].kill();
  const away = multiset(await postAll(url, inits));
  assert.equal(away.get(502), now.each[0], 'its devices wait');
  await edges[0].start();
  assert.deepEqual(multiset(await postAll(url, inits)), new Map([[202, REPORTS]]));
  assert.equal((await counted(edges)).sum, REPORTS);

  let turn = 0;
  const byTurns = await startBalancer(t, edges, () => turn++ % 2);
  for (let i = 0; i < 2; i++) for (const init of inits) await postAll(byTurns.url, [init]);
  for (const init of inits) await postAll(byTurns.url, [init, init]);
  now = await counted(edges);
  assert.equal(now.sum, 2 * REPORTS, 'once for each edge, as the page says');
});

const hasCaddy = spawnSync('caddy', ['version']).status === 0;
test(
  'Caddy with the lines of docs/operate.md sends repeats to one edge',
  hasCaddy
    ? {}
    : { skip: 'SKIPPED: no caddy here, so the lines of docs/operate.md were not tried' },
  async (t) => {
    const edges = await twoEdges(t);
    const dir = await mkdtemp(join(tmpdir(), 'shoal-caddy-'));
    t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
    const page = readFileSync(
      fileURLToPath(new URL('../../docs/operate.md', import.meta.url)),
      'utf8',
    );
    const lines = blocks(page).find(({ info }) => info[1] === 'balancer')?.text ?? '';
    const own = ['127.0.0.1:8081', '127.0.0.1:8082'].reduce(
      (text, address, i) => text.replace(address, edges[i].url.slice('http://'.length)),
      lines,
    );
    assert.ok(!/808[12] /.test(own), own);
    const url = `http://127.0.0.1:${await freePort()}`;
    const path = join(dir, 'Caddyfile');
    await writeFile(path, `{\n\tadmin off\n}\n${url} {\n\tbind 127.0.0.1\n${own}}\n`);
    const caddy = spawn('caddy', ['run', '--config', path, '--adapter', 'caddyfile'], {
      stdio: 'ignore',
      env: { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
    });
    t.after(() => caddy.kill());
    await eventually(async () => assert.equal((await fetch(`${url}/healthz`)).status, 200));
    const inits = reports();
    for (let i = 0; i < 3; i++)
      assert.deepEqual(multiset(await postAll(url, inits)), new Map([[202, REPORTS]]));
    const now = await counted(edges);
    assert.equal(now.sum, REPORTS, `${now.each}`);
    assert.ok(Math.min(...now.each) > 0, `${now.each}`);
    await edges[0].kill();
    const away = multiset(await postAll(url, inits));
    assert.equal(away.get(502), now.each[0], 'it does not turn to the other');
    await edges[0].start();
    assert.deepEqual(multiset(await postAll(url, inits)), new Map([[202, REPORTS]]));
    assert.equal((await counted(edges)).sum, REPORTS);
  },
);
