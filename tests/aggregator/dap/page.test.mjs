// SPDX-License-Identifier: Apache-2.0
// The whole way of two servers: a page in Chromium and a device under Node to the edge worker, which relays to the leader, and a page to the
// leader itself, which verifies with the helper; and `shoal collect` gets, byte for byte, the accumulator that one aggregator makes of the
// records that the three say they shared.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sumsOf } from '../accumulator_sums.mjs';

import { startEdge } from '../../../edge/node.js';
import { init } from '../../../wasm/client/client.js';
import { memoryLocks, memoryStorage } from '../../../wasm/client/memory_storage.js';
import { load, loadDapModule } from '../../../wasm/bindings/node.js';
import { CSP } from '../../../wasm/client/reasons.js';
import { WASM, launchBrowser, serveFolders } from '../../../wasm/test/fixtures.mjs';
import { makeFolder } from '../serve/serve_helpers.mjs';
import { moment, shoal, startPair, thisHour } from './dap_helpers.mjs';

const TOKEN = 'a-token-of-this-test';
const FROM_PAGE = 6; // records of each recipe from each of two pages
const FROM_NODE = 18;
const REPORTS = 2 * FROM_PAGE + FROM_NODE; // of each recipe
const COLOURS = ['red', 'green', 'blue', 'white', 'black'];
const DAY_MS = 86_400_000;

/** @param {{ leader: string, helper: string }} urls @param {object} more */
const recipeOf = (urls, more) => ({
  analysis: 'colours',
  stream: 'choices',
  value: 'item',
  parameters: { epsilon: 4, values: COLOURS },
  limit: { per_day: 100 },
  send: { delay_s: 0, fresh: 'allow' },
  cohort: { minimum: REPORTS },
  expires: '2099-01-31',
  aggregation: { protocol: 'dap', ...urls, time_precision_s: 3600 },
  ...more,
});

