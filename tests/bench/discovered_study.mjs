// SPDX-License-Identifier: Apache-2.0
// What the figures of discovered strings are worth, as the table of docs/selection.md.
//
//   node tests/bench/discovered_study.mjs [BASE [COLLECTIONS]]    some five minutes of one core
//
// BASE is a text that the seeds are made of. Every collection has strings of its own. The program is $SHOAL_BIN or that of build/release.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const path = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url));
const BEGIN = '<!-- discovered: tests/bench/discovered_study.mjs -->';
const END = '<!-- end of discovered -->';
export const LETTERS = 'etaoinshrdlu';
const WORDS = 2000;
const SETTINGS = /** @type {[number, number][]} */ ([
  [4, 200_000],
  [4, 1_000_000],
  [8, 200_000],
  [8, 1_000_000],
]); // epsilon of a report's three records, devices
const LAST = 5; // the rows nearest to the noise

/** Numbers in [0, 1) from a text. @param {string} text */
function numbers(text) {
  let at = 0;
  return () => createHash('sha256').update(`${text} ${at++}`).digest().readUInt32LE() / 2 ** 32;
}

/** Strings of 3 to 6 letters, and how many of a million devices have each: falling as a Zipf law. @param {string} seed @returns {Map<string, number>} */
export function crowd(seed) {
  const random = numbers(seed);
  const words = new Map();
  while (words.size < WORDS) {
    const length = 3 + Math.floor(random() * 4);
    const word = Array.from({ length }, () => LETTERS[Math.floor(random() * LETTERS.length)]);
    const text = word.join('');
    if (!words.has(text)) words.set(text, Math.round(1e6 / (words.size + 5)));
  }
  return words;
}

/**
 * One collection, folded and decoded.
 * @param {string} folder @param {string} seed @param {number} epsilon @param {number} devices
 * @returns {{rows: {value: string, count: number, stderr: number, low: number, high: number, fcr_low: number, fcr_high: number, rank_low: number, rank_high: number}[], truth: Map<string, number>}}
 */
export function collect(folder, seed, epsilon, devices) {
  const words = crowd(seed);
  const total = [...words.values()].reduce((sum, count) => sum + count, 0);
  const at = (/** @type {string} */ name) => join(folder, name);
  const bin = process.env.SHOAL_BIN ?? path('build/release/shoal');
  const run = (/** @type {string[]} */ ...args) =>
    execFileSync(bin, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1e8,
    });
  for (const name of ['recipe', 'acc']) rmSync(at(name), { force: true });
  writeFileSync(at('counts'), [...words].map(([word, count]) => `${word}\t${count}\n`).join(''));
  const recipe = ['--recipe', at('recipe')];
  run(
    ...['recipe', 'new', '--id', 'words', '--expires', '2099-12-31', '--mechanism', 'sfp'],
    ...['--devices', `${devices}`, '--epsilon', `${epsilon}`, '-o', at('recipe')],
  );
  run(
    ...['simulate', ...recipe, '--counts', at('counts'), '--devices', `${devices}`],
    ...['--seed', seed, '-o', at('batch')],
  );
  run('ingest', ...recipe, '-o', at('acc'), at('batch'));
  const { rows } = JSON.parse(run('discover', ...recipe, at('acc'), '--format', 'json'));
  const truth = new Map([...words].map(([word, count]) => [word, (devices * count) / total]));
  return { rows, truth };
}

/**
 * Sums over collections. A string that nobody sent has the true count 0. Draws of the devices count as noise of the truth here: they are below a tenth of a standard error.
 * @param {ReturnType<typeof collect>[]} collections
 */
export function judge(collections) {
  const sums = { rows: 0, error: 0, covered: 0, fcr: 0, last: 0, lastCovered: 0, lastFcr: 0 };
  let ranksMissed = 0;
  for (const { rows, truth } of collections) {
    let missed = false;
    for (const [i, row] of rows.entries()) {
      const own = truth.get(row.value) ?? 0;
      const covered = row.low <= own && own <= row.high ? 1 : 0;
      const fcr = row.fcr_low <= own && own <= row.fcr_high ? 1 : 0;
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
      missed ||= 1 + above < row.rank_low || 1 + above > row.rank_high;
    }
    if (missed) ranksMissed++;
  }
  return { ...sums, ranksMissed };
}

function main() {
  const [base = 'discovered', collections = '40'] = process.argv.slice(2);
  const folder = mkdtempSync(join(tmpdir(), 'shoal-discovered-'));
  const head = ['epsilon', 'devices', 'rows', 'error', 'covered, %', 'by FCR, %'];
  head.push(`last ${LAST}, %`, 'by FCR, %', 'ranks missed');
  const table = [head, head.map(() => '---')];
  for (const [epsilon, devices] of SETTINGS) {
    const sums = judge(
      Array.from({ length: Number(collections) }, (_, i) =>
        collect(folder, `${base}-${epsilon}-${devices}-${i}`, epsilon, devices),
      ),
    );
    const percent = (/** @type {number} */ part, /** @type {number} */ of) =>
      ((100 * part) / of).toFixed(1);
    table.push([
      `${epsilon}`,
      devices.toLocaleString('en'),
      `${sums.rows}`,
      `+${(sums.error / sums.rows).toFixed(2)}`.replace('+-', '-'),
      percent(sums.covered, sums.rows),
      percent(sums.fcr, sums.rows),
      percent(sums.lastCovered, sums.last),
      percent(sums.lastFcr, sums.last),
      `${sums.ranksMissed} of ${collections}`,
    ]);
  }
  rmSync(folder, { recursive: true });
  const page = path('docs/selection.md');
  const [before, rest] = readFileSync(page, 'utf8').split(BEGIN);
  const lines = table.map((row) => `| ${row.join(' | ')} |`).join('\n');
  writeFileSync(page, `${before}${BEGIN}\n\n${lines}\n\n${END}${rest.split(END)[1]}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
