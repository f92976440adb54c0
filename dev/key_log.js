// SPDX-License-Identifier: Apache-2.0
// The smallest log that a client believes: one entry, the key list of the trial's gateway, under a
// head that is signed by a key of this run (c2sp.org/tlog-tiles; RFC 6962, section 2.1). `shoal log`
// writes those that are kept. A tree of one entry has that entry's hash as its root.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';

const DAY_MS = 86_400_000;
const DAYS = 7;
const LEAF = Uint8Array.of(0);
const ED25519 = Uint8Array.of(1); // kind of a note's key

/** @param {(Uint8Array | string)[]} parts @returns {Buffer} */
const sha256 = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/**
 * @param {{id: number, config: string}[]} gateway  its keys as `shoal-edge gateway-key` lists them
 * @param {string} name  of the log
 * @returns {{files: Map<string, Uint8Array>, key: string}} key: its verifier key
 */
export function makeKeyLog(gateway, name) {
  const from = Math.floor(Date.now() / DAY_MS);
  const entry = JSON.stringify({
    type: 'keys',
    serial: 1,
    from,
    until: from + DAYS,
    gateway: gateway.map(({ id, config }) => ({ id, config })),
    tokens: [],
  });
  const root = sha256(LEAF, entry);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(entry));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const key = Buffer.concat([ED25519, raw]);
  const id = sha256(`${name}\n`, key).subarray(0, 4);
  const head = `${name}\n1\n${root.toString('base64')}\n`;
  const signature = Buffer.concat([id, sign(null, Buffer.from(head), privateKey)]);
  return {
    key: `${name}+${id.toString('hex')}+${key.toString('base64')}`,
    files: new Map([
      ['checkpoint', Buffer.from(`${head}\n\u2014 ${name} ${signature.toString('base64')}\n`)],
      ['tile/0/000.p/1', root],
      ['tile/entries/000.p/1', Buffer.concat([length, Buffer.from(entry)])],
      ['keys', Buffer.from(`{"index":0,"entry":${entry}}\n`)],
      ['index', Buffer.from('{"entries":[]}\n')],
    ]),
  };
}
