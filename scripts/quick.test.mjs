// SPDX-License-Identifier: Apache-2.0
// Checks that `make quick` finds the tests of the changed files, and no others.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { formatOf, testsOf } from './quick_tests.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
const filesOf = (/** @type {string} */ folder) =>
  tracked.filter(
    (file) => file.startsWith(`${folder}/`) && !file.slice(folder.length + 1).includes('/'),
  );
const names = [
  'core.cms',
  'core.vectors',
  'core.rng',
  'fuzz.record',
  'native.agg_row_fold',
  'native.agg_row_fold_avx2',
  'native.agg_accumulator',
  'native.agg_compare',
  'native.store',
  'native.serve_kill',
];
/** @param {...string} files */
const tests = (...files) => testsOf(files, names, filesOf);
const artefacts = 'tests/artefacts/artefacts.test.mjs';
const rooms = filesOf('tests/rooms').filter((file) => file.endsWith('.test.mjs'));

test('a source file has the tests of its room, the fuzz corpora, the artefacts and the rooms', () => {
  assert.deepEqual(tests('core/mechanism/cms.c'), {
    ctest: ['core.cms', 'core.vectors', 'fuzz.record'],
    node: [artefacts, ...rooms],
  });
  assert.deepEqual(tests('aggregator/sketch/folder.c').ctest, [
    'fuzz.record',
    'native.agg_accumulator',
    'native.agg_row_fold',
    'native.agg_row_fold_avx2',
  ]);
});

test('rooms whose tests are programs and those whose tests are scripts', () => {
  assert.deepEqual(tests('aggregator/store/store.c').ctest, ['fuzz.record', 'native.store']);
  const serve = tests('aggregator/serve/serve.c');
  assert.ok(serve.ctest.includes('native.serve_kill'));
  assert.ok(!serve.node.some((file) => file.includes('serve_kill')), 'once, by ctest');
  const cli = tests('aggregator/cli/cmd_plan.c');
  assert.ok(cli.node.includes('tests/aggregator/cli/plan.test.mjs'));
});

test('JavaScript and documents have theirs, and build nothing', () => {
  assert.deepEqual(tests('wasm/client/observe.js').ctest, []);
  assert.ok(tests('wasm/client/observe.js').node.includes('wasm/test/client/client.test.mjs'));
  assert.ok(tests('docs/plan.md').node.includes('tests/docs/examples.test.mjs'));
  assert.ok(tests('README.md').node.includes('tests/docs/links.test.mjs'));
  assert.deepEqual(tests('LICENSE'), { ctest: [], node: [] });
});

test('every room of C has a folder of tests by its name, or is known to have none', () => {
  const rooms = new Set(
    tracked.flatMap((file) => /^((?:core|aggregator)\/\w+)\/\w+\.c$/.exec(file)?.[1] ?? []),
  );
  const without = [...rooms].filter((room) => !existsSync(`${root}/tests/${room}`));
  assert.ok(rooms.size > 20);
  assert.deepEqual(
    without.filter((room) => !TESTED_ELSEWHERE.has(room)),
    [],
  );
});

// The commands or the rooms above test these rooms.
const TESTED_ELSEWHERE = new Set([
  'core/builder',
  'aggregator/command',
  'aggregator/http',
  'aggregator/draft',
  'aggregator/js',
  'aggregator/sql',
  'aggregator/table',
]);

test('each formatter gets its own files', () => {
  assert.deepEqual(formatOf(['a.c', 'a.h', 'b.mjs', 'c.md', 'd.json']), {
    clang: ['a.c', 'a.h'],
    prettier: ['b.mjs', 'c.md'],
  });
});
