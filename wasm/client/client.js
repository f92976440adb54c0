// SPDX-License-Identifier: Apache-2.0
// The browser client: what a page calls. The parts behind it are context.js (consent, storage,
// ledger), page_recipes.js, events.js and outbox.js; what only some pages need is a chunk that is
// imported by its first call. Raw values are never stored, logged or put into an error, with one
// exception: events that a person lets queries read (query_events.js).
// Importing this touches no global; init() takes what it needs from its options, else from the
// platform.
import { ShoalError } from '../bindings/device.js';
import { chunk, isStorageFailure, storageFailure, today } from './basics.js';
import { dependenciesOf } from './client_options.js';
import { Context, ENDED } from './context.js';
import { Events } from './events.js';
import { countsAddresses } from './items.js';
import { Outbox } from './outbox.js';
import { PageRecipes } from './page_recipes.js';
import { bindTerms, termOf } from './terms.js';

export { ShoalError };

/**
 * @typedef {import('../bindings/dap_core.js').ExactTask} ExactTask
 * @typedef {import('../bindings/dap_core.js').Measurement} Measurement
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('../bindings/device.js').RecipeJson} RecipeJson
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 * @typedef {import('../bindings/query_core.js').PolicyJson} PolicyJson
 * @typedef {import('./asks.js').Ask} Ask
 * @typedef {import('./client_options.js').AllOptions} AllOptions
 * @typedef {import('./client_options.js').Dependencies} Dependencies
 * @typedef {import('./client_options.js').Options} Options
 * @typedef {import('./client_options.js').PinnedRecipe} PinnedRecipe
 * @typedef {import('./context.js').ConsentState} ConsentState
 * @typedef {import('./context.js').Note} Note
 * @typedef {import('./context.js').Outcome} Outcome
 * @typedef {import('./outbox.js').Call} Call
 * @typedef {import('./query_charges.js').Charge} Charge
 * @typedef {import('./query_log.js').LogEntry} LogEntry
 * @typedef {import('./run_balance.js').RunBalance} RunBalance
 * @typedef {import('./exact_balance.js').ExactBalance} ExactBalance
 * @typedef {import('./statement.js').Balance} Balance
 * @typedef {import('./statement.js').Entry} Entry
 * @typedef {import('./statement.js').LedgerEntry} LedgerEntry
 * @typedef {import('./statement.js').Reason} Reason
 * @typedef {import('./storage.js').Locks} Locks
 * @typedef {import('./storage.js').Storage} Storage
 * @typedef {import('./storage.js').Transaction} Transaction
 * @typedef {import('./tracking.js').Track} Track
 *
 * @typedef {object} Exact
 * @property {(task: ExactTask, options: {limit: number}) => Promise<Outcome[]>} optIn agrees that
 *   this device shares exact values to the task, `limit` of them in all: `opted-in`, or why not
 * @property {(task: ExactTask) => Promise<Outcome[]>} optOut ends that, and erases what waits:
 *   `opted-out`, or why not
 */

const asks = () => import('./asks.js');
const dap = () => import('./dap.js');
const observing = () => import('./observe.js');
const queries = () => import('./queries.js');
const relay = () => import('./relay.js');
const statement = () => import('./statement.js');
const tracking = () => import('./tracking.js');

/**
 * Starts a client. Before consent it only reads whether consent was given.
 * @param {Options} options
 * @param {boolean} [isChecked] for the loader, which has checked the options
 * @returns {Promise<Client>}
 */
export async function init(options, isChecked) {
  if (!isChecked) (await import('./option_check.js')).checkOptions(options);
  let deps = await dependenciesOf(options);
  if (options.debug) deps = (await import('./debug.js')).watch(options, deps);
  const client = new Client(options, deps);
  await client.start();
  return client;
}

export class Client {
  #context;
  #recipes;
  #outbox;
  #events;
  #closed = new AbortController();
  #granting = false;

