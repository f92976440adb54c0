// SPDX-License-Identifier: Apache-2.0
// shoal recipe sign, verify and diff from outside: exit codes, texts, what stays of a file.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, test } from 'node:test';
import { makeCli, list, sketch } from './cli_helpers.mjs';

const cli = makeCli('recipe');
const { bad, good, read, write } = cli;
after(() => cli.release());

/** Writes NAME.pem and NAME.pub. Returns the public key's hex digits. @param {string} name */
function makeKey(name) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  write(`${name}.pem`, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  write(`${name}.pub`, publicKey.export({ type: 'spki', format: 'pem' }).toString());
  cli.chmod(`${name}.pem`, 0o600);
  return publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
}

const ours = makeKey('ours');
const theirs = makeKey('theirs');
write('r.json', sketch());
const { err: said } = good('recipe', 'sign', '--key', 'ours.pem', '-o', 's.json', 'r.json');

test('what is signed is verified by its key, and by no other', () => {
  assert.equal(said, '', 'a file of mode 600 is nothing to warn of');
  write('ours.hex', `${ours}\n`);
  for (const key of [[], ['--key', ours], ['--key', 'ours.pub'], ['--key', 'ours.hex']]) {
    assert.equal(good('recipe', 'verify', ...key, 's.json').text, `s.json: signed by ${ours}\n`);
  }
  for (const key of [theirs, 'theirs.pub'])
    bad(
      3,
      new RegExp(`s\\.json: is signed by another key, ${ours}`),
      'recipe',
      'verify',
      '--key',
      key,
      's.json',
    );
  bad(3, /r\.json: is not signed/, 'recipe', 'verify', 'r.json');
  bad(
    2,
    /theirs\.pem: holds no Ed25519 public key/,
    'recipe',
    'verify',
    '--key',
    'theirs.pem',
    's.json',
  );
  bad(5, /nobody: cannot open/, 'recipe', 'verify', '--key', 'nobody', 's.json');
});

test('a field that changed under its signature is told', () => {
  const json = JSON.parse(read('s.json'));
  write('bad.json', { ...json, limit: { per_day: 3 } });
  bad(3, /bad\.json: the signature is bad/, 'recipe', 'verify', 'bad.json');
  const run = cli.run('recipe', 'check', 'bad.json');
  assert.equal(run.code, 3);
  assert.match(
    run.text,
    new RegExp(`\\nsignature +bad: not signed by ${ours.slice(0, 8)}\\.\\.\\., which it names\\n$`),
  );
  assert.match(
    good('recipe', 'check', 's.json').text,
    new RegExp(`\\nsignature +good: signed by ${ours.slice(0, 8)}\\.\\.\\.\\n$`),
  );
  assert.doesNotMatch(good('recipe', 'check', 'r.json').text, /signature/);
  // The hash, the layout and a field at its default stay good.
  write('layout.json', JSON.stringify({ text: { min: 1 }, ...json }, null, 4));
  good('recipe', 'verify', 'layout.json');
  assert.equal(good('recipe', 'hash', 'layout.json').text, good('recipe', 'hash', 'r.json').text);
  write('form.json', { ...json, signature: { ...json.signature, key: 'F'.repeat(64) } });
  bad(2, /signature\.key must be 64/, 'recipe', 'check', 'form.json');
});

test('a signed recipe works wherever an unsigned one does', () => {
  write('c.tsv', 'cod\t10\n');
  good(
    'simulate',
    '--recipe',
    's.json',
    '--counts',
    'c.tsv',
    '--devices',
    '2000',
    '--seed',
    's',
    '-o',
    'b',
  );
  good('ingest', '--recipe', 'r.json', '-o', 'acc', 'b');
  assert.match(good('estimate', '--recipe', 's.json', '--dictionary', 'c.tsv', 'acc').text, /cod/);
});

test('signing again replaces the signature and nothing else; a key that others may read is warned of', () => {
  cli.chmod('theirs.pem', 0o640);
  const { err } = good('recipe', 'sign', '--key', 'theirs.pem', '-o', 's2.json', 's.json');
  assert.match(err, /theirs\.pem: others may read this key/);
  good('recipe', 'verify', '--key', theirs, 's2.json');
  const [before, after] = [read('s.json'), read('s2.json')];
  assert.equal(
    after.slice(0, after.indexOf('"signature"')),
    before.slice(0, before.indexOf('"signature"')),
  );
  assert.equal(
    good('recipe', 'sign', '--key', 'ours.pem', 's2.json').text,
    before,
    'Ed25519 has no randomness',
  );
  good('recipe', 'sign', '--key', 'ours.pem', '-o', 's2.json', 's2.json');
  assert.equal(read('s2.json'), before);
});

