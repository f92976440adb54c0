// SPDX-License-Identifier: Apache-2.0
// One recipe of every mechanism, served by one leader and one helper: what the collector gets of each is, byte for byte, the
// accumulator that one aggregator makes of the same reports, and its estimates are the same. And a task of exact sums.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { sumsOf } from '../accumulator_sums.mjs';

import { makeFolder } from '../serve/serve_helpers.mjs';
import { HOUR, shoal, startPair, thisHour } from './dap_helpers.mjs';

const DEVICES = 120;
const SEED = '00112233445566778899aabbccddeeff'.repeat(2);
const colours = { epsilon: 4, values: ['red', 'green', 'blue', 'black', 'white', 'brown', 'grey'] };
const hashed = { value: 'word', hash: 'poly1', seed: SEED };

/** What a recipe of each mechanism says besides the common fields. @type {Record<string, object>} */
const RECIPES = {
  grr: { parameters: colours },
  hadamard: { parameters: { ...colours, epsilon: 2 } },
  subset: { parameters: { ...colours, epsilon: 1 } },
  'onehot-asymmetric': { parameters: colours },
  'onehot-symmetric': { parameters: colours },
  olh: { ...hashed, parameters: { epsilon: 3, k: 8, g: 16 } },
  hcms: { ...hashed, parameters: { epsilon: 4, k: 4, m: 32 } },
  cms: { ...hashed, parameters: { epsilon: 6, k: 3, m: 50 } },
  rappor: { ...hashed, parameters: { bits: 16, hashes: 2, cohorts: 4, p: 0.25, q: 0.75, f: 0.5 } },
  loloha: {
    seed: hashed.seed,
    parameters: { ...colours, epsilon: 4, epsilon_permanent: 4, g: 2 },
  },
  'one-bit-mean': { value: 'number', parameters: { epsilon: 4, low: 0, high: 10 } },
  piecewise: { value: 'number', parameters: { epsilon: 4, low: 0, high: 10 } },
  'square-wave': { value: 'number', parameters: { epsilon: 4, low: 0, high: 10 } },
};

/** @param {Record<string, any>} recipe */
const countsOf = (recipe) => {
  const values = recipe.value === 'number' ? ['1', '2.5', '9'] : colours.values;
  return values.map((value, i) => `${value}\t${i + 1}\n`).join('');
};

test(
  'every mechanism: the batch of two servers is the accumulator of one',
  { timeout: 300000 },
  async (t) => {
    const from = (thisHour() - 3) * HOUR;
    const pair = await startPair(t, makeFolder(t), (urls) =>
      Object.fromEntries(
        Object.entries(RECIPES).map(([mechanism, more]) => [
          `${mechanism}.json`,
          {
            recipe: `all-${mechanism}`,
            analysis: 'tests',
            stream: 's',
            value: 'item',
            mechanism,
            limit: { per_day: 1 },
            cohort: { minimum: DEVICES },
            aggregation: { protocol: 'dap', ...urls, time_precision_s: HOUR },
            expires: '2099-01-31',
            ...more,
          },
        ]),
      ),
    );
    for (const mechanism of Object.keys(RECIPES)) {
      const at = (/** @type {string} */ end) => pair.at(`${mechanism}.${end}`);
      writeFileSync(at('tsv'), countsOf(JSON.parse(readFileSync(at('json'), 'utf8'))));
      shoal(
        'simulate',
        '--recipe',
        at('json'),
        '--counts',
        at('tsv'),
        '--devices',
        String(DEVICES),
        '--seed',
        's',
        '--format',
        'ndjson',
        '-o',
        at('reports'),
      );
      shoal('ingest', '--recipe', at('json'), '-o', at('folded'), at('reports'));
      shoal('upload', '--recipe', at('json'), '--time', String(from), at('reports'));
    }
    for (const mechanism of Object.keys(RECIPES)) {
      const at = (/** @type {string} */ end) => pair.at(`${mechanism}.${end}`);
      const done = pair.collect(
        '--recipe',
        at('json'),
        '--from',
        String(from),
        '--to',
        String(from + HOUR),
        '--wait',
        '60',
        '-o',
        at('acc'),
      );
      assert.equal(
        done.status,
        0,
        `${mechanism}: ${done.stderr}${pair.leader.log()}${pair.helper.log()}`,
      );
      assert.ok(
        sumsOf(readFileSync(at('acc'))).equals(sumsOf(readFileSync(at('folded')))),
        mechanism,
      );
      const dictionary = 'hash' in RECIPES[mechanism] ? ['--dictionary', pair.at('words')] : [];
      writeFileSync(pair.at('words'), `${colours.values.join('\n')}\n`);
      const [mine, theirs] = ['acc', 'folded'].map(
        (end) =>
          shoal('estimate', '--recipe', at('json'), ...dictionary, '--format', 'json', at(end))
            .stdout,
      );
      assert.equal(mine, theirs);
      assert.equal(JSON.parse(mine).n, DEVICES);
    }
  },
);

/** Measurements of each exact task, a line each, and what they sum to. @type {Record<string, { vdaf: object, lines: string[], sums: number[] }>} */
const EXACT = {
  count: { vdaf: { type: 'count' }, lines: ['1', '0', '1', '1'], sums: [3] },
  sum: { vdaf: { type: 'sum', max: 1000 }, lines: ['1000', '0', '7'], sums: [1007] },
  vector: {
    vdaf: { type: 'sum-vec', length: 3, max: 9, chunk: 2 },
    lines: ['1,2,3', '9,9,9', '0,0,1'],
    sums: [10, 11, 13],
  },
  histogram: {
    vdaf: { type: 'histogram', length: 4, chunk: 2 },
    lines: ['3', '0', '3'],
    sums: [1, 0, 0, 2],
  },
};

test('exact sums of two servers are exact, and said to be', { timeout: 120000 }, async (t) => {
  const from = (thisHour() - 3) * HOUR;
  const pair = await startPair(t, makeFolder(t), (urls) =>
    Object.fromEntries(
      Object.entries(EXACT).map(([name, { vdaf, lines }]) => [
        `${name}.json`,
        {
          version: 'dap-18',
          info: name,
          ...urls,
          time_precision_s: HOUR,
          min_batch_size: lines.length,
          vdaf,
        },
      ]),
    ),
  );
  for (const [name, { lines, sums }] of Object.entries(EXACT)) {
    const task = pair.at(`${name}.json`);
    writeFileSync(pair.at('lines'), `${lines.join('\n')}\n`);
    shoal('upload', '--task', task, '--measurements', pair.at('lines'), '--time', String(from));
    const done = pair.collect(
      '--task',
      task,
      '--from',
      String(from),
      '--to',
      String(from + HOUR),
      '--wait',
      '60',
      '--format',
      'json',
    );
    assert.equal(done.status, 0, done.stderr);
    const { sums: collected, n, label } = JSON.parse(done.stdout);
    assert.deepEqual(
      [collected, n, label],
      [sums, lines.length, 'exact sums, no local noise; local epsilon: none'],
    );
  }
});
