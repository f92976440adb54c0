// SPDX-License-Identifier: Apache-2.0
// Node's way to open sealed requests against RFC 9458's example and against the library's way, for whole, damaged and foreign requests.

import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { encodeResponse } from 'shoal-client/binary-http';
import { hexOf, keysOf, openRequest as byLibrary } from '../ohttp.js';
import { openRequest } from '../ohttp_node.js';
import { KEYS, publicKey, sealBytes } from './ohttp_client.mjs';

const hex = (text) => new Uint8Array(Buffer.from(text, 'hex'));
const OTHER = [{ id: 7, secret: '33'.repeat(32) }, ...KEYS];

test("the gateway's half of RFC 9458's example", async () => {
  const keys = await keysOf([
    { id: 1, secret: '3c168975674b2fa8e465970b79c8dcf09f1c741626480bd4c6162fc5b6a98e1a' },
  ]);
  const request =
    '010020000100014b28f881333e7c164ffc499ad9796f877f4e1051ee6d31bad19dec96c208b4726374e469135906992e1268c594d2a10c695d858c40a026e7965e7d86' +
    'b83dd440b2c0185204b4d63525';
  const opened = openRequest(keys, hex(request), () => hex('c789e7151fcba46158ca84b04464910d'));
  assert.equal(hexOf(opened.message), '00034745540568747470730b6578616d706c652e636f6d012f');
  assert.equal(
    hexOf(opened.seal(hex('0140c8'))),
    'c789e7151fcba46158ca84b04464910d86f9013e404feea014e7be4a441f234f857fbd',
  );
});

test('what the library opens is opened to the same bytes, and its client opens the answer', async () => {
  const keys = await keysOf(OTHER);
  const nonces = new Set();
  for (const length of [0, 1, 15, 16, 17, 400, 2048, 70_000])
    for (const at of [0, 1]) {
      const message = randomBytes(length);
      const { body, open } = await sealBytes(message, await publicKey(OTHER, at));
      const opened = openRequest(keys, body);
      assert.ok(message.equals(opened.message), `${length}`);
      const response = encodeResponse({ status: 202, fields: [], content: message }, 80_000);
      const answer = opened.seal(response);
      const said = await open(answer);
      assert.deepEqual([said.status, Buffer.from(said.content)], [202, message]);
      nonces.add(hexOf(answer.subarray(0, 16)));
      const [nonce, library] = [randomBytes(16), await byLibrary(keys, body, () => nonce)];
      const own = openRequest(keys, body, () => nonce);
      assert.equal(hexOf(await library.seal(message)), hexOf(own.seal(message)));
    }
  assert.equal(nonces.size, 16, 'each answer has a nonce of its own');
});

test('nonces stay apart when many answers are sealed', async () => {
  const keys = await keysOf(KEYS);
  const opened = openRequest(keys, (await sealBytes(randomBytes(9))).body);
  const nonces = new Set();
  for (let i = 0; i < 1000; i++) nonces.add(hexOf(opened.seal(hex('')).subarray(0, 16)));
  assert.equal(nonces.size, 1000);
});

test('what the library does not open is not opened', async () => {
  const keys = await keysOf(OTHER);
  const { body } = await sealBytes(randomBytes(100));
  const stranger = await sealBytes(
    randomBytes(100),
    await publicKey([{ id: 1, secret: '22'.repeat(32) }]),
  );
  /** A header and a public key of small order, whose shared secret is zeros. */
  const small = (point) => Buffer.concat([body.subarray(0, 7), hex(point), body.subarray(39)]);
  const bad = [
    stranger.body,
    small('00'.repeat(32)),
    small(`01${'00'.repeat(31)}`),
    small('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800'),
    Buffer.concat([hex('02'), body.subarray(1)]),
    Buffer.concat([hex('01001000010001'), body.subarray(7)]),
    Buffer.concat([body, hex('00')]),
    Buffer.alloc(0),
    ...[1, 6, 7, 38, 39, 54, 55, 60, body.length - 1].map((end) => body.subarray(0, end)),
  ];
  for (let i = 0; i < body.length; i++)
    bad.push(Buffer.from(body.map((byte, at) => (at === i ? byte ^ (1 << randomInt(8)) : byte))));
  let refused = 0;
  for (const [i, bytes] of bad.entries()) {
    const library = await byLibrary(keys, bytes);
    const own = openRequest(keys, bytes);
    assert.equal(own === null, library === null, `case ${i}`);
    if (own === null) refused++;
  }
  assert.ok(refused >= bad.length - 1, 'the highest bit of a public key is ignored');
  assert.ok(openRequest(keys, body), 'a refusal leaves nothing behind');
});

test('a request that lies within a larger buffer', async () => {
  const keys = await keysOf(KEYS);
  const message = randomBytes(50);
  const { body } = await sealBytes(message);
  const larger = new Uint8Array(Buffer.concat([randomBytes(13), body, randomBytes(9)]));
  const opened = openRequest(keys, larger.subarray(13, 13 + body.length));
  assert.ok(message.equals(opened.message));
});
