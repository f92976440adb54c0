// SPDX-License-Identifier: Apache-2.0
// The trial as a developer has it: the command on a folder, its page in Chromium, the crowd's chart, a
// word of one's own in it, and the end.
import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { makeFolder, startDev, wordsRecipe } from './support.mjs';

const DEVICES = 1000;
const OWN = 'zanzibar';
const MINUTE = 60_000; // of a loaded machine; each wait ends with its condition
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  // The client sends nothing from a browser that says that a program drives it.
  '--disable-blink-features=AutomationControlled',
];

/** @param {() => Promise<boolean>} isTrue @param {string} what */
async function until(isTrue, what) {
  for (const end = Date.now() + MINUTE; !(await isTrue());) {
    assert.ok(Date.now() < end, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Opens a page that keeps what went wrong on it. @param {import('node:test').TestContext} t @param {string} url */
async function openPage(t, url) {
  const browser = await chromium.launch({
    executablePath: process.env.SHOAL_CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(MINUTE);
  /** @type {string[]} */
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text()); // CSP, too
  });
  await page.goto(url);
  await page.locator('html[data-ready]').waitFor();
  return { page, problems, visitor: page.frameLocator('#visitor') };
}

/** The rows of a chart, as they are shown. @param {import('playwright-core').Page} page */
const rowsOf = (page) =>
  page.locator('tbody tr').evaluateAll((rows) =>
    rows.map((row) => ({
      value: row.dataset.value ?? '',
      low: Number(row.dataset.low),
      high: Number(row.dataset.high),
      truth: Number(row.dataset.truth),
      isSure: !row.classList.contains('unsure'),
      isOwn: row.classList.contains('own'),
    })),
  );

/** Reports that the chart counts. @param {import('playwright-core').Page} page */
const countOf = async (page) => {
  const text = await page.locator('#charts').innerText();
  return Number(/([\d,]+) reports, epsilon 4 each/.exec(text)?.[1].replaceAll(',', '') ?? 0);
};

/** @param {{value: string, low: number, high: number, truth: number}[]} rows */
function assertCovered(rows) {
  const missed = rows.filter(({ low, high, truth }) => truth < low || truth > high);
  // Each interval holds its truth 95 times of 100: of 11, five are missed once in 9,000 runs.
  assert.ok(missed.length <= 4, JSON.stringify(missed));
  // Twice as wide, 3.9 standard errors: two of 11 are missed once in two million runs.
  const far = rows.filter(
    ({ low, high, truth }) => Math.abs(truth - (low + high) / 2) > high - low,
  );
  assert.ok(far.length <= 1, JSON.stringify(far));
}

/** @param {number} pid */
const foldersOf = async (pid) =>
  (await readdir(tmpdir())).filter((name) => name.startsWith(`shoal-dev-${pid}-`));

/** The status of a request as another page of the browser could make it. @param {string} url @param {any} headers */
const statusOf = (url, headers) =>
  new Promise((resolve, reject) => {
    get(url, { headers }, (response) => resolve(response.resume().statusCode)).once(
      'error',
      reject,
    );
  });

test(
  'the chart fills, shows a word of one’s own, and the record is one noisy one',
  { timeout: 4 * MINUTE },
  async (t) => {
    const begun = Date.now();
    const folder = await makeFolder(t);
    const dev = await startDev(t, [folder, '--devices', String(DEVICES)]);
    assert.match(
      dev.said,
      /page -> relay http:\/\/127\.0\.0\.1:\d+\/ -> edge http:\/\/127\.0\.0\.1:\d+ -> aggregator/,
    );
    const { page, problems, visitor } = await openPage(t, dev.url);
    await until(async () => (await countOf(page)) > 0, 'a chart');
    t.diagnostic(`the first chart after ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    assert.match(await page.locator('#simulated').innerText(), /The crowd is simulated/);

    // At most 19 reports wait at the edge, and 49 at the aggregator.
    await until(async () => (await countOf(page)) > DEVICES - 70, 'the whole crowd');
    const before = await rowsOf(page);
    assert.equal(before.length, 10);
    assert.ok(before.filter(({ isSure }) => isSure).length >= 5);
    assertCovered(before);
    assert.ok(!before.some(({ value }) => value === OWN));

    await page.locator('#share').fill('50');
    await page.locator('#share').dispatchEvent('change');
    await page.getByText('this share of them does the same: 50 %').waitFor();
    await visitor.getByRole('button', { name: 'Yes, take part' }).click();
    await visitor.locator('body[data-state="granted"]').waitFor();
    await visitor.getByLabel('Search').pressSequentially(`${OWN} `);

    await page.locator('#own').waitFor();
    const report = JSON.parse((await page.locator('#own-json').textContent()) ?? '');
    assert.equal(report.key, 'words-1-trial');
    assert.equal(report.records.length, 1);
    assert.equal(
      await page.getByRole('img', { name: /^The 256 bits of your record; / }).count(),
      1,
    );
    assert.match(
      await page.locator('#own-says').innerText(),
      /at most 55 times less likely \(epsilon 4\)/,
    );

    const own = async () => (await rowsOf(page)).find(({ value }) => value === OWN);
    await until(async () => (await own())?.isSure === true, 'the word in the chart');
    assert.equal((await own())?.isOwn, true);
    assert.match(dev.said, /simulated visitors of words-1 come, and 50 % of them do what you did/);
    await until(
      async () => (await countOf(page)) > DEVICES + 500 - 70,
      'those who did what the person did',
    );
    assertCovered(await rowsOf(page));

    // Every hop tells, and no line holds what was done.
    await until(
      async () => /relay +saw an address and 1 sealed request of 2,\d{3} bytes/.test(dev.said),
      'the relay',
    );
    for (const said of [
      /page +one report of 2,\d{3} bytes left your page, sealed for the edge/,
      /edge +kept [\d,]+ more reports? \(1 by way of the relay\)/, // it may be the only one of a look
      /edge +sent a batch of [\d,]+ shuffled records/,
      /aggregator +closed a block of [\d,]+ records/,
      /chart +words-1: [\d,]+ reports/,
    ])
      await until(async () => said.test(dev.said), String(said));
    const told = await page.locator('#told').innerText();
    for (const who of ['page', 'relay', 'edge', 'aggregator', 'chart'])
      assert.ok(told.includes(who), who);
    for (const text of [told, dev.said])
      assert.ok(!text.includes(OWN) && !text.includes(report.records[0]));

    await livesWithChanges(folder, dev, page, visitor);
    assert.deepEqual(problems, []);

    for (const [headers, status] of /** @type {[object, number][]} */ ([
      [{ Host: 'evil.example' }, 421],
      [{ Host: new URL(dev.url).host }, 200],
    ]))
      assert.equal(await statusOf(dev.url, headers), status);
    const foreign = await fetch(`${dev.url}trial/more`, {
      method: 'POST',
      headers: { Origin: 'http://evil.example' },
      body: '{}',
    });
    assert.equal(foreign.status, 403);
    for (const path of ['page/%2e%2e/relay.json', 'trial/..%2fpackage.json'])
      assert.notEqual((await fetch(dev.url + path)).status, 200, path);

    assert.equal((await foldersOf(dev.pid)).length, 1);
    assert.equal(await dev.stop(), 0);
    assert.deepEqual(await foldersOf(dev.pid), [], 'nothing is left');
    await page.getByText('shoal-dev does not answer').waitFor();
  },
);

/** A page and recipes that change while the trial runs. */
async function livesWithChanges(folder, dev, page, visitor) {
  const file = join(folder, 'page/index.html');
  await writeFile(file, (await readFile(file, 'utf8')).replace('<h1>A shop', '<h1>Another shop'));
  await visitor.getByRole('heading', { name: 'Another shop' }).waitFor();

  const recipe = join(folder, 'recipes/words-1.json');
  await writeFile(recipe, JSON.stringify(wordsRecipe({ mechanism: 'cmss' })));
  await page.getByText(/not taken over: .*words-1\.json: mechanism/).waitFor();
  await writeFile(
    recipe,
    JSON.stringify(wordsRecipe({ parameters: { epsilon: 4, k: 512, m: 512 } })),
  );
  await until(async () => /a recipe changed/.test(dev.said), 'a new beginning');
  await page.waitForEvent('load').catch(() => {});
  await page.locator('html[data-ready]').waitFor();
  await until(async () => (await countOf(page)) > 0, 'a chart of the changed recipe');
}
