// SPDX-License-Identifier: Apache-2.0
// A program that was built without node and the npm packages: its pages over time have no script and let none in, and show all as SVG
// and tables. SHOAL_BIN names one, which CMake builds for this test.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dashboard } from './dashboard_site.mjs';

test('without the chart the page over time has no script', async (t) => {
  const { ask } = await dashboard(t, { hostile: false });
  const answer = await ask('/recipes/words?view=periods');
  assert.equal(answer.status, 200);
  const page = answer.text;
  assert.doesNotMatch(page, /<script|data-point|data-at|data-unit|class="trends live"/);
  const policy = String(answer.headers.get('content-security-policy'));
  assert.match(policy, /^default-src 'none';/);
  assert.doesNotMatch(policy, /script-src|connect-src/);
  assert.equal(page.match(/<div class="trend" role="img"/g)?.length, 6);
  assert.equal((await ask('/assets/chart-0123456789abcdef.js')).status, 404);
});
