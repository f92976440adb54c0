// SPDX-License-Identifier: Apache-2.0
// Two servers as tests see them: keys, an open share, and the sum of the two. Written from the drafts, with nothing of the core, so that
// what the core writes is read by another hand: XofTurboShake128 over BigInt, Field128 by %, messages by DataView.
import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';

const P = 2n ** 128n - 28n * 2n ** 64n + 1n;
const MASK = 2n ** 64n - 1n;
const RATE = 168;
const suite = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

/** @param {bigint} x @param {number} n */
const rotl = (x, n) => ((x << BigInt(n)) | (x >> BigInt(64 - n))) & MASK;

/** Keccak's round constants, by the linear feedback shift register of FIPS 202 section 3.2.5. */
const ROUNDS = (() => {
  let r = 1;
  return Array.from({ length: 24 }, () => {
    let constant = 0n;
    for (let j = 0; j <= 6; j++) {
      if (r & 1) constant |= 1n << BigInt(2 ** j - 1);
      r = r & 0x80 ? (r << 1) ^ 0x171 : r << 1;
    }
    return constant;
  });
})();

/** @param {bigint[]} a lanes, of the last 12 rounds */
function permute(a) {
  for (const constant of ROUNDS.slice(12)) {
    const c = [0, 1, 2, 3, 4].map((x) => a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20]);
    for (let i = 0; i < 25; i++) a[i] ^= c[(i + 4) % 5] ^ rotl(c[(i + 1) % 5], 1);
    let [x, y, moved] = [1, 0, a[1]];
    for (let t = 0; t < 24; t++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const kept = a[x + 5 * y];
      a[x + 5 * y] = rotl(moved, (((t + 1) * (t + 2)) / 2) % 64);
      moved = kept;
    }
    for (let row = 0; row < 25; row += 5) {
      const b = a.slice(row, row + 5);
      for (let i = 0; i < 5; i++) a[row + i] = b[i] ^ (~b[(i + 1) % 5] & MASK & b[(i + 2) % 5]);
    }
    a[0] ^= constant;
  }
}

/** TurboSHAKE128 with domain 1. @param {Uint8Array} message @param {number} len */
export function turboshake(message, len) {
  const padded = new Uint8Array(Math.ceil((message.length + 1) / RATE) * RATE);
  padded.set(message);
  padded[message.length] ^= 1;
  padded[padded.length - 1] ^= 0x80;
  const view = new DataView(padded.buffer);
  const lanes = new Array(25).fill(0n);
  for (let at = 0; at < padded.length; at += RATE) {
    for (let i = 0; i < RATE / 8; i++) lanes[i] ^= view.getBigUint64(at + 8 * i, true);
    permute(lanes);
  }
  const out = new Uint8Array(Math.ceil(len / RATE) * RATE);
  const outView = new DataView(out.buffer);
  for (let at = 0; at < len; at += RATE) {
    if (at > 0) permute(lanes);
    for (let i = 0; i < RATE / 8; i++) outView.setBigUint64(at + 8 * i, lanes[i], true);
  }
  return out.subarray(0, len);
}

/** @param {...(Uint8Array | number[] | string)} parts */
export function bytes(...parts) {
  return Uint8Array.from(
    parts.flatMap((part) => [
      ...(typeof part === 'string' ? new TextEncoder().encode(part) : part),
    ]),
  );
}

/** Big-endian. @param {number | bigint} value @param {number} n */
export function number(value, n) {
  return Array.from({ length: n }, (_, i) =>
    Number((BigInt(value) >> BigInt(8 * (n - 1 - i))) & 255n),
  );
}

/** @param {Uint8Array | number[] | string} part @param {number} prefix */
export function opaque(part, prefix) {
  const inner = bytes(part);
  return bytes(number(inner.length, prefix), inner);
}