  /** Runs: statistics that change over epochs. @type {Track} */
  track = {
    optIn: this.#calls(tracking, 'optIn'),
    sample: this.#calls(tracking, 'sample'),
    answer: this.#calls(tracking, 'answer'),
  };
  #optInExactly = this.#calls(dap, 'optIn');
  /** Opt-ins to exact sums, one for each task. @type {Exact} */
  exact = {
    optIn: (task, { limit }) => {
      if (!Number.isInteger(limit) || limit < 1)
        throw wrongArgument('optIn', 'limit', '> 0', limit);
      return this.#optInExactly(task, limit);
    },
    optOut: this.#calls(dap, 'optOut'),
  };
  /**
   * Keeps an event for queries to read, if the person opted in to an analysis that reads the stream.
   * Its outcome is `stored`, or why not.
   * @type {(stream: string, event: import('../bindings/query_core.js').Event) =>
   *   Promise<Outcome[]>}
   */
  donate = this.#calls(queries, 'donate');
  /**
   * Opts in to an analysis of the policy, or out of it. Opting out erases the events that only this
   * analysis could read. The outcome is `opted-in` or `opted-out`, or why not.
   * @type {(analysis: string, yes?: boolean) => Promise<Outcome[]>}
   */
  optIn = this.#calls(queries, 'optIn');
  /**
   * Answers queries, each at most once and within the policy. By default it answers those that the
   * endpoint serves. There is one outcome for each query.
   * @type {(list?: RecipeJson[]) => Promise<Outcome[]>}
   */
  ask = this.#calls(queries, 'ask');
  /**
   * Reports each word of a text to the recipes that take words.
   * @type {(text: string) => Promise<Outcome[]>}
   */
  type = this.#calls(observing, 'type');
  /**
   * Says that the person is here: the device tells once a day, a week and a month whether it was here
   * before. Call it on every page. There is one outcome for each recipe that was told.
   * @type {(streams?: import('./visitors.js').Streams) => Promise<Outcome[]>}
   */
  arrive = this.#calls(observing, 'arrive');
  /**
   * Says that the person reached a step of a funnel, 1 for the first variable of its recipe, which
   * picks uniformly. A window reports which steps it had in the end.
   * @type {(stream: string, step: number) => Promise<Outcome[]>}
   */
  reach = this.#calls(observing, 'reach');
  /**
   * Shares a measurement, of which two servers learn EXACT sums. Nothing randomizes it, so there is
   * no epsilon. It needs an opt-in to the task (`exact.optIn`), and counts against its limit. The
   * outcome is `queued`, or why not.
   * @type {(task: ExactTask, measurement: Measurement) => Promise<Outcome[]>}
   */
  shareExactly = this.#calls(dap, 'share');

  /** @param {AllOptions} options @param {Dependencies} deps see init */
  constructor(options, deps) {
    const context = new Context(options, deps, this.#closed.signal, relay);
    this.#context = context;
    this.#recipes = new PageRecipes(context, (recipes) => this.#bind(recipes, this.#granting));
    this.#outbox = new Outbox(context, this.#recipes, () => this.#tidy());
    this.#events = new Events(context, this.#recipes, this.#outbox, this.#closed.signal);
    deps.watch?.(context, this.#recipes, this.#events);
    /** What the person decided. */
    this.consent = {
      /** @returns {ConsentState} */
      get state() {
        return context.state;
      },
      grant: () => this.#grant(),
      /**
       * Lists what this page asks for beyond what the person agreed to, so that it can ask anew. The
       * list is empty without consent.
       * @returns {Promise<Ask[]>}
       */
      asks: () =>
        this.#attempt(asks, (told) =>
          told.asks(context, this.#recipes, (recipes) => this.#bind(recipes, false)),
        ),
      withdraw: () => this.#stop('withdrawn'),
    };
  }

  /**
   * Makes a call of a chunk, which is made with consent only. If it fails, the outcome says why.
   * @param {() => Promise<any>} load
   * @param {string} name
   * @returns {(...args: any[]) => Promise<Outcome[]>}
   */
  #calls(load, name) {
    return async (...args) => {
      const context = this.#context;
      if (!context.isOn) return [context.noteOff()];
      return this.#attempt(
        load,
        (loaded, call) => loaded[name](call, ...args),
        (error) => [context.noteError(error)],
      );
    };
  }

  /** Called by init. */
  async start() {
    const context = this.#context;
    // A page that is hidden may never come back; one that is shown or online again may have records
    // that became due, and may be the first page of its day.
    this.#on('visibilitychange', globalThis.document);
    this.#on('online', globalThis);
    this.#on('securitypolicyviolation', globalThis, ({ blockedURI }) =>
      context.blocked.push(blockedURI),
    );
    // A page that comes back from the cache learns what was decided meanwhile.
    this.#on('pageshow', globalThis, ({ persisted }) => persisted && void this.#resume());
    // A page that is loaded ahead only reads, until it is shown.
    void context.shown?.then(
      () => /** @type {any} */ (this.#closed.signal.aborted || this.#resume()),
    );
    await this.#resume();
  }

