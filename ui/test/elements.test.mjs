// SPDX-License-Identifier: Apache-2.0
// The elements in a real Chromium, under a policy that allows no inline style, no markup from text
// and no eval: what they say, what they do, for whom they work, and how they look.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { wholeDay } from '../../tests/aggregator/serve/serve_helpers.mjs';
import { until } from '../../web-demo/test/demo_site.mjs';
import { guessOf, verdictOf } from '../../wasm/client/verdict.js';
import { HOSTILE, launch, pretend, recipe, sites, startSite, told } from './ui_site.mjs';

const BUILD = fileURLToPath(new URL('../../build/ui/', import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LANGUAGES = ['en', 'de', 'tr', 'fr', 'es', 'ar'];
const isLong = !!process.env.SHOAL_LONG;

/** @typedef {import('playwright-core').Page} Page */

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof startSite>>} */
let site;
/** @type {import('playwright-core').BrowserContext[]} */
let contexts = [];
/** @type {string[]} what went wrong in any page of a test */
let errors = [];

before(async () => {
  await wholeDay(60);
  mkdirSync(BUILD, { recursive: true });
  [browser, site] = await Promise.all([launch(), startSite()]);
});
after(() => Promise.all([browser.close(), site.close()]));
afterEach(async () => {
  await Promise.all(contexts.map((context) => context.close()));
  contexts = [];
  assert.deepEqual(errors, []);
});

/**
 * Opens a page with elements.
 * @param {string} html @param {import('playwright-core').BrowserContextOptions} [options]
 */
async function open(html, options = {}) {
  errors = [];
  const context = await browser.newContext(options);
  contexts.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(Number(process.env.T ?? 30_000));
  /** @type {string[]} */
  const requested = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => requested.push(new URL(request.url()).pathname));
  await page.goto(`${site.url}?html=${encodeURIComponent(html)}`);
  await page.locator('html[data-ready]').waitFor();
  return { page, requested };
}

/** What a page gives its client. @param {any} [more] */
const options = (more) => ({
  endpoint: site.url,
  recipes: [recipe(), sites],
  ...more,
});

/** Starts a real client in the page, and connects the elements. @param {Page} page @param {any} how */
const connect = (page, how) =>
  page.evaluate((given) => {
    const { ui, start } = /** @type {any} */ (window);
    const shoal = start(given);
    Object.assign(window, { shoal });
    ui.connect(shoal, given);
  }, how);

/** Loads the page again as a visitor would on another day. @param {Page} page @param {any} how */
async function again(page, how) {
  await page.reload();
  await page.locator('html[data-ready]').waitFor();
  await connect(page, how);
}

const box = (/** @type {Page} */ page, name = 'consent') => page.locator(`shoal-${name} .box`);

test('consent says what, why, who and how private, with two equal buttons, and loads nothing', async () => {
  const { page, requested } = await open(
    '<shoal-consent><span slot="why">To find the words that our keyboard lacks.</span></shoal-consent>',
  );
  await connect(page, options());
  const text = await box(page).innerText();
  for (const said of [
    'Words that you type',
    'Names of sites',
    'at most: 3',
    new URL(site.url).host,
  ])
    assert.ok(text.includes(said), `${said}: ${text}`);
  assert.ok(await page.getByText('To find the words that our keyboard lacks.').isVisible());
  // The words of `recipe check`, from the same figures: one report, and a day of both recipes.
  for (const [label, epsilon] of /** @type {const} */ ([
    ['One report', 4e6],
    ['A whole day', 12e6],
  ])) {
    const { right, code } = guessOf(epsilon);
    const words = code === 'none' ? 'no meaningful protection' : code;
    const line = text.split('\n').find((each) => each.startsWith(label)) ?? '';
    assert.ok(line.toLowerCase().includes(words), line);
    assert.ok(line.includes(`${right} of 100 cases`), line);
    assert.ok(verdictOf(epsilon).text.includes(`${right} of 100 cases`));
  }
  const [no, yes] = await Promise.all(
    ['#no', '#yes'].map((id) =>
      page.locator(`shoal-consent ${id}`).evaluate((button) => {
        const { font, color, backgroundColor, border, padding } = getComputedStyle(button);
        const { width, height, x, y } = button.getBoundingClientRect();
        return { same: { font, color, backgroundColor, border, padding, width, height, y }, x };
      }),
    ),
  );
  assert.deepEqual(no.same, yes.same, 'neither is made to be clicked');
  assert.ok(no.x < yes.x, 'the order is the documented one');
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  const own =
    /^\/(|page\.(js|css)|favicon\.ico|ui\/(shoal-ui|elements|lang\/en)\.js|shoal\/(loader|option_check)\.js)$/;
  for (const path of requested) assert.match(path, own);
});

