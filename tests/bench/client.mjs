// SPDX-License-Identifier: Apache-2.0
// The device's step in WebAssembly: one CMS record of 1024 bits, through the client's own view of the core. Prints JSON
// lines like shoal_bench. Seeds are drawn beforehand. Naive: the same record in plain JavaScript, a Math.random() a bit.
import { load } from '../../wasm/node.js';

const RECORDS = 20000;
const NAIVE_RECORDS = 2000;
const ROUNDS = 11;
const COLUMNS = 1024;

const core = await load();
const recipe = core.recipe({
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
});

// One array of seeds for all rounds: how long getrandom takes is not ours.
const seeds = Array.from({ length: RECORDS }, () => crypto.getRandomValues(new Uint8Array(32)));
const words = Array.from({ length: 256 }, (_, i) => `word${i}`);
const records = new Uint8Array(RECORDS * recipe.recordSize);
let kept = 0;

const binary = () => {
  for (let i = 0; i < RECORDS; i++) records.set(recipe.randomizeBytes(words[i & 255], seeds[i]), i * recipe.recordSize);
};

const text = () => {
  for (let i = 0; i < RECORDS; i++) kept += recipe.randomize(words[i & 255], seeds[i]).length;
};

const naive = () => {
  const flip = 1 / (Math.exp(2) + 1);
  for (let i = 0; i < NAIVE_RECORDS; i++) {
    const bits = new Uint8Array(COLUMNS / 8);
    for (let l = 0; l < COLUMNS; l++) {
      if ((Math.random() < flip) !== (l === i % COLUMNS)) bits[l >> 3] |= 1 << (l & 7);
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

/** Nanoseconds on a core, a unit. @param {() => void} call @param {number} units */
const time = (call, units) => {
  const start = process.cpuUsage();
  call();
  const { user, system } = process.cpuUsage(start);
  return (1e3 * (user + system)) / units;
};

/** @param {string} name @param {() => void} real @param {number} aim */
const run = (name, real, aim) => {
  /** @type {{read: number[], real: number[], naive: number[]}} */
  const ns = { read: [], real: [], naive: [] };
  for (let round = -2; round < ROUNDS; round++) {
    const got = { read: time(read, RECORDS), real: time(real, RECORDS), naive: time(naive, NAIVE_RECORDS) };
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
    naive: 'Math.random() a bit, JavaScript',
    read_ns: median(ns.read),
    aim_ns: aim,
    aim_read: 0,
  };
  process.stdout.write(JSON.stringify(line) + '\n');
};

run('randomize 1024 bits, WebAssembly', binary, 1500);
run('randomize 1024 bits, WebAssembly, as text', text, 0);
if (Number.isNaN(kept)) process.exit(1);
