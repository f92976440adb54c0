// SPDX-License-Identifier: Apache-2.0
// Tokens on the device: what is fetched and when, one token a report, retries, tabs, windows, and the end of consent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStorage } from '../../client/memory_storage.js';
import { open as openTokens, sealingFor } from '../../client/tokens.js';
import { DAY, codes, fakeClock, settle } from '../fixtures.mjs';
import {
  ISSUER,
  fakeIssuer,
  hashOf,
  keyOfToken,
  signersFor,
  tokenNetwork,
  tokenOf,
  tokenRecipe,
} from '../token_fixtures.mjs';
import { DAY_MS, browserOf, rowsOf } from '../window_fixtures.mjs';

const HOUR_MS = 3_600_000;

/** Tabs of one browser, an issuer and an edge. @param {any[]} recipes @param {any} [more] */
async function siteOf(recipes, more = {}) {
  /** @type {() => number} */
  let now = () => 0;
  const network = await tokenNetwork(
    more.signed ?? recipes.filter(({ send }) => send.token),
    () => now(),
    more.issuer,
  );
  const { fetch, keyList } = network;
  const browser = browserOf({ recipes, fetch, keyList, ...more.options });
  now = browser.clock.now;
  const open = async (own = {}) => {
    const tab = await browser.tab({ fetch, ...own });
    const grant = async () => {
      await tab.client.consent.grant();
      await rest();
    };
    await rest();
    return { ...tab, grant };
  };
  return { ...network, ...browser, open };
}

/** Operations of WebCrypto under way, which run in other threads. */
let underWay = 0;
for (const name of ['digest', 'importKey', 'sign', 'verify', 'generateKey', 'deriveBits']) {
  const own = /** @type {any} */ (crypto.subtle)[name];
  Object.defineProperty(crypto.subtle, name, {
    value: (/** @type {any[]} */ ...args) => {
      underWay++;
      return own.apply(crypto.subtle, args).finally(() => underWay--);
    },
  });
}

