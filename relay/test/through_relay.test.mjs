// SPDX-License-Identifier: Apache-2.0
// A thousand posts within seconds through the real relay to the real gateway of the Node edge, both of which are killed meanwhile: nothing is lost,
// and nothing counts twice. Then everything that the three parties hold is searched for what they must not know.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GATEWAY, RELAY, sealed } from '../../edge/test/ohttp_client.mjs';
import { filesUnder, startEdge } from '../../edge/test/runtimes.mjs';
import {
  FakeAggregator,
  eventually,
  makeRecipe,
  multiset,
  newKey,
  newRecord,
  reportInit,
} from '../../edge/test/support.mjs';
import { SITE, startRelay } from './relay_runtimes.mjs';

const POSTS = 1000;
const KILLS = 4;
const AT_ONCE = 40; // if all posted at once, all might be answered before this process gets to the first kill
const ADDRESS = '192.0.2.77';
const DEVICE = /192\.0\.2\.77|marker-agent|marker-cookie/;
const HEADERS = {
  'X-Forwarded-For': ADDRESS,
  'User-Agent': 'marker-agent/1',
  Cookie: 'marker-cookie=1',
};

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

test(
  'a thousand posts within seconds, and kills of relay and edge: nothing lost, nothing twice, and nobody knows both',
  { timeout: 300_000 },
  async (t) => {
    const recipe = await makeRecipe({ batch: { minimum: 1, max_age_s: 1 } });
    const aggregator = await new FakeAggregator(recipe).start();
    t.after(() => aggregator.stop());
    const edge = await startEdge(t, 'node', {
      recipes: [recipe],
      aggregator: aggregator.url,
      gateway: GATEWAY,
    });
    const relay = await startRelay(t, 'node', {
      gateway: `${edge.url}/ohttp`,
      token: RELAY.token,
      more: {
        address_header: 'x-forwarded-for',
        rate: { per_minute: 1_000_000, burst: 1_000_000 },
      },
    });

    /** What a device does: it sends the same report, sealed anew, until the edge has answered. */
    let tries = 0;
    const device = async ({ report, first }) => {
      for (let request = first; ; request = await sealed('/v1/reports', report)) {
        tries++;
        const answer = await relay
          .post(request.body, HEADERS)
          .then(async (response) => [response.status, new Uint8Array(await response.arrayBuffer())])
          .catch(() => [0]);
        if (answer[0] === 200) {
          const inner = await request.open(answer[1]);
          assert.equal(inner.status, 202);
          return;
        }
        assert.ok([0, 429, 502, 503].includes(answer[0]), `status ${answer[0]}`);
        await pause(100 + 400 * Math.random());
      }
    };
    const texts = Array.from({ length: POSTS }, () => newRecord(recipe));
    const made = await Promise.all(
      texts.map(async (text) => {
        const { headers, body } = reportInit(recipe.report(text), newKey());
        const report = { headers, body };
        return { report, first: await sealed('/v1/reports', report) }; // which takes longer than to send it
      }),
    );
    let answered = 0;
    let mark = { at: Infinity, reach: () => {} };
    /** Resolves at that answer, not a while after it. */
    const reached = (at) =>
      new Promise((reach) => (answered < at ? (mark = { at, reach }) : reach()));
    const sending = Array.from({ length: AT_ONCE }, async () => {
      for (let each = made.pop(); each !== undefined; each = made.pop()) {
        await device(each);
        answered++;
        if (answered >= mark.at) mark.reach();
      }
    });
    for (let i = 1; i <= KILLS; i++) {
      await reached((i * POSTS) / (KILLS + 2));
      const victim = i % 2 ? relay : edge;
      await victim.kill();
      await victim.start();
    }
    await Promise.all(sending);
    await eventually(() => assert.equal(aggregator.records.length, POSTS), 120_000);
    assert.deepEqual(multiset(aggregator.records), multiset(texts), 'each once');
    t.diagnostic(`${POSTS} reports, ${tries} posts, ${KILLS} kills`);
    assert.ok(tries > POSTS, 'the kills hit posts under way');

    await nobodyKnowsBoth({ relay, edge, aggregator, texts });
  },
);

/** Searches what each party holds, says and was sent. */
async function nobodyKnowsBoth({ relay, edge, aggregator, texts }) {
  const relayKnows = [relay.said, await relay.metrics()];
  for (const { path, bytes } of await filesUnder(relay.dir)) {
    if (!/relay\.json|\.token$/.test(path)) relayKnows.push(bytes.toString('latin1'));
  }
  const edgeKnows = [edge.output()];
  for (const { bytes } of await filesUnder(edge.dir)) edgeKnows.push(bytes.toString('latin1'));
  const aggregatorKnows = aggregator.requests.map(
    ({ url, headers, body }) =>
      `${url} ${headers.join(' ')} ${Buffer.from(body).toString('latin1')}`,
  );
  const all = { relay: relayKnows, edge: edgeKnows, aggregator: aggregatorKnows };
  for (const [who, known] of Object.entries(all))
    for (const text of known) assert.ok(!DEVICE.test(text), `${who} knows a device`);
  for (const text of relayKnows) {
    assert.ok(!text.includes(SITE), 'the relay keeps no origin');
    assert.ok(!texts.some((record) => text.includes(record)), 'the relay knows a record');
  }
  assert.ok(DEVICE.test(JSON.stringify(HEADERS)), 'the pattern finds what it looks for');
}
