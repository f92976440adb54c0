// SPDX-License-Identifier: Apache-2.0
// The core as JavaScript sees it: no imports, the same bytes as native, every bad argument refused.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Core, ShoalError } from '../../bindings/core.js';
import { Core as DeviceCore } from '../../bindings/device.js';
import { load, loadModule } from '../../bindings/node.js';
import { randomizeNone } from '../../bindings/none_record.js';
import { itemsRecipe, wordsRecipe } from '../fixtures.mjs';
import { expectedRecords, makeRecords, readVectors } from '../vectors.mjs';

const vectors = await readVectors();

const secret = () => crypto.getRandomValues(new Uint8Array(32));

test('the module imports nothing', async () => {
  const module = await loadModule();
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  assert.ok(
    WebAssembly.Module.exports(module).some(
      ({ name, kind }) => name === 'memory' && kind === 'memory',
    ),
  );
});

test('the same seed, recipe and value give the bytes of the native build', async () => {
  const core = await load();
  assert.ok(vectors.length >= 20);
  assert.deepEqual(makeRecords(core, vectors), expectedRecords(vectors));
  for (const v of vectors) {
    const recipe = core.recipe(v.recipe);
    const bytes = recipe.randomizeBytes(
      v.value,
      Uint8Array.from(v.seed),
      Uint8Array.from(v.secret),
    );
    assert.equal(recipe.recordToText(bytes), v.record, v.name);
    assert.deepEqual(recipe.recordFromText(v.record), bytes, v.name);
    const records = new Uint8Array(bytes.length + 2).fill(7);
    recipe.randomizeInto(records, 1, v.value, Uint8Array.from(v.seed), Uint8Array.from(v.secret));
    assert.deepEqual(records, Uint8Array.of(7, ...bytes, 7), v.name);
    core.release(recipe);
  }
});

test("the page's module makes the same bytes, and says which mechanisms it lacks", async () => {
  const bytes = await readFile(new URL('../../dist/shoal.wasm', import.meta.url));
  const module = await WebAssembly.compile(bytes);
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  assert.ok(
    !WebAssembly.Module.exports(module).some(({ name }) => /^batch|from_text/.test(name)),
    'only what a device needs',
  );
  const core = await DeviceCore.create(module);
  const carried = vectors.filter(({ recipe }) => {
    try {
      core.release(core.recipe(recipe));
      return true;
    } catch (error) {
      const { code, field } = /** @type {any} */ (error);
      assert.deepEqual(
        [code, field],
        recipe.variables ? ['type', 'variables'] : ['mechanism', 'mechanism'],
        recipe.mechanism,
      );
      return false;
    }
  });
  const names = new Set(carried.map(({ recipe }) => recipe.mechanism));
  for (const name of ['cms', 'hcms', 'onehot-asymmetric']) assert.ok(names.has(name), name);
  assert.deepEqual(makeRecords(core, carried), expectedRecords(carried));
});

test('records go to text and back, and only what the randomizer can make is read', async () => {
  const core = await load();
  for (const json of [wordsRecipe(), itemsRecipe(), wordsRecipe({ mechanism: 'hcms' })]) {
    const recipe = core.recipe(json);
    for (let i = 0; i < 50; i++) {
      const text = recipe.randomize(recipe.isOpen ? 'fish' : i % 3, secret());
      assert.equal(text.length, recipe.textSize);
      assert.equal(recipe.recordToText(recipe.recordFromText(text)), text);
      for (const bad of [
        '',
        text.slice(1),
        text + '0',
        `${text.slice(0, -1)}G`,
        text.toUpperCase().replace(/^[^A-F]*$/, 'x'),
        'é' + text.slice(1),
      ]) {
        assert.throws(() => recipe.recordFromText(bad), ShoalError, bad);
      }
    }
    core.release(recipe);
  }
  const recipe = core.recipe(wordsRecipe());
  assert.throws(() => recipe.recordFromText('9'.repeat(1 << 20)), ShoalError);
  assert.throws(() => recipe.recordToText(new Uint8Array(3)), { code: 'argument', number: 1 });
});

