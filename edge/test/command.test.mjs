// SPDX-License-Identifier: Apache-2.0
// The command's refusals: each ends at once, with an exit code and a sentence that names what is wrong.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { load } from 'shoal-client/node';
import { signedBytes } from 'shoal-client/signature';
import { checkTrials, pinRecipes } from '../recipes.js';
import { startEdge } from './runtimes.mjs';
import { makeRecipe } from './support.mjs';

const command = fileURLToPath(new URL('../bin/shoal-edge.js', import.meta.url));
const recipe = await makeRecipe();

/** Runs the command to its end; one that goes on serving is killed after ten seconds. */
async function run(...args) {
  const child = spawn(process.execPath, [command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 10_000,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => (stdout += data));
  child.stderr.on('data', (data) => (stderr += data));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

/** A folder with a good configuration and what it names, changed as asked. */
async function writeConfig(t, change) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-edge-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  await writeFile(join(dir, 'recipe.json'), JSON.stringify(recipe.json));
  await writeFile(join(dir, 'secret'), 'sixteen-characters-at-least\n');
  await writeFile(join(dir, 'short'), 'short\n');
  const config = {
    listen: '127.0.0.1:0',
    spool: 'spool',
    recipes: [{ file: 'recipe.json', hash: recipe.hash }],
    aggregator: 'http://127.0.0.1:1',
    batch_secret_file: 'secret',
    ...change,
  };
  await writeFile(join(dir, 'edge.json'), JSON.stringify(config));
  return join(dir, 'edge.json');
}

test('help goes to stdout, a wrong command line is exit code 2', async () => {
  const help = await run('--help');
  assert.equal(help.code, 0);
  assert.match(help.stdout, /--config FILE/);
  for (const args of [[], ['--confg', 'x'], ['x']])
    assert.equal((await run(...args)).code, 2, args.join());
  for (const [args, words] of [
    [['--confg', 'x'], /: Unknown option '--confg'; see --help\n$/],
    [['gateway-keys', 'x'], /unknown command 'gateway-keys'/],
    [['gateway-key'], /gateway-key: one FILE is needed/],
    [['gateway-key', 'x', '--config', 'y'], /gateway-key: one FILE is needed/],
    [['--list'], /--list belongs to gateway-key/],
  ])
    assert.match((await run(...args)).stderr, words);
});

const refusals = [
  ['an unknown field', { lisen: 1 }, /unknown field "lisen"/],
  ['a missing field', { spool: undefined }, /missing field spool/],
  ['no target', { aggregator: undefined }, /aggregator, or bucket, is needed/],
  [
    'a recipe that is not the pinned one',
    { recipes: [{ file: 'recipe.json', hash: '0'.repeat(64) }] },
    new RegExp(recipe.hash),
  ],
  ['no recipes', { recipes: [] }, /recipes/],
  [
    'a file that is not there',
    { recipes: [{ file: 'none.json', hash: recipe.hash }] },
    /none\.json/,
  ],
  ['an origin with a path', { origins: ['https://site.example/page'] }, /origins/],
  ['an extension with a path', { origins: ['chrome-extension://abcd/page'] }, /origins/],
  ['an aggregator that is no URL', { aggregator: 'aggregator:8080' }, /aggregator/],
  ['a short secret', { batch_secret_file: 'short' }, /16 printable/],
  ['a negative number', { key_grace_s: -1 }, /key_grace_s/],
  ['keys that are none', { recipe_keys: ['x'] }, /recipe_keys: a list of keys/],
  ['no keys', { recipe_keys: [] }, /recipe_keys: a list of keys/],
  [
    'an unsigned recipe where keys are given',
    { recipe_keys: ['ab'.repeat(32)] },
    /recipe edge-test is refused: no-signature/,
  ],
  ['a listen without a port', { listen: 'localhost' }, /listen/],
];
for (const [what, change, message] of refusals) {
  test(`refused: ${what}`, async (t) => {
    const { code, stderr } = await run('--config', await writeConfig(t, change));
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
    assert.equal(stderr.split('\n').length, 2, 'one line');
  });
}

test('with keys, only recipes that one of them signed are collected', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
  const other = 'ab'.repeat(32);
  const signature = { key, ed25519: sign(null, signedBytes(recipe), privateKey).toString('hex') };
  const pin = (change, keys) =>
    pinRecipes(
      [
        {
          recipe: JSON.parse(JSON.stringify({ ...recipe.json, signature, ...change })),
          hash: recipe.hash,
        },
      ],
      () => load(),
      keys,
    );
  assert.deepEqual([...(await pin({}, [other, key])).collections.keys()], [recipe.hash]);
  assert.deepEqual(
    (await pin({}, [key])).recipes[0].json.signature,
    signature,
    'it is published as it was signed',
  );
  assert.equal((await pin({ signature: undefined })).recipes.length, 1, 'without keys, as ever');
  await assert.rejects(pin({}, [other]), /unknown-key/);
  await assert.rejects(
    pin({ signature: { key, ed25519: '00'.repeat(64) } }, [key]),
    /bad-signature/,
  );
});

