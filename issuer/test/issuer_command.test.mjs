// SPDX-License-Identifier: Apache-2.0
// The command's refusals: each has a sentence and an exit code, and leaves the key file as it was.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const command = fileURLToPath(new URL('../bin/shoal-issuer.js', import.meta.url));
const run = (...args) =>
  promisify(execFile)(process.execPath, [command, ...args]).catch((error) => error);
const HASH = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);

async function folder(t) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-issuer-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

test('a wrong command line is exit code 2, and names what is wrong', async () => {
  for (const [args, words] of [
    [[], /serve, keys, list or directory is needed/],
    [['list', '--kyes', 'x'], /: Unknown option '--kyes'; see --help\n$/],
    [['keys', '--keys', 'x'], /--recipe is needed/],
    [['keys', '--keys', 'x', '--recipe', `${HASH}:0`, '--days', '1'], /--recipe: 64 hex digits/],
    [['keys', '--keys', 'x', '--recipe', `${HASH}:1`, '--recipe', `${HASH}:2`], /named twice/],
    [['keys', '--keys', 'x', '--recipe', `${HASH}:1`, '--days', '0'], /--days: a number/],
  ]) {
    const { code, stderr } = await run(...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, words);
  }
});

test('keys that no server would take are not written', async (t) => {
  const path = join(await folder(t), 'keys.json');
  const keys = (...recipes) =>
    run('keys', '--keys', path, '--days', '1', ...recipes.flatMap((one) => ['--recipe', one]));
  assert.match((await keys(`${HASH}:257`)).stderr, /257 tokens an account, 256 at most/);
  await assert.rejects(readFile(path), { code: 'ENOENT' });

  assert.equal(JSON.parse((await keys(`${HASH}:200`)).stdout).length, 1);
  const before = await readFile(path, 'utf8');
  assert.match((await keys(`${OTHER}:57`)).stderr, /257 tokens an account/);
  assert.match((await keys(`${HASH}:2`)).stderr, /has keys of abab.* with 200 tokens a day/);
  assert.equal(await readFile(path, 'utf8'), before);
  assert.equal(JSON.parse((await keys(`${OTHER}:56`)).stdout).length, 2);

  await writeFile(path, '{}');
  assert.match((await keys(`${HASH}:1`)).stderr, /keys: a list of keys is needed/);
  assert.equal(await readFile(path, 'utf8'), '{}');
});
