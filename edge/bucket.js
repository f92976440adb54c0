// SPDX-License-Identifier: Apache-2.0
// Forwards batches into a bucket, one object each, from where engines read them. An object is named
// by its batch's id, which is the hash of its bytes, and is never overwritten: a repeat meets its
// own object, and other bytes under a name that exists are set aside and named. Like forward.js it
// must be called from a timer or an alarm.

import { batchHead, toHex } from 'shoal-client/core';

/** @typedef {import('./collector.js').Send} Send */
/**
 * @typedef {object} Bucket  each call rejects where the bucket gives no usable answer
 * @property {(key: string, bytes: Uint8Array, sum: string) => Promise<boolean>} put  makes an
 *   object with this SHA-256, hex; false if there is one with this name
 * @property {(key: string) => Promise<string>} checksum  SHA-256 of an object, hex; "" where nobody
 *   says
 *
 * @typedef {object} BucketDeps
 * @property {Bucket} bucket
 * @property {boolean} [gzip]
 * @property {(text: string) => void} say  prints which object is in the way, and where ours is
 * @property {(error: any) => void} [failed]  told of each failure, and of undefined after a success
 */

const DAY_MS = 86_400_000;

/** @param {BucketDeps} deps @returns {Send} */
export function createBucketSender({ bucket, gzip, say, failed }) {
  return async (batch) => {
    const { version, day, id } = batchHead(batch);
    if (version === 1) return { outcome: 'refused' }; // it was sealed before there was a bucket
    const name = toHex(id);
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
    const path = `${toHex(batch.subarray(24, 56))}/${date}/${name.slice(0, 2)}/${name}`;
    const ending = gzip ? '.batch.gz' : '.batch';
    const key = path + ending;
    try {
      const bytes = gzip ? await zipped(batch) : batch;
      const sum = toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', own(bytes))));
      if ((await bucket.put(key, bytes, sum)) || (await bucket.checksum(key)) === sum) {
        failed?.(undefined);
        return { outcome: 'stored' };
      }
      const aside = `quarantine/${path}.${sum.slice(0, 16)}${ending}`;
      await bucket.put(aside, bytes, sum);
      say(`bucket: ${key} differs or may not be read; our bytes are at ${aside}`);
      return { outcome: 'refused', isConflict: true };
    } catch (error) {
      failed?.(error);
      return { outcome: 'failed', retryAfterS: /** @type {any} */ (error).retryAfterS };
    }
  };
}

/** @param {Uint8Array} bytes */
const own = (bytes) => /** @type {Uint8Array<ArrayBuffer>} */ (bytes);

/** @param {Uint8Array} bytes */
async function zipped(bytes) {
  const stream = new Blob([own(bytes)]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A bucket of R2. @param {any} binding @returns {Bucket} */
export const r2Bucket = (binding) => ({
  put: async (key, bytes, sha256) => {
    const onlyIf = new Headers({ 'If-None-Match': '*' });
    return (await binding.put(key, bytes, { onlyIf, sha256 })) !== null;
  },
  checksum: async (key) => {
    const sum = (await binding.head(key))?.checksums.sha256;
    return sum ? toHex(new Uint8Array(sum)) : '';
  },
});

/**
 * Sends a batch to every target, one after the other: it is stored when all have it. All of them
 * know a batch that comes again.
 * @param {Send[]} targets
 * @returns {Send}
 */
export function sendToAll(targets) {
  return async (batch) => {
    /** @type {import('./collector.js').Sent} */
    let sent = { outcome: 'failed' };
    for (const send of targets) {
      sent = await send(batch);
      if (sent.outcome !== 'stored') break;
    }
    return sent;
  };
}

/**
 * Refuses recipes that promise to keep no single records, because a bucket keeps them.
 * @param {Iterable<{json: any}>} recipes
 */
export function checkLake(recipes) {
  for (const { json } of recipes)
    if (isSum(json))
      throw new Error(
        `recipe ${json.recipe}: a bucket keeps single records, which its aggregation forbids`,
      );
}

/** @param {any} json */
export const isSum = ({ aggregation }) => /sum|dap/.test(aggregation?.protocol);