test('a recipe is refused with a code, a number, a field and words', async () => {
  const core = await load();
  /** @type {[any, string, number, string | undefined][]} */
  const cases = [
    [wordsRecipe({ extra: 1 }), 'unknown-field', 3, 'extra'],
    [wordsRecipe({ text: { colour: 'x' } }), 'unknown-field', 3, 'text.colour'],
    [wordsRecipe({ 'parameters.epsilon': 4 }), 'unknown-field', 3, 'parameters.epsilon'],
    [wordsRecipe({ nothing: {} }), 'type', 5, 'nothing'],
    [
      wordsRecipe({ parameters: { epsilon: 17, k: 2048, m: 256 } }),
      'range',
      2,
      'parameters.epsilon',
    ],
    [
      wordsRecipe({ parameters: { epsilon: 0, k: 2048, m: 256 } }),
      'range',
      2,
      'parameters.epsilon',
    ],
    [
      wordsRecipe({ parameters: { epsilon: -1, k: 2048, m: 256 } }),
      'range',
      2,
      'parameters.epsilon',
    ],
    [
      wordsRecipe({ parameters: { epsilon: NaN, k: 2048, m: 256 } }),
      'range',
      2,
      'parameters.epsilon',
    ],
    [
      wordsRecipe({ parameters: { epsilon: 1e-7, k: 2048, m: 256 } }),
      'range',
      2,
      'parameters.epsilon',
    ],
    [wordsRecipe({ parameters: { epsilon: 4, k: 0, m: 256 } }), 'range', 2, 'parameters.k'],
    [wordsRecipe({ parameters: { epsilon: 4, k: 2048 } }), 'missing-field', 4, 'parameters.m'],
    [wordsRecipe({ stream: 7 }), 'type', 5, 'stream'],
    [wordsRecipe({ expires: null }), 'type', 5, 'expires'],
    [wordsRecipe({ value: ['word'] }), 'unknown-field', 3, 'value'], // no list of that name
    [wordsRecipe({ value: [] }), 'type', 5, 'value'],
    [
      itemsRecipe({ parameters: { epsilon: 2, values: ['a', 'a'] } }),
      'duplicate',
      6,
      'parameters.values',
    ],
    [itemsRecipe({ parameters: { epsilon: 2, values: ['a', 1] } }), 'type', 5, 'parameters.values'],
    [[], 'type', 5, undefined],
    [null, 'type', 5, undefined],
  ];
  for (const [json, code, number, field] of cases) {
    assert.throws(
      () => core.recipe(json),
      { name: 'ShoalError', code, number, field, message: /./ },
      JSON.stringify(json),
    );
  }
  assert.throws(() => core.recipe('{'), SyntaxError);
  // None of the refused ones holds a slot.
  const all = Array.from({ length: 64 }, () => core.recipe(wordsRecipe()));
  assert.throws(() => core.recipe(wordsRecipe()), { code: 'space' });
  core.release(all[3]);
  assert.equal(core.recipe(wordsRecipe()).hash, all[0].hash);
  assert.throws(() => core.release(all[3]), { code: 'argument' }, 'a released handle stays dead');
  assert.throws(() => all[3].randomize('x', secret()), { code: 'argument' });
});

test('a recipe shows its defaults and its report', async () => {
  const core = await load();
  const { send, ...plain } = wordsRecipe();
  const recipe = core.recipe(JSON.stringify(plain));
  assert.deepEqual(recipe.send, {
    sample: 1,
    delayS: 86400,
    fresh: 'wait',
    pick: 'first',
    window: null,
  });
  assert.deepEqual(recipe.batch, { minimum: 500, maxAgeS: 86400 });
  assert.deepEqual(recipe.text, {
    form: 'NFC',
    case: 'lower',
    locale: undefined,
    min: 1,
    max: 32,
  });
  assert.equal(recipe.cohort.minimum, 1000);
  assert.equal(recipe.expiresDay, Date.UTC(2030, 0, 1) / 86_400_000);
  assert.equal(recipe.epsilonMicro, 4_000_000);
  assert.deepEqual(recipe.report('x'), {
    key: 'words',
    recipe_hash: recipe.hash,
    parameters: { epsilon: 4, k: 2048, m: 256 },
    records: ['x'],
  });
  assert.deepEqual(core.recipe(itemsRecipe()).parameters, { epsilon: 16, size: 3 });
  const changed = core.recipe(wordsRecipe({ expires: '2030-01-02' }));
  assert.notEqual(changed.hash, recipe.hash);
});

test('items of a list: by value, by index, none; anything unlisted is none', async () => {
  const recipe = (await load()).recipe(itemsRecipe());
  assert.deepEqual(
    ['light', 'dark', 'Auto', 'auto', null, 2, 3, -1, 0.5, ''].map((v) => recipe.index(v)),
    [0, 1, 2, -1, -1, 2, -1, -1, -1, -1],
  );
  const seed = secret();
  assert.equal(recipe.randomize('nonsense', seed), recipe.randomize(null, seed));
});

