// SPDX-License-Identifier: Apache-2.0
// The page of delivery: the figures of what was sent, for who administers and for nobody else; no byte from elsewhere.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  cmsRecipe,
  configure,
  get,
  listRecipe,
  makeFolder,
  post,
  program,
  serve,
  simulate,
} from './serve_helpers.mjs';

const ADMIN = 'token-of-admin-0123456789';
const READER = 'token-of-reader-012345678';
const bearer = (/** @type {string} */ token) => ({ authorization: `Bearer ${token}` });

/** @param {string} folder @param {object} changes */
function configured(folder, changes) {
  writeFileSync(join(folder, 'admin'), `${ADMIN}\n`);
  writeFileSync(join(folder, 'reader'), `${READER}\n`);
  const daily = { block: { tick_s: 86_400 }, cohort: { minimum: 1500 } };
  return configure(folder, [cmsRecipe('words', daily), listRecipe('theme')], {
    admin_token_file: 'admin',
    read_token_file: 'reader',
    ...changes,
  });
}

/** The figures of a section. @param {string} html @param {string} title @returns {Record<string, string>} */
function figuresOf(html, title) {
  const section = html.split('<section>').find((one) => one.startsWith(`<h2>${title}</h2>`)) ?? '';
  const rows = section.matchAll(/<th scope="row"[^>]*>([^<]+)<\/th><td class="n"[^>]*>([^<]+)</g);
  return Object.fromEntries([...rows].map(([, what, n]) => [what, n]));
}

/** The boxes of the picture. @param {string} html @returns {Record<string, string>} */
function pictured(html) {
  const boxes = html.matchAll(/<text x="\d+" y="\d+">(\w+)<\/text><text class="b"[^>]*>([\d,]+)</g);
  return Object.fromEntries([...boxes].map(([, what, n]) => [what, n]));
}

test('the page says what came in, what waits, what was refused and when the next tick is', async (t) => {
  const folder = makeFolder(t);
  const edges = ['https://edge.example.org', 'http://[::1]:8472'];
  const { url } = await serve(t, configured(folder, { edges }));
  const page = async () => get(`${url}/delivery`, bearer(ADMIN));
  const refused = (/** @type {Record<string, string>} */ but) => ({
    unauthorized: '0',
    'content-type': '0',
    'too-large': '0',
    'recipe-hash': '0',
    damaged: '0',
    busy: '0',
    ...but,
  });
  const empty = (await page()).text;
  assert.deepEqual(figuresOf(empty, 'Batches refused since the start'), refused({}));
  const nothing = { Received: '0', Refused: '0', Waiting: '0', Folded: '0', Released: '0' };
  assert.deepEqual(figuresOf(empty, 'The way of reports'), nothing);
  const batches = simulate(join(folder, 'recipe-0.json'), 'the\t500\nof\t700\n', 1200, 400);
  for (const batch of batches) assert.equal((await post(url, batch)).status, 201);
  assert.equal((await post(url, batches[0])).status, 200);
  assert.equal((await post(url, Buffer.from('no batch'))).status, 400);
  assert.equal((await post(url, batches[0], bearer('another-secret-0123456789'))).status, 401);
  let html = '';
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    html = (await page()).text;
    if (figuresOf(html, 'words').Folded === '1,200') break;
    await new Promise((done) => setTimeout(done, 50));
  }
  const { 'Next tick': tick, ...words } = figuresOf(html, 'words');
  assert.deepEqual(words, {
    In: '1,200',
    Waiting: '0',
    Folded: '1,200',
    'Not shown yet': '1,200',
    Shown: '0',
  });
  assert.match(tick, /^\d{4}-\d\d-\d\d 00:00 UTC$/);
  assert.ok(new Date(tick.replace(' UTC', 'Z')).getTime() > Date.now());
  assert.match(html, /once it holds 1500 reports: 300 are missing/);
  assert.match(html, /Batches that came once more, and count once: 1\./);
  assert.deepEqual(
    figuresOf(html, 'Batches refused since the start'),
    refused({ unauthorized: '1', damaged: '1' }),
  );
  const flow = { ...nothing, Received: '1,200', Refused: '2', Folded: '1,200' };
  assert.deepEqual(figuresOf(html, 'The way of reports'), flow);
  assert.deepEqual(pictured(html), flow, 'the picture has the numbers of the table');
  const state = figuresOf(html, 'State');
  assert.equal(state.Store, 'sound');
  assert.equal(state['Failing folds'], '0');
  assert.equal(state.Alarms, '0');
  assert.match(state['Disk free'], /^[\d,]+ MB$/);
  assert.match(state.Clock, /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
  assert.match((await get(`${url}/operations`, bearer(ADMIN))).text, /<h1>Operations<\/h1>/);
  for (const edge of edges) assert.ok(html.includes(`href="${edge}/delivery"`), edge);
});

test('to a reader there is no such page; its policy lets in its own sheet and script alone', async (t) => {
  const folder = makeFolder(t);
  const { url } = await serve(t, configured(folder, {}));
  const answers = [];
  for (const path of ['/delivery', '/deliveries']) {
    const { status, text, headers } = await get(url + path, bearer(READER));
    const { date, ...others } = Object.fromEntries(headers);
    answers.push([status, text, others]);
    assert.ok(date);
  }
  assert.equal(answers[0][0], 404);
  assert.deepEqual(answers[0], answers[1]);
  assert.equal((await get(`${url}/delivery`)).status, 401);
  const { text, headers } = await get(`${url}/delivery`, bearer(ADMIN));
  const sheets = [...text.matchAll(/<style>([^<]*)<\/style>/g)].map(([, sheet]) => sheet);
  assert.equal(sheets.length, 1);
  const hash = createHash('sha256').update(sheets[0]).digest('base64');
  assert.equal(
    headers.get('content-security-policy'),
    `default-src 'none';img-src data:;style-src 'sha256-${hash}';script-src 'self';connect-src 'self';` +
      "base-uri 'none';form-action 'self';frame-ancestors 'none'",
  );
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.ok(!/ style=| on[a-z]+=|https?:\/\//.test(text), 'nothing from elsewhere');
  assert.deepEqual(
    [...text.matchAll(/src="([^"]*)"/g)].map(([, src]) => src),
    ['/refresh.js'],
  );
  // Every row is a row of a table to whoever hears it, also where the sheet lays it out as a grid.
  const rows = [...text.matchAll(/<tr[^>]*>/g)].map(([row]) => row);
  assert.ok(rows.length > 10 && rows.every((row) => row.includes('role="row"')));
  const audit = join(folder, 'store/audit');
  const log = readdirSync(audit).map((name) => readFileSync(join(audit, name), 'utf8'));
  assert.match(log.join(''), /"what":"delivery","who":"admin"/);
});

test('edges are URLs without anything that HTML would have to escape', (t) => {
  const folder = makeFolder(t);
  for (const edge of [
    'edge.example',
    'https://a/"><script>',
    'javascript:x',
    'https://a/',
    'https://',
  ]) {
    const config = configured(folder, { edges: [edge] });
    const done = spawnSync(program, ['serve', '--config', config, '--check'], { encoding: 'utf8' });
    assert.notEqual(done.status, 0, edge);
    assert.match(done.stderr, /edges: must be a list of http or https URLs/, edge);
  }
});
