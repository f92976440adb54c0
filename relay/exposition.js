// SPDX-License-Identifier: Apache-2.0
// The text format of Prometheus, version 0.0.4: each metric with its HELP and TYPE, its samples
// together. Depends on nothing. The edge uses it too.

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * @typedef {Record<string, string>} Labels
 *
 * @typedef {object} Metric
 * @property {string} name
 * @property {'counter' | 'gauge'} type
 * @property {string} help  one sentence
 * @property {[Labels, number][]} samples
 */

/**
 * Makes a metric of samples that differ in one label.
 * @param {string} name
 * @param {string} help
 * @param {string} label
 * @param {Iterable<[string, number]>} values  by the label's value
 * @returns {Metric}
 */
export const counterBy = (name, help, label, values) => ({
  name,
  type: 'counter',
  help,
  samples: [...values].map(([value, n]) => [{ [label]: value }, n]),
});

/**
 * Makes a gauge without labels.
 * @param {string} name
 * @param {string} help
 * @param {number} value
 * @returns {Metric}
 */
export const gauge = (name, help, value) => ({
  name,
  type: 'gauge',
  help,
  samples: [[{}, value]],
});

/** The service's own clock, so that monitoring can compare it with its own. @param {number} now  ms */
export const clock = (now) =>
  gauge(
    'shoal_clock_timestamp_seconds',
    "This machine's clock, in seconds since 1970.",
    now / 1000,
  );

/**
 * Writes metrics. One without samples is left out.
 * @param {Metric[]} metrics
 */
export function exposition(metrics) {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(([labels, value]) => `${name}${labelsOf(labels)} ${value}\n`);
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

/** @param {Labels} labels */
function labelsOf(labels) {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length > 0 ? `{${pairs.join()}}` : '';
}

/** @param {string} value */
const escaped = (value) => value.replace(/[\\"]/g, (found) => `\\${found}`).replaceAll('\n', '\\n');
