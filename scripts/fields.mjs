// SPDX-License-Identifier: Apache-2.0
// Adds new recipe fields to the documents. For each row of core/recipe/recipe_fields.def that is
// missing, it writes a property of the schema, a line in the table of formats.md and an option of
// shoal-recipe(1). Existing text stays as it is, so the words may be edited afterwards.
//   node scripts/fields.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {object} Row one row of the recipe's fields
 * @property {number} tag
 * @property {string} path
 * @property {boolean} isOwn it has functions of its own; it has no kind, range and choices then
 * @property {boolean} isRequired
 * @property {boolean} isTaken only some mechanisms take it
 * @property {string} kind
 * @property {number} min
 * @property {number} max
 * @property {number} initial NaN where the default is a choice
 * @property {string[]} choices
 * @property {string | undefined} usual the choice that is the default
 * @property {string} help
 */

/**
 * Reads the rows, in their order.
 * @param {string} text of recipe_fields.def
 * @returns {Row[]}
 */
export function readRows(text) {
  const lines = text.split('\n').filter((line) => /^SHOAL_(FIELD|OWN)\(/.test(line));
  return lines.map((line) => {
    const own = /^SHOAL_OWN\((\d+), \w+, "([a-z_.]+)", (\w+), ([\w| ]+), ([\w| ]+), "(.*)"\)$/.exec(
      line,
    );
    const field =
      /^SHOAL_FIELD\((\d+), \w+, "([a-z_.]+)", (\w+), \w+, ([\w| ]+), (\d+), (\d+), (\w+), (SHOAL_NO_CHOICES|SHOAL_CHOICES\(.*?\)\)), ([\w| ]+), (?:SHOAL_NO_PART|SHOAL_PART\(.*?\)), "(.*)"\)$/.exec(
        line,
      );
    if (own === null && field === null) throw new Error(`no row that I can read: ${line}`);
    const [, tag, path, kind, flags] = own ?? field ?? [];
    const [min, max, initial, choices, takes, help] = own
      ? ['0', '0', '0', '', own[5], own[6]]
      : (field ?? []).slice(5);
    const named = [...choices.matchAll(/"(\w+)", (\w+)/g)];
    return {
      tag: Number(tag),
      path,
      isOwn: own !== null,
      isRequired: flags.includes('SHOAL_REQUIRED'),
      isTaken: takes !== '0',
      kind: own ? 'OWN' : kind,
      min: Number(min),
      max: Number(max),
      initial: Number(initial),
      choices: named.map(([, name]) => name),
      usual: named.find(([, , number]) => number === initial)?.[1],
      help,
    };
  });
}

/** @param {string} path */
const read = (path) => readFileSync(join(root, path), 'utf8');

/** A number of the row in the unit of the recipe. @param {Row} row @param {number} number */
const inUnit = (row, number) => (row.kind === 'MICRO' ? number / 1e6 : number);

/** The default, or undefined. @param {Row} row @returns {string | number | undefined} */
const defaultOf = (row) =>
  row.kind === 'CHOICE' ? row.usual : row.initial !== 0 ? inUnit(row, row.initial) : undefined;

/** The range in words; empty where the row states none. @param {Row} row */
function rangeOf(row) {
  if (row.max === 0) return '';
  if (row.kind === 'DELTA') return `1e-${row.max} to 1e-${row.min}`;
  return [row.min, row.max]
    .map((end) => inUnit(row, end).toLocaleString('en-US', { maximumFractionDigits: 6 }))
    .join(' to ');
}

/** @param {Row} row */
function propertyOf(row) {
  const value = defaultOf(row);
  const rest = { ...(value === undefined ? {} : { default: value }), description: row.help };
  if (row.kind === 'CHOICE') return { enum: row.choices, ...rest };
  const ends = { minimum: inUnit(row, row.min), maximum: inUnit(row, row.max) };
  if (row.kind === 'INTEGER') return { type: 'integer', ...ends, ...rest };
  if (row.kind === 'MICRO') return { type: 'number', ...ends, ...rest };
  return null;
}

/** @param {unknown} value JSON on one line, as the schemas have it @returns {string} */
function inLine(value) {
  if (Array.isArray(value)) return `[${value.map(inLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, held]) => `${JSON.stringify(name)}: ${inLine(held)}`)
    .join(', ')}}`;
}

/**
 * Adds a property at the end of its object.
 * @param {string} text of the schema @param {Row} row
 */
export function addProperty(text, row) {
  const names = row.path.split('.');
  /** @type {any} */
  const held = names.reduce((node, name) => node?.properties?.[name], JSON.parse(text));
  const property = propertyOf(row);
  if (held !== undefined || property === null) return text;
  const indent = names.length > 1 ? ' '.repeat(6) : '  ';
  const start = names.length > 1 ? text.indexOf(`\n    "${names[0]}": {\n`) : 0;
  const list = start < 0 ? -1 : text.indexOf(`\n${indent}"properties": {\n`, start);
  const end = list < 0 ? -1 : text.indexOf(`\n${indent}}`, list + 1);
  if (end < 0) throw new Error(`add ${row.path} to the schema by hand: its object is new`);
  const line = `${indent}  ${JSON.stringify(names[names.length - 1])}: ${inLine(property)}`;
  return `${text.slice(0, end)},\n${line}${text.slice(end)}`;
}

