// SPDX-License-Identifier: Apache-2.0
// One version in one place: the packages, what they need of each other, the lock file, CMake, documents and programs have
// that of the root's package.json, and set-version.mjs moves them all.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  FILE_VERSION,
  MANUAL_VERSION,
  currentVersion,
  documents,
  setVersion,
  workspaces,
} from '../../scripts/set-version.mjs';
import { native, root, version } from './release_helpers.mjs';

/** @type {string} */
let copy;
before(() => (copy = mkdtempSync(join(tmpdir(), 'shoal-version-'))));
after(() => rmSync(copy, { recursive: true, force: true }));

/** Every place that states a version. @param {string} folder @returns {[place: string, version: string][]} */
function stated(folder) {
  const json = (/** @type {string} */ path) => JSON.parse(readFileSync(join(folder, path), 'utf8'));
  const rooms = workspaces(folder);
  const names = new Set(rooms.map((room) => json(`${room}/package.json`).name));
  /** @param {string} where @param {any} about @returns {[string, string][]} */
  const ofPackage = (where, about) => [
    [where, about.version],
    ...['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'].flatMap(
      (kind) =>
        Object.entries(about[kind] ?? {})
          .filter(([name]) => names.has(name))
          .map(
            ([name, its]) => /** @type {[string, string]} */ ([`${where}: ${name}`, String(its)]),
          ),
    ),
  ];
  const lock = json('package-lock.json');
  return [
    ...ofPackage('package.json', json('package.json')),
    ...rooms.flatMap((room) => ofPackage(`${room}/package.json`, json(`${room}/package.json`))),
    ['package-lock.json', lock.version],
    ...['', ...rooms].flatMap((room) =>
      ofPackage(`package-lock.json: ${room}`, lock.packages[room]),
    ),
    ...documents(folder).flatMap((name) =>
      [FILE_VERSION, MANUAL_VERSION].flatMap((pattern) =>
        [...readFileSync(join(folder, name), 'utf8').matchAll(pattern)].map(
          (match) => /** @type {[string, string]} */ ([`${name}: ${match[0]}`, match[2]]),
        ),
      ),
    ),
  ];
}

test('every place states the version of package.json', () => {
  const all = stated(root);
  assert.ok(
    all.length > 30 && all.some(([place]) => place.includes('shoal-edge-')),
    `${all.length}`,
  );
  for (const [place, its] of all) assert.equal(its, version, place);
  const cmake = readFileSync(join(root, 'CMakeLists.txt'), 'utf8');
  assert.match(cmake, /project\(shoal VERSION \$\{shoal_version\}/);
});

test('set-version.mjs moves all of them, and nothing else', () => {
  const files = ['package.json', 'package-lock.json', ...documents()];
  for (const name of [...files, ...workspaces().map((room) => `${room}/package.json`)]) {
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    cpSync(join(root, name), join(copy, name));
  }
  setVersion('12.0.34', copy);
  assert.equal(currentVersion(copy), '12.0.34');
  for (const [place, its] of stated(copy)) assert.equal(its, '12.0.34', place);
  setVersion(version, copy);
  for (const name of files)
    assert.equal(
      readFileSync(join(copy, name), 'utf8'),
      readFileSync(join(root, name), 'utf8'),
      name,
    );
  for (const wrong of ['1', '1.2', 'v1.2.3', '01.2.3', '1.2.3-rc'])
    assert.throws(() => setVersion(wrong, copy), /a version like 1\.2\.3 is needed/, wrong);
  const script = spawnSync(process.execPath, [join(root, 'scripts/set-version.mjs')], {
    encoding: 'utf8',
  });
  assert.equal(script.status, 2);
});

test('no document tells people to fetch a package by a name that is not ours yet', () => {
  for (const name of documents()) {
    if (name === 'docs/release.md') continue; // which says why
    const text = readFileSync(join(root, name), 'utf8');
    if (/^[ $]*npm init shoal/m.test(text)) assert.match(text, /not on npm's\s+registry/, name);
    for (const [line] of text.matchAll(/^[ $]*(?:npm|npx) .*$/gm))
      assert.doesNotMatch(
        line,
        /npm (?:i|install) (?:-\S+ )*(?:create-)?shoal(?:-[a-z]+)*(?:[@\s]|$)|npx (?:-y |--yes )?(?:create-)?shoal/,
        `${name}: ${line}`,
      );
  }
});

test('the programs say it', () => {
  if (existsSync(native))
    assert.equal(execFileSync(native, ['--version'], { encoding: 'utf8' }), `shoal ${version}\n`);
});
