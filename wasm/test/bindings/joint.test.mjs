// SPDX-License-Identifier: Apache-2.0
// Joint recipes on a page: one event, a value of each variable, one report, one debit.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load } from '../../bindings/node.js';
import { codes, itemsRecipe, makeClient, newsRecipe, balances } from '../fixtures.mjs';
import { stored } from '../query_fixtures.mjs';

const seed = (/** @type {number} */ first) =>
  Uint8Array.from({ length: 32 }, (_, i) => (first + i) & 255);

/** A client under consent. @param {any} [recipe] @param {any} [more] */
async function joined(recipe = newsRecipe(), more = {}) {
  const made = await makeClient({ recipes: [recipe], ...more });
  await made.client.consent.grant();
  return made;
}

test('one event is one report of all variables, paid for once', async () => {
  const { client, edge } = await joined();
  assert.deepEqual(await client.record('visits', { section: 'sport', age: 'old' }), [
    { recipe: 'news-by-age', code: 'queued' },
  ]);
  await client.flush();
  const [{ body }] = edge.requests;
  const recipe = (await load()).recipe(newsRecipe());
  assert.deepEqual(
    { ...body, records: [] },
    { key: 'news-by-age', recipe_hash: recipe.hash, parameters: { epsilon: 7.39445 }, records: [] },
  );
  assert.match(body.records[0], /^\d,[0-9a-f]{8};[0-2]$/);
  assert.equal(recipe.recordFromText(body.records[0]).length, recipe.recordSize);
  const once = { count: 1, epsilon: recipe.epsilonMicro / 1e6 };
  assert.deepEqual(await balances(client), [
    { recipe: 'news-by-age', perDay: 100, today: once, year: once },
  ]);
  const { name: _, ...section } = newsRecipe().variables[0];
  const { epsilonMicro } = (await load()).recipe(itemsRecipe(section));
  assert.equal(recipe.epsilonMicro, epsilonMicro + 3_000_000, 'the sum over the variables');
});

test('both values travel: with almost no noise each is read back, with the other of its event', async () => {
  const clear = newsRecipe({
    variables: [
      {
        name: 'section',
        value: 'item',
        mechanism: 'grr',
        parameters: { epsilon: 8, values: ['sport', 'politics', 'arts'] },
      },
      {
        name: 'age',
        value: 'item',
        mechanism: 'grr',
        parameters: { epsilon: 8, values: ['young', 'old'] },
      },
    ],
  });
  const { client, edge } = await joined(clear, { random: fixed(7) });
  const events = [
    ['sport', 'old', '0;1'],
    ['arts', 'young', '2;0'],
    ['politics', 'old', '1;1'],
  ];
  for (let i = 0; i < 60; i++)
    await client.record('visits', { age: events[i % 3][1], section: events[i % 3][0] });
  await client.flush();
  const seen = new Map();
  for (const { body } of edge.requests)
    seen.set(body.records[0], (seen.get(body.records[0]) ?? 0) + 1);
  // A lie has a chance of 3e-4 for each variable, so 60 reports hold 0.06 of them: with three, ten standard deviations.
  for (const [, , text] of events)
    assert.ok(seen.get(text) >= 18 && seen.get(text) <= 20, `${text}: ${seen.get(text)}`);
});

test('a variable that is missing, or null, is nothing of it; so is what its list has not', async () => {
  const core = await load();
  const recipe = core.recipe(newsRecipe());
  const drawn = (/** @type {any} */ value, /** @type {Uint8Array} */ own) =>
    recipe.randomize(value, own, seed(100));
  for (let first = 0; first < 40; first++) {
    const whole = drawn({ section: 'sport', age: null }, seed(first));
    assert.equal(drawn({ section: 'sport' }, seed(first)), whole);
    assert.equal(drawn({ section: 'sport', age: undefined }, seed(first)), whole);
    assert.equal(drawn({ section: 'sport', age: 'middle' }, seed(first)), whole);
    assert.equal(drawn({ section: 'sport', age: -1 }, seed(first)), whole);
    assert.equal(
      drawn({ section: 'sport', age: 'old' }, seed(first)),
      drawn({ age: 1, section: 'sport' }, seed(first)),
    );
  }
  // Permanent noise is off in this recipe (f = 0), so the filter of nothing differs from that of a string in its two bits.
  const nothing = drawn({}, seed(1)).split(';')[0];
  assert.notEqual(nothing, drawn({ section: 'sport' }, seed(1)).split(';')[0]);
});

