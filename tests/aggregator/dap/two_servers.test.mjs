// SPDX-License-Identifier: Apache-2.0
// Two servers as processes of their own, over loopback: ten thousand devices of a one-hot recipe, and the batch that the collector
// gets is, byte for byte, the accumulator that one aggregator makes of the same reports. Replays, overlaps and repeats on the way.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { sumsOf } from '../accumulator_sums.mjs';

import { makeFolder } from '../serve/serve_helpers.mjs';
import {
  HOUR,
  colours,
  moment,
  sealedReports,
  shoal,
  simulateColours,
  startPair,
  thisHour,
  upload,
} from './dap_helpers.mjs';

const DEVICES = 10000;

test(
  'ten thousand devices: what two servers add up is what one would have, and only once',
  { timeout: 300000 },
  async (t) => {
    const folder = makeFolder(t);
    const hour = thisHour() - 5;
    const time = (/** @type {number} */ hours) => String((hour + hours) * HOUR);
    const pair = await startPair(t, folder, (urls) => ({ 'recipe.json': colours(urls) }));
    const recipe = pair.at('recipe.json');
    const taskId = shoal('recipe', 'hash', recipe).stdout.trim();
    const files = [
      simulateColours(pair, DEVICES / 2, 'first'),
      simulateColours(pair, DEVICES / 2, 'second'),
    ];

    // Half of the devices upload by themselves, in the first hour; the other half's reports pass through our hands, in the second.
    const first = shoal('upload', '--recipe', recipe, '--time', time(0), files[0]);
    assert.match(first.stdout + first.stderr, /5,?000/);
    const reports = await sealedReports(
      pair.urls.leader,
      '--recipe',
      recipe,
      '--time',
      time(1),
      files[1],
    );
    assert.equal(reports.length, DEVICES / 2);
    for (let at = 0; at < reports.length; at += 250) {
      const { status, errors } = await upload(
        pair.urls.leader,
        taskId,
        reports.slice(at, at + 250),
      );
      assert.deepEqual([status, errors], [200, []]);
    }

    // Once more, all of them: taken silently or refused as replayed, and counted once either way (below).
    for (let at = 0; at < reports.length; at += 1000) {
      const { status, errors } = await upload(
        pair.urls.leader,
        taskId,
        reports.slice(at, at + 1000),
      );
      assert.equal(status, 200);
      assert.ok(errors.every(({ says }) => says === 'report_replayed'));
    }

    const collected = pair.at('collected.acc');
    const asked = [
      '--recipe',
      recipe,
      '--from',
      moment(hour),
      '--to',
      moment(hour + 2),
      '--wait',
      '120',
      '-o',
      collected,
    ];
    const answer = pair.collect(...asked);
    assert.equal(answer.status, 0, `${answer.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`);
    shoal('ingest', '--recipe', recipe, '-o', pair.at('folded.acc'), ...files);
    assert.ok(
      sumsOf(readFileSync(collected)).equals(sumsOf(readFileSync(pair.at('folded.acc')))),
      'the same sums as one aggregator makes',
    );
    const estimate = JSON.parse(
      shoal('estimate', '--recipe', recipe, '--format', 'json', collected).stdout,
    );
    assert.equal(estimate.n, DEVICES);

    // The same question gets the same answer, another one about the same reports none.
    const first = readFileSync(collected);
    writeFileSync(collected, '');
    assert.equal(pair.collect(...asked).status, 0);
    assert.ok(readFileSync(collected).equals(first), 'with the same claim');
    assert.ok(sumsOf(readFileSync(collected)).equals(sumsOf(readFileSync(pair.at('folded.acc')))));
    for (const [from, to] of [
      [0, 1],
      [1, 2],
      [1, 3],
      [0, 3],
    ]) {
      const refused = pair.collect(
        '--recipe',
        recipe,
        '--from',
        moment(hour + from),
        '--to',
        moment(hour + to),
        '--wait',
        '20',
        '-o',
        pair.at('other.acc'),
      );
      assert.equal(refused.status, 3);
      assert.match(refused.stderr, /batchOverlap/);
    }

    // What comes late for a collected batch is refused: a known report, and one that nobody has seen.
    const late = await sealedReports(
      pair.urls.leader,
      '--recipe',
      recipe,
      '--time',
      time(1),
      simulateColours(pair, 1, 'late'),
    );
    const { errors } = await upload(pair.urls.leader, taskId, [reports[0], ...late]);
    assert.equal(errors.length, 2);
    assert.ok(errors.every(({ says }) => says === 'batch_collected' || says === 'report_replayed'));
    assert.equal(errors[1].says, 'batch_collected');
  },
);

test(
  'a batch that is one report short is not given out, and one that is not is',
  { timeout: 120000 },
  async (t) => {
    const folder = makeFolder(t);
    const hour = thisHour() - 5;
    const pair = await startPair(t, folder, (urls) => ({
      'recipe.json': colours(urls, { cohort: { minimum: 50 } }),
    }));
    const recipe = pair.at('recipe.json');
    const files = [simulateColours(pair, 49, 'most'), simulateColours(pair, 1, 'last')];
    const asked = [
      '--recipe',
      recipe,
      '--from',
      moment(hour),
      '--to',
      moment(hour + 1),
      '--wait',
      '30',
      '-o',
      pair.at('acc'),
    ];
    shoal('upload', '--recipe', recipe, '--time', String(hour * HOUR), files[0]);
    const short = pair.collect(...asked);
    assert.equal(short.status, 3);
    assert.match(short.stderr, /invalidBatchSize/);
    shoal('upload', '--recipe', recipe, '--time', String(hour * HOUR + HOUR - 1), files[1]);
    const whole = pair.collect(...asked);
    assert.equal(whole.status, 0, whole.stderr);
    shoal('ingest', '--recipe', recipe, '-o', pair.at('folded.acc'), ...files);
    assert.ok(
      sumsOf(readFileSync(pair.at('acc'))).equals(sumsOf(readFileSync(pair.at('folded.acc')))),
    );
    const empty = pair.collect(
      '--recipe',
      recipe,
      '--from',
      moment(hour),
      '--to',
      moment(hour),
      '-o',
      pair.at('acc'),
    );
    assert.notEqual(empty.status, 0);
  },
);
