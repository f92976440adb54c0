// SPDX-License-Identifier: Apache-2.0
// `shoal serve` with recipes of aggregation "sum": the same results as of reports, no record in any file, and nothing below the
// minimum cohort by any route or command.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  cmsRecipe,
  configure,
  get,
  makeFolder,
  post,
  resultOf,
  run,
  seal,
  serve,
  simulate,
  wholeDay,
  withoutBlocks,
} from './serve_helpers.mjs';

const WORDS = 'the\t500\nof\t300\nand\t150\ntea\t50\n';
const DEVICES = 3000;
const PER_BATCH = 500;
const HEADER = 72;

/** @param {string} id @param {object} [changes] */
function sumRecipe(id, changes = {}) {
  return cmsRecipe(id, {
    aggregation: { protocol: 'sum' },
    batch: { minimum: PER_BATCH },
    cohort: { minimum: DEVICES },
    ...changes,
  });
}

/** A query over fields, so that `round next` has something to read. @param {string} id */
function queryRecipe(id) {
  return {
    recipe: id,
    analysis: 'keyboard',
    stream: 'typed',
    value: 'fields',
    encoding: [{ field: 'phrase', prefixes: [''], tokens: ['i', 'go', 'home', 'away'] }],
    mechanism: 'onehot-symmetric',
    parameters: { epsilon: 4 },
    limit: { per_day: 1 },
    batch: { minimum: 100 },
    cohort: { minimum: 1000, epsilon: 4, delta: '1e-9' },
    policy: 'ab'.repeat(32),
    version: 1,
    round: { index: 1 },
    aggregation: { protocol: 'sum' },
    expires: '2099-01-31',
  };
}

/** @param {import('node:test').TestContext} t @param {object[]} recipes @param {object} [changes] */
async function start(t, recipes, changes = {}) {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'words.txt'), 'the\nof\nand\ntea\nnobody\n');
  const dictionaries = Object.fromEntries(
    recipes.map((one) => [/** @type {any} */ (one).recipe, 'words.txt']),
  );
  const config = configure(folder, recipes, { dictionaries, period: 'all', ...changes });
  const server = await serve(t, config);
  return { folder, config, server, url: server.url };
}

/** The same records as a batch of another recipe. @param {Buffer} batch @param {string} hash */
function ofRecipe(batch, hash) {
  const other = Buffer.from(batch);
  Buffer.from(hash, 'hex').copy(other, 24);
  return seal(other);
}

