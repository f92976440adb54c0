// SPDX-License-Identifier: Apache-2.0
// shoal_fold, shoal_merge and shoal_estimate in DuckDB: they give what the commands give, and refuse in their words.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeCli } from '../aggregator/cli/cli_helpers.mjs';
import { makePython, root } from './arrow_helpers.mjs';

const cli = makeCli('sql');
after(cli.release);
const build = process.env.SHOAL_BUILD ?? join(root, 'build/release');
const extension = join(build, 'shoal.duckdb_extension');

/** Brings the header of DuckDB's C API where cargo is. */
function bringHeader() {
  if (existsSync(join(root, 'build/deps/duckdb/VERSION'))) return true;
  if (spawnSync('cargo', ['--version']).error) return false;
  execFileSync(join(root, 'scripts/fetch-packages.sh'), ['duckdb'], { stdio: 'inherit' });
  return true;
}
const hasHeader = bringHeader();
const skip = hasHeader ? false : "SKIPPED: cargo is needed to bring the header of DuckDB's C API";

/** @param {string} id @param {object} more */
const recipe = (id, more) => ({
  recipe: id,
  analysis: 'tests',
  stream: 's',
  value: 'item',
  limit: { per_day: 1 },
  cohort: { minimum: 10 },
  expires: '2099-12-31',
  ...more,
});

/** @param {string} name @param {string} file @param {string[]} more */
function simulate(name, file, ...more) {
  const from = ['--recipe', `${name}.json`, '--counts', `${name}.tsv`, '--devices', '3000'];
  cli.good('simulate', ...from, '--seed', 'fish', '-o', file, ...more);
}

before(() => {
  if (!hasHeader) return;
  if (!existsSync(extension)) {
    // The build sees a header that came after it was configured.
    execFileSync('cmake', [build], { stdio: 'ignore' });
    execFileSync('cmake', ['--build', build, '--target', 'shoal_duckdb'], { stdio: 'ignore' });
  }
  const grr = { mechanism: 'grr', parameters: { epsilon: 3, values: ['a', 'b', 'я', '=1'] } };
  cli.write('grr.json', recipe('grr', { ...grr, release: { threshold: 60 } }));
  cli.write('grr.tsv', 'a\t5\nb\t3\nя\t2\n');
  simulate('grr', 'grr.batch');
  simulate('grr', 'grr.ndjson', '--format', 'ndjson');
  cli.good('ingest', '--recipe', 'grr.json', '-o', 'grr.acc', 'grr.batch');
  cli.good(
    'estimate',
    '--recipe',
    'grr.json',
    '--format',
    'json',
    '-o',
    'grr.rows.json',
    'grr.acc',
  );
  const cms = { parameters: { epsilon: 6, k: 4, m: 64 }, hash: 'poly1', seed: 'b8'.repeat(32) };
  cli.write('cms.json', recipe('cms', { ...cms, mechanism: 'cms', value: 'word' }));
  cli.write('cms.tsv', 'cat\t9\ndog\t1\n');
  simulate('cms', 'cms.ndjson', '--format', 'ndjson');
  const policed = { policy: 'ab'.repeat(32), version: 1 };
  const cohort = { minimum: 200_000, epsilon: 0.5, delta: '1e-9' };
  const query = {
    value: 'fields',
    encoding: [{ field: 'age', boundaries: [20] }],
    ...policed,
    cohort,
  };
  const summed = { mechanism: 'onehot-symmetric', parameters: { epsilon: 4 } };
  cli.write('sum.json', recipe('sum', { ...query, ...summed, aggregation: { protocol: 'sum' } }));
  const leader = 'http://127.0.0.1:1';
  const servers = { protocol: 'dap', leader, helper: 'http://127.0.0.1:2' };
  const parts = {
    mechanism: 'onehot-asymmetric',
    parameters: { epsilon: 4, values: ['a', 'b', 'c'] },
  };
  cli.write('dap.json', recipe('dap', { ...parts, aggregation: servers }));
});

test('SQL gives what the commands give', { skip }, () => {
  const script = join(root, 'tests/arrow/check_sql.py');
  const options = /** @type {const} */ ({ cwd: cli.path('.'), encoding: 'utf8' });
  assert.equal(
    execFileSync(makePython(), [script, extension, join(root, 'docs/sql.md')], options),
    'ok\n',
  );
});

test('the extension says which DuckDB it is for', { skip }, () => {
  const bytes = readFileSync(extension);
  const foot = bytes.subarray(-534);
  assert.equal(foot.subarray(4, 20).toString(), 'duckdb_signature');
  const fields = Array.from({ length: 8 }, (_, i) =>
    foot
      .subarray(22 + 32 * i, 54 + 32 * i)
      .toString()
      .replace(/\0+$/, ''),
  );
  assert.deepEqual(fields.slice(3, 4).concat(fields.slice(5, 6), fields.slice(7)), [
    'C_STRUCT',
    'v1.2.0',
    '4',
  ]);
  assert.ok(
    foot.subarray(-256).every((byte) => byte === 0),
    'it has no signature',
  );
});
