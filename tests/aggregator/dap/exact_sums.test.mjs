// SPDX-License-Identifier: Apache-2.0
// Task files of every VDAF: what `shoal upload` splits, two servers add up and `shoal collect` prints is the sum of what was
// measured, to the unit, and says that it has no local noise.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { makeFolder } from '../serve/serve_helpers.mjs';
import { moment, shoal, startPair, thisHour, HOUR } from './dap_helpers.mjs';

const LABEL = 'exact sums, no local noise; local epsilon: none';
const REPORTS = 130; // more than one request holds

/** Whole numbers below `limit` that look drawn and are the same in every run. @param {number} seed */
function numbers(seed) {
  let state = seed;
  return (/** @type {number} */ limit) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** @param {number} length @param {(i: number) => number} entry */
const vector = (length, entry) => Array.from({ length }, (_, i) => entry(i));

/** @type {Record<string, { vdaf: object, length: number, draw: (next: (limit: number) => number) => { line: string, adds: number[] } }>} */
const TASKS = {
  count: {
    vdaf: { type: 'count' },
    length: 1,
    draw(next) {
      const x = next(2);
      return { line: `${x}`, adds: [x] };
    },
  },
  sum: {
    vdaf: { type: 'sum', max: 2 ** 53 - 1 },
    length: 1,
    draw(next) {
      const x = next(10 ** 9);
      return { line: `${x}`, adds: [x] };
    },
  },
  'sum-vec': {
    vdaf: { type: 'sum-vec', length: 20, max: 1000 },
    length: 20,
    draw(next) {
      const adds = vector(20, () => next(1001));
      return { line: adds.join(','), adds };
    },
  },
  histogram: {
    vdaf: { type: 'histogram', length: 50, chunk: 7 },
    length: 50,
    draw(next) {
      const bucket = next(50);
      return { line: `${bucket}`, adds: vector(50, (i) => Number(i === bucket)) };
    },
  },
  'multihot-count-vec': {
    vdaf: { type: 'multihot-count-vec', length: 12, max_weight: 5 },
    length: 12,
    draw(next) {
      const set = new Set(vector(5, () => next(12)));
      const adds = vector(12, (i) => Number(set.has(i)));
      return { line: adds.join(','), adds };
    },
  },
};

test(
  'what is measured comes out as its exact sum, of every VDAF',
  { timeout: 120000 },
  async (t) => {
    const folder = makeFolder(t);
    const hour = thisHour() - 3;
    const pair = await startPair(t, folder, (urls) =>
      Object.fromEntries(
        Object.entries(TASKS).map(([name, { vdaf }]) => [
          `${name}.json`,
          {
            version: 'dap-18',
            info: `exact-${name}`,
            ...urls,
            time_precision_s: HOUR,
            min_batch_size: REPORTS,
            vdaf,
          },
        ]),
      ),
    );
    /** @type {Record<string, number[]>} */
    const wanted = {};
    for (const [i, [name, { length, draw }]] of Object.entries(TASKS).entries()) {
      const next = numbers(i + 1);
      const drawn = vector(REPORTS, () => 0).map(() => draw(next));
      wanted[name] = vector(length, (j) => drawn.reduce((sum, { adds }) => sum + adds[j], 0));
      const file = pair.at(`${name}.txt`);
      writeFileSync(file, drawn.map(({ line }) => `${line}\n`).join(''));
      const done = shoal(
        'upload',
        '--task',
        pair.at(`${name}.json`),
        '--measurements',
        file,
        '--time',
        String(hour * HOUR + 5),
      );
      assert.equal(done.stdout, `accepted            ${REPORTS}\n`);
      assert.ok(done.stderr.includes(LABEL));
    }
    for (const name of Object.keys(TASKS)) {
      const done = pair.collect(
        '--task',
        pair.at(`${name}.json`),
        '--from',
        moment(hour),
        '--to',
        moment(hour + 1),
        '--wait',
        '30',
        '--format',
        'json',
      );
      assert.equal(done.status, 0, done.stderr);
      const result = JSON.parse(done.stdout);
      assert.ok(done.stdout.includes(LABEL), done.stdout);
      assert.equal(result.n, REPORTS);
      assert.deepEqual(result.sums, wanted[name], name);
    }
  },
);

const NOISES = {
  laplace: { type: 'discrete-laplace', epsilon: 0.5 },
  gaussian: { type: 'discrete-gaussian', variance: 400, delta: '1e-9' },
};

test(
  'with noise of both servers, sums are near the true ones, and say how near',
  { timeout: 120000 },
  async (t) => {
    const folder = makeFolder(t);
    const hour = thisHour() - 3;
    const vdaf = { type: 'histogram', length: 40 };
    const pair = await startPair(t, folder, (urls) =>
      Object.fromEntries(
        Object.entries(NOISES).map(([name, noise]) => [
          `${name}.json`,
          {
            version: 'dap-18',
            info: `noisy-${name}`,
            ...urls,
            time_precision_s: HOUR,
            min_batch_size: REPORTS,
            vdaf,
            noise,
          },
        ]),
      ),
    );
    const next = numbers(9);
    const lines = vector(REPORTS, () => next(40));
    const wanted = vector(40, (i) => lines.filter((line) => line === i).length);
    const file = pair.at('lines.txt');
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    for (const [name, noise] of Object.entries(NOISES)) {
      const task = pair.at(`${name}.json`);
      const sent = shoal(
        'upload',
        '--task',
        task,
        '--measurements',
        file,
        '--time',
        `${hour * HOUR}`,
      );
      assert.equal(sent.stdout, `accepted            ${REPORTS}\n`);
      assert.match(sent.stderr, /noise of both servers; epsilon [0-9.]+/);
      const collect = (/** @type {string} */ format) => {
        const span = ['--from', moment(hour), '--to', moment(hour + 1), '--wait', '30'];
        const done = pair.collect('--task', task, ...span, '--format', format);
        assert.equal(done.status, 0, done.stderr);
        return done.stdout;
      };
      const result = JSON.parse(collect('json'));
      assert.equal(result.n, REPORTS); // the number of reports stays exact
      assert.equal(result.noise.type, noise.type);
      assert.ok(!JSON.stringify(result).includes(LABEL));
      const { standard_error: sd, within_95: reach } = result.noise;
      // All 40 sums within 12 standard errors (e^-11 for Laplace noise), and not all exact.
      const errors = result.sums.map((/** @type {number} */ sum, /** @type {number} */ i) =>
        Math.abs(sum - wanted[i]),
      );
      assert.ok(errors.every((/** @type {number} */ error) => error < 12 * sd));
      assert.ok(errors.some((/** @type {number} */ error) => error > 0));
      // Asked again, the batch has the same noise.
      assert.deepEqual(JSON.parse(collect('json')).sums, result.sums);
      const rows = collect('csv').trim().split('\n');
      assert.equal(rows[0], 'index,sum,standard_error,low,high');
      const [, sum, , low, high] = rows[1].split(',').map(Number);
      assert.deepEqual([sum, low, high], [result.sums[0], sum - reach, sum + reach]);
      assert.match(collect('table'), new RegExp(`0 +${sum} \\+- +${reach}\n`));
    }
  },
);
