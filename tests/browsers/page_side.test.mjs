// SPDX-License-Identifier: Apache-2.0
// The page's side in Chromium, Firefox and WebKitGTK: the bytes of the native build, consent, a
// record, the panel, withdrawal, another tab, erasing, the keyboard, a relay, tokens, and silence
// where the browser says that a program drives it. All are the built files, under strict policies.
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { recipe, startSite } from '../../ui/test/ui_site.mjs';
import { CSP } from '../../wasm/client/reasons.js';
import { WASM, serveFolders } from '../../wasm/test/fixtures.mjs';
import { N, RECIPES, startRelaySite } from '../../wasm/test/relay_site.mjs';
import * as tokens from '../../wasm/test/token_fixtures.mjs';
import { expectedRecords, makeRecords, readVectors } from '../../wasm/test/vectors.mjs';
import { wholeDay } from '../aggregator/serve/serve_helpers.mjs';
import { everywhere, until } from './browsers.mjs';
import { call, profiles, startClient, stored, troubles, visit } from './page.mjs';

/** @typedef {import('./browsers.mjs').Tab} Tab */
const profile = profiles();
/** @type {Awaited<ReturnType<typeof startSite>>} */
let site;

before(async () => {
  await wholeDay(120); // budgets are of a UTC day, and the pages' clock is the machine's
  site = await startSite();
});
after(() => site.close());

/** Opens a page with elements and a client. @param {Tab} tab @param {string} html */
async function visitElements(tab, html) {
  await visit(tab, `${site.url}?html=${encodeURIComponent(html)}`);
  await until(tab, "the page's script", () => document.documentElement.dataset.ready);
  const options = { endpoint: site.url, recipes: [recipe()] };
  await tab.run((given) => {
    const { ui, start } = /** @type {any} */ (window);
    const shoal = start(given);
    Object.assign(window, { shoal });
    ui.connect(shoal, given);
  }, options);
}

/** Finds an element within an element of ours. For `click`. @param {string} host @param {string} inner */
const within = (host, inner) => document.querySelector(host)?.shadowRoot?.querySelector(inner);

/** Clicks what is within an element, once it is there. @param {Tab} tab @param {string} host @param {string} inner */
async function clickWithin(tab, host, inner) {
  await until(
    tab,
    `${host} ${inner}`,
    (a, b) => document.querySelector(a)?.shadowRoot?.querySelector(b)?.checkVisibility(),
    host,
    inner,
  );
  await tab.click(within, host, inner);
}

/** Waits for words of an element, without its marks of direction. @param {Tab} tab @param {string} host @param {string} words */
const reads = (tab, host, words) =>
  until(
    tab,
    words,
    (name, wanted) =>
      [...(document.querySelector(name)?.shadowRoot?.querySelectorAll('.box') ?? [])]
        .map((box) => /** @type {HTMLElement} */ (box).innerText.replace(/[\u2066-\u2069]/g, ''))
        .join()
        .includes(wanted),
    host,
    words,
  );

everywhere('the bytes of the native build', async (name, t) => {
  const vectors = await readVectors();
  const pages = {
    '/': '<!doctype html><title>t</title>',
    '/make_records.js': `export const makeRecords = ${makeRecords};`,
  };
  const csp = `default-src 'none'; ${CSP}; connect-src 'self'`;
  const files = await serveFolders({ folders: [join(WASM, 'dist')], csp, pages });
  t.after(() => files.close());
  const tab = await (await profile(name, t)).tab();
  await visit(tab, `${files.origin}/`);
  const made = await tab.run(async (list) => {
    const { load } = await import(/** @type {any} */ ('/web.js'));
    const { makeRecords: make } = await import(/** @type {any} */ ('/make_records.js'));
    return make(await load(), list);
  }, vectors);
  assert.deepEqual(made, expectedRecords(vectors));
  assert.deepEqual(await troubles(tab), []);
});

