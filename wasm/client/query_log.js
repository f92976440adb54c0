// SPDX-License-Identifier: Apache-2.0
// The log of queries. It has a row for each query that came, answered or refused, with a sentence
// for the person. No row holds a raw value.
import { QUERY_REASONS, analysisOf } from './query_policy.js';

/**
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 * @typedef {import('../bindings/query_core.js').Policy} Policy
 * @typedef {import('../bindings/query_core.js').Verdict} Verdict
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {object} Asked what a query asks for
 * @property {{field: string, buckets: number}[]} fields
 * @property {number} cells of all fields together
 * @property {string[]} splitBy
 * @property {number} contributions reports of this device, each of one of its words or of none; 0:
 *   one report of one event
 * @property {number} localEpsilon of one report
 * @property {number} personEpsilon of all of them, everything that this device says
 * @property {number} centralEpsilon of the sum over the cohort, as it claims; with contributions,
 *   of one of them
 * @property {number} amplified what that cohort gives, as this device computed it; 0 before it was
 *   looked at
 * @property {number} delta
 * @property {number} minimum reports in the cohort, one a person unless there are contributions
 *
 * @typedef {object} LogRow
 * @property {number} at
 * @property {string | null} query its id; null where it could not be read
 * @property {string | null} hash of what was signed
 * @property {string | null} analysis null where the policy has none of that name
 * @property {number} round 0: not one of several
 * @property {'accepted' | 'refused'} outcome
 * @property {string} code `accepted`, or why not
 * @property {string} text a sentence
 * @property {string | null} field that a refusal is about
 * @property {number} count how often the same was refused
 * @property {Asked | null} asked
 * @property {string | null} report key of its record in the queue; null before there is one
 * @property {string[]} [more] of the other records, of a query with contributions
 *
 * @typedef {'queued' | 'sent' | 'refused' | 'none'} State
 * @typedef {Omit<LogRow, 'at' | 'report' | 'more'> & {at: string, report: ReportJson | null, state:
 *   State, reports: {state: State, report: ReportJson}[]}} LogEntry `at` in ISO 8601; `reports` is
 *   what was answered, as far as it is still known, and `report` the first of them; `state` is
 *   `queued` while one of them is, and `none` where nothing was answered, or it was erased or lost
 */

const LOG_MAX = 500;
const ALIKE_MAX = 8; // refusals of one analysis for one reason that are listed one by one

/** The state of several reports is the first of these that one of them has. @type {State[]} */
const STATES = ['queued', 'refused', 'sent'];

/**
 * Makes the row of a query that came.
 * @param {Policy | null} policy
 * @param {any} query checked, or null and the JSON that it should be
 * @returns {LogRow}
 */
export function heard(policy, query) {
  const id = policy ? query.id : query?.recipe;
  return {
    at: 0,
    // A query that the core could not read may contain anything.
    query: typeof id === 'string' && /^[a-z0-9][a-z0-9._-]{0,63}$/.test(id) ? id : null,
    hash: policy && query.queryHash,
    analysis: policy && analysisOf(policy, query.analysis) ? query.analysis : null,
    round: policy ? query.round : 0,
    outcome: 'refused',
    code: '',
    text: '',
    field: null,
    count: 1,
    asked: policy && {
      fields: query.fields.map((/** @type {any} */ { field, size }) => ({ field, buckets: size })),
      cells: query.size,
      splitBy: query.splits,
      contributions: query.contributions,
      localEpsilon: query.epsilonMicro / 1e6,
      personEpsilon: together(query.contributions, query.epsilonMicro / 1e6),
      centralEpsilon: query.claim.epsilon,
      amplified: 0,
      delta: query.claim.delta,
      minimum: query.cohort.minimum,
    },
    report: null,
  };
}

/** Epsilon of all reports of one device. @param {number} contributions @param {number} epsilon */
const together = (contributions, epsilon) => Math.round((contributions || 1) * epsilon * 1e6) / 1e6;

/**
 * Completes the row of a query with the decision, and stores it.
 * @param {Transaction} tx
 * @param {number} now
 * @param {LogRow} row
 * @param {string} code
 * @param {Pick<Verdict, 'text' | 'field' | 'localEpsilon' | 'centralEpsilon'>} [verdict]
 */
