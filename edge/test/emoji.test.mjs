// SPDX-License-Identifier: Apache-2.0
// The emoji preset of docs/recipes from a page to a ranking: a visitor picks emoji in Chromium, thousands of simulated devices
// post beside them, the edge shuffles all into batches, `shoal ingest` and `shoal estimate` rank them, and the page shows it.
// Needs the native build (SHOAL_BIN names the program; build/release/shoal otherwise).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { load } from 'shoal-client/node';
import { startPage } from '../../web-demo/serve.mjs';
import { launch, until } from '../../web-demo/test/demo_site.mjs';
import { program } from './real_aggregator.mjs';
import { startEdge } from './runtimes.mjs';
import { FakeAggregator, eventually, reportInit } from './support.mjs';

const SHOTS = fileURLToPath(new URL('../../build/web-demo/', import.meta.url));
const PRESET = new URL('../../docs/recipes/emoji.json', import.meta.url);
const DEVICES = 6000;
const SHOWN = 16;
const PICKED = ['😂', '😂', '😂', '❤️', '🏳️‍🌈'];
// The shares of a crowd, in thousandths; what is left is spread over the whole list.
const SHARES = {
  '😂': 250,
  '❤️': 180,
  '😍': 130,
  '🤣': 90,
  '😊': 60,
  '🙏': 25,
  '💕': 20,
  '😭': 15,
};

function shoal(...args) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  assert.equal(status, 0, `shoal ${args[0]}: ${stderr}`);
  return stdout;
}

/** Posts reports, some at a time. @param {string} url @param {string[]} lines */
async function postAll(url, lines) {
  const rest = lines.values();
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const line of rest) {
        const response = await fetch(`${url}/v1/reports`, reportInit(line));
        assert.equal(response.status, 202, await response.text());
      }
    }),
  );
}

test('emoji go from a page, through the edge and the commands, into a ranking that the page shows', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-emoji-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const at = (name) => join(dir, name);

  // The preset, but that nobody waits for a day here, no day is the last, one visitor plays several, and a batch goes with the last report: at twice
  // its minimum, where `batch_bytes` is less.
  const preset = JSON.parse(await readFile(PRESET, 'utf8'));
  const { epsilon, k, m, values } = preset.parameters;
  assert.deepEqual(
    [preset.mechanism, preset.hash, epsilon, k, m, values.length],
    ['cms', 'affine1', 4, 65536, 1024, 2600],
  );
  const json = {
    ...preset,
    expires: '2099-12-31',
    limit: { per_day: 50 },
    send: { fresh: 'allow', delay_s: 0 },
    batch: { minimum: DEVICES / 2 },
  };
  const recipe = (await load()).recipe(json);
  await writeFile(at('recipe.json'), JSON.stringify(json));

  const aggregator = await new FakeAggregator(recipe).start();
  t.after(() => aggregator.remove());
  const edge = await startEdge(t, 'node', {
    recipes: [recipe],
    aggregator: aggregator.url,
    origins: ['*'],
    limits: { batch_bytes: 1024 },
  });
  let ranking = { status: 403, body: '{"error":{"code":"cohort"}}' };
  const site = await startPage({
    endpoint: edge.url,
    recipes: [json],
    links: [],
    choices: [
      { title: 'How are you?', stream: json.stream, values: [...Object.keys(SHARES), '🏳️‍🌈'] },
    ],
    crowds: [{ title: 'Emoji that people type', recipe: json.recipe }],
    results: async () => ranking,
  });
  t.after(() => site.close());
  const browser = await launch();
  t.after(() => browser.close());

  // A visitor.
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.goto(site.url);
  await page.getByRole('button', { name: 'Yes, take part' }).click();
  await page.locator('shoal-consent #stop').waitFor();
  for (const [i, value] of PICKED.entries()) {
    await page.getByRole('button', { name: value, exact: true }).click();
    await until(`${i + 1} sent`, async () =>
      (await page.locator('shoal-panel #counts').innerText()).startsWith(
        `Sent: ${i + 1}. Waiting: 0.`,
      ),
    );
  }
  await page.locator('shoal-panel #record svg').waitFor();
  await page.getByText(/^Of 2,600 choices, \d+ fit it equally well/).waitFor();
  const own = JSON.parse(String(await page.locator('shoal-panel #json').textContent())).records[0];

  // The crowd. One that states a value outside the list answers like all others: none of them.
  const tail = 1000 - Object.values(SHARES).reduce((a, b) => a + b);
  const counts = values.map((value) => [
    value,
    1000 * (SHARES[value] ?? 0) + Math.round((1000 * tail) / values.length),
  ]);
  await writeFile(at('counts.tsv'), counts.map((row) => `${row.join('\t')}\n`).join(''));
  const simulated = DEVICES - PICKED.length;
  shoal(
    'simulate',
    '--recipe',
    at('recipe.json'),
    '--counts',
    at('counts.tsv'),
    '--devices',
    String(simulated),
    '--seed',
    'visitors',
    '--format',
    'ndjson',
    '-o',
    at('crowd.ndjson'),
    '--truth',
    at('truth.tsv'),
  );
  await postAll(edge.url, (await readFile(at('crowd.ndjson'), 'utf8')).trim().split('\n'));

  // Batches, sums, a ranking.
  await eventually(() => assert.equal(aggregator.records.length, DEVICES));
  assert.equal(aggregator.batches.size, 1);
  assert.ok(aggregator.records.includes(own), "the page's own record is among them");
  await writeFile(at('batch'), aggregator.requests[0].body);
  shoal('ingest', '--recipe', at('recipe.json'), '-o', at('acc'), at('batch'));
  const body = shoal(
    'estimate',
    '--recipe',
    at('recipe.json'),
    '--top',
    String(SHOWN),
    '--format',
    'json',
    at('acc'),
  );
  const { n, rows } = JSON.parse(body);
  assert.equal(n, DEVICES);

  const truth = new Map(
    (await readFile(at('truth.tsv'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => {
        const [value, count] = line.split('\t');
        return [value, Number(count) + PICKED.filter((picked) => picked === value).length];
      }),
  );
  const best = [...truth]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 5)
    .map(([value]) => value);
  // A count's standard error is 0.43 sqrt(6000) = 33, a difference's 47: the first five lie 180 and more above the next, 3.8 of those.
  assert.deepEqual(
    rows.slice(0, 5).map((row) => row.value),
    best,
  );
  for (const { value, count, stderr, detected } of rows.slice(0, 5)) {
    assert.ok(stderr > 25 && stderr < 50, `${stderr}`);
    assert.ok(
      Math.abs(count - (truth.get(value) ?? 0)) < 5 * stderr,
      `${value}: ${count} ± ${stderr}, truly ${truth.get(value)}`,
    );
    assert.ok(detected, value);
  }
  assert.ok(!rows.at(-1).detected, 'the last that is shown cannot be told from zero');

  // What the visitor sees of it.
  ranking = { status: 200, body };
  await until('the ranking', async () => (await page.locator('.histogram li').count()) === SHOWN);
  const shown = await page.locator('.histogram li .value').allInnerTexts();
  assert.deepEqual(shown.slice(0, 5), best);
  await mkdir(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, 'emoji-1280.png'), fullPage: true });
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok(
    await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    'nothing is cut off at the side',
  );
  await page.screenshot({ path: join(SHOTS, 'emoji-390.png'), fullPage: true });
});