test('a refusal names the variable that it is about', async () => {
  const core = await load();
  const { variables, ...rest } = newsRecipe();
  const [first, second] = variables;
  const refused = (/** @type {any[]} */ ...list) => {
    try {
      core.recipe({ ...rest, variables: list });
    } catch (error) {
      return /** @type {any} */ (error).message;
    }
    return 'accepted';
  };
  const nameless = { ...first, name: undefined };
  assert.match(refused(JSON.parse(JSON.stringify(nameless)), second), /variables\.0\.name/);
  assert.match(refused(first, { ...second, mechanism: 'sfp' }), /variables\.1\.mechanism/);
  assert.match(
    refused({ ...first, parameters: { ...first.parameters, k: 3 } }, second),
    /variables\.0\.parameters\.k/,
  );
});

test('a name that the recipe has not, or no names at all, is an error, and nothing is spent', async () => {
  const { client, edge, storage } = await joined();
  const before = await stored(storage);
  assert.deepEqual(codes(await client.record('visits', { section: 'sport', colour: 'red' })), [
    'unknown-variable',
  ]);
  for (const value of /** @type {any[]} */ ([
    'sport',
    3,
    null,
    undefined,
    ['sport', 'old'],
    Symbol('x'),
  ])) {
    assert.deepEqual(codes(await client.record('visits', value)), ['no-variables']);
  }
  assert.deepEqual(
    codes(
      await client.record(
        'visits',
        /** @type {any} */ ({ __proto__: { section: 'sport' }, toString: 'x' }),
      ),
    ),
    ['unknown-variable'],
  );
  assert.deepEqual(await stored(storage), before);
  await client.flush();
  assert.equal(edge.requests.length, 0);
  const told = (await client.explain()).map(({ code, recipe, count }) => [code, recipe, count]);
  assert.deepEqual(told, [
    ['unknown-variable', 'news-by-age', 2],
    ['no-variables', 'news-by-age', 6],
  ]);
  for (const { text } of await client.explain()) assert.match(text, /variable/);
});

test('each variable takes values by its kind, as a recipe of one value does', async () => {
  const mixed = newsRecipe({
    text: { min: 2, max: 16 },
    variables: [
      {
        name: 'site',
        value: 'site',
        mechanism: 'cms',
        parameters: { epsilon: 2, k: 16, m: 64 },
        hash: 'poly1',
        seed: '01'.repeat(32),
      },
      {
        name: 'word',
        value: 'word',
        mechanism: 'olh',
        parameters: { epsilon: 2, k: 16, g: 4 },
        hash: 'poly1',
        seed: '02'.repeat(32),
      },
      {
        name: 'heat',
        value: 'number',
        mechanism: 'grr',
        parameters: { epsilon: 1, size: 4, low: 0, high: 40 },
      },
      { name: 'place', value: 'item', mechanism: 'subset', parameters: { epsilon: 1, size: 9 } },
    ],
  });
  const seeds = /** @type {Uint8Array[]} */ ([]);
  const random = (/** @type {Uint8Array} */ bytes) =>
    void seeds.push(crypto.getRandomValues(bytes).slice());
  const { client, edge } = await joined(mixed, { random });
  await client.record('visits', {
    site: 'https://shop.example.co.uk/basket?x=1',
    word: 'HeRRing',
    heat: 29.5,
    place: 7,
  });
  await client.flush();
  const recipe = (await load()).recipe(mixed);
  const item = { site: 'example.co.uk', word: 'herring', heat: 29.5, place: 7 };
  const [own] = seeds.filter((bytes) => bytes.length === 32);
  assert.deepEqual(
    edge.requests.map(({ body }) => body.records[0]),
    [recipe.randomize(item, /** @type {Uint8Array} */ (own))],
  );
  // A value beyond the range counts as its end; a bucket is the one that it lies in.
  assert.equal(
    recipe.randomize({ heat: 1e300 }, seed(3)),
    recipe.randomize({ heat: 39.9 }, seed(3)),
  );
  assert.equal(
    recipe.randomize({ heat: 20 }, seed(3)),
    recipe.randomize({ heat: 29.999999 }, seed(3)),
  );
  edge.requests.length = 0;
  for (const [value, code] of /** @type {[any, string][]} */ ([
    [{ word: 'x' }, 'text-rule'],
    [{ word: 'herringbones and more' }, 'text-rule'],
    [{ word: 5 }, 'text-rule'],
    [{ heat: 'hot' }, 'not-a-number'],
    [{ heat: NaN }, 'not-a-number'],
    [{ site: 'localhost' }, 'not-a-site'],
    [{ site: 'https://example.org', word: '' }, 'text-rule'],
  ])) {
    assert.deepEqual(codes(await client.record('visits', value)), [code], JSON.stringify(value));
  }
  assert.equal((await client.ledger())[0].today.count, 1, 'no event, no debit');
  await client.flush();
  assert.equal(edge.requests.length, 0);
});

