// SPDX-License-Identifier: Apache-2.0
// The page of promises: its table has a row and a section for each adversary, promises about budgets
// say how long they hold, and the files and tests that are said to enforce a claim exist.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { anchors, codes, prose, read, root, tableBelow } from './markdown.mjs';

const PAGE = 'docs/privacy.md';
const page = read(PAGE);

/** Names of the files of a folder and those below. @param {string} folder @returns {string[]} */
const below = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
    ['node_modules', 'dist'].includes(entry.name)
      ? []
      : entry.isDirectory()
        ? below(`${folder}/${entry.name}`)
        : [`${folder}/${entry.name}`],
  );

test('one row and one section an adversary', () => {
  const rows = tableBelow(page, 'Who sees what');
  const named = rows.map(([who]) => /^\[(.+)\]\(#(.+)\)$/.exec(who)?.slice(1) ?? [who, '']);
  assert.deepEqual(
    named.map(([who]) => who),
    [
      'the network',
      'a relay',
      'the edge',
      'the aggregator',
      'an analyst',
      'another analyst',
      'the public',
      'a sender who floods',
      'the site itself',
      'whoever holds the device',
    ],
  );
  for (const [who, anchor] of named) assert.ok(anchors(page).includes(anchor), who);
  for (const [who, sees, promised, , , not] of rows)
    assert.ok(sees && promised && not, `${who}: what is seen, promised and not promised`);
});

test('what is never refilled is so while storage lives', () => {
  const paragraphs = prose(page)
    .split(/\n\n+|\n(?=- |\d\. |\|)/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' '));
  const promises = paragraphs.filter((paragraph) => /\brefill/.test(paragraph));
  assert.ok(promises.length >= 3);
  for (const promise of promises) assert.match(promise, /while storage lives/i);
});

test('the words of an epsilon', () => {
  const rows = [
    ...read('core/budget/verdicts.def').matchAll(/^SHOAL_VERDICT\(\w+, (\w+), "(.+)"\)$/gm),
  ].map(([, most, words]) => {
    if (most === 'UINT64_MAX') return ['above', words, '', ''];
    const odds = Math.exp(Number(most) / 1e6);
    const unit = odds < 100 ? 0.1 : 10 ** (Math.floor(Math.log10(odds)) - 2);
    return [
      String(Number(most) / 1e6),
      words,
      (Math.ceil(odds / unit) * unit).toLocaleString('en-US', { maximumFractionDigits: 1 }),
      `${Math.ceil((1e4 * odds) / (1 + odds)) / 100} times in 100`,
    ];
  });
  assert.deepEqual(tableBelow(page, 'In words'), rows);
});

test('what enforces a claim exists', () => {
  const files = ['core', 'aggregator', 'wasm', 'edge', 'tests'].flatMap(below);
  const names = new Set(files.map((file) => basename(file)));
  /** @param {string} name */
  const exists = (name) => {
    if (name.includes('*')) {
      const pattern = name.replace(/[.]/g, '\\.').replaceAll('*', '[^/]*');
      return files.some((file) => new RegExp(`^${pattern}$`).test(file));
    }
    return name.includes('/')
      ? existsSync(join(root, name))
      : names.has(name) || names.has(`${name}.c`);
  };
  const rows = tableBelow(page, 'What is enforced in code, and by which test');
  const named = rows.flatMap(([, where, by]) => codes(`${where} ${by}`));
  assert.ok(named.length > 30);
  assert.deepEqual(
    named.filter((name) => !exists(name)),
    [],
  );
});
