// SPDX-License-Identifier: Apache-2.0
// Rows of the memory table for commands that have no curve, and for servers: these under the load of their own tests, which take every
// connection and the room of every body and ask for all at once.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LIMIT = ['--memory', '4G']; // so that all say what they take
const LOADS = [
  '../aggregator/serve/serve_memory.test.mjs',
  '../aggregator/dap/dap_memory.test.mjs',
].map((name) => fileURLToPath(new URL(name, import.meta.url)));

/** @typedef {{announced_mib: number | null, peak_kib: number}} Peak */

const base = {
  analysis: 'bench',
  stream: 's',
  limit: { per_day: 1 },
  cohort: { minimum: 1 },
  expires: '2099-12-31',
};
const seed = '00112233445566778899aabbccddeeff'.repeat(2);

const fragments = {
  ...base,
  recipe: 'fragments',
  value: 'word',
  mechanism: 'sfp',
  hash: 'poly1',
  seed,
  parameters: {
    epsilon: 2,
    epsilon_fragment: 6,
    k: 64,
    m: 1024,
    k_fragment: 1024,
    m_fragment: 64,
    length: 4,
  },
};
const starts = {
  ...base,
  recipe: 'starts-1',
  value: 'fields',
  mechanism: 'trie',
  parameters: { epsilon: 12, contributions: 1, sampler: 'random', depth: 10, max_prefixes: 10000 },
  encoding: [
    {
      field: 'word',
      step: 4,
      characters: 'abcdefghijklmnopqrstuvwxyz',
      starts: [...'abcdefghijklmnop'],
    },
  ],
};
const words = Array.from({ length: 1000 }, (_, i) => `t${String(i).padStart(3, '0')}`);
const tokens = {
  ...base,
  recipe: 'tokens-1',
  value: 'fields',
  mechanism: 'hadamard',
  parameters: { epsilon: 8 },
  encoding: [{ field: 'f', prefixes: words, tokens: words }],
};

/**
 * @param {(name: string) => string} file in a folder of its own @param {(args: string[]) => Peak} once
 * @returns {{command: string, taken: Peak}[]}
 */
export function commandRows(file, once) {
  /** @param {string} name @param {object} recipe @param {string} counts */
  const collect = (name, recipe, counts) => {
    writeFileSync(file(`${name}.json`), JSON.stringify(recipe));
    writeFileSync(file(`${name}.tsv`), counts);
    once([
      'simulate',
      '--recipe',
      file(`${name}.json`),
      '--counts',
      file(`${name}.tsv`),
      '--devices',
      '3000',
      '--seed',
      'a',
      '-o',
      file(`${name}.batch`),
    ]);
    once(['ingest', '--recipe', file(`${name}.json`), '-o', file(name), file(`${name}.batch`)]);
    return ['--recipe', file(`${name}.json`), ...LIMIT];
  };
  const ofFragments = collect('fragments', fragments, 'some\t2\nword\t1\n');
  const ofStarts = collect('starts', starts, 'abcdefgh\t5\nbacked\t1\n');
  const ofTokens = collect('tokens', tokens, '{"f":"t001 t002"}\t9\n{"f":"t003 t004"}\t1\n');
  return [
    {
      command: 'discover of fragments (sfp), m 64',
      taken: once(['discover', ...ofFragments, file('fragments')]),
    },
    {
      command: 'discover of a trie, 7,300,000 cells',
      taken: once(['discover', ...ofStarts, file('starts')]),
    },
    {
      command: 'round next of the same trie',
      taken: once(['round', 'next', ...ofStarts, '-o', file('next'), file('starts')]),
    },
    {
      command: 'round next of 1,000,000 sequences',
      taken: once(['round', 'next', ...ofTokens, '-o', file('next'), file('tokens')]),
    },
    { command: 'demo, 1,000,000 devices', taken: once(['demo', '--devices', '1000000', ...LIMIT]) },
  ];
}

const OF = /** @type {Record<string, string>} */ ({
  serve: 'k 4,096',
  'serve --memory': 'k 4,096',
});

/** What the tests of servers tell: "# leader: 237 MiB of 378 MiB". @param {string} shoal @returns {{command: string, taken: Peak}[]} */
export function serverRows(shoal) {
  const { status, stdout } = spawnSync(process.execPath, ['--test', ...LOADS], {
    encoding: 'utf8',
    env: { ...process.env, SHOAL_BIN: shoal },
  });
  if (status !== 0) throw new Error(stdout);
  return [...stdout.matchAll(/^# ([a-z][\w -]*): (\d+) MiB of (\d+) MiB$/gm)].map(
    ([, name, took, said]) => ({
      command: `${name}, ${OF[name] ?? '65,536 buckets'}`,
      taken: { announced_mib: Number(said), peak_kib: 1024 * Number(took) },
    }),
  );
}