test('consent says that visits are remembered, where a recipe has the device do that', async () => {
  const week = JSON.parse(
    readFileSync(new URL('../../docs/recipes/visitors-week.json', import.meta.url), 'utf8'),
  );
  for (const [recipes, isSaid] of /** @type {const} */ ([
    [[recipe(), week], true],
    [[recipe()], false],
  ])) {
    const { page } = await open('<shoal-consent></shoal-consent>');
    await connect(page, { ...options(), recipes });
    const text = await box(page).innerText();
    assert.ok(text.includes('One report'));
    assert.equal(text.includes('remembers the days of its first and its last visit'), isSaid, text);
  }
});

test('after a no it asks again for more, and only for more', async () => {
  const { page, requested } = await open('<shoal-consent></shoal-consent>');
  await connect(page, options());
  await page.locator('shoal-consent #no').click();
  await page.locator('shoal-consent .off').waitFor();
  assert.deepEqual(
    requested.filter((path) => /client\.js|wasm|v1/.test(path)),
    [],
  );
  const less = recipe({ parameters: { epsilon: 1, k: 2048, m: 1024 }, limit: { per_day: 1 } });
  for (const [what, more, view] of /** @type {const} */ ([
    ['the same', {}, 'off'],
    ['less', { recipes: [less] }, 'off'],
    ['epsilon', { recipes: [recipe({ limit: { per_day: 3 } })] }, 'ask'],
    ['a purpose', { recipes: [recipe({ stream: 'other' })] }, 'ask'],
    ['an operator', { endpoint: 'https://other.example/' }, 'ask'],
    [
      'a protocol',
      {
        recipes: [recipe({ aggregation: { protocol: 'dap', leader: site.url, helper: site.url } })],
      },
      'ask',
    ],
  ])) {
    await again(page, options(more));
    await page
      .locator(`shoal-consent .box.${view}`)
      .waitFor()
      .catch(() => assert.fail(what));
  }
});

test('after a yes it says so, stops by one click, and shows what is more', async () => {
  const { page } = await open('<shoal-consent mode="banner"></shoal-consent>');
  await connect(page, options());
  await page.locator('shoal-consent #yes').click();
  await page.locator('shoal-consent #stop').waitFor();
  assert.equal(
    await page.evaluate(() => /** @type {any} */ (window).shoal.consent.state),
    'granted',
  );
  await again(page, options({ recipes: [recipe()] }));
  await page.locator('shoal-consent .on').waitFor();
  const more = options({ recipes: [recipe({ limit: { per_day: 4 } }), sites] });
  await again(page, more);
  await page.locator('shoal-consent .more').waitFor();
  assert.match(await box(page).innerText(), /words-1.*before 8.*now 16/);
  await page.locator('shoal-consent #moreNo').click();
  await page.locator('shoal-consent .on').waitFor();
  await again(page, more);
  await page.locator('shoal-consent .on').waitFor();
  await page.locator('shoal-consent #stop').click();
  await page.locator('shoal-consent .box').waitFor({ state: 'hidden' });
  assert.equal(
    await page.evaluate(() => /** @type {any} */ (window).shoal.consent.state),
    'withdrawn',
  );
  await page.locator('shoal-consent').evaluate((element) => /** @type {any} */ (element).open());
  await page.locator('shoal-consent #yes').click();
  await page.locator('shoal-consent #stop').waitFor();
});

test('Global Privacy Control is honoured, and shown', async () => {
  const { page, requested } = await open('<shoal-consent></shoal-consent>');
  await page.evaluate(() =>
    Object.defineProperty(navigator, 'globalPrivacyControl', { value: true }),
  );
  await connect(
    page,
    options({ recipes: [{ url: '/recipes/words.json', hash: '00'.repeat(32) }] }),
  );
  await page.getByText('sends Global Privacy Control').waitFor();
  assert.equal(await page.locator('shoal-consent button').count(), 0);
  assert.ok(!requested.includes('/recipes/words.json'));
});