test('a recipe of trials is taken on loopback only, and sent to loopback only', async (t) => {
  const trial = await makeRecipe({ trial: 1 });
  for (const [host, aggregator, words] of [
    ['127.0.0.1', 'http://localhost:1', null],
    ['localhost', 'http://127.0.0.1:1', null],
    ['::1', 'http://[::1]:1', null],
    ['127.8.9.10', 'http://127.0.0.1:1', null],
    [
      '0.0.0.0',
      'http://127.0.0.1:1',
      /^Error: recipe edge-test has "trial": 1, so listen \(0\.0\.0\.0\) and aggregator/,
    ],
    ['::', 'http://127.0.0.1:1', /listen \(::\)/],
    ['localhost.example', 'http://127.0.0.1:1', /listen \(localhost\.example\)/],
    ['127.0.0.1', 'https://aggregator.example', /aggregator \(aggregator\.example\)/],
    ['127.0.0.1', 'http://127.0.0.1.example', /aggregator \(127\.0\.0\.1\.example\)/],
  ]) {
    const check = () => checkTrials([trial], host, aggregator);
    if (words === null) check();
    else assert.throws(check, words);
  }
  checkTrials([recipe], '0.0.0.0', 'https://aggregator.example');
  checkTrials([trial], '127.0.0.1', undefined, 'http://127.0.0.1:9/lake');
  for (const bucket of ['r2:', 'https://s3.example/lake'])
    assert.throws(() => checkTrials([trial], '127.0.0.1', undefined, bucket), /must be loopback/);
  // The same, by the command.
  const path = await writeConfig(t, {
    listen: '0.0.0.0:0',
    recipes: [{ file: 'trial.json', hash: trial.hash }],
  });
  await writeFile(join(dirname(path), 'trial.json'), JSON.stringify(trial.json));
  const { code, stderr } = await run('--config', path);
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^shoal-edge: recipe edge-test has "trial": 1, so listen \(0\.0\.0\.0\)/);
});

test('on workerd, a recipe of trials is taken only where the edge is asked as loopback', async (t) => {
  const trial = await makeRecipe({ trial: 1 });
  const edge = await startEdge(t, 'workerd', {
    recipes: [trial],
    aggregator: 'http://127.0.0.1:1',
  });
  const status = (host) =>
    new Promise((resolve, reject) => {
      get(`${edge.url}/healthz`, { headers: { Host: host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).once('error', reject);
    });
  assert.equal(await status('localhost'), 200);
  assert.equal(await status('edge.example'), 500);
});

test('refused: a port that is taken', async (t) => {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { code, stderr } = await run(
    '--config',
    await writeConfig(t, { listen: `127.0.0.1:${server.address().port}` }),
  );
  assert.equal(code, 1);
  assert.match(stderr, /EADDRINUSE/);
});

test('refused: a spool that another process uses, until it is killed', async (t) => {
  const edge = await startEdge(t, 'node', { recipes: [recipe], aggregator: 'http://127.0.0.1:1' });
  const { code, stderr } = await run('--config', await writeConfig(t, { spool: edge.store }));
  assert.equal(code, 1);
  assert.match(stderr, /another shoal-edge uses the spool/);
  await edge.kill();
  await edge.start();
  assert.equal(await edge.stop(), 0, 'SIGTERM ends it in order');
});
