// SPDX-License-Identifier: Apache-2.0
// The table of rooms in docs/design.md is what the includes and imports say. Planted violations,
// one in each direction, show that the check can fail; the picture is the one that the code gives.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { drawRooms } from '../../scripts/draw-rooms.mjs';
import {
  cyclesOf,
  graphOf,
  problemsOf,
  readTable,
  readTree,
  roomGraph,
  root,
  usesOf,
} from '../../scripts/rooms.mjs';

const rooms = readTable(readFileSync(join(root, 'docs/design.md'), 'utf8'));
const tree = readTree();

/** The problems of the tree with one line added to the end of one file. */
const problemsWith = (/** @type {string} */ file, /** @type {string} */ line) => {
  const text = tree.get(file);
  assert.ok(text !== undefined, file);
  return problemsOf(rooms, new Map(tree).set(file, `${text}${line}\n`));
};

test('includes and imports are what the table of rooms says', () => {
  assert.ok(rooms.length > 25 && tree.size > 500, `${rooms.length} rooms, ${tree.size} files`);
  const problems = problemsOf(rooms, tree);
  assert.deepEqual(
    problems.map(({ file, line, text }) => `${file}:${line}: ${text}`),
    [],
  );
});

test('a planted include from a lower room into a higher one is named with its line', () => {
  for (const [file, header, rule] of [
    ['core/base/name.c', 'recipe.h', 'core/base/ may not include core/recipe/'],
    ['core/mechanism/grr.c', 'batch.h', 'core/mechanism/ may not include core/wire/'],
    [
      'aggregator/sketch/sketch.c',
      'estimate.h',
      'aggregator/sketch/ may not include aggregator/estimate/',
    ],
    [
      'aggregator/estimate/estimate.c',
      'estimate_print.h',
      'aggregator/estimate/ may not include aggregator/report/',
    ],
    ['aggregator/store/store.c', 'options.h', ''],
    ['core/wire/batch.c', 'agg_error.h', 'core/wire/ may not include aggregator/base/'],
  ]) {
    const line = String(tree.get(file)).split('\n').length;
    const found = problemsWith(file, `#include "${header}"`);
    if (rule === '')
      assert.deepEqual(found, [], `${file} may include ${header}: the check is no blanket refusal`);
    else assert.deepEqual(found, [{ file, line, text: `#include "${header}": ${rule}` }]);
  }
});

test('a planted import from a lower room into a higher one is named with its line', () => {
  for (const [file, line, rule] of [
    [
      'wasm/bindings/core.js',
      "import { init } from '../client/client.js';",
      'wasm/bindings/ may not include wasm/client/',
    ],
    [
      'wasm/client/loader.js',
      "const load = () => import('../../edge/handler.js');",
      'wasm/client/ may not include edge/',
    ],
    [
      'edge/errors.js',
      "/** @type {import('../wasm/client/client.js').Shoal} */",
      'edge/ may not include wasm/client/',
    ],
    [
      'examples/vite/main.js',
      "import { load } from 'shoal-client/web';",
      'examples/ may not include wasm/bindings/',
    ],
    [
      'edge/errors.js',
      "import { start } from 'shoal-client/loader';",
      'edge/ may not include wasm/client/',
    ],
  ]) {
    const [problem, ...more] = problemsWith(file, line);
    assert.deepEqual(more, []);
    assert.equal(problem.file, file);
    assert.equal(problem.line, String(tree.get(file)).split('\n').length);
    assert.ok(problem.text.endsWith(rule), problem.text);
  }
  const [outside] = problemsWith('edge/errors.js', "import '../scripts/demo.mjs';");
  assert.match(outside.text, /lies in no room/, 'product code imports no script');
});

