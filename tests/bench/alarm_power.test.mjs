// SPDX-License-Identifier: Apache-2.0
// The table and the picture of docs/alarms.md are those of the figures, honest results have no alarm, and the program still finds what the table says.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { foundFrom, picture, readLines, table } from './alarm_power.mjs';

const read = (/** @type {string} */ name) =>
  readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const lines = readLines(read('tests/bench/alarm_power.tsv'));
/** Cells of a Markdown table, without what aligns them. @param {string} text */
const cells = (text) => text.replace(/ *\| */g, '|').replace(/-{3,}/g, '---');

test('docs/alarms.md has the table of the figures, docs/alarms.svg their picture', () => {
  assert.ok(
    cells(read('docs/alarms.md')).includes(cells(table(lines))),
    'node tests/bench/alarm_power.mjs --draw',
  );
  assert.equal(read('docs/alarms.svg'), picture(lines), 'node tests/bench/alarm_power.mjs --draw');
});

test('no honest collection of the study has an alarm, nor has a word that is pushed', () => {
  for (const { share, attack, power, mechanism } of lines)
    if (share === 0 || attack === 'one word pushed')
      assert.equal(power, 0, `${mechanism}, ${attack}, ${share}`);
});

test('a share counts as found where all larger ones are found too', () => {
  const line = (/** @type {number} */ share, /** @type {number} */ power) => ({
    mechanism: 'm',
    attack: 'a',
    share,
    power,
  });
  assert.equal(foundFrom([line(0, 0), line(0.1, 1), line(0.2, 0.95), line(0.5, 1)]), 0.1);
  assert.equal(foundFrom([line(0, 0), line(0.1, 1), line(0.2, 0.5), line(0.5, 1)]), 0.5);
  assert.equal(foundFrom([line(0, 1), line(0.5, 0.89)]), undefined);
});

const program =
  process.env.SHOAL_ALARM_POWER ??
  fileURLToPath(new URL('../../build/release/shoal_alarm_power', import.meta.url));

test(
  'one collection of each attack finds what the table finds at half',
  { skip: !existsSync(program) && `${program} is not built` },
  () => {
    const done = spawnSync(program, ['1', '10000'], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    for (const now of readLines(done.stdout)) {
      const then = lines.find(
        (line) =>
          line.mechanism === now.mechanism &&
          line.attack === now.attack &&
          line.share === now.share,
      );
      assert.ok(then, `${now.mechanism}, ${now.attack}, ${now.share}`);
      if (then.power === 1)
        assert.equal(now.power, 1, `${now.mechanism}, ${now.attack}, ${now.share}`);
      if (then.power === 0)
        assert.equal(now.power, 0, `${now.mechanism}, ${now.attack}, ${now.share}`);
    }
  },
);
