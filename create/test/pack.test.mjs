// SPDX-License-Identifier: Apache-2.0
// create-shoal as people get it: from its packed files and those of shoal-aggregator, in an empty folder, through npm's own
// way of running an initializer. And the folder's name is found as the command finds it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { folderOf } from '../../aggregator/js/init.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('npm runs the packed initializer, which writes the folder', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'create-shoal-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const packages = ['aggregator', 'create'].map((name) => {
    const args = ['pack', '--json', '--pack-destination', folder];
    const out = execFileSync('npm', args, { cwd: join(root, name), encoding: 'utf8' });
    const [packed] = JSON.parse(out);
    if (name === 'create')
      assert.deepEqual(packed.files.map((/** @type {any} */ file) => file.path).sort(), [
        'README.md',
        'bin/create-shoal.js',
        'package.json',
      ]);
    return `--package=${join(folder, packed.filename)}`;
  });
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  const env = { ...process.env, npm_config_cache: join(folder, 'cache') };
  const options = ['--what', 'numbers', '--visitors', '9000', '--strict', 'high'];
  const args = [
    'exec',
    '--yes',
    '--offline',
    ...packages,
    '--',
    'create-shoal',
    'site',
    ...options,
  ];
  const done = spawnSync('npm', args, { cwd: empty, encoding: 'utf8', env });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /^Wrote site: numbers/m);
  assert.match(done.stdout, /cd site\n {2}mkdir packages .*\n {2}npm install\n {2}npm run dev/);
  assert.equal(statSync(join(empty, 'site/secrets/batch.secret')).mode & 0o777, 0o600);
  const about = JSON.parse(readFileSync(join(empty, 'site/package.json'), 'utf8'));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [name, place] of Object.entries(about.dependencies))
    assert.equal(place, `file:packages/${name}-${version}.tgz`); // never by name, which others may own
  assert.ok(existsSync(join(empty, 'site/page/index.html')));
});

test('the folder is the one word that is no option', () => {
  assert.equal(folderOf([]), 'my-shoal');
  assert.equal(folderOf(['--yes', 'a']), 'a');
  assert.equal(folderOf(['--what', 'words', 'a']), 'a');
  assert.equal(folderOf(['a', '--what', 'words']), 'a');
  assert.equal(folderOf(['--what=words', 'a']), 'a');
  assert.equal(folderOf(['--ask', '--anyway', '--', '-a']), '-a');
  const help = execFileSync(
    process.execPath,
    [join(root, 'create/bin/create-shoal.js'), '--help'],
    {
      encoding: 'utf8',
    },
  );
  // Every option without a value must be known as one, or its next word would be taken for a value.
  const switches = [...help.matchAll(/^ {2}(--[a-z-]+) {2,}/gm)].map(([, name]) => name);
  assert.deepEqual(switches.sort(), ['--anyway', '--ask', '--yes']);
  for (const name of switches) assert.equal(folderOf([name, 'folder']), 'folder');
});
