// SPDX-License-Identifier: Apache-2.0
// The pages of rounds: their figures are those of shoal report, shoal discover and shoal estimate over the same reports, a reader sees the
// rounds that it may read and no others, and what waits or is damaged says so.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { cellsOf, number, plain } from '../cli/found_helpers.mjs';
import { good, importDays } from './dashboard_site.mjs';
import { ANALYSES, NASTY, TOKENS, roundsSite } from './rounds_site.mjs';
import { configure, get, makeFolder, post, serve, simulate } from './serve_helpers.mjs';

const VIEW = '?view=rounds';

/** A part of a page. @param {string} html @param {string} title */
const partOf = (html, title) =>
  html.split(`<section class="found"><h2>${title}</h2>`)[1]?.split('</section>')[0] ?? '';

const story = (/** @type {string} */ html) => partOf(html, 'How the rounds went');

/** Where each round stands. @param {string} html */
const standing = (html) => cellsOf(partOf(html, 'The rounds'));

/** The rounds of a page, each with its text and the rows of its table. @param {string} html */
const roundsOf = (html) =>
  story(html)
    .split('<li><h3>')
    .slice(1)
    .map((one) => ({ text: plain(one).replace(/\s+/g, ' '), rows: cellsOf(one) }));

/** @param {{file: string, acc: string}} round */
const estimate = ({ file, acc }) =>
  JSON.parse(good('estimate', '--recipe', file, '--format', 'json', acc));

test('rounds of a trie: the words and the story are those of shoal report and discover', async (t) => {
  const { folder, ask, rounds } = await roundsSite(t, ['words']);
  const answer = await ask(`/recipes/words-2${VIEW}`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /text\/html/);
  const files = rounds.words.flatMap(({ file, acc }) => ['--recipe', file, acc]);
  const next = ['--recipe', join(folder, 'recipe-3.json')];
  const page = join(folder, 'report.html');
  good('report', ...files, ...next, '-o', page);
  const report = readFileSync(page, 'utf8');
  assert.ok(story(report).length > 1000);
  assert.equal(story(answer.text), story(report));
  const words = partOf(answer.text, 'Words that nobody listed');
  const { rows } = JSON.parse(good('discover', ...files, '--format', 'json'));
  assert.deepEqual(
    cellsOf(words).map(([value, , count, interval]) => [value, number(count), interval]),
    rows.map((/** @type {any} */ row) => [
      row.value,
      Math.round(row.count),
      [row.low, row.high].map((x) => Math.round(x).toLocaleString('en')).join(' to '),
    ]),
  );
  assert.deepEqual(
    standing(answer.text).map(([round, reports, , state]) => [round, reports, state]),
    [1, 2, 3]
      .map((i) => [`Round ${i}: words-${i}`, '6,000', 'told below'])
      .concat([
        [
          'Round 4: words-4',
          '0',
          standing(answer.text)[3][3], // its time is that of the next tick
        ],
      ]),
  );
  assert.match(
    standing(answer.text)[3][3],
    /^waits for its first block, of 1,000 reports; one may close at \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
  );
  assert.doesNotMatch(words, /name="from"/, 'rounds are of all days');
  const sort = (/href="(\?sort=value[^"]*)"/.exec(words)?.[1] ?? '').replaceAll('&amp;', '&');
  assert.match(sort, /view=rounds/);
  assert.equal((await ask(`/recipes/words-2${sort}`)).status, 200);
  // Every round leads to the same page.
  for (const i of [1, 3, 4])
    assert.equal(story((await ask(`/recipes/words-${i}${VIEW}`)).text), story(report));
  assert.match((await ask('/recipes/words-1')).text, /<a href="\?view=rounds">Rounds<\/a>/);
  assert.doesNotMatch((await ask('/recipes/theme')).text, /view=rounds/);
});

