// SPDX-License-Identifier: Apache-2.0
// Words as people type them, with capitals and in any normalization: a list of them comes back in small letters, from simulated
// devices and from the real client, through ingest and estimate. Recipes without a locale take lists as they stand.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { makeClient, newsRecipe, settle, wordsRecipe } from '../../../wasm/test/fixtures.mjs';
import { makeCli } from './cli_helpers.mjs';

const { good, read, release, remove, run, write } = makeCli('words');
after(release);

const LISTS = [
  {
    locale: 'tr',
    typed: ['İYİ', 'IŞIK', 'Ispanak', 'ÇOCUK', 'i\u0307ğne'],
    small: ['iyi', 'ışık', 'ıspanak', 'çocuk', 'iğne'],
  },
  {
    locale: 'de',
    typed: ['STRAẞE', 'Äpfel', 'ÜBER', 'İstanbul', 'Größe'],
    small: ['straße', 'äpfel', 'über', 'istanbul', 'größe'],
  },
  {
    locale: 'el',
    typed: ['ΟΔΟΣ', 'Άνθρωπος', 'ΣΟΦΌΣ', 'ΌΧΙ', 'Ψυχή'],
    small: ['οδος', 'άνθρωπος', 'σοφός', 'όχι', 'ψυχή'],
  },
  {
    locale: 'vi',
    typed: ['TIẾNG', 'Việt', 'ĐƯỜNG', 'Nguyễn', 'Ở'],
    small: ['tiếng', 'việt', 'đường', 'nguyễn', 'ở'],
  },
  {
    locale: 'hi',
    typed: ['हिन्दी', 'क\u093cलम', 'पानी', 'नमस्ते', 'ज़मीन'],
    small: ['हिन्दी', 'क\u093cलम', 'पानी', 'नमस्ते', 'ज\u093cमीन'],
  },
];
const EXPIRES = '2099-01-01';

/** @param {object} text */
const recipeOf = (text) =>
  wordsRecipe({
    expires: EXPIRES,
    parameters: { epsilon: 16, k: 2048, m: 1024 },
    limit: { per_day: 1000 },
    cohort: { minimum: 1 },
    text,
  });

/** Coins that are the same in every run. @param {string} seed */
function coins(seed) {
  let n = 0;
  return (/** @type {Uint8Array} */ bytes) => {
    for (let at = 0; at < bytes.length; at += 32)
      bytes.set(sha256(`${seed} ${n++}`).subarray(0, bytes.length - at), at);
  };
}

/** @param {string} text */
const sha256 = (text) => createHash('sha256').update(text).digest();

/** The lines of a list, one in each form. @param {string[]} words */
const mixed = (words) => words.map((word, i) => word.normalize(i % 2 ? 'NFC' : 'NFD'));

/** Folds a file into w.acc. @param {string} file */
function ingest(file) {
  remove('w.acc');
  good('ingest', '--recipe', 'r.json', '-o', 'w.acc', file);
}

/** What estimate finds, by value. @param {string[]} dictionary @param {string[]} [more] */
function estimated(dictionary, more = []) {
  write('words.txt', dictionary.map((word) => word + '\n').join(''));
  const { text } = good(
    ...['estimate', '--recipe', 'r.json', '--dictionary', 'words.txt', '--format', 'json'],
    ...[...more, 'w.acc'],
  );
  /** @type {{value: string, count: number}[]} */
  const rows = JSON.parse(text).rows;
  return new Map(rows.map(({ value, count }) => [value, count]));
}

