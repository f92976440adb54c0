// SPDX-License-Identifier: Apache-2.0
// shoal audit from outside: what it prints, its exit codes, clients that leak, and records of the WebAssembly module of every
// mechanism. The command is $SHOAL_BIN or build/release/shoal.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { list, sketch } from './cli_helpers.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');
const skip =
  !existsSync(join(root, 'wasm/dist/shoal-all.wasm')) && 'wasm/dist/shoal-all.wasm is not built';
/** @type {string} */
let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-audit-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {object} recipe @param {string} [name] */
function write(recipe, name = 'r.json') {
  writeFileSync(join(folder, name), JSON.stringify(recipe));
}

/** @param {string[]} args @param {string} [input] */
function audit(args, input) {
  const run = spawnSync(bin, ['audit', ...args], { cwd: folder, input, maxBuffer: 1 << 24 });
  return { code: run.status, text: run.stdout.toString(), err: run.stderr.toString() };
}

/** @param {number} code @param {string[]} args @param {string} [input] */
function json(code, args, input) {
  const run = audit([...args, '--format', 'json'], input);
  assert.equal(run.code, code, run.err);
  const result = JSON.parse(run.text);
  assert.equal(result.ok, code === 0);
  const said = run.err
    .trim()
    .split('\n')
    .filter((line) => line !== '' && !line.includes('takes up to')); // of memory
  assert.deepEqual(
    said,
    result.failures.map((/** @type {string} */ text) => `shoal: audit: ${text}`),
  );
  return result;
}

/** Records of the module that pages run. @param {string} recipe @param {string[]} items @param {number} trials @param {string} [seed] */
function drawRecords(recipe, items, trials, seed = 's') {
  const run = spawnSync(
    process.execPath,
    [
      join(root, 'scripts/draw-records.mjs'),
      '--recipe',
      recipe,
      '--trials',
      String(trials),
      '--seed',
      seed,
      ...items.flatMap((item) => ['--item', item]),
    ],
    { cwd: folder, maxBuffer: 1 << 28 },
  );
  assert.equal(run.status, 0, run.stderr.toString());
  return run.stdout.toString();
}

/** @param {number} size @param {number} epsilon @param {string} [mechanism] */
const sized = (size, epsilon, mechanism = 'subset') => ({
  ...list([], epsilon),
  mechanism,
  parameters: { epsilon, size },
});

test('the result as JSON and as a table', () => {
  write(list(['red', 'green', 'blue'], 2));
  const result = json(0, ['--recipe', 'r.json', '--trials', '20000']);
  assert.deepEqual(Object.keys(result).slice(0, 5), [
    'mechanism',
    'claimed',
    'exact',
    'empirical_low',
    'ok',
  ]);
  assert.equal(result.mechanism, 'onehot-asymmetric');
  assert.equal(result.claimed, 2);
  assert.ok(result.exact <= 2 && result.exact > 1.999998);
  assert.ok(result.enumerated <= result.exact && result.enumerated > result.exact - 2e-6);
  assert.ok(result.empirical_low > 1.6 && result.empirical_low <= 2, String(result.empirical_low));
  assert.deepEqual(result.items, ['red', 'blue', '']);
  assert.deepEqual(
    [result.draws, result.refused, result.confidence, result.enumerated_items],
    [60000, 0, 0.999, 4],
  );
  assert.equal(result.event.of.length, 2);
  const table = audit(['--recipe', 'r.json', '--trials', '20000', '--items', 'green,']);
  assert.equal(table.code, 0, table.err);
  for (const line of [
    /^claimed +2\.0/m,
    /^exact +(2\.0|1\.99999)/m,
    /^enumerated +.* 4 items: all of them$/m,
    /^empirical +1\./m,
    /^ok +yes$/m,
  ])
    assert.match(table.text, line);
  assert.match(table.text, / of .*(green.*against none|none.*against green) /);
});

