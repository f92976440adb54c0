// SPDX-License-Identifier: Apache-2.0
// Whoever has one account and any number of copies of the client gets limit.per_day reports into a day, from a real issuer and a real edge on
// Node over HTTP. 120,000 copies with SHOAL_LONG, else 3,000.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { challengeDigest } from 'shoal-client/token-format';
import { startIssuerProcess } from '../../issuer/test/issuer_support.mjs';
import { makeKey, openKeyInNode } from '../../issuer/rsa_node.js';
import { directoryOf, openKeys } from '../../issuer/signing_keys.js';
import { unblinded, blinded } from '../../wasm/client/blind_rsa.js';
import { wholeDay } from '../../tests/aggregator/serve/serve_helpers.mjs';
import { startEdge } from './runtimes.mjs';
import { FakeAggregator, eventually, multiset, newKey, newRecord } from './support.mjs';
import { ISSUER, headerOf, makeTokenRecipe, today, tokenInit } from './token_support.mjs';

const COPIES = process.env.SHOAL_LONG === '1' ? 120_000 : 3000;
const AT_ONCE = 32;
const PER_DAY = 3;
const BUNDLES = 20; // that the account's copies ask for
const TEXTS = 64; // records that the copies send

/** The request for a bundle whose tokens are good for a recipe, and what makes them of an answer. */
async function goodBundle(recipe, { id, spki, day, perDay }) {
  const modulus = spki.slice(-261, -5);
  const challenge = await challengeDigest(ISSUER, recipe.hash, day);
  const head = Buffer.alloc(7 + 34);
  head[0] = 1;
  head.writeUInt32BE(day, 1);
  head.writeUInt16BE(1, 5);
  head.set(Buffer.from(recipe.hash, 'hex'), 7);
  head.writeUInt16BE(perDay, 39);
  const parts = [head];
  const asked = [];
  for (let i = 0; i < perDay; i++) {
    const input = Buffer.concat([Buffer.of(0, 2), randomBytes(32), challenge, id]);
    const [salt, blind] = [randomBytes(48), randomBytes(256)];
    blind[0] = 1; // below the modulus
    asked.push([modulus, input, salt, blind]);
    parts.push(Buffer.of(0, 2, id[31]), await blinded(modulus, input, salt, blind));
  }
  const open = (answer) =>
    Promise.all(
      asked.map(async (one, i) => {
        const signed = await unblinded(...one, answer.subarray(i * 256, (i + 1) * 256));
        return Buffer.concat([one[1], signed]);
      }),
    );
  return { body: Buffer.concat(parts), open };
}

/** Asks for many bundles of one account at once; returns the tokens of those that were answered. */
async function tokensOfAccount(issuer, recipe, signer, account) {
  const bundles = await Promise.all(
    Array.from({ length: BUNDLES }, () => goodBundle(recipe, signer)),
  );
  const answers = await Promise.all(bundles.map(({ body }) => issuer.ask(body, account)));
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(multiset(statuses.sort()), multiset([200, ...Array(BUNDLES - 1).fill(409)]));
  const tokens = [];
  for (const [i, answer] of answers.entries())
    if (answer.ok) tokens.push(...(await bundles[i].open(Buffer.from(await answer.arrayBuffer()))));
  return tokens;
}

/** Posts over kept connections, which is what a fetch() of each copy would take longer for. */
function poster(t, url) {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  t.after(() => agent.destroy());
  return ({ headers, body }) =>
    new Promise((resolve, reject) => {
      const options = { method: 'POST', agent, headers };
      const request = httpRequest(`${url}/v1/reports`, options, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      request.on('error', reject).end(body);
    });
}

test(`${COPIES} copies of one account count as ${PER_DAY}`, { timeout: 900_000 }, async (t) => {
  await wholeDay(COPIES / 200);
  const recipe = await makeTokenRecipe({
    recipe: 'copies',
    limit: { per_day: PER_DAY },
    batch: { minimum: PER_DAY, max_age_s: 1 },
  });
  const named = { recipe: recipe.hash, per_day: PER_DAY };
  const keys = await Promise.all([today(), today() + 1].map((day) => makeKey({ ...named, day })));
  const issuer = await startIssuerProcess(t, { keys });
  const signers = await openKeys({ keys }, openKeyInNode);
  const aggregator = await new FakeAggregator(recipe).start();
  t.after(() => aggregator.remove());
  const edge = await startEdge(t, 'node', {
    recipes: [recipe],
    aggregator: aggregator.url,
    tokenKeys: directoryOf(signers, `${ISSUER}/token-request`, 0),
  });

  const tokens = await tokensOfAccount(issuer, recipe, signers[0], 'alice');
  assert.equal(tokens.length, PER_DAY);
  const forged = () => Buffer.concat([tokens[0].subarray(0, 98), randomBytes(256)]);
  const renamed = (token) => (randomBytes(32).copy(token, 2), token);
  // What a copy can try beside its account's tokens.
  const tricks = [
    (text) => {
      const init = tokenInit(recipe, tokens[0], text);
      delete init.headers.Authorization;
      return init;
    },
    (text) => tokenInit(recipe, forged(), text),
    (text) => tokenInit(recipe, renamed(forged()), text),
    (text) => tokenInit(recipe, renamed(Buffer.from(tokens[1])), text),
    (text) => tokenInit(recipe, tokens[2], text, { 'Idempotency-Key': newKey() }),
    (text) => tokenInit(recipe, tokens[2], text, { Authorization: `${headerOf(tokens[2])}, x` }),
  ];
  const texts = Array.from({ length: TEXTS }, (_, i) => newRecord(recipe, `word${i}`));
  const post = poster(t, edge.url);
  const statuses = new Map();
  let next = 0;
  const started = performance.now();
  const copy = async () => {
    for (let i = next++; i < COPIES; i = next++) {
      const text = texts[i % TEXTS];
      const isTrick = i % 8 === 7;
      const init = isTrick
        ? tricks[(i >> 3) % tricks.length](text)
        : tokenInit(recipe, tokens[i % PER_DAY], text);
      const status = await post(init);
      const name = `${isTrick ? 'trick' : 'token'} ${status}`;
      statuses.set(name, (statuses.get(name) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, copy));
  t.diagnostic(`${Math.round((COPIES / (performance.now() - started)) * 1000)} posts a second`);
  assert.deepEqual(
    statuses,
    new Map([
      ['token 202', (COPIES * 7) / 8],
      ['trick 400', COPIES / 8],
    ]),
  );
  await eventually(() => assert.equal(aggregator.records.length, PER_DAY));
  assert.equal(await edge.metric('open_reports'), 0);
  // The aggregator has the batch a moment before the edge has its answer.
  await eventually(async () => assert.equal(await edge.metric('sealed_batches'), 0));

  // Another account's reports still count, so nothing was dropped for want of room.
  for (const token of await tokensOfAccount(issuer, recipe, signers[0], 'bob'))
    assert.equal(await post(tokenInit(recipe, token, texts[0])), 202);
  await eventually(() => assert.equal(aggregator.records.length, 2 * PER_DAY));
});
