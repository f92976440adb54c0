// SPDX-License-Identifier: Apache-2.0
// Strings that nobody listed, in shoal report: the figures are those of shoal discover on the same files, what nothing was found means is said
// with its share, hostile strings stay text, and the page is right in a browser without a finding of axe.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { keep, tooWide, violations } from '../serve/dashboard_site.mjs';
import { makeCli } from './cli_helpers.mjs';
import { cellsOf, discovered, number, plain, shown, trieRound, typed } from './found_helpers.mjs';

const { bad, good, has, path, read, release, write } = makeCli('report-found');
after(release);

const COUNTS = /** @type {[string, number][]} */ ([
  ['cats', 5],
  ['dog', 4],
  ['<b>', 3],
  ['я', 3],
  ['鳥', 2],
  ['\u202ex', 2],
  ['kept', 1],
]);
const tsv = (/** @type {[string, number][]} */ rows) =>
  rows.map((row) => `${row.join('\t')}\n`).join('');

/** @param {string} recipe @param {string} name @param {[string, number][]} rows @param {number} devices @param {number} [first] */
function collect(recipe, name, rows, devices, first = 0) {
  write('c.tsv', tsv(rows));
  const crowd = ['--devices', `${devices}`, '--first', `${first}`, '--seed', 'found'];
  good('simulate', '--recipe', recipe, '--counts', 'c.tsv', ...crowd, '-o', 'b');
  good('ingest', '--recipe', recipe, '-o', `${name}.acc`, 'b');
}

before(() => {
  write('words.json', typed());
  collect('words.json', 'words', COUNTS, 20_000);
  write('secret.json', typed({ recipe: 'secret', release: { threshold: 3000 } }));
  collect('secret.json', 'secret', COUNTS, 20_000);
});

/** The first table of a page against what shoal discover prints. @param {string} html @param {any} result */
function assertRows(html, result) {
  const rows = cellsOf(html);
  assert.equal(rows.length, result.rows.length);
  for (const [i, [value, , count, interval, how]] of rows.entries()) {
    const row = result.rows[i];
    assert.equal(value, shown(row.value));
    assert.equal(number(count), Math.round(row.count));
    assert.deepEqual(interval.split(' to ').map(number), [row.low, row.high].map(Math.round));
    assert.ok(how.startsWith(row.found), `${how} ${row.found}`);
  }
}

test('the table, its notes and its guarantees are those of shoal discover', () => {
  good('report', '--recipe', 'words.json', '--top', '4', '-o', 'words.html', 'words.acc');
  const html = read('words.html');
  const top = discovered(good, ['--recipe', 'words.json', 'words.acc', '--top', '4']);
  const all = discovered(good, ['--recipe', 'words.json', 'words.acc']);
  assert.equal(top.rows.length, 4);
  assertRows(html, top);
  const text = plain(html);
  assert.match(text, new RegExp(`${all.rows.length} words stand out from the noise`));
  assert.match(text, /false-discovery rate is 5\u202f%/);
  assert.match(text, new RegExp(`4 of ${all.rows.length} words shown`));
  assert.match(text, new RegExp(`Rows were selected \\(4 of ${all.candidates}\\)`));
  assert.match(text, /Words of up to 4 bytes/);
  for (const note of all.notes) assert.ok(text.includes(`${note}.`), note);
  assert.match(text, /20,000 reports/);
  assert.match(text, /epsilon per report 12/);
  assert.ok(!html.includes('<b></td>') && html.includes('&lt;b&gt;'));
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(html), 'no mark of direction is left');
});

