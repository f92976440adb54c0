// SPDX-License-Identifier: Apache-2.0
// What dist/ tells in Chromium where the endpoint cannot be read: the page's policy, the list of
// origins, nobody there. And an event's way in the console of the page.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { CSP } from '../../client/reasons.js';
import { WASM, launchBrowser, serveFolders, wordsRecipe } from '../fixtures.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
before(async () => void (browser = await launchBrowser()));
after(() => browser.close());

/** An endpoint that lets a page read it, or not. @param {boolean} isReadable */
async function makeEndpoint(isReadable) {
  const server = createServer((request, response) => {
    const headers = isReadable
      ? { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' }
      : {};
    request.resume();
    response.writeHead(request.method === 'POST' ? 202 : 204, headers).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${port}`, close };
}

/**
 * Sends one event, and returns the codes of explain() and what the page printed.
 * @param {{endpoint: string, isAllowed?: boolean, debug: boolean}} setting
 */
async function oneEvent({ endpoint, isAllowed = true, debug }) {
  const csp = `default-src 'none'; ${CSP} 'unsafe-inline'; connect-src 'self'${isAllowed ? ` ${endpoint}` : ''}`;
  const site = await serveFolders({
    folders: [join(WASM, 'dist')],
    csp,
    pages: { '/': '<!doctype html><title>page</title>' },
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  /** @type {string[]} */
  const lines = [];
  page.on('console', (message) => {
    if (message.text().startsWith('shoal')) lines.push(message.text());
  });
  try {
    await page.goto(site.origin);
    const recipe = wordsRecipe({ send: { fresh: 'allow', delay_s: 0 } });
    const codes = await page.evaluate(
      async ({ options, loader }) => {
        const { start } = await import(loader);
        const shoal = start(options);
        await shoal.consent.grant();
        await shoal.record('typed-words', 'secretword');
        await shoal.flush();
        // The answer to the probe of `debug` comes after the flush.
        for (let i = 0; i < 200; i++) {
          const codes = (await shoal.explain())
            .map((/** @type {any} */ each) => each.code)
            .filter((/** @type {string} */ code) => code !== 'not-yet-due');
          if (!codes.includes('offline') || (!options.debug && i > 3)) return codes;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        return ['offline'];
      },
      { options: { endpoint, debug, recipes: [recipe] }, loader: `${site.origin}/loader.js` },
    );
    return { codes, lines };
  } finally {
    await context.close();
    await site.close();
  }
}

test('the page, the edge or nobody: each failure has its own code, and what mends it', async (t) => {
  const refusing = await makeEndpoint(false);
  const reading = await makeEndpoint(true);
  try {
    const blocked = await oneEvent({ endpoint: reading.origin, isAllowed: false, debug: true });
    assert.deepEqual(blocked.codes, ['csp-blocked']);
    assert.ok(
      blocked.lines.join('\n').includes(`connect-src 'self' ${reading.origin}`),
      blocked.lines.join('\n'),
    );
    const quiet = await oneEvent({ endpoint: reading.origin, isAllowed: false, debug: false });
    assert.deepEqual([quiet.codes, quiet.lines], [['csp-blocked'], []]);
    const cors = await oneEvent({ endpoint: refusing.origin, debug: true });
    assert.deepEqual(cors.codes, ['cors-refused']);
    assert.match(cors.lines.join('\n'), /mend it: "origins": \["http:\/\/127/);
    // Without debug nothing is asked beyond the report itself.
    const plain = await oneEvent({ endpoint: refusing.origin, debug: false });
    assert.deepEqual(plain.codes, ['offline']);
    const right = await oneEvent({ endpoint: reading.origin, debug: true });
    assert.deepEqual(right.codes, []);
    for (const expected of [/consent: given/, /budget: paid/, /randomized: /, /answer: 202/])
      assert.match(right.lines.join('\n'), expected);
    for (const { lines } of [blocked, cors, right])
      assert.doesNotMatch(lines.join('\n'), /secretword/);
    if (process.env.SHOAL_SHOW)
      for (const { lines } of [blocked, cors, right]) t.diagnostic(lines.join('\n'));
  } finally {
    await refusing.close();
    await reading.close();
  }
});
