// SPDX-License-Identifier: Apache-2.0
// Programs that the steps of campaigns run, with their whole output in a file.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A program that is not there, or a build that fails: no finding, and no result either. */
export class CannotRun extends Error {}

/**
 * Runs a program from the root of the tree. When the signal comes, it and what it started end.
 * @param {string} log where its output goes
 * @param {AbortSignal | null} signal
 * @param {Record<string, string>} changes of the environment
 * @param {string} program @param {string[]} args
 * @returns {Promise<{code: number | null, output: string}>} code null: a signal ended it
 */
export async function runProgram(log, signal, changes, program, args) {
  const out = openSync(log, 'w');
  try {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...changes },
      stdio: ['ignore', out, out],
      detached: true, // a group of its own, so that its servers end with it
    });
    const stop = () => child.pid && process.kill(-child.pid, 'SIGTERM');
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    /** @type {number | null} */
    const code = await new Promise((resolve, reject) => {
      child.on('error', (error) => reject(new CannotRun(`${program}: ${error.message}`)));
      child.on('close', resolve);
    });
    signal?.removeEventListener('abort', stop);
    return { code, output: readFileSync(log, 'utf8') };
  } finally {
    closeSync(out);
  }
}

/** Builds, or throws CannotRun. @param {string} log @param {string[][]} commands */
export async function build(log, commands) {
  for (const [program, ...args] of commands) {
    const { code, output } = await runProgram(log, null, {}, program, args);
    if (code !== 0)
      throw new CannotRun(`${program} ${args.join(' ')} failed:\n${output.slice(-2000)}`);
  }
}
