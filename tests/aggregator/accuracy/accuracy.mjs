// SPDX-License-Identifier: Apache-2.0
// Are the estimates, their standard errors and their intervals what they say? Checked through the command itself
// (simulate, ingest, estimate) against the counts really drawn, on counts files made up here.
//
//   node tests/aggregator/accuracy/accuracy.mjs [--long] [--base TEXT] [--devices N] [--values P]
//
// For each setting, over 5 seeds together, P values each (n = 200,000 devices, P = 1,000):
//   mean error            within 3 sigma sqrt((1/P + 1/m) / 5) of 0; values share noise, hence 1/m
//   mean squared error    within 10 % of the mean of the stated variances: its own sd is sqrt(2 / (5 P)) = 2 %
//   95 % intervals        cover 94 to 96 %: sd 0.3 % (5 P intervals)
// Without --long one setting is run, with it all of them, each on two counts files: Zipf, and one value with 25 %.
// --base picks other files, seeds and hash keys. The command is $SHOAL_BIN or build/release/shoal.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const SEEDS = 5;

/** @typedef {{mechanism: string, k: number, m: number, epsilon: number}} Setting */

/** @type {Setting[]} */
const SETTINGS = [
  { mechanism: 'cms', k: 2048, m: 1024, epsilon: 4 },
  { mechanism: 'cms', k: 2048, m: 1024, epsilon: 2 },
  { mechanism: 'cms', k: 2048, m: 1024, epsilon: 8 },
  { mechanism: 'cms', k: 65536, m: 1024, epsilon: 2 },
  { mechanism: 'cms', k: 65536, m: 1024, epsilon: 4 },
  { mechanism: 'cms', k: 65536, m: 1024, epsilon: 8 },
  { mechanism: 'hcms', k: 2048, m: 1024, epsilon: 4 },
  { mechanism: 'hcms', k: 1024, m: 32768, epsilon: 4 },
];

/** @type {Record<string, (rank: number, p: number) => number>} */
const SHAPES = {
  zipf: (rank) => Math.round(1e6 / (rank + 2)),
  // One value with a quarter of everything, the others even.
  heavy: (rank, p) => (rank === 0 ? Math.floor(((p - 1) * 1000) / 3) : 1000),
};

/** @param {string} text */
const digest = (text) => createHash('sha256').update(text).digest('hex');

/** @param {Setting} s @param {string} seed */
function recipeOf(s, seed) {
  return {
    recipe: 'accuracy',
    analysis: 'accuracy',
    stream: 'accuracy',
    value: 'item',
    mechanism: s.mechanism,
    parameters: { epsilon: s.epsilon, k: s.k, m: s.m },
    hash: 'poly1',
    seed: digest(`hash ${seed}`),
    limit: { per_day: 1 },
    expires: '2099-12-31',
  };
}

/** @param {string} path @param {string} text @param {number} p @param {(rank: number, p: number) => number} shape */
function writeCounts(path, text, p, shape) {
  const lines = Array.from(
    { length: p },
    (_, rank) => `${digest(`${text} ${rank}`).slice(0, 12)}\t${shape(rank, p)}`,
  );
  writeFileSync(path, `${lines.join('\n')}\n`);
}

/**
 * One run of the three commands.
 * @param {{bin: string, folder: string, devices: number}} env @param {Setting} s @param {string} seed
 */
function runOnce(env, s, seed) {
  const at = (/** @type {string} */ name) => join(env.folder, name);
  writeFileSync(at('recipe.json'), JSON.stringify(recipeOf(s, seed)));
  rmSync(at('acc'), { force: true });
  const run = (/** @type {string[]} */ args) =>
    execFileSync(env.bin, args, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
  run([
    'simulate',
    '--recipe',
    at('recipe.json'),
    '--counts',
    at('counts.tsv'),
    '--devices',
    String(env.devices),
    '--seed',
    seed,
    '-o',
    at('batches'),
    '--truth',
    at('truth.tsv'),
  ]);
  run(['ingest', '--recipe', at('recipe.json'), '-o', at('acc'), at('batches')]);
  const result = JSON.parse(
    run([
      'estimate',
      '--recipe',
      at('recipe.json'),
      '--dictionary',
      at('counts.tsv'),
      '--format',
      'json',
      at('acc'),
    ]).toString(),
  );
  const truth = new Map(
    readFileSync(at('truth.tsv'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => {
        const [value, count] = line.split('\t');
        return [value, Number(count)];
      }),
  );
  if (result.n !== env.devices) throw new Error(`n is ${result.n}`);
  if (result.rows.length !== truth.size)
    throw new Error(`${result.rows.length} rows for ${truth.size} values`);
  return result.rows.map((/** @type {any} */ row) => {
    const f = truth.get(row.value);
    if (f === undefined) throw new Error('a value that was not asked for');
    return {
      error: row.count - f,
      variance: row.stderr ** 2,
      covered: row.low <= f && f <= row.high,
    };
  });
}

/** @param {Setting} s @param {{error: number, variance: number, covered: boolean}[]} rows @param {number} p */
function judge(s, rows, p) {
  const mean = (/** @type {(row: any) => number} */ f) =>
    rows.reduce((sum, row) => sum + f(row), 0) / rows.length;
  const variance = mean((row) => row.variance);
  const bias =
    mean((row) => row.error) / (Math.sqrt(variance) * Math.sqrt((1 / p + 1 / s.m) / SEEDS));
  const ratio = mean((row) => row.error ** 2) / variance;
  const coverage = mean((row) => (row.covered ? 1 : 0));
  const ok =
    Math.abs(bias) <= 3 && Math.abs(ratio - 1) <= 0.1 && coverage >= 0.94 && coverage <= 0.96;
  return { bias, ratio, coverage, stderr: Math.sqrt(variance), ok };
}

function main() {
  const { values } = parseArgs({
    options: {
      long: { type: 'boolean' },
      base: { type: 'string', default: 'a school of fish' },
      devices: { type: 'string', default: '200000' },
      values: { type: 'string', default: '1000' },
    },
  });
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const env = {
    bin: process.env.SHOAL_BIN ?? join(root, 'build/release/shoal'),
    devices: Number(values.devices),
    folder: mkdtempSync(join(tmpdir(), 'shoal-accuracy-')),
  };
  const p = Number(values.values);
  let failed = 0;
  try {
    for (const shape of values.long ? ['zipf', 'heavy'] : ['zipf']) {
      writeCounts(join(env.folder, 'counts.tsv'), `${values.base} ${shape}`, p, SHAPES[shape]);
      for (const s of values.long ? SETTINGS : SETTINGS.slice(0, 1)) {
        const rows = [];
        for (let i = 0; i < SEEDS; i++) rows.push(...runOnce(env, s, `${values.base} ${i}`));
        const v = judge(s, rows, p);
        failed += v.ok ? 0 : 1;
        console.log(
          `${v.ok ? 'ok    ' : 'FAILED'} ${shape.padEnd(5)} ${s.mechanism.padEnd(4)} k=${s.k} m=${s.m}` +
            ` eps=${s.epsilon}: mean error ${v.bias.toFixed(2)} of 3 sigma, mean square ${v.ratio.toFixed(3)} of the` +
            ` formula, coverage ${(100 * v.coverage).toFixed(2)} %, stderr ${v.stderr.toFixed(1)}`,
        );
      }
    }
  } finally {
    rmSync(env.folder, { recursive: true, force: true });
  }
  process.exitCode = failed > 0 ? 1 : 0;
}

main();
