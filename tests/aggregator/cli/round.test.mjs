// SPDX-License-Identifier: Apache-2.0
// shoal round next from outside: three rounds of phrases, a refined number, what is refused and leaves nothing behind.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeCli } from './cli_helpers.mjs';

const cli = makeCli('round');
const { bad, good, read, write } = cli;
after(() => cli.release());

const TOKENS = ['a', 'and', 'got', 'home', 'i', 'school', 'to', 'went', 'you'];

/** @param {object} [more] @returns {Record<string, any>} */
const query = (more) => ({
  recipe: 'ngrams-1',
  analysis: 'keyboard',
  stream: 'typed-phrases',
  value: 'fields',
  encoding: [
    { field: 'age', boundaries: [20, 30, 40] },
    { field: 'phrase', prefixes: [''], tokens: TOKENS },
  ],
  mechanism: 'subset',
  parameters: { epsilon: 4 },
  limit: { per_day: 1 },
  cohort: { minimum: 5000, epsilon: 0.5, delta: '1e-9' },
  policy: 'ab'.repeat(32),
  version: 3,
  round: { index: 1 },
  aggregation: { protocol: 'sum' },
  expires: '2099-01-31',
  ...more,
});

// Shares 0.4, 0.3, 0.2 and 0.1: of 20,000 devices each phrase has 2,000 reports at least, ten times what noise can make.
write(
  'events.tsv',
  [
    '{"phrase":"i went home","age":24}\t40',
    '{"phrase":"i went to school","age":16}\t30',
    '{"phrase":"you got a","age":33}\t20',
    '{"phrase":"you","age":33}\t10',
    '',
  ].join('\n'),
);
write('r1.json', query());

/** Collects a round's reports. @param {string} name of recipe and accumulator @param {number} devices @param {string} events
 * @param {string} seed */
function collect(name, devices, events = 'events.tsv', seed = 's') {
  good(
    'simulate',
    '--recipe',
    `${name}.json`,
    '--counts',
    events,
    '--devices',
    String(devices),
    '--seed',
    seed,
    '-o',
    `${name}.batch`,
  );
  cli.remove(`${name}.acc`);
  good('ingest', '--recipe', `${name}.json`, '-o', `${name}.acc`, `${name}.batch`);
}

/** @param {string} name */
const json = (name) => JSON.parse(read(name));
/** @param {string} name */
const hash = (name) => good('recipe', 'hash', name).text.split(/\s/)[0];
/** @param {string} name */
const isThere = (name) => cli.run('recipe', 'hash', name).code === 0;

collect('r1', 20_000);
const first = good('round', 'next', '--recipe', 'r1.json', '-o', 'r2.json', 'r1.acc');

test('each round begins with what the last one found', () => {
  assert.equal(first.text, '');
  assert.match(
    first.err,
    /phrase: 2 of 9 sequences are detected, the weakest by \d+\.\d\d standard errors; false-discovery rate 0\.05\n/,
  );
  assert.match(
    first.err,
    /kept: 2; the rarest has an estimated \d+ of 20000 reports, all together have \d+\. From each count \d+ were subtracted, because so many may be random answers\n/,
  );
  assert.match(first.err, /ngrams-2: 92 cells where ngrams-1 had 48; a record has \d+ bytes/);
  assert.match(first.err, /ngrams-2 is not signed/);
  assert.deepEqual(
    json('r2.json'),
    query({
      recipe: 'ngrams-2',
      round: { index: 2, previous: hash('r1.json') },
      encoding: [query().encoding[0], { field: 'phrase', prefixes: ['i', 'you'], tokens: TOKENS }],
    }),
  );
  assert.deepEqual(Object.keys(json('r2.json')), Object.keys(query()), 'the order is kept');
  collect('r2', 20_000);
  good('round', 'next', '--recipe', 'r2.json', '-o', 'r3.json', 'r2.acc');
  assert.deepEqual(json('r3.json').encoding[1].prefixes, ['i went', 'you got']);
  assert.deepEqual(json('r3.json').round, { index: 3, previous: hash('r2.json') });
  collect('r3', 20_000);
  const text = good('round', 'next', '--recipe', 'r3.json', 'r3.acc').text;
  assert.deepEqual(JSON.parse(text).encoding[1].prefixes, [
    'i went home',
    'i went to',
    'you got a',
  ]);
  assert.equal(JSON.parse(text).recipe, 'ngrams-4');
});

