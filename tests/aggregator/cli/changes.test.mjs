// SPDX-License-Identifier: Apache-2.0
// shoal changes from outside: twenty months in which one site came to have three times its visits, all output forms, names of
// periods, recipes of each period, and what is refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { makeCli, sketch } from './cli_helpers.mjs';

const { bad, good, read, release, write } = makeCli('changes');
after(release);

const SITES = 200;
const CHANGED = 13; // the first month with three times as many visits of site-8
const MONTHS = Array.from({ length: 20 }, (_, i) =>
  new Date(Date.UTC(2025, 4 + i, 1)).toISOString().slice(0, 7),
);
const files = MONTHS.map((month) => `${month}.acc`);
const asks = ['--recipe', 'r.json', '--dictionary', 'd.txt'];

/** @param {number} factor */
const counts = (factor) =>
  Array.from(
    { length: SITES },
    (_, i) => `site-${i}\t${Math.round((100000 / (i + 1)) * (i === 8 ? factor : 1))}\n`,
  ).join('');

before(() => {
  const parameters = { epsilon: 2, k: 1024, g: 8 };
  write('r.json', sketch({ mechanism: 'olh', hash: 'poly1', parameters }));
  write('d.txt', counts(1).replace(/\t.*/g, ''));
  MONTHS.forEach((month, i) => {
    write('c.tsv', counts(i < CHANGED ? 1 : 3));
    const where = ['--devices', '20000', '--first', String(20000 * i), '--seed', 'changes'];
    good('simulate', '--recipe', 'r.json', '--counts', 'c.tsv', ...where, '-o', 'b');
    good('ingest', '--recipe', 'r.json', '-o', `${month}.acc`, 'b');
  });
});

test('a site with three times its visits between two of twenty months is dated', () => {
  const result = JSON.parse(good('changes', ...asks, '--format', 'json', ...files).text);
  assert.equal(result.rows.length, SITES);
  assert.deepEqual(
    result.periods.map((/** @type {any} */ p) => [p.label, p.n]),
    MONTHS.map((month) => [month, 20000]),
  );
  assert.deepEqual(result.gaps, []);
  assert.equal(result.multiple, 'bh');
  assert.equal(result.shared_rows, true);
  const [row, next] = result.rows;
  assert.equal(row.value, 'site-8');
  assert.equal(row.change, 'rose');
  assert.equal(row.shape, 'step');
  assert.equal(row.since, MONTHS[CHANGED]);
  assert.ok(row.since_low <= row.since && row.since <= row.since_high);
  assert.ok(MONTHS.indexOf(row.since_high) - MONTHS.indexOf(row.since_low) <= 3);
  // 100,000/9 of 587,803 visits, and three times as many of 610,025.
  const truth = 33333 / 610025 - 11111 / 587803;
  assert.ok(row.fcr_low < truth && truth < row.fcr_high);
  assert.ok(row.before_low < 11111 / 587803 && 11111 / 587803 < row.before_high);
  assert.ok(row.after_low < 33333 / 610025 && 33333 / 610025 < row.after_high);
  assert.ok(Math.abs(row.after - row.before - row.difference) < 1e-12);
  assert.equal(next.detected, false);
  for (const name of ['change', 'since', 'since_low', 'before', 'difference', 'fcr_low'])
    assert.equal(next[name], null, name);
  assert.ok(
    result.rows.every(
      (/** @type {any} */ r, /** @type {number} */ i) => i === 0 || r.p >= result.rows[i - 1].p,
    ),
  );
});

test('table, NDJSON and CSV say the same, and a picture is drawn', () => {
  const json = JSON.parse(good('changes', ...asks, '--format', 'json', ...files).text);
  const table = good('changes', ...asks, '--top', '2', '--svg', 'p.svg', ...files).text;
  assert.match(table, /^\S+, 20 periods from 2025-05 to 2026-12, 400,000 reports, epsilon 2\n/);
  assert.match(table, new RegExp(`\nsite-8 .* rose since ${MONTHS[CHANGED]}`));
  assert.match(table, /cannot tell\n/);
  assert.match(table, /of such findings at most 5 % are false on average\n/);
  assert.match(table, /rows were selected \(1 of 3,800\)/);
  assert.match(table, /A person with a report in each of the 20 periods: epsilon 40\./);
  const lines = good('changes', ...asks, '--format', 'ndjson', ...files)
    .text.trim()
    .split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    json.rows,
  );
  const csv = good('changes', ...asks, '--format', 'csv', ...files).text.split('\n');
  assert.deepEqual(csv[0].split(','), Object.keys(json.rows[0]));
  assert.match(csv[1], new RegExp(`^"site-8",.*,true,rose,step,"${MONTHS[CHANGED]}",`));
  const svg = read('p.svg');
  assert.match(svg, /^<svg .*<\/svg>\n$/s);
  assert.match(svg, /1 of 200 values changed over 20 periods/);
  assert.equal(svg.match(/<circle/g)?.length, 20);
});