  /** Takes over what was decided on other pages, and goes on from there. */
  async #resume() {
    const context = this.#context;
    try {
      if (!(await context.hasStorage())) return;
      if (context.state === 'gpc' && !context.shown) {
        await this.#stop('withdrawn');
        return;
      }
      await context.restoreConsent();
    } catch (error) {
      context.noteError(error);
    }
    if (context.off === 'no-consent') {
      context.endEra();
      this.#outbox.abort();
    }
    if (context.isOn) void context.open().then(() => this.#events.open());
    void this.flush();
  }

  /**
   * @param {string} event
   * @param {any} target
   * @param {(event: any) => unknown} [task] by default sends what is due
   */
  #on(event, target, task = () => void this.flush()) {
    target?.addEventListener?.(event, task, { signal: this.#closed.signal });
  }

  /** Stops timers, listeners and requests; consent stays as it is. */
  close() {
    this.#context.endEra();
    this.#outbox.abort();
    this.#closed.abort();
    this.#context.deps.storage.close();
  }

  // ---- consent ----

  /** @returns {Promise<ConsentState>} */
  async #grant() {
    const context = this.#context;
    await context.shown;
    if (context.state === 'gpc') return 'gpc';
    // Now, because a browser may want a person's click for it. The answer changes nothing here.
    void context.deps.persist().catch(() => {});
    this.#granting = true;
    try {
      await context.storeConsent();
      // The ledger is made now, so that a recipe that waits for a day waits from today on.
      const ready = await this.#recipes.ready();
      if (ready) await this.#bind(ready.recipes, true);
      await context.open();
    } catch (error) {
      context.noteError(error);
    }
    this.#granting = false;
    if (context.isOn) void this.#events.open();
    void this.flush();
    return context.state;
  }

