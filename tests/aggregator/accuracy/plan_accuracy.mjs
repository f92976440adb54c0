// SPDX-License-Identifier: Apache-2.0
// Does `shoal plan` foretell what simulate, ingest and estimate then measure? Random settings over all mechanisms, from a seed
// that is printed.
//
//   node tests/aggregator/accuracy/plan_accuracy.mjs [--long] [--base TEXT] [--only MECHANISM]
//
// A setting draws a mechanism, a number of values, epsilon, devices and a Zipf exponent; the second half of the values is held by
// nobody. The plan's own recipe is run over 20 seeds, each with other hash keys and the list in another order:
//   rare values   root mean square error of those that nobody holds: within 10 % of the plan's standard error. 20 seeds of 50
//                 or more values: its own deviation is 1/sqrt(2 * 1000) = 2 %, more where a few columns are shared by all
//   detected      how many values are told from zero, on average: within 1 + 20 % of the plan's number, which counts each
//                 as wholly in or out
//   a mean        one number a run, so 300 runs: 4 %
//   commonest     over all settings together, squared error over the plan's variance: 1 +- 4 sqrt(2 / runs)
// and points of the surface of apple-2017 Figure 4b, likewise. Without --long a few quick settings. The command is $SHOAL_BIN or build/release/shoal.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const RUNS = 20;
const MEAN_RUNS = 300;
const LONG_SETTINGS = 20;
const SHORT_MECHANISMS = ['grr', 'cms', 'olh', 'hadamard'];
const SURFACE_POINTS = [
  [16, 16],
  [16, 256],
  [256, 64],
  [64, 1024],
];

/** @param {string} text @returns {() => number} uniform in [0, 1), the same for the same text */
function random(text) {
  let i = 0;
  return () => createHash('sha256').update(`${text} ${i++}`).digest().readUInt32BE(0) / 2 ** 32;
}

/** @param {() => number} next @param {number} low @param {number} high */
const logUniform = (next, low, high) => Math.exp(Math.log(low) + next() * Math.log(high / low));

/** @template T @param {T[]} list @param {() => number} next @returns {T[]} */
function shuffled(list, next) {
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}

/** @typedef {{mechanism: string, isOpen: boolean, isMean: boolean, values: number, epsilon: number, devices: number, zipf: number}} Setting */
/** @typedef {{bin: string, folder: string}} Env */
/** @typedef {{value: string, count: number}} Counted */
/** @typedef {{value: string, count: number, mean: number, detected: boolean}} Row */

/** Strings every second round, where the mechanism takes them. @param {string} mechanism @param {number} round @param {() => number} next @returns {Setting} */
function drawSetting(mechanism, round, next) {
  const isOpen = ['cms', 'hcms', 'olh', 'rappor'].includes(mechanism) && round % 2 === 1;
  const most = mechanism.startsWith('onehot') || mechanism === 'rappor' ? 400 : 1500;
  return {
    mechanism,
    isOpen,
    isMean: ['one-bit-mean', 'piecewise', 'square-wave'].includes(mechanism),
    values: 2 * Math.round(logUniform(next, 50, most) / 2 + 25),
    epsilon: Math.round(100 * logUniform(next, 0.5, 7)) / 100,
    devices: Math.round(logUniform(next, 5000, 40000)),
    zipf: 0.8 + next(),
  };
}

/** The first half by Zipf's law, the second held by nobody. @param {Setting} s @returns {Counted[]} */
function countsOf(s) {
  // The plan states the error at the least favourable number: an end of the range, or its middle.
  if (s.mechanism === 'square-wave') return [{ value: '100', count: 1 }];
  if (s.isMean) return Array.from({ length: 11 }, (_, i) => ({ value: String(45 + i), count: 1 }));
  return Array.from({ length: s.values }, (_, i) => ({
    value: `value-${i}`,
    count: 2 * i < s.values ? Math.ceil(1e7 / (i + 1) ** s.zipf) : 0,
  }));
}

/** @param {Env} env @param {string[]} args */
const shoal = (env, ...args) =>
  execFileSync(env.bin, args, { maxBuffer: 1 << 28, stdio: 'pipe', cwd: env.folder }).toString();

/** @param {Env} env @param {Counted[]} counts */
const writeCounts = (env, counts) =>
  writeFileSync(
    join(env.folder, 'counts.tsv'),
    counts.map(({ value, count }) => `${value}\t${count}\n`).join(''),
  );

