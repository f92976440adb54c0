// SPDX-License-Identifier: Apache-2.0
// Queries as JavaScript sees them: the native build's decisions and bytes, items of events, everything else refused.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Core } from '../../bindings/core.js';
import { Core as DeviceCore, ShoalError } from '../../bindings/device.js';
import { Query, QueryCore } from '../../bindings/query_core.js';

/** @param {string} name of a file in dist/ */
const compiled = async (name) =>
  WebAssembly.compile(await readFile(new URL(`../../dist/${name}`, import.meta.url)));
const modules = {
  'shoal-query.wasm': await compiled('shoal-query.wasm'),
  'shoal-all.wasm': await compiled('shoal-all.wasm'),
};
const load = () => QueryCore.create(modules['shoal-query.wasm']);

/** @type {any} */
const vectors = JSON.parse(
  await readFile(new URL('../../../tests/core/query_vectors.json', import.meta.url), 'utf8'),
);
const sha256 = (/** @type {Uint8Array} */ bytes) =>
  createHash('sha256').update(bytes).digest('hex');
const counting = () => Uint8Array.from({ length: 32 }, (_, i) => i);
const micro = (/** @type {number} */ x) => Math.round(x * 1e6);

/** Figure 4 of apple-2022 and a little more. @param {any} [more] */
const figure4 = (more = {}) => ({
  recipe: 'ngrams',
  analysis: 'keyboard',
  stream: 'typed',
  value: 'fields',
  encoding: [
    { field: 'age', boundaries: [20, 30, 40, 50, 60, 70, 80] },
    {
      field: 'phrase',
      prefixes: ['hello world', 'i went', 'i got'],
      tokens: ['a', 'and', 'but', 'got', 'he', 'home', 'in', 'of', 'to'],
    },
  ],
  mechanism: 'onehot-symmetric',
  parameters: { epsilon: 4 },
  limit: { per_day: 1 },
  expires: '2030-01-01',
  ...more,
});

/** @param {any} [more] */
const makePolicy = (more = {}) => ({ ...structuredClone(vectors.policies[0].policy), ...more });

for (const [name, module] of Object.entries(modules)) {
  test(`${name} gives the bytes and decisions of the native build`, async () => {
    const core = await QueryCore.create(module);
    assert.ok(vectors.queries.length >= 100 && vectors.steps.length >= 150);
    for (const v of vectors.policies) {
      const policy = core.policy(v.policy);
      assert.equal(policy.hash, v.hash);
      assert.equal(sha256(Buffer.from(v.canonical, 'hex')), v.hash);
      core.releasePolicy(policy);
    }
    assert.ok(
      vectors.queries.filter((/** @type {any} */ { probes }) => probes.length).length >= 40,
    );
    for (const v of vectors.queries) {
      const query = core.query(v.recipe);
      assert.deepEqual(
        [query.hash, query.queryHash, query.key, query.policyHash],
        [v.recipe_hash, v.query_hash, v.key, v.recipe.policy ?? null],
      );
      const x = /** @type {any} */ (query).module.x;
      for (const [item, buckets] of v.cells) {
        const view = /** @type {any} */ (query).module.view();
        assert.equal(x.encoding_buckets(x.heap_base() + 64, query.handle, item), 0);
        const at = x.heap_base() + 64 - view.byteOffset;
        assert.deepEqual(
          buckets.map((/** @type {any} */ _, /** @type {number} */ i) =>
            view.getUint32(at + 4 * i, true),
          ),
          buckets,
        );
        assert.equal(x.encoding_item(query.handle, x.heap_base() + 64), item);
      }
      for (const [field, first, second, bucket] of v.probes) {
        const { scheme } = query.fields[field];
        const found =
          scheme === 'number'
            ? x.encoded_number(query.handle, field, BigInt(first))
            : scheme === 'list'
              ? x.encoded_value(query.handle, field, first)
              : x.encoded_next(query.handle, field, first, second);
        assert.equal(found, bucket);
      }
      assert.equal(query.randomItem(counting()), v.random_item);
      assert.equal(query.randomize(v.cells[1][0], counting()), v.record);
      core.release(query);
    }
    replay(core);
  });
}

