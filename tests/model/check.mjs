// SPDX-License-Identifier: Apache-2.0
// Checks the models of this folder with Spin. A sound model must have no counterexample over its
// whole state space and take each of its steps. With a planted bug, it must break the property that
// the bug is listed with. docs/model.md explains the models.
// Usage: node tests/model/check.mjs [--long] [--story] [NAME...]. --long takes larger sizes too, --story
// prints how each bug comes to light. A NAME is that of a run, as the list of results shows it.
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = fileURLToPath(new URL('.', import.meta.url));
const run = promisify(execFile);

const MEMORY_MB = 4000; // of one search; the ordinary ones take a tenth of it
const TIME_MS = 180_000; // of one search, on a busy machine
const LONG_TIME_MS = 30 * 60_000;
const DEPTH = 2_000_000;

const NOTHING_TWICE = 'nothing counts twice';
const DIFFER = 'two answers differ by nothing or by the minimum';

const ONE_TOKEN = 'no token counts twice';
const NOT_LOST = 'no queued report is lost while its token is valid';

/** Spin finds a process that waits for ever by itself, and reports it in words of its own. */
export const ENDS = 'every command ends';
const SPIN_WORDS = /** @type {Record<string, string>} */ ({ 'invalid end state': ENDS });

/** @typedef {Record<string, number | true>} Macros */
/** @typedef {{name: string, says: string, breaks: string, macros?: Macros}} Bug */
/** @typedef {{name: string, macros: Macros, isLong?: true}} Setting isLong: for longer runs only */
/** @typedef {{settings: Setting[], small: Macros, bugs: Bug[]}} Model small: sizes that show a bug, unless it names others */

