// SPDX-License-Identifier: Apache-2.0
// Runs over epochs are answered in WebAssembly as in the native build: tests/core/run_vectors.json, step by step.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load } from '../../bindings/node.js';
import { Run } from '../../bindings/run_core.js';

/** @type {any[]} */
const steps = JSON.parse(
  await readFile(new URL('../../../tests/core/run_vectors.json', import.meta.url), 'utf8'),
);
const core = await load();

test('runs are answered as the native build answers them', () => {
  let state = /** @type {Uint8Array} */ (new Uint8Array());
  const refusals = new Set();
  for (const [
    i,
    {
      recipe: json,
      starts,
      data,
      first_seed_byte: first,
      run_hash: hash,
      refusal,
      record,
      state: digest,
    },
  ] of steps.entries()) {
    const recipe = core.recipe(json);
    const run = new Run(/** @type {any} */ (recipe));
    assert.equal(run.hash, hash);
    if (starts) state = run.start();
    const seed = Uint8Array.from({ length: 32 }, (_, at) => (first + at) & 255);
    const answer = run.isNumber
      ? run.answerNumber(state, data === null ? null : BigInt(data), seed)
      : run.answerCounts(
          state,
          new Map(
            Object.entries(data ?? {}).map(([value, count]) => [run.item(value), Number(count)]),
          ),
          seed,
        );
    state = answer.state;
    assert.deepEqual(
      [
        answer.refusal ?? 'accepted',
        answer.record ?? '',
        createHash('sha256').update(state).digest('hex'),
      ],
      [refusal, record, digest],
      `step ${i}`,
    );
    refusals.add(refusal);
    core.release(recipe);
  }
  assert.deepEqual([...refusals].sort(), ['accepted', 'answered', 'first', 'follows', 'late']);
});