test('what cannot be read asks nobody', async () => {
  const { page } = await open('<shoal-consent></shoal-consent>');
  await connect(
    page,
    options({ recipes: [{ url: 'https://elsewhere.example/r.json', hash: '00'.repeat(32) }] }),
  );
  await page.locator('shoal-consent .unread').waitFor();
  assert.equal(await page.locator('shoal-consent button').count(), 0);
  assert.match(errors.join(), /another origin/);
  errors = [];
  await page.evaluate(
    (given) => {
      const { ui, shoal } = /** @type {any} */ (window);
      ui.connect(shoal, given);
    },
    options({ recipes: [{ url: '/recipes/words.json', hash: '00'.repeat(32) }] }),
  );
  await page.locator('shoal-consent .ask').waitFor(); // a pinned file of the page's own origin
});

test('the banner is in view at 390 x 844 in every language, also at 200 %', async () => {
  for (const lang of LANGUAGES) {
    const { page } = await open(`<shoal-consent mode="banner" lang="${lang}"></shoal-consent>`, {
      viewport: { width: 390, height: 844 },
    });
    await connect(page, options());
    await box(page).waitFor();
    const seen = await box(page).evaluate((element) => {
      const { top, bottom, left, right } = element.getBoundingClientRect();
      const text = /** @type {Element} */ (element.querySelector('.text'));
      return { top, bottom, left, right, hidden: text.scrollHeight - text.clientHeight };
    });
    assert.ok(
      seen.top >= 0 && seen.bottom <= 844 && seen.left >= 0 && seen.right <= 390,
      `${lang} ${JSON.stringify(seen)}`,
    );
    assert.ok(seen.hidden <= 0, `${lang}: ${seen.hidden} px are scrolled away`);
    await page.screenshot({ path: join(BUILD, `banner-390-${lang}.png`) });
    await page.setViewportSize({ width: 195, height: 422 });
    const button = await page.locator('shoal-consent #no').boundingBox();
    assert.ok(
      button && button.y >= 0 && button.y + button.height <= 422,
      `${lang}: the buttons are in view`,
    );
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), lang);
  }
});

test('the panel is live: what was posted is what it draws and says; export, stop, erase', async () => {
  const { page } = await open('<shoal-consent></shoal-consent><shoal-panel></shoal-panel>');
  await connect(page, options());
  await page.locator('shoal-panel').getByText('Nothing so far.').waitFor();
  await page.locator('shoal-consent #yes').click();
  await page.locator('shoal-panel').getByText('You take part.').waitFor();
  const posted = site.posted.length;
  await page.evaluate(() => /** @type {any} */ (window).shoal.record('typed-words', 'wonderful'));
  await page.locator('shoal-panel').getByText('Sent: 1. Waiting: 0.').waitFor();
  const report = JSON.parse(site.posted[posted].body);
  const bits = [...Buffer.from(report.records[0].split(',')[1], 'hex')];
  const lit = bits.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
  const path = await page.locator('shoal-panel svg .lit').getAttribute('d');
  assert.equal(path?.match(/M/g)?.length, lit);
  const fit = Number(((75_000 * lit) / 1024).toPrecision(2)).toLocaleString('en-US');
  const said = await page.locator('shoal-panel .said').innerText();
  assert.ok(said.replace(/[\u2068\u2069]/g, '').includes(`Of 75,000 words, ${fit} fit it`), said);
  await page
    .locator('shoal-panel')
    .getByText('Today: epsilon 4 of 12 is spent, 8 is left.')
    .waitFor();
  assert.equal(await page.locator('shoal-panel [role=meter]').getAttribute('aria-valuenow'), '4');

  const downloaded = page.waitForEvent('download');
  await page.locator('shoal-panel #save').click();
  const saved = JSON.parse(readFileSync(await (await downloaded).path(), 'utf8'));
  assert.deepEqual(saved.reports[0].report, report);
  assert.equal(saved.state, 'granted');
  assert.ok(saved.ledger.length > 0 && Array.isArray(saved.log) && Array.isArray(saved.explain));

  await page.locator('shoal-panel #stop').click();
  await page.locator('shoal-panel').getByText('You do not take part.').waitFor();
  await page.locator('shoal-consent .off, shoal-consent .ask').waitFor();
  await page.locator('shoal-panel #erase').click();
  await page.locator('shoal-panel #eraseNo').click();
  assert.ok(await page.locator('shoal-panel').getByText('Sent: 1.').isVisible(), 'kept');
  await page.locator('shoal-panel #erase').click();
  await page.locator('shoal-panel #eraseYes').click();
  await page.locator('shoal-panel').getByText('Nothing so far.').waitFor();
  await page.locator('shoal-panel').getByText('Erased.').waitFor();
});

