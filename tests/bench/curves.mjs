// SPDX-License-Identifier: Apache-2.0
// How the commands grow: with reports (n), rows (k), columns (m), words that are asked for (p) and threads, each command in a
// process of its own, from files to files; and what memory they announce and take.
//
//   node curves.mjs BUILD OUT.json OUT.svg NOTES
//
// Prints the memory and writes the points to OUT.json and as curves to OUT.svg. NOTES: as for report.mjs. Two minutes, and 700 MB
// of temporary files at a time. Exits 1 when a command took more than SLACK times the memory that it announced.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chart } from './chart.mjs';
import { commandRows, serverRows } from './memory.mjs';
import { machine, print } from './text_table.mjs';

const ROUNDS = 3;
const SLACK = 1.2;
const VALUES = 4096;

const [build, outJson, outSvg, notes] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'shoal-curves-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
const shoal = join(build, 'shoal');
/** @param {string} name */
const file = (name) => join(folder, name);

/** @typedef {{wall_s: number, cpu_s: number, peak_kib: number, announced_mib: number | null}} Taken */

/** Runs a command. @param {string[]} args @returns {Taken} */
function once(args) {
  const { status, stdout, stderr } = spawnSync(join(build, 'shoal_measured'), [shoal, ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`shoal ${args.join(' ')}: ${stderr}`);
  const announced = /takes up to (\d+) MiB/.exec(stderr);
  return { ...JSON.parse(stdout), announced_mib: announced ? Number(announced[1]) : null };
}

/** The median by time of a few runs, each with an output of its own. @param {(out: string) => string[]} args @returns {Taken} */
function measured(args) {
  const runs = Array.from({ length: ROUNDS }, () => {
    const taken = once(args(file('out')));
    rmSync(file('out'), { force: true });
    return taken;
  });
  return runs.sort((a, b) => a.wall_s - b.wall_s)[ROUNDS >> 1];
}

writeFileSync(
  file('counts'),
  Array.from({ length: VALUES }, (_, i) => `word${i}\t${Math.ceil(1e6 / (i + 1))}\n`).join(''),
);

/** @param {number} k @param {number} m @returns {string} its file */
function recipe(k, m) {
  const name = file(`recipe-${k}-${m}`);
  writeFileSync(
    name,
    JSON.stringify({
      recipe: 'curves',
      analysis: 'bench',
      stream: 'words',
      value: 'word',
      mechanism: 'cms',
      parameters: { epsilon: 4, k, m },
      hash: 'poly1',
      seed: '00112233445566778899aabbccddeeff'.repeat(2),
      limit: { per_day: 1 },
      cohort: { minimum: 1 },
      expires: '2099-12-31',
    }),
  );
  return name;
}

/** Reports of n devices in batches. @param {string} of @param {number} n @param {string} [format] */
function reports(of, n, format = 'batch') {
  execFileSync(shoal, [
    'simulate',
    '--recipe',
    of,
    '--counts',
    file('counts'),
    '--devices',
    String(n),
    '--seed',
    `curves ${n}`, // batches of another seed have other ids, so that they can be merged
    '--format',
    format,
    '-o',
    file('reports'),
  ]);
  return file('reports');
}

/** @param {string} of @param {string} from @param {number} [threads] */
const ingest = (of, from, threads = 1) =>
  measured((out) => ['ingest', '--recipe', of, '--threads', String(threads), '-o', out, from]);

/** Words that are asked for: those that there are, and as many that there are not. @param {number} p */
function words(p) {
  writeFileSync(file('words'), Array.from({ length: p }, (_, i) => `word${i}\n`).join(''));
  return file('words');
}

/** @param {string} of @param {string} accumulator @param {number} p @param {number} [threads] */
const estimate = (of, accumulator, p, threads = 1) =>
  measured((out) => [
    'estimate',
    '--recipe',
    of,
    '--dictionary',
    words(p),
    '--threads',
    String(threads),
    '-o',
    out,
    accumulator,
  ]);

/** @type {Record<string, {at: number, taken: Taken}[]>} */
const curves = {};
/** @param {string} name @param {number} at @param {Taken} taken */
const keep = (name, at, taken) => (curves[name] ??= []).push({ at, taken });
/** @type {{command: string, taken: import('./memory.mjs').Peak}[]} */
const memory = [];

const usual = recipe(2048, 1024);
for (const n of [30_000, 100_000, 300_000, 1_000_000, 2_000_000])
  keep('n, k 2,048', n, ingest(usual, reports(usual, n)));
for (const n of [30_000, 100_000, 300_000])
  keep('n, NDJSON', n, ingest(usual, reports(usual, n, 'ndjson')));
for (const k of [16, 128, 1024, 8192, 65_536]) {
  const of = recipe(k, 1024);
  keep('k', k, ingest(of, reports(of, 1_000_000)));
}
for (const m of [64, 256, 1024, 4096]) {
  const of = recipe(2048, m);
  keep('m', m, ingest(of, reports(of, 300_000)));
}
const many = recipe(65_536, 1024);
reports(many, 1_000_000);
for (const threads of [1, 2])
  keep('threads, ingest', threads, ingest(many, file('reports'), threads));
memory.push({ command: 'ingest, k 65,536', taken: ingest(many, file('reports'), 2) });
memory.push({
  command: 'simulate, k 65,536',
  taken: measured((out) => [
    'simulate',
    '--recipe',
    many,
    '--counts',
    file('counts'),
    '--devices',
    '1000000',
    '--seed',
    'a',
    '-o',
    out,
  ]),
});
once(['ingest', '--recipe', many, '-o', file('many'), file('reports')]);
once(['ingest', '--recipe', many, '-o', file('others'), reports(many, 300_000)]);
memory.push({
  command: 'merge, k 65,536',
  taken: measured((out) => ['merge', '-o', out, file('many'), file('others')]),
});
for (const p of [1024, 4096, 16_384, 65_536])
  keep('p, k 65,536', p, estimate(many, file('many'), p));
for (const threads of [1, 2])
  keep('threads, estimate', threads, estimate(many, file('many'), 65_536, threads));
memory.push({
  command: 'estimate of 65,536 words, k 65,536',
  taken: estimate(many, file('many'), 65_536, 2),
});
once(['ingest', '--recipe', usual, '-o', file('few'), reports(usual, 300_000)]);
for (const p of [1024, 4096, 16_384, 65_536])
  keep('p, k 2,048', p, estimate(usual, file('few'), p));
memory.push({ command: 'ingest, k 2,048', taken: ingest(usual, file('reports'), 2) });
memory.push(...commandRows(file, once), ...serverRows(shoal));

/** @param {string} name @param {(entry: {at: number, taken: Taken}) => number} value @returns {[number, number][]} */
const points = (name, value) => curves[name].map((entry) => [entry.at, value(entry)]);
/** Nanoseconds on cores, a report. @param {number} n */
const each =
  (n) =>
  (/** @type {{taken: Taken}} */ { taken }) =>
    (1e9 * taken.cpu_s) / n;
/** How many times as fast as one thread. @param {string} name @returns {[number, number][]} */
const speedUp = (name) => points(name, ({ taken }) => curves[name][0].taken.wall_s / taken.wall_s);
const svg = chart(
  [
    {
      title: 'ingest: reports',
      x: 'reports n',
      y: 's on a core',
      lines: [
        { name: 'batches, k 2,048', points: points('n, k 2,048', ({ taken }) => taken.cpu_s) },
        { name: 'NDJSON', points: points('n, NDJSON', ({ taken }) => taken.cpu_s) },
      ],
    },
    {
      title: 'ingest: rows, n = 1,000,000',
      x: 'rows k',
      y: 'ns a report',
      lines: [{ name: 'm 1,024', points: points('k', each(1_000_000)) }],
    },
    {
      title: 'ingest: columns, n = 300,000',
      x: 'columns m',
      y: 'ns a report',
      lines: [{ name: 'k 2,048', points: points('m', each(300_000)) }],
    },
    {
      title: 'estimate: words',
      x: 'words p',
      y: 's on a core',
      lines: [
        { name: 'k 65,536', points: points('p, k 65,536', ({ taken }) => taken.cpu_s) },
        { name: 'k 2,048', points: points('p, k 2,048', ({ taken }) => taken.cpu_s) },
      ],
    },
    {
      title: 'threads, k 65,536',
      x: 'threads',
      y: 'times one thread',
      lines: [
        { name: 'ingest, n 1,000,000', points: speedUp('threads, ingest') },
        { name: 'estimate, p 65,536', points: speedUp('threads, estimate') },
      ],
    },
  ],
  `from files to files, one thread where nothing else is said; m 1,024; ${machine(JSON.parse(notes))}`,
);
writeFileSync(outSvg, svg);

const mib = (/** @type {import('./memory.mjs').Peak} */ taken) => taken.peak_kib / 1024;
const told = memory.map(({ command, taken }) => ({
  command,
  announced_mib: taken.announced_mib,
  peak_mib: mib(taken),
}));
print(
  [
    ['command', 'announced', 'peak', 'peak to announced'],
    ...told.map(({ command, announced_mib: said, peak_mib: peak }) => [
      command,
      said === null ? '-' : `${said} MiB`,
      `${peak.toFixed(0)} MiB`,
      said === null ? '-' : (peak / said).toFixed(2),
    ]),
  ],
  (column) => column === 0,
);
writeFileSync(
  outJson,
  JSON.stringify({ schema: 1, ...JSON.parse(notes), curves, memory: told }, null, 1) + '\n',
);
const over = told.filter(
  ({ announced_mib: said, peak_mib: peak }) => said !== null && peak > SLACK * said,
);
for (const { command } of over)
  process.stderr.write(
    `bench: ${command} takes more than ${SLACK} times the memory that it announces\n`,
  );
process.exit(over.length > 0 ? 1 : 0);