/** @param {QueryCore} core */
function replay(core) {
  const policies = vectors.policies.map((/** @type {any} */ { policy }) => core.policy(policy));
  let books = core.accountant.init(vectors.steps[0].day);
  vectors.steps.forEach((/** @type {any} */ s, /** @type {number} */ i) => {
    const query = core.query(vectors.queries[s.query].recipe);
    const policy = policies[s.policy];
    const given = books.slice();
    if (s.damaged !== undefined) given[s.damaged] ^= 1;
    const checked = core.accountant.check(given, policy, query, s.day);
    const { verdict, bytes } = core.accountant.debit(given, policy, query, s.day);
    assert.deepEqual(checked, verdict, `step ${i}`);
    if (verdict.refusal === null) books = bytes;
    else assert.deepEqual(bytes, given);
    const fields = s.verdict === 'split' ? query.splits : query.fields.map(({ field }) => field);
    assert.deepEqual(
      [
        verdict.refusal ?? 'accepted',
        verdict.number,
        verdict.field,
        micro(verdict.localEpsilon),
        micro(verdict.centralEpsilon),
        sha256(books),
      ],
      [
        s.verdict,
        s.number,
        s.field === undefined ? null : fields[s.field],
        s.local,
        s.central,
        s.books,
      ],
      `step ${i}`,
    );
    assert.match(verdict.text, /^[A-Z].*\.$/);
    core.release(query);
  });
  for (const c of vectors.charges) {
    const charge = core.accountant.charge(books, policies[c.policy], c.analysis, c.field);
    assert.deepEqual(
      [
        charge.reports,
        micro(charge.epsilon),
        Math.round(charge.delta * 1e15),
        micro(charge.localEpsilon),
      ],
      [c.reports, c.epsilon, c.delta, c.local],
    );
  }
  for (const policy of policies) core.releasePolicy(policy);
}

test('the query module has what a device needs for queries, imports nothing, and says which mechanisms it lacks', async () => {
  const module = modules['shoal-query.wasm'];
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  assert.ok(
    !names.some((name) => /batch|from_text|ledger|randomize_(text|number)/.test(name)),
    names.join(),
  );
  const core = await load();
  for (const mechanism of ['onehot-symmetric', 'onehot-asymmetric', 'grr', 'subset', 'hadamard']) {
    const query = core.query(figure4({ mechanism }));
    assert.equal(query.size, 272);
    assert.equal(query.randomize(271, counting()).length, query.textSize);
    core.release(query);
  }
  assert.throws(() => core.query(figure4({ mechanism: 'olh', hash: 'affine1' })), {
    code: 'mechanism',
  });
});

test("the page's small module refuses queries", async () => {
  const page = await DeviceCore.create(await compiled('shoal.wasm'));
  assert.throws(() => page.recipe(figure4()), { code: 'type', field: 'value' });
  assert.ok(
    !WebAssembly.Module.exports(await compiled('shoal.wasm')).some(({ name }) =>
      /policy|query|accountant|encod/.test(name),
    ),
  );
});

test("an edge worker's core takes queries as recipes, each part under its own key", async () => {
  const core = await Core.create(modules['shoal-all.wasm']);
  const split = { split_by: [{ field: 'locale', values: ['de', 'en'] }] };
  const [whole, part] = [
    core.recipe(figure4(split)),
    core.recipe(figure4({ ...split, part: ['de'] })),
  ];
  assert.deepEqual([whole.key, part.key], ['ngrams', 'ngrams/de']);
  assert.notEqual(whole.hash, part.hash);
  const report = part.report(part.randomize(7, counting()));
  assert.deepEqual(
    [report.key, report.recipe_hash, report.parameters],
    ['ngrams/de', part.hash, { epsilon: 4 }],
  );
  assert.equal(part.recordToText(part.recordFromText(report.records[0])), report.records[0]);
  assert.throws(() => core.recipe(figure4({ ...split, part: ['fr'] })), {
    code: 'range',
    field: 'part',
  });
});