test('strings that do not fit, seeds of another length and wrong kinds are refused', async () => {
  const core = await load();
  const recipe = core.recipe(wordsRecipe());
  assert.throws(() => recipe.randomize('x'.repeat(257), secret()), { code: 'range' });
  assert.equal(recipe.randomize('x'.repeat(256), secret()).length, recipe.textSize);
  assert.throws(() => recipe.randomize('é'.repeat(129), secret()), { code: 'range' });
  assert.throws(() => recipe.randomize(`${'x'.repeat(255)}é`, secret()), { code: 'range' });
  assert.throws(() => recipe.randomize(`${'x'.repeat(254)}😀`, secret()), { code: 'range' });
  assert.equal(recipe.randomize(`${'x'.repeat(252)}😀`, secret()).length, recipe.textSize);
  const seed = secret();
  assert.equal(recipe.randomize('a\ud800b', seed.slice()), recipe.randomize('a\ufffdb', seed)); // half a character is UTF-8's replacement
  assert.throws(() => recipe.randomize('x', new Uint8Array(31)), { code: 'argument' });
  assert.throws(() => recipe.randomize(null, secret()), { code: 'argument' });
  assert.throws(() => recipe.randomize(7, secret()), { code: 'argument' });
});

test('numbers: any finite one, in its bucket; nothing else is a number', async () => {
  const core = await load();
  const parameters = { epsilon: 16, low: -1.5, high: 1.5, size: 3 };
  const recipe = core.recipe(itemsRecipe({ value: 'number', parameters }));
  assert.deepEqual(recipe.parameters, parameters);
  assert.deepEqual([recipe.isNumber, recipe.isOpen, recipe.size], [true, false, 3]);
  // At epsilon 16 a bit that is not the bucket's is lit once in nine million; the bucket's own is a fair coin.
  const buckets = /** @type {const} */ ([
    [-1.5, 1],
    [-0.500001, 1],
    [-0.5, 2],
    [0, 2],
    [0.499999, 2],
    [0.5, 4],
    [1.5, 4],
    [-1e300, 1],
    [Number.MIN_SAFE_INTEGER, 1],
    [1e13, 4],
    [1e300, 4],
    [0.1 + 0.2 + 0.2, 4], // in binary a little above or below
  ]);
  for (const [value, bit] of buckets) {
    const seen = new Set(
      Array.from({ length: 40 }, () => parseInt(recipe.randomize(value, secret()), 16)),
    );
    assert.deepEqual([...seen].sort(), [0, bit], `${value}`);
  }
  for (const bad of [NaN, Infinity, -Infinity, '1', '', null, undefined, {}, 1n]) {
    assert.throws(
      () => recipe.randomize(/** @type {any} */ (bad), secret()),
      { code: 'argument' },
      String(bad),
    );
  }
});

test("a device's own secret must have 32 bytes, and is there where the recipe needs it", async () => {
  const core = await load();
  const recipe = core.recipe(wordsRecipe());
  assert.equal(recipe.isPermanent, false);
  assert.throws(() => recipe.randomize('x', secret(), new Uint8Array(31)), { code: 'argument' });
  const seed = secret();
  assert.equal(
    recipe.randomize('x', seed, secret()),
    recipe.randomize('x', seed),
    'read by nobody who has no use for it',
  );
});

test("neither the value, the seed nor the device's secret stays in the module", async () => {
  const instance = await WebAssembly.instantiate(await loadModule(), {});
  const core = await Core.create(instance);
  const recipe = core.recipe(wordsRecipe());
  const seed = new Uint8Array(32).fill(0xa7);
  const marker = 'quicksilverherring';
  const isClean = () => {
    const memory = Buffer.from(/** @type {WebAssembly.Memory} */ (instance.exports.memory).buffer);
    assert.equal(memory.indexOf(marker.slice(0, 8)), -1);
    assert.equal(memory.indexOf(Buffer.alloc(8, 0xa7)), -1);
  };
  recipe.randomize(marker, seed, seed);
  isClean();
  assert.throws(() => recipe.randomize(marker + 'é'.repeat(200), seed, seed), { code: 'range' });
  isClean();
  for (const parameters of [
    { epsilon: 1, size: 9 },
    { epsilon: 1, size: 9, low: 0, high: 1 },
  ]) {
    core
      .recipe(itemsRecipe({ parameters, value: 'low' in parameters ? 'number' : 'item' }))
      .randomize(1, seed, seed);
    isClean();
  }
});

