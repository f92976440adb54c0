// SPDX-License-Identifier: Apache-2.0
// What /metrics shows: counts of each collection, refusals since the start, and what the host knows
// of itself. Every counter is there from zero. No label and no time tells of a person: the counts
// are of collections, and the times are whole hours or the recipe's.

import { clock, counterBy, exposition } from 'shoal-relay/exposition';
import { REPORT_REFUSALS } from './errors.js';

/**
 * @typedef {import('shoal-relay/exposition').Metric} Metric
 * @typedef {[string, string]} Described  name without its prefix, and help
 */

/** What a collection counts. @type {Described[]} */
const OF_COLLECTIONS = [
  ['accepted_reports_total', 'Reports that were accepted, each once.'],
  ['open_reports', 'Reports in the open batch.'],
  ['open_due_timestamp_seconds', 'When the open batch is old enough to be sent; 0 if it is empty.'],
  ['sealed_batches', 'Batches that wait to be sent.'],
  ['quarantined_batches', 'Batches that the aggregator refused, kept aside.'],
  ['store_bytes', 'About the bytes that are kept.'],
  ['store_limit_bytes', 'Bytes at which reports are answered 503.'],
  ['batch_minimum_reports', 'Reports that a batch must hold before it is sent.'],
  ['recipe_expires_timestamp_seconds', 'When the last day of the recipe ends.'],
  ['sealed_batches_total', 'Batches sealed.'],
  ['sealed_reports_total', 'Reports in sealed batches.'],
  ['forwarded_batches_total', 'Batches that the aggregator, or the bucket, acknowledged.'],
  ['forwarded_reports_total', 'Reports in acknowledged batches.'],
  ['refused_batches_total', 'Batches that the aggregator refused for good.'],
  ['conflicting_batches_total', 'Of those, batches whose name has other bytes in the bucket.'],
  ['destroyed_batches_total', 'Batches that were too small when the recipe expired.'],
  ['destroyed_reports_total', 'Reports in batches that were too small.'],
  ['send_failures_total', 'Tries to send a batch that failed.'],
  ['failures_in_a_row', 'Tries that failed since the last that did not.'],
];

/** What is counted of a recipe of two servers. @type {Described[]} */
const OF_TASKS = [
  ['relayed_reports_total', 'Sealed reports that the leader answered with 200.'],
  ['relay_refusals_total', 'Sealed reports that the leader answered with 4xx.'],
  ['relay_failures_total', 'Sealed reports to which the leader gave no usable answer.'],
];

/** Refused reports since the start, by code. */
export class Refusals {
  /** @type {Map<string, number>} */ #counts = new Map(
    [...REPORT_REFUSALS.keys()].map((code) => [code, 0]),
  );

  /** @param {string} code */
  add(code) {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
  }

  /** Codes and counts, also those of zero. */
  entries() {
    return [...this.#counts];
  }
}

/**
 * @typedef {{recipe: {key: string, hash: string}, stats: () => Promise<Record<string, number>>}} Counted
 *
 * @typedef {object} Sources  of the handler's dependencies
 * @property {Map<string, Counted>} collections
 * @property {Map<string, Counted>} [tasks]
 * @property {{metrics: () => Metric[]}} [gateway]
 * @property {Refusals} [refusals]
 * @property {() => Promise<Metric[]>} [hostMetrics]
 * @property {() => number} now
 */

/** @param {Sources} sources */
export async function metricsText({ collections, tasks, gateway, refusals, hostMetrics, now }) {
  return exposition([
    ...(await countsOf(OF_COLLECTIONS, collections)),
    ...(await countsOf(OF_TASKS, tasks ?? new Map())),
    counterBy(
      'shoal_edge_refused_reports_total',
      'Reports refused since the start, by the code of the answer.',
      'reason',
      refusals?.entries() ?? [],
    ),
    ...(gateway?.metrics() ?? []),
    clock(now()),
    ...((await hostMetrics?.()) ?? []),
  ]);
}

/**
 * @param {Described[]} described
 * @param {Map<string, Counted>} counted
 * @returns {Promise<Metric[]>}
 */
async function countsOf(described, counted) {
  const all = await Promise.all(
    [...counted.values()].map(async ({ recipe, stats }) => ({
      labels: { recipe: recipe.key, recipe_hash: recipe.hash },
      counts: await stats(),
    })),
  );
  return described.map(([name, help]) => ({
    name: `shoal_edge_${name}`,
    type: name.endsWith('_total') ? 'counter' : 'gauge',
    help,
    samples: all.map(({ labels, counts }) => [labels, counts[name] ?? 0]),
  }));
}
