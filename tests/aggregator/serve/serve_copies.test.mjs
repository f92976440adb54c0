// SPDX-License-Identifier: Apache-2.0
// Identical records at a server: counted while blocks fill, an alarm in results, pages, metrics and the log once a block has closed,
// silent on honest crowds and on open blocks, and "not measured" after a restart within a block.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  cmsRecipe,
  configure,
  get,
  listRecipe,
  makeFolder,
  post,
  resultOf,
  seal,
  serve,
  simulate,
  wholeDay,
} from './serve_helpers.mjs';

const HEADER = 72;
const DEVICES = 3000;
const CODE = 'identical-records';
const WHY =
  'the server restarted or failed while a block was open, or the blocks are from before it counted copies';
const BLOCK = { block: { tick_s: 1, minimum: DEVICES }, cohort: { minimum: DEVICES } };
const values = Array.from({ length: 64 }, (_, i) => `v${i}`);
const COUNTS = `${values.slice(0, 16).join('\t3\n')}\t3\n`;
const wide = (/** @type {string} */ id, /** @type {object} */ changes) =>
  listRecipe(id, { parameters: { epsilon: 2, values }, ...BLOCK, ...changes });
/** The mechanisms whose sums forget which records were equal. */
const recipes = [
  cmsRecipe('cms', BLOCK),
  cmsRecipe('summed', { ...BLOCK, aggregation: { protocol: 'sum' } }),
  wide('asymmetric', {}),
  wide('symmetric', { mechanism: 'onehot-symmetric' }),
  wide('subset', { mechanism: 'subset' }),
];

/** Puts copies of the first record in the place of the last `n`. @param {Buffer} batch @param {number} n */
function withCopies(batch, n) {
  const [size, count] = [batch.readUInt32LE(12), batch.readUInt32LE(16)];
  for (let i = count - n; i < count; i++)
    batch.copy(batch, HEADER + i * size, HEADER, HEADER + size);
  return seal(batch);
}

/** @param {import('node:test').TestContext} t @param {object[]} which */
async function start(t, which) {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'values.txt'), `${values.join('\n')}\n`);
  const dictionaries = Object.fromEntries(
    which
      .map((recipe) => /** @type {any} */ (recipe))
      .filter(({ mechanism }) => mechanism === 'cms')
      .map(({ recipe }) => [recipe, 'values.txt']),
  );
  const config = configure(folder, which, { dictionaries });
  const server = await serve(t, config);
  /** @param {number} i of the recipe @param {string} seed @param {number} [copies] */
  const send = async (i, seed, copies = 0, devices = DEVICES, url = server.url) => {
    const file = join(folder, `recipe-${i}.json`);
    const [batch] = simulate(file, COUNTS, devices, devices, seed);
    batch.write(seed.padEnd(8).slice(0, 8), 60); // an id of its own
    assert.equal((await post(url, withCopies(batch, copies))).status, 201);
  };
  return { folder, config, server, send };
}

/** @param {any} result */
const outcomeOf = ({ alarms, alarms_passed: passed, alarms_not_measured: not }) => {
  const raised = alarms.find((/** @type {any} */ { code }) => code === CODE);
  if (raised) return raised;
  if (passed.includes(CODE)) return 'passed';
  return not.find((/** @type {any} */ { code }) => code === CODE)?.why;
};

/** Waits until a metric has a line that fits. @param {string} url @param {RegExp} line */
async function metricOf(url, line) {
  let text = '';
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    text = (await get(`${url}/metrics`)).text;
    if (line.test(text)) return text;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`no ${line} in ${text}`);
}

test('an honest crowd raises nothing; one copy in a hundred does, everywhere', async (t) => {
  await wholeDay(60);
  const { server, send } = await start(t, recipes);
  const ids = recipes.map(({ recipe }) => recipe);
  for (const i of ids.keys()) await send(i, 'honest');
  for (const id of ids) {
    const result = await resultOf(`${server.url}/v1/results/${id}`, DEVICES);
    assert.equal(outcomeOf(result), 'passed', id);
    await metricOf(
      server.url,
      new RegExp(`^shoal_alarm\\{recipe="${id}",blocks="all",code="${CODE}"\\} 0$`, 'm'),
    );
  }
  for (const i of ids.keys()) await send(i, 'copied', DEVICES / 100);
  for (const id of ids) {
    const result = await resultOf(`${server.url}/v1/results/${id}`, 2 * DEVICES);
    const alarm = outcomeOf(result);
    assert.ok(alarm.statistic >= DEVICES / 100 && alarm.statistic < DEVICES / 50, id);
    assert.equal(alarm.n, 2 * DEVICES, id);
    assert.ok(alarm.p <= 1e-4, id);
    assert.match(alarm.sentence, /^one record came \d+ times or more among 6,000/);
    const page = (await get(`${server.url}/recipes/${id}`)).text;
    assert.match(page, /role="alert"><b>Alarm identical-records: one record came/);
    await metricOf(
      server.url,
      new RegExp(`^shoal_alarm\\{recipe="${id}",blocks="all",code="${CODE}"\\} 1$`, 'm'),
    );
  }
  assert.equal(await server.end('SIGTERM'), 0);
  for (const id of ids)
    assert.ok(server.log().includes(`${id} (all blocks): alarm identical-records: one`), id);
});

test('nothing of an open block shows; a restart within one leaves it unmeasured', async (t) => {
  await wholeDay(60);
  const { config, server, send } = await start(t, recipes.slice(0, 2));
  for (const i of [0, 1]) await send(i, 'honest');
  for (const id of ['cms', 'summed'])
    assert.equal(outcomeOf(await resultOf(`${server.url}/v1/results/${id}`, DEVICES)), 'passed');
  // Copies in the open block: over several ticks, no answer knows of them.
  for (const i of [0, 1]) await send(i, 'open', 900, 1000);
  await new Promise((done) => setTimeout(done, 2500));
  for (const id of ['cms', 'summed'])
    assert.equal(outcomeOf(await resultOf(`${server.url}/v1/results/${id}`, DEVICES)), 'passed');
  assert.doesNotMatch((await get(`${server.url}/metrics`)).text, /^shoal_alarm\{.*\} 1$/m);
  assert.equal(await server.end('SIGTERM'), 0);

  const next = await serve(t, config);
  for (const id of ['cms', 'summed'])
    assert.equal(
      outcomeOf(await resultOf(`${next.url}/v1/results/${id}`, DEVICES)),
      'passed',
      'what was closed before the restart was measured',
    );
  for (const i of [0, 1]) await send(i, 'after', 0, DEVICES, next.url);
  for (const id of ['cms', 'summed'])
    assert.equal(
      outcomeOf(await resultOf(`${next.url}/v1/results/${id}`, 2 * DEVICES + 1000)),
      WHY,
      'the copies passed before the restart',
    );
  const text = await metricOf(next.url, /^shoal_alarm\{recipe="cms",blocks="all",code="uneven/m);
  assert.doesNotMatch(text, new RegExp(`^shoal_alarm\\{recipe="cms".*${CODE}`, 'm'));
});
