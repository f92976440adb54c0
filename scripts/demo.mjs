// SPDX-License-Identifier: Apache-2.0
// Runs the whole system on one machine: a page and other devices, the edge worker, the aggregator,
// and the crowd's counts beside the truth; then it discovers words that no list holds. `make demo`
// runs it; KEEP=1 leaves the page open. It fails if any accepted report is missing at the end.
// SPLIT=1 shows two servers in place of the edge and the aggregator, neither of which sees a record
// (demo/split.mjs).
import { randomBytes } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rowsOf } from '../web-demo/page/histogram.js';
import { NEW_BYTES, collections, drawn, remember } from './demo/collections.mjs';
import { drawer, fromTsv, siteCounts, toTsv } from './demo/data.mjs';
import { postBatches, run, useClient, visitPage } from './demo/devices.mjs';
import { discovered, finding, reportHtml, table } from './demo/report.mjs';
import { seen } from './demo/oblivious.mjs';
import { splitDemo } from './demo/split.mjs';
import { startParties } from './demo/start.mjs';
import { makeSteps, say, whole, wrapped } from './demo/talk.mjs';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const OUT = join(ROOT, 'build/demo');
const BINARY = process.env.SHOAL_BIN ?? join(ROOT, 'build/release/shoal');

const PAGE = { words: 140, sites: 70 };
const CLIENTS = 10; // in Node, each with this many events
const CLIENT = { words: 100, sites: 100 };
const NEW_WORDS = 100;
const STEPS = 10;
const FOLD_MS = 60_000;
const LINKS = [
  'google.com',
  'facebook.com',
  'youtube.com',
  'cloudflare.com',
  'shopify.com',
  'wix.com',
  'twitter.com',
  'tiktok.com',
];
const TYPED = 100; // the browser types only the most frequent words, since its picture is public
const SUSPICIOUS = 12; // 95 % intervals that cover 11 of 20 or fewer: chance below one in a million

const step = makeSteps(STEPS);

/** @typedef {import('./demo/collections.mjs').Collection} Collection */

// ---- the steps ----

/** @param {string} aggregator @param {string} id @param {number} top @returns {Promise<any>} */
async function results(aggregator, id, top) {
  const response = await fetch(`${aggregator}v1/results/${id}?top=${top}`);
  return { status: response.status, body: await response.text() };
}

/**
 * Simulates a collection's devices and posts their batches.
 * @param {Collection} collection
 * @param {string} folder
 * @param {string} url
 * @param {string} secret
 * @param {(text: string) => void} progress
 */
async function simulate(collection, folder, url, secret, progress) {
  const [out, truth] = [
    join(folder, `${collection.id}.batches`),
    join(folder, `${collection.id}.truth`),
  ];
  progress(`${collection.title.toLowerCase()}: drawing`);
  await run(BINARY, [
    'simulate',
    '--recipe',
    join(folder, collection.file),
    '--counts',
    join(folder, collection.dictionary),
    '--devices',
    String(collection.simulated),
    '--seed',
    randomBytes(16).toString('hex'),
    '-o',
    out,
    '--truth',
    truth,
  ]);
  const stored = await postBatches(out, url, secret, progress);
  await rm(out);
  for (const [value, count] of fromTsv(await readFile(truth, 'utf8')))
    collection.truth.set(value, count);
  collection.accepted += stored;
  return stored;
}

/**
 * Sends as many further reports as the last batch lacks. The edge holds back a batch below its
 * minimum, so the last few reports would wait for ever.
 * @param {Collection} collection
 * @param {Edge} edge
 * @param {Way} way
 */
async function fillLastBatch(collection, edge, way) {
  const waiting = await edge.open(collection.id);
  const { minimum } = collection.json.batch;
  if (waiting === 0 || waiting >= minimum) return 0;
  const values = drawn(minimum - waiting, collection.draw);
  const isWords = collection.json.value === 'word';
  await useClient(
    way,
    [collection.json],
    { words: isWords ? values : [], sites: isWords ? [] : values },
    () => {},
  );
  remember(collection, values);
  return values.length;
}

/**
 * Waits until the aggregator's sums hold every accepted report, and no more.
 * @param {string} url
 * @param {Collection[]} list
 */