test('the panel says what waits, what was refused and why, in the language of the page', async () => {
  const { page } = await open('<shoal-panel lang="de"></shoal-panel>');
  const says = told();
  /** @type {any} */ (says.ledger.at(-1)).caps = [
    { epsilon: 28, days: 7, reserved: 21, until: '2027-01-01' },
  ];
  await pretend(page, { state: 'granted', says, options: options() });
  const text = (await box(page, 'panel').innerText()).replace(/[\u2066-\u2069]/g, '');
  for (const said of [
    'Gesendet: 1. Wartend: 1. Abgelehnt: 1.',
    'In 7 Tagen: Epsilon 21 von 28 ist vergeben, 7 ist übrig.',
    'Die Berichte dieses Tages sind verbraucht.',
    'words-1: fragt nach words-1. Epsilon 4.',
    'The query asks for too much',
    'words-1: Epoche 2 von 9. Epsilon 1 von 4.',
    'genaue Werte ohne Rauschen geteilt: 1 von 5',
  ])
    assert.ok(text.includes(said), `${said} is not in: ${text}`);
  const english = page.locator('shoal-panel [lang=en]').first();
  assert.match(
    await english.innerText(),
    /The query asks/,
    'what is English says so to a screen reader',
  );
  await page.evaluate(() => {
    const { says, ui } = /** @type {any} */ (window);
    says.reports[1].state = 'sent';
    ui.refresh();
  });
  await page.getByText('Gesendet: 2. Wartend: 0.').waitFor();
});

test('the sandbox: guess which is which; nothing is stored or sent', async () => {
  const { page, requested } = await open('<shoal-try epsilon="8"></shoal-try>');
  await page.locator('shoal-try svg').nth(19).waitFor();
  await page.getByLabel('A word').fill('<b>Ozean</b>');
  const before = requested.length;
  for (let i = 0; i < 4; i++) {
    await page.getByRole('button', { name: 'Make records' }).click();
    // At epsilon 8 the framed cell of ten records tells: lit in nearly all of the own group.
    const states = await page
      .locator('shoal-try svg')
      .evaluateAll((all) =>
        all.map((each) =>
          / is lit\.?$/.test(
            String(each.getAttribute('aria-label')).replace(/[\u2066-\u2069]/g, ''),
          ),
        ),
      );
    const [a, b] = [states.slice(0, 10), states.slice(10)].map(
      (group) => group.filter(Boolean).length,
    );
    await page.getByRole('button', { name: a > b ? /A.? is mine/ : /B.? is mine/ }).click();
  }
  await page.getByText('Right so far: 4 of 4.').waitFor();
  assert.equal(await page.locator('shoal-try svg').count(), 20);
  const { right } = guessOf(8e6);
  assert.ok((await page.locator('shoal-try .list li').first().innerText()).includes(String(right)));
  assert.equal(requested.length, before);
  assert.deepEqual(
    await page.evaluate(async () => [localStorage.length, (await indexedDB.databases()).length]),
    [0, 0],
  );
});