/** One collection. @param {Env} env @param {any} recipe @param {number} devices @param {string} seed @param {boolean} isOpen @returns {{rows: Row[], truth: Map<string, number>}} */
function collect(env, recipe, devices, seed, isOpen) {
  writeFileSync(join(env.folder, 'recipe.json'), JSON.stringify(recipe));
  shoal(
    env,
    'simulate',
    '--recipe',
    'recipe.json',
    '--counts',
    'counts.tsv',
    '--devices',
    String(devices),
    '--seed',
    seed,
    '--threads',
    '1',
    '--truth',
    'truth.tsv',
    '-o',
    'batches',
  );
  rmSync(join(env.folder, 'acc'), { force: true });
  shoal(env, 'ingest', '--recipe', 'recipe.json', '--threads', '1', '-o', 'acc', 'batches');
  const dictionary = isOpen ? ['--dictionary', 'counts.tsv'] : [];
  const { rows } = JSON.parse(
    shoal(
      env,
      'estimate',
      '--recipe',
      'recipe.json',
      ...dictionary,
      '--threads',
      '1',
      '--format',
      'json',
      'acc',
    ),
  );
  const truth = readFileSync(join(env.folder, 'truth.tsv'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  return { rows, truth: new Map(truth.map(([value, count]) => [value, Number(count)])) };
}

/** The recipe with other hash keys and its list in another order. @param {any} recipe @param {() => number} next */
function varied(recipe, next) {
  const parameters = recipe.parameters.values
    ? { ...recipe.parameters, values: shuffled(recipe.parameters.values, next) }
    : recipe.parameters;
  return {
    ...recipe,
    parameters,
    ...(recipe.seed && { seed: createHash('sha256').update(String(next())).digest('hex') }),
  };
}

/** @param {number[]} list */
const mean = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;

/** @param {Map<string, number>} truth */
const commonest = (truth) =>
  [...truth].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];

/**
 * Root mean square error of values that nobody holds, mean number of detected values, squared errors of the commonest.
 * @param {Env} env @param {any} recipe @param {Setting} s @param {() => number} next
 */
function measure(env, recipe, s, next) {
  /** @type {number[]} */
  const squares = [];
  /** @type {number[]} */
  const detected = [];
  /** @type {number[]} */
  const top = [];
  for (let run = 0; run < RUNS; run++) {
    const { rows, truth } = collect(env, varied(recipe, next), s.devices, String(next()), s.isOpen);
    const first = commonest(truth);
    detected.push(rows.filter((row) => row.detected).length);
    for (const row of rows) {
      const error = row.count - (truth.get(row.value) ?? NaN);
      if (truth.get(row.value) === 0 && Number(row.value.slice(6)) * 2 >= s.values)
        squares.push(error ** 2);
      if (row.value === first) top.push(error ** 2);
    }
  }
  return { stderr: Math.sqrt(mean(squares)), detected: mean(detected), top };
}

/** @param {Env} env @param {any} recipe @param {Setting} s @param {() => number} next */
function measureMean(env, recipe, s, next) {
  const squares = Array.from({ length: MEAN_RUNS }, () => {
    const { rows, truth } = collect(env, recipe, s.devices, String(next()), false);
    const exact =
      [...truth].reduce((sum, [value, count]) => sum + Number(value) * count, 0) / s.devices;
    return (rows[0].mean - exact) ** 2;
  });
  return { stderr: Math.sqrt(mean(squares)), detected: NaN, top: [] };
}

/** @param {Env} env @param {Setting} s */
function planOf(env, s) {
  const what = s.isMean
    ? ['--mean', '--low', '0', '--high', '100']
    : ['--counts', 'counts.tsv', ...(s.isOpen ? ['--open'] : [])];
  rmSync(join(env.folder, 'planned.json'), { force: true });
  return JSON.parse(
    shoal(
      env,
      'plan',
      '--devices',
      String(s.devices),
      ...what,
      '--epsilon',
      String(s.epsilon),
      '--mechanism',
      s.mechanism,
      '--memory',
      '33554432',
      '--recipe-out',
      'planned.json',
      '--format',
      'json',
    ),
  );
}

/** A setting in which something can be seen; a plan of nothing has no recipe. @param {Env} env @param {string} mechanism @param {number} round @param {() => number} next */
function settingWithPlan(env, mechanism, round, next) {
  for (let attempt = 0; attempt < 50; attempt++) {
    const setting = drawSetting(mechanism, round, next);
    writeCounts(env, countsOf(setting));
    const plan = planOf(env, setting);
    if (plan.answer !== 'nothing') return { setting, best: plan.candidates[0] };
  }
  throw new Error(`${mechanism} sees nothing in 50 settings`);
}

/** @param {Env} env @param {string} mechanism @param {number} round @param {() => number} next @param {number[]} tops */
function check(env, mechanism, round, next, tops) {
  const { setting, best } = settingWithPlan(env, mechanism, round, next);
  const recipe = JSON.parse(readFileSync(join(env.folder, 'planned.json'), 'utf8'));
  const seen = (setting.isMean ? measureMean : measure)(env, recipe, setting, next);
  const ratio = seen.stderr / best.stderr;
  const isDetectedOk =
    setting.isMean || Math.abs(seen.detected - best.detectable) <= 1 + 0.2 * best.detectable;
  tops.push(...seen.top.map((square) => square / best.stderr_largest ** 2));
  const ok = Math.abs(ratio - 1) <= 0.1 && isDetectedOk;
  const numbers = Object.entries(best.parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  console.log(
    `${ok ? 'ok    ' : 'FAILED'} ${mechanism.padEnd(17)} ${setting.isOpen ? 'open' : setting.isMean ? 'mean' : 'list'}` +
      ` P=${String(setting.isMean ? 1 : setting.values).padEnd(4)} n=${String(setting.devices).padEnd(5)} zipf=${setting.zipf.toFixed(2)} ${numbers}: stderr` +
      ` ${best.stderr.toPrecision(4)}, measured ${seen.stderr.toPrecision(4)} (${ratio.toFixed(3)})` +
      (setting.isMean
        ? ''
        : `; detectable ${best.detectable}, detected ${seen.detected.toFixed(1)}`),
  );
  return ok;
}

/** A point of the surface. @param {Env} env @param {string} mechanism @param {number[]} point @param {() => number} next */
function checkSurface(env, mechanism, [k, m], next) {
  const s = {
    mechanism,
    isOpen: true,
    isMean: false,
    values: 1000,
    epsilon: 2,
    devices: 20000,
    zipf: 1.2,
  };
  writeCounts(env, countsOf(s));
  const { rows } = JSON.parse(
    shoal(
      env,
      'plan',
      '--surface',
      '--mechanism',
      mechanism,
      '--devices',
      String(s.devices),
      '--epsilon',
      '2',
      '--counts',
      'counts.tsv',
      '--format',
      'json',
    ),
  );
  const point = rows.find((/** @type {any} */ row) => row.k === k && row.m === m);
  const recipe = {
    recipe: 'surface',
    analysis: 'surface',
    stream: 's',
    value: 'word',
    mechanism,
    parameters: { epsilon: 2, k, m },
    hash: 'poly1',
    seed: '00',
    limit: { per_day: 1 },
    expires: '2099-12-31',
  };
  const ratio = measure(env, recipe, s, next).stderr / point.stderr;
  const ok = Math.abs(ratio - 1) <= 0.1;
  console.log(
    `${ok ? 'ok    ' : 'FAILED'} surface ${mechanism} k=${k} m=${m}: stderr ${point.stderr.toPrecision(4)}, measured ${ratio.toFixed(3)} of it`,
  );
  return ok;
}

function main() {
  const { values } = parseArgs({
    options: {
      long: { type: 'boolean' },
      base: { type: 'string', default: 'a plan' },
      only: { type: 'string' },
    },
  });
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const env = {
    bin: resolve(process.env.SHOAL_BIN ?? join(root, 'build/release/shoal')),
    folder: mkdtempSync(join(tmpdir(), 'shoal-plan-')),
  };
  const all = [
    ...readFileSync(join(root, 'core/mechanism/mechanisms.def'), 'utf8').matchAll(
      /^SHOAL_MECHANISM\(.*"([a-z0-9-]+)"\)/gm,
    ),
  ].map((match) => match[1]);
  const mechanisms = values.only ? [values.only] : values.long ? all : SHORT_MECHANISMS;
  const rounds = values.long || values.only ? Math.ceil(LONG_SETTINGS / all.length) : 1;
  const points = values.only ? [] : values.long ? SURFACE_POINTS : SURFACE_POINTS.slice(2, 3);
  /** @type {number[]} */
  const tops = [];
  let failed = 0;
  console.log(`settings of --base ${JSON.stringify(values.base)}`);
  try {
    for (let round = 0; round < rounds; round++)
      for (const mechanism of mechanisms)
        failed += check(env, mechanism, round, random(`${values.base} ${mechanism} ${round}`), tops)
          ? 0
          : 1;
    for (const mechanism of values.long ? ['cms', 'hcms'] : ['cms'])
      for (const point of points)
        failed += checkSurface(env, mechanism, point, random(`${values.base} surface ${point}`))
          ? 0
          : 1;
  } finally {
    rmSync(env.folder, { recursive: true, force: true });
  }
  const within = 4 * Math.sqrt(2 / Math.max(1, tops.length));
  const isTopOk = tops.length === 0 || Math.abs(mean(tops) - 1) <= within;
  console.log(
    `${isTopOk ? 'ok    ' : 'FAILED'} the commonest values' squared errors: ${tops.length ? mean(tops).toFixed(3) : '-'} of the plan's, within ${within.toFixed(3)} of 1`,
  );
  process.exitCode = failed > 0 || !isTopOk ? 1 : 0;
}

main();