async function untilFolded(url, list) {
  for (const end = Date.now() + FOLD_MS; ;) {
    const sums = await Promise.all(
      list.map(async ({ id }) => JSON.parse((await results(url, id, 1)).body).n ?? 0),
    );
    const missing = list.map(({ accepted }, i) => accepted - sums[i]);
    if (missing.every((m) => m === 0)) return sums;
    if (missing.some((m) => m < 0) || Date.now() > end) {
      throw new Error(
        `LOST OR DOUBLED: the aggregator's sums lack ${missing.join(' and ')} of ${list.map(({ accepted }) => accepted).join(' and ')} accepted reports`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const KNOWN = 'known.tsv';

/** @param {Collection[]} list @param {string} folder */
async function writeFiles(list, folder) {
  for (const { json, counts, known, file, dictionary } of list) {
    await writeFile(join(folder, file), JSON.stringify(json, null, 2));
    await writeFile(join(folder, dictionary), toTsv(counts));
    if (known) await writeFile(join(folder, KNOWN), toTsv(known));
  }
}

/** @typedef {import('./demo/start.mjs').Later} Later */
/** @typedef {import('./demo/oblivious.mjs').Way} Way */
/** @typedef {Awaited<ReturnType<typeof startParties>>['edge']} Edge */

/**
 * @param {Collection[]} list
 * @param {string} page
 * @param {string} relay
 * @param {Later} later
 * @param {(text: string) => void} progress
 */
async function driveBrowser([words, sites], page, relay, later, progress) {
  const linked = sites.counts.filter(({ value }) => LINKS.includes(value));
  const events = {
    words: drawn(PAGE.words, drawer(words.counts.slice(0, TYPED))),
    sites: drawn(PAGE.sites, drawer(linked)),
  };
  const visitor = await visitPage(page, relay, events, progress);
  later(() => visitor.close());
  remember(words, events.words);
  remember(sites, events.sites);
  return { ...visitor, said: `${whole(visitor.accepted)} reports answered through the relay` };
}

/** @param {Collection[]} list @param {Way} way @param {(text: string) => void} progress */
async function driveNode([words, sites], way, progress) {
  let accepted = 0;
  const recipes = [words.json, sites.json];
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const events = {
        words: drawn(CLIENT.words, words.draw),
        sites: drawn(CLIENT.sites, sites.draw),
      };
      await useClient(way, recipes, events, () =>
        progress(`${whole(++accepted)} reports accepted`),
      );
      remember(words, events.words);
      remember(sites, events.sites);
    }),
  );
  return { said: `${whole(accepted)} reports answered through the relay` };
}

/**
 * Runs devices of the second act in Node. A word with more bytes than the recipe allows would not
 * be sent.
 * @param {Collection} fresh
 * @param {Way} way
 * @param {(text: string) => void} progress
 */
async function driveNew(fresh, way, progress) {
  let accepted = 0;
  const draw = drawer(fresh.counts.filter(({ value }) => Buffer.byteLength(value) <= NEW_BYTES));
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const words = drawn(NEW_WORDS, draw);
      await useClient(way, [fresh.json], { words, sites: [] }, () =>
        progress(`${whole(++accepted)} reports accepted`),
      );
      remember(fresh, words);
    }),
  );
  return accepted;
}

/**
 * The files of a collection's blocks in the aggregator's store: those of its recipe.
 * @param {Collection} fresh
 * @param {string} folder
 */
async function blocksOf(fresh, folder) {
  const blocks = join(folder, 'store/accumulators');
  const files = [];
  for (const name of await readdir(blocks)) {
    const head = (await readFile(join(blocks, name))).subarray(0, 48);
    if (head.subarray(16).toString('hex') === fresh.hash) files.push(join(blocks, name));
  }
  if (files.length === 0) throw new Error('the aggregator has no sums of the new words');
  return files;
}

/** @param {Collection} fresh @param {string} folder */
async function discover(fresh, folder) {
  const out = join(folder, 'new-words.json');
  const sums = join(folder, 'new-words.acc');
  const began = Date.now();
  await run(BINARY, ['merge', '-o', sums, ...(await blocksOf(fresh, folder))]);
  await run(BINARY, [
    'discover',
    '--recipe',
    join(folder, fresh.file),
    '--known',
    join(folder, KNOWN),
    '--format',
    'json',
    '-o',
    out,
    sums,
  ]);
  const result = JSON.parse(await readFile(out, 'utf8'));
  const found = discovered({ ...fresh, n: result.n, rows: result.rows, nKnown: result.known });
  return {
    found,
    said: `${result.rows.length} new words, ${result.known} more that are known, in ${((Date.now() - began) / 1000).toFixed(1)} s`,
  };
}

