// SPDX-License-Identifier: Apache-2.0
// How the elements look in each engine: on a phone and a screen, light and dark. The pictures go to
// build/browsers for people to look at. What a machine can see is checked: the width, the colours
// of the scheme, that nothing is wider than the page, and that the buttons weigh the same.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pretend, recipe, sites, startSite, told } from '../../ui/test/ui_site.mjs';
import { everywhere, openBrowser, until } from './browsers.mjs';

const PICTURES = fileURLToPath(new URL('../../build/browsers/', import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** @type {Awaited<ReturnType<typeof startSite>>} */
let site;
// WebKit shows a narrow page in a frame of another server on loopback.
before(async () => (site = await startSite({ ancestors: 'http://127.0.0.1:*' })));
after(() => site.close());

const options = () => ({ endpoint: site.url, recipes: [recipe(), sites] });

/** @type {Record<string, {html: string, how: () => any, isWhole?: boolean}>} */
const STATES = {
  consent: {
    html: '<shoal-consent></shoal-consent>',
    how: () => ({ state: 'none' }),
    isWhole: true,
  },
  banner: { html: '<shoal-consent mode="banner"></shoal-consent>', how: () => ({ state: 'none' }) },
  panel: {
    html: '<shoal-panel></shoal-panel>',
    how: () => ({ state: 'granted', says: told() }),
    isWhole: true,
  },
  try: {
    html: '<shoal-try epsilon="4"></shoal-try>',
    how: () => ({ state: 'none' }),
    isWhole: true,
  },
};

/** Brings axe into a page: as a function's body it needs no eval, which the page's policy forbids. */
const bringAxe = /** @type {() => void} */ (new Function(AXE));

/** Rules of axe that a page breaks. Runs in it. */
async function violations() {
  const { axe } = /** @type {any} */ (globalThis);
  const found = await axe.run(document);
  const broken = found.violations.map(
    (/** @type {any} */ { id, nodes }) => `${id}: ${nodes[0].html}`,
  );
  return { broken, kept: found.passes.length };
}

/** What can be measured of a page. Runs in it. */
function measure() {
  const root = document.querySelector(
    '[data-ready] main :is(shoal-consent, shoal-panel, shoal-try)',
  )?.shadowRoot;
  const buttons = ['#no', '#yes'].map((id) => root?.querySelector(id));
  const looks = buttons.map((button) => {
    if (!button) return null;
    const { font, color, backgroundColor, padding } = getComputedStyle(button);
    const { width, height } = button.getBoundingClientRect();
    return { font, color, backgroundColor, padding, size: [width, height].map(Math.round) };
  });
  const labels = [...(root?.querySelectorAll('form.row label span') ?? [])];
  return {
    innerWidth,
    tops: labels.map((label) => Math.round(label.getBoundingClientRect().top)),
    wide: document.documentElement.scrollWidth - innerWidth,
    background: getComputedStyle(document.body).backgroundColor,
    looks,
  };
}

for (const scheme of /** @type {const} */ (['light', 'dark']))
  for (const width of [390, 1280])
    everywhere(
      `pictures, ${scheme}, ${width} px`,
      async (name, t) => {
        const height = width === 390 ? 844 : 900;
        const browser = await openBrowser(name, { width, height, scheme });
        t.after(() => browser.close());
        const tab = await (await browser.profile()).tab();
        for (const [state, { html, how, isWhole }] of Object.entries(STATES)) {
          await tab.goto(`${site.url}?html=${encodeURIComponent(html)}`);
          await until(tab, 'the script', () => document.documentElement.dataset.ready);
          const page = /** @type {any} */ ({
            evaluate: (/** @type {any} */ task, /** @type {any} */ arg) => tab.run(task, arg),
          });
          await pretend(page, { ...how(), options: options() });
          await until(
            tab,
            `${state} is drawn`,
            (selector) => {
              const at = document.querySelector(selector)?.shadowRoot;
              const isDrawn = at?.querySelector(selector === 'shoal-consent' ? '#yes' : 'svg');
              if (isDrawn)
                for (const fold of at?.querySelectorAll('details') ?? []) fold.open = true;
              return Boolean(isDrawn);
            },
            html.slice(1, html.search(/[ >]/)),
          );
          await tab.picture(`${PICTURES}${state}-${name}-${width}-${scheme}.png`, isWhole);
          await tab.run(bringAxe);
          const { broken, kept } = await tab.run(violations);
          assert.deepEqual(broken, [], state);
          assert.ok(kept > 10, `${kept} rules were looked at`);
          const seen = await tab.run(measure);
          assert.equal(seen.innerWidth, width);
          assert.ok(seen.wide <= 0, `${state}: wider than the page by ${seen.wide} px`);
          const lit = seen.background.match(/[\d.]+/g).map(Number);
          assert.equal(lit[0] + lit[1] + lit[2] > 380, scheme === 'light', seen.background);
          if (width === 1280) assert.equal(new Set(seen.tops).size <= 1, true, 'labels are level');
          if (html.includes('consent')) assert.deepEqual(seen.looks[0], seen.looks[1]);
        }
      },
      { isLong: true },
    );
