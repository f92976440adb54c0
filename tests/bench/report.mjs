// SPDX-License-Identifier: Apache-2.0
// Turns the benchmark's JSON lines into one table, build/bench/bench.json, and bench.md, the table of docs/performance.md.
//
//   node report.mjs OUT.json LAST.json NOTES < lines
//
// The Markdown goes beside OUT.json. LAST.json is an earlier OUT.json, or missing. NOTES is a JSON object that goes into the result as it is. Exits 1 when a
// step is more than LIMIT times off its aim even in its quickest round: a busy machine slows steps, and none gets faster.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { machine, print, ratio, time } from './text_table.mjs';

const LIMIT = 20;

/**
 * @typedef {{name: string, unit: string, ns: number, quickest: number, slowest: number, rounds: number, naive_ns: number,
 *   naive: string, read_ns: number, aim_ns: number, aim_read: number, note?: string}} Line  note: printed below the table
 * @typedef {Line & {to_naive: number, to_read: number, to_aim: number | null, to_last: number | null,
 *   to_last_by_read: number | null}} Step
 */

/** @param {Line} line @param {Step | undefined} last @returns {Step} */
const withRatios = (line, last) => ({
  ...line,
  to_naive: line.ns / line.naive_ns,
  to_read: line.ns / line.read_ns,
  to_aim: line.aim_ns
    ? line.ns / line.aim_ns
    : line.aim_read
      ? line.ns / line.read_ns / line.aim_read
      : null,
  to_last: last ? line.ns / last.ns : null,
  to_last_by_read: last ? line.ns / line.read_ns / (last.ns / last.read_ns) : null,
});

/** @param {Step} s */
const cells = (s) => [
  s.name,
  s.unit,
  time(s.ns),
  s.to_naive < 1 ? `1/${ratio(1 / s.to_naive)}` : ratio(s.to_naive),
  ratio(s.to_read),
  s.aim_ns ? `<= ${time(s.aim_ns)}` : s.aim_read ? `<= ${s.aim_read} reads` : '-',
  ratio(s.to_aim),
  ratio(s.to_last),
  s.naive,
];

const [out, lastPath, notes] = process.argv.slice(2);
const last = existsSync(lastPath) ? JSON.parse(readFileSync(lastPath, 'utf8')) : null;
const lines = readFileSync(0, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => /** @type {Line} */ (JSON.parse(line)));
const steps = lines.map((line) =>
  withRatios(
    line,
    last?.steps.find((/** @type {Step} */ s) => s.name === line.name),
  ),
);
if (steps.length === 0) throw new Error('no steps were measured');

const HEAD = [
  'step',
  'time of one',
  'median',
  'to naive',
  'to read',
  'aim',
  'to aim',
  'to last',
  'naive form',
];
print([HEAD, ...steps.map(cells)], (column) => column < 2 || column === HEAD.length - 1);
// Without the comparison with the last run, which is of no use to a reader.
const LAST = HEAD.indexOf('to last');
const rows = [
  HEAD,
  HEAD.map((_, i) => (i < 2 || i === HEAD.length - 1 ? '---' : '---:')),
  ...steps.map(cells),
];
const markdown = rows
  .map((row) => `| ${row.filter((_, i) => i !== LAST).join(' | ')} |\n`)
  .join('');
writeFileSync(out.replace(/(\.json)?$/, '.md'), markdown);
for (const { name, note } of steps) if (note) process.stdout.write(`${name}: ${note}\n`);
writeFileSync(out, JSON.stringify({ schema: 1, ...JSON.parse(notes), steps }, null, 1) + '\n');
process.stdout.write(`\n${machine(JSON.parse(notes))}; time on one core, medians\n`);
if (last) process.stdout.write(`last: the run of ${last.date}\n`);

/** @param {Step} s */
const leastToAim = (s) => (s.to_aim ?? 0) * (s.quickest / s.ns);
const far = steps.filter((s) => leastToAim(s) > LIMIT);
for (const s of far) {
  process.stderr.write(
    `bench: ${s.name} is ${ratio(leastToAim(s))} times off its aim; ${LIMIT} is the most\n`,
  );
}
process.exit(far.length > 0 ? 1 : 0);
