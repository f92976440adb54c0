// SPDX-License-Identifier: Apache-2.0
// LDP-TrieHH on real word frequencies, short: gboard-2024 Table 1's order (trie_study.mjs of tests/bench has the long version, docs/trie.md its
// figures). Between ten seeds the coverage of a setting varies by 0.1 points (greedy on favourites 0.4), so that the bounds below are many
// standard deviations away from what was measured: +6.0 points, -0.3, -21.7.
import assert from 'node:assert/strict';
import test from 'node:test';

import { study, table1 } from '../../bench/trie_study.mjs';

test('two passes beat one where the cap binds; greedy loses to random where devices repeat their own favourites only', () => {
  const [one, two, greedy, random, repeated] = study(table1(11));
  assert.ok(one.capped > 0, 'the cap binds');
  assert.ok(two.coverage > one.coverage + 0.05, `two passes ${two.coverage}, one ${one.coverage}`);
  assert.ok(
    Math.abs(greedy.coverage - one.coverage) < 0.015,
    `a tie: greedy ${greedy.coverage}, random ${one.coverage}`,
  );
  assert.ok(
    repeated.coverage < random.coverage - 0.1,
    `greedy ${repeated.coverage}, random ${random.coverage}`,
  );
  for (const run of [one, two, greedy, random, repeated])
    assert.ok(
      run.false <= 0.05 * (run.words + run.false),
      `${run.false} of ${run.words + run.false} are no words`,
    );
});

test('coverage grows with epsilon, and no noise finds more', () => {
  const setting = 'seed=2 devices=5000 words=30 contributions=10 prefixes=2000 rounds=8';
  const [low, high, exact] = study([
    `${setting} epsilon=5`,
    `${setting} epsilon=9`,
    `${setting} exact=1`,
  ]);
  assert.ok(
    low.coverage > 0.3 &&
      high.coverage > low.coverage + 0.05 &&
      exact.coverage > high.coverage + 0.02,
    `${low.coverage} ${high.coverage} ${exact.coverage}`,
  );
});