test('an event becomes the item that Figure 4 gives it, and a label in words', async () => {
  const query = (await load()).query(figure4());
  assert.deepEqual(query.fields, [
    { field: 'age', scheme: 'number', depth: 0, size: 8 },
    { field: 'phrase', scheme: 'tokens', depth: 2, size: 34 },
  ]);
  const say = (/** @type {any} */ event) => {
    const item = query.item(event);
    return item === null ? null : query.label(item);
  };
  assert.equal(query.item({ age: 34, phrase: 'i went home' }), 2 * 34 + 1 + 11 + 2 + 5);
  /** @type {[any, string | null][]} */
  const cases = [
    [{ age: 34, phrase: 'i went home' }, '[30,40) | i went home'],
    [{ age: 34, phrase: '  I  Went\tHOME again' }, '[30,40) | i went home'], // the text rule, and any white space
    [{ age: 29.9999999, phrase: 'i went' }, '[30,40) | i went <end>'], // the nearest millionth
    [{ age: 29.999999, phrase: 'i went' }, '[20,30) | i went <end>'],
    [{ age: 19.9, phrase: 'hello world x' }, '<oov> | hello world <oov>'],
    [{ age: 80, phrase: 'i got a' }, '[80,inf) | i got a'],
    [{ age: 1e300, phrase: 'i got a' }, '[80,inf) | i got a'],
    [{ age: -1e300, phrase: 'i got a' }, '<oov> | i got a'],
    [{ phrase: 'i got a' }, '<oov> | i got a'],
    [{ age: '34', phrase: 'i got a' }, '<oov> | i got a'],
    [{ age: NaN, phrase: 'i got a' }, '<oov> | i got a'],
    [{ age: 34, phrase: `i got ${'a'.repeat(33)}` }, '[30,40) | i got <oov>'], // longer than the rule counts
    [{ age: 34, phrase: `i got ${'to '.repeat(300)}` }, '[30,40) | i got to'], // the rule is about a token
    [{ age: 34, phrase: 'i got \ud800' }, '[30,40) | i got <oov>'],
    [{ age: 34, phrase: 'went i home' }, null],
    [{ age: 34, phrase: 'i' }, null],
    [{ age: 34, phrase: '' }, null],
    [{ age: 34, phrase: 7 }, null],
    [{ age: 34, phrase: ['i', 'went'] }, null],
    [{ age: 34 }, null],
    [{}, null],
  ];
  for (const [event, label] of cases) assert.equal(say(event), label, JSON.stringify(event));
  const labels = Array.from({ length: query.size }, (_, item) => query.label(item));
  assert.equal(new Set(labels).size, 272);
  assert.deepEqual(query.cells(271), { age: '[80,inf)', phrase: 'i got to' });
  for (const bad of [272, -1, 2 ** 31]) assert.throws(() => query.label(bad), { code: 'argument' });
});

test('values, first tokens, and names that an object inherits', async () => {
  const core = await load();
  const query = core.query(
    figure4({
      encoding: [
        { field: 'constructor', values: ['Über', 'home page'] },
        { field: 'word', prefixes: [''], tokens: ['i', 'été'] },
      ],
      text: { case: 'keep', min: 2 },
    }),
  );
  const say = (/** @type {any} */ event) => {
    const item = query.item(event);
    return item === null ? null : query.label(item);
  };
  assert.equal(say({ word: 'e\u0301te\u0301 x' }), '<oov> | été');
  assert.equal(say({ word: 'i x' }), '<oov> | <oov>', 'a token shorter than the rule counts');
  assert.equal(say({ constructor: 'U\u0308ber', word: 'Été' }), 'Über | <oov>');
  assert.equal(say({ constructor: 'home page', word: ' ' }), 'home page | <end>');
  assert.equal(say({ constructor: 'page', word: 'été' }), '<oov> | été');
  assert.equal(query.label(0), '<oov> | <none>', 'not the label of a token that is not listed');
  assert.equal(query.item(Object.create({ word: 'été' })), null, 'only what the event itself has');
  const numbers = core.query(
    figure4({ encoding: [{ field: 'age', boundaries: [-1.5, 0, 0.000001] }] }),
  );
  assert.deepEqual(
    [-2, -1.5, -1e-6, 0, 4e-7, 6e-7, 1e-6].map((age) => numbers.item({ age })),
    [0, 1, 1, 2, 2, 3, 3],
  );
  assert.deepEqual(
    [0, 1, 2, 3].map((item) => numbers.label(item)),
    ['<oov>', '[-1.5,0)', '[0,0.000001)', '[0.000001,inf)'],
  );
  assert.equal(numbers.item({}), 0, 'where no phrase is asked for, every event matches');
});

