// SPDX-License-Identifier: Apache-2.0
// Retention from outside: weeks simulated with the recipe of docs/recipes, in every format; labels, a week without an accumulator,
// small cohorts, and what is refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { makeCli } from './cli_helpers.mjs';

const cli = makeCli('retention');
const { bad, good, read, write } = cli;
after(() => cli.release());
const docs = new URL('../../../docs/', import.meta.url);
const schema = (/** @type {string} */ name) =>
  JSON.parse(readFileSync(new URL(`schema/${name}.schema.json`, docs), 'utf8'));
const isRetention = new Ajv2020({ strictTypes: false, allowUnionTypes: true })
  .addSchema(schema('result'), 'result.schema.json')
  .compile(schema('retention'));
const recipe = JSON.parse(readFileSync(new URL('recipes/visitors-week.json', docs), 'utf8'));
write('visits.json', recipe);

/** People who first came in a week, by week; those before the first one came at its rate. */
const cohorts = [9000, 9000, 12000, 6000];
const BACK = [1, 0.5, 0.4, 0.3];
/** Devices that report an age in a week. @param {number} week @param {number} age */
const truth = (week, age) => Math.round((cohorts[week - age] ?? 1000) * (BACK[age] ?? 0.2));

cohorts.forEach((_, week) => {
  const ages = [...Array(12).keys()].map((age) => `${age}\t${truth(week, age)}\n`);
  collect(`w${week + 1}`, `${ages.join('')}12 or more\t4000\n`);
});

/** Simulates exactly the devices that the counts say. @param {string} name @param {string} counts @param {string} [file] */
function collect(name, counts, file = 'visits.json') {
  const n = counts
    .trim()
    .split('\n')
    .reduce((sum, line) => sum + Number(line.split('\t')[1]), 0);
  write('counts.tsv', counts);
  const from = ['--recipe', file, '--counts', 'counts.tsv', '--devices', String(n)];
  good('simulate', ...from, '--seed', name, '--truth', `${name}.tsv`, '-o', `${name}.batch`);
  good('ingest', '--recipe', file, '-o', `${name}.acc`, `${name}.batch`);
}

/** How many devices had an age in a week, as the simulation drew them. @param {number} week @param {string} age */
const drawn = (week, age) =>
  Number(new RegExp(`^${age}\t(\\d+)$`, 'm').exec(read(`w${week}.tsv`))?.[1]);

const all = ['retention', '--recipe', 'visits.json', 'w1.acc', 'w2.acc', 'w3.acc', 'w4.acc'];
/** @param {...string} args @returns {any} as the schema says */
function retention(...args) {
  const result = JSON.parse(good(...args, '--format', 'json').text);
  assert.ok(isRetention(result), JSON.stringify(isRetention.errors));
  return result;
}

test('cohorts and totals are near those of the simulated devices', () => {
  const result = retention(...all);
  assert.equal(result.recipe, 'visitors-week-1');
  assert.equal(result.ages, 12);
  assert.equal(result.or_more, '12 or more');
  assert.deepEqual(
    result.rows.map((/** @type {any} */ row) => [row.cohort, row.age, row.week]),
    [
      ...[0, 1, 2, 3].flatMap((c) =>
        [...Array(4 - c).keys()].map((age) => [`w${c + 1}`, String(age), `w${c + age + 1}`]),
      ),
      ...[1, 2, 3, 4].map((week) => [null, '12 or more', `w${week}`]),
    ],
  );
  for (const row of result.rows) {
    const count = drawn(Number(row.week.slice(1)), row.age);
    assert.ok(Math.abs(row.count - count) < 4.5 * row.stderr, JSON.stringify(row));
    assert.ok(row.low < row.count && row.count < row.high);
    if (row.cohort === null) {
      assert.equal(row.why, 'several-ages');
      assert.equal(row.share, null);
      continue;
    }
    const share = count / drawn(Number(row.cohort.slice(1)), '0');
    if (row.age === '0') assert.deepEqual([row.share, row.share_stderr], [1, 0]);
    else assert.ok(Math.abs(row.share - share) < 4.5 * row.share_stderr, JSON.stringify(row));
    assert.equal(row.why, null);
  }
  result.weeks.forEach((/** @type {any} */ week, /** @type {number} */ i) => {
    const fresh = result.rows.find(
      (/** @type {any} */ row) => row.age === '0' && row.week === week.week,
    );
    assert.equal(week.n, fresh.n);
    assert.equal(week.new.count, fresh.count);
    assert.ok(Math.abs(week.new.count + week.returning.count - week.n) < 1e-6);
    assert.ok(Math.abs(week.returning.low - (week.n - week.new.high)) < 1e-6);
    assert.deepEqual(week.alarms, []);
    assert.equal(week.week, `w${i + 1}`);
  });
});