/** @param {Uint8Array} b */
const elements = (b) => {
  const view = new DataView(b.buffer, b.byteOffset, b.byteLength);
  return Array.from(
    { length: b.length / 16 },
    (_, i) => view.getBigUint64(16 * i, true) | (view.getBigUint64(16 * i + 8, true) << 64n),
  );
};

/** @param {Uint8Array} seed of the helper @param {number} algorithm @param {Uint8Array} context @param {number} n */
function helperMeasurement(seed, algorithm, context, n) {
  const tag = bytes([18, 0], number(algorithm, 4), number(1, 2), context);
  const message = bytes([tag.length & 255, tag.length >> 8], tag, [32], seed, [1]);
  return elements(turboshake(message, 16 * (n + 8)))
    .filter((x) => x < P)
    .slice(0, n); // a few more, for what is drawn again
}

/**
 * What a report says, from both its shares.
 * @param {{leader: Uint8Array, helper: Uint8Array}} plaintexts @param {number} algorithm of the VDAF: 4 a histogram, 5 a multihot vector
 * @param {Uint8Array} taskId @param {number} n entries of the vector
 */
export function measurementOf({ leader, helper }, algorithm, taskId, n) {
  const shares = [leader, helper].map((plaintext) => {
    const view = new DataView(plaintext.buffer, plaintext.byteOffset);
    if (view.getUint16(0) !== 0 || view.getUint32(2) !== plaintext.length - 6)
      throw new Error('no input share');
    return plaintext.subarray(6);
  });
  if (shares[1].length !== 64) throw new Error('no helper share');
  const other = helperMeasurement(shares[1].subarray(0, 32), algorithm, bytes('dap-18', taskId), n);
  return elements(shares[0].subarray(0, 16 * n)).map((x, i) => Number((x + other[i]) % P));
}

/** A server: its key, its list of keys, and what it opens. @param {number} id of the config */
export async function makeServer(id) {
  const pair = await suite.kem.generateKeyPair();
  const publicKey = new Uint8Array(await suite.kem.serializePublicKey(pair.publicKey));
  const config = bytes([id], number(0x20, 2), number(1, 2), number(1, 2), opaque(publicKey, 2));
  return {
    id,
    publicKey,
    list: opaque(config, 2),
    /** @param {{enc: Uint8Array, payload: Uint8Array}} sealed @param {Uint8Array} info @param {Uint8Array} aad */
    open: async ({ enc, payload }, info, aad) =>
      new Uint8Array(
        await suite.open(
          { recipientKey: pair.privateKey, enc: enc.slice().buffer, info },
          payload,
          aad,
        ),
      ),
  };
}

/** A report, taken apart. @param {Uint8Array} report */
export function readReport(report) {
  report = Uint8Array.from(report); // which may be a Buffer: those share their memory
  const view = new DataView(report.buffer, report.byteOffset, report.byteLength);
  let at = 0;
  const take = (/** @type {number} */ n) => report.subarray(at, (at += n));
  const length = (/** @type {2 | 4} */ n) =>
    n === 2 ? view.getUint16((at += 2) - 2) : view.getUint32((at += 4) - 4);
  const ciphertext = () => ({ config: take(1)[0], enc: take(length(2)), payload: take(length(4)) });
  const read = {
    id: take(16),
    time: Number(view.getBigUint64((at += 8) - 8)),
    extensions: take(length(2)),
    publicShare: take(length(4)),
    leader: ciphertext(),
    helper: ciphertext(),
  };
  if (at !== report.length) throw new Error(`${report.length - at} bytes more`);
  return read;
}

/**
 * @typedef {object} TaskSpec a task configuration, as the draft encodes it
 * @property {string} info
 * @property {string} leader
 * @property {string} helper
 * @property {number} precision
 * @property {number} minimum
 * @property {number} [duration]
 * @property {number} algorithm
 * @property {number[]} vdaf its encoded parameters
 */

