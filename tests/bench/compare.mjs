// SPDX-License-Identifier: Apache-2.0
// What changed between two runs of the benchmark: each step's time and its time in read passes of its own run, which a busier
// machine does not change as much.
//
//   node compare.mjs BASE.json NOW.json
//
// Marks what is more than NOTABLE slower or faster by both. Exits 1 when a step is more than WORSE slower by both.
import { readFileSync } from 'node:fs';
import { machine, print, ratio, time } from './text_table.mjs';

const NOTABLE = 1.1;
const WORSE = 1.5;

/** @typedef {{name: string, unit: string, ns: number, read_ns: number}} Step */

const runs = process.argv.slice(2, 4).map((file) => JSON.parse(readFileSync(file, 'utf8')));
if (runs.length < 2) throw new Error('two runs are needed');
const [base, now] = runs;

const pairs =
  /** @type {{name: string, unit: string, was: Step | undefined, is: Step | undefined}[]} */ (
    [...new Set([...now.steps, ...base.steps].map(({ name }) => name))].map((name) => {
      const [was, is] = runs.map(({ steps }) =>
        steps.find((/** @type {Step} */ step) => step.name === name),
      );
      return { name, unit: (is ?? was).unit, was, is };
    })
  );

/** Time, and read passes: now to base. @param {Step | undefined} was @param {Step | undefined} is @returns {[number, number] | null} */
const change = (was, is) =>
  was && is ? [is.ns / was.ns, is.ns / is.read_ns / (was.ns / was.read_ns)] : null;

/** @param {[number, number] | null} both */
const verdict = (both) => {
  if (!both) return '';
  if (Math.min(...both) > NOTABLE) return 'slower';
  return Math.max(...both) < 1 / NOTABLE ? 'faster' : '';
};

const rows = pairs.map(({ name, unit, was, is }) => {
  const both = change(was, is);
  return [
    name,
    unit,
    was ? time(was.ns) : 'new',
    is ? time(is.ns) : 'gone',
    ...(both ?? [null, null]).map(ratio),
    verdict(both),
  ];
});
print(
  [['step', 'time of one', 'base', 'now', 'time', 'in reads', ''], ...rows],
  (column) => column < 2 || column === 6,
);
process.stdout.write(`\nbase: ${machine(base)}\nnow:  ${machine(now)}\n`);
const worse = pairs.filter(({ was, is }) => Math.min(...(change(was, is) ?? [0])) > WORSE);
for (const { name } of worse)
  process.stderr.write(`bench: ${name} takes more than ${WORSE} times as long as in the base\n`);
process.exit(worse.length > 0 ? 1 : 0);
