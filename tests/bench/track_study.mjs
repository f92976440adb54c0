// SPDX-License-Identifier: Apache-2.0
// THRESH and HEAVYTHRESH over simulated devices, as the tables of docs/track.md: error and privacy spent against epochs and against changes, beside recomputing
// every epoch and memoized responses; and the items of a dictionary that move.
//
//   node tests/bench/track_study.mjs [--items] [--seed S]      about a minute of one core; with --items five minutes more and 400 MB
//
// Every run is by the command ($SHOAL_BIN or build/release/shoal) and, for the rivals, by shoal_track_rivals beside it. The hundred runs of 1,000 epochs are test_hundred_runs of
// tests/aggregator/simulate/test_track_simulation.c, in the campaign `statistics`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const bin =
  process.env.SHOAL_BIN ?? fileURLToPath(new URL('../../build/release/shoal', import.meta.url));
const { values: options } = parseArgs({
  options: { items: { type: 'boolean', default: false }, seed: { type: 'string', default: '1' } },
});
const rivals = join(dirname(bin), 'shoal_track_rivals');
const folder = mkdtempSync(join(tmpdir(), 'shoal-track-'));

/** @param {string} program @param {string[]} args */
function call(program, args) {
  const run = spawnSync(program, args, { cwd: folder, maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${run.error ?? run.stderr}`);
  return run.stdout.toString();
}

/** @param {...string} args */
const shoal = (...args) => call(bin, args);

/** @param {string} file @param {string} text */
const write = (file, text) => writeFileSync(join(folder, file), text);

/** A mean that changes by 0.3, from 1/2 to 0.8 and back, at equal distances. @param {number} epochs @param {number} changes */
function alternating(epochs, changes) {
  const lines = ['1\t0\t5', '1\t1\t5'];
  for (let i = 1; i <= changes; i++) {
    const epoch = 1 + Math.round((i * epochs) / (changes + 1));
    lines.push(`${epoch}\t0\t${i % 2 === 1 ? 2 : 5}`, `${epoch}\t1\t${i % 2 === 1 ? 8 : 5}`);
  }
  return `${lines.join('\n')}\n`;
}

function printMeans() {
  console.log(
    '| epochs | changes | updates | thresh: rms | largest | spent | naive: rms | spent | memoized: rms | spent | changes seen |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|---|');
  for (const epochs of [50, 200, 800]) {
    shoal(
      'recipe',
      'new',
      '--id',
      `t${epochs}`,
      '--mechanism',
      'thresh',
      '--users',
      '50000',
      '--epochs',
      String(epochs),
      '--samples',
      '100000',
      '--expires',
      '2099-12-31',
      '-o',
      `t${epochs}.json`,
    );
    for (const changes of [0, 1, 3, 5]) {
      write('counts.tsv', alternating(epochs, changes));
      const result = JSON.parse(
        call(rivals, [
          '--recipe',
          `t${epochs}.json`,
          '--counts',
          'counts.tsv',
          '--seed',
          options.seed,
          '--format',
          'json',
        ]),
      );
      const { thresh, naive, memoized } = result.rows.at(-1);
      console.log(
        `| ${[
          epochs,
          changes,
          result.updates,
          thresh.rms_error.toFixed(4),
          thresh.max_error.toFixed(4),
          thresh.privacy.toFixed(2),
          naive.rms_error.toFixed(3),
          naive.privacy,
          memoized.rms_error.toFixed(4),
          memoized.privacy,
          `${(100 * result.memoized_seen).toFixed(1)} %`,
        ].join(' | ')} |`,
      );
    }
  }
}

/** A thousand values by Zipf's law, of which one holds 0.3 besides. @param {number} epoch @param {number} [risen] */
function zipf(epoch, risen) {
  const harmonic = Array.from({ length: 1000 }, (_, i) => 1 / (i + 1)).reduce((a, b) => a + b);
  return Array.from({ length: 1000 }, (_, i) => {
    const share = (risen === undefined ? 1 : 0.7) / (i + 1) / harmonic + (i === risen ? 0.3 : 0);
    return `${epoch}\tv${i}\t${Math.round(share * 1e9)}\n`;
  }).join('');
}

function printItems() {
  shoal(
    'recipe',
    'new',
    '--id',
    'items',
    '--mechanism',
    'heavythresh',
    '--value',
    'item',
    '--users',
    '20000',
    '--epochs',
    '64',
    '--samples',
    '100000',
    '--expires',
    '2099-12-31',
    '-o',
    'items.json',
  );
  write('items.tsv', zipf(1) + zipf(20, 500) + zipf(40, 700));
  write('items.txt', Array.from({ length: 1000 }, (_, i) => `v${i}\n`).join(''));
  shoal(
    'simulate',
    '--recipe',
    'items.json',
    '--counts',
    'items.tsv',
    '--seed',
    options.seed,
    '-o',
    'items',
  );
  const result = JSON.parse(
    shoal('track', 'items', '--dictionary', 'items.txt', '--format', 'json'),
  );
  console.log(
    `\n${result.updates} updates; ${result.updates_left} left; the most that a device has spent: ${result.simulation.privacy_max}\n`,
  );
  console.log('| update of epoch | moved | share | stderr | change |\n|---|---|---|---|---|');
  for (const { epoch, rows } of result.items) {
    for (const row of rows.filter((/** @type {{moved: boolean}} */ each) => each.moved)) {
      console.log(
        `| ${epoch} | ${row.value} | ${row.share.toFixed(3)} | ${row.stderr.toFixed(3)} | ${row.change.toFixed(3)} |`,
      );
    }
    if (!rows.some((/** @type {{moved: boolean}} */ each) => each.moved))
      console.log(`| ${epoch} | none | | | |`);
  }
}

try {
  printMeans();
  if (options.items) printItems();
} finally {
  rmSync(folder, { recursive: true });
}
