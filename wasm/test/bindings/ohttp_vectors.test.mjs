// SPDX-License-Identifier: Apache-2.0
// Messages of the Rust crates ohttp and bhttp, each way: the client and the gateway here read what those made, and the client makes the request
// that those opened, byte for byte. tests/interop/ohttp/exchange.mjs made the figures, and says what the crates answered.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readResponse } from '../../bindings/binary_http.js';
import { decodeRequest } from '../../bindings/binary_http_reader.js';
import { keyOf } from '../../bindings/encapsulation.js';
import { encapsulate } from '../../client/hpke.js';

// The edge is JavaScript with paths of its own, which this package's types do not follow.
const { hexOf, keysOf, openRequest } = await import(
  new URL('../../../edge/ohttp.js', import.meta.url).href
);
const vectors = JSON.parse(
  await readFile(new URL('../ohttp_vectors.json', import.meta.url), 'utf8'),
);
const bytesOf = (/** @type {string} */ text) => new Uint8Array(Buffer.from(text, 'hex'));
const textOf = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString();

test('a request of the Rust client opens at the gateway', async () => {
  const keys = await keysOf([{ id: 1, secret: vectors.secret }]);
  assert.equal(hexOf(keys[0].configuration), vectors.configuration);
  const opened = await openRequest(keys, bytesOf(vectors.rustClient.request));
  assert.equal(hexOf(opened.message), vectors.rustClient.message);
  const { method, path, fields, content } = decodeRequest(opened.message);
  assert.deepEqual(
    [method, path, fields, textOf(content)],
    ['POST', '/v1/reports', [['content-type', 'text/plain']], 'sealed by rust'],
  );
});

test('the client makes the request that the Rust gateway opened, and opens its answer', async () => {
  const { ephemeral, message, request, answer } = vectors.rustGateway;
  const pkcs8 = bytesOf(`302e020100300506032b656e04220420${ephemeral}`);
  const privateKey = await crypto.subtle.importKey('pkcs8', pkcs8, 'X25519', true, ['deriveBits']);
  const { d: _, key_ops: __, ...jwk } = await crypto.subtle.exportKey('jwk', privateKey);
  const publicKey = await crypto.subtle.importKey('jwk', jwk, 'X25519', true, []);
  const key = keyOf(bytesOf(vectors.configuration));
  assert.ok(key);
  const { body, open } = await encapsulate(key, bytesOf(message), { privateKey, publicKey });
  assert.equal(hexOf(body), request);
  const { status, content } = readResponse(await open(bytesOf(answer)));
  assert.deepEqual([status, textOf(content)], [202, 'answered by rust']);
});