/**
 * @param {Collection[]} list
 * @param {Edge} edge
 * @param {Way} way
 * @param {string} aggregator
 */
async function settle(list, edge, way, aggregator) {
  let extra = 0;
  for (const collection of list) extra += await fillLastBatch(collection, edge, way);
  const sums = await untilFolded(aggregator, list);
  const why = extra
    ? ` (${extra} more were sent, because a batch leaves the edge only when it holds ${list[0].json.batch.minimum})`
    : '';
  return {
    sums,
    said: `${sums.map(whole).join(' + ')} records in its sums, none lost, none twice${why}`,
  };
}

/** @param {number} accepted */
const proof = (accepted) =>
  'Every device sent only scrambled records, and no server ever held a word or a site. Those of the client went through a relay, which saw ' +
  'addresses and ciphertext; the edge worker saw records and the relay. Yet the estimates follow the true counts, and the ' +
  `intervals that the aggregator states hold the truth about as often as they promise. Every one of the ${whole(accepted)} reports that ` +
  'were accepted is in its sums exactly once.';

/**
 * @param {Collection[]} list without the second act's
 * @param {number[]} sums
 * @param {string} aggregator
 * @param {import('playwright-core').Page} page
 */
async function compare(list, sums, aggregator, page) {
  const findings = [];
  for (const [i, collection] of list.entries()) {
    const { body } = await results(aggregator, collection.id, collection.counts.length);
    findings.push(finding({ ...collection, n: sums[i], rows: rowsOf(JSON.parse(body)) }));
  }
  for (const [i] of findings.entries()) {
    const n = sums[i]; // the page asks the aggregator again
    await page
      .locator('.histogram')
      .nth(i)
      .getByText(`${whole(n)} private records`)
      .waitFor();
  }
  await page.screenshot({ path: join(OUT, 'page.png'), fullPage: true });
  return { findings, said: relative(ROOT, join(OUT, 'page.png')) };
}

/** @param {import('./demo/report.mjs').Finding[]} findings @param {string} shows */
async function writeReport(findings, shows) {
  const style = await readFile(join(ROOT, 'web-demo/page/style.css'), 'utf8');
  await writeFile(join(OUT, 'report.html'), reportHtml(findings, shows, style));
}

