// SPDX-License-Identifier: Apache-2.0
// Who may ask `shoal serve` what: every route for every role, and outside its scope a reader finds nothing but the bytes of what
// does not exist. Signing in and out, sessions, a proxy's header; and the audit log, without whose line no answer leaves.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  cmsRecipe,
  configure,
  listRecipe,
  makeFolder,
  post,
  run,
  secret,
  serve,
  simulate,
} from './serve_helpers.mjs';

const TOKENS = {
  alice: 'token-of-alice-0123456789',
  bob: 'token-of-bob-0123456789012',
  reader: 'token-of-old-reader-01234',
  admin: 'token-of-admin-0123456789',
};
const COUNTS = 'light\t700\ndark\t300\n';
const PATIENCE_MS = 60_000;

/** @typedef {{ status: number, headers: import('node:http').IncomingHttpHeaders, text: string }} Answer */

/**
 * One request with exactly these headers.
 * @param {string} url @param {{ method?: string, headers?: import('node:http').OutgoingHttpHeaders | string[], body?: string }} [options]
 * @returns {Promise<Answer>}
 */
async function ask(url, { method = 'GET', headers = {}, body = '' } = {}) {
  const sent = request(url, {
    method,
    headers: /** @type {any} */ (headers),
    agent: false,
    timeout: PATIENCE_MS,
  });
  sent.on('timeout', () => sent.destroy(new Error(`${url}: no answer`)));
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

const bearer = (/** @type {string} */ token) => ({ authorization: `Bearer ${token}` });

const sumRecipe = (/** @type {string} */ id) =>
  cmsRecipe(id, { aggregation: { protocol: 'sum' }, batch: { minimum: 500 } });

const READERS = [
  { name: 'alice', token_file: 'alice', collections: ['theme', 'sum-a'] },
  { name: 'bob', token_file: 'bob', collections: ['words', 'sum-b'] },
];

/** @param {import('node:test').TestContext} t @param {object} [changes] @param {string[]} [options] */
async function start(t, changes = {}, options = []) {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'words.txt'), 'the\nof\nand\ntea\n');
  for (const [name, token] of Object.entries(TOKENS))
    writeFileSync(join(folder, name), `${token}\n`);
  const recipes = [listRecipe('theme'), cmsRecipe('words'), sumRecipe('sum-a'), sumRecipe('sum-b')];
  const config = configure(folder, recipes, {
    dictionaries: { words: 'words.txt' },
    readers: READERS,
    read_token_file: 'reader',
    admin_token_file: 'admin',
    ...changes,
  });
  const server = await serve(t, config, ...options);
  return { folder, server, url: server.url };
}

/** The lines of the log, without the first of each file. @param {string} folder */
function logOf(folder, name = 'store/audit') {
  return readdirSync(join(folder, name))
    .sort()
    .flatMap((file) =>
      readFileSync(join(folder, name, file), 'utf8')
        .trim()
        .split('\n'),
    )
    .map((line) => JSON.parse(line))
    .filter(({ what }) => what !== 'begin');
}

/** The hash of a line's body, as docs/formats.md says it. @param {Buffer} before @param {string} body */
const hashOf = (before, body) => createHash('sha256').update(before).update(body).digest();

/** What matters of a line. @param {any} line */
const short = ({ who, via, what, collection, status }) =>
  [who, via, what, collection ?? '', status].join(' ');

/** The header that signs a person in. @param {string} url @param {string} token @param {object} [headers] */
const signIn = (url, token, headers = {}) =>
  ask(`${url}/sign-in`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: url,
      ...headers,
    },
    body: new URLSearchParams({ token }).toString(),
  });

/** @param {Answer} answer */
const cookieOf = (answer) => String(answer.headers['set-cookie']).split(';')[0];

const hashes = (/** @type {string} */ folder) =>
  [0, 1, 2, 3].map(
    (i) => run('recipe', 'hash', join(folder, `recipe-${i}.json`)).stdout.split(/\s/)[0],
  );

/** Everything of an answer that a client sees, but for what the request itself named. @param {Answer} answer */
const seen = ({ status, headers, text }) => {
  const { date, ...others } = headers;
  assert.ok(date !== undefined);
  return { status, headers: others, text };
};

