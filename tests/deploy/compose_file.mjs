// SPDX-License-Identifier: Apache-2.0
// Reads deploy/compose.yaml: the part of YAML that it uses, and nothing else. What this does not know is an error, so that the file stays
// as simple as it is. The long tier compares with a whole reader of YAML.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const COMPOSE_FILE = fileURLToPath(new URL('../../deploy/compose.yaml', import.meta.url));

/**
 * @typedef {{number: number, indent: number, text: string}} Line
 * @typedef {{lines: Line[], at: number, anchors: Map<string, any>}} Reader
 */

/** The text of a line without its comment. @param {string} line */
function withoutComment(line) {
  let isQuoted = false;
  for (let i = 0; i < line.length; i++) {
    if (line[i] === '"' && line[i - 1] !== '\\') isQuoted = !isQuoted;
    if (line[i] === '#' && !isQuoted && (i === 0 || line[i - 1] === ' ')) return line.slice(0, i);
  }
  return line;
}

/** @param {string} source @returns {any} */
export function readYaml(source) {
  const lines = source
    .split('\n')
    .map((line, i) => ({
      number: i + 1,
      indent: line.search(/\S|$/),
      text: withoutComment(line).trim(),
    }))
    .filter(({ text }) => text !== '');
  const reader = { lines, at: 0, anchors: new Map() };
  const value = readBlock(reader, 0);
  if (reader.at < lines.length) throw new Error(`line ${lines[reader.at].number}: not understood`);
  return value;
}

/** @param {Reader} reader @param {number} indent */
function readBlock(reader, indent) {
  const isList = reader.lines[reader.at].text.startsWith('- ');
  /** @type {any} */
  const value = isList ? [] : {};
  for (; reader.at < reader.lines.length;) {
    const line = reader.lines[reader.at];
    if (line.indent < indent) break;
    if (line.indent > indent || line.text.startsWith('- ') !== isList)
      throw new Error(`line ${line.number}: wrong indentation`);
    if (isList) {
      value.push(flow(line.text.slice(2), line.number));
      reader.at++;
    } else readMember(reader, line, value);
  }
  return value;
}

/** @param {Reader} reader @param {Line} line @param {Record<string, any>} into */
function readMember(reader, line, into) {
  const [, key, anchor, rest] = /^([\w.<-]+):(?: &([\w-]+))?(?: (.+))?$/.exec(line.text) ?? [];
  if (key === undefined) throw new Error(`line ${line.number}: not understood`);
  if (Object.hasOwn(into, key)) throw new Error(`line ${line.number}: ${key} is there twice`);
  reader.at++;
  const next = reader.lines[reader.at];
  let value;
  if (key === '<<') {
    value = reader.anchors.get(String(rest).slice(1));
    if (value === undefined) throw new Error(`line ${line.number}: no such anchor`);
    for (const [name, each] of Object.entries(value)) into[name] ??= each;
    return;
  }
  if (rest !== undefined) value = flow(rest, line.number);
  else if (next !== undefined && next.indent > line.indent) value = readBlock(reader, next.indent);
  else throw new Error(`line ${line.number}: ${key} has no value`);
  if (anchor !== undefined) reader.anchors.set(anchor, value);
  into[key] = value;
}

/** Reads a value that is on one line. @param {string} text @param {number} number */
function flow(text, number) {
  let at = 0;
  const fail = () => new Error(`line ${number}: not understood at "${text.slice(at)}"`);
  const skip = () => {
    while (text[at] === ' ') at++;
  };
  /** @param {string} ends  characters that end a plain word @returns {any} */
  const read = (ends) => {
    skip();
    if (text[at] === '[') return list();
    if (text[at] === '{') return map();
    const quoted = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(at));
    if (quoted) {
      at += quoted[0].length;
      return JSON.parse(quoted[0]);
    }
    const begin = at;
    while (at < text.length && !ends.includes(text[at])) at++;
    const word = text.slice(begin, at).trim();
    if (word === '' || /^['&*|>%@`!]|: /.test(word)) throw fail();
    return word === 'true' || word === 'false' || /^\d+$/.test(word) ? JSON.parse(word) : word;
  };
  /** @param {string} close @param {() => void} one */
  const items = (close, one) => {
    at++;
    for (skip(); text[at] !== close; skip()) {
      one();
      skip();
      if (text[at] === ',') at++;
      else if (text[at] !== close) throw fail();
    }
    at++;
  };
  const list = () => {
    /** @type {any[]} */
    const value = [];
    items(']', () => value.push(read(',]')));
    return value;
  };
  const map = () => {
    /** @type {Record<string, any>} */
    const value = {};
    items('}', () => {
      const [whole, key] = /^([\w.-]+): /.exec(text.slice(at)) ?? [];
      if (whole === undefined) throw fail();
      at += whole.length;
      value[key] = read(',}');
    });
    return value;
  };
  const value = read('');
  skip();
  if (at < text.length) throw fail();
  return value;
}

/** Puts variables, or their defaults, in their places. @param {any} value @param {Record<string, string>} variables @returns {any} */
export function substituted(value, variables) {
  if (Array.isArray(value)) return value.map((each) => substituted(each, variables));
  if (typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, substituted(each, variables)]),
    );
  if (typeof value !== 'string') return value;
  return value.replace(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (_, name, initial) => variables[name] ?? initial ?? '',
  );
}

/** The compose file. @param {Record<string, string>} [variables] */
export const readCompose = (variables = {}) =>
  substituted(readYaml(readFileSync(COMPOSE_FILE, 'utf8')), variables);
