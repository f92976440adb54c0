// SPDX-License-Identifier: Apache-2.0
// Answers queries. It checks every query that comes (signature, policy, ledger), answers each at
// most once, and logs what was asked. The steps of an answer: consent and opt-in, a good signature,
// a durable debit, an event, randomizing in the core, and the queue as for any record. This is a
// chunk of its own, loaded if a page has a policy. Source: apple-2022 sections 4 to 4.3.
import {
  Refusal,
  chunk,
  isRefusal,
  isSampled,
  pick,
  randomBytes,
  readStored,
  today,
  toldAs,
} from './basics.js';
import { booksOf } from './books.js';
import { chargeBooks } from './query_charges.js';
import { sweep } from './query_events.js';
import { heard, settle } from './query_log.js';
import {
  QUERY_REASONS,
  analysisOf,
  load,
  optedIn,
  queryLedgerOf,
  refused,
  termOfAnalysis,
} from './query_policy.js';
import { served } from './served.js';
import { agrees, bindTerms } from './terms.js';

export { charges } from './query_charges.js';
export { donate, optIn, tidy } from './query_events.js';
export { log } from './query_log.js';
export { QUERY_REASONS };

/**
 * @typedef {import('../bindings/device.js').RecipeJson} RecipeJson
 * @typedef {import('../bindings/query_core.js').Event} Event
 * @typedef {import('../bindings/query_core.js').Query} Query
 * @typedef {import('../bindings/query_core.js').QueryCore} QueryCore
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./context.js').Outcome} Outcome
 * @typedef {import('./outbox.js').Call} Call
 * @typedef {import('./query_log.js').LogRow} LogRow
 * @typedef {import('./query_policy.js').Loaded} Loaded
 * @typedef {import('./storage.js').Transaction} Transaction
 * @typedef {(query: Query) => Promise<boolean>} IsLogged
 */

const ASKED_MAX = 64; // queries in one call
const QUERY_MAX = 1 << 20; // characters of a query's JSON
const SAMPLED_MAX = 512; // remembered queries whose sample leaves this device out
const NOTES_MAX = 200; // notes that name what a server sent

/**
 * The last call of ask of each client. They go one after another, because a module holds few
 * queries.
 * @type {WeakMap<Context, Promise<unknown>>}
 */
const asking = new WeakMap();

/**
 * Answers queries.
 * @param {Call} call
 * @param {RecipeJson[]} [queries] by default those that the endpoint serves
 * @returns {Promise<Outcome[]>} one for each query
 */
export function ask(call, queries) {
  const before = asking.get(call.context) ?? Promise.resolve();
  const run = before.then(() => askAll(call, queries));
  asking.set(
    call.context,
    run.catch(() => {}), // only the caller of this ask learns of the error
  );
  return run;
}

/** @param {Call} call @param {RecipeJson[]} [queries] */
async function askAll(call, queries) {
  const { context } = call;
  await call.recipes.ready(); // the budget ledger is the page's core's
  const loaded = await load(context);
  // An opt-in of an earlier version has no terms.
  const joined = (await context.exclusive(optedIn)) ?? [];
  const analyses = joined.map((name) => analysisOf(loaded.policy, name)).filter(Boolean);
  const terms = analyses.map((each) => termOfAnalysis(context, each));
  await bindTerms(context, 'opted', terms, 'missing');
  const code = await context.unsendable();
  if (code) throw new Refusal(code);
  const list = queries ?? (await fetched(context));
  if (!Array.isArray(list)) throw refused('queries-missing');
  const outcomes = [];
  const isLogged = once(() => loggedOf(context));
  for (const json of list.slice(0, ASKED_MAX))
    outcomes.push(await answer(call, loaded, json, isLogged));
  if (list.length > ASKED_MAX) outcomes.push(await refuse(context, heard(null, null), 'too-many'));
  return outcomes;
}

/** The queries that the endpoint serves. @param {Context} context @returns {Promise<unknown>} */
async function fetched(context) {
  try {
    return (await served(context, 'queries')).queries;
  } catch (error) {
    throw refused('queries-missing', error);
  }
}

/**
 * Notes what happened to a query. A server may send any number of names, so notes beyond NOTES_MAX
 * have no name.
 * @param {Context} context
 * @param {string} code
 * @param {string | null} recipe
 * @param {string} [text]
 * @param {unknown} [cause]
 * @returns {Outcome}
 */
function noted(context, code, recipe, text, cause) {
  const isNamed = context.notes.size < NOTES_MAX || context.notes.has(`${code} ${recipe}`);
  return { ...context.note(code, isNamed ? recipe : null, text, cause), recipe };
}

/**
 * Takes one query through all steps.
 * @param {Call} call
 * @param {Loaded} loaded
 * @param {any} json
 * @param {() => Promise<IsLogged>} isLogged opens the log
 * @returns {Promise<Outcome>}
 */
