// SPDX-License-Identifier: Apache-2.0
// Runs the aggregator's commands in WebAssembly, in a thread of its own: `shoal ingest --append` for
// the batches of a tick, then `shoal estimate` or `shoal discover`. The accumulator is a file of the
// trial's temporary folder.
import { readFile, writeFile } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import { run } from 'shoal-aggregator';

/**
 * @typedef {object} Job
 * @property {number} id
 * @property {any} recipe
 * @property {string[]} batches  files
 * @property {string} accumulator  file; made by the first job
 * @property {string[] | null} words  a dictionary; null where the recipe has its own list
 * @property {boolean} discovers
 *
 * @typedef {{id: number, result?: any, error?: string, foldMs: number, estimateMs: number}} Answer
 */

const TOO_FEW = 3; // exit code: fewer reports than the minimum cohort
const encode = (/** @type {string} */ text) => new TextEncoder().encode(text);

/** @param {string[]} args @param {{[name: string]: Uint8Array}} files */
async function shoal(args, files) {
  const { code, stdout, stderr, files: written } = await run(args, { files });
  if (code !== 0 && code !== TOO_FEW)
    throw new Error(`shoal ${args[0]}: ${new TextDecoder().decode(stderr).trim()}`);
  return { code, stdout: new TextDecoder().decode(stdout), written };
}

/** @param {Job} job */
async function fold({ recipe, batches, accumulator }) {
  const names = batches.map((_, i) => `batch-${i}`);
  const contents = await Promise.all(batches.map((file) => readFile(file)));
  const known = await readFile(accumulator).catch(() => null);
  const { written } = await shoal(
    ['ingest', '--recipe', 'recipe', '-o', 'sums', ...(known ? ['--append'] : []), ...names],
    {
      recipe,
      ...Object.fromEntries(names.map((name, i) => [name, contents[i]])),
      ...(known && { sums: known }),
    },
  );
  await writeFile(accumulator, written.sums);
  return written.sums;
}

/** @param {Job} job @param {Uint8Array} sums */
async function estimate({ recipe, words, discovers }, sums) {
  const files = { recipe, sums, ...(words && { words: encode(`${words.join('\n')}\n`) }) };
  const list = words ? ['--dictionary', 'words'] : [];
  const { code, stdout } = await shoal(
    [
      discovers ? 'discover' : 'estimate',
      '--recipe',
      'recipe',
      ...list,
      '--format',
      'json',
      'sums',
    ],
    files,
  );
  return code === 0 ? JSON.parse(stdout) : null;
}

/** @param {Job} job @returns {Promise<Answer>} */
async function work(job) {
  const start = Date.now();
  const given = { ...job, recipe: encode(JSON.stringify(job.recipe)) };
  const sums = job.batches.length > 0 ? await fold(given) : await readFile(job.accumulator);
  const folded = Date.now();
  const result = await estimate(given, sums);
  return { id: job.id, result, foldMs: folded - start, estimateMs: Date.now() - folded };
}

let last = Promise.resolve();
parentPort?.on('message', (/** @type {Job} */ job) => {
  last = last.then(() =>
    work(job)
      .catch((error) => ({ id: job.id, error: error.message, foldMs: 0, estimateMs: 0 }))
      .then((answer) => parentPort?.postMessage(answer)),
  );
});
