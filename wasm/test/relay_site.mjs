// SPDX-License-Identifier: Apache-2.0
// A site with a relay, for tests in browsers: the page's own server with the built files and the
// log, a relay that keeps what it saw, and a real edge worker on Node with an aggregator that keeps
// its records.
import { createServer } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { load } from '../bindings/node.js';
import { CSP } from '../client/reasons.js';
import { WASM, serveFolders, wordsRecipe } from './fixtures.mjs';
import { OracleLog } from './log_fixtures.mjs';
import { listOf, secretKey } from './relay_fixtures.mjs';

const edgeTests = (/** @type {string} */ name) =>
  import(new URL(`../../edge/test/${name}`, import.meta.url).href);
const [{ startEdge }, { FakeAggregator }] = await Promise.all(
  ['runtimes.mjs', 'support.mjs'].map(edgeTests),
);

const TOKEN = 'a-token-of-the-relay';
/** Reports of a batch. */
export const N = 3;
const today = () => Math.floor(Date.now() / 86_400_000);
const words = wordsRecipe({ batch: { minimum: N, max_age_s: 1 } });
const visit = wordsRecipe({
  recipe: 'visits',
  stream: 'visited',
  limit: { per_day: 2 },
  batch: { minimum: N, max_age_s: 1 },
  send: { fresh: 'allow', delay_s: 0, pick: 'uniform', window: 'visit' },
});
export const RECIPES = { words, visit };

/** A relay: what it is given goes to the gateway with a type and a token, and without anything of the sender. @param {string} gateway */
async function startRelay(gateway) {
  /** @type {{address: string | undefined, headers: any, length: number, answer: number, method?: string}[]} */
  const seen = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method, headers, socket } = request;
    const row = { address: socket.remoteAddress, headers, length: body.length, answer: 0, method };
    seen.push(row);
    const answer = await fetch(`${gateway}/ohttp`, {
      method: 'POST',
      headers: { 'Content-Type': 'message/ohttp-req', Authorization: `Bearer ${TOKEN}` },
      body,
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    row.answer = bytes.length;
    response.writeHead(answer.status, {
      'Access-Control-Allow-Origin': '*',
      'Content-Type': String(answer.headers.get('content-type')),
    });
    response.end(bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const origin = `http://127.0.0.1:${port}`;
  const close = () => (
    server.closeAllConnections(),
    new Promise((resolve) => server.close(resolve))
  );
  return { url: `${origin}/relay`, origin, seen, close };
}

/** Starts everything. The page at / is empty and may reach its own server and the relay alone. */
export async function startRelaySite() {
  /** @type {(() => Promise<unknown>)[]} */
  const ends = [];
  const core = await load();
  const recipes = [words, visit].map((json) => core.recipe(json));
  const aggregator = await new FakeAggregator(recipes).start();
  ends.push(() => aggregator.stop());
  const keys = [secretKey()];
  const life = /** @type {any} */ ({ after: (/** @type {any} */ end) => ends.push(end) });
  const edge = await startEdge(life, 'node', {
    recipes,
    aggregator: aggregator.url,
    gateway: { keys, relays: [{ name: 'relay', token: TOKEN, perMinute: 10_000 }] },
  });
  const relay = await startRelay(edge.url);
  ends.push(relay.close);
  const log = new OracleLog([await listOf(keys, { from: today() - 1, until: today() + 2 })]);
  const folder = await mkdtemp(join(tmpdir(), 'shoal-relay-'));
  ends.push(() => rm(folder, { recursive: true }));
  for (const [name, bytes] of log.files()) {
    await mkdir(dirname(join(folder, 'log', name)), { recursive: true });
    await writeFile(join(folder, 'log', name), bytes);
  }
  const site = await serveFolders({
    folders: [join(WASM, 'dist'), folder],
    csp: `default-src 'none'; ${CSP}; connect-src 'self' ${relay.origin}`,
    pages: { '/': '<!doctype html><title>t</title>' },
  });
  ends.push(site.close);
  /** What a page gives its client. @param {object[]} list */
  const options = (list) => ({
    endpoint: edge.url,
    relay: relay.url,
    recipes: list,
    log: { url: `${site.origin}/log`, key: log.signer.verifier },
  });
  const close = async () => {
    for (const end of ends.reverse()) await end();
  };
  return { site, edge, relay, aggregator, options, close };
}
