// SPDX-License-Identifier: Apache-2.0
// Every relative link of README.md and docs/ leads to a file of the repository, and every anchor to a heading.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { anchors, links, pages, read, root } from './markdown.mjs';

test('relative links and anchors resolve', () => {
  const broken = [];
  let n = 0;
  for (const page of pages) {
    for (const link of links(read(page))) {
      if (/^[a-z]+:/.test(link)) continue;
      n++;
      const [path, anchor] = link.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(root, target))) broken.push(`${page}: ${link}`);
      else if (anchor !== undefined && !anchors(read(target)).includes(anchor))
        broken.push(`${page}: ${link} (no such heading)`);
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(n > 10, `only ${n} links found`);
});
