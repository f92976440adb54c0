// SPDX-License-Identifier: Apache-2.0
// The page's further ways in Chromium, Firefox and WebKitGTK, as built and under the policy that the
// documentation prints: two servers that add up, fields that people type in, visits and days,
// signed questions under a policy and a log, and what is told where an endpoint cannot be read.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { before } from 'node:test';
import { CSP } from '../../wasm/client/reasons.js';
import { bytes } from '../../wasm/test/dap_fixtures.mjs';
import { DAY_S, startDapSite } from '../../wasm/test/dap_site.mjs';
import { WASM, itemsRecipe, serveFolders, wordsRecipe } from '../../wasm/test/fixtures.mjs';
import { OracleLog, filler, keysEntry, queryEntry } from '../../wasm/test/log_fixtures.mjs';
import { makePolicy, phrases, signed, withQuery } from '../../wasm/test/query_fixtures.mjs';
import { DAY_MS, windowed } from '../../wasm/test/window_fixtures.mjs';
import { wholeDay } from '../aggregator/serve/serve_helpers.mjs';
import { everywhere, until } from './browsers.mjs';
import { call, profiles, stored, troubles, visit } from './page.mjs';

/** @typedef {import('./browsers.mjs').Tab} Tab */
const DIST = join(WASM, 'dist');
const EMPTY = { '/': '<!doctype html><meta charset="utf-8"><title>t</title>' };
const profile = profiles();

before(() => wholeDay(240)); // budgets are of a UTC day, and the pages' clock is the machine's

/** Starts the loader of a page, whose clock is so far ahead. @param {Tab} tab @param {any} options @param {number} [shift] in ms */
const startLoader = (tab, options, shift = 0) =>
  tab.run(
    async (given, ms) => {
      const { start } = await import(/** @type {any} */ ('/loader.js'));
      Object.assign(globalThis, { shoal: start({ ...given, now: () => Date.now() + ms }) });
    },
    options,
    shift,
  );

/** @param {any[]} outcomes */
const codesOf = (outcomes) => outcomes.map(({ code }) => code);

/** Waits for something outside of the page. @param {() => boolean} condition @param {string} what */
async function comes(condition, what) {
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.fail(`never: ${what}`);
}

everywhere('records are sealed shares, which two servers open and add up', async (name, t) => {
  const all = await startDapSite();
  t.after(all.close);
  const { edge, leader, helper, site } = all;
  const tab = await (await profile(name, t)).tab();
  await visit(tab, `${site.origin}/`);
  await startLoader(tab, { endpoint: edge.url, recipes: [all.recipe()] });
  await call(tab, 'record', 'choices', 'blue');
  for (const { requests } of [leader, helper, edge])
    assert.equal(requests.length, 0, 'before consent nobody is asked for a key');
  await call(tab, 'consent.grant');
  for (const colour of ['blue', 'blue', 'red'])
    assert.deepEqual(codesOf(await call(tab, 'record', 'choices', colour)), ['queued']);
  await call(tab, 'flush');
  for (const { requests } of [leader, helper]) {
    assert.deepEqual(
      requests.map(({ method, url }) => `${method} ${url}`),
      ['GET /dap/hpke_config'],
    );
    const { cookie, referer } = requests[0].headers;
    assert.deepEqual([cookie, referer], [undefined, undefined]);
  }
  const reports = await call(tab, 'reports');
  const { uploads, times, sum } = await all.addUp(reports[0].report.recipe_hash);
  assert.deepEqual(times, Array(3).fill(Math.floor(Date.now() / 1000 / DAY_S)));
  for (const { headers } of uploads)
    for (const header of ['cookie', 'referer', 'idempotency-key'])
      assert.equal(headers[header], undefined, header);
  const counted = [0, 0, 0, 0, 0];
  for (const { report } of reports) counted[Number(report.records[0])]++;
  assert.deepEqual(sum, counted);
  assert.deepEqual(await troubles(tab), []);
});