test('the part that an event belongs to', async () => {
  const core = await load();
  const query = core.query(
    figure4({
      split_by: [
        { field: 'locale', values: ['de', 'en'] },
        { field: 'device', values: ['phone'] },
      ],
    }),
  );
  assert.deepEqual(query.splits, ['locale', 'device']);
  assert.deepEqual(query.part({ locale: 'DE', device: 'phone' }), ['de', 'phone']);
  assert.deepEqual(query.part({ locale: 'fr' }), ['other', 'other']);
  assert.deepEqual(query.part({ locale: 7, device: 'other' }), ['other', 'other']);
  const part = core.query({ ...query.json, part: query.part({ locale: 'en' }) });
  assert.equal(part.key, 'ngrams/en/other');
  assert.equal(part.queryHash, query.queryHash);
  assert.notEqual(part.hash, query.hash);
  assert.equal(part.report('x').key, part.key);
  core.release(part);
  assert.equal(
    core.query({ ...query.json, part: ['other', 'other'] }).key,
    'ngrams/other/other',
    'one name for two fields',
  );
});

test('what is not written as a query or a policy is refused, and holds no slot', async () => {
  const core = await load();
  const [age, phrase] = figure4().encoding;
  /** @type {[any, string, string | undefined][]} */
  const queries = [
    [{ encoding: [] }, 'type', 'encoding'],
    [{ encoding: {} }, 'type', 'encoding'],
    [{ encoding: { 0: age } }, 'unknown-field', 'encoding.0.field'], // no list
    [{ encoding: [[age]] }, 'type', 'encoding'],
    [{ encoding: [age, null] }, 'type', 'encoding'],
    [{ encoding: [age, 'phrase'] }, 'type', 'encoding'],
    [{ encoding: [age, {}] }, 'type', 'encoding'],
    [{ encoding: [{ ...age, extra: 1 }] }, 'unknown-field', 'encoding.0.extra'],
    [{ encoding: [{ ...age, 'a.b': 1 }] }, 'unknown-field', 'encoding.0.a.b'],
    [{ encoding: [{ ...age, boundaries: [] }] }, 'type', 'encoding.0.boundaries'],
    [{ encoding: [{ ...age, boundaries: [1, '2'] }] }, 'type', 'encoding.0.boundaries'],
    [{ encoding: [{ ...age, boundaries: [1, 1] }] }, 'duplicate', 'encoding.0.boundaries'],
    [{ encoding: [{ ...age, boundaries: [2, 1] }] }, 'range', 'encoding.0.boundaries'],
    [{ encoding: [{ ...age, boundaries: [1, 1e-7] }] }, 'range', 'encoding.0.boundaries'],
    [{ encoding: [{ ...age, boundaries: [1, NaN] }] }, 'range', 'encoding.0.boundaries'],
    [{ encoding: [{ ...age, boundaries: [true] }] }, 'type', 'encoding.0.boundaries'],
    [{ encoding: [{ ...age, boundaries: '20' }] }, 'unknown-field', 'encoding.0.boundaries'],
    [{ encoding: [age, { ...phrase, tokens: ['a', 'a'] }] }, 'duplicate', 'encoding.1.tokens'],
    [{ encoding: [age, { ...phrase, tokens: ['a b'] }] }, 'type', 'encoding.1.tokens'],
    [{ encoding: [age, { ...phrase, prefixes: ['a b', 'c'] }] }, 'range', 'encoding.1.prefixes'],
    [{ encoding: [age, { ...phrase, field: 'age' }] }, 'duplicate', 'encoding'],
    [{ encoding: [{ field: 'age' }] }, 'missing-field', 'encoding'],
    [
      { encoding: Array.from({ length: 5 }, (_, i) => ({ field: `f${i}`, values: ['x'] })) },
      'range',
      'encoding.N.field',
    ],
    [{ split_by: [{ field: 'locale', values: ['other'] }] }, 'duplicate', 'split_by.0.values'],
    [{ part: ['de'] }, 'range', 'part'],
    [{ split_by: [{ field: 'locale', values: ['de'] }], part: ['en'] }, 'range', 'part'],
    [{ split_by: [{ field: 'locale', values: ['de'] }], part: ['de', 'other'] }, 'range', 'part'],
    [{ split_by: [{ field: 'locale', values: ['de'] }], part: [] }, 'type', 'part'],
    [{ split_by: [{ field: 'locale', values: ['de'] }], part: 'de' }, 'type', 'part'],
    [{ parameters: { epsilon: 4, size: 9 } }, 'unknown-field', 'parameters.size'],
    [{ version: 1 }, 'missing-field', 'version'],
    [{ signature: { key: 'ab' } }, 'type', 'signature.key'],
  ];
  for (const [more, code, field] of queries) {
    const wanted = field === 'encoding.N.field' ? /^encoding/ : new RegExp(`^${field}$`);
    assert.throws(
      () => core.query(figure4(more)),
      (/** @type {any} */ error) => {
        assert.ok(error instanceof ShoalError && error.message.length > 5, String(error));
        assert.equal(error.code, code, JSON.stringify(more));
        assert.match(error.field ?? '', wanted, JSON.stringify(more));
        return true;
      },
    );
  }
  /** @type {[any, string, string | undefined][]} */
  const policies = [
    [{ extra: 1 }, 'unknown-field', 'extra'],
    [{ keys: [] }, 'type', 'keys'],
    [{ keys: ['xyz'] }, 'type', 'keys'],
    [{ keys: [1] }, 'type', 'keys'],
    [{ keys: [...makePolicy().keys, ...makePolicy().keys] }, 'duplicate', 'keys'],
    [{ fresh_days: 0 }, 'range', 'fresh_days'],
    [{ fresh_days: '1' }, 'type', 'fresh_days'],
    [{ streams: 'x' }, 'unknown-field', 'streams'],
    [{ streams: [] }, 'type', 'streams'],
    [{ analyses: undefined }, 'type', 'analyses'],
    [{ analyses: { 0: makePolicy().analyses[0] } }, 'unknown-field', 'analyses.0.analysis'],
  ];
  for (const [more, code, field] of policies) {
    assert.throws(
      () => core.policy(makePolicy(more)),
      { name: 'ShoalError', code, field, message: /./ },
      JSON.stringify(more),
    );
  }
  for (const bad of [[], null, 7, '[]', 'null'])
    assert.throws(() => core.policy(/** @type {any} */ (bad)), { code: 'type' });
  assert.throws(() => core.policy('{'), SyntaxError);
  // None of the refused ones holds a slot.
  const held = [core.policy(makePolicy()), core.policy(JSON.stringify(makePolicy()))];
  assert.equal(held[0].hash, held[1].hash);
  assert.throws(() => core.policy(makePolicy()), { code: 'space' });
  core.releasePolicy(held[0]);
  assert.throws(() => core.releasePolicy(held[0]), { code: 'argument' });
  core.policy(makePolicy());
  const all = Array.from({ length: 16 }, () => core.query(figure4()));
  assert.throws(() => core.query(figure4()), { code: 'space' });
  for (const query of all) core.release(query);
  assert.throws(
    () => all[0].item({ phrase: 'i went' }),
    { code: 'argument' },
    'a released handle stays dead',
  );
});

