// SPDX-License-Identifier: Apache-2.0
// Shows what a private record looks like to its receiver, and how little it says. It reads only the
// report: the record's text by its shape, which docs/formats.md defines, and the parameters. It
// never reads the value. Pure functions that return trees (tree.js).
import { h } from './tree.js';

/**
 * @typedef {{key: string, recipe_hash: string, parameters: {[name: string]: number}, records:
 *   string[]}} Report
 * @typedef {{value?: string, mechanism?: string, parameters?: any, variables?: Recipe[]}} Recipe
 *   the part of a recipe that words and one doubtful shape need
 *
 * @typedef {object} View
 * @property {'bits' | 'bloom' | 'list' | 'sign' | 'cell' | 'set' | 'bit' | 'parts' | 'text'} form
 *   bits: a row of a sketch; bloom: a filter of a cohort; list: a bit an entry; sign: one sign of a
 *   row; cell: one cell of a row; set: some entries of a list; bit: one bit; parts: one of these
 *   for each variable; text: a shape that this page does not know
 * @property {Uint8Array | null} cells what is drawn, lit or dark; null where that is too much, or
 *   nothing
 * @property {number} row the row or cohort; -1 where there is none
 * @property {number} [column] of a sign
 * @property {number} [sign] 1 or -1
 * @property {number[]} [members] of a set
 * @property {{view: View, report: Report, recipe: Recipe}[]} [parts] of variables
 */

const DRAWN_MAX = 1 << 16;

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
  return { form: 'parts', row: -1, cells: null, parts };
}

/** @param {Report} report @param {Recipe} [recipe] @returns {View} */
export function readRecord(report, recipe = {}) {
  if (recipe.variables) return readParts(report, recipe.variables);
  const {
    parameters,
    records: [text],
  } = report;
  const { k, m, g, size, bits: width, low } = parameters;
  const fields = text.split(',');
  const numbers = fields.map(Number);
  const [row, second, third] = numbers;
  const isHex = (/** @type {number} */ count) => fields.at(-1)?.length === 2 * Math.ceil(count / 8);
  /** @type {View} */
  const unknown = { form: 'text', row: -1, cells: null };
  if (!/^[0-9a-f,]+$/.test(text)) return unknown;
  if (m !== undefined) {
    return fields.length === 3
      ? signOf(row, second, third, m)
      : { form: 'bits', row, cells: bits(fields[1], m) };
  }
  if (g !== undefined) return { form: 'cell', row, cells: lit(g, [second]) };
  if ('f' in parameters) return { form: 'bloom', row, cells: bits(fields[1], width ?? size) };
  if (low !== undefined && size === undefined)
    return { form: 'bit', row: -1, cells: lit(1, row ? [0] : []) };
  if (size === undefined) return unknown;
  if (fields.length === 1 && isHex(size)) return { form: 'list', row: -1, cells: bits(text, size) };
  // "3,1" is a row and its sign, or a set of two entries of a list with fewer than ten. The
  // recipe's mechanism decides.
  const isSign =
    /^\d+,[01]$/.test(text) &&
    (fields[0].length > 1 || row >= second || recipe.mechanism !== 'subset');
  if (isSign) return { form: 'sign', row, column: -1, sign: second ? 1 : -1, cells: null };
  return { form: 'set', row: -1, members: numbers, cells: lit(size + 1, numbers) };
}

/**
 * Finds the cells that agree with a sign. The Hadamard entry of two indices is -1 to the power of
 * the number of bits that they share.
 * @param {number} row
 * @param {number} column
 * @param {number} positive
 * @param {number} m
 * @returns {View}
 */
function signOf(row, column, positive, m) {
  const cells = Uint8Array.from({ length: m }, (_, i) => parity(i & column) ^ positive);
  return { form: 'sign', row, column, sign: positive ? 1 : -1, cells };
}

/** @param {string} hex @param {number} m */
function bits(hex, m) {
  return Uint8Array.from(
    { length: m },
    (_, i) => (parseInt(hex.slice(2 * (i >> 3), 2 * (i >> 3) + 2), 16) >> (i & 7)) & 1,
  );
}

/** Cells of which some are lit. @param {number} count @param {number[]} places */
function lit(count, places) {
  if (count > DRAWN_MAX) return null;
  const cells = new Uint8Array(count);
  for (const place of places) cells[place] = 1;
  return cells;
}

/** @param {number} x */
function parity(x) {
  let p = 0;
  for (; x; x &= x - 1) p ^= 1;
  return p;
}

/** @param {number} x */
const whole = (x) => x.toLocaleString('en-US');
/** @param {Uint8Array | null} cells */
const litIn = (cells) => (cells ?? new Uint8Array()).reduce((sum, bit) => sum + bit, 0);

