// SPDX-License-Identifier: Apache-2.0
// The page of threats: the claim in exactly its words, a section for each party, and for each line a test that exists.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { read, root } from './markdown.mjs';

const page = read('docs/threat-model.md');

/** The party sections: name and the rows of its table. @returns {[string, string[][]][]} */
function sections() {
  const parties = page.slice(page.indexOf('\n## Parties\n'));
  return parties
    .split(/^### /m)
    .slice(1)
    .map((text) => {
      const rows = [...text.matchAll(/^\| (.*) \|$/gm)]
        .slice(2)
        .map(([, cells]) => cells.split(/(?<!\\) \| /).map((cell) => cell.trim()));
      return [text.slice(0, text.indexOf('\n')), rows];
    });
}

/** Text with quotes as they are, whatever quoting a source needs. @param {string} text */
const plain = (text) => text.replace(/\\(['"`])/g, '$1');

test('the claim', () => {
  const claim =
    "edge, relay and aggregator need not be believed, if the page's code is the published one and relay and gateway do not collude.";
  const quoted = [...page.matchAll(/(?:^> .*\n)+/gm)].map(([text]) =>
    text.replace(/^> /gm, '').replace(/\s+/g, ' ').trim(),
  );
  assert.deepEqual(quoted, [claim]);
});

test('a section for each party', () => {
  assert.deepEqual(
    sections().map(([name]) => name),
    [
      'The person',
      'The page',
      'The site',
      'The relay',
      'The edge and its gateway',
      'The issuer',
      'The log',
      'The aggregator',
      'The analyst',
      'The leader and the helper',
      'The network',
      'The thief of a device',
      'Other pages and extensions',
      'The sender of fabricated reports',
      'Who makes the software',
    ],
  );
});

test('each line says what stops it, what is left, and which test tries it', () => {
  let lines = 0;
  /** @type {string[]} */
  const missing = [];
  for (const [party, rows] of sections()) {
    assert.ok(rows.length >= 2, party);
    for (const row of rows) {
      lines++;
      assert.equal(row.length, 4, `${party}: ${row[0]}`);
      for (const cell of row) assert.ok(cell.length > 2, `${party}: ${row[0]}: an empty cell`);
      const tests = [...row[3].matchAll(/`([^`]+)` "((?:[^"\\]|\\.)+)"/g)];
      assert.equal(tests.map(([whole]) => whole).join('; '), row[3], `${party}: ${row[0]}`);
      for (const [, file, title] of tests) {
        if (!existsSync(join(root, file))) missing.push(`${party}: there is no ${file}`);
        else if (!plain(read(file)).includes(plain(title)))
          missing.push(`${party}: ${file} has no test "${title}"`);
      }
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(lines >= 50, `${lines} lines`);
});
