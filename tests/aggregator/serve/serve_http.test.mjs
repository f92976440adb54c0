// SPDX-License-Identifier: Apache-2.0
// `shoal serve` over HTTP: what is taken, what is refused and how, who may read, and that nothing below a cohort shows.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import {
  cmsRecipe,
  configure,
  get,
  listRecipe,
  makeFolder,
  post,
  resultOf,
  run,
  seal,
  secret,
  serve,
  simulate,
  wholeDay,
  withoutBlocks,
} from './serve_helpers.mjs';
import { readExposition } from '../../exposition.mjs';

const KIT = '../../../deploy/';
const DAY_MS = 86_400_000;
const COUNTS = 'light\t700\ndark\t300\n';
const WORDS = 'the\t500\nof\t300\nand\t150\ntea\t50\n';

/** @param {import('node:test').TestContext} t @param {object} [changes] @param {number} [minimum] of words */
async function start(t, changes = {}, minimum = 500) {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'words.txt'), 'the\nof\nand\ntea\nnobody\n');
  writeFileSync(join(folder, 'short.txt'), 'the\nof\n');
  writeFileSync(join(folder, 'token'), 'a-read-token-of-tests\n');
  const recipes = [listRecipe('theme'), cmsRecipe('words', { cohort: { minimum } })];
  const config = configure(folder, recipes, {
    dictionaries: { words: 'words.txt' },
    ...changes,
  });
  const server = await serve(t, config);
  return {
    folder,
    server,
    url: server.url,
    theme: simulate(join(folder, 'recipe-0.json'), COUNTS, 500, 100),
    words: simulate(join(folder, 'recipe-1.json'), WORDS, 3000, 500),
  };
}

/**
 * The records of a batch of version 1 as a batch of version 2.
 * @param {Buffer} batch @param {number} day
 */
function secondVersion(batch, day) {
  const body = batch.subarray(72, -8);
  const made = Buffer.concat([batch.subarray(0, 72), Buffer.alloc(16, day), body, Buffer.alloc(8)]);
  made.writeUInt32LE(2, 8);
  made.writeUInt32LE(day, 20);
  const hash = createHash('sha256').update('shoal batch\0').update(made.subarray(0, 56));
  hash.update(made.subarray(72, -8)).digest().copy(made, 56, 0, 16);
  return seal(made);
}

/** @param {{status: number, json: any}} answer @param {number} status @param {string} code @param {number} number */
function assertRefused(answer, status, code, number) {
  assert.equal(answer.status, status, JSON.stringify(answer.json));
  assert.deepEqual(Object.keys(answer.json), ['error']);
  assert.deepEqual(Object.keys(answer.json.error), ['code', 'number', 'message']);
  assert.equal(answer.json.error.code, code);
  assert.equal(answer.json.error.number, number);
}

test("a batch is stored, its repeat is known, and the result is the command line's", async (t) => {
  const { folder, url, words } = await start(t);
  for (const batch of words) {
    const answer = await post(url, batch);
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.json, { status: 'stored' });
  }
  const again = await post(url, words[2]);
  assert.equal(again.status, 200);
  assert.deepEqual(again.json, { status: 'known' });
  const result = await resultOf(`${url}/v1/results/words`, 3000);

  writeFileSync(join(folder, 'all'), Buffer.concat(words));
  const recipe = join(folder, 'recipe-1.json');
  const acc = join(folder, 'all.acc');
  assert.equal(run('ingest', '--recipe', recipe, '-o', acc, join(folder, 'all')).status, 0);
  const expected = run(
    'estimate',
    '--recipe',
    recipe,
    '--dictionary',
    join(folder, 'words.txt'),
    '--format',
    'json',
    acc,
  );
  assert.deepEqual(withoutBlocks(result), withoutBlocks(JSON.parse(expected.stdout)));
  assert.equal(result.rows[0].value, 'the');
});