everywhere('consent, a record, the panel, another tab, withdrawal, erasing', async (name, t) => {
  const { tab: newTab } = await profile(name, t);
  const tab = await newTab();
  const before = site.posted.length;
  const elements = '<shoal-consent></shoal-consent><shoal-panel></shoal-panel>';
  await visitElements(tab, elements);
  await reads(tab, 'shoal-panel', 'Nothing so far.');
  assert.deepEqual(await call(tab, 'record', 'typed-words', 'early'), [], 'no client is loaded');
  assert.doesNotMatch(await stored(tab), /words-1/, 'nothing is stored before consent');
  await clickWithin(tab, 'shoal-consent', '#yes');
  await reads(tab, 'shoal-panel', 'You take part.');
  assert.deepEqual(await call(tab, 'record', 'typed-words', 'wonderful'), [
    { recipe: 'words-1', code: 'queued' },
  ]);
  await reads(tab, 'shoal-panel', 'Sent: 1. Waiting: 0.');
  assert.equal(site.posted.length, before + 1);
  const report = JSON.parse(site.posted[before].body);
  assert.deepEqual(Object.keys(report), ['key', 'recipe_hash', 'parameters', 'records']);
  const bytes = [...Buffer.from(report.records[0].split(',')[1], 'hex')];
  const lit = bytes.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
  const drawn = await tab.run(() =>
    document.querySelector('shoal-panel')?.shadowRoot?.querySelector('svg .lit')?.getAttribute('d'),
  );
  assert.equal(drawn.match(/M/g).length, lit, 'what is drawn is what was posted');
  await reads(tab, 'shoal-panel', 'Today: epsilon 4 of 8 is spent, 4 is left.');
  assert.doesNotMatch(await stored(tab), /wonderful/, 'no raw value is stored');

  const other = await newTab();
  await visitElements(other, elements);
  await reads(other, 'shoal-panel', 'Sent: 1. Waiting: 0.');
  await clickWithin(other, 'shoal-panel', '#stop');
  await reads(other, 'shoal-panel', 'You do not take part.');
  assert.deepEqual(
    (await call(tab, 'record', 'typed-words', 'late')).map((/** @type {any} */ one) => one.code),
    ['no-consent'],
    'the first tab has heard of it',
  );
  await clickWithin(other, 'shoal-panel', '#erase');
  await clickWithin(other, 'shoal-panel', '#eraseYes');
  await reads(other, 'shoal-panel', 'Nothing so far.');
  // The no is kept, so that nobody is asked again.
  assert.doesNotMatch(await stored(other), /words-1|wonderful|"sent"/);
  assert.equal(site.posted.length, before + 1, 'nothing else was sent');
  for (const one of [tab, other]) assert.deepEqual(await troubles(one), []);
});

everywhere('by keyboard alone a person says no, and that holds', async (name, t) => {
  const tab = await (await profile(name, t)).tab();
  await visitElements(tab, '<shoal-consent></shoal-consent>');
  await reads(tab, 'shoal-consent', 'Yes, take part');
  const focused = () =>
    tab.run(() => {
      const at = document.querySelector('shoal-consent')?.shadowRoot?.activeElement;
      const { outlineStyle } = at ? getComputedStyle(at) : { outlineStyle: 'none' };
      return at && { id: at.id, isSeen: outlineStyle === 'solid' || !document.hasFocus() };
    });
  /** @type {any[]} */
  const seen = [];
  while (seen.at(-1)?.id !== 'no') {
    assert.ok(seen.length < 8, JSON.stringify(seen));
    await tab.press('Tab');
    seen.push(await focused());
  }
  // Where no window manager gives the window its focus, as with Xvfb, no page shows where it is.
  assert.ok(seen.at(-1).isSeen, 'the focus is seen');
  await tab.press('Enter');
  await reads(tab, 'shoal-consent', 'You do not take part.');
  await visitElements(tab, '<shoal-consent></shoal-consent>');
  await reads(tab, 'shoal-consent', 'You do not take part.');
});

everywhere('a browser that says that a program drives it sends nothing', async (name, t) => {
  const tab = await (await profile(name, t)).tab();
  const files = await serveFolders({
    folders: [join(WASM, 'dist')],
    pages: { '/': '<!doctype html><title>t</title>' },
  });
  t.after(() => files.close());
  await tab.goto(`${files.origin}/`);
  await startClient(tab, { endpoint: files.origin, recipes: [recipe()] });
  assert.deepEqual(await call(tab, 'record', 'typed-words', 'fish'), [
    { recipe: null, code: 'automated' },
  ]);
  await call(tab, 'flush');
  assert.equal(files.reports().length, 0);
});

everywhere('reports through a relay: each party sees its part', async (name, t) => {
  const all = await startRelaySite();
  t.after(all.close);
  const { relay, aggregator } = all;
  const tab = await (await profile(name, t)).tab();
  await visit(tab, `${all.site.origin}/`);
  await startClient(tab, all.options([RECIPES.words]));
  for (let i = 0; i < N; i++)
    assert.deepEqual(await call(tab, 'record', 'typed-words', `word${i}`), [
      { recipe: 'words', code: 'queued' },
    ]);
  await call(tab, 'flush');
  for (const end = Date.now() + 30_000; aggregator.records.length < N && Date.now() < end;)
    await new Promise((resolve) => setTimeout(resolve, 25));
  assert.equal(aggregator.records.length, N);
  assert.deepEqual(
    relay.seen.map(({ method, length, answer }) => [method, length, answer]),
    Array(N).fill(['POST', 2048 + 55, 512 + 32]),
    'no preflight, and lengths that say nothing',
  );
  for (const { headers } of relay.seen)
    for (const header of ['cookie', 'referer', 'content-type', 'idempotency-key'])
      assert.equal(headers[header], undefined, header);
  assert.deepEqual(await troubles(tab), []);
});

