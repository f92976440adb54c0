// SPDX-License-Identifier: Apache-2.0
// Funnels from outside: steps simulated with a joint recipe, in every format; steps that are astray, what is withheld and refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { makeCli } from './cli_helpers.mjs';

const cli = makeCli('funnel');
const { bad, good, write } = cli;
after(() => cli.release());

write('yesno.txt', 'yes\nno\n');
write('other.txt', 'ja\nnein\n');
/** @param {string} id @param {string} list @param {object} [more] members of the recipe */
function makeRecipe(id, list, more) {
  const steps = ['step1', 'step2', 'step3'].flatMap((name) => [
    '--variable',
    `${name}=grr:2:${list}`,
  ]);
  good('recipe', 'new', '--id', id, ...steps, '--expires', '2099-12-31', '-o', `${id}.json`);
  write(`${id}.json`, { ...JSON.parse(cli.read(`${id}.json`)), ...more });
}
/** @param {string} id @param {string} counts */
function collect(id, counts) {
  write('counts.tsv', counts);
  const from = ['--recipe', `${id}.json`, '--counts', 'counts.tsv', '--devices', '20000'];
  good('simulate', ...from, '--seed', id, '-o', `${id}.batch`);
  good('ingest', '--recipe', `${id}.json`, '-o', `${id}.acc`, `${id}.batch`);
}
makeRecipe('checkout', 'yesno.txt');
collect('checkout', 'no\tno\tno\t40\nyes\tno\tno\t35\nyes\tyes\tno\t15\nyes\tyes\tyes\t10\n');
/** @param {string} id @param {...string} more */
const args = (id, ...more) => ['funnel', '--recipe', `${id}.json`, `${id}.acc`, ...more];

test('shares and rates are near those of the crowd', () => {
  const { n, astray, rows, converged, alarms } = JSON.parse(
    good(...args('checkout', '--format', 'json')).text,
  );
  assert.equal(n, 20000);
  assert.ok(converged);
  assert.deepEqual(alarms, []);
  const shares = [0.6, 0.25, 0.1];
  assert.deepEqual(
    rows.map((/** @type {any} */ row) => row.step),
    ['step1', 'step2', 'step3'],
  );
  rows.forEach((/** @type {any} */ row, /** @type {number} */ i) => {
    assert.ok(Math.abs(row.share - shares[i]) < 4 * row.stderr, JSON.stringify(row));
    assert.ok(row.stderr > 0.002 && row.stderr < 0.008, JSON.stringify(row));
    assert.ok(row.low < row.share && row.share < row.high);
    assert.ok(Math.abs(row.count - n * row.share) < 1e-6);
    if (i === 0) return assert.equal(row.rate, null);
    const rate = shares[i] / shares[i - 1];
    assert.ok(Math.abs(row.rate - rate) < 4 * row.rate_stderr, JSON.stringify(row));
    assert.ok(Math.abs(row.rate - row.share / rows[i - 1].share) < 1e-9);
    assert.ok(row.rate_low < row.rate && row.rate < row.rate_high);
  });
  assert.ok(astray.low === 0 && astray.high < 0.02);
});

test('shoal joint says that windows want --none', () => {
  makeRecipe('visits', 'yesno.txt', {
    send: { pick: 'uniform', window: 'visit', delay_s: 0 },
    limit: { per_day: 1 },
  });
  collect('visits', 'no\tno\tno\t40\nyes\tno\tno\t35\nyes\tyes\tno\t15\nyes\tyes\tyes\t10\n');
  const words = ['joint', '--recipe', 'visits.json', 'visits.acc', '--variables', 'step1,step2'];
  assert.match(good(...words).err, /joint: reports answer for windows.* take --none/);
  assert.equal(good(...words, '--none').err, '');
  assert.equal(good('joint', '--recipe', 'checkout.json', 'checkout.acc').err, '');
});

test('rows are the same in all formats, and the table names its steps', () => {
  const { rows } = JSON.parse(good(...args('checkout', '--format', 'json')).text);
  const lines = good(...args('checkout', '--format', 'ndjson'))
    .text.trim()
    .split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    rows,
  );
  const csv = good(...args('checkout', '--format', 'csv')).text.split('\n');
  assert.equal(csv[0], 'step,count,share,stderr,low,high,rate,rate_stderr,rate_low,rate_high');
  assert.match(csv[1], /^"step1",1[12]\d{3}\.\d,0\.\d+,0\.\d+,0\.\d+,0\.\d+,,,,$/);
  const text = good(...args('checkout')).text;
  assert.match(text, /^checkout: 20,000 reports, epsilon 6 a report, 95 % intervals$/m);
  assert.match(text, /^step1 +1[12],\d{3} +\d\d\.\d % +\d\d\.\d\.\.\d\d\.\d$/m);
  assert.match(
    text,
    /^step2 +\d,\d{3} +\d\d\.\d % +\d\d\.\d\.\.\d\d\.\d +\d\d\.\d % +\d\d\.\d\.\.\d\d\.\d$/m,
  );
  for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
});

