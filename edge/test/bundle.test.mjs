// SPDX-License-Identifier: Apache-2.0
// What is deployed to workerd: three files, with every mechanism and queries inside, and no larger than stated.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Core } from 'shoal-client/core';
import { readVectors } from '../../wasm/test/vectors.mjs';
import { bundleWorker } from '../bundle.js';

// [file, most bytes after gzip]
const LIMITS = [
  ['shoal-dap.wasm', 18_432],
  ['shoal.wasm', 45_312],
  // 310 bytes of it are the device's ledger, which the bindings carry. The gateway has 10,700: @hpke/core
  // 6,400, its own code and the codec of binary HTTP 4,300; the log's files 430;
  // tokens 2,100 beyond what they share; metrics with their help and the page of delivery 3,900; shards 1,070; the
  // bucket 900.
  ['worker.js', 37_120],
];

test('the bundle is three files within their sizes, and carries every mechanism', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-bundle-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  assert.equal(await bundleWorker(dir), join(dir, 'worker.js'));
  assert.deepEqual(
    (await readdir(dir)).sort(),
    LIMITS.map(([name]) => name),
  );
  for (const [name, limit] of LIMITS) {
    const size = gzipSync(await readFile(join(dir, name)), { level: 9 }).length;
    t.diagnostic(`${name}: ${size} of ${limit} bytes`);
    assert.ok(size <= limit, `${name} has ${size} bytes, more than ${limit}`);
  }
  const core = await Core.create(
    await WebAssembly.compile(await readFile(join(dir, 'shoal.wasm'))),
  );
  for (const { name, recipe, record } of await readVectors()) {
    const made = core.recipe(recipe);
    assert.equal(made.recordToText(made.recordFromText(record)), record, name);
    core.release(made);
  }
});