test('a side below the release threshold is withheld with all that it would follow from', () => {
  // Of site-8 some 378 visits a month before, 4,900 in 13 months, and 1,093 a month after.
  const parameters = { epsilon: 2, k: 1024, g: 8 };
  const release = { threshold: 6000 };
  write('secret.json', sketch({ mechanism: 'olh', hash: 'poly1', parameters, release }));
  const secret = MONTHS.map((month, i) => {
    write('c.tsv', counts(i < CHANGED ? 1 : 3));
    const where = ['--devices', '20000', '--first', String(20000 * i), '--seed', 'changes'];
    good('simulate', '--recipe', 'secret.json', '--counts', 'c.tsv', ...where, '-o', 'b');
    good('ingest', '--recipe', 'secret.json', '-o', `${month}-secret.acc`, 'b');
    return `${month}-secret.acc`;
  });
  const all = ['--recipe', 'secret.json', '--dictionary', 'd.txt'];
  const { rows } = JSON.parse(good('changes', ...all, '--format', 'json', ...secret).text);
  const [row] = rows;
  assert.equal(row.value, 'site-8');
  assert.deepEqual([row.detected, row.change], [true, 'rose']);
  for (const name of ['share', 'z', 'p', 'before', 'difference', 'stderr', 'fcr_low', 'fcr_high'])
    assert.equal(row[name], null, name);
  assert.ok(row.after > 0.04);
  for (const { before, after, z, detected, share } of rows.slice(1))
    assert.equal(share === null, detected && (before === null) !== (after === null), `${z}`);
});

test('periods are named, and missing ones told', () => {
  const some = [files[0], files[1], files[4], files[5]];
  const told = JSON.parse(good('changes', ...asks, '--format', 'json', ...some).text);
  assert.deepEqual(told.gaps, [{ after: MONTHS[1], before: MONTHS[4] }]);
  assert.match(good('changes', ...asks, ...some).text, /\nno period between 2025-06 and 2025-09\n/);
  const labels = ['<b>', '\x1b[31mred', 'c', 'd'].flatMap((label) => ['--label', label]);
  const named = good('changes', ...asks, '--multiple', 'none', ...labels, ...some).text;
  assert.match(named, /from <b> to d,/);
  assert.ok(!named.includes('\x1b'));
});

test('each period may have a recipe of its own, with the same parameters', () => {
  const parameters = { epsilon: 2, k: 1024, g: 8 };
  const seeds = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
  const own = seeds.flatMap((seed, i) => {
    write(`own-${i}.json`, sketch({ mechanism: 'olh', hash: 'poly1', parameters, seed }));
    write('c.tsv', counts(i < 2 ? 1 : 6));
    const where = ['--devices', '40000', '--seed', `own-${i}`];
    good('simulate', '--recipe', `own-${i}.json`, '--counts', 'c.tsv', ...where, '-o', 'b');
    good('ingest', '--recipe', `own-${i}.json`, '-o', `own-${i}.acc`, 'b');
    return ['--recipe', `own-${i}.json`];
  });
  const accs = seeds.map((_, i) => `own-${i}.acc`);
  const asked = ['changes', '--dictionary', 'd.txt', '--format', 'json'];
  const { rows, shared_rows } = JSON.parse(good(...asked, ...own, ...accs).text);
  assert.equal(rows[0].value, 'site-8');
  assert.equal(rows[0].since, 'own-2');
  assert.equal(shared_rows, false);
  bad(2, /2 recipes and 3 accumulators/, ...asked, ...own.slice(0, 4), ...accs);
  write(
    'other.json',
    sketch({ mechanism: 'olh', hash: 'poly1', parameters: { ...parameters, epsilon: 3 } }),
  );
  good(
    'simulate',
    '--recipe',
    'other.json',
    '--counts',
    'c.tsv',
    '--devices',
    '2000',
    '--seed',
    'x',
    '-o',
    'b',
  );
  good('ingest', '--recipe', 'other.json', '-o', 'other.acc', 'b');
  bad(
    2,
    /the recipes of periods own-0 and other differ in the epsilon/,
    ...[...asked, ...own.slice(0, 4), '--recipe', 'other.json', accs[0], accs[1], 'other.acc'],
  );
});

test('what is no series is refused', () => {
  const refused = (/** @type {RegExp} */ says, /** @type {string[]} */ ...args) =>
    bad(2, says, 'changes', ...args);
  refused(/takes two accumulators or more/, ...asks, files[0]);
  refused(/is given twice/, ...asks, files[0], files[1], files[0]);
  refused(/2025-05 comes after 2025-06/, ...asks, files[1], files[0]);
  refused(/1 labels and 2 accumulators/, ...asks, '--label', 'x', files[0], files[1]);
  refused(/two periods are named x/, ...asks, '--label', 'x', '--label', 'x', files[0], files[1]);
  good('merge', '-o', 'both.acc', files[0], files[1]);
  refused(/hold the same reports/, ...asks, files[0], 'both.acc');
  write('strange.txt', 'a\0b\n');
  refused(/NUL/, '--recipe', 'r.json', '--dictionary', 'strange.txt', files[0], files[1]);
  refused(/a dictionary is needed/, '--recipe', 'r.json', files[0], files[1]);
});

test('a period below the minimum cohort shows nothing', () => {
  write('strict.json', sketch({ cohort: { minimum: 3000 } }));
  write('c.tsv', counts(1));
  for (const [name, devices] of [
    ['large', '4000'],
    ['small', '2000'],
  ]) {
    const where = ['--devices', devices, '--seed', name];
    good('simulate', '--recipe', 'strict.json', '--counts', 'c.tsv', ...where, '-o', 'b');
    good('ingest', '--recipe', 'strict.json', '-o', `${name}.acc`, 'b');
  }
  const asked = ['changes', '--recipe', 'strict.json', '--dictionary', 'd.txt'];
  const says = /period small: 2000 reports are fewer than the minimum cohort of 3000/;
  bad(3, says, ...asked, 'large.acc', 'small.acc');
});
