// SPDX-License-Identifier: Apache-2.0
// `make bench-discover`: measures how many words each method of discovery finds, how many of them
// nobody sent, and how long it takes. It runs the commands on the real word frequencies of film
// subtitles. Measured rows are kept in build/bench/discover/rows.json: an interrupted run goes on
// where it was, and a run with other recipes measures only what changed.
//
// --docs writes the tables into docs/discover.md; --only TEXT measures rows with that text in their
// name; --quick leaves out 10^7 devices; --fresh forgets the kept rows.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allWordCounts, foreignCounts, fromTsv, toTsv } from './demo/data.mjs';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const BINARY = process.env.SHOAL_BIN ?? join(ROOT, 'build/release/shoal');
const OUT = join(ROOT, 'build/bench/discover');
const KEPT = join(OUT, 'rows.json');
const PAGE = join(ROOT, 'docs/discover.md');
const TOP = 100;
const KEY = '0123456789abcdef'.repeat(4);
const [MILLION, TEN_MILLION] = [1_000_000, 10_000_000];

const has = (/** @type {string} */ flag) => process.argv.includes(flag);
const after = (/** @type {string} */ flag) =>
  has(flag) ? process.argv[process.argv.indexOf(flag) + 1] : '';
const whole = (/** @type {number} */ x) => Math.round(x).toLocaleString('en-US');

// ---- commands ----

/** @param {string} command @param {number | null} code @param {string} err */
function check(command, code, err) {
  if (code !== 0) throw new Error(`shoal ${command} ended with ${code}:\n${err}`);
}