test('every route for every role; out of scope is what does not exist, byte for byte', async (t) => {
  const { folder, url } = await start(t);
  const [theme, words, sumA, sumB] = hashes(folder);
  const statusOf = async (/** @type {string} */ token, /** @type {string} */ path) =>
    (await ask(url + path, { headers: bearer(token) })).status;
  // 403 is "no records yet" of a collection in scope; nothing was sent.
  const none = 403;
  /** @type {[string, number, number, number, number][]} path, and for alice, bob, the reader of all, the administrator */
  const matrix = [
    ['/', 200, 200, 200, 403],
    ['/refresh.js', 200, 200, 200, 200],
    ['/metrics', 200, 200, 200, 200],
    ['/delivery', 404, 404, 404, 200],
    ['/operations', 404, 404, 404, 200],
    ['/books', 200, 200, 200, 200],
    ['/books/log', 200, 200, 200, 200],
    ['/books/log?day=x', 400, 400, 400, 400],
    ['/books/recipes/theme', 200, 404, 200, 200],
    ['/books/recipes/words', 404, 200, 200, 200],
    ['/books/recipes/nothing', 404, 404, 404, 404],
    ['/v1/recipes', 200, 200, 200, 200],
    [`/v1/recipes/${theme}`, 200, 404, 200, 404],
    [`/v1/recipes/${words}`, 404, 200, 200, 404],
    [`/v1/recipes/${sumA}`, 200, 404, 200, 404],
    [`/v1/recipes/${sumB}`, 404, 200, 200, 404],
    ['/v1/results/theme', none, 404, none, 403],
    ['/v1/results/words', 404, none, none, 403],
    ['/v1/results/words?dictionary=other', 404, 404, 404, 403],
    ['/v1/results/nothing', 404, 404, 404, 403],
    ['/recipes/theme', 200, 404, 200, 403],
    ['/recipes/words', 404, 200, 200, 403],
    ['/recipes/nothing', 404, 404, 404, 403],
    ['/v1/sums/sum-a', none, 404, none, 403],
    ['/v1/sums/sum-b', 404, none, none, 403],
    ['/v1/sums/words', 404, 404, 404, 403],
    ['/healthz', 200, 200, 200, 200],
  ];
  for (const [path, ...statuses] of matrix) {
    const got = [];
    for (const who of /** @type {const} */ (['alice', 'bob', 'reader', 'admin']))
      got.push(await statusOf(TOKENS[who], path));
    assert.deepEqual(got, statuses, path);
    const known = path === '/healthz' ? 200 : 401;
    assert.equal((await ask(url + path)).status, known, path);
    assert.equal(await statusOf(secret, path), known, `${path}: the batch secret reads nothing`);
    assert.equal(await statusOf(`${TOKENS.alice}x`, path), known, path);
  }
  // A reader who asks beyond its scope gets the same bytes as for what there is not at all: with every argument.
  for (const query of ['', '?period=all', '?top=x', '?dictionary=default', '?from=2&to=1'])
    for (const [there, nowhere] of [
      ['/v1/results/words', '/v1/results/wordz'],
      ['/recipes/words', '/recipes/wordz'],
      ['/v1/sums/sum-b', '/v1/sums/sum-z'],
      [`/v1/recipes/${words}`, `/v1/recipes/${'0'.repeat(64)}`],
      ['/books/recipes/words', '/books/recipes/wordz'],
      ['/delivery', '/deliveries'],
      ['/operations', '/operationz'],
    ]) {
      const headers = bearer(TOKENS.alice);
      const [one, other] = [
        await ask(url + there + query, { headers }),
        await ask(url + nowhere + query, { headers }),
      ];
      assert.equal(one.status, 404);
      assert.deepEqual(seen(one), seen(other), there + query);
    }
  // Tokens of one kind do not do the work of another.
  const batches = simulate(join(folder, 'recipe-0.json'), COUNTS, 100, 100);
  for (const token of Object.values(TOKENS))
    assert.equal((await post(url, batches[0], bearer(token))).status, 401);
  assert.equal((await post(url, batches[0])).status, 201);
});

