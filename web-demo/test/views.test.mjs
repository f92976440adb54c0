// SPDX-License-Identifier: Apache-2.0
// The page's pure parts: escaping, the histogram's scale.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { histogram, readable, rowsOf } from '../page/histogram.js';
import { h, toMarkup } from '../page/tree.js';
import { contentSecurityPolicy } from '../serve.mjs';
import { RESULTS } from './demo_site.mjs';

test('markup escapes text and attributes', () => {
  assert.equal(
    toMarkup(h('b', { title: '"><i>' }, '<script>&\'"')),
    '<b title="&#34;&#62;&#60;i&#62;">&#60;script&#62;&#38;&#39;&#34;</b>',
  );
});

test('values are shown as text that stays in its place', () => {
  assert.equal(readable('a\u202Eb\u0007c\u2028d\uD800'), 'a\uFFFDb\uFFFDc\uFFFDd\uFFFD');
  assert.equal([...readable('\u{1F41F}'.repeat(60))].length, 40);
  assert.equal(readable('été 魚'), 'été 魚');
  for (const emoji of [
    '🏳️‍🌈',
    '👩🏽‍🚀',
    '👨‍👩‍👧‍👦',
    '🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}',
    '🇫🇷',
    '5️⃣',
  ])
    assert.equal(readable(emoji), emoji);
  assert.equal(
    readable('a\u200Db\u{E0067}🏴a\u{E0067}🌈\u200D'),
    'a\uFFFDb\uFFFD🏴a\uFFFD🌈\uFFFD',
  );
});

test('what is not a result is refused', () => {
  const good = RESULTS['demo-words'];
  assert.equal(rowsOf(good).length, 20);
  for (const bad of [
    null,
    [],
    {},
    { ...good, schema: 2 },
    { ...good, rows: [{}] },
    { ...good, rows: [{ ...good.rows[0], count: 'x' }] },
    { ...good, rows: [{ ...good.rows[0], low: null }] },
  ]) {
    assert.throws(() => rowsOf(bad), /not a result/);
  }
});

test('a bar, its whisker and the truth share one scale; below zero is zero', () => {
  const row = { value: 'fish', count: 500, stderr: 100, low: -100, high: 1000, detected: true };
  const markup = toMarkup(histogram([row], { truth: new Map([['fish', 750]]) }));
  assert.match(markup, /class="fill"[^>]* width="50.00%"/);
  assert.match(markup, /class="whisker" x1="0.00%" x2="100.00%"/);
  assert.match(markup, /class="truth" cx="75.00%"/);
  assert.match(markup, /true 750/);
  assert.match(
    toMarkup(histogram([{ ...row, detected: false }])),
    /bar unsure.*cannot tell from zero/,
  );
});

test('the policy allows the edge and WebAssembly, and nothing else', () => {
  assert.equal(
    contentSecurityPolicy('https://edge.example/base/'),
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self' " +
      "https://edge.example; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
});
