// SPDX-License-Identifier: Apache-2.0
// The verdicts of a page are the core's: words and bounds of verdicts.def, the figures of every epsilon up to 16, and what
// `shoal recipe check` says of recipes. ledger() carries them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { load } from '../../bindings/node.js';
import { promisesOf, verdictOf, verdicts } from '../../client/verdict.js';
import { WASM, makeClient, wordsRecipe } from '../fixtures.mjs';

const ROOT = join(WASM, '..');

const shoal = process.env.SHOAL_BINARY ?? join(ROOT, 'build/release/shoal');
const pipe = process.env.SHOAL_VERDICT_PIPE ?? join(ROOT, 'build/release/tests/verdict_pipe');

test('the words and bounds are those of verdicts.def', () => {
  const rows = [
    ...readFileSync(join(ROOT, 'core/budget/verdicts.def'), 'utf8').matchAll(
      /^SHOAL_VERDICT\(([A-Z]+), (\w+), "(.+)"\)$/gm,
    ),
  ].map(([, code, most, words]) => [
    code.toLowerCase(),
    most === 'UINT64_MAX' ? Infinity : Number(most),
    words,
  ]);
  assert.deepEqual(verdicts(), rows);
  assert.equal(rows.length, 5);
});

test(
  "every epsilon up to 16 has the core's sentence",
  { skip: !existsSync(pipe) && `${pipe} is not built` },
  () => {
    const { stdout } = spawnSync(pipe, { maxBuffer: 1 << 30 });
    // A line for each sentence: the largest epsilon, in millionths, up to which it holds.
    const lines = stdout.toString().trim().split('\n');
    assert.ok(lines.length > 1000);
    const check = (/** @type {number} */ micro, /** @type {string} */ text) => {
      const own = verdictOf(micro).text;
      if (own !== text) assert.equal(own, text, `epsilon ${micro / 1e6}`);
    };
    let at = 0;
    for (const line of lines) {
      const [most, text] = line.split('\t');
      // The ends of each sentence always, all between them where there is time.
      const step = process.env.SHOAL_LONG ? 1 : 61;
      for (let each = at; each <= Number(most); each += step) check(each, text);
      check(Number(most), text);
      at = Number(most) + 1;
    }
    assert.equal(at, 16_000_002, 'none was left out');
    for (const micro of [17e6, 4e10, Infinity])
      assert.match(verdictOf(micro).text, /^no meaningful protection: .*over x 8 million/);
  },
);

test(
  'the promises are what `shoal recipe check` says',
  { skip: !existsSync(shoal) && `${shoal} is not built` },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'shoal-verdict-'));
    const core = await load();
    const { parameters } = wordsRecipe();
    const today = Math.floor(Date.now() / 86_400_000);
    const expires = new Date((today + 9) * 86_400_000).toISOString().slice(0, 10);
    const recipes = [
      wordsRecipe({ expires }),
      wordsRecipe({ expires, parameters: { ...parameters, epsilon: 0.1 }, limit: { per_day: 1 } }),
      wordsRecipe({ expires: '2020-01-01' }),
      wordsRecipe({
        expires,
        mechanism: 'rappor',
        limit: { per_day: 2 },
        parameters: { bits: 32, hashes: 2, cohorts: 8, p: 0.5, q: 0.75, f: 0.5 },
      }),
      wordsRecipe({
        expires,
        limit: { per_day: 2 },
        send: { fresh: 'allow', delay_s: 0, pick: 'uniform', window: 'visit' },
      }),
    ];
    try {
      for (const json of recipes) {
        const path = join(folder, 'recipe.json');
        writeFileSync(path, JSON.stringify(json));
        const { stdout, stderr } = spawnSync(shoal, ['recipe', 'check', path]);
        const said = [...stdout.toString().matchAll(/^verdict, (\w+) +(.*?\))/gm)];
        const recipe = core.recipe(json);
        const { report, window, life } = promisesOf(recipe, today);
        const own = [report.text, window.text, life.text];
        assert.ok(said.length >= 2, `${stdout}${stderr}`);
        assert.deepEqual(
          said.map(([, , text]) => text),
          own.slice(0, said.length),
          JSON.stringify(json),
        );
        core.release(recipe);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test('ledger() says what a recipe promises', async () => {
  const { client } = await makeClient({
    recipes: [wordsRecipe({ limit: { per_day: 10_000 }, expires: '2099-01-01' })],
  });
  await client.consent.grant();
  const [{ verdict }] = await client.ledger();
  assert.deepEqual(verdict.report, {
    code: 'limited',
    epsilon: 4,
    text: 'limited: a 50:50 guess comes true in at most 98.21 of 100 cases (odds x 54.6)',
  });
  assert.deepEqual(
    [verdict.window.epsilon, verdict.window.code, verdict.life.code],
    [40_000, 'none', 'none'],
  );
  assert.ok(verdict.life.epsilon > verdict.window.epsilon * 365);
});
