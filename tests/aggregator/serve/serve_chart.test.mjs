// SPDX-License-Identifier: Apache-2.0
// The script of the chart over time as the server gives it: its path names its bytes and never anything else, so browsers keep it for
// ever; it is small, and carries the licence of what it holds; the page lets in this one and nothing inline; its table has the numbers.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { dashboard, TOKENS } from './dashboard_site.mjs';

/** Bytes of the whole script, packed by gzip: uPlot has 22,000 of them. */
const MOST = 27_648;
const require = createRequire(import.meta.url);
const LICENCE = readFileSync(require.resolve('uplot/LICENSE'), 'utf8').trim();

test('the chart: a script that its path names, small and kept for ever', async (t) => {
  const { ask, url } = await dashboard(t, { hostile: false });
  const page = await ask('/recipes/words?view=periods');
  assert.equal(page.status, 200);
  const scripts = [...page.text.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
  assert.equal(scripts.length, 1);
  const [, path, hash] =
    /^<script type="module" src="(\/assets\/chart-([0-9a-f]{16})\.js)">$/.exec(scripts[0]) ??
    assert.fail(scripts[0]);
  const policy = String(page.headers.get('content-security-policy'));
  assert.match(policy, /^default-src 'none';.*;script-src 'self';/);
  assert.doesNotMatch(policy, /unsafe|nonce|\*|http/);
  assert.equal(page.headers.get('cache-control'), 'no-store', 'results are kept nowhere');

  const script = await ask(path);
  assert.equal(script.status, 200);
  assert.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.equal(script.headers.get('cache-control'), 'max-age=31536000, immutable');
  assert.equal(script.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(script.headers.get('cross-origin-resource-policy'), 'same-origin');
  assert.equal(createHash('sha256').update(script.text).digest('hex').slice(0, 16), hash);
  assert.ok(script.text.includes(LICENCE), 'the licence of uPlot comes with it');
  assert.doesNotMatch(script.text, /\beval\(|new Function\(|innerHTML|insertAdjacentHTML/);
  const packed = gzipSync(script.text, { level: 9 }).length;
  t.diagnostic(`${script.text.length} bytes, ${packed} by gzip`);
  assert.ok(packed <= MOST, `${packed} bytes by gzip, ${MOST} at most`);

  const authorization = `Bearer ${TOKENS.alice}`;
  const head = await fetch(url + path, { method: 'HEAD', headers: { authorization } });
  assert.deepEqual([head.status, await head.text()], [200, '']);
  const posted = await fetch(url + path, { method: 'POST', headers: { authorization } });
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
  for (const wrong of [path.replace(hash, '0'.repeat(16)), `${path}x`, '/assets/', '/assets'])
    assert.equal((await ask(wrong)).status, 404, wrong);
  const stranger = await fetch(url + path);
  assert.deepEqual([stranger.status, stranger.headers.get('cache-control')], [401, 'no-store']);
});

test('the chart: cells have the numbers beside the text that rounds them', async (t) => {
  const { ask } = await dashboard(t, { hostile: false });
  for (const order of ['', '&sort=period&order=desc', '&sort=reports&order=asc']) {
    const { text } = await ask(`/recipes/words?view=periods${order}`);
    assert.match(text, /<table class="plain" data-unit="%">/);
    const rows = [...text.matchAll(/<tr data-at="(\d+)"><th scope="row">([^<]+)</g)];
    assert.equal(rows.length, 12);
    const byTime = rows
      .toSorted(([, a], [, b]) => Number(a) - Number(b))
      .map(([, at, day]) => [Number(at), day]);
    const days = byTime.map(([, day]) => day);
    assert.deepEqual(
      byTime,
      [...days].sort().map((day, i) => [i, day]),
    );
    const cells = [...text.matchAll(/<td data-point="(\S+) (\S+) (\S+)">([^<]+)<\/td>/g)];
    assert.equal(cells.length, 12 * 6);
    for (const [, ...parts] of cells) {
      const [value, low, high] = parts.map(Number);
      const decimals = /\.(\d+)/.exec(parts[3])?.[1].length ?? 0;
      const half = (high - low) / 2;
      assert.equal(
        parts[3].replaceAll('\u2212', '-'),
        `${value.toFixed(decimals)}\u202f% ±\u202f${half.toFixed(decimals)}`,
      );
      assert.ok(low < value && value < high);
    }
  }
  const other = await ask('/recipes/words');
  assert.doesNotMatch(other.text, /chart-|data-point/, 'only the page over time has the chart');
});
