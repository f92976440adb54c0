// SPDX-License-Identifier: Apache-2.0
// Where the edge on Node sends its batches: to an aggregator, into a bucket, or to both.

import { checkLake, createBucketSender, sendToAll } from './bucket.js';
import { createSender } from './forward.js';

/** @typedef {import('./config.js').Config} Config */

/**
 * Returns what sends a batch to all targets of the configuration.
 * @param {Config} config
 * @param {{json: any}[]} recipes
 * @param {{fetch?: typeof globalThis.fetch, say?: (text: string) => void}} deps
 */
export async function senderOf({ aggregator, secret = '', bucket }, recipes, deps) {
  const { fetch = globalThis.fetch, say = toStderr } = deps;
  const targets = [];
  if (aggregator !== undefined) targets.push(createSender({ aggregator, secret, fetch }));
  if (bucket !== undefined) {
    checkLake(recipes);
    const { createS3Bucket, failureTeller } = await import('./bucket_s3.js');
    targets.push(
      createBucketSender({
        bucket: createS3Bucket(bucket, { fetch }),
        gzip: bucket.gzip,
        say,
        failed: failureTeller(say),
      }),
    );
  }
  return sendToAll(targets);
}

/** @param {string} text */
const toStderr = (text) => void process.stderr.write(`shoal-edge: ${text}\n`);
