// SPDX-License-Identifier: Apache-2.0
// The events that a person lets queries read. They are kept in the `events` store until retention,
// opting out or the end of consent erases them. No outcome, note or error holds their values.
import { today } from './basics.js';
import {
  analysisOf,
  load,
  optedIn,
  queryLedgerOf,
  refused,
  streamOf,
  termOfAnalysis,
} from './query_policy.js';
import { bindTerms } from './terms.js';

/**
 * @typedef {import('../bindings/query_core.js').Event} Event
 * @typedef {import('../bindings/query_core.js').Policy} Policy
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./context.js').Outcome} Outcome
 * @typedef {import('./outbox.js').Call} Call
 * @typedef {import('./storage.js').Transaction} Transaction
 */

const EVENTS_MAX = 1000; // events of a stream
const EVENT_MAX = 1024; // bytes of an event's JSON

// An event's key is "stream/day/until/number", so that retention and order are decided without
// reading the event. No stream begins with the "~" of runs and
// windows.

/** @param {number} n @param {number} width */
const padded = (n, width) => String(n).padStart(width, '0');

/**
 * Erases the events that are as old as today's policy, or the policy of their day, allows, and the
 * events of streams that no longer exist. Events dated after today go, too: a clock was set back,
 * and their age is unknown.
 * @param {Transaction} tx
 * @param {Policy | null} policy
 * @param {number} day
 * @returns {Promise<string[]>} the keys of the events that stay
 */
export async function sweep(tx, policy, day) {
  const kept = [];
  for (const key of await tx.keys('events')) {
    if (key.startsWith('~')) continue; // run_state.js and windows.js erase those
    const [stream, from, until] = key.split('/');
    const age = day - Number(from);
    const longest = policy ? (streamOf(policy, stream)?.retention_days ?? 0) : Infinity;
    if (age >= 0 && age < longest && day < Number(until)) kept.push(key);
    else await tx.delete('events', key);
  }
  return kept;
}

/**
 * Copies the fields of an event that the schema names, or returns the code that says why the event
 * does not obey the schema. A number is finite; text and tokens are strings.
 * @param {{field: string, type: string}[]} schema
 * @param {unknown} event
 * @returns {{clean: Event, code?: string}}
 */
function cleaned(schema, event) {
  /** @type {Event} */
  const clean = {};
  if (event === null || typeof event !== 'object' || Array.isArray(event))
    return { clean, code: 'event-type' };
  for (const [name, value] of Object.entries(event)) {
    const type = schema.find(({ field }) => field === name)?.type;
    if (!type) return { clean, code: 'event-field' };
    if (type === 'number' ? !Number.isFinite(value) : typeof value !== 'string')
      return { clean, code: 'event-type' };
    clean[name] = value;
  }
  const isLarge = new TextEncoder().encode(JSON.stringify(clean)).length > EVENT_MAX;
  return isLarge ? { clean, code: 'event-size' } : { clean };
}

/**
 * Keeps an event for queries to read.
 * @param {Call} call
 * @param {string} stream
 * @param {Event} event
 * @returns {Promise<Outcome[]>} `stored`
 */
export async function donate({ context }, stream, event) {
  const { policy } = await load(context);
  const schema = streamOf(policy, stream);
  if (!schema) throw refused('unknown-stream');
  const { clean, code } = cleaned(schema.fields, event);
  if (code) throw refused(code);
  const day = today(context.deps);
  const isKept = await context.exclusive(async (tx) => {
    const keys = (await sweep(tx, policy, day)).filter((key) => key.startsWith(`${stream}/`));
    const isRead = (await optedIn(tx)).some((name) => analysisOf(policy, name)?.stream === stream);
    if (!isRead) throw refused('not-opted-in');
    const last = Math.max(0, ...keys.map((key) => Number(key.split('/')[3])));
    for (const key of keys.slice(0, Math.max(0, keys.length + 1 - EVENTS_MAX)))
      await tx.delete('events', key);
    const until = day + schema.retention_days;
    const key = [stream, padded(day, 6), padded(until, 6), padded(last + 1, 12)].join('/');
    await tx.put('events', key, clean);
    return true;
  });
  return [isKept ? { recipe: null, code: 'stored' } : context.note('no-consent')];
}

/**
 * Opts in to an analysis or out of it.
 * @param {Call} call
 * @param {string} name
 * @param {boolean} yes
 * @returns {Promise<Outcome[]>} `opted-in` or `opted-out`
 */
export async function optIn({ context }, name, yes = true) {
  if (!yes) return optOut(context, name);
  const loaded = await load(context);
  const analysis = analysisOf(loaded.policy, name);
  if (!analysis) throw refused('unknown-analysis');
  await bindTerms(context, 'opted', [termOfAnalysis(context, analysis)], 'all');
  const isDone = await context.exclusive(async (tx) => {
    await queryLedgerOf(tx, loaded, today(context.deps));
    await tx.put('state', 'analyses', [...new Set([...(await optedIn(tx)), name])]);
    return true;
  });
  return [isDone ? { recipe: null, code: 'opted-in' } : context.note('no-consent')];
}

/**
 * Opts out, even if the policy cannot be loaded. Then it is unknown what else reads an event, so
 * all events are erased.
 * @param {Context} context
 * @param {string} name
 * @returns {Promise<Outcome[]>}
 */
async function optOut(context, name) {
  const policy = await load(context).then(
    (loaded) => loaded.policy,
    () => null,
  );
  const isDone = await context.exclusive(async (tx) => {
    const others = (await optedIn(tx)).filter((other) => other !== name);
    const read = others.map((other) => policy && analysisOf(policy, other)?.stream);
    await tx.put('state', 'analyses', others);
    for (const key of await tx.keys('events')) {
      if (!key.startsWith('~') && !read.includes(key.split('/')[0])) await tx.delete('events', key);
    }
    for (const [key, row] of await tx.entries('queue'))
      if (row.query === name) await tx.delete('queue', key);
    return true;
  });
  return [isDone ? { recipe: null, code: 'opted-out' } : context.note('no-consent')];
}

/**
 * Erases old events, and begins the ledger of queries, so that the first days of a policy count
 * from today.
 * @param {Call} call
 * @returns {Promise<Outcome[]>} none
 */
export async function tidy({ context }) {
  const loaded = context.options.policy ? await load(context).catch(() => null) : null;
  const day = today(context.deps);
  await context.exclusive(async (tx) => {
    await sweep(tx, loaded && loaded.policy, day);
    if (loaded) await queryLedgerOf(tx, loaded, day);
  });
  return [];
}
