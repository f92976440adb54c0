// SPDX-License-Identifier: Apache-2.0
// Signatures of recipes in JavaScript: a file that the command signed (tests/aggregator reads it too), every way to break it,
// and a client that takes signed recipes only.
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Core } from '../../bindings/device.js';
import { load } from '../../bindings/node.js';
import { signedBytes, verifySignature } from '../../bindings/signature.js';
import { codes, makeClient, wordsRecipe } from '../fixtures.mjs';

const HASH = '9b29fef2b01020ec787247541d54ca36c7e2ee5215327bd5085f78d6e98524d0'; // as the command prints it
const text = await readFile(
  new URL('../../../tests/aggregator/golden/signed.json', import.meta.url),
  'utf8',
);
const signed = JSON.parse(text);
const { key, ed25519 } = signed.signature;
const other = 'ab'.repeat(32);
const page = await Core.create(
  await WebAssembly.compile(await readFile(new URL('../../dist/shoal.wasm', import.meta.url))),
);

/** What verifySignature says of a JSON, or the core's error. @param {Core} core @param {any} json @param {any} [keys] */
async function judge(core, json, keys = [key]) {
  let recipe;
  try {
    recipe = core.recipe(json);
  } catch (error) {
    return /** @type {any} */ (error).code;
  }
  const code = await verifySignature(recipe, keys);
  core.release(recipe);
  return code;
}

test('a signed file is verified, by both modules, and has the hash that it has unsigned', async () => {
  const { signature, ...fields } = signed;
  for (const core of [page, await load()]) {
    assert.equal(await judge(core, text), null);
    assert.equal(await judge(core, signed, [other, key]), null);
    assert.equal(await judge(core, signed, [other]), 'unknown-key');
    assert.equal(await judge(core, fields), 'no-signature');
    for (const keys of [[], key, undefined, {}])
      assert.equal(await judge(core, signed, keys ?? null), 'unknown-key');
    for (const json of [signed, fields]) {
      const recipe = core.recipe(json);
      assert.equal(recipe.hash, HASH);
      core.release(recipe);
    }
  }
});

/** @param {string} hex @param {number} bit */
const flip = (hex, bit) => {
  const bytes = Buffer.from(hex, 'hex');
  bytes[bit >> 3] ^= 1 << (bit & 7);
  return bytes.toString('hex');
};

test('every flipped bit of signature and key is refused', async () => {
  for (let bit = 0; bit < 512; bit++) {
    assert.equal(
      await judge(page, { ...signed, signature: { key, ed25519: flip(ed25519, bit) } }),
      'bad-signature',
      String(bit),
    );
  }
  for (let bit = 0; bit < 256; bit++) {
    const json = { ...signed, signature: { key: flip(key, bit), ed25519 } };
    assert.equal(await judge(page, json), 'unknown-key');
    // The host knows the flipped key: then it did not sign this. WebCrypto may refuse what is no point of the curve at once.
    assert.match(
      String(await judge(page, json, [json.signature.key])),
      /^(bad-signature|no-ed25519)$/,
      String(bit),
    );
  }
});

/** A recipe for each scalar, that one changed. @param {any} json @param {(changed: any) => any} whole @returns {Generator<[string, any]>} */
function* changes(json, whole, path = '') {
  for (const [name, value] of Object.entries(json)) {
    if (path + name === 'signature') continue;
    const put = (/** @type {any} */ changed) => whole({ ...json, [name]: changed });
    if (Array.isArray(value)) {
      yield [path + name, put([...value].reverse())];
      yield [path + name, put([...value, 'ruffe'])];
      yield [path + name, put(value.slice(1))];
    } else if (typeof value === 'object') {
      yield* changes(value, put, `${path}${name}.`);
    } else if (typeof value === 'number') {
      for (const changed of [value + 1, value * 2, value / 2]) yield [path + name, put(changed)];
    } else {
      for (const changed of [
        `${value}x`,
        value.slice(1),
        value.replace(/\d/, (/** @type {string} */ d) => String((Number(d) + 1) % 10)),
        value.replace(/\d$/, (/** @type {string} */ d) => String((Number(d) + 1) % 10)),
        ...['wait', 'NFC', 'lower', 'cms', 'word', '1e-8'],
      ].filter((changed) => changed !== value))
        yield [path + name, put(changed)];
    }
    if (typeof value !== 'object' || Array.isArray(value)) {
      const { [name]: _, ...without } = json;
      yield [path + name, whole(without)];
    }
  }
}

test('every changed field is refused', async () => {
  const bad = new Set();
  const all = new Set();
  for (const [path, json] of changes(signed, (json) => json)) {
    const code = await judge(page, json);
    assert.notEqual(code, null, `${path}: ${JSON.stringify(json)}`);
    all.add(path);
    if (code === 'bad-signature') bad.add(path);
  }
  assert.equal(all.size, 26);
  // Others are refused by the core before: of this list no other mechanism, value or hash makes a recipe.
  for (const path of all) if (!['mechanism', 'hash'].includes(path)) assert.ok(bad.has(path), path);
});

