// SPDX-License-Identifier: Apache-2.0
// `make bench-lengths`: of strings of each length, how many does a trie find? It runs the commands
// (plan --discover, simulate | ingest, round next, discover) on made-up languages
// (demo/languages.mjs), one word a device, and prints a table.
//
//   --devices N, --epsilon E     1,000,000 and 4
//   --draws N                    languages of each manner, 2; --seed TEXT names other ones
//   --share S                    the share that recall is held against, in per cent: what the plan
//                                states by default, which differs between versions
//   --plan="--length 12"         options of plan --discover, --length 9; empty: as planned without
//   --english                    English as spoken in films instead, which the plan's table was counted on
//
// $SHOAL_BIN names another version's command, to hold two against each other.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { allWordCounts, toTsv } from './demo/data.mjs';
import { MANNERS, madeUpLanguage } from './demo/languages.mjs';

const BINARY =
  process.env.SHOAL_BIN ?? fileURLToPath(new URL('../build/release/shoal', import.meta.url));
const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '1000000' },
    epsilon: { type: 'string', default: '4' },
    draws: { type: 'string', default: '2' },
    seed: { type: 'string', default: 'a' },
    share: { type: 'string' },
    plan: { type: 'string', default: '--length 9' },
    english: { type: 'boolean', default: false },
  },
});
const DEVICES = Number(options.devices);
const COHORT = 1000; // the least devices that a round asks
/** @type {[string, number, number][]} */
const CLASSES = [
  ['1 to 3', 1, 3],
  ['4 and 5', 4, 5],
  ['6 to 9', 6, 9],
];

const folder = mkdtempSync(join(tmpdir(), 'shoal-lengths-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const at = (/** @type {string} */ name) => join(folder, name);

/** @param {string[]} args */
function shoal(...args) {
  const run = spawnSync(BINARY, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.status !== 0)
    throw new Error(`shoal ${args[0]} ended with ${run.status}:\n${run.stderr}`);
  return run.stdout;
}

/** Devices answer a round. @param {string} name of its recipe @param {number} first @param {number} n @param {string} seed */
async function collect(name, first, n, seed) {
  const common = ['--recipe', `${name}.json`];
  const people = ['--counts', 'counts.tsv', '--devices', `${n}`, '--first', `${first}`];
  const from = spawn(BINARY, ['simulate', ...common, ...people, '--seed', seed, '-o', '-'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const to = spawn(BINARY, ['ingest', ...common, '-o', `${name}.acc`, '-'], {
    cwd: folder,
    stdio: [from.stdout, 'ignore', 'ignore'],
  });
  from.stdout.destroy(); // of this process: the other one reads on
  const ends = await Promise.all([once(from, 'exit'), once(to, 'exit')]);
  if (ends.some(([code]) => code !== 0)) throw new Error(`round ${name}: no reports`);
}

/** Runs all rounds. @param {string} seed @returns {Promise<{rows: {value: string, count: number, stderr: number}[], rounds: {devices: number, step: number}[], plan: any}>} */
async function discover(seed) {
  const wish = ['--devices', options.devices, '--epsilon', options.epsilon, '--method', 'trie'];
  const more = options.plan.split(' ').filter(Boolean);
  rmSync(at('r1.json'), { force: true });
  const plan = JSON.parse(
    shoal(
      'plan',
      '--discover',
      ...wish,
      ...more,
      '--id',
      'words-1',
      '--recipe-out',
      'r1.json',
      '--format',
      'json',
    ),
  );
  const files = [];
  const rounds = [];
  let first = 0;
  for (let i = 1; existsSync(at(`r${i}.json`)); i++) {
    const recipe = JSON.parse(readFileSync(at(`r${i}.json`), 'utf8'));
    const n = Math.max(COHORT, Math.floor((DEVICES - first) * (recipe.send?.sample ?? 1)));
    if (first + n > DEVICES) break;
    rmSync(at(`r${i}.acc`), { force: true });
    rmSync(at(`r${i + 1}.json`), { force: true });
    await collect(`r${i}`, first, n, seed);
    first += n;
    files.push('--recipe', `r${i}.json`, `r${i}.acc`);
    shoal('round', 'next', '--recipe', `r${i}.json`, `r${i}.acc`, '-o', `r${i + 1}.json`);
    rounds.push({ devices: n, step: recipe.encoding[0].step });
  }
  const result = JSON.parse(shoal('discover', ...files, '--format', 'json'));
  return { ...result, rounds, plan };
}

/** @typedef {{above: number, found: number}} Recall */

const sums = new Map();
const add = (
  /** @type {string} */ key,
  /** @type {number} */ above,
  /** @type {number} */ found,
) => {
  const sum = sums.get(key) ?? { above: 0, found: 0 };
  sums.set(key, { above: sum.above + above, found: sum.found + found });
};

const lines = [];
for (const manner of options.english ? [{ ...MANNERS[0], name: 'English' }] : MANNERS) {
  for (let draw = 1; draw <= Number(options.draws); draw++) {
    const seed = `${options.seed}${draw}`;
    const words = options.english ? allWordCounts() : madeUpLanguage(manner, seed);
    const total = words.reduce((sum, { count }) => sum + count, 0);
    writeFileSync(at('counts.tsv'), toTsv(words));
    const { rows, rounds, plan } = await discover(seed);
    const share = options.share ? Number(options.share) / 100 : plan.trie.share;
    const found = new Map(rows.map((row) => [row.value, row]));
    const cells = [];
    for (const times of [1, 2]) {
      for (const [name, low, high] of CLASSES) {
        const frequent = words.filter(
          ({ value, count }) =>
            value.length >= low && value.length <= high && count / total >= times * share,
        );
        const own = frequent.filter(({ value }) => found.has(value)).length;
        add(`${name} ${times}`, frequent.length, own);
        cells.push(`${own} of ${frequent.length}`);
      }
    }
    const people = new Map(words.map(({ value, count }) => [value, (count / total) * DEVICES]));
    const right = rows.filter(({ value, stderr }) => (people.get(value) ?? 0) >= stderr).length;
    add('right', rows.length, right);
    lines.push(
      `| ${manner.name} ${seed} | ${rows.length} | ${(right / Math.max(1, rows.length)).toFixed(3)} | ${cells.join(' | ')} | ${rounds
        .map(({ devices, step }) => `${Math.round(devices / 1000)}k (${step})`)
        .join(', ')} |`,
    );
    console.error(lines.at(-1));
  }
}
const all = (/** @type {string} */ key) => {
  const { above, found } = sums.get(key);
  return `${found} of ${above}`;
};
const heads = [1, 2].flatMap((times) =>
  CLASSES.map(([name]) => `${name}${times === 1 ? '' : ', twice'}`),
);
console.log(
  `| language | found | precision | ${heads.join(' | ')} | devices (characters) of the rounds |`,
);
console.log(`|${' --- |'.repeat(heads.length + 4)}`);
console.log(lines.join('\n'));
const precision = sums.get('right');
console.log(
  `| **all** | ${precision.above} | ${(precision.found / Math.max(1, precision.above)).toFixed(3)} | ${[
    1, 2,
  ]
    .flatMap((times) => CLASSES.map(([name]) => all(`${name} ${times}`)))
    .join(' | ')} | |`,
);
