// SPDX-License-Identifier: Apache-2.0
// Prints each event's way in the console, for the option `debug`: a chunk of its own, loaded by that
// option only. It looks on from outside. It draws nothing, stores nothing and prints no value and no
// record; the one request that it adds asks whether a server that could not be read is there at all.
import { diagnosed } from './diagnosis.js';
import { MENDS } from './mends.js';
import { REASONS } from './reasons.js';

/**
 * @typedef {import('./client_options.js').AllOptions} AllOptions
 * @typedef {import('./client_options.js').Dependencies} Dependencies
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./context.js').Outcome} Outcome
 * @typedef {import('./events.js').Events} Events
 * @typedef {import('./page_recipes.js').PageRecipes} PageRecipes
 * @typedef {import('./storage.js').Row} Row
 * @typedef {import('./storage.js').Transaction} Transaction
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {(context: Context, recipes: PageRecipes, events: Events) => void} Watch
 * @typedef {{say: (who: string, text: string) => void, queued: Map<string, Row[]>, inFlight: number,
 *   context?: Context}} Log `queued` holds rows that the event under way put into the queue
 */

// How often and how long to wait for what the browser tells of its policy.
const POLICY_TASKS = 10;
const POLICY_MS = 20;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1])$/;

// The steps of an event, in their order, with the codes that end it there.
/** @type {[string, RegExp, (recipe: Recipe) => string][]} */
const STEPS = [
  [
    'consent',
    /^(no-consent|gpc|automated|prerendered|outdated)$/,
    () => 'given, and for this recipe',
  ],
  [
    'value',
    /^(text-rule|too-long|not-a-site|not-a-number|private-list-missing|no-variables|unknown-variable|run)$/,
    ({ valueKind }) => `the recipe counts it${valueKind ? ` as ${valueKind}` : ''}`,
  ],
  [
    'coin',
    /^sampled-out$/,
    ({ send: { sample } }) =>
      sample < 1
        ? `in the sample of ${sample}; only this console is told`
        : 'not tossed, the recipe samples all',
  ],
  ['keys', /^(no-keys|no-x25519|no-log|no-token|log-.*)$/, () => 'nothing is missing for sending'],
  [
    'budget',
    /^(budget|fresh|erased|cap|expired|ledger|tombstone|not-persisted)$/,
    ({ limit }) => `paid for one report; the recipe has ${limit.perDay} a day`,
  ],
];

/**
 * Wraps what a client works with, and returns it.
 * @param {AllOptions} options
 * @param {Dependencies} deps
 * @returns {Dependencies}
 */
export function watch(options, deps) {
  const { console } = globalThis;
  /** @type {Log} */
  const log = {
    say: (who, text) => console.info(`shoal  ${who.padEnd(12)}  ${text}`),
    queued: new Map(),
    inFlight: 0,
  };
  log.say('debug', `is on, for ${options.endpoint}`);
  const host = globalThis.location?.hostname;
  if (host && !LOOPBACK.test(host))
    console.warn(
      'shoal  debug is on in a page that is not on loopback: take it out before others visit',
    );
  return {
    ...deps,
    fetch: (input, init) => requested(log, deps.fetch, input, init),
    storage: watchedStorage(log, deps.storage),
    watch: (context, recipes, events) => watchEvents(log, context, recipes, events),
  };
}

/**
 * Looks on while events go their way.
 * @param {Log} log @param {Context} context @param {PageRecipes} recipes @param {Events} events
 */
function watchEvents(log, context, recipes, events) {
  log.context = context;
  let count = 0;
  const report = events.report.bind(events);
  events.report = async (wants, value) => {
    const who = `event ${++count}`;
    log.say(
      who,
      `seen: ${typeof value === 'string' ? 'a text' : value === null ? 'null' : typeof value}`,
    );
    log.inFlight++;
    try {
      const outcomes = await report(wants, value);
      const ready = context.isOn ? await recipes.ready() : null;
      for (const { code, recipe: id } of outcomes)
        tellWay(
          log,
          who,
          code,
          id,
          ready?.recipes.find((recipe) => recipe.id === id),
        );
      return outcomes;
    } finally {
      log.inFlight--;
    }
  };
  const note = context.note.bind(context);
  context.note = (code, recipe = null, text, cause) => {
    const isEventsOwn = log.inFlight > 0 && STEPS.some(([, codes]) => codes.test(code));
    // What a request failed of is told where it failed, by more than this code.
    if (!isEventsOwn && !/^(offline|edge-)/.test(code)) tellProblem(log, code, recipe, text, cause);
    return note(code, recipe, text, cause);
  };
}

