// SPDX-License-Identifier: Apache-2.0
// `shoal serve` killed with SIGKILL again and again while many clients post: every batch that was ever acknowledged counts
// exactly once, with records on the disk and with sums only. Clients retry as the edge does, and also deliver acknowledged
// batches again. 30 kills, 100 with SHOAL_LONG=1, or SHOAL_KILLS; SHOAL_SEED draws other delays.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  cmsRecipe,
  configure,
  isLong,
  makeFolder,
  post,
  resultOf,
  run,
  serve,
  simulate,
  withoutBlocks,
} from './serve_helpers.mjs';

const SHORT = process.env.SHOAL_SANITIZED === '1' ? 10 : 30;
const KILLS = Number(process.env.SHOAL_KILLS ?? (isLong ? 100 : SHORT));
const CLIENTS = 8;
const DEVICES = 60000;
const PER_BATCH = 40;

/** A generator that gives the same delays every time. @param {number} state */
function random(state) {
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** @param {import('node:test').TestContext} t @param {object} changes of the recipe @param {object} settings of the server */
async function killAgainAndAgain(t, changes, settings) {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'words.txt'), 'the\nof\nand\nnobody\n');
  const config = configure(folder, [cmsRecipe('words', changes)], {
    dictionaries: { words: 'words.txt' },
    ...settings,
  });
  const recipe = join(folder, 'recipe-0.json');
  const batches = simulate(recipe, 'the\t5\nof\t3\nand\t2\n', DEVICES, PER_BATCH);
  const next = random(Number(process.env.SHOAL_SEED ?? 1));
  const acknowledged = new Set();
  let url = '';
  let sent = 0;
  let repeats = 0;
  let goesOn = true;

  /** Posts until the server says it has the batch. @param {number} i */
  async function deliver(i) {
    const wasAcknowledged = acknowledged.has(i);
    while (goesOn) {
      try {
        const { status } = await post(url, batches[i]);
        assert.ok(status === 200 || status === 201, `status ${status}`);
        if (wasAcknowledged)
          assert.equal(status, 200, `batch ${i} was acknowledged and then not known`);
        acknowledged.add(i);
        repeats += Number(wasAcknowledged);
        return;
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        await new Promise((resolve) => setTimeout(resolve, 5)); // the server is away
      }
    }
  }

  /** New batches spread over all the kills, old ones in between. @param {() => number} progress 0 to 1 */
  async function client(progress) {
    while (goesOn) {
      if (sent < batches.length * progress()) await deliver(sent++);
      else if (acknowledged.size > 0)
        await deliver([...acknowledged][Math.floor(next() * acknowledged.size)]);
      else await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  let kills = 0;
  let server = await serve(t, config);
  url = server.url;
  const clients = Array.from({ length: CLIENTS }, () => client(() => (kills + 1) / (KILLS + 1)));
  const failed = Promise.all(clients);
  failed.catch(() => {}); // looked at below
  for (; kills < KILLS; kills++) {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 5 + next() * 150)), failed]);
    await server.end('SIGKILL');
    server = await serve(t, config);
    url = server.url;
  }
  while (sent < batches.length || acknowledged.size < batches.length) {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 20)), failed]);
  }
  goesOn = false;
  await failed;

  const result = await resultOf(`${url}/v1/results/words`, DEVICES);
  assert.equal(await server.end('SIGTERM'), 0);
  writeFileSync(join(folder, 'all'), Buffer.concat(batches));
  assert.equal(
    run('ingest', '--recipe', recipe, '-o', join(folder, 'all.acc'), join(folder, 'all')).status,
    0,
  );
  const expected = run(
    'estimate',
    '--recipe',
    recipe,
    '--dictionary',
    join(folder, 'words.txt'),
    '--format',
    'json',
    join(folder, 'all.acc'),
  );
  assert.deepEqual(withoutBlocks(result), withoutBlocks(JSON.parse(expected.stdout)));
  t.diagnostic(`${batches.length} batches, ${repeats} delivered again, ${KILLS} kills`);
}

test(
  `killed ${KILLS} times, nothing acknowledged is lost and nothing counts twice`,
  { timeout: 3600000 },
  (t) => killAgainAndAgain(t, { cohort: { minimum: PER_BATCH } }, {}),
);

// One block of all of it: the result holds everything or does not exist.
test(`the same of sums, killed ${KILLS} times`, { timeout: 3600000 }, (t) =>
  killAgainAndAgain(
    t,
    { aggregation: { protocol: 'sum' }, batch: { minimum: 1 }, cohort: { minimum: DEVICES } },
    { period: 'all' },
  ),
);
