// SPDX-License-Identifier: Apache-2.0
// Reads what a service says at /metrics, strictly: the text format of Prometheus, version 0.0.4, and its conventions for names.
import assert from 'node:assert/strict';

/**
 * @typedef {{ labels: Record<string, string>, value: number }} Sample
 * @typedef {{ type: string, help: string, samples: Sample[] }} Metric
 */

const NAME = /^(shoal|process)_[a-z0-9]+(_[a-z0-9]+)*$/;
const LABELS = /^\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\}$/;
/** Units that are not base units, and words that belong to a type. */
const NOT_IN_A_NAME =
  /_(ms|milliseconds|minutes|hours|days|kb|mib|percent|counter|gauge|count|sum)(_|$)/;

/**
 * Returns the metrics by name. Throws where the text is not as it must be.
 * @param {string} text
 * @returns {Map<string, Metric>}
 */
export function readExposition(text) {
  /** @type {Map<string, Metric>} */
  const metrics = new Map();
  const series = new Set();
  let name = '';
  assert.ok(text.endsWith('\n'), 'the last line has no end');
  const lines = text.slice(0, -1).split('\n');
  for (const [i, line] of lines.entries()) {
    const help = /^# HELP (\S+) (.+)$/.exec(line);
    if (help) {
      name = help[1];
      assert.match(name, NAME);
      assert.doesNotMatch(name, NOT_IN_A_NAME);
      assert.ok(!metrics.has(name), `${name} is described twice`);
      assert.match(help[2], /^[A-Z].*\.$/, `the help of ${name} is a sentence`);
      const type = /^# TYPE (\S+) (counter|gauge)$/.exec(lines[i + 1] ?? '');
      assert.equal(type?.[1], name, `no TYPE behind the HELP of ${name}`);
      metrics.set(name, { type: /** @type {any} */ (type)[2], help: help[2], samples: [] });
      const isTotal = name.endsWith('_total');
      assert.equal(isTotal, type?.[2] === 'counter', `${name}: counters, and only they, end so`);
      continue;
    }
    if (line.startsWith('# TYPE ')) continue;
    const [, of, labels = '', value] = /^([a-z_0-9]+)(\{.*\})? (\S+)$/.exec(line) ?? [];
    assert.equal(of, name, `a line of another metric than the one described: ${line}`);
    if (labels !== '') assert.match(labels, LABELS);
    assert.ok(/^-?\d/.test(value) && Number.isFinite(Number(value)), `no number: ${line}`);
    assert.ok(!series.has(of + labels), `twice: ${line}`);
    series.add(of + labels);
    metrics.get(of)?.samples.push({ labels: labelsOf(labels), value: Number(value) });
  }
  assert.ok(metrics.size > 0);
  return metrics;
}

/** @param {string} text @returns {Record<string, string>} */
const labelsOf = (text) =>
  Object.fromEntries(
    [...text.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, a, b]) => [a, b]),
  );

/**
 * Checks that a counter is there for each value of a label.
 * @param {Map<string, Metric>} metrics @param {string} name @param {string} label @param {string[]} values
 */
export function hasEach(metrics, name, label, values) {
  const found = (metrics.get(name)?.samples ?? []).map(({ labels }) => labels[label]);
  assert.deepEqual([...new Set(found)].sort(), values.toSorted(), name);
}