test('lists, pages and metrics show the scope alone, and live counts only who administers', async (t) => {
  const { folder, url } = await start(t);
  for (const batch of simulate(join(folder, 'recipe-0.json'), COUNTS, 300, 100))
    assert.equal((await post(url, batch)).status, 201);
  const text = async (/** @type {keyof typeof TOKENS} */ who, /** @type {string} */ path) =>
    (await ask(url + path, { headers: bearer(TOKENS[who]) })).text;
  const ids = (/** @type {string} */ list) =>
    JSON.parse(list).recipes.map((/** @type {any} */ one) => one.recipe.recipe);
  assert.deepEqual(ids(await text('alice', '/v1/recipes')), ['theme', 'sum-a']);
  assert.deepEqual(ids(await text('bob', '/v1/recipes')), ['words', 'sum-b']);
  assert.deepEqual(ids(await text('reader', '/v1/recipes')), ['theme', 'words', 'sum-a', 'sum-b']);
  assert.deepEqual(ids(await text('admin', '/v1/recipes')), []);
  const page = await text('bob', '/');
  assert.ok(page.includes('/recipes/words') && page.includes('/recipes/sum-b'));
  assert.ok(!page.includes('theme') && !page.includes('sum-a'));

  const names = async (/** @type {keyof typeof TOKENS} */ who) => {
    // Alarms are there once a block has closed, which a second's tick may bring in between.
    const lines = (await text(who, '/metrics'))
      .split('\n')
      .filter((line) => /^shoal_(?!alarm\{)/.test(line));
    return {
      names: [...new Set(lines.map((line) => line.replace(/[{ ].*/, '')))].sort(),
      recipes: [
        ...new Set(lines.flatMap((line) => /recipe="([^"]+)"/.exec(line)?.[1] ?? [])),
      ].sort(),
    };
  };
  const released = [
    'shoal_store_blocks',
    'shoal_store_next_tick_timestamp_seconds',
    'shoal_store_released_records',
  ];
  assert.deepEqual(await names('alice'), { names: released, recipes: ['sum-a', 'theme'] });
  assert.deepEqual(await names('bob'), { names: released, recipes: ['sum-b', 'words'] });
  assert.deepEqual((await names('reader')).names, released);
  const admin = await names('admin');
  assert.deepEqual(admin.recipes, ['sum-a', 'sum-b', 'theme', 'words']);
  for (const live of ['records_total', 'batches_total', 'store_records', 'store_waiting_batches'])
    assert.ok(admin.names.includes(`shoal_${live}`), live);
  const lines = await text('admin', '/metrics');
  assert.ok(Number(/^shoal_audit_lines (\d+)$/m.exec(lines)?.[1]) >= 5, 'the log grows');
});

test('a person signs in, reads, signs out; the cookie is of one session and of no script', async (t) => {
  const { folder, url } = await start(t);
  const html = { accept: 'text/html,application/xhtml+xml' };
  const sent = await ask(`${url}/recipes/theme`, { headers: html });
  assert.equal(sent.status, 303);
  assert.equal(sent.headers.location, '/sign-in');
  const form = await ask(`${url}/sign-in`);
  assert.equal(form.status, 200);
  assert.match(form.text, /<form method="post" action="\/sign-in">/);
  assert.ok(!/<script|https?:| style=| on[a-z]+=/.test(form.text));
  assert.match(
    String(form.headers['content-security-policy']),
    /^default-src 'none';img-src data:;style-src 'sha256-[^']+';base-uri 'none';form-action 'self';frame-ancestors 'none'$/,
  );
  assert.equal(form.headers['referrer-policy'], 'same-origin');
  assert.equal(form.headers['cache-control'], 'no-store');

  const wrong = await signIn(url, 'nobody-has-this-token');
  assert.equal(wrong.status, 403);
  assert.match(wrong.text, /No reader has this token/);
  assert.equal(wrong.headers['set-cookie'], undefined);
  assert.ok(!wrong.text.includes('nobody-has-this-token'));

  const planted = { cookie: `shoal-session=${'0'.repeat(64)}` };
  const entered = await signIn(url, TOKENS.alice, planted);
  assert.equal(entered.status, 303);
  assert.equal(entered.headers.location, '/');
  assert.match(
    String(entered.headers['set-cookie']),
    /^shoal-session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
  );
  const cookie = cookieOf(entered);
  assert.notEqual(cookie, planted.cookie, 'an id that somebody planted is never taken');
  assert.equal((await ask(`${url}/`, { headers: planted })).status, 401);

  const page = await ask(`${url}/recipes/theme`, { headers: { ...html, cookie } });
  assert.equal(page.status, 200);
  assert.match(page.text, /<form class="account" method="post" action="\/sign-out"><span>alice</);
  assert.match(String(page.headers['content-security-policy']), /form-action 'self'/);
  assert.equal((await ask(`${url}/recipes/words`, { headers: { cookie } })).status, 404);
  const asToken = await ask(`${url}/recipes/theme`, { headers: bearer(TOKENS.alice) });
  assert.ok(!asToken.text.includes('/sign-out'), 'a token has nothing to sign out of');
  assert.equal((await ask(`${url}/v1/results/theme`, { headers: { cookie } })).status, 403);
  assert.equal((await ask(`${url}/metrics`, { headers: { cookie } })).status, 200);
  // A cookie is no secret of senders, and a wrong token beside it is not forgiven.
  assert.equal(
    (await ask(`${url}/`, { headers: { cookie, ...bearer('wrong-token-wrong-token') } })).status,
    401,
  );
  for (const broken of [cookie.slice(0, -1), `${cookie}0`, `${cookie}; ${cookie}`, `x${cookie}`])
    assert.equal((await ask(`${url}/`, { headers: { cookie: broken } })).status, 401, broken);

  // Signing in anew ends the session before it.
  const again = cookieOf(await signIn(url, TOKENS.bob, { cookie }));
  assert.equal((await ask(`${url}/`, { headers: { cookie } })).status, 401);
  assert.equal((await ask(`${url}/recipes/words`, { headers: { cookie: again } })).status, 200);
  const left = await ask(`${url}/sign-out`, {
    method: 'POST',
    headers: { cookie: again, origin: url },
  });
  assert.equal(left.status, 303);
  assert.equal(left.headers.location, '/sign-in');
  assert.match(String(left.headers['set-cookie']), /^shoal-session=; .*Max-Age=0$/);
  assert.equal((await ask(`${url}/recipes/words`, { headers: { cookie: again } })).status, 401);

  const admin = await signIn(url, TOKENS.admin);
  assert.equal(admin.headers.location, '/delivery');
  const refused = await ask(`${url}/`, { headers: { cookie: cookieOf(admin) } });
  assert.equal(refused.status, 403);
  assert.equal(JSON.parse(refused.text).error.code, 'role');

  const log = logOf(folder);
  assert.deepEqual(log.filter(({ what }) => /^sign/.test(what)).map(short), [
    'alice session sign-in  303',
    'bob session sign-in  303',
    'bob session sign-out  303',
    'admin session sign-in  303',
  ]);
  const all = readFileSync(join(folder, 'store/audit/000001.jsonl'), 'utf8');
  for (const hidden of [...Object.values(TOKENS), cookie.split('=')[1], 'nobody-has', '127.0.0.1'])
    assert.ok(!all.includes(hidden), hidden);
});

test('under another name the cookie is Secure and bound to its host', async (t) => {
  const { url } = await start(t);
  const host = 'stats.example.org';
  const entered = await signIn(url, TOKENS.alice, { host, origin: `https://${host}` });
  assert.equal(entered.status, 303);
  assert.match(
    String(entered.headers['set-cookie']),
    /^__Host-shoal-session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/,
  );
  const cookie = cookieOf(entered);
  assert.equal((await ask(`${url}/`, { headers: { host, cookie } })).status, 200);
  const plain = cookie.replace('__Host-', '');
  assert.equal((await ask(`${url}/`, { headers: { host, cookie: plain } })).status, 401);
});

test('only the own pages sign in and out', async (t) => {
  const { url } = await start(t);
  const cookie = cookieOf(await signIn(url, TOKENS.alice));
  /** @type {Record<string, string>[]} */
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${url}.evil.example` },
    { origin: url, 'sec-fetch-site': 'cross-site' },
    { origin: url, 'sec-fetch-site': 'same-site' },
    { origin: url, 'sec-fetch-site': 'none' },
    {}, // neither header
  ];
  for (const sent of foreign) {
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...sent };
    const body = `token=${TOKENS.bob}`;
    const entered = await ask(`${url}/sign-in`, { method: 'POST', headers: form, body });
    assert.equal(entered.status, 403, JSON.stringify(sent));
    assert.equal(JSON.parse(entered.text).error.code, 'origin');
    assert.equal(entered.headers['set-cookie'], undefined);
    const left = await ask(`${url}/sign-out`, { method: 'POST', headers: { ...sent, cookie } });
    assert.equal(left.status, 403);
    assert.equal((await ask(`${url}/`, { headers: { cookie } })).status, 200, 'still signed in');
  }
  const fetched = { origin: 'null', 'sec-fetch-site': 'same-origin' }; // as a page without a referrer posts
  assert.equal((await signIn(url, TOKENS.bob, fetched)).status, 303);
  for (const [headers, body, status] of /** @type {const} */ ([
    [{ 'content-type': 'application/json' }, '{}', 415],
    [{}, '', 403],
    [{}, 'token=', 403],
    [{}, `token=${TOKENS.bob}&token=${TOKENS.bob}`, 403],
    [{}, `token=${'x'.repeat(3000)}`, 413],
  ])) {
    const answer = await ask(`${url}/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: url, ...headers },
      body,
    });
    assert.equal(answer.status, status, body.slice(0, 20));
  }
  for (const [method, path, allow] of [
    ['GET', '/sign-out', 'POST'],
    ['PUT', '/sign-in', 'GET, HEAD, POST'],
  ]) {
    const answer = await ask(url + path, { method });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.allow, allow);
  }
});

