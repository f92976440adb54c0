// SPDX-License-Identifier: Apache-2.0
// Pages that nobody looks at, or that no person drives: nothing is spent, stored or sent in them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryLocks, memoryStorage } from '../../client/memory_storage.js';
import { codes, makeClient, settle, wordsRecipe } from '../fixtures.mjs';

/** @param {any} storage */
const stateOf = (storage) =>
  storage.transaction(async (/** @type {any} */ tx) =>
    Object.fromEntries(await tx.entries('state')),
  );

/** Storage of a person who agreed on an earlier page, with a record that waits. */
async function earlier() {
  const storage = memoryStorage();
  const { client } = await makeClient({ storage });
  await client.consent.grant();
  await client.record('typed-words', 'waits');
  client.close();
  return storage;
}

test('a browser that a program drives sends and spends nothing, and says so', async () => {
  const storage = await earlier();
  const before = await stateOf(storage);
  let isAutomated = true;
  let loads = 0;
  const { load } = await import('../../bindings/node.js');
  const { client, edge } = await makeClient({
    storage,
    automated: () => isAutomated,
    wasm: () => (loads++, load()),
  });
  assert.equal(client.consent.state, 'granted');
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['automated']);
  assert.deepEqual(codes(await client.type('a b')), ['automated']);
  assert.equal(await client.consent.grant(), 'granted');
  await client.flush();
  await settle();
  assert.equal(edge.requests.length + loads, 0);
  assert.deepEqual(await stateOf(storage), before, 'the budget is untouched');
  const [why] = await client.explain();
  assert.equal(why.code, 'automated');
  assert.match(why.text, /driven by a program/);
  isAutomated = false;
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued']);
  await client.flush();
  assert.equal(edge.requests.length, 2);
});

test('a page that is loaded ahead stores, sends and spends nothing before it is shown', async () => {
  /** @type {() => void} */
  let show = () => {};
  const activation = () =>
    /** @type {Promise<void>} */ (new Promise((resolve) => (show = resolve)));
  const storage = await earlier();
  const before = await stateOf(storage);
  const { client, edge } = await makeClient({ storage, activation });
  assert.equal(client.consent.state, 'granted', 'what was decided is known');
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['prerendered']);
  await client.flush();
  await settle();
  assert.deepEqual(await stateOf(storage), before);
  assert.equal(edge.requests.length, 0);
  assert.deepEqual(codes(await client.explain()), ['prerendered']);
  show();
  for (let i = 0; i < 200 && !edge.requests.length; i++) await settle();
  assert.equal(edge.requests.length, 1, 'what waited');
  assert.deepEqual(codes(await client.record('typed-words', 'a')), ['queued']);
});

test('a decision of a page that is loaded ahead waits until it is shown', async () => {
  /** @type {() => void} */
  let show = () => {};
  const activation = () =>
    /** @type {Promise<void>} */ (new Promise((resolve) => (show = resolve)));
  const storage = memoryStorage();
  const { client } = await makeClient({ storage, activation });
  const granting = client.consent.grant();
  await settle();
  assert.equal(await storage.open(false), false, 'no database');
  show();
  assert.equal(await granting, 'granted');

  const gpc = await makeClient({ storage, activation, gpc: () => true });
  await settle();
  assert.equal((await stateOf(storage)).consent, 'granted', 'also that of the browser');
  show();
  await settle();
  assert.equal((await stateOf(storage)).consent, 'withdrawn');
  gpc.client.close();
});

test('a page that comes back from the cache learns that consent was withdrawn', async (t) => {
  const target = new EventTarget();
  const globals = /** @type {any} */ (globalThis);
  globals.addEventListener = target.addEventListener.bind(target);
  t.after(() => delete globals.addEventListener);
  const storage = await earlier();
  const locks = memoryLocks();
  const cached = await makeClient({ storage, locks });
  assert.equal(cached.client.consent.state, 'granted');
  const other = await makeClient({ storage, locks });
  await other.client.consent.withdraw();
  assert.deepEqual(codes(await cached.client.record('typed-words', 'a')), ['no-consent']);
  const sent = cached.edge.requests.length;
  target.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  await settle();
  assert.equal(cached.client.consent.state, 'withdrawn');
  await cached.client.flush();
  assert.equal(cached.edge.requests.length, sent);
  // It learns of a new consent in the same way.
  await other.client.consent.grant();
  target.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  await settle();
  assert.equal(cached.client.consent.state, 'granted');
});
