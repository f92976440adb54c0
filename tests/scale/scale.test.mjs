// SPDX-License-Identifier: Apache-2.0
// The drivers and the queue adapter of scale/, on an engine and a bucket of this machine. What they need from others is installed by exact
// versions and hashes into build/scale, once. SHOAL_LONG=1 adds Spark, JetStream and 4,000,000 records.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { readYaml } from '../deploy/compose_file.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const build = process.env.SHOAL_BUILD ?? join(root, 'build/release');
const isLong = process.env.SHOAL_LONG === '1';
const LIMIT_MS = isLong ? 3_600_000 : 300_000;
const env = {
  ...process.env,
  SHOAL: join(build, 'shoal'),
  PATH: `${build}${delimiter}${process.env.PATH}`,
  PYTHONPATH: join(root, 'scale'),
  PYTHONDONTWRITEBYTECODE: '1',
};

/** An environment with what a file names, made once. @param {string[]} files @returns {string} its Python */
function environment(files) {
  const needs = files.map((file) => join(root, 'scale', file));
  const bytes = Buffer.concat(needs.map((file) => readFileSync(file)));
  const mark = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  const tools = join(root, 'build/scale', `tools-${mark}`);
  const python = join(tools, 'bin/python');
  if (!existsSync(join(tools, 'is-complete'))) {
    mkdirSync(join(root, 'build/scale'), { recursive: true });
    execFileSync('python3', ['-m', 'venv', '--clear', tools]);
    const from = needs.flatMap((file) => ['-r', file]);
    const quiet = ['--quiet', '--disable-pip-version-check', '--require-hashes'];
    execFileSync(python, ['-m', 'pip', 'install', ...quiet, ...from], { stdio: 'pipe' });
    writeFileSync(join(tools, 'is-complete'), '');
  }
  return python;
}

/** @param {string} python @param {string[]} args @param {import('node:test').TestContext} t */
function passes(python, args, t) {
  const done = spawnSync(python, args, { env, encoding: 'utf8', timeout: LIMIT_MS });
  assert.equal(done.status, 0, `${done.stdout}\n${done.stderr}`);
  for (const line of done.stdout.split('\n')) if (line) t.diagnostic(line);
}

test('the annotations are complete', (t) => {
  const python = environment(['requirements-test.txt']);
  const modules = ['boto3', 'botocore', 'distributed', 'pyspark', 'nats'].map(
    (name) =>
      `[[tool.mypy.overrides]]\nmodule = ["${name}.*"]\nignore_missing_imports = true\nfollow_imports = "skip"\n`,
  );
  const config = join(root, 'build/scale/mypy.toml');
  writeFileSync(config, `[tool.mypy]\nstrict = true\n${modules.join('')}`);
  const cache = join(root, 'build/scale/mypy');
  passes(
    python,
    ['-m', 'mypy', '--config-file', config, '--cache-dir', cache, join(root, 'scale')],
    t,
  );
});

test('folds on Dask and a bucket: the bytes are those of one process', (t) => {
  passes(environment(['requirements-test.txt']), [join(root, 'tests/scale/test_scale.py')], t);
});

test(
  isLong
    ? 'Spark, JetStream and 4,000,000 records'
    : 'SKIPPED without SHOAL_LONG=1: Spark, JetStream, 4,000,000 records',
  { skip: !isLong },
  (t) => {
    const python = environment(['requirements-test.txt', 'requirements-spark.txt']);
    passes(python, [join(root, 'tests/scale/long_scale.py')], t);
  },
);
