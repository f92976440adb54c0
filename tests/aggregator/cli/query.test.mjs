// SPDX-License-Identifier: Apache-2.0
// Queries from outside: shoal policy, recipe check --policy, part, new, diff; simulated people with events, their rounds and parts; estimates
// by cell and by field.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, test } from 'node:test';
import { makeCli } from './cli_helpers.mjs';

const cli = makeCli('query');
const { bad, good, read, run, write } = cli;
after(() => cli.release());

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
write('key.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
cli.chmod('key.pem', 0o600);
write(
  'theirs.pem',
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
);
cli.chmod('theirs.pem', 0o600);

const policy = {
  policy: 'keyboard-2026',
  keys: [key],
  fresh_days: 1,
  streams: [
    {
      stream: 'typed-phrases',
      retention_days: 14,
      fields: [
        { field: 'phrase', type: 'tokens' },
        { field: 'age', type: 'number' },
        { field: 'locale', type: 'text' },
      ],
    },
  ],
  analyses: [
    {
      analysis: 'keyboard',
      stream: 'typed-phrases',
      mechanisms: ['onehot-symmetric', 'subset'],
      query: { fields: 2, size: 65536 },
      split_by: ['locale'],
      budget: { epsilon: 1, delta: '1e-7', reports: 3 },
      cohort: { minimum: 5000, honest: 0.9 },
      fields: [
        { field: 'phrase', local_epsilon: 5, epsilon: 1, reports: 3 },
        { field: 'age', local_epsilon: 4, epsilon: 0.5, reports: 1 },
      ],
    },
  ],
};
write('policy.json', policy);
const hash = good('policy', 'hash', 'policy.json').text.trim();

const encoding = [
  { field: 'age', boundaries: [20, 30, 40] },
  { field: 'phrase', prefixes: ['hello world', 'i went'], tokens: ['a', 'and', 'got', 'home'] },
];
/** @param {object} [more] */
const query = (more) => ({
  recipe: 'ngrams-2',
  analysis: 'keyboard',
  stream: 'typed-phrases',
  value: 'fields',
  encoding,
  mechanism: 'onehot-symmetric',
  parameters: { epsilon: 4 },
  limit: { per_day: 1 },
  cohort: { minimum: 200000, epsilon: 0.5, delta: '1e-9' },
  policy: hash,
  version: 1,
  expires: '2099-12-31',
  ...more,
});
const split = { split_by: [{ field: 'locale', values: ['de', 'en'] }] };

/** Writes NAME.json, signed. @param {string} name @param {object} recipe */
function sign(name, recipe) {
  write('unsigned.json', recipe);
  good('recipe', 'sign', '--key', 'key.pem', '-o', `${name}.json`, 'unsigned.json');
}

test('a policy in words: budgets of analysis and field, what a person gives, how many queries fit', () => {
  const { text } = good('policy', 'check', 'policy.json');
  assert.match(text, /^policy +keyboard-2026\nhash +[0-9a-f]{64}\n/);
  assert.match(
    text,
    /stream +typed-phrases, events erased after 14 days: phrase \(tokens\), age \(number\), locale \(text\)\n/,
  );
  assert.match(text, /cohort +5000 reports at least, 0\.9 of them taken to be honest\n/);
  assert.match(
    text,
    /budget +epsilon 1 of the crowd at delta 1e-7, 3 reports, all queries together\n/,
  );
  assert.match(
    text,
    /of one person +epsilon 5 in one report at most; in all together 15 at most\n/,
  );
  assert.match(
    text,
    /queries that fit +1 of epsilon 1, 2 of epsilon 0\.5, 3 of epsilon 0\.25; more have no report left\n/,
  );
  assert.match(text, /field age +epsilon 0\.5 of the crowd, 1 report\n/);
});

test('composition lets more small queries fit, and a policy of another order is the same', () => {
  const budget = { epsilon: 1, delta: '1e-7', reports: 1000, composition: 'renyi', slack: '1e-8' };
  write('renyi.json', { ...policy, analyses: [{ ...policy.analyses[0], budget }] });
  const fits = /of epsilon 0\.03125/.exec(good('policy', 'check', 'renyi.json').text);
  assert.ok(fits);
  const n = Number(
    /(\d+) of epsilon 0\.03125/.exec(good('policy', 'check', 'renyi.json').text)?.[1],
  );
  // rho a + ln(1/slack)/(a-1) + ln(1-1/a) - ln(a)/(a-1) = 1 allows 32 e^2/2 = 0.0156 and somewhat more
  assert.ok(n >= 32 && n < 64, `${n} fit`);
  write('moved.json', Object.fromEntries(Object.entries(policy).reverse()));
  assert.equal(good('policy', 'hash', 'moved.json').text.trim(), hash);
});

test('policies that are wrong are refused under their path', () => {
  write('typo.json', { ...policy, streams: [{ ...policy.streams[0], retention: 3 }] });
  bad(2, /streams\[0\]\.retention is not a field of a policy/, 'policy', 'check', 'typo.json');
  bad(2, /the actions are check and hash/, 'policy', 'new');
  bad(2, /no policy to check/, 'policy', 'check');
});

test('a fresh device answers a signed query that the policy allows', () => {
  sign('good', query());
  const { text } = good('recipe', 'check', '--policy', 'policy.json', 'good.json');
  assert.match(
    text,
    /field phrase +13 buckets: <oov> and 2 prefixes of 2 tokens, each before 4 tokens, <end> or <oov>\n/,
  );
  assert.match(text, /cells +52\n/);
  assert.match(text, /epsilon per person +4 \(a query is answered once\)\n/);
  assert.match(text, new RegExp(`signed +by ${key.slice(0, 8)}\\.\\.\\., a key of the policy\n`));
  assert.match(text, /answered +yes, by a device that has answered none\n/);
  assert.match(text, /room +for 1 such query in epsilon and reports\n/);
});

/** @type {[string, object, RegExp][]} */
const refused = [
  ['another policy', { policy: 'ab'.repeat(32) }, /no: policy\./],
  ['another analysis', { analysis: 'mouse' }, /no: analysis\./],
  ['another stream', { stream: 'clicks' }, /no: stream\./],
  [
    'a field outside the class',
    { encoding: [{ field: 'locale', values: ['de'] }] },
    /no: field \(locale\)\./,
  ],
  ['another scheme', { encoding: [{ field: 'age', values: ['20'] }] }, /no: scheme \(age\)\./],
  ['a mechanism', { mechanism: 'grr' }, /no: mechanism\./],
  ['a split', { split_by: [{ field: 'age', values: ['a'] }] }, /no: split \(age\)\./],
  [
    'local epsilon',
    { parameters: { epsilon: 4.5 } },
    /no: local \(age\)\. .*\n +epsilon 4\.5 of 4\n/,
  ],
  [
    "the field's epsilon",
    { cohort: { minimum: 200000, epsilon: 0.6, delta: '1e-9' } },
    /no: field-epsilon \(age\)\. .*\n +epsilon 0\.6 of 0\.5\n/,
  ],
  [
    'epsilon',
    { cohort: { minimum: 200000, epsilon: 1.1, delta: '1e-9' } },
    /no: epsilon\. .*\n +epsilon 1\.1 of 1\n/,
  ],
  [
    'delta',
    { cohort: { minimum: 200000, epsilon: 0.5, delta: '1e-6' } },
    /no: delta\. .*\n +delta 1e-6 of 1e-7\n/,
  ],
  [
    'the cohort',
    { cohort: { minimum: 4999, epsilon: 0.5, delta: '1e-9' } },
    /no: cohort\. .*\n +4999 reports, the policy asks for 5000\n/,
  ],
  [
    'amplification',
    { cohort: { minimum: 5000, epsilon: 0.5, delta: '1e-9' } },
    /no: amplification\. .*\n +4500 honest reports of epsilon 4 give 4, it claims 0\.5\n/,
  ],
];

test('each refusal by its name and figures, exit 3', () => {
  for (const [what, more, says] of refused) {
    sign('bad', query(more));
    const { code, text } = run('recipe', 'check', '--policy', 'policy.json', 'bad.json');
    assert.match(text, says, what);
    assert.equal(code, 3, what);
  }
});

test("a query without a signature, with another's, or changed under it, is refused", () => {
  write('plain.json', query());
  good('recipe', 'sign', '--key', 'theirs.pem', '-o', 'theirs.json', 'plain.json');
  sign('ours', query());
  write('edited.json', { ...JSON.parse(read('ours.json')), version: 2 });
  for (const [name, says] of /** @type {const} */ ([
    ['plain', /signed +no: devices/],
    ['theirs', /is not a key of the policy/],
    ['edited', /signed +badly/],
  ])) {
    const { code, text } = run('recipe', 'check', '--policy', 'policy.json', `${name}.json`);
    assert.match(text, says);
    assert.match(text, /answered +once it is signed, by a device/);
    assert.equal(code, 3, name);
  }
});

test("a part has its own hash, the whole's query hash and signature, and all else as it was", () => {
  sign('whole', query(split));
  good('recipe', 'part', '-o', 'de.json', 'whole.json', 'de');
  const whole = JSON.parse(read('whole.json'));
  assert.deepEqual(JSON.parse(read('de.json')), { ...whole, part: ['de'] });
  good('recipe', 'verify', '--key', key, 'de.json');
  const [a, b] = good('recipe', 'hash', 'whole.json', 'de.json').text.split('\n');
  assert.notEqual(a, b);
  assert.equal(good('recipe', 'hash', '--query', 'whole.json', 'de.json').text, `${a}\n${a}\n`);
  assert.match(good('recipe', 'check', 'de.json').text, /^recipe +ngrams-2\/de\n/);
  assert.deepEqual(JSON.parse(good('recipe', 'part', 'whole.json', 'other').text).part, ['other']);
  bad(
    2,
    /part\[0\] is neither a value that split_by\[0\] lists nor "other"/,
    'recipe',
    'part',
    'whole.json',
    'fr',
  );
  bad(2, /one value for each of the 1 fields/, 'recipe', 'part', 'whole.json', 'de', 'en');
  bad(2, /is a part already/, 'recipe', 'part', 'de.json', 'de');
  bad(2, /has no split_by/, 'recipe', 'part', 'good.json', 'de');
  bad(
    2,
    /recipe part: unknown option --epsilon/,
    'recipe',
    'part',
    '--epsilon',
    '4',
    'whole.json',
    'de',
  );
  bad(
    2,
    /recipe hash: unknown option --policy/,
    'recipe',
    'hash',
    '--policy',
    'policy.json',
    'de.json',
  );
  bad(2, /recipe check: unknown option --query/, 'recipe', 'check', '--query', 'de.json');
});

test('diff tells fields apart and notes what is broader or looser', () => {
  write('a.json', query(split));
  write(
    'b.json',
    query({
      ...split,
      parameters: { epsilon: 5 },
      cohort: { minimum: 100000, epsilon: 0.6, delta: '1e-8' },
      encoding: [
        encoding[0],
        { ...encoding[1], prefixes: ['i went', 'i got'] },
        { field: 'sex', values: ['m', 'f'] },
      ],
    }),
  );
  const { code, text } = run('recipe', 'diff', 'a.json', 'b.json');
  assert.equal(code, 1);
  for (const line of [
    'encoding[phrase].prefixes 2 -> 2: 1 added, 1 removed',
    'encoding[sex].values 0 -> 2: 2 added, 0 removed',
    'cohort.minimum      200000 -> 100000',
    'note                broader: reads the field sex',
    'note                broader: more cells: 52 -> 156',
    'note                looser: epsilon of one report rises: 4 -> 5',
    'note                looser: central epsilon rises: 0.5 -> 0.6',
    'note                looser: delta rises: 1e-9 -> 1e-8',
    'note                looser: a smaller cohort is shown: 200000 -> 100000',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  assert.doesNotMatch(text, /encoding\[age\]|split_by/);
  const back = run('recipe', 'diff', 'b.json', 'a.json');
  assert.doesNotMatch(back.text, /^note/m, 'less is no warning');
  write('turned.json', query({ ...split, encoding: [...encoding].reverse() }));
  const turned = run('recipe', 'diff', 'a.json', 'turned.json');
  assert.equal(turned.code, 1);
  assert.match(turned.text, /^encoding +another order\n/);
});

test('new writes a query under a policy', () => {
  write('encoding.json', encoding);
  const words = [
    'recipe',
    'new',
    '--id',
    'first',
    '--analysis',
    'keyboard',
    '--stream',
    'typed-phrases',
    '--expires',
    '2099-12-31',
    '--encoding',
    'encoding.json',
  ];
  good(
    ...words,
    '--policy',
    'policy.json',
    '--version',
    '3',
    '--cohort-minimum',
    '200000',
    '--cohort-epsilon',
    '0.5',
    '-o',
    'new.json',
  );
  assert.deepEqual(JSON.parse(read('new.json')), query({ recipe: 'first', version: 3 }));
  write('no-array.json', { field: 'age' });
  bad(2, /no-array.json: an encoding is a JSON array/, ...words.slice(0, -1), 'no-array.json');
  bad(2, /--version goes with --policy/, ...words, '--version', '3');
  bad(2, /--cohort-delta goes with/, ...words, '--cohort-delta', '1e-9');
  bad(2, /cohort.epsilon is needed by a query/, ...words, '--policy', 'policy.json');
  bad(2, /--encoding goes without/, ...words, '--size', '4');
});

const events = [
  [{ phrase: 'i went home', age: 34, locale: 'de' }, 40],
  [{ phrase: 'hello world', age: 25, locale: 'en' }, 30],
  [{ age: 12, phrase: 'hello world and' }, 20],
  [{ phrase: 'what now', age: 50, locale: 'de' }, 10],
];
write('events.tsv', events.map(([event, n]) => `${JSON.stringify(event)}\t${n}\n`).join(''));
/** @param {string} name @param {string[]} more */
const simulate = (name, ...more) =>
  good(
    'simulate',
    '--recipe',
    `${name}.json`,
    '--counts',
    'events.tsv',
    '--seed',
    'people',
    '-o',
    `${name}.batches`,
    '--truth',
    `${name}.truth`,
    ...more,
  );
/** @param {string} file @returns {Record<string, number>} */
const truth = (file) =>
  Object.fromEntries(
    read(file)
      .trim()
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([value, n]) => [value, Number(n)]),
  );
const open = { cohort: { minimum: 1, epsilon: 4, delta: '1e-9' } };
/** @param {string} name */
const fold = (name) =>
  good('ingest', '--recipe', `${name}.json`, '-o', `${name}.acc`, `${name}.batches`);
/** @param {string} name @param {string[]} more */
const estimate = (name, ...more) =>
  JSON.parse(
    good('estimate', '--recipe', `${name}.json`, '--format', 'json', ...more, `${name}.acc`).text,
  );

test('simulated people are counted by cell and by field', () => {
  write('sim.json', query(open));
  const said = simulate('sim', '--devices', '20000').err;
  const cells = truth('sim.truth');
  assert.deepEqual(Object.keys(cells).sort(), [
    '<oov> | hello world and',
    '[20,30) | hello world <end>',
    '[30,40) | i went home',
  ]);
  const matching = Object.values(cells).reduce((sum, n) => sum + n, 0);
  // a tenth has no phrase that is asked for: sqrt(20000 0.1 0.9) = 42
  assert.ok(Math.abs(matching - 18000) < 4 * 42, `${matching}`);
  assert.match(
    said,
    new RegExp(
      `${(20000 - matching).toLocaleString('en')} devices have no event that the query asks about, and answer at random`,
    ),
  );
  fold('sim');
  const result = estimate('sim');
  assert.equal(result.rows.length, 52);
  assert.deepEqual(result.rows[0].cell, { age: '[30,40)', phrase: 'i went home' });
  assert.equal(result.rows[0].value, '[30,40) | i went home');
  for (const { value, count, stderr, cell } of result.rows) {
    const wanted = (cells[value] ?? 0) + (20000 - matching) / 52;
    assert.ok(Math.abs(count - wanted) < 4.5 * stderr, `${value}: ${count} for ${wanted}`);
    assert.equal(value, Object.values(cell).join(' | '));
  }
  const ages = estimate('sim', '--by', 'age');
  assert.equal(ages.by, 'age');
  assert.deepEqual(
    ages.rows
      .map((/** @type {any} */ row) => row.cell)
      .sort((/** @type {any} */ a, /** @type {any} */ b) => (a.age < b.age ? -1 : 1)),
    [{ age: '<oov>' }, { age: '[20,30)' }, { age: '[30,40)' }, { age: '[40,inf)' }],
  );
  for (const { value, count, stderr } of ages.rows) {
    const wanted = Object.entries(cells).reduce(
      (sum, [cell, n]) => sum + (cell.startsWith(`${value} |`) ? n : 0),
      (20000 - matching) / 4,
    );
    const summed = result.rows.reduce(
      (/** @type {number} */ sum, /** @type {any} */ row) =>
        sum + (row.cell.age === value ? row.count : 0),
      0,
    );
    assert.ok(Math.abs(count - summed) < 1e-6 && Math.abs(count - wanted) < 4 * stderr, value);
  }
  assert.match(
    good('estimate', '--recipe', 'sim.json', '--by', 'phrase', 'sim.acc').text,
    /\nby phrase, over all else\n/,
  );
  bad(2, /encodes no such field/, 'estimate', '--recipe', 'sim.json', '--by', 'locale', 'sim.acc');
  bad(
    2,
    /--by and --dictionary/,
    'estimate',
    '--recipe',
    'sim.json',
    '--by',
    'age',
    '--dictionary',
    'x',
    'sim.acc',
  );
});

test('the same people whatever is asked; threads and the first device do not matter', () => {
  write('again.json', query({ ...open, recipe: 'again', version: 2 }));
  simulate('sim', '--devices', '3000', '--threads', '1');
  const one = read('sim.batches');
  simulate('sim', '--devices', '3000', '--threads', '3');
  assert.equal(read('sim.batches'), one, 'threads');
  simulate('again', '--devices', '3000');
  assert.deepEqual(truth('again.truth'), truth('sim.truth'), 'another query meets the same people');
  const whole = truth('sim.truth');
  simulate('sim', '--devices', '1000');
  const first = truth('sim.truth');
  good(
    'simulate',
    '--recipe',
    'sim.json',
    '--counts',
    'events.tsv',
    '--seed',
    'people',
    '-o',
    'rest.batches',
    '--truth',
    'rest.truth',
    '--devices',
    '2000',
    '--first',
    '1000',
  );
  const rest = truth('rest.truth');
  for (const cell of Object.keys(whole))
    assert.equal((first[cell] ?? 0) + (rest[cell] ?? 0), whole[cell], cell);
  const { text } = good(
    'ingest',
    '--recipe',
    'sim.json',
    '-o',
    'both.acc',
    'sim.batches',
    'rest.batches',
  );
  assert.equal(estimateN('both.acc'), 3000, text);
});

/** @param {string} acc */
const estimateN = (acc) =>
  JSON.parse(good('estimate', '--recipe', 'sim.json', '--format', 'json', '--top', '1', acc).text)
    .n;

test('rounds toss other coins over the same people', () => {
  const ndjson = (/** @type {string} */ name) => {
    good(
      'simulate',
      '--recipe',
      name,
      '--counts',
      'events.tsv',
      '--seed',
      'people',
      '--devices',
      '200',
      '--format',
      'ndjson',
      '-o',
      'r.ndjson',
    );
    return read('r.ndjson')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).records[0]);
  };
  const a = ndjson('sim.json');
  const b = ndjson('again.json');
  // 52 bits at epsilon 4, each flipped with probability 0.12: the same bits come in one of e^15 pairs
  assert.ok(a.filter((record, i) => record === b[i]).length < 3);
});

