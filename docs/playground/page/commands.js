// SPDX-License-Identifier: Apache-2.0
// A crowd from its plan to its result, by the commands of shoal. The worker runs them in
// WebAssembly, and the page prints them for a person to run.

/** @typedef {import('./crowd.js').Settings} Settings */
/**
 * @typedef {{code: number, stdout: Uint8Array, stderr: Uint8Array, files: {[name: string]:
 *   Uint8Array}}} Ran
 * @typedef {(args: string[], files: {[name: string]: Uint8Array}) => Promise<Ran>} Shoal
 * @typedef {{mechanism: string, parameters: {[name: string]: number}, stderr: number,
 *   smallest_share: number | null, detectable: number | null, record_bytes: number}} Candidate
 * @typedef {{n: number, rows: {value: string, count: number, low: number, high: number, detected:
 *   boolean, truth: number}[], mechanism: string, isNothing: boolean, candidates: Candidate[],
 *   commands: string}} Drawn
 */

const EXPIRES_DAYS = 180;
const DAY_MS = 86_400_000;
const decoder = new TextDecoder();

/** A word of a shell's line. @param {string} word */
const quoted = (word) =>
  /^[A-Za-z0-9_./=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** @param {Settings} settings */
export const planCommand = ({ devices, epsilon }) => [
  ...['plan', '--counts', 'counts.tsv', '--devices', String(devices)],
  ...['--epsilon', String(epsilon), '--all', '--format', 'json'],
];

/**
 * The commands from a recipe to its result, in order, each with the files that it reads and writes.
 * @param {Settings} settings
 * @param {Candidate} candidate what the planner advises for the mechanism
 * @param {number} now in milliseconds
 */
export function commandsOf({ devices, seed }, { mechanism, parameters }, now) {
  const expires = new Date(now + EXPIRES_DAYS * DAY_MS).toISOString().slice(0, 10);
  const given = Object.entries(parameters).filter(([name]) => name !== 'size');
  return [
    {
      args: [
        ...['recipe', 'new', '--id', 'playground', '--expires', expires],
        ...['--mechanism', mechanism, '--values', 'values.txt'],
        ...given.flatMap(([name, value]) => [`--${name}`, String(value)]),
        ...['-o', 'recipe.json'],
      ],
      reads: ['values.txt'],
      step: 'Writing a recipe',
    },
    {
      args: [
        ...['simulate', '--recipe', 'recipe.json', '--counts', 'counts.tsv'],
        ...['--devices', String(devices), '--seed', `crowd ${seed}`],
        ...['--truth', 'truth.tsv', '-o', 'reports.batch'],
      ],
      reads: ['recipe.json', 'counts.tsv'],
      step: `Drawing ${devices.toLocaleString('en-US')} devices, each with coins of its own`,
    },
    {
      args: ['ingest', '--recipe', 'recipe.json', '-o', 'sums.acc', 'reports.batch'],
      reads: ['recipe.json', 'reports.batch'],
      step: 'Adding up their records',
    },
    {
      args: ['estimate', '--recipe', 'recipe.json', '--format', 'json', 'sums.acc'],
      reads: ['recipe.json', 'sums.acc'],
      step: 'Estimating the counts',
    },
  ];
}

/** @param {Shoal} shoal @param {string[]} args @param {{[name: string]: Uint8Array}} files */
async function runOr(shoal, args, files) {
  const result = await shoal(args, files);
  if (result.code === 0) return result;
  const said = decoder.decode(result.stderr).trim().split('\n').at(-1) ?? '';
  throw new Error(said === '' ? `shoal ${args[0]} ended with ${result.code}` : said);
}

/** @param {Uint8Array} text value<TAB>count lines */
function truthOf(text) {
  /** @type {Map<string, number>} */
  const truth = new Map();
  for (const line of decoder.decode(text).split('\n')) {
    const tab = line.lastIndexOf('\t');
    if (tab > 0) truth.set(line.slice(0, tab), Number(line.slice(tab + 1)));
  }
  return truth;
}

/** The first column of a counts file. @param {Uint8Array} counts */
const valuesOf = (counts) =>
  new TextEncoder().encode(decoder.decode(counts).replace(/\t[^\n]*$/gm, ''));

/**
 * Plans, draws the crowd, randomizes each device's value, folds the records and estimates.
 * @param {Shoal} shoal
 * @param {Settings} settings
 * @param {Uint8Array} counts the counts file
 * @param {{tell: (step: string) => void, now: number}} host `tell` is called before each step
 * @returns {Promise<Drawn>}
 */
export async function drawCrowd(shoal, settings, counts, { tell, now }) {
  tell('Planning');
  /** @type {{[name: string]: Uint8Array}} */
  const files = { 'counts.tsv': counts, 'values.txt': valuesOf(counts) };
  const planned = await runOr(shoal, planCommand(settings), { 'counts.tsv': counts });
  const plan = JSON.parse(decoder.decode(planned.stdout));
  const wanted = settings.mechanism === '' ? plan.answer : settings.mechanism;
  // Of a crowd that shows nothing the planner names none; the first one is as good as the others.
  const candidate =
    plan.candidates.find((/** @type {Candidate} */ each) => each.mechanism === wanted) ??
    plan.candidates[0];
  const commands = commandsOf(settings, candidate, now);
  let last = planned;
  for (const { args, reads, step } of commands) {
    tell(step);
    last = await runOr(shoal, args, Object.fromEntries(reads.map((name) => [name, files[name]])));
    Object.assign(files, last.files);
  }
  const result = JSON.parse(decoder.decode(last.stdout));
  const truth = truthOf(files['truth.tsv']);
  return {
    n: result.n,
    rows: result.rows.map((/** @type {any} */ row) => ({
      ...row,
      truth: truth.get(row.value) ?? 0,
    })),
    mechanism: candidate.mechanism,
    isNothing: plan.answer === 'nothing',
    candidates: plan.candidates,
    commands: commands.map(({ args }) => ['shoal', ...args].map(quoted).join(' ')).join('\n'),
  };
}
