// SPDX-License-Identifier: Apache-2.0
// shoal plan --distribution from outside: what it answers and refuses, and that its recipe is taken. What its errors are worth is measured by shoal_distribution_study plan (docs/plan.md) and held by
// tests/aggregator/estimate/test_distribution_forecast.c.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeCli } from './cli_helpers.mjs';

const { bad, good, has, read, release, write } = makeCli('plan-distribution');
after(release);

const wish = ['plan', '--distribution', '--devices', '5000', '--low', '-10', '--high', '30'];

test('a crowd of a file: buckets in the number’s unit, and a recipe that asks for them', () => {
  // Even between 0 and 20: median 10, p90 18.
  write('counts.tsv', Array.from({ length: 200 }, (_, i) => `${i / 10}\t7\n`).join(''));
  const options = ['--epsilon', '4', '--counts', 'counts.tsv', '--size', '8', '--quantile', '0.25'];
  const plan = JSON.parse(
    good(...wish, ...options, '--format', 'json', '--recipe-out', 'r.json', '--id', 'spread').text,
  );
  assert.deepEqual(
    [plan.schema, plan.n, plan.epsilon, plan.crowd, plan.low, plan.high, plan.judged_by],
    [1, 5000, 4, 'counts file', -10, 30, 'p25'],
  );
  assert.equal(plan.rows.length, 1);
  const [{ mechanism, size, parameters, distance, quantiles }] = plan.rows;
  assert.deepEqual([mechanism, size], ['grr', 8]);
  assert.deepEqual(parameters, { low: -10, high: 30, epsilon: 4, size: 8 });
  // Numbers i/10 lie within a step of 40/4096 of their place.
  for (const [i, [p, value]] of [
    [0.5, 10],
    [0.9, 18],
    [0.25, 5],
  ].entries()) {
    assert.equal(quantiles[i].p, p);
    assert.ok(Math.abs(quantiles[i].value - value) < 0.15, `${quantiles[i].value}`);
    // 5,000 devices alone are off by sqrt(2/pi) sqrt(p (1 - p)/5000) 20 = 0.11 at the median; buckets are 5 wide
    assert.ok(quantiles[i].error > 0.05 && quantiles[i].error < 1.5, `${quantiles[i].error}`);
  }
  assert.ok(distance > 0.002 && distance < 0.05, `${distance}`);
  const recipe = JSON.parse(read('r.json'));
  assert.deepEqual([recipe.recipe, recipe.mechanism, recipe.value], ['spread', 'grr', 'number']);
  assert.deepEqual(recipe.parameters, { epsilon: 4, low: -10, high: 30, size: 8 });
  good('recipe', 'check', 'r.json');
});

test('refused: what does not go together, is out of range, or tells no distribution', () => {
  bad(2, /--epsilon/, ...wish);
  bad(2, /--epsilon must be from 0.01 to 16/, ...wish, '--epsilon', '17');
  const asked = [...wish, '--epsilon', '2'];
  bad(
    2,
    /--low must be below --high/,
    ...[
      'plan',
      '--distribution',
      '--devices',
      '5000',
      '--low',
      '3',
      '--high',
      '3',
      '--epsilon',
      '2',
    ],
  );
  bad(2, /--counts or --shape, not both/, ...asked, '--counts', 'counts.tsv', '--shape', 'hump');
  bad(2, /--shape is skewed, hump, humps or even/, ...asked, '--shape', 'flat');
  bad(2, /quantile/, ...asked, '--quantile', '1');
  bad(2, /size/, ...asked, '--size', '257');
  bad(2, /no mechanism is called wave/, ...asked, '--mechanism', 'wave');
  bad(2, /no such mechanism tells/, ...asked, '--mechanism', 'one-bit-mean');
  bad(2, /no such mechanism tells/, ...asked, '--mechanism', 'square-wave', '--size', '16');
  bad(2, /no such mechanism tells/, ...asked, '--mechanism', 'loloha');
  bad(2, /--format is table or json/, ...asked, '--format', 'csv');
  write('words.tsv', 'cod\t5\n');
  bad(2, /not a number/, ...asked, '--counts', 'words.tsv', '--recipe-out', 'none.json');
  assert.ok(!has('none.json'));
});
