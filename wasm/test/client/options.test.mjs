// SPDX-License-Identifier: Apache-2.0
// A wrong option is told under its own name, at once: start throws, init rejects. And what failed to
// load is told once, by a code of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../../bindings/node.js';
import { init } from '../../client/client.js';
import { start } from '../../client/loader.js';
import { ENDPOINT, codes, makeClient, wordsRecipe } from '../fixtures.mjs';

const HASH = '0'.repeat(64);
const KNOWN =
  'endpoint relay recipes runs keys site policy log debug wasm queryWasm dapWasm storage locks document fetch now random hpke keyList sites gpc automated activation persist deletesStorage setTimer clearTimer';
const good = { endpoint: ENDPOINT, recipes: [wordsRecipe()] };

/** What is wrong, the field that the error names, and the sentence. @type {[any, string, string][]} */
const WRONG = [
  [{ recipes: [] }, 'endpoint', 'option endpoint is needed'],
  [{ endpoint: ENDPOINT }, 'recipes or site', 'option recipes or site is needed'],
  [
    { ...good, site: { url: '/s.json', hash: HASH } },
    'recipes or site',
    'option recipes or site is needed',
  ],
  [{ ...good, endpiont: 1 }, 'endpiont', `option endpiont is none of ${KNOWN}`],
  [{ endpoint: ENDPOINT, recipe: [] }, 'recipe', `option recipe is none of ${KNOWN}`],
  [{ ...good, endpoint: 'http://[' }, 'endpoint', 'option endpoint must be https'],
  [{ ...good, endpoint: '' }, 'endpoint', 'option endpoint must be https'],
  [{ ...good, gcp: undefined }, 'gcp', `option gcp is none of ${KNOWN}`],
  [{ ...good, endpoint: 7 }, 'endpoint', 'option endpoint must be string'],
  [{ ...good, endpoint: 'http://edge.example' }, 'endpoint', 'option endpoint must be https'],
  [{ ...good, endpoint: 'http://127.0.0.1.example' }, 'endpoint', 'option endpoint must be https'],
  [{ ...good, endpoint: 'http://localhost.example' }, 'endpoint', 'option endpoint must be https'],
  [{ endpoint: ENDPOINT, recipes: {} }, 'recipes', 'option recipes must be list'],
  [{ ...good, debug: 'yes' }, 'debug', 'option debug must be boolean'],
  [{ ...good, log: 'x' }, 'log', 'option log must be object'],
  [{ ...good, relay: 'https://relay.example' }, 'log', 'option log is needed'],
  [
    { endpoint: ENDPOINT, recipes: [wordsRecipe(), { url: '/r.json', hsah: HASH }] },
    'recipes',
    'option recipes needs the hash of /r.json',
  ],
  [
    { ...good, runs: [{ url: '/r.json', hash: 'abc' }] },
    'runs',
    'option runs needs the hash of /r.json',
  ],
  [
    { endpoint: ENDPOINT, site: { url: '/s.json' } },
    'site',
    'option site needs the hash of /s.json',
  ],
  [
    { ...good, policy: { url: '/p.json', hash: '' } },
    'policy',
    'option policy needs the hash of /p.json',
  ],
];

test('start throws at once and init rejects, naming the option and what was expected', async () => {
  for (const [options, field, message] of WRONG) {
    const error = { name: 'ShoalError', code: 'argument', number: 1, field, message };
    assert.throws(() => start({ gpc: () => false, ...options }), error);
    await assert.rejects(init(options), error);
  }
  assert.throws(() => /** @type {any} */ (start)(), TypeError);
  await assert.rejects(/** @type {any} */ (init)(), TypeError);
});

test('right options of every kind start', async () => {
  for (const more of [
    { wasm: load, log: { url: 'https://log.example', key: 'x' }, keys: [HASH], debug: false },
    { wasm: new URL('https://e.example/shoal.wasm'), runs: [{ url: '/r', hash: HASH }] },
    { endpoint: 'http://localhost:1', policy: { policy: 'inline' }, recipes: [] },
    { endpoint: 'http://[::1]:1/x/', site: undefined, relay: undefined },
    { recipes: undefined, site: { url: '/s.json', hash: HASH } },
  ]) {
    const { client } = await makeClient(more);
    client.close();
    start(/** @type {any} */ ({ ...good, gpc: () => false, ...more }));
  }
});

test('what failed to load is told once, by its own code, and no other follows', async () => {
  const { hash } = (await load()).recipe(wordsRecipe());
  const url = 'https://site.example/r.json';
  const refusal =
    "TypeError: Failed to fetch. Refused to connect because it violates the document's Content Security Policy.";
  const recipes = [{ url, hash }];
  const site = { url, hash };
  /** The code of explain(), and of the outcome where that says less. @type {[string, any, any, RegExp, string?][]} */
  const cases = [
    [
      'recipe-missing',
      { recipes },
      new Response('', { status: 404 }),
      /could not be fetched.*HTTP 404/,
    ],
    ['recipe-missing', { recipes }, new TypeError('fetch failed'), /fetch failed/],
    ['csp-blocked', { recipes }, new Error(refusal), /connect-src/, 'recipe-missing'],
    ['recipe-hash', { recipes }, Response.json(wordsRecipe({ analysis: 'x' })), /hash/],
    ['recipe-refused', { recipes }, Response.json(wordsRecipe({ mechansim: 1 })), /mechansim/],
    ['set-missing', { recipes: undefined, site }, new Response('', { status: 404 }), /HTTP 404/],
    ['set-hash', { recipes: undefined, site }, Response.json({ recipes: [wordsRecipe()] }), /hash/],
    ['set-refused', { recipes: undefined, site }, Response.json({ recpies: [] }), /recipe set/],
    ['wasm-missing', { wasm: undefined }, new Response('', { status: 404 }), /404/, 'core-missing'],
    ['core-missing', { wasm: undefined }, new TypeError('fetch failed'), /fetch failed/],
  ];
  for (const [code, more, answer, text, outcome] of cases) {
    const { client } = await makeClient({
      ...more,
      fetch: async () => {
        if (answer instanceof Error) throw answer;
        return answer.clone();
      },
    });
    await client.consent.grant();
    const [taken] = codes(await client.record('typed-words', 'a'));
    assert.equal(taken, outcome ?? code);
    const reasons = await client.explain();
    assert.deepEqual(codes(reasons), [code]);
    assert.match(reasons[0].text, text);
    client.close();
  }
});

test('a page in place of the module is told by explain', async () => {
  const { client } = await makeClient({
    wasm: undefined,
    fetch: async () => new Response('<!doctype html>'),
  });
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['core-missing']);
  const [reason] = await client.explain();
  assert.equal(reason.code, 'wasm-type');
  assert.match(reason.text, /no WebAssembly/);
  client.close();
});
