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
import { Ajv2020 } from 'ajv/dist/2020.js';

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
  const says =
    /20,000 windows, ([\d,]+) with an event, 0 never sent; ([\d,]+) reports, ([\d,]+) of them/;
  const number = (/** @type {string} */ text) => Number(text.replaceAll(',', ''));
  const [, active, reports, none] = /** @type {RegExpMatchArray} */ (u.err.match(says)).map(number);
  assert.deepEqual([reports, none], [20000, 20000 - active]);
  assert.equal(number(/** @type {RegExpMatchArray} */ (f.err.match(says))[2]), active);
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

/** @param {string} name @param {string[]} more */
function collect(name, ...more) {
  simulate(name, ...more);
  rmSync(at(`${name}.acc`), { force: true });
  good(['ingest', '--recipe', `${name}.json`, '-o', `${name}.acc`, `${name}.batch`]);
}

/** @param {string} name @param {string[]} more */
const estimate = (name, ...more) =>
  good(['estimate', '--recipe', `${name}.json`, ...more, `${name}.acc`]).text;

test('results say what counts are a number of, and how surely', () => {
  writeFileSync(at('two.json'), JSON.stringify(recipe({ ...uniform, limit: { per_day: 2 } })));
  const schema = readFileSync(join(root, 'docs/schema/result.schema.json'), 'utf8');
  const isResult = new Ajv2020({ allowUnionTypes: true }).compile(JSON.parse(schema));
  /** @type {Record<string, any>} */
  const results = {};
  for (const name of ['u', 'f', 'two']) {
    collect(name);
    results[name] = JSON.parse(estimate(name, '--format', 'json'));
    assert.ok(isResult(results[name]), JSON.stringify(isResult.errors));
  }
  assert.deepEqual([results.u.unit, results.u.design_effect], ['windows', 1]);
  assert.deepEqual([results.two.unit, results.two.design_effect], ['windows', 2]);
  assert.ok(!('unit' in results.f) && !('design_effect' in results.f), 'reports, as ever');
  assert.ok(!isResult({ ...results.f, unit: 'reports' }), 'the schema knows windows alone');
  // one-hot, asymmetric: q = 1/(e^4 + 1), and n p (1 - p) for each report of a window.
  const q = 1 / (Math.exp(4) + 1);
  for (const [name, design] of Object.entries({ u: 1, f: 0, two: 2 })) {
    const { n, rows } = results[name];
    for (const row of rows) {
      const f = Math.min(Math.max(row.count, 0), n);
      const coins = (f / 4 + (n - f) * q * (1 - q)) / (0.5 - q) ** 2;
      const variance = coins + (design * f * (n - f)) / n;
      assert.ok(Math.abs(row.stderr ** 2 / variance - 1) < 1e-6, `${name} ${row.value}`);
    }
  }
  assert.match(estimate('u'), /^counts are windows \(days of a person\): a report counts/m);
  assert.match(estimate('two'), /^a window has up to 2 reports, and errors allow/m);
  assert.doesNotMatch(estimate('u'), /alike/);
  assert.doesNotMatch(estimate('f'), /windows/);
  const [head, row] = estimate('u', '--format', 'csv').split('\n');
  assert.equal(
    head,
    'value,count,stderr,low,high,detected,unit,fcr_low,fcr_high,rank_low,rank_high,adjusted,adjusted_low,adjusted_high',
  );
  assert.match(row, /,true,windows,/);
  assert.match(
    estimate('f', '--format', 'csv'),
    /^value,count,stderr,low,high,detected,fcr_low,fcr_high,rank_low,rank_high,adjusted,adjusted_low,adjusted_high\n/,
  );
});

test('compare: windows with windows only, and their picks are in both errors', () => {
  collect('u', '--first', '20000');
  writeFileSync(at('one.json'), readFileSync(at('u.json')));
  collect('one');
  collect('f');
  const run = (/** @type {string[]} */ ...args) =>
    good(['compare', '--recipe', 'u.json', ...args, 'one.acc', 'u.acc']).text;
  assert.match(run(), /^b less a, shares in % of windows, 95 % intervals$/m);
  assert.match(run('--of', 'count'), /^b less a, windows, 95 % intervals$/m);
  const { unit, rows } = JSON.parse(run('--format', 'json'));
  assert.equal(unit, 'windows');
  const q = 1 / (Math.exp(4) + 1);
  const n = 20000;
  /** @param {number} p */
  const coins = (p) => (p / 4 + (1 - p) * q * (1 - q)) / (0.5 - q) ** 2 / n;
  for (const row of rows) {
    const [a, b] = [row.a, row.b].map((x) => Math.max(x, 0));
    const interval = coins(a) + coins(b) + (a * (1 - a) + b * (1 - b)) / n;
    assert.ok(Math.abs(row.stderr ** 2 / interval - 1) < 1e-6, row.value);
    const same = Math.max((row.a + row.b) / 2, 0);
    const unchanged = 2 * coins(same) + (2 * same * (1 - same)) / n;
    assert.ok(Math.abs(row.z / (row.difference / Math.sqrt(unchanged)) - 1) < 1e-6, row.value);
  }
  refused(/pick events in different ways/, [
    ...['compare', '--recipe', 'u.json', '--recipe-b', 'f.json', 'u.acc', 'f.acc'],
  ]);
});

