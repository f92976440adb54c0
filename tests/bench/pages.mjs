// SPDX-License-Identifier: Apache-2.0
// What pages of `shoal serve` take from asking to the last byte over loopback: the table of a thousand collections, and a collection of
// 100,000 values sorted by value. Prints JSON lines like shoal_bench. Naive: a question for each collection, and all rows as JSON.
//
//   SHOAL_BIN=PROGRAM node pages.mjs
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COLLECTIONS, crowdedSite, timesOf } from '../aggregator/serve/crowded_site.mjs';

const AIM_NS = 50e6;
const ROUNDS = 21;
const MIDDLE = (ROUNDS - 1) / 2;
const NS = 1e6;

/** @type {(() => void)[]} */
const clean = [];
const folder = mkdtempSync(join(tmpdir(), 'shoal-bench-pages-'));
try {
  const { url } = await crowdedSite(
    { after: (/** @type {() => void} */ one) => clean.push(one) },
    folder,
  );
  const least = (await timesOf(`${url}/healthz`, ROUNDS))[MIDDLE]; // what a request takes at least
  const one = (await timesOf(`${url}/v1/results/list-0`, ROUNDS))[MIDDLE];
  const rows = (await timesOf(`${url}/v1/results/words`, 5))[2];
  for (const [name, path, naive, how] of /** @type {const} */ ([
    ['page of 1,000 collections', '/', COLLECTIONS * one, 'a question for each collection'],
    ['page of 100,000 values, sorted', '/recipes/words?sort=value', rows, 'all rows as JSON'],
  ])) {
    const times = await timesOf(url + path, ROUNDS);
    process.stdout.write(
      `${JSON.stringify({
        name,
        unit: 'page',
        ns: times[MIDDLE] * NS,
        quickest: times[0] * NS,
        slowest: times[ROUNDS - 1] * NS,
        rounds: ROUNDS,
        naive_ns: naive * NS,
        naive: how,
        read_ns: least * NS,
        aim_ns: AIM_NS,
        aim_read: 0,
      })}\n`,
    );
  }
} finally {
  for (const one of clean.reverse()) one();
  rmSync(folder, { recursive: true, force: true });
}
