// SPDX-License-Identifier: Apache-2.0
// The text rule in a real browser: the same bytes as in Node for every character that both versions of Unicode assign.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { applyTextRule } from '../../bindings/text.js';
import { WASM, launchBrowser, serveFolders } from '../fixtures.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serveFolders>>} */
let server;
before(async () => {
  browser = await launchBrowser();
  server = await serveFolders({
    folders: [join(WASM, 'bindings')],
    pages: { '/': '<!doctype html><title>text</title>' },
  });
});
after(async () => {
  await browser?.close();
  await server?.close();
});

const RULES = [
  { case: 'lower' },
  ...['de', 'tr', 'lt'].map((locale) => ({ case: 'lower', locale })),
  { case: 'fold' },
].map((rule) => ({ form: 'NFC', min: 1, max: 64, ...rule }));

/**
 * Applies a rule to every assigned character in four contexts. Runs in Node and in the page.
 * @param {(text: string, rule: any) => string | null} apply @param {any} rule
 */
function all(apply, rule) {
  /** @type {{[point: string]: string}} */
  const out = {};
  for (let point = 0; point < 0x110000; point++) {
    const c = String.fromCodePoint(point);
    if (!/\p{Assigned}/u.test(c) || /[\p{Co}\p{Cs}\p{Script=Han}\p{Script=Hangul}]/u.test(c))
      continue;
    out[point] = [c, `A${c}\u03a3`, `I${c}\u0307`, `i\u0307${c}`]
      .map((text) => apply(text, rule))
      .join();
  }
  return out;
}

test('the browser and Node make the same of every character', async (t) => {
  const page = await browser.newPage();
  await page.goto(server.origin);
  // Characters whose general category differs between Unicode 15 and later matter beside a capital sigma alone.
  const changed = [0x295, 0x1171e];
  for (const rule of RULES) {
    const there = await page.evaluate(async ([source, given]) => {
      const { applyTextRule: apply } = await import(`${location.origin}/text.js`);
      return new Function(`return ${source}`)()(apply, given);
    }, /** @type {[string, any]} */ ([all.toString(), rule]));
    const here = all(applyTextRule, rule);
    const both = Object.keys(here).filter((point) => point in there && !changed.includes(+point));
    assert.ok(both.length > 40_000, `${both.length} characters`);
    const wrong = both.filter((point) => here[point] !== there[point]);
    assert.deepEqual(
      wrong.map((point) => (+point).toString(16)),
      [],
      JSON.stringify(rule),
    );
    t.diagnostic(`${both.length} of ${Object.keys(here).length} characters`);
  }
});
