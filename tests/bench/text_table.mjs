// SPDX-License-Identifier: Apache-2.0
// Numbers as the benchmark prints them, and a table of them.

/** Three digits, in the unit that suits. @param {number} ns */
export const time = (ns) => {
  if (ns >= 1e9) return `${(ns / 1e9).toPrecision(3)} s`;
  if (ns >= 1e6) return `${(ns / 1e6).toPrecision(3)} ms`;
  return ns >= 1e3 ? `${(ns / 1e3).toPrecision(3)} us` : `${ns.toPrecision(3)} ns`;
};

/** @param {number | null} x */
export const ratio = (x) =>
  x === null ? '-' : x >= 1000 ? Math.round(x).toString() : x.toPrecision(x < 1 ? 2 : 3);

/** Prints rows in columns; text is at the left, numbers at the right. @param {string[][]} rows @param {(column: number) => boolean} isText */
export const print = (rows, isText) => {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  for (const row of rows) {
    const line = row.map((cell, i) =>
      isText(i) ? cell.padEnd(widths[i]) : cell.padStart(widths[i]),
    );
    process.stdout.write(line.join('  ').trimEnd() + '\n');
  }
};

/** Where, with what and when a run was made. @param {any} run */
export const machine = ({ cpu, cores, compiler, emcc, node, date }) =>
  [cpu, `${cores} cores`, compiler, ...(emcc ? [emcc] : []), `Node ${node}`, date].join(', ');