test('wrong tokens in the form are limited, right ones and programs are not hindered before', async (t) => {
  const { folder, url } = await start(t);
  const cookie = cookieOf(await signIn(url, TOKENS.alice));
  for (let i = 0; i < 10; i++)
    assert.equal((await signIn(url, `wrong-token-${i}-0123456`)).status, 403);
  const limited = await signIn(url, TOKENS.bob);
  assert.equal(limited.status, 429, 'also a right token waits: else it would be told apart');
  const wait = Number(limited.headers['retry-after']);
  assert.ok(wait >= 1 && wait <= 10);
  assert.match(limited.text, /Too many tokens were wrong/);
  assert.equal((await ask(`${url}/`, { headers: { cookie } })).status, 200);
  assert.equal((await ask(`${url}/`, { headers: bearer(TOKENS.bob) })).status, 200);
  await new Promise((resolve) => setTimeout(resolve, 1000 * wait + 200));
  assert.equal((await signIn(url, TOKENS.bob)).status, 303);
  // Strangers fill no disk: eleven of them share a line or two.
  const strangers = logOf(folder).filter(({ what }) => what === 'strangers');
  assert.ok(strangers.length <= 2, JSON.stringify(strangers));
});

test("a proxy's header names a reader from the proxy's address only, and only once", async (t) => {
  const proxy = {
    header: 'X-Forwarded-User',
    addresses: ['127.0.0.1/32'],
    admins: ['root@example.org'],
  };
  const readers = [...READERS, { name: 'carol@example.org', collections: 'all' }];
  const { folder, url } = await start(t, { proxy, readers });
  const as = (/** @type {string} */ name, path = '/recipes/theme', headers = {}) =>
    ask(url + path, { headers: { 'x-forwarded-user': name, ...headers } });
  assert.equal((await as('alice')).status, 200);
  assert.equal((await as('bob')).status, 404);
  assert.equal((await as('carol@example.org')).status, 200);
  assert.equal((await as('root@example.org')).status, 403);
  assert.equal((await as('root@example.org', '/metrics')).status, 200);
  const unknown = await as('mallory');
  assert.equal(unknown.status, 403);
  assert.equal(JSON.parse(unknown.text).error.code, 'unknown-reader');
  for (const name of ['admin', 'reader', 'local', 'Alice', 'alice,bob', 'alice bob', ''])
    assert.equal((await as(name)).status, 403, name);
  // A header that came twice was sent by somebody and by the proxy: neither is believed.
  const twice = await ask(`${url}/recipes/theme`, {
    headers: ['Host', 'localhost', 'X-Forwarded-User', 'bob', 'X-Forwarded-User', 'alice'],
  });
  assert.equal(twice.status, 401);
  // A token decides alone.
  assert.equal((await as('alice', '/recipes/theme', bearer(TOKENS.bob))).status, 404);
  assert.equal((await as('alice', '/recipes/theme', bearer('wrong-token-wrong'))).status, 401);
  assert.ok(logOf(folder).some((line) => short(line) === 'carol@example.org proxy page theme 200'));

  const elsewhere = await start(t, {
    proxy: { ...proxy, addresses: ['192.0.2.7/32', '::1/128'] },
    readers,
  });
  const spoofed = await ask(`${elsewhere.url}/recipes/theme`, {
    headers: { 'x-forwarded-user': 'alice' },
  });
  assert.equal(spoofed.status, 401);
  assert.equal(
    (await ask(`${elsewhere.url}/metrics`, { headers: { 'x-forwarded-user': 'root@example.org' } }))
      .status,
    401,
  );
});