test('a dictionary is counted, and is no discovery', () => {
  write('known.txt', 'cats\nдом\nя\n');
  const known = ['--recipe', 'words.json', '--dictionary', 'known.txt'];
  good('report', ...known, '-o', 'known.html', 'words.acc');
  const [counted, found] = read('known.html').split('<section class="found">');
  const estimated = JSON.parse(good('estimate', ...known, '--format', 'json', 'words.acc').text);
  const counts = (/** @type {any[]} */ rows) => rows.map((row) => number(row[2]));
  assert.deepEqual(
    counts(cellsOf(counted)),
    estimated.rows.map((/** @type {any} */ row) => Math.round(row.count)),
  );
  const result = discovered(good, ['--recipe', 'words.json', 'words.acc', '--known', 'known.txt']);
  assert.equal(result.known, 2);
  assertRows(found, result);
  assert.match(plain(found), /2 more were found, but are in the list of known words/);
});

test('what is below the release threshold stays away, and its number is said', () => {
  good('report', '--recipe', 'secret.json', '-o', 'secret.html', 'secret.acc');
  const result = discovered(good, ['--recipe', 'secret.json', 'secret.acc']);
  assert.ok(result.withheld > 2 && result.rows.length > 0);
  assertRows(read('secret.html'), result);
  assert.match(
    plain(read('secret.html')),
    new RegExp(`${result.withheld} more are below the release threshold of 3,000 and withheld`),
  );
  assert.ok(!read('secret.html').includes('鳥'));
});

test('nothing found says which share these reports could have shown', () => {
  // 1,000 devices at twice epsilon 6 and two positions: a fragment's error is near 2 sqrt(500 v) of 1,000 reports, with the variance of a report
  // v = q (1 - q) / (p - q)^2, p = e^6/(e^6 + 255), q = 1/256; four of them are the share.
  const p = Math.exp(6) / (Math.exp(6) + 255);
  const v = ((1 / 256) * (255 / 256)) / (p - 1 / 256) ** 2;
  const share = (100 * 4 * Math.sqrt(500 * v)) / 500;
  collect(
    'words.json',
    'none',
    Array.from({ length: 900 }, (_, i) => [`${i}`.padStart(3, 'z'), 1]),
    1000,
  );
  good('report', '--recipe', 'words.json', '-o', 'none.html', 'none.acc');
  assert.deepEqual(discovered(good, ['--recipe', 'words.json', 'none.acc']).rows, []);
  const none = plain(read('none.html'));
  assert.match(
    none,
    /Nothing stands out from the noise. That does not mean that there are no new words/,
  );
  const said = Number(/in half of the cases if ([\d.]+)\u202f% of them hold it/.exec(none)?.[1]);
  assert.ok(Math.abs(said - share) < 0.06 * share, `${said} ${share}`);
  assert.ok(!read('none.html').includes('<td class="value"'));
});

test('words over several periods say since when, and are followed', () => {
  const rising = /** @type {[string, number][]} */ ([
    ['cats', 9],
    ['dog', 6],
  ]);
  collect('words.json', 'a', rising, 8000, 100_000);
  collect('words.json', 'b', [...rising, ['new', 5]], 8000, 200_000);
  collect('words.json', 'c', [...rising, ['new', 9]], 8000, 300_000);
  good('report', '--recipe', 'words.json', '-o', 'days.html', 'a.acc', 'b.acc', 'c.acc');
  good('merge', '-o', 'abc.acc', 'a.acc', 'b.acc', 'c.acc');
  assertRows(read('days.html'), discovered(good, ['--recipe', 'words.json', 'abc.acc']));
  const since = Object.fromEntries(cellsOf(read('days.html')).map((row) => [row[0], row[4]]));
  assert.match(since.cats, /since a$/);
  assert.match(since.dog, /since a$/);
  assert.match(since.new, /since b$/);
  assert.match(read('days.html'), /<h2>Over time<\/h2>/);
  assert.match(read('days.html'), /<h2>What changed<\/h2>/);
});

