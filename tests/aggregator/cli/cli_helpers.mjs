// SPDX-License-Identifier: Apache-2.0
// A folder of its own for tests of the commands, and calls of the command in it: $SHOAL_BIN or build/release/shoal.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');

/** @param {string} name of the folder */
export function makeCli(name) {
  const folder = mkdtempSync(join(tmpdir(), `shoal-${name}-`));

  /** @param {string[]} args */
  function shoal(args) {
    const run = spawnSync(bin, args, { cwd: folder, maxBuffer: 1 << 28 });
    return { code: run.status, text: run.stdout.toString(), err: run.stderr.toString() };
  }

  return {
    /** @param {string} file */
    path: (file) => join(folder, file),
    /** @param {string} file */
    read: (file) => readFileSync(join(folder, file), 'utf8'),
    /** @param {string} file */
    bytes: (file) => readFileSync(join(folder, file)),
    /** @param {string} file */
    has: (file) => existsSync(join(folder, file)),
    /** @param {string} file @param {string | object} content text, or JSON */
    write: (file, content) =>
      writeFileSync(
        join(folder, file),
        typeof content === 'string' ? content : JSON.stringify(content),
      ),
    /** @param {string} file that may not be there */
    remove: (file) => rmSync(join(folder, file), { force: true }),
    /** Runs a command that must succeed. @param {...string} args */
    good(...args) {
      const run = shoal(args);
      assert.equal(run.code, 0, run.err);
      return run;
    },
    /** Runs one that must be refused, and print nothing. @param {number} code @param {RegExp} says @param {...string} args */
    bad(code, says, ...args) {
      const run = shoal(args);
      assert.match(run.err, says);
      assert.equal(run.code, code, run.err);
      assert.equal(run.text, '', 'nothing on standard output');
      return run;
    },
    /** @param {...string} args */
    run: (...args) => shoal(args),
    /** @param {string} file @param {number} mode */
    chmod: (file, mode) => chmodSync(join(folder, file), mode),
    release: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A recipe of a small sketch. @param {object} [more] */
export const sketch = (more) => ({
  recipe: 'fish',
  analysis: 'fish',
  stream: 'seen',
  value: 'item',
  mechanism: 'cms',
  parameters: { epsilon: 4, k: 256, m: 256 },
  hash: 'poly1',
  seed: '0123456789abcdef'.repeat(4),
  limit: { per_day: 2 },
  expires: '2099-12-31',
  ...more,
});

/** A recipe of a list. @param {string[]} values @param {number} epsilon @param {object} [more] */
export const list = (values, epsilon, more) => ({
  recipe: 'fruit',
  analysis: 'fruit',
  stream: 'eaten',
  value: 'item',
  mechanism: 'onehot-asymmetric',
  parameters: { epsilon, values },
  limit: { per_day: 2 },
  expires: '2099-12-31',
  ...more,
});
