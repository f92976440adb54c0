// SPDX-License-Identifier: Apache-2.0
// A run over epochs, from devices to a series: a page's client and two thousand devices of the WebAssembly core live through five epochs, in the
// middle of which the mean changes; the edge takes what the page sends, `shoal ingest`, `shoal round next` and `shoal track` do the rest. So the
// device of JavaScript and the aggregator of C agree about recipes, runs, votes, updates and estimates.
// Needs the native build (SHOAL_BIN names the program; build/release/shoal otherwise).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { init } from 'shoal-client';
import { load } from 'shoal-client/node';
import { Run } from 'shoal-client/run';
import { handle } from '../handler.js';
import { program } from './real_aggregator.mjs';

const DEVICES = 2000;
const EPOCHS = 5;
const FALLS_AT = 3;
const meanOf = (epoch) => (epoch < FALLS_AT ? 1 : 0.2);

const FIRST = {
  recipe: 'followed',
  analysis: 'tests',
  stream: 'views',
  value: 'number',
  mechanism: 'thresh',
  // So few devices and epochs that a test can be of them; epsilon large enough for two updates.
  parameters: {
    epsilon: 16,
    users: DEVICES,
    epochs: EPOCHS,
    samples: 2000,
    smallest_group: DEVICES,
    groups: 1,
    delta: '1e-3',
    low: 0,
    high: 1,
  },
  round: { index: 1 },
  limit: { per_day: 1 },
  send: { fresh: 'allow', delay_s: 0 },
  cohort: { minimum: DEVICES / 2 },
  expires: '2099-12-31',
};

/** 32 bytes of a device's own in an epoch. @param {number} device @param {number} epoch */
const seedOf = (device, epoch) =>
  new Uint8Array(createHash('sha256').update(`visitor ${device} ${epoch}`).digest());

function shoal(...args) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  assert.equal(status, 0, `shoal ${args[0]}: ${stderr}`);
  return stdout;
}

test("devices of the page's core live through a run, and the aggregator draws the series", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-epochs-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const at = (name) => join(dir, name);
  const file = (epoch, kind) => at(`${String(epoch).padStart(4, '0')}.${kind}`);
  const core = await load();

  // A page, over the edge's handler.
  /** @type {any[]} */
  let served = [];
  /** @type {string[]} */
  const taken = [];
  const handler = (url, options) => {
    const recipe = core.recipe(served[0]);
    const accept = async (record) => (taken.push(recipe.recordToText(record)), 'accepted');
    const deps = {
      collections: new Map([[recipe.hash, { recipe, accept }]]),
      recipes: [recipe],
      origins: [],
      now: () => Date.now(),
    };
    return handle(
      new Request(
        url,
        options && { method: options.method, headers: options.headers, body: options.body },
      ),
      /** @type {any} */ (deps),
    ).finally(() => core.release(recipe));
  };
  const page = await init({
    endpoint: 'https://edge.example/',
    recipes: [],
    runs: [FIRST],
    wasm: load,
    setTimer: () => null,
    fetch: handler,
  });
  t.after(() => page.close());
  await page.consent.grant();
  await page.track.optIn('tests');

  const states = [];
  let json = FIRST;
  for (let epoch = 1; epoch <= EPOCHS + 1; epoch++) {
    served = [json];
    for (const value of [1, 0])
      for (let i = 0; i < 10 * (value ? meanOf(epoch) : 1 - meanOf(epoch)); i++)
        await page.track.sample('views', value);
    assert.deepEqual(
      await page.track.answer(),
      [{ recipe: 'followed', code: 'queued' }],
      `epoch ${epoch}`,
    );
    await page.flush();
    assert.equal(taken.length, epoch);
    const recipe = core.recipe(json);
    const run = new Run(recipe);
    const reports = [recipe.report(taken[epoch - 1])];
    for (let device = 1; device < DEVICES; device++) {
      const { record, state } = run.answerNumber(
        states[device] ?? run.start(),
        BigInt(Math.round(1e6 * meanOf(epoch))),
        seedOf(device, epoch),
      );
      states[device] = state;
      reports.push(recipe.report(record));
    }
    core.release(recipe);
    await writeFile(file(epoch, 'recipe.json'), JSON.stringify(json));
    await writeFile(
      at('reports.ndjson'),
      reports.map((report) => `${JSON.stringify(report)}\n`).join(''),
    );
    shoal(
      'ingest',
      '--recipe',
      file(epoch, 'recipe.json'),
      '-o',
      file(epoch, 'acc'),
      at('reports.ndjson'),
    );
    if (epoch > EPOCHS) break;
    shoal(
      'round',
      'next',
      '--recipe',
      file(epoch, 'recipe.json'),
      file(epoch, 'acc'),
      '-o',
      at('next.json'),
    );
    const next = JSON.parse(await readFile(at('next.json'), 'utf8'));
    // 0.5 of the range and more is above the highest threshold, 3 sqrt(2 ln(12 n T/delta)/l) = 0.41: every device votes in the epoch of a change.
    assert.equal(
      next.round.update ?? 0,
      [1, FALLS_AT].includes(epoch) ? 1 : 0,
      `after epoch ${epoch}`,
    );
    if (!next.round.update && epoch === EPOCHS) break; // nothing to collect
    json = next;
  }
  const series = JSON.parse(shoal('track', dir, '--format', 'json', '--all'));
  assert.deepEqual(
    [series.updates, series.updates_answered, series.frozen, series.rows.length],
    [2, 2, false, EPOCHS],
  );
  assert.deepEqual(
    series.rows.filter(({ update }) => update).map(({ epoch }) => epoch),
    [1, FALLS_AT],
  );
  // Devices' seeds are fixed; the page's one report in 2000 is not, and moves an estimate by a twentieth of its error.
  for (const { epoch, value, stderr, n } of series.rows) {
    assert.equal(n, DEVICES);
    assert.ok(
      Math.abs(value - meanOf(epoch)) < 4 * stderr && stderr < 0.03,
      `epoch ${epoch}: ${value} ± ${stderr}, truly ${meanOf(epoch)}`,
    );
  }
  const [run] = (await page.ledger()).filter((entry) => entry.run);
  assert.deepEqual([run.epoch, run.votes?.used, run.estimates?.used], [EPOCHS, 2, 2]);
});