test("the exports for queries refuse every pointer, handle and index that is not JavaScript's own", async () => {
  const instance = await WebAssembly.instantiate(modules['shoal-query.wasm'], {});
  const x = /** @type {any} */ (instance.exports);
  const core = await QueryCore.create(instance);
  const query = core.query(figure4());
  const policy = core.policy(makePolicy());
  const books = core.accountant.init(20500);
  const base = x.heap_base();
  const end = x.memory.buffer.byteLength;
  const [q, p] = [query.handle, policy.handle];
  const building = x.policy_open();
  const open = x.recipe_open();
  for (const bad of [0, 1024, base - 1, end - 3, end, -1, -16]) {
    assert.equal(x.recipe_add_text(open, bad, 4, base, 4), 1);
    assert.equal(x.recipe_add_text(open, base, 4, bad, 4), 1);
    assert.equal(x.recipe_add_number(open, bad, 4, 1n), 1);
    assert.equal(x.recipe_query_info(q, bad), 1);
    assert.equal(x.encoding_item(q, bad), -1);
    assert.equal(x.encoding_buckets(bad, q, 0), 1);
    assert.equal(x.random_item(q, bad), -1);
    assert.equal(x.policy_set_number(building, bad, 4, 1n), 1);
    assert.equal(x.policy_set_string(building, bad, 4, base, 4), 1);
    assert.equal(x.policy_set_string(building, base, 4, bad, 4), 1);
    assert.equal(x.policy_add_text(building, bad, 4, base, 4), 1);
    assert.equal(x.policy_add_text(building, base, 4, bad, 4), 1);
    assert.equal(x.policy_hash(p, bad), 1);
    assert.equal(x.accountant_init(bad, 100, 1), -1);
    assert.equal(x.query_check(bad, base, books.length, p, q, 1), 1);
    assert.equal(x.query_check(base, bad, books.length, p, q, 1), 1);
    assert.equal(x.query_debit(bad, base, books.length, 1000, p, q, 1), -1);
    assert.equal(x.query_debit(base, bad, books.length, 1000, p, q, 1), -1);
    assert.equal(x.accountant_charge(bad, base, books.length, p, 0, -1), 1);
    assert.equal(x.accountant_charge(base, bad, books.length, p, 0, -1), 1);
  }
  assert.equal(x.query_debit(base, base + 64, 1001, 1000, p, q, 1), -1, 'longer than its room');
  assert.equal(x.query_debit(base, base + 64, 40, 0xffffffff, p, q, 1), -1, 'a length that wraps');
  for (const bad of [0, 1, 15, q + 1, q + 16, open, -1, 0x7fffffff]) {
    assert.equal(x.recipe_query_info(bad, base), 1);
    assert.equal(x.encoded_number(bad, 0, 0n), -1);
    assert.equal(x.encoded_value(bad, 0, 0), -1);
    assert.equal(x.encoded_next(bad, 0, 0, 0), -1);
    assert.equal(x.encoding_item(bad, base), -1);
    assert.equal(x.encoding_buckets(base, bad, 0), 1);
    assert.equal(x.random_item(bad, base), -1);
    assert.equal(x.query_check(base, base + 64, 40, p, bad, 1), 1);
    assert.equal(x.query_debit(base, base + 64, 40, 1000, p, bad, 1), -1);
  }
  for (const bad of [0, 1, p + 1, p + 2, building, -1, 0x7fffffff]) {
    assert.equal(x.policy_hash(bad, base), 1);
    assert.equal(x.query_check(base, base + 64, 40, bad, q, 1), 1);
    assert.equal(x.query_debit(base, base + 64, 40, 1000, bad, q, 1), -1);
    assert.equal(x.accountant_charge(base, base + 64, 40, bad, 0, -1), 1);
    if (bad !== building) assert.equal(x.policy_release(bad), 1);
  }
  for (const field of [2, 4, -1]) assert.equal(x.encoded_number(q, field, 0n), -1);
  new DataView(x.memory.buffer, base).setUint32(0, 8, true); // beyond the first field's buckets
  assert.equal(x.encoding_item(q, base), -1);
  for (const [analysis, field] of [
    [3, -1],
    [-1, -1],
    [0, 2],
    [0, -2],
  ]) {
    assert.equal(x.accountant_charge(base, base + 64, 40, p, analysis, field), 1);
  }
  assert.equal(x.policy_set_number(p, base, 4, 1n), 1, 'a finished policy changes no more');
  for (const length of [0, 7, 39, 41]) {
    assert.equal(
      core.accountant.check(new Uint8Array(length), policy, query, 20510).refusal,
      'storage',
    );
    assert.throws(() => core.accountant.charge(new Uint8Array(length), policy, 0), {
      code: 'ledger',
    });
  }
  assert.equal(
    core.accountant.debit(new Uint8Array(1 << 17), policy, query, 20510).verdict.refusal,
    'storage',
    'longer than books can be',
  );
  assert.equal(core.accountant.check(books, policy, query, 20510).refusal, 'not-query');
});

