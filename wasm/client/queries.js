// SPDX-License-Identifier: Apache-2.0
// Questions in rounds: what a device does with queries. Keeps the events that a person lets queries read, looks at every query that
// comes (signature, policy, accountant), answers each at most once, and writes down what was asked. The way of an answer:
// consent and opt-in? -> signed? -> checked and debited, durably -> an event -> randomized in the core -> queue -> as any record.
// A chunk of its own, loaded where a page ships a policy. Raw values are in the `events` store and nowhere else: none is in the
// log, an outcome, a note or an error. Source: apple-2022 sections 4 to 4.3.
import { QueryCore } from '../bindings/query_core.js';
import { RUN, served } from './served.js';
import { loadModule } from '../bindings/web.js';

/**
 * @typedef {import('./client.js').View} View
 * @typedef {import('./client.js').Outcome} Outcome
 * @typedef {import('./client.js').Row} Row
 * @typedef {import('../bindings/device.js').RecipeJson} RecipeJson
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 * @typedef {import('../bindings/query_core.js').Event} Event
 * @typedef {import('../bindings/query_core.js').Policy} Policy
 * @typedef {import('../bindings/query_core.js').PolicyJson} PolicyJson
 * @typedef {import('../bindings/query_core.js').Query} Query
 * @typedef {import('../bindings/query_core.js').Verdict} Verdict
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {{core: QueryCore, policy: Policy}} Loaded
 *
 * @typedef {object} Asked what a query wants to know
 * @property {{field: string, buckets: number}[]} fields
 * @property {number} cells of all fields together
 * @property {string[]} splitBy
 * @property {number} contributions reports of this device, each of one of its words or of none; 0: one report of one event
 * @property {number} localEpsilon of one report
 * @property {number} personEpsilon of all of them, everything that this device says
 * @property {number} centralEpsilon of the sum over the cohort, as it claims; with contributions, of one of them
 * @property {number} amplified what that cohort gives, as this device computed it; 0 before it was looked at
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
 * @typedef {Omit<LogRow, 'at' | 'report' | 'more'> & {at: string, report: ReportJson | null, state: State,
 *   reports: {state: State, report: ReportJson}[]}} LogEntry
 *   `at` in ISO 8601; `reports` is what was answered, as far as it is still known, and `report` the first of them; `state` is `queued` while
 *   one of them is, and `none` where nothing was answered, or it was erased or lost
 *
 * @typedef {{used: number, allowed: number}} Use
 * @typedef {object} Charge what an analysis, or a field of it, was charged for queries
 * @property {string} analysis
 * @property {string | null} field null: of the analysis itself
 * @property {boolean} optedIn
 * @property {Use} reports
 * @property {Use} epsilon of the cohort's sum, composed as the policy says
 * @property {Use | null} delta of the analysis
 * @property {number} itemEpsilon local epsilon of one report, at most
 * @property {Use} userEpsilon local epsilon of all reports of this person together
 */

const EVENTS_MAX = 1000; // of a stream
const EVENT_MAX = 1024; // bytes of its JSON
const ASKED_MAX = 64; // queries of one call
const BODY_MAX = 1 << 20;
const SAMPLED_MAX = 512; // queries that the coin left out, remembered
const LOG_MAX = 500;
const ALIKE_MAX = 8; // refusals of one analysis for one reason that are listed one by one
const NOTES_MAX = 200; // notes that name what a server sent
const DAY_MS = 86_400_000;

/** What is said of several reports: the first of these that one of them is in. @type {State[]} */
const STATES = ['queued', 'refused', 'sent'];

/** Codes of this chunk; the accountant has its own sentences. @type {{[code: string]: string}} */
export const QUERY_REASONS = {
  'no-policy': 'This page has no policy, so no query is answered.',
  'policy-refused': 'The policy could not be loaded, or is not the one that was pinned.',
  'wasm-blocked': "The page's policy refuses WebAssembly.",
  'core-missing': 'The WebAssembly module for queries could not be loaded.',
  'unknown-stream': 'The policy has no such stream.',
  'unknown-analysis': 'The policy has no such analysis.',
  'not-opted-in': 'The person has not opted in to the analysis.',
  'event-field': "The event has a field that the stream's schema has not.",
  'event-type': "A field of the event is not of its type in the stream's schema.",
  'event-size': 'The event is larger than 1 KiB.',
  'queries-missing': 'The queries could not be fetched.',
  'too-many': 'More than 64 queries came at once; the others were not looked at.',
  malformed: 'This is no query that the core can read.',
  'no-signature': 'The query is not signed.',
  'unknown-key': 'The query is signed by a key that the policy does not name.',
  'bad-signature': "The query's signature is bad: it is not what its key signed.",
  'no-ed25519': "This browser cannot check the query's signature (Ed25519), so it is not answered.",
  'sampled-out': "Not sampled: the query's random sample left this device out.",
};

