// SPDX-License-Identifier: Apache-2.0
// The models hold over their whole state space, each planted bug is found, and the page lists them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codes, read, tableBelow } from '../docs/markdown.mjs';
import { check, ENDS, models, runs, timeLimit, verdict } from './check.mjs';

test('models', { concurrency: 2 }, async (t) => {
  await Promise.all(
    runs(false).map((asked) =>
      t.test(asked.name, async () => {
        const result = await check(asked, timeLimit(!!process.env.SHOAL_LONG));
        assert.equal(verdict(asked, result), null);
        // A search of a handful of states would mean that the model is blocked at its start.
        if (asked.breaks === null) assert.ok(result.states > 10_000, `${result.states} states`);
      }),
    ),
  );
});

test('every bug that a model can plant is planted, and its page lists it', () => {
  const rows = tableBelow(read('docs/model.md'), 'The planted bugs').map(([macro, ...texts]) => [
    codes(macro)[0],
    ...texts,
  ]);
  const expected = Object.values(models).flatMap(({ bugs }) =>
    bugs.map(({ name, says, breaks }) => [name, says, breaks]),
  );
  assert.deepEqual(rows, expected);
  for (const [model, { bugs }] of Object.entries(models)) {
    const macros = [...read(`tests/model/${model}.pml`).matchAll(/^#ifn?def BUG_(\w+)$/gm)];
    assert.deepEqual(
      [...new Set(macros.map(([, name]) => name))].sort(),
      bugs.map(({ name }) => name).sort(),
    );
  }
});

test('every property of a model is broken by one of its bugs', () => {
  for (const [model, { bugs }] of Object.entries(models)) {
    const source = read(`tests/model/${model}.pml`).replace(/#define MUST[^]*?\n\n/, '');
    const calls = [...source.matchAll(/\bMUST\(/g)];
    const properties = [...source.matchAll(/\bMUST\([^;]*?,\s+([a-z ]+)\)/g)];
    assert.equal(properties.length, calls.length);
    assert.deepEqual(
      [...new Set(properties.map(([, property]) => property))].sort(),
      [...new Set(bugs.map(({ breaks }) => breaks))].filter((name) => name !== ENDS).sort(),
    );
  }
});