test("the exports refuse every pointer and handle that is not JavaScript's own", async () => {
  const instance = await WebAssembly.instantiate(await loadModule(), {});
  const x = /** @type {any} */ (instance.exports);
  const core = await Core.create(instance);
  const recipe = core.recipe(wordsRecipe());
  const { handle } = recipe;
  const base = x.heap_base();
  const end = x.memory.buffer.byteLength;
  for (const bad of [0, 1024, base - 1, end - 8, end, -1, -16]) {
    assert.equal(x.recipe_info(handle, bad), 1);
    assert.equal(x.randomize_text(bad, handle, base, 4, base + 64, 0), 1);
    assert.equal(x.randomize_text(base + 128, handle, bad, 16, base + 64, 0), 1);
    assert.equal(x.randomize_text(base + 128, handle, base, 4, bad, 0), 1);
    if (bad !== 0) assert.equal(x.randomize_text(base + 128, handle, base, 4, base + 64, bad), 1);
    assert.equal(x.record_to_text(bad, recipe.textSize, handle, base), 1);
    assert.equal(x.record_to_text(base, recipe.textSize, handle, bad), 1);
    assert.equal(x.record_from_text(bad, handle, base, 4), 1);
    assert.equal(x.record_check(handle, bad), 1);
    assert.equal(x.batch_seal(bad, 200, handle, 1, base, 0), 1);
    assert.equal(x.batch_seal(base, 200, handle, 1, bad, 1), 1);
    assert.equal(x.batch_open(bad, 200, handle), -1);
    assert.equal(x.ledger_init(bad, 100, 1), -1);
    assert.equal(x.ledger_debit(bad, 32, 100, handle, 1), -1);
    assert.equal(x.ledger_allows(bad, 32, handle, 1), 1);
    assert.equal(x.ledger_spent(bad, base, 32, handle, 1, 1), 1);
  }
  assert.equal(
    x.randomize_text(base + 512, handle, base, 0xffffffff, base + 300, 0),
    1,
    'a length that wraps',
  );
  for (const bad of [0, 1, 63, handle + 1, handle + 64, -1, 0x7fffffff]) {
    assert.equal(x.recipe_info(bad, base), 1);
    assert.equal(x.randomize_index(base + 64, bad, 0, base, 0), 1);
    assert.equal(x.randomize_number(base + 64, bad, 0n, base, 0), 1);
    assert.equal(x.recipe_set_number(bad, base, 4, 1n), 1);
    assert.equal(x.recipe_release(bad), 1);
    assert.equal(x.batch_size(bad, 1, 0), -1);
    assert.equal(x.batch_size(bad, 1, 20_000), -1);
  }
  assert.equal(x.randomize_index(base + 64, handle, 0, base, 0), 1, 'an index for an open domain');
  assert.equal(x.randomize_number(base + 64, handle, 0n, base, 0), 1, 'a number for words');
  assert.equal(x.recipe_set_number(handle, base, 4, 1n), 1, 'a finished recipe changes no more');
  assert.equal(recipe.randomize('still works', secret()).length, recipe.textSize);
});

/** The id that a batch of version 2 must have, by another implementation. @param {Uint8Array} batch */
function hashOf(batch) {
  const sha = createHash('sha256').update('shoal batch\0').update(batch.subarray(0, 56));
  return new Uint8Array(sha.update(batch.subarray(72, -8)).digest().subarray(0, 16));
}

test('a batch is sealed, opened, and refused when a bit is flipped or an end is missing', async () => {
  const core = await load();
  const recipe = core.recipe(wordsRecipe());
  const records = new Uint8Array(1000 * recipe.recordSize);
  for (let i = 0; i < 1000; i++)
    records.set(recipe.randomizeBytes('fish', secret()), i * recipe.recordSize);
  const id = crypto.getRandomValues(new Uint8Array(16));
  for (const batch of [recipe.sealBatch(records, id), recipe.sealBatch(records, id, 20_780)]) {
    const opened = recipe.openBatch(batch);
    const isFirst = opened.version === 1;
    assert.deepEqual(opened, {
      count: 1000,
      id: isFirst ? id : hashOf(batch),
      records,
      version: opened.version,
      day: isFirst ? 0 : 20_780,
    });
    for (let i = 0; i < batch.length; i += 97) {
      const broken = batch.slice();
      broken[i] ^= 1 << (i % 8);
      assert.throws(() => recipe.openBatch(broken), ShoalError, `byte ${i}`);
    }
  }
  assert.throws(() => recipe.sealBatch(records, id, 84_371), ShoalError, 'a day after 2200');
  const batch = recipe.sealBatch(records, id);
  assert.throws(() => recipe.openBatch(batch.subarray(0, batch.length - 1)), { code: 'truncated' });
  assert.throws(() => core.recipe(wordsRecipe({ recipe: 'other' })).openBatch(batch), {
    code: 'recipe-hash',
  });
  assert.throws(() => recipe.sealBatch(new Uint8Array(0), id), { code: 'range' });
  assert.throws(() => recipe.sealBatch(records.subarray(1), id), { code: 'argument' });
});