/** An error that says no more than its code. */
class Refusal extends Error {
  /** @param {string} code */
  constructor(code) {
    super(QUERY_REASONS[code]);
    this.code = code;
  }
}

/** @param {View} view */
const today = ({ deps }) => Math.floor(deps.now() / DAY_MS);

/**
 * Notes what befell a query. A server may send any number of names: beyond some, notes go without.
 * @param {View} view @param {string} code @param {string | null} recipe @param {string} [text] @returns {Outcome}
 */
function noted(view, code, recipe, text) {
  const isNamed = view.notes.size < NOTES_MAX || view.notes.has(`${code} ${recipe}`);
  return { ...view.note(code, isNamed ? recipe : null, text), recipe };
}

/** Secret random bytes. @param {View} view @param {number} n */
function random({ deps }, n) {
  const bytes = new Uint8Array(n);
  deps.random(bytes);
  return bytes;
}

/** One entry of a list, each as likely as the others; undefined of an empty one. @template T @param {View} view @param {T[]} list */
export function pick(view, list) {
  // Numbers above the last multiple of the length would favour the first entries.
  const end = list.length && 2 ** 32 - (2 ** 32 % list.length);
  for (let n = end; end;) {
    n = new DataView(random(view, 4).buffer).getUint32(0);
    if (n < end) return list[n % list.length];
  }
  return undefined;
}

// ---- policy ----

/** The core and the policy of each client, with the module for queries (false) or the whole one (true). @type {WeakMap<object, Map<boolean, Promise<Loaded>>>} */
const loading = new WeakMap();

/** Once for each client; what failed is tried again. @param {View} view @param {boolean} [isWhole] @returns {Promise<Loaded>} */
function load(view, isWhole = false) {
  const cores = loading.get(view.deps) ?? new Map();
  loading.set(view.deps, cores);
  const known = cores.get(isWhole);
  if (known) return known;
  const made = open(view, isWhole);
  cores.set(isWhole, made);
  made.catch(() => cores.delete(isWhole));
  return made;
}

/** @param {View} view @param {boolean} isWhole @returns {Promise<Loaded>} */
async function open({ deps, options: { policy, queryWasm }, source }, isWhole) {
  if (!policy) throw new Refusal('no-policy');
  // Written out, since bundlers look for them; only where none is named, since a bundle in one file has no address of its own.
  const beside = () =>
    isWhole
      ? new URL('../shoal-all.wasm', import.meta.url)
      : new URL('../shoal-query.wasm', import.meta.url);
  /** @type {[QueryCore, import('./client.js').Source]} */
  const [core, { json, hash }] = await Promise.all([
    typeof queryWasm === 'function'
      ? queryWasm()
      : loadModule(queryWasm ?? beside(), deps.fetch).then((module) => QueryCore.create(module)),
    source(policy),
  ]).catch((error) => {
    throw new Refusal(
      /CSP|unsafe-eval|content security/i.test(String(error)) ? 'wasm-blocked' : 'core-missing',
    );
  });
  try {
    const made = core.policy(json);
    if ((hash ?? made.hash) === made.hash) return { core, policy: made };
  } catch {
    // as one of another hash
  }
  throw new Refusal('policy-refused');
}

/** @param {Policy} policy @param {string} name @returns {{stream: string, retention_days: number, fields: {field: string, type: string}[]} | undefined} */
const streamOf = (policy, name) =>
  policy.json.streams.find((/** @type {any} */ { stream }) => stream === name);

/** @param {Policy} policy @param {string} name @returns {any} */
const analysisOf = (policy, name) =>
  policy.json.analyses.find((/** @type {any} */ { analysis }) => analysis === name);

/** Analyses that the person opted in to. @param {Transaction} tx @returns {Promise<string[]>} */
const optedIn = async (tx) => (await tx.get('state', 'analyses')) ?? [];