test('the same seed gives the same result, another another; what is too large is said to be', () => {
  write(sketch());
  const args = ['--recipe', 'r.json', '--trials', '3000'];
  const one = json(0, [...args, '--threads', '1']);
  assert.equal(one.enumerated, null);
  assert.deepEqual(json(0, [...args, '--threads', '3']), one);
  assert.notDeepEqual(json(0, [...args, '--seed', 'other']), one);
  assert.match(audit(args).text, /too large to enumerate/);
});

/**
 * A subset of d of s for `item`, in the order in which a library drew it: its own entry first, where it is in.
 * @param {number} s @param {number} d @param {number} epsilon @param {number} item @param {() => number} random
 */
function orderedSubset(s, d, epsilon, item, random) {
  const odds = (d * Math.exp(epsilon)) / (s - d);
  const set = random() < odds / (1 + odds) ? [item] : [];
  const others = new Set();
  while (set.length + others.size < d) {
    const other = Math.floor(random() * s);
    if (other !== item) others.add(other);
  }
  return [...set, ...others];
}

/** A small generator with a seed (mulberry32), so that each run is the same. @param {number} state */
const makeRandom = (state) => () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

/** Draws of two items. @param {number} n @param {number[]} items @param {(item: number) => string} draw */
const drawsOf = (n, items, draw) =>
  Array.from({ length: n }, () => items.map((item) => `${item}\t${draw(item)}\n`).join('')).join(
    '',
  );

test('a subset that comes with its own entry first: claimed 2, really 6.9', () => {
  const [s, d] = [1000, 120];
  const random = makeRandom(7);
  write(sized(s - 1, 2));
  /** @param {number[]} set */
  const text = (set) => set.map((index) => String(index).padStart(3, '0')).join(',');
  const ordered = json(
    3,
    ['--recipe', 'r.json', '--draws', '-'],
    drawsOf(12000, [412, 77], (item) => text(orderedSubset(s, d, 2, item, random))),
  );
  assert.equal(ordered.refused, 24000);
  assert.ok(ordered.exact <= 2);
  // The first of 120 is the own one with p = 0.5 and any other with 0.5/999 + 0.5/119 * 0: of 6,000 draws for it 3 hits, whose upper
  // bound is about 17: ln(0.48 * 6000 / 17) = 5.1.
  assert.ok(
    ordered.empirical_low > 4.7 && ordered.empirical_low < 6.95,
    String(ordered.empirical_low),
  );
  assert.match(ordered.failures[0], /^records: 24000 of 24000 cannot have been made .* line 1: /);
  assert.match(
    ordered.failures[1],
    /^empirical: .* above the claimed 2\.0.*; by: .*field 1 is (412|077)/,
  );
  assert.equal(ordered.event.what, `field 1 is ${ordered.event.items[0].padStart(3, '0')}`);

  // Shuffled, an order says nothing: a record that the recipe's randomizer cannot have made, but no leak.
  const shuffled = json(
    3,
    ['--recipe', 'r.json', '--draws', '-'],
    drawsOf(4000, [412, 77], (item) => {
      const set = orderedSubset(s, d, 2, item, random);
      for (let i = set.length - 1; i > 0; i--) {
        const j = Math.floor(random() * (i + 1));
        [set[i], set[j]] = [set[j], set[i]];
      }
      return text(set);
    }),
  );
  assert.equal(shuffled.failures.length, 1);
  assert.ok(shuffled.empirical_low <= 2);

  const sorted = json(
    0,
    ['--recipe', 'r.json', '--draws', '-'],
    drawsOf(8000, [412, 77], (item) =>
      text(orderedSubset(s, d, 2, item, random).sort((a, b) => a - b)),
    ),
  );
  assert.ok(sorted.empirical_low > 1.5, String(sorted.empirical_low));
});

/** @param {number} f @param {object} [more] parameters */
const bloom = (f, more) => ({
  ...sketch({
    mechanism: 'rappor',
    parameters: { bits: 16, hashes: 2, cohorts: 1, p: 0, q: 1, f, ...more },
  }),
});

/** The f whose every bit has odds e^x. @param {number} x */
const flips = (x) => Math.round(2e6 / (Math.exp(x) + 1)) / 1e6;