test('discover: counts of strings are of windows, too, and their errors have the picks in them', () => {
  const words = recipe({
    ...uniform,
    recipe: 'words',
    value: 'word',
    mechanism: 'sfp',
    parameters: {
      ...{ epsilon: 6, k: 1024, m: 256, length: 4, oracle: 'olh' },
      ...{ epsilon_fragment: 6, k_fragment: 1024, m_fragment: 256 },
    },
    hash: 'poly1',
    seed: '0123456789abcdef'.repeat(4),
  });
  writeFileSync(at('words.json'), JSON.stringify(words));
  writeFileSync(at('words.tsv'), 'cats\t3\ndog\t2\n');
  const files = ['--recipe', 'words.json', '--counts', 'words.tsv', '--truth', 'words.truth'];
  good(['simulate', ...files, ...crowd, '-o', 'words.batch']);
  good(['ingest', '--recipe', 'words.json', '-o', 'words.acc', 'words.batch']);
  const discover = ['discover', '--recipe', 'words.json', 'words.acc'];
  assert.match(good(discover).text, /^counts are windows \(days of a person\)/m);
  const { unit, n, rows } = JSON.parse(good([...discover, '--format', 'json']).text);
  assert.deepEqual([unit, n, rows.length], ['windows', 20000, 2]);
  const held = new Map(truth('words.truth').map(([value, , crowds]) => [value, Number(crowds)]));
  for (const row of rows) {
    const p = row.count / n;
    // At epsilon 6 the picks are most of the error.
    assert.ok(row.stderr ** 2 > n * p * (1 - p), row.value);
    assert.ok(row.stderr ** 2 < 2 * n * p * (1 - p), row.value);
    assert.ok(Math.abs(row.count - Number(held.get(row.value))) < 4 * row.stderr, row.value);
  }
});

const plan = ['plan', '--devices', '100000', '--epsilon', '4'];

test('plan: chooses the pick by the share of active windows, and says why', () => {
  for (const [active, pick] of Object.entries({ 0.05: 'first', 0.29: 'first', 0.3: 'uniform' })) {
    const args = [...plan, '--size', '100', '--active', active];
    const table = good([...args, '--recipe-out', 'planned.json']).text;
    assert.match(table, new RegExp(`^send +${pick}: `, 'm'));
    assert.match(table, /^smallest share .* of active windows is told from zero/m);
    const other = pick === 'first' ? 'uniform' : 'first';
    assert.match(table, new RegExp(`^instead +${other}: smallest share .* openings are off`, 'm'));
    const json = JSON.parse(good([...args, '--format', 'json']).text);
    assert.deepEqual([json.pick, json.active], [pick, Number(active)]);
    assert.equal(json.reports, Math.round(pick === 'first' ? 100000 * Number(active) : 100000));
    assert.ok(json.openings_break_even > 0 && json.other_pick_smallest_share > 0);
    const written = JSON.parse(readFileSync(at('planned.json'), 'utf8'));
    const send = pick === 'first' ? undefined : { pick: 'uniform', window: 'day' };
    assert.deepEqual(written.send, send);
  }
  const visits = [...plan, '--size', '100', '--active', '1', '--pages', 'one'];
  good([...visits, '--recipe-out', 'planned.json']);
  const { send } = JSON.parse(readFileSync(at('planned.json'), 'utf8'));
  assert.deepEqual(send, { pick: 'uniform', window: 'visit', delay_s: 0 });
  assert.match(good(visits).text, /uniform is closer whatever opens a day/);
});

test('plan: text is first without --active, in one line; other plans are as before', () => {
  assert.match(good([...plan, '--open']).text, /^send +first: it shows that something was typed/m);
  assert.doesNotMatch(good([...plan, '--size', '100']).text, /^send/m);
  const json = JSON.parse(good([...plan, '--open', '--format', 'json']).text);
  assert.ok(!('pick' in json) && !('active' in json));
  const mean = good([...plan, '--mean', '--low', '0', '--high', '1', '--active', '0.5']).text;
  assert.match(mean, /^send +first: a mean would count windows without events/m);
  const permanent = good([...plan, '--open', '--mechanism', 'rappor', '--active', '0.5']).text;
  assert.match(permanent, /^send +first: a permanent answer/m);
  refused(/--pages needs --active/, [...plan, '--size', '9', '--pages', 'one']);
  refused(/--pages is one or many/, [...plan, '--size', '9', '--active', '1', '--pages', 'two']);
  refused(/--active must be/, [...plan, '--size', '9', '--active', '0']);
  refused(/does not go with --surface/, [...plan, '--surface', '--active', '1']);
});