/** The books of queries, or ones opened today and stored. @param {Transaction} tx @param {Loaded} loaded @param {number} day @returns {Promise<Uint8Array>} */
async function booksOf(tx, { core }, day) {
  const stored = await tx.get('state', 'accountant');
  if (stored !== undefined) return stored;
  const books = core.accountant.init(day);
  await tx.put('state', 'accountant', books);
  return books;
}

/**
 * What a call gives back; what went wrong is an outcome.
 * @param {View} view @param {() => Promise<Outcome[]>} task
 */
async function told(view, task) {
  try {
    return await task();
  } catch (error) {
    const { code } = /** @type {any} */ (error);
    return [
      error instanceof Refusal ? view.note(code, null, QUERY_REASONS[code]) : view.note('storage'),
    ];
  }
}

/** The answer where consent is gone. @param {View} view */
const off = (view) => view.note('no-consent');

// ---- events ----

// An event's key is "stream/day/until/number": retention and order are decided without a look at the event. No stream begins with the
// "~" of a run.

/** @param {number} n @param {number} width */
const padded = (n, width) => String(n).padStart(width, '0');

/**
 * Erases events that are as old as the policy of today or of their day lets them become, of streams that are gone, and those of
 * days to come: a clock set back leaves their age unknown.
 * @param {Transaction} tx @param {Policy | null} policy @param {number} day @returns {Promise<string[]>} keys of the others
 */
async function sweep(tx, policy, day) {
  const kept = [];
  for (const key of await tx.keys('events')) {
    if (key.startsWith(RUN)) continue; // tracking.js looks after those
    const [stream, from, until] = key.split('/');
    const age = day - Number(from);
    const longest = policy ? (streamOf(policy, stream)?.retention_days ?? 0) : Infinity;
    if (age >= 0 && age < longest && day < Number(until)) kept.push(key);
    else await tx.delete('events', key);
  }
  return kept;
}

/**
 * Only what the schema names, or the code that says why not. The values' types are those of the policy: a number is finite, a text
 * and tokens are strings.
 * @param {{field: string, type: string}[]} schema @param {unknown} event @returns {{clean: Event, code?: string}}
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

/** @param {View} view @param {string} stream @param {Event} event */
export const donate = (view, stream, event) =>
  told(view, async () => {
    const { policy } = await load(view);
    const schema = streamOf(policy, stream);
    if (!schema) throw new Refusal('unknown-stream');
    const { clean, code } = cleaned(schema.fields, event);
    if (code) throw new Refusal(code);
    const day = today(view);
    const isKept = await view.exclusive(async (tx) => {
      const keys = (await sweep(tx, policy, day)).filter((key) => key.startsWith(`${stream}/`));
      const readers = (await optedIn(tx)).filter(
        (name) => analysisOf(policy, name)?.stream === stream,
      );
      if (!readers.length) throw new Refusal('not-opted-in');
      const last = Math.max(0, ...keys.map((key) => Number(key.split('/')[3])));
      for (const key of keys.slice(0, Math.max(0, keys.length + 1 - EVENTS_MAX)))
        await tx.delete('events', key);
      const key = [
        stream,
        padded(day, 6),
        padded(day + schema.retention_days, 6),
        padded(last + 1, 12),
      ].join('/');
      await tx.put('events', key, clean);
      return true;
    });
    return [isKept ? { recipe: null, code: 'stored' } : off(view)];
  });

/** @param {View} view @param {string} name @param {boolean} yes */
export const optIn = (view, name, yes) =>
  told(view, async () => {
    if (!yes) return optOut(view, name);
    const loaded = await load(view);
    if (!analysisOf(loaded.policy, name)) throw new Refusal('unknown-analysis');
    const isDone = await view.exclusive(async (tx) => {
      await booksOf(tx, loaded, today(view));
      await tx.put('state', 'analyses', [...new Set([...(await optedIn(tx)), name])]);
      return true;
    });
    return [isDone ? { recipe: null, code: 'opted-in' } : off(view)];
  });

/**
 * Also where the policy cannot be loaded: then nobody knows what else reads an event, and all go.
 * @param {View} view @param {string} name
 */
async function optOut(view, name) {
  const policy = await load(view).then(
    (loaded) => loaded.policy,
    () => null,
  );
  const isDone = await view.exclusive(async (tx) => {
    const others = (await optedIn(tx)).filter((other) => other !== name);
    const read = others.map((other) => policy && analysisOf(policy, other)?.stream);
    await tx.put('state', 'analyses', others);
    for (const key of await tx.keys('events')) {
      if (!key.startsWith(RUN) && !read.includes(key.split('/')[0])) await tx.delete('events', key);
    }
    for (const [key, row] of await tx.entries('queue'))
      if (row.query === name) await tx.delete('queue', key);
    return true;
  });
  return [isDone ? { recipe: null, code: 'opted-out' } : off(view)];
}

