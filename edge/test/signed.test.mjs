// SPDX-License-Identifier: Apache-2.0
// Signed recipes on both runtimes: each verifies by its own WebCrypto, and publishes the recipe with its signature.

import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import { signedBytes } from 'shoal-client/signature';
import { startEdge } from './runtimes.mjs';
import { makeRecipe, recipeJson } from './support.mjs';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
const other = 'ab'.repeat(32);
const { hash, ...recipe } = await makeRecipe().then((made) => ({
  hash: made.hash,
  bytes: signedBytes(made),
}));
const signature = { key, ed25519: sign(null, recipe.bytes, privateKey).toString('hex') };
const signed = { hash, json: recipeJson({ signature }) };
const forged = {
  hash,
  json: recipeJson({ signature: { ...signature, ed25519: '00'.repeat(64) } }),
};

for (const runtime of /** @type {const} */ (['node', 'workerd'])) {
  test(`${runtime}: a recipe that a known key signed is collected and published`, async (t) => {
    const edge = await startEdge(t, runtime, {
      recipes: [signed],
      aggregator: 'http://127.0.0.1:1',
      limits: { recipe_keys: [other, key] },
    });
    const response = await fetch(`${edge.url}/v1/recipes/${hash}`);
    assert.equal(response.status, 200);
    assert.deepEqual((await response.json()).signature, signature);
  });
}

test('workerd: with a recipe that no known key signed nothing is served', async (t) => {
  for (const [recipe, keys] of [
    [signed, [other]],
    [forged, [key]],
  ]) {
    const edge = await startEdge(t, 'workerd', {
      recipes: [recipe],
      aggregator: 'http://127.0.0.1:1',
      limits: { recipe_keys: keys },
    });
    assert.equal((await fetch(`${edge.url}/v1/recipes/${hash}`)).status, 500);
  }
});