everywhere('a visit is sent as its page goes', async (name, t) => {
  const all = await startRelaySite();
  t.after(all.close);
  const { relay } = all;
  const tab = await (await profile(name, t)).tab();
  await visit(tab, `${all.site.origin}/`);
  await startClient(tab, all.options([RECIPES.visit]));
  assert.deepEqual(await call(tab, 'record', 'visited', 'fish'), [
    { recipe: 'visits', code: 'entered' },
  ]);
  assert.equal(relay.seen.length, 0, 'nothing before the visit ends');
  await tab.goto('about:blank');
  for (const end = Date.now() + 30_000; relay.seen.length < 2 && Date.now() < end;)
    await new Promise((resolve) => setTimeout(resolve, 25));
  const lengths = relay.seen.map(({ length }) => length);
  assert.deepEqual(lengths, [2048 + 55, 2048 + 55], 'as many as any other visit');
});

/** An issuer over HTTP for pages of an origin, at the path /tokens. @param {any[]} recipes @param {() => string} origin */
async function startIssuer(recipes, origin) {
  const today = Math.floor(Date.now() / 86_400_000);
  const signers = await tokens.signersFor(recipes, [today, today + 1]);
  const issuer = tokens.fakeIssuer({ signers, now: Date.now });
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url } = request;
    const body = method === 'POST' ? Buffer.concat(chunks) : undefined;
    const answer = await issuer.fetch(`${new URL(tokens.ISSUER).origin}${url}`, { method, body });
    response.writeHead(answer.status, {
      'Content-Type': String(answer.headers.get('content-type')),
      'Access-Control-Allow-Origin': origin(),
      'Access-Control-Allow-Credentials': 'true',
    });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => (
    server.closeAllConnections(),
    new Promise((resolve) => server.close(resolve))
  );
  return { issuer, signers, today, url: `http://127.0.0.1:${port}`, close };
}

/** Whether a token is signed by the key of a day. @param {Buffer} token @param {any} signer */
const isSigned = (token, signer) =>
  verify(
    'sha384',
    token.subarray(0, 98),
    {
      key: createPublicKey({ key: Buffer.from(signer.spki), format: 'der', type: 'spki' }),
      saltLength: 48,
    },
    token.subarray(98),
  );

everywhere('tokens: blinded in the page, signed unseen, one spent a report', async (name, t) => {
  const json = tokens.tokenRecipe();
  const edge = await serveFolders({ folders: [] });
  t.after(() => edge.close());
  /** @type {string} */
  let origin = '';
  const issuing = await startIssuer([json], () => origin);
  t.after(issuing.close);
  const files = await serveFolders({
    folders: [join(WASM, 'dist')],
    csp: `default-src 'none'; ${CSP}; connect-src 'self' ${edge.origin} ${issuing.url}`,
    pages: { '/': '<!doctype html><title>t</title>' },
  });
  t.after(() => files.close());
  ({ origin } = files);
  const tab = await (await profile(name, t)).tab();
  await visit(tab, `${origin}/`);
  await tab.run(
    async (options, list, named, real) => {
      const { init } = await import(/** @type {any} */ ('/client.js'));
      // The recipe names its issuer by https, which loopback has not.
      const request = (/** @type {any} */ url, /** @type {any} */ more) =>
        fetch(String(url).replace(named, real), more);
      const shoal = await init({ ...options, fetch: request, keyList: async () => list });
      await shoal.consent.grant();
      Object.assign(globalThis, { shoal });
    },
    { endpoint: edge.origin, recipes: [json] },
    issuing.issuer.list(),
    new URL(tokens.ISSUER).origin,
    issuing.url,
  );
  for (const code of ['queued', 'queued', 'no-token'])
    assert.equal((await call(tab, 'record', 'typed-words', 'cod'))[0].code, code);
  await call(tab, 'flush');
  assert.equal(edge.reports().length, 2);
  const spent = edge
    .reports()
    .map(({ headers }) =>
      tokens.tokenOf({ init: { headers: { Authorization: headers.authorization } } }),
    );
  const signer = issuing.signers.find((/** @type {any} */ { day }) => day === issuing.today);
  for (const token of spent) assert.ok(isSigned(token, signer));
  assert.ok(!spent[0].equals(spent[1]));
  for (const { body } of issuing.issuer.posts()) {
    const seen = Buffer.from(body, 'base64');
    for (const token of spent)
      for (const part of [token.subarray(2, 34), token.subarray(98)])
        assert.ok(!seen.includes(part), 'the issuer sees nothing of a token');
  }
  assert.deepEqual(await troubles(tab), []);
});
