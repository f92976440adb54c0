// SPDX-License-Identifier: Apache-2.0
// Made-up languages, for studies of discovery on lists that no code was tuned on. A language has
// syllables of its own, lengths of its own, and counts that fall by a power of the rank.

/** @typedef {{name: string, exponent: number, mean: number, drift: number, spread: number}} Manner
 *   exponent: counts are 1 / (rank + 2)^exponent; mean: characters of a frequent word; drift: more
 *   characters for ten times the rank; spread: lengths lie evenly this far above and below */

/** Four manners: short frequent words as in English; longer ones; lengths without regard to the rank; a flat tail. @type {Manner[]} */
export const MANNERS = [
  { name: 'short', exponent: 1.1, mean: 2.6, drift: 1.3, spread: 2 },
  { name: 'middle', exponent: 1.05, mean: 4.5, drift: 0.9, spread: 3 },
  { name: 'mixed', exponent: 1, mean: 5.5, drift: 0, spread: 4.5 },
  { name: 'long', exponent: 1.15, mean: 6.5, drift: 0.5, spread: 3.5 },
];
const WORDS = 20_000;
const LONGEST = 14;

/** Numbers in [0, 1) of a text: xmur3 and sfc32, which are in the public domain. @param {string} seed @returns {() => number} */
export function chances(seed) {
  let h = 1779033703 ^ seed.length;
  for (let i = 0; i < seed.length; i++) {
    h = Math.imul(h ^ seed.charCodeAt(i), 3432918353);
    h = (h << 13) | (h >>> 19);
  }
  const state = Uint32Array.from({ length: 4 }, () => {
    h = Math.imul(h ^ (h >>> 16), 2246822507);
    h = Math.imul(h ^ (h >>> 13), 3266489909);
    return (h ^= h >>> 16) >>> 0;
  });
  return () => {
    const [a, b, c, d] = state;
    const sum = (a + b + d) >>> 0;
    state[3] = d + 1;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + sum;
    return sum / 2 ** 32;
  };
}

/** Draws from a list whose n-th has 1/(n + 1) of the weight. @template T @param {T[]} list @param {() => number} chance @returns {T} */
function early(list, chance) {
  return list[Math.min(list.length - 1, Math.floor((list.length + 1) ** chance() - 1))];
}

/** @template T @param {T[]} list @param {() => number} chance @returns {T[]} */
function shuffled(list, chance) {
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(chance() * (i + 1));
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}

/**
 * Makes a language of 20,000 words of the letters a to z, with counts that fall by rank.
 * @param {Manner} manner @param {string} seed @returns {{value: string, count: number}[]}
 */
export function madeUpLanguage(manner, seed) {
  const chance = chances(`${manner.name} ${seed}`);
  const vowels = shuffled([...'aeiouy'], chance).slice(0, 5);
  const others = shuffled([...'bcdfghjklmnpqrstvwxz'], chance);
  const onsets = [
    '',
    ...others,
    ...shuffled(others, chance)
      .slice(0, 8)
      .map((c) => c + others[0]),
  ];
  const codas = ['', '', ...others.slice(0, 6)];
  const syllables = Array.from(
    { length: 400 },
    () => early(onsets, chance) + early(vowels, chance) + early(codas, chance),
  );
  const seen = new Set();
  for (let tries = 0; seen.size < WORDS; tries++) {
    const middle = manner.mean + manner.drift * Math.log10(seen.size + 1) + tries / 100_000;
    const wanted = Math.round(middle + manner.spread * (2 * chance() - 1));
    const length = Math.min(LONGEST, Math.max(1, wanted));
    let word = '';
    while (word.length < length) word += early(syllables, chance);
    seen.add(word.slice(0, length));
  }
  return [...seen].map((value, i) => ({
    value,
    count: Math.max(1, Math.round(1e9 / (i + 3) ** manner.exponent)),
  }));
}
