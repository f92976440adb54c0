// SPDX-License-Identifier: Apache-2.0
// What the parts of a client share: options and dependencies, consent, notes for explain(), storage
// under the lock of all tabs, and the budget ledger.
import { VISITS, VISITS_LIVE, chunk, storageFailure, today, toldAs } from './basics.js';
import { reportsUrl, urlOf } from './client_options.js';
import { agrees, termOf } from './terms.js';

/**
 * @typedef {import('../bindings/device.js').Core} Core
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('./client_options.js').Dependencies} Dependencies
 * @typedef {import('./client_options.js').AllOptions} AllOptions
 * @typedef {import('./storage.js').Transaction} Transaction
 * @typedef {import('./terms.js').Term} Term
 *
 * @typedef {{core: Core, set: import('../bindings/ledger.js').RecipeSet}} Page the core of the page's
 *   recipes, and what the page reserves
 * @typedef {'none' | 'granted' | 'outdated' | 'withdrawn' | 'gpc'} ConsentState `outdated`: granted,
 *   but the page asks for more than was agreed to
 * @typedef {{whyNot: (context: any) => Promise<string | undefined>, send: (context: any, url: string,
 *   init?: RequestInit) => Promise<Response>}} Relay a part of relay.js
 * @typedef {{recipe: string | null, code: string}} Outcome `queued`, or a code of explain()
 * @typedef {{code: string, recipe: string | null, count: number, text?: string, cause?: unknown}}
 *   Note `cause` is the error behind it, where there was one
 */

/** What the store `state` holds under one consent only: its end erases these keys. */
export const ENDED = ['secret', 'analyses', 'keys', 'exactIn', 'terms', 'opted', 'tokens'];

export class Context {
  /** Consent as this page knows it. @type {ConsentState} */
  #consent = 'none';
  /** The day on which this page's cap was last noted. */
  #capDay = -1;
  /** Grows with every withdrawal: work that began in an older era stops. */
  era = 0;
  /** The last reservation, under way or done. @type {Promise<void> | undefined} */
  opening;
  /** What this page asks for beyond what was agreed to. @type {Term[]} */
  more = [];
  /** The addresses that the page's policy blocked. @type {string[]} */
  blocked = [];
  /**
   * Counts of what happened to events since the page was loaded, by code and recipe. They hold no
   * values.
   * @type {Map<string, Note>}
   */
  notes = new Map();

  /**
   * @param {AllOptions} options
   * @param {Dependencies} deps
   * @param {AbortSignal} signal the end
   * @param {() => Promise<Relay>} [relay] loads relay.js
   */
  constructor(options, deps, signal, relay) {
    /** Ends with the client. @readonly */ this.signal = signal;
    /** Once it is loaded. @type {Page | null} */ this.page = null;
    /** The set of a site adds its runs and its policy. @readonly */ this.options = { ...options };
    /** Loads relay.js, if the page names a relay. @readonly */
    this.relay = options.relay ? relay : undefined;
    /** What relay.js calls in place of the other. @readonly */ this.fetch = deps.fetch;
    /** @readonly */ this.deps = this.relay ? { ...deps, fetch: this.#fetch } : deps;
    /** The URL that reports are posted to. @readonly */ this.url = reportsUrl(options);
    /**
     * Resolves when a prerendered page is shown; undefined for one that is.
     * @type {Promise<void> | undefined}
     */
    this.shown = deps.activation()?.then(() => (this.shown = undefined));
  }

  // ---- consent ----

  /** @returns {ConsentState} */
  get state() {
    if (this.deps.gpc()) return 'gpc';
    return this.#consent === 'granted' && this.more.length ? 'outdated' : this.#consent;
  }

  /** Why nothing may be spent or sent in this page, or null if it may. */
  get off() {
    if (this.deps.gpc()) return 'gpc';
    if (this.#consent !== 'granted') return 'no-consent';
    return this.deps.automated() ? 'automated' : this.shown ? 'prerendered' : null;
  }

  /**
   * Returns why nothing can be sent through the page's relay, if so. This is asked before anything is
   * spent.
   */
  async unsendable() {
    return this.relay && (await chunk(this.relay())).whyNot(this);
  }

  /** A fetch() whose requests to the endpoint go through the relay. @type {typeof fetch} */
  #fetch = async (url, init) => {
    const to = urlOf(String(url)).href;
    const isEndpoint = ['.', '../tasks/'].some((path) =>
      to.startsWith(new URL(path, this.url).href),
    );
    return isEndpoint && this.relay
      ? (await chunk(this.relay())).send(this, to, init)
      : this.fetch(url, init);
  };

  get isOn() {
    return this.off === null;
  }

  /** Reads what was decided on an earlier page. Creates no database. */
  async restoreConsent() {
    this.#consent = await this.transaction(
      async (tx) => (await tx.get('state', 'consent')) ?? 'none',
    );
  }