test('page, edge worker, leader, helper, collector', { timeout: 120_000 }, async (t) => {
  const folder = makeFolder(t);
  const hour = thisHour();
  const pair = await startPair(t, folder, (urls) => ({
    'list.json': recipeOf(urls, { recipe: 'list', mechanism: 'onehot-symmetric' }),
    'answer.json': recipeOf(urls, { recipe: 'answer', mechanism: 'grr' }),
  }));
  const recipes = ['list', 'answer'].map((name) => {
    const file = pair.at(`${name}.json`);
    return {
      file,
      hash: shoal('recipe', 'hash', file).stdout.trim(),
      json: JSON.parse(readFileSync(file, 'utf8')),
    };
  });
  const edge = await startEdge(
    {
      host: '127.0.0.1',
      port: 0,
      spool: pair.at('spool'),
      recipes: recipes.map(({ hash, json }) => ({ recipe: json, hash })),
      origins: ['*'],
      aggregator: 'http://127.0.0.1:1',
      secret: 'not-used-in-this-test',
      adminToken: TOKEN,
      bodyTimeoutMs: 5000,
      limits: {},
    },
    { createCore: /** @type {any} */ (load), loadDapModule },
  );
  t.after(() => edge.close());
  const endpoint = `http://127.0.0.1:${edge.port}`;
  const servers = [endpoint, ...Object.values(pair.urls).map((url) => new URL(url).origin)];
  const csp = `default-src 'none'; ${CSP}; connect-src 'self' ${servers.join(' ')}`;
  const site = await serveFolders({
    folders: [join(WASM, 'dist')],
    csp,
    pages: { '/': '<!doctype html><title>t</title>' },
  });
  t.after(() => site.close());

  /** @type {any[]} */
  const reports = [];
  const browser = await launchBrowser();
  t.after(() => browser.close());
  /** @type {string[]} */
  const complaints = [];
  // Two visitors: one of a page that reports through the edge worker, one of a page whose endpoint is the leader.
  for (const url of [endpoint, pair.urls.leader]) {
    const page = await (await browser.newContext()).newPage();
    page.on(
      'console',
      (message) => void (message.type() === 'error' && complaints.push(message.text())),
    );
    await page.goto(`${site.origin}/`);
    reports.push(
      ...(await page.evaluate(
        async ([to, list, colours, n]) => {
          const { start } = await import(/** @type {any} */ ('/loader.js'));
          const client = start({ endpoint: to, recipes: list });
          await client.consent.grant();
          for (let i = 0; i < n; i++) await client.record('choices', colours[i % colours.length]);
          await client.flush();
          return client.reports();
        },
        /** @type {[string, any[], string[], number]} */ ([
          url,
          recipes.map(({ json }) => json),
          COLOURS,
          FROM_PAGE,
        ]),
      )),
    );
  }
  const device = await init({
    endpoint,
    recipes: recipes.map(({ json }) => json),
    wasm: load,
    dapWasm: loadDapModule,
    storage: memoryStorage(),
    locks: memoryLocks(),
    gpc: () => false,
  });
  await device.consent.grant();
  for (let i = 0; i < FROM_NODE; i++) await device.record('choices', COLOURS[i % 2]);
  await device.flush();
  reports.push(...(await device.reports()));
  const why = JSON.stringify([complaints, await device.explain(), pair.leader.log()]);
  device.close();

  assert.deepEqual(
    complaints.filter((text) => !/favicon|404/.test(text)),
    [],
  );
  assert.equal(reports.length, 2 * REPORTS, why);
  assert.ok(
    reports.every(({ state }) => state === 'sent'),
    why,
  );
  const metrics = await (
    await fetch(`${endpoint}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } })
  ).text();
  assert.deepEqual(
    metrics.match(/relayed_reports_total\{.*\} \d+/g)?.map((line) => Number(line.split(' ')[1])),
    [REPORTS - FROM_PAGE, REPORTS - FROM_PAGE],
  );
  for (const {
    file,
    hash,
    json: { recipe },
  } of recipes) {
    const records = reports
      .map(({ report }) => report)
      .filter((report) => report.recipe_hash === hash);
    assert.equal(records.length, REPORTS);
    const plain = records
      .map(({ servers: _, ...report }) => JSON.stringify(report) + '\n')
      .join('');
    writeFileSync(pair.at(`${recipe}.ndjson`), plain);
    shoal(
      'ingest',
      '--recipe',
      file,
      '-o',
      pair.at(`${recipe}.folded`),
      pair.at(`${recipe}.ndjson`),
    );
    const answer = pair.collect(
      '--recipe',
      file,
      '--from',
      moment(hour),
      '--to',
      moment(hour + 2),
      '--wait',
      '60',
      '-o',
      pair.at(`${recipe}.acc`),
    );
    assert.equal(answer.status, 0, `${answer.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`);
    assert.ok(
      sumsOf(readFileSync(pair.at(`${recipe}.acc`))).equals(
        sumsOf(readFileSync(pair.at(`${recipe}.folded`))),
      ),
      'the same bytes as one aggregator makes',
    );
  }
});

test(
  'exact measurements of a device that sends to the leader itself: the servers know its task, and their sums are those',
  { timeout: 120_000 },
  async (t) => {
    const hour = thisHour();
    const n = 25;
    /** @type {Record<string, { vdaf: any, value: (i: number) => any, sums: number[] }>} */
    const kinds = {
      count: { vdaf: { type: 'count' }, value: (i) => i % 2 === 0, sums: [13] },
      sum: { vdaf: { type: 'sum', max: 24 }, value: (i) => i, sums: [300] },
      'sum-vec': {
        vdaf: { type: 'sum-vec', length: 3, max: 100 },
        value: (i) => [i, 1, 100],
        sums: [300, 25, 2500],
      },
      histogram: {
        vdaf: { type: 'histogram', length: 5 },
        value: (i) => i % 4,
        sums: [7, 6, 6, 6, 0],
      },
      'multihot-count-vec': {
        vdaf: { type: 'multihot-count-vec', length: 4, max_weight: 2 },
        value: (i) => [1, 0, 0, i % 2],
        sums: [25, 0, 0, 12],
      },
    };
    const pair = await startPair(t, makeFolder(t), (urls) =>
      Object.fromEntries(
        Object.entries(kinds).map(([name, { vdaf }]) => [
          `${name}.json`,
          {
            version: 'dap-18',
            info: `exact-${name}`,
            ...urls,
            time_precision_s: 3600,
            min_batch_size: n,
            expires: '2099-01-31',
            vdaf,
          },
        ]),
      ),
    );
    const device = await init({
      endpoint: pair.urls.leader,
      recipes: [],
      wasm: load,
      dapWasm: loadDapModule,
      storage: memoryStorage(),
      locks: memoryLocks(),
      gpc: () => false,
    });
    t.after(() => device.close());
    await device.consent.grant();
    for (const [name, { value }] of Object.entries(kinds)) {
      const task = JSON.parse(readFileSync(pair.at(`${name}.json`), 'utf8'));
      await device.exact.optIn(task, { limit: n });
      for (let i = 0; i < n; i++)
        assert.equal((await device.shareExactly(task, value(i)))[0].code, 'queued', name);
    }
    await device.flush();
    const reports = await device.reports();
    assert.equal(reports.length, n * Object.keys(kinds).length);
    assert.ok(
      reports.every(({ state }) => state === 'sent'),
      JSON.stringify([await device.explain(), pair.leader.log()]),
    );
    for (const [name, { sums }] of Object.entries(kinds)) {
      const answer = pair.collect(
        '--task',
        pair.at(`${name}.json`),
        '--from',
        moment(hour),
        '--to',
        moment(hour + 2),
        '--wait',
        '60',
        '--format',
        'json',
      );
      assert.equal(
        answer.status,
        0,
        `${name}: ${answer.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`,
      );
      const result = JSON.parse(answer.stdout);
      assert.deepEqual([result.n, result.sums], [n, sums], name);
    }
  },
);

test(
  'a leader that is down, and comes back with another key: the same bytes again, then the same record sealed anew by the page of the next day, counted once',
  { timeout: 120_000 },
  async (t) => {
    // The device's clock begins two days ago, and comes back to ten minutes ago for the page of another day.
    let shift = -2 * DAY_MS;
    const hour = Math.floor((Date.now() - 600_000) / 3600_000);
    const pair = await startPair(t, makeFolder(t), (urls) => ({
      'recipe.json': recipeOf(urls, { recipe: 'late', mechanism: 'grr', cohort: { minimum: 2 } }),
    }));
    const file = pair.at('recipe.json');
    /** @type {string[]} */
    const bodies = [];
    let asked = 0;
    const storage = memoryStorage();
    const options = {
      endpoint: pair.urls.leader,
      recipes: [JSON.parse(readFileSync(file, 'utf8'))],
      wasm: load,
      dapWasm: loadDapModule,
      storage,
      locks: memoryLocks(),
      gpc: () => false,
      now: () => Date.now() + shift,
      setTimer: () => null,
      /** @type {typeof fetch} */
      fetch: async (url, init) => {
        if (init?.method === 'POST')
          bodies.push(Buffer.from(/** @type {Uint8Array} */ (init.body)).toString('hex'));
        else if (String(url).endsWith('/hpke_config')) asked++;
        return fetch(url, init);
      },
    };
    const before = await init(options);
    t.after(() => before.close());
    await before.consent.grant();
    for (const colour of ['blue', 'red']) await before.record('choices', colour);
    await pair.leader.end('SIGKILL');
    for (let i = 0; i < 2; i++) {
      await before.flush();
      shift += 60_000;
    }
    assert.deepEqual((await before.reports()).map(({ state }) => state).sort(), [
      'queued',
      'queued',
    ]);
    assert.equal(bodies.length, 4);
    assert.equal(new Set(bodies).size, 2, 'a retry is the same bytes');
    for (const name of ['key.json', 'public.json']) rmSync(pair.at('leader', name));
    shoal(
      'dap-key',
      '--id',
      '77',
      '-o',
      pair.at('leader', 'key.json'),
      '--public',
      pair.at('leader', 'public.json'),
    );
    await pair.leader.start();
    await before.flush(); // outdated_config
    assert.deepEqual(
      [bodies.length, new Set(bodies).size, asked],
      [6, 2, 2],
      'no key is asked for',
    );
    assert.equal((await before.ledger())[0].today.count, 2);
    before.close();
    shift = -600_000;
    const device = await init(options);
    t.after(() => device.close());
    const areNew = () =>
      storage.transaction(async (tx) =>
        Object.values(await tx.get('state', 'keys')).every(
          (/** @type {any} */ key) => key.until > options.now(),
        ),
      );
    for (let i = 0; i < 200 && !(await areNew()); i++)
      await new Promise((go) => setTimeout(go, 25));
    assert.equal(asked, 4);
    for (let i = 0; i < 9; i++) {
      await device.flush(); // outdated_config, and then what was sealed anew
      shift += 60_000;
    }
    const reports = await device.reports();
    assert.deepEqual(
      reports.map(({ state }) => state),
      ['sent', 'sent'],
      JSON.stringify([await device.explain(), pair.leader.log()]),
    );
    assert.equal((await device.ledger())[0].year.count, 2);
    assert.equal(new Set(bodies).size, 4);
    writeFileSync(
      pair.at('late.ndjson'),
      reports
        .map(({ report: { servers: _, ...report } }) => JSON.stringify(report) + '\n')
        .join(''),
    );
    shoal('ingest', '--recipe', file, '-o', pair.at('folded'), pair.at('late.ndjson'));
    const answer = pair.collect(
      '--recipe',
      file,
      '--from',
      moment(hour),
      '--to',
      moment(hour + 2),
      '--wait',
      '60',
      '-o',
      pair.at('acc'),
    );
    assert.equal(answer.status, 0, `${answer.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`);
    assert.ok(sumsOf(readFileSync(pair.at('acc'))).equals(sumsOf(readFileSync(pair.at('folded')))));
  },
);