test('a hostile name changes nothing, in every place where one is shown', async () => {
  for (const name of HOSTILE) {
    const { page } = await open(
      `<shoal-consent></shoal-consent><shoal-panel></shoal-panel><shoal-try></shoal-try>`,
      { viewport: { width: 390, height: 844 } },
    );
    const asked = options({ recipes: [recipe({ recipe: name })] });
    const ask = {
      recipe: name,
      analysis: name,
      stream: name,
      value: name,
      variables: [],
      epsilon: 4,
      epsilonPerDay: 8,
      operators: [name],
      protocol: [name],
      more: ['purpose', 'operators', 'protocol'],
      before: null,
    };
    await pretend(page, { state: 'none', options: asked });
    await box(page)
      .locator('details')
      .evaluate((each) => each.setAttribute('open', ''));
    await pretend(page, { state: 'granted', asks: [ask], says: told(name), options: { ...asked } });
    await page.locator('shoal-consent .more').waitFor();
    await page.locator('shoal-panel .pill').first().waitFor({ state: 'attached' });
    for (const fold of await page.locator('shoal-panel details').all())
      await fold.evaluate((each) => each.setAttribute('open', ''));
    await page.getByLabel('A word').fill(name);
    await page.getByRole('button', { name: 'Make records' }).click();
    const seen = await page.evaluate(() => {
      const roots = [...document.querySelectorAll('shoal-consent, shoal-panel, shoal-try')].map(
        (each) => /** @type {ShadowRoot} */ (each.shadowRoot),
      );
      return {
        images: roots.reduce(
          (sum, root) => sum + root.querySelectorAll('img, script, b[onerror]').length,
          0,
        ),
        text: roots.map((root) => root.textContent).join(),
        wide: document.documentElement.scrollWidth - innerWidth,
        title: document.title,
      };
    });
    assert.equal(seen.images, 0);
    assert.doesNotMatch(seen.text, /[\u202a-\u202e\u2066\u2067\u200e\u200f]/);
    assert.equal(seen.wide, 0, `${name}: wider than the page by ${seen.wide}`);
    assert.equal(seen.title, 'A page');
    await page.screenshot({
      path: join(BUILD, `hostile-${HOSTILE.indexOf(name)}.png`),
      fullPage: true,
    });
  }
});

/** Each state of each element. @type {[string, string, (page: Page) => Promise<unknown>][]} */
const STATES = [
  [
    'consent-ask',
    '<shoal-consent></shoal-consent>',
    (page) => pretend(page, { state: 'none', options: options() }),
  ],
  [
    'consent-banner',
    '<shoal-consent mode="banner"></shoal-consent>',
    (page) =>
      pretend(page, { state: 'none', options: options({ relay: 'https://relay.example/' }) }),
  ],
  [
    'consent-on',
    '<shoal-consent></shoal-consent>',
    (page) => pretend(page, { state: 'granted', options: options() }),
  ],
  [
    'consent-banner-on',
    '<shoal-consent mode="banner"></shoal-consent>',
    (page) => pretend(page, { state: 'granted', options: options() }),
  ],
  [
    'consent-off',
    '<shoal-consent></shoal-consent>',
    async (page) => {
      await pretend(page, { state: 'none', options: options() });
      await page.locator('shoal-consent #no').click();
      await page.locator('shoal-consent .off').waitFor();
    },
  ],
  [
    'consent-more',
    '<shoal-consent></shoal-consent>',
    (page) => {
      const before = {
        epsilon: 4,
        epsilonPerDay: 8,
        operators: ['https://edge.example'],
        protocol: ['sum'],
      };
      const ask = {
        ...before,
        recipe: 'words-2',
        analysis: 'words',
        stream: 's',
        value: 'word',
        variables: [],
        epsilonPerDay: 16,
        more: ['epsilon', 'operators', 'protocol'],
        before,
      };
      return pretend(page, {
        state: 'outdated',
        asks: [ask, { ...ask, recipe: 'sites-2', more: ['purpose'], before: null }],
        options: options(),
      });
    },
  ],
  [
    'consent-gpc',
    '<shoal-consent mode="banner"></shoal-consent>',
    (page) => pretend(page, { state: 'gpc', options: options() }),
  ],
  [
    'panel-empty',
    '<shoal-panel></shoal-panel>',
    (page) => pretend(page, { state: 'none', options: options() }),
  ],
  [
    'panel-full',
    '<shoal-panel></shoal-panel>',
    async (page) => {
      await pretend(page, { state: 'granted', says: told(), options: options() });
      await page.locator('shoal-panel .pill').first().waitFor({ state: 'attached' });
      for (const fold of await page.locator('shoal-panel details').all())
        await fold.locator('summary').click();
      await page.locator('shoal-panel #erase').click();
    },
  ],
  [
    'try',
    '<shoal-try></shoal-try>',
    (page) => page.getByRole('button', { name: /./ }).nth(1).click(),
  ],
];