test('a cap keeps the strongest, other tokens take the place of these, and both are said', () => {
  write('tokens.txt', 'went\r\nflew\nHome\n');
  const run = good(
    'round',
    'next',
    '--recipe',
    'r1.json',
    '--max-prefixes',
    '1',
    '--tokens',
    'tokens.txt',
    '--id',
    'other',
    '--version',
    '4',
    '--expires',
    '2099-03-31',
    '--cohort-epsilon',
    '0.25',
    'r1.acc',
  );
  const next = JSON.parse(run.text);
  assert.deepEqual(next.encoding[1], {
    field: 'phrase',
    prefixes: ['i'],
    tokens: ['went', 'flew', 'Home'],
  });
  assert.deepEqual(
    [next.recipe, next.version, next.expires, next.cohort.epsilon],
    ['other', 4, '2099-03-31', 0.25],
  );
  assert.match(run.err, /the 1 strongest are kept: --max-prefixes\n/);
  assert.match(
    run.err,
    /tokens\.txt: the recipe's text rule would change 1 of 3 tokens, so no device has them/,
  );
});

test('what is left out: signature and part; what is new: the seed', () => {
  const keyed = query({
    recipe: 'q',
    mechanism: 'hcms',
    parameters: { epsilon: 4, k: 64, m: 64 },
    hash: 'affine1',
    seed: '01'.repeat(32),
    part: ['de'],
    encoding: [query().encoding[1]],
    split_by: [{ field: 'locale', values: ['de', 'en'] }],
    signature: { key: '02'.repeat(32), ed25519: '03'.repeat(64) },
  });
  write('keyed.json', keyed);
  write('de.tsv', '{"phrase":"i went","locale":"de"}\t1\n');
  collect('keyed', 6000, 'de.tsv');
  const run = good('round', 'next', '--recipe', 'keyed.json', 'keyed.acc');
  const next = JSON.parse(run.text);
  assert.ok(!('signature' in next) && !('part' in next));
  assert.match(next.seed, /^[0-9a-f]{64}$/);
  assert.notEqual(next.seed, keyed.seed);
  assert.deepEqual(next.split_by, keyed.split_by);
  assert.match(run.err, /learned from the part q\/de alone/);
  const seed = 'ef'.repeat(32);
  assert.equal(
    JSON.parse(good('round', 'next', '--recipe', 'keyed.json', '--seed', seed, 'keyed.acc').text)
      .seed,
    seed,
  );
  // The round before is named by the query's hash, which a part does not change.
  write('whole.json', { ...keyed, part: undefined });
  assert.equal(next.round.previous, hash('whole.json'));
});

