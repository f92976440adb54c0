// SPDX-License-Identifier: Apache-2.0
// Metrics of a Node process, under the names that Prometheus' own clients use.

import { head } from './metrics.js';

const STARTED_S = Math.round(performance.timeOrigin / 1000);

/** Lines for /metrics. */
export function processText() {
  const memory = 'process_resident_memory_bytes';
  const start = 'process_start_time_seconds';
  return [
    head(memory, 'gauge', 'Memory of this process that is in RAM.'),
    `${memory} ${process.memoryUsage.rss()}\n`,
    head(start, 'gauge', 'When this process began, in seconds since 1970.'),
    `${start} ${STARTED_S}\n`,
  ].join('');
}
