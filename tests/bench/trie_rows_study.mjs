// SPDX-License-Identifier: Apache-2.0
// What the rows of a trie are worth: how often their intervals cover, how many of them enough people
// have, and whether any is a stem. Makes the table of docs/trie.md.
//
//   node tests/bench/trie_rows_study.mjs [BASE [COLLECTIONS [MILLIONS]]]    some twenty minutes of one core
//
// BASE is a text that the seeds are made of. There are COLLECTIONS of 200,000 devices for each
// epsilon and MILLIONS of a million. Every collection has strings of its own, and all of its rounds
// through the commands. The truth is what the devices drew, not what they were drawn from. The
// program is $SHOAL_BIN or that of build/release.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LETTERS, crowd } from './discovered_study.mjs';

const path = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url));
const BEGIN = '<!-- rows: tests/bench/trie_rows_study.mjs -->';
const END = '<!-- end of rows -->';
const EPSILONS = [2, 4, 8];
const LAST = 5; // the rows nearest to the noise
const COHORT = 1000; // the least devices that a round asks

/** @typedef {{value: string, count: number, stderr: number, low: number, high: number, fcr_low: number, fcr_high: number, rank_low: number, rank_high: number}} Row */

/**
 * All rounds of one analysis.
 * @param {string} seed @param {number} epsilon @param {number} devices
 * @returns {{rows: Row[], truth: Map<string, number>}}
 */
export function collect(seed, epsilon, devices) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-rows-'));
  const bin = process.env.SHOAL_BIN ?? path('build/release/shoal');
  const run = (/** @type {string[]} */ ...args) =>
    execFileSync(bin, args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1e8,
    });
  const text = [...crowd(seed)].map(([word, count]) => `${word}\t${count}\n`).join('');
  writeFileSync(join(folder, 'counts'), text);
  // The devices' own words: whatever recipe asks them, devices of one seed are the same.
  run(
    ...['recipe', 'new', '--id', 'truth', '--expires', '2099-12-31', '--mechanism', 'olh'],
    ...['--epsilon', '1', '-o', 'truth.json'],
  );
  run(
    ...['simulate', '--recipe', 'truth.json', '--counts', 'counts', '--devices', `${devices}`],
    ...['--seed', seed, '--truth', 'truth', '-o', 'batch'],
  );
  run(
    ...['plan', '--discover', '--method', 'trie', '--devices', `${devices}`],
    ...['--epsilon', `${epsilon}`, '--characters', LETTERS, '--id', 'words-1'],
    ...['--recipe-out', 'r1.json'],
  );
  const files = [];
  let first = 0;
  for (let i = 1; existsSync(join(folder, `r${i}.json`)); i++) {
    const recipe = JSON.parse(readFileSync(join(folder, `r${i}.json`), 'utf8'));
    const n = Math.max(COHORT, Math.floor((devices - first) * (recipe.send?.sample ?? 1)));
    if (first + n > devices) break;
    // Through a pipe: the records of a round may be gigabytes.
    execFileSync(
      'sh',
      [
        '-c',
        '"$0" simulate --recipe "$1.json" --counts counts --devices "$2" --first "$3" --seed "$4" -o - | "$0" ingest --recipe "$1.json" -o "$1.acc" -',
        ...[bin, `r${i}`, `${n}`, `${first}`, seed],
      ],
      { cwd: folder, stdio: 'ignore' },
    );
    first += n;
    files.push('--recipe', `r${i}.json`, `r${i}.acc`);
    run('round', 'next', '--recipe', `r${i}.json`, `r${i}.acc`, '-o', `r${i + 1}.json`);
  }
  const { rows } = JSON.parse(run('discover', ...files, '--format', 'json'));
  const drawn = readFileSync(join(folder, 'truth'), 'utf8').trim().split('\n');
  // Devices that no round asked are not of the result.
  const scale = first / devices;
  const truth = new Map(
    drawn.map((line) => [line.split('\t')[0], Number(line.split('\t')[1]) * scale]),
  );
  rmSync(folder, { recursive: true });
  return { rows, truth };
}

/**
 * Sums over collections. A string that nobody has counts as 0.
 * @param {ReturnType<typeof collect>[]} collections
 */
export function judge(collections) {
  const sums = { rows: 0, error: 0, covered: 0, fcr: 0, last: 0, lastCovered: 0, lastFcr: 0 };
  const more = { sent: 0, enough: 0, stems: 0, falseStems: 0, missed: 0 };
  for (const { rows, truth } of collections) {
    const words = [...truth.keys()];
    let missed = false;
    for (const [i, row] of rows.entries()) {
      const own = truth.get(row.value) ?? 0;
      const covered = Number(row.low <= own && own <= row.high);
      const fcr = Number(row.fcr_low <= own && own <= row.fcr_high);
      const isStem = words.some((word) => word !== row.value && word.startsWith(row.value));
      const above = rows.filter(({ value }) => (truth.get(value) ?? 0) > own).length;
      sums.rows++;
      sums.error += (row.count - own) / row.stderr;
      sums.covered += covered;
      sums.fcr += fcr;
      if (i >= rows.length - LAST) {
        sums.last++;
        sums.lastCovered += covered;
        sums.lastFcr += fcr;
      }
      more.sent += Number(own > 0);
      more.enough += Number(own >= row.stderr);
      more.stems += Number(isStem);
      more.falseStems += Number(isStem && own < row.stderr);
      missed ||= 1 + above < row.rank_low || 1 + above > row.rank_high;
    }
    more.missed += Number(missed);
  }
  return { ...sums, ...more };
}

function main() {
  const [base = 'rows', collections = '20', millions = '5'] = process.argv.slice(2);
  const head = ['epsilon', 'devices', 'rows', 'sent', 'enough', 'stems, false'];
  head.push('error', 'covered, %', 'by FCR, %', `last ${LAST}, %`, 'by FCR, %', 'ranks missed');
  const table = [head, head.map(() => '---')];
  for (const epsilon of EPSILONS) {
    for (const [devices, count] of [
      [200_000, Number(collections)],
      [1_000_000, Number(millions)],
    ]) {
      const sums = judge(
        Array.from({ length: count }, (_, i) =>
          collect(`${base}-${epsilon}-${devices}-${i}`, epsilon, devices),
        ),
      );
      const percent = (/** @type {number} */ part, /** @type {number} */ of) =>
        ((100 * part) / of).toFixed(1);
      table.push([
        `${epsilon}`,
        devices.toLocaleString('en'),
        `${sums.rows}`,
        (sums.sent / sums.rows).toFixed(3),
        (sums.enough / sums.rows).toFixed(3),
        `${sums.stems}, ${sums.falseStems}`,
        `+${(sums.error / sums.rows).toFixed(2)}`.replace('+-', '-'),
        percent(sums.covered, sums.rows),
        percent(sums.fcr, sums.rows),
        percent(sums.lastCovered, sums.last),
        percent(sums.lastFcr, sums.last),
        `${sums.missed} of ${count}`,
      ]);
      console.error(table.at(-1)?.join(' | '));
    }
  }
  const page = path('docs/trie.md');
  const [before, rest] = readFileSync(page, 'utf8').split(BEGIN);
  const lines = table.map((row) => `| ${row.join(' | ')} |`).join('\n');
  if (rest === undefined) throw new Error(`${page} has no place for the table:\n${lines}`);
  writeFileSync(page, `${before}${BEGIN}\n\n${lines}\n\n${END}${rest.split(END)[1]}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
