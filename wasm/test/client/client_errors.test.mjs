// SPDX-License-Identifier: Apache-2.0
// Errors keep their cause: a wrong argument names the argument, a storage failure carries the error
// behind it, and a defect of the program is never told as a failure of storage.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../../bindings/node.js';
import { start } from '../../client/loader.js';
import { memoryStorage } from '../../client/memory_storage.js';
import { ENDPOINT, codes, epochRecipe, makeClient, wordsRecipe } from '../fixtures.mjs';
import { askedClient, phrases, signed } from '../query_fixtures.mjs';

/** What explain() says under a code. @param {any} client @param {string} code */
const reason = async (client, code) =>
  (await client.explain()).find((/** @type {any} */ each) => each.code === code);

/** A storage whose transactions fail while `error` is set, the whole of them or one call. @param {'transaction' | 'put'} part */
function failingStorage(part) {
  const inner = memoryStorage();
  /** @type {{error: Error | null, storage: import('../../client/storage.js').Storage}} */
  const made = {
    error: null,
    storage: {
      ...inner,
      transaction: async (task) => {
        if (made.error && part === 'transaction') throw made.error;
        return inner.transaction((tx) =>
          task({
            ...tx,
            put: async (...args) => {
              if (made.error) throw made.error;
              return tx.put(...args);
            },
          }),
        );
      },
    },
  };
  return made;
}

test('observe names the argument that is wrong, and notes nothing', async () => {
  const { client } = await makeClient();
  await client.consent.grant();
  const element = /** @type {any} */ ({ addEventListener() {} });
  for (const [args, field, message] of /** @type {[any[], string, RegExp][]} */ ([
    [[null], 'element', /^observe: element must be a DOM element, not null$/],
    [[undefined], 'element', /not undefined$/],
    [['#notes'], 'element', /not string$/],
    [[{}], 'element', /not object$/],
    [[element, 'word'], 'take', /^observe: take must be a function, not string$/],
    [[element, null], 'take', /not null$/],
  ])) {
    const call = () => /** @type {any} */ (client).observe(...args);
    assert.throws(call, { name: 'ShoalError', code: 'argument', field, message });
  }
  assert.deepEqual(await client.explain(), []);
});

test('the loader refuses a wrong element at once, before there is a client', () => {
  const shoal = start({ endpoint: ENDPOINT, recipes: [], gpc: () => false });
  const call = () => shoal.observe(/** @type {any} */ (null));
  assert.throws(call, { name: 'TypeError', message: /element must be a DOM element/ });
});

test('a storage failure carries its cause, whichever call of storage failed', async () => {
  for (const part of /** @type {const} */ (['transaction', 'put'])) {
    const failing = failingStorage(part);
    const { client } = await makeClient({ storage: failing.storage });
    await client.consent.grant();
    const quota = new Error('quota exceeded');
    failing.error = quota;
    assert.deepEqual(await client.record('typed-words', 'fish'), [
      { recipe: 'words', code: 'storage' },
    ]);
    assert.equal((await reason(client, 'storage')).cause, quota, part);
    await assert.rejects(client.consent.withdraw(), {
      name: 'ShoalError',
      code: 'storage',
      message: 'the decision is not stored',
      cause: quota,
    });
    failing.error = null;
  }
});

test('a lock that fails is a storage failure with its cause', async () => {
  const denied = new Error('locks are denied');
  const locks = { request: () => Promise.reject(denied) };
  const { client } = await makeClient({ locks });
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'fish')), ['storage']);
  assert.equal((await reason(client, 'storage')).cause, denied);
});

test('an error of the program is told as such, with its cause, wherever it is thrown', async () => {
  const defect = new TypeError('x is not a function');
  const thrower = () => {
    throw defect;
  };
  // While it randomizes.
  let isBroken = false;
  const random = (/** @type {Uint8Array} */ bytes) =>
    isBroken ? thrower() : void crypto.getRandomValues(bytes);
  const drawing = await makeClient({ random });
  await drawing.client.consent.grant();
  isBroken = true;
  assert.deepEqual(codes(await drawing.client.record('typed-words', 'fish')), ['failed']);
  // Inside of a transaction.
  const broken = await load();
  broken.ledger.debit = thrower;
  const debiting = await makeClient({ wasm: async () => broken });
  await debiting.client.consent.grant();
  assert.deepEqual(codes(await debiting.client.record('typed-words', 'fish')), ['failed']);
  for (const { client } of [drawing, debiting]) {
    assert.equal((await reason(client, 'failed')).cause, defect);
    assert.equal(await reason(client, 'storage'), undefined);
  }
});

test('the same of queries and of runs', async () => {
  const defect = new TypeError('x is not a function');
  let isBroken = false;
  const random = (/** @type {Uint8Array} */ bytes) => {
    if (isBroken) throw defect;
    crypto.getRandomValues(bytes);
  };
  const asked = await askedClient({ random });
  const followed = await makeClient({ random, runs: [epochRecipe()], recipes: [] });
  await followed.client.consent.grant();
  await followed.client.track.optIn('settings');
  isBroken = true;
  assert.deepEqual(codes(await asked.client.ask([signed(phrases())])), ['failed']);
  assert.deepEqual(codes(await followed.client.track.answer([epochRecipe()])), ['failed']);
  for (const { client } of [asked, followed]) {
    assert.equal((await reason(client, 'failed')).cause, defect);
    assert.equal(await reason(client, 'storage'), undefined);
  }
});

test('a recipe that is no object is refused as a recipe, and the others work', async () => {
  const { client } = await makeClient({ recipes: [null, wordsRecipe(), 7] });
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('typed-words', 'fish')), ['queued']);
  assert.deepEqual(codes(await client.explain()), ['recipe-refused']);
});

test('a module that does not load is told with the error behind it', async () => {
  const missing = new Error('HTTP 404');
  const { client } = await makeClient({ wasm: () => Promise.reject(missing) });
  await client.consent.grant();
  assert.equal((await reason(client, 'core-missing')).cause, missing);
});
