// SPDX-License-Identifier: Apache-2.0
// What a private record looks like to the one who receives it, and how little it says. Reads the record's text as
// docs/formats.md states it; never the value. Pure: returns trees (tree.js).
import { h } from './tree.js';

/**
 * @typedef {{key: string, recipe_hash: string, parameters: {[name: string]: number}, records: string[]}} Report
 * @typedef {{cells: Uint8Array, row: number, mechanism: 'cms' | 'hcms', column: number, sign: number}} View
 */

/**
 * The record as m cells: for cms the bits that were sent, for hcms the cells that agree with the one sign sent (the
 * Hadamard entry of two indices is -1 to the number of bits that they share).
 * @param {Report} report @returns {View}
 */
export function readRecord(report) {
  const { m } = report.parameters;
  const fields = report.records[0].split(',');
  const row = Number(fields[0]);
  if (fields.length === 2) return { mechanism: 'cms', row, column: -1, sign: 0, cells: bits(fields[1], m) };
  const [column, positive] = [Number(fields[1]), Number(fields[2])];
  const cells = Uint8Array.from({ length: m }, (_, i) => (parity(i & column) ^ positive));
  return { mechanism: 'hcms', row, column, sign: positive ? 1 : -1, cells };
}

/** @param {string} hex @param {number} m */
function bits(hex, m) {
  return Uint8Array.from({ length: m }, (_, i) => (parseInt(hex.slice(2 * (i >> 3), 2 * (i >> 3) + 2), 16) >> (i & 7)) & 1);
}

/** @param {number} x */
function parity(x) {
  let p = 0;
  for (; x; x &= x - 1) p ^= 1;
  return p;
}

/** A picture of the cells, square where m is. @param {View} view */
export function grid(view) {
  const { cells } = view;
  const side = Math.ceil(Math.sqrt(cells.length));
  let path = '';
  cells.forEach((lit, i) => {
    if (lit) path += `M${(i % side) * 4} ${Math.floor(i / side) * 4}h3v3h-3z`;
  });
  const lit = cells.reduce((sum, bit) => sum + bit, 0);
  const label = view.mechanism === 'cms'
    ? `The record's ${cells.length.toLocaleString('en-US')} bits as a grid; ${lit} are lit, scattered at random`
    : `The ${cells.length.toLocaleString('en-US')} cells of a row as a grid; the half that agrees with the one sign sent is lit`;
  return h('svg', { class: `grid ${view.mechanism}`, viewBox: `-1 -1 ${side * 4 + 1} ${side * 4 + 1}`, role: 'img', 'aria-label': label },
    h('rect', { class: 'sheet', x: -1, y: -1, width: side * 4 + 1, height: side * 4 + 1 }),
    h('path', { class: 'lit', d: path }));
}

/** The chance as a rounded percentage. @param {number} p */
const percent = (p) => `${(100 * p).toFixed(p < 0.1 ? 1 : 0)}\u00A0%`;

/**
 * What the server sees and why it says little, as sentences.
 * @param {View} view @param {Report} report
 * @returns {{sees: string, little: string}}
 */
export function sayings(view, report) {
  const { epsilon, k } = report.parameters;
  const m = view.cells.length;
  const lit = view.cells.reduce((sum, bit) => sum + bit, 0);
  if (view.mechanism === 'cms') {
    const flip = 1 / (Math.exp(epsilon / 2) + 1);
    return {
      sees: `Row ${view.row} of ${k.toLocaleString('en-US')}, drawn at random, and these ${m.toLocaleString('en-US')} bits. ${lit} are lit. One square belongs to your word; each square, that one too, was flipped with a chance of ${percent(flip)}.`,
      little: `Every word there is has one square in this grid. About ${percent(lit / m)} of all words sit on a lit one: of 75,000 in a dictionary, some ${(Math.round((75 * lit) / m) * 1000).toLocaleString('en-US')} fit as well as yours. And in ${percent(flip)} of reports the true word's square is dark.`,
    };
  }
  return {
    sees: `Row ${view.row} of ${k.toLocaleString('en-US')} and column ${view.column} of ${m.toLocaleString('en-US')}, both drawn at random, and one sign: ${view.sign > 0 ? 'plus' : 'minus'}. That is all; the grid shows which squares agree with it.`,
    little: `Every site there is has one square in this grid, and ${percent(lit / m)} of all sites in the world sit on a lit one. With a chance of ${percent(1 / (Math.exp(epsilon) + 1))} the sign was turned round as well.`,
  };
}

/** Epsilon as a sentence: how far one report can move somebody who wavers between two values. @param {number} epsilon */
export function epsilonInWords(epsilon) {
  const odds = Math.exp(epsilon);
  const share = (100 * odds) / (1 + odds);
  return `Somebody who thought two values equally likely could become at most ${share.toFixed(share > 99 ? 2 : 1)}\u00A0% sure of one of them by one report`;
}
