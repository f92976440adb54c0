// SPDX-License-Identifier: Apache-2.0
// What simulated visitors do, and how many of them come. It is the page's side of a trial, so it knows
// values; edge and aggregator never ask it. Pure functions.

/**
 * @typedef {import('./folder.js').TrialRecipe} TrialRecipe
 * @typedef {[value: string, weight: number][]} Counts  what visitors do, and how often
 */

const SHOWN = 12; // values that visitors have, of open strings
const NEW_WORDS = 6; // of a discovery, which only finds what many have
const DEVICES = 4000;
const DEVICES_OF_DISCOVERY = 20_000;
const WAVE_LEAST = 500;
const WAVE_MOST = 12_000;
const ROUNDS = 6; // until a wave and its noise agree
const SIGMAS = 5; // how many standard errors a wave should add to the value that it copies
const SCALE = 1_000_000;

const WORDS = 'good morning thanks sorry tomorrow coffee weather music friend garden river window';
const HOSTS =
  'example.org news.example weather.example shop.example maps.example music.example wiki.example games.example ' +
  'mail.example photos.example radio.example sport.example';

/** Zipf's law: the i-th is as frequent as 1 / (i + 1). @param {string[]} values @returns {Counts} */
const zipf = (values) => values.map((value, i) => [value, Math.round(SCALE / (i + 1))]);

/** Sites that every list of registrable domains knows as such. @param {string} value of a recipe */
const usualOf = (value) =>
  (value === 'host' || value === 'site'
    ? HOSTS.replaceAll('.example', '.com').replaceAll('example.org', 'example.com')
    : WORDS
  ).split(' ');

/**
 * A hill over a range of numbers, higher in its lower half.
 * @param {{low: number, high: number}} range
 * @returns {Counts}
 */
function hill({ low, high }) {
  const steps = 40;
  return Array.from({ length: steps }, (_, i) => {
    const x = (i + 0.5) / steps;
    const weight = Math.round(SCALE * Math.exp(-((x - 0.35) ** 2) / (2 * 0.16 ** 2))) + 1;
    return [String(Number((low + x * (high - low)).toPrecision(6))), weight];
  });
}

/**
 * What the visitors of a recipe do.
 * @param {TrialRecipe} recipe
 * @returns {Counts}
 */
export function habitsOf({ json, kind, words }) {
  const { values, size, low, high } = json.parameters;
  if (kind === 'mean' || kind === 'buckets') return hill({ low, high });
  if (kind === 'list') return zipf(values ?? Array.from({ length: size }, (_, i) => `${i}`));
  const known = words.length > 0 ? words : usualOf(json.value);
  const { length = Infinity } = json.parameters;
  const fitting = known.filter((word) => new TextEncoder().encode(word).length < length);
  return zipf(fitting.slice(0, kind === 'discovery' ? NEW_WORDS : SHOWN));
}

/** How many visitors come at the start. @param {TrialRecipe} recipe @param {number | null} asked */
export const startingDevices = ({ kind }, asked) =>
  asked ?? (kind === 'discovery' ? DEVICES_OF_DISCOVERY : DEVICES);

/**
 * The counts of a wave in which a share of the visitors does what a person did.
 * @param {Counts} habits @param {string} value @param {number} share
 * @returns {Counts}
 */
export function copying(habits, value, share) {
  const sum = habits.reduce((all, [, weight]) => all + weight, 0);
  const others = habits.map(
    ([each, weight]) =>
      /** @type {[string, number]} */ ([each, Math.round((SCALE * (1 - share) * weight) / sum)]),
  );
  const counts = new Map(others.filter(([, weight]) => weight > 0));
  counts.set(value, (counts.get(value) ?? 0) + Math.max(1, Math.round(SCALE * share)));
  return [...counts];
}

/**
 * How many visitors a wave needs, so that what it copies shows above the noise. The noise grows with
 * the wave, as the square root of all reports.
 * @param {number} stderr  of a count, now
 * @param {number} share
 * @param {number} n  reports, now
 */
export function waveOf(stderr, share, n) {
  let wave = 0;
  for (let i = 0; i < ROUNDS; i++)
    wave = (SIGMAS * stderr * Math.sqrt(1 + wave / Math.max(1, n))) / Math.max(share, 0.01);
  return Math.min(WAVE_MOST, Math.max(WAVE_LEAST, Math.ceil(wave)));
}

/** A TSV file of counts, as shoal simulate reads it. @param {Counts} counts */
export const tsvOf = (counts) => counts.map(([value, n]) => `${value}\t${n}\n`).join('');

/**
 * The bucket of a number, as results name it: "[0, 10)".
 * @param {string} label @param {number} value
 */
export function isInBucket(label, value) {
  const [, low, high, end] = /^\[(\S+), (\S+)([\])])$/.exec(label) ?? [];
  if (low === undefined) return false;
  return value >= Number(low) && (end === ']' ? value <= Number(high) : value < Number(high));
}
