// SPDX-License-Identifier: Apache-2.0
// What C seals JavaScript opens, and the reverse: aggregator/dap/hpke.c by tests/aggregator/dap/hpke_pipe.c against @hpke/core, which the
// page's client uses.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const program = join(process.env.SHOAL_BUILD ?? join(root, 'build/release'), 'tests/hpke_pipe');
const skip = !existsSync(program) && `${program} is not built`;

const suite = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

/** @param {ArrayBuffer | Uint8Array} bytes */
const hex = (bytes) =>
  bytes.byteLength === 0 ? '-' : Buffer.from(/** @type {Uint8Array} */ (bytes)).toString('hex');
/** @param {string} text */
const bytes = (text) => new Uint8Array(Buffer.from(text === '-' ? '' : text, 'hex'));

/** A pipe to the program: one request, one answer. */
function open() {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    /** @param {(string | ArrayBuffer | Uint8Array)[]} words */
    async ask(...words) {
      child.stdin.write(
        `${words.map((word) => (typeof word === 'string' ? word : hex(word))).join(' ')}\n`,
      );
      return /** @type {string} */ ((await lines.next()).value).split(' ');
    },
    close: () => child.stdin.end(),
  };
}

/** Lengths around a block, an empty one and a share of a long vector; the contents follow from the length. */
const messages = [0, 1, 16, 33, 5000, 40000].map((length) =>
  Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 255),
);
const text = new TextEncoder();
const info = text.encode('dap-18 input share\x01\x02');

async function makeKeys() {
  const pair = await suite.kem.generateKeyPair();
  return {
    pair,
    publicKey: await suite.kem.serializePublicKey(pair.publicKey),
    secretKey: await suite.kem.serializePrivateKey(pair.privateKey),
  };
}

test('what C seals, JavaScript opens', { skip }, async () => {
  const { pair, publicKey } = await makeKeys();
  const pipe = open();
  for (const message of messages) {
    const aad = message.slice(0, 100);
    const [enc, ciphertext] = await pipe.ask('seal', publicKey, info, aad, message);
    const opened = await suite.open(
      { recipientKey: pair.privateKey, enc: bytes(enc), info },
      bytes(ciphertext),
      aad,
    );
    assert.deepEqual(new Uint8Array(opened), message);
    const wrong = suite.open(
      { recipientKey: pair.privateKey, enc: bytes(enc), info: text.encode('other') },
      bytes(ciphertext),
      aad,
    );
    await assert.rejects(wrong);
  }
  pipe.close();
});

test('what JavaScript seals, C opens', { skip }, async () => {
  const { pair, secretKey } = await makeKeys();
  const pipe = open();
  for (const message of messages) {
    const aad = message.slice(0, 100);
    const { enc, ct } = await suite.seal(
      { recipientPublicKey: pair.publicKey, info },
      message,
      aad,
    );
    const [plaintext] = await pipe.ask('open', secretKey, enc, info, aad, ct);
    assert.deepEqual(bytes(plaintext), message);
    assert.deepEqual(await pipe.ask('open', secretKey, enc, text.encode('other'), aad, ct), [
      'error',
      'record',
    ]);
    assert.deepEqual(await pipe.ask('open', secretKey, enc, info, text.encode('other'), ct), [
      'error',
      'record',
    ]);
  }
  pipe.close();
});
