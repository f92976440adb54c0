// SPDX-License-Identifier: Apache-2.0
// 1,000 devices post at once, each until it is answered 202, always with the same key, while the edge and the aggregator
// are killed and started again. Then the aggregator must hold exactly what was acknowledged: nothing lost, nothing twice.
// What was never acknowledged does not occur: every device goes on until it is.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { RealAggregator, program } from './real_aggregator.mjs';
import { startEdge } from './runtimes.mjs';
import {
  FakeAggregator,
  eventually,
  makeRecipe,
  newKey,
  newRecord,
  reportInit,
} from './support.mjs';

const DEVICES = 1000;
const CROWDS = 10; // devices that come together are stored together
const CROWD_MS = 400;
const isLong = process.env.SHOAL_LONG === '1';
const ROUNDS = isLong ? 2 : 1; // `make campaign NAME=crash` has a thousand kills
const KILLS = Number(process.env.SHOAL_KILLS ?? 4);
const MINIMUM = 7;
const PATIENCE_MS = 400_000; // the longest pause between two tries to send is 300 s: so far it grows where the machine is slow to start servers

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One device: retries its one report until it is accepted. Repeats are likely, and some devices repeat on purpose. */
async function device(edge, recipe, text, startMs, repeats) {
  const init = reportInit(recipe.report(text), newKey());
  await pause(startMs);
  let tries = 0;
  for (let accepted = 0; accepted < repeats; tries++) {
    const status = await edge.post({ ...init, signal: AbortSignal.timeout(20_000) }).then(
      (response) => response.status,
      () => 0,
    );
    assert.ok([0, 202, 503].includes(status), `status ${status}`); // 0: killed before it answered
    if (status === 202) accepted++;
    else await pause(50 + 200 * Math.random());
  }
  return tries;
}

/** Kills and restarts edge and aggregator in turn. */
async function makeTrouble(edge, aggregator) {
  for (let kill = 0; kill < KILLS; kill++) {
    await aggregator.stop();
    await pause(300 * Math.random());
    await edge.kill();
    await edge.start();
    await pause(200 * Math.random());
    await aggregator.start();
    await pause(500 + 500 * Math.random());
  }
}

async function chaos(t, runtime, makeAggregator) {
  const recipe = await makeRecipe({
    batch: { minimum: MINIMUM, max_age_s: 1 },
    cohort: { minimum: 1 },
    block: { tick_s: 1 },
  });
  const aggregator = makeAggregator(recipe);
  await aggregator.start();
  t.after(() => aggregator.remove());
  const edge = await startEdge(t, runtime, { recipes: [recipe], aggregator: aggregator.url });
  const texts = Array.from({ length: DEVICES }, (_, i) =>
    newRecord(recipe, i % 3 === 0 ? 'shoal' : 'fish'),
  );
  const posting = Promise.all(
    texts.map((text, i) =>
      device(
        edge,
        recipe,
        text,
        CROWD_MS * Math.floor(CROWDS * Math.random()),
        i % 10 === 0 ? 3 : 1,
      ),
    ),
  );
  const [tries] = await Promise.all([posting, makeTrouble(edge, aggregator)]);
  const total = tries.reduce((a, b) => a + b);
  // What is left below the minimum goes with a few reports more.
  const settled = async () =>
    (await edge.metric('open_reports')) < MINIMUM && (await edge.metric('sealed_batches')) === 0;
  await eventually(async () => assert.ok(await settled()), PATIENCE_MS);
  while ((await edge.metric('open_reports')) > 0) {
    texts.push(newRecord(recipe));
    assert.equal(await device(edge, recipe, texts.at(-1), 0, 1), 1);
    await eventually(async () => assert.ok(await settled()), PATIENCE_MS);
  }
  await eventually(async () => assert.ok((await aggregator.count()) >= texts.length), PATIENCE_MS);
  await aggregator.expectExactly(texts);
  t.diagnostic(`${texts.length} reports, ${total} posts, ${KILLS} kills`);
}

// In short each runtime and each aggregator goes through it once, since neither knows the other; in long all pairs do.
for (const runtime of ['workerd', 'node']) {
  for (let round = 1; round <= ROUNDS; round++) {
    if (isLong || runtime === 'node') {
      test(`${runtime} and an aggregator that keeps a list, round ${round}`, (t) =>
        chaos(t, runtime, (recipe) => new FakeAggregator(recipe)));
    }
    if (isLong || runtime === 'workerd') {
      test(
        `${runtime} and shoal serve, round ${round}`,
        { skip: existsSync(program) ? false : 'no native build' },
        (t) => chaos(t, runtime, (recipe) => new RealAggregator(recipe)),
      );
    }
  }
}
