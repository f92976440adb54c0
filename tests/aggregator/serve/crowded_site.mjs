// SPDX-License-Identifier: Apache-2.0
// A server with a thousand collections and one of 100,000 values, for what times its pages.
import { writeFileSync } from 'node:fs';
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
  const { url } = await serve(/** @type {any} */ (t), config);
  const counts = words.slice(0, 1000).map((word, i) => `${word}\t${1000 - i}\n`);
  for (const batch of simulate(at('recipe-0.json'), counts.join(''), DEVICES, 5000))
    await post(url, batch);
  for (let i = 1; i < COLLECTIONS; i++)
    for (const batch of simulate(at(`recipe-${i}.json`), 'light\t7\ndark\t3\n', SMALL, SMALL))
      await post(url, batch);
  await resultOf(`${url}/v1/results/words?top=1`, DEVICES);
  await resultOf(`${url}/v1/results/list-${COLLECTIONS - 2}`, SMALL);
  return url;
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
