// SPDX-License-Identifier: Apache-2.0
// No cell of any CSV file begins in a way that a spreadsheet may run, numbers stay numbers, and JSON has the raw text.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeCli } from './cli_helpers.mjs';

const { good, release, write } = makeCli('csv');
after(release);

const SIGNS = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
const HOSTILE = SIGNS.map((sign) => `${sign}cmd|' /C calc'!A0`);
const HARMLESS = ["'=quoted", 'a=b', '1-2', 'x,"y";z', ' =blank', 'é', '＂'];

/** The cells of a CSV file (RFC 4180): what a spreadsheet reads, and whether it was quoted. @param {string} text */
function cellsOf(text) {
  const rows = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/gy;
  let row = [];
  while (cell.lastIndex < text.length) {
    const found = /** @type {RegExpExecArray | null} */ (cell.exec(text));
    if (!found) throw new Error(`no CSV: ${text}`);
    const [, quoted, plain, end] = found;
    row.push({
      text: quoted === undefined ? plain : quoted.replace(/""/g, '"'),
      isQuoted: quoted !== undefined,
    });
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

/** @param {string} text */
function assertHarmless(text) {
  const rows = cellsOf(text);
  for (const row of rows) {
    assert.equal(row.length, rows[0].length, JSON.stringify(row));
    for (const { text: cell, isQuoted } of row) {
      if (!isQuoted && /^-?[\d.]+(e[+-]\d+)?$/.test(cell)) continue; // a number
      assert.doesNotMatch(
        cell,
        /^[=+\-@\t\r\n＝＋－＠]/u,
        `a cell begins so: ${JSON.stringify(cell)}`,
      );
    }
  }
  return rows;
}

const values = [...HOSTILE, ...HARMLESS];
before(() => {
  write(
    'r.json',
    JSON.stringify({
      recipe: 'signs',
      analysis: 'tests',
      stream: 's',
      value: 'item',
      mechanism: 'onehot-asymmetric',
      parameters: { epsilon: 8, values },
      limit: { per_day: 1 },
      cohort: { minimum: 10 },
      expires: '2099-01-31',
    }),
  );
  // A counts file cannot hold values with tabs or ends of lines; they are in the result all the same, with counts near 0.
  write(
    'c.tsv',
    values
      .filter((v) => !/[\t\r\n]/.test(v))
      .map((v, i) => `${v}\t${20 + i}\n`)
      .join(''),
  );
  for (const name of ['one', 'two']) {
    good(
      'simulate',
      '--recipe',
      'r.json',
      '--counts',
      'c.tsv',
      '--devices',
      '2000',
      '--seed',
      name,
      '-o',
      `${name}.batch`,
    );
    good('ingest', '--recipe', 'r.json', '-o', `${name}.acc`, `${name}.batch`);
  }
});

test('estimate and compare: texts get an apostrophe, negative numbers do not', () => {
  for (const args of [
    ['estimate', '--recipe', 'r.json', 'one.acc'],
    ['compare', '--recipe', 'r.json', 'one.acc', 'two.acc'],
  ]) {
    const [command, ...rest] = args;
    const { text } = good(command, '--format', 'csv', ...rest);
    const rows = assertHarmless(text);
    const first = rows.slice(1).map(([cell]) => cell.text);
    assert.equal(first.length, values.length, text);
    for (const value of HOSTILE) {
      const escaped = value.replace(/[\t\r\n]/g, (c) => `\\x0${c.charCodeAt(0).toString(16)}`);
      assert.ok(first.includes(`'${escaped}`), `${command}: ${JSON.stringify(value)} in ${text}`);
    }
    for (const value of HARMLESS) assert.ok(first.includes(value), `${command}: ${value}`);
    assert.ok(
      rows
        .slice(1)
        .some((row) => row.some(({ text: cell, isQuoted }) => !isQuoted && /^-\d/.test(cell))),
    );
    // The raw text is in JSON.
    const json = JSON.parse(good(command, '--format', 'json', ...rest).text);
    assert.deepEqual(
      json.rows.map((/** @type {any} */ row) => row.value).sort(),
      [...values].sort(),
    );
  }
});