test('one bit a cell is advised against where it is many', () => {
  write('onehot.json', query({ mechanism: 'onehot-symmetric' }));
  collect('onehot', 6000);
  write('many.txt', Array.from({ length: 6000 }, (_, i) => `t${i}\n`).join(''));
  const run = good(
    'round',
    'next',
    '--recipe',
    'onehot.json',
    '--tokens',
    'many.txt',
    '-o',
    'many.json',
    'onehot.acc',
  );
  const [, subset, hadamard] =
    /with --mechanism subset it has (\d+) bytes and the same error, with --mechanism hadamard (\d+)/.exec(
      run.err,
    ) ?? [];
  assert.ok(Number(subset) > Number(hadamard) && Number(hadamard) > 0, run.err);
  const other = good(
    'round',
    'next',
    '--recipe',
    'onehot.json',
    '--tokens',
    'many.txt',
    '--mechanism',
    'subset',
    '-o',
    'm.json',
    'onehot.acc',
  );
  assert.match(other.err, new RegExp(`a record has ${subset} bytes`));
  assert.deepEqual(json('m.json').parameters, { epsilon: 4 });
  assert.doesNotMatch(
    good('round', 'next', '--recipe', 'onehot.json', 'onehot.acc').err,
    /one bit for each cell/,
  );
  write('most.txt', Array.from({ length: 20_000 }, (_, i) => `t${i}\n`).join(''));
  const { err } = bad(
    2,
    /encoding is outside/,
    'round',
    'next',
    '--recipe',
    'onehot.json',
    '--tokens',
    'most.txt',
    'onehot.acc',
  );
  assert.match(err, /--mechanism hadamard takes that many cells, with \d+ bytes a record/);
});

test('a number is asked more finely where it is', () => {
  // Nine in ten ages are 24: its bucket holds 11 times the rest and is cut the most; the ends stay.
  write('ages.tsv', '{"phrase":"i","age":24}\t90\n{"phrase":"i","age":33}\t10\n');
  write('ages.json', query());
  collect('ages', 20_000, 'ages.tsv');
  const run = good('round', 'next', '--recipe', 'ages.json', '--refine', '8', 'ages.acc');
  const next = JSON.parse(run.text);
  const { boundaries } = next.encoding[0];
  assert.deepEqual(next.encoding[1], query().encoding[1]);
  assert.deepEqual([boundaries[0], boundaries.at(-1)], [20, 40]);
  assert.ok(boundaries.length <= 7 && boundaries.length >= 6);
  assert.ok(
    boundaries.filter((/** @type {number} */ b) => b > 20 && b < 30).length >= 3,
    String(boundaries),
  );
  assert.match(run.err, /age: 4 buckets become \d, each with an estimated \d+ reports/);
});

// Half of 20,000 devices have nothing that matches and answer at random: 98 of 102 buckets' counts each, 2.5 standard errors of the coins.
// Over 12 seeds together about 250 sequences are kept; 5 % of them are 12, give or take 4 (2 sigma: 7).
test('random answers make no sequence frequent', () => {
  const tokens = Array.from({ length: 100 }, (_, i) => `t${i}`);
  write('half.json', query({ encoding: [{ field: 'phrase', prefixes: [''], tokens }] }));
  write(
    'half.tsv',
    `{"page":1}\t200\n${tokens
      .slice(0, 20)
      .map((token) => `{"phrase":"${token}"}\t10\n`)
      .join('')}`,
  );
  let kept = 0;
  let wrong = 0;
  for (let seed = 0; seed < 12; seed++) {
    collect('half', 20_000, 'half.tsv', `half ${seed}`);
    const { prefixes } = JSON.parse(good('round', 'next', '--recipe', 'half.json', 'half.acc').text)
      .encoding[0];
    kept += prefixes.length;
    wrong += prefixes.filter((/** @type {string} */ token) => tokens.indexOf(token) >= 20).length;
  }
  assert.ok(kept >= 200 && wrong <= 0.05 * kept + 7, `${wrong} of ${kept} kept are nobody's`);
});

