// SPDX-License-Identifier: Apache-2.0
// Two things at once, from a page to a heat map: a visitor meets web services in Chromium, each of which is one report of its category and of how
// popular it is; thousands of simulated devices post beside them, the edge shuffles all into batches, `shoal ingest` and `shoal joint` say how
// the two hang together, and the page shows the picture. Services, categories and ranks are those of third-party-web.
// Needs the native build (SHOAL_BIN names the program; build/release/shoal otherwise).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
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

const { entities } = createRequire(new URL('../../web-demo/', import.meta.url))('third-party-web');
const SHOTS = fileURLToPath(new URL('../../build/web-demo/', import.meta.url));
const DEVICES = 6000;
const CATEGORIES = ['ad', 'analytics', 'utility', 'content', 'hosting', 'social', 'other'];
const RANKS = ['first 100', 'up to 400', 'beyond 400'];
const SEEN = ['Google Analytics', 'Facebook', 'YouTube'];

/** The services that were counted, the most frequent first, each with its two values. */
const services = entities
  .filter(({ totalOccurrences }) => totalOccurrences > 0)
  .sort((a, b) => b.totalOccurrences - a.totalOccurrences)
  .map(({ name, categories: [first] }, i) => ({
    label: name,
    values: {
      category: CATEGORIES.includes(first) ? first : 'other',
      popularity: RANKS[i < 100 ? 0 : i < 400 ? 1 : 2],
    },
  }));

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
      for (const line of rest)
        assert.equal((await fetch(`${url}/v1/reports`, reportInit(line))).status, 202);
    }),
  );
}

test('two variables go from a page, through the edge and the commands, into a heat map that the page shows', async (t) => {
  assert.ok(services.length > 1000);
  const dir = await mkdtemp(join(tmpdir(), 'shoal-pairs-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const at = (name) => join(dir, name);
  const json = {
    recipe: 'services',
    analysis: 'demo',
    stream: 'services',
    variables: [
      {
        name: 'category',
        value: 'item',
        mechanism: 'subset',
        parameters: { epsilon: 3, values: CATEGORIES },
      },
      {
        name: 'popularity',
        value: 'item',
        mechanism: 'grr',
        parameters: { epsilon: 2, values: RANKS },
      },
    ],
    limit: { per_day: 50 },
    records: { keep_days: 1 },
    send: { fresh: 'allow', delay_s: 0 },
    batch: { minimum: DEVICES / 2 },
    expires: '2099-12-31',
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
  let picture = { status: 403, body: '{"error":{"code":"cohort"}}' };
  const seen = services.filter(({ label }) => SEEN.includes(label));
  assert.equal(seen.length, SEEN.length);
  const site = await startPage({
    endpoint: edge.url,
    recipes: [json],
    links: [],
    pairs: [{ title: 'Which of these have you met?', stream: json.stream, events: seen }],
    crowds: [
      { title: 'Services by category and popularity', recipe: json.recipe, isPicture: true },
    ],
    results: async () => picture,
  });
  t.after(() => site.close());
  const browser = await launch();
  t.after(() => browser.close());

  // A visitor.
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(60_000);
  const errors = [];
  page.on(
    'console',
    (message) =>
      message.type() === 'error' && !/403/.test(message.text()) && errors.push(message.text()),
  );
  await page.goto(site.url);
  await page.getByText("Fewer reports than the recipe's minimum cohort").waitFor();
  await page.getByRole('button', { name: 'Yes, take part' }).click();
  await page.locator('shoal-consent #stop').waitFor();
  for (const [i, label] of SEEN.entries()) {
    await page.getByRole('button', { name: label, exact: true }).click();
    await until(`${i + 1} sent`, async () =>
      (await page.locator('shoal-panel #counts').innerText()).startsWith(
        `Sent: ${i + 1}. Waiting: 0.`,
      ),
    );
  }
  await page.getByText('Of 7 choices, 1 fit it equally well').waitFor();
  await page.getByText('Of 3 choices, 1 fit it equally well').waitFor();
  assert.equal(await page.locator('shoal-panel #record svg').count(), 2);
  const own = JSON.parse(String(await page.locator('shoal-panel #json').textContent()));
  assert.deepEqual(own.parameters, { epsilon: 5 });

  // The crowd, each device with one service.
  const counts = new Map();
  for (const { values } of services) {
    const line = `${values.category}\t${values.popularity}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  await writeFile(at('counts.tsv'), [...counts].map((row) => `${row.join('\t')}\n`).join(''));
  shoal(
    'simulate',
    '--recipe',
    at('recipe.json'),
    '--counts',
    at('counts.tsv'),
    '--devices',
    String(DEVICES - SEEN.length),
    '--seed',
    'visitors',
    '--format',
    'ndjson',
    '-o',
    at('crowd.ndjson'),
  );
  await postAll(edge.url, (await readFile(at('crowd.ndjson'), 'utf8')).trim().split('\n'));

  // Batches, records that came together, a joint table.
  await eventually(() => assert.equal(aggregator.records.length, DEVICES));
  assert.ok(aggregator.records.includes(own.records[0]), "the page's own record is among them");
  await writeFile(at('batch'), aggregator.requests[0].body);
  assert.equal(aggregator.batches.size, 1);
  shoal('ingest', '--recipe', at('recipe.json'), '-o', at('acc'), at('batch'));
  const { n, cells, wald } = JSON.parse(
    shoal('joint', '--recipe', at('recipe.json'), '--format', 'json', at('acc')),
  );
  assert.equal(n, DEVICES);
  assert.equal(cells.length, CATEGORIES.length * RANKS.length);
  // Of 21 errors, mechanisms and draw of the devices together, each is within 4.5 of its own but once in 7,000 seeds.
  for (const { x, y, p, stderr } of cells) {
    const truth = (counts.get(`${x}\t${y}`) ?? 0) / services.length;
    const drawn = Math.sqrt((truth * (1 - truth)) / DEVICES);
    assert.ok(
      Math.abs(p - truth) < 4.5 * Math.hypot(stderr, drawn),
      `${x}, ${y}: ${p} ± ${stderr}, truly ${truth}`,
    );
  }
  // Services of the first 100 deliver content, the others sell advertising: of 12 degrees of freedom, the statistic is 70 with a standard deviation of 16.
  assert.equal(wald.df, (CATEGORIES.length - 1) * (RANKS.length - 1));
  assert.ok(wald.p_value < 0.01, `${wald.p_value}`);

  // What the visitor sees of it.
  picture = {
    status: 200,
    body: shoal('joint', '--recipe', at('recipe.json'), '--format', 'svg', at('acc')),
  };
  const image = page.getByRole('img', { name: 'Services by category and popularity' });
  await image.waitFor();
  await until('the heat map', () =>
    image.evaluate((element) => element.complete && element.naturalWidth > 100),
  );
  await mkdir(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, 'pairs-1280.png'), fullPage: true });
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok(
    await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    'nothing is cut off at the side',
  );
  await page.screenshot({ path: join(SHOTS, 'pairs-390.png'), fullPage: true });
  assert.deepEqual(errors, []);
});
