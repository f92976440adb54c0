// SPDX-License-Identifier: Apache-2.0
// A server with a thousand collections and one of 100,000 values, for what times its pages.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  cmsRecipe,
  configure,
  get,
  listRecipe,
  post,
  resultOf,
  serve,
  simulate,
} from './serve_helpers.mjs';

export const COLLECTIONS = 1000;
export const VALUES = 100_000;
const [DEVICES, SMALL] = [20_000, 200];

/**
 * Starts it, and waits until every collection has released a block.
 * @param {{after: (clean: () => void) => void}} t a test, or whoever cleans up
 * @param {string} folder
 */
export async function crowdedSite(t, folder) {
  const at = (/** @type {string} */ file) => join(folder, file);
  const words = Array.from({ length: VALUES }, (_, i) => `word-${i}`);
  writeFileSync(at('words.txt'), words.join('\n'));
  const big = cmsRecipe('words', { parameters: { epsilon: 4, k: 2048, m: 1024 } });
  const small = Array.from({ length: COLLECTIONS - 1 }, (_, i) => listRecipe(`list-${i}`));
  const config = configure(folder, [big, ...small], { dictionaries: { words: 'words.txt' } });
  const { url, pid } = await serve(/** @type {any} */ (t), config);
  const counts = words.slice(0, 1000).map((word, i) => `${word}\t${1000 - i}\n`);
  for (const batch of simulate(at('recipe-0.json'), counts.join(''), DEVICES, 5000))
    await post(url, batch);
  for (let i = 1; i < COLLECTIONS; i++)
    for (const batch of simulate(at(`recipe-${i}.json`), 'light\t7\ndark\t3\n', SMALL, SMALL))
      await post(url, batch);
  await resultOf(`${url}/v1/results/words?top=1`, DEVICES);
  await resultOf(`${url}/v1/results/list-${COLLECTIONS - 2}`, SMALL);
  return { url, pid };
}

const TICK_MS = 1000 / Number(execFileSync('getconf', ['CLK_TCK']));

/** Processor time of a process so far, with its threads that have ended, in milliseconds. @param {number} pid */
function busyOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [, fields] = /\) (.*)/.exec(stat) ?? ['', ''];
  const [user, kernel] = fields.split(' ').slice(11, 13).map(Number);
  return (user + kernel) * TICK_MS;
}

/**
 * What a page takes of the server's processor, warm, in milliseconds: what other programs do
 * meanwhile does not count, what the server itself does beside does.
 * @param {string} url @param {number} pid of the server @param {number} rounds
 */
export async function serverTimeOf(url, pid, rounds) {
  await get(url);
  const before = busyOf(pid);
  for (let i = 0; i < rounds; i++) {
    const { status } = await get(url);
    if (status !== 200) throw new Error(`${url}: ${status}`);
  }
  return (busyOf(pid) - before) / rounds;
}

/**
 * The times of a page in order, warm, in milliseconds from asking to the last byte.
 * @param {string} url @param {number} rounds
 */
export async function timesOf(url, rounds) {
  const times = [];
  for (let i = 0; i <= rounds; i++) {
    const from = performance.now();
    const { status } = await get(url);
    if (status !== 200) throw new Error(`${url}: ${status}`);
    if (i > 0) times.push(performance.now() - from); // the first brings code and pages in
  }
  return times.sort((a, b) => a - b);
}