test('memory grows for a large batch and everything works on', async () => {
  const core = await load();
  const recipe = core.recipe(wordsRecipe());
  const record = recipe.randomizeBytes('fish', secret());
  const records = new Uint8Array(100_000 * recipe.recordSize);
  for (let i = 0; i < 100_000; i++) records.set(record, i * recipe.recordSize);
  const batch = recipe.sealBatch(records, new Uint8Array(16));
  assert.equal(recipe.openBatch(batch).count, 100_000);
  assert.equal(recipe.randomize('fish', secret()).length, recipe.textSize);
});

test('the ledger pays once, in bytes', async () => {
  const core = await load();
  const { send, ...plain } = wordsRecipe({ limit: { per_day: 2 } });
  const recipe = core.recipe(plain);
  let ledger = core.ledger.init(100);
  assert.throws(() => core.ledger.debit(ledger, recipe, 100), { code: 'fresh', number: 16 });
  ledger = core.ledger.debit(ledger, recipe, 101);
  assert.equal(core.ledger.refusal(ledger, recipe, 101), null);
  ledger = core.ledger.debit(ledger, recipe, 101);
  assert.equal(core.ledger.refusal(ledger, recipe, 101)?.code, 'budget');
  assert.equal(core.ledger.refusal(ledger, recipe, 101)?.code, 'budget');
  assert.throws(() => core.ledger.debit(ledger, recipe, 101), { code: 'budget', number: 15 });
  ledger = core.ledger.debit(ledger, recipe, 102);
  assert.deepEqual(core.ledger.spent(ledger, recipe, 0, 200), { count: 3, epsMicro: 12_000_000 });
  assert.throws(() => core.ledger.debit(ledger, recipe, 30_000), { code: 'expired' });
  const broken = ledger.slice();
  broken[40] ^= 1;
  assert.throws(() => core.ledger.debit(broken, recipe, 103), { code: 'ledger' });
  assert.throws(() => core.ledger.debit(new Uint8Array(0), recipe, 103), { code: 'ledger' });
});

test('none can be randomized in any domain, and not with permanent coins', async () => {
  const core = await load();
  const seed = () => Uint8Array.from({ length: 32 }, (_, i) => i);
  let kinds = 0;
  for (const { recipe: json } of vectors) {
    const recipe = core.recipe(json);
    if (recipe.isPermanent) {
      assert.throws(() => randomizeNone(recipe, seed()), { code: 'argument' }, json.mechanism);
    } else {
      const record = randomizeNone(recipe, seed());
      assert.equal(recipe.recordToText(recipe.recordFromText(record)), record, json.mechanism);
      // A list has a value of that kind already; fragments read the empty string as none.
      const isList = !recipe.isOpen && !recipe.isNumber && !json.variables && !json.encoding;
      if (isList && !/thresh/.test(json.mechanism))
        (assert.equal(record, recipe.randomize(null, seed()), json.mechanism), kinds++);
      if (json.mechanism === 'sfp') (assert.equal(record, recipe.randomize('', seed())), kinds++);
      assert.throws(() => randomizeNone(recipe, new Uint8Array(31)), { code: 'argument' });
    }
    core.release(recipe);
  }
  assert.ok(kinds >= 10, `${kinds}`);
  // "None" of an open domain is another string each time: in one row, all columns have their share.
  const open = core.recipe(
    wordsRecipe({ mechanism: 'olh', parameters: { epsilon: 12, k: 1, g: 8 } }),
  );
  const columns = new Set();
  for (let i = 0; i < 200; i++)
    columns.add(randomizeNone(open, crypto.getRandomValues(new Uint8Array(32))));
  const one = new Set();
  for (let i = 0; i < 200; i++)
    one.add(open.randomize('cod', crypto.getRandomValues(new Uint8Array(32))));
  assert.ok(columns.size > one.size, `${columns.size} records of none, ${one.size} of a word`);
  core.release(open);
});

test('a recipe says what it picks, and from which window', async () => {
  const core = await load();
  const send = (/** @type {any} */ more) =>
    core.recipe(wordsRecipe({ send: { delay_s: 0, ...more } })).send;
  assert.deepEqual([send({}).pick, send({}).window], ['first', null]);
  for (const window of ['visit', 'day']) {
    const { pick, window: own } = send({ pick: 'uniform', window });
    assert.deepEqual([pick, own], ['uniform', window]);
  }
});