for (const scheme of /** @type {const} */ (['light', 'dark']))
  test(`every state: axe finds nothing, nothing jumps, nothing is cut off; ${scheme}`, async () => {
    for (const [name, html, reach] of STATES) {
      const isArabic = scheme === 'dark' && !isLong; // one run from right to left, one from left to right
      for (const lang of isLong ? LANGUAGES : [isArabic ? 'ar' : 'en']) {
        const { page } = await open(html.replace('><', ` lang="${lang}"><`), {
          colorScheme: scheme,
          viewport: { width: 1280, height: 900 },
        });
        await page.evaluate(() => {
          const seen = { shift: 0, refused: 0 };
          Object.assign(window, { seen });
          addEventListener('securitypolicyviolation', () => seen.refused++);
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries())
              if (!(/** @type {any} */ (entry).hadRecentInput))
                seen.shift += /** @type {any} */ (entry).value;
          }).observe({ type: 'layout-shift', buffered: true });
        });
        await reach(page);
        await page.locator('[lang] >> .box').first().waitFor();
        await page.evaluate(AXE);
        const found = await page.evaluate(async () => {
          const { axe, seen } = /** @type {any} */ (window);
          const { violations, incomplete } = await axe.run(document);
          const of = (/** @type {any[]} */ list) =>
            list.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`);
          return {
            violations: of(violations),
            contrast: of(
              incomplete.filter((/** @type {any} */ each) => each.id === 'color-contrast'),
            ),
            ...seen,
          };
        });
        assert.deepEqual(found.violations, [], name);
        assert.equal(found.refused, 0, name);
        assert.equal(found.shift, 0, name);
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
          await page.screenshot({
            path: join(BUILD, `${name}-${width}-${scheme}-${lang}.png`),
            fullPage: true,
          });
          assert.ok(
            await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
            `${name}, ${width} px`,
          );
        }
        await page.setViewportSize({ width: 320, height: 450 }); // 640 x 900 at 200 %
        assert.ok(
          await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
          `${name}, 200 %`,
        );
        await contexts.pop()?.close();
      }
    }
  });

test('by keyboard alone, written down as steps', async () => {
  const { page } = await open(
    '<shoal-consent></shoal-consent><shoal-panel></shoal-panel><shoal-try></shoal-try>',
  );
  await connect(page, options());
  await page.locator('shoal-panel').getByText('Nothing so far.').waitFor();
  await page.locator('shoal-try svg').first().waitFor();
  /** @type {string[]} */
  const steps = [];
  const focused = () =>
    page.evaluate(() => {
      let at = document.activeElement;
      while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
      const label =
        at?.getAttribute('aria-label') ??
        /** @type {any} */ (at)?.labels?.[0]?.textContent ??
        at?.textContent;
      const outline = at ? getComputedStyle(at).outlineStyle : 'none';
      return {
        name: `${at?.localName} "${String(label)
          .replace(/[\u2066-\u2069]/g, '')
          .trim()
          .slice(0, 40)}"`,
        outline,
      };
    });
  const press = async (/** @type {string} */ key) => {
    await page.keyboard.press(key);
    const { name, outline } = await focused();
    steps.push(`${key}: ${name}`);
    return { name, outline };
  };
  const tabTo = async (/** @type {string} */ name) => {
    for (let i = 0; i < 12; i++) {
      const at = await press('Tab');
      if (at.name.startsWith('a ')) continue; // a link of the page, whose look is the page's
      if (at.name.includes(name))
        return assert.equal(at.outline, 'solid', `${name} shows its focus`);
    }
    assert.fail(`${name} is not reached: ${steps.join('; ')}`);
  };
  await tabTo('Each collection by itself');
  await press('Enter');
  await tabTo('No, thanks');
  await tabTo('Yes, take part');
  await press('Enter');
  await until('the focus is on what stops it', async () =>
    (await focused()).name.includes('Stop taking part'),
  );
  steps.push('focus: button "Stop taking part"');
  await page.evaluate(() => /** @type {any} */ (window).shoal.record('typed-words', 'keyboard'));
  await page.locator('shoal-panel').getByText('Sent: 1.').waitFor();
  for (const name of [
    'Stop taking part',
    'Erase everything',
    'Export as JSON',
    'The newest reports',
  ])
    await tabTo(name);
  await press('Enter');
  await page.locator('shoal-panel time').first().waitFor();
  for (const name of ['exactly as it is sent', 'Each collection today', 'A word', 'Epsilon'])
    await tabTo(name);
  await press('ArrowRight');
  await page.getByText('Epsilon: 2.5').waitFor();
  await tabTo('Make records');
  await press('Enter');
  await tabTo('A is mine');
  await press('Enter');
  await page.getByText(/Right so far: \S+ of \S+/).waitFor();
  await page.keyboard.press('Shift+Tab');
  writeFileSync(join(BUILD, 'keyboard.txt'), `${steps.join('\n')}\n`);
  assert.ok(steps.length < 40, `${steps.length} steps`);
});