  /** Stores consent; it holds in this page once it is stored. */
  async storeConsent() {
    await this.transaction(async (tx) => {
      // An earlier version may have ended consent, and left what it did not know.
      if ((await tx.get('state', 'consent')) !== 'granted') {
        for (const key of ENDED) await tx.delete('state', key);
        // Until the page's terms are known, nothing is agreed to.
        await tx.put('state', 'terms', { hash: null, agreed: {} });
      }
      // Where no version has spent anything, no permanent answer was given (permanent.js).
      const has = (/** @type {string} */ key) => tx.get('state', key);
      if (!(await has('ledger')) && !(await has('answered')) && !(await has('erased')))
        await tx.put('state', 'answered', {});
      await tx.put('state', 'consent', 'granted');
    });
    this.#consent = 'granted';
  }

  /**
   * Ends consent in this page, at once.
   * @param {ConsentState} state
   */
  endConsent(state) {
    this.#consent = state;
    this.endEra();
  }

  /** Stops the work that is under way. */
  endEra() {
    this.era++;
  }

  /**
   * Returns whether consent stands in this page and in storage, which all tabs share.
   * @param {Transaction} tx
   */
  async stands(tx) {
    const state = (await tx.get('state', 'consent')) ?? 'none';
    if (this.#consent === 'granted') this.#consent = state;
    return this.isOn && state === 'granted';
  }

  // ---- notes ----

  /**
   * Counts what happened, for explain().
   * @param {string} code
   * @param {string | null} [recipe]
   * @param {string} [text] where reasons.js has no sentence for the code
   * @param {unknown} [cause]
   * @returns {Outcome}
   */
  note(code, recipe = null, text, cause) {
    const key = `${code} ${recipe}`;
    const known = this.notes.get(key);
    const count = (known?.count ?? 0) + 1;
    const told = cause ? { cause } : known;
    this.notes.set(key, { ...told, code, recipe, text, count });
    return { recipe, code };
  }

  /** Notes why nothing is spent or sent. @param {string} [otherwise] where there is consent */
  noteOff(otherwise = 'no-consent') {
    return this.note(this.off ?? otherwise);
  }

  /**
   * Notes an error under the code that tells what kind it is, with its cause.
   * @param {unknown} error
   * @param {string | null} [recipe]
   */
  noteError(error, recipe = null) {
    const { code, text, cause } = toldAs(error);
    return this.note(code, recipe, text, cause);
  }

  // ---- storage ----

  /** Is there a database? */
  async hasStorage() {
    try {
      return await this.deps.storage.open(false);
    } catch (cause) {
      throw storageFailure(cause);
    }
  }

  /**
   * Runs a task in one transaction. Rejects with a storage failure if storage fails, and with the
   * task's own error if the task fails.
   * @template T
   * @param {(tx: Transaction) => Promise<T>} task
   */
  transaction(task) {
    return guarded(
      (run) => this.deps.storage.transaction(run),
      (/** @type {Transaction} */ tx) => task(guardedTransaction(tx)),
    );
  }

  /**
   * Runs a task under a lock of all tabs.
   * @template T
   * @param {string} name
   * @param {import('./storage.js').LockOptions} options
   * @param {(lock: any) => T | Promise<T>} task is given null where the lock is not available
   */
  underLock(name, options, task) {
    return guarded(
      (run) => this.deps.locks.request(name, options, run),
      async (lock) => task(lock),
    );
  }

  /**
   * Runs a task in one transaction under the lock of all tabs.
   * @template T
   * @param {(tx: Transaction) => Promise<T>} task
   */
  locked(task) {
    return this.underLock('shoal', {}, () => this.transaction(task));
  }

  /**
   * Does the same if consent also stands in storage; otherwise the result is undefined.
   * @template T
   * @param {(tx: Transaction) => Promise<T>} task
   * @returns {Promise<T | undefined>}
   */
  async exclusive(task) {
    return this.isOn
      ? this.locked(async (tx) => ((await this.stands(tx)) ? task(tx) : undefined))
      : undefined;
  }

  /** Makes all tabs drop the records of their visits, and waits until they have. */
  async endVisits() {
    await this.underLock(VISITS, { steal: true }, () => {});
    await this.underLock(VISITS_LIVE, {}, () => {});
  }

  // ---- ledger ----

  /**
   * Notes the page's cap, and reserves what the page may ask of a person today, durably, unless that
   * was done. It is called when the page opens under consent or is shown, and never by an event, so
   * that no refusal tells of one. What cannot be reserved is refused where it is spent. A hidden page
   * reserves nothing, but its cap holds. Who spends waits for it.
   */
  open() {
    return (this.opening = this.#open());
  }

  async #open() {
    const { page, options } = this;
    if (!page) return;
    const { budget } = page.set;
    const { visibilityState } = options.document ?? globalThis.document ?? {};
    if (budget) this.#capDay = (await this.#reserve(page, { recipes: [], budget })) ?? -1;
    if (visibilityState !== 'hidden') await this.#reserve(page, page.set);
  }

  /**
   * Reserves a set; one without members only notes its cap. Returns the day, if it is done.
   * @param {Page} page @param {Page['set']} set
   */
  async #reserve({ core }, set) {
    try {
      return await this.exclusive(async (tx) => {
        const day = today(this.deps);
        const isOver = day <= ((await tx.get('state', 'erased')) ?? -1);
        if (!isOver || set !== this.page?.set) {
          const ledger = core.ledger.reserve(await this.ledgerOf(tx, core), set, day);
          await tx.put('state', 'ledger', ledger);
        }
        return day;
      });
    } catch (error) {
      if (!/ledger|space/.test(/** @type {any} */ (error).code)) this.noteError(error);
    }
  }

