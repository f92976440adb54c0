// SPDX-License-Identifier: Apache-2.0
// The crowds that a person can draw, as the counts files that the commands read. Pure functions, so
// that a test needs no page.

/** @typedef {{value: string, count: number}} Held */
/**
 * @typedef {{kind: 'words' | 'choices' | 'own', own: string, devices: number, skew: number, epsilon:
 *   number, mechanism: string, seed: number}} Settings
 */

export const MAX_VALUES = 5000;
const MAX_VALUE_BYTES = 256;
const MAX_TOTAL = 1e12;
const WORDS = 1000;
const CHOICES = ['every day', 'most days', 'now and then', 'once', 'never'];
const STARTS = ['ba', 'lo', 'mi', 're', 'tu', 'sha', 'no', 've', 'ka', 'di'];
const MIDDLES = ['ra', 'len', 'mo', 'ri', 'san', 'to', 'vel', 'na', 'go', 'ni'];
const ENDS = ['da', 'ros', 'lim', 'ta', 'nel', 'so', 'ver', 'ko', 'ma', 'rin'];

/** A made-up word for each number below 1,000; words of close ranks look unlike. @param {number} i */
function wordOf(i) {
  const mixed = (367 * i + 123) % WORDS; // 367 and 1,000 have no common factor, so no word repeats
  return STARTS[mixed % 10] + MIDDLES[Math.floor(mixed / 10) % 10] + ENDS[Math.floor(mixed / 100)];
}

/** Frequencies in proportion to rank^-skew. @param {string[]} values @param {number} skew */
const ranked = (values, skew) =>
  values.map((value, i) => ({ value, count: Math.max(1, Math.round(1e6 * (i + 1) ** -skew)) }));

/**
 * Reads a person's own list, one value a line with its frequency behind a tab, a comma or spaces.
 * @param {string} text
 * @returns {Held[]}
 * @throws {Error} that names the line and what is wrong with it
 */
export function parseOwn(text) {
  /** @type {Map<string, number>} */
  const held = new Map();
  let total = 0;
  text.split(/\r?\n/).forEach((line, i) => {
    if (line.trim() === '') return;
    const fail = (/** @type {string} */ why) => {
      throw new Error(`Line ${i + 1}: ${why}`);
    };
    const match = /^(.*?)[\t, ]+([0-9]+(?:\.[0-9]+)?)\s*$/u.exec(line);
    if (!match || match[1].trim() === '') return fail('write a value and how often it occurs');
    const value = match[1].trim();
    const count = Math.round(Number(match[2]));
    if (/[\p{Cc}\p{Cs}]/u.test(value)) fail('the value holds a control character');
    if (new TextEncoder().encode(value).length > MAX_VALUE_BYTES)
      fail(`the value is longer than ${MAX_VALUE_BYTES} bytes`);
    if (held.has(value)) fail(`“${value}” is there twice`);
    if (held.size === MAX_VALUES) fail(`more than ${MAX_VALUES} values`);
    total += count;
    if (total > MAX_TOTAL) fail('the frequencies add up to more than 10^12');
    held.set(value, count);
  });
  if (held.size < 2) throw new Error('Give at least two values.');
  if (total === 0) throw new Error('Give at least one value a frequency above zero.');
  return [...held].map(([value, count]) => ({ value, count }));
}

/** What the people of a crowd hold. @param {Settings} settings @returns {Held[]} */
export function heldBy({ kind, own, skew }) {
  if (kind === 'own') return parseOwn(own);
  const values = kind === 'choices' ? CHOICES : Array.from({ length: WORDS }, (_, i) => wordOf(i));
  return ranked(values, skew);
}

/** A counts file, as `shoal simulate --counts` reads it. @param {Held[]} held */
export const countsFile = (held) => held.map(({ value, count }) => `${value}\t${count}\n`).join('');

/** Reports by the position of the slider: two steps double them. @param {number} step */
export function devicesAt(step) {
  const exact = 125 * 2 ** (step / 2);
  const unit = 10 ** (Math.floor(Math.log10(exact)) - 1);
  return Math.round(exact / unit) * unit;
}

const KEYS = /** @type {const} */ (['kind', 'devices', 'skew', 'epsilon', 'mechanism', 'seed']);

/**
 * Settings as the part of a link behind its #. A person's own list stays out of it, since links are
 * shared.
 * @param {{[key: string]: string | number}} settings
 */
export const fragmentOf = (settings) =>
  KEYS.map((key) => `${key}=${encodeURIComponent(settings[key])}`).join('&');

/** Settings of a link; what it lacks or what is out of range stays. @param {string} fragment */
export function settingsOf(fragment) {
  /** @type {{[key: string]: string}} */
  const found = {};
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  for (const key of KEYS) {
    const value = given.get(key);
    if (value !== null && /^[a-z0-9.-]{0,40}$/.test(value)) found[key] = value;
  }
  return found;
}
