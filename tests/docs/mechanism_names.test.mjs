// SPDX-License-Identifier: Apache-2.0
// Mechanisms are named in core/mechanism/mechanisms.def and core/compound/compounds.def, and in
// files of their own, whose names hold the stem. No other file of the aggregator names one: what it
// has to know of a mechanism is a member of a descriptor.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const rows = ['core/mechanism/mechanisms.def', 'core/compound/compounds.def'].flatMap((path) => [
  ...readFileSync(join(root, path), 'utf8').matchAll(
    /^SHOAL_(?:MECHANISM|COMPOUND)\(\d+, (\w+), "([\w-]+)"\)$/gm,
  ),
]);
const mechanisms = rows.map(([, stem, name]) => ({ stem, name }));
const compounds = rows.filter(([row]) => row.includes('COMPOUND')).map(([, stem]) => stem);

// Files that name mechanisms although they are nobody's own, each with the reason.
const EXCEPTIONS = {
  'discovery_plan.c': 'the plan of discovery puts exactly two ways side by side, by name',
  'ngram_plan.c': 'the plan of rappor-ngram, whose parts are those of rappor',
  'rappor_sketch.c': 'a record is a row and its bits, as one of cms, and is added by the same loop',
  'shoal.c': 'joint is the name of a command, too',
  'cmd_joint.c': 'joint is the name of a command, too',
};

// A file is a mechanism's own where its name holds the stem between underscores. A compound's own
// files may name the mechanisms that it is made of.
/** @param {string} path @param {string} stem */
const holds = (path, stem) => `_${basename(path).replace(/\.[ch]$/, '')}_`.includes(`_${stem}_`);
/** @param {string} path @param {string} stem */
const isOwn = (path, stem) =>
  holds(path, stem) || compounds.some((compound) => holds(path, compound));

// The lines of a C file that name a mechanism whose own file it is not. Comments are left out, and
// words of messages: only a string that is a mechanism's name and nothing else counts.
/** @param {string} path @param {string} text */
function namingLines(path, text) {
  /** @type {string[]} */
  const found = [];
  const code = text.replace(/\/\/.*$/gm, '').split('\n');
  for (const { stem, name } of mechanisms) {
    if (isOwn(path, stem)) continue;
    const names = new RegExp(
      `\\b(?:shoal|agg)_${stem}_(?:id|mechanism|compound|sketch|estimator|account|discoverer|draft|check)\\b` +
        `|(?<!\\w)"${name}"`,
    );
    code.forEach((line, i) => {
      if (names.test(line) && !/^\s*#include/.test(line)) found.push(`${path}:${i + 1}: ${name}`);
    });
  }
  return found;
}

const files = readdirSync(join(root, 'aggregator'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.[ch]$/.test(path))
  .map((path) => `aggregator/${path}`);
/** @param {string} path */
const namesOf = (path) => namingLines(path, readFileSync(join(root, path), 'utf8'));

test('no file of the aggregator names a mechanism but its own files', () => {
  assert.ok(mechanisms.length >= 16 && files.length > 300);
  const excepted = new Set(Object.keys(EXCEPTIONS));
  assert.deepEqual(
    files.filter((path) => !excepted.has(basename(path))).flatMap(namesOf),
    [],
    'what such a file knows belongs into a descriptor: docs/design/adding-a-mechanism.md',
  );
});

test('a planted name is found, and words and comments are not', () => {
  const path = 'aggregator/account/planted.c';
  assert.deepEqual(namingLines(path, 'int a;\nif (part->mechanism == shoal_grr_id) return;\n'), [
    `${path}:2: grr`,
  ]);
  assert.deepEqual(namingLines(path, 'strcmp(name, "rappor-ngram");'), [`${path}:1: rappor-ngram`]);
  assert.deepEqual(namingLines(path, 'x = &agg_hcms_account;'), [`${path}:1: hcms`]);
  assert.deepEqual(namingLines('aggregator/account/grr_account.c', 'a = shoal_grr_id;'), []);
  assert.deepEqual(namingLines('aggregator/discover/next_trie.c', 'a = shoal_trie_id;'), []);
  assert.deepEqual(namingLines('aggregator/account/grr_account.c', 'a = shoal_olh_id;'), [
    'aggregator/account/grr_account.c:1: olh',
  ]);
  assert.deepEqual(
    namingLines(path, '// shoal_grr_id\nfail("--surface is for cms and hcms");'),
    [],
  );
});
