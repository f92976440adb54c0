// SPDX-License-Identifier: Apache-2.0
// shoal recipe check and hash of a site's recipe set: sums, shared accounts, what exceeds a budget, what is refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv/dist/2020.js';
import { makeCli } from './cli_helpers.mjs';

const cli = makeCli('recipe-set');
const { bad, good, read, write } = cli;
after(() => cli.release());

const make = (/** @type {string} */ id, /** @type {string[]} */ ...more) => {
  const file = `${id}.json`;
  good(
    'recipe',
    'new',
    '--id',
    id,
    '--size',
    '8',
    '--mechanism',
    'onehot-asymmetric',
    '--expires',
    '2099-01-01',
    ...more,
    '-o',
    file,
  );
  return JSON.parse(read(file));
};
const a = make('a', '--analysis', 'one', '--epsilon', '2', '--per-day', '2');
const b = make('b', '--analysis', 'one', '--epsilon', '1', '--per-day', '3');
const c = make('c', '--analysis', 'two', '--epsilon', '0.5');
const set = { budget: { epsilon: 170, days: 30 }, recipes: [a, b, c] };
const isSet = new Ajv({ strict: false }).compile(
  JSON.parse(
    readFileSync(
      fileURLToPath(new URL('../../../docs/schema/recipe_set.schema.json', import.meta.url)),
      'utf8',
    ),
  ),
);

test('a set costs what its recipes can spend together; a shared analysis is said', () => {
  write('set.json', set);
  const { text } = good('recipe', 'check', 'set.json');
  assert.match(text, /^recipe +a: 2 reports a day of epsilon 2 each$/m);
  assert.match(
    text,
    /^shared +(a and b|b and a) share the reports of analysis one: epsilon 5 a day together$/m,
  );
  assert.match(text, /^day +epsilon 5\.5 on each day/m);
  assert.match(text, /^budget +epsilon 170 in any 30 days$/m);
  assert.match(text, /^within +its budget; epsilon 5 is left$/m);
  assert.ok(isSet(set));
});

test('a set that exceeds its budget is refused with exit code 1, and says by how much', () => {
  write('large.json', { ...set, budget: { epsilon: 164.999999, days: 30 } });
  const { out } = refused('recipe', 'check', 'large.json');
  assert.match(out, /^refused +exceeds its budget by epsilon 1e-06$/m);
  write('exact.json', { ...set, budget: { epsilon: 165, days: 30 } });
  assert.match(good('recipe', 'check', 'exact.json').text, /epsilon 0 is left/);
});

/** Runs a command that prints, and exits with 1. @param {...string} args */
function refused(...args) {
  const run = cli.run(...args);
  assert.equal(run.code, 1, run.err);
  return { out: run.text };
}

test('--budget sums up recipes of files of their own; without it nothing is capped', () => {
  assert.match(
    good('recipe', 'check', '--budget', '165/30', 'a.json', 'b.json', 'c.json').text,
    /epsilon 0 is left\n$/,
  );
  assert.match(
    refused('recipe', 'check', '--budget', '164/30', 'a.json', 'b.json', 'c.json').out,
    /exceeds its budget by epsilon 1\n$/,
  );
  assert.match(good('recipe', 'check', 'a.json').text, /^budget +uncapped: [^\n]*\n$/m);
  write('free.json', { recipes: [a] });
  assert.match(good('recipe', 'check', 'free.json').text, /^budget +uncapped/m);
  for (const budget of ['40', '40/0', '0/30', '40/366', '40/1.5', 'x/3', '-1/3', '1000001/3'])
    bad(2, /--budget must be/, 'recipe', 'check', '--budget', budget, 'a.json');
  const twice = cli.run('recipe', 'check', '--budget', '40/30', 'a.json', 'a.json');
  assert.equal(twice.code, 2);
  assert.match(twice.err, /a\.json is twice in the set/);
});

test("neither order nor spelling changes a set's hash; everything else does", () => {
  const hash = (/** @type {any} */ json) => {
    write('one.json', json);
    return good('recipe', 'hash', 'one.json').text.trim();
  };
  const own = hash(set);
  assert.match(own, /^[0-9a-f]{64}$/);
  assert.equal(
    hash(JSON.stringify({ recipes: [c, a, b], budget: { days: 30, epsilon: 170 } }, null, 7)),
    own,
  );
  const others = [
    { recipes: set.recipes },
    { ...set, budget: { epsilon: 171, days: 30 } },
    { ...set, budget: { epsilon: 170, days: 31 } },
    { ...set, recipes: [a, b] },
    { ...set, recipes: [a, b, { ...c, expires: '2098-01-01' }] },
  ].map(hash);
  assert.equal(new Set([own, ...others]).size, 6);
});

test('what is no set is refused by name and place', () => {
  for (const [json, says] of /** @type {[any, RegExp][]} */ ([
    [{ ...set, more: 1 }, /more is not a member/],
    [{ ...set, recipes: [a, a] }, /recipes\[1\] is twice/],
    [{ ...set, recipes: [a, { ...b, mechanism: 'x' }] }, /recipes\[1\]: mechanism/],
    [{ ...set, recipes: {} }, /recipes must be a list/],
    [{ ...set, runs: [a] }, /runs\[0\] is no run/],
    [{ ...set, budget: { epsilon: 1 } }, /budget must have epsilon and days/],
    [{ ...set, budget: { epsilon: 0, days: 3 } }, /budget must be an epsilon/],
    [{ ...set, budget: { epsilon: 1, days: 3.5 } }, /budget must be an epsilon/],
    [{ ...set, policy: {} }, /policy/],
    [`{"recipes":[],"recipes":[]}`, /recipes is given twice/],
  ])) {
    write('bad.json', json);
    bad(2, says, 'recipe', 'check', 'bad.json');
    bad(2, says, 'recipe', 'hash', 'bad.json');
  }
});
