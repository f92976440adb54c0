// SPDX-License-Identifier: Apache-2.0
// Each property for a second, with a fixed and a fresh seed; the campaign `random` runs them for
// hours. And what fails is told with its input: a property that is wrong on purpose is found.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { check, properties } from './run.mjs';

const SECONDS = process.env.SHOAL_LONG === '1' ? 10 : 0.5;
const program = fileURLToPath(new URL('run.mjs', import.meta.url));

for (const property of properties)
  test(property.name, async (t) => {
    for (const seed of [7, randomInt(2 ** 31 - 1)]) {
      const { runs, failure } = await check(property, seed, SECONDS);
      assert.equal(failure, null, `seed ${seed}: ${failure}`);
      assert.ok(runs > 0);
      t.diagnostic(`${runs} runs with seed ${seed}`);
    }
  });

test('a property that does not hold is found, and its input is made small', async () => {
  const wrong = fc.asyncProperty(fc.uint8Array(), async (bytes) => !bytes.includes(200));
  const { failure } = await check({ name: 'wrong', wanted: 1, make: async () => wrong }, 7, 20);
  assert.match(String(failure), /seed: 7/);
  assert.match(String(failure), /Counterexample: \[Uint8Array\.from\(\[200\]\)\]/);
});

test('the command lists the properties, runs one and refuses what is none', () => {
  /** @param {string[]} args */
  const run = (...args) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  assert.equal(run().stdout.trim().split('\n').length, properties.length);
  const { status, stdout } = run('binary HTTP', '3', '0.2');
  assert.equal(status, 0);
  assert.match(stdout, /^\d+ runs$/m);
  assert.equal(run('nothing', '3', '1').status, 2);
  assert.equal(run('binary HTTP', 'x', '1').status, 2);
});