/** @type {Record<string, Model>} */
export const models = {
  blocks: {
    settings: [
      { name: 'reports', macros: { CLOCKS: 2 } },
      { name: 'sum', macros: { SUM: true } },
      { name: 'reports over three days', macros: {}, isLong: true },
      { name: 'sum of five batches', macros: { SUM: true, BATCHES: 5 }, isLong: true },
      { name: 'reports of five batches', macros: { BATCHES: 5 }, isLong: true },
      { name: 'records that are kept', macros: { RECORDS: true }, isLong: true },
      { name: 'a minimum of three', macros: { BATCHES: 6, MINIMUM: 3, CLOCKS: 2 }, isLong: true },
      { name: 'sum of six batches', macros: { SUM: true, BATCHES: 6 }, isLong: true },
    ],
    small: { BATCHES: 3, CLOCKS: 2 },
    bugs: [
      {
        name: 'ANSWER_OPEN',
        says: 'a question also reads the open block',
        breaks: DIFFER,
      },
      {
        name: 'CLOSE_BELOW_MINIMUM',
        says: 'a tick closes a block of one record',
        breaks: DIFFER,
      },
      {
        name: 'LATE_INTO_CLOSED',
        says: 'a batch of a day that was released is folded into that closed block',
        breaks: 'a closed block never changes',
      },
      {
        name: 'RETENTION_SPLITS',
        says: 'retention takes a part of a block into a coarser one',
        breaks: DIFFER,
        macros: { BATCHES: 4, CLOCKS: 2 },
      },
      {
        name: 'CRASH_TAKEN_AS_DONE',
        says: 'the store takes a file that was written, but not named, for folded',
        breaks: NOTHING_TWICE,
      },
      {
        name: 'DELETE_BEFORE_NAMING',
        says: 'the batches of a fold are deleted before the database names the new file',
        breaks: 'nothing acknowledged is lost',
      },
      {
        name: 'COMMIT_BEFORE_SYNC',
        says: 'the database names a file that is not synced',
        breaks: 'every file that the database names is there',
      },
      {
        name: 'ID_AFTER_BATCH',
        says: 'the id of a batch is stored in a second transaction',
        breaks: NOTHING_TWICE,
      },
      {
        name: 'REMOVE_WITHOUT_LOCK',
        says: 'a fold removes the old file while a question reads it',
        breaks: 'every file that a question reads is there',
      },
      {
        name: 'FORGET_IDS',
        says: 'a collection that is forgotten forgets the ids of its batches',
        breaks: DIFFER,
      },
      {
        name: 'DAY_OF_A_CLOCK_SET_BACK',
        says: 'a block gets the day of the clock, although the clock was set back',
        breaks: 'the days of blocks never go back',
        macros: { BATCHES: 4, CLOCKS: 3 },
      },
      {
        name: 'TICK_NEVER_GOES_BACK',
        says: 'after the clock was set back, no tick is noted until it catches up',
        breaks: 'a block that has enough closes within two ticks',
        macros: { CLOCKS: 3 },
      },
    ],
  },
  claims: {
    settings: [
      { name: 'commands', macros: { COMMANDS: 2 } },
      { name: 'three commands', macros: {}, isLong: true },
      { name: 'three kills', macros: { KILLS: 3 }, isLong: true },
      { name: 'four commands', macros: { COMMANDS: 4, KILLS: 0 }, isLong: true },
    ],
    small: { KILLS: 0 },
    bugs: [
      {
        name: 'MERGE_WITHOUT_CHECK',
        says: '`merge` adds accumulators that claim the same batch',
        breaks: 'nothing counts twice unless a warning was given',
        macros: { BATCHES: 1 },
      },
      {
        name: 'APPEND_WITHOUT_CHECK',
        says: '`--append` adds a batch that the accumulator claims',
        breaks: 'nothing counts twice unless a warning was given',
      },
      {
        name: 'APPEND_WITHOUT_LOCK',
        says: 'two commands write one accumulator at once',
        breaks: 'nothing that a command counted is lost',
      },
      {
        name: 'LOCK_NOT_CHECKED',
        says: 'a command goes on with the lock of a lock file that was removed',
        breaks: 'nothing that a command counted is lost',
      },
      {
        name: 'UNLOCK_BEFORE_UNLINK',
        says: 'a command gives up the lock first and removes the lock file then',
        breaks: 'nothing that a command counted is lost',
      },
      {
        name: 'LOCK_SURVIVES_A_KILL',
        says: 'the lock is the lock file itself, which a killed command leaves behind',
        breaks: ENDS,
        macros: { KILLS: 1 },
      },
      {
        name: 'CLAIMS_NOT_UNITED',
        says: '`merge` keeps the claims of the first accumulator only',
        breaks: 'an accumulator claims exactly what it counts',
      },
      {
        name: 'WRITE_IN_PLACE',
        says: 'a command empties the accumulator before it writes the new one',
        breaks: 'nothing that a command counted is lost',
        macros: { KILLS: 1 },
      },
      {
        name: 'OLD_TAKEN_AS_CLAIMED',
        says: '`merge` forgets that an older accumulator lists nothing',
        breaks: 'nothing counts twice unless a warning was given',
      },
    ],
  },
  spends: {
    settings: [
      { name: 'reports', macros: {} },
      { name: 'over three days', macros: { DAYS: 3 }, isLong: true },
      { name: 'two copies', macros: { COPIES: 2 }, isLong: true },
      { name: 'two stops', macros: { STOPS: 2 }, isLong: true },
    ],
    small: {},
    bugs: [
      {
        name: 'TOKEN_NOT_ASKED_FOR',
        says: 'the edge takes a report without a token',
        breaks: 'no report counts without a token',
      },
      {
        name: 'KEYS_KEPT_FROM_THE_OPENING',
        says: 'keys of spent tokens age from when their batch was opened, not forwarded',
        breaks: ONE_TOKEN,
      },
      {
        name: 'SPENDS_FORGOTTEN_AT_A_RESTART',
        says: 'the edge keeps the keys in memory only',
        breaks: ONE_TOKEN,
      },
      {
        name: 'KEY_STORED_AFTER_THE_REPORT',
        says: 'the key of a report is stored in a second transaction',
        breaks: ONE_TOKEN,
      },
      {
        name: 'KEY_STORED_BEFORE_THE_REPORT',
        says: 'the report is stored in a second transaction, after its key',
        breaks: NOT_LOST,
      },
      {
        name: 'ANSWERED_BEFORE_IT_IS_STORED',
        says: 'the edge answers before the report is durable',
        breaks: NOT_LOST,
      },
      {
        name: 'ROW_DELETED_BEFORE_THE_ANSWER',
        says: 'a tab deletes the row of a report when it posts it',
        breaks: NOT_LOST,
      },
      {
        name: 'TAKEN_WITHOUT_A_TRANSACTION',
        says: 'a tab reads its token in one transaction and takes it in another',
        breaks: NOT_LOST,
      },
      {
        name: 'TOKEN_OF_ITS_OWN_FOR_A_RETRY',
        says: 'each try of a report spends another token',
        breaks: 'no report counts twice',
      },
    ],
  },
};

/**
 * @typedef {{name: string, model: string, macros: Macros, breaks: string | null}} Run
 *   breaks: the property that its planted bug breaks; null for a sound model
 */

/** All runs. @param {boolean} isLong @returns {Run[]} */
export const runs = (isLong) =>
  Object.entries(models).flatMap(([model, { settings, small, bugs }]) => [
    ...settings
      .filter((setting) => isLong || !setting.isLong)
      .map(({ name, macros }) => ({ name: `${model} ${name}`, model, macros, breaks: null })),
    ...bugs.map(({ name, breaks, macros }) => ({
      name: `${model} ${name}`,
      model,
      macros: { ...small, ...macros, [`BUG_${name}`]: /** @type {true} */ (true) },
      breaks,
    })),
  ]);

/** Runs a program in a folder; a missing one is named. @param {string} cwd @param {string} program @param {string[]} args @param {number} [timeout] */
async function call(cwd, program, args, timeout = TIME_MS) {
  try {
    return (await run(program, args, { cwd, timeout, maxBuffer: 1 << 26 })).stdout;
  } catch (error) {
    const failure = /** @type {NodeJS.ErrnoException & {killed?: boolean, stdout?: string}} */ (
      error
    );
    if (failure.code === 'ENOENT')
      throw new Error(`${program} is not installed; scripts/setup.sh installs it`);
    if (failure.killed) throw new Error(`${program} took longer than ${timeout / 1000} s`);
    throw new Error(`${program} ${args.join(' ')}: ${failure.message}\n${failure.stdout}`);
  }
}

