// SPDX-License-Identifier: Apache-2.0
// The option `debug` tells an event's way and changes nothing: the same bytes leave, the same bytes
// are stored, and the same randomness is drawn in the same order.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { makeClient, wordsRecipe } from '../fixtures.mjs';

/** Randomness of a counter, and how much each draw took. */
function counted() {
  /** @type {number[]} */
  const draws = [];
  const random = (/** @type {Uint8Array} */ bytes) => {
    const block = createHash('shake256', { outputLength: bytes.length });
    bytes.set(block.update(String(draws.length)).digest());
    draws.push(bytes.length);
  };
  return { draws, random };
}

/** @param {boolean} debug */
async function day(debug) {
  const { draws, random } = counted();
  const recipe = wordsRecipe({ limit: { per_day: 2 }, send: { fresh: 'allow', delay_s: 60 } });
  const { client, edge, clock, storage } = await makeClient({ debug, random, recipes: [recipe] });
  edge.answers.push(503, 404);
  await client.record('typed-words', 'secretword');
  await client.consent.grant();
  for (const word of ['secretword', '!', 'coral', 'reef']) await client.record('typed-words', word);
  await clock.advance(600_000);
  const stored = await storage.transaction((/** @type {any} */ tx) =>
    Promise.all([tx.entries('state'), tx.entries('queue'), tx.entries('done')]),
  );
  client.close();
  const sent = edge.requests.map(({ url, init, body }) => [url, init.headers, body]);
  return { draws, sent, stored };
}

test('debug tells the way of an event, and neither value nor record; nothing else changes', async (t) => {
  /** @type {string[]} */
  const lines = [];
  const plain = await day(false);
  t.mock.method(console, 'info', (/** @type {string} */ line) => void lines.push(line));
  const debugged = await day(true);
  t.mock.restoreAll();
  assert.deepEqual(debugged, plain);
  assert.ok(plain.sent.length >= 2);
  const text = lines.join('\n');
  for (const expected of [
    /event 1 .*\[no-consent\]/,
    /event 2 .*consent: given/,
    /event 2 .*coin: /,
    /event 2 .*budget: paid/,
    /event 2 .*randomized: /,
    /event 2 .*queued: delayed/,
    /event 5 .*budget: stopped.*\[budget\]/,
    /report .* POST https:\/\/edge\.example\/v1\/reports/,
    /answer: 503/,
    /mend it: shoal recipe hash/,
    /\[edge-missing\]/,
  ])
    assert.match(text, expected);
  assert.doesNotMatch(text, /secretword|coral|reef/);
  for (const [, , { records }] of plain.sent) assert.ok(!text.includes(records[0]));
});