/** Old events go; the books are opened, so that a policy's first days count from today. @param {View} view */
export const tidy = (view) =>
  told(view, async () => {
    const loaded = view.options.policy ? await load(view).catch(() => null) : null;
    await view.exclusive(async (tx) => {
      await sweep(tx, loaded && loaded.policy, today(view));
      if (loaded) await booksOf(tx, loaded, today(view));
    });
    return [];
  });

// ---- queries ----

/** The last ask of each client: they go one after another, since a module holds few queries. @type {WeakMap<object, Promise<unknown>>} */
const asking = new WeakMap();

/** @param {View} view @param {RecipeJson[]} [queries] @returns {Promise<Outcome[]>} */
export function ask(view, queries) {
  const before = asking.get(view.deps) ?? Promise.resolve();
  const run = before.then(() => told(view, () => askAll(view, queries)));
  asking.set(view.deps, run);
  return run;
}

/** @param {View} view @param {RecipeJson[]} [queries] */
async function askAll(view, queries) {
  const loaded = await load(view);
  const list = queries ?? (await fetched(view));
  if (!Array.isArray(list)) throw new Refusal('queries-missing');
  const outcomes = [];
  for (const json of list.slice(0, ASKED_MAX)) outcomes.push(await answer(view, loaded, json));
  if (list.length > ASKED_MAX) outcomes.push(await refuse(view, heard(null, null), 'too-many'));
  return outcomes;
}

/** The queries that the endpoint serves. @param {View} view @returns {Promise<unknown>} */
async function fetched(view) {
  try {
    return (await served(view, 'queries')).queries;
  } catch {
    throw new Refusal('queries-missing');
  }
}

/**
 * The whole way of one query.
 * @param {View} view @param {Loaded} loaded @param {any} json @returns {Promise<Outcome>}
 */
async function answer(view, loaded, json) {
  let query;
  try {
    ({ loaded, query } = await read(view, loaded, json));
  } catch (error) {
    const { code, field } = /** @type {any} */ (error);
    return refuse(view, heard(null, json), error instanceof Refusal ? code : 'malformed', field);
  }
  const { core, policy } = loaded;
  try {
    const row = heard(policy, query);
    const forged = await verified(query, policy.keys);
    if (forged) return await refuse(view, row, forged);
    const paid = await view.exclusive((tx) => debit(tx, view, loaded, query, row));
    if (!paid) return off(view);
    if (!paid.events) return noted(view, row.code, row.query, row.text);
    return await report(view, loaded, query, paid.events);
  } catch (error) {
    const { code } = /** @type {any} */ (error);
    return error instanceof Refusal
      ? noted(view, code, query.id, QUERY_REASONS[code])
      : noted(view, 'storage', query.id);
  } finally {
    core.release(query);
  }
}

/** Null, or why the signature is not one that counts. @param {Query} query @param {string[]} keys */
async function verified(query, keys) {
  const { verifySignature } = await import('../bindings/signature.js').catch(() => {
    throw new Refusal('core-missing');
  });
  return verifySignature(query, keys);
}

/**
 * The query, and what could read it: for a mechanism that the policy names and the module lacks there is the whole one.
 * @param {View} view @param {Loaded} loaded @param {any} json
 */
async function read(view, loaded, json) {
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
    if (!isLacking || view.options.queryWasm || !isAllowed()) throw error;
  }
  const whole = await load(view, true);
  return { loaded: whole, query: readQuery(whole.core, json) };
}

/** @param {QueryCore} core @param {any} json */
function readQuery(core, json) {
  if (JSON.stringify(json).length > BODY_MAX) throw new RangeError();
  const query = core.query(json);
  // A part is the device's own to name, and what reads no fields is no query of an event.
  const field = query.json.part ? 'part' : query.fields.length ? null : 'encoding';
  if (field === null) return query;
  core.release(query);
  throw Object.assign(new RangeError(), { field });
}

