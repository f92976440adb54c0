// SPDX-License-Identifier: Apache-2.0
// The client and the edge, with nothing faked between them: devices fetch what they are asked, answer what they may, and their answers
// arrive as a batch of their part. On both runtimes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'shoal-client/node';
import {
  askedClient,
  loadWholeCore,
  phrases,
  round,
  signed,
  wordsPolicy,
} from '../../wasm/test/query_fixtures.mjs';
import { startEdge } from './runtimes.mjs';
import { FakeAggregator, eventually, multiset } from './support.mjs';

const query = (more = {}) =>
  signed(
    phrases({
      split_by: [{ field: 'locale', values: ['de', 'en'] }],
      batch: { minimum: 3, max_age_s: 1 },
      expires: '2099-12-31',
      ...more,
    }),
  );
const make = async (json) => (await load()).recipe(json);
const asked = query();
const forged = { ...query({ recipe: 'forged' }), signature: asked.signature };
const broad = query({ recipe: 'broad', encoding: [{ field: 'note', values: ['x'] }] });

for (const runtime of /** @type {const} */ (['node', 'workerd'])) {
  test(`${runtime}: devices ask the edge, and their answers arrive by parts`, async (t) => {
    const [de, en] = await Promise.all(
      ['de', 'en'].map((part) => make({ ...asked, part: [part] })),
    );
    const aggregator = await new FakeAggregator([de, en]).start();
    t.after(() => aggregator.remove());
    const recipes = await Promise.all([forged, asked, broad].map(make));
    const edge = await startEdge(t, runtime, { recipes, aggregator: aggregator.url });
    const sent = { de: [], en: [] };
    for (const locale of ['de', 'en', 'de', 'de', 'en']) {
      const { client } = await askedClient({ endpoint: edge.url, fetch: globalThis.fetch });
      await client.donate('typed-phrases', { phrase: 'hello world and more', locale });
      const outcomes = await client.ask();
      assert.deepEqual(
        outcomes.map(({ recipe, code }) => [recipe, code]),
        [
          ['forged', 'bad-signature'],
          ['ngrams', 'queued'],
          ['broad', 'field'],
        ],
      );
      await client.flush();
      const [{ state, report }] = await client.reports();
      assert.deepEqual([state, report.key], ['sent', `ngrams/${locale}`]);
      sent[locale].push(report.records[0]);
      client.close();
    }
    await eventually(() => assert.deepEqual(multiset(aggregator.recordsOf(de)), multiset(sent.de)));
    assert.deepEqual(
      [await edge.metric('open_reports'), aggregator.recordsOf(en).length],
      [2, 0],
      'too few of the other part',
    );
  });
}

for (const runtime of /** @type {const} */ (['node', 'workerd'])) {
  test(`${runtime}: a round of words arrives as its contributions, and the next round finds nobody who answered`, async (t) => {
    const json = signed(round({ batch: { minimum: 9, max_age_s: 1 }, expires: '2099-12-31' }));
    const next = signed(
      round({
        recipe: 'words-2',
        round: { index: 2, previous: 'ab'.repeat(32) },
        expires: '2099-12-31',
      }),
    );
    const [one, two] = await Promise.all([json, next].map(make));
    const aggregator = await new FakeAggregator([one, two]).start();
    t.after(() => aggregator.remove());
    const edge = await startEdge(t, runtime, { recipes: [one, two], aggregator: aggregator.url });
    const sent = [];
    for (const words of [['coral', 'hope', 'coral'], ['unasked'], []]) {
      const { client } = await askedClient(
        {
          endpoint: edge.url,
          fetch: globalThis.fetch,
          policy: wordsPolicy(),
          queryWasm: loadWholeCore,
        },
        ['words'],
      );
      for (const word of words) await client.donate('typed-words', { word });
      for (const codes of [
        ['queued', 'answered'],
        ['replayed', 'answered'],
      ])
        assert.deepEqual(
          (await client.ask()).map(({ code }) => code),
          codes,
        );
      await client.flush();
      const reports = await client.reports();
      assert.deepEqual(
        reports.map(({ state, report }) => [state, report.key]),
        Array(3).fill(['sent', 'words-1']),
      );
      sent.push(...reports.map(({ report }) => report.records[0]));
      client.close();
    }
    await eventually(() => assert.deepEqual(multiset(aggregator.recordsOf(one)), multiset(sent)));
    assert.deepEqual(
      [sent.length, aggregator.recordsOf(two).length],
      [9, 0],
      'who has few words, or none, sends as many',
    );
  });
}
