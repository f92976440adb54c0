// SPDX-License-Identifier: Apache-2.0
// The figures of joint distributions, a few settings of each: more epsilon, more reports and smaller tables bring the estimate nearer; the test keeps its level; and
// the shape of 30 categories by a bit has bars that hold the truth.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { coverage, study, study30x2 } from '../../bench/joint_figures.mjs';

const bin =
  process.env.SHOAL_JOINT_FIGURES ??
  fileURLToPath(new URL('../../../build/release/shoal_joint_figures', import.meta.url));
const skip = !existsSync(bin) && `${bin} is not built`;

test('distance falls with epsilon, with reports, and rises with the table', { skip }, () => {
  const [base, epsilon, reports, size] = study([
    'distance 2 5000 4 5 8',
    'distance 4 5000 4 5 8',
    'distance 2 50000 4 5 8',
    'distance 2 5000 6 12 8',
  ]).map(({ mean }) => mean);
  // Means of eight have an error of some 0.01; the steps are 0.05 and more.
  assert.ok(base > 0.08 && base < 0.25, String(base));
  assert.ok(
    epsilon < base - 0.04 && reports < base - 0.04 && size > base + 0.04,
    [base, epsilon, reports, size].join(),
  );
  // Errors are as 1/sqrt(N) where no cell is at its boundary.
  const [few, many] = study(['distance 5 10000 4 5 8', 'distance 5 100000 4 5 8']).map(
    ({ mean }) => mean,
  );
  assert.ok(few / many > 2.2 && few / many < 4.2, `${few / many}`);
});

test('independent variables are called dependent as often as 5 % says', { skip }, () => {
  // 300 pairs: the share has an error of 0.0126; three and a half of it.
  for (const { mean, columns } of study(['errors 3 2000 6 3 300', 'errors 3 2000 6 8 300']))
    assert.ok(mean > 0.005 && mean < 0.095, `6 x ${columns}: ${mean}`);
});

test('30 categories by one bit: bars hold the truth, paid rates differ', () => {
  const { result, truth } = study30x2(40_000, 3, 'thirty');
  const { cells, rates } = coverage({ result, truth });
  assert.equal(result.cells.length, 60);
  // Of 60 intervals at 95 %, not all independent, 48 and fewer have a chance below 1e-5.
  assert.ok(cells > 48 && rates > 48, `${cells} and ${rates} of 60`);
  assert.ok(
    result.wald.df === 29 && result.wald.p_value < 1e-4 && result.rank === 59 && result.converged,
    JSON.stringify(result.wald),
  );
});