test('rounds of a trie have one part, whatever the order that they are named in', () => {
  write('round1.json', trieRound());
  const rows = /** @type {[string, number][]} */ ([
    ['abba', 9],
    ['abc', 6],
    ['cab', 4],
    ['ba', 3],
  ]);
  for (const i of [1, 2, 3]) {
    collect(`round${i}.json`, `round${i}`, rows, 6000, 10_000 * i);
    const asked = ['--recipe', `round${i}.json`, `round${i}.acc`, '--step', '1'];
    good('round', 'next', ...asked, '--sample', '0.3', '-o', `round${i + 1}.json`);
  }
  const files = ['round2.acc', 'round3.acc', 'round1.acc'];
  const all = [2, 1, 3].flatMap((i) => ['--recipe', `round${i}.json`]);
  good('report', ...all, '-o', 'rounds.html', ...files);
  const inOrder = [1, 2, 3].flatMap((i) => ['--recipe', `round${i}.json`, `round${i}.acc`]);
  const result = discovered(good, inOrder);
  const html = read('rounds.html');
  assert.equal(html.split('<h2>Words that nobody listed').length, 2);
  assertRows(html.split('<section class="found">')[1], result);
  const text = plain(html);
  assert.match(text, /18,000 reports.*3 rounds/s);
  assert.deepEqual(
    result.rows.map((/** @type {any} */ row) => row.value),
    ['ba'],
  );
  assert.ok(result.open > 1);
  for (const { start } of result.open_starts) assert.ok(text.includes(`${start}\u2026 `), start);
  write('known.txt', 'ba\n');
  const known = ['--dictionary', 'words-2=known.txt'];
  good('report', ...all, ...known, '-o', 'known.html', ...files);
  assert.match(plain(read('known.html')), /1 more was found, but is in the list of known words/);
  const next = ['--recipe', 'round4.json'];
  good('report', ...next, ...all, '-o', 'rounds.html', ...files);
  const page = ['-o', 'never.html'];
  bad(2, /only the last of several/, 'report', ...next, ...all, ...page, 'round2.acc');
  const late = ['--recipe', 'round2.json', '--recipe', 'round3.json'];
  bad(2, /not the first round/, 'report', ...late, ...page, 'round2.acc', 'round3.acc');
  const twice = [...known, '--dictionary', 'words-1=known.txt'];
  bad(2, /for two rounds/, 'report', ...all, ...twice, ...page, ...files);
  assert.ok(!has('never.html'));
});

/** Items of a page's story, as plain text. @param {string} html */
const storyOf = (html) =>
  html
    .split('<ol class="rounds">')[1]
    .split(/<li><h3>/)
    .slice(1)
    .map((one) => plain(one).replace(/\s+/g, ' '));

test('each round says what was asked, what came and what is asked next', () => {
  const files = ['round2.acc', 'round3.acc', 'round1.acc'];
  const all = [2, 1, 3].flatMap((i) => ['--recipe', `round${i}.json`]);
  good('report', ...all, '-o', 'ended.html', ...files);
  good('report', ...all, '--recipe', 'round4.json', '-o', 'rounds.html', ...files);
  const story = storyOf(read('rounds.html'));
  const inOrder = [1, 2, 3].flatMap((i) => ['--recipe', `round${i}.json`, `round${i}.acc`]);
  const { notes, open, rows } = discovered(good, inOrder);
  assert.equal(story.length, 3);
  for (const [i, text] of story.entries()) {
    const note = notes.find((/** @type {string} */ one) => one.startsWith(`words-${i + 1}:`));
    const [, starts, depth, words, kept] =
      /: (\d+) starts of (\d+) .* (\d+) words, (\d+) starts kept/.exec(note) ?? [];
    const asked =
      i === 0 ? 'which character words begin with' : `which character follows ${starts} starts?`;
    assert.match(text, new RegExp(`^Round ${i + 1} .*Asked ${asked}`), note);
    if (i > 0) assert.match(text, new RegExp(`starts? of ${depth} character`));
    assert.match(text, /of 30 % of the devices that were left. 6,000 reports came/);
    const came = [words, kept].map((one) => (one === '0' ? 'no' : one));
    assert.match(text, new RegExp(`Came ${came[0]} words? and ${came[1]} starts? of longer ones`));
  }
  const asked = JSON.parse(read('round4.json')).encoding[0].starts.split(' ').length;
  assert.ok(asked >= open);
  assert.match(
    story[2],
    new RegExp(`Next which character follows ${asked} starts of 3 characters`),
  );
  assert.match(story[2], /No report of it is here yet/);
  assert.match(
    storyOf(read('ended.html'))[2],
    new RegExp(`Next nothing so far: ${open} starts are left open`),
  );
  // The count of a word in its own round: its estimate is scaled from 6,000 to 18,000 reports.
  const [, count] = / ba (\d[\d,]*) \u00b1/.exec(story[2]) ?? [];
  assert.equal(number(count), Math.round(rows[0].count / 3));
});