test('a device with several events answers with one that matches', () => {
  simulate('sim', '--devices', '5000', '--events', '8');
  const matching = Object.values(truth('sim.truth')).reduce((sum, n) => sum + n, 0);
  assert.ok(matching >= 4995, 'all eight miss once in 10^8');
  write('words.json', {
    recipe: 'w',
    analysis: 'w',
    stream: 's',
    value: 'item',
    mechanism: 'grr',
    parameters: { epsilon: 2, values: ['a', 'b'] },
    limit: { per_day: 1 },
    expires: '2099-12-31',
  });
  bad(
    2,
    /--events goes with recipes that have an encoding/,
    'simulate',
    '--recipe',
    'words.json',
    '--counts',
    'events.tsv',
    '--devices',
    '1',
    '--seed',
    's',
    '--events',
    '2',
    '-o',
    '-',
  );
});

test('of several events the first says which part a device is of, whether it matches or not', () => {
  write('parted.json', query({ ...open, ...split }));
  good('recipe', 'part', '-o', 'de.json', 'parted.json', 'de');
  const said = simulate('de', '--devices', '4000', '--events', '2').err;
  const [, outside, random] =
    /([\d,]+) of 4,000 devices belong to another part[^]*?([\d,]+) devices have no event/
      .exec(said)
      ?.map((text) => text.replaceAll(',', '')) ?? [];
  // Half of all events are in de: sqrt(4000 0.5 0.5) = 32. "what now" first and no match in de after it: 0.1 0.6, sqrt(4000 0.06 0.94) = 15.
  assert.ok(Math.abs(Number(outside) - 2000) < 4 * 32, said);
  assert.ok(Math.abs(Number(random) - 240) < 4 * 15, said);
});

