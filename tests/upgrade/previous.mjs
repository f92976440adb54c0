// SPDX-License-Identifier: Apache-2.0
// The release before this one, built from this repository's history: `shoal`, the edge, and the core that its clients and its
// edge use. It is built once for each commit, into build/previous/COMMIT. The first build takes minutes.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The last commit of the release before. */
export const PREVIOUS = '3182067d';

/** What every report, batch and block of the tests is of. */
export const MINIMUM = 5;
export const RECIPE = {
  recipe: 'words',
  analysis: 'tests',
  stream: 'typed-words',
  value: 'word',
  mechanism: 'cms',
  parameters: { epsilon: 1, k: 64, m: 64 },
  hash: 'poly1',
  seed: '5a'.repeat(32),
  limit: { per_day: 1 },
  batch: { minimum: MINIMUM, max_age_s: 1 },
  cohort: { minimum: MINIMUM },
  block: { minimum: MINIMUM, tick_s: 1 },
  expires: '2099-12-31',
};

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A release's programs. @typedef {{shoal: string, edge: string, core: string}} Release */

/** @type {Release} */
export const present = {
  shoal: process.env.SHOAL_BIN ?? join(root, 'build/release/shoal'),
  edge: join(root, 'edge/bin/shoal-edge.js'),
  core: join(root, 'wasm/bindings/node.js'),
};

/** @param {string} dir @param {string} command @param {string[]} args */
function run(dir, command, ...args) {
  execFileSync(command, args, {
    cwd: dir,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_PATH: '/usr/share/nodejs' }, // emscripten's own modules
  });
}

/** Node finds the old packages beside the old edge, and the others in this checkout. @param {string} dir */
function linkPackages(dir) {
  const modules = join(dir, 'node_modules');
  mkdirSync(modules, { recursive: true });
  for (const [name, path] of [
    ['shoal-client', '../wasm'],
    ['shoal-relay', '../relay'],
  ])
    if (existsSync(join(modules, path)) && !existsSync(join(modules, name)))
      symlinkSync(path, join(modules, name));
}

/** Whether the history that the release is built from is there. */
export function hasHistory() {
  try {
    execFileSync('git', ['cat-file', '-e', `${PREVIOUS}^{commit}`], { cwd: root, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Builds the release before, unless that was done. @returns {Release} */
export function previous() {
  const dir = join(root, 'build/previous', PREVIOUS);
  const release = {
    shoal: join(dir, 'build/release/shoal'),
    edge: join(dir, 'edge/bin/shoal-edge.js'),
    core: join(dir, 'wasm/bindings/node.js'),
  };
  if (existsSync(join(dir, 'built'))) return release;
  if (!existsSync(join(dir, 'Makefile'))) {
    const partial = `${dir}.partial`;
    rmSync(partial, { recursive: true, force: true });
    mkdirSync(partial, { recursive: true });
    const tar = execFileSync('git', ['archive', PREVIOUS], { cwd: root, maxBuffer: 1 << 30 });
    execFileSync('tar', ['x', '-C', partial], { input: tar });
    mkdirSync(dirname(dir), { recursive: true });
    renameSync(partial, dir);
  }
  mkdirSync(join(dir, 'build'), { recursive: true });
  if (!existsSync(join(dir, 'build/deps')))
    symlinkSync(join(root, 'build/deps'), join(dir, 'build/deps'));
  run(dir, 'cmake', '--preset', 'release');
  run(dir, 'cmake', '--build', '--preset', 'release', '--target', 'shoal');
  run(dir, 'cmake', '--preset', 'emscripten');
  run(
    dir,
    'cmake',
    '--build',
    '--preset',
    'emscripten',
    '--target',
    'shoal_wasm_all',
    'shoal_wasm_dap',
  );
  linkPackages(dir);
  writeFileSync(join(dir, 'built'), '');
  return release;
}