test('sign refuses what is no key or no recipe, and writes nothing', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  write(
    'locked.pem',
    privateKey
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
      .toString(),
  );
  bad(
    2,
    /locked\.pem: holds no Ed25519 private key in PEM without a passphrase/,
    'recipe',
    'sign',
    '--key',
    'locked.pem',
    'r.json',
  );
  bad(2, /--key is needed/, 'recipe', 'sign', 'r.json');
  bad(2, /sign takes one recipe/, 'recipe', 'sign', '--key', 'ours.pem', 'r.json', 's.json');
  bad(2, /recipe check: unknown option --key/, 'recipe', 'check', '--key', 'ours.pem', 'r.json');
  bad(2, /recipe verify: unknown option -o/, 'recipe', 'verify', '-o', 'x', 'r.json');
  write('nope.json', sketch({ nope: 1 }));
  bad(2, /nope is not a field/, 'recipe', 'sign', '--key', 'ours.pem', 'nope.json');
  // A key written with an escape is the same member to a parser: two of them would be read, so that nothing is written.
  write('escape.json', read('s.json').replace('"signature"', '"\\u0073ignature"'));
  good('recipe', 'verify', 'escape.json');
  bad(2, /signature is given twice/, 'recipe', 'sign', '--key', 'ours.pem', 'escape.json');
});

/** Lines of a diff, white space as one. @param {number} code @param {string} a @param {string} b */
function diff(code, a, b) {
  const run = cli.run('recipe', 'diff', a, b);
  assert.equal(run.code, code, run.err);
  return run.text
    .trim()
    .split('\n')
    .map((line) => line.replace(/ +/g, ' '));
}

test('diff tells the members that differ, and whether the hash does', () => {
  const hash = good('recipe', 'hash', 'r.json').text.trim();
  assert.deepEqual(diff(0, 'r.json', 'r.json'), [`hash the same, ${hash}`]);
  const signed = diff(1, 'r.json', 's.json');
  assert.deepEqual(
    [signed[0], signed[2]],
    [`signature.key (none) -> "${ours}"`, `hash the same, ${hash}`],
  );
  write(
    'x.json',
    sketch({
      parameters: { epsilon: 2.5, k: 256, m: 256 },
      send: { delay_s: 60 },
      expires: '2098-01-01',
    }),
  );
  const lines = diff(1, 'r.json', 'x.json');
  assert.deepEqual(lines.slice(0, 3), [
    'parameters.epsilon 4 -> 2.5',
    'expires "2099-12-31" -> "2098-01-01"',
    'send.delay_s (none) -> 60',
  ]);
  assert.match(lines[3], new RegExp(`^hash ${hash} -> [0-9a-f]{64}$`));
  assert.equal(lines.length, 4);
  // Members in another order are the same members.
  write('turned.json', Object.fromEntries(Object.entries(sketch()).reverse()));
  assert.deepEqual(diff(0, 'r.json', 'turned.json'), [`hash the same, ${hash}`]);
  bad(2, /diff takes two recipes/, 'recipe', 'diff', 'r.json');
  bad(5, /none\.json: cannot open/, 'recipe', 'diff', 'r.json', 'none.json');
});

test('diff counts what came to a list of values and what went', () => {
  write('l1.json', list(['cod', 'pike', 'tench', 'eel'], 4));
  write('l2.json', list(['cod', 'tench', 'ide', 'roach', 'burbot'], 4));
  write('l3.json', list(['pike', 'cod', 'tench', 'eel'], 4));
  assert.equal(diff(1, 'l1.json', 'l2.json')[0], 'parameters.values 4 -> 5: 3 added, 2 removed');
  assert.equal(
    diff(1, 'l1.json', 'l3.json')[0],
    'parameters.values 4 -> 4: 0 added, 0 removed, another order',
  );
  assert.equal(diff(0, 'l1.json', 'l1.json').length, 1);
});

// ---- blocks ----

