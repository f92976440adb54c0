// SPDX-License-Identifier: Apache-2.0
// Files of at most 500 lines and functions of at most 60, outside tests and data. An exception is
// named here, with its reason.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { root } from '../../scripts/rooms.mjs';

const FILE_LINES = 500;
const FUNCTION_LINES = 60;
const COMMAND_LINES = 7000;
/** @type {Record<string, string>} */
const LONG_FILES = {};
/** @type {Record<string, string>} "file:function": reason */
const LONG_FUNCTIONS = {};

const sources = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((name) =>
    /^(core|aggregator|wasm|ui|edge|web-demo|examples|scripts)\/.*\.(c|h|m?js)$/.test(name),
  )
  .filter((name) => !/\/test\/|\.test\.mjs$/.test(name));
const read = (/** @type {string} */ name) => readFileSync(join(root, name), 'utf8');

/** @typedef {{ name: string, lines: number }} Sized */

/** Functions of a C file as clang-format leaves it: a brace alone in the first column opens the body. @param {string} text @returns {Sized[]} */
function cFunctions(text) {
  const lines = text.split('\n');
  return lines.flatMap((line, start) => {
    if (line !== '{') return [];
    const end = lines.indexOf('}', start);
    let head = start - 1;
    while (head > 0 && !/^\w/.test(lines[head])) head--;
    return [{ name: /(\w+)\(/.exec(lines[head])?.[1] ?? lines[head], lines: end - start - 1 }];
  });
}

/** Functions of a JavaScript file, the lines of functions inside them included. @param {string} file @param {string} text @returns {Sized[]} */
function jsFunctions(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  /** @type {Sized[]} */
  const found = [];
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const line = (/** @type {number} */ at) => source.getLineAndCharacterOfPosition(at).line;
      const name = node.name?.getText(source) ?? `line ${line(node.getStart(source)) + 1}`;
      const body = /** @type {ts.Node} */ (node.body);
      found.push({ name, lines: line(body.getEnd()) - line(body.getStart(source)) - 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test('no file is longer than 500 lines', () => {
  assert.ok(sources.length > 500);
  const long = sources.filter(
    (name) => read(name).split('\n').length - 1 > FILE_LINES && !(name in LONG_FILES),
  );
  assert.deepEqual(long, []);
});

test('no function is longer than 60 lines', () => {
  const functions = sources.flatMap((file) => {
    const text = read(file);
    const own = /\.[ch]$/.test(file) ? cFunctions(text) : jsFunctions(file, text);
    return own.map((sized) => ({ file, ...sized }));
  });
  assert.ok(functions.length > 3000, `${functions.length} functions were seen`);
  const long = functions
    .filter(
      ({ file, name, lines }) => lines > FUNCTION_LINES && !(`${file}:${name}` in LONG_FUNCTIONS),
    )
    .map(({ file, name, lines }) => `${file}: ${name} has ${lines} lines`);
  assert.deepEqual(long, []);
});

test('the commands stay small: cli/ has options and calls', () => {
  const lines = sources
    .filter((name) => name.startsWith('aggregator/cli/'))
    .reduce((sum, name) => sum + read(name).split('\n').length - 1, 0);
  assert.ok(lines > 1000 && lines < COMMAND_LINES, `${lines} lines`);
});

test('exceptions are of files that are there and are long', () => {
  for (const name of Object.keys(LONG_FILES))
    assert.ok(read(name).split('\n').length - 1 > FILE_LINES, name);
});
