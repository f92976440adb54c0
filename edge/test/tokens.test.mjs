// SPDX-License-Identifier: Apache-2.0
// Tokens at the edge: every wrong one has its own answer, a right one counts once, and spends outlive their batches.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Collector } from '../collector.js';
import { handle } from '../handler.js';
import { SpoolStore } from '../spool_store.js';
import { Tokens, keptMs, tokenOf, tokensOf } from '../tokens.js';
import { tokenCrypto } from '../tokens_node.js';
import { DAY_MS, HOUR_MS, fixedCrypto, makeRecipe, newKey, newRecord } from './support.mjs';
import {
  ISSUER,
  directoryFor,
  headerOf,
  keyOfToken,
  keysFor,
  makeTokenRecipe,
  newToken,
  tokenInit,
} from './token_support.mjs';

const DAY = 20_800;
const NOON = DAY * DAY_MS + DAY_MS / 2;
const GRACE_S = 86_400;
const recipe = await makeTokenRecipe({ recipe: 'spent' });
const other = await makeTokenRecipe({ recipe: 'other' });
const keys = await keysFor(recipe, [DAY - 1, DAY, DAY + 1]);
const [yesterdays, todays, tomorrows] = keys;
const [others] = await keysFor(other, [DAY]);
const [unknown] = await keysFor({ hash: recipe.hash.replaceAll(/./g, '0') }, [DAY]);
const directory = directoryFor([...keys, others]);

/** A handler with both collections, at a time. `taken` is what they were given. */
async function setUp(now = NOON, crypto = undefined) {
  const taken = [];
  const collections = new Map(
    [recipe, other].map((of) => [
      of.hash,
      { recipe: of, accept: async (record, key) => (taken.push(key), 'accepted') },
    ]),
  );
  const deps = {
    collections,
    recipes: [recipe, other],
    origins: ['https://site.example'],
    tokens: await tokensOf(directory, [recipe, other], GRACE_S),
    now: () => now,
  };
  if (crypto) deps.tokens.crypto = crypto;
  const post = async (init) => {
    const answer = await handle(new Request('https://edge.example/v1/reports', init), deps);
    return [answer.status, (await answer.json()).error?.code];
  };
  return { taken, post, deps };
}

/** What a right token and every wrong one are answered. @param {any} [crypto] */
async function eachToken(crypto) {
  const { taken, post } = await setUp(NOON, crypto);
  const token = await newToken(todays);
  assert.deepEqual(await post(tokenInit(recipe, token)), [202, undefined]);
  assert.deepEqual(taken, [keyOfToken(token)]);

  const forged = Buffer.from(token);
  forged[353] ^= 1;
  const renamed = Buffer.from(token); // another nonce under the same signature
  renamed[2] ^= 1;
  const text = token.toString('base64url');
  const cases = [
    ['token-missing', tokenInit(recipe, token, undefined, { Authorization: undefined })],
    ...[
      '',
      'Bearer x',
      'PrivateToken',
      'PrivateToken token=""',
      `PrivateToken token="${text.slice(0, -1)}"`, // truncated
      `PrivateToken token="${text.slice(0, -4)}"`,
      `PrivateToken token="${text}AAAA"`,
      `PrivateToken token="${text}", token="${text}"`,
      `PrivateToken token="${text.slice(0, -1)}!"`,
      `PrivateToken challenge="${text}"`,
    ].map((header) => ['token', tokenInit(recipe, token, undefined, { Authorization: header })]),
    ['token-type', tokenInit(recipe, await newToken(todays, { type: 1 }))],
    ['token-report', { ...tokenInit(recipe, token), key: newKey() }],
    ['token-key', tokenInit(recipe, await newToken(unknown))],
    ['token-recipe', tokenInit(recipe, await newToken(others))],
    ['token-recipe', tokenInit(other, token)],
    ['token-early', tokenInit(recipe, await newToken(tomorrows))],
    ['token-challenge', tokenInit(recipe, await newToken(todays, { challenge: randomBytes(32) }))],
    ['token-forged', tokenInit(recipe, forged)],
    ['token-forged', tokenInit(recipe, renamed)],
  ];
  for (const [code, { key, ...init }] of cases) {
    const headers = Object.fromEntries(
      Object.entries({ ...init.headers, ...(key && { 'Idempotency-Key': key }) }).filter(
        ([, value]) => value !== undefined,
      ),
    );
    const status = code === 'token-early' ? 503 : 400;
    assert.deepEqual(await post({ ...init, headers }), [status, code]);
  }
  assert.equal(taken.length, 1, 'nothing of them reached a store');
}

test('a right token is accepted, and every wrong one is refused with a code of its own', () =>
  eachToken());
test('so it is where node:crypto verifies them', () => eachToken(tokenCrypto));

test('a token lives from an hour before its day until the grace after it', async () => {
  const begins = DAY * DAY_MS;
  const ends = begins + DAY_MS + GRACE_S * 1000; // delay_s is 0
  const token = await newToken(todays);
  for (const [now, expected] of [
    [begins - HOUR_MS - 1, [503, 'token-early']],
    [begins - HOUR_MS, [202, undefined]],
    [ends - 1, [202, undefined]],
    [ends, [400, 'token-expired']],
  ]) {
    const { post } = await setUp(now);
    assert.deepEqual(await post(tokenInit(recipe, token)), expected, String(now));
  }
  const { post } = await setUp(ends - DAY_MS);
  assert.deepEqual(await post(tokenInit(recipe, await newToken(yesterdays))), [
    400,
    'token-expired',
  ]);
  const delayed = await makeTokenRecipe({ send: { delay_s: 7200 } });
  const daily = await makeTokenRecipe({ send: { pick: 'uniform', window: 'day' } });
  assert.equal(keptMs(delayed, GRACE_S) - keptMs(recipe, GRACE_S), 7200 * 1000);
  assert.equal(keptMs(daily, GRACE_S) - keptMs(recipe, GRACE_S), DAY_MS);
});

