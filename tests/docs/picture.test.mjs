// SPDX-License-Identifier: Apache-2.0
// The picture of README.md is what today's commands answer, drawn by scripts/draw-result.mjs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { read, root } from './markdown.mjs';

test('the picture of a result is the one that the commands give', () => {
  const drawn = execFileSync(process.execPath, [join(root, 'scripts/draw-result.mjs')], {
    encoding: 'utf8',
  });
  assert.equal(drawn, read('docs/result.svg'));
});