test('new states blocks, check prints them, and one below the minimum cohort is refused by name', () => {
  /** @param {string} file @param {...string} options */
  const make = (file, ...options) =>
    good('recipe', 'new', '--id', 'b', '--expires', '2099-01-01', '-o', file, ...options);
  make('b.json', '--block-minimum', '5000', '--block-tick', '3600');
  assert.deepEqual(JSON.parse(read('b.json')).block, { minimum: 5000, tick_s: 3600 });
  assert.match(
    good('recipe', 'check', 'b.json').text,
    /^blocks {14}5,000 reports at least, and one may close every 3600 s$/m,
  );
  make('plain.json', '--block-tick', '60', '--cohort-minimum', '7000');
  assert.deepEqual(JSON.parse(read('plain.json')).block, { tick_s: 60 });
  assert.match(good('recipe', 'check', 'plain.json').text, /^blocks {14}7,000 reports at least/m);
  for (const [why, ...options] of /** @type {[RegExp, ...string[]][]} */ ([
    [/block\.minimum.* is below cohort\.minimum/, '--block-minimum', '999'],
    [/block\.minimum/, '--block-minimum', '0'],
    [/block\.tick_s/, '--block-tick', '31536001'],
    [/--block-minimum must be a number/, '--block-minimum', 'x'],
    [/--block-tick must be a number/, '--block-tick', ''],
  ]))
    bad(2, why, 'recipe', 'new', '--id', 'b', '--expires', '2099-01-01', ...options);
});

test('a block at its default is not hashed, and diff says what a smaller one is', () => {
  write('d.json', list(['cod', 'eel'], 1, {}));
  write('d2.json', list(['cod', 'eel'], 1, { block: { minimum: 1000, tick_s: 86400 } }));
  write('d3.json', list(['cod', 'eel'], 1, { block: { minimum: 1001 } }));
  const [plain, stated, other] = ['d.json', 'd2.json', 'd3.json'].map(
    (file) => good('recipe', 'hash', file).text,
  );
  assert.equal(stated, plain);
  assert.notEqual(other, plain);
  assert.doesNotMatch(good('recipe', 'check', 'd2.json').text, /^blocks/m);
  assert.match(
    cli.run('recipe', 'diff', 'd3.json', 'd.json').text,
    /^note {16}looser: smaller blocks are shown: 1001 -> 1000$/m,
  );
});

// ---- recipes that find words ----

/** A new recipe of a compound, read back. @param {string} mechanism @param {...string} options @returns {any} */
function fresh(mechanism, ...options) {
  good(
    'recipe',
    'new',
    '--id',
    'w',
    '--expires',
    '2099-01-01',
    '--mechanism',
    mechanism,
    '-o',
    'w.json',
    ...options,
  );
  return JSON.parse(read('w.json'));
}

test('new takes for loloha the least g whose rows hold the list, known by number or by its values', () => {
  for (const [n, g] of [
    [3, 2],
    [15, 2],
    [16, 8],
    [63, 8],
    [64, 16],
  ]) {
    write('list.txt', Array.from({ length: n }, (_, i) => `v${i}\n`).join(''));
    for (const list of [
      ['--size', `${n}`],
      ['--values', 'list.txt'],
    ])
      assert.equal(fresh('loloha', '--value', 'item', ...list).parameters.g, g, `${list}`);
  }
});

