// SPDX-License-Identifier: Apache-2.0
// A client of Oblivious HTTP for tests of the gateway. It knows HPKE and the codec, and nothing of the browser's client.

import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { encodeRequest } from 'shoal-client/binary-http';
import { decodeResponse } from 'shoal-client/binary-http-reader';
import { headerOf, infoOf, keyOf, responseCipher } from 'shoal-client/encapsulation';
import { keysOf } from '../ohttp.js';

const suite = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

export const KEYS = [{ id: 1, secret: '11'.repeat(32) }];
export const RELAY = { name: 'relay-a', token: 'a-token-of-relay-a', perMinute: 100_000 };
export const GATEWAY = { keys: KEYS, relays: [RELAY] };
export const REQUEST_LENGTH = 2048;
export const ANSWER_LENGTH = 512 + 16 + 16; // padding, nonce and tag
export const hour = (now = Date.now()) => new Date(now - (now % 3_600_000)).toUTCString();

/** What a client knows of a gateway's key. */
export const publicKey = async (keys = KEYS, at = 0) =>
  keyOf((await keysOf(keys))[at].configuration);

/** Seals bytes. Returns what a relay sends, and what opens the answer. */
export async function sealBytes(message, key) {
  const { id, publicKey: raw } = key ?? (await publicKey());
  const header = headerOf(id);
  const recipientPublicKey = await suite.kem.deserializePublicKey(raw);
  const sender = await suite.createSenderContext({ recipientPublicKey, info: infoOf(header) });
  const body = Buffer.concat(
    [header, sender.enc, await sender.seal(message)].map((part) => Buffer.from(part)),
  );
  const secret = await sender.export(new TextEncoder().encode('message/bhttp response'), 16);
  const open = async (answer) => {
    const nonce = answer.slice(0, 16);
    const enc = new Uint8Array(sender.enc);
    return decodeResponse(await responseCipher('decrypt', secret, enc, nonce, answer.slice(16)));
  };
  return { body, open };
}

/** Seals a request as fetch() takes it. */
export async function sealed(
  path,
  { method = 'POST', headers = {}, body = '', date = hour(), length = REQUEST_LENGTH } = {},
  key,
) {
  const fields = Object.entries({ date, ...headers }).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  const content = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
  const request = { method, scheme: 'https', authority: 'edge.example', path, fields, content };
  return sealBytes(encodeRequest(request, length), key);
}

/** As a relay posts it. */
export const ohttpInit = (body, headers = {}) => ({
  method: 'POST',
  headers: {
    'Content-Type': 'message/ohttp-req',
    Authorization: `Bearer ${RELAY.token}`,
    ...headers,
  },
  body,
});

/**
 * Sends a sealed request by a function like fetch. Returns the outer answer's status and bytes, and the opened answer of a 200.
 */
export async function exchange(post, request, headers) {
  const response = await post('/ohttp', ohttpInit(request.body, headers));
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = Buffer.from(bytes).toString();
  if (response.status !== 200) return { status: response.status, text, response };
  const inner = await request.open(bytes);
  const fields = Object.fromEntries(inner.fields);
  const said = Buffer.from(inner.content).toString();
  return { status: 200, bytes, inner: { status: inner.status, fields, said }, response };
}
