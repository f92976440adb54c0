// SPDX-License-Identifier: Apache-2.0
// `shoal serve` takes a new configuration while it runs: on SIGHUP, and with --watch when a file changes. Batches and
// questions go on meanwhile, and count once. A configuration that is wrong anywhere changes nothing.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  cmsRecipe,
  configure,
  get,
  isLong,
  listRecipe,
  makeFolder,
  post,
  resultOf,
  secret,
  serve,
  simulate,
} from './serve_helpers.mjs';

const RELOADS = Number(process.env.SHOAL_RELOADS ?? (isLong ? 400 : 40));
const DEVICES = 6000;
const PER_BATCH = 20;
const CLIENTS = 6;
const WAIT_MS = 60_000;

/** @param {() => unknown} condition @param {string} what */
async function until(condition, what) {
  for (const end = Date.now() + WAIT_MS; Date.now() < end;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited in vain for ${what}`);
}

/** How many lines of the log say how a reload went. @param {string} log */
const outcomes = (log) =>
  log.split('\n').filter((line) => /: (reloaded|reload refused)/.test(line));

/** Sends SIGHUP and waits for the line in the log. @param {any} server */
async function reload(server) {
  const before = outcomes(server.log()).length;
  process.kill(server.pid, 'SIGHUP');
  await until(() => outcomes(server.log()).length > before, `a reload: ${server.log()}`);
  return /** @type {string} */ (outcomes(server.log())[before]);
}

/** @param {string} folder @param {object} changes */
function change(folder, changes) {
  const path = join(folder, 'config.json');
  const json = { ...JSON.parse(readFileSync(path, 'utf8')), ...changes };
  writeFileSync(path, JSON.stringify(json));
}

/** @param {string} url */
const recipesOf = async (url) =>
  JSON.parse((await get(`${url}/v1/recipes`)).text)
    .recipes.map((/** @type {any} */ one) => one.recipe.recipe)
    .sort();

/** @param {import('node:test').TestContext} t */
function wordsAndTheme(t) {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'words.txt'), 'the\nof\nand\nnobody\n');
  writeFileSync(join(folder, 'more.txt'), 'the\nof\nand\nnobody\nsomebody\n');
  const config = configure(
    folder,
    [cmsRecipe('words', { cohort: { minimum: PER_BATCH } }), listRecipe('theme')],
    { dictionaries: { words: 'words.txt' } },
  );
  return { folder, config };
}

test(
  `${RELOADS} reloads under traffic: every batch counts once`,
  { timeout: 3_600_000 },
  async (t) => {
    const { folder, config } = wordsAndTheme(t);
    const batches = simulate(join(folder, 'recipe-0.json'), 'the\t5\nof\t3\n', DEVICES, PER_BATCH);
    const server = await serve(t, config);
    let reloads = 0;
    let sent = 0;
    let questions = 0;
    const goesOn = () => reloads < RELOADS || sent < batches.length;

    async function client() {
      while (goesOn()) {
        if (
          sent >= Math.ceil((batches.length * (reloads + 1)) / RELOADS) ||
          sent >= batches.length
        ) {
          await new Promise((resolve) => setTimeout(resolve, 2));
          continue;
        }
        const { status } = await post(server.url, batches[sent++]);
        assert.equal(status, 201);
      }
    }
    async function reader() {
      while (goesOn()) {
        for (const path of [
          '/v1/results/words',
          '/',
          '/recipes/words',
          '/metrics',
          '/v1/recipes',
        ]) {
          const { status, text } = await get(server.url + path);
          assert.ok(status === 200 || status === 403, `${path}: ${status} ${text}`);
          questions++;
        }
      }
    }
    const running = Promise.all([...Array.from({ length: CLIENTS }, client), reader(), reader()]);
    running.catch(() => {}); // looked at below
    for (; reloads < RELOADS; reloads++) {
      const isWrong = reloads % 4 === 3;
      change(folder, {
        recipes: reloads % 2 === 0 ? ['recipe-0.json'] : ['recipe-0.json', 'recipe-1.json'],
        dictionaries: { words: isWrong ? 'gone.txt' : reloads % 3 ? 'words.txt' : 'more.txt' },
      });
      const line = await Promise.race([reload(server), running.then(() => 'the clients ended')]);
      assert.match(String(line), isWrong ? /refused.*gone\.txt/ : /reloaded/);
    }
    await running;
    const result = await resultOf(`${server.url}/v1/results/words`, DEVICES);
    assert.equal(result.n, DEVICES);
    const metrics = (await get(`${server.url}/metrics`)).text;
    const refused = Math.floor(RELOADS / 4);
    assert.match(metrics, new RegExp(`^shoal_records_total\\{recipe="words"\\} ${DEVICES}$`, 'm'));
    assert.match(
      metrics,
      new RegExp(`^shoal_reloads_total\\{outcome="taken"\\} ${RELOADS - refused}$`, 'm'),
    );
    assert.match(
      metrics,
      new RegExp(`^shoal_reloads_total\\{outcome="refused"\\} ${refused}$`, 'm'),
    );
    assert.equal(await server.end('SIGTERM'), 0);
    t.diagnostic(`${batches.length} batches and ${questions} questions during ${RELOADS} reloads`);
  },
);

/** What is wrong, and what the log must name. @type {[string, (folder: string) => void, RegExp][]} */
const WRONG = [
  [
    'a pipe, for which a reload would wait',
    (folder) => {
      rmSync(join(folder, 'recipe-0.json'));
      execFileSync('mkfifo', [join(folder, 'recipe-0.json')]);
    },
    /recipe-0\.json: is a folder, a pipe or a device, no file/,
  ],
  [
    'JSON cut off',
    (folder) => writeFileSync(join(folder, 'config.json'), '{"listen": '),
    /config\.json/,
  ],
  ['an empty file', (folder) => writeFileSync(join(folder, 'config.json'), ''), /config\.json/],
  ['no file', (folder) => rmSync(join(folder, 'config.json')), /config\.json/],
  ['an unknown field', (folder) => change(folder, { recepies: [] }), /recepies: unknown field/],
  [
    'a recipe that is no recipe',
    (folder) => writeFileSync(join(folder, 'recipe-1.json'), '[]'),
    /recipe-1\.json/,
  ],
  ['a recipe that is gone', (folder) => rmSync(join(folder, 'recipe-1.json')), /recipe-1\.json/],
  [
    'a dictionary of nobody',
    (folder) => change(folder, { dictionaries: { wrods: 'words.txt' } }),
    /wrods/,
  ],
  ['a dictionary that is gone', (folder) => rmSync(join(folder, 'words.txt')), /words\.txt/],
  [
    'a folder instead of a dictionary',
    (folder) => (rmSync(join(folder, 'words.txt')), symlinkSync(folder, join(folder, 'words.txt'))),
    /words\.txt/,
  ],
  ['a short secret', (folder) => writeFileSync(join(folder, 'secret'), 'short\n'), /secret/],
  [
    'another port',
    (folder) => change(folder, { listen: '127.0.0.1:1' }),
    /listen: changed; only a restart/,
  ],
  [
    'another store',
    (folder) => change(folder, { store: 'other' }),
    /store: changed; only a restart/,
  ],
  ['another audit log', (folder) => change(folder, { audit_log: 'log' }), /audit_log: changed/],
  [
    'other limits',
    (folder) => change(folder, { limits: { requests_per_s: 7 } }),
    /limits: changed/,
  ],
  ['more threads', (folder) => change(folder, { threads: 9 }), /threads: changed/],
  [
    'a reader of no recipe',
    (folder) => {
      writeFileSync(join(folder, 'token'), 'a-token-of-a-reader-0123456789\n');
      change(folder, { readers: [{ name: 'eve', token_file: 'token', collections: ['nothing'] }] });
    },
    /no recipe is called nothing/,
  ],
];

test('a reload with anything wrong changes nothing, and says what and where', async (t) => {
  const { folder, config } = wordsAndTheme(t);
  const files = ['config.json', 'recipe-0.json', 'recipe-1.json', 'words.txt', 'secret'];
  const good = new Map(files.map((name) => [name, readFileSync(join(folder, name))]));
  const [batch] = simulate(join(folder, 'recipe-0.json'), 'the\t5\n', 40, 20);
  const server = await serve(t, config);
  for (const [what, breakIt, named] of WRONG) {
    breakIt(folder);
    const line = await reload(server);
    assert.match(line, /reload refused, the old configuration goes on/, what);
    assert.match(line, named, what);
    assert.ok(!line.includes(secret), 'the log names no secret');
    assert.deepEqual(await recipesOf(server.url), ['theme', 'words'], what);
    assert.equal(JSON.parse((await get(`${server.url}/healthz`)).text).reload, 'refused', what);
    assert.ok([200, 201].includes((await post(server.url, batch)).status), what);
    for (const [name, bytes] of good) {
      rmSync(join(folder, name), { force: true });
      writeFileSync(join(folder, name), bytes);
    }
  }
  if (process.getuid?.() !== 0) {
    chmodSync(join(folder, 'secret'), 0);
    assert.match(await reload(server), /refused.*secret/);
    chmodSync(join(folder, 'secret'), 0o600);
  }
  assert.match(await reload(server), /reloaded/);
  assert.deepEqual(JSON.parse((await get(`${server.url}/healthz`)).text), { status: 'ok' });
  assert.equal(await server.end('SIGTERM'), 0);
});

test('what a recipe that goes away has stored is there when it comes back', async (t) => {
  const { folder, config } = wordsAndTheme(t);
  const batches = simulate(join(folder, 'recipe-0.json'), 'the\t5\n', 200, 50);
  const server = await serve(t, config);
  for (const batch of batches.slice(0, 2))
    assert.equal((await post(server.url, batch)).status, 201);
  change(folder, { recipes: ['recipe-1.json'], dictionaries: {} });
  assert.match(await reload(server), /reloaded.*1 recipes/);
  assert.deepEqual(await recipesOf(server.url), ['theme']);
  assert.equal((await post(server.url, batches[2])).status, 404);
  assert.equal((await get(`${server.url}/v1/results/words`)).status, 404);
  change(folder, { recipes: ['recipe-0.json'], dictionaries: { words: 'words.txt' } });
  assert.match(await reload(server), /reloaded/);
  assert.equal((await post(server.url, batches[0])).status, 200, 'its ids are known');
  for (const batch of batches.slice(2)) assert.equal((await post(server.url, batch)).status, 201);
  assert.equal((await resultOf(`${server.url}/v1/results/words`, 200)).n, 200);
  assert.equal(await server.end('SIGTERM'), 0);
});

test('a reader who is taken away is signed out, and others stay', async (t) => {
  const { folder, config } = wordsAndTheme(t);
  const readers = ['ann', 'ben'].map((name) => {
    writeFileSync(join(folder, name), `a-token-of-${name}-0123456789\n`);
    return { name, token_file: name, collections: 'all' };
  });
  change(folder, { readers });
  const server = await serve(t, config);
  const origin = new URL(server.url).origin;
  const signIn = async (/** @type {string} */ name) => {
    const answer = await fetch(`${server.url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=a-token-of-${name}-0123456789`,
    });
    assert.equal(answer.status, 303);
    return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] };
  };
  const ann = await signIn('ann');
  change(folder, { dictionaries: { words: 'more.txt' } });
  assert.match(await reload(server), /reloaded/);
  assert.equal((await get(`${server.url}/v1/recipes`, ann)).status, 200, 'the session goes on');
  change(folder, { readers: readers.slice(1) });
  assert.match(await reload(server), /reloaded/);
  assert.equal((await get(`${server.url}/v1/recipes`, ann)).status, 401, 'the session is over');
  const bearer = { authorization: 'Bearer a-token-of-ann-0123456789' };
  assert.equal((await get(`${server.url}/v1/recipes`, bearer)).status, 401);
  assert.equal(await server.end('SIGTERM'), 0);
});

test('--watch takes changed files, whole ones only', async (t) => {
  const { folder, config } = wordsAndTheme(t);
  const server = await serve(t, config, '--watch');
  const dictionary = async () =>
    JSON.parse((await get(`${server.url}/v1/recipes`)).text).recipes.length;
  assert.equal(await dictionary(), 2);

  writeFileSync(join(folder, 'next.json'), '');
  const next = { ...JSON.parse(readFileSync(config, 'utf8')), recipes: ['recipe-0.json'] };
  writeFileSync(join(folder, 'next.json'), JSON.stringify(next));
  renameSync(join(folder, 'next.json'), config); // as configuration should be replaced
  await until(() => outcomes(server.log()).length === 1, 'the renamed file');
  assert.deepEqual(await recipesOf(server.url), ['words']);

  // A file that is written piece by piece is left alone until it stays as it is.
  const text = JSON.stringify({ ...next, recipes: ['recipe-0.json', 'recipe-1.json'] });
  for (let end = 10; end < text.length; end += 25) {
    writeFileSync(config, text.slice(0, end));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  writeFileSync(config, text);
  await until(async () => (await recipesOf(server.url)).length === 2, 'the whole file');
  assert.ok(!server.log().includes('refused'), server.log());

  // A link to another folder, swapped in one step.
  writeFileSync(join(folder, 'one.txt'), 'the\nof\n');
  symlinkSync('one.txt', join(folder, 'link.new'));
  renameSync(join(folder, 'link.new'), join(folder, 'words.txt'));
  const before = outcomes(server.log()).length;
  await until(() => outcomes(server.log()).length > before, 'the link');

  // What is refused is said once, and not again at every look.
  writeFileSync(config, '{');
  await until(() => server.log().includes('refused'), 'the refusal');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.equal(server.log().split('refused').length - 1, 1);
  writeFileSync(config, text);
  const refusals = outcomes(server.log()).length;
  await until(() => outcomes(server.log()).length > refusals, 'the mended file');
  assert.equal(await server.end('SIGTERM'), 0);
});

test('killed during reloads, it starts from the files as they are, and nothing is lost', async (t) => {
  const { folder, config } = wordsAndTheme(t);
  const batches = simulate(join(folder, 'recipe-0.json'), 'the\t5\n', 400, 20);
  let server = await serve(t, config);
  for (const [i, batch] of batches.entries()) {
    assert.equal((await post(server.url, batch)).status, 201);
    process.kill(server.pid, 'SIGHUP');
    if (i % 5 !== 4) continue;
    await server.end('SIGKILL');
    server = await serve(t, config);
  }
  assert.equal((await resultOf(`${server.url}/v1/results/words`, 400)).n, 400);
  assert.equal(await server.end('SIGTERM'), 0);
});

test('a server with a role does not reload, and says so', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'leader.json'), '{"role": "leader"}');
  const { run } = await import('./serve_helpers.mjs');
  const done = run('serve', '--config', join(folder, 'leader.json'), '--watch');
  assert.equal(done.status, 2);
  assert.match(done.stderr, /--watch: a server with a role does not reload; restart it/);
});
