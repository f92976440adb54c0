// SPDX-License-Identifier: Apache-2.0
// An example of associations on real data, from two variables on a page to a heat map: which kinds
// of third-party services are popular, by what pages load from them (third-party-web). Clients send
// reports through the edge worker, simulated devices are the crowd, `shoal joint` finds the
// associations, and then the records are dropped.
//
//   node scripts/demo/associations.mjs [--devices N] [--svg FILE]
//
// It takes a few seconds and needs `make` to have run. It fails if an accepted report is missing at
// the end. associations.test.mjs checks a small run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from 'shoal-client/node';
import { POPULARITY, serviceLoads } from './data.mjs';
import { postBatches, useClient } from './devices.mjs';
import { startAggregator, startEdge } from './services.mjs';

const BINARY =
  process.env.SHOAL_BIN ?? fileURLToPath(new URL('../../build/release/shoal', import.meta.url));
const EPSILON = { category: 3, popularity: 1.5 };
const CLIENTS = 4;
const EACH = 25; // events of each client in Node
const BATCH = 10;

/** @typedef {import('./data.mjs').Load} Load */

/**
 * Runs the command. If it fails, throws what it printed.
 * @param {...string} args
 * @returns {string} its standard output
 */
function shoal(...args) {
  const run = spawnSync(BINARY, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (run.status !== 0) throw new Error(run.stderr || String(run.error));
  return run.stdout;
}

/**
 * Makes a recipe of two variables with the command, and sets no delay for its reports.
 * @param {string} folder
 * @param {string[]} categories
 */
async function makeRecipe(folder, categories) {
  await writeFile(join(folder, 'categories.txt'), categories.map((name) => `${name}\n`).join(''));
  await writeFile(join(folder, 'popularity.txt'), POPULARITY.map((name) => `${name}\n`).join(''));
  const expires = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const json = JSON.parse(
    shoal(
      'recipe',
      'new',
      '--id',
      'services',
      '--stream',
      'loads',
      '--expires',
      expires,
      '--per-day',
      '1000',
      '--variable',
      `category=rappor:${EPSILON.category}:${join(folder, 'categories.txt')}`,
      '--variable',
      `popularity=:${EPSILON.popularity}:${join(folder, 'popularity.txt')}`,
    ),
  );
  const recipe = {
    ...json,
    send: { delay_s: 0, fresh: 'allow' },
    batch: { minimum: BATCH, max_age_s: 2 },
  };
  await writeFile(join(folder, 'services.json'), JSON.stringify(recipe, null, 2));
  return recipe;
}

/** Loads as they really come. @param {Load[]} loads @param {number} n @returns {Load[]} */
function draw(loads, n) {
  const total = loads.reduce((sum, { count }) => sum + count, 0);
  return Array.from({ length: n }, () => {
    let at = Math.random() * total;
    return loads.find(({ count }) => (at -= count) < 0) ?? loads[0];
  });
}

/** What was really sent, by pair. @param {Map<string, number>} truth @param {Load[]} loads */
function remember(truth, loads) {
  for (const { category, popularity } of loads) {
    const key = `${category}\t${popularity}`;
    truth.set(key, (truth.get(key) ?? 0) + 1);
  }
}

/**
 * Starts clients in Node, as on pages. Each event has a value of each variable.
 * @param {string} edge
 * @param {any} recipe
 * @param {Load[]} loads
 */
async function visit(edge, recipe, loads) {
  const records = loads.map(
    ({ category, popularity }) =>
      /** @type {[string, any]} */ (['loads', { category, popularity }]),
  );
  return useClient({ endpoint: edge }, [recipe], { records }, () => {});
}

/**
 * @param {string} folder
 * @param {any} recipe
 * @param {Load[]} loads
 * @param {number} devices
 * @param {Map<string, number>} truth
 */
async function collect(folder, recipe, loads, devices, truth) {
  const secret = randomBytes(24).toString('hex');
  const { hash } = (await load()).recipe(recipe);
  const aggregator = await startAggregator({
    binary: BINARY,
    folder,
    secret,
    collections: [{ file: 'services.json', id: 'services' }],
  });
  const edge = await startEdge({
    folder,
    aggregator: aggregator.url,
    secret,
    token: randomBytes(24).toString('hex'),
    origin: 'http://localhost',
    recipes: [{ hash, json: recipe }],
  });
  try {
    let accepted = await driveClients(edge, recipe, loads, truth);
    accepted += await simulate(folder, loads, devices, truth, { url: aggregator.url, secret });
    for (const end = Date.now() + 30_000; (await edge.open('services')) > 0 && Date.now() < end;)
      await new Promise((resolve) => setTimeout(resolve, 100));
    await new Promise((resolve) => setTimeout(resolve, 3000)); // the edge's last batch is on its way
    return accepted;
  } finally {
    await edge.close();
    await aggregator.close(); // folds the batches that came
  }
}

/**
 * Sends the events that clients in Node draw, and as many more as the edge's last batch lacks.
 * @param {{url: string, open: (id: string) => Promise<number>}} edge
 * @param {any} recipe
 * @param {Load[]} loads
 * @param {Map<string, number>} truth gets what is sent
 */
async function driveClients(edge, recipe, loads, truth) {
  const drawn = Array.from({ length: CLIENTS }, () => draw(loads, EACH));
  const counts = await Promise.all(drawn.map((own) => visit(edge.url, recipe, own)));
  let accepted = counts.reduce((sum, n) => sum + n, 0);
  for (;;) {
    const open = await edge.open('services');
    if (open === 0 || open >= BATCH) break;
    const missing = draw(loads, BATCH - open); // a batch leaves the edge when it is full
    drawn.push(missing);
    accepted += await visit(edge.url, recipe, missing);
  }
  for (const own of drawn) remember(truth, own);
  return accepted;
}

/**
 * Simulates devices and posts their batches.
 * @param {string} folder
 * @param {Load[]} loads
 * @param {number} devices
 * @param {Map<string, number>} truth gets what is sent
 * @param {{url: string, secret: string}} aggregator
 */
async function simulate(folder, loads, devices, truth, { url, secret }) {
  const at = (/** @type {string} */ name) => join(folder, name);
  const lines = loads.map(
    ({ category, popularity, count }) => `${category}\t${popularity}\t${count}\n`,
  );
  await writeFile(at('loads.tsv'), lines.join(''));
  const inputs = ['--recipe', at('services.json'), '--counts', at('loads.tsv')];
  const outputs = ['-o', at('services.batch'), '--truth', at('sent.tsv')];
  const seed = randomBytes(16).toString('hex');
  shoal('simulate', ...inputs, '--devices', String(devices), '--seed', seed, ...outputs);
  const accepted = await postBatches(at('services.batch'), url, secret, () => {});
  for (const line of (await readFile(at('sent.tsv'), 'utf8')).trimEnd().split('\n')) {
    const [category, popularity, count] = line.split('\t');
    const pair = `${category}\t${popularity}`;
    truth.set(pair, (truth.get(pair) ?? 0) + Number(count));
  }
  return accepted;
}

/**
 * Runs the whole example.
 * @param {number} devices simulated
 * @returns {Promise<{accepted: number, result: any, svg: string, table: string, truth: Map<string,
 *   number>, gone: string}>} the result of shoal joint as JSON, as a picture and as a table; the
 *   share of each pair that was really sent; what is said of the records in the end
 */
export async function associations(devices) {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-associations-'));
  try {
    const loads = serviceLoads();
    const recipe = await makeRecipe(folder, [...new Set(loads.map(({ category }) => category))]);
    /** @type {Map<string, number>} */
    const truth = new Map();
    const accepted = await collect(folder, recipe, loads, devices, truth);
    for (const [key, count] of truth) truth.set(key, count / accepted);
    const [name] = await readdir(join(folder, 'store/accumulators'));
    const args = [
      '--recipe',
      join(folder, 'services.json'),
      join(folder, 'store/accumulators', name),
    ];
    const [result, svg, table] = ['json', 'svg', 'table'].map((format) =>
      shoal('joint', ...args, '--format', format),
    );
    const gone = spawnSync(BINARY, ['joint', '--done', ...args], { encoding: 'utf8' }).stderr;
    return { accepted, result: JSON.parse(result), svg, table, truth, gone };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {any} cell @param {Map<string, number>} truth */
export const isCovered = ({ x, y, low, high }, truth) => {
  const share = truth.get(`${x}\t${y}`) ?? 0;
  return low <= share && share <= high;
};

async function main() {
  const { values } = parseArgs({
    options: { devices: { type: 'string', default: '200000' }, svg: { type: 'string' } },
  });
  const { accepted, result, svg, table, truth, gone } = await associations(Number(values.devices));
  assert.equal(
    result.n,
    accepted,
    'LOST OR DOUBLED: the sums do not hold the reports that were accepted',
  );
  const covered = result.cells.filter((/** @type {any} */ cell) => isCovered(cell, truth)).length;
  console.log(
    `${table}\n${covered} of ${result.cells.length} intervals hold what was really sent; every one of ${accepted.toLocaleString('en-US')} accepted reports is in the sums\n${gone.trim()}`,
  );
  if (values.svg) await writeFile(values.svg, svg);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