test('top cuts rows, dictionaries go by name, periods by day, week and span', async (t) => {
  await wholeDay();
  const { url, words } = await start(t, {
    dictionaries: { words: { long: 'words.txt', short: 'short.txt' } },
  });
  for (const batch of words) await post(url, batch);
  await resultOf(`${url}/v1/results/words`, 3000);
  const today = new Date().toISOString().slice(0, 10);
  const rows = async (/** @type {string} */ query) => {
    const answer = await get(`${url}/v1/results/words?${query}`);
    return { status: answer.status, json: JSON.parse(answer.text) };
  };
  assert.equal((await rows('top=2')).json.rows.length, 2);
  assert.equal((await rows('top=0')).json.rows.length, 5);
  assert.equal((await rows('dictionary=long')).json.rows.length, 5);
  assert.equal((await rows('dictionary=short')).json.rows.length, 2);
  assertRefused(await rows('dictionary=other'), 404, 'not-found', 404);
  assert.equal((await rows(`period=${today}`)).json.n, 3000);
  assert.equal((await rows(`from=${today}&to=${today}`)).json.n, 3000);
  assert.equal((await rows(`from=${today}`)).json.n, 3000);
  assertRefused(await rows('period=1999-01-01'), 403, 'cohort', 103);
  assertRefused(await rows('to=2020-01-01'), 403, 'cohort', 103);
  for (const bad of [
    'period=yesterday',
    'period=2026-02-30',
    'from=1',
    'from=2026-02-02&to=2026-02-01',
    'top=-1',
    'top=x',
    'top=99999999',
    `period=${today}&from=${today}`,
  ]) {
    assertRefused(await rows(bad), 400, 'argument', 400);
  }
});

test('below the cohort nothing shows, not even how many', async (t) => {
  const { url, words } = await start(t, {}, 1000);
  await post(url, words[0]); // 500 of 1000
  await new Promise((resolve) => setTimeout(resolve, 2100)); // ticks are every second
  const answer = await get(`${url}/v1/results/words`);
  assertRefused({ status: answer.status, json: JSON.parse(answer.text) }, 403, 'cohort', 103);
  const page = await get(`${url}/recipes/words`);
  for (const text of [answer.text, page.text.replace(/<style>.*?<\/style>/s, '')]) {
    assert.ok(!/\b500\b/.test(text), 'the count leaked');
    assert.ok(!text.includes('nobody'), 'the dictionary leaked');
  }
  assert.match(page.text, /minimum cohort of 1000/);
  await post(url, words[1]); // exactly the minimum
  assert.equal((await resultOf(`${url}/v1/results/words`, 1000)).rows.length, 5);
});

test('the release threshold withholds rows', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme', { release: { threshold: 250 } })]);
  const server = await serve(t, config);
  for (const batch of simulate(join(folder, 'recipe-0.json'), COUNTS, 500, 500))
    await post(server.url, batch);
  const result = await resultOf(`${server.url}/v1/results/theme`, 500);
  assert.ok(result.rows.length >= 1 && result.rows.length < 4);
  assert.ok(result.rows.every((/** @type {{count: number}} */ row) => row.count >= 250));
});

test('batches of version 2 count once; a wrong id or day is refused with its own number', async (t) => {
  const { url, words } = await start(t);
  const today = Math.floor(Date.now() / DAY_MS);
  const good = secondVersion(words[0], today);
  assert.equal((await post(url, good)).status, 201);
  assert.deepEqual((await post(url, good)).json, { status: 'known' });
  assert.equal((await post(url, secondVersion(words[1], today + 1))).status, 201); // clocks differ
  assert.equal((await post(url, secondVersion(words[2], 1))).status, 201); // it waited long
  for (const [day, name, number] of /** @type {const} */ ([
    [0, 'day-zero', 23],
    [today + 3, 'day-late', 24],
    [84371, 'day-late', 24],
  ]))
    assertRefused(await post(url, secondVersion(words[3], day)), 400, name, number);
  for (const at of [56, 72, 87, 92]) {
    const other = Buffer.from(good);
    other[at] ^= 1;
    const { status, json } = await post(url, seal(other));
    assert.equal(status, 400);
    assert.ok(['batch-id', 'record'].includes(json.error.code), JSON.stringify(json));
    if (at < 88) assert.equal(json.error.number, 22);
  }
});

