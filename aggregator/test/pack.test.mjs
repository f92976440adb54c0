// SPDX-License-Identifier: Apache-2.0
// What is published: exactly these files, and they work and type-check in an empty project.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { packageFolder, recipes, succeed, temporaryFolder } from './support.mjs';

const require = createRequire(import.meta.url);

test('npm pack holds the command and its types, and installs into an empty project', (t) => {
  const folder = temporaryFolder(t);
  const [packed] = JSON.parse(
    succeed(['npm'], ['pack', '--json', '--pack-destination', folder], {
      cwd: packageFolder,
    }).stdout.toString(),
  );
  assert.deepEqual(packed.files.map((/** @type {{path: string}} */ file) => file.path).sort(), [
    'README.md',
    'dist/LICENSES.txt',
    'dist/shoal.wasm',
    'dist/types/command.d.ts',
    'dist/types/handler.d.ts',
    'dist/types/init.d.ts',
    'dist/types/memory_wasi.d.ts',
    'dist/types/node.d.ts',
    'dist/types/run.d.ts',
    'js/command.js',
    'js/external.js',
    'js/handler.js',
    'js/init.js',
    'js/memory_wasi.js',
    'js/native.js',
    'js/node.js',
    'js/run.js',
    'js/shoal.js',
    'package.json',
  ]);
  assert.ok(packed.size < 630_000, `${packed.size} bytes`); // every command that needs no server, with all mechanisms
  const { dependencies } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  assert.equal(dependencies, undefined);

  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  succeed(
    ['npm'],
    ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)],
    { cwd: project },
  );
  writeFileSync(join(project, 'recipe.json'), JSON.stringify(recipes.hcms));
  const hash = succeed(
    [join(project, 'node_modules/.bin/shoal')],
    ['recipe', 'hash', 'recipe.json'],
    { cwd: project },
  ).stdout.toString();
  assert.match(hash, /^[0-9a-f]{64}\n$/);

  const use = `
    import { readFileSync } from 'node:fs';
    import { run } from 'shoal-aggregator';
    import { createHandler } from 'shoal-aggregator/handler';
    const result = await run(['recipe', 'hash', 'r'], { files: { r: readFileSync('recipe.json') } });
    const code: number = result.code;
    process.stdout.write(code === 0 ? result.stdout : result.stderr);
    export const handle: (request: Request) => Promise<Response> = createHandler({
      module: new WebAssembly.Module(readFileSync('node_modules/shoal-aggregator/dist/shoal.wasm')),
      authorize: () => true,
    });
    // @ts-expect-error a name is not bytes
    export const wrong = () => run([], { files: { r: 'text' } });`;
  writeFileSync(join(project, 'use.mts'), use);
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  const types = join(dirname(dirname(require.resolve('@types/node/package.json'))));
  succeed(
    [process.execPath],
    [
      tsc,
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--typeRoots',
      types,
      '--types',
      'node',
      'use.mts',
    ],
    { cwd: project },
  );
  assert.equal(succeed([process.execPath], ['use.mjs'], { cwd: project }).stdout.toString(), hash);
});