/** Lets cryptography in other threads come to its end too, however busy the machine is. */
async function rest() {
  for (let quiet = 0; quiet < 20; quiet = underWay === 0 ? quiet + 1 : 0) {
    await settle();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** @param {any} edge */
const tokens = (edge) => edge.requests.map(tokenOf);

test('an event that comes before the page fetches tokens waits for them, and does not fetch', async () => {
  const json = tokenRecipe();
  for (const how of ['open', 'close']) {
    const closing = new AbortController();
    /** @type {any} */
    const context = {
      signal: closing.signal,
      deps: { now: () => DAY * DAY_MS, setTimer: () => {} },
      transaction: async (/** @type {any} */ run) => run({ get: async () => undefined }),
    };
    let answer = null;
    const sealing = sealingFor(context, /** @type {any} */ ({ hash: 'h', json }));
    void sealing.then((given) => (answer = given));
    await rest();
    assert.equal(answer, null);
    if (how === 'open') openTokens(context, []);
    else closing.abort();
    assert.deepEqual(await sealing, { code: 'no-token' });
  }
});

test('each report spends a token of its day, under the key that follows from its nonce', async () => {
  const json = tokenRecipe();
  const { open, edge, issuer, storage } = await siteOf([json]);
  const { client, grant } = await open();
  await grant();
  assert.deepEqual(
    issuer.requests.map(({ url, method }) => [method, url.slice(ISSUER.length)]),
    [
      ['GET', '/.well-known/private-token-issuer-directory'],
      ['POST', '/token-request'],
      ['GET', '/.well-known/private-token-issuer-directory'],
      ['POST', '/token-request'],
    ],
    'today and tomorrow, on the first day',
  );
  for (const word of ['cod', 'eel', 'ray'])
    assert.deepEqual(codes(await client.record('typed-words', word)), [
      word === 'ray' ? 'no-token' : 'queued',
    ]);
  await client.flush();
  assert.equal(edge.requests.length, 2);
  const [a, b] = tokens(edge);
  assert.ok(a.length === 354 && !a.equals(b));
  const { id } = issuer.signers.find((/** @type {any} */ { day }) => day === DAY);
  for (const request of edge.requests) {
    const token = tokenOf(request);
    assert.equal(request.init.headers['Idempotency-Key'], keyOfToken(token));
    assert.ok(token.subarray(66, 98).equals(Buffer.from(id)), "the key of the report's day");
    assert.ok(!('token' in request.body));
  }
  const [, bundles] = (await rowsOf(storage)).find(([key]) => key === 'state/tokens') ?? [];
  assert.deepEqual(
    Object.values(bundles).map(({ left }) => Object.values(left).flat().length),
    [0, 2],
  );
  assert.deepEqual(
    (await client.ledger())[0].today.count,
    2,
    'the third event cost nothing, as no token was left',
  );
});

test('what is fetched, when and how much does not depend on pages, events or recipes of a page', async () => {
  const [words, themes] = [
    tokenRecipe(),
    tokenRecipe({ recipe: 'more-words', stream: 'other-words', limit: { per_day: 3 } }),
  ];
  /** What went over the wire to the issuer. @type {any[][]} */
  const wires = [];
  // Another page and other events for each person; the days and hours are the same.
  for (const [pages, events] of /** @type {const} */ ([
    [[[words, themes]], 0],
    [[[words]], 1],
    [[[themes], [words]], 9],
    [[[words], [words], [words, themes], [themes]], 2],
  ])) {
    const site = await siteOf([words, themes], { signed: [words, themes] });
    const { issuer, clock, open } = site;
    for (const day of [0, 1]) {
      for (const recipes of pages) {
        const { client, grant } = await open({ recipes });
        await grant();
        for (let i = 0; i < events; i++) {
          await client.record('typed-words', `fish ${i}`);
          await client.record('other-words', 'eel');
        }
        await client.flush();
        await rest();
        client.close();
      }
      if (day === 0) await clock.advance(DAY_MS);
    }
    wires.push(issuer.requests.map(({ url, method, size, at }) => [url, method, size, at]));
    const sizes = issuer.posts().map(({ size }) => size);
    assert.deepEqual(
      sizes,
      [0, 1, 2].map(() => 7 + 2 * 34 + 5 * 259),
      'one bundle a day, all of one size',
    );
    for (const { headers } of issuer.requests)
      assert.deepEqual(headers, {}, 'an untyped body, which needs no preflight');
  }
  for (const wire of wires) assert.deepEqual(wire, wires[0]);
});

test('a lost answer and its retry count once, with the same request', async () => {
  const {
    open,
    issuer,
    clock,
    client: _,
    ...site
  } = /** @type {any} */ (await siteOf([tokenRecipe()]));
  issuer.answers.push(
    (/** @type {Response} */ answer) => answer, // the directory
    () => new Error('the connection broke'), // today's bundle, after it was counted
  );
  const first = await open();
  await first.grant();
  assert.deepEqual(codes(await first.client.record('typed-words', 'cod')), ['no-token']);
  assert.equal((await first.client.ledger())[0].today.count, 0, 'nothing was spent');
  first.client.close();
  await clock.advance(HOUR_MS / 6 - 1000);
  const early = await open();
  assert.equal(issuer.posts().length, 2, 'not yet: a try has ten minutes');
  early.client.close();
  await clock.advance(2000);
  const second = await open();
  const [today, , again] = issuer.posts();
  assert.equal(again.body, today.body, 'the same bytes, so the issuer counts it once');
  assert.deepEqual(codes(await second.client.record('typed-words', 'cod')), ['queued']);
  await second.client.flush();
  assert.equal(site.edge.requests.length, 1);
});

test('a report sends the same token at every try', async () => {
  const { open, edge, clock } = await siteOf([tokenRecipe()]);
  const { client, grant } = await open();
  await grant();
  edge.answers.push(503, new Error('no network'), {
    status: 503,
    headers: { 'Retry-After': '60' },
  });
  await client.record('typed-words', 'cod');
  await client.flush();
  for (let i = 0; i < 4; i++) await clock.advance(HOUR_MS);
  assert.equal(edge.requests.length, 4);
  const sent = edge.requests.map(({ init }) => [
    init.headers.Authorization,
    init.headers['Idempotency-Key'],
  ]);
  for (const one of sent) assert.deepEqual(one, sent[0]);
});

test('tabs spend each token once', async () => {
  const json = tokenRecipe({ limit: { per_day: 8 } });
  const { open, edge } = await siteOf([json]);
  const a = await open();
  await a.grant();
  const [b, c] = [await open(), await open()];
  const outcomes = await Promise.all(
    [a, b, c, a, b, c, a, b, c, a, b, c].map(({ client }) => client.record('typed-words', 'cod')),
  );
  const queued = outcomes.flat().filter(({ code }) => code === 'queued');
  assert.equal(queued.length, 8);
  for (const { client } of [a, b, c]) await client.flush();
  const sent = edge.requests.map((request) => tokenOf(request).toString('hex'));
  assert.equal(sent.length, 8);
  assert.equal(new Set(sent).size, 8);
});

test('an account that cleared its storage gets no other bundle: 120,000 copies become per_day', async () => {
  const json = tokenRecipe();
  const copies = process.env.SHOAL_LONG ? 120_000 : 300;
  const { open, issuer, edge } = await siteOf([json]);
  const { client, grant } = await open();
  await grant();
  for (let i = 0; i < 5; i++) await client.record('typed-words', 'cod');
  await client.flush();
  assert.equal(edge.requests.length, 2);
  // Fresh storage for each: the issuer has counted the account, and refuses.
  for (let fresh = 0; fresh < 3; fresh++) {
    const again = await open({ storage: memoryStorage() });
    await again.grant();
    assert.deepEqual(codes(await again.client.record('typed-words', 'cod')), ['no-token']);
    again.client.close();
  }
  assert.equal(edge.requests.length, 2);
  assert.ok(issuer.posts().length > 2);
  // Copies of what was sent carry the keys of the two tokens, of which a store takes each once.
  const store = new Set();
  for (let i = 0; i < copies; i++) store.add(edge.requests[i % 2].init.headers['Idempotency-Key']);
  assert.equal(store.size, json.limit.per_day);
});

test('only keys of the logged list, one a recipe and day, and only what the issuer signed', async () => {
  const json = tokenRecipe();
  const hash = await hashOf(json);
  const good = await signersFor([json], [DAY, DAY + 1]);
  const other = await signersFor([json], [DAY, DAY + 1], 8);
  const cases = /** @type {const} */ ([
    ['another key than the logged one', other, (/** @type {any[]} */ tokens) => tokens, 'no-token'],
    [
      'a second logged key',
      other,
      (/** @type {any[]} */ tokens) => [...tokens, ...listOf(other)],
      'no-token',
    ],
    [
      'the first logged key',
      good,
      (/** @type {any[]} */ tokens) => [...tokens, ...listOf(other)],
      'queued',
    ],
    ['a list without the recipe', good, () => [], 'no-token'],
  ]);
  const listOf = (/** @type {any[]} */ signers) =>
    fakeIssuer({ signers, now: () => 0 }).list().tokens;
  for (const [what, signers, change, code] of cases) {
    const clock = fakeClock();
    const network = await tokenNetwork([json], clock.now);
    network.issuer.signers = signers;
    const keyList = async () => ({ tokens: change(listOf(good)) });
    const { tab } = browserOf({ recipes: [json], fetch: network.fetch, keyList });
    const { client, grant } = await tab({ fetch: network.fetch });
    await grant();
    await rest();
    assert.deepEqual(codes(await client.record('typed-words', 'cod')), [code], what);
  }
  // Reordered, forged and cut off answers.
  for (const bend of [
    (/** @type {Uint8Array} */ b) => Buffer.concat([b.subarray(256), b.subarray(0, 256)]),
    (/** @type {Uint8Array} */ b) => b.map((byte, i) => (i % 256 === 255 ? byte ^ 1 : byte)),
    (/** @type {Uint8Array} */ b) => b.subarray(0, -1),
    () => new Uint8Array(512),
    () => new Uint8Array(0),
  ]) {
    const { open, issuer } = await siteOf([json]);
    const fetch = issuer.fetch;
    issuer.fetch = async (url, init) => {
      const answer = await fetch(url, init);
      if (init?.method !== 'POST') return answer;
      const bent = bend(new Uint8Array(await answer.arrayBuffer()));
      return new Response(/** @type {any} */ (bent), { status: 200 });
    };
    const { client, grant } = await open();
    await grant();
    const [outcome] = await client.record('typed-words', 'cod');
    const isCut = bend(new Uint8Array(512)).length === 511;
    assert.equal(outcome.code, isCut ? 'queued' : 'no-token', `${hash} ${bend}`);
  }
});

test('a directory that is no directory, or asks for too much, gives no tokens and breaks nothing', async () => {
  const json = tokenRecipe();
  let seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31)) || 1;
  const random = (/** @type {number} */ n) =>
    (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) % n;
  const { issuer, fetch, keyList } = await tokenNetwork([json], () => DAY * DAY_MS);
  const good = await (
    await issuer.fetch(`${ISSUER}/.well-known/private-token-issuer-directory`)
  ).text();
  const bodies = [
    '',
    '{}',
    '[]',
    'null',
    '{"token-keys":null}',
    '{"token-keys":[null]}',
    '{"token-keys":[{"token-key":7}]}',
    '{"token-keys":[{"token-key":"!"}]}',
    good.replaceAll('"per-day":2', '"per-day":257'),
    good.replaceAll('"per-day":2', '"per-day":-1'),
    good.replaceAll('"per-day":2', '"per-day":"x"'),
    ...Array.from({ length: 20 }, () => {
      const at = random(good.length);
      return good.slice(0, at) + String.fromCharCode(32 + random(90)) + good.slice(at + random(3));
    }),
  ];
  for (const body of bodies) {
    const posts = issuer.posts().length;
    const bent = async (/** @type {any} */ url, /** @type {any} */ init) =>
      String(url).includes('.well-known') ? new Response(body) : fetch(url, init);
    const { tab } = browserOf({ recipes: [json], keyList });
    const { client, grant } = await tab({ fetch: bent });
    await grant();
    const [{ code }] = await client.record('typed-words', 'cod');
    const isUnhurt = issuer.posts().length > posts; // the change hit what a device does not read
    assert.ok(code === 'no-token' || isUnhurt, `seed ${seed}: ${code} ${body.slice(0, 80)}`);
    client.close();
  }
});

