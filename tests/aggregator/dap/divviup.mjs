// SPDX-License-Identifier: Apache-2.0
// @divviup/dap with keys that a test has made: what is put into a report, and what comes out.
import { randomBytes } from 'node:crypto';
import { AeadId, Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { Task } from '@divviup/dap';

/** @typedef {{ id: number, publicKey: Buffer, secretKey: Buffer }} Key */
/** @typedef {{ type: string, length?: number, bits?: number, chunkLength?: number }} Vdaf as the package names it */

const suite = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

/** @param {number} id @returns {Promise<Key>} */
export async function makeKey(id) {
  const pair = await suite.kem.generateKeyPair();
  return {
    id,
    publicKey: Buffer.from(await suite.kem.serializePublicKey(pair.publicKey)),
    secretKey: Buffer.from(await suite.kem.serializePrivateKey(pair.privateKey)),
  };
}

/** An HpkeConfigList of one. @param {Key} key */
export function configList(key) {
  const list = Buffer.alloc(11 + key.publicKey.length);
  list.writeUInt16BE(list.length - 2, 0);
  list.writeUInt8(key.id, 2);
  list.writeUInt16BE(0x0020, 3); // X25519, HKDF-SHA256
  list.writeUInt16BE(0x0001, 5); // HKDF-SHA256
  list.writeUInt16BE(AeadId.Aes128Gcm, 7);
  list.writeUInt16BE(key.publicKey.length, 9);
  key.publicKey.copy(list, 11);
  return list;
}

/**
 * A task of the package whose two servers have keys, but no address.
 * @param {{ vdaf: Vdaf, time_precision_s: number }} options
 */
export async function createDivviupTask({ vdaf, time_precision_s }) {
  const id = randomBytes(32);
  const keys = [await makeKey(11), await makeKey(200)];
  const task = new Task(
    /** @type {any} */ ({
      ...vdaf,
      id,
      leader: 'http://leader.invalid/',
      helper: 'http://helper.invalid/',
      timePrecisionSeconds: time_precision_s,
    }),
  );
  task.fetch = async (url) =>
    new Response(configList(keys[String(url).startsWith('http://leader') ? 0 : 1]), {
      headers: { 'Content-Type': 'application/dap-hpke-config-list' },
    });
  return { id, keys, task };
}

/**
 * One report, in hexadecimal, with the random bytes, the shares and the strings of its encryption.
 * @param {Awaited<ReturnType<typeof createDivviupTask>>} made @param {any} measurement @param {Date} timestamp
 */
export async function recordReport({ id, keys, task }, measurement, timestamp) {
  const hex = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString('hex');
  const vdaf = task.vdaf;
  const shard = vdaf.shardEncoded.bind(vdaf);
  /** @type {{ rand?: string, aad?: string, infos: string[], plaintexts: string[] }} */
  const seen = { infos: [], plaintexts: [] };
  vdaf.shardEncoded = (of, nonce, rand) => {
    seen.rand = hex(rand);
    return shard(of, nonce, rand);
  };
  await task.fetchKeyConfiguration();
  task.aggregators.forEach((aggregator, i) => {
    const config = /** @type {any} */ (aggregator.hpkeConfigList).selectConfig();
    const seal = config.seal.bind(config);
    config.seal = (
      /** @type {Buffer} */ info,
      /** @type {Buffer} */ plaintext,
      /** @type {Buffer} */ aad,
    ) => {
      seen.infos[i] = hex(info);
      seen.plaintexts[i] = hex(plaintext);
      seen.aad = hex(aad);
      return seal(info, plaintext, aad);
    };
  });
  const report = await task.generateReport(measurement, { timestamp });
  return {
    task_id: hex(id),
    time: report.metadata.time,
    config_ids: keys.map((key) => key.id),
    secret_keys: keys.map((key) => hex(key.secretKey)),
    rand: seen.rand,
    infos: seen.infos,
    aad: seen.aad,
    plaintexts: seen.plaintexts,
    report: hex(report.encode()),
  };
}