test('a random item is uniform, and neither it, the seed nor the buckets stay in the module', async () => {
  const instance = await WebAssembly.instantiate(modules['shoal-query.wasm'], {});
  const core = await QueryCore.create(instance);
  const query = core.query(
    figure4({
      encoding: [
        { field: 'age', boundaries: [1, 2, 3, 4, 5] },
        { field: 'page', values: ['x'] },
      ],
    }),
  );
  const counts = new Array(query.size).fill(0);
  // 12,000 draws over 12 cells: a count has sigma sqrt(12000 (1/12) (11/12)) = 30.3; chi squared with 11 degrees is below 35 in all
  // but 2.5e-4 of cases, and the seeds are fixed.
  for (let i = 0; i < 12_000; i++)
    counts[query.randomItem(createHash('sha256').update(`${i}`).digest())]++;
  const chi = counts.reduce((sum, n) => sum + (n - 1000) ** 2 / 1000, 0);
  assert.ok(chi < 35, `${chi} ${counts}`);
  const memory = () =>
    Buffer.from(/** @type {WebAssembly.Memory} */ (instance.exports.memory).buffer);
  query.randomItem(new Uint8Array(32).fill(0xa7));
  assert.equal(memory().indexOf(Buffer.alloc(8, 0xa7)), -1);
  assert.throws(() => query.randomItem(new Uint8Array(31)), { code: 'argument' });
  const { heap_base: heapBase } = /** @type {any} */ (instance.exports);
  const base = (heapBase() + 15) & -16;
  query.item({ age: 3.5, page: 'x' });
  assert.deepEqual([...memory().subarray(base, base + 16)], new Array(16).fill(0));
  query.randomize(5, new Uint8Array(32).fill(0xa7));
  assert.equal(memory().indexOf(Buffer.alloc(8, 0xa7)), -1);
});

test('a query shows what it asks and claims', async () => {
  const core = await load();
  const v = vectors.queries.find(
    (/** @type {any} */ { recipe }) => recipe.round?.index === 2 && recipe.split_by && !recipe.part,
  ).recipe;
  const query = core.query(JSON.stringify(v));
  assert.ok(query instanceof Query);
  assert.deepEqual(
    [query.analysis, query.round, query.version, query.claim, query.cohort.minimum, query.splits],
    ['keyboard', 2, 2, { epsilon: 0.25, delta: 1e-10 }, 100000, ['locale']],
  );
  assert.equal(query.aggregation, v.aggregation?.protocol ?? 'reports');
  const plain = core.query(figure4());
  assert.deepEqual(
    [plain.policyHash, plain.round, plain.version, plain.claim],
    [null, 0, 0, { epsilon: 0, delta: 1 }],
  );
});