test('refused, with the reason and nothing written', () => {
  const next = ['round', 'next', '-o', 'never.json'];
  collect('r1', 4999);
  bad(
    3,
    /r1\.acc: recipe ngrams-1: 4999 reports are fewer than its minimum cohort of 5000/,
    ...next,
    '--recipe',
    'r1.json',
    'r1.acc',
  );
  bad(
    3,
    /fewer than its minimum cohort/,
    ...next,
    '--recipe',
    'r1.json',
    '--refine',
    '8',
    'r1.acc',
  );
  collect('r1', 20_000);
  bad(1, /r1\.acc: belongs to recipe ngrams-1/, ...next, '--recipe', 'r2.json', 'r1.acc');
  write('list.json', query({ encoding: [{ field: 'age', boundaries: [20] }] }));
  collect('list', 5000);
  bad(
    2,
    /list\.json: has no field with tokens in an encoding/,
    ...next,
    '--recipe',
    'list.json',
    'list.acc',
  );
  bad(
    1,
    /--refine needs two boundaries at least/,
    ...next,
    '--recipe',
    'list.json',
    '--refine',
    '8',
    'list.acc',
  );
  bad(
    2,
    /has no field age with tokens/,
    ...next,
    '--recipe',
    'r1.json',
    '--field',
    'age',
    'r1.acc',
  );
  bad(
    2,
    /has no field phrase with boundaries/,
    ...next,
    '--recipe',
    'r1.json',
    '--refine',
    '8',
    '--field',
    'phrase',
    'r1.acc',
  );
  write(
    'two.json',
    query({ encoding: [query().encoding[1], { ...query().encoding[1], field: 'title' }] }),
  );
  write('two.tsv', '{"phrase":"i went","title":"you got"}\t1\n');
  collect('two', 5000, 'two.tsv');
  bad(
    2,
    /two\.json: has several fields with tokens: name one/,
    ...next,
    '--recipe',
    'two.json',
    'two.acc',
  );
  assert.deepEqual(
    JSON.parse(
      good('round', 'next', '--recipe', 'two.json', '--field', 'title', 'two.acc').text,
    ).encoding.map((/** @type {{prefixes: string[]}} */ field) => field.prefixes),
    [[''], ['you']],
  );
  write('noise.tsv', '{"phrase":"zebra"}\t1\n');
  collect('r1', 5000, 'noise.tsv');
  bad(
    1,
    /of 9 sequences of prefix and token, none stands out from the noise of 5000 reports: there is no next round/,
    ...next,
    '--recipe',
    'r1.json',
    'r1.acc',
  );
  bad(
    1,
    /no bucket between the first and the last boundary can be told from zero/,
    ...next,
    '--recipe',
    'r1.json',
    '--refine',
    '8',
    'r1.acc',
  );
  write(
    'olh.json',
    query({
      mechanism: 'olh',
      parameters: { epsilon: 4, k: 1024, g: 64 },
      hash: 'affine1',
      seed: '01'.repeat(32),
    }),
  );
  collect('olh', 5000);
  bad(
    2,
    /olh: its hashes make the errors of cells depend on one another/,
    ...next,
    '--recipe',
    'olh.json',
    'olh.acc',
  );
  assert.ok(!isThere('never.json'));
});

test('a file that is there stays as it was when the next round is refused', () => {
  write('kept.json', 'mine');
  bad(
    1,
    /there is no next round to write/,
    'round',
    'next',
    '--recipe',
    'r1.json',
    '-o',
    'kept.json',
    'r1.acc',
  );
  assert.equal(read('kept.json'), 'mine');
});

test('a command line that is wrong', () => {
  bad(2, /the action is next/, 'round');
  bad(
    2,
    /unknown action 'previous'; the action is next/,
    'round',
    'previous',
    '--recipe',
    'r1.json',
    'r1.acc',
  );
  bad(2, /takes one accumulator/, 'round', 'next', '--recipe', 'r1.json');
  bad(2, /recipe/, 'round', 'next', 'r1.acc');
  const next = ['round', 'next', '--recipe', 'r1.json', 'r1.acc'];
  bad(2, /fdr/, ...next, '--fdr', '0.6');
  bad(2, /refine/, ...next, '--refine', '3');
  bad(2, /refine/, ...next, '--refine', '66');
  bad(2, /--refine is for a number/, ...next, '--refine', '8', '--tokens', 'tokens.txt');
  bad(2, /--seed is 64 lower-case hex digits/, ...next, '--seed', 'AB'.repeat(32));
  collect('r1', 20_000);
  bad(2, /--mechanism must be one whose only parameter is epsilon/, ...next, '--mechanism', 'olh');
  write('gap.txt', 'a\n\nb\n');
  bad(2, /gap\.txt: line 2: a token has 1 to 256 bytes/, ...next, '--tokens', 'gap.txt');
  write('empty.txt', '');
  bad(2, /empty\.txt: holds no token/, ...next, '--tokens', 'empty.txt');
  write('twice.txt', 'a\na\n');
  bad(2, /the next recipe: .*tokens holds one value twice/, ...next, '--tokens', 'twice.txt');
});