const KINDS = /** @type {{[kind: string]: string}} */ ({
  NAME: 'name',
  BYTES: '64 lower-case hex digits',
  DAY: '`"YYYY-MM-DD"`',
  DELTA: '`"1e-K"`',
  INTEGER: 'whole number',
  COUNT: 'whole number',
  MICRO: 'number, at most 6 decimals',
  SIGNED: 'number, at most 6 decimals, may be negative',
});

/**
 * Adds a line to the table of fields, after that of the row before.
 * @param {string} text of formats.md @param {Row} row @param {Row} before
 */
export function addLine(text, row, before) {
  const start = text.indexOf('\n## Recipe (JSON)\n');
  const end = text.indexOf('\n\nThree lists', start);
  const table = text.slice(start, end).split('\n');
  if (table.some((line) => line.split(' | ')[0].includes(`\`${row.path}\``))) return text;
  const at = table.findIndex((line) => line.split(' | ')[0].includes(`\`${before.path}\``));
  if (at < 0) throw new Error(`formats.md has no line of ${before.path}`);
  const choices = row.choices.map((name) => `\`${name}\``).join(' ');
  const range = rangeOf(row);
  const value = defaultOf(row);
  const said = typeof value === 'string' ? `\`${value}\`` : value?.toLocaleString('en-US');
  const initial = row.isRequired ? 'required' : (said ?? (row.isTaken ? 'by mechanism' : ''));
  const about = range === '' ? row.help : `${range}: ${row.help}`;
  const kind = choices === '' ? KINDS[row.kind] : choices;
  table.splice(at + 1, 0, `| \`${row.path}\` | ${kind} | ${about} | ${initial} |`);
  return text.slice(0, start) + table.join('\n') + text.slice(end);
}

/** The name of a parameter's option. @param {Row} row */
const optionOf = (row) => row.path.replace(/^parameters\./, '').replaceAll('_', '-');

/**
 * Adds an option after that of the row before.
 * @param {string} text of shoal-recipe.1 @param {Row} row @param {Row} before
 */
export function addOption(text, row, before) {
  if (text.includes(`\n.It Fl -${optionOf(row)} Ar `)) return text;
  const start = text.indexOf(`\n.It Fl -${optionOf(before)} Ar `);
  const end = text.slice(start + 1).search(/\n\.(It|El)\b/) + start + 1;
  if (start < 0 || end <= start) throw new Error(`shoal-recipe.1 has no ${optionOf(before)}`);
  const value = defaultOf(row);
  const lines = [
    `.It Fl -${optionOf(row)} Ar ${row.kind === 'CHOICE' ? 'name' : 'n'}`,
    `${row.help[0].toUpperCase()}${row.help.slice(1)}.`,
    ...(row.choices.length > 0 ? [`One of ${row.choices.join(', ')}.`] : []),
    ...(rangeOf(row) === '' ? [] : [`From ${rangeOf(row)}.`]),
    ...(value === undefined ? [] : [`The default is ${value}.`]),
  ];
  return `${text.slice(0, end)}\n${lines.join('\n')}${text.slice(end)}`;
}

/** Does every row, and writes a file where it changed. */
async function main() {
  const pages = ['docs/schema/recipe.schema.json', 'docs/formats.md', 'docs/man/shoal-recipe.1'];
  const [schema, formats, manual] = pages;
  const before = new Map(pages.map((path) => [path, read(path)]));
  const texts = new Map(before);
  /** @param {string} path @param {(text: string) => string} add */
  const change = (path, add) => texts.set(path, add(texts.get(path) ?? ''));
  const rows = readRows(read('core/recipe/recipe_fields.def')).filter(({ isOwn }) => !isOwn);
  for (const [i, row] of rows.entries()) {
    change(schema, (text) => addProperty(text, row));
    if (i === 0) continue;
    change(formats, (text) => addLine(text, row, rows[i - 1]));
    const parameters = rows.slice(0, i).filter(({ path }) => path.startsWith('parameters.'));
    const last = parameters.filter(({ path }) => path !== 'parameters.pass').pop();
    if (last !== undefined && row.path.startsWith('parameters.') && row.path !== 'parameters.pass')
      change(manual, (text) => addOption(text, row, last));
  }
  const { format, resolveConfig } = await import('prettier');
  for (const path of pages) {
    let text = texts.get(path) ?? '';
    if (text === before.get(path)) continue;
    const file = join(root, path);
    if (path === formats)
      text = await format(text, { ...(await resolveConfig(file)), filepath: file });
    writeFileSync(file, text);
    console.log(path);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