for (const { locale, typed, small } of LISTS) {
  test(`${locale}: a list as typed is simulated and asked for as devices report it`, () => {
    write('r.json', recipeOf({ locale }));
    // Each word twice: as typed, and in small letters. The rule makes one value of both.
    const lines = [
      ...mixed(typed).map((word, i) => `${word}\t${(i + 1) * 100}`),
      ...small.map((word, i) => `${word}\t${(i + 1) * 100}`),
    ];
    // Hindi has no capitals. What is left of two equal lines is one.
    write('counts.tsv', [...new Set(lines)].map((line) => line + '\n').join(''));
    const simulated = good(
      ...['simulate', '--recipe', 'r.json', '--counts', 'counts.tsv', '--devices', '20000'],
      ...['--seed', '1', '--truth', 'truth.tsv', '-o', 'w.batch'],
    );
    assert.doesNotMatch(simulated.err, /text rule/);
    ingest('w.batch');
    const rows = estimated(mixed(typed));
    assert.deepEqual([...rows.keys()].sort(), [...small].sort());
    const total = [...rows.values()].reduce((sum, count) => sum + count, 0);
    assert.ok(Math.abs(total - 20000) < 400, `${total} of 20000 devices`);
  });

  test(`${locale}: the real client's words come back in small letters`, async () => {
    const recipe = recipeOf({ locale });
    write('r.json', recipe);
    const { client, clock, edge } = await makeClient({ recipes: [recipe], random: coins(locale) });
    await client.consent.grant();
    for (let i = 0; i < typed.length; i++)
      for (let n = 0; n <= i; n++)
        for (const word of [typed[i].normalize(n % 2 ? 'NFC' : 'NFD'), small[i]])
          await client.record('typed-words', word);
    await clock.advance(60_000);
    await settle();
    const bodies = edge.requests.map(({ body }) => JSON.stringify(body) + '\n');
    assert.equal(bodies.length, 30);
    write('w.ndjson', bodies.join(''));
    ingest('w.ndjson');
    const rows = estimated(typed);
    for (const [i, word] of small.entries())
      assert.ok(
        Math.abs((rows.get(word) ?? -99) - 2 * (i + 1)) < 1.5,
        `${word}: ${rows.get(word)}`,
      );
  });
}

test('case folding makes one word of two spellings', () => {
  write('r.json', recipeOf({ case: 'fold' }));
  write('counts.tsv', 'Straße\t500\nSTRASSE\t500\nstrasse\t500\nﬁsch\t100\nFISCH\t100\n');
  good(
    ...['simulate', '--recipe', 'r.json', '--counts', 'counts.tsv', '--devices', '20000'],
    ...['--seed', '1', '-o', 'w.batch'],
  );
  ingest('w.batch');
  const rows = estimated(['STRAẞE', 'Fisch']);
  assert.deepEqual([...rows.keys()], ['strasse', 'fisch']);
  assert.ok(Math.abs((rows.get('strasse') ?? 0) - 20000 * (15 / 17)) < 400, `${[...rows]}`);
});

test('a recipe without a locale takes lists as they stand', () => {
  write('r.json', recipeOf({ min: 1, case: 'lower', max: 31 }));
  write('counts.tsv', 'Fish\t500\nfish\t500\n');
  const { err } = good(
    ...['simulate', '--recipe', 'r.json', '--counts', 'counts.tsv', '--devices', '20000'],
    ...['--seed', '1', '-o', 'w.batch'],
  );
  assert.match(err, /line 1: the recipe's text rule would change this value/);
  ingest('w.batch');
  const rows = estimated(['Fish', 'fish']);
  assert.deepEqual([...rows.keys()].sort(), ['Fish', 'fish']);
  write('twice.tsv', 'fish\t500\nfish\t500\n');
  remove('x');
  const twice = run(
    ...[
      'simulate',
      '--recipe',
      'r.json',
      '--counts',
      'twice.tsv',
      '--devices',
      '10',
      '--seed',
      '1',
      '-o',
      'x',
    ],
  );
  assert.match(twice.err, /line 2: the value came before/);
});

test('a word that the rule refuses is warned of, and stays as it is', () => {
  write('r.json', recipeOf({ locale: 'tr', max: 4 }));
  write('counts.tsv', 'İYİ\t1\nIŞIKLAR\t1\nIŞIK\t1\n');
  const { err } = good(
    ...['simulate', '--recipe', 'r.json', '--counts', 'counts.tsv', '--devices', '10'],
    ...['--seed', '1', '-o', 'w.batch'],
  );
  assert.match(err, /line 2: the recipe's text rule would change this value/);
  assert.doesNotMatch(err, /line [13]:/);
});

test('the variables of a joint recipe are read as typed', () => {
  const { variables, ...recipe } = newsRecipe({ expires: EXPIRES, text: { locale: 'tr' } });
  write('r.json', { ...recipe, variables });
  write('typed.tsv', 'IŞIK\tyoung\t10\nİYİ\t\t10\n');
  write('small.tsv', 'ışık\tyoung\t10\niyi\t\t10\n');
  for (const name of ['typed', 'small'])
    assert.doesNotMatch(
      good(
        ...['simulate', '--recipe', 'r.json', '--counts', `${name}.tsv`, '--devices', '1000'],
        ...['--seed', '1', '-o', `${name}.batch`],
      ).err,
      /text rule/,
    );
  for (const name of ['typed', 'small'])
    good('ingest', '--recipe', 'r.json', '-o', `${name}.acc`, `${name}.batch`);
  assert.equal(read('typed.batch'), read('small.batch'), 'the same devices report the same');
});
