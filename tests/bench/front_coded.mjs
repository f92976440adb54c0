// SPDX-License-Identifier: Apache-2.0
// The largest round of a trie in gboard-2024, of real words, as its recipe carries it: 10,000 starts, front-coded (docs/formats.md). What writes
// recipes for devices is aggregator/recipe/front_coded.h; this one is for tests and benchmarks.
import { allWordCounts } from '../../scripts/demo/data.mjs';

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** "0cat 3s 1ow" of cat, cats, cow. @param {string[]} words */
export function frontCoded(words) {
  /** @type {string[]} */
  let before = [];
  return words
    .map((word) => {
      const own = [...word];
      let n = 0;
      while (n < 61 && n < before.length && n < own.length && before[n] === own[n]) n++;
      before = own;
      return DIGITS[n] + own.slice(n).join('');
    })
    .join(' ');
}

/** The beginnings of the commonest English words of eight letters and more, each once, in the order of their bytes. */
export function tenThousandStarts() {
  const words = allWordCounts()
    .map(({ value }) => [...value])
    .filter(({ length }) => length >= 8);
  return [...new Set(words.map((word) => word.slice(0, 8).join('')))].slice(0, 10000).sort();
}
