// SPDX-License-Identifier: Apache-2.0
// Runs docs/r.md in R, where R and jsonlite are installed, and holds its figures against the command's. SHOAL_LONG=1 installs them on
// Debian; there a machine without them fails.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { blocks as fencedBlocks } from '../docs/markdown.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const build = process.env.SHOAL_BUILD ?? join(root, 'build/release');
const isLong = process.env.SHOAL_LONG === '1';
const env = { ...process.env, PATH: `${build}${delimiter}${process.env.PATH}` };

const hasR = () => spawnSync('Rscript', ['-e', 'library(jsonlite)']).status === 0;

if (isLong && !hasR() && existsSync('/usr/bin/apt-get') && process.getuid?.() === 0) {
  const apt = ['-q', '-o', 'DPkg::Lock::Timeout=600'];
  spawnSync('apt-get', [...apt, 'update']);
  const names = ['r-base-core', 'r-cran-jsonlite'];
  spawnSync('apt-get', [...apt, 'install', '-y', '--no-install-recommends', ...names]);
}
const isSkipped = !isLong && !hasR();

test(
  isSkipped
    ? 'SKIPPED for want of R with jsonlite: docs/r.md'
    : 'docs/r.md runs, and R reads the figures of the command',
  { skip: isSkipped },
  (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'shoal-r-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const page = readFileSync(join(root, 'docs/r.md'), 'utf8');
    const blocks = fencedBlocks(page).filter(({ info }) => info[0] === 'r');
    const more =
      'write_json(rows, "rows.json", digits = NA)\nwriteLines(names(plan), "names.txt")\n';
    writeFileSync(join(folder, 'page.R'), `${blocks.map(({ text }) => text).join('\n')}\n${more}`);
    const run = (/** @type {string} */ program, /** @type {string[]} */ ...args) => {
      const done = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8' });
      assert.equal(done.status, 0, `${done.stdout}\n${done.stderr}`);
      return done;
    };
    const said = run('Rscript', 'page.R');
    assert.match(said.stdout, /herring +\d/);
    assert.match(said.stderr, /missing\.json: cannot be opened|missing\.json/);
    const rows = JSON.parse(readFileSync(join(folder, 'rows.json'), 'utf8'));
    const words = ['--recipe', 'fish.json', '--dictionary', 'truth.tsv', '--format', 'json'];
    const result = JSON.parse(run('shoal', 'estimate', ...words, 'fish.acc').stdout);
    assert.equal(rows.length, 5);
    for (const [i, row] of result.rows.entries())
      for (const name of ['value', 'count', 'stderr', 'low', 'high', 'detected'])
        if (typeof row[name] === 'number')
          // jsonlite writes 15 digits.
          assert.ok(Math.abs(rows[i][name] - row[name]) <= 1e-13 * Math.abs(row[name]), name);
        else assert.deepEqual(rows[i][name], row[name], `${row.value}: ${name}`);
    assert.ok(readFileSync(join(folder, 'fish.png')).length > 2000);
    assert.ok(readFileSync(join(folder, 'names.txt'), 'utf8').split('\n').length > 3);
  },
);
