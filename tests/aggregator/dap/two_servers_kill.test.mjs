// SPDX-License-Identifier: Apache-2.0
// Leader and helper killed with SIGKILL in the middle of their work: at the end every report counts exactly once. First at the four
// moments of an exchange that matter, by somebody who stands between the two and kills; then at random, again and again: 6 kills of
// each, 25 with SHOAL_LONG=1, or SHOAL_KILLS; SHOAL_SEED draws other delays.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sumsOf } from '../accumulator_sums.mjs';

import { isLong, makeFolder } from '../serve/serve_helpers.mjs';
import {
  HOUR,
  colours,
  moment,
  sealedReports,
  shoal,
  simulateColours,
  startBetween,
  startPair,
  thisHour,
  upload,
} from './dap_helpers.mjs';

/** @typedef {import('./dap_helpers.mjs').Blow} Blow */

const KILLS = Number(process.env.SHOAL_KILLS ?? (isLong ? 25 : 6));
const REPORTS = 200 * KILLS + 200;
const JOB = 20; // reports

/** A generator that gives the same delays every time. @param {number} state */
function random(state) {
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test(
  'a server that is killed in the middle of an exchange is asked the same again, and nothing counts twice',
  { timeout: 300000 },
  async (t) => {
    const folder = makeFolder(t);
    const hour = thisHour() - 5;
    const between = await startBetween(t);
    const pair = await startPair(
      t,
      folder,
      (urls) => ({ 'recipe.json': colours(urls, { cohort: { minimum: 100 } }) }),
      { job_size: 50, helper_url: between.url },
    );
    between.of(pair);
    const recipe = pair.at('recipe.json');
    const file = simulateColours(pair, 400, 'devices');
    /** @type {Blow[]} */
    const all = [
      { victim: 'helper', isAnswered: false },
      { victim: 'helper', isAnswered: true },
      { victim: 'leader', isAnswered: false },
      { victim: 'leader', isAnswered: true },
    ];
    between.blows.aggregation_jobs = [...all];
    between.blows.aggregate_shares = [...all];
    shoal('upload', '--recipe', recipe, '--time', String(hour * HOUR), file);
    // The collector asks again by itself where the leader is away just then.
    const asked = [
      '--recipe',
      recipe,
      '--from',
      moment(hour),
      '--to',
      moment(hour + 1),
      '--wait',
      '120',
      '-o',
      pair.at('acc'),
    ];
    const answer = await pair.collectLater(...asked);
    assert.equal(answer.status, 0, `${answer.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`);
    shoal('ingest', '--recipe', recipe, '-o', pair.at('folded.acc'), file);
    assert.ok(
      sumsOf(readFileSync(pair.at('acc'))).equals(sumsOf(readFileSync(pair.at('folded.acc')))),
    );

    for (const resource of ['aggregation_jobs', 'aggregate_shares']) {
      const requests = between.seen.filter((one) => one.resource === resource);
      assert.equal(requests.filter(({ blow }) => blow).length, all.length);
      for (const [i, { blow, body }] of requests.entries()) {
        if (blow)
          assert.ok(
            requests[i + 1].body.equals(body),
            `${resource}: the same bytes after ${JSON.stringify(blow)}`,
          );
      }
      // Each job once more for each blow, and not more often.
      const distinct = new Set(requests.map(({ body }) => body.toString('base64')));
      assert.equal(requests.length, distinct.size + all.length);
    }
  },
);

test(
  `both servers killed ${KILLS} times, nothing is lost and nothing counts twice`,
  { timeout: 1800000 },
  async (t) => {
    const folder = makeFolder(t);
    const hour = thisHour() - 5;
    const pair = await startPair(t, folder, (urls) => ({ 'recipe.json': colours(urls) }), {
      job_size: JOB,
    });
    const recipe = pair.at('recipe.json');
    const taskId = shoal('recipe', 'hash', recipe).stdout.trim();
    const file = simulateColours(pair, REPORTS, 'devices');
    const reports = await sealedReports(
      pair.urls.leader,
      '--recipe',
      recipe,
      '--time',
      String(hour * HOUR),
      file,
    );
    assert.equal(reports.length, REPORTS);
    const next = random(Number(process.env.SHOAL_SEED ?? 7));
    const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
    let sent = 0;
    let kills = 0;
    let repeats = 0;

    /** A request as a device makes it: again until there is an answer. @param {import('./dap_helpers.mjs').Report[]} some */
    async function deliver(some) {
      for (;;) {
        try {
          const { status, errors } = await upload(pair.urls.leader, taskId, some);
          assert.equal(status, 200);
          assert.ok(
            errors.every(({ says }) => says === 'report_replayed'),
            'a report that was kept is known, and no other is refused',
          );
          return;
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          repeats++;
          await pause(5); // the leader is away
        }
      }
    }

    /** A few reports at a time, spread over all the kills. */
    async function client() {
      while (sent < REPORTS) {
        if (sent < (REPORTS * (kills + 1)) / (KILLS + 1))
          await deliver(reports.slice(sent, (sent += 10)));
        await pause(10);
      }
    }

    const clients = Promise.all([client(), client()]);
    clients.catch(() => {}); // looked at below
    for (; kills < KILLS; kills++) {
      for (const name of /** @type {const} */ (['helper', 'leader'])) {
        await Promise.race([pause(5 + 150 * next()), clients]);
        await pair[name].end('SIGKILL');
        if (next() < 0.5) await pause(60 * next()); // the other one notices, or not
        await pair[name].start();
      }
    }
    await clients;

    const answer = pair.collect(
      '--recipe',
      recipe,
      '--from',
      moment(hour),
      '--to',
      moment(hour + 1),
      '--wait',
      '120',
      '-o',
      pair.at('acc'),
    );
    assert.equal(answer.status, 0, `${answer.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`);
    shoal('ingest', '--recipe', recipe, '-o', pair.at('folded.acc'), file);
    assert.ok(
      sumsOf(readFileSync(pair.at('acc'))).equals(sumsOf(readFileSync(pair.at('folded.acc')))),
    );
    t.diagnostic(
      `${REPORTS} reports, ${KILLS} kills of each, ${repeats} requests without an answer`,
    );
  },
);