test('more than a recipe file or a domain has room for', () => {
  const tokens = Array.from({ length: 30_000 }, (_, i) => `t${i}`);
  write(
    'wide.json',
    query({
      encoding: [{ field: 'phrase', prefixes: [''], tokens }],
      mechanism: 'hadamard',
      parameters: { epsilon: 8 },
    }),
  );
  write(
    'wide.tsv',
    tokens
      .slice(0, 600)
      .map((token) => `{"phrase":"${token}"}\t1\n`)
      .join(''),
  );
  collect('wide', 400_000, 'wide.tsv');
  // 2^24 cells, 30,002 for each prefix: 559 of the 600 fit.
  const run = good('round', 'next', '--recipe', 'wide.json', '-o', 'wider.json', 'wide.acc');
  assert.equal(json('wider.json').encoding[0].prefixes.length, 559);
  assert.match(run.err, /the 559 strongest are kept: more cells than the largest domain has\n/);
});

// ---- tries ----

/** @param {object} [more] @returns {Record<string, any>} */
const trie = (more) => ({
  recipe: 'words-1',
  analysis: 'keyboard',
  stream: 'typed',
  value: 'fields',
  encoding: [{ field: 'word', starts: [''], characters: 'acdgost', step: 2 }],
  mechanism: 'trie',
  parameters: { epsilon: 5, contributions: 1, depth: 6, max_prefixes: 50 },
  round: { index: 1 },
  limit: { per_day: 1 },
  send: { sample: 0.5 },
  cohort: { minimum: 1000, epsilon: 1, delta: '1e-9' },
  expires: '2099-01-31',
  ...more,
});

// Of 20,000 devices each word has 2,000 reports at least: the noise of a cell that nobody holds is below 130 of them.
write('words.tsv', 'cat\t40\ncats\t20\ndog\t20\ndo\t10\na\t10\n');

