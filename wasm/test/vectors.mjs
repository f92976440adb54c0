// SPDX-License-Identifier: Apache-2.0
// The recipes behind tests/core/vectors_records.json, as tests/core/test_recipes.h builds them.

/** @param {any} v a line of the file */
export const vectorRecipe = (v) => ({
  recipe: 'vector', analysis: 'test', stream: 's', value: 'word', mechanism: v.mechanism, limit: { per_day: 1 },
  expires: '2030-01-01',
  ...(v.k
    ? { parameters: { epsilon: v.epsilon_micro / 1e6, k: v.k, m: v.m }, hash: 'poly1', seed: '00112233445566778899aabbccddeeff'.repeat(2) }
    : { parameters: { epsilon: v.epsilon_micro / 1e6, size: v.m } }),
});