test('rounds of phrases and of a number: counts are sums of what shoal estimate counts', async (t) => {
  const { ask, rounds, recipes } = await roundsSite(t, ['phrases', 'ages']);
  const phrases = roundsOf((await ask(`/recipes/phrases-1${VIEW}`)).text);
  assert.equal(phrases.length, 3);
  for (const [i, round] of rounds.phrases.entries()) {
    /** @type {Record<string, number>} */
    const sums = {};
    for (const { value, count } of estimate(round).rows) {
      const phrase = value.split(' | ')[1];
      sums[phrase] = (sums[phrase] ?? 0) + count;
    }
    const next = recipes.find((/** @type {any} */ one) => one.recipe === `phrases-${i + 2}`);
    const kept = next.encoding[1].prefixes;
    assert.ok(phrases[i].rows.length > 4);
    for (const [value, , count, , fate] of phrases[i].rows) {
      assert.ok(Math.abs(number(count) - sums[value]) <= 0.51, `${value} ${count} ${sums[value]}`);
      assert.equal(fate, kept.includes(value) ? 'goes on' : '', value);
    }
    const all = phrases[i].rows.map((row) => row[0]);
    for (const one of kept) assert.ok(all.includes(one), one);
    assert.match(phrases[i].text, /20,000 reports came/);
  }
  assert.match(phrases[1].text, /Next which of 7 tokens phrase has after 2 starts of 2 tokens/);
  assert.match(phrases[2].text, /No report of it may be shown yet/);
  assert.deepEqual(phrases[2].rows, []);

  const ages = roundsOf((await ask(`/recipes/ages-3${VIEW}`)).text);
  for (const [i, round] of rounds.ages.entries()) {
    const { rows } = estimate(round);
    assert.equal(ages[i].rows.length, rows.length);
    const names = (/** @type {string[]} */ list) => [...list].sort();
    assert.deepEqual(
      names(ages[i].rows.map(([value, , count, interval]) => `${value}: ${count} ${interval}`)),
      names(
        rows.map((/** @type {any} */ { value, count, low, high }) => {
          const [c, l, h] = [count, low, high].map((x) =>
            (Math.round(x) || 0).toLocaleString('en').replace('-', '\u2212'),
          );
          return `${value}: ${c} ${l} to ${h}`;
        }),
      ),
    );
    const next = recipes.find((/** @type {any} */ one) => one.recipe === `ages-${i + 2}`);
    const pieces = next.encoding[0].boundaries;
    for (const [value, , , , fate] of ages[i].rows) {
      const [low, high] = value.slice(1, -1).split(',').map(Number);
      if (!Number.isFinite(low) || !Number.isFinite(high)) continue;
      const inside = pieces.filter((/** @type {number} */ x) => x > low && x < high).length;
      if (!pieces.includes(low) || !pieces.includes(high)) assert.equal(fate, 'joined', value);
      else assert.equal(fate, inside > 0 ? `cut into ${inside + 1}` : 'stays', value);
    }
    assert.equal(ages[i].rows[0][4], 'stays');
  }
  assert.match(ages[0].text, /buckets from 0 to 100 and the two ends\. 20,000 reports came/);
});

test('a first round without a number is followed by round 1, and a fork is said', async (t) => {
  const { round: _, ...plainAges } = ANALYSES.ages.recipe;
  ANALYSES.unnumbered = {
    ...ANALYSES.ages,
    recipe: { ...plainAges, recipe: 'first', analysis: 'first' },
  };
  const fork = {
    ...ANALYSES.ages.recipe,
    recipe: 'fork',
    analysis: 'first',
    encoding: [{ field: 'age', boundaries: [0, 50, 100] }],
  };
  // One that asks as the first does again, and one whose range is another.
  const same = { ...fork, recipe: 'same', encoding: ANALYSES.ages.recipe.encoding };
  const wide = { ...fork, recipe: 'wide', encoding: [{ field: 'age', boundaries: [0, 50, 101] }] };
  const { ask } = await roundsSite(t, ['unnumbered'], { extra: [fork, same, wide] });
  const { text } = await ask(`/recipes/first${VIEW}`);
  assert.deepEqual(
    standing(text).map(([round]) => round),
    ['First round: first', 'Round 1: first-1', 'Round 2: first-2'],
  );
  assert.match(text, /1 more recipe also follows one of these rounds/);
  assert.match(roundsOf(text)[0].text, /^First round Asked how age is spread over 5 buckets/);
  assert.equal(standing((await ask(`/recipes/fork${VIEW}`)).text).length, 2);
  for (const id of ['same', 'wide']) assert.equal((await ask(`/recipes/${id}${VIEW}`)).status, 404);
});

test('what is below the release threshold stays away, and hostile texts stay text', async (t) => {
  const { ask, rounds } = await roundsSite(t, ['secret']);
  const html = (await ask(`/recipes/secret-2${VIEW}`)).text;
  assert.doesNotMatch(html, /<img/);
  const [first, second] = roundsOf(html);
  assert.deepEqual(
    first.rows.map((row) => row[0]),
    estimate(rounds.secret[0]).rows.map((/** @type {any} */ row) => row.value),
  );
  assert.ok(first.rows.some((row) => row[0] === NASTY && row[4] === 'goes on'));
  assert.ok(second.rows.some((row) => row[0] === `${NASTY} home`));
  assert.match(first.text, /6 are withheld, for the release threshold/);
  for (const [, , count] of [...first.rows, ...second.rows]) assert.ok(number(count) >= 4000);
  assert.doesNotMatch(html, /you got/);
});