everywhere(
  'a server without a key, and exact values that nobody opted into',
  async (name, t) => {
    const all = await startDapSite();
    t.after(all.close);
    const { servers, site, edge } = all;
    const [own] = servers;
    servers[0] = { ...own, list: bytes([0, 0]) };
    const tab = await (await profile(name, t)).tab();
    await visit(tab, `${site.origin}/`);
    const recipe = all.recipe({ send: { fresh: 'allow', delay_s: 86_400 } });
    await startLoader(tab, { endpoint: edge.url, recipes: [recipe] });
    await call(tab, 'consent.grant');
    assert.deepEqual(codesOf(await call(tab, 'record', 'choices', 'blue')), ['no-keys']);
    assert.equal((await call(tab, 'ledger'))[0].today.count, 0, 'nothing is spent');
    assert.ok(
      (await call(tab, 'explain')).some((/** @type {any} */ { code }) => code === 'no-keys'),
    );
    servers[0] = own;
    assert.deepEqual(codesOf(await call(tab, 'record', 'choices', 'blue')), ['queued']);
    const exact = {
      version: 'dap-18',
      info: 'ages',
      ...all.at,
      time_precision_s: 3600,
      min_batch_size: 100,
      vdaf: { type: 'sum', max: 9e9 },
    };
    const share = (/** @type {number} */ value) => call(tab, 'shareExactly', exact, value);
    assert.deepEqual(codesOf(await share(1)), ['not-opted-in']);
    assert.deepEqual(codesOf(await call(tab, 'exact.optIn', exact, { limit: 2 })), ['opted-in']);
    assert.deepEqual(codesOf(await share(8_123_456_789)), ['queued']);
    const kept = await stored(tab);
    assert.match(kept, /"body"/);
    assert.doesNotMatch(kept, /8123456789|blue"?[,\]]/, 'no value is stored');
    await call(tab, 'consent.withdraw');
    assert.doesNotMatch(await stored(tab), /"body"/, 'what waited is gone');
    assert.deepEqual(codesOf(await share(1)), ['no-consent']);
    assert.deepEqual(await troubles(tab), []);
  },
  { isLong: true },
);

const FIELDS = `<textarea id="notes"></textarea><input id="plain">
  <div id="editable" contenteditable>&nbsp;</div><input id="password" type="password">
  <input id="email" type="email"><input id="card" autocomplete="section-a billing cc-number">
  <input id="otp" autocomplete="one-time-code"><input id="digits" inputmode="numeric">
  <input id="masked"><form id="form"><input id="in" data-shoal><input id="out">
  <input id="off" data-shoal="off"></form>`;
const OBSERVED = [
  ...['notes', 'plain', 'editable', 'password', 'email', 'card', 'otp', 'digits', 'masked'],
  'form',
];

everywhere('words are read of fields that opted in, and of no others', async (name, t) => {
  const site = await serveFolders({
    folders: [DIST],
    csp: `default-src 'none'; ${CSP}; connect-src 'self'`,
    pages: { '/': EMPTY['/'] + FIELDS },
  });
  t.after(() => site.close());
  const tab = await (await profile(name, t)).tab();
  await visit(tab, `${site.origin}/`);
  const recipes = [wordsRecipe({ send: { fresh: 'allow', delay_s: 3600 } })];
  await startLoader(tab, { endpoint: site.origin, recipes });
  await call(tab, 'consent.grant');
  await tab.run(async (ids) => {
    const { style } = /** @type {any} */ (document.getElementById('masked'));
    style.webkitTextSecurity = 'disc';
    for (const id of ids)
      /** @type {any} */ (globalThis).shoal.observe(document.getElementById(id));
    await import(/** @type {any} */ ('/observe.js'));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }, OBSERVED);
  let total = 0;
  const count = async () => (await call(tab, 'reports')).length;
  /** Types into a field and expects so many more records. @param {string} id @param {string} text @param {number} more */
  const types = async (id, text, more) => {
    await tab.run((field) => document.getElementById(field)?.focus(), id);
    await tab.type(text);
    total += more;
    for (let i = 0; i < 100 && (await count()) < total; i++)
      await new Promise((resolve) => setTimeout(resolve, 25));
    await new Promise((resolve) => setTimeout(resolve, 120));
    assert.equal(await count(), total, `${id}: ${text}`);
  };
  await types('notes', 'hello wor', 1);
  await tab.press('Enter');
  await types('notes', 'ten 1234 code99 ', 2);
  await types('editable', 'red blue. ', 2);
  await types('plain', 'unfinished', 0);
  await types('notes', '', 1); // leaving a field completes its word
  const refused = ['password', 'email', 'card', 'otp', 'digits', 'masked', 'out', 'off'];
  for (const id of refused) await types(id, 'secret words ', 0);
  await types('in', 'opted in ', 2);
  await tab.run(() => {
    // "Show password": the field looks like text now, and stays refused. So does one that was masked.
    /** @type {any} */ (document.getElementById('password')).type = 'text';
    /** @type {any} */ (document.getElementById('masked')).style.webkitTextSecurity = 'none';
  });
  for (const id of ['password', 'masked']) await types(id, ' more secrets ', 0);
  assert.ok(
    (await call(tab, 'explain')).some((/** @type {any} */ { code }) => code === 'refused-field'),
  );
  assert.doesNotMatch(await stored(tab), /hello|secret|unfinished/);
  assert.deepEqual(await troubles(tab), []);
});

everywhere('a day of a device, and whether it was here before', async (name, t) => {
  const edge = await serveFolders({ folders: [] });
  const site = await serveFolders({
    folders: [DIST],
    csp: `default-src 'none'; ${CSP}; connect-src 'self' ${edge.origin}`,
    pages: EMPTY,
  });
  t.after(() => Promise.all([edge.close(), site.close()]));
  const values = ['new', 'returning'];
  const recipes = [
    windowed('day', { limit: { per_day: 2 } }),
    // At epsilon 16 a record of a short list is its value, but for one in a million.
    itemsRecipe({
      recipe: 'visitors',
      analysis: 'visitors',
      stream: 'visitors-day',
      mechanism: 'grr',
      parameters: { epsilon: 16, values },
      limit: { per_day: 1 },
    }),
  ];
  const { tab: newTab } = await profile(name, t);
  const tab = await newTab();
  const open = async (/** @type {number} */ days) => {
    await visit(tab, `${site.origin}/`);
    await startLoader(tab, { endpoint: edge.origin, recipes }, days * DAY_MS);
  };
  const of = (/** @type {string} */ key) =>
    edge.reports().flatMap(({ body }) => (body.key === key ? body.records : []));
  await open(0);
  await call(tab, 'consent.grant');
  assert.deepEqual(codesOf(await call(tab, 'record', 'typed-words', 'quicksilver')), ['entered']);
  assert.deepEqual(codesOf(await call(tab, 'arrive')), ['queued']);
  assert.deepEqual(codesOf(await call(tab, 'arrive')), [], 'once a day');
  await call(tab, 'flush');
  await open(0);
  assert.deepEqual(codesOf(await call(tab, 'record', 'typed-words', 'herringbone')), ['entered']);
  assert.deepEqual(codesOf(await call(tab, 'arrive')), [], 'a reload is no visit');
  const kept = await stored(tab);
  assert.doesNotMatch(kept, /quicksilver|herringbone/);
  assert.equal(of('words').length, 0, 'nothing of a day before it is over');
  await open(1);
  assert.deepEqual(codesOf(await call(tab, 'arrive')), ['queued']);
  await call(tab, 'flush');
  await comes(() => of('words').length === 2, 'the reports of the day before');
  for (const record of of('words')) assert.ok(kept.includes(record), 'made on that day');
  await comes(() => of('visitors').length === 2, 'both visits');
  assert.deepEqual(
    of('visitors').map((record) => values[Number(record)]),
    values,
  );
  assert.deepEqual(await troubles(tab), []);
});

everywhere('a signed question under a policy: one in the log is answered', async (name, t) => {
  const expires = new Date(Date.now() + 30 * DAY_MS).toISOString().slice(0, 10);
  const known = signed(phrases({ expires }));
  const unknown = signed(phrases({ expires, recipe: 'secret' }));
  const forged = { ...known, expires: '2099-12-31' };
  const today = Math.floor(Date.now() / DAY_MS);
  const log = new OracleLog([
    ...Array.from({ length: 260 }, (_, i) => filler(i)),
    queryEntry(withQuery(known, (query) => query.queryHash)),
    keysEntry({ from: today - 1, until: today + 30 }),
  ]);
  const folder = await mkdtemp(join(tmpdir(), 'shoal-log-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [path, content] of log.files()) {
    await mkdir(dirname(join(folder, 'log', path)), { recursive: true });
    await writeFile(join(folder, 'log', path), content);
  }
  const site = await serveFolders({
    folders: [DIST, folder],
    csp: `default-src 'none'; ${CSP}; connect-src 'self'`,
    pages: EMPTY,
  });
  t.after(() => site.close());
  const options = {
    endpoint: site.origin,
    recipes: [],
    policy: makePolicy(),
    log: { url: '/log', key: log.signer.verifier },
  };
  const tab = await (await profile(name, t)).tab();
  await visit(tab, `${site.origin}/`);
  await startLoader(tab, options);
  const donate = () =>
    call(tab, 'donate', 'typed-phrases', { phrase: 'hello world and' }).then(codesOf);
  assert.deepEqual(await donate(), [], 'nothing before consent');
  await call(tab, 'consent.grant');
  assert.deepEqual(codesOf(await call(tab, 'optIn', 'keyboard')), ['opted-in']);
  assert.deepEqual(await donate(), ['stored']);
  assert.deepEqual(codesOf(await call(tab, 'ask', [known])), ['fresh']);
  await visit(tab, `${site.origin}/`);
  await startLoader(tab, options, DAY_MS);
  site.requests.length = 0;
  assert.deepEqual(codesOf(await call(tab, 'ask', [forged, unknown, known, known])), [
    'bad-signature',
    'not-logged',
    'queued',
    'replayed',
  ]);
  const asked = site.requests.filter(({ url }) => url.startsWith('/log/'));
  assert.ok(asked.length > 2);
  for (const { headers } of asked)
    assert.deepEqual([headers.cookie, headers.referer], [undefined, undefined]);
  await call(tab, 'flush');
  const [{ body }, ...rest] = site.reports();
  assert.deepEqual([body.key, body.parameters, rest], ['ngrams', { epsilon: 4 }, []]);
  const charge = (await call(tab, 'ledger')).find(
    (/** @type {any} */ { analysis, field }) => analysis === 'keyboard' && field === null,
  );
  assert.deepEqual([charge.reports.used, charge.epsilon.used], [1, 0.25]);
  assert.match(await stored(tab), /hello world/);
  await call(tab, 'consent.withdraw');
  assert.doesNotMatch(await stored(tab), /hello world/, 'the event goes with consent');
  assert.deepEqual(await troubles(tab), []);
});

/** An endpoint that lets a page read it, or not. @param {boolean} isReadable @param {import('node:test').TestContext} t */
async function startEndpoint(isReadable, t) {
  const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' };
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.method === 'POST' ? 202 : 204, isReadable ? cors : {}).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  t.after(() => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${port}`;
}

everywhere('the page, the edge or nobody: what failed, and what mends it', async (name, t) => {
  const readable = await startEndpoint(true, t);
  const refusing = await startEndpoint(false, t);
  const { tab: newTab } = await profile(name, t);
  const tab = await newTab();
  /** Sends one event. @param {{endpoint: string, isAllowed?: boolean, debug?: boolean, scripts?: string}} how */
  const send = async ({ endpoint, isAllowed = true, debug = true, scripts = CSP }) => {
    const site = await serveFolders({
      folders: [DIST],
      csp: `default-src 'none'; ${scripts}; connect-src 'self'${isAllowed ? ` ${endpoint}` : ''}`,
      pages: EMPTY,
    });
    await visit(tab, `${site.origin}/`); // each an origin, so consent and budgets are new
    const options = { endpoint, debug, recipes: [wordsRecipe()] };
    const said = await tab.run(async (given) => {
      /** @type {string[]} */
      const lines = [];
      for (const level of /** @type {const} */ (['info', 'warn', 'log', 'error']))
        console[level] = (...args) => void lines.push(args.join(' '));
      const { start } = await import(/** @type {any} */ ('/loader.js'));
      const shoal = start(given);
      await shoal.consent.grant();
      await shoal.record('typed-words', 'secretword');
      await shoal.flush();
      /** @type {string[]} */
      let codes = [];
      // The answer to the probe of `debug` comes after the flush.
      for (let i = 0; i < 200; i++) {
        codes = (await shoal.explain()).map((/** @type {any} */ each) => each.code);
        if (!codes.includes('offline') || (!given.debug && i > 3)) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return { codes: codes.filter((code) => code !== 'not-yet-due'), text: lines.join('\n') };
    }, options);
    await site.close();
    assert.doesNotMatch(said.text, /secretword/);
    return said;
  };
  const blocked = await send({ endpoint: readable, isAllowed: false });
  assert.deepEqual(blocked.codes, ['csp-blocked']);
  assert.ok(blocked.text.includes(`connect-src 'self' ${readable}`), blocked.text);
  const cors = await send({ endpoint: refusing });
  assert.deepEqual(cors.codes, ['cors-refused']);
  assert.match(cors.text, /mend it: "origins": \["http:\/\/127/);
  const quiet = await send({ endpoint: refusing, debug: false });
  assert.deepEqual([quiet.codes, quiet.text], [['offline'], '']);
  const gone = await startEndpoint(true, t).then((url) => url.replace(/\d+$/, '1'));
  assert.deepEqual((await send({ endpoint: gone, debug: false })).codes, ['offline']);
  const strict = await send({ endpoint: readable, scripts: "script-src 'self'" });
  assert.ok(strict.codes.includes('wasm-blocked'), strict.codes.join());
  const right = await send({ endpoint: readable });
  assert.deepEqual(right.codes, []);
  for (const expected of [/consent: given/, /budget: paid/, /randomized: /, /answer: 202/])
    assert.match(right.text, expected);
});
