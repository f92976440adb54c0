// SPDX-License-Identifier: Apache-2.0
// What the tests of connections share: an attacking process (slow_crowd.mjs), honest requests with their times, and a process's memory.

import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const CROWD = fileURLToPath(new URL('slow_crowd.mjs', import.meta.url));

/**
 * Starts an attack, which lasts until the test ends.
 * @param {import('node:test').TestContext} t
 * @param {object} attack  what slow_crowd.mjs takes
 */
export async function attackWith(t, attack) {
  const child = spawn(process.execPath, [CROWD, JSON.stringify(attack)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', (code) => reject(new Error(`the crowd ended with ${code}`)));
  });
}

/**
 * Runs honest requests one after another in a few lines, for some time, and returns their times in milliseconds, sorted. A request that
 * fails throws.
 * @param {() => Promise<void>} request
 * @param {{seconds: number, lines: number}} load
 */
export async function timesOf(request, { seconds, lines }) {
  const end = Date.now() + 1000 * seconds;
  /** @type {number[]} */
  const times = [];
  await Promise.all(
    Array.from({ length: lines }, async () => {
      while (Date.now() < end) {
        const began = performance.now();
        await request();
        times.push(performance.now() - began);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }),
  );
  return times.sort((a, b) => a - b);
}

/** @param {number[]} sorted @param {number} share */
export const quantile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** Bytes of memory that a process holds. @param {number} pid */
export async function residentBytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
}