const fresh = ['recipe', 'new', '--id', 'fresh', '--expires', '2099-12-31'];

/** @param {string} text */
const sendOf = (text) => JSON.parse(text).send;

test('recipe new: the pick by --active, said in one line', () => {
  const plain = good(fresh);
  assert.equal(sendOf(plain.text), undefined);
  assert.match(plain.err, /^shoal: recipe: send\.pick first: it shows that something was typed/);
  assert.equal(plain.err.match(/^.*send\.pick.*$/gm)?.length, 1, 'one line');
  const active = [...fresh, '--active', '0.5'];
  const day = good(active);
  assert.deepEqual(sendOf(day.text), { pick: 'uniform', window: 'day' });
  assert.match(day.err, /^shoal: recipe: send\.pick uniform: /);
  const visit = { pick: 'uniform', window: 'visit', delay_s: 0 };
  assert.deepEqual(sendOf(good([...active, '--pages', 'one']).text), visit);
  assert.equal(sendOf(good([...fresh, '--active', '0.29']).text), undefined);
  const rappor = good([...active, '--mechanism', 'rappor']);
  assert.equal(sendOf(rappor.text), undefined);
  assert.match(rappor.err, /first: a permanent answer/);
  assert.doesNotMatch(good([...fresh, '--mechanism', 'rappor']).err, /send\.pick/, 'no choice');
  const pair = good([...active, '--variable', 'a=:1:3', '--variable', 'b=:1:2']);
  assert.deepEqual(sendOf(pair.text), { pick: 'uniform', window: 'day' });
  const stable = good([...active, '--variable', 'a=:1:3', '--variable', 'b=rappor:2']);
  assert.equal(sendOf(stable.text), undefined);
  for (const text of [day.text, pair.text]) {
    writeFileSync(at('fresh.json'), text);
    good(['recipe', 'check', 'fresh.json']);
  }
  const piped = spawnSync(bin, [...active, '--values', '-'], { cwd: folder, input: 'a\nb\n' });
  const both = JSON.parse(piped.stdout.toString());
  assert.deepEqual(both.parameters.values, ['a', 'b'], 'a list that can be read once');
  assert.deepEqual(both.send, { pick: 'uniform', window: 'day' });
  refused(/--pages goes with --active/, [...fresh, '--pages', 'one']);
  refused(/--pages is one or many/, [...active, '--pages', 'two']);
  refused(/--active must be/, [...fresh, '--active', '1.1']);
  refused(/--active: queries, tries and runs/, [...active, '--mechanism', 'trie']);
});

// script(1) runs a command on a terminal of its own.
const noTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status !== 0;

/** @param {string[]} args @param {string} input */
function onTerminal(args, input) {
  const out = ['-o', 'asked.json'];
  rmSync(at('asked.json'), { force: true });
  const line = [bin, ...args, ...out].join(' ');
  const run = spawnSync('script', ['-qec', line, '/dev/null'], { cwd: folder, input });
  assert.equal(run.status, 0, run.stdout.toString());
  return { said: run.stdout.toString(), send: sendOf(readFileSync(at('asked.json'), 'utf8')) };
}

test('recipe new: asks on a terminal for what no option says', { skip: noTerminal }, () => {
  const one = onTerminal(fresh, '0.5\none\n');
  assert.match(one.said, /In what share of visits .*\r\n.*From 0 to 1/);
  assert.match(one.said, /Is the site one page .*\r\n.*one or many: /);
  assert.deepEqual(one.send, { pick: 'uniform', window: 'visit', delay_s: 0 });
  const again = onTerminal(fresh, 'most\n0.5\nfew\nmany\n');
  assert.deepEqual(again.send, { pick: 'uniform', window: 'day' });
  const rare = onTerminal(fresh, '0.05\n');
  assert.equal(rare.send, undefined);
  assert.doesNotMatch(rare.said, /one or many/, 'it would decide nothing');
  const unknown = onTerminal(fresh, '\n');
  assert.equal(unknown.send, undefined);
  assert.match(unknown.said, /send\.pick first: it shows that something was typed/);
  const stated = onTerminal([...fresh, '--active', '0.5', '--pages', 'many'], '');
  assert.doesNotMatch(stated.said, /In what share|one or many/);
  const rappor = onTerminal([...fresh, '--mechanism', 'rappor'], '');
  assert.doesNotMatch(rappor.said, /In what share/);
});

test('recipe new: nothing is asked without a terminal', () => {
  const run = spawnSync(bin, fresh, { cwd: folder, input: '0.5\none\n' });
  assert.equal(run.status, 0);
  assert.equal(sendOf(run.stdout.toString()), undefined, 'the input is not read');
  assert.doesNotMatch(run.stderr.toString(), /In what share/);
});
