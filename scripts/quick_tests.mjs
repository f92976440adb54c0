// SPDX-License-Identifier: Apache-2.0
// Finds the tests that belong to files. The folders of tests/ mirror the rooms, so a file's room
// names its tests.

/** The artefacts of before hold every room of C. */
const ARTEFACTS = 'tests/artefacts/artefacts.test.mjs';

/** The tests of what a room may include. */
const ROOMS = 'tests/rooms';

/** JavaScript's folders and those of their tests. @type {[RegExp, string[]][]} */
const SCRIPTS = [
  [/^wasm\/client\//, ['wasm/test/client']],
  [/^wasm\/bindings\//, ['wasm/test/bindings']],
  [/^wasm\/test\/(client|bindings)\//, ['wasm/test/$1']],
  [/^ui\//, ['ui/test']],
  [/^edge\//, ['edge/test']],
  [/^relay\//, ['relay/test']],
  [/^create\//, ['create/test']],
  [/^dev\//, ['dev/test']],
  [/^verify\//, ['verify/test']],
  [/^issuer\//, ['issuer/test']],
  [/^web-demo\//, ['web-demo/test']],
  [/^aggregator\/(js|test)\//, ['aggregator/test']],
  [/^aggregator\/(sql|table)\//, ['tests/arrow']],
  [/^scale\//, ['tests/scale']],
  [/^python\//, ['tests/python']],
  [/^docs\/|^[A-Z]+\.md$/, ['tests/docs']],
  [/^scripts\/(?!quick)/, ['scripts/demo']],
  [/^scripts\/quick/, ['scripts']],
  [/^scripts\/(release\/|set-version|bring-node|node\.pins|setup)/, ['tests/release']],
  [/^examples\//, ['tests/examples']],
  [/^tests\/(arrow|artefacts|bench|docs|examples|model|python|release|scale)\//, ['tests/$1']],
];

/** @param {string[]} files */
export const isNative = (files) =>
  files.some((file) => /\.(c|h|def)$|CMakeLists\.txt$|\.cmake$/.test(file));

/** The changed files of each formatter. @param {string[]} files */
export const formatOf = (files) => ({
  clang: files.filter((file) => /\.[ch]$/.test(file)),
  prettier: files.filter((file) => /\.(js|mjs|md)$/.test(file)),
});

/**
 * Returns the tests of the rooms that hold the files.
 * @param {string[]} files that changed, from the root
 * @param {string[]} names of all tests that ctest knows
 * @param {(folder: string) => string[]} filesOf the files that a folder holds, none where there is no such folder
 * @returns {{ctest: string[], node: string[]}} names of tests, and files for Node's runner
 */
export function testsOf(files, names, filesOf) {
  const ctest = new Set();
  const node = new Set();
  for (const folder of new Set(files.flatMap(testFolders))) {
    for (const file of filesOf(folder)) {
      const stem = /\/(?:test_)?([^/]+)\.(c|test\.mjs)$/.exec(file);
      if (!stem) continue;
      const name = stem[1].replace(/^agg_/, '');
      // One program may be several tests: row_fold is run once for each instruction set.
      const found = names.filter((test) =>
        new RegExp(`^(core|native|fuzz)\\.(agg_)?${name}(_portable|_avx2|_is_seen)?$`).test(test),
      );
      for (const test of found) ctest.add(test);
      if (found.length === 0 && stem[2] === 'test.mjs') node.add(file);
    }
  }
  // Any file may break the order of rooms by an include or an import.
  if (files.some((file) => /\.(c|h|def|js|mjs)$/.test(file))) {
    for (const file of filesOf(ROOMS)) if (file.endsWith('.test.mjs')) node.add(file);
  }
  if (isNative(files)) {
    for (const name of names.filter((test) => test.startsWith('fuzz.'))) ctest.add(name);
    node.add(ARTEFACTS);
  }
  return { ctest: [...ctest].sort(), node: [...node].sort() };
}

/** The folders of a file's tests. @param {string} file @returns {string[]} */
function testFolders(file) {
  const room = /^(?:tests\/)?(core|aggregator)\/(\w+)\/.*\.(c|h|def)$/.exec(file);
  if (room) return [`tests/${room[1]}/${room[2]}`];
  const own = /^(tests\/(?:core|aggregator)\/\w+)\/.*\.mjs$/.exec(file);
  if (own) return [own[1]];
  return SCRIPTS.flatMap(([pattern, folders]) => {
    const found = pattern.exec(file);
    return found ? folders.map((folder) => folder.replace('$1', found[1])) : [];
  });
}