test('parts share the people out', () => {
  write('parted.json', query({ ...open, ...split }));
  let devices = 0;
  for (const part of ['de', 'en', 'other']) {
    good('recipe', 'part', '-o', `${part}.json`, 'parted.json', part);
    simulate(part, '--devices', '4000');
    fold(part);
    const result = estimate(part);
    assert.equal(result.recipe, `ngrams-2/${part}`);
    devices += result.n;
    const wanted = part === 'de' ? 0.5 : part === 'en' ? 0.3 : 0.2;
    assert.ok(
      Math.abs(result.n - 4000 * wanted) < 4 * Math.sqrt(4000 * wanted * (1 - wanted)),
      part,
    );
  }
  assert.equal(devices, 4000);
});

test('lines that are no events are refused by their number', () => {
  const table = /** @type {const} */ ([
    ['{"age":1}\t1\n7\t1\n', /line 2: the event is not a JSON object/],
    ['{"age":1\t1\n', /line 1: the event is not/],
    ['{"age":1,"age":2}\t1\n', /line 1: the event has a field twice/],
    ['{"age":1}\t1\n{"age":1}\t2\n', /line 2: the value came before/],
    ['{"age":1}\n', /a tab and a count/],
  ]);
  for (const [text, says] of table) {
    write('wrong.tsv', text);
    bad(
      2,
      says,
      'simulate',
      '--recipe',
      'sim.json',
      '--counts',
      'wrong.tsv',
      '--devices',
      '1',
      '--seed',
      's',
      '-o',
      '-',
    );
  }
  write('upper.tsv', '{"phrase":"I went home"}\t1\n');
  assert.match(
    good(
      'simulate',
      '--recipe',
      'sim.json',
      '--counts',
      'upper.tsv',
      '--devices',
      '1',
      '--seed',
      's',
      '-o',
      'x.batches',
    ).err,
    /line 1: the recipe's text rule would change this value/,
  );
});

