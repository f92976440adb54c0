// SPDX-License-Identifier: Apache-2.0
// The records of the sandbox: one row of a Count Mean Sketch with 64 cells. A word has one cell,
// lit before noise; then each cell is flipped with a chance of 1/(1 + e^(epsilon/2)). So any two
// words differ in two cells, and their records by a factor of at most e^epsilon. It is for looking
// at: what a page sends is made by the core, in integers.

export const CELLS = 64;

/** The cell of a word, the same each time. @param {string} word */
export function cellOf(word) {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode(word.normalize('NFC').toLowerCase()))
    hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash ^ (hash >>> 15)) & (CELLS - 1);
}

/** The chance that a cell is flipped. @param {number} epsilon */
export const flipOf = (epsilon) => 1 / (1 + Math.exp(epsilon / 2));

/**
 * A record of a word.
 * @param {number} cell of the word
 * @param {number} epsilon
 * @param {() => number} uniform draws a number in [0, 1)
 */
export const recordOf = (cell, epsilon, uniform) =>
  Uint8Array.from({ length: CELLS }, (_, i) =>
    uniform() < flipOf(epsilon) ? Number(i !== cell) : Number(i === cell),
  );

/** The cell of another word than one, each alike. @param {number} cell @param {() => number} uniform */
export const otherThan = (cell, uniform) =>
  (cell + 1 + Math.floor(uniform() * (CELLS - 1))) % CELLS;