test("damaged batches are refused with the core's numbers and leave nothing", async (t) => {
  const { url, words } = await start(t);
  const good = words[0];
  for (const len of [0, 1, 7, 8, 71, 72, 79, good.length - 9, good.length - 1]) {
    assertRefused(await post(url, good.subarray(0, len)), 400, 'truncated', 9);
  }
  assertRefused(await post(url, Buffer.concat([good, Buffer.from([0])])), 400, 'extra', 20);
  assertRefused(await post(url, Buffer.from('{"key":"words"}')), 400, 'magic', 10);
  for (let bit = 0; bit < good.length * 8; bit += 997) {
    const flipped = Buffer.from(good);
    flipped[bit >> 3] ^= 1 << (bit & 7);
    const answer = await post(url, flipped);
    assert.equal(answer.status, 400, `bit ${bit}: ${JSON.stringify(answer.json)}`);
    assert.ok(answer.json.error.number > 0);
  }
  const otherHash = Buffer.from(good);
  otherHash[30] ^= 1;
  assertRefused(await post(url, otherHash), 400, 'checksum', 12); // damage is not another recipe
  assertRefused(await post(url, seal(otherHash)), 404, 'recipe-hash', 13);
  const badRow = Buffer.from(good);
  badRow.writeUInt32LE(32, 72 + 12 * 7); // k is 32, a record 4 + 8 bytes
  const answer = await post(url, seal(badRow));
  assertRefused(answer, 400, 'record', 8);
  assert.match(answer.json.error.message, /record 7/);
  // The same id, undamaged, is new: nothing of the others was kept.
  assert.equal((await post(url, good)).status, 201);
  const metrics = await get(`${url}/metrics`);
  assert.match(metrics.text, /^shoal_store_batches\{recipe="words"\} 1$/m);
  assert.match(metrics.text, /^shoal_batches_refused_total\{reason="recipe-hash"\} 1$/m);
});