test('RAPPOR that forgets its second hash: claimed 2, really 4', { skip }, () => {
  // Two hashes make four bits that differ: e^(2/4) each is what 2 buys. The client that counts one hash draws e^(2/2).
  write(bloom(flips(1)), 'forgets.json');
  write(bloom(flips(0.5)), 'pays.json');
  const records = drawRecords('forgets.json', ['one', 'two'], 40000);
  const caught = json(3, ['--recipe', 'pays.json', '--draws', '-'], records);
  assert.equal(caught.failures.length, 1);
  assert.match(caught.failures[0], /^empirical: /);
  assert.ok(
    Math.abs(caught.claimed - 2) < 1e-4 &&
      caught.empirical_low > 3.3 &&
      caught.empirical_low < 4.001,
    String(caught.empirical_low),
  );
  assert.equal(
    json(
      0,
      ['--recipe', 'pays.json', '--draws', '-'],
      drawRecords('pays.json', ['one', 'two'], 20000),
    ).refused,
    0,
  );
  // A recipe that says 2 of it is refused before anything is drawn.
  write(bloom(flips(1), { epsilon: 2 }), 'says.json');
  const refused = audit(['--recipe', 'says.json']);
  assert.equal(refused.code, 2, refused.err);
  assert.match(refused.err, /parameters\.epsilon/);
});

test('RAPPOR whose f is rounded away: no noise at all', () => {
  // f = 0.00 of two digits. What 0 of n draws prove is ln(n / 9) or so: against a claim of 12 it takes n = 1,600,000 that are counted.
  const [epsilon, n] = [12, 3_200_000];
  write({
    ...list([], epsilon),
    mechanism: 'rappor',
    seed: sketch().seed,
    parameters: { size: 8, p: 0, q: 1, f: flips(epsilon / 2) },
  });
  const caught = json(3, ['--recipe', 'r.json', '--draws', '-'], '1\t0,02\n5\t0,20\n'.repeat(n));
  assert.match(caught.failures[0], /^empirical: /);
  assert.ok(
    caught.empirical_low > epsilon && Math.abs(caught.claimed - epsilon) < 0.02,
    JSON.stringify(caught),
  );
});

test("records of every mechanism's vectors, drawn by the module that pages run", { skip }, () => {
  const vectors = readdirSync(join(root, 'tests/core/vectors'));
  assert.ok(vectors.length >= 3);
  for (const name of vectors) {
    const [{ recipe }] = JSON.parse(readFileSync(join(root, 'tests/core/vectors', name), 'utf8'));
    if (
      recipe.variables ||
      ['sfp', 'rappor-ngram', 'thresh', 'heavythresh'].includes(recipe.mechanism)
    )
      continue; // of several parts
    const { size, values, low, high } = recipe.parameters;
    const [first, last] =
      low !== undefined
        ? [low, high]
        : values
          ? [values[0], values.at(-1)]
          : size
            ? [0, size - 1]
            : recipe.mechanism === 'trie'
              ? [0, 5]
              : ['one', 'two'];
    const items = [String(first), String(last)];
    write(recipe);
    const here = json(0, ['--recipe', 'r.json', '--items', items.join(','), '--trials', '4000']);
    const page = json(
      0,
      ['--recipe', 'r.json', '--draws', '-'],
      drawRecords('r.json', items, 4000),
    );
    assert.deepEqual(
      [page.mechanism, page.claimed, page.exact, page.enumerated, page.refused],
      [here.mechanism, here.claimed, here.exact, here.enumerated, 0],
    );
    assert.deepEqual(page.items, items);
    assert.equal(page.draws, 8000);
  }
});