test('without the option log nothing is fetched, spent or sent', async () => {
  const json = tokenRecipe();
  const { issuer, edge, fetch } = await tokenNetwork([json], () => DAY * DAY_MS);
  const { tab } = browserOf({ recipes: [json] });
  const { client, grant } = await tab({ fetch });
  await grant();
  await rest();
  assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['no-token']);
  assert.ok(codes(await client.explain()).includes('no-log'));
  assert.equal(issuer.requests.length + edge.requests.length, 0);
  assert.equal((await client.ledger())[0].today.count, 0);
});

test('an account that the site does not know or vouch for has no tokens, and may have them later', async () => {
  /** @type {any} */
  let account = null;
  const { open, clock } = await siteOf([tokenRecipe()], {
    issuer: { account: () => account },
  });
  const { client, grant } = await open();
  await grant();
  for (const who of [null, { id: 'bob', isReal: false }]) {
    account = who;
    await clock.advance(HOUR_MS);
    await rest();
    assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['no-token']);
  }
  account = { id: 'bob', isReal: true };
  await clock.advance(HOUR_MS / 5);
  assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['no-token'], 'no event asks');
  await clock.advance(HOUR_MS);
  await rest();
  assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['queued'], 'the hour does');
});

test('the end of consent erases tokens, and what comes after it is not stored', async () => {
  const { open, issuer, storage } = await siteOf([tokenRecipe()]);
  const { client, grant } = await open();
  await grant();
  assert.ok((await rowsOf(storage)).some(([key]) => key === 'state/tokens'));
  await client.consent.withdraw();
  assert.ok(!(await rowsOf(storage)).some(([key]) => key === 'state/tokens'));
  // An answer that comes after the withdrawal.
  const other = await siteOf([tokenRecipe()]);
  const tab = await other.open();
  /** @type {(value?: any) => void} */
  let answerNow = () => {};
  const held = new Promise((resolve) => (answerNow = resolve));
  const fetch = other.issuer.fetch;
  other.issuer.fetch = async (url, init) => {
    const answer = await fetch(url, init);
    if (init?.method === 'POST') await held;
    return answer;
  };
  const granting = tab.client.consent.grant();
  await rest();
  await granting;
  assert.ok((await rowsOf(other.storage)).some(([key]) => key === 'state/tokens'));
  await tab.client.consent.withdraw();
  answerNow();
  await rest();
  assert.ok(!(await rowsOf(other.storage)).some(([key]) => key === 'state/tokens'));
  assert.ok(issuer.posts().length === 2 && other.issuer.posts().length === 1);
});