/** @param {number} count */
const areLit = (count) => (count === 1 ? '1 is lit' : `${whole(count)} are lit`);

/** What a picture shows, for those who cannot see it. @param {View} view @param {number} n cells */
function label({ form, cells }, n) {
  const count = litIn(cells);
  if (form === 'sign')
    return `The ${whole(n)} cells of a row as a grid; the half that agrees with the one sign sent is lit`;
  if (form === 'cell')
    return `The ${whole(n)} cells of a row as a grid; the one that was sent is lit`;
  if (form === 'set')
    return `The ${whole(n)} entries of the list, the last for none of them, as a grid; ${areLit(count)}`;
  if (form === 'bit') return `One square, ${count ? 'lit' : 'dark'}`;
  return `The record's ${whole(n)} bits as a grid; ${areLit(count)}, scattered at random`;
}

/**
 * Draws the cells, in a square if their number is one. Without cells it draws nothing.
 * @param {View} view
 * @returns {import('./tree.js').Node_}
 */
export function grid(view) {
  const { cells, parts } = view;
  /** @type {import('./tree.js').Child[]} */
  const grids = (parts ?? []).map((part) => grid(part.view));
  if (parts) return h('div', { class: 'parts' }, ...grids);
  if (!cells) return h('div', { class: 'nothing' });
  const side = Math.ceil(Math.sqrt(cells.length));
  const height = Math.ceil(cells.length / side);
  let sheet = '';
  let path = '';
  cells.forEach((bit, i) => {
    const square = `M${(i % side) * 4} ${Math.floor(i / side) * 4}h3v3h-3z`;
    if (bit) path += square;
    else sheet += square;
  });
  const box = { x: -1, y: -1, width: side * 4 + 1, height: height * 4 + 1 };
  return h(
    'svg',
    {
      class: `grid ${view.form}`,
      viewBox: Object.values(box).join(' '),
      role: 'img',
      'aria-label': label(view, cells.length),
    },
    h('rect', { class: 'sheet', ...box }),
    // If there are few cells, the dark ones are drawn too, so that they can be counted.
    ...(cells.length <= 256 ? [h('path', { class: 'dark', d: sheet })] : []),
    h('path', { class: 'lit', d: path }),
  );
}

/** The chance as a rounded percentage. @param {number} p */
const percent = (p) => `${(100 * p).toFixed(p < 0.001 ? 3 : p < 0.1 ? 1 : 0)}\u00A0%`;
/** @param {number} x */
const times = (x) => (x < 100 ? String(Number(x.toPrecision(2))) : whole(Number(x.toPrecision(2))));

/** @type {{[value: string]: string}} */
const NOUNS = { word: 'word', site: 'site', host: 'host', item: 'choice', number: 'number' };

/** Of `all` values, how many share what was sent. @param {number} all @param {number} share */
const some = (all, share) => whole(Number(Math.max(1, all * share).toPrecision(2)));

/**
 * Says in sentences what the server sees, and why it reveals little.
 * @param {View} view @param {Report} report @param {Recipe} [recipe]
 * @returns {{sees: string, little: string}}
 */
export function sayings(view, report, recipe = {}) {
  const noun = NOUNS[recipe.value ?? ''] ?? 'value';
  if (view.parts) {
    const each = view.parts.map((part) => sayings(part.view, part.report, part.recipe).sees);
    return {
      sees: `${each.length} answers in one record. ${each.join(' ')}`,
      little: promise(report.parameters.epsilon, 'event'),
    };
  }
  return SAYINGS[view.form]({
    ...report.parameters,
    noun,
    view,
    count: litIn(view.cells),
    n: view.cells?.length ?? 0,
  });
}

/**
 * @typedef {{noun: string, view: View, count: number, n: number} & {[parameter: string]: any}}
 *   Facts
 * @typedef {{sees: string, little: string}} Sayings
 */

/** The two sides of one coin with odds e^x. @param {number} x */
const flipOf = (x) => 1 / (Math.exp(x) + 1);

/** Any mechanism's promise. @param {number | undefined} epsilon @param {string} noun */
const promise = (epsilon, noun) =>
  `Whatever your ${noun} had been, this very record could have come out${epsilon ? `: with any other it is at most ${times(Math.exp(epsilon))} times less likely` : ''}.`;

