// SPDX-License-Identifier: Apache-2.0
// Spending over HTTP in both runtimes: each token counts once, whoever repeats it and whatever is killed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEdge } from './runtimes.mjs';
import { FakeAggregator, eventually, newRecord } from './support.mjs';
import {
  directoryFor,
  keysFor,
  makeTokenRecipe,
  newToken,
  today,
  tokenInit,
} from './token_support.mjs';

const isLong = process.env.SHOAL_LONG === '1';
const TOKENS = isLong ? 400 : 20;
const KILLS = isLong ? 3 : 1;
const MINIMUM = 5;
// Posts under way together. With all 2,400 at once a slow machine answers none within its time, the
// posts are sent again on top of those that the edge still works on, and the run hardly moves.
const AT_ONCE = 64;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns a function that calls what it is given, at most `most` calls at once, first come first served. */
function limited(most) {
  const waiting = [];
  let free = most;
  return async (call) => {
    if (free > 0) free--;
    else await new Promise((resolve) => waiting.push(resolve)); // its slot is handed over
    try {
      return await call();
    } finally {
      if (waiting.length > 0) waiting.shift()();
      else free++;
    }
  };
}

for (const runtime of ['node', 'workerd'])
  test(`${runtime}: a token counts once, over retries, second spends and kills`, async (t) => {
    const recipe = await makeTokenRecipe({
      recipe: 'spent',
      batch: { minimum: MINIMUM, max_age_s: 1 },
    });
    const keys = await keysFor(recipe, [today(), today() + 1]);
    const aggregator = await new FakeAggregator(recipe).start();
    t.after(() => aggregator.remove());
    const edge = await startEdge(t, runtime, {
      recipes: [recipe],
      aggregator: aggregator.url,
      tokenKeys: directoryFor(keys),
    });
    const [key] = keys;

    const preflight = await edge.post({
      method: 'OPTIONS',
      headers: {
        Origin: 'https://site.example',
        'Access-Control-Request-Headers': 'authorization',
      },
    });
    assert.match(preflight.headers.get('Access-Control-Allow-Headers') ?? '', /\bAuthorization\b/);
    for (const [code, init] of [
      ['token-missing', { ...tokenInit(recipe, await newToken(key)), token: null }],
      ['token-forged', tokenInit(recipe, (await newToken(key)).fill(7, 300))],
    ]) {
      if (init.token === null) delete init.headers.Authorization;
      const answer = await edge.post(init);
      assert.deepEqual([answer.status, (await answer.json()).error.code], [400, code]);
    }

    const inTurn = limited(AT_ONCE);
    let posts = 0;
    /** Posts until it is accepted. */
    const spend = async (token, text) => {
      for (;;) {
        const init = tokenInit(recipe, token, text);
        posts++;
        const status = await inTurn(() =>
          edge.post({ ...init, signal: AbortSignal.timeout(20_000) }).then(
            (answer) => answer.status,
            () => 0,
          ),
        );
        if (status === 202) return;
        // 408: on a busy machine a body may miss its deadline.
        assert.ok([0, 408, 503].includes(status), `status ${status}`);
        await pause(50 + 100 * Math.random());
      }
    };
    const start = performance.now();
    const tokens = await Promise.all(Array.from({ length: TOKENS }, () => newToken(key)));
    // Each token is spent by three tabs with a report each, and each of them tries twice.
    const texts = tokens.map(() => [newRecord(recipe), newRecord(recipe), newRecord(recipe)]);
    const spending = Promise.all(
      tokens.flatMap((token, i) =>
        [...texts[i], ...texts[i]].map(async (text) => {
          await pause(1200 * Math.random());
          await spend(token, text);
        }),
      ),
    );
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(300);
      await edge.kill();
      await edge.start();
    }
    await spending;
    t.diagnostic(`spent after ${Math.round(performance.now() - start)} ms, by ${posts} posts`);
    const extra = [];
    const left = async () => edge.metric('open_reports');
    await eventually(async () => assert.ok((await left()) < MINIMUM));
    while ((await left()) > 0) {
      extra.push(newRecord(recipe));
      await spend(await newToken(key), extra.at(-1));
      await eventually(async () => assert.equal(await edge.metric('sealed_batches'), 0));
    }
    await eventually(async () =>
      assert.equal(await aggregator.count(), tokens.length + extra.length),
    );
    t.diagnostic(`arrived after ${Math.round(performance.now() - start)} ms`);
    // The batches are gone, and the spends are not.
    for (const token of tokens.slice(0, 5)) await spend(token, newRecord(recipe));
    await pause(1500);
    const counted = new Set(aggregator.records);
    assert.equal(aggregator.records.length, tokens.length + extra.length);
    for (const [i, each] of texts.entries())
      assert.equal(each.filter((text) => counted.has(text)).length, 1, `token ${i}`);
    assert.equal(await left(), 0);
  });