async function answer(call, loaded, json, isLogged) {
  const { context } = call;
  let query;
  try {
    ({ loaded, query } = await read(context, loaded, json));
  } catch (error) {
    const { field } = /** @type {any} */ (error);
    const code = isRefusal(error) ? error.code : 'malformed';
    return refuse(context, heard(null, json), code, field);
  }
  const { core, policy } = loaded;
  try {
    const row = heard(policy, query);
    const forged = await verified(query, policy.keys);
    if (forged) return await refuse(context, row, forged);
    if (!(await (await isLogged())(query))) return await refuse(context, row, 'not-logged');
    const books = await booksOf(context).catch((error) => {
      throw refused('core-missing', error);
    });
    const paid = await context.exclusive((tx) => debit(tx, context, books, loaded, query, row));
    if (!paid) return context.note('no-consent');
    if (!paid.events) return noted(context, row.code, row.query, row.text);
    return await report(call, loaded, query, paid.events);
  } catch (error) {
    const { code, text, cause } = toldAs(error);
    return noted(context, code, query.id, text, cause);
  } finally {
    core.release(query);
  }
}

/**
 * Opens the page's log. A page without one takes every query that is signed.
 * @param {Context} context
 * @returns {Promise<IsLogged>}
 */
async function loggedOf(context) {
  if (!context.options.log) return async () => true;
  const isIn = await (await chunk(import('./log.js'))).logged(context);
  return ({ queryHash }) => isIn('query', queryHash);
}

/**
 * Makes a function that runs once, and returns its first result again.
 * @template T
 * @param {() => T} run
 */
function once(run) {
  /** @type {T | undefined} */
  let result;
  return () => (result ??= run());
}

/**
 * Returns why the signature is not valid, or null if it is.
 * @param {Query} query
 * @param {string[]} keys
 */
async function verified(query, keys) {
  const { verifySignature } = await import('../bindings/signature.js').catch((error) => {
    throw refused('core-missing', error);
  });
  return verifySignature(query, keys);
}

/**
 * Returns the query, and the core that could read it. That is the whole module for a mechanism that
 * the policy names and the module for queries lacks.
 * @param {Context} context
 * @param {Loaded} loaded
 * @param {any} json
 * @returns {Promise<{loaded: Loaded, query: Query}>}
 */
async function read(context, loaded, json) {
  try {
    return { loaded, query: readQuery(loaded.core, json) };
  } catch (error) {
    const isAllowed = () =>
      loaded.policy.json.analyses.some((/** @type {any} */ { mechanisms }) =>
        mechanisms.includes(json.mechanism),
      );
    const { code, field } = /** @type {any} */ (error);
    const isLacking =
      code === 'mechanism' || /^encoding\.\d\.(starts|characters|step)$/.test(field);
    if (!isLacking || context.options.queryWasm || !isAllowed()) throw error;
  }
  const whole = await load(context, true);
  return { loaded: whole, query: readQuery(whole.core, json) };
}

/** @param {QueryCore} core @param {any} json */
function readQuery(core, json) {
  if (JSON.stringify(json).length > QUERY_MAX) throw new RangeError('the query is too long');
  const query = core.query(json);
  // The device chooses the part itself, and a query that reads no field is not about events.
  const field = query.json.part ? 'part' : query.fields.length ? null : 'encoding';
  if (field === null) return query;
  core.release(query);
  throw Object.assign(new RangeError(`${field} is refused`), { field });
}

/**
 * Checks, debits and reads, in one transaction: the new ledger is durable when it resolves. Of the
 * events, only the fields that the query was granted are read.
 * @param {Transaction} tx
 * @param {Context} context
 * @param {import('../bindings/device.js').Core} books charges the budget ledger
 * @param {Loaded} loaded
 * @param {Query} query
 * @param {LogRow} row is completed
 * @returns {Promise<{events?: Event[]}>}
 */
async function debit(tx, context, books, loaded, query, row) {
  const { core, policy } = loaded;
  const { deps } = context;
  const now = deps.now();
  const day = today(deps);
  if (row.analysis && !(await optedIn(tx)).includes(row.analysis))
    return settle(tx, now, row, 'not-opted-in');
  const analysis = analysisOf(policy, query.analysis);
  if (analysis && !(await agrees(tx, termOfAnalysis(context, analysis))))
    return settle(tx, now, row, 'outdated');
  const ledger = await queryLedgerOf(tx, loaded, day);
  const { verdict, bytes } = readStored(() => core.accountant.debit(ledger, policy, query, day));
  if (verdict.refusal) return settle(tx, now, row, verdict.refusal, verdict);
  // A device that the sample leaves out drops the new ledger, so nothing is charged.
  if (await isLeftOut(tx, context, query, day))
    return settle(tx, now, row, 'sampled-out', { ...verdict, text: '' });
  const code = await chargeBooks(tx, context, books, query, verdict.localEpsilon);
  if (code) return settle(tx, now, row, code, { ...verdict, text: QUERY_REASONS[code] ?? '' });
  await tx.put('state', 'accountant', bytes);
  await settle(tx, now, row, 'accepted', verdict);
  await sweep(tx, policy, day);
  const granted = new Set([...query.fields.map(({ field }) => field), ...query.splits]);
  const events = (await tx.entries('events')).filter(([key]) => key.startsWith(`${query.stream}/`));
  return {
    events: events.map(([, event]) =>
      Object.fromEntries(Object.entries(event).filter(([name]) => granted.has(name))),
    ),
  };
}

