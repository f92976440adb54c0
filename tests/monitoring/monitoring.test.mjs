// SPDX-License-Identifier: Apache-2.0
// Every service is scraped: the text is Prometheus', every counter is there from zero, and the alert rules and the dashboard of
// deploy/monitoring ask for nothing that no service has. Where promtool is (PATH, $PROMTOOL, or fetched under SHOAL_LONG=1), it judges
// the same scrapes, and the rules are tested.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { REPORT_REFUSALS } from '../../edge/errors.js';
import { CODES } from '../../relay/errors.js';
import { startPair } from '../aggregator/dap/dap_helpers.mjs';
import {
  cmsRecipe,
  configure,
  get,
  makeFolder,
  post,
  serve,
  simulate,
} from '../aggregator/serve/serve_helpers.mjs';
import { hasEach, readExposition } from '../exposition.mjs';

// Helpers of the services' own tests, which are not checked for types.
const from = (/** @type {string} */ path) => import(`../../${path}`);
const { GATEWAY } = await from('edge/test/ohttp_client.mjs');
const { startEdge } = await from('edge/test/runtimes.mjs');
const { TOKEN, makeRecipe } = await from('edge/test/support.mjs');
const { ADMIN_TOKEN, startRelay } = await from('relay/test/relay_runtimes.mjs');
const { RECIPES, keyFile, startIssuerProcess } = await from('issuer/test/issuer_support.mjs');

const DAY_MS = 86_400_000;
const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'deploy/monitoring');
const read = (/** @type {string} */ name) => readFileSync(join(folder, name), 'utf8');
const isLong = process.env.SHOAL_LONG === '1';
const ADMIN = 'token-of-admin-0123456789';
const READER = 'token-of-reader-012345678';
/** Names that Prometheus makes itself. */
const OF_PROMETHEUS = ['up', 'ALERTS'];

/** What each service said. @type {Map<string, string>} */
const scrapes = new Map();

/** @param {string} url @param {string} [token] */
async function scrape(url, token) {
  const headers = new Headers(token === undefined ? {} : { authorization: `Bearer ${token}` });
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return text;
}

/** @param {string} service */
const metricsOf = (service) => readExposition(scrapes.get(service) ?? '');

/** @param {import('node:test').TestContext} t */
async function scrapeEdges(t) {
  const recipe = await makeRecipe();
  const sealed = await makeRecipe({
    recipe: 'two',
    value: 'item',
    mechanism: 'onehot-symmetric',
    parameters: { epsilon: 4, size: 12 },
    hash: undefined,
    seed: undefined,
    batch: undefined,
    aggregation: {
      protocol: 'dap',
      leader: 'https://leader.example/dap',
      helper: 'https://helper.example/dap',
    },
  });
  const recipes = [recipe, sealed];
  const edges = ['node', 'workerd'].map(async (runtime) => {
    const options = { recipes, aggregator: 'http://127.0.0.1:9/', gateway: GATEWAY };
    const edge = await startEdge(t, runtime, options);
    scrapes.set(`edge-${runtime}`, await scrape(`${edge.url}/metrics`, TOKEN));
  });
  await Promise.all(edges);
}

/** @param {import('node:test').TestContext} t */
async function scrapeRelays(t) {
  for (const runtime of ['node', 'workerd']) {
    const relay = await startRelay(t, runtime, { gateway: 'http://127.0.0.1:9/' });
    scrapes.set(`relay-${runtime}`, await scrape(`${relay.url}/metrics`, ADMIN_TOKEN));
  }
}

/** @param {import('node:test').TestContext} t */
async function scrapeIssuer(t) {
  const today = Math.floor(Date.now() / DAY_MS);
  const token = join(makeFolder(t), 'token');
  writeFileSync(token, `${ADMIN}\n`);
  const keys = await keyFile(RECIPES.slice(0, 1), [today, today + 1]);
  const issuer = await startIssuerProcess(t, keys, { admin_token_file: token });
  const { origin } = new URL(issuer.url);
  scrapes.set('issuer', await scrape(`${origin}/metrics`, ADMIN));
  assert.equal((await fetch(`${origin}/metrics`)).status, 401);
}