  /**
   * Holds what the page asks for against what was agreed to.
   * @param {Recipe[]} recipes
   * @param {boolean} isGrant did the person say yes to this page just now?
   */
  async #bind(recipes, isGrant) {
    const context = this.#context;
    try {
      const terms = recipes.map((recipe) => termOf(context.url, recipe));
      context.more = await bindTerms(context, 'terms', terms, isGrant ? 'all' : 'first');
    } catch (error) {
      context.noteError(error);
    }
  }

  /**
   * Ends consent: at once in this page, and for every tab when it resolves, because each tab reads
   * storage under the same lock before it starts a request. Waiting records are erased.
   * @param {'none' | 'withdrawn'} state
   * @param {(tx: Transaction) => Promise<unknown>} [more]
   */
  async #stop(state, more) {
    const context = this.#context;
    context.endConsent(state);
    this.#outbox.abort();
    await context.shown;
    try {
      if (await context.hasStorage()) {
        await context.locked((tx) =>
          Promise.all([
            tx.put('state', 'consent', state),
            ...ENDED.map((key) => tx.delete('state', key)),
            tx.clear('queue'),
            tx.clear('events'),
            more?.(tx),
          ]),
        );
        await context.endVisits();
      }
    } catch (error) {
      context.noteError(error);
      if (!isStorageFailure(error)) throw error;
      throw storageFailure(/** @type {Error} */ (error).cause, 'the decision is not stored');
    }
    return context.state;
  }

  /**
   * Erases consent, records and the list of reports.
   *
   * The ledger cannot simply go: fresh storage would forget what was spent, so erasing would refill
   * the budget. It cannot simply stay either, because it lists names and days. So all its sums are
   * folded into one without a name, on the day of erasure, and nothing is spent until the next day.
   * The accountant of queries stays: what it lists was asked of everybody, and it lists no days but
   * its first and its last.
   */
  async erase() {
    const context = this.#context;
    const day = today(context.deps);
    await this.#stop('none', (tx) =>
      Promise.all([
        tx.clear('done'),
        tx.clear('log'),
        tx.delete('state', 'consent'),
        tx.put('state', 'erased', day),
      ]),
    );
    context.notes.clear();
    await (await chunk(import('./erasing.js'))).fold(context, day);
  }

  // ---- events ----

  /**
   * Reports a value to every recipe of a stream. For listed items, anything else (null too) counts
   * as none of them. For recipes of several variables, the value is an object with the value of
   * each by its name; one that is missing counts as nothing.
   * @param {string} stream
   * @param {string | number | null | {[variable: string]: string | number | null}} value
   * @returns {Promise<Outcome[]>} one for each recipe
   */
  record(stream, value) {
    return this.#events.report((recipe) => recipe.stream === stream, value);
  }

  /**
   * Reports the host or site of an address to the recipes that take one.
   * @param {string | URL} url
   */
  visit(url) {
    return this.#events.report(countsAddresses, String(url));
  }

  /**
   * Reads completed words from a field, or from the fields below an element that carry
   * `data-shoal`. Fields for passwords, cards, codes, numbers and addresses are never read; the
   * kind of a field is checked again at every event. Pasted text is not read.
   * @param {Element} element
   * @param {(word: string) => unknown} [take] is given each word; without it, words go to the
   *   recipes as by `type`
   * @returns {() => void} stops reading
   */
  observe(element, take) {
    if (!element?.addEventListener)
      throw wrongArgument('observe', 'element', 'a DOM element', element);
    if (take !== undefined && typeof take !== 'function')
      throw wrongArgument('observe', 'take', 'a function', take);
    const stop = new AbortController();
    const close = () => stop.abort();
    this.#closed.signal.addEventListener('abort', close);
    void this.#attempt(observing, (/** @type {any} */ observing, call) =>
      observing.observe(call, element, stop.signal, take),
    );
    return close;
  }

  /** Sends the records that are due. @returns {Promise<void>} */
  flush() {
    return this.#outbox.flush();
  }

  // ---- what the page's chunks keep ----

  /** Erases events that are too old, and opens the ledger of queries on its first day. */
  async #tidy() {
    await this.#events.tidy();
    const { policy, runs } = this.#context.options;
    if (policy) await this.#attempt(queries, (asked, call) => asked.tidy(call));
    if (runs) await this.#attempt(tracking, (asked, call) => asked.tidy(call));
  }

  // ---- what the person is told ----

  /** What was asked, and what became of it, newest first. @returns {Promise<LogEntry[]>} */
  log() {
    return this.#attempt(queries, ({ log }, { context }) => log(context));
  }

  /**
   * Lists the reports that were sent, wait or were refused, newest first. The list is empty if
   * storage cannot be read.
   * @returns {Promise<Entry[]>}
   */
  reports() {
    return this.#attempt(statement, ({ reports }, { context }) => reports(context));
  }

  /**
   * Lists what each recipe has spent, by basic composition, and what each analysis was charged for
   * queries. The list is empty without consent.
   * @returns {Promise<LedgerEntry[]>}
   */
  ledger() {
    return this.#attempt(statement, ({ ledger }, { context }) => ledger(context, this.#recipes));
  }

  /**
   * Lists why nothing, or not everything, was sent: the reasons that hold now, and those since the
   * page was loaded.
   * @returns {Promise<Reason[]>}
   */
  explain() {
    return this.#attempt(statement, ({ explain }, { context }) => explain(context, this.#recipes));
  }

  // ---- calls into chunks ----

  /**
   * Runs a call of a chunk. If it fails, the result is an empty list, and explain() says why.
   * @template M, T
   * @param {() => Promise<M>} load
   * @param {(loaded: M, call: Call) => Promise<T[]> | T[]} task
   * @param {(error: unknown) => T[]} [failed]
   * @returns {Promise<T[]>}
   */
  async #attempt(load, task, failed = (error) => (this.#context.noteError(error), [])) {
    const call = {
      context: this.#context,
      outbox: this.#outbox,
      recipes: this.#recipes,
      events: this.#events,
      era: this.#context.era,
    };
    try {
      if (this.#context.options.site) await this.#recipes.ready();
      return await task(await chunk(load()), call);
    } catch (error) {
      return failed(error);
    }
  }
}

/**
 * @param {string} call
 * @param {string} argument
 * @param {string} expected
 * @param {unknown} value only its type is told
 */
function wrongArgument(call, argument, expected, value) {
  const given = value === null ? 'null' : typeof value;
  const message = `${call}: ${argument} must be ${expected}, not ${given}`;
  return new ShoalError('argument', 1, message, argument);
}
