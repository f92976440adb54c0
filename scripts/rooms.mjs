// SPDX-License-Identifier: Apache-2.0
// Checks the includes of C files and the imports of JavaScript files against the table of rooms in
// docs/design.md, and draws the graph of rooms.
//   node scripts/rooms.mjs            prints what breaks the table; exit code 1 if anything does
//   node scripts/rooms.mjs --draw     writes docs/rooms.svg
//   node scripts/rooms.mjs --uses     prints the rooms that each room really includes
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawRooms } from './draw-rooms.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {{ name: string, may: string[] }} Room one row of the table; `may` names rooms, or a
 *   part such as `core/` that stands for all of its rooms
 * @typedef {{ file: string, line: number, text: string, target: string }} Use one include or import
 * @typedef {{ file: string, line: number, text: string }} Problem
 */

/**
 * Reads the rooms of the table below "## Rooms", from the lowest up. The last column names rooms of
 * the same part by their folders' names, and others by a path that ends with a slash.
 * @param {string} page docs/design.md
 * @returns {Room[]}
 */
export function readTable(page) {
  const section = page.split(/^## Rooms$/m)[1]?.split(/^## /m)[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((line) => {
    const cells = line.split('|').slice(1, -1);
    const codes = (/** @type {string} */ cell) =>
      [...cell.matchAll(/`([^`]+)`/g)].flatMap((match) => match[1].split(' '));
    const [name] = codes(cells[0]);
    const part = name.split('/')[0];
    return {
      name,
      may: codes(cells[2]).map((allowed) =>
        allowed.endsWith('/') ? allowed : `${part}/${allowed}/`,
      ),
    };
  });
}

/**
 * Returns the room of a file: the longest room name that its path begins with.
 * @param {Room[]} rooms
 * @param {string} file
 */
export const roomOf = (rooms, file) =>
  rooms
    .map(({ name }) => name)
    .filter((name) => file.startsWith(name))
    .sort((a, b) => b.length - a.length)[0];

/**
 * Lists the quoted includes of a C file that name a file of the tree.
 * @param {string} file
 * @param {string} text
 * @param {Map<string, string>} byName path of each file name
 * @returns {Use[]}
 */
function includesOf(file, text, byName) {
  return text.split('\n').flatMap((line, i) => {
    const name = /^\s*#\s*include\s+"([^"]+)"/.exec(line)?.[1];
    const target = name === undefined ? undefined : byName.get(basename(name));
    return target === undefined ? [] : [{ file, line: i + 1, text: line.trim(), target }];
  });
}

/** The package of the workspace that a bare import names, and the room that it leads to. */
const PACKAGES = new Map([
  ['shoal-client', 'wasm/bindings/'],
  ['shoal-client/file-hashes', 'wasm/bin/'],
  ['shoal-ui', 'ui/'],
  ['shoal-edge', 'edge/'],
  ['shoal-aggregator', 'aggregator/js/'],
  ['shoal-relay', 'relay/'],
  ['shoal-issuer', 'issuer/'],
  ['create-shoal', 'create/'],
  ['shoal-dev', 'dev/'],
  ['shoal-verify', 'verify/'],
]);
/** The entries of shoal-client that are for pages. */
const CLIENT = /^shoal-client(\/(loader|routes))?$/;

/**
 * Lists the imports of a JavaScript file within the tree: static, dynamic, and of types in JSDoc.
 * @param {string} file
 * @param {string} text
 * @returns {Use[]}
 */
function importsOf(file, text) {
  const found = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])([^'"\n]+)\1/g;
  return text.split('\n').flatMap((line, i) =>
    [...line.matchAll(found)].flatMap(([, , name]) => {
      const relative = name.startsWith('.') ? normalize(join(dirname(file), name)) : undefined;
      const client = CLIENT.test(name) ? 'wasm/client/' : undefined;
      const named = client ?? PACKAGES.get(name) ?? PACKAGES.get(name.split('/')[0]);
      const target = relative ?? named;
      return target === undefined ? [] : [{ file, line: i + 1, text: line.trim(), target }];
    }),
  );
}

const isC = (/** @type {string} */ file) => /\.(c|h|def)$/.test(file);
const isJs = (/** @type {string} */ file) => /\.(m?js|jsx)$/.test(file);

/**
 * Lists all uses of files that lie in rooms, in the order of the files.
 * @param {Room[]} rooms
 * @param {Map<string, string>} files text of each path
 * @returns {Use[]}
 */
export function usesOf(rooms, files) {
  const inRooms = [...files].filter(([file]) => roomOf(rooms, file) !== undefined);
  const byName = new Map(inRooms.map(([file]) => [basename(file), file]));
  return inRooms.flatMap(([file, text]) => {
    if (isC(file)) return includesOf(file, text, byName);
    return isJs(file) ? importsOf(file, text) : [];
  });
}

/** @param {Room} room @param {string} target */
const mayUse = ({ name, may }, target) =>
  name === target || may.some((allowed) => target.startsWith(allowed));

/**
 * Lists what breaks the table: a use that it does not allow, a row that allows a room above it, an
 * allowance that nobody uses, and a file name that occurs twice.
 * @param {Room[]} rooms
 * @param {Map<string, string>} files
 * @returns {Problem[]}
 */
export function problemsOf(rooms, files) {
  /** @type {Problem[]} */
  const problems = [];
  const used = new Set();
  for (const { file, line, text, target } of usesOf(rooms, files)) {
    const from = /** @type {Room} */ (rooms.find(({ name }) => name === roomOf(rooms, file)));
    const to = roomOf(rooms, target);
    if (to === undefined) {
      problems.push({ file, line, text: `${text}: ${target} lies in no room` });
      continue;
    }
    used.add(`${from.name} ${to}`);
    if (!mayUse(from, to))
      problems.push({ file, line, text: `${text}: ${from.name} may not include ${to}` });
  }
  problems.push(...tableProblems(rooms, used), ...namesakes(rooms, files));
  return problems;
}

/** @param {Room[]} rooms @param {Set<string>} used @returns {Problem[]} */
function tableProblems(rooms, used) {
  const file = 'docs/design.md';
  return rooms.flatMap(({ name, may }, i) =>
    may.flatMap((allowed) => {
      const targets = rooms.filter((room) => room.name.startsWith(allowed));
      if (targets.length === 0) return [{ file, line: 0, text: `${name}: ${allowed} is no room` }];
      if (targets.some((room) => rooms.indexOf(room) >= i))
        return [{ file, line: 0, text: `${name} may include ${allowed}, which is not below it` }];
      return targets.some((room) => used.has(`${name} ${room.name}`))
        ? []
        : [{ file, line: 0, text: `${name} may include ${allowed}, but no file of it does` }];
    }),
  );
}

/** Names of C files are unique, because an include names the file alone. */
function namesakes(/** @type {Room[]} */ rooms, /** @type {Map<string, string>} */ files) {
  /** @type {Map<string, string>} */
  const first = new Map();
  /** @type {Problem[]} */
  const problems = [];
  for (const file of files.keys()) {
    if (!isC(file) || roomOf(rooms, file) === undefined) continue;
    const other = first.get(basename(file));
    if (other !== undefined) problems.push({ file, line: 1, text: `has the name of ${other}` });
    first.set(basename(file), file);
  }
  return problems;
}

/**
 * Finds the groups of nodes that reach each other: strongly connected components with more than one
 * node.
 * @param {Map<string, Set<string>>} graph
 * @returns {string[][]}
 */
export function cyclesOf(graph) {
  /** @type {Map<string, number>} */
  const index = new Map();
  /** @type {Map<string, number>} */
  const low = new Map();
  /** @type {string[]} */
  const stack = [];
  /** @type {string[][]} */
  const cycles = [];
  const visit = (/** @type {string} */ node) => {
    index.set(node, index.size);
    low.set(node, index.size - 1);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next))
        low.set(
          node,
          Math.min(/** @type {number} */ (low.get(node)), /** @type {number} */ (low.get(next))),
        );
    }
    if (low.get(node) !== index.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) cycles.push(group.sort());
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return cycles;
}

/**
 * Maps each file to the files that it uses by includes and imports.
 * @param {Use[]} uses
 */
export function graphOf(uses) {
  /** @type {Map<string, Set<string>>} */
  const graph = new Map();
  for (const { file, target } of uses) {
    if (!graph.has(file)) graph.set(file, new Set());
    graph.get(file)?.add(target);
  }
  return graph;
}

const PRODUCT =
  /^(core|aggregator|wasm|ui|edge|relay|issuer|create|dev|verify|web-demo|examples|docs\/playground)\/.*\.(c|h|def|m?js|jsx)$/;

/**
 * Every file of the tree that git knows or would add, with its text.
 * @param {RegExp} which the paths
 * @returns {Map<string, string>}
 */
export function readTree(which = PRODUCT) {
  const list = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '-z'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  const names = list.split('\0').filter((name) => which.test(name) && !/\/test\//.test(name));
  /** @type {Map<string, string>} */
  const files = new Map();
  for (const name of new Set(names)) {
    try {
      files.set(name, readFileSync(join(root, name), 'utf8'));
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error; // removed, not yet committed
    }
  }
  return files;
}

/** Which room uses which others. @param {Room[]} rooms @param {Map<string, string>} files */
export function roomGraph(rooms, files) {
  /** @type {Map<string, Set<string>>} */
  const graph = new Map(rooms.map(({ name }) => [name, new Set()]));
  for (const { file, target } of usesOf(rooms, files)) {
    const [from, to] = [roomOf(rooms, file), roomOf(rooms, target)];
    if (from !== to && to !== undefined) graph.get(/** @type {string} */ (from))?.add(to);
  }
  return graph;
}

function main() {
  const rooms = readTable(readFileSync(join(root, 'docs/design.md'), 'utf8'));
  const files = readTree();
  if (process.argv.includes('--draw')) {
    writeFileSync(join(root, 'docs/rooms.svg'), drawRooms(rooms, roomGraph(rooms, files)));
    return;
  }
  if (process.argv.includes('--uses')) {
    for (const [from, to] of roomGraph(rooms, files))
      console.log(`${from}: ${[...to].sort().join(' ')}`);
    return;
  }
  const problems = problemsOf(rooms, files);
  for (const { file, line, text } of problems) console.log(`${file}:${line}: ${text}`);
  for (const cycle of cyclesOf(graphOf(usesOf(rooms, files)))) {
    console.log(`these files include each other: ${cycle.join(', ')}`);
    process.exitCode = 1;
  }
  if (problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
