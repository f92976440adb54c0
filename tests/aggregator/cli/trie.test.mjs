// SPDX-License-Identifier: Apache-2.0
// Rounds of a trie from outside: recipes that carry ten thousand starts as one string, and their size; simulated devices with all their
// words, what they contribute and what estimates make of it; what a policy and a recipe say of a word and of a person.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { allWordCounts } from '../../../scripts/demo/data.mjs';
import { frontCoded, tenThousandStarts } from '../../bench/front_coded.mjs';
import { makeCli } from './cli_helpers.mjs';

const cli = makeCli('trie');
const { bad, good, read, write } = cli;
after(() => cli.release());

/** @param {object} field of the encoding @param {object} [parameters] @param {object} [more] */
const round = (field, parameters, more) => ({
  recipe: 'words-1',
  analysis: 'keyboard',
  stream: 'typed',
  value: 'fields',
  encoding: [{ field: 'word', ...field }],
  mechanism: 'trie',
  parameters: {
    epsilon: 4,
    contributions: 3,
    sampler: 'random',
    depth: 15,
    max_prefixes: 10000,
    ...parameters,
  },
  limit: { per_day: 1 },
  expires: '2099-12-31',
  ...more,
});

// 10,000 starts of eight characters: 57,273 bytes in words of English, 110,001 as an array.
test('ten thousand starts travel in less than 64 KiB, and are the recipe that an array of them is', () => {
  const starts = tenThousandStarts();
  const characters = [...'abcdefghijklmnopqrstuvwxyz'];
  assert.equal(starts.length, 10000);
  const text = JSON.stringify(
    round({ starts: frontCoded(starts), characters: characters.join('') }, { epsilon: 10 }),
  );
  assert.ok(text.length < 65536, `${text.length} bytes`);
  write('text.json', text);
  write('array.json', round({ starts, characters }, { epsilon: 10 }));
  assert.equal(good('recipe', 'hash', 'text.json').text, good('recipe', 'hash', 'array.json').text);
  // and six thousand known words beside them, still far from the mebibyte that a recipe may have
  const known = allWordCounts()
    .slice(0, 6000)
    .map(({ value }) => value)
    .sort();
  write(
    'known.json',
    round(
      { starts: frontCoded(starts), characters: characters.join('') },
      { epsilon: 10, known: frontCoded(known) },
    ),
  );
  assert.ok(read('known.json').length < 131072);
  good('recipe', 'hash', 'known.json');
});

const field = { starts: '0ab 0cö', characters: 'aöc', step: 2 };
write('r.json', round(field, { known: '0abba 4s' }));
write(
  'words.tsv',
  'abba\t5\nabaö\t7\nabc\t9\nab\t3\ncöcö\t4\nzz\t5\nabx\t2\nabcx\t4\nabcaaaa\t8\n',
);

/** @param {string} file @returns {Map<string, number>} */
const counts = (file) =>
  new Map(
    read(file)
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([label, n]) => [label, Number(n)]),
  );

/** @param {string} file */
const digest = (file) => createHash('sha256').update(read(file)).digest('hex');

test('simulated devices contribute cells of their words, each once, and say how often they had nothing', () => {
  const run = good(
    'simulate',
    '--recipe',
    'r.json',
    '--counts',
    'words.tsv',
    '--devices',
    '4000',
    '--events',
    '4',
    '--seed',
    's',
    '-o',
    'r.ndjson',
    '--format',
    'ndjson',
    '--truth',
    'truth.tsv',
    '--threads',
    '1',
  );
  assert.equal(
    read('r.ndjson').trimEnd().split('\n').length,
    12000,
    'a report for each contribution',
  );
  const truth = counts('truth.tsv');
  const nothing = Number(
    /([\d,]+) of 12,000 contributions say that there is nothing/
      .exec(run.err)?.[1]
      .replace(',', ''),
  );
  assert.deepEqual(
    [...truth.keys()].sort(),
    ['ab<end>', 'abaö', 'abc<end>', 'abca', 'cöcö'],
    'no known, unlisted or other word',
  );
  assert.equal([...truth.values()].reduce((a, b) => a + b) + nothing, 12000);
  // A device contributes a cell where one of its four words lies in it: 1 - (38/47)^4 of them abc<end>, 1 - (39/47)^4 abca; less a quarter of
  // the 2.5 % where it is one of four cells.
  const sigma = Math.sqrt(4000 * 0.25);
  assert.ok(
    Math.abs((truth.get('abc<end>') ?? 0) - 4000 * 0.566) < 5 * sigma,
    String(truth.get('abc<end>')),
  );
  assert.ok(
    Math.abs((truth.get('abca') ?? 0) - 4000 * 0.52) < 5 * sigma,
    String(truth.get('abca')),
  );
  good(
    'simulate',
    '--recipe',
    'r.json',
    '--counts',
    'words.tsv',
    '--devices',
    '4000',
    '--events',
    '4',
    '--seed',
    's',
    '-o',
    'again.ndjson',
    '--format',
    'ndjson',
    '--threads',
    '3',
  );
  assert.equal(digest('r.ndjson'), digest('again.ndjson'), 'whatever the number of threads');
});

