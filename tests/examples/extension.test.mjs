// SPDX-License-Identifier: Apache-2.0
// The example of a browser extension in real Chromium: unpacked, as a developer loads it. Sites are host names that all lead
// to loopback. Only in the long tier.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { run } from './bundlers.mjs';
import {
  BROWSER,
  PATIENCE_MS,
  copyExample,
  fitsPhone,
  folderOf,
  root,
  serveFolder,
  skip,
  startCollection,
  until,
} from './support.mjs';

const isLong = !!process.env.SHOAL_LONG;
const skipLong = skip || (!isLong && 'only with SHOAL_LONG=1: an extension in Chromium');
const shipped = JSON.parse(await readFile(join(root, 'examples/extension/recipe.json'), 'utf8'));
/** Reports each visit at once. */
const atOnce = {
  ...shipped,
  recipe: 'visits-at-once',
  limit: { per_day: 20 },
  send: { fresh: 'allow', delay_s: 0 },
  batch: { minimum: 2, max_age_s: 1 },
};
/** The recipe that ships, without its waiting. */
const nextDay = {
  ...shipped,
  recipe: 'visits-next-day',
  send: { ...shipped.send, fresh: 'allow', delay_s: 0 },
  batch: { minimum: 1, max_age_s: 1 },
};

/**
 * Builds the extension with a recipe, and serves the sites.
 * @param {import('node:test').TestContext} t
 * @param {any} recipe
 */
async function prepare(t, recipe) {
  // The id of an unpacked extension follows from its folder.
  const place = createHash('sha256')
    .update(join(folderOf('extension'), 'dist'))
    .digest('hex');
  const id = [...place.slice(0, 32)].map((digit) => 'abcdefghijklmnop'[parseInt(digit, 16)]);
  const origins = [`chrome-extension://${id.join('')}`]; // as an operator names it, and no other
  const { origin, aggregator } = await startCollection(t, [recipe], origins);
  const folder = await copyExample(t, 'extension', origin);
  await writeFile(join(folder, 'recipe.json'), JSON.stringify(recipe));
  await run(folder, ['build.mjs']);
  const dist = join(folder, 'dist');
  const pages = await mkdtemp(join(tmpdir(), 'shoal-sites-'));
  await writeFile(
    join(pages, 'index.html'),
    '<!doctype html><title>a site</title><iframe src="/frame.html"></iframe>',
  );
  await writeFile(join(pages, 'frame.html'), '<!doctype html><title>a frame</title>');
  const { port } = new URL(await serveFolder(t, pages));
  const profile = await mkdtemp(join(tmpdir(), 'shoal-profile-'));
  t.after(async () => {
    for (const each of [profile, pages])
      await rm(each, { recursive: true, force: true, maxRetries: 5 });
  });
  return { aggregator, launch: () => launch(t, profile, dist, port) };
}

/**
 * Starts the browser on a profile.
 * @param {import('node:test').TestContext} t
 * @param {string} profile
 * @param {string} dist folder of the extension
 * @param {string} port that sites are served at
 */
async function launch(t, profile, dist, port) {
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: BROWSER,
    headless: false,
    ignoreDefaultArgs: ['--disable-extensions'],
    args: [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-features=DisableLoadExtensionCommandLineSwitch',
      `--disable-extensions-except=${dist}`,
      `--load-extension=${dist}`,
      '--host-resolver-rules=MAP *.example 127.0.0.1',
    ],
  });
  t.after(() => context.close());
  /** @type {Promise<import('playwright-core').Page> | undefined} */ let site;
  const visit = async (/** @type {string} */ host) => {
    site ??= context.newPage(); // later than the consent page, which takes an empty tab
    return (await site).goto(`http://${host}:${port}/`);
  };
  return { context, visit };
}

/**
 * The page that the extension opens when it is installed.
 * @param {import('playwright-core').BrowserContext} context
 * @param {string} says what it tells of consent
 */
async function consentPage(context, says) {
  const page = await until(
    () => context.pages().find((each) => /^chrome-extension:.*\/consent\.html$/.test(each.url())),
    'the consent page',
  );
  /** @type {string[]} */ const complaints = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.getByText(says).waitFor({ timeout: PATIENCE_MS });
  return { consent: page, complaints };
}

/** What the extension has stored: databases and alarms. @param {import('playwright-core').Page} consent */
const stored = (consent) =>
  consent.evaluate(async () => {
    const { chrome } = /** @type {any} */ (globalThis);
    return [
      ...(await indexedDB.databases()).map(({ name }) => name),
      ...(await chrome.alarms.getAll()).map((/** @type {any} */ { name }) => name),
      ...Object.keys({ ...localStorage }),
    ];
  });

