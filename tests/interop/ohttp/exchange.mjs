// SPDX-License-Identifier: Apache-2.0
// An exchange each way with the Rust crates ohttp and bhttp: builds the program beside this file (cargo, and crates from its registry), has each
// side seal what the other opens, and writes the messages to wasm/test/ohttp_vectors.json, which wasm/test/bindings/ohttp_vectors.test.mjs reads.
//
//   node tests/interop/ohttp/exchange.mjs [TARGET]     TARGET: cargo's folder for what it builds, by default build/ohttp
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { keysOf, openRequest } from '../../../edge/ohttp.js';
import { encodeRequest, encodeResponse, readResponse } from '../../../wasm/bindings/binary_http.js';
import { decodeRequest } from '../../../wasm/bindings/binary_http_reader.js';
import { keyOf } from '../../../wasm/bindings/encapsulation.js';
import { encapsulate } from '../../../wasm/client/hpke.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../../..');
const target = process.argv[2] ?? join(root, 'build/ohttp');
execFileSync('cargo', ['build', '--release', '--quiet'], {
  cwd: here,
  env: { ...process.env, CARGO_TARGET_DIR: target },
  stdio: 'inherit',
});

const rust = spawn(join(target, 'release/ohttp-vectors'), { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface({ input: rust.stdout })[Symbol.asyncIterator]();
/** @param {...string} words @returns {Promise<string>} */
async function ask(...words) {
  rust.stdin.write(`${words.join(' ')}\n`);
  const { value, done } = await lines.next();
  assert.ok(!done, 'the program ended');
  return value;
}

/** @param {ArrayBuffer | Uint8Array} bytes */
const hexOf = (bytes) => Buffer.from(/** @type {any} */ (bytes)).toString('hex');
const bytesOf = (/** @type {string} */ text) => new Uint8Array(Buffer.from(text, 'hex'));
const ascii = (/** @type {string} */ text) => new TextEncoder().encode(text);
const { kem } = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

/** The secret of a derived pair, hex. @param {CryptoKeyPair} pair */
async function secretOf({ privateKey }) {
  const { d } = await crypto.subtle.exportKey('jwk', privateKey);
  return Buffer.from(String(d), 'base64url').toString('hex');
}

// One key on both sides.
const ikm = hexOf(randomBytes(32));
const pair = await kem.deriveKeyPair(bytesOf(ikm).buffer);
const secret = await secretOf(pair);
const configuration = await ask('config', ikm);
const keys = await keysOf([{ id: 1, secret }]);
assert.equal(hexOf(keys[0].configuration), configuration, 'one configuration, byte for byte');

// The crate is the client, the gateway is ours.
const sealed = await ask('seal', configuration, '/v1/reports');
const opened = await openRequest(keys, bytesOf(sealed));
assert.ok(opened);
const request = decodeRequest(opened.message);
assert.deepEqual(
  [
    request.method,
    request.scheme,
    request.authority,
    request.path,
    request.fields,
    Buffer.from(request.content).toString(),
  ],
  [
    'POST',
    'https',
    'edge.example',
    '/v1/reports',
    [['content-type', 'text/plain']],
    'sealed by rust',
  ],
);
const answer = await opened.seal(
  encodeResponse({ status: 202, fields: [['date', 'now']], content: ascii('answered by us') }, 512),
);
assert.equal(await ask('opened', hexOf(answer)), '202 answered by us');

// Ours is the client, the crate is the gateway.
const ephemeralIkm = hexOf(randomBytes(32));
const ephemeral = await kem.deriveKeyPair(bytesOf(ephemeralIkm).buffer);
const message = encodeRequest(
  {
    method: 'POST',
    scheme: 'https',
    authority: 'edge.example',
    path: '/tasks/x/reports',
    fields: [['content-type', 'text/plain']],
    content: ascii('sealed-by-us'),
  },
  2048,
);
const key = keyOf(bytesOf(configuration));
assert.ok(key);
const { body, open } = await encapsulate(key, message, ephemeral);
const said = (await ask('answer', ikm, hexOf(body))).split(' ');
assert.deepEqual(said.slice(0, 5), [
  'POST',
  'https',
  'edge.example',
  '/tasks/x/reports',
  'sealed-by-us',
]);
const response = readResponse(await open(bytesOf(said[5])));
assert.deepEqual(
  [response.status, response.fields, Buffer.from(response.content).toString()],
  [202, [['content-type', 'text/plain']], 'answered by rust'],
);
rust.stdin.end();

const vectors = {
  source: 'tests/interop/ohttp/exchange.mjs, with the crates ohttp 0.8.0 and bhttp 0.8.0',
  secret,
  configuration,
  rustClient: { request: sealed, message: hexOf(opened.message) },
  rustGateway: {
    ephemeral: await secretOf(ephemeral),
    message: hexOf(message),
    request: hexOf(body),
    answer: said[5],
  },
};
writeFileSync(join(root, 'wasm/test/ohttp_vectors.json'), `${JSON.stringify(vectors, null, 2)}\n`);
process.stdout.write('an exchange each way; wasm/test/ohttp_vectors.json is written\n');