test('a core refuses what is no event of the recipe', async () => {
  const recipe = (await load()).recipe(newsRecipe());
  for (const value of /** @type {any[]} */ ([
    null,
    'sport',
    { colour: 'red' },
    { section: 5 },
    { section: 'x'.repeat(257) },
    [],
  ])) {
    assert.throws(
      () => recipe.randomize(value, seed(1), seed(2)),
      { name: 'ShoalError' },
      JSON.stringify(value),
    );
  }
  assert.throws(() => recipe.randomize({}, seed(1).slice(1), seed(2)), { code: 'argument' });
  assert.throws(
    () => recipe.randomize({}, seed(1)),
    { code: 'argument' },
    "RAPPOR answers by the device's secret",
  );
  assert.ok(recipe.randomize({}, seed(1), seed(2)));
});

test('the secret of the device makes permanent answers, and two variables of one value do not agree', async () => {
  const parameters = { bits: 32, hashes: 2, cohorts: 1, p: 0, q: 1, f: 0.5 };
  const both = newsRecipe({
    variables: [
      {
        name: 'a',
        value: 'item',
        mechanism: 'rappor',
        parameters,
        hash: 'poly1',
        seed: '0a'.repeat(32),
      },
      {
        name: 'b',
        value: 'item',
        mechanism: 'rappor',
        parameters,
        hash: 'poly1',
        seed: '0b'.repeat(32),
      },
    ],
  });
  const { client, edge } = await joined(both);
  for (let i = 0; i < 5; i++) await client.record('visits', { a: 'fish', b: 'fish' });
  await client.flush();
  const texts = new Set(edge.requests.map(({ body }) => body.records[0]));
  assert.equal(texts.size, 1, 'with p = 0 and q = 1 only what is permanent is left');
  const [a, b] = [...texts][0].split(';');
  assert.notEqual(a, b);
});

test('nothing that is stored holds a raw value, nor what is sent or said', async () => {
  const { client, edge, storage } = await joined(
    newsRecipe({ send: { fresh: 'allow', delay_s: 3600 } }),
  );
  await client.record('visits', { section: 'mackerel', age: 'young' });
  await client.record('visits', { section: 'zander', age: 'anchovy' });
  await client.record('visits', { section: 'zander', tench: 'anchovy' });
  const kept = JSON.stringify([
    await stored(storage),
    edge.requests,
    await client.explain(),
    await client.reports(),
  ]);
  for (const raw of ['mackerel', 'zander', 'anchovy', 'young', 'tench']) {
    for (const form of [
      raw,
      Buffer.from(raw).toString('hex'),
      Buffer.from(raw).toString('base64').slice(0, 5),
    ])
      assert.ok(!kept.includes(form), form);
  }
});

test('a page loads the whole module for it, also where it names one; one that has no variables is refused', async () => {
  const setUp = async (/** @type {any} */ wasm, /** @type {any[]} */ recipes) => {
    /** @type {string[]} */
    const loaded = [];
    const fetcher = async (/** @type {any} */ url) => {
      const name = String(url).split('/').at(-1) ?? '';
      if (!name.endsWith('.wasm')) return new Response('{}', { status: 202 });
      loaded.push(name);
      return new Response(await readFile(new URL(`../../dist/${name}`, import.meta.url)));
    };
    const { client } = await makeClient({ wasm, fetch: fetcher, recipes });
    await client.consent.grant();
    return { loaded, outcomes: codes(await client.record('visits', { section: 'sport' })) };
  };
  const both = ['shoal.wasm', 'shoal-all.wasm'];
  assert.deepEqual(await setUp(undefined, [newsRecipe()]), { loaded: both, outcomes: ['queued'] });
  assert.deepEqual(await setUp('https://e.example/shoal-all.wasm', [newsRecipe()]), {
    loaded: [both[1], both[1]],
    outcomes: ['queued'],
  });
  assert.deepEqual((await setUp('https://e.example/shoal.wasm', [newsRecipe()])).outcomes, [
    'recipe-refused',
  ]);
});

/** The same bytes in each run. @param {number} state */
function fixed(state) {
  return (/** @type {Uint8Array} */ bytes) => {
    for (let i = 0; i < bytes.length; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      bytes[i] = state >>> 24;
    }
  };
}