test('the picture has a row for each word and open start, which share the cells of their starts', () => {
  const html = read('ended.html');
  const body = html.split('<table class="tree">')[1].split('<tbody>')[1].split('</tbody>')[0];
  const rows = [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map((row) =>
    [...row[1].matchAll(/<td class="([^"]*)"(?: (?:row|col)span="(\d)")?[^>]*>(.*?)<\/td>/g)].map(
      ([, shade, span, cell]) => ({ shade, span, text: cell.replace(/<[^>]*>/g, '') }),
    ),
  );
  const letters = (/** @type {{text: string}[]} */ row) =>
    row.map(({ text }) => text.replace(/[\d. %\u202f].*|,.*/g, ''));
  assert.deepEqual(rows.map(letters), [
    ['a\u2026', 'ab\u2026', 'abb\u2026'],
    ['abc\u2026'],
    ['b\u2026', 'ba\u2026', 'ba'],
    ['c\u2026', 'ca\u2026', 'cab\u2026'],
  ]);
  assert.deepEqual(
    rows[0].map(({ span }) => span),
    ['2', '2', undefined],
  );
  // 15 of 22 devices have a word that begins with a.
  assert.ok(Math.abs(parseFloat(/[\d.]+/.exec(rows[0][0].text)?.[0] ?? '') - 68) <= 3);
  assert.match(rows[2][2].shade, /end/);
  assert.match(rows[2][2].text, /word$/);
  assert.match(rows[1][0].text, /open$/);
});

test('hostile letters of a trie stay text, and small pieces are withheld', () => {
  const encoding = [{ field: 'word', starts: [''], characters: '<>b\u202e', step: 3 }];
  write('letters.json', trieRound({ encoding, recipe: 'letters', release: { threshold: 1500 } }));
  collect(
    'letters.json',
    'letters',
    [
      ['<b>', 5],
      ['b\u202e', 4],
      ['<<', 1],
    ],
    8000,
  );
  good('report', '--recipe', 'letters.json', '-o', 'letters.html', 'letters.acc');
  const html = read('letters.html');
  assert.ok(html.includes('&lt;b&gt;'), 'a start');
  assert.ok(!html.includes('<<') && !html.includes('&lt;&lt;') && !html.includes('\u202e'));
  assert.ok(!/<b>\u2026|<b><span>/.test(html));
  assert.match(storyOf(html)[0], /1 below the release threshold are withheld/);
});

test('found words in a browser', async (t) => {
  const browser = await launchBrowser();
  t.after(() => browser.close());
  for (const file of ['words', 'none', 'days', 'rounds', 'letters'])
    for (const width of [390, 1280])
      for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
        const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
        const page = await context.newPage();
        /** @type {string[]} */
        const seen = [];
        page.on('console', (message) => seen.push(message.text()));
        await page.goto(pathToFileURL(path(`${file}.html`)).href);
        assert.deepEqual(seen, []);
        await keep(page, `report-found-${file}-${width}-${colorScheme}`);
        await page.evaluate(
          "for (const one of document.querySelectorAll('details')) one.open = true",
        );
        assert.deepEqual(await tooWide(page), [], `${file} ${width}`);
        assert.deepEqual(await violations(page), [], `${file} ${width} ${colorScheme}`);
        await context.close();
      }
});