/** Waits until the consent page lists so many reports as sent. @param {import('playwright-core').Page} consent @param {number} count */
async function hasSent(consent, count) {
  await until(async () => {
    await consent.reload();
    await consent.locator('#state:not(:empty)').waitFor({ timeout: PATIENCE_MS });
    const lines = await consent.locator('#sent li').allTextContents();
    return lines.filter((line) => line.endsWith(', sent')).length === count;
  }, `${count} reports on the consent page`);
}

/** Stops the worker, as Chrome does when it is idle. @param {import('playwright-core').BrowserContext} context @param {import('playwright-core').Page} consent */
async function stopWorker(context, consent) {
  const session = await context.newCDPSession(consent);
  const running = new Set();
  session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
    for (const { versionId, runningStatus } of versions)
      if (runningStatus === 'running') running.add(versionId);
      else if (runningStatus === 'stopped') running.delete(versionId);
  });
  await session.send('ServiceWorker.enable');
  await until(() => running.size === 1, 'a running worker');
  await session.send('ServiceWorker.stopAllWorkers');
  await until(() => running.size === 0, 'a worker that is stopped');
  await session.detach();
}

test('visits across sites, over a worker that is stopped', { skip: skipLong }, async (t) => {
  const { aggregator, launch } = await prepare(t, atOnce);
  const { context, visit } = await launch();
  const { consent, complaints } = await consentPage(context, 'not answered yet');
  await visit('news.example');
  await visit('shop.example');
  assert.deepEqual(await stored(consent), [], 'before consent nothing is stored');
  assert.equal(aggregator.recordsOf(atOnce.recipe).length, 0);

  await consent.click('#yes');
  await consent.getByText('You said yes.').waitFor({ timeout: PATIENCE_MS });
  assert.deepEqual((await stored(consent)).includes('shoal'), true);
  await visit('news.example');
  await visit('shop.example');
  await hasSent(consent, 2);
  await until(() => aggregator.recordsOf(atOnce.recipe).length === 2, 'two records');

  await stopWorker(context, consent);
  await visit('forum.example');
  await visit('www.news.example');
  await hasSent(consent, 4);
  await until(() => aggregator.recordsOf(atOnce.recipe).length === 4, 'two more records');

  // An alarm wakes it as well, and it finds its consent again.
  await stopWorker(context, consent);
  await consent.evaluate(() =>
    /** @type {any} */ (globalThis).chrome.alarms.create('wake', { when: Date.now() }),
  );
  await until(() => context.serviceWorkers().length === 1, 'a worker that an alarm woke');

  await fitsPhone(consent);
  await consent.click('#no');
  await consent.getByText('You said no').waitFor();
  await visit('other.example');
  await visit('news.example');
  await hasSent(consent, 4);
  assert.ok(!(await stored(consent)).includes('wake'), 'nothing wakes it after the withdrawal');
  await consent.click('#erase');
  await consent.getByText('not answered yet').waitFor();
  assert.equal(aggregator.recordsOf(atOnce.recipe).length, 4);
  assert.deepEqual(complaints, []);
});

test('one report for a day of visits, sent on the next', { skip: skipLong }, async (t) => {
  const { aggregator, launch } = await prepare(t, nextDay);
  const first = await launch();
  const { consent } = await consentPage(first.context, 'not answered yet');
  await consent.click('#yes');
  await consent.getByText('You said yes.').waitFor({ timeout: PATIENCE_MS });
  for (const host of ['news.example', 'shop.example', 'forum.example']) await first.visit(host);
  assert.ok((await stored(consent)).includes('wake'), 'an alarm wakes it whatever is visited');
  assert.equal(await consent.locator('#sent li').count(), 0, 'nothing before the day is over');
  await first.context.close();

  // The browser starts anew, and the worker's clock is set to the next day. An alarm then brings the report, no visit.
  // An extension of the command line is installed by every start, so its page opens again, and has its consent.
  const { context, visit } = await launch();
  await consentPage(context, 'You said yes.');
  await visit('news.example');
  const worker = await until(() => context.serviceWorkers()[0], 'a worker that a visit woke');
  await worker.evaluate(() => {
    const { now } = Date;
    Date.now = () => now.call(Date) + 86_400_000;
    const { chrome } = /** @type {any} */ (globalThis);
    return chrome.alarms.create('wake', { when: now.call(Date) });
  });
  await until(() => aggregator.recordsOf(nextDay.recipe).length > 0, 'the report of the day');
  assert.equal(aggregator.recordsOf(nextDay.recipe).length, 1, 'one report of four visits');
});