test('new writes recipes of compounds by what is planned, and simulate takes them', () => {
  write('words.tsv', 'ab\t3\ncd\t1\n');
  const sfp = fresh('sfp', '--epsilon', '8');
  assert.equal(sfp.parameters.oracle, 'olh');
  assert.equal(
    Math.round((sfp.parameters.epsilon + sfp.parameters.epsilon_fragment) * 1e6),
    8e6,
    'split, none of it lost',
  );
  good(
    'simulate',
    '--recipe',
    'w.json',
    '--counts',
    'words.tsv',
    '--devices',
    '5',
    '--seed',
    's',
    '-o',
    'b',
  );
  const apple = fresh(
    'sfp',
    '--epsilon',
    '6',
    '--epsilon-fragment',
    '2',
    '--oracle',
    'cms',
    '--k',
    '2048',
    '--m',
    '1024',
    '--k-fragment',
    '2048',
    '--m-fragment',
    '1024',
  ).parameters;
  assert.deepEqual(
    [apple.epsilon, apple.epsilon_fragment, apple.k, apple.m_fragment],
    [6, 2, 2048, 1024],
  );

  // Few strings are found by n-grams: fewer devices find fewer, and another way is named.
  const least = (/** @type {string} */ devices) => {
    const said = good(
      ...['recipe', 'new', '--id', 'w', '--mechanism', 'rappor-ngram', '--expires', '2099-12-31'],
      ...['--epsilon', '6', '--length', '20', '--devices', devices, '-o', 'grams.json'],
    ).err;
    const [, own, other] =
      /n-grams find only what ([\d.]+) % or more send, and often nothing; .* sfp finds what ([\d.]+) % send/.exec(
        said,
      ) ?? [];
    assert.ok(Number(own) > Number(other) && Number(other) > 0, said);
    return Number(own);
  };
  const [few, many] = [least('100000'), least('10000000')];
  assert.ok(Math.abs(few / many - 10) < 1.5, 'the share falls by the root of the devices');
  // The recipe itself says it too, in the same figures, for its minimum cohort and for a million.
  const million = least('1000000');
  const [, fewest, most] =
    /^found +with 1,000 reports (?:only what ([\d.]+) % or more send|nothing); with 1,000,000 only what ([\d.]+) % or more send$/m.exec(
      good('recipe', 'check', 'grams.json').text,
    ) ?? [];
  assert.equal(Number(most), million);
  assert.ok(fewest === undefined || Number(fewest) > 20 * million);

  const ngram = fresh(
    'rappor-ngram',
    '--epsilon',
    '6',
    '--hashes',
    '2',
    '--grams',
    '3',
    '--length',
    '20',
  );
  assert.ok(
    ngram.parameters.f === 0 &&
      ngram.parameters.epsilon === 6 &&
      ngram.parameters.p + ngram.parameters.q > 0.999,
  );
  const [, cost] =
    /^epsilon per report {2}([\d.]+) /m.exec(good('recipe', 'check', 'w.json').text) ?? [];
  assert.ok(
    Number(cost) <= 6 && Number(cost) > 5.999,
    `${cost}: no more than what was asked for, and hardly less`,
  );
  good(
    'simulate',
    '--recipe',
    'w.json',
    '--counts',
    'words.tsv',
    '--devices',
    '5',
    '--seed',
    's',
    '-o',
    'b',
  );

  const trie = fresh('trie', '--devices', '2000000', '--contributions', '2');
  assert.deepEqual(
    [trie.value, trie.encoding[0].starts, trie.parameters.depth, trie.parameters.contributions],
    ['fields', '0', 15, 2],
  );
  assert.ok(trie.encoding[0].step >= 1 && trie.send.sample < 1);
  assert.equal(fresh('trie', '--step', '1').encoding[0].step, 1);
  good('recipe', 'check', 'w.json');
  /** @param {...string} args */
  const base = (...args) => [
    'recipe',
    'new',
    '--id',
    'w',
    '--expires',
    '2099-01-01',
    '--mechanism',
    ...args,
  ];
  bad(2, /must be even/, ...base('sfp', '--length', '9'));
  bad(2, /both parts of sfp/, ...base('sfp', '--epsilon', '12', '--epsilon-fragment', '5'));
  bad(
    2,
    /parameters\.epsilon is below|parameters\.epsilon is outside/,
    ...base('rappor-ngram', '--epsilon', '3', '--p', '0.25', '--q', '0.75'),
  );
  bad(2, /parameters\.oracle is none of the known names/, ...base('sfp', '--oracle', 'hcms'));
  bad(2, /parameters\.length is not a field/, ...base('trie', '--length', '9'));
  bad(2, /--devices and --step are for recipes that find words/, ...base('cms', '--devices', '9'));
});