test('recipes of several parts, part by part', () => {
  const base = {
    recipe: 'w',
    analysis: 'a',
    stream: 's',
    value: 'word',
    hash: 'poly1',
    seed: sketch().seed,
    limit: { per_day: 1 },
    expires: '2099-12-31',
  };
  const parts = () => {
    const { code, text, err } = audit([
      '--recipe',
      'r.json',
      '--trials',
      '20000',
      '--format',
      'json',
    ]);
    assert.equal(code, 0, err);
    return JSON.parse(text);
  };
  write({
    ...base,
    mechanism: 'sfp',
    parameters: {
      epsilon: 3,
      epsilon_fragment: 2,
      k: 8,
      m: 4,
      k_fragment: 4,
      m_fragment: 8,
      length: 4,
      oracle: 'olh',
    },
  });
  const sfp = parts();
  assert.deepEqual([sfp.mechanism, sfp.claimed, sfp.ok, sfp.parts.length], ['sfp', 5, true, 2]);
  assert.deepEqual(
    sfp.parts.map((/** @type {any} */ part) => [
      part.first,
      part.alike,
      part.audit.mechanism,
      part.audit.claimed,
    ]),
    [
      [1, 1, 'olh', 2],
      [2, 1, 'olh', 3],
    ],
  );
  assert.ok(sfp.exact <= 5 && sfp.exact > 4.99999);
  assert.equal(
    sfp.empirical_low,
    sfp.parts[0].audit.empirical_low + sfp.parts[1].audit.empirical_low,
  );
  assert.ok(sfp.empirical_low > 4 && sfp.empirical_low <= 5, String(sfp.empirical_low)); // more than either part claims
  assert.ok(
    sfp.parts.every(
      (/** @type {any} */ part) => part.audit.confidence > 0.9994 && part.audit.confidence < 0.9996,
    ),
    'of both together 0.999',
  );

  write({
    ...base,
    mechanism: 'rappor-ngram',
    parameters: {
      bits: 4,
      hashes: 1,
      cohorts: 2,
      p: 0.25,
      q: 0.75,
      f: 0.5,
      length: 6,
      n: 2,
      grams: 3,
      alphabet: 'ab',
    },
  });
  const ngram = parts();
  assert.deepEqual(
    ngram.parts.map((/** @type {any} */ part) => [part.first, part.alike, part.audit.mechanism]),
    [
      [1, 3, 'rappor'],
      [4, 1, 'rappor'],
    ],
  );
  assert.ok(Math.abs(ngram.claimed - 4 * 1.021652) < 1e-9 && ngram.exact <= ngram.claimed);
  const [grams, string] = ngram.parts.map((/** @type {any} */ part) => part.audit);
  assert.ok(grams.enumerated > 1.0216 && string.enumerated > 1.0216 && string.unlimited > 2.197);
  assert.ok(Math.abs(ngram.empirical_low - 3 * grams.empirical_low - string.empirical_low) < 1e-9);
  const { code, err } = audit(['--recipe', 'r.json', '--items', 'a,b']);
  assert.equal(code, 2);
  assert.match(err, /do not go with rappor-ngram, whose parts are audited one by one/);

  const field = { field: 'word', starts: '0a 0b', characters: 'ab' };
  write({
    ...base,
    hash: undefined,
    seed: undefined,
    value: 'fields',
    encoding: [field],
    mechanism: 'trie',
    parameters: { epsilon: 2, contributions: 3, depth: 4, max_prefixes: 9 },
  });
  const trie = json(0, ['--recipe', 'r.json', '--trials', '20000']);
  assert.deepEqual([trie.mechanism, trie.claimed, trie.contributions], ['trie', 2, 3]);
  assert.ok(trie.enumerated <= 2 && trie.enumerated > 1.99999);
});