test('estimates are of contributions, in words', () => {
  good('ingest', '--recipe', 'r.json', '-o', 'r.acc', 'r.ndjson');
  const { n, rows } = JSON.parse(
    good('estimate', '--recipe', 'r.json', '--format', 'json', 'r.acc').text,
  );
  assert.equal(n, 12000);
  assert.equal(rows.length, 29);
  const truth = counts('truth.tsv');
  for (const { value, count, stderr } of rows)
    // 29 rows within 5 standard errors: one run in 60,000 would not be
    assert.ok(
      Math.abs(count - (truth.get(value) ?? 0)) < 5 * stderr,
      `${value}: ${count} of ${truth.get(value)}`,
    );
});

test('rounds have people of their own: the devices after the first ones, and one seed meets the same', () => {
  const simulate = (/** @type {string} */ to, /** @type {string[]} */ ...more) =>
    good(
      'simulate',
      '--recipe',
      'r.json',
      '--counts',
      'words.tsv',
      '--seed',
      's',
      '--events',
      '2',
      '-o',
      to,
      '--format',
      'ndjson',
      ...more,
    );
  simulate('all', '--devices', '300');
  simulate('first', '--devices', '100');
  simulate('rest', '--devices', '200', '--first', '100');
  assert.equal(read('first') + read('rest'), read('all'));
});

test('the favourites of a device decide where it is greedy', () => {
  // Every device has a hundred words of one law: in all but a few of a thousand devices "ab" and "abc" come more often than any other.
  write('few.tsv', 'ab\t50\nabc\t30\nabaö\t5\ncöcö\t5\nabca\t5\nabac\t5\n');
  write('greedy.json', round(field, { contributions: 2, sampler: 'greedy' }));
  write('random.json', round(field, { contributions: 2 }));
  const [greedy, random] = ['greedy', 'random'].map((sampler) => {
    good(
      'simulate',
      '--recipe',
      `${sampler}.json`,
      '--counts',
      'few.tsv',
      '--devices',
      '1000',
      '--events',
      '100',
      '--seed',
      's',
      '-o',
      'x',
      '--truth',
      `${sampler}.tsv`,
    );
    return counts(`${sampler}.tsv`);
  });
  assert.ok((greedy.get('ab<end>') ?? 0) > 995 && (greedy.get('abc<end>') ?? 0) > 995);
  // every set of two of six alike: each cell a third of 1000, sigma 15; a few devices lack one
  for (const n of random.values()) assert.ok(Math.abs(n - 333) < 80, String(n));
});

test('a file of words is refused where a recipe needs events, and events are taken', () => {
  write('events.tsv', '{"word":"abc"}\t3\n{"word":"abca"}\t2\n');
  good(
    'simulate',
    '--recipe',
    'r.json',
    '--counts',
    'events.tsv',
    '--devices',
    '10',
    '--seed',
    's',
    '-o',
    'x',
    '--truth',
    'e.tsv',
  );
  assert.equal(
    [...counts('e.tsv').values()].reduce((a, b) => a + b),
    10,
  );
  write('two.json', {
    ...round(field),
    encoding: [
      { field: 'word', values: ['a'] },
      { field: 'x', values: ['b'] },
    ],
    mechanism: 'grr',
    parameters: { epsilon: 2 },
  });
  bad(
    2,
    /line 1: the event is not a JSON object/,
    'simulate',
    '--recipe',
    'two.json',
    '--counts',
    'words.tsv',
    '--devices',
    '9',
    '--seed',
    's',
    '-o',
    'x',
  );
});

test('a policy and a recipe say what a word costs, and what a person', () => {
  write('policy.json', {
    policy: 'kb',
    keys: ['0123456789abcdef'.repeat(4)],
    streams: [
      { stream: 'typed', retention_days: 60, fields: [{ field: 'word', type: 'characters' }] },
    ],
    analyses: [
      {
        analysis: 'keyboard',
        stream: 'typed',
        mechanisms: ['trie'],
        query: { size: 1000000 },
        budget: { epsilon: 3, delta: '1e-7', reports: 3 },
        fields: [{ field: 'word', local_epsilon: 4, epsilon: 3, reports: 3 }],
      },
    ],
  });
  const said = good('policy', 'check', 'policy.json').text;
  assert.match(said, /word \(characters\)/);
  assert.match(
    said,
    /by trie\ntries {15}one round of all, by a device that has answered nothing else here/,
  );
  const hash = good('policy', 'hash', 'policy.json').text.trim();
  const check = (/** @type {object} */ parameters, /** @type {object} */ cohort) => {
    write(
      'q.json',
      round(field, parameters, {
        policy: hash,
        version: 1,
        cohort: { minimum: 100000, epsilon: 1, delta: '1e-9', ...cohort },
      }),
    );
    return cli.run('recipe', 'check', '--policy', 'policy.json', 'q.json').text;
  };
  const ok = check({}, {});
  assert.match(ok, /answered {12}once it is signed/);
  assert.match(
    ok,
    /of one word {7}epsilon 1 of the crowd \(0\.\d+ is what its cohort gives\), delta 1e-9; 4 in its report/,
  );
  assert.match(ok, /of one person {5}epsilon 3 of the crowd; 12 in 3 reports/);
  assert.match(check({ contributions: 4 }, {}), /no: reports\..*\n +4 reports of 3/);
  assert.match(check({}, { epsilon: 1.000001 }), /no: epsilon\..*\n +epsilon 3\.000003 of 3/);
  // 1 + e + e^2 = 11.1
  assert.match(
    check({}, { delta: '1e-8' }),
    /no: delta\..*\n +delta 1e-8 a report, of 3 of one person, of 1e-7/,
  );
  assert.match(check({}, {}), /central, per person 3 at delta 1\.11e-08/);
});
