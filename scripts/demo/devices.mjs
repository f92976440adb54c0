// SPDX-License-Identifier: Apache-2.0
// The demo's devices: one real page in Chromium, clients in Node, and hundreds of thousands of
// simulated ones. Each counts what really happened on it, which is what the aggregator must not
// know.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { init } from 'shoal-client';
import { load } from 'shoal-client/node';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The client sends nothing from a browser that says that a program drives it.
  '--disable-blink-features=AutomationControlled',
];
const BATCH_HEADERS = [0, 72, 88]; // bytes, by version
const BATCH_TRAILER = 8;
const WAIT_MS = 60_000;
const ACCEPTED = 202; // of the edge worker
const SEALED = 200; // of a relay; the sums say in the end whether all were accepted

/**
 * @typedef {{words?: string[], sites?: string[], records?: [string, any][]}} Events records are of
 *   a stream and what happened there
 * @typedef {(text: string) => void} Progress
 */

/**
 * Runs a command. If it fails, throws the last lines that it printed.
 * @param {string} file
 * @param {string[]} args
 * @returns {Promise<void>}
 */
export function run(file, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let talk = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (talk = (talk + text).slice(-2000)));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${file} ${args[0]} ended with ${code}: ${talk}`)),
    );
  });
}

/**
 * Yields the batches of a stream, one after another.
 * @param {Buffer} stream
 * @returns {Generator<Buffer>}
 */
export function* batches(stream) {
  for (let at = 0; at < stream.length;) {
    if (stream.toString('latin1', at, at + 8) !== 'shoalbat') throw new Error('not a batch');
    const header = BATCH_HEADERS[stream.readUInt32LE(at + 8)];
    if (!header) throw new Error('a batch of an unknown version');
    const size =
      header + stream.readUInt32LE(at + 12) * stream.readUInt32LE(at + 16) + BATCH_TRAILER;
    yield stream.subarray(at, at + size);
    at += size;
  }
}

/**
 * Posts the batches of a file as an edge worker would: with the secret, one batch in each request,
 * and again after a 503.
 * @param {string} file
 * @param {string} aggregator
 * @param {string} secret
 * @param {Progress} progress
 * @returns {Promise<number>} records stored
 */
export async function postBatches(file, aggregator, secret, progress) {
  let stored = 0;
  for (const batch of batches(await readFile(file))) {
    const headers = {
      'Content-Type': 'application/octet-stream',
      Authorization: `Bearer ${secret}`,
    };
    let response = await fetch(`${aggregator}v1/batches`, {
      method: 'POST',
      headers,
      body: new Uint8Array(batch),
    });
    for (let tries = 0; response.status === 503 && tries < 20; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      response = await fetch(`${aggregator}v1/batches`, {
        method: 'POST',
        headers,
        body: new Uint8Array(batch),
      });
    }
    if (response.status !== 201)
      throw new Error(`the aggregator answered ${response.status}: ${await response.text()}`);
    stored += batch.readUInt32LE(16);
    progress(`${stored.toLocaleString('en-US')} records stored`);
  }
  return stored;
}

/**
 * Runs a visitor in a real browser, who consents, types the words and follows the links.
 * @param {string} url of the page
 * @param {string} relay its URL
 * @param {Events} events
 * @param {Progress} progress
 * @returns {Promise<{accepted: number, page: import('playwright-core').Page, close: () =>
 *   Promise<void>}>}
 */
export async function visitPage(url, relay, { words = [], sites = [] }, progress) {
  const browser = await chromium.launch({
    executablePath: process.env.SHOAL_CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
    handleSIGINT: false, // the demo ends it
    handleSIGTERM: false,
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    /** @type {string[]} */
    const errors = [];
    let accepted = 0;
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('response', (response) => {
      if (
        response.request().method() !== 'POST' ||
        !response.url().startsWith(relay) ||
        response.status() !== SEALED
      )
        return;
      progress(`${(++accepted).toLocaleString('en-US')} reports accepted`);
    });
    await page.goto(url);
    await page.locator('html[data-ready]').waitFor();
    if (accepted) throw new Error('the page sent a report before consent');
    await page.getByRole('button', { name: 'Yes, take part' }).click();
    await page.locator('shoal-consent #stop').waitFor();
    for (const word of words) await page.locator('#words').pressSequentially(`${word} `);
    for (const site of sites) await page.getByRole('link', { name: site, exact: true }).click();
    const wanted = words.length + sites.length;
    for (const end = Date.now() + WAIT_MS; accepted < wanted && Date.now() < end;)
      await page.waitForTimeout(100);
    if (accepted !== wanted || errors.length)
      throw new Error(
        `the page had ${accepted} of ${wanted} reports accepted ${errors.join('; ')}`,
      );
    return { accepted, page, close: () => browser.close() };
  } catch (error) {
    await browser.close();
    throw error;
  }
}

/**
 * Runs one device in Node: the client of the same package, with its WebAssembly, over HTTP.
 * @param {import('./oblivious.mjs').Way} way @param {any[]} recipes @param {Events} events @param {() => void} onAccepted
 */
export async function useClient(
  way,
  recipes,
  { words = [], sites = [], records = [] },
  onAccepted,
) {
  let accepted = 0;
  const accepts = way.relay ? SEALED : ACCEPTED;
  const client = await init({
    ...way,
    recipes,
    wasm: load,
    fetch: async (...args) => {
      const response = await fetch(...args);
      if (args[1]?.method === 'POST' && response.status === accepts) {
        accepted++;
        onAccepted();
      }
      return response;
    },
  });
  await client.consent.grant();
  for (const word of words) await client.type(word);
  for (const site of sites) await client.visit(`https://${site}/`);
  for (const [stream, event] of records) await client.record(stream, event);
  const wanted = words.length + sites.length + records.length;
  for (const end = Date.now() + WAIT_MS; accepted < wanted && Date.now() < end;) {
    await client.flush();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const reasons = accepted === wanted ? [] : await client.explain();
  client.close();
  if (accepted !== wanted)
    throw new Error(
      `a client had ${accepted} of ${wanted} reports accepted: ${JSON.stringify(reasons)}`,
    );
  return accepted;
}
