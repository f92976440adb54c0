// SPDX-License-Identifier: Apache-2.0
// The device's step in WebAssembly, in the page's modules alone, with SIMD and without, and through the client's own view of the core: one CMS record of 1024 bits; one report of the largest round of
// a trie in gboard-2024 (10,000 prefixes, a million cells, epsilon 10: 46 of them), from words to text; an epoch of a run, of a mean and of 1,000
// values in 2,048 projections, from state and data to state and text; one exact bucket of 1,024 from the bucket to both shares, unsealed. Prints JSON lines like shoal_bench. Seeds are drawn beforehand. Naive: the
// same record in plain JavaScript, a Math.random() a bit; a Math.random() a cell; of a run Math.log() and JSON, a Math.random() a sign; of shares
// the TypeScript client that is deployed, @divviup/prio3.
import { Prio3Histogram } from '@divviup/prio3';
import { readFile } from 'node:fs/promises';
import { DapTask } from '../../wasm/bindings/dap_core.js';
import { Core as DeviceCore } from '../../wasm/bindings/device.js';
import { load, loadDapModule, loadModule } from '../../wasm/bindings/node.js';
import { QueryCore } from '../../wasm/bindings/query_core.js';
import { Run } from '../../wasm/bindings/run_core.js';
import { frontCoded, tenThousandStarts } from './front_coded.mjs';

const RECORDS = 20000;
const NAIVE_RECORDS = 2000;
const ROUNDS = 11;
const COLUMNS = 1024;
const ANSWERS = 50;
const CONTRIBUTIONS = 3;
const NAIVE_ANSWERS = 2;
const EPOCHS = 400;
const HEAVY_EPOCHS = 3;
const VALUES = 1000;
const PROJECTION = 2048;
const BUCKETS = 1024;
const CHUNK = 34; // whose 31 calls make the shortest proof
const SHARED = 100;
const NAIVE_SHARED = 3;

const core = await load();
const json = {
  recipe: 'bench',
  analysis: 'bench',
  stream: 'words',
  value: 'word',
  mechanism: 'cms',
  parameters: { epsilon: 4, k: 65536, m: COLUMNS },
  hash: 'poly1',
  seed: '00112233445566778899aabbccddeeff'.repeat(2),
  limit: { per_day: 1 },
  expires: '2099-12-31',
};
const recipe = core.recipe(json);

// One array of seeds for all rounds: how long getrandom takes is not ours.
const seeds = Array.from({ length: RECORDS }, () => crypto.getRandomValues(new Uint8Array(32)));
const words = Array.from({ length: 256 }, (_, i) => `word${i}`);
const records = new Uint8Array(RECORDS * recipe.recordSize);
let kept = 0;

const binary = () => {
  for (let i = 0; i < RECORDS; i++)
    recipe.randomizeInto(records, i * recipe.recordSize, words[i & 255], seeds[i]);
};

/** The same record by a page's module alone: value and seed go into its memory, the record stays there. @param {string} name */
const alone = async (name) => {
  const instance = await WebAssembly.instantiate(
    await WebAssembly.compile(await readFile(new URL(`../../wasm/dist/${name}`, import.meta.url))),
  );
  const { handle } = (await DeviceCore.create(instance)).recipe(json);
  const x = /** @type {any} */ (instance.exports);
  const bytes = new Uint8Array(x.memory.buffer);
  const at = (x.heap_base() + 15) & -16;
  const [seed, record] = [at + 256, at + 320];
  return () => {
    for (let i = 0; i < RECORDS; i++) {
      bytes.fill(97 + (i & 15), at, at + 6);
      bytes.set(seeds[i], seed);
      if (x.randomize_text(record, handle, at, 6, seed, 0) !== 0) throw new Error(name);
      kept += bytes[record + 4];
    }
  };
};

const text = () => {
  for (let i = 0; i < RECORDS; i++) kept += recipe.randomize(words[i & 255], seeds[i]).length;
};

const naive = () => {
  const flip = 1 / (Math.exp(2) + 1);
  for (let i = 0; i < NAIVE_RECORDS; i++) {
    const bits = new Uint8Array(COLUMNS / 8);
    for (let l = 0; l < COLUMNS; l++) {
      if (Math.random() < flip !== (l === i % COLUMNS)) bits[l >> 3] |= 1 << (l & 7);
    }
    kept += bits[0];
  }
};

const read = () => {
  const view = new Uint32Array(records.buffer);
  let sum = 0;
  for (let i = 0; i < view.length; i++) sum = (sum + view[i]) | 0;
  kept += sum;
};

