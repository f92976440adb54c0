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

/** @param {string} file */
const text = (file) => readFileSync(join(root, file), 'utf8');

test("the compose file and the workers' image name what is there", () => {
  const python = environment(['requirements-test.txt']);
  const { services, networks } = readYaml(text('scale/compose.yaml'));
  const container = text('scale/worker.Containerfile');
  const { version } = JSON.parse(text('package.json'));
  assert.equal(networks.lake.internal, true); // nothing of it is reached from outside
  const scripts = new Set();
  for (const [name, service] of Object.entries(/** @type {Record<string, any>} */ (services))) {
    assert.deepEqual([service.networks, service.ports], [['lake'], undefined], name);
    assert.match(service.image, /^(shoal-scale-worker|docker\.io\/[a-z/]+):\d+\.\d+/);
    if (!service.image.startsWith('shoal')) continue;
    assert.equal(service.image, `shoal-scale-worker:${version}`);
    const words = [...(service.entrypoint ?? ['python3']).slice(1), ...(service.command ?? [])];
    // The program is a module, or a script of the image; it knows every option that it is given.
    const isModule = words[0] === '-m';
    const program = isModule ? words[1] : words[0].replace('/opt/shoal/', '');
    if (!isModule) scripts.add(program);
    const run = isModule ? ['-m', program] : [join(root, 'scale', program)];
    const help = spawnSync(python, [...run, '--help'], { env, encoding: 'utf8' });
    assert.equal(help.status, 0, help.stderr);
    const flags = words.filter((word) => word.startsWith('--'));
    for (const flag of flags) assert.ok(help.stdout.includes(flag), `${name}: ${flag}`);
  }
  assert.deepEqual([...scripts].sort(), ['dask_fold.py', 'jetstream.py']);
  const copied = [...container.matchAll(/scale\/(\w+\.py)/g)].map((match) => match[1]);
  for (const script of scripts) assert.ok(copied.includes(script));
  for (const file of copied)
    for (const [, module] of text(`scale/${file}`).matchAll(/^(?:from|import) (\w+)/gm))
      if (existsSync(join(root, 'scale', `${module}.py`)))
        assert.ok(copied.includes(`${module}.py`), `${file} needs ${module}.py in the image`);
  // It loads the libraries that the aggregator's image has.
  const libraries = (/** @type {string} */ file) =>
    text(file)
      .match(/\blib[a-z]+\d+(?:-\d+)?\b/g)
      ?.sort();
  assert.deepEqual(
    libraries('scale/worker.Containerfile'),
    libraries('deploy/images/aggregator.Containerfile'),
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
