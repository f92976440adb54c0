// SPDX-License-Identifier: Apache-2.0
// The pages of rounds and of a run in a real browser, on a phone and a screen, light and dark: under their policy, without a script, a
// finding of axe or a part that is too wide, reachable by keyboard, and whole on paper.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { launchBrowser } from '../../../wasm/test/fixtures.mjs';
import { keep, tooWide, violations } from './dashboard_site.mjs';
import { TOKENS, roundsSite } from './rounds_site.mjs';
import { firstEpoch, importRun, makeFolder, runSite } from './run_site.mjs';

const VIEW = '?view=rounds';
const EPOCHS = [0.3, 0.7, 0.3, 0.8, 0.3, 0.2, 0.75, 0.3].map((yes, i) => ({
  yes,
  ones: 0.4 + 0.05 * i,
}));

/**
 * Looks at pages in every size and colour.
 * @param {import('node:test').TestContext} t @param {string} url @param {Record<string, string>} pages paths by the names of their pictures
 * @param {(page: import('playwright-core').Page, name: string) => Promise<void>} [also]
 */
async function look(t, url, pages, also = async () => {}) {
  const browser = await launchBrowser();
  t.after(() => browser.close());
  for (const width of [390, 1280])
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme,
        extraHTTPHeaders: { authorization: `Bearer ${TOKENS.alice}` },
        javaScriptEnabled: true, // axe's; the pages have none
      });
      const page = await context.newPage();
      /** @type {string[]} */
      const troubles = [];
      page.on('console', (message) => troubles.push(message.text()));
      page.on('dialog', (dialog) => troubles.push(dialog.message()));
      for (const [name, path] of Object.entries(pages)) {
        const answer = await page.goto(url + path);
        assert.equal(answer?.status(), 200, name);
        const alien = path.includes('?') ? 'script, img, [onerror]' : 'img, [onerror]';
        assert.equal(await page.locator(alien).count(), 0, name);
        assert.deepEqual([name, await tooWide(page)], [name, []]);
        assert.deepEqual([name, await violations(page)], [name, []]);
        await keep(page, `${name}-${width}-${colorScheme}`);
        await also(page, name);
      }
      assert.deepEqual(troubles, []);
      await context.close();
    }
}

test('the pages of rounds are shown as they should be', async (t) => {
  const { url } = await roundsSite(t, ['words', 'phrases', 'ages', 'secret']);
  const pages = {
    'rounds-words': `/recipes/words-2${VIEW}`,
    'rounds-phrases': `/recipes/phrases-1${VIEW}`,
    'rounds-ages': `/recipes/ages-3${VIEW}`,
    'rounds-hostile': `/recipes/secret-2${VIEW}`,
    'rounds-link': '/recipes/words-1',
  };
  await look(t, url, pages, async (page, name) => {
    if (name === 'rounds-link') {
      assert.ok((await page.getByRole('link', { name: 'Rounds' }).count()) === 1);
      return;
    }
    for (const link of await page.locator('section').first().getByRole('link').all()) {
      await link.focus();
      assert.ok(await link.evaluate((one) => one === document.activeElement));
    }
    if (name !== 'rounds-words') return;
    const tree = page.getByRole('region', { name: 'How words grew' });
    await tree.focus();
    assert.ok(await tree.evaluate((one) => one === document.activeElement), 'it scrolls by keys');
    await page.emulateMedia({ media: 'print' });
    assert.deepEqual(await tooWide(page), [], 'on paper');
    assert.equal(await page.getByText('Round 3').first().isVisible(), true);
    await page.emulateMedia({ media: null });
  });
});

test('the page of a run is shown as it should be', async (t) => {
  const folder = makeFolder(t);
  const { next } = importRun(folder, firstEpoch(folder, 'thresh', 'dark-mode'), EPOCHS);
  const { url } = await runSite(t, folder, next);
  await look(t, url, { run: `/recipes/dark-mode${VIEW}` }, async (page) => {
    await page.getByText('Every epoch').first().click();
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(await tooWide(page), []);
  });
});

test('what waits, and what a reader may not see, is shown as it should be', async (t) => {
  const { url } = await roundsSite(t, ['words'], {
    changes: { readers: [{ name: 'alice', token_file: 'alice', collections: ['words-2'] }] },
  });
  await look(t, url, { 'rounds-part': `/recipes/words-2${VIEW}` });
  const waits = await roundsSite(t, ['words', 'ages'], {
    changes: {
      readers: [{ name: 'alice', token_file: 'alice', collections: ['words-4', 'ages-3'] }],
    },
  });
  await look(t, waits.url, { 'rounds-waits': `/recipes/words-4${VIEW}` });
});