  /** Has the page a cap that was not noted on this day yet? Then it spends nothing. @param {number} day */
  lacksCap(day) {
    return !!this.page?.set.budget && this.#capDay !== day;
  }

  /**
   * Reads the stored ledger. If there is none, makes and stores a new one.
   * @param {Transaction} tx
   * @param {Core} core
   * @returns {Promise<Uint8Array>}
   */
  async ledgerOf(tx, core) {
    const stored = await tx.get('state', 'ledger');
    if (stored !== undefined) return stored;
    const ledger = core.ledger.init(today(this.deps));
    await tx.put('state', 'ledger', ledger);
    return ledger;
  }

  /** Does this page know that a recipe asks for more than was agreed to? @param {Recipe} recipe */
  isMore(recipe) {
    const { key, name } = termOf(this.url, recipe);
    return this.more.some((term) => term.key === key && term.name === name);
  }

  /**
   * Returns why the recipe may not spend today, or null if it may.
   * @param {Transaction} tx
   * @param {Core} core
   * @param {Recipe} recipe
   */
  async refusal(tx, core, recipe) {
    if (!(await agrees(tx, termOf(this.url, recipe)))) return 'outdated';
    const day = today(this.deps);
    if (day <= ((await tx.get('state', 'erased')) ?? -1)) return 'erased';
    if (this.lacksCap(day)) return 'cap';
    return core.ledger.refusal(await this.ledgerOf(tx, core), recipe, day)?.code ?? null;
  }
}

/**
 * Runs a task inside a runner, such as a transaction or a lock. An error of the task passes as it
 * is; an error of the runner itself becomes a storage failure.
 * @template A, T
 * @param {(run: (argument: A) => Promise<T>) => Promise<T>} runner
 * @param {(argument: A) => Promise<T>} task
 * @returns {Promise<T>}
 */
async function guarded(runner, task) {
  /** @type {{error: unknown} | null} */
  let thrown = null;
  try {
    return await runner(async (argument) => {
      try {
        return await task(argument);
      } catch (error) {
        thrown = { error };
        throw error;
      }
    });
  } catch (error) {
    const own = /** @type {{error: unknown} | null} */ (thrown);
    if (own) throw own.error;
    throw storageFailure(error);
  }
}

/**
 * Wraps a transaction so that its calls reject with storage failures.
 * @param {Transaction} tx
 * @returns {Transaction}
 */
function guardedTransaction(tx) {
  return new Proxy(tx, {
    get:
      (_, name) =>
      async (/** @type {any[]} */ ...args) => {
        try {
          return await /** @type {any} */ (tx)[name](...args);
        } catch (cause) {
          throw storageFailure(cause);
        }
      },
  });
}