/**
 * Prints the steps that an event of one recipe took.
 * @param {Log} log @param {string} who @param {string} code @param {string | null} id
 * @param {Recipe} [recipe]
 */
function tellWay(log, who, code, id, recipe) {
  const name = id ?? 'no recipe';
  /** @param {string} step @param {string} text */
  const say = (step, text) => log.say(who, `${name}  ${step}: ${text}`);
  const end = STEPS.findIndex(([, codes]) => codes.test(code));
  const isTaken = code === 'queued' || code === 'entered';
  if (!isTaken && end < 0) return say('stopped', `${REASONS[code] ?? code} [${code}]`);
  if (recipe && code === 'entered') {
    say('consent', 'given, and for this recipe');
    return say(
      'window',
      'entered; the report of the window draws one of its events when it is over',
    );
  }
  if (recipe)
    for (const [step, , text] of STEPS.slice(0, isTaken ? STEPS.length : end))
      say(step, text(recipe));
  if (!isTaken) return say(STEPS[end][0], `stopped. ${REASONS[code]} [${code}]`);
  const row = log.queued.get(name)?.shift();
  const length = row?.report.records.join().length;
  say('randomized', `on this device: a record of ${length} characters, all that may leave it`);
  if (row) say('queued', delayText(log, row));
}

/** @param {Log} log @param {Row} row */
function delayText({ context }, { due }) {
  const seconds = Math.round((due - (context?.deps.now() ?? Date.now())) / 1000);
  return seconds > 0
    ? `delayed until ${new Date(due).toISOString()}, in ${seconds} s`
    : 'delayed by nothing, it goes now';
}

/**
 * Prints what went wrong, and what mends it.
 * @param {Log} log @param {string} code @param {string | null} recipe @param {string} [text]
 * @param {unknown} [cause]
 */
function tellProblem(log, code, recipe, text, cause) {
  const { context } = log;
  if (!context) return;
  const known = diagnosed(context, { code, recipe, count: 1, text, cause });
  log.say(recipe ?? 'page', `${known.text} [${known.code}]`);
  const mend = MENDS[known.code];
  if (mend) log.say(recipe ?? 'page', `  mend it: ${filled(context, mend, recipe)}`);
}

/** @param {Context} context @param {string} mend @param {string | null} address */
function filled({ url, blocked }, mend, address) {
  const endpoint = new URL('..', url).href.replace(/\/$/, '');
  const last = blocked.at(-1);
  const wanted = address ?? (last && URL.canParse(last) ? new URL(last).origin : endpoint);
  return mend
    .replaceAll('ENDPOINT', endpoint)
    .replaceAll('ADDRESS', wanted)
    .replaceAll('ORIGIN', globalThis.location?.origin ?? 'https://www.example.org');
}

// ---- requests ----

/**
 * Makes a request and prints what was sent and what came back.
 * @param {Log} log @param {typeof fetch} fetch @param {any} input @param {RequestInit} [init]
 */
async function requested(log, fetch, input, init) {
  const key = /** @type {any} */ (init?.headers)?.['Idempotency-Key'];
  const who = key ? `report ${key.slice(0, 4)}` : 'request';
  const { length } = /** @type {any} */ (init?.body) ?? {};
  log.say(who, `${init?.method ?? 'GET'} ${input}${length ? `, ${length} bytes` : ''}`);
  try {
    const response = await fetch(input, init);
    void tellAnswer(log, who, response.status, response.ok ? null : response.clone());
    return response;
  } catch (error) {
    if (init?.signal?.aborted)
      log.say(who, 'given up: no answer within its time, or consent ended');
    else void tellFailure(log, fetch, who, String(input), error);
    throw error;
  }
}

