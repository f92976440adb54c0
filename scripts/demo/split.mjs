// SPDX-License-Identifier: Apache-2.0
// The demo of two servers: devices split what they send, a leader and a helper add up a share each, and a collector puts the
// two sums together. Beside it the ordinary way, over the same records: the histogram must be the same, byte for byte.
import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { init } from 'shoal-client';
import { load, loadDapModule } from 'shoal-client/node';
import { rowsOf } from '../../web-demo/page/histogram.js';
import { drawer, fromTsv, toTsv } from './data.mjs';
import { run } from './devices.mjs';
import { finding } from './report.mjs';
import { freePort, startServe } from './services.mjs';
import { makeSteps, say, whole } from './talk.mjs';

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
 * Keys, secrets and configurations, as the three parties would make and exchange them.
 * @param {string} binary @param {string} folder @param {[string, number][]} ports of leader and helper
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

/** @param {string} binary @param {string} folder @param {string[]} sites @param {(close: () => any) => void} later */
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
 * One device in Node: the page's own client, which splits and seals what it sends. It keeps what it sent, for the person to see.
 * @param {string} leader @param {any} recipe @param {string[]} sites @returns {Promise<string[]>} its reports before they were split, as lines
 */
async function useClient(leader, recipe, sites) {
  const client = await init({
    endpoint: leader,
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

/**
 * @param {object} options
 * @param {string} options.binary @param {string} options.folder of this run
 * @param {import('./data.mjs').Counts} options.counts of sites, falling
 * @param {(close: () => any) => void} options.later
 * @param {() => void} options.stopOnSignals
 */
export async function splitDemo({ binary, folder, counts, later, stopOnSignals }) {
  const step = makeSteps(7);
  const at = (/** @type {string} */ name) => join(folder, name);
  const sites = counts.slice(0, SITES);
  const hour = Math.floor(Date.now() / 1000 / HOUR_S) - 1; // that the simulated devices report of; the others report of now
  say(
    'shoal learns what a crowd does without learning what anyone did. Here the crowd is simulated, so the truth is known, and two\n' +
      'servers that need not trust each other do the counting: each device scrambles its record, as always, and then splits it into two\n' +
      'shares that look like noise, one for each server.\n',
  );

  await step('How often sites are used, from an npm package', async () => {
    await writeFile(at('sites.tsv'), toTsv(sites));
    return { said: `the ${whole(SITES)} most used` };
  });
  const { urls } = await step(
    'Leader and helper start, each with a key and a store of its own',
    async () => {
      const servers = await startServers(
        binary,
        folder,
        sites.map(({ value }) => value),
        later,
      );
      stopOnSignals();
      return servers;
    },
  );
  await step(`${whole(DEVICES)} simulated devices scramble one site each`, async () => {
    await run(binary, [
      'simulate',
      '--recipe',
      at('recipe.json'),
      '--counts',
      at('sites.tsv'),
      '--devices',
      String(DEVICES),
      '--seed',
      randomBytes(16).toString('hex'),
      '--format',
      'ndjson',
      '-o',
      at('reports.ndjson'),
      '--truth',
      at('truth.tsv'),
    ]);
    return { said: `a record is ${whole(SITES)} bits, 12 % of them flipped by chance` };
  });
  await step('Each splits its record and seals one share to each server', async () => {
    await run(binary, [
      'upload',
      '--recipe',
      at('recipe.json'),
      '--time',
      String(hour * HOUR_S),
      at('reports.ndjson'),
    ]);
    return {
      said: `${whole(DEVICES)} reports accepted by the leader, which can open one share of each`,
    };
  });
  const truth = fromTsv(await readFile(at('truth.tsv'), 'utf8'));
  await step(`${CLIENTS} more devices run the page's own client in Node`, async () => {
    const json = JSON.parse(await readFile(at('recipe.json'), 'utf8'));
    const draw = drawer(sites);
    const lines = await Promise.all(
      Array.from({ length: CLIENTS }, () => {
        const events = Array.from({ length: EVENTS }, draw);
        for (const site of events) truth.set(site, (truth.get(site) ?? 0) + 1);
        return useClient(urls.leader, json, events);
      }),
    );
    await writeFile(at('clients.ndjson'), `${lines.flat().join('\n')}\n`);
    return { said: `${whole(lines.flat().length)} reports accepted by the leader` };
  });
  await step(
    'The servers check every report together, and the collector asks each for its sum',
    async () => {
      const { stderr } = await execute(binary, [
        'collect',
        '--recipe',
        at('recipe.json'),
        '--key',
        at('collector/key.json'),
        '--token-file',
        at('collector.token'),
        '--from',
        moment(hour),
        '--to',
        moment(Math.floor(Date.now() / 1000 / HOUR_S) + 1),
        '--wait',
        String(WAIT_S),
        '-o',
        at('split.acc'),
      ]);
      const said = stderr.split('\n').map((line) => line.replace('shoal: collect: ', ''));
      return {
        said: said
          .filter((line) => /^\d+ reports, from|^epsilon per report|^central epsilon/.test(line))
          .join('\n      '),
      };
    },
  );
  await step(
    'The ordinary way beside it: one aggregator that stores the same records',
    async () => {
      await run(binary, [
        'ingest',
        '--recipe',
        at('recipe.json'),
        '-o',
        at('ordinary.acc'),
        at('reports.ndjson'),
        at('clients.ndjson'),
      ]);
      const [split, ordinary] = [
        await readFile(at('split.acc')),
        await readFile(at('ordinary.acc')),
      ];
      if (!split.equals(ordinary))
        throw new Error(
          'LOST OR CHANGED: what the two servers added up is not what one aggregator adds up',
        );
      return { said: `the same sums, byte for byte (${whole(ordinary.length)} bytes)` };
    },
  );
  await run(binary, [
    'estimate',
    '--recipe',
    at('recipe.json'),
    '--format',
    'json',
    '-o',
    at('estimate.json'),
    at('split.acc'),
  ]);
  const result = JSON.parse(await readFile(at('estimate.json'), 'utf8'));
  const found = finding({
    title: 'Sites that people visit, as two servers count them',
    how: `Each is ${SITES} bits, 12 % of them flipped by chance (one-hot), split into two shares.`,
    n: result.n,
    rows: rowsOf(result),
    truth,
  });
  return { found, shows: proof(result.n) };
}

/** @param {number} n */
const proof = (n) =>
  `Every device sent two sealed shares of a record that was scrambled before. Neither server ever held a record: alone, its share of the ` +
  `sum is random numbers. Together they checked that each of the ${whole(n)} reports is one that the scrambling can make, and the sums that ` +
  'only the collector can put together are exactly those that one server would have, had it seen every record.';