/** @type {{[form: string]: (facts: Facts) => Sayings}} */
const SAYINGS = {
  bits: ({ noun, view, count, n, epsilon, k, size }) => {
    const flip = flipOf(epsilon / 2);
    const others = size
      ? `Every entry of the list has one square in this grid. About ${percent(count / n)} of them sit on a lit one: of ${whole(size)}, some ${some(size, count / n)} fit as well as yours.`
      : `Every ${noun} there is has one square in this grid. About ${percent(count / n)} of all ${noun}s sit on a lit one: of 75,000 in a dictionary, some ${some(75_000, count / n)} fit as well as yours.`;
    return {
      sees: `Row ${view.row} of ${whole(k)}, drawn at random, and these ${whole(n)} bits. ${areLit(count)}. One square belongs to your ${noun}; each square, that one too, was flipped with a chance of ${percent(flip)}.`,
      little: `${others} And in ${percent(flip)} of reports the true ${noun}'s square is dark.`,
    };
  },
  bloom: ({ noun, view, count, n, p, q, f, hashes = 1, cohorts = 1 }) => {
    const [on, off] = [q - (f / 2) * (q - p), p + (f / 2) * (q - p)];
    const epsilon = hashes * Math.log((on * (1 - off)) / (off * (1 - on)));
    return {
      sees: `${cohorts > 1 ? `Group ${view.row} of ${whole(cohorts)}, which this device drew once, and these` : 'These'} ${whole(n)} bits, ${whole(count)} lit. A bit that your ${noun} sets is lit with a chance of ${percent(on)}, every other with ${percent(off)}.`,
      little: `${promise(epsilon, noun)} A part of the chance is drawn once for each ${noun} and kept, so that sending it again and again adds little.`,
    };
  },
  list: ({ noun, count, n, epsilon }) => ({
    sees: `One bit for each of the ${whole(n)} entries of the list. ${areLit(count)}, most of them by chance.`,
    little: `A lit square may be yours or chance; a dark one may be yours as well. ${promise(epsilon, noun)}`,
  }),
  sign: ({ noun, view, count, n, epsilon, k, m }) => {
    const sign = view.sign === 1 ? 'plus' : 'minus';
    if (!m)
      return {
        sees: `A number that says which row was drawn, ${whole(view.row)}, and one sign: ${sign}. That is all.`,
        little: promise(epsilon, noun),
      };
    return {
      sees: `Row ${view.row} of ${whole(k)} and column ${view.column} of ${whole(m)}, both drawn at random, and one sign: ${sign}. That is all; the grid shows which squares agree with it.`,
      little: `Every ${noun} there is has one square in this grid, and ${percent(count / n)} of all ${noun}s sit on a lit one. With a chance of ${percent(flipOf(epsilon))} the sign was turned round as well.`,
    };
  },
  cell: ({ noun, view, epsilon, k, g, size }) => {
    const own = Math.exp(epsilon) / (Math.exp(epsilon) + g - 1);
    const others = size
      ? `of ${whole(size)} in the list, some ${some(size, 1 / g)}`
      : `of 75,000 in a dictionary, some ${some(75_000, 1 / g)}`;
    return {
      sees: `Row ${view.row} of ${whole(k)}, drawn at random, and one of its ${whole(g)} cells. It is the cell of your ${noun} with a chance of ${percent(own)}, otherwise any other.`,
      little: `Every ${noun} there is falls into one cell of the row: ${others} fall into this one. ${promise(epsilon, noun)}`,
    };
  },
  set: ({ noun, view, epsilon, size }) => {
    const d = view.members?.length ?? 0;
    const own = (d * Math.exp(epsilon)) / (d * Math.exp(epsilon) + size + 1 - d);
    const which =
      d === 1
        ? `One entry of the list of ${whole(size)}, or "none of them"`
        : `A set of ${whole(d)} of the ${whole(size)} entries of the list and "none of them", in the list's order`;
    return {
      sees: `${which}. ${d === 1 ? `It is your ${noun}` : `Your ${noun} is among them`} with a chance of ${percent(own)}.`,
      little:
        d === 1
          ? `Otherwise it is any other, each alike. ${promise(epsilon, noun)}`
          : `The others were drawn at random, and nothing tells yours from them. ${promise(epsilon, noun)}`,
    };
  },
  text: ({ noun, epsilon }) => ({
    sees: 'The text of the record below, scrambled by chance.',
    little: promise(epsilon, noun),
  }),
  bit: ({ view, epsilon, low, high }) => ({
    sees: `One bit: ${litIn(view.cells) ? 'lit' : 'dark'}. The nearer your number is to ${whole(high)}, the likelier it was drawn lit; the nearer to ${whole(low)}, the likelier dark. Then it was flipped with a chance of ${percent(flipOf(epsilon))}.`,
    little: `No bit says what a number was. ${promise(epsilon, 'number')}`,
  }),
};

/**
 * Explains epsilon in a sentence: how far one report can move somebody who wavers between two
 * values.
 * @param {number} epsilon
 */
export function epsilonInWords(epsilon) {
  const odds = Math.exp(epsilon);
  const share = (100 * odds) / (1 + odds);
  return `Somebody who thought two values equally likely could become at most ${share.toFixed(share > 99 ? 2 : 1)}\u00A0% sure of one of them by one report`;
}
