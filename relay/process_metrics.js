// SPDX-License-Identifier: Apache-2.0
// Metrics of a Node process, under the names that Prometheus' own clients use, and of the disk that
// it writes to.

import { statfs } from 'node:fs/promises';
import { gauge } from './exposition.js';

/** Seconds since 1970 at which this process began. */
const STARTED_S = Math.round(performance.timeOrigin / 1000);

/** @typedef {import('./exposition.js').Metric} Metric */

/** @returns {Metric[]} */
export const processMetrics = () => [
  gauge(
    'process_resident_memory_bytes',
    'Memory of this process that is in RAM.',
    process.memoryUsage.rss(),
  ),
  gauge('process_start_time_seconds', 'When this process began, in seconds since 1970.', STARTED_S),
];

/**
 * The free bytes of a folder's file system; nothing where the system does not tell.
 * @param {string} name
 * @param {string} folder
 * @returns {Promise<Metric[]>}
 */
export async function freeBytes(name, folder) {
  try {
    const { bavail, bsize } = await statfs(folder);
    return [gauge(name, "Free bytes of the folder's file system.", bavail * bsize)];
  } catch {
    return [];
  }
}