const queries = await QueryCore.create(await loadModule());
const starts = tenThousandStarts();
const packed = frontCoded(starts);
const characters = [
  ...'abcdefghijklmnopqrstuvwxyz',
  ...Array.from({ length: 72 }, (_, i) => String.fromCodePoint(0xe0 + i)),
].join('');
const round = queries.query({
  recipe: 'bench-words',
  analysis: 'bench',
  stream: 'words',
  value: 'fields',
  encoding: [{ field: 'word', starts: packed, characters }],
  mechanism: 'trie',
  parameters: {
    epsilon: 10,
    contributions: CONTRIBUTIONS,
    depth: 15,
    max_prefixes: 10000,
    known: ['the', 'of'],
  },
  text: { case: 'keep', form: 'none' },
  limit: { per_day: 1 },
  policy: 'ab'.repeat(32),
  version: 1,
  cohort: { minimum: 20000, epsilon: 1, delta: '1e-9' },
  expires: '2099-12-31',
});
const INDICES = round.recordSize / 4;
if (round.size !== 1_000_001 || INDICES !== 46)
  throw new Error(`${round.size} cells, ${INDICES} indices`);
// As many words as the device of Table 1 has.
const events = Array.from({ length: 30 }, (_, i) => ({ word: `${starts[333 * i]}ed` }));

const answers = () => {
  for (let i = 0; i < ANSWERS; i++) kept += round.answers(events, seeds[i]).length;
};

const naiveAnswers = () => {
  for (let i = 0; i < NAIVE_ANSWERS; i++) {
    const list = [];
    for (let cell = 0; cell <= round.size; cell++) {
      if (Math.random() * (round.size + 1 - cell) < INDICES - list.length) list.push(cell);
    }
    kept += list.join().length;
  }
};

const plan = { epsilon: 4, samples: 100000, groups: 1, delta: '1e-6' };
const epoch = {
  recipe: 'bench-run',
  analysis: 'bench',
  stream: 'views',
  round: { index: 1 },
  limit: { per_day: 1 },
  expires: '2099-12-31',
};
const meanRun = new Run(
  /** @type {any} */ (
    core.recipe({
      ...epoch,
      value: 'number',
      mechanism: 'thresh',
      parameters: { ...plan, users: 100000, smallest_group: 100000, epochs: 1000, low: 0, high: 1 },
    })
  ),
);
const newMean = meanRun.start();

const epochs = () => {
  for (let i = 0; i < EPOCHS; i++)
    kept += meanRun.answerNumber(newMean, 300000n, seeds[i]).state.length;
};

const naiveEpochs = () => {
  for (let i = 0; i < EPOCHS; i++) {
    const state = JSON.parse('{"reference":0.5,"previous":0.5,"votes":0,"estimates":0}');
    const tau = 2 * Math.sqrt(Math.log(12 * 100000 * 1000 * 1e6) / 2e5);
    const level = Math.floor(Math.abs(0.3 - state.reference) / tau) - 1;
    const votes = level >= 0 && 1 % 2 ** (9 - Math.min(level, 9)) === 0 ? 1 : 0;
    const coin = (/** @type {number} */ one, /** @type {number} */ epsilon) =>
      Number(Math.random() < (one * (Math.exp(epsilon) - 1) + 1) / (Math.exp(epsilon) + 1));
    state.previous = 0.3;
    kept += `${coin(votes, 0.089)};${coin(0, 0.179)}`.length + JSON.stringify(state).length;
  }
};

/** @param {number} projection */
const heavyRun = (projection) => {
  const recipe = core.recipe({
    ...epoch,
    value: 'item',
    mechanism: 'heavythresh',
    seed: '00112233445566778899aabbccddeeff'.repeat(2),
    parameters: {
      ...plan,
      users: 20000,
      smallest_group: 20000,
      epochs: 64,
      projection,
      epsilon_estimate: 0.5,
    },
  });
  const run = new Run(/** @type {any} */ (recipe));
  const state = run.start();
  const counts = new Map(Array.from({ length: VALUES }, (_, i) => [run.item(`value${i}`), 100]));
  return () => {
    for (let i = 0; i < HEAVY_EPOCHS; i++)
      kept += run.answerCounts(state, counts, seeds[i]).state.length;
  };
};

const naiveHeavy = () => {
  const sums = new Float64Array(PROJECTION);
  for (let value = 0; value < VALUES; value++) {
    for (let j = 0; j < PROJECTION; j++) sums[j] += Math.random() < 0.5 ? 0.001 : -0.001;
  }
  kept += sums[0];
};

const buckets = await DapTask.exact(await loadDapModule(), {
  version: 'dap-18',
  info: 'bench',
  leader: 'https://leader.example',
  helper: 'https://helper.example',
  time_precision_s: 3600,
  min_batch_size: 100,
  vdaf: { type: 'histogram', length: BUCKETS, chunk: CHUNK },
});
const nobody = { id: 1, publicKey: new Uint8Array(32) };
/** Hands shares back as they are: sealing is the browser's. @type {import('../../wasm/client/hpke.js').Sealer} */
const open = {
  seal: async (_key, _info, _aad, { length }) => ({
    enc: nobody.publicKey,
    ciphertext: new Uint8Array(length + 16),
  }),
};

