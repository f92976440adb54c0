// SPDX-License-Identifier: Apache-2.0
// Runs the programs of bundlers as a developer would, and reads what they print.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PATIENCE_MS, scratch } from './support.mjs';

const env = {
  ...process.env,
  CI: undefined, // under CI, Next warns of a missing cache
  NO_COLOR: '1',
  NODE_ENV: undefined,
  NODE_TEST_CONTEXT: undefined,
  NEXT_TELEMETRY_DISABLED: '1',
};

/**
 * Installs packages by exact versions into a folder below build/, once for all runs.
 * @param {string} name of the folder
 * @param {Record<string, string>} packages
 * @returns {Promise<string>} the folder, with their node_modules
 */
export async function installExact(name, packages) {
  const folder = join(scratch, 'packages', name);
  await mkdir(folder, { recursive: true });
  const wanted = JSON.stringify({ name, private: true, dependencies: packages });
  const known = await readFile(join(folder, 'installed'), 'utf8').catch(() => '');
  if (known !== wanted) {
    await writeFile(join(folder, 'package.json'), wanted);
    await run(folder, ['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts']);
    await writeFile(join(folder, 'installed'), wanted);
  }
  return folder;
}

/** @param {string} folder @param {string[]} command a program of Node, or `npm` and its arguments */
function launch(folder, [program, ...args]) {
  const isNpm = program === 'npm';
  const child = spawn(isNpm ? 'npm' : process.execPath, isNpm ? args : [program, ...args], {
    cwd: folder,
    env: /** @type {any} */ (env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data));
  return { child, output: () => said };
}

/** Runs a program to its end. @param {string} folder @param {string[]} command @returns {Promise<string>} what it printed */
export async function run(folder, command) {
  const { child, output } = launch(folder, command);
  const code = await new Promise((done) => child.once('close', done));
  assert.equal(code, 0, `${command.join(' ')}: ${output()}`);
  return output();
}

/**
 * Starts a server, and ends it with the test.
 * @param {import('node:test').TestContext} t
 * @param {string} folder
 * @param {string[]} command
 * @param {RegExp} ready what it prints once it serves
 */
export async function start(t, folder, command, ready) {
  const { child, output } = launch(folder, command);
  const closed = new Promise((done) => child.once('close', done));
  const stop = async () => {
    child.kill();
    await closed;
  };
  t.after(stop);
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready: ${output()}`)), PATIENCE_MS);
    const look = () => {
      if (!ready.test(output())) return;
      clearTimeout(timer);
      resolve(undefined);
    };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', look);
    void closed.then(() => {
      clearTimeout(timer);
      reject(new Error(`ended: ${output()}`));
    });
  });
  return { output, stop };
}

/** @param {string} output of a bundler */
export function noWarning(output) {
  assert.doesNotMatch(output, /warn|error|externalized|deprecat|can't resolve|\(!\)|⚠/i, output);
  assert.ok(output.trim().length > 0, 'it printed something');
}
