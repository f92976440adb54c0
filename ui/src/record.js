// SPDX-License-Identifier: Apache-2.0
// Reads what a private record shows to its receiver, and how little that says. It reads only the
// report: the record's text by its shape, which docs/formats.md defines, and the parameters. It
// never reads the value. Pure functions.

/**
 * @typedef {{key: string, parameters: {[name: string]: number}, records: string[]}} Report
 * @typedef {{value?: string, mechanism?: string, parameters?: any, variables?: Recipe[]}} Recipe
 *   the part of a recipe that one doubtful shape needs
 *
 * @typedef {object} View
 * @property {'bits' | 'bloom' | 'list' | 'sign' | 'cell' | 'set' | 'bit' | 'place' | 'parts' |
 *   'text'} form
 *   bits: a row of a sketch; bloom: a filter of a cohort; list: a bit an entry; sign: one sign of a
 *   row; cell: one cell of a row; set: some entries of a list; bit: one bit; place: one place of a
 *   number's range; parts: one of these for each variable; text: a shape that this module does not
 *   know
 * @property {Uint8Array | null} cells what is drawn, lit or dark; null where that is too much, or
 *   nothing
 * @property {number[]} [members] of a set
 * @property {{view: View, report: Report, recipe: Recipe}[]} [parts] of variables
 */

const DRAWN_MAX = 1 << 16;
const STEPS = 256; // of the grid of a mean

/** A variable's numbers, as a report of it alone would state them. @param {Recipe} variable */
const numbersOf = ({ parameters }) =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, value]) =>
      Array.isArray(value) ? ['size', value.length] : [name, value],
    ),
  );

/**
 * Reads a record of several variables, each answer as if it stood alone.
 * @param {Report} report
 * @param {Recipe[]} variables
 * @returns {View}
 */
function readParts(report, variables) {
  const texts = report.records[0].split(';');
  const parts = variables.map((recipe, i) => {
    const own = { ...report, parameters: numbersOf(recipe), records: [texts[i] ?? ''] };
    return { view: readRecord(own, recipe), report: own, recipe };
  });
  return { form: 'parts', cells: null, parts };
}

/** @param {Report} report @param {Recipe} [recipe] @returns {View} */
export function readRecord(report, recipe = {}) {
  if (recipe.variables) return readParts(report, recipe.variables);
  const {
    parameters,
    records: [text = ''],
  } = report;
  const { m, g, size, bits: width, low } = parameters;
  const fields = text.split(',');
  const numbers = fields.map(Number);
  const [row, second, third] = numbers;
  /** @type {View} */
  const unknown = { form: 'text', cells: null };
  if (!/^[0-9a-f,]+$/.test(text)) return unknown;
  if (m !== undefined) {
    return fields.length === 3
      ? signOf(second, third, m)
      : { form: 'bits', cells: bits(fields[1], m) };
  }
  if (g !== undefined) return { form: 'cell', cells: lit(g, [second]) };
  if ('f' in parameters) return { form: 'bloom', cells: bits(fields[1], width ?? size) };
  if (low !== undefined && size === undefined)
    return placeOf(text, parameters.epsilon, recipe.mechanism);
  if (size === undefined) return unknown;
  if (fields.length === 1 && text.length === 2 * Math.ceil(size / 8))
    return { form: 'list', cells: bits(text, size) };
  // "3,1" is a row and its sign, or a set of two entries of a list with fewer than ten. The
  // recipe's mechanism decides.
  const isSign =
    /^\d+,[01]$/.test(text) &&
    (fields[0].length > 1 || row >= second || recipe.mechanism !== 'subset');
  if (isSign) return { form: 'sign', cells: null };
  return { form: 'set', members: numbers, cells: lit(size + 1, numbers) };
}

/**
 * Reads a record of a number: a bit, or three digits. These are one of 256 places and a window's
 * width, or one of the two numbers behind them, which are bits (docs/mechanisms/piecewise.md).
 * @param {string} text
 * @param {number} epsilon
 * @param {string} [mechanism]
 * @returns {View}
 */
function placeOf(text, epsilon, mechanism) {
  const odds = Math.exp(epsilon);
  const share =
    mechanism === 'square-wave' // docs/mechanisms/square-wave.md
      ? (epsilon - 1 + 1 / odds) / (odds - 1 - epsilon)
      : odds ** -0.5;
  const places = STEPS + Math.max(1, Math.round(STEPS * share));
  const bit = text.length === 1 ? Number(text) : Number(text) - places;
  return bit < 0
    ? { form: 'place', cells: lit(places, [bit + places]) }
    : { form: 'bit', cells: lit(1, bit ? [0] : []) };
}

/**
 * Finds the cells that agree with a sign. The Hadamard entry of two indices is -1 to the power of
 * the number of bits that they share.
 * @param {number} column
 * @param {number} positive
 * @param {number} m
 * @returns {View}
 */
function signOf(column, positive, m) {
  const cells = cellsOf(m, (i) => parity(i & column) ^ positive);
  return { form: 'sign', cells };
}

/** @param {number} count @param {(i: number) => number} cell */
const cellsOf = (count, cell) =>
  count > DRAWN_MAX ? null : Uint8Array.from({ length: count }, (_, i) => cell(i));

/** @param {string} hex @param {number} m */
const bits = (hex = '', m) =>
  cellsOf(m, (i) => (parseInt(hex.slice(2 * (i >> 3), 2 * (i >> 3) + 2), 16) >> (i & 7)) & 1);

/** Cells of which some are lit. @param {number} count @param {number[]} places */
const lit = (count, places) => cellsOf(count, (i) => (places.includes(i) ? 1 : 0));

/** @param {number} x */
function parity(x) {
  let p = 0;
  for (; x; x &= x - 1) p ^= 1;
  return p;
}

/** @param {Uint8Array} cells */
export const litIn = (cells) => cells.reduce((sum, bit) => sum + bit, 0);

/**
 * The paths of an SVG: cells of 4 by 4, in a square if their number is one.
 * @param {Uint8Array} cells
 */
export function pathsOf(cells) {
  const side = Math.ceil(Math.sqrt(cells.length));
  const paths = ['', ''];
  cells.forEach((bit, i) => {
    paths[bit] += `M${(i % side) * 4} ${Math.floor(i / side) * 4}h3v3h-3z`;
  });
  const box = [-1, -1, side * 4 + 1, Math.ceil(cells.length / side) * 4 + 1];
  return { box, dark: paths[0], lit: paths[1] };
}

/**
 * Counts the positions of the grid whose window holds the lit place.
 * @param {Uint8Array} cells
 */
function fitsPlace(cells) {
  const at = cells.indexOf(1);
  const first = Math.max(0, at - (cells.length - STEPS) + 1);
  return { all: STEPS + 1, fit: Math.min(at, STEPS) - first + 1 };
}

/**
 * How many values fit a record equally well, of how many there are. Null where that says nothing:
 * every value fits one bit.
 * @param {View} view @param {Report} report
 * @param {number} all values that an open list has, as in a dictionary
 * @returns {{all: number, fit: number} | null}
 */
export function fitsOf({ form, cells, members }, { parameters }, all) {
  if (form === 'place') return fitsPlace(/** @type {Uint8Array} */ (cells));
  const { size, g, hashes = 1 } = parameters;
  const of = size ?? all;
  const lit = cells && form !== 'bit' ? litIn(cells) / cells.length : NaN;
  const share = form === 'cell' ? 1 / g : lit ** hashes;
  const fit = members ? members.filter((each) => each < size).length : of * share;
  return fit >= 0 ? { all: of, fit } : null;
}