/** Runs a command of shoal, with another one's output as its input where there is one. @param {string[]} args @param {string[]} [from] */
async function shoal(args, from) {
  const child = spawn(BINARY, args, {
    cwd: OUT,
    stdio: [from ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  let [text, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (part) => (text += part));
  child.stderr?.setEncoding('utf8').on('data', (part) => (err += part));
  const ends = [once(child, 'close').then(([code]) => check(args[0], code, err))];
  if (from) {
    const source = spawn(BINARY, from, { cwd: OUT, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    source.stderr.setEncoding('utf8').on('data', (part) => (said += part));
    source.stdout.pipe(/** @type {import('node:stream').Writable} */ (child.stdin));
    ends.push(once(source, 'close').then(([code]) => check(from[0], code, said)));
  }
  await Promise.all(ends);
  return { text, err };
}

/** Simulates devices of a recipe and folds their reports. @param {string} name of the recipe's file @param {Case} row @param {{first: number, n: number}} part @param {Map<string, number>} truth added to */
async function collect(name, row, part, truth) {
  const common = ['--recipe', `${name}.json`];
  await shoal(
    ['ingest', ...common, '-o', `${name}.acc`, '-'],
    [
      'simulate',
      ...common,
      '--counts',
      `${row.list}.tsv`,
      '--devices',
      String(part.n),
      '--first',
      String(part.first),
      '--seed',
      `${row.seed}`,
      '-o',
      '-',
      '--truth',
      `${name}.truth`,
    ],
  );
  for (const [value, count] of fromTsv(readFileSync(join(OUT, `${name}.truth`), 'utf8')))
    truth.set(value, (truth.get(value) ?? 0) + count);
}

/** @typedef {{rows: {value: string}[], notes: string[], seconds: number}} Decoded */
/** Discovers; the seconds are of this one command. @param {string[]} rounds @returns {Promise<Decoded>} */
async function discover(rounds) {
  const began = Date.now();
  const { text } = await shoal(['discover', ...rounds, '--format', 'json']);
  const { rows, notes, cuts } = JSON.parse(text);
  return {
    rows,
    notes: [...notes, ...cuts.map((/** @type {string} */ cut) => `cut: ${cut}`)],
    seconds: (Date.now() - began) / 1000,
  };
}

// ---- recipes ----

/** @param {string} mechanism @param {object} parameters */
const recipe = (mechanism, parameters) => ({
  recipe: 'words',
  analysis: 'keyboard',
  stream: 'typed-words',
  value: 'word',
  mechanism,
  parameters,
  seed: KEY,
  hash: 'poly1',
  limit: { per_day: 1 },
  expires: '2099-12-31',
});

/** The power of two nearest e^epsilon + 1. @param {number} epsilon */
const answers = (epsilon) => 2 ** Math.round(Math.log2(Math.exp(epsilon) + 1));

/**
 * SFP with epsilon split between the whole string and its fragment. olh has so many rows that
 * shared cells do not limit it.
 * @param {'cms' | 'olh'} oracle @param {number[]} split @param {number} length @param {number} n
 */
function sfp(oracle, [epsilon, fragment], length, n) {
  const cells = n > MILLION ? 2 ** 24 : 2 ** 22;
  const [m, m_fragment] = oracle === 'olh' ? [answers(epsilon), answers(fragment)] : [1024, 1024];
  const [k, k_fragment] = oracle === 'olh' ? [cells / m, cells / m_fragment] : [2048, 2048];
  return recipe('sfp', {
    epsilon,
    epsilon_fragment: fragment,
    k,
    m,
    k_fragment,
    m_fragment,
    length,
    oracle,
  });
}

/**
 * RAPPOR n-grams with epsilon / 3 for each part: h ln(q (1 - p) / (p (1 - q))) with q = 1 - p,
 * rounded so that it costs no more.
 * @param {number} epsilon @param {string} alphabet @param {number} length
 */
function ngrams(epsilon, alphabet, length) {
  const hashes = 2;
  const p = Math.ceil(1e6 / (1 + Math.exp(epsilon / 3 / hashes / 2))) / 1e6;
  return recipe('rappor-ngram', {
    bits: 128,
    hashes,
    cohorts: 8,
    p,
    q: Number((1 - p).toFixed(6)),
    f: 0,
    length,
    n: 2,
    grams: 2,
    alphabet,
  });
}

// ---- ways to find words ----

/** @typedef {Decoded & {truth: Map<string, number>, rounds: number}} Found */
/**
 * @typedef {object} Case a row of a table
 * @property {string} name the way
 * @property {string} list words or russian
 * @property {number} epsilon of a device, all together
 * @property {number} n devices
 * @property {string} seed
 * @property {object | TrieWish} wish a recipe, or what the planner is asked for
 */
/** @typedef {{trie: string[]}} TrieWish */

/** @param {Case} row @returns {Promise<Found>} */
async function findAtOnce(row) {
  const truth = new Map();
  writeFileSync(join(OUT, 'one.json'), JSON.stringify(row.wish));
  rmSync(join(OUT, 'one.acc'), { force: true });
  await collect('one', row, { first: 0, n: row.n }, truth);
  return { truth, rounds: 1, ...(await discover(['--recipe', 'one.json', 'one.acc'])) };
}

/** Rounds as the planner and the rounds before say; every device answers one. @param {Case} row @param {string[]} wish @returns {Promise<Found>} */
async function findInRounds(row, wish) {
  const truth = new Map();
  /** @type {string[]} */
  const rounds = [];
  let [first, name, seconds] = [0, 'round1', 0];
  await shoal([
    'plan',
    '--discover',
    '--method',
    'trie',
    '--devices',
    String(row.n),
    '--epsilon',
    String(row.epsilon),
    '--id',
    'words-1',
    '--recipe-out',
    `${name}.json`,
    ...wish,
  ]);
  for (let i = 1; existsSync(join(OUT, `${name}.json`)); i++, name = `round${i}`) {
    const share = JSON.parse(readFileSync(join(OUT, `${name}.json`), 'utf8')).send?.sample ?? 1;
    const n = Math.max(1000, Math.floor((row.n - first) * share)); // the minimum cohort, and never more than are left
    if (first + n > row.n) break;
    rmSync(join(OUT, `${name}.acc`), { force: true });
    await collect(name, row, { first, n }, truth);
    first += n;
    rounds.push('--recipe', `${name}.json`, `${name}.acc`);
    rmSync(join(OUT, `round${i + 1}.json`), { force: true });
    const began = Date.now();
    await shoal([
      'round',
      'next',
      '--recipe',
      `${name}.json`,
      `${name}.acc`,
      '-o',
      `round${i + 1}.json`,
    ]);
    seconds += (Date.now() - began) / 1000;
  }
  const found = await discover(rounds);
  return { ...found, truth, rounds: rounds.length / 3, seconds: found.seconds + seconds };
}

const ENGLISH = 'abcdefghijklmnopqrstuvwxyz';
const RUSSIAN = 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя';
const trie = (/** @type {string} */ characters) => ({
  trie: ['--depth', '15', '--characters', characters],
});

// The best of the splits that --splits measures, by total epsilon and devices: epsilon of the whole
// string, then of the fragment.
const BEST = /** @type {{[oracle: string]: {[setting: string]: number[]}}} */ ({
  cms: { '4 1000000': [1, 3], '4 10000000': [1, 3], '8 1000000': [2, 6], '8 10000000': [2, 6] },
  olh: {
    '4 1000000': [1, 3],
    '4 10000000': [1, 3],
    '8 1000000': [2.5, 5.5],
    '8 10000000': [2.5, 5.5],
  },
});

/** The ways of a table. @param {number} epsilon @param {number} n @param {string} list @returns {{name: string, wish: any}[]} */
function ways(epsilon, n, list) {
  const isEnglish = list === 'words';
  const length = isEnglish ? 10 : 20;
  const best = (/** @type {'cms' | 'olh'} */ oracle) => {
    const split = BEST[oracle][`${epsilon} ${n}`];
    return { name: `sfp ${oracle}, ${split.join(' + ')}`, wish: sfp(oracle, split, length, n) };
  };
  const shared = [best('olh'), { name: 'trie', wish: trie(isEnglish ? ENGLISH : RUSSIAN) }];
  if (!isEnglish) return shared;
  const apple = { name: "sfp cms, 2 + 6: Apple's", wish: sfp('cms', [2, 6], 10, MILLION) };
  return [
    ...(epsilon === 8 ? [apple] : []),
    best('cms'),
    ...shared,
    { name: 'rappor-ngram', wish: ngrams(epsilon, ENGLISH, 10) },
  ];
}

/** The n-grams' decoder takes minutes: it is measured once for each setting. @param {Case} row */
const isMeasured = ({ name, seed }) => name !== 'rappor-ngram' || seed === '1';

/** @returns {Case[]} */
function cases() {
  const all = [];
  for (const n of has('--quick') ? [MILLION] : [MILLION, TEN_MILLION]) {
    for (const epsilon of [8, 4]) {
      for (const seed of n === MILLION ? ['1', '2', '3'] : ['1']) {
        all.push(
          ...ways(epsilon, n, 'words')
            .map((way) => ({ ...way, list: 'words', epsilon, n, seed }))
            .filter(isMeasured),
        );
      }
    }
  }
  for (const list of ['words', 'russian']) {
    const rows = ways(8, MILLION, 'russian').map((way) => ({
      ...way,
      list,
      epsilon: 8,
      n: MILLION,
      seed: '1',
    }));
    if (list === 'words') rows[1].wish = trie(ENGLISH);
    all.push(
      ...rows.map((row) => ({
        ...row,
        name: `${row.name}${row.name === 'trie' ? '' : ', 20 bytes'}`,
      })),
    );
  }
  return all;
}

/** Words that are found at each split of epsilon, for BEST. @returns {Case[]} */
function splits() {
  const all = [];
  for (const [epsilon, wholes] of /** @type {[number, number[]][]} */ ([
    [8, [1.5, 2, 2.5, 3, 3.5]],
    [4, [0.75, 1, 1.25, 1.5]],
  ])) {
    for (const oracle of /** @type {('cms' | 'olh')[]} */ (['cms', 'olh'])) {
      for (const own of wholes) {
        const split = [own, epsilon - own];
        all.push({
          name: `split ${oracle}, ${split.join(' + ')}`,
          wish: sfp(oracle, split, 10, MILLION),
          list: 'words',
          epsilon,
          n: MILLION,
          seed: 'split',
        });
      }
    }
  }
  return all;
}

// ---- measuring ----

/** @typedef {{found: number, wrong: number, top: number, seconds: number, rounds: number, notes: string[]}} Measured */

/** @param {Case} row @returns {Promise<Measured>} */
async function measure(row) {
  const { trie: wish } = /** @type {TrieWish} */ (row.wish);
  const { rows, truth, seconds, rounds, notes } = await (wish
    ? findInRounds(row, wish)
    : findAtOnce(row));
  const top = new Set(lists[row.list].slice(0, TOP).map(({ value }) => value));
  const sent = wish ? new Set(lists[row.list].map(({ value }) => value)) : truth;
  const isSent = (/** @type {string} */ value) =>
    sent instanceof Map ? (sent.get(value) ?? 0) > 0 : sent.has(value);
  return {
    found: rows.length,
    wrong: rows.filter(({ value }) => !isSent(value)).length,
    top: rows.filter(({ value }) => top.has(value)).length,
    seconds,
    rounds,
    notes,
  };
}

/** @param {Case} row */
const keyOf = (row) => createHash('sha256').update(JSON.stringify(row)).digest('hex').slice(0, 16);

/** @type {{[list: string]: {value: string, count: number}[]}} */
const lists = { words: allWordCounts(), russian: foreignCounts('russian') };
mkdirSync(OUT, { recursive: true });
for (const [name, counts] of Object.entries(lists))
  writeFileSync(join(OUT, `${name}.tsv`), toTsv(counts));
/** @type {{[key: string]: Measured}} */
const kept = existsSync(KEPT) && !has('--fresh') ? JSON.parse(readFileSync(KEPT, 'utf8')) : {};

const wanted = (has('--splits') ? splits() : cases()).filter(({ name, n, epsilon, list }) =>
  `${name}, ${list}, epsilon ${epsilon}, n ${n}`.includes(after('--only')),
);
for (const row of wanted) {
  const key = keyOf(row);
  if (!kept[key]) {
    const result = await measure(row).catch((error) => error);
    if (result instanceof Error) {
      console.error(`${row.name}: ${result.message}`);
      process.exitCode = 1;
      continue;
    }
    kept[key] = result;
    writeFileSync(KEPT, JSON.stringify(kept, null, 1));
  }
  const { found, wrong, top, seconds, rounds } = kept[key];
  console.error(
    `${row.list} n ${whole(row.n)} epsilon ${row.epsilon} seed ${row.seed}: ${row.name}: ${found} found, ${wrong} wrong, ${top} of the top ${TOP}, ${seconds.toFixed(1)} s, ${rounds} rounds`,
  );
}

// ---- tables ----

const mean = (/** @type {number[]} */ x) => x.reduce((sum, y) => sum + y, 0) / x.length;

/** Seeds of one setting as one line. @param {Case[]} rows */
function line(rows) {
  const all = [...new Set(rows.map(keyOf))].map((key) => kept[key]).filter(Boolean);
  if (all.length === 0) return null;
  const found = mean(all.map((r) => r.found));
  const wrong =
    all.reduce((sum, r) => sum + r.wrong, 0) /
    Math.max(
      1,
      all.reduce((sum, r) => sum + r.found, 0),
    );
  const range =
    all.length > 1
      ? ` (${Math.min(...all.map((r) => r.found))} to ${Math.max(...all.map((r) => r.found))})`
      : '';
  return {
    found,
    text: `${Math.round(found)}${range} | ${(1 - wrong).toFixed(3)} | ${mean(all.map((r) => r.top)).toFixed(0)} | ${mean(all.map((r) => r.seconds)).toFixed(1)} s`,
  };
}

/** @param {Case[]} all @param {(row: Case) => string} labelOf */
function table(all, labelOf) {
  const labels = [...new Set(all.map(labelOf))];
  const rows = labels
    .map((label) => ({ label, own: line(all.filter((row) => labelOf(row) === label)) }))
    .filter(({ own }) => own);
  return [
    '| words found by | found | precision | of the true top 100 | decoding |',
    '|---|---|---|---|---|',
    ...rows.map(({ label, own }) => `| ${label} | ${own?.text} |`),
  ].join('\n');
}

/** What olh finds for each word of cms, each at its best split. @param {Case[]} all */
function ratio(all) {
  const of = (/** @type {string} */ head) =>
    line(all.filter(({ name }) => name.startsWith(head) && !name.includes('Apple')))?.found;
  const [cms, olh] = [of('sfp cms'), of('sfp olh')];
  return cms && olh
    ? `SFP over olh finds ${(olh / cms).toFixed(2)} times the words of SFP over cms.`
    : '';
}

function tables() {
  const parts = [];
  const own = cases();
  const main = own.filter(({ name }) => !name.includes('20 bytes'));
  for (const n of [MILLION, TEN_MILLION]) {
    for (const epsilon of [8, 4]) {
      const rows = main.filter(
        (row) => row.n === n && row.epsilon === epsilon && row.list === 'words',
      );
      if (rows.some((row) => kept[keyOf(row)]))
        parts.push(
          `**${whole(n)} devices, epsilon ${epsilon}** (${n === MILLION ? 'three draws' : 'one draw'})`,
          table(rows, ({ name }) => name),
          ratio(rows),
        );
    }
  }
  const foreign = own.filter(
    ({ name, list, seed, n, epsilon }) =>
      n === MILLION &&
      epsilon === 8 &&
      seed === '1' &&
      (name.includes('20 bytes') || (name === 'trie' && (list === 'russian' || list === 'words'))),
  );
  if (foreign.some((row) => row.list === 'russian' && kept[keyOf(row)]))
    parts.push(
      '**Russian beside English**: 1,000,000 devices, epsilon 8, the same counts by rank, strings of up to 20 bytes',
      table(foreign, ({ name, list }) => `${name}: ${list === 'words' ? 'English' : 'Russian'}`),
    );
  return parts.filter(Boolean).join('\n\n');
}

const [BEGIN, END] = ['<!-- bench-discover -->', '<!-- end of bench-discover -->'];
if (!has('--splits')) {
  console.log(tables());
  if (has('--docs')) {
    const page = readFileSync(PAGE, 'utf8');
    writeFileSync(
      PAGE,
      page.replace(new RegExp(`${BEGIN}[^]*${END}`), () => `${BEGIN}\n\n${tables()}\n\n${END}`),
    );
  }
}
