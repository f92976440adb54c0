// SPDX-License-Identifier: Apache-2.0
// The gateway of Oblivious HTTP under random input: what was changed on the way is never taken, what
// was sealed is answered in one length, and no bytes make it fail.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { load } from 'shoal-client/node';
import { encodeRequest } from 'shoal-client/binary-http';
import { MessageError, decodeRequest, decodeResponse } from 'shoal-client/binary-http-reader';
import { Gateway } from '../../edge/gateway.js';
import { answer } from '../../edge/handler.js';
import { bytes, changedBytes, pieces } from './inputs.mjs';

/** The edge's own helpers, which have no types. @param {string} name */
const helpers = (name) => import(new URL(`../../edge/test/${name}`, import.meta.url).href);
const { ANSWER_LENGTH, GATEWAY, REQUEST_LENGTH, ohttpInit, sealBytes } =
  await helpers('ohttp_client.mjs');
const { recipeJson, reportInit } = await helpers('support.mjs');

const NOON = Date.UTC(2029, 0, 1, 12);

async function edgeWithGateway() {
  const recipe = (await load()).recipe(recipeJson({ parameters: { epsilon: 4, k: 16, m: 32 } }));
  /** @type {string[]} */
  const taken = [];
  const accept = async (/** @type {any} */ _, /** @type {string} */ key) => (
    taken.push(key),
    'accepted'
  );
  const deps = /** @type {any} */ ({
    collections: new Map([[recipe.hash, { recipe, accept }]]),
    recipes: [],
    origins: [],
    now: () => NOON,
    gateway: await Gateway.open({
      ...GATEWAY,
      relays: [{ ...GATEWAY.relays[0], perMinute: 1e12 }],
    }),
  });
  /** @param {Uint8Array} body @param {Record<string, string>} headers */
  const post = async (body, headers) => {
    taken.length = 0;
    const sent = new Map(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const said = await answer(
      /** @type {any} */ ({
        method: 'POST',
        url: 'https://edge.example/ohttp',
        headers: { get: (/** @type {string} */ name) => sent.get(name) ?? null },
        body: { getReader: () => pieces(body, []) },
      }),
      deps,
    );
    return { ...said, bytes: Buffer.from(said.body ?? '') };
  };
  return { recipe, taken, post };
}

/** A request for /v1/reports as a device seals it, before it is sealed. @param {any} recipe */
function messageOf(recipe) {
  const { headers, body } = reportInit(recipe.report(recipe.randomize('dark', new Uint8Array(32))));
  const date = new Date(NOON).toUTCString();
  const fields = Object.entries({ Date: date, ...headers });
  return encodeRequest(
    {
      method: 'POST',
      scheme: 'https',
      authority: 'edge.example',
      path: '/v1/reports',
      fields: fields.map(([name, value]) => [name.toLowerCase(), String(value)]),
      content: new TextEncoder().encode(String(body)),
    },
    REQUEST_LENGTH,
  );
}

const HEADERS = ohttpInit('').headers;

/** @type {import('./run.mjs').Property} */
const sealedRequests = {
  name: 'edge gateway, changed on the way',
  wanted: 1e6,
  async make() {
    const { recipe, taken, post } = await edgeWithGateway();
    const { body } = await sealBytes(messageOf(recipe));
    const whole = await post(body, HEADERS);
    assert.deepEqual([whole.status, whole.bytes.length, taken.length], [200, ANSWER_LENGTH, 1]);
    const sent = fc.oneof(changedBytes(body), bytes(2100), fc.constant(body));
    const headers = fc.constantFrom(HEADERS, { ...HEADERS, Authorization: 'Bearer nobody' }, {});
    return fc.asyncProperty(sent, headers, async (sent, headers) => {
      const said = await post(sent, headers);
      const isWhole = headers === HEADERS && Buffer.compare(sent, body) === 0;
      assert.deepEqual([said.status === 200, taken.length], [isWhole, Number(isWhole)]);
      if (isWhole) return true;
      const wanted = headers === HEADERS ? [400] : [401, 415];
      assert.ok(wanted.includes(said.status), String(said.status));
      assert.ok(!said.bytes.includes('internal'));
      return true;
    });
  },
};

/** @type {import('./run.mjs').Property} */
const sealedMessages = {
  name: 'edge gateway, what was sealed',
  wanted: 1e6,
  async make() {
    const { recipe, taken, post } = await edgeWithGateway();
    const message = messageOf(recipe);
    const end = message.findLastIndex((byte) => byte !== 0) + 1;
    const cut = message.subarray(0, end);
    const sent = fc.oneof(changedBytes(cut), changedBytes(cut.subarray(0, 60)), bytes(300));
    return fc.asyncProperty(sent, async (sent) => {
      const request = await sealBytes(new Uint8Array(sent));
      const said = await post(request.body, HEADERS);
      assert.deepEqual(
        [said.status, said.bytes.length],
        [200, ANSWER_LENGTH],
        'one length for all',
      );
      const { status, content } = await request.open(new Uint8Array(said.bytes));
      const text = Buffer.from(content).toString();
      assert.ok(!text.includes('"internal"'), text);
      assert.equal(status === 202, taken.length === 1, text);
      return true;
    });
  },
};

/** What two readings of a message agree on. @param {any} message */
const plainOf = ({ method, scheme, authority, path, fields, content, trailers }) => ({
  ...{ method, scheme, authority, path, fields, trailers },
  content: Buffer.from(content).toString('hex'),
});

/** @type {import('./run.mjs').Property} */
const messages = {
  name: 'binary HTTP',
  wanted: 1e7,
  async make() {
    const { recipe } = await edgeWithGateway();
    const message = messageOf(recipe);
    const known = message.subarray(0, message.findLastIndex((byte) => byte !== 0) + 1);
    const open = Buffer.from('02034745540568747470730161012f00000000', 'hex'); // indeterminate
    const sent = fc.oneof(changedBytes(known), changedBytes(open), bytes(80));
    return fc.asyncProperty(sent, async (sent) => {
      for (const read of [decodeRequest, decodeResponse]) {
        let got;
        try {
          got = read(new Uint8Array(sent));
        } catch (error) {
          assert.ok(error instanceof MessageError, String(error));
          continue;
        }
        if (read !== decodeRequest) continue;
        // What was read, written with known lengths, is read as the same.
        const again = decodeRequest(encodeRequest(/** @type {any} */ (got)));
        assert.deepEqual(plainOf(again), plainOf(got));
      }
      return true;
    });
  },
};

export const gatewayProperties = [sealedRequests, sealedMessages, messages];