test('check says what each part costs, and diff what is looser', () => {
  fresh(
    'sfp',
    '--epsilon',
    '6',
    '--epsilon-fragment',
    '2',
    '--oracle',
    'cms',
    '--k',
    '2048',
    '--m',
    '1024',
    '--k-fragment',
    '2048',
    '--m-fragment',
    '1024',
  );
  const { text: sfp } = good('recipe', 'check', 'w.json');
  assert.match(sfp, /^record {14}264 bytes in a batch/m);
  assert.match(sfp, /^positions {11}5 of 2 bytes/m);
  assert.match(
    sfp,
    /^part 1 .* 2048 rows a position of 1024 columns, epsilon 2 \(as drawn: 2\), 132 bytes$/m,
  );
  assert.match(sfp, /^part 2 .* 2048 rows of 1024 columns, epsilon 6 /m);
  assert.match(sfp, /^epsilon per report {2}8 \(as drawn: 8\), all parts together$/m);

  fresh(
    'rappor-ngram',
    '--f',
    '0.5',
    '--p',
    '0.25',
    '--q',
    '0.75',
    '--hashes',
    '1',
    '--length',
    '20',
  );
  const { text: ngram } = good('recipe', 'check', 'w.json');
  assert.match(ngram, /^part 3 .*whole string: rappor, 8 cohorts of 128 bits, epsilon 1\.021652 /m);
  assert.match(ngram, /^epsilon per report {2}3\.064956 /m);
  assert.match(ngram, /^epsilon per value {3}24\.169\d* /m); // ten positions and the string, 2.197225 each

  fresh('trie', '--contributions', '3', '--epsilon', '4');
  const before = read('w.json');
  const { text: trie } = good('recipe', 'check', 'w.json');
  assert.match(trie, /^epsilon per report {2}4 .*item-level/m);
  assert.match(trie, /^epsilon per person {2}12, user-level: 3 contributions/m);
  write('before.json', before);
  const json = JSON.parse(before);
  write('same.json', {
    ...json,
    encoding: [{ ...json.encoding[0], starts: [''], characters: [...json.encoding[0].characters] }],
  });
  assert.doesNotMatch(
    cli.run('recipe', 'diff', 'before.json', 'same.json').text,
    /encoding/,
    'lists written otherwise are the same lists',
  );
  write('after.json', {
    ...json,
    encoding: [{ ...json.encoding[0], starts: '0a 0b' }],
    parameters: { ...json.parameters, contributions: 5, known: '0the 2y' },
  });
  const { text: diff } = cli.run('recipe', 'diff', 'before.json', 'after.json');
  assert.match(diff, /^encoding\[word\]\.starts 1 -> 2: 2 added, 1 removed$/m);
  assert.match(diff, /^parameters\.known {4}0 -> 2: 2 added/m);
  assert.match(diff, /looser: more reports of one device: 3 -> 5/);
});

test('check as JSON: what the table says, an error in its place, a signature, and a budget', () => {
  const check = (/** @type {string[]} */ ...args) => {
    const run = cli.run('recipe', 'check', '--format', 'json', ...args);
    return { code: run.code, ...JSON.parse(run.text) };
  };
  write('broken.json', '{');
  write('long.json', { ...sketch(), expires: '2099-12-31' });
  const { schema, code, checked } = check('long.json', 'broken.json', 's.json');
  assert.deepEqual([schema, code, checked.length], [1, 2, 3]);
  const [one, error, signed] = checked;
  const table = good('recipe', 'check', 'long.json').text;
  assert.equal(/^hash +(\w+)$/m.exec(table)?.[1], one.hash);
  assert.equal(Number(/^record +(\d+) bytes/m.exec(table)?.[1]), one.record_bytes);
  assert.equal(Number(/, (\d+) in a JSON report$/m.exec(table)?.[1]), one.report_bytes);
  assert.equal(Number(/^epsilon per day +([\d.]+) /m.exec(table)?.[1]), one.epsilon.day);
  assert.equal(Number(/\((\d+) days until it expires/m.exec(table)?.[1]), one.days_left);
  assert.equal(one.expires, '2099-12-31');
  assert.ok(table.includes(`verdict, day        ${one.verdicts.window.verdict}: `), table);
  assert.equal(one.epsilon.person, one.epsilon.day * one.days_left);
  assert.deepEqual([one.query, one.cohort.claim, one.signature], [null, null, 'none']);
  assert.equal(error.kind, 'error');
  assert.match(error.error, /^broken\.json: is not JSON$/);
  assert.deepEqual([signed.signature, signed.kind], ['good', 'recipe']);

  const dear = check('--budget', '4/30', 'long.json');
  assert.equal(dear.code, 1);
  assert.deepEqual(dear.checked[1].budget, { days: 30, epsilon: 4, within: false });
  assert.equal(dear.checked[1].epsilon.window, 30 * one.epsilon.day);
  bad(2, /--format is table or json/, 'recipe', 'check', '--format', 'csv', 'long.json');
});