for (const window of /** @type {const} */ (['day', 'visit']))
  test(`a window of a ${window}: each of its reports has a token, or none opens`, async () => {
    const json = tokenRecipe({
      limit: { per_day: 3 },
      send: { delay_s: 0, pick: 'uniform', window },
    });
    const { open, edge, issuer, clock, storage } = await siteOf([json]);
    const { client, grant, page } = await open();
    await grant();
    assert.deepEqual(codes(await client.record('typed-words', 'cod')), ['entered']);
    assert.equal((await client.ledger())[0].today.count, 3);
    const [, bundles] = (await rowsOf(storage)).find(([key]) => key === 'state/tokens') ?? [];
    assert.deepEqual(
      Object.values(bundles).map(({ left }) => Object.values(left).flat().length),
      [0, 3],
      'taken as it opened',
    );
    assert.ok(
      !JSON.stringify(await rowsOf(storage)).includes('"tokens":[{'),
      'and given to the slots',
    );
    if (window === 'visit') page.hide();
    await clock.advance(DAY_MS);
    await rest();
    const ids = issuer.signers.filter(({ day }) => day === DAY).map(({ id }) => toHex(id));
    const sent = edge.requests.slice(0, 3);
    assert.equal(sent.length, 3);
    assert.equal(new Set(sent.map((request) => tokenOf(request).toString('hex'))).size, 3);
    for (const request of sent) {
      const token = tokenOf(request);
      assert.equal(request.init.headers['Idempotency-Key'], keyOfToken(token));
      assert.ok(ids.includes(token.subarray(66, 98).toString('hex')), 'of the day it answers for');
    }
    client.close();

    const poor = await siteOf([json], { issuer: { account: () => null } });
    const tab = await poor.open();
    await tab.grant();
    assert.deepEqual(codes(await tab.client.record('typed-words', 'cod')), ['no-token']);
    assert.equal((await tab.client.ledger())[0].today.count, 0);
  });

const toHex = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString('hex');
