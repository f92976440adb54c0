// SPDX-License-Identifier: Apache-2.0
// `shoal serve` with recipes of several variables: the records that a joint estimate needs lie in the store as long as the recipe says, then its sums alone, with every
// report in them.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  configure,
  get,
  makeFolder,
  post,
  run,
  serve,
  simulate,
  wholeDay,
} from './serve_helpers.mjs';

const DEVICES = 2000;
const COUNTS = '0\t0\t5\n0\t1\t1\n1\t0\t1\n2\t1\t5\n';

/** @param {string} id @param {string} expires */
const pair = (id, expires) => ({
  recipe: id,
  analysis: 'pairs',
  stream: 's',
  variables: [
    { name: 'a', value: 'item', mechanism: 'grr', parameters: { epsilon: 3, size: 3 } },
    { name: 'b', value: 'item', mechanism: 'grr', parameters: { epsilon: 3, size: 2 } },
  ],
  limit: { per_day: 1 },
  batch: { minimum: 1 },
  block: { minimum: 100 * DEVICES }, // one that stays open
  records: { keep_days: 1 },
  expires,
});

const day = (/** @type {number} */ from) =>
  new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10);

test('records go when the days of their recipe are over, at the next fold, and no report with them', async (t) => {
  await wholeDay();
  const folder = makeFolder(t);
  // Of a block that never closes: a day beyond the last one of the first recipe was over yesterday, of the second it comes tomorrow.
  const recipes = [pair('over', day(-3)), pair('running', day(0))];
  const config = configure(folder, recipes, { period: 'all' });
  const server = await serve(t, config);
  for (const i of [0, 1]) {
    for (const batch of simulate(join(folder, `recipe-${i}.json`), COUNTS, DEVICES, 500))
      assert.equal((await post(server.url, batch)).status, 201);
  }
  assert.equal(
    (await get(`${server.url}/v1/results/running`)).status,
    404,
    'a result of several variables is no list of counts',
  );
  await server.end('SIGTERM'); // folds what waits
  const files = readdirSync(join(folder, 'store/accumulators')).sort();
  assert.equal(files.length, 2);
  const joint = files.map((file, i) =>
    run(
      'joint',
      '--recipe',
      join(folder, `recipe-${i}.json`),
      '--format',
      'json',
      join(folder, 'store/accumulators', file),
    ),
  );
  assert.equal(joint[0].status, 3, joint[0].stderr);
  assert.match(joint[0].stderr, /the records are gone, which are kept 1 day /);
  assert.equal(joint[1].status, 0, joint[1].stderr);
  assert.equal(JSON.parse(joint[1].stdout).n, DEVICES);
  const alone = files.map((file, i) =>
    JSON.parse(
      run(
        'estimate',
        '--recipe',
        join(folder, `recipe-${i}.json`),
        '--variable',
        'a',
        '--format',
        'json',
        join(folder, 'store/accumulators', file),
      ).stdout,
    ),
  );
  assert.deepEqual(
    alone.map(({ n }) => n),
    [DEVICES, DEVICES],
  );
  assert.ok(alone[0].rows[0].count > 0);
});
