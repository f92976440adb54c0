// SPDX-License-Identifier: Apache-2.0
// Writes what a release leaves when it is stopped: the store of `shoal serve` and the spool of an edge that could not
// forward. The random ids and salts make every run different. Usage: node make_release.mjs CHECKOUT FOLDER, with the release
// built in CHECKOUT, and a FOLDER that does not exist yet.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MINIMUM, RECIPE } from '../upgrade/previous.mjs';

const [checkout, folder] = process.argv.slice(2).map((path) => resolve(path));
const at = (/** @type {string} */ name) => join(folder, name);
const shoal = join(checkout, 'build/release/shoal');
const BATCHES = 4;
const SPOOLED = 3 * MINIMUM;

/** @param {string} command @param {string[]} args */
async function start(command, ...args) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (text) => (log += text));
  while (!/listening on/.test(log)) {
    assert.equal(child.exitCode, null, log);
    await new Promise((done) => setTimeout(done, 50));
  }
  const [, address] = /listening on (?:http:\/\/)?([\d.:]+)/.exec(log) ?? [];
  const end = async () => {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  };
  return { url: `http://${address}`, end };
}

mkdirSync(folder);
writeFileSync(at('recipe.json'), JSON.stringify(RECIPE, null, 2));
writeFileSync(at('words.txt'), 'fish\nshoal\n');
writeFileSync(at('secret'), 'a-secret-of-the-artefacts\n');
writeFileSync(
  at('serve.json'),
  JSON.stringify({
    listen: '127.0.0.1:0',
    store: 'store',
    recipes: ['recipe.json'],
    dictionaries: { words: 'words.txt' },
    batch_secret_file: 'secret',
  }),
);
writeFileSync(at('counts.tsv'), 'fish\t5\nshoal\t3\n');
const server = await start(shoal, 'serve', '--config', at('serve.json'));
for (let i = 0; i < BATCHES; i++) {
  const args = ['--recipe', at('recipe.json'), '--counts', at('counts.tsv'), '--devices', '20'];
  execFileSync(shoal, ['simulate', ...args, '--seed', `release-${i}`, '-o', at('batch')]);
  const { status } = await fetch(`${server.url}/v1/batches`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer a-secret-of-the-artefacts',
      'content-type': 'application/octet-stream',
    },
    body: readFileSync(at('batch')),
  });
  assert.equal(status, 201);
}
await server.end();

const { load } = await import(join(checkout, 'wasm/bindings/node.js'));
const recipe = (await load()).recipe(RECIPE);
writeFileSync(
  at('edge.json'),
  JSON.stringify({
    listen: '127.0.0.1:18472',
    spool: 'spool',
    recipes: [{ file: 'recipe.json', hash: recipe.hash }],
    aggregator: 'http://127.0.0.1:9',
    batch_secret_file: 'secret',
    batch_bytes: 1024,
  }),
);
const edge = await start(
  process.execPath,
  join(checkout, 'edge/bin/shoal-edge.js'),
  '--config',
  at('edge.json'),
);
for (let i = 0; i < SPOOLED; i++) {
  if (i === 2 * MINIMUM) await new Promise((done) => setTimeout(done, 2500)); // the first ones are sealed
  const { status } = await fetch(`${edge.url}/v1/reports`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Idempotency-Key': randomBytes(16).toString('hex'),
    },
    body: JSON.stringify(recipe.report(recipe.randomize('fish', randomBytes(32)))),
  });
  assert.equal(status, 202);
}
await edge.end();
writeFileSync(at('counts.json'), JSON.stringify({ counted: 20 * BATCHES, spooled: SPOOLED }));
for (const name of ['store/lock', 'store/audit', 'spool/lock', 'batch', 'counts.tsv', 'edge.json'])
  rmSync(at(name), { recursive: true, force: true });