/** @param {import('node:test').TestContext} t */
async function scrapeAggregator(t) {
  const at = makeFolder(t);
  writeFileSync(join(at, 'admin'), `${ADMIN}\n`);
  writeFileSync(join(at, 'reader'), `${READER}\n`);
  const recipe = cmsRecipe('words', { cohort: { minimum: 100 } });
  const config = configure(at, [recipe], { admin_token_file: 'admin', read_token_file: 'reader' });
  const { url } = await serve(t, config);
  scrapes.set('aggregator', await scrape(`${url}/metrics`, ADMIN));
  for (const batch of simulate(join(at, 'recipe-0.json'), 'the\t60\nof\t60\n', 120, 120))
    assert.equal((await post(url, batch)).status, 201);
  const hasAlarm = /^shoal_alarm\{/m;
  for (const end = Date.now() + 60_000; ;) {
    const { text } = await get(`${url}/metrics`, { authorization: `Bearer ${ADMIN}` });
    scrapes.set('aggregator-with-blocks', text);
    if (hasAlarm.test(text)) break;
    assert.ok(Date.now() < end, 'no block was tested');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  scrapes.set('aggregator-reader', await scrape(`${url}/metrics`, READER));
}

/** @param {import('node:test').TestContext} t */
async function scrapePair(t) {
  const at = makeFolder(t);
  const pair = await startPair(t, at, (urls) => ({
    'recipe.json': {
      recipe: 'colours',
      analysis: 'tests',
      stream: 'choices',
      value: 'item',
      mechanism: 'onehot-symmetric',
      parameters: { epsilon: 4, values: ['red', 'green'] },
      limit: { per_day: 1 },
      cohort: { minimum: 100 },
      aggregation: { protocol: 'dap', ...urls },
      expires: '2099-01-31',
    },
  }));
  for (const role of /** @type {const} */ (['leader', 'helper']))
    scrapes.set(role, await scrape(new URL('/metrics', pair.urls[role]).href));
}

before(async (t) => {
  const context = /** @type {import('node:test').TestContext} */ (t);
  await scrapeEdges(context);
  await Promise.all(
    [scrapeRelays, scrapeIssuer, scrapeAggregator, scrapePair].map((f) => f(context)),
  );
});

test('every scrape is text of Prometheus, described, without repeats', () => {
  assert.equal(scrapes.size, 10);
  for (const [service, text] of scrapes) {
    const metrics = readExposition(text);
    if (service !== 'aggregator-reader')
      assert.ok(metrics.has('shoal_clock_timestamp_seconds'), service);
    for (const [name, { type, samples }] of metrics)
      if (type === 'counter')
        for (const { value } of samples) {
          const isNew = !service.startsWith('aggregator-');
          assert.ok(isNew ? value === 0 : value >= 0, `${service}: ${name} is ${value}`);
        }
  }
});

test('counters are there from zero, for every value of their labels', () => {
  for (const edge of ['edge-node', 'edge-workerd']) {
    const metrics = metricsOf(edge);
    hasEach(metrics, 'shoal_edge_refused_reports_total', 'reason', [...REPORT_REFUSALS.keys()]);
    for (const name of ['accepted', 'forwarded', 'destroyed'])
      hasEach(metrics, `shoal_edge_${name}_reports_total`, 'recipe', ['edge-test']);
    for (const name of ['relayed_reports', 'relay_refusals', 'relay_failures'])
      hasEach(metrics, `shoal_edge_${name}_total`, 'recipe', ['two']);
    for (const name of ['requests', 'refusals', 'key_errors', 'over_quota'])
      hasEach(metrics, `shoal_edge_gateway_${name}_total`, 'relay', ['relay-a']);
  }
  for (const relay of ['relay-node', 'relay-workerd'])
    hasEach(metricsOf(relay), 'shoal_relay_requests_total', 'outcome', [
      'forwarded',
      'gateway-busy',
      ...CODES,
    ]);
  const issuer = metricsOf('issuer');
  const outcomes = (issuer.get('shoal_issuer_requests_total')?.samples ?? []).map(
    ({ labels }) => labels.outcome,
  );
  for (const outcome of ['issued', 'repeated', 'account', 'spent', 'full', 'internal'])
    assert.ok(outcomes.includes(outcome), outcome);
  const until = issuer.get('shoal_issuer_keys_until_timestamp_seconds')?.samples[0].value ?? 0;
  assert.equal(until % 86_400, 0);
  assert.equal(Math.floor(until / 86_400) - Math.floor(Date.now() / DAY_MS), 2, 'two days');
  hasEach(metricsOf('aggregator'), 'shoal_batches_refused_total', 'reason', [
    'unauthorized',
    'content-type',
    'too-large',
    'recipe-hash',
    'damaged',
    'busy',
  ]);
});

test('nothing that is said is of a person: labels are of a known few', () => {
  const known = ['recipe', 'recipe_hash', 'reason', 'relay', 'outcome', 'status', 'code', 'blocks'];
  for (const text of scrapes.values())
    for (const { samples } of readExposition(text).values())
      for (const { labels } of samples)
        for (const label of Object.keys(labels))
          assert.ok([...known, 'task', 'id'].includes(label), label);
  assert.deepEqual(
    [...metricsOf('aggregator-reader').keys()].sort(),
    [
      'shoal_alarm',
      'shoal_store_blocks',
      'shoal_store_next_tick_timestamp_seconds',
      'shoal_store_released_records',
    ],
    'a reader sees closed blocks and the clock, and nothing that moves with a report',
  );
});

/** The names of metrics in an expression. @param {string} expression */
const namesIn = (expression) =>
  [
    ...expression
      .replace(/"[^"]*"/g, '""')
      .replace(/\b(by|on|without|ignoring) *\([^)]*\)/g, '')
      .matchAll(/\b([a-zA-Z_][a-zA-Z_0-9]*)\b(?! *[(=!~])/g),
  ]
    .map(([, name]) => name)
    .filter((name) => /^(shoal|process)_|^up$|^ALERTS$/.test(name));

/** Every expression of the rules, each on one line. */
function ruleExpressions() {
  const lines = read('shoal.rules.yml').split('\n');
  return lines.flatMap((line, i) => {
    const [, rest] = /^ +expr: (.*)$/.exec(line) ?? [];
    if (rest === undefined) return [];
    if (!/^>-?$/.test(rest)) return [rest];
    const indent = /** @type {RegExpExecArray} */ (/^ */.exec(line))[0].length;
    const end = lines.findIndex((one, j) => j > i && (one.match(/^ */)?.[0].length ?? 0) <= indent);
    return [lines.slice(i + 1, end).join(' ')];
  });
}

/** @returns {string[]} the dashboard's, with values in the place of its variables */
const dashboardExpressions = () =>
  JSON.parse(read('dashboard.json')).panels.flatMap((/** @type {any} */ { targets = [] }) =>
    targets.map((/** @type {any} */ { expr }) => expr.replaceAll('$recipe', '.*')),
  );

test('rules and dashboard ask for metrics that a service has', () => {
  const known = new Set([...scrapes.values()].flatMap((text) => [...readExposition(text).keys()]));
  const rules = ruleExpressions();
  const dashboard = dashboardExpressions();
  assert.equal(rules.length, [...read('shoal.rules.yml').matchAll(/- alert: /g)].length);
  assert.ok(rules.length > 30 && dashboard.length > 30);
  const asked = new Set([...rules, ...dashboard].flatMap(namesIn));
  assert.ok(asked.size > 40);
  for (const name of asked)
    assert.ok(known.has(name) || OF_PROMETHEUS.includes(name), `no service has ${name}`);
  const labels = new Set(
    [...scrapes.values()].flatMap((text) =>
      [...readExposition(text).values()].flatMap(({ samples }) =>
        samples.flatMap(({ labels: of }) => Object.keys(of)),
      ),
    ),
  );
  for (const expression of [...rules, ...dashboard])
    for (const [, label] of expression.matchAll(/[{,] *([a-z_]+)(?==~?"|!~?")/g))
      assert.ok(labels.has(label) || ['job', 'instance', 'alertstate'].includes(label), label);
});

test('every alert says what happened and what to do, and has a test', () => {
  const rules = read('shoal.rules.yml');
  const tests = read('shoal.rules.test.yml');
  const alerts = rules.split('- alert: ').slice(1);
  for (const alert of alerts) {
    const [name] = alert.split('\n');
    assert.match(alert, /\n +labels: \{ ?severity: (critical|warning) ?\}\n/, name);
    assert.match(alert, /\n +summary: /, name);
    assert.match(alert, /\n +action: /, name);
    assert.ok(tests.includes(`- name: ${name}\n`), `${name} has no test`);
  }
});

test('the dashboard: panels of their own, each with a description and a place', () => {
  const { panels, templating } = JSON.parse(read('dashboard.json'));
  const ids = panels.map((/** @type {any} */ { id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(
    templating.list.map((/** @type {any} */ { name }) => name),
    ['datasource', 'recipe'],
  );
  const places = new Set();
  for (const { type, title, description, gridPos, targets } of panels) {
    assert.ok(!places.has(`${gridPos.x} ${gridPos.y}`), `${title} lies on another panel`);
    places.add(`${gridPos.x} ${gridPos.y}`);
    assert.ok(gridPos.x + gridPos.w <= 24, title);
    if (type === 'row') continue;
    assert.ok(description.length > 10, title);
    assert.ok(targets.length > 0, title);
  }
});

test('the scrape configuration reads tokens from files', () => {
  const text = read('prometheus.yml');
  const jobs = [...text.matchAll(/job_name: (\S+)/g)].map(([, name]) => name);
  assert.deepEqual(jobs, [
    'shoal-edge',
    'shoal-relay',
    'shoal-issuer',
    'shoal-aggregator',
    'shoal-leader',
    'shoal-helper',
  ]);
  assert.equal([...text.matchAll(/credentials_file: /g)].length, jobs.length);
  assert.doesNotMatch(text, /credentials: |password|bearer_token: /);
});

// ---- promtool ----

/** Where promtool is, or null. Under SHOAL_LONG=1 it is fetched from Debian, once. */
function findPromtool() {
  const fetched = join(root, 'build/promtool/usr/bin/promtool');
  const found = spawnSync('sh', ['-c', 'command -v promtool'], { encoding: 'utf8' }).stdout.trim();
  for (const path of [process.env.PROMTOOL, found, fetched])
    if (path && existsSync(path)) return path;
  if (!isLong) return null;
  const at = join(root, 'build/promtool');
  mkdirSync(at, { recursive: true });
  chmodSync(at, 0o755);
  const options = { cwd: at, encoding: /** @type {const} */ ('utf8'), timeout: 300_000 };
  const got = spawnSync('apt-get', ['download', 'prometheus'], options);
  const [archive] = readdirSync(at).filter((name) => name.endsWith('.deb'));
  assert.ok(archive, `apt-get download prometheus: ${got.stderr}`);
  assert.equal(spawnSync('dpkg', ['-x', archive, '.'], options).status, 0);
  return fetched;
}

test('promtool: scrapes, expressions, rules and their tests', { timeout: 600_000 }, (t) => {
  const promtool = findPromtool();
  if (promtool === null)
    return t.skip('SKIPPED: promtool is not here; SHOAL_LONG=1 fetches it from Debian');
  const tool = (/** @type {string[]} */ args, /** @type {string} */ input = '') => {
    const done = spawnSync(promtool, args, { cwd: folder, input, encoding: 'utf8' });
    assert.equal(done.status, 0, `promtool ${args.join(' ')}: ${done.stdout}${done.stderr}`);
    return done.stdout + done.stderr;
  };
  for (const [service, text] of scrapes)
    assert.equal(tool(['check', 'metrics'], text), '', `${service}: promtool has a remark`);
  tool(['check', 'rules', 'shoal.rules.yml']);
  const asRules = dashboardExpressions().map(
    (expr, i) => `  - record: panel:${i}\n    expr: ${JSON.stringify(expr)}\n`,
  );
  const file = join(makeFolder(t), 'dashboard.rules.yml');
  writeFileSync(file, `groups:\n- name: dashboard\n  rules:\n${asRules.join('')}`);
  tool(['check', 'rules', file]);
  if (isLong || process.env.PROMTOOL) tool(['test', 'rules', 'shoal.rules.test.yml']);
});