export async function settle(tx, now, row, code, verdict) {
  Object.assign(row, { at: now, code, outcome: code === 'accepted' ? code : 'refused' });
  row.text = verdict?.text || QUERY_REASONS[code];
  // A field that the core does not know may have any name.
  row.field = /^[\w.-]{1,64}$/.exec(verdict?.field ?? '')?.[0] ?? null;
  if (row.asked && verdict?.localEpsilon) {
    const { localEpsilon, centralEpsilon: amplified } = verdict;
    Object.assign(row.asked, {
      localEpsilon,
      amplified,
      personEpsilon: together(row.asked.contributions, localEpsilon),
    });
  }
  await write(tx, row);
  return {};
}

/**
 * Writes a row. A repeated refusal is counted in its row. Refusals of one analysis for one reason
 * beyond ALIKE_MAX share a row, too, so that many queries cannot push out other rows. Answers are
 * kept longest.
 * @param {Transaction} tx
 * @param {LogRow} row
 */
async function write(tx, row) {
  const rows = new Map(/** @type {[string, LogRow][]} */ (await tx.entries('log')));
  const kind = `${row.outcome} ${row.code} ${row.analysis} `;
  let key = row.outcome === 'accepted' ? `accepted ${row.hash}` : kind + (row.hash ?? row.query);
  if (row.outcome === 'refused' && !rows.has(key)) {
    const alike = [...rows.keys()].filter((other) => other.startsWith(kind));
    if (alike.length >= ALIKE_MAX) key = `${kind}*`;
  }
  if (row.outcome === 'refused') row.count = (rows.get(key)?.count ?? 0) + 1;
  await tx.put('log', key, row);
  const oldest = [...rows.set(key, row)].sort(
    ([, a], [, b]) =>
      Number(a.outcome === 'accepted') - Number(b.outcome === 'accepted') || a.at - b.at,
  );
  for (const [old] of oldest.slice(0, Math.max(0, rows.size - LOG_MAX)))
    await tx.delete('log', old);
}

/** What a query asks for, in words. @param {Asked} asked */
function wanted({
  fields,
  cells,
  splitBy,
  contributions,
  localEpsilon,
  personEpsilon,
  centralEpsilon,
  minimum,
}) {
  const list = fields.map(({ field, buckets }) => `${field} (${buckets} buckets)`).join(' and ');
  const split = splitBy.length ? `, apart for each ${splitBy.join(' and ')}` : '';
  const what = `asks for ${list}, one of ${cells} answers${split}; epsilon ${localEpsilon} of one report`;
  if (!contributions)
    return `${what}, ${centralEpsilon} of the sum over at least ${minimum} people`;
  return (
    `${what}, that is of one word, and ${personEpsilon} of all ${contributions} reports of this device together, ` +
    `${centralEpsilon} of each of them in the sum of at least ${minimum} reports`
  );
}

/** @param {LogRow} row @param {string} time */
function sentence(row, time) {
  const name =
    row.query === null ? 'a query' : `"${row.query}"${row.round ? `, round ${row.round}` : ''}`;
  const what = row.asked ? `: it ${wanted(row.asked)}` : '';
  if (row.outcome === 'accepted') return `Answered at ${time}: ${name}${what}.`;
  const more = row.count > 1 ? ` (${row.count} times, last)` : '';
  const why = row.field === null ? row.text : `${row.text.slice(0, -1)}: ${row.field}.`;
  return `Refused${more} at ${time}: ${name}${what}. ${why}`;
}

/**
 * Lists what was asked, and what became of it, newest first.
 * @param {Context} context
 * @returns {Promise<LogEntry[]>}
 */
export async function log(context) {
  if (!(await context.hasStorage())) return [];
  const [rows, queue, done] = await context.transaction((tx) =>
    Promise.all([tx.entries('log'), tx.entries('queue'), tx.entries('done')]),
  );
  const records = new Map([
    ...queue.map(([key, row]) => /** @type {const} */ ([key, { ...row, state: 'queued' }])),
    ...done,
  ]);
  return rows
    .map(([, row]) => /** @type {LogRow} */ (row))
    .sort((a, b) => b.at - a.at || b.round - a.round)
    .map((row) => entryOf(row, records));
}

/** @param {LogRow} row @param {Map<string, any>} records by key @returns {LogEntry} */
function entryOf({ report: first, more = [], ...row }, records) {
  const reports = [first ?? '', ...more]
    .map((key) => records.get(key))
    .filter((record) => record !== undefined)
    .map(({ state, report }) => ({ state, report }));
  const state = STATES.find((each) => reports.some((report) => report.state === each)) ?? 'none';
  const at = new Date(row.at).toISOString();
  const text = sentence({ ...row, report: null }, at);
  return { ...row, at, text, state, report: reports[0]?.report ?? null, reports };
}