/**
 * Returns whether the query's sample leaves this device out. The coin is tossed once, and a
 * repeated query gets the same answer.
 * @param {Transaction} tx
 * @param {Context} context
 * @param {Query} query
 * @param {number} day
 */
async function isLeftOut(tx, context, query, day) {
  /** @type {[string, number][]} */
  const left = ((await tx.get('state', 'sampled')) ?? []).filter(
    (/** @type {[string, number]} */ [, expires]) => expires >= day,
  );
  if (left.some(([hash]) => hash === query.queryHash)) return true;
  if (isSampled(context.deps, query.send.sample)) return false;
  const more = [...left, [query.queryHash, query.expiresDay]];
  await tx.put('state', 'sampled', more.slice(-SAMPLED_MAX));
  return true;
}

/**
 * Makes the reports of a query that was paid for, and puts each into the queue with a key and a
 * delay of its own. A failure from here on loses them and refunds nothing.
 * @param {Call} call
 * @param {Loaded} loaded
 * @param {Query} query
 * @param {Event[]} events
 * @returns {Promise<Outcome>}
 */
async function report({ context, outbox, era }, loaded, query, events) {
  const accepted = `accepted ${query.queryHash}`;
  let code = 'no-consent';
  for (const json of reportsOf(context, loaded, query, events)) {
    const more = async (/** @type {Transaction} */ tx, /** @type {string} */ id) => {
      if (!(await optedIn(tx)).includes(query.analysis)) return null; // opted out meanwhile
      const row = await tx.get('log', accepted);
      if (row) await tx.put('log', accepted, withReport(row, id));
      return { query: query.analysis, expires: query.expiresDay };
    };
    code = await outbox.enqueue(query, json, era, { more });
    if (code !== 'queued') return noted(context, code, query.id);
  }
  return { recipe: query.id, code };
}

/** @param {LogRow} row @param {string} id of one more report @returns {LogRow} */
const withReport = (row, id) =>
  row.report ? { ...row, more: [...(row.more ?? []), id] } : { ...row, report: id };

/**
 * @param {Context} context
 * @param {Loaded} loaded
 * @param {Query} query
 * @param {Event[]} events
 */
function reportsOf(context, { core }, query, events) {
  // A part is sent in the clear. It is that of a random event, whether the event matches or not.
  // The part of the answer itself would reveal which events match.
  const part = query.splits.length ? query.part(pick(context.deps, events) ?? {}) : null;
  const own = part ? events.filter((event) => query.part(event).join() === part.join()) : events;
  const asked = part ? core.query({ ...query.json, part }) : query;
  try {
    const records = query.contributions
      ? recordsOfWords(context, asked, own)
      : [recordOfEvent(context, asked, own)];
    return records.map((record) => asked.report(record));
  } finally {
    if (part) core.release(asked);
  }
}

/**
 * Makes a record of one of the events that the query is about, or of a random cell if there is
 * none.
 * @param {Context} context
 * @param {Query} query
 * @param {Event[]} events
 */
function recordOfEvent({ deps }, query, events) {
  const event = pick(
    deps,
    events.filter((each) => query.item(each) !== null),
  );
  const seed = randomBytes(deps, 32);
  const other = randomBytes(deps, 32);
  try {
    return query.randomize(event ? query.item(event) : query.randomItem(other), seed);
  } finally {
    seed.fill(0);
    other.fill(0);
  }
}

/**
 * Makes the records of all words together.
 * @param {Context} context
 * @param {Query} query
 * @param {Event[]} events
 */
function recordsOfWords({ deps }, query, events) {
  const seed = randomBytes(deps, 32);
  try {
    return query.answers(events, seed);
  } finally {
    seed.fill(0);
  }
}

/**
 * Refuses a query before it reaches the ledger.
 * @param {Context} context
 * @param {LogRow} row
 * @param {string} code
 * @param {string | null} [field]
 * @returns {Promise<Outcome>}
 */
async function refuse(context, row, code, field = null) {
  const verdict = { text: '', field, localEpsilon: 0, centralEpsilon: 0 };
  const now = context.deps.now();
  const isWritten = await context.exclusive((tx) => settle(tx, now, row, code, verdict));
  return isWritten ? noted(context, code, row.query, row.text) : context.note('no-consent');
}
