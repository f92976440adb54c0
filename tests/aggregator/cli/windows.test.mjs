// SPDX-License-Identifier: Apache-2.0
// Windows through the commands: what simulate draws, and what results say that counts estimate.
// The command is $SHOAL_BIN or build/release/shoal.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');
/** @type {string} */
let folder;

/** @param {string} name */
const at = (name) => join(folder, name);

/** @param {string[]} args */
function shoal(args) {
  const run = spawnSync(bin, args, { cwd: folder, maxBuffer: 1 << 28 });
  return { code: run.status, text: run.stdout.toString(), err: run.stderr.toString() };
}

/** @param {string[]} args */
function good(args) {
  const run = shoal(args);
  assert.equal(run.code, 0, run.err);
  return run;
}

/** @param {RegExp} says @param {string[]} args */
function refused(says, args) {
  const run = shoal(args);
  assert.match(run.err, says);
  assert.equal(run.code, 2, run.err);
}

const values = Array.from({ length: 12 }, (_, i) => `site-${i}`);

/** @param {object} [more] */
const recipe = (more) => ({
  recipe: 'sites',
  analysis: 'sites',
  stream: 'visited',
  value: 'item',
  mechanism: 'onehot-asymmetric',
  parameters: { epsilon: 4, values },
  limit: { per_day: 1 },
  expires: '2099-12-31',
  ...more,
});

const uniform = { send: { pick: 'uniform', window: 'day' } };
const crowd = ['--devices', '20000', '--seed', 'people', '--active', '0.3', '--events', '1:2,4'];

/** @param {string} name @param {string[]} more */
function simulate(name, ...more) {
  const files = ['--recipe', `${name}.json`, '--counts', 'c.tsv', '--truth', `${name}.truth`];
  return good(['simulate', ...files, ...crowd, ...more, '-o', `${name}.batch`]);
}

/** @param {string} name */
const truth = (name) =>
  readFileSync(at(name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-windows-'));
  writeFileSync(at('c.tsv'), values.map((value, i) => `${value}\t${120 - 10 * i}\n`).join(''));
  writeFileSync(at('o.tsv'), 'site-11\t3\nsite-10\t1\n');
  writeFileSync(at('strange.tsv'), 'site-11\t3\nsite-0\t1\n');
  writeFileSync(at('few.tsv'), 'site-10\t1\nsite-11\t3\n');
  writeFileSync(at('u.json'), JSON.stringify(recipe(uniform)));
  writeFileSync(at('f.json'), JSON.stringify(recipe()));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('simulate: uniform and first meet the same windows, and say what they estimate', () => {
  const u = simulate('u', '--openings', 'o.tsv');
  const f = simulate('f', '--openings', 'o.tsv');
  const says = /20000 windows, (\d+) with an event, 0 never sent; (\d+) reports, (\d+) of them/;
  const [, active, reports, none] = /** @type {RegExpMatchArray} */ (u.err.match(says)).map(Number);
  assert.deepEqual([reports, none], [20000, 20000 - active]);
  assert.equal(Number(/** @type {RegExpMatchArray} */ (f.err.match(says))[2]), active);
  for (const [value, windows, crowds] of truth('u.truth')) {
    // Two of three active windows have one event, the others four: 3/4 of a window is its first event.
    const opening = { 'site-11': 0.75, 'site-10': 0.25 }[value] ?? 0;
    const all = (120 - 10 * Number(value.slice(5))) / 780;
    assert.ok(Math.abs(Number(crowds) - 6000 * (0.75 * opening + 0.25 * all)) < 1e-6, value);
    assert.ok(Math.abs(Number(windows) - Number(crowds)) < 4 * Math.sqrt(Number(crowds)), value);
    assert.equal((Number(windows) * 4) % 1, 0, 'quarters of windows');
  }
  const firsts = new Map(truth('f.truth').map(([value, count]) => [value, Number(count)]));
  assert.equal(firsts.size, 12);
  assert.equal(Number(firsts.get('site-11')) + Number(firsts.get('site-10')), active);
});

test('simulate: the same windows for every number of threads, others for another seed', () => {
  simulate('u', '--threads', '1', '--days', '2');
  const whole = readFileSync(at('u.batch'));
  const shares = readFileSync(at('u.truth'));
  simulate('u', '--threads', '3', '--days', '2');
  assert.deepEqual(readFileSync(at('u.batch')), whole);
  assert.deepEqual(readFileSync(at('u.truth')), shares);
  const other = crowd.map((word) => (word === 'people' ? 'others' : word));
  const files = ['--recipe', 'u.json', '--counts', 'c.tsv', '--days', '2', '-o', 'other.batch'];
  good(['simulate', ...files, ...other]);
  assert.notDeepEqual(readFileSync(at('other.batch')), whole);
});

test('simulate: a recipe of uniform without options has one event in each window', () => {
  const files = ['--recipe', 'u.json', '--counts', 'c.tsv', '--truth', 'one.truth'];
  good(['simulate', ...files, '--devices', '5000', '--seed', '1', '-o', 'one.batch']);
  const counts = truth('one.truth').map(([, windows]) => Number(windows));
  assert.ok(counts.every((count) => Number.isInteger(count)));
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    5000,
  );
});

test('simulate: windows that cannot be are refused', () => {
  const files = ['--recipe', 'u.json', '--counts', 'c.tsv', '--devices', '10', '--seed', '1'];
  for (const events of ['0', '1001', '1,', ',1', '1:0', '2:x', '-1', Array(17).fill('1').join()])
    refused(/--events of windows/, ['simulate', ...files, '--events', events, '-o', 'no']);
  for (const option of ['--active', '--gone', '--killed', '--favourites'])
    refused(new RegExp(option), ['simulate', ...files, option, '1.5', '-o', 'no']);
  refused(/--active/, ['simulate', ...files, '--active', '0', '-o', 'no']);
  refused(/from 1 to 1000/, ['simulate', ...files, '--days', '1001', '-o', 'no']);
  const few = files.map((word) => (word === 'c.tsv' ? 'few.tsv' : word));
  const strange = ['--openings', 'strange.tsv', '-o', 'no'];
  refused(/value 2 is not in the counts/, ['simulate', ...few, ...strange]);
  const query = {
    value: 'fields',
    encoding: [{ field: 'age', boundaries: [0, 50, 100] }],
    parameters: { epsilon: 4 },
  };
  writeFileSync(at('query.json'), JSON.stringify(recipe(query)));
  writeFileSync(at('events.tsv'), '{"age":3}\t1\n');
  refused(/not for queries/, [
    'simulate',
    ...['--recipe', 'query.json', '--counts', 'events.tsv', '--devices', '10', '--seed', '1'],
    ...['--active', '0.5', '-o', 'no'],
  ]);
});