test('a signature is over the title and the canonical bytes, by whoever makes it', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const json = wordsRecipe();
  const own = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
  const bytes = signedBytes(page.recipe(json));
  assert.match(
    Buffer.from(bytes).toString('latin1'),
    /^shoal recipe signature 1\nshoal recipe 1\n\0\x01\0\0\0\x05words/,
  );
  const signature = { ed25519: sign(null, bytes, privateKey).toString('hex'), key: own };
  assert.equal(await judge(page, { signature, ...json }, [own]), null);
  const bare = { ed25519: sign(null, bytes.subarray(25), privateKey).toString('hex'), key: own };
  assert.equal(await judge(page, { ...json, signature: bare }, [own]), 'bad-signature');
});

test('malformed signatures are refused by name, whether or not somebody asks for one', async () => {
  /** @type {[any, RegExp][]} */
  const table = [
    [1, /^signature: /],
    ['x', /^signature: /],
    [null, /^signature: /],
    [[], /^signature: /],
    [{}, /^signature: /],
    [{ key }, /^signature: (.*absent|missing-field)/], // a page's module has no sentences
    [{ ed25519 }, /^signature: (.*absent|missing-field)/],
    [{ key: key.slice(1), ed25519 }, /^signature\.key: /],
    [{ key: key.toUpperCase(), ed25519 }, /^signature\.key: /],
    [{ key: ed25519, ed25519 }, /^signature\.key: /],
    [{ key, ed25519: key }, /^signature\.ed25519: /],
    [{ key, ed25519: `${ed25519}00` }, /^signature\.ed25519: /],
    [{ key, ed25519: `${ed25519.slice(1)}g` }, /^signature\.ed25519: /],
    [{ key: 7, ed25519 }, /^signature\.key: /],
    [{ key: [key], ed25519 }, /^signature\.key: /],
    [{ key: { key }, ed25519 }, /^signature\.key\.key: /],
    [{ key, ed25519, by: 'us' }, /^signature\.by: /],
  ];
  for (const core of [page, await load()]) {
    for (const [signature, message] of table)
      assert.throws(() => core.recipe({ ...signed, signature }), { name: 'ShoalError', message });
    assert.throws(
      () =>
        core.recipe({
          ...signed,
          parameters: { ...signed.parameters, signature: signed.signature },
        }),
      { code: 'unknown-field' },
    );
    assert.equal(core.recipe(signed).hash, HASH, 'and none of them is left in a slot');
  }
});

test('without Ed25519, or without WebCrypto, nothing is verified', async () => {
  const recipe = page.recipe(signed);
  const old = /** @type {any} */ ({
    importKey: async () => {
      throw new DOMException('unrecognized name', 'NotSupportedError');
    },
  });
  assert.equal(await verifySignature(recipe, [key], old), 'no-ed25519');
  assert.equal(await verifySignature(recipe, [key], /** @type {any} */ (null)), 'no-ed25519');
  page.release(recipe);
});

test('a client with keys takes what they signed, and explains the rest', async () => {
  const fresh = { ...signed, send: { fresh: 'allow', delay_s: 0 } };
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const own = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
  /** @param {any} json */
  const byUs = (json) => ({
    ...json,
    signature: {
      key: own,
      ed25519: sign(null, signedBytes(page.recipe(json)), privateKey).toString('hex'),
    },
  });
  const good = byUs(wordsRecipe());
  const recipes = [
    good,
    wordsRecipe({ recipe: 'unsigned' }),
    { ...signed, recipe: 'forged', signature: { key: own, ed25519 } },
    fresh,
  ];
  const { client, edge } = await makeClient({ recipes, keys: [own] });
  await client.consent.grant();
  assert.deepEqual(await client.record('typed-words', 'cod'), [
    { recipe: 'words', code: 'queued' },
  ]);
  assert.deepEqual(codes(await client.record('seen', 'cod')), ['unknown-stream']);
  await client.flush();
  assert.equal(edge.requests.length, 1);
  const reasons = (await client.explain()).map(({ code, recipe, text }) => [
    code,
    recipe,
    typeof text,
  ]);
  assert.deepEqual(reasons.filter(([code]) => code !== 'unknown-stream').sort(), [
    ['bad-signature', 'forged', 'string'],
    ['no-signature', 'unsigned', 'string'],
    ['unknown-key', 'signed-1', 'string'],
  ]);
  client.close();
  const free = await makeClient({ recipes: [good, wordsRecipe({ recipe: 'unsigned' })] });
  await free.client.consent.grant();
  assert.deepEqual(codes(await free.client.record('typed-words', 'cod')), ['queued', 'queued']);
  free.client.close();
  const none = await makeClient({ recipes: [good], keys: [] });
  await none.client.consent.grant();
  assert.deepEqual(
    codes(await none.client.record('typed-words', 'cod')),
    ['unknown-key'],
    'no key, no recipe',
  );
  none.client.close();
});