/**
 * Checks, debits and reads, in one transaction: the new books are durable when it resolves. Events are read by nothing but the
 * fields that the query was granted.
 * @param {Transaction} tx @param {View} view @param {Loaded} loaded @param {Query} query @param {LogRow} row is completed
 * @returns {Promise<{events?: Event[]}>}
 */
async function debit(tx, view, loaded, query, row) {
  const {
    core: { accountant },
    policy,
  } = loaded;
  const day = today(view);
  if (row.analysis && !(await optedIn(tx)).includes(row.analysis))
    return settle(tx, view, row, 'not-opted-in');
  const books = await booksOf(tx, loaded, day);
  const { verdict, bytes } = accountant.debit(books, policy, query, day);
  if (verdict.refusal) return settle(tx, view, row, verdict.refusal, verdict);
  // Left out: the new books are dropped, nothing was charged.
  if (await isLeftOut(tx, view, query, day))
    return settle(tx, view, row, 'sampled-out', { ...verdict, text: '' });
  await tx.put('state', 'accountant', bytes);
  await settle(tx, view, row, 'accepted', verdict);
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
 * Does the query's sample leave this device out? The coin is tossed once: whoever asks again gets the same answer.
 * @param {Transaction} tx @param {View} view @param {Query} query @param {number} day
 */
async function isLeftOut(tx, view, query, day) {
  /** @type {[string, number][]} */
  const left = ((await tx.get('state', 'sampled')) ?? []).filter(
    (/** @type {[string, number]} */ [, expires]) => expires >= day,
  );
  if (left.some(([hash]) => hash === query.queryHash)) return true;
  // 48 bits, as client.js tosses it for an event.
  if (random(view, 6).reduce((sum, byte) => (sum + byte) / 256, 0) < query.send.sample)
    return false;
  await tx.put(
    'state',
    'sampled',
    [...left, [query.queryHash, query.expiresDay]].slice(-SAMPLED_MAX),
  );
  return true;
}

/**
 * Makes the report of a query that was paid for, or its reports, and puts them into the queue, each by itself: with a key and a delay of its
 * own. What fails from here on loses them, and gives nothing back.
 * @param {View} view @param {Loaded} loaded @param {Query} query @param {Event[]} events @returns {Promise<Outcome>}
 */
async function report(view, { core }, query, events) {
  // A part goes out in the clear. It is that of any event, whether it matches or not: that of the answer would tell which events do.
  const part = query.splits.length ? query.part(pick(view, events) ?? {}) : null;
  const own = part ? events.filter((event) => query.part(event).join() === part.join()) : events;
  const asked = part ? core.query({ ...query.json, part }) : query;
  let list;
  try {
    list = (query.contributions ? wordsOf(view, asked, own) : [oneOf(view, asked, own)]).map(
      (record) => asked.report(record),
    );
  } finally {
    if (part) core.release(asked);
  }
  const key = `accepted ${query.queryHash}`;
  let code = 'no-consent';
  for (const json of list) {
    code = await view.enqueue(query, json, view.era, async (tx, id) => {
      if (!(await optedIn(tx)).includes(query.analysis)) return null;
      const row = await tx.get('log', key);
      if (row)
        await tx.put(
          'log',
          key,
          row.report ? { ...row, more: [...(row.more ?? []), id] } : { ...row, report: id },
        );
      return { query: query.analysis, expires: query.expiresDay };
    });
    if (code !== 'queued') return noted(view, code, query.id);
  }
  return { recipe: query.id, code };
}

/** A record of one of the events that the query is about; where there is none, of a random cell. @param {View} view @param {Query} query @param {Event[]} events */
function oneOf(view, query, events) {
  const event = pick(
    view,
    events.filter((each) => query.item(each) !== null),
  );
  const seed = random(view, 32);
  const other = random(view, 32);
  try {
    return query.randomize(event ? query.item(event) : query.randomItem(other), seed);
  } finally {
    seed.fill(0);
    other.fill(0);
  }
}

/** Records of all words together. @param {View} view @param {Query} query @param {Event[]} events */
function wordsOf(view, query, events) {
  const seed = random(view, 32);
  try {
    return query.answers(events, seed);
  } finally {
    seed.fill(0);
  }
}

// ---- the log ----

/** The row of a query that came. @param {Policy | null} policy @param {any} query checked, or null and the JSON that it should be @returns {LogRow} */
function heard(policy, query) {
  const id = policy ? query.id : query?.recipe;
  return {
    at: 0,
    // What the core has not read may hold anything.
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
 * Completes the row of a query by what was decided, and writes it down.
 * @param {Transaction} tx @param {View} view @param {LogRow} row @param {string} code @param {Pick<Verdict, 'text' | 'field' | 'localEpsilon' | 'centralEpsilon'>} [verdict]
 */
async function settle(tx, view, row, code, verdict) {
  Object.assign(row, {
    at: view.deps.now(),
    code,
    outcome: code === 'accepted' ? code : 'refused',
  });
  row.text = verdict?.text || QUERY_REASONS[code];
  // What the core does not know as a field may be called anything.
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

/** Refuses a query that never came to the accountant. @param {View} view @param {LogRow} row @param {string} code @param {string | null} [field] */
async function refuse(view, row, code, field = null) {
  const isWritten = await view.exclusive((tx) =>
    settle(tx, view, row, code, { text: '', field, localEpsilon: 0, centralEpsilon: 0 }),
  );
  return isWritten ? noted(view, code, row.query, row.text) : off(view);
}

/**
 * Writes a row. The same refusal again is counted; so are more than a few of one reason and analysis, so that no number of queries
 * pushes out the rest. What was answered stays longest.
 * @param {Transaction} tx @param {LogRow} row
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

/** @param {Asked} asked */
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

/** @param {View} view @returns {Promise<LogEntry[]>} */
export async function log({ deps: { storage } }) {
  if (!(await storage.open(false))) return [];
  const [rows, queue, done] = await storage.transaction((tx) =>
    Promise.all([tx.entries('log'), tx.entries('queue'), tx.entries('done')]),
  );
  const records = new Map([
    ...queue.map(([key, row]) => /** @type {const} */ ([key, { ...row, state: 'queued' }])),
    ...done,
  ]);
  return rows
    .map(([, row]) => /** @type {LogRow} */ (row))
    .sort((a, b) => b.at - a.at || b.round - a.round)
    .map(({ report: first, more = [], ...row }) => {
      const known = [first ?? '', ...more]
        .map((key) => records.get(key))
        .filter((record) => record !== undefined);
      const told = known.map(({ state, report: json }) => ({ state, report: json }));
      const state = STATES.find((each) => told.some((record) => record.state === each)) ?? 'none';
      const at = new Date(row.at).toISOString();
      return {
        ...row,
        at,
        text: sentence({ ...row, report: null }, at),
        state,
        report: told[0]?.report ?? null,
        reports: told,
      };
    });
}

// ---- the books, for the person ----

/** What each analysis of the policy and each of its fields was charged. @param {View} view @returns {Promise<Charge[]>} */
export async function charges(view) {
  try {
    const loaded = await load(view);
    return (await view.exclusive((tx) => chargesOf(tx, loaded, today(view)))) ?? [];
  } catch (error) {
    const { code } = /** @type {any} */ (error);
    if (error instanceof Refusal) view.note(code, null, QUERY_REASONS[code]);
    else view.note('storage');
    return [];
  }
}

/** @param {Transaction} tx @param {Loaded} loaded @param {number} day */
async function chargesOf(tx, loaded, day) {
  const {
    core: { accountant },
    policy,
  } = loaded;
  const books = await booksOf(tx, loaded, day);
  const agreed = await optedIn(tx);
  /** @type {Charge[]} */
  const list = [];
  policy.json.analyses.forEach((/** @type {any} */ analysis, /** @type {number} */ i) => {
    const { analysis: name, budget, fields } = analysis;
    /** @param {any} allowed @param {number} itemEpsilon @param {string | null} field @param {number} [index] */
    const add = (allowed, itemEpsilon, field, index) => {
      const used = accountant.charge(books, policy, i, index);
      list.push({
        analysis: name,
        field,
        optedIn: agreed.includes(name),
        reports: { used: used.reports, allowed: allowed.reports },
        epsilon: { used: used.epsilon, allowed: allowed.epsilon },
        delta: field === null ? { used: used.delta, allowed: Number(allowed.delta) } : null,
        itemEpsilon,
        userEpsilon: { used: used.localEpsilon, allowed: itemEpsilon * allowed.reports },
      });
    };
    // A query obeys each field that it reads: what one report may cost is what the most generous field allows.
    add(budget, Math.max(...fields.map((/** @type {any} */ field) => field.local_epsilon)), null);
    fields.forEach((/** @type {any} */ field, /** @type {number} */ j) =>
      add(field, field.local_epsilon, field.field, j),
    );
  });
  return list;
}