/**
 * @typedef {object} Result
 * @property {string | null} broken the property that a counterexample breaks, null without one
 * @property {string[]} story what happens in the counterexample, step by step
 * @property {number} states
 * @property {number} seconds of the search
 */

/** Why a search was not of the whole state space, or what it left out. @param {string} output @returns {string | null} */
function shortfall(output) {
  if (!/errors: 0\b/.test(output)) return 'the search did not end';
  if (/Search not completed|max search depth too small|out of memory/.test(output))
    return 'the search left out a part of the state space';
  const unreached = [...output.matchAll(/^\s+\S+:(\d+), state \d+, (.*)$/gm)];
  if (unreached.length > 0)
    return `steps are never taken: ${unreached.map(([, line, text]) => `line ${line} ${text}`).join('; ')}`;
  return null;
}

/** Replays the trail that a search left. @param {string} cwd @returns {Promise<{story: string[], property: string}>} */
async function replay(cwd) {
  const output = await call(cwd, './pan', ['-r', '-S']).catch((error) => error.message);
  const lines = output.split('\n');
  const end = lines.findIndex((/** @type {string} */ line) => line.startsWith('BROKEN: '));
  return {
    story: lines.slice(0, end < 0 ? lines.length : end),
    property: end < 0 ? 'unknown' : lines[end].slice('BROKEN: '.length),
  };
}

/**
 * Searches one model: to the end where it is sound, else to the shortest counterexample.
 * @param {Run} asked @param {number} timeout @returns {Promise<Result>}
 */
export async function check({ model, macros, breaks }, timeout) {
  const cwd = await mkdtemp(join(tmpdir(), 'shoal-model-'));
  try {
    const defines = Object.entries(macros).map(
      ([name, value]) => `-D${name}${value === true ? '' : `=${value}`}`,
    );
    await copyFile(join(folder, `${model}.pml`), join(cwd, 'model.pml'));
    await call(cwd, 'spin', ['-a', ...defines, 'model.pml']);
    const search = breaks === null ? ['-O2'] : ['-O1', '-DBFS'];
    await call(cwd, 'gcc', [
      '-w',
      ...search,
      '-DSAFETY',
      '-DCOLLAPSE',
      `-DMEMLIM=${MEMORY_MB}`,
      '-o',
      'pan',
      'pan.c',
    ]);
    const started = Date.now();
    const output = await call(cwd, './pan', [`-m${DEPTH}`], timeout);
    const result = {
      states: Number(/(\S+) states, stored/.exec(output)?.[1] ?? 0),
      seconds: (Date.now() - started) / 1000,
    };
    if (/errors: [1-9]/.test(output)) {
      const { story, property } = await replay(cwd);
      const own = Object.keys(SPIN_WORDS).find((words) => output.includes(`pan:1: ${words}`));
      return { ...result, story, broken: own === undefined ? property : SPIN_WORDS[own] };
    }
    const missing = shortfall(output);
    if (missing !== null) throw new Error(missing);
    return { ...result, story: [], broken: null };
  } finally {
    await rm(cwd, { recursive: true });
  }
}

/** What a result should have been, or null when it is right. @param {Run} asked @param {Result} result */
export function verdict({ breaks }, { broken, story }) {
  if (broken === breaks) return null;
  const found = broken === null ? 'found nothing' : `found that "${broken}" breaks`;
  const wanted = breaks === null ? 'no counterexample' : `that "${breaks}" breaks`;
  return `${found}, expected ${wanted}\n${story.join('\n')}`;
}

/** @param {boolean} isLong */
export const timeLimit = (isLong) => (isLong ? LONG_TIME_MS : TIME_MS);

/** @param {string[]} args */
async function main(args) {
  const isLong = args.includes('--long');
  const names = args.filter((word) => !word.startsWith('--')).join(' ');
  const list = runs(isLong).filter(({ name }) => name.includes(names));
  if (list.length === 0) throw new Error(`no run is named ${names}`);
  const left = list[Symbol.iterator]();
  let failures = 0;
  const work = async () => {
    for (const asked of left) {
      const result = await check(asked, timeLimit(isLong)).catch((error) => error);
      const wrong = result instanceof Error ? result.message : verdict(asked, result);
      if (wrong !== null) failures++;
      const found = result.broken === null ? 'no counterexample' : `breaks: ${result.broken}`;
      process.stdout.write(
        wrong === null
          ? `${asked.name.padEnd(34)} ${String(result.states).padStart(9)} states ${result.seconds.toFixed(1).padStart(6)} s  ${found}\n`
          : `${asked.name}: WRONG: ${wrong}\n`,
      );
      if (args.includes('--story') && wrong === null)
        for (const line of result.story) process.stdout.write(`    ${line}\n`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  return failures === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.slice(2));
}