/** @param {string} url @param {string} name */
async function gauge(url, name) {
  const { text } = await get(`${url}/metrics`);
  return Number(new RegExp(`^shoal_${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

/** Every file below a folder. @param {string} folder @returns {string[]} */
function filesOf(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesOf(path) : [path];
  });
}

/** How many records of a batch lie in some file of the folder. @param {string} folder @param {Buffer} batch */
function recordsIn(folder, batch) {
  const contents = filesOf(folder).map((path) => readFileSync(path));
  const size = batch.readUInt32LE(12);
  let found = 0;
  for (let i = 0; i < batch.readUInt32LE(16); i++) {
    const record = batch.subarray(HEADER + i * size, HEADER + (i + 1) * size);
    found += Number(contents.some((content) => content.includes(record)));
  }
  return found;
}

test('sums give what reports give, and what the command line gives of them', async (t) => {
  const { folder, url } = await start(t, [
    sumRecipe('sums'),
    cmsRecipe('reports', { cohort: { minimum: DEVICES } }),
  ]);
  const batches = simulate(join(folder, 'recipe-0.json'), WORDS, DEVICES, PER_BATCH);
  const hash = run('recipe', 'hash', join(folder, 'recipe-1.json')).stdout.trim().split(/\s/)[0];
  for (const batch of batches) {
    assert.equal((await post(url, batch)).status, 201);
    assert.deepEqual((await post(url, batch)).json, { status: 'known' });
    assert.equal((await post(url, ofRecipe(batch, hash))).status, 201);
  }
  const sums = await resultOf(`${url}/v1/results/sums`, DEVICES);
  const reports = await resultOf(`${url}/v1/results/reports`, DEVICES);
  assert.deepEqual(sums.rows, reports.rows);
  assert.equal(sums.rows[0].value, 'the');

  const response = await fetch(`${url}/v1/sums/sums`);
  assert.equal(response.headers.get('content-type'), 'application/octet-stream');
  writeFileSync(join(folder, 'sums.acc'), Buffer.from(await response.arrayBuffer()));
  // What was loaded twice is not added up.
  const again = await fetch(`${url}/v1/sums/sums?period=all`);
  writeFileSync(join(folder, 'again.acc'), Buffer.from(await again.arrayBuffer()));
  const both = ['sums.acc', 'again.acc'].map((name) => join(folder, name));
  const merged = run('merge', '-o', join(folder, 'both.acc'), ...both);
  assert.equal(merged.status, 1);
  assert.match(
    merged.stderr,
    /sums\.acc and \S*again\.acc both count the batch or file of reports/,
  );
  const expected = run(
    'estimate',
    '--recipe',
    join(folder, 'recipe-0.json'),
    '--dictionary',
    join(folder, 'words.txt'),
    '--format',
    'json',
    join(folder, 'sums.acc'),
  );
  assert.deepEqual(withoutBlocks(sums), withoutBlocks(JSON.parse(expected.stdout)));
  assert.equal((await get(`${url}/v1/sums/reports`)).status, 404);
  assert.equal((await get(`${url}/v1/sums/none`)).status, 404);
  assert.equal((await get(`${url}/v1/sums/sums?period=2026-11-21`)).status, 400);
});

test('below the minimum no route shows a value or a count', async (t) => {
  const { folder, url } = await start(t, [sumRecipe('sums')]);
  const batches = simulate(join(folder, 'recipe-0.json'), WORDS, DEVICES, PER_BATCH);
  for (const batch of batches.slice(1)) await post(url, batch); // 2500 of 3000
  await new Promise((resolve) => setTimeout(resolve, 2100)); // ticks are every second
  for (const path of ['/v1/results/sums', '/v1/results/sums?period=all', '/v1/sums/sums']) {
    const answer = await get(url + path);
    assert.equal(answer.status, 403, path);
    assert.equal(JSON.parse(answer.text).error.code, 'cohort');
    assert.ok(!/2500|nobody/.test(answer.text));
  }
  for (const path of ['/', '/recipes/sums']) {
    const { text } = await get(url + path);
    assert.match(text, /minimum cohort of 3000/);
    assert.ok(!/\b2500\b|nobody/.test(text.replace(/<style>.*?<\/style>/s, '')), path);
  }
  assert.equal(await gauge(url, 'store_records\\{recipe="sums"\\}'), 2500);
  assert.equal(await gauge(url, 'store_waiting_batches\\{recipe="sums"\\}'), 0);
  assert.equal(await gauge(url, 'store_released_records\\{recipe="sums"\\}'), 0);
  await post(url, batches[0]);
  await resultOf(`${url}/v1/results/sums`, DEVICES);
  assert.equal((await get(`${url}/v1/sums/sums`)).status, 200);
  assert.equal(await gauge(url, 'store_released_records\\{recipe="sums"\\}'), DEVICES);
  // From here on a result changes only when another minimum has come.
  const more = simulate(join(folder, 'recipe-0.json'), WORDS, DEVICES, PER_BATCH, 'more');
  for (const [i, batch] of more.entries()) {
    batch.writeUInt32LE(1000 + i, 56); // ids of their own
    assert.equal((await post(url, seal(batch))).status, 201);
    await new Promise((resolve) => setTimeout(resolve, 1100)); // a tick at least
    if (i < more.length - 1)
      assert.equal(JSON.parse((await get(`${url}/v1/results/sums`)).text).n, DEVICES, `after ${i}`);
  }
  await resultOf(`${url}/v1/results/sums`, 2 * DEVICES);
});

test('a day that is not over shows nothing', async (t) => {
  await wholeDay();
  const { folder, url } = await start(t, [sumRecipe('sums', { block: undefined })], {
    period: 'day',
  });
  for (const batch of simulate(join(folder, 'recipe-0.json'), WORDS, DEVICES, PER_BATCH))
    await post(url, batch);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const records = await gauge(url, 'store_records\\{recipe="sums"\\}');
  assert.equal(records, DEVICES);
  for (const path of ['/v1/results/sums', '/v1/sums/sums'])
    assert.equal((await get(url + path)).status, 403);
});

test('no record reaches a file, killed or not', async (t) => {
  const { folder, url, server } = await start(t, [sumRecipe('sums'), cmsRecipe('reports')], {
    fold_interval_s: 3600,
  });
  const batches = simulate(join(folder, 'recipe-0.json'), WORDS, DEVICES, PER_BATCH);
  const others = simulate(join(folder, 'recipe-1.json'), WORDS, PER_BATCH, PER_BATCH, 'others');
  await new Promise((resolve) => setTimeout(resolve, 200)); // the first look at an empty store is over
  for (const batch of [...batches.slice(0, 3), ...others])
    assert.equal((await post(url, batch)).status, 201);
  const store = join(folder, 'store');
  for (const batch of batches.slice(0, 3)) assert.equal(recordsIn(store, batch), 0);
  assert.ok(recordsIn(store, others[0]) > 0.9 * PER_BATCH); // the search finds what waits, but where a page ends within a record
  await server.end('SIGKILL');
  assert.ok(existsSync(join(store, 'shoal.db-wal')));
  for (const batch of batches.slice(0, 3)) assert.equal(recordsIn(store, batch), 0);
});

test("a batch below the recipe's minimum is refused, and a sum too large at the start", async (t) => {
  const { folder, url } = await start(t, [sumRecipe('sums')]);
  const [small] = simulate(join(folder, 'recipe-0.json'), WORDS, DEVICES, PER_BATCH - 1);
  const answer = await post(url, small);
  assert.equal(answer.status, 400);
  assert.equal(answer.json.error.code, 'range');
  assert.match(answer.json.error.message, /batch\.minimum, 500/);
  assert.equal(await gauge(url, 'store_batches\\{recipe="sums"\\}'), 0);

  const large = makeFolder(t);
  const done = run(
    'serve',
    '--check',
    '--config',
    configure(large, [sumRecipe('large', { parameters: { epsilon: 4, k: 65536, m: 1024 } })]),
  );
  assert.equal(done.status, 1);
  assert.match(
    done.stderr,
    /large: its sum takes 256\.3 MiB.*at most 16 MiB.*aggregation "reports"/,
  );
});

test('every command that reads an accumulator refuses one below the minimum and writes nothing', (t) => {
  const folder = makeFolder(t);
  const recipe = join(folder, 'query.json');
  const file = (/** @type {string} */ name) => join(folder, name);
  writeFileSync(recipe, JSON.stringify(queryRecipe('grams-1')));
  writeFileSync(file('counts.tsv'), '{"phrase":"i go"}\t3\n{"phrase":"home"}\t1\n');
  for (const [name, devices] of [
    ['few', '999'],
    ['enough', '1000'],
    ['other', '1000'],
  ]) {
    assert.equal(
      run(
        'simulate',
        '--recipe',
        recipe,
        '--counts',
        file('counts.tsv'),
        '--devices',
        devices,
        '--seed',
        name,
        '-o',
        file(`${name}.batch`),
      ).status,
      0,
    );
    assert.equal(
      run('ingest', '--recipe', recipe, '-o', file(`${name}.acc`), file(`${name}.batch`)).status,
      0,
    );
  }
  const commands = (/** @type {string} */ acc) => [
    ...['table', 'json', 'ndjson', 'csv'].map((format) => [
      'estimate',
      '--recipe',
      recipe,
      '--format',
      format,
      '-o',
      file('out'),
      acc,
    ]),
    ['estimate', '--recipe', recipe, '--by', 'phrase', '-o', file('out'), acc],
    ['compare', '--recipe', recipe, '-o', file('out'), acc, file('other.acc')],
    ['compare', '--recipe', recipe, '-o', file('out'), file('other.acc'), acc],
    ['round', 'next', '--recipe', recipe, '-o', file('out'), acc],
  ];
  for (const args of commands(file('few.acc'))) {
    const done = run(...args);
    assert.equal(done.status, 3, args.join(' ') + done.stderr);
    assert.equal(done.stdout, '');
    assert.ok(!existsSync(file('out')), args.join(' '));
  }
  for (const args of commands(file('enough.acc'))) {
    const done = run(...args);
    assert.equal(done.status, 0, args.join(' ') + done.stderr);
  }
  const merged = run('merge', '-o', file('merged.acc'), file('few.acc'));
  assert.deepEqual([merged.status, merged.stdout], [0, '']);
  assert.equal(run('estimate', '--recipe', recipe, file('merged.acc')).status, 3);
});