/** @param {TaskSpec} t */
export const configurationOf = ({
  info,
  leader,
  helper,
  precision,
  minimum,
  duration,
  algorithm,
  vdaf,
}) =>
  bytes(
    opaque(info, 1),
    opaque(leader, 2),
    opaque(helper, 2),
    number(precision, 8),
    number(minimum, 8),
    [1],
    [0, 0],
    number(algorithm, 4),
    opaque(vdaf, 2),
    opaque(
      duration ? bytes(number(1, 2), opaque(bytes(number(0, 8), number(duration, 8)), 2)) : [],
      2,
    ),
  );

/** Both shares of a report, opened by those whose they are. @param {Uint8Array} report @param {{open: any}[]} servers @param {Uint8Array} taskId @param {Uint8Array} configuration */
export async function openReport(report, [leader, helper], taskId, configuration) {
  const read = readReport(report);
  const aad = bytes(
    taskId,
    configuration,
    read.id,
    number(read.time, 8),
    opaque(read.extensions, 2),
    opaque(read.publicShare, 4),
  );
  const info = (/** @type {number} */ role) => bytes('dap-18 input share', [1, role]);
  return {
    ...read,
    plaintexts: {
      leader: await leader.open(read.leader, info(2), aad),
      helper: await helper.open(read.helper, info(3), aad),
    },
  };
}

export const LEADER = 'https://leader.example/dap';
export const HELPER = 'https://helper.example/dap';

/** A recipe of two servers, which sends at once. @param {any} [more] */
export const coloursRecipe = (more = {}) => ({
  recipe: 'colours',
  analysis: 'colours',
  stream: 'choices',
  value: 'item',
  mechanism: 'grr',
  parameters: { epsilon: 16, values: ['red', 'green', 'blue', 'white'] },
  limit: { per_day: 100 },
  send: { fresh: 'allow', delay_s: 0 },
  cohort: { minimum: 50 },
  aggregation: { protocol: 'dap', leader: LEADER, helper: HELPER },
  expires: '2030-01-01',
  ...more,
});

/**
 * An edge and two servers behind one fetch. Each upload is answered by the next of `answers`, then by an empty 200.
 * @param {{leader: {list: Uint8Array}, helper: {list: Uint8Array}}} servers
 */
export function fakeNetwork(servers) {
  /** @typedef {number | Uint8Array | Error | {status: number, headers: Record<string, string>}} Reply */
  const network = {
    servers,
    cacheControl: 'max-age=86400',
    isDown: false,
    /** @type {string[]} */ keyRequests: [],
    /** @type {{url: string, init: any, body: Uint8Array}[]} */ uploads: [],
    /** @type {(Reply | ((body: Uint8Array) => Reply))[]} */ answers: [],
    /** @param {any} url @param {any} [init] @returns {Promise<Response>} */
    async fetch(url, init) {
      const address = String(url);
      for (const [base, { list }] of /** @type {const} */ ([
        [LEADER, network.servers.leader],
        [HELPER, network.servers.helper],
      ])) {
        if (address !== `${base}/hpke_config`) continue;
        network.keyRequests.push(address);
        if (network.isDown) throw new Error('down');
        return new Response(/** @type {any} */ (list), {
          headers: { 'Cache-Control': network.cacheControl },
        });
      }
      network.uploads.push({ url: address, init, body: Uint8Array.from(init.body) });
      const next = network.answers.shift() ?? 200;
      const answer = typeof next === 'function' ? next(Uint8Array.from(init.body)) : next;
      if (answer instanceof Error) throw answer;
      if (answer instanceof Uint8Array) return new Response(/** @type {any} */ (answer));
      const { status, headers } =
        typeof answer === 'number' ? { status: answer, headers: {} } : answer;
      return new Response(null, { status, headers });
    },
  };
  return network;
}

/** A leader's word about the report that it is sent. @param {number} error @returns {(body: Uint8Array) => Uint8Array} */
export const says = (error) => (body) => bytes(body.subarray(0, 16), [error]);

/** @param {string} hex */
export const fromHex = (hex) =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
