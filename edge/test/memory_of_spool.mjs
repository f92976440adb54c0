// SPDX-License-Identifier: Apache-2.0
// memory_of_spool.mjs DIR FORWARDED OPEN, with --expose-gc: opens a spool with FORWARDED keys in it, adds OPEN reports, and prints what
// memory that takes, and what the store says.

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SpoolStore } from '../spool_store.js';

const [dir, forwarded, open] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const RECORD_SIZE = 16;
const GROUP = 256;

function used() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

for (let left = forwarded; left > 0; left -= 250_000)
  writeFileSync(
    join(dir, `${randomBytes(16).toString('hex')}.400000.forwarded`),
    randomBytes(16 * Math.min(left, 250_000)),
  );
const crypto = { getRandomValues: (bytes) => globalThis.crypto.getRandomValues(bytes) };
const options = { recordSize: RECORD_SIZE, capacity: 2 * open + GROUP, crypto };
const before = used();
const store = await SpoolStore.open(dir, options);
const loaded = { memory: used() - before, said: store.state().bytes };
for (let n = 0; n < open; n += GROUP) {
  const hashes = Array.from({ length: GROUP }, () => new Uint8Array(randomBytes(16)));
  await store.add(hashes, randomBytes(GROUP * RECORD_SIZE), 400_001);
}
const added = { memory: used() - before, said: store.state().bytes };
process.stdout.write(JSON.stringify({ loaded, added }));
await store.close();
