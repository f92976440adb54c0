// SPDX-License-Identifier: Apache-2.0
// The runner of campaigns: one that is killed goes on where it was, its row is written, others' rows
// stay, and what is not there is refused. The campaign of these tests counts to ten.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { figuresOf } from './campaigns/fuzz.mjs';
import { countText, readRows, timeText } from './campaigns/rows.mjs';
import { countsOf, tooMany } from './campaigns/statistics.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const command = join(root, 'scripts/campaign.mjs');
const EMPTY = `# Campaigns

Text that stays.

<!-- results: written by scripts/campaign.mjs -->

| campaign | part | done | wanted | time | date | commit | findings | note |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| other | one | 5 | 5 | 2 s | 2026-01-02 | 01234567 | 0 | a note |

<!-- end of results -->

More that stays.
`;

/** A process that runs a campaign of two parts. It notes each step that it begins, and waits in step WAIT_AT of "slow". */
const DRIVER = `
import { appendFileSync } from 'node:fs';
import { runCampaign } from ${JSON.stringify(new URL('./campaigns/runner.mjs', import.meta.url).href)};
const folder = process.argv[2];
const options = JSON.parse(process.argv[3]);
const step = (name, size) => async ({ seed, step, left, signal }) => {
  appendFileSync(folder + '/steps', JSON.stringify([name, step, seed]) + '\\n');
  if (name === 'slow' && String(step) === process.env.WAIT_AT)
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, 60_000);
      signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); });
    });
  const findings = process.env.WRONG === name ? ['wrong with seed ' + seed] : [];
  return { done: Math.min(size, left), findings, note: 'step ' + step, sums: { [name]: size } };
};
const campaign = { name: 'count', says: '', parts: async () => [
  { name: 'slow', wanted: 10, unit: 'numbers', step: step('slow', 2) },
  { name: 'quick', wanted: 10, unit: 'numbers', step: step('quick', 5) },
] };
const place = { builds: folder, page: folder + '/page.md', commit: () => process.env.COMMIT ?? 'abcdef01', date: () => '2026-11-28', say() {} };
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
try {
  console.log(JSON.stringify(await runCampaign(place, campaign, { ...options, signal: stop.signal })));
} catch (error) {
  console.log(error.message);
  process.exitCode = 2;
}
`;

