// SPDX-License-Identifier: Apache-2.0
// Until the packages' names are ours, nothing may make npm ask its registry for them: whoever registers one first would run
// on our users' machines. No document and no program says so, and a new folder names files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { publicPackages } from '../../scripts/release/pack_npm.mjs';
import { native, root, version } from './release_helpers.mjs';

const names = publicPackages().map(({ name }) => name);
const anyName = [...names, 'shoal-linux-x64', '\\$\\{program\\}', 'shoal-%s', 'shoal'].join('|');
const byName = new RegExp(
  `npm (?:install|i|add)(?: -\\S+)* (?:${anyName})(?![-.\\w/])|npx (?!--no-install)(?:${anyName})(?![-.\\w/])`,
);
/** What speaks to people: documents and programs, but no tests and no history. */
const said = execFileSync('git', ['ls-files', '-z', '*.md', '*.js', '*.mjs', '*.c', '*.h', '*.1'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file && !/(^|\/)(tests?)\/|^CHANGELOG\.md$/.test(file));

test('the rule finds what it is for', () => {
  for (const text of ['npm install shoal-client', 'npm i --save-dev shoal-dev', 'npx shoal-edge'])
    assert.match(text, byName, text);
  for (const text of ['npm install ./shoal-client-0.1.0.tgz', 'npx --no-install shoal-edge'])
    assert.doesNotMatch(text, byName, text);
});

test('no document and no program has npm take our names from its registry', () => {
  assert.ok(said.length > 500 && names.length >= 7, `${said.length} files, ${names.length} names`);
  const found = said.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(new RegExp(byName, 'g'))].map(
      ([text]) => `${file}: ${text}`,
    ),
  );
  // The one that says that nobody does.
  assert.deepEqual(found, ['docs/release.md: npm install shoal-client']);
});

test('a new folder names files, and names only when it is told to', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-names-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const placesIn = (/** @type {string} */ name, /** @type {string[]} */ ...more) => {
    execFileSync(native, ['init', '--yes', ...more, join(folder, name)]);
    const about = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'));
    return Object.entries({
      ...about.dependencies,
      ...about.devDependencies,
      ...about.optionalDependencies,
    });
  };
  for (const [name, place] of placesIn('plain'))
    assert.equal(place, `file:packages/${name}-${version}.tgz`);
  for (const [, place] of placesIn('own', '--packages', 'registry')) assert.equal(place, version);
});