test('forced colours and reduced motion: everything is there, and nothing moves', async () => {
  const { page } = await open(
    '<shoal-consent mode="banner"></shoal-consent><shoal-panel></shoal-panel>',
    {
      forcedColors: 'active',
      reducedMotion: 'reduce',
    },
  );
  await pretend(page, { state: 'none', says: told(), options: options() });
  await box(page).waitFor();
  const styles = await page.locator('shoal-consent #yes').evaluate((button) => {
    const { borderTopStyle, animationName, transitionDuration } = getComputedStyle(button);
    return { borderTopStyle, animationName, transitionDuration };
  });
  assert.deepEqual(styles, {
    borderTopStyle: 'solid',
    animationName: 'none',
    transitionDuration: '0s',
  });
  const lit = await page
    .locator('shoal-panel .lit')
    .evaluate((path) => getComputedStyle(path).fill);
  const sheet = await page
    .locator('shoal-panel svg:has(.lit)')
    .evaluate((svg) => getComputedStyle(svg).backgroundColor);
  assert.notEqual(lit, sheet, 'lit cells can be told from dark ones');
  await page.screenshot({ path: join(BUILD, 'forced-colours.png'), fullPage: true });
});

test('a language that comes late does not take the place of a later one', async () => {
  const { page } = await open('<shoal-consent></shoal-consent>');
  await pretend(page, { state: 'none', options: options() });
  await page.getByRole('button', { name: 'Yes, take part' }).waitFor();
  let held = 0;
  await page.route(/lang\/tr\.js/, async (route) => {
    held++;
    await new Promise((resolve) => setTimeout(resolve, 700));
    await route.continue();
  });
  const request = page.waitForRequest(/lang\/tr\.js/);
  const element = page.locator('shoal-consent');
  await element.evaluate((element) => element.setAttribute('lang', 'tr'));
  await request;
  await element.evaluate((element) => element.setAttribute('lang', 'fr'));
  await page.getByRole('button', { name: 'Oui' }).waitFor();
  await page.waitForTimeout(1000);
  assert.equal(held, 1);
  assert.equal(await page.getByRole('button', { name: 'Evet' }).count(), 0);
  assert.ok(await page.getByRole('button', { name: 'Oui' }).isVisible());
});

test('a page adds a language, and an element changes its own', async () => {
  const { page } = await open('<shoal-consent lang="nl"></shoal-consent>');
  await page.evaluate(() =>
    /** @type {any} */ (window).ui.addLanguage('nl', { yes: 'Ja, doe mee', no: 'Nee, dank u' }),
  );
  await pretend(page, { state: 'none', options: options() });
  await page.getByRole('button', { name: 'Ja, doe mee' }).waitFor();
  assert.ok(await page.getByText('May this page learn').isVisible(), 'what is missing is English');
  for (const lang of ['tr-TR', '../../etc', 'xx'])
    await page
      .locator('shoal-consent')
      .evaluate((element, lang) => element.setAttribute('lang', lang), lang);
  await page.getByRole('button', { name: 'Yes, take part' }).waitFor();
  await page.locator('shoal-consent').evaluate((element) => element.setAttribute('lang', 'tr-TR'));
  await page.getByRole('button', { name: 'Evet, katıl' }).waitFor();
});
