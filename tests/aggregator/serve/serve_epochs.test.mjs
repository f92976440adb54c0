// SPDX-License-Identifier: Apache-2.0
// The page of a run: a server has one epoch's recipe, finds the others in its store, and tells of them what shoal track does; where one is
// not there it says which, and makes nothing up.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { number, plain } from '../cli/found_helpers.mjs';
import { good } from './dashboard_site.mjs';
import { batchOf, firstEpoch, importRun, makeFolder, recordsOf, runSite } from './run_site.mjs';
import { post } from './serve_helpers.mjs';

const VIEW = '?view=rounds';
/** Epochs 2 and 4 are updates, and 5 measures what 4 was. */
const EPOCHS = [
  { yes: 0.3, ones: 0.5 },
  { yes: 0.7, ones: 0.5 },
  { yes: 0.3, ones: 0.6 },
  { yes: 0.8, ones: 0.5 },
  { yes: 0.3, ones: 0.4 },
];
const NASTY = '<img/src=x/onerror="document.title=\'pwned\'">';

/** Rows of a table, by its label. @param {string} html @param {string} label */
const rowsOf = (html, label) =>
  [
    ...(
      html.split(`aria-label="${label}"`)[1]?.split('</table>')[0].split('<tbody>')[1] ?? ''
    ).matchAll(/<tr.*?<\/tr>/gs),
  ].map(([row]) => [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/g)].map(([, cell]) => plain(cell)));

const percent = (/** @type {string} */ cell) => number(cell.replace(/\u202f%/, ''));

test('a run is told from the store, with the figures of shoal track', async (t) => {
  const folder = makeFolder(t);
  const { recipes, next, pair } = importRun(folder, firstEpoch(folder, 'thresh', 'dark'), EPOCHS);
  assert.deepEqual(
    [...recipes, next].map(({ round }) => round.update ?? 0),
    [0, 0, 1, 0, 1, 0],
  );
  const { ask } = await runSite(t, folder, recipes[4]);
  const answer = await ask(`/recipes/dark${VIEW}`);
  assert.equal(answer.status, 200);
  const pairs = EPOCHS.flatMap((_, i) => ['--recipe', pair(i).file, pair(i).acc]);
  const track = JSON.parse(good('track', ...pairs, '--format', 'json'));
  const rows = rowsOf(answer.text, 'Every epoch');
  assert.equal(rows.length, 5);
  for (const [i, row] of track.rows.entries()) {
    const [epoch, what, value, interval, votes, needed, n] = rows[i];
    assert.equal(Number(epoch), row.epoch);
    assert.equal(number(n), row.n);
    assert.ok(Math.abs(percent(votes) - 100 * row.votes) <= 0.051, votes);
    assert.ok(Math.abs(percent(needed) - 100 * row.needed) <= 0.051, needed);
    assert.equal(what.startsWith('update'), row.update);
    if (row.stderr === null) {
      assert.equal(value, '\u2013');
      continue;
    }
    const [low, high] = interval.split(' to ').map(number);
    for (const [shown, x] of [
      [number(value), row.value],
      [low, row.low],
      [high, row.high],
    ])
      assert.ok(Math.abs(shown - x) <= 0.0051, `${shown} ${x}`);
  }
  assert.deepEqual(
    rowsOf(answer.text, 'The first epoch, the last one, and every update').map(([epoch]) => epoch),
    ['1', '2', '4', '5'],
  );
  const text = plain(answer.text).replace(/\s+/g, ' ');
  assert.match(text, /5 of 12 epochs/);
  assert.match(text, new RegExp(`2 updates ${track.updates_left} left`));
  assert.match(text, /Epoch 5 of 12 is asked now\. Epoch 4 was an update/);
  for (const note of track.notes) assert.ok(text.toLowerCase().includes(note.toLowerCase()), note);
  assert.match((await ask('/recipes/dark')).text, /<a href="\?view=rounds">Run<\/a>/);
  assert.equal((await ask(`/recipes/dark${VIEW}`)).text, answer.text, 'it is kept');
  const lines = readdirSync(join(folder, 'log'))
    .flatMap((file) => readFileSync(join(folder, 'log', file), 'utf8').split('\n'))
    .filter((line) => line.includes('"dark 1-1, dark epochs 1-4"'));
  assert.equal(lines.length, 2, 'the audit log says which epochs were told');
});

