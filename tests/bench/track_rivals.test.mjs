// SPDX-License-Identifier: Apache-2.0
// shoal_track_rivals: THRESH, recomputing every epoch and memoized responses side by side; and what it refuses.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const bin =
  process.env.SHOAL_BIN ?? fileURLToPath(new URL('../../build/release/shoal', import.meta.url));
const rivals = process.env.SHOAL_TRACK_RIVALS ?? join(dirname(bin), 'shoal_track_rivals');
const folder = mkdtempSync(join(tmpdir(), 'shoal-rivals-'));
after(() => rmSync(folder, { recursive: true }));

const EPOCHS = 12;

/** @param {string} program @param {string[]} args */
const run = (program, args) =>
  spawnSync(program, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });

/** Runs a program that must succeed. @param {string} program @param {...string} args */
function good(program, ...args) {
  const done = run(program, args);
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

/** Runs a program that must refuse. @param {number} code @param {RegExp} says @param {...string} args */
function bad(code, says, ...args) {
  const done = run(rivals, args);
  assert.match(done.stderr, says);
  assert.equal(done.status, code, done.stderr);
  assert.equal(done.stdout, '');
}

/** Writes a recipe of 5,000 users. @param {string} mechanism @param {...string} more */
const recipe = (mechanism, ...more) =>
  good(
    bin,
    ...['recipe', 'new', '--id', 'rivals', '--mechanism', mechanism, '--users', '5000'],
    ...['--epochs', String(EPOCHS), '--samples', '20000', '--expires', '2099-12-31'],
    ...[...more, '-o', `${mechanism}.json`],
  );

recipe('thresh', '--epsilon', '16');
// a half until epoch 4, then 0.9, and from epoch 9 on 0.2
writeFileSync(join(folder, 'share.tsv'), '1\t0\t1\n1\t1\t1\n5\t0\t1\n5\t1\t9\n9\t0\t8\n9\t1\t2\n');
const args = ['--recipe', 'thresh.json', '--counts', 'share.tsv', '--seed', 'one'];

test('recomputing is worse by far at the same epsilon, memoizing is close and has no bound', () => {
  const result = JSON.parse(good(rivals, ...args, '--format', 'json', '--all'));
  assert.equal(result.rows.length, EPOCHS);
  const last = result.rows.at(-1);
  assert.equal(last.changes, 2);
  assert.ok(Math.abs(last.naive.privacy - 16) < 1e-9 && last.memoized.privacy === 16);
  assert.ok(last.thresh.privacy > 0 && last.thresh.privacy < 16);
  assert.ok(Math.abs(result.rows[2].naive.privacy - 4) < 1e-9, 'naive grows with epochs');
  assert.equal(result.rows[2].thresh.privacy, 0, 'thresh with changes');
  // The series of the simulated run is of the same devices, and naive has a standard error of
  // 0.5/(tanh(2/3) sqrt(5000)) = 0.0121 in 12 epochs of epsilon 4/3.
  good(bin, 'simulate', ...args, '-o', 'run');
  const series = JSON.parse(good(bin, 'track', 'run', '--truth', 'share.tsv', '--format', 'json'));
  assert.ok(Math.abs(last.thresh.rms_error - series.rms_error) < 1e-12);
  assert.ok(last.naive.rms_error > 0.005 && last.naive.rms_error < 0.022);
  assert.match(
    good(rivals, ...args),
    /naive +epsilon 1\.33333 in every epoch; its root mean square is/,
  );
  assert.match(
    good(rivals, ...args, '--format', 'csv'),
    /^epoch,changes,method,rms_error,max_error,privacy\n/,
  );
});

test('refused: no seed, another mechanism, more memory than there may be', () => {
  bad(2, /--seed is needed/, '--recipe', 'thresh.json', '--counts', 'share.tsv');
  recipe('heavythresh', '--value', 'item', '--epsilon', '16');
  bad(2, /not of a mean/, '--recipe', 'heavythresh.json', ...args.slice(2));
  bad(2, /--format is table, json or csv/, ...args, '--format', 'svg');
  bad(1, /memory/, ...args, '--devices', '1000000', '--memory', '50M');
});
