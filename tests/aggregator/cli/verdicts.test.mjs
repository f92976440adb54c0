// SPDX-License-Identifier: Apache-2.0
// What recipes promise a person, in words: recipe check prints it, and recipe new warns of what is weak, of runs and tries that
// will see almost nothing, and refuses what has expired.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeCli, sketch } from './cli_helpers.mjs';

const { bad, good, read, release, write } = makeCli('verdicts');
after(release);

const inDays = (/** @type {number} */ days) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const base = ['recipe', 'new', '--id', 'fish'];

/** The words of each verdict. @param {object} recipe */
function verdicts(recipe) {
  write('r.json', recipe);
  const { text } = good('recipe', 'check', 'r.json');
  return Object.fromEntries(
    [...text.matchAll(/^verdict, (\w+) +(.*?):(.*)$/gm)].map(([, what, words]) => [what, words]),
  );
}

/** @param {number} epsilon @param {object} [more] */
const recipe = (epsilon, more) =>
  sketch({
    parameters: { epsilon, k: 4, m: 64 },
    limit: { per_day: 1 },
    expires: inDays(9),
    ...more,
  });

test('recipe check says what a report, a day and the life promise', () => {
  assert.deepEqual(verdicts(recipe(0.05)), { report: 'strong', day: 'strong', life: 'strong' });
  assert.deepEqual(verdicts(recipe(1)), { report: 'strong', day: 'strong', life: 'weak' });
  assert.deepEqual(verdicts(recipe(4, { limit: { per_day: 10_000 } })), {
    report: 'limited',
    day: 'no meaningful protection', // epsilon 40,000
    life: 'no meaningful protection',
  });
  assert.deepEqual(verdicts(recipe(4, { expires: '2020-01-01' })), {
    report: 'limited',
    day: 'limited',
  });
  const uniform = { fresh: 'allow', pick: 'uniform', window: 'day' };
  assert.deepEqual(verdicts(recipe(2, { send: uniform })), {
    report: 'moderate',
    window: 'moderate',
    life: 'no meaningful protection',
  });
  const { text } = good('recipe', 'check', 'r.json');
  assert.match(text, /^verdict, window .*, about all that was done in the day$/m);
  assert.match(text, /at most 88\.08 of 100 cases \(odds x 7\.4\)/);
});

test('recipe new warns of weak protection, and not of strong', () => {
  const weak = good(...base, '--epsilon', '6', '--expires', inDays(29), '-o', 'weak.json');
  assert.match(
    weak.err,
    /protection, by report: weak, by day: weak, over its 30 days: no meaningful protection;/,
  );
  const run = ['--mechanism', 'thresh', '--users', '20000', '--epochs', '100'];
  const enough = [...run, '--samples', '50000', '--expires', inDays(99)];
  assert.match(
    good(...base, ...enough, '--epsilon', '9', '-o', 'run.json').err,
    /protection, over all answers: weak;/,
  );
  const strong = good(...base, '--epsilon', '0.1', '--expires', inDays(3), '-o', 'strong.json');
  assert.doesNotMatch(strong.err, /protection/);
});

test('a run or a trie that will see almost nothing says so', () => {
  const run = ['--expires', inDays(99), '--epsilon', '4', '--epochs', '30'];
  const thresh = [...base, '--mechanism', 'thresh', ...run, '--users', '20000'];
  const heavy = [...base, '--mechanism', 'heavythresh', ...run, '--users', '1000000'];
  assert.match(good(...thresh, '--samples', '10').err, /will see nothing: no change is large/);
  assert.match(good(...thresh, '--samples', '400').err, /will see almost nothing: a change of up/);
  assert.match(good(...heavy, '--samples', '10').err, /see nothing: no change is large/);
  for (const enough of [thresh, heavy])
    assert.doesNotMatch(good(...enough, '--samples', '50000').err, /nothing/);
  const trie = [...base, '--mechanism', 'trie', '--expires', inDays(99)];
  assert.match(
    good(...trie, '--epsilon', '1', '--devices', '1000').err,
    /this trie will find almost nothing: about \d words? from 1000 devices/,
  );
  assert.doesNotMatch(good(...trie, '--epsilon', '4', '--devices', '10000000').err, /nothing/);
});

test('a recipe that has expired is refused by new, and warned of by check', () => {
  bad(2, /--expires 2020-01-01 has passed/, ...base, '--expires', '2020-01-01', '-o', 'old.json');
  bad(2, /has passed/, ...base, '--expires', inDays(-1), '-o', 'old.json');
  assert.throws(() => read('old.json'), 'nothing is written');
  good(...base, '--expires', inDays(0), '-o', 'today.json');
  write('old.json', recipe(4, { expires: '2020-01-01' }));
  assert.match(good('recipe', 'check', 'old.json').err, /has expired: devices send nothing/);
});
