// SPDX-License-Identifier: Apache-2.0
// The edge as a command under Node. The tests are those of suite.mjs.

import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startEdge } from './runtimes.mjs';
import { edgeSuite, timesIn } from './suite.mjs';
import { makeRecipe, newReport, reportInit } from './support.mjs';

edgeSuite('node');

test('the search for times finds them', () => {
  const now = Date.UTC(2030, 0, 1, 0, 0, 1);
  const bytes = Buffer.alloc(40);
  for (const write of [
    () => bytes.writeUIntBE(now, 3, 6),
    () => bytes.writeUInt32LE(now / 1000, 17),
    () => bytes.writeBigInt64BE(BigInt(now) * 1_000_000n, 5),
    () => bytes.write(`${now}`, 2),
  ]) {
    bytes.fill(0);
    write();
    assert.ok(timesIn(bytes, now - 500, now + 500).length > 0);
  }
  assert.deepEqual(timesIn(Buffer.from('no time in here'.repeat(20)), now - 500, now + 500), []);
});

test('files of the spool are for their owner alone, whatever the umask', async (t) => {
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  const recipe = await makeRecipe();
  // Nobody listens there: what is accepted stays.
  const edge = await startEdge(t, 'node', { recipes: [recipe], aggregator: 'http://127.0.0.1:9' });
  for (let i = 0; i < 3; i++) {
    const response = await fetch(`${edge.url}/v1/reports`, reportInit(newReport(recipe)));
    assert.equal(response.status, 202);
  }
  const paths = (await readdir(edge.store, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  assert.ok(paths.length >= 2, paths.join(' '));
  for (const path of paths) assert.equal((await stat(path)).mode & 0o777, 0o600, path);
});