test('a threshold and several fields: no sums that would tell what is withheld', async (t) => {
  const phrases = ANALYSES.phrases;
  ANALYSES.both = {
    ...phrases,
    recipe: { ...phrases.recipe, recipe: 'both-1', release: { threshold: 3000 } },
    rounds: 1,
  };
  const { ask } = await roundsSite(t, ['both']);
  const [round] = roundsOf((await ask(`/recipes/both-1${VIEW}`)).text);
  assert.match(round.text, /Came no figure that may be shown here: .* would tell what is withheld/);
  assert.deepEqual(round.rows, []);
});

test('a reader sees the rounds that it may read, whoever asked before, and the log says which', async (t) => {
  const { url, folder, ask } = await roundsSite(t, ['words']);
  const all = await ask(`/recipes/words-2${VIEW}`);
  const own = await ask(`/recipes/words-2${VIEW}`, 'bob');
  assert.equal(own.status, 200);
  assert.deepEqual(
    standing(own.text).map(([round, reports]) => [round, reports]),
    [
      ['Round 1', '\u2013'],
      ['Round 2: words-2', '6,000'],
    ],
  );
  assert.doesNotMatch(own.text, /words-1|words-3|Words that nobody listed|12,000|18,000/);
  assert.match(own.text, /not on this server, or not for you to read/);
  assert.equal(roundsOf(own.text).length, 1);
  assert.match(roundsOf(own.text)[0].text, /Next nothing so far: 3 starts are left open/);
  for (const id of ['words-1', 'words-3', 'words-4', 'nothing']) {
    const { status, text } = await ask(`/recipes/${id}${VIEW}`, 'bob');
    assert.deepEqual([status, JSON.parse(text).error.message], [404, 'no recipe has this id']);
  }
  // What is kept of one reader's page is not another one's. Both have one round, of the block 1.
  const other = await ask(`/recipes/words-3${VIEW}`, 'carol');
  assert.match(
    roundsOf(other.text)[0].text,
    /^Round 3 Asked which character follows 3 starts of 2/,
  );
  assert.match(roundsOf(own.text)[0].text, /^Round 2 Asked which character follows 3 starts of 1/);
  assert.equal(story((await ask(`/recipes/words-2${VIEW}`)).text), story(all.text));
  assert.equal(story((await ask(`/recipes/words-2${VIEW}`, 'bob')).text), story(own.text));
  assert.equal((await get(`${url}/recipes/words-2${VIEW}`)).status, 401);
  const lines = readdirSync(join(folder, 'log'))
    .flatMap((file) => readFileSync(join(folder, 'log', file), 'utf8').split('\n'))
    .filter((line) => line.includes('words-2') && line.includes('"blocks"'));
  const of = (/** @type {string} */ who) =>
    lines.filter((line) => line.includes(`"${who}"`)).map((line) => JSON.parse(line).blocks);
  assert.match(of('alice')[0], /^words-1 \d+-\d+, words-2 \d+-\d+, words-3 \d+-\d+$/);
  assert.match(of('bob')[0], /^words-2 \d+-\d+$/);
});

