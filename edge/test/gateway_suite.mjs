// SPDX-License-Identifier: Apache-2.0
// The gateway over HTTP and against both runtimes: reports through a relay, once each, and that neither what the edge keeps nor what it says,
// sends on or counts holds an address.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GATEWAY, ANSWER_LENGTH, KEYS, exchange, publicKey, sealed } from './ohttp_client.mjs';
import { filesUnder, startEdge } from './runtimes.mjs';
import {
  FakeAggregator,
  eventually,
  makeRecipe,
  multiset,
  newKey,
  newRecord,
  reportInit,
} from './support.mjs';

const N = 12;
/** What a relay must not send on, and an edge must not keep if one does. */
const TELLING = {
  'X-Forwarded-For': '192.0.2.77',
  'CF-Connecting-IP': '192.0.2.77',
  'X-Real-IP': '192.0.2.77',
  Forwarded: 'for=192.0.2.77',
  Cookie: 'person=1',
  'User-Agent': 'telling/1',
  Referer: 'https://site.example/page',
};
const TOLD = /192\.0\.2|person=1|telling|site\.example\/page/;

/** Declares the tests. @param {'workerd' | 'node' | 'deno' | 'bun'} runtime */
export function gatewaySuite(runtime) {
  test('reports through the gateway reach the aggregator once each, and no address with them', async (t) => {
    const recipe = await makeRecipe({ batch: { minimum: N, max_age_s: 1 } });
    const aggregator = await new FakeAggregator(recipe).start();
    t.after(() => aggregator.stop());
    const next = { id: 7, secret: '33'.repeat(32) };
    const edge = await startEdge(t, runtime, {
      recipes: [recipe],
      aggregator: aggregator.url,
      gateway: { ...GATEWAY, keys: [...KEYS, next], unknownPerMinute: 5, dateWindowS: 3600 },
    });
    const post = (path, init) => fetch(edge.url + path, init);
    const keys = [await publicKey(), await publicKey([next])];
    const texts = Array.from({ length: N }, () => newRecord(recipe));
    for (const [i, text] of texts.entries()) {
      const { headers, body } = reportInit(recipe.report(text), newKey(), { Cookie: 'person=1' });
      // The second time is a retry, or a replay by the relay.
      const request = await sealed('/v1/reports', { headers, body }, keys[i % 2]);
      const again = await sealed('/v1/reports', { headers, body }, keys[(i + 1) % 2]);
      for (const each of [request, request, again]) {
        const { inner, bytes } = await exchange(post, each, TELLING);
        assert.deepEqual([inner.status, bytes.length], [202, ANSWER_LENGTH]);
      }
    }
    const stranger = await exchange(post, await sealed('/v1/reports'), {
      ...TELLING,
      Authorization: 'Bearer nobody-knows-this',
    });
    assert.equal(stranger.inner.status, 415, 'an unknown relay within its quota');
    await eventually(() => assert.equal(aggregator.records.length, N));
    assert.deepEqual(multiset(aggregator.records), multiset(texts), 'each once');
    assert.equal(await edge.metric('gateway_requests_total'), 3 * N + 1);
    for (const { path, bytes } of await filesUnder(edge.dir))
      assert.ok(!TOLD.test(bytes.toString('latin1')), path);
    for (const { url, headers, body } of aggregator.requests)
      assert.ok(!TOLD.test(`${url} ${JSON.stringify(headers)} ${body}`), 'what is sent on');
    assert.ok(!TOLD.test(edge.output()), 'what is said');
    const found = texts.length && TOLD.test(JSON.stringify(TELLING));
    assert.ok(found, 'the pattern finds what it looks for');
    const keysAnswer = await post('/ohttp-keys');
    assert.equal((await keysAnswer.arrayBuffer()).byteLength, 2 * 43);
  });

  test('a killed gateway loses nothing that it accepted, and takes no retry twice', async (t) => {
    const recipe = await makeRecipe({ batch: { minimum: N, max_age_s: 3600 } });
    const aggregator = await new FakeAggregator(recipe).start();
    t.after(() => aggregator.stop());
    const edge = await startEdge(t, runtime, {
      recipes: [recipe],
      aggregator: aggregator.url,
      gateway: GATEWAY,
    });
    const post = (path, init) => fetch(edge.url + path, init);
    const requests = await Promise.all(
      Array.from({ length: N - 2 }, async () => {
        const { headers, body } = reportInit(recipe.report(newRecord(recipe)), newKey());
        return sealed('/v1/reports', { headers, body });
      }),
    );
    const accepted = [];
    const sending = requests.map(async (request, i) => {
      const { inner } = await exchange(post, request).catch(() => ({ inner: null }));
      if (inner?.status === 202) accepted.push(i);
    });
    await Promise.race(sending);
    await edge.kill();
    await Promise.all(sending);
    await edge.start();
    for (const request of requests) assert.equal((await exchange(post, request)).inner.status, 202);
    assert.ok(accepted.length > 0);
    assert.equal(await edge.metric('open_reports'), requests.length, 'each once');
  });
}
