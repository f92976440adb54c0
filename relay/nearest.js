// SPDX-License-Identifier: Apache-2.0
// The known name that a mistyped one probably means, as errors of configurations say it.

const TEXT_MAX = 64; // characters; a longer text is no mistyped name

/**
 * Counts the insertions, deletions, replacements and swaps of neighbours that turn one text into the
 * other.
 * @param {string} a
 * @param {string} b
 */
function countEdits(a, b) {
  /** @type {number[][]} */
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1][j - 1] + Number(a[i - 1] !== b[j - 1]);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? rows[i - 2][j - 2] + 1 : Infinity;
      row.push(Math.min(replaced, rows[i - 1][j] + 1, row[j - 1] + 1, swapped));
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}

/**
 * Returns the name that is nearest to a text, with at most two errors and one more for every three
 * characters, or null.
 * @param {string} text
 * @param {string[]} names
 */
export function nearest(text, names) {
  if (text.length > TEXT_MAX) return null;
  let least = 3 + Math.floor(text.length / 3);
  let best = null;
  for (const name of names) {
    const edits = countEdits(text, name);
    if (edits >= least || edits >= Math.min(text.length, name.length)) continue;
    least = edits;
    best = name;
  }
  return best;
}

/**
 * The sentence that refuses an unknown field.
 * @param {string} where
 * @param {string} name
 * @param {string[]} names  the known ones
 */
export function unknownField(where, name, names) {
  const meant = nearest(name, names);
  return `${where}: unknown field ${JSON.stringify(name)}${meant ? `; did you mean ${JSON.stringify(meant)}?` : ''}`;
}