test('the table is a triangle that fits a terminal, also of many weeks', () => {
  const text = good(...all).text;
  assert.match(text, /^first week +\+1 +\+2 +\+3$/m);
  assert.match(text, /^w1( +\d\d\.\d){3}$/m);
  assert.match(text, /^w3 +\d\d\.\d$\n^ +\d+\.\.\d+$/m);
  assert.doesNotMatch(text, /^w4 +\d\d\.\d$/m);
  assert.match(
    text,
    /^week +visitors +new +returning$\n^w1 +[\d,]+ +[\d,]+ {2}[\d,]+\.\.[\d,]+ +[\d,]+ {2}[\d,]+\.\.[\d,]+$/m,
  );
  assert.match(text, /^first came 12 or more weeks before, of no single cohort$/m);
  const many = [...Array(20).keys()].map((i) => (i === 9 ? 'w1.acc' : '-'));
  for (const printed of [text, good('retention', '--recipe', 'visits.json', ...many).text])
    for (const line of printed.split('\n')) assert.ok(line.length <= 80, line);
});

test('rows are the same in all formats', () => {
  const { rows } = retention(...all);
  const lines = good(...all, '--format', 'ndjson')
    .text.trim()
    .split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    rows,
  );
  const csv = good(...all, '--format', 'csv')
    .text.trim()
    .split('\n');
  assert.equal(
    csv[0],
    'cohort,age,week,n,count,stderr,low,high,share,share_stderr,share_low,share_high,why',
  );
  assert.equal(csv.length, rows.length + 1);
  assert.match(csv[2], /^"w1","1","w2",\d+,\d+,\d+,\d+,\d+,0\.\d+,0\.\d+,0\.\d+,0\.\d+,$/);
  assert.match(csv.at(-1) ?? '', /^,"12 or more","w4",\d+,\d+,\d+,\d+,\d+,,,,,several-ages$/);
});

test('the picture has every share, names for readers, and no markup of labels', () => {
  const labels = '<script>,b&b,c,"d"';
  const svg = good(...all, '--weeks', labels, '--format', 'svg').text;
  assert.match(svg, /^<svg [^>]*role="img" aria-labelledby="title desc">/);
  assert.match(svg, /<title id="title">Retention, visitors-week-1<\/title>\n<desc id="desc">/);
  assert.equal(svg.match(/>\d+\.\d %</g)?.length, 6);
  assert.equal(svg.match(/ weeks? later: /g)?.length, 6);
  assert.ok(!svg.includes('<script') && !svg.includes('b&b'));
  assert.ok(svg.trimEnd().endsWith('</svg>'));
  bad(
    2,
    /room for 26 weeks/,
    'retention',
    '--recipe',
    'visits.json',
    ...Array(26).fill('-'),
    'w1.acc',
    '--format',
    'svg',
  );
});

test('labels name weeks; a week without an accumulator has nothing, and the others have', () => {
  const args = ['retention', '--recipe', 'visits.json', 'w1.acc', '-', 'w3.acc'];
  const { weeks, rows } = retention(...args, '--weeks', 'May 3,May 10,May 17');
  assert.deepEqual(weeks[1], { week: 'May 10', n: null, new: null, returning: null });
  const known = rows.filter((/** @type {any} */ row) => row.share !== null && row.age !== '0');
  assert.deepEqual(
    known.map((/** @type {any} */ row) => [row.cohort, row.age]),
    [['May 3', '2']],
  );
  for (const row of rows)
    if (row.cohort === 'May 10' || row.week === 'May 10')
      assert.equal(row.why, row.cohort === null ? 'several-ages' : 'no-week');
  const text = good(...args).text;
  assert.match(text, /^week 2 +- +- +-$/m);
  assert.match(text, /^-: no accumulator of the first week or of the later one$/m);
});

