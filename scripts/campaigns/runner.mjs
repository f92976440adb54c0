// SPDX-License-Identifier: Apache-2.0
// Runs a campaign: many steps of work, each of which is small against the whole. The state is on the
// disk after each step, so a campaign that was stopped or killed goes on with the step that it was
// at. When a run ends, its counts replace the campaign's rows in a table of Markdown.
//
// This file knows nothing of what the steps do. campaign.mjs is the command.
import {
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  fsyncSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { countText, timeText, writeRows } from './rows.mjs';

/**
 * @typedef {object} At where a part is, for its next step
 * @property {string} folder the campaign's, which stays between runs
 * @property {string} log a file for what the step's programs write
 * @property {number} seed differs from step to step, and is the same when a step is run again
 * @property {number} step from 0
 * @property {number} left units up to the wanted number
 * @property {number} seconds a step that can choose its length ends after so many
 * @property {Record<string, number>} sums of the steps before
 * @property {AbortSignal} signal ends the step's programs
 *
 * @typedef {object} Outcome
 * @property {number} done units; those of a step with a finding count if they were run
 * @property {string[]} findings what was wrong, in words, each with the way to see it again
 * @property {string} [note] for the table, in place of the last step's
 * @property {Record<string, number>} [sums] added to those of the steps before
 * @property {number} [wanted] replaces the part's number, when the first step shows what is dear
 *
 * @typedef {object} Part
 * @property {string} name
 * @property {number} wanted units
 * @property {string} unit plural, such as "executions"
 * @property {(at: At) => Promise<Outcome>} step
 *
 * @typedef {object} Campaign
 * @property {string} name
 * @property {string} says what it does, in one line
 * @property {() => Promise<Part[]>} parts builds what it needs
 *
 * @typedef {object} PartState
 * @property {number} done
 * @property {number} seconds
 * @property {number} steps
 * @property {number} wanted
 * @property {string} note
 * @property {Record<string, number>} sums
 * @property {string[]} findings
 *
 * @typedef {object} State
 * @property {number} seed
 * @property {string[]} commits those whose code was run, oldest first
 * @property {Record<string, PartState>} parts
 *
 * @typedef {object} Place
 * @property {string} builds the folder of all states, build/campaigns
 * @property {string} page the Markdown file with the table
 * @property {() => string} commit of the code
 * @property {() => string} date as YYYY-MM-DD
 * @property {(text: string) => void} say
 *
 * @typedef {object} Options
 * @property {number} [seed] default: 1, or that of the run before
 * @property {number} [minutes] of this run; default: until all is done
 * @property {boolean} [isFresh] forgets the run before; with `only`, that of those parts
 * @property {string} [only] the parts whose names contain it
 * @property {AbortSignal} [signal] ends the run after its rows are written
 */

/** A campaign or an option that is not there; the message is for the person who typed it. */
export class BadUse extends Error {}

/** A part that was wrong so often is left: it would be wrong again. */
const FINDINGS_MAX = 3;
const STEP_SECONDS = 60;

/** The file is the old one or the new one at any moment. @param {string} file @param {string} text */
function replaceFile(file, text) {
  const descriptor = openSync(`${file}.new`, 'w');
  writeSync(descriptor, text);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(`${file}.new`, file);
}

/** @param {Place} place @param {string} name @returns {State | null} */
export function stateOf(place, name) {
  const file = join(place.builds, name, 'state.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

/** Two runs of one campaign would overwrite each other's state. @param {string} folder */
function takeLock(folder) {
  const lock = join(folder, 'lock');
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    process.kill(pid, 0);
    throw new BadUse(`process ${pid} is running this campaign`);
  } catch (error) {
    if (error instanceof BadUse) throw error; // else there is no lock, or its process is gone
  }
  writeFileSync(lock, String(process.pid));
  return () => rmSync(lock, { force: true });
}

/** @param {Place} place @param {Campaign} campaign @param {Options} options @returns {State} */
function startState(place, campaign, { seed, isFresh, only }) {
  const before = isFresh && !only ? null : stateOf(place, campaign.name);
  if (before && seed !== undefined && before.seed !== seed)
    throw new BadUse(
      `${campaign.name} is under way with seed ${before.seed}; FRESH=1 begins anew with seed ${seed}`,
    );
  for (const name of Object.keys(before?.parts ?? {}))
    if (before && isFresh && name.includes(only ?? '')) delete before.parts[name];
  return before ?? { seed: seed ?? 1, commits: [], parts: {} };
}

/** @param {State} state @param {Part} part @returns {PartState} */
const partState = (state, part) =>
  (state.parts[part.name] ??= {
    done: 0,
    seconds: 0,
    steps: 0,
    wanted: part.wanted,
    note: '',
    sums: {},
    findings: [],
  });

/** @param {PartState} part */
const isOver = (part) => part.done >= part.wanted || part.findings.length >= FINDINGS_MAX;

/** The seed of a step, a positive number below 2^31. @param {State} state @param {PartState} part */
const seedOf = (state, part) => ((state.seed * 1_000_003 + part.steps) % 2_147_483_646) + 1;

/** @param {PartState} part @param {Outcome} outcome @param {number} seconds */
function addStep(part, outcome, seconds) {
  part.done += outcome.done;
  part.seconds += seconds;
  part.steps++;
  part.wanted = outcome.wanted ?? part.wanted;
  part.note = outcome.note ?? part.note;
  part.findings.push(...outcome.findings);
  for (const [key, value] of Object.entries(outcome.sums ?? {}))
    part.sums[key] = (part.sums[key] ?? 0) + value;
}

/** @param {Place} place @param {string} name @param {State} state */
const rowsOf = (place, name, state) =>
  Object.entries(state.parts)
    .filter(([, part]) => part.steps > 0)
    .map(([part, { done, wanted, note, seconds, findings }]) => ({
      campaign: name,
      part,
      done: countText(done),
      wanted: countText(wanted),
      time: timeText(seconds),
      date: place.date(),
      commit: [...new Set([state.commits[0], state.commits.at(-1)])].join(' to '),
      findings: String(findings.length),
      note,
    }));

/**
 * The parts that have steps left, the one that had the least time first, so that a short run sees
 * all of them.
 * @param {State} state @param {Part[]} parts
 */
const nextPart = (state, parts) =>
  parts
    .filter((part) => !isOver(partState(state, part)))
    .sort((a, b) => partState(state, a).seconds - partState(state, b).seconds)[0];

/**
 * One step, whose outcome is in the state afterwards. A step that was stopped leaves no trace.
 * @param {Place} place @param {string} folder @param {State} state @param {Part} part
 * @param {number} seconds @param {AbortSignal} signal
 */
async function runStep(place, folder, state, part, seconds, signal) {
  const now = partState(state, part);
  const log = join(folder, `${part.name.replaceAll(/\W+/g, '-')}-${now.steps}.log`);
  const started = performance.now();
  const outcome = await part.step({
    folder,
    log,
    seed: seedOf(state, now),
    step: now.steps,
    left: now.wanted - now.done,
    seconds,
    sums: { ...now.sums },
    signal,
  });
  if (signal.aborted) return;
  const took = (performance.now() - started) / 1000;
  addStep(now, outcome, took);
  replaceFile(join(folder, 'state.json'), JSON.stringify(state, null, 1));
  if (outcome.findings.length === 0) rmSync(log, { force: true });
  for (const finding of outcome.findings) place.say(`FOUND in ${part.name}: ${finding}\n`);
  place.say(
    `${part.name}: ${countText(now.done)} of ${countText(now.wanted)} ${part.unit}` +
      ` in ${timeText(now.seconds)}${now.note ? `, ${now.note}` : ''}\n`,
  );
}

/**
 * Runs a campaign until it is whole, its time is up, or the signal comes. The rows are written in
 * each of these cases.
 * Returns: the number of findings so far, and whether all was done. Throws: BadUse.
 * @param {Place} place @param {Campaign} campaign @param {Options} options
 */
export async function runCampaign(place, campaign, options) {
  const folder = join(place.builds, campaign.name);
  const signal = options.signal ?? new AbortController().signal;
  mkdirSync(folder, { recursive: true });
  const release = takeLock(folder);
  try {
    const state = startState(place, campaign, options);
    const all = await campaign.parts();
    const parts = all.filter(({ name }) => name.includes(options.only ?? ''));
    if (parts.length === 0)
      throw new BadUse(
        `${campaign.name} has no part "${options.only}": ${all.map(({ name }) => name).join(', ')}`,
      );
    const commit = place.commit();
    if (state.commits.at(-1) !== commit) state.commits.push(commit);
    const end = performance.now() + (options.minutes ?? Infinity) * 60_000;
    const ahead = () => (end - performance.now()) / 1000;
    // All parts have a turn, also in a short run.
    const turn = Math.min(STEP_SECONDS, Math.max(2, Math.ceil(ahead() / parts.length)));
    for (let part; !signal.aborted && ahead() > 1 && (part = nextPart(state, parts));) {
      const seconds = Math.min(turn, Math.ceil(ahead()));
      await runStep(place, folder, state, part, seconds, signal);
    }
    await writeRows(place.page, campaign.name, rowsOf(place, campaign.name, state));
    return {
      nFindings: Object.values(state.parts).reduce((sum, part) => sum + part.findings.length, 0),
      isWhole: all.every(({ name }) => state.parts[name] && isOver(state.parts[name])),
    };
  } finally {
    release();
  }
}
