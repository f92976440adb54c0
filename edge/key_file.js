// SPDX-License-Identifier: Apache-2.0
// The file of a gateway's private keys: {"keys": [{"id", "secret"}]}, which only its owner may read.

import { open, rename } from 'node:fs/promises';
import { readKeys } from './config.js';
import { hexOf, keysOf, newSecret } from './ohttp.js';

const IDS = 256;

/**
 * Adds a key to the file, or only reads it. Returns the keys as a key list has them: all, or the one
 * that was added.
 * @param {string} path
 * @param {boolean} isAdded
 * @returns {Promise<{id: number, config: string}[]>}
 */
export async function gatewayKeys(path, isAdded) {
  const known = await readKeys(path).catch((error) => {
    if (error.code === 'ENOENT' && isAdded) return [];
    throw error;
  });
  const keys = known.length ? await keysOf(known) : [];
  if (!isAdded) return keys.map(listed);
  const id = nextId(keys.map((key) => key.id));
  const added = { id, secret: newSecret() };
  await write(path, JSON.stringify({ keys: [...known, added] }, null, 2));
  return (await keysOf([added])).map(listed);
}

/** @param {import('./ohttp.js').KeyPair} key */
const listed = ({ id, configuration }) => ({ id, config: hexOf(configuration) });

/** The id after the last key's that none has. @param {number[]} ids */
function nextId(ids) {
  const [last = 0] = ids.slice(-1);
  for (let step = 1; step < IDS; step++) {
    const id = (last + step) % IDS;
    if (!ids.includes(id)) return id;
  }
  throw new Error('the file has a key for every id: remove those that no client uses');
}

/** Replaces the file at once, so that a crash leaves the old keys or the new. @param {string} path @param {string} text */
async function write(path, text) {
  const file = await open(`${path}.tmp`, 'w', 0o600);
  await file.chmod(0o600);
  await file.writeFile(`${text}\n`);
  await file.sync();
  await file.close();
  await rename(`${path}.tmp`, path);
}