test('a cohort that cannot be told from zero has no shares, and says so', () => {
  collect('none1', '0\t5\n1\t3000\n2\t3000\n');
  collect('none2', '0\t3000\n1\t2000\n2\t2000\n');
  const args = ['retention', '--recipe', 'visits.json', 'none1.acc', 'none2.acc'];
  const { rows } = retention(...args);
  assert.equal(rows[1].share, null);
  assert.equal(rows[1].share_high, null);
  assert.equal(rows[1].why, 'small-cohort');
  assert.equal(typeof rows[1].count, 'number');
  assert.match(good(...args).text, /^none1 +small$/m);
  assert.match(good(...args).text, /^small: the cohort cannot be told from zero/m);
});

test('what cannot be is refused by name', () => {
  const short = ['retention', '--recipe', 'visits.json'];
  bad(2, /takes the accumulators of two weeks or more/, ...short, 'w1.acc');
  bad(
    2,
    /--weeks has 2 labels, and there are 3 accumulators/,
    ...short,
    '--weeks',
    'a,b',
    'w1.acc',
    'w2.acc',
    'w3.acc',
  );
  bad(2, /label 2 of --weeks is empty/, ...short, '--weeks', 'a,', 'w1.acc', 'w2.acc');
  bad(2, /no week has an accumulator/, ...short, '-', '-');
  bad(2, /w1 and w1: .*hold the same reports/, ...short, 'w1.acc', 'w1.acc');
  bad(2, /--format is table, json, ndjson, csv, arrow or svg/, ...all, '--format', 'xml');
  bad(5, /gone\.acc/, ...short, 'w1.acc', 'gone.acc');
  write('few.json', { ...recipe, recipe: 'few', cohort: { minimum: 20000 } });
  for (const week of ['a', 'b']) collect(week, '0\t12000\n1\t9000\n', 'few.json');
  collect('c', '0\t3000\n1\t2000\n', 'few.json');
  bad(
    3,
    /c: recipe few: 5000 reports are fewer than its minimum cohort of 20000/,
    ...['retention', '--recipe', 'few.json', 'a.acc', 'b.acc', 'c.acc'],
  );
  assert.match(
    bad(1, /w1\.acc/, 'retention', '--recipe', 'few.json', 'a.acc', 'w1.acc').err,
    /recipe/,
  );
  const theme = readFileSync(new URL('recipes/choices.json', docs), 'utf8');
  write('theme.json', theme);
  bad(
    2,
    /recipe theme-1 holds no retention: entry 1 of its list is not "0"/,
    ...['retention', '--recipe', 'theme.json', 'w1.acc', 'w2.acc'],
  );
});

test('counts below the release threshold are withheld, with what they would tell', () => {
  write('hidden.json', { ...recipe, recipe: 'hidden', release: { threshold: 4000 } });
  collect('h1', '0\t6000\n1\t1000\n2\t5000\n', 'hidden.json');
  collect('h2', '0\t1000\n1\t5000\n2\t5000\n', 'hidden.json');
  const args = ['retention', '--recipe', 'hidden.json', 'h1.acc', 'h2.acc'];
  const { weeks, rows } = retention(...args);
  assert.equal(weeks[1].new, null);
  assert.equal(weeks[1].returning, null);
  assert.equal(rows[1].why, null);
  assert.deepEqual(
    [rows[2].cohort, rows[2].count, rows[2].share, rows[2].why],
    ['h2', null, null, 'withheld'],
  );
  assert.match(good(...args).text, /^h2 +11,000 +withheld +withheld$/m);
});

test('guarantees are those of the smallest week, and of a person in all', () => {
  const sizes = retention(...all).weeks.map((/** @type {any} */ week) => week.n);
  const bare = retention(...all).guarantees;
  assert.equal(bare.central, null);
  assert.equal(bare.local.epsilon, 2);
  const { central } = retention(...all, '--block', '5000', '--honest', '0.9').guarantees;
  const least = Math.min(...sizes);
  assert.ok(central.reports <= Math.max(5000, least) && central.epsilon < 1, `${central.epsilon}`);
  const { text } = good(...all, '--block', '5000', '--honest', '0.9');
  assert.match(text, /\nA person with a report in each of the 4 weeks: epsilon 8\.\n$/);
  assert.match(text, /central epsilon/);
  const rows = good(...all, '--format', 'csv');
  assert.match(rows.err, /epsilon per report/);
  bad(2, /honest/, ...all, '--honest', '2');
});