test('a trie: starts go on, words end, and all rounds together tell them', () => {
  write('t1.json', trie());
  collect('t1', 20_000, 'words.tsv');
  const run = good(
    'round',
    'next',
    '--recipe',
    't1.json',
    '--step',
    '2',
    '-o',
    't2.json',
    't1.acc',
  );
  assert.match(
    run.err,
    /2 of 49 starts and 1 of 7 words stand out from the noise of 20000 reports and are kept; false-discovery rate 0\.2 of starts, 0\.025 of words\n/,
  );
  assert.match(
    run.err,
    /item \(one contribution\): local epsilon 5; device \(1 of them, in one round\): local epsilon 5\n/,
  );
  assert.match(
    run.err,
    /next: 2 starts of 2 characters, step 2; [01]\S* of the devices that are left, about \d+;/,
  );
  const next = json('t2.json');
  assert.deepEqual(
    { ...next, send: undefined },
    {
      ...trie({
        recipe: 'words-2',
        encoding: [{ field: 'word', starts: '0ca 0do', characters: 'acdgost', step: 2 }],
        round: { index: 2, previous: hash('t1.json') },
      }),
      send: undefined,
    },
  );
  assert.ok(next.send.sample > 0 && next.send.sample <= 1);
  collect('t2', 20_000, 'words.tsv', 'other');
  const last = good(
    'round',
    'next',
    '--recipe',
    't2.json',
    '--sample',
    '0.5',
    '-o',
    't3.json',
    't2.acc',
  );
  assert.match(last.err, /1 of 98 starts and 3 of 16 words/);
  assert.deepEqual(json('t3.json').encoding[0].starts, '0cats');
  assert.equal(json('t3.json').send.sample, 0.5);
  collect('t3', 20_000, 'words.tsv', 'third');
  cli.remove('t4.json');
  assert.match(
    good('round', 'next', '--recipe', 't3.json', '-o', 't4.json', 't3.acc').err,
    /complete: no start is left, and this was the last pass/,
  );
  assert.ok(!isThere('t4.json'));
  const rounds = ['1', '2', '3'].flatMap((i) => ['--recipe', `t${i}.json`, `t${i}.acc`]);
  /** @type {{rows: {value: string, count: number, low: number, high: number, found: string}[]}} */
  const { rows } = JSON.parse(good('discover', ...rounds, '--format', 'json').text);
  assert.deepEqual(rows.map((row) => row.value).sort(), ['a', 'cat', 'cats', 'do', 'dog']);
  for (const [value, share, found] of /** @type {[string, number, string][]} */ ([
    ['a', 0.1, 'round 1, pass 1'],
    ['cat', 0.4, 'round 2, pass 1'],
    ['cats', 0.2, 'round 3, pass 1'],
    ['do', 0.1, 'round 2, pass 1'],
  ])) {
    const row = /** @type {typeof rows[0]} */ (rows.find((r) => r.value === value));
    const sigma = (row.high - row.low) / 3.92; // of 60,000 reports; at 4.5 sigma each, a seed in 30,000 is wrong
    assert.ok(
      Math.abs(row.count - share * 60_000) < 4.5 * sigma,
      `${value}: ${row.count}, sigma ${sigma}`,
    );
    assert.equal(row.found, found);
  }
  bad(
    2,
    /words-3 does not follow words-1: its round\.index is not one more/,
    'discover',
    '--recipe',
    't1.json',
    't1.acc',
    '--recipe',
    't3.json',
    't3.acc',
  );
});

test('a trie of two passes leaves out what is known; one whose devices have all been asked ends', () => {
  write(
    'p1.json',
    trie({ parameters: { epsilon: 5, contributions: 1, depth: 2, max_prefixes: 50, passes: 2 } }),
  );
  collect('p1', 20_000, 'words.tsv');
  const run = good('round', 'next', '--recipe', 'p1.json', '-o', 'p2.json', 'p1.acc');
  assert.match(run.err, /pass 1 is over; pass 2 begins anew and leaves out 1 known words\n/);
  const { parameters, encoding } = json('p2.json');
  assert.equal(parameters.known, '0a');
  assert.equal(parameters.pass, 2);
  assert.equal(encoding[0].starts, '0');
  write('e2.json', trie({ send: { sample: 1 }, round: { index: 2, previous: 'ab'.repeat(32) } }));
  collect('e2', 20_000, 'words.tsv');
  assert.match(
    good('round', 'next', '--recipe', 'e2.json', '-o', 'e3.json', 'e2.acc').err,
    /complete: this round asked every device that was left/,
  );
  assert.ok(!isThere('e3.json'));
});

test('what a trie does not take', () => {
  write('t1.json', trie());
  collect('t1', 2_000, 'words.tsv');
  const next = ['round', 'next', '--recipe', 't1.json', 't1.acc'];
  bad(
    2,
    /--field, --tokens, --mechanism and --refine do not apply to a trie/,
    ...next,
    '--field',
    'word',
  );
  bad(2, /do not apply to a trie/, ...next, '--refine', '8');
  bad(2, /step/, ...next, '--step', '5');
  bad(2, /sample/, ...next, '--sample', '1.5');
  collect('r1', 20_000);
  bad(
    2,
    /--step, --sample and --threshold are for tries/,
    'round',
    'next',
    '--recipe',
    'r1.json',
    '--step',
    '2',
    'r1.acc',
  );
  collect('t1', 900, 'words.tsv');
  bad(3, /minimum cohort/, ...next);
});