test('the log says who asked what and how it was answered, and a command checks it', async (t) => {
  const { folder, server, url } = await start(t, { audit_log: 'log', audit_log_bytes: 4096 });
  const alice = { headers: bearer(TOKENS.alice) };
  await ask(`${url}/v1/results/theme?period=2026-11-21&top=7&dictionary=default`, alice);
  await ask(`${url}/v1/results/words`, alice);
  await ask(`${url}/v1/results/theme?from=2026-11-01&to=2026-11-30`, alice);
  await ask(`${url}/v1/sums/sum-a?period=never`, alice);
  await ask(`${url}/`, alice);
  await ask(`${url}/metrics`, { headers: bearer(TOKENS.admin) });
  await ask(`${url}/v1/results/theme`, { headers: bearer(TOKENS.admin) });
  const log = logOf(folder, 'log');
  assert.deepEqual(log.map(short), [
    'alice bearer result theme 403',
    'alice bearer result words 404',
    'alice bearer result theme 403',
    'alice bearer sum sum-a 400',
    'alice bearer page  200',
    'admin bearer metrics  200',
    'admin bearer result theme 403',
  ]);
  assert.deepEqual(
    [log[0].span, log[0].top, log[0].dictionary, log[2].span, log[3].span],
    ['2026-11-21', 7, 'default', '2026-11-01..2026-11-30', 'never'],
  );
  for (const [i, line] of log.entries()) {
    assert.equal(line.outcome, line.status < 400 ? 'answered' : 'refused');
    assert.match(line.time, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(line.seq, i + 2);
  }
  assert.ok(!existsSync(join(folder, 'store/audit')));
  for (let i = 0; i < 30; i++) await ask(`${url}/metrics`, { headers: bearer(TOKENS.admin) });
  const files = readdirSync(join(folder, 'log')).sort();
  assert.ok(files.length >= 2, 'files follow each other');
  for (const file of files) assert.equal(statSync(join(folder, 'log', file)).mode & 0o777, 0o600);

  const verify = (/** @type {string[]} */ ...args) => run('audit-log', 'verify', ...args);
  const live = verify(join(folder, 'log')); // while the server has it open
  assert.equal(live.status, 0, live.stderr);
  await server.end('SIGTERM');
  const done = verify(join(folder, 'log'));
  assert.match(done.stdout, /^\d+ lines in \d+ files: the chain holds\n/);
  const head = /^head: ([0-9a-f]{64})$/m.exec(done.stdout)?.[1] ?? '';
  const paths = files.map((file) => join(folder, 'log', file));
  assert.equal(verify(...paths).stdout, done.stdout);
  assert.match(
    verify('--head', head, ...paths).stdout,
    /The kept head is line \d+ of .*; 0 lines follow it/,
  );
  assert.match(
    verify(...paths.slice(1)).stdout,
    /The log begins before these files, in 000001\.jsonl/,
  );
  const swapped = verify(paths[1], paths[0]);
  assert.equal(swapped.status, 1);
  assert.match(swapped.stderr, /000001\.jsonl: line 1: /);
  const last = readFileSync(paths[paths.length - 1], 'utf8');
  const edited = readFileSync(paths[0], 'utf8');
  /** @type {Buffer} */
  let before = Buffer.alloc(32);
  for (const line of paths.flatMap((path) => readFileSync(path, 'utf8').trim().split('\n'))) {
    before = hashOf(before, line.slice(0, line.lastIndexOf(',"hash":')));
    assert.equal(JSON.parse(line).hash, before.toString('hex'), line);
  }
  assert.equal(head, before.toString('hex'));
  // Whoever seals a changed line anew is found by the next one.
  const [first, second, ...others] = edited.split('\n');
  const body = second.slice(0, second.lastIndexOf(',"hash":')).replace('alice', 'alicf');
  const seal = hashOf(Buffer.from(JSON.parse(first).hash, 'hex'), body).toString('hex');
  writeFileSync(paths[0], [first, `${body},"hash":"${seal}"}`, ...others].join('\n'));
  assert.match(verify(...paths).stderr, /000001\.jsonl: line 3: its hash does not fit/);
  writeFileSync(paths[0], edited.replace('"who":"alice"', '"who":"alicf"'));
  const changed = verify(...paths);
  assert.equal(changed.status, 1);
  assert.match(changed.stderr, /000001\.jsonl: line 2: its hash does not fit/);
  writeFileSync(paths[0], edited);
  writeFileSync(paths[paths.length - 1], last.slice(0, last.trimEnd().lastIndexOf('\n') + 1));
  assert.equal(verify(...paths).status, 0, 'the end can go unseen');
  const cut = verify('--head', head, ...paths);
  assert.equal(cut.status, 1, 'but not from who kept its hash');
  assert.match(cut.stderr, /no line has the kept head/);
  assert.equal(verify('--head', 'abc', ...paths).status, 2);
  assert.equal(verify(join(folder, 'store')).status, 5);
});

test('what cannot be logged is not answered', async (t) => {
  const { folder, server, url } = await start(t);
  const limit = (/** @type {string} */ size) => {
    const done = spawnSync('prlimit', ['--pid', String(server.pid), `--fsize=${size}:`], {
      encoding: 'utf8',
    });
    assert.equal(done.status, 0, done.stderr);
  };
  const alice = { headers: bearer(TOKENS.alice) };
  const cookie = cookieOf(await signIn(url, TOKENS.alice));
  assert.equal((await ask(`${url}/`, alice)).status, 200);
  const known = () => logOf(folder).filter(({ who }) => who !== undefined).length;
  const before = known();
  limit(String(statSync(join(folder, 'store/audit/000001.jsonl')).size + 50));
  for (const path of ['/', '/recipes/theme', '/v1/results/theme', '/v1/sums/sum-a', '/metrics']) {
    const answer = await ask(url + path, alice);
    assert.equal(answer.status, 503, path);
    assert.equal(JSON.parse(answer.text).error.code, 'audit-log');
    assert.ok(!/theme|sum-a/.test(answer.text));
  }
  const entered = await signIn(url, TOKENS.bob);
  assert.equal(entered.status, 503);
  assert.equal(entered.headers['set-cookie'], undefined);
  const left = await ask(`${url}/sign-out`, { method: 'POST', headers: { cookie, origin: url } });
  assert.equal(left.status, 503);
  // It needs no line. A fold that comes due meanwhile meets the same limit, and says so here.
  const health = JSON.parse((await ask(`${url}/healthz`)).text).status;
  assert.ok(['ok', 'fold-failing'].includes(health), health);
  assert.match(
    server.log(),
    /audit log: cannot append to 000001\.jsonl: .*; questions are refused/,
  );
  limit('unlimited');
  assert.equal(
    (await ask(`${url}/`, { headers: { cookie } })).status,
    401,
    'signed out all the same',
  );
  assert.equal((await ask(`${url}/`, alice)).status, 200);
  assert.match(server.log(), /audit log: written again/);
  assert.equal(known(), before + 1);
  assert.equal(run('audit-log', 'verify', join(folder, 'store/audit')).status, 0);
});

test('a kill leaves a log that holds, and the next start notes what it cut off', async (t) => {
  const { folder, server, url } = await start(t);
  const file = join(folder, 'store/audit/000001.jsonl');
  let answered = 0;
  const askers = Array.from({ length: 8 }, async () => {
    try {
      for (;;) {
        const { status } = await ask(`${url}/metrics`, { headers: bearer(TOKENS.alice) });
        assert.equal(status, 200);
        answered++;
      }
    } catch {
      return; // killed
    }
  });
  await new Promise((resolve) => setTimeout(resolve, 400));
  await server.end('SIGKILL');
  await Promise.all(askers);
  assert.ok(answered > 8 && logOf(folder).length >= answered, 'a line for every answer');
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"seq":9`); // as a kill within a write leaves it
  const torn = run('audit-log', 'verify', join(folder, 'store/audit'));
  assert.equal(torn.status, 0);
  assert.match(torn.stdout, /The last 8 bytes are a write that was cut off or is under way/);
  const next = await serve(t, join(folder, 'config.json'));
  assert.match(next.log(), /audit log: a write of 8 bytes was cut off; the log notes it/);
  assert.equal((await ask(`${next.url}/metrics`, { headers: bearer(TOKENS.alice) })).status, 200);
  const noted = run('audit-log', 'verify', join(folder, 'store/audit'));
  assert.match(noted.stdout, /1 write was cut off by a stop of the server, and noted/);
  await next.end('SIGTERM');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"what":"metrics"', '"what":"Metrics"'));
  const broken = run('serve', '--check', '--config', join(folder, 'config.json'));
  assert.equal(broken.status, 1);
  assert.match(broken.stderr, /audit log: .*000001\.jsonl: line \d+: its hash does not fit/);
});

test('many questions share a sync, and every one has its line', async (t) => {
  const { folder, url } = await start(t);
  const answers = await Promise.all(
    Array.from({ length: 300 }, () => ask(`${url}/metrics`, { headers: bearer(TOKENS.alice) })),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(logOf(folder).length, 300);
});

test('without anybody named, this machine reads and administers, and the log says local', async (t) => {
  const bare = { readers: undefined, read_token_file: undefined, admin_token_file: undefined };
  const { folder, url } = await start(t, bare);
  assert.equal((await ask(`${url}/recipes/theme`)).status, 200);
  assert.match((await ask(`${url}/metrics`)).text, /^shoal_records_total/m);
  assert.equal((await ask(`${url}/sign-in`)).headers.location, '/');
  assert.deepEqual(logOf(folder).map(short), [
    'local local page theme 200',
    'local local metrics  200',
  ]);
});

test('wrong configurations of access are refused by name', (t) => {
  const folder = makeFolder(t);
  for (const [name, token] of Object.entries(TOKENS))
    writeFileSync(join(folder, name), `${token}\n`);
  const alice = { name: 'alice', token_file: 'alice', collections: 'all' };
  const proxy = { header: 'X-Forwarded-User', addresses: ['127.0.0.1/32'] };
  /** @type {[object, RegExp][]} */
  const bad = [
    [{ readers: [] }, /readers: must be a list of 1 to 64/],
    [{ readers: Array.from({ length: 65 }, (_, i) => ({ ...alice, name: `r${i}` })) }, /1 to 64/],
    [{ readers: [{ ...alice, extra: 1 }] }, /readers: extra: unknown field/],
    [{ readers: [{ token_file: 'alice', collections: 'all' }] }, /readers: name: missing/],
    [{ readers: [{ name: 'alice', token_file: 'alice' }] }, /readers: collections: missing/],
    [{ readers: [{ ...alice, collections: [] }] }, /readers: collections/],
    [{ readers: [{ ...alice, collections: 'theme' }] }, /readers: collections: must be "all"/],
    [{ readers: [{ ...alice, collections: ['theme', 'theme'] }] }, /theme is given twice/],
    [{ readers: [{ ...alice, collections: ['other'] }] }, /alice: no recipe is called other/],
    [{ readers: [{ ...alice, name: 'a b' }] }, /readers: name/],
    [{ readers: [{ ...alice, name: 'x'.repeat(65) }] }, /readers: name/],
    [{ readers: [{ ...alice, name: 'admin' }] }, /admin: the name is taken/],
    [{ readers: [alice, { ...alice, token_file: 'bob' }] }, /readers: alice: given twice/],
    [{ readers: [{ name: 'alice', collections: 'all' }] }, /alice: token_file: missing/],
    [{ readers: [{ ...alice, name: 'reader' }], read_token_file: 'bob' }, /reader of this name/],
    [{ readers: [alice, { ...alice, name: 'eve' }] }, /eve: the token is also that of alice/],
    [{ readers: [alice], admin_token_file: 'alice' }, /admin_token_file: .* also that of alice/],
    [{ readers: [alice], read_token_file: 'alice' }, /read_token_file: .* also that of alice/],
    [{ admin_token_file: 'secret' }, /also that of batch_secret_file/],
    [{ listen: '0.0.0.0:0', admin_token_file: 'admin' }, /read_token_file: missing/],
    [{ listen: '0.0.0.0:0', proxy }, /read_token_file: missing/],
    [{ readers: [alice], proxy: { header: 'X-User' } }, /proxy: addresses: missing/],
    [{ readers: [alice], proxy: { ...proxy, header: undefined } }, /proxy: header: missing/],
    [{ readers: [alice], proxy: { ...proxy, addresses: ['0.0.0.0/0'] } }, /proxy: addresses/],
    [{ readers: [alice], proxy: { ...proxy, addresses: ['proxy.example'] } }, /proxy: addresses/],
    [{ readers: [alice], proxy: { ...proxy, header: 'Cookie' } }, /proxy: header/],
    [{ readers: [alice], proxy: { ...proxy, header: 'X User' } }, /proxy: header/],
    [{ readers: [alice], proxy: { ...proxy, admins: ['alice'] } }, /alice is a reader/],
    [{ readers: [alice], proxy: { ...proxy, extra: 1 } }, /proxy: extra: unknown field/],
    [{ audit_log: '' }, /audit_log/],
    [{ audit_log_bytes: 100 }, /audit_log_bytes/],
    [{ audit_log: 'no/such/folder' }, /audit log: cannot make/],
  ];
  for (const [changes, message] of bad) {
    const config = configure(folder, [listRecipe('theme')], changes);
    const done = run('serve', '--check', '--config', config);
    assert.notEqual(done.status, 0, JSON.stringify(changes));
    assert.match(done.stderr, message);
    for (const token of Object.values(TOKENS)) assert.ok(!done.stderr.includes(token));
  }
  const good = { listen: '0.0.0.0:0', readers: [{ name: 'alice', collections: 'all' }], proxy };
  assert.equal(
    run('serve', '--check', '--config', configure(folder, [listRecipe('theme')], good)).status,
    0,
  );
});