test('entries of a query that no device can have are told', () => {
  write(
    'unheard.json',
    query({
      encoding: [
        { field: 'locale', values: ['DE', 'de\u00a0'] },
        {
          field: 'phrase',
          prefixes: ['i went', 'I go', 'a b\u3000c'],
          tokens: ['a', 'B', 'c\u00a0d', '\u2028e', 'cafe\u0301', 'f'],
        },
      ],
    }),
  );
  const { err } = good('recipe', 'check', 'unheard.json');
  assert.deepEqual(
    [
      ...err.matchAll(
        /entry (\d) of encoding\[(\d)\]\.(\w+): the text rule changes it(?: or cuts it)?, so/g,
      ),
    ].map((m) => m.slice(1).join(' ')),
    [
      '1 0 values',
      '2 1 prefixes',
      '3 1 prefixes',
      '2 1 tokens',
      '3 1 tokens',
      '4 1 tokens',
      '5 1 tokens',
    ],
    err,
  );
});

test('a million cells are labelled and the largest printed in a moment', () => {
  const tokens = Array.from({ length: 1022 }, (_, i) => `token${i}`);
  write(
    'large.json',
    query({
      ...open,
      mechanism: 'subset',
      parameters: { epsilon: 8 },
      policy: undefined,
      version: undefined,
      encoding: [
        { field: 'a', values: tokens },
        { field: 'phrase', prefixes: [''], tokens },
      ],
    }),
  );
  write('events.one', '{"a":"token5","phrase":"token6 x"}\t1\n');
  good(
    'simulate',
    '--recipe',
    'large.json',
    '--counts',
    'events.one',
    '--seed',
    '1',
    '--devices',
    '300',
    '-o',
    'large.batches',
  );
  fold('large');
  const start = process.hrtime.bigint();
  const { rows } = estimate('large', '--top', '1');
  assert.equal(rows[0].value, 'token5 | token6');
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  assert.ok(seconds < 20, `${seconds} s`);
});