test('what draw-records refuses', { skip }, () => {
  write(list(['red', 'green'], 2));
  const script = join(root, 'scripts/draw-records.mjs');
  /** @param {RegExp} says @param {...string} args */
  const bad = (says, ...args) => {
    const run = spawnSync(process.execPath, [script, ...args], { cwd: folder });
    assert.equal(run.status, 2);
    assert.match(run.stderr.toString(), says);
    assert.equal(run.stdout.toString(), '');
  };
  bad(/--recipe and --item/, '--item', 'red');
  bad(/one of the recipe's/, '--recipe', 'r.json', '--item', 'red', '--item', 'pink');
  bad(/--trials/, '--recipe', 'r.json', '--item', 'red', '--trials', '0');
  assert.equal(
    drawRecords('r.json', ['red', ''], 3, 'a'),
    drawRecords('r.json', ['red', ''], 3, 'a'),
  );
});

test('what the command line may not say', () => {
  write(list(['red', 'green'], 2));
  /** @param {number} code @param {RegExp} says @param {string[]} args @param {string} [input] */
  const bad = (code, says, args, input) => {
    const run = audit(args, input);
    assert.match(run.err, says);
    assert.equal(run.code, code, run.err);
    assert.equal(run.text, '');
  };
  bad(2, /--recipe is needed/, []);
  bad(2, /takes options only/, ['--recipe', 'r.json', 'more']);
  bad(2, /--items: needs two items/, ['--recipe', 'r.json', '--items', 'red']);
  bad(2, /--items: the item is not one of the recipe's/, [
    '--recipe',
    'r.json',
    '--items',
    'red,pink',
  ]);
  bad(2, /--items: an item is named twice/, ['--recipe', 'r.json', '--items', 'red,red']);
  bad(2, /--trials must be/, ['--recipe', 'r.json', '--trials', '1']);
  bad(2, /--confidence must be/, ['--recipe', 'r.json', '--confidence', '1']);
  bad(2, /--format is table or json/, ['--recipe', 'r.json', '--format', 'csv']);
  bad(2, /do not go with --draws/, ['--recipe', 'r.json', '--draws', '-', '--trials', '5'], '');
  bad(
    2,
    /standard input: line 2: a tab/,
    ['--recipe', 'r.json', '--draws', '-'],
    'red\t00\nred 00\n',
  );
  bad(
    2,
    /standard input: line 2: the item/,
    ['--recipe', 'r.json', '--draws', '-'],
    'red\t00\npink\t00\n',
  );
  bad(
    2,
    /standard input: draws of two items/,
    ['--recipe', 'r.json', '--draws', '-'],
    'red\t00\nred\t00\n',
  );
  bad(5, /absent/, ['--recipe', 'r.json', '--draws', 'absent']);
  bad(5, /absent/, ['--recipe', 'absent']);
});

test('a run over epochs is audited by its votes and estimates, and all of its reports are added up', () => {
  const plan = {
    epsilon: 4,
    users: 20000,
    epochs: 64,
    samples: 1000,
    smallest_group: 20000,
    groups: 1,
    delta: '1e-6',
  };
  const common = {
    recipe: 'r',
    analysis: 'a',
    stream: 's',
    round: { index: 1 },
    limit: { per_day: 1 },
    expires: '2099-12-31',
  };
  const seed = '00112233445566778899aabbccddeeff'.repeat(2);
  for (const more of [
    { value: 'number', mechanism: 'thresh', parameters: { ...plan, low: -5, high: 20 } },
    {
      value: 'item',
      mechanism: 'heavythresh',
      seed,
      parameters: { ...plan, projection: 64, epsilon_estimate: 0.5 },
    },
  ]) {
    write({ ...common, ...more });
    const run = audit(['--recipe', 'r.json', '--trials', '200000', '--format', 'json']);
    assert.equal(run.code, 0, run.err);
    const { parts, claimed, exact, empirical_low: low, ok } = JSON.parse(run.text);
    assert.deepEqual(
      parts.map((/** @type {any} */ { first, alike }) => [first, alike]),
      [
        [1, 1],
        [2, 1],
      ],
    );
    const [a, b] = parts.map((/** @type {any} */ part) => part.audit.exact);
    assert.deepEqual([claimed, ok], [4, true]);
    assert.ok(
      Math.abs(exact - (2 * Math.floor(4 / (4 * a)) * a + Math.floor(4 / (2 * b)) * b)) < 1e-6,
      `${exact}`,
    );
    assert.ok(exact > 3 && exact <= 4 && low > 0.8 * exact && low <= exact, `${low} of ${exact}`);
    assert.match(
      audit(['--recipe', 'r.json', '--trials', '2000']).text,
      /^all reports of a run together/m,
    );
  }
});