test('the epoch that waits says so, and the ones before it are told', async (t) => {
  const folder = makeFolder(t);
  const { next } = importRun(folder, firstEpoch(folder, 'thresh', 'dark'), EPOCHS);
  const { ask, url } = await runSite(t, folder, next);
  const html = (await ask(`/recipes/dark${VIEW}`)).text;
  const text = plain(html).replace(/\s+/g, ' ');
  assert.match(
    text,
    /Epoch 6 of 12 is asked now\. It waits for 1,000 reports; a block may close at/,
  );
  assert.match(text, /They come once the edge and the pages have its recipe/);
  assert.equal(rowsOf(html, 'Every epoch').length, 5);
  const records = recordsOf({ yes: 0.9, ones: 0.5 }, 4000, 0);
  assert.equal((await post(url, batchOf(join(folder, 'recipe-0.json'), records, 9))).status, 201);
  for (const end = Date.now() + 60_000; ;) {
    const page = (await ask(`/recipes/dark${VIEW}`)).text;
    const rows = rowsOf(page, 'Every epoch');
    if (rows.length === 6) {
      assert.deepEqual(rows[5].slice(0, 2), ['6', 'update, value to come']);
      assert.equal(rows[5][6], '4,000');
      assert.match(plain(page), /Its reports are told below;/);
      break;
    }
    assert.ok(Date.now() < end, 'the block never closed');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

test('an epoch that is not in the store is named, and nothing from it on is told', async (t) => {
  const folder = makeFolder(t);
  const first = firstEpoch(folder, 'thresh', 'dark');
  const { recipes } = importRun(folder, first, EPOCHS, { skip: [3] });
  const { ask } = await runSite(t, folder, recipes[4]);
  const html = (await ask(`/recipes/dark${VIEW}`)).text;
  const text = plain(html).replace(/\s+/g, ' ');
  assert.match(text, /Epoch 3 is not in this server\u2019s store, so nothing from it on is told/);
  assert.match(text, /shoal track tells a run from the accumulators of all its epochs/);
  assert.match(text, /2 of 12 epochs/);
});

test('a recipe of another chain finds no epochs of this one', async (t) => {
  const folder = makeFolder(t);
  const { recipes } = importRun(folder, firstEpoch(folder, 'thresh', 'dark'), EPOCHS);
  const other = { ...recipes[4], round: { ...recipes[4].round, previous: 'ab'.repeat(32) } };
  const { ask, end } = await runSite(t, folder, other);
  const html = (await ask(`/recipes/dark${VIEW}`)).text;
  assert.match(html, /Epoch 4 is not in this server/);
  await end('SIGTERM');
  const changed = { ...recipes[4], limit: { per_day: 2 } };
  const again = await runSite(t, folder, changed);
  const alone = (await again.ask(`/recipes/dark${VIEW}`)).text;
  assert.match(alone, /Epoch 1 is not in this server/);
  assert.doesNotMatch(alone, /How the run went|yes votes/);
});

test('shares of strings at every update are those of shoal track, and hostile ones stay text', async (t) => {
  const folder = makeFolder(t);
  const first = { ...firstEpoch(folder, 'heavythresh', 'heavy'), release: { threshold: 100 } };
  const { recipes, pair } = importRun(folder, first, EPOCHS);
  const words = join(folder, 'words.txt');
  const values = [NASTY, ...Array.from({ length: 30 }, (_, i) => `value ${i}`)];
  writeFileSync(words, `${values.join('\n')}\n`);
  const changes = { dictionaries: { heavy: 'words.txt' } };
  const { ask } = await runSite(t, folder, recipes[4], changes);
  const { status, text: html } = await ask(`/recipes/heavy${VIEW}&top=200`);
  assert.equal(status, 200);
  const pairs = EPOCHS.flatMap((_, i) => ['--recipe', pair(i).file, pair(i).acc]);
  const options = ['--dictionary', words, '--format', 'json'];
  const track = JSON.parse(good('track', ...pairs, ...options));
  assert.equal(track.items.length, 2);
  let withheld = 0;
  for (const { epoch, rows } of track.items) {
    const shown = rowsOf(html, `Update of epoch ${epoch}`);
    assert.deepEqual(
      shown.map(([value, share]) => [value, percent(share)]),
      rows.map((/** @type {any} */ row) => [row.value, Number((100 * row.share).toFixed(2))]),
    );
    withheld += values.length - rows.length;
  }
  assert.ok(withheld > 0 && withheld === track.withheld, `${withheld} ${track.withheld}`);
  assert.match(html, /below the release threshold are withheld/);
  assert.doesNotMatch(html, /<img/);
});

test('a damaged epoch is told by the page of its run, and nothing is made up', async (t) => {
  const folder = makeFolder(t);
  const { recipes } = importRun(folder, firstEpoch(folder, 'thresh', 'dark'), EPOCHS);
  const { ask } = await runSite(t, folder, recipes[4]);
  const sums = join(folder, 'store/accumulators');
  const [file] = readdirSync(sums);
  const bytes = readFileSync(join(sums, file));
  bytes[bytes.length - 9] ^= 0x10;
  writeFileSync(join(sums, file), bytes);
  const { status, text } = await ask(`/recipes/dark${VIEW}`);
  assert.equal(status, 503);
  assert.match(text, /The run could not be told; the server.s log says why/);
  assert.doesNotMatch(text, /yes votes/);
  bytes[bytes.length - 9] ^= 0x10;
  writeFileSync(join(sums, file), bytes);
  assert.equal((await ask(`/recipes/dark${VIEW}`)).status, 200, 'it is told once it is mended');
});