test('only the secrets send, both of two while one replaces the other', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme')]);
  writeFileSync(join(folder, 'secret'), `${secret}\r\nanother-secret-of-tests\n`);
  const { url } = await serve(t, config);
  const [a, b, c] = simulate(join(folder, 'recipe-0.json'), COUNTS, 300, 100);
  assert.equal((await post(url, a)).status, 201);
  assert.equal(
    (await post(url, b, { authorization: 'Bearer another-secret-of-tests' })).status,
    201,
  );
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${secret}x`,
    `Bearer ${secret.slice(0, -1)}`,
    `Basic ${secret}`,
    secret,
  ]) {
    const answer = await post(url, c, { authorization });
    assertRefused(answer, 401, 'unauthorized', 401);
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
  }
  assert.equal((await post(url, c)).status, 201);
});

test('wrong type, wrong method, wrong path', async (t) => {
  const { url, words } = await start(t);
  assertRefused(
    await post(url, words[0], { 'content-type': 'application/json' }),
    415,
    'content-type',
    415,
  );
  for (const [method, path, status, allow] of /** @type {const} */ ([
    ['GET', '/v1/batches', 405, 'POST'],
    ['PUT', '/v1/batches', 405, 'POST'],
    ['POST', '/', 405, 'GET, HEAD'],
    ['DELETE', '/v1/results/words', 405, 'GET, HEAD'],
    ['GET', '/v1/batches/', 404, null],
    ['GET', '/nothing', 404, null],
    ['GET', '/v1/results/none', 404, null],
    ['GET', '/recipes/none', 404, null],
    ['GET', '/v1/recipes/none', 404, null],
  ])) {
    const response = await fetch(url + path, { method });
    assert.equal(response.status, status, `${method} ${path}`);
    assert.equal(response.headers.get('allow'), allow);
    await response.text();
  }
});

test('huge bodies end at the cap, announced or not', async (t) => {
  const { url, words } = await start(t, { max_body: 10000 });
  assertRefused(await post(url, Buffer.alloc(10001)), 413, 'too-large', 413);
  const stream = new ReadableStream({
    start(controller) {
      for (let i = 0; i < 20; i++) controller.enqueue(new Uint8Array(1000));
      controller.close();
    },
  });
  assertRefused(await post(url, stream), 413, 'too-large', 413);
  assert.equal((await post(url, words[0])).status, 201);
  // A body announced far beyond the cap is refused before it is sent.
  const head =
    `POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secret}\r\n` +
    'Content-Type: application/octet-stream\r\nContent-Length: 9999999999\r\n\r\n';
  assert.match(await talk(url, head), /^HTTP\/1\.1 413 /);
});

/** Sends bytes over a socket of its own and gives what came until the server closed. @param {string} url @param {string} text */
function talk(url, text) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes;
    });
    socket.on('error', () => resolve(answer));
    socket.on('close', () => resolve(answer));
  });
}

test('slow bodies are cut off, steady ones and silent ones alike, and others go on', async (t) => {
  const { url, words } = await start(t, { body_timeout_s: 1 });
  const { hostname, port } = new URL(url);
  const head =
    `POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secret}\r\n` +
    `Content-Type: application/octet-stream\r\nContent-Length: ${words[0].length}\r\n\r\n`;
  const started = Date.now();
  const silent = talk(url, head);
  const steady = new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(head));
    let at = 0;
    const timer = setInterval(() => socket.write(words[0].subarray(at, ++at)), 100); // never idle, never done
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(timer);
      resolve(null);
    });
  });
  assert.equal((await post(url, words[1])).status, 201);
  await Promise.all([silent, steady]);
  // The silent one would be waited for without an end, the steady one for as many tenths of a second as a batch has bytes: ten minutes.
  assert.ok(Date.now() - started < 60_000, `${Date.now() - started} ms`);
  // Nothing of the halves was kept. The server may just be closing the connection that fetch kept: senders try again.
  assert.equal((await post(url, words[0]).catch(() => post(url, words[0]))).status, 201);
});

test('readers need the token when there is one, as Bearer; a password is no token', async (t) => {
  const { url } = await start(t, { read_token_file: 'token' });
  const token = 'a-read-token-of-tests';
  const basic = (/** @type {string} */ text) => `Basic ${Buffer.from(text).toString('base64')}`;
  for (const path of [
    '/',
    '/recipes/words',
    '/v1/results/words',
    '/v1/recipes',
    '/metrics',
    '/refresh.js',
  ]) {
    const refused = await get(url + path);
    assert.equal(refused.status, 401, path);
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer realm="shoal"');
    assert.equal(
      (await get(url + path, { authorization: 'Bearer wrong-token-wrong-token' })).status,
      401,
    );
    assert.equal(
      (await get(url + path, { authorization: `Bearer ${secret}` })).status,
      401,
      'the batch secret reads nothing',
    );
    assert.notEqual((await get(url + path, { authorization: `Bearer ${token}` })).status, 401);
    // A browser would keep a password until it is closed, without a way to sign out.
    assert.equal((await get(url + path, { authorization: basic(`anyone:${token}`) })).status, 401);
    assert.equal((await get(url + path, { authorization: basic(`${token}:`) })).status, 401);
  }
  assert.equal((await get(`${url}/healthz`)).status, 200);
});

test("without a token another origin's name for this machine reads nothing", async (t) => {
  const { url } = await start(t);
  const ask = (/** @type {string} */ host, path = '/v1/recipes') =>
    talk(url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  for (const host of ['localhost', 'localhost:99', '127.0.0.1', '127.0.0.1:8080', '[::1]:80']) {
    assert.match(await ask(host), /^HTTP\/1\.1 200 /, host);
  }
  for (const host of [
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '[::2]',
    '',
  ]) {
    assert.match(await ask(host), /^HTTP\/1\.1 403 /, host);
  }
  assert.match(await ask('evil.example', '/healthz'), /^HTTP\/1\.1 200 /);
});

test('recipes are served as they were read, with their hash', async (t) => {
  const { folder, url } = await start(t);
  const { recipes } = JSON.parse((await get(`${url}/v1/recipes`)).text);
  assert.equal(recipes.length, 2);
  for (const [i, one] of recipes.entries()) {
    assert.deepEqual(
      one.recipe,
      JSON.parse(readFileSync(join(folder, `recipe-${i}.json`), 'utf8')),
    );
    assert.equal(
      one.hash,
      run('recipe', 'hash', join(folder, `recipe-${i}.json`))
        .stdout.trim()
        .split(/\s/)[0],
    );
    assert.deepEqual(JSON.parse((await get(url + one.url)).text), one.recipe);
  }
});

test('the page escapes values, names no origin but its own, and holds no inline script', async (t) => {
  const { url, theme } = await start(t);
  for (const batch of theme) await post(url, batch);
  await resultOf(`${url}/v1/results/theme`, 500);
  for (const path of ['/', '/recipes/theme', '/recipes/theme?top=1']) {
    const { status, headers, text } = await get(url + path);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(
      headers.get('content-security-policy') ?? '',
      /^default-src 'none';img-src data:;style-src( 'sha256-[^']+')+;script-src 'self'/,
    );
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('cache-control'), 'no-store');
    const styles = [...text.matchAll(/<style>(.*?)<\/style>/gs)];
    assert.equal(styles.length, 4);
    for (const [, style] of styles) {
      const hash = createHash('sha256').update(style).digest('base64');
      assert.ok(headers.get('content-security-policy')?.includes(`'sha256-${hash}'`));
    }
    assert.ok(!/<img|onerror=alert\(1\)>/.test(text));
    assert.ok(!/ style=| on[a-z]+="|https?:/.test(text));
    assert.deepEqual(text.match(/<script[^>]*>[^<]*/g), [
      '<script type="module" src="/refresh.js">',
    ]);
  }
  const { text } = await get(`${url}/recipes/theme`);
  assert.ok(text.includes('&lt;img src=x onerror=alert(1)&gt;'));
  assert.ok(text.includes('a&quot;b&#39;c&amp;d'));
  assert.match(text, /class="whisker"/);
  assert.match(text, /not distinguishable from zero/);
  assert.equal((text.match(/<tr class="mute">/g) ?? []).length, 2); // the two values that nobody sent
  // Any other answer may load nothing, errors in the place of a page too.
  for (const path of ['/v1/recipes', '/v1/results/theme', '/healthz', '/recipes/none', '/nowhere'])
    assert.equal(
      (await get(url + path)).headers.get('content-security-policy'),
      "default-src 'none';frame-ancestors 'none'",
      path,
    );
});

test('metrics are Prometheus text of counts', async (t) => {
  const { url, theme } = await start(t);
  for (const batch of theme) await post(url, batch);
  await post(url, theme[0]);
  await resultOf(`${url}/v1/results/theme`, 500);
  const { headers, text } = await get(`${url}/metrics`);
  assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  readExposition(text);
  assert.match(text, /^shoal_batches_total\{recipe="theme",status="stored"\} 5$/m);
  assert.match(text, /^shoal_batches_total\{recipe="theme",status="known"\} 1$/m);
  assert.match(text, /^shoal_store_records\{recipe="theme"\} 500$/m);
});

test('SIGTERM folds what waits and ends with 0; nothing is asked of the next start', async (t) => {
  const { folder, server, words } = await start(t, { fold_interval_s: 3600 });
  await new Promise((resolve) => setTimeout(resolve, 200)); // the first look at an empty store is over
  for (const batch of words) assert.equal((await post(server.url, batch)).status, 201);
  assert.equal(await server.end('SIGTERM'), 0);
  await new Promise((resolve) => setTimeout(resolve, 1100)); // a tick, which the first turn makes up
  const next = await serve(t, join(folder, 'config.json'));
  assert.equal((await resultOf(`${next.url}/v1/results/words`, 3000)).n, 3000);
  assert.equal((await post(next.url, words[0])).status, 200);
  const metrics = await get(`${next.url}/metrics`);
  assert.match(metrics.text, /^shoal_folds_total\{recipe="words"\} 0$/m);
});

test('SIGTERM while many ask and send: each is answered or cut off, and the end is in order', async (t) => {
  const { folder, server, url, words } = await start(t);
  const statuses = new Set();
  let stored = 0;
  const askers = Array.from({ length: 16 }, async (_, i) => {
    for (;;) {
      try {
        const { status } = await get(`${url}/${i % 2 ? 'v1/results/words' : ''}`);
        statuses.add(status);
      } catch {
        return; // the server is gone
      }
    }
  });
  const sender = (async () => {
    for (const batch of words) {
      try {
        if ((await post(url, batch)).status === 201) stored++;
      } catch {
        return;
      }
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(await server.end('SIGTERM'), 0);
  await Promise.all([...askers, sender]);
  assert.ok(
    [...statuses].every((status) => [200, 403, 503].includes(status)),
    String([...statuses]),
  );
  const next = await serve(t, join(folder, 'config.json'));
  const kept = Number(
    /^shoal_store_batches\{recipe="words"\} (\d+)$/m.exec(
      (await get(`${next.url}/metrics`)).text,
    )?.[1],
  );
  assert.ok(kept === stored || kept === stored + 1, `${kept} kept, ${stored} acknowledged`); // one answer may have been cut off
});

test('wrong configurations are refused by name', (t) => {
  const folder = makeFolder(t);
  /** @type {[object, RegExp][]} */
  const bad = [
    [{ extra: 1 }, /extra: unknown field/],
    [{ store: undefined }, /store: missing/],
    [{ batch_secret_file: undefined }, /batch_secret_file: missing/],
    [{ listen: '0.0.0.0:0' }, /read_token_file: missing/],
    [{ listen: '[::]:0' }, /read_token_file: missing/],
    [{ listen: 'example.org:80' }, /listen/],
    [{ listen: '127.0.0.1' }, /listen/],
    [{ listen: '127.0.0.1:70000' }, /listen/],
    [{ listen: '::1:80' }, /listen/],
    [{ recipes: [] }, /recipes/],
    [{ recipes: ['none.json'] }, /none\.json/],
    [{ recipes: ['recipe-0.json', 'recipe-0.json'] }, /given twice/],
    [{ dictionaries: { other: 'recipe-0.json' } }, /no recipe is called other/],
    [{ period: 'month' }, /period/],
    [{ fold_interval_s: 0 }, /fold_interval_s/],
    [{ honest: 0.001 }, /honest: must be 0\.01 to 1/],
    [{ honest: 1.1 }, /honest/],
    [{ honest: '0.9' }, /honest: must be a number/],
    [{ max_body: 1.5 }, /max_body/],
    [{ max_body: 1e12 }, /max_body/],
    [{ batch_secret_file: 'short' }, /short: line 1: .*16/],
    [{ batch_secret_file: 'three' }, /three: line 3/],
    [{ batch_secret_file: 'empty' }, /no secret/],
  ];
  writeFileSync(join(folder, 'short'), 'password\n');
  writeFileSync(join(folder, 'three'), `${secret}1\n${secret}2\n${secret}3\n`);
  writeFileSync(join(folder, 'empty'), '\n\n');
  writeFileSync(join(folder, 'three-words'), `${secret}-of-readers\n`);
  for (const [changes, message] of bad) {
    const done = run(
      'serve',
      '--check',
      '--config',
      configure(folder, [listRecipe('theme')], changes),
    );
    assert.notEqual(done.status, 0, JSON.stringify(changes));
    assert.match(done.stderr, message);
    assert.ok(!done.stderr.includes(secret) && !done.stderr.includes('password'));
  }
  const trial = { ...listRecipe('theme'), trial: 1 };
  const check = (/** @type {object} */ changes) =>
    run('serve', '--check', '--config', configure(folder, [trial], changes));
  assert.equal(check({ listen: '127.0.0.1:0' }).status, 0);
  assert.equal(check({ listen: '[::1]:0' }).status, 0);
  const refused = check({ listen: '0.0.0.0:0', read_token_file: 'three-words' });
  assert.notEqual(refused.status, 0);
  assert.match(refused.stderr, /recipe theme has "trial": 1, .*listen is 0\.0\.0\.0:0/);
  for (const sample of ['etc/aggregator.json', 'systemd/etc/aggregator.json']) {
    // known fields only; the files they name are not here
    const done = run(
      'serve',
      '--check',
      '--config',
      fileURLToPath(new URL(`${KIT}${sample}`, import.meta.url)),
    );
    assert.match(done.stderr, /\/batch\.secret: .*No such file/);
  }
  writeFileSync(join(folder, 'config.json'), '{"listen":"127.0.0.1:0","listen":"127.0.0.1:1"}');
  assert.match(
    run('serve', '--check', '--config', join(folder, 'config.json')).stderr,
    /listen: given twice/,
  );
  assert.equal(
    run('serve', '--check', '--config', configure(folder, [listRecipe('theme')])).status,
    0,
  );
  assert.equal(run('serve').status, 2);
});