test('the picture has a bar, a share and a rate for every step', () => {
  const svg = good(...args('checkout', '--format', 'svg')).text;
  assert.match(
    svg,
    /role="img" aria-labelledby="title desc">\n<title id="title">Funnel, checkout<\/title>/,
  );
  assert.equal(svg.match(/<rect x="168.0"/g)?.length, 3);
  assert.equal(svg.match(/ go on \(/g)?.length, 2);
  assert.ok(svg.trimEnd().endsWith('</svg>'));
});

test('devices that reached a step without the one before are told', () => {
  makeRecipe('links', 'yesno.txt');
  collect('links', 'no\tno\tno\t40\nno\tyes\tno\t20\nyes\tyes\tno\t30\nyes\tyes\tyes\t10\n');
  const { astray, rows } = JSON.parse(good(...args('links', '--format', 'json')).text);
  assert.ok(Math.abs(astray.share - 0.2) < 4 * astray.stderr && astray.low > 0.15);
  assert.ok(Math.abs(rows[1].share - 0.4) < 4 * rows[1].stderr); // not 0.6, the marginal
  assert.match(good(...args('links')).text, /of all reached a step without the one before$/m);
});

test('steps below the release threshold are withheld with their rates', () => {
  makeRecipe('hidden', 'yesno.txt', { release: { threshold: 3000 } });
  collect('hidden', 'no\tno\tno\t40\nyes\tno\tno\t35\nyes\tyes\tno\t20\nyes\tyes\tyes\t5\n');
  const { astray, rows } = JSON.parse(good(...args('hidden', '--format', 'json')).text);
  assert.equal(astray, null);
  assert.ok(rows[1].share > 0.2 && rows[1].rate > 0.3);
  for (const name of ['count', 'share', 'low', 'rate', 'rate_high'])
    assert.equal(rows[2][name], null);
  const svg = good(...args('hidden', '--format', 'svg')).text;
  assert.match(svg, />withheld</);
  assert.match(good(...args('hidden')).text, /^step3 +- +- +- +- +-$/m);
});

test('a window in which nothing happened reached no step', () => {
  makeRecipe('days', 'yesno.txt', { send: { pick: 'uniform', window: 'day' } });
  write('counts.tsv', 'yes\tno\tno\t35\nyes\tyes\tno\t15\nyes\tyes\tyes\t10\n');
  const from = ['--recipe', 'days.json', '--counts', 'counts.tsv', '--devices', '20000'];
  const windows = ['--active', '0.6', '--events', '1'];
  good('simulate', ...from, ...windows, '--seed', 'days', '-o', 'days.batch');
  good('ingest', '--recipe', 'days.json', '-o', 'days.acc', 'days.batch');
  const { rows } = JSON.parse(good(...args('days', '--format', 'json')).text);
  [0.6, 0.25, 0.1].forEach((share, i) =>
    assert.ok(Math.abs(rows[i].share - share) < 4 * rows[i].stderr, JSON.stringify(rows[i])),
  );
});

test('a limit of memory counts the estimate, which grows with the steps', () => {
  makeRecipe('days', 'yesno.txt', { send: { pick: 'uniform', window: 'day' } });
  const recipe = JSON.parse(cli.read('days.json'));
  const [step] = recipe.variables;
  const parameters = { ...step.parameters, epsilon: 1 };
  recipe.recipe = 'long';
  recipe.variables = [1, 2, 3, 4, 5, 6].map((i) => ({ ...step, parameters, name: `step${i}` }));
  write('long.json', recipe);
  write('long.tsv', `${Array(6).fill('yes').join('\t')}\t1\n`);
  const windows = ['--active', '0.6', '--events', '1', '--devices', '3000', '--seed', 'long'];
  good('simulate', '--recipe', 'long.json', '--counts', 'long.tsv', ...windows, '-o', 'long.batch');
  good('ingest', '--recipe', 'long.json', '-o', 'long.acc', 'long.batch');
  // Of 3^6 cells the matrices take 17 MB; the accumulator fits.
  bad(1, /takes up to \d+ MiB of memory; --memory allows 16/, ...args('long', '--memory', '16M'));
});

test('what is no funnel is refused by name', () => {
  makeRecipe('german', 'other.txt');
  collect('german', 'ja\tja\tja\t1\n');
  bad(2, /recipe german holds no funnel: variable step1 has no value "yes"/, ...args('german'));
  makeRecipe('few', 'yesno.txt', { cohort: { minimum: 30000 } });
  collect('few', 'yes\tyes\tyes\t1\n');
  bad(3, /20000 reports are fewer than its minimum cohort of 30000/, ...args('few'));
  bad(2, /takes one accumulator/, 'funnel', '--recipe', 'checkout.json');
  bad(
    2,
    /--format is table, json, ndjson, csv, arrow or svg/,
    ...args('checkout', '--format', 'x'),
  );
  good('joint', '--recipe', 'checkout.json', '--done', '-o', 'done.acc', 'checkout.acc');
  bad(3, /the records are gone/, 'funnel', '--recipe', 'checkout.json', 'done.acc');
});

const schema = (/** @type {string} */ name) =>
  JSON.parse(
    readFileSync(new URL(`../../../docs/schema/${name}.schema.json`, import.meta.url), 'utf8'),
  );
/** @type {any} */
const isFunnel = new Ajv2020({ strictTypes: false, allowUnionTypes: true })
  .addSchema(schema('result'), 'result.schema.json')
  .addSchema(schema('joint'), 'joint.schema.json')
  .compile(schema('funnel'));

test('JSON is as the schema says, with guarantees', () => {
  const result = JSON.parse(good(...args('checkout', '--format', 'json')).text);
  assert.ok(isFunnel(result), JSON.stringify(isFunnel.errors));
  assert.ok(!isFunnel({ ...result, more: 1 }) && !isFunnel({ ...result, rows: [{}] }));
  assert.equal(result.guarantees.central, null);
  assert.equal(result.guarantees.local.epsilon, 6);
  const stated = ['--block', '20000', '--honest', '1'];
  const { central } = JSON.parse(
    good(...args('checkout', '--format', 'json', ...stated)).text,
  ).guarantees;
  assert.ok(central.epsilon > 0.1 && central.epsilon < 3, `${central.epsilon}`);
  assert.match(
    good(...args('checkout', ...stated)).text,
    /\n\nepsilon per report .*\n(.*\n)*.*central/,
  );
  assert.match(good(...args('checkout', '--format', 'csv')).err, /epsilon per report/);
});