/** @param {Log} log @param {string} who @param {number} status @param {Response | null} response */
async function tellAnswer(log, who, status, response) {
  if (!response) return log.say(who, `answer: ${status}${status === 202 ? ', accepted' : ''}`);
  const { error } = await response.json().catch(() => ({}));
  log.say(who, `answer: ${status}${error?.code ? `, ${error.code}: ${error.message}` : ''}`);
  const code = status === 404 ? 'edge-missing' : 'edge-refused';
  if (who !== 'request' && status < 500 && log.context)
    log.say(who, `  mend it: ${filled(log.context, MENDS[code], null)}`);
}

/**
 * Finds out why a request had no answer, and prints it.
 * @param {Log} log @param {typeof fetch} fetch @param {string} who @param {string} url
 * @param {unknown} error
 */
async function tellFailure(log, fetch, who, url, error) {
  const { context } = log;
  const tellsOfPolicy = () =>
    /content security/i.test(String(error)) ||
    context?.blocked.some((each) => url.startsWith(each));
  // The browser tells of its policy in a task, which in Firefox comes after other ones.
  for (let i = 0; i < POLICY_TASKS && !tellsOfPolicy(); i++)
    await new Promise((resolve) => setTimeout(resolve, POLICY_MS));
  if (!context) return;
  const isBlocked = tellsOfPolicy();
  const isEndpoint = url.startsWith(new URL('..', context.url).href);
  if (!isBlocked && isEndpoint) context.deps.isCorsRefused = await isThere(fetch, url);
  const code = isBlocked ? 'csp-blocked' : context.deps.isCorsRefused ? 'cors-refused' : 'offline';
  if (!isBlocked && !isEndpoint) return log.say(who, `no answer: ${error}`);
  log.say(who, `no answer. ${REASONS[code]} [${code}]`);
  const mend = filled(context, MENDS[code], isBlocked ? new URL(url, context.url).origin : null);
  log.say(who, `  mend it: ${mend}`);
}

/**
 * Is there a server, although the page may not read what it says?
 * @param {typeof fetch} fetch @param {string} url
 */
const isThere = (fetch, url) =>
  fetch(url, {
    mode: 'no-cors',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    cache: 'no-store',
  }).then(
    () => true,
    () => false,
  );

// ---- storage ----

/**
 * Passes transactions on, and prints what they did to records.
 * @param {Log} log @param {import('./storage.js').Storage} storage
 * @returns {import('./storage.js').Storage}
 */
const watchedStorage = (log, storage) => ({
  open: (create) => storage.open(create),
  close: () => storage.close(),
  async transaction(task) {
    /** @type {(() => void)[]} */
    const done = [];
    const result = await storage.transaction((tx) => task(watchedTransaction(log, tx, done)));
    for (const tell of done) tell();
    return result;
  },
});

/**
 * @param {Log} log @param {Transaction} tx @param {(() => void)[]} done what to print once it holds
 * @returns {Transaction}
 */
function watchedTransaction(log, tx, done) {
  /** @param {string} key @param {any} value */
  const told = (key, value) => () => {
    const { report, tries } = value;
    if (tries === undefined)
      log.say(
        `report ${key.slice(0, 4)}`,
        `${report.key}  ${value.state}${value.code ? ` [${value.code}]` : ''}`,
      );
    else if (tries)
      log.say(`report ${key.slice(0, 4)}`, `${report.key}  kept: ${delayText(log, value)}`);
    else if (log.inFlight)
      log.queued.set(report.key, [...(log.queued.get(report.key) ?? []), value]);
    else log.say(`report ${key.slice(0, 4)}`, `${report.key}  queued: ${delayText(log, value)}`);
  };
  return {
    get: (store, key) => tx.get(store, key),
    keys: (store) => tx.keys(store),
    entries: (store) => tx.entries(store),
    put: (store, key, value) => {
      if (store === 'queue' || store === 'done') done.push(told(key, value));
      return tx.put(store, key, value);
    },
    delete: (store, key) => tx.delete(store, key),
    clear: (store) => tx.clear(store),
  };
}
