// SPDX-License-Identifier: Apache-2.0
// The temporary folder of a trial. Its name has the process's number, so that a later trial can remove
// what a killed one left.
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = /^shoal-dev-(\d+)-/;

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {any} */ (error).code !== 'ESRCH'; // another user's is running, too
  }
}

/** Removes folders of trials that no longer run. @param {string} parent */
async function removeLeft(parent) {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (pid > 0 && !isRunning(pid))
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * @param {string} [parent]
 * @returns {Promise<{path: string, remove: () => Promise<void>}>}
 */
export async function makeTemporary(parent = tmpdir()) {
  await removeLeft(parent);
  const path = await mkdtemp(join(parent, `shoal-dev-${process.pid}-`)); // mode 0700
  const removeNow = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  process.on('exit', removeNow); // also where closing failed
  return {
    path,
    async remove() {
      process.off('exit', removeNow);
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
