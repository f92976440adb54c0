// SPDX-License-Identifier: Apache-2.0
// A leader and a helper that only have keys and listen, for tests of what uploads: they keep each request, open its reports with
// @hpke/core, and answer what the test says. All bytes are laid out here by hand from draft-ietf-ppm-dap-18, not by our codec.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';

export const suite = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

/** A number of `size` bytes, big-endian. @param {number} number @param {number} size */
export function number(number, size) {
  const out = Buffer.alloc(size);
  out.writeUIntBE(number % 2 ** 48, size > 6 ? size - 6 : 0, Math.min(size, 6));
  return out;
}

/** Bytes behind their length. @param {Uint8Array} bytes @param {number} size of the length */
export const opaque = (bytes, size) => Buffer.concat([number(bytes.length, size), bytes]);

/** @typedef {{ id: number, pair: CryptoKeyPair, publicKey: Buffer }} Key */

/** @param {number} id @returns {Promise<Key>} */
export async function makeKey(id) {
  const pair = await suite.kem.generateKeyPair();
  return { id, pair, publicKey: Buffer.from(await suite.kem.serializePublicKey(pair.publicKey)) };
}

/** struct HpkeConfig: X25519, HKDF-SHA256, and an AEAD. @param {{ id: number, publicKey: Buffer }} key */
export const hpkeConfig = (key, aead = 1) =>
  Buffer.concat([
    number(key.id, 1),
    number(0x20, 2),
    number(1, 2),
    number(aead, 2),
    opaque(key.publicKey, 2),
  ]);

/** Cuts messages. @param {Buffer} bytes */
export function reader(bytes) {
  let at = 0;
  const take = (/** @type {number} */ length) => {
    if (at + length > bytes.length) throw new Error('the message ends early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  return {
    take,
    number: (/** @type {number} */ size) => Number(BigInt(`0x${take(size).toString('hex')}`)),
    opaque(/** @type {number} */ size) {
      return take(this.number(size));
    },
    isAtEnd: () => at === bytes.length,
  };
}

/** The reports of an UploadRequest. @param {Buffer} body */
export function readReports(body) {
  const r = reader(body);
  const ciphertext = () => ({ configId: r.number(1), enc: r.opaque(2), payload: r.opaque(4) });
  const reports = [];
  while (!r.isAtEnd()) {
    const id = r.take(16);
    reports.push({
      id,
      time: r.number(8),
      extensions: r.opaque(2),
      publicShare: r.opaque(4),
      leader: ciphertext(),
      helper: ciphertext(),
    });
  }
  return reports;
}
/** @typedef {ReturnType<typeof readReports>[number]} Report */

/**
 * Opens the share of one server and takes it out of its PlaintextInputShare.
 * @param {Key} key @param {Report} report @param {'leader' | 'helper'} who
 * @param {{ id: Buffer, configuration: Buffer }} task
 */
export async function openShare(key, report, who, task) {
  const info = Buffer.concat([
    Buffer.from('dap-18 input share'),
    number(1, 1),
    number(who === 'leader' ? 2 : 3, 1),
  ]);
  const aad = Buffer.concat([
    task.id,
    task.configuration,
    report.id,
    number(report.time, 8),
    opaque(report.extensions, 2),
    opaque(report.publicShare, 4),
  ]);
  const { configId, enc, payload } = report[who];
  if (configId !== key.id) throw new Error(`sealed to key ${configId}, not ${key.id}`);
  const r = reader(
    Buffer.from(await suite.open({ recipientKey: key.pair.privateKey, enc, info }, payload, aad)),
  );
  if (r.number(2) !== 0) throw new Error('a share with extensions');
  const share = r.opaque(4);
  if (!r.isAtEnd()) throw new Error('a share with more behind it');
  return share;
}

/** An UploadErrors. @param {[Buffer, number][]} errors */
export const uploadErrors = (errors) =>
  Buffer.concat(errors.flatMap(([id, error]) => [id, number(error, 1)]));

/**
 * @typedef {object} Answer
 * @property {number} [status]
 * @property {string} [type]
 * @property {Buffer | string} [body]
 * @property {Record<string, string>} [headers]
 */

/**
 * Starts both, on one port under two paths. `keys` and `answer` may be changed between requests.
 * @param {import('node:test').TestContext} t
 */
export async function startServers(t) {
  const state = {
    url: '',
    leader: '',
    helper: '',
    keys: { leader: await makeKey(3), helper: await makeKey(200) },
    /** Keys in another form than the list of the one. @type {Partial<Record<'leader' | 'helper', Answer>>} */
    keyAnswers: {},
    /** @type {{ method?: string, url?: string, headers: import('node:http').IncomingHttpHeaders, body: Buffer }[]} */
    requests: [],
    /** What the leader answers the n-th upload. @type {(body: Buffer, n: number) => Answer} */
    answer: () => ({}),
    uploads: () => state.requests.filter((request) => request.method === 'POST'),
  };

  /** @param {'leader' | 'helper'} who @returns {Answer} */
  const keysOf = (who) =>
    state.keyAnswers[who] ?? {
      type: 'application/ppm-dap;message=hpke-config-list',
      body: opaque(hpkeConfig(state.keys[who]), 2),
    };

  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    state.requests.push({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body,
    });
    const who =
      request.url === '/l/dap/hpke_config'
        ? 'leader'
        : request.url === '/h/hpke_config'
          ? 'helper'
          : undefined;
    const answer = who ? keysOf(who) : state.answer(body, state.uploads().length);
    response.writeHead(answer.status ?? 200, {
      ...answer.headers,
      ...(answer.type && { 'content-type': answer.type }),
    });
    response.end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  state.url = `http://127.0.0.1:${port}`;
  state.leader = `${state.url}/l/dap`;
  state.helper = `${state.url}/h`;
  return state;
}