test('a table that allows too much is told of as well', () => {
  const withRow = (/** @type {string} */ name, /** @type {string} */ allowed) =>
    problemsOf(
      rooms.map((room) => (room.name === name ? { ...room, may: [...room.may, allowed] } : room)),
      tree,
    ).map(({ text }) => text);
  assert.deepEqual(withRow('core/base/', 'core/recipe/'), [
    'core/base/ may include core/recipe/, which is not below it',
  ]);
  assert.deepEqual(withRow('core/prio/', 'core/chance/'), [
    'core/prio/ may include core/chance/, but no file of it does',
  ]);
  assert.deepEqual(withRow('core/prio/', 'core/cellar/'), ['core/prio/: core/cellar/ is no room']);
});

test('no files include each other, directly or by way of others', () => {
  assert.deepEqual(cyclesOf(graphOf(usesOf(rooms, tree))), []);
  const planted = new Map(tree).set('wasm/bindings/device.js', "import './core.js';\n");
  assert.equal(cyclesOf(graphOf(usesOf(rooms, planted))).length, 1, 'a planted cycle is seen');
});

test('names of C files are unique', () => {
  const planted = new Map(tree).set('aggregator/cli/recipe.h', '');
  const texts = problemsOf(rooms, planted).map(({ text }) => text);
  assert.ok(
    texts.includes('has the name of core/recipe/recipe.h') ||
      texts.includes('has the name of aggregator/cli/recipe.h'),
    texts.join('; '),
  );
});

/** The share of the C files of a native build that include a file, directly or by way of others. */
const shareThatIncludes = (
  /** @type {Map<string, string>} */ files,
  /** @type {string} */ header,
) => {
  const byName = new Map([...files.keys()].map((file) => [basename(file), file]));
  const includes = new Map(
    [...files].map(([file, text]) => [
      file,
      [...text.matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)].flatMap(
        (match) => byName.get(basename(match[1])) ?? [],
      ),
    ]),
  );
  const sources = [...files.keys()].filter((file) => file.endsWith('.c'));
  const reaches = (/** @type {string} */ source) => {
    const seen = new Set([source]);
    for (const file of seen) for (const target of includes.get(file) ?? []) seen.add(target);
    return seen.has(header);
  };
  return sources.filter(reaches).length / sources.length;
};

test('a change of the recipe rebuilds less than a third of the C files', () => {
  const files = readTree(/^(core|aggregator|tests)\/.*\.(c|h|def)$/);
  for (const name of ['recipe.h', 'recipe_fields.def']) {
    const share = shareThatIncludes(files, `core/recipe/${name}`);
    assert.ok(share > 0.1 && share < 1 / 3, `${name}: ${(100 * share).toFixed(1)} %`);
  }
  const header = 'core/recipe/recipe_ref.h';
  const planted = new Map(files).set(header, `${files.get(header)}#include "recipe.h"\n`);
  assert.ok(
    shareThatIncludes(planted, 'core/recipe/recipe.h') > 1 / 3,
    'a planted include is seen',
  );
});

test('docs/rooms.svg is the picture of the tree, without an arrow upwards', () => {
  const picture = readFileSync(join(root, 'docs/rooms.svg'), 'utf8');
  assert.equal(
    picture,
    drawRooms(rooms, roomGraph(rooms, tree)),
    'make it anew: node scripts/rooms.mjs --draw',
  );
  assert.doesNotMatch(picture, /<path class="up" d="[^"]*" marker-end/);
  const planted = new Map(tree).set('core/base/bytes.h', '#include "recipe.h"\n');
  assert.match(
    drawRooms(rooms, roomGraph(rooms, planted)),
    /<path class="up" d="[^"]*" marker-end/,
    'an arrow upwards would be red',
  );
});

test('the folders of tests are those of the rooms', () => {
  const beside = new Set(['samples', 'vectors', 'golden', 'accuracy']);
  for (const part of ['core', 'aggregator']) {
    const folders = readdirSync(join(root, 'tests', part), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !beside.has(entry.name))
      .map(({ name }) => `${part}/${name}/`);
    assert.ok(folders.length > 5);
    for (const folder of folders)
      assert.ok(
        rooms.some(({ name }) => name === folder),
        folder,
      );
  }
});
