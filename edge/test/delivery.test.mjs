// SPDX-License-Identifier: Apache-2.0
// The page of delivery and the metrics behind it: who sees them, what they say, what is counted as refused and why.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { readExposition } from '../../tests/exposition.mjs';
import { handle } from '../handler.js';
import { Refusals } from '../metrics.js';
import { TOKEN, makeRecipe, newReport, reportInit } from './support.mjs';

const recipe = await makeRecipe();
const NOW = Date.UTC(2030, 0, 1, 12);
const BEARER = { Authorization: `Bearer ${TOKEN}` };

function setUp(stats = {}, more = {}) {
  const collection = {
    recipe,
    accept: async () => 'accepted',
    stats: async () => ({ batch_minimum_reports: 500, ...stats }),
    retryQuarantined: async () => 0,
  };
  const deps = {
    collections: new Map([[recipe.hash, collection]]),
    recipes: [recipe],
    origins: ['https://site.example'],
    now: () => NOW,
    adminToken: TOKEN,
    aggregator: 'https://aggregator.example/shoal/?a="b',
    refusals: new Refusals(),
    ...more,
  };
  const call = (path, init) => handle(new Request(`https://edge.example${path}`, init), deps);
  const show = async () => (await call('/delivery', { headers: BEARER })).text();
  return { call, show };
}

const form = (token) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({ token }).toString(),
});

/** Figure and meaning of a row. */
function row(html, what) {
  const [, n, meaning] =
    new RegExp(`>${what}</th><td class="n"[^>]*>([^<]*)</td><td[^>]*>([^<]*)<`).exec(html) ?? [];
  return [n, meaning];
}

test('without the token there is a form and no figure; without a configured one, nothing', async () => {
  const { call } = setUp({ open_reports: 1234 });
  const asked = await call('/delivery');
  const html = await asked.text();
  assert.equal(asked.status, 200);
  assert.match(html, /<form method="post" action="\/delivery">/);
  assert.ok(!html.includes('1,234') && !html.includes(recipe.key));
  const wrong = await call('/delivery', form(`${TOKEN}x`));
  assert.equal(wrong.status, 403);
  assert.match(await wrong.clone().text(), /role="alert">This is not the admin token/);
  assert.ok(!(await wrong.text()).includes('1,234'));
  assert.equal((await call('/delivery', form(''))).status, 403);
  const bearer = await call('/delivery', { headers: { Authorization: `Bearer ${TOKEN}x` } });
  assert.equal(bearer.status, 401);
  assert.equal((await call('/delivery', form('x'.repeat(3000)))).status, 413);
  const right = await call('/delivery', form(TOKEN));
  assert.equal(right.status, 200);
  assert.ok((await right.text()).includes('1,234'));
  const none = setUp({}, { adminToken: undefined });
  assert.equal((await none.call('/delivery')).status, 404);
});

test('its policy lets in its own sheet alone, and nothing of it is kept or told on', async () => {
  const answer = await setUp().call('/delivery', { headers: BEARER });
  const html = await answer.text();
  const [, sheet] = /<style>([^<]*)<\/style>/.exec(html);
  const hash = createHash('sha256').update(sheet).digest('base64');
  assert.equal(
    answer.headers.get('content-security-policy'),
    `default-src 'none';style-src 'sha256-${hash}';base-uri 'none';form-action 'self';frame-ancestors 'none'`,
  );
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
  assert.ok(!/<script| style=| on[a-z]+=|src=/.test(html));
  assert.deepEqual(
    [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href),
    ['https://aggregator.example/shoal/?a=&#34;b/delivery'],
  );
});

test('it says what waits and for what', async () => {
  const due = NOW / 1000 + 3600;
  const said = async (stats) => row(await setUp({ ...later, ...stats }).show(), 'Waiting');
  const later = { recipe_expires_timestamp_seconds: due + 86_400 };
  assert.deepEqual(await said({}), ['0', 'The next report opens a batch.']);
  assert.deepEqual(await said({ open_reports: 40 }), [
    '40',
    'A batch leaves with 500 reports or more: 460 are missing.',
  ]);
  assert.deepEqual(await said({ open_reports: 1600, open_due_timestamp_seconds: due }), [
    '1,600',
    'Enough for a batch. It leaves at 2030-01-01 13:00 UTC at the latest.',
  ]);
  assert.deepEqual(await said({ open_reports: 3, recipe_expires_timestamp_seconds: 1 }), [
    '3',
    'The recipe has expired.',
  ]);
  const bad = await setUp({
    failures_in_a_row: 12,
    sealed_batches: 2,
    quarantined_batches: 1,
  }).show();
  assert.match(row(bad, 'Batches to send')[1], /12 tries failed in a row/);
  assert.match(row(bad, 'Batches set aside')[1], /POST to \/v1\/quarantine\/retry/);
  assert.equal([...bad.matchAll(/class="look"/g)].length, 2);
});

test('what is refused is counted by its reason, on the page and in metrics, and nothing else is', async () => {
  const { call, show } = setUp();
  assert.deepEqual(row(await show(), 'None'), [
    '0',
    'No report was refused since this worker started.',
  ]);
  assert.equal((await call('/v1/reports', reportInit(newReport(recipe)))).status, 202);
  for (const body of ['{', '{}', '{}'])
    await call('/v1/reports', { ...reportInit(newReport(recipe)), body });
  const elsewhere = reportInit(newReport(recipe));
  elsewhere.headers.Origin = 'https://other.example';
  assert.equal((await call('/v1/reports', elsewhere)).status, 403);
  await call('/nothing');
  await call('/metrics');
  const html = await show();
  assert.deepEqual(row(html, 'json'), ['1', 'The body is not JSON in UTF-8.']);
  assert.equal(row(html, 'missing-field')[0], '2');
  assert.equal(row(html, 'origin')[0], '1');
  assert.deepEqual(row(html, 'route'), [undefined, undefined]);
  const metrics = readExposition(await (await call('/metrics', { headers: BEARER })).text());
  const refused = metrics.get('shoal_edge_refused_reports_total').samples;
  assert.deepEqual(
    refused.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.reason, value]),
    [
      ['missing-field', 2],
      ['json', 1],
      ['origin', 1],
    ],
  );
});