/** @param {import('node:test').TestContext} t */
function makeFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-campaign-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'page.md'), EMPTY);
  writeFileSync(join(folder, 'driver.mjs'), DRIVER);
  return {
    folder,
    /** @param {object} options @param {Record<string, string>} env */
    start: (options = {}, env = {}) =>
      spawn(process.execPath, [join(folder, 'driver.mjs'), folder, JSON.stringify(options)], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    /** @param {object} options @param {Record<string, string>} env */
    run(options = {}, env = {}) {
      const { stdout, status } = spawnSync(
        process.execPath,
        [join(folder, 'driver.mjs'), folder, JSON.stringify(options)],
        { env: { ...process.env, ...env }, encoding: 'utf8' },
      );
      return { status, said: stdout.trim() };
    },
    /** Those begun so far. @returns {[string, number, number][]} */
    steps: () =>
      existsSync(join(folder, 'steps'))
        ? readFileSync(join(folder, 'steps'), 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [],
    rows: () => readRows(join(folder, 'page.md')).filter(({ campaign }) => campaign === 'count'),
    page: () => readFileSync(join(folder, 'page.md'), 'utf8'),
  };
}

/** @param {() => boolean} isSo */
async function until(isSo) {
  for (let i = 0; i < 600 && !isSo(); i++) await sleep(50);
  assert.ok(isSo(), 'it took longer than 30 s');
}

for (const signal of /** @type {const} */ (['SIGKILL', 'SIGTERM']))
  test(`a campaign that is ended by ${signal} goes on with the step that it was at`, async (t) => {
    const { start, run, steps, rows } = makeFolder(t);
    const child = start({}, { WAIT_AT: '3' });
    await until(() => steps().some(([name, step]) => name === 'slow' && step === 3));
    const refused = run();
    assert.equal(refused.status, 2);
    assert.match(refused.said, new RegExp(`process ${child.pid} is running this campaign`));
    child.kill(signal);
    await once(child, 'close');
    const before = steps().length;
    if (signal === 'SIGTERM') assert.equal(rows()[0].done, '6');
    else assert.deepEqual(rows(), []);

    const { said } = run({}, { COMMIT: 'abcdef02' });
    assert.deepEqual(JSON.parse(said), { nFindings: 0, isWhole: true });
    const slow = steps().filter(([name]) => name === 'slow');
    assert.deepEqual(
      slow.map(([, step]) => step),
      [0, 1, 2, 3, 3, 4],
    );
    assert.equal(slow[3][2], slow[4][2], 'the same seed for the same step');
    assert.equal(new Set(slow.map(([, , seed]) => seed)).size, 5, 'another for each other step');
    assert.ok(steps().length > before);
    assert.deepEqual(
      rows().map(({ part, done, wanted, findings, commit }) => [
        part,
        done,
        wanted,
        findings,
        commit,
      ]),
      [
        ['slow', '10', '10', '0', 'abcdef01 to abcdef02'],
        ['quick', '10', '10', '0', 'abcdef01 to abcdef02'],
      ],
    );
    run();
    assert.equal(steps().filter(([name]) => name === 'slow').length, 6, 'whole: nothing is left');
  });

test('rows replace those of their campaign, and all else on the page stays', (t) => {
  const { folder, run, page, rows } = makeFolder(t);
  run();
  run({ isFresh: true, seed: 7 });
  assert.equal(rows().length, 2);
  assert.equal(rows()[1].note, 'step 1');
  const [other] = readRows(join(folder, 'page.md')).filter(({ campaign }) => campaign === 'other');
  assert.equal(other.note, 'a note');
  assert.ok(page().startsWith('# Campaigns\n\nText that stays.\n'));
  assert.ok(page().endsWith('\n\nMore that stays.\n'));
});

test('a part ends after three findings, and the other goes on', (t) => {
  const { run, rows, steps } = makeFolder(t);
  const { said } = run({}, { WRONG: 'slow' });
  assert.deepEqual(JSON.parse(said), { nFindings: 3, isWhole: true });
  assert.deepEqual(
    rows().map(({ part, done, findings }) => [part, done, findings]),
    [
      ['slow', '6', '3'],
      ['quick', '10', '0'],
    ],
  );
  assert.equal(steps().length, 5);
  assert.equal(JSON.parse(run({ isFresh: true }).said).nFindings, 0);
});

test('another seed needs a fresh start, a part has a name, and time ends a run', (t) => {
  const { run, steps, rows } = makeFolder(t);
  assert.equal(run({ seed: 3, only: 'quick' }).status, 0);
  assert.deepEqual([...new Set(steps().map(([name]) => name))], ['quick']);
  assert.deepEqual(
    rows().map(({ part }) => part),
    ['quick'],
  );
  const first = steps()[0];
  assert.match(run({ seed: 4 }).said, /under way with seed 3/);
  assert.match(run({ only: 'fast' }).said, /no part "fast": slow, quick/);
  assert.deepEqual(JSON.parse(run({ minutes: 0.001 }).said), { nFindings: 0, isWhole: false });
  run({ isFresh: true, seed: 3, only: 'quick' });
  assert.deepEqual(steps()[2], first, 'a seed says what is drawn');
  run();
  run({ isFresh: true, only: 'slow' });
  assert.deepEqual(
    ['quick', 'slow'].map((part) => steps().filter(([name]) => name === part).length),
    [4, 10],
    'only the named parts are forgotten',
  );
});

test('what is not there is refused, and the campaigns are listed', () => {
  /** @param {...string} args */
  const refused = (...args) => {
    const { status, stderr } = spawnSync(process.execPath, [command, ...args], {
      encoding: 'utf8',
    });
    assert.equal(status, 2, stderr);
    return stderr;
  };
  assert.match(refused('fuz'), /no campaign "fuz"; there are fuzz, random, crash/);
  assert.match(refused('fuzz', '--seed', '1.5'), /--seed takes a whole number/);
  assert.match(refused('fuzz', '--minutes', '0'), /--minutes takes a number/);
  assert.match(refused('fuzz', '--fast'), /fast/);
  const listed = execFileSync(process.execPath, [command], { encoding: 'utf8' });
  const page = readFileSync(join(root, 'docs/campaigns.md'), 'utf8');
  const names = [...listed.matchAll(/^(\w+) {2,}\S/gm)].map(([, name]) => name);
  assert.ok(names.length >= 5);
  for (const name of names) assert.match(page, new RegExp(`^\\| \`${name}\``, 'm'));
});

test('figures of a fuzzer are those after its corpus, and name what it found', () => {
  const output = `#12	INITED cov: 100 ft: 200 corp: 9/90b exec/s: 0 rss: 40Mb
#40	NEW    cov: 103 ft: 210 corp: 10/99b lim: 4 exec/s: 0 rss: 40Mb
#5012	DONE   cov: 103 ft: 210 corp: 10/99b lim: 4 exec/s: 2500 rss: 41Mb
stat::number_of_executed_units: 5012
stat::average_exec_per_sec:     2500
`;
  const { executed, edges, rate, artefact, why } = figuresOf(output);
  assert.deepEqual([executed, edges, rate, artefact, why], [5000, 103, 2500, undefined, undefined]);
  const crash = figuresOf(
    '#7\tINITED cov: 3\n==1== ERROR: libFuzzer: deadly signal\nTest unit written to build/fuzz/x-crash-01\n',
  );
  assert.equal(crash.artefact, 'build/fuzz/x-crash-01');
  assert.match(crash.why ?? '', /deadly signal/);
});

test('p-values are judged over the sum of the steps', () => {
  const { n, sums } = countsOf(
    'cms, zipf: 600, 200, 20, 2, 0 of 2000 p-values are at most 0.3, 0.1, 0.01, 0.001, 0.0001\n',
  );
  assert.equal(n, 2000);
  assert.equal(sums['cms, zipf, 0.01'], 20);
  assert.deepEqual(tooMany(sums, n), []);
  // 0.3 % more than 30 %: too little for one step, and too much for 500.
  const more = Object.fromEntries(
    Object.entries(sums).map(([key, count]) => [key, key.endsWith(', 0.3') ? count + 6 : count]),
  );
  assert.deepEqual(tooMany(more, n), []);
  const all = Object.fromEntries(Object.entries(more).map(([key, count]) => [key, 500 * count]));
  assert.deepEqual(tooMany(all, 500 * n), [['cms, zipf, 0.3', 303_000]]);
});

test('counts and times are short', () => {
  assert.deepEqual([999_999, 1e6, 12_345_678, 1e8, 2.5e9].map(countText), [
    '999,999',
    '1 million',
    '12.3 million',
    '100 million',
    '2.5 billion',
  ]);
  assert.deepEqual([9.6, 120, 7200].map(timeText), ['10 s', '2 min', '2.0 h']);
});