test('what tokens are verified with is checked before anything is served', async () => {
  await assert.rejects(tokensOf(undefined, [recipe]), /token_keys: recipe spent spends tokens/);
  assert.equal(await tokensOf(undefined, [await makeRecipe()]), undefined);
  for (const bad of [null, {}, { 'token-keys': {} }])
    await assert.rejects(tokensOf(bad, [recipe]), /"token-keys" is missing/);
  const [entry] = directory['token-keys'];
  for (const change of [
    { recipe: undefined },
    { recipe: 'x' },
    { day: '1' },
    { 'token-key': entry['token-key'].slice(4) },
    { 'token-key': `A${entry['token-key'].slice(1)}` },
    { 'token-key': '!' },
    { 'token-key': undefined },
  ])
    await assert.rejects(
      tokensOf({ 'token-keys': [{ ...entry, ...change }] }, [recipe]),
      /token_keys: a directory of keys is needed/,
      JSON.stringify(change),
    );
  await assert.rejects(
    tokensOf([directory, directory], [recipe]),
    /two keys of one recipe and day would tell accounts apart/,
  );
  assert.ok((await Tokens.create([directory], [recipe])) instanceof Tokens, 'or a list of them');
});

test('a reader of headers never throws, and takes exactly one form', () => {
  let seed = Number(process.env.SEED ?? randomBytes(4).readUInt32LE()) || 1;
  const random = (n) => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % n;
  const alphabet = 'PrivateToken token="AZaz09-_+/=, \u00e9';
  for (let run = 0; run < 20_000; run++) {
    const good = headerOf(randomBytes(354));
    const at = random(good.length);
    const char = alphabet[random(alphabet.length)];
    const bad = [good.slice(0, at), good.slice(0, at) + char + good.slice(at), good + char][
      random(3)
    ];
    assert.ok(tokenOf(good) !== null);
    const read = tokenOf(bad);
    // Spaces before the parameter are free.
    assert.ok(read === null || /^PrivateToken {2,}token=/i.test(bad), `seed ${seed}: ${bad}`);
  }
});

/** A collector over a folder with a clock that a test moves. */
async function collectorIn(dir, clock, of = recipe) {
  const crypto = fixedCrypto();
  const store = await SpoolStore.open(dir, { recordSize: of.recordSize, capacity: 64, crypto });
  const sent = [];
  const send = async (batch) => (sent.push(batch), { outcome: 'stored' });
  const collector = new Collector({
    recipe: of,
    store,
    send,
    now: clock,
    crypto,
    limits: { keyGraceS: GRACE_S },
  });
  const accept = async (key) => {
    const before = store.state().openCount;
    const [outcome] = await collector.accept(of.recordFromText(newRecord(of)), [key]);
    return [outcome, store.state().openCount - before];
  };
  return { store, collector, sent, accept };
}

test('a spend outlives its batch, however long that waited, until no token can come again', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-spends-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  let now = NOON;
  let { store, collector, sent, accept } = await collectorIn(dir, () => now);
  const first = [newKey(), newKey(), newKey(), newKey()];
  for (const key of first) assert.deepEqual(await accept(key), ['accepted', 1]);
  // The batch waits below its minimum, for longer than an idempotency key is kept.
  now += 30 * DAY_MS;
  await collector.run();
  const last = newKey();
  const spentAt = now;
  await collector.accept(recipe.recordFromText(newRecord(recipe)), [last]);
  await collector.run();
  assert.equal(sent.length, 1);
  await store.close();
  // A token of the last report's day may be spent until then.
  const until = Math.floor(spentAt / DAY_MS) * DAY_MS + DAY_MS + GRACE_S * 1000;
  for (now = spentAt; now < until; now += HOUR_MS) {
    ({ store, collector, accept } = await collectorIn(dir, () => now));
    await collector.run();
    assert.deepEqual(await accept(last), ['accepted', 0], `known after ${now - spentAt} ms`);
    await store.close();
  }
  now = spentAt + keptMs(recipe, GRACE_S) + 2 * HOUR_MS;
  ({ store, collector, accept } = await collectorIn(dir, () => now));
  await collector.run();
  assert.deepEqual(await accept(last), ['accepted', 1], 'and the store forgets it');
  await store.close();
});

test('shards by idempotency key cannot be played against each other', async () => {
  const shards = await Promise.all([setUp(), setUp(), setUp(), setUp()]);
  const shardOf = (key) => shards[parseInt(key.slice(0, 2), 16) % shards.length];
  for (let i = 0; i < 16; i++) {
    const token = await newToken(todays);
    const right = keyOfToken(token);
    // The second spend names another key, so that it goes to another shard.
    for (let tries = 0; tries < 8; tries++) {
      const key = newKey();
      const init = tokenInit(recipe, token);
      init.headers['Idempotency-Key'] = key;
      assert.deepEqual(await shardOf(key).post(init), [400, 'token-report']);
    }
    assert.deepEqual(await shardOf(right).post(tokenInit(recipe, token)), [202, undefined]);
  }
  const taken = shards.flatMap((shard) => shard.taken);
  assert.equal(new Set(taken).size, 16);
  assert.equal(taken.length, 16);
  assert.equal(new URL(ISSUER).host, 'issuer.example');
});