test('a page is kept until a block closes, and then has the round that waited', async (t) => {
  const { url, folder, ask } = await roundsSite(t, ['words']);
  const headers = { authorization: `Bearer ${TOKENS.alice}` };
  const sorted = `${VIEW}&sort=value&order=desc`;
  const before = (await ask(`/recipes/words-4${VIEW}`)).text;
  assert.equal(story((await ask(`/recipes/words-4${VIEW}`)).text), story(before));
  assert.equal(story((await ask(`/recipes/words-4${sorted}`)).text), story(before));
  assert.match((await ask(`/recipes/words-4${VIEW}&find=zz`)).text, /0 of 0 words that hold/);
  for (const batch of simulate(join(folder, 'recipe-3.json'), ANALYSES.words.counts, 8000, 8000))
    assert.equal((await post(url, batch)).status, 201);
  for (const end = Date.now() + 60_000; ;) {
    const html = (await get(`${url}/recipes/words-1${VIEW}`, headers)).text;
    if (roundsOf(html).length === 4) {
      assert.match(standing(html)[3][1], /^\d,\d{3}$/);
      assert.match(html, /4 rounds/);
      assert.match(partOf(html, 'Words that nobody listed'), /abc/, 'words of three letters end');
      break;
    }
    assert.equal(story(html), story(before));
    assert.ok(Date.now() < end, 'the block never closed');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

test('rounds that wait say for what, and what is wrong with a question is said', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'alice'), `${TOKENS.alice}\n`);
  const { words, ages } = ANALYSES;
  const second = {
    ...words.recipe,
    recipe: 'lonely',
    analysis: 'other',
    round: { index: 3, previous: 'ab'.repeat(32) },
  };
  const config = configure(folder, [words.recipe, ages.recipe, second], {
    readers: [{ name: 'alice', token_file: 'alice', collections: 'all' }],
    audit_log: 'log',
  });
  const { url } = await serve(t, config);
  const ask = (/** @type {string} */ path) =>
    get(url + path, { authorization: `Bearer ${TOKENS.alice}` });
  const first = await ask(`/recipes/words-1${VIEW}`);
  assert.equal(first.status, 200);
  const text = plain(first.text).replace(/\s+/g, ' ');
  assert.match(text, /Round 1: words-1 0 \u2013 waits for its first block, of 1,000 reports/);
  assert.match(text, /A round that waits gets reports once the edge and the pages have its recipe/);
  assert.match(text, /Nothing has come that may be shown yet. Asked which character words begin/);
  assert.doesNotMatch(first.text, /<script/);
  assert.match(first.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.doesNotMatch(first.headers.get('content-security-policy') ?? '', /unsafe|script-src/);
  assert.match((await ask(`/recipes/lonely${VIEW}`)).text, /Rounds 1 to 2/);
  for (const [path, status, message] of /** @type {[string, number, RegExp][]} */ ([
    [`/recipes/ages-1${VIEW}`, 404, /no recipe that you may read is a round/],
    [`/recipes/words-1${VIEW}&period=2026-11-21`, 400, /of all days together/],
    [`/recipes/words-1${VIEW}&value=a`, 400, /value is asked of one recipe/],
    ['/recipes/words-1?view=other', 400, /view is periods/],
    [`/v1/results/words-1${VIEW}`, 400, /view is periods/],
    [`/${VIEW}`, 400, /view is periods/],
  ])) {
    const answer = await ask(path);
    assert.deepEqual([path, answer.status], [path, status]);
    assert.match(JSON.parse(answer.text).error.message, message);
  }
});

test('a damaged round is told by its page, and nothing of the others is made up', async (t) => {
  const { folder, ask } = await roundsSite(t, ['words']);
  const sums = join(folder, 'store/accumulators');
  const [file] = readdirSync(sums);
  const bytes = readFileSync(join(sums, file));
  bytes[bytes.length - 20] ^= 0x10;
  writeFileSync(join(sums, file), bytes);
  const answer = await ask(`/recipes/words-2${VIEW}`);
  assert.equal(answer.status, 503);
  assert.match(answer.headers.get('content-type') ?? '', /text\/html/);
  const text = plain(answer.text).replace(/\s+/g, ' ');
  assert.match(text, /The rounds could not be told; the server\u2019s log says why/);
  assert.match(text, /Round 4: words-4 0/);
  assert.doesNotMatch(answer.text, /Came|stands out/);
  assert.ok(!answer.text.includes(folder), 'no path is shown');
});

test('a bucket is never withheld alone, because all reports less the others would tell it', async (t) => {
  const folder = makeFolder(t);
  const recipe = {
    ...{ recipe: 'ages-1', analysis: 'ages', stream: 'typed-phrases', value: 'fields' },
    ...{ mechanism: 'subset', parameters: { epsilon: 4 }, expires: '2099-01-31' },
    ...{ limit: { per_day: 1 }, batch: { minimum: 1 }, cohort: { minimum: 1000 } },
    ...{ round: { index: 1 }, block: { tick_s: 1 }, release: { threshold: 1000 } },
    encoding: [{ field: 'age', boundaries: [0, 20, 40, 60] }],
  };
  const ages = { 10: 25, 30: 25, 50: 26, 70: 3, '-5': 21 };
  const counts = Object.entries(ages).map(([age, n]) => `{"age":${age}}\t${n}\n`);
  configure(folder, [recipe], {});
  const [acc] = importDays(folder, 0, [{ from: -2, devices: 20000, counts: counts.join('') }]);
  const next = join(folder, 'next.json');
  good(
    'round',
    'next',
    '--recipe',
    join(folder, 'recipe-0.json'),
    '--refine',
    '6',
    '-o',
    next,
    acc,
  );
  const config = configure(folder, [recipe, JSON.parse(readFileSync(next, 'utf8'))], {});
  const { url } = await serve(t, config);
  const { status, text } = await get(`${url}/recipes/ages-1?view=rounds`);
  assert.equal(status, 200);
  assert.match(text, /; 2 are withheld, for the release threshold/);
  assert.equal(text.match(/class="interval">withheld/g)?.length, 2);
});