/** A folder for this run, once there is a binary to run. @param {Later} later */
async function prepare(later) {
  await access(BINARY).catch(() => {
    throw new Error('build/release/shoal is missing: run `make` first');
  });
  await mkdir(OUT, { recursive: true });
  const folder = await mkdtemp(join(OUT, 'run-'));
  later(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** SPLIT=1: two servers in place of the edge and the aggregator. @param {Later} later */
async function demoOfTwoServers(later) {
  const folder = await prepare(later);
  const { found, shows } = await splitDemo({
    binary: BINARY,
    folder,
    counts: await siteCounts(),
    later,
    stopOnSignals,
  });
  await tell([found], shows);
}

const OPENING =
  'shoal learns what a crowd does without learning what anyone did. Here the crowd is simulated, so the truth is known:\n' +
  'each device draws a word or a site by how often people really use them, and sends only a scrambled record of it.\n';

/** @param {Collection[]} list @param {Way} way */
async function driveDevices(list, way) {
  await step(`${CLIENTS} more devices run the same client in Node`, (progress) =>
    driveNode(list, way, progress),
  );
  await step(`${CLIENTS} devices type words that no list needs to hold`, async (progress) => ({
    said: `${whole(await driveNew(list[2], way, progress))} reports answered through the relay`,
  }));
}

/** @param {Later} later @param {Promise<never>} interrupt */
async function demo(later, interrupt) {
  const folder = await prepare(later);
  const secret = randomBytes(24).toString('hex');
  say(OPENING);
  const { list } = await step(
    'How often words and sites are used, from two npm packages',
    async () => {
      const all = await collections();
      await writeFiles(all, folder);
      return {
        list: all,
        said: `${whole(all[0].counts.length)} words and ${whole(all[1].counts.length)} sites`,
      };
    },
  );
  const { aggregator, edge, relay, page, way } = await step(
    'Aggregator, edge worker, relay and page start, on this machine only',
    () =>
      startParties({
        binary: BINARY,
        list,
        folder,
        secret,
        links: LINKS,
        results: (url, id) => results(url, id, 20),
        later,
        stopOnSignals,
      }),
  );
  await step('Simulated devices, each with one word or one site', async (progress) => {
    const stored = [];
    for (const collection of list)
      stored.push(await simulate(collection, folder, aggregator.url, secret, progress));
    return { said: `${stored.map(whole).join(' + ')} private records stored by the aggregator` };
  });
  const [words, sites, fresh] = list;
  const visitor = await step(
    'A real browser opens the page, consents, types and follows links',
    (/** @type {(text: string) => void} */ progress) =>
      driveBrowser(list, page.url, relay.url, later, progress),
  );
  await driveDevices(list, way);
  const { sums } = await step('The edge forwards its last batches, the aggregator folds', () =>
    settle(list, edge, way, aggregator.url),
  );
  await step('What each of the three parties saw', async () => ({
    said: await seen(relay.saw, edge),
  }));
  const { findings } = await step('The estimates, beside the truth', () =>
    compare([words, sites], sums, aggregator.url, visitor.page),
  );
  const { found } = await step('New words out of the sums, beside the truth', () =>
    discover(fresh, folder),
  );
  const shows = proof(list.reduce((sum, { accepted }) => sum + accepted, 0));
  await tell([...findings, found], shows);
  if (process.env.KEEP === '1') {
    await visitor.close();
    say(invitation(page.url, aggregator.url, words.json.batch.minimum));
    await interrupt;
  }
}

/**
 * Writes the report and prints what was found. Throws if the intervals are worse than chance
 * allows.
 * @param {import('./demo/report.mjs').Finding[]} findings
 * @param {string} shows
 */
async function tell(findings, shows) {
  await writeReport(findings, shows);
  say('');
  for (const each of findings) say(`${table(each)}\n`);
  const look = relative(process.cwd(), join(OUT, 'report.html'));
  say(`${wrapped(`What this shows. ${shows}`)}\n\nLook: ${look}`);
  if (findings.some(({ covered }) => covered < SUSPICIOUS))
    throw new Error('far fewer intervals cover the truth than should');
}

/**
 * Prints what a visitor can do while the page stays open.
 * @param {string} page
 * @param {string} aggregator
 * @param {number} minimum
 */
const invitation = (page, aggregator, minimum) =>
  `\nThe page stays open: ${page}\n` +
  `Type a few words there: a batch leaves the edge when it holds ${minimum} reports. The aggregator closes a block of\n` +
  `${minimum} reports or more at the next tick, a second later, and then the crowd's counts move.\n` +
  `The aggregator's own page: ${aggregator}\nCtrl-C ends both.`;

class Interrupted extends Error {}

/**
 * Makes signals end the demo in order. It is called again after a library has added listeners that
 * would end the process at once.
 */
let stopOnSignals = () => {};

/**
 * Runs the demo and ends everything that it started, whatever happened.
 * @returns {Promise<number>} exit code
 */
async function main() {
  /** @type {(() => any)[]} */
  const closers = [];
  /** @type {Promise<never>} */
  const interrupt = new Promise((_, reject) => {
    stopOnSignals = () => {
      for (const signal of ['SIGINT', 'SIGTERM'])
        process.removeAllListeners(signal).on(signal, () => reject(new Interrupted()));
    };
  });
  stopOnSignals();
  let code = 0;
  try {
    const act = process.env.SPLIT === '1' ? demoOfTwoServers : demo;
    await Promise.race([act((close) => void closers.unshift(close), interrupt), interrupt]);
  } catch (error) {
    const isWanted = error instanceof Interrupted && process.env.KEEP === '1';
    code = isWanted ? 0 : error instanceof Interrupted ? 130 : 1;
    if (!isWanted)
      console.error(
        `\ndemo: ${error instanceof Interrupted ? 'interrupted' : /** @type {Error} */ (error).message}`,
      );
  }
  for (const close of closers) {
    await Promise.resolve()
      .then(close)
      .catch((error) => {
        console.error(`demo: ${error.message}`);
        code ||= 1;
      });
  }
  return code;
}

process.exit(await main());