const shares = async () => {
  for (let i = 0; i < SHARED; i++) {
    const random = (/** @type {number} */ n) => crypto.getRandomValues(new Uint8Array(n));
    kept += (
      await buckets.ofMeasurement(i, {
        id: seeds[i].subarray(0, 16),
        now: 0,
        random,
        keys: [nobody, nobody],
        sealer: open,
      })
    ).length;
  }
};

const deployed = new Prio3Histogram({ shares: 2, length: BUCKETS, chunkLength: CHUNK });
const naiveShares = async () => {
  for (let i = 0; i < NAIVE_SHARED; i++) {
    const { inputShares } = await deployed.shard(
      i,
      Buffer.from(seeds[i].subarray(0, deployed.nonceSize)),
      crypto.getRandomValues(Buffer.alloc(deployed.randSize)),
    );
    kept += inputShares.length;
  }
};

/** Nanoseconds on a core, a unit. @param {() => void | Promise<void>} call @param {number} units */
const time = async (call, units) => {
  const start = process.cpuUsage();
  await call();
  const { user, system } = process.cpuUsage(start);
  return (1e3 * (user + system)) / units;
};

/**
 * @typedef {object} Measured what is compared, each with the number of its units
 * @property {[() => void | Promise<void>, number]} real
 * @property {[() => void | Promise<void>, number]} naive
 * @property {string} what the naive one does
 */

/** @param {string} name @param {Measured} measured @param {number} aim @param {string} [note] printed below the table */
const run = async (name, { real, naive: plain, what }, aim, note) => {
  /** @type {{read: number[], real: number[], naive: number[]}} */
  const ns = { read: [], real: [], naive: [] };
  for (let round = -2; round < ROUNDS; round++) {
    const got = {
      read: await time(read, RECORDS),
      real: await time(...real),
      naive: await time(...plain),
    };
    if (round < 0) continue; // the compiler is still at work
    ns.read.push(got.read);
    ns.real.push(got.real);
    ns.naive.push(got.naive);
  }
  for (const list of Object.values(ns)) list.sort((a, b) => a - b);
  const median = (/** @type {number[]} */ list) => list[list.length >> 1];
  const line = {
    name,
    unit: 'record',
    ns: median(ns.real),
    quickest: ns.real[0],
    slowest: ns.real[ROUNDS - 1],
    rounds: ROUNDS,
    naive_ns: median(ns.naive),
    naive: what,
    read_ns: median(ns.read),
    aim_ns: aim,
    aim_read: 0,
    note,
  };
  process.stdout.write(JSON.stringify(line) + '\n');
};

/** @type {Omit<Measured, 'real'>} */
const bits = { naive: [naive, NAIVE_RECORDS], what: 'Math.random() a bit, JavaScript' };
await run(
  'randomize 1024 bits, WebAssembly alone',
  { real: [await alone('shoal.wasm'), RECORDS], ...bits },
  1500,
);
await run(
  'randomize 1024 bits, WebAssembly alone, no SIMD',
  { real: [await alone('shoal-plain.wasm'), RECORDS], ...bits },
  4000,
);
await run('randomize 1024 bits, WebAssembly', { real: [binary, RECORDS], ...bits }, 1500);
await run('randomize 1024 bits, WebAssembly, as text', { real: [text, RECORDS], ...bits }, 0);
/** @type {Measured} */
const ofRound = {
  real: [answers, ANSWERS * CONTRIBUTIONS],
  naive: [naiveAnswers, NAIVE_ANSWERS],
  what: 'Math.random() a cell, JavaScript',
};
const sizes = `a record of ${round.recordSize} bytes; ${starts.length} starts are ${JSON.stringify(packed).length} bytes of JSON`;
await run('trie report, 10^6 cells, 46 indices, WebAssembly', ofRound, 1_000_000, sizes);
await run(
  'an epoch of a mean (thresh), WebAssembly',
  { real: [epochs, EPOCHS], naive: [naiveEpochs, EPOCHS], what: 'doubles and JSON, JavaScript' },
  50_000,
);
const byProjection = [];
for (const w of [64, 256, 1024, 4096, 16384]) {
  const once = heavyRun(w);
  once();
  byProjection.push(`w ${w}: ${((await time(once, HEAVY_EPOCHS)) / 1e6).toFixed(1)} ms`);
}
await run(
  `an epoch of ${VALUES} values (heavythresh, w ${PROJECTION}), WebAssembly`,
  {
    real: [heavyRun(PROJECTION), HEAVY_EPOCHS],
    naive: [naiveHeavy, 1],
    what: 'Math.random() a sign, JavaScript',
  },
  50_000_000,
  `in proportion to distinct values and, from w 256 on, to w, whatever their counts; ${byProjection.join(', ')}`,
);
await run(
  `shares of ${BUCKETS} buckets (Prio3Histogram), WebAssembly`,
  {
    real: [shares, SHARED],
    naive: [naiveShares, NAIVE_SHARED],
    what: '@divviup/prio3, TypeScript',
  },
  1_500_000,
  `a report of ${buckets.reportLength} bytes`,
);
if (Number.isNaN(kept)) process.exit(1);
