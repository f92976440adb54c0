// SPDX-License-Identifier: Apache-2.0
// Leader and helper killed with SIGKILL in the middle of their work, again and again: at the end every report counts exactly once.
// 8 kills of each, 80 with SHOAL_LONG=1.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { isLong, makeFolder } from '../serve/serve_helpers.mjs';
import { HOUR, colours, moment, sealedReports, shoal, simulateColours, startPair, thisHour, upload } from './dap_helpers.mjs';

const KILLS = Number(process.env.SHOAL_KILLS ?? (isLong ? 80 : 8));
const REPORTS = 100 * KILLS + 400;
const JOB = 20; // reports

/** A generator that gives the same delays every time. @param {number} state */
function random(state) {
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test(`both servers killed ${KILLS} times, nothing is lost and nothing counts twice`, { timeout: 1800000 }, async (t) => {
  const folder = makeFolder(t);
  const hour = thisHour() - 5;
  const pair = await startPair(t, folder, (urls) => ({ 'recipe.json': colours(urls) }), { job_size: JOB });
  const recipe = pair.at('recipe.json');
  const taskId = shoal('recipe', 'hash', recipe).stdout.trim();
  const file = simulateColours(pair, REPORTS, 'devices');
  const reports = await sealedReports(pair.urls.leader, '--recipe', recipe, '--time', String(hour * HOUR), file);
  assert.equal(reports.length, REPORTS);
  const next = random(7);
  const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
  let repeats = 0;

  /** A request as a device makes it: again until there is an answer. @param {number} from @param {number} to */
  async function deliver(from, to) {
    for (;;) {
      try {
        const { status, errors } = await upload(pair.urls.leader, taskId, reports.slice(from, to));
        assert.equal(status, 200);
        assert.ok(errors.every(({ says }) => says === 'report_replayed'), 'a report that was kept is known, and no other is refused');
        return;
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        repeats++;
        await pause(5); // the leader is away
      }
    }
  }

  let sent = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const until = Math.round((REPORTS * (kill + 1)) / (KILLS + 1));
    const delivery = deliver(sent, until);
    sent = until;
    for (const name of /** @type {const} */ (['helper', 'leader'])) {
      await pause(5 + 120 * next());
      await pair[name].end('SIGKILL');
      if (next() < 0.5) await pause(60 * next()); // the other one notices, or not
      await pair[name].start();
    }
    await delivery;
  }
  await deliver(sent, REPORTS);

  const answer = pair.collect('--recipe', recipe, '--from', moment(hour), '--to', moment(hour + 1), '--wait', '120', '-o',
    pair.at('acc'));
  assert.equal(answer.status, 0, `${answer.stderr}\n${pair.leader.log()}\n${pair.helper.log()}`);
  shoal('ingest', '--recipe', recipe, '-o', pair.at('folded.acc'), file);
  assert.ok(readFileSync(pair.at('acc')).equals(readFileSync(pair.at('folded.acc'))));
  t.diagnostic(`${REPORTS} reports, ${KILLS} kills of each, ${repeats} requests without an answer`);
});

