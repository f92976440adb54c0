// SPDX-License-Identifier: Apache-2.0
// Backup and restore of an edge's spool, and of its gateway's keys.
//
// Counting once. A sealed batch keeps its id, and the aggregator takes an id once. So a restored
// spool may send again what was sent since the backup: it counts for nothing. Nothing may join a
// batch that was open, though, so a restore closes it. In version 1 a batch has its id from its first
// report on: one that holds the recipe's minimum is sealed, and counts only if the aggregator does
// not know its id. A smaller one is dropped, and only its keys stay. In version 2 the id is the hash
// of the sealed batch. What was sent since the backup would be sealed again under another id and
// count twice, so every open batch is dropped. What came after the backup is lost.
//
// A backup holds randomized reports that were not yet mixed with enough others, and private keys.
// It needs the same care as the spool itself, and should not outlive the batches.

import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { lstat, mkdir, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { existing, readBackup, writeBackup } from './backup_file.js';
import { batchCap } from './collector.js';
import { flushDir, readOptional, writeWhole } from './spool_files.js';
import { SpoolStore } from './spool_store.js';

/**
 * @typedef {import('./backup_file.js').Piece} Piece
 * @typedef {{spool: string, keysFile?: string, limits: import('./collector.js').Limits}} Config
 */

const COLLECTION = /^[0-9a-f]{64}$/;
const FILE =
  /^(recipe\.json|salt|counters\.json|[0-9a-f]{32}\.[0-9]{1,8}\.(open|sealed|quarantined|forwarded))$/;
const KEYS = 'gateway.keys';
const DEFLATED = '.deflate';
const OPEN_MAX = 2 ** 31 - 1; // bytes of an open batch
const TRIES = 20;

/** A file went while the spool was read: a batch was sealed or forwarded. */
class Changed extends Error {}

/**
 * Backs a spool up; its edge may run.
 * @param {Pick<Config, 'spool' | 'keysFile'>} config
 * @param {string} path  must not exist
 * @param {() => number} [now]
 * @returns {Promise<{files: number}>}
 */
export async function backUp({ spool, keysFile }, path, now = Date.now) {
  if (await lstat(path).catch(() => null)) throw existing(path);
  if (!(await isFolder(spool))) throw new Error(`${spool}: there is no such spool`);
  for (let left = TRIES; ; left--) {
    let files = 0;
    try {
      await writeBackup(path, Math.floor(now() / 1000), async (add) => {
        for await (const piece of piecesOf(spool)) {
          await add(piece);
          files++;
        }
        if (keysFile !== undefined) await add({ name: KEYS, bytes: await readFile(keysFile) });
      });
      return { files };
    } catch (error) {
      if (!(error instanceof Changed) || left === 1) throw error;
    }
  }
}

/** @param {string} path */
const isFolder = async (path) => (await stat(path).catch(() => null))?.isDirectory() ?? false;

/** @param {string} spool @returns {AsyncGenerator<Piece>} */
async function* piecesOf(spool) {
  for (const hash of (await readdir(spool)).filter((name) => COLLECTION.test(name)).sort()) {
    for (const name of (await readdir(join(spool, hash))).filter((one) => FILE.test(one)).sort()) {
      const bytes = await readOptional(join(spool, hash, name));
      if (bytes === null) throw new Changed(`${spool}: it changes too fast to be backed up`);
      // An open batch is mostly empty slots.
      if (name.endsWith('.open'))
        yield { name: `${hash}/${name}${DEFLATED}`, bytes: await promisify(deflateRaw)(bytes) };
      else yield { name: `${hash}/${name}`, bytes };
    }
  }
}

/**
 * Makes a spool of a backup.
 * @param {Config} config  whose spool must not exist, or be empty
 * @param {string} path
 * @param {{createCore: () => Promise<import('shoal-client/core').Core>}} deps
 * @returns {Promise<{timeS: number, sealed: number, dropped: number, hasKeys: boolean}>} reports of
 *   open batches that were sealed, and dropped; hasKeys: the file of keys was made
 */
export async function restore(config, path, { createCore }) {
  const { spool, keysFile } = config;
  await checkEmpty(spool);
  const partial = `${spool.replace(/[/\\]+$/, '')}.restoring`;
  await rm(partial, { recursive: true, force: true }); // what a killed restore left
  await mkdir(dirname(partial), { recursive: true, mode: 0o700 }); // the machine may be a new one
  await mkdir(partial, { mode: 0o700 });
  try {
    /** @type {Uint8Array | null} */
    let keys = null;
    const timeS = await readBackup(path, async ({ name, bytes }) => {
      if (name === KEYS) keys = bytes;
      else if (!name.endsWith(DEFLATED)) await unpack(partial, name, bytes, path);
      else {
        const whole = await promisify(inflateRaw)(bytes, { maxOutputLength: OPEN_MAX });
        await unpack(partial, name.slice(0, -DEFLATED.length), whole, path);
      }
    });
    let sealed = 0;
    let dropped = 0;
    for (const hash of await readdir(partial)) {
      const closed = await closeOpen(join(partial, hash), config, createCore);
      sealed += closed.sealed;
      dropped += closed.dropped;
    }
    await flushDir(partial);
    const hasKeys = keys !== null && keysFile !== undefined && !(await readOptional(keysFile));
    if (hasKeys) await writeWhole(keysFile, /** @type {any} */ (keys));
    await rename(partial, spool);
    await flushDir(dirname(spool));
    return { timeS, sealed, dropped, hasKeys };
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/** @param {string} spool */
async function checkEmpty(spool) {
  const about = await lstat(spool).catch(() => null);
  if (about === null) return;
  if (!about.isDirectory() || (await readdir(spool)).length > 0)
    throw new Error(
      `${spool}: is not empty; a restore replaces nothing, move the old spool away first`,
    );
}

/** @param {string} dir @param {string} name @param {Uint8Array} bytes @param {string} path */
async function unpack(dir, name, bytes, path) {
  const [hash, file, ...more] = name.split('/');
  if (!COLLECTION.test(hash) || !FILE.test(file ?? '') || more.length)
    throw new Error(`${path}: a piece has a name that no spool has`);
  await mkdir(join(dir, hash), { recursive: true, mode: 0o700 });
  await writeWhole(join(dir, hash, file), bytes);
}

/**
 * Closes the open batch of a collection: seals it if it is one of version 1 and holds the minimum,
 * else drops its reports and keeps their keys.
 * @param {string} dir
 * @param {Config} config
 * @param {() => Promise<import('shoal-client/core').Core>} createCore
 */
async function closeOpen(dir, { limits }, createCore) {
  const recipe = (await createCore()).recipe(
    JSON.parse(await readFile(join(dir, 'recipe.json'), 'utf8')),
  );
  const store = await SpoolStore.open(dir, {
    recordSize: recipe.recordSize,
    capacity: 2 * batchCap(recipe, limits.batchBytes),
    crypto: { getRandomValues: (bytes) => globalThis.crypto.getRandomValues(bytes) },
  });
  try {
    /** @type {import('./collector.js').Build} */
    const build = (id, records) => recipe.sealBatch(shuffled(records, recipe.recordSize), id);
    const minimum = limits.batchVersion === 2 ? Infinity : recipe.batch.minimum;
    const sealed = await store.seal(minimum, build, (count) => ({
      sealed_batches_total: 1,
      sealed_reports_total: count,
    }));
    const dropped = store.state().openCount;
    await store.retireOpen({ destroyed_batches_total: 1, destroyed_reports_total: dropped });
    return { sealed, dropped };
  } finally {
    await store.close();
  }
}

/** @param {import('./collector.js').Records} records @param {number} size */
function shuffled(records, size) {
  const order = Array.from({ length: records.length }, (_, i) => i);
  for (let i = order.length - 1; i > 0; i--) {
    const other = randomInt(i + 1);
    [order[i], order[other]] = [order[other], order[i]];
  }
  const bytes = new Uint8Array(order.length * size);
  order.forEach((from, to) => bytes.set(/** @type {Uint8Array} */ (records.at(from)), to * size));
  return bytes;
}
